/* Kernels of every family on the list and every structure, against their definitions in plain
   scalars. */
#include "gp_support.h"

#include "gp/kernel/kernel.h"
#include "gp/kernel/tiles.h"
#include "maths/blas.h"

#define N 23
#define M 70

/* Every instruction set this CPU has. */
RG_TEST(exponential_agrees_with_libm)
{
  enum { COUNT = 200000 };
  static double x[COUNT], e[COUNT];

  support_points(1, COUNT, 1, x);
  for (int i = 0; i < COUNT; i++) x[i] = i % 2 ? -345.0 * x[i] : -x[i];
  for (int level = 0; level < RG_VECTOR_LEVELS; level++) {
    double worst = 0.0;
    if (!rg_tile_ops_at(level)) continue;
    rg_tile_ops_at(level)->exponential(COUNT, x, e);
    for (int i = 0; i < COUNT; i++) {
      double exact = exp(x[i]);
      worst = fmax(worst, fabs(e[i] - exact) / (nextafter(exact, INFINITY) - exact));
    }
    if (!(worst < 1.5)) fail_msg("level %d: exp is %g units in the last place off", level, worst);
  }
}

RG_TEST(exponential_at_its_ends)
{
  for (int level = 0; level < RG_VECTOR_LEVELS; level++) {
    double x[] = {0.0, -0.0, -344.999, -345.001, -708.5, -1e6, -INFINITY, -NAN, -5e-324}, e[9];
    if (!rg_tile_ops_at(level)) continue;
    rg_tile_ops_at(level)->exponential(9, x, e);
    assert_true(e[0] == 1.0 && e[1] == 1.0 && e[8] == 1.0);
    RG_CLOSE(log(e[2]), -344.999, 1e-14);
    for (int i = 3; i < 7; i++) assert_true(e[i] == 0.0);
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
  for (int s = 0; s < 4; s++) {
    int m = sizes[s];
    RG_OK(rg_kernel_cross(kernel, N, X, m, Z, K));
    for (int i = 0; i < N; i++)
      for (int j = 0; j < m; j++) {
        RG_CLOSE(K[i * m + j], support_value(kernel, X + i * SUPPORT_DIM, Z + j * SUPPORT_DIM),
                 1e-14);
      }
  }
}

static void matrix_of_one_kernel(const RgKernel *kernel)
{
  double X[N * SUPPORT_DIM], K[N * N], C[N * N];

  support_points(4, N, SUPPORT_DIM, X);
  RG_OK(rg_kernel_matrix(kernel, N, X, K));
  RG_OK(rg_kernel_cross(kernel, N, X, N, X, C));
  for (int i = 0; i < N; i++) {
    assert_true(K[i * N + i] == rg_kernel_diagonal(kernel));
    for (int j = 0; j < N; j++) {
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

  for (int i = 0; i < N; i++) sum += W[i * m + j] * support_value(kernel, X + i * SUPPORT_DIM, z);
  return sum;
}

static void gradient_of_one_kernel(const RgKernel *kernel)
{
  const double h = 2e-5; /* Matern-1/2 has kinks where coordinates meet */
  double X[N * SUPPORT_DIM], Z[M * SUPPORT_DIM], W[N * M], G[M * SUPPORT_DIM];

  support_points(5, N, SUPPORT_DIM, X);
  support_points(6, M, SUPPORT_DIM, Z);
  support_normals(7, N * M, W);
  RG_OK(rg_kernel_cross_gradient(kernel, N, X, M, Z, W, G));
  for (int j = 0; j < M; j++)
    for (int k = 0; k < SUPPORT_DIM; k++) {
      double z[SUPPORT_DIM], f[4];
      memcpy(z, Z + j * SUPPORT_DIM, sizeof z);
      for (int s = 0; s < 4; s++) {
        z[k] = Z[j * SUPPORT_DIM + k] + support_steps[s] * h;
        f[s] = weighted(kernel, X, W, M, j, z);
      }
      RG_CLOSE(G[j * SUPPORT_DIM + k], support_richardson(f, h), 1e-6);
    }
}

static double inner(const RgKernel *kernel, const double *X, const double *A)
{
  double sum = 0.0;

  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += A[i * N + j] * support_value(kernel, X + i * SUPPORT_DIM, X + j * SUPPORT_DIM);
  return sum;
}

static void theta_gradient_of_one_kernel(RgKernel *kernel)
{
  const double h = kernel->warp ? 2e-3 : 1e-2;
  double X[N * SUPPORT_DIM], A[N * N], theta[32], g[32];
  int size = rg_kernel_theta_size(kernel);

  support_points(8, N, SUPPORT_DIM, X);
  support_normals(9, N * N, A);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) A[i * N + j] = A[j * N + i];
  assert_true(size <= 32);
  rg_kernel_get_theta(kernel, theta);
  RG_OK(rg_kernel_theta_gradient(kernel, N, X, A, g));
  for (int p = 0; p < size; p++) {
    double at = theta[p], f[4];
    for (int s = 0; s < 4; s++) {
      theta[p] = at + support_steps[s] * h;
      support_set_theta(kernel, theta);
      f[s] = inner(kernel, X, A);
    }
    theta[p] = at;
    support_set_theta(kernel, theta);
    RG_CLOSE(g[p], support_richardson(f, h), 1e-6);
  }
}

/* K + 1e-12 I has a Cholesky factor. */
static void matrix_is_positive_definite(const RgKernel *kernel)
{
  double X[N * SUPPORT_DIM], K[N * N];

  support_points(13, N, SUPPORT_DIM, X);
  RG_OK(rg_kernel_matrix(kernel, N, X, K));
  for (int i = 0; i < N; i++) K[i * N + i] += 1e-12;
  assert_int_equal(LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', N, K, N), 0);
}

/* Where the kernel splits after the first two inputs, the product of the halves is the kernel. */
static void halves_of_one_kernel(const RgKernel *kernel, bool expected)
{
  double X[N * SUPPORT_DIM];
  RgKernel left, right;
  bool splits;

  RG_OK(rg_kernel_split(kernel, 2, &left, &right, &splits));
  assert_int_equal(splits, expected);
  if (!splits) return;
  support_points(14, N, SUPPORT_DIM, X);
  for (int i = 1; i < N; i++) {
    const double *x = X, *z = X + i * SUPPORT_DIM;
    RG_CLOSE(support_value(&left, x, z) * support_value(&right, x + 2, z + 2),
             support_value(kernel, x, z), 1e-14);
  }
  RG_OK(rg_kernel_destroy(&left));
  RG_OK(rg_kernel_destroy(&right));
}

RG_TEST(every_kernel)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++)
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      RG_OWNED(rg_kernel_destroy) RgKernel kernel;
      support_kernel((RgKernelFamily)family, variant, &kernel);
      for (int shape = 0; shape < 2; shape++) {
        if (shape && !rg_kernel_classes[family]->symbol) continue;
        if (shape) rg_kernel_set_shape(&kernel, 0.37);
        values_of_one_kernel(&kernel);
        matrix_of_one_kernel(&kernel);
        matrix_is_positive_definite(&kernel);
        gradient_of_one_kernel(&kernel);
        theta_gradient_of_one_kernel(&kernel);
      }
      halves_of_one_kernel(&kernel,
                           (variant < 3 || variant == 5) && rg_kernel_classes[family]->separable);
    }
}

