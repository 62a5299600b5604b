/* rg_run: a study run by a program, its observer and its report. */
#include "study_text.h"

#include <sys/resource.h>

#include "regatta/run.h"
#include "scratch.h"
#include "study/store/store.h"

static const char text[] = "study: run\n"
                           "seeds: 3\n"
                           "common: {iterations: 4, initial_points: 3}\n"
                           "problems: [branin]\n"
                           "algorithms: [random]\n";

/* The events that the observer of the study got. */
static struct {
  int n_begin, n_messages, last_total, polls, stop_after; /* stop_after: polls; 0: never */
  bool saw_last;
  char message[512];
  RgRunReport begin;
} told;

static char folder[64], output[128];
static RgStudy study;
static RgPlan plan;

static void note_begin(void *closure, const RgRunReport *report)
{
  told.n_begin++;
  told.begin = *report;
}

static void note_progress(void *closure, const RgProgress *progress, bool last)
{
  told.last_total = progress->n_total;
  told.saw_last = last;
}

static void note_message(void *closure, int rank, const char *words)
{
  assert_int_equal(rank, -1);
  snprintf(told.message, sizeof(told.message), "%s", words);
  told.n_messages++;
}

static bool asks_for_stop(void *closure)
{
  return told.stop_after && ++told.polls > told.stop_after;
}

static const RgObserver observer = {
  .begin = note_begin, .progress = note_progress, .message = note_message, .stop = asks_for_stop};

static void open_study(const char *words)
{
  memset(&told, 0, sizeof(told));
  scratch_create(folder);
  snprintf(output, sizeof(output), "%s/out.h5", folder);
  plan_study(words, &study, &plan);
}

static void close_study(void)
{
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
  scratch_remove(folder);
}

static RgRunReport run(const RgObserver *by)
{
  const RgRunOptions options = {.output = output};
  RgRunReport report;

  RG_OK(rg_run(PETSC_COMM_SELF, &plan, &options, by, &report));
  return report;
}

/* Run the study on, and check the end. */
static void expect(RgRunOutcome outcome, int n_earlier, int n_finished)
{
  const RgRunReport report = run(&observer);

  assert_int_equal(report.outcome, outcome);
  assert_int_equal(report.n_earlier, n_earlier);
  assert_int_equal(report.n_finished, n_finished);
}

RG_TEST(observer_is_told_of_a_run)
{
  open_study(text);
  expect(RG_RUN_COMPLETE, 0, 3);
  assert_int_equal(told.n_begin, 1);
  assert_int_equal(told.begin.n_trials, 3);
  assert_int_equal(told.last_total, 3);
  assert_true(told.saw_last);
  assert_int_equal(told.n_messages, 0);
  expect(RG_RUN_COMPLETE, 3, 0);
  close_study();
}

RG_TEST(nobody_needs_to_watch)
{
  open_study(text);
  const RgRunReport report = run(NULL);
  assert_int_equal(report.outcome, RG_RUN_COMPLETE);
  assert_int_equal(report.n_trials, 3);
  close_study();
}

RG_TEST(observer_stops_and_the_next_call_goes_on)
{
  RgStoreInfo info[2];
  RgFault fault;

  for (int stopped = 0; stopped < 2; stopped++) {
    int before = 0;
    open_study(text);
    if (stopped) {
      told.stop_after = 10; /* polls: in the second trial */
      const RgRunReport report = run(&observer);
      assert_int_equal(report.outcome, RG_RUN_STOPPED);
      assert_int_equal(report.stop, RG_STOP_OBSERVER);
      assert_in_range(report.n_finished, 1, 2);
      before = report.n_finished;
      told.stop_after = 0;
    }
    expect(RG_RUN_COMPLETE, before, 3 - before);
    RG_OK(rg_store_info(output, &info[stopped], &fault));
    assert_int_equal(fault.code, RG_FAULT_NONE);
    close_study();
  }
  assert_string_equal(info[0].checksum, info[1].checksum);
  for (int i = 0; i < 2; i++) RG_OK(rg_store_info_clear(&info[i]));
}

/* The peak memory of this process so far, in bytes. */
static double peak_memory(void)
{
  struct rusage usage;

  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

#ifdef RG_SANITIZED
static const double most_memory = 400e6; /* up to 256 MB of freed memory stay there for a while */
#else
static const double most_memory =
  160e6; /* 12 bytes per trial while the order is drafted, and marks */
#endif

/* A large study begins and goes on at once: its trials are numbered, not stored. */
RG_TEST(ten_million_trials)
{
  const double before = peak_memory();

  open_study("study: run\n"
             "seeds: 1000000\n"
             "common: {iterations: 2, initial_points: 3}\n"
             "problems: [branin, six_hump_camel, {name: sphere, dim: 2}, {name: ackley, dim: 2},"
             " {name: ackley, label: Ackley 3, dim: 3}]\n"
             "algorithms: [random, ei]\n");
  told.stop_after = 40;
  RgRunReport report = run(&observer);
  assert_int_equal(report.outcome, RG_RUN_STOPPED);
  assert_int_equal(report.n_trials, 10000000);
  assert_in_range(report.n_finished, 1, 39);
  const int finished = report.n_finished;
  told.polls = 0;
  report = run(&observer);
  assert_int_equal(report.n_earlier, finished);
  assert_true(report.n_finished > 0);
  close_study();
  assert_true(peak_memory() - before < most_memory);
}

RG_TEST(what_cannot_be_is_refused)
{
  static const char team_text[] = "study: run\n"
                                  "common: {iterations: 4, ranks_per_trial: 2}\n"
                                  "problems: [branin]\n"
                                  "algorithms: [random]\n";

  for (int taken = 0; taken < 2; taken++) { /* a team that is too large; another file's name */
    open_study(taken ? text : team_text);
    if (taken) scratch_write(output, "something else", 14);
    const RgRunReport report = run(&observer);
    assert_int_equal(report.outcome, RG_RUN_REFUSED);
    assert_int_equal(told.n_messages, 1);
    assert_int_equal(told.n_begin, 0);
    assert_string_equal(told.message, report.message);
    if (!taken) {
      assert_non_null(strstr(report.message, "ranks_per_trial: 2 is more than the 1 rank"));
      assert_int_equal(scratch_count(folder, ""), 0);
    }
    close_study();
  }
}
