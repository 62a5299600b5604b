/* Conjugate gradients against the dense posterior, for teams of 1 to 6 ranks. */
#include <string.h>

#include "gp_support.h"

#include "gp/posterior/iterative/iterative.h"
#include "gp/posterior/posterior.h"

enum { N = 301, QUERIES = 21, DIM = 3, SIZES = 6 };

static double X[N * DIM], y[N], Z[QUERIES * DIM];

typedef struct {
  double mean[QUERIES], variance[QUERIES], log_det;
} Exact;

static void solve_densely(const RgKernel *kernel, double noise, Exact *exact)
{
  RgPosterior posterior;
  RgPrediction work = {0};
  RgFailure failure = {0};

  RG_OK(rg_posterior_create(kernel, noise, 0.2, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, noise, 0.2, N, X, y, &failure));
  RG_OK(rg_posterior_predict(&posterior, QUERIES, Z, exact->mean, exact->variance, &work));
  exact->log_det = 0;
  for (int i = 0; i < N; i++)
    exact->log_det += 2 * log(posterior.L[(size_t)i * posterior.capacity + i]);
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
}

/* Every answer of the posterior, as numbers. */
typedef struct {
  double mean[QUERIES], log_det, log_det_error;
  RgIterativeReport solve, probes;
} Answers;

static void ask(MPI_Comm comm, const RgKernel *kernel, double noise, int rank, Answers *a)
{
  RgIterativeOptions options = rg_iterative_defaults;
  RgIterative *gp;

  memset(a, 0, sizeof *a); /* with padding, because answers are compared by their bytes */
  options.rank = rank;
  options.tolerance = 1e-9;
  RG_OK(rg_iterative_create(comm, kernel, noise, 0.2, &(RgData){N, X, y}, &options, &gp));
  RG_OK(rg_iterative_solve(gp, &a->solve));
  RG_OK(rg_iterative_mean(gp, QUERIES, Z, a->mean));
  RG_OK(rg_iterative_log_determinant(gp, &a->log_det, &a->log_det_error, &a->probes));
  RG_OK(rg_iterative_destroy(&gp));
}

static void check(const Answers *a, const Exact *exact)
{
  const double log_det = fabs(a->log_det - exact->log_det);

  assert_true(a->solve.converged && a->probes.converged);
  assert_true(a->solve.residual <= 1e-9 && a->solve.iterations > 0);
  for (int j = 0; j < QUERIES; j++) RG_CLOSE(a->mean[j], exact->mean[j], 1e-6);
  assert_true(a->log_det_error >= 0);
  if (!(log_det <= 4 * a->log_det_error + 1e-6 * fabs(exact->log_det)))
    fail_msg("log det %g, exact %g, standard error %g", a->log_det, exact->log_det,
             a->log_det_error);
}

static void test_agrees_with_dense(void **state)
{
  const struct {
    RgKernelFamily family;
    double noise;
    int rank;
  } cases[] = {{RG_KERNEL_MATERN52, 1e-2, 90},
               {RG_KERNEL_MATERN52, 1e-2, 0},
               {RG_KERNEL_GAUSSIAN, 1e-3, 120},
               {RG_KERNEL_MATERN12, 1e-1, 30}};
  const double scales[] = {0.4, 0.5, 0.6};
  (void)state;

  for (int c = 0; c < 4; c++) {
    RgKernel kernel;
    Exact exact;
    Answers a;
    RG_OK(rg_kernel_create(cases[c].family, DIM, true, scales, 1.5, &kernel));
    solve_densely(&kernel, cases[c].noise, &exact);
    for (int size = 1; size <= SIZES; size++) {
      MPI_Comm comm = size % 2 == c % 2 ? team_of(size) : MPI_COMM_NULL;
      if (comm == MPI_COMM_NULL) continue;
      ask(comm, &kernel, cases[c].noise, cases[c].rank, &a);
      check(&a, &exact);
      MPI_Comm_free(&comm);
    }
    RG_OK(rg_kernel_destroy(&kernel));
  }
}

