#include "gp/kernel_rows.h"
#include "gp/clones.h"

#include <math.h>
#include <string.h>

/* exp(x) for x <= 0. With n = round(x / log 2), |x - n log 2| <= log(2)/2: a polynomial of degree 11
   there (Chebyshev interpolation of (e^r - 1 - r)/r^2, relative error 1.6e-17), then 2^n is added to
   the exponent bits. Plain arithmetic without tables, branches or calls, so the compiler turns the
   loops below into vector code of any width; glibc's vector library offers the same on x86 only,
   less accurately, and cannot be fused with the distances. */
static inline double exp_nonpositive(double x)
{
  const double log2_e = 0x1.71547652b82fep0, shift = 0x1.8p52;
  const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  double   t = x * log2_e + shift, n = t - shift, r = (x - n * ln2_high) - n * ln2_low, q, e;
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

RG_CLONES void rg_row_exp(int m, const double *x, double *out)
{
#pragma omp simd
  for (int j = 0; j < m; ++j) out[j] = exp_nonpositive(x[j]);
}

RG_CLONES void rg_row_distances(int dim, const double *x, const double *Z, size_t ld, int m,
                                double *restrict r2)
{
  const double *a = Z, *b = Z + ld, *c = Z + 2 * ld;
  int k;

  /* The first coordinates in one pass: three is the most common number of inputs. */
  if (dim >= 3) {
    double x0 = x[0], x1 = x[1], x2 = x[2];
    for (int j = 0; j < m; ++j) {
      double u = x0 - a[j], v = x1 - b[j], w = x2 - c[j];
      r2[j] = u * u + v * v + w * w;
    }
    k = 3;
  } else if (dim == 2) {
    double x0 = x[0], x1 = x[1];
    for (int j = 0; j < m; ++j) {
      double u = x0 - a[j], v = x1 - b[j];
      r2[j] = u * u + v * v;
    }
    k = 2;
  } else {
    double x0 = x[0];
    for (int j = 0; j < m; ++j) {
      double u = x0 - a[j];
      r2[j] = u * u;
    }
    k = 1;
  }
  for (; k < dim; ++k) {
    const double *z = Z + (size_t)k * ld;
    double        xk = x[k];
    for (int j = 0; j < m; ++j) {
      double u = xk - z[j];
      r2[j] += u * u;
    }
  }
}

RG_CLONES static void gaussian(double scale, int m, const double *r2, double *value, double *slope)
{
  if (!slope) {
#pragma omp simd
    for (int j = 0; j < m; ++j) value[j] = scale * exp_nonpositive(-0.5 * r2[j]);
    return;
  }
#pragma omp simd
  for (int j = 0; j < m; ++j) {
    double e = scale * exp_nonpositive(-0.5 * r2[j]);
    value[j] = e;
    slope[j] = -0.5 * e;
  }
}

RG_CLONES static void matern12(double scale, int m, const double *r2, double *value, double *slope)
{
  if (!slope) {
#pragma omp simd
    for (int j = 0; j < m; ++j) value[j] = scale * exp_nonpositive(-sqrt(r2[j]));
    return;
  }
#pragma omp simd
  for (int j = 0; j < m; ++j) {
    double r = sqrt(r2[j]), e = scale * exp_nonpositive(-r);
    value[j] = e;
    slope[j] = r > 0.0 ? -0.5 * e / (r > 0.0 ? r : 1.0) : 0.0;
  }
}

RG_CLONES static void matern32(double scale, int m, const double *r2, double *value, double *slope)
{
  if (!slope) {
#pragma omp simd
    for (int j = 0; j < m; ++j) {
      double s = sqrt(3.0 * r2[j]);
      value[j] = scale * exp_nonpositive(-s) * (1.0 + s);
    }
    return;
  }
#pragma omp simd
  for (int j = 0; j < m; ++j) {
    double s = sqrt(3.0 * r2[j]), e = scale * exp_nonpositive(-s);
    value[j] = e * (1.0 + s);
    slope[j] = -1.5 * e;
  }
}

RG_CLONES static void matern52(double scale, int m, const double *r2, double *value, double *slope)
{
  if (!slope) {
#pragma omp simd
    for (int j = 0; j < m; ++j) {
      double q = 5.0 * r2[j], s = sqrt(q);
      value[j] = scale * exp_nonpositive(-s) * (1.0 + s + q / 3.0);
    }
    return;
  }
#pragma omp simd
  for (int j = 0; j < m; ++j) {
    double q = 5.0 * r2[j], s = sqrt(q), e = scale * exp_nonpositive(-s);
    value[j] = e * (1.0 + s + q / 3.0);
    slope[j] = (-5.0 / 6.0) * e * (1.0 + s);
  }
}

void rg_row_correlations(RgKernelFamily family, double scale, int m, const double *r2,
                         double *value, double *slope)
{
  switch (family) {
  case RG_KERNEL_GAUSSIAN: gaussian(scale, m, r2, value, slope); break;
  case RG_KERNEL_MATERN12: matern12(scale, m, r2, value, slope); break;
  case RG_KERNEL_MATERN32: matern32(scale, m, r2, value, slope); break;
  case RG_KERNEL_MATERN52: matern52(scale, m, r2, value, slope); break;
  }
}

RG_CLONES void rg_row_multiply(int m, const double *b, double *restrict a)
{
  for (int j = 0; j < m; ++j) a[j] *= b[j];
}

RG_CLONES void rg_row_add(int m, const double *b, double *restrict a)
{
  for (int j = 0; j < m; ++j) a[j] += b[j];
}

RG_CLONES void rg_row_gradient(int dim, const double *x, const double *Z, size_t ld, int m,
                               const double *w, const double *slope, double *restrict g)
{
  for (int k = 0; k < dim; ++k) {
    const double *z = Z + (size_t)k * ld;
    double       *gk = g + (size_t)k * ld, xk = x[k];
#pragma omp simd
    for (int j = 0; j < m; ++j) gk[j] += w[j] * slope[j] * (z[j] - xk);
  }
}

RG_CLONES void rg_row_moments(int dim, const double *x, const double *Z, size_t ld, int m,
                              const double *w, const double *slope, double *restrict sums)
{
  for (int k = 0; k < dim; ++k) {
    const double *z = Z + (size_t)k * ld;
    double        xk = x[k], sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < m; ++j) {
      double u = z[j] - xk;
      sum += w[j] * slope[j] * (u * u);
    }
    sums[k] += sum;
  }
}

RG_CLONES double rg_row_dot(int m, const double *a, const double *b)
{
  double sum = 0.0;

#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < m; ++j) sum += a[j] * b[j];
  return sum;
}
