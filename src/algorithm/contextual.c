/* Steps shared by the methods of contexts that nature draws: life cycle, search, grids, laws. */
#include "algorithm/contextual.h"
#include "maths/blas.h"
#include "maths/expression.h"

#include <math.h>
#include <string.h>

const RgRecordColumn rg_ball_columns[] = {
  [RG_UCB_CONFIDENCE] = RG_COLUMN_CONFIDENCE,
  [RG_UCB_ACQUISITION] = RG_COLUMN_ACQUISITION,
  [RG_BALL_RADIUS] = {"radius", "radius of the ambiguity set of the query"},
  {0}};

PetscErrorCode rg_contextual_check(const void *options, const RgDomain *domain, RgPlace place,
                                   RgDiagnostics *diagnostics)
{
  return rg_contextual_check_measure(options, domain, RG_MEASURE_EXPECTATION, place, diagnostics);
}

/* A measure of the options must be usable, and that of the problem. */
static PetscErrorCode check_own_measure(const RgContextualOptions *options, const RgDomain *domain,
                                        RgPlace place, RgDiagnostics *diagnostics)
{
  const int before = diagnostics->n;
  RgMeasure measure;
  char *canonical;

  PetscCall(rg_measure_check(options->measure, 0, place, diagnostics));
  if (diagnostics->n > before) return 0;
  PetscCall(rg_measure_create(options->measure, &measure));
  if (rg_measure_lists(&measure))
    rg_diagnostics_add(diagnostics, place,
                       "'measure': a list of probabilities is for contexts of fixed number; "
                       "accepted are measures without 'robust(.., pmf(..))' and 'nominal'");
  PetscCall(rg_measure_destroy(&measure));
  PetscCall(rg_measure_canonical(options->measure, &canonical));
  if (domain->measure && strcmp(canonical, domain->measure) && !options->any_measure)
    rg_diagnostics_add(diagnostics, place,
                       "'measure: %s' is not the problem's measure, '%s'; 'any_measure: true' uses "
                       "it all the same",
                       canonical, domain->measure);
  return PetscFree(canonical);
}

PetscErrorCode rg_contextual_check_measure(const void *options, const RgDomain *domain,
                                           RgMeasureKind other, RgPlace place,
                                           RgDiagnostics *diagnostics)
{
  const RgContextualOptions *contextual = options;
  const bool two = other != RG_MEASURE_EXPECTATION;
  RgMeasure measure;

  if (contextual->measure) return check_own_measure(contextual, domain, place, diagnostics);
  if (!domain->measure || contextual->any_measure) return 0;
  PetscCall(rg_measure_create(domain->measure, &measure));
  if (measure.kind != RG_MEASURE_EXPECTATION && measure.kind != other)
    rg_diagnostics_add(diagnostics, place,
                       "this method is made for the measure 'expectation'%s%s%s, not for '%s'; "
                       "'any_measure: true' uses it all the same; a method with the parameter "
                       "'measure' (regatta describe METHOD) may take 'measure: %s'",
                       two ? " or '" : "", two ? rg_measure_info(other)->usage : "", two ? "'" : "",
                       domain->measure, domain->measure);
  return rg_measure_destroy(&measure);
}

PetscErrorCode rg_contextual_measure(const void *options, RgMeasure *measure,
                                     const RgMeasure **used)
{
  const RgContextualOptions *contextual = options;

  *measure = (RgMeasure){0};
  *used = contextual->measure ? measure : NULL;
  if (contextual->measure) PetscCall(rg_measure_create(contextual->measure, measure));
  return 0;
}

bool rg_context_seen(const RgAlgorithm *algorithm, const RgHistory *history, RgFailure *failure)
{
  if (history->n == 0)
    rg_failure_set(failure, "%s needs an initial design: no context has been seen",
                   algorithm->class->name);
  return history->n > 0;
}

bool rg_forgets(const RgForgetting *forgetting)
{
  return forgetting->window > 0 || forgetting->decay < 1;
}

