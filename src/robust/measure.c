/* Robustness measures: their names, values and bounds over many designs. */
#include "base/grow.h"
#include "regatta/measure.h"
#include "robust/measure_row.h"
#include "robust/total_variation.h"

#include <math.h>

/* Set the derivative to 1 at the first context whose value is `value`. */
static void at_value(int n, const double *f, double value, double *slope)
{
  for (int i = 0; i < n; i++) slope[i] = 0;
  for (int i = 0; i < n; i++)
    if (f[i] == value) {
      slope[i] = 1;
      return;
    }
}

/* Shares of the tail: the mass below the value at risk, and at it what is missing to alpha. */
static void tail(int n, const double *f, const double *p, double alpha, double quantile,
                 double *slope)
{
  double left = alpha;

  for (int i = 0; i < n; i++) {
    slope[i] = f[i] < quantile ? p[i] / alpha : 0;
    left -= f[i] < quantile ? p[i] : 0;
  }
  for (int i = 0; i < n; i++) {
    if (f[i] != quantile) continue;
    const double taken = fmin(fmax(left, 0), p[i]);
    slope[i] = taken / alpha;
    left -= taken;
  }
}

/* Derivatives of E|f - E f|, of E(f - E f)^2, and of its root. */
static void deviation(RgMeasureKind kind, int n, const double *f, const double *p, double *slope)
{
  double mean = 0, square = 0, signs = 0;

  for (int i = 0; i < n; i++) mean += p[i] * f[i];
  for (int i = 0; i < n; i++) {
    const double difference = f[i] - mean, sign = (difference > 0) - (difference < 0);
    square += p[i] * difference * difference;
    signs += p[i] * sign;
    slope[i] = p[i] * (kind == RG_MEASURE_MAD ? sign : 2 * difference);
  }
  for (int i = 0; i < n; i++) {
    if (kind == RG_MEASURE_MAD) slope[i] -= p[i] * signs;
    if (kind == RG_MEASURE_SD) slope[i] = square > 0 ? slope[i] / (2 * sqrt(square)) : 0;
  }
}

/* The probabilities of the least expectation in the L1 ball; f has its minimum at `least`. */
static PetscErrorCode worst_in_ball(int n, const double *f, const double *p, double radius,
                                    double *slope)
{
  double *work, mass;
  int least = 0;

  for (int i = 1; i < n; i++)
    if (f[i] < f[least]) least = i;
  PetscCall(PetscMalloc1(2 * n, &work));
  (void)rg_total_variation_worst(n, f, p, f[least], radius, slope, &mass, work);
  slope[least] += mass;
  PetscCall(PetscFree(work));
  return 0;
}

static PetscErrorCode sum(const RgMeasure *measure, int n, const double *f, const double *p,
                          double *slope)
{
  double *part, value;

  PetscCall(PetscMalloc1(n, &part));
  for (int i = 0; i < n; i++) slope[i] = 0;
  for (int k = 0; k < measure->n_parts; k++) {
    PetscCall(rg_measure_gradient(&measure->parts[k], n, f, p, &value, part));
    for (int i = 0; i < n; i++) slope[i] += measure->coefficients[k] * part[i];
  }
  PetscCall(PetscFree(part));
  return 0;
}

/* An increasing map of the measure inside, whose value is `value`. */
static PetscErrorCode map(const RgMeasure *measure, int n, const double *f, const double *p,
                          double *slope)
{
  double inner, by = 0;

  PetscCall(rg_measure_gradient(measure->parts, n, f, p, &inner, slope));
  if (measure->kind == RG_MEASURE_TANH) by = 1 - tanh(inner) * tanh(inner);
  else if (measure->kind == RG_MEASURE_EXP) by = exp(inner);
  else by = inner > measure->parameter && inner < measure->most;
  for (int i = 0; i < n; i++) slope[i] *= by;
  return 0;
}

