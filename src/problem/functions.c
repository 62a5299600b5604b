/* Functions on boxes given by a formula: name, formula, bounds, optimum and source of each. The
   comments say what the tables do not. */
#include "problem/box_problem.h"

#include <math.h>

/* The four mirror images of a point in the plane. */
#define RG_MIRRORED(a, b) ((const double[]){a, b, a, -(b), -(a), b, -(a), -(b)})

static double sign_of(double v)
{
  return (v > 0) - (v < 0);
}

/* ---- fixed boxes ----------------------------------------------------------------------------- */

/* A local maximum 0.9863254 at 0.1425893. */
static double forrester(const void *options, int dim, const double *x, double *gradient)
{
  const double p = 6 * x[0] - 2, s = sin(2 * p);

  if (gradient) gradient[0] = 12 * p * s + 12 * p * p * cos(2 * p);
  return p * p * s;
}

const RgProblemClass rg_problem_forrester = {
  RG_ABOUT("forrester", "Forrester", 1, "-(6 x - 2)^2 sin(12 x - 4) on [0, 1]",
           "Forrester, Sobester and Keane 2008, Engineering Design via Surrogate Modelling"),
  RG_BOX(.formula = forrester, .minimised = true, .dim = 1, .upper = 1,
         .best = -6.0207400557670827866, .each = 0.75724875784185587005),
};

/* The square vanishes and cos x1 = -1 at all three maximisers. */
static double branin(const void *options, int dim, const double *x, double *gradient)
{
  const double b = 5.1 / (4 * M_PI * M_PI), c = 5 / M_PI, t = 10 * (1 - 1 / (8 * M_PI));
  const double q = x[1] - b * x[0] * x[0] + c * x[0] - 6;

  if (gradient) {
    gradient[0] = 2 * q * (c - 2 * b * x[0]) - t * sin(x[0]);
    gradient[1] = 2 * q;
  }
  return q * q + t * cos(x[0]) + 10;
}

const RgProblemClass rg_problem_branin = {
  RG_ABOUT("branin", "Branin", 1,
           "-[(x2 - 5.1 x1^2/(4 pi^2) + 5 x1/pi - 6)^2 + 10 (1 - 1/(8 pi)) cos x1 + 10] on\n"
           "[-5, 10] x [0, 15]; three maximisers",
           "Dixon and Szego 1978, Towards Global Optimisation 2"),
  RG_BOX(.formula = branin, .minimised = true, .dim = 2, .bounds = (const double[]){-5, 0, 10, 15},
         .best = 0.39788735772973833942, .n_best = 3,
         .best_at = (const double[]){-M_PI, 12.275, M_PI, 2.275, 3 * M_PI, 2.475}),
};

/* G(a, b) = [1 + (a + b + 1)^2 (19 - 14 a + 3 a^2 - 14 b + 6 a b + 3 b^2)]
           * [30 + (2 a - 3 b)^2 (18 - 32 a + 12 a^2 + 48 b - 36 a b + 27 b^2)].
   standardised: -(log G(4 u1 - 2, 4 u2 - 2) - 8.6928) / 2.4269, mean 0 and variance 1 under
   uniform u. */
static double goldstein_price_plain(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1];
  const double s = a + b + 1, t = 2 * a - 3 * b;
  const double p = 19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b;
  const double q = 18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b;
  const double left = 1 + s * s * p, right = 30 + t * t * q;

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
  {goldstein_price_plain, true, 2, -2, 2, .best = 3, .best_at = (const double[]){0, -1}},
  {goldstein_price_standardised, true, 2, 0, 1, .best = -3.1291720760360502322,
   .best_at = (const double[]){0.5, 0.25}},
};

static const char *const goldstein_price_variant_names[] = {"plain", "standardised", NULL};

static const RgParam goldstein_price_params[] = {
  RG_BOX_VARIANT("variant", "plain", goldstein_price_variant_names,
                 "plain: -G on [-2,2]^2; standardised: -(log G - 8.6928)/2.4269 on [0,1]^2"),
  RG_BOX_EMBED,
  {0},
};

