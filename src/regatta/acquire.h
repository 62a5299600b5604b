/* Maximisation of acquisition functions over a box (multi-start, all starts in lockstep) and over
   finite sets. */
#ifndef RG_REGATTA_ACQUIRE_H
#define RG_REGATTA_ACQUIRE_H

#include "regatta/domain.h"
#include "regatta/model.h"
#include "regatta/params.h"
#include "regatta/stream.h"

/* value_j = a(mean_j, sd_j), with partial derivatives (both NULL: not wanted). Larger is better. */
typedef void (*RgMarginalFunction)(const void *closure, int m, const double *mean, const double *sd,
                                   double *value, double *d_mean, double *d_sd);

typedef struct {
  RgMarginalFunction function;
  const void *closure; /* borrowed */
} RgAcquisition;

/* mean + width * sd; context: RgUcb. */
typedef struct {
  double width;
} RgUcb; /* sqrt(beta_t), sqrt(zeta_t) */
RG_API void rg_acquisition_ucb(const void *closure, int m, const double *mean, const double *sd,
                               double *value, double *d_mean, double *d_sd);

/* Logarithm of the expected improvement over `incumbent` (model units), stable for z -> -inf
   (irgp_ucb 3.3); monotone in EI, so the maximiser is the same. sd = 0: log max(mean - incumbent,
   0). */
typedef struct {
  double incumbent;
} RgEi;
RG_API void rg_acquisition_log_ei(const void *closure, int m, const double *mean, const double *sd,
                                  double *value, double *d_mean, double *d_sd);

/* Logarithm of the probability that a value is at most `threshold` (model units), stable far from
   it. sd = 0: 0 or -infinity. */
typedef struct {
  double threshold;
} RgThreshold;
RG_API void rg_acquisition_log_below(const void *closure, int m, const double *mean,
                                     const double *sd, double *value, double *d_mean, double *d_sd);

/* log h(z), h(z) = phi(z) + z Phi(z): EI of unit deviation, stable for z -> -inf. With Phi(z)/h(z)
   = d log h/dz, and phi(z)/h(z). */
RG_API double rg_acquisition_log_h(double z, double *cdf_ratio, double *pdf_ratio);

/* EI itself, for oracles and records. */
RG_API double rg_expected_improvement(double mean, double sd, double incumbent);

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
  int local_search; /* batched (projected quasi-Newton in lockstep) | lbfgsb (reference) | adam */
} RgMaximiserOptions;

RG_API extern const RgParam rg_maximiser_params[];

/* value (m) and gradient (m x dim; NULL: not wanted) at m points X (m x dim) of the unit cube. */
typedef PetscErrorCode (*RgBatchFunction)(void *closure, int m, const double *X, double *value,
                                          double *gradient);

/* What a search for the next design works with; all of it is borrowed. */
typedef struct {
  const RgMaximiserOptions *options;
  const RgHistory *history; /* of rg_acquire...: where it starts too, what it leaves out */
  RgRandom *random;
  int n_extra;
  const double *extra;  /* of rg_maximise_box...: n_extra x dim, joins the raw points */
  const RgSpace *space; /* of rg_maximise_box...: the box, whose inputs that don't count are settled
                           (rg_space_settle) before the function is asked; NULL: all count */
} RgSearch;

/* Multi-start maximisation over the unit cube, by options, random and extra points of `search`. The
   first start that reached the best value wins ties. best_x (dim), best_value. Non-finite values
   count as -infinity; all non-finite sets `failure`. */
RG_API PetscErrorCode rg_maximise_box(const RgSearch *search, int dim, RgBatchFunction function,
                                      void *closure, double *best_x, double *best_value,
                                      RgFailure *failure);

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
RG_API PetscErrorCode rg_maximise_box_screened(const RgSearch *search, int dim,
                                               RgBatchFunction function, void *closure,
                                               const RgScreen *screen, double *best_x,
                                               double *best_value, RgFailure *failure);

/* Lowest index whose value is within 1e-12*max(1,|best|) of the best over allowed points
   (excluded: NULL or one byte per point, non-zero = not allowed). -1 when none is finite. */
RG_API int rg_argmax(int n, const double *value, const unsigned char *excluded);

/* Points of a finite design that may not be queried again: one byte per point, non-zero = seen
   before, when the domain is without replacement; else NULL. The caller frees it (PetscFree). */
RG_API PetscErrorCode rg_excluded_points(const RgDomain *domain, const RgHistory *history,
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
RG_API PetscErrorCode rg_acquire_with(const RgDomain *domain, RgBatchFunction function,
                                      void *closure, const RgSearch *search, RgQuery *query,
                                      double *value, RgFailure *failure);

/* The same on a finite design from the values at all of its points; where none is finite, the first
   point at -infinity. */
PetscErrorCode rg_acquire_of_set(const RgDomain *domain, const RgHistory *history,
                                 const double *values, RgQuery *query, double *value,
                                 RgFailure *failure);

/* rg_acquire_with by rg_maximise_box_screened on a box; screen may be NULL. */
RG_API PetscErrorCode rg_acquire_screened(const RgDomain *domain, RgBatchFunction function,
                                          void *closure, const RgScreen *screen,
                                          const RgSearch *search, RgQuery *query, double *value,
                                          RgFailure *failure);

/* Maximise a marginal acquisition function under the model (updated before): scan of a finite
   design, multi-start on a box, started also from the best observed inputs and perturbations of the
   very best. Points seen before are excluded when the domain is without replacement; where every
   value is -infinity the lowest allowed index is returned. query: index and x are set. value: of
   the acquisition function there. failure: nothing finite on a box, no point left on a set. Errors:
   PETSC_ERR_SUP when the model has a context. O(N) on a set; on a box about raw_samples n^2 plus
   two or three times as much for each start and round. */
RG_API PetscErrorCode rg_acquire(RgModel *model, const RgAcquisition *acquisition,
                                 const RgSearch *search, RgQuery *query, double *value,
                                 RgFailure *failure);

/* Points added to the raw ones of a box: the best observed inputs, and perturbations of the very
   best, whose deviations fall geometrically, since the peak of EI beside an optimum closes in as
   data gather there. points: n x dim, freed by the caller (PetscFree). */
PetscErrorCode rg_observed_starts(const RgSearch *search, int *n, double **points);

#endif
