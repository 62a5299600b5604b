/* The functions of RgVectorOps, compiled once per instruction set. The including file defines
   VECTOR_OPS, the name of its table, and LANES, the doubles in one vector register. The
   vectoriser handles loops over plain arrays; sums that must stay in registers use vector types
   (maths/lanes.h). */
#include "maths/lanes.h"
#include "maths/vector_math.h"

#define LOG_SQRT_2PI 0.91893853320467274178
#define INV_SQRT_2PI 0.39894228040143267794

typedef float CoarseVector __attribute__((vector_size(8 * LANES), aligned(4), may_alias));

typedef double Quad __attribute__((vector_size(32), aligned(8), may_alias));

#define COARSE (RG_VECTOR_BLOCK / (2 * LANES)) /* lanes of a block in single precision */

static void logarithm(int n, const double *x, double *out)
{
#pragma omp simd
  for (int j = 0; j < n; j++) out[j] = rg_log_positive(x[j]);
}

static void normal_tails(int n, const double *a, double *restrict hazard, double *restrict log_cdf)
{
#pragma omp simd
  for (int j = 0; j < n; j++) {
    double x = fabs(a[j]), upper = x + rg_hazard_excess(x), pdf, tail;
    pdf = INV_SQRT_2PI * rg_exp_nonpositive(-0.5 * (x * x));
    tail = pdf / upper; /* Phi(-x) */
    hazard[j] = a[j] < 0.0 ? upper : pdf / (1.0 - tail);
    log_cdf[j] =
      a[j] < 0.0 ? -0.5 * (x * x) - LOG_SQRT_2PI - rg_log_positive(upper) : rg_log_complement(tail);
  }
}

/* With q = r (a + r) and F = 1 - q: r' = -q, q' = r F - q (a + r), so F' = q (a + r) - r F. */
static void truncation(int n, const double *a, double *restrict factor, double *restrict slope)
{
#pragma omp simd
  for (int j = 0; j < n; j++) {
    double x = fabs(a[j]), excess = rg_hazard_excess(x), r, sum, f;
    r = INV_SQRT_2PI * rg_exp_nonpositive(-0.5 * (x * x));
    r = a[j] < 0.0 ? x + excess : r / (1.0 - r / (x + excess));
    sum = a[j] < 0.0 ? excess : x + r; /* a + r without cancellation */
    f = a[j] < 0.0 ? rg_tail_variance(x) : 1.0 - r * sum;
    factor[j] = f;
    if (slope) slope[j] = (1.0 - f) * sum - r * f;
  }
}

/* T(g) = g phi/(2 Phi) - log Phi. With x = |g|, w = 1/(x + c) and t = Phi(-x) = phi w, u = 1 - t:
     g >= 0:  T = (x phi/2 + t - (1 - u))/u - log u   (t - (1 - u) makes the rounding of u good)
     g < 0:   T = log sqrt(2 pi) - log w - x c/2
   Divisions cost more than all the rest, so two pairs of quotients share one each. */
static void truncated_entropy(int n, double bound, const double *mean, const double *inverse_sd,
                              double *restrict sum)
{
#pragma omp simd
  for (int j = 0; j < n; j++) {
    double g = (bound - mean[j]) * inverse_sd[j], x = fabs(g), near = x < 1e6 ? x : 1e6;
    double A = rg_hazard_above(near), B = rg_hazard_below(near), D = x * B + A;
    double share = 1.0 / (B * D), w = B * B * share, c = A * D * share;
    double pdf = INV_SQRT_2PI * rg_exp_nonpositive(-0.5 * (x * x)), t = pdf * w, u = 1.0 - t;
    double exponent, f = rg_log_split(g < 0.0 ? w : u, &exponent);
    double inverse = 1.0 / (u * (f + 1.0));
    double logarithm = rg_log_join(exponent, (f - 1.0) * (u * inverse));
    double inside = (0.5 * x * pdf + (t - (1.0 - u))) * ((f + 1.0) * inverse);
    sum[j] += (g < 0.0 ? LOG_SQRT_2PI - 0.5 * near * c : inside) - logarithm;
  }
}

