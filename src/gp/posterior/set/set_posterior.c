/* Posterior mean and variance on a whole finite set, one observation at a time. */
#include "gp/posterior/set/set_posterior.h"
#include "base/grow.h"
#include "gp/kernel/tiles.h"
#include "gp/posterior/posterior_ops.h"

#include <math.h>
#include <string.h>

/* A tile is RG_VECTOR_TILE of the before x after columns of F; column q = b * after + j. Copies
   it between F and `tile` (n x RG_VECTOR_TILE): runs of columns with the same b are contiguous
   in F. */
static void copy_tile(int n, size_t after, size_t first, int width, double *F, double *tile,
                      bool load)
{
  size_t b = first / after, j = first % after;

  for (int done = 0; done < width; b++, j = 0) {
    int run = after - j < (size_t)(width - done) ? (int)(after - j) : width - done;
    double *place = F + b * (size_t)n * after + j, *row = tile + done;
    for (int i = 0; i < n; i++, place += after, row += RG_VECTOR_TILE) {
      double *from = load ? place : row, *to = load ? row : place;
      if (run == RG_VECTOR_TILE) memcpy(to, from, RG_VECTOR_TILE * sizeof *to);
      else
        for (int q = 0; q < run; q++) to[q] = from[q];
    }
    done += run;
  }
}

void rg_grid_multiply(int before, int n, size_t after, const double *A, bool lower, double *F,
                      double *scratch)
{
  const RgVectorOps *ops = rg_vector_ops();
  size_t columns = (size_t)before * after;
  double *out = scratch + (size_t)n * RG_VECTOR_TILE;

  memset(scratch, 0, (size_t)n * RG_VECTOR_TILE * sizeof *scratch);
  for (size_t first = 0; first < columns; first += RG_VECTOR_TILE) {
    int width = columns - first < RG_VECTOR_TILE ? (int)(columns - first) : RG_VECTOR_TILE;
    copy_tile(n, after, first, width, F, scratch, true);
    if (width == RG_VECTOR_TILE && after - first % after >= RG_VECTOR_TILE) {
      /* The whole tile lies in one piece of F. */
      ops->multiply_tile(n, A, lower, scratch,
                         F + first / after * (size_t)n * after + first % after, after);
    } else {
      ops->multiply_tile(n, A, lower, scratch, out, RG_VECTOR_TILE);
      copy_tile(n, after, first, width, F, out, false);
    }
  }
}

/* Rows of L^-1 K(data, set), where L is the Cholesky factor of the data (rrgp_ucb 2.1), allocated
   in blocks of rows so that nothing is ever copied. */
#define ROWS_PER_BLOCK 32
/* Points done at a time, so that the result stays in cache while the rows stream past. */
#define POINTS 2048

typedef struct {
  size_t size, stride; /* N; distance of rows, N padded to whole cache lines */
  int n, n_blocks;     /* rows, blocks allocated */
  double **blocks;     /* ROWS_PER_BLOCK x stride each, and room to align them */
} Rows;

static double *row_of(const Rows *rows, int l)
{
  return rg_align(rows->blocks[l / ROWS_PER_BLOCK]) + (size_t)(l % ROWS_PER_BLOCK) * rows->stride;
}

static PetscErrorCode rows_create(const RgSetPrior *prior, int capacity, void **state)
{
  Rows *rows;

  PetscCall(PetscNew(&rows));
  rows->size = (size_t)prior->size;
  rows->stride = (size_t)rg_pad(prior->size);
  *state = rows;
  return 0;
}

static PetscErrorCode rows_destroy(void **state)
{
  Rows *rows = *state;

  for (int b = 0; b < rows->n_blocks; b++) PetscCall(PetscFree(rows->blocks[b]));
  return RG_FREE(&rows->blocks, state);
}

static PetscErrorCode rows_covariance(void *state, const RgSetPrior *prior, int index, double *out)
{
  const RgTileOps *ops = rg_tile_ops();
  const Rows *rows = state;
  double *c;

  rg_set_prior_row(prior, index, out);
  PetscCall(PetscMalloc1(rows->n, &c));
  for (int l = 0; l < rows->n; l++) c[l] = row_of(rows, l)[index];
  for (size_t j = 0; j < rows->size; j += POINTS) {
    for (int l = 0; l < rows->n; l += ROWS_PER_BLOCK) {
      ops->subtract_rows(PetscMin(ROWS_PER_BLOCK, rows->n - l), PetscMin(POINTS, rows->size - j),
                         c + l, row_of(rows, l) + j, rows->stride, out + j);
    }
  }
  return PetscFree(c);
}

static PetscErrorCode rows_push(void *state, double pivot, const double *row)
{
  Rows *rows = state;

  if (rows->n == rows->n_blocks * ROWS_PER_BLOCK) {
    PetscCall(RG_GROW(rows->n_blocks, rows->blocks));
    PetscCall(PetscMalloc1(ROWS_PER_BLOCK * rows->stride + 7, &rows->blocks[rows->n_blocks]));
    rows->n_blocks++;
  }
  PetscCall(PetscArraycpy(row_of(rows, rows->n), row, rows->size));
  rows->n++;
  return 0;
}

