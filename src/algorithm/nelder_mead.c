/* nelder_mead: the simplex method of Nelder and Mead, restarted.

   The d + 1 vertices of a simplex are ordered; the worst is replaced by its reflection x_r at the
   centre of the others, by an expansion of x_r where it is the best point, by a contraction where
   it is not better than the second worst; a contraction that fails shrinks the simplex to its best
   vertex. The first simplex stands on the best point of the initial design (a uniform one without
   it) with edges along the axes; a simplex smaller than `tolerance` starts again on a uniform
   point.
   Source: Nelder, Mead (1965), A simplex method for function minimization, The Computer Journal 7;
   rules of acceptance as Lagarias, Reeds, Wright, Wright (1998), SIAM J. Optim. 9; coefficients
   that depend on d (`adaptive`): Gao, Han (2012), Comput. Optim. Appl. 51.
   Deviations: points outside the box are moved onto its border. Noise is taken for the function.
   Cost per iteration: O(d).
   Needs a box without context. Revision 1. */
#include "regatta/algorithm.h"

#include <math.h>
#include <string.h>

typedef struct {
  bool adaptive;
  double edge, tolerance;
} Options;

static const RgParam params[] = {
  RG_REAL("edge", Options, edge, "0.1", RG_POSITIVE, 1, "",
          "edge of a first simplex along every axis, unit cube"),
  RG_REAL("tolerance", Options, tolerance, "1e-9", 0, 1, "",
          "largest edge, unit cube, below which the simplex starts again elsewhere"),
  RG_BOOL("adaptive", Options, adaptive, "false",
          "expansion, contraction and shrinkage by the dimension instead of 2, 1/2, 1/2"),
  {0},
};

enum { RESTARTS };

static const RgRecordColumn columns[] = {[RESTARTS] = {"restarts", "simplices given up so far"},
                                         {0}};

/* The vertex or trial point to which the newest observation belongs. */
typedef enum { NOTHING, VERTEX, REFLECTION, EXPANSION, OUTSIDE, INSIDE } Step;

typedef struct {
  int dim;
  Step step;
  int vertex, restarts; /* for VERTEX: the index of the vertex */
  double expand, contract, shrink;
  double *simplex;   /* (dim + 1) x dim, best first */
  double *value;     /* dim + 1, to be maximised */
  double *x;         /* dim: the point that was asked for */
  double *reflected; /* dim */
  double reflected_value;
} State;

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const int dim = algorithm->setup.domain->design.dim;
  const size_t n = (size_t)dim + 1;
  const bool adaptive = options->adaptive && dim > 1;

  state->dim = dim;
  state->expand = adaptive ? 1 + 2.0 / dim : 2;
  state->contract = adaptive ? 0.75 - 0.5 / dim : 0.5;
  state->shrink = adaptive ? 1 - 1.0 / dim : 0.5;
  return PetscMalloc4(n * dim, &state->simplex, n, &state->value, dim, &state->x, dim,
                      &state->reflected);
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  return PetscFree4(state->simplex, state->value, state->x, state->reflected);
}

static double *vertex(const State *state, int k)
{
  return state->simplex + (size_t)k * state->dim;
}

static void put(State *state, int k, const double *x, double value)
{
  memcpy(vertex(state, k), x, (size_t)state->dim * sizeof *x);
  state->value[k] = value;
}

/* Vertices by falling value; equal ones keep their order. */
static void sort(State *state)
{
  for (int k = 1; k <= state->dim; k++)
    for (int i = k; i > 0 && state->value[i] > state->value[i - 1]; i--) {
      double *a = vertex(state, i), *b = vertex(state, i - 1), swap = state->value[i];
      state->value[i] = state->value[i - 1];
      state->value[i - 1] = swap;
      for (int j = 0; j < state->dim; j++) {
        swap = a[j];
        a[j] = b[j];
        b[j] = swap;
      }
    }
}

static double inside(double x)
{
  return fmin(1, fmax(0, x));
}

/* x = centre + factor (centre - worst), the centre that of all other vertices. */
static void ask_for(State *state, Step step, double factor)
{
  const double *worst = vertex(state, state->dim);

  for (int j = 0; j < state->dim; j++) {
    double centre = 0;
    for (int k = 0; k < state->dim; k++) centre += vertex(state, k)[j];
    centre /= state->dim;
    state->x[j] = inside(centre + factor * (centre - worst[j]));
  }
  state->step = step;
}

