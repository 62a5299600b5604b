/* six_hump_camel: the six-hump camel function, negated.

   f(x) = -[(4 - 2.1 x1^2 + x1^4/3) x1^2 + x1 x2 + (4 x2^2 - 4) x2^2]
   on [-2, 2] x [-1, 1] (narrow) or [-3, 3] x [-2, 2] (wide). Maximum 1.03162845348988 at
   +-(0.0898420131003181, -0.71265640302074).
   Source: Dixon and Szego 1978. */
#include "problem/box_problem.h"

static double camel(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1], a2 = a * a, b2 = b * b;

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = a * (8 - 8.4 * a2 + 2 * a2 * a2) + b;
    gradient[1] = a - 8 * b + 16 * b * b2;
  }
  return (4 - 2.1 * a2 + a2 * a2 / 3) * a2 + a * b + (4 * b2 - 4) * b2;
}

#define X1 0.089842013100318062422
#define X2 0.7126564030207396334
#define CAMEL                                                                                      \
  .formula = camel, .minimised = true, .dim = 2, .best = -1.0316284534898773504, .n_best = 2,      \
  .best_at = (const double[])                                                                      \
  {                                                                                                \
    X1, -X2, -X1, X2                                                                               \
  }

static const RgBoxFunction variants[] = {
  {CAMEL, .lower = (const double[]){-2, -1}, .upper = (const double[]){2, 1}},
  {CAMEL, .lower = (const double[]){-3, -2}, .upper = (const double[]){3, 2}},
};

static const char *const variant_names[] = {"narrow", "wide", NULL};

static const RgParam params[] = {
  RG_BOX_VARIANT("variant", "narrow", variant_names, "",
                 "narrow: [-2,2]x[-1,1]; wide: [-3,3]x[-2,2]"),
  {0},
};

const RgProblemClass rg_problem_six_hump_camel = {
  RG_ABOUT("six_hump_camel", "Six-hump camel", 1,
           "-[(4 - 2.1 x1^2 + x1^4/3) x1^2 + x1 x2 + (4 x2^2 - 4) x2^2] on [-2, 2] x [-1, 1] or\n"
           "[-3, 3] x [-2, 2]; two maximisers",
           "Dixon and Szego 1978, Towards Global Optimisation 2"),
  .params = params,
  .gradient = rg_box_gradient,
  RG_BOX_VARIANTS(variants),
};
