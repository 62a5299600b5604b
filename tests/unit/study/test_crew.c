/* The crew: orders of events worked out by hand or by an independent simulator, and what holds for
   all. */
#include <stdio.h>
#include <stdlib.h>

#include "test_main.h"

#include "regatta/stream.h"
#include "study/file/crew_options.h"
#include "study/schedule/crew.h"

enum { MOST = 1300 };

/* A host with given durations, and all that it sees. */
typedef struct {
  int n;
  int64_t ticks[MOST], second; /* first attempts; later ones */
  int64_t thought, death[8], repair;
  int pending[MOST], n_rows;
  char seen[2000];
  RgCrewRow rows[MOST];
} Host;

static int64_t units(double t)
{
  return rg_ticks(t);
}

static PetscErrorCode ask(void *closure, const RgCrewAsk *request, bool *stop)
{
  Host *host = closure;
  const size_t used = strlen(host->seen);

  *stop = false;
  host->pending[request->submission] = request->n_pending;
  char *at = host->seen + used;
  if (used + 100 > sizeof host->seen) return 0;
  if (!request->n_pending) at += sprintf(at, "-");
  for (int i = 0; i < request->n_pending && i < 8; i++)
    at += sprintf(at, "%d", request->pending[i]);
  sprintf(at, " ");
  return 0;
}

static PetscErrorCode duration(void *closure, int submission, int attempt, int64_t *ticks,
                               bool *stop)
{
  Host *host = closure;

  *stop = false;
  *ticks = attempt > 1 ? host->second : host->ticks[submission];
  return 0;
}

static int64_t think(void *closure, __attribute__((unused)) int submission)
{
  return ((Host *)closure)->thought;
}

/* Worker w dies for the first time at death[w], if that is positive, and not again. */
static int64_t life(void *closure, int worker, int incarnation)
{
  const Host *host = closure;

  return incarnation == 1 && worker < 8 && host->death[worker] ? host->death[worker] : units(1e9);
}

static int64_t repair(void *closure, __attribute__((unused)) int worker,
                      __attribute__((unused)) int incarnation)
{
  return ((Host *)closure)->repair;
}

static PetscErrorCode tell(void *closure, const RgCrewRow *row, bool *stop)
{
  Host *host = closure;

  *stop = false;
  host->rows[host->n_rows++] = *row;
  return 0;
}

static RgCrewOutcome run(Host *host, RgCrewOptions options)
{
  RgCrewOutcome outcome;

  if (!options.first) options.first = 1;
  if (!options.last) options.last = host->n;
  if (!options.time) options.time = -1;
  if (!options.longest) options.longest = -1;
  RgCrewCallbacks calls = {host, ask, duration, think, life, repair, tell, NULL, NULL};
  if (!host->death[1] && !host->death[2]) calls.life = NULL;
  host->n_rows = 0;
  host->seen[0] = 0;
  RG_OK(rg_crew_run(&options, &calls, &outcome));
  return outcome;
}

static Host host_of(int n, const double *durations)
{
  Host host = {.n = n, .repair = -1, .second = units(2)};

  for (int i = 0; i < n; i++) host.ticks[i + 1] = units(durations[i]);
  return host;
}

/* Rows as `submission@worker[dispatched,finished]`, with `told` where it is later and the
   ending. */
static const char *show(const Host *host)
{
  static char text[4000];
  char *at = text;

  text[0] = 0;
  for (int i = 0; i < host->n_rows; i++) {
    const RgCrewRow *r = &host->rows[i];
    at += sprintf(at, "%s%d@%d[%g,%g]", i ? " " : "", r->submission, r->worker,
                  (double)r->dispatched / 1e6, (double)r->finished / 1e6);
    if (r->told != r->finished) at += sprintf(at, "t%g", (double)r->told / 1e6);
    if (r->ending == RG_ENDED_TOO_LONG) at += sprintf(at, "F");
    if (r->ending == RG_ENDED_LOST) at += sprintf(at, "L");
  }
  return text;
}

