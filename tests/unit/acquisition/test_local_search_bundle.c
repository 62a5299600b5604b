/* The local search along kinks. */
#include "acquisition/local_search.h"
#include "test_main.h"

/* The least of `n` functions value_k + slope_k . (x - at_k) - bend |x - at_k|^2 of two inputs. */
typedef struct {
  int n, points;
  double value[4], at[4][2], slope[4][2], bend;
} Least;

static PetscErrorCode least(void *closure, int m, const double *X, double *value, double *gradient)
{
  Least *of = closure;

  of->points += m;
  for (int i = 0; i < m; i++) {
    value[i] = INFINITY;
    for (int k = 0; k < of->n; k++) {
      double found = of->value[k], by[2];
      for (int j = 0; j < 2; j++) {
        const double d = X[2 * i + j] - of->at[k][j];
        assert_true(X[2 * i + j] >= 0 && X[2 * i + j] <= 1);
        found += of->slope[k][j] * d - of->bend * d * d;
        by[j] = of->slope[k][j] - 2 * of->bend * d;
      }
      if (!(found < value[i])) continue;
      value[i] = found;
      for (int j = 0; j < 2 && gradient; j++) gradient[2 * i + j] = by[j];
    }
  }
  return 0;
}

static const RgMaximiserOptions options = {
  .raw_samples = 1024, .max_iterations = 200, .tolerance = 1e-9};

/* A ridge along y = 0.3 + 0.2 x rises slowly to its top at x = 0.7, and falls steeply to its sides. */
RG_TEST(climbs_along_a_ridge)
{
  Least ridge = {
    .n = 2, .at = {{0.7, 0.44}, {0.7, 0.44}}, .slope = {{-1.6, 8}, {1.6, -8}}, .bend = 0.05};
  double x[4] = {0.1, 0.9, 0.99, 0.02}, value[2] = {0};

  RG_OK(rg_local_search_bundle(&options, 2, 2, x, value, least, &ridge));
  for (int i = 0; i < 2; i++) {
    RG_CLOSE(value[i], 0, 1e-5);
    RG_CLOSE(x[2 * i], 0.7, 0.02);
    RG_CLOSE(x[2 * i + 1], 0.3 + 0.2 * x[2 * i], 1e-5);
  }
  assert_true(ridge.points <= 2 * 41);
}

/* Three planes meet at one point, where no gradient is 0. A ridge that rises beyond the cube ends at
   its face, between the planes. From a start close beside a steep ridge every first step lands on the
   far side, lower than before; the plane there shows the kink, so that the next step goes along it. */
RG_TEST(ends_where_kinks_lead)
{
  static const struct {
    Least least;
    double from[2], to[2], value;
  } cases[] = {
    {{.n = 3,
      .value = {1, 1, 1},
      .at = {{0.4, 0.6}, {0.4, 0.6}, {0.4, 0.6}},
      .slope = {{3, 1}, {-2, 4}, {-1, -6}}},
     {0.9, 0.1},
     {0.4, 0.6},
     1},
    {{.n = 2, .at = {{1, 0.2}, {1, 0.2}}, .slope = {{2, 5}, {0, -5}}}, {0.3, 0.8}, {1, 0.2}, 0},
    {{.n = 2, .at = {{0.9, 0.5}, {0.9, 0.5}}, .slope = {{1, 100}, {1, -100}}},
     {0.1, 0.5 + 1e-7},
     {1, 0.5},
     0.1}};

  for (int k = 0; k < 3; k++) {
    Least of = cases[k].least;
    double x[2] = {cases[k].from[0], cases[k].from[1]}, value = 0;
    RG_OK(rg_local_search_bundle(&options, 2, 1, x, &value, least, &of));
    RG_CLOSE(value, cases[k].value, 1e-5);
    for (int j = 0; j < 2; j++) RG_CLOSE(x[j], cases[k].to[j], 1e-5);
    assert_true(k != 1 || x[0] == 1.0);
  }
}

static PetscErrorCode defined_left(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  for (int i = 0; i < m; i++) {
    value[i] = X[i] < 0.5 ? X[i] : NAN;
    if (gradient) gradient[i] = 1;
  }
  return 0;
}

/* A start without a value stays, and steps to points without one are shortened. */
RG_TEST(leaves_what_is_not_finite)
{
  double x[2] = {0.8, 0.1}, value[2] = {-INFINITY, 0.1};

  RG_OK(rg_local_search_bundle(&options, 1, 2, x, value, defined_left, NULL));
  assert_true(x[0] == 0.8 && isinf(value[0]));
  assert_true(x[1] > 0.49 && x[1] < 0.5 && value[1] == x[1]);
  RG_OK(rg_local_search_bundle(&options, 1, 0, x, value, defined_left, NULL));
}
