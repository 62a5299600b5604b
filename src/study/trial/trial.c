/* The life of a trial, from its problem to its record. The loop is in trial_clock.c. */
#include "base/grow.h"
#include "base/text.h"
#include "gp/team/team.h"
#include "regret/fill_distance.h"
#include "study/trial/trial.h"
#include "study/trial/trial_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static PetscErrorCode create_algorithm(RgTrialRun *run)
{
  const RgTrialParts *of = &run->of;
  const RgCell *cell = of->cell;
  char name[RG_NAME_MAX];

  snprintf(name, sizeof(name), "algorithm:%s",
           cell->algorithm->stream ? cell->algorithm->stream : cell->algorithm->name);
  run->keeper = rg_trial_keeper(run);
  RgSetup setup = {
    .domain = &of->problem->domain,
    .surrogate = &cell->surrogate,
    .maximiser = &cell->maximiser,
    .noise_variance = rg_cell_told_noise(cell),
    .n_initial = of->trial->n_initial,
    .n_iterations = cell->run.iterations,
    .n_workers = cell->crew.workers,
    .time = cell->crew.time,
    .batches = cell->crew.workers > 1 && cell->crew.release == RG_RELEASE_SYNC,
    .pending = cell->crew.workers > 1 ? &cell->pending : NULL,
    .stream = rg_trial_stream(of, name),
    .clock = &run->clock,
    .team = of->host->team,
    .keeper = &run->keeper,
  };
  return rg_algorithm_create(cell->algorithm, cell->algorithm_options, &setup, &run->algorithm);
}

static PetscErrorCode create(RgTrialRun *run)
{
  RgTrialParts *of = &run->of;
  RgTrialServices *host = of->host;
  const int n = of->trial->n_evaluations;

  of->instances = host->instances;
  if (!of->instances) PetscCall(rg_instances_create(&of->instances));
  PetscCall(rg_instances_acquire(of->instances, host->team, of->study, of->cell,
                                 of->trial->instance, &of->instance, &run->failure));
  of->problem = &of->instance->problem;
  if (run->failure.failed) {
    PetscCall(
      rg_record_create(of->study, of->trial, n, 0, of->cell->algorithm->columns, run->out.record));
    return 0;
  }
  const RgDomain *domain = &of->problem->domain;
  const int dim = domain->design.dim, dim_c = domain->context.dim;
  of->noise = rg_trial_stream(of, "noise");
  PetscCall(rg_noise_create(&of->cell->noise, of->cell->run.noise_variance, &domain->design,
                            &of->noise_law));
  of->contexts = rg_trial_stream(of, "context");
  PetscCall(PetscCalloc1(dim, &run->query.x));
  PetscCall(PetscCalloc1(dim_c, &run->query.c));
  PetscCall(PetscCalloc1(dim, &run->rows.native_x));
  PetscCall(PetscCalloc1(dim_c, &run->rows.native_c));
  PetscCall(PetscCalloc1(n, &run->rows.recommended));
  PetscCall(rg_history_create(domain, n, &run->rows.history));
  run->rows.history.n_initial = of->trial->n_initial;
  PetscCall(rg_trial_draw_design(run));
  of->problem->task = (RgTask){.trial = of->trial->id,
                               .instance = of->trial->instance,
                               .seed = of->trial->seed,
                               .stop = rg_trial_poll_stop,
                               .stop_closure = run,
                               .child = host->child,
                               .log = host->log,
                               .account = &run->out.account};
  if (of->cell->problem->traits & RG_PROBLEM_COSTLY && host->directory)
    PetscCall(rg_evaluation_log_open(host->directory, RG_FOLDER_EVALUATIONS, of->trial->id, NULL,
                                     dim, dim_c, rg_trial_more(of->cell), &run->log));
  PetscCall(create_algorithm(run));
  return rg_trial_create_record(run);
}

