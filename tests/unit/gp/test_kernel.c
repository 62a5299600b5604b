#include "gp_support.h"

#include "gp/kernel/tiles.h"

#define N 23
#define M 70

/* Every instruction set this CPU has. */
static void exponential_agrees_with_libm(void **state)
{
  enum { COUNT = 200000 };
  double *x, *e;

  (void)state;
  RG_OK(PetscMalloc2(COUNT, &x, COUNT, &e));
  support_points(1, COUNT, 1, x);
  for (int i = 0; i < COUNT; ++i) x[i] = i % 2 ? -345.0 * x[i] : -x[i];
  for (int level = 0; level < RG_TILE_LEVELS; ++level) {
    double worst = 0.0;

    if (!rg_tile_ops_at(level)) continue;
    rg_tile_ops_at(level)->exponential(COUNT, x, e);
    for (int i = 0; i < COUNT; ++i) {
      double exact = exp(x[i]);
      worst = fmax(worst, fabs(e[i] - exact) / (nextafter(exact, INFINITY) - exact));
    }
    if (!(worst < 1.5)) fail_msg("level %d: exp is %g units in the last place off", level, worst);
  }
  RG_OK(PetscFree2(x, e));
}

static void exponential_at_its_ends(void **state)
{
  (void)state;
  for (int level = 0; level < RG_TILE_LEVELS; ++level) {
    double x[] = {0.0, -0.0, -344.999, -345.001, -708.5, -1e6, -INFINITY, -NAN, -5e-324}, e[9];

    if (!rg_tile_ops_at(level)) continue;
    rg_tile_ops_at(level)->exponential(9, x, e);
    assert_true(e[0] == 1.0 && e[1] == 1.0 && e[8] == 1.0);
    RG_CLOSE(log(e[2]), -344.999, 1e-14);
    for (int i = 3; i < 7; ++i) assert_true(e[i] == 0.0);
    assert_true(isnan(e[7]));
  }
}

static void values_of_one_kernel(const RgKernel *kernel)
{
  const int sizes[] = {1, 7, 8, M};
  double X[N * SUPPORT_DIM], Z[M * SUPPORT_DIM], K[N * M];

  support_points(2, N, SUPPORT_DIM, X);
  support_points(3, M, SUPPORT_DIM, Z);
  memcpy(Z, X, sizeof(double) * SUPPORT_DIM); /* a distance of zero */
  for (int s = 0; s < 4; ++s) {
    int m = sizes[s];

    RG_OK(rg_kernel_cross(kernel, N, X, m, Z, K));
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < m; ++j) {
        RG_CLOSE(K[i * m + j], support_value(kernel, X + i * SUPPORT_DIM, Z + j * SUPPORT_DIM),
                 1e-14);
      }
    }
  }
}

static void matrix_of_one_kernel(const RgKernel *kernel)
{
  double X[N * SUPPORT_DIM], K[N * N], C[N * N];

  support_points(4, N, SUPPORT_DIM, X);
  RG_OK(rg_kernel_matrix(kernel, N, X, K));
  RG_OK(rg_kernel_cross(kernel, N, X, N, X, C));
  for (int i = 0; i < N; ++i) {
    assert_true(K[i * N + i] == rg_kernel_diagonal(kernel));
    for (int j = 0; j < N; ++j) {
      assert_true(K[i * N + j] == K[j * N + i]);
      RG_CLOSE(K[i * N + j], C[i * N + j], 1e-15);
    }
  }
}

/* sum_i W_ij k(x_i, z) */
static double weighted(const RgKernel *kernel, const double *X, const double *W, int m, int j,
                       const double *z)
{
  double sum = 0.0;

  for (int i = 0; i < N; ++i) {
    sum += W[i * m + j] * support_value(kernel, X + i * SUPPORT_DIM, z);
  }
  return sum;
}

/* Richardson: (4 D(h/2) - D(h))/3. */
static double richardson(double far, double near, double h)
{
  return (4.0 * near / h - far / (2.0 * h)) / 3.0;
}