/* The same bits on every rank of a team, and on a repetition. */
static void test_has_the_same_bits_again(void **state)
{
  const double scales[] = {0.4, 0.5, 0.6};
  RgKernel kernel;
  (void)state;

  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, scales, 1.5, &kernel));
  for (int size = 1; size <= SIZES; size++) {
    MPI_Comm comm = team_of(size);
    Answers first, again;
    if (comm == MPI_COMM_NULL) continue;
    ask(comm, &kernel, 1e-2, 60, &first);
    ask(comm, &kernel, 1e-2, 60, &again);
    assert_memory_equal(&first, &again, sizeof first);
    MPI_Bcast(&again, (int)sizeof again, MPI_BYTE, 0, comm);
    assert_memory_equal(&first, &again, sizeof first);
    MPI_Comm_free(&comm);
  }
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Mean, variance and their gradient against the dense posterior, after the data came in two parts
   and the outputs changed: the variance is never below the exact one. */
static void test_predicts_with_gradients(void **state)
{
  enum { FIRST = 280 };
  const double scales[] = {0.6, 0.7, 0.8};
  double mean[QUERIES], variance[QUERIES], G[QUERIES * DIM], shifted[N], bar[QUERIES];
  double exact_mean[QUERIES], exact_variance[QUERIES], exact_G[QUERIES * DIM];
  RgIterativeOptions options = rg_iterative_defaults;
  RgPosterior dense;
  RgPrediction work = {0};
  RgFailure failure = {0};
  RgKernel kernel;
  (void)state;

  options.rank = 220;
  options.tolerance = 1e-10;
  for (int i = 0; i < N; i++) shifted[i] = 0.5 * y[i] + 0.3;
  for (int j = 0; j < QUERIES; j++) bar[j] = cos(j);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, scales, 1.5, &kernel));
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.1, N, &dense));
  RG_OK(rg_posterior_set(&dense, NULL, 1e-2, 0.1, N, X, shifted, &failure));
  RG_OK(rg_posterior_predict(&dense, QUERIES, Z, exact_mean, exact_variance, &work));
  RG_OK(rg_posterior_gradient(&dense, QUERIES, Z, bar, bar, &work, exact_G));
  for (int size = 1; size <= 3; size++) {
    MPI_Comm comm = team_of(size);
    RgIterative *gp;
    if (comm == MPI_COMM_NULL) continue;
    RG_OK(rg_iterative_create(comm, &kernel, 1e-2, 0.2, &(RgData){FIRST, X, y}, &options, &gp));
    RG_OK(rg_iterative_predict(gp, QUERIES, Z, mean, variance));
    RG_OK(rg_iterative_extend(gp, N - FIRST, X + (size_t)FIRST * DIM, y + FIRST));
    RG_OK(rg_iterative_set_outputs(gp, 0.1, shifted));
    RG_OK(rg_iterative_solve(gp, NULL));
    RG_OK(rg_iterative_predict(gp, QUERIES, Z, mean, variance));
    RG_OK(rg_iterative_gradient(gp, QUERIES, Z, bar, bar, G));
    for (int j = 0; j < QUERIES; j++) {
      RG_CLOSE(mean[j], exact_mean[j], 1e-6);
      RG_CLOSE(variance[j], exact_variance[j], 2e-3);
      assert_true(variance[j] >= exact_variance[j] - 1e-9);
    }
    for (int k = 0; k < QUERIES * DIM; k++) RG_CLOSE(G[k], exact_G[k], 2e-2);
    RG_OK(rg_iterative_destroy(&gp));
    MPI_Comm_free(&comm);
  }
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&dense));
  RG_OK(rg_kernel_destroy(&kernel));
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
  RG_OK(
    rg_iterative_create(PETSC_COMM_WORLD, &kernel, 1e-2, 0.2, &(RgData){N, X, y}, &options, &gp));
  RG_OK(rg_iterative_log_determinant(gp, &value, &error, &report));
  assert_true(report.iterations <= 2);
  assert_true(error < 1e-4);
  RG_CLOSE(value, exact.log_det, 1e-7);
  RG_OK(rg_iterative_destroy(&gp));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* The limit on iterations is reported, not hidden. */
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
  RG_OK(
    rg_iterative_create(PETSC_COMM_WORLD, &kernel, 1e-6, 0.0, &(RgData){N, X, y}, &options, &gp));
  RG_OK(rg_iterative_solve(gp, &report));
  assert_false(report.converged);
  assert_int_equal(report.iterations, 3);
  assert_true(report.residual > options.tolerance);
  RG_OK(rg_iterative_destroy(&gp));
  RG_OK(rg_kernel_destroy(&kernel));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_agrees_with_dense), cmocka_unit_test(test_has_the_same_bits_again),
    cmocka_unit_test(test_predicts_with_gradients), cmocka_unit_test(test_full_rank_is_direct),
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
