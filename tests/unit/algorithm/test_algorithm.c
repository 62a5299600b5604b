/* The registry of algorithms, their checks, and the frame of ask and tell. */
#include "algorithm_bench.h"

/* ---- domains -------------------------------------------------------------------------------- */

static void make_box(int dim, RgDomain *domain)
{
  double lower[8] = {0}, upper[8] = {2, 2, 2, 2, 2, 2, 2, 2};

  memset(domain, 0, sizeof *domain);
  RG_OK(rg_space_box(&domain->design, dim, lower, upper));
}

static void make_line(int size, RgDomain *domain)
{
  double points[64];

  for (int i = 0; i < size; i++) points[i] = i;
  memset(domain, 0, sizeof *domain);
  RG_OK(rg_space_set(&domain->design, 1, size, points, NULL, NULL));
}

static void add_context(RgDomain *domain, RgContextControl control)
{
  double lower[1] = {-1}, upper[1] = {1};

  domain->control = control;
  RG_OK(rg_space_box(&domain->context, 1, lower, upper));
}

/* ---- one algorithm with everything it needs ------------------------------------------------- */

/* The bench of a method on a box in `dim` dimensions, or on a line of `size` points. */
static void bench_options(Bench *bench, const char *name, int dim, int size)
{
  memset(bench, 0, sizeof *bench);
  bench_class(bench, name);
  bench->surrogate.fit = RG_FIT_FIXED;
  bench->maximiser.raw_samples = 64;
  bench->maximiser.restarts = 5;
  if (dim) make_box(dim, &bench->domain);
  if (size) make_line(size, &bench->domain);
}

static void bench_start(Bench *bench, uint64_t seed)
{
  bench_create(bench,
               (RgSetup){.noise_variance = 1e-4,
                         .n_initial = 2,
                         .n_iterations = 50,
                         .stream = rg_stream(1, "test", 0, bench->class->name, seed)},
               64);
}

/* Ask, answer sin(5 x_1), tell. */
static void bench_step(Bench *bench, int t)
{
  RG_OK(rg_algorithm_ask(&bench->algorithm, t, &bench->history, &bench->query, &bench->failure));
  if (bench->failure.failed) return;
  RG_OK(rg_history_append(&bench->history, bench->query.x, bench->query.index,
                          bench->history.context_dim ? bench->query.c : NULL,
                          bench->query.context_index, sin(5.0 * bench->query.x[0])));
}

/* ---- registry ------------------------------------------------------------------------------- */

RG_TEST(test_registry)
{
  int n;
  const RgAlgorithmClass *const *classes = rg_algorithm_classes(&n);

  assert_true(n >= 5);
  for (int i = 0; i < n; i++) {
    const RgAlgorithmClass *class = classes[i];
    assert_true(class->revision >= 1);
    assert_non_null(class->title);
    assert_non_null(class->summary);
    assert_non_null(class->reference);
    assert_non_null(class->ask);
    assert_true(!(class->reads & RG_READS_SURROGATE) || class->model);
    for (int k = 0; class->columns && class->columns[k].name; k++)
      assert_true(strlen(class->columns[k].doc) < 128);
    for (int k = 0; k < i; k++) assert_string_not_equal(classes[k]->name, class->name);
    Bench bench;
    bench_options(&bench, class->name, 0, 0);
    bench_end(&bench);
  }
}

/* ---- mistakes ------------------------------------------------------------------------------- */

/* Number of mistakes; `part`: text that the first message must contain. */
static int mistakes(Bench *bench, const char *part)
{
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_algorithm_check(bench->class, bench->options, &bench->domain,
                           (RgPlace){"study.yaml", 3, 5}, &diagnostics));
  if (part && !strstr(diagnostics.list[0].message, part))
    fail_msg("'%s' does not contain '%s'", diagnostics.list[0].message, part);
  if (diagnostics.n) assert_int_equal(diagnostics.list[0].place.line, 3);
  return diagnostics.n;
}

typedef struct {
  const char *algorithm, *name, *value, *other_name, *other_value; /* other: another setting */
  const char *message; /* on a box in 3 dimensions; NULL: accepted */
} Case;

