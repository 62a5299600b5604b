#include "test_main.h"

#include "maths/normal.h"

/* |a/b - 1|: relative, also for tiny numbers. */
#define CLOSE_RATIO(a, b, relative) RG_CLOSE((a) / (b), 1.0, relative)

/* z, log cdf, hazard to 20 digits (mpmath; below -30 by the continued fraction). */
static const struct {
  double z, log_cdf, hazard;
} reference[] = {
  {-1e8, -5000000000000019.3396, 100000000.00000001},
  {-1e4, -50000010.129278915181, 10000.000099999998},
  {-40, -804.60844201375378817, 40.024968847207263723},
  {-10, -53.231285150512470578, 10.098093233962511963},
  {-5, -15.064998393988725736, 5.1865039671258421156},
  {-1.5, -2.705944400823889807, 1.9386771666225431895},
  {-1, -1.8410216450092635058, 1.5251352761609812091},
  {-0.5, -1.1759117615936186089, 1.1410777703680644809},
  {0, -0.69314718055994530942, 0.79788456080286535588},
  {0.5, -0.36894641528865639307, 0.50916043383703348583},
  {1, -0.17275377902344988953, 0.28759997093917836123},
  {5, -2.8665161296376359338e-7, 1.4867199409049057124e-6},
  {10, -7.619853024160526066e-24, 7.6945986267064193463e-23},
};

RG_TEST(log_cdf_and_hazard)
{
  for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
    CLOSE_RATIO(rg_normal_log_cdf(reference[i].z), reference[i].log_cdf, 4e-15);
    CLOSE_RATIO(rg_normal_hazard(reference[i].z), reference[i].hazard, 4e-15);
  }
}

/* irgp_ucb O6: hazard, log cdf and the term of max-value entropy search that they give. */
RG_TEST(tail_functions_of_the_papers)
{
  static const struct {
    double alpha, hazard, log_cdf, entropy;
  } oracle[] = {
    {-40, 40.0249688472, -804.608442014, 4.10906506961},
    {-10, 10.098093234, -53.2312851505, 2.7408189807},
    {-1, 1.52513527616, -1.84102164501, 1.07845400693},
    {0, 0.797884560803, -0.69314718056, 0.69314718056},
    {1, 0.287599970939, -0.172753779023, 0.316553764493},
    {5, 1.4867199409e-06, -2.86651612964e-07, 4.00345146523e-06},
  };

  for (size_t i = 0; i < sizeof oracle / sizeof *oracle; i++) {
    double hazard = rg_normal_hazard(oracle[i].alpha);
    double log_cdf = rg_normal_log_cdf(oracle[i].alpha);
    CLOSE_RATIO(hazard, oracle[i].hazard, 1e-11);
    CLOSE_RATIO(log_cdf, oracle[i].log_cdf, 1e-11);
    CLOSE_RATIO(0.5 * oracle[i].alpha * hazard - log_cdf, oracle[i].entropy, 1e-11);
  }
}

/* The continued fraction 1/(x + 1/(x + 2/(x + 3/...))) is an independent way to the same values. */
RG_TEST(hazard_against_the_continued_fraction)
{
  for (double x = 1.0; x < 60.0; x *= 1.03) {
    double tail = x;
    for (int k = 2000; k >= 1; k--) tail = x + k / tail;
    CLOSE_RATIO(rg_normal_hazard(-x), tail, 4e-15);
  }
}

RG_TEST(functions_are_continuous_where_formulas_change)
{
  static const double borders[] = {-1.0, 0.0, 1.0};

  for (int i = 0; i < 3; i++) {
    double below = nextafter(borders[i], -9.0), above = nextafter(borders[i], 9.0);
    CLOSE_RATIO(rg_normal_log_cdf(below), rg_normal_log_cdf(above), 4e-15);
    CLOSE_RATIO(rg_normal_hazard(below), rg_normal_hazard(above), 4e-15);
  }
}

