#include "study/trial.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/design.h"
#include "regret/fill_distance.h"
#include "regret/regret.h"
#include "study/instances.h"
#include "study/trial_design.h"

/* Everything one trial holds while it runs. */
typedef struct {
  const RgStudy *study;
  const RgCell  *cell;
  const RgTrial *trial;
  RgInstances   *instances; /* of the study, or of this trial alone */
  RgInstance    *instance;
  RgProblem     *problem;   /* of the instance */
  RgAlgorithm    algorithm;
  RgHistory      history;
  RgClock        clock;
  RgStream       noise, contexts;
  RgQuery        query;   /* storage below */
  double        *unit_x, *unit_c, *native_x, *native_c, *extra;
  double        *input;   /* of the model: x, then c */
  int            n_extra;
  int           *recommended; /* index of the recommended design per row, -1 on a box */
  int            stage;   /* number of the evaluation at hand, for messages */
  double         gain;    /* realised information gain so far */
  RgRecord      *record;
  RgFailure      failure;
} Run;

static RgStream trial_stream(const Run *run, const char *name)
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

static int model_inputs(Run *run)
{
  RgModel *model =
      run->cell->algorithm->model ? run->cell->algorithm->model(&run->algorithm) : NULL;
  return model ? model->kernel.dim : 0;
}

static PetscErrorCode run_create_algorithm(Run *run)
{
  const RgCell *cell = run->cell;
  char          name[RG_NAME_MAX];

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
  };
  PetscCall(rg_algorithm_create(cell->algorithm, cell->algorithm_options, &setup, &run->algorithm));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_create(Run *run)
{
  const RgCell *cell = run->cell;

  PetscFunctionBeginUser;
  run->instances = run->study->instances;
  if (!run->instances) PetscCall(rg_instances_create(&run->instances));
  PetscCall(rg_instances_take(run->instances, run->study, cell, run->trial->instance,
                              &run->instance, &run->failure));
  run->problem = &run->instance->problem;
  if (run->failure.failed) {
    PetscCall(rg_record_create(run->study, run->trial, run->trial->n_evaluations, 0,
                               cell->algorithm->columns, run->record));
    PetscFunctionReturn(0);
  }
  const RgDomain *domain = &run->problem->domain;
  int             dim = domain->design.dim, context_dim = domain->context.dim;
  run->noise = trial_stream(run, "noise");
  run->contexts = trial_stream(run, "context");
  run->n_extra = count_columns(cell->algorithm->columns);
  PetscCall(PetscCalloc6(dim, &run->unit_x, PetscMax(context_dim, 1), &run->unit_c, dim,
                         &run->native_x, PetscMax(context_dim, 1), &run->native_c,
                         PetscMax(run->n_extra, 1), &run->extra, dim + context_dim, &run->input));
  run->query = (RgQuery){.x = run->unit_x, .c = run->unit_c, .extra = run->extra};
  PetscCall(PetscMalloc1(PetscMax(run->trial->n_evaluations, 1), &run->recommended));
  PetscCall(rg_history_create(domain, run->trial->n_evaluations, &run->history));
  run->history.n_initial = run->trial->n_initial;
  PetscCall(run_create_algorithm(run));
  PetscCall(rg_record_create(run->study, run->trial, run->trial->n_evaluations, model_inputs(run),
                             cell->algorithm->columns, run->record));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_destroy(Run *run)
{
  PetscFunctionBeginUser;
  if (run->algorithm.class) PetscCall(rg_algorithm_destroy(&run->algorithm));
  PetscCall(rg_history_destroy(&run->history));
  PetscCall(PetscFree(run->recommended));
  PetscCall(PetscFree6(run->unit_x, run->unit_c, run->native_x, run->native_c, run->extra,
                       run->input));
  PetscCall(rg_instances_give_back(&run->instance));
  if (!run->study->instances) PetscCall(rg_instances_destroy(&run->instances));
  PetscFunctionReturn(0);
}

/* ---- one evaluation -------------------------------------------------------------------------- */

static double *cell_of(Run *run, int column, int row)
{
  return run->record->column[column] + (size_t)row * rg_record_width(run->record, column);
}

/* Evaluate the query as row `row`: context, f, noise; appended to the history. */
static PetscErrorCode evaluate(Run *run, int row)
{
  const RgDomain *domain = &run->problem->domain;
  RgPoint         point = {.index = run->query.index, .x = run->native_x, .context_index = -1};
  double          f, y, deviation = sqrt(run->cell->run.noise_variance);

  PetscFunctionBeginUser;
  PetscCall(rg_clock_begin(&run->clock, RG_STAGE_EVALUATE));
  rg_space_to_native(&domain->design, run->query.x, run->native_x);
  if (domain->context.dim) {
    point.c = run->native_c;
    if (domain->control == RG_CONTEXT_NATURE) {
      RgRandom random = rg_stream_at(&run->contexts, (uint64_t)row);
      PetscCall(run->problem->class->draw_context(run->problem, &random, run->native_c,
                                                 &point.context_index));
      rg_space_to_unit(&domain->context, run->native_c, run->unit_c);
    } else {
      point.context_index = run->query.context_index;
      rg_space_to_native(&domain->context, run->query.c, run->native_c);
    }
  }
  PetscCall(rg_problem_evaluate(run->problem, 1, &point, &f, &run->failure));
  RgRandom random = rg_stream_at(&run->noise, (uint64_t)row);
  y = deviation > 0 ? f + deviation * rg_random_normal(&random) : f;
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_EVALUATE));
  if (run->failure.failed) PetscFunctionReturn(0);

  PetscCall(rg_history_append(&run->history, run->query.x, run->query.index,
                              domain->context.dim ? run->unit_c : NULL, point.context_index, y));
  PetscCall(PetscArraycpy(cell_of(run, RG_COLUMN_X, row), run->native_x, domain->design.dim));
  if (domain->context.dim)
    PetscCall(PetscArraycpy(cell_of(run, RG_COLUMN_C, row), run->native_c, domain->context.dim));
  *cell_of(run, RG_COLUMN_F, row) = f;
  *cell_of(run, RG_COLUMN_Y, row) = y;
  PetscFunctionReturn(0);
}

