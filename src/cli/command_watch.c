/* regatta watch OUT.h5: a study in the terminal while it runs. It only reads. */
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/terminal.h"
#include "base/table.h"
#include "cli/values.h"
#include "study/plan/calibration.h"
#include "study/run/pace.h"
#include "study/spec/registry.h"
#include "study/store/store_follow.h"

enum { OPT_EVERY, OPT_ONCE, OPT_STUDY };

static const RgOption options[] = {
  {"-every", "SECONDS", "look again after so many seconds (default 2)"},
  {"-once", NULL, "print once, as where standard output is no terminal"},
  {"-study", "STUDY.yaml", "the study file (default: the text of it that stands in the results)"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

static const double patience = 60; /* seconds beyond the longest trial before silence is told */

/* ---- what is known --------------------------------------------------------------------------- */

/* What a finished trial came to. */
typedef struct {
  double regret, best; /* final simple regret; best value of F, or of y where F is not known; NaN:
                          unknown */
} Outcome;

typedef struct {
  const char *path, *study_file; /* study_file NULL: not named */
  const RgRegistry *registry;
  RgFollow follow;
  bool planned; /* study and plan are there */
  RgStudy study;
  RgPlan plan;
  unsigned char *status; /* RgStatus by trial of the plan; owned, like the next two */
  RgPaceTrial *times;
  Outcome *outcome;
  int n_done, n_failed;
  RgText failure; /* the last */
  RgPace pace;
  RgFault fault; /* of the last look */
  int first;     /* line of the table that is on top */
} Watch;

static PetscErrorCode forget_study(Watch *watch)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(watch->status, watch->times, watch->outcome));
  PetscCall(rg_plan_clear(&watch->plan));
  PetscCall(rg_study_destroy(&watch->study));
  watch->study = (RgStudy){0};
  watch->planned = false;
  watch->n_done = watch->n_failed = 0;
  PetscCall(rg_text_clear(&watch->failure));
  PetscFunctionReturn(0);
}

/* Plan the study that is named, or that the results are of. */
static PetscErrorCode adopt_study(Watch *watch)
{
  const char *text = watch->follow.study;
  RgDiagnostics mistakes = {0};

  PetscFunctionBeginUser;
  PetscCall(forget_study(watch));
  if (watch->study_file)
    PetscCall(rg_study_load(watch->registry, watch->study_file, &watch->study, &mistakes));
  else
    PetscCall(
      rg_study_parse(watch->registry, watch->path, text, strlen(text), &watch->study, &mistakes));
  if (mistakes.n) {
    PetscCall(rg_study_destroy(&watch->study));
    watch->study = (RgStudy){0};
    if (watch->study_file)
      rg_fault_set(&watch->fault, RG_FAULT_FOREIGN, "-study %s: %.300s", watch->study_file,
                   mistakes.list[0].message);
    else
      rg_fault_set(&watch->fault, RG_FAULT_FOREIGN,
                   "%s: its study can't be planned here: %.300s (-study names its file, -plugin "
                   "what it was run with)",
                   watch->path, mistakes.list[0].message);
    PetscFunctionReturn(0);
  }
  PetscCall(rg_plan_fill(&watch->study, &watch->plan));
  PetscCall(PetscCalloc3(watch->plan.n, &watch->status, watch->plan.n, &watch->times, watch->plan.n,
                         &watch->outcome));
  watch->planned = true;
  PetscFunctionReturn(0);
}

/* A trial that is not known yet, or was run again. */
static PetscErrorCode is_news(void *closure, const RgRecord *record, bool *news)
{
  const Watch *watch = closure;
  int trial = -1;

  PetscFunctionBeginUser;
  if (!record->earlier) PetscCall(rg_plan_find(&watch->plan, record->id, &trial));
  *news = trial >= 0 && record->status != RG_STATUS_MISSING &&
          (!watch->status[trial] || record->provenance.started > watch->times[trial].started);
  PetscFunctionReturn(0);
}

