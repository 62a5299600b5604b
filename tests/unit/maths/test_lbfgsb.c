/* L-BFGS-B wrapper: known optima with and without active bounds, lockstep, limits, points without a
   finite value, misuse. */
#include "test_main.h"

#include "maths/lbfgsb.h"

/* Chained Rosenbrock function; minimum 0 at (1, ..., 1). */
static double rosenbrock(int n, const double *x, double *g)
{
  double f = 0.0;
  memset(g, 0, (size_t)n * sizeof *g);
  for (int i = 0; i + 1 < n; i++) {
    double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
    f += 100.0 * a * a + b * b;
    g[i] += -400.0 * x[i] * a - 2.0 * b;
    g[i + 1] += 200.0 * a;
  }
  return f;
}

static const RgLbfgsbLimits tight = {.factr = 0.0, .pgtol = 1e-9, .max_evaluations = 1000};

static RgLbfgsbStatus run(RgLbfgsb *search, const double *start)
{
  RgLbfgsbStatus status;
  double gradient[32];
  RG_OK(rg_lbfgsb_begin(search, start, &status));
  while (status == RG_LBFGSB_EVALUATE) {
    double value = rosenbrock(search->n, search->x, gradient);
    RG_OK(rg_lbfgsb_step(search, value, gradient, &status));
  }
  return status;
}

RG_TEST(test_unbounded)
{
  RG_OWNED(rg_lbfgsb_destroy) RgLbfgsb search;
  const double start[5] = {-1.2, 1.0, 0.3, -0.7, 2.0};
  RG_OK(rg_lbfgsb_create(5, 7, NULL, NULL, &tight, &search));
  assert_int_equal(run(&search, start), RG_LBFGSB_CONVERGED);
  for (int i = 0; i < 5; i++) RG_CLOSE(search.best_x[i], 1.0, 1e-8);
  assert_true(search.best_value < 1e-16);
  assert_true(search.projected_gradient <= 1e-9);
  assert_string_equal(search.reason, "projected gradient small enough");
  assert_true(search.evaluations >= search.iterations && search.iterations > 5);
}

/* x_1 <= 0.5 is active at the minimum: x = (0.5, 0.25), value 0.25. */
RG_TEST(test_active_bound)
{
  RG_OWNED(rg_lbfgsb_destroy) RgLbfgsb search;
  const double lower[2] = {-2.0, -INFINITY}, upper[2] = {0.5, INFINITY};
  const double start[2] = {3.0, -4.0}; /* outside: moved to the bound */
  RG_OK(rg_lbfgsb_create(2, 5, lower, upper, &tight, &search));
  assert_int_equal(run(&search, start), RG_LBFGSB_CONVERGED);
  RG_CLOSE(search.best_x[0], 0.5, 0.0);
  RG_CLOSE(search.best_x[1], 0.25, 1e-9);
  RG_CLOSE(search.best_value, 0.25, 1e-12);
}

/* One-sided bounds of both kinds and a variable fixed by equal bounds. */
RG_TEST(test_one_sided_and_fixed)
{
  RG_OWNED(rg_lbfgsb_destroy) RgLbfgsb search;
  const double lower[3] = {-INFINITY, 1.5, 2.0}, upper[3] = {0.0, INFINITY, 2.0};
  const double start[3] = {-0.5, 2.0, 0.0};
  RG_OK(rg_lbfgsb_create(3, 5, lower, upper, &tight, &search));
  assert_int_equal(run(&search, start), RG_LBFGSB_CONVERGED);
  RG_CLOSE(search.best_x[2], 2.0, 0.0);
  RG_CLOSE(search.best_x[1], 1.5, 0.0);
  assert_true(search.best_x[0] < 0.0);
  /* Stationarity in the free variable: -400 x (1.5 - x^2) - 2 (1 - x) = 0. */
  double x = search.best_x[0];
  RG_CLOSE(-400.0 * x * (1.5 - x * x) - 2.0 * (1.0 - x), 0.0, 1e-7);
}

/* Many searches in lockstep give the bits of the same searches run alone. */
RG_TEST(test_lockstep)
{
  enum { N = 4, STARTS = 3 };
  const double lower[N] = {-2, -2, -2, -2}, upper[N] = {2, 0.8, 2, 2};
  const double start[STARTS][N] = {{-1, 0, 1, 2}, {0.1, 0.2, 0.3, 0.4}, {2, -2, 2, -2}};
  double alone[STARTS][N], gradient[N];
  RgLbfgsb search[STARTS];
  RgLbfgsbStatus status[STARTS];
  for (int s = 0; s < STARTS; s++) {
    RG_OK(rg_lbfgsb_create(N, 6, lower, upper, &tight, &search[s]));
    run(&search[s], start[s]);
    memcpy(alone[s], search[s].best_x, sizeof alone[s]);
    RG_OK(rg_lbfgsb_begin(&search[s], start[s], &status[s])); /* begin again: same object */
  }
  for (int running = STARTS; running > 0;) {
    running = 0;
    for (int s = 0; s < STARTS; s++) {
      if (status[s] != RG_LBFGSB_EVALUATE) continue;
      double value = rosenbrock(N, search[s].x, gradient);
      RG_OK(rg_lbfgsb_step(&search[s], value, gradient, &status[s]));
      running++;
    }
  }
  for (int s = 0; s < STARTS; s++) {
    assert_memory_equal(alone[s], search[s].best_x, sizeof alone[s]);
    RG_OK(rg_lbfgsb_destroy(&search[s]));
  }
}

