/* A leader on a team gets the results that it gets alone. */
#include <string.h>

#include "gp_support.h"

#include "gp/posterior/exact/exact.h"
#include "gp/model/fit.h"
#include "gp/posterior/posterior_ops.h"
#include "gp/path/sample_path.h"

enum { MOST = 60, QUERIES = 9, DIM = SUPPORT_DIM };

static double X[MOST * DIM], y[MOST], Z[QUERIES * DIM];

static double distance(int n, const double *a, const double *b)
{
  double most = 0;
  for (int i = 0; i < n; i++) most = isnan(a[i]) ? INFINITY : fmax(most, fabs(a[i] - b[i]));
  return most;
}

static void compare(RgPosterior *shared, RgPosterior *alone)
{
  double mean[2][QUERIES], variance[2][QUERIES], G[2][QUERIES * DIM], bars[2 * QUERIES];
  double C[2][3 * QUERIES];
  RgPosterior *both[] = {shared, alone};

  for (int j = 0; j < 2 * QUERIES; j++) bars[j] = sin(2.0 + j);
  for (int k = 0; k < 2; k++) {
    RgPrediction work = {0};
    RgCrossCovariance cross;
    RG_OK(rg_posterior_predict(both[k], QUERIES, Z, mean[k], variance[k], &work));
    RG_OK(rg_posterior_gradient(both[k], QUERIES, Z, bars, bars + QUERIES, &work, G[k]));
    RG_OK(rg_posterior_covariance(both[k], 3, Z, QUERIES, Z, C[k]));
    RG_OK(rg_prediction_destroy(&work));
    if (k == 0) assert_true(distance(3 * QUERIES, C[0], C[0]) == 0);
    RG_OK(rg_cross_covariance_create(both[k], 3, Z, &cross));
    double D[3 * QUERIES];
    RG_OK(rg_cross_covariance_evaluate(&cross, QUERIES, Z, D));
    assert_true(distance(3 * QUERIES, D, C[k]) < 1e-9);
    RG_OK(rg_cross_covariance_destroy(&cross));
  }
  assert_true(distance(QUERIES, mean[0], mean[1]) < 1e-9);
  assert_true(distance(QUERIES, variance[0], variance[1]) < 1e-9);
  assert_true(distance(QUERIES * DIM, G[0], G[1]) < 1e-8);
  assert_true(distance(3 * QUERIES, C[0], C[1]) < 1e-9);
}

/* Local at first; grown into the team's, refitted there, and back again. */
static void lead_posterior(RgTeam *team)
{
  const int variants[] = {2, 5, 6}; /* a product, words of choices, warped inputs */
  RgPosterior shared, alone;
  RgKernel kernel, other;
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.2, 5, &shared));
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.2, 5, &alone));
  RG_OK(rg_posterior_use_team(&shared, team, 40));
  for (int i = 0; i < 30; i++) {
    RG_OK(rg_posterior_append(&shared, X + i * DIM, y[i], &failure));
    RG_OK(rg_posterior_append(&alone, X + i * DIM, y[i], &failure));
    assert_true(rg_posterior_has_factor(&shared) == !rg_team_takes(team, i + 1));
    if (rg_posterior_has_factor(&shared)) {
      assert_int_equal(rg_team_jobs(team), 0);
      assert_memory_equal(shared.beta, alone.beta, (size_t)(i + 1) * sizeof(double));
    }
  }
  compare(&shared, &alone);
  const RgObservations more = {20, X + 30 * DIM, NULL, y + 30};
  RG_OK(rg_posterior_extend(&shared, &more, &failure));
  RG_OK(rg_posterior_extend(&alone, &more, &failure));
  compare(&shared, &alone);
  for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
    support_kernel(RG_KERNEL_MATERN52, variants[v], &other);
    RG_OK(rg_posterior_set(&shared, &other, 2e-2, 0.1, shared.n, shared.X, shared.y, &failure));
    RG_OK(rg_posterior_set(&alone, &other, 2e-2, 0.1, alone.n, alone.X, alone.y, &failure));
    compare(&shared, &alone);
    RG_OK(rg_kernel_destroy(&other));
  }
  RG_OK(rg_posterior_set_outputs(&shared, -0.3, y));
  RG_OK(rg_posterior_set_outputs(&alone, -0.3, y));
  compare(&shared, &alone);
  RG_OK(rg_posterior_set(&shared, &kernel, 1e-2, 0.1, 8, X, y, &failure));
  RG_OK(rg_posterior_set(&alone, &kernel, 1e-2, 0.1, 8, X, y, &failure));
  assert_true(rg_posterior_has_factor(&shared));
  compare(&shared, &alone);
  RG_OK(rg_posterior_set(&shared, NULL, 1e-2, 0.1, MOST, X, y, &failure));
  RG_OK(rg_posterior_set(&alone, NULL, 1e-2, 0.1, MOST, X, y, &failure));
  compare(&shared, &alone);
  assert_false(failure.failed);
  RG_OK(rg_posterior_destroy(&shared));
  RG_OK(rg_posterior_destroy(&alone));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Pending points leave no trace on the team either, and count as data while they are there. */
