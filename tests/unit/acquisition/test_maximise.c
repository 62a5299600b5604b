/* Maximisation over a box and over finite sets. */
#include "gp/model/model.h"
#include "test_main.h"

#include "acquisition/levels.h"
#include "base/inputs.h"
#include "regatta/acquire.h"
#include "gp/posterior/set/set_posterior.h"

static char *const mixed[] = {"n integer 0 9", "k choice a b c d e", "v real 0 1"};

static void inputs(int n, char *const *texts, RgSpace *space)
{
  RgText mistake = {0};

  RG_OK(rg_space_inputs(space, n, texts, &mistake));
  assert_int_equal(mistake.length, 0);
}

/* ---- test functions ------------------------------------------------------------------------- */

typedef struct {
  int dim, calls, points;
  double centre[8], scale[8];
} Paraboloid;

/* -sum scale_j (x_j - centre_j)^2 */
static PetscErrorCode paraboloid(void *closure, int m, const double *X, double *value,
                                 double *gradient)
{
  Paraboloid *p = closure;

  p->calls++;
  p->points += m;
  for (int i = 0; i < m; i++) {
    value[i] = 0.0;
    for (int j = 0; j < p->dim; j++) {
      double delta = X[i * p->dim + j] - p->centre[j];
      assert_true(X[i * p->dim + j] >= 0.0 && X[i * p->dim + j] <= 1.0);
      value[i] -= p->scale[j] * delta * delta;
      if (gradient) gradient[i * p->dim + j] = -2.0 * p->scale[j] * delta;
    }
  }
  return 0;
}

/* Valley of Rosenbrock on [-1, 1]^2, negated: maximum 0 at (1, 1), unit coordinates (1, 1). */
static PetscErrorCode banana(void *closure, int m, const double *X, double *value, double *gradient)
{
  for (int i = 0; i < m; i++) {
    double x = 2.4 * X[2 * i] - 1.2, y = 2.4 * X[2 * i + 1] - 1.2, t = y - x * x;
    value[i] = -100.0 * t * t - (1.0 - x) * (1.0 - x);
    if (!gradient) continue;
    gradient[2 * i] = 2.4 * (400.0 * t * x + 2.0 * (1.0 - x));
    gradient[2 * i + 1] = 2.4 * -200.0 * t;
  }
  return 0;
}

/* NaN left of 0.7, -infinity between 0.7 and 0.8, x beyond. */
static PetscErrorCode half_defined(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  for (int i = 0; i < m; i++) {
    value[i] = X[i] < 0.7 ? NAN : X[i] < 0.8 ? -INFINITY : X[i];
    if (gradient) gradient[i] = X[i] < 0.8 ? NAN : 1.0;
  }
  return 0;
}

static PetscErrorCode nowhere(void *closure, int m, const double *X, double *value,
                              double *gradient)
{
  for (int i = 0; i < m; i++) value[i] = NAN;
  return 0;
}

typedef struct {
  double ratio;
  int calls;
} Levelling;

/* A function of one input; call r has the value -(1 + ratio^r) everywhere. */
static PetscErrorCode levelling_off(void *closure, int m, const double *X, double *value,
                                    double *gradient)
{
  Levelling *level = closure;

  level->calls++;
  for (int i = 0; i < m; i++) value[i] = -(1.0 + pow(level->ratio, level->calls));
  for (int i = 0; gradient && i < m; i++) gradient[i] = 0.0;
  return 0;
}

static RgMaximiserOptions defaults(int local_search)
{
  RgMaximiserOptions options = {0};

  RG_OK(rg_params_defaults(rg_maximiser_params, &options));
  options.local_search = local_search;
  return options;
}

static RgRandom test_random(uint64_t seed)
{
  RgStream stream = rg_stream(3, "test", 0, "maximise", seed);

  return rg_stream_at(&stream, 1);
}

/* The value of a search with random numbers of `seed`, which must not fail; `search` has the rest. */
static double maximum(RgSearch search, uint64_t seed, int dim, RgBatchFunction function,
                      void *closure, double *x)
{
  RgRandom random = test_random(seed);
  RgFailure failure = {0};
  double value;

  search.random = &random;
  RG_OK(rg_maximise_box(&search, dim, function, closure, x, &value, &failure));
  assert_false(failure.failed);
  return value;
}

/* ---- box ------------------------------------------------------------------------------------ */

RG_TEST(test_paraboloid)
{
  for (int local_search = 0; local_search < 2; local_search++) {
    for (int seed = 0; seed < 10; seed++) {
      RgMaximiserOptions options = defaults(local_search);
      Paraboloid p = {3, 0, 0, {0.3, 1.7, 0.0}, {1.0, 0.1, 1000.0}}; /* the second one is outside */
      double x[3];
      const double value =
        maximum((RgSearch){.options = &options}, (uint64_t)seed, 3, paraboloid, &p, x);
      RG_CLOSE(x[0], 0.3, 1e-4);
      assert_true(x[1] == 1.0);
      RG_CLOSE(x[2], 0.0, 1e-4);
      RG_CLOSE(value, -0.1 * 0.49, 1e-8);
    }
  }
}

