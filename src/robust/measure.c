/* Robustness measures: their names, values and bounds over many designs. */
#include "regatta/measure.h"
#include "base/grow.h"
#include "robust/measure_row.h"

#include <math.h>

PetscErrorCode rg_measure_destroy(RgMeasure *measure)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < measure->n_parts; i++) PetscCall(rg_measure_destroy(&measure->parts[i]));
  PetscCall(RG_FREE(&measure->parts, &measure->coefficients, &measure->pmfs));
  *measure = (RgMeasure){0};
  PetscFunctionReturn(0);
}

/* Whether every list of probabilities in the measure has the length of the contexts. */
static bool lists_fit(const RgMeasure *measure, int contexts)
{
  for (int i = 0; i < measure->n_parts; i++) {
    if (!lists_fit(&measure->parts[i], contexts)) return false;
  }
  return measure->n_pmfs == 0 || measure->pmf_size == contexts;
}

static const RgMeasure *find_list(const RgMeasure *measure)
{
  const RgMeasure *found = measure->n_pmfs ? measure : NULL;

  for (int i = 0; i < measure->n_parts && !found; i++) found = find_list(&measure->parts[i]);
  return found;
}

PetscErrorCode rg_measure_check(const char *text, int n_contexts, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  RgMeasure measure;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_measure_parse(text, &measure, &mistake));
  if (mistake.data) {
    rg_diagnostics_add(diagnostics, place, "measure \"%.80s\", %s", text, mistake.data);
  } else if (n_contexts && !lists_fit(&measure, n_contexts)) {
    rg_diagnostics_add(diagnostics, place, "measure \"%.80s\": pmf has %d values for %d contexts",
                       text, find_list(&measure)->pmf_size, n_contexts);
  }
  PetscCall(rg_measure_destroy(&measure));
  PetscCall(rg_text_clear(&mistake));
  PetscFunctionReturn(0);
}

/* ---- batches ----------------------------------------------------------------------------- */

/* Scratch of one batch. */
typedef struct {
  RgMeasureRow row;
  double *equal;  /* contexts: equal probabilities, used when none are given */
  double *bounds; /* 2 x contexts: scratch of one design */
} Batch;

static PetscErrorCode batch_create(const RgMeasure *measure, int contexts, const double *p,
                                   Batch *batch)
{
  size_t n = (size_t)contexts;

  PetscFunctionBeginUser;
  PetscCheck(contexts > 0 && lists_fit(measure, contexts), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The measure's probabilities are not for %d contexts", contexts);
  PetscCall(PetscMalloc3(3 * n, &batch->row.scratch, n, &batch->equal, 2 * n, &batch->bounds));
  for (int i = 0; i < contexts; i++) batch->equal[i] = 1.0 / contexts;
  batch->row.n = contexts;
  batch->row.p = p ? p : batch->equal;
  PetscFunctionReturn(0);
}

static PetscErrorCode batch_destroy(Batch *batch)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(batch->row.scratch, batch->equal, batch->bounds));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_measure_value(const RgMeasure *measure, int n, int contexts, const double *f,
                                const double *p, double *F)
{
  return rg_measure_bounds(measure, n, contexts, f, f, p, F, NULL);
}

PetscErrorCode rg_measure_bounds(const RgMeasure *measure, int n, int contexts, const double *l,
                                 const double *u, const double *p, double *lower, double *upper)
{
  Batch batch;
  double low, up;

  PetscFunctionBeginUser;
  PetscCall(batch_create(measure, contexts, p, &batch));
  for (int i = 0; i < n; i++) {
    batch.row.l = l + (size_t)i * contexts;
    batch.row.u = u + (size_t)i * contexts;
    rg_measure_row(measure, &batch.row, &low, &up);
    if (lower) lower[i] = low;
    if (upper) upper[i] = up;
  }
  PetscCall(batch_destroy(&batch));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_measure_credible_bounds(const RgMeasure *measure, const RgCredible *credible,
                                          const double *p, double *lower, double *upper)
{
  const int contexts = credible->contexts;
  Batch batch;
  double low, up;

  PetscFunctionBeginUser;
  PetscCall(batch_create(measure, contexts, p, &batch));
  batch.row.l = batch.bounds;
  batch.row.u = batch.bounds + contexts;
  for (int i = 0; i < credible->n; i++) {
    rg_measure_intervals(contexts, credible->mean + (size_t)i * contexts,
                         credible->variance + (size_t)i * contexts, credible->width, batch.bounds,
                         batch.bounds + contexts);
    rg_measure_row(measure, &batch.row, &low, &up);
    if (lower) lower[i] = low;
    if (upper) upper[i] = up;
  }
  PetscCall(batch_destroy(&batch));
  PetscFunctionReturn(0);
}

/* ---- slope ------------------------------------------------------------------------------- */

double rg_measure_slope(const RgMeasure *measure)
{
  double slope = 0.0;

  switch (measure->kind) {
  case RG_MEASURE_EXPECTATION:
  case RG_MEASURE_WORST:
  case RG_MEASURE_BEST:
  case RG_MEASURE_VAR:
  case RG_MEASURE_CVAR: return 1.0;
  case RG_MEASURE_MAD: return 2.0;
  case RG_MEASURE_ROBUST:
  case RG_MEASURE_CLIP:
  case RG_MEASURE_TANH: return rg_measure_slope(measure->parts);
  case RG_MEASURE_SUM:
    for (int i = 0; i < measure->n_parts; i++) {
      slope += fabs(measure->coefficients[i]) * rg_measure_slope(&measure->parts[i]);
    }
    return slope;
  default: return NAN;
  }
}
