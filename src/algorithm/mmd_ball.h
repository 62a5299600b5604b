/* Steps shared by the methods that are robust in maximum mean discrepancy. */
#ifndef RG_ALGORITHM_MMD_BALL_H
#define RG_ALGORITHM_MMD_BALL_H

#include "algorithm/contextual.h"
#include "robust/mmd.h"

/* First member of the options of these methods. */
typedef struct {
  RgContextualOptions common;
  int size;      /* number of points in the grid of a box of contexts */
  bool diagonal; /* whether the grid has the points (c, c, ..) only */
  double gamma;  /* gamma of the radius */
  double jitter;
} RgMmdBallOptions;

#define RG_MMD_BALL_PARAMS(Options, default_size)                                                  \
  RG_CONTEXTUAL_PARAMS(Options, ball.common),                                                      \
    RG_CONTEXT_GRID_PARAM(Options, ball.size, default_size),                                       \
    RG_BOOL("diagonal", Options, ball.diagonal, "no",                                              \
            "only the points of the grid whose coordinates are equal (as released)"),              \
    RG_REAL("gamma", Options, ball.gamma, "0.1", RG_POSITIVE, 0.999999, "gamma",                   \
            "radius (2 + sqrt(2 log(1/gamma))) / sqrt(n) after n contexts"),                       \
    RG_REAL("jitter", Options, ball.jitter, "1e-8", 0.0, 1.0, "",                                  \
            "added to the diagonal of the MMD matrix, relative to its mean")

/* The ball of one iteration: a grid of contexts, and discrepancies from the reference
   distribution by the model's kernel at equal x (including its signal variance). */
typedef struct {
  int n;
  double *contexts; /* n x dim_c, owned */
  double radius;
  RgMmd mmd;
} RgMmdBall;

/* A ball over a grid of about `size` points and the contexts seen outside the box, or over all of a
   finite set. The model must be up to
   date. p_i is the share of observed contexts that are nearest to point i. */
PetscErrorCode rg_mmd_ball_create(const RgAlgorithm *algorithm, const RgHistory *history, int size,
                                  RgMmdBall *ball);
PetscErrorCode rg_mmd_ball_destroy(RgMmdBall *ball);

/* The `cost` of the class, for options that begin with RgMmdBallOptions. */
void rg_mmd_ball_cost(const void *options, const RgTrialSize *size, RgMethodCost *cost);

#endif
