/* The steps of a trial: choose and evaluate a query (ask), and hand its value to the method (tell).
   Rows of the record stand in the order of submission until the trial has ended; then those that
   were told are put in the order of telling, as in the history. */
#include "base/poll.h"
#include "gp/model/model.h"
#include "gp/team/team.h"
#include "maths/design.h"
#include "regatta/domain.h"
#include "regatta/stream.h"
#include "regret/optimum.h"
#include "study/file/study.h"
#include "study/trial/trial_internal.h"

#include <math.h>
#include <stdio.h>

static PetscErrorCode open_log(RgTrialRun *run, int n)
{
  if (!run->answers)
    PetscCall(rg_evaluation_log_open(run->host->directory, RG_FOLDER_ANSWERS, run->trial->id,
                                     run->cell->outside, n, 0, 0, &run->answers));
  return 0;
}

static PetscErrorCode find(void *closure, int number, int n, double *numbers, bool *found)
{
  RgTrialRun *run = closure;

  PetscCall(open_log(run, n));
  const double *known = rg_evaluation_log_design(run->answers, number);
  *found = known != NULL;
  if (known) PetscCall(PetscArraycpy(numbers, known, n));
  return 0;
}

/* Numbers to be logged. */
typedef struct {
  RgEvaluationLog *log;
  int number;
  const double *numbers;
} Entry;

static PetscErrorCode add_entry(void *closure, RgFault *fault)
{
  const Entry *e = closure;

  return rg_evaluation_log_add(e->log, e->number, e->numbers, NULL, 0, NULL, 0, fault);
}

static PetscErrorCode keep(void *closure, int number, int n, const double *numbers, bool *kept)
{
  RgTrialRun *run = closure;

  PetscCall(open_log(run, n));
  PetscCall(rg_trial_insist(run, add_entry, &(Entry){run->answers, number, numbers}));
  *kept = !run->abandoned;
  return 0;
}

RgKeeper rg_trial_keeper(RgTrialRun *run)
{
  return (RgKeeper){.closure = run,
                    .find = find,
                    .keep = keep,
                    .stop = rg_trial_hear_stop,
                    .log = run->host->log,
                    .account = &run->account};
}

/* Make F that of row `row`. at: storage for the announced context. */
static PetscErrorCode set_moment(RgTrialRun *run, int row, RgPoint *at)
{
  const RgRecord *record = run->record;

  PetscCall(rg_problem_at(run->problem, row + 1));
  if (run->problem->domain.control != RG_CONTEXT_ANNOUNCED) return 0;
  *at = (RgPoint){.index = -1,
                  .c = record->column[RG_COLUMN_C] + (size_t)row * record->dim_c,
                  .context_index = run->history.context_index[row]};
  run->problem->announced = at;
  return 0;
}

static PetscErrorCode optimum_of(RgTrialRun *run, double *optimum, double *accuracy)
{
  if (run->problem->announced)
    PetscCall(rg_regret_optimum(run->problem, optimum, accuracy, &run->failure));
  else PetscCall(rg_instance_optimum(run->instance, optimum, accuracy, &run->failure));
  return 0;
}

/* The designs of rows 0 .. row, the present F at them, and its maximum. Rows whose evaluation
   failed don't count. */
static PetscErrorCode look_back(RgTrialRun *run, int row, RgPoint *points, double *F, double *best)
{
  const RgRecord *record = run->record;

  *best = -INFINITY;
  for (int i = 0; i <= row; i++)
    points[i] = (RgPoint){.index = run->history.index[i],
                          .context_index = -1,
                          .x = record->column[RG_COLUMN_X] + (size_t)i * record->dim_x};
  PetscCall(rg_problem_objective(run->problem, row + 1, points, F, &run->failure));
  for (int i = 0; i <= row; i++)
    if (!run->history.feasible[i]) F[i] = NAN;
    else *best = fmax(*best, F[i]);
  return 0;
}

static PetscErrorCode recommended_value(RgTrialRun *run, int row, double *F)
{
  const RgRecord *record = run->record;
  const double *column = record->column[RG_COLUMN_RECOMMENDATION];
  RgPoint point = {.index = -1, .context_index = -1};

  *F = NAN;
  if (!run->cell->algorithm->recommend || !column) return 0;
  point.x = column + (size_t)row * record->dim_x;
  point.index = run->recommended[row];
  if (!isnan(point.x[0]))
    PetscCall(rg_problem_objective(run->problem, 1, &point, F, &run->failure));
  return 0;
}

