#include "study/theory/theory.h"

#include <math.h>
#include <string.h>

#include "gp/kernel/family.h"
#include "maths/design.h"
#include "theory/bounds.h"
#include "study/theory/theory_context.h"
#include "study/theory/theory_robust.h"

const char *const rg_claim_names[] = {"bound", "estimate", "nominal", NULL};

enum { COMPARED = 64, SOBOL_PER_INPUT = 2000, SOBOL_MOST = 20000 };

/* Information gains by the text of what they depend on. */
struct RgGainShelf {
  int n, capacity;
  struct RgGainEntry {
    char *key;              /* owned */
    RgInformationGain gain; /* owned */
  } * *entries;             /* owned, so that pointers to gains stay valid */
};

/* ---- one cell -------------------------------------------------------------------------------- */

/* A cell with its domain and its model as an algorithm would have it. */
typedef struct {
  const RgCell *cell;
  RgCellTheory *theory;
  RgDomain domain;
  RgModel model; /* only while it can be had: fixed hyperparameters, no standardisation */
} View;

/* The last word on why there is no bound, or none that holds. The first one stays. */
static PetscErrorCode object(View *view, RgClaim claim, const char *why)
{
  PetscFunctionBeginUser;
  if (view->theory->why) PetscFunctionReturn(0);
  view->theory->claim = claim;
  PetscCall(PetscStrallocpy(why, &view->theory->why));
  PetscFunctionReturn(0);
}

/* There is no bound, because of the kernel `name`. */
static PetscErrorCode object_to_kernel(View *view, const char *name)
{
  RgText why = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&why, "the paths of the kernel '%s' have no derivative", name));
  PetscCall(object(view, RG_CLAIM_NOMINAL, why.data));
  PetscCall(rg_text_clear(&why));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_laws(View *view)
{
  RgCellTheory *theory = view->theory;
  const RgCell *cell = view->cell;

  PetscFunctionBeginUser;
  if (!cell->algorithm->confidence) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(theory->n, &theory->law));
  for (int t = 1; t <= theory->n; t++)
    cell->algorithm->confidence(cell->algorithm_options, &view->domain, t, &theory->law[t - 1]);
  PetscFunctionReturn(0);
}

/* Why the formulas can't be evaluated at all; NULL when they can. */
static const char *obstacle(const View *view)
{
  const RgCellTheory *theory = view->theory;
  const RgSurrogateOptions *surrogate = &view->cell->surrogate;

  if (!theory->law) return "no confidence parameter of known law";
  if (theory->law[0].theory == RG_THEORY_NONE) return "its rule has no regret bound";
  if (rg_theory_is_context(theory->law[0].theory))
    return view->domain.design.dim + view->domain.context.dim > RG_SOBOL_MAX_DIM
             ? "the box has too many dimensions"
             : NULL;
  if (theory->law[0].theory == RG_THEORY_RRGP_CONTINUOUS && !view->domain.context.size &&
      view->domain.control == RG_CONTEXT_NATURE)
    return "where nature draws from a box the bound depends on a partition of it";
  if (!rg_theory_is_robust(theory->law[0].theory) && view->domain.context.dim)
    return "the problem has contexts";
  if (surrogate->fit != RG_FIT_FIXED) return "hyperparameters are fitted";
  if (surrogate->standardise) return "outputs are standardised";
  if (surrogate->mean == RG_MEAN_CONSTANT) return "the prior mean is fitted";
  if (rg_space_is_finite(&view->domain.design) && view->domain.design.size < 2)
    return "the design has one point";
  if (view->domain.design.dim > RG_SOBOL_MAX_DIM && !rg_space_is_finite(&view->domain.design))
    return "the box has too many dimensions";
  return NULL;
}

