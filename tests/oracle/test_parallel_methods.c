/* Methods for several evaluations at once, against an independent program in NumPy. */
#include "parallel_bench.h"

#include "algorithm/pareto.h"

static const ParallelSetting width2[] = {{"width", "2"}, {0}};

RG_TEST(ucb_pe_on_a_grid)
{
  parallel_batch("ucb_pe", width2, NULL, 4, (const int[]){6, 20, 0, 13});
}

/* With one worker each query is that of the upper bound. */
RG_TEST(ucb_pe_with_one_worker)
{
  for (int t = 1; t <= 3; t++) {
    RG_OWNED(parallel_close) Parallel p;
    parallel_open(&p, "ucb_pe", true, 1, width2, NULL);
    parallel_ask(&p, t);
    assert_int_equal(p.bench.query.index, 6);
  }
}

/* On the interval: close to the grid's batch, inside the region, and the model is as it was. */
RG_TEST(ucb_pe_on_a_box)
{
  static const double expected[] = {0.3, 1, 0, 0.65};
  const double at = 0.37;
  double before[2], mean, sd;
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "ucb_pe", false, 4, width2, NULL);
  for (int t = 1; t <= 4; t++) {
    parallel_ask(&p, t);
    RG_CLOSE(p.bench.query.x[0], expected[t - 1], 0.04);
    RgModel *model = p.bench.class->model(&p.bench.algorithm);
    RG_OK(rg_model_predict(model, 1, p.bench.query.x, &mean, &sd));
    assert_true(mean + 2 * 2 * sd >= 0.7899617789 - 1e-3);
    RG_OK(rg_model_predict(model, 1, &at, &mean, &sd));
    if (t == 1) before[0] = mean, before[1] = sd;
    assert_true(mean == before[0] && sd == before[1]);
  }
}

/* The first queries are the greedy maximisers of the deviation, by the definition; then the
   rule. */
static void check_initialise(const char *name, bool grid, const ParallelSetting *settings,
                             const ParallelSetting *rules)
{
  double mean[PARALLEL_GRID], sd[PARALLEL_GRID], z[PARALLEL_GRID], deviation;
  Parallel p;

  for (int i = 0; i < PARALLEL_GRID; i++) z[i] = i / 20.0;
  parallel_open(&p, name, grid, 8, settings, rules);
  for (int t = 1; t <= 6; t++) {
    RgFailure failure = {0};
    const RgHistory before = p.bench.history;
    parallel_ask(&p, t);
    assert_int_equal(isnan(p.bench.query.extra[0]), t <= 5); /* no width yet */
    RgModel *model = p.bench.class->model(&p.bench.algorithm);
    if (t > 5) break;
    RG_OK(rg_model_append_pending(model, &before, RG_PENDING_BELIEVER, &failure));
    if (grid) {
      for (int i = 0; i < PARALLEL_GRID; i++)
        sd[i] = sqrt(rg_posterior_variances(&model->posterior)[i]);
      deviation = sd[p.bench.query.index];
    } else {
      RG_OK(rg_model_predict(model, PARALLEL_GRID, z, mean, sd));
      RG_OK(rg_model_predict(model, 1, p.bench.query.x, mean, &deviation));
    }
    for (int i = 0; i < PARALLEL_GRID; i++) assert_true(deviation >= sd[i] - 1e-9);
    RG_CLOSE(p.bench.query.extra[1], deviation, 1e-9);
    RG_OK(rg_model_remove_pending(model));
  }
  parallel_close(&p);
}

RG_TEST(first_queries_by_variance)
{
  static const ParallelSetting settings[] = {{"initialise", "5"}, {0}};
  static const ParallelSetting believer[] = {{"rule", "believer"}, {0}};

  for (int grid = 0; grid < 2; grid++) {
    check_initialise("ucb_pe", grid, settings, NULL);
    check_initialise("gp_ucb", grid, settings, believer);
  }
}

/* The default width is that of the released program. */
RG_TEST(ucb_pe_default_width)
{
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "ucb_pe", true, 2, NULL, NULL);
  parallel_ask(&p, 1);
  RG_CLOSE(p.bench.query.extra[0], 5 * log(2 * 1 + 1), 1e-12);
}

/* ---- aegis --------------------------------------------------------------------------------- */

enum { ASKS = 600, SET = 8 };

/* A set of SET points in `dim` inputs, so that an ask is cheap. count: queries by choice, from the
   start and later. */
