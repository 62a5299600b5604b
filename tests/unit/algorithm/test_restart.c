/* Restarts of a search that has stalled: when they come, what the method sees afterwards, points in
   flight. */
#include "algorithm_bench.h"

#include "gp/model/model.h"
#include "maths/design.h"

#include <math.h>

enum { DIM = 2, N_INITIAL = 5, QUERIES = 100, AFTER = 4 };

/* A hill that EI climbs in some ten queries. */
static double hill(const double *x)
{
  return -pow(x[0] - 0.3, 2) - pow(x[1] - 0.6, 2);
}

/* EI that begins again after so many idle queries (-1: never), without data. */
static void begin_empty(Bench *b, int restart_after)
{
  static const double lower[DIM] = {0}, upper[DIM] = {1, 1};
  static const RgPendingOptions pending = {.rule = RG_PENDING_BELIEVER};

  memset(b, 0, sizeof *b);
  bench_class(b, "ei");
  b->surrogate.restart_after = restart_after;
  RG_OK(rg_space_box(&b->domain.design, DIM, lower, upper));
  bench_create(b,
               (RgSetup){.noise_variance = 0,
                         .n_initial = N_INITIAL,
                         .n_iterations = QUERIES,
                         .pending = &pending,
                         .stream = rg_stream(3, "test", 0, "ei", 1)},
               N_INITIAL + QUERIES);
}

static void begin(Bench *b, int restart_after)
{
  const RgStream stream = rg_stream(7, "test", 0, "start", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  double x[N_INITIAL * DIM];

  begin_empty(b, restart_after);
  RG_OK(rg_design_uniform(&random, N_INITIAL, DIM, x));
  for (int i = 0; i < N_INITIAL; i++)
    RG_OK(rg_history_append(&b->history, x + i * DIM, -1, NULL, -1, hill(x + i * DIM)));
  b->history.n_initial = N_INITIAL;
}

/* Whether the query is row `row` of the design that a restart at query t draws. */
static bool is_designed(const Bench *b, int t, int row)
{
  RgRandom random = rg_algorithm_stream_at(&b->algorithm, "restart", t);
  double x[N_INITIAL * DIM];

  RG_OK(rg_design_sobol(&random, N_INITIAL, DIM, x));
  return b->x[0] == x[row * DIM] && b->x[1] == x[row * DIM + 1];
}

/* Queries until a restart; returns its number. The query is asked and not told. */
static int run_to_restart(Bench *b)
{
  for (int t = 1; t <= 60; t++) {
    bench_ask(b, t);
    if (is_designed(b, t, 0)) return t;
    bench_tell(b, hill(b->x));
  }
  fail_msg("no restart in 60 queries");
  return 0;
}

/* The restart comes after AFTER queries that promise little. Then the design; then what a method
   would choose that had seen the new data alone. */
RG_TEST(test_begins_again_with_the_new_data)
{
  Bench b, alone;

  begin(&b, AFTER);
  const int t = run_to_restart(&b);
  assert_true(t > AFTER);
  assert_true(-b.history.y[rg_history_best(&b.history)] < 1e-4);
  begin_empty(&alone, -1);
  for (int row = 0; row < N_INITIAL; row++) {
    if (row) bench_ask(&b, t + row);
    assert_true(is_designed(&b, t, row));
    bench_tell(&b, hill(b.x));
    RG_OK(rg_history_append(&alone.history, b.x, -1, NULL, -1, hill(b.x)));
  }
  alone.history.n_initial = N_INITIAL;
  for (int k = N_INITIAL; k < N_INITIAL + 3; k++) {
    bench_ask(&b, t + k);
    bench_ask(&alone, t + k);
    for (int j = 0; j < DIM; j++) assert_true(b.x[j] == alone.x[j]);
    bench_tell(&b, hill(b.x));
    bench_tell(&alone, hill(alone.x));
  }
  bench_end(&alone);
  bench_end(&b);
}

/* More patience, a later restart. An output that rises puts it off. */
RG_TEST(test_waits_for_idle_queries_in_a_row)
{
  Bench b, patient;

  begin(&b, AFTER);
  const int t = run_to_restart(&b);
  begin(&patient, AFTER + 2);
  assert_int_equal(run_to_restart(&patient), t + 2);
  bench_end(&patient);
  bench_end(&b);
  begin(&b, AFTER);
  for (int k = 1; k < t; k++) {
    bench_ask(&b, k);
    bench_tell(&b, k == t - 1 ? 1 : hill(b.x));
  }
  bench_ask(&b, t);
  assert_false(is_designed(&b, t, 0));
  bench_end(&b);
}

/* Whether the model promises little at the query: less than 1e-4 of what the best output is above the
   mean. */
static bool is_idle(Bench *b)
{
  RgModel *model = b->algorithm.class->model(&b->algorithm);
  const RgHistory *history = &b->history;
  const double best = rg_model_units(model, history->y[rg_history_best(history)]);
  double mean, sd, sum = 0;

  for (int i = 0; i < history->n; i++) sum += rg_model_units(model, history->y[i]);
  RG_OK(rg_model_predict(model, 1, b->x, &mean, &sd));
  return rg_expected_improvement(mean, sd, best) < 1e-4 * (best - sum / history->n);
}

/* A value below what the model expects makes it promise much again: the count begins anew. */
RG_TEST(test_counts_anew_when_a_query_promises_more)
{
  Bench b;
  int idle = 0, broken = 0;

  begin(&b, AFTER);
  for (int t = 1; t <= QUERIES; t++) {
    bench_ask(&b, t);
    if (is_designed(&b, t, 0)) {
      assert_int_equal(idle, AFTER);
      assert_true(broken > 0);
      bench_end(&b);
      return;
    }
    assert_true(idle < AFTER);
    const bool now = is_idle(&b);
    broken += idle > 0 && !now;
    idle = now ? idle + 1 : 0;
    bench_tell(&b, hill(b.x) - (idle == AFTER - 1 && broken < 1 ? 2e-4 : 0));
  }
  fail_msg("no restart");
}

/* A point in flight at a restart is no datum of the new search, neither then nor once it is told. */
RG_TEST(test_forgets_what_was_in_flight)
{
  const double flying[DIM] = {0.3, 0.6};
  Bench b, other;

  begin(&b, AFTER);
  begin(&other, AFTER);
  const int t = run_to_restart(&b);
  assert_int_equal(run_to_restart(&other), t);
  for (int row = 0; row < N_INITIAL; row++) {
    const int submission = N_INITIAL + t + row;
    if (row) {
      bench_ask(&b, t + row);
      bench_ask(&other, t + row);
    }
    bench_tell(&b, hill(b.x));
    bench_tell(&other, hill(other.x));
    b.history.timings[b.history.n - 1].submission = submission;
    other.history.timings[other.history.n - 1].submission = submission;
    if (row != 1) continue;
    RG_OK(rg_history_append(&other.history, flying, -1, NULL, -1, 10)); /* submitted before t */
    other.history.timings[other.history.n - 1].submission = N_INITIAL + t - 1;
  }
  const int before = N_INITIAL + t - 1;
  bench_ask(&b, t + N_INITIAL);
  other.history.pending = (RgPending){.n = 1, .x = flying, .submission = &before};
  bench_ask(&other, t + N_INITIAL);
  for (int j = 0; j < DIM; j++) assert_true(b.x[j] == other.x[j]);
  bench_end(&other);
  bench_end(&b);
}
