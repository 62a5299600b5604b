/* Queries by kernel regression: the upper confidence bound of boke 2.4, pure exploitation, and the
   point of least density. */
#ifndef RG_ACQUISITION_REGRESSION_SEARCH_H
#define RG_ACQUISITION_REGRESSION_SEARCH_H

#include "regatta/acquire.h"
#include "density/regression.h"

typedef enum {
  RG_REGRESSION_UCB,  /* m + width W^(-1/2) */
  RG_REGRESSION_MEAN, /* m; values within 1e-12 max(1,|m|) count as equal */
  RG_REGRESSION_SPACE /* -log W: the point of least density */
} RgRegressionGoal;

/* How values are compared. Set by the first batch without gradients: the raw points. */
typedef enum {
  RG_REGRESSION_PLAIN,
  RG_REGRESSION_LOGARITHM, /* of the bound, where W^(-1/2) may overflow */
  RG_REGRESSION_DISTANCE   /* to the data, where W = 0 somewhere (compact kernels) */
} RgRegressionScale;

typedef struct {
  RgRegression *regression; /* borrowed */
  RgRegressionGoal goal;
  double h;
  double shift, deviation; /* m is taken as (m - shift)/deviation */
  double width;            /* sqrt(beta_t) */
  RgRegressionScale scale; /* out */
  bool scaled;             /* false before a search; then `scale` is set */
  long evaluations;        /* out: acquisition values so far */
} RgRegressionSearch;

/* An RgBatchFunction; context: RgRegressionSearch. */
PetscErrorCode rg_regression_value(void *search, int m, const double *X, double *value,
                                   double *gradient);

/* Where starts climb in lockstep, as `options` say: at least 100 of them per input, and at least
   500 raw points; false: another local search or none, which begins as asked. O(1). */
bool rg_regression_widen(int dim, RgMaximiserOptions *options);

/* Maximise the goal over the design as rg_acquire_with does, ties by the order of the points. On a
   box the search begins as rg_regression_widen says; where that is so seven in eight of the raw
   points lie on faces of the box (of Sobol points u: 3u - 1 cut off at 0 and 1; not in a space with
   inputs that don't always count). The uniform kernel has no gradient: no local search. value: m +
   width W^(-1/2), m or -log W at the query, infinite where W = 0. Needs data. */
PetscErrorCode rg_regression_acquire(const RgDomain *domain, RgRegressionSearch *regression,
                                     const RgSearch *search, RgQuery *query, double *value,
                                     RgFailure *failure);

#endif
