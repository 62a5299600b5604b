/* The prior covariance K of a finite set as an operator on several vectors at once, and draws from
   the prior. On a product grid with a kernel that factors over the coordinates, K and its factors
   are sums over terms of Kronecker products and cost O(N sum_j levels_j) per vector and term;
   elsewhere they are dense. Internal to gp/.

   Vectors: F (N x count), F[i*count + s] = entry i of vector s. */
#ifndef RG_GP_POSTERIOR_SET_SET_FACTOR_H
#define RG_GP_POSTERIOR_SET_SET_FACTOR_H

#include "regatta/stream.h"
#include "gp/posterior/set/set_prior.h"

typedef struct {
  const RgSetPrior *prior; /* borrowed */
  /* grid: laid out as prior->tables, lower factors, row-major; else N x N, column-major; owned */
  double *L;
  double jitter;            /* largest jitter that was needed, relative to the diagonal */
  size_t L_room, work_room; /* doubles allocated */
  double *work;             /* owned */
  double *tiles;            /* within it, on a cache line */
} RgSetFactor;

/* Factor the present prior. `factor` is zero or was used before. Jitter as in posterior.h. Grid:
   O(terms sum_j levels_j^3); else O(N^3/3) and N^2 memory. */
PetscErrorCode rg_set_factor_update(RgSetFactor *factor, const RgSetPrior *prior,
                                    RgFailure *failure);
PetscErrorCode rg_set_factor_destroy(RgSetFactor *factor);

/* F: `count` independent draws from the prior, mean zero. Consumes count*N normals per term on a
   grid, count*N elsewhere. */
PetscErrorCode rg_set_factor_draw(RgSetFactor *factor, int count, RgRandom *random, double *F);

/* F = K A, where A (N x count) is zero except for n rows: row index_l of A is the sum of the
   rows l of `rows` (n x count) with that index. Does not need the factor. Grid: O(N count sum_j
   levels_j) per term; else O(n N count) and n N kernel values. */
PetscErrorCode rg_set_factor_covariance(RgSetFactor *factor, int count, int n, const int *index,
                                        const double *rows, double *F);

#endif
