/* Programs that one process starts, one for each worker, and that answer at the same time. */
#include "study/run/programs.h"

#include "base/child.h"
#include "base/grow.h"

typedef struct {
  bool asked;
  RgText mistake; /* the question could not be sent; owned */
} Worker;

typedef struct {
  const char *log;
  int n;
  RgChild **children; /* by worker, from 0; owned */
  Worker *workers;    /* owned */
} Here;

static PetscErrorCode make_room(Here *here, int n)
{
  if (n <= here->n) return 0;
  PetscCall(PetscRealloc((size_t)n * sizeof(*here->children), &here->children));
  PetscCall(PetscRealloc((size_t)n * sizeof(*here->workers), &here->workers));
  for (; here->n < n; here->n++) {
    here->children[here->n] = NULL;
    here->workers[here->n] = (Worker){0};
  }
  return 0;
}

static PetscErrorCode ask(void *closure, int worker, const RgExchange *question)
{
  Here *here = closure;

  PetscCall(make_room(here, worker));
  RgChild **child = &here->children[worker - 1];
  Worker *w = &here->workers[worker - 1];
  w->asked = true;
  PetscCall(rg_text_clear(&w->mistake));
  if (*child && !rg_child_is(*child, question->words)) PetscCall(rg_child_close(child, true));
  if (!*child) PetscCall(rg_child_start(question->words, child, &w->mistake));
  if (!*child) return 0;
  PetscCall(rg_child_log(*child, here->log));
  PetscCall(rg_child_send(*child, question->line.data, question->limit, &w->mistake));
  return 0;
}

/* The answer of a worker, if there is one. */
static PetscErrorCode look_at(Here *here, int i, RgHeard *heard)
{
  Worker *w = &here->workers[i];
  RgChildOutcome outcome = RG_CHILD_FAILED;

  if (!w->asked) return 0;
  if (!w->mistake.length)
    PetscCall(
      rg_child_heard(here->children[i], &outcome, &heard->answer, &heard->length, &w->mistake));
  if (outcome == RG_CHILD_SILENT) return 0;
  w->asked = false;
  heard->worker = i + 1;
  heard->mistake = w->mistake.data;
  if (here->children[i])
    PetscCall(rg_child_errors(here->children[i], &heard->errors, &heard->n_errors));
  heard->unreachable = !here->children[i];
  if (here->children[i]) heard->cpu = rg_child_cpu_seconds(here->children[i]);
  return 0;
}

static PetscErrorCode hear(void *closure, double seconds, RgHeard *heard)
{
  Here *here = closure;

  *heard = (RgHeard){0};
  for (int turn = 0; turn < 2 && !heard->worker; turn++) {
    if (turn) PetscCall(rg_child_poll(here->n, here->children, seconds));
    for (int i = 0; i < here->n && !heard->worker; i++) PetscCall(look_at(here, i, heard));
  }
  return 0;
}

static PetscErrorCode drop(void *closure, int worker)
{
  Here *here = closure;

  if (worker > here->n) return 0;
  here->workers[worker - 1].asked = false;
  PetscCall(rg_child_close(&here->children[worker - 1], false));
  return 0;
}

PetscErrorCode rg_programs_here(const char *log, RgPrograms *programs)
{
  Here *here;

  PetscCall(PetscNew(&here));
  here->log = log;
  *programs = (RgPrograms){here, ask, hear, drop};
  return 0;
}

PetscErrorCode rg_programs_end(RgPrograms *programs)
{
  Here *here = programs->closure;

  if (!here) return 0;
  for (int i = 0; i < here->n; i++) {
    PetscCall(rg_child_close(&here->children[i], true));
    PetscCall(rg_text_clear(&here->workers[i].mistake));
  }
  PetscCall(RG_FREE(&here->children, &here->workers, &here));
  *programs = (RgPrograms){0};
  return 0;
}