const RgProblemClass rg_problem_goldstein_price = {
  RG_ABOUT("goldstein_price", "Goldstein-Price", 1,
           "-G(x), G the product of two quartic factors, on [-2, 2]^2; or its standardised\n"
           "logarithm on [0, 1]^2",
           "Dixon and Szego 1978; standardised: Picheny, Wagner and Ginsbourger 2013"),
  RG_BOXES(goldstein_price_variants, goldstein_price_params),
};

static double camel(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1], a2 = a * a, b2 = b * b;

  if (gradient) {
    gradient[0] = a * (8 - 8.4 * a2 + 2 * a2 * a2) + b;
    gradient[1] = a - 8 * b + 16 * b * b2;
  }
  return (4 - 2.1 * a2 + a2 * a2 / 3) * a2 + a * b + (4 * b2 - 4) * b2;
}

#define CAMEL                                                                                      \
  .formula = camel, .minimised = true, .dim = 2, .best = -1.0316284534898773504, .n_best = 2,      \
  .best_at = camel_best

static const double camel_best[] = {0.089842013100318062422, -0.7126564030207396334,
                                    -0.089842013100318062422, 0.7126564030207396334};

static const RgBoxFunction six_hump_camel_variants[] = {
  {CAMEL, .bounds = (const double[]){-2, -1, 2, 1}},
  {CAMEL, .bounds = (const double[]){-3, -2, 3, 2}},
};

static const char *const six_hump_camel_variant_names[] = {"narrow", "wide", NULL};

static const RgParam six_hump_camel_params[] = {
  RG_BOX_VARIANT("variant", "narrow", six_hump_camel_variant_names,
                 "narrow: [-2,2]x[-1,1]; wide: [-3,3]x[-2,2]"),
  RG_BOX_EMBED,
  {0},
};

const RgProblemClass rg_problem_six_hump_camel = {
  RG_ABOUT("six_hump_camel", "Six-hump camel", 1,
           "-[(4 - 2.1 x1^2 + x1^4/3) x1^2 + x1 x2 + (4 x2^2 - 4) x2^2] on [-2, 2] x [-1, 1] or\n"
           "[-3, 3] x [-2, 2]; two maximisers",
           "Dixon and Szego 1978, Towards Global Optimisation 2"),
  RG_BOXES(six_hump_camel_variants, six_hump_camel_params),
};

/* The next local maxima are 16.2678329 at (10, 9.6422273), 11.0695512 and 9.5046770 and their
   mirror images. Not smooth where a factor vanishes and on the circle |x| = pi. In use in the
   IRGP-UCB study (arXiv:2409.00979), section 5.2, like the next one. */
static double holder_table(const void *options, int dim, const double *x, double *gradient)
{
  const double r = hypot(x[0], x[1]), a = 1 - r / M_PI, e = exp(fabs(a));
  const double s = sin(x[0]) * cos(x[1]);

  if (gradient) {
    const double radial = r > 0 ? -sign_of(a) * fabs(s) * e / (M_PI * r) : 0;
    gradient[0] = -(sign_of(s) * cos(x[0]) * cos(x[1]) * e + radial * x[0]);
    gradient[1] = -(-sign_of(s) * sin(x[0]) * sin(x[1]) * e + radial * x[1]);
  }
  return -fabs(s) * e;
}

const RgProblemClass rg_problem_holder_table = {
  RG_ABOUT("holder_table", "Holder table", 1,
           "|sin x1 cos x2 exp|1 - sqrt(x1^2 + x2^2)/pi|| on [-10, 10]^2; four maximisers",
           "Mishra 2006, Some new test functions for global optimization"),
  RG_BOX(.formula = holder_table, .minimised = true, .dim = 2, .lower = -10, .upper = 10,
         .best = -19.208502567886731832, .n_best = 4,
         .best_at = RG_MIRRORED(8.0550234757365634198, 9.66459001924127289)),
};

