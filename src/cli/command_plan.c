/* regatta plan STUDY.yaml: show the trials and the cost of a study, without running it. */
#include "base/grow.h"
#include "base/number.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/world.h"
#include "cli/notices.h"
#include "study/file/registry.h"
#include "study/plan/cost.h"
#include "study/plan/plan.h"
#include "study/record/software.h"
#include "study/run/against.h"
#include "study/run/origin.h"
#include "study/run/probe.h"
#include "study/run/simulate.h"
#include "study/schedule/calibration.h"
#include "study/schedule/teams.h"
#include "study/store/store.h"
#include "study/trial/trial.h"

#include <float.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  int n;
  int *ranks; /* one per job; PetscFree */
  RgJobRates rates;
} Simulation;

/* JSON has no NaN and no infinity: they become null. */
static json_t *real_or_null(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *settings_json(const RgCell *cell)
{
  json_t *settings = json_object();
  double value;

  for (int k = 0; k < cell->n_swept; k++) {
    const RgSwept *setting = &cell->settings[k];
    json_t *entry = NULL;
    switch (setting->kind) {
    case RG_SWEPT_NUMBER:
      entry = real_or_null(rg_number_only(setting->text, &value) ? value : NAN);
      break;
    case RG_SWEPT_INTEGER:
      entry = json_integer(rg_number_only(setting->text, &value) ? (json_int_t)value : 0);
      break;
    case RG_SWEPT_LOGICAL: entry = json_boolean(!strcmp(setting->text, "true")); break;
    case RG_SWEPT_WORD: entry = json_string(setting->text); break;
    }
    json_object_set_new(settings, setting->name, entry);
  }
  return settings;
}

/* Print the line of a job, or report why the job is impossible. */
static PetscErrorCode simulate(const RgPlan *plan, int ranks, const RgJobRates *rates,
                               RgTable *table, int *exit_code)
{
  char message[RG_TEAMS_MESSAGE] = "";
  RgTeams teams;
  RgJob job;

  PetscCall(rg_teams_create(plan, ranks, 0, &teams, message));
  if (message[0]) {
    PetscCall(rg_refuse(exit_code, "plan: %s", message));
  } else {
    PetscCall(rg_simulate(plan, &teams, rates, &job));
    PetscCall(rg_table_add(table,
                           "%d\v%.1f\v%.1f%%\v%.1f%%\v%.1f%%\v%.1f%%\v%.4g\v%.0f\v%.1f\v%.1f",
                           ranks, job.wall, 100 * job.busy, 100 * job.ticket, 100 * job.disk,
                           100 * job.idle, job.commits, job.files, job.resume, job.pack));
  }
  return rg_teams_destroy(&teams);
}

/* Parse numbers of ranks from `text`, separated by ',', and rates for rg_job_rates from n words
   KEY=VALUE. Mistakes are reported and set *exit_code. */
static PetscErrorCode simulation_parse(const char *text, int n, const char *const *words,
                                       Simulation *simulation, int *exit_code)
{
  RgDiagnostics found = {0};
  char *list, *rest, *end;

  *simulation = (Simulation){0};
  PetscCall(rg_params_defaults(rg_job_rates, &simulation->rates));
  for (int i = 0; i < n; i++) {
    PetscCall(PetscStrallocpy(words[i], &list));
    char *value = rg_pair_split(list, (RgPlace){0}, &found);
    if (value)
      PetscCall(rg_pair_set(rg_job_rates, &simulation->rates, list, value, (RgPlace){0}, &found));
    PetscCall(PetscFree(list));
  }
  PetscCall(PetscStrallocpy(text, &list));
  for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    const long ranks = strtol(word, &end, 10);
    if (end == word || *end || ranks < 1 || ranks > 10000000)
      rg_diagnostics_add(&found, (RgPlace){0},
                         "-simulate takes numbers of ranks, separated by ',', got '%s'", word);
    PetscCall(RG_GROW(simulation->n, simulation->ranks));
    simulation->ranks[simulation->n++] = (int)ranks;
  }
  PetscCall(PetscFree(list));
  if (!simulation->n) rg_diagnostics_add(&found, (RgPlace){0}, "-simulate needs numbers of ranks");
  for (int i = 0; i < found.n && i < RG_DIAGNOSTICS_MAX; i++)
    PetscCall(rg_refuse(exit_code, "plan: %s", found.list[i].message));
  return 0;
}

