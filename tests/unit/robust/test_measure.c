#include "test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "regatta/stream.h"
#include "regatta/measure.h"

enum { DESIGNS = 6, CONTEXTS = 37, CASES = 40, INSIDE = 20 };

static const char *const measures[] = {"expectation",
                                       "worst",
                                       "best",
                                       "var(0.05)",
                                       "var(0.5)",
                                       "cvar(0.3)",
                                       "cvar(0.999)",
                                       "mad",
                                       "sd",
                                       "variance",
                                       "ptr(0.2)",
                                       "expectation - 4*mad",
                                       "0.5*cvar(0.1) + 0.5*expectation",
                                       "-2*sd + best - 0.25",
                                       "robust(expectation, l1 = 0.3)",
                                       "tanh(robust(cvar(0.2), nominal))",
                                       "clip(expectation - mad, -0.5, 0.3)",
                                       "exp(-(worst - best))",
                                       "robust(expectation - 2*robust(mad, nominal), nominal)"};
enum { N_MEASURES = sizeof measures / sizeof *measures };

static void parse(const char *text, RgMeasure *measure)
{
  RgText mistake = {0};

  RG_OK(rg_measure_parse(text, measure, &mistake));
  if (mistake.data) fail_msg("%s: %s", text, mistake.data);
}

/* Random intervals (some empty, some values repeated) and probabilities. */
typedef struct {
  double l[DESIGNS * CONTEXTS], u[DESIGNS * CONTEXTS], p[CONTEXTS];
} Case;

static void draw_case(RgRandom *random, Case *c)
{
  double total = 0.0;

  for (int j = 0; j < CONTEXTS; j++) total += c->p[j] = rg_random_exponential(random);
  for (int j = 0; j < CONTEXTS; j++) c->p[j] /= total;
  for (int i = 0; i < DESIGNS * CONTEXTS; i++) {
    c->l[i] = rg_random_normal(random);
    if (i % 5 == 0) c->l[i] = 0.25 * round(4.0 * c->l[i]);
    c->u[i] = c->l[i] + (i % 7 == 0 ? 0.0 : rg_random_exponential(random));
  }
}

/* rho(g) is inside for every g between l and u, at their ends and within; lower = upper = rho where
   l = u. */
static void check_inside(const RgMeasure *measure, const char *text, RgRandom *random,
                         const Case *c, const double *lower, const double *upper)
{
  double g[DESIGNS * CONTEXTS], F[DESIGNS], same[DESIGNS];

  for (int s = 0; s < INSIDE; s++) {
    for (int i = 0; i < DESIGNS * CONTEXTS; i++) {
      double r = rg_random_uniform(random);
      if (s % 3 == 0) r = r < 0.5 ? 0.0 : 1.0;
      g[i] = s == 1 ? 0.5 * (c->l[i] + c->u[i]) : c->l[i] + r * (c->u[i] - c->l[i]);
    }
    RG_OK(rg_measure_value(measure, DESIGNS, CONTEXTS, g, c->p, F));
    RG_OK(rg_measure_bounds(measure, DESIGNS, CONTEXTS, g, g, c->p, NULL, same));
    for (int i = 0; i < DESIGNS; i++) {
      if (!(lower[i] <= F[i] + 1e-12 && F[i] <= upper[i] + 1e-12))
        fail_msg("%s: %.17g outside [%.17g, %.17g]", text, F[i], lower[i], upper[i]);
      RG_CLOSE(same[i], F[i], 1e-12);
    }
  }
}

/* Wider intervals never give tighter bounds, and the slope holds (rrgp_ucb 7). */
static void check_nested(const RgMeasure *measure, RgRandom *random, Case *c, const double *lower,
                         const double *upper)
{
  const double slope = rg_measure_slope(measure);
  double low[DESIGNS], up[DESIGNS];

  for (int i = 0; i < DESIGNS; i++) {
    double widest = 0.0;
    for (int j = i * CONTEXTS; j < (i + 1) * CONTEXTS; j++)
      widest = fmax(widest, c->u[j] - c->l[j]);
    if (!isnan(slope)) assert_true(upper[i] - lower[i] <= slope * widest + 1e-12);
  }
  for (int i = 0; i < DESIGNS * CONTEXTS; i++) {
    c->l[i] -= 0.3 * rg_random_uniform(random);
    c->u[i] += 0.3 * rg_random_uniform(random);
  }
  RG_OK(rg_measure_bounds(measure, DESIGNS, CONTEXTS, c->l, c->u, c->p, low, up));
  for (int i = 0; i < DESIGNS; i++)
    assert_true(low[i] <= lower[i] + 1e-12 && upper[i] <= up[i] + 1e-12);
}

