/* Paths drawn jointly from the posterior of a model, and their maxima (irgp_ucb 3.4). */
#ifndef RG_ACQUISITION_PATH_SAMPLER_H
#define RG_ACQUISITION_PATH_SAMPLER_H

#include "regatta/acquire.h"
#include "gp/path/feature_path.h"
#include "gp/path/set_path.h"

/* How paths are drawn (gp/path/feature_path.h, gp/path/set_path.h):
   auto      finite sets: exact where the set has at most 2000 points or a structured prior, else
             pathwise; boxes: pathwise
   rff       random Fourier features, their weights drawn from the posterior: the papers' setting
   exact     the exact joint posterior of all points; finite sets only
   pathwise  a prior path of random Fourier features plus the exact update; on a box the paths of
             one iteration share their features and the raw points of the search for their maxima
             (gp/path/feature_bundle.h)
   The maxima of pathwise paths have the law of those of exact ones, up to a few hundredths of their
   deviation. Those of rff paths are off where data crowd: under a Matern-5/2 kernel of length scale
   0.3 on the unit square with 60 data, 1.82 (0.37) in place of 1.51 (0.12), mean and deviation. */
#define RG_PATHS_EXACT_MAX 2000 /* auto: largest set without structure whose prior is factored */
typedef enum { RG_PATHS_AUTO, RG_PATHS_RFF, RG_PATHS_EXACT, RG_PATHS_PATHWISE } RgPathKind;

/* Parameters that methods with sampled paths share. The maximum of a path on a box is searched as
   the `maximiser` block says, but for the last two numbers: where several paths are drawn per
   iteration, each gets a smaller search. */
typedef struct {
  int kind;        /* RgPathKind */
  int features;    /* of a path; redrawn for every path, or as above */
  int raw_samples; /* -1: of the maximiser block; of several paths rg_path_raw_samples */
  int restarts;    /* -1: of the maximiser block; of several paths RG_PATH_RESTARTS */
} RgPathOptions;

/* Measured on posteriors of 60 data in 2, 4 and 6 dimensions: the mean of ten maxima found so is
   0.01 to 0.04 of the prior deviation below that of a search with 20000 points, 100 starts. */
#define RG_PATH_RESTARTS 6
static inline int rg_path_raw_samples(int dim)
{
  return 640 + 128 * dim;
}

extern const char *const rg_path_kind_names[];

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
           "`maximiser`, or 640 + 128 per input where several paths are drawn"),                   \
    RG_INT("path_restarts", Options, paths.restarts, "auto", 1, 1e5, "",                           \
           "starts of that search; auto: as in `maximiser`, or 6 where several paths are drawn")

/* Mistakes the table can't express: exact paths on a box, or on a set they are too large for.
   options: begin with RgPathOptions. */
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

/* For models of the design alone. Borrows domain and options. capacity: expected evaluations. */
PetscErrorCode rg_path_sampler_create(const RgDomain *domain, const RgPathOptions *options,
                                      int capacity, RgPathSampler **sampler);
PetscErrorCode rg_path_sampler_destroy(RgPathSampler **sampler);

/* Draw `count` independent paths given the data of the model (updated before; the same history)
   and find their maxima: by scan of a finite set, by multi-start search on a box, each path with
   its own raw points. `excluded` (finite sets; NULL: none): points that don't count. failure: a
   prior that can't be factored, fewer features than the kernel has terms, no point left. */
PetscErrorCode rg_path_sampler_draw(RgPathSampler *sampler, RgModel *model, int count,
                                    const unsigned char *excluded, RgRandom *draws,
                                    const RgSearch *search, RgOptima *optima, RgFailure *failure);

/* Posterior covariances of every point of a finite design with `count` of them: C (N x count),
   C[i * count + s]. Of the data of the last draw. */
PetscErrorCode rg_path_sampler_covariance(RgPathSampler *sampler, int count, const int *index,
                                          double *C);

#endif
