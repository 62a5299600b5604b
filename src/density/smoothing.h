/* Smoothing kernels and bandwidths of kernel density estimation and kernel regression.

   A smoothing kernel is k(x, x'; h) = Psi((x - x')/h) with Psi(0) = 1 and no other normalisation.
   Sources: boke 2.1, 2.3; Scott (1992), Multivariate density estimation; Silverman (1986), Density
   estimation for statistics and data analysis. */
#ifndef RG_DENSITY_SMOOTHING_H
#define RG_DENSITY_SMOOTHING_H

#include "regatta/error.h"

typedef enum {
#define RG_SMOOTHING(SYMBOL, name) RG_SMOOTHING_##SYMBOL,
#include "density/list.h"
#undef RG_SMOOTHING
} RgSmoothing;

extern const char *const rg_smoothing_names[]; /* in order, ends with NULL */

/* Psi at |z|^2 = r2 >= 0. For the Laplacian kernel |z| is the sum of the |z_k|, everywhere in
   density/. */
double rg_smoothing_value(RgSmoothing kernel, double r2);
/* Radius of the largest Euclidean ball in dim coordinates in which Psi(z) >= level, level in (0,1).
   With every kernel but the Laplacian one, the ball has all such z. */
double rg_smoothing_level_radius(RgSmoothing kernel, int dim, double level);

/* How h_n follows from the number n of points in dim coordinates:
   scott      c n^(-1/(d+4))
   silverman  c (n (d+2)/4)^(-1/(d+4))
   spacing    c n^(-1/d)
   fixed      c
   cv         between a tenth and ten times that of scott, by cross-validation
              (rg_bandwidth_cross_validated) */
typedef enum {
  RG_BANDWIDTH_SCOTT,
  RG_BANDWIDTH_SILVERMAN,
  RG_BANDWIDTH_SPACING,
  RG_BANDWIDTH_FIXED,
  RG_BANDWIDTH_CV
} RgBandwidthRule;

extern const char *const rg_bandwidth_names[]; /* in order, ends with NULL */

/* h_n of the rule (cv: that of scott); n, dim >= 1, n an effective number where points have
   weights; constant > 0: a length, such as the standard deviation of the points
   (rg_sample_deviations). */
double rg_bandwidth(RgBandwidthRule rule, double constant, double n, int dim);

/* Standard deviation (divisor n - 1; 0 when n = 1) of each coordinate of n points. points: n x dim,
   deviation: dim, out. O(n dim). */
void rg_sample_deviations(int n, int dim, const double *points, double *deviation);

enum { RG_CV_STEPS = 16 };

/* *h minimises the sum of squared errors of the regression at each of n points from all others
   (boke 2.3) over the 2 RG_CV_STEPS + 1 bandwidths centre 10^(k/RG_CV_STEPS), |k| <= RG_CV_STEPS;
   the largest of equally good ones, and centre for n < 3. x: n x dim, y: n. O(n^2 (dim +
   RG_CV_STEPS)). */
PetscErrorCode rg_bandwidth_cross_validated(RgSmoothing kernel, int n, int dim, const double *x,
                                            const double *y, double centre, double *h);

#endif
