/* The functions of RgVectorOps, compiled once per instruction set: the including file defines
   VECTOR_OPS, the name of its table. */
#include "base/vector.h"
#include "base/vector_math.h"

#define LOG_SQRT_2PI 0.91893853320467274178
#define INV_SQRT_2PI 0.39894228040143267794

/* Eight doubles: one register of the widest instruction set, several of narrower ones. */
typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));

static void logarithm(int n, const double *x, double *out)
{
#pragma omp simd
  for (int j = 0; j < n; ++j) out[j] = rg_log_positive(x[j]);
}

static void normal_tails(int n, const double *a, double *restrict hazard, double *restrict log_cdf)
{
#pragma omp simd
  for (int j = 0; j < n; ++j) {
    double x = fabs(a[j]), upper = x + rg_hazard_excess(x), pdf, tail;

    pdf = INV_SQRT_2PI * rg_exp_nonpositive(-0.5 * (x * x));
    tail = pdf / upper; /* Phi(-x) */
    hazard[j] = a[j] < 0.0 ? upper : pdf / (1.0 - tail);
    log_cdf[j] = a[j] < 0.0 ? -0.5 * (x * x) - LOG_SQRT_2PI - rg_log_positive(upper)
                            : rg_log_complement(tail);
  }
}

/* With q = r (a + r) and F = 1 - q: r' = -q, q' = r F - q (a + r), so F' = q (a + r) - r F. */
static void truncation(int n, const double *a, double *restrict factor, double *restrict slope)
{
#pragma omp simd
  for (int j = 0; j < n; ++j) {
    double x = fabs(a[j]), excess = rg_hazard_excess(x), r, sum, f;

    r = INV_SQRT_2PI * rg_exp_nonpositive(-0.5 * (x * x));
    r = a[j] < 0.0 ? x + excess : r / (1.0 - r / (x + excess));
    sum = a[j] < 0.0 ? excess : x + r; /* a + r without cancellation */
    f = a[j] < 0.0 ? rg_tail_variance(x) : 1.0 - r * sum;
    factor[j] = f;
    if (slope) slope[j] = (1.0 - f) * sum - r * f;
  }
}

/* Midpoints of 2^52 equal intervals of (0,1), as rg_random_uniform. */
static inline double uniform(uint64_t word)
{
  uint64_t bits = 0x3ff0000000000000u | (word >> 12);
  double   u;

  memcpy(&u, &bits, sizeof u);
  return (u - 1.0) + 0x1p-53;
}

static void box_muller(int pairs, const uint64_t *word, double *restrict out)
{
#pragma omp simd
  for (int i = 0; i < pairs; ++i) {
    double radius = sqrt(-2.0 * rg_log_positive(uniform(word[2 * i])));
    double turn = rg_turn_part(uniform(word[2 * i + 1]));

    out[2 * i] = radius * rg_cos_turn(turn);
    out[2 * i + 1] = radius * rg_sin_turn(turn);
  }
}

static void turns(int dim, const double *x, int n, const double *W, size_t ld, const double *phase,
                  double *restrict turn)
{
  int k = 2 - dim % 2;

  if (k == 1) {
#pragma omp simd
    for (int m = 0; m < n; ++m) turn[m] = phase[m] + x[0] * W[m];
  } else {
#pragma omp simd
    for (int m = 0; m < n; ++m) turn[m] = phase[m] + x[0] * W[m] + x[1] * W[ld + m];
  }
  for (; k < dim; k += 2) {
    const double *a = W + (size_t)k * ld, *b = a + ld;
    double        u = x[k], v = x[k + 1];

#pragma omp simd
    for (int m = 0; m < n; ++m) turn[m] += u * a[m] + v * b[m];
  }
}

static void circle(int n, const double *turn, double *cosine, double *sine)
{
  if (!sine) {
#pragma omp simd
    for (int j = 0; j < n; ++j) cosine[j] = rg_cos_turn(rg_turn_part(turn[j]));
    return;
  }
#pragma omp simd
  for (int j = 0; j < n; ++j) {
    double r = rg_turn_part(turn[j]);

    sine[j] = rg_sin_turn(r);
    cosine[j] = rg_cos_turn(r);
  }
}

static void multiply(int n, const double *b, double *restrict a)
{
#pragma omp simd
  for (int j = 0; j < n; ++j) a[j] *= b[j];
}

static double dot(int n, const double *a, const double *b)
{
  Lanes  s = {0}, t = {0};
  double rest = 0.0;
  int    j = 0;

  for (; j + 16 <= n; j += 16) {
    s += *(const Lanes *)(a + j) * *(const Lanes *)(b + j);
    t += *(const Lanes *)(a + j + 8) * *(const Lanes *)(b + j + 8);
  }
  for (; j < n; ++j) rest += a[j] * b[j];
  s += t;
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])) + rest;
}

/* 4 x 8 sums of a row of the result stay in registers. */
static void multiply_tile(int n, const double *A, bool lower, const double *in, double *out)
{
  for (int a = 0; a < n; ++a, A += n, out += RG_VECTOR_TILE) {
    const Lanes *row = (const Lanes *)in;
    Lanes        s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};

    for (int i = 0; i < (lower ? a + 1 : n); ++i, row += 4) {
      s0 += A[i] * row[0];
      s1 += A[i] * row[1];
      s2 += A[i] * row[2];
      s3 += A[i] * row[3];
    }
    ((Lanes *)out)[0] = s0;
    ((Lanes *)out)[1] = s1;
    ((Lanes *)out)[2] = s2;
    ((Lanes *)out)[3] = s3;
  }
}

extern const RgVectorOps VECTOR_OPS;

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

const RgVectorOps VECTOR_OPS = {
  .name = TEXT(VECTOR_OPS),
  .logarithm = logarithm,
  .normal_tails = normal_tails,
  .truncation = truncation,
  .box_muller = box_muller,
  .turns = turns,
  .circle = circle,
  .multiply = multiply,
  .dot = dot,
  .multiply_tile = multiply_tile,
};
