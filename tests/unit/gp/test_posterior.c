#include "gp_support.h"

#include "maths/blas.h"
#include "gp/posterior/posterior.h"

#define DIM SUPPORT_DIM
#define N 57
#define M 64

/* Data of a smooth function with its own perturbation for every seed. */
static void data(uint64_t seed, int n, double *X, double *y)
{
  double noise[512];

  support_points(seed, n, DIM, X);
  support_normals(seed + 100, n, noise);
  for (int i = 0; i < n; i++) y[i] = sin(5.0 * X[i * DIM]) + X[i * DIM + 2] + 0.1 * noise[i];
}

/* Mean and variance by a symmetric indefinite solve with the whole matrix, which is another
   algorithm. */
static void dense_predict(const RgKernel *kernel, double noise, double mean, int n, const double *X,
                          const double *y, int m, const double *Z, double *mu, double *variance)
{
  double *K, *k, *B;
  int *pivots;

  RG_OK(PetscMalloc4(n * n, &K, n * (m + 1), &k, n * (m + 1), &B, n, &pivots));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      K[i * n + j] = support_value(kernel, X + i * DIM, X + j * DIM) + (i == j ? noise : 0.0);
    }
    for (int j = 0; j < m; j++) k[j * n + i] = support_value(kernel, X + i * DIM, Z + j * DIM);
    k[m * n + i] = y[i] - mean;
  }
  memcpy(B, k, sizeof(double) * n * (m + 1));
  assert_int_equal(LAPACKE_dsysv(LAPACK_COL_MAJOR, 'L', n, m + 1, K, n, pivots, B, n), 0);
  for (int j = 0; j < m; j++) {
    mu[j] = mean;
    variance[j] = support_value(kernel, Z + j * DIM, Z + j * DIM);
    for (int i = 0; i < n; i++) {
      mu[j] += k[j * n + i] * B[m * n + i];
      variance[j] -= k[j * n + i] * B[j * n + i];
    }
  }
  RG_OK(PetscFree4(K, k, B, pivots));
}

RG_TEST(prediction_agrees_with_a_dense_solve)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      double X[N * DIM], y[N], Z[M * DIM], mean[M], variance[M], mu[M], v[M];
      RgKernel kernel;
      RgPosterior posterior;
      RgPrediction work = {0};
      RgFailure failure = {0};

      support_kernel((RgKernelFamily)family, variant, &kernel);
      data(10 + family, N, X, y);
      support_points(20 + variant, M, DIM, Z);
      RG_OK(rg_posterior_create(&kernel, 1e-3, 0.4, N, &posterior));
      RG_OK(rg_posterior_set(&posterior, NULL, 1e-3, 0.4, N, X, y, &failure));
      RG_OK(rg_posterior_predict(&posterior, M, Z, mean, variance, &work));
      dense_predict(&kernel, 1e-3, 0.4, N, X, y, M, Z, mu, v);
      for (int j = 0; j < M; j++) {
        RG_CLOSE(mean[j], mu[j], 1e-9);
        RG_CLOSE(variance[j], v[j], 1e-10);
      }
      RG_OK(rg_posterior_predict(&posterior, M, Z, mean, NULL, &work));
      for (int j = 0; j < M; j++) RG_CLOSE(mean[j], mu[j], 1e-9);
      assert_true(posterior.jitter == 0.0 && !failure.failed);
      RG_OK(rg_prediction_destroy(&work));
      RG_OK(rg_posterior_destroy(&posterior));
      RG_OK(rg_kernel_destroy(&kernel));
    }
  }
}