/* The largest number; NaN: there is none. */
static double largest(const double *values, int n)
{
  double most = NAN;

  for (int i = 0; values && i < n; i++) most = fmax(most, values[i]);
  return most;
}

static PetscErrorCode take_record(void *closure, const RgRecord *record)
{
  Watch *watch = closure;
  const int n = record->n_rows;
  const double *regret = record->column[RG_COLUMN_SIMPLE_REGRET];
  const RgProvenance *p = &record->provenance;
  const bool failed = record->status == RG_STATUS_FAILED;
  double best = largest(record->column[RG_COLUMN_OBJECTIVE], n);
  int trial;

  PetscFunctionBeginUser;
  PetscCall(rg_plan_find(&watch->plan, record->id, &trial));
  if (isnan(best)) best = largest(record->column[RG_COLUMN_Y], n);
  watch->n_done += !watch->status[trial];
  watch->n_failed += failed - (watch->status[trial] == RG_STATUS_FAILED);
  watch->status[trial] = (unsigned char)record->status;
  watch->times[trial] = (RgPaceTrial){p->started, p->wall, p->rank, p->ranks};
  watch->outcome[trial] =
    (Outcome){.regret = regret && n && !failed ? regret[n - 1] : NAN, .best = best};
  if (failed) {
    PetscCall(rg_text_clear(&watch->failure));
    PetscCall(rg_text_add(&watch->failure, "%s, %s, seed %llu: %s", record->problem_label,
                          record->algorithm_label, (unsigned long long)record->seed,
                          record->message));
  }
  PetscFunctionReturn(0);
}

/* Costs by the clock, and what follows from them. */
static PetscErrorCode reckon(Watch *watch)
{
  RgCalibration clock;

  PetscFunctionBeginUser;
  PetscCall(rg_calibration_create(&watch->study, &clock));
  for (int i = 0; i < watch->plan.n; i++)
    if (watch->status[i] == RG_STATUS_COMPLETE)
      rg_calibration_add(&clock, rg_plan_cell(&watch->plan, i), watch->times[i].wall);
  PetscCall(rg_calibration_apply(&clock, &watch->plan));
  PetscCall(rg_calibration_destroy(&clock));
  PetscCall(rg_pace(&watch->plan, watch->status, watch->times, &watch->pace));
  PetscFunctionReturn(0);
}

static PetscErrorCode look(Watch *watch)
{
  const RgFollower follower = {.closure = watch, .wanted = is_news, .visit = take_record};
  bool other;

  PetscFunctionBeginUser;
  PetscCall(rg_follow_look(&watch->follow, &other, &watch->fault));
  if (watch->fault.code) PetscFunctionReturn(0);
  if (other || (!watch->planned && (watch->study_file || watch->follow.study)))
    PetscCall(adopt_study(watch)); /* a mistake is told at every look */
  if (!watch->planned) PetscFunctionReturn(0);
  PetscCall(rg_follow_read(&watch->follow, &follower));
  PetscCall(reckon(watch));
  PetscFunctionReturn(0);
}

static bool is_complete(const Watch *watch)
{
  return watch->planned && watch->follow.complete && watch->n_done == watch->plan.n;
}

/* ---- what is shown --------------------------------------------------------------------------- */

