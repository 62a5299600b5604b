/* Robustness measures: one row of the table `classes` for each, with its value, bounds and
   derivatives over the contexts of one design; then batches of designs. */
#include "base/grow.h"
#include "regatta/measure.h"
#include "robust/measure_internal.h"
#include "robust/total_variation.h"

#include <math.h>
#include <stdlib.h>

/* Bounds of a measure at one design. */
static void bounds_in(const RgMeasure *measure, const RgMeasureRow *row, double *lower,
                      double *upper);

/* ---- values and bounds ----------------------------------------------------------------------- */

#define MASS 1e-12 /* tolerance of sums of probabilities */

static double mean_of(int n, const double *f, const double *p)
{
  double sum = 0.0;

#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += p[i] * f[i];
  return sum;
}

static double least(const RgMeasure *measure, const RgMeasureRow *row, const double *f)
{
  const int n = row->n;
  double value = f[0];

#pragma omp simd reduction(min : value)
  for (int i = 0; i < n; i++) value = f[i] < value ? f[i] : value;
  return value;
}

static double largest(const RgMeasure *measure, const RgMeasureRow *row, const double *f)
{
  const int n = row->n;
  double value = f[0];

#pragma omp simd reduction(max : value)
  for (int i = 0; i < n; i++) value = f[i] > value ? f[i] : value;
  return value;
}

static double expectation(const RgMeasure *measure, const RgMeasureRow *row, const double *f)
{
  return mean_of(row->n, f, row->p);
}

static double mass_above(const RgMeasure *measure, const RgMeasureRow *row, const double *f)
{
  const double threshold = measure->parameter, *p = row->p;
  double sum = 0.0;

#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < row->n; i++) sum += f[i] >= threshold ? p[i] : 0.0;
  return sum < 1.0 ? sum : 1.0;
}

/* f - E f lies between lc = l - E u and uc = u - E l. Its distance from 0 is at least
   min(|lc|,|uc|) - max(min(-lc, uc), 0), and at most max(|lc|,|uc|). */
static void absolute_deviation(const RgMeasure *measure, const RgMeasureRow *row, double *lower,
                               double *upper)
{
  const double *l = row->l, *u = row->u, *p = row->p;
  double el = mean_of(row->n, l, p), eu = mean_of(row->n, u, p), low = 0.0, up = 0.0;

#pragma omp simd reduction(+ : low, up)
  for (int i = 0; i < row->n; i++) {
    double lc = l[i] - eu, uc = u[i] - el, a = fabs(lc), b = fabs(uc);
    double inside = -lc < uc ? -lc : uc;
    inside = inside > 0.0 ? inside : 0.0;
    low += p[i] * ((a < b ? a : b) - inside);
    up += p[i] * (a > b ? a : b);
  }
  *lower = low;
  *upper = up;
}

static void squared_deviation(const RgMeasure *measure, const RgMeasureRow *row, double *lower,
                              double *upper)
{
  const double *l = row->l, *u = row->u, *p = row->p;
  double el = mean_of(row->n, l, p), eu = mean_of(row->n, u, p), low = 0.0, up = 0.0;

#pragma omp simd reduction(+ : low, up)
  for (int i = 0; i < row->n; i++) {
    double lc = l[i] - eu, uc = u[i] - el, a = lc * lc, b = uc * uc;
    double inside = -lc < uc ? -lc : uc;
    inside = inside > 0.0 ? inside : 0.0;
    low += p[i] * ((a < b ? a : b) - inside * inside);
    up += p[i] * (a > b ? a : b);
  }
  *lower = low > 0.0 ? low : 0.0;
  *upper = up;
}

static void standard_deviation(const RgMeasure *measure, const RgMeasureRow *row, double *lower,
                               double *upper)
{
  squared_deviation(measure, row, lower, upper);
  *lower = sqrt(*lower);
  *upper = sqrt(*upper);
}

/* ---- quantiles --------------------------------------------------------------------------- */

static double median3(double a, double b, double c)
{
  double low = a < b ? a : b, high = a < b ? b : a;

  return c < low ? low : (c > high ? high : c);
}

/* Keep the entries on one side of the pivot; returns how many. */
static int keep(int n, double *v, double *w, double pivot, bool below)
{
  int kept = 0;

  for (int i = 0; i < n; i++) {
    double vi = v[i], wi = w[i];
    v[kept] = vi;
    w[kept] = wi;
    kept += below ? vi < pivot : vi > pivot;
  }
  return kept;
}