PetscErrorCode rg_trial_moments(RgTrialRun *run, RgTrialMoments *moments)
{
  const int n = run->record->n_rows;
  double *F, error;
  RgPoint at, *points;

  PetscCall(PetscMalloc2(n, &points, n, &F));
  for (int row = 0; row < n; row++) {
    PetscCall(set_moment(run, row, &at));
    PetscCall(look_back(run, row, points, F, &moments->best[row]));
    run->record->column[RG_COLUMN_OBJECTIVE][row] = F[row];
    PetscCall(recommended_value(run, row, &moments->recommended[row]));
    PetscCall(optimum_of(run, &moments->optima[row], &error));
    moments->accuracy = fmax(moments->accuracy, error);
    run->problem->announced = NULL;
  }
  for (int row = 0; run->problem->objective_error > 0 && row < n; row++)
    run->record->column[RG_COLUMN_OBJECTIVE_ERROR][row] = run->problem->objective_error;
  PetscCall(PetscFree2(points, F));
  return 0;
}

/* Find the free point of a finite set that is nearest to a point of the box design. */
static void nearest_free_point(const RgSpace *space, const double *u, unsigned char *taken,
                               int *index)
{
  double best = INFINITY;

  for (int i = 0; i < space->size; i++) {
    double distance = 0;
    for (int j = 0; j < space->dim; j++) {
      double difference = space->points[(size_t)i * space->dim + j] - u[j];
      distance += difference * difference;
    }
    if (taken[i] || distance >= best) continue;
    best = distance;
    *index = i;
  }
  taken[*index] = 1;
}

static PetscErrorCode box_design(int kind, RgRandom *random, int n, int dim, double *points)
{
  switch (kind) {
  case RG_INITIAL_SOBOL: PetscCall(rg_design_sobol(random, n, dim, points)); break;
  case RG_INITIAL_LATIN_HYPERCUBE:
    PetscCall(rg_design_latin_hypercube(random, n, dim, points));
    break;
  default: PetscCall(rg_design_uniform(random, n, dim, points)); break;
  }
  return 0;
}

/* Choose n free points of a finite set. */
static PetscErrorCode set_design(const RgSpace *space, int kind, RgRandom *random, int n_given,
                                 int n, unsigned char *taken, int *indices)
{
  if (kind == RG_INITIAL_UNIFORM) { /* enough draws to leave n free points */
    const int drawn = PetscMin(n + n_given, space->size);
    int *subset, count = 0;
    PetscCall(PetscMalloc1(PetscMax(drawn, 1), &subset));
    PetscCall(rg_random_subset(random, space->size, drawn, subset));
    for (int i = 0; i < drawn && count < n; i++)
      if (!taken[subset[i]]) indices[count++] = subset[i];
    PetscCall(PetscFree(subset));
  } else {
    double *points;
    PetscCall(PetscMalloc1((size_t)PetscMax(n, 1) * space->dim, &points));
    PetscCall(box_design(kind, random, n, space->dim, points));
    for (int i = 0; i < n; i++)
      nearest_free_point(space, points + (size_t)i * space->dim, taken, &indices[i]);
    PetscCall(PetscFree(points));
  }
  return 0;
}

/* Make n designs in a space. The given designs come first; the rest is of `kind`
   (RG_INITIAL_...), from the start of a stream. points: n x dim, unit coordinates; indices: n,
   -1 on a box. On a finite set no point is used twice: each point of a box design moves to the
   nearest free point, O(n size dim). */
static PetscErrorCode trial_design(const RgStream *stream, const RgSpace *space, int kind,
                                   const RgGiven *given, int n, double *points, int *indices)
{
  RgRandom random = rg_stream_at(stream, 0);
  const int first = PetscMin(given->n, n);
  const size_t dim = (size_t)space->dim;
  unsigned char *taken;

  for (int i = 0; i < n; i++) indices[i] = i < first ? given->index[i] : -1;
  PetscCall(PetscArraycpy(points, given->x, (size_t)first * dim));
  if (!rg_space_is_finite(space)) {
    PetscCall(box_design(kind, &random, n - first, space->dim, points + (size_t)first * dim));
    return 0;
  }
  PetscCall(PetscCalloc1(space->size, &taken));
  for (int i = 0; i < first; i++) taken[indices[i]] = 1;
  PetscCall(set_design(space, kind, &random, first, n - first, taken, indices + first));
  PetscCall(PetscFree(taken));
  for (int i = 0; i < n; i++)
    PetscCall(
      PetscArraycpy(points + (size_t)i * dim, space->points + (size_t)indices[i] * dim, dim));
  return 0;
}

