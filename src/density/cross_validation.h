/* Cross-validated bandwidth of kernel regression (boke 2.3). */
#ifndef RG_DENSITY_CROSS_VALIDATION_H
#define RG_DENSITY_CROSS_VALIDATION_H

#include "density/smoothing.h"

enum { RG_CV_STEPS = 16 };

/* Of the 2 RG_CV_STEPS + 1 bandwidths centre 10^(k/RG_CV_STEPS), the one whose regression at each
   of the n points from all others has the smallest sum of squared errors; the largest of equals.
   n < 3: centre. x: n x dim, y: n. O(n^2 (dim + RG_CV_STEPS)). */
PetscErrorCode rg_bandwidth_cross_validated(RgSmoothing kernel, int n, int dim, const double *x,
                                            const double *y, double centre, double *h);

#endif