/* v F(a), a = (bound - mean)/sqrt(v). Points with a < 0 are rare and get a pass of their own. With
   c = A/B and D = x B + A: r = phi/(1 - phi/(x + c)) = phi D/(D - phi B). */
static void truncated_variance(int n, double bound, const double *mean, const double *variance,
                               double smallest, double *restrict out)
{
  double lowest = 0.0;

#pragma omp simd reduction(min : lowest)
  for (int j = 0; j < n; j++) {
    double v = variance[j] > smallest ? variance[j] : smallest;
    double a = (bound - mean[j]) / sqrt(v), x = a < 1e20 ? fabs(a) : 1e20;
    double pdf = INV_SQRT_2PI * rg_exp_nonpositive(-0.5 * (x * x));
    double B = rg_hazard_below(x), D = x * B + rg_hazard_above(x), r = pdf * D / (D - pdf * B);
    double f = 1.0 - r * (x + r);
    f = f > 1e-9 ? f : 1e-9;
    out[j] = variance[j] > smallest ? v * f : 0.0;
    lowest = a < lowest ? a : lowest;
  }
  for (int j = 0; lowest < 0.0 && j < n; j++) {
    if (!(variance[j] > smallest && mean[j] > bound)) continue;
    double f = rg_tail_variance((mean[j] - bound) / sqrt(variance[j]));

    out[j] = variance[j] * (f > 1e-9 ? f : 1e-9);
  }
}

/* Midpoints of 2^52 equal intervals of (0,1), as rg_random_uniform. */
static inline double uniform(uint64_t word)
{
  uint64_t bits = 0x3ff0000000000000u | (word >> 12);
  double u;

  memcpy(&u, &bits, sizeof u);
  return (u - 1.0) + 0x1p-53;
}

static void box_muller(int pairs, const uint64_t *word, double *restrict out)
{
#pragma omp simd
  for (int i = 0; i < pairs; i++) {
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
    for (int m = 0; m < n; m++) turn[m] = phase[m] + x[0] * W[m];
  } else {
#pragma omp simd
    for (int m = 0; m < n; m++) turn[m] = phase[m] + x[0] * W[m] + x[1] * W[ld + m];
  }
  for (; k < dim; k += 2) {
    const double *a = W + (size_t)k * ld, *b = a + ld;
    double u = x[k], v = x[k + 1];

#pragma omp simd
    for (int m = 0; m < n; m++) turn[m] += u * a[m] + v * b[m];
  }
}

static void circle(int n, const double *turn, double *cosine, double *sine)
{
  if (!sine) {
#pragma omp simd
    for (int j = 0; j < n; j++) cosine[j] = rg_cos_turn(rg_turn_part(turn[j]));
    return;
  }
#pragma omp simd
  for (int j = 0; j < n; j++) {
    double r = rg_turn_part(turn[j]);
    sine[j] = rg_sin_turn(r);
    cosine[j] = rg_cos_turn(r);
  }
}

/* turn <- cos(2 pi turn): a polynomial in r^2, |r| <= 1/2 (1e-8). (Vectors pass by address: how
   they pass by value depends on the instruction set.) */
INLINE void coarse_cosine_vector(CoarseVector *turn)
{
  const float shift = 0x1.8p23f;
  CoarseVector r = *turn - ((*turn + shift) - shift), s = r * r, p;

  p = 6.52770596f * s - 25.9668846f;
  p = p * s + 60.1674298f;
  p = p * s - 85.4501134f;
  p = p * s + 64.9391159f;
  p = p * s - 19.7392045f;
  *turn = p * s + 0.999999989f;
}

INLINE double coarse_cosine_sum_of(int dim, const double *x, int n, const float *W, size_t ld,
                                   const float *phase, const float *weight)
{
  CoarseVector sum[COARSE] = {{0}};
  float s[RG_VECTOR_BLOCK];
  double total = 0.0;

  for (int m = 0; m < n; m += RG_VECTOR_BLOCK) {
    for (int v = 0; v < COARSE; v++) {
      int at = m + 2 * v * LANES;
      CoarseVector p = *(const CoarseVector *)(phase + at);
      for (int k = 0; k < dim; k++)
        p += (float)x[k] * *(const CoarseVector *)(W + (size_t)k * ld + at);
      coarse_cosine_vector(&p);
      sum[v] += *(const CoarseVector *)(weight + at) * p;
    }
  }
  memcpy(s, sum, sizeof s);
  for (int l = 0; l < RG_VECTOR_BLOCK; l++) total += (double)s[l];
  return total;
}