/* Run the crew, which tells these rows. */
static RgCrewOutcome expect(Host *host, RgCrewOptions options, const char *rows)
{
  const RgCrewOutcome outcome = run(host, options);

  assert_string_equal(show(host), rows);
  return outcome;
}

static const double pi_digits[] = {3, 1, 4, 1, 5, 9, 2, 6};

RG_TEST(orders_of_eight_evaluations)
{
  static const struct {
    int workers;
    RgRelease release;
    double end, idle;
    const char *rows;
  } cases[] = {
    {1, RG_RELEASE_SYNC, 31, 0,
     "1@1[0,3] 2@1[3,4] 3@1[4,8] 4@1[8,9] 5@1[9,14] 6@1[14,23] 7@1[23,25] 8@1[25,31]"},
    {1, RG_RELEASE_ASYNC, 31, 0,
     "1@1[0,3] 2@1[3,4] 3@1[4,8] 4@1[8,9] 5@1[9,14] 6@1[14,23] 7@1[23,25] 8@1[25,31]"},
    {2, RG_RELEASE_SYNC, 22, 13,
     "1@1[0,3] 2@2[0,1]t3 3@1[3,7] 4@2[3,4]t7 5@1[7,12]t16 6@2[7,16] 7@1[16,18]t22 8@2[16,22]"},
    {2, RG_RELEASE_ASYNC, 17, 3,
     "2@2[0,1] 1@1[0,3] 4@1[3,4] 3@2[1,5] 5@1[4,9] 7@1[9,11] 6@2[5,14] 8@1[11,17]"},
    {4, RG_RELEASE_SYNC, 13, 21,
     "1@1[0,3]t4 2@2[0,1]t4 3@3[0,4] 4@4[0,1]t4 5@1[4,9]t13 6@2[4,13] 7@3[4,6]t13 8@4[4,10]t13"},
    {4, RG_RELEASE_ASYNC, 10, 9,
     "2@2[0,1] 4@4[0,1] 1@1[0,3] 3@3[0,4] 7@1[3,5] 5@2[1,6] 6@4[1,10] 8@3[4,10]"},
  };

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    Host host = host_of(8, pi_digits);
    const RgCrewOutcome outcome =
      expect(&host, (RgCrewOptions){.workers = cases[c].workers, .release = cases[c].release},
             cases[c].rows);
    assert_int_equal(outcome.makespan, units(cases[c].end));
    assert_int_equal(host.rows[7].idle, units(cases[c].idle));
    assert_int_equal(outcome.in_flight + outcome.lost + outcome.deserted + outcome.hopeless, 0);
  }
}

RG_TEST(what_a_query_sees_pending)
{
  Host host = host_of(8, pi_digits);

  run(&host, (RgCrewOptions){.workers = 2});
  assert_string_equal(host.seen, "- 1 1 3 3 5 6 6 ");
  run(&host, (RgCrewOptions){.workers = 4, .release = RG_RELEASE_SYNC});
  assert_string_equal(host.seen, "- 1 12 123 - 5 56 567 ");
}

RG_TEST(ties_and_zero_durations)
{
  Host ties = host_of(5, (double[]){2, 2, 1, 1, 1}), zero = host_of(3, (double[]){0, 0, 0});
  Host tenths = host_of(6, (double[]){0.3, 0.1, 0.1, 0.1, 1, 1}), few = host_of(3, pi_digits);

  expect(&ties, (RgCrewOptions){.workers = 2}, "1@1[0,2] 2@2[0,2] 3@1[2,3] 4@2[2,3] 5@1[3,4]");
  expect(&tenths, (RgCrewOptions){.workers = 2},
         "2@2[0,0.1] 3@2[0.1,0.2] 1@1[0,0.3] 4@2[0.2,0.3] 5@1[0.3,1.3] 6@2[0.3,1.3]");
  expect(&zero, (RgCrewOptions){.workers = 2}, "1@1[0,0] 2@2[0,0] 3@1[0,0]");
  expect(&few, (RgCrewOptions){.workers = 9}, "2@2[0,1] 1@1[0,3] 3@3[0,4]");
}

