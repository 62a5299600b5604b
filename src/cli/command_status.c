/* regatta status RESULTS.h5: exit code 0 if complete, 75 if incomplete, for batch scripts that
   requeue, and what the workers of running trials do. With -watch it reads the results again until
   the study is complete. */
#include "cli/shield.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/number.h"
#include "study/plan/plan.h"
#include "study/file/registry.h"
#include "study/schedule/calibration.h"
#include "study/schedule/crew.h"
#include "study/store/evaluation_log.h"
#include "study/store/store.h"
#include "study/store/timeline.h"

enum { OPT_PART, OPT_STUDY, OPT_WATCH };

static const RgOption options[] = {
  {"-part", "I/N", "look at this part of the study only (-study says which)"},
  {"-study", "STUDY.yaml",
   "the study file: needed with -part, and to name running trials before one has finished"},
  {"-watch", "SECONDS", "look again after this many seconds, until the study is complete"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

/* ---- workers of running trials, as their timelines say --------------------------------------- */

/* The last event of a worker, and its Unix time in microseconds. */
typedef struct {
  const RgTimelineEvent *event; /* NULL: none */
  int64_t at;
} Last;

/* Print the time at the start of a line, or after "since" at its end. */
static void say_time(time_t seconds, const char *format)
{
  struct tm day;
  char text[48];

  if (localtime_r(&seconds, &day) && strftime(text, sizeof(text), format, &day)) rg_say("%s", text);
}

/* Print the summary of a timeline. name: the name of the trial. planned: the number of planned
   evaluations; 0: not known. runs: whether a process runs the trial; then the last events show what
   each worker does. */
static PetscErrorCode say_timeline(const RgTimeline *timeline, const char *name, int planned,
                                   bool runs)
{
  int n_workers = 0, ended = 0;
  int64_t zero = 0;
  Last *last;

  for (int i = 0; i < timeline->n; i++) n_workers = PetscMax(n_workers, timeline->events[i].worker);
  PetscCall(PetscCalloc1(n_workers + 1, &last));
  for (int i = 0; i < timeline->n; i++) {
    const RgTimelineEvent *event = &timeline->events[i];
    if (event->kind == RG_TIMELINE_BEGIN || event->kind == RG_TIMELINE_GAP) zero += event->detail;
    else last[event->worker] = (Last){event, zero + event->tick};
    ended += event->kind == RG_TIMELINE_END;
  }
  rg_say("%s: %d", name, ended);
  if (planned) rg_say(" of %d", planned);
  rg_say(" evaluations have ended%s\n", runs ? "" : "; no process runs it any more");
  for (int w = 1; w <= n_workers && runs; w++) {
    const Last *own = &last[w];
    rg_say("  worker %d: ", w);
    if (own->event && own->event->kind == RG_TIMELINE_START) {
      rg_say("evaluation %d", own->event->submission);
      if (own->event->attempt > 1) rg_say(", attempt %d,", own->event->attempt);
    } else {
      rg_say("idle");
    }
    if (own->event) say_time((time_t)(own->at / RG_TICKS_PER_UNIT), " since %Y-%m-%d %H:%M:%S");
    rg_say("\n");
  }
  return PetscFree(last);
}

/* Name a trial of the plan. *planned: the evaluations that its workers make. */
static PetscErrorCode name_trial(const RgPlan *plan, const char *id, RgText *name, int *planned)
{
  RgTrial trial;
  int index = -1;

  *planned = 0;
  if (plan->n) PetscCall(rg_plan_find(plan, id, &index));
  if (index < 0) {
    PetscCall(rg_text_add(name, "trial %s", id));
    return 0;
  }
  PetscCall(rg_plan_trial(plan, index, &trial));
  const RgCell *cell = &plan->study->cells[trial.cell];
  PetscCall(rg_text_add(name, "%s, %s, seed %llu", cell->problem_label, cell->algorithm_label,
                        (unsigned long long)trial.seed));
  if (cell->swept[0]) PetscCall(rg_text_add(name, ", %s", cell->swept));
  *planned = trial.n_evaluations - rg_cell_free(cell, trial.n_initial);
  return 0;
}

static PetscErrorCode directory_of(const char *path, RgText *directory)
{
  PetscBool inside;

  PetscCall(PetscTestDirectory(path, 'r', &inside));
  return rg_text_add(directory, "%s%s", path, inside ? "" : ".d");
}

/* ---- how fast the study advances ------------------------------------------------------------- */

/* The rate is that of the last ten minutes in which trials ran, without pauses between two runs. */
#define WINDOW 600.0 /* seconds */
#define PAUSE 60.0   /* between a trial's end and the next start: two runs */

/* When a finished trial ran. */
typedef struct {
  char id[RG_ID_LENGTH + 1];
  double start, end; /* Unix time, seconds */
} PaceTrial;

typedef struct {
  int n;
  PaceTrial *trials; /* owned */
} Pace;

/* The latest end first. */
static int compare(const void *left, const void *right)
{
  const PaceTrial *a = left, *b = right;

  return (a->end < b->end) - (a->end > b->end);
}

/* Seconds of the window that ends with the newest trial; *ended: trials that ended in it; *busy:
   trials that ran at once, on average. */
static double read_window(Pace *pace, int *ended, double *busy)
{
  const PaceTrial *trials = pace->trials;
  double sum = 0;
  int n = 0;

  qsort(pace->trials, (size_t)pace->n, sizeof(*trials), compare);
  double from = trials[0].start;
  for (; n < pace->n && trials[n].end > fmax(from - PAUSE, trials[0].end - WINDOW); n++)
    from = fmin(from, trials[n].start);
  from = fmax(from, trials[0].end - WINDOW);
  for (int i = 0; i < n; i++) sum += trials[i].end - fmax(trials[i].start, from);
  *ended = n;
  *busy = sum / (trials[0].end - from);
  return trials[0].end - from;
}

/* Seconds until the missing trials have run, if so many run at once. */
static PetscErrorCode time_missing(const Pace *pace, const RgPlan *plan, double busy,
                                   double *seconds)
{
  RgCalibration wall;
  int trial;

  PetscCall(rg_calibration_create(plan->study, &wall));
  for (int c = 0; c < plan->study->n_cells; c++) {
    const int n = plan->cells[c].n;
    wall.cells[c] = (RgCellTimes){.nominal = plan->cells[c].cost, .open = n, .left = n, .ranks = 1};
  }
  for (int i = 0; i < pace->n; i++) {
    PetscCall(rg_plan_find(plan, pace->trials[i].id, &trial));
    if (trial < 0) continue;
    const int cell = rg_plan_cell(plan, trial);
    wall.cells[cell].open = --wall.cells[cell].left;
    rg_calibration_add(&wall, cell, pace->trials[i].end - pace->trials[i].start);
  }
  *seconds = rg_calibration_left(&wall, busy);
  return rg_calibration_destroy(&wall);
}

/* Append how many trials ended in a time, and what is left at that rate; nothing if no rate is
   known. The time left is not known with a plan of n 0. at_work: a run works on the study now. */
static PetscErrorCode describe_pace(Pace *pace, const RgPlan *plan, bool at_work, RgText *text)
{
  static const struct {
    double seconds;
    const char *name;
  } units[] = {{1, "second"}, {60, "minute"}, {3600, "hour"}, {86400, "day"}};
  double busy, missing = NAN;
  char left[32];
  int ended, unit = 0;

  if (!pace->n) return 0;
  const double seconds = read_window(pace, &ended, &busy);
  if (!(seconds > 0)) return 0;
  while (unit < 3 && ended * units[unit].seconds < 2 * seconds) unit++;
  const double rate = ended * units[unit].seconds / seconds;
  PetscCall(rg_text_add(text, "; %s %.*f trials a %s",
                        at_work ? "a run is at work:" : "at the last rate of", rate < 10, rate,
                        units[unit].name));
  if (!plan->n) return 0;
  PetscCall(time_missing(pace, plan, busy, &missing));
  if (isnan(missing)) return 0;
  rg_duration_print(missing, left);
  return rg_text_add(text, ", about %s left", left);
}

/* ---- all of a study -------------------------------------------------------------------------- */

typedef struct {
  RgSummary all;
  Pace pace;
} Progress;

static PetscErrorCode add_record(void *closure, const RgRecord *record)
{
  Progress *progress = closure;

  if (record->earlier) return 0;
  const RgProvenance *when = &record->provenance;
  PetscCall(RG_GROW(progress->pace.n, progress->pace.trials));
  PaceTrial *trial = &progress->pace.trials[progress->pace.n++];
  *trial = (PaceTrial){.start = when->started, .end = when->started + when->wall};
  memcpy(trial->id, record->id, sizeof(trial->id));
  return rg_summary_add(&progress->all, record);
}

/* Append the state of an incomplete study: the number of finished trials, their rate and the time
   left. Where every trial is done, only the results file is left to write. */
static PetscErrorCode add_progress(const char *path, RgPlan *plan, Progress *progress, RgText *text)
{
  const bool done = plan->n && progress->all.n == plan->n;
  RgText directory = {0};

  PetscCall(directory_of(path, &directory));
  const bool at_work = rg_presence_any(directory.data);
  PetscCall(rg_text_add(text, "%s%s",
                        done ? "every trial is done; " : "incomplete; the run command resumes it",
                        !done     ? ""
                        : at_work ? "a run is at work: it writes the results file"
                                  : "the run command writes the results file"));
  PetscCall(rg_text_add(text, " (%d", progress->all.n));
  if (plan->n) PetscCall(rg_text_add(text, " of %d", plan->n));
  PetscCall(rg_text_add(text, " trials"));
  if (progress->all.n_failed) PetscCall(rg_text_add(text, ", %d failed", progress->all.n_failed));
  PetscCall(rg_text_add(text, ")"));
  if (!done) PetscCall(describe_pace(&progress->pace, plan, at_work, text));
  return rg_text_clear(&directory);
}

/* Print whether the study is complete, and whether one version of the program made its trials.
   Shards beside a complete results file belong to an unfinished run that extends it. */
static PetscErrorCode say_state(const char *path, RgPlan *plan, const RgStoreInfo *info,
                                Progress *progress, int *exit_code)
{
  const bool complete = info->complete && info->n_shards == 0;
  RgText state = {0}, mixed = {0}, plugins = {0};

  if (complete) PetscCall(rg_text_add(&state, "complete"));
  else PetscCall(add_progress(path, plan, progress, &state));
  PetscCall(rg_summary_describe(&progress->all, path, &mixed, &plugins));
  rg_say("%s: %s%s%s\n", info->name ? info->name : path, state.data,
         mixed.length ? "; stale: " : "", mixed.length ? mixed.data : "");
  if (plugins.length) rg_say("%s\n", plugins.data);
  if (!complete) {
    /* Print what the workers of each trial on the real clock do that has begun and not finished. A
       trial that the plan (n 0: not known) lacks has its id in place of its name. Evaluations on a
       simulated clock take no time, so that nothing can be said of them. */
    RgText directory = {0};
    char **ids;
    int n;
    PetscCall(directory_of(path, &directory));
    PetscCall(rg_sealed_list(directory.data, RG_FOLDER_TIMELINE, &n, &ids));
    for (int i = 0; i < n; i++) {
      RgTimeline timeline;
      RgText name = {0};
      int planned;
      bool runs;
      PetscCall(rg_sealed_is_open(directory.data, RG_FOLDER_TIMELINE, ids[i], &runs));
      PetscCall(rg_timeline_open(directory.data, ids[i], 0, &timeline));
      PetscCall(name_trial(plan, ids[i], &name, &planned));
      if (timeline.n) PetscCall(say_timeline(&timeline, name.data, planned, runs));
      PetscCall(rg_text_clear(&name));
      PetscCall(rg_timeline_clear(&timeline));
    }
    PetscCall(rg_names_free(n, &ids));
    PetscCall(rg_text_clear(&directory));
  }
  *exit_code = complete ? RG_EXIT_OK : RG_EXIT_INCOMPLETE;
  PetscCall(rg_text_clear(&plugins));
  PetscCall(rg_text_clear(&mixed));
  return rg_text_clear(&state);
}

/* Plan the study of a file, or that in the results (file NULL). plan->n is 0 if the text can't be
   planned here, for example because it names missing files or plug-ins. */
static PetscErrorCode plan_study(const RgRegistry *registry, const char *path, const char *file,
                                 const RgStoreInfo *info, RgStudy *study, RgPlan *plan,
                                 int *exit_code)
{
  RgDiagnostics diagnostics = {0};

  if (file) PetscCall(rg_study_load(registry, file, study, &diagnostics));
  else if (info->study && info->study[0])
    PetscCall(rg_study_parse_stored(registry, path, info->study, false, study, &diagnostics));
  if (!diagnostics.n && study->n_cells) PetscCall(rg_plan_fill(study, plan));
  if (file || study->unopened) rg_print_diagnostics(&diagnostics);
  if (file && diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  return 0;
}

/* file: the study file; NULL: the study is that in the results. */
static PetscErrorCode show_all(const RgRegistry *registry, const char *path, const char *file,
                               int *exit_code)
{
  Progress progress = {0};
  RgStoreInfo info;
  RgFault fault = {0};
  RgStudy study = {0};
  RgPlan plan = {0};

  PetscCall(rg_store_visit_heads(path, add_record, &progress, &info, &fault));
  PetscCall(plan_study(registry, path, file, &info, &study, &plan, exit_code));
  if (fault.code) PetscCall(rg_refuse(exit_code, "%s", fault.message));
  if (!*exit_code) PetscCall(say_state(path, &plan, &info, &progress, exit_code));
  if (plan.n) PetscCall(rg_plan_clear(&plan));
  PetscCall(rg_study_destroy(&study));
  PetscCall(rg_summary_clear(&progress.all));
  PetscCall(PetscFree(progress.pace.trials));
  return rg_store_info_clear(&info);
}

/* ---- a part ---------------------------------------------------------------------------------- */

typedef struct {
  const RgPlan *plan;
  PetscBT missing; /* by trial: whether it belongs to the part and is unfinished */
} Part;

static PetscErrorCode strike_record(void *closure, const RgRecord *record)
{
  Part *part = closure;
  int trial;

  PetscCall(rg_plan_find(part->plan, record->id, &trial));
  if (trial >= 0) PetscCall(PetscBTClear(part->missing, trial));
  return 0;
}

static int count(int n, PetscBT flags)
{
  int sum = 0;
  for (int i = 0; i < n; i++) sum += PetscBTLookup(flags, i) != 0;
  return sum;
}

static PetscErrorCode show_part(const RgRegistry *registry, const RgArguments *arguments, int i,
                                int n, int *exit_code)
{
  const char *path = arguments->positional[0];
  RgFault fault = {0};
  RgStoreInfo info = {0};
  RgStudy study = {0};
  RgPlan plan = {0};
  Part part = {&plan, NULL};

  PetscCall(
    plan_study(registry, path, arguments->option[OPT_STUDY], NULL, &study, &plan, exit_code));
  if (*exit_code) return rg_study_destroy(&study);
  PetscCall(PetscBTCreate(plan.n, &part.missing));
  PetscCall(rg_plan_share(&plan, i, n, part.missing));
  const int all = count(plan.n, part.missing);
  if (rg_store_exists(path))
    PetscCall(rg_store_visit_heads(path, strike_record, &part, &info, &fault));
  PetscCall(rg_store_info_clear(&info));
  const int missing = count(plan.n, part.missing);
  if (missing) *exit_code = RG_EXIT_INCOMPLETE;
  if (fault.code) PetscCall(rg_refuse(exit_code, "%s", fault.message));
  else
    rg_say("%s, part %d of %d: %s (%d of %d trials)\n", study.name, i, n,
           missing ? "incomplete; the run command resumes it" : "complete", all - missing, all);
  PetscCall(PetscBTDestroy(&part.missing));
  PetscCall(rg_plan_clear(&plan));
  return rg_study_destroy(&study);
}

/* ---- watching -------------------------------------------------------------------------------- */

static PetscErrorCode print_status(const RgArguments *arguments, const RgRegistry *registry,
                                   int *exit_code)
{
  const char *file = arguments->option[OPT_STUDY];
  int i = 0, n = 0;

  if (arguments->option[OPT_PART] && !file)
    return rg_refuse(exit_code,
                     "status: -part needs -study STUDY.yaml, the study file that the part is of");
  if (!rg_argument_part(arguments, OPT_PART, &i, &n)) *exit_code = RG_EXIT_BAD_INPUT;
  if (*exit_code) return 0;
  if (arguments->option[OPT_WATCH]) say_time(time(NULL), "%H:%M:%S ");
  if (n) return show_part(registry, arguments, i, n, exit_code);
  return show_all(registry, arguments->positional[0], file, exit_code);
}

/* Read the results in a child process, a new one each time. After a slow one the wait is longer. */
static PetscErrorCode status(const RgArguments *arguments, const RgRegistry *registry,
                             int *exit_code)
{
  static const RgCommand one = {.run = print_status};
  double period = 0; /* seconds from one reading to the next; 0: there is one reading */
  bool again =
    rg_argument_real(arguments, OPT_WATCH, 0.1, 86400, "seconds from 0.1 to 86400", &period);

  if (!again) *exit_code = RG_EXIT_BAD_INPUT;
  while (again) {
    const double begin = rg_wall_seconds();
    PetscCall(rg_shield_command(&one, arguments, registry, exit_code));
    again = period > 0 && *exit_code == RG_EXIT_INCOMPLETE && !fflush(stdout);
    if (again) PetscCall(PetscSleep(fmax(period, 4 * (rg_wall_seconds() - begin))));
  }
  return 0;
}

const RgCommand rg_command_status = {
  RG_USAGE("status RESULTS.h5 [-watch SECONDS] [-study STUDY.yaml [-part I/N]]", options, 1, 1),
  .place = RG_ON_RANK_0, .run = status};