/* Value at risk by weighted selection; *tail: integral of the value at risk from 0 to alpha. */
static double quantile(const RgMeasureRow *row, const double *f, double alpha, double *tail)
{
  double *v = row->scratch, *w = row->scratch + row->n, pivot = f[0], mass = 0.0, sum = 0.0;
  int n = row->n;

  for (int i = 0; i < n; i++) {
    v[i] = f[i];
    w[i] = row->p[i];
  }
  while (n > 0) {
    double below = 0.0, below_sum = 0.0, equal = 0.0;
    pivot = median3(v[0], v[n / 2], v[n - 1]);
#pragma omp simd reduction(+ : below, below_sum, equal)
    for (int i = 0; i < n; i++) {
      below += v[i] < pivot ? w[i] : 0.0;
      below_sum += v[i] < pivot ? w[i] * v[i] : 0.0;
      equal += v[i] == pivot ? w[i] : 0.0;
    }
    if (mass + below >= alpha - MASS) {
      n = keep(n, v, w, pivot, true);
      continue;
    }
    mass += below;
    sum += below_sum;
    if (mass + equal >= alpha - MASS) break;
    mass += equal;
    sum += equal * pivot;
    n = keep(n, v, w, pivot, false);
  }
  *tail = sum + (alpha - mass) * pivot;
  return pivot;
}

static double value_at_risk(const RgMeasure *measure, const RgMeasureRow *row, const double *f)
{
  double tail;

  return quantile(row, f, measure->parameter, &tail);
}

static double conditional_value_at_risk(const RgMeasure *measure, const RgMeasureRow *row,
                                        const double *f)
{
  double tail;

  quantile(row, f, measure->parameter, &tail);
  return tail / measure->parameter;
}

/* ---- distributionally robust ------------------------------------------------------------- */

typedef struct {
  double value, mass;
} Atom;

static int compare_atoms(const void *a, const void *b)
{
  double x = ((const Atom *)a)->value, y = ((const Atom *)b)->value;

  return (x > y) - (x < y);
}

/* Least expectation over probabilities within L1 distance `radius`: mass moves from the largest
   values to the smallest. */
static double ball_expectation(const RgMeasureRow *row, const double *f, double radius)
{
  Atom *atoms = (Atom *)row->scratch;
  double moved, sum = 0.0;

  for (int i = 0; i < row->n; i++) atoms[i] = (Atom){f[i], row->p[i]};
  qsort(atoms, (size_t)row->n, sizeof *atoms, compare_atoms);
  moved = fmin(0.5 * radius, 1.0 - atoms[0].mass);
  sum = moved * atoms[0].value;
  for (int i = row->n - 1; i >= 0; i--) {
    double taken = i > 0 ? fmin(moved, atoms[i].mass) : 0.0;
    moved -= taken;
    sum += (atoms[i].mass - taken) * atoms[i].value;
  }
  return sum;
}

static void robust(const RgMeasure *measure, const RgMeasureRow *row, double *lower, double *upper)
{
  RgMeasureRow other = *row;
  double low, up;

  if (measure->parameter > 0.0) {
    *lower = ball_expectation(row, row->l, measure->parameter);
    *upper = row->u == row->l ? *lower : ball_expectation(row, row->u, measure->parameter);
    return;
  }
  *lower = *upper = INFINITY;
  for (int k = measure->nominal ? -1 : 0; k < measure->n_pmfs; k++) {
    other.p = k < 0 ? row->p : measure->pmfs + (size_t)k * row->n;
    bounds_in(measure->parts, &other, &low, &up);
    *lower = fmin(*lower, low);
    *upper = fmin(*upper, up);
  }
}

static void weighted_sum(const RgMeasure *measure, const RgMeasureRow *row, double *lower,
                         double *upper)
{
  double low, up;

  *lower = *upper = measure->constant;
  for (int i = 0; i < measure->n_parts; i++) {
    double a = measure->coefficients[i];
    bounds_in(&measure->parts[i], row, &low, &up);
    *lower += a * (a < 0.0 ? up : low);
    *upper += a * (a < 0.0 ? low : up);
  }
}

static double clipped(const RgMeasure *measure, double inner)
{
  return fmin(fmax(inner, measure->parameter), measure->most);
}

static double clipped_rate(const RgMeasure *measure, double inner)
{
  return inner > measure->parameter && inner < measure->most;
}

static double hyperbolic(const RgMeasure *measure, double inner)
{
  return tanh(inner);
}

static double hyperbolic_rate(const RgMeasure *measure, double inner)
{
  return 1 - tanh(inner) * tanh(inner);
}