RG_TEST(test_limits)
{
  RG_OWNED(rg_lbfgsb_destroy) RgLbfgsb search;
  RgLbfgsbLimits limits = {.max_evaluations = 7};
  const double start[2] = {-1.2, 1.0};
  RG_OK(rg_lbfgsb_create(2, 5, NULL, NULL, &limits, &search));
  assert_int_equal(run(&search, start), RG_LBFGSB_LIMIT);
  assert_int_equal(search.evaluations, 7);
  assert_string_equal(search.reason, "evaluation limit");
  double after_seven = search.best_value;
  search.limits = (RgLbfgsbLimits){.max_iterations = 3};
  assert_int_equal(run(&search, start), RG_LBFGSB_LIMIT);
  assert_int_equal(search.iterations, 3);
  assert_string_equal(search.reason, "iteration limit");
  search.limits = (RgLbfgsbLimits){.factr = 1e10, .max_evaluations = 1000};
  assert_int_equal(run(&search, start), RG_LBFGSB_CONVERGED);
  assert_string_equal(search.reason, "decrease small enough");
  assert_true(search.best_value <= after_seven);
}

/* 50 (3x - log x) on x > 0, NaN elsewhere; minimum at 1/3. Started far out, the search steps into
   the NaNs. */
RG_TEST(test_not_finite)
{
  RG_OWNED(rg_lbfgsb_destroy) RgLbfgsb search;
  RgLbfgsbStatus status;
  int outside = 0;
  const double start = 0.5;
  RG_OK(rg_lbfgsb_create(1, 5, NULL, NULL, &tight, &search));
  RG_OK(rg_lbfgsb_begin(&search, &start, &status));
  while (status == RG_LBFGSB_EVALUATE) {
    double x = search.x[0], gradient = 50.0 * (3.0 - 1.0 / x);
    double value = x > 0.0 ? 50.0 * (3.0 * x - log(x)) : (outside % 2 ? -INFINITY : NAN);
    outside += x <= 0.0;
    RG_OK(rg_lbfgsb_step(&search, value, &gradient, &status));
  }
  assert_true(outside >= 1);
  RG_CLOSE(search.best_x[0], 1.0 / 3.0, 1e-7);
  RG_CLOSE(search.best_value, 50.0 * (1.0 + log(3.0)), 1e-12);

  double nothing = NAN, zero = 0.0;
  RG_OK(rg_lbfgsb_begin(&search, &start, &status));
  RG_OK(rg_lbfgsb_step(&search, nothing, &zero, &status));
  assert_int_equal(status, RG_LBFGSB_FAILED);
  assert_string_equal(search.reason, "not finite at the start");
  assert_true(isinf(search.best_value));
}

/* A gradient that points the wrong way: the line search gives up, the best point is kept. */
RG_TEST(test_no_decrease)
{
  RG_OWNED(rg_lbfgsb_destroy) RgLbfgsb search;
  RgLbfgsbStatus status;
  const double start = 2.0;
  RG_OK(rg_lbfgsb_create(1, 5, NULL, NULL, &tight, &search));
  RG_OK(rg_lbfgsb_begin(&search, &start, &status));
  while (status == RG_LBFGSB_EVALUATE) {
    double value = search.x[0] * search.x[0], gradient = -2.0 * search.x[0];
    RG_OK(rg_lbfgsb_step(&search, value, &gradient, &status));
  }
  assert_int_equal(status, RG_LBFGSB_FAILED);
  RG_CLOSE(search.best_x[0], 2.0, 0.0);
}

RG_TEST(test_misuse)
{
  RgLbfgsb search;
  RgLbfgsbStatus status;
  const double lower = 1.0, upper = 0.0, start = 0.0;
  double slope = 0.0;
  RG_FAILS(rg_lbfgsb_create(0, 5, NULL, NULL, &tight, &search), PETSC_ERR_ARG_OUTOFRANGE);
  RG_FAILS(rg_lbfgsb_create(1, 5, &lower, &upper, &tight, &search), PETSC_ERR_ARG_OUTOFRANGE);
  RG_OK(rg_lbfgsb_destroy(&search)); /* the state that a failed create leaves */
  RG_OK(rg_lbfgsb_create(1, 5, NULL, NULL, &tight, &search));
  search.limits.factr = -1.0;
  RG_FAILS(rg_lbfgsb_begin(&search, &start, &status), PETSC_ERR_ARG_OUTOFRANGE);
  search.limits = tight;
  RG_OK(rg_lbfgsb_begin(&search, &start, &status));
  RG_OK(rg_lbfgsb_step(&search, 1.0, &slope, &status));
  assert_int_equal(status, RG_LBFGSB_CONVERGED);
  RG_FAILS(rg_lbfgsb_step(&search, 1.0, &slope, &status), PETSC_ERR_ORDER);
  RG_OK(rg_lbfgsb_destroy(&search));
  RG_OK(rg_lbfgsb_destroy(&search)); /* twice is harmless */
}
