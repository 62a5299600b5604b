/* rrgp_ucb 7 and 8 (O2, O7, O8): laws of the width, bounds, discretisation schedules. */
#include "test_problem.h"

#include "acquisition/confidence.h"
#include "regatta/theory.h"
#include "gp/model/information_gain.h"
#include "theory/robust_bounds.h"

/* O2, N = 1000. */
RG_TEST(widths)
{
  const RgConfidenceLaw law = {
    .kind = RG_LAW_EXPONENTIAL, .a = 2 * log(1000), .b = 0.5, .delta = NAN};

  RG_CLOSE(law.a, 13.815510558, 1e-10);
  RG_CLOSE(rg_confidence_mean(&law), 15.815510558, 1e-10);
  RG_CLOSE(rg_robust_mean_power(1000, 0.5), 3.96967118115, 1e-10);
  RG_CLOSE(rg_robust_mean_power(1000, 1), 15.815510558, 1e-10);
  RG_CLOSE(rg_robust_mean_power(1000, 2), 254.130374209, 1e-10);
  RG_CLOSE(sqrt(rg_confidence_quantile(&law, 0.025)), 3.72372745699, 1e-10);
  RG_CLOSE(sqrt(rg_confidence_quantile(&law, 0.5)), 3.89894920704, 1e-10);
  RG_CLOSE(sqrt(rg_confidence_quantile(&law, 0.975)), 4.603614826, 1e-9);
  RG_CLOSE(rg_confidence_quantile(&law, 0.75), 16.5880992802, 1e-10); /* U = 0.25 */
}

/* Figure 1, right. */
RG_TEST(curves_of_figure_1)
{
  static const double t[] = {1, 10, 100, 1000};
  static const double rkhs[] = {3.82691785291, 4.54917380993, 5.14750586728, 5.66979390392};
  static const double bayesian[] = {4.5609621474, 5.47838626623, 6.26283134484, 6.95941066657};
  static const double bpt[] = {2.82955310427, 4.48453945267, 7.10751604986, 11.2646538027};

  for (int k = 0; k < 4; k++) {
    RG_CLOSE(1 + sqrt(2 * (log(t[k]) + 1 + log(1 / 0.05))), rkhs[k], 1e-11);
    RG_CLOSE(sqrt(rg_gp_ucb_beta_srinivas(1000, t[k], 0.05)), bayesian[k], 1e-11);
    RG_CLOSE(pow(exp(rg_gp_ucb_beta_srinivas(1000, t[k], 0.05) / 2), 0.1), bpt[k], 1e-11);
  }
}

/* O2: 2 log N, BBBMOBO's beta_1 and beta_300, BPT-UCB's B_1^(1/10). */
RG_TEST(widths_of_the_problems)
{
  static const double value[4][5] = {
    {2500, 15.6480920217, 22.6349571738, 45.4500870724, 3.32364667675},
    {50625, 21.6644016088, 28.6512667609, 51.4663966595, 4.49011384245},
    {117649, 23.3509217887, 30.3377869407, 53.1529168393, 4.88516990129},
    {6336, 17.508005867, 24.494871019, 47.3100009177, 3.64755933653}};

  for (int k = 0; k < 4; k++) {
    const double n = value[k][0];
    RG_CLOSE(2 * log(n), value[k][1], 1e-11);
    RG_CLOSE(rg_gp_ucb_beta_srinivas(n, 1, 0.05), value[k][2], 1e-11);
    RG_CLOSE(rg_gp_ucb_beta_srinivas(n, 300, 0.05), value[k][3], 1e-11);
    RG_CLOSE(pow(2 * exp(rg_gp_ucb_beta_srinivas(n, 1, 0.05) / 2), 0.1), value[k][4], 1e-11);
  }
}

static double power_bound(double nu, double concave)
{
  const double one = 1;
  const RgRobustTerm term = {1, concave, 1, &one, &nu};

  return rg_robust_bound(1, &term, 300, 2500, rg_robust_c1(1e-6, 1, 1), 500);
}

