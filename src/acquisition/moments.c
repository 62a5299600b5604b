/* Acquisition functions of the moments of f at a point and its covariances with fixed inputs. */
#include "acquisition/moments.h"

PetscErrorCode rg_moments_create(RgModel *model, int p, RgMoments *moments)
{
  const int m = RG_MOMENTS_BLOCK;

  *moments = (RgMoments){.model = model, .p = p};
  PetscCall(PetscMalloc6(m, &moments->mean, m, &moments->variance, p * m, &moments->C, m,
                         &moments->d_mean, m, &moments->d_variance, p * m, &moments->d_C));
  return 0;
}

PetscErrorCode rg_moments_fix(RgMoments *moments, const double *inputs, double *mean)
{
  RgPosterior *posterior = &moments->model->posterior;

  PetscCall(rg_posterior_predict(posterior, moments->p, inputs, mean, NULL, &moments->work));
  PetscCall(rg_cross_covariance_create(posterior, moments->p, inputs, &moments->cross));
  return 0;
}

PetscErrorCode rg_moments_destroy(RgMoments *moments)
{
  PetscCall(PetscFree6(moments->mean, moments->variance, moments->C, moments->d_mean,
                       moments->d_variance, moments->d_C));
  PetscCall(rg_cross_covariance_destroy(&moments->cross));
  PetscCall(rg_prediction_destroy(&moments->work));
  return 0;
}

static PetscErrorCode block(RgMoments *moments, int m, const double *X, double *value,
                            double *gradient)
{
  RgPosterior *posterior = &moments->model->posterior;

  PetscCall(
    rg_posterior_predict(posterior, m, X, moments->mean, moments->variance, &moments->work));
  PetscCall(rg_cross_covariance_evaluate(&moments->cross, m, X, moments->C));
  moments->X = X;
  PetscCall(moments->values(moments, m, value, gradient != NULL));
  if (!gradient) return 0;
  PetscCall(rg_posterior_gradient(posterior, m, X, moments->d_mean, moments->d_variance,
                                  &moments->work, gradient));
  PetscCall(rg_cross_covariance_gradient(&moments->cross, m, X, moments->d_C, gradient));
  return 0;
}

PetscErrorCode rg_moments_function(void *moments, int m, const double *X, double *value,
                                   double *gradient)
{
  const size_t dim = (size_t)((RgMoments *)moments)->model->domain->design.dim;

  for (int first = 0; first < m; first += RG_MOMENTS_BLOCK)
    PetscCall(block(moments, PetscMin(RG_MOMENTS_BLOCK, m - first), X + first * dim, value + first,
                    gradient ? gradient + first * dim : NULL));
  return 0;
}
