/* The laws of durations, which are laws of contexts too. */
#include "test_main.h"

#include "maths/distribution.h"
#include "study/schedule/crew.h"

static RgDistribution law_of(const char *text)
{
  RgDistribution law;
  RgText mistake = {0};

  RG_OK(rg_distribution_parse(text, &law, &mistake));
  if (mistake.data) fail_msg("%s: %s", text, mistake.data);
  return law;
}

/* Sums of the quadrature rule: the mass, the mean and the mean square. */
static void sum_rule(const RgDistribution *law, int n, double sums[3])
{
  RG_OWNED(rg_quadrature_destroy) RgQuadrature rule;

  RG_OK(rg_distribution_quadrature(law, n, 0, NULL, &rule));
  for (int k = 0; k < 3; k++) sums[k] = 0;
  for (int i = 0; i < rule.n; i++)
    for (int k = 0; k < 3; k++) sums[k] += rule.weight[i] * pow(rule.node[i], k);
}

/* Durations of mean 1 from one uniform number, in ticks. */
RG_TEST(durations_of_laws_are_coupled)
{
  static const struct {
    const char *law;
    int64_t ticks[4];
  } cases[] = {
    {"uniform(0, 2)", {200000, 1000000, 1800000, 1998000}},
    {"halfnormal(1.2533141373155001)", {157493, 845348, 2061518, 4124064}},
    {"exponential(1)", {105361, 693147, 2302585, 6907755}},
    {"pareto(5, 0.8)", {817037, 918959, 1267915, 3184857}},
    {"lognormal(-0.5, 1)", {168377, 606531, 2184860, 13332869}},
  };
  static const double u[] = {0.1, 0.5, 0.9, 0.999};

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    RG_OWNED(rg_distribution_destroy) RgDistribution law = law_of(cases[c].law);
    for (int k = 0; k < 4; k++)
      assert_int_equal(rg_ticks(rg_distribution_quantile(&law, u[k])), cases[c].ticks[k]);
  }
}

/* The quadrature rule gives the moments of the formulas; the quantile inverts the distribution function. */
RG_TEST(moments_and_quantiles)
{
  static const struct {
    const char *law;
    double mean, square;
  } cases[] = {
    {"halfnormal(2)", 1.5957691216057308, 4},
    {"exponential(0.7)", 0.7, 0.98},
    {"pareto(5, 0.8)", 1, 3.2 / 3},
    {"lognormal(0.3, 0.5)", 1.5295904196633787, 3.004166023946433},
  };

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    RG_OWNED(rg_distribution_destroy) RgDistribution law = law_of(cases[c].law);
    double sums[3];
    sum_rule(&law, 40, sums);
    RG_CLOSE(sums[0], 1, 1e-13);
    RG_CLOSE(sums[1], cases[c].mean, 1e-12);
    RG_CLOSE(sums[2], cases[c].square, 1e-9);
    for (double p = 1e-6; p < 1; p += 0.0371)
      RG_CLOSE(rg_distribution_cdf(&law, rg_distribution_quantile(&law, p)), p, 1e-14);
    RG_CLOSE(rg_distribution_cdf(&law, 0), 0, 0);
  }
}

/* Clipping leaves atoms that complete the mass. */
RG_TEST(clipped_laws_keep_their_mass)
{
  static const char *const texts[] = {"clip(halfnormal(1), 0.2, 1)", "clip(exponential(1), 0.2, 1)",
                                      "clip(pareto(3, 0.5), 0.6, 1)",
                                      "clip(lognormal(0, 1), 0.2, 1)"};

  for (size_t c = 0; c < sizeof texts / sizeof texts[0]; c++) {
    RG_OWNED(rg_distribution_destroy) RgDistribution law = law_of(texts[c]);
    double sums[3];
    sum_rule(&law, 20, sums);
    RG_CLOSE(sums[0], 1, 1e-13);
  }
}

RG_TEST(a_pareto_law_has_moments_below_its_power)
{
  RG_OWNED(rg_distribution_destroy)
  RgDistribution law = law_of("mixture(pareto(2, 1), lognormal(0, 3))");

  assert_true(rg_distribution_has_moments(&law, 0, 1.9));
  assert_false(rg_distribution_has_moments(&law, 0, 2));
}

RG_TEST(mistakes)
{
  static const struct {
    const char *text, *mistake;
  } cases[] = {
    {"halfnormal(0)", "column 1: halfnormal needs scale > 0, it is 0"},
    {"exponential(-1)", "column 1: exponential needs mean > 0, it is -1"},
    {"pareto(0, 1)", "column 1: pareto needs power > 0, it is 0"},
    {"pareto(5, 0)", "column 1: pareto needs lower > 0, it is 0"},
    {"lognormal(0, 0)", "column 1: lognormal needs sigma > 0, it is 0"},
    {"exponential(1, 2)", "column 14: ')' expected before ', 2)'"},
    {"halfnormel(1)",
     "column 1: unknown law 'halfnormel', did you mean 'halfnormal'?; known: normal, "
     "uniform, cauchy, student, burr, halfnormal, exponential, pareto, lognormal, point, "
     "mixture, clip"},
  };

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    RG_OWNED(rg_distribution_destroy) RgDistribution law;
    RgText mistake = {0};
    RG_OK(rg_distribution_parse(cases[c].text, &law, &mistake));
    assert_string_equal(mistake.data, cases[c].mistake);
    RG_OK(rg_text_clear(&mistake));
  }
}

/* P(T > t) of Student's t by SciPy; the rule gives the variance degrees/(degrees - 2). */
RG_TEST(student)
{
  static const struct {
    const char *law;
    double t, tail;
  } cases[] = {{"student(3, 1)", 1.6377443572159065, 0.09999999963939372},
               {"student(1.5, 2)", 4.392796835133684, 0.09999999999992643},
               {"student(50, 1)", 1.2987136939791875, 0.10000000003672974},
               {"student(3, 1)", 10331.108244292094, 1.000000000000112e-12},
               {"student(50, 3)", 3 * 9.260139683752218, 9.999999997652653e-13},
               {"student(200, 1)", 3, 0.001521523556952952}};

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    RG_OWNED(rg_distribution_destroy) RgDistribution law = law_of(cases[c].law);
    const double t = cases[c].t, tail = cases[c].tail, h = 1e-5;
    RG_CLOSE(rg_distribution_cdf(&law, -t) / tail, 1, 1e-12);
    RG_CLOSE(rg_distribution_cdf(&law, t), 1 - tail, 1e-15);
    RG_CLOSE(rg_distribution_quantile(&law, tail) / -t, 1, 1e-12);
    if (tail > 1e-9) RG_CLOSE(rg_distribution_quantile(&law, 1 - tail) / t, 1, 1e-12);
    RG_CLOSE(rg_distribution_density(&law, t),
             (rg_distribution_cdf(&law, t + h) - rg_distribution_cdf(&law, t - h)) / (2 * h), 1e-9);
    RG_CLOSE(rg_distribution_quantile(&law, 0.5), 0, 0);
  }
  RG_OWNED(rg_distribution_destroy) RgDistribution law = law_of("student(9, 0.5)");
  double sums[3];
  sum_rule(&law, 40, sums);
  RG_CLOSE(sums[2], 2.25 / 7, 1e-10);
  assert_true(rg_distribution_has_moments(&law, 8, 8));
  assert_false(rg_distribution_has_moments(&law, 0, 9));
}