/* ---- workers --------------------------------------------------------------------------------- */

typedef struct {
  RgTable table;
  RgInstances *instances;
  int n_rough, n_reported, n_open; /* cells; reported, open: left out */
} Clocks;

/* Add the line of a cell, or count it among those that are left out. */
static PetscErrorCode add_clock(const RgPlan *plan, int c, Clocks *clocks)
{
  const RgCell *cell = &plan->study->cells[c];
  const RgPlanCell *trials = &plan->cells[c];
  double mean[4] = {0}; /* over the trials of the cell */
  RgForecast last = {0};
  bool known = trials->n > 0; /* every trial has a forecast */

  for (int i = 0; i < trials->n && known; i++) {
    RgTrial trial;
    PetscCall(rg_plan_trial(plan, trials->first + i, &trial));
    PetscCall(rg_trial_forecast(plan->study, &trial, clocks->instances, &last, &known));
    mean[0] += last.makespan / trials->n;
    mean[1] += last.idle_share / trials->n;
    mean[2] += (double)last.n_rows / trials->n;
    mean[3] += (double)last.lost / trials->n;
  }
  if (!known) {
    clocks->n_reported += last.reported;
    clocks->n_open += !last.reported;
    return 0;
  }
  clocks->n_rough += last.rough;
  return rg_table_add(&clocks->table, "%s\v%s\v%s\v%d\v%s%.4g\v%.1f%%\v%.4g\v%.3g",
                      cell->problem_label, cell->algorithm_label, cell->swept, cell->crew.workers,
                      last.rough ? "~" : "", mean[0], 100 * mean[1], mean[2], mean[3]);
}

/* Print how these jobs would run the plan, by its estimated costs, or nominal ones. An impossible
   job is reported and sets *exit_code. */
static PetscErrorCode simulation_show(const Simulation *simulation, const RgPlan *plan, bool timed,
                                      int *exit_code)
{
  RgTable table = {.n_columns = 10,
                   .headings = {">ranks", ">wall (s)", ">trials", ">counter", ">commits", ">idle",
                                ">commits/s", ">shards", ">resume (s)", ">pack (s)"}};

  for (int i = 0; i < simulation->n && *exit_code == RG_EXIT_OK; i++)
    PetscCall(simulate(plan, simulation->ranks[i], &simulation->rates, &table, exit_code));
  if (*exit_code) return 0;
  rg_say("%s\n", timed ? "" : "\nby a rough count of operations, which may be off by tens:");
  PetscCall(rg_say_table(&table));
  /* Print the makespan, idle time and losses of every cell with a simulated clock, as far as they
     are known without its method. */
  Clocks clocks = {.table = {.n_columns = 8,
                             .headings = {"problem", "algorithm", "swept", ">workers", ">makespan",
                                          ">idle", ">evaluations", ">lost"}}};
  PetscCall(rg_instances_create(&clocks.instances));
  for (int c = 0; c < plan->study->n_cells; c++)
    if (plan->study->cells[c].crew.duration) PetscCall(add_clock(plan, c, &clocks));
  if (clocks.table.n_rows) {
    rg_say("\n");
    PetscCall(rg_say_table(&clocks.table));
  }
  if (clocks.n_rough)
    rg_say("~: durations depend on the queries; here each is of a random design\n");
  if (clocks.n_reported)
    rg_say("cells without a clock here: %d, whose programs report durations\n", clocks.n_reported);
  if (clocks.n_open)
    rg_say("cells without a clock here: %d, whose trials may fail or end early\n", clocks.n_open);
  return rg_instances_destroy(&clocks.instances);
}

