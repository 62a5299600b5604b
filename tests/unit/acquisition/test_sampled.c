/* Acquisition functions on sampled maxima: batches, floors, limits; covariances with fixed points and
   their gradients. */
#include "gp_support.h"

#include "acquisition/sampled.h"
#include "gp/posterior/exact/exact.h"

/* ---- PIMS and MES ---------------------------------------------------------------------------- */

/* A batch gives the same as points one by one, across chunk borders. */
RG_TEST(batches_are_points)
{
  enum { M = 300 };
  const double maxima[] = {0.4, 1.3, 2.0};
  const RgMes mes = {3, maxima};
  double mean[M], sd[M], value[M], d_mean[M], d_sd[M], one[3];

  for (int j = 0; j < M; j++) {
    mean[j] = sin(j);
    sd[j] = 0.3 + 0.2 * cos(3 * j);
  }
  rg_acquisition_mes(&mes, M, mean, sd, value, d_mean, d_sd);
  for (int j = 0; j < M; j++) {
    rg_acquisition_mes(&mes, 1, mean + j, sd + j, one, one + 1, one + 2);
    RG_CLOSE(value[j], one[0], 1e-14);
    RG_CLOSE(d_mean[j], one[1], 1e-14);
    RG_CLOSE(d_sd[j], one[2], 1e-14);
  }
}

RG_TEST(known_points)
{
  const double maximum = 1.0;
  const RgPims pims = {1.0};
  const RgMes mes = {1, &maximum};
  double mean[] = {0.5, 1.0, 1.5}, sd[] = {0.0, 0.0, 0.0}, value[3], d_mean[3], d_sd[3];

  rg_acquisition_pims(&pims, 3, mean, sd, value, d_mean, d_sd);
  RG_CLOSE(value[0] * 1e-12, -0.5, 1e-15);
  assert_true(value[1] == 0.0);
  RG_CLOSE(value[2] * 1e-12, 0.5, 1e-15);
  for (int j = 0; j < 3; j++) assert_true(d_sd[j] == 0.0 && isfinite(d_mean[j]));
  rg_acquisition_mes(&mes, 3, mean, sd, value, d_mean, d_sd);
  assert_true(value[0] == 0.0); /* nothing to learn */
  RG_CLOSE(value[1], log(2.0), 1e-15);
  RG_CLOSE(value[2], 0.91893853320467274178 + log(0.5e8) - 0.5, 1e-12);
  for (int j = 0; j < 3; j++) assert_true(d_sd[j] == 0.0 && isfinite(d_mean[j]));
}

/* ---- JES ------------------------------------------------------------------------------------- */

#define OPTIMA 11 /* more than one logarithm takes */
#define POINTS 140

typedef struct {
  RgJesOptimum optimum[OPTIMA];
  RgJes jes;
  double mean[POINTS], variance[POINTS], C[OPTIMA * POINTS];
} JesCase;

static void jes_case(JesCase *c)
{
  c->jes = (RgJes){OPTIMA, c->optimum, 1e-3, 1e-14};
  for (int l = 0; l < OPTIMA; l++)
    c->optimum[l] = (RgJesOptimum){0.8 + 0.1 * l, 0.7 + 0.05 * l, 1.0 / (0.6 + 0.03 * l)};
  for (int j = 0; j < POINTS; j++) {
    c->mean[j] = 1.2 * sin(2 * j);
    c->variance[j] = 0.6 + 0.3 * sin(7 * j);
    for (int l = 0; l < OPTIMA; l++)
      c->C[l * POINTS + j] = 0.4 * sin(l + 5 * j) * sqrt(c->variance[j]);
  }
}

enum { OF_MEAN = -2, OF_VARIANCE = -1 };

/* The value at point j where one moment has changed: its mean, its variance, or covariance number
   `what`. */
static double jes_at(const JesCase *c, int j, int what, double change)
{
  const double mean = c->mean[j] + (what == OF_MEAN ? change : 0);
  const double variance = c->variance[j] + (what == OF_VARIANCE ? change : 0);
  double C[OPTIMA], value;

  for (int k = 0; k < OPTIMA; k++) C[k] = c->C[k * POINTS + j] + (k == what ? change : 0.0);
  RG_OK(rg_acquisition_jes(&c->jes, 1, &(RgJesMoments){&mean, &variance, C}, &value, NULL));
  return value;
}

