/* Posterior moments of f at points of a box, and their covariances with p fixed inputs. JES and
   the knowledge gradient are functions of these (private to acquisition/). */
#ifndef RG_ACQUISITION_MOMENTS_H
#define RG_ACQUISITION_MOMENTS_H

#include "gp/model/model.h"
#include "gp/posterior/exact/exact.h"

enum { RG_MOMENTS_BLOCK = 128 }; /* points per block */

typedef struct RgMoments RgMoments;
struct RgMoments {
  RgModel *model; /* borrowed */
  int p;
  /* For a block of m points: mean and variance (m), and C[l * m + j], the covariance of x_j with
     input l (p x m). Also the derivatives of the values by these moments. */
  double *mean, *variance, *C;
  const double *X; /* the points of the block, m x dim; borrowed */
  double *d_mean, *d_variance, *d_C;
  /* Computes the values of a block, and the derivatives where `slopes` is true. Set by the
     caller. */
  PetscErrorCode (*values)(RgMoments *moments, int m, double *value, bool slopes);
  void *closure; /* owned by the caller */
  RgCrossCovariance cross;
  RgPrediction work;
};

/* Make room for a block and p inputs. */
PetscErrorCode rg_moments_create(RgModel *model, int p, RgMoments *moments);
/* Set the inputs (p x dim) on a box; mean (p): receives their posterior means. */
PetscErrorCode rg_moments_fix(RgMoments *moments, const double *inputs, double *mean);
PetscErrorCode rg_moments_destroy(RgMoments *moments);

/* An RgBatchFunction of these moments; its closure is an RgMoments. */
PetscErrorCode rg_moments_function(void *moments, int m, const double *X, double *value,
                                   double *gradient);

#endif