PetscErrorCode rg_measure_gradient(const RgMeasure *measure, int n, const double *f,
                                   const double *p, double *value, double *slope)
{
  const RgMeasure risk = {.kind = RG_MEASURE_VAR, .parameter = measure->parameter};
  double quantile;

  PetscCall(rg_measure_value(measure, 1, n, f, p, value));
  switch (measure->kind) {
  case RG_MEASURE_EXPECTATION: PetscCall(PetscArraycpy(slope, p, n)); break;
  case RG_MEASURE_WORST:
  case RG_MEASURE_BEST:
  case RG_MEASURE_VAR: at_value(n, f, *value, slope); break;
  case RG_MEASURE_CVAR:
    PetscCall(rg_measure_value(&risk, 1, n, f, p, &quantile));
    tail(n, f, p, measure->parameter, quantile, slope);
    break;
  case RG_MEASURE_MAD:
  case RG_MEASURE_SD:
  case RG_MEASURE_VARIANCE: deviation(measure->kind, n, f, p, slope); break;
  case RG_MEASURE_PTR:
    for (int i = 0; i < n; i++) slope[i] = 0;
    break;
  case RG_MEASURE_ROBUST:
    PetscCheck(measure->parameter > 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "no derivative over a list");
    PetscCall(worst_in_ball(n, f, p, measure->parameter, slope));
    break;
  case RG_MEASURE_CLIP:
  case RG_MEASURE_TANH:
  case RG_MEASURE_EXP: PetscCall(map(measure, n, f, p, slope)); break;
  case RG_MEASURE_SUM: PetscCall(sum(measure, n, f, p, slope)); break;
  }
  return 0;
}

double rg_measure_transport(const RgMeasure *measure)
{
  double most = 0;

  switch (measure->kind) {
  case RG_MEASURE_EXPECTATION: return 1;
  case RG_MEASURE_CVAR: return 1 / measure->parameter;
  case RG_MEASURE_MAD: return 2;
  case RG_MEASURE_CLIP:
  case RG_MEASURE_TANH: return rg_measure_transport(measure->parts);
  case RG_MEASURE_SUM:
    for (int i = 0; i < measure->n_parts; i++)
      most += fabs(measure->coefficients[i]) * rg_measure_transport(&measure->parts[i]);
    return most;
  case RG_MEASURE_WORST:
  case RG_MEASURE_BEST:
  case RG_MEASURE_VAR:
  case RG_MEASURE_SD:
  case RG_MEASURE_VARIANCE:
  case RG_MEASURE_PTR:
  case RG_MEASURE_ROBUST:
  case RG_MEASURE_EXP: break;
  }
  return NAN;
}

bool rg_measure_lists(const RgMeasure *measure)
{
  bool found = measure->kind == RG_MEASURE_ROBUST && !(measure->parameter > 0);

  for (int i = 0; i < measure->n_parts; i++) found = found || rg_measure_lists(&measure->parts[i]);
  return found;
}

PetscErrorCode rg_measure_destroy(RgMeasure *measure)
{
  for (int i = 0; i < measure->n_parts; i++) PetscCall(rg_measure_destroy(&measure->parts[i]));
  PetscCall(RG_FREE(&measure->parts, &measure->coefficients, &measure->pmfs));
  *measure = (RgMeasure){0};
  return 0;
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

  PetscCall(rg_measure_parse(text, &measure, &mistake));
  if (mistake.data) {
    rg_diagnostics_add(diagnostics, place, "measure \"%.80s\", %s", text, mistake.data);
  } else if (n_contexts && !lists_fit(&measure, n_contexts)) {
    rg_diagnostics_add(diagnostics, place, "measure \"%.80s\": pmf has %d values for %d contexts",
                       text, find_list(&measure)->pmf_size, n_contexts);
  }
  PetscCall(rg_measure_destroy(&measure));
  PetscCall(rg_text_clear(&mistake));
  return 0;
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

  PetscCheck(contexts > 0 && lists_fit(measure, contexts), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The measure's probabilities are not for %d contexts", contexts);
  PetscCall(PetscMalloc3(3 * n, &batch->row.scratch, n, &batch->equal, 2 * n, &batch->bounds));
  for (int i = 0; i < contexts; i++) batch->equal[i] = 1.0 / contexts;
  batch->row.n = contexts;
  batch->row.p = p ? p : batch->equal;
  return 0;
}

static PetscErrorCode batch_destroy(Batch *batch)
{
  PetscCall(PetscFree3(batch->row.scratch, batch->equal, batch->bounds));
  return 0;
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

  PetscCall(batch_create(measure, contexts, p, &batch));
  for (int i = 0; i < n; i++) {
    batch.row.l = l + (size_t)i * contexts;
    batch.row.u = u + (size_t)i * contexts;
    rg_measure_row(measure, &batch.row, &low, &up);
    if (lower) lower[i] = low;
    if (upper) upper[i] = up;
  }
  PetscCall(batch_destroy(&batch));
  return 0;
}

PetscErrorCode rg_measure_credible_bounds(const RgMeasure *measure, const RgCredible *credible,
                                          const double *p, double *lower, double *upper)
{
  const int contexts = credible->contexts;
  Batch batch;
  double low, up;

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
  return 0;
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
