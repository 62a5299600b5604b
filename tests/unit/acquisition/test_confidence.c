/* Confidence rules: laws of the random widths, clamps. */
#include "test_main.h"

#include "acquisition/confidence.h"
#include "regatta/stream.h"
#include "regatta/theory.h"

#define DRAWS 100000

/* zeta_t >= s_t always; mean of 1e5 draws within 4 standard errors of s + 2 (irgp_ucb 8). */
RG_TEST(test_shifted_exponential)
{
  RgStream stream = rg_stream(7, "test", 0, "confidence", 3);
  double shift = rg_irgp_shift_finite(1000), sum = 0.0;
  const RgConfidenceLaw law = {.kind = RG_LAW_EXPONENTIAL, .a = shift, .b = 0.5};

  for (int t = 1; t <= DRAWS; t++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)t);
    double zeta = rg_confidence_draw(&law, &random);
    assert_true(zeta >= shift);
    sum += zeta;
  }
  assert_true(fabs(sum / DRAWS - (shift + 2.0)) < 4.0 * 2.0 / sqrt(DRAWS));
}

/* Mean kappa, variance kappa within 5 standard errors (fourth central moment 3 k^2 + 6 k). */
static void check_gamma_moments(double kappa)
{
  RgStream stream = rg_stream(7, "test", 0, "gamma", 3);
  double sum = 0.0, square = 0.0;

  for (int t = 1; t <= DRAWS; t++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)t);
    double deviation = rg_random_gamma(&random, kappa, 1.0) - kappa;
    sum += deviation;
    square += deviation * deviation;
  }
  assert_true(fabs(sum / DRAWS) < 5.0 * sqrt(kappa / DRAWS));
  assert_true(fabs(square / DRAWS - kappa) <
              5.0 * sqrt((3.0 * kappa * kappa + 6.0 * kappa - kappa * kappa) / DRAWS));
}

RG_TEST(test_gamma)
{
  check_gamma_moments(rg_rgp_shape_heuristic(2, 1.0)); /* 0.277: the branch below 1 */
  check_gamma_moments(rg_rgp_shape_finite(1000, 1.0, 1.0));
  check_gamma_moments(rg_rgp_shape_heuristic(5, 60.0));
}

/* E exp(-zeta/2) = (1 + theta/2)^-kappa; the shape makes it 1/(|X| t^2). */
RG_TEST(test_gamma_shape)
{
  for (double theta = 0.25; theta < 5.0; theta *= 2.0) {
    double kappa = rg_rgp_shape_finite(150, 7.0, theta);
    RG_CLOSE(pow(1.0 + theta / 2.0, -kappa) * 150.0 * 49.0, 1.0, 1e-12);
  }
}

RG_TEST(test_clamps)
{
  assert_true(rg_gp_ucb_beta_bcr(2, 1.0) == 0.0);
  assert_true(rg_irgp_shift_finite(1) == 0.0 && rg_irgp_shift_finite(2) == 0.0);
  assert_true(rg_irgp_shift_continuous(1, 1.0, 1.0, 1e-3, 1.0) == 0.0);
  assert_true(rg_gp_ucb_beta_bcr_cont(1, 1.0, 1.0, 1e-3, 1.0) == 0.0);
}

/* The width grows with t in every rule that depends on t, and the shift of IRGP-UCB does not. */
RG_TEST(test_growth)
{
  for (double t = 1.0; t < 300.0; t += 1.0) {
    assert_true(rg_gp_ucb_beta_bcr(1000, t + 1.0) > rg_gp_ucb_beta_bcr(1000, t));
    assert_true(rg_gp_ucb_beta_srinivas(1000, t, 0.1) > rg_gp_ucb_beta_bcr(1000, t));
    assert_true(rg_gp_ucb_beta_heuristic(3, t + 1.0) > rg_gp_ucb_beta_heuristic(3, t));
    assert_true(rg_rgp_shape_finite(1000, t + 1.0, 1.0) > rg_rgp_shape_finite(1000, t, 1.0));
    assert_true(rg_irgp_shift_highprob(1000, t + 1.0, 0.1) > rg_irgp_shift_highprob(1000, t, 0.1));
  }
}
