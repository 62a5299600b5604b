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

/* A posterior of N data, and M points where it is asked. */
typedef struct {
  double X[N * DIM], y[N], Z[M * DIM], mean[M], variance[M], G[M * DIM];
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work;
  RgFailure failure;
} Case;

static void begin(RgKernelFamily family, int variant, uint64_t seed, double noise, double mean,
                  Case *c)
{
  memset(c, 0, sizeof *c);
  support_kernel(family, variant, &c->kernel);
  data(seed, N, c->X, c->y);
  support_points(seed + 1, M, DIM, c->Z);
  RG_OK(rg_posterior_create(&c->kernel, noise, mean, N, &c->posterior));
  RG_OK(rg_posterior_set(&c->posterior, NULL, noise, mean, N, c->X, c->y, &c->failure));
}

/* No test of this frame may fail to factorise, or need jitter. */
static void end(Case *c)
{
  assert_true(c->posterior.jitter == 0.0 && !c->failure.failed);
  RG_OK(rg_prediction_destroy(&c->work));
  RG_OK(rg_posterior_destroy(&c->posterior));
  RG_OK(rg_kernel_destroy(&c->kernel));
}

static void all_finite(int n, const double *a)
{
  for (int i = 0; i < n; i++) assert_true(isfinite(a[i]));
}

/* Mean and variance by a symmetric indefinite solve with the whole matrix, which is another
   algorithm. */
static void dense_predict(const RgKernel *kernel, double noise, double mean, int n, const double *X,
                          const double *y, int m, const double *Z, double *mu, double *variance)
{
  static double K[N * N], k[N * (M + 1)], B[N * (M + 1)];
  int pivots[N];

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      K[i * n + j] = support_value(kernel, X + i * DIM, X + j * DIM) + (i == j ? noise : 0.0);
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
}

RG_TEST(prediction_agrees_with_a_dense_solve)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++)
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      double mu[M], v[M];
      RG_OWNED(end) Case c;
      begin((RgKernelFamily)family, variant, 10 + family, 1e-3, 0.4, &c);
      support_points(20 + variant, M, DIM, c.Z);
      RG_OK(rg_posterior_predict(&c.posterior, M, c.Z, c.mean, c.variance, &c.work));
      dense_predict(&c.kernel, 1e-3, 0.4, N, c.X, c.y, M, c.Z, mu, v);
      support_same(M, c.mean, mu, 1e-9);
      support_same(M, c.variance, v, 1e-10);
      RG_OK(rg_posterior_predict(&c.posterior, M, c.Z, c.mean, NULL, &c.work));
      support_same(M, c.mean, mu, 1e-9);
    }
}

RG_TEST(batch_size_does_not_matter)
{
  enum { MANY = 1000 };
  static double Z[MANY * DIM], mean[MANY], variance[MANY], G[MANY * DIM], bars[2 * MANY];
  const int sizes[] = {1, 7, 64};
  RG_OWNED(rg_prediction_destroy) RgPrediction small = {0};
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_MATERN52, 1, 31, 1e-2, 0.0, &c);
  support_points(32, MANY, DIM, Z);
  support_normals(33, 2 * MANY, bars);
  RG_OK(rg_posterior_predict(&c.posterior, MANY, Z, mean, variance, &c.work));
  RG_OK(rg_posterior_gradient(&c.posterior, MANY, Z, bars, bars + MANY, &c.work, G));
  for (int s = 0; s < 3; s++)
    for (int m = sizes[s], first = 0; first + m <= MANY; first += 61 + m) {
      const double *z = Z + first * DIM;
      RG_OK(rg_posterior_predict(&c.posterior, m, z, c.mean, c.variance, &small));
      RG_OK(
        rg_posterior_gradient(&c.posterior, m, z, bars + first, bars + MANY + first, &small, c.G));
      support_same(m, c.mean, mean + first, 1e-12);
      support_same(m, c.variance, variance + first, 1e-12);
      support_same(m * DIM, c.G, G + first * DIM, 1e-12);
    }
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
  double bars[2 * M];
  const double *b = with_variance ? bars + M : NULL;
  RG_OWNED(rg_prediction_destroy) RgPrediction other = {0};
  RG_OWNED(end) Case c;

  begin(family, variant, 41, 1e-2, 0.1, &c);
  support_normals(43, 2 * M, bars);
  objective(&c.posterior, c.Z, bars, b, &c.work);
  RG_OK(rg_posterior_gradient(&c.posterior, M, c.Z, bars, b, &c.work, c.G));
  for (int p = 0; p < M * DIM; p += 5) {
    double at = c.Z[p], f[4];
    for (int s = 0; s < 4; s++) {
      c.Z[p] = at + support_steps[s] * h;
      f[s] = objective(&c.posterior, c.Z, bars, b, &other);
    }
    c.Z[p] = at;
    RG_CLOSE(c.G[p], support_richardson(f, h), 1e-6);
  }
}