/* Same covariance at points spread over the design? Finite designs only. */
static PetscErrorCode same_prior(const View *view, const RgKernel *prior, bool *same)
{
  const RgSpace *parts[] = {&view->domain.design, &view->domain.context};
  const int n_contexts = PetscMax(parts[1]->size, 1), size = parts[0]->size * n_contexts;
  const int m = PetscMin(size, COMPARED);
  const size_t dims[] = {(size_t)parts[0]->dim, (size_t)parts[1]->dim};
  const size_t dim = dims[0] + dims[1], mm = (size_t)m * m;
  double *x, *K;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m * dim, &x, 2 * mm, &K));
  for (int i = 0; i < m; i++) {
    const size_t point = (size_t)i * (size_t)size / (size_t)m, n = (size_t)n_contexts;
    PetscCall(PetscArraycpy(x + i * dim, parts[0]->points + point / n * dims[0], dims[0]));
    if (dims[1])
      PetscCall(
        PetscArraycpy(x + i * dim + dims[0], parts[1]->points + point % n * dims[1], dims[1]));
  }
  PetscCall(rg_kernel_matrix(&view->model.kernel, m, x, K));
  PetscCall(rg_kernel_matrix(prior, m, x, K + mm));
  *same = true;
  for (size_t i = 0; i < mm; i++) *same = *same && fabs(K[i] - K[mm + i]) <= 1e-12;
  PetscCall(PetscFree2(x, K));
  PetscFunctionReturn(0);
}

/* The design itself, or Sobol points of a box; of designs and contexts where both are boxes. */
static PetscErrorCode gain_domain(const View *view, RgDomain *domain, bool *owned)
{
  const RgSpace *box = &view->domain.design;
  const RgStream stream = rg_stream(0, "theory", 0, "information_gain", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  const bool joint = view->theory->law[0].theory == RG_THEORY_RRGP_CONTINUOUS;
  const bool context = rg_theory_is_context(view->theory->law[0].theory) || joint;
  const int dim = box->dim + (context ? view->domain.context.dim : 0);
  const int m = PetscMin(SOBOL_PER_INPUT * dim, SOBOL_MOST);
  double *points, *bounds;

  PetscFunctionBeginUser;
  *owned = joint || !rg_space_is_finite(box);
  *domain = view->domain;
  if (!*owned) PetscFunctionReturn(0);
  *domain = (RgDomain){0};
  PetscCall(PetscMalloc2((size_t)m * dim, &points, 2 * dim, &bounds));
  for (int j = 0; j < dim; j++) {
    bounds[j] = 0;
    bounds[dim + j] = 1;
  }
  PetscCall(rg_design_sobol(&random, m, dim, points));
  PetscCall(rg_space_set(&domain->design, dim, m, points, bounds, bounds + dim));
  PetscCall(PetscFree2(points, bounds));
  PetscFunctionReturn(0);
}

/* Assumptions of the theorems, in the order a reader would ask for them. */
static PetscErrorCode check_assumptions(View *view)
{
  const RgCell *cell = view->cell;
  const bool joint = view->theory->law[0].theory == RG_THEORY_RRGP_CONTINUOUS;
  const bool finite = rg_space_is_finite(&view->domain.design) && !joint;
  View points = *view;
  RgKernel prior;
  bool same = false;

  PetscFunctionBeginUser;
  if (cell->problem->prior && (finite || joint)) {
    if (joint) PetscCall(gain_domain(view, &points.domain, &same));
    PetscCall(cell->problem->prior(cell->problem_options, &prior));
    PetscCall(same_prior(&points, &prior, &same));
    PetscCall(rg_kernel_destroy(&prior));
    if (joint) PetscCall(rg_domain_destroy(&points.domain));
  }
  if (!same) PetscCall(object(view, RG_CLAIM_NOMINAL, "f is no path of the model's prior"));
  if (view->theory->largest > 1 + 1e-12)
    PetscCall(object(view, RG_CLAIM_NOMINAL, "k(x,x) exceeds 1"));
  if (cell->run.noise_variance != view->theory->noise)
    PetscCall(object(view, RG_CLAIM_NOMINAL, "the model's noise variance is not that of the data"));
  if (view->domain.without_replacement)
    PetscCall(object(view, RG_CLAIM_NOMINAL, "a point may be queried once only"));
  if (cell->run.count_initial)
    PetscCall(object(view, RG_CLAIM_NOMINAL, "the initial design counts in the regret"));
  if (finite && view->theory->law[0].theory == RG_THEORY_IRGP_CONTINUOUS)
    PetscCall(object(view, RG_CLAIM_NOMINAL, "the continuous rule on a finite design"));
  if (!finite)
    PetscCall(object(view, RG_CLAIM_ESTIMATE, "gamma of Sobol points in a continuous design"));
  PetscFunctionReturn(0);
}

/* ---- information gain ------------------------------------------------------------------------ */

/* Everything the gain depends on: the problem (hence its design), the model, the queries. */
static PetscErrorCode gain_key(const View *view, RgText *key)
{
  const RgCell *cell = view->cell;

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(key, "%s{", cell->problem->name));
  PetscCall(rg_params_canonical(cell->problem->params, cell->problem_options, key));
  PetscCall(rg_text_add(key, "}{"));
  PetscCall(rg_params_canonical(rg_surrogate_params, &cell->surrogate, key));
  PetscCall(rg_text_add(key, "}%d,", view->theory->n));
  PetscCall(rg_text_add_real(key, view->theory->noise));
  PetscFunctionReturn(0);
}

