/* Posterior moments of f at points of a design, and their covariances with p fixed inputs. JES, the
   knowledge gradient and the joint improvement are functions of these (private to acquisition/). */
#ifndef RG_ACQUISITION_MOMENTS_H
#define RG_ACQUISITION_MOMENTS_H

#include "gp/model/model.h"
#include "gp/posterior/exact/exact.h"

typedef struct RgMoments RgMoments;
/* Computes the values of a block, and the derivatives where `slopes` is true. */
typedef PetscErrorCode (*RgMomentFunction)(RgMoments *moments, int m, double *value, bool slopes);
struct RgMoments {
  RgModel *model; /* borrowed */
  int p;
  /* For a block of m points: mean and variance (m), and C[l * m + j], the covariance of x_j with
     input l (p x m). Also the derivatives of the values by these moments. */
  double *mean, *variance, *C;
  const double *X; /* the points of the block, m x dim; borrowed */
  double *d_mean, *d_variance, *d_C;
  RgMomentFunction values;
  void *closure; /* owned by the caller */
  /* Finite designs of N points: the covariance of point i with input l stands at i * by_point + l *
     by_input; rg_moments_fix fills it by inputs. */
  double *covariance;
  size_t by_point, by_input;
  RgCrossCovariance cross; /* boxes */
  RgPrediction work;
};

/* Make room for a block and p inputs. */
PetscErrorCode rg_moments_create(RgModel *model, int p, RgMomentFunction values, void *closure,
                                 RgMoments *moments);
/* Set the inputs: X (p x dim) on a box, points `index` (p) of a finite design. mean (p): receives
   their posterior means. */
PetscErrorCode rg_moments_fix(RgMoments *moments, const double *X, const int *index, double *mean);
PetscErrorCode rg_moments_destroy(RgMoments *moments);

/* The number in a finite design of the point that stands at x. */
static inline size_t rg_moments_point(const RgMoments *moments, const double *x)
{
  const RgSpace *space = &moments->model->domain->design;

  return (size_t)(x - space->points) / (size_t)space->dim;
}

/* An RgBatchFunction of these moments; its closure is an RgMoments. On a finite design X is a place
   in the design. */
PetscErrorCode rg_moments_function(void *moments, int m, const double *X, double *value,
                                   double *gradient);

#endif