RG_TEST(batch_size_does_not_matter)
{
  enum { MANY = 1000 };
  const int sizes[] = {1, 7, 64};
  double X[N * DIM], y[N], *Z, *mean, *variance, *G, *bars;
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0}, small = {0};
  RgFailure failure = {0};

  RG_OK(
    PetscMalloc5(MANY * DIM, &Z, MANY, &mean, MANY, &variance, MANY * DIM, &G, 2 * MANY, &bars));
  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  data(31, N, X, y);
  support_points(32, MANY, DIM, Z);
  support_normals(33, 2 * MANY, bars);
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.0, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, N, X, y, &failure));
  RG_OK(rg_posterior_predict(&posterior, MANY, Z, mean, variance, &work));
  RG_OK(rg_posterior_gradient(&posterior, MANY, Z, bars, bars + MANY, &work, G));
  for (int s = 0; s < 3; s++) {
    int m = sizes[s];

    for (int first = 0; first + m <= MANY; first += 61 + m) {
      double mu[64], v[64], g[64 * DIM];

      RG_OK(rg_posterior_predict(&posterior, m, Z + first * DIM, mu, v, &small));
      RG_OK(rg_posterior_gradient(&posterior, m, Z + first * DIM, bars + first, bars + MANY + first,
                                  &small, g));
      for (int j = 0; j < m; j++) {
        RG_CLOSE(mu[j], mean[first + j], 1e-12);
        RG_CLOSE(v[j], variance[first + j], 1e-12);
        for (int k = 0; k < DIM; k++) RG_CLOSE(g[j * DIM + k], G[(first + j) * DIM + k], 1e-12);
      }
    }
  }
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_prediction_destroy(&small));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(PetscFree5(Z, mean, variance, G, bars));
}

/* phi = a . mean + b . variance at the points Z. */
static double objective(RgPosterior *posterior, const double *Z, const double *a, const double *b,
                        RgPrediction *work)
{
  double mean[M], variance[M], sum = 0.0;

  RG_OK(rg_posterior_predict(posterior, M, Z, mean, variance, work));
  for (int j = 0; j < M; j++) sum += a[j] * mean[j] + (b ? b[j] * variance[j] : 0.0);
  return sum;
}

static void gradient_of(RgKernelFamily family, int variant, bool with_variance)
{
  const double h = 2e-5;
  double X[N * DIM], y[N], Z[M * DIM], bars[2 * M], G[M * DIM];
  double *b = with_variance ? bars + M : NULL;
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0}, other = {0};
  RgFailure failure = {0};

  support_kernel(family, variant, &kernel);
  data(41, N, X, y);
  support_points(42, M, DIM, Z);
  support_normals(43, 2 * M, bars);
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.1, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.1, N, X, y, &failure));
  objective(&posterior, Z, bars, b, &work);
  RG_OK(rg_posterior_gradient(&posterior, M, Z, bars, b, &work, G));
  for (int p = 0; p < M * DIM; p += 5) {
    double at = Z[p], d[2];

    for (int s = 0; s < 2; s++) {
      Z[p] = at + (s ? h / 2 : h);
      d[s] = objective(&posterior, Z, bars, b, &other);
      Z[p] = at - (s ? h / 2 : h);
      d[s] -= objective(&posterior, Z, bars, b, &other);
    }
    Z[p] = at;
    RG_CLOSE(G[p], (4.0 * d[1] / h - d[0] / (2.0 * h)) / 3.0, 1e-6);
  }
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_prediction_destroy(&other));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(gradient_agrees_with_differences)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      gradient_of((RgKernelFamily)family, variant, true);
    }
    gradient_of((RgKernelFamily)family, 1, false);
  }
}

/* Little noise and long length scales: the variance near the data, about the noise, has its digits.
 */
