/* The table of operations that a back end of the posterior fills in. posterior.c keeps what all of
   them have in common (kernel, noise, mean, inputs, outputs, n) up to date before it calls one.
   Internal to gp/. */
#ifndef RG_GP_POSTERIOR_POSTERIOR_OPS_H
#define RG_GP_POSTERIOR_POSTERIOR_OPS_H

#include "gp/posterior/posterior.h"

/* Operations that are NULL are not there: PETSC_ERR_SUP with the name of the back end. */
typedef struct RgPosteriorOps {
  const char *name;
  bool keeps_data; /* X and y are kept here; false: by the back end */
  /* Room for n data, none held; and all of it given back. */
  PetscErrorCode (*open)(RgPosterior *posterior, int n);
  PetscErrorCode (*close)(RgPosterior *posterior);
  /* The capacity grew from `old`; NULL: nothing of the back end's depends on it. */
  PetscErrorCode (*reserve)(RgPosterior *posterior, int old);
  /* All data are new, and so may the hyperparameters be; a failure leaves n = 0. Back ends that
     keep data with the posterior take them from there; `data` may be but the last of them. */
  PetscErrorCode (*reset)(RgPosterior *posterior, const RgObservations *data, RgFailure *failure);
  /* The last data->n of the n data are new. */
  PetscErrorCode (*extend)(RgPosterior *posterior, const RgObservations *data, RgFailure *failure);
  PetscErrorCode (*set_outputs)(RgPosterior *posterior);
  PetscErrorCode (*solve_many)(const RgPosterior *posterior, int m, double *B);
  PetscErrorCode (*predict)(RgPosterior *posterior, int m, const double *Z, double *mean,
                            double *variance, RgPrediction *work);
  PetscErrorCode (*gradient)(RgPosterior *posterior, int m, const double *Z, const double *mean_bar,
                             const double *variance_bar, RgPrediction *work, double *G);
  /* C holds the prior covariance and becomes the posterior one. */
  PetscErrorCode (*covariance)(RgPosterior *posterior, int a, const double *A, int b,
                               const double *B, double *C);
  double (*log_likelihood)(const RgPosterior *posterior);
  const double *(*means)(const RgPosterior *posterior);
  const double *(*variances)(const RgPosterior *posterior);
  /* NULL: predictions are not kept. */
  void (*select)(const RgPosterior *posterior, int count, const int *which, RgPrediction *work);
} RgPosteriorOps;

extern const RgPosteriorOps rg_exact_ops, rg_team_ops, rg_set_ops;

#endif
