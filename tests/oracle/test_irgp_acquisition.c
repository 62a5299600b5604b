/* specs irgp_ucb, section 8: O2, O3, O4, O6 (columns UCB and EI), O13, O16 (gamma). */
#include "test_main.h"

#include "regatta/acquire.h"
#include "acquisition/confidence.h"
#include "maths/normal.h"

RG_TEST(test_o2_shifted_exponential)
{
  double shift = rg_irgp_shift_finite(1000);

  RG_CLOSE(rg_irgp_quantile(shift, 0.5, 1.0 - 0.5), 13.815510558, 1e-11);
  RG_CLOSE(rg_irgp_quantile(shift, 0.5, 1.0 - 0.1), 17.0343863828, 1e-11);
  RG_CLOSE(rg_irgp_quantile(shift, 0.5, 1.0 - 0.9), 12.6399372282, 1e-11);
  RG_CLOSE(rg_irgp_shift_finite(10), 3.21887582487, 1e-11);
  RG_CLOSE(rg_irgp_shift_finite(94), 7.70029520342, 1e-11);
  RG_CLOSE(rg_irgp_shift_finite(164), 8.81343849453, 1e-11);
  RG_CLOSE(rg_irgp_shift_finite(178), 8.97727273946, 1e-11);
  RG_CLOSE(shift, 12.4292161968, 1e-11);
  RG_CLOSE(rg_irgp_quantile(shift, 0.5, 0.025), 12.4798518128, 1e-11);
  RG_CLOSE(rg_irgp_quantile(shift, 0.5, 0.975), 19.8069751051, 1e-11);
}

/* d, t, 0.2 d log(2t); tests/unit/maths/test_normal.c has the quantiles of the gamma laws of these shapes. */
static const double o4[][3] = {
  {2, 1, 0.277258872224}, {2, 50, 1.8420680744}, {4, 125, 4.41716873429}, {5, 60, 4.78749174278}};

RG_TEST(test_o4_heuristics)
{
  for (size_t i = 0; i < sizeof o4 / sizeof o4[0]; i++) {
    int dim = (int)o4[i][0];
    double t = o4[i][1];
    RG_CLOSE(rg_gp_ucb_beta_heuristic(dim, t), o4[i][2], 1e-11);
    RG_CLOSE(rg_rgp_shape_heuristic(dim, t), o4[i][2], 1e-11);
  }
  RG_CLOSE(rg_irgp_shift_heuristic(5), 2.5, 0.0);
}

/* Means and deviations of O5; UCB with zeta = 4, EI with incumbent 0.9. */
RG_TEST(test_o6_ucb_ei)
{
  double mean[3] = {0.404561413625, 0.8714527349, 0.499954083043};
  double sd[3] = {0.768224356445, 0.228049430309, 0.00999949742682};
  double expected_ucb[3] = {1.94101012652, 1.32755159552, 0.519953077896};
  double expected_ei[3] = {0.120371533188, 0.0774168182075, 0.0}, value[3];
  RgUcb ucb = {2.0};
  RgEi ei = {0.9};

  rg_acquisition_ucb(&ucb, 3, mean, sd, value, NULL, NULL);
  for (int j = 0; j < 3; j++) RG_CLOSE(value[j], expected_ucb[j], 1e-11);
  rg_acquisition_log_ei(&ei, 3, mean, sd, value, NULL, NULL);
  for (int j = 0; j < 3; j++) {
    RG_CLOSE(rg_expected_improvement(mean[j], sd[j], 0.9), expected_ei[j], 1e-11);
    RG_CLOSE(exp(value[j]), expected_ei[j], 1e-11);
  }
}

RG_TEST(test_o13_continuous)
{
  RG_CLOSE(rg_irgp_shift_continuous(2, 1.0, 2.0, 20.0, 1.0), 16.2671031947, 1e-11);
  RG_CLOSE(rg_irgp_shift_continuous(2, 10.0, 2.0, 20.0, 1.0), 34.6877839387, 1e-11);
  RG_CLOSE(rg_irgp_shift_continuous(2, 100.0, 2.0, 20.0, 1.0), 53.1084646826, 1e-11);
  /* The rule is the finite one on a grid of tau_t levels per axis, and so is bcr_cont. */
  double levels = rg_confidence_grid_levels(2, 10.0, 2.0, 20.0, 1.0);
  RG_CLOSE(rg_irgp_shift_finite(levels * levels), 34.6877839387, 1e-11);
  RG_CLOSE(rg_gp_ucb_beta_bcr_cont(2, 10.0, 2.0, 20.0, 1.0),
           rg_gp_ucb_beta_bcr(levels * levels, 10.0), 1e-13);
}

/* Regularised incomplete gamma P(kappa, x) = p, read backwards. */
RG_TEST(test_o16_gamma)
{
  RG_CLOSE(rg_gamma_quantile(0.3, 0.813811804674), 0.5, 1e-10);
  RG_CLOSE(rg_gamma_quantile(17.0, 0.778925798446), 20.0, 1e-10);
  RG_CLOSE(rg_gamma_quantile(28.4, 0.977049820691), 40.0, 1e-10);
}