static double now(void)
{
  struct timespec time;

  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The longest of the trials that are left, seconds. */
static double longest_left(const Watch *watch)
{
  double seconds = 0;

  for (int i = 0; i < watch->plan.n; i++)
    if (!watch->status[i])
      seconds = fmax(seconds, watch->plan.cells[rg_plan_cell(&watch->plan, i)].cost);
  return seconds;
}

static PetscErrorCode add_ranks(const Watch *watch, RgText *text)
{
  const RgPace *pace = &watch->pace;
  char ago[32];

  PetscFunctionBeginUser;
  if (!pace->ranks) PetscFunctionReturn(0);
  rg_duration_print(fmax(0, now() - watch->follow.newest), ago);
  PetscCall(rg_text_add(text,
                        "ranks     %d, %d of them heard of, %.0f %% of their time in trials; ",
                        pace->ranks, pace->heard, 100 * pace->busy));
  PetscCall(rg_text_add(text, "last commit %s ago\n", ago));
  PetscFunctionReturn(0);
}

/* When it will be over, or that nobody seems to be at work. */
static PetscErrorCode add_time_left(const Watch *watch, RgText *text)
{
  const int left = watch->plan.n - watch->n_done;
  const double seconds = fmax(0, watch->pace.over - now());
  const double silence = now() - watch->follow.newest - longest_left(watch);
  const time_t over = (time_t)watch->pace.over;
  char duration[32], at[32] = "";
  struct tm day;

  PetscFunctionBeginUser;
  if (!left) PetscFunctionReturn(0);
  PetscCall(rg_text_add(text, "left      %d trials", left));
  if (isnan(watch->pace.over)) {
    PetscCall(rg_text_add(text, "; the first that finishes tells how long it takes\n"));
  } else if (silence > patience) {
    rg_duration_print(fmax(0, watch->pace.over - watch->pace.end), duration);
    PetscCall(rg_text_add(text, ", %s once it goes on: nobody seems to be at work\n", duration));
  } else {
    rg_duration_print(seconds, duration);
    if (localtime_r(&over, &day))
      strftime(at, sizeof(at), seconds < 43200 ? "%H:%M" : "%Y-%m-%d %H:%M", &day);
    PetscCall(rg_text_add(text, ", about %s, over at %s\n", duration, at));
  }
  PetscFunctionReturn(0);
}

static const char *state_of(const Watch *watch)
{
  if (is_complete(watch)) return "complete";
  if (watch->planned && watch->n_done == watch->plan.n) return "all trials finished, being packed";
  return "not complete";
}

static PetscErrorCode add_head(const Watch *watch, RgText *text)
{
  enum { WIDTH = 40 };
  const RgPlan *plan = &watch->plan;
  const RgStudy *study = &watch->study;
  char bar[WIDTH + 1];

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "%s: %s\n", watch->path, state_of(watch)));
  if (watch->fault.code) PetscCall(rg_text_add(text, "%s\n", watch->fault.message));
  if (!watch->planned) {
    if (!watch->fault.code)
      PetscCall(rg_text_add(text, "no trial is committed yet: they are within 30 s of their end, "
                                  "long ones at once\n"));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_text_add(text, "study     %s%s%s\n", study->name, study->title[0] ? ": " : "",
                        study->title));
  const int full = plan->n ? WIDTH * watch->n_done / plan->n : 0;
  for (int i = 0; i < WIDTH; i++) bar[i] = i < full ? '#' : '.';
  bar[WIDTH] = '\0';
  PetscCall(rg_text_add(text, "trials    %d of %d [%s]", watch->n_done, plan->n, bar));
  if (watch->n_failed)
    PetscCall(rg_text_add(text, ", %d failed, the last: %s", watch->n_failed, watch->failure.data));
  PetscCall(rg_text_add(text, "\n"));
  PetscCall(add_ranks(watch, text));
  PetscCall(add_time_left(watch, text));
  if (watch->follow.n_damaged)
    PetscCall(
      rg_text_add(text, "damaged   %d files or records, not counted\n", watch->follow.n_damaged));
  PetscFunctionReturn(0);
}

/* A cell. */
typedef struct {
  int n_done, n_failed;
  double median, best, seconds; /* NaN: unknown */
} Line;

/* room: of n numbers at least. */
static Line summarise(const Watch *watch, const RgPlanCell *cell, double *room)
{
  Line line = {.best = NAN, .seconds = NAN};
  double seconds = 0;
  int finished = 0, complete = 0;

  for (int i = cell->first; i < cell->first + cell->n; i++) {
    if (!watch->status[i]) continue;
    line.n_done++;
    line.n_failed += watch->status[i] == RG_STATUS_FAILED;
    line.best = fmax(line.best, watch->outcome[i].best);
    room[finished++] = watch->outcome[i].regret;
    if (watch->status[i] != RG_STATUS_COMPLETE) continue;
    seconds += watch->times[i].wall;
    complete++;
  }
  if (complete) line.seconds = seconds / complete;
  line.median = rg_median(finished, room);
  return line;
}

