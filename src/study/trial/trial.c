/* The life of a trial: its state, its loop (trial_loop.c, trial_crew.c), its record. */
#include "base/grow.h"
#include "base/text.h"
#include "gp/model/model.h"
#include "gp/team/team.h"
#include "regret/fill_distance.h"
#include "study/trial/trial.h"
#include "study/trial/trial_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void rg_reasons_add(RgReasons *reasons, const char *text, int count)
{
  int k = 0;

  while (k < reasons->n && strcmp(reasons->list[k].text, text)) k++;
  if (k == RG_REASONS_MAX) {
    reasons->others += count;
    return;
  }
  if (k == reasons->n) {
    snprintf(reasons->list[k].text, sizeof(reasons->list[k].text), "%s", text);
    reasons->n++;
  }
  reasons->list[k].count += count;
}

void rg_reasons_join(RgReasons *reasons, const RgReasons *more)
{
  for (int k = 0; k < more->n; k++)
    rg_reasons_add(reasons, more->list[k].text, more->list[k].count);
  reasons->others += more->others;
}

/* ---- life ---------------------------------------------------------------------------------- */

static int count_columns(const RgRecordColumn *columns)
{
  int n = 0;
  while (columns && columns[n].name) n++;
  return n;
}

static PetscErrorCode create_record(RgTrialRun *run)
{
  RgModel *model =
    run->cell->algorithm->model ? run->cell->algorithm->model(&run->algorithm) : NULL;
  const int terms = model ? model->kernel.n_terms : 0;

  PetscCall(rg_record_create(run->study, run->trial, run->trial->n_evaluations,
                             model ? model->kernel.dim : 0, run->columns, run->record));
  PetscCall(rg_record_set_terms(run->record, terms > 1 ? terms : 0));
  return 0;
}

static PetscErrorCode run_create_algorithm(RgTrialRun *run)
{
  const RgCell *cell = run->cell;
  char name[RG_NAME_MAX];

  snprintf(name, sizeof(name), "algorithm:%s",
           cell->algorithm->stream ? cell->algorithm->stream : cell->algorithm->name);
  RgSetup setup = {
    .domain = &run->problem->domain,
    .surrogate = &cell->surrogate,
    .maximiser = &cell->maximiser,
    .noise_variance = cell->run.noise_known ? cell->run.noise_variance : NAN,
    .n_initial = run->trial->n_initial,
    .n_iterations = cell->run.iterations,
    .n_workers = cell->crew.workers,
    .time = cell->crew.time,
    .batches = cell->crew.workers > 1 && cell->crew.release == RG_RELEASE_SYNC,
    .pending = cell->crew.workers > 1 ? &cell->pending : NULL,
    .stream = rg_trial_stream(run, name),
    .clock = &run->clock,
    .team = run->host->team,
    .keeper = &run->keeper,
  };
  run->keeper = rg_trial_keeper(run);
  PetscCall(rg_algorithm_create(cell->algorithm, cell->algorithm_options, &setup, &run->algorithm));
  return 0;
}

static PetscErrorCode run_create_log(RgTrialRun *run)
{
  const RgDomain *domain = &run->problem->domain;

  run->problem->task = (RgTask){.trial = run->trial->id,
                                .instance = run->trial->instance,
                                .seed = run->trial->seed,
                                .stop = rg_trial_hear_stop,
                                .stop_closure = run,
                                .child = run->host->child,
                                .log = run->host->log,
                                .account = &run->account};
  if (run->cell->problem->traits & RG_PROBLEM_COSTLY && run->host->directory)
    PetscCall(rg_evaluation_log_open(run->host->directory, RG_FOLDER_EVALUATIONS, run->trial->id,
                                     NULL, domain->design.dim, domain->context.dim,
                                     rg_trial_more(run->cell), &run->log));
  return 0;
}

static PetscErrorCode run_create(RgTrialRun *run)
{
  const RgCell *cell = run->cell;

  run->instances = run->host->instances;
  if (!run->instances) PetscCall(rg_instances_create(&run->instances));
  PetscCall(rg_instances_take(run->instances, run->host->team, run->study, cell,
                              run->trial->instance, &run->instance, &run->failure));
  run->problem = &run->instance->problem;
  if (run->failure.failed) {
    PetscCall(rg_record_create(run->study, run->trial, run->trial->n_evaluations, 0,
                               cell->algorithm->columns, run->record));
    return 0;
  }
  const RgDomain *domain = &run->problem->domain;
  int dim = domain->design.dim, context_dim = domain->context.dim;
  run->noise = rg_trial_stream(run, "noise");
  run->contexts = rg_trial_stream(run, "context");
  PetscCall(PetscCalloc4(dim, &run->unit_x, PetscMax(context_dim, 1), &run->unit_c, dim,
                         &run->native_x, PetscMax(context_dim, 1), &run->native_c));
  run->query = (RgQuery){.x = run->unit_x, .c = run->unit_c};
  PetscCall(PetscMalloc1(PetscMax(run->trial->n_evaluations, 1), &run->recommended));
  PetscCall(rg_history_create(domain, run->trial->n_evaluations, &run->history));
  PetscCall(rg_history_create(domain, run->trial->n_evaluations, &run->asked));
  run->history.n_initial = run->trial->n_initial;
  PetscCall(PetscMalloc1(PetscMax(run->trial->n_evaluations, 1), &run->order));
  PetscCall(rg_trial_create_crew(run));
  PetscCall(rg_trial_draw_design(run));
  PetscCall(run_create_log(run));
  PetscCall(run_create_algorithm(run));
  run->n_extra = count_columns(run->algorithm.columns);
  PetscCall(PetscCalloc1(PetscMax(run->n_extra, 1), &run->extra));
  run->query.extra = run->extra;
  PetscCall(rg_trial_columns(run));
  PetscCall(create_record(run));
  return 0;
}

