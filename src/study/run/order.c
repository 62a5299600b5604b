/* The order of the trials of one level of teams.

   The cells of the level in a row, dearest first, one column for each of their instances, and one
   row for each seed: trials are taken row by row. At the end cheap ones are put back, always the
   last ones of the cells as cheap as that. So what is taken is a sequence of pieces, each of them
   all trials of neighbouring cells from one place to another. */
#include "study/run/order.h"

#include "base/grow.h"

/* What begins last must not end long after the rest: a trial waits for its turn only while so many
   times its cost is left for every team. */
static const double reserve = 4.0;

/* Where a team has so many trials to run, the first half keeps the order of the plan. */
enum { many = 24 };

/* A cell of the level, from the column `first` of a row on. */
typedef struct {
  int cell, first, n_instances, n_seeds;
} Columns;

typedef struct {
  int turn, at, instance; /* at: of the level's cells */
} Place;

/* The trials of cells [low, high) at the places from `begin` to before `end`. */
typedef struct {
  int low, high;
  int64_t begin, end;
} Piece;

struct RgOrder {
  const RgPlan *plan; /* borrowed, as the next three */
  const RgTeams *teams;
  int level;
  PetscBT left_out;
  int n_cells, width, n_turns; /* columns of all cells; rows */
  Columns *cells;              /* owned, as `pieces` */
  int n;
  double cost;
  int n_pieces;
  Piece *pieces; /* the last one is taken first */
  int piece;     /* the one at hand */
  bool inside;   /* a trial of it was taken, */
  Place place;   /* which is the last so far, */
  int64_t n_taken;
};

/* ---- places ---------------------------------------------------------------------------------- */

static int64_t number_of(const RgOrder *o, const Place *place)
{
  return (int64_t)place->turn * o->width + o->cells[place->at].first + place->instance;
}

static int trial_at(const RgOrder *o, const Place *place)
{
  return o->plan->cells[o->cells[place->at].cell].first +
         place->instance * o->cells[place->at].n_seeds + place->turn;
}

/* Not all cells have all seeds. */
static bool exists(const RgOrder *o, const Place *place)
{
  return place->turn < o->cells[place->at].n_seeds;
}

/* Whether a trial of the level's cells is one that its teams are to run. */
static bool is_ours(const RgOrder *o, int trial)
{
  return !PetscBTLookup(o->left_out, trial) &&
         (!o->teams->n_early || rg_teams_level(o->teams, o->plan, trial) == o->level);
}

/* The first place of cells [low, high) from a number on, whether it exists or not. */
static Place seek(const RgOrder *o, int low, int high, int64_t number)
{
  Place place = {.turn = (int)(number / o->width), .at = low};
  const int column = (int)(number % o->width);

  if (column >= o->cells[high - 1].first + o->cells[high - 1].n_instances) {
    place.turn++;
  } else if (column > o->cells[low].first) {
    while (high - place.at > 1) {
      const int middle = place.at + (high - place.at) / 2;
      if (o->cells[middle].first <= column) place.at = middle;
      else high = middle;
    }
    place.instance = column - o->cells[place.at].first;
  }
  return place;
}

static void step_on(const RgOrder *o, int low, int high, Place *place)
{
  if (exists(o, place) && ++place->instance < o->cells[place->at].n_instances) return;
  place->instance = 0;
  if (++place->at < high) return;
  place->at = low;
  place->turn++;
}

static void step_back(const RgOrder *o, int low, int high, Place *place)
{
  if (--place->instance >= 0) return;
  if (--place->at < low) {
    place->at = high - 1;
    place->turn--;
  }
  place->instance = exists(o, place) ? o->cells[place->at].n_instances - 1 : 0;
}

/* From a place of a piece on, the first that has a trial to run; false: none before its end. */
static bool find_next(const RgOrder *o, const Piece *piece, Place *place)
{
  while (number_of(o, place) < piece->end) {
    if (exists(o, place) && is_ours(o, trial_at(o, place))) return true;
    step_on(o, piece->low, piece->high, place);
  }
  return false;
}

/* The last place of a piece that has a trial to run. */
static bool find_last(const RgOrder *o, const Piece *piece, Place *place)
{
  *place = seek(o, piece->low, piece->high, piece->end);
  for (;;) {
    step_back(o, piece->low, piece->high, place);
    if (place->turn < 0 || number_of(o, place) < piece->begin) return false;
    if (exists(o, place) && is_ours(o, trial_at(o, place))) return true;
  }
}

/* ---- cheap trials for the end ---------------------------------------------------------------- */

/* Cells [low, ..) up to those of the group below, which are as cheap, may be put back. All of their
   trials from place `front` on have been, from `from` on in pieces that are written down. */
typedef struct {
  int low;
  int64_t front, from;
} Group;

typedef struct {
  RgOrder *order;
  int n;
  Group *groups; /* the cheapest first; the others have their fronts further back */
} Tail;

/* What the group on top puts back before it meets that below. */
static Piece top_piece(const Tail *tail)
{
  const Group *top = &tail->groups[tail->n - 1];

  return (Piece){.low = top->low,
                 .high = tail->n > 1 ? top[-1].low : tail->order->n_cells,
                 .begin = tail->n > 1 ? top[-1].front : 0,
                 .end = top->front};
}

/* Write down what the group on top has put back since it was last written down. */
static PetscErrorCode add_piece(Tail *tail)
{
  RgOrder *o = tail->order;
  Group *top = &tail->groups[tail->n - 1];
  const Piece piece = top_piece(tail);

  PetscFunctionBeginUser;
  if (top->front < top->from) {
    PetscCall(RG_GROW(o->n_pieces, o->pieces));
    o->pieces[o->n_pieces++] = (Piece){piece.low, piece.high, top->front, top->from};
  }
  top->from = top->front;
  PetscFunctionReturn(0);
}