static double exponential(const RgMeasure *measure, double inner)
{
  return exp(inner);
}

/* ---- derivatives ----------------------------------------------------------------------------- */

static PetscErrorCode expectation_slope(const RgMeasure *measure, const RgMeasureRow *row,
                                        double value, double *slope)
{
  return PetscArraycpy(slope, row->p, row->n);
}

/* The derivative is 1 at the first context whose value is `value`. */
static PetscErrorCode slope_at_value(const RgMeasure *measure, const RgMeasureRow *row,
                                     double value, double *slope)
{
  int at = 0;

  for (int i = 0; i < row->n; i++) slope[i] = 0;
  while (at < row->n && row->l[at] != value) at++;
  if (at < row->n) slope[at] = 1;
  return 0;
}

/* Shares of the tail: the mass below the value at risk, and at it what is missing to alpha. */
static PetscErrorCode tail_slope(const RgMeasure *measure, const RgMeasureRow *row, double value,
                                 double *slope)
{
  const double *f = row->l, *p = row->p, alpha = measure->parameter;
  const double risk = value_at_risk(measure, row, f);
  double left = alpha;

  for (int i = 0; i < row->n; i++) {
    slope[i] = f[i] < risk ? p[i] / alpha : 0;
    left -= f[i] < risk ? p[i] : 0;
  }
  for (int i = 0; i < row->n; i++) {
    if (f[i] != risk) continue;
    const double taken = fmin(fmax(left, 0), p[i]);
    slope[i] = taken / alpha;
    left -= taken;
  }
  return 0;
}

static PetscErrorCode absolute_slope(const RgMeasure *measure, const RgMeasureRow *row,
                                     double value, double *slope)
{
  const double *f = row->l, *p = row->p;
  double mean = 0, signs = 0;

  for (int i = 0; i < row->n; i++) mean += p[i] * f[i];
  for (int i = 0; i < row->n; i++) {
    const double difference = f[i] - mean, sign = (difference > 0) - (difference < 0);
    signs += p[i] * sign;
    slope[i] = p[i] * sign;
  }
  for (int i = 0; i < row->n; i++) slope[i] -= p[i] * signs;
  return 0;
}

static PetscErrorCode squared_slope(const RgMeasure *measure, const RgMeasureRow *row, double value,
                                    double *slope)
{
  double mean = 0;

  for (int i = 0; i < row->n; i++) mean += row->p[i] * row->l[i];
  for (int i = 0; i < row->n; i++) slope[i] = row->p[i] * (2 * (row->l[i] - mean));
  return 0;
}

static PetscErrorCode standard_slope(const RgMeasure *measure, const RgMeasureRow *row,
                                     double value, double *slope)
{
  double mean = 0, square = 0;

  PetscCall(squared_slope(measure, row, value, slope));
  for (int i = 0; i < row->n; i++) mean += row->p[i] * row->l[i];
  for (int i = 0; i < row->n; i++) {
    const double difference = row->l[i] - mean;
    square += row->p[i] * difference * difference;
  }
  for (int i = 0; i < row->n; i++) slope[i] = square > 0 ? slope[i] / (2 * sqrt(square)) : 0;
  return 0;
}

static PetscErrorCode no_slope(const RgMeasure *measure, const RgMeasureRow *row, double value,
                               double *slope)
{
  return PetscArrayzero(slope, row->n);
}

/* The slope is the distribution of least expectation in the L1 ball. */
static PetscErrorCode ball_slope(const RgMeasure *measure, const RgMeasureRow *row, double value,
                                 double *slope)
{
  const double *f = row->l;
  double *work, mass;
  int least_at = 0;

  PetscCheck(measure->parameter > 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "no derivative over a list");
  for (int i = 1; i < row->n; i++)
    if (f[i] < f[least_at]) least_at = i;
  PetscCall(PetscMalloc1(2 * row->n, &work));
  (void)rg_total_variation_worst(row->n, f, row->p, f[least_at], measure->parameter, slope, &mass,
                                 work);
  slope[least_at] += mass;
  return PetscFree(work);
}

static PetscErrorCode sum_slope(const RgMeasure *measure, const RgMeasureRow *row, double value,
                                double *slope)
{
  double *part;

  PetscCall(PetscMalloc1(row->n, &part));
  PetscCall(PetscArrayzero(slope, row->n));
  for (int k = 0; k < measure->n_parts; k++) {
    PetscCall(rg_measure_gradient(&measure->parts[k], row->n, row->l, row->p, &value, part));
    for (int i = 0; i < row->n; i++) slope[i] += measure->coefficients[k] * part[i];
  }
  return PetscFree(part);
}

