/* rrgp_ucb section 8, O1: measures and their bounds on five weighted contexts. */
#include "test_main.h"

#include "regatta/measure.h"

enum { CONTEXTS = 5 };
static const double p[] = {.10, .20, .30, .25, .15};
static const double l[] = {-.7, .1, -.2, .5, 1.1}, u[] = {.4, .9, .3, 1.6, 1.5};

static void parse(const char *text, RgMeasure *measure)
{
  RgText mistake = {0};

  RG_OK(rg_measure_parse(text, measure, &mistake));
  if (mistake.data) fail_msg("%s: %s", text, mistake.data);
}

static void check(const char *text, double lower, double value, double upper)
{
  RG_OWNED(rg_measure_destroy) RgMeasure measure;
  double middle[CONTEXTS], low, up, F;

  for (int i = 0; i < CONTEXTS; i++) middle[i] = 0.5 * (l[i] + u[i]);
  parse(text, &measure);
  RG_OK(rg_measure_bounds(&measure, 1, CONTEXTS, l, u, p, &low, &up));
  RG_OK(rg_measure_value(&measure, 1, CONTEXTS, middle, p, &F));
  RG_CLOSE(low, lower, 1e-11);
  RG_CLOSE(F, value, 1e-11);
  RG_CLOSE(up, upper, 1e-11);
}

RG_TEST(table_of_measures)
{
  check("expectation", 0.18, 0.5575, 0.935);
  check("worst", -0.7, -0.15, 0.3);
  check("best", 1.1, 1.3, 1.6);
  check("var(0.35)", -0.2, 0.05, 0.4);
  check("var(0.60)", 0.1, 0.5, 0.9);
  check("cvar(0.35)", -0.342857142857, -0.00714285714286, 0.314285714286);
  check("mad", 0.02475, 0.469, 1.224);
  check("variance", 0.00408375, 0.27131875, 1.558695);
  check("sd", 0.0639042252124, 0.52088266433, 1.24847707228);
  check("ptr(0.3)", 0.4, 0.6, 1.0);
  check("expectation - 2*mad", -2.268, -0.3805, 0.8855);
  check("robust(expectation, nominal, pmf(.3, .2, .2, .2, .1))", -0.02, 0.405, 0.83);
  check("robust(expectation, l1 = 0.25)", -0.045, 0.37625, 0.7725);
}

/* Intervals so wide that every deviation may be 0. */
RG_TEST(wide_intervals)
{
  const char *texts[] = {"mad", "variance"};
  double upper[] = {6.469, 41.89931875}, wl[CONTEXTS], wu[CONTEXTS], low, up;

  for (int i = 0; i < CONTEXTS; i++) {
    wl[i] = 0.5 * (l[i] + u[i]) - 3.0;
    wu[i] = wl[i] + 6.0;
  }
  for (int k = 0; k < 2; k++) {
    RG_OWNED(rg_measure_destroy) RgMeasure measure;

    parse(texts[k], &measure);
    RG_OK(rg_measure_bounds(&measure, 1, CONTEXTS, wl, wu, p, &low, &up));
    RG_CLOSE(low, 0.0, 1e-15);
    RG_CLOSE(up, upper[k], 1e-13);
  }
}

/* The integral form of CVaR, not the mean of what is below the value at risk. */
RG_TEST(cvar_is_an_integral)
{
  const double f[] = {0.0, 1.0}, half[] = {0.5, 0.5};
  RG_OWNED(rg_measure_destroy) RgMeasure measure;
  double F;

  parse("cvar(0.6)", &measure);
  RG_OK(rg_measure_value(&measure, 1, 2, f, half, &F));
  RG_CLOSE(F, 1.0 / 6.0, 1e-12);
  RG_OK(rg_measure_value(&measure, 1, 2, f, NULL, &F)); /* equal probabilities */
  RG_CLOSE(F, 1.0 / 6.0, 1e-12);
}