RG_TEST(small_variances_are_accurate)
{
  const double scales[] = {0.8, 0.9, 1.1, 0.7}, noise = 1e-8;
  double X[N * DIM], y[N], Z[M * DIM], mean[M], variance[M], G[M * DIM];
  RgKernel kernel;
  RgPosterior whole, grown;
  RgPrediction work = {0};
  RgFailure failure = {0};

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, DIM, true, scales, 1.0, &kernel));
  data(35, N, X, y);
  support_points(36, M, DIM, Z);
  memcpy(Z, X, sizeof X);
  RG_OK(rg_posterior_create(&kernel, noise, 0.0, N, &whole));
  RG_OK(rg_posterior_create(&kernel, noise, 0.0, 2, &grown));
  RG_OK(rg_posterior_set(&whole, NULL, noise, 0.0, N, X, y, &failure));
  for (int i = 0; i < N; i++) {
    RG_OK(rg_posterior_append(&grown, X + i * DIM, y[i], &failure));
    RG_OK(rg_posterior_predict(&grown, 1, Z, mean, variance, &work));
  }
  for (int both = 0; both < 2; both++) {
    RgPosterior *posterior = both ? &grown : &whole;

    RG_OK(rg_posterior_predict(posterior, M, Z, mean, variance, &work));
    for (int j = 0; j < M; j++) {
      double k[N], exact = 1.0; /* by triangular solves */

      for (int i = 0; i < N; i++) k[i] = support_value(&kernel, X + i * DIM, Z + j * DIM);
      cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, N, posterior->L,
                  posterior->capacity, k, 1);
      for (int i = 0; i < N; i++) exact -= k[i] * k[i];
      if (j < N) assert_true(variance[j] < 2.0 * noise);
      assert_true(fabs(variance[j] - exact) < 1e-3 * noise);
    }
  }
  RG_OK(rg_posterior_gradient(&grown, M, Z, mean, variance, &work, G));
  for (int i = 0; i < M * DIM; i++) assert_true(isfinite(G[i]));
  assert_true(!failure.failed && whole.jitter == 0.0);
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&whole));
  RG_OK(rg_posterior_destroy(&grown));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Some points of a prediction have the gradients of a prediction of these points alone. */
RG_TEST(part_of_a_prediction)
{
  static const int which[] = {0, 2, 3, 5, 8, 9, 11, 12, 14, 15, 16, 17, 19, 20, 21, 22, 24, 25, 28};
  enum { COUNT = sizeof(which) / sizeof(*which) };
  double X[N * DIM], y[N], Z[M * DIM], part[COUNT * DIM], mean[M], variance[M], G[2][COUNT * DIM];
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work[2] = {{0}}, bare = {.values_only = true};
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 4, &kernel);
  data(37, N, X, y);
  support_points(38, M, DIM, Z);
  for (int i = 0; i < COUNT * DIM; i++) part[i] = Z[which[i / DIM] * DIM + i % DIM];
  RG_OK(rg_posterior_create(&kernel, 1e-3, 0.0, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-3, 0.0, N, X, y, &failure));
  RG_OK(rg_posterior_predict(&posterior, M, Z, mean, variance, &bare));
  assert_false(rg_posterior_select(&posterior, COUNT, which, &bare));
  RG_OK(rg_posterior_predict(&posterior, M, Z, mean, variance, &work[0]));
  assert_true(rg_posterior_select(&posterior, COUNT, which, &work[0]));
  RG_OK(rg_posterior_predict(&posterior, COUNT, part, mean, variance, &work[1]));
  for (int w = 0; w < 2; w++)
    RG_OK(rg_posterior_gradient(&posterior, COUNT, part, mean, variance, &work[w], G[w]));
  for (int k = 0; k < COUNT * DIM; k++) assert_true(G[0][k] == G[1][k]);
  for (int w = 0; w < 2; w++) RG_OK(rg_prediction_destroy(&work[w]));
  RG_OK(rg_prediction_destroy(&bare));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* A prediction that keeps nothing gives the same values and, later, the same gradient. */
RG_TEST(values_only_changes_nothing_but_memory)
{
  double X[N * DIM], y[N], Z[M * DIM], mean[2][M], variance[2][M], G[3][M * DIM];
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work[2] = {{0}, {.values_only = true}};
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 4, &kernel);
  data(37, N, X, y);
  support_points(38, M, DIM, Z);
  RG_OK(rg_posterior_create(&kernel, 1e-3, 0.0, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-3, 0.0, N, X, y, &failure));
  for (int w = 0; w < 2; w++) {
    RG_OK(rg_posterior_predict(&posterior, M - 5, Z, mean[w], variance[w], &work[w]));
    RG_OK(rg_posterior_gradient(&posterior, M - 5, Z, mean[w], variance[w], &work[w], G[w]));
  }
  RG_OK(rg_posterior_gradient(&posterior, M - 5, Z, mean[0], variance[0], &work[0], G[2]));
  assert_true(work[1].capacity < work[0].capacity);
  for (int j = 0; j < M - 5; j++) {
    RG_CLOSE(mean[0][j], mean[1][j], 1e-14);
    RG_CLOSE(variance[0][j], variance[1][j], 1e-14);
    for (int k = j * DIM; k < (j + 1) * DIM; k++) {
      RG_CLOSE(G[1][k], G[0][k], 1e-12);
      assert_true(G[2][k] == G[0][k]);
    }
  }
  RG_OK(rg_prediction_destroy(&work[0]));
  RG_OK(rg_prediction_destroy(&work[1]));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* A prediction at NaN leaves nothing in scratch memory that later, smaller ones could see. */