/* One factor of the sums x_j + c_j. */
RG_TEST(every_kernel_of_sums)
{
  const double scales[] = {0.4, 0.7};

  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    if (!rg_kernel_classes[family]->columns) continue; /* a sphere has no sums */
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;
    RG_OK(rg_kernel_create_shift((RgKernelFamily)family, SUPPORT_DIM, true, scales, 1.2, &kernel));
    values_of_one_kernel(&kernel);
    gradient_of_one_kernel(&kernel);
    theta_gradient_of_one_kernel(&kernel);
  }
}

/* Numbers by hand, at d = (0.3, 0.1) with length scales (0.5, 0.2): r^2 = 0.61. */
RG_TEST(definitions_have_known_values)
{
  const struct {
    RgKernelFamily family;
    double shape, value;
  } rows[] = {
    {RG_KERNEL_GAUSSIAN, 0, 0.737123374392},
    {RG_KERNEL_MATERN12, 0, 0.457936400709},
    {RG_KERNEL_MATERN32, 0, 0.608243809578},
    {RG_KERNEL_MATERN52, 0, 0.656269291002},
    {RG_KERNEL_RATIONAL_QUADRATIC, 1, 0.766283524904},
    {RG_KERNEL_RATIONAL_QUADRATIC, 2.5, 0.749925044771},
    {RG_KERNEL_PERIODIC, 1,
     4.49192952093e-05},          /* exp(-2 (sin^2(0.3 pi)/0.25 + sin^2(0.1 pi)/0.04)) */
    {RG_KERNEL_PERIODIC, 0.1, 1}, /* three periods and one */
  };
  const double d[] = {0.3, 0.1}, scales[] = {0.5, 0.2};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    RG_CLOSE(rg_kernel_classes[rows[i].family]->value(rows[i].shape, 2, d, scales), rows[i].value,
             1e-8);
}

