/* regatta status RESULTS.h5: exit code 0 if complete, 75 if incomplete, for batch scripts that
   requeue, and what the workers of running trials do. With -watch it looks again until the study is
   complete. */
#include "cli/shield.h"
#include "cli/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/number.h"
#include "study/plan/plan.h"
#include "cli/pace.h"
#include "cli/planned.h"
#include "cli/arguments.h"
#include "study/file/registry.h"
#include "study/schedule/crew.h"
#include "study/store/evaluation_log.h"
#include "study/store/presence.h"
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

static void say_since(int64_t unix_ticks)
{
  const time_t seconds = (time_t)(unix_ticks / RG_TICKS_PER_UNIT);
  struct tm day;
  char text[32];

  if (localtime_r(&seconds, &day) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &day))
    rg_say(" since %s", text);
  rg_say("\n");
}

static void say_worker(int worker, const Last *last)
{
  rg_say("  worker %d: ", worker);
  if (last->event && last->event->kind == RG_TIMELINE_START) {
    rg_say("evaluation %d", last->event->submission);
    if (last->event->attempt > 1) rg_say(", attempt %d,", last->event->attempt);
  } else {
    rg_say("idle");
  }
  if (last->event) say_since(last->at);
  else rg_say("\n");
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
  for (int w = 1; w <= n_workers && runs; w++) say_worker(w, &last[w]);
  PetscCall(PetscFree(last));
  return 0;
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

static PetscErrorCode say_trial(const RgPlan *plan, const char *directory, const char *id)
{
  RgTimeline timeline;
  RgText name = {0};
  int planned;
  bool runs;

  PetscCall(rg_sealed_is_open(directory, RG_FOLDER_TIMELINE, id, &runs));
  PetscCall(rg_timeline_open(directory, id, 0, &timeline));
  PetscCall(name_trial(plan, id, &name, &planned));
  if (timeline.n) PetscCall(say_timeline(&timeline, name.data, planned, runs));
  PetscCall(rg_text_clear(&name));
  PetscCall(rg_timeline_clear(&timeline));
  return 0;
}

/* Append the study directory of a path. */
static PetscErrorCode directory_of(const char *path, RgText *directory)
{
  PetscBool inside;

  PetscCall(PetscTestDirectory(path, 'r', &inside));
  PetscCall(rg_text_add(directory, "%s%s", path, inside ? "" : ".d"));
  return 0;
}

/* Print what the workers of each trial on the real clock do that has begun and not finished. A
   trial that the plan (n 0: not known) lacks has its id in place of its name. Evaluations on a
   simulated clock take no time, so that nothing can be said of them. */
static PetscErrorCode say_workers(const char *path, const RgPlan *plan)
{
  RgText directory = {0};
  char **ids;
  int n;

  PetscCall(directory_of(path, &directory));
  PetscCall(rg_sealed_list(directory.data, RG_FOLDER_TIMELINE, &n, &ids));
  for (int i = 0; i < n; i++) PetscCall(say_trial(plan, directory.data, ids[i]));
  PetscCall(rg_names_free(n, &ids));
  PetscCall(rg_text_clear(&directory));
  return 0;
}

/* ---- all of a study -------------------------------------------------------------------------- */

typedef struct {
  RgSummary all;
  RgPace pace;
} Progress;

static PetscErrorCode add_record(void *closure, const RgRecord *record)
{
  Progress *progress = closure;

  if (record->earlier) return 0;
  PetscCall(rg_pace_add(&progress->pace, record));
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
  if (!done) PetscCall(rg_pace_describe(&progress->pace, plan, at_work, text));
  PetscCall(rg_text_clear(&directory));
  return 0;
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
  if (!complete) PetscCall(say_workers(path, plan));
  *exit_code = complete ? RG_EXIT_OK : RG_EXIT_INCOMPLETE;
  PetscCall(rg_text_clear(&plugins));
  PetscCall(rg_text_clear(&mixed));
  PetscCall(rg_text_clear(&state));
  return 0;
}

/* file: the study file; NULL: the study is that in the results. */
static PetscErrorCode show_all(const RgRegistry *registry, const char *path, const char *file,
                               int *exit_code)
{
  Progress progress = {0};
  RgStoreInfo info;
  RgFault fault = {0};
  RgDiagnostics diagnostics = {0};
  RgStudy study;
  RgPlan plan = {0};

  PetscCall(rg_store_visit_heads(path, add_record, &progress, &info, &fault));
  if (!file) PetscCall(rg_planned_load(registry, path, &info, &study, &plan));
  else PetscCall(rg_study_load(registry, file, &study, &diagnostics));
  if (file && !diagnostics.n) PetscCall(rg_plan_fill(&study, &plan));
  rg_print_diagnostics(&diagnostics);
  if (fault.code) rg_complain("%s", fault.message);
  if (fault.code || diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  else PetscCall(say_state(path, &plan, &info, &progress, exit_code));
  PetscCall(rg_planned_clear(&study, &plan));
  PetscCall(rg_summary_clear(&progress.all));
  PetscCall(rg_pace_clear(&progress.pace));
  PetscCall(rg_store_info_clear(&info));
  return 0;
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

static PetscErrorCode show_part(const RgStudy *study, const char *path, int i, int n,
                                int *exit_code)
{
  RgFault fault = {0};
  RgStoreInfo info = {0};
  RgPlan plan;
  Part part = {&plan, NULL};

  PetscCall(rg_plan_fill(study, &plan));
  PetscCall(PetscBTCreate(plan.n, &part.missing));
  PetscCall(rg_plan_share(&plan, i, n, part.missing));
  const int all = count(plan.n, part.missing);
  if (rg_store_exists(path))
    PetscCall(rg_store_visit_heads(path, strike_record, &part, &info, &fault));
  PetscCall(rg_store_info_clear(&info));
  const int missing = count(plan.n, part.missing);
  if (!fault.code)
    rg_say("%s, part %d of %d: %s (%d of %d trials)\n", study->name, i, n,
           missing ? "incomplete; the run command resumes it" : "complete", all - missing, all);
  else rg_complain("%s", fault.message);
  *exit_code = fault.code ? RG_EXIT_BAD_INPUT : missing ? RG_EXIT_INCOMPLETE : RG_EXIT_OK;
  PetscCall(PetscBTDestroy(&part.missing));
  PetscCall(rg_plan_clear(&plan));
  return 0;
}

/* Parse the part of a study; prints a message and returns false on a mistake. */
static bool read_part(const RgArguments *arguments, int *i, int *n)
{
  const char *part = arguments->option[OPT_PART];

  if (part && !arguments->option[OPT_STUDY]) {
    rg_complain("status: -part needs -study STUDY.yaml, the study file that the part is of");
    return false;
  }
  return !part || rg_part_parse("status", part, i, n);
}

static PetscErrorCode show_part_of(const RgRegistry *registry, const RgArguments *arguments, int i,
                                   int n, int *exit_code)
{
  RgDiagnostics diagnostics = {0};
  RgStudy study;

  PetscCall(rg_study_load(registry, arguments->option[OPT_STUDY], &study, &diagnostics));
  rg_print_diagnostics(&diagnostics);
  if (diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  else PetscCall(show_part(&study, arguments->positional[0], i, n, exit_code));
  PetscCall(rg_study_destroy(&study));
  return 0;
}

/* ---- watching -------------------------------------------------------------------------------- */

static void say_time(void)
{
  const time_t now = time(NULL);
  struct tm day;
  char text[16];

  if (localtime_r(&now, &day) && strftime(text, sizeof(text), "%H:%M:%S", &day))
    rg_say("%s ", text);
}

static PetscErrorCode print_status(const RgArguments *arguments, const RgRegistry *registry,
                                   int *exit_code)
{
  int i = 0, n = 0;

  if (!read_part(arguments, &i, &n)) {
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  if (arguments->option[OPT_WATCH]) say_time();
  if (n) PetscCall(show_part_of(registry, arguments, i, n, exit_code));
  else
    PetscCall(
      show_all(registry, arguments->positional[0], arguments->option[OPT_STUDY], exit_code));
  return 0;
}

/* Seconds between two looks; 0: look once; negative: a mistake, which was reported. */
static double read_period(const char *word)
{
  double seconds;

  if (!word) return 0;
  if (rg_number_only(word, &seconds) && seconds >= 0.1 && seconds <= 86400) return seconds;
  rg_complain("status: -watch must be seconds from 0.1 to 86400, got '%s'", word);
  return -1;
}

/* Look in a child process, which is new for each look. After a slow look the wait is longer. */
static PetscErrorCode status(const RgArguments *arguments, const RgRegistry *registry,
                             int *exit_code)
{
  static const RgCommand one = {.run = print_status};
  const double period = read_period(arguments->option[OPT_WATCH]);

  if (period < 0) *exit_code = RG_EXIT_BAD_INPUT;
  for (bool again = period >= 0; again;) {
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