/* The hyperparameters in use: one length scale per input. */
static void record_kernel(Run *run, const RgModel *model, int row)
{
  double *out = cell_of(run, RG_COLUMN_LENGTH_SCALE, row);

  for (int t = 0; t < model->kernel.n_terms; t++)
    for (int k = 0; k < model->kernel.terms[t].n_factors; k++) {
      const RgKernelFactor *factor = &model->kernel.terms[t].factors[k];
      for (int j = 0; j < factor->n_inputs; j++)
        out[factor->inputs[j]] = factor->length_scale[factor->n_scales == 1 ? 0 : j];
    }
  *cell_of(run, RG_COLUMN_SIGNAL_VARIANCE, row) = rg_kernel_diagonal(&model->kernel);
  *cell_of(run, RG_COLUMN_MODEL_NOISE, row) = model->noise_variance;
}

/* Posterior deviation at the newest evaluation, before the model has learned of it. */
static PetscErrorCode newest_deviation(Run *run, RgModel *model, double *sd)
{
  const int last = run->history.n - 1;
  double    mean;

  PetscFunctionBeginUser;
  if (model->set) {
    const int index = rg_model_index(model, &run->history, last);
    *sd = sqrt(rg_set_posterior_variance(model->set)[index]);
  } else {
    rg_model_input(model, &run->history, last, run->input);
    PetscCall(rg_model_predict(model, 1, run->input, &mean, sd));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode record_model(Run *run, int row)
{
  RgModel *model =
      run->cell->algorithm->model ? run->cell->algorithm->model(&run->algorithm) : NULL;
  double   sd;

  PetscFunctionBeginUser;
  if (!model) PetscFunctionReturn(0);
  PetscCall(newest_deviation(run, model, &sd));
  if (model->noise_variance > 0) run->gain += 0.5 * log1p(sd * sd / model->noise_variance);
  *cell_of(run, RG_COLUMN_POSTERIOR_SD, row) = sd * model->scale;
  if (model->noise_variance > 0) *cell_of(run, RG_COLUMN_INFORMATION_GAIN, row) = run->gain;
  if (model->report.refitted)
    *cell_of(run, RG_COLUMN_LOG_LIKELIHOOD, row) = model->report.log_likelihood;
  *cell_of(run, RG_COLUMN_JITTER, row) = model->report.jitter;
  record_kernel(run, model, row);
  PetscFunctionReturn(0);
}

static void record_clock(Run *run, int row)
{
  *cell_of(run, RG_COLUMN_WALL_FIT, row) = run->clock.wall[RG_STAGE_FIT];
  *cell_of(run, RG_COLUMN_WALL_ACQUIRE, row) = run->clock.wall[RG_STAGE_ACQUIRE];
  *cell_of(run, RG_COLUMN_WALL_EVALUATE, row) = run->clock.wall[RG_STAGE_EVALUATE];
  *cell_of(run, RG_COLUMN_CPU_FIT, row) = run->clock.cpu[RG_STAGE_FIT];
  *cell_of(run, RG_COLUMN_CPU_ACQUIRE, row) = run->clock.cpu[RG_STAGE_ACQUIRE];
  *cell_of(run, RG_COLUMN_CPU_EVALUATE, row) = run->clock.cpu[RG_STAGE_EVALUATE];
  rg_clock_reset(&run->clock);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Whether the trial is scored by score number s. */
static bool is_scored(const Run *run, int s)
{
  return run->cell->score < 0 || run->cell->score == s;
}

/* The recommendation by every score. */
static PetscErrorCode run_scores(Run *run, int t, int row)
{
  const RgAlgorithmClass *class = run->cell->algorithm;
  const bool all = run->cell->score < 0 && class->recommend_by;

  PetscFunctionBeginUser;
  for (int s = 0; s < run->cell->n_scores && !run->failure.failed; s++) {
    if (!is_scored(run, s)) continue;
    if (all)
      PetscCall(class->recommend_by(&run->algorithm, t, &run->history, s, &run->query,
                                    &run->failure));
    if (!run->failure.failed)
      cell_of(run, RG_COLUMN_SCORE_RECOMMENDED, row)[s] =
          all ? run->query.index : run->recommended[row];
  }
  PetscFunctionReturn(0);
}

/* After t queries; t = 0: of the initial design alone. */
static PetscErrorCode run_recommendation(Run *run, int t, int row)
{
  const RgAlgorithmClass *class = run->cell->algorithm;

  PetscFunctionBeginUser;
  if (!class->recommend) PetscFunctionReturn(0);
  PetscCall(class->recommend(&run->algorithm, t, &run->history, &run->query, &run->failure));
  run->recommended[row] = run->failure.failed ? -1 : run->query.index;
  if (!run->failure.failed)
    rg_space_to_native(&run->problem->domain.design, run->query.x,
                       cell_of(run, RG_COLUMN_RECOMMENDATION, row));
  PetscCall(run_scores(run, t, row));
  PetscFunctionReturn(0);
}

/* Chosen by the learner: uniform over finitely many, else by nature's law. */
static PetscErrorCode initial_context(Run *run, RgRandom *random)
{
  const RgSpace *context = &run->problem->domain.context;

  PetscFunctionBeginUser;
  if (rg_space_is_finite(context)) {
    int index = (int)rg_random_below(random, (uint64_t)context->size);
    run->query.context_index = index;
    PetscCall(PetscArraycpy(run->query.c, context->points + (size_t)index * context->dim,
                            context->dim));
    PetscFunctionReturn(0);
  }
  PetscCall(run->problem->class->draw_context(run->problem, random, run->native_c,
                                             &run->query.context_index));
  rg_space_to_unit(context, run->native_c, run->query.c);
  PetscFunctionReturn(0);
}

static PetscErrorCode run_initial_design(Run *run)
{
  int     n = run->trial->n_initial, dim = run->problem->domain.design.dim;
  double *points;
  int    *indices;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((size_t)PetscMax(n, 1) * dim, &points, PetscMax(n, 1), &indices));
  /* The stream is that of instance 0: every instance of a problem starts from the same designs, so
     that instances and seeds are crossed. */
  RgStream stream =
      rg_stream(run->study->seed, run->cell->problem->name, 0, "design", run->trial->seed);
  PetscCall(rg_trial_design(&stream, &run->problem->domain.design, run->cell->run.initial_design, n,
                            points, indices));
  for (int row = 0; row < n && !run->failure.failed; row++) {
    run->stage = row + 1;
    run->query.index = indices[row];
    PetscCall(PetscArraycpy(run->query.x, points + (size_t)row * dim, dim));
    if (run->problem->domain.control == RG_CONTEXT_SIMULATOR) {
      RgRandom random = rg_stream_at(&run->contexts, (uint64_t)row);
      PetscCall(initial_context(run, &random));
    }
    PetscCall(evaluate(run, row));
    if (row == n - 1 && !run->failure.failed) PetscCall(run_recommendation(run, 0, row));
    record_clock(run, row);
  }
  PetscCall(PetscFree2(points, indices));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_iteration(Run *run, int t)
{
  int row = run->trial->n_initial + t - 1;

  PetscFunctionBeginUser;
  run->stage = row + 1;
  for (int k = 0; k < run->n_extra; k++) run->extra[k] = NAN;
  run->query.index = run->query.context_index = -1;
  PetscCall(rg_clock_begin(&run->clock, RG_STAGE_ACQUIRE));
  PetscCall(rg_algorithm_ask(&run->algorithm, t, &run->history, &run->query, &run->failure));
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_ACQUIRE));
  if (run->failure.failed) PetscFunctionReturn(0);

  PetscCall(evaluate(run, row));
  if (run->failure.failed) PetscFunctionReturn(0);
  for (int k = 0; k < run->n_extra; k++) run->record->extra[k][row] = run->extra[k];
  PetscCall(record_model(run, row));

  PetscCall(rg_clock_begin(&run->clock, RG_STAGE_ACQUIRE));
  PetscCall(rg_algorithm_tell(&run->algorithm, t, &run->history, &run->failure));
  PetscCall(run_recommendation(run, t, row));
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_ACQUIRE));
  record_clock(run, row);
  PetscFunctionReturn(0);
}

