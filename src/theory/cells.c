/* The families of bounds applied to the cells of a study: their input from a cell, their failing
   assumptions, and the information gains that they need. */
#include "theory/cells.h"
#include "base/grow.h"
#include "gp/model/model.h"
#include "maths/design.h"
#include "maths/distribution.h"
#include "maths/law.h"
#include "regatta/measure.h"

#include <math.h>
#include <string.h>

/* Append a field of a CSV table, with quotes if necessary. An apostrophe stands before a label that
   a spreadsheet would compute. */
static PetscErrorCode add_word(RgText *text, const char *word)
{
  const char *guard = word[0] && strchr("=+-@", word[0]) ? "'" : "";

  if (!strpbrk(word, ",\"\n\r")) return rg_text_add(text, "%s%s", guard, word);
  PetscCall(rg_text_add(text, "\"%s", guard));
  for (const char *c = word; *c; c++) PetscCall(rg_text_add(text, *c == '"' ? "\"\"" : "%c", *c));
  return rg_text_add(text, "\"");
}

static PetscErrorCode add_labels(RgText *text, const RgCell *cell)
{
  const char *labels[] = {cell->problem_label, cell->algorithm_label, cell->swept};

  for (int i = 0; i < 3; i++) {
    PetscCall(add_word(text, labels[i]));
    PetscCall(rg_text_add(text, ","));
  }
  return 0;
}

static PetscErrorCode add_bound(RgText *text, const RgCell *cell, const char *quantity, int t,
                                double value, const char *kind, const char *remark)
{
  PetscCall(add_labels(text, cell));
  PetscCall(rg_text_add(text, "%s,%d,", quantity, t));
  PetscCall(rg_text_add_real(text, value));
  PetscCall(rg_text_add(text, ",%s,", kind));
  PetscCall(add_word(text, remark));
  return rg_text_add(text, "\n");
}

static PetscErrorCode add_cell(RgText *text, const RgCell *cell, const RgCellTheory *theory)
{
  const RgInformationGain *gain = theory->gain;
  const char *kind = rg_claim_names[theory->claim];
  const bool nominal = theory->family->nominal; /* the theorem concerns a model with other noise */
  const char *gain_kind = rg_claim_names[nominal        ? RG_CLAIM_NOMINAL
                                         : cell->size_x ? RG_CLAIM_BOUND
                                                        : RG_CLAIM_ESTIMATE]; /* of gamma */

  if (!isnan(theory->slope))
    PetscCall(add_bound(text, cell, "measure_slope", theory->n, theory->slope, kind,
                        "K of bounds that are K times as wide as the intervals of f"));
  for (int t = 1; t <= theory->n; t++)
    PetscCall(add_bound(text, cell, "gamma_upper", t, gain->upper[t - 1], gain_kind,
                        rg_gain_bound_names[gain->bound[t - 1]]));
  for (int t = 1; t <= theory->n; t++)
    PetscCall(add_bound(text, cell, "gamma_greedy", t, gain->gain[t - 1],
                        nominal ? gain_kind : "lower", ""));
  for (int k = 0; k < theory->n_curves; k++)
    for (int t = 1; theory->value[k] && t <= theory->n; t++)
      PetscCall(add_bound(text, cell, theory->family->curves[k].name, t, theory->value[k][t - 1],
                          kind, theory->why));
  return 0;
}

PetscErrorCode rg_theory_write_bounds(const RgStudy *study, const RgTheoryTable *table,
                                      RgText *text)
{
  PetscCall(rg_text_add(text, "problem,algorithm,swept,quantity,t,value,kind,remark\n"));
  for (int i = 0; i < table->n_cells; i++)
    if (table->cells[i].bounded) PetscCall(add_cell(text, &study->cells[i], &table->cells[i]));
  return 0;
}

PetscErrorCode rg_theory_write_confidence(const RgStudy *study, const RgTheoryTable *table,
                                          double level, RgText *text)
{
  const double tail = (1 - level) / 2;

  PetscCall(rg_text_add(text, "problem,algorithm,swept,t,mean,low,high\n"));
  for (int i = 0; i < table->n_cells; i++) {
    const RgCellTheory *theory = &table->cells[i];
    const bool drawn = theory->law && !(study->cells[i].algorithm->traits & RG_NO_WIDTH);
    for (int t = 1; drawn && t <= theory->n; t++) {
      const RgConfidenceLaw *law = &theory->law[t - 1];
      const double values[] = {rg_confidence_mean(law), rg_confidence_quantile(law, tail),
                               rg_confidence_quantile(law, 1 - tail)};
      PetscCall(add_labels(text, &study->cells[i]));
      PetscCall(rg_text_add(text, "%d", t));
      for (int k = 0; k < 3; k++) {
        PetscCall(rg_text_add(text, ","));
        PetscCall(rg_text_add_real(text, values[k]));
      }
      PetscCall(rg_text_add(text, "\n"));
    }
  }
  return 0;
}