/* ---- the measures ---------------------------------------------------------------------------- */

/* name, usage and meaning; what stands in parentheses; value, bounds or map; derivatives; constants
   of rg_measure_slope and rg_measure_transport */
#define RISING(name, usage, meaning, form, value_, gradient_, slope_, transport_)                  \
  {                                                                                                \
    {name, usage, meaning}, RG_MEASURE_##form, .value = (value_), .gradient = (gradient_),         \
                                               .slope = (slope_), .transport = (transport_)        \
  }
#define OTHER(name, usage, meaning, form, bounds_, gradient_, slope_, transport_)                  \
  {                                                                                                \
    {name, usage, meaning}, RG_MEASURE_##form, .bounds = (bounds_), .gradient = (gradient_),       \
                                               .slope = (slope_), .transport = (transport_)        \
  }
#define MAP(name, usage, meaning, form, map_, rate_, slope_, transport_)                           \
  {                                                                                                \
    {name, usage, meaning}, RG_MEASURE_##form, .map = (map_), .rate = (rate_), .slope = (slope_),  \
                                               .transport = (transport_)                           \
  }
#define PARTS RG_MEASURE_BY_PARTS

static const RgMeasureClass classes[] = {
  [RG_MEASURE_EXPECTATION] =
    RISING("expectation", "expectation", "E f", ALONE, expectation, expectation_slope, 1, 1),
  [RG_MEASURE_WORST] =
    RISING("worst", "worst", "min f over the contexts", ALONE, least, slope_at_value, 1, NAN),
  [RG_MEASURE_BEST] =
    RISING("best", "best", "max f over the contexts", ALONE, largest, slope_at_value, 1, NAN),
  [RG_MEASURE_VAR] = RISING("var", "var(alpha)", "value at risk inf{b : P(f <= b) >= alpha}",
                            OF_LEVEL, value_at_risk, slope_at_value, 1, NAN),
  [RG_MEASURE_CVAR] =
    RISING("cvar", "cvar(alpha)", "conditional value at risk: mean of var(a) over 0 < a < alpha",
           OF_LEVEL, conditional_value_at_risk, tail_slope, 1, RG_MEASURE_BY_LEVEL),
  [RG_MEASURE_MAD] = OTHER("mad", "mad", "mean absolute deviation E|f - E f|", ALONE,
                           absolute_deviation, absolute_slope, 2, 2),
  [RG_MEASURE_SD] =
    OTHER("sd", "sd", "standard deviation", ALONE, standard_deviation, standard_slope, NAN, NAN),
  [RG_MEASURE_VARIANCE] = OTHER("variance", "variance", "E(f - E f)^2", ALONE, squared_deviation,
                                squared_slope, NAN, NAN),
  [RG_MEASURE_PTR] = RISING("ptr", "ptr(theta)", "probability threshold P(f >= theta)", OF_NUMBER,
                            mass_above, no_slope, NAN, NAN),
  [RG_MEASURE_ROBUST] =
    OTHER("robust", "robust(m, nominal, pmf(p1, p2, ..)) or robust(expectation, l1 = eps)",
          "least value of m over a list of probabilities, or over an L1 ball", OF_AMBIGUITY, robust,
          ball_slope, PARTS, NAN),
  [RG_MEASURE_CLIP] = MAP("clip", "clip(m, least, most)", "m within limits", OF_LIMITS, clipped,
                          clipped_rate, PARTS, PARTS),
  [RG_MEASURE_TANH] = MAP("tanh", "tanh(m)", "hyperbolic tangent of m", OF_MEASURE, hyperbolic,
                          hyperbolic_rate, PARTS, PARTS),
  [RG_MEASURE_EXP] =
    MAP("exp", "exp(m)", "exponential of m", OF_MEASURE, exponential, exponential, NAN, NAN),
  [RG_MEASURE_SUM] = OTHER(NULL, NULL, NULL, ALONE, weighted_sum, sum_slope, PARTS, PARTS)};

const RgMeasureClass *rg_measure_class(RgMeasureKind kind)
{
  return &classes[kind];
}

const RgMeasureInfo *rg_measure_info(int kind)
{
  return classes[kind].about.name ? &classes[kind].about : NULL;
}

