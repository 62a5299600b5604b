/* Acquisition functions: values in the tails, derivatives, expected improvement. */
#include "test_main.h"

#include "acquisition/sampled.h"
#include "maths/normal.h"
#include "regatta/stream.h"

/* log h(z), Phi(z)/h(z), phi(z)/h(z), h(z) = phi(z) + z Phi(z), to 18 digits by mpmath. */
static const double log_h[][4] = {
  {3.0, 1.09873966532770777, 0.332840968451795236, 0.00147709464461429325},
  {0.0, -0.918938533204672742, 1.25331413731550025, 1.0},
  {-1.0, -2.48512102571264134, 1.90427123332969182, 2.90427123332969182},
  {-4.9999, -16.7437649857368205, 5.36172224215996822, 27.8080750385756264},
  {-5.0, -16.7443011626609901, 5.36181624128808853, 27.8090812064404426},
  {-5.0001, -16.7448373489850818, 5.36191024059974525, 27.810087394022785},
  {-8.0, -37.122364261692633, 8.23939650684006689, 66.9151720547205351},
  {-20.0, -206.917838509425098, 20.0992628111012818, 402.985256222025636},
  {-100.0, -5010.12957880024979, 100.019994004195865, 10002.9994004195865},
  {-1000.0, -500014.734452091158, 1000.00199999400004, 1000002.99999400004},
  {-100000.0, -5000000023.94478946, 100000.00002, 10000000003.0}};

/* The value is compared with the part that does not come from z^2/2 alone. */
RG_TEST(test_log_ei_tail)
{
  for (size_t i = 0; i < sizeof log_h / sizeof log_h[0]; i++) {
    double z = log_h[i][0], sd = 0.37, mean = z * sd, value, d_mean, d_sd;
    rg_acquisition_log_ei(&(RgEi){0.0}, 1, &mean, &sd, &value, &d_mean, &d_sd);
    RG_CLOSE(value, log(sd) + log_h[i][1], 1e-13);
    assert_true(fabs(d_mean * sd / log_h[i][2] - 1.0) < 1e-12);
    assert_true(fabs(d_sd * sd / log_h[i][3] - 1.0) < 1e-12);
  }
  /* the remainder log h + z^2/2 itself, where z^2/2 is exactly representable */
  double mean = -1000.0, sd = 1.0, value;
  rg_acquisition_log_ei(&(RgEi){0.0}, 1, &mean, &sd, &value, NULL, NULL);
  assert_true(fabs(value + 500000.0 + 14.734452091158) < 1e-9);
}

RG_TEST(test_log_ei_certain)
{
  double mean[3] = {1.5, 1.0, 0.5}, sd[3] = {0.0, 0.0, 1e-13}, value[3], d_mean[3], d_sd[3];
  RgEi ei = {1.0};

  rg_acquisition_log_ei(&ei, 3, mean, sd, value, d_mean, d_sd);
  RG_CLOSE(value[0], log(0.5), 1e-15);
  RG_CLOSE(d_mean[0], 2.0, 1e-15);
  assert_true(value[1] == -INFINITY && value[2] == -INFINITY);
  for (int j = 0; j < 3; j++) assert_true(isfinite(d_mean[j]) && d_sd[j] == 0.0);
}

/* Partial derivatives against central differences, from far below to far above the incumbent. */
static void check_derivatives(RgMarginalFunction function, const void *closure)
{
  for (int i = -40; i <= 40; i++) {
    double sd = 0.2 + 0.01 * (i + 40), mean = 0.3 + sd * i * 0.5, h = 1e-6 * sd;
    double means[4] = {mean + h, mean - h, mean, mean}, sds[4] = {sd, sd, sd + h, sd - h};
    double value[4], centre, d_mean, d_sd;
    function(closure, 4, means, sds, value, NULL, NULL);
    function(closure, 1, &mean, &sd, &centre, &d_mean, &d_sd);
    RG_CLOSE((value[0] - value[1]) / (2.0 * h), d_mean, 1e-6);
    RG_CLOSE((value[2] - value[3]) / (2.0 * h), d_sd, 1e-6);
  }
}

RG_TEST(test_derivatives)
{
  const double maxima[] = {0.4, 1.3, 2.0, 1.1};

  check_derivatives(rg_acquisition_ucb, &(RgUcb){1.7});
  check_derivatives(rg_acquisition_log_ei, &(RgEi){0.3});
  check_derivatives(rg_acquisition_pims, &(RgPims){0.9});
  check_derivatives(rg_acquisition_mes, &(RgMes){4, maxima});
}

