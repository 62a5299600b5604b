/* Problems on finite designs and contexts: the table of f, F by measures, contexts drawn. */
#include "problem/finite_context.h"

#include "base/grow.h"
#include "regatta/measure.h"

#include <string.h>

const char *const rg_finite_context_settings[] = {"simulator", "uncontrollable", "announced", NULL};

RgContextControl rg_finite_context_control(int setting)
{
  static const RgContextControl controls[] = {RG_CONTEXT_SIMULATOR, RG_CONTEXT_NATURE,
                                              RG_CONTEXT_ANNOUNCED};

  return controls[setting];
}

PetscErrorCode rg_finite_context_check(const RgFiniteContextOptions *options, int contexts,
                                       RgPlace place, RgDiagnostics *diagnostics)
{
  PetscCall(rg_measure_check(options->measure, contexts, place, diagnostics));
  if (options->score.n && rg_finite_context_control(options->setting) == RG_CONTEXT_ANNOUNCED)
    rg_diagnostics_add(diagnostics, place,
                       "'score' lists measures over the contexts; with 'setting: announced' regret "
                       "is counted for each context alone");
  for (int s = 0; s < options->score.n; s++)
    PetscCall(
      rg_measure_check(strchr(options->score.values[s], '=') + 1, contexts, place, diagnostics));
  return 0;
}

PetscErrorCode rg_finite_context_domain(const RgFiniteContextOptions *options, const double *p,
                                        RgDomain *domain)
{
  double total = 0.0;
  int n = domain->context.size;

  domain->control = rg_finite_context_control(options->setting);
  PetscCall(rg_measure_canonical(options->measure, &domain->measure));
  domain->n_scores = options->score.n;
  PetscCall(PetscCalloc1(domain->n_scores, &domain->scores));
  for (int s = 0; s < domain->n_scores; s++)
    PetscCall(rg_measure_canonical(strchr(options->score.values[s], '=') + 1, &domain->scores[s]));
  PetscCall(PetscMalloc1(n, &domain->context_prob));
  for (int j = 0; j < n; j++) total += domain->context_prob[j] = p ? p[j] : 1.0 / n;
  for (int j = 0; j < n && p; j++) domain->context_prob[j] /= total;
  return 0;
}

/* F of every design by one measure. */
static PetscErrorCode tabulate(RgProblem *problem, const char *expression, double *F)
{
  const RgDomain *domain = &problem->domain;
  const RgFiniteContext *data = problem->data;
  RgMeasure measure;

  PetscCall(rg_measure_create(expression, &measure));
  PetscCall(rg_measure_value(&measure, domain->design.size, domain->context.size, data->f,
                             domain->context_prob, F));
  return rg_measure_destroy(&measure);
}

PetscErrorCode rg_finite_context_create(RgProblem *problem, RgFailure *failure)
{
  const RgDomain *domain = &problem->domain;
  int n_designs = domain->design.size, n = domain->context.size;
  RgFiniteContext *data;
  double sum = 0.0;

  PetscCall(PetscNew(&data));
  problem->data = data;
  PetscCall(PetscMalloc1((size_t)n_designs * n, &data->f));
  PetscCall(PetscMalloc1(n_designs, &data->F));
  PetscCall(PetscMalloc1((size_t)domain->n_scores * n_designs, &data->scores));
  PetscCall(PetscMalloc1(n, &data->cumulative));
  for (int j = 0; j < n; j++) data->cumulative[j] = sum += domain->context_prob[j];
  PetscCall((*(const RgFiniteFill *)problem->class->family)(problem, data->f, failure));
  if (failure->failed) return 0;
  PetscCall(tabulate(problem, domain->measure, data->F));
  for (int s = 0; s < domain->n_scores; s++)
    PetscCall(tabulate(problem, domain->scores[s], data->scores + (size_t)s * n_designs));
  return rg_problem_scan(problem, data->F, n_designs);
}

PetscErrorCode rg_finite_context_evaluate(RgProblem *problem, int m, const RgPoint *points,
                                          double *f, RgFailure *failure)
{
  const RgFiniteContext *data = problem->data;
  size_t n = (size_t)problem->domain.context.size;

  for (int i = 0; i < m; i++) f[i] = data->f[points[i].index * n + points[i].context_index];
  return 0;
}

PetscErrorCode rg_finite_context_objective(RgProblem *problem, int m, const RgPoint *points,
                                           double *F, RgFailure *failure)
{
  const RgFiniteContext *data = problem->data;

  for (int i = 0; i < m; i++) F[i] = data->F[points[i].index];
  return 0;
}

static const RgTexts *score_list(const void *options)
{
  return &((const RgFiniteContextOptions *)options)->score;
}

static PetscErrorCode aim(void *options, int score)
{
  RgFiniteContextOptions *o = options;

  PetscCall(PetscFree(o->measure));
  return PetscStrallocpy(strchr(o->score.values[score], '=') + 1, &o->measure);
}

static PetscErrorCode score_value(RgProblem *problem, int score, int m, const RgPoint *points,
                                  double *F, double *optimum)
{
  const RgFiniteContext *data = problem->data;
  int n = problem->domain.design.size;
  const double *table = data->scores + (size_t)score * n;

  for (int i = 0; i < m; i++) F[i] = table[points[i].index];
  *optimum = table[0];
  for (int i = 1; i < n; i++) *optimum = PetscMax(*optimum, table[i]);
  return 0;
}

const RgProblemScores rg_finite_context_scores = {
  .list = score_list, .aim = aim, .value = score_value};

PetscErrorCode rg_finite_context_draw(RgProblem *problem, RgRandom *random, double *c,
                                      int *context_index)
{
  const RgFiniteContext *data = problem->data;
  const RgSpace *context = &problem->domain.context;
  int n = context->size, low = 0, high = n - 1;
  double u = rg_random_uniform(random) * data->cumulative[n - 1];

  while (low < high) { /* first index with u < cumulative */
    int middle = (low + high) / 2;

    if (u < data->cumulative[middle]) high = middle;
    else low = middle + 1;
  }
  *context_index = low;
  rg_space_to_native(context, context->points + (size_t)low * context->dim, c);
  return 0;
}

PetscErrorCode rg_finite_context_destroy(RgProblem *problem)
{
  RgFiniteContext *data = problem->data;

  return RG_FREE(&data->f, &data->F, &data->scores, &data->cumulative);
}

PetscErrorCode rg_finite_context_grid(RgSpace *space, int dim, int levels, double lower,
                                      double upper)
{
  double *axes, *low, *up;
  int *all;

  PetscCall(PetscMalloc4((size_t)dim * levels, &axes, dim, &low, dim, &up, dim, &all));
  for (int k = 0; k < dim; k++) {
    all[k] = levels;
    low[k] = lower;
    up[k] = upper;
    for (int i = 0; i < levels; i++)
      axes[(size_t)k * levels + i] = lower + (upper - lower) * i / (levels - 1);
  }
  PetscCall(rg_space_grid(space, dim, all, axes, low, up));
  return PetscFree4(axes, low, up, all);
}
