/* SBO-KDE study: laws of contexts and problems (sbo_kde 8, O1, O2, O15, O18; wdrbo 8, O1 to O7,
   O21). */
#include <stdlib.h>

#include "maths/law.h"
#include "regret/optimum.h"
#include "test_problem.h"
#include "oracle/laws.h"

/* ---- laws ------------------------------------------------------------------------------------ */

RG_TEST(mixture_law)
{
  RgDistribution law;
  RG_OWNED(rg_quadrature_destroy) RgQuadrature rule;
  double total = 0;

  law_make(MIXTURE, &law);
  RG_CLOSE(rg_distribution_cdf(&law, 0), 0.0049681903911737, 1e-14);
  RG_CLOSE(1 - rg_distribution_cdf(&law, 1), 0.004964195779457, 1e-14);
  rg_distribution_clip(&law, 0, 1);
  RG_CLOSE(rg_distribution_cdf(&law, 0), 0.0049681903911737, 1e-14);
  RG_CLOSE(1 - rg_distribution_cdf(&law, nextafter(1, 0)), 0.004964195779457, 1e-14);
  RG_OK(rg_distribution_quadrature(&law, 40, 0, NULL, &rule));
  for (int i = 0; i < rule.n; i++) total += rule.weight[i];
  RG_CLOSE(total, 1, 1e-12);
  for (double p = 0.01; p < 1; p += 0.07) {
    const double x = rg_distribution_quantile(&law, p);
    assert_true(x >= 0 && x <= 1);
    if (x > 0 && x < 1) RG_CLOSE(rg_distribution_cdf(&law, x), p, 1e-12);
  }
  RG_OK(rg_distribution_destroy(&law));
  law_make("clip(normal(0.5, 0.15), 0, 1)", &law);
  RG_CLOSE(rg_distribution_cdf(&law, 0), 0.00042906033319684, 1e-15);
  RG_OK(rg_distribution_destroy(&law));
  law_make("burr(2, 20)", &law);
  RG_CLOSE(rg_distribution_quantile(&law, 0.3), 0.13414066501708, 1e-13);
  RG_CLOSE(rg_distribution_quantile(&law, 0.9), 0.34931140018895, 1e-13);
  RG_OK(rg_distribution_destroy(&law));
}

/* Draws follow the law: Kolmogorov's distance of 4000 stays below its 99.99% quantile. */
RG_TEST(draws_follow_the_law)
{
  static const char *const laws[] = {"normal(0.5, 0.1)", "uniform(-1, 2)", "cauchy(0.2, 0.02)",
                                     "burr(2, 20)", MIXTURE};
  enum { N = 4000 };
  double draws[N];

  for (size_t l = 0; l < sizeof laws / sizeof *laws; l++) {
    const RgStream stream = rg_stream(1, "law", l, "context", 0);
    RG_OWNED(rg_distribution_destroy) RgDistribution law;
    double worst = 0;
    law_make(laws[l], &law);
    for (int i = 0; i < N; i++) {
      RgRandom random = rg_stream_at(&stream, (uint64_t)i);
      draws[i] = rg_distribution_sample(&law, &random);
    }
    RG_OK(PetscSortReal(N, draws));
    for (int i = 0; i < N; i++)
      worst = fmax(worst, fabs(rg_distribution_cdf(&law, draws[i]) - (i + 0.5) / N));
    assert_true(worst < 2.23 / sqrt(N));
  }
}

RG_TEST(mistakes_in_laws)
{
  static const char *const wrong[][2] = {{"normal(0.5, 0)", "deviation > 0"},
                                         {"normal(0.5)", "',' expected"},
                                         {"cauchy(0, -1)", "scale > 0"},
                                         {"uniform(1, 1)", "lower < upper"},
                                         {"burr(0, 1)", "alpha > 0"},
                                         {"norma(0, 1)", "did you mean 'normal'"},
                                         {"mixture(2 * normal(0, 1), point(1))", "either all"},
                                         {"mixture(0 * point(1))", "must be > 0"},
                                         {"clip(point(1), 2, 1)", "lower < upper"},
                                         {"normal(0, 1) x", "nothing expected"},
                                         {"normal(nan, 1)", "finite number"},
                                         {"", "a law expected"},
                                         {"point(1/2/4)", ""},
                                         {"point(1/0)", ""},
                                         {"point(1e300/1e-300)", ""}};

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    RgDiagnostics found = {0};
    RG_OK(rg_law_check("law", wrong[i][0], (RgPlace){0}, &found));
    assert_int_equal(found.n, 1);
    if (!strstr(found.list[0].message, wrong[i][1]))
      fail_msg("%s: %s", wrong[i][0], found.list[0].message);
  }
}