static const Case settings[] = {
  {"gp_ucb", "beta", "auto", NULL, NULL, NULL},
  {"gp_ucb", "beta", "heuristic", NULL, NULL, NULL},
  {"gp_ucb", "beta", "bcr_cont", NULL, NULL, NULL},
  {"gp_ucb", "beta", "bcr", NULL, NULL,
   "beta: 'bcr' counts the points of a finite design, and this one is a box in 3 dimensions; on "
   "a "
   "box: auto, heuristic, bcr_cont, kandasamy, fixed"},
  {"gp_ucb", "beta", "srinivas", NULL, NULL, "'srinivas'"},
  {"gp_ucb", "beta", "bcr_cont", "a", "0.2", "needs a >= 1/d"},
  {"gp_ucb", "beta", "fixed", NULL, NULL, "beta: 'fixed' needs 'value'"},
  {"gp_ucb", "beta", "fixed", "value", "2.25", NULL},
  {"gp_ucb", "beta", "auto", "value", "2.25", "'value' goes with beta: 'fixed'"},
  {"rgp_ucb", "kappa", "auto", NULL, NULL, NULL},
  {"rgp_ucb", "kappa", "finite", NULL, NULL, "on a box: auto, heuristic, fixed"},
  {"rgp_ucb", "kappa", "fixed", NULL, NULL, "needs 'value'"},
  {"rgp_ucb", "kappa", "fixed", "value", "0.5", NULL},
  {"irgp_ucb", "shift", "auto", NULL, NULL, NULL},
  {"irgp_ucb", "shift", "continuous", NULL, NULL, NULL},
  {"irgp_ucb", "shift", "finite", NULL, NULL, "on a box: auto, continuous, heuristic, fixed"},
  {"irgp_ucb", "shift", "highprob", NULL, NULL, "'highprob'"},
  {"irgp_ucb", "shift", "continuous", "a", "0.1", "needs a >= 1/d"},
  {"irgp_ucb", "shift", "fixed", NULL, NULL, "needs 'value'"},
  {"irgp_ucb", "shift", "heuristic", "value", "1", "'value' goes with shift: 'fixed'"},
  {"ei", "incumbent", "best_mean", NULL, NULL, NULL}};

/* On a finite design every rule is accepted. */
RG_TEST(test_settings)
{
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    const Case *setting = &settings[i];
    for (int finite = 0; finite < 2; finite++) {
      Bench bench;
      if (finite && (setting->other_name || !strcmp(setting->value, "fixed"))) continue;
      bench_options(&bench, setting->algorithm, finite ? 0 : 3, finite ? 20 : 0);
      bench_set(&bench, setting->name, setting->value);
      if (setting->other_name) bench_set(&bench, setting->other_name, setting->other_value);
      const char *message = finite ? NULL : setting->message;
      assert_int_equal(mistakes(&bench, message), message != NULL);
      bench_end(&bench);
    }
  }
}

static void expect_need(unsigned needs, const RgDomain *domain, const char *part)
{
  RgAlgorithmClass class = *rg_registry_find_algorithm(NULL, "random");
  RgDiagnostics diagnostics = {0};

  class.needs = needs;
  RG_OK(rg_algorithm_check(&class, NULL, domain, (RgPlace){"s", 1, 1}, &diagnostics));
  assert_int_equal(diagnostics.n, part != NULL);
  if (part && !strstr(diagnostics.list[0].message, part))
    fail_msg("'%s' does not contain '%s'", diagnostics.list[0].message, part);
}

