/* Confidence width and radius of WDRBO's theorems: arXiv:2503.20341, equation 7 and Lemma 7; wdrbo
   2.7. */
#ifndef RG_ROBUST_WASSERSTEIN_THEORY_H
#define RG_ROBUST_WASSERSTEIN_THEORY_H

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