RG_TEST(laws_read_back)
{
  RG_OWNED(rg_distribution_destroy) RgDistribution law;

  law_make("mixture(1 * clip(normal(0.1, 0.2), 0, 1), 3 * mixture(point(2), burr(2, 3)))", &law);
  RG_CLOSE(rg_distribution_cdf(&law, 2) - rg_distribution_cdf(&law, nextafter(2, 0)), 0.375, 1e-14);
}

/* ---- problems -------------------------------------------------------------------------------- */

static double f_at(RgProblem *problem, const double *x, const double *c)
{
  const RgPoint point = {.index = -1, .x = x, .context_index = -1, .c = c};
  RgFailure failure = {0};
  double f;

  RG_OK(rg_problem_evaluate(problem, 1, &point, &f, &failure));
  return f;
}

#define WIDE "normal(0.5, 0.2)"

/* f at x and c, and F at x; NaN: not given. shift_example has x in [-1, 1]. */
static const struct {
  const char *name;
  Setting settings[3];
  double x[5], c[4], f, F;
} cases[] = {
  {"shift_example", {{0}}, {0}, {.5}, 0.77639320225002, NAN},
  {"shift_example", {{0}}, {-.3}, {.8}, -0.19160797830996, NAN},
  {"shift_example", {{0}}, {1}, {0}, -0.44136174326263, NAN},
  {"shift_example", {{"law", "normal(0.5, 0.1)"}}, {0}, {.5}, NAN, 0.37745092184859},
  {"shift_example", {{0}}, {0.23874794321522}, {.5}, NAN, 0.05439779480125},
  {"ackley_context", {{"dim", "1"}, {"law", WIDE}}, {.5}, {.5}, 0, -13.853928029352},
  {"ackley_context", {{"dim", "1"}, {"law", WIDE}}, {.3}, {.7}, -19.079337819753, NAN},
  {"ackley_context", {{"dim", "1"}, {"law", WIDE}}, {.25}, {.5}, NAN, -20.677569817696},
  {"ackley_context", {{"law", WIDE}}, {.5, .25}, {.8}, -20.765254076411, NAN},
  {"ackley_context", {{"law", WIDE}}, {.25, .25}, {.8}, NAN, -21.056779039364},
  {"ackley_context", {{"law", WIDE}}, {.5, .5}, {.8}, NAN, -12.531436760119},
  {"hartmann_context", {{"law", WIDE}}, {.2, .15, .477, .275, .311}, {.657}, 3.322305690787, NAN},
  {"hartmann_context", {{"law", WIDE}}, {.5, .5, .5, .5, .5}, {.5}, 0.50531499170223, NAN},
  {"hartmann_context",
   {{"law", WIDE}},
   {.2185, .1531, .4913, .2764, .3199},
   {.5},
   NAN,
   2.3109563110536},
  {"modified_branin", {{"law", WIDE}}, {.3, .4}, {.6, .7}, -30.534622782825, NAN},
  {"newsvendor", {{0}}, {.3}, {.2}, 0.4, NAN},
  {"newsvendor", {{0}}, {.2}, {.3}, 0.8, NAN},
  {"newsvendor", {{0}}, {.1}, {.3}, NAN, 0.34985823921558},
  {"newsvendor", {{0}}, {.2}, {.3}, NAN, 0.46180128020951},
  {"newsvendor", {{0}}, {.5}, {.3}, NAN, -0.38959955178899},
  {"newsvendor", {{0}}, {1}, {.3}, NAN, -2.384149587638},
  {"three_humps_camel", {{0}}, {0}, {1}, -1.1166666666667, NAN},
  {"three_humps_camel", {{0}}, {1}, {1}, -3.1166666666667, NAN},
  {"ackley_context", {{0}}, {.3, .7}, {.6}, -19.423197796515, -19.092328255254},
  {"ackley_context",
   {{"context_dim", "4"}},
   {.3, .7},
   {.6, .4, .55, .2},
   -19.963421335218,
   -18.946872204666},
  {"ackley_context", {{"dim", "1"}, {"law", WIDE}}, {.25}, {.7}, NAN, -20.677569817696},
  {"modified_branin", {{0}}, {.3, .6}, {.45, .7}, -38.00502604432, -30.171661955934},
  {"modified_branin", {{"law", WIDE}}, {.5, .5}, {.6, .7}, NAN, -28.628207998531},
  {"hartmann_context", {{0}}, {.2, .15, .48, .27, .31}, {.66}, 3.3210939149313, 2.6127363291873},
  {"hartmann_context", {{"alpha_2", "2"}}, {.2, .15, .48, .27, .31}, {.66}, 3.3280319795425, NAN},
  {"hartmann_context",
   {{"law", MIXTURE}},
   {.2, .15, .48, .27, .31},
   {.66},
   3.3210939149313,
   1.9442866798391},
  {"newsvendor", {{0}}, {.3}, {.35}, NAN, 0.30515336428747},
  {"three_humps_camel", {{0}}, {.75}, {.35}, -0.37697916666667, -0.59338876401912},
  {"three_humps_camel", {{"law", "uniform(0, 1)"}}, {.75}, {.35}, -0.37697916666667, -0.7703125},
  {"shift_example", {{0}}, {.3}, {.8}, -0.19160797830996, NAN},
};

