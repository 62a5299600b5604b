/* Acquisition functions built on maxima of sampled paths: PIMS, MES, JES. Values are in model units
   of the function and natural units of information (nats). */
#ifndef RG_ACQUISITION_SAMPLED_H
#define RG_ACQUISITION_SAMPLED_H

#include "regatta/acquire.h"
#include "acquisition/path_sampler.h"

/* Probability of improvement from the maximum of a sample path (irgp_ucb 3.6): -z with
   z = (maximum - mean)/max(sd, 1e-12), whose maximiser is that of Pr(f(x) >= maximum). Context:
   RgPims. */
typedef struct {
  double maximum;
} RgPims;
void rg_acquisition_pims(const void *closure, int m, const double *mean, const double *sd,
                         double *value, double *d_mean, double *d_sd);

/* Max-value entropy search (irgp_ucb 3.7): mean over l of g phi(g)/(2 Phi(g)) - log Phi(g),
   g = (maximum_l - mean)/max(sd, 1e-8). Context: RgMes. */
typedef struct {
  int n;
  const double *maximum; /* n, borrowed */
} RgMes;
void rg_acquisition_mes(const void *closure, int m, const double *mean, const double *sd,
                        double *value, double *d_mean, double *d_sd);

/* Joint entropy search, lower bound (irgp_ucb 3.8), for n sampled optima (x_l, f_l): a(x) = 1/2
   log(sd^2 + noise) - mean_l 1/2 log(v~_l(x) + noise), where v~_l is the variance of f(x) given
   the data, f(x_l) = f_l and f(x) <= f_l. The struct holds the constants of optimum l. */
typedef struct {
  double maximum;  /* f_l */
  double residual; /* (f_l - mean(x_l)) / (variance(x_l) + eta) */
  double inverse;  /* 1 / (variance(x_l) + eta), eta = 1e-10 k(x,x) */
} RgJesOptimum;
typedef struct {
  int n;
  const RgJesOptimum *optimum; /* n, borrowed */
  double noise;                /* noise variance, model units */
  double smallest;             /* variances below it count as 0: 1e-14 k(x,x) */
} RgJes;
/* Moments at m points: mean and variance (m), and covariance (n x m, covariance[l*m + j] of x_j
   with x_l). */
typedef struct {
  const double *mean, *variance, *covariance;
} RgJesMoments;
/* Partial derivatives by the moments. */
typedef struct {
  double *mean, *variance, *covariance;
} RgJesSlopes;
/* Compute value (m), and slopes (NULL: not wanted), from the moments. */
PetscErrorCode rg_acquisition_jes(const RgJes *jes, int m, const RgJesMoments *at, double *value,
                                  const RgJesSlopes *slopes);

/* Maximise JES, given the optima of paths drawn from `sampler`; otherwise as rg_acquire. */
PetscErrorCode rg_acquire_jes(RgModel *model, RgPathSampler *sampler, const RgOptima *optima,
                              const RgSearch *search, RgQuery *query, double *value,
                              RgFailure *failure);

#endif