PetscErrorCode rg_centre_of_observed(const RgForgetting *forgetting, const RgHistory *history,
                                     RgContextCentre *centre)
{
  const int n = forgetting->window > 0 ? PetscMin(forgetting->window, history->n) : history->n;
  const bool equal = isnan(forgetting->decay) || forgetting->decay == 1;
  const size_t dim = (size_t)history->context_dim;
  double sum = 0, squares = 0;

  *centre = (RgContextCentre){.n = n, .equal = equal, .effective = n, .age = (n + 1) / 2.0};
  PetscCall(PetscMalloc2(n * dim, &centre->contexts, n, &centre->weight));
  PetscCall(PetscArraycpy(centre->contexts, history->c + (history->n - n) * dim, n * dim));
  for (int i = 0; i < n; i++) centre->weight[i] = 1.0 / n;
  if (equal) return 0;
  for (int i = 0; i < n; i++) sum += centre->weight[i] = pow(forgetting->decay, n - 1 - i);
  centre->age = 0;
  for (int i = 0; i < n; i++) {
    centre->weight[i] /= sum;
    squares += centre->weight[i] * centre->weight[i];
    centre->age += centre->weight[i] * (n - i);
  }
  centre->effective = 1 / squares;
  return 0;
}

PetscErrorCode rg_centre_destroy(RgContextCentre *centre)
{
  return PetscFree2(centre->contexts, centre->weight);
}

PetscErrorCode rg_contextual_create(RgAlgorithm *algorithm)
{
  return rg_surrogate_create_model(algorithm, RG_INPUTS_CUBE, algorithm->state);
}

PetscErrorCode rg_contextual_acquire(const RgAlgorithm *algorithm, int t, const RgHistory *history,
                                     const RgContextualOptions *how, const RgContextual *exact,
                                     const RgContextual *few, RgQuery *query, RgFailure *failure)
{
  query->extra[RG_UCB_CONFIDENCE] = how->width * how->width;
  return rg_acquire_contextual(algorithm->state, how, exact, few,
                               RG_SEARCH_AT(algorithm, t, history), query,
                               &query->extra[RG_UCB_ACQUISITION], failure);
}

static double levels_of(int dim, int size)
{
  return ceil(pow(size, 1.0 / dim) - 1e-9);
}

double rg_context_grid_size(int dim, int size, bool diagonal)
{
  return pow(levels_of(dim, size), diagonal ? 1 : dim);
}

double rg_context_table_bytes(double contexts, int n)
{
  return 8 * contexts * (1.5 * n + 240); /* measured: 20 to 150 data, 200,000 contexts */
}

PetscErrorCode rg_context_grid(int dim, int size, bool diagonal, int *n, double **points)
{
  const int levels = (int)levels_of(dim, size);

  *n = levels;
  for (int k = 1; k < dim && !diagonal; k++) *n *= levels;
  PetscCall(PetscMalloc1((size_t)*n * dim, points));
  for (int i = 0; i < *n; i++) {
    for (int k = dim - 1, rest = i; k >= 0; k--) {
      (*points)[(size_t)i * dim + k] = (double)(diagonal ? i : rest % levels) / (levels - 1);
      rest /= levels;
    }
  }
  return 0;
}

PetscErrorCode rg_context_points(const RgSpace *context, int size, bool diagonal, int *n,
                                 double **points)
{
  const size_t room = (size_t)context->size * context->dim;

  if (!rg_space_is_finite(context)) return rg_context_grid(context->dim, size, diagonal, n, points);
  *n = context->size;
  PetscCall(PetscMalloc1(room, points));
  return PetscArraycpy(*points, context->points, room);
}

void rg_context_histogram(const RgHistory *history, int n, const double *points, double *p)
{
  const int dim = history->context_dim;

  for (int i = 0; i < n; i++) p[i] = 0.0;
  for (int i = 0; i < history->n; i++) {
    double least = INFINITY;
    int nearest = 0;
    for (int l = 0; l < n; l++) {
      const double distance =
        rg_squared_distance(dim, points + (size_t)l * dim, history->c + (size_t)i * dim);
      if (distance < least) least = distance, nearest = l;
    }
    p[nearest] += 1.0 / history->n;
  }
}

/* ---- the law of an expectation ------------------------------------------------------------- */

const char *const rg_radius_schedules[] = {"root_n", "constant", "theory", "sequence", NULL};