/* leads: no other method on its problem is better so far. */
static PetscErrorCode add_line(const Watch *watch, int c, const Line *line, bool leads,
                               RgTable *table)
{
  const RgCell *cell = &watch->study.cells[c];
  char done[32], failed[16] = "", seconds[32] = "", median[32] = "", best[32] = "";

  PetscFunctionBeginUser;
  snprintf(done, sizeof(done), "%d/%d", line->n_done, watch->plan.cells[c].n);
  if (line->n_failed) snprintf(failed, sizeof(failed), "%d", line->n_failed);
  if (!isnan(line->seconds)) snprintf(seconds, sizeof(seconds), "%.3g s", line->seconds);
  if (!isnan(line->median))
    snprintf(median, sizeof(median), "%s%.4g", leads ? "* " : "", line->median);
  if (!isnan(line->best)) snprintf(best, sizeof(best), "%.6g", line->best);
  PetscCall(
    rg_table_add(table, (const char *const[]){cell->problem_label, cell->algorithm_label,
                                              cell->swept, done, failed, seconds, median, best}));
  PetscFunctionReturn(0);
}

/* Whether the median of cell `c` is the least on its problem; lines: of all cells. */
static bool is_leader(const RgStudy *study, const Line *lines, int c)
{
  for (int i = 0; i < study->n_cells; i++)
    if (lines[i].median < lines[c].median &&
        !strcmp(study->cells[i].problem_label, study->cells[c].problem_label))
      return false;
  return true;
}