static void count_choices(int dim, int workers, int first[3], int later[3])
{
  const double zero[10] = {0}, one[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  double points[SET * 10];
  RG_OWNED(bench_end) Bench bench = {0};

  for (int i = 0; i < SET * dim; i++) points[i] = fmod(0.37 * (i + 1), 1);
  RG_OK(rg_space_set(&bench.domain.design, dim, SET, points, zero, one));
  bench_class(&bench, "aegis");
  bench_create(&bench,
               (RgSetup){.noise_variance = 0.01,
                         .n_iterations = ASKS,
                         .n_workers = workers,
                         .stream = rg_stream(1, "test", 0, "aegis", 1)},
               4);
  for (int t = 1; t <= ASKS; t++) {
    double x[10];
    bench.query.x = x;
    RG_OK(rg_algorithm_ask(&bench.algorithm, t, &bench.history, &bench.query, &bench.failure));
    assert_false(bench.failure.failed);
    (t <= workers + 1 ? first : later)[(int)bench.extra[0]]++;
    if (t == 1) assert_int_equal((int)bench.extra[0] == 0, dim > 4);
  }
}

RG_TEST(aegis_probabilities)
{
  static const struct {
    int dim;
    double mean, path;
  } cases[] = {{1, 0, 0.5}, {4, 0, 0.5}, {5, .105573, .447214}, {10, .367544, .316228}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    int first[3] = {0}, later[3] = {0};
    count_choices(cases[k].dim, 40, first, later);
    const double n = ASKS - 41;
    assert_int_equal(first[0], cases[k].dim > 4);
    assert_true(first[1] > 10 && first[2] > 10);
    RG_CLOSE(later[0] / n, cases[k].mean, 0.06);
    RG_CLOSE(later[1] / n, cases[k].path, 0.07);
    if (cases[k].mean == 0) assert_int_equal(later[0], 0);
  }
}

/* Members of the Pareto set, all of them by and by. */
RG_TEST(aegis_front)
{
  static const int front[] = {5, 6, 7, 8, 13, 20};
  bool seen[PARALLEL_GRID] = {false};
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "aegis", true, 1, NULL, NULL);
  for (int t = 2; t <= 120; t++) {
    parallel_ask(&p, t);
    p.bench.history.pending = (RgPending){0};
    if (p.bench.query.extra[0] == 2) seen[p.bench.query.index] = true;
  }
  for (int i = 0, k = 0; i < PARALLEL_GRID; i++) {
    const bool member = k < 6 && front[k] == i;
    assert_int_equal(seen[i], member);
    k += member;
  }
}

/* On the interval a member of the front has a larger mean or deviation than every point of the
   grid, up to the distance of its neighbours. */
RG_TEST(aegis_on_a_box)
{
  Parallel p;
  double mean[PARALLEL_GRID], sd[PARALLEL_GRID], z[PARALLEL_GRID], own[2];
  int members = 0;

  parallel_open(&p, "aegis", false, 1, NULL, NULL);
  for (int i = 0; i < PARALLEL_GRID; i++) z[i] = i / 20.0;
  for (int t = 2; t <= 12; t++) {
    parallel_ask(&p, t);
    p.bench.history.pending = (RgPending){0};
    if (p.bench.query.extra[0] != 2) continue;
    members++;
    RgModel *model = p.bench.class->model(&p.bench.algorithm);
    RG_OK(rg_model_predict(model, PARALLEL_GRID, z, mean, sd));
    RG_OK(rg_model_predict(model, 1, p.bench.query.x, &own[0], &own[1]));
    for (int i = 0; i < PARALLEL_GRID; i++)
      assert_true(own[0] > mean[i] - 1e-3 || own[1] > sd[i] - 1e-3);
  }
  assert_true(members > 2);
  parallel_close(&p);
}

/* ---- hebo ---------------------------------------------------------------------------------- */

/* EI, PI and UCB of hebo at a point, by their definitions. */
static void mace(double mean, double sd, double tau, int n, double value[3])
{
  const double z = (mean - tau - 1e-4) / sd, pi = acos(-1.0);
  const double beta = 2 * (2.5 * log(n) + log(3 * pi * pi / (3 * 0.01)));

  value[1] = 0.5 * erfc(-z / sqrt(2));
  value[0] = sd * (z * value[1] + exp(-0.5 * z * z) / sqrt(2 * pi));
  value[2] = mean + sqrt(0.5 * beta) * sd;
}

