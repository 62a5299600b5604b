/* Theory of the IRGP-UCB study against oracles O2, O3, O4, O11, O12 and O13 of irgp_ucb. */
#include "test_problem.h"

#include "acquisition/confidence.h"
#include "regatta/theory.h"
#include "gp/model/information_gain.h"
#include "theory/bounds.h"

enum { T_MAX = 200, N_ROWS = 5 };
static const int horizons[N_ROWS] = {1, 10, 50, 100, 200};

/* The synthetic setting: grid {0, .., 0.9}^3, Gaussian kernel, length scale 0.1, noise 1e-4. */
static RgInformationGain synthetic_gain(double noise)
{
  RG_OWNED(instance_free) Instance it = instance_make("gp_path", NULL, 1, 0);
  RgInformationGain gain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 3, false, &(double){0.1}, 1, &kernel));
  RG_OK(rg_information_gain_create(&it.problem.domain, &kernel, noise, T_MAX, &gain));
  return gain;
}

/* A curve of the family with |X| = 1000, noise 1e-4, delta 0.1, and one law for all queries. */
static double bound(const char *name, int T, double shift, const double *gamma, bool tight)
{
  const RgDomain domain = {.design = {.size = 1000}};
  unsigned rule;
  const RgBoundCurve *curve = rg_bound_family_of("irgp_finite", &rule)->curves;
  RgConfidenceLaw law[T_MAX];

  for (int t = 0; t < T; t++) law[t] = (RgConfidenceLaw){.a = shift, .b = 1, .delta = 0.1};
  const RgBoundCase s = {
    .domain = &domain, .law = law, .noise = 1e-4, .gamma = gamma, .delta = 0.1, .tight = tight};
  while (strcmp(curve->name, name)) curve++;
  return curve->at(&s, T);
}

RG_TEST(test_o11_information_gain)
{
  static const int first[] = {0, 5, 39, 50, 65, 99, 390, 408, 422, 468, 684, 800};
  static const double greedy[N_ROWS] = {4.6052201835, 46.0522018348, 230.2497946718, 459.7906199090,
                                        907.6095093390};
  static const double upper[N_ROWS] = {4.6052201835, 46.0522018349, 230.2610091744, 460.5220183488,
                                       921.0440366977};
  RG_OWNED(rg_information_gain_destroy) RgInformationGain gain = synthetic_gain(1e-4);

  for (int i = 0; i < 12; i++) assert_int_equal(gain.index[i], first[i]);
  for (int k = 0; k < N_ROWS; k++) {
    const int t = horizons[k] - 1;
    assert_true(fabs(gain.gain[t] - greedy[k]) <= 6e-11);
    assert_true(fabs(gain.upper[t] - upper[k]) <= 6e-11);
    assert_int_equal(gain.bound[t], RG_GAIN_HADAMARD);
  }
  for (int t = 1; t < T_MAX; t++) {
    assert_true(gain.gain[t] <= gain.upper[t] * (1 + 1e-14));
    if (t > 1) /* increments don't grow */
      assert_true(gain.gain[t] - gain.gain[t - 1] <= gain.gain[t - 1] - gain.gain[t - 2] + 1e-9);
  }
}