/* The first step of Adam is 0.025 whatever the slope, and many end near the maximum; a start that
   steps over it ends worse than it began. */
RG_TEST(test_adam)
{
  RgMaximiserOptions options = {.max_iterations = 1};
  Paraboloid p = {1, 0, 0, {0.6}, {3.0}};
  double x[2] = {0.2, 0.9}, value[2], over = 0.599;

  RG_OK(rg_local_search_adam(&options, 1, 2, x, value, paraboloid, &p));
  RG_CLOSE(x[0], 0.225, 1e-7);
  RG_CLOSE(x[1], 0.875, 1e-7);
  RG_CLOSE(value[0], -3.0 * 0.375 * 0.375, 1e-6);
  RG_OK(rg_local_search_adam(&options, 1, 1, &over, value, paraboloid, &p));
  assert_true(value[0] < -3e-6);
  options.max_iterations = 10000;
  RG_OK(rg_local_search_adam(&options, 1, 2, x, value, paraboloid, &p));
  RG_CLOSE(x[0], 0.6, 0.1); /* the search stops when the sum falls once */
  RG_CLOSE(x[1], 0.6, 0.1);
  assert_true(p.calls < 1000);
}

/* wdrbo 2.6: moving averages of 10 losses, weights e^-1 .. 1, the last two compared at 1e-5; then
   the ends are evaluated once more. 53 by a program of its own; equal weights would stop at 54. */
RG_TEST(adam_stops_when_the_moving_average_levels_off)
{
  RgMaximiserOptions options = {.max_iterations = 10000};
  Levelling level = {.ratio = 0.81}, constant = {.ratio = 0.0};
  double x[2] = {0.2, 0.9}, value[2];

  RG_OK(rg_local_search_adam(&options, 1, 2, x, value, levelling_off, &level));
  assert_int_equal(level.calls, 53 + 1);
  RG_OK(rg_local_search_adam(&options, 1, 2, x, value, levelling_off, &constant));
  assert_int_equal(constant.calls, 11 + 1);
}

RG_TEST(test_banana)
{
  double x[2];

  for (int local_search = 0; local_search < 2; local_search++) {
    RgMaximiserOptions options = defaults(local_search);
    options.raw_samples = 8;
    options.restarts = 1;
    assert_true(maximum((RgSearch){.options = &options}, 4, 2, banana, NULL, x) > -1e-6);
    RG_CLOSE(x[0], 2.2 / 2.4, 1e-2);
  }
}

/* Extra points join the raw ones: only an extra point is on the needle. */
RG_TEST(test_extra_points)
{
  Paraboloid p = {2, 0, 0, {0.123456, 0.654321}, {1e8, 1e8}};
  double extra[4] = {0.9, 0.9, 0.123456, 0.654321}, x[2];

  for (int local_search = 0; local_search < 2; local_search++) {
    RgMaximiserOptions options = defaults(local_search);
    options.max_iterations = 0;
    assert_true(maximum((RgSearch){.options = &options, .n_extra = 2, .extra = extra}, 5, 2,
                        paraboloid, &p, x) == 0.0);
    assert_true(x[0] == extra[2] && x[1] == extra[3]);
  }
}

/* Raw points of the caller: the diagonal, off by one from its values. */
static PetscErrorCode diagonal(void *closure, RgRandom *random, int n, double *X, double *value)
{
  for (int i = 0; i < n; i++) {
    X[2 * i] = X[2 * i + 1] = (double)i / n;
    value[i] = -1.0 - fabs(X[2 * i] - 0.5);
  }
  return 0;
}

RG_TEST(test_raw_design)
{
  Paraboloid p = {2, 0, 0, {0.25, 0.5}, {1.0, 1.0}};
  const RgScreen screen = {.function = paraboloid, .closure = &p, .raw = diagonal};
  double extra[2] = {1.0, 0.0}, x[2], value;
  RgFailure failure = {0};

  for (int local_search = 0; local_search < 2; local_search++) {
    RgMaximiserOptions options = defaults(local_search);
    RgRandom random = test_random(8);
    RgSearch search = {.options = &options, .random = &random, .n_extra = 1, .extra = extra};
    options.raw_samples = 64;
    options.max_iterations = 0;
    p.points = 0;
    for (int round = 0; round < 3; round++) { /* with an extra point, without, and with climbs */
      search.n_extra = round == 0;
      options.max_iterations = round == 2 ? 100 : 0;
      RG_OK(rg_maximise_box_screened(&search, 2, paraboloid, &p, &screen, x, &value, &failure));
      if (round < 2) assert_int_equal(p.points, 1);
      /* its own value, -0.8125, beats the raw ones */
      if (round == 0) assert_true(x[0] == 1.0 && x[1] == 0.0);
      if (round == 1) assert_true(x[0] == 0.5 && x[1] == 0.5 && value == -1.0);
    }
    RG_CLOSE(value, 0.0, 1e-9);
  }
}

