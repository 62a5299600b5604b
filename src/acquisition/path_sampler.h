/* Paths drawn jointly from the posterior of a model, and their maxima (irgp_ucb 3.4). */
#ifndef RG_ACQUISITION_PATH_SAMPLER_H
#define RG_ACQUISITION_PATH_SAMPLER_H

#include "acquisition/local_search.h"
#include "regatta/acquire.h"
#include "gp/path/feature_path.h"
#include "gp/path/set_path.h"

/* How paths are drawn (gp/path/feature_path.h, gp/path/set_path.h):
   auto      finite sets: exact where the set has at most 2000 points or a structured prior, else
   pathwise; boxes: pathwise
   rff       random Fourier features, with weights drawn from the posterior: the papers' setting
   exact     the exact joint posterior of all points; finite sets only
   pathwise  a prior path of random Fourier features plus the exact update; on a box the paths of
   one iteration share their features and the raw points of the search for their maxima
   (gp/path/feature_path.h)
   The maxima of pathwise paths have the law of exact ones, up to a few hundredths of their
   deviation. The maxima of rff paths are biased where data crowd: under a Matern-5/2 kernel of
   length scale 0.3 on the unit square with 60 data, mean and deviation are 1.82 (0.37) instead
   of 1.51 (0.12). */
#define RG_PATHS_EXACT_MAX 2000 /* auto: largest set without structure whose prior is factored */
typedef enum { RG_PATHS_AUTO, RG_PATHS_RFF, RG_PATHS_EXACT, RG_PATHS_PATHWISE } RgPathKind;

/* Parameters that methods with sampled paths share. The search for the maximum of a path on a
   box follows the `maximiser` block, except for the last two numbers: with several paths per
   iteration, each gets a smaller search. */
typedef struct {
  int kind;        /* RgPathKind */
  int features;    /* number of features of a path; redrawn for every path, or shared as above */
  int raw_samples; /* -1: as in the maximiser block; with several paths rg_path_raw_samples */
  int restarts;    /* -1: as in the maximiser block; with several paths RG_PATH_RESTARTS */
} RgPathOptions;

/* Measured on posteriors of 60 data in 2, 4 and 6 dimensions: the mean of ten maxima from this
   search is 0.01 to 0.04 of the prior deviation below that of a search with 20000 points and 100
   starts. In 60 and 100 dimensions more raw points than those of 25 do not raise it. */
#define RG_PATH_RESTARTS 6
static inline int rg_path_raw_samples(int dim)
{
  return 640 + 128 * (dim < RG_SEARCH_DENSE_MAX ? dim : RG_SEARCH_DENSE_MAX);
}

extern const char *const rg_path_kind_names[];
extern const char *const rg_path_weights[]; /* words of the parameter `weights` */

/* Lines of a parameters table for the member `paths` of `Options`. */
#define RG_PATH_PARAMS(Options)                                                                    \
  RG_CHOICE("paths", Options, paths.kind, "auto", rg_path_kind_names, "",                          \
            "how paths are drawn; auto: exact on finite sets (pathwise on large ones), pathwise "  \
            "on boxes"),                                                                           \
    RG_INT(                                                                                        \
      "features", Options, paths.features, "1000", 1, 1e6, "M",                                    \
      "random Fourier features of a path, redrawn for every path (pathwise on boxes: iteration)"), \
    RG_INT("path_raw_samples", Options, paths.raw_samples, "auto", 1, 1e7, "",                     \
           "raw points of the search for the maximum of a path on a box; auto: as in "             \
           "`maximiser`, or 640 + 128 per input, 3840 at most, where several paths are drawn"),    \
    RG_INT("path_restarts", Options, paths.restarts, "auto", 1, 1e5, "",                           \
           "starts of that search; auto: as in `maximiser`, or 6 where several paths are drawn")

/* Report mistakes that the table can't express: exact paths on a box, or on a set that is too
   large for them. options: begin with RgPathOptions. */
PetscErrorCode rg_path_options_check(const void *options, const RgDomain *domain, RgPlace place,
                                     RgDiagnostics *diagnostics);

/* Maxima of n paths. All arrays belong to the sampler and last until the next draw. */
typedef struct {
  int n;
  const int *index;    /* n: point of a finite design; -1 on a box */
  const double *x;     /* n x dim, unit coordinates */
  const double *value; /* n, model units */
} RgOptima;

typedef struct RgPathSampler RgPathSampler;

/* For models of the design alone. Borrows domain and options. capacity: expected number of
   evaluations. */
PetscErrorCode rg_path_sampler_create(const RgDomain *domain, const RgPathOptions *options,
                                      int capacity, RgPathSampler **sampler);
PetscErrorCode rg_path_sampler_destroy(RgPathSampler **sampler);

/* Draw `count` independent paths given the data of the model (updated before; the same history)
   and find their maxima: by a scan of a finite set, or by multi-start search on a box, where
   each path has its own raw points. `excluded` (finite sets; NULL: none): points to leave out.
   failure: a prior that can't be factored, fewer features than the kernel has terms, or no point
   left. */
PetscErrorCode rg_path_sampler_draw(RgPathSampler *sampler, RgModel *model, int count,
                                    const unsigned char *excluded, RgRandom *draws,
                                    const RgSearch *search, RgOptima *optima, RgFailure *failure);

/* Posterior covariances of every point of a finite design with `count` of its points: C (N x
   count), C[i * count + s]. They refer to the data of the last draw. */
PetscErrorCode rg_path_sampler_covariance(RgPathSampler *sampler, int count, const int *index,
                                          double *C);

#endif
