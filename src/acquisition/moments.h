/* Posterior moments of f at points of a box and their covariances with p fixed inputs: what JES and
   the knowledge gradient are functions of (private to acquisition/). */
#ifndef RG_ACQUISITION_MOMENTS_H
#define RG_ACQUISITION_MOMENTS_H

#include "gp/model/model.h"
#include "gp/posterior/exact/cross_covariance.h"

enum { RG_MOMENTS_BLOCK = 128 }; /* points at a time */

typedef struct RgMoments RgMoments;
struct RgMoments {
  RgModel *model; /* borrowed */
  int p;
  /* For a block of m points: mean and variance (m), C[l * m + j] of x_j with input l (p x m); the
     derivatives of the values by them. */
  double *mean, *variance, *C;
  double *d_mean, *d_variance, *d_C;
  /* The values of such a block, and derivatives where `slopes` is true. Set by the caller. */
  PetscErrorCode (*values)(RgMoments *moments, int m, double *value, bool slopes);
  void *closure; /* of the caller */
  RgCrossCovariance cross;
  RgPrediction work;
};

/* Room for a block and p inputs. */
PetscErrorCode rg_moments_create(RgModel *model, int p, RgMoments *moments);
/* The inputs (p x dim), on a box; mean (p): their posterior means. */
PetscErrorCode rg_moments_fix(RgMoments *moments, const double *inputs, double *mean);
PetscErrorCode rg_moments_destroy(RgMoments *moments);

/* An RgBatchFunction of such moments; its closure is an RgMoments. */
PetscErrorCode rg_moments_function(void *moments, int m, const double *X, double *value,
                                   double *gradient);

#endif
