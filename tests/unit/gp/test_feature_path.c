/* Feature paths: moments over many paths against kernel and posterior, gradients, the two forms
   of the weight-space update, errors. */
#include "gp_support.h"

#include "maths/blas.h"
#include "gp/path/feature_path.h"

#define POINTS 5
#define DATA 6

static RgRandom test_random(const char *name)
{
  RgStream stream = rg_stream(11, "feature", 0, name, 1);

  return rg_stream_at(&stream, 0);
}

/* A path over SUPPORT_DIM inputs, and the posterior of n data that it may be conditioned on. */
typedef struct {
  RgKernel kernel;
  RgPosterior posterior;
  RgFeaturePath path;
  RgRandom random;
} Case;

static void begin(RgKernelFamily family, int variant, int n, int features, const char *name,
                  Case *c)
{
  c->random = test_random(name);
  support_kernel(family, variant, &c->kernel);
  support_posterior(&c->kernel, n, &c->posterior);
  RG_OK(rg_feature_path_create(SUPPORT_DIM, features, &c->path));
}

static void end(Case *c)
{
  RG_OK(rg_feature_path_destroy(&c->path));
  RG_OK(rg_posterior_destroy(&c->posterior));
  RG_OK(rg_kernel_destroy(&c->kernel));
}

static void condition(Case *c, bool pathwise, const double *e)
{
  RG_NO_FAILURE(failure);

  if (pathwise) RG_OK(rg_feature_path_condition_pathwise(&c->path, &c->posterior, e));
  else RG_OK(rg_feature_path_condition_weights(&c->path, &c->posterior, e, &failure));
}

/* Means and second moments of many paths at POINTS points. */
typedef struct {
  int n;
  double sum[POINTS], product[POINTS][POINTS], square[POINTS][POINTS];
} Moments;

static void add_path(Moments *moments, const double *value, const double *centre)
{
  moments->n++;
  for (int i = 0; i < POINTS; i++) {
    moments->sum[i] += value[i] - centre[i];
    for (int j = 0; j < POINTS; j++) {
      double p = (value[i] - centre[i]) * (value[j] - centre[j]);
      moments->product[i][j] += p;
      moments->square[i][j] += p * p;
    }
  }
}

/* Within five standard errors plus `bias` of mean zero and covariance C. */
static void check_moments(const Moments *moments, const double *C, double bias)
{
  double n = moments->n;

  for (int i = 0; i < POINTS; i++) {
    double error = 5.0 * sqrt(C[i * POINTS + i] / n) + bias;
    if (!(fabs(moments->sum[i] / n) <= error))
      fail_msg("mean %d: %g, allowed %g", i, moments->sum[i] / n, error);
    for (int j = 0; j < POINTS; j++) {
      double mean = moments->product[i][j] / n;
      double spread = sqrt((moments->square[i][j] / n - mean * mean) / n);
      if (!(fabs(mean - C[i * POINTS + j]) <= 5.0 * spread + bias)) {
        fail_msg("covariance %d %d: %g, expected %g, standard error %g", i, j, mean,
                 C[i * POINTS + j], spread);
      }
    }
  }
}

RG_TEST(prior_has_the_kernel)
{
  double X[POINTS * SUPPORT_DIM], K[POINTS * POINTS], value[POINTS], zero[POINTS] = {0};

  support_points(3, POINTS, SUPPORT_DIM, X);
  for (int k = 0; k < SUPPORT_DIM; k++) X[SUPPORT_DIM + k] = X[k] + 0.05; /* two close points */
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++)
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      RgRandom random = test_random("prior");
      Moments moments = {0};
      if (!rg_kernel_classes[family]->spectrum) continue;
      RG_OWNED(rg_kernel_destroy) RgKernel kernel;
      RG_OWNED(rg_feature_path_destroy) RgFeaturePath path;
      support_kernel((RgKernelFamily)family, variant, &kernel);
      if (rg_kernel_classes[family]->symbol) rg_kernel_set_shape(&kernel, 0.7);
      RG_OK(rg_kernel_matrix(&kernel, POINTS, X, K));
      RG_OK(rg_feature_path_create(SUPPORT_DIM, 37, &path));
      for (int s = 0; s < 3000; s++) {
        RG_OK(rg_feature_path_draw(&path, &kernel, &random));
        RG_OK(rg_feature_path_evaluate(&path, POINTS, X, value, NULL));
        add_path(&moments, value, zero);
      }
      check_moments(&moments, K, 0.0);
    }
}

/* Pathwise paths have the moments of the posterior exactly; the others up to the error of the
   `features`. */
