/* Functions on boxes given by a formula. Each section states formula, bounds, optimum and
   source. */
#include "problem/box_problem.h"

#include <math.h>

/* forrester: the one-dimensional function of Forrester et al., negated.

   f(x) = -(6 x - 2)^2 sin(12 x - 4) on [0, 1]. Maximum 6.02074005576708 at 0.757248757841856; a
   local maximum 0.9863254 at 0.1425893.
   Source: A. Forrester, A. Sobester, A. Keane, Engineering Design via Surrogate Modelling, 2008. */

static double forrester(const void *options, int dim, const double *x, double *gradient)
{
  const double p = 6 * x[0] - 2, s = sin(2 * p);

  (void)options, (void)dim;
  if (gradient) gradient[0] = 12 * p * s + 12 * p * p * cos(2 * p);
  return p * p * s;
}

static const RgBoxFunction forrester_box = {
  .formula = forrester,
  .minimised = true,
  .dim = 1,
  .lower = (const double[]){0},
  .upper = (const double[]){1},
  .best = -6.0207400557670827866,
  .n_best = 1,
  .best_at = (const double[]){0.75724875784185587005},
};

const RgProblemClass rg_problem_forrester = {
  RG_ABOUT("forrester", "Forrester", 1, "-(6 x - 2)^2 sin(12 x - 4) on [0, 1]",
           "Forrester, Sobester and Keane 2008, Engineering Design via Surrogate Modelling"),
  RG_BOX_FIXED(forrester_box),
};

/* branin: the Branin (Branin-Hoo) function, negated.

   f(x) = -[(x2 - 5.1 x1^2 / (4 pi^2) + 5 x1 / pi - 6)^2 + 10 (1 - 1/(8 pi)) cos x1 + 10]
   on [-5, 10] x [0, 15]. Maximum -10/(8 pi) = -0.397887357729738 where the square vanishes and
   cos x1 = -1: at (-pi, 12.275), (pi, 2.275) and (3 pi, 2.475).
   Source: L. C. W. Dixon, G. P. Szego, Towards Global Optimisation 2, 1978. */

static double branin(const void *options, int dim, const double *x, double *gradient)
{
  const double b = 5.1 / (4 * M_PI * M_PI), c = 5 / M_PI, t = 10 * (1 - 1 / (8 * M_PI));
  const double q = x[1] - b * x[0] * x[0] + c * x[0] - 6;

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = 2 * q * (c - 2 * b * x[0]) - t * sin(x[0]);
    gradient[1] = 2 * q;
  }
  return q * q + t * cos(x[0]) + 10;
}

static const RgBoxFunction branin_box = {
  .formula = branin,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-5, 0},
  .upper = (const double[]){10, 15},
  .best = 0.39788735772973833942,
  .n_best = 3,
  .best_at = (const double[]){-M_PI, 12.275, M_PI, 2.275, 3 * M_PI, 2.475},
};

const RgProblemClass rg_problem_branin = {
  RG_ABOUT("branin", "Branin", 1,
           "-[(x2 - 5.1 x1^2/(4 pi^2) + 5 x1/pi - 6)^2 + 10 (1 - 1/(8 pi)) cos x1 + 10] on\n"
           "[-5, 10] x [0, 15]; three maximisers",
           "Dixon and Szego 1978, Towards Global Optimisation 2"),
  RG_BOX_FIXED(branin_box),
};

/* goldstein_price: the Goldstein-Price function, negated.

   G(a, b) = [1 + (a + b + 1)^2 (19 - 14 a + 3 a^2 - 14 b + 6 a b + 3 b^2)]
           * [30 + (2 a - 3 b)^2 (18 - 32 a + 12 a^2 + 48 b - 36 a b + 27 b^2)].
   plain: f = -G on [-2, 2]^2, maximum -3 at (0, -1).
   standardised: f = -(log G(4 u1 - 2, 4 u2 - 2) - 8.6928) / 2.4269 on [0, 1]^2, mean 0 and variance
   1 under uniform u; maximum (8.6928 - log 3) / 2.4269 at (0.5, 0.25).
   Sources: Dixon and Szego 1978 (plain); V. Picheny, T. Wagner, D. Ginsbourger, A benchmark of
   kriging-based infill criteria for noisy optimization, 2013 (standardised). */

static double goldstein_price_plain(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1];
  const double s = a + b + 1, t = 2 * a - 3 * b;
  const double p = 19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b;
  const double q = 18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b;
  const double left = 1 + s * s * p, right = 30 + t * t * q;

  (void)options, (void)dim;
  if (gradient) {
    const double left_ab = 2 * s * p + s * s * (-14 + 6 * a + 6 * b); /* the same in a and in b */
    const double right_a = 4 * t * q + t * t * (-32 + 24 * a - 36 * b);
    const double right_b = -6 * t * q + t * t * (48 - 36 * a + 54 * b);
    gradient[0] = left_ab * right + left * right_a;
    gradient[1] = left_ab * right + left * right_b;
  }
  return left * right;
}

