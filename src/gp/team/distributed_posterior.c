/* The distributed posterior: its lifetime and its data. */
#include "gp/team/distributed_internal.h"

#include <math.h>

#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"

static const double half_log_2pi = 0.91893853320467274178;

/* ---- life ---------------------------------------------------------------------------------- */

static PetscErrorCode reserve(RgDistributed *p, int capacity)
{
  const int block = p->grid.block;
  const size_t dim = (size_t)p->kernel.dim;

  PetscFunctionBeginUser;
  if (capacity <= p->capacity) PetscFunctionReturn(0);
  const size_t size = (size_t)capacity;
  PetscCall(PetscRealloc(size * dim * sizeof(double), &p->X));
  PetscCall(PetscRealloc(size * sizeof(double), &p->y));
  PetscCall(PetscRealloc(size * sizeof(double), &p->beta));
  PetscCall(PetscRealloc(size * sizeof(double), &p->alpha));
  if (p->L.grid) PetscCall(rg_block_matrix_grow(&p->L, p->n, capacity, capacity));
  else PetscCall(rg_block_matrix_create(&p->grid, capacity, capacity, block, block, &p->L));
  p->capacity = capacity;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_create(MPI_Comm comm, const RgKernel *kernel, double noise_variance,
                                     double mean, int capacity, int block,
                                     RgDistributed **posterior)
{
  RgDistributed *p;

  PetscFunctionBeginUser;
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  PetscCall(PetscNew(&p));
  PetscCall(rg_grid_create(comm, block, &p->grid));
  PetscCall(rg_kernel_copy(kernel, &p->kernel));
  p->noise_variance = noise_variance;
  p->mean = mean;
  PetscCall(reserve(p, PetscMax(capacity, 1)));
  *posterior = p;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_destroy(RgDistributed **posterior)
{
  RgDistributed *p = *posterior;

  PetscFunctionBeginUser;
  if (!p) PetscFunctionReturn(0);
  PetscCall(rg_block_matrix_destroy(&p->L));
  PetscCall(rg_block_matrix_destroy(&p->V));
  PetscCall(rg_kernel_destroy(&p->kernel));
  PetscCall(RG_FREE(&p->X, &p->y, &p->beta, &p->alpha, &p->Z_kept));
  PetscCall(rg_grid_destroy(&p->grid));
  PetscCall(PetscFree(*posterior));
  PetscFunctionReturn(0);
}

/* ---- data ---------------------------------------------------------------------------------- */

/* As in posterior.c: a squared pivot this small is rounding error. */
static double smallest_pivot(const RgDistributed *p)
{
  return p->n * PETSC_MACHINE_EPSILON * rg_kernel_diagonal(&p->kernel);
}

static PetscErrorCode factor(RgDistributed *p, double jitter, RgFailure *failure)
{
  bool good;

  PetscFunctionBeginUser;
  do {
    PetscCall(rg_block_matrix_kernel(&p->kernel, 0, p->n, p->X, p->noise_variance + jitter, &p->L));
    PetscCall(rg_block_matrix_cholesky(0, p->n, smallest_pivot(p), &p->L, &good, &p->log_det));
  } while (!good && rg_kernel_more_jitter(&p->kernel, p->n, &jitter, failure));
  if (!good) p->n = 0;
  p->jitter = jitter;
  PetscFunctionReturn(0);
}

/* beta = L^-1 (y - mean); its first `first` entries are already valid. */
static PetscErrorCode whiten_outputs(RgDistributed *p, int first)
{
  PetscFunctionBeginUser;
  const bool few = first > 0 && p->n - first <= RG_FEW_ROWS;
  for (int i = few ? first : 0; i < p->n; i++) p->beta[i] = p->y[i] - p->mean;
  if (few) PetscCall(rg_block_matrix_solve_rows(&p->L, first, p->n, p->beta));
  else PetscCall(rg_block_matrix_solve_all(&p->L, true, false, p->n, 1, p->beta));
  p->alpha_valid = false;
  p->m_kept = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_make_alpha(RgDistributed *p)
{
  PetscFunctionBeginUser;
  if (p->alpha_valid) PetscFunctionReturn(0);
  PetscCall(PetscArraycpy(p->alpha, p->beta, p->n));
  PetscCall(rg_block_matrix_solve_all(&p->L, false, true, p->n, 1, p->alpha));
  p->alpha_valid = true;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_set(RgDistributed *p, const RgKernel *kernel, double noise_variance,
                                  double mean, int n, const double *X, const double *y,
                                  RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  if (kernel) PetscCall(rg_kernel_assign(kernel, &p->kernel));
  p->noise_variance = noise_variance;
  p->mean = mean;
  p->n = 0;
  PetscCall(reserve(p, n));
  p->n = n;
  PetscCall(PetscArraycpy(p->X, X, (size_t)n * p->kernel.dim));
  PetscCall(PetscArraycpy(p->y, y, n));
  PetscCall(factor(p, 0.0, failure));
  PetscCall(whiten_outputs(p, 0));
  PetscFunctionReturn(0);
}

/* New rows of the factor from m new data. *good: all pivots are sound; the rows before are the same
   in any case. */
static PetscErrorCode append_rows(RgDistributed *p, int m, const double *X, const double *y,
                                  bool *good)
{
  const int before = p->n;

  PetscFunctionBeginUser;
  if (before + m > p->capacity) PetscCall(reserve(p, PetscMax(before + m, before + before / 4)));
  PetscCall(PetscArraycpy(p->X + (size_t)before * p->kernel.dim, X, (size_t)m * p->kernel.dim));
  PetscCall(PetscArraycpy(p->y + before, y, m));
  p->n = before + m;
  PetscCall(
    rg_block_matrix_kernel(&p->kernel, before, p->n, p->X, p->noise_variance + p->jitter, &p->L));
  PetscCall(rg_block_matrix_cholesky(before, p->n, smallest_pivot(p), &p->L, good, &p->log_det));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_append(RgDistributed *p, int m, const double *X, const double *y,
                                     RgFailure *failure)
{
  const int before = p->n;
  bool good;

  PetscFunctionBeginUser;
  if (m == 0) PetscFunctionReturn(0);
  PetscCall(append_rows(p, m, X, y, &good));
  if (!good) PetscCall(factor(p, p->jitter, failure));
  PetscCall(whiten_outputs(p, good ? before : 0));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_keep(RgDistributed *p)
{
  p->n_told = p->n;
  p->log_det_told = p->log_det;
  return 0;
}

PetscErrorCode rg_distributed_pend(RgDistributed *p, const double *x, double y)
{
  const int before = p->n;
  const double log_det = p->log_det;
  bool good;

  PetscFunctionBeginUser;
  PetscCall(append_rows(p, 1, x, &y, &good));
  if (good) {
    PetscCall(whiten_outputs(p, before));
    PetscFunctionReturn(0);
  }
  p->n = before;
  p->log_det = log_det;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_restore(RgDistributed *p)
{
  p->n = p->n_told;
  p->log_det = p->log_det_told;
  p->alpha_valid = false;
  p->m_kept = 0;
  return 0;
}

PetscErrorCode rg_distributed_set_outputs(RgDistributed *p, double mean, const double *y)
{
  PetscFunctionBeginUser;
  p->mean = mean;
  PetscCall(PetscArraycpy(p->y, y, p->n));
  PetscCall(whiten_outputs(p, 0));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_solve(RgDistributed *p, bool lower, bool upper, int m, double *B)
{
  return rg_block_matrix_solve_all(&p->L, lower, upper, p->n, m, B);
}

/* ---- state --------------------------------------------------------------------------------- */

int rg_distributed_dim(const RgDistributed *p)
{
  return p->kernel.dim;
}

int rg_distributed_size(const RgDistributed *p)
{
  return p->n;
}

double rg_distributed_jitter(const RgDistributed *p)
{
  return p->jitter;
}

double rg_distributed_log_likelihood(const RgDistributed *p)
{
  double squares = 0.0;
  for (int i = 0; i < p->n; i++) squares += p->beta[i] * p->beta[i];
  return -0.5 * squares - 0.5 * p->log_det - p->n * half_log_2pi;
}

double rg_distributed_bytes(const RgDistributed *p)
{
  return 8.0 * ((double)p->L.ld * p->L.local_columns + (double)p->V.ld * p->V.local_columns +
                (double)p->capacity * (p->kernel.dim + 3));
}

double rg_distributed_memory(int n, int dim, int ranks, bool fit)
{
  const double size = n, share = size * size / ranks;
  return 8.0 * (share * (fit ? 2 : 1) + 3.0 * size * RG_DISTRIBUTED_BLOCK + size * (2.0 * dim + 6));
}
