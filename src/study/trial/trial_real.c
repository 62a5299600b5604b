/* A trial on the real clock: its workers are programs that answer at the same time. Each event is
   in the timeline, on the disk, before it is used. A resumed trial first repeats the events of its
   timeline; attempts that were in flight when the earlier run ended are lost, and start again. The
   timeline in a record alone replays the trial. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "study/store/timeline.h"
#include "study/trial/trial_internal.h"

/* The work of a worker. */
typedef struct {
  int submission, attempt; /* 0: nothing */
  bool running;            /* this run has started it */
  int64_t since, id;       /* tick of its start; id of the question, 0: its value was known */
} Place;

/* An answer that was not taken in yet. */
typedef struct {
  int worker; /* 0: it was taken in */
  int64_t tick;
  RgText answer, mistake; /* one of the two is empty; owned */
  RgText errors;          /* standard error; owned */
  bool unreachable;
  double cpu;
} Arrival;

struct RgReal {
  RgTimeline timeline;
  int at;             /* events of the timeline that have happened */
  bool live;          /* this run has begun to add events */
  int64_t base, last; /* tick at which it began; the latest tick */
  double zero;        /* rg_wall_seconds of `base` */
  int64_t gap;        /* ticks between the runs of the trial */
  Place *places;      /* by worker */
  double *point;      /* room for a point */
  int *tries;         /* by submission: attempts that this run lost because the program failed */
  int64_t asked;      /* number of questions */
  double grace;       /* seconds for an answer after a stop */
  int n_arrivals;
  Arrival *arrivals; /* in the order of arrival */
};

static const double poll_every = 0.05; /* seconds of a wait until the host may stop it */
#define MOST ((int64_t)1 << 60)        /* ticks: forged gaps don't add up to more than a number */

/* ---- life ------------------------------------------------------------------------------------ */

PetscErrorCode rg_real_create(RgTrialRun *run)
{
  const RgDomain *domain = &run->of.problem->domain;
  const RgTrialServices *host = run->of.host;
  const int n_point = domain->design.dim + domain->context.dim + 2;

  PetscCall(PetscCalloc1(1, &run->real));
  RgReal *real = run->real;
  PetscCall(PetscCalloc1(run->of.cell->crew.workers + 1, &real->places));
  PetscCall(PetscCalloc1(n_point, &real->point));
  PetscCall(PetscCalloc1(run->of.trial->n_evaluations, &real->tries));
  if (host->programs)
    PetscCall(rg_timeline_open(host->directory, run->of.trial->id, n_point, &real->timeline));
  else PetscCall(rg_timeline_read(host->timeline ? host->timeline : "", &real->timeline));
  return 0;
}

static PetscErrorCode clear_arrivals(RgReal *real)
{
  for (int i = 0; i < real->n_arrivals; i++) {
    PetscCall(rg_text_clear(&real->arrivals[i].answer));
    PetscCall(rg_text_clear(&real->arrivals[i].mistake));
    PetscCall(rg_text_clear(&real->arrivals[i].errors));
  }
  real->n_arrivals = 0;
  return 0;
}

/* ---- the timeline ---------------------------------------------------------------------------- */

static int64_t now(RgReal *real)
{
  const double passed = rg_wall_seconds() - real->zero;

  real->last = PetscMax(real->last, real->base + (int64_t)(RG_TICKS_PER_UNIT * passed));
  return real->last;
}

/* Add an event: it is on the disk when this returns, unless the trial is abandoned. */
static PetscErrorCode add_event(RgTrialRun *run, RgTimelineEvent event)
{
  RgReal *real = run->real;
  RgTrialRetry retry = {0};

  if (run->abandoned) return 0;
  while (rg_trial_retry(run, &retry))
    PetscCall(rg_timeline_add(&real->timeline, &event, &run->of.host->trouble));
  real->at = real->timeline.n;
  return 0;
}

/* The first event of this run. The clock goes on from the last event of the earlier run. */
static PetscErrorCode begin(RgTrialRun *run)
{
  RgReal *real = run->real;
  const RgTimeline *timeline = &real->timeline;
  struct timespec time;

  if (real->live) return 0;
  clock_gettime(CLOCK_REALTIME, &time);
  const int64_t unix =
    (int64_t)time.tv_sec * RG_TICKS_PER_UNIT + time.tv_nsec / (1000000000 / RG_TICKS_PER_UNIT);
  real->live = true;
  real->base = real->last;
  real->zero = rg_wall_seconds();
  if (!timeline->n) {
    PetscCall(add_event(run, (RgTimelineEvent){.kind = RG_TIMELINE_BEGIN, .detail = unix}));
    return 0;
  }
  const int64_t gap = PetscMax(unix - timeline->events[0].detail - real->gap - real->last, 0);
  real->gap += gap;
  return add_event(run,
                   (RgTimelineEvent){.kind = RG_TIMELINE_GAP, .tick = real->base, .detail = gap});
}