RG_TEST(test_not_finite)
{
  double x, value;

  for (int local_search = 0; local_search < 2; local_search++) {
    RgMaximiserOptions options = defaults(local_search);
    RgRandom random = test_random(6);
    RgFailure failure = {0};
    assert_true(maximum((RgSearch){.options = &options}, 6, 1, half_defined, NULL, &x) == 1.0);
    assert_true(x == 1.0);
    RG_OK(rg_maximise_box(&(RgSearch){.options = &options, .random = &random}, 1, nowhere, NULL, &x,
                          &value, &failure));
    assert_true(failure.failed);
    assert_non_null(strstr(failure.message, "finite"));
  }
}

/* With a tie everywhere the first start wins; it is the first raw point, not the centre of the
   cube. */
RG_TEST(test_flat)
{
  Paraboloid level = {.dim = 2}; /* 0 everywhere */

  for (int selection = 0; selection < 2; selection++) {
    RgMaximiserOptions options = defaults(0);
    double x[2], y[2];
    options.selection = selection;
    for (int again = 0; again < 2; again++)
      assert_true(
        maximum((RgSearch){.options = &options}, 7, 2, paraboloid, &level, again ? y : x) == 0);
    assert_true(x[0] == y[0] && x[1] == y[1]);
    assert_true(fabs(x[0] - 0.5) > 1e-9 || fabs(x[1] - 0.5) > 1e-9);
  }
}

/* Many raw points, one start: boltzmann keeps the best raw point whatever it draws. */
RG_TEST(test_boltzmann_keeps_best)
{
  for (int seed = 0; seed < 20; seed++) {
    RgMaximiserOptions options = defaults(0);
    const RgSearch search = {.options = &options};
    Paraboloid p = {2, 0, 0, {0.4, 0.6}, {1.0, 2.0}};
    double best_x[2], x[2];
    options.raw_samples = 64;
    options.max_iterations = 0;
    const double best = maximum(search, (uint64_t)seed, 2, paraboloid, &p, best_x);
    options.selection = 1;
    options.restarts = 3;
    assert_true(maximum(search, (uint64_t)seed, 2, paraboloid, &p, x) == best);
    assert_true(x[0] == best_x[0] && x[1] == best_x[1]);
  }
}

/* ---- surfaces of real Gaussian processes ---------------------------------------------------- */

enum { MOST = 150 }; /* inputs */

typedef struct {
  RgPosterior posterior;
  RgPrediction work;
  RgAcquisition acquisition;
  int evaluations;
} Surface;

static PetscErrorCode surface(void *closure, int m, const double *X, double *value,
                              double *gradient)
{
  Surface *s = closure;
  double *mean, *variance, *sd, *d_mean, *d_sd;

  s->evaluations += m;
  PetscCall(PetscMalloc5(m, &mean, m, &variance, m, &sd, m, &d_mean, m, &d_sd));
  PetscCall(rg_posterior_predict(&s->posterior, m, X, mean, variance, &s->work));
  for (int j = 0; j < m; j++) sd[j] = sqrt(variance[j]);
  s->acquisition.function(s->acquisition.closure, m, mean, sd, value, d_mean, d_sd);
  for (int j = 0; j < m; j++) d_sd[j] = sd[j] < 1e-9 ? 0.0 : 0.5 * d_sd[j] / sd[j];
  if (gradient)
    PetscCall(rg_posterior_gradient(&s->posterior, m, X, d_mean, d_sd, &s->work, gradient));
  PetscCall(PetscFree5(mean, variance, sd, d_mean, d_sd));
  return 0;
}

/* Posterior of n scattered data of a wavy function with a trend. */
static void make_surface(int dim, int n, uint64_t seed, Surface *s, double *best)
{
  RgRandom random = test_random(seed);
  RgFailure failure = {0};
  RgKernel kernel;
  double X[60 * MOST], y[60], scales[MOST];

  memset(s, 0, sizeof *s);
  *best = -INFINITY;
  const double long_enough = dim > 3 ? sqrt(dim / 3.0) : 1.0; /* data see one another */
  for (int j = 0; j < dim; j++)
    scales[j] = long_enough * (0.15 + 0.35 * rg_random_uniform(&random));
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int j = 0; j < dim; j++) {
      X[i * dim + j] = rg_random_uniform(&random);
      y[i] += sin(7.0 * X[i * dim + j] + j + (double)seed) + 0.5 * X[i * dim + j];
    }
    *best = fmax(*best, y[i]);
  }
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, dim, true, scales, 1.0, &kernel));
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, n, &s->posterior));
  RG_OK(rg_posterior_set(&s->posterior, NULL, 1e-4, 0.0, n, X, y, &failure));
  assert_false(failure.failed);
  RG_OK(rg_kernel_destroy(&kernel));
}

static void destroy_surface(Surface *s)
{
  RG_OK(rg_prediction_destroy(&s->work));
  RG_OK(rg_posterior_destroy(&s->posterior));
}

/* The batched search finds what the reference finds (within `close`) for 99 of 100 seeds, with fewer
   evaluations. */