RG_TEST(bounds_hold_and_nest)
{
  RgStream stream = rg_stream(1, "measure", 0, "cases", 0);

  for (int m = 0; m < N_MEASURES; m++) {
    RgMeasure measure;
    RgRandom random = rg_stream_at(&stream, (uint64_t)m);
    parse(measures[m], &measure);
    for (int k = 0; k < CASES; k++) {
      Case c;
      double lower[DESIGNS], upper[DESIGNS];
      draw_case(&random, &c);
      RG_OK(rg_measure_bounds(&measure, DESIGNS, CONTEXTS, c.l, c.u, c.p, lower, upper));
      check_inside(&measure, measures[m], &random, &c, lower, upper);
      check_nested(&measure, &random, &c, lower, upper);
    }
    RG_OK(rg_measure_destroy(&measure));
  }
}

/* The measure of one design. */
static double value_of(const char *text, int n, const double *f, const double *p)
{
  RgMeasure measure;
  double value;

  parse(text, &measure);
  RG_OK(rg_measure_value(&measure, 1, n, f, p, &value));
  RG_OK(rg_measure_destroy(&measure));
  return value;
}

/* A value at risk whose level is exactly the mass up to a value is this value. */
RG_TEST(quantile_at_a_step)
{
  const double f[] = {2, 3, 1}, p[] = {0.25, 0.5, 0.25};

  assert_true(value_of("var(0.25)", 3, f, p) == 1);
  assert_true(value_of("var(0.5)", 3, f, p) == 2);
}

/* Two contexts far apart: the bounds of the mean absolute deviation are as wide as its slope allows. */
RG_TEST(slope_of_mad_is_attained)
{
  const double l[] = {0, 10}, u[] = {1, 11}, p[] = {0.5, 0.5};
  double lower, upper;
  RgMeasure measure;

  parse("mad", &measure);
  RG_OK(rg_measure_bounds(&measure, 1, 2, l, u, p, &lower, &upper));
  RG_CLOSE(upper - lower, rg_measure_slope(&measure), 1e-14);
  RG_OK(rg_measure_destroy(&measure));
}

/* mean -/+ width sd without storing it. */
RG_TEST(credible_bounds_are_bounds)
{
  RgStream stream = rg_stream(1, "measure", 0, "credible", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  RgMeasure measure;
  Case c;
  double mean[DESIGNS * CONTEXTS], variance[DESIGNS * CONTEXTS], a[DESIGNS], b[DESIGNS],
    lower[DESIGNS], upper[DESIGNS];

  draw_case(&random, &c);
  for (int i = 0; i < DESIGNS * CONTEXTS; i++) {
    mean[i] = 0.5 * (c.l[i] + c.u[i]);
    variance[i] = pow((c.u[i] - c.l[i]) / 6.0, 2);
  }
  for (int m = 0; m < N_MEASURES; m++) {
    parse(measures[m], &measure);
    RG_OK(rg_measure_bounds(&measure, DESIGNS, CONTEXTS, c.l, c.u, c.p, a, b));
    RG_OK(rg_measure_credible_bounds(
      &measure, &(RgCredible){DESIGNS, CONTEXTS, mean, variance, 3.0}, c.p, lower, upper));
    for (int i = 0; i < DESIGNS; i++) {
      if (!strncmp(measures[m], "ptr", 3)) continue; /* a step: rounding may decide */
      RG_CLOSE(lower[i], a[i], 1e-12);
      RG_CLOSE(upper[i], b[i], 1e-12);
    }
    RG_OK(rg_measure_destroy(&measure));
  }
}

typedef struct {
  double v, w;
} Atom;

static int compare_atoms(const void *a, const void *b)
{
  double x = ((const Atom *)a)->v, y = ((const Atom *)b)->v;

  return (x > y) - (x < y);
}

/* Selection against sorting: quantiles and tails for many alpha, with ties. */
RG_TEST(quantiles_agree_with_sorting)
{
  RgStream stream = rg_stream(1, "measure", 0, "quantiles", 0);

  for (int k = 0; k < 300; k++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)k);
    Case c;
    Atom atoms[CONTEXTS];
    double alpha = k % 10 == 0 ? 0.5 : rg_random_uniform(&random), mass = 0.0, tail = 0.0;
    double left = alpha, quantile = NAN;
    char text[64];

    draw_case(&random, &c);
    for (int j = 0; j < CONTEXTS; j++) {
      if (k % 3 == 0) c.p[j] = 1.0 / CONTEXTS;
      atoms[j] = (Atom){c.l[j], c.p[j]};
    }
    qsort(atoms, CONTEXTS, sizeof *atoms, compare_atoms);
    for (int j = 0; j < CONTEXTS; j++) {
      mass += atoms[j].w;
      if (isnan(quantile) && mass >= alpha - 1e-12) quantile = atoms[j].v;
      tail += fmin(atoms[j].w, left) * atoms[j].v;
      left -= fmin(atoms[j].w, left);
    }
    snprintf(text, sizeof text, "cvar(%.17f)", alpha);
    RG_CLOSE(value_of(text, CONTEXTS, c.l, c.p), tail / alpha, 1e-11);
    RG_CLOSE(value_of(text + 1, CONTEXTS, c.l, c.p), quantile, 1e-11); /* var(..) */
  }
}

