/* hartmann3 and hartmann6: Hartmann's functions in 3 and 6 dimensions, negated.

   f(x) = sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2) on the unit cube, c = (1, 1.2, 3, 3.2).
   hartmann3: maximum 3.86278214782076 at (0.114614338589672, 0.555648849971857, 0.852546953520866).
   The source has P_41 = 0.03815; 0.0381 circulates too (constant: rounded), with maximum
   3.86277978733266 at (0.114588876655069, 0.55564889461693, 0.852546984686677).
   hartmann6: maximum 3.32236801141551 at (0.201689511006705, 0.150010691823458, 0.476873974221897,
   0.275332430494056, 0.311651616600113, 0.65730053406562); a local maximum 3.2031619 near
   (0.4047, 0.8824, 0.8461, 0.5740, 0.1389, 0.0385).
   Sources: J. K. Hartman, Some experiments in global optimization, 1973; Dixon and Szego 1978. */
#include "problem/box_problem.h"
#include "problem/context_problem.h"

#include <math.h>

static const double weights[4] = {1.0, 1.2, 3.0, 3.2};

/* Rows of A and P, 4 x dim, of the 3- and the 6-dimensional function. */
static const double a3[4 * 3] = {3, 10, 30, 0.1, 10, 35, 3, 10, 30, 0.1, 10, 35};

static const double p3[4 * 3] = {0.3689, 0.1170, 0.2673, 0.4699,  0.4387, 0.7470,
                                 0.1091, 0.8732, 0.5547, 0.03815, 0.5743, 0.8828};

static const double p3_rounded[4 * 3] = {0.3689, 0.1170, 0.2673, 0.4699, 0.4387, 0.7470,
                                         0.1091, 0.8732, 0.5547, 0.0381, 0.5743, 0.8828};

/* clang-format off */
static const double a6[4 * 6] = {10,    3,  17,   3.5, 1.7,  8,
                                       0.05, 10, 17,   0.1, 8,   14,
                                       3,    3.5, 1.7, 10,  17,   8,
                                      17,    8,  0.05, 10,  0.1, 14};

static const double p6[4 * 6] = {0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886,
                                      0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991,
                                      0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650,
                                      0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381};
/* clang-format on */

/* sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2), and its gradient (dim; NULL: not wanted).
   A, P: 4 x dim. The maximised form: Hartmann's function is its negative. */
static double sum_of_gaussians(int dim, const double *A, const double *P, const double *x,
                               double *gradient)
{
  double sum = 0;

  for (int j = 0; gradient && j < dim; j++) gradient[j] = 0;
  for (int i = 0; i < 4; i++) {
    const double *a = A + i * dim, *p = P + i * dim;
    double exponent = 0;
    for (int j = 0; j < dim; j++) exponent += a[j] * (x[j] - p[j]) * (x[j] - p[j]);
    const double term = weights[i] * exp(-exponent);
    for (int j = 0; gradient && j < dim; j++) gradient[j] -= 2 * a[j] * (x[j] - p[j]) * term;
    sum += term;
  }
  return sum;
}

static double hartmann3(const void *options, int dim, const double *x, double *gradient)
{
  const bool rounded = ((const RgBoxOptions *)options)->variant == 1;

  return sum_of_gaussians(dim, a3, rounded ? p3_rounded : p3, x, gradient);
}

static double hartmann6(const void *options, int dim, const double *x, double *gradient)
{
  return sum_of_gaussians(dim, a6, p6, x, gradient);
}

static const RgBoxFunction variants3[] = {
  {hartmann3, false, 3, 0, 1, .best = 3.8627821478207552554,
   .best_at =
     (const double[]){0.11461433858967197614, 0.55564884997185693489, 0.8525469535208657849}},
  {hartmann3, false, 3, 0, 1, .best = 3.8627797873326625228,
   .best_at =
     (const double[]){0.11458887665506896836, 0.55564889461693004477, 0.85254698468667743762}},
};

static const char *const constant_names[] = {"classical", "rounded", NULL};

static const RgParam params3[] = {
  RG_CHOICE("constant", RgBoxOptions, variant, "classical", constant_names, "P_41",
            "classical: P_41 = 0.03815; rounded: 0.0381, as some collections print it"),
  RG_BOX_EMBED,
  {0},
};

const RgProblemClass rg_problem_hartmann3 = {
  RG_ABOUT("hartmann3", "Hartmann 3", 1,
           "sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2), i = 1..4, on [0, 1]^3",
           "Hartman 1973, Some experiments in global optimization; Dixon and Szego 1978"),
  RG_BOXES(variants3, params3),
};

const RgProblemClass rg_problem_hartmann6 = {
  RG_ABOUT("hartmann6", "Hartmann 6", 1,
           "sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2), i = 1..4, on [0, 1]^6",
           "Hartman 1973, Some experiments in global optimization; Dixon and Szego 1978"),
  RG_BOX(.formula = hartmann6, .dim = 6, .upper = 1, .best = 3.3223680114155148001,
         .best_at = (const double[]){0.20168951100670542433, 0.15001069182345796879,
                                     0.47687397422189699032, 0.27533243049405606824,
                                     0.31165161660011324245, 0.65730053406562030606}),
};

enum { TERMS = 4, DIM = 5 };

typedef struct {
  RgContextOptions context;
  double alpha_2;
} Options;

static const RgParam params[] = {
  RG_REAL("alpha_2", Options, alpha_2, "1.2", 0, 1e6, "alpha_2",
          "second weight: 1.2, or 2.0 as printed in arXiv:2312.10423"),
  RG_CONTEXT_PARAMS("normal(0.5, 0.1)", "true", "raw"),
  {0},
};

static double weight(const Options *o, int i)
{
  return i == 1 ? o->alpha_2 : weights[i];
}

/* exp(-A_ij (z - P_ij)^2) in the exponent, j < n. */
static double distance(int i, int n, const double *x)
{
  double sum = 0;

  for (int j = 0; j < n; j++) {
    const double difference = x[j] - p6[i * (DIM + 1) + j];
    sum += a6[i * (DIM + 1) + j] * difference * difference;
  }
  return sum;
}

static double context_factor(int i, double c)
{
  const double difference = c - p6[i * (DIM + 1) + DIM];

  return exp(-a6[i * (DIM + 1) + DIM] * difference * difference);
}

static double formula(const void *options, const double *x, const double *c)
{
  double sum = 0;

  for (int i = 0; i < TERMS; i++)
    sum += weight(options, i) * exp(-distance(i, DIM, x)) * context_factor(i, c[0]);
  return sum;
}

static PetscErrorCode exact(RgProblem *problem, const RgContextProblem *data, const double *x,
                            double *F)
{
  *F = 0;
  for (int i = 0; i < TERMS; i++)
    *F += weight(problem->options, i) * data->mean[i] * exp(-distance(i, DIM, x));
  return 0;
}

const RgProblemClass rg_problem_hartmann_context = {
  RG_ABOUT("hartmann_context", "Hartmann 5+1", 1,
           "sum_i alpha_i exp(-sum_j A_ij (z_j - P_ij)^2), z = (x, c), on [0, 1]^5;\n"
           "F(x) = E f(x, c)",
           "arXiv:2312.10423, section 5; arXiv:2503.20341, appendix"),
  RG_OPTIONS(Options, params),
  RG_CONTEXT(.dim = DIM, .dim_c = 1, .formula = formula, .n_means = TERMS,
             .mean_of = context_factor, .panels = 200, .exact = exact),
};
