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

    if (!(fabs(moments->sum[i] / n) <= error)) {
      fail_msg("mean %d: %g, allowed %g", i, moments->sum[i] / n, error);
    }
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
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      RgRandom random = test_random("prior");
      RgKernel kernel;
      RgFeaturePath path;
      Moments moments = {0};

      if (!rg_kernel_classes[family]->spectrum) continue;
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
      RG_OK(rg_feature_path_destroy(&path));
      RG_OK(rg_kernel_destroy(&kernel));
    }
  }
}

/* Pathwise paths have the moments of the posterior exactly; the others up to the error of the
   `features`. */
static void check_posterior(RgKernelFamily family, int variant, bool pathwise, int features,
                            int count, double bias)
{
  double Z[POINTS * SUPPORT_DIM], C[POINTS * POINTS], mean[POINTS], value[POINTS], e[DATA];
  RgRandom random = test_random("posterior");
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work = {0};
  RgFeaturePath path;
  RgFailure failure = {0};
  Moments moments = {0};

  support_points(9, POINTS, SUPPORT_DIM, Z);
  support_kernel(family, variant, &kernel);
  support_posterior(&kernel, DATA, &posterior);
  memcpy(Z, posterior.X, SUPPORT_DIM * sizeof(double)); /* one point that has a datum */
  RG_OK(rg_posterior_predict(&posterior, POINTS, Z, mean, NULL, &work));
  RG_OK(rg_posterior_covariance(&posterior, POINTS, Z, POINTS, Z, C));
  RG_OK(rg_feature_path_create(SUPPORT_DIM, features, &path));
  for (int s = 0; s < count; s++) {
    RG_OK(rg_feature_path_draw(&path, &kernel, &random));
    rg_random_normals(&random, DATA, e);
    for (int i = 0; i < DATA; i++) e[i] *= sqrt(0.05);
    if (pathwise) {
      RG_OK(rg_feature_path_condition_pathwise(&path, &posterior, e));
    } else {
      RG_OK(rg_feature_path_condition_weights(&path, &posterior, e, &failure));
    }
    RG_OK(rg_feature_path_evaluate(&path, POINTS, Z, value, NULL));
    add_path(&moments, value, mean);
  }
  assert_false(failure.failed);
  check_moments(&moments, C, bias);
  RG_OK(rg_feature_path_destroy(&path));
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
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
  enum { MOST = 40 };
  double P[MOST * MOST], A[MOST * MOST], r[MOST], e[MOST], weight[MOST];
  RgKernel kernel;

  support_kernel(RG_KERNEL_MATERN52, 4, &kernel);
  for (int features = 7; features <= 33; features += 26) { /* n = 20: primal, dual */
    const int n = 20;
    RgRandom random = test_random("weights");
    RgPosterior posterior;
    RgFeaturePath path;
    RgFailure failure = {0};
    lapack_int pivots[MOST];

    support_posterior(&kernel, n, &posterior);
    RG_OK(rg_feature_path_create(SUPPORT_DIM, features, &path));
    RG_OK(rg_feature_path_draw(&path, &kernel, &random));
    rg_random_normals(&random, (size_t)n, e);
    memcpy(weight, path.weight, (size_t)features * sizeof(double));
    for (int i = 0; i < n; i++) {
      r[i] = posterior.y[i] - 0.4 - e[i];
      for (int m = 0; m < features; m++) {
        double turn = path.phase[m];

        for (int k = 0; k < SUPPORT_DIM; k++) {
          turn += posterior.X[i * SUPPORT_DIM + k] * path.frequency[k * features + m];
        }
        P[i * features + m] = cos(6.283185307179586 * turn);
        r[i] -= weight[m] * P[i * features + m];
        P[i * features + m] *= path.amplitude[m];
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        A[i * n + j] = i == j ? 0.05 : 0.0;
        for (int m = 0; m < features; m++) {
          A[i * n + j] += P[i * features + m] * P[j * features + m];
        }
      }
    }
    assert_int_equal(LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, A, n, pivots, r, 1), 0);
    RG_OK(rg_feature_path_condition_weights(&path, &posterior, e, &failure));
    assert_false(failure.failed);
    for (int m = 0; m < features; m++) {
      for (int i = 0; i < n; i++) weight[m] += path.amplitude[m] * P[i * features + m] * r[i];
      RG_CLOSE(path.weight[m], weight[m], 1e-9);
    }
    RG_OK(rg_feature_path_destroy(&path));
    RG_OK(rg_posterior_destroy(&posterior));
  }
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Central differences of a conditioned path, more points than one block. */
static void check_gradient(RgKernelFamily family, int variant, bool pathwise)
{
  enum { M = 150 };
  static double Z[M * SUPPORT_DIM], moved[M * SUPPORT_DIM], G[M * SUPPORT_DIM];
  double value[M], up[M], down[M], e[DATA] = {0}, h = 1e-5;
  RgRandom random = test_random("gradient");
  RgKernel kernel;
  RgPosterior posterior;
  RgFeaturePath path;
  RgFailure failure = {0};

  support_points(4, M, SUPPORT_DIM, Z);
  support_kernel(family, variant, &kernel);
  support_posterior(&kernel, DATA, &posterior);
  RG_OK(rg_feature_path_create(SUPPORT_DIM, 53, &path));
  RG_OK(rg_feature_path_draw(&path, &kernel, &random));
  if (pathwise) {
    RG_OK(rg_feature_path_condition_pathwise(&path, &posterior, e));
  } else {
    RG_OK(rg_feature_path_condition_weights(&path, &posterior, e, &failure));
  }
  RG_OK(rg_feature_path_evaluate(&path, M, Z, value, G));
  for (int k = 0; k < SUPPORT_DIM; k++) {
    for (int s = -1; s <= 1; s += 2) {
      memcpy(moved, Z, sizeof moved);
      for (int j = 0; j < M; j++) moved[j * SUPPORT_DIM + k] += s * h;
      RG_OK(rg_feature_path_evaluate(&path, M, moved, s > 0 ? up : down, NULL));
    }
    for (int j = 0; j < M; j++) {
      RG_CLOSE(G[j * SUPPORT_DIM + k], (up[j] - down[j]) / (2 * h), 2e-6);
    }
  }
  RG_OK(rg_feature_path_evaluate(&path, M, Z, up, NULL));
  for (int j = 0; j < M; j++) RG_CLOSE(value[j], up[j], 1e-13);
  RG_OK(rg_feature_path_destroy(&path));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
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

    for (int i = 0; i < M; i++) {
      for (int k = 0; k < SUPPORT_DIM; k++) {
        Z[i * SUPPORT_DIM + k] =
          k < split ? X[i / COLUMNS * split + k] : Y[i % COLUMNS * rest + k - split];
      }
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
  RgFailure failure = {0};

  support_points(4, M, SUPPORT_DIM, Z);
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
    for (int pathwise = 0; pathwise < 2; pathwise++) {
      RgRandom random = test_random("screen");
      RgKernel kernel;
      RgPosterior posterior;
      RgFeaturePath path;

      support_kernel(RG_KERNEL_MATERN52, variant, &kernel);
      support_posterior(&kernel, DATA, &posterior);
      RG_OK(rg_feature_path_create(SUPPORT_DIM, 101, &path));
      for (int round = 0; round < 3; round++) {
        RG_OK(rg_feature_path_draw(&path, &kernel, &random));
        if (round == 1 && pathwise) {
          RG_OK(rg_feature_path_condition_pathwise(&path, &posterior, e));
        } else if (round == 1) {
          RG_OK(rg_feature_path_condition_weights(&path, &posterior, e, &failure));
        }
        RG_OK(rg_feature_path_evaluate(&path, M, Z, value, NULL));
        RG_OK(rg_feature_path_screen(&path, M, Z, coarse));
        for (int j = 0; j < M; j++) RG_CLOSE(coarse[j], value[j], 2e-4);
        if (!path.point) check_product(&path, 2e-4);
      }
      RG_OK(rg_feature_path_destroy(&path));
      RG_OK(rg_posterior_destroy(&posterior));
      RG_OK(rg_kernel_destroy(&kernel));
    }
  }
  assert_false(failure.failed);
}

