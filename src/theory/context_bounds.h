/* Bounds of the cumulative regret with contexts drawn from an unknown law, and the confidence
   parameters and radii that go with them.

   Common arguments: T = queries (>= 1); gamma = maximum information gain of T points (x, c), or an
   upper bound of it: 1/2 log det(I + K/noise) for the density-based methods, log det(I + K/lambda)
   for the Wasserstein ones. k(z,z) <= 1. O(1) unless stated. */
#ifndef RG_REGRET_CONTEXT_BOUNDS_H
#define RG_REGRET_CONTEXT_BOUNDS_H

#include "gp/kernel/kernel.h"
#include "theory/family.h"
#include "theory/robust_bounds.h"

/* ---- SBO-KDE and DRBO-KDE: arXiv:2312.10423; sbo_kde 7 ----------------------------------------

   f is a path of a Gaussian process whose derivatives exceed L with probability at most
   a exp(-(L/b)^2) on [0, r]^dim; bandwidths of order t^(-1/(4 + dim_c)). Bounds of the mean
   regret over f, contexts and noise. */
typedef struct {
  RgRobustDerivatives f;
  int dim_x, dim_c;
  double noise; /* variance, > 0 */
  double error; /* C0: E |p - phat_t|_2 <= C0 t^(-2/(4 + dim_c)) */
} RgKdeTheory;

/* b of a path of a stationary kernel with k(z,z) = 1: sqrt(2) times its steepest derivative's
   deviation. NaN as rg_kernel_slope. */
double rg_kde_steepness(const RgKernel *kernel);
/* C0 of independent normal coordinates of deviation s and the rule-of-thumb bandwidth, by the
   asymptotic error; clipping is ignored. */
double rg_kde_error_constant(int dim_c, double s);
/* beta_t, at least 0. */
double rg_kde_beta(const RgKdeTheory *theory, int t);
/* delta_n = n^(-2/(4 + dim_c)): radius of DRBO-KDE with n contexts. */
double rg_kde_radius(int dim_c, int n);
/* The constants C, C1, .. C4 of the theorems, in this order. C has noise^-1 in its logarithm, as
   Lemma 5.4 of Srinivas et al. (2012) does; the paper prints noise. */
void rg_kde_constants(const RgKdeTheory *theory, double constant[5]);
/* Theorem 1. */
double rg_bound_sbo_kde(const RgKdeTheory *theory, int T, double gamma);
/* Theorem 2 with the radii delta_1 .. delta_T of rg_kde_radius. O(T). */
double rg_bound_drbo_kde(const RgKdeTheory *theory, int T, double gamma);

/* ---- WDRBO: arXiv:2503.20341; wdrbo 2.7 and 7 ------------------------------------------------

   |f|_k <= B, noise R-sub-Gaussian, hyperparameters fixed. Bounds hold with probability 1 - 2 delta
   (given centre) or 1 - 3 delta (observed contexts). */
typedef struct {
  double lambda, R, B, delta; /* lambda: ridge parameter, >= 1 for the bounds */
  double slope;               /* L_k, rg_kernel_slope */
  int dim_x, dim_c;
  double width_x, width_c; /* Euclidean diameters of the boxes */
  double kappa;            /* constant of the covering number, which the paper leaves open */
} RgWassersteinTheory;

/* L_k with |k(., z) - k(., z')|_k <= L_k |z - z'|, by the smallest length scale. NaN for a
   kernel that rg_kernel_without_slope refuses. */
double rg_kernel_slope(const RgKernel *kernel);
/* Bbar_t = beta_t/sqrt(lambda) from log_det = log det(I + K/lambda) of the t - 1 points before; it
   multiplies the posterior deviation where lambda is the noise variance. */
double rg_wasserstein_norm(const RgWassersteinTheory *theory, double log_det);
/* log N_t: covering number of the confidence bounds at precision 1/t, Gaussian kernel. */
double rg_wasserstein_covering(const RgWassersteinTheory *theory, int t, double norm);
/* eps_t and rho_t of observed contexts. */
double rg_wasserstein_radius(const RgWassersteinTheory *theory, int t, double norm);
double rg_wasserstein_remainder(const RgWassersteinTheory *theory, int t, double norm);
/* 2 eps 2 Bbar_t L_k: penalty of one step with Lemma 3's bound of the Lipschitz constant. */
double rg_wasserstein_penalty(const RgWassersteinTheory *theory, double radius, double norm);
/* Theorems 5 and 9: 4 beta_T sqrt(T (gamma + 4 log(6/delta))) + penalties: the sum over steps of
   rg_wasserstein_penalty (and of 2 rho_t for observed contexts). norm: Bbar_T. The main text of the
   paper loses a parenthesis. */
double rg_bound_wdrbo(const RgWassersteinTheory *theory, int T, double gamma, double norm,
                      double penalties);

/* ---- what the two families share -------------------------------------------------------------- */

/* RgBoundFamily.obstacle and .refuse: boxes of too many dimensions, kernels without slope. */
const char *rg_context_obstacle(const RgBoundSetting *setting);
PetscErrorCode rg_context_refuse(const RgBoundSetting *setting, RgText *why);

#endif