RG_TEST(test_needs)
{
  RgDomain box, line, with_context;
  double context_points[2] = {0.0, 1.0};

  make_box(2, &box);
  make_line(5, &line);
  make_box(2, &with_context);
  RG_OK(rg_space_set(&with_context.context, 1, 2, context_points, NULL, NULL));
  with_context.control = RG_CONTEXT_SIMULATOR;
  expect_need(RG_NEEDS_FINITE, &line, NULL);
  expect_need(RG_NEEDS_FINITE, &box,
              "algorithm 'random' needs a finite design (a set or a grid); this problem has a box");
  expect_need(RG_NEEDS_BOX, &box, NULL);
  expect_need(RG_NEEDS_BOX, &line, "needs a design that is a box; this problem has a finite set");
  expect_need(RG_NEEDS_CONTEXT, &with_context, NULL);
  expect_need(RG_NEEDS_CONTEXT, &box, "needs a context; this problem has none");
  expect_need(RG_NEEDS_CONTEXT_PROB, &with_context, "without known probabilities");
  expect_need(RG_NEEDS_CONTEXT_PROB, &box, "this problem has no context");
  expect_need(RG_NEEDS_NO_CONTEXT, &box, NULL);
  expect_need(RG_NEEDS_NO_CONTEXT, &with_context,
              "needs a problem without a context for the learner to choose");
  expect_need(RG_NEEDS_NATURE, &with_context, "this problem has one the learner chooses");
  with_context.control = RG_CONTEXT_NATURE;
  expect_need(RG_NEEDS_NO_CONTEXT, &with_context, NULL);
  expect_need(RG_NEEDS_NATURE, &box, "a context that nature draws; this problem has none");
  expect_need(RG_NEEDS_NATURE, &with_context, NULL);
  expect_need(RG_NEEDS_ANNOUNCED, &with_context,
              "this problem has one that nature draws afterwards");
  with_context.control = RG_CONTEXT_ANNOUNCED;
  expect_need(RG_NEEDS_ANNOUNCED, &with_context, NULL);
  expect_need(RG_NEEDS_NO_CONTEXT, &with_context, NULL);
  expect_need(RG_NEEDS_NATURE, &with_context, "this problem has one that is announced");
  expect_need(RG_NEEDS_CONTEXT, &with_context, "a context that is unknown when it decides");
  RG_OK(rg_domain_destroy(&box));
  RG_OK(rg_domain_destroy(&line));
  RG_OK(rg_domain_destroy(&with_context));
}

/* ---- ask and tell --------------------------------------------------------------------------- */

RG_TEST(test_random_box)
{
  Bench bench;
  double mean[3] = {0.0};

  bench_options(&bench, "random", 3, 0);
  add_context(&bench.domain, RG_CONTEXT_SIMULATOR);
  bench_start(&bench, 1);
  for (int t = 1; t <= 500; t++) {
    RG_OK(rg_algorithm_ask(&bench.algorithm, t, &bench.history, &bench.query, &bench.failure));
    assert_int_equal(bench.query.index, -1);
    assert_true(bench.c[0] > 0.0 && bench.c[0] < 1.0);
    for (int j = 0; j < 3; j++) mean[j] += bench.x[j] / 500.0;
  }
  for (int j = 0; j < 3; j++) assert_true(fabs(mean[j] - 0.5) < 5.0 * sqrt(1.0 / 12.0 / 500.0));
  bench_end(&bench);
}

/* All points of a line once; then the method fails. Returns the first of them. */
static int exhaust(const char *name, int size, uint64_t seed)
{
  Bench bench;
  bool seen[16] = {false};
  int first = -1;

  bench_options(&bench, name, 0, size);
  bench.domain.without_replacement = true;
  bench_start(&bench, seed);
  for (int t = 1; t <= size; t++) {
    bench_step(&bench, t);
    assert_false(bench.failure.failed);
    assert_false(seen[bench.query.index]);
    seen[bench.query.index] = true;
    assert_true(bench.x[0] == bench.domain.design.points[bench.query.index]);
    if (t == 1) first = bench.query.index;
  }
  bench_step(&bench, size + 1);
  assert_true(bench.failure.failed);
  bench_end(&bench);
  return first;
}

RG_TEST(test_random_without_replacement)
{
  bool seen[12] = {false};

  for (int seed = 0; seed < 200; seed++) seen[exhaust("random", 12, (uint64_t)seed)] = true;
  for (int i = 0; i < 12; i++) assert_true(seen[i]);
}

static const char *const with_model[] = {"gp_ucb", "rgp_ucb", "irgp_ucb", "ei",
                                         "knowledge_gradient"};

/* All methods on both kinds of domain: queries in the domain, records filled, same bits again. */
static void run_twice(const char *name, int dim, int size)
{
  double chosen[2][20];

  for (int run = 0; run < 2; run++) {
    Bench bench;
    bench_options(&bench, name, dim, size);
    bench_start(&bench, 9);
    for (int t = 1; t <= 20; t++) {
      bench_step(&bench, t);
      assert_false(bench.failure.failed);
      for (int k = 0; bench.class->columns && bench.class->columns[k].name; k++)
        assert_false(isnan(bench.extra[k]));
      chosen[run][t - 1] = bench.x[0];
    }
    assert_ptr_equal(bench.class->model(&bench.algorithm)->domain, &bench.domain);
    bench_end(&bench);
  }
  assert_memory_equal(chosen[0], chosen[1], sizeof chosen[0]);
}

