/* Values of irgp_ucb.md, section 8: posterior (O5), likelihood (O7), paths (O9, O10), the finite
   posterior along a trace (O15). */
#include "gp_support.h"

#include "maths/blas.h"
#include "gp/posterior/posterior.h"
#include "gp/path/sample_path.h"
#include "gp/posterior/set/set_posterior.h"

static const double X3[] = {0.1, 0.2, 0.4, 0.9, 0.8, 0.3}, Y3[] = {0.5, -0.3, 0.9};
static const double ABC[] = {0.5, 0.5, 0.75, 0.35, 0.1, 0.2};

RG_TEST(o5_posterior)
{
  const double ell = 0.3, mu[] = {0.404561413625, 0.8714527349, 0.499954083043};
  const double var[] = {0.590168661836, 0.0520065426641, 9.9989948789e-05};
  double mean[3], variance[3], C[9];
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0};
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
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Value, and gradient from 1/2 sum A_pq dK_pq with A = alpha alpha' - (K + noise I)^-1. */
RG_TEST(o7_likelihood)
{
  const double scales[2][2] = {{0.3, 0.3}, {0.2, 0.5}}, variance[] = {1.0, 2.0};
  const double value[] = {-3.32411074356, -4.0963840803};
  const double gradient[2][3] = {{0.126662580692, -0.0865424574052, -0.928607222321},
                                 {-0.0263833424557, -0.0109458636531, -1.19049816572}};

  for (int s = 0; s < 2; s++) {
    double K[9], alpha[3], A[9], g[3];
    RgKernel kernel;
    RgPosterior posterior;
    RgFailure failure = {0};

    RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, scales[s], variance[s], &kernel));
    RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, 3, &posterior));
    RG_OK(rg_posterior_set(&posterior, NULL, 1e-4, 0.0, 3, X3, Y3, &failure));
    RG_CLOSE(support_log_likelihood(&posterior), value[s], 1e-11);
    RG_OK(rg_kernel_matrix(&kernel, 3, X3, K));
    for (int i = 0; i < 3; i++) K[4 * i] += 1e-4;
    memcpy(alpha, Y3, sizeof alpha);
    assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', 3, K, 3), 0);
    assert_int_equal(LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', 3, 1, K, 3, alpha, 3), 0);
    assert_int_equal(LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', 3, K, 3), 0);
    for (int p = 0; p < 3; p++) {
      for (int q = 0; q < 3; q++) {
        A[3 * p + q] = alpha[p] * alpha[q] - K[3 * (p < q ? p : q) + (p < q ? q : p)];
      }
    }
    RG_OK(rg_kernel_theta_gradient(&kernel, 3, X3, A, g));
    for (int p = 0; p < 3; p++) RG_CLOSE(0.5 * g[p], gradient[s][p], 1e-11);
    RG_OK(rg_posterior_destroy(&posterior));
    RG_OK(rg_kernel_destroy(&kernel));
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
  RgSpace space;
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0};
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
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_space_destroy(&space));
}

RG_TEST(o10_path_on_the_grid)
{
  const double ell = 0.1;
  double *z, *f, jitter, sum = 0.0;
  int best = 0;
  RgSpace space, route;
  RgKernel kernel;
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
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_space_destroy(&space));
  RG_OK(PetscFree2(z, f));
}

/* The choices and acquisition values of the trace follow from the posterior alone. */
RG_TEST(o15_trace)
{
  const double ell = 0.2;
  const double zeta[] = {4.6051701860, 3.4295968562, 7.8240460109,
                         5.6268214335, 3.9322257127, 9.2103403720};
  const int chosen[] = {8, 6, 9, 0, 7, 8};
  const double value[] = {2.1618381844, 1.7991435639, 1.9432624571,
                          1.5890070406, 1.1005935153, 1.0929937757};
  RgDomain domain = {0};
  RgKernel kernel;
  RgSetPosterior *set;
  RgFailure failure = {0};
  double f[10];

  unit_grid(1, &domain.design);
  for (int i = 0; i < 10; i++) f[i] = sin(0.3 * i) + 0.5 * cos(0.7 * i);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &ell, 1.0, &kernel));
  RG_OK(rg_set_posterior_create(&domain, &kernel, 1e-4, 0.0, 8, &set));
  RG_OK(rg_set_posterior_append(set, 1, f[1], &failure));
  RG_OK(rg_set_posterior_append(set, 4, f[4], &failure));
  for (int t = 0; t < 6; t++) {
    int best = 0;
    double ucb[10];

    for (int i = 0; i < 10; i++) {
      ucb[i] = set->mean[i] + sqrt(zeta[t] * set->variance[i]);
      if (ucb[i] > ucb[best]) best = i;
    }
    assert_int_equal(best, chosen[t]);
    RG_CLOSE(ucb[best], value[t], 1e-9);
    RG_OK(rg_set_posterior_append(set, best, f[best], &failure));
  }
  RG_OK(rg_set_posterior_destroy(&set));
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_domain_destroy(&domain));
}