static double goldstein_price_standardised(const void *options, int dim, const double *u,
                                           double *gradient)
{
  const double mean = 8.6928, deviation = 2.4269;
  const double x[2] = {4 * u[0] - 2, 4 * u[1] - 2};
  const double g = goldstein_price_plain(options, dim, x, gradient);

  if (gradient)
    for (int j = 0; j < 2; j++) gradient[j] *= 4 / (g * deviation);
  return (log(g) - mean) / deviation;
}

static const RgBoxFunction goldstein_price_variants[] = {
  {
    .formula = goldstein_price_plain,
    .minimised = true,
    .dim = 2,
    .lower = (const double[]){-2, -2},
    .upper = (const double[]){2, 2},
    .best = 3,
    .n_best = 1,
    .best_at = (const double[]){0, -1},
  },
  {
    .formula = goldstein_price_standardised,
    .minimised = true,
    .dim = 2,
    .lower = (const double[]){0, 0},
    .upper = (const double[]){1, 1},
    .best = -3.1291720760360502322,
    .n_best = 1,
    .best_at = (const double[]){0.5, 0.25},
  },
};

static const char *const goldstein_price_variant_names[] = {"plain", "standardised", NULL};

static const RgParam goldstein_price_params[] = {
  RG_BOX_VARIANT("variant", "plain", goldstein_price_variant_names, "",
                 "plain: -G on [-2,2]^2; standardised: -(log G - 8.6928)/2.4269 on [0,1]^2"),
  {0},
};

const RgProblemClass rg_problem_goldstein_price = {
  RG_ABOUT("goldstein_price", "Goldstein-Price", 1,
           "-G(x), G the product of two quartic factors, on [-2, 2]^2; or its standardised\n"
           "logarithm on [0, 1]^2",
           "Dixon and Szego 1978; standardised: Picheny, Wagner and Ginsbourger 2013"),
  .params = goldstein_price_params,
  .gradient = rg_box_gradient,
  RG_BOX_VARIANTS(goldstein_price_variants),
};

/* six_hump_camel: the six-hump camel function, negated.

   f(x) = -[(4 - 2.1 x1^2 + x1^4/3) x1^2 + x1 x2 + (4 x2^2 - 4) x2^2]
   on [-2, 2] x [-1, 1] (narrow) or [-3, 3] x [-2, 2] (wide). Maximum 1.03162845348988 at
   +-(0.0898420131003181, -0.71265640302074).
   Source: Dixon and Szego 1978. */

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

#define SIX_HUMP_CAMEL_X1 0.089842013100318062422
#define SIX_HUMP_CAMEL_X2 0.7126564030207396334
#define CAMEL                                                                                      \
  .formula = camel, .minimised = true, .dim = 2, .best = -1.0316284534898773504, .n_best = 2,      \
  .best_at = (const double[])                                                                      \
  {                                                                                                \
    SIX_HUMP_CAMEL_X1, -SIX_HUMP_CAMEL_X2, -SIX_HUMP_CAMEL_X1, SIX_HUMP_CAMEL_X2                   \
  }

static const RgBoxFunction six_hump_camel_variants[] = {
  {CAMEL, .lower = (const double[]){-2, -1}, .upper = (const double[]){2, 1}},
  {CAMEL, .lower = (const double[]){-3, -2}, .upper = (const double[]){3, 2}},
};

static const char *const six_hump_camel_variant_names[] = {"narrow", "wide", NULL};

static const RgParam six_hump_camel_params[] = {
  RG_BOX_VARIANT("variant", "narrow", six_hump_camel_variant_names, "",
                 "narrow: [-2,2]x[-1,1]; wide: [-3,3]x[-2,2]"),
  {0},
};

const RgProblemClass rg_problem_six_hump_camel = {
  RG_ABOUT("six_hump_camel", "Six-hump camel", 1,
           "-[(4 - 2.1 x1^2 + x1^4/3) x1^2 + x1 x2 + (4 x2^2 - 4) x2^2] on [-2, 2] x [-1, 1] or\n"
           "[-3, 3] x [-2, 2]; two maximisers",
           "Dixon and Szego 1978, Towards Global Optimisation 2"),
  .params = six_hump_camel_params,
  .gradient = rg_box_gradient,
  RG_BOX_VARIANTS(six_hump_camel_variants),
};