/* O7. */
RG_TEST(bounds)
{
  const double c1 = rg_robust_c1(1e-6, 1, 1), nature = rg_robust_c1(1e-6, 1, 1 / 50.0);
  const double lambda[] = {0.3, 0.7}, nu[] = {1, 1};
  const RgRobustTerm two[] = {{2, 1, 1, lambda, nu}, {1, 1, 1, lambda + 1, nu}};

  RG_CLOSE(c1, 0.144764816823, 1e-11);
  RG_CLOSE(rg_robust_c1(1e-6, 4, 1), 0.526253291041, 1e-11);
  RG_CLOSE(c1 * (2 * log(2500) + 2), 2.55482280879, 1e-11);
  RG_CLOSE(c1 * (2 * log(50625) + 2), 3.42577276412, 1e-11);
  RG_CLOSE(rg_robust_mean_power(2500, 0.5), 4.19480373818, 1e-11);
  RG_CLOSE(rg_robust_mean_power(2500, 1), 17.6480920217, 1e-11);
  RG_CLOSE(rg_robust_mean_power(2500, 2), 315.455152007, 1e-11);
  RG_CLOSE(rg_robust_bound_linear(1, 300, 2500, c1, 500), 2476.20167618, 1e-11);
  RG_CLOSE(rg_robust_bound_linear(2, 300, 2500, c1, 500), 4952.40335235, 1e-11);
  RG_CLOSE(rg_robust_bound_linear(3, 300, 2500, c1, 500), 7428.60502853, 1e-11);
  RG_CLOSE(power_bound(1, 1), 2476.20167618, 1e-11);
  RG_CLOSE(power_bound(1, 0.5), 1218.90155702, 1e-11);
  RG_CLOSE(power_bound(0.5, 1), 1217.72042563, 1e-11);
  RG_CLOSE(power_bound(2, 1), 20938.0359643, 1e-11);
  RG_CLOSE(rg_robust_bound(2, two, 300, 2500, c1, 500), 1.3 * 2476.20167618, 1e-11);
  RG_CLOSE(rg_robust_bound_linear(1, 300, 2500, nature, 500), 17509.3899681, 1e-11);
  RG_CLOSE(rg_robust_bound_linear(1, 300, 2500, c1, 500) / 300, 8.25400558726, 1e-11);
  RG_CLOSE(rg_robust_bound_linear(1, 300, 2500, c1, 500) / 0.05 / 300, 165.080111745, 1e-11);
}

/* O7: greedy information gain of the 2D grid; which points are taken, and so the later values,
   depends on ties. */
RG_TEST(greedy_gain)
{
  static const struct {
    int t;
    double gain, relative;
  } expected[] = {{1, 6.907755779, 1e-9}, {2, 13.81551156, 1e-9}, {10, 69.0775, 1e-5},
                  {50, 341.3, 2e-3},      {100, 647, 4e-3},       {300, 1381, 2e-3}};
  const RgProblemClass *class = rg_registry_find_problem(NULL, "gp_path_context");
  void *options = options_make(class, NULL);
  RG_OWNED(rg_domain_destroy) RgDomain domain = {0};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_information_gain_destroy) RgInformationGain gain;

  RG_OK(class->domain(class, options, &domain));
  RG_OK(class->prior(options, &kernel));
  RG_OK(rg_information_gain_create(&domain, &kernel, 1e-6, 300, &gain));
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    const int t = expected[k].t;
    RG_CLOSE(gain.gain[t - 1], expected[k].gain, expected[k].relative);
    assert_true(gain.upper[t - 1] >= gain.gain[t - 1]);
    assert_true(gain.upper[t - 1] <= gain.gain[t - 1] / (1 - exp(-1)) * (1 + 1e-12));
  }
  options_free(class, options);
}

