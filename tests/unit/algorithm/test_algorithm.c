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

static void bench_options(Bench *bench, const char *name)
{
  memset(bench, 0, sizeof *bench);
  bench_class(bench, name);
  bench->surrogate.fit = RG_FIT_FIXED;
  bench->maximiser.raw_samples = 64;
  bench->maximiser.restarts = 5;
}

static void bench_start(Bench *bench, const RgDomain *domain, uint64_t seed)
{
  bench_create(bench,
               (RgSetup){.domain = domain,
                         .noise_variance = 1e-4,
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
    bench_options(&bench, class->name);
    bench_end(&bench);
  }
}

/* ---- mistakes ------------------------------------------------------------------------------- */

/* Number of mistakes; `part`: text that the first message must contain. */
static int mistakes(Bench *bench, const RgDomain *domain, const char *part)
{
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_algorithm_check(bench->class, bench->options, domain, (RgPlace){"study.yaml", 3, 5},
                           &diagnostics));
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

RG_TEST(test_settings)
{
  RgDomain box;

  make_box(3, &box);
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    const Case *setting = &settings[i];
    Bench bench;
    bench_options(&bench, setting->algorithm);
    bench_set(&bench, setting->name, setting->value);
    if (setting->other_name) bench_set(&bench, setting->other_name, setting->other_value);
    assert_int_equal(mistakes(&bench, &box, setting->message), setting->message != NULL);
    bench_end(&bench);
  }
  RG_OK(rg_domain_destroy(&box));
}

RG_TEST(test_finite_rules_on_finite_sets)
{
  RgDomain line;

  make_line(20, &line);
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    Bench bench;
    if (settings[i].other_name || !strcmp(settings[i].value, "fixed")) continue;
    bench_options(&bench, settings[i].algorithm);
    bench_set(&bench, settings[i].name, settings[i].value);
    assert_int_equal(mistakes(&bench, &line, NULL), 0);
    bench_end(&bench);
  }
  RG_OK(rg_domain_destroy(&line));
}

static RgAlgorithmClass class_with_needs(unsigned needs)
{
  RgAlgorithmClass class = *rg_registry_find_algorithm(NULL, "random");

  class.needs = needs;
  return class;
}

static void expect_need(unsigned needs, const RgDomain *domain, const char *part)
{
  RgAlgorithmClass class = class_with_needs(needs);
  RgDiagnostics diagnostics = {0};

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
  RgDomain box;
  Bench bench;
  double mean[3] = {0.0};

  make_box(3, &box);
  add_context(&box, RG_CONTEXT_SIMULATOR);
  bench_options(&bench, "random");
  bench_start(&bench, &box, 1);
  for (int t = 1; t <= 500; t++) {
    RG_OK(rg_algorithm_ask(&bench.algorithm, t, &bench.history, &bench.query, &bench.failure));
    assert_int_equal(bench.query.index, -1);
    assert_true(bench.c[0] > 0.0 && bench.c[0] < 1.0);
    for (int j = 0; j < 3; j++) mean[j] += bench.x[j] / 500.0;
  }
  for (int j = 0; j < 3; j++) assert_true(fabs(mean[j] - 0.5) < 5.0 * sqrt(1.0 / 12.0 / 500.0));
  bench_end(&bench);
  RG_OK(rg_domain_destroy(&box));
}

RG_TEST(test_random_without_replacement)
{
  RgDomain line;
  Bench bench;
  int seen[12] = {0}, first[200] = {0}, distinct = 0;

  make_line(12, &line);
  line.without_replacement = true;
  for (int seed = 0; seed < 200; seed++) {
    bench_options(&bench, "random");
    bench_start(&bench, &line, (uint64_t)seed);
    memset(seen, 0, sizeof seen);
    for (int t = 1; t <= 12; t++) {
      bench_step(&bench, t);
      assert_int_equal(seen[bench.query.index]++, 0);
      assert_true(bench.x[0] == line.design.points[bench.query.index]);
      if (t == 1) first[seed] = bench.query.index;
    }
    bench_step(&bench, 13);
    assert_true(bench.failure.failed);
    bench_end(&bench);
  }
  memset(seen, 0, sizeof seen);
  for (int seed = 0; seed < 200; seed++) distinct += !seen[first[seed]]++;
  assert_int_equal(distinct, 12);
  RG_OK(rg_domain_destroy(&line));
}

static const char *const with_model[] = {"gp_ucb", "rgp_ucb", "irgp_ucb", "ei",
                                         "knowledge_gradient"};