RG_TEST(gradient_agrees_with_differences)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++)
      gradient_of((RgKernelFamily)family, variant, true);
    gradient_of((RgKernelFamily)family, 1, false);
  }
}

/* Little noise and long length scales: the variance near the data, about the noise, has its digits.
 */
RG_TEST(small_variances_are_accurate)
{
  const double scales[] = {0.8, 0.9, 1.1, 0.7}, noise = 1e-8;
  double X[N * DIM], y[N], Z[M * DIM], mean[M], variance[M], G[M * DIM];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior whole, grown;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RG_NO_FAILURE(failure);

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
  all_finite(M * DIM, G);
  assert_true(whole.jitter == 0.0);
}

/* Some points of a prediction have the gradients of a prediction of these points alone. */
RG_TEST(part_of_a_prediction)
{
  static const int which[] = {0, 2, 3, 5, 8, 9, 11, 12, 14, 15, 16, 17, 19, 20, 21, 22, 24, 25, 28};
  enum { COUNT = sizeof(which) / sizeof(*which) };
  double part[COUNT * DIM];
  RG_OWNED(rg_prediction_destroy) RgPrediction bare = {.values_only = true};
  RG_OWNED(rg_prediction_destroy) RgPrediction alone = {0};
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_MATERN52, 4, 37, 1e-3, 0.0, &c);
  for (int i = 0; i < COUNT * DIM; i++) part[i] = c.Z[which[i / DIM] * DIM + i % DIM];
  RG_OK(rg_posterior_predict(&c.posterior, M, c.Z, c.mean, c.variance, &bare));
  assert_false(rg_posterior_select(&c.posterior, COUNT, which, &bare));
  RG_OK(rg_posterior_predict(&c.posterior, M, c.Z, c.mean, c.variance, &c.work));
  assert_true(rg_posterior_select(&c.posterior, COUNT, which, &c.work));
  RG_OK(rg_posterior_predict(&c.posterior, COUNT, part, c.mean, c.variance, &alone));
  double G[2][COUNT * DIM];
  RG_OK(rg_posterior_gradient(&c.posterior, COUNT, part, c.mean, c.variance, &c.work, G[0]));
  RG_OK(rg_posterior_gradient(&c.posterior, COUNT, part, c.mean, c.variance, &alone, G[1]));
  support_same(COUNT * DIM, G[0], G[1], 0.0);
}

/* A prediction that keeps nothing gives the same values and, later, the same gradient. */
RG_TEST(values_only_changes_nothing_but_memory)
{
  enum { FEW = M - 5 };
  double mean[FEW], variance[FEW], G[FEW * DIM], again[FEW * DIM];
  RG_OWNED(rg_prediction_destroy) RgPrediction bare = {.values_only = true};
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_MATERN52, 4, 37, 1e-3, 0.0, &c);
  RG_OK(rg_posterior_predict(&c.posterior, FEW, c.Z, c.mean, c.variance, &c.work));
  RG_OK(rg_posterior_gradient(&c.posterior, FEW, c.Z, c.mean, c.variance, &c.work, c.G));
  RG_OK(rg_posterior_predict(&c.posterior, FEW, c.Z, mean, variance, &bare));
  RG_OK(rg_posterior_gradient(&c.posterior, FEW, c.Z, mean, variance, &bare, G));
  RG_OK(rg_posterior_gradient(&c.posterior, FEW, c.Z, c.mean, c.variance, &c.work, again));
  assert_true(bare.capacity < c.work.capacity);
  support_same(FEW, c.mean, mean, 1e-14);
  support_same(FEW, c.variance, variance, 1e-14);
  support_same(FEW * DIM, G, c.G, 1e-12);
  support_same(FEW * DIM, again, c.G, 0.0);
}