/* holder_table: Holder's table, negated.

   f(x) = |sin x1 cos x2 exp|1 - |x|/pi|| on [-10, 10]^2, |x| the Euclidean norm. Maximum
   19.2085025678867 at (+-8.05502347573656, +-9.66459001924127); the next local maxima are
   16.2678329 at (10, 9.6422273), 11.0695512 and 9.5046770 and their mirror images. Not smooth where
   a factor vanishes and on the circle |x| = pi.
   Source: S. K. Mishra, Some new test functions for global optimization, 2006; IRGP-UCB study
   (arXiv:2409.00979), section 5.2. */

static double holder_table_sign_of(double v)
{
  return (v > 0) - (v < 0);
}

static double holder_table(const void *options, int dim, const double *x, double *gradient)
{
  const double r = hypot(x[0], x[1]), a = 1 - r / M_PI, e = exp(fabs(a));
  const double s = sin(x[0]) * cos(x[1]);

  (void)options, (void)dim;
  if (gradient) {
    const double radial = r > 0 ? -holder_table_sign_of(a) * fabs(s) * e / (M_PI * r) : 0;
    gradient[0] = -(holder_table_sign_of(s) * cos(x[0]) * cos(x[1]) * e + radial * x[0]);
    gradient[1] = -(-holder_table_sign_of(s) * sin(x[0]) * sin(x[1]) * e + radial * x[1]);
  }
  return -fabs(s) * e;
}

#define HOLDER_TABLE_X1 8.0550234757365634198
#define HOLDER_TABLE_X2 9.66459001924127289

static const RgBoxFunction holder_table_box = {
  .formula = holder_table,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-10, -10},
  .upper = (const double[]){10, 10},
  .best = -19.208502567886731832,
  .n_best = 4,
  .best_at =
    (const double[]){HOLDER_TABLE_X1, HOLDER_TABLE_X2, HOLDER_TABLE_X1, -HOLDER_TABLE_X2,
                     -HOLDER_TABLE_X1, HOLDER_TABLE_X2, -HOLDER_TABLE_X1, -HOLDER_TABLE_X2},
};

const RgProblemClass rg_problem_holder_table = {
  RG_ABOUT("holder_table", "Holder table", 1,
           "|sin x1 cos x2 exp|1 - sqrt(x1^2 + x2^2)/pi|| on [-10, 10]^2; four maximisers",
           "Mishra 2006, Some new test functions for global optimization"),
  RG_BOX_FIXED(holder_table_box),
};

/* cross_in_tray: the cross-in-tray function, negated.

   f(x) = 0.0001 (|sin x1 sin x2 exp|100 - |x|/pi|| + 1)^0.1 on [-10, 10]^2, |x| the Euclidean norm.
   Maximum 2.06261187082274 at (+-1.34940661715391, +-1.34940661715391); the next local maxima are
   1.8899381 at (4.4190759, 1.4706222) and 1.7906017 at (4.4909993, 4.4909993) and their mirror
   images. Falls to 1e-4 on the axes, with a kink.
   Source: S. K. Mishra, Some new test functions for global optimization, 2006; IRGP-UCB study
   (arXiv:2409.00979), section 5.2. */

static double cross_in_tray_sign_of(double v)
{
  return (v > 0) - (v < 0);
}

/* |x| < 100 pi on the domain, so the inner absolute value is its argument. */
static double cross_in_tray(const void *options, int dim, const double *x, double *gradient)
{
  const double r = hypot(x[0], x[1]), e = exp(100 - r / M_PI);
  const double s = sin(x[0]) * sin(x[1]), q = fabs(s) * e + 1;

  (void)options, (void)dim;
  if (gradient) {
    const double outer = -1e-5 * pow(q, -0.9);
    const double radial = r > 0 ? -fabs(s) * e / (M_PI * r) : 0;
    gradient[0] = outer * (cross_in_tray_sign_of(s) * cos(x[0]) * sin(x[1]) * e + radial * x[0]);
    gradient[1] = outer * (cross_in_tray_sign_of(s) * sin(x[0]) * cos(x[1]) * e + radial * x[1]);
  }
  return -1e-4 * pow(q, 0.1);
}

#define CROSS_IN_TRAY_X1 1.3494066171539107918

static const RgBoxFunction cross_in_tray_box = {
  .formula = cross_in_tray,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-10, -10},
  .upper = (const double[]){10, 10},
  .best = -2.0626118708227368778,
  .n_best = 4,
  .best_at =
    (const double[]){CROSS_IN_TRAY_X1, CROSS_IN_TRAY_X1, CROSS_IN_TRAY_X1, -CROSS_IN_TRAY_X1,
                     -CROSS_IN_TRAY_X1, CROSS_IN_TRAY_X1, -CROSS_IN_TRAY_X1, -CROSS_IN_TRAY_X1},
};