enum { CHECKED = 10000 }; /* queries at which the formula of the radii is checked before the run */

static bool is_radius(double value)
{
  return isfinite(value) && value >= 0;
}

/* The formula's value at *t, or at the first later query, up to `last`, at which it is no radius;
   *t moves there. */
static PetscErrorCode sequence_value(const char *text, int last, int *t, double *value,
                                     RgText *mistake)
{
  static const char *const names[] = {"t"};
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};
  RgArithmetic formula;

  PetscCall(rg_arithmetic_parse(&parser, 1, names, &formula));
  PetscCall(rg_expression_expect_end(&parser, "formula"));
  *value = 0;
  for (bool more = !mistake->length; more; *t += more) {
    *value = rg_arithmetic_value(&formula, &(double){*t});
    more = is_radius(*value) && *t < last;
  }
  return rg_arithmetic_clear(&formula);
}

PetscErrorCode rg_wasserstein_ball_radius(const RgWassersteinOptions *options,
                                          const RgContextCentre *centre, int t, double *radius,
                                          RgFailure *failure)
{
  const bool shrinks = options->schedule == RG_RADIUS_ROOT_N;
  RgText mistake = {0};

  *radius = options->radius / (shrinks ? sqrt(centre->effective) : 1.0);
  if (options->schedule == RG_RADIUS_SEQUENCE) {
    PetscCall(sequence_value(options->sequence, t, &t, radius, &mistake));
    if (!is_radius(*radius))
      rg_failure_set(failure, "'sequence' is negative or not finite at t = %d", t);
  }
  if (!isnan(options->drift)) *radius += options->drift * centre->age;
  return rg_text_clear(&mistake);
}

PetscErrorCode rg_wasserstein_check(const void *options, const RgDomain *domain, RgPlace place,
                                    RgDiagnostics *diagnostics)
{
  const RgWassersteinOptions *o = options;
  const bool wanted = o->schedule == RG_RADIUS_SEQUENCE;
  RgText mistake = {0};
  double value = 0;
  int t = 1;

  PetscCall(rg_centre_check(options, domain, place, diagnostics));
  if (wanted != (o->sequence != NULL))
    rg_diagnostics_add(diagnostics, place,
                       wanted ? "'schedule: sequence' needs 'sequence', a formula of t"
                              : "'sequence' is for 'schedule: sequence'");
  if (o->sequence) PetscCall(sequence_value(o->sequence, CHECKED, &t, &value, &mistake));
  if (mistake.length)
    rg_diagnostics_add(diagnostics, place, "'sequence' is \"%.100s\": %s", o->sequence,
                       mistake.data);
  if (!is_radius(value))
    rg_diagnostics_add(diagnostics, place,
                       "'sequence' is \"%.100s\": negative or not finite at t = %d", o->sequence,
                       t);
  return rg_text_clear(&mistake);
}

/* Whether a forecast error can shift the laws, at any time. */
static PetscErrorCode check_shifts(const RgCentreOptions *centre, RgPlace place,
                                   RgDiagnostics *diagnostics)
{
  for (int k = 0; k < centre->laws.n; k++) {
    RgLaw law = {0};
    bool shifts = true;
    PetscCall(rg_law_create_all(1, &centre->laws.values[k], 1, &law));
    for (int i = 0; i < law.n; i++) shifts = shifts && rg_distribution_shift(&law.laws[i], 0);
    if (!shifts)
      rg_diagnostics_add(diagnostics, place,
                         "'forecast_error' moves normal, uniform, cauchy and point laws, not "
                         "\"%s\"",
                         centre->laws.values[k]);
    PetscCall(rg_law_destroy(&law));
  }
  return 0;
}

PetscErrorCode rg_centre_check(const void *options, const RgDomain *domain, RgPlace place,
                               RgDiagnostics *diagnostics)
{
  const RgCentreOptions *centre = options;
  const int before = diagnostics->n;

  PetscCall(rg_contextual_check(options, domain, place, diagnostics));
  if (centre->laws.n && centre->laws.n != domain->context.dim)
    rg_diagnostics_add(diagnostics, place, "centre: %d laws for %d contexts; one for each",
                       centre->laws.n, domain->context.dim);
  for (int k = 0; k < centre->laws.n; k++)
    PetscCall(rg_law_check("centre", centre->laws.values[k], place, diagnostics));
  if (centre->forecast_error > 0 && !centre->laws.n)
    rg_diagnostics_add(diagnostics, place, "'forecast_error' is that of a given 'centre'");
  if (centre->forecast_error > 0 && diagnostics->n == before)
    PetscCall(check_shifts(centre, place, diagnostics));
  return 0;
}