RG_TEST(workers_die_and_return)
{
  Host host = host_of(4, (double[]){3, 4, 1, 2}), never = host_of(4, pi_digits);

  host.death[2] = units(2.5);
  host.repair = units(1);
  assert_int_equal(run(&host, (RgCrewOptions){.workers = 2}).lost, 1);
  assert_string_equal(show(&host), "1@1[0,3] 3@2[3.5,4.5] 2@1[3,5] 4@2[4.5,6.5]");
  assert_int_equal(host.rows[2].attempts, 2);
  expect(&host, (RgCrewOptions){.workers = 2, .lost = RG_LOST_FAIL},
         "2@2[0,2.5]L 1@1[0,3] 3@1[3,4] 4@2[3.5,5.5]");
  never.death[2] = units(1); /* an evaluation that ends in this instant counts */
  expect(&never, (RgCrewOptions){.workers = 2}, "2@2[0,1] 1@1[0,3] 3@1[3,7] 4@1[7,8]");
}

RG_TEST(a_run_without_workers_or_hope_ends)
{
  Host host = host_of(8, pi_digits);

  host.death[1] = units(3.5);
  host.death[2] = units(4.5);
  const RgCrewOutcome outcome =
    run(&host, (RgCrewOptions){.workers = 2, .release = RG_RELEASE_SYNC});
  assert_true(outcome.deserted);
  assert_string_equal(show(&host), "1@1[0,3] 2@2[0,1]t3 4@2[3,4]t4.5"); /* finished rows are kept */
  assert_int_equal(outcome.in_flight, 1);

  host.death[1] = host.death[2] = 0;
  host.death[1] = 1;
  host.repair = 0;
  host.second = units(1e9) + 1; /* longer than any later life */
  assert_int_equal(run(&host, (RgCrewOptions){.workers = 1}).hopeless, 1);
  assert_int_equal(host.n_rows, 0);
}

RG_TEST(limits_of_an_evaluation_and_of_the_run)
{
  Host host = host_of(8, pi_digits);

  expect(&host, (RgCrewOptions){.workers = 2, .longest = units(4)},
         "2@2[0,1] 1@1[0,3] 4@1[3,4] 3@2[1,5] 5@1[4,8]F 6@2[5,9]F 7@1[8,10] 8@2[9,13]F");
  RgCrewOutcome outcome = run(&host, (RgCrewOptions){.workers = 2, .time = units(8)});
  assert_string_equal(show(&host), "2@2[0,1] 1@1[0,3] 4@1[3,4] 3@2[1,5]");
  assert_int_equal(outcome.in_flight, 2);
  assert_int_equal(outcome.makespan, units(5));
  outcome = run(&host, (RgCrewOptions){.workers = 4, .release = RG_RELEASE_SYNC, .time = units(7)});
  assert_string_equal(show(&host), "1@1[0,3]t4 2@2[0,1]t4 3@3[0,4] 4@4[0,1]t4 7@3[4,6]t7");
  assert_int_equal(outcome.in_flight, 3);
}

