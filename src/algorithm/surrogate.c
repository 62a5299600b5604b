/* Steps shared by the methods that keep a surrogate of f, and by the UCB family. */
#include "algorithm/surrogate.h"
#include "acquisition/penalty.h"
#include "gp/model/pending.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

PetscErrorCode rg_surrogate_create_model(const RgAlgorithm *algorithm, RgSurrogateInputs inputs,
                                         RgModel *model)
{
  const RgSetup *setup = &algorithm->setup;
  RgStream stream = rg_stream_sub(&setup->stream, "fit");
  const bool own = algorithm->class->traits & RG_OWN_PENDING;
  const RgModelHost host = {setup->team, setup->clock, own ? NULL : setup->pending,
                            inputs == RG_INPUTS_CUBE};

  return rg_model_create_on(host, setup->domain, setup->surrogate, inputs != RG_INPUTS_DESIGN,
                            setup->noise_variance, setup->n_initial + setup->n_iterations, &stream,
                            model);
}

PetscErrorCode rg_surrogate_create(RgAlgorithm *algorithm)
{
  return rg_surrogate_create_model(algorithm, RG_INPUTS_DESIGN, algorithm->state);
}

RgModel *rg_surrogate_model(RgAlgorithm *algorithm)
{
  return algorithm->state;
}

PetscErrorCode rg_surrogate_destroy(RgAlgorithm *algorithm)
{
  return rg_model_destroy(algorithm->state);
}

PetscErrorCode rg_surrogate_acquire(const RgAlgorithm *algorithm, RgModel *model, int t,
                                    const RgHistory *history, const RgAcquisition *acquisition,
                                    RgQuery *query, double *value, RgFailure *failure)
{
  return rg_acquire(model, acquisition, RG_SEARCH_AT(algorithm, t, history), query, value, failure);
}

static void log_deviation(const void *closure, int m, const double *mean, const double *sd,
                          double *value, double *d_mean, double *d_sd)
{
  for (int j = 0; j < m; j++) value[j] = log(sd[j]);
  for (int j = 0; d_sd && j < m; j++) {
    d_mean[j] = 0.0;
    d_sd[j] = 1.0 / sd[j];
  }
}

PetscErrorCode rg_surrogate_most_uncertain(const RgAlgorithm *algorithm, RgModel *model, int t,
                                           const RgHistory *history, RgQuery *query,
                                           double *deviation, RgFailure *failure)
{
  const RgAcquisition acquisition = {log_deviation, NULL};

  PetscCall(
    rg_surrogate_acquire(algorithm, model, t, history, &acquisition, query, deviation, failure));
  *deviation = exp(*deviation);
  return 0;
}

PetscErrorCode rg_surrogate_without_penalty(RgModel *model, const RgHistory *history,
                                            const RgAcquisition *acquisition, const RgQuery *query,
                                            double *value)
{
  const RgSummand alone = {.model = model, .acquisition = *acquisition};

  if (isfinite(*value) && rg_penalty_is_due(model, history))
    PetscCall(rg_acquisition_sum_at(model->domain, 1, &alone, query, value));
  return 0;
}

/* The points in flight whose values improvement counts from. */
static RgObservations counted_lies(const RgModel *model)
{
  const RgPendingOptions *options = rg_model_pending_options(model);

  if (options && options->incumbent == RG_INCUMBENT_TOLD) return (RgObservations){0};
  return rg_model_pending(model);
}

double rg_surrogate_best_y(const RgModel *model, const RgHistory *history)
{
  const RgObservations lies = counted_lies(model);
  double best = -INFINITY;

  for (int i = 0; i < history->n; i++) best = fmax(best, history->y[i]);
  best = rg_model_units(model, best);
  for (int i = 0; i < lies.n; i++) best = fmax(best, lies.y[i]);
  return best;
}

PetscErrorCode rg_surrogate_best_mean(RgModel *model, const RgHistory *history, double *best)
{
  const RgObservations lies = counted_lies(model);
  const double *means = rg_posterior_means(&model->posterior);
  const size_t n = (size_t)PetscMax(history->n, lies.n);
  double *mean, *sd;

  *best = -INFINITY;
  PetscCall(PetscMalloc2(n, &mean, n, &sd));
  PetscCall(rg_model_predict_history(model, history, 0, history->n, mean, sd));
  for (int i = 0; i < history->n; i++) *best = fmax(*best, mean[i]);
  if (!means && lies.n) PetscCall(rg_model_predict(model, lies.n, lies.X, mean, sd));
  for (int i = 0; i < lies.n; i++) *best = fmax(*best, means ? means[lies.index[i]] : mean[i]);
  return PetscFree2(mean, sd);
}