/* The next cells, all of one cost, may be put back, too. */
static PetscErrorCode add_group(Tail *tail, int low)
{
  const int64_t end = (int64_t)tail->order->width * tail->order->n_turns;

  PetscFunctionBeginUser;
  if (tail->n) PetscCall(add_piece(tail));
  PetscCall(RG_GROW(tail->n, tail->groups));
  tail->groups[tail->n++] = (Group){low, end, end};
  PetscFunctionReturn(0);
}

/* The group on top has met the one below, with which it goes on as one, or the first place. */
static PetscErrorCode meet(Tail *tail)
{
  Group *top = &tail->groups[tail->n - 1];

  PetscFunctionBeginUser;
  top->front = top_piece(tail).begin;
  PetscCall(add_piece(tail));
  if (tail->n > 1) {
    top[-1].low = top->low;
    tail->n--;
  }
  PetscFunctionReturn(0);
}

/* The last trial that may be put back; false: none. */
static PetscErrorCode find_cheap(Tail *tail, Place *place, bool *found)
{
  PetscFunctionBeginUser;
  for (;;) {
    const Piece piece = top_piece(tail);
    *found = find_last(tail->order, &piece, place);
    if (*found || piece.end == 0) break;
    PetscCall(meet(tail));
  }
  PetscFunctionReturn(0);
}

static double cost_at(const RgOrder *o, int at)
{
  return o->plan->cells[o->cells[at].cell].cost;
}

/* From the end on each place goes to the last trial of those that are cheap against what follows,
   or where none is left behind place `kept` to the next dearer ones. */
static PetscErrorCode balance_tail(RgOrder *o, int teams, int64_t kept)
{
  Tail tail = {.order = o};
  Place last = {0};
  bool found = false;
  double after = 0;

  PetscFunctionBeginUser;
  for (int open = o->n_cells; open > 0;) { /* cells from there on may be put back */
    const double cost = cost_at(o, open - 1);
    if (found && number_of(o, &last) >= kept && cost * reserve * teams > after) {
      after += cost_at(o, last.at);
      tail.groups[tail.n - 1].front = number_of(o, &last);
    } else {
      while (open > 0 && cost_at(o, open - 1) == cost) open--;
      PetscCall(add_group(&tail, open));
    }
    PetscCall(find_cheap(&tail, &last, &found));
  }
  for (int i = tail.n; i > 0; i--) PetscCall(meet(&tail));
  PetscCall(PetscFree(tail.groups));
  PetscFunctionReturn(0);
}

/* ---- the order ------------------------------------------------------------------------------- */

static void add_cells(RgOrder *o)
{
  const RgPlan *plan = o->plan;

  for (int k = 0; k < plan->study->n_cells; k++) {
    const int c = plan->by_cost[k];
    if (!rg_teams_trials(o->teams, plan, c, o->level)) continue;
    const RgPlanCell *cell = &plan->cells[c];
    const int n_instances = cell->n / cell->n_seeds;
    int n = 0;
    for (int i = cell->first; i < cell->first + cell->n; i++) n += is_ours(o, i);
    o->cells[o->n_cells++] = (Columns){c, o->width, n_instances, cell->n_seeds};
    o->width += n_instances;
    o->n_turns = PetscMax(o->n_turns, cell->n_seeds);
    o->n += n;
    o->cost += n * cell->cost;
  }
}

/* The place of the first of the trials that may be put back. */
static int64_t first_movable(const RgOrder *o, int teams)
{
  const Piece all = {0, o->n_cells, 0, (int64_t)o->width * o->n_turns};
  Place place = {0};

  if (o->n < many * teams) return 0;
  find_next(o, &all, &place);
  for (int i = 0; i < o->n / 2; i++) {
    step_on(o, 0, o->n_cells, &place);
    find_next(o, &all, &place);
  }
  return number_of(o, &place);
}

PetscErrorCode rg_order_create(const RgPlan *plan, const RgTeams *teams, int level,
                               PetscBT left_out, RgOrder **order)
{
  const int n_teams = teams->ranks / teams->size[level];
  RgOrder *o;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(order));
  o = *order;
  o->plan = plan;
  o->teams = teams;
  o->level = level;
  o->left_out = left_out;
  PetscCall(PetscMalloc1(plan->study->n_cells, &o->cells));
  add_cells(o);
  if (o->n) PetscCall(balance_tail(o, n_teams, first_movable(o, n_teams)));
  o->piece = o->n_pieces - 1;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_order_destroy(RgOrder **order)
{
  PetscFunctionBeginUser;
  if (!*order) PetscFunctionReturn(0);
  PetscCall(RG_FREE(&(*order)->cells, &(*order)->pieces, order));
  PetscFunctionReturn(0);
}

int rg_order_size(const RgOrder *order)
{
  return order->n;
}

double rg_order_cost(const RgOrder *order)
{
  return order->cost;
}

/* On to the next trial; false: that was the last. */
static bool advance(RgOrder *o)
{
  for (; o->piece >= 0; o->piece--, o->inside = false) {
    const Piece *piece = &o->pieces[o->piece];
    if (o->inside) step_on(o, piece->low, piece->high, &o->place);
    else o->place = seek(o, piece->low, piece->high, piece->begin);
    o->inside = true;
    if (find_next(o, piece, &o->place)) return true;
  }
  return false;
}

int rg_order_take(RgOrder *order, int64_t place)
{
  if (place >= order->n) return -1;
  for (; order->n_taken <= place; order->n_taken++)
    if (!advance(order)) return -1;
  return trial_at(order, &order->place);
}