/* The deviation of a path's derivative: 2 (1 - k(h))/h^2 = slope^2 as h goes to 0. */
RG_TEST(slopes_are_those_of_the_correlations)
{
  const double h = 1e-4;

  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    const RgKernelClass *class = rg_kernel_classes[family];
    const double shape = class->symbol ? 0.7 : 0;
    const double square = 2 * (1 - class->value(shape, 1, &h, &(double){1.0})) / (h * h);
    if (class->slope > 0) RG_CLOSE(square, pow(rg_kernel_family_slope(class, shape), 2), 1e-3);
    if (family == RG_KERNEL_MATERN12) assert_true(class->slope == 0 && square > 1e3);
  }
}

RG_TEST(families_know_what_they_lack)
{
  const double scales[] = {1, 1, 1, 1};
  RgKernel kernel;

  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    const RgKernelClass *class = rg_kernel_classes[family];
    RG_OK(rg_kernel_create((RgKernelFamily)family, 4, true, scales, 1, &kernel));
    assert_ptr_equal(rg_kernel_without_slope(&kernel), class->slope > 0 ? NULL : class);
    assert_ptr_equal(rg_kernel_without_spectrum(&kernel), class->spectrum ? NULL : class);
    assert_string_equal(class->name, rg_kernel_family_names[family]);
    assert_int_equal(class->default_shape > 0, class->symbol != NULL);
    RG_OK(rg_kernel_destroy(&kernel));
  }
}

/* The mean of cos(2 pi turns d) over draws from the spectral density: the density's Fourier
   transform at the difference d of two points. */
static double transform_at(int n_inputs, int n, const double *turns, const double *d)
{
  double sum = 0;

  for (int m = 0; m < n; m++) {
    double turn = 0;
    for (int k = 0; k < n_inputs; k++) turn += turns[k * n + m] * d[k];
    sum += cos(2 * M_PI * turn);
  }
  return sum / n;
}

/* Bochner: the Fourier transform of the spectral density is the correlation. The mean of n cosines
   has the variance ((1 + k(2d))/2 - k(d)^2)/n. */