static void compare_searches(int dim, int kind, int seeds, double close)
{
  int worse = 0, points[2] = {0, 0};

  for (int seed = 0; seed < seeds; seed++) {
    Surface s;
    RgUcb ucb = {2.0};
    RgEi ei;
    double x[MOST], value[2];
    make_surface(dim, 20 + seed % 40, (uint64_t)seed, &s, &ei.incumbent);
    if (kind) s.acquisition = (RgAcquisition){rg_acquisition_log_ei, &ei};
    else s.acquisition = (RgAcquisition){rg_acquisition_ucb, &ucb};
    for (int local_search = 0; local_search < 2; local_search++) {
      RgMaximiserOptions options = defaults(local_search);
      s.evaluations = 0;
      value[local_search] =
        maximum((RgSearch){.options = &options}, 1000 + (uint64_t)seed, dim, surface, &s, x);
      points[local_search] += s.evaluations;
    }
    worse += value[0] < value[1] - close * fmax(1.0, fabs(value[1]));
    destroy_surface(&s);
  }
  assert_true(worse * 100 <= seeds);
  assert_true(points[0] < points[1]);
}

RG_TEST(test_against_reference)
{
  for (int kind = 0; kind < 2; kind++) {
    compare_searches(2, kind, 200, 1e-6);
    compare_searches(3, kind, 200, 1e-6);
    compare_searches(RG_SEARCH_DENSE_MAX + 1, kind, 10, 1e-4);
    compare_searches(MOST, kind, 3, 1e-4);
  }
}

/* ---- many inputs: a model of limited memory ------------------------------------------------- */

/* The step for the gradient y of the last pair is s, also in the coordinates that no face holds. */
RG_TEST(test_last_pair_is_met)
{
  enum { D = 3 };
  const double s[D] = {0.1, 0.05, -0.08}, y[D] = {0.3, 0.2, -0.1}, none[D] = {0};
  const double other[D] = {0.02, -0.1, 0.04}, fall[D] = {0.1, -0.5, 0.3}, scale[D] = {1, 0.5, 0.2};

  for (int at_face = 0; at_face < 2; at_face++) {
    const double x[D] = {0.5, at_face ? 1.0 : 0.5, 0.5}, g[D] = {y[0], y[1], y[2]};
    double block[2 * RG_SEARCH_MEMORY * D], work[(RG_SEARCH_MEMORY + 1) * D], step[D];
    RgLimitedModel model = {.size = 1.0};
    rg_limited_begin(D, block, &model);
    rg_limited_learn(&model, D, other, fall, none);
    rg_limited_learn(&model, D, s, y, none);
    const double gain = rg_limited_step(&model, D, x, g, scale, 1.0, step, work);
    double expected = 0.0;
    for (int j = 0; j < D; j++) {
      const bool held = at_face && j == 1; /* the gradient there points out */
      RG_CLOSE(step[j], held ? 0.0 : s[j], 1e-14);
      expected += held ? 0.0 : 0.5 * y[j] * s[j];
    }
    RG_CLOSE(gain, expected, 1e-14);
    /* half the radius: half the step, and three quarters of the gain */
    const double half = rg_limited_step(&model, D, x, g, scale, 0.05, step, work);
    RG_CLOSE(step[0], 0.5 * s[0], 1e-14);
    RG_CLOSE(half, 0.75 * expected, 1e-14);
  }
}

/* A pair without curvature does not count. Where a face cuts a step so that it no longer ascends,
   pairs are forgotten, and the step is that of the gradient. */
RG_TEST(test_step_always_ascends)
{
  const double scale[2] = {1, 1}, none[2] = {0}, close = 1.0 - 1e-6;
  const double s[2] = {0.4, -0.3}, convex[2] = {-0.3, 0.1}, concave[2] = {1.0, -0.1};
  double block[4 * RG_SEARCH_MEMORY], work[2 * (RG_SEARCH_MEMORY + 1)], step[2];
  RgLimitedModel model = {.size = 1.0};

  rg_limited_begin(2, block, &model);
  rg_limited_learn(&model, 2, s, convex, none);
  assert_true(rg_limited_step(&model, 2, (double[]){0.5, 0.5}, (double[]){0.01, -0.02}, scale, 1.0,
                              step, work) > 0.0);
  RG_CLOSE(step[0], 0.01, 1e-16);
  RG_CLOSE(step[1], -0.02, 1e-16);
  assert_int_equal(model.n, 1);
  rg_limited_learn(&model, 2, s, concave, none);
  assert_true(rg_limited_step(&model, 2, (double[]){close, 0.5}, (double[]){1.0, 0.1}, scale, 10.0,
                              step, work) > 0.0);
  RG_CLOSE(step[0], 1.0 - close, 1e-16);
  RG_CLOSE(step[1], 0.1, 1e-15);
  assert_int_equal(model.n, 0);
}

/* -(x - c)'A(x - c)/2 with A = diag(a) + v v': curvatures from 1 to 1000, every input coupled with
   every other, and a centre outside the cube in about half of them. */
