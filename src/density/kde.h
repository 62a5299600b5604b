/* Kernel density estimate of contexts with a product Gaussian kernel and Silverman's bandwidths:
   p(c) = sum_i w_i prod_j N(c_j; c_ij, h_j^2), w_i = 1/n unless given. Source: arXiv:2312.10423;
   sbo_kde 2.1.2. */
#ifndef RG_DENSITY_KDE_H
#define RG_DENSITY_KDE_H

#include "maths/distribution.h"

typedef struct {
  int n, dim;
  double effective;   /* 1/sum w_i^2: n with equal weights */
  double *points;     /* n x dim, owned copy */
  double *weight;     /* n, owned copy; NULL: equal weights */
  double *bandwidth;  /* dim, owned; 0 where all points agree */
  double *low, *high; /* dim, owned: least and largest coordinates of the points */
} RgKde;

/* points: n x dim, finite, n >= 1. weight: n, positive, sum 1; NULL: equal. h_j =
   (4/(dim+2))^(1/(dim+4)) s_j N^(-1/(dim+4)), s_j the deviation with divisor n, or by the weights;
   N the effective number. */
PetscErrorCode rg_kde_create(int n, int dim, const double *points, const double *weight,
                             RgKde *kde);
PetscErrorCode rg_kde_destroy(RgKde *kde);

/* p(c); infinite or 0 where a bandwidth is 0. O(n dim). */
double rg_kde_density(const RgKde *kde, const double *c);

/* m draws (m x dim): a point at random plus noise, then clipped per coordinate to the hull of
   [lower, upper] and the points (mass outside becomes atoms, sbo_kde D24). */
PetscErrorCode rg_kde_sample(const RgKde *kde, RgRandom *random, double lower, double upper, int m,
                             double *samples);
/* m draws from a scrambled Sobol set in dim + 1 coordinates (dim < RG_SOBOL_MAX_DIM), otherwise
   as above. */
PetscErrorCode rg_kde_sample_sobol(const RgKde *kde, RgRandom *random, double lower, double upper,
                                   int m, double *samples);
/* dim = 1: the m-point Gauss rule of the estimate, clipped alike, which integrates polynomials of
   degree 2m - 1 exactly; *count <= m nodes (fewer when the estimate has fewer points). node,
   weight: m. O(n m). */
PetscErrorCode rg_kde_gauss(const RgKde *kde, double lower, double upper, int m, int *count,
                            double *node, double *weight);

#endif