static void spectrum_of_one_factor(const RgKernelFactor *factor)
{
  enum { DRAWS = 100000 };
  const RgKernelClass *class = rg_kernel_classes[factor->family];
  const double directions[][3] = {{1, 0, 0}, {0.3, 0.8, 0.5}, {-0.2, 0.1, 0.9}};
  const double distances[] = {0.03, 0.1, 0.2, 0.4, 0.8};
  const RgStream stream = rg_stream(1, "test", 0, class->name, 0);
  RgRandom random = rg_stream_at(&stream, 0);
  static double turns[3 * DRAWS], work[2 * DRAWS];
  double scales[3];

  class->spectrum(factor, DRAWS, &random, turns, work);
  for (int k = 0; k < factor->n_inputs; k++) scales[k] = 1 / rg_kernel_inverse_scale(factor, k);
  for (int i = 0; i < 3 * 5; i++) {
    double d[3], twice[3];
    for (int k = 0; k < 3; k++) twice[k] = 2 * (d[k] = distances[i % 5] * directions[i / 5][k]);
    const double value = class->value(factor->shape, factor->n_inputs, d, scales);
    const double square = class->value(factor->shape, factor->n_inputs, twice, scales);
    const double error = sqrt(fmax((1 + square) / 2 - value * value, 0) / DRAWS);
    const double transform = transform_at(factor->n_inputs, DRAWS, turns, d);
    if (fabs(transform - value) > 4.5 * error + 1e-9)
      fail_msg("%s (shape %g, %d inputs): transform %g, correlation %g +- %g", class->name,
               factor->shape, factor->n_inputs, transform, value, error);
  }
}

RG_TEST(spectra_are_the_transforms_of_the_correlations)
{
  const double scales[] = {0.3, 0.5, 0.4};

  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    const RgKernelClass *class = rg_kernel_classes[family];
    for (int dim = 1; class->spectrum && dim <= 3; dim += 2) {
      RG_OWNED(rg_kernel_destroy) RgKernel kernel;
      RG_OK(rg_kernel_create((RgKernelFamily)family, dim, true, scales, 1, &kernel));
      spectrum_of_one_factor(&kernel.terms[0].factors[0]);
      rg_kernel_set_shape(&kernel, 2.3);
      if (class->symbol) spectrum_of_one_factor(&kernel.terms[0].factors[0]);
    }
  }
}

/* At z = x_i every kernel is flat or, for Matern-1/2, has no gradient: 0. */
RG_TEST(gradient_at_a_datum_is_zero)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    double x[SUPPORT_DIM] = {0.1, 0.7, 0.3, 0.9}, w = 2.0, G[SUPPORT_DIM];
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;
    support_kernel((RgKernelFamily)family, 1, &kernel);
    RG_OK(rg_kernel_cross_gradient(&kernel, 1, x, 1, x, &w, G));
    for (int k = 0; k < SUPPORT_DIM; k++) assert_true(G[k] == 0.0);
  }
}

RG_TEST(more_candidates_than_a_block)
{
  enum { MANY = 1000 };
  static double Z[MANY * SUPPORT_DIM], K[2 * MANY], G[MANY * SUPPORT_DIM], W[2 * MANY];
  double X[2 * SUPPORT_DIM];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  support_kernel(RG_KERNEL_MATERN52, 4, &kernel);
  support_points(10, 2, SUPPORT_DIM, X);
  support_points(11, MANY, SUPPORT_DIM, Z);
  support_normals(12, 2 * MANY, W);
  RG_OK(rg_kernel_cross(&kernel, 2, X, MANY, Z, K));
  RG_OK(rg_kernel_cross_gradient(&kernel, 2, X, MANY, Z, W, G));
  for (int j = 0; j < MANY; j++) {
    double k[2], g[SUPPORT_DIM], w[2] = {W[j], W[MANY + j]};
    RG_OK(rg_kernel_cross(&kernel, 2, X, 1, Z + j * SUPPORT_DIM, k));
    RG_CLOSE(K[j], k[0], 1e-15);
    RG_CLOSE(K[MANY + j], k[1], 1e-15);
    RG_OK(rg_kernel_cross_gradient(&kernel, 2, X, 1, Z + j * SUPPORT_DIM, w, g));
    for (int c = 0; c < SUPPORT_DIM; c++) RG_CLOSE(G[j * SUPPORT_DIM + c], g[c], 1e-13);
  }
}

