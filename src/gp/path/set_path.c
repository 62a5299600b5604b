/* Posterior sample paths on a finite set, from the joint posterior of its points. */
#include "gp/path/set_path.h"
#include "base/grow.h"
#include "base/poll.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/exact/exact.h"
#include "gp/posterior/set/set_posterior.h"
#include "gp/posterior/set/set_factor.h"
#include "maths/blas.h"
#include "maths/vector.h"

#include <math.h>

struct RgSetPaths {
  RgDomain domain; /* the space as a domain; borrows its arrays */
  RgSetPrior prior;
  RgSetFactor factor;
  bool factored;         /* `factor` belongs to the current prior */
  RgPosterior posterior; /* number of data */
  int capacity;          /* room for indices */
  int *index;            /* indices of the data */
  double *theta;         /* 2 theta_size: current and new hyperparameters */
  double *noise;         /* n x count: noise of the data */
  double *update;        /* N x count: the update of a path by the data */
  double *tile;          /* n x RG_TILE: right-hand sides */
  size_t noise_room, update_room, tile_room;
};

PetscErrorCode rg_set_paths_create(const RgSpace *space, const RgKernel *kernel, int capacity,
                                   RgSetPaths **out)
{
  RgSetPaths *paths;

  PetscCheck(rg_space_is_finite(space), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "These paths are drawn on finite sets");
  PetscCall(PetscNew(&paths));
  paths->domain.design = *space;
  paths->capacity = PetscMax(capacity, 1);
  PetscCall(rg_set_prior_create(&paths->domain, kernel, &paths->prior));
  PetscCall(rg_posterior_create(kernel, 0.0, 0.0, paths->capacity, &paths->posterior));
  PetscCall(PetscMalloc1(paths->capacity, &paths->index));
  PetscCall(PetscMalloc1(2 * rg_kernel_theta_size(kernel), &paths->theta));
  rg_kernel_get_theta(kernel, paths->theta);
  *out = paths;
  return 0;
}

PetscErrorCode rg_set_paths_destroy(RgSetPaths **paths)
{
  if (!*paths) return 0;
  PetscCall(rg_set_factor_destroy(&(*paths)->factor));
  PetscCall(rg_set_prior_destroy(&(*paths)->prior));
  PetscCall(rg_posterior_destroy(&(*paths)->posterior));
  return RG_FREE(&(*paths)->index, &(*paths)->theta, &(*paths)->noise, &(*paths)->update,
                 &(*paths)->tile, paths);
}

RgPosterior *rg_set_paths_posterior(RgSetPaths *paths)
{
  return &paths->posterior;
}

bool rg_set_paths_is_structured(const RgSetPaths *paths)
{
  return paths->prior.factors;
}

/* Take over new hyperparameters; reports whether they changed. */
static PetscErrorCode update_kernel(RgSetPaths *paths, const RgKernel *kernel, bool *changed)
{
  int size = rg_kernel_theta_size(kernel);
  double *theta = paths->theta + size;

  PetscCheck(rg_kernel_same_structure(kernel, &paths->prior.kernel), PETSC_COMM_SELF,
             PETSC_ERR_ARG_INCOMP, "The structure of the kernel changed");
  rg_kernel_get_theta(kernel, theta);
  *changed = false;
  for (int p = 0; p < size; p++) *changed = *changed || theta[p] != paths->theta[p];
  if (!*changed) return 0;
  PetscCall(PetscArraycpy(paths->theta, theta, size));
  PetscCall(rg_set_prior_set_kernel(&paths->prior, kernel));
  paths->factored = false;
  return 0;
}

static PetscErrorCode reserve_indices(RgSetPaths *paths, int n)
{
  if (n <= paths->capacity) return 0;
  paths->capacity = PetscMax(n, 2 * paths->capacity);
  return PetscRealloc((size_t)paths->capacity * sizeof *paths->index, &paths->index);
}

static PetscErrorCode copy_indices(RgSetPaths *paths, int n, const int *index, bool *same)
{
  int n_before = paths->posterior.n;

  *same = n >= n_before;
  for (int i = 0; *same && i < n_before; i++) *same = index[i] == paths->index[i];
  PetscCall(reserve_indices(paths, n));
  for (int i = 0; i < n; i++) {
    PetscCheck(index[i] >= 0 && index[i] < paths->prior.size, PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE, "Point %d of a set of %d", index[i], paths->prior.size);
    paths->index[i] = index[i];
  }
  return 0;
}

/* Coordinates of the points with the given indices. */
static PetscErrorCode gather(const RgSetPrior *prior, int n, const int *index, double *X)
{
  size_t dim = (size_t)prior->kernel.dim;

  for (int i = 0; i < n; i++)
    PetscCall(PetscArraycpy(X + i * dim, prior->points + index[i] * dim, dim));
  return 0;
}

