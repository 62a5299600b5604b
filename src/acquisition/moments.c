/* Acquisition functions of the moments of f at a point and its covariances with fixed inputs. */
#include "acquisition/moments.h"

#include "gp/posterior/set/set_posterior.h"

#define BLOCK 128 /* points per block */

PetscErrorCode rg_moments_create(RgModel *model, int p, RgMomentFunction values, void *closure,
                                 RgMoments *moments)
{
  const RgSpace *design = &model->domain->design;

  *moments = (RgMoments){.model = model,
                         .p = p,
                         .values = values,
                         .closure = closure,
                         .by_point = 1,
                         .by_input = (size_t)design->size};
  PetscCall(PetscMalloc6(BLOCK, &moments->mean, BLOCK, &moments->variance, p * BLOCK, &moments->C,
                         BLOCK, &moments->d_mean, BLOCK, &moments->d_variance, p * BLOCK,
                         &moments->d_C));
  if (rg_space_is_finite(design))
    PetscCall(PetscMalloc1((size_t)design->size * p, &moments->covariance));
  return 0;
}

PetscErrorCode rg_moments_fix(RgMoments *moments, const double *X, const int *index, double *mean)
{
  RgPosterior *posterior = &moments->model->posterior;
  RgSetPosterior *set;

  if (!rg_space_is_finite(&moments->model->domain->design)) {
    PetscCall(rg_posterior_predict(posterior, moments->p, X, mean, NULL, &moments->work));
    return rg_cross_covariance_create(posterior, moments->p, X, &moments->cross);
  }
  PetscCall(rg_posterior_get_set(posterior, &set));
  for (int l = 0; l < moments->p; l++) {
    mean[l] = rg_posterior_means(posterior)[index[l]];
    PetscCall(
      rg_set_posterior_covariance(set, index[l], moments->covariance + l * moments->by_input));
  }
  return 0;
}

PetscErrorCode rg_moments_destroy(RgMoments *moments)
{
  PetscCall(PetscFree6(moments->mean, moments->variance, moments->C, moments->d_mean,
                       moments->d_variance, moments->d_C));
  PetscCall(PetscFree(moments->covariance));
  PetscCall(rg_cross_covariance_destroy(&moments->cross));
  return rg_prediction_destroy(&moments->work);
}

static PetscErrorCode block(RgMoments *moments, int m, const double *X, double *value,
                            double *gradient)
{
  RgPosterior *posterior = &moments->model->posterior;

  moments->X = X;
  if (moments->covariance) {
    const size_t first = rg_moments_point(moments, X);
    const double *from = moments->covariance + first * moments->by_point;
    PetscCall(PetscArraycpy(moments->mean, rg_posterior_means(posterior) + first, m));
    PetscCall(PetscArraycpy(moments->variance, rg_posterior_variances(posterior) + first, m));
    for (int l = 0; l < moments->p; l++)
      for (int j = 0; j < m; j++)
        moments->C[l * m + j] = from[j * moments->by_point + l * moments->by_input];
  } else {
    PetscCall(
      rg_posterior_predict(posterior, m, X, moments->mean, moments->variance, &moments->work));
    PetscCall(rg_cross_covariance_evaluate(&moments->cross, m, X, moments->C));
  }
  PetscCall(moments->values(moments, m, value, gradient != NULL));
  if (!gradient) return 0;
  PetscCall(rg_posterior_gradient(posterior, m, X, moments->d_mean, moments->d_variance,
                                  &moments->work, gradient));
  return rg_cross_covariance_gradient(&moments->cross, m, X, moments->d_C, gradient);
}

PetscErrorCode rg_moments_function(void *moments, int m, const double *X, double *value,
                                   double *gradient)
{
  const size_t dim = (size_t)((RgMoments *)moments)->model->domain->design.dim;

  for (int first = 0; first < m; first += BLOCK)
    PetscCall(block(moments, PetscMin(BLOCK, m - first), X + first * dim, value + first,
                    gradient ? gradient + first * dim : NULL));
  return 0;
}