RG_TEST(jes_derivatives)
{
  static JesCase c;
  static double value[POINTS], d_mean[POINTS], d_variance[POINTS], d_C[OPTIMA * POINTS];
  const double h = 1e-6;

  jes_case(&c);
  RG_OK(rg_acquisition_jes(&c.jes, POINTS, &(RgJesMoments){c.mean, c.variance, c.C}, value,
                           &(RgJesSlopes){d_mean, d_variance, d_C}));
  for (int j = 0; j < POINTS; j++) {
    RG_CLOSE(value[j], jes_at(&c, j, 0, 0.0), 1e-13);
    for (int what = OF_MEAN; what < OPTIMA; what += what < 0 ? 1 : 5) {
      const double slope = what == OF_MEAN       ? d_mean[j]
                           : what == OF_VARIANCE ? d_variance[j]
                                                 : d_C[what * POINTS + j];
      RG_CLOSE(slope, (jes_at(&c, j, what, h) - jes_at(&c, j, what, -h)) / 2 / h, 1e-7);
    }
  }
}

/* At the optimum itself no uncertainty remains: a = log((variance + noise)/noise)/2. */
RG_TEST(jes_at_the_optimum)
{
  const double variance = 0.5, eta = 1e-10, mean = 0.2, maximum = 1.4;
  const RgJesOptimum optimum = {maximum, (maximum - mean) / (variance + eta), 1 / (variance + eta)};
  RgJes jes = {1, &optimum, 1e-4, 1e-9};
  double value, d_mean, d_variance, d_C;

  RG_OK(rg_acquisition_jes(&jes, 1, &(RgJesMoments){&mean, &variance, &variance}, &value,
                           &(RgJesSlopes){&d_mean, &d_variance, &d_C}));
  RG_CLOSE(value, 0.5 * log((variance + 1e-4) / 1e-4), 1e-9);
  assert_true(isfinite(d_mean) && isfinite(d_variance) && isfinite(d_C));
  jes.noise = 0.0;
  RG_OK(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
  assert_int_equal(
    (int)rg_acquisition_jes(&jes, 1, &(RgJesMoments){&mean, &variance, &variance}, &value, NULL),
    PETSC_ERR_ARG_OUTOFRANGE);
  RG_OK(PetscPopErrorHandler());
}

/* ---- covariances with fixed points ---------------------------------------------------------- */

static void check_cross(RgKernelFamily family, int variant, int n)
{
  enum { M = 20, P = 3 };
  double X[16 * SUPPORT_DIM], y[16], Z[M * SUPPORT_DIM], centres[P * SUPPORT_DIM];
  double C[P * M], reference[P * M], up[P * M], down[P * M], G[M * SUPPORT_DIM] = {0};
  const double weight[P] = {0.7, -1.1, 0.4}, h = 1e-6;
  double C_bar[P * M];
  RgKernel kernel;
  RgPosterior posterior;
  RgCrossCovariance cross;
  RgFailure failure = {0};

  support_points(1, 16, SUPPORT_DIM, X);
  support_points(2, M, SUPPORT_DIM, Z);
  support_points(3, P, SUPPORT_DIM, centres);
  support_normals(4, 16, y);
  support_kernel(family, variant, &kernel);
  RG_OK(rg_posterior_create(&kernel, 0.01, 0.3, 16, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 0.01, 0.3, n, X, y, &failure));
  RG_OK(rg_cross_covariance_create(&posterior, P, centres, &cross));
  RG_OK(rg_cross_covariance_evaluate(&cross, M, Z, C));
  RG_OK(rg_posterior_covariance(&posterior, P, centres, M, Z, reference));
  for (int i = 0; i < P * M; i++) RG_CLOSE(C[i], reference[i], 1e-11);
  for (int i = 0; i < P * M; i++) C_bar[i] = weight[i / M];
  for (int i = 0; i < M * SUPPORT_DIM; i++) G[i] = 0.25;
  RG_OK(rg_cross_covariance_gradient(&cross, M, Z, C_bar, G));
  for (int k = 0; k < SUPPORT_DIM; k++) {
    for (int j = 0; j < M; j++) Z[j * SUPPORT_DIM + k] += h;
    RG_OK(rg_cross_covariance_evaluate(&cross, M, Z, up));
    for (int j = 0; j < M; j++) Z[j * SUPPORT_DIM + k] -= 2 * h;
    RG_OK(rg_cross_covariance_evaluate(&cross, M, Z, down));
    for (int j = 0; j < M; j++) {
      double sum = 0.25; /* added to the previous content */
      Z[j * SUPPORT_DIM + k] += h;
      for (int s = 0; s < P; s++) sum += weight[s] * (up[s * M + j] - down[s * M + j]) / (2 * h);
      RG_CLOSE(G[j * SUPPORT_DIM + k], sum, 1e-6);
    }
  }
  RG_OK(rg_cross_covariance_destroy(&cross));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(cross_covariances)
{
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
    check_cross(RG_KERNEL_GAUSSIAN, variant, 16);
    check_cross(RG_KERNEL_MATERN52, variant, 9);
  }
  check_cross(RG_KERNEL_GAUSSIAN, 1, 0);
}
