/* The distributed posterior against the local one, for teams of 1 to 6 ranks. */
#include "gp_support.h"

#include "gp/team/distributed.h"
#include "fit_support.h"
#include "gp/posterior/posterior.h"
#include "gp/path/sample_path.h"

enum { MOST = 157, QUERIES = 23, DIM = SUPPORT_DIM };

static double X[MOST * DIM], y[MOST], Z[QUERIES * DIM];

static void fill_data(void)
{
  support_points(1, MOST, DIM, X);
  support_points(2, QUERIES, DIM, Z);
  support_normals(3, MOST, y);
}

/* Largest difference relative to the largest entry. */
static double distance(int n, const double *a, const double *b)
{
  double most = 0, scale = 1e-300;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
    scale = fmax(scale, fabs(b[i]));
    if (isnan(a[i])) return INFINITY;
  }
  return most / scale;
}

#define NEAR(n, a, b)                                                                              \
  do {                                                                                             \
    double d_ = distance(n, a, b);                                                                 \
    if (!(d_ <= 1e-9)) fail_msg("%s differs from %s by %.3g", #a, #b, d_);                         \
  } while (0)

static void compare_predictions(RgDistributed *distributed, RgPosterior *local)
{
  double mean[QUERIES], variance[QUERIES], mean_0[QUERIES], variance_0[QUERIES];
  double G[QUERIES * DIM], G_0[QUERIES * DIM], bars[2 * QUERIES];
  RgPrediction work = {0};

  for (int j = 0; j < 2 * QUERIES; j++) bars[j] = sin(1.0 + j);
  RG_OK(rg_posterior_predict(local, QUERIES, Z, mean_0, variance_0, &work));
  /* the gradient of a mean alone, elsewhere, does not spoil what the first prediction keeps */
  RG_OK(rg_distributed_predict(distributed, QUERIES, Z, mean, variance));
  RG_OK(rg_distributed_gradient(distributed, 1, Z, bars, NULL, G));
  RG_OK(rg_distributed_predict(distributed, QUERIES, Z, mean, variance));
  NEAR(QUERIES, mean, mean_0);
  NEAR(QUERIES, variance, variance_0);
  RG_OK(rg_distributed_predict(distributed, QUERIES, Z, mean, NULL));
  NEAR(QUERIES, mean, mean_0);
  RG_OK(rg_posterior_gradient(local, QUERIES, Z, bars, bars + QUERIES, &work, G_0));
  RG_OK(rg_distributed_gradient(distributed, QUERIES, Z, bars, bars + QUERIES, G));
  NEAR(QUERIES * DIM, G, G_0);
  RG_OK(rg_posterior_gradient(local, QUERIES, Z, bars, NULL, &work, G_0));
  RG_OK(rg_distributed_gradient(distributed, QUERIES, Z, bars, NULL, G));
  NEAR(QUERIES * DIM, G, G_0);
  RG_OK(rg_prediction_destroy(&work));
}

/* C(A, B) = k(A, B) - k(A, X) K^-1 k(X, B), computed with solves. */
static void compare_solves(RgDistributed *distributed, RgPosterior *local)
{
  const int n = rg_distributed_size(distributed), a = 5, b = QUERIES - 5;
  double C[5 * QUERIES], C_0[5 * QUERIES], *W, *V;

  RG_OK(PetscMalloc2((size_t)n * QUERIES, &W, (size_t)n * QUERIES, &V));
  RG_OK(rg_posterior_covariance(local, a, Z, b, Z + a * DIM, C_0));
  RG_OK(rg_kernel_cross(&local->kernel, a, Z, b, Z + a * DIM, C));
  RG_OK(rg_kernel_cross(&local->kernel, n, local->X, a, Z, V));
  RG_OK(rg_kernel_cross(&local->kernel, n, local->X, b, Z + a * DIM, W));
  RG_OK(rg_distributed_solve(distributed, true, true, b, W));
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = 0; k < n; k++) C[i * b + j] -= V[k * a + i] * W[k * b + j];
  NEAR(a * b, C, C_0);
  RG_OK(PetscFree2(W, V));
}