RG_TEST(values)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    RG_OWNED(instance_free) Instance it = instance_make(cases[i].name, cases[i].settings, 1, 0);
    if (!isnan(cases[i].f)) RG_CLOSE(f_at(&it.problem, cases[i].x, cases[i].c), cases[i].f, 1e-11);
    if (!isnan(cases[i].F)) RG_CLOSE(value_at(&it.problem, cases[i].x), cases[i].F, 1e-11);
  }
}

RG_TEST(optima)
{
  static const struct {
    const char *name;
    Setting settings[3];
    double optimum, accuracy;
  } rows[] = {
    {"hartmann_context", {{"law", WIDE}}, 2.3169168017879, 1e-9},
    {"hartmann_context", {{"alpha_2", "2"}, {"law", MIXTURE}}, 1.9530037545, 1e-9},
    {"ackley_context", {{0}}, -10.9522712419, 1e-10},
    {"ackley_context", {{"context_dim", "4"}}, -16.1995715128, 1e-10},
    {"ackley_context", {{"dim", "1"}, {"law", WIDE}}, -13.853928029352, 1e-11},
    {"modified_branin", {{0}}, -9.6039098378, 1e-9},
    {"modified_branin", {{"law", WIDE}}, -16.064257804966, 1e-9},
    {"hartmann_context", {{0}}, 2.6135648357, 1e-9},
    {"hartmann_context", {{"alpha_2", "2"}}, 2.6156649068, 1e-9},
    {"hartmann_context", {{"law", MIXTURE}}, 1.9451502521, 1e-9},
    {"newsvendor", {{0}}, 0.46394307290227, 1e-12},
    {"three_humps_camel", {{0}}, -0.15640959735245, 1e-12},
    {"three_humps_camel", {{"law", "uniform(0, 1)"}}, -1.0 / 3, 1e-12},
    {"shift_example", {{0}}, 0.05439779480125, 1e-10},
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    RG_OWNED(instance_free) Instance it = instance_make(rows[i].name, rows[i].settings, 1, 0);
    RgFailure failure = {0};
    double optimum;
    RG_OK(rg_regret_optimum(&it.problem, &optimum, NULL, &failure));
    RG_CLOSE(optimum, rows[i].optimum, rows[i].accuracy);
  }
}

/* F by quasi-Monte Carlo agrees with the exact one within its own estimate of its error. */
RG_TEST(quasi_monte_carlo_agrees)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Setting *own = cases[i].settings;
    if (isnan(cases[i].F)) continue;
    const Setting settings[] = {{"expectation", "qmc"},
                                {"expectation_points", "16384"},
                                {own[0][0], own[0][1]},
                                {own[1][0], own[1][1]},
                                {NULL, NULL}};
    RG_OWNED(instance_free) Instance plain = instance_make(cases[i].name, own, 1, 0);
    RG_OWNED(instance_free) Instance qmc = instance_make(cases[i].name, settings, 1, 0);
    const double difference =
      value_at(&plain.problem, cases[i].x) - value_at(&qmc.problem, cases[i].x);
    assert_true(qmc.problem.objective_error > 0 && qmc.problem.objective_error < 0.05);
    assert_true(fabs(difference) < 4 * qmc.problem.objective_error + 1e-9);
  }
}