typedef struct {
  int dim, points;
  double a[MOST], v[MOST], c[MOST];
} Coupled;

static PetscErrorCode coupled(void *closure, int m, const double *X, double *value,
                              double *gradient)
{
  Coupled *q = closure;

  q->points += m;
  for (int i = 0; i < m; i++) {
    const double *x = X + i * q->dim;
    double along = 0.0;
    for (int j = 0; j < q->dim; j++) {
      assert_true(x[j] >= 0.0 && x[j] <= 1.0);
      along += q->v[j] * (x[j] - q->c[j]);
    }
    value[i] = -0.5 * along * along;
    for (int j = 0; j < q->dim; j++) {
      const double apart = x[j] - q->c[j];
      value[i] -= 0.5 * q->a[j] * apart * apart;
      if (gradient) gradient[i * q->dim + j] = -q->a[j] * apart - q->v[j] * along;
    }
  }
  return 0;
}

/* From each single start both searches end at the one maximum, where every gradient entry vanishes
   or points out of the cube. */
RG_TEST(test_many_inputs_with_active_bounds)
{
  static const int dims[] = {RG_SEARCH_DENSE_MAX, RG_SEARCH_DENSE_MAX + 1, 60, MOST};
  RgMaximiserOptions options = defaults(RG_LOCAL_SEARCH_BATCHED);
  RgRandom random = test_random(9);
  Coupled q;

  options.tolerance = 1e-12;
  options.max_iterations = 1000;
  for (int trial = 0; trial < 12; trial++) {
    double x[2][MOST], value[2], gradient[MOST];
    int points[2], at_faces = 0;
    q.dim = dims[trial % 4];
    for (int j = 0; j < q.dim; j++) {
      q.a[j] = pow(10.0, 3.0 * rg_random_uniform(&random));
      q.v[j] = rg_random_normal(&random);
      q.c[j] = 2.0 * rg_random_uniform(&random) - 0.5;
      x[0][j] = x[1][j] = trial < 4 ? j % 2 : rg_random_uniform(&random);
    }
    for (int k = 0; k < 2; k++) {
      q.points = 0;
      RG_OK(coupled(&q, 1, x[k], &value[k], NULL));
      RG_OK((k ? rg_local_search_lbfgsb : rg_local_search_batched)(&options, q.dim, 1, x[k],
                                                                   &value[k], coupled, &q));
      points[k] = q.points;
    }
    RG_CLOSE(value[0], value[1], 1e-8);
    assert_true(2 * points[0] < 3 * points[1]);
    RG_OK(coupled(&q, 1, x[0], &value[0], gradient));
    for (int j = 0; j < q.dim; j++) {
      at_faces += x[0][j] == 0.0 || x[0][j] == 1.0;
      if (x[0][j] > 0.0) assert_true(gradient[j] > -1e-2);
      if (x[0][j] < 1.0) assert_true(gradient[j] < 1e-2);
      RG_CLOSE(x[0][j], x[1][j], 1e-3);
    }
    assert_true(at_faces > q.dim / 4);
  }
}

/* ---- box quadratic programme ---------------------------------------------------------------- */

/* Every vertex of the optimality conditions: p is optimal iff the gradient g - Bp vanishes on free
   coordinates and points outward on fixed ones. */
RG_TEST(test_box_quadratic)
{
  RgRandom random = test_random(8);

  for (int trial = 0; trial < 500; trial++) {
    int dim = 1 + trial % 6;
    double root[36], B[36] = {0}, g[6], lower[6], upper[6], step[6], work[6 * 9];
    for (int i = 0; i < dim * dim; i++) root[i] = rg_random_normal(&random);
    for (int i = 0; i < dim; i++) {
      g[i] = 3.0 * rg_random_normal(&random);
      lower[i] = trial % 3 ? -rg_random_uniform(&random) : 0.0;
      upper[i] = rg_random_uniform(&random);
      for (int j = 0; j < dim; j++) {
        B[i * dim + j] = i == j ? 0.05 : 0.0;
        for (int k = 0; k < dim; k++) B[i * dim + j] += root[i * dim + k] * root[j * dim + k];
      }
    }
    double gain = rg_box_quadratic(dim, g, B, lower, upper, step, work), sum = 0.0;
    for (int i = 0; i < dim; i++) {
      double slope = g[i], curved = 0.0;
      for (int j = 0; j < dim; j++) curved += B[i * dim + j] * step[j];
      slope -= curved;
      sum += step[i] * (g[i] - 0.5 * curved);
      assert_true(step[i] >= lower[i] - 1e-12 && step[i] <= upper[i] + 1e-12);
      if (step[i] > lower[i] + 1e-12) assert_true(slope > -1e-9);
      if (step[i] < upper[i] - 1e-12) assert_true(slope < 1e-9);
    }
    RG_CLOSE(gain, sum, 1e-12);
    assert_true(gain >= 0.0);
  }
}

/* ---- finite sets ---------------------------------------------------------------------------- */