static void lead_pending(RgTeam *team)
{
  double mean[2][QUERIES], variance[2][QUERIES], there, doubt;
  RgPosterior posterior[2];
  RgPrediction work = {0};
  RgKernel kernel;
  RgFailure failure = {0};

  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  for (int k = 0; k < 2; k++) {
    RgPosterior *p = &posterior[k];
    RG_OK(rg_posterior_create(&kernel, 0, 0.2, MOST, p));
    RG_OK(rg_posterior_use_team(p, team, MOST));
    for (int n = 0; n < 40; n += 10) {
      const RgObservations data = {10, X + n * DIM, NULL, y + n}, more = {4, X + n * DIM, NULL, y};
      const RgObservations fresh = {6, X + 50 * DIM, NULL, y + 50};
      RG_OK(rg_posterior_extend(p, &data, &failure));
      if (k == 0) continue;
      RG_OK(rg_posterior_append_pending(p, &more, &failure)); /* known: without noise */
      assert_int_equal(p->n, n + 10);
      RG_OK(rg_posterior_append_pending(p, &fresh, &failure));
      assert_int_equal(p->n, n + 16);
      RG_OK(rg_posterior_predict(p, 1, X + 52 * DIM, &there, &doubt, &work));
      RG_CLOSE(there, y[52], 1e-8);
      assert_true(doubt < 1e-8);
      RG_OK(rg_posterior_remove_pending(p));
    }
    RG_OK(rg_posterior_predict(p, QUERIES, Z, mean[k], variance[k], &work));
  }
  assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
  assert_memory_equal(variance[0], variance[1], sizeof variance[0]);
  assert_false(failure.failed);
  RG_OK(rg_prediction_destroy(&work));
  for (int k = 0; k < 2; k++) RG_OK(rg_posterior_destroy(&posterior[k]));
  RG_OK(rg_kernel_destroy(&kernel));
}

static void lead_fit(RgTeam *team)
{
  const RgFitOptions options = {.length_scale = {RG_PRIOR_LOGNORMAL, 0.0, 1.0},
                                .length_scale_lower = 0.01,
                                .length_scale_upper = 10,
                                .variance_lower = 0.01,
                                .variance_upper = 100,
                                .learn_noise = true,
                                .noise_lower = 1e-6,
                                .noise_upper = 10,
                                .learn_mean = true,
                                .max_iterations = 50,
                                .tolerance = 1e-9};
  RgFitWork work[2] = {{.team = team}, {0}};
  RgFitReport report[2];
  double noise[2] = {0.1, 0.1}, mean[2] = {0, 0};

  for (int k = 0; k < 2; k++) {
    RgKernel kernel;
    support_kernel(RG_KERNEL_MATERN32, 0, &kernel);
    RG_OK(rg_fit_with(&work[k], &kernel, &noise[k], &mean[k], &(RgData){MOST, X, y}, &options, NULL,
                      &report[k]));
    RG_OK(rg_kernel_destroy(&kernel));
    RG_OK(rg_fit_work_destroy(&work[k]));
  }
  RG_CLOSE(report[0].value, report[1].value, 1e-8);
  RG_CLOSE(mean[0], mean[1], 1e-4);
}

static void lead_path(RgTeam *team)
{
  const double scale = 0.3;
  double f[2][MOST], jitter = 0;
  RgKernel kernel;
  RgFailure failure = {0};
  RgSpace space = {.kind = RG_SPACE_SET, .dim = DIM, .size = MOST, .points = X};

  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, false, &scale, 1.0, &kernel));
  RG_OK(rg_sample_path(NULL, &space, &kernel, y, f[1], &jitter, &failure));
  RG_OK(rg_team_sample_path(team, &kernel, MOST, X, y, f[0], &jitter, &failure));
  assert_true(distance(MOST, f[0], f[1]) < 1e-9);
  RG_OK(rg_sample_path(team, &space, &kernel, y, f[0], &jitter, &failure));
  assert_true(distance(MOST, f[0], f[1]) < 1e-9);
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Every part of a kernel reaches the other ranks, so their log likelihoods agree. */
static void lead_kernels(RgTeam *team)
{
  const double scale = 0.6;

  for (int variant = 0; variant <= SUPPORT_VARIANTS; variant++) {
    const RgFitOptions options = {.learn_noise = true};
    double value[2], gradient[2][32], mean = 0;
    RgFitWork work[2] = {{.team = team}, {0}};
    RgKernel kernel;
    if (variant < SUPPORT_VARIANTS) support_kernel(RG_KERNEL_MATERN52, variant, &kernel);
    else RG_OK(rg_kernel_create_shift(RG_KERNEL_MATERN52, DIM, false, &scale, 1.0, &kernel));
    for (int k = 0; k < 2; k++) {
      RG_OK(rg_fit_objective_with(&work[k], &kernel, 1e-2, &mean, &(RgData){MOST, X, y}, &options,
                                  &value[k], gradient[k]));
      RG_OK(rg_fit_work_destroy(&work[k]));
    }
    RG_CLOSE(value[0], value[1], 1e-9);
    const int size = rg_kernel_theta_size(&kernel) + 1;
    assert_true(size <= 32 && distance(size, gradient[0], gradient[1]) < 1e-7 * fabs(value[1]));
    RG_OK(rg_kernel_destroy(&kernel));
  }
}