RG_TEST(test_o12_bounds)
{
  static const double rows[N_ROWS][8] = {
    {3.798581, 16.528638, 15.416428, 37.985808, 14.452684, 11.694482, 4.460872, 4.526486},
    {37.985808, 86.696882, 73.554161, 379.858081, 155.517972, 115.281345, 43.999030, 50.102643},
    {189.929041, 336.446611, 268.633409, 1899.290407, 843.140219, 611.642574, 245.837412,
     282.092245},
    {379.858081, 627.374617, 490.872102, 3798.580814, 1744.965184, 1259.716152, 516.680696,
     592.078121},
    {759.716163, 1190.599515, 916.418894, 7597.161627, 3606.937547, 2595.054803, 1083.162452,
     1238.822910},
  };
  static const char *const names[8] = {"theorem_4_1",     "theorem_4_3",     "theorem_4_3",
                                       "proposition_4_1", "theorem_4_5",     "theorem_4_5",
                                       "gp_ucb_expected", "rgp_ucb_expected"};
  const double shift = rg_irgp_shift_finite(1000);
  RG_OWNED(rg_information_gain_destroy) RgInformationGain gain = synthetic_gain(1e-4);

  RG_CLOSE(rg_bound_c1(1e-4), 0.217144883449, 1e-11);
  RG_CLOSE(rg_bound_c2(1000), 14.4292161968, 1e-11);
  for (int k = 0; k < N_ROWS; k++)
    for (int j = 0; j < 8; j++) { /* the third and the sixth are tight */
      const double found = bound(names[j], horizons[k], shift, gain.upper, j == 2 || j == 5);
      if (!(fabs(found - rows[k][j]) <= 6e-7))
        fail_msg("T = %d, column %d: %.9f, not %.6f", horizons[k], j, found, rows[k][j]);
    }
  /* while gamma is the Hadamard bound, Theorem 4.1 is T sqrt(C2) */
  RG_CLOSE(bound("theorem_4_1", 100, shift, gain.upper, false), 100 * sqrt(rg_bound_c2(1000)),
           1e-12);
}

RG_TEST(test_o13_continuous)
{
  const double s = rg_irgp_shift_continuous(2, 100, 2, 20, 1);
  double gamma[100];

  for (int t = 0; t < 100; t++) gamma[t] = 50;
  RG_CLOSE(s, 53.1084646826, 1e-11);
  RG_CLOSE(bound("theorem_4_2", 100, s, gamma, false), 246.251977512, 1e-11);
  RG_CLOSE(bound("theorem_4_4", 100, s, gamma, false), 449.136771654, 1e-11);
  assert_true(bound("theorem_4_4", 100, s, gamma, true) < 449.13);
}

/* Lemma 4.2 before any data: E sqrt(zeta) lies above E max f = 3.137 of the synthetic problem. */
RG_TEST(test_o2_mean_width)
{
  RG_CLOSE(rg_irgp_mean_width(rg_irgp_shift_finite(1000)), 3.79037802713, 1e-11);
  RG_CLOSE(rg_irgp_mean_width(0), sqrt(M_PI / 2), 1e-14);
  RG_CLOSE(rg_irgp_mean_width(1e5), sqrt(1e5) + 1 / sqrt(1e5), 1e-9);
}

