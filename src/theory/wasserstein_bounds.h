/* Bounds of WDRBO, regret with contexts drawn from an unknown law: arXiv:2503.20341; wdrbo 2.7 and
   7.

   Common arguments: T = queries (>= 1); gamma = maximum information gain of T points (x, c),
   log det(I + K/lambda), or an upper bound of it. k(z,z) <= 1. O(1) unless stated. */
#ifndef RG_THEORY_WASSERSTEIN_BOUNDS_H
#define RG_THEORY_WASSERSTEIN_BOUNDS_H

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

#endif
