/* Fits with scratch of their own. */
#ifndef RG_TESTS_FIT_SUPPORT_H
#define RG_TESTS_FIT_SUPPORT_H

#include "gp/model/fit.h"

/* The objective of a fit at this mean, and a fit, with scratch of their own. */
static inline PetscErrorCode rg_fit_objective(const RgKernel *kernel, double noise_variance,
                                              double mean, const RgData *data,
                                              const RgFitOptions *options, double *value,
                                              double *gradient)
{
  RgFitWork work = {0};
  RgFitOptions given = *options;

  given.learn_mean = false;
  PetscCall(
    rg_fit_objective_with(&work, kernel, noise_variance, &mean, data, &given, value, gradient));
  return rg_fit_work_destroy(&work);
}

static inline PetscErrorCode rg_fit(RgKernel *kernel, double *noise_variance, double *mean,
                                    const RgData *data, const RgFitOptions *options,
                                    RgRandom *random, double *value, int *evaluations)
{
  RgFitWork work = {0};
  RgFitReport report;

  PetscCall(rg_fit_with(&work, kernel, noise_variance, mean, data, options, random, &report));
  *value = report.value;
  *evaluations = report.evaluations;
  return rg_fit_work_destroy(&work);
}

#endif
