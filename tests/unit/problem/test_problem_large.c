/* Problems that cost a large matrix: paths on sets of points, surrogates of simulators. */
#include <math.h>

#include "temporary_file.h"
#include "test_problem.h"

static double matern52(int dim, const double *scale, const double *x, const double *z)
{
  double square = 0;

  for (int j = 0; j < dim; j++) square += pow((x[j] - z[j]) / scale[j], 2);
  const double s = sqrt(5 * square);
  return (1 + s + s * s / 3) * exp(-s);
}

/* ---- gp_path_set ---------------------------------------------------------------------------- */

RG_TEST(test_path_is_factor_times_normals)
{
  static const Setting settings[] = {{"points", "40"},    {"dim", "2"},
                                     {"variance", "1.5"}, {"length_scale", "0.3"},
                                     {"design", "sobol"}, {0}};
  enum { N = 40 };
  const double scale[] = {0.3, 0.3};
  const RgStream stream = rg_stream(11, "gp_path_set", 4, "problem", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  RG_OWNED(instance_free) Instance it = instance_make("gp_path_set", settings, 11, 4);
  const RgSpace *set = &it.problem.domain.design;
  double K[N * N], z[N], best = -INFINITY;

  assert_int_equal(set->kind, RG_SPACE_SET);
  assert_int_equal(set->size, N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      K[i * N + j] = 1.5 * matern52(2, scale, set->points + 2 * i, set->points + 2 * j);
  cholesky(N, K);
  rg_random_normals(&random, N, z);
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j <= i; j++) sum += K[i * N + j] * z[j];
    const double f = objective_of_index(&it.problem, i);
    RG_CLOSE(f, sum, 1e-9);
    best = fmax(best, f);
  }
  assert_true(it.problem.optimum == best);
}

/* Instances share the points and nothing else; another points_seed is another set. */
RG_TEST(test_points)
{
  static const Setting plain[] = {{"points", "50"}, {0}},
                       other[] = {{"points", "50"}, {"points_seed", "2"}, {0}};
  RG_OWNED(instance_free) Instance a = instance_make("gp_path_set", plain, 1, 0);
  RG_OWNED(instance_free) Instance b = instance_make("gp_path_set", plain, 1, 1);
  RG_OWNED(instance_free) Instance c = instance_make("gp_path_set", other, 1, 0);
  const size_t bytes = 150 * sizeof(double);

  assert_memory_equal(a.problem.domain.design.points, b.problem.domain.design.points, bytes);
  assert_memory_not_equal(a.problem.domain.design.points, c.problem.domain.design.points, bytes);
  assert_true(objective_of_index(&a.problem, 7) != objective_of_index(&b.problem, 7));
  for (int i = 0; i < 150; i++)
    assert_true(a.problem.domain.design.points[i] > 0 && a.problem.domain.design.points[i] < 1);
}

/* ---- gp_surrogate --------------------------------------------------------------------------- */

/* Seven runs in [2, 4] x [0, 10], two of them with equal inputs; the objective is -cost. */
static const char table[] = "a,b,cost\n2,0,1\n4,10,3\n3,5,-2\n2.5,8,0.5\n3.5,2,4\n2.2,6,1.5\n"
                            "3,5,-1\n";
enum { RUNS = 6 };
static const double runs[RUNS][3] = {{2, 0, -1},     {4, 10, -3},  {3, 5, 1.5},
                                     {2.5, 8, -0.5}, {3.5, 2, -4}, {2.2, 6, -1.5}};

static const double scales[] = {0.4, 0.6};

/* The posterior mean by elimination, in the units of the table. */
static double expected(const double *x)
{
  double K[RUNS * RUNS], u[RUNS][2], alpha[RUNS], shift = 0, square = 0, value = 0;
  const double v[] = {(x[0] - 2) / 2, x[1] / 10};

  for (int i = 0; i < RUNS; i++) {
    u[i][0] = (runs[i][0] - 2) / 2;
    u[i][1] = runs[i][1] / 10;
    shift += runs[i][2] / RUNS;
  }
  for (int i = 0; i < RUNS; i++) square += pow(runs[i][2] - shift, 2) / RUNS;
  for (int i = 0; i < RUNS; i++) {
    alpha[i] = (runs[i][2] - shift) / sqrt(square);
    for (int j = 0; j < RUNS; j++)
      K[i * RUNS + j] = 2 * matern52(2, scales, u[i], u[j]) + (i == j ? 0.05 : 0);
  }
  cholesky(RUNS, K);
  for (int i = 0; i < RUNS; i++) {
    for (int j = 0; j < i; j++) alpha[i] -= K[i * RUNS + j] * alpha[j];
    alpha[i] /= K[i * RUNS + i];
  }
  for (int i = RUNS - 1; i >= 0; i--) {
    for (int j = i + 1; j < RUNS; j++) alpha[i] -= K[j * RUNS + i] * alpha[j];
    alpha[i] /= K[i * RUNS + i];
  }
  for (int i = 0; i < RUNS; i++) value += 2 * alpha[i] * matern52(2, scales, u[i], v);
  return shift + sqrt(square) * value;
}