/* The next local maxima are 1.8899381 at (4.4190759, 1.4706222) and 1.7906017 at (4.4909993,
   4.4909993) and their mirror images. Falls to 1e-4 on the axes, with a kink. |x| < 100 pi on the
   domain, so the inner absolute value is its argument. */
static double cross_in_tray(const void *options, int dim, const double *x, double *gradient)
{
  const double r = hypot(x[0], x[1]), e = exp(100 - r / M_PI);
  const double s = sin(x[0]) * sin(x[1]), q = fabs(s) * e + 1;

  if (gradient) {
    const double outer = -1e-5 * pow(q, -0.9);
    const double radial = r > 0 ? -fabs(s) * e / (M_PI * r) : 0;
    gradient[0] = outer * (sign_of(s) * cos(x[0]) * sin(x[1]) * e + radial * x[0]);
    gradient[1] = outer * (sign_of(s) * sin(x[0]) * cos(x[1]) * e + radial * x[1]);
  }
  return -1e-4 * pow(q, 0.1);
}

const RgProblemClass rg_problem_cross_in_tray = {
  RG_ABOUT("cross_in_tray", "Cross-in-tray", 1,
           "0.0001 (|sin x1 sin x2 exp|100 - sqrt(x1^2 + x2^2)/pi|| + 1)^0.1 on [-10, 10]^2;\n"
           "four maximisers",
           "Mishra 2006, Some new test functions for global optimization"),
  RG_BOX(.formula = cross_in_tray, .minimised = true, .dim = 2, .lower = -10, .upper = 10,
         .best = -2.0626118708227368778, .n_best = 4,
         .best_at = RG_MIRRORED(1.3494066171539107918, 1.3494066171539107918)),
};

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

  if (gradient) {
    gradient[0] = -a * slope_a / 2 - wave_b - x[0] * slope_b;
    gradient[1] = -wave_a - a * slope_a + x[0] * slope_b;
  }
  return -a * wave_a - x[0] * wave_b;
}

const RgProblemClass rg_problem_eggholder = {
  RG_ABOUT("eggholder", "Eggholder", 1,
           "(x2 + 47) sin sqrt|x2 + x1/2 + 47| + x1 sin sqrt|x1 - (x2 + 47)| on [-512, 512]^2;\n"
           "the maximiser is on the boundary",
           "Whitley et al. 1996, Evaluating evolutionary algorithms"),
  RG_BOX(.formula = eggholder, .minimised = true, .dim = 2, .lower = -512, .upper = 512,
         .best = -959.64066272085080283, .best_at = (const double[]){512, 404.23180511375781093}),
};

/* The first factor is 1 at x2 = 0. */
static double currin_exp(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1];
  const double p = ((2300 * a + 1900) * a + 2092) * a + 60, q = ((100 * a + 500) * a + 4) * a + 20;
  const double tail = b > 0 ? exp(-1 / (2 * b)) : 0;

  if (gradient) {
    const double p_a = (6900 * a + 3800) * a + 2092, q_a = (300 * a + 1000) * a + 4;
    gradient[0] = (1 - tail) * (p_a * q - p * q_a) / (q * q);
    gradient[1] = tail > 0 ? -tail / (2 * b * b) * p / q : 0;
  }
  return (1 - tail) * p / q;
}

const RgProblemClass rg_problem_currin_exp = {
  RG_ABOUT("currin_exp", "Currin exponential", 1,
           "(1 - exp(-1/(2 x2))) (2300 x1^3 + 1900 x1^2 + 2092 x1 + 60)/(100 x1^3 + 500 x1^2 +\n"
           "4 x1 + 20) on [0, 1]^2",
           "Currin, Mitchell, Morris and Ylvisaker 1991"),
  RG_BOX(.formula = currin_exp, .dim = 2, .upper = 1, .best = 13.798722044728434505,
         .best_at = (const double[]){13.0 / 60, 0}),
};