const RgProblemClass rg_problem_cross_in_tray = {
  RG_ABOUT("cross_in_tray", "Cross-in-tray", 1,
           "0.0001 (|sin x1 sin x2 exp|100 - sqrt(x1^2 + x2^2)/pi|| + 1)^0.1 on [-10, 10]^2;\n"
           "four maximisers",
           "Mishra 2006, Some new test functions for global optimization"),
  RG_BOX_FIXED(cross_in_tray_box),
};

/* eggholder: the Eggholder function, negated.

   f(x) = (x2 + 47) sin sqrt|x2 + x1/2 + 47| + x1 sin sqrt|x1 - (x2 + 47)| on [-512, 512]^2. Maximum
   959.640662720850803 on the boundary, at (512, 404.231805113757811). Not smooth where the argument
   of a root vanishes.
   Source: D. Whitley et al., Evaluating evolutionary algorithms, 1996. */

/* sin sqrt|v| and its derivative by v. */
static double wave(double v, double *slope)
{
  const double r = sqrt(fabs(v));

  *slope = r > 0 ? cos(r) / (2 * r) * (v > 0 ? 1 : -1) : 0;
  return sin(r);
}

static double eggholder(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[1] + 47;
  double slope_a, slope_b;
  const double wave_a = wave(a + x[0] / 2, &slope_a), wave_b = wave(x[0] - a, &slope_b);

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = -a * slope_a / 2 - wave_b - x[0] * slope_b;
    gradient[1] = -wave_a - a * slope_a + x[0] * slope_b;
  }
  return -a * wave_a - x[0] * wave_b;
}

static const RgBoxFunction eggholder_box = {
  .formula = eggholder,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-512, -512},
  .upper = (const double[]){512, 512},
  .best = -959.64066272085080283,
  .n_best = 1,
  .best_at = (const double[]){512, 404.23180511375781093},
};

const RgProblemClass rg_problem_eggholder = {
  RG_ABOUT("eggholder", "Eggholder", 1,
           "(x2 + 47) sin sqrt|x2 + x1/2 + 47| + x1 sin sqrt|x1 - (x2 + 47)| on [-512, 512]^2;\n"
           "the maximiser is on the boundary",
           "Whitley et al. 1996, Evaluating evolutionary algorithms"),
  RG_BOX_FIXED(eggholder_box),
};

/* currin_exp: the exponential function of Currin et al.

   f(x) = (1 - exp(-1/(2 x2))) (2300 x1^3 + 1900 x1^2 + 2092 x1 + 60)
          / (100 x1^3 + 500 x1^2 + 4 x1 + 20)
   on [0, 1]^2, where the first factor is 1 at x2 = 0. Maximum 13.7987220447284345 at (13/60, 0).
   Source: C. Currin, T. Mitchell, M. Morris, D. Ylvisaker, Bayesian prediction of deterministic
   functions, with applications to the design and analysis of computer experiments, 1991. */

static double currin_exp(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1];
  const double p = ((2300 * a + 1900) * a + 2092) * a + 60, q = ((100 * a + 500) * a + 4) * a + 20;
  const double tail = b > 0 ? exp(-1 / (2 * b)) : 0;

  (void)options, (void)dim;
  if (gradient) {
    const double p_a = (6900 * a + 3800) * a + 2092, q_a = (300 * a + 1000) * a + 4;
    gradient[0] = (1 - tail) * (p_a * q - p * q_a) / (q * q);
    gradient[1] = tail > 0 ? -tail / (2 * b * b) * p / q : 0;
  }
  return (1 - tail) * p / q;
}

static const RgBoxFunction currin_exp_box = {
  .formula = currin_exp,
  .dim = 2,
  .lower = (const double[]){0, 0},
  .upper = (const double[]){1, 1},
  .best = 13.798722044728434505,
  .n_best = 1,
  .best_at = (const double[]){13.0 / 60, 0},
};

const RgProblemClass rg_problem_currin_exp = {
  RG_ABOUT("currin_exp", "Currin exponential", 1,
           "(1 - exp(-1/(2 x2))) (2300 x1^3 + 1900 x1^2 + 2092 x1 + 60)/(100 x1^3 + 500 x1^2 +\n"
           "4 x1 + 20) on [0, 1]^2",
           "Currin, Mitchell, Morris and Ylvisaker 1991"),
  RG_BOX_FIXED(currin_exp_box),
};