/* The next event of the timeline; NULL after the last one. */
static const RgTimelineEvent *next_event(RgReal *real)
{
  for (; real->at < real->timeline.n; real->at++) {
    const RgTimelineEvent *event = &real->timeline.events[real->at];
    if (event->kind == RG_TIMELINE_GAP) real->gap = PetscMin(real->gap, MOST) + event->detail;
    else if (event->kind != RG_TIMELINE_BEGIN) return event;
  }
  return NULL;
}

static void disagree(RgTrialRun *run, bool *stop)
{
  rg_failure_set(&run->failure, "its timeline %s has another event here",
                 run->of.host->programs ? "in the study's folder" : "in the record");
  *stop = true;
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The point of a submission, in the numbers of a timeline. */
static double *point_of(RgTrialRun *run, int submission)
{
  const RgHistory *history = &run->rows.history;
  const size_t dim = (size_t)history->dim, dim_c = (size_t)history->context_dim;
  const size_t row = (size_t)rg_trial_row(run, submission);
  double *at = run->real->point;

  memcpy(at, history->x + row * dim, dim * sizeof(*at));
  if (dim_c) memcpy(at + dim, history->c + row * dim_c, dim_c * sizeof(*at));
  at[dim + dim_c] = history->index[row];
  at[dim + dim_c + 1] = history->context_index[row];
  return at;
}

/* Whether a point of a log is one of a space: a log may come from anywhere. */
static bool is_point(const RgSpace *space, const double *unit, double index)
{
  bool inside = rg_space_is_finite(space) ? index >= 0 && index < space->size : index == -1;

  for (int j = 0; j < space->dim; j++) inside = inside && unit[j] >= 0 && unit[j] <= 1;
  return inside;
}

/* The context belongs to the point if the learner chooses it. */
bool rg_real_replace_query(RgTrialRun *run, int submission)
{
  const RgTimelineEvent *event = next_event(run->real);
  const RgDomain *domain = &run->of.problem->domain;
  const size_t dim = (size_t)domain->design.dim, all_c = (size_t)domain->context.dim;
  const size_t dim_c = domain->control == RG_CONTEXT_SIMULATOR ? all_c : 0;
  RgQuery *query = &run->query;

  if (!event || !event->point || event->submission != submission) return false;
  const double *x = event->point, *c = x + dim, *indices = c + all_c;
  const bool same =
    !memcmp(x, query->x, dim * sizeof(*x)) && (!dim_c || !memcmp(c, query->c, dim_c * sizeof(*c)));
  if (same || !is_point(&domain->design, x, indices[0]) ||
      (dim_c && !is_point(&domain->context, c, indices[1])))
    return false;
  memcpy(query->x, x, dim * sizeof(*x));
  query->index = (int)indices[0];
  rg_trial_convert_query(run, submission);
  if (!dim_c) return true;
  memcpy(query->c, c, dim_c * sizeof(*c));
  query->context_index = (int)indices[1];
  return true;
}

/* ---- questions and answers ------------------------------------------------------------------- */

/* Send the question of a worker to its program. */
static PetscErrorCode send(RgTrialRun *run, int worker)
{
  const RgPrograms *programs = run->of.host->programs;
  RgReal *real = run->real;
  Place *place = &real->places[worker];
  const RgPoint point = rg_trial_point(run, place->submission);
  RgExchange question = {.id = ++real->asked, .worker = worker, .attempt = place->attempt};
  double none;

  place->id = question.id;
  run->of.problem->task.evaluation = place->submission;
  run->of.problem->task.exchange = &question;
  PetscCall(run->of.problem->class->evaluate(run->of.problem, 1, &point, &none, &run->failure));
  run->of.problem->task.exchange = NULL;
  real->grace = question.grace;
  PetscCall(programs->ask(programs->closure, worker, &question));
  return rg_text_clear(&question.line);
}

/* Wait for one more answer, and note when it came. */
static PetscErrorCode poll_program(RgTrialRun *run, double seconds, bool *any)
{
  const RgPrograms *programs = run->of.host->programs;
  RgReal *real = run->real;
  RgProgramAnswer reply = {0};

  PetscCall(programs->wait(programs->closure, seconds, &reply));
  *any = reply.worker > 0;
  if (!*any) return 0;
  PetscCall(RG_GROW(real->n_arrivals, real->arrivals));
  Arrival *arrival = &real->arrivals[real->n_arrivals++];
  *arrival = (Arrival){
    .worker = reply.worker, .tick = now(real), .unreachable = reply.unreachable, .cpu = reply.cpu};
  if (reply.answer) PetscCall(rg_text_add_bytes(&arrival->answer, reply.answer, reply.length));
  else PetscCall(rg_text_add(&arrival->mistake, "%s", reply.mistake));
  if (reply.n_errors) PetscCall(rg_text_add_bytes(&arrival->errors, reply.errors, reply.n_errors));
  return 0;
}

/* Turn an answer into a value, or a failure. Or the attempt is lost, and another one follows. */
static PetscErrorCode read_answer(RgTrialRun *run, const Arrival *arrival, bool *lost)
{
  const RgPrograms *programs = run->of.host->programs;
  RgReal *real = run->real;
  const Place *place = &real->places[arrival->worker];
  const int submission = place->submission;
  RgExchange exchange = {.id = place->id,
                         .answered = true,
                         .answer = arrival->answer.data,
                         .length = arrival->answer.length,
                         .mistake = arrival->mistake.data,
                         .errors = arrival->errors.data,
                         .n_errors = arrival->errors.length,
                         .unreachable = arrival->unreachable};
  const double seconds = (double)(arrival->tick - place->since) / RG_TICKS_PER_UNIT;
  double f = NAN;

  run->of.problem->task.exchange = &exchange;
  PetscCall(rg_trial_measure(run, submission, &f));
  run->of.problem->task.exchange = NULL;
  run->of.problem->task.cpu += arrival->cpu;
  run->clock.cpu[RG_STAGE_EVALUATE] += arrival->cpu;
  run->clock.wall[RG_STAGE_EVALUATE] += seconds;
  const bool repeats = run->failure.failed && !exchange.final;
  if (repeats) PetscCall(programs->drop(programs->closure, arrival->worker));
  *lost = repeats && run->of.cell->crew.lost == RG_LOST_RESUBMIT && !run->abandoned &&
          real->tries[submission - 1]++ < exchange.retries;
  if (*lost) run->failure = (RgFailure){0};
  else PetscCall(rg_trial_keep_value(run, submission, f, seconds));
  rg_trial_record_time(run, rg_trial_row(run, submission));
  return rg_trial_keep_failure(run, submission);
}

/* ---- starting -------------------------------------------------------------------------------- */

static PetscErrorCode start_now(RgTrialRun *run, int worker, int64_t *tick, bool *stop)
{
  RgReal *real = run->real;
  Place *place = &real->places[worker];
  bool any = true, known;

  PetscCall(begin(run));
  *tick = place->since = now(real);
  PetscCall(add_event(
    run, (RgTimelineEvent){RG_TIMELINE_START, place->submission, place->attempt, worker, *tick, 0,
                           place->attempt == 1 ? point_of(run, place->submission) : NULL}));
  *stop = run->abandoned;
  if (*stop) return 0;
  place->running = true;
  PetscCall(rg_trial_find_value(run, place->submission, &known));
  if (!known) PetscCall(send(run, worker));
  while (any)
    PetscCall(poll_program(run, 0, &any)); /* answers that came while a query was chosen */
  return 0;
}

PetscErrorCode rg_real_start(void *closure, int submission, int attempt, int worker, int64_t *tick,
                             bool *stop)
{
  RgTrialRun *run = closure;
  RgReal *real = run->real;
  const RgTimelineEvent *event = next_event(real);

  *stop = false;
  real->places[worker] = (Place){.submission = submission, .attempt = attempt};
  if (!event && run->of.host->programs) {
    PetscCall(start_now(run, worker, tick, stop));
  } else if (event && event->kind == RG_TIMELINE_START && event->submission == submission &&
             event->attempt == attempt && event->worker == worker && event->tick >= real->last) {
    *tick = real->places[worker].since = real->last = event->tick;
    real->at++;
  } else {
    disagree(run, stop);
  }
  return 0;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Repeat the events of the timeline that have one tick. */
static PetscErrorCode repeat(RgTrialRun *run, int64_t *tick, int *n, RgCrewNews *news, bool *stop)
{
  RgReal *real = run->real;
  const RgTimelineEvent *event = next_event(real);

  *tick = event->tick;
  for (; event && event->kind != RG_TIMELINE_START && event->tick == *tick;
       event = next_event(real)) {
    const int w = event->worker, submission = event->submission;
    bool found = true;
    if (w > run->of.cell->crew.workers || real->places[w].submission != submission ||
        real->places[w].attempt != event->attempt || event->detail > *tick)
      break;
    if (event->kind == RG_TIMELINE_END) PetscCall(rg_trial_find_value(run, submission, &found));
    if (!found) break;
    rg_trial_record_time(run, rg_trial_row(run, submission));
    PetscCall(rg_trial_keep_failure(run, submission));
    news[(*n)++] = (RgCrewNews){w, event->kind == RG_TIMELINE_LOST, event->detail};
    real->places[w] = (Place){0};
    real->at++;
  }
  if (!*n || *tick <= real->last) disagree(run, stop);
  real->last = PetscMax(real->last, *tick);
  return 0;
}

/* End the work of a worker. A failure that ends the trial is no event of the timeline: after a
   kill the evaluation is tried again. */
static PetscErrorCode end_place(RgTrialRun *run, int worker, int64_t tick, int64_t finished,
                                bool lost, RgCrewNews *news)
{
  Place *place = &run->real->places[worker];

  *news = (RgCrewNews){worker, lost, finished};
  if (lost || !rg_trial_is_broken(run, place->submission))
    PetscCall(
      add_event(run, (RgTimelineEvent){lost ? RG_TIMELINE_LOST : RG_TIMELINE_END, place->submission,
                                       place->attempt, worker, tick, finished, NULL}));
  *place = (Place){0};
  return 0;
}

/* Attempts that need no wait: their value is known, or an earlier run has left them. */
static PetscErrorCode end_at_once(RgTrialRun *run, int *n, RgCrewNews *news)
{
  const Place *places = run->real->places;
  const int64_t tick = now(run->real) + 1;

  for (int w = 1; w <= run->of.cell->crew.workers; w++) {
    const int submission = places[w].submission;
    bool known = true;
    if (!submission || places[w].id) continue;
    if (!places[w].running) PetscCall(rg_trial_find_value(run, submission, &known));
    rg_trial_record_time(run, rg_trial_row(run, submission));
    PetscCall(end_place(run, w, tick, tick, !known, &news[(*n)++]));
  }
  if (*n) run->real->last = tick;
  return 0;
}

/* Wait for answers, and read all that are there. */
static PetscErrorCode wait_for_answers(RgTrialRun *run, int *n, RgCrewNews *news)
{
  RgReal *real = run->real;
  bool any = real->n_arrivals > 0;

  while (!any && !run->abandoned) {
    PetscCall(poll_program(run, poll_every, &any));
    run->abandoned = rg_trial_poll_stop(run);
  }
  while (any) PetscCall(poll_program(run, 0, &any));
  const int64_t tick = now(real) + 1;
  real->last = tick;
  for (int i = 0; i < real->n_arrivals && !run->abandoned; i++) {
    const Arrival *arrival = &real->arrivals[i];
    bool lost;
    PetscCall(read_answer(run, arrival, &lost));
    PetscCall(end_place(run, arrival->worker, tick, arrival->tick, lost, &news[(*n)++]));
  }
  if (!run->abandoned) PetscCall(clear_arrivals(real));
  return 0;
}

PetscErrorCode rg_real_wait(void *closure, int64_t *tick, int *n, RgCrewNews *news, bool *stop)
{
  RgTrialRun *run = closure;
  RgReal *real = run->real;

  *stop = false;
  if (next_event(real)) return repeat(run, tick, n, news, stop);
  if (!run->of.host->programs) {
    disagree(run, stop);
    return 0;
  }
  PetscCall(begin(run));
  PetscCall(end_at_once(run, n, news));
  if (!*n) PetscCall(wait_for_answers(run, n, news));
  *tick = real->last;
  *stop = run->abandoned;
  return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* After a stop: log the answers that are on their way, for the resumed trial. */
static PetscErrorCode wait_for_last(RgTrialRun *run)
{
  RgReal *real = run->real;
  const double until = rg_wall_seconds() + real->grace;
  bool any, lost;

  for (;;) {
    for (int i = 0; i < real->n_arrivals; i++) {
      Place *place = &real->places[real->arrivals[i].worker];
      if (place->id) PetscCall(read_answer(run, &real->arrivals[i], &lost));
      *place = (Place){0};
    }
    PetscCall(clear_arrivals(real));
    bool asks = false;
    for (int w = 1; w <= run->of.cell->crew.workers; w++) asks = asks || real->places[w].id;
    if (!asks || rg_wall_seconds() > until) break;
    PetscCall(poll_program(run, poll_every, &any));
    (void)rg_trial_poll_stop(run);
  }
  return 0;
}

PetscErrorCode rg_real_finish(RgTrialRun *run)
{
  const RgPrograms *programs = run->of.host->programs;
  RgReal *real = run->real;
  RgText text = {0};

  if (run->abandoned && run->stop_requested) PetscCall(wait_for_last(run));
  for (int w = 1; w <= run->of.cell->crew.workers; w++)
    if (real->places[w].id) PetscCall(programs->drop(programs->closure, w));
  PetscCall(rg_timeline_write(&real->timeline, &text));
  run->out.record->timeline = text.data; /* owned by the record from now on */
  run->out.record->gap = (double)real->gap / RG_TICKS_PER_UNIT;
  PetscCall(rg_timeline_clear(&real->timeline));
  PetscCall(clear_arrivals(real));
  return RG_FREE(&real->arrivals, &real->places, &real->point, &real->tries, &run->real);
}