/* ---- the design ------------------------------------------------------------------------------ */

PetscErrorCode rg_trial_draw_design(RgTrialRun *run)
{
  const RgCell *cell = run->cell;
  const int n0 = run->trial->n_initial, dim = run->problem->domain.design.dim;
  const bool more = cell->crew.workers > 1 && cell->crew.start == RG_START_DESIGN;
  const int n = n0 + (more ? PetscMin(cell->crew.workers, cell->run.iterations) : 0);

  run->n_designed = n;
  PetscCall(
    PetscMalloc2((size_t)PetscMax(n, 1) * dim, &run->design, PetscMax(n, 1), &run->design_index));
  /* The stream is that of instance 0: all instances of a problem share the initial designs, so
     that instances and seeds are crossed. */
  RgStream stream = rg_stream(run->study->seed, cell->problem->name, 0, "design", run->trial->seed);
  PetscCall(trial_design(&stream, &run->problem->domain.design, cell->run.initial_design,
                         &cell->given, n, run->design, run->design_index));
  return 0;
}

/* Choose the context of a designed point for the learner: uniform over a finite set, else by
   nature's law. */
static PetscErrorCode initial_context(RgTrialRun *run, RgRandom *random)
{
  const RgSpace *context = &run->problem->domain.context;

  if (rg_space_is_finite(context)) {
    int index = (int)rg_random_below(random, (uint64_t)context->size);
    run->query.context_index = index;
    PetscCall(
      PetscArraycpy(run->query.c, context->points + (size_t)index * context->dim, context->dim));
    return 0;
  }
  PetscCall(run->problem->class->draw_context(run->problem, random, run->native_c,
                                              &run->query.context_index));
  rg_space_to_unit(context, run->native_c, run->query.c);
  return 0;
}

