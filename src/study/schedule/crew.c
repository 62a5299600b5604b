/* Workers on a simulated clock: the queue of events and the states of the workers. */
#include "study/schedule/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "study/file/crew_options.h"

/* Kinds of events, in the order in which those of one tick happen. */
typedef enum { FINISH, DEATH, RETURN, THOUGHT } Kind;

typedef struct {
  int64_t tick;
  Kind kind;
  int number; /* FINISH, THOUGHT: submission; else the worker */
  int worker;
  int attempt; /* FINISH: attempt; THOUGHT, DEATH: incarnation of the worker */
} Event;

typedef enum { IDLE, WAITING, THINKING, BUSY, DEAD } State;

typedef struct {
  State state;
  int incarnation;
  int submission, attempt;
  bool cut;      /* BUSY: the evaluation would take longer than accepted */
  int64_t since; /* BUSY: start of the evaluation; IDLE, WAITING, THINKING: since then it is idle */
  int64_t ends;  /* BUSY: when the evaluation ends; on a real clock set as soon as it is known */
} Worker;

/* The next attempt of a lost submission. */
typedef struct {
  int submission, attempt;
} Again;

typedef struct {
  const RgCrewOptions *options;
  const RgCrewCallbacks *host;
  RgCrewOutcome *outcome;
  int64_t now;
  Worker *workers;     /* by number; entry 0 is not used */
  uint64_t *idle;      /* bit w: worker w is IDLE */
  int n_alive, n_away; /* workers not dead; dead workers that will return */
  int n_events;
  Event *events; /* a heap */
  int n_again;
  Again *again; /* ascending by submission */
  int n_open;
  int *open; /* submissions asked for and not reported, ascending */
  int n_ended, n_kept;
  RgCrewRow *ended; /* ended in this instant, in order */
  RgCrewRow *kept;  /* ended, and kept until their batch is complete */
  int first_waiting, n_waiting;
  int *waiting;                 /* workers that wait for the method, a ring of `workers` entries */
  bool thinking;                /* the method thinks about a query */
  int next;                     /* next submission */
  int initial_left;             /* submissions of the initial design that are not reported yet */
  int batch;                    /* sync: queries of the current batch that have not ended */
  int64_t idle_sum, idle_since; /* idle ticks so far; sum of `since` of idle workers */
  int n_idle;                   /* workers whose time counts as idle */
  RgCrewNews *news;             /* on a real clock: room for one per worker */
  bool stop;
} Crew;

int64_t rg_ticks(double units)
{
  if (!(units >= 0 && units <= RG_TIME_MAX)) return -1;
  return (int64_t)floor(RG_TICKS_PER_UNIT * units + 0.5);
}

/* ---- the heap -------------------------------------------------------------------------------- */

static bool is_before(const Event *a, const Event *b)
{
  if (a->tick != b->tick) return a->tick < b->tick;
  if (a->kind != b->kind) return a->kind < b->kind;
  if (a->number != b->number) return a->number < b->number;
  return a->attempt < b->attempt;
}