static bool beaten(const double a[3], const double b[3], double margin)
{
  return a[0] < b[0] - margin && a[1] < b[1] - margin && a[2] < b[2] - margin;
}

/* On a grid the queries are the Pareto set, all of it by and by. */
RG_TEST(hebo_front)
{
  bool seen[PARALLEL_GRID] = {false};
  double value[PARALLEL_GRID][3], tau = -INFINITY;
  int members = 0;
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "hebo", true, 1, NULL, NULL);
  for (int t = 1; t <= 200; t++) {
    parallel_ask(&p, t);
    p.bench.history.pending = (RgPending){0};
    seen[p.bench.query.index] = true;
  }
  RgModel *model = p.bench.class->model(&p.bench.algorithm);
  const double *mean = rg_posterior_means(&model->posterior);
  const double *variance = rg_posterior_variances(&model->posterior);
  for (int i = 0; i < p.bench.history.n; i++) tau = fmax(tau, mean[p.bench.history.index[i]]);
  for (int i = 0; i < PARALLEL_GRID; i++)
    mace(mean[i], sqrt(variance[i]), tau, p.bench.history.n, value[i]);
  for (int i = 0; i < PARALLEL_GRID; i++) {
    bool member = true;
    for (int k = 0; k < PARALLEL_GRID; k++) member = member && !beaten(value[i], value[k], 0);
    assert_int_equal(seen[i], member);
    members += member;
  }
  assert_true(members > 2 && members < PARALLEL_GRID);
  assert_int_equal((int)p.bench.query.extra[1], members);
}

/* Equal candidates are members together; every member is drawn by and by. */
RG_TEST(pareto_set)
{
  static const double X[] = {0, 0.2, 0.4, 0.6, 0.8, 1};
  static const RgCandidate all[] = {{{0, 1, 0}, 0}, {{1, 0, 0}, 1}, {{0, 2, 0}, 2},
                                    {{1, 0, 0}, 3}, {{0, 1, 5}, 4}, {{-1, -1, 5}, 5}};
  const RgStream stream = rg_stream(1, "test", 0, "pareto", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  RgSpace design = {.kind = RG_SPACE_BOX, .dim = 1};
  RgCandidate list[6];
  RgCandidates candidates = {.n = 6, .design = &design, .X = X, .list = list};
  bool drawn[6] = {false};
  double x = NAN;
  RgQuery query = {.index = -1, .x = &x};

  assert_int_equal(rg_pareto_draw(&candidates, &random, &query), 0);
  assert_true(isnan(x));
  for (int k = 0; k < 100; k++) {
    memcpy(list, all, sizeof all);
    candidates.n_list = 6;
    assert_int_equal(rg_pareto_draw(&candidates, &random, &query), 4);
    for (int i = 0; i < 6; i++) drawn[i] = drawn[i] || x == X[i];
    assert_int_equal(query.index, -1);
  }
  assert_true(!drawn[0] && drawn[1] && drawn[2] && drawn[3] && drawn[4] && !drawn[5]);
}

/* On the interval no point of the grid is better in all three by more than a little, with one Sobol
   point too: those about the maximisers are the others. */
static void hebo_on_a_box(const ParallelSetting *settings, int queries)
{
  double mean[PARALLEL_GRID], sd[PARALLEL_GRID], z[PARALLEL_GRID], own[2], a[3], b[3];
  double low = 1, high = 0;
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "hebo", false, 1, settings, NULL);
  for (int i = 0; i < PARALLEL_GRID; i++) z[i] = i / 20.0;
  for (int t = 1; t <= queries; t++) {
    parallel_ask(&p, t);
    p.bench.history.pending = (RgPending){0};
    const int n = p.bench.history.n;
    RgModel *model = p.bench.class->model(&p.bench.algorithm);
    RG_OK(rg_model_predict(model, PARALLEL_GRID, z, mean, sd));
    RG_OK(rg_model_predict(model, 1, p.bench.query.x, &own[0], &own[1]));
    mace(own[0], own[1], p.bench.query.extra[0], n, a);
    for (int i = 0; i < PARALLEL_GRID; i++) {
      mace(mean[i], sd[i], p.bench.query.extra[0], n, b);
      assert_false(beaten(a, b, 1e-4));
    }
    if (settings) assert_true(p.bench.query.extra[1] > 100); /* many points about the maximisers */
    low = fmin(low, p.bench.query.x[0]);
    high = fmax(high, p.bench.query.x[0]);
  }
  assert_true(high - low > 0.05); /* members, not one maximiser */
}