/* E max(f - tau, 0) by the midpoint rule over f. */
static double improvement_by_quadrature(double mean, double sd, double incumbent)
{
  int n = 400000;
  double sum = 0.0, step = 24.0 / n;

  for (int i = 0; i < n; i++) {
    double z = -12.0 + (i + 0.5) * step;
    sum += fmax(mean + sd * z - incumbent, 0.0) * rg_normal_pdf(z) * step;
  }
  return sum;
}

RG_TEST(test_expected_improvement)
{
  RG_CLOSE(rg_expected_improvement(0.0, 1.0, 0.0), 0.39894228040143267794, 1e-15);
  RG_CLOSE(rg_expected_improvement(2.0, 0.0, 0.5), 1.5, 1e-15);
  assert_true(rg_expected_improvement(0.2, 0.0, 0.5) == 0.0);
  for (double mean = -2.0; mean < 2.0; mean += 0.37)
    RG_CLOSE(rg_expected_improvement(mean, 0.8, 0.5), improvement_by_quadrature(mean, 0.8, 0.5),
             1e-9);
  /* Both branches agree with the logarithm. */
  for (double z = -30.0; z < 6.0; z += 0.1) {
    double sd = 0.3, mean = 1.0 + z * sd, value;
    RgEi ei = {1.0};
    rg_acquisition_log_ei(&ei, 1, &mean, &sd, &value, NULL, NULL);
    assert_true(fabs(log(rg_expected_improvement(mean, sd, 1.0)) - value) < 1e-11 * fabs(value));
  }
}

/* E max(f - tau, 0) 1{c <= threshold} of independent f and c by the midpoint rule over both, beside
   the sum of the logarithms. */
RG_TEST(test_constrained_improvement)
{
  enum { N = 2000 };
  const double tau = 0.4, sd_f = 0.7, sd_c = 1.3, step = 20.0 / N;
  const RgEi ei = {tau};
  const RgThreshold below = {-0.2};

  check_derivatives(rg_acquisition_log_below, &below);
  for (double mean_f = -1; mean_f < 2; mean_f += 0.7) {
    for (double mean_c = -3; mean_c < 4; mean_c += 1.1) {
      double sum = 0, value, probability;
      for (int i = 0; i < N; i++) {
        const double c = mean_c + sd_c * (-10 + (i + 0.5) * step),
                     at = rg_normal_pdf((c - mean_c) / sd_c);
        const double share = fmin(fmax((below.threshold - c) / (sd_c * step) + 0.5, 0), 1);
        if (share > 0) sum += at * share * step;
      }
      sum *= improvement_by_quadrature(mean_f, sd_f, tau);
      rg_acquisition_log_ei(&ei, 1, &mean_f, &sd_f, &value, NULL, NULL);
      rg_acquisition_log_below(&below, 1, &mean_c, &sd_c, &probability, NULL, NULL);
      assert_true(fabs(sum / exp(value + probability) - 1) < 1e-4);
    }
  }
  const double means[] = {-0.3, 0.1, 40}, sds[] = {0, 0, 1};
  double values[3], d_mean[3], d_sd[3];
  rg_acquisition_log_below(&below, 3, means, sds, values, d_mean, d_sd);
  assert_true(values[0] == 0 && values[1] == -INFINITY && d_mean[0] == 0 && d_sd[1] == 0);
  RG_CLOSE(values[2], rg_normal_log_cdf(-40.2), 1e-14);
}

/* log EI orders points as EI does, and grows in both arguments. */
RG_TEST(test_log_ei_monotone)
{
  RgStream stream = rg_stream(1, "test", 0, "monotone", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  RgEi ei = {0.0};

  for (int i = 0; i < 2000; i++) {
    double mean = 5.2 * rg_random_uniform(&random) - 5.0, sd = 0.05 + rg_random_uniform(&random);
    double means[3] = {mean, mean + 1e-4, mean}, sds[3] = {sd, sd, sd + 1e-4}, value[3];
    rg_acquisition_log_ei(&ei, 3, means, sds, value, NULL, NULL);
    assert_true(value[1] > value[0] && value[2] > value[0]);
  }
}

RG_TEST(test_ucb)
{
  double mean[2] = {0.5, -1.0}, sd[2] = {0.25, 2.0}, value[2], d_mean[2], d_sd[2];
  RgUcb ucb = {3.0};

  rg_acquisition_ucb(&ucb, 2, mean, sd, value, d_mean, d_sd);
  assert_true(value[0] == 1.25 && value[1] == 5.0);
  assert_true(d_mean[1] == 1.0 && d_sd[1] == 3.0);
}