RG_TEST(grids_by_tables)
{
  int shapes[][SUPPORT_DIM] = {
    {1, 1, 7, 1}, {4, 3, 5, 2}, {11, 2, 1, 3}, {1, 1, 1, 1}, {2, 9, 3, 3}};
  double axes[32], lower[SUPPORT_DIM] = {0}, upper[SUPPORT_DIM] = {1.0, 1.0, 1.0, 1.0};
  double value[2 * 162], expected[162], e[DATA] = {0.05, -0.02, 0.1, 0.0, -0.1, 0.03};
  RgFailure failure = {0};

  for (int k = 0; k < 32; k++) axes[k] = fmod(0.37 * k, 1.0);
  for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++) {
    RgRandom random = test_random("grid");
    RgKernel kernel;
    RgPosterior posterior;
    RgFeaturePath path;
    RgDomain domain = {0};
    RgSpace *grid = &domain.design;

    support_kernel(RG_KERNEL_MATERN52, (int)shape % SUPPORT_VARIANTS, &kernel);
    support_posterior(&kernel, DATA, &posterior);
    RG_OK(rg_space_grid(grid, SUPPORT_DIM, shapes[shape], axes, lower, upper));
    RG_OK(rg_feature_path_create(SUPPORT_DIM, 57, &path));
    RG_OK(rg_feature_path_draw(&path, &kernel, &random));
    RG_OK(rg_feature_path_condition_weights(&path, &posterior, e, &failure));
    RG_OK(rg_feature_path_evaluate(&path, grid->size, grid->points, expected, NULL));
    RG_OK(rg_feature_path_on_grid(&path, grid, 2, value));
    for (int i = 0; i < grid->size; i++) RG_CLOSE(value[2 * i], expected[i], 1e-12);
    RG_OK(rg_feature_path_destroy(&path));
    RG_OK(rg_domain_destroy(&domain));
    RG_OK(rg_posterior_destroy(&posterior));
    RG_OK(rg_kernel_destroy(&kernel));
  }
  assert_false(failure.failed);
}