PetscErrorCode rg_set_paths_update(RgSetPaths *paths, const RgKernel *kernel, double noise_variance,
                                   double mean, int n, const int *index, const double *y,
                                   RgFailure *failure)
{
  RgPosterior *posterior = &paths->posterior;
  bool changed, same;
  double *X;

  PetscCall(rg_posterior_remove_pending(posterior));
  PetscCall(update_kernel(paths, kernel, &changed));
  PetscCall(copy_indices(paths, n, index, &same));
  PetscCall(PetscMalloc1((size_t)n * kernel->dim, &X));
  PetscCall(gather(&paths->prior, n, index, X));
  if (changed || !same || noise_variance != posterior->noise_variance) {
    PetscCall(rg_posterior_set(posterior, kernel, noise_variance, mean, n, X, y, failure));
  } else {
    same = mean == posterior->mean;
    for (int i = 0; i < posterior->n; i++) same = same && y[i] == posterior->y[i];
    if (!same) PetscCall(rg_posterior_set_outputs(posterior, mean, y));
    for (int i = posterior->n; i < n && !failure->failed; i++)
      PetscCall(rg_posterior_append(posterior, X + (size_t)i * kernel->dim, y[i], failure));
  }
  return PetscFree(X);
}

PetscErrorCode rg_set_paths_pend(RgSetPaths *paths, int n, const int *index, const double *y,
                                 RgFailure *failure)
{
  RgPosterior *posterior = &paths->posterior;
  const size_t dim = (size_t)paths->prior.kernel.dim;

  PetscCall(reserve_indices(paths, posterior->n + n));
  for (int i = 0; i < n && !failure->failed; i++) {
    const RgObservations point = {1, paths->prior.points + (size_t)index[i] * dim, NULL, y + i};
    const int n_before = posterior->n;
    PetscCall(rg_posterior_append_pending(posterior, &point, failure));
    if (posterior->n > n_before) paths->index[n_before] = index[i];
  }
  return 0;
}

static PetscErrorCode reserve(size_t size, size_t *room, double **array)
{
  return rg_room(size, 2 * size, room, array);
}

/* B (n x count) <- (K + noise I)^-1 B, by the inverse of the factor, columns tile by tile. */
static PetscErrorCode solve(RgSetPaths *paths, int count, double *B)
{
  RgPosterior *posterior = &paths->posterior;
  const RgTileOps *ops = rg_tile_ops();
  int n = posterior->n, rows = rg_pad(n);

  PetscCall(rg_exact_invert(posterior));
  PetscCall(reserve((size_t)rows * RG_TILE + 8, &paths->tile_room, &paths->tile));
  double *V = rg_align(paths->tile);
  for (int first = 0; first < count; first += RG_TILE) {
    PetscCall(rg_poll());
    int width = rg_tile_width(count - first), used = PetscMin(width, count - first);

    PetscCall(PetscArrayzero(V, (size_t)rows * width));
    for (int i = 0; i < n; i++)
      for (int s = 0; s < used; s++) V[i * width + s] = B[(size_t)i * count + first + s];
    ops->lower(rows, posterior->inverse, (size_t)posterior->capacity, width, V);
    ops->upper(rows, posterior->inverse, (size_t)posterior->capacity, width, V);
    for (int i = 0; i < n; i++)
      for (int s = 0; s < used; s++) B[(size_t)i * count + first + s] = V[i * width + s];
  }
  return 0;
}

PetscErrorCode rg_set_paths_condition(RgSetPaths *paths, int count, double *e, double *F)
{
  RgPosterior *posterior = &paths->posterior;
  size_t size = (size_t)paths->prior.size * count;
  double mean = posterior->mean, *r = e;

  PetscCall(reserve(size, &paths->update_room, &paths->update));
  paths->factor.prior = &paths->prior;
  /* r = y - mean - f0(data) - e */
  for (int l = 0; l < posterior->n; l++) {
    const double *f = F + (size_t)paths->index[l] * count;
    for (int s = 0; s < count; s++, r++) *r = posterior->y[l] - mean - f[s] - *r;
  }
  PetscCall(solve(paths, count, e));
  PetscCall(
    rg_set_factor_covariance(&paths->factor, count, posterior->n, paths->index, e, paths->update));
  for (size_t i = 0; i < size; i++) F[i] += mean + paths->update[i];
  return 0;
}

PetscErrorCode rg_set_paths_draw(RgSetPaths *paths, int count, RgRandom *random, double *F,
                                 RgFailure *failure)
{
  RgPosterior *posterior = &paths->posterior;
  size_t size = (size_t)posterior->n * count;
  double deviation = sqrt(posterior->noise_variance + posterior->jitter);

  if (!paths->factored) {
    PetscCall(rg_set_factor_update(&paths->factor, &paths->prior, failure));
    if (failure->failed) return 0;
    paths->factored = true;
  }
  PetscCall(reserve(size, &paths->noise_room, &paths->noise));
  PetscCall(rg_set_factor_draw(&paths->factor, count, random, F));
  rg_vector_normals(random, size, paths->noise);
  for (size_t i = 0; i < size; i++) paths->noise[i] *= deviation;
  return rg_set_paths_condition(paths, count, paths->noise, F);
}

