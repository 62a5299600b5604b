/* Meaning of the `surrogate:` block of a study file (RgSurrogateOptions): its checks, its
   kernel, its fit. */
#ifndef RG_GP_MODEL_SURROGATE_H
#define RG_GP_MODEL_SURROGATE_H

#include "gp/kernel/family.h"
#include "gp/model/fit.h"
#include "gp/posterior/posterior.h"
#include "regatta/model.h"
#include "regatta/params.h"

/* With more data, searches through contexts take fewer nodes and less of the data, and fits with
   fit_warm: auto take their starts in parts. The revision is in the identity of such trials. */
#define RG_LONG_DATA 400
#define RG_LONG_REVISION 3

/* Report mistakes that the table can't express: lists that don't match the inputs (x, c) of the
   study's largest model; structures that a model of x alone or of (x, c) can't have; bounds in
   the wrong order. */
PetscErrorCode rg_surrogate_check(const RgSurrogateOptions *options, int dim_x, int dim_c,
                                  bool use_context, RgPlace place, RgDiagnostics *diagnostics);

/* Whether the posterior of n data on a team of `ranks` ranks works without a matrix. */
bool rg_surrogate_is_iterative(const RgSurrogateOptions *options, double n, int ranks);
/* The options of that solver, with `auto` resolved. */
RgSolverOptions rg_surrogate_solver(const RgSurrogateOptions *options);
/* Number of data that hyperparameters are fitted to. */
int rg_surrogate_fit_data(const RgSurrogateOptions *options);

/* Kernel at the configured hyperparameters over the first `dim` inputs. Cuts lists that are
   longer than needed (a model of x alone in a study whose other models see (x, c)). Errors:
   PETSC_ERR_ARG_SIZ for lists that rg_surrogate_check refuses. */
PetscErrorCode rg_surrogate_kernel(const RgSurrogateOptions *options, int dim, RgKernel *kernel);

/* Number of correlations that a model keeps on a product grid of `dim` axes with `levels`
   levels: those between the levels of each axis, for every term of its kernel. 0: the kernel
   does not factor over the axes. */
PetscErrorCode rg_surrogate_tables(const RgSurrogateOptions *options, int dim, const int *levels,
                                   double *tables);

/* The first family of the model that has no spectrum; NULL: all have one. */
const RgKernelClass *rg_surrogate_without_spectrum(const RgSurrogateOptions *options);

/* Whether the model is a linear function on a sphere, so that its noise is always learned. */
bool rg_surrogate_is_linear(const RgSurrogateOptions *options);

/* Options of the fit: priors (only under the map policy), bounds, limits. */
RgFitOptions rg_surrogate_fit_options(const RgSurrogateOptions *options, int dim, bool learn_noise);

#endif
