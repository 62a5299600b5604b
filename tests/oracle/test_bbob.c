/* The noiseless BBOB functions against values and optima of the COCO platform (tests/data/README.md
   says where they come from), and their gradients against differences. */
#include "extra/bbob/bbob.h"

#include "test_problem.h"

#include <stdio.h>
#include <stdlib.h>

enum { DIM_MAX = 40, LINE = 2048 };

/* function, dim, instance from 1. */
static Instance bbob(int function, int dim, int number)
{
  char f[16], d[16], first[16];

  snprintf(f, sizeof f, "%d", function);
  snprintf(d, sizeof d, "%d", dim);
  snprintf(first, sizeof first, "%d", number > 2 ? 3 : 1);
  const Setting settings[MAX_SETTINGS] = {{"function", f}, {"dim", d}, {"first_instance", first}};
  return instance_make("bbob", settings, 1, (uint64_t)(number > 2 ? number - 3 : number - 1));
}

static int read_point(const char *text, double *x)
{
  int n = 0;

  for (char *end; n < DIM_MAX; text = end + 1) {
    x[n++] = strtod(text, &end);
    if (*end != ';') break;
  }
  return n;
}

static FILE *open_data(const char *name)
{
  char path[512], line[LINE];

  snprintf(path, sizeof path, "%s/data/%s", RG_TEST_DATA, name);
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("no file %s", path);
  assert_non_null(fgets(line, sizeof line, file));
  return file;
}

/* Within 1e-9 max(1, |value|, |value - f_opt|). */
static void check_value(Instance *it, int function, const double *x, double expected)
{
  const double f = -value_at(&it->problem, x), rest = fabs(expected + it->problem.optimum);

  if (!(fabs(f - expected) <= 1e-9 * fmax(1, fmax(fabs(expected), rest))))
    fail_msg("f%d in %d dimensions: %.17g, expected %.17g", function, it->problem.domain.design.dim,
             f, expected);
}

RG_TEST(test_values)
{
  FILE *file = open_data("bbob_values.csv");
  char line[LINE], point[LINE];
  int function, dim, number, id, rows = 0, now[3] = {0};
  RG_OWNED(instance_free) Instance it = {0};
  double x[DIM_MAX], value;

  for (; fgets(line, sizeof line, file); rows++) {
    assert_int_equal(
      sscanf(line, "%d,%d,%d,%d,%[^,],%lf", &function, &dim, &number, &id, point, &value), 6);
    assert_int_equal(read_point(point, x), dim);
    if (now[0] != function || now[1] != dim || now[2] != number) {
      if (now[0]) instance_free(&it);
      it = bbob(function, dim, number);
      now[0] = function, now[1] = dim, now[2] = number;
    }
    check_value(&it, function, x, value);
  }
  fclose(file);
  assert_true(rows >= 500);
}

RG_TEST(test_optima)
{
  FILE *file = open_data("bbob_optima.csv");
  char line[LINE], point[LINE];
  int function, dim, number, rows = 0;
  double x[DIM_MAX], f_opt;

  for (; fgets(line, sizeof line, file); rows++) {
    assert_int_equal(sscanf(line, "%d,%d,%d,%lf,%s", &function, &dim, &number, &f_opt, point), 5);
    assert_int_equal(read_point(point, x), dim);
    RG_OWNED(instance_free) Instance it = bbob(function, dim, number);
    RG_CLOSE(-it.problem.optimum, f_opt, 1e-15);
    assert_int_equal(it.problem.n_optimisers, 1);
    for (int j = 0; j < dim; j++) RG_CLOSE(it.problem.optimisers[j], x[j], 1e-9);
    RG_CLOSE(value_at(&it.problem, it.problem.optimisers), it.problem.optimum, 1e-12);
  }
  fclose(file);
  assert_true(rows >= 24);
}

/* Instances up to 110 that COCO clips to +-1000, and large dimensions. */
RG_TEST(test_further)
{
  static const int clipped[][3] = {{1, 7, 0}, {3, 8, 0}, {6, 3, 0}, {12, 13, 0}, {20, 2, 0}};

  for (size_t k = 0; k < sizeof clipped / sizeof *clipped; k++) {
    RG_OWNED(instance_free) Instance it = bbob(clipped[k][0], 2, clipped[k][1]);
    RG_CLOSE(fabs(it.problem.optimum), 1000, 0);
  }
  for (int function = 1; function <= 24; function++) {
    RG_OWNED(instance_free) Instance it = bbob(function, 100, 101);
    RG_CLOSE(value_at(&it.problem, it.problem.optimisers), it.problem.optimum, 1e-12);
  }
}

RG_TEST(test_numbers)
{
  static const double integers[] = {893351816, 197493099, 1624379149, 1137522503};
  double u[4], g[2], R[4];

  rg_bbob_uniform(4, 1, u);
  for (int i = 0; i < 4; i++) RG_CLOSE(u[i] * 2147483647, integers[i], 1e-15);
  rg_bbob_uniform(4, 10001, u);
  RG_CLOSE(u[3], 0.7408724663503805, 1e-15);
  RG_OK(rg_bbob_normal(2, 10001, g));
  RG_CLOSE(g[0], -0.9474704485589506, 1e-14);
  RG_CLOSE(g[1], -0.08244698345807867, 1e-14);
  RG_OK(rg_bbob_rotation(2, 1010002, R));
  RG_CLOSE(R[0], 0.94619651, 1e-8);
  RG_CLOSE(R[1], 0.32359259, 1e-8);
  RG_CLOSE(R[3], -0.94619651, 1e-8);
}

/* Derivative along coordinate j, and how far rounding may have moved it; false where those from the
   right and from the left differ: a kink or a step lies between. */
static bool differences(Instance *it, double *x, int j, double step, double *slope, double *error)
{
  const double at = x[j], f = value_at(&it->problem, x);

  x[j] = at + step;
  const double right = (value_at(&it->problem, x) - f) / (x[j] - at);
  x[j] = at - step;
  const double left = (value_at(&it->problem, x) - f) / (x[j] - at);
  x[j] = at;
  *slope = 0.5 * (right + left);
  *error = 2e-3 * fmax(1, fabs(*slope)) + 1e-14 * fmax(1, fabs(f)) / step;
  return fabs(right - left) <= *error;
}

RG_TEST(test_gradients)
{
  enum { DIM = 3, POINTS = 20 };

  for (int function = 1; function <= 24; function++) {
    Instance it = bbob(function, DIM, 4);
    const RgProblemClass *class = it.problem.class;
    RgStream stream = rg_stream(7, "bbob", 0, "points", (uint64_t)function);
    RgRandom random = rg_stream_at(&stream, 0);
    const double step = function == 23 ? 0x1p-38 : function == 16 ? 1e-10 : 1e-7;
    int smooth = 0;
    for (int k = 0; k < POINTS; k++) {
      double x[DIM], gradient[DIM], slope, error;
      for (int j = 0; j < DIM; j++) x[j] = 12 * rg_random_uniform(&random) - 6;
      const RgPoint point = {.index = -1, .x = x, .context_index = -1};
      RG_OK(class->gradient(&it.problem, &point, gradient));
      for (int j = 0; j < DIM; j++) {
        if (!differences(&it, x, j, step, &slope, &error)) continue;
        smooth++;
        if (!(fabs(gradient[j] - slope) <= error))
          fail_msg("f%d: gradient %.9g, differences %.9g", function, gradient[j], slope);
      }
    }
    if (smooth < DIM * POINTS / 3) fail_msg("f%d: %d smooth differences", function, smooth);
    instance_free(&it);
  }
}