/* A factorisation that breaks down on the team is the leader's failure; the team goes on. */
static void lead_failure(RgTeam *team)
{
  RgPosterior posterior;
  RgKernel kernel;
  RgFailure failure = {0};
  double broken[MOST * DIM];

  memcpy(broken, X, sizeof broken);
  broken[30 * DIM] = NAN;
  support_kernel(RG_KERNEL_MATERN52, 0, &kernel);
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.0, 5, &posterior));
  RG_OK(rg_posterior_use_team(&posterior, team, MOST));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, MOST, broken, y, &failure));
  assert_true(failure.failed);
  assert_non_null(strstr(failure.message, "Cholesky"));
  assert_int_equal(posterior.n, 0);
  failure = (RgFailure){0};
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, MOST, X, y, &failure));
  assert_false(failure.failed);
  assert_int_equal(posterior.n, MOST);
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Posteriors without a matrix that are created before either has data keep apart. */
static void lead_matrix_free(RgTeam *team)
{
  const RgSolverOptions options = {.tolerance = 1e-8, .rank = 20, .max_iterations = 200};
  RgPosterior one, other;
  RgPrediction work = {0};
  RgKernel kernel;
  RgFailure failure = {0};
  double before[QUERIES], after[QUERIES];

  if (!rg_solver_has_iterative()) return;
  support_kernel(RG_KERNEL_MATERN52, 0, &kernel);
  RG_OK(rg_posterior_create_iterative(team, NULL, &options, &kernel, 1e-2, 0.0, MOST, &one));
  RG_OK(rg_posterior_create_iterative(team, NULL, &options, &kernel, 1e-2, 0.0, MOST, &other));
  RG_OK(rg_posterior_set(&one, NULL, 1e-2, 0.0, MOST, X, y, &failure));
  RG_OK(rg_posterior_predict(&one, QUERIES, Z, before, NULL, &work));
  RG_OK(rg_posterior_set(&other, NULL, 1e-2, 0.0, 30, X, y + 20, &failure));
  RG_OK(rg_posterior_predict(&one, QUERIES, Z, after, NULL, &work));
  assert_false(failure.failed);
  assert_memory_equal(before, after, sizeof before);
  RG_OK(rg_posterior_destroy(&one));
  RG_OK(rg_posterior_destroy(&other));
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_kernel_destroy(&kernel));
}

static PetscErrorCode count_idle(void *closure)
{
  (*(int *)closure)++;
  return 0;
}

static void test_leader_and_team(void **state)
{
  int rank, ranks, idle = 0;
  (void)state;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  for (int size = 1; size <= ranks; size++) {
    MPI_Comm comm;
    RgTeam *team;
    MPI_Comm_split(PETSC_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    RG_OK(rg_team_create(comm, 20, &team));
    rg_team_set_worker(team, rg_posterior_worker);
    assert_int_equal(rg_team_size(team), size);
    if (rg_team_is_leader(team)) {
      lead_posterior(team);
      if (size == 1) assert_int_equal(rg_team_jobs(team), 0);
      lead_fit(team);
      lead_pending(team);
      lead_path(team);
      lead_kernels(team);
      lead_failure(team);
      lead_matrix_free(team);
      RG_OK(rg_team_release(team));
    } else {
      RG_OK(rg_team_serve(team, count_idle, &idle));
    }
    RG_OK(rg_team_destroy(&team));
    MPI_Comm_free(&comm);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_leader_and_team)};

  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  support_points(1, MOST, DIM, X);
  support_points(2, QUERIES, DIM, Z);
  support_normals(3, MOST, y);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (failed) MPI_Abort(PETSC_COMM_WORLD, 1);
  return PetscFinalize() ? 1 : 0;
}
