/* Maximisation of acquisition functions over a box (multi-start, all starts in lockstep) and over
   finite sets. */
#ifndef RG_REGATTA_ACQUIRE_H
#define RG_REGATTA_ACQUIRE_H

#include "regatta/domain.h"
#include "regatta/model.h"
#include "regatta/params.h"
#include "regatta/stream.h"

/* value_j = a(mean_j, sd_j), with partial derivatives (both NULL: not computed). Larger is
   better. */
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

/* Logarithm of the probability that a value is at most `threshold` (model units), stable in both
   tails. sd = 0: 0 or -infinity. */
typedef struct {
  double threshold;
} RgThreshold;
RG_API void rg_acquisition_log_below(const void *closure, int m, const double *mean,
                                     const double *sd, double *value, double *d_mean, double *d_sd);

/* log h(z) with h(z) = phi(z) + z Phi(z): the logarithm of EI at unit deviation, stable for z ->
   -inf. Also Phi(z)/h(z) = d log h/dz, and phi(z)/h(z). */
RG_API double rg_acquisition_log_h(double z, double *cdf_ratio, double *pdf_ratio);

/* Expected improvement itself, for tests and records. */
RG_API double rg_expected_improvement(double mean, double sd, double incumbent);

/* The `maximiser:` block of a study file; described by rg_maximiser_params. */
typedef struct {
  int raw_samples; /* scrambled Sobol points evaluated in one batch */
  int restarts;    /* starts of the local search */
  int incumbents;  /* number of best observed inputs added to the raw points */
  /* Number of Gaussian perturbations of the best observed input added to the raw points. */
  int perturbations;
  /* Their largest standard deviation, unit cube; the smallest is a 25th of it. */
  double perturbation;
  int selection;      /* best | boltzmann: how starts are drawn from the raw points */
  double temperature; /* boltzmann: weights exp(temperature * (a - mean a)/sd a) */
  int max_iterations; /* iterations of the local search per start */
  double tolerance;   /* a start stops when its expected gain, relative to max(1,|a|), is less */
  int local_search;   /* batched (projected quasi-Newton in lockstep) | lbfgsb (reference) | adam */
  /* The share of raw points near the best observed inputs, and their law (rg_local_points); NaN or
     -1: auto */
  double local_share, local_deviation, local_inputs;
  int local_points;
} RgMaximiserOptions;

RG_API extern const RgParam rg_maximiser_params[];

/* Draw n points X (n x dim) near the best observed inputs of a history (n >= 1), as `maximiser:`
   says: each at one of the best `local_points`, of whose coordinates a random subset, never empty,
   is moved by a normal truncated to the cube. O(n dim). */
RG_API PetscErrorCode rg_local_points(const RgMaximiserOptions *options, const RgHistory *history,
                                      RgRandom *random, int n, double *X);

/* value (m) and gradient (m x dim; NULL: not computed) at m points X (m x dim) of the unit cube. */
typedef PetscErrorCode (*RgBatchFunction)(void *closure, int m, const double *X, double *value,
                                          double *gradient);

/* Inputs of a search for the next design; all pointers are borrowed. */
typedef struct {
  const RgMaximiserOptions *options;
  const RgHistory *history; /* rg_acquire...: gives starts of the search, and points to exclude */
  RgRandom *random;
  int n_extra;
  const double *extra; /* rg_maximise_box...: n_extra x dim, added to the raw points */
  /* rg_maximise_box...: the box. The function gets only designs that can be evaluated, with
     integers, choices and inactive inputs settled. NULL: all inputs are real and count. */
  const RgSpace *space;
  /* rg_maximise_box... without real inputs: choose no design twice while others are left */
  bool once;
} RgSearch;

/* Multi-start maximisation over the unit cube, with options, random stream and extra points of
   `search`. Among starts with equal best values the first wins. Results: best_x (dim),
   best_value. Non-finite values count as -infinity; if all values are non-finite, `failure` is
   set. */
RG_API PetscErrorCode rg_maximise_box(const RgSearch *search, int dim, RgBatchFunction function,
                                      void *closure, double *best_x, double *best_value,
                                      RgFailure *failure);

/* Compute n raw points X (n x dim) and their values; for designs whose values are cheaper
   together than at separate Sobol points. */
typedef PetscErrorCode (*RgRawDesign)(void *closure, RgRandom *random, int n, double *X,
                                      double *value);

/* Like rg_maximise_box, with a cheaper function of nearly the same values for screening. It
   ranks the raw points and its maxima are found first; the best of them start the search on the
   true function (unless both are the same). raw: NULL for Sobol points. first: a still cheaper
   function, which decides which raw points are worth a value of `function` (not where inputs are
   discrete); NULL: all are. kinks: both functions have kinks, so climbs on the first one are
   short, and those on the true one end with a bundle method, after `rounds` of quasi-Newton
   steps (not where inputs are discrete). A NULL
   screen: rg_maximise_box. */