/* The most common dimensions have unrolled loops. */
static double coarse_cosine_sum(int dim, const double *x, int n, const float *W, size_t ld,
                                const float *phase, const float *weight)
{
  switch (dim) {
  case 1: return coarse_cosine_sum_of(1, x, n, W, ld, phase, weight);
  case 2: return coarse_cosine_sum_of(2, x, n, W, ld, phase, weight);
  case 3: return coarse_cosine_sum_of(3, x, n, W, ld, phase, weight);
  case 4: return coarse_cosine_sum_of(4, x, n, W, ld, phase, weight);
  default: return coarse_cosine_sum_of(dim, x, n, W, ld, phase, weight);
  }
}

static void coarse_circle(int dim, const double *x, int n, const float *W, size_t ld,
                          const float *phase, float *cosine, float *sine)
{
  for (int m = 0; m < n; m += 2 * LANES) {
    CoarseVector turn = *(const CoarseVector *)(phase + m), quarter;
    for (int k = 0; k < dim; k++)
      turn += (float)x[k] * *(const CoarseVector *)(W + (size_t)k * ld + m);
    quarter = turn - 0.25f;
    coarse_cosine_vector(&turn);
    coarse_cosine_vector(&quarter);
    *(CoarseVector *)(cosine + m) = turn;
    *(CoarseVector *)(sine + m) = quarter;
  }
}

/* The sums of a block of rows with a block of columns stay in registers. */
enum { COARSE_ROWS = LANES == 8 ? 6 : 2, COARSE_COLUMNS = LANES == 8 ? 4 : 3 };

INLINE double sum_coarse_block(const CoarseVector *v)
{
  float s[RG_VECTOR_BLOCK];

  memcpy(s, v, sizeof s);
  for (int half = RG_VECTOR_BLOCK / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) s[l] += s[l + half];
  return (double)s[0];
}

static void coarse_block(int i, int j, int rows, int columns, int n, const float *A, const float *B,
                         double *out)
{
  const float *a[COARSE_ROWS], *b[COARSE_COLUMNS];
  CoarseVector sum[COARSE_ROWS][COARSE_COLUMNS][COARSE] = {{{{0}}}};

  for (int k = 0; k < COARSE_ROWS; k++) a[k] = A + (size_t)(i + k < rows ? i + k : rows - 1) * n;
  for (int l = 0; l < COARSE_COLUMNS; l++)
    b[l] = B + (size_t)(j + l < columns ? j + l : columns - 1) * n;
  for (int q = 0; q < n; q += RG_VECTOR_BLOCK) {
    for (int v = 0, at = q; v < COARSE; v++, at += 2 * LANES) {
      for (int k = 0; k < COARSE_ROWS; k++) {
        CoarseVector u = *(const CoarseVector *)(a[k] + at);
        for (int l = 0; l < COARSE_COLUMNS; l++)
          sum[k][l][v] += u * *(const CoarseVector *)(b[l] + at);
      }
    }
  }
  for (int k = 0; k < COARSE_ROWS && i + k < rows; k++)
    for (int l = 0; l < COARSE_COLUMNS && j + l < columns; l++)
      out[(size_t)(i + k) * columns + j + l] = sum_coarse_block(sum[k][l]);
}

static void coarse_products(int rows, int columns, int n, const float *A, const float *B,
                            double *out)
{
  for (int i = 0; i < rows; i += COARSE_ROWS)
    for (int j = 0; j < columns; j += COARSE_COLUMNS)
      coarse_block(i, j, rows, columns, n, A, B, out);
}

static void multiply(int n, const double *b, double *restrict a)
{
#pragma omp simd
  for (int j = 0; j < n; j++) a[j] *= b[j];
}

