/* Kernel regression and kernel density of the points seen so far (boke 2.2):
   W(x) = sum_i k(x, x_i; h),   m(x) = sum_i k(x, x_i; h) y_i / W(x)
   with k of density/smoothing.h. Sums are not divided by the number of points, and a repeated
   point counts once per repetition. Appending a point costs O(dim). Every evaluation weighs all
   points afresh, so the bandwidth may change at any time. Weights of kernels that are nowhere 0 are
   relative to the nearest point, so m is never 0/0 (it tends to the nearest neighbour's value), and
   log W is exact where W underflows. */
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
  double *r2, *e, *g;  /* ld each: scratch for one evaluation */
  double mean, square; /* mean of all y, and the sum of squared differences from it, the latter in
                          units of 4^exponent, so that squares of any differences are numbers */
  int exponent;
} RgRegression;

/* Make room for `capacity` points. The store grows by itself. */
PetscErrorCode rg_regression_create(RgSmoothing kernel, int dim, int capacity,
                                    RgRegression *regression);
PetscErrorCode rg_regression_destroy(RgRegression *regression);

/* Append point x (dim, unit cube) with its observation. O(dim). */
PetscErrorCode rg_regression_append(RgRegression *regression, const double *x, double y);
/* Append the points of the history that are not stored yet. */
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