/* A prediction at NaN leaves nothing in scratch memory that later, smaller ones could see. */
RG_TEST(scratch_keeps_no_nan)
{
  double nan[M * DIM];
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_MATERN52, 1, 39, 1e-3, 0.0, &c);
  for (int i = 0; i < M * DIM; i++) nan[i] = NAN;
  for (int n = N; n > 0; n -= 3)
    for (int good = 0; good < 2; good++) {
      const double *Z = good ? c.Z : nan;
      const int m = M - good;
      RG_OK(rg_posterior_set(&c.posterior, NULL, 1e-3, 0.0, n - good, c.X, c.y, &c.failure));
      RG_OK(rg_posterior_predict(&c.posterior, m, Z, c.mean, c.variance, &c.work));
      RG_OK(rg_posterior_gradient(&c.posterior, m, Z, c.mean, c.variance, &c.work, c.G));
      if (!good) {
        assert_true(isnan(c.mean[0]) && isnan(c.mean[M - 1]) && isnan(c.G[0]));
        continue;
      }
      all_finite(m, c.mean);
      all_finite(m, c.variance);
      all_finite(m * DIM, c.G);
    }
}

static void same_predictions(RgPosterior *a, RgPosterior *b, double tolerance)
{
  double Z[M * DIM], mean[2][M], variance[2][M];
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};

  support_points(52, M, DIM, Z);
  RG_OK(rg_posterior_predict(a, M, Z, mean[0], variance[0], &work));
  RG_OK(rg_posterior_predict(b, M, Z, mean[1], variance[1], &work));
  support_same(M, mean[0], mean[1], tolerance);
  support_same(M, variance[0], variance[1], tolerance);
  RG_CLOSE(support_log_likelihood(a), support_log_likelihood(b), tolerance);
}

/* Data one by one from an empty posterior, through several doublings and with predictions in
   between, give the same as all data at once. */
RG_TEST(append_equals_set)
{
  enum { MANY = 100 };
  double X[MANY * DIM], y[MANY], mean[M], variance[M], Z[M * DIM];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior grown, whole;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RG_NO_FAILURE(failure);

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
  assert_true(grown.jitter == 0.0);
}

RG_TEST(without_data_it_is_the_prior)
{
  double Z[3 * DIM], mean[3], variance[3], G[3 * DIM], C[9];
  double bars[] = {1.0, 1.0, 1.0};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};

  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  support_points(61, 3, DIM, Z);
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.3, 4, &posterior));
  RG_OK(rg_posterior_predict(&posterior, 3, Z, mean, variance, &work));
  RG_OK(rg_posterior_gradient(&posterior, 3, Z, bars, bars, &work, G));
  RG_OK(rg_posterior_covariance(&posterior, 3, Z, 3, Z, C));
  for (int j = 0; j < 3; j++) {
    assert_true(mean[j] == 0.3 && variance[j] == 1.7);
    RG_CLOSE(C[j], support_value(&kernel, Z, Z + j * DIM), 1e-15);
  }
  for (int k = 0; k < 3 * DIM; k++) assert_true(G[k] == 0.0);
  assert_true(support_log_likelihood(&posterior) == 0.0);
}

/* The diagonal is the variance, and conditioning on B by hand gives the covariance. */
RG_TEST(covariance_agrees_with_conditioning)
{
  double A[5 * DIM], B[3 * DIM], C[15], D[25];
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_MATERN32, 2, 71, 1e-2, 0.0, &c);
  support_points(72, 5, DIM, A);
  support_points(73, 3, DIM, B);
  RG_OK(rg_posterior_covariance(&c.posterior, 5, A, 3, B, C));
  RG_OK(rg_posterior_covariance(&c.posterior, 5, A, 5, A, D));
  RG_OK(rg_posterior_predict(&c.posterior, 5, A, c.mean, c.variance, &c.work));
  for (int i = 0; i < 5; i++) RG_CLOSE(D[i * 5 + i], c.variance[i], 1e-12);
  for (int b = 0; b < 3; b++) {
    double one, after[5];
    RG_OK(rg_posterior_set(&c.posterior, NULL, 1e-2, 0.0, N, c.X, c.y, &c.failure));
    RG_OK(rg_posterior_predict(&c.posterior, 1, B + b * DIM, c.mean, &one, &c.work));
    RG_OK(rg_posterior_append(&c.posterior, B + b * DIM, 0.0, &c.failure));
    RG_OK(rg_posterior_predict(&c.posterior, 5, A, c.mean, after, &c.work));
    for (int i = 0; i < 5; i++)
      RG_CLOSE(c.variance[i] - after[i], C[i * 3 + b] * C[i * 3 + b] / (one + 1e-2), 1e-10);
  }
}

