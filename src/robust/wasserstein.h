/* Worst case of an expectation over distributions on a finite set of points within a type-1
   Wasserstein distance of a weighted sample: the exact counterpart of WDRBO's Lipschitz penalty.
   Source: the dual of Mohajerin Esfahani and Kuhn (2018); wdrbo 2.9. */
#ifndef RG_ROBUST_WASSERSTEIN_H
#define RG_ROBUST_WASSERSTEIN_H

#include "regatta/error.h"

/* Minimise E_q u over distributions q on m points with W1(q, sample) <= radius: max_{g >= 0} -g
   radius + sum_i w_i min_s (u_s + g d_is). distance: n x m Euclidean distances d of the n sample
   points to the m points; w: n weights > 0, sum 1; NULL: equal weights. q: m, the worst
   distribution (NULL: not wanted). Returns +infinity and leaves q alone if no such q exists (a
   sample too far from the points). O(n m) per linear piece of the concave dual that the search
   visits, usually a few. */
double rg_wasserstein_worst(int n, const double *w, int m, const double *u, const double *distance,
                            double radius, double *q);

/* |f|_k <= B, noise R-sub-Gaussian, hyperparameters fixed. Bounds hold with probability 1 - 2 delta
   (given centre) or 1 - 3 delta (observed contexts). */
typedef struct {
  double lambda, R, B, delta; /* lambda: ridge parameter, >= 1 for the bounds */
  double slope;               /* L_k, rg_kernel_slope */
  int dim_x, dim_c;
  double width_x, width_c; /* Euclidean diameters of the boxes */
  double kappa;            /* constant of the covering number, which the paper leaves open */
} RgWassersteinTheory;

/* Bbar_t = beta_t/sqrt(lambda) from log_det = log det(I + K/lambda) of the t - 1 points before; it
   multiplies the posterior deviation where lambda is the noise variance. */
double rg_wasserstein_norm(const RgWassersteinTheory *theory, double log_det);
/* log N_t: covering number of the confidence bounds at precision 1/t, Gaussian kernel. */
double rg_wasserstein_covering(const RgWassersteinTheory *theory, int t, double norm);
/* eps_t of t observed contexts. */
double rg_wasserstein_radius(const RgWassersteinTheory *theory, int t, double norm);

#endif
