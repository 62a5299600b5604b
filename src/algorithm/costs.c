/* The costs of evaluations: their formula or their Gaussian process, and log c as a summand. */
#include <math.h>

#include "algorithm/costs.h"
#include "base/inputs.h"

#define STEP 1e-6 /* step of finite differences of a formula, unit cube */

/* Parse the formula of the cost; *formula is empty without one. */
static PetscErrorCode read_formula(const char *text, const RgSpace *design, RgArithmetic *formula,
                                   RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  *formula = (RgArithmetic){0};
  if (!text) return 0;
  PetscCall(rg_arithmetic_parse_inputs(&parser, design, formula));
  return rg_expression_expect_end(&parser, "formula");
}

PetscErrorCode rg_costs_check(const void *options, const RgDomain *domain, RgPlace place,
                              RgDiagnostics *diagnostics)
{
  const char *text = ((const RgCostOptions *)options)->cost;
  RgArithmetic formula;
  RgText mistake = {0};

  PetscCall(read_formula(text, &domain->design, &formula, &mistake));
  if (mistake.length)
    rg_diagnostics_add(diagnostics, place, "'cost' is \"%.100s\": %s", text, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  return rg_arithmetic_clear(&formula);
}

PetscErrorCode rg_costs_create(RgAlgorithm *algorithm)
{
  const char *formula = ((const RgCostOptions *)algorithm->options)->cost;
  RgCosts *costs = &((RgCostState *)algorithm->state)->costs;
  const RgSetup *setup = &algorithm->setup;
  const int capacity = setup->n_initial + setup->n_iterations;
  const RgModelHost host = {.team = setup->team, .clock = setup->clock};
  RgStream stream = rg_stream_sub(&setup->stream, "fit_cost");
  RgText mistake = {0};

  PetscCall(rg_surrogate_create(algorithm));
  costs->options = *setup->surrogate;
  if (costs->options.fit != RG_FIT_FIXED) costs->options.noise_variance = NAN;
  PetscCall(rg_model_create_on(host, setup->domain, &costs->options, false, NAN, capacity, &stream,
                               &costs->model));
  PetscCall(rg_history_create(setup->domain, capacity, &costs->timed));
  PetscCall(read_formula(formula, &setup->domain->design, &costs->formula, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", mistake.data);
  return 0;
}

PetscErrorCode rg_costs_destroy(RgAlgorithm *algorithm)
{
  RgCosts *costs = &((RgCostState *)algorithm->state)->costs;

  PetscCall(rg_surrogate_destroy(algorithm));
  PetscCall(rg_model_destroy(&costs->model));
  PetscCall(rg_history_destroy(&costs->timed));
  return rg_arithmetic_clear(&costs->formula);
}

PetscErrorCode rg_costs_update(RgCosts *costs, const RgHistory *history, RgFailure *failure)
{
  for (; costs->taken < history->n; costs->taken++) {
    const int row = costs->taken;
    const double time = history->timings[row].finished - history->timings[row].dispatched;
    if (!(time > 0)) continue;
    PetscCall(rg_history_append(
      &costs->timed, history->x + (size_t)row * history->dim, history->index[row],
      history->c + (size_t)row * history->context_dim, history->context_index[row], log(time)));
    costs->timed.n_initial = costs->timed.n;
  }
  if (!costs->formula.n && costs->timed.n)
    PetscCall(rg_model_update(&costs->model, &costs->timed, failure));
  return 0;
}

bool rg_costs_are_known(const RgCosts *costs)
{
  return costs->formula.n || costs->timed.n;
}

/* ---- log c as a summand ---------------------------------------------------------------------- */

/* The summand at point j of a block, where the logarithm of the cost is `logarithm`. */
static double summand_of(const RgCostTerm *term, int j, double logarithm)
{
  if (term->logarithms) term->logarithms[j] = logarithm;
  return term->logarithms || term->factors ? 0 : term->factor * logarithm;
}

static double factor_of(const RgCostTerm *term, int j)
{
  if (term->logarithms) return 0;
  return term->factors ? term->factors[j] : term->factor;
}

/* c at a design x of the unit cube, by the formula. seen (dim): x as the problem sees it. */
static double by_formula(const RgCostTerm *term, const double *x, double *seen)
{
  rg_space_to_native(term->design, x, seen);
  rg_space_seen(term->design, seen, seen);
  return rg_arithmetic_value(&term->costs->formula, seen);
}

/* The derivative of log c by coordinate j; x is changed meanwhile. */
static double formula_slope(const RgCostTerm *term, double *x, int j, double *seen)
{
  const double at = x[j], low = fmax(at - STEP, 0), high = fmin(at + STEP, 1);

  x[j] = high;
  const double above = log(by_formula(term, x, seen));
  x[j] = low;
  const double below = log(by_formula(term, x, seen));
  x[j] = at;
  return (above - below) / (high - low);
}

/* An RgBatchFunction. */
static PetscErrorCode formula_cost(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  const RgCostTerm *term = closure;
  const int dim = term->design->dim;
  double *x, *seen;

  PetscCall(PetscMalloc2(dim, &x, dim, &seen));
  for (int i = 0; i < m; i++) {
    PetscCall(PetscArraycpy(x, X + (size_t)i * dim, dim));
    const double c = by_formula(term, x, seen);
    if (!(c > 0 && isfinite(c)) && !term->refused->length) {
      PetscCall(rg_text_add(term->refused, "%g at", c));
      PetscCall(rg_space_print_seen(term->design, seen, term->refused));
    }
    value[i] = summand_of(term, i, log(c));
    for (int j = 0; gradient && j < dim; j++)
      gradient[(size_t)i * dim + j] =
        term->logarithms ? 0 : factor_of(term, i) * formula_slope(term, x, j, seen);
  }
  return PetscFree2(x, seen);
}

/* An RgMarginalFunction: log c as the Gaussian process predicts it. */
static void learned_cost(const void *closure, int m, const double *mean, const double *sd,
                         double *value, double *d_mean, double *d_sd)
{
  const RgCostTerm *term = closure;
  const RgModel *model = &term->costs->model;

  for (int i = 0; i < m; i++) value[i] = summand_of(term, i, model->shift + model->scale * mean[i]);
  for (int i = 0; d_mean && i < m; i++) d_mean[i] = factor_of(term, i) * model->scale;
}

RgSummand rg_cost_summand(RgCostTerm *term)
{
  if (term->costs->formula.n) return (RgSummand){.function = formula_cost, .closure = term};
  return (RgSummand){.model = (RgModel *)&term->costs->model,
                     .acquisition = {learned_cost, term},
                     .mean_only = true};
}

PetscErrorCode rg_cost_refuse(RgText *refused, RgFailure *failure)
{
  if (refused->length)
    rg_failure_set(failure, "the formula of the cost is %s; a cost is positive and finite",
                   refused->data);
  return rg_text_clear(refused);
}