/* park1 and park2: the two functions of Park on [0, 1]^4.

   park1: f(x) = (x1/2) [sqrt(1 + (x2 + x3^2) x4/x1^2) - 1] + (x1 + 3 x4) exp(1 + sin x3), with its
          limit at x1 = 0. Maximum 25.5892541586065484 at (1, 1, 1, 1).
   park2: f(x) = (2/3) exp(x1 + x2) - x4 sin x3 + x3. Maximum 5.92603739928710015 at (1, 1, 1, 0).
   Both maxima are at corners.
   Source: J.-S. Park, Tuning complex computer codes to data and optimal designs, 1991; D. D. Cox,
   J.-S. Park, C. E. Singer, A statistical method for tuning a computer code to a data base,
   2001. */

static double park1(const void *options, int dim, const double *x, double *gradient)
{
  const double a = (x[1] + x[2] * x[2]) * x[3], root = sqrt(x[0] * x[0] + a);
  const double e = exp(1 + sin(x[2])), slope = root > 0 ? 1 / (4 * root) : 0; /* d root / d a */

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = 2 * slope * x[0] - 0.5 + e;
    gradient[1] = slope * x[3];
    gradient[2] = slope * 2 * x[2] * x[3] + (x[0] + 3 * x[3]) * e * cos(x[2]);
    gradient[3] = slope * (x[1] + x[2] * x[2]) + 3 * e;
  }
  return (root - x[0]) / 2 + (x[0] + 3 * x[3]) * e;
}

static double park2(const void *options, int dim, const double *x, double *gradient)
{
  const double e = exp(x[0] + x[1]) * 2 / 3;

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = gradient[1] = e;
    gradient[2] = 1 - x[3] * cos(x[2]);
    gradient[3] = -sin(x[2]);
  }
  return e - x[3] * sin(x[2]) + x[2];
}

static const double zeros[4] = {0}, ones[4] = {1, 1, 1, 1};

static const RgBoxFunction box1 = {
  .formula = park1,
  .dim = 4,
  .lower = zeros,
  .upper = ones,
  .best = 25.589254158606548426,
  .n_best = 1,
  .best_at = ones,
};

static const RgBoxFunction box2 = {
  .formula = park2,
  .dim = 4,
  .lower = zeros,
  .upper = ones,
  .best = 5.9260373992871001487,
  .n_best = 1,
  .best_at = (const double[]){1, 1, 1, 0},
};

const RgProblemClass rg_problem_park1 = {
  RG_ABOUT("park1", "Park 1", 1,
           "(x1/2) [sqrt(1 + (x2 + x3^2) x4/x1^2) - 1] + (x1 + 3 x4) exp(1 + sin x3) on [0, 1]^4",
           "Park 1991; Cox, Park and Singer 2001"),
  RG_BOX_FIXED(box1),
};

const RgProblemClass rg_problem_park2 = {
  RG_ABOUT("park2", "Park 2", 1, "(2/3) exp(x1 + x2) - x4 sin x3 + x3 on [0, 1]^4",
           "Park 1991; Cox, Park and Singer 2001"),
  RG_BOX_FIXED(box2),
};

/* cosine8: the cosine mixture in eight dimensions.

   f(x) = 0.1 sum_j cos(5 pi x_j) - sum_j x_j^2 on [-1, 1]^8. Maximum 0.8 at the origin, which is
   the centre of the box; that favours designs that look there first.
   Source: L. Breiman, A. Cutler, A deterministic algorithm for global optimization, 1993. */

static double cosine_mixture(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    sum += 0.1 * cos(5 * M_PI * x[j]) - x[j] * x[j];
    if (gradient) gradient[j] = -0.5 * M_PI * sin(5 * M_PI * x[j]) - 2 * x[j];
  }
  return sum;
}

static const RgBoxFunction cosine8_box = {
  .formula = cosine_mixture,
  .dim = 8,
  .lower = (const double[]){-1, -1, -1, -1, -1, -1, -1, -1},
  .upper = (const double[]){1, 1, 1, 1, 1, 1, 1, 1},
  .best = 0.8,
  .n_best = 1,
  .best_at = (const double[]){0, 0, 0, 0, 0, 0, 0, 0},
};

const RgProblemClass rg_problem_cosine8 = {
  RG_ABOUT("cosine8", "Cosine 8", 1, "0.1 sum_j cos(5 pi x_j) - sum_j x_j^2 on [-1, 1]^8",
           "Breiman and Cutler 1993, A deterministic algorithm for global optimization"),
  RG_BOX_FIXED(cosine8_box),
};

/* ackley: Ackley's function in any dimension, negated.

   f(x) = 20 exp(-0.2 sqrt(sum x_j^2 / d)) + exp(sum cos(2 pi x_j) / d) - 20 - e on
   [lower, upper]^d, by default [-32.768, 32.768]^4. Maximum 0 at the origin, a cusp; the origin is
   the centre of the default box, which favours designs that look there first.
   Source: D. H. Ackley, A connectionist machine for genetic hillclimbing, 1987; IRGP-UCB study
   (arXiv:2409.00979), section 5.2. */