static void rows_pop(void *state, int m)
{
  ((Rows *)state)->n -= m;
}

const RgSetBackend rg_set_backend_rows = {.name = "rows",
                                          .create = rows_create,
                                          .destroy = rows_destroy,
                                          .covariance = rows_covariance,
                                          .push = rows_push,
                                          .pop = rows_pop};

#define CACHE_BYTES (1 << 20) /* row storage up to this size needs no structure */
#define FEW_POINTS 2048       /* product sets up to this size (100 to 400 rows) need no structure */

RgSetMethod rg_set_method_auto(double capacity, double size, bool additive, bool product)
{
  if (capacity * size * sizeof(double) <= CACHE_BYTES) return RG_SET_ROWS;
  if (additive) return RG_SET_ADDITIVE;
  return product && size > FEW_POINTS ? RG_SET_PRODUCT : RG_SET_ROWS;
}

/* The back end of the current kernel, its state empty. */
static PetscErrorCode prepare_backend(RgSetPosterior *posterior)
{
  const RgSetPrior *prior = &posterior->prior;
  const RgSetBackend *const of_method[] = {[RG_SET_ROWS] = &rg_set_backend_rows,
                                           [RG_SET_PRODUCT] = &rg_set_backend_product,
                                           [RG_SET_ADDITIVE] = &rg_set_backend_additive};
  RgSetMethod method = posterior->method;

  if (method == RG_SET_AUTO)
    method =
      rg_set_method_auto(posterior->capacity, prior->size, rg_set_backend_additive.applies(prior),
                         rg_set_backend_product.applies(prior));
  const RgSetBackend *backend = of_method[method];
  PetscCheck(!backend->applies || backend->applies(prior), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The %s representation does not apply to this kernel and set", backend->name);
  if (posterior->state) PetscCall(posterior->backend->destroy(&posterior->state));
  posterior->backend = backend;
  return backend->create(prior, posterior->capacity, &posterior->state);
}

/* Return to the prior. */
static void forget(RgSetPosterior *posterior)
{
  double diagonal = rg_kernel_diagonal(&posterior->prior.kernel);

  posterior->n = 0;
  for (int i = 0; i < posterior->prior.size; i++) {
    posterior->mean[i] = posterior->prior_mean;
    posterior->variance[i] = diagonal;
  }
}

PetscErrorCode rg_set_posterior_create(const RgDomain *domain, const RgKernel *kernel,
                                       double noise_variance, double mean, int capacity,
                                       RgSetPosterior **posterior)
{
  return rg_set_posterior_create_with(RG_SET_AUTO, domain, kernel, noise_variance, mean, capacity,
                                      posterior);
}

PetscErrorCode rg_set_posterior_create_with(RgSetMethod method, const RgDomain *domain,
                                            const RgKernel *kernel, double noise_variance,
                                            double mean, int capacity, RgSetPosterior **out)
{
  RgSetPosterior *posterior;

  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  PetscCall(PetscNew(&posterior));
  PetscCall(rg_set_prior_create(domain, kernel, &posterior->prior));
  const size_t size = (size_t)posterior->prior.size;
  PetscCall(PetscMalloc1(size, &posterior->mean));
  PetscCall(PetscMalloc1(size, &posterior->variance));
  PetscCall(PetscMalloc1(size, &posterior->row));
  posterior->noise_variance = noise_variance;
  posterior->prior_mean = mean;
  posterior->method = method;
  posterior->capacity = capacity;
  PetscCall(prepare_backend(posterior));
  forget(posterior);
  *out = posterior;
  return 0;
}

PetscErrorCode rg_set_posterior_destroy(RgSetPosterior **posterior)
{
  if (!*posterior) return 0;
  if ((*posterior)->state) PetscCall((*posterior)->backend->destroy(&(*posterior)->state));
  PetscCall(rg_set_prior_destroy(&(*posterior)->prior));
  return RG_FREE(&(*posterior)->mean, &(*posterior)->variance, &(*posterior)->row,
                 &(*posterior)->kept, posterior);
}

PetscErrorCode rg_set_posterior_reset(RgSetPosterior *posterior, const RgKernel *kernel,
                                      double noise_variance, double mean)
{
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  if (kernel) PetscCall(rg_set_prior_set_kernel(&posterior->prior, kernel));
  posterior->noise_variance = noise_variance;
  posterior->prior_mean = mean;
  PetscCall(prepare_backend(posterior));
  forget(posterior);
  for (int l = 0; l < posterior->n_listeners; l++)
    PetscCall(posterior->listeners[l].reset(posterior->listeners[l].closure, posterior));
  return 0;
}

/* rrgp_ucb 2.1, with row = cov(index, .)/pivot, pivot^2 = variance + noise. */
PetscErrorCode rg_set_posterior_append(RgSetPosterior *posterior, int index, double y,
                                       RgFailure *failure)
{
  const RgTileOps *ops = rg_tile_ops();
  int size = posterior->prior.size;
  double square;

  PetscCheck(index >= 0 && index < size, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Point %d of a set of %d", index, size);
  square = posterior->variance[index] + posterior->noise_variance;
  if (!isfinite(square) || !isfinite(y)) {
    rg_failure_set(failure, "Posterior update at point %d: variance %g, observation %g", index,
                   square, y);
    return 0;
  }
  posterior->n++;
  /* The value is already known exactly and without noise: the observation adds nothing. */
  double known = PETSC_MACHINE_EPSILON * rg_kernel_diagonal(&posterior->prior.kernel);
  if (square <= posterior->n * known) return 0;
  RgSetUpdate update = {.index = index, .y = y, .pivot = sqrt(square), .row = posterior->row};
  PetscCall(
    posterior->backend->covariance(posterior->state, &posterior->prior, index, posterior->row));
  update.step = (y - posterior->mean[index]) / update.pivot;
  ops->scale((size_t)size, 1.0 / update.pivot, posterior->row);
  for (int l = 0; l < posterior->n_listeners; l++)
    PetscCall(posterior->listeners[l].update(posterior->listeners[l].closure, posterior, &update));
  ops->absorb((size_t)size, update.step, posterior->row, posterior->mean, posterior->variance);
  PetscCall(posterior->backend->push(posterior->state, update.pivot, posterior->row));
  posterior->n_rows++;
  return 0;
}

PetscErrorCode rg_set_posterior_keep(RgSetPosterior *posterior)
{
  const size_t size = (size_t)posterior->prior.size;

  if (!posterior->kept) PetscCall(PetscMalloc1(2 * size, &posterior->kept));
  PetscCall(PetscArraycpy(posterior->kept, posterior->mean, size));
  PetscCall(PetscArraycpy(posterior->kept + size, posterior->variance, size));
  posterior->n_kept = posterior->n;
  posterior->n_rows = 0;
  for (int l = 0; l < posterior->n_listeners; l++)
    PetscCall(posterior->listeners[l].keep(posterior->listeners[l].closure));
  return 0;
}

PetscErrorCode rg_set_posterior_restore(RgSetPosterior *posterior)
{
  const size_t size = (size_t)posterior->prior.size;

  PetscCall(PetscArraycpy(posterior->mean, posterior->kept, size));
  PetscCall(PetscArraycpy(posterior->variance, posterior->kept + size, size));
  posterior->backend->pop(posterior->state, posterior->n_rows);
  posterior->n = posterior->n_kept;
  for (int l = 0; l < posterior->n_listeners; l++)
    PetscCall(posterior->listeners[l].restore(posterior->listeners[l].closure));
  return 0;
}

PetscErrorCode rg_set_posterior_follow(RgSetPosterior *posterior, const RgSetListener *listener)
{
  PetscCheck(posterior->n == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The posterior has %d observations already", posterior->n);
  PetscCheck(posterior->n_listeners < RG_SET_LISTENERS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than %d followers", RG_SET_LISTENERS);
  posterior->listeners[posterior->n_listeners++] = *listener;
  return listener->reset(listener->closure, posterior);
}

PetscErrorCode rg_set_posterior_covariance(const RgSetPosterior *posterior, int index, double *out)
{
  PetscCheck(index >= 0 && index < posterior->prior.size, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Point %d of a set of %d", index, posterior->prior.size);
  return posterior->backend->covariance(posterior->state, &posterior->prior, index, out);
}

static PetscErrorCode set_close(RgPosterior *posterior)
{
  return rg_set_posterior_destroy(&posterior->set);
}

static PetscErrorCode set_extend(RgPosterior *posterior, const RgObservations *data,
                                 RgFailure *failure)
{
  for (int i = 0; i < data->n && !failure->failed; i++)
    PetscCall(rg_set_posterior_append(posterior->set, data->index[i], data->y[i], failure));
  return 0;
}

static PetscErrorCode set_reset(RgPosterior *posterior, const RgObservations *data,
                                RgFailure *failure)
{
  PetscCall(rg_set_posterior_reset(posterior->set, &posterior->kernel, posterior->noise_variance,
                                   posterior->mean));
  return set_extend(posterior, data, failure);
}

static PetscErrorCode set_keep(RgPosterior *posterior)
{
  return rg_set_posterior_keep(posterior->set);
}

static PetscErrorCode set_restore(RgPosterior *posterior)
{
  return rg_set_posterior_restore(posterior->set);
}

const RgPosteriorOps rg_set_ops = {
  .name = "set",
  .close = set_close,
  .reset = set_reset,
  .extend = set_extend,
  .keep = set_keep,
  .pend = set_extend,
  .restore = set_restore,
};