RG_TEST(a_method_that_thinks)
{
  Host host = host_of(4, pi_digits);

  host.thought = units(0.5);
  expect(&host, (RgCrewOptions){.workers = 2}, "2@2[1,2] 1@1[0.5,3.5] 4@1[4,5] 3@2[2.5,6.5]");
  assert_string_equal(host.seen, "- 1 1 3 ");
  /* Three ask at 0; the second ask begins at 2, when the first is told. */
  Host slow = host_of(3, (double[]){1, 1, 1});
  slow.thought = units(2);
  expect(&slow, (RgCrewOptions){.workers = 3}, "1@1[2,3] 2@2[4,5] 3@3[6,7]");
  assert_string_equal(slow.seen, "- 1 2 ");
  /* Its worker dies while the method thinks: the query goes to the next idle worker. The request of
     worker 1, made at 3, stands. */
  Host dying = host_of(3, (double[]){1, 1, 1});
  dying.thought = units(2);
  dying.death[2] = units(3);
  expect(&dying, (RgCrewOptions){.workers = 2}, "1@1[2,3] 3@1[6,7] 2@1[7,8]");
  dying.death[2] = units(1); /* while it waits for the method */
  expect(&dying, (RgCrewOptions){.workers = 2}, "1@1[2,3] 2@1[5,6] 3@1[8,9]");
}

RG_TEST(an_initial_design_on_the_workers)
{
  Host host = host_of(6, (double[]){4, 1, 2, 1, 1, 1});

  expect(&host, (RgCrewOptions){.workers = 2, .n_initial = 3},
         "2@2[0,1] 3@2[1,3] 1@1[0,4] 4@1[4,5] 5@2[4,5] 6@1[5,6]");
  expect(&host, (RgCrewOptions){.workers = 2, .n_initial = 3, .release = RG_RELEASE_SYNC},
         "2@2[0,1] 3@2[1,3] 1@1[0,4] 4@1[4,5] 5@2[4,5] 6@1[5,6]");
  expect(&host, (RgCrewOptions){.workers = 2, .n_initial = 3, .overlap = true},
         "2@2[0,1] 3@2[1,3] 1@1[0,4] 4@2[3,4] 5@1[4,5] 6@2[4,5]");
  assert_string_equal(host.seen, "- 1 1 1 - 5 ");
  expect(&host,
         (RgCrewOptions){.workers = 2, .n_initial = 3, .overlap = true, .release = RG_RELEASE_SYNC},
         "2@2[0,1] 3@2[1,3] 1@1[0,4] 4@1[4,5] 5@2[4,5] 6@1[5,6]");
  /* Three evaluations were reported before the start. */
  expect(&host, (RgCrewOptions){.workers = 2, .first = 4, .n_initial = 3},
         "4@1[0,1] 5@2[0,1] 6@1[1,2]");
}

/* Without deaths and thinking every tick of every worker is idle or evaluates; under async no
   submission finishes later than under sync. */
RG_TEST(all_ticks_are_accounted_for)
{
  const RgStream stream = rg_stream(1, "crew", 0, "cases", 0);

  for (int r = 0; r < 2000; r++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)r);
    const int n = 1 + (int)rg_random_below(&random, 29),
              workers = 1 + (int)rg_random_below(&random, 8);
    const double digits = pow(10, (double)rg_random_below(&random, 4));
    int64_t end[2][32];
    Host host = {.n = n};
    int64_t sum = 0;
    for (int s = 1; s <= n; s++) {
      host.ticks[s] = units(round(digits * rg_random_exponential(&random)) / digits);
      sum += host.ticks[s];
    }
    for (int k = 0; k < 2; k++) {
      const RgCrewOutcome outcome =
        run(&host,
            (RgCrewOptions){.workers = workers, .release = k ? RG_RELEASE_SYNC : RG_RELEASE_ASYNC});
      assert_int_equal(host.n_rows, n);
      assert_int_equal(host.rows[n - 1].idle + sum, workers * outcome.makespan);
      for (int i = 0; i < n; i++) end[k][host.rows[i].submission] = host.rows[i].finished;
    }
    for (int s = 1; s <= n; s++) assert_true(end[0][s] <= end[1][s]);
  }
}