static PetscErrorCode run_destroy(RgTrialRun *run)
{
  if (run->algorithm.class) PetscCall(rg_algorithm_destroy(&run->algorithm));
  PetscCall(rg_history_destroy(&run->history));
  PetscCall(rg_history_destroy(&run->asked));
  PetscCall(rg_trial_destroy_crew(run));
  PetscCall(PetscFree2(run->design, run->design_index));
  PetscCall(rg_text_clear(&run->account));
  PetscCall(rg_text_clear(&run->explanation));
  PetscCall(rg_evaluation_log_close(&run->log));
  PetscCall(rg_evaluation_log_close(&run->answers));
  PetscCall(PetscFree(run->recommended));
  PetscCall(PetscFree4(run->unit_x, run->unit_c, run->native_x, run->native_c));
  PetscCall(
    RG_FREE(&run->extra, &run->columns, &run->names, &run->constraints, &run->order, &run->broken));
  if (run->instance) run->problem->task = (RgTask){0}; /* the problem may outlive the trial */
  PetscCall(rg_instances_give_back(&run->instance));
  if (!run->host->instances) PetscCall(rg_instances_destroy(&run->instances));
  return 0;
}

static PetscErrorCode finish_record(RgTrialRun *run, double wall, double cpu)
{
  RgRecord *record = run->record;
  struct rusage usage;

  record->status = run->failure.failed ? RG_STATUS_FAILED : RG_STATUS_COMPLETE;
  if (run->failure.failed)
    snprintf(record->message, sizeof(record->message), "evaluation %d: %.*s", run->stage,
             (int)rg_utf8_cut(run->failure.message, 200), run->failure.message);
  record->failures = run->failures.data; /* owned by the record from now on */
  record->failure_texts = run->texts.data;
  record->provenance.wall = rg_wall_seconds() - wall;
  record->provenance.cpu =
    rg_cpu_seconds() - cpu + (run->problem ? run->problem->task.cpu : 0) + run->algorithm.cpu;
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    record->provenance.peak_memory = 1024.0 * (double)usage.ru_maxrss;
  if (run->algorithm.versions)
    PetscCall(PetscStrallocpy(run->algorithm.versions, &record->provenance.software));
  return 0;
}

/* Time with fractions of a second: among records of a trial the later one counts, even within
   one second. */
static double unix_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

PetscErrorCode rg_trial_run(const RgStudy *study, const RgTrial *trial, RgTrialHost *host,
                            RgRecord *record, bool *stopped)
{
  RgTrialHost alone = {0};
  if (!host) host = &alone;
  RgTrialRun run = {.study = study, .trial = trial, .record = record, .host = host};
  const double wall = rg_wall_seconds(), cpu = rg_cpu_seconds(), started = unix_time();
  const int64_t jobs = rg_team_jobs(host->team);

  host->trouble = (RgFault){0};
  run.cell = &study->cells[trial->cell];
  PetscCall(run_create(&run));
  record->provenance.started = started;
  if (!run.failure.failed) PetscCall(rg_trial_run_crew(&run));
  record->n_rows = run.history.n;
  const bool judged = !run.abandoned && record->n_rows && !host->enough;
  if (judged) PetscCall(rg_trial_regret(&run));
  if (judged && run.cell->problem->traits & RG_PROBLEM_FILLS_SPACE)
    PetscCall(
      rg_fill_of_queries(&run.algorithm, &run.history, record->column[RG_COLUMN_FILL_DISTANCE]));
  if (run.failure.failed && !run.abandoned)
    PetscCall(rg_trial_note(&run, run.stage, run.failure.message));
  PetscCall(finish_record(&run, wall, cpu));
  const bool shared = rg_team_jobs(host->team) > jobs || run.problem->by_team;
  record->provenance.team = shared ? rg_team_size(host->team) : 1;
  record->logged = (run.log && rg_evaluation_log_size(run.log)) ||
                   (run.answers && rg_evaluation_log_size(run.answers));
  *stopped = run.abandoned;
  if (*stopped) PetscCall(rg_record_destroy(record));
  PetscCall(run_destroy(&run));
  return 0;
}
