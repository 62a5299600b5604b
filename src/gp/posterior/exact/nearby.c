/* Predictions from the data near the candidates. */
#include "gp/posterior/exact/nearby.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/exact/exact.h"
#include "maths/blas.h"

#include <math.h>

/* S = F'F + shift I = N N', column-major, in place. */
static PetscErrorCode gram_factor(const RgKernelPivots *pivots, double shift, double *N, bool *good)
{
  const int n = pivots->n, r = pivots->rank;

  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, r, n, 1.0, pivots->F, n, 0.0, N, r);
  for (int k = 0; k < r; k++) N[(size_t)k * r + k] += shift;
  *good = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, N, r) == 0;
  return 0;
}

/* L: factor of K_PP + v E E'; scratch: r x r. */
static PetscErrorCode pseudo_factor(const RgKernelPivots *pivots, double noise, double *scratch,
                                    int ld, double *L, bool *good)
{
  const int r = pivots->rank;
  double *E;

  PetscCall(gram_factor(pivots, 0.0, scratch, good));
  if (!*good) return 0;
  PetscCall(PetscMalloc1((size_t)r * r, &E));
  PetscCall(PetscArraycpy(E, pivots->lower, (size_t)r * r));
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, r, 1.0, E, r, 0.0, L, ld);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, r, r, 1.0, scratch,
              r, E, r);
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, r, noise, E, r, 1.0, L, ld);
  PetscCall(PetscFree(E));
  *good = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, L, ld) == 0;
  return 0;
}

/* beta = L' a, a = K_PP's factor^-T (v I + F'F)^-1 F' (y - mean). */
static PetscErrorCode pseudo_outputs(const RgPosterior *posterior, const RgKernelPivots *pivots,
                                     double noise, double *scratch, RgPosterior *projected,
                                     bool *good)
{
  const int n = pivots->n, r = pivots->rank;
  double *residual, *beta = projected->beta;

  PetscCall(gram_factor(pivots, noise, scratch, good));
  if (!*good) return 0;
  PetscCall(PetscMalloc1(n, &residual));
  for (int i = 0; i < n; i++) residual[i] = posterior->y[i] - posterior->mean;
  cblas_dgemv(CblasColMajor, CblasTrans, n, r, 1.0, pivots->F, n, residual, 1, 0.0, beta, 1);
  LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', r, 1, scratch, r, beta, r);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, pivots->lower, r, beta, 1);
  cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, projected->L,
              projected->capacity, beta, 1);
  return PetscFree(residual);
}

PetscErrorCode rg_posterior_project(const RgPosterior *posterior, double tolerance,
                                    RgPosterior *projected, bool *made)
{
  const double noise = posterior->noise_variance + posterior->jitter;
  const size_t dim = (size_t)posterior->kernel.dim;
  const int n = posterior->n, most = 2 * n / 3;
  RgKernelPivots pivots;
  double *scratch;

  *made = rg_posterior_has_factor(posterior) && most > 0;
  if (!*made) return 0;
  PetscCall(rg_kernel_pivots_create(&posterior->kernel, n, posterior->X, tolerance, most, &pivots));
  *made = pivots.rest <= tolerance;
  if (*made) {
    const int r = pivots.rank;
    PetscCall(
      rg_posterior_create(&posterior->kernel, noise, posterior->mean, rg_pad(r), projected));
    projected->n = r;
    for (int k = 0; k < r; k++)
      PetscCall(PetscArraycpy(projected->X + k * dim, posterior->X + pivots.pivot[k] * dim, dim));
    PetscCall(PetscMalloc1((size_t)r * r, &scratch));
    PetscCall(pseudo_factor(&pivots, noise, scratch, projected->capacity, projected->L, made));
    if (*made) PetscCall(pseudo_outputs(posterior, &pivots, noise, scratch, projected, made));
    PetscCall(PetscFree(scratch));
    if (!*made) PetscCall(rg_posterior_destroy(projected));
  }
  return rg_kernel_pivots_destroy(&pivots);
}

/* Candidates of a tile. Fewer data are near 8 candidates than near RG_TILE, so a search takes two
   thirds of the time. */
