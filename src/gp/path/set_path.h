/* Posterior sample paths on a finite set, from the exact joint posterior of all its points, and
   posterior covariances with single points. Several paths at once. A path is a draw f0 from the
   prior plus its update by the data, g = f0 + mean + K(set, data) (K(data, data) + noise I)^-1
   (y - mean - f0(data) - e), e ~ N(0, noise), which has exactly the posterior's distribution
   (irgp_ucb 3.4, `exact`). Costs per path: O(n^2 + N sum_j levels_j) on product grids with a
   kernel that factors over the coordinates, O(n^2 + n N + N^2) elsewhere, with a factor of the
   prior that is kept until the hyperparameters change. */
#ifndef RG_GP_PATH_SET_PATH_H
#define RG_GP_PATH_SET_PATH_H

#include "gp/posterior/posterior.h"
#include "gp/posterior/set/set_posterior.h"
#include "regatta/domain.h"
#include "regatta/stream.h"

typedef struct RgSetPaths RgSetPaths;

/* Paths on the points of `space` (finite; borrowed). `capacity`: expected number of observations.
   */
PetscErrorCode rg_set_paths_create(const RgSpace *space, const RgKernel *kernel, int capacity,
                                   RgSetPaths **paths);
PetscErrorCode rg_set_paths_destroy(RgSetPaths **paths);

/* Set the data: outputs y (n) at points index (n), and the hyperparameters. Cheap when data were
   only added at the end: O(n^2) each. failure: a factorisation that jitter can't save. */
PetscErrorCode rg_set_paths_update(RgSetPaths *paths, const RgKernel *kernel, double noise_variance,
                                   double mean, int n, const int *index, const double *y,
                                   RgFailure *failure);

/* Append points in flight, with values that stand in for their outputs, until the next update. */
PetscErrorCode rg_set_paths_pend(RgSetPaths *paths, int n, const int *index, const double *y,
                                 RgFailure *failure);

/* Whether draws from the prior are cheap: a product grid whose structure the kernel shares. */
bool rg_set_paths_is_structured(const RgSetPaths *paths);

/* `count` independent paths: F (N x count), F[i*count + s] = path s at point i. Memory N^2 where
   the prior is not structured. failure: the prior can't be factored. */
PetscErrorCode rg_set_paths_draw(RgSetPaths *paths, int count, RgRandom *random, double *F,
                                 RgFailure *failure);

/* The update alone. F (N x count): in, draws from the prior (without its mean); out, posterior
   paths. e (n x count): the noise draws; overwritten. */
PetscErrorCode rg_set_paths_condition(RgSetPaths *paths, int count, double *e, double *F);

/* Posterior covariances with `count` points: C (N x count), C[i*count + s] = cov(f_i, f_index[s]).
   */
PetscErrorCode rg_set_paths_covariance(RgSetPaths *paths, int count, const int *index, double *C);

/* The posterior given the same data as a function on the unit cube (for feature paths).
   Borrowed. */
RgPosterior *rg_set_paths_posterior(RgSetPaths *paths);

typedef struct {
  int count, size; /* numbers of paths and of points N */
  RgStream stream;
  int n;             /* observations so far */
  double *path;      /* count x N: path s begins at s N; owned */
  double *kept;      /* count x N: the saved paths; owned; NULL: no path was saved */
  int n_kept;        /* n then */
  RgFailure failure; /* the prior could not be factored; the paths are zero */
} RgSetSamples;

/* `count` paths that follow `posterior` (no data yet), which must not outlive them. `samples`
   must not move in memory. Draws from the prior: O(count N sum of levels) on product grids, else
   O(N^3). O(count N) per observation, and count N doubles. */
PetscErrorCode rg_set_samples_create(RgSetPosterior *posterior, int count, const RgStream *stream,
                                     RgSetSamples *samples);
PetscErrorCode rg_set_samples_destroy(RgSetSamples *samples);

#endif
