/* Domains: their parts, and the conversion between the unit cube and native units. */
#include "base/grow.h"
#include "base/inputs.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* A coordinate at most this far outside [0,1] is rounding; farther out, the bounds are wrong. */
#define RG_UNIT_SLACK 1e-12

static PetscErrorCode space_start(RgSpace *space, RgSpaceKind kind, int dim)
{
  PetscCheck(dim >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "dimension %d", dim);
  memset(space, 0, sizeof *space);
  space->kind = kind;
  space->dim = dim;
  PetscCall(PetscMalloc1((size_t)dim, &space->lower));
  return PetscMalloc1((size_t)dim, &space->upper);
}

static double to_unit(double native, double lower, double upper)
{
  return upper > lower ? (native - lower) / (upper - lower) : 0.5;
}

/* Interpolate; exact at both ends and for a constant column. */
static double to_native(double unit, double lower, double upper)
{
  return (1.0 - unit) * lower + unit * upper;
}

/* Bounds of coordinate j: the given bounds, or the extremes of n native values `stride` apart. */
static PetscErrorCode space_bounds(RgSpace *space, int j, const double *lower, const double *upper,
                                   int n, int stride, const double *values)
{
  double low = INFINITY, high = -INFINITY;

  for (int i = 0; i < n; i++) {
    double value = values[(size_t)i * stride];
    PetscCheck(isfinite(value), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "coordinate %d of point %d is not finite", j, i);
    low = fmin(low, value);
    high = fmax(high, value);
  }
  space->lower[j] = lower ? lower[j] : low;
  space->upper[j] = upper ? upper[j] : high;
  PetscCheck(isfinite(space->lower[j]) && isfinite(space->upper[j]) &&
               space->lower[j] <= space->upper[j],
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "bounds [%g, %g] of coordinate %d",
             space->lower[j], space->upper[j], j);
  return 0;
}

/* Convert a native coordinate to [0,1]; an error if it lies outside the bounds. */
static PetscErrorCode space_scale(const RgSpace *space, int j, double native, double *unit)
{
  double u = to_unit(native, space->lower[j], space->upper[j]);

  PetscCheck(u >= -RG_UNIT_SLACK && u <= 1.0 + RG_UNIT_SLACK, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "value %g of coordinate %d is outside its bounds [%g, %g]",
             native, j, space->lower[j], space->upper[j]);
  *unit = fmin(fmax(u, 0.0), 1.0);
  return 0;
}

PetscErrorCode rg_space_box(RgSpace *space, int dim, const double *lower, const double *upper)
{
  PetscCall(space_start(space, RG_SPACE_BOX, dim));
  for (int j = 0; j < dim; j++) {
    PetscCheck(isfinite(lower[j]) && isfinite(upper[j]) && lower[j] < upper[j], PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE, "bounds [%g, %g] of coordinate %d", lower[j], upper[j], j);
    space->lower[j] = lower[j];
    space->upper[j] = upper[j];
  }
  return 0;
}

PetscErrorCode rg_space_cube(RgSpace *space, int dim, double lower, double upper)
{
  double *bounds;

  PetscCall(PetscMalloc1(2 * (size_t)dim, &bounds));
  for (int j = 0; j < dim; j++) {
    bounds[j] = lower;
    bounds[dim + j] = upper;
  }
  PetscCall(rg_space_box(space, dim, bounds, bounds + dim));
  return PetscFree(bounds);
}

PetscErrorCode rg_space_set(RgSpace *space, int dim, int size, const double *points,
                            const double *lower, const double *upper)
{
  PetscCheck(size >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "a set of %d points", size);
  PetscCall(space_start(space, RG_SPACE_SET, dim));
  space->size = size;
  PetscCall(PetscMalloc1((size_t)size * dim, &space->points));
  for (int j = 0; j < dim; j++)
    PetscCall(space_bounds(space, j, lower, upper, size, dim, points + j));
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < dim; j++) {
      size_t at = (size_t)i * dim + j;
      PetscCall(space_scale(space, j, points[at], &space->points[at]));
    }
  }
  return 0;
}