typedef struct {
  RgBatchFunction function;
  void *closure;
  RgRawDesign raw;
  RgBatchFunction first;
  void *first_closure;
  bool kinks;
  int rounds;
} RgScreen;
RG_API PetscErrorCode rg_maximise_box_screened(const RgSearch *search, int dim,
                                               RgBatchFunction function, void *closure,
                                               const RgScreen *screen, double *best_x,
                                               double *best_value, RgFailure *failure);

/* The lowest index whose value is within 1e-12*max(1,|best|) of the best over allowed points
   (excluded: NULL, or one byte per point, non-zero = not allowed). -1 when no value is finite. */
RG_API int rg_argmax(int n, const double *value, const unsigned char *excluded);

/* Points of a finite design that may not be queried again: one byte per point, non-zero = seen
   before or in flight. NULL unless the domain is without replacement. The caller frees it
   (PetscFree). */
RG_API PetscErrorCode rg_excluded_points(const RgDomain *domain, const RgHistory *history,
                                         unsigned char **excluded);

/* The next query. x: dim unit coordinates; the caller provides the storage. */
typedef struct {
  int index; /* finite design: chosen index; -1 on a box */
  double *x;
  int context_index; /* simulator only */
  double *c;         /* simulator only */
  double *extra;     /* values of the algorithm's record columns, NaN when not set */
} RgQuery;

/* Maximise any function of the design. On a box: multi-start, with starts also at the best
   observed inputs and at perturbations of the best one. On a finite design: a scan that computes
   values only, 512 points at a time. Points seen before are excluded when the domain is without
   replacement. query: index and x are set. failure: no finite value, or no point left. Every
   method whose criterion is not marginal (rg_acquire) chooses its query this way. */
RG_API PetscErrorCode rg_acquire_with(const RgDomain *domain, RgBatchFunction function,
                                      void *closure, const RgSearch *search, RgQuery *query,
                                      double *value, RgFailure *failure);

/* Like rg_acquire_with on a finite design, from the values at all points. If none is finite, the
   first point at -infinity. */
PetscErrorCode rg_acquire_of_set(const RgDomain *domain, const RgHistory *history,
                                 const double *values, RgQuery *query, double *value,
                                 RgFailure *failure);

/* Like rg_acquire_with, by rg_maximise_box_screened on a box. screen may be NULL. */
RG_API PetscErrorCode rg_acquire_screened(const RgDomain *domain, RgBatchFunction function,
                                          void *closure, const RgScreen *screen,
                                          const RgSearch *search, RgQuery *query, double *value,
                                          RgFailure *failure);

/* Maximise a marginal acquisition function under the model, which must be up to date. On a
   finite design: a scan. On a box: multi-start, with starts also at the best observed inputs and
   at perturbations of the best one. Points seen before are excluded when the domain is without
   replacement; if every value is -infinity, the lowest allowed index is returned. query: index
   and x are set. value: the acquisition function there. failure: no finite value on a box, no
   point left on a set. Errors: PETSC_ERR_SUP when the model has a context. O(N) on a set; on a
   box about raw_samples n^2, and two or three times as much for each start and round. */
RG_API PetscErrorCode rg_acquire(RgModel *model, const RgAcquisition *acquisition,
                                 const RgSearch *search, RgQuery *query, double *value,
                                 RgFailure *failure);

/* Points added to the raw points of a box: the best observed inputs, and perturbations of the
   best one. The perturbations' deviations fall geometrically, since the peak of EI beside an
   optimum narrows as data gather there. points: n x dim, freed by the caller (PetscFree). */
PetscErrorCode rg_observed_starts(const RgSearch *search, int *n, double **points);

/* A criterion may be a sum of marginal acquisition functions of several models and of functions of
   the design, such as log EI + sum_k log Pr(c_k <= 0). All pointers are borrowed. */
typedef struct {
  RgModel *model;            /* over the design and up to date; NULL: `function` is the summand */
  RgAcquisition acquisition; /* function of the model's posterior */
  bool mean_only;            /* `acquisition` does not read deviations, which are not computed */
  RgBatchFunction function;
  void *closure;
} RgSummand;

/* rg_acquire_with for the sum of n summands. O(sum of the costs of the summands). */
PetscErrorCode rg_acquire_sum(const RgDomain *domain, int n, const RgSummand *summands,
                              const RgSearch *search, RgQuery *query, double *value,
                              RgFailure *failure);
/* The sum at a query; 0 for n = 0. */
PetscErrorCode rg_acquisition_sum_at(const RgDomain *domain, int n, const RgSummand *summands,
                                     const RgQuery *query, double *value);

#endif
