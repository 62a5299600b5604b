/* Conjugate gradients against the dense posterior. */
#include "gp_support.h"

#include "gp/iterative.h"
#include "gp/posterior.h"

enum { N = 500, QUERIES = 21, DIM = 3 };

static double X[N * DIM], y[N], Z[QUERIES * DIM];

typedef struct {
  double mean[QUERIES], variance[QUERIES], log_likelihood, log_det;
} Exact;

static void solve_densely(const RgKernel *kernel, double noise, Exact *exact)
{
  RgPosterior posterior;
  RgPrediction work = {0};
  RgFailure failure = {0};

  RG_OK(rg_posterior_create(kernel, noise, 0.2, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, noise, 0.2, N, X, y, &failure));
  RG_OK(rg_posterior_predict(&posterior, QUERIES, Z, exact->mean, exact->variance, &work));
  exact->log_likelihood = rg_posterior_log_likelihood(&posterior);
  exact->log_det = 0;
  for (int i = 0; i < N; i++)
    exact->log_det += 2 * log(posterior.L[(size_t)i * posterior.capacity + i]);
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
}

static void compare(RgKernelFamily family, double noise, int rank)
{
  const double scales[] = {0.4, 0.5, 0.6};
  double mean[QUERIES], variance[QUERIES], value, error;
  RgIterativeOptions options = rg_iterative_defaults;
  RgIterativeReport report;
  RgIterative *gp;
  RgKernel kernel;
  Exact exact;

  RG_OK(rg_kernel_create(family, DIM, true, scales, 1.5, &kernel));
  solve_densely(&kernel, noise, &exact);
  options.rank = rank;
  options.tolerance = 1e-9;
  RG_OK(rg_iterative_create(PETSC_COMM_WORLD, &kernel, noise, 0.2, N, X, y, &options, &gp));
  RG_OK(rg_iterative_solve(gp, &report));
  assert_true(report.converged && report.residual <= 1e-9 && report.iterations > 0);
  RG_OK(rg_iterative_mean(gp, QUERIES, Z, mean));
  RG_OK(rg_iterative_variance(gp, QUERIES, Z, variance, &report));
  assert_true(report.converged);
  for (int j = 0; j < QUERIES; j++) {
    RG_CLOSE(mean[j], exact.mean[j], 1e-6);
    RG_CLOSE(variance[j], exact.variance[j], 1e-6);
  }
  RG_OK(rg_iterative_log_determinant(gp, &value, &error, &report));
  assert_true(report.converged && error >= 0);
  if (!(fabs(value - exact.log_det) <= 4 * error + 1e-6 * fabs(exact.log_det)))
    fail_msg("log det %g, exact %g, standard error %g", value, exact.log_det, error);
  RG_OK(rg_iterative_log_likelihood(gp, &value, &error));
  assert_true(fabs(value - exact.log_likelihood) <= 4 * error + 1e-6 * fabs(value));
  RG_OK(rg_iterative_destroy(&gp));
  RG_OK(rg_kernel_destroy(&kernel));
}

static void test_agrees_with_dense(void **state)
{
  (void)state;
  compare(RG_KERNEL_MATERN52, 1e-2, 150);
  compare(RG_KERNEL_MATERN52, 1e-2, 0);
  compare(RG_KERNEL_GAUSSIAN, 1e-3, 200);
  compare(RG_KERNEL_MATERN12, 1e-1, 50);
}

/* The preconditioner is the whole matrix: one step, and no randomness left. */
static void test_full_rank_is_direct(void **state)
{
  const double scale = 0.5;
  double value, error;
  RgIterativeOptions options = rg_iterative_defaults;
  RgIterativeReport report;
  RgIterative *gp;
  RgKernel kernel;
  Exact exact;
  (void)state;

  RG_OK(rg_kernel_create(RG_KERNEL_MATERN32, DIM, false, &scale, 1.0, &kernel));
  solve_densely(&kernel, 1e-2, &exact);
  options.rank = N;
  RG_OK(rg_iterative_create(PETSC_COMM_WORLD, &kernel, 1e-2, 0.2, N, X, y, &options, &gp));
  RG_OK(rg_iterative_log_determinant(gp, &value, &error, &report));
  assert_true(report.iterations <= 2);
  assert_true(error < 1e-4);
  RG_CLOSE(value, exact.log_det, 1e-7);
  RG_OK(rg_iterative_destroy(&gp));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* The limit on iterations is said, not hidden. */
static void test_reports_that_it_did_not_converge(void **state)
{
  const double scale = 0.5;
  RgIterativeOptions options = rg_iterative_defaults;
  RgIterativeReport report;
  RgIterative *gp;
  RgKernel kernel;
  (void)state;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, DIM, false, &scale, 1.0, &kernel));
  options.rank = 0;
  options.max_iterations = 3;
  RG_OK(rg_iterative_create(PETSC_COMM_WORLD, &kernel, 1e-6, 0.0, N, X, y, &options, &gp));
  RG_OK(rg_iterative_solve(gp, &report));
  assert_false(report.converged);
  assert_int_equal(report.iterations, 3);
  assert_true(report.residual > options.tolerance);
  RG_OK(rg_iterative_destroy(&gp));
  RG_OK(rg_kernel_destroy(&kernel));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_dense),
                                     cmocka_unit_test(test_full_rank_is_direct),
                                     cmocka_unit_test(test_reports_that_it_did_not_converge)};

  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  support_points(1, N, DIM, X);
  support_points(2, QUERIES, DIM, Z);
  support_normals(3, N, y);
  for (int i = 0; i < N; i++) y[i] = sin(5 * X[3 * i]) + X[3 * i + 1] + 0.1 * y[i];
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (failed) MPI_Abort(PETSC_COMM_WORLD, 1);
  return PetscFinalize() ? 1 : 0;
}