static bool is_given(const void *options)
{
  return ((const RgCentreOptions *)options)->laws.n > 0;
}

static bool is_given_with_radius(const void *options)
{
  const int schedule = ((const RgWassersteinOptions *)options)->schedule;

  return is_given(options) && (schedule == RG_RADIUS_CONSTANT || schedule == RG_RADIUS_SEQUENCE);
}

const RgTerms rg_centre_terms = {.instead = "a given 'centre'", .has_instead = is_given};
const RgTerms rg_wasserstein_ball_terms = {
  .instead = "a given 'centre' with 'schedule: constant' or 'sequence'",
  .has_instead = is_given_with_radius};

/* Fill the centre with every combination of the nodes, the last context fastest. */
static PetscErrorCode product(int dim, const RgQuadrature *rules, const RgSpace *space,
                              RgContextCentre *centre)
{
  double sum = 0.0;

  centre->n = 1;
  for (int k = 0; k < dim; k++) centre->n *= rules[k].n;
  PetscCall(PetscMalloc2((size_t)centre->n * dim, &centre->contexts, centre->n, &centre->weight));
  for (int i = 0; i < centre->n; i++) {
    double *c = centre->contexts + (size_t)i * dim;
    centre->weight[i] = 1.0;
    for (int k = dim - 1, rest = i; k >= 0; k--) {
      c[k] = rules[k].node[rest % rules[k].n];
      centre->weight[i] *= rules[k].weight[rest % rules[k].n];
      rest /= rules[k].n;
    }
    rg_space_to_unit(space, c, c);
    sum += centre->weight[i];
  }
  for (int i = 0; i < centre->n; i++) centre->weight[i] /= sum;
  return 0;
}

PetscErrorCode rg_centre_create(const RgAlgorithm *algorithm, int t, const RgHistory *history,
                                RgContextCentre *centre, RgFailure *failure)
{
  const RgCentreOptions *options = algorithm->options;
  const int dim = options->laws.n, next = algorithm->setup.n_initial + t;
  const bool errs = options->forecast_error > 0;
  RgRandom random = rg_algorithm_stream_at(algorithm, "forecast", t);
  RgQuadrature *rules;

  *centre = (RgContextCentre){.effective = history->n};
  if (dim == 0) {
    if (!rg_context_seen(algorithm, history, failure)) return 0;
    return rg_centre_of_observed(&options->forgetting, history, centre);
  }
  PetscCall(PetscCalloc1(dim, &rules));
  for (int k = 0; k < dim; k++) {
    const double shift = errs ? options->forecast_error * rg_random_normal(&random) : 0;
    /* The quadrature is that of the law at the next evaluation, moved by `shift`. */
    RgDistribution law;
    RgLaw over_time = {0};
    PetscCall(rg_law_create_all(1, &options->laws.values[k], 1, &over_time));
    PetscCall(rg_law_at(&over_time, next, &law));
    if (shift != 0) rg_distribution_shift(&law, shift);
    PetscCall(rg_distribution_quadrature(&law, options->panels, 0, NULL, &rules[k]));
    PetscCall(rg_distribution_destroy(&law));
    PetscCall(rg_law_destroy(&over_time));
  }
  PetscCall(product(dim, rules, &algorithm->setup.domain->context, centre));
  for (int k = 0; k < dim; k++) PetscCall(rg_quadrature_destroy(&rules[k]));
  return PetscFree(rules);
}

int rg_centre_size(const RgCentreOptions *options, int n)
{
  return options->laws.n ? 12 * options->panels : n;
}

double rg_centre_bytes(const void *options, int dim, int n)
{
  const RgCentreOptions *centre = options;

  return rg_context_table_bytes(centre->laws.n ? pow(12.0 * centre->panels, dim) : n, n);
}