/* All methods on both kinds of domain: queries in the domain, records filled, same bits again. */
static void run_twice(const char *name, const RgDomain *domain)
{
  double chosen[2][20];

  for (int run = 0; run < 2; run++) {
    Bench bench;
    bench_options(&bench, name);
    bench_start(&bench, domain, 9);
    for (int t = 1; t <= 20; t++) {
      bench_step(&bench, t);
      assert_false(bench.failure.failed);
      for (int k = 0; bench.class->columns && bench.class->columns[k].name; k++)
        assert_false(isnan(bench.extra[k]));
      chosen[run][t - 1] = bench.x[0];
    }
    assert_ptr_equal(bench.class->model(&bench.algorithm)->domain, domain);
    bench_end(&bench);
  }
  assert_memory_equal(chosen[0], chosen[1], sizeof chosen[0]);
}

RG_TEST(test_runs)
{
  RgDomain box, line;

  make_box(2, &box);
  make_line(40, &line);
  for (size_t i = 0; i < sizeof with_model / sizeof with_model[0]; i++) {
    run_twice(with_model[i], &box);
    run_twice(with_model[i], &line);
  }
  RG_OK(rg_domain_destroy(&box));
  RG_OK(rg_domain_destroy(&line));
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
    RgDomain box;
    Bench bench;
    if (!(class->needs & RG_NEEDS_NO_CONTEXT) || class->needs & (RG_NEEDS_FINITE | RG_NEEDS_CLOCK))
      continue;
    make_box(2, &box);
    add_context(&box, controls[i % 2]);
    bench_options(&bench, class->name);
    bench_start(&bench, &box, 4);
    for (int t = -1; t <= 8; t++) { /* an initial design of two points */
      if (t > 0) bench_ask(&bench, t);
      else bench.x[0] = bench.x[1] = 0.25 - 0.5 * t;
      bench.c[0] = cos(t);
      RG_OK(rg_history_append(&bench.history, bench.x, -1, bench.c, -1, sin(5 * bench.x[0])));
      bench.history.n_initial += t <= 0;
    }
    bench_end(&bench);
    RG_OK(rg_domain_destroy(&box));
    ran++;
  }
  assert_true(ran > 40);
}

RG_TEST(test_without_replacement)
{
  RgDomain line;

  make_line(15, &line);
  line.without_replacement = true;
  for (size_t i = 0; i < sizeof with_model / sizeof with_model[0]; i++) {
    Bench bench;
    int seen[15] = {0};
    bench_options(&bench, with_model[i]);
    bench_start(&bench, &line, 2);
    for (int t = 1; t <= 15; t++) {
      bench_step(&bench, t);
      assert_false(bench.failure.failed);
      assert_int_equal(seen[bench.query.index]++, 0);
    }
    bench_step(&bench, 16);
    assert_true(bench.failure.failed);
    bench_end(&bench);
  }
  RG_OK(rg_domain_destroy(&line));
}

RG_TEST(test_single_point)
{
  RgDomain line;

  make_line(1, &line);
  for (size_t i = 0; i < sizeof with_model / sizeof with_model[0]; i++) {
    Bench bench;
    bench_options(&bench, with_model[i]);
    bench_start(&bench, &line, 2);
    for (int t = 1; t <= 3; t++) bench_step(&bench, t);
    assert_false(bench.failure.failed);
    assert_int_equal(bench.query.index, 0);
    bench_end(&bench);
  }
  RG_OK(rg_domain_destroy(&line));
}

/* The recorded widths obey their rules, and do not depend on how a box is searched. */
RG_TEST(test_recorded_width)
{
  RgDomain box;
  double widths[2][10];

  make_box(2, &box);
  for (int run = 0; run < 2; run++) {
    Bench bench;
    bench_options(&bench, "irgp_ucb");
    bench.maximiser.raw_samples = run ? 16 : 64;
    bench.maximiser.selection = run;
    bench_start(&bench, &box, 3);
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
  bench_options(&bench, "gp_ucb");
  bench_set(&bench, "scale", "0.5");
  bench_start(&bench, &box, 3);
  for (int t = 1; t <= 5; t++) {
    bench_step(&bench, t);
    RG_CLOSE(bench.extra[0], 0.5 * 0.2 * 2 * log(2.0 * t), 1e-15);
  }
  bench_end(&bench);
  RG_OK(rg_domain_destroy(&box));
}

RG_TEST(test_incumbents)
{
  RgDomain box, line;

  make_box(1, &box);
  make_line(30, &line);
  for (int kind = 0; kind < 2; kind++) {
    for (int incumbent = 0; incumbent < 2; incumbent++) {
      Bench bench;
      double best = -INFINITY;
      bench_options(&bench, "ei");
      bench_set(&bench, "incumbent", incumbent ? "best_mean" : "best_y");
      bench_start(&bench, kind ? &line : &box, 3);
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
  RG_OK(rg_domain_destroy(&box));
  RG_OK(rg_domain_destroy(&line));
}