/* Laws of mean 1, with the expected largest of 2, 4, 8 and 16 durations. */
static const struct {
  const char *law;
  double largest[4];
} laws[] = {
  {"uniform(0, 2)", {1.3333333333, 1.6, 1.7777777778, 1.8823529412}},
  {"halfnormal(1.2533141373155001)", {1.4142135624, 1.8357642865, 2.2351191707, 2.6033897403}},
  {"exponential(1)", {1.5, 2.0833333333, 2.7178571429, 3.3807289932}},
  {"pareto(5, 0.8)", {1.1111111111, 1.2531328321, 1.4257180372, 1.6297100560}}};
enum { UNIFORM, HALF_NORMAL, EXPONENTIAL, PARETO, LAWS };

static void read_law(int k, RgDistribution *law)
{
  RgText mistake = {0};

  RG_OK(rg_times_read(laws[k].law, law, &mistake));
  if (mistake.length) fail_msg("%s: %s", laws[k].law, mistake.data);
}

/* The integral of the quantiles of the largest; 1 - s^3 softens the end of the range. */
RG_TEST(largest_of_several_durations)
{
  enum { STEPS = 40000 };

  for (int k = 0; k < LAWS; k++) {
    RgDistribution law;
    read_law(k, &law);
    for (int w = 0; w < 4; w++) {
      const double workers = 2 << w;
      double sum = 0;
      for (int i = 0; i < STEPS; i++) {
        const double s = (i + 0.5) / STEPS, v = 1 - s * s * s;
        sum += 3 * s * s * rg_distribution_quantile(&law, pow(v, 1 / workers)) / STEPS;
      }
      RG_CLOSE(sum, laws[k].largest[w], 1e-5);
    }
    RG_OK(rg_distribution_destroy(&law));
  }
}

/* Mean number of evaluations of four workers until `limit`, and the mean idle share of runs without
   limit. */
static void average(int k, RgRelease release, int n, double limit, double *rows, double *share)
{
  const RgStream stream = rg_stream(1, "crew", 0, "averages", 0);
  enum { RUNS = 200 };
  RgDistribution law;

  read_law(k, &law);
  *rows = *share = 0;
  for (int r = 0; r < RUNS; r++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)r);
    static Host host;
    host = (Host){.n = n};
    for (int s = 1; s <= n; s++)
      host.ticks[s] = units(rg_distribution_quantile(&law, rg_random_uniform(&random)));
    const RgCrewOutcome outcome =
      run(&host,
          (RgCrewOptions){.workers = 4, .release = release, .time = limit > 0 ? units(limit) : -1});
    *rows += (double)host.n_rows / RUNS;
    *share += (double)host.rows[host.n_rows - 1].idle / (4.0 * (double)outcome.makespan) / RUNS;
  }
  RG_OK(rg_distribution_destroy(&law));
}

/* Renewal theory: the mean number of evaluations by T is W (T + E X^2/2 - 1). */
RG_TEST(expected_times)
{
  static const double squares[] = {4.0 / 3, 1.5707963268, 2, 1.0666666667};
  double rows, share;

  for (int k = 0; k < LAWS; k++) {
    average(k, RG_RELEASE_SYNC, 200, 0, &rows, &share);
    RG_CLOSE(share, 1 - 1 / laws[k].largest[1], 0.013);
    average(k, RG_RELEASE_ASYNC, 200, 0, &rows, &share);
    assert_true(share < 0.04);
    average(k, RG_RELEASE_ASYNC, 250, 30, &rows, &share);
    RG_CLOSE(rows, 4 * (30 + squares[k] / 2 - 1), 0.015);
  }
  /* an independent simulator, with errors of 0.42 to 0.46 */
  average(EXPONENTIAL, RG_RELEASE_SYNC, 250, 30, &rows, &share);
  RG_CLOSE(rows, 58.27, 0.03);
  average(HALF_NORMAL, RG_RELEASE_SYNC, 250, 30, &rows, &share);
  RG_CLOSE(rows, 65.6, 0.03);
  average(UNIFORM, RG_RELEASE_SYNC, 250, 30, &rows, &share);
  RG_CLOSE(rows, 74.6, 0.03);
}