static PetscErrorCode destroy(RgTrialRun *run)
{
  RgTrialParts *of = &run->of;
  RgTrialRows *rows = &run->rows;

  if (run->algorithm.class) PetscCall(rg_algorithm_destroy(&run->algorithm));
  PetscCall(rg_history_destroy(&rows->history));
  PetscCall(rg_noise_destroy(&of->noise_law));
  PetscCall(rg_text_clear(&run->out.account));
  PetscCall(rg_text_clear(&run->out.explanation));
  PetscCall(rg_evaluation_log_close(&run->log));
  PetscCall(rg_evaluation_log_close(&run->answers));
  PetscCall(RG_FREE(&of->design, &of->design_index, &run->query.x, &run->query.c, &run->query.extra,
                    &rows->native_x, &rows->native_c, &rows->recommended, &rows->numbers,
                    &rows->broken));
  of->problem->task = (RgTask){0}; /* the problem may outlive the trial */
  PetscCall(rg_instances_release(&of->instance));
  if (!of->host->instances) PetscCall(rg_instances_destroy(&of->instances));
  return 0;
}

static PetscErrorCode finish_record(RgTrialRun *run, double wall, double cpu)
{
  RgRecord *record = run->out.record;
  RgProvenance *provenance = &record->provenance;
  struct rusage usage;

  record->status = run->failure.failed ? RG_STATUS_FAILED : RG_STATUS_COMPLETE;
  if (run->failure.failed)
    snprintf(record->message, sizeof(record->message), "evaluation %d: %.*s", run->stage,
             (int)rg_utf8_cut(run->failure.message, 200), run->failure.message);
  record->failures = run->out.failures.data; /* owned by the record from now on */
  record->failure_texts = run->out.texts.data;
  record->logged = (run->log && run->log->n) || (run->answers && run->answers->n);
  provenance->wall = rg_wall_seconds() - wall;
  provenance->cpu = rg_cpu_seconds() - cpu + run->of.problem->task.cpu + run->algorithm.cpu;
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    provenance->peak_memory = 1024.0 * (double)usage.ru_maxrss;
  if (run->algorithm.versions)
    PetscCall(PetscStrallocpy(run->algorithm.versions, &provenance->software));
  return 0;
}

PetscErrorCode rg_trial_run(const RgStudy *study, const RgTrial *trial, RgTrialServices *host,
                            RgRecord *record, bool *stopped)
{
  RgTrialServices alone = {0};
  if (!host) host = &alone;
  const RgCell *cell = &study->cells[trial->cell];
  RgTrialRun run = {.of = {.study = study, .cell = cell, .trial = trial, .host = host},
                    .rows = {.least = INFINITY, .least_feasible = INFINITY, .best = -INFINITY},
                    .out = {.record = record}};
  const double wall = rg_wall_seconds(), cpu = rg_cpu_seconds();
  const int64_t jobs = rg_team_jobs(host->team);
  struct timespec now;

  clock_gettime(CLOCK_REALTIME, &now);
  host->trouble = (RgFault){0};
  PetscCall(create(&run));
  /* Fractions of a second count: of the records of a trial the later one is used. */
  record->provenance.started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  if (!run.failure.failed) PetscCall(rg_trial_run_crew(&run));
  record->n_rows = run.rows.history.n;
  const bool scored = !run.abandoned && record->n_rows && !host->enough;
  if (scored) PetscCall(rg_trial_regret(&run));
  if (scored && cell->problem->traits & RG_PROBLEM_FILLS_SPACE)
    PetscCall(rg_fill_of_queries(&run.algorithm, &run.rows.history,
                                 record->column[RG_COLUMN_FILL_DISTANCE]));
  if (run.failure.failed && !run.abandoned)
    PetscCall(rg_trial_record_failure(&run, run.stage, run.failure.message));
  PetscCall(finish_record(&run, wall, cpu));
  const bool shared = rg_team_jobs(host->team) > jobs || run.of.problem->by_team;
  record->provenance.team = shared ? rg_team_size(host->team) : 1;
  PetscCall(rg_record_leave_out(&study->without, record));
  *stopped = run.abandoned;
  if (*stopped) PetscCall(rg_record_destroy(record));
  return destroy(&run);
}