static void bounds_in(const RgMeasure *measure, const RgMeasureRow *row, double *lower,
                      double *upper)
{
  const RgMeasureClass *class = &classes[measure->kind];

  if (class->map) {
    bounds_in(measure->parts, row, lower, upper);
    *lower = class->map(measure, *lower);
    *upper = class->map(measure, *upper);
  } else if (class->bounds) {
    class->bounds(measure, row, lower, upper);
  } else {
    *lower = class->value(measure, row, row->l);
    *upper = row->u == row->l ? *lower : class->value(measure, row, row->u);
  }
}

PetscErrorCode rg_measure_gradient(const RgMeasure *measure, int n, const double *f,
                                   const double *p, double *value, double *slope)
{
  const RgMeasureClass *class = &classes[measure->kind];
  RgMeasureRow row = {.n = n, .l = f, .u = f, .p = p};

  if (class->rate) {
    double inner;
    PetscCall(rg_measure_gradient(measure->parts, n, f, p, &inner, slope));
    const double rate = class->rate(measure, inner);
    for (int i = 0; i < n; i++) slope[i] *= rate;
    *value = class->map(measure, inner);
    return 0;
  }
  PetscCall(rg_measure_value(measure, 1, n, f, p, value));
  PetscCall(PetscMalloc1(3 * n, &row.scratch));
  PetscCall(class->gradient(measure, &row, *value, slope));
  return PetscFree(row.scratch);
}

/* A constant of a measure: `own`, or what its level or its parts make of it. */
static double constant_of(const RgMeasure *measure, double own,
                          double (*of_part)(const RgMeasure *))
{
  double sum = 0;

  if (own == RG_MEASURE_BY_LEVEL) return 1 / measure->parameter;
  if (own != RG_MEASURE_BY_PARTS) return own;
  for (int i = 0; i < measure->n_parts; i++)
    sum += fabs(measure->coefficients[i]) * of_part(&measure->parts[i]);
  return sum;
}

double rg_measure_transport(const RgMeasure *measure)
{
  return constant_of(measure, classes[measure->kind].transport, rg_measure_transport);
}

double rg_measure_slope(const RgMeasure *measure)
{
  return constant_of(measure, classes[measure->kind].slope, rg_measure_slope);
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
  for (int i = 0; i < measure->n_parts; i++)
    if (!lists_fit(&measure->parts[i], contexts)) return false;
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
  return rg_text_clear(&mistake);
}

/* ---- batches ----------------------------------------------------------------------------- */

/* Compute l, u = mean -/+ width sqrt(variance). */
static void intervals(int n, const double *mean, const double *variance, double width, double *l,
                      double *u)
{
#pragma omp simd
  for (int i = 0; i < n; i++) {
    double half = width * sqrt(variance[i]);
    l[i] = mean[i] - half;
    u[i] = mean[i] + half;
  }
}

/* The bounds at every design. given: `mean` and `variance` hold l and u instead. */
static PetscErrorCode bounds_at(const RgMeasure *measure, const RgCredible *at, bool given,
                                const double *p, double *lower, double *upper)
{
  const int contexts = at->contexts;
  const size_t n = (size_t)contexts;
  double *equal, *l, *u, low, up;
  RgMeasureRow row = {.n = contexts};

  PetscCheck(contexts > 0 && lists_fit(measure, contexts), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The measure's probabilities are not for %d contexts", contexts);
  PetscCall(PetscMalloc4(3 * n, &row.scratch, n, &equal, n, &l, n, &u));
  for (int i = 0; i < contexts; i++) equal[i] = 1.0 / contexts;
  row.p = p ? p : equal;
  for (int i = 0; i < at->n; i++) {
    const double *mean = at->mean + i * n, *variance = at->variance + i * n;
    if (!given) intervals(contexts, mean, variance, at->width, l, u);
    row.l = given ? mean : l;
    row.u = given ? variance : u;
    bounds_in(measure, &row, &low, &up);
    if (lower) lower[i] = low;
    if (upper) upper[i] = up;
  }
  return PetscFree4(row.scratch, equal, l, u);
}

PetscErrorCode rg_measure_bounds(const RgMeasure *measure, int n, int contexts, const double *l,
                                 const double *u, const double *p, double *lower, double *upper)
{
  return bounds_at(measure, &(RgCredible){n, contexts, l, u, NAN}, true, p, lower, upper);
}

PetscErrorCode rg_measure_value(const RgMeasure *measure, int n, int contexts, const double *f,
                                const double *p, double *F)
{
  return rg_measure_bounds(measure, n, contexts, f, f, p, F, NULL);
}

PetscErrorCode rg_measure_credible_bounds(const RgMeasure *measure, const RgCredible *credible,
                                          const double *p, double *lower, double *upper)
{
  return bounds_at(measure, credible, false, p, lower, upper);
}
