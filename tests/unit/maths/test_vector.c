/* Vector loops against libm and maths/normal.h, at every instruction set this CPU has. The bits
   do not depend on the width of the vectors. */
#include "test_main.h"

#include "maths/normal.h"
#include "maths/vector.h"

#define N 1003 /* no multiple of any width */

/* |a/b - 1| <= tolerance, exact where b = 0 */
#define RELATIVE(a, b, tolerance)                                                                  \
  do {                                                                                             \
    double u_ = (a), v_ = (b);                                                                     \
    if (!(fabs(u_ - v_) <= (tolerance)*fabs(v_)))                                                  \
      fail_msg("%s = %.17g, expected %.17g", #a, u_, v_);                                          \
  } while (0)

/* A test of the operations at every instruction set that this CPU has. */
#define AT_EACH_LEVEL(name)                                                                        \
  static void name##_at(const RgVectorOps *ops);                                                   \
  RG_TEST(name)                                                                                    \
  {                                                                                                \
    int checked = 0;                                                                               \
    for (int level = 0; level < RG_VECTOR_LEVELS; level++)                                         \
      if (rg_vector_ops_at(level)) name##_at(rg_vector_ops_at(level)), checked++;                  \
    assert_true(checked > 0);                                                                      \
    assert_null(rg_vector_ops_at(RG_VECTOR_LEVELS));                                               \
  }                                                                                                \
  static void name##_at(const RgVectorOps *ops)

AT_EACH_LEVEL(logarithm_is_accurate)
{
  double x[N], out[N];

  for (int i = 0; i < N; i++) x[i] = exp(-700.0 + 1.4 * i);
  ops->logarithm(N, x, out);
  for (int i = 0; i < N; i++) RELATIVE(out[i], log(x[i]), 1e-15);
  for (int i = 0; i < N; i++) x[i] = 1.0 + (i - 500) * 1e-6 * (i - 500);
  ops->logarithm(N, x, x);
  for (int i = 0; i < N; i++) RELATIVE(x[i], log(1.0 + (i - 500) * 1e-6 * (i - 500)), 1e-15);
}

AT_EACH_LEVEL(cosine_and_sine_are_accurate)
{
  double turn[N], cosine[N], sine[N];

  for (int i = 0; i < N; i++) turn[i] = (i - 500) * 0.03125 * (i % 3 ? 1.0 : 1e6) + 1e-4 * i;
  turn[0] = 0x1p50;
  ops->circle(N, turn, cosine, sine);
  for (int i = 0; i < N; i++) {
    double angle = 6.283185307179586476925287 * remainder(turn[i], 1.0);
    RG_CLOSE(cosine[i], cos(angle), 8e-16);
    RG_CLOSE(sine[i], sin(angle), 8e-16);
  }
  ops->circle(N, turn, turn, NULL);
  assert_memory_equal(turn, cosine, sizeof cosine);
}

AT_EACH_LEVEL(tails_agree_with_the_scalar_ones)
{
  const double far[4] = {-1e20, -1e8, 40.0, 1e20};
  double a[N], hazard[N], log_cdf[N];

  for (int i = 0; i < N; i++) a[i] = -60.0 + 0.08 * i; /* to 20 */
  ops->normal_tails(N, a, hazard, log_cdf);
  for (int i = 0; i < N; i++) {
    RELATIVE(hazard[i], rg_normal_hazard(a[i]), 1e-13);
    RELATIVE(log_cdf[i], rg_normal_log_cdf(a[i]), 1e-13);
  }
  ops->normal_tails(4, far, hazard, log_cdf);
  RELATIVE(hazard[0], 1e20, 1e-15);
  RELATIVE(log_cdf[0], -5e39, 1e-15);
  RELATIVE(hazard[1], 1e8, 1e-15);
  for (int i = 2; i < 4; i++) assert_true(hazard[i] == 0.0 && log_cdf[i] == 0.0);
}

/* The variance below `a`: from its definition where this is accurate, from its series far out. */
static double truncation(double a)
{
  double r = rg_normal_hazard(a);

  if (a < -200.0)
    return 1.0 / (a * a) - 6.0 / pow(a, 4.0) + 50.0 / pow(a, 6.0) - 518.0 / pow(a, 8.0);
  return 1.0 - r * (a + r);
}

AT_EACH_LEVEL(truncated_variance_and_its_slope)
{
  double a[N], factor[N], slope[N], above[N], below[N], h = 1e-4;

  for (int i = 0; i < N; i++) a[i] = -7.0 + 0.014 * i; /* to 7 */
  ops->truncation(N, a, factor, slope);
  for (int i = 0; i < N; i++) RG_CLOSE(factor[i] / truncation(a[i]), 1.0, 1e-11);
  for (int i = 0; i < N; i++) a[i] += h;
  ops->truncation(N, a, above, NULL);
  for (int i = 0; i < N; i++) a[i] -= 2 * h;
  ops->truncation(N, a, below, NULL);
  for (int i = 0; i < N; i++) {
    assert_true(factor[i] > 0.0 && factor[i] <= 1.0 && slope[i] > 0.0);
    RG_CLOSE(slope[i], (above[i] - below[i]) / (2 * h), 1e-8);
  }
  for (int i = 0; i < N; i++) a[i] = -200.0 - 3.0 * i * i;
  ops->truncation(N, a, factor, slope);
  for (int i = 1; i < N; i++) {
    RELATIVE(factor[i], truncation(a[i]), 1e-12);
    assert_true(slope[i] >= 0.0);
  }
}

/* Against the scalar functions, on both sides of zero and far out. */
AT_EACH_LEVEL(entropy_of_truncated_normals)
{
  double mean[N], inverse[N], sum[N];

  for (int i = 0; i < N; i++) {
    mean[i] = 0.06 * (i - 501) + 0.5;
    inverse[i] = 0.5 + 0.01 * (i % 7);
    sum[i] = 1.0;
  }
  mean[0] = 1e9;
  mean[1] = -1e9;
  ops->truncated_entropy(N, 0.5, mean, inverse, sum);
  for (int i = 0; i < N; i++) {
    double g = (0.5 - mean[i]) * inverse[i], h = rg_normal_hazard(g), c = h + g;
    double x = -g, tail = 0.5 * g * h - rg_normal_log_cdf(g);
    /* log sqrt(2 pi) + log h - x c/2 below zero, where the terms above cancel */
    if (x > 1e3) c = 1.0 / x;
    if (x > 0.0) tail = 0.91893853320467274178 + log(h) - 0.5 * x * c;
    RG_CLOSE(sum[i], 1.0 + tail, 1e-12);
  }
}

AT_EACH_LEVEL(variance_of_truncated_normals)
{
  double mean[N], variance[N], out[N];

  for (int i = 0; i < N; i++) {
    mean[i] = 0.03 * (i - 501);
    variance[i] = i % 10 ? 0.2 + 0.01 * (i % 13) : 1e-15;
  }
  variance[20] = -1e-9;
  ops->truncated_variance(N, 0.3, mean, variance, 1e-14, out);
  for (int i = 0; i < N; i++) {
    double a = (0.3 - mean[i]) / sqrt(variance[i]), factor;
    if (variance[i] <= 1e-14) {
      assert_true(out[i] == 0.0);
      continue;
    }
    ops->truncation(1, &a, &factor, NULL);
    RG_CLOSE(out[i] / variance[i], fmax(factor, 1e-9), 1e-14);
  }
}

/* Single precision against the exact sum, many angles, weights and dimensions. */
AT_EACH_LEVEL(coarse_sums_are_close)
{
  enum { M = 208 };
  double x[6] = {0.3, 0.8, 0.1, 0.9, 0.45, 0.7};
  float W[6 * M], phase[M], weight[M];

  for (int i = 0; i < 6 * M; i++) W[i] = (float)(20.0 * sin(3.0 * i));
  for (int m = 0; m < M; m++) {
    phase[m] = (float)(0.5 + 0.5 * sin(m));
    weight[m] = (float)cos(5.0 * m);
  }
  for (int dim = 1; dim <= 6; dim++) {
    double sum = 0.0;
    for (int m = 0; m < M; m++) {
      double turn = (double)phase[m];
      for (int k = 0; k < dim; k++) turn += x[k] * (double)W[k * M + m];
      sum += (double)weight[m] * cos(6.283185307179586476925287 * turn);
    }
    RG_CLOSE(ops->coarse_cosine_sum(dim, x, M, W, M, phase, weight), sum, 1e-3);
  }
  for (int dim = 1; dim <= 6; dim++) {
    float cosine[M], sine[M];
    ops->coarse_circle(dim, x, M, W, M, phase, cosine, sine);
    for (int m = 0; m < M; m++) {
      double turn = (double)phase[m];
      for (int k = 0; k < dim; k++) turn += x[k] * (double)W[k * M + m];
      RG_CLOSE((double)cosine[m], cos(6.283185307179586476925287 * turn), 1e-4);
      RG_CLOSE((double)sine[m], sin(6.283185307179586476925287 * turn), 1e-4);
    }
  }
}

/* Every size of an incomplete block. */
AT_EACH_LEVEL(coarse_products_are_close)
{
  enum { MOST = 13, M = 48 };
  float A[MOST * M], B[MOST * M];
  double out[MOST * MOST + 1];

  for (int i = 0; i < MOST * M; i++) {
    A[i] = (float)sin(3.0 * i);
    B[i] = (float)cos(7.0 * i);
  }
  for (int rows = 1; rows <= MOST; rows++)
    for (int columns = 1; columns <= MOST; columns++) {
      out[rows * columns] = 17.0;
      ops->coarse_products(rows, columns, M, A, B, out);
      assert_true(out[rows * columns] == 17.0);
      for (int i = 0; i < rows * columns; i++) {
        double sum = 0.0;
        for (int m = 0; m < M; m++)
          sum += (double)A[i / columns * M + m] * (double)B[i % columns * M + m];
        RG_CLOSE(out[i], sum, 1e-5);
      }
    }
}

AT_EACH_LEVEL(gram_matrices)
{
  enum { MOST = 15, COLUMNS = 416 };
  static double P[MOST * COLUMNS], A[16 * 16];

  if (!ops->gram) return;
  for (int i = 0; i < MOST * COLUMNS; i++) P[i] = sin(0.7 * i);
  for (int n = 1; n <= MOST; n++)
    for (int m = 16; m <= COLUMNS; m += 200) {
      ops->gram(n, m, P, A, 16);
      for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
          RG_CLOSE(A[j * 16 + i], ops->dot(m, P + i * m, P + j * m), 1e-12);
    }
}

AT_EACH_LEVEL(sums_and_angles)
{
  const int sizes[] = {0, 1, 7, 16, 17, 100, N};
  double a[N], b[N], x[5] = {0.3, -0.2, 0.9, 0.1, 0.7}, W[5 * N], turn[N];

  for (int i = 0; i < N; i++) {
    a[i] = sin(i);
    b[i] = cos(3 * i);
  }
  for (int i = 0; i < 5 * N; i++) W[i] = sin(2 * i);
  for (int s = 0; s < 7; s++) {
    double sum = 0.0;
    for (int i = 0; i < sizes[s]; i++) sum += a[i] * b[i];
    RG_CLOSE(ops->dot(sizes[s], a, b), sum, 1e-12);
  }
  for (int dim = 1; dim <= 5; dim++) {
    ops->turns(dim, x, N, W, N, a, turn);
    for (int i = 0; i < N; i++) {
      double sum = a[i];
      for (int k = 0; k < dim; k++) sum += x[k] * W[k * N + i];
      RG_CLOSE(turn[i], sum, 1e-15);
    }
  }
  memcpy(turn, a, sizeof turn);
  ops->multiply(N, b, turn);
  for (int i = 0; i < N; i++) assert_true(turn[i] == a[i] * b[i]);
}

AT_EACH_LEVEL(tiles_are_matrix_products)
{
  enum { ROWS = 7 };
  double A[ROWS * ROWS], in[ROWS * RG_VECTOR_TILE], out[ROWS * RG_VECTOR_TILE];

  for (int i = 0; i < ROWS * ROWS; i++) A[i] = sin(i);
  for (int i = 0; i < ROWS * RG_VECTOR_TILE; i++) in[i] = cos(i);
  for (int lower = 0; lower < 2; lower++) {
    ops->multiply_tile(ROWS, A, lower, in, out, RG_VECTOR_TILE);
    for (int i = 0; i < ROWS * RG_VECTOR_TILE; i++) {
      int a = i / RG_VECTOR_TILE, j = i % RG_VECTOR_TILE;
      double sum = 0.0;
      for (int k = 0; k < (lower ? a + 1 : ROWS); k++)
        sum += A[a * ROWS + k] * in[k * RG_VECTOR_TILE + j];
      RG_CLOSE(out[i], sum, 1e-14);
    }
  }
}

RG_TEST(normals_follow_the_stream)
{
  RgStream stream = rg_stream(5, "test", 0, "vector", 3);
  double fast[N], slow[N + 1];

  for (int used = 0; used < 4; used++) { /* words taken before */
    RgRandom a = rg_stream_at(&stream, 1), b = a;

    for (int i = 0; i < used; i++) assert_true(rg_random_word(&a) == rg_random_word(&b));
    rg_vector_normals(&a, N, fast);
    rg_random_normals(&b, N + 1, slow);
    for (int i = 0; i < N; i++) RG_CLOSE(fast[i], slow[i], 1e-14);
    /* The odd half of the last pair was drawn and dropped; both are at the same word. */
    assert_true(rg_random_word(&a) == rg_random_word(&b));
  }
}

/* Everything at 256 and at 512 bits. */
RG_TEST(width_does_not_change_bits)
{
  const RgVectorOps *ops[2] = {rg_vector_ops_at(1), rg_vector_ops_at(2)};
  double x[N], out[2][11][N];
  enum { WHOLE = N / RG_VECTOR_BLOCK * RG_VECTOR_BLOCK };
  float coarse[N], circle[2][2][WHOLE];
  uint64_t words[2 * N];

  if (!ops[0] || !ops[1]) skip();
  for (int i = 0; i < N; i++) x[i] = 0.01 * i - 4.0;
  for (int i = 0; i < N; i++) coarse[i] = (float)x[i];
  for (int i = 0; i < 2 * N; i++) words[i] = (uint64_t)i * 0x9E3779B97F4A7C15u;
  memset(out, 0, sizeof out);
  for (int k = 0; k < 2; k++) {
    ops[k]->normal_tails(N, x, out[k][0], out[k][1]);
    ops[k]->truncation(N, x, out[k][2], out[k][3]);
    ops[k]->circle(N, x, out[k][4], out[k][5]);
    ops[k]->box_muller(N / 2, words, out[k][6]);
    ops[k]->logarithm(N, out[k][0], out[k][7]);
    ops[k]->truncated_entropy(N, 0.3, x, out[k][0], out[k][8]);
    ops[k]->truncated_variance(N, 0.3, x, out[k][2], 1e-14, out[k][9]);
    out[k][7][0] = ops[k]->dot(N, x, out[k][0]);
    ops[k]->turns(3, x, N / 3, x, N / 3, x, out[k][7] + 1);
    ops[k]->coarse_circle(2, x + 5, WHOLE, coarse, 7, coarse, circle[k][0], circle[k][1]);
    ops[k]->coarse_products(7, 5, 96, coarse, coarse + 1, out[k][10]);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  assert_memory_equal(circle[0], circle[1], sizeof circle[0]);
}

/* The compiler may fuse in any way: 16 lanes fused, then four not fused, then one by one fused. */
static double dot_as_promised(int n, const double *a, const double *b)
{
  double lane[RG_VECTOR_BLOCK] = {0}, rest = 0.0;
  int j = 0;

  for (; j + RG_VECTOR_BLOCK <= n; j += RG_VECTOR_BLOCK)
    for (int l = 0; l < RG_VECTOR_BLOCK; l++) lane[l] = fma(a[j + l], b[j + l], lane[l]);
  for (; j + 4 <= n; j += 4) {
    volatile double product;
    for (int l = 0; l < 4; l++) {
      product = a[j + l] * b[j + l];
      rest += product;
    }
  }
  for (; j < n; j++) rest = fma(a[j], b[j], rest);
  for (int half = RG_VECTOR_BLOCK / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0] + rest;
}

RG_TEST(fusing_does_not_depend_on_the_compiler)
{
  double x[N], y[N];

  for (int i = 0; i < N; i++) x[i] = fmod(0.754877666 * (i + 1), 1.0) - 0.3;
  for (int i = 0; i < N; i++) y[i] = fmod(0.569840291 * (i + 1), 1.0) - 0.5;
  for (int level = 1; level < RG_VECTOR_LEVELS; level++) {
    const RgVectorOps *ops = rg_vector_ops_at(level);
    if (!ops) continue;
    for (int n = 0; n < 64; n++) assert_true(ops->dot(n, x + n, y) == dot_as_promised(n, x + n, y));
  }
}
