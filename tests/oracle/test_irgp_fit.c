/* irgp_ucb oracle O7: log marginal likelihood and gradient of the data of O5. */
#include "test_main.h"

#include "fit_support.h"

static void check(double scale_1, double scale_2, double variance, double value,
                  const double *slope)
{
  const double X[6] = {0.1, 0.2, 0.4, 0.9, 0.8, 0.3}, y[3] = {0.5, -0.3, 0.9};
  const double length_scale[2] = {scale_1, scale_2};
  const RgFitOptions likelihood = {0};
  RgKernel kernel;
  double got, gradient[3];
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, length_scale, variance, &kernel));
  RG_OK(rg_fit_objective(&kernel, 1e-4, 0.0, &(RgData){3, X, y}, &likelihood, &got, gradient));
  RG_CLOSE(got, value, 1e-11);
  for (int p = 0; p < 3; p++) RG_CLOSE(gradient[p], slope[p], 1e-10);
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(test_o7)
{
  check(0.3, 0.3, 1.0, -3.32411074356,
        (const double[]){0.126662580692, -0.0865424574052, -0.928607222321});
  check(0.2, 0.5, 2.0, -4.0963840803,
        (const double[]){-0.0263833424557, -0.0109458636531, -1.19049816572});
}
