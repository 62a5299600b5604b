/* Kernels, bandwidths, density and regression of the BOKE study (arXiv:2502.06178): values computed
   independently. */
#include "test_main.h"

#include "density/smoothing.h"

static void test_kernels(void **state)
{
  (void)state;
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_GAUSSIAN, 0.36), 0.835270211411, 1e-11);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_EPANECHNIKOV, 0.36), 0.64, 1e-14);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_UNIFORM, 0.36), 1.0, 0);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_GAUSSIAN, 1), 0.606530659713, 1e-11);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_EPANECHNIKOV, 1), 0, 0);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_UNIFORM, 1), 1, 0);
  RG_CLOSE(0.15 * rg_smoothing_level_radius(RG_SMOOTHING_GAUSSIAN, 0.1), 0.321894903943, 1e-11);
  RG_CLOSE(0.15 * rg_smoothing_level_radius(RG_SMOOTHING_EPANECHNIKOV, 0.1), 0.142302494708, 1e-11);
}

/* In one dimension 2, 4/3 and sqrt(2 pi); in two pi, pi/2 and 2 pi. */
static void test_integrals(void **state)
{
  (void)state;
  RG_CLOSE(rg_smoothing_integral(RG_SMOOTHING_UNIFORM, 1), 2, 1e-14);
  RG_CLOSE(rg_smoothing_integral(RG_SMOOTHING_EPANECHNIKOV, 1), 4.0 / 3, 1e-14);
  RG_CLOSE(rg_smoothing_integral(RG_SMOOTHING_GAUSSIAN, 1), sqrt(2 * M_PI), 1e-14);
  RG_CLOSE(rg_smoothing_integral(RG_SMOOTHING_UNIFORM, 2), M_PI, 1e-14);
  RG_CLOSE(rg_smoothing_integral(RG_SMOOTHING_EPANECHNIKOV, 2), M_PI / 2, 1e-14);
  RG_CLOSE(rg_smoothing_integral(RG_SMOOTHING_GAUSSIAN, 2), 2 * M_PI, 1e-14);
}

static void test_bandwidths(void **state)
{
  static const struct {
    int    n, dim;
    double scott, silverman;
  } known[] = {
    {1, 1, 1, 1.05922384105},
    {10, 1, 0.63095734448, 0.668325061958},
    {50, 2, 0.521000730959, 0.521000730959},
    {100, 6, 0.63095734448, 0.588704018652},
    {200, 8, 0.643054083418, 0.595779880472},
  };
  const double points[] = {1, 5, 2, 5, 6, 5};
  double       deviation[2];

  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SCOTT, 1, known[i].n, known[i].dim), known[i].scott, 1e-11);
    RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SILVERMAN, 1, known[i].n, known[i].dim), known[i].silverman,
             1e-11);
  }
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SCOTT, 0.1 * pow(6, 0.75), 100, 6), 0.241887506597, 1e-11);
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SCOTT, 0.1 * pow(2, 0.75), 50, 2), 0.0876215294015, 1e-11);
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SPACING, 2, 16, 4), 1, 1e-15);
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_FIXED, 2, 16, 4), 2, 0);
  rg_sample_deviations(3, 2, points, deviation);
  RG_CLOSE(deviation[0], sqrt(7), 1e-15);
  RG_CLOSE(deviation[1], 0, 0);
  rg_sample_deviations(1, 2, points, deviation);
  RG_CLOSE(deviation[0], 0, 0);
}

static const struct CMUnitTest tests[] = {
  cmocka_unit_test(test_kernels),
  cmocka_unit_test(test_integrals),
  cmocka_unit_test(test_bandwidths),
};

RG_TEST_MAIN(tests)
