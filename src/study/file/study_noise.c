/* The parameters table of the noise, its check over the designs, and its draws. */
#include "study/file/study.h"
#include "base/inputs.h"
#include "base/text.h"
#include "maths/design.h"

#include <math.h>

const RgParam rg_noise_params[] = {
  RG_TEXT("variance", RgNoiseSettings, variance, "auto", "sigma^2(x)",
          "variance of the noise, a formula of the inputs that is nowhere negative, native units "
          "of f squared; auto: the constant 'noise_variance'"),
  RG_TEXT(
    "law", RgNoiseSettings, law, "auto", "",
    "law of the noise divided by the square root of 'variance', with median 0: "
    "\"student(3, 1)\", or outliers by \"mixture(0.95 * normal(0, 1), 0.05 * normal(0, 10))\" "
    "(regatta describe laws); auto: normal(0, 1)"),
  RG_REAL("told", RgNoiseSettings, told, "1", 1e-6, 1e6, "",
          "factor of the variance that the methods are told where 'noise_known': the constant one, "
          "or the mean of the formula over the designs. They take the noise for normal"),
  {0},
};

bool rg_noise_counts(const RgNoiseSettings *noise)
{
  return noise->variance || noise->law || noise->told != 1;
}

double rg_noise_told(const RgNoiseSettings *noise, double constant)
{
  return noise->told * (noise->variance ? noise->mean : constant);
}

/* ---- the noise of a trial -------------------------------------------------------------------- */

static PetscErrorCode read_variance(const char *text, const RgSpace *design, RgArithmetic *variance,
                                    RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscCall(rg_arithmetic_parse_inputs(&parser, design, variance));
  return rg_expression_expect_end(&parser, "formula");
}