static void compare(MPI_Comm comm, const RgKernel *kernel, int n, int block)
{
  RgDistributed *distributed;
  RgPosterior local;
  RgFailure failure = {0};

  RG_OK(rg_posterior_create(kernel, 1e-2, 0.3, n, &local));
  RG_OK(rg_posterior_set(&local, NULL, 1e-2, 0.3, n, X, y, &failure));
  RG_OK(rg_distributed_create(comm, kernel, 1e-2, 0.0, 1, block, &distributed));
  RG_OK(rg_distributed_set(distributed, NULL, 1e-2, 0.3, n, X, y, &failure));
  assert_false(failure.failed);
  assert_int_equal(rg_distributed_size(distributed), n);
  compare_predictions(distributed, &local);
  compare_solves(distributed, &local);
  double other[MOST];
  for (int i = 0; i < n; i++) other[i] = cos(i);
  RG_OK(rg_posterior_set_outputs(&local, -0.2, other));
  RG_OK(rg_distributed_set_outputs(distributed, -0.2, other));
  compare_predictions(distributed, &local);
  RG_OK(rg_distributed_destroy(&distributed));
  RG_OK(rg_posterior_destroy(&local));
}

static void test_agrees_with_local(void **state)
{
  const int blocks[] = {1, 2, 7, 16, 33, 64, 128}, sizes[] = {1, 13, 64, 101, MOST};
  (void)state;

  for (int size = 1; size <= 6; size++) {
    MPI_Comm comm = team_of(size);
    if (comm == MPI_COMM_NULL) continue;
    for (int i = 0; i < 7; i++) {
      RgKernel kernel;
      support_kernel((RgKernelFamily)((i + size) % 4), (i + 2 * size) % SUPPORT_VARIANTS, &kernel);
      compare(comm, &kernel, sizes[(i + size) % 5], blocks[i]);
      compare(comm, &kernel, sizes[(i + size + 2) % 5], blocks[i]);
      RG_OK(rg_kernel_destroy(&kernel));
    }
    MPI_Comm_free(&comm);
  }
}

static void test_grows_by_blocks(void **state)
{
  /* few new rows and many take different paths */
  const int steps[2][8] = {{3, 1, 20, 64, 1, 1, 40, 27}, {5, 140, 12}}, blocks[] = {1, 8, 50, 128};
  (void)state;

  for (int size = 1; size <= 6; size++) {
    MPI_Comm comm = team_of(size);
    if (comm == MPI_COMM_NULL) continue;
    for (int b = 0; b < 5; b++) {
      const int *step = steps[b == 4], block = blocks[b == 4 ? size % 4 : b];
      RgDistributed *grown;
      RgPosterior local;
      RgKernel kernel;
      RgFailure failure = {0};
      int n = 0;

      support_kernel(RG_KERNEL_MATERN52, b, &kernel);
      RG_OK(rg_distributed_create(comm, &kernel, 1e-3, 0.1, 5, block, &grown));
      RG_OK(rg_posterior_create(&kernel, 1e-3, 0.1, MOST, &local));
      for (int s = 0; s < 8; n += step[s++])
        RG_OK(rg_distributed_append(grown, step[s], X + n * DIM, y + n, &failure));
      assert_int_equal(n, MOST);
      RG_OK(rg_posterior_set(&local, NULL, 1e-3, 0.1, n, X, y, &failure));
      assert_false(failure.failed);
      compare_predictions(grown, &local);
      RG_OK(rg_distributed_destroy(&grown));
      RG_OK(rg_posterior_destroy(&local));
      RG_OK(rg_kernel_destroy(&kernel));
    }
    MPI_Comm_free(&comm);
  }
}