RG_TEST(theta_goes_round)
{
  RG_OWNED(rg_kernel_destroy) RgKernel kernel, copy;
  double theta[16], back[16];
  int size;

  support_kernel(RG_KERNEL_MATERN32, 4, &kernel);
  size = rg_kernel_theta_size(&kernel);
  assert_int_equal(size, 8); /* 2 scales, variance, 4 scales, variance */
  rg_kernel_get_theta(&kernel, theta);
  RG_CLOSE(theta[2], log(1.7), 1e-15);
  RG_CLOSE(theta[7], log(0.9), 1e-15);
  RG_OK(rg_kernel_copy(&kernel, &copy));
  for (int p = 0; p < size; p++) theta[p] += 0.1 * (p + 1);
  support_set_theta(&kernel, theta);
  rg_kernel_get_theta(&kernel, back);
  for (int p = 0; p < size; p++) RG_CLOSE(back[p], theta[p], 1e-14);
  RG_CLOSE(copy.terms[1].variance, 0.9, 1e-15); /* a copy is independent */
  RG_CLOSE(rg_kernel_diagonal(&copy), 2.6, 1e-15);
}

RG_TEST(bad_hyperparameters_are_errors)
{
  double scale = 0.0, good = 1.0;
  int group[] = {0, 0};
  RgKernel kernel;

  RG_FAILS(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &scale, 1.0, &kernel),
           PETSC_ERR_ARG_OUTOFRANGE);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_FAILS(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &good, -1.0, &kernel),
           PETSC_ERR_ARG_OUTOFRANGE);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_FAILS(rg_kernel_create_product(RG_KERNEL_GAUSSIAN, 2, 2, group, false, &good, 1.0, &kernel),
           PETSC_ERR_ARG_OUTOFRANGE);
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(jitter_grows_to_a_limit)
{
  const double scale = 0.5;
  double jitter = 0;
  RgFailure failure = {0};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  int steps = 0;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &scale, 3, &kernel));
  while (rg_kernel_more_jitter(&kernel, 5, &jitter, &failure)) {
    RG_CLOSE(jitter, 3 * pow(10, steps - 10), 1e-16);
    steps++;
  }
  assert_int_equal(steps, 7);
  assert_true(failure.failed);
}

/* F F' is the kernel matrix up to a small residual, and few pivots suffice. */
RG_TEST(pivots_stand_for_all_points)
{
  enum { POINTS = 40, DIM = 2 };
  RgStream stream = rg_stream(1, "kernel", 0, "pivots", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  const double scale = 0.8;
  double X[POINTS * DIM], K[POINTS * POINTS];
  RG_OWNED(rg_kernel_pivots_destroy) RgKernelPivots pivots;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  rg_random_uniforms(&random, POINTS * DIM, X);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, DIM, false, &scale, 2, &kernel));
  RG_OK(rg_kernel_matrix(&kernel, POINTS, X, K));
  RG_OK(rg_kernel_pivots_create(&kernel, POINTS, X, 1e-4, POINTS, &pivots));
  assert_true(pivots.rank > 2 && pivots.rank < POINTS / 2);
  for (int i = 0; i < POINTS; i++)
    for (int j = 0; j < POINTS; j++) {
      double sum = 0;
      for (int k = 0; k < pivots.rank; k++)
        sum += pivots.F[k * POINTS + i] * pivots.F[k * POINTS + j];
      assert_true(fabs(K[i * POINTS + j] - sum) <= 2 * 1e-4 + 1e-12);
    }
}

/* Any two words of a choice are at distance 1, wherever they stand in the list. */
RG_TEST(words_have_no_order)
{
  const int words[] = {3, 0};
  const double scales[] = {0.5, 0.4};
  const double X[] = {0.05, 0.2, 0.3, 0.2, 0.5, 0.2, 0.9, 0.6}; /* the first word twice */
  double K[16];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, scales, 1.7, &kernel));
  RG_OK(rg_kernel_set_words(&kernel, words));
  RG_OK(rg_kernel_matrix(&kernel, 4, X, K));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++) {
      const double r = (X[2 * i + 1] - X[2 * j + 1]) / 0.4, same = i == 1 && j == 0;
      RG_CLOSE(K[4 * i + j], 1.7 * exp(-0.5 * ((same ? 0 : 4) + r * r)), 1e-14);
    }
}
