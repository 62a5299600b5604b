#include "study/theory/theory_context.h"

#include <math.h>
#include <string.h>

#include "maths/distribution.h"
#include "theory/context_bounds.h"

bool rg_theory_is_context(RgTheory theory)
{
  return theory == RG_THEORY_SBO_KDE || theory == RG_THEORY_DRBO_KDE || theory == RG_THEORY_WDRBO;
}

double rg_theory_context_noise(const RgCell *cell, RgTheory theory, double noise, double largest)
{
  if (theory == RG_THEORY_WDRBO) return largest;
  return cell->surrogate.fit == RG_FIT_FIXED && noise > 0 ? noise : 0.01 * largest;
}

const char *rg_theory_context_remark(const RgCell *cell, RgTheory theory)
{
  const bool fitted = cell->surrogate.fit != RG_FIT_FIXED;

  if (theory == RG_THEORY_WDRBO)
    return fitted ? "B = kappa = lambda = 1, unit outputs, hyperparameters as a fit starts"
                  : "B = kappa = lambda = 1";
  return fitted ? "a = 1, normal C0, noise 0.01, unit outputs, hyperparameters as a fit starts"
                : "a = 1, normal C0";
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Deviation of the normal law with the quartiles of the problem's first context; NaN: it has no
   parameter `law`. */
static PetscErrorCode law_deviation(const RgCell *cell, double *deviation)
{
  const RgParam *param = cell->problem->params;
  RgDistribution law;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  *deviation = NAN;
  while (param && param->name && strcmp(param->name, "law")) param++;
  if (!param || !param->name || param->type != RG_PARAM_TEXTS) PetscFunctionReturn(0);
  const RgTexts *texts = (const RgTexts *)((const char *)cell->problem_options + param->offset);
  PetscCall(rg_distribution_parse(texts->values[0], &law, &mistake));
  if (!mistake.data)
    *deviation = (rg_distribution_quantile(&law, 0.75) - rg_distribution_quantile(&law, 0.25)) /
                 (2 * 0.67448975019608171);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_distribution_destroy(&law));
  PetscFunctionReturn(0);
}

static PetscErrorCode kde_theory(const RgCell *cell, const RgDomain *domain, const RgKernel *kernel,
                                 const RgCellTheory *theory, RgKdeTheory *kde)
{
  double deviation;

  PetscFunctionBeginUser;
  PetscCall(law_deviation(cell, &deviation));
  *kde = (RgKdeTheory){.f = {1, rg_kde_steepness(kernel), 1},
                       .dim_x = domain->design.dim,
                       .dim_c = domain->context.dim,
                       .noise = theory->noise / theory->largest,
                       .error = rg_kde_error_constant(domain->context.dim, deviation)};
  PetscFunctionReturn(0);
}

static RgWassersteinTheory ball_theory(const RgCell *cell, const RgDomain *domain,
                                       const RgKernel *kernel, double delta)
{
  return (RgWassersteinTheory){.lambda = 1,
                               .R = sqrt(cell->run.noise_variance),
                               .B = 1,
                               .delta = delta,
                               .slope = rg_kernel_slope(kernel) / sqrt(rg_kernel_diagonal(kernel)),
                               .dim_x = domain->design.dim,
                               .dim_c = domain->context.dim,
                               .width_x = sqrt(domain->design.dim),
                               .width_c = sqrt(domain->context.dim),
                               .kappa = 1};
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void kde_curve(const RgKdeTheory *kde, RgCurve curve, RgCellTheory *theory)
{
  for (int t = 1; t <= theory->n; t++) {
    const double gamma = theory->gain->upper[t - 1];
    double *value = &theory->value[curve][t - 1];
    switch (curve) {
    case RG_CURVE_SBO_KDE_THEOREM_1: *value = rg_bound_sbo_kde(kde, t, gamma); break;
    case RG_CURVE_DRBO_KDE_THEOREM_2: *value = rg_bound_drbo_kde(kde, t, gamma); break;
    case RG_CURVE_KDE_RADIUS: *value = rg_kde_radius(kde->dim_c, t); break;
    default: *value = rg_kde_beta(kde, t); break;
    }
  }
}

/* law.b: the constant radius around a given centre; NaN: observed contexts. */
static void ball_curve(const RgWassersteinTheory *ball, RgCurve curve, RgCellTheory *theory)
{
  double penalties = 0;

  for (int t = 1; t <= theory->n; t++) {
    const double given = theory->law[t - 1].b, gamma = 2 * theory->gain->upper[t - 1];
    const double norm = rg_wasserstein_norm(ball, t > 1 ? 2 * theory->gain->upper[t - 2] : 0);
    const double radius = isnan(given) ? rg_wasserstein_radius(ball, t, norm) : given;
    double *value = &theory->value[curve][t - 1];
    penalties += rg_wasserstein_penalty(ball, radius, norm);
    if (isnan(given)) penalties += 2 * rg_wasserstein_remainder(ball, t, norm);
    switch (curve) {
    case RG_CURVE_WASSERSTEIN_BETA: *value = sqrt(ball->lambda) * norm; break;
    case RG_CURVE_WASSERSTEIN_RADIUS: *value = radius; break;
    default: *value = rg_bound_wdrbo(ball, t, gamma, norm, penalties); break;
    }
  }
}

static bool is_wanted(RgCurve curve, const RgConfidenceLaw *law)
{
  switch (curve) {
  case RG_CURVE_SBO_KDE_THEOREM_1: return law->theory == RG_THEORY_SBO_KDE;
  case RG_CURVE_DRBO_KDE_THEOREM_2:
  case RG_CURVE_KDE_RADIUS: return law->theory == RG_THEORY_DRBO_KDE;
  case RG_CURVE_KDE_BETA:
    return law->theory == RG_THEORY_SBO_KDE || law->theory == RG_THEORY_DRBO_KDE;
  case RG_CURVE_WDRBO_THEOREM_5: return law->theory == RG_THEORY_WDRBO && !isnan(law->b);
  case RG_CURVE_WDRBO_THEOREM_9: return law->theory == RG_THEORY_WDRBO && isnan(law->b);
  case RG_CURVE_WASSERSTEIN_BETA:
  case RG_CURVE_WASSERSTEIN_RADIUS: return law->theory == RG_THEORY_WDRBO;
  default: return false;
  }
}

PetscErrorCode rg_theory_context_curve(const RgCell *cell, const RgDomain *domain,
                                       const RgKernel *kernel, RgCurve curve, double delta,
                                       RgCellTheory *theory)
{
  PetscFunctionBeginUser;
  if (!is_wanted(curve, &theory->law[0])) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(theory->n, &theory->value[curve]));
  if (theory->law[0].theory == RG_THEORY_WDRBO) {
    const RgWassersteinTheory ball = ball_theory(cell, domain, kernel, delta);
    ball_curve(&ball, curve, theory);
  } else {
    RgKdeTheory kde;
    PetscCall(kde_theory(cell, domain, kernel, theory, &kde));
    kde_curve(&kde, curve, theory);
  }
  PetscFunctionReturn(0);
}
