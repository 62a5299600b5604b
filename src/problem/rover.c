/* rover: the trajectory of a rover between trees, 60 inputs.

   The inputs are 30 points p_i = 1.2 (x_2i, x_2i+1) - 0.1 of the plane. The path s(t), t in [0, 1],
   is their smoothing spline: FITPACK's with its default smoothing 30 - sqrt(60), which all such
   points admit without a knot, so it is the cubic polynomial of least squares in the chord length.
     f = 5 - [integral of c along s + 10 |s(0) - start|_1 + 10 |s(1) - goal|_1],
   start (0.05, 0.05), goal (0.95, 0.95), c = 0.05, and 20 more in a tree or outside of [0, 1)^2;
   the integral by the trapezoidal rule on 1000 points. Trees are squares of side 0.05.
   Wang, Gehring, Kohli, Jegelka 2018, arXiv:1706.01445, section 4, with the constants of its code,
   which adds normal noise of 1e-4 to the points; noise is a setting of a study here. Points that
   determine no cubic, on which FITPACK fails, give the one of smallest coefficients. */
#include "maths/blas.h"
#include "regatta/problem.h"

#include <math.h>

enum { POINTS = 30, SAMPLES = 1000, COEFFICIENTS = 4 };

// clang-format off
static const double trees[][2] = {
  {0.43143755, 0.20876147}, {0.38485367, 0.39183579}, {0.02985961, 0.22328303},
  {0.7803707, 0.3447003}, {0.93685657, 0.56297285}, {0.04194252, 0.23598362},
  {0.28049582, 0.40984475}, {0.6756053, 0.70939481}, {0.01926493, 0.86972335},
  {0.5993437, 0.63347932}, {0.57807619, 0.40180792}, {0.56824287, 0.75486851},
  {0.35403502, 0.38591056}, {0.72492026, 0.59969313}, {0.27618746, 0.64322757},
  {0.54029566, 0.25492943}, {0.30903526, 0.60166842}, {0.2913432, 0.29636879},
  {0.78512072, 0.62340245}, {0.29592116, 0.08400595}, {0.87548394, 0.04877622},
  {0.21714791, 0.9607346}, {0.92624074, 0.53441687}, {0.53639253, 0.45127928},
  {0.99892031, 0.79537837}, {0.84621631, 0.41891986}, {0.39432819, 0.06768617},
  {0.92365693, 0.72217512}, {0.95520914, 0.73956575}, {0.820383, 0.53880139},
  {0.22378049, 0.9971974}, {0.34023233, 0.91014706}, {0.64960636, 0.35661133},
  {0.29976464, 0.33578931}, {0.43202238, 0.11563227}, {0.66764947, 0.52086962},
  {0.45431078, 0.94582745}, {0.12819915, 0.33555344}, {0.19287232, 0.8112075},
  {0.61214791, 0.71940626}, {0.4522542, 0.47352186}, {0.95623345, 0.74174186},
  {0.17340293, 0.89136853}, {0.04600255, 0.53040724}, {0.42493468, 0.41006649},
  {0.37631485, 0.88033853}, {0.66951947, 0.29905739}, {0.4151516, 0.77308712},
  {0.55762991, 0.26400156}, {0.6280609, 0.53201974}, {0.92727447, 0.61054975},
  {0.93206587, 0.42107549}, {0.63885574, 0.37540613}, {0.15303425, 0.57377797},
  {0.8208471, 0.16566631}, {0.14889043, 0.35157346}, {0.71724622, 0.57110725},
  {0.32866327, 0.8929578}, {0.74435871, 0.47464421}, {0.9252026, 0.21034329},
  {0.57039306, 0.54356078}, {0.56611551, 0.02531317}, {0.84830056, 0.01180542},
  {0.51282028, 0.73916524}, {0.58795481, 0.46527371}, {0.83259048, 0.98598188},
  {0.00242488, 0.83734691}, {0.72505789, 0.04846931}, {0.07312971, 0.30147979},
  {0.55250344, 0.23891255}, {0.51161315, 0.46466442}, {0.802125, 0.93440495},
  {0.9157825, 0.32441602}, {0.44927665, 0.53380074}, {0.67708372, 0.67527231},
  {0.81868924, 0.88356194}, {0.48228814, 0.88668497}, {0.39805433, 0.99341196},
  {0.86671752, 0.79016975}, {0.01115417, 0.6924913}, {0.34272199, 0.89543756},
  {0.40721675, 0.86164495}, {0.26317679, 0.37334193}, {0.74446787, 0.84782643},
  {0.55560143, 0.46405104}, {0.73567977, 0.12776233}, {0.28080322, 0.26036748},
  {0.17507419, 0.95540673}, {0.54233783, 0.1196808}, {0.76670967, 0.88396285},
  {0.61297539, 0.79057776}, {0.9344029, 0.86252764}, {0.48746839, 0.74942784},
  {0.18657635, 0.58127321}, {0.10377802, 0.71463978}, {0.7771771, 0.01463505},
  {0.7635042, 0.45498358}, {0.83345861, 0.34749363}, {0.38273809, 0.51890558},
  {0.33887574, 0.82842507}, {0.02073685, 0.41776737}, {0.68754547, 0.96430979},
  {0.4704215, 0.92717361}, {0.72666234, 0.63241306}, {0.48494401, 0.72003268},
  {0.52601215, 0.81641253}, {0.71426732, 0.47077212}, {0.00258906, 0.30377501},
  {0.35495269, 0.98585155}, {0.65507544, 0.03458909}, {0.10550588, 0.62032937},
  {0.60259145, 0.87110846}, {0.04959159, 0.535785}
};
// clang-format on