RG_TEST(density_distribution_and_quantile)
{
  CLOSE_RATIO(rg_normal_pdf(0.0), 0.39894228040143268, 1e-15);
  CLOSE_RATIO(rg_normal_pdf(-3.0), 0.0044318484119380073, 1e-14);
  CLOSE_RATIO(rg_normal_cdf(-3.0), 0.0013498980316300945, 1e-14);
  CLOSE_RATIO(rg_normal_cdf(-37.0), 5.7255712225245768e-300, 1e-12);
  assert_true(rg_normal_cdf(0.0) == 0.5);
  CLOSE_RATIO(rg_normal_quantile(0.975), 1.9599639845400545, 1e-14);
  for (double z = -8.0; z <= 5.0; z += 0.5) RG_CLOSE(rg_normal_quantile(rg_normal_cdf(z)), z, 1e-9);
}

/* irgp_ucb, table 7.2: kappa and its 2.5% and 97.5% quantiles. */
RG_TEST(gamma_quantiles_of_table_7_2)
{
  static const double rows[][3] = {
    {17.03662076, 9.93101365, 26.02836990},  {20.45564334, 12.57254095, 30.22627601},
    {24.97534535, 16.15887440, 35.68059022}, {28.39436794, 18.92719647, 39.75098779},
    {31.81339052, 21.73381649, 43.78294083}, {36.33309253, 25.49265934, 49.06404588},
    {39.75211511, 28.36724324, 53.02783568}, {43.17113769, 31.26485558, 56.96854457},
    {45.17113769, 32.96942708, 59.26411503}, {47.69083970, 35.12612130, 62.14698660},
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CLOSE_RATIO(rg_gamma_quantile(rows[i][0], 0.025), rows[i][1], 1e-9);
    CLOSE_RATIO(rg_gamma_quantile(rows[i][0], 0.975), rows[i][2], 1e-9);
  }
}

/* irgp_ucb O4. */
RG_TEST(gamma_quantiles_of_small_shapes)
{
  static const double rows[][4] = {
    {0.277258872224, 1.14508254356e-06, 0.0590451732245, 1.81897275019},
    {1.8420680744, 0.195016151325, 1.52157639917, 5.29499945489},
    {4.41716873429, 1.30611482045, 4.08868103949, 9.38914011819},
    {4.78749174278, 1.50587951502, 4.45860249245, 9.93278819963},
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CLOSE_RATIO(rg_gamma_quantile(rows[i][0], 0.025), rows[i][1], 3e-11);
    CLOSE_RATIO(rg_gamma_quantile(rows[i][0], 0.5), rows[i][2], 3e-11);
    CLOSE_RATIO(rg_gamma_quantile(rows[i][0], 0.975), rows[i][3], 3e-11);
  }
}

/* 17 digits by mpmath, in the corners of shape and probability. */
RG_TEST(gamma_quantiles_to_full_precision)
{
  static const double rows[][3] = {
    {0.001, 0.9, 9.8216596440668819e-47},
    {0.05, 0.5, 5.5738784407462475e-7},
    {0.277258872224, 0.025, 1.1450825435657813e-6},
    {0.277258872224, 0.5, 0.059045173224558256},
    {4.78749174278, 0.5, 4.4586024924448711},
    {17.03662076, 0.025, 9.9310136484261911},
    {300, 1e-6, 224.74061625126691},
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CLOSE_RATIO(rg_gamma_quantile(rows[i][0], rows[i][1]), rows[i][2], 3e-13);
  /* The exponential distribution in closed form. */
  CLOSE_RATIO(rg_gamma_quantile(1.0, 0.3), -log1p(-0.3), 1e-14);
  assert_true(rg_gamma_quantile(2.0, 0.0) == 0.0);
  assert_true(isinf(rg_gamma_quantile(2.0, 1.0)));
}

/* Shapes for which GSL's inverse fails: finite and increasing in p. */
RG_TEST(gamma_quantiles_exist_for_every_shape)
{
  for (double shape = 1e-3; shape < 1e5; shape *= 1.7) {
    double last = 0.0;
    for (double p = 1e-6; p < 1.0; p += 0.0313) {
      double x = rg_gamma_quantile(shape, p);
      assert_true(isfinite(x) && x >= last);
      last = x;
    }
  }
}
