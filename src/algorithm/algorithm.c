/* The parts common to all methods: life cycle, the step of a query with its checks, needs. */
#include "regatta/algorithm.h"
#include "algorithm/restart.h"
#include "base/clock.h"
#include "gp/model/pending.h"

#include <math.h>
#include <string.h>

static int count_columns(const RgRecordColumn *columns)
{
  int n = 0;

  while (columns && columns[n].name) n++;
  return n;
}

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
  PetscCall(PetscFree(algorithm->state));
  return 0;
}

PetscErrorCode rg_algorithm_create(const RgAlgorithmClass *class, const void *options,
                                   const RgSetup *setup, RgAlgorithm *algorithm)
{
  memset(algorithm, 0, sizeof *algorithm);
  algorithm->class = class;
  algorithm->options = options;
  algorithm->setup = *setup;
  algorithm->columns = class->columns;
  PetscCall(rg_restart_create(algorithm, &algorithm->restart));
  PetscCall(create_state(algorithm));
  return 0;
}

PetscErrorCode rg_algorithm_destroy(RgAlgorithm *algorithm)
{
  PetscCall(destroy_state(algorithm));
  PetscCall(rg_restart_destroy(&algorithm->restart));
  memset(algorithm, 0, sizeof *algorithm);
  return 0;
}

static void query_reset(const RgAlgorithm *algorithm, RgQuery *query)
{
  const RgDomain *domain = algorithm->setup.domain;
  int n_columns = count_columns(algorithm->columns);

  const bool announced = domain->control == RG_CONTEXT_ANNOUNCED;

  query->index = -1;
  if (!announced) query->context_index = -1;
  for (int j = 0; j < domain->design.dim; j++) query->x[j] = NAN;
  for (int j = 0; query->c && j < domain->context.dim && !announced; j++) query->c[j] = NAN;
  for (int j = 0; query->extra && j < n_columns; j++) query->extra[j] = NAN;
}

/* A query outside the domain is a mistake of the method, not of the user. */
static PetscErrorCode query_check(const RgAlgorithm *algorithm, const RgQuery *query)
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

/* Forget the points in flight, which the method's model may hold. */
static PetscErrorCode forget_pending(RgAlgorithm *algorithm)
{
  if (algorithm->class->model)
    PetscCall(rg_model_remove_pending(algorithm->class->model(algorithm)));
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
  const RgHistory *seen;
  const double *design;
  bool due;

  PetscCall(rg_restart_look(algorithm->restart, algorithm, t, history, &due, &seen, &design));
  if (due) {
    PetscCall(destroy_state(algorithm));
    PetscCall(create_state(algorithm));
  }
  if (design) {
    PetscCall(PetscArraycpy(query->x, design, history->dim));
    return 0;
  }
  PetscCall(choose(algorithm, t, seen, query, failure));
  if (!failure->failed) PetscCall(rg_restart_judge(algorithm->restart, algorithm, query->x));
  return 0;
}

PetscErrorCode rg_algorithm_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                RgQuery *query, RgFailure *failure)
{
  RgClock *clock = algorithm->setup.clock;

  PetscCheck(t >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "query %d", t);
  query_reset(algorithm, query);
  if (clock) PetscCall(rg_clock_begin(clock, RG_STAGE_ACQUIRE));
  PetscCall((algorithm->restart ? choose_anew : choose)(algorithm, t, history, query, failure));
  if (history->pending.n) PetscCall(forget_pending(algorithm));
  if (clock) PetscCall(rg_clock_end(clock, RG_STAGE_ACQUIRE));
  if (!failure->failed) PetscCall(query_check(algorithm, query));
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

static const char *kind_of(const RgSpace *space)
{
  static const char *const kinds[] = {
    [RG_SPACE_BOX] = "a box", [RG_SPACE_SET] = "a finite set", [RG_SPACE_GRID] = "a grid"};

  return kinds[space->kind];
}

static const char *const controls[] = {[RG_CONTEXT_NONE] = "none",
                                       [RG_CONTEXT_NATURE] = "one that nature draws afterwards",
                                       [RG_CONTEXT_SIMULATOR] = "one the learner chooses",
                                       [RG_CONTEXT_ANNOUNCED] = "one that is announced"};

static void need(const RgAlgorithmClass *class, bool met, const char *what, const char *found,
                 RgPlace place, RgDiagnostics *diagnostics)
{
  if (!met)
    rg_diagnostics_add(diagnostics, place, "algorithm '%s' needs %s; this problem has %s",
                       class->name, what, found);
}

PetscErrorCode rg_algorithm_check(const RgAlgorithmClass *class, const void *options,
                                  const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics)
{
  const RgSpace *design = &domain->design, *context = &domain->context;
  bool finite = rg_space_is_finite(design), has_context = context->dim > 0;
  bool finite_context = has_context && rg_space_is_finite(context);
  const char *context_kind = !has_context     ? "no context"
                             : finite_context ? "finite contexts without known probabilities"
                                              : "contexts from a box";

  const bool announced = domain->control == RG_CONTEXT_ANNOUNCED;

  if (class->needs & RG_NEEDS_FINITE)
    need(class, finite, "a finite design (a set or a grid)", kind_of(design), place, diagnostics);
  if (class->needs & RG_NEEDS_BOX)
    need(class, !finite, "a design that is a box", kind_of(design), place, diagnostics);
  if (class->needs & RG_NEEDS_CONTEXT)
    need(class, has_context, "a context", "none", place, diagnostics);
  if (class->needs & RG_NEEDS_CONTEXT_PROB)
    need(class, finite_context && domain->context_prob, "finite contexts with known probabilities",
         context_kind, place, diagnostics);
  if (class->needs & RG_NEEDS_NO_CONTEXT)
    need(class, !has_context || domain->control == RG_CONTEXT_NATURE || announced,
         "a problem without a context for the learner to choose", "one", place, diagnostics);
  if (class->needs & RG_NEEDS_NATURE)
    need(class, has_context && domain->control == RG_CONTEXT_NATURE, "a context that nature draws",
         controls[domain->control], place, diagnostics);
  if (class->needs & RG_NEEDS_ANNOUNCED)
    need(class, announced, "a context that is announced before the decision ('context: before')",
         controls[domain->control], place, diagnostics);
  else if (announced && class->needs & (RG_NEEDS_CONTEXT | RG_NEEDS_CONTEXT_PROB))
    need(class, false, "a context that is unknown when it decides", controls[domain->control],
         place, diagnostics);
  if (class->check) PetscCall(class->check(options, domain, place, diagnostics));
  return 0;
}
