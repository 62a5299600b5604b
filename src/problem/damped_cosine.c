/* damped_cosine: the one-dimensional illustration of the kernel-regression paper.

   f(x) = -exp(-1.4 x) cos(3.5 pi x) on [0, 1]. Maximum 0.675760831379788 at
   (pi - arctan(0.4/pi))/(3.5 pi) = 0.274196693792634; a local maximum 0.3036389 at 0.8456253,
   minimum -1 at 0.
   Source: arXiv:2502.06178, figures 1, 4 and 5. */
#include "problem/box_problem.h"

#include <math.h>

static double damped_cosine(const void *options, int dim, const double *x, double *gradient)
{
  const double decay = exp(-1.4 * x[0]), angle = 3.5 * M_PI * x[0];

  (void)options, (void)dim;
  if (gradient) gradient[0] = decay * (1.4 * cos(angle) + 3.5 * M_PI * sin(angle));
  return -decay * cos(angle);
}

static const RgBoxFunction box = {
    .formula = damped_cosine,
    .dim = 1,
    .lower = (const double[]){0},
    .upper = (const double[]){1},
    .best = 0.67576083137978782463,
    .n_best = 1,
    .best_at = (const double[]){0.27419669379263342753},
};

RG_BOX_FIXED(box)

const RgProblemClass rg_problem_damped_cosine = {
    .name = "damped_cosine",
    .title = "Damped cosine",
    .summary = "-exp(-1.4 x) cos(3.5 pi x) on [0, 1]; two maxima, one of them global",
    .reference = "Zhu, Zhou, Jin, Xu, Yuan, Ji 2025, arXiv:2502.06178, section 3",
    .revision = 1,
    .params = rg_box_no_params,
    .domain = fixed_domain,
    .create = fixed_create,
    RG_BOX_METHODS,
};
