/* GP sample paths on grids: the factor of the law, the streams, the grid, the optimum, wrong
   options. */
#include "test_problem.h"

/* Values of the whole path, in point order. */
static void path_of(RgProblem *problem, double *f)
{
  for (int i = 0; i < problem->domain.design.size; i++) f[i] = objective_of_index(problem, i);
}

/* f = L z with z from the documented stream. */
RG_TEST(test_path_is_factor_times_normals)
{
  static const Setting gaussian[] = {{"dim", "2"},        {"levels", "6"},
                                     {"spacing", "0.15"}, {"length_scale", "0.2"},
                                     {"variance", "2.5"}, {0}};
  static const Setting matern[] = {{"dim", "2"},           {"levels", "6"},
                                   {"kernel", "matern32"}, {"length_scale", "0.2"},
                                   {"variance", "2.5"},    {0}};
  enum { N = 36 };
  double K[N * N], z[N], f[N];

  for (int rough = 0; rough < 2; rough++) {
    const double spacing = rough ? 1 / 6.0 : 0.15;
    const RgStream stream = rg_stream(11, "gp_path", 4, "problem", 0);
    RgRandom random = rg_stream_at(&stream, 0);
    RG_OWNED(instance_free)
    Instance it = instance_make("gp_path", rough ? matern : gaussian, 11, 4);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const double r = spacing / 0.2 * hypot(i / 6 - j / 6, i % 6 - j % 6), s = sqrt(3) * r;
        K[i * N + j] = 2.5 * (rough ? (1 + s) * exp(-s) : exp(-r * r / 2));
      }
    cholesky(N, K);
    rg_random_normals(&random, N, z);
    path_of(&it.problem, f);
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int j = 0; j <= i; j++) sum += K[i * N + j] * z[j];
      RG_CLOSE(f[i], sum, 1e-9);
    }
  }
}

RG_TEST(test_grid)
{
  static const Setting spaced[] = {{"dim", "1"}, {"levels", "3"}, {"spacing", "0.5"}, {0}};
  RG_OWNED(instance_free) Instance it = instance_make("gp_path", NULL, 1, 0);
  const RgSpace *grid = &it.problem.domain.design;

  assert_int_equal(grid->kind, RG_SPACE_GRID);
  assert_int_equal(grid->size, 1000);
  for (int j = 0; j < 3; j++) {
    assert_true(grid->lower[j] == 0 && grid->upper[j] == 1);
    RG_CLOSE(grid->points[123 * 3 + j], 0.1 * (j + 1), 1e-15);
    RG_CLOSE(grid->points[999 * 3 + j], 0.9, 1e-15);
  }
  instance_free(&it);
  it = instance_make("gp_path", spaced, 1, 0);
  grid = &it.problem.domain.design;
  assert_memory_equal(grid->points, ((const double[]){0, 0.5, 1}), 3 * sizeof(double));
}

RG_TEST(test_optimum_by_scan)
{
  double f[1000];

  for (uint64_t number = 0; number < 5; number++) {
    RG_OWNED(instance_free) Instance it = instance_make("gp_path", NULL, 8, number);
    int best = 0;
    path_of(&it.problem, f);
    for (int i = 1; i < 1000; i++)
      if (f[i] > f[best]) best = i;
    assert_true(it.problem.optimum == f[best]);
    assert_int_equal(it.problem.n_optimisers, 1);
    assert_memory_equal(it.problem.optimisers, it.problem.domain.design.points + 3 * best,
                        3 * sizeof(double));
  }
}

/* One path per (study seed, instance), the same each time; others differ. */
RG_TEST(test_instances)
{
  static const uint64_t who[][2] = {{1, 0}, {1, 0}, {1, 1}, {2, 0}};
  double f[4][1000];

  assert_true(rg_registry_find_problem(NULL, "gp_path")->traits & RG_PROBLEM_RANDOM);
  for (int k = 0; k < 4; k++) {
    RG_OWNED(instance_free) Instance it = instance_make("gp_path", NULL, who[k][0], who[k][1]);
    path_of(&it.problem, f[k]);
  }
  assert_memory_equal(f[0], f[1], sizeof f[0]);
  for (int i = 0; i < 1000; i++) assert_true(f[0][i] != f[2][i] && f[0][i] != f[3][i]);
}

/* A longer length scale per coordinate smooths that coordinate: the mean square increment is
   2 (1 - exp(-spacing^2 / (2 ell^2))). */
RG_TEST(test_length_scale_per_coordinate)
{
  static const char *const values[] = {"0.1", "0.4"};
  const RgProblemClass *class = rg_registry_find_problem(NULL, "gp_path");
  static const Setting settings[] = {{"dim", "2"}, {"levels", "20"}, {0}};
  RgDiagnostics diagnostics = {0};
  RG_NO_FAILURE(failure);
  const RgParam *entry;
  double f[400], square[2] = {0, 0};
  void *options = options_make(class, settings);
  enum { PATHS = 200 };

  RG_OK(rg_params_set(class->params, options, "length_scale", 2, values, (RgPlace){0}, &diagnostics,
                      &entry));
  RG_OK(class->check(class, options, (RgPlace){0}, &diagnostics));
  assert_int_equal(diagnostics.n, 0);
  for (int k = 0; k < PATHS; k++) {
    RG_OWNED(rg_problem_destroy) RgProblem problem;
    RG_OK(rg_problem_create(class, options, 5, (uint64_t)k, &problem, &failure));
    path_of(&problem, f);
    for (int i = 0; i < 19; i++)
      for (int j = 0; j < 19; j++) {
        square[0] += pow(f[20 * (i + 1) + j] - f[20 * i + j], 2);
        square[1] += pow(f[20 * i + j + 1] - f[20 * i + j], 2);
      }
  }
  for (int j = 0; j < 2; j++) {
    const double expected = 2 * (1 - exp(-0.05 * 0.05 / (2 * pow(j ? 0.4 : 0.1, 2))));
    RG_CLOSE(square[j] / (PATHS * 19 * 19) / expected, 1, 0.1);
  }
  options_free(class, options);
}

RG_TEST(test_mistakes)
{
  static const struct {
    Setting settings[MAX_SETTINGS];
    const char *part;
  } wrong[] = {
    {{{"dim", "8"}}, "levels^dim = 100000000 points; at most 4194304"},
    {{{"dim", "5"}, {"kernel", "matern52"}}, "100000 points; at most 20000"},
    {{{"spacing", "0.2"}}, "spacing = 0.2 takes 10 levels beyond the unit cube"},
  };
  static const char *const two[] = {"0.1", "0.2"};
  const RgProblemClass *class = rg_registry_find_problem(NULL, "gp_path");
  const RgPlace place = {"study.yaml", 7, 9};
  const RgParam *entry;

  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    settings_refused("gp_path", wrong[k].settings, 1, wrong[k].part);
  RgDiagnostics diagnostics = {0};
  void *options = options_make(class, NULL);
  RG_OK(rg_params_set(class->params, options, "length_scale", 2, two, place, &diagnostics, &entry));
  RG_OK(class->check(class, options, place, &diagnostics));
  assert_int_equal(diagnostics.n, 1);
  assert_non_null(strstr(diagnostics.list[0].message, "length_scale has 2 values"));
  options_free(class, options);
}
