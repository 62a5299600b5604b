/* The posterior at a list of contexts: both forms against single predictions and differences. */
#include "gp_support.h"

#include "gp/context/context_nodes.h"
#include "gp/context/context_posterior.h"
#include "gp/posterior/exact/nearby.h"

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

  if (product)
    RG_OK(rg_kernel_create_product(family, D, 2, group, false, pair, 1.7, &test->kernel));
  else RG_OK(rg_kernel_create(family, D, true, scales, 1.7, &test->kernel));
  support_points(1, N, D, Z);
  support_normals(2, N, y);
  support_points(3, J, DX, test->X);
  support_points(4, M, DC, test->contexts);
  support_fill(&test->kernel, 0.01, 0.2, N, Z, y, &test->posterior);
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
  for (int k = 0; k < J * S * DC / 2; k++) bar->variance_slope[k] = bar->mean_slope[k] = 0.0;
}

/* Moments and slopes against one rg_posterior_predict per pair and central differences of it. */
static void check_moments(Case *test, RgContextForm form, bool product)
{
  RG_OWNED(rg_context_posterior_destroy) RgContextPosterior cp;
  RG_OWNED(rg_context_moments_destroy) RgContextMoments moments;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  const double h = 1e-5;

  RG_OK(rg_context_posterior_create(&test->posterior, DX, M, test->contexts, S, form, 500, &cp));
  assert_int_equal(cp.is_product, product);
  RG_OK(rg_context_moments_create(&cp, &moments));
  RG_OK(rg_context_posterior_predict(&cp, J, test->X, &moments));
  for (int j = 0; j < J; j++)
    for (int m = 0; m < M; m++) {
      double z[D], mean, variance, up[2], down[2];
      for (int k = 0; k < DX; k++) z[k] = test->X[j * DX + k];
      for (int k = 0; k < DC; k++) z[DX + k] = test->contexts[m * DC + k];
      RG_OK(rg_posterior_predict(&test->posterior, 1, z, &mean, &variance, &work));
      RG_CLOSE(moments.mean[j * M + m], mean, 1e-10);
      RG_CLOSE(moments.variance[j * M + m], variance, 1e-10);
      for (int k = 0; k < DC && m >= M - S; k++) {
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

static double weighted(RgContextPosterior *cp, const double *X, const RgContextMoments *bar)
{
  RG_OWNED(rg_context_moments_destroy) RgContextMoments moments;
  double sum = 0.0;

  RG_OK(rg_context_moments_create(cp, &moments));
  RG_OK(rg_context_posterior_predict(cp, J, X, &moments));
  for (int k = 0; k < J * M; k++)
    sum += bar->mean[k] * moments.mean[k] + bar->variance[k] * moments.variance[k];
  for (int k = 0; k < J * S * DC; k++)
    sum += bar->mean_slope[k] * moments.mean_slope[k] +
           bar->variance_slope[k] * moments.variance_slope[k];
  return sum;
}

/* The gradient against central differences of the moments themselves. */
static void check_gradient(Case *test, RgContextForm form)
{
  RG_OWNED(rg_context_posterior_destroy) RgContextPosterior cp;
  RG_OWNED(rg_context_moments_destroy) RgContextMoments bar, moments;
  double G[J * DX], X[J * DX];
  const double h = 1e-5;

  RG_OK(rg_context_posterior_create(&test->posterior, DX, M, test->contexts, S, form, 500, &cp));
  random_bar(&cp, &bar);
  RG_OK(rg_context_moments_create(&cp, &moments));
  RG_OK(rg_context_posterior_predict(&cp, J, test->X, &moments));
  RG_OK(rg_context_posterior_gradient(&cp, J, test->X, &bar, G));
  for (int k = 0; k < J * DX; k++) {
    memcpy(X, test->X, sizeof(X));
    X[k] += h;
    double up = weighted(&cp, X, &bar);
    X[k] -= 2.0 * h;
    RG_CLOSE(G[k], (up - weighted(&cp, X, &bar)) / (2.0 * h), 1e-5);
  }
}

/* product: of two kernels; reduced: whether it is treated as a product in x and c. */
static void check(RgKernelFamily family, bool product, RgContextForm form, bool reduced)
{
  RG_OWNED(end) Case test;

  begin(family, product, &test);
  check_moments(&test, form, reduced);
  check_gradient(&test, form);
}

RG_TEST(products_are_reduced_and_other_kernels_go_pair_by_pair)
{
  check(RG_KERNEL_GAUSSIAN, false, RG_CONTEXT_EXACT, true);
  check(RG_KERNEL_MATERN52, true, RG_CONTEXT_EXACT, true);
  check(RG_KERNEL_MATERN52, false, RG_CONTEXT_EXACT, false);
  check(RG_KERNEL_GAUSSIAN, false, RG_CONTEXT_PAIRS, false);
}

/* From near data: the moments and the gradient of the pairs, with the designs in one batch and one
   by one, and with derivatives that are zero. */
static void check_near(int slopes)
{
  const RgContextForm forms[2] = {RG_CONTEXT_PAIRS, RG_CONTEXT_NEAR};
  double G[2][J * DX], one[DX];
  RgContextMoments moments[2];
  RG_OWNED(rg_context_moments_destroy) RgContextMoments bar;
  RgContextPosterior cp[2];
  RG_OWNED(end) Case test;

  begin(RG_KERNEL_MATERN52, false, &test);
  for (int f = 0; f < 2; f++) {
    RG_OK(rg_context_posterior_create(&test.posterior, DX, M, test.contexts, slopes, forms[f], 500,
                                      &cp[f]));
    RG_OK(rg_context_moments_create(&cp[f], &moments[f]));
    if (!f) RG_OK(rg_context_moments_create(&cp[f], &bar));
    if (!f) support_normals(5, J * M, bar.mean);
    if (!f) support_normals(6, J * M, bar.variance);
    if (!f) support_normals(7, J * slopes * DC, bar.mean_slope);
    for (int k = 0; k < J * M; k += 3) bar.mean[k] = bar.variance[k] = 0.0;
    RG_OK(rg_context_posterior_predict(&cp[f], J, test.X, &moments[f]));
    RG_OK(rg_context_posterior_gradient(&cp[f], J, test.X, &bar, G[f]));
  }
  assert_int_equal(rg_context_posterior_kept(&cp[1]), 1);
  support_same(J * M, moments[1].mean, moments[0].mean, 1e-3);
  support_same(J * M, moments[1].variance, moments[0].variance, 1e-5);
  support_same(J * slopes * DC, moments[1].mean_slope, moments[0].mean_slope, 1e-2);
  support_same(J * slopes * DC, moments[1].variance_slope, moments[0].variance_slope, 1e-4);
  support_same(J * DX, G[1], G[0], 2e-2);
  RG_OK(rg_context_posterior_predict(&cp[1], 1, test.X, &moments[1]));
  RG_OK(rg_context_posterior_gradient(&cp[1], 1, test.X, &bar, one));
  support_same(DX, one, G[1], 1e-12);
  for (int f = 0; f < 2; f++) {
    RG_OK(rg_context_moments_destroy(&moments[f]));
    RG_OK(rg_context_posterior_destroy(&cp[f]));
  }
}

RG_TEST(near_data_do_for_pairs)
{
  check_near(0);
  check_near(S);
}

/* A smooth function of two contexts from its values at the nodes, with its derivatives; the way
   back is the transpose. */
RG_TEST(nodes_interpolate)
{
  enum { MANY = 200, LAST = 20, MOST = 100 };
  double contexts[MANY * DC], at_node[MOST], u[MANY], slope[LAST * DC], bar[MOST];
  double u_bar[MANY], slope_bar[LAST * DC], forth = 0, back = 0;
  RgContextNodes nodes;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(end) Case test;

  begin(RG_KERNEL_MATERN52, false, &test);
  support_points(4, MANY, DC, contexts);
  RG_OK(rg_context_nodes_create(&test.kernel, DX, MANY, contexts, LAST, 1e-5, 10, &nodes));
  assert_int_equal(nodes.n, 0); /* ten nodes are too few */
  RG_OK(rg_context_nodes_create(&test.kernel, DX, MANY, contexts, LAST, 1e-5, MOST, &nodes));
  assert_in_range(nodes.n, 20, MOST);
  for (int k = 0; k < nodes.n; k++)
    at_node[k] = sin(3 * nodes.contexts[k * DC]) * exp(nodes.contexts[k * DC + 1]);
  rg_context_nodes_values(&nodes, 1, at_node, u, slope);
  for (int m = 0; m < MANY; m++)
    RG_CLOSE(u[m], sin(3 * contexts[m * DC]) * exp(contexts[m * DC + 1]), 5e-3);
  for (int l = 0; l < LAST; l++) {
    const double *c = contexts + (size_t)(MANY - LAST + l) * DC;
    RG_CLOSE(slope[l * DC], 3 * cos(3 * c[0]) * exp(c[1]), 1e-1);
    RG_CLOSE(slope[l * DC + 1], sin(3 * c[0]) * exp(c[1]), 1e-1);
  }
  support_normals(5, MANY, u_bar);
  support_normals(6, LAST * DC, slope_bar);
  rg_context_nodes_pull(&nodes, 1, u_bar, slope_bar, bar);
  for (int m = 0; m < MANY; m++) forth += u_bar[m] * u[m];
  for (int l = 0; l < LAST * DC; l++) forth += slope_bar[l] * slope[l];
  for (int k = 0; k < nodes.n; k++) back += bar[k] * at_node[k];
  RG_CLOSE(forth, back, 1e-9);
  RG_OK(rg_context_nodes_destroy(&nodes));
  RG_OK(rg_kernel_create(RG_KERNEL_PERIODIC, D, false, (const double[]){1}, 1, &kernel));
  RG_OK(rg_context_nodes_create(&kernel, DX, MANY, contexts, 0, 1e-5, MOST, &nodes));
  assert_int_equal(nodes.n, 0);
}

/* Data in clusters: the projection has fewer data, and predicts the same up to its allowed rest.
   With hardly any rest it is the posterior. */
RG_TEST(projection_predicts_the_same)
{
  enum { LARGE = 160, POINTS = 50 };
  const double tolerance[] = {1e-2, 1e-4, 1e-8}, error[] = {5e-2, 5e-3, 0};
  const double scales[D] = {0.3, 0.5, 0.4, 0.9};
  double Z[LARGE * D], y[LARGE], at[POINTS * D], mean[2][POINTS], variance[2][POINTS];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  bool made;

  support_points(1, LARGE, D, Z);
  for (int i = 30; i < LARGE; i++)
    for (int k = 0; k < D; k++) Z[i * D + k] = Z[i % 30 * D + k] + 0.01 * Z[i * D + k];
  for (int i = 0; i < LARGE; i++) y[i] = sin(4 * Z[i * D]) + Z[i * D + 1] * Z[i * D + 3];
  support_points(2, POINTS, D, at);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, D, true, scales, 1.7, &kernel));
  support_fill(&kernel, 0.02, 0.2, LARGE, Z, y, &posterior);
  support_predict(&posterior, POINTS, at, mean[0], variance[0]);
  for (int k = 0; k < 3; k++) {
    RgPosterior projected;
    RG_OK(rg_posterior_project(&posterior, tolerance[k], &projected, &made));
    assert_int_equal(made, k < 2);
    if (!made) continue;
    assert_in_range(projected.n, 20, k == 0 ? 60 : 2 * LARGE / 3);
    support_predict(&projected, POINTS, at, mean[1], variance[1]);
    support_same(POINTS, mean[1], mean[0], error[k]);
    support_same(POINTS, variance[1], variance[0], error[k]);
    RG_OK(rg_posterior_destroy(&projected));
  }
}
