/* Predictions from the data near the candidates, for length scales so short that most covariances
   vanish. With P = (K + v I)^-1 over the data, the candidate z has
   mean m + k' P (y - m) and variance k(z,z) - k' P k,
   and data take part only if their covariance with a candidate of the same tile counts. Data and
   candidates are sorted by their last input, so that the near data of a tile are neighbours: a
   candidate costs near^2 instead of n^2, and its gradient little more. P is less accurate than the
   factor, by the condition of K + v I. */
#ifndef RG_GP_POSTERIOR_EXACT_NEARBY_H
#define RG_GP_POSTERIOR_EXACT_NEARBY_H

#include "gp/posterior/posterior.h"

typedef struct {
  RgPosterior *posterior; /* borrowed; must not change while this object lives */
  double least;           /* covariances below this count as zero */
  /* n x n: P of the sorted data; as the next two, padded with zeros to a multiple of 8 */
  double *precision;
  double *data;      /* n x columns: the data sorted by last input, divided by the length scales */
  double *alpha;     /* n: P (y - m) */
  double *at, reach; /* n: their last inputs; the distance of these beyond which no datum counts */
  /* The last prediction, whose candidates form tiles: */
  int m, room;           /* candidates; tiles that the arrays have room for */
  PetscInt *order;       /* candidates by their last input */
  double *last, *sorted; /* their last inputs; candidates in that order */
  int *first, *end;      /* sorted data of each tile that count: first <= i < end */
  double *k, *Pk;        /* n x width per tile; rows first .. end - 1 hold k and P k */
  double *slope;         /* likewise, one array of tiles per factor */
  double *B, *scratch;   /* columns x width: the candidates of a tile; scratch of kernels */
} RgNearby;

/* The posterior has its factor on this rank. tolerance: covariances below this share of k(x,x)
   count as zero. O(n^3), a third of one evaluation of a fit's objective with its gradient. */
PetscErrorCode rg_nearby_create(RgPosterior *posterior, double tolerance, RgNearby *nearby);
PetscErrorCode rg_nearby_destroy(RgNearby *nearby);

/* As rg_posterior_predict and rg_posterior_gradient; values_only: no gradient follows. */
PetscErrorCode rg_nearby_predict(RgNearby *nearby, int m, const double *Z, bool values_only,
                                 double *mean, double *variance);
PetscErrorCode rg_nearby_gradient(RgNearby *nearby, int m, const double *mean_bar,
                                  const double *variance_bar, double *G);

/* tolerance: the largest residual relative to k(x,x). *made: false, and nothing is created, if
   the factor is not on this rank or if more than two thirds of the data would be pivots.
   `projected` supports predictions, their gradients and covariances only. O(n rank^2). */
PetscErrorCode rg_posterior_project(const RgPosterior *posterior, double tolerance,
                                    RgPosterior *projected, bool *made);

#endif