#define NEAR_TILE RG_LANES
#define REACH_STEPS 20 /* bisections of the distance beyond which no covariance counts */

/* Numbers of the m points by their last input, and the points in this order. last: m, scratch. */
static PetscErrorCode sort_points(int m, int dim, const double *Z, double *last, PetscInt *order,
                                  double *sorted)
{
  for (int j = 0; j < m; j++) {
    last[j] = Z[(size_t)j * dim + dim - 1];
    order[j] = j;
  }
  PetscCall(PetscSortRealWithPermutation(m, last, order));
  for (int j = 0; j < m; j++)
    for (int k = 0; k < dim; k++) sorted[(size_t)j * dim + k] = Z[(size_t)order[j] * dim + k];
  return 0;
}

/* Distance in the last input alone beyond which no covariance counts; infinity if it is more than
   the box, or if the covariance may rise again with the distance (periodic factors). */
static PetscErrorCode find_reach(const RgKernel *kernel, double least, double *reach)
{
  const int dim = kernel->dim;
  double *points, k, low = 0.0, high = 1.0;
  bool falls = true;

  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++)
      falls = falls && rg_kernel_classes[kernel->terms[t].factors[f].family]->columns == 1;
  PetscCall(PetscCalloc1(2 * (size_t)dim, &points));
  for (int i = 0; i <= REACH_STEPS; i++) {
    const double distance = i ? 0.5 * (low + high) : high;
    points[2 * dim - 1] = distance;
    PetscCall(rg_kernel_cross(kernel, 1, points, 1, points + dim, &k));
    if (k < least) high = distance;
    else low = distance;
  }
  *reach = falls && low < 1.0 ? high : INFINITY;
  return PetscFree(points);
}

/* P from the inverted factor, and alpha, in the order of the sorted data. */
static PetscErrorCode fill_precision(RgPosterior *posterior, const PetscInt *order,
                                     RgNearby *nearby)
{
  const size_t n = (size_t)posterior->n, ld = (size_t)rg_pad(posterior->n);
  double *lower;

  PetscCall(rg_exact_invert(posterior));
  rg_exact_solve(posterior);
  PetscCall(PetscMalloc1(n * n, &lower));
  PetscCall(rg_factor_inverse_product((int)n, posterior->inverse, posterior->capacity, lower));
  for (size_t a = 0; a < n; a++) {
    const size_t i = (size_t)order[a];
    nearby->alpha[a] = posterior->alpha[i];
    for (size_t b = 0; b < n; b++) {
      const size_t j = (size_t)order[b];
      nearby->precision[a * ld + b] = lower[i > j ? i * n + j : j * n + i];
    }
  }
  return PetscFree(lower);
}

PetscErrorCode rg_nearby_create(RgPosterior *posterior, double tolerance, RgNearby *nearby)
{
  const RgKernel *kernel = &posterior->kernel;
  const int dim = kernel->dim;
  const size_t n = (size_t)posterior->n, columns = (size_t)rg_kernel_n_columns(kernel);
  const size_t padded = (size_t)rg_pad(posterior->n);
  double *sorted, *last;
  PetscInt *order;

  *nearby = (RgNearby){.posterior = posterior, .least = tolerance * rg_kernel_diagonal(kernel)};
  PetscCall(PetscCalloc6(padded * padded, &nearby->precision, padded * columns, &nearby->data,
                         padded, &nearby->alpha, n, &nearby->at, NEAR_TILE * columns, &nearby->B,
                         rg_kernel_tile_scratch(kernel, NEAR_TILE), &nearby->scratch));
  PetscCall(PetscMalloc3(n * dim, &sorted, n, &last, n, &order));
  PetscCall(sort_points((int)n, dim, posterior->X, last, order, sorted));
  rg_kernel_scale_points(kernel, (int)n, sorted, nearby->data);
  PetscCall(fill_precision(posterior, order, nearby));
  for (size_t a = 0; a < n; a++) nearby->at[a] = sorted[(a + 1) * dim - 1];
  PetscCall(find_reach(kernel, nearby->least, &nearby->reach));
  return PetscFree3(sorted, last, order);
}

