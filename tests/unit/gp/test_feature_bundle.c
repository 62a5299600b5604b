/* Bundles of paths: each is the path that its weights and noise make alone; its law is the
   posterior; screening agrees with evaluation. */
#include "gp_support.h"

#include "gp/path/feature_path.h"

#define DATA 6
#define COUNT 4
#define FEATURES 102 /* normal numbers are drawn in pairs, so the number is even */

static RgRandom test_random(void)
{
  RgStream stream = rg_stream(11, "bundle", 0, "draw", 1);

  return rg_stream_at(&stream, 0);
}

/* The features of the first path with weights of their own and one column of the noise. */
static void check_path(RgFeatureBundle *bundle, RgPosterior *posterior, int s, const double *e,
                       RgRandom *random, RgFeaturePath *path)
{
  enum { M = 9 };
  double Z[M * SUPPORT_DIM], value[M], expected[M], gradient[M * SUPPORT_DIM], own[DATA];
  double slope[M * SUPPORT_DIM];

  support_points(4, M, SUPPORT_DIM, Z);
  if (s == 0) {
    RG_OK(rg_feature_path_draw(path, &posterior->kernel, random));
  } else {
    rg_random_normals(random, FEATURES, path->weight);
    for (int m = 0; m < FEATURES; m++) path->weight[m] *= path->amplitude[m];
    path->posterior = NULL;
    path->mean = 0.0;
  }
  for (int i = 0; i < posterior->n; i++) own[i] = e[i * COUNT + s];
  RG_OK(rg_feature_path_condition_pathwise(path, posterior, own));
  RG_OK(rg_feature_path_evaluate(path, M, Z, expected, slope));
  RG_OK(rg_feature_bundle_select(bundle, s));
  RG_OK(rg_feature_path_evaluate(&bundle->path, M, Z, value, gradient));
  for (int i = 0; i < M; i++) RG_CLOSE(value[i], expected[i], 1e-9);
  for (int i = 0; i < M * SUPPORT_DIM; i++) RG_CLOSE(gradient[i], slope[i], 1e-8);
}

/* All paths at the points of a product of 12 rows and 13 columns, more than one block. */
static void check_screening(RgFeatureBundle *bundle)
{
  enum { ROWS = 12, COLUMNS = 13, M = ROWS * COLUMNS - 3, LEFT = 1, RIGHT = SUPPORT_DIM - LEFT };
  static double X[ROWS * LEFT], Y[COLUMNS * RIGHT], Z[M * SUPPORT_DIM], all[COUNT * M], one[M];

  support_points(8, ROWS, LEFT, X);
  support_points(9, COLUMNS, RIGHT, Y);
  for (int i = 0; i < M; i++) {
    memcpy(Z + i * SUPPORT_DIM, X + i / COLUMNS * LEFT, LEFT * sizeof(double));
    memcpy(Z + i * SUPPORT_DIM + LEFT, Y + i % COLUMNS * RIGHT, RIGHT * sizeof(double));
  }
  RG_OK(rg_feature_bundle_screen(bundle, &(RgPointProduct){LEFT, ROWS, COLUMNS, X, Y}, M, Z, all));
  for (int s = 0; s < COUNT; s++) {
    RG_OK(rg_feature_bundle_select(bundle, s));
    RG_OK(rg_feature_path_evaluate(&bundle->path, M, Z, one, NULL));
    for (int i = 0; i < M; i++) RG_CLOSE(all[s * M + i], one[i], 2e-4);
  }
}

RG_TEST(paths_are_those_made_alone)
{
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++)
    for (int n = 0; n <= DATA; n += DATA) {
      RgRandom random = test_random(), again = random;
      RG_OWNED(rg_kernel_destroy) RgKernel kernel;
      RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
      RG_OWNED(rg_feature_path_destroy) RgFeaturePath path;
      RG_OWNED(rg_feature_bundle_destroy) RgFeatureBundle bundle;
      double e[DATA * COUNT];
      support_normals(7, DATA * COUNT, e);
      support_kernel(RG_KERNEL_MATERN52, variant, &kernel);
      support_posterior(&kernel, n, &posterior);
      RG_OK(rg_feature_bundle_create(SUPPORT_DIM, FEATURES, &bundle));
      RG_OK(rg_feature_path_create(SUPPORT_DIM, FEATURES, &path));
      for (int round = 0; round < 2; round++) {
        RG_OK(rg_feature_bundle_draw(&bundle, &posterior, COUNT, e, &random));
        for (int s = 0; s < COUNT; s++) check_path(&bundle, &posterior, s, e, &again, &path);
        if (!bundle.path.point) check_screening(&bundle);
      }
    }
}

/* Mean and variance of the last path, and its covariance with the first given the data, which is
   zero: within five standard errors. */
RG_TEST(paths_have_the_posterior)
{
  enum { TRIALS = 4000 };
  double z[SUPPORT_DIM] = {0.3, 0.6, 0.2, 0.8}, mean, variance, sum = 0, square = 0;
  double both = 0, fourth = 0;
  RgRandom random = test_random();
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RG_OWNED(rg_feature_bundle_destroy) RgFeatureBundle bundle;

  support_kernel(RG_KERNEL_GAUSSIAN, 0, &kernel);
  support_posterior(&kernel, DATA, &posterior);
  RG_OK(rg_posterior_predict(&posterior, 1, z, &mean, &variance, &work));
  RG_OK(rg_feature_bundle_create(SUPPORT_DIM, 50, &bundle));
  for (int t = 0; t < TRIALS; t++) {
    double e[DATA * COUNT], first, last;
    rg_random_normals(&random, DATA * COUNT, e);
    for (int i = 0; i < DATA * COUNT; i++) e[i] *= sqrt(0.05);
    RG_OK(rg_feature_bundle_draw(&bundle, &posterior, COUNT, e, &random));
    RG_OK(rg_feature_path_evaluate(&bundle.path, 1, z, &first, NULL));
    RG_OK(rg_feature_bundle_select(&bundle, COUNT - 1));
    RG_OK(rg_feature_path_evaluate(&bundle.path, 1, z, &last, NULL));
    sum += last - mean;
    square += (last - mean) * (last - mean);
    fourth += pow(last - mean, 4.0);
    both += (first - mean) * (last - mean);
  }
  assert_true(fabs(sum / TRIALS) < 5.0 * sqrt(variance / TRIALS));
  assert_true(fabs(square / TRIALS - variance) < 5.0 * sqrt(fourth) / TRIALS);
  assert_true(fabs(both / TRIALS) < 5.0 * variance / sqrt(TRIALS));
}

RG_TEST(unknown_paths_are_refused)
{
  RgRandom random = test_random();
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_feature_bundle_destroy) RgFeatureBundle bundle;

  support_kernel(RG_KERNEL_GAUSSIAN, 0, &kernel);
  support_posterior(&kernel, 0, &posterior);
  RG_OK(rg_feature_bundle_create(SUPPORT_DIM, 10, &bundle));
  RG_OK(rg_feature_bundle_draw(&bundle, &posterior, 2, NULL, &random));
  RG_FAILS(rg_feature_bundle_select(&bundle, 2), PETSC_ERR_ARG_OUTOFRANGE);
  RG_FAILS(rg_feature_bundle_screen(&bundle, &(RgPointProduct){0, 1, 1, NULL, NULL}, 1, NULL, NULL),
           PETSC_ERR_ARG_OUTOFRANGE);
}
