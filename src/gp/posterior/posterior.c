/* The posterior's interface: the parts that all back ends share, and the choice of a back end. */
#include "gp/posterior/posterior_ops.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/iterative/iterative_ops.h"
#include "gp/team/distributed.h"
#include "maths/blas.h"

/* ---- the choice ---------------------------------------------------------------------------- */

/* Give the data, soon n of them, to the back end for them. */
static PetscErrorCode move(RgPosterior *posterior, int n)
{
  const RgPosteriorOps *ops = posterior->set                      ? &rg_set_ops
                              : posterior->iterative              ? &rg_iterative_ops
                              : rg_team_takes(posterior->team, n) ? &rg_team_ops
                                                                  : &rg_exact_ops;

  if (ops == posterior->ops) return 0;
  if (posterior->ops) PetscCall(posterior->ops->close(posterior));
  posterior->ops = ops;
  if (ops->open) PetscCall(ops->open(posterior, n));
  return 0;
}

#define CHECK_HAS(posterior, operation)                                                            \
  PetscCheck((posterior)->ops->operation, PETSC_COMM_SELF, PETSC_ERR_SUP,                          \
             "The %s posterior has no %s", (posterior)->ops->name, #operation)

/* The kernel's diagonal is the same everywhere for the back ends other than the exact one. */
#define CHECK_NO_TREND(kernel)                                                                     \
  PetscCheck(!(kernel)->trend, PETSC_COMM_SELF, PETSC_ERR_SUP,                                     \
             "Only the exact posterior has trends")

/* ---- life ---------------------------------------------------------------------------------- */

static PetscErrorCode begin(const RgKernel *kernel, double noise_variance, double mean,
                            RgPosterior *posterior)
{
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  PetscCall(PetscMemzero(posterior, sizeof *posterior));
  PetscCall(rg_kernel_copy(kernel, &posterior->kernel));
  posterior->noise_variance = noise_variance;
  posterior->mean = mean;
  return 0;
}

/* Room for `capacity` data; the present data stay. */
static PetscErrorCode reserve(RgPosterior *posterior, int capacity)
{
  const int old = posterior->capacity;
  const size_t dim = (size_t)posterior->kernel.dim;

  if (capacity <= old) return 0;
  capacity = rg_pad(capacity);
  PetscCall(PetscRealloc((size_t)capacity * dim * sizeof(double), &posterior->X));
  PetscCall(PetscRealloc((size_t)capacity * sizeof(double), &posterior->y));
  posterior->capacity = capacity;
  if (posterior->ops->reserve) PetscCall(posterior->ops->reserve(posterior, old));
  return 0;
}

PetscErrorCode rg_posterior_create(const RgKernel *kernel, double noise_variance, double mean,
                                   int capacity, RgPosterior *posterior)
{
  PetscCall(begin(kernel, noise_variance, mean, posterior));
  PetscCall(move(posterior, 0));
  return reserve(posterior, PetscMax(capacity, 1));
}

PetscErrorCode rg_posterior_create_on_set(const RgDomain *domain, const RgKernel *kernel,
                                          double noise_variance, double mean, int capacity,
                                          RgPosterior *posterior)
{
  CHECK_NO_TREND(kernel);
  PetscCall(begin(kernel, noise_variance, mean, posterior));
  PetscCall(
    rg_set_posterior_create(domain, kernel, noise_variance, mean, capacity, &posterior->set));
  posterior->means = posterior->set->mean;
  posterior->variances = posterior->set->variance;
  return move(posterior, 0);
}

const RgTeamWorker rg_posterior_worker = rg_iterative_work;

bool rg_solver_has_iterative(void)
{
  return rg_iterative_present();
}

bool rg_solver_is_iterative(RgSolver solver, double n, int ranks)
{
  const double order = n + RG_DISTRIBUTED_BLOCK;

  if (solver != RG_SOLVER_AUTO) return solver == RG_SOLVER_ITERATIVE;
  if (!rg_solver_has_iterative()) return false;
  return order * order / ranks >= INT32_MAX;
}

PetscErrorCode rg_posterior_create_iterative(RgTeam *team, const RgSpace *points,
                                             const RgSolverOptions *options, const RgKernel *kernel,
                                             double noise_variance, double mean, int capacity,
                                             RgPosterior *posterior)
{
  CHECK_NO_TREND(kernel);
  PetscCall(begin(kernel, noise_variance, mean, posterior));
  posterior->team = team;
  PetscCall(rg_iterative_state_create(points, options, &posterior->iterative));
  posterior->means = posterior->iterative->mean;
  posterior->variances = posterior->iterative->variance;
  PetscCall(move(posterior, 0));
  return reserve(posterior, PetscMax(capacity, 1));
}

int rg_posterior_iterations(const RgPosterior *posterior, double *residual)
{
  *residual = posterior->iterative ? posterior->iterative->residual : 0.0;
  return posterior->iterative ? posterior->iterative->iterations : 0;
}

PetscErrorCode rg_posterior_use_team(RgPosterior *posterior, RgTeam *team, int expected)
{
  PetscCheck(posterior->n == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "A posterior that holds data can't be given to a team");
  if (team) CHECK_NO_TREND(&posterior->kernel);
  posterior->team = team;
  posterior->expected = expected;
  return 0;
}

PetscErrorCode rg_posterior_destroy(RgPosterior *posterior)
{
  if (posterior->ops) PetscCall(posterior->ops->close(posterior));
  PetscCall(rg_kernel_destroy(&posterior->kernel));
  PetscCall(RG_FREE(&posterior->X, &posterior->y));
  return PetscMemzero(posterior, sizeof *posterior);
}

/* ---- data ---------------------------------------------------------------------------------- */

/* Let `data` follow the first `n_before` ones. A set keeps them itself. */
static PetscErrorCode store(RgPosterior *posterior, int n_before, const RgObservations *data)
{
  const size_t dim = (size_t)posterior->kernel.dim;
  const int n = n_before + data->n;

  if (!posterior->set) {
    if (n > posterior->capacity)
      PetscCall(reserve(posterior, PetscMax(n, 2 * posterior->capacity)));
    double *X = posterior->X + (size_t)n_before * dim, *y = posterior->y + n_before;
    if (X != data->X) PetscCall(PetscArraycpy(X, data->X, (size_t)data->n * dim));
    if (y != data->y) PetscCall(PetscArraycpy(y, data->y, data->n));
  }
  posterior->n = n;
  return 0;
}

PetscErrorCode rg_posterior_reset(RgPosterior *posterior, const RgKernel *kernel,
                                  double noise_variance, double mean, const RgObservations *data,
                                  RgFailure *failure)
{
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  PetscCall(rg_posterior_remove_pending(posterior));
  if (kernel) PetscCall(rg_kernel_assign(kernel, &posterior->kernel));
  posterior->noise_variance = noise_variance;
  posterior->mean = mean;
  PetscCall(move(posterior, data->n));
  PetscCall(store(posterior, 0, data));
  return posterior->ops->reset(posterior, data, failure);
}

PetscErrorCode rg_posterior_extend(RgPosterior *posterior, const RgObservations *data,
                                   RgFailure *failure)
{
  const RgPosteriorOps *before = posterior->ops;

  PetscCall(rg_posterior_remove_pending(posterior));
  if (data->n == 0) return 0;
  const int n_before = posterior->n;
  PetscCall(move(posterior, n_before + data->n));
  PetscCall(store(posterior, n_before, data));
  if (posterior->ops != before) return posterior->ops->reset(posterior, data, failure);
  return posterior->ops->extend(posterior, data, failure);
}

PetscErrorCode rg_posterior_set(RgPosterior *posterior, const RgKernel *kernel,
                                double noise_variance, double mean, int n, const double *X,
                                const double *y, RgFailure *failure)
{
  return rg_posterior_reset(posterior, kernel, noise_variance, mean,
                            &(RgObservations){n, X, NULL, y}, failure);
}

PetscErrorCode rg_posterior_append(RgPosterior *posterior, const double *x, double y,
                                   RgFailure *failure)
{
  return rg_posterior_extend(posterior, &(RgObservations){1, x, NULL, &y}, failure);
}

/* ---- pending points ------------------------------------------------------------------------ */

PetscErrorCode rg_posterior_append_pending(RgPosterior *posterior, const RgObservations *data,
                                           RgFailure *failure)
{
  const size_t dim = (size_t)posterior->kernel.dim;
  const int n_before = posterior->n;

  if (data->n == 0) return 0;
  if (!posterior->has_pending) {
    posterior->n_told = n_before;
    PetscCall(posterior->ops->keep(posterior));
    posterior->has_pending = true;
  }
  PetscCall(store(posterior, n_before, data));
  if (posterior->ops->pend) return posterior->ops->pend(posterior, data, failure);
  posterior->n = n_before;
  for (int i = n_before; i < n_before + data->n; i++) {
    const int n = posterior->n; /* inputs and outputs follow the points that are accepted */
    memmove(posterior->X + (size_t)n * dim, posterior->X + (size_t)i * dim, dim * sizeof(double));
    posterior->y[n] = posterior->y[i];
    PetscCall(posterior->ops->pend_one(posterior));
  }
  return 0;
}

PetscErrorCode rg_posterior_remove_pending(RgPosterior *posterior)
{
  if (!posterior->has_pending) return 0;
  posterior->n = posterior->n_told;
  posterior->has_pending = false;
  return posterior->ops->restore(posterior);
}

bool rg_posterior_takes_outputs(const RgPosterior *posterior)
{
  return posterior->ops->set_outputs != NULL;
}

PetscErrorCode rg_posterior_set_outputs(RgPosterior *posterior, double mean, const double *y)
{
  CHECK_HAS(posterior, set_outputs);
  PetscCall(rg_posterior_remove_pending(posterior));
  posterior->mean = mean;
  if (y != posterior->y) PetscCall(PetscArraycpy(posterior->y, y, posterior->n));
  return posterior->ops->set_outputs(posterior);
}

/* ---- predictions --------------------------------------------------------------------------- */

PetscErrorCode rg_posterior_solve_many(const RgPosterior *posterior, int m, double *B)
{
  CHECK_HAS(posterior, solve_many);
  if (posterior->n && m) PetscCall(posterior->ops->solve_many(posterior, m, B));
  return 0;
}

bool rg_posterior_solves(const RgPosterior *posterior)
{
  return posterior->ops->solve_many != NULL;
}

bool rg_posterior_has_factor(const RgPosterior *posterior)
{
  return posterior->ops == &rg_exact_ops;
}

const double *rg_posterior_means(const RgPosterior *posterior)
{
  return posterior->means;
}

const double *rg_posterior_variances(const RgPosterior *posterior)
{
  return posterior->variances;
}

PetscErrorCode rg_posterior_get_set(const RgPosterior *posterior, RgSetPosterior **set)
{
  PetscCheck(posterior->set, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The %s posterior follows no finite set", posterior->ops->name);
  *set = posterior->set;
  return 0;
}

PetscErrorCode rg_posterior_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                    double *variance, RgPrediction *work)
{
  CHECK_HAS(posterior, predict);
  work->n = posterior->n;
  work->m = m;
  work->has_variance = variance != NULL;
  return posterior->ops->predict(posterior, m, Z, mean, variance, work);
}

PetscErrorCode rg_posterior_gradient(RgPosterior *posterior, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar,
                                     RgPrediction *work, double *G)
{
  PetscCheck(m == work->m && posterior->n == work->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The gradient is wanted at %d points with %d data, the prediction was %d and %d", m,
             posterior->n, work->m, work->n);
  PetscCheck(!variance_bar || work->has_variance, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The prediction did not ask for the variance");
  CHECK_HAS(posterior, gradient);
  return posterior->ops->gradient(posterior, m, Z, mean_bar, variance_bar, work, G);
}

bool rg_posterior_select(const RgPosterior *posterior, int count, const int *which,
                         RgPrediction *work)
{
  if (!posterior->ops->select || !work->kept) return false;
  posterior->ops->select(posterior, count, which, work);
  return true;
}

PetscErrorCode rg_posterior_covariance(RgPosterior *posterior, int a, const double *A, int b,
                                       const double *B, double *C)
{
  const RgKernel *kernel = &posterior->kernel;
  const int n = posterior->n;
  double *V, *W;

  CHECK_HAS(posterior, whiten);
  PetscCall(rg_kernel_cross(kernel, a, A, b, B, C));
  if (!n || !a || !b) return 0;
  PetscCall(PetscMalloc2((size_t)n * a, &V, (size_t)n * b, &W));
  PetscCall(rg_kernel_cross(kernel, n, posterior->X, a, A, V));
  PetscCall(rg_kernel_cross(kernel, n, posterior->X, b, B, W));
  PetscCall(posterior->ops->whiten(posterior, a, V));
  PetscCall(posterior->ops->whiten(posterior, b, W));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, a, n, -1.0, W, b, V, a, 1.0, C, b);
  return PetscFree2(V, W);
}

PetscErrorCode rg_prediction_destroy(RgPrediction *work)
{
  PetscCall(PetscFree(work->memory));
  return PetscMemzero(work, sizeof *work);
}