const char *const rg_claim_names[] = {"bound", "estimate", "nominal", NULL};

enum { COMPARED = 64, SOBOL_PER_INPUT = 2000, SOBOL_MOST = 20000 };

/* Information gains, by a text of everything they depend on. */
struct RgGainShelf {
  int n;
  struct RgGainEntry {
    char *key;              /* owned */
    RgInformationGain gain; /* owned */
  } * *entries;             /* owned, so that pointers to gains stay valid */
};

/* ---- one cell -------------------------------------------------------------------------------- */

/* A cell with its domain, and the model that the algorithm would use. */
typedef struct {
  const RgCell *cell;
  RgCellTheory *theory;
  RgDomain domain;
  RgBoundCase setting;  /* input of the family; bound_cell adds the model's part */
  RgDistribution *laws; /* laws of a box of contexts, if they are known and constant; owned */
  RgModel model;        /* only with fixed hyperparameters and without standardisation */
} View;

/* Record the first reason why a bound does not exist or does not hold. */
static PetscErrorCode object(View *view, RgClaim claim, const char *why)
{
  if (view->theory->why) return 0;
  view->theory->claim = claim;
  return PetscStrallocpy(why, &view->theory->why);
}

/* Whether the gain is over designs and contexts. */
static bool is_joint(const View *view)
{
  return view->theory->family->joint & view->setting.rule;
}

/* The reason why the formulas can't be evaluated; NULL if they can. */
static const char *obstacle(const View *view)
{
  const RgCellTheory *theory = view->theory;
  const RgSurrogateOptions *surrogate = &view->cell->surrogate;
  const RgSpace *design = &view->domain.design;

  if (!theory->law) return "no confidence parameter of known law";
  if (!theory->family) return "its rule has no regret bound";
  const char *why = theory->family->obstacle(&view->setting);
  if (why || theory->family->nominal) return why;
  if (surrogate->fit != RG_FIT_FIXED) return "hyperparameters are fitted";
  if (surrogate->standardise) return "outputs are standardised";
  if (surrogate->transform) return "outputs are transformed";
  if (surrogate->mean == RG_MEAN_CONSTANT) return "the prior mean is fitted";
  if (rg_space_is_finite(design) && design->size < 2) return "the design has one point";
  if (design->dim > RG_SOBOL_MAX_DIM && !rg_space_is_finite(design))
    return "the box has too many dimensions";
  return NULL;
}

/* Whether the covariance is the same at points spread over the design, which is finite. */
static PetscErrorCode same_prior(const View *view, const RgKernel *prior, bool *same)
{
  const RgSpace *parts[] = {&view->domain.design, &view->domain.context};
  const size_t n_contexts = (size_t)PetscMax(parts[1]->size, 1);
  const size_t size = (size_t)parts[0]->size * n_contexts;
  const int m = (int)PetscMin(size, COMPARED);
  const size_t dims[] = {(size_t)parts[0]->dim, (size_t)parts[1]->dim};
  const size_t dim = dims[0] + dims[1], mm = (size_t)m * m;
  double *x, *K;

  PetscCall(PetscMalloc2(m * dim, &x, 2 * mm, &K));
  for (int i = 0; i < m; i++) {
    const size_t point = (size_t)i * size / (size_t)m;
    const size_t at[] = {point / n_contexts * dims[0], point % n_contexts * dims[1]};
    PetscCall(PetscArraycpy(x + i * dim, parts[0]->points + at[0], dims[0]));
    if (dims[1]) PetscCall(PetscArraycpy(x + i * dim + dims[0], parts[1]->points + at[1], dims[1]));
  }
  PetscCall(rg_kernel_matrix(&view->model.kernel, m, x, K));
  PetscCall(rg_kernel_matrix(prior, m, x, K + mm));
  *same = true;
  for (size_t i = 0; i < mm; i++) *same = *same && fabs(K[i] - K[mm + i]) <= 1e-12;
  return PetscFree2(x, K);
}