RG_TEST(hebo_of_sobol_points)
{
  hebo_on_a_box(NULL, 20);
}

RG_TEST(hebo_about_maximisers)
{
  static const ParallelSetting settings[] = {{"candidates", "1"}, {0}};

  hebo_on_a_box(settings, 10);
}

/* ---- q_ei ---------------------------------------------------------------------------------- */

/* The greedy pair of the grid, and its joint improvement; with nothing in flight it is EI. */
RG_TEST(q_ei_pair)
{
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "q_ei", true, 2, NULL, NULL);
  parallel_ask(&p, 1);
  assert_int_equal(p.bench.query.index, 7);
  parallel_ask(&p, 2);
  assert_int_equal(p.bench.query.index, 11);
  RG_CLOSE(p.bench.query.extra[2], .1768874044, 1e-9);
  RG_CLOSE(p.bench.query.extra[0], 1, 1e-15);
}

/* On a design of one more point: q-EI of (0.3, 0.55), and what it adds to EI of 0.3. */
RG_TEST(q_ei_of_two_points)
{
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "q_ei", true, 2, NULL, NULL);
  p.domain.without_replacement = true; /* only 0.55 is left */
  const double x[] = {0.3};
  const int index[] = {6};
  for (int i = 0; i < PARALLEL_GRID; i++) {
    const double z = i / 20.0;
    if (i != 2 && i != 6 && i != 9 && i != 11 && i != 16)
      RG_OK(rg_history_append(&p.bench.history, &z, i, NULL, -1, 0));
  }
  /* The model keeps the three data: those added after its update are excluded only. */
  RgHistory told = p.bench.history;
  told.n = 3;
  RG_OK(rg_model_update(p.bench.class->model(&p.bench.algorithm), &told, &p.bench.failure));
  p.bench.history.pending = (RgPending){.n = 1, .x = x, .index = index};
  RG_OK(
    p.bench.class->ask(&p.bench.algorithm, 1, &p.bench.history, &p.bench.query, &p.bench.failure));
  assert_false(p.bench.failure.failed);
  assert_int_equal(p.bench.query.index, 11);
  RG_CLOSE(p.bench.query.extra[2], .1663970501, 1e-9);
  RG_CLOSE(exp(p.bench.query.extra[1]), .1663970501 - .1213943500, 1e-9);
  p.bench.history.pending = (RgPending){0};
}

/* On the interval: the maximiser is close to the grid's, several points in flight keep apart, and
   more samples change little. */
RG_TEST(q_ei_on_a_box)
{
  static const ParallelSetting many[] = {{"samples", "8192"}, {0}};
  double value[2];

  for (int k = 0; k < 2; k++) {
    RG_OWNED(parallel_close) Parallel p;
    parallel_open(&p, "q_ei", false, 4, k ? many : NULL, NULL);
    parallel_ask(&p, 1);
    RG_CLOSE(p.bench.query.x[0], 0.35, 0.03);
    parallel_ask(&p, 2);
    RG_CLOSE(p.bench.query.x[0], 0.55, 0.03);
    assert_true(p.bench.query.extra[2] >= .1768874044);
    parallel_ask(&p, 3);
    for (int i = 0; i < 2; i++) assert_true(fabs(p.x[i] - p.bench.query.x[0]) > 0.02);
    assert_true(p.bench.query.extra[2] > .1768874044);
    value[k] = p.bench.query.extra[2];
    parallel_ask(&p, 4);
    assert_true(p.bench.query.extra[2] > value[k]);
  }
  RG_CLOSE(value[0], value[1], 1e-3);
}

/* ---- q_ei with form: ucb -------------------------------------------------------------------- */

static const ParallelSetting bound[] = {{"form", "ucb"}, {"beta", "2"}, {0}};

/* The greedy pair of the grid and its joint bound by quadrature, and of three points by 400,000
   draws; with nothing in flight it is GP-UCB. */
RG_TEST(q_ucb_on_a_grid)
{
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "q_ei", true, 3, bound, NULL);
  parallel_ask(&p, 1);
  assert_int_equal(p.bench.query.index, 6);
  RG_CLOSE(p.bench.query.extra[2], 1.513015507577844, 1e-12);
  parallel_ask(&p, 2);
  assert_int_equal(p.bench.query.index, 20);
  RG_CLOSE(p.bench.query.extra[2], 1.654312131559268, 1e-7);
  parallel_ask(&p, 3);
  assert_true(p.bench.query.index == 11 || p.bench.query.index == 12);
  RG_CLOSE(p.bench.query.extra[2], 1.7106, 4e-3);
}

