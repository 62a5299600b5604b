/* Predictions from near data against those from all data. */
#include "gp_support.h"

#include "gp/kernel/tiles.h"
#include "gp/posterior/exact/nearby.h"

enum { N = 541, M = 45, D = SUPPORT_DIM };

typedef struct {
  RgKernel kernel;
  RgPosterior posterior;
  double Z[M * D], mean_bar[M], variance_bar[M];
} Case;

/* Takes the kernel. The candidates are near each other in all inputs but the last. */
static void begin(const RgKernel *kernel, double noise, Case *test)
{
  static double X[N * D], y[N];

  test->kernel = *kernel;
  support_points(1, N, D, X);
  support_normals(2, N, y);
  support_points(3, M, D, test->Z);
  for (int j = 0; j < M; j++)
    for (int k = 0; k < D - 1; k++) test->Z[j * D + k] = 0.4 + 0.05 * test->Z[j * D + k];
  support_normals(4, M, test->mean_bar);
  support_normals(5, M, test->variance_bar);
  support_fill(&test->kernel, noise, 0.2, N, X, y, &test->posterior);
}

static void end(Case *test)
{
  RG_OK(rg_posterior_destroy(&test->posterior));
  RG_OK(rg_kernel_destroy(&test->kernel));
}

/* Returns the largest share of the data that took part in a tile. */
static double check(Case *test, double least, double tolerance)
{
  double mean[2][M], variance[2][M], gradient[2][M * D], share = 0;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RG_OWNED(rg_nearby_destroy) RgNearby nearby;

  RG_OK(rg_nearby_create(&test->posterior, least, &nearby));
  RG_OK(rg_posterior_predict(&test->posterior, M, test->Z, mean[0], variance[0], &work));
  RG_OK(rg_posterior_gradient(&test->posterior, M, test->Z, test->mean_bar, test->variance_bar,
                              &work, gradient[0]));
  for (int again = 0; again < 2; again++) { /* few candidates first, without a gradient */
    const int m = again ? M : 3;
    RG_OK(rg_nearby_predict(&nearby, m, test->Z, !again, mean[1], variance[1]));
    support_same(m, mean[1], mean[0], tolerance);
    support_same(m, variance[1], variance[0], tolerance);
  }
  RG_OK(rg_nearby_gradient(&nearby, M, test->mean_bar, test->variance_bar, gradient[1]));
  for (int k = 0; k < M * D; k++) RG_CLOSE(gradient[1][k], gradient[0][k], 30 * tolerance);
  for (int t = 0; t * RG_LANES < M; t++)
    share = PetscMax(share, (nearby.end[t] - nearby.first[t]) / (double)N);
  return share;
}

/* All data near: another way to the same numbers, whatever the kernel is made of. */
RG_TEST(all_data_predict_the_same)
{
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
    RgKernel kernel;
    RG_OWNED(end) Case test;
    support_kernel(variant == 6 ? RG_KERNEL_GAUSSIAN : RG_KERNEL_MATERN52, variant, &kernel);
    begin(&kernel, 0.05, &test);
    assert_true(check(&test, 0.0, 1e-9) >= 1.0);
  }
}

/* Short length scales: a part of the data predicts nearly the same. */
RG_TEST(near_data_predict_nearly_the_same)
{
  const double scales[D] = {0.3, 0.3, 0.3, 0.03};
  const struct {
    double least, tolerance, share;
  } cases[] = {{1e-2, 2e-1, 0.55}, {1e-4, 1e-3, 0.65}, {1e-8, 3e-7, 0.9}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    RgKernel kernel;
    RG_OWNED(end) Case test;
    RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, D, true, scales, 1.7, &kernel));
    begin(&kernel, 0.01, &test);
    assert_true(check(&test, cases[i].least, cases[i].tolerance) < cases[i].share);
  }
}

/* Data at the distance of a period are near, although those at the distance of the box are not. */
RG_TEST(near_data_of_a_periodic_kernel_are_a_period_away)
{
  const double scales[D] = {3, 3, 3, 0.3};
  RgKernel kernel;
  RG_OWNED(end) Case test;

  RG_OK(rg_kernel_create(RG_KERNEL_PERIODIC, D, true, scales, 1.7, &kernel));
  rg_kernel_set_shape(&kernel, 0.3);
  begin(&kernel, 0.01, &test);
  check(&test, 1e-6, 1e-3);
}

/* Far from all data the prior remains. */
RG_TEST(far_candidates_have_the_prior)
{
  const double scales[D] = {1e-3, 1e-3, 1e-3, 1e-3};
  double mean[M], variance[M], gradient[M * D];
  RG_OWNED(rg_nearby_destroy) RgNearby nearby;
  RgKernel kernel;
  RG_OWNED(end) Case test;

  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, D, true, scales, 1.7, &kernel));
  begin(&kernel, 0.01, &test);
  RG_OK(rg_nearby_create(&test.posterior, 1e-4, &nearby));
  RG_OK(rg_nearby_predict(&nearby, M, test.Z, false, mean, variance));
  RG_OK(rg_nearby_gradient(&nearby, M, test.mean_bar, test.variance_bar, gradient));
  for (int j = 0; j < M; j++) {
    RG_CLOSE(mean[j], 0.2, 1e-12);
    RG_CLOSE(variance[j], 1.7, 1e-12);
  }
  for (int k = 0; k < M * D; k++) RG_CLOSE(gradient[k], 0.0, 1e-9);
}