static PetscErrorCode take_designed(RgTrialRun *run, int row)
{
  const int dim = run->problem->domain.design.dim;

  run->query.index = run->design_index[row];
  PetscCall(PetscArraycpy(run->query.x, run->design + (size_t)row * dim, dim));
  if (run->problem->domain.control == RG_CONTEXT_SIMULATOR) {
    RgRandom random = rg_stream_at(&run->contexts, (uint64_t)row);
    PetscCall(initial_context(run, &random));
  }
  return 0;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* Terms may share inputs, so each has its length scale, unless that is one per input. */
static void record_terms(RgTrialRun *run, const RgKernel *kernel, int row)
{
  for (int t = 0; t < run->record->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    rg_trial_cell(run, RG_COLUMN_TERM_VARIANCE, row)[t] = term->variance;
    if (term->factors[0].n_scales == 1)
      rg_trial_cell(run, RG_COLUMN_TERM_LENGTH_SCALE, row)[t] = term->factors[0].length_scale[0];
  }
}

/* Record what bends inputs and outputs, and the trend. */
static void record_shape(RgTrialRun *run, const RgModel *model, int row)
{
  const RgKernel *kernel = &model->kernel;

  for (int j = 0; kernel->warp && j < kernel->dim; j++) {
    rg_trial_cell(run, RG_COLUMN_WARP_A, row)[j] = kernel->warp[j];
    rg_trial_cell(run, RG_COLUMN_WARP_B, row)[j] = kernel->warp[kernel->dim + j];
  }
  if (kernel->trend) {
    *rg_trial_cell(run, RG_COLUMN_TREND_LINEAR, row) = kernel->trend[0];
    *rg_trial_cell(run, RG_COLUMN_TREND_QUADRATIC, row) = kernel->trend[1];
  }
  if (model->transform.kind == RG_TRANSFORM_YEO_JOHNSON)
    *rg_trial_cell(run, RG_COLUMN_OUTPUT_POWER, row) = model->transform.lambda;
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
  record_terms(run, &model->kernel, row);
  record_shape(run, model, row);
}

/* Record the fit of the last update, unless an earlier query of the same data has recorded it. */
static void record_fit(RgTrialRun *run, const RgModel *model, int row)
{
  if (run->history.n == run->fit_recorded) return;
  run->fit_recorded = run->history.n;
  if (!model->report.refitted) return;
  *rg_trial_cell(run, RG_COLUMN_LOG_LIKELIHOOD, row) = model->report.log_likelihood;
  if (model->report.iterations)
    *rg_trial_cell(run, RG_COLUMN_FIT_DATA, row) = model->report.fit_data;
  if (run->algorithm.first > 1) *rg_trial_cell(run, RG_COLUMN_FIT_FROM, row) = run->algorithm.first;
}

/* Record the model that chose the query of row `row`, the newest evaluation, with the posterior
   deviation there. */
static PetscErrorCode record_model(RgTrialRun *run, int row)
{
  RgModel *model =
    run->cell->algorithm->model ? run->cell->algorithm->model(&run->algorithm) : NULL;
  double mean, sd;

  if (!model) return 0;
  PetscCall(rg_model_predict_history(model, &run->asked, row, 1, &mean, &sd));
  if (model->noise_variance > 0) run->gain += 0.5 * log1p(sd * sd / model->noise_variance);
  *rg_trial_cell(run, RG_COLUMN_POSTERIOR_SD, row) = rg_model_native_sd(model, mean, sd);
  if (model->noise_variance > 0) *rg_trial_cell(run, RG_COLUMN_INFORMATION_GAIN, row) = run->gain;
  record_fit(run, model, row);
  *rg_trial_cell(run, RG_COLUMN_JITTER, row) = model->report.jitter;
  if (model->report.iterations) {
    *rg_trial_cell(run, RG_COLUMN_SOLVER_ITERATIONS, row) = model->report.iterations;
    *rg_trial_cell(run, RG_COLUMN_SOLVER_RESIDUAL, row) = model->report.residual;
  }
  record_kernel(run, model, row);
  return 0;
}

static void add_seconds(RgTrialRun *run, int column, int row, double seconds)
{
  double *cell = rg_trial_cell(run, column, row);

  *cell = isnan(*cell) ? seconds : *cell + seconds;
}

void rg_trial_record_clock(RgTrialRun *run, int row)
{
  add_seconds(run, RG_COLUMN_WALL_FIT, row, run->clock.wall[RG_STAGE_FIT]);
  add_seconds(run, RG_COLUMN_WALL_ACQUIRE, row, run->clock.wall[RG_STAGE_ACQUIRE]);
  add_seconds(run, RG_COLUMN_WALL_EVALUATE, row, run->clock.wall[RG_STAGE_EVALUATE]);
  add_seconds(run, RG_COLUMN_CPU_FIT, row, run->clock.cpu[RG_STAGE_FIT]);
  add_seconds(run, RG_COLUMN_CPU_ACQUIRE, row, run->clock.cpu[RG_STAGE_ACQUIRE]);
  add_seconds(run, RG_COLUMN_CPU_EVALUATE, row, run->clock.cpu[RG_STAGE_EVALUATE]);
  if (run->algorithm.memory > 0)
    *rg_trial_cell(run, RG_COLUMN_PROGRAM_MEMORY, row) = run->algorithm.memory;
  rg_clock_reset(&run->clock);
}

/* Copy the method's own columns between the query and their row. */
static void record_extra(RgTrialRun *run, int row)
{
  for (int k = 0; k < run->n_extra; k++) run->record->extra[k][row] = run->extra[k];
}

static void recall_extra(RgTrialRun *run, int row)
{
  for (int k = 0; k < run->n_extra; k++) run->extra[k] = run->record->extra[k][row];
}

/* ---- ask ------------------------------------------------------------------------------------- */

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

/* If a stop ended the wait for a program, the trial is abandoned and has not failed. */
static void hear_method(RgTrialRun *run)
{
  if (run->failure.failed && run->answers && run->stop_heard) run->abandoned = true;
}

/* A stop abandons a trial that the method of one rank works on, at the next rg_poll. The ranks of a
   team compute together, so none of them can leave. */
static void may_abandon(RgTrialRun *run)
{
  if (rg_team_size(run->host->team) == 1) rg_poll_begin(rg_trial_hear_stop, run);
}

/* code: the code that the method returned. */
static PetscErrorCode abandon_if_stopped(RgTrialRun *run, PetscErrorCode code)
{
  bool stopped;

  PetscCall(rg_poll_end(code, &stopped));
  if (stopped) run->abandoned = true;
  return 0;
}

PetscErrorCode rg_trial_keep_broken(RgTrialRun *run, int row)
{
  if (!run->failure.failed || run->abandoned) return 0;
  PetscCall(rg_trial_explain(run, run->failure.message));
  PetscCall(rg_trial_keep_failure(run, row + 1, false, run->explanation.data));
  if (!run->broken) PetscCall(PetscCalloc1(run->trial->n_evaluations, &run->broken));
  run->broken[row] = run->failure;
  run->failure = (RgFailure){0};
  return 0;
}

PetscErrorCode rg_trial_ask(RgTrialRun *run, int submission, bool *stop)
{
  const int row = submission - 1, t = submission - run->trial->n_initial;
  const bool designed = submission <= run->n_designed;
  bool otherwise;

  *stop = !goes_on(run);
  if (*stop) return 0;
  run->stage = submission;
  /* The method's initial design has the evaluations that were reported before its first query. */
  if (!designed) run->history.n_initial = PetscMin(run->history.n_initial, run->history.n);
  run->query.index = run->query.context_index = -1;
  for (int k = 0; k < run->n_extra; k++) run->extra[k] = NAN;
  if (run->problem->domain.control == RG_CONTEXT_ANNOUNCED)
    PetscCall(rg_trial_draw_context(run, row));
  if (designed) {
    PetscCall(take_designed(run, row));
  } else {
    may_abandon(run);
    PetscCall(abandon_if_stopped(
      run, rg_algorithm_ask(&run->algorithm, t, &run->history, &run->query, &run->failure)));
    hear_method(run);
  }
  *stop = run->failure.failed || run->abandoned;
  if (*stop) return 0;
  PetscCall(rg_clock_begin(&run->clock, RG_STAGE_EVALUATE));
  PetscCall(rg_trial_place(run, row, &otherwise));
  if (!run->real || rg_trial_knows(run, row)) PetscCall(rg_trial_evaluate(run, row));
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_EVALUATE));
  PetscCall(rg_trial_keep_broken(run, row));
  *stop = run->abandoned;
  if (*stop) return 0;
  if (!designed) PetscCall(record_model(run, row));
  record_extra(run, row);
  if (run->real && (otherwise || run->otherwise >= run->n_extra))
    run->record->extra[run->otherwise][row] = otherwise;
  rg_trial_record_clock(run, row);
  return 0;
}

