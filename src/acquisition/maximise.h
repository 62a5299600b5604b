/* Maximisation of acquisition functions over a box (multi-start, all starts in lockstep) and over
   finite sets. */
#ifndef RG_ACQUISITION_MAXIMISE_H
#define RG_ACQUISITION_MAXIMISE_H

#include "acquisition/acquisition.h"
#include "base/params.h"
#include "maths/stream.h"
#include "gp/model/model.h"

/* The `maximiser:` block of a study file; described by rg_maximiser_params. */
typedef struct {
  int raw_samples;     /* scrambled Sobol points evaluated in one batch */
  int restarts;        /* starts of the local search */
  int incumbents;      /* best observed inputs added to the raw points */
  int perturbations;   /* Gaussian perturbations of the best observed input added to them */
  double perturbation; /* their largest standard deviation, unit cube; falls to a 25th of it */
  int selection;       /* best | boltzmann: how starts are drawn from the raw points */
  double temperature;  /* boltzmann: weights exp(temperature * (a - mean a)/sd a) */
  int max_iterations;  /* of the local search, per start */
  double tolerance;    /* a start stops when it expects to gain less, relative to max(1,|a|) */
  int local_search;    /* batched (projected quasi-Newton in lockstep) | lbfgsb (reference) */
} RgMaximiserOptions;

extern const RgParam rg_maximiser_params[];

/* value (m) and gradient (m x dim; NULL: not wanted) at m points X (m x dim) of the unit cube. */
typedef PetscErrorCode (*RgBatchFunction)(void *closure, int m, const double *X, double *value,
                                          double *gradient);

/* Multi-start maximisation over the unit cube. `extra` (n_extra x dim) joins the raw points. The
   first start that reached the best value wins ties. best_x (dim), best_value. Non-finite values
   count as -infinity; all non-finite sets `failure`. */
PetscErrorCode rg_maximise_box(const RgMaximiserOptions *options, int dim, RgBatchFunction function,
                               void *closure, int n_extra, const double *extra, RgRandom *random,
                               double *best_x, double *best_value, RgFailure *failure);

/* n raw points X (n x dim) and their values, where some design makes them cheaper than Sobol points
   one by one. */
typedef PetscErrorCode (*RgRawDesign)(void *closure, RgRandom *random, int n, double *X,
                                      double *value);

/* The same, beginning with a cheaper function of nearly the same values: raw points are compared by
   it, starts climb on it, and its best maxima climb on the true one (unless it is the true one).
   raw: NULL for Sobol points. A NULL screen: rg_maximise_box. */
typedef struct {
  RgBatchFunction function;
  void *closure;
  RgRawDesign raw;
} RgScreen;
PetscErrorCode rg_maximise_box_screened(const RgMaximiserOptions *options, int dim,
                                        RgBatchFunction function, void *closure,
                                        const RgScreen *screen, int n_extra, const double *extra,
                                        RgRandom *random, double *best_x, double *best_value,
                                        RgFailure *failure);

/* Lowest index whose value is within 1e-12*max(1,|best|) of the best over allowed points
   (excluded: NULL or one byte per point, non-zero = not allowed). -1 when none is finite. */
int rg_argmax(int n, const double *value, const unsigned char *excluded);

/* Points of a finite design that may not be queried again: one byte per point, non-zero = seen
   before, when the domain is without replacement; else NULL. The caller frees it (PetscFree). */
PetscErrorCode rg_excluded_points(const RgDomain *domain, const RgHistory *history,
                                  unsigned char **excluded);

/* Where to look next. x: dim unit coordinates, storage given by the caller. */
typedef struct {
  int index; /* finite design: chosen index; -1 on a box */
  double *x;
  int context_index; /* simulator only */
  double *c;         /* simulator only */
  double *extra;     /* values of the algorithm's record columns, NaN when not set */
} RgQuery;

/* Maximise any function of the design: multi-start on a box, started also from the best observed
   inputs and perturbations of the very best; a scan of a finite design, on which `function` is only
   asked for values, 512 points at a time. Points seen before are excluded when the domain is
   without replacement. query: index and x are set. failure: nothing finite, or no point left. The
   step of every method that is not of the marginal kind (rg_acquire). */
PetscErrorCode rg_acquire_with(const RgDomain *domain, const RgHistory *history,
                               RgBatchFunction function, void *closure,
                               const RgMaximiserOptions *options, RgRandom *random, RgQuery *query,
                               double *value, RgFailure *failure);

/* The same with rg_maximise_box_screened on a box; screen may be NULL. */
PetscErrorCode rg_acquire_screened(const RgDomain *domain, const RgHistory *history,
                                   RgBatchFunction function, void *closure, const RgScreen *screen,
                                   const RgMaximiserOptions *options, RgRandom *random,
                                   RgQuery *query, double *value, RgFailure *failure);

/* Maximise a marginal acquisition function under the model (updated before): scan of a finite
   design, multi-start on a box, started also from the best observed inputs and perturbations of the
   very best. Points seen before are excluded when the domain is without replacement; where every
   value is -infinity the lowest allowed index is returned. query: index and x are set. value: of
   the acquisition function there. failure: nothing finite on a box, no point left on a set. Errors:
   PETSC_ERR_SUP when the model has a context. O(N) on a set; on a box about raw_samples n^2 plus
   two or three times as much for each start and round. */
PetscErrorCode rg_acquire(RgModel *model, const RgHistory *history,
                          const RgAcquisition *acquisition, const RgMaximiserOptions *options,
                          RgRandom *random, RgQuery *query, double *value, RgFailure *failure);

#endif
