/* The distribution of contexts under which a method takes expectations: observed contexts or
   laws. */
#include "algorithm/context_centre.h"

#include <math.h>

const char *const rg_radius_schedules[] = {"root_n", "constant", "theory", NULL};

double rg_wasserstein_ball_radius(const RgWassersteinOptions *options,
                                  const RgContextCentre *centre)
{
  const bool shrinks = options->schedule == RG_RADIUS_ROOT_N;
  const double radius = options->radius / (shrinks ? sqrt(centre->effective) : 1.0);

  return isnan(options->drift) ? radius : radius + options->drift * centre->age;
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
  return is_given(options) &&
         ((const RgWassersteinOptions *)options)->schedule == RG_RADIUS_CONSTANT;
}

const RgTerms rg_centre_terms = {.instead = "a given 'centre'", .has_instead = is_given};
const RgTerms rg_wasserstein_ball_terms = {.instead = "a given 'centre' with 'schedule: constant'",
                                           .has_instead = is_given_with_radius};

static PetscErrorCode observed(const RgForgetting *forgetting, const RgHistory *history,
                               RgContextCentre *centre)
{
  RgContextSample seen;

  PetscCall(rg_context_sample_create(forgetting, history, &seen));
  const size_t size = (size_t)seen.n * history->context_dim;
  centre->n = seen.n;
  centre->effective = seen.effective;
  centre->age = seen.age;
  PetscCall(PetscMalloc2(size, &centre->contexts, seen.n, &centre->weight));
  PetscCall(PetscArraycpy(centre->contexts, seen.c, size));
  for (int i = 0; i < seen.n; i++) centre->weight[i] = seen.weight ? seen.weight[i] : 1.0 / seen.n;
  PetscCall(rg_context_sample_destroy(&seen));
  return 0;
}

/* Every combination of the nodes, the last context fastest. */
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
    if (rg_context_seen(algorithm, history, failure))
      PetscCall(observed(&options->forgetting, history, centre));
    return 0;
  }
  PetscCall(PetscCalloc1(dim, &rules));
  for (int k = 0; k < dim; k++) {
    const double shift = errs ? options->forecast_error * rg_random_normal(&random) : 0;
    /* Quadrature of a law at an evaluation, moved by `shift`. */
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
  PetscCall(PetscFree(rules));
  return 0;
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

PetscErrorCode rg_centre_destroy(RgContextCentre *centre)
{
  PetscCall(PetscFree2(centre->contexts, centre->weight));
  return 0;
}