/* With its limit at x1 = 0. The maxima of both functions of Park are at corners. */
static double park1(const void *options, int dim, const double *x, double *gradient)
{
  const double a = (x[1] + x[2] * x[2]) * x[3], root = sqrt(x[0] * x[0] + a);
  const double e = exp(1 + sin(x[2])), slope = root > 0 ? 1 / (4 * root) : 0; /* d root / d a */

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

  if (gradient) {
    gradient[0] = gradient[1] = e;
    gradient[2] = 1 - x[3] * cos(x[2]);
    gradient[3] = -sin(x[2]);
  }
  return e - x[3] * sin(x[2]) + x[2];
}

const RgProblemClass rg_problem_park1 = {
  RG_ABOUT("park1", "Park 1", 1,
           "(x1/2) [sqrt(1 + (x2 + x3^2) x4/x1^2) - 1] + (x1 + 3 x4) exp(1 + sin x3) on [0, 1]^4",
           "Park 1991; Cox, Park and Singer 2001"),
  RG_BOX(.formula = park1, .dim = 4, .upper = 1, .best = 25.589254158606548426, .each = 1),
};

const RgProblemClass rg_problem_park2 = {
  RG_ABOUT("park2", "Park 2", 1, "(2/3) exp(x1 + x2) - x4 sin x3 + x3 on [0, 1]^4",
           "Park 1991; Cox, Park and Singer 2001"),
  RG_BOX(.formula = park2, .dim = 4, .upper = 1, .best = 5.9260373992871001487,
         .best_at = (const double[]){1, 1, 1, 0}),
};

/* The maximiser is the centre of the box; that favours designs that look there first. */
static double cosine_mixture(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  for (int j = 0; j < dim; j++) {
    sum += 0.1 * cos(5 * M_PI * x[j]) - x[j] * x[j];
    if (gradient) gradient[j] = -0.5 * M_PI * sin(5 * M_PI * x[j]) - 2 * x[j];
  }
  return sum;
}

const RgProblemClass rg_problem_cosine8 = {
  RG_ABOUT("cosine8", "Cosine 8", 1, "0.1 sum_j cos(5 pi x_j) - sum_j x_j^2 on [-1, 1]^8",
           "Breiman and Cutler 1993, A deterministic algorithm for global optimization"),
  RG_BOX(.formula = cosine_mixture, .dim = 8, .lower = -1, .upper = 1, .best = 0.8),
};

/* The two simulations of constrained Bayesian optimisation. In the first a third of the square is
   infeasible; the maximum of the second is on the boundary of two small feasible regions, which are
   1.8 percent of the square. The constraints of the source are c <= lambda; here c - lambda. */
static double simulation_1(const void *options, int dim, const double *x, double *gradient)
{
  if (gradient) {
    gradient[0] = -2 * sin(2 * x[0]) * cos(x[1]) + cos(x[0]);
    gradient[1] = -cos(2 * x[0]) * sin(x[1]);
  }
  return cos(2 * x[0]) * cos(x[1]) + sin(x[0]);
}

static double simulation_2(const void *options, int dim, const double *x, double *gradient)
{
  if (gradient) {
    gradient[0] = cos(x[0]);
    gradient[1] = 1;
  }
  return sin(x[0]) + x[1];
}

#define ARCSIN_95 1.25323589750337531

static const RgBoxFunction simulations[] = {
  {simulation_1, true, 2, 0, 6, .best = -2, .best_at = (const double[]){1.5 * M_PI, 0}},
  {simulation_2, true, 2, 0, 6, .best = ARCSIN_95 - 1,
   .best_at = (const double[]){1.5 * M_PI, ARCSIN_95}},
};

static const char *const simulation_names[] = {"1", "2", NULL};