/* F of the recorded designs of `column`, rows [first, n_rows), by their indices in a finite design.
 */
static PetscErrorCode objective_of(Run *run, int column, const int *indices, int first, double *F)
{
  int      n = run->record->n_rows - first, dim = run->problem->domain.design.dim;
  RgPoint *points;

  PetscFunctionBeginUser;
  if (n <= 0) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(n, &points));
  for (int i = 0; i < n; i++)
    points[i] = (RgPoint){.index = indices[first + i], .context_index = -1,
                          .x = run->record->column[column] + (size_t)(first + i) * dim};
  PetscCall(rg_problem_objective(run->problem, n, points, F + first, &run->failure));
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}

/* Regret by score s. */
static PetscErrorCode run_score_regret(Run *run, int s)
{
  const int columns[] = {RG_COLUMN_SCORE_INSTANTANEOUS_REGRET, RG_COLUMN_SCORE_SIMPLE_REGRET,
                         RG_COLUMN_SCORE_CUMULATIVE_REGRET};
  RgRecord *record = run->record;
  int       n = record->n_rows;
  RgPoint  *points;
  double   *values, optimum;
  bool      exceeded;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &points));
  PetscCall(PetscMalloc1(5 * (size_t)n, &values));
  for (int row = 0; row < n; row++) points[row] = (RgPoint){.index = run->history.index[row]};
  PetscCall(run->problem->class->score(run->problem, s, n, points, values, &optimum));
  for (int row = 0; row < n; row++) {
    const double best = cell_of(run, RG_COLUMN_SCORE_RECOMMENDED, row)[s];
    if (!isnan(best)) points[row].index = (int)best;
  }
  PetscCall(run->problem->class->score(run->problem, s, n, points, values + n, &optimum));
  PetscCall(rg_regret(n, record->n_initial, run->cell->run.count_initial, optimum, 0, values,
                      values + n, values + 2 * n, values + 3 * n, values + 4 * n, &exceeded));
  for (int k = 0; k < 3; k++)
    for (int row = 0; row < n; row++) cell_of(run, columns[k], row)[s] = values[(2 + k) * n + row];
  PetscCall(PetscFree(values));
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_regret(Run *run)
{
  RgRecord *record = run->record;
  double   *recommended = NULL, *F = record->column[RG_COLUMN_OBJECTIVE];
  RgFailure earlier = run->failure; /* what a failed trial did before is scored all the same */
  double    accuracy;
  bool      exceeded;

  PetscFunctionBeginUser;
  run->failure = (RgFailure){0};
  PetscCall(objective_of(run, RG_COLUMN_X, run->history.index, 0, F));
  if (run->cell->algorithm->recommend) {
    PetscCall(PetscMalloc1(record->n_rows, &recommended));
    for (int row = 0; row < record->n_rows; row++) recommended[row] = NAN;
    PetscCall(objective_of(run, RG_COLUMN_RECOMMENDATION, run->recommended,
                           PetscMax(record->n_initial - 1, 0), recommended));
  }
  PetscCall(rg_instance_optimum(run->instance, &record->optimum, &accuracy, &run->failure));
  PetscCall(rg_regret(record->n_rows, record->n_initial, run->cell->run.count_initial,
                      record->optimum, accuracy, F, recommended,
                      record->column[RG_COLUMN_INSTANTANEOUS_REGRET],
                      record->column[RG_COLUMN_SIMPLE_REGRET],
                      record->column[RG_COLUMN_CUMULATIVE_REGRET], &exceeded));
  if (exceeded)
    rg_failure_set(&run->failure, "F exceeds the optimum %.17g of %s: the optimum is wrong",
                   record->optimum, run->cell->problem->name);
  for (int s = 0; s < run->cell->n_scores; s++)
    if (is_scored(run, s)) PetscCall(run_score_regret(run, s));
  PetscCall(PetscFree(recommended));
  if (earlier.failed) run->failure = earlier;
  PetscFunctionReturn(0);
}