static PetscErrorCode free_tiles(RgNearby *nearby)
{
  PetscCall(PetscFree5(nearby->order, nearby->last, nearby->sorted, nearby->first, nearby->end));
  return PetscFree3(nearby->k, nearby->Pk, nearby->slope);
}

PetscErrorCode rg_nearby_destroy(RgNearby *nearby)
{
  PetscCall(PetscFree6(nearby->precision, nearby->data, nearby->alpha, nearby->at, nearby->B,
                       nearby->scratch));
  PetscCall(free_tiles(nearby));
  *nearby = (RgNearby){0};
  return 0;
}

static size_t tile_size(const RgNearby *nearby)
{
  return (size_t)rg_pad(nearby->posterior->n) * NEAR_TILE;
}

/* Distance between the slopes of two factors. */
static size_t slope_stride(const RgNearby *nearby)
{
  return (size_t)nearby->room * tile_size(nearby);
}

static PetscErrorCode reserve(RgNearby *nearby, int tiles)
{
  const RgKernel *kernel = &nearby->posterior->kernel;
  const size_t m = (size_t)tiles * NEAR_TILE, factors = (size_t)rg_kernel_n_factors(kernel);

  if (tiles <= nearby->room) return 0;
  PetscCall(free_tiles(nearby));
  nearby->room = tiles;
  const size_t size = slope_stride(nearby);
  PetscCall(PetscMalloc5(m, &nearby->order, m, &nearby->last, m * kernel->dim, &nearby->sorted,
                         tiles, &nearby->first, tiles, &nearby->end));
  return PetscMalloc3(size, &nearby->k, size, &nearby->Pk, factors * size, &nearby->slope);
}

static bool counts(double least, const double *row)
{
  bool any = false;

  for (int c = 0; c < NEAR_TILE; c++) any = any || fabs(row[c]) >= least;
  return any;
}

/* Find the data that may count for a tile, from their last inputs. The range begins at a multiple
   of 8, and has a multiple of 8 data or ends with the last one. */
static void find_window(const RgNearby *nearby, int tile, int *first, int *end)
{
  const int dim = nearby->posterior->kernel.dim, n = nearby->posterior->n;
  const int from = tile * NEAR_TILE, to = PetscMin(from + NEAR_TILE, nearby->m) - 1;
  const double least = nearby->sorted[(size_t)(from + 1) * dim - 1] - nearby->reach;
  const double most = nearby->sorted[(size_t)(to + 1) * dim - 1] + nearby->reach;
  int i = 0, j;

  while (i < n && nearby->at[i] < least) i++;
  for (j = i; j < n && nearby->at[j] <= most;) j++;
  *first = i - i % RG_LANES;
  *end = PetscMin(*first + rg_pad(j - *first), n);
}

/* Scale the candidates of a tile; returns their number. */
static int scale_candidates(RgNearby *nearby, int tile)
{
  const RgKernel *kernel = &nearby->posterior->kernel;
  const int from = tile * NEAR_TILE, count = PetscMin(NEAR_TILE, nearby->m - from);

  rg_kernel_scale_tile(kernel, count, nearby->sorted + (size_t)from * kernel->dim, NEAR_TILE,
                       nearby->B);
  return count;
}

/* k of one tile, the data that count, and P k of these. */
static void fill_tile(RgNearby *nearby, int tile, bool values_only)
{
  const int n = nearby->posterior->n;
  const size_t at = (size_t)tile * tile_size(nearby);
  double *k = nearby->k + at;
  const size_t ld = (size_t)rg_pad(n);
  const int columns = rg_kernel_n_columns(&nearby->posterior->kernel);
  int first, end;

  find_window(nearby, tile, &first, &end);
  const size_t begin = (size_t)first * NEAR_TILE;
  rg_kernel_tile(rg_tile_ops(), &nearby->posterior->kernel, end - first,
                 nearby->data + (size_t)first * columns, nearby->B, NEAR_TILE, k + begin,
                 values_only ? NULL : nearby->slope + at + begin, slope_stride(nearby),
                 nearby->scratch);
  while (first < end && !counts(nearby->least, k + (size_t)first * NEAR_TILE)) first++;
  while (end > first && !counts(nearby->least, k + (size_t)(end - 1) * NEAR_TILE)) end--;
  first -= first % RG_LANES;
  end = first + rg_pad(end - first);
  for (int i = n * NEAR_TILE; i < end * NEAR_TILE; i++) k[i] = 0.0;
  nearby->first[tile] = first;
  nearby->end[tile] = end;
  const size_t corner = (size_t)first * NEAR_TILE;
  rg_tile_ops()->symmetric(end - first, nearby->precision + first * ld + (size_t)first, ld,
                           NEAR_TILE, k + corner, nearby->Pk + at + corner);
}

