/* The workers and the clock of a trial: the answers to the crew's questions, and what is recorded
   of it. Random times depend on the study, the problem and the trial's seed, not on the method. */
#include "study/trial/trial.h"
#include "base/grow.h"
#include "study/trial/instances.h"
#include "study/trial/trial_internal.h"

#include <math.h>
#include <stdio.h>

/* Find the durations of the recorded trial that serves this one. */
static PetscErrorCode find_recorded(RgTrialRun *run, const double **times, RgText *mistake)
{
  const RgTrial *trial = run->trial;
  const RgRecorded *recorded;

  PetscCall(rg_instances_recorded(run->instances, run->duration.name, run->duration.label,
                                  &recorded, mistake));
  if (recorded)
    PetscCall(rg_recorded_find(recorded, run->cell->problem_label, trial->instance, trial->seed,
                               &run->n_times, times, mistake));
  return 0;
}

/* Find the durations of the trial that are data. A failure of the trial says what is wrong. */
static PetscErrorCode trial_read_times(RgTrialRun *run)
{
  const double *times = NULL;
  RgText mistake = {0};

  if (run->duration.kind == RG_DURATION_REPORTED) {
    run->n_times = run->trial->n_evaluations;
  } else if (run->duration.kind == RG_DURATION_COLUMN) {
    run->n_times = run->problem->domain.design.size;
    PetscCall(rg_instance_column(run->instance, run->cell, run->duration.name, &times, &mistake));
  } else if (run->duration.kind == RG_DURATION_RECORDED) {
    PetscCall(find_recorded(run, &times, &mistake));
  }
  PetscCall(PetscCalloc1(run->n_times, &run->times)); /* known values are reported to take 0 */
  if (times) PetscCall(PetscArraycpy(run->times, times, run->n_times));
  if (mistake.length) rg_failure_set(&run->failure, "'duration': %s", mistake.data);
  PetscCall(rg_text_clear(&mistake));
  return 0;
}

/* An evaluation that failed takes no time if its duration is not known. */
void rg_trial_keep_time(RgTrialRun *run, int row, bool asked)
{
  double *reported = run->constraints + run->problem->domain.n_constraints;

  if (run->duration.kind != RG_DURATION_REPORTED) return;
  if (asked) *reported = run->problem->task.duration;
  if (isnan(*reported) && !run->failure.failed)
    rg_failure_set(&run->failure, "external: the answer has no \"duration\", which 'duration: "
                                  "reported' needs");
  if (isnan(*reported)) *reported = 0;
  run->times[row] = *reported;
}

/* How long attempt `attempt` of a submission takes; NaN sets the failure of the trial. */
static double trial_time(RgTrialRun *run, int submission, int attempt)
{
  const int row = submission - 1;

  switch (run->duration.kind) {
  case RG_DURATION_NONE: return 0;
  case RG_DURATION_LAW:
    rg_space_seen(&run->problem->domain.design, rg_trial_cell(run, RG_COLUMN_X, row), run->seen);
    return rg_duration_at(&run->duration, rg_trial_uniform(&run->durations, submission, attempt),
                          run->seen);
  case RG_DURATION_COLUMN: return run->times[run->asked.index[row]];
  case RG_DURATION_REPORTED: return run->times[row];
  case RG_DURATION_RECORDED:
    if (row < run->n_times && !isnan(run->times[row])) return run->times[row];
    rg_failure_set(&run->failure, "'duration': %s has no duration of submission %d",
                   run->duration.name, submission);
  }
  return NAN;
}

static bool has_clock(const RgTrialRun *run)
{
  return run->duration.kind != RG_DURATION_NONE || run->real;
}

