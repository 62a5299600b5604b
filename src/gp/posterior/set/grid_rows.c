/* Rows of a product grid from the tables of its axes. */
#include "gp/posterior/set/grid_rows.h"

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

      if (run == RG_VECTOR_TILE) {
        memcpy(to, from, RG_VECTOR_TILE * sizeof *to);
      } else {
        for (int q = 0; q < run; q++) to[q] = from[q];
      }
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