/* Written with expm1 so that the value at the origin is 0 and small values keep their digits. */
static double ackley(const void *options, int dim, const double *x, double *gradient)
{
  double squares = 0, cosines = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    squares += x[j] * x[j];
    cosines += cos(2 * M_PI * x[j]);
  }
  const double r = sqrt(squares / dim), c = cosines / dim - 1;
  for (int j = 0; gradient && j < dim; j++) {
    const double cone = r > 0 ? 4 * exp(-0.2 * r) * x[j] / (r * dim) : 0;
    gradient[j] = cone + exp(1 + c) * 2 * M_PI * sin(2 * M_PI * x[j]) / dim;
  }
  return -20 * expm1(-0.2 * r) - M_E * expm1(c);
}

static const RgParam ackley_params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 10000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-32.768", "", "32.768", ""),
  {0},
};

static const RgCubeFunction ackley_functions[] = {{.formula = ackley}};

const RgProblemClass rg_problem_ackley = {
  RG_ABOUT("ackley", "Ackley", 1,
           "20 exp(-0.2 sqrt(sum x_j^2/d)) + exp(sum cos(2 pi x_j)/d) - 20 - e on\n"
           "[lower, upper]^d",
           "Ackley 1987, A connectionist machine for genetic hillclimbing"),
  .params = ackley_params,
  RG_CUBES(ackley_functions),
};

/* rosenbrock: Rosenbrock's valley in any dimension, negated.

   V(x) = sum_{i<d} 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2.
   plain: f = -V on [lower, upper]^d, by default [-5, 10]^4; maximum 0 at (1, .., 1).
   standardised (d = 4): f = -(V(15 u - 5) - 382658.057227524) / 375264.858362295 on [0, 1]^4, mean
   0 and variance 1 under uniform u; maximum 1.01970128217572 at (0.4, .., 0.4).
   Sources: H. H. Rosenbrock 1960 (plain); V. Picheny, T. Wagner, D. Ginsbourger, A benchmark of
   kriging-based infill criteria for noisy optimization, 2013 (standardised). */

static double rosenbrock_plain(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; gradient && j < dim; j++) gradient[j] = 0;
  for (int i = 0; i + 1 < dim; i++) {
    const double valley = x[i + 1] - x[i] * x[i], ramp = 1 - x[i];
    if (gradient) {
      gradient[i] += -400 * valley * x[i] - 2 * ramp;
      gradient[i + 1] += 200 * valley;
    }
    sum += 100 * valley * valley + ramp * ramp;
  }
  return sum;
}

static double rosenbrock_standardised(const void *options, int dim, const double *u,
                                      double *gradient)
{
  const double mean = 382658.057227524, deviation = 375264.858362295;
  double x[4];

  for (int j = 0; j < 4; j++) x[j] = 15 * u[j] - 5;
  const double v = rosenbrock_plain(options, dim, x, gradient);
  for (int j = 0; gradient && j < 4; j++) gradient[j] *= 15 / deviation;
  return (v - mean) / deviation;
}

static const char *const rosenbrock_variant_names[] = {"plain", "standardised", NULL};

static const RgCubeFunction rosenbrock_functions[] = {
  {"plain", rosenbrock_plain, .lower = -5, .upper = 10, .best = 0, .each = 1},
  {"standardised", rosenbrock_standardised, 4, 0, 1, .best = -1.0197012821757248689, .each = 0.4},
};

static const RgParam rosenbrock_params[] = {
  RG_CHOICE("variant", RgCubeOptions, variant, "plain", rosenbrock_variant_names, "",
            "plain: -V; standardised: zero mean and unit variance on [0,1]^4"),
  RG_INT("dim", RgCubeOptions, dim, "4", 2, 1000, "d",
         "number of coordinates; 4 in the standardised variant"),
  RG_CUBE_BOUNDS("auto", ", plain variant; auto: -5", "auto", ", plain variant; auto: 10"),
  {0},
};

const RgProblemClass rg_problem_rosenbrock = {
  RG_ABOUT("rosenbrock", "Rosenbrock", 1,
           "-sum_{i<d} [100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2] on [lower, upper]^d; or its\n"
           "standardised form on [0, 1]^4",
           "Rosenbrock 1960; standardised: Picheny, Wagner and Ginsbourger 2013"),
  .params = rosenbrock_params,
  RG_CUBES(rosenbrock_functions),
};

