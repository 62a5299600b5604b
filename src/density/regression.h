/* Kernel regression and kernel density of the points seen so far (boke 2.2):

     W(x) = sum_i k(x, x_i; h),   m(x) = sum_i k(x, x_i; h) y_i / W(x)

   with k of density/smoothing.h; not divided by the number of points, repeated points count once
   per repetition. Data are appended at O(dim) each and weighed afresh at every evaluation, so the
   bandwidth may change at any time. Gaussian weights are relative to the nearest point: m is never
   0/0 and becomes the nearest neighbour's value by itself, and log W is exact where W underflows.
 */
#ifndef RG_DENSITY_REGRESSION_H
#define RG_DENSITY_REGRESSION_H

#include "regatta/domain.h"
#include "density/smoothing.h"

typedef struct {
  RgSmoothing kernel;
  int dim, n;
  size_t ld;           /* room for points, a multiple of the vector block */
  double *x;           /* dim x ld, coordinate after coordinate; padded with far points */
  double *y;           /* ld, padded with 0 */
  double *r2, *e, *g;  /* ld each: scratch of one evaluation */
  double mean, square; /* of all y: mean, sum of squared differences from it */
} RgRegression;

/* Room for `capacity` points; grows by itself. */
PetscErrorCode rg_regression_create(RgSmoothing kernel, int dim, int capacity,
                                    RgRegression *regression);
PetscErrorCode rg_regression_destroy(RgRegression *regression);

/* One more point x (dim, unit cube) with its observation. O(dim). */
PetscErrorCode rg_regression_append(RgRegression *regression, const double *x, double y);
/* Append what the history has beyond the points already taken in. */
PetscErrorCode rg_regression_update(RgRegression *regression, const RgHistory *history);

/* Standard deviation of the observations, divisor n; 1 where it is 0 or n < 2. O(1). */
double rg_regression_deviation(const RgRegression *regression);

/* m and log W at `count` points X (count x dim) with bandwidth h > 0; n >= 1. Where W = 0 (compact
   kernels) m is the mean of the y_i over all nearest points and log W = -infinity. Gradients
   (count x dim; both or neither NULL): 0 where W = 0. Any of mean, log_weight may be NULL without
   gradients. O(count n dim). */
PetscErrorCode rg_regression_predict(RgRegression *regression, double h, int count, const double *X,
                                     double *mean, double *log_weight, double *d_mean,
                                     double *d_log_weight);

/* Distance to the nearest point, with its gradient (NULL: not wanted; 0 at a point). */
PetscErrorCode rg_regression_distance(RgRegression *regression, int count, const double *X,
                                      double *distance, double *d_distance);

#endif
