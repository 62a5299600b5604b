/* regatta plan STUDY.yaml: show the trials and the cost of a study, without running it. */
#include "cli/command.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/plan_json.h"
#include "cli/simulation.h"
#include "cli/starts.h"
#include "cli/warnings.h"
#include "base/table.h"
#include "cli/world.h"
#include "study/schedule/calibration.h"
#include "study/plan/cost.h"
#include "study/run/probe.h"
#include "study/file/registry.h"
#include "study/run/origin.h"
#include "study/schedule/teams.h"
#include "study/store/store.h"

enum {
  OPT_OUTPUT,
  OPT_TRIALS,
  OPT_RANKS,
  OPT_PER_HOST,
  OPT_MEMORY,
  OPT_QUICK,
  OPT_SIMULATE,
  OPT_JSON
};

static const RgOption options[] = {
  {"-o", "OUT.h5", "results file of the run, whose finished trials are counted"},
  {"-trials", NULL, "list every trial"},
  {"-ranks", "N", "ranks of the job (default: the size of the largest team)"},
  {"-per-host", "N", "ranks on one host (default: the number of cores of this host)"},
  {"-memory", "GB", "memory of a host (default: the memory of this host)"},
  {"-quick", NULL, "estimate seconds from a rough count of operations, without timing"},
  {"-simulate", "N,...",
   "wall time, idle time and commits of jobs with these numbers of ranks; KEY=VALUE: a cost of the "
   "machine (ticket, record, commit, metadata, file, pack)"},
  {"-json", NULL, "one line of JSON for programs: the cells with their trials, seconds and bytes"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

/* The resources of a job. */
typedef struct {
  int ranks, per_host;
  double memory; /* bytes per host */
} Job;

/* Bytes of address space that a rank maps and hardly uses: libraries, BLAS's buffer, MPI; and what
   Open MPI shares with each rank of the host (measured on Debian 12, 1 to 8 ranks). */
static const double space_of_a_rank = 550e6, space_of_a_neighbour = 10e6;

/* ---- the command ---------------------------------------------------------------------------- */

typedef struct {
  const RgPlan *plan;
  unsigned char *done; /* RgStatus by trial; owned */
  int n_done, n_foreign;
  RgOriginJudge judge;
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

  PetscFunctionBeginUser;
  PetscCall(rg_plan_find(progress->plan, record->id, &trial));
  if (trial < 0) {
    progress->n_foreign++;
    PetscFunctionReturn(0);
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
  PetscCall(rg_origin_judge(&progress->judge, record, cell, 0, &progress->origins, &origin));
  PetscFunctionReturn(0);
}

static PetscErrorCode progress_clear(Progress *progress)
{
  PetscFunctionBeginUser;
  PetscCall(rg_origin_judge_destroy(&progress->judge));
  PetscCall(rg_calibration_destroy(&progress->clock));
  PetscCall(rg_calibration_destroy(&progress->wall));
  PetscCall(PetscFree(progress->done));
  PetscFunctionReturn(0);
}

/* Find the trials of the plan in `output`, without writing anything. output NULL: no results. */
static PetscErrorCode find_done(const RgPlan *plan, const char *output, Progress *progress,
                                int *exit_code)
{
  RgFingerprint fingerprint;
  RgStoreInfo info;
  RgFault fault = {0};

  PetscFunctionBeginUser;
  *progress = (Progress){.plan = plan};
  PetscCall(PetscCalloc1(plan->n, &progress->done));
  PetscCall(rg_calibration_create(plan->study, &progress->clock));
  PetscCall(rg_calibration_create(plan->study, &progress->wall));
  if (!output || !rg_store_exists(output)) PetscFunctionReturn(0);
  PetscCall(rg_fingerprint(&fingerprint));
  PetscCall(rg_origin_judge_create(plan->study, fingerprint.hash, &progress->judge));
  PetscCall(rg_store_visit_heads(output, count_record, progress, &info, &fault));
  PetscCall(rg_store_info_clear(&info));
  if (!fault.code) PetscFunctionReturn(0);
  rg_complain("plan: %s", fault.message);
  *exit_code = RG_EXIT_BAD_INPUT;
  PetscFunctionReturn(0);
}

/* ---- the tables ----------------------------------------------------------------------------- */

/* Write seconds in a suitable unit; returns buffer. */
static const char *show_seconds(double seconds, char buffer[32])
{
  if (seconds < 100) rg_format(buffer, 32, "%.2g s", seconds);
  else if (seconds < 100 * 60) rg_format(buffer, 32, "%.0f min", seconds / 60);
  else rg_format(buffer, 32, "%.0f h", seconds / 3600);
  return buffer;
}

/* Add the line of a cell: names, sizes, number of trials and of finished trials. */
static PetscErrorCode add_cell(const RgPlan *plan, const Progress *progress, int c, RgTable *table)
{
  const RgPlanCell *planned = &plan->cells[c];
  const RgCell *cell = &plan->study->cells[c];
  char dim[32], domain[32], queries[32], trials[16], done[16], seconds[32], memory[32];
  int n_done = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < planned->n; i++) n_done += progress->done[planned->first + i] != 0;
  snprintf(dim, sizeof(dim), cell->dim_c ? "%d+%d" : "%d", cell->dim_x, cell->dim_c);
  snprintf(domain, sizeof(domain), cell->size_x ? "%d points" : "box", cell->size_x);
  snprintf(queries, sizeof(queries), "%d+%d", cell->run.initial_points, cell->run.iterations);
  snprintf(trials, sizeof(trials), "%d", planned->n);
  snprintf(done, sizeof(done), "%d", n_done);
  rg_format(memory, sizeof(memory), "%.0f MB", planned->memory / 1e6);
  PetscCall(
    rg_table_add(table, (const char *const[]){cell->problem_label, cell->algorithm_label,
                                              cell->swept, dim, domain, queries, trials, done,
                                              show_seconds(planned->cost, seconds), memory}));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_cells(const RgPlan *plan, const Progress *progress, RgText *text)
{
  RgTable table = {.n_columns = 10,
                   .headings = {"problem", "algorithm", "swept", ">dim", ">design", ">queries",
                                ">trials", ">done", ">per trial", ">memory"}};

  PetscFunctionBeginUser;
  for (int c = 0; c < plan->study->n_cells; c++) PetscCall(add_cell(plan, progress, c, &table));
  PetscCall(rg_table_print(&table, text));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_trials(const RgPlan *plan, const Progress *progress, RgText *text)
{
  static const char *const words[] = {
    [RG_STATUS_MISSING] = "", [RG_STATUS_COMPLETE] = "complete", [RG_STATUS_FAILED] = "failed"};
  RgTable table = {
    .n_columns = 7,
    .headings = {"id", "problem", "algorithm", "swept", ">instance", ">seed", "status"}};

  PetscFunctionBeginUser;
  for (int i = 0; i < plan->n; i++) {
    RgTrial trial;
    PetscCall(rg_plan_trial(plan, i, &trial));
    const RgCell *cell = &plan->study->cells[trial.cell];
    char instance[24], seed[24];
    snprintf(instance, sizeof(instance), "%llu", (unsigned long long)trial.instance);
    snprintf(seed, sizeof(seed), "%llu", (unsigned long long)trial.seed);
    PetscCall(rg_table_add(
      &table, (const char *const[]){trial.id, cell->problem_label, cell->algorithm_label,
                                    cell->swept, instance, seed, words[progress->done[i]]}));
  }
  PetscCall(rg_text_add(text, "\n"));
  PetscCall(rg_table_print(&table, text));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_summary(const RgPlan *plan, const Progress *progress, const Job *job,
                                  RgText *text)
{
  double left = progress->search, memory = 0, most = 0;
  char seconds[32], longest[32], search[32];

  PetscFunctionBeginUser;
  for (int c = 0; c < plan->study->n_cells; c++) {
    const RgPlanCell *cell = &plan->cells[c];
    for (int i = cell->first; i < cell->first + cell->n; i++)
      if (!progress->done[i]) left += cell->cost;
    memory = fmax(memory, cell->memory);
    most = fmax(most, cell->cost);
  }
  PetscCall(rg_text_add(text, "\n%d trials, %d done, %d to run", plan->n, progress->n_done,
                        plan->n - progress->n_done));
  if (progress->n_foreign)
    PetscCall(rg_text_add(text, "; %d more in the results file belong to no trial of this study",
                          progress->n_foreign));
  if (rg_origin_others(&progress->origins)) PetscCall(rg_text_add(text, "\n"));
  PetscCall(rg_origin_describe(&progress->origins, text));
  PetscCall(rg_text_add(text,
                        "\nestimated: %.2g core-hours (%s on one core; the longest trial %s); ",
                        left / 3600, show_seconds(left, seconds), show_seconds(most, longest)));
  PetscCall(rg_calibration_describe(&progress->clock, text));
  if (progress->n_searches)
    PetscCall(rg_text_add(text, "; %s of it for %d search%s for an unknown optimum",
                          show_seconds(progress->search, search), progress->n_searches,
                          progress->n_searches > 1 ? "es" : ""));
  PetscCall(rg_text_add(text,
                        "\nmemory: up to %.0f MB per rank, %.2g GB on a node of %d rank%s, which "
                        "has %.2g GB; address space (ulimit -v, h_vmem): %.1f GB per rank\n",
                        memory / 1e6, memory * job->per_host / 1e9, job->per_host,
                        job->per_host > 1 ? "s" : "", job->memory / 1e9,
                        (memory + space_of_a_rank + space_of_a_neighbour * job->per_host) / 1e9));
  PetscFunctionReturn(0);
}

/* ---- teams ---------------------------------------------------------------------------------- */

/* Read a positive number; NaN after a mistake, `fallback` if the option is not given. */
static double positive(const RgArguments *arguments, int option, double fallback)
{
  const char *word = arguments->option[option];
  double value;

  if (!word) return fallback;
  if (rg_number_only(word, &value) && value > 0 && value <= 1e9) return value;
  rg_complain("plan: %s must be a positive number, got '%s'", options[option].name, word);
  return NAN;
}

static bool parse_job(const RgArguments *arguments, const RgStudy *study, Job *job)
{
  int rank, world, largest = 1;

  rg_world(&rank, &world);
  for (int c = 0; c < study->n_cells; c++)
    largest = PetscMax(largest, study->cells[c].run.ranks_per_trial);
  const double ranks = positive(arguments, OPT_RANKS, world > 1 ? world : largest);
  const double cores = PetscMax(1, (double)sysconf(_SC_NPROCESSORS_ONLN));
  const double per_host = positive(arguments, OPT_PER_HOST, world > 1 ? world : cores);
  const double here = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  const double memory = positive(arguments, OPT_MEMORY, here / 1e9);
  if (isnan(ranks + per_host + memory)) return false;
  *job = (Job){.ranks = PetscMax(1, (int)ranks),
               .per_host = PetscMax(1, (int)per_host),
               .memory = 1e9 * memory};
  return true;
}

/* Check that such a job would start; print the needs of its teams, or why they are impossible. */
static PetscErrorCode judge_job(const RgPlan *plan, const Job *job, int *exit_code)
{
  char message[RG_TEAMS_MESSAGE];
  RgTeams teams;
  int largest = 1;
  double bytes = 0;

  PetscFunctionBeginUser;
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
    rg_complain("plan: %s", message);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else if (largest > 1) {
    rg_say("on %d ranks: teams of up to %d, %.0f MB of shared matrices on each of their ranks\n",
           job->ranks, largest, bytes / 1e6);
  }
  PetscCall(rg_teams_destroy(&teams));
  PetscFunctionReturn(0);
}

/* The plan as a page: cells, trials if they are asked for, and sums. */
static PetscErrorCode describe_plan(const RgPlan *plan, const Progress *progress, const Job *job,
                                    bool trials, RgText *text)
{
  const RgStudy *study = plan->study;

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "%s%s%s: %d cells, %d seeds, study seed %llu\n\n", study->name,
                        study->title[0] ? ", " : "", study->title, study->n_cells, study->n_seeds,
                        (unsigned long long)study->seed));
  PetscCall(add_cells(plan, progress, text));
  if (study->shared) PetscCall(rg_text_add(text, "\n%s", study->shared));
  if (trials) PetscCall(add_trials(plan, progress, text));
  PetscCall(add_summary(plan, progress, job, text));
  PetscFunctionReturn(0);
}

/* Time trials and searches here, after a line about every problem that is evaluated for that. */
static PetscErrorCode time_trials(const RgPlan *plan, const char *output, Progress *progress)
{
  char folder[PETSC_MAX_PATH_LEN] = ".";
  const char *slash = output ? strrchr(output, '/') : NULL;
  RgText calls = {0};

  PetscFunctionBeginUser;
  if (slash) snprintf(folder, sizeof(folder), "%.*s", (int)(slash - output) + 1, output);
  PetscCall(rg_probe_calls(plan, &progress->clock, &calls));
  for (char *line = calls.length ? strtok(calls.data, "\n") : NULL; line; line = strtok(NULL, "\n"))
    rg_complain("plan: %s", line);
  PetscCall(rg_text_clear(&calls));
  PetscCall(rg_probe_costs(plan, folder, &progress->clock));
  PetscCall(rg_probe_optima(plan, progress->done, &progress->n_searches, &progress->search));
  PetscFunctionReturn(0);
}

static PetscErrorCode show_plan(const RgStudy *study, const RgArguments *arguments, int *exit_code)
{
  RgPlan plan;
  Progress progress;
  const char *const simulate = arguments->option[OPT_SIMULATE];
  RgSimulation simulation = {0};
  RgText text = {0};
  Job job;

  PetscFunctionBeginUser;
  if (simulate) {
    PetscCall(rg_simulation_parse(simulate, arguments->n - 1, arguments->positional + 1,
                                  &simulation, exit_code));
  } else if (arguments->n > 1) {
    rg_complain("plan: '%s' goes with -simulate only", arguments->positional[1]);
    *exit_code = RG_EXIT_BAD_INPUT;
  }
  if (*exit_code != RG_EXIT_OK || !parse_job(arguments, study, &job)) {
    *exit_code = RG_EXIT_BAD_INPUT;
    PetscCall(PetscFree(simulation.ranks));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_plan_fill(study, &plan));
  PetscCall(find_done(&plan, arguments->option[OPT_OUTPUT], &progress, exit_code));
  if (*exit_code == RG_EXIT_OK) {
    if (!arguments->option[OPT_QUICK])
      PetscCall(time_trials(&plan, arguments->option[OPT_OUTPUT], &progress));
    PetscCall(rg_calibration_apply(&progress.clock, &plan));
    if (arguments->option[OPT_JSON]) PetscCall(rg_plan_json(&plan, progress.done, &text));
    else
      PetscCall(
        describe_plan(&plan, &progress, &job, arguments->option[OPT_TRIALS] != NULL, &text));
    rg_say("%s", text.data);
    if (!arguments->option[OPT_JSON]) PetscCall(judge_job(&plan, &job, exit_code));
    PetscCall(rg_calibration_apply(&progress.wall, &plan));
    if (simulate && *exit_code == RG_EXIT_OK)
      PetscCall(rg_simulation_show(&simulation, &plan, exit_code));
  }
  PetscCall(PetscFree(simulation.ranks));
  PetscCall(rg_text_clear(&text));
  PetscCall(progress_clear(&progress));
  PetscCall(rg_plan_clear(&plan));
  PetscFunctionReturn(0);
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgStudy study;
  RgDiagnostics diagnostics = {0};
  bool told;

  PetscFunctionBeginUser;
  PetscCall(rg_study_load(registry, arguments->positional[0], &study, &diagnostics));
  if (!diagnostics.n) PetscCall(rg_starts_announce(&study, "plan"));
  if (!diagnostics.n)
    PetscCall(rg_probe_programs(&study, !arguments->option[OPT_QUICK], &diagnostics));
  rg_print_diagnostics(&diagnostics);
  if (diagnostics.n && !registry)
    PetscCall(rg_plugins_complain(arguments->option[OPT_OUTPUT], &told));
  if (diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  else PetscCall(rg_print_warnings(&study));
  if (!diagnostics.n) PetscCall(show_plan(&study, arguments, exit_code));
  PetscCall(rg_study_destroy(&study));
  PetscFunctionReturn(0);
}

static const char notes[] =
  "plan runs no trial and writes no results. Without -quick it times parts of a trial of each\n"
  "method and problem. A method that is a program is started, and gets made-up values. A problem\n"
  "that is a program is evaluated twice, after a line that announces this. plan does not\n"
  "evaluate the problem if its entry declares the `seconds` of an evaluation or a `time_limit`\n"
  "above 600. With -quick it starts no program.\n";

const RgCommand rg_command_plan = {
  RG_USAGE("plan STUDY.yaml [KEY=VALUE ...] [-o OUT.h5] [-ranks N] [options]", options, 1, INT_MAX),
  .world = 1U << OPT_SIMULATE, .place = RG_ON_RANK_0, .notes = notes, .run = run};