static Instance make_from(const TemporaryFile *file, const char *goal)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, "gp_surrogate");
  const Setting settings[] = {
    {"path", file->path}, {"goal", goal}, {"variance", "2"}, {"noise", "0.05"}, {0}};
  const char *two[] = {"0.4", "0.6"};
  RgDiagnostics diagnostics = {0};
  const RgParam *entry;
  RG_NO_FAILURE(failure);
  Instance it = {.options = options_make(class, settings)};

  RG_OK(rg_params_set(class->params, it.options, "length_scale", 2, two, (RgPlace){0}, &diagnostics,
                      &entry));
  RG_OK(class->check(class, it.options, (RgPlace){0}, &diagnostics));
  assert_int_equal(diagnostics.n, 0);
  RG_OK(rg_problem_create(class, it.options, 1, 0, &it.problem, &failure));
  return it;
}

RG_TEST(test_surrogate_of_a_table)
{
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", table);
  RG_OWNED(instance_free) Instance it = make_from(&file, "minimise");
  const RgSpace *box = &it.problem.domain.design;

  assert_int_equal(box->dim, 2);
  assert_true(box->lower[0] == 2 && box->upper[0] == 4 && box->upper[1] == 10);
  assert_true(rg_problem_cost(it.problem.class, it.options).order == RUNS);
  for (int k = 0; k < 20; k++) {
    const double x[] = {2 + 0.1 * k, 10 * fabs(sin(k))}, h = 1e-5;
    const RgPoint point = {.index = -1, .x = x, .context_index = -1};
    double gradient[2];
    RG_CLOSE(value_at(&it.problem, x), expected(x), 1e-10);
    RG_OK(it.problem.class->gradient(&it.problem, &point, gradient));
    for (int j = 0; j < 2; j++) {
      const double up[] = {x[0] + h * (j == 0), x[1] + h * (j == 1)};
      const double down[] = {x[0] - h * (j == 0), x[1] - h * (j == 1)};
      RG_CLOSE(gradient[j], (expected(up) - expected(down)) / (2 * h), 1e-6);
    }
  }
}

/* The data identify the problem, not the name of their file. */
RG_TEST(test_identity)
{
  static const char *const tables[] = {table, table, "a,b,cost\n1,2,3\n2,3,5\n"};
  static const char *const names[] = {"a.csv", "b.csv", "c.csv"};
  const RgProblemClass *class = rg_registry_find_problem(NULL, "gp_surrogate");
  RgText text[3] = {{0}};

  for (int k = 0; k < 3; k++) {
    RG_OWNED(file_remove) TemporaryFile file = file_make(names[k], tables[k]);
    void *options = options_make(class, (const Setting[]){{"path", file.path}, {0}});
    RG_OK(class->source->identity(class, options, &text[k]));
    options_free(class, options);
  }
  assert_string_equal(text[0].data, text[1].data);
  assert_string_not_equal(text[0].data, text[2].data);
  for (int k = 0; k < 3; k++) RG_OK(rg_text_clear(&text[k]));
}

/* A model that is fitted to runs drawn from its starting model stays near the starting model, but
   differs from it. */
RG_TEST(test_fit)
{
  static const Setting fixed[] = {{"runs", "150"}, {"dim", "2"}, {0}},
                       fitted[] = {{"runs", "150"}, {"dim", "2"}, {"fit", "ml"}, {0}};
  RG_OWNED(instance_free) Instance a = instance_make("gp_surrogate", fixed, 3, 0);
  RG_OWNED(instance_free) Instance b = instance_make("gp_surrogate", fitted, 3, 0);
  double squares = 0;

  for (int k = 0; k < 50; k++) {
    const double x[] = {0.02 * k + 0.01, fabs(cos(k))};
    squares += pow(value_at(&a.problem, x) - value_at(&b.problem, x), 2) / 50;
  }
  assert_true(squares > 1e-12);
  assert_true(sqrt(squares) < 0.1);
}

RG_TEST(test_mistakes)
{
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", "a,b,f\n1,2,3\n1,3,4\n");
  const struct {
    Setting settings[MAX_SETTINGS];
    const char *part;
  } wrong[] = {{{{"path", file.path}, {0}}, "an input column is constant"},
               {{{"path", "nowhere.csv"}, {0}}, "there is no file"}};

  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    settings_refused("gp_surrogate", wrong[k].settings, 1, wrong[k].part);
}