/* The canonical form reads back to itself. */
RG_TEST(canonical_form)
{
  static const char *const pairs[][2] = {
    {" expectation-4 * mad ", "expectation - 4*mad"},
    {"-(worst - 2*(best + 1))", "-worst + 2*best + 2"},
    {"1 + 0.50*cvar( .10 )", "0.5*cvar(0.1) + 1"},
    {"((sd))", "sd"},
    {"ptr(-1e-3)", "ptr(-0.001)"},
    {"robust(expectation,l1=.2)", "robust(expectation, l1 = 0.2)"},
    {"robust(mad - sd, pmf(.5,.5), nominal, pmf(1,0))",
     "robust(mad - sd, nominal, pmf(0.5, 0.5), pmf(1, 0))"},
    {"clip(tanh(exp(variance)), -1, 2)", "clip(tanh(exp(variance)), -1, 2)"}};

  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    for (int side = 0; side < 2; side++) {
      RgMeasure measure;
      RgText text = {0};
      parse(pairs[k][side], &measure);
      RG_OK(rg_measure_print(&measure, &text));
      assert_string_equal(text.data, pairs[k][1]);
      RG_OK(rg_text_clear(&text));
      RG_OK(rg_measure_destroy(&measure));
    }
  }
}

RG_TEST(mistakes_are_explained)
{
  static const char *const pairs[][2] = {
    {"", "column 1: a measure expected at the end"},
    {"expectatoin", "column 1: no measure is called 'expectatoin', did you mean 'expectation'?"},
    {"expectation - 4*", "column 17: a measure expected at the end"},
    {"3", "column 1: a number alone is no measure"},
    {"var", "column 1: 'var' is written var(alpha); 'variance' is the variance"},
    {"cvar(1.5)", "column 1: alpha of 'cvar' is 1.5; accepted: between 0 and 1"},
    {"cvar(0.1", "column 9: ')' expected at the end"},
    {"cvar(x)", "column 6: a number expected instead of 'x)'"},
    {"worst best", "column 7: '+', '-' or the end expected before 'best'"},
    {"worst + ?", "column 9: a measure expected instead of '?'"},
    {"robust(sd, l1 = 0.2)", "column 12: an L1 ball goes with 'expectation' only"},
    {"robust(sd, pmf(0.5, 0.6))", "column 12: the probabilities of pmf add up to 1.1, not 1"},
    {"robust(sd, ball)", "column 12: 'nominal', 'pmf(..)' or 'l1 = ..' expected"},
    {"clip(sd, 2, 1)", "column 1: the limits of 'clip' are 2 and 1; the first must be smaller"},
    {"1e999*sd", "column 1: '1e999*sd' is not a number"},
    {"robust(sd, pmf(1,0), pmf(1))", "column 22: pmf has 1 probabilities, the one before 2"}};
  RgDiagnostics diagnostics = {0};
  RgPlace place = {0};
  char deep[200];
  RgMeasure measure;
  RgText mistake = {0};

  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    RG_OK(rg_measure_parse(pairs[k][0], &measure, &mistake));
    assert_non_null(mistake.data);
    assert_string_equal(mistake.data, pairs[k][1]);
    assert_int_equal(measure.n_parts, 0);
  }
  memset(deep, '(', sizeof deep - 1);
  deep[sizeof deep - 1] = 0;
  RG_OK(rg_measure_parse(deep, &measure, &mistake));
  assert_string_equal(mistake.data, "column 33: nested deeper than 32");
  RG_OK(rg_text_clear(&mistake));

  RG_OK(rg_measure_check("worst", 3, place, &diagnostics));
  assert_int_equal(diagnostics.n, 0);
  RG_OK(rg_measure_check("1 - robust(sd, pmf(0.5, 0.5))", 3, place, &diagnostics));
  assert_int_equal(diagnostics.n, 1);
  assert_non_null(strstr(diagnostics.list[0].message, "pmf has 2 values for 3 contexts"));
  RG_OK(rg_measure_check("wurst", 3, place, &diagnostics));
  assert_int_equal(diagnostics.n, 2);
  assert_non_null(strstr(diagnostics.list[1].message, "did you mean 'worst'"));
}

