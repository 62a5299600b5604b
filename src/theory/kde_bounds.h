/* Bounds of SBO-KDE and DRBO-KDE, regret with contexts drawn from an unknown law: arXiv:2312.10423;
   sbo_kde 7.

   Common arguments: T = queries (>= 1); gamma = maximum information gain of T points (x, c),
   1/2 log det(I + K/noise), or an upper bound of it. k(z,z) <= 1. O(1) unless stated. */
#ifndef RG_THEORY_KDE_BOUNDS_H
#define RG_THEORY_KDE_BOUNDS_H

#include "robust/integral.h"

/* f is a path of a Gaussian process whose derivatives exceed L with probability at most
   a exp(-(L/b)^2) on [0, r]^dim; bandwidths of order t^(-1/(4 + dim_c)). Bounds of the mean
   regret over f, contexts and noise. */
typedef struct {
  RgRobustDerivatives f;
  int dim_x, dim_c;
  double noise; /* variance, > 0 */
  double error; /* C0: E |p - phat_t|_2 <= C0 t^(-2/(4 + dim_c)) */
} RgKdeTheory;

/* C0 for independent normal coordinates of deviation s and the rule-of-thumb bandwidth, by the
   asymptotic error. Clipping is ignored. */
double rg_kde_error_constant(int dim_c, double s);
/* beta_t, at least 0. */
double rg_kde_beta(const RgKdeTheory *theory, int t);
/* delta_n = n^(-2/(4 + dim_c)): radius of DRBO-KDE with n contexts. */
double rg_kde_radius(int dim_c, int n);
/* The constants C, C1, .. C4 of the theorems, in this order. C has noise^-1 in its logarithm, as
   Lemma 5.4 of Srinivas et al. (2012) does; the paper prints noise. */
void rg_kde_constants(const RgKdeTheory *theory, double constant[5]);
/* Theorem 1, or, if `robust`, Theorem 2 with the radii delta_1 .. delta_T of rg_kde_radius; the
   sums over the radii are 0 in the first. O(T). */
double rg_kde_bound(const RgKdeTheory *theory, int T, double gamma, bool robust);

#endif
