/* Values of irgp_ucb.md, section 8: posterior (O5), likelihood (O7), paths (O9, O10). */
#include "test_main.h"

#include "fit_support.h"
#include "gp/posterior/posterior.h"
#include "gp/path/sample_path.h"

static const double X3[] = {0.1, 0.2, 0.4, 0.9, 0.8, 0.3}, Y3[] = {0.5, -0.3, 0.9};
static const double ABC[] = {0.5, 0.5, 0.75, 0.35, 0.1, 0.2};

RG_TEST(o5_posterior)
{
  const double ell = 0.3, mu[] = {0.404561413625, 0.8714527349, 0.499954083043};
  const double var[] = {0.590168661836, 0.0520065426641, 9.9989948789e-05};
  double mean[3], variance[3], C[9];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RgFailure failure = {0};

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &ell, 1.0, &kernel));
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, 3, &posterior));
  for (int appended = 0; appended < 2; appended++) {
    RG_OK(rg_posterior_set(&posterior, NULL, 1e-4, 0.0, appended ? 0 : 3, X3, Y3, &failure));
    for (int i = 0; appended && i < 3; i++) {
      RG_OK(rg_posterior_append(&posterior, X3 + 2 * i, Y3[i], &failure));
    }
    RG_OK(rg_posterior_predict(&posterior, 3, ABC, mean, variance, &work));
    RG_OK(rg_posterior_covariance(&posterior, 3, ABC, 3, ABC, C));
    for (int j = 0; j < 3; j++) {
      RG_CLOSE(mean[j], mu[j], 1e-12);
      RG_CLOSE(variance[j], var[j], 1e-12);
      RG_CLOSE(C[4 * j], var[j], 1e-12);
    }
    RG_CLOSE(C[1], 0.132052373955, 1e-12);
    RG_CLOSE(C[3], 0.132052373955, 1e-12);
  }
}

RG_TEST(o7_likelihood)
{
  const double scales[2][2] = {{0.3, 0.3}, {0.2, 0.5}}, variance[] = {1.0, 2.0};
  const double value[] = {-3.32411074356, -4.0963840803};
  const double slope[2][3] = {{0.126662580692, -0.0865424574052, -0.928607222321},
                              {-0.0263833424557, -0.0109458636531, -1.19049816572}};

  for (int s = 0; s < 2; s++) {
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;
    double found, gradient[3];
    RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, scales[s], variance[s], &kernel));
    RG_OK(rg_fit_objective(&kernel, 1e-4, 0.0, &(RgData){3, X3, Y3}, &(RgFitOptions){0}, &found,
                           gradient));
    RG_CLOSE(found, value[s], 1e-11);
    for (int p = 0; p < 3; p++) RG_CLOSE(gradient[p], slope[s][p], 1e-10);
  }
}

static void unit_grid(int dim, RgSpace *space)
{
  const int levels[] = {10, 10, 10};
  const double zero[3] = {0}, one[] = {1.0, 1.0, 1.0};
  double axes[30];

  for (int i = 0; i < 30; i++) axes[i] = (i % 10) / 10.0;
  RG_OK(rg_space_grid(space, dim, levels, axes, zero, one));
}

/* The oracle adds jitter 1e-10 to the prior, which moves this path by less than 1e-5. */
RG_TEST(o9_path_conditioned_on_data)
{
  const double ell = 0.2;
  const double prior[] = {0.8414709848,  1.1702546743,  1.2233441747,  0.8173724537, 0.0350304053,
                          -0.7213178505, -0.9628927137, -0.5058685125, 0.3148174838, 0.8544823888};
  const double path[] = {0.7095887869,  0.9230984851,  0.8598348004,  0.3900405717,  -0.3895911353,
                         -1.1271082047, -1.3929879767, -0.9949139620, -0.1949508058, 0.4158377111};
  double z[10], f[10], mean[10], jitter, X[2], y[2];
  RG_OWNED(rg_space_destroy) RgSpace space;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RgFailure failure = {0};

  unit_grid(1, &space);
  for (int i = 0; i < 10; i++) z[i] = sin(1.0 + i);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &ell, 1.0, &kernel));
  RG_OK(rg_sample_path(NULL, &space, &kernel, z, f, &jitter, &failure));
  assert_true(jitter == 0.0 && !failure.failed);
  for (int i = 0; i < 10; i++) RG_CLOSE(f[i], prior[i], 1e-5);
  /* y - f0(X) - e as data of a posterior with mean zero. */
  X[0] = space.points[3];
  X[1] = space.points[8];
  y[0] = 0.4 - prior[3] - 0.01;
  y[1] = -0.2 - prior[8] + 0.005;
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, 2, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-4, 0.0, 2, X, y, &failure));
  RG_OK(rg_posterior_predict(&posterior, 10, space.points, mean, NULL, &work));
  for (int i = 0; i < 10; i++) RG_CLOSE(prior[i] + mean[i], path[i], 1e-9);
}

RG_TEST(o10_path_on_the_grid)
{
  const double ell = 0.1;
  double *z, *f, jitter, sum = 0.0;
  int best = 0;
  RgSpace space, route;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RgFailure failure = {0};

  RG_OK(PetscMalloc2(1000, &z, 1000, &f));
  unit_grid(3, &space);
  for (int i = 0; i < 1000; i++) z[i] = sin(1.0 + i);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 3, false, &ell, 1.0, &kernel));
  for (int dense = 0; dense < 2; dense++) {
    route = space;
    if (dense) route.kind = RG_SPACE_SET;
    RG_OK(rg_sample_path(NULL, &route, &kernel, z, f, &jitter, &failure));
    assert_true(jitter == 0.0 && !failure.failed);
    RG_CLOSE(f[0], 0.841470984808, 1e-10);
    RG_CLOSE(f[1], 1.23332405248, 1e-10);
    RG_CLOSE(f[123], -0.539408206681, 1e-10);
    RG_CLOSE(f[999], 0.561336064602, 1e-10);
    sum = 0.0;
    for (int i = 0; i < 1000; i++) {
      sum += f[i];
      if (f[i] > f[best]) best = i;
    }
    assert_int_equal(best, 604);
    RG_CLOSE(f[best], 1.8188656679, 1e-9);
    RG_CLOSE(sum, -3.576341412, 1e-8);
  }
  RG_OK(rg_space_destroy(&space));
  RG_OK(PetscFree2(z, f));
}
