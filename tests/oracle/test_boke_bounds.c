/* Regret bounds of the BOKE study (arXiv:2502.06178): values computed independently. */
#include "test_main.h"

#include "acquisition/confidence.h"
#include "density/regression.h"
#include "theory/regression_bounds.h"

/* O6b. */
RG_TEST(test_constants)
{
  const double gaps[] = {0.5, 0, 0.9};

  RG_CLOSE(rg_regression_bound_finite(10, 1000, 0.1, 0.1, 0.9), 4925.21741581, 1e-11);
  RG_CLOSE(rg_regression_bound_finite(10, 1, 0.1, 0.1, 0.9), 720, 1e-13);
  RG_CLOSE(rg_regression_bound_finite_expected(1, 1, 0.1, 1), 7.57973626739, 1e-11);
  RG_CLOSE(rg_regression_bound_finite_expected(1, exp(1), 0.1, 0), 2 * sqrt(0.64 * exp(1)), 1e-13);
  RG_CLOSE(rg_regression_bound_gaps(3, gaps, exp(1), 0.1),
           0.64 / 0.5 + 0.64 / 0.9 + 7.57973626739 * 1.4, 1e-11);
  RG_CLOSE(rg_regression_bound_general(1, 4, 0, 0.1, 0.1), 2 * sqrt(0.334926380527), 1e-11);
  RG_CLOSE(rg_regression_bound_general(exp(1), 1, 0, 0.1, 0.1),
           sqrt(0.16 * exp(1)) + sqrt(0.334926380527 * exp(1)), 1e-11);
  RG_CLOSE(rg_regression_bound_root(9, 0.25, 4, 1.5), 2 * 3 + 3, 1e-14);
  RG_CLOSE(rg_regression_radius(2.5, 0.1, 0.05), 0.171787763339, 1e-11);
  RG_CLOSE(rg_gaussian_support(1e-3), 3.7169, 1e-4);
}

/* The modulus by comparing all pairs. */
RG_TEST(test_modulus)
{
  double f[60], omega;

  for (int i = 0; i < 60; i++) f[i] = sin(0.7 * i) + 0.1 * i;
  for (int window = 0; window < 70; window += 7) {
    double largest = 0;
    for (int i = 0; i < 60; i++)
      for (int j = 0; j <= i; j++)
        if (i - j <= window) largest = fmax(largest, fabs(f[i] - f[j]));
    RG_OK(rg_modulus_of_continuity(60, f, 0.5, 0.5 * window + 0.1, &omega));
    RG_CLOSE(omega, largest, 0);
  }
}

/* O14: five scripted points of the one-dimensional example. */
RG_TEST(test_run)
{
  enum { GRID = 20001 };
  static double f[GRID];
  const double x[] = {0.25, 0.75, 0.5, 0.3, 0.27};
  const double inverse[] = {268337.286521, 30.8863716783, 1.1513346775, 0.526200017809};
  const double omegas[] = {0.882907432879, 0.778327189169, 0.721775859737, 0.683784383393};
  const double regrets[] = {0.541845452436, 1.02689966713, 0.0268033482233, 0.000733874608134};
  double eta = 0, omega = 0;
  RG_OWNED(rg_regression_destroy) RgRegression r;

  for (int i = 0; i < GRID; i++)
    f[i] = -exp(-1.4 * i / (GRID - 1)) * cos(3.5 * M_PI * i / (GRID - 1));
  RG_OK(rg_regression_create(RG_SMOOTHING_GAUSSIAN, 1, 5, &r));
  for (int t = 1; t <= 4; t++) {
    double h = rg_bandwidth(RG_BANDWIDTH_SCOTT, 0.1, t, 1), log_weight, modulus;
    RG_OK(rg_regression_append(&r, &x[t - 1], 0));
    RG_OK(rg_regression_predict(&r, h, 1, &x[t], NULL, &log_weight, NULL, NULL));
    RG_OK(rg_modulus_of_continuity(GRID, f, 1.0 / (GRID - 1), h, &modulus));
    RG_CLOSE(exp(-log_weight), inverse[t - 1], 1e-11);
    RG_CLOSE(modulus, omegas[t - 1], 1e-6);
    RG_CLOSE(0.67576083137978782 + exp(-1.4 * x[t]) * cos(3.5 * M_PI * x[t]), regrets[t - 1],
             1e-11);
    eta += exp(-log_weight);
    omega += modulus;
  }
  RG_CLOSE(eta, 268369.850427, 1e-11);
  RG_CLOSE(rg_regression_bound_general(4, eta, omega, 0.1, 0.1), 1093.7076728, 1e-6);
}