static PetscErrorCode find_gain(struct RgGainShelf *shelf, const View *view,
                                const RgInformationGain **gain)
{
  RgText key = {0};
  RgDomain domain;
  bool owned;

  PetscFunctionBeginUser;
  PetscCall(gain_key(view, &key));
  for (int i = 0; i < shelf->n; i++) {
    if (strcmp(shelf->entries[i]->key, key.data)) continue;
    *gain = &shelf->entries[i]->gain;
    PetscCall(rg_text_clear(&key));
    PetscFunctionReturn(0);
  }
  if (shelf->n == shelf->capacity) {
    shelf->capacity = PetscMax(2 * shelf->capacity, 8);
    PetscCall(PetscRealloc((size_t)shelf->capacity * sizeof(*shelf->entries), &shelf->entries));
  }
  struct RgGainEntry *entry;
  PetscCall(PetscNew(&entry));
  shelf->entries[shelf->n++] = entry;
  entry->key = key.data;
  PetscCall(gain_domain(view, &domain, &owned));
  PetscCall(rg_information_gain_create(&domain, &view->model.kernel, view->theory->noise,
                                       view->theory->n, &entry->gain));
  if (owned) PetscCall(rg_domain_destroy(&domain));
  *gain = &entry->gain;
  PetscFunctionReturn(0);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  RgTheory theory; /* of the rules it belongs to */
} curves[RG_CURVE_COUNT] = {
  [RG_CURVE_THEOREM_4_1] = {"theorem_4_1", RG_THEORY_IRGP_FINITE},
  [RG_CURVE_THEOREM_4_2] = {"theorem_4_2", RG_THEORY_IRGP_CONTINUOUS},
  [RG_CURVE_THEOREM_4_3] = {"theorem_4_3", RG_THEORY_IRGP_FINITE},
  [RG_CURVE_THEOREM_4_4] = {"theorem_4_4", RG_THEORY_IRGP_CONTINUOUS},
  [RG_CURVE_PROPOSITION_4_1] = {"proposition_4_1", RG_THEORY_IRGP_FINITE},
  [RG_CURVE_THEOREM_4_5] = {"theorem_4_5", RG_THEORY_IRGP_HIGHPROB},
  [RG_CURVE_GP_UCB] = {"gp_ucb_expected", RG_THEORY_GP_UCB_BCR},
  [RG_CURVE_RGP_UCB] = {"rgp_ucb_expected", RG_THEORY_RGP_UCB},
  [RG_CURVE_RRGP_COROLLARY_4_1] = {"rrgp_corollary_4_1", RG_THEORY_RRGP},
  [RG_CURVE_RRGP_THEOREM_4_2] = {"rrgp_theorem_4_2", RG_THEORY_RRGP},
  [RG_CURVE_RRGP_THEOREM_4_3] = {"rrgp_theorem_4_3", RG_THEORY_RRGP},
  [RG_CURVE_RRGP_THEOREM_4_4] = {"rrgp_theorem_4_4", RG_THEORY_RRGP},
  [RG_CURVE_RRGP_COROLLARY_A] = {"rrgp_corollary_a", RG_THEORY_RRGP_CONTINUOUS},
  [RG_CURVE_RRGP_THEOREM_A_BEST] = {"rrgp_theorem_a_best", RG_THEORY_RRGP_CONTINUOUS},
  [RG_CURVE_RRGP_THEOREM_A_LAST] = {"rrgp_theorem_a_last", RG_THEORY_RRGP_CONTINUOUS},
  [RG_CURVE_SBO_KDE_THEOREM_1] = {"sbo_kde_theorem_1", RG_THEORY_SBO_KDE},
  [RG_CURVE_DRBO_KDE_THEOREM_2] = {"drbo_kde_theorem_2", RG_THEORY_DRBO_KDE},
  [RG_CURVE_KDE_BETA] = {"kde_beta", RG_THEORY_SBO_KDE},
  [RG_CURVE_KDE_RADIUS] = {"kde_radius", RG_THEORY_DRBO_KDE},
  [RG_CURVE_WDRBO_THEOREM_5] = {"wdrbo_theorem_5", RG_THEORY_WDRBO},
  [RG_CURVE_WDRBO_THEOREM_9] = {"wdrbo_theorem_9", RG_THEORY_WDRBO},
  [RG_CURVE_WASSERSTEIN_BETA] = {"wasserstein_beta", RG_THEORY_WDRBO},
  [RG_CURVE_WASSERSTEIN_RADIUS] = {"wasserstein_radius", RG_THEORY_WDRBO},
};

