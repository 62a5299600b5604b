/* What sample paths of a Gaussian process on a finite design share: options, kernel, values. */
#ifndef RG_PROBLEM_GP_PATH_H
#define RG_PROBLEM_GP_PATH_H

#include "regatta/problem.h"

/* First member of the options. Native and unit coordinates are the same. */
typedef struct {
  int dim, kernel;
  RgReals length_scale;
  double variance;
} RgGpPathOptions;

// clang-format off
#define RG_GP_PATH_PARAMS(kernel_, length_scale_)                                                  \
  {"kernel", RG_PARAM_CHOICE, offsetof(RgGpPathOptions, kernel), kernel_, 0, 0,                    \
   rg_kernel_family_names, "k", "family of the covariance function"},                              \
  {"length_scale", RG_PARAM_REALS, offsetof(RgGpPathOptions, length_scale), length_scale_,         \
   RG_POSITIVE, 1e6, NULL, "ell", "length scale, or one per coordinate"},                          \
  {"variance", RG_PARAM_REAL, offsetof(RgGpPathOptions, variance), "1", RG_POSITIVE, 1e12, NULL,   \
   "sigma_f^2", "variance of f at every point"}
// clang-format on

/* For `check`: the number of length scales. */
void rg_gp_path_check(const char *problem, const RgGpPathOptions *options, RgPlace place,
                      RgDiagnostics *diagnostics);

/* Functions of the class: the path drawn from the instance's stream at every point of the design,
   its optimum found by scanning. */
PetscErrorCode rg_gp_path_prior(const void *options, RgKernel *kernel);
PetscErrorCode rg_gp_path_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_gp_path_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure);

#define RG_GP_PATH_METHODS                                                                         \
  .random = true, .prior = rg_gp_path_prior, .create = rg_gp_path_create,                          \
  .evaluate = rg_gp_path_evaluate

#endif