RG_TEST(scratch_keeps_no_nan)
{
  double X[N * DIM], y[N], Z[M * DIM], nan[M * DIM], mean[M], variance[M], G[M * DIM];
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0};
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  data(39, N, X, y);
  support_points(40, M, DIM, Z);
  for (int i = 0; i < M * DIM; i++) nan[i] = NAN;
  RG_OK(rg_posterior_create(&kernel, 1e-3, 0.0, N, &posterior));
  for (int n = N; n > 0; n -= 3) {
    RG_OK(rg_posterior_set(&posterior, NULL, 1e-3, 0.0, n, X, y, &failure));
    RG_OK(rg_posterior_predict(&posterior, M, nan, mean, variance, &work));
    RG_OK(rg_posterior_gradient(&posterior, M, nan, mean, variance, &work, G));
    assert_true(isnan(mean[0]) && isnan(mean[M - 1]) && isnan(G[0]));
    RG_OK(rg_posterior_set(&posterior, NULL, 1e-3, 0.0, n - 1, X, y, &failure));
    RG_OK(rg_posterior_predict(&posterior, M - 1, Z, mean, variance, &work));
    RG_OK(rg_posterior_gradient(&posterior, M - 1, Z, mean, variance, &work, G));
    for (int j = 0; j < M - 1; j++) assert_true(isfinite(mean[j]) && isfinite(variance[j]));
    for (int i = 0; i < (M - 1) * DIM; i++) assert_true(isfinite(G[i]));
  }
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

static void same_predictions(RgPosterior *a, RgPosterior *b, double tolerance)
{
  double Z[M * DIM], mean[2][M], variance[2][M];
  RgPrediction work = {0};

  support_points(52, M, DIM, Z);
  RG_OK(rg_posterior_predict(a, M, Z, mean[0], variance[0], &work));
  RG_OK(rg_posterior_predict(b, M, Z, mean[1], variance[1], &work));
  for (int j = 0; j < M; j++) {
    RG_CLOSE(mean[0][j], mean[1][j], tolerance);
    RG_CLOSE(variance[0][j], variance[1][j], tolerance);
  }
  RG_CLOSE(support_log_likelihood(a), support_log_likelihood(b), tolerance);
  RG_OK(rg_prediction_destroy(&work));
}

/* Data one by one from an empty posterior, through several doublings and with predictions in
   between, give the same as all data at once. */