const char *rg_curve_name(RgCurve curve)
{
  return curves[curve].name;
}

static double curve_value(RgCurve curve, const RgCellTheory *theory, double n_points, int T,
                          const RgTheoryOptions *options)
{
  const RgConfidenceLaw *law = &theory->law[T - 1];
  const double noise = theory->noise, gamma = theory->gain->upper[T - 1];
  const double delta = options->delta;
  const bool tight = options->tight;

  switch (curve) {
  case RG_CURVE_THEOREM_4_1: return rg_bound_theorem_4_1(n_points, noise, T, gamma);
  case RG_CURVE_THEOREM_4_2: return rg_bound_theorem_4_2(law->a, noise, T, gamma);
  case RG_CURVE_THEOREM_4_3: return rg_bound_theorem_4_3(law->a, noise, T, gamma, delta, tight);
  case RG_CURVE_THEOREM_4_4: return rg_bound_theorem_4_4(law->a, noise, T, gamma, delta, tight);
  case RG_CURVE_PROPOSITION_4_1: return rg_bound_proposition_4_1(n_points, noise, T, gamma, delta);
  case RG_CURVE_THEOREM_4_5:
    return rg_bound_theorem_4_5(n_points, noise, T, gamma, law->delta, tight);
  case RG_CURVE_GP_UCB: return rg_bound_gp_ucb(n_points, noise, T, gamma);
  case RG_CURVE_RGP_UCB: return rg_bound_rgp_ucb(n_points, law->b, noise, T, gamma);
  default: return NAN;
  }
}

static PetscErrorCode set_curves(View *view, const RgTheoryOptions *options)
{
  RgCellTheory *theory = view->theory;

  PetscFunctionBeginUser;
  for (int k = 0; k < RG_CURVE_COUNT; k++) {
    if (rg_theory_is_context(theory->law[0].theory)) {
      PetscCall(rg_theory_context_curve(view->cell, &view->domain, &view->model.kernel, (RgCurve)k,
                                        options->delta, theory));
      continue;
    }
    if (curves[k].theory != theory->law[0].theory) continue;
    if (rg_theory_is_robust(curves[k].theory)) {
      PetscCall(rg_theory_robust_curve(&view->domain, (RgCurve)k, options->delta, theory));
      continue;
    }
    PetscCall(PetscMalloc1(theory->n, &theory->value[k]));
    for (int T = 1; T <= theory->n; T++)
      theory->value[k][T - 1] =
        curve_value((RgCurve)k, theory, view->domain.design.size, T, options);
  }
  PetscFunctionReturn(0);
}

/* ---- the study ------------------------------------------------------------------------------- */

/* The model at its first query: kernel and noise variance. */
static PetscErrorCode create_model(View *view)
{
  const RgCell *cell = view->cell;
  const RgStream stream = rg_stream(0, "theory", 0, "model", 0);

  PetscFunctionBeginUser;
  PetscCall(rg_model_create(&view->domain, &cell->surrogate, view->domain.context.dim > 0,
                            cell->run.noise_known ? cell->run.noise_variance : NAN, 1, &stream,
                            NULL, &view->model));
  view->theory->noise = view->model.noise_variance;
  PetscFunctionReturn(0);
}

