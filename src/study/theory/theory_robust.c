#include "study/theory/theory_robust.h"

#include <math.h>
#include <string.h>

#include "theory/robust_bounds.h"
#include "regatta/measure.h"

PetscErrorCode rg_theory_robust_slope(const RgDomain *domain, RgCellTheory *theory)
{
  RgMeasure measure;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  theory->slope = NAN;
  if (!domain->measure || (domain->context.size && !domain->context_prob)) PetscFunctionReturn(0);
  PetscCall(rg_measure_parse(domain->measure, &measure, &mistake));
  if (!mistake.data) theory->slope = rg_measure_slope(&measure);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_measure_destroy(&measure));
  PetscFunctionReturn(0);
}

/* C1, or C1' where nature draws the context. */
static double constant(const RgDomain *domain, const RgCellTheory *theory)
{
  double least = 1;

  for (int j = 0; j < domain->context.size && domain->control == RG_CONTEXT_NATURE; j++)
    least = fmin(least, domain->context_prob[j]);
  return rg_robust_c1(theory->noise, theory->largest, least);
}

/* The last recommendation is the best one for the expectation alone. */
static bool is_expectation(const RgDomain *domain)
{
  return domain->measure && !strcmp(domain->measure, rg_measure_infos[RG_MEASURE_EXPECTATION].name);
}

static double finite_value(const RgDomain *domain, const RgCellTheory *theory, RgCurve curve, int t,
                           double delta)
{
  const double kappa = (double)domain->design.size * domain->context.size;
  const double sum = rg_robust_bound_linear(theory->slope, t, kappa, constant(domain, theory),
                                            theory->gain->upper[t - 1]);

  if (curve == RG_CURVE_RRGP_THEOREM_4_4) return rg_robust_bound_markov(sum, delta);
  return curve == RG_CURVE_RRGP_COROLLARY_4_1 ? sum : sum / t;
}

static double continuous_value(const RgDomain *domain, const RgCellTheory *theory, RgCurve curve,
                               int t)
{
  const double kappa = exp(theory->law[t - 1].a / 2), gamma = theory->gain->upper[t - 1];
  const double c1 = constant(domain, theory);
  const bool box = !domain->context.size;

  if (curve == RG_CURVE_RRGP_THEOREM_A_LAST && box)
    return rg_robust_bound_last_continuous(t, kappa, c1, gamma);
  const double sum = rg_robust_bound_continuous(theory->slope, box, t, kappa, c1, gamma);
  return curve == RG_CURVE_RRGP_COROLLARY_A ? sum : sum / t;
}

PetscErrorCode rg_theory_robust_curve(const RgDomain *domain, RgCurve curve, double delta,
                                      RgCellTheory *theory)
{
  const bool last = curve == RG_CURVE_RRGP_THEOREM_4_3 || curve == RG_CURVE_RRGP_THEOREM_A_LAST;

  PetscFunctionBeginUser;
  if (last && !is_expectation(domain)) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(theory->n, &theory->value[curve]));
  for (int t = 1; t <= theory->n; t++) {
    theory->value[curve][t - 1] = theory->law[0].theory == RG_THEORY_RRGP
                                    ? finite_value(domain, theory, curve, t, delta)
                                    : continuous_value(domain, theory, curve, t);
  }
  PetscFunctionReturn(0);
}
