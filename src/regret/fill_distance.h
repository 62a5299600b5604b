/* The fill distance of points in the unit cube (boke 5, 7.5). */
#ifndef RG_REGRET_FILL_DISTANCE_H
#define RG_REGRET_FILL_DISTANCE_H

#include "regatta/algorithm.h"

#define RG_FILL_MAX_DIM 10

/* Evaluation points in the cube, and their distances to a growing design. */
typedef struct {
  int dim, n, capacity; /* n: number of points in the design */
  double *points;       /* capacity x dim: the design */
  int m;                /* number of evaluation points; 0 in one dimension */
  double *grid;         /* dim x m, one coordinate after another: Sobol points and corners */
  double *nearest;      /* m: squared distances to the design */
} RgFill;

/* Create an empty design with room for `capacity` points. In more than one dimension the
   structure keeps distances for 2^14 Sobol points (2^16 above three dimensions) and the 2^dim
   corners. Errors: PETSC_ERR_ARG_OUTOFRANGE unless 1 <= dim <= RG_FILL_MAX_DIM. */
PetscErrorCode rg_fill_create(int dim, int capacity, RgFill *fill);
PetscErrorCode rg_fill_destroy(RgFill *fill);
/* Append a point x (dim). O(m dim). */
PetscErrorCode rg_fill_append(RgFill *fill, const double *x);

/* Supremum over the cube of the distance to the nearest point; n >= 1. Exact in one dimension.
   Otherwise a lower bound: a compass search (steps down to 1e-9) improves the 20 best evaluation
   points. In the plane the error is about 1e-4, because the search may end on a ridge. O(m + n
   dim) per value. */
double rg_fill_distance(const RgFill *fill);

/* Fill distances after each query (distance: history->n, out). Methods with
   RgAlgorithmClass.design are measured by that design. */
PetscErrorCode rg_fill_of_queries(RgAlgorithm *algorithm, const RgHistory *history,
                                  double *distance);

/* A lower bound for every design of n points: balls of that radius must cover the cube, (n
   V_d)^(-1/d) with V_d the volume of the unit ball. */
double rg_fill_covering_bound(double n, int dim);

#endif