/* Figure 1(a): means and equal-tailed 95% intervals for |X| = 1000. */
RG_TEST(test_o3_confidence_parameters)
{
  static const double rows[][6] = {
    {1, 11.97763349, 19.41608135, 17.03662076, 9.93101365, 26.02836990},
    {2, 14.75022221, 22.18867007, 20.45564334, 12.57254095, 30.22627601},
    {5, 18.41538514, 25.85383300, 24.97534535, 16.15887440, 35.68059022},
    {10, 21.18797386, 28.62642172, 28.39436794, 18.92719647, 39.75098779},
    {20, 23.96056259, 31.39901044, 31.81339052, 21.73381649, 43.78294083},
    {50, 27.62572551, 35.06417337, 36.33309253, 25.49265934, 49.06404588},
    {100, 30.39831424, 37.83676209, 39.75211511, 28.36724324, 53.02783568},
    {200, 33.17090296, 40.60935082, 43.17113769, 31.26485558, 56.96854457},
    {300, 34.79276339, 42.23121125, 45.17113769, 32.96942708, 59.26411503},
    {500, 36.83606589, 44.27451374, 47.69083970, 35.12612130, 62.14698660},
  };

  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const double t = rows[k][0];
    const RgConfidenceLaw bcr = {.kind = RG_LAW_CONSTANT, .a = rg_gp_ucb_beta_bcr(1000, t)},
                          srinivas = {.kind = RG_LAW_CONSTANT,
                                      .a = rg_gp_ucb_beta_srinivas(1000, t, 0.1)},
                          gamma = {
                            .kind = RG_LAW_GAMMA, .a = rg_rgp_shape_finite(1000, t, 1), .b = 1};
    const double found[] = {t,
                            rg_confidence_mean(&bcr),
                            rg_confidence_quantile(&srinivas, 0.975),
                            rg_confidence_mean(&gamma),
                            rg_confidence_quantile(&gamma, 0.025),
                            rg_confidence_quantile(&gamma, 0.975)};
    for (int j = 0; j < 6; j++)
      if (!(fabs(found[j] - rows[k][j]) <= 6e-9))
        fail_msg("t = %g, column %d: %.11f, not %.8f", t, j, found[j], rows[k][j]);
  }
  const RgConfidenceLaw irgp = {
    .kind = RG_LAW_EXPONENTIAL, .a = rg_irgp_shift_finite(1000), .b = 0.5};
  RG_CLOSE(rg_confidence_mean(&irgp), 14.4292161968, 1e-11);
  RG_CLOSE(rg_confidence_quantile(&irgp, 0.025), 12.4798518128, 1e-11);
  RG_CLOSE(rg_confidence_quantile(&irgp, 0.975), 19.8069751051, 1e-11);
}

/* The heuristic rule of RGP-UCB, with a scale. */
RG_TEST(test_o4_heuristic)
{
  const RgConfidenceLaw law = {.kind = RG_LAW_GAMMA, .a = rg_rgp_shape_heuristic(4, 125), .b = 2};

  RG_CLOSE(rg_confidence_mean(&law), 2 * 4.41716873429, 1e-11);
  RG_CLOSE(rg_confidence_quantile(&law, 0.025), 2 * 1.30611482045, 1e-11);
  RG_CLOSE(rg_confidence_quantile(&law, 0.5), 2 * 4.08868103949, 1e-11);
  RG_CLOSE(rg_confidence_quantile(&law, 0.975), 2 * 9.38914011819, 1e-11);
}

/* Lemma 4.2: E max f <= E max (mu + sqrt(zeta) sd), on 3-point posteriors with random means and
   covariances, by Monte Carlo. */
RG_TEST(test_lemma_on_three_points)
{
  enum { DRAWS = 20000, POSTERIORS = 30 };
  RgStream stream = rg_stream(1, "test", 0, "lemma", 0);

  for (int k = 0; k < POSTERIORS; k++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)k);
    double mu[3], L[3][3], sd[3], sum = 0.0, square = 0.0;
    for (int i = 0; i < 3; i++) {
      mu[i] = 0.5 * (k % 3) * rg_random_normal(&random);
      for (int j = 0; j < 3; j++) L[i][j] = rg_random_normal(&random) * (j == 0 ? 1.0 : k % 5);
      sd[i] = sqrt(L[i][0] * L[i][0] + L[i][1] * L[i][1] + L[i][2] * L[i][2]);
    }
    for (int s = 0; s < DRAWS; s++) {
      double z[3], path = -INFINITY, bound = -INFINITY;
      double width = sqrt(rg_irgp_shift_finite(3) + 2.0 * rg_random_exponential(&random));
      for (int j = 0; j < 3; j++) z[j] = rg_random_normal(&random);
      for (int i = 0; i < 3; i++) {
        path = fmax(path, mu[i] + L[i][0] * z[0] + L[i][1] * z[1] + L[i][2] * z[2]);
        bound = fmax(bound, mu[i] + width * sd[i]);
      }
      sum += bound - path;
      square += (bound - path) * (bound - path);
    }
    double mean = sum / DRAWS, error = sqrt((square / DRAWS - mean * mean) / DRAWS);
    assert_true(mean > -4.0 * error);
  }
}
