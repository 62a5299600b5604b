/* Bounds of SBO-KDE and DRBO-KDE. Source: arXiv:2312.10423; sbo_kde 7. */
#include "theory/kde_bounds.h"

#include <math.h>

#include "theory/bounds.h"
#include "theory/context_bounds.h"

double rg_kde_error_constant(int dim_c, double s)
{
  const double kappa = pow(4.0 / (dim_c + 2), 1.0 / (4 + dim_c));
  const double bracket = pow(kappa, -dim_c) + pow(kappa, 4) * dim_c * (dim_c + 2) / 16;

  return sqrt(pow(2 * sqrt(M_PI) * s, -dim_c) * bracket);
}

double rg_kde_beta(const RgKdeTheory *theory, int t)
{
  const double t2 = (double)t * t, abr = theory->f.a * theory->f.b * theory->f.r;
  const double levels = t2 * theory->dim_x * abr * sqrt(M_PI) / 2;

  return fmax(2 * log(t2 / sqrt(2 * M_PI)) + 2 * theory->dim_x * log(levels), 0);
}

double rg_kde_radius(int dim_c, int n)
{
  return pow(n, -2.0 / (4 + dim_c));
}

void rg_kde_constants(const RgKdeTheory *theory, double constant[5])
{
  const RgRobustDerivatives *f = &theory->f;
  const double dim = theory->dim_x + theory->dim_c, dim_c = theory->dim_c;

  constant[0] = 4 * rg_bound_c1(theory->noise);
  constant[4] = f->a * f->b * dim * f->r * sqrt(M_PI) / 2 + sqrt(2 / M_PI);
  constant[1] = constant[4] * theory->error * pow(f->r, dim_c / 2) * (4 + dim_c) / (2 + dim_c);
  constant[2] =
    constant[0] * fmax(1, theory->error * theory->error * pow(f->r, dim_c) * (4 + dim_c) / dim_c);
  constant[3] = constant[0] / constant[2];
}

double rg_kde_bound(const RgKdeTheory *theory, int T, double gamma, bool robust)
{
  const double dim_c = theory->dim_c;
  double C[5], sum = 0, squares = 0;

  for (int t = 1; robust && t <= T; t++) {
    const double radius = rg_kde_radius(theory->dim_c, t);
    sum += radius;
    squares += radius * radius;
  }
  rg_kde_constants(theory, C);
  const double spread = sqrt(pow(T, dim_c / (4 + dim_c))) + sqrt(T) + sqrt(C[3] * squares);
  return M_PI * M_PI / 3 + sqrt(rg_kde_beta(theory, T) * gamma * C[2]) * spread +
         2 * C[1] * pow(T, (2 + dim_c) / (4 + dim_c)) + C[4] * sum;
}

/* ---- the family ------------------------------------------------------------------------------ */

/* a and b of the method (constant[0] and [1] of its law), or nominal values: a = 1, b of the kernel
   scaled to k(z,z) = 1. C0 of a normal law. */
static RgKdeTheory constants_of(const RgBoundCase *s)
{
  const RgConfidenceLaw *law = s->law;

  return (RgKdeTheory){
    .f = {law->own ? law->constant[0] : 1,
          law->own ? law->constant[1] : rg_kde_steepness(s->kernel), 1},
    .dim_x = s->domain->design.dim,
    .dim_c = s->domain->context.dim,
    .noise = s->noise / s->largest,
    .error = rg_kde_error_constant(s->domain->context.dim, s->context_deviation),
  };
}

static double theorem_1(const RgBoundCase *s, int t)
{
  const RgKdeTheory theory = constants_of(s);

  return rg_kde_bound(&theory, t, s->gamma[t - 1], false);
}

static double theorem_2(const RgBoundCase *s, int t)
{
  const RgKdeTheory theory = constants_of(s);

  return rg_kde_bound(&theory, t, s->gamma[t - 1], true);
}

static double beta(const RgBoundCase *s, int t)
{
  const RgKdeTheory theory = constants_of(s);

  return rg_kde_beta(&theory, t);
}

static double radius(const RgBoundCase *s, int t)
{
  return rg_kde_radius(s->domain->context.dim, t);
}

/* Theorem 1; Theorem 2. */
static const char *const rules[] = {"sbo_kde", "drbo_kde", NULL};

#define SBO RG_RULE(0)
#define DRBO RG_RULE(1)

static const RgBoundCurve curves[] = {
  {"sbo_kde_theorem_1", SBO, "expected cumulative regret of SBO-KDE", NULL, theorem_1},
  {"drbo_kde_theorem_2", DRBO, "expected cumulative regret of DRBO-KDE", NULL, theorem_2},
  {"kde_beta", SBO | DRBO, "confidence parameter of the theorems, not of the methods", NULL, beta},
  {"kde_radius", DRBO, "radius of the theorem, not of the method", NULL, radius},
  {0},
};

static double noise_of(const RgBoundCase *s)
{
  return !s->fitted && s->noise > 0 ? s->noise : 0.01 * s->largest;
}

static const char *remark(const RgBoundCase *s)
{
  if (s->law->own)
    return s->fitted ? "a and b of the method, normal C0, hyperparameters as a fit starts"
                     : "a and b of the method, normal C0";
  return s->fitted ? "a = 1, normal C0, noise 0.01, unit outputs, hyperparameters as a fit starts"
                   : "a = 1, normal C0";
}

const RgBoundFamily rg_bounds_kde = {
  .name = "kde",
  .title = "stochastic and distributionally robust regret with densities of contexts estimated",
  .reference = "arXiv:2312.10423, Theorems 1 and 2",
  .assumptions =
    "f is a path whose derivatives have Gaussian tails, contexts drawn by nature from a "
    "box, bandwidths of order t^(-1/(4 + dim_c))",
  .curves = curves,
  .rules = rules,
  .joint = SBO | DRBO,
  .nominal = true,
  .obstacle = rg_context_obstacle,
  .refuse = rg_context_refuse,
  .noise_of = noise_of,
  .remark = remark,
};
