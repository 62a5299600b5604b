/* Methods for contexts from nature where designs and contexts are finite: x_t maximises the
   criterion of the method among all designs, by a dense posterior. */
#include "algorithm_bench.h"

#include "dense.h"

enum { FIRST = 6, DESIGNS = 15, CONTEXTS = 5 };

static const double width = 1.5;

static void bench_make(const char *name, const char *setting, const Setting *settings, Bench *bench)
{
  const Setting problem[] = {{"levels", "15"},
                             {"context_levels", "5"},
                             {"length_scale", "0.25"},
                             {"setting", setting},
                             {NULL, NULL}};
  static const Setting model[] = {
    {"kernel", "gaussian"}, {"ard", "false"}, {"length_scale", "0.25"}, {"noise_variance", "1e-4"},
    {"fit", "fixed"},       {"mean", "zero"}, {"standardise", "false"}};

  memset(bench, 0, sizeof *bench);
  bench->instance = instance_make("gp_path_box", problem, 3, 0);
  bench_class(bench, name);
  for (int k = 0; k < 7; k++)
    set_in(rg_surrogate_params, &bench->surrogate, model[k][0], model[k][1]);
  for (int k = 0; settings && settings[k][0]; k++) bench_set(bench, settings[k][0], settings[k][1]);
  bench_create(bench,
               (RgSetup){.noise_variance = NAN,
                         .n_initial = FIRST,
                         .n_iterations = 3,
                         .stream = rg_stream(1, "gp_path_box", 0, "algorithm", 0)},
               DENSE_ROOM);
}

/* Evaluate f at a design and a context, by their numbers. */
static void append(Bench *bench, int design, int context)
{
  const RgDomain *domain = &bench->instance.problem.domain;
  const double *x = &domain->design.points[design], *c = &domain->context.points[context];
  const RgPoint point = {design, x, context, c};
  RgFailure failure = {0};
  double f;

  RG_OK(rg_problem_evaluate(&bench->instance.problem, 1, &point, &f, &failure));
  RG_OK(rg_history_append(&bench->history, x, design, c, context, f));
}

/* U(x, c) of all designs and contexts. */
static void all_bounds(const Bench *bench, double u[DESIGNS][CONTEXTS])
{
  const RgDomain *domain = &bench->instance.problem.domain;
  Dense dense;

  dense_make(&bench->history, &dense);
  for (int i = 0; i < DESIGNS; i++)
    for (int j = 0; j < CONTEXTS; j++) {
      double mean, variance;
      dense_predict(&dense, domain->design.points[i], domain->context.points[j], &mean, &variance);
      u[i][j] = mean + width * sqrt(fmax(variance, 1e-10));
    }
}

/* E U over the contexts observed, or its smallest value over all contexts. */
static double criterion(const Bench *bench, const double *u, bool worst)
{
  double value = worst ? INFINITY : 0;

  for (int j = 0; worst && j < CONTEXTS; j++) value = fmin(value, u[j]);
  for (int i = 0; !worst && i < bench->history.n; i++)
    value += u[bench->history.context_index[i]] / bench->history.n;
  return value;
}

static void check_queries(const char *name, const Setting *settings, bool worst)
{
  double u[DESIGNS][CONTEXTS];
  Bench bench;

  bench_make(name, "uncontrollable", settings, &bench);
  for (int i = 0; i < FIRST; i++) append(&bench, (5 * i + 2) % DESIGNS, i * i % CONTEXTS);
  bench.history.n_initial = FIRST;
  for (int t = 1; t <= 3; t++) {
    double best = -INFINITY;
    bench_ask(&bench, t);
    all_bounds(&bench, u);
    for (int i = 0; i < DESIGNS; i++) best = fmax(best, criterion(&bench, u[i], worst));
    assert_in_range(bench.query.index, 0, DESIGNS - 1);
    RG_CLOSE(criterion(&bench, u[bench.query.index], worst), best, 1e-7);
    RG_CLOSE(bench.extra[1], best, 1e-6);
    append(&bench, bench.query.index, (2 * t + 1) % CONTEXTS);
  }
  bench_end(&bench);
}

RG_TEST(erbo_takes_the_average_over_observed_contexts)
{
  check_queries("erbo", NULL, false);
}