static PetscErrorCode bound_cell(View *view, struct RgGainShelf *shelf,
                                 const RgTheoryOptions *options)
{
  RgCellTheory *theory = view->theory;

  PetscFunctionBeginUser;
  PetscCall(create_model(view));
  theory->largest = rg_kernel_diagonal(&view->model.kernel);
  PetscCall(rg_theory_robust_slope(&view->domain, theory));
  const RgTheory rule = theory->law[0].theory;
  const RgKernelClass *rough = rg_kernel_without_slope(&view->model.kernel);
  if (rg_theory_is_context(rule) && rough) {
    PetscCall(object_to_kernel(view, rough->name));
  } else if (rg_theory_is_context(rule)) {
    theory->noise = rg_theory_context_noise(view->cell, rule, theory->noise, theory->largest);
    PetscCall(object(view, RG_CLAIM_NOMINAL, rg_theory_context_remark(view->cell, rule)));
    PetscCall(find_gain(shelf, view, &theory->gain));
    PetscCall(set_curves(view, options));
    theory->bounded = true;
  } else if (rg_theory_is_robust(rule) && isnan(theory->slope)) {
    PetscCall(object(view, RG_CLAIM_NOMINAL, "the theorems say nothing about this measure"));
  } else if (!rg_theory_is_robust(rule) && theory->largest > 1 + 1e-12) {
    PetscCall(object(view, RG_CLAIM_NOMINAL, "k(x,x) exceeds 1"));
  } else if (!(theory->noise > 0)) {
    PetscCall(object(view, RG_CLAIM_NOMINAL, "the model has no noise"));
  } else {
    PetscCall(check_assumptions(view));
    PetscCall(find_gain(shelf, view, &theory->gain));
    PetscCall(set_curves(view, options));
    theory->bounded = true;
  }
  PetscCall(rg_model_destroy(&view->model));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_cell(const RgCell *cell, struct RgGainShelf *shelf,
                                  const RgTheoryOptions *options, RgCellTheory *theory)
{
  View view = {.cell = cell, .theory = theory};

  PetscFunctionBeginUser;
  *theory = (RgCellTheory){.n = cell->run.iterations};
  PetscCall(cell->problem->domain(cell->problem_options, &view.domain));
  PetscCall(set_laws(&view));
  const char *why = obstacle(&view);
  if (why) PetscCall(object(&view, RG_CLAIM_NOMINAL, why));
  else PetscCall(bound_cell(&view, shelf, options));
  if (!theory->why) PetscCall(object(&view, RG_CLAIM_BOUND, ""));
  PetscCall(rg_domain_destroy(&view.domain));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_theory_create(const RgStudy *study, const RgTheoryOptions *options,
                                RgTheoryTable *table)
{
  PetscFunctionBeginUser;
  *table = (RgTheoryTable){.n_cells = study->n_cells};
  PetscCall(PetscNew(&table->shelf));
  PetscCall(PetscCalloc1(study->n_cells, &table->cells));
  for (int i = 0; i < study->n_cells; i++)
    PetscCall(create_cell(&study->cells[i], table->shelf, options, &table->cells[i]));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_theory_destroy(RgTheoryTable *table)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < table->n_cells; i++) {
    RgCellTheory *theory = &table->cells[i];
    for (int k = 0; k < RG_CURVE_COUNT; k++) PetscCall(PetscFree(theory->value[k]));
    PetscCall(PetscFree(theory->law));
    PetscCall(PetscFree(theory->why));
  }
  PetscCall(PetscFree(table->cells));
  for (int i = 0; table->shelf && i < table->shelf->n; i++) {
    PetscCall(rg_information_gain_destroy(&table->shelf->entries[i]->gain));
    PetscCall(PetscFree(table->shelf->entries[i]->key));
    PetscCall(PetscFree(table->shelf->entries[i]));
  }
  if (table->shelf) PetscCall(PetscFree(table->shelf->entries));
  PetscCall(PetscFree(table->shelf));
  *table = (RgTheoryTable){0};
  PetscFunctionReturn(0);
}