static const RgParam gardner_params[] = {
  RG_BOX_VARIANT("simulation", "1", simulation_names, "which of the two"), RG_BOX_EMBED, {0}};

static PetscErrorCode gardner_domain(const RgProblemClass *class, const void *options,
                                     RgDomain *domain)
{
  PetscCall(rg_box_domain(class, options, domain));
  return rg_domain_constrain(domain, 1, (const char *const[]){"c"});
}

static PetscErrorCode gardner_constrain(RgProblem *problem, int m, const RgPoint *points,
                                        double *constraints, RgFailure *failure)
{
  const RgBoxOptions *options = problem->options;

  for (int i = 0; i < m; i++) {
    const double *x = points[i].x;
    constraints[i] = options->variant ? sin(x[0]) * sin(x[1]) + 0.95
                                      : cos(x[0]) * cos(x[1]) - sin(x[0]) * sin(x[1]) - 0.5;
  }
  return 0;
}

const RgProblemClass rg_problem_gardner = {
  RG_ABOUT(
    "gardner", "Gardner", 1,
    "1: -[cos 2x1 cos x2 + sin x1] where cos(x1 + x2) <= 0.5; 2: -[sin x1 + x2] where\n"
    "sin x1 sin x2 <= -0.95; on [0, 6]^2, with one outcome constraint",
    "Gardner, Kusner, Xu, Weinberger, Cunningham 2014, Bayesian optimization with inequality "
    "constraints, ICML, section 4.1"),
  RG_OPTIONS(RgBoxOptions, gardner_params),
  .family = simulations,
  .domain = gardner_domain,
  .create = rg_box_create,
  .constrain = gardner_constrain,
  RG_BOX_VALUES,
};

/* A local maximum 0.3036389 at 0.8456253, minimum -1 at 0. With `levels` the design is that many
   equispaced points: the arms of theorem 4.10. The figures 1, 4 and 5 show it. */
static double damped_cosine(const void *options, int dim, const double *x, double *gradient)
{
  const double decay = exp(-1.4 * x[0]), angle = 3.5 * M_PI * x[0];

  if (gradient) gradient[0] = decay * (1.4 * cos(angle) + 3.5 * M_PI * sin(angle));
  return -decay * cos(angle);
}

typedef struct {
  RgBoxOptions box;
  int levels;
} CosineOptions;

static const RgParam cosine_params[] = {
  RG_INT("levels", CosineOptions, levels, "0", 0, 100000, "|X|",
         "equispaced points of a finite design, the ends included; 0: the whole interval"),
  RG_EMBED_PARAMS(CosineOptions, box.embedding),
  {0},
};

static const RgBoxFunction damped_cosine_box = {
  damped_cosine, false, 1, 0, 1, .best = 0.67576083137978782463, .each = 0.27419669379263342753};

static PetscErrorCode cosine_check(const RgProblemClass *class, const void *options, RgPlace place,
                                   RgDiagnostics *diagnostics)
{
  if (((const CosineOptions *)options)->levels == 1)
    rg_diagnostics_add(diagnostics, place, "%s: levels is 0 (an interval) or at least 2",
                       class->name);
  return 0;
}

static PetscErrorCode cosine_domain(const RgProblemClass *class, const void *options,
                                    RgDomain *domain)
{
  const int levels = ((const CosineOptions *)options)->levels;
  double *axis;

  if (!levels) return rg_box_domain(class, options, domain);
  PetscCall(PetscMalloc1(levels, &axis));
  for (int i = 0; i < levels; i++) axis[i] = (double)i / (levels - 1);
  PetscCall(rg_space_grid(&domain->design, 1, &levels, axis, &damped_cosine_box.lower,
                          &damped_cosine_box.upper));
  return PetscFree(axis);
}