static const RgParam params[] = {{0}};

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  return rg_space_cube(&domain->design, 2 * POINTS, 0, 1);
}

/* The cubic polynomials of Bernstein at t. */
static void bernstein(double t, double *value)
{
  const double s = 1 - t;

  value[0] = s * s * s;
  value[1] = 3 * s * s * t;
  value[2] = 3 * s * t * t;
  value[3] = t * t * t;
}

/* The control points of the path: control[2 k], control[2 k + 1] are those of polynomial k. */
static void fit(const double *x, double *control)
{
  double points[2 * POINTS], chord[POINTS] = {0}, matrix[POINTS * COEFFICIENTS];
  double singular[COEFFICIENTS];
  lapack_int rank;

  for (int i = 0; i < 2 * POINTS; i++) points[i] = 1.2 * x[i] - 0.1;
  for (int i = 1; i < POINTS; i++) {
    const double *p = points + (size_t)2 * i;
    chord[i] = chord[i - 1] + hypot(p[0] - p[-2], p[1] - p[-1]);
  }
  for (int i = 0; i < POINTS; i++)
    bernstein(chord[POINTS - 1] > 0 ? chord[i] / chord[POINTS - 1] : i / (POINTS - 1.0),
              matrix + (size_t)COEFFICIENTS * i);
  LAPACKE_dgelss(LAPACK_ROW_MAJOR, POINTS, COEFFICIENTS, 2, matrix, COEFFICIENTS, points, 2,
                 singular, 1e-12, &rank);
  for (int k = 0; k < 2 * COEFFICIENTS; k++) control[k] = points[k];
}

/* The cost of being at a point, per length. */
static double cost_at(const double p[2])
{
  bool hits = p[0] < 0 || p[0] >= 1 || p[1] < 0 || p[1] >= 1;

  for (size_t k = 0; k < sizeof(trees) / sizeof(trees[0]) && !hits; k++)
    hits = trees[k][0] - 0.025 <= p[0] && p[0] < trees[k][0] + 0.025 &&
           trees[k][1] - 0.025 <= p[1] && p[1] < trees[k][1] + 0.025;
  return hits ? 20.05 : 0.05;
}

static double cost_of_path(const double *control)
{
  double before[2] = {0}, cost_before = 0, sum = 0;

  for (int i = 0; i < SAMPLES; i++) {
    const double end = i ? 0.95 : 0.05;
    double weight[COEFFICIENTS], p[2] = {0, 0};
    bernstein(i / (SAMPLES - 1.0), weight);
    for (int k = 0; k < COEFFICIENTS; k++) {
      p[0] += weight[k] * control[2 * k];
      p[1] += weight[k] * control[2 * k + 1];
    }
    const double cost = cost_at(p);
    if (i) sum += hypot(p[0] - before[0], p[1] - before[1]) * (cost_before + cost) / 2;
    if (i == 0 || i == SAMPLES - 1) sum += 10 * (fabs(p[0] - end) + fabs(p[1] - end));
    before[0] = p[0];
    before[1] = p[1];
    cost_before = cost;
  }
  return sum;
}

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  double control[2 * COEFFICIENTS];

  for (int i = 0; i < m; i++) {
    fit(points[i].x, control);
    f[i] = 5 - cost_of_path(control);
  }
  return 0;
}

const RgProblemClass rg_problem_rover = {
  RG_ABOUT("rover", "Rover trajectory", 1,
           "5 minus the cost of a path fitted to 30 points of the plane, among trees, on\n"
           "[0, 1]^60. The maximum is not known, so there is no regret; the best value found here\n"
           "is 4.676, by searches of the authors of this program: an estimate from below",
           "Wang, Gehring, Kohli, Jegelka 2018, arXiv:1706.01445, section 4"),
  .params = params,
  .traits = RG_PROBLEM_UNKNOWN,
  .domain = domain,
  .evaluate = evaluate,
};