PetscErrorCode rg_trial_create_crew(RgTrialRun *run)
{
  const RgCrewSettings *crew = &run->cell->crew;
  const RgSpace *design = &run->problem->domain.design;
  RgText mistake = {0};

  run->durations = rg_trial_stream(run, "duration");
  run->deaths = rg_trial_stream(run, "death");
  run->repairs = rg_trial_stream(run, "repair");
  PetscCall(
    rg_duration_read(crew->duration, design, run->cell->problem_place, &run->duration, &mistake));
  if (crew->death) PetscCall(rg_times_read(crew->death, &run->death, &mistake));
  if (crew->repair) PetscCall(rg_times_read(crew->repair, &run->repair, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", mistake.data);
  PetscCall(PetscMalloc1(design->dim, &run->seen));
  PetscCall(trial_read_times(run));
  PetscCall(rg_trial_create_real(run));
  if (crew->workers == 1) return 0;
  const size_t room = (size_t)run->trial->n_evaluations;
  PetscCall(PetscMalloc4(room * design->dim, &run->pending_x,
                         room * run->problem->domain.context.dim, &run->pending_c, room,
                         &run->pending_index, room, &run->pending_context));
  return 0;
}

PetscErrorCode rg_trial_destroy_crew(RgTrialRun *run)
{
  PetscCall(rg_trial_destroy_real(run));
  PetscCall(rg_duration_clear(&run->duration));
  PetscCall(rg_distribution_destroy(&run->death));
  PetscCall(rg_distribution_destroy(&run->repair));
  PetscCall(RG_FREE(&run->seen, &run->times));
  PetscCall(PetscFree4(run->pending_x, run->pending_c, run->pending_index, run->pending_context));
  return 0;
}

static double units(int64_t ticks)
{
  return (double)ticks / RG_TICKS_PER_UNIT;
}

/* ---- the crew's questions -------------------------------------------------------------------- */

/* The points in flight as the method sees them: contexts that it does not choose are not known. */
static PetscErrorCode gather_pending(RgTrialRun *run, const RgCrewAsk *request, RgPending *pending)
{
  const RgHistory *asked = &run->asked;
  const size_t dim = (size_t)asked->dim, dim_c = (size_t)asked->context_dim;
  const bool chosen = run->problem->domain.control == RG_CONTEXT_SIMULATOR;

  for (int i = 0; i < request->n_pending; i++) {
    const size_t from = (size_t)request->pending[i] - 1;
    PetscCall(PetscArraycpy(run->pending_x + i * dim, asked->x + from * dim, dim));
    PetscCall(PetscArraycpy(run->pending_c + i * dim_c, asked->c + from * dim_c, dim_c));
    run->pending_index[i] = asked->index[from];
    run->pending_context[i] = asked->context_index[from];
  }
  *pending = (RgPending){request->n_pending,
                         run->pending_x,
                         run->pending_index,
                         chosen ? run->pending_c : NULL,
                         chosen ? run->pending_context : NULL,
                         request->pending,
                         units(request->now)};
  return 0;
}

static PetscErrorCode ask(void *closure, const RgCrewAsk *request, bool *stop)
{
  RgTrialRun *run = closure;

  PetscCall(gather_pending(run, request, &run->history.pending));
  PetscCall(rg_trial_ask(run, request->submission, stop));
  run->history.pending = (RgPending){0};
  if (rg_crew_counts(&run->cell->crew))
    *rg_trial_cell(run, RG_COLUMN_N_PENDING, request->submission - 1) = request->n_pending;
  return 0;
}

static PetscErrorCode tell(void *closure, const RgCrewRow *row, bool *stop)
{
  return rg_trial_tell(closure, row, stop);
}

static PetscErrorCode duration(void *closure, int submission, int attempt, int64_t *ticks,
                               bool *stop)
{
  RgTrialRun *run = closure;
  double time;

  *stop = false;
  *ticks = 0;
  if (!has_clock(run)) return 0;
  time = trial_time(run, submission, attempt);
  *ticks = rg_ticks(time);
  if (*ticks >= 0) return 0;
  run->stage = submission;
  if (!run->failure.failed)
    rg_failure_set(&run->failure, "its duration is %g, which is no time", time);
  *stop = true;
  return 0;
}

static int64_t think(void *closure, int submission)
{
  const RgTrialRun *run = closure;
  const RgCrewSettings *crew = &run->cell->crew;

  if (submission <= run->n_designed) return 0;
  const double time = crew->think_a + crew->think_b * pow(run->history.n, crew->think_p);
  return rg_ticks(fmin(time, RG_TIME_MAX));
}

static int64_t life(void *closure, int worker, int incarnation)
{
  const RgTrialRun *run = closure;
  const double u = rg_trial_uniform(&run->deaths, worker, incarnation);

  return rg_ticks(fmin(rg_distribution_quantile(&run->death, u), RG_TIME_MAX));
}

static int64_t repair(void *closure, int worker, int incarnation)
{
  const RgTrialRun *run = closure;
  const double u = rg_trial_uniform(&run->repairs, worker, incarnation);

  if (!run->repair.n) return -1;
  return rg_ticks(fmin(rg_distribution_quantile(&run->repair, u), RG_TIME_MAX));
}

/* A program that has ended starts again at once. */
static int64_t restart(void *closure, int worker, int incarnation)
{
  (void)closure, (void)worker, (void)incarnation;
  return 0;
}

/* ---- recording ------------------------------------------------------------------------------- */

void rg_trial_record_crew(RgTrialRun *run, const RgCrewRow *told)
{
  const int row = told->submission - 1;

  run->history.moments[run->history.n - 1].submission = told->submission;
  if (!rg_crew_counts(&run->cell->crew)) return;
  *rg_trial_cell(run, RG_COLUMN_SUBMISSION, row) = told->submission;
  if (!told->worker) return; /* known at the start */
  *rg_trial_cell(run, RG_COLUMN_WORKER, row) = told->worker;
  *rg_trial_cell(run, RG_COLUMN_ATTEMPTS, row) = told->attempts;
  if (!has_clock(run)) return;
  *rg_trial_cell(run, run->real ? RG_COLUMN_WALL_DISPATCHED : RG_COLUMN_DISPATCHED, row) =
    units(told->dispatched);
  *rg_trial_cell(run, run->real ? RG_COLUMN_WALL_FINISHED : RG_COLUMN_FINISHED, row) =
    units(told->finished);
  *rg_trial_cell(run, run->real ? RG_COLUMN_WALL_TOLD : RG_COLUMN_TOLD, row) = units(told->told);
  if (!run->real) {
    *rg_trial_cell(run, RG_COLUMN_DURATION, row) = units(told->finished - told->dispatched);
    *rg_trial_cell(run, RG_COLUMN_IDLE, row) = units(told->idle);
  }
  run->history.moments[run->history.n - 1].dispatched = units(told->dispatched);
  run->history.moments[run->history.n - 1].finished = units(told->finished);
}

static void record_outcome(RgTrialRun *run, const RgCrewOutcome *outcome)
{
  const RgCrewSettings *crew = &run->cell->crew;
  RgRecord *record = run->record;

  if (!rg_crew_counts(crew)) return;
  if (crew->workers > 1)
    snprintf(record->release, sizeof(record->release), "%s",
             crew->release == RG_RELEASE_SYNC ? "sync" : "async");
  record->in_flight = outcome->in_flight;
  record->lost = outcome->lost;
  if (!has_clock(run)) return;
  record->makespan = units(outcome->makespan);
  record->idle_share = (double)outcome->idle / ((double)crew->workers * (double)outcome->makespan);
}

/* A crew that could not go on fails the trial. */
static void judge_outcome(RgTrialRun *run, const RgCrewOutcome *outcome)
{
  if (outcome->deserted) {
    run->stage = run->history.n + 1;
    rg_failure_set(&run->failure, "no worker is left");
  }
  if (outcome->hopeless) {
    run->stage = outcome->hopeless;
    rg_failure_set(&run->failure, "it was lost with its worker %d times", RG_CREW_ATTEMPTS_MAX);
  }
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Take in the first n evaluations, before the clock starts. */
static PetscErrorCode evaluate_first(RgTrialRun *run, int n, bool *stop)
{
  for (int s = 1; s <= n && !*stop; s++) {
    const RgCrewRow row = {.submission = s, .attempts = 1};
    PetscCall(rg_trial_ask(run, s, stop));
    if (!*stop) PetscCall(rg_trial_tell(run, &row, stop));
  }
  return 0;
}

static int64_t limit(double time)
{
  return isnan(time) ? -1 : rg_ticks(time);
}

/* n_free: the number of evaluations before the clock starts. */
static RgCrewOptions crew_options(const RgTrialRun *run, int n_free)
{
  const RgCrewSettings *settings = &run->cell->crew;

  return (RgCrewOptions){.workers = settings->workers,
                         .release = (RgRelease)settings->release,
                         .lost = run->real ? RG_LOST_RESUBMIT : (RgLost)settings->lost,
                         .first = n_free + 1,
                         .last = run->trial->n_evaluations,
                         .n_initial = run->trial->n_initial,
                         .overlap = settings->initial_time == RG_INITIAL_OVERLAPPED,
                         .time = limit(settings->time),
                         .longest = limit(settings->time_limit)};
}

PetscErrorCode rg_trial_run_crew(RgTrialRun *run)
{
  const RgCrewSettings *settings = &run->cell->crew;
  const int n_free = rg_cell_free(run->cell, run->trial->n_initial);
  const RgCrewOptions options = crew_options(run, n_free);
  const RgCrewHost host = {.closure = run,
                           .ask = ask,
                           .duration = duration,
                           .think = rg_crew_thinks(settings) ? think : NULL,
                           .life = run->death.n ? life : NULL,
                           .repair = run->real ? restart : repair,
                           .tell = tell,
                           .start = run->real ? rg_trial_start_attempt : NULL,
                           .hear = run->real ? rg_trial_hear_workers : NULL};
  RgCrewOutcome outcome;
  bool stop = false;

  PetscCall(evaluate_first(run, n_free, &stop));
  if (!stop) {
    PetscCall(rg_crew_run(&options, &host, &outcome));
    judge_outcome(run, &outcome);
    record_outcome(run, &outcome);
  }
  PetscCall(rg_trial_finish_real(run));
  PetscCall(rg_trial_order_rows(run));
  return 0;
}

/* ---- forecast -------------------------------------------------------------------------------- */

static PetscErrorCode ask_nothing(void *closure, const RgCrewAsk *request, bool *stop)
{
  (void)closure, (void)request;
  *stop = false;
  return 0;
}

static PetscErrorCode count_row(void *closure, const RgCrewRow *row, bool *stop)
{
  RgTrialRun *run = closure;

  (void)row;
  run->history.n++;
  *stop = false;
  return 0;
}

/* The design at random that the forecast has for a submission, as the problem would see it. */
static const double *any_design(RgTrialRun *run, const RgStream *stream, int submission)
{
  const RgSpace *design = &run->problem->domain.design;
  const size_t dim = (size_t)design->dim;
  double *x = run->seen;

  for (int j = 0; j < design->dim; j++) x[j] = rg_trial_uniform(stream, submission, j);
  if (design->size) {
    const double *point = design->points + (size_t)(x[0] * design->size) * dim;
    for (size_t j = 0; j < dim; j++) x[j] = point[j];
  }
  rg_space_settle(design, x, NULL);
  rg_space_to_native(design, x, x);
  rg_space_seen(design, x, x);
  return x;
}

static PetscErrorCode forecast_duration(void *closure, int submission, int attempt, int64_t *ticks,
                                        bool *stop)
{
  RgTrialRun *run = closure;
  const RgStream stream = rg_trial_stream(run, "forecast");
  const double u = rg_trial_uniform(&run->durations, submission, attempt);
  const double *seen = run->duration.formula.n ? any_design(run, &stream, submission) : NULL;
  double time;

  if (run->duration.kind == RG_DURATION_COLUMN)
    time = run->times[(int)(rg_trial_uniform(&stream, submission, 0) * run->n_times)];
  else if (run->duration.kind == RG_DURATION_RECORDED)
    time = submission <= run->n_times ? run->times[submission - 1] : NAN;
  else time = rg_duration_at(&run->duration, u, seen);
  *ticks = rg_ticks(time);
  *stop = *ticks < 0;
  if (*stop) rg_failure_set(&run->failure, "submission %d takes no time", submission);
  return 0;
}

/* Read durations that are data. */
static PetscErrorCode read_data(RgTrialRun *run)
{
  if (run->duration.kind == RG_DURATION_COLUMN)
    PetscCall(rg_instances_take(run->instances, NULL, run->study, run->cell, run->trial->instance,
                                &run->instance, &run->failure));
  if (run->duration.kind != RG_DURATION_LAW && !run->failure.failed)
    PetscCall(trial_read_times(run));
  if (run->instance) PetscCall(rg_instances_give_back(&run->instance));
  return 0;
}

/* Read the laws and data of the cell; *known is false if no clock follows from them. problem:
   zero; it gets the domain. */
static PetscErrorCode read_forecast(RgTrialRun *run, RgProblem *problem, bool *known)
{
  const RgCell *cell = run->cell;
  const RgDurationKind kind = rg_duration_kind(cell->crew.duration);
  RgText mistake = {0};

  *known = kind != RG_DURATION_NONE && kind != RG_DURATION_REPORTED && !rg_trial_may_end(run);
  if (!*known) return 0;
  PetscCall(cell->problem->domain(cell->problem, cell->problem_options, &problem->domain));
  run->problem = problem;
  PetscCall(rg_duration_read(cell->crew.duration, &problem->domain.design, cell->problem_place,
                             &run->duration, &mistake));
  if (cell->crew.death) PetscCall(rg_times_read(cell->crew.death, &run->death, &mistake));
  if (cell->crew.repair) PetscCall(rg_times_read(cell->crew.repair, &run->repair, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", mistake.data);
  PetscCall(PetscMalloc1(problem->domain.design.dim, &run->seen));
  PetscCall(read_data(run));
  *known = !run->failure.failed;
  return 0;
}

PetscErrorCode rg_trial_forecast(const RgStudy *study, const RgTrial *trial, RgInstances *instances,
                                 RgForecast *forecast, bool *known)
{
  RgTrialRun run = {
    .study = study, .cell = &study->cells[trial->cell], .trial = trial, .instances = instances};
  RgProblem problem = {0};
  const RgCrewSettings *crew = &run.cell->crew;
  const int n_free = rg_cell_free(run.cell, trial->n_initial);
  const bool drawn = crew->start == RG_START_DESIGN;
  const RgCrewOptions options = crew_options(&run, n_free);
  RgCrewOutcome outcome;

  PetscCall(read_forecast(&run, &problem, known));
  *forecast = (RgForecast){.reported = rg_duration_kind(crew->duration) == RG_DURATION_REPORTED};
  run.durations = rg_trial_stream(&run, "duration");
  run.deaths = rg_trial_stream(&run, "death");
  run.repairs = rg_trial_stream(&run, "repair");
  run.n_designed = trial->n_initial + (drawn && crew->workers > 1 ? crew->workers : 0);
  run.history.n = n_free;
  const RgCrewHost host = {.closure = &run,
                           .ask = ask_nothing,
                           .duration = forecast_duration,
                           .think = rg_crew_thinks(crew) ? think : NULL,
                           .life = run.death.n ? life : NULL,
                           .repair = repair,
                           .tell = count_row};
  if (*known) {
    PetscCall(rg_crew_run(&options, &host, &outcome));
    *known = !run.failure.failed; /* a longer duration than there is fails the trial */
    *forecast = (RgForecast){
      .makespan = units(outcome.makespan),
      .idle_share = (double)outcome.idle / ((double)crew->workers * (double)outcome.makespan),
      .n_rows = run.history.n,
      .lost = outcome.lost,
      .rough = run.duration.formula.n > 0 || run.duration.kind == RG_DURATION_COLUMN};
  }
  PetscCall(rg_domain_destroy(&problem.domain));
  PetscCall(RG_FREE(&run.seen, &run.times));
  PetscCall(rg_duration_clear(&run.duration));
  PetscCall(rg_distribution_destroy(&run.death));
  PetscCall(rg_distribution_destroy(&run.repair));
  return 0;
}
