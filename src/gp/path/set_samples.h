/* Sample paths of the posterior on a finite set that are updated from observation to
   observation. Each path has its own virtual noise e: path += row (y - e - path[i]) / pivot
   (rrgp_ucb 2.3). At any time every path is an exact draw from the joint posterior of all
   points. One observation changes a path little. */
#ifndef RG_GP_PATH_SET_SAMPLES_H
#define RG_GP_PATH_SET_SAMPLES_H

#include "regatta/stream.h"
#include "gp/posterior/set/set_posterior.h"

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
