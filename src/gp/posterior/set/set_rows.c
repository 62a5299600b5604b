/* Rows of the posterior covariance without structure. */
#include "gp/posterior/set/set_backend.h"
#include "base/grow.h"
#include "gp/kernel/tiles.h"

/* Rows of L^-1 K(data, set), where L is the Cholesky factor of the data (rrgp_ucb 2.1), allocated
   in blocks of rows so that nothing is ever copied. */
#define ROWS_PER_BLOCK 32
/* Points done at a time, so that the result stays in cache while the rows stream past. */
#define POINTS 2048

typedef struct {
  size_t size, stride;      /* N; distance of rows, N padded to whole cache lines */
  int n;                    /* rows held */
  int n_blocks, max_blocks; /* blocks allocated; room in the array of blocks */
  double **blocks;          /* ROWS_PER_BLOCK x stride each, and room to align them */
} Rows;

static double *row_of(const Rows *rows, int l)
{
  return rg_align(rows->blocks[l / ROWS_PER_BLOCK]) + (size_t)(l % ROWS_PER_BLOCK) * rows->stride;
}

static PetscErrorCode rows_create(const RgSetPrior *prior, int capacity, void **state)
{
  Rows *rows;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&rows));
  rows->size = (size_t)prior->size;
  rows->stride = (size_t)rg_pad(prior->size);
  rows->max_blocks = capacity / ROWS_PER_BLOCK + 1;
  PetscCall(PetscCalloc1(rows->max_blocks, &rows->blocks));
  *state = rows;
  PetscFunctionReturn(0);
}

static PetscErrorCode rows_destroy(void **state)
{
  Rows *rows = *state;

  PetscFunctionBeginUser;
  for (int b = 0; b < rows->n_blocks; b++) PetscCall(PetscFree(rows->blocks[b]));
  PetscCall(RG_FREE(&rows->blocks, &rows));
  *state = NULL;
  PetscFunctionReturn(0);
}

static PetscErrorCode rows_reset(void *state, const RgSetPrior *prior)
{
  (void)prior;
  PetscFunctionBeginUser;
  ((Rows *)state)->n = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode rows_covariance(void *state, const RgSetPrior *prior, int index, double *out)
{
  const RgTileOps *ops = rg_tile_ops();
  const Rows *rows = state;
  double *c;

  PetscFunctionBeginUser;
  rg_set_prior_row(prior, index, out);
  PetscCall(PetscMalloc1(rows->n, &c));
  for (int l = 0; l < rows->n; l++) c[l] = row_of(rows, l)[index];
  for (size_t j = 0; j < rows->size; j += POINTS) {
    for (int l = 0; l < rows->n; l += ROWS_PER_BLOCK) {
      ops->subtract_rows(PetscMin(ROWS_PER_BLOCK, rows->n - l), PetscMin(POINTS, rows->size - j),
                         c + l, row_of(rows, l) + j, rows->stride, out + j);
    }
  }
  PetscCall(PetscFree(c));
  PetscFunctionReturn(0);
}

static PetscErrorCode rows_push(void *state, const RgSetPrior *prior, int index, double pivot,
                                const double *row)
{
  Rows *rows = state;

  (void)prior;
  (void)index;
  (void)pivot;
  PetscFunctionBeginUser;
  if (rows->n == rows->n_blocks * ROWS_PER_BLOCK) {
    if (rows->n_blocks == rows->max_blocks) {
      double **more;

      PetscCall(PetscCalloc1(2 * rows->max_blocks, &more));
      PetscCall(PetscArraycpy(more, rows->blocks, rows->n_blocks));
      PetscCall(PetscFree(rows->blocks));
      rows->blocks = more;
      rows->max_blocks *= 2;
    }
    PetscCall(PetscMalloc1(ROWS_PER_BLOCK * rows->stride + 7, &rows->blocks[rows->n_blocks]));
    rows->n_blocks++;
  }
  PetscCall(PetscArraycpy(row_of(rows, rows->n), row, rows->size));
  rows->n++;
  PetscFunctionReturn(0);
}

static void rows_pop(void *state, int m)
{
  ((Rows *)state)->n -= m;
}

const RgSetBackend rg_set_backend_rows = {
  "rows", NULL, rows_create, rows_destroy, rows_reset, rows_covariance, rows_push, rows_pop};
