/* The posterior at a list of contexts: both forms against single predictions and differences. */
#include "gp_support.h"

#include "gp/context/context_posterior.h"

enum { N = 40, M = 30, S = 12, J = 5, DX = 2, DC = 2, D = DX + DC };

typedef struct {
  RgKernel kernel;
  RgPosterior posterior;
  double X[J * DX], contexts[M * DC];
  RgContextMoments bar;
} Case;

static void begin(RgKernelFamily family, bool product, Case *test)
{
  const double scales[D] = {0.3, 0.5, 0.4, 0.9}, pair[2] = {0.4, 0.6};
  const int group[D] = {0, 0, 1, 1};
  double Z[N * D], y[N];
  RgFailure failure = {0};

  if (product)
    RG_OK(rg_kernel_create_product(family, D, 2, group, false, pair, 1.7, &test->kernel));
  else RG_OK(rg_kernel_create(family, D, true, scales, 1.7, &test->kernel));
  support_points(1, N, D, Z);
  support_normals(2, N, y);
  support_points(3, J, DX, test->X);
  support_points(4, M, DC, test->contexts);
  RG_OK(rg_posterior_create(&test->kernel, 0.01, 0.2, N + 3, &test->posterior));
  RG_OK(rg_posterior_set(&test->posterior, NULL, 0.01, 0.2, N, Z, y, &failure));
  assert_false(failure.failed);
}

static void end(Case *test)
{
  RG_OK(rg_posterior_destroy(&test->posterior));
  RG_OK(rg_kernel_destroy(&test->kernel));
}

static void random_bar(const RgContextPosterior *cp, RgContextMoments *bar)
{
  RG_OK(rg_context_moments_create(cp, bar));
  support_normals(5, J * M, bar->mean);
  support_normals(6, J * M, bar->variance);
  support_normals(7, J * S * DC, bar->mean_slope);
  support_normals(8, J * S * DC, bar->variance_slope);
  for (int k = 0; k < J * M; k += 3) bar->variance[k] = 0.0;
  for (int k = 0; k < J * S * DC / 2; ++k) bar->variance_slope[k] = bar->mean_slope[k] = 0.0;
}

/* Moments and slopes against one rg_posterior_predict per pair and central differences of it. */
static void check_moments(Case *test, RgContextForm form, bool product)
{
  RgContextPosterior cp;
  RgContextMoments moments;
  RgPrediction work = {0};
  const double h = 1e-5;

  RG_OK(rg_context_posterior_create(&test->posterior, DX, M, test->contexts, S, form, 500, &cp));
  assert_int_equal(cp.is_product, product);
  RG_OK(rg_context_moments_create(&cp, &moments));
  RG_OK(rg_context_posterior_predict(&cp, J, test->X, &moments));
  for (int j = 0; j < J; ++j) {
    for (int m = 0; m < M; ++m) {
      double z[D], mean, variance, up[2], down[2];
      for (int k = 0; k < DX; ++k) z[k] = test->X[j * DX + k];
      for (int k = 0; k < DC; ++k) z[DX + k] = test->contexts[m * DC + k];
      RG_OK(rg_posterior_predict(&test->posterior, 1, z, &mean, &variance, &work));
      RG_CLOSE(moments.mean[j * M + m], mean, 1e-10);
      RG_CLOSE(moments.variance[j * M + m], variance, 1e-10);
      for (int k = 0; k < DC && m >= M - S; ++k) {
        int l = (j * S + m - (M - S)) * DC + k;
        z[DX + k] += h;
        RG_OK(rg_posterior_predict(&test->posterior, 1, z, &up[0], &up[1], &work));
        z[DX + k] -= 2.0 * h;
        RG_OK(rg_posterior_predict(&test->posterior, 1, z, &down[0], &down[1], &work));
        z[DX + k] += h;
        RG_CLOSE(moments.mean_slope[l], (up[0] - down[0]) / (2.0 * h), 1e-6);
        RG_CLOSE(moments.variance_slope[l], (up[1] - down[1]) / (2.0 * h), 1e-6);
      }
    }
  }
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_context_moments_destroy(&moments));
  RG_OK(rg_context_posterior_destroy(&cp));
}

static double weighted(RgContextPosterior *cp, const double *X, const RgContextMoments *bar)
{
  RgContextMoments moments;
  double sum = 0.0;

  RG_OK(rg_context_moments_create(cp, &moments));
  RG_OK(rg_context_posterior_predict(cp, J, X, &moments));
  for (int k = 0; k < J * M; ++k)
    sum += bar->mean[k] * moments.mean[k] + bar->variance[k] * moments.variance[k];
  for (int k = 0; k < J * S * DC; ++k)
    sum += bar->mean_slope[k] * moments.mean_slope[k] +
           bar->variance_slope[k] * moments.variance_slope[k];
  RG_OK(rg_context_moments_destroy(&moments));
  return sum;
}

/* The gradient against central differences of the moments themselves. */
static void check_gradient(Case *test, RgContextForm form)
{
  RgContextPosterior cp;
  RgContextMoments bar, moments;
  double G[J * DX], X[J * DX];
  const double h = 1e-5;

  RG_OK(rg_context_posterior_create(&test->posterior, DX, M, test->contexts, S, form, 500, &cp));
  random_bar(&cp, &bar);
  RG_OK(rg_context_moments_create(&cp, &moments));
  RG_OK(rg_context_posterior_predict(&cp, J, test->X, &moments));
  RG_OK(rg_context_posterior_gradient(&cp, J, test->X, &bar, G));
  for (int k = 0; k < J * DX; ++k) {
    memcpy(X, test->X, sizeof(X));
    X[k] += h;
    double up = weighted(&cp, X, &bar);
    X[k] -= 2.0 * h;
    RG_CLOSE(G[k], (up - weighted(&cp, X, &bar)) / (2.0 * h), 1e-5);
  }
  RG_OK(rg_context_moments_destroy(&moments));
  RG_OK(rg_context_moments_destroy(&bar));
  RG_OK(rg_context_posterior_destroy(&cp));
}

RG_TEST(gaussian_is_a_product)
{
  Case test;

  begin(RG_KERNEL_GAUSSIAN, false, &test);
  check_moments(&test, RG_CONTEXT_EXACT, true);
  check_gradient(&test, RG_CONTEXT_EXACT);
  end(&test);
}

RG_TEST(product_of_materns)
{
  Case test;

  begin(RG_KERNEL_MATERN52, true, &test);
  check_moments(&test, RG_CONTEXT_EXACT, true);
  check_gradient(&test, RG_CONTEXT_EXACT);
  end(&test);
}

RG_TEST(other_kernels_go_pair_by_pair)
{
  Case test;

  begin(RG_KERNEL_MATERN52, false, &test);
  check_moments(&test, RG_CONTEXT_EXACT, false);
  check_gradient(&test, RG_CONTEXT_EXACT);
  end(&test);
  begin(RG_KERNEL_GAUSSIAN, false, &test);
  check_moments(&test, RG_CONTEXT_PAIRS, false);
  check_gradient(&test, RG_CONTEXT_PAIRS);
  end(&test);
}
