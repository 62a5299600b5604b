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

/* How values are compared. The first batch without gradients, which holds the raw points,
   decides. */
typedef enum {
  RG_REGRESSION_PLAIN,
  RG_REGRESSION_LOGARITHM, /* logarithm of the bound, where W^(-1/2) may overflow */
  RG_REGRESSION_DISTANCE   /* distance to the data, where W = 0 somewhere (compact kernels) */
} RgRegressionScale;

typedef struct {
  RgRegression *regression; /* borrowed */
  RgRegressionGoal goal;
  double h;
  double shift, deviation; /* m is taken as (m - shift)/deviation */
  double width;            /* sqrt(beta_t) */
  RgRegressionScale scale; /* out */
  bool scaled;             /* false before a search; the search sets `scale` and then this */
  long evaluations;        /* out: number of acquisition values so far */
} RgRegressionSearch;

/* An RgBatchFunction; context: RgRegressionSearch. */
PetscErrorCode rg_regression_value(void *search, int m, const double *X, double *value,
                                   double *gradient);

/* Raise the numbers of raw points and starts where starts climb in lockstep according to
   `options`: at least 100 starts and 500 raw points per input. Above 25 inputs the
   numbers fall as 1/dim, so that a search costs about the same. Returns false for another local
   search or for none; then the numbers stay as they are. O(1). */
bool rg_regression_widen(int dim, RgMaximiserOptions *options);

/* Maximise the goal over the design as rg_acquire_with does; among equal values the earliest
   point wins. On a box the search begins as rg_regression_widen describes; in that case seven in
   eight raw points lie on faces of the box (Sobol points u become 3u - 1, clipped to [0, 1]; not
   in a space with conditional inputs). The uniform kernel has no gradient, so it has no local
   search. value: m + width W^(-1/2), m or -log W at the query; infinite where W = 0. Needs data. */
PetscErrorCode rg_regression_acquire(const RgDomain *domain, RgRegressionSearch *regression,
                                     const RgSearch *search, RgQuery *query, double *value,
                                     RgFailure *failure);

#endif
