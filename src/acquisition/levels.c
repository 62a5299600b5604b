/* Searches of boxes with integers or choices. */
#include "acquisition/levels.h"

#include <math.h>
#include <string.h>

enum {
  CLIMBERS = 8, /* designs that climb, each different from the others */
  CLIMBS = 100, /* steps of one climb */
  ROUNDS = 5    /* alternations between steps and a search of the real coordinates */
};

/* ---- designs that were seen ------------------------------------------------------------------ */

PetscErrorCode rg_seen_create(const RgSpace *space, const RgHistory *history, RgSeen *seen)
{
  const size_t dim = (size_t)space->dim, told = (size_t)history->n;
  const RgPending *pending = &history->pending;

  seen->n = history->n + pending->n;
  seen->dim = space->dim;
  PetscCall(PetscMalloc1((size_t)PetscMax(seen->n, 1) * dim, &seen->x));
  PetscCall(PetscArraycpy(seen->x, history->x, told * dim));
  if (pending->n) PetscCall(PetscArraycpy(seen->x + told * dim, pending->x, pending->n * dim));
  for (int i = 0; i < seen->n; i++) rg_space_snap(space, seen->x + (size_t)i * dim, NULL);
  return 0;
}

PetscErrorCode rg_seen_destroy(RgSeen *seen)
{
  return PetscFree(seen->x);
}

static bool same(int dim, const double *a, const double *b)
{
  for (int j = 0; j < dim; j++)
    if (a[j] != b[j]) return false;
  return true;
}

bool rg_seen_has(const RgSeen *seen, const double *x)
{
  for (int i = 0; i < seen->n; i++)
    if (same(seen->dim, seen->x + (size_t)i * seen->dim, x)) return true;
  return false;
}

PetscErrorCode rg_excluded_designs(const RgSpace *space, bool once, const RgHistory *history, int n,
                                   const double *X, unsigned char **excluded)
{
  RgSeen seen;
  int left = n;

  *excluded = NULL;
  if (!once || !rg_space_has_levels(space)) return 0;
  PetscCall(PetscMalloc1(n, excluded));
  PetscCall(rg_seen_create(space, history, &seen));
  for (int i = 0; i < n; i++)
    left -= (*excluded)[i] = rg_seen_has(&seen, X + (size_t)i * space->dim);
  PetscCall(rg_seen_destroy(&seen));
  if (!left) PetscCall(PetscFree(*excluded));
  return 0;
}

PetscErrorCode rg_snapped_function(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  const RgSnapped *snapped = closure;
  const int dim = snapped->space->dim;
  const size_t size = (size_t)m * dim;
  double *points;
  bool *moves;

  PetscCall(PetscMalloc2(size, &points, size, &moves));
  PetscCall(PetscArraycpy(points, X, size));
  for (int i = 0; i < m; i++)
    rg_space_snap(snapped->space, points + (size_t)i * dim, moves + (size_t)i * dim);
  PetscCall(snapped->function(snapped->closure, m, points, value, gradient));
  for (int i = 0; snapped->seen && i < m; i++)
    if (rg_seen_has(snapped->seen, points + (size_t)i * dim)) value[i] = -INFINITY;
  for (size_t k = 0; gradient && k < size; k++)
    if (!moves[k]) gradient[k] = 0;
  return PetscFree2(points, moves);
}

/* ---- all designs ----------------------------------------------------------------------------- */

double rg_levels_designs(const RgSpace *space)
{
  double n = 1;

  for (int j = 0; j < space->dim; j++) {
    const double levels = rg_space_levels(space, j);
    n *= levels > 0 ? levels : INFINITY;
  }
  return n;
}

void rg_levels_enumerate(const RgSpace *space, int n, double *X)
{
  int repeat = n;

  for (int j = 0; j < space->dim; j++) {
    const int levels = (int)rg_space_levels(space, j);
    repeat /= levels;
    for (int i = 0; i < n; i++)
      X[(size_t)i * space->dim + j] = rg_space_unit_of_level(space, j, i / repeat % levels);
  }
}

/* ---- neighbours ------------------------------------------------------------------------------ */

int rg_levels_most(const RgSpace *space)
{
  int n = 0;

  for (int j = 0; j < space->dim; j++) {
    const double levels = rg_space_levels(space, j);
    if (space->inputs[j].kind == RG_INPUT_CHOICE) n += (int)levels - 1;
    else
      for (double step = 1; step < levels; step *= 4) n += 2;
  }
  return n;
}

/* Add x with coordinate j at another level. */
static int add_neighbour(const RgSpace *space, const double *x, int j, double level, double *out)
{
  memcpy(out, x, (size_t)space->dim * sizeof *out);
  out[j] = rg_space_unit_of_level(space, j, level);
  rg_space_snap(space, out, NULL);
  return 1;
}