/* ---- tell ------------------------------------------------------------------------------------ */

/* Record the recommendation by every score; the newest evaluation is row `row` of the history. */
static PetscErrorCode run_scores(RgTrialRun *run, int t, int row)
{
  const int at = run->order[row] - 1;
  const RgAlgorithmClass *class = run->cell->algorithm;
  const bool all = run->cell->score < 0 && class->scores;

  for (int s = 0; s < run->cell->n_scores && !run->failure.failed; s++) {
    if (!rg_trial_is_scored(run, s)) continue;
    if (all)
      PetscCall(
        class->scores->recommend(&run->algorithm, t, &run->history, s, &run->query, &run->failure));
    if (!run->failure.failed)
      rg_trial_cell(run, RG_COLUMN_SCORE_RECOMMENDED, at)[s] =
        all ? run->query.index : run->recommended[row];
  }
  return 0;
}

/* Record the recommendation after t queries; t = 0: after the initial design. */
static PetscErrorCode run_recommendation(RgTrialRun *run, int t, int row)
{
  const RgAlgorithmClass *class = run->cell->algorithm;

  PetscCall(class->recommend(&run->algorithm, t, &run->history, &run->query, &run->failure));
  run->recommended[row] = run->failure.failed ? -1 : run->query.index;
  if (!run->failure.failed)
    rg_space_to_native(&run->problem->domain.design, run->query.x,
                       rg_trial_cell(run, RG_COLUMN_RECOMMENDATION, run->order[row] - 1));
  PetscCall(run_scores(run, t, row));
  return 0;
}

/* Ask the method for its recommendation after row `row`. Without one, skip the clock: each
   reading of CPU time is a system call. */