static PetscErrorCode push(Crew *crew, Event event)
{
  PetscCall(RG_GROW(crew->n_events, crew->events));
  Event *heap = crew->events;
  int at = crew->n_events++;
  for (; at && is_before(&event, &heap[(at - 1) / 2]); at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = event;
  return 0;
}

static Event pop(Crew *crew)
{
  Event *heap = crew->events;
  const Event top = heap[0], last = heap[--crew->n_events];
  int at = 0;

  for (int child = 1; child < crew->n_events; at = child, child = 2 * at + 1) {
    if (child + 1 < crew->n_events && is_before(&heap[child + 1], &heap[child])) child++;
    if (!is_before(&heap[child], &last)) break;
    heap[at] = heap[child];
  }
  heap[at] = last;
  return top;
}

/* ---- idle workers ---------------------------------------------------------------------------- */

/* A worker becomes idle, or stops being idle: its time counts as idle meanwhile. */
static void begin_idle(Crew *crew, int w, int64_t since)
{
  crew->workers[w].state = IDLE;
  crew->workers[w].since = since;
  crew->idle[w / 64] |= UINT64_C(1) << w % 64;
  crew->idle_since += since;
  crew->n_idle++;
}

static void end_idle(Crew *crew, int w)
{
  crew->idle[w / 64] &= ~(UINT64_C(1) << w % 64);
  crew->idle_since -= crew->workers[w].since;
  crew->idle_sum += crew->now - crew->workers[w].since;
  crew->n_idle--;
}

static int64_t idle_ticks(const Crew *crew, int64_t until)
{
  return crew->idle_sum + crew->n_idle * until - crew->idle_since;
}

/* The idle worker of the lowest number; 0: none. */
static int lowest_idle(const Crew *crew)
{
  for (int i = 0; i <= crew->options->workers / 64; i++)
    if (crew->idle[i]) return 64 * i + __builtin_ctzll(crew->idle[i]);
  return 0;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Whether something may start now. */
static bool is_open(const Crew *crew)
{
  return !crew->stop && (crew->options->time < 0 || crew->now < crew->options->time);
}

/* Start an attempt on a worker whose time counts as idle so far. */
static PetscErrorCode dispatch(Crew *crew, int w, int submission, int attempt)
{
  Worker *worker = &crew->workers[w];
  const int64_t longest = crew->options->longest;
  int64_t ticks = 0;

  if (crew->host->start) { /* on a real clock the host says when it ends */
    PetscCall(
      crew->host->start(crew->host->closure, submission, attempt, w, &crew->now, &crew->stop));
    end_idle(crew, w);
    *worker = (Worker){BUSY, worker->incarnation, submission, attempt, false, crew->now, -1};
    return 0;
  }
  PetscCall(crew->host->duration(crew->host->closure, submission, attempt, &ticks, &crew->stop));
  PetscCheck(crew->stop || ticks >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "submission %d takes %lld ticks", submission, (long long)ticks);
  const bool cut = longest >= 0 && ticks > longest;
  if (cut) ticks = longest;
  end_idle(crew, w);
  *worker =
    (Worker){BUSY, worker->incarnation, submission, attempt, cut, crew->now, crew->now + ticks};
  return push(crew, (Event){worker->ends, FINISH, submission, w, attempt});
}

/* The method chooses the query of a worker. Its evaluation starts when the method has thought. */
static PetscErrorCode ask(Crew *crew, int w)
{
  const RgCrewCallbacks *host = crew->host;
  const int submission = crew->next++;
  const RgCrewAsk request = {submission, w, crew->now, crew->n_open, crew->open};
  const int64_t ticks = host->think ? host->think(host->closure, submission) : 0;

  PetscCall(host->ask(host->closure, &request, &crew->stop));
  PetscCall(RG_GROW(crew->n_open, crew->open));
  crew->open[crew->n_open++] = submission;
  if (crew->stop) return 0;
  if (!ticks) {
    PetscCall(dispatch(crew, w, submission, 1));
    return 0;
  }
  crew->thinking = true;
  crew->workers[w].state = THINKING;
  return push(crew,
              (Event){crew->now + ticks, THOUGHT, submission, w, crew->workers[w].incarnation});
}

static PetscErrorCode add_again(Crew *crew, int submission, int attempt)
{
  int at = crew->n_again;

  PetscCall(RG_GROW(crew->n_again, crew->again));
  for (; at && crew->again[at - 1].submission > submission; at--)
    crew->again[at] = crew->again[at - 1];
  crew->again[at] = (Again){submission, attempt};
  crew->n_again++;
  return 0;
}

/* Whether a query belongs to a batch. */
static bool is_batched(const Crew *crew, int submission)
{
  return crew->options->release == RG_RELEASE_SYNC && submission > crew->options->n_initial;
}

/* Whether an idle worker may ask for a new submission. `waiting` workers have asked already.
   opens: a new batch may begin. */
static bool may_ask(const Crew *crew, bool opens)
{
  const RgCrewOptions *o = crew->options;
  const int submission = crew->next + crew->n_waiting;

  if (submission > o->last) return false;
  if (submission <= o->n_initial) return true;
  if (crew->initial_left && (!o->overlap || o->release == RG_RELEASE_SYNC)) return false;
  return opens || !is_batched(crew, submission);
}

/* The method takes the requests of waiting workers, in order, until it thinks about one. */
static PetscErrorCode serve(Crew *crew)
{
  while (crew->n_waiting && !crew->thinking && is_open(crew)) {
    const int w = crew->waiting[crew->first_waiting];
    crew->first_waiting = (crew->first_waiting + 1) % crew->options->workers;
    crew->n_waiting--;
    PetscCall(ask(crew, w));
  }
  return 0;
}

/* Give work to the idle workers. */
static PetscErrorCode fill(Crew *crew)
{
  const bool opens = crew->batch == 0;
  int w;

  PetscCall(serve(crew));
  while (is_open(crew) && (crew->n_again || may_ask(crew, opens)) && (w = lowest_idle(crew))) {
    if (crew->n_again) {
      const Again again = crew->again[0];
      crew->n_again--;
      memmove(crew->again, crew->again + 1, (size_t)crew->n_again * sizeof(Again));
      PetscCall(dispatch(crew, w, again.submission, again.attempt));
      continue;
    }
    if (is_batched(crew, crew->next + crew->n_waiting)) crew->batch++;
    crew->idle[w / 64] &= ~(UINT64_C(1) << w % 64);
    crew->workers[w].state = WAITING;
    crew->waiting[(crew->first_waiting + crew->n_waiting) % crew->options->workers] = w;
    crew->n_waiting++;
    PetscCall(serve(crew));
  }
  return 0;
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* An evaluation has ended: it is reported now, or with its batch. */
static PetscErrorCode end_evaluation(Crew *crew, int w, int64_t finished, RgEnding ending)
{
  const Worker *worker = &crew->workers[w];
  RgCrewRow row = {.submission = worker->submission,
                   .worker = w,
                   .attempts = worker->attempt,
                   .dispatched = worker->since,
                   .finished = finished,
                   .idle = idle_ticks(crew, crew->now),
                   .ending = ending};

  if (is_batched(crew, row.submission)) {
    crew->batch--;
    PetscCall(RG_GROW(crew->n_kept, crew->kept));
    crew->kept[crew->n_kept++] = row;
  } else {
    PetscCall(RG_GROW(crew->n_ended, crew->ended));
    crew->ended[crew->n_ended++] = row;
  }
  return 0;
}

/* Draw the life of a worker. */
static PetscErrorCode begin_life(Crew *crew, int w)
{
  const RgCrewCallbacks *host = crew->host;
  const int incarnation = ++crew->workers[w].incarnation;

  begin_idle(crew, w, crew->now);
  crew->n_alive++;
  if (!host->life) return 0;
  const int64_t life = host->life(host->closure, w, incarnation);
  return push(crew, (Event){crew->now + PetscMax(life, 1), DEATH, w, w, incarnation});
}

/* Remove a worker from those that wait for the method. */
static void leave_queue(Crew *crew, int w)
{
  const int size = crew->options->workers;
  int kept = 0;

  for (int i = 0; i < crew->n_waiting; i++) {
    const int other = crew->waiting[(crew->first_waiting + i) % size];
    if (other != w) crew->waiting[(crew->first_waiting + kept++) % size] = other;
  }
  if (is_batched(crew, crew->next)) crew->batch--;
  crew->n_waiting = kept;
}

static PetscErrorCode lose(Crew *crew, int w)
{
  const Worker *worker = &crew->workers[w];

  crew->outcome->lost++;
  if (crew->options->lost == RG_LOST_FAIL) {
    PetscCall(end_evaluation(crew, w, crew->now, RG_ENDED_LOST));
  } else if (worker->attempt < RG_CREW_ATTEMPTS_MAX) {
    PetscCall(add_again(crew, worker->submission, worker->attempt + 1));
  } else {
    crew->outcome->hopeless = worker->submission;
    crew->stop = true;
  }
  return 0;
}

static PetscErrorCode die(Crew *crew, int w)
{
  const RgCrewCallbacks *host = crew->host;
  Worker *worker = &crew->workers[w];

  if (worker->state == BUSY) PetscCall(lose(crew, w));
  else end_idle(crew, w);
  if (worker->state == WAITING) leave_queue(crew, w);
  worker->state = DEAD;
  crew->n_alive--;
  const int64_t repair = host->repair ? host->repair(host->closure, w, worker->incarnation) : -1;
  if (repair < 0) return 0;
  crew->n_away++;
  return push(crew, (Event){crew->now + repair, RETURN, w, w, 0});
}

static PetscErrorCode apply(Crew *crew, const Event *event)
{
  const Worker *worker = &crew->workers[event->worker];

  switch (event->kind) {
  case FINISH:
    if (worker->state != BUSY || worker->submission != event->number ||
        worker->attempt != event->attempt)
      break; /* lost with its worker */
    PetscCall(end_evaluation(crew, event->worker, worker->ends,
                             worker->cut ? RG_ENDED_TOO_LONG : RG_ENDED_DONE));
    begin_idle(crew, event->worker, worker->ends);
    break;
  case DEATH: PetscCall(die(crew, event->worker)); break;
  case RETURN:
    crew->n_away--;
    PetscCall(begin_life(crew, event->worker));
    break;
  case THOUGHT: /* if its worker died meanwhile, the query waits for another one */
    crew->thinking = false;
    if (worker->state == THINKING && worker->incarnation == event->attempt && is_open(crew))
      PetscCall(dispatch(crew, event->worker, event->number, 1));
    else PetscCall(add_again(crew, event->number, 1));
    break;
  }
  return 0;
}

/* ---- telling --------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
  const RgCrewRow *a = left, *b = right;

  return (a->submission > b->submission) - (a->submission < b->submission);
}

static PetscErrorCode tell_rows(Crew *crew, int *n, RgCrewRow *rows)
{
  for (int i = 0; i < *n; i++) {
    RgCrewRow *row = &rows[i];
    int at = 0;
    for (int end = crew->n_open - 1; at < end;) {
      const int middle = (at + end) / 2;
      if (crew->open[middle] < row->submission) at = middle + 1;
      else end = middle;
    }
    crew->n_open--;
    memmove(crew->open + at, crew->open + at + 1, (size_t)(crew->n_open - at) * sizeof(int));
    if (crew->stop) continue;
    if (row->finished >= crew->outcome->makespan) {
      crew->outcome->makespan = row->finished;
      crew->outcome->idle = row->idle;
    }
    row->told = crew->now;
    row->idle = idle_ticks(crew, crew->now);
    crew->initial_left -= row->submission <= crew->options->n_initial;
    PetscCall(crew->host->tell(crew->host->closure, row, &crew->stop));
  }
  *n = 0;
  return 0;
}

/* all: tell an incomplete batch too, at the end of the run. */
static PetscErrorCode tell(Crew *crew, bool all)
{
  PetscCall(tell_rows(crew, &crew->n_ended, crew->ended));
  if (!crew->n_kept || (crew->batch && !all)) return 0;
  qsort(crew->kept, (size_t)crew->n_kept, sizeof(RgCrewRow), compare_rows);
  return tell_rows(crew, &crew->n_kept, crew->kept);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Whether evaluations are missing and may still come. */
static bool continues(Crew *crew)
{
  const bool missing = crew->n_open || (crew->next <= crew->options->last && is_open(crew));

  if (crew->stop || !missing) return false;
  crew->outcome->deserted = !crew->n_alive && !crew->n_away;
  return !crew->outcome->deserted && (crew->n_events || crew->host->wait);
}

/* On a real clock: wait for the events of the next instant. */
static PetscErrorCode wait_for_news(Crew *crew)
{
  int64_t tick = crew->now;
  int n = 0;

  PetscCall(crew->host->wait(crew->host->closure, &tick, &n, crew->news, &crew->stop));
  for (int i = 0; i < n && !crew->stop; i++) {
    const RgCrewNews *news = &crew->news[i];
    Worker *worker = &crew->workers[news->worker];
    PetscCheck(worker->state == BUSY && tick > crew->now, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "worker %d ends nothing at tick %lld", news->worker, (long long)tick);
    worker->ends = news->finished;
    const Event end = {tick, FINISH, worker->submission, news->worker, worker->attempt};
    const Event death = {tick, DEATH, news->worker, news->worker, worker->incarnation};
    PetscCall(push(crew, news->lost ? death : end));
  }
  return 0;
}

/* Apply all events of the next tick. false: the time is over. */
static PetscErrorCode next_instant(Crew *crew, bool *within)
{
  if (crew->host->wait) PetscCall(wait_for_news(crew));
  if (crew->stop) return 0;
  const int64_t tick = crew->events[0].tick;
  *within = crew->options->time < 0 || tick <= crew->options->time;
  if (!*within) return 0;
  crew->now = tick;
  while (crew->n_events && crew->events[0].tick == tick && !crew->stop) {
    const Event event = pop(crew);
    PetscCall(apply(crew, &event));
  }
  PetscCall(tell(crew, false));
  return fill(crew);
}

PetscErrorCode rg_crew_run(const RgCrewOptions *options, const RgCrewCallbacks *host,
                           RgCrewOutcome *outcome)
{
  Crew crew = {.options = options, .host = host, .outcome = outcome, .next = options->first};
  const int n = options->workers;
  bool within = true;

  PetscCheck(n >= 1 && n <= RG_CREW_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%d workers",
             n);
  *outcome = (RgCrewOutcome){0};
  crew.initial_left = PetscMax(options->n_initial - options->first + 1, 0);
  PetscCall(PetscCalloc1(n + 1, &crew.workers));
  PetscCall(PetscCalloc1(n / 64 + 1, &crew.idle));
  PetscCall(PetscCalloc1(n, &crew.waiting));
  if (host->wait) PetscCall(PetscCalloc1(n, &crew.news));
  for (int w = 1; w <= n; w++) PetscCall(begin_life(&crew, w));
  PetscCall(fill(&crew));
  while (continues(&crew) && within) PetscCall(next_instant(&crew, &within));
  if (!within) crew.now = options->time;
  PetscCall(tell(&crew, true));
  outcome->in_flight = crew.n_open;
  return RG_FREE(&crew.workers, &crew.idle, &crew.events, &crew.again, &crew.open, &crew.ended,
                 &crew.kept, &crew.waiting, &crew.news);
}
