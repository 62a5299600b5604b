/* The parts common to all methods: life cycle, the step of a query with its checks, restarts,
   needs. */
#include "regatta/algorithm.h"
#include "base/clock.h"
#include "base/grow.h"
#include "gp/model/pending.h"
#include "maths/design.h"

#include <math.h>
#include <string.h>

/* ---- restarts -------------------------------------------------------------------------------

   With `surrogate: {restart_after: N}` a method whose search has stalled begins again with a new
   initial design, and forgets all evaluations before it. A search has stalled when each of the last
   N queries neither promised nor brought an improvement that counts. */

#define GAIN 1e-4 /* least improvement that counts, a share of the height of the best output */

struct RgRestart {
  int after;      /* idle queries in a row that cause a restart */
  int n_design;   /* points of an initial design */
  int taken;      /* evaluations of the whole history that were looked at */
  int idle;       /* queries in a row that promised little */
  RgHistory seen; /* evaluations since the last restart, which are all that the method sees */
  double *design; /* n_design x dim */
};

/* The least improvement that counts, model units: GAIN times the height of the best output above
   the mean of all. */
static double least_gain(const RgHistory *seen, const RgModel *model, double best)
{
  double sum = 0;

  for (int i = 0; i < seen->n; i++) sum += rg_model_units(model, seen->y[i]);
  return GAIN * (best - sum / seen->n);
}

/* Append evaluation i of the history, unless it was submitted before the last restart. */
static PetscErrorCode append_seen(RgAlgorithm *algorithm, const RgHistory *history, int i)
{
  RgHistory *seen = &algorithm->restart->seen;
  const size_t dim = (size_t)history->dim, dim_c = (size_t)history->context_dim;
  const int best = rg_history_best(seen), n_constraints = history->n_constraints;
  const double y = history->y[i];

  if (history->timings[i].submission < algorithm->first) return 0;
  if (best >= 0 && y > seen->y[best]) {
    const RgModel *model = algorithm->class->model(algorithm);
    const double before = rg_model_units(model, seen->y[best]);
    if (rg_model_units(model, y) - before > least_gain(seen, model, before))
      algorithm->restart->idle = 0;
  }
  PetscCall(rg_history_append(seen, history->x + i * dim, history->index[i],
                              dim_c ? history->c + i * dim_c : NULL, history->context_index[i], y));
  PetscCall(rg_history_set_outcome(
    seen, history->observed[i], n_constraints ? history->constraints + i * n_constraints : NULL));
  seen->timings[seen->n - 1] = history->timings[i];
  return 0;
}

/* The points in flight that were submitted since the last restart. They are the last ones. */
static RgPending pending_since(int first, const RgHistory *history)
{
  RgPending pending = history->pending;
  int old = 0;

  while (pending.submission && old < pending.n && pending.submission[old] < first) old++;
  pending.n -= old;
  if (pending.n) pending.x += (size_t)old * history->dim;
  if (pending.index) pending.index += old;
  if (pending.c) pending.c += (size_t)old * history->context_dim;
  if (pending.context_index) pending.context_index += old;
  if (pending.submission) pending.submission += old;
  return pending;
}

/* Count the query at x, which the method chose from the history seen, as idle if its expected
   improvement is too small to count. O(n^2). */