RG_TEST(append_equals_set)
{
  enum { MANY = 100 };
  double X[MANY * DIM], y[MANY], mean[M], variance[M], Z[M * DIM];
  RgKernel kernel;
  RgPosterior grown, whole;
  RgPrediction work = {0};
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 4, &kernel);
  data(51, MANY, X, y);
  support_points(53, M, DIM, Z);
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.3, 1, &grown));
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.3, 7, &whole));
  for (int i = 0; i < MANY; i++) {
    RG_OK(rg_posterior_append(&grown, X + i * DIM, y[i], &failure));
    assert_int_equal(grown.n, i + 1);
    assert_true(grown.capacity >= grown.n);
    if (i % 3 == 0) RG_OK(rg_posterior_predict(&grown, 1 + i % M, Z, mean, variance, &work));
    if (i % 7 == 0 || i == MANY - 1) {
      RG_OK(rg_posterior_set(&whole, NULL, 1e-4, 0.3, i + 1, X, y, &failure));
      same_predictions(&grown, &whole, 1e-10);
    }
  }
  assert_true(!failure.failed && grown.jitter == 0.0);
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&grown));
  RG_OK(rg_posterior_destroy(&whole));
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(without_data_it_is_the_prior)
{
  double Z[3 * DIM], mean[3], variance[3], G[3 * DIM], C[9];
  double bars[] = {1.0, 1.0, 1.0};
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0};

  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  support_points(61, 3, DIM, Z);
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.3, 4, &posterior));
  RG_OK(rg_posterior_predict(&posterior, 3, Z, mean, variance, &work));
  RG_OK(rg_posterior_gradient(&posterior, 3, Z, bars, bars, &work, G));
  RG_OK(rg_posterior_covariance(&posterior, 3, Z, 3, Z, C));
  for (int j = 0; j < 3; j++) {
    assert_true(mean[j] == 0.3 && variance[j] == 1.7);
    for (int k = 0; k < DIM; k++) assert_true(G[j * DIM + k] == 0.0);
    RG_CLOSE(C[j], support_value(&kernel, Z, Z + j * DIM), 1e-15);
  }
  assert_true(support_log_likelihood(&posterior) == 0.0);
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* The diagonal is the variance, and conditioning on B by hand gives the covariance. */
RG_TEST(covariance_agrees_with_conditioning)
{
  double X[N * DIM], y[N], A[5 * DIM], B[3 * DIM], C[15], D[25], mean[5], variance[5];
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0};
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN32, 2, &kernel);
  data(71, N, X, y);
  support_points(72, 5, DIM, A);
  support_points(73, 3, DIM, B);
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.0, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, N, X, y, &failure));
  RG_OK(rg_posterior_covariance(&posterior, 5, A, 3, B, C));
  RG_OK(rg_posterior_covariance(&posterior, 5, A, 5, A, D));
  RG_OK(rg_posterior_predict(&posterior, 5, A, mean, variance, &work));
  for (int i = 0; i < 5; i++) RG_CLOSE(D[i * 5 + i], variance[i], 1e-12);
  for (int b = 0; b < 3; b++) {
    double before[5], one, after[5];

    RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, N, X, y, &failure));
    RG_OK(rg_posterior_predict(&posterior, 1, B + b * DIM, mean, &one, &work));
    RG_OK(rg_posterior_predict(&posterior, 5, A, mean, before, &work));
    RG_OK(rg_posterior_append(&posterior, B + b * DIM, 0.0, &failure));
    RG_OK(rg_posterior_predict(&posterior, 5, A, mean, after, &work));
    for (int i = 0; i < 5; i++) {
      RG_CLOSE(before[i] - after[i], C[i * 3 + b] * C[i * 3 + b] / (one + 1e-2), 1e-10);
    }
  }
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(new_outputs_for_the_same_inputs)
{
  double X[N * DIM], y[N], other[N];
  RgKernel kernel;
  RgPosterior posterior, fresh;
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 0, &kernel);
  data(81, N, X, y);
  for (int i = 0; i < N; i++) other[i] = 3.0 * y[i] - 1.0;
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.0, N, &posterior));
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.0, N, &fresh));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, N, X, y, &failure));
  RG_OK(rg_posterior_set(&fresh, NULL, 1e-2, 0.7, N, X, other, &failure));
  same_predictions(&posterior, &posterior, 0.0);
  RG_OK(rg_posterior_set_outputs(&posterior, 0.7, other));
  same_predictions(&posterior, &fresh, 1e-11);
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_posterior_destroy(&fresh));
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(hyperparameters_change_in_place)
{
  double X[N * DIM], y[N];
  RgKernel kernel, other;
  RgPosterior posterior, fresh;
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  data(83, N, X, y);
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.0, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, N, X, y, &failure));
  for (int variant = 0; variant < 3; variant++) {
    support_kernel(RG_KERNEL_MATERN32, variant, &other);
    RG_OK(rg_posterior_create(&other, 1e-3, 0.1, N, &fresh));
    RG_OK(rg_posterior_set(&fresh, NULL, 1e-3, 0.1, N, X, y, &failure));
    RG_OK(rg_posterior_set(&posterior, &other, 1e-3, 0.1, N, posterior.X, posterior.y, &failure));
    same_predictions(&posterior, &fresh, 0.0);
    RG_OK(rg_posterior_destroy(&fresh));
    RG_OK(rg_kernel_destroy(&other));
  }
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Repeated inputs without noise need jitter; it is reported and the posterior stays finite. */
RG_TEST(repeated_points_without_noise_get_jitter)
{
  double X[20 * DIM], y[20], mean[20], variance[20];
  RgKernel kernel;
  RgPosterior whole, grown;
  RgPrediction work = {0};
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  data(91, 20, X, y);
  memcpy(X + 10 * DIM, X, 10 * DIM * sizeof(double));
  memcpy(y + 10, y, 10 * sizeof(double));
  RG_OK(rg_posterior_create(&kernel, 0.0, 0.0, 20, &whole));
  RG_OK(rg_posterior_create(&kernel, 0.0, 0.0, 2, &grown));
  RG_OK(rg_posterior_set(&whole, NULL, 0.0, 0.0, 20, X, y, &failure));
  for (int i = 0; i < 20; i++) {
    RG_OK(rg_posterior_append(&grown, X + i * DIM, y[i], &failure));
    assert_true(i < 10 ? grown.jitter == 0.0 : grown.jitter > 0.0);
  }
  assert_false(failure.failed);
  assert_true(whole.jitter >= 0.99e-10 * 1.7 && whole.jitter <= 1.01e-4 * 1.7);
  assert_true(grown.jitter == whole.jitter);
  same_predictions(&grown, &whole, 1e-5);
  RG_OK(rg_posterior_predict(&grown, 20, X, mean, variance, &work));
  for (int i = 0; i < 20; i++) {
    RG_CLOSE(mean[i], y[i], 1e-4);
    assert_true(variance[i] >= 0.0 && variance[i] < 1e-6);
  }
  /* Different outputs at one point keep everything finite too. */
  RG_OK(rg_posterior_append(&grown, X, y[0] + 1.0, &failure));
  RG_OK(rg_posterior_predict(&grown, 20, X, mean, variance, &work));
  for (int i = 0; i < 20; i++) assert_true(isfinite(mean[i]));
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&whole));
  RG_OK(rg_posterior_destroy(&grown));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Points closer than rounding can distinguish: a tiny positive pivot is treated like a negative
   one. */