const char *const rg_surrogate_incumbents[] = {"best_y", "best_mean", NULL};

PetscErrorCode rg_surrogate_incumbent(int incumbent, RgModel *model, const RgHistory *history,
                                      double *tau)
{
  enum { BEST_Y };

  *tau = 0.0;
  if (!history->n) return 0;
  if (incumbent == BEST_Y) *tau = rg_surrogate_best_y(model, history);
  else PetscCall(rg_surrogate_best_mean(model, history, tau));
  return 0;
}

const RgRecordColumn rg_ucb_columns[] = {
  [RG_UCB_CONFIDENCE] = RG_COLUMN_CONFIDENCE, [RG_UCB_ACQUISITION] = RG_COLUMN_ACQUISITION, {0}};

PetscErrorCode rg_model_open(const RgAlgorithm *algorithm, bool use_context, RgModel **model)
{
  PetscCall(PetscNew(model));
  return rg_surrogate_create_model(algorithm, use_context ? RG_INPUTS_BOTH : RG_INPUTS_DESIGN,
                                   *model);
}

PetscErrorCode rg_model_close(RgModel **model)
{
  if (*model) PetscCall(rg_model_destroy(*model));
  return PetscFree(*model);
}

PetscErrorCode rg_ucb_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                           RgRandom *random, RgQuery *query, RgFailure *failure)
{
  const RgDomain *domain = algorithm->setup.domain;
  RgConfidenceLaw law;

  algorithm->class->confidence(algorithm->options, domain, t, &law);
  const bool needless = domain->design.size == 1 && law.kind != RG_LAW_CONSTANT;
  const double width = needless ? 0.0 : rg_confidence_draw(&law, random);
  const RgAcquisition acquisition = {rg_acquisition_ucb, &(const RgUcb){sqrt(width)}};
  PetscCall(rg_surrogate_acquire(algorithm, algorithm->state, t, history, &acquisition, query,
                                 &query->extra[RG_UCB_ACQUISITION], failure));
  query->extra[RG_UCB_CONFIDENCE] = width;
  return 0;
}

PetscErrorCode rg_ucb_ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgRandom random = rg_algorithm_stream_at(algorithm, "confidence", t);

  return rg_ucb_step(algorithm, t, history, &random, query, failure);
}

/* ---- rules of the squared width ------------------------------------------------------------ */

int rg_rule_of(const RgRules *rules, const RgRuleOptions *options, const RgDomain *domain)
{
  if (options->rule) return options->rule;
  return rg_space_is_finite(&domain->design) ? rules->on_set : rules->on_box;
}

static void check_finite(const RgParam *entry, int rule, unsigned finite_only,
                         const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics)
{
  char accepted[256] = "";

  if (rg_space_is_finite(&domain->design) || !(finite_only >> rule & 1u)) return;
  for (int i = 0; entry->choices[i]; i++) {
    size_t used = strlen(accepted);
    if (finite_only >> i & 1u) continue;
    snprintf(accepted + used, sizeof accepted - used, "%s%s", used ? ", " : "", entry->choices[i]);
  }
  rg_diagnostics_add(diagnostics, place,
                     "%s: '%s' counts the points of a finite design, and this one is a box in %d "
                     "dimension%s; on a box: %s",
                     entry->name, entry->choices[rule], domain->design.dim,
                     domain->design.dim == 1 ? "" : "s", accepted);
}

void rg_rule_check_value(const RgParam *entry, int rule, int fixed, double value, RgPlace place,
                         RgDiagnostics *diagnostics)
{
  if (rule == fixed && isnan(value))
    rg_diagnostics_add(diagnostics, place, "%s: '%s' needs 'value'", entry->name,
                       entry->choices[fixed]);
  if (rule != fixed && !isnan(value))
    rg_diagnostics_add(diagnostics, place, "'value' goes with %s: '%s', and %s is '%s'",
                       entry->name, entry->choices[fixed], entry->name, entry->choices[rule]);
}

PetscErrorCode rg_rule_check(const RgRules *rules, const RgRuleOptions *options,
                             const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics)
{
  const RgParam *entry = rules->entry;
  const int rule = options->rule, dim = domain->design.dim;

  check_finite(entry, rule, rules->finite_only, domain, place, diagnostics);
  if (rule && rule == rules->continuous && options->a * dim < 1.0)
    rg_diagnostics_add(diagnostics, place, "%s: '%s' needs a >= 1/d = %g; a is %g", entry->name,
                       entry->choices[rule], 1.0 / dim, options->a);
  rg_rule_check_value(entry, rule, rules->fixed, options->value, place, diagnostics);
  return 0;
}
