/* Sample paths as functions on the unit cube, by random Fourier features (Rahimi and Recht 2007):

     g(z) = mean + sum_m theta_m a_m cos(2 pi (w_m . z + u_m)) [+ sum_i alpha_i k(x_i, z)]

   with theta standard normal for a draw from the prior. Frequencies w_m (turns per unit) come from
   the spectral density of each factor (gp/kernel/family.h): normal for a Gaussian one, Student t
   for a Matern one; an input shared by factors of a product gets the
   sum of their frequencies; the terms of a sum share the features evenly, a_m = sqrt(2 variance /
   features of the term). A path is conditioned on data in one of two ways:
     rff       theta is drawn from its posterior in the Bayesian linear model of the features
               (irgp_ucb 3.4): a draw from the posterior of the approximate kernel;
     pathwise  the path of the prior plus the exact update of the Gaussian process: the data enter
               through the kernel itself, so that many of them can't starve the features of
               variance (Wilson et al. 2020). */
#ifndef RG_GP_PATH_FEATURE_PATH_H
#define RG_GP_PATH_FEATURE_PATH_H

#include "gp/posterior/posterior.h"
#include "regatta/domain.h"
#include "regatta/stream.h"

typedef struct {
  int dim, n; /* numbers of inputs and features */
  /* Rows of `frequency`: dim, and one for every word of a choice, behind the row of its input. */
  int rows;
  int *words;        /* dim: the number of words of a choice, 0: a number; NULL: all are numbers */
  double *warp;      /* 2 x dim: the warp of the kernel; NULL: it has none */
  double *point;     /* rows: a point with its warp, and 0 or 1 for the words */
  double mean;       /* constant mean of the posterior that conditions the path */
  double *frequency; /* rows x n: frequency[k*n + m], turns */
  double *phase;     /* n, turns, in [0,1) */
  double *amplitude; /* n: a_m */
  double *weight;    /* n: theta_m a_m */
  double *alpha;     /* pathwise: weights of the kernel at the data */
  size_t alpha_room;
  double *work; /* 2 n: scratch of an evaluation */
  /* (rows + 3) x n, n padded: frequency, phase, weight in single precision; 1 where the frequency
     is not too large for it, else 0 */
  float *coarse;
  bool has_coarse;    /* whether `coarse` is up to date */
  double *large_work; /* scratch of conditioning and of the update in evaluations */
  size_t large_room;
  RgPosterior *posterior; /* pathwise: borrowed; must not change while the path is in use */
} RgFeaturePath;

/* Room for a path over `dim` inputs with `n` features. */
PetscErrorCode rg_feature_path_create(int dim, int n, RgFeaturePath *path);
PetscErrorCode rg_feature_path_destroy(RgFeaturePath *path);

/* Draw fresh features and a path from the prior GP(0, kernel). Consumes the numbers of the
   spectra, n uniforms and n normals. Errors: PETSC_ERR_ARG_OUTOFRANGE with fewer features than
   terms, PETSC_ERR_SUP for a family without spectrum. */
PetscErrorCode rg_feature_path_draw(RgFeaturePath *path, const RgKernel *kernel, RgRandom *random);

/* Condition a draw from the prior on the data of `posterior` (its inputs, outputs, noise, mean). e
   (posterior->n): draws of the noise. rff: O(n^2 M + n^3) for n data and M features, or O(n M^2 +
   M^3) when n > M, where theta comes from the M x M system; both give the same path. pathwise:
   O(n^2 + n M). failure: a system that jitter can't save. */
PetscErrorCode rg_feature_path_condition_weights(RgFeaturePath *path, const RgPosterior *posterior,
                                                 const double *e, RgFailure *failure);
PetscErrorCode rg_feature_path_condition_pathwise(RgFeaturePath *path, RgPosterior *posterior,
                                                  const double *e);

/* value (m) and gradient (m x dim; NULL: not wanted) at Z (m x dim). O(m M dim), and O(m n) kernel
   values where the update is pathwise. */
PetscErrorCode rg_feature_path_evaluate(RgFeaturePath *path, int m, const double *Z, double *value,
                                        double *gradient);
/* Values at all points of a product grid: point i goes to value[i * step]. Equal to the above up
   to rounding. O(M (R + C)) cosines and O(M R C) multiplications for a grid of R x C points,
   split so that R + C is smallest. Not for paths with a pathwise update. */
PetscErrorCode rg_feature_path_on_grid(const RgFeaturePath *path, const RgSpace *grid, int step,
                                       double *value);
/* Values with features summed in single precision, for screening many points: error about 1e-6
   of the prior deviation, three times as fast. */
PetscErrorCode rg_feature_path_screen(RgFeaturePath *path, int m, const double *Z, double *value);
/* Points of a product: the first `split` coordinates of point i are those of row i / columns of X
   (rows x split), the others those of row i % columns of Y (columns x (dim - split)), 0 < split <
   dim. */
typedef struct {
  int split, rows, columns;
  const double *X, *Y;
} RgPointProduct;
/* As rg_feature_path_screen at the first m <= rows * columns points, Z (m x dim, given). (rows +
   columns) M cosines. PETSC_ERR_SUP for kernels with choices or a warp. */
PetscErrorCode rg_feature_path_screen_product(RgFeaturePath *path, const RgPointProduct *product,
                                              int m, const double *Z, double *value);

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