static void gradient_of_one_kernel(const RgKernel *kernel)
{
  const double h = 2e-5; /* Matern-1/2 has kinks where coordinates meet */
  double X[N * SUPPORT_DIM], Z[M * SUPPORT_DIM], W[N * M], G[M * SUPPORT_DIM];

  support_points(5, N, SUPPORT_DIM, X);
  support_points(6, M, SUPPORT_DIM, Z);
  support_normals(7, N * M, W);
  RG_OK(rg_kernel_cross_gradient(kernel, N, X, M, Z, W, G));
  for (int j = 0; j < M; ++j) {
    for (int k = 0; k < SUPPORT_DIM; ++k) {
      double z[SUPPORT_DIM], d[2];

      memcpy(z, Z + j * SUPPORT_DIM, sizeof z);
      for (int s = 0; s < 2; ++s) {
        double step = s ? h / 2 : h;
        z[k] = Z[j * SUPPORT_DIM + k] + step;
        d[s] = weighted(kernel, X, W, M, j, z);
        z[k] = Z[j * SUPPORT_DIM + k] - step;
        d[s] -= weighted(kernel, X, W, M, j, z);
      }
      RG_CLOSE(G[j * SUPPORT_DIM + k], richardson(d[0], d[1], h), 1e-6);
    }
  }
}

static double inner(const RgKernel *kernel, const double *X, const double *A)
{
  double sum = 0.0;

  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      sum += A[i * N + j] * support_value(kernel, X + i * SUPPORT_DIM, X + j * SUPPORT_DIM);
    }
  }
  return sum;
}

static void theta_gradient_of_one_kernel(RgKernel *kernel)
{
  const double h = 1e-2;
  double X[N * SUPPORT_DIM], A[N * N], theta[16], g[16];
  int size = rg_kernel_theta_size(kernel);

  support_points(8, N, SUPPORT_DIM, X);
  support_normals(9, N * N, A);
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < i; ++j) A[i * N + j] = A[j * N + i];
  }
  assert_true(size <= 16);
  rg_kernel_get_theta(kernel, theta);
  RG_OK(rg_kernel_theta_gradient(kernel, N, X, A, g));
  for (int p = 0; p < size; ++p) {
    double at = theta[p], d[2];

    for (int s = 0; s < 2; ++s) {
      theta[p] = at + (s ? h / 2 : h);
      rg_kernel_set_theta(kernel, theta);
      d[s] = inner(kernel, X, A);
      theta[p] = at - (s ? h / 2 : h);
      rg_kernel_set_theta(kernel, theta);
      d[s] -= inner(kernel, X, A);
    }
    theta[p] = at;
    rg_kernel_set_theta(kernel, theta);
    RG_CLOSE(g[p], richardson(d[0], d[1], h), 1e-6);
  }
}

static void every_kernel(void **state)
{
  (void)state;
  for (int family = RG_KERNEL_GAUSSIAN; family <= RG_KERNEL_MATERN52; ++family) {
    for (int variant = 0; variant < SUPPORT_VARIANTS; ++variant) {
      RgKernel kernel;

      support_kernel((RgKernelFamily)family, variant, &kernel);
      values_of_one_kernel(&kernel);
      matrix_of_one_kernel(&kernel);
      gradient_of_one_kernel(&kernel);
      theta_gradient_of_one_kernel(&kernel);
      RG_OK(rg_kernel_destroy(&kernel));
    }
  }
}

/* At z = x_i every kernel is flat or, Matern-1/2, has no gradient: 0. */
static void gradient_at_a_datum_is_zero(void **state)
{
  (void)state;
  for (int family = RG_KERNEL_GAUSSIAN; family <= RG_KERNEL_MATERN52; ++family) {
    double x[SUPPORT_DIM] = {0.1, 0.7, 0.3, 0.9}, w = 2.0, G[SUPPORT_DIM];
    RgKernel kernel;

    support_kernel((RgKernelFamily)family, 1, &kernel);
    RG_OK(rg_kernel_cross_gradient(&kernel, 1, x, 1, x, &w, G));
    for (int k = 0; k < SUPPORT_DIM; ++k) assert_true(G[k] == 0.0);
    RG_OK(rg_kernel_destroy(&kernel));
  }
}

