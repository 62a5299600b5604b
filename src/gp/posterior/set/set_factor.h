/* The prior covariance K of a finite set as an operator on several vectors at once, and draws from
   the prior. On a product grid with a kernel that factors over the coordinates, K and its factors
   are sums over terms of Kronecker products and cost O(N sum_j levels_j) per vector and term;
   elsewhere they are dense. Internal to gp/.

   Vectors: F (N x count), F[i*count + s] = entry i of vector s. */
#ifndef RG_GP_POSTERIOR_SET_SET_FACTOR_H
#define RG_GP_POSTERIOR_SET_SET_FACTOR_H

#include "gp/kernel/kernel.h"
#include "regatta/domain.h"
#include "regatta/stream.h"

typedef struct {
  RgKernel kernel;            /* owned copy */
  int size;                   /* N */
  int design_dim, n_contexts; /* n_contexts = 1 without context */
  double *points;             /* N x dim, unit coordinates, design and context joined; owned */
  bool factors;               /* rows come from the tables below */
  int n_axes;
  int *levels;  /* n_axes; owned */
  double *axes; /* the levels' coordinates, axis after axis; owned */
  /* Per term, per axis: levels x levels correlations, the term's variance in the first axis;
     owned. */
  double *tables;
  int padded; /* N rounded up to whole vectors */
  /* Columns x padded: points divided by the length scales, where there are no tables; owned. */
  double *scaled;
  double *work; /* 2 N: partial products; or one row and scratch of the kernel; owned */
} RgSetPrior;

PetscErrorCode rg_set_prior_create(const RgDomain *domain, const RgKernel *kernel,
                                   RgSetPrior *prior);
PetscErrorCode rg_set_prior_destroy(RgSetPrior *prior);
/* New hyperparameters or a new structure. */
PetscErrorCode rg_set_prior_set_kernel(RgSetPrior *prior, const RgKernel *kernel);
/* row_j = k(point_index, point_j), j < N. O(N terms) with tables, O(N dim) without. */
void rg_set_prior_row(const RgSetPrior *prior, int index, double *row);

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
