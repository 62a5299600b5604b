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

typedef struct {
  char folder[64], output[128];
  RgStudy study;
  RgPlan plan;
  int n_begin, n_messages, last_total, polls, stop_after; /* stop_after: polls; 0: never */
  bool saw_last;
  char message[512];
  RgRunReport begin;
} Frame;

static void note_begin(void *closure, const RgRunReport *report)
{
  Frame *f = closure;
  f->n_begin++;
  f->begin = *report;
}

static void note_progress(void *closure, const RgProgress *progress, bool last)
{
  Frame *f = closure;
  f->last_total = progress->n_total;
  f->saw_last = last;
}

static void note_message(void *closure, int rank, const char *words)
{
  Frame *f = closure;
  assert_int_equal(rank, -1);
  snprintf(f->message, sizeof(f->message), "%s", words);
  f->n_messages++;
}

static bool ask(void *closure)
{
  Frame *f = closure;
  return f->stop_after && ++f->polls > f->stop_after;
}

static void open_study(Frame *f, const char *words)
{
  memset(f, 0, sizeof(*f));
  scratch_create(f->folder);
  snprintf(f->output, sizeof(f->output), "%s/out.h5", f->folder);
  plan_study(words, &f->study, &f->plan);
}

static void close_study(Frame *f)
{
  RG_OK(rg_plan_clear(&f->plan));
  RG_OK(rg_study_destroy(&f->study));
  scratch_remove(f->folder);
}

static RgRunReport run(Frame *f)
{
  const RgRunOptions options = {.output = f->output};
  const RgObserver observer = {.closure = f,
                               .begin = note_begin,
                               .progress = note_progress,
                               .message = note_message,
                               .stop = ask};
  RgRunReport report;

  RG_OK(rg_run(PETSC_COMM_SELF, &f->plan, &options, &observer, &report));
  return report;
}

static void expect(const RgRunReport *report, RgRunOutcome outcome, int n_earlier, int n_finished)
{
  assert_int_equal(report->outcome, outcome);
  assert_int_equal(report->n_earlier, n_earlier);
  assert_int_equal(report->n_finished, n_finished);
}

RG_TEST(observer_is_told_of_a_run)
{
  Frame f;

  open_study(&f, text);
  RgRunReport report = run(&f);
  expect(&report, RG_RUN_COMPLETE, 0, 3);
  assert_int_equal(report.n_trials, 3);
  assert_int_equal(f.n_begin, 1);
  assert_int_equal(f.begin.n_trials, 3);
  assert_int_equal(f.last_total, 3);
  assert_true(f.saw_last);
  assert_int_equal(f.n_messages, 0);
  report = run(&f);
  expect(&report, RG_RUN_COMPLETE, 3, 0);
  close_study(&f);
}

RG_TEST(nobody_needs_to_watch)
{
  Frame f;
  RgRunReport report;

  open_study(&f, text);
  const RgRunOptions options = {.output = f.output};
  RG_OK(rg_run(PETSC_COMM_SELF, &f.plan, &options, NULL, &report));
  assert_int_equal(report.outcome, RG_RUN_COMPLETE);
  close_study(&f);
}

RG_TEST(observer_stops_and_the_next_call_goes_on)
{
  Frame f;
  RgStoreInfo info[2];
  RgFault fault;

  for (int stopped = 0; stopped < 2; stopped++) {
    open_study(&f, text);
    f.stop_after = stopped ? 10 : 0; /* polls: in the second trial */
    RgRunReport report = run(&f);
    if (stopped) {
      assert_int_equal(report.outcome, RG_RUN_STOPPED);
      assert_int_equal(report.stop, RG_STOP_OBSERVER);
      assert_true(report.n_finished > 0 && report.n_finished < 3);
      const int before = report.n_finished;
      f.stop_after = 0;
      report = run(&f);
      expect(&report, RG_RUN_COMPLETE, before, 3 - before);
    }
    assert_int_equal(report.outcome, RG_RUN_COMPLETE);
    RG_OK(rg_store_info(f.output, &info[stopped], &fault));
    assert_int_equal(fault.code, RG_FAULT_NONE);
    close_study(&f);
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
  Frame f;

  open_study(&f,
             "study: run\n"
             "seeds: 1000000\n"
             "common: {iterations: 2, initial_points: 3}\n"
             "problems: [branin, six_hump_camel, {name: sphere, dim: 2}, {name: ackley, dim: 2},"
             " {name: ackley, label: Ackley 3, dim: 3}]\n"
             "algorithms: [random, ei]\n");
  f.stop_after = 40;
  RgRunReport report = run(&f);
  assert_int_equal(report.outcome, RG_RUN_STOPPED);
  assert_int_equal(report.n_trials, 10000000);
  assert_true(report.n_finished > 0 && report.n_finished < 40);
  const int finished = report.n_finished;
  f.polls = 0;
  report = run(&f);
  assert_int_equal(report.n_earlier, finished);
  assert_true(report.n_finished > 0);
  close_study(&f);
  assert_true(peak_memory() - before < most_memory);
}

RG_TEST(what_cannot_be_is_refused)
{
  static const char team_text[] = "study: run\n"
                                  "common: {iterations: 4, ranks_per_trial: 2}\n"
                                  "problems: [branin]\n"
                                  "algorithms: [random]\n";
  Frame f;

  for (int taken = 0; taken < 2; taken++) { /* a team that is too large; another file's name */
    open_study(&f, taken ? text : team_text);
    if (taken) scratch_write(f.output, "something else", 14);
    const RgRunReport report = run(&f);
    expect(&report, RG_RUN_REFUSED, 0, 0);
    assert_int_equal(f.n_messages, 1);
    assert_int_equal(f.n_begin, 0);
    assert_string_equal(f.message, report.message);
    if (!taken) {
      assert_non_null(strstr(report.message, "ranks_per_trial: 2 is more than the 1 rank"));
      assert_int_equal(scratch_count(f.folder, ""), 0);
    }
    close_study(&f);
  }
}
