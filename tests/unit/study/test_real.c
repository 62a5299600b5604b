/* Trials on the real clock, with programs that are functions here: kills at every call, replays,
   and answers that go wrong. */
#include "study_text.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "scratch.h"
#include "study/store/timeline.h"
#include "study/trial/trial.h"
#include "trial_at.h"

enum { MOST = 40, WORKERS = 4, KILLED = 9 };

/* The data that survive a kill. */
typedef struct {
  int asked[MOST], answered[MOST]; /* by submission */
  int kills;
} Notes;

/* The programs of a run: they answer in any order. */
typedef struct {
  Notes *notes;
  uint32_t random;
  int calls, last;      /* the process dies at call `last`; 0: it lives */
  long id[WORKERS + 1]; /* id of the open question; 0: no question */
  int submission[WORKERS + 1];
  double x[WORKERS + 1];
  int fails_at, fails,
    silent_at;       /* submission that fails; how often it fails; submission that never ends */
  const char *wrong; /* answer of the failing submission; NULL: the program ends */
  bool dropped;
  char line[100];
} Programs;

static uint32_t draw(Programs *p, uint32_t below)
{
  p->random = p->random * 1664525u + 1013904223u;
  return (p->random >> 16) % below;
}

static void count_call(Programs *p)
{
  if (++p->calls != p->last) return;
  p->notes->kills++;
  _exit(KILLED);
}

static double number(const char *line, const char *name)
{
  const char *at = strstr(line, name);

  if (!at) fail_msg("no %s in %s", name, line);
  return atof(at + strlen(name));
}

static PetscErrorCode ask(void *closure, int worker, const RgExchange *question)
{
  Programs *p = closure;
  const char *line = question->line.data;

  count_call(p);
  assert_int_equal(p->id[worker], 0);
  assert_int_equal(number(line, "\"worker\":"), worker);
  assert_int_equal(number(line, "\"attempt\":"), question->attempt);
  p->id[worker] = (long)number(line, "\"id\":");
  p->submission[worker] = (int)number(line, "\"evaluation\":");
  p->x[worker] = number(line, "\"a\":");
  p->notes->asked[p->submission[worker]]++;
  return 0;
}

static PetscErrorCode wait_for(void *closure, double seconds, RgProgramAnswer *reply)
{
  Programs *p = closure;
  const int w = 1 + (int)draw(p, WORKERS);

  count_call(p);
  *reply = (RgProgramAnswer){0};
  if (!p->id[w] || p->submission[w] == p->silent_at || (seconds == 0 && draw(p, 2))) return 0;
  reply->worker = w;
  if (p->submission[w] == p->fails_at && p->fails-- > 0) {
    if (p->wrong) snprintf(p->line, sizeof p->line, p->wrong, p->id[w]);
    reply->answer = p->wrong ? p->line : NULL;
    reply->mistake = "was ended by signal 9";
  } else {
    snprintf(p->line, sizeof p->line, "{\"id\":%ld,\"value\":%.17g}", p->id[w],
             -(p->x[w] - 0.3) * (p->x[w] - 0.3));
    reply->answer = p->line;
    p->notes->answered[p->submission[w]]++;
  }
  reply->length = reply->answer ? strlen(reply->answer) : 0;
  p->id[w] = 0;
  return 0;
}

static PetscErrorCode drop(void *closure, int worker)
{
  Programs *p = closure;

  p->id[worker] = 0;
  p->dropped = true;
  return 0;
}

/* ---- a trial --------------------------------------------------------------------------------- */

typedef struct {
  const RgStudy *study;
  RgTrial trial;
  RgRecord record; /* of `run` */
  char folder[64];
  Notes *notes;
} Fixture;

