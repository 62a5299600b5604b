/* Elementary functions as plain arithmetic, without tables, branches or calls. The compiler
   turns a loop around them into vector code of any width (maths/vector_body.h). For files of
   inner loops only; glibc's vector library has some of these functions, on x86 only and less
   accurate. Polynomials are Chebyshev interpolations and rational functions weighted
   least-squares fits, both made in 50-digit arithmetic. The errors given are relative, before
   rounding. */
#ifndef RG_MATHS_VECTOR_MATH_H
#define RG_MATHS_VECTOR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* a b + c, fused where the neighbouring code is fused; explicit where compilers would choose
   differently. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FUSED(a, b, c) __builtin_fma(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

/* exp(x) for x <= 0; 0 below -345. With n = round(x / log 2), |x - n log 2| <= log(2)/2: a
   polynomial of degree 11 there (1.6e-17), then 2^n is added to the exponent bits. */
static inline double rg_exp_nonpositive(double x)
{
  const double log2_e = 0x1.71547652b82fep0, shift = 0x1.8p52;
  const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  double t = x * log2_e + shift, n = t - shift, r = (x - n * ln2_high) - n * ln2_low, q, e;
  uint64_t bits, exponent;

  q = 0x1.af38a9b0ec855p-26;
  q = q * r + 0x1.289185613a3d6p-22;
  q = q * r + 0x1.71de0dae63bb3p-19;
  q = q * r + 0x1.a019b90d2ae7ap-16;
  q = q * r + 0x1.a01a01a7c41d5p-13;
  q = q * r + 0x1.6c16c1788bd90p-10;
  q = q * r + 0x1.11111111109b3p-7;
  q = q * r + 0x1.5555555553d63p-5;
  q = q * r + 0x1.5555555555556p-3;
  q = q * r + 0x1.0000000000001p-1;
  e = 1.0 + (r + (r * r) * q);
  memcpy(&exponent, &t, sizeof t);
  memcpy(&bits, &e, sizeof e);
  bits += exponent << 52;
  memcpy(&e, &bits, sizeof e);
  return x < -345.0 ? 0.0 : e;
}

/* log(x) for normal x > 0. x = 2^n f, f in [sqrt(1/2), sqrt(2)); u = (f - 1)/(f + 1);
   log f = 2 artanh u = 2u + u^3 p(u^2), p of degree 6 (5e-18). In two steps, so that a caller can
   share the division. */
static inline double rg_log_split(double x, double *n)
{
  const uint64_t fraction = 0x000fffffffffffffu, one = 0x3ff0000000000000u;
  const uint64_t root_half = 0x3fe6a09e667f3bcdu, shift_bits = 0x4330000000000000u;
  uint64_t bits, exponent;
  double f;

  memcpy(&bits, &x, sizeof x);
  bits += one - root_half;              /* carries into the exponent when f >= sqrt(2) */
  exponent = shift_bits | (bits >> 52); /* 2^52 + biased exponent */
  bits = (bits & fraction) + root_half;
  memcpy(&f, &bits, sizeof f);
  memcpy(n, &exponent, sizeof *n);
  *n -= 0x1p52 + 1023.0;
  return f;
}

static inline double rg_log_join(double n, double u)
{
  const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  double s = u * u, p;

  p = 0x1.2b584aae78a57p-3;
  p = p * s + 0x1.39fe606542ddep-3;
  p = p * s + 0x1.7462b4ab2ef6bp-3;
  p = p * s + 0x1.c71c62e5800a1p-3;
  p = p * s + 0x1.2492492df148dp-2;
  p = p * s + 0x1.99999999952e2p-2;
  p = p * s + 0x1.5555555555558p-1;
  return n * ln2_high + (2.0 * u + FUSED(u, s * p, n * ln2_low));
}

static inline double rg_log_positive(double x)
{
  double n, f = rg_log_split(x, &n);

  return rg_log_join(n, (f - 1.0) / (f + 1.0));
}

/* log(1 - t) for t in [0, 1 - 2^-52], corrected for the rounding of 1 - t. */
static inline double rg_log_complement(double t)
{
  double u = 1.0 - t;

  return rg_log_positive(u) + ((1.0 - u) - t) / u;
}

/* sin(2 pi a) for |a| <= 1/4: odd polynomial of degree 17 (4e-17). */
static inline double rg_sin_quarter(double a)
{
  double s = a * a, p;

  p = 0x1.9d462020fcc78p-4;
  p = p * s - 0x1.6f7acdb8f6580p-1;
  p = p * s + 0x1.e8f3675ee37ddp+1;
  p = p * s - 0x1.e3074dfaf87afp+3;
  p = p * s + 0x1.5078348551854p+5;
  p = p * s - 0x1.32d2cce627c86p+6;
  p = p * s + 0x1.466bc6775aa7dp+6;
  p = p * s - 0x1.4abbce625be52p+5;
  p = p * s + 0x1.921fb54442d18p+2;
  return p * a;
}

/* p - round(p), in [-1/2, 1/2]: exact. |p| <= 2^50. Angles are in turns for this reason. */
static inline double rg_turn_part(double p)
{
  const double shift = 0x1.8p52;
  double t = p + shift;

  return p - (t - shift);
}

/* cos(2 pi r), sin(2 pi r) for |r| <= 1/2. */
static inline double rg_cos_turn(double r)
{
  return rg_sin_quarter(0.25 - fabs(r));
}

static inline double rg_sin_turn(double r)
{
  double a = fabs(r), folded = 0.5 - a;

  return rg_sin_quarter(copysign(a < folded ? a : folded, r));
}

/* The standard normal in its tails, for x >= 0: phi/(1 - Phi) = x + c where c(x) ~ 1/x is the
   quotient of these two polynomials (3e-17); hence (1 - Phi)/phi = 1/(x + c) and
   log (1 - Phi) = -x^2/2 - log sqrt(2 pi) - log(x + c). All coefficients are positive: nothing
   cancels. Even and odd powers apart, for shorter chains of dependent operations. */
static inline double rg_hazard_above(double x)
{
  double s = x * x, even, odd;

  even = s + 0x1.df765f489944ap+8;
  even = even * s + 0x1.0ec18ed2e8449p+15;
  even = even * s + 0x1.675abce00f2dep+19;
  even = even * s + 0x1.193e362df02d1p+22;
  even = even * s + 0x1.0d887606ec059p+22;
  odd = 0x1.ee9b5dfca1bf3p+4;
  odd = odd * s + 0x1.2dca4ed88ab48p+12;
  odd = odd * s + 0x1.682f292066c89p+17;
  odd = odd * s + 0x1.0a0728f958766p+21;
  odd = odd * s + 0x1.837a6b14a3f5dp+22;
  return even + x * odd;
}

static inline double rg_hazard_below(double x)
{
  double s = x * x, even, odd;

  even = 0x1.ee9b5dfca1c09p+4;
  even = even * s + 0x1.31a78594874aap+12;
  even = even * s + 0x1.7aaf10ef9d427p+17;
  even = even * s + 0x1.33ac432361b11p+21;
  even = even * s + 0x1.2ac94cbf10e8bp+23;
  even = even * s + 0x1.51cf40d8b40e7p+22;
  odd = s + 0x1.e1765f48990a0p+8;
  odd = odd * s + 0x1.1633684fda271p+15;
  odd = odd * s + 0x1.87d095cd01558p+19;
  odd = odd * s + 0x1.6797f1f660c90p+22;
  odd = odd * s + 0x1.3fbd7cfd91b00p+23;
  return even + x * odd;
}

/* c(x), x clipped at 1e20. */
static inline double rg_hazard_excess(double x)
{
  x = x < 1e20 ? x : 1e20;
  return rg_hazard_above(x) / rg_hazard_below(x);
}

/* Variance of a standard normal given that it is larger than x >= 0 (clipped at 1e20):
   1 - c (x + c), c as above; ~1/x^2 (7e-18). */
static inline double rg_tail_variance(double x)
{
  double s, even, odd, above;

  x = x < 1e20 ? x : 1e20;
  s = x * x;
  even = 0x1.06ce449df7b2bp+5;
  even = even * s + 0x1.cd3c5e9f86e74p+12;
  even = even * s + 0x1.c0e82880bcb56p+18;
  even = even * s + 0x1.34f029059aed8p+23;
  even = even * s + 0x1.1588a1c4bee34p+26;
  even = even * s + 0x1.4a0578543ffc7p+26;
  odd = s + 0x1.2b9b2b1276540p+9;
  odd = odd * s + 0x1.049713a533edap+16;
  odd = odd * s + 0x1.2b57b64154950p+21;
  odd = odd * s + 0x1.e4f9a4d1b4421p+24;
  odd = odd * s + 0x1.a5e715f6e8facp+26;
  above = even + x * odd;
  even = 0x1.06ce449df7b2ap+5;
  even = even * s + 0x1.d98e09d6ed9d2p+12;
  even = even * s + 0x1.ebb2d720dfed1p+18;
  even = even * s + 0x1.8616eab3f9afap+23;
  even = even * s + 0x1.e83dc950dccddp+26;
  even = even * s + 0x1.9af4b87077430p+28;
  even = even * s + 0x1.c619678403075p+27;
  odd = s + 0x1.2e9b2b12765a0p+9;
  odd = odd * s + 0x1.129459aa1a3fcp+16;
  odd = odd * s + 0x1.5b321230be64fp+21;
  odd = odd * s + 0x1.5c37037ea7e07p+25;
  odd = odd * s + 0x1.062882a85bfb5p+28;
  odd = odd * s + 0x1.aa7bb5bd301aap+28;
  return above / (even + x * odd);
}

#endif