static PetscErrorCode count_idle(RgAlgorithm *algorithm, const double *x)
{
  RgRestart *r = algorithm->restart;
  RgModel *model = algorithm->class->model(algorithm);
  const int best = rg_history_best(&r->seen);
  double mean, sd;

  if (best < 0) return 0;
  const double incumbent = rg_model_units(model, r->seen.y[best]);
  PetscCall(rg_model_predict(model, 1, x, &mean, &sd));
  const bool idle =
    rg_expected_improvement(mean, sd, incumbent) < least_gain(&r->seen, model, incumbent);
  r->idle = idle ? r->idle + 1 : 0;
  return 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

static PetscErrorCode create_state(RgAlgorithm *algorithm)
{
  const RgAlgorithmClass *class = algorithm->class;

  if (class->state_size) PetscCall(PetscCalloc(class->state_size, &algorithm->state));
  if (class->create) PetscCall(class->create(algorithm));
  return 0;
}

static PetscErrorCode destroy_state(RgAlgorithm *algorithm)
{
  if (algorithm->class && algorithm->class->destroy)
    PetscCall(algorithm->class->destroy(algorithm));
  return PetscFree(algorithm->state);
}

PetscErrorCode rg_algorithm_create(const RgAlgorithmClass *class, const void *options,
                                   const RgSetup *setup, RgAlgorithm *algorithm)
{
  *algorithm = (RgAlgorithm){
    .class = class, .options = options, .setup = *setup, .first = 1, .columns = class->columns};
  if (class->model && setup->surrogate->restart_after >= 1) {
    RgRestart *r;
    PetscCall(PetscNew(&r));
    algorithm->restart = r;
    r->after = setup->surrogate->restart_after;
    r->n_design = setup->n_initial;
    PetscCall(rg_history_create(setup->domain, setup->n_initial + setup->n_iterations, &r->seen));
    PetscCall(PetscMalloc1((size_t)r->n_design * setup->domain->design.dim, &r->design));
  }
  return create_state(algorithm);
}

PetscErrorCode rg_algorithm_destroy(RgAlgorithm *algorithm)
{
  RgRestart *r = algorithm->restart;

  PetscCall(destroy_state(algorithm));
  if (r) {
    PetscCall(rg_history_destroy(&r->seen));
    PetscCall(RG_FREE(&r->design, &algorithm->restart));
  }
  memset(algorithm, 0, sizeof *algorithm);
  return 0;
}

/* ---- a query -------------------------------------------------------------------------------- */

/* A query outside the domain is a mistake of the method, not of the user. */
static PetscErrorCode check_query(const RgAlgorithm *algorithm, const RgQuery *query)
{
  const RgSpace *design = &algorithm->setup.domain->design;
  const char *name = algorithm->class->name;

  PetscCheck(!rg_space_is_finite(design) || (query->index >= 0 && query->index < design->size),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s chose point %d of %d", name, query->index,
             design->size);
  for (int j = 0; j < design->dim; j++)
    PetscCheck(query->x[j] >= 0.0 && query->x[j] <= 1.0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s chose x_%d = %g outside [0,1]", name, j, query->x[j]);
  return 0;
}

/* Query t from what the method sees of the history. */
static PetscErrorCode choose(RgAlgorithm *algorithm, int t, const RgHistory *seen, RgQuery *query,
                             RgFailure *failure)
{
  const RgAlgorithmClass *class = algorithm->class;

  if (class->model && !(class->traits & RG_OWN_HISTORY))
    PetscCall(rg_model_update(class->model(algorithm), seen, failure));
  if (!failure->failed) PetscCall(class->ask(algorithm, t, seen, query, failure));
  return 0;
}

/* Query t of a method that may start again. */
static PetscErrorCode choose_anew(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  RgQuery *query, RgFailure *failure)
{
  RgRestart *r = algorithm->restart;
  const int dim = history->dim;

  for (; r->taken < history->n; r->taken++) PetscCall(append_seen(algorithm, history, r->taken));
  if (r->idle >= r->after) {
    RgRandom random = rg_algorithm_stream_at(algorithm, "restart", t);
    algorithm->first = algorithm->setup.n_initial + t;
    r->seen.n = r->idle = 0;
    PetscCall(rg_design_sobol(&random, r->n_design, dim, r->design));
    PetscCall(destroy_state(algorithm));
    PetscCall(create_state(algorithm));
  }
  const int queries = algorithm->setup.n_initial + t - algorithm->first;
  r->seen.pending = pending_since(algorithm->first, history);
  if (algorithm->first == 1) r->seen.n_initial = history->n_initial;
  else if (queries == r->n_design) r->seen.n_initial = r->seen.n;
  if (algorithm->first > 1 && queries < r->n_design) /* a point of the new initial design */
    return PetscArraycpy(query->x, r->design + (size_t)queries * dim, dim);
  PetscCall(choose(algorithm, t, &r->seen, query, failure));
  if (!failure->failed) PetscCall(count_idle(algorithm, query->x));
  return 0;
}

PetscErrorCode rg_algorithm_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                RgQuery *query, RgFailure *failure)
{
  const RgAlgorithmClass *class = algorithm->class;
  const RgDomain *domain = algorithm->setup.domain;
  const bool announced = domain->control == RG_CONTEXT_ANNOUNCED;
  RgClock *clock = algorithm->setup.clock;

  PetscCheck(t >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "query %d", t);
  query->index = -1;
  if (!announced) query->context_index = -1;
  for (int j = 0; j < domain->design.dim; j++) query->x[j] = NAN;
  for (int j = 0; query->c && j < domain->context.dim && !announced; j++) query->c[j] = NAN;
  for (int j = 0; query->extra && algorithm->columns && algorithm->columns[j].name; j++)
    query->extra[j] = NAN;
  if (clock) PetscCall(rg_clock_begin(clock, RG_STAGE_ACQUIRE));
  PetscCall((algorithm->restart ? choose_anew : choose)(algorithm, t, history, query, failure));
  if (history->pending.n && class->model)
    PetscCall(rg_model_remove_pending(class->model(algorithm)));
  if (clock) PetscCall(rg_clock_end(clock, RG_STAGE_ACQUIRE));
  if (!failure->failed) PetscCall(check_query(algorithm, query));
  return 0;
}

RgRandom rg_algorithm_stream_at(const RgAlgorithm *algorithm, const char *name, int t)
{
  RgStream stream = rg_stream_sub(&algorithm->setup.stream, name);

  return rg_stream_at(&stream, (uint64_t)t);
}

double rg_algorithm_width(const RgAlgorithm *algorithm, int t)
{
  RgRandom random = rg_algorithm_stream_at(algorithm, "confidence", t);
  RgConfidenceLaw law;

  algorithm->class->confidence(algorithm->options, algorithm->setup.domain, t, &law);
  return rg_confidence_draw(&law, &random);
}

/* ---- needs ---------------------------------------------------------------------------------- */

static const char *const kinds[] = {
  [RG_SPACE_BOX] = "a box", [RG_SPACE_SET] = "a finite set", [RG_SPACE_GRID] = "a grid"};

static const char *const controls[] = {[RG_CONTEXT_NONE] = "none",
                                       [RG_CONTEXT_NATURE] = "one that nature draws afterwards",
                                       [RG_CONTEXT_SIMULATOR] = "one the learner chooses",
                                       [RG_CONTEXT_ANNOUNCED] = "one that is announced"};

PetscErrorCode rg_algorithm_check(const RgAlgorithmClass *class, const void *options,
                                  const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics)
{
  const RgSpace *design = &domain->design, *context = &domain->context;
  const bool finite = rg_space_is_finite(design), has_context = context->dim > 0;
  const bool finite_context = has_context && rg_space_is_finite(context);
  const bool announced = domain->control == RG_CONTEXT_ANNOUNCED;
  const bool nature = domain->control == RG_CONTEXT_NATURE;
  const char *control = controls[domain->control], *context_kind = "contexts from a box";

  if (!has_context) context_kind = "no context";
  else if (finite_context) context_kind = "finite contexts without known probabilities";
  const struct {
    unsigned need;
    bool met;
    const char *what, *found;
  } needs[] = {{RG_NEEDS_FINITE, finite, "a finite design (a set or a grid)", kinds[design->kind]},
               {RG_NEEDS_BOX, !finite, "a design that is a box", kinds[design->kind]},
               {RG_NEEDS_CONTEXT, has_context, "a context", "none"},
               {RG_NEEDS_CONTEXT_PROB, finite_context && domain->context_prob,
                "finite contexts with known probabilities", context_kind},
               {RG_NEEDS_NO_CONTEXT, !has_context || nature || announced,
                "a problem without a context for the learner to choose", "one"},
               {RG_NEEDS_NATURE, has_context && nature, "a context that nature draws", control},
               {RG_NEEDS_ANNOUNCED, announced,
                "a context that is announced before the decision ('context: before')", control},
               {RG_NEEDS_CONTEXT | RG_NEEDS_CONTEXT_PROB,
                !announced || class->needs & RG_NEEDS_ANNOUNCED,
                "a context that is unknown when it decides", control}};

  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (class->needs & needs[i].need && !needs[i].met)
      rg_diagnostics_add(diagnostics, place, "algorithm '%s' needs %s; this problem has %s",
                         class->name, needs[i].what, needs[i].found);
  if (class->check) PetscCall(class->check(options, domain, place, diagnostics));
  return 0;
}
