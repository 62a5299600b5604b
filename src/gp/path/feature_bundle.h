/* Several pathwise paths (feature_path.h) of the same features, each with weights of its own.

   Every path has the law of a path with features of its own. What they share is the error of the
   features, which the exact update confines to where the data say little: over posteriors of 20 to
   100 data in 2 to 6 dimensions the correlation of two maxima is 0.00 to 0.09 with 1000 features,
   and the mean of ten maxima is as close to that of exact paths as with features redrawn for each
   (under `rff` the same correlation reaches 0.9). The features at the data, the kernel at the raw
   points and the frequencies are then computed once for all paths. */
#ifndef RG_GP_PATH_FEATURE_BUNDLE_H
#define RG_GP_PATH_FEATURE_BUNDLE_H

#include "gp/path/feature_path.h"

typedef struct {
  RgFeaturePath path; /* the features, with the weights of the selected path */
  int count;          /* number of paths */
  double *weight;     /* count x features */
  double *alpha;      /* n x count, for n data */
  double *work;       /* kernel values at a block of points */
  size_t weight_room, alpha_room, work_room;
} RgFeatureBundle;

/* `features` random features in `dim` inputs, no path drawn yet. The caller destroys it. */
PetscErrorCode rg_feature_bundle_create(int dim, int features, RgFeatureBundle *bundle);
PetscErrorCode rg_feature_bundle_destroy(RgFeatureBundle *bundle);

/* Draw fresh features and `count` >= 1 paths given the data of `posterior`, which must not
   change while they are in use. e (n x count): draws of the noise. Consumes the numbers of one
   rg_feature_path_draw, then M normals for every further path. Selects the first path. O(n M
   (dim + count) + n^2 count). */
PetscErrorCode rg_feature_bundle_draw(RgFeatureBundle *bundle, RgPosterior *posterior, int count,
                                      const double *e, RgRandom *random);
/* Make bundle->path path s, for rg_feature_path_evaluate. */
PetscErrorCode rg_feature_bundle_select(RgFeatureBundle *bundle, int s);
/* value (count x m): all paths at the points of a product, as rg_feature_path_screen_product.
   (rows + columns) M cosines and m n kernel values. */
PetscErrorCode rg_feature_bundle_screen(RgFeatureBundle *bundle, const RgPointProduct *product,
                                        int m, const double *Z, double *value);

#endif