RG_TEST(test_runs)
{
  for (size_t i = 0; i < sizeof with_model / sizeof with_model[0]; i++) {
    run_twice(with_model[i], 2, 0);
    run_twice(with_model[i], 0, 40);
  }
}

/* Methods that model the design alone run where nature draws a context or announces one: they do
   not look at it. */
RG_TEST(test_runs_beside_contexts)
{
  const RgContextControl controls[] = {RG_CONTEXT_NATURE, RG_CONTEXT_ANNOUNCED};
  int n, ran = 0;
  const RgAlgorithmClass *const *classes = rg_algorithm_classes(&n);

  for (int i = 0; i < 2 * n; i++) {
    const RgAlgorithmClass *class = classes[i / 2];
    Bench bench;
    if (!(class->needs & RG_NEEDS_NO_CONTEXT) || class->needs & (RG_NEEDS_FINITE | RG_NEEDS_CLOCK))
      continue;
    bench_options(&bench, class->name, 2, 0);
    add_context(&bench.domain, controls[i % 2]);
    bench_start(&bench, 4);
    for (int t = -1; t <= 8; t++) { /* an initial design of two points */
      if (t > 0) bench_ask(&bench, t);
      else bench.x[0] = bench.x[1] = 0.25 - 0.5 * t;
      bench.c[0] = cos(t);
      RG_OK(rg_history_append(&bench.history, bench.x, -1, bench.c, -1, sin(5 * bench.x[0])));
      bench.history.n_initial += t <= 0;
    }
    bench_end(&bench);
    ran++;
  }
  assert_true(ran > 40);
}

RG_TEST(test_without_replacement)
{
  for (size_t i = 0; i < sizeof with_model / sizeof with_model[0]; i++)
    exhaust(with_model[i], 15, 2);
}

RG_TEST(test_single_point)
{
  for (size_t i = 0; i < sizeof with_model / sizeof with_model[0]; i++) {
    Bench bench;
    bench_options(&bench, with_model[i], 0, 1);
    bench_start(&bench, 2);
    for (int t = 1; t <= 3; t++) bench_step(&bench, t);
    assert_false(bench.failure.failed);
    assert_int_equal(bench.query.index, 0);
    bench_end(&bench);
  }
}

/* The recorded widths obey their rules, and do not depend on how a box is searched. */
RG_TEST(test_recorded_width)
{
  double widths[2][10];

  for (int run = 0; run < 2; run++) {
    Bench bench;
    bench_options(&bench, "irgp_ucb", 2, 0);
    bench.maximiser.raw_samples = run ? 16 : 64;
    bench.maximiser.selection = run;
    bench_start(&bench, 3);
    for (int t = 1; t <= 10; t++) {
      bench_step(&bench, t);
      assert_string_equal(bench.class->columns[0].name, "confidence");
      assert_true(bench.extra[0] >= 1.0); /* s = d/2 */
      widths[run][t - 1] = bench.extra[0];
    }
    bench_end(&bench);
  }
  assert_memory_equal(widths[0], widths[1], sizeof widths[0]);

  Bench bench;
  bench_options(&bench, "gp_ucb", 2, 0);
  bench_set(&bench, "scale", "0.5");
  bench_start(&bench, 3);
  for (int t = 1; t <= 5; t++) {
    bench_step(&bench, t);
    RG_CLOSE(bench.extra[0], 0.5 * 0.2 * 2 * log(2.0 * t), 1e-15);
  }
  bench_end(&bench);
}

RG_TEST(test_incumbents)
{
  for (int kind = 0; kind < 2; kind++) {
    for (int incumbent = 0; incumbent < 2; incumbent++) {
      Bench bench;
      double best = -INFINITY;
      bench_options(&bench, "ei", !kind, 30 * kind);
      bench_set(&bench, "incumbent", incumbent ? "best_mean" : "best_y");
      bench_start(&bench, 3);
      for (int t = 1; t <= 12; t++) {
        bench_step(&bench, t);
        for (int i = 0; i < bench.history.n - 1; i++) best = fmax(best, bench.history.y[i]);
        RgModel *model = bench.class->model(&bench.algorithm);
        double native = bench.extra[0] * model->scale + model->shift;
        if (t > 1) assert_true(fabs(native - best) < (incumbent ? 0.05 : 1e-12));
      }
      bench_end(&bench);
    }
  }
}