static void check_posterior(RgKernelFamily family, int variant, bool pathwise, int features,
                            int count, double bias)
{
  double Z[POINTS * SUPPORT_DIM], C[POINTS * POINTS], mean[POINTS], value[POINTS], e[DATA];
  RG_OWNED(end) Case c;
  Moments moments = {0};

  begin(family, variant, DATA, features, "posterior", &c);
  support_points(9, POINTS, SUPPORT_DIM, Z);
  memcpy(Z, c.posterior.X, SUPPORT_DIM * sizeof(double)); /* one point that has a datum */
  support_predict(&c.posterior, POINTS, Z, mean, NULL);
  RG_OK(rg_posterior_covariance(&c.posterior, POINTS, Z, POINTS, Z, C));
  for (int s = 0; s < count; s++) {
    RG_OK(rg_feature_path_draw(&c.path, &c.kernel, &c.random));
    rg_random_normals(&c.random, DATA, e);
    for (int i = 0; i < DATA; i++) e[i] *= sqrt(0.05);
    condition(&c, pathwise, e);
    RG_OK(rg_feature_path_evaluate(&c.path, POINTS, Z, value, NULL));
    add_path(&moments, value, mean);
  }
  check_moments(&moments, C, bias);
}

RG_TEST(pathwise_has_the_posterior)
{
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
    check_posterior(RG_KERNEL_GAUSSIAN, variant, true, 50, 3000, 0.0);
    check_posterior(RG_KERNEL_MATERN32, variant, true, 50, 3000, 0.0);
  }
}

RG_TEST(many_features_have_the_posterior)
{
  check_posterior(RG_KERNEL_GAUSSIAN, 1, false, 1500, 2000, 0.01);
  check_posterior(RG_KERNEL_MATERN52, 3, false, 1500, 2000, 0.01);
}

/* value(z) of a path from its parameters, and the weights from the dense n x n system, by hand. */
RG_TEST(weights_solve_the_linear_model)
{
  enum { MOST = 40, n = 20 };

  for (int features = 7; features <= 33; features += 26) { /* primal, dual */
    double P[MOST * MOST], A[MOST * MOST], r[MOST], e[MOST], weight[MOST];
    lapack_int pivots[MOST];
    RG_OWNED(end) Case c;

    begin(RG_KERNEL_MATERN52, 4, n, features, "weights", &c);
    RG_OK(rg_feature_path_draw(&c.path, &c.kernel, &c.random));
    rg_random_normals(&c.random, n, e);
    memcpy(weight, c.path.weight, (size_t)features * sizeof(double));
    for (int i = 0; i < n; i++) {
      r[i] = c.posterior.y[i] - 0.4 - e[i];
      for (int m = 0; m < features; m++) {
        double turn = c.path.phase[m];
        for (int k = 0; k < SUPPORT_DIM; k++)
          turn += c.posterior.X[i * SUPPORT_DIM + k] * c.path.frequency[k * features + m];
        P[i * features + m] = cos(6.283185307179586 * turn);
        r[i] -= weight[m] * P[i * features + m];
        P[i * features + m] *= c.path.amplitude[m];
      }
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        A[i * n + j] = i == j ? 0.05 : 0.0;
        for (int m = 0; m < features; m++)
          A[i * n + j] += P[i * features + m] * P[j * features + m];
      }
    assert_int_equal(LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, A, n, pivots, r, 1), 0);
    condition(&c, false, e);
    for (int m = 0; m < features; m++) {
      for (int i = 0; i < n; i++) weight[m] += c.path.amplitude[m] * P[i * features + m] * r[i];
      RG_CLOSE(c.path.weight[m], weight[m], 1e-9);
    }
  }
}

/* Central differences of a conditioned path, more points than one block. */
static void check_gradient(RgKernelFamily family, int variant, bool pathwise)
{
  enum { M = 150 };
  static double Z[M * SUPPORT_DIM], moved[M * SUPPORT_DIM], G[M * SUPPORT_DIM];
  double value[M], up[M], down[M], e[DATA] = {0}, h = 1e-5;
  RG_OWNED(end) Case c;

  begin(family, variant, DATA, 53, "gradient", &c);
  support_points(4, M, SUPPORT_DIM, Z);
  RG_OK(rg_feature_path_draw(&c.path, &c.kernel, &c.random));
  condition(&c, pathwise, e);
  RG_OK(rg_feature_path_evaluate(&c.path, M, Z, value, G));
  for (int k = 0; k < SUPPORT_DIM; k++) {
    for (int s = -1; s <= 1; s += 2) {
      memcpy(moved, Z, sizeof moved);
      for (int j = 0; j < M; j++) moved[j * SUPPORT_DIM + k] += s * h;
      RG_OK(rg_feature_path_evaluate(&c.path, M, moved, s > 0 ? up : down, NULL));
    }
    for (int j = 0; j < M; j++) RG_CLOSE(G[j * SUPPORT_DIM + k], (up[j] - down[j]) / (2 * h), 2e-6);
  }
  RG_OK(rg_feature_path_evaluate(&c.path, M, Z, up, NULL));
  support_same(M, value, up, 1e-13);
}

RG_TEST(gradients_agree_with_differences)
{
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
    check_gradient(RG_KERNEL_GAUSSIAN, variant, false);
    check_gradient(RG_KERNEL_GAUSSIAN, variant, true);
    check_gradient(RG_KERNEL_MATERN52, variant, true);
  }
}

