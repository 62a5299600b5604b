/* The ask/evaluate/tell loop of one trial. */
#include "study/trial/trial_internal.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/grow.h"
#include "maths/design.h"
#include "regret/fill_distance.h"
#include "study/trial/trial_design.h"

static RgStream trial_stream(const RgTrialRun *run, const char *name)
{
  return rg_stream(run->study->seed, run->cell->problem->name, run->trial->instance, name,
                   run->trial->seed);
}

/* ---- life ---------------------------------------------------------------------------------- */

static int count_columns(const RgRecordColumn *columns)
{
  int n = 0;
  while (columns && columns[n].name) n++;
  return n;
}

static int model_inputs(RgTrialRun *run)
{
  RgModel *model =
    run->cell->algorithm->model ? run->cell->algorithm->model(&run->algorithm) : NULL;
  return model ? model->kernel.dim : 0;
}

static PetscErrorCode run_create_algorithm(RgTrialRun *run)
{
  const RgCell *cell = run->cell;
  char name[RG_NAME_MAX];

  PetscFunctionBeginUser;
  snprintf(name, sizeof(name), "algorithm:%s",
           cell->algorithm->stream ? cell->algorithm->stream : cell->algorithm->name);
  RgSetup setup = {
    .domain = &run->problem->domain,
    .surrogate = &cell->surrogate,
    .maximiser = &cell->maximiser,
    .noise_variance = cell->run.noise_known ? cell->run.noise_variance : NAN,
    .n_initial = run->trial->n_initial,
    .n_iterations = cell->run.iterations,
    .stream = trial_stream(run, name),
    .clock = &run->clock,
    .team = run->host->team,
    .keeper = &run->keeper,
  };
  run->keeper = rg_trial_keeper(run);
  PetscCall(rg_algorithm_create(cell->algorithm, cell->algorithm_options, &setup, &run->algorithm));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_create_log(RgTrialRun *run)
{
  const RgDomain *domain = &run->problem->domain;

  PetscFunctionBeginUser;
  run->problem->task = (RgTask){.trial = run->trial->id,
                                .instance = run->trial->instance,
                                .seed = run->trial->seed,
                                .stop = rg_trial_hear_stop,
                                .stop_closure = run,
                                .child = run->host->child,
                                .log = run->host->log};
  if (run->cell->problem->traits & RG_PROBLEM_COSTLY && run->host->directory)
    PetscCall(rg_evaluation_log_open(run->host->directory, RG_FOLDER_EVALUATIONS, run->trial->id,
                                     NULL, domain->design.dim, domain->context.dim,
                                     domain->n_constraints, &run->log));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_create(RgTrialRun *run)
{
  const RgCell *cell = run->cell;

  PetscFunctionBeginUser;
  run->instances = run->host->instances;
  if (!run->instances) PetscCall(rg_instances_create(&run->instances));
  PetscCall(rg_instances_take(run->instances, run->host->team, run->study, cell,
                              run->trial->instance, &run->instance, &run->failure));
  run->problem = &run->instance->problem;
  if (run->failure.failed) {
    PetscCall(rg_record_create(run->study, run->trial, run->trial->n_evaluations, 0,
                               cell->algorithm->columns, run->record));
    PetscFunctionReturn(0);
  }
  const RgDomain *domain = &run->problem->domain;
  int dim = domain->design.dim, context_dim = domain->context.dim;
  run->noise = trial_stream(run, "noise");
  run->contexts = trial_stream(run, "context");
  PetscCall(PetscCalloc4(dim, &run->unit_x, PetscMax(context_dim, 1), &run->unit_c, dim,
                         &run->native_x, PetscMax(context_dim, 1), &run->native_c));
  run->query = (RgQuery){.x = run->unit_x, .c = run->unit_c};
  PetscCall(PetscMalloc1(PetscMax(run->trial->n_evaluations, 1), &run->recommended));
  PetscCall(rg_history_create(domain, run->trial->n_evaluations, &run->history));
  run->history.n_initial = run->trial->n_initial;
  PetscCall(run_create_log(run));
  PetscCall(run_create_algorithm(run));
  run->n_extra = count_columns(run->algorithm.columns);
  PetscCall(PetscCalloc1(PetscMax(run->n_extra, 1), &run->extra));
  run->query.extra = run->extra;
  PetscCall(rg_trial_columns(run));
  PetscCall(rg_record_create(run->study, run->trial, run->trial->n_evaluations, model_inputs(run),
                             run->columns, run->record));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_destroy(RgTrialRun *run)
{
  PetscFunctionBeginUser;
  if (run->algorithm.class) PetscCall(rg_algorithm_destroy(&run->algorithm));
  PetscCall(rg_history_destroy(&run->history));
  PetscCall(rg_evaluation_log_close(&run->log));
  PetscCall(rg_evaluation_log_close(&run->answers));
  PetscCall(PetscFree(run->recommended));
  PetscCall(PetscFree4(run->unit_x, run->unit_c, run->native_x, run->native_c));
  PetscCall(RG_FREE(&run->extra, &run->columns, &run->names, &run->constraints));
  if (run->instance) run->problem->task = (RgTask){0}; /* the problem may outlive the trial */
  PetscCall(rg_instances_give_back(&run->instance));
  if (!run->host->instances) PetscCall(rg_instances_destroy(&run->instances));
  PetscFunctionReturn(0);
}

/* Record the current hyperparameters, one length scale per input. */
static void record_kernel(RgTrialRun *run, const RgModel *model, int row)
{
  double *out = rg_trial_cell(run, RG_COLUMN_LENGTH_SCALE, row);

  for (int t = 0; t < model->kernel.n_terms; t++)
    for (int k = 0; k < model->kernel.terms[t].n_factors; k++) {
      const RgKernelFactor *factor = &model->kernel.terms[t].factors[k];
      for (int j = 0; j < factor->n_inputs; j++)
        out[factor->inputs[j]] = out[factor->inputs[j] + factor->shift] =
          factor->length_scale[factor->n_scales == 1 ? 0 : j];
    }
  *rg_trial_cell(run, RG_COLUMN_SIGNAL_VARIANCE, row) = rg_kernel_diagonal(&model->kernel);
  *rg_trial_cell(run, RG_COLUMN_MODEL_NOISE, row) = model->noise_variance;
}

/* Posterior deviation at the newest evaluation, before the model includes it. */
static PetscErrorCode newest_deviation(RgTrialRun *run, RgModel *model, double *sd)
{
  double mean;

  return rg_model_predict_history(model, &run->history, run->history.n - 1, 1, &mean, sd);
}

static PetscErrorCode record_model(RgTrialRun *run, int row)
{
  RgModel *model =
    run->cell->algorithm->model ? run->cell->algorithm->model(&run->algorithm) : NULL;
  double sd;

  PetscFunctionBeginUser;
  if (!model) PetscFunctionReturn(0);
  PetscCall(newest_deviation(run, model, &sd));
  if (model->noise_variance > 0) run->gain += 0.5 * log1p(sd * sd / model->noise_variance);
  *rg_trial_cell(run, RG_COLUMN_POSTERIOR_SD, row) = sd * model->scale;
  if (model->noise_variance > 0) *rg_trial_cell(run, RG_COLUMN_INFORMATION_GAIN, row) = run->gain;
  if (model->report.refitted)
    *rg_trial_cell(run, RG_COLUMN_LOG_LIKELIHOOD, row) = model->report.log_likelihood;
  *rg_trial_cell(run, RG_COLUMN_JITTER, row) = model->report.jitter;
  if (model->report.iterations) {
    *rg_trial_cell(run, RG_COLUMN_SOLVER_ITERATIONS, row) = model->report.iterations;
    *rg_trial_cell(run, RG_COLUMN_SOLVER_RESIDUAL, row) = model->report.residual;
    if (model->report.refitted)
      *rg_trial_cell(run, RG_COLUMN_FIT_DATA, row) = model->report.fit_data;
  }
  record_kernel(run, model, row);
  PetscFunctionReturn(0);
}

static void record_clock(RgTrialRun *run, int row)
{
  *rg_trial_cell(run, RG_COLUMN_WALL_FIT, row) = run->clock.wall[RG_STAGE_FIT];
  *rg_trial_cell(run, RG_COLUMN_WALL_ACQUIRE, row) = run->clock.wall[RG_STAGE_ACQUIRE];
  *rg_trial_cell(run, RG_COLUMN_WALL_EVALUATE, row) = run->clock.wall[RG_STAGE_EVALUATE];
  *rg_trial_cell(run, RG_COLUMN_CPU_FIT, row) = run->clock.cpu[RG_STAGE_FIT];
  *rg_trial_cell(run, RG_COLUMN_CPU_ACQUIRE, row) = run->clock.cpu[RG_STAGE_ACQUIRE];
  *rg_trial_cell(run, RG_COLUMN_CPU_EVALUATE, row) = run->clock.cpu[RG_STAGE_EVALUATE];
  if (run->algorithm.memory > 0)
    *rg_trial_cell(run, RG_COLUMN_PROGRAM_MEMORY, row) = run->algorithm.memory;
  rg_clock_reset(&run->clock);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Record the recommendation by every score. */
static PetscErrorCode run_scores(RgTrialRun *run, int t, int row)
{
  const RgAlgorithmClass *class = run->cell->algorithm;
  const bool all = run->cell->score < 0 && class->scores;

  PetscFunctionBeginUser;
  for (int s = 0; s < run->cell->n_scores && !run->failure.failed; s++) {
    if (!rg_trial_is_scored(run, s)) continue;
    if (all)
      PetscCall(
        class->scores->recommend(&run->algorithm, t, &run->history, s, &run->query, &run->failure));
    if (!run->failure.failed)
      rg_trial_cell(run, RG_COLUMN_SCORE_RECOMMENDED, row)[s] =
        all ? run->query.index : run->recommended[row];
  }
  PetscFunctionReturn(0);
}

/* Record the recommendation after t queries; t = 0: after the initial design. */
static PetscErrorCode run_recommendation(RgTrialRun *run, int t, int row)
{
  const RgAlgorithmClass *class = run->cell->algorithm;

  PetscFunctionBeginUser;
  if (!class->recommend) PetscFunctionReturn(0);
  PetscCall(class->recommend(&run->algorithm, t, &run->history, &run->query, &run->failure));
  run->recommended[row] = run->failure.failed ? -1 : run->query.index;
  if (!run->failure.failed)
    rg_space_to_native(&run->problem->domain.design, run->query.x,
                       rg_trial_cell(run, RG_COLUMN_RECOMMENDATION, row));
  PetscCall(run_scores(run, t, row));
  PetscFunctionReturn(0);
}

/* Choose the context of an initial point for the learner: uniform over a finite set, else by
   nature's law. */
static PetscErrorCode initial_context(RgTrialRun *run, RgRandom *random)
{
  const RgSpace *context = &run->problem->domain.context;

  PetscFunctionBeginUser;
  if (rg_space_is_finite(context)) {
    int index = (int)rg_random_below(random, (uint64_t)context->size);
    run->query.context_index = index;
    PetscCall(
      PetscArraycpy(run->query.c, context->points + (size_t)index * context->dim, context->dim));
    PetscFunctionReturn(0);
  }
  PetscCall(run->problem->class->draw_context(run->problem, random, run->native_c,
                                              &run->query.context_index));
  rg_space_to_unit(context, run->native_c, run->query.c);
  PetscFunctionReturn(0);
}

/* Whether the trial continues with another evaluation, if one is due. */
static bool goes_on(RgTrialRun *run)
{
  const RgTrialHost *host = run->host;
  const int n = run->history.n;

  if (!run->failure.failed && !run->abandoned && n && rg_trial_hear_stop(run))
    run->abandoned = true;
  if (host->enough && n > run->trial->n_initial && host->enough(host->enough_closure, n))
    return false;
  return !run->failure.failed && !run->abandoned && !run->ended;
}

static PetscErrorCode run_initial_design(RgTrialRun *run)
{
  int n = run->trial->n_initial, dim = run->problem->domain.design.dim;
  double *points;
  int *indices;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((size_t)PetscMax(n, 1) * dim, &points, PetscMax(n, 1), &indices));
  /* The stream is that of instance 0: all instances of a problem share the initial designs, so
     that instances and seeds are crossed. */
  RgStream stream =
    rg_stream(run->study->seed, run->cell->problem->name, 0, "design", run->trial->seed);
  PetscCall(rg_trial_design(&stream, &run->problem->domain.design, run->cell->run.initial_design,
                            &run->cell->given, n, points, indices));
  for (int row = 0; row < n && goes_on(run); row++) {
    run->stage = row + 1;
    run->query.index = indices[row];
    PetscCall(PetscArraycpy(run->query.x, points + (size_t)row * dim, dim));
    if (run->problem->domain.control == RG_CONTEXT_SIMULATOR) {
      RgRandom random = rg_stream_at(&run->contexts, (uint64_t)row);
      PetscCall(initial_context(run, &random));
    }
    PetscCall(rg_trial_evaluate(run, row));
    if (row == n - 1 && !run->failure.failed && !run->abandoned)
      PetscCall(run_recommendation(run, 0, row));
    record_clock(run, row);
    if (row == n - 1 && goes_on(run)) PetscCall(rg_trial_check_end(run, row));
  }
  PetscCall(PetscFree2(points, indices));
  PetscFunctionReturn(0);
}

/* If a stop ended the wait for a program, the trial is abandoned and has not failed. */
static void hear_method(RgTrialRun *run)
{
  if (run->failure.failed && run->answers && run->stop_heard) run->abandoned = true;
}

/* Ask the method for its recommendation. Without one, skip the clock: each reading of CPU time
   is a system call. */
static PetscErrorCode hear_out(RgTrialRun *run, int t, int row)
{
  const RgAlgorithmClass *class = run->cell->algorithm;

  PetscFunctionBeginUser;
  if (!class->recommend) PetscFunctionReturn(0);
  PetscCall(rg_clock_begin(&run->clock, RG_STAGE_ACQUIRE));
  PetscCall(run_recommendation(run, t, row));
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_ACQUIRE));
  hear_method(run);
  PetscFunctionReturn(0);
}

static PetscErrorCode run_iteration(RgTrialRun *run, int t)
{
  int row = run->trial->n_initial + t - 1;

  PetscFunctionBeginUser;
  run->stage = row + 1;
  for (int k = 0; k < run->n_extra; k++) run->extra[k] = NAN;
  run->query.index = run->query.context_index = -1;
  PetscCall(rg_algorithm_ask(&run->algorithm, t, &run->history, &run->query, &run->failure));
  hear_method(run);
  if (run->failure.failed || run->abandoned) PetscFunctionReturn(0);

  PetscCall(rg_trial_evaluate(run, row));
  if (run->failure.failed || run->abandoned) PetscFunctionReturn(0);
  PetscCall(record_model(run, row));
  PetscCall(hear_out(run, t, row));
  for (int k = 0; k < run->n_extra; k++) run->record->extra[k][row] = run->extra[k];
  record_clock(run, row);
  PetscCall(rg_trial_check_end(run, row));
  PetscFunctionReturn(0);
}

static PetscErrorCode finish_record(RgTrialRun *run, double wall, double cpu)
{
  RgRecord *record = run->record;
  struct rusage usage;

  PetscFunctionBeginUser;
  record->status = run->failure.failed ? RG_STATUS_FAILED : RG_STATUS_COMPLETE;
  if (run->failure.failed)
    snprintf(record->message, sizeof(record->message), "evaluation %d: %.200s", run->stage,
             run->failure.message);
  record->provenance.wall = rg_wall_seconds() - wall;
  record->provenance.cpu =
    rg_cpu_seconds() - cpu + (run->problem ? run->problem->task.cpu : 0) + run->algorithm.cpu;
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    record->provenance.peak_memory = 1024.0 * (double)usage.ru_maxrss;
  if (run->algorithm.versions)
    PetscCall(PetscStrallocpy(run->algorithm.versions, &record->provenance.software));
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
  host->trouble = (RgFault){0};
  run.cell = &study->cells[trial->cell];
  PetscCall(run_create(&run));
  record->provenance.started = started;
  if (!run.failure.failed) PetscCall(run_initial_design(&run));
  for (int t = 1; t <= run.cell->run.iterations && goes_on(&run); t++)
    PetscCall(run_iteration(&run, t));
  record->n_rows = run.history.n;
  const bool judged = !run.abandoned && record->n_rows && !host->enough;
  if (judged) PetscCall(rg_trial_regret(&run));
  if (judged && run.cell->problem->traits & RG_PROBLEM_FILLS_SPACE)
    PetscCall(
      rg_fill_of_queries(&run.algorithm, &run.history, record->column[RG_COLUMN_FILL_DISTANCE]));
  if (run.failure.failed && !run.abandoned) PetscCall(rg_trial_note(&run, run.failure.message));
  PetscCall(finish_record(&run, wall, cpu));
  const bool shared = rg_team_jobs(host->team) > jobs || run.problem->by_team;
  record->provenance.team = shared ? rg_team_size(host->team) : 1;
  record->logged = (run.log && rg_evaluation_log_size(run.log)) ||
                   (run.answers && rg_evaluation_log_size(run.answers));
  *stopped = run.abandoned;
  if (*stopped) PetscCall(rg_record_destroy(record));
  PetscCall(run_destroy(&run));
  PetscFunctionReturn(0);
}