/* The best of the arms replaces the maximum. */
static PetscErrorCode cosine_create(RgProblem *problem, RgFailure *failure)
{
  const RgSpace *design = &problem->domain.design;
  RgBoxFunction function = damped_cosine_box;

  for (int i = 0; i < design->size; i++) {
    const double f = damped_cosine(NULL, 1, &design->points[i], NULL);
    if (i && !(f > function.best)) continue;
    function.best = f;
    function.best_at = &design->points[i];
  }
  return rg_box_function_create(&function, 1, problem);
}

const RgProblemClass rg_problem_damped_cosine = {
  RG_ABOUT("damped_cosine", "Damped cosine", 1,
           "-exp(-1.4 x) cos(3.5 pi x) on [0, 1], or at equispaced points of it; two maxima",
           "Zhu, Zhou, Jin, Xu, Yuan, Ji 2025, arXiv:2502.06178, section 3"),
  RG_OPTIONS(CosineOptions, cosine_params),
  .family = &damped_cosine_box,
  RG_DOMAIN(cosine_domain, cosine_check),
  .create = cosine_create,
  RG_BOX_VALUES,
};

/* ---- cubes of any dimension ------------------------------------------------------------------ */

/* The maximum is a cusp at the centre of the default box, which favours designs that look there
   first. In use in the IRGP-UCB study (arXiv:2409.00979), section 5.2.
   Written with expm1 so that the value at the origin is 0 and small values keep their digits. */