/* sphere: sums of squares, negated.

   plain: f = -sum x_j^2 on [lower, upper]^d, by default [-5.12, 5.12]^6; maximum 0 at the
   origin.
   weighted (d = 6): f = -(sum_i 2^i u_i^2 - 1745) / 899 on [0, 1]^6; maximum 1745/899 at the
   origin, a corner. This function is in use with the constants of the next one, which do not
   standardise it.
   standardised (d = 6): f = -(sum_i 2^i z_i^2 - 1745.3796) / 899.0367 on [0, 1]^6, where z = 10
   u - 5 + (-5, -3, -1, 1, 3, 5) is then rotated by pi/8 in the planes (i, j), i < j in
   lexicographic order; mean 0 and variance 1 under uniform u; maximum 1745.3796/899.0367 at (1,
   0.8, 0.6, 0.4, 0.2, 0).
   Source of the last one: V. Picheny, T. Wagner, D. Ginsbourger, A benchmark of kriging-based
   infill criteria for noisy optimization, 2013. */

static double sphere_plain(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) sum += x[j] * x[j];
  for (int j = 0; gradient && j < dim; j++) gradient[j] = 2 * x[j];
  return sum;
}

/* sum_i 2^i z_i^2 over six coordinates, i = 1..6, and its gradient. */
static double weighted_squares(const double *z, double *gradient)
{
  double sum = 0, weight = 2;

  for (int i = 0; i < 6; i++, weight *= 2) {
    sum += weight * z[i] * z[i];
    if (gradient) gradient[i] = 2 * weight * z[i];
  }
  return sum;
}

static double weighted(const void *options, int dim, const double *u, double *gradient)
{
  (void)options, (void)dim;
  const double sum = weighted_squares(u, gradient);
  for (int j = 0; gradient && j < 6; j++) gradient[j] /= 899;
  return (sum - 1745) / 899;
}

/* Rotate coordinates i and j of z by pi/8 (direction +1) or back (-1). */
static void rotate(int i, int j, double direction, double *z)
{
  const double c = cos(M_PI / 8), s = direction * sin(M_PI / 8);
  const double zi = z[i], zj = z[j];

  z[i] = c * zi + s * zj;
  z[j] = -s * zi + c * zj;
}

static double sphere_standardised(const void *options, int dim, const double *u, double *gradient)
{
  const double mean = 1745.3796, deviation = 899.0367;
  double z[6];

  (void)options, (void)dim;
  for (int j = 0; j < 6; j++) z[j] = 10 * u[j] - 10 + 2 * j;
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 6; j++) rotate(i, j, 1, z);
  const double sum = weighted_squares(z, gradient);
  if (gradient) {
    for (int i = 4; i >= 0; i--)
      for (int j = 5; j > i; j--) rotate(i, j, -1, gradient);
    for (int j = 0; j < 6; j++) gradient[j] *= 10 / deviation;
  }
  return (sum - mean) / deviation;
}

static const char *const sphere_variant_names[] = {"plain", "weighted", "standardised", NULL};

static const RgCubeFunction sphere_functions[] = {
  {"plain", sphere_plain, .lower = -5.12, .upper = 5.12},
  {"weighted", weighted, 6, 0, 1, .best = -1.9410456062291434928},
  {"standardised", sphere_standardised, 6, 0, 1, .best = -1.9413885995977694793,
   .best_at = (const double[]){1, 0.8, 0.6, 0.4, 0.2, 0}},
};

static const RgParam sphere_params[] = {
  RG_CHOICE("variant", RgCubeOptions, variant, "plain", sphere_variant_names, "",
            "plain; standardised: weighted, shifted, rotated, [0,1]^6; weighted: neither shifted "
            "nor rotated, [0,1]^6"),
  RG_INT("dim", RgCubeOptions, dim, "6", 1, 1000, "d", "number of coordinates; 6 unless plain"),
  RG_CUBE_BOUNDS("auto", ", plain variant; auto: -5.12", "auto", ", plain variant; auto: 5.12"),
  {0},
};

const RgProblemClass rg_problem_sphere = {
  RG_ABOUT("sphere", "Sphere", 1,
           "-sum x_j^2 on [lower, upper]^d; or the weighted, shifted and rotated sphere of zero\n"
           "mean and unit variance on [0, 1]^6",
           "standardised: Picheny, Wagner and Ginsbourger 2013"),
  .params = sphere_params,
  RG_CUBES(sphere_functions),
};

/* levy: Levy's function in any dimension, negated.

   f(x) = -[sin^2(pi w_1) + sum_{i<d} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1))
            + (w_d - 1)^2 (1 + sin^2(2 pi w_d))],  w_i = 1 + (x_i - 1)/4,
   on [lower, upper]^d, by default [-10, 10]^4. Maximum 0 at (1, .., 1).
   Source: A. V. Levy, A. Montalvo, The tunneling algorithm for the global minimization of
   functions, 1985; M. Laguna, R. Marti, Experimental testing of advanced scatter search designs,
   2005. */