enum {
  OPT_OUTPUT,
  OPT_TRIALS,
  OPT_RANKS,
  OPT_PER_HOST,
  OPT_MEMORY,
  OPT_QUICK,
  OPT_SIMULATE,
  OPT_JSON,
  OPT_DATA
};

static const RgOption options[] = {
  {"-o", "OUT.h5", "results file of the run, whose finished trials are counted"},
  {"-trials", NULL, "list every trial"},
  {"-ranks", "N", "ranks of the job (default: the size of the largest team)"},
  {"-per-host", "N", "ranks on one host (default: the number of cores of this host)"},
  {"-memory", "GB", "memory of a host (default: the memory of this host)"},
  {"-quick", NULL, "start and time nothing: seconds only of cells with finished trials"},
  {"-simulate", "N,...",
   "wall time, idle time and commits of jobs with these numbers of ranks; KEY=VALUE: a cost of the "
   "machine (ticket, record, commit, metadata, file, pack)"},
  {"-json", NULL, "one line of JSON for programs: the cells with their trials, seconds and bytes"},
  {"-data", "FOLDER",
   "the text is from a results file in this folder: open only data there or in REGATTA_DATA"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

typedef struct {
  int ranks, per_host;
  double memory; /* bytes per host */
} Job;

/* Bytes of address space that a rank maps and hardly uses: libraries, BLAS's buffer, MPI; and what
   Open MPI shares with each rank of the host (measured on Debian 12, 1 to 8 ranks). */
static const double space_of_a_rank = 550e6, space_of_a_neighbour = 10e6;

typedef struct {
  const RgPlan *plan;
  unsigned char *done; /* RgStatus by trial; owned */
  bool quick; /* a cell without finished trials has no seconds, but a count of operations */
  int n_done, n_foreign;
  RgOriginReference reference;
  RgOriginCounts origins; /* origins of finished trials */
  RgCalibration clock;    /* CPU seconds of complete trials; with programs, wall seconds */
  RgCalibration wall;     /* their wall time */
  int n_searches;         /* searches for unknown optima */
  double search;          /* their CPU seconds */
} Progress;

static PetscErrorCode count_record(void *closure, const RgRecord *record)
{
  Progress *progress = closure;
  RgOrigin origin;
  int trial;

  PetscCall(rg_plan_find(progress->plan, record->id, &trial));
  if (trial < 0) {
    progress->n_foreign++;
    return 0;
  }
  progress->n_done += !progress->done[trial];
  progress->done[trial] = (unsigned char)record->status;
  const int cell = rg_plan_cell(progress->plan, trial);
  if (record->status == RG_STATUS_COMPLETE) {
    const RgCell *its = &progress->plan->study->cells[cell];
    const bool waits = its->algorithm->outside || its->problem->traits & RG_PROBLEM_COSTLY;
    rg_calibration_add(&progress->clock, cell,
                       waits ? record->provenance.wall : record->provenance.cpu);
    rg_calibration_add(&progress->wall, cell, record->provenance.wall);
  }
  return rg_origin_compare(&progress->reference, record, cell, 0, &progress->origins, &origin);
}

/* Find the trials of the plan in `output`, without writing anything. output NULL: no results. */
static PetscErrorCode find_done(const RgPlan *plan, const char *output, Progress *progress,
                                int *exit_code)
{
  RgFingerprint fingerprint;
  RgStoreInfo info;
  RgFault fault = {0};

  *progress = (Progress){.plan = plan};
  PetscCall(PetscCalloc1(plan->n, &progress->done));
  PetscCall(rg_calibration_create(plan->study, &progress->clock));
  PetscCall(rg_calibration_create(plan->study, &progress->wall));
  if (!output || !rg_store_exists(output)) return 0;
  PetscCall(rg_fingerprint(&fingerprint));
  progress->reference = (RgOriginReference){.study = plan->study, .machine = fingerprint.hash};
  PetscCall(rg_software_describe(&progress->reference.software));
  PetscCall(rg_store_visit_heads(output, count_record, progress, &info, &fault));
  PetscCall(rg_store_info_clear(&info));
  return fault.code ? rg_refuse(exit_code, "plan: %s", fault.message) : 0;
}

/* ---- the tables ----------------------------------------------------------------------------- */

/* Write seconds in a suitable unit; returns buffer. */
static const char *show_seconds(double seconds, char buffer[32])
{
  if (isnan(seconds)) return "-";
  if (seconds < 100) rg_format(buffer, 32, "%.2g s", seconds);
  else if (seconds < 100 * 60) rg_format(buffer, 32, "%.0f min", seconds / 60);
  else rg_format(buffer, 32, "%.0f h", seconds / 3600);
  return buffer;
}

/* Seconds of a trial of a cell; NaN: not known. */
static double seconds_of(const RgPlan *plan, const Progress *progress, int c)
{
  return progress->quick && !(progress->clock.cells[c].n > 0) ? NAN : plan->cells[c].cost;
}

static int count_done(const Progress *progress, const RgPlanCell *planned)
{
  int n = 0;

  for (int i = 0; i < planned->n; i++) n += progress->done[planned->first + i] != 0;
  return n;
}

/* Append a line for every cell: names, sizes, number of trials and of finished trials. */
static PetscErrorCode add_cells(const RgPlan *plan, const Progress *progress, RgText *text)
{
  RgTable table = {.n_columns = 10,
                   .headings = {"problem", "algorithm", "swept", ">dim", ">design", ">queries",
                                ">trials", ">done", ">per trial", ">memory"}};
  char dim[32], domain[32], seconds[32];

  for (int c = 0; c < plan->study->n_cells; c++) {
    const RgPlanCell *planned = &plan->cells[c];
    const RgCell *cell = &plan->study->cells[c];
    snprintf(dim, sizeof(dim), cell->dim_c ? "%d+%d" : "%d", cell->dim_x, cell->dim_c);
    snprintf(domain, sizeof(domain), cell->size_x ? "%d points" : "box", cell->size_x);
    PetscCall(
      rg_table_add(&table, "%s\v%s\v%s\v%s\v%s\v%d+%d\v%d\v%d\v%s\v%.0f MB", cell->problem_label,
                   cell->algorithm_label, cell->swept, dim, domain, cell->run.initial_points,
                   cell->run.iterations, planned->n, count_done(progress, planned),
                   show_seconds(seconds_of(plan, progress, c), seconds), planned->memory / 1e6));
  }
  return rg_table_print(&table, text);
}

/* Append one line: a JSON object with the name of the study and its cells. */
static PetscErrorCode plan_json(const RgPlan *plan, const Progress *progress, RgText *text)
{
  json_t *cells = json_array();

  for (int c = 0; c < plan->study->n_cells; c++) {
    const RgPlanCell *planned = &plan->cells[c];
    const RgCell *cell = &plan->study->cells[c];
    json_array_append_new(cells, json_pack("{ss ss ss so si si si si si si si so so}", "problem",
                                           cell->problem_label, "algorithm", cell->algorithm_label,
                                           "method", cell->method, "settings", settings_json(cell),
                                           "dim_x", cell->dim_x, "dim_c", cell->dim_c, "points",
                                           cell->size_x, "initial_points", cell->run.initial_points,
                                           "iterations", cell->run.iterations, "trials", planned->n,
                                           "done", count_done(progress, planned), "seconds",
                                           real_or_null(seconds_of(plan, progress, c)), "memory",
                                           real_or_null(planned->memory)));
  }
  json_t *whole = json_pack("{ss so}", "study", plan->study->name, "cells", cells);
  char *line = json_dumps(whole, JSON_COMPACT);
  PetscCheck(line, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for the plan as JSON");
  PetscCall(rg_text_add(text, "%s\n", line));
  free(line);
  json_decref(whole);
  return 0;
}

static PetscErrorCode add_trials(const RgPlan *plan, const Progress *progress, RgText *text)
{
  static const char *const words[] = {
    [RG_STATUS_MISSING] = "", [RG_STATUS_COMPLETE] = "complete", [RG_STATUS_FAILED] = "failed"};
  RgTable table = {
    .n_columns = 7,
    .headings = {"id", "problem", "algorithm", "swept", ">instance", ">seed", "status"}};

  for (int i = 0; i < plan->n; i++) {
    RgTrial trial;
    PetscCall(rg_plan_trial(plan, i, &trial));
    const RgCell *cell = &plan->study->cells[trial.cell];
    PetscCall(rg_table_add(&table, "%s\v%s\v%s\v%s\v%llu\v%llu\v%s", trial.id, cell->problem_label,
                           cell->algorithm_label, cell->swept, (unsigned long long)trial.instance,
                           (unsigned long long)trial.seed, words[progress->done[i]]));
  }
  PetscCall(rg_text_add(text, "\n"));
  return rg_table_print(&table, text);
}

static PetscErrorCode add_summary(const RgPlan *plan, const Progress *progress, const Job *job,
                                  RgText *text)
{
  const bool timed = !progress->quick || progress->clock.n_trials;
  double left = progress->search, memory = 0, most = 0;
  char seconds[32], longest[32], search[32];

  for (int c = 0; c < plan->study->n_cells; c++) {
    const RgPlanCell *cell = &plan->cells[c];
    const double each = seconds_of(plan, progress, c);
    for (int i = cell->first; i < cell->first + cell->n && !isnan(each); i++)
      if (!progress->done[i]) left += each;
    memory = fmax(memory, cell->memory);
    most = fmax(most, each);
  }
  PetscCall(rg_text_add(text, "\n%d trials, %d done, %d to run", plan->n, progress->n_done,
                        plan->n - progress->n_done));
  if (progress->n_foreign)
    PetscCall(rg_text_add(text, "; %d more in the results file belong to no trial of this study",
                          progress->n_foreign));
  if (rg_origin_others(&progress->origins)) PetscCall(rg_text_add(text, "\n"));
  PetscCall(rg_origin_describe(&progress->origins, text));
  if (!timed)
    PetscCall(rg_text_add(text, "\nnothing was timed (-quick): no estimate of core-hours"));
  else
    PetscCall(rg_text_add(text,
                          "\nestimated: %.2g core-hours (%s on one core; the longest trial %s); ",
                          left / 3600, show_seconds(left, seconds), show_seconds(most, longest)));
  if (timed) PetscCall(rg_calibration_describe(&progress->clock, !progress->quick, text));
  if (progress->n_searches)
    PetscCall(rg_text_add(text, "; %s of it for %d search%s for an unknown optimum",
                          show_seconds(progress->search, search), progress->n_searches,
                          progress->n_searches > 1 ? "es" : ""));
  return rg_text_add(text,
                     "\nmemory: up to %.0f MB per rank, %.2g GB on a node of %d rank%s, which "
                     "has %.2g GB; address space (ulimit -v, h_vmem): %.1f GB per rank\n",
                     memory / 1e6, memory * job->per_host / 1e9, job->per_host,
                     job->per_host > 1 ? "s" : "", job->memory / 1e9,
                     (memory + space_of_a_rank + space_of_a_neighbour * job->per_host) / 1e9);
}

/* ---- teams ---------------------------------------------------------------------------------- */

static bool parse_job(const RgArguments *arguments, const RgStudy *study, Job *job)
{
  int rank, world, largest = 1;

  rg_world(&rank, &world);
  for (int c = 0; c < study->n_cells; c++)
    largest = PetscMax(largest, study->cells[c].run.ranks_per_trial);
  double ranks = world > 1 ? world : largest;
  double per_host = world > 1 ? world : fmax(1, (double)sysconf(_SC_NPROCESSORS_ONLN));
  double gigabytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1e9;
  static const char accepted[] = "a positive number";
  if (!rg_argument_real(arguments, OPT_RANKS, DBL_MIN, 1e9, accepted, &ranks) ||
      !rg_argument_real(arguments, OPT_PER_HOST, DBL_MIN, 1e9, accepted, &per_host) ||
      !rg_argument_real(arguments, OPT_MEMORY, DBL_MIN, 1e9, accepted, &gigabytes))
    return false;
  *job = (Job){.ranks = PetscMax(1, (int)ranks),
               .per_host = PetscMax(1, (int)per_host),
               .memory = 1e9 * gigabytes};
  return true;
}

/* Check that such a job would start; print the needs of its teams, or why they are impossible. */
static PetscErrorCode check_job(const RgPlan *plan, const Job *job, int *exit_code)
{
  char message[RG_TEAMS_MESSAGE];
  RgTeams teams;
  int largest = 1;
  double bytes = 0;

  PetscCall(rg_teams_create(plan, job->ranks, 0, &teams, message));
  if (!message[0])
    rg_teams_check_memory(plan, &teams, job->memory, PetscMin(job->ranks, job->per_host), message);
  for (int c = 0; !message[0] && c < plan->study->n_cells; c++) {
    for (int level = 0; level < teams.n && teams.size[level] > 1; level++) {
      if (!rg_teams_trials(&teams, plan, c, level)) continue;
      largest = PetscMax(largest, teams.size[level]);
      bytes = fmax(bytes, rg_cost_dense_bytes(&plan->study->cells[c], teams.size[level]));
    }
  }
  if (message[0]) {
    PetscCall(rg_refuse(exit_code, "plan: %s", message));
  } else if (largest > 1) {
    rg_say("on %d ranks: teams of up to %d, %.0f MB of shared matrices on each of their ranks\n",
           job->ranks, largest, bytes / 1e6);
  }
  return rg_teams_destroy(&teams);
}

/* Append the plan as a page: cells, trials if they are asked for, and sums. */
static PetscErrorCode describe_plan(const RgPlan *plan, const Progress *progress, const Job *job,
                                    bool trials, RgText *text)
{
  const RgStudy *study = plan->study;

  PetscCall(rg_text_add(text, "%s%s%s: %d cells, %d seeds, study seed %llu\n\n", study->name,
                        study->title[0] ? ", " : "", study->title, study->n_cells, study->n_seeds,
                        (unsigned long long)study->seed));
  PetscCall(add_cells(plan, progress, text));
  if (study->shared) PetscCall(rg_text_add(text, "\n%s", study->shared));
  if (trials) PetscCall(add_trials(plan, progress, text));
  return add_summary(plan, progress, job, text);
}

/* Time trials and searches here, after a line about every problem that is evaluated for that. */
static PetscErrorCode time_trials(const RgPlan *plan, const char *output, Progress *progress)
{
  char folder[PETSC_MAX_PATH_LEN] = ".";
  const char *slash = output ? strrchr(output, '/') : NULL;
  RgText calls = {0};

  if (slash) snprintf(folder, sizeof(folder), "%.*s", (int)(slash - output) + 1, output);
  PetscCall(rg_probe_calls(plan, &progress->clock, &calls));
  for (char *line = calls.length ? strtok(calls.data, "\n") : NULL; line; line = strtok(NULL, "\n"))
    rg_complain("plan: %s", line);
  PetscCall(rg_text_clear(&calls));
  PetscCall(rg_probe_costs(plan, folder, &progress->clock));
  return rg_probe_optima(plan, progress->done, &progress->n_searches, &progress->search);
}

static PetscErrorCode show_plan(const RgStudy *study, const RgArguments *arguments, int *exit_code)
{
  RgPlan plan;
  Progress progress;
  const char *const simulate = arguments->option[OPT_SIMULATE];
  Simulation simulation = {0};
  RgText text = {0}, against = {0};
  RgFault fault = {0};
  Job job;

  if (simulate) {
    PetscCall(simulation_parse(simulate, arguments->n - 1, arguments->positional + 1, &simulation,
                               exit_code));
  } else if (arguments->n > 1) {
    PetscCall(
      rg_refuse(exit_code, "plan: '%s' goes with -simulate only", arguments->positional[1]));
  }
  if (*exit_code != RG_EXIT_OK || !parse_job(arguments, study, &job)) {
    *exit_code = RG_EXIT_BAD_INPUT;
    PetscCall(PetscFree(simulation.ranks));
    return 0;
  }
  PetscCall(rg_plan_fill(study, &plan));
  PetscCall(find_done(&plan, arguments->option[OPT_OUTPUT], &progress, exit_code));
  PetscCall(rg_against_describe(&plan, &against, &fault));
  if (fault.code) PetscCall(rg_refuse(exit_code, "plan: %s", fault.message));
  if (*exit_code == RG_EXIT_OK) {
    if (!arguments->option[OPT_QUICK])
      PetscCall(time_trials(&plan, arguments->option[OPT_OUTPUT], &progress));
    progress.quick = arguments->option[OPT_QUICK] != NULL;
    PetscCall(rg_calibration_apply(&progress.clock, &plan));
    if (arguments->option[OPT_JSON]) PetscCall(plan_json(&plan, &progress, &text));
    else
      PetscCall(
        describe_plan(&plan, &progress, &job, arguments->option[OPT_TRIALS] != NULL, &text));
    rg_say("%s%s", text.data, against.length && !arguments->option[OPT_JSON] ? against.data : "");
    if (!arguments->option[OPT_JSON]) PetscCall(check_job(&plan, &job, exit_code));
    PetscCall(rg_calibration_apply(&progress.wall, &plan));
    if (simulate && *exit_code == RG_EXIT_OK)
      PetscCall(
        simulation_show(&simulation, &plan, !progress.quick || progress.clock.n_trials, exit_code));
  }
  PetscCall(rg_text_clear(&text));
  PetscCall(rg_calibration_destroy(&progress.clock));
  PetscCall(rg_calibration_destroy(&progress.wall));
  PetscCall(RG_FREE(&simulation.ranks, &progress.reference.software, &progress.done));
  return rg_plan_clear(&plan);
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *path = arguments->positional[0], *folder = arguments->option[OPT_DATA];
  RgStudy study = {0};
  RgDiagnostics diagnostics = {0}, absent = {0};
  RgText near = {0};
  char *text = NULL;
  size_t length;

  if (folder) { /* the text stood in a results file there */
    PetscCall(rg_text_add(&near, "%s/%s", folder, "study"));
    PetscCall(rg_study_read_file(path, &text, &length, &diagnostics));
    if (text)
      PetscCall(rg_study_parse_stored(registry, near.data, text, false, &study, &diagnostics));
    PetscCall(PetscFree(text));
  } else {
    PetscCall(rg_study_load_partly(registry, path, &study, &absent, &diagnostics));
  }
  rg_print_diagnostics(&absent);
  if (!diagnostics.n) PetscCall(rg_starts_announce(&study, "plan"));
  if (!diagnostics.n)
    PetscCall(rg_probe_programs(&study, !arguments->option[OPT_QUICK], &diagnostics));
  rg_print_diagnostics(&diagnostics);
  if (diagnostics.n && !registry)
    PetscCall(rg_plugins_complain(arguments->option[OPT_OUTPUT], NULL));
  if (diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  else PetscCall(rg_print_warnings(&study));
  if (!diagnostics.n && study.n_cells) PetscCall(show_plan(&study, arguments, exit_code));
  if (absent.n) *exit_code = RG_EXIT_BAD_INPUT;
  PetscCall(rg_study_destroy(&study));
  return rg_text_clear(&near);
}

static const char notes[] =
  "plan runs no trial and writes no results. Without -quick it times parts of a trial of each\n"
  "method and problem. A method that is a program is started, and gets made-up values. A problem\n"
  "that is a program is evaluated twice, after a line that announces this. plan does not\n"
  "evaluate the problem if its entry declares the `seconds` of an evaluation or a `time_limit`\n"
  "above 600. With -quick it starts no program. Problems whose data are missing are left out, a "
  "line\n"
  "for each file says which, and the exit code is 2, because `run` needs all of them.\n";

const RgCommand rg_command_plan = {
  RG_USAGE("plan STUDY.yaml [KEY=VALUE ...] [-o OUT.h5] [-ranks N] [options]", options, 1, INT_MAX),
  .world = 1U << OPT_SIMULATE, .place = RG_ON_RANK_0, .notes = notes, .run = run};