PetscErrorCode rg_set_paths_covariance(RgSetPaths *paths, int count, const int *index, double *C)
{
  RgPosterior *posterior = &paths->posterior;
  int n = posterior->n, *all;
  double *X, *rows;

  PetscCall(PetscMalloc3((size_t)count * paths->prior.kernel.dim, &X, n + count, &all,
                         (size_t)(n + count) * count, &rows));
  PetscCall(PetscArraycpy(all, paths->index, n));
  PetscCall(PetscArraycpy(all + n, index, count));
  PetscCall(gather(&paths->prior, count, index, X));
  /* cov(., x_s) = K (unit vector at x_s - (K + noise I)^-1 k(data, x_s)) */
  PetscCall(rg_kernel_cross(&paths->prior.kernel, n, posterior->X, count, X, rows));
  for (size_t i = 0; i < (size_t)n * count; i++) rows[i] = -rows[i];
  PetscCall(solve(paths, count, rows));
  PetscCall(PetscArrayzero(rows + (size_t)n * count, (size_t)count * count));
  for (int s = 0; s < count; s++) rows[(size_t)(n + s) * count + s] = 1.0;
  paths->factor.prior = &paths->prior;
  PetscCall(rg_set_factor_covariance(&paths->factor, count, n + count, all, rows, C));
  return PetscFree3(X, all, rows);
}

/* Draws from the prior, in place of all paths. */
static PetscErrorCode reset(void *closure, const RgSetPosterior *posterior)
{
  RgSetSamples *samples = closure;
  const size_t count = (size_t)samples->count, size = (size_t)samples->size;
  const RgSetPrior *prior = &posterior->prior;
  const double mean = posterior->prior_mean;
  RgRandom random = rg_stream_at(&samples->stream, 0);
  RgSetFactor factor = {0};
  double *draws;

  samples->n = 0;
  samples->failure = (RgFailure){0};
  PetscCall(PetscArrayzero(samples->path, count * size));
  PetscCall(rg_set_factor_update(&factor, prior, &samples->failure));
  if (!samples->failure.failed) {
    PetscCall(PetscMalloc1(count * size, &draws));
    PetscCall(rg_set_factor_draw(&factor, samples->count, &random, draws));
    for (size_t i = 0; i < size; i++)
      for (size_t s = 0; s < count; s++) samples->path[s * size + i] = mean + draws[i * count + s];
    PetscCall(PetscFree(draws));
  }
  return rg_set_factor_destroy(&factor);
}

static PetscErrorCode update(void *closure, const RgSetPosterior *posterior,
                             const RgSetUpdate *change)
{
  RgSetSamples *samples = closure;
  const double deviation = sqrt(posterior->noise_variance);
  RgRandom random = rg_stream_at(&samples->stream, (uint64_t)++samples->n);

  for (int s = 0; s < samples->count; s++) {
    double *path = samples->path + (size_t)s * samples->size;
    const double e = deviation * rg_random_normal(&random);
    cblas_daxpy(samples->size, (change->y - e - path[change->index]) / change->pivot, change->row,
                1, path, 1);
  }
  return 0;
}

static PetscErrorCode keep(void *closure)
{
  RgSetSamples *samples = closure;
  const size_t size = (size_t)samples->count * (size_t)samples->size;

  if (!samples->kept) PetscCall(PetscMalloc1(size, &samples->kept));
  PetscCall(PetscArraycpy(samples->kept, samples->path, size));
  samples->n_kept = samples->n;
  return 0;
}

static PetscErrorCode restore(void *closure)
{
  RgSetSamples *samples = closure;

  PetscCall(
    PetscArraycpy(samples->path, samples->kept, (size_t)samples->count * (size_t)samples->size));
  samples->n = samples->n_kept;
  return 0;
}

PetscErrorCode rg_set_samples_create(RgSetPosterior *posterior, int count, const RgStream *stream,
                                     RgSetSamples *samples)
{
  RgSetListener listener = {samples, reset, update, keep, restore};

  *samples = (RgSetSamples){.count = count, .size = posterior->prior.size, .stream = *stream};
  PetscCall(PetscMalloc1((size_t)count * samples->size, &samples->path));
  return rg_set_posterior_follow(posterior, &listener);
}

PetscErrorCode rg_set_samples_destroy(RgSetSamples *samples)
{
  PetscCall(RG_FREE(&samples->path, &samples->kept));
  *samples = (RgSetSamples){0};
  return 0;
}