RG_TEST(test_argmax)
{
  double value[6] = {1.0, 5.0 - 1e-13, 5.0, NAN, INFINITY, 4.0};
  unsigned char excluded[6] = {0, 1, 1, 0, 0, 0}, all[6] = {1, 1, 1, 1, 1, 1};

  assert_int_equal(rg_argmax(6, value, NULL), 1); /* ties with 2 within 1e-12 */
  assert_int_equal(rg_argmax(6, value, excluded), 5);
  assert_int_equal(rg_argmax(6, value, all), -1);
  assert_int_equal(rg_argmax(1, value + 3, NULL), -1);
  value[1] = 5.0 - 1e-11;
  assert_int_equal(rg_argmax(6, value, NULL), 2);
}

/* The points 0, 1, .., n - 1. */
static void make_line(int n, RgDomain *domain)
{
  static double points[2000];

  for (int i = 0; i < n; i++) points[i] = i;
  RG_OK(rg_space_set(&domain->design, 1, n, points, NULL, NULL));
}

/* A line of 2000 points, the model's posterior after a few data, scanned point by point. */
RG_TEST(test_acquire_finite)
{
  enum { N = 2000 };
  RgDomain domain = {0};
  RgSurrogateOptions surrogate = {0};
  RgMaximiserOptions maximiser = defaults(0);
  RgStream stream = rg_stream(1, "test", 0, "acquire", 1);
  RgRandom random = rg_stream_at(&stream, 1);
  RgHistory history;
  RgModel model;
  RgFailure failure = {0};
  RgUcb ucb = {1.5};
  RgAcquisition acquisition = {rg_acquisition_ucb, &ucb};
  const RgSearch search = {.options = &maximiser, .history = &history, .random = &random};
  double x, value, expected[N];
  RgQuery query = {.x = &x};

  make_line(N, &domain);
  RG_OK(rg_params_defaults(rg_surrogate_params, &surrogate));
  surrogate.fit = RG_FIT_FIXED;
  RG_OK(rg_history_create(&domain, 8, &history));
  for (int i = 0; i < 6; i++) {
    int index = 17 + 350 * i;
    RG_OK(rg_history_append(&history, &domain.design.points[index], index, NULL, -1, sin(i)));
  }
  RG_OK(rg_model_create(&domain, &surrogate, false, 1e-6, 8, &stream, NULL, &model));
  RG_OK(rg_model_update(&model, &history, &failure));
  RG_OK(rg_acquire(&model, &acquisition, &search, &query, &value, &failure));
  for (int i = 0; i < N; i++)
    expected[i] = model.posterior.set->mean[i] + 1.5 * sqrt(model.posterior.set->variance[i]);
  assert_int_equal(query.index, rg_argmax(N, expected, NULL));
  assert_true(x == domain.design.points[query.index] && value == expected[query.index]);

  /* Without replacement the data are excluded, also if nothing else remains. */
  RgEi ei = {-1e3};
  domain.without_replacement = true;
  acquisition = (RgAcquisition){rg_acquisition_log_ei, &ei};
  RG_OK(rg_acquire(&model, &acquisition, &search, &query, &value, &failure));
  for (int i = 0; i < history.n; i++) assert_int_not_equal(query.index, history.index[i]);
  assert_false(failure.failed);

  RG_OK(rg_model_destroy(&model));
  RG_OK(rg_history_destroy(&history));
  RG_OK(rg_params_clear(rg_surrogate_params, &surrogate));
  RG_OK(rg_domain_destroy(&domain));
}

/* A set and the box around it: the function's best point; a set's best one is taken only once. */
RG_TEST(test_acquire_with)
{
  RgMaximiserOptions maximiser = defaults(0);
  RgStream stream = rg_stream(1, "test", 0, "acquire", 2);
  RgRandom random = rg_stream_at(&stream, 1);
  Paraboloid p = {.dim = 1, .centre = {0.3}, .scale = {2.0}};
  RgDomain set = {.without_replacement = true}, box = {0};
  RgHistory history;
  RgFailure failure = {0};
  const RgSearch search = {.options = &maximiser, .history = &history, .random = &random};
  const double lower = 0.0, upper = 1.0;
  double x, value;
  RgQuery query = {.x = &x};

  make_line(1201, &set);
  RG_OK(rg_history_create(&set, 4, &history));
  for (int i = 0; i < 3; i++) {
    const int expected[3] = {360, 359, 361}; /* the lower index of a tie first */
    RG_OK(rg_acquire_with(&set, paraboloid, &p, &search, &query, &value, &failure));
    assert_int_equal(query.index, expected[i]);
    RG_CLOSE(value, -2.0 * (x - 0.3) * (x - 0.3), 1e-15);
    RG_OK(rg_history_append(&history, &x, query.index, NULL, -1, value));
  }
  RG_OK(rg_history_destroy(&history));

  RG_OK(rg_space_box(&box.design, 1, &lower, &upper));
  RG_OK(rg_history_create(&box, 4, &history));
  RG_OK(rg_acquire_with(&box, paraboloid, &p, &search, &query, &value, &failure));
  assert_int_equal(query.index, -1);
  RG_CLOSE(x, 0.3, 1e-6);
  assert_false(failure.failed);
  RG_OK(rg_history_destroy(&history));
  RG_OK(rg_domain_destroy(&set));
  RG_OK(rg_domain_destroy(&box));
}

