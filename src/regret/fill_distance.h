/* How well points fill the unit cube (boke 5, 7.5). */
#ifndef RG_REGRET_FILL_DISTANCE_H
#define RG_REGRET_FILL_DISTANCE_H

#include "regatta/algorithm.h"

#define RG_FILL_MAX_DIM 10

/* Points of the cube with their distances to a growing design. */
typedef struct {
  int dim, n, capacity; /* n: points of the design */
  double *points;       /* capacity x dim: the design */
  int m;                /* evaluation points; 0 in one dimension */
  double *grid;         /* dim x m, coordinate after coordinate: Sobol points and corners */
  double *nearest;      /* m: squared distance to the design */
} RgFill;

/* An empty design; room for `capacity` points. In more than one dimension distances are kept for
   2^14 Sobol points (2^16 above three dimensions) and the 2^dim corners. Errors:
   PETSC_ERR_ARG_OUTOFRANGE unless 1 <= dim <= RG_FILL_MAX_DIM. */
PetscErrorCode rg_fill_create(int dim, int capacity, RgFill *fill);
PetscErrorCode rg_fill_destroy(RgFill *fill);
/* One more point x (dim). O(m dim). */
PetscErrorCode rg_fill_append(RgFill *fill, const double *x);

/* sup over the cube of the distance to the nearest point; n >= 1. Exact in one dimension, else the
   20 best evaluation points are improved by a compass search (steps down to 1e-9): a lower bound,
   in the plane within some 1e-4 (a compass search may end on a ridge). O(m + n dim) per value. */
double rg_fill_distance(const RgFill *fill);

/* Fill distance of the queries so far, after each of them (distance: history->n, out); of fresh
   designs for methods that make such (RgAlgorithmClass.design). */
PetscErrorCode rg_fill_of_queries(RgAlgorithm *algorithm, const RgHistory *history,
                                  double *distance);

/* Lower bound for every design of n points: balls of that radius must cover the cube,
   (n V_d)^(-1/d) with V_d the volume of the unit ball. */
double rg_fill_covering_bound(double n, int dim);

#endif