static double ackley(const void *options, int dim, const double *x, double *gradient)
{
  double squares = 0, cosines = 0;

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

const RgProblemClass rg_problem_ackley = {
  RG_ABOUT("ackley", "Ackley", 1,
           "20 exp(-0.2 sqrt(sum x_j^2/d)) + exp(sum cos(2 pi x_j)/d) - 20 - e on\n"
           "[lower, upper]^d",
           "Ackley 1987, A connectionist machine for genetic hillclimbing"),
  RG_CUBE(10000, "-32.768", "32.768", .formula = ackley),
};

/* standardised: -(V(15 u - 5) - 382658.057227524) / 375264.858362295 on [0, 1]^4, V as in `plain`:
   mean 0 and variance 1 under uniform u. */
static double rosenbrock_plain(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

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

static const RgBoxFunction rosenbrock_functions[] = {
  {rosenbrock_plain, true, .lower = -5, .upper = 10, .each = 1},
  {rosenbrock_standardised, true, 4, 0, 1, .best = -1.0197012821757248689, .each = 0.4},
};

static const RgParam rosenbrock_params[] = {
  RG_BOX_VARIANT("variant", "plain", rosenbrock_variant_names,
                 "plain: -V; standardised: zero mean and unit variance on [0,1]^4"),
  RG_CUBE_DIM("4", 2, 1000, "; 4 in the standardised variant"),
  RG_CUBE_BOUNDS("auto", ", plain variant; auto: -5", "auto", ", plain variant; auto: 10"),
  RG_BOX_EMBED,
  {0},
};

const RgProblemClass rg_problem_rosenbrock = {
  RG_ABOUT("rosenbrock", "Rosenbrock", 1,
           "-sum_{i<d} [100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2] on [lower, upper]^d; or its\n"
           "standardised form on [0, 1]^4",
           "Rosenbrock 1960; standardised: Picheny, Wagner and Ginsbourger 2013"),
  RG_CUBES(rosenbrock_functions, rosenbrock_params),
};

/* weighted: -(sum_i 2^i u_i^2 - 1745) / 899; in use with the constants of the next one, which do
   not standardise it.
   standardised: -(sum_i 2^i z_i^2 - 1745.3796) / 899.0367, where z = 10 u - 5 + (-5, -3, -1, 1, 3,
   5) is then rotated by pi/8 in the planes (i, j), i < j in lexicographic order; mean 0 and
   variance 1 under uniform u. */
static double sphere_plain(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

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

static const RgBoxFunction sphere_functions[] = {
  {sphere_plain, true, .lower = -5.12, .upper = 5.12},
  {weighted, true, 6, 0, 1, .best = -1.9410456062291434928},
  {sphere_standardised, true, 6, 0, 1, .best = -1.9413885995977694793,
   .best_at = (const double[]){1, 0.8, 0.6, 0.4, 0.2, 0}},
};

static const RgParam sphere_params[] = {
  RG_BOX_VARIANT(
    "variant", "plain", sphere_variant_names,
    "plain; standardised: weighted, shifted, rotated, [0,1]^6; weighted: neither shifted "
    "nor rotated, [0,1]^6"),
  RG_CUBE_DIM("6", 1, 1000, "; 6 unless plain"),
  RG_CUBE_BOUNDS("auto", ", plain variant; auto: -5.12", "auto", ", plain variant; auto: 5.12"),
  RG_BOX_EMBED,
  {0},
};

const RgProblemClass rg_problem_sphere = {
  RG_ABOUT("sphere", "Sphere", 1,
           "-sum x_j^2 on [lower, upper]^d; or the weighted, shifted and rotated sphere of zero\n"
           "mean and unit variance on [0, 1]^6",
           "standardised: Picheny, Wagner and Ginsbourger 2013"),
  RG_CUBES(sphere_functions, sphere_params),
};

static double square(double v)
{
  return v * v;
}

static double levy(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

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

const RgProblemClass rg_problem_levy = {
  RG_ABOUT("levy", "Levy", 1,
           "-[sin^2(pi w_1) + sum_{i<d} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1)) + (w_d - 1)^2\n"
           "(1 + sin^2(2 pi w_d))], w_i = 1 + (x_i - 1)/4, on [lower, upper]^d",
           "Levy and Montalvo 1985; Laguna and Marti 2005"),
  RG_CUBE(1000, "-10", "10", .formula = levy, .each = 1),
};

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

  for (int j = 0; j < dim; j++) squares += x[j] * x[j];
  for (int j = 0; gradient && j < dim; j++) {
    const double root = sqrt(j + 1);
    gradient[j] = x[j] / 2000 + sin(x[j] / root) / root * product_without(j, dim, x);
  }
  return squares / 4000 + (1 - product_without(-1, dim, x));
}

const RgProblemClass rg_problem_griewank = {
  RG_ABOUT("griewank", "Griewank", 1,
           "-[sum_i x_i^2/4000 - prod_i cos(x_i/sqrt i) + 1] on [lower, upper]^d",
           "Griewank 1981, Generalized descent for global optimization"),
  RG_CUBE(1000, "-600", "600", .formula = griewank),
};

static double styblinski_tang(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  for (int j = 0; j < dim; j++) {
    const double v = x[j];
    sum += (v * v * v * v - 16 * v * v + 5 * v) / 2;
    if (gradient) gradient[j] = 2 * v * v * v - 16 * v + 2.5;
  }
  return sum;
}

const RgProblemClass rg_problem_styblinski_tang = {
  RG_ABOUT("styblinski_tang", "Styblinski-Tang", 1,
           "-sum_j (x_j^4 - 16 x_j^2 + 5 x_j)/2 on [lower, upper]^d",
           "Styblinski and Tang 1990, Experiments in nonconvex optimization"),
  RG_CUBE(1000, "-5", "5", .formula = styblinski_tang, .best_each = -39.166165703771415464,
          .each = -2.9035340277711770951),
};

/* f = 0: the quantity of interest is the fill distance of the queries (regret/fill_distance.h). */
static double zero(const void *options, int dim, const double *x, double *gradient)
{
  for (int j = 0; gradient && j < dim; j++) gradient[j] = 0;
  return 0;
}

static const RgParam unit_cube_params[] = {
  RG_INT("dim", RgBoxOptions, dim, "2", 1, 10, "d", "dimension"), {0}};

const RgProblemClass rg_problem_unit_cube = {
  RG_ABOUT("unit_cube", "Unit cube", 1,
           "f = 0 on [0, 1]^d: for space-filling designs, whose fill distance is recorded",
           "arXiv:2502.06178, figure 3"),
  .traits = RG_PROBLEM_FILLS_SPACE,
  RG_BOXES((&(const RgBoxFunction){zero, .upper = 1}), unit_cube_params),
};

/* The sum is separable, so its maximum is found coordinate by coordinate: 1.8013034 for d = 2,
   4.6876582 for d = 5, 9.6601517 for d = 10 (m = 10). */
typedef struct {
  RgBoxOptions box;
  int steepness;
} MichalewiczOptions;

static const RgParam michalewicz_params[] = {
  RG_INT("dim", MichalewiczOptions, box.dim, "5", 1, 1000, "d", "number of coordinates"),
  RG_INT("steepness", MichalewiczOptions, steepness, "10", 1, 1000, "m",
         "steepness of the valleys"),
  RG_EMBED_PARAMS(MichalewiczOptions, box.embedding),
  {0},
};

/* Term i = 1, 2, ... of the sum at x, and its derivative. */
static double term(int i, int steepness, double x, double *slope)
{
  const double angle = i * x * x / M_PI, s = sin(angle), power = pow(s * s, steepness - 1);

  *slope = cos(x) * power * s * s + sin(x) * 4 * steepness * i * x / M_PI * power * s * cos(angle);
  return sin(x) * power * s * s;
}

static double michalewicz(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0, slope;

  for (int j = 0; j < dim; j++) {
    sum += term(j + 1, ((const MichalewiczOptions *)options)->steepness, x[j], &slope);
    if (gradient) gradient[j] = slope;
  }
  return sum;
}

/* The maximum of term i beside the peak of its power at x: a zero of the derivative of log f, which
   decreases there, by Newton's method. */
static double climb(int i, int steepness, double x)
{
  for (int k = 0; k < 100; k++) {
    const double rate = 2 * i / M_PI, tangent = tan(x), power_tangent = tan(i * x * x / M_PI);
    const double slope = 1 / tangent + 2 * steepness * rate * x / power_tangent;
    const double outer = 1 + 1 / (tangent * tangent);
    const double inner = 1 + 1 / (power_tangent * power_tangent);
    const double bend = -outer + 2 * steepness * rate * (1 / power_tangent - rate * x * x * inner);
    const double step = slope / bend;
    x -= step;
    if (fabs(step) < 1e-16) break;
  }
  return x;
}

/* The coordinate i of the maximiser: the best of the peaks. */
static double best_coordinate(int i, int steepness, double *best)
{
  double at = 0, slope;

  *best = -INFINITY;
  for (int k = 0; k < i; k++) {
    const double x = climb(i, steepness, M_PI * sqrt((k + 0.5) / i));
    const double value = term(i, steepness, x, &slope);
    if (value <= *best) continue;
    *best = value;
    at = x;
  }
  return at;
}

static PetscErrorCode michalewicz_create(RgProblem *problem, RgFailure *failure)
{
  const MichalewiczOptions *o = problem->options;
  RgBoxFunction function = {.formula = michalewicz};
  double *at, value;

  PetscCall(PetscMalloc1(o->box.dim, &at));
  for (int j = 0; j < o->box.dim; j++) {
    at[j] = best_coordinate(j + 1, o->steepness, &value);
    function.best += value;
  }
  function.best_at = at;
  PetscCall(rg_box_function_create(&function, 1, problem));
  return PetscFree(at);
}

const RgProblemClass rg_problem_michalewicz = {
  RG_ABOUT("michalewicz", "Michalewicz", 1, "sum_i sin(x_i) sin(i x_i^2/pi)^(2 m) on [0, pi]^d",
           "Michalewicz 1992, Genetic algorithms + data structures = evolution programs"),
  RG_OPTIONS(MichalewiczOptions, michalewicz_params),
  .family = &(const RgBoxFunction){michalewicz, .upper = M_PI},
  .domain = rg_box_domain,
  .create = michalewicz_create,
  RG_BOX_VALUES,
};