static void finish_record(Run *run, double wall, double cpu)
{
  RgRecord     *record = run->record;
  struct rusage usage;

  record->status = run->failure.failed ? RG_STATUS_FAILED : RG_STATUS_COMPLETE;
  if (run->failure.failed)
    snprintf(record->message, sizeof(record->message), "evaluation %d: %.200s", run->stage,
             run->failure.message);
  record->provenance.wall = rg_wall_seconds() - wall;
  record->provenance.cpu = rg_cpu_seconds() - cpu;
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    record->provenance.peak_memory = 1024.0 * (double)usage.ru_maxrss;
}

PetscErrorCode rg_trial_run(const RgStudy *study, const RgTrial *trial, RgStopFunction stop,
                            void *stop_context, RgRecord *record, bool *stopped)
{
  Run    run = {.study = study, .trial = trial, .record = record};
  double wall = rg_wall_seconds(), cpu = rg_cpu_seconds(), started = (double)time(NULL);

  PetscFunctionBeginUser;
  *stopped = false;
  run.cell = &study->cells[trial->cell];
  PetscCall(run_create(&run));
  record->provenance.started = started;
  if (!run.failure.failed) PetscCall(run_initial_design(&run));
  for (int t = 1; t <= run.cell->run.iterations && !run.failure.failed && !*stopped; t++) {
    PetscCall(run_iteration(&run, t));
    *stopped = t < run.cell->run.iterations && stop && stop(stop_context);
  }
  record->n_rows = run.history.n;
  if (!*stopped && record->n_rows) PetscCall(run_regret(&run));
  if (!*stopped && record->n_rows && run.cell->problem->fills_space)
    PetscCall(rg_fill_of_queries(&run.algorithm, &run.history,
                                 record->column[RG_COLUMN_FILL_DISTANCE]));
  finish_record(&run, wall, cpu);
  if (*stopped) PetscCall(rg_record_destroy(record));
  PetscCall(run_destroy(&run));
  PetscFunctionReturn(0);
}