static double dot(int n, const double *a, const double *b)
{
  Vector sum[VECTORS] = {{0}};
  Quad product;
  double rest = 0.0;
  int j = 0;

  for (; j + RG_VECTOR_BLOCK <= n; j += RG_VECTOR_BLOCK)
    for (int v = 0; v < VECTORS; v++)
      sum[v] += *(const Vector *)(a + j + v * LANES) * *(const Vector *)(b + j + v * LANES);
  /* Compilers fuse the remaining terms as they like, so this loop fixes the order: one by one,
     not by four. */
  for (; j + 4 <= n; j += 4) {
    product = *(const Quad *)(a + j) * *(const Quad *)(b + j);
    for (int l = 0; l < 4; l++) rest += product[l];
  }
  for (; j < n; j++) rest = FUSED(a[j], b[j], rest);
  return sum_block(sum) + rest;
}

#if LANES == 8
/* Combine six rows of P with four others: 24 sums in registers. Work on a piece of the columns
   at a time, so that the rows stay in the first cache. */
enum { ROWS = 6, COLUMNS = 4, PIECE = 384 };

static void gram_block(int i, int j, int n, int m, int first, int last, const double *P, double *A,
                       size_t lda)
{
  const double *a[ROWS], *b[COLUMNS];
  Vector sum[ROWS][COLUMNS] = {{{0}}};
  double s[8];

  for (int k = 0; k < ROWS; k++) a[k] = P + (size_t)(i + k < n ? i + k : n - 1) * (size_t)m;
  for (int l = 0; l < COLUMNS; l++) b[l] = P + (size_t)(j + l < n ? j + l : n - 1) * (size_t)m;
  for (int q = first; q < last; q += LANES) {
    for (int k = 0; k < ROWS; k++) {
      Vector u = *(const Vector *)(a[k] + q);
      for (int l = 0; l < COLUMNS; l++) sum[k][l] += u * *(const Vector *)(b[l] + q);
    }
  }
  for (int k = 0; k < ROWS && i + k < n; k++) {
    for (int l = 0; l < COLUMNS && j + l < n; l++) {
      double *entry = &A[(size_t)(j + l) * lda + (size_t)(i + k)];
      memcpy(s, &sum[k][l], sizeof s);
      *entry =
        (first ? *entry : 0.0) + ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    }
  }
}

static void gram_of(int n, int m, const double *P, double *A, size_t lda)
{
  for (int first = 0; first < m; first += PIECE) {
    for (int j = 0; j < n; j += COLUMNS)
      for (int i = j; i < n; i += ROWS)
        gram_block(i, j, n, m, first, first + PIECE < m ? first + PIECE : m, P, A, lda);
  }
}
#define GRAM gram_of
#else
#define GRAM NULL
#endif

/* The sums of a row of the result stay in registers. */
static void multiply_tile(int n, const double *A, bool lower, const double *in, double *out,
                          size_t ld)
{
  enum { ROW = RG_VECTOR_TILE / LANES };

  for (int a = 0; a < n; a++, A += n, out += ld) {
    const Vector *row = (const Vector *)in;
    Vector sum[ROW] = {{0}};
    for (int i = 0; i < (lower ? a + 1 : n); i++, row += ROW)
      for (int v = 0; v < ROW; v++) sum[v] += A[i] * row[v];
    for (int v = 0; v < ROW; v++) ((Vector *)out)[v] = sum[v];
  }
}

extern const RgVectorOps VECTOR_OPS;

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

const RgVectorOps VECTOR_OPS = {
  .name = TEXT(VECTOR_OPS),
  .logarithm = logarithm,
  .normal_tails = normal_tails,
  .truncation = truncation,
  .truncated_entropy = truncated_entropy,
  .truncated_variance = truncated_variance,
  .box_muller = box_muller,
  .turns = turns,
  .circle = circle,
  .coarse_cosine_sum = coarse_cosine_sum,
  .coarse_circle = coarse_circle,
  .coarse_products = coarse_products,
  .multiply = multiply,
  .dot = dot,
  .gram = GRAM,
  .multiply_tile = multiply_tile,
};
