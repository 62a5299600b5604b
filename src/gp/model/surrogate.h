/* What the `surrogate:` block of a study file (RgSurrogateOptions) means: its checks, the kernel,
   the fit. */
#ifndef RG_GP_MODEL_SURROGATE_H
#define RG_GP_MODEL_SURROGATE_H

#include "gp/kernel/family.h"
#include "gp/model/fit.h"
#include "gp/posterior/posterior.h"
#include "regatta/model.h"
#include "regatta/params.h"

/* Mistakes the table can't express: lists that don't match the inputs (x, c), of the largest model
   of the study; structures that the model, of x alone or of (x, c), can't have; bounds out of
   order. */
PetscErrorCode rg_surrogate_check(const RgSurrogateOptions *options, int dim_x, int dim_c,
                                  bool use_context, RgPlace place, RgDiagnostics *diagnostics);

/* Is the posterior for n data without a matrix, on a team of so many ranks? */
bool rg_surrogate_is_iterative(const RgSurrogateOptions *options, double n, int ranks);
/* The options of its solver, with what `auto` means. */
RgSolverOptions rg_surrogate_solver(const RgSurrogateOptions *options);
/* Data that hyperparameters are fitted on. */
int rg_surrogate_fit_data(const RgSurrogateOptions *options);

/* Kernel at the configured hyperparameters over the first `dim` inputs; lists longer than needed
   are cut (a model of x alone in a study whose other models see (x, c)). Errors: PETSC_ERR_ARG_SIZ
   for lists that rg_surrogate_check would refuse. */
PetscErrorCode rg_surrogate_kernel(const RgSurrogateOptions *options, int dim, RgKernel *kernel);

/* How many correlations a model on a product grid keeps, `dim` axes of so many levels: between
   those of each axis for every term of its kernel; 0: the kernel does not factor over the axes. */
PetscErrorCode rg_surrogate_tables(const RgSurrogateOptions *options, int dim, const int *levels,
                                   double *tables);

/* The first family of the model that has no spectrum; NULL: all have. */
const RgKernelClass *rg_surrogate_without_spectrum(const RgSurrogateOptions *options);

/* What the options say to the fit: priors (none unless the policy is map), bounds, limits. */
RgFitOptions rg_surrogate_fit_options(const RgSurrogateOptions *options, int dim, bool learn_noise);

/* The parts of rg_surrogate_check and rg_surrogate_kernel for options with `terms`. */
PetscErrorCode rg_surrogate_check_terms(const RgSurrogateOptions *options, int dim, RgPlace place,
                                        RgDiagnostics *diagnostics);
/* Length scale of an input where none is given: fixed value, or start of the fit. */
double rg_surrogate_start(const RgSurrogateOptions *options, int dim);
PetscErrorCode rg_surrogate_terms_kernel(const RgSurrogateOptions *options, int dim,
                                         RgKernel *kernel);

#endif