static PetscErrorCode add_cells(const Watch *watch, RgText *text)
{
  const RgPlan *plan = &watch->plan;
  const int n = watch->study.n_cells;
  RgTable table = {.n_columns = 8,
                   .headings = {"problem", "algorithm", "swept", ">done", ">failed", ">per trial",
                                ">median final regret", ">best value"}};
  Line *lines;
  double *room;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &lines, plan->n, &room));
  for (int c = 0; c < n; c++) lines[c] = summarise(watch, &plan->cells[c], room);
  for (int c = 0; c < n; c++)
    PetscCall(add_line(watch, c, &lines[c], is_leader(&watch->study, lines, c), &table));
  PetscCall(rg_table_print(&table, text));
  PetscCall(PetscFree2(lines, room));
  PetscFunctionReturn(0);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static PetscErrorCode print_once(const Watch *watch)
{
  RgText text = {0};

  PetscFunctionBeginUser;
  PetscCall(add_head(watch, &text));
  if (watch->planned) {
    PetscCall(rg_text_add(&text, "\n"));
    PetscCall(add_cells(watch, &text));
  }
  rg_say("%s", text.data);
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

static int count_lines(const char *text)
{
  int n = 0;

  for (; *text; text++) n += *text == '\n';
  return n;
}

static const char *skip_lines(const char *text, int n)
{
  for (; n > 0 && *text; n--) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return text;
}

/* Head, heading of the table, as much of the table as fits, and what the keys do. */
static PetscErrorCode draw(Watch *watch, const RgTerminal *terminal)
{
  RgText text = {0}, cells = {0};

  PetscFunctionBeginUser;
  PetscCall(add_head(watch, &text));
  if (watch->planned) PetscCall(add_cells(watch, &cells));
  const char *table = cells.data ? cells.data : "";
  const int lines = PetscMax(count_lines(table) - 1, 0);
  const int room = PetscMax(terminal->rows - count_lines(text.data) - 4, 1);
  watch->first = PetscMax(0, PetscMin(watch->first, lines - room));
  const char *body = skip_lines(table, 1), *from = skip_lines(body, watch->first);
  const char *to = skip_lines(from, room);
  PetscCall(rg_text_add(&text, "\n%.*s%.*s\n", (int)(body - table), table, (int)(to - from), from));
  PetscCall(rg_text_add(&text, "q quits; any other key looks again"));
  if (lines > room)
    PetscCall(rg_text_add(&text, "; cells %d to %d of %d, arrows and pages scroll",
                          watch->first + 1, watch->first + room, lines));
  rg_text_disarm(text.data, true);
  rg_terminal_draw(terminal, text.data);
  PetscCall(rg_text_clear(&text));
  PetscCall(rg_text_clear(&cells));
  PetscFunctionReturn(0);
}

static void scroll(Watch *watch, RgKey key, int page)
{
  watch->first += key == RG_KEY_UP          ? -1
                  : key == RG_KEY_DOWN      ? 1
                  : key == RG_KEY_PAGE_UP   ? -page
                  : key == RG_KEY_PAGE_DOWN ? page
                                            : 0;
}

/* Until it is complete or someone has seen enough. A look that takes long is not made often. */
static PetscErrorCode watch_on(Watch *watch, double every, RgTerminal *terminal)
{
  double due = 0, length = 0;

  PetscFunctionBeginUser;
  for (RgKey key = RG_KEY_NONE; key != RG_KEY_QUIT && !is_complete(watch);) {
    const double begin = rg_wall_seconds();
    if (begin >= due || key == RG_KEY_AGAIN) {
      PetscCall(look(watch));
      length = rg_wall_seconds() - begin;
      due = rg_wall_seconds() + fmax(every, 4 * length);
    }
    PetscCall(draw(watch, terminal));
    key = rg_terminal_wait(terminal, fmax(0.01, due - rg_wall_seconds()));
    scroll(watch, key, PetscMax(terminal->rows - 10, 1));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode show(Watch *watch, double every, bool once, int *exit_code)
{
  RgTerminal terminal;

  PetscFunctionBeginUser;
  PetscCall(look(watch));
  if (watch->fault.code) {
    rg_complain("watch: %s", watch->fault.message);
    *exit_code = RG_EXIT_BAD_INPUT;
    PetscFunctionReturn(0);
  }
  if (!once && rg_terminal_possible() && !is_complete(watch)) {
    rg_terminal_enter(&terminal);
    const PetscErrorCode error = watch_on(watch, every, &terminal);
    rg_terminal_leave(&terminal);
    PetscCall(error);
  }
  PetscCall(print_once(watch));
  PetscFunctionReturn(0);
}

/* Seconds between two looks; negative: a mistake, which was told. */
static double period(const char *word)
{
  char *end;

  if (!word) return 2;
  const double seconds = strtod(word, &end);
  if (end != word && !*end && seconds >= 0.1 && seconds <= 86400) return seconds;
  rg_complain("watch: -every must be seconds from 0.1 to 86400, got '%s'", word);
  return -1;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const double every = period(arguments->option[OPT_EVERY]);
  Watch watch = {.path = arguments->positional[0],
                 .study_file = arguments->option[OPT_STUDY],
                 .registry = registry};
  RgFault fault = {0};

  PetscFunctionBeginUser;
  if (every < 0) *exit_code = RG_EXIT_BAD_INPUT;
  if (every < 0) PetscFunctionReturn(0);
  PetscCall(rg_follow_open(watch.path, &watch.follow, &fault));
  if (fault.code) {
    rg_complain("watch: %s", fault.message);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else {
    PetscCall(show(&watch, every, arguments->option[OPT_ONCE] != NULL, exit_code));
  }
  PetscCall(forget_study(&watch));
  PetscCall(rg_follow_close(&watch.follow));
  PetscFunctionReturn(0);
}

const RgCommand rg_command_watch = {
  RG_USAGE("watch OUT.h5|DIRECTORY [-every SECONDS] [options]", options, 1, 1),
  .place = RG_ON_RANK_0, .run = run};