/* A ball that holds every distribution on the contexts: the worst context decides. */
RG_TEST(drbo_mmd_takes_the_worst_distribution_on_the_set)
{
  static const Setting wide[] = {{"gamma", "1e-300"}, {NULL, NULL}};

  check_queries("drbo_mmd", wide, true);
}

/* Without a ball only the contexts observed count. */
RG_TEST(wdrbo_without_radius_is_erbo)
{
  static const Setting none[] = {{"radius", "0"}, {NULL, NULL}};

  check_queries("wdrbo", none, false);
  check_queries("wdrbo_exact", none, false);
}

/* ---- quantiles over contexts of equal probability, where the learner chooses ------------------ */

/* Bounds at one design, sorted. */
static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static void bounds_at(const Bench *bench, int design, double beta, double lower[CONTEXTS],
                      double upper[CONTEXTS])
{
  const RgDomain *domain = &bench->instance.problem.domain;
  Dense dense;

  dense_make(&bench->history, &dense);
  for (int j = 0; j < CONTEXTS; j++) {
    double mean, variance;
    dense_predict(&dense, domain->design.points[design], domain->context.points[j], &mean,
                  &variance);
    lower[j] = mean - sqrt(beta * fmax(variance, 0));
    upper[j] = mean + sqrt(beta * fmax(variance, 0));
  }
}

/* The mean of the `count` smallest values; count 1..CONTEXTS of equal shares. */
static double tail_mean(const double *values, int count)
{
  double sorted[CONTEXTS], sum = 0;

  memcpy(sorted, values, sizeof sorted);
  qsort(sorted, CONTEXTS, sizeof *sorted, by_value);
  for (int k = 0; k < count; k++) sum += sorted[k];
  return sum / count;
}

static double order_statistic(const double *values, int k)
{
  double sorted[CONTEXTS];

  memcpy(sorted, values, sizeof sorted);
  qsort(sorted, CONTEXTS, sizeof *sorted, by_value);
  return sorted[k - 1];
}

/* Level 0.6 is the third of five equal shares. */
static void check_quantiles(const char *name, const char *measure, bool conditional)
{
  const Setting settings[] = {{"measure", measure}, {NULL, NULL}};
  Bench bench;

  bench_make(name, "simulator", settings, &bench);
  for (int i = 0; i < FIRST; i++) append(&bench, (5 * i + 2) % DESIGNS, i * i % CONTEXTS);
  bench.history.n_initial = FIRST;
  for (int t = 1; t <= 3; t++) {
    double lower[CONTEXTS], upper[CONTEXTS], best = -INFINITY, widest = -INFINITY;
    int level = 3;
    bench_ask(&bench, t);
    const double beta = bench.extra[0];
    RG_CLOSE(beta, 2 * log(DESIGNS * CONTEXTS * M_PI * M_PI * t * t / (6 * 0.05)), 1e-12);
    for (int i = 0; i < DESIGNS; i++) {
      bounds_at(&bench, i, beta, lower, upper);
      best = fmax(best, conditional ? tail_mean(upper, 3) : order_statistic(upper, 3));
    }
    bounds_at(&bench, bench.query.index, beta, lower, upper);
    RG_CLOSE(conditional ? tail_mean(upper, 3) : order_statistic(upper, 3), best, 1e-7);
    for (int k = 1; conditional && k <= 3; k++) {
      const double wide = order_statistic(upper, k) - order_statistic(lower, k);
      if (wide > widest) level = k;
      widest = fmax(widest, wide);
    }
    const int w = bench.query.context_index;
    assert_true(lower[w] <= order_statistic(lower, level) + 1e-9);
    assert_true(upper[w] >= order_statistic(upper, level) - 1e-9);
    for (int j = 0; j < CONTEXTS; j++)
      if (lower[j] <= order_statistic(lower, level) && upper[j] >= order_statistic(upper, level))
        assert_true(upper[w] - lower[w] >= upper[j] - lower[j] - 1e-9);
    append(&bench, bench.query.index, w);
  }
  bench_end(&bench);
}

RG_TEST(v_ucb_takes_a_lacing_value)
{
  check_quantiles("v_ucb", "var(0.6)", false);
}

RG_TEST(cv_ucb_takes_a_lacing_value_of_the_widest_level)
{
  check_quantiles("cv_ucb", "cvar(0.6)", true);
}