static void more_candidates_than_a_block(void **state)
{
  enum { MANY = 1000 };
  double X[2 * SUPPORT_DIM], *Z, *K, *G, *W;
  RgKernel kernel;

  (void)state;
  support_kernel(RG_KERNEL_MATERN52, 4, &kernel);
  RG_OK(PetscMalloc4(MANY * SUPPORT_DIM, &Z, 2 * MANY, &K, MANY * SUPPORT_DIM, &G, 2 * MANY, &W));
  support_points(10, 2, SUPPORT_DIM, X);
  support_points(11, MANY, SUPPORT_DIM, Z);
  support_normals(12, 2 * MANY, W);
  RG_OK(rg_kernel_cross(&kernel, 2, X, MANY, Z, K));
  RG_OK(rg_kernel_cross_gradient(&kernel, 2, X, MANY, Z, W, G));
  for (int j = 0; j < MANY; ++j) {
    double k[2], g[SUPPORT_DIM], w[2] = {W[j], W[MANY + j]};

    RG_OK(rg_kernel_cross(&kernel, 2, X, 1, Z + j * SUPPORT_DIM, k));
    RG_CLOSE(K[j], k[0], 1e-15);
    RG_CLOSE(K[MANY + j], k[1], 1e-15);
    RG_OK(rg_kernel_cross_gradient(&kernel, 2, X, 1, Z + j * SUPPORT_DIM, w, g));
    for (int c = 0; c < SUPPORT_DIM; ++c) RG_CLOSE(G[j * SUPPORT_DIM + c], g[c], 1e-13);
  }
  RG_OK(PetscFree4(Z, K, G, W));
  RG_OK(rg_kernel_destroy(&kernel));
}

static void theta_goes_round(void **state)
{
  RgKernel kernel, copy;
  double theta[16], back[16];
  int size;

  (void)state;
  support_kernel(RG_KERNEL_MATERN32, 4, &kernel);
  size = rg_kernel_theta_size(&kernel);
  assert_int_equal(size, 8); /* 2 scales, variance, 4 scales, variance */
  rg_kernel_get_theta(&kernel, theta);
  RG_CLOSE(theta[2], log(1.7), 1e-15);
  RG_CLOSE(theta[7], log(0.9), 1e-15);
  RG_OK(rg_kernel_copy(&kernel, &copy));
  for (int p = 0; p < size; ++p) theta[p] += 0.1 * (p + 1);
  rg_kernel_set_theta(&kernel, theta);
  rg_kernel_get_theta(&kernel, back);
  for (int p = 0; p < size; ++p) RG_CLOSE(back[p], theta[p], 1e-14);
  RG_CLOSE(copy.terms[1].variance, 0.9, 1e-15); /* a copy is its own */
  RG_CLOSE(rg_kernel_diagonal(&copy), 2.6, 1e-15);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_kernel_destroy(&copy));
}

static void bad_hyperparameters_are_errors(void **state)
{
  double scale = 0.0, good = 1.0;
  int group[] = {0, 0};
  RgKernel kernel;

  (void)state;
  RG_OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  assert_int_not_equal(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &scale, 1.0, &kernel), 0);
  RG_OK(rg_kernel_destroy(&kernel));
  assert_int_not_equal(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &good, -1.0, &kernel), 0);
  RG_OK(rg_kernel_destroy(&kernel));
  assert_int_not_equal(
    rg_kernel_create_product(RG_KERNEL_GAUSSIAN, 2, 2, group, false, &good, 1.0, &kernel), 0);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(PetscPopErrorHandler());
}

static const struct CMUnitTest tests[] = {
  cmocka_unit_test(exponential_agrees_with_libm),
  cmocka_unit_test(exponential_at_its_ends),
  cmocka_unit_test(every_kernel),
  cmocka_unit_test(gradient_at_a_datum_is_zero),
  cmocka_unit_test(more_candidates_than_a_block),
  cmocka_unit_test(theta_goes_round),
  cmocka_unit_test(bad_hyperparameters_are_errors),
};

RG_TEST_MAIN(tests)
