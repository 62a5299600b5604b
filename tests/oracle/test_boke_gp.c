/* The Gaussian process of the BOKE study (arXiv:2502.06178): values computed independently, repeated
   points against merged ones, and the limit of a vanishing bandwidth. */
#include "test_main.h"

#include <lapacke.h>

#include "gp/posterior/posterior.h"

static const double d1_x[] = {0.1, 0.4, 0.45, 0.9}, d1_y[] = {0.2, -0.5, 0.7, 0.1};
static const double d2_x[] = {0.2, 0.3, 0.7, 0.8, 0.5, 0.1, 0.2, 0.3}, d2_y[] = {1, 2, -1, 1.4};

typedef struct {
  double mean, variance;
} Value;

/* Mean and variance at x given n data, Gaussian kernel of variance 1. */
static Value predict(int dim, double length_scale, double noise, int n, const double *X,
                     const double *y, const double *x)
{
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RgFailure failure = {0};
  Value value;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, dim, false, &length_scale, 1.0, &kernel));
  RG_OK(rg_posterior_create(&kernel, noise, 0.0, n, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, noise, 0.0, n, X, y, &failure));
  assert_false(failure.failed);
  assert_true(posterior.jitter == 0.0);
  RG_OK(rg_posterior_predict(&posterior, 1, x, &value.mean, &value.variance, &work));
  return value;
}

/* O8a */
RG_TEST(test_one_dimension)
{
  const double x = 0.3;
  Value at = predict(1, 0.2, 0.01, 4, d1_x, d1_y, &x);

  RG_CLOSE(at.mean, -1.32425069538, 1e-10);
  RG_CLOSE(at.variance, 0.0654875932974, 1e-11);
  RG_CLOSE(at.mean + sqrt(4 * at.variance), -0.812439818988, 1e-10);
}

/* O8b: the GP of n data, two of which share their point, and the GP with their mean and half the
   noise. Merged data have one noise variance each, so the kernel matrix is made by hand. */
RG_TEST(test_repeated_points)
{
  const double x[] = {0.4, 0.5}, noise[] = {0.02, 0.04, 0.04}, y[] = {1.2, 2, -1};
  const double scale = -0.5 / (0.3 * 0.3);
  double K[9], k[3], solved[6], mean = 0, variance = 1;
  Value at = predict(2, 0.3, 0.04, 4, d2_x, d2_y, x);

  RG_CLOSE(at.mean, 1.2133606078, 1e-10);
  RG_CLOSE(at.variance, 0.485419003551, 1e-11);
  for (int i = 0; i < 3; i++) {
    const double *p = d2_x + 2 * i;
    for (int j = 0; j < 3; j++) {
      const double *q = d2_x + 2 * j;
      K[3 * i + j] = exp(scale * (pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2))) + (i == j) * noise[i];
    }
    solved[i] = y[i];
    solved[3 + i] = k[i] = exp(scale * (pow(p[0] - x[0], 2) + pow(p[1] - x[1], 2)));
  }
  assert_int_equal(LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', 3, 2, K, 3, solved, 3), 0);
  for (int i = 0; i < 3; i++) {
    mean += k[i] * solved[i];
    variance -= k[i] * solved[3 + i];
  }
  RG_CLOSE(at.mean, mean, 1e-12);
  RG_CLOSE(at.variance, variance, 1e-12);
}

/* O8c and propositions B.3, B.5: as the bandwidth vanishes, the posterior becomes spikes on a
   mean of zero. */
RG_TEST(test_no_bandwidth)
{
  const double away[] = {0.4, 0.5};
  Value twice = predict(2, 1e-5, 0.04, 4, d2_x, d2_y, d2_x);
  Value once = predict(2, 1e-5, 0.04, 4, d2_x, d2_y, d2_x + 2);
  Value never = predict(2, 1e-5, 0.04, 4, d2_x, d2_y, away);

  RG_CLOSE(twice.mean, 1.17647058824, 1e-10);
  RG_CLOSE(twice.variance, 0.0196078431373, 1e-12);
  RG_CLOSE(twice.mean, 2.4 / 2.04, 1e-13);
  RG_CLOSE(once.mean, 2 / 1.04, 1e-13);
  RG_CLOSE(once.variance, 1 - 1 / 1.04, 1e-13);
  RG_CLOSE(never.mean, 0, 0);
  RG_CLOSE(never.variance, 1, 0);
}