static Fixture begin(const char *settings, const char *method)
{
  const bool ei = strcmp(method, "random") != 0;
  const RgPlan *plan =
    plan_of("study: real\ncommon: {iterations: 10, initial_points: 3, clock: real, %s}\n"
            "problems: [{name: external, program: /bin/true, inputs: [a real 0 1], retries: 2}]\n"
            "algorithms: [%s]\n",
            settings, ei ? "{name: ei, maximiser: {raw_samples: 64, restarts: 1}}" : method);
  Fixture f = {.study = plan->study, .trial = trial_at(plan, 0)};

  if (!access("/dev/shm", W_OK)) setenv("TMPDIR", "/dev/shm", 1); /* fsync takes no time there */
  scratch_create(f.folder);
  f.notes = mmap(NULL, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memset(f.notes, 0, sizeof(Notes));
  return f;
}

static void end(Fixture *f)
{
  RG_OK(rg_record_destroy(&f->record));
  scratch_remove(f->folder);
  munmap(f->notes, sizeof(Notes));
}

static bool run(Fixture *f, Programs *programs, RgStopFunction stop)
{
  const RgPrograms calls = {programs, ask, wait_for, drop, NULL};
  RgTrialServices host = {.directory = f->folder, .programs = &calls, .stop = stop};
  bool stopped;

  programs->notes = f->notes;
  RG_OK(rg_trial_run(f->study, &f->trial, &host, &f->record, &stopped));
  return !stopped;
}

/* The trial again, from its record alone. */
static void replay(const Fixture *f, const char *timeline, RgRecord *again)
{
  const RgRecord *record = &f->record;
  const double *submission = record->column[RG_COLUMN_SUBMISSION];
  RgEvaluationLog *known;
  RgFault fault = {0};
  bool stopped;

  RG_OK(rg_evaluation_log_open(NULL, RG_FOLDER_EVALUATIONS, f->trial.id, NULL, 1, 0, 0, &known));
  for (int row = 0; row < record->n_rows; row++)
    RG_OK(rg_evaluation_log_add(known, (int)submission[row], &record->column[RG_COLUMN_X][row],
                                NULL, record->column[RG_COLUMN_F][row], NULL, 0, &fault));
  RgTrialServices host = {.known = known, .timeline = timeline};
  RG_OK(rg_trial_run(f->study, &f->trial, &host, again, &stopped));
  assert_false(stopped);
  RG_OK(rg_evaluation_log_close(&known));
}

static void expect_replay(const Fixture *f)
{
  const RgRecord *record = &f->record;
  const int times[] = {RG_COLUMN_WALL_DISPATCHED, RG_COLUMN_WALL_FINISHED, RG_COLUMN_WALL_TOLD};
  RgRecord again = {0};
  uint64_t a[2], b[2];

  assert_int_equal(record->status, RG_STATUS_COMPLETE);
  assert_int_equal(record->n_rows, 13);
  replay(f, record->timeline, &again);
  if (again.status != RG_STATUS_COMPLETE) fail_msg("%s", again.message);
  RG_OK(rg_record_checksum(record, a));
  RG_OK(rg_record_checksum(&again, b));
  assert_memory_equal(a, b, sizeof a);
  assert_string_equal(again.timeline, record->timeline);
  for (int c = 0; c < 3; c++)
    assert_memory_equal(again.column[times[c]], record->column[times[c]], 13 * sizeof(double));
  assert_true(again.gap == record->gap && again.makespan == record->makespan);
  RG_OK(rg_record_destroy(&again));
}

static double at(const RgRecord *record, int column, int row)
{
  return record->column[column][row];
}

static int row_of(const RgRecord *record, int submission)
{
  for (int row = 0; row < record->n_rows; row++)
    if (at(record, RG_COLUMN_SUBMISSION, row) == submission) return row;
  fail_msg("submission %d was not told", submission);
  return -1;
}

/* ---- order ----------------------------------------------------------------------------------- */

static const char *const settings[] = {"workers: 1", "workers: 3", "workers: 4, release: sync",
                                       "workers: 4, start: design"};

RG_TEST(a_record_replays_its_trial)
{
  for (uint32_t k = 0; k < 8; k++) {
    Fixture f = begin(settings[k % 4], k < 4 ? "ei" : "random");
    Programs programs = {.random = k};
    assert_true(run(&f, &programs, NULL));
    expect_replay(&f);
    for (int row = 0; row < 13; row++) {
      assert_true(at(&f.record, RG_COLUMN_WALL_DISPATCHED, row) <=
                  at(&f.record, RG_COLUMN_WALL_FINISHED, row));
      assert_true(at(&f.record, RG_COLUMN_WALL_FINISHED, row) <=
                  at(&f.record, RG_COLUMN_WALL_TOLD, row));
      assert_true(isnan(at(&f.record, RG_COLUMN_FINISHED, row)));
      assert_int_equal(f.notes->asked[row + 1], 1);
    }
    assert_true(f.record.idle_share >= 0 && f.record.idle_share < 1);
    end(&f);
  }
}

/* Equal orders have equal checksums, whatever the times. */
RG_TEST(times_are_in_no_checksum)
{
  uint64_t sums[2][2];
  double ends[2];

  for (int k = 0; k < 2; k++) {
    Fixture f = begin("workers: 3", "random");
    Programs programs = {.random = 5};
    assert_true(run(&f, &programs, NULL));
    RG_OK(rg_record_checksum(&f.record, sums[k]));
    ends[k] = f.record.makespan;
    end(&f);
  }
  assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
  assert_true(ends[0] != ends[1]);
}

/* ---- kills ----------------------------------------------------------------------------------- */

/* The files that must not change after a kill: the log of evaluations, and the timeline. */
static void read_logs(const Fixture *f, bool known[MOST], RgText *text)
{
  RgTimeline timeline;
  RgEvaluationLog *log;

  RG_OK(rg_evaluation_log_open(f->folder, RG_FOLDER_EVALUATIONS, f->trial.id, NULL, 1, 0, 0, &log));
  for (int s = 1; s < MOST; s++) known[s] = rg_evaluation_log_find(log, s, NULL, NULL) != NULL;
  RG_OK(rg_evaluation_log_close(&log));
  RG_OK(rg_timeline_open(f->folder, f->trial.id, 3, &timeline));
  RG_OK(rg_text_clear(text));
  RG_OK(rg_timeline_write(&timeline, text));
  RG_OK(rg_timeline_clear(&timeline));
}

static void expect_prefix(const char *part, const char *whole)
{
  if (part && strncmp(part, whole, strlen(part)))
    fail_msg("%s\nis no beginning of\n%s", part, whole);
}

/* One run in a process of its own; true if it was killed. */
static bool run_and_die(Fixture *f, uint32_t random, int last)
{
  const pid_t child = fork();
  int status;

  if (!child) {
    Programs programs = {.random = random, .last = last};
    _exit(run(f, &programs, NULL) ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == KILLED || !WEXITSTATUS(status)));
  return WEXITSTATUS(status) == KILLED;
}

/* Kill a trial again and again, at calls that the seed chooses, and finish it. */
static int kill_and_finish(const char *with, uint32_t seed)
{
  Fixture f = begin(with, "ei");
  Programs programs = {.random = seed};
  RgText text = {0}, before = {0};
  bool known[MOST] = {false};
  int asked[MOST];

  while (run_and_die(&f, draw(&programs, 1000), 1 + (int)draw(&programs, 25))) {
    for (int s = 1; s < MOST; s++)
      if (known[s]) assert_int_equal(f.notes->asked[s], asked[s]);
    memcpy(asked, f.notes->asked, sizeof asked);
    RG_OK(rg_text_clear(&before));
    before = text;
    text = (RgText){0};
    read_logs(&f, known, &text);
    if (before.length) expect_prefix(before.data, text.data);
  }
  assert_true(run(&f, &programs, NULL));
  expect_prefix(text.data, f.record.timeline);
  expect_replay(&f);
  for (int s = 1; s <= 13; s++) assert_in_range(f.notes->asked[s], 1, f.notes->kills + 1);
  RG_OK(rg_text_clear(&before));
  RG_OK(rg_text_clear(&text));
  const int kills = f.notes->kills;
  end(&f);
  return kills;
}

RG_TEST(no_kill_loses_an_answer)
{
  int kills = 0;

  for (uint32_t seed = 0; seed < 12; seed++) kills += kill_and_finish(settings[seed % 4], seed);
  assert_true(kills >= 40);
}

/* A kill at every call of one run. */
RG_TEST(a_kill_at_any_call)
{
  int last = 1;

  for (bool killed = true; killed; last++) {
    Fixture f = begin("workers: 3", "random");
    Programs programs = {.random = 3};
    killed = run_and_die(&f, 3, last);
    assert_true(run(&f, &programs, NULL));
    expect_replay(&f);
    assert_int_equal(f.record.gap > 0, killed);
    end(&f);
  }
  assert_true(last > 30);
}

/* Cut the newest log of the timeline before its last line of a kind; "": remove it. */
static void cut_timeline(const Fixture *f, const char *kind)
{
  char path[512], folder[128];
  size_t length;

  snprintf(folder, sizeof folder, "%s/timeline", f->folder);
  scratch_find(folder, ".log", path);
  if (!*kind) {
    assert_int_equal(unlink(path), 0);
    return;
  }
  char *text = (char *)scratch_read(path, &length), *last = NULL;
  text[length] = '\0';
  for (char *at = text; (at = strstr(at, kind)); at++) last = at;
  assert_non_null(last);
  while (last[-1] != '\n') last--;
  scratch_write(path, text, (size_t)(last - text));
  free(text);
}

/* Values that are logged are never asked for again: a kill came between the two logs, or the
   timeline is that of another run. A kill is no failure of a program. */
RG_TEST(values_without_their_events)
{
  for (int k = 0; k < 2; k++) {
    Fixture f = begin("workers: 3, crew: {lost: fail}", "random");
    Programs programs = {.random = 8};
    int asked[MOST], n = 0;
    bool known[MOST];
    RgText text = {0};
    for (int last = 30; !f.notes->kills || f.notes->asked[6] == 0; last++)
      (void)run_and_die(&f, 8, last);
    read_logs(&f, known, &text);
    memcpy(asked, f.notes->asked, sizeof asked);
    cut_timeline(&f, k ? "" : " end ");
    assert_true(run(&f, &programs, NULL));
    assert_int_equal(f.record.status, RG_STATUS_COMPLETE);
    for (int s = 1; s < MOST; s++) {
      if (!known[s]) continue;
      assert_int_equal(f.notes->asked[s], asked[s]);
      assert_int_equal(at(&f.record, RG_COLUMN_ATTEMPTS, row_of(&f.record, s)), 1);
      n++;
    }
    assert_true(n >= 4);
    RG_OK(rg_text_clear(&text));
    end(&f);
  }
}

/* ---- failures -------------------------------------------------------------------------------- */

static void expect_failure(const char *with, Programs programs, const char *message)
{
  Fixture f = begin(with, "random");

  assert_true(run(&f, &programs, NULL));
  assert_int_equal(f.record.status, RG_STATUS_FAILED);
  if (!strstr(f.record.message, message)) fail_msg("%s", f.record.message);
  end(&f);
}

RG_TEST(programs_that_fail)
{
  static const char *const wrong[] = {NULL, "{\"id\":%ld,\"error\":\"hot\"}", "{\"id\":%ld}", "?"};

  for (int k = 0; k < 4; k++) { /* two retries: the third attempt is the last one */
    Fixture f = begin("workers: 3", "ei");
    Programs programs = {.random = 2, .fails_at = 5, .fails = 2, .wrong = wrong[k]};
    assert_true(run(&f, &programs, NULL));
    expect_replay(&f);
    assert_int_equal(at(&f.record, RG_COLUMN_ATTEMPTS, row_of(&f.record, 5)), 3);
    assert_int_equal(f.record.lost, 2);
    assert_true(programs.dropped);
    end(&f);
  }
  const Programs thrice = {.random = 2, .fails_at = 5, .fails = 3};
  expect_failure("workers: 3", thrice,
                 "evaluation 5: external: /bin/true was ended by signal 9 (every");
  expect_failure("workers: 3, release: sync", thrice, "evaluation 5: external");
  expect_failure("workers: 3, crew: {lost: fail}",
                 (Programs){.random = 2, .fails_at = 5, .fails = 1}, "evaluation 5: external");
  expect_failure("workers: 3",
                 (Programs){.random = 2,
                            .fails_at = 5,
                            .fails = 1,
                            .wrong = "{\"id\":%ld,\"error\":\"out of range\",\"retry\":false}"},
                 "evaluation 5: external: /bin/true reports: out of range");
}

RG_TEST(failures_that_the_trial_tolerates)
{
  Fixture f = begin("workers: 3, on_failure: worst", "ei");
  Programs programs = {.random = 2, .fails_at = 5, .fails = 3};

  assert_true(run(&f, &programs, NULL));
  expect_replay(&f);
  assert_true(isnan(at(&f.record, RG_COLUMN_Y, row_of(&f.record, 5))));
  assert_non_null(strstr(f.record.failures, "5: external"));
  end(&f);
}

/* ---- forged timelines ------------------------------------------------------------------------ */

/* Copy a timeline with another event before its line `at`; the events are numbered again. */
static void insert_event(const char *timeline, int at, const char *event, char *forged, size_t size)
{
  size_t n = 0;
  int number = 1;

  for (int line = 1; *timeline; line++) {
    const char *rest = strchr(timeline, ' '), *end = strchr(timeline, '\n');
    if (line == at) n += (size_t)snprintf(forged + n, size - n, "%d %s\n", number++, event);
    n += (size_t)snprintf(forged + n, size - n, "%d%.*s\n", number++, (int)(end - rest), rest);
    timeline = end + 1;
  }
}

/* An idle worker has submission 0 and attempt 0: an event that says so must not count as one of
   its. No number of a forged event makes more than a failed trial. */
RG_TEST(forged_timelines_fail_their_trial)
{
  static const char *const numbers[] = {"0", "-1", "1", "14", "2147483647", "-2147483648"};
  Fixture f = begin("workers: 3", "random");
  RgRecord again = {0};
  Programs programs = {.random = 4};
  char forged[8192], event[160];
  int n = 0;

  assert_true(run(&f, &programs, NULL));
  for (int k = 0; k < 6 * 6 * 6 * 2; k++) {
    const char *tick = k % 5 == 4 ? "9223372036854775807" : "0";
    snprintf(event, sizeof event, "%s %s %s %s %s %s", k & 1 ? "end" : "lost", numbers[k / 2 % 6],
             numbers[k / 12 % 6], numbers[k / 72 % 6], tick, k % 7 == 6 ? numbers[5] : "0");
    insert_event(f.record.timeline, 2 + k % 24, event, forged, sizeof forged);
    replay(&f, forged, &again);
    n += again.status == RG_STATUS_FAILED;
    RG_OK(rg_record_destroy(&again));
  }
  assert_int_equal(n, 6 * 6 * 6 * 2);
  end(&f);
}

/* ---- stops and logs -------------------------------------------------------------------------- */

static int polls;

static bool stop_soon(__attribute__((unused)) void *closure)
{
  return ++polls > 6;
}

/* A stop waits for answers on their way, and the resumed trial does not ask for them again. */
RG_TEST(a_stop_waits_for_answers)
{
  Fixture f = begin("workers: 4", "random");
  Programs programs = {.random = 1};
  int before[MOST];

  polls = 0;
  assert_false(run(&f, &programs, stop_soon));
  memcpy(before, f.notes->asked, sizeof before);
  for (int s = 1; s < MOST; s++) assert_int_equal(f.notes->answered[s], before[s]);
  assert_true(run(&f, &programs, NULL));
  for (int s = 1; s <= 13; s++) assert_int_equal(f.notes->asked[s], 1);
  expect_replay(&f);
  end(&f);
}

/* Stop a trial, and rewrite the point of its last attempt, which has not ended. */
RG_TEST(a_logged_point_counts)
{
  Fixture f = begin("workers: 1", "ei");
  RgTimeline timeline;
  RgFault fault = {0};

  for (int last = 20; !f.notes->asked[6]; last++) (void)run_and_die(&f, 1, last);
  RG_OK(rg_timeline_open(f.folder, f.trial.id, 3, &timeline));
  RgTimelineEvent *event = &timeline.events[timeline.n - 1];
  assert_int_equal(event->kind, RG_TIMELINE_START);
  const int submission = event->submission;
  event->point[0] = 0.625;
  RG_OK(rg_timeline_add(&timeline, &(RgTimelineEvent){.kind = RG_TIMELINE_GAP, .tick = event->tick},
                        &fault));
  RG_OK(rg_timeline_clear(&timeline));
  Programs programs = {.random = 1};
  assert_true(run(&f, &programs, NULL));
  assert_true(at(&f.record, RG_COLUMN_X, row_of(&f.record, submission)) == 0.625);
  for (int k = 0; k < f.record.n_extra; k++)
    if (!strcmp(f.record.extra_name[k], "asked_otherwise"))
      for (int row = 0; row < 13; row++)
        assert_true(f.record.extra[k][row] == (row == row_of(&f.record, submission)));
  end(&f);
}

/* A timeline that is not the trial's is a mistake in one line, never a crash. */
RG_TEST(timelines_that_do_not_fit)
{
  static const char *const texts[] = {
    "",
    "1 begin 0 0 0 0 0\n",
    "1 start 1 1 2 5 0\n",
    "1 start 2 1 1 5 0\n",
    "1 end 1 1 1 5 5\n",
    "1 start 1 1 1 5 0\n2 start 2 1 2 4 0\n",
    "1 start 1 1 1 5 0\n2 start 2 1 2 6 0\n3 start 3 1 3 6 0\n"
    "4 end 2 1 2 6 6\n",
    "1 start 1 1 1 5 0\n2 start 2 1 2 6 0\n3 start 3 1 3 6 0\n4 end 9 1 99 7 7\n",
    "1 start 1 1 1 5 0\n2 start 2 1 2 6 0\n3 start 3 1 3 6 0\n4 end 2 1 2 7 8\n",
    "1 start 1 1 1 5 0\n2 start 2 1 2 6 0\n3 start 3 1 3 6 0\n4 lost 2 1 2 7 7\n"};
  Fixture f = begin("workers: 3", "random");
  Programs programs = {.random = 1};

  assert_true(run(&f, &programs, NULL));
  for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
    RgRecord again = {0};
    replay(&f, texts[k], &again);
    assert_int_equal(again.status, RG_STATUS_FAILED);
    if (!strstr(again.message, "its timeline in the record has another event here"))
      fail_msg("%zu: %s", k, again.message);
    RG_OK(rg_record_destroy(&again));
  }
  end(&f);
}