RG_TEST(new_outputs_for_the_same_inputs)
{
  RG_OWNED(end) Case c;
  RG_OWNED(end) Case fresh;

  begin(RG_KERNEL_MATERN52, 0, 81, 1e-2, 0.0, &c);
  begin(RG_KERNEL_MATERN52, 0, 81, 1e-2, 0.0, &fresh);
  for (int i = 0; i < N; i++) c.y[i] = 3.0 * c.y[i] - 1.0;
  RG_OK(rg_posterior_set(&fresh.posterior, NULL, 1e-2, 0.7, N, c.X, c.y, &c.failure));
  same_predictions(&c.posterior, &c.posterior, 0.0);
  RG_OK(rg_posterior_set_outputs(&c.posterior, 0.7, c.y));
  same_predictions(&c.posterior, &fresh.posterior, 1e-11);
}

RG_TEST(hyperparameters_change_in_place)
{
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_MATERN52, 1, 83, 1e-2, 0.0, &c);
  for (int variant = 0; variant < 3; variant++) {
    RG_OWNED(end) Case fresh;
    begin(RG_KERNEL_MATERN32, variant, 83, 1e-3, 0.1, &fresh);
    RG_OK(rg_posterior_set(&c.posterior, &fresh.kernel, 1e-3, 0.1, N, c.posterior.X, c.posterior.y,
                           &c.failure));
    same_predictions(&c.posterior, &fresh.posterior, 0.0);
  }
}

/* Repeated inputs without noise need jitter; it is reported and the posterior stays finite. */
RG_TEST(repeated_points_without_noise_get_jitter)
{
  double X[20 * DIM], y[20], mean[20], variance[20];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior whole, grown;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RG_NO_FAILURE(failure);

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
  all_finite(20, mean);
}

/* Points closer than rounding can distinguish: a tiny positive pivot is treated like a negative
   one. */
RG_TEST(nearly_repeated_points_get_jitter)
{
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  for (int trial = 0; trial < 20; trial++) {
    double X[9 * DIM], y[9];
    RG_OWNED(rg_posterior_destroy) RgPosterior whole, grown;
    RG_NO_FAILURE(failure);
    data((uint64_t)(200 + trial), 9, X, y);
    memcpy(X + 8 * DIM, X + 3 * DIM, DIM * sizeof(double));
    X[8 * DIM] += 2e-9;
    RG_OK(rg_posterior_create(&kernel, 0.0, 0.0, 9, &whole));
    RG_OK(rg_posterior_create(&kernel, 0.0, 0.0, 9, &grown));
    RG_OK(rg_posterior_set(&whole, NULL, 0.0, 0.0, 9, X, y, &failure));
    for (int i = 0; i < 9; i++) RG_OK(rg_posterior_append(&grown, X + i * DIM, y[i], &failure));
    assert_true(whole.jitter > 0.0 && grown.jitter > 0.0);
  }
}

RG_TEST(no_jitter_helps_a_broken_matrix)
{
  double X[3 * DIM] = {0}, y[3] = {0};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  support_points(95, 3, DIM, X);
  X[5] = NAN;
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, 3, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-4, 0.0, 3, X, y, &failure));
  assert_true(failure.failed && strstr(failure.message, "Cholesky"));
  assert_int_equal(posterior.n, 0);
}

RG_TEST(gradients_need_their_prediction)
{
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_GAUSSIAN, 1, 96, 1e-4, 0.0, &c);
  RG_OK(rg_posterior_predict(&c.posterior, 2, c.X, c.mean, NULL, &c.work));
  RG_OK(rg_posterior_gradient(&c.posterior, 2, c.X, c.mean, NULL, &c.work, c.G));
  RG_FAILS(rg_posterior_gradient(&c.posterior, 2, c.X, c.mean, c.mean, &c.work, c.G),
           PETSC_ERR_ARG_WRONGSTATE);
  RG_FAILS(rg_posterior_gradient(&c.posterior, 1, c.X, c.mean, NULL, &c.work, c.G),
           PETSC_ERR_ARG_WRONGSTATE);
}
