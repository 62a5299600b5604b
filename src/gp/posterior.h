/* Exact posterior of a Gaussian process, with a Cholesky factor that grows row by row.

   Model: y_i = mean + f(x_i) + noise_i, f ~ GP(0, kernel), noise ~ N(0, noise_variance). The
   variance predicted is that of the latent f. Units: those of y as given. */
#ifndef RG_GP_POSTERIOR_H
#define RG_GP_POSTERIOR_H

#include "gp/kernel.h"

typedef struct {
  RgKernel kernel;         /* owned copy */
  double   noise_variance; /* >= 0 */
  double   mean;           /* constant prior mean */
  double   jitter;         /* added to the diagonal on top of the noise; 0 unless it was needed */
  int      n, capacity;
  double  *X;              /* n x dim */
  double  *y;              /* n */
  double  *L;              /* lower Cholesky factor, column-major, leading dimension `capacity` */
  double  *beta;           /* L^-1 (y - mean) */
  double  *alpha;          /* (K + noise I)^-1 (y - mean); valid when alpha_valid */
  bool     alpha_valid;
  double  *row;            /* capacity: scratch of an append */
} RgPosterior;

/* Empty posterior with room for `capacity` data (grown by doubling when exceeded). Copies kernel. */
PetscErrorCode rg_posterior_create(const RgKernel *kernel, double noise_variance, double mean,
                                   int capacity, RgPosterior *posterior);
PetscErrorCode rg_posterior_destroy(RgPosterior *posterior);

/* Replace everything: new hyperparameters (NULL kernel keeps the old ones) and n data; factors from
   scratch. When a pivot fails (its square is below n*eps*k(x,x)), jitter 1e-10*k(x,x) is added, times
   10 up to 1e-4*k(x,x); beyond that `failure` is set and the posterior holds no data. X and y may be
   the posterior's own. O(n^3/3). */
PetscErrorCode rg_posterior_set(RgPosterior *posterior, const RgKernel *kernel,
                                double noise_variance, double mean, int n, const double *X,
                                const double *y, RgFailure *failure);
/* One more datum by one triangular solve, O(n^2); refactors with jitter when the pivot fails. */
PetscErrorCode rg_posterior_append(RgPosterior *posterior, const double *x, double y,
                                   RgFailure *failure);
/* New outputs for the same inputs (restandardised y): O(n^2). */
PetscErrorCode rg_posterior_set_outputs(RgPosterior *posterior, double mean, const double *y);

/* Scratch of a batch prediction, kept between calls so that nothing is allocated in a loop. */
typedef struct {
  int     n, m, capacity; /* shape of the last prediction; doubles allocated per array */
  double *K;              /* n x m: k(x_i, z_j) */
  double *V;              /* n x m: L^-1 K, then L^-T L^-1 K once a gradient was asked for */
  bool    whitened;       /* V is L^-1 K: a gradient of the variance can be had */
} RgPrediction;

/* mean (m), variance (m, clamped at 0; NULL: not wanted) at Z (m x dim). O(m n^2), level 3. */
PetscErrorCode rg_posterior_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                    double *variance, RgPrediction *work);
/* Gradient of sum_j phi_j(mean_j, variance_j), given the partial derivatives mean_bar (m) and
   variance_bar (m; NULL: zero) at the points of the last prediction `work`: G (m x dim), row j =
   mean_bar_j d mean_j/dz_j + variance_bar_j d variance_j/dz_j. One triangular solve, one kernel
   contraction. */
PetscErrorCode rg_posterior_gradient(RgPosterior *posterior, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar,
                                     RgPrediction *work, double *G);
PetscErrorCode rg_prediction_destroy(RgPrediction *work);

/* Posterior covariance between two batches: C (a x b, C[i*b + j]). O((a+b) n^2 + a b n). */
PetscErrorCode rg_posterior_covariance(RgPosterior *posterior, int a, const double *A, int b,
                                       const double *B, double *C);

/* Log marginal likelihood of the data held: -1/2 beta'beta - log det L - n/2 log(2 pi). */
double rg_posterior_log_likelihood(const RgPosterior *posterior);

#endif
