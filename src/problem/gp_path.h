/* The parts that sample paths of a Gaussian process on a finite design share: options, kernel,
   values. */
#ifndef RG_PROBLEM_GP_PATH_H
#define RG_PROBLEM_GP_PATH_H

#include "regatta/problem.h"
#include "gp/kernel/kernel.h"

/* First member of the options. Native and unit coordinates are the same. */
typedef struct {
  int dim, kernel;
  RgReals length_scale;
  double variance;
} RgGpPathOptions;

#define RG_GP_PATH_PARAMS(kernel_, length_scale_)                                                  \
  RG_CHOICE("kernel", RgGpPathOptions, kernel, kernel_, rg_kernel_family_names, "k",               \
            "family of the covariance function"),                                                  \
    RG_REALS("length_scale", RgGpPathOptions, length_scale, length_scale_, RG_POSITIVE, 1e6,       \
             "ell", "length scale, or one per coordinate"),                                        \
    RG_REAL("variance", RgGpPathOptions, variance, "1", RG_POSITIVE, 1e12, "sigma_f^2",            \
            "variance of f at every point")

/* Functions of the class. The check tests the number of length scales. The path is drawn from
   the instance's stream at every point of the design, and a scan finds its optimum. */
PetscErrorCode rg_gp_path_check(const RgProblemClass *class, const void *options, RgPlace place,
                                RgDiagnostics *diagnostics);
PetscErrorCode rg_gp_path_prior(const void *options, RgKernel *kernel);
PetscErrorCode rg_gp_path_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_gp_path_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure);

#define RG_GP_PATH_METHODS                                                                         \
  .prior = rg_gp_path_prior, .create = rg_gp_path_create, .evaluate = rg_gp_path_evaluate

#endif