RG_TEST(nearly_repeated_points_get_jitter)
{
  RgKernel kernel;

  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  for (int trial = 0; trial < 20; trial++) {
    double X[9 * DIM], y[9];
    RgPosterior whole, grown;
    RgFailure failure = {0};

    data((uint64_t)(200 + trial), 9, X, y);
    memcpy(X + 8 * DIM, X + 3 * DIM, DIM * sizeof(double));
    X[8 * DIM] += 2e-9;
    RG_OK(rg_posterior_create(&kernel, 0.0, 0.0, 9, &whole));
    RG_OK(rg_posterior_create(&kernel, 0.0, 0.0, 9, &grown));
    RG_OK(rg_posterior_set(&whole, NULL, 0.0, 0.0, 9, X, y, &failure));
    for (int i = 0; i < 9; i++) RG_OK(rg_posterior_append(&grown, X + i * DIM, y[i], &failure));
    assert_true(whole.jitter > 0.0 && grown.jitter > 0.0 && !failure.failed);
    RG_OK(rg_posterior_destroy(&whole));
    RG_OK(rg_posterior_destroy(&grown));
  }
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(no_jitter_helps_a_broken_matrix)
{
  double X[3 * DIM] = {0}, y[3] = {0};
  RgKernel kernel;
  RgPosterior posterior;
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  support_points(95, 3, DIM, X);
  X[5] = NAN;
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, 3, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-4, 0.0, 3, X, y, &failure));
  assert_true(failure.failed && strstr(failure.message, "Cholesky"));
  assert_int_equal(posterior.n, 0);
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(gradients_need_their_prediction)
{
  double X[3 * DIM], y[3], mean[2], G[2 * DIM];
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0};
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  data(96, 3, X, y);
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, 3, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-4, 0.0, 3, X, y, &failure));
  RG_OK(rg_posterior_predict(&posterior, 2, X, mean, NULL, &work));
  RG_OK(rg_posterior_gradient(&posterior, 2, X, mean, NULL, &work, G));
  RG_OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  assert_int_not_equal(rg_posterior_gradient(&posterior, 2, X, mean, mean, &work, G), 0);
  assert_int_not_equal(rg_posterior_gradient(&posterior, 1, X, mean, NULL, &work, G), 0);
  RG_OK(PetscPopErrorHandler());
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}