static double square(double v)
{
  return v * v;
}

static double levy(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    const double v = (x[j] - 1) / 4, w = 1 + v; /* w - 1 = v to full precision */
    const bool last = j == dim - 1;
    const double angle = last ? 2 * M_PI * v : M_PI * w + 1, weight = last ? 1 : 10;
    const double factor = 1 + weight * square(sin(angle));

    sum += v * v * factor;
    if (j == 0) sum += square(sin(M_PI * v));
    if (!gradient) continue;
    const double rate = last ? 2 * M_PI : M_PI;
    gradient[j] = (2 * v * factor + v * v * weight * sin(2 * angle) * rate) / 4;
    if (j == 0) gradient[j] += M_PI * sin(2 * M_PI * v) / 4;
  }
  return sum;
}

static const RgParam levy_params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 1000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-10", "", "10", ""),
  {0},
};

static const RgCubeFunction levy_functions[] = {{.formula = levy, .each = 1}};

const RgProblemClass rg_problem_levy = {
  RG_ABOUT("levy", "Levy", 1,
           "-[sin^2(pi w_1) + sum_{i<d} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1)) + (w_d - 1)^2\n"
           "(1 + sin^2(2 pi w_d))], w_i = 1 + (x_i - 1)/4, on [lower, upper]^d",
           "Levy and Montalvo 1985; Laguna and Marti 2005"),
  .params = levy_params,
  RG_CUBES(levy_functions),
};

/* griewank: Griewank's function in any dimension, negated.

   f(x) = -[sum_i x_i^2/4000 - prod_i cos(x_i/sqrt i) + 1] on [lower, upper]^d, by default
   [-600, 600]^4. Maximum 0 at the origin, which is the centre of the default box; that favours
   designs that look there first.
   Source: A. O. Griewank, Generalized descent for global optimization, 1981. */

/* prod_i cos(x_i/sqrt i) without the factor `skip`. */
static double product_without(int skip, int dim, const double *x)
{
  double product = 1;

  for (int j = 0; j < dim; j++)
    if (j != skip) product *= cos(x[j] / sqrt(j + 1));
  return product;
}

static double griewank(const void *options, int dim, const double *x, double *gradient)
{
  double squares = 0;

  (void)options;
  for (int j = 0; j < dim; j++) squares += x[j] * x[j];
  for (int j = 0; gradient && j < dim; j++) {
    const double root = sqrt(j + 1);
    gradient[j] = x[j] / 2000 + sin(x[j] / root) / root * product_without(j, dim, x);
  }
  return squares / 4000 + (1 - product_without(-1, dim, x));
}

static const RgParam griewank_params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 1000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-600", "", "600", ""),
  {0},
};

static const RgCubeFunction griewank_functions[] = {{.formula = griewank}};

const RgProblemClass rg_problem_griewank = {
  RG_ABOUT("griewank", "Griewank", 1,
           "-[sum_i x_i^2/4000 - prod_i cos(x_i/sqrt i) + 1] on [lower, upper]^d",
           "Griewank 1981, Generalized descent for global optimization"),
  .params = griewank_params,
  RG_CUBES(griewank_functions),
};

/* styblinski_tang: the Styblinski-Tang function in any dimension, negated.

   f(x) = -sum_j (x_j^4 - 16 x_j^2 + 5 x_j)/2 on [lower, upper]^d, by default [-5, 5]^4. Maximum
   39.1661657037714155 d where every coordinate is -2.90353402777117710.
   Source: M. A. Styblinski, T.-S. Tang, Experiments in nonconvex optimization: stochastic
   approximation with function smoothing and simulated annealing, 1990. */

static double styblinski_tang(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    const double v = x[j];
    sum += (v * v * v * v - 16 * v * v + 5 * v) / 2;
    if (gradient) gradient[j] = 2 * v * v * v - 16 * v + 2.5;
  }
  return sum;
}

static const RgParam styblinski_tang_params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 1000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-5", "", "5", ""),
  {0},
};

static const RgCubeFunction styblinski_tang_functions[] = {
  {.formula = styblinski_tang, .best_each = -39.166165703771415464, .each = -2.9035340277711770951},
};

const RgProblemClass rg_problem_styblinski_tang = {
  RG_ABOUT("styblinski_tang", "Styblinski-Tang", 1,
           "-sum_j (x_j^4 - 16 x_j^2 + 5 x_j)/2 on [lower, upper]^d",
           "Styblinski and Tang 1990, Experiments in nonconvex optimization"),
  .params = styblinski_tang_params,
  RG_CUBES(styblinski_tang_functions),
};