/* O8. */
RG_TEST(continuous)
{
  const RgRobustDerivatives unit = {1, 1, 1};
  static const int t[] = {1, 2, 10};
  static const double tau1[] = {7, 25, 607}, kappa1[] = {2500, 31300, 18422500};
  static const double tau2[] = {3, 12, 287}, kappa2[] = {150, 600, 14350};
  static const double tau3[] = {6, 24, 581}, kappa3[] = {222, 13848, 196123522};
  const double c1 = rg_robust_c1(1e-6, 1, 1);

  for (int k = 0; k < 3; k++) {
    RG_CLOSE(rg_robust_levels(&unit, 2, 50, t[k]), tau1[k], 0);
    RG_CLOSE(rg_robust_kappa(&unit, 2, 0, 0, 50, t[k]), kappa1[k], 0);
    RG_CLOSE(rg_robust_levels(&unit, 1, 50, t[k]), tau2[k], 0);
    RG_CLOSE(rg_robust_kappa(&unit, 0, 1, 50, 0, t[k]), kappa2[k], 0);
    RG_CLOSE(rg_robust_levels(&unit, 3, 1, t[k]), tau3[k], 0);
    RG_CLOSE(rg_robust_kappa(&unit, 2, 1, 0, 0, t[k]), kappa3[k], 0);
    RG_CLOSE(rg_robust_kappa(&unit, 0, 0, 50, 50, t[k]), 2500, 0);
  }
  static const double w[] = {0, 0.26, 0.5, 1}, nodes[] = {0.125, 0.375, 0.625, 0.875};
  for (int k = 0; k < 4; k++) {
    double node[2];
    rg_robust_node(2, 4, 4 * k + rg_robust_cell(4, w[k]), node);
    RG_CLOSE(node[0], nodes[k], 1e-15);
    RG_CLOSE(node[1], nodes[k], 1e-15);
  }
  RG_CLOSE(rg_robust_bound_continuous(1, false, 100, 1e9, c1, 40), 636.097350532, 1e-11);
  RG_CLOSE(rg_robust_bound_continuous(1, true, 100, 1e9, c1, 40), 637.742284599, 1e-11);
  RG_CLOSE(rg_robust_bound_last_continuous(100, 1e9, c1, 40), 6.37762284599, 1e-10);
}

/* The example to Theorem B.5: ceil(sqrt(t)) cells, varphi_t <= 6 sqrt(t). */
RG_TEST(partition)
{
  const double c1 = rg_robust_c1(1e-6, 1, 1);
  RgDistribution laws[2] = {0}, peaks = {0};
  RgText mistake = {0};

  for (int t = 1; t <= 400; t++) assert_int_equal(rg_robust_cells(1, t), (int)ceil(sqrt(t)));
  assert_int_equal(rg_robust_cells(2, 16), 2);
  assert_int_equal(rg_robust_cells(2, 17), 3);
  RG_CLOSE(rg_robust_variation(1, 1, 100), 48.2841692379, 1e-11);
  RG_CLOSE(rg_robust_variation(2, 3, 16), 3 * 4 * (1 + 15 / 2.0), 1e-14);
  RG_CLOSE(rg_robust_bound_continuous(1, true, 100, 1e9, 1, 6 * 10 + 10 * c1 * 40), 2866.18450962,
           1e-11);
  RG_OK(rg_distribution_create_all(2, (char *[]){"uniform(0, 1)", "normal(0.5, 0.2)"}, 2, laws));
  RG_CLOSE(rg_robust_least_cell(1, laws, 100), 0.1, 1e-13);
  RG_CLOSE(rg_robust_least_cell(1, laws, 101), 1 / 11.0, 1e-13);
  /* With two cells, 1/2 each; of three, the outer ones have Phi(-5/6). */
  RG_CLOSE(rg_robust_least_cell(2, laws, 16), 0.25, 1e-13);
  RG_CLOSE(rg_robust_least_cell(2, laws, 17), 0.20232838096364314 / 3, 1e-12);
  /* The middle one of three cells has little, each of two and of four a half or a quarter. */
  RG_OK(rg_distribution_parse("mixture(normal(0.25, 0.02), normal(0.75, 0.02))", &peaks, &mistake));
  RG_CLOSE(rg_robust_least_cell(1, &peaks, 16), 0.5 * erfc(25 / 6.0 / sqrt(2)), 1e-9);
  RG_CLOSE(rg_robust_least_cell(1, &peaks, 4), 0.5, 1e-9);
  for (int j = 0; j < 2; j++) RG_OK(rg_distribution_destroy(&laws[j]));
  RG_OK(rg_distribution_destroy(&peaks));
}