/* All points of a product but the last: the same values as point by point. */
static void check_product(RgFeaturePath *path, double allowed)
{
  enum { ROWS = 5, COLUMNS = 7, M = ROWS * COLUMNS - 1 };
  double X[ROWS * SUPPORT_DIM], Y[COLUMNS * SUPPORT_DIM], Z[M * SUPPORT_DIM], value[M], expected[M];

  support_points(8, ROWS, SUPPORT_DIM, X);
  support_points(9, COLUMNS, SUPPORT_DIM, Y);
  for (int split = 1; split < SUPPORT_DIM; split++) {
    int rest = SUPPORT_DIM - split;
    for (int i = 0; i < M; i++)
      for (int k = 0; k < SUPPORT_DIM; k++) {
        Z[i * SUPPORT_DIM + k] =
          k < split ? X[i / COLUMNS * split + k] : Y[i % COLUMNS * rest + k - split];
      }
    RG_OK(rg_feature_path_evaluate(path, M, Z, expected, NULL));
    RG_OK(rg_feature_path_screen_product(path, &(RgPointProduct){split, ROWS, COLUMNS, X, Y}, M, Z,
                                         value));
    for (int i = 0; i < M; i++) RG_CLOSE(value[i], expected[i], allowed);
  }
}

/* Single precision follows the path through draws and conditioning; white features count as 0. */
RG_TEST(screening_is_close)
{
  enum { M = 200 };
  static double Z[M * SUPPORT_DIM], value[M], coarse[M];
  double e[DATA] = {0};

  support_points(4, M, SUPPORT_DIM, Z);
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++)
    for (int pathwise = 0; pathwise < 2; pathwise++) {
      RG_OWNED(end) Case c;
      begin(RG_KERNEL_MATERN52, variant, DATA, 101, "screen", &c);
      for (int round = 0; round < 3; round++) {
        RG_OK(rg_feature_path_draw(&c.path, &c.kernel, &c.random));
        if (round == 1) condition(&c, pathwise, e);
        RG_OK(rg_feature_path_evaluate(&c.path, M, Z, value, NULL));
        RG_OK(rg_feature_path_screen(&c.path, M, Z, coarse));
        support_same(M, coarse, value, 2e-4);
        if (!c.path.point) check_product(&c.path, 2e-4);
      }
    }
}

RG_TEST(grids_by_tables)
{
  int shapes[][SUPPORT_DIM] = {
    {1, 1, 7, 1}, {4, 3, 5, 2}, {11, 2, 1, 3}, {1, 1, 1, 1}, {2, 9, 3, 3}};
  double axes[32], lower[SUPPORT_DIM] = {0}, upper[SUPPORT_DIM] = {1.0, 1.0, 1.0, 1.0};
  double value[2 * 162], expected[162], e[DATA] = {0.05, -0.02, 0.1, 0.0, -0.1, 0.03};

  for (int k = 0; k < 32; k++) axes[k] = fmod(0.37 * k, 1.0);
  for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++) {
    RG_OWNED(rg_space_destroy) RgSpace grid = {0};
    RG_OWNED(end) Case c;
    begin(RG_KERNEL_MATERN52, (int)shape % SUPPORT_VARIANTS, DATA, 57, "grid", &c);
    RG_OK(rg_space_grid(&grid, SUPPORT_DIM, shapes[shape], axes, lower, upper));
    RG_OK(rg_feature_path_draw(&c.path, &c.kernel, &c.random));
    condition(&c, false, e);
    RG_OK(rg_feature_path_evaluate(&c.path, grid.size, grid.points, expected, NULL));
    RG_OK(rg_feature_path_on_grid(&c.path, &grid, 2, value));
    for (int i = 0; i < grid.size; i++) RG_CLOSE(value[2 * i], expected[i], 1e-12);
  }
}

RG_TEST(without_data_the_mean_is_added)
{
  double Z[POINTS * SUPPORT_DIM], prior[POINTS], value[POINTS];
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_GAUSSIAN, 0, 0, 20, "empty", &c);
  support_points(9, POINTS, SUPPORT_DIM, Z);
  for (int pathwise = 0; pathwise < 2; pathwise++) {
    RG_OK(rg_feature_path_draw(&c.path, &c.kernel, &c.random));
    RG_OK(rg_feature_path_evaluate(&c.path, POINTS, Z, prior, NULL));
    condition(&c, pathwise, NULL);
    RG_OK(rg_feature_path_evaluate(&c.path, POINTS, Z, value, NULL));
    for (int j = 0; j < POINTS; j++) RG_CLOSE(value[j], prior[j] + 0.4, 1e-14);
  }
}

RG_TEST(fewer_features_than_terms_are_refused)
{
  RG_OWNED(end) Case c;

  begin(RG_KERNEL_GAUSSIAN, 3, 0, 1, "few", &c);
  RG_FAILS(rg_feature_path_draw(&c.path, &c.kernel, &c.random), PETSC_ERR_ARG_OUTOFRANGE);
}