/* The search asks for designs alone, words in their middle, never for two points that are evaluated
   alike, and finds the branch whose best is better: with the first word the second coordinate
   doesn't count. */
static PetscErrorCode two_branches(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  for (int i = 0; i < m; i++) {
    const double *x = X + 2 * i, d = x[1] - 0.2;
    const bool first = x[0] < 0.5;
    assert_true(x[0] == 0.25 || x[0] == 0.75);
    assert_true(!first || x[1] == 0.5);
    value[i] = first ? 1 - x[0] : 1.5 - d * d - (1 - x[0]);
    if (gradient) gradient[2 * i] = first ? -1 : 1;
    if (gradient) gradient[2 * i + 1] = -2 * d; /* differs from the function where it is settled */
  }
  return 0;
}

RG_TEST(test_inputs_that_do_not_count)
{
  static char *const texts[] = {"k choice a b", "v real 0 1 if k=b"};
  const RgMaximiserOptions options = defaults(RG_LOCAL_SEARCH_BATCHED);
  RgSpace space = {0};
  double x[2];

  inputs(2, texts, &space);
  RG_CLOSE(maximum((RgSearch){.options = &options, .space = &space}, 0, 2, two_branches, NULL, x),
           1.25, 1e-9);
  RG_CLOSE(x[0], 0.75, 1e-15);
  assert_true(fabs(x[1] - 0.2) < 1e-4);
  RG_OK(rg_space_destroy(&space));
}

/* ---- integers and choices -------------------------------------------------------------------- */

/* A rugged function of the values that a problem sees; the real third coordinate is smooth. */
typedef struct {
  const RgSpace *space;
  double hint; /* weight of a smooth part that climbing can follow */
} Rugged;

static double rugged(const Rugged *r, const double *x)
{
  double native[3], seen[3], value = 0;

  rg_space_to_native(r->space, x, native);
  rg_space_seen(r->space, native, seen);
  for (int j = 0; j < 2; j++) {
    const double at = seen[j] / (r->space->upper[j] - r->space->lower[j]);
    value += sin(12.9898 * seen[j] + 2 * j) - r->hint * pow(at - 0.37, 2);
  }
  if (r->space->dim == 3) value -= 3 * pow(seen[2] - 0.1 * seen[0], 2);
  return value;
}

static PetscErrorCode rugged_function(void *closure, int m, const double *X, double *value,
                                      double *gradient)
{
  const Rugged *r = closure;
  const size_t dim = (size_t)r->space->dim;

  for (size_t i = 0; i < (size_t)m; i++) {
    double snapped[3], native[3];
    memcpy(snapped, X + i * dim, dim * sizeof *snapped);
    rg_space_snap(r->space, snapped, NULL);
    assert_memory_equal(snapped, X + i * dim, dim * sizeof *snapped);
    value[i] = rugged(r, X + i * dim);
    for (size_t j = 0; gradient && j < 2; j++) gradient[i * dim + j] = 7; /* must not matter */
    if (!gradient || dim < 3) continue;
    rg_space_to_native(r->space, snapped, native);
    rg_space_seen(r->space, native, native);
    gradient[i * dim + 2] = -6 * (native[2] - 0.1 * native[0]);
  }
  return 0;
}

static double find_best(const RgSpace *space, double hint, const RgHistory *history, double *x)
{
  const RgMaximiserOptions options = defaults(RG_LOCAL_SEARCH_BATCHED);
  Rugged r = {space, hint};
  const double value = maximum(
    (RgSearch){.options = &options, .history = history, .space = space, .once = history != NULL}, 0,
    space->dim, rugged_function, &r, x);

  RG_CLOSE(value, rugged(&r, x), 1e-14);
  return value;
}

/* All designs in the order of their values: every one once, then any of them again. One in flight is
   not chosen. */
RG_TEST(test_each_design_once)
{
  static char *const texts[] = {"n integer 3 6", "k choice a b c d e"};
  RgDomain domain = {0};
  RgHistory history;
  bool met[20] = {false};
  double x[2], flying[2], before = INFINITY;

  inputs(2, texts, &domain.design);
  RG_OK(rg_history_create(&domain, 21, &history));
  find_best(&domain.design, 1, &history, flying);
  history.pending = (RgPending){.n = 1, .x = flying}; /* it counts as seen */
  find_best(&domain.design, 1, &history, x);
  assert_true(x[0] != flying[0] || x[1] != flying[1]);
  history.pending = (RgPending){0};
  for (int i = 0; i < 20; i++) {
    const double value = find_best(&domain.design, 1, &history, x);
    const int at = 5 * (int)rg_space_level_at(&domain.design, 0, x[0]) +
                   (int)rg_space_level_at(&domain.design, 1, x[1]);
    assert_false(met[at]);
    met[at] = true;
    assert_true(value <= before);
    before = value;
    /* a query counts as the design that is evaluated */
    x[1] = fmin(x[1] + 0.07, 1);
    RG_OK(rg_history_append(&history, x, -1, NULL, -1, value));
  }
  assert_true(find_best(&domain.design, 1, &history, x) > before);
  RG_OK(rg_history_destroy(&history));
  RG_OK(rg_domain_destroy(&domain));
}

