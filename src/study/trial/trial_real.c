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

static const double look_every = 0.05; /* seconds of a wait until the host may stop it */
#define MOST ((int64_t)1 << 60)        /* ticks: forged gaps don't add up to more than a number */

/* ---- life ------------------------------------------------------------------------------------ */

PetscErrorCode rg_trial_create_real(RgTrialRun *run)
{
  const RgDomain *domain = &run->problem->domain;
  const int n_point = domain->design.dim + domain->context.dim + 2;
  RgReal *real;

  if (!run->cell->crew.clock) return 0;
  PetscCall(PetscNew(&real));
  run->real = real;
  if (run->host->programs)
    PetscCall(rg_timeline_open(run->host->directory, run->trial->id, n_point, &real->timeline));
  else PetscCall(rg_timeline_read(run->host->timeline ? run->host->timeline : "", &real->timeline));
  PetscCall(PetscCalloc1(run->cell->crew.workers + 1, &real->places));
  PetscCall(PetscMalloc1(n_point, &real->point));
  PetscCall(PetscCalloc1(run->trial->n_evaluations, &real->tries));
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

PetscErrorCode rg_trial_destroy_real(RgTrialRun *run)
{
  RgReal *real = run->real;

  if (!real) return 0;
  PetscCall(rg_timeline_clear(&real->timeline));
  PetscCall(clear_arrivals(real));
  PetscCall(RG_FREE(&real->arrivals, &real->places, &real->point, &real->tries, &run->real));
  return 0;
}

/* ---- the timeline ---------------------------------------------------------------------------- */

static int64_t unix_ticks(void)
{
  struct timespec time;

  clock_gettime(CLOCK_REALTIME, &time);
  return (int64_t)time.tv_sec * RG_TICKS_PER_UNIT + time.tv_nsec / (1000000000 / RG_TICKS_PER_UNIT);
}

static int64_t now(RgReal *real)
{
  const double passed = rg_wall_seconds() - real->zero;

  real->last = PetscMax(real->last, real->base + (int64_t)(RG_TICKS_PER_UNIT * passed));
  return real->last;
}

typedef struct {
  RgTimeline *timeline;
  const RgTimelineEvent *event;
} Addition;

static PetscErrorCode add(void *closure, RgFault *fault)
{
  const Addition *addition = closure;

  return rg_timeline_add(addition->timeline, addition->event, fault);
}

/* An event happens: it is on the disk when this returns, unless the trial is abandoned. */
static PetscErrorCode happen(RgTrialRun *run, RgTimelineEvent event)
{
  RgReal *real = run->real;

  if (run->abandoned) return 0;
  PetscCall(rg_trial_insist(run, add, &(Addition){&real->timeline, &event}));
  real->at = real->timeline.n;
  return 0;
}

/* The first event of this run. The clock goes on from the last event of the earlier run. */
static PetscErrorCode begin(RgTrialRun *run)
{
  RgReal *real = run->real;
  const RgTimeline *timeline = &real->timeline;
  const int64_t unix = unix_ticks();

  if (real->live) return 0;
  real->live = true;
  real->base = real->last;
  real->zero = rg_wall_seconds();
  if (!timeline->n) {
    PetscCall(happen(run, (RgTimelineEvent){.kind = RG_TIMELINE_BEGIN, .detail = unix}));
    return 0;
  }
  const int64_t gap = PetscMax(unix - timeline->events[0].detail - real->gap - real->last, 0);
  real->gap += gap;
  PetscCall(
    happen(run, (RgTimelineEvent){.kind = RG_TIMELINE_GAP, .tick = real->base, .detail = gap}));
  return 0;
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
                 run->host->programs ? "in the study's folder" : "in the record");
  *stop = true;
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The point of a submission, in the numbers of a timeline. */
static double *point_of(RgTrialRun *run, int row)
{
  const RgHistory *asked = &run->asked;
  const size_t dim = (size_t)asked->dim, dim_c = (size_t)asked->context_dim;
  double *at = run->real->point;

  memcpy(at, asked->x + (size_t)row * dim, dim * sizeof(*at));
  if (dim_c) memcpy(at + dim, asked->c + (size_t)row * dim_c, dim_c * sizeof(*at));
  at[dim + dim_c] = asked->index[row];
  at[dim + dim_c + 1] = asked->context_index[row];
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
bool rg_trial_recall_point(RgTrialRun *run, int submission)
{
  const RgTimelineEvent *event = run->real ? next_event(run->real) : NULL;
  const size_t dim = (size_t)run->asked.dim, all_c = (size_t)run->asked.context_dim;
  const size_t dim_c = run->problem->domain.control == RG_CONTEXT_SIMULATOR ? all_c : 0;

  if (!event || !event->point || event->submission != submission) return false;
  const double *x = event->point, *c = x + dim, *indices = c + all_c;
  const bool same = !memcmp(x, run->query.x, dim * sizeof(*x)) &&
                    (!dim_c || !memcmp(c, run->query.c, dim_c * sizeof(*c)));
  if (same || !is_point(&run->problem->domain.design, x, indices[0]) ||
      (dim_c && !is_point(&run->problem->domain.context, c, indices[1])))
    return false;
  memcpy(run->query.x, x, dim * sizeof(*x));
  run->query.index = (int)indices[0];
  if (!dim_c) return true;
  memcpy(run->query.c, c, dim_c * sizeof(*c));
  run->query.context_index = (int)indices[1];
  return true;
}

/* ---- questions and answers ------------------------------------------------------------------- */

/* Send the question of a worker to its program. */
static PetscErrorCode send(RgTrialRun *run, int worker)
{
  const RgPrograms *programs = run->host->programs;
  RgReal *real = run->real;
  Place *place = &real->places[worker];
  const RgPoint point = rg_trial_point(run, place->submission - 1);
  RgExchange question = {.id = ++real->asked, .worker = worker, .attempt = place->attempt};
  double none;

  place->id = question.id;
  run->problem->task.evaluation = place->submission;
  run->problem->task.exchange = &question;
  PetscCall(run->problem->class->evaluate(run->problem, 1, &point, &none, &run->failure));
  run->problem->task.exchange = NULL;
  real->grace = question.grace;
  PetscCall(programs->ask(programs->closure, worker, &question));
  PetscCall(rg_text_clear(&question.line));
  return 0;
}

/* Wait for one more answer, and note when it came. */
static PetscErrorCode listen(RgTrialRun *run, double seconds, bool *any)
{
  const RgPrograms *programs = run->host->programs;
  RgReal *real = run->real;
  RgHeard heard = {0};

  PetscCall(programs->hear(programs->closure, seconds, &heard));
  *any = heard.worker > 0;
  if (!*any) return 0;
  PetscCall(RG_GROW(real->n_arrivals, real->arrivals));
  Arrival *arrival = &real->arrivals[real->n_arrivals++];
  *arrival = (Arrival){
    .worker = heard.worker, .tick = now(real), .unreachable = heard.unreachable, .cpu = heard.cpu};
  if (heard.answer) PetscCall(rg_text_add_bytes(&arrival->answer, heard.answer, heard.length));
  else PetscCall(rg_text_add(&arrival->mistake, "%s", heard.mistake));
  if (heard.n_errors) PetscCall(rg_text_add_bytes(&arrival->errors, heard.errors, heard.n_errors));
  return 0;
}

/* Turn an answer into a value, or a failure. Or the attempt is lost, and another one follows. */
static PetscErrorCode take_in(RgTrialRun *run, const Arrival *arrival, bool *lost)
{
  const RgPrograms *programs = run->host->programs;
  RgReal *real = run->real;
  const Place *place = &real->places[arrival->worker];
  const int row = place->submission - 1;
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

  run->problem->task.exchange = &exchange;
  PetscCall(rg_trial_measure(run, row, &f));
  run->problem->task.exchange = NULL;
  run->problem->task.cpu += arrival->cpu;
  run->clock.cpu[RG_STAGE_EVALUATE] += arrival->cpu;
  run->clock.wall[RG_STAGE_EVALUATE] += seconds;
  const bool repeats = run->failure.failed && !exchange.final;
  if (repeats) PetscCall(programs->drop(programs->closure, arrival->worker));
  *lost = repeats && run->cell->crew.lost == RG_LOST_RESUBMIT && !run->abandoned &&
          real->tries[row]++ < exchange.retries;
  if (*lost) run->failure = (RgFailure){0};
  else PetscCall(rg_trial_keep_value(run, row, f, seconds));
  rg_trial_record_clock(run, row);
  PetscCall(rg_trial_keep_broken(run, row));
  return 0;
}

/* ---- starting -------------------------------------------------------------------------------- */

static PetscErrorCode start_now(RgTrialRun *run, int worker, int64_t *tick, bool *stop)
{
  RgReal *real = run->real;
  Place *place = &real->places[worker];
  const int row = place->submission - 1;
  bool any = true, known;

  PetscCall(begin(run));
  *tick = place->since = now(real);
  PetscCall(
    happen(run, (RgTimelineEvent){RG_TIMELINE_START, place->submission, place->attempt, worker,
                                  *tick, 0, place->attempt == 1 ? point_of(run, row) : NULL}));
  *stop = run->abandoned;
  if (*stop) return 0;
  place->running = true;
  PetscCall(rg_trial_recall(run, row, &known));
  if (!known) PetscCall(send(run, worker));
  while (any) PetscCall(listen(run, 0, &any)); /* answers that came while a query was chosen */
  return 0;
}

PetscErrorCode rg_trial_start_attempt(void *closure, int submission, int attempt, int worker,
                                      int64_t *tick, bool *stop)
{
  RgTrialRun *run = closure;
  RgReal *real = run->real;
  const RgTimelineEvent *event = next_event(real);

  *stop = false;
  real->places[worker] = (Place){.submission = submission, .attempt = attempt};
  if (!event && run->host->programs) {
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

/* ---- hearing --------------------------------------------------------------------------------- */

/* Repeat the events of the timeline that have one tick. */
static PetscErrorCode repeat(RgTrialRun *run, int64_t *tick, int *n, RgCrewNews *news, bool *stop)
{
  RgReal *real = run->real;
  const RgTimelineEvent *event = next_event(real);

  *tick = event->tick;
  for (; event && event->kind != RG_TIMELINE_START && event->tick == *tick;
       event = next_event(real)) {
    const int w = event->worker;
    bool found = true;
    if (w > run->cell->crew.workers || real->places[w].submission != event->submission ||
        real->places[w].attempt != event->attempt || event->detail > *tick)
      break;
    if (event->kind == RG_TIMELINE_END)
      PetscCall(rg_trial_recall(run, event->submission - 1, &found));
    if (!found) break;
    rg_trial_record_clock(run, event->submission - 1);
    PetscCall(rg_trial_keep_broken(run, event->submission - 1));
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
  const bool broken = run->broken && run->broken[place->submission - 1].failed;

  *news = (RgCrewNews){worker, lost, finished};
  if (!broken || lost)
    PetscCall(
      happen(run, (RgTimelineEvent){lost ? RG_TIMELINE_LOST : RG_TIMELINE_END, place->submission,
                                    place->attempt, worker, tick, finished, NULL}));
  *place = (Place){0};
  return 0;
}

/* Attempts that need no wait: their value is known, or an earlier run has left them. */
static PetscErrorCode end_at_once(RgTrialRun *run, int *n, RgCrewNews *news)
{
  const Place *places = run->real->places;
  const int64_t tick = now(run->real) + 1;

  for (int w = 1; w <= run->cell->crew.workers; w++) {
    const int row = places[w].submission - 1;
    bool known = true;
    if (row < 0 || places[w].id) continue;
    if (!places[w].running) PetscCall(rg_trial_recall(run, row, &known));
    rg_trial_record_clock(run, row);
    PetscCall(end_place(run, w, tick, tick, !known, &news[(*n)++]));
  }
  if (*n) run->real->last = tick;
  return 0;
}

/* Wait for answers, and take in all that are there. */
static PetscErrorCode await(RgTrialRun *run, int *n, RgCrewNews *news)
{
  RgReal *real = run->real;
  bool any = real->n_arrivals > 0;

  while (!any && !run->abandoned) {
    PetscCall(listen(run, look_every, &any));
    run->abandoned = rg_trial_hear_stop(run);
  }
  while (any) PetscCall(listen(run, 0, &any));
  const int64_t tick = now(real) + 1;
  real->last = tick;
  for (int i = 0; i < real->n_arrivals && !run->abandoned; i++) {
    const Arrival *arrival = &real->arrivals[i];
    bool lost;
    PetscCall(take_in(run, arrival, &lost));
    PetscCall(end_place(run, arrival->worker, tick, arrival->tick, lost, &news[(*n)++]));
  }
  if (!run->abandoned) PetscCall(clear_arrivals(real));
  return 0;
}

PetscErrorCode rg_trial_hear_workers(void *closure, int64_t *tick, int *n, RgCrewNews *news,
                                     bool *stop)
{
  RgTrialRun *run = closure;
  RgReal *real = run->real;

  *stop = false;
  if (next_event(real)) {
    PetscCall(repeat(run, tick, n, news, stop));
    return 0;
  }
  if (!run->host->programs) {
    disagree(run, stop);
    return 0;
  }
  PetscCall(begin(run));
  PetscCall(end_at_once(run, n, news));
  if (!*n) PetscCall(await(run, n, news));
  *tick = real->last;
  *stop = run->abandoned;
  return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool is_asking(const RgTrialRun *run)
{
  for (int w = 1; w <= run->cell->crew.workers; w++)
    if (run->real->places[w].id) return true;
  return false;
}

/* After a stop: log the answers that are on their way, for the resumed trial. */
static PetscErrorCode linger(RgTrialRun *run)
{
  RgReal *real = run->real;
  const double until = rg_wall_seconds() + real->grace;
  bool any, lost;

  for (;;) {
    for (int i = 0; i < real->n_arrivals; i++) {
      Place *place = &real->places[real->arrivals[i].worker];
      if (place->id) PetscCall(take_in(run, &real->arrivals[i], &lost));
      *place = (Place){0};
    }
    PetscCall(clear_arrivals(real));
    if (!is_asking(run) || rg_wall_seconds() > until) break;
    PetscCall(listen(run, look_every, &any));
    (void)rg_trial_hear_stop(run);
  }
  return 0;
}

PetscErrorCode rg_trial_finish_real(RgTrialRun *run)
{
  const RgPrograms *programs = run->host->programs;
  RgReal *real = run->real;
  RgText text = {0};

  if (!real) return 0;
  if (run->abandoned && run->stop_heard) PetscCall(linger(run));
  for (int w = 1; w <= run->cell->crew.workers; w++)
    if (real->places[w].id) PetscCall(programs->drop(programs->closure, w));
  PetscCall(rg_timeline_write(&real->timeline, &text));
  run->record->timeline = text.data; /* owned by the record from now on */
  run->record->gap = (double)real->gap / RG_TICKS_PER_UNIT;
  return 0;
}
