/* rrgp_ucb 2.6: steps of Algorithms 3, 4, 5 and 7 against a dense computation of their own, and the
   gradients that the searches follow. */
#include "algorithm_bench.h"

#include <lapacke.h>

#include "algorithm/robust_box.h"
#include "robust/integral.h"

/* ---- a dense posterior ----------------------------------------------------------------------- */

/* Over one design and one context coordinate, for comparison: zero mean, Gaussian kernel, fixed hyperparameters. */

enum { DENSE_ROOM = 12 };

static const double length = 0.25, noise = 1e-4;

typedef struct {
  int n;
  double x[DENSE_ROOM], w[DENSE_ROOM], factor[DENSE_ROOM * DENSE_ROOM], weight[DENSE_ROOM];
} Dense;

static double covariance(double x, double w, double x2, double w2)
{
  return exp(-((x - x2) * (x - x2) + (w - w2) * (w - w2)) / (2 * length * length));
}

static void dense_make(const RgHistory *history, Dense *dense)
{
  const int n = dense->n = history->n;

  for (int i = 0; i < n; i++) {
    dense->x[i] = history->x[i];
    dense->w[i] = history->c[i];
    dense->weight[i] = history->y[i];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      dense->factor[i * n + j] =
        covariance(dense->x[i], dense->w[i], dense->x[j], dense->w[j]) + (i == j) * noise;
  assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, dense->factor, n), 0);
  assert_int_equal(LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', n, 1, dense->factor, n, dense->weight, 1),
                   0);
}