RG_TEST(without_data_the_mean_is_added)
{
  double Z[POINTS * SUPPORT_DIM], prior[POINTS], value[POINTS];
  RgRandom random = test_random("empty");
  RgKernel kernel;
  RgPosterior posterior;
  RgFeaturePath path;
  RgFailure failure = {0};

  support_points(9, POINTS, SUPPORT_DIM, Z);
  support_kernel(RG_KERNEL_GAUSSIAN, 0, &kernel);
  RG_OK(rg_posterior_create(&kernel, 0.05, 0.4, 1, &posterior));
  RG_OK(rg_feature_path_create(SUPPORT_DIM, 20, &path));
  for (int pathwise = 0; pathwise < 2; pathwise++) {
    RG_OK(rg_feature_path_draw(&path, &kernel, &random));
    RG_OK(rg_feature_path_evaluate(&path, POINTS, Z, prior, NULL));
    if (pathwise) {
      RG_OK(rg_feature_path_condition_pathwise(&path, &posterior, NULL));
    } else {
      RG_OK(rg_feature_path_condition_weights(&path, &posterior, NULL, &failure));
    }
    RG_OK(rg_feature_path_evaluate(&path, POINTS, Z, value, NULL));
    for (int j = 0; j < POINTS; j++) RG_CLOSE(value[j], prior[j] + 0.4, 1e-14);
  }
  RG_OK(rg_feature_path_destroy(&path));
  RG_OK(rg_posterior_destroy(&posterior));
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(fewer_features_than_terms_are_refused)
{
  RgRandom random = test_random("few");
  RgKernel kernel;
  RgFeaturePath path;

  support_kernel(RG_KERNEL_GAUSSIAN, 3, &kernel);
  RG_OK(rg_feature_path_create(SUPPORT_DIM, 1, &path));
  RG_OK(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
  assert_int_equal((int)rg_feature_path_draw(&path, &kernel, &random), PETSC_ERR_ARG_OUTOFRANGE);
  RG_OK(PetscPopErrorHandler());
  RG_OK(rg_feature_path_destroy(&path));
  RG_OK(rg_kernel_destroy(&kernel));
}