PetscErrorCode rg_noise_create(const RgNoiseSettings *settings, double constant,
                               const RgSpace *design, RgNoise *noise)
{
  RgText mistake = {0};

  *noise = (RgNoise){.design = design, .constant = constant};
  PetscCall(PetscCalloc1(design->dim, &noise->seen));
  if (settings->variance)
    PetscCall(read_variance(settings->variance, design, &noise->variance, &mistake));
  if (settings->law) PetscCall(rg_distribution_parse(settings->law, &noise->law, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", mistake.data);
  return 0;
}

PetscErrorCode rg_noise_destroy(RgNoise *noise)
{
  PetscCall(rg_arithmetic_clear(&noise->variance));
  PetscCall(rg_distribution_destroy(&noise->law));
  return PetscFree(noise->seen);
}

PetscErrorCode rg_noise_variance(const RgNoise *noise, const double *x, double *variance,
                                 RgText *mistake)
{
  *variance = noise->constant;
  if (!noise->variance.n) return 0;
  rg_space_seen(noise->design, x, noise->seen);
  *variance = rg_arithmetic_value(&noise->variance, noise->seen);
  if (*variance >= 0 && isfinite(*variance)) return 0;
  PetscCall(isnan(*variance) ? rg_text_add(mistake, "it is no number at")
                             : rg_text_add(mistake, "it is %g at", *variance));
  PetscCall(rg_space_print_seen(noise->design, noise->seen, mistake));
  return rg_text_add(mistake, ", and a variance is finite and at least 0");
}

double rg_noise_draw(const RgNoise *noise, double variance, RgRandom *random)
{
  return sqrt(variance) *
         (noise->law.n ? rg_distribution_sample(&noise->law, random) : rg_random_normal(random));
}

/* ---- the check over the designs -------------------------------------------------------------- */

enum { SCANNED = 4096, CORNERS_DIM = 10 };
#define POLE 1e12     /* a variance above this, and so much above those of the scan, is that of */
#define POLE_RISE 1e6 /* a pole between designs */

/* A walk over designs of the unit cube. It ends at the first one without a variance. */
typedef struct {
  const RgNoise *noise;
  double *native, *least, *most; /* dim each: room; the designs with the extreme variances */
  double low, high, sum, mean;
  int n;
  RgText mistake;
} Scan;

static PetscErrorCode visit(Scan *scan, const double *x, bool counts, double *variance)
{
  const int dim = scan->noise->design->dim;

  if (scan->mistake.length) return 0;
  rg_space_to_native(scan->noise->design, x, scan->native);
  PetscCall(rg_noise_variance(scan->noise, scan->native, variance, &scan->mistake));
  if (scan->mistake.length || !counts) return 0;
  if (*variance < scan->low) PetscCall(PetscArraycpy(scan->least, x, dim));
  if (*variance > scan->high) PetscCall(PetscArraycpy(scan->most, x, dim));
  scan->low = fmin(scan->low, *variance);
  scan->high = fmax(scan->high, *variance);
  scan->sum += *variance;
  scan->n++;
  return 0;
}

/* Move x (dim) by steps along the axes to ever smaller values of sign * variance, until the steps
   vanish: a pole, or a small region below 0, is between the points of any scan. */
static PetscErrorCode descend(Scan *scan, double sign, double *x, double *best)
{
  double value = 0;

  PetscCall(visit(scan, x, false, best));
  for (double step = 0.125; step > 1e-17; step /= 2)
    for (int move = 0; move < 2 * scan->noise->design->dim; move++) {
      const int j = move / 2;
      const double at = x[j];
      x[j] = fmin(fmax(move % 2 ? at + step : at - step, 0), 1);
      PetscCall(visit(scan, x, false, &value));
      if (scan->mistake.length) return 0;
      if (sign * value < sign * *best) *best = value;
      else x[j] = at;
    }
  return 0;
}

/* Visit the points of a finite design. On a box visit its centre, its corners, Sobol points, and
   what descends from the extremes. */
static PetscErrorCode scan_designs(Scan *scan, const RgSpace *design)
{
  const int dim = design->dim, n = rg_space_is_finite(design) ? design->size : SCANNED;
  const int corners = rg_space_is_finite(design) ? 0 : 1 << PetscMin(dim, CORNERS_DIM);
  double *points = design->points, *x, value;

  PetscCall(PetscMalloc1(dim, &x));
  if (corners) {
    PetscCall(PetscMalloc1((size_t)n * dim, &points));
    PetscCall(rg_sobol_points(n, dim, points));
  }
  for (int i = 0; i < n; i++) PetscCall(visit(scan, points + (size_t)i * dim, true, &value));
  scan->mean = scan->low == scan->high ? scan->low : scan->sum / scan->n;
  for (int k = 0; k < corners; k++) { /* bit j % CORNERS_DIM of k is coordinate j */
    for (int j = 0; j < dim; j++) x[j] = k >> j % CORNERS_DIM & 1;
    PetscCall(visit(scan, x, true, &value));
  }
  if (corners && !scan->mistake.length) {
    PetscCall(descend(scan, 1, scan->least, &value));
    PetscCall(descend(scan, -1, scan->most, &value));
    if (value > POLE && value > POLE_RISE * scan->high)
      PetscCall(
        rg_text_add(&scan->mistake, "it grows without a bound between designs, to %.3g", value));
  }
  if (corners) PetscCall(PetscFree(points));
  return PetscFree(x);
}

static PetscErrorCode check_variance(const RgSpace *design, RgNoiseSettings *settings,
                                     RgText *mistake)
{
  RgNoise noise = {.design = design};
  Scan scan = {.noise = &noise, .low = INFINITY, .high = -INFINITY};
  const int dim = design->dim;

  settings->mean = NAN;
  if (!settings->variance) return 0;
  PetscCall(read_variance(settings->variance, design, &noise.variance, mistake));
  if (!mistake->length) {
    PetscCall(PetscCalloc4(dim, &noise.seen, dim, &scan.native, dim, &scan.least, dim, &scan.most));
    PetscCall(scan_designs(&scan, design));
    PetscCall(PetscFree4(noise.seen, scan.native, scan.least, scan.most));
    settings->mean = scan.mean;
    if (scan.mistake.length) PetscCall(rg_text_add(mistake, "%s", scan.mistake.data));
  }
  PetscCall(rg_text_clear(&scan.mistake));
  return rg_arithmetic_clear(&noise.variance);
}

PetscErrorCode rg_noise_check(const RgSpace *design, const char *label, double constant, bool known,
                              RgNoiseSettings *noise, RgDiagnostics *found)
{
  RgText variance = {0}, law = {0};
  RgDistribution e = {0};

  PetscCall(check_variance(design, noise, &variance));
  if (noise->law) PetscCall(rg_distribution_parse(noise->law, &e, &law));
  if (noise->law && !law.length &&
      !(rg_distribution_cdf(&e, -1e-12) <= 0.5 + 1e-9 &&
        rg_distribution_cdf(&e, 1e-12) >= 0.5 - 1e-9))
    PetscCall(rg_text_add(&law, "its median is %.3g, and that of a law of noise is 0",
                          rg_distribution_quantile(&e, 0.5)));
  PetscCall(rg_distribution_destroy(&e));
  if (variance.length)
    rg_diagnostics_add(found, noise->place[0],
                       "the 'variance' of the noise of '%s' is \"%.100s\": %s", label,
                       noise->variance, variance.data);
  if (law.length)
    rg_diagnostics_add(found, noise->place[1], "the 'law' of the noise is \"%.100s\": %s",
                       noise->law, law.data);
  if (noise->variance && constant > 0)
    rg_diagnostics_add(found, noise->place[0],
                       "the noise has two variances: 'noise_variance' and the 'variance' of "
                       "'noise'; accepted is one of them");
  if (!noise->variance && !(constant > 0) && rg_noise_counts(noise))
    rg_diagnostics_add(found, noise->place[noise->law ? 1 : 2],
                       "'noise' has a 'law' or 'told' and no 'variance': without one there is no "
                       "noise");
  if (noise->told != 1 && !known)
    rg_diagnostics_add(found, noise->place[2],
                       "the noise is 'told' wrongly, and 'noise_known: false' tells it to nobody");
  PetscCall(rg_text_clear(&variance));
  return rg_text_clear(&law);
}
