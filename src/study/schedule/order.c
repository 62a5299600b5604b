/* The order of trials in one level of teams, as an array of trial numbers. */
#include "study/schedule/order.h"

#include "base/grow.h"
#include "base/heap.h"

/* The last trials must not end long after the others. A trial may wait for the end only while
   every team has at least this many times its cost left to do. */
static const double reserve = 4.0;

/* If each team has at least this many trials to run, the first half keeps the order of the plan. */
enum { many = 24 };

struct RgOrder {
  int n;
  int *trials; /* owned */
};

/* A class: cells with equal cost. */
typedef struct {
  double cost;
  int last; /* position of its last trial without a place; -1: all have a place */
} Class;

typedef struct {
  const RgPlan *plan; /* borrowed */
  int n;
  int *trials;   /* seed by seed, most expensive first within a seed; -1: already placed; owned */
  int *before;   /* by position: position of the previous trial of its class, or -1; owned */
  int *class_of; /* by cell; -1: the cell has no trial in the level; owned */
  int n_classes;
  Class *classes;    /* cheapest first; owned */
  RgHeapEntry *heap; /* classes whose trials may move to the end, last position on top; owned */
} Draft;

/* Find the classes of the level. *n: its number of trials, with finished ones. */
static PetscErrorCode find_classes(Draft *draft, const RgTeams *teams, int level, int *n)
{
  const RgPlan *plan = draft->plan;
  const int n_cells = plan->study->n_cells;

  PetscFunctionBeginUser;
  PetscCall(
    PetscMalloc3(n_cells, &draft->class_of, n_cells, &draft->classes, n_cells, &draft->heap));
  *n = 0;
  for (int k = n_cells - 1; k >= 0; k--) {
    const int c = plan->by_cost[k], of_level = rg_teams_trials(teams, plan, c, level);
    const double cost = plan->cells[c].cost;
    *n += of_level;
    draft->class_of[c] = -1;
    if (!of_level) continue;
    if (!draft->n_classes || draft->classes[draft->n_classes - 1].cost != cost)
      draft->classes[draft->n_classes++] = (Class){cost, -1};
    draft->class_of[c] = draft->n_classes - 1;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode draft_create(const RgPlan *plan, const RgTeams *teams, int level,
                                   PetscBT left_out, Draft *draft)
{
  RgPlanWalk walk = {0};
  int cell, room;

  PetscFunctionBeginUser;
  *draft = (Draft){.plan = plan};
  PetscCall(find_classes(draft, teams, level, &room));
  PetscCall(PetscMalloc2(room, &draft->trials, room, &draft->before));
  for (int i = rg_plan_next(plan, &walk, &cell); i >= 0; i = rg_plan_next(plan, &walk, &cell)) {
    if (draft->class_of[cell] < 0 || PetscBTLookup(left_out, i) ||
        (teams->n_early && rg_teams_level(teams, plan, i) != level))
      continue;
    Class *class = &draft->classes[draft->class_of[cell]];
    draft->trials[draft->n] = i;
    draft->before[draft->n] = class->last;
    class->last = draft->n++;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode draft_destroy(Draft *draft)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(draft->class_of, draft->classes, draft->heap));
  PetscCall(PetscFree2(draft->trials, draft->before));
  PetscFunctionReturn(0);
}

/* Take the last trial among the classes on the heap. */
static int take_last(Draft *draft, int *n_open, double *after)
{
  Class *class = &draft->classes[draft->heap[0].owner];
  const int at = class->last, trial = draft->trials[at];

  *after += class->cost;
  draft->trials[at] = -1;
  class->last = draft->before[at];
  draft->heap[0].key = -class->last;
  if (class->last >= 0) rg_heap_sink(draft->heap, *n_open);
  else (void)rg_heap_pop(draft->heap, n_open);
  return trial;
}

/* Fill places from the end: each takes the last trial of the classes that are cheap relative to
   what follows. The next more expensive class joins if none of its trials remains after position
   `kept`. Other trials keep their order. */
static void fill(Draft *draft, int teams, int kept, int *order)
{
  double after = 0;
  int at = draft->n, n_open = 0;

  for (int next = 0; next < draft->n_classes;) {
    const Class *class = &draft->classes[next];
    if (n_open && -draft->heap[0].key >= kept && class->cost * reserve * teams > after) {
      order[--at] = take_last(draft, &n_open, &after);
      continue;
    }
    if (class->last >= 0) rg_heap_push(draft->heap, &n_open, -class->last, next);
    next++;
  }
  for (int i = draft->n - 1; i >= 0; i--)
    if (draft->trials[i] >= 0) order[--at] = draft->trials[i];
}

PetscErrorCode rg_order_create(const RgPlan *plan, const RgTeams *teams, int level,
                               PetscBT left_out, RgOrder **order)
{
  const int n_teams = teams->ranks / teams->size[level];
  Draft draft;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(order));
  PetscCall(draft_create(plan, teams, level, left_out, &draft));
  (*order)->n = draft.n;
  PetscCall(PetscMalloc1(draft.n, &(*order)->trials));
  fill(&draft, n_teams, draft.n < many * n_teams ? 0 : draft.n / 2, (*order)->trials);
  PetscCall(draft_destroy(&draft));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_order_destroy(RgOrder **order)
{
  PetscFunctionBeginUser;
  if (!*order) PetscFunctionReturn(0);
  PetscCall(RG_FREE(&(*order)->trials, order));
  PetscFunctionReturn(0);
}

int rg_order_size(const RgOrder *order)
{
  return order->n;
}

int rg_order_take(const RgOrder *order, int64_t place)
{
  return place < order->n ? order->trials[place] : -1;
}