static void dense_predict(const Dense *dense, double x, double w, double *mean, double *variance)
{
  const int n = dense->n;
  double k[DENSE_ROOM], v[DENSE_ROOM];

  *mean = 0;
  *variance = 1;
  for (int i = 0; i < n; i++) {
    k[i] = v[i] = covariance(x, w, dense->x[i], dense->w[i]);
    *mean += k[i] * dense->weight[i];
  }
  assert_int_equal(LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', n, 1, dense->factor, n, v, 1), 0);
  for (int i = 0; i < n; i++) *variance -= k[i] * v[i];
}

/* ---- the bench -------------------------------------------------------------------------------- */

enum { FIRST = 3, STEPS = 6, LINE = 801, NODES_ROOM = 64 };

static void append(Bench *bench, const RgQuery *query)
{
  RgProblem *problem = &bench->instance.problem;
  RgPoint point = {query->index, query->x, query->context_index, query->c};
  RgFailure failure = {0};
  double f;

  RG_OK(rg_problem_evaluate(problem, 1, &point, &f, &failure));
  RG_OK(
    rg_history_append(&bench->history, query->x, query->index, query->c, query->context_index, f));
}

/* Three observations at fixed places. */
static void bench_data(Bench *bench)
{
  const RgDomain *domain = &bench->instance.problem.domain;

  bench->history.n_initial = FIRST;
  for (int i = 0; i < FIRST; i++) {
    double x[2], c[2];
    RgQuery query = {.x = x, .c = c, .index = -1, .context_index = -1};
    if (domain->design.size) query.index = (2 * i + 1) * domain->design.size / 7;
    if (domain->context.size) query.context_index = (3 * i + 2) % domain->context.size;
    for (int j = 0; j < domain->design.dim; j++)
      x[j] = domain->design.size ? domain->design.points[query.index] : (i + 0.4 + 0.2 * j) / FIRST;
    for (int j = 0; j < domain->context.dim; j++)
      c[j] = domain->context.size ? domain->context.points[query.context_index]
                                  : fmod(0.7 * (i + 1 + j), 1);
    append(bench, &query);
  }
}

static void bench_make_of(const char *name, const Setting *problem, const Setting *settings,
                          bool standardise, Bench *bench)
{
  static const Setting model[] = {{"kernel", "gaussian"},   {"ard", "false"},
                                  {"length_scale", "0.25"}, {"noise_variance", "1e-4"},
                                  {"fit", "fixed"},         {"mean", "zero"}};

  memset(bench, 0, sizeof *bench);
  bench->instance = instance_make(name, problem, 3, 0);
  bench_class(bench, "rrgp_ucb_continuous");
  for (int k = 0; k < 6; k++)
    set_in(rg_surrogate_params, &bench->surrogate, model[k][0], model[k][1]);
  bench->surrogate.standardise = standardise;
  bench->maximiser.raw_samples = 128;
  bench->maximiser.restarts = 5;
  for (int k = 0; settings && settings[k][0]; k++) bench_set(bench, settings[k][0], settings[k][1]);
  bench_create(bench,
               (RgSetup){.noise_variance = NAN,
                         .n_initial = FIRST,
                         .n_iterations = STEPS,
                         .stream = rg_stream(1, "gp_path_box", 0, "algorithm", 0)},
               DENSE_ROOM);
  bench_data(bench);
}

static void bench_make(const Setting *problem, const Setting *settings, bool standardise,
                       Bench *bench)
{
  bench_make_of("gp_path_box", problem, settings, standardise, bench);
}

/* E mu(x, .), lower and upper bound of the expectation over nodes of equal weight. */
static void dense_bounds(const Dense *dense, double x, int n_nodes, const double *nodes,
                         double width, double *out)
{
  out[0] = out[1] = out[2] = 0;
  for (int j = 0; j < n_nodes; j++) {
    double mean, variance;
    dense_predict(dense, x, nodes[j], &mean, &variance);
    out[0] += mean / n_nodes;
    out[1] += (mean - width * sqrt(fmax(variance, 0))) / n_nodes;
    out[2] += (mean + width * sqrt(fmax(variance, 0))) / n_nodes;
  }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Largest of entry k over the finite designs, or a line of them. */
static double largest(const Dense *dense, const RgSpace *design, int n_nodes, const double *nodes,
                      double width, int k)
{
  const int count = design->size ? design->size : LINE;
  double best = -INFINITY, values[3];

  for (int i = 0; i < count; i++) {
    dense_bounds(dense, design->size ? design->points[i] : i / (LINE - 1.0), n_nodes, nodes, width,
                 values);
    best = fmax(best, values[k]);
  }
  return best;
}

static double most_uncertain(const Dense *dense, double x, const RgSpace *context)
{
  const int count = context->size ? context->size : LINE;
  double best = 0, mean, variance;

  for (int i = 0; i < count; i++) {
    dense_predict(dense, x, context->size ? context->points[i] : i / (LINE - 1.0), &mean,
                  &variance);
    best = fmax(best, variance);
  }
  return best;
}

/* Nodes of Omega_t, at most 8 per coordinate, and kappa_t. */
static int place(const RgDomain *domain, int t, double *nodes, double *kappa)
{
  const RgRobustDerivatives bound = {2, 0.5, 1};
  const int d1 = !domain->design.size, d2 = !domain->context.size;
  const double tau = rg_robust_levels(&bound, d1 + d2,
                                      d1 && d2 ? 1
                                      : d1     ? domain->context.size
                                               : domain->design.size,
                                      t);
  const int n = d2 ? (int)fmin(tau, 8) : domain->context.size;

  *kappa = rg_robust_kappa(&bound, d1, d2, domain->design.size, domain->context.size, t);
  for (int i = 0; i < n; i++) nodes[i] = d2 ? (i + 0.5) / n : domain->context.points[i];
  return n;
}

static void check_step(Bench *bench, int t)
{
  const RgDomain *domain = bench->algorithm.setup.domain;
  const double confidence = bench->extra[0];
  RgFailure failure = {0};
  Dense dense;
  double nodes[NODES_ROOM], kappa, best_x[1], here[3], there[3], mean, variance;
  RgQuery best = {.x = best_x};
  const int n = place(domain, t, nodes, &kappa);

  dense_make(&bench->history, &dense);
  RG_OK(bench->class->recommend(&bench->algorithm, t - 1, &bench->history, &best, &failure));
  RG_OK(rg_algorithm_ask(&bench->algorithm, t, &bench->history, &bench->query, &failure));
  assert_false(failure.failed);
  const double beta = bench->extra[0], width = sqrt(beta);
  assert_true(beta > 2 * log(kappa) && beta < 2 * log(kappa) + 40);
  assert_true(t == 1 || beta != confidence);
  dense_bounds(&dense, best_x[0], n, nodes, width, there);
  assert_true(there[0] >= largest(&dense, &domain->design, n, nodes, width, 0) - 1e-6);
  dense_bounds(&dense, bench->x[0], n, nodes, width, here);
  RG_CLOSE(bench->extra[1], here[2], 1e-7);
  RG_CLOSE(bench->extra[2], here[2] - here[1], 1e-7);
  const double top = largest(&dense, &domain->design, n, nodes, width, 2);
  if (bench->x[0] == best_x[0]) {
    assert_true(here[2] <= top + 1e-6); /* x is no better than x-tilde, but its interval is wider */
  } else {
    assert_true(here[2] >= top - 1e-6);
    assert_true(here[2] - here[1] >= there[2] - there[1] - 1e-9);
  }
  if (domain->control != RG_CONTEXT_SIMULATOR) return;
  dense_predict(&dense, bench->x[0], bench->c[0], &mean, &variance);
  assert_true(variance >= most_uncertain(&dense, bench->x[0], &domain->context) - 1e-6);
}

static void run(const Setting *problem)
{
  const Setting settings[] = {{"a", "2"}, {"b", "0.5"}, {"levels_max", "8"}, {NULL, NULL}};
  RG_OWNED(bench_end) Bench bench;

  bench_make(problem, settings, false, &bench);
  for (int t = 1; t <= STEPS; t++) {
    RgRandom random = rg_stream_at(&bench.algorithm.setup.stream, (uint64_t)t);
    check_step(&bench, t);
    if (bench.algorithm.setup.domain->control == RG_CONTEXT_NATURE)
      RG_OK(bench.instance.problem.class->draw_context(&bench.instance.problem, &random, bench.c,
                                                       &bench.query.context_index));
    append(&bench, &bench.query);
  }
}

/* Nature draws the contexts of Algorithms 6 and 7, from a grid and from a box. */
RG_TEST(algorithms_3_to_7)
{
  static const Setting problems[][4] = {
    {{"length_scale", "0.25"}, {"context_levels", "12"}},
    {{"length_scale", "0.25"}, {"levels", "25"}},
    {{"length_scale", "0.25"}},
    {{"length_scale", "0.25"}, {"context_levels", "12"}, {"setting", "uncontrollable"}},
    {{"length_scale", "0.25"}, {"setting", "uncontrollable"}}};

  for (int k = 0; k < 5; k++) run(problems[k]);
}

/* ---- gradients ------------------------------------------------------------------------------- */

static void check_gradient(RgBatchFunction function, void *closure, int dim, const double *X, int m,
                           double tolerance)
{
  const double h = 1e-5;
  double value[4], gradient[8], up[4], down[4], moved[8];

  RG_OK(function(closure, m, X, value, gradient));
  RG_OK(function(closure, m, X, up, NULL));
  for (int i = 0; i < m; i++) RG_CLOSE(value[i], up[i], 1e-12);
  for (int j = 0; j < dim; j++) {
    for (int sign = -1; sign <= 1; sign += 2) {
      memcpy(moved, X, (size_t)m * dim * sizeof *X);
      for (int i = 0; i < m; i++) moved[i * dim + j] += sign * h;
      RG_OK(function(closure, m, moved, sign > 0 ? up : down, NULL));
    }
    for (int i = 0; i < m; i++)
      RG_CLOSE(gradient[i * dim + j], (up[i] - down[i]) / (2 * h), tolerance);
  }
}

/* Two design and two context coordinates, outputs of mean and deviation far from 0 and 1. */
RG_TEST(gradients)
{
  static const char *const measures[] = {
    "expectation", "expectation - 2*mad",          "sd", "variance", "cvar(0.37)",
    "tanh(worst)", "robust(expectation, l1 = 0.3)"};
  const double X[] = {0.31, 0.62, 0.77, 0.15, 0.48, 0.93}, C[] = {0.2, 0.45, 0.81, 0.66};
  const Setting problem[] = {
    {"dim", "2"}, {"context_dim", "2"}, {"length_scale", "0.4"}, {NULL, NULL}};

  for (size_t k = 0; k < sizeof measures / sizeof *measures; k++) {
    const Setting settings[] = {{"measure", measures[k]}, {"levels_max", "4"}, {NULL, NULL}};
    RG_OWNED(rg_robust_box_destroy) RgRobustBox box = {0};
    RgTexts law = {1, (char *[]){"normal(0.4, 0.3)"}};
    RgFailure failure = {0};
    RG_OWNED(bench_end) Bench bench;

    bench_make(problem, settings, true, &bench);
    RG_OK(rg_robust_box_create(&bench.algorithm, measures[k], &law, 4, &box));
    RG_OK(rg_model_update(&box.model, &bench.history, &failure));
    RG_OK(rg_robust_box_place(bench.algorithm.setup.domain, 4, 1, &box));
    assert_int_equal(box.n_nodes, 16);
    box.width = 2.5;
    RgRobustSurface mean = {&box, false}, upper = {&box, true};
    RgRobustLine line = {&box, X};
    check_gradient(rg_robust_surface, &mean, 2, X, 3, 1e-6);
    check_gradient(rg_robust_surface, &upper, 2, X, 3, 1e-6);
    check_gradient(rg_robust_variance, &line, 2, C, 2, 1e-6);

    double value[3], lower[3], top[3];
    RG_OK(rg_robust_box_values(&box, 3, X, value, lower, top));
    for (int i = 0; i < 3; i++) assert_true(lower[i] <= value[i] && value[i] <= top[i]);
  }
}

/* Weights of the cells: products of differences of the law, its tails in the outer cells. */
RG_TEST(weights)
{
  const Setting problem[] = {{"context_dim", "2"}, {NULL, NULL}};
  const double cuts[] = {-INFINITY, 0.25, 0.5, 0.75, INFINITY};
  RgTexts law = {2, (char *[]){"uniform(0, 1)", "normal(0.4, 0.3)"}};
  RG_OWNED(rg_robust_box_destroy) RgRobustBox box = {0};
  RG_OWNED(bench_end) Bench bench;
  double total = 0;

  bench_make(problem, NULL, false, &bench);
  RG_OK(rg_robust_box_create(&bench.algorithm, "worst", &law, 4, &box));
  RG_OK(rg_robust_box_place(bench.algorithm.setup.domain, 4, 1, &box));
  for (int i = 0; i < 16; i++) {
    const double above = 0.5 * erfc(-(cuts[i % 4 + 1] - 0.4) / 0.3 * M_SQRT1_2);
    const double below = 0.5 * erfc(-(cuts[i % 4] - 0.4) / 0.3 * M_SQRT1_2);
    RG_CLOSE(box.p[i], 0.25 * (above - below), 1e-14);
    RG_CLOSE(box.nodes[2 * i + 1], (i % 4 + 0.5) / 4, 1e-15);
    total += box.p[i];
  }
  RG_CLOSE(total, 1, 1e-14);
}

/* E[rho(f(x, .))] over paths: the mean for the expectation, more than rho(mean) for a convex
   measure, and rho of the data if everything is known. The best index for the expectation is t. */
RG_TEST(best_index)
{
  static const char *const measures[] = {"expectation", "variance"};
  const double X[] = {0.1, 0.5, 0.9};
  const Setting problem[] = {{"context_levels", "5"}, {NULL, NULL}};

  for (int k = 0; k < 2; k++) {
    const Setting settings[] = {{"measure", measures[k]}, {"index_paths", "50"}, {NULL, NULL}};
    RG_OWNED(rg_robust_box_destroy) RgRobustBox box = {0};
    RgTexts law = {1, (char *[]){"uniform(0, 1)"}};
    RgFailure failure = {0};
    RG_OWNED(bench_end) Bench bench;
    double value[3], lower[3], upper[3], expected[3], again[3];

    bench_make(problem, settings, true, &bench);
    RG_OK(rg_robust_box_create(&bench.algorithm, measures[k], &law, 4, &box));
    RG_OK(rg_model_update(&box.model, &bench.history, &failure));
    RG_OK(rg_robust_box_place(bench.algorithm.setup.domain, 4, 1, &box));
    box.width = 1;
    RG_OK(rg_robust_box_values(&box, 3, X, value, lower, upper));
    RG_OK(rg_robust_box_expected(&box, &bench.algorithm.setup.stream, 400, 256, 3, X, expected));
    RG_OK(rg_robust_box_expected(&box, &bench.algorithm.setup.stream, 400, 256, 3, X, again));
    for (int i = 0; i < 3; i++) {
      const double deviation = 0.5 * (upper[i] - lower[i]) / 20; /* at most */
      assert_true(expected[i] == again[i]);
      if (!k) assert_true(fabs(expected[i] - value[i]) <= 4 * deviation);
      else assert_true(expected[i] > value[i] + 1e-3);
    }
    for (int t = 1; t <= 4; t++) {
      RG_OK(rg_algorithm_ask(&bench.algorithm, t, &bench.history, &bench.query, &failure));
      assert_false(failure.failed);
      const double index = bench.extra[5];
      assert_true(k ? index >= 1 && index <= t && index == floor(index) : index == t);
      append(&bench, &bench.query);
    }
  }
}

/* The cap on nodes: kappa_t keeps the value of the theory, and both numbers are recorded. */
RG_TEST(cap)
{
  const Setting settings[] = {{"levels_max", "5"}, {NULL, NULL}};
  const Setting problem[] = {{"levels", "50"}, {NULL, NULL}};
  RG_OWNED(bench_end) Bench bench;
  RgFailure failure = {0};

  bench_make(problem, settings, false, &bench);
  RG_OK(rg_algorithm_ask(&bench.algorithm, 10, &bench.history, &bench.query, &failure));
  assert_false(failure.failed);
  RG_CLOSE(bench.extra[3], 287, 0); /* O8 */
  RG_CLOSE(bench.extra[4], 5, 0);
  assert_true(bench.extra[0] > 2 * log(14350));
}

/* ---- the problem
   ------------------------------------------------------------------------------- */

/* Mean and mean absolute deviation of f(x, .), by `count` midpoints or the contexts themselves. */
static void direct(RgProblem *problem, double x, int count, double *mean, double *deviation)
{
  const RgSpace *context = &problem->domain.context;
  const int n = context->size ? context->size : count;
  RgFailure failure = {0};
  RgPoint *points;
  double *c, *f;

  RG_OK(PetscMalloc3(n, &points, n, &c, n, &f));
  for (int j = 0; j < n; j++) {
    c[j] = context->size ? context->points[j] : (j + 0.5) / n;
    points[j] = (RgPoint){-1, &x, context->size ? j : -1, &c[j]};
  }
  RG_OK(rg_problem_evaluate(problem, n, points, f, &failure));
  *mean = *deviation = 0;
  for (int j = 0; j < n; j++) *mean += f[j] / n;
  for (int j = 0; j < n; j++) *deviation += fabs(f[j] - *mean) / n;
  RG_OK(PetscFree3(points, c, f));
}

/* F against f itself; paths have mean 0 and variance 1 over the instances. */
RG_TEST(the_problem)
{
  static const char *const grids[] = {"0", "9"};
  double sum = 0, squares = 0;

  for (int k = 0; k < 2; k++) {
    const Setting expectation[] = {{"context_levels", grids[k]}, {NULL, NULL}};
    const Setting mixed[] = {
      {"context_levels", grids[k]}, {"measure", "expectation - 2*mad"}, {NULL, NULL}};
    RG_OWNED(instance_free) Instance plain = instance_make("gp_path_box", expectation, 5, 0);
    RG_OWNED(instance_free) Instance other = instance_make("gp_path_box", mixed, 5, 0);
    for (double x = 0; x <= 1; x += 0.25) {
      double mean, deviation;
      direct(&plain.problem, x, 20000, &mean, &deviation);
      RG_CLOSE(value_at(&plain.problem, &x), mean, 1e-8);
      RG_CLOSE(value_at(&other.problem, &x), mean - 2 * deviation, k ? 1e-12 : 2e-3); /* kinks */
    }
  }
  const Setting alone[] = {{"context_dim", "0"}, {NULL, NULL}};
  RG_OWNED(instance_free) Instance without = instance_make("gp_path_box", alone, 5, 0);
  for (double x = 0, f; x <= 1; x += 0.25) {
    RgFailure failure = {0};
    RG_OK(rg_problem_evaluate(&without.problem, 1, &(RgPoint){-1, &x, -1, NULL}, &f, &failure));
    RG_CLOSE(value_at(&without.problem, &x), f, 1e-12);
  }
  for (uint64_t number = 0; number < 400; number++) {
    RG_OWNED(instance_free) Instance instance = instance_make("gp_path_box", NULL, 5, number);
    RgFailure failure = {0};
    double x = 0.3, c = 0.8, f;
    RG_OK(rg_problem_evaluate(&instance.problem, 1, &(RgPoint){-1, &x, -1, &c}, &f, &failure));
    sum += f / 400;
    squares += f * f / 400;
  }
  assert_true(fabs(sum) < 0.2 && fabs(squares - 1) < 0.3); /* four deviations */
}

/* ---- laws ------------------------------------------------------------------------------------ */

/* The upper bound and the design of the first query on the newsvendor problem, whose demand has
   the law burr(2, 20). */
static void first_query(const char *law, double found[2])
{
  const Setting none[] = {{NULL, NULL}};
  const Setting settings[] = {{law ? "law" : "levels_max", law ? law : "32"}, {NULL, NULL}};
  RgFailure failure = {0};
  RG_OWNED(bench_end) Bench bench;

  bench_make_of("newsvendor", none, settings, false, &bench);
  RG_OK(rg_algorithm_ask(&bench.algorithm, 1, &bench.history, &bench.query, &failure));
  assert_false(failure.failed);
  found[0] = bench.x[0];
  found[1] = bench.extra[1];
}

RG_TEST(law_is_that_of_the_problem)
{
  double found[2], given[2], uniform[2];

  first_query(NULL, found);
  first_query("burr(2, 20)", given);
  first_query("uniform(0, 1)", uniform);
  assert_true(found[0] == given[0]);
  assert_true(found[1] == given[1]);
  assert_true(fabs(found[1] - uniform[1]) > 1e-3);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

RG_TEST(mistakes)
{
  static const struct {
    const char *problem[2], *setting[2], *expected;
  } cases[] = {{{"levels", "5"}, {"levels_max", "200000"}, "an integer in [1, 10000]"},
               {{"context_dim", "2"}, {"levels_max", "400"}, "make more than 100000 nodes"},
               {{"context_dim", "2"}, {"law", "normal(0, -1)"}, "law"},
               {{"levels", "5"}, {"measure", "wurst"}, "did you mean 'worst'"}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const Setting problem[] = {{cases[k].problem[0], cases[k].problem[1]}, {NULL, NULL}};
    const RgAlgorithmClass *class = rg_registry_find_algorithm(NULL, "rrgp_ucb_continuous");
    RG_OWNED(instance_free) Instance instance = instance_make("gp_path_box", problem, 1, 0);
    RgDiagnostics diagnostics = {0};
    const RgParam *entry;
    void *options;

    RG_OK(PetscCalloc(class->options_size, &options));
    RG_OK(rg_params_defaults(class->params, options));
    RG_OK(rg_params_set(class->params, options, cases[k].setting[0], 1, &cases[k].setting[1],
                        (RgPlace){0}, &diagnostics, &entry));
    RG_OK(rg_algorithm_check(class, options, &instance.problem.domain, (RgPlace){0}, &diagnostics));
    assert_true(diagnostics.n >= 1);
    if (!strstr(diagnostics.list[0].message, cases[k].expected))
      fail_msg("%s", diagnostics.list[0].message);
    RG_OK(rg_params_clear(class->params, options));
    RG_OK(PetscFree(options));
  }
}