static void ask_for_vertex(State *state, int k)
{
  memcpy(state->x, vertex(state, k), (size_t)state->dim * sizeof *state->x);
  state->vertex = k;
  state->step = VERTEX;
}

/* A simplex on x, with edges that stay in the box. The value of x is NaN if it is not known. */
static void begin(State *state, double edge, const double *x, double value)
{
  put(state, 0, x, value);
  for (int k = 1; k <= state->dim; k++) {
    double *v = vertex(state, k);
    memcpy(v, x, (size_t)state->dim * sizeof *x);
    v[k - 1] += v[k - 1] + edge <= 1 ? edge : -edge;
    v[k - 1] = inside(v[k - 1]);
  }
  ask_for_vertex(state, isnan(value) ? 0 : 1);
}

static void shrink(State *state)
{
  const double *best = state->simplex;

  for (int k = 1; k <= state->dim; k++)
    for (int j = 0; j < state->dim; j++)
      vertex(state, k)[j] = best[j] + state->shrink * (vertex(state, k)[j] - best[j]);
  ask_for_vertex(state, 1);
}

/* Return the largest distance of a vertex from the best one along a coordinate. */
static double size(const State *state)
{
  double largest = 0;

  for (int k = 1; k <= state->dim; k++)
    for (int j = 0; j < state->dim; j++)
      largest = fmax(largest, fabs(vertex(state, k)[j] - state->simplex[j]));
  return largest;
}

/* Replaces the worst vertex; the next round begins. */
static void replace(State *state, const double *x, double value)
{
  put(state, state->dim, x, value);
  sort(state);
  ask_for(state, REFLECTION, 1);
}

/* Learns that the point that was asked for has value y; state->x becomes the next point. */
static void answer(State *state, double y)
{
  switch (state->step) {
  case NOTHING: break;
  case VERTEX:
    state->value[state->vertex] = y;
    if (state->vertex < state->dim) {
      ask_for_vertex(state, state->vertex + 1);
      break;
    }
    sort(state);
    ask_for(state, REFLECTION, 1);
    break;
  case REFLECTION:
    memcpy(state->reflected, state->x, (size_t)state->dim * sizeof *state->x);
    state->reflected_value = y;
    if (y > state->value[0]) ask_for(state, EXPANSION, state->expand);
    else if (y > state->value[state->dim - 1]) replace(state, state->x, y);
    else if (y > state->value[state->dim]) ask_for(state, OUTSIDE, state->contract);
    else ask_for(state, INSIDE, -state->contract);
    break;
  case EXPANSION:
    if (y > state->reflected_value) replace(state, state->x, y);
    else replace(state, state->reflected, state->reflected_value);
    break;
  case OUTSIDE:
    if (y >= state->reflected_value) replace(state, state->x, y);
    else shrink(state);
    break;
  case INSIDE:
    if (y > state->value[state->dim]) replace(state, state->x, y);
    else shrink(state);
    break;
  }
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;

  if (state->step == NOTHING) {
    /* Build the first simplex. */
    RgRandom first = rg_algorithm_stream_at(algorithm, "start", 0);
    const int best = rg_history_best(history);
    if (best < 0) rg_random_uniforms(&first, (size_t)state->dim, state->x);
    begin(state, options->edge, best >= 0 ? history->x + (size_t)best * state->dim : state->x,
          best >= 0 ? history->y[best] : NAN);
  } else answer(state, history->y[history->n - 1]);
  if (state->step == REFLECTION && size(state) <= options->tolerance) {
    RgRandom random = rg_algorithm_stream_at(algorithm, "start", t);
    rg_random_uniforms(&random, (size_t)state->dim, state->x);
    begin(state, options->edge, state->x, NAN);
    state->restarts++;
  }
  memcpy(query->x, state->x, (size_t)state->dim * sizeof *state->x);
  query->extra[RESTARTS] = state->restarts;
  return 0;
}

const RgAlgorithmClass rg_algorithm_nelder_mead = {
  RG_ABOUT("nelder_mead", "Nelder-Mead", 1,
           "a simplex reflects, expands, contracts and shrinks; a small one starts again on a\n"
           "uniform point",
           "Nelder, Mead (1965), A simplex method for function minimization"),
  .needs = RG_NEEDS_BOX | RG_NEEDS_NO_CONTEXT | RG_NEEDS_ALTERNATION,
  .traits = RG_BLIND,
  RG_OPTIONS(Options, params),
  RG_STATE(State, create, destroy),
  RG_ASK(ask, columns),
};