/* The search with a rough F ends at the optimum of the fine one. */
RG_TEST(optimum_of_a_sampled_objective)
{
  static const Setting settings[] = {{"expectation", "qmc"}, {"expectation_points", "65536"}, {0}};
  static const struct {
    const char *name;
    double optimum;
  } rows[] = {{"newsvendor", 0.46394307290227}, {"modified_branin", -9.6039098378}};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    RG_OWNED(instance_free) Instance instance = instance_make(rows[i].name, settings, 1, 0);
    RgFailure failure = {0};
    double optimum, x[2];
    assert_true(instance.problem.has_draft);
    RG_OK(rg_regret_optimum_at(&instance.problem, &optimum, x, &failure));
    assert_false(instance.problem.draft);
    RG_CLOSE(optimum, rows[i].optimum, 2e-4);
    RG_CLOSE(value_at(&instance.problem, x), optimum, 1e-13);
    for (int j = 0; j < instance.problem.domain.design.dim; j++)
      for (int side = -1; side <= 1; side += 2) { /* a maximum of the fine F */
        double near[2] = {x[0], x[1]};
        near[j] += side * 1e-4;
        assert_true(value_at(&instance.problem, near) <= optimum);
      }
  }
}

RG_TEST(portfolio_surrogate)
{
  static const double z[][6] = {{.949, .171, .208, .110, .376, -0.686839796602},
                                {.320, .088, .534, .167, .847, -1.125003285246},
                                {.169, .752, .051, .611, .581, -3.633888134370},
                                {.739, .974, .849, .530, .179, -2.060737531588},
                                {.919, .359, .343, .554, .054, -1.539903531127},
                                {.5, .5, .5, .5, .5, -1.691287912236},
                                {.1, .9, .3, .2, .7, -1.363659527481}};
  const Setting settings[] = {{"law", "point(0.5)"}, {NULL}};

  if (!getenv("REGATTA_DATA")) skip();
  Instance instance = instance_make("portfolio", settings, 1, 0);
  for (size_t i = 0; i < sizeof z / sizeof *z; i++)
    RG_CLOSE(f_at(&instance.problem, z[i], z[i] + 3), -z[i][5], 1e-8);
  /* with the context known F is f: the tables against the posterior mean */
  for (size_t i = 0; i < sizeof z / sizeof *z; i++)
    RG_CLOSE(value_at(&instance.problem, z[i]),
             f_at(&instance.problem, z[i], (const double[]){0.5, 0.5}), 1e-6);
  instance_free(&instance);
  const Setting other[] = {{"variant", "wdrbo"}, {"law", "normal(0.5, 0.2)"}, {NULL}};
  const double zero[5] = {0}, half[5] = {.5, .5, .5, .5, .5}, odd[5] = {.2, .4, .6, .8, .1};
  instance = instance_make("portfolio", other, 1, 0);
  RG_CLOSE(f_at(&instance.problem, half, half + 3), 1.702763299589, 1e-8);
  RG_CLOSE(f_at(&instance.problem, odd, odd + 3), 6.8895878626863, 1e-8);
  RG_CLOSE(f_at(&instance.problem, zero, zero), -1.0677660788727, 1e-8);
  RG_CLOSE(value_at(&instance.problem, half), 1.8755864042535, 1e-8);
  instance_free(&instance);
}

RG_TEST(portfolio_expectations)
{
  static const struct {
    Setting settings[3];
    double F, optimum;
  } rows[] = {
    {{{"law", "uniform(0, 1)"}}, 2.177004443, 19.32512515},
    {{{"law", "normal(0.5, 0.1)"}}, 1.718872142, 21.5862387813},
    {{{"law", "uniform(0, 1)"}, {"variant", "wdrbo"}}, 2.1832403500793, 18.083141821036},
    {{{"law", "normal(0.5, 0.2)"}, {"variant", "wdrbo"}}, 1.8755864042535, 19.749013871524}};
  const double half[3] = {.5, .5, .5};

  if (!getenv("REGATTA_DATA")) skip();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    RG_OWNED(instance_free) Instance instance = instance_make("portfolio", rows[i].settings, 1, 0);
    RgFailure failure = {0};
    double optimum;
    RG_CLOSE(value_at(&instance.problem, half), rows[i].F, 1e-9);
    RG_OK(rg_regret_optimum(&instance.problem, &optimum, NULL, &failure));
    RG_CLOSE(optimum, rows[i].optimum, 1e-8);
  }
}