PetscErrorCode rg_nearby_predict(RgNearby *nearby, int m, const double *Z, bool values_only,
                                 double *mean, double *variance)
{
  const RgPosterior *posterior = nearby->posterior;
  const int tiles = (m + NEAR_TILE - 1) / NEAR_TILE;
  const double diagonal = rg_kernel_diagonal(&posterior->kernel);

  PetscCall(reserve(nearby, tiles));
  nearby->m = m;
  PetscCall(sort_points(m, posterior->kernel.dim, Z, nearby->last, nearby->order, nearby->sorted));
  for (int t = 0; t < tiles; t++) {
    const int count = scale_candidates(nearby, t);
    const size_t at = (size_t)t * tile_size(nearby);
    double sum[NEAR_TILE] = {0}, squares[NEAR_TILE] = {0}; /* alpha' k and k' P k */
    fill_tile(nearby, t, values_only);
    for (int i = nearby->first[t]; i < nearby->end[t]; i++) {
      const double *k = nearby->k + at + (size_t)i * NEAR_TILE;
      const double *Pk = nearby->Pk + at + (size_t)i * NEAR_TILE;
      for (int c = 0; c < NEAR_TILE; c++) {
        sum[c] += nearby->alpha[i] * k[c];
        squares[c] += k[c] * Pk[c];
      }
    }
    for (int c = 0; c < count; c++) {
      const PetscInt j = nearby->order[t * NEAR_TILE + c];
      mean[j] = posterior->mean + sum[c];
      variance[j] = PetscMax(diagonal - squares[c], 0.0);
    }
  }
  return 0;
}

PetscErrorCode rg_nearby_gradient(RgNearby *nearby, int m, const double *mean_bar,
                                  const double *variance_bar, double *G)
{
  const RgKernel *kernel = &nearby->posterior->kernel;
  const RgTileOps *ops = rg_tile_ops();
  const size_t dim = (size_t)kernel->dim, columns = (size_t)rg_kernel_n_columns(kernel);
  double *g, *U, *rows;

  PetscCheck(m == nearby->m, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d points, %d predicted", m,
             nearby->m);
  PetscCall(PetscMalloc3(columns * NEAR_TILE, &g, tile_size(nearby), &U, dim * NEAR_TILE, &rows));
  for (int t = 0; t * NEAR_TILE < m; t++) {
    const PetscInt *order = nearby->order + t * NEAR_TILE;
    const int count = scale_candidates(nearby, t);
    double p[NEAR_TILE] = {0}, q[NEAR_TILE] = {0};
    for (int c = 0; c < count; c++) {
      p[c] = mean_bar[order[c]];
      q[c] = -2.0 * variance_bar[order[c]];
    }
    const int first = nearby->first[t],
              near = PetscMin(nearby->end[t], nearby->posterior->n) - first;
    const size_t corner = (size_t)t * tile_size(nearby) + (size_t)first * NEAR_TILE;
    PetscCall(PetscArrayzero(g, columns * NEAR_TILE)); /* in scaled coordinates, halved */
    ops->combine(near, NEAR_TILE, nearby->alpha + first, p, nearby->Pk + corner, q, U);
    rg_kernel_tile_gradient(ops, kernel, near, nearby->data + first * columns, nearby->B, NEAR_TILE,
                            U, nearby->slope + corner, slope_stride(nearby), g);
    PetscCall(rg_kernel_unscale_gradient(kernel, count, nearby->sorted + t * NEAR_TILE * dim, g,
                                         NEAR_TILE, rows));
    for (int c = 0; c < count; c++)
      PetscCall(PetscArraycpy(G + (size_t)order[c] * dim, rows + c * dim, dim));
  }
  return PetscFree3(g, U, rows);
}