/* ---- derivatives ------------------------------------------------------------------------- */

/* Derivatives against differences, where no two values are equal. */
RG_TEST(gradients)
{
  static const char *const smooth[] = {"expectation",
                                       "worst",
                                       "best",
                                       "var(0.25)",
                                       "cvar(0.3)",
                                       "mad",
                                       "sd",
                                       "variance",
                                       "expectation - 0.5*sd",
                                       "robust(expectation, l1 = 0.3)",
                                       "tanh(cvar(0.2))",
                                       "exp(mad)",
                                       "clip(expectation, -5, 5)",
                                       "clip(worst, 0, 1)"};
  const RgStream stream = rg_stream(7, "test", 0, "gradients", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double f[CONTEXTS], p[CONTEXTS], slope[CONTEXTS], total = 0;

  for (int j = 0; j < CONTEXTS; j++) total += p[j] = rg_random_exponential(&random);
  for (int j = 0; j < CONTEXTS; j++) p[j] /= total;
  for (int j = 0; j < CONTEXTS; j++) f[j] = rg_random_normal(&random);
  for (size_t m = 0; m < sizeof smooth / sizeof *smooth; m++) {
    RgMeasure measure;
    double value, up, down;
    parse(smooth[m], &measure);
    RG_OK(rg_measure_gradient(&measure, CONTEXTS, f, p, &value, slope));
    for (int j = 0; j < CONTEXTS; j++) {
      const double at = f[j], step = 1e-6;
      f[j] = at + step;
      RG_OK(rg_measure_value(&measure, 1, CONTEXTS, f, p, &up));
      f[j] = at - step;
      RG_OK(rg_measure_value(&measure, 1, CONTEXTS, f, p, &down));
      f[j] = at;
      if (!(fabs((up - down) / (2 * step) - slope[j]) < 1e-6))
        fail_msg("%s: %g at context %d, differences give %g", smooth[m], slope[j], j,
                 (up - down) / (2 * step));
    }
    RG_OK(rg_measure_destroy(&measure));
  }
}

/* K bounds the change when values move: a transport of the law over a distance moves f by at most
   L times it. */
RG_TEST(transport)
{
  static const struct {
    const char *text;
    double K;
  } cases[] = {{"expectation", 1},           {"cvar(0.2)", 5},       {"mad", 2},
               {"expectation - 3*mad", 7},   {"tanh(cvar(0.5))", 2}, {"worst", NAN},
               {"expectation - 0.5*sd", NAN}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    RgMeasure measure;
    parse(cases[i].text, &measure);
    const double K = rg_measure_transport(&measure);
    assert_true(isnan(cases[i].K) ? isnan(K) : fabs(K - cases[i].K) < 1e-12);
    RG_OK(rg_measure_destroy(&measure));
  }
}