/* On the interval few raw points and their climb reach what many raw points find. far: a point of
   low mean is in flight at the start; NaN: none. */
static void check_climb(double far, double least)
{
  double value[2][3];

  for (int few = 0; few < 2; few++) {
    RG_OWNED(parallel_close) Parallel p;
    parallel_open(&p, "q_ei", false, 3, bound, NULL);
    p.bench.maximiser.raw_samples = few ? 8 : 512;
    p.bench.maximiser.restarts = 8;
    p.x[0] = far;
    p.bench.history.pending = (RgPending){.n = !isnan(far), .x = p.x, .index = p.index};
    for (int t = 1; t <= 3; t++) {
      parallel_ask(&p, t);
      value[few][t - 1] = p.bench.query.extra[2];
    }
  }
  assert_true(value[0][1] >= least);
  for (int t = 0; t < 3; t++) RG_CLOSE(value[1][t], value[0][t], 1e-6);
}

RG_TEST(q_ucb_climbs)
{
  check_climb(NAN, 1.654312131559268 - 1e-7);
  check_climb(0.79, 1.513);
}

/* ---- ts with uniform weights
   ------------------------------------------------------------------ */

static const ParallelSetting uniform[] = {{"weights", "uniform"}, {"path_raw_samples", "64"}, {0}};

/* A set of 0.3 and the three data, of which only 0.3 is left: the path there is its mean less
   0.4697 times a uniform number. */
RG_TEST(uniform_weights_are_biased)
{
  static const ParallelSetting model[] = {
    {"kernel", "gaussian"}, {"length_scale", "0.2"}, {"variance", "1"}, {"noise_variance", "0.01"},
    {"fit", "fixed"},       {"standardise", "no"},   {"mean", "zero"},  {0}};
  const double points[] = {0.3, 0.1, 0.45, 0.8}, y[] = {0.3, 1, -0.4}, zero = 0, one = 1;
  const double mean = .8487647694, sd = .4696962013;
  double sum = 0, squares = 0, x;
  RG_OWNED(bench_end) Bench bench = {0};

  RG_OK(rg_space_set(&bench.domain.design, 1, 4, points, &zero, &one));
  bench.domain.without_replacement = true;
  bench_class(&bench, "ts");
  parallel_set(rg_surrogate_params, &bench.surrogate, model);
  parallel_set(bench.class->params, bench.options, uniform);
  bench_create(&bench,
               (RgSetup){.noise_variance = 0.01,
                         .n_initial = 3,
                         .n_iterations = ASKS,
                         .stream = rg_stream(1, "test", 0, "ts", 1)},
               4);
  bench.history.n_initial = 3;
  for (int i = 0; i < 3; i++)
    RG_OK(rg_history_append(&bench.history, &points[i + 1], i + 1, NULL, -1, y[i]));
  bench.query.x = &x;
  for (int t = 1; t <= ASKS; t++) {
    RG_OK(rg_algorithm_ask(&bench.algorithm, t, &bench.history, &bench.query, &bench.failure));
    assert_false(bench.failure.failed);
    assert_int_equal(bench.query.index, 0);
    const double below = mean - bench.query.extra[0];
    assert_true(below > 0 && below < sd);
    sum += below;
    squares += below * below;
  }
  RG_CLOSE(sum / ASKS, .234848, 0.02);
  RG_CLOSE(sqrt(squares / ASKS - sum / ASKS * (sum / ASKS)), .135590, 0.01);
}

/* On the interval a query is a datum or one of the uniform points, which differ from ask to ask. */
RG_TEST(uniform_weights_on_a_box)
{
  int data = 0;
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "ts", false, 1, uniform, NULL);
  for (int t = 1; t <= 50; t++) {
    parallel_ask(&p, t);
    const double x = p.bench.query.x[0], first = p.bench.query.extra[0];
    p.bench.history.pending = (RgPending){0};
    data += x == 0.1 || x == 0.45 || x == 0.8;
    parallel_ask(&p, t);
    assert_true(p.bench.query.x[0] == x && p.bench.query.extra[0] == first);
    p.bench.history.pending = (RgPending){0};
    assert_int_equal(p.bench.query.index, -1);
  }
  assert_true(data > 0 && data < 50);
}
