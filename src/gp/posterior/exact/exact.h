/* The exact back end: a Cholesky factor on this rank that grows row by row (fields L to row of
   RgPosterior). Code that reads the factor directly checks rg_posterior_has_factor first.
   Internal to gp/. */
#ifndef RG_GP_POSTERIOR_EXACT_EXACT_H
#define RG_GP_POSTERIOR_EXACT_EXACT_H

#include "gp/posterior/posterior_ops.h"

/* Make alpha valid. */
void rg_exact_solve(RgPosterior *posterior);
/* Make the inverse of the factor valid; PETSC_ERR_SUP on another back end. */
PetscErrorCode rg_exact_invert(RgPosterior *posterior);

/* Prediction, its gradient, its selection, and covariances, as in RgPosteriorOps. */
PetscErrorCode rg_exact_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                double *variance, RgPrediction *work);
PetscErrorCode rg_exact_gradient(RgPosterior *posterior, int m, const double *Z,
                                 const double *mean_bar, const double *variance_bar,
                                 RgPrediction *work, double *G);
void rg_exact_select(const RgPosterior *posterior, int count, const int *which, RgPrediction *work);
PetscErrorCode rg_exact_covariance(RgPosterior *posterior, int a, const double *A, int b,
                                   const double *B, double *C);

#endif
