/* The table of operations that a back end of the posterior fills in. Before it calls one,
   posterior.c updates the parts that all back ends share (kernel, noise, mean, inputs, outputs,
   n). Internal to gp/. */
#ifndef RG_GP_POSTERIOR_POSTERIOR_OPS_H
#define RG_GP_POSTERIOR_POSTERIOR_OPS_H

#include "gp/posterior/posterior.h"
#include "gp/posterior/set/set_posterior.h"
#include "gp/team/team.h"

/* An operation that is NULL gives PETSC_ERR_SUP with the name of the back end. */
typedef struct RgPosteriorOps {
  const char *name;
  /* Make room for n data, none held yet (NULL: nothing to do); release everything. */
  PetscErrorCode (*open)(RgPosterior *posterior, int n);
  PetscErrorCode (*close)(RgPosterior *posterior);
  /* The capacity grew from `old`. NULL: the back end does not depend on it. */
  PetscErrorCode (*reserve)(RgPosterior *posterior, int old);
  /* Replace all data, and possibly the hyperparameters. On failure n = 0. Back ends that store
     data with the posterior take them from there; `data` may hold only the last of them. */
  PetscErrorCode (*reset)(RgPosterior *posterior, const RgObservations *data, RgFailure *failure);
  /* The last data->n of the n data are new. */
  PetscErrorCode (*extend)(RgPosterior *posterior, const RgObservations *data, RgFailure *failure);
  PetscErrorCode (*set_outputs)(RgPosterior *posterior);
  PetscErrorCode (*solve_many)(const RgPosterior *posterior, int m, double *B);
  PetscErrorCode (*predict)(RgPosterior *posterior, int m, const double *Z, double *mean,
                            double *variance, RgPrediction *work);
  PetscErrorCode (*gradient)(RgPosterior *posterior, int m, const double *Z, const double *mean_bar,
                             const double *variance_bar, RgPrediction *work, double *G);
  /* B := L^-1 B, L L' = K + noise I; for covariances. */
  PetscErrorCode (*whiten)(const RgPosterior *posterior, int m, double *B);
  /* NULL: the back end keeps no predictions. */
  void (*select)(const RgPosterior *posterior, int count, const int *which, RgPrediction *work);
  /* Pending points. Keep the state that they change. */
  PetscErrorCode (*keep)(RgPosterior *posterior);
  /* The last data->n of the n data are pending points. Points whose value the other data determine
     already are dropped, and n becomes smaller. NULL: one by one. The point is then datum n of the
     n + 1 that X and y hold, and n grows by 1 unless the point is dropped. */
  PetscErrorCode (*pend)(RgPosterior *posterior, const RgObservations *data, RgFailure *failure);
  PetscErrorCode (*pend_one)(RgPosterior *posterior);
  /* Return to the state that was kept; n is already the number of data then. */
  PetscErrorCode (*restore)(RgPosterior *posterior);
} RgPosteriorOps;

extern const RgPosteriorOps rg_exact_ops, rg_team_ops, rg_set_ops;

/* The worker of a team for posteriors without a matrix (rg_team_set_worker). */
extern const RgTeamWorker rg_posterior_worker;

#endif