int rg_levels_neighbours(const RgSpace *space, const double *x, double *out)
{
  const size_t dim = (size_t)space->dim;
  int n = 0;

  for (int j = 0; j < space->dim; j++) {
    const double levels = rg_space_levels(space, j);
    const double here = levels > 0 ? rg_space_level_at(space, j, x[j]) : 0;
    const bool choice = space->inputs[j].kind == RG_INPUT_CHOICE;
    for (double k = 0; choice && k < levels; k++)
      if (k != here) n += add_neighbour(space, x, j, k, out + n * dim);
    for (double step = 1; !choice && step < levels; step *= 4) {
      if (here - step >= 0) n += add_neighbour(space, x, j, here - step, out + n * dim);
      if (here + step < levels) n += add_neighbour(space, x, j, here + step, out + n * dim);
    }
  }
  return n;
}

/* ---- the climb ------------------------------------------------------------------------------- */

typedef struct {
  const RgSpace *space;
  RgBatchFunction function;
  void *closure;
  int n, most;         /* climbers; the most neighbours of one */
  double *x, *value;   /* n x dim, n */
  double *around, *at; /* neighbours of all climbers, and their values */
  int count[CLIMBERS]; /* neighbours of each climber; 0: it has arrived */
} Climb;

/* Moves every climber to its best neighbour, if that is better. */
static PetscErrorCode step(Climb *climb, bool *moved)
{
  const size_t dim = (size_t)climb->space->dim;
  int m = 0, first = 0;

  *moved = false;
  for (int i = 0; i < climb->n; i++) {
    if (climb->count[i])
      climb->count[i] =
        rg_levels_neighbours(climb->space, climb->x + i * dim, climb->around + m * dim);
    m += climb->count[i];
  }
  if (!m) return 0;
  PetscCall(climb->function(climb->closure, m, climb->around, climb->at, NULL));
  for (int i = 0; i < climb->n; i++) {
    const int count = climb->count[i];
    int best = -1;
    for (int k = first; k < first + count; k++)
      if (isfinite(climb->at[k]) && climb->at[k] > climb->value[i]) {
        climb->value[i] = climb->at[k];
        best = k;
      }
    first += count;
    if (best < 0) climb->count[i] = 0;
    else PetscCall(PetscArraycpy(climb->x + i * dim, climb->around + best * dim, dim));
    *moved = *moved || best >= 0;
  }
  return 0;
}

/* The best designs first, each once; returns their number. x, value: m rows, reordered. */
static PetscErrorCode gather(int dim, int m, double *x, double *value, int *n)
{
  double *row;

  PetscCall(PetscMalloc1(dim, &row));
  for (*n = 0; *n < PetscMin(m, CLIMBERS);) {
    int best = *n;
    bool known = false;
    for (int i = *n + 1; i < m; i++)
      if (value[i] > value[best]) best = i;
    const double top = value[best];
    PetscCall(PetscArraycpy(row, x + (size_t)best * dim, dim));
    for (int i = 0; i < *n && !known; i++) known = same(dim, x + (size_t)i * dim, row);
    const int to = known ? m - 1 : *n;
    PetscCall(PetscArraymove(x + (size_t)best * dim, x + (size_t)to * dim, dim));
    PetscCall(PetscArraycpy(x + (size_t)to * dim, row, dim));
    value[best] = value[to];
    value[to] = top;
    if (known) m--;
    else (*n)++;
  }
  return PetscFree(row);
}

PetscErrorCode rg_levels_climb(const RgSpace *space, const RgMaximiserOptions *options, int m,
                               double *x, double *value, RgLocalSearch ascend,
                               RgBatchFunction function, void *closure)
{
  Climb climb = {space, function, closure, .most = rg_levels_most(space), .x = x, .value = value};
  bool moved = m > 0, ever = true;

  for (int i = 0; i < m; i++) rg_space_snap(space, x + (size_t)i * space->dim, NULL);
  PetscCall(gather(space->dim, m, x, value, &climb.n));
  const size_t room = (size_t)climb.n * climb.most;
  PetscCall(PetscMalloc2(room * space->dim, &climb.around, room, &climb.at));
  for (int round = 0; round < ROUNDS && ever; round++) {
    ever = false;
    moved = climb.n > 0;
    for (int i = 0; i < climb.n; i++) climb.count[i] = 1;
    for (int k = 0; k < CLIMBS && moved; k++) {
      PetscCall(step(&climb, &moved));
      ever = ever || moved;
    }
    if (!ascend || !ever) break;
    PetscCall(ascend(options, space->dim, climb.n, x, value, function, closure));
    for (int i = 0; i < climb.n; i++) rg_space_snap(space, x + (size_t)i * space->dim, NULL);
  }
  return PetscFree2(climb.around, climb.at);
}