static void test_likelihood_gradient(void **state)
{
  const int blocks[] = {1, 5, 32, 128}, n = 103;
  const RgFitOptions options = {.learn_noise = true};
  (void)state;

  for (int size = 1; size <= 6; size++) {
    MPI_Comm comm = team_of(size);
    if (comm == MPI_COMM_NULL) continue;
    for (int b = 0; b < 4; b++) {
      double value, expected, gradient[16], expected_gradient[16], mean = 0.4;
      RgKernel kernel;

      support_kernel((RgKernelFamily)b, (b + size) % SUPPORT_VARIANTS, &kernel);
      const int theta = rg_kernel_theta_size(&kernel) + 1;
      RG_OK(rg_fit_objective(&kernel, 0.02, mean, &(RgData){n, X, y}, &options, &expected,
                             expected_gradient));
      RG_OK(rg_distributed_objective(&(RgSpread){comm, blocks[b]}, &kernel, 0.02, false, &mean,
                                     &(RgData){n, X, y}, &value, gradient));
      RG_CLOSE(value, expected, 1e-9);
      NEAR(theta, gradient, expected_gradient);

      RgFitOptions learn = options;
      RgFitWork work = {0};
      double local_mean = 0, gls_mean = 0;
      learn.learn_mean = true;
      RG_OK(rg_fit_objective_with(&work, &kernel, 0.02, &local_mean, &(RgData){n, X, y}, &learn,
                                  &expected, expected_gradient));
      RG_OK(rg_distributed_objective(&(RgSpread){comm, blocks[b]}, &kernel, 0.02, true, &gls_mean,
                                     &(RgData){n, X, y}, &value, gradient));
      RG_CLOSE(gls_mean, local_mean, 1e-9);
      RG_CLOSE(value, expected, 1e-9);
      NEAR(theta, gradient, expected_gradient);
      RG_OK(rg_fit_work_destroy(&work));
      RG_OK(rg_kernel_destroy(&kernel));
    }
    MPI_Comm_free(&comm);
  }
}

static void test_sample_paths(void **state)
{
  const double scale = 0.3;
  double f[MOST], expected[MOST], jitter, expected_jitter = 0;
  RgFailure failure = {0};
  RgKernel kernel;
  RgSpace space = {.kind = RG_SPACE_SET, .dim = DIM, .size = MOST, .points = X};
  (void)state;

  RG_OK(rg_kernel_create(RG_KERNEL_MATERN32, DIM, false, &scale, 1.3, &kernel));
  RG_OK(rg_sample_path(NULL, &space, &kernel, y, expected, &expected_jitter, &failure));
  for (int size = 1; size <= 6; size++) {
    MPI_Comm comm = team_of(size);
    if (comm == MPI_COMM_NULL) continue;
    for (int block = 1; block <= 128; block += 31) {
      RG_OK(rg_distributed_sample_path(&(RgSpread){comm, block}, &kernel, MOST, X, y, f, &jitter,
                                       &failure));
      NEAR(MOST, f, expected);
      assert_true(jitter == expected_jitter);
    }
    MPI_Comm_free(&comm);
  }
  assert_false(failure.failed);
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Repeated points without noise: the same jitter as the local posterior, or the same failure. */
static void test_jitter_and_failure(void **state)
{
  double twice[2 * 20 * DIM], mean, variance;
  const double scale = 0.3;
  RgKernel kernel;
  (void)state;

  for (int i = 0; i < 40 * DIM; i++) twice[i] = X[i % (20 * DIM)];
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, DIM, false, &scale, 1.0, &kernel));
  for (int size = 1; size <= 6; size++) {
    MPI_Comm comm = team_of(size);
    if (comm == MPI_COMM_NULL) continue;
    RgDistributed *posterior;
    RgFailure failure = {0};
    RG_OK(rg_distributed_create(comm, &kernel, 0.0, 0.0, 40, 6, &posterior));
    RG_OK(rg_distributed_append(posterior, 20, twice, y, &failure));
    assert_true(rg_distributed_jitter(posterior) == 0.0);
    RG_OK(rg_distributed_append(posterior, 20, twice + 20 * DIM, y, &failure));
    assert_false(failure.failed);
    assert_true(rg_distributed_jitter(posterior) == 1e-10);
    twice[0] = NAN;
    RG_OK(rg_distributed_set(posterior, NULL, 0.0, 0.0, 40, twice, y, &failure));
    twice[0] = X[0];
    assert_true(failure.failed);
    assert_int_equal(rg_distributed_size(posterior), 0);
    RG_OK(rg_distributed_predict(posterior, 1, Z, &mean, &variance));
    assert_true(mean == 0.0 && variance == 1.0);
    RG_OK(rg_distributed_destroy(&posterior));
    MPI_Comm_free(&comm);
  }
  RG_OK(rg_kernel_destroy(&kernel));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_agrees_with_local),   cmocka_unit_test(test_grows_by_blocks),
    cmocka_unit_test(test_likelihood_gradient), cmocka_unit_test(test_sample_paths),
    cmocka_unit_test(test_jitter_and_failure),
  };

  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  fill_data();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (failed) MPI_Abort(PETSC_COMM_WORLD, 1);
  return PetscFinalize() ? 1 : 0;
}