/* Many designs: with a real coordinate, whose best is 0.1 times the first one's value, or 100000 x
   7 of them, where steps of any size find a rugged hill's top up to a tenth. */
RG_TEST(test_many_designs)
{
  static char *const wide[] = {"n integer 1 100000 log", "k integer 1 7"};
  RgSpace space = {0};
  double x[3], best = -INFINITY;

  inputs(3, mixed, &space);
  for (int n = 0; n < 10; n++)
    for (int k = 0; k < 5; k++) {
      const double at[] = {n / 9.0, (k + 0.5) / 5, 0.1 * n};
      best = fmax(best, rugged(&(Rugged){&space, 1}, at));
    }
  RG_CLOSE(find_best(&space, 1, NULL, x), best, 1e-6);
  RG_OK(rg_space_destroy(&space));

  inputs(2, wide, &space);
  best = -INFINITY;
  for (int n = 1; n <= 100000; n++)
    for (int k = 1; k <= 7; k++) {
      const double at[] = {log(n) / log(1e5), (k - 1) / 6.0};
      best = fmax(best, rugged(&(Rugged){&space, 1e4}, at));
    }
  assert_true(find_best(&space, 1e4, NULL, x) > best - 0.1);
  RG_OK(rg_space_destroy(&space));
}

/* Every design of a space of levels comes once. */
RG_TEST(test_all_designs)
{
  static char *const texts[] = {"n integer 1 4", "k choice a b", "m integer 0 5"};
  RgSpace space = {0};
  double X[3 * 48], snapped[3];

  inputs(3, texts, &space);
  assert_true(rg_levels_designs(&space) == 48);
  rg_levels_enumerate(&space, 48, X);
  for (int i = 0; i < 48; i++) {
    memcpy(snapped, X + 3 * i, sizeof snapped);
    rg_space_snap(&space, snapped, NULL);
    assert_memory_equal(snapped, X + 3 * i, sizeof snapped);
    for (int k = 0; k < i; k++) assert_memory_not_equal(X + 3 * k, X + 3 * i, sizeof snapped);
  }
  RG_OK(rg_space_destroy(&space));
}

/* The gradient of a function of designs is that of the real coordinates that count. */
RG_TEST(test_gradient_of_designs)
{
  RgSpace space = {0};
  Rugged r = {&space, 1};
  const RgSnapped snapped = {&space, NULL, rugged_function, &r};
  const double x[] = {0.31, 0.52, 0.6};
  double value, gradient[3];

  inputs(3, mixed, &space);
  RG_OK(rg_snapped_function((void *)&snapped, 1, x, &value, gradient));
  RG_CLOSE(gradient[0], 0, 0);
  RG_CLOSE(gradient[1], 0, 0);
  RG_CLOSE(gradient[2], -6 * (0.6 - 0.3), 1e-14);
  RG_OK(rg_space_destroy(&space));
}

/* Good next to 50000 alone. */
static PetscErrorCode spike(void *closure, int m, const double *X, double *value, double *gradient)
{
  const RgSpace *space = closure;

  for (int i = 0; i < m; i++) {
    const double n = rg_space_level_at(space, 0, X[2 * i]) + 1, k = X[2 * i + 1];
    value[i] = fabs(n - 50000) <= 1 && fabs(k - 0.5) < 0.1 ? 10 : -k;
    if (gradient) gradient[2 * i] = gradient[2 * i + 1] = 0;
  }
  return 0;
}

/* An extra point that was seen stands for its neighbours. */
RG_TEST(test_neighbours_of_seen_designs)
{
  static char *const texts[] = {"n integer 1 100000", "k integer 1 7"};
  const RgMaximiserOptions options = defaults(RG_LOCAL_SEARCH_BATCHED);
  RgDomain domain = {0};
  RgHistory history;
  double at[2], x[2];

  inputs(2, texts, &domain.design);
  RG_OK(rg_history_create(&domain, 1, &history));
  at[0] = rg_space_unit_of_level(&domain.design, 0, 49999);
  at[1] = rg_space_unit_of_level(&domain.design, 1, 3);
  RG_OK(rg_history_append(&history, at, -1, NULL, -1, 10));
  const RgSearch search = {.options = &options,
                           .history = &history,
                           .n_extra = 1,
                           .extra = at,
                           .space = &domain.design,
                           .once = true};
  RG_CLOSE(maximum(search, 0, 2, spike, &domain.design, x), 10, 0);
  assert_true(fabs(rg_space_level_at(&domain.design, 0, x[0]) - 49999) == 1);
  RG_OK(rg_history_destroy(&history));
  RG_OK(rg_domain_destroy(&domain));
}