static PetscErrorCode hear_out(RgTrialRun *run, int submission, int row)
{
  const int t = row + 1 - run->trial->n_initial;

  if (!run->cell->algorithm->recommend || t < 0) return 0;
  if (t) {
    recall_extra(run, submission - 1);
    PetscCall(rg_clock_begin(&run->clock, RG_STAGE_ACQUIRE));
  }
  may_abandon(run);
  PetscCall(abandon_if_stopped(run, run_recommendation(run, t, row)));
  if (!t || run->abandoned) return 0; /* a stop may have come within a stage */
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_ACQUIRE));
  record_extra(run, submission - 1);
  hear_method(run);
  return 0;
}

/* The evaluation did not end well: forget its value. */
static void forget_value(RgTrialRun *run, int row)
{
  const int n = run->asked.n_constraints;

  run->asked.y[row] = NAN;
  *rg_trial_cell(run, RG_COLUMN_F, row) = *rg_trial_cell(run, RG_COLUMN_Y, row) = NAN;
  for (int k = 0; k < n; k++) run->asked.constraints[(size_t)row * n + k] = NAN;
}

static PetscErrorCode judge_ending(RgTrialRun *run, const RgCrewRow *row)
{
  static const char *const words[] = {
    [RG_ENDED_TOO_LONG] = "it takes longer than 'time_limit'", [RG_ENDED_LOST] = "its worker died"};

  if (run->broken && run->broken[row->submission - 1].failed)
    run->failure = run->broken[row->submission - 1];
  if (row->ending == RG_ENDED_DONE) return 0;
  if (!rg_trial_tolerates(run)) {
    rg_failure_set(&run->failure, "%s", words[row->ending]);
    return 0;
  }
  PetscCall(rg_trial_note(run, row->submission, words[row->ending]));
  forget_value(run, row->submission - 1);
  return 0;
}

static PetscErrorCode append(RgTrialRun *run, int from)
{
  const RgHistory *asked = &run->asked;
  const size_t dim = (size_t)asked->dim, dim_c = (size_t)asked->context_dim;
  const int n = asked->n_constraints;

  PetscCall(PetscArraycpy(run->constraints, asked->constraints + (size_t)from * n, n));
  PetscCall(rg_history_append(&run->history, asked->x + from * dim, asked->index[from],
                              dim_c ? asked->c + from * dim_c : NULL, asked->context_index[from],
                              asked->y[from]));
  return 0;
}

PetscErrorCode rg_trial_tell(RgTrialRun *run, const RgCrewRow *told, bool *stop)
{
  const int row = run->history.n, from = told->submission - 1;

  run->stage = told->submission;
  PetscCall(judge_ending(run, told));
  *stop = run->failure.failed;
  if (*stop) return 0;
  PetscCall(append(run, from));
  run->order[row] = told->submission;
  PetscCall(rg_trial_outcome(run, row, run->asked.y[from]));
  rg_trial_record_crew(run, told);
  PetscCall(hear_out(run, told->submission, row));
  rg_trial_record_clock(run, from);
  const int n0 = run->trial->n_initial;
  if (row >= n0 || (row == n0 - 1 && goes_on(run))) PetscCall(rg_trial_check_end(run, row));
  *stop = run->failure.failed || run->abandoned || run->ended;
  return 0;
}

/* ---- the order of rows ----------------------------------------------------------------------- */

/* Row i becomes the row of submission order[i]. */
static PetscErrorCode permute(const RgTrialRun *run, int width, double *values)
{
  const int n = run->history.n;
  double *moved;

  if (!values || !width) return 0;
  PetscCall(PetscMalloc1((size_t)n * width, &moved));
  for (int i = 0; i < n; i++)
    PetscCall(PetscArraycpy(moved + (size_t)i * width, values + (size_t)(run->order[i] - 1) * width,
                            width));
  PetscCall(PetscArraycpy(values, moved, (size_t)n * width));
  PetscCall(PetscFree(moved));
  return 0;
}

PetscErrorCode rg_trial_order_rows(RgTrialRun *run)
{
  bool in_order = true;

  for (int i = 0; i < run->history.n && in_order; i++) in_order = run->order[i] == i + 1;
  if (in_order) return 0;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    PetscCall(permute(run, rg_record_width(run->record, c), run->record->column[c]));
  for (int k = 0; k < run->record->n_extra; k++) PetscCall(permute(run, 1, run->record->extra[k]));
  return 0;
}