/* The domain of the gain: the design, or Sobol points of a box; of designs and contexts if both
   are boxes. */
static PetscErrorCode gain_domain(const View *view, RgDomain *domain, bool *owned)
{
  const RgSpace *box = &view->domain.design;
  const RgStream stream = rg_stream(0, "theory", 0, "information_gain", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  const bool joint = is_joint(view);
  const int dim = box->dim + (joint ? view->domain.context.dim : 0);
  const int m = PetscMin(SOBOL_PER_INPUT * dim, SOBOL_MOST);
  double *points, *bounds;

  *owned = (joint && !view->theory->family->nominal) || !rg_space_is_finite(box);
  *domain = view->domain;
  if (!*owned) return 0;
  *domain = (RgDomain){0};
  PetscCall(PetscMalloc2((size_t)m * dim, &points, 2 * dim, &bounds));
  for (int j = 0; j < dim; j++) {
    bounds[j] = 0;
    bounds[dim + j] = 1;
  }
  PetscCall(rg_design_sobol(&random, m, dim, points));
  PetscCall(rg_space_set(&domain->design, dim, m, points, bounds, bounds + dim));
  return PetscFree2(points, bounds);
}

/* Check the assumptions of the theorems, most important first. */
static PetscErrorCode check_assumptions(View *view)
{
  const RgCell *cell = view->cell;
  const bool joint = is_joint(view);
  const bool finite = rg_space_is_finite(&view->domain.design) && !joint;
  View points = *view;
  RgKernel prior;
  bool same = false, owned = false;

  if (cell->problem->prior && (finite || joint || !view->domain.context.dim)) {
    if (!finite) PetscCall(gain_domain(view, &points.domain, &owned));
    PetscCall(cell->problem->prior(cell->problem_options, &prior));
    PetscCall(same_prior(&points, &prior, &same));
    PetscCall(rg_kernel_destroy(&prior));
    if (owned) PetscCall(rg_domain_destroy(&points.domain));
  }
  const struct {
    bool fails;
    const char *why;
  } assumptions[] = {
    {!same, "f is not a path of the model's prior"},
    {view->setting.largest > 1 + 1e-12, "k(x,x) exceeds 1"},
    {cell->noise.variance || cell->noise.law, "the noise is not normal with one variance"},
    {cell->run.noise_variance != view->setting.noise,
     "the model's noise variance is not that of the data"},
    {cell->crew.workers > 1, "queries do not wait for the values of all before"},
    {view->domain.without_replacement, "a point may be queried once only"},
    {cell->run.count_initial, "the initial design counts in the regret"},
    {finite && view->theory->family->continuous & view->setting.rule,
     "the continuous rule on a finite design"},
  };
  for (size_t i = 0; i < sizeof(assumptions) / sizeof(assumptions[0]); i++)
    if (assumptions[i].fails) PetscCall(object(view, RG_CLAIM_NOMINAL, assumptions[i].why));
  if (!finite)
    PetscCall(object(view, RG_CLAIM_ESTIMATE, "gamma of Sobol points in a continuous design"));
  return 0;
}

/* ---- information gain ------------------------------------------------------------------------ */

static PetscErrorCode find_gain(struct RgGainShelf *shelf, const View *view,
                                const RgInformationGain **gain)
{
  const RgCell *cell = view->cell;
  RgText key = {0}; /* what the gain depends on: the problem with its design, model, queries */
  RgDomain domain;
  bool owned;

  PetscCall(rg_text_add(&key, "%s{", cell->problem->name));
  PetscCall(rg_params_canonical(cell->problem->params, cell->problem_options, &key));
  PetscCall(rg_text_add(&key, "}{"));
  PetscCall(rg_params_canonical(rg_surrogate_params, &cell->surrogate, &key));
  PetscCall(rg_text_add(&key, "}%d,%d,", view->theory->n, is_joint(view)));
  PetscCall(rg_text_add_real(&key, view->setting.noise));
  for (int i = 0; i < shelf->n; i++) {
    if (strcmp(shelf->entries[i]->key, key.data)) continue;
    *gain = &shelf->entries[i]->gain;
    return rg_text_clear(&key);
  }
  PetscCall(RG_GROW(shelf->n, shelf->entries));
  struct RgGainEntry *entry;
  PetscCall(PetscNew(&entry));
  shelf->entries[shelf->n++] = entry;
  entry->key = key.data;
  PetscCall(gain_domain(view, &domain, &owned));
  PetscCall(rg_information_gain_create(&domain, &view->model.kernel, view->setting.noise,
                                       view->theory->n, &entry->gain));
  if (owned) PetscCall(rg_domain_destroy(&domain));
  *gain = &entry->gain;
  return 0;
}

/* ---- curves ---------------------------------------------------------------------------------- */

static PetscErrorCode set_curves(View *view)
{
  RgCellTheory *theory = view->theory;
  const RgBoundCurve *curves = theory->family->curves;

  view->setting.gamma = theory->gain->upper;
  while (curves[theory->n_curves].name) theory->n_curves++;
  PetscCall(PetscCalloc1(theory->n_curves, &theory->value));
  for (int k = 0; k < theory->n_curves; k++) {
    if (!(curves[k].rules & view->setting.rule)) continue;
    if (curves[k].holds && !curves[k].holds(&view->setting)) continue;
    PetscCall(PetscMalloc1(theory->n, &theory->value[k]));
    for (int T = 1; T <= theory->n; T++) theory->value[k][T - 1] = curves[k].at(&view->setting, T);
  }
  return 0;
}

/* ---- input of the family --------------------------------------------------------------------- */

/* Deviation of the normal law with the quartiles of the problem's first context; NaN if the
   problem has no parameter `law`. */
static PetscErrorCode law_deviation(const RgCell *cell, double *deviation)
{
  const RgParam *table = cell->problem->params;
  const RgParam *param = table ? rg_params_find(table, "law") : NULL;
  RgDistribution law;
  RgText mistake = {0};

  *deviation = NAN;
  if (!param || param->type != RG_PARAM_TEXTS) return 0;
  const RgTexts *texts = (const RgTexts *)((const char *)cell->problem_options + param->offset);
  PetscCall(rg_distribution_parse(texts->values[0], &law, &mistake));
  if (!mistake.data)
    *deviation = (rg_distribution_quantile(&law, 0.75) - rg_distribution_quantile(&law, 0.25)) /
                 (2 * 0.67448975019608171);
  PetscCall(rg_text_clear(&mistake));
  return rg_distribution_destroy(&law);
}

/* K of the bounds of the domain's measure; NaN: no known K. */
static PetscErrorCode measure_slope(const RgDomain *domain, double *slope)
{
  RgMeasure measure;
  RgText mistake = {0};

  *slope = NAN;
  if (!domain->measure || (domain->context.size && !domain->context_prob)) return 0;
  PetscCall(rg_measure_parse(domain->measure, &measure, &mistake));
  if (!mistake.data) *slope = rg_measure_slope(&measure);
  PetscCall(rg_text_clear(&mistake));
  return rg_measure_destroy(&measure);
}

/* Fill in the model's part of the setting. */
static PetscErrorCode complete_setting(View *view)
{
  RgCellTheory *theory = view->theory;
  RgBoundCase *setting = &view->setting;
  const RgDomain *domain = &view->domain;

  PetscCall(measure_slope(domain, &theory->slope));
  setting->kernel = &view->model.kernel;
  setting->largest = rg_kernel_diagonal(&view->model.kernel);
  setting->noise = view->model.noise_variance;
  setting->measure_slope = theory->slope;
  if (domain->n_laws && !rg_law_drifts(domain->n_laws, domain->laws)) {
    PetscCall(PetscCalloc1(domain->context.dim, &view->laws));
    PetscCall(
      rg_distribution_create_all(domain->n_laws, domain->laws, domain->context.dim, view->laws));
    setting->contexts = view->laws;
  }
  PetscCall(law_deviation(view->cell, &setting->context_deviation));
  if (theory->family->noise_of) setting->noise = theory->family->noise_of(setting);
  return 0;
}

/* Append the reason why the theorems don't cover the model to `why`. */
static PetscErrorCode refuse(const View *view, RgText *why)
{
  const RgCellTheory *theory = view->theory;
  const RgBoundFamily *family = theory->family;

  if (family->refuse) PetscCall(family->refuse(&view->setting, why));
  if (!why->data && family->unit_variance && view->setting.largest > 1 + 1e-12)
    PetscCall(rg_text_add(why, "k(x,x) exceeds 1"));
  if (!why->data && !family->nominal && !(view->setting.noise > 0))
    PetscCall(rg_text_add(why, "the model has no noise"));
  return 0;
}

static PetscErrorCode bound_cell(View *view, struct RgGainShelf *shelf)
{
  const RgStream stream = rg_stream(0, "theory", 0, "model", 0);
  const RgCell *cell = view->cell;
  RgCellTheory *theory = view->theory;
  RgText why = {0};

  PetscCall(rg_model_create(&view->domain, &cell->surrogate, view->domain.context.dim > 0,
                            rg_cell_told_noise(cell), 1, &stream, NULL, &view->model));
  PetscCall(complete_setting(view));
  PetscCall(refuse(view, &why));
  if (why.data) {
    PetscCall(object(view, RG_CLAIM_NOMINAL, why.data));
  } else {
    if (theory->family->nominal)
      PetscCall(object(view, RG_CLAIM_NOMINAL, theory->family->remark(&view->setting)));
    else PetscCall(check_assumptions(view));
    PetscCall(find_gain(shelf, view, &theory->gain));
    PetscCall(set_curves(view));
    theory->bounded = true;
  }
  PetscCall(rg_text_clear(&why));
  for (int j = 0; view->laws && j < view->domain.context.dim; j++)
    PetscCall(rg_distribution_destroy(&view->laws[j]));
  PetscCall(PetscFree(view->laws));
  return rg_model_destroy(&view->model);
}

/* ---- the study ------------------------------------------------------------------------------- */

static PetscErrorCode create_cell(const RgCell *cell, struct RgGainShelf *shelf,
                                  const RgTheoryOptions *options, RgCellTheory *theory)
{
  View view = {.cell = cell, .theory = theory};
  unsigned rule = 0;

  *theory = (RgCellTheory){.n = cell->run.iterations};
  PetscCall(rg_problem_domain(cell->problem, cell->problem_options, &view.domain));
  if (cell->algorithm->confidence) {
    PetscCall(PetscMalloc1(theory->n, &theory->law));
    for (int t = 1; t <= theory->n; t++)
      cell->algorithm->confidence(cell->algorithm_options, &view.domain, t, &theory->law[t - 1]);
  }
  if (theory->law) theory->family = rg_bound_family_of(theory->law[0].rule, &rule);
  view.setting =
    (RgBoundCase){.n = theory->n,
                  .domain = &view.domain,
                  .law = theory->law,
                  .rule = rule,
                  .data_noise = cell->noise.variance ? cell->noise.mean : cell->run.noise_variance,
                  .fitted = cell->surrogate.fit != RG_FIT_FIXED,
                  .initial = cell->run.initial_points,
                  .delta = options->delta,
                  .tight = options->tight};
  const char *why = obstacle(&view);
  if (why) PetscCall(object(&view, RG_CLAIM_NOMINAL, why));
  else PetscCall(bound_cell(&view, shelf));
  if (!theory->why) PetscCall(object(&view, RG_CLAIM_BOUND, ""));
  return rg_domain_destroy(&view.domain);
}

PetscErrorCode rg_theory_create(const RgStudy *study, const RgTheoryOptions *options,
                                RgTheoryTable *table)
{
  *table = (RgTheoryTable){.n_cells = study->n_cells};
  PetscCall(PetscNew(&table->shelf));
  PetscCall(PetscCalloc1(study->n_cells, &table->cells));
  for (int i = 0; i < study->n_cells; i++)
    PetscCall(create_cell(&study->cells[i], table->shelf, options, &table->cells[i]));
  return 0;
}

PetscErrorCode rg_theory_destroy(RgTheoryTable *table)
{
  for (int i = 0; i < table->n_cells; i++) {
    RgCellTheory *theory = &table->cells[i];
    for (int k = 0; k < theory->n_curves; k++) PetscCall(PetscFree(theory->value[k]));
    PetscCall(RG_FREE(&theory->value, &theory->law, &theory->why));
  }
  PetscCall(PetscFree(table->cells));
  for (int i = 0; table->shelf && i < table->shelf->n; i++) {
    PetscCall(rg_information_gain_destroy(&table->shelf->entries[i]->gain));
    PetscCall(RG_FREE(&table->shelf->entries[i]->key, &table->shelf->entries[i]));
  }
  if (table->shelf) PetscCall(PetscFree(table->shelf->entries));
  PetscCall(PetscFree(table->shelf));
  *table = (RgTheoryTable){0};
  return 0;
}