PetscErrorCode rg_space_grid(RgSpace *space, int dim, const int *levels, const double *axes,
                             const double *lower, const double *upper)
{
  size_t total = 0, size = 1;

  for (int j = 0; j < dim; j++) {
    PetscCheck(levels[j] >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%d levels", levels[j]);
    total += (size_t)levels[j];
    size *= (size_t)levels[j];
    PetscCheck(size <= INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "the grid is too big");
  }
  PetscCall(space_start(space, RG_SPACE_GRID, dim));
  space->size = (int)size;
  PetscCall(PetscMalloc1((size_t)dim, &space->levels));
  PetscCall(PetscMalloc1(total, &space->axes));
  PetscCall(PetscMalloc1(size * dim, &space->points));
  memcpy(space->levels, levels, (size_t)dim * sizeof *levels);
  for (int j = 0, offset = 0; j < dim; offset += levels[j], j++) {
    PetscCall(space_bounds(space, j, lower, upper, levels[j], 1, axes + offset));
    for (int i = offset; i < offset + levels[j]; i++)
      PetscCall(space_scale(space, j, axes[i], &space->axes[i]));
  }
  size_t repeat = size, offset = 0; /* the last coordinate changes fastest */
  for (int j = 0; j < dim; offset += (size_t)levels[j++]) {
    repeat /= (size_t)levels[j];
    for (size_t i = 0; i < size; i++)
      space->points[i * dim + j] = space->axes[offset + i / repeat % levels[j]];
  }
  return 0;
}

PetscErrorCode rg_space_destroy(RgSpace *space)
{
  if (space->inputs) PetscCall(rg_inputs_clear(space->dim, space->inputs));
  PetscCall(RG_FREE(&space->inputs, &space->lower, &space->upper, &space->points, &space->levels,
                    &space->axes));
  memset(space, 0, sizeof *space);
  return 0;
}

PetscErrorCode rg_domain_destroy(RgDomain *domain)
{
  PetscCall(rg_space_destroy(&domain->design));
  PetscCall(rg_space_destroy(&domain->context));
  PetscCall(RG_FREE(&domain->context_prob, &domain->measure));
  PetscCall(rg_names_free(domain->n_scores, &domain->scores));
  PetscCall(rg_names_free(domain->n_laws, &domain->laws));
  PetscCall(rg_names_free(domain->n_constraints, &domain->constraints));
  memset(domain, 0, sizeof *domain);
  return 0;
}

PetscErrorCode rg_domain_constrain(RgDomain *domain, int n, const char *const *names)
{
  domain->n_constraints = n;
  return rg_names_copy(n, names, &domain->constraints);
}

PetscErrorCode rg_domain_state_laws(RgDomain *domain, int n, const char *const *laws)
{
  domain->n_laws = n;
  return rg_names_copy(n, laws, &domain->laws);
}

static bool is_log(const RgSpace *space, int j)
{
  return space->inputs && space->inputs[j].log;
}

/* The native value of coordinate j; exact at both ends. */
static double native_of(const RgSpace *space, int j, double unit)
{
  const double lower = space->lower[j], upper = space->upper[j];

  if (!is_log(space, j)) return to_native(unit, lower, upper);
  if (unit <= 0 || unit >= 1) return unit <= 0 ? lower : upper;
  return fmin(fmax(exp(to_native(unit, log(lower), log(upper))), lower), upper);
}

void rg_space_to_native(const RgSpace *space, const double *unit, double *native)
{
  for (int j = 0; j < space->dim; j++) native[j] = native_of(space, j, unit[j]);
}

void rg_space_to_unit(const RgSpace *space, const double *native, double *unit)
{
  for (int j = 0; j < space->dim; j++)
    unit[j] = is_log(space, j) ? to_unit(log(native[j]), log(space->lower[j]), log(space->upper[j]))
                               : to_unit(native[j], space->lower[j], space->upper[j]);
}

double rg_space_middle(const RgSpace *space, int j)
{
  return native_of(space, j, 0.5);
}

double rg_space_slope(const RgSpace *space, int j, double native)
{
  return is_log(space, j) ? native * log(space->upper[j] / space->lower[j])
                          : space->upper[j] - space->lower[j];
}
