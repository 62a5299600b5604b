/* Parts of feature paths that their ways of evaluation share (private to gp/). */
#ifndef RG_GP_PATH_FEATURE_PATH_INTERNAL_H
#define RG_GP_PATH_FEATURE_PATH_INTERNAL_H

#include "gp/path/feature_path.h"

/* Room for `size` doubles in `large_work`. */
PetscErrorCode rg_feature_path_reserve(RgFeaturePath *path, size_t size);
PetscErrorCode rg_feature_path_reserve_alpha(RgFeaturePath *path, int n);
/* The `rows` coordinates of a point x (dim); valid until the next call. */
const double *rg_feature_path_rows(RgFeaturePath *path, const double *x);
/* Fill `coarse` if it is out of date; returns its leading dimension. */
size_t rg_feature_path_make_coarse(RgFeaturePath *path);
/* Add the pathwise update at m points, a block at a time. */
PetscErrorCode rg_feature_path_add_updates(RgFeaturePath *path, int m, const double *Z,
                                           double *value, double *gradient);
/* mean plus features alone, for `count` vectors of weights (count x path->n), at the points of a
   product as in rg_feature_path_screen_product: value (count x m). */
PetscErrorCode rg_feature_path_screen_weights(RgFeaturePath *path, const RgPointProduct *product,
                                              int count, const double *weight, int m,
                                              double *value);

#endif
