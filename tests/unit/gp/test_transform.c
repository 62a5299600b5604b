/* Transformations of outputs against SciPy (1.10.1), their inverses and slopes. */
#include "test_main.h"

#include "gp/model/model.h"

static const double tailed[] = {-310.5, -12.25, -3.5, -1.0, -0.5, 0.25, 0.75, 1.5, -77.0, 2.0};

/* expected: scipy.stats.yeojohnson of the standardised outputs, exponent: yeojohnson_normmax. */
static void check_power(int n, const double *y, double exponent, const double *expected)
{
  RG_OWNED(rg_transform_destroy) RgTransform transform = {0};

  RG_OK(rg_transform_fit(&transform, RG_TRANSFORM_YEO_JOHNSON, n, y));
  RG_CLOSE(transform.lambda, exponent, 1e-6); /* SciPy's search stops earlier */
  for (int i = 0; i < n; i++) RG_CLOSE(rg_transform_value(&transform, y[i]), expected[i], 1e-6);
}

RG_TEST(powers_are_those_of_scipy)
{
  const double scores[] = {-0.37583167041748666, 0.504481743079782,  0.7775250798338007,
                           0.8686844073373715,   0.8876739284709761, 0.9166434464040631,
                           0.9362836361283852,   0.9662410549381366, -0.22411268311524143,
                           0.9865478322497839};
  const double logarithm[] = {0.1, 2.3, -1.2, 4.4, 0.7, 3.1, -0.4};
  const double other[] = {-1.0399492088326598, -0.3280668399783627, -1.1237216467416444,
                          0.6192300399398594,  -0.9494477539301892, 0.1604446613494528,
                          -1.0848237196414194};
  double y[7];

  check_power(10, tailed, 4.581970348460548, scores);
  for (int i = 0; i < 7; i++) y[i] = exp(logarithm[i]);
  check_power(7, y, -1.2671474426064742, other);
}

/* scipy.stats.norm.ppf((rankdata(y) - 0.5)/n). */
RG_TEST(scores_are_those_of_scipy)
{
  const double y[] = {3, 1, 1, -2, 7};
  const double scores[] = {0.5244005127080407, -0.2533471031357997, -0.2533471031357997,
                           -1.2815515655446004, 1.2815515655446004};
  RG_OWNED(rg_transform_destroy) RgTransform transform = {0};

  RG_OK(rg_transform_fit(&transform, RG_TRANSFORM_COPULA, 5, y));
  for (int i = 0; i < 5; i++) RG_CLOSE(rg_transform_value(&transform, y[i]), scores[i], 1e-12);
  RG_CLOSE(rg_transform_value(&transform, 5), 0.5 * (scores[0] + scores[4]), 1e-12);
}

/* Increasing, with the slope of differences, and between the outermost outputs an exact inverse. */
RG_TEST(inverses_and_slopes)
{
  for (int kind = 1; kind < 3; kind++) {
    RG_OWNED(rg_transform_destroy) RgTransform transform = {0};
    double before = -INFINITY;
    RG_OK(rg_transform_fit(&transform, (RgTransformKind)kind, 10, tailed));
    for (double y = -400.2; y < 30; y += 2.7) {
      const double value = rg_transform_value(&transform, y), h = 1e-4;
      const double slope =
        (rg_transform_value(&transform, y + h) - rg_transform_value(&transform, y - h)) / (2 * h);
      assert_true(value > before);
      before = value;
      RG_CLOSE(rg_transform_slope(&transform, y) / slope, 1, 1e-6);
      if (y >= -310.5 && y <= 2) RG_CLOSE(rg_transform_inverse(&transform, value), y, 1e-8);
    }
  }
}

/* Beyond the outermost outputs the inverse is a line, also where the power has ended. */
RG_TEST(inverses_are_finite)
{
  for (int sign = -1; sign < 2; sign += 2)
    for (int kind = 1; kind < 3; kind++) {
      RG_OWNED(rg_transform_destroy) RgTransform transform = {0};
      double y[10], end = 0;
      for (int i = 0; i < 10; i++) {
        y[i] = sign * tailed[i];
        if (fabs(y[i]) > fabs(end)) end = y[i];
      }
      RG_OK(rg_transform_fit(&transform, (RgTransformKind)kind, 10, y));
      const double at = rg_transform_value(&transform, end);
      for (double step = 1e-3; step < 1e5; step *= 10) {
        const double inverse = rg_transform_inverse(&transform, at + copysign(step, end));
        RG_CLOSE((inverse - end) * rg_transform_slope(&transform, end) / copysign(step, end), 1,
                 1e-9);
      }
    }
}

/* The unit of the outputs changes no bit of T. */
RG_TEST(units_do_not_matter)
{
  static const int exponents[] = {20, -20, 300, -300, 900, -600, -1000};

  for (int kind = 1; kind < 3; kind++) {
    RgTransform other = {0};
    RG_OWNED(rg_transform_destroy) RgTransform transform = {0};
    RG_OK(rg_transform_fit(&transform, (RgTransformKind)kind, 10, tailed));
    for (size_t k = 0; k < sizeof(exponents) / sizeof(*exponents); k++) {
      double y[10];
      for (int i = 0; i < 10; i++) y[i] = ldexp(tailed[i], exponents[k]);
      RG_OK(rg_transform_fit(&other, (RgTransformKind)kind, 10, y));
      assert_true(other.lambda == transform.lambda);
      for (int i = 0; i < 10; i++) {
        assert_true(rg_transform_value(&other, y[i]) == rg_transform_value(&transform, tailed[i]));
        RG_CLOSE(ldexp(rg_transform_slope(&other, y[i]), exponents[k]) /
                   rg_transform_slope(&transform, tailed[i]),
                 1, 1e-14);
      }
      RG_OK(rg_transform_destroy(&other));
    }
  }
}

/* Two different outputs have no shape. */
RG_TEST(few_outputs_stay)
{
  const double y[] = {5, 5, 9, 9};
  RG_OWNED(rg_transform_destroy) RgTransform transform = {0};

  for (int kind = 0; kind < 3; kind++) {
    RG_OK(rg_transform_fit(&transform, (RgTransformKind)kind, 4, y));
    assert_int_equal(transform.kind, RG_TRANSFORM_NONE);
    assert_true(rg_transform_value(&transform, 7) == 7 && rg_transform_slope(&transform, 7) == 1);
    assert_true(rg_transform_inverse(&transform, 7) == 7);
  }
}
