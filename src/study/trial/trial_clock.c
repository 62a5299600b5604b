/* The loop of a trial on its workers, with their clock: the answers to the crew's questions, and
   what is recorded of it. Random times depend on the study, the problem and the trial's seed, not
   on the method. */
#include "base/grow.h"
#include "study/file/crew_options.h"
#include "study/trial/trial_internal.h"

#include <math.h>
#include <stdio.h>

struct RgTrialCrew {
  RgDuration duration; /* law of durations on the simulated clock */
  const double *times; /* durations by design or by submission, if they are data; borrowed */
  int n_times;
  RgDistribution death, repair;
  RgStream durations, deaths, repairs;
  double *seen; /* room for a design as the problem sees it */
};

/* ---- life ------------------------------------------------------------------------------------ */

/* Read the laws and the data of the clock. A failure of the trial says what is wrong with data. */
static PetscErrorCode create_crew(RgTrialRun *run)
{
  const RgTrialParts *of = &run->of;
  const RgCrewSettings *settings = &of->cell->crew;
  const RgSpace *design = &of->problem->domain.design;
  const RgRecorded *recorded = NULL;
  RgText mistake = {0};

  PetscCall(PetscCalloc1(1, &run->crew));
  RgTrialCrew *crew = run->crew;
  const RgDuration *duration = &crew->duration;
  PetscCall(PetscCalloc1(design->dim, &crew->seen));
  crew->durations = rg_trial_stream(of, "duration");
  crew->deaths = rg_trial_stream(of, "death");
  crew->repairs = rg_trial_stream(of, "repair");
  PetscCall(rg_duration_read(settings->duration, design, of->cell->problem_place, &crew->duration,
                             &mistake));
  if (settings->death) PetscCall(rg_times_read(settings->death, &crew->death, &mistake));
  if (settings->repair) PetscCall(rg_times_read(settings->repair, &crew->repair, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", mistake.data);
  if (duration->kind == RG_DURATION_COLUMN) {
    crew->n_times = design->size;
    PetscCall(rg_instance_column(of->instance, of->cell, duration->name, &crew->times, &mistake));
  } else if (duration->kind == RG_DURATION_RECORDED) {
    PetscCall(
      rg_instances_recorded(of->instances, duration->name, duration->label, &recorded, &mistake));
    if (recorded)
      PetscCall(rg_recorded_find(recorded, of->cell->problem_label, of->trial->instance,
                                 of->trial->seed, &crew->n_times, &crew->times, &mistake));
  }
  if (mistake.length) rg_failure_set(&run->failure, "'duration': %s", mistake.data);
  return rg_text_clear(&mistake);
}

static PetscErrorCode destroy_crew(RgTrialRun *run)
{
  if (!run->crew) return 0;
  PetscCall(rg_duration_clear(&run->crew->duration));
  PetscCall(rg_distribution_destroy(&run->crew->death));
  PetscCall(rg_distribution_destroy(&run->crew->repair));
  return RG_FREE(&run->crew->seen, &run->crew);
}

static bool has_clock(const RgTrialRun *run)
{
  return run->crew->duration.kind != RG_DURATION_NONE || run->real;
}

static double units(int64_t ticks)
{
  return (double)ticks / RG_TICKS_PER_UNIT;
}

/* A uniform random number of a stream at (iteration, index). */
static double uniform_at(const RgStream *stream, int iteration, int index)
{
  RgRandom random = rg_stream_at(stream, (uint64_t)iteration);

  random.index = (uint64_t)index;
  return rg_random_uniform(&random);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Choose the query of a submission, and evaluate it, unless a worker on the real clock does. */
static PetscErrorCode ask_evaluation(RgTrialRun *run, int submission, bool *stop)
{
  const int row = run->rows.n_asked;

  PetscCall(rg_trial_choose(run, submission, stop));
  if (*stop) return 0;
  PetscCall(rg_clock_begin(&run->clock, RG_STAGE_EVALUATE));
  const bool otherwise = run->real && rg_real_replace_query(run, submission);
  PetscCall(rg_trial_place(run, submission));
  if (!run->real || rg_trial_knows(run, submission)) PetscCall(rg_trial_evaluate(run, submission));
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_EVALUATE));
  PetscCall(rg_trial_keep_failure(run, submission));
  *stop = run->abandoned;
  if (*stop) return 0;
  if (submission > run->of.n_designed) PetscCall(rg_trial_record_model(run, row));
  rg_trial_record_own(run, row);
  if (otherwise || run->out.at[RG_EXTRA_OTHERWISE] >= run->out.n_own)
    rg_trial_record_extra(run, RG_EXTRA_OTHERWISE, 0, row, otherwise);
  rg_trial_record_time(run, row);
  return 0;
}

/* The method sees the points in flight. Contexts that it does not choose are not known. */
static PetscErrorCode ask(void *closure, const RgCrewAsk *request, bool *stop)
{
  RgTrialRun *run = closure;
  RgHistory *h = &run->rows.history;
  const size_t told = (size_t)h->n;
  const bool chosen = run->of.problem->domain.control == RG_CONTEXT_SIMULATOR;

  h->pending = (RgPending){.n = request->n_pending,
                           .x = h->x + told * h->dim,
                           .index = h->index + told,
                           .c = chosen ? h->c + told * h->context_dim : NULL,
                           .context_index = chosen ? h->context_index + told : NULL,
                           .submission = request->pending,
                           .now = units(request->now)};
  PetscCall(ask_evaluation(run, request->submission, stop));
  h->pending = (RgPending){0};
  if (!*stop && rg_crew_counts(&run->of.cell->crew))
    *rg_trial_cell(run, RG_COLUMN_N_PENDING, run->rows.n_asked - 1) = request->n_pending;
  return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

static PetscErrorCode duration(void *closure, int submission, int attempt, int64_t *ticks,
                               bool *stop)
{
  RgTrialRun *run = closure;
  const RgTrialCrew *crew = run->crew;
  const RgTrialRecorder *out = &run->out;
  const int row = rg_trial_row(run, submission), at = submission - 1;
  double time = 0;

  switch (crew->duration.kind) {
  case RG_DURATION_NONE: break;
  case RG_DURATION_LAW:
    rg_space_seen(&run->of.problem->domain.design, rg_trial_cell(run, RG_COLUMN_X, row),
                  crew->seen);
    time = rg_duration_at(&crew->duration, uniform_at(&crew->durations, submission, attempt),
                          crew->seen);
    break;
  case RG_DURATION_COLUMN: time = crew->times[run->rows.history.index[row]]; break;
  case RG_DURATION_REPORTED: time = out->record->extra[out->at[RG_EXTRA_REPORTED]][row]; break;
  case RG_DURATION_RECORDED:
    time = at < crew->n_times ? crew->times[at] : NAN;
    if (isnan(time))
      rg_failure_set(&run->failure, "'duration': %s has no duration of submission %d",
                     crew->duration.name, submission);
  }
  *ticks = rg_ticks(time);
  *stop = *ticks < 0;
  if (!*stop) return 0;
  run->stage = submission;
  if (!run->failure.failed)
    rg_failure_set(&run->failure, "its duration is %g, which is no time", time);
  return 0;
}

static int64_t think(void *closure, int submission)
{
  const RgTrialRun *run = closure;
  const RgCrewSettings *crew = &run->of.cell->crew;

  if (submission <= run->of.n_designed) return 0;
  const double time = crew->think_a + crew->think_b * pow(run->rows.history.n, crew->think_p);
  return rg_ticks(fmin(time, RG_TIME_MAX));
}

static int64_t life(void *closure, int worker, int incarnation)
{
  const RgTrialCrew *crew = ((const RgTrialRun *)closure)->crew;
  const double u = uniform_at(&crew->deaths, worker, incarnation);

  return rg_ticks(fmin(rg_distribution_quantile(&crew->death, u), RG_TIME_MAX));
}

/* On the real clock a program that has ended starts again at once. */
static int64_t repair(void *closure, int worker, int incarnation)
{
  const RgTrialRun *run = closure;
  const RgDistribution *law = &run->crew->repair;
  const double u = uniform_at(&run->crew->repairs, worker, incarnation);

  if (run->real) return 0;
  return law->n ? rg_ticks(fmin(rg_distribution_quantile(law, u), RG_TIME_MAX)) : -1;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* Record the times of an evaluation, and tell it. */
static PetscErrorCode tell(void *closure, const RgCrewRow *told, bool *stop)
{
  RgTrialRun *run = closure;
  const int row = rg_trial_row(run, told->submission);
  const bool counts = rg_crew_counts(&run->of.cell->crew), real = run->real != NULL;
  RgTiming *timing = &run->rows.history.timings[row];

  if (counts) *rg_trial_cell(run, RG_COLUMN_SUBMISSION, row) = told->submission;
  if (counts && told->worker) { /* else it was known at the start */
    *rg_trial_cell(run, RG_COLUMN_WORKER, row) = told->worker;
    *rg_trial_cell(run, RG_COLUMN_ATTEMPTS, row) = told->attempts;
  }
  if (counts && told->worker && has_clock(run)) {
    timing->dispatched = units(told->dispatched);
    timing->finished = units(told->finished);
    *rg_trial_cell(run, real ? RG_COLUMN_WALL_DISPATCHED : RG_COLUMN_DISPATCHED, row) =
      timing->dispatched;
    *rg_trial_cell(run, real ? RG_COLUMN_WALL_FINISHED : RG_COLUMN_FINISHED, row) =
      timing->finished;
    *rg_trial_cell(run, real ? RG_COLUMN_WALL_TOLD : RG_COLUMN_TOLD, row) = units(told->told);
    if (!real) {
      *rg_trial_cell(run, RG_COLUMN_DURATION, row) = units(told->finished - told->dispatched);
      *rg_trial_cell(run, RG_COLUMN_IDLE, row) = units(told->idle);
    }
  }
  return rg_trial_tell(run, told, stop);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Record how the crew ended. One that could not go on fails the trial. */
static void record_crew(RgTrialRun *run, const RgCrewOutcome *outcome)
{
  const RgCrewSettings *crew = &run->of.cell->crew;
  RgRecord *record = run->out.record;

  if (outcome->deserted) {
    run->stage = run->rows.history.n + 1;
    rg_failure_set(&run->failure, "no worker is left");
  }
  if (outcome->hopeless) {
    run->stage = outcome->hopeless;
    rg_failure_set(&run->failure, "it was lost with its worker %d times", RG_CREW_ATTEMPTS_MAX);
  }
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

/* Run the crew after the first n_free evaluations, which are known before the clock starts. */
static PetscErrorCode run_crew(RgTrialRun *run, int n_free, RgCrewCallbacks host,
                               RgCrewOutcome *outcome)
{
  const RgCrewSettings *settings = &run->of.cell->crew;
  const double most = settings->time, longest = settings->time_limit;
  const RgCrewOptions options = {.workers = settings->workers,
                                 .release = (RgRelease)settings->release,
                                 .lost = run->real ? RG_LOST_RESUBMIT : (RgLost)settings->lost,
                                 .first = n_free + 1,
                                 .last = run->of.trial->n_evaluations,
                                 .n_initial = run->of.trial->n_initial,
                                 .overlap = settings->initial_time == RG_INITIAL_OVERLAPPED,
                                 .time = isnan(most) ? -1 : rg_ticks(most),
                                 .longest = isnan(longest) ? -1 : rg_ticks(longest)};

  host.closure = run;
  host.think = rg_crew_thinks(settings) ? think : NULL;
  host.life = run->crew->death.n ? life : NULL;
  host.repair = repair;
  return rg_crew_run(&options, &host, outcome);
}

PetscErrorCode rg_trial_run_crew(RgTrialRun *run)
{
  const int n_free = rg_cell_free(run->of.cell, run->of.trial->n_initial);
  RgCrewCallbacks host = {.ask = ask, .duration = duration, .tell = tell};
  RgCrewOutcome outcome;
  bool stop;

  PetscCall(create_crew(run));
  stop = run->failure.failed;
  if (!stop && run->of.cell->crew.clock) {
    PetscCall(rg_real_create(run));
    host.start = rg_real_start;
    host.wait = rg_real_wait;
  }
  for (int s = 1; s <= n_free && !stop; s++) {
    PetscCall(ask_evaluation(run, s, &stop));
    if (!stop) PetscCall(tell(run, &(RgCrewRow){.submission = s, .attempts = 1}, &stop));
  }
  if (!stop) {
    PetscCall(run_crew(run, n_free, host, &outcome));
    record_crew(run, &outcome);
  }
  if (run->real) PetscCall(rg_real_finish(run));
  return destroy_crew(run);
}

/* ---- forecast -------------------------------------------------------------------------------- */

static PetscErrorCode ask_nothing(void *closure, const RgCrewAsk *request, bool *stop)
{
  *stop = false;
  return 0;
}

static PetscErrorCode count_row(void *closure, const RgCrewRow *row, bool *stop)
{
  RgTrialRun *run = closure;

  run->rows.history.n++;
  *stop = false;
  return 0;
}

/* A formula takes a design at random for the submission. */
static PetscErrorCode forecast_duration(void *closure, int submission, int attempt, int64_t *ticks,
                                        bool *stop)
{
  RgTrialRun *run = closure;
  const RgTrialCrew *crew = run->crew;
  const RgSpace *design = &run->of.problem->domain.design;
  const RgStream stream = rg_trial_stream(&run->of, "forecast");
  const double u = uniform_at(&crew->durations, submission, attempt);
  double time, *x = crew->seen;

  for (int j = 0; crew->duration.formula.n && j < design->dim; j++)
    x[j] = uniform_at(&stream, submission, j);
  if (crew->duration.formula.n) {
    if (design->size)
      PetscCall(PetscArraycpy(x, design->points + (size_t)(x[0] * design->size) * design->dim,
                              design->dim));
    rg_space_normalise(design, x, NULL);
    rg_space_to_native(design, x, x);
    rg_space_seen(design, x, x);
  }
  if (crew->duration.kind == RG_DURATION_COLUMN)
    time = crew->times[(int)(uniform_at(&stream, submission, 0) * crew->n_times)];
  else if (crew->duration.kind == RG_DURATION_RECORDED)
    time = submission <= crew->n_times ? crew->times[submission - 1] : NAN;
  else time = rg_duration_at(&crew->duration, u, x);
  *ticks = rg_ticks(time);
  *stop = *ticks < 0; /* a longer duration than there is fails the trial */
  if (*stop) rg_failure_set(&run->failure, "submission %d takes no time", submission);
  return 0;
}

PetscErrorCode rg_trial_forecast(const RgStudy *study, const RgTrial *trial, RgInstances *instances,
                                 RgForecast *forecast, bool *known)
{
  const RgCell *cell = &study->cells[trial->cell];
  const RgDurationKind kind = rg_duration_kind(cell->crew.duration);
  const int workers = cell->crew.workers, n_free = rg_cell_free(cell, trial->n_initial);
  RgTrialRun run = {.of = {.study = study, .cell = cell, .trial = trial, .instances = instances}};
  RgProblem problem = {0};
  RgCrewOutcome outcome;

  *forecast = (RgForecast){.reported = kind == RG_DURATION_REPORTED};
  *known = kind != RG_DURATION_NONE && kind != RG_DURATION_REPORTED && !rg_trial_may_end(cell);
  if (!*known) return 0;
  PetscCall(rg_problem_domain(cell->problem, cell->problem_options, &problem.domain));
  run.of.problem = &problem;
  run.of.n_designed =
    trial->n_initial + (cell->crew.start == RG_START_DESIGN && workers > 1 ? workers : 0);
  run.rows.history.n = n_free;
  if (kind == RG_DURATION_COLUMN)
    PetscCall(rg_instances_acquire(instances, NULL, study, cell, trial->instance, &run.of.instance,
                                   &run.failure));
  if (!run.failure.failed) PetscCall(create_crew(&run));
  if (!run.failure.failed)
    PetscCall(run_crew(
      &run, n_free,
      (RgCrewCallbacks){.ask = ask_nothing, .duration = forecast_duration, .tell = count_row},
      &outcome));
  *known = !run.failure.failed;
  if (*known)
    *forecast = (RgForecast){
      .makespan = units(outcome.makespan),
      .idle_share = (double)outcome.idle / ((double)workers * (double)outcome.makespan),
      .n_rows = run.rows.history.n,
      .lost = outcome.lost,
      .rough = run.crew->duration.formula.n > 0 || kind == RG_DURATION_COLUMN};
  PetscCall(rg_instances_release(&run.of.instance));
  PetscCall(rg_domain_destroy(&problem.domain));
  return destroy_crew(&run);
}
