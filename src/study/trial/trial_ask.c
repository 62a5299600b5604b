/* Ask: the query of a submission, from the initial design or from the method, and its place among
   the rows of the trial. */
#include "base/inputs.h"
#include "base/poll.h"
#include "gp/team/team.h"
#include "maths/design.h"
#include "study/trial/trial_internal.h"

#include <math.h>

#define ROUNDING 1e-12 /* relative error of a conversion from the unit cube */

/* ---- the answers of a method that is a program ----------------------------------------------- */

static PetscErrorCode open_log(RgTrialRun *run, int n)
{
  if (!run->answers)
    PetscCall(rg_evaluation_log_open(run->of.host->directory, RG_FOLDER_ANSWERS, run->of.trial->id,
                                     run->of.cell->outside, n, 0, 0, &run->answers));
  return 0;
}

static PetscErrorCode find(void *closure, int number, int n, double *numbers, bool *found)
{
  RgTrialRun *run = closure;

  PetscCall(open_log(run, n));
  const RgLoggedEvaluation *known = rg_evaluation_log_find(run->answers, number, NULL, NULL);
  *found = known != NULL;
  return known ? PetscArraycpy(numbers, known->numbers + RG_LOG_POINT, n) : 0;
}

static PetscErrorCode keep(void *closure, int number, int n, const double *numbers, bool *kept)
{
  RgTrialRun *run = closure;
  RgTrialRetry retry = {0};

  PetscCall(open_log(run, n));
  while (rg_trial_retry(run, &retry))
    PetscCall(rg_evaluation_log_add(run->answers, number, numbers, NULL, 0, NULL, 0,
                                    &run->of.host->trouble));
  *kept = !run->abandoned;
  return 0;
}

RgKeeper rg_trial_keeper(RgTrialRun *run)
{
  return (RgKeeper){.closure = run,
                    .find = find,
                    .keep = keep,
                    .stop = rg_trial_poll_stop,
                    .log = run->of.host->log,
                    .account = &run->out.account};
}

void rg_trial_begin_method(RgTrialRun *run)
{
  if (rg_team_size(run->of.host->team) == 1) rg_poll_begin(rg_trial_poll_stop, run);
}

PetscErrorCode rg_trial_end_method(RgTrialRun *run, PetscErrorCode code)
{
  bool stopped;

  PetscCall(rg_poll_end(code, &stopped));
  /* A stop that ends the wait for a program is no failure. */
  if (stopped || (run->failure.failed && run->answers && run->stop_requested))
    run->abandoned = true;
  return 0;
}

/* ---- the design ------------------------------------------------------------------------------ */

/* Find the free point of a finite set that is nearest to a point of the box design. */
static void nearest_free_point(const RgSpace *space, const double *u, unsigned char *taken,
                               int *index)
{
  double best = INFINITY;

  for (int i = 0; i < space->size; i++) {
    double distance = 0;
    for (int j = 0; j < space->dim; j++) {
      double difference = space->points[(size_t)i * space->dim + j] - u[j];
      distance += difference * difference;
    }
    if (taken[i] || distance >= best) continue;
    best = distance;
    *index = i;
  }
  taken[*index] = 1;
}

static PetscErrorCode box_design(int kind, RgRandom *random, int n, int dim, double *points)
{
  if (kind == RG_INITIAL_SOBOL) return rg_design_sobol(random, n, dim, points);
  if (kind == RG_INITIAL_LATIN_HYPERCUBE) return rg_design_latin_hypercube(random, n, dim, points);
  return rg_design_uniform(random, n, dim, points);
}

/* Choose n free points of a finite set. */
static PetscErrorCode set_design(const RgSpace *space, int kind, RgRandom *random, int n_given,
                                 int n, unsigned char *taken, int *indices)
{
  if (kind == RG_INITIAL_UNIFORM) { /* enough draws to leave n free points */
    const int drawn = PetscMin(n + n_given, space->size);
    int *subset, count = 0;
    PetscCall(PetscMalloc1(PetscMax(drawn, 1), &subset));
    PetscCall(rg_random_subset(random, space->size, drawn, subset));
    for (int i = 0; i < drawn && count < n; i++)
      if (!taken[subset[i]]) indices[count++] = subset[i];
    PetscCall(PetscFree(subset));
  } else {
    double *points;
    PetscCall(PetscMalloc1((size_t)PetscMax(n, 1) * space->dim, &points));
    PetscCall(box_design(kind, random, n, space->dim, points));
    for (int i = 0; i < n; i++)
      nearest_free_point(space, points + (size_t)i * space->dim, taken, &indices[i]);
    PetscCall(PetscFree(points));
  }
  return 0;
}

/* The given designs come first, then those of the kind that the study asks for (RG_INITIAL_...). On
   a finite set no point is used twice: each point of a box design moves to the nearest free point,
   O(n size dim). */
PetscErrorCode rg_trial_draw_design(RgTrialRun *run)
{
  RgTrialParts *of = &run->of;
  const RgCell *cell = of->cell;
  const RgSpace *space = &of->problem->domain.design;
  const bool more = cell->crew.workers > 1 && cell->crew.start == RG_START_DESIGN;
  const int n =
    of->trial->n_initial + (more ? PetscMin(cell->crew.workers, cell->run.iterations) : 0);
  const int first = PetscMin(cell->given.n, n), kind = cell->run.initial_design;
  const size_t dim = (size_t)space->dim;
  unsigned char *taken;

  of->n_designed = n;
  PetscCall(PetscCalloc1(n * dim, &of->design));
  PetscCall(PetscCalloc1(n, &of->design_index));
  /* The stream is that of instance 0: all instances of a problem share the initial designs, so
     that instances and seeds are crossed. */
  RgStream stream = rg_stream(of->study->seed, cell->problem->name, 0, "design", of->trial->seed);
  RgRandom random = rg_stream_at(&stream, 0);
  for (int i = 0; i < n; i++) of->design_index[i] = i < first ? cell->given.index[i] : -1;
  PetscCall(PetscArraycpy(of->design, cell->given.x, (size_t)first * dim));
  if (!rg_space_is_finite(space)) {
    PetscCall(box_design(kind, &random, n - first, space->dim, of->design + first * dim));
    return 0;
  }
  PetscCall(PetscCalloc1(space->size, &taken));
  for (int i = 0; i < first; i++) taken[of->design_index[i]] = 1;
  PetscCall(set_design(space, kind, &random, first, n - first, taken, of->design_index + first));
  PetscCall(PetscFree(taken));
  for (int i = 0; i < n; i++)
    PetscCall(PetscArraycpy(of->design + i * dim, space->points + of->design_index[i] * dim, dim));
  return 0;
}

/* ---- the query ------------------------------------------------------------------------------- */

/* Draw the context of a submission for nature, by the law of that evaluation. */
static PetscErrorCode draw_context(RgTrialRun *run, int submission)
{
  RgProblem *problem = run->of.problem;
  RgRandom random = rg_stream_at(&run->of.contexts, (uint64_t)submission - 1);

  PetscCall(rg_problem_at(problem, submission));
  PetscCall(
    problem->class->draw_context(problem, &random, run->rows.native_c, &run->query.context_index));
  rg_space_to_unit(&problem->domain.context, run->rows.native_c, run->query.c);
  return 0;
}

/* The query is a point of the design. Where the learner chooses the context, it is uniform over a
   finite set, else by nature's law. */
static PetscErrorCode choose_designed(RgTrialRun *run, int submission)
{
  RgProblem *problem = run->of.problem;
  const RgSpace *context = &problem->domain.context;
  const size_t dim = (size_t)problem->domain.design.dim, at = (size_t)submission - 1;
  RgRandom random = rg_stream_at(&run->of.contexts, at);

  run->query.index = run->of.design_index[at];
  PetscCall(PetscArraycpy(run->query.x, run->of.design + at * dim, dim));
  if (problem->domain.control != RG_CONTEXT_SIMULATOR) return 0;
  if (rg_space_is_finite(context)) {
    const int index = (int)rg_random_below(&random, (uint64_t)context->size);
    run->query.context_index = index;
    PetscCall(
      PetscArraycpy(run->query.c, context->points + (size_t)index * context->dim, context->dim));
    return 0;
  }
  PetscCall(
    problem->class->draw_context(problem, &random, run->rows.native_c, &run->query.context_index));
  rg_space_to_unit(context, run->rows.native_c, run->query.c);
  return 0;
}

bool rg_trial_continues(RgTrialRun *run)
{
  const RgTrialServices *host = run->of.host;
  const int n = run->rows.history.n;

  if (!run->failure.failed && !run->abandoned && n && rg_trial_poll_stop(run))
    run->abandoned = true;
  if (host->enough && n > run->of.trial->n_initial && host->enough(host->enough_closure, n))
    return false;
  return !run->failure.failed && !run->abandoned && !run->ended;
}

PetscErrorCode rg_trial_choose(RgTrialRun *run, int submission, bool *stop)
{
  RgHistory *history = &run->rows.history;

  *stop = !rg_trial_continues(run);
  if (*stop) return 0;
  run->stage = submission;
  run->query.index = run->query.context_index = -1;
  for (int k = 0; k < run->out.n_own; k++) run->query.extra[k] = NAN;
  if (run->of.problem->domain.control == RG_CONTEXT_ANNOUNCED)
    PetscCall(draw_context(run, submission));
  if (submission <= run->of.n_designed) {
    PetscCall(choose_designed(run, submission));
  } else {
    /* The method's initial design has the evaluations that were reported before its first query. */
    history->n_initial = PetscMin(history->n_initial, history->n);
    rg_trial_begin_method(run);
    PetscCall(rg_trial_end_method(run, rg_algorithm_ask(&run->algorithm,
                                                        submission - run->of.trial->n_initial,
                                                        history, &run->query, &run->failure)));
  }
  *stop = run->failure.failed || run->abandoned;
  if (!*stop && run->of.cell->run.stop_rule && run->algorithm.stops && history->n) {
    run->ended = RG_ENDED_RULE;
    rg_trial_record_extra(run, RG_EXTRA_STOPPED, 0, history->n - 1, run->ended);
    *stop = true;
  }
  if (!*stop) rg_trial_convert_query(run, submission);
  return 0;
}

/* A given design keeps the values of its file for coordinates that count, because the conversion
   from the unit cube may change the last bits. Coordinates that don't count have a fixed value. A
   method with a model or a search is told the design that is evaluated; the steps of others would
   be too small for that. */
void rg_trial_convert_query(RgTrialRun *run, int submission)
{
  const RgSpace *design = &run->of.problem->domain.design;
  const RgGiven *given = &run->of.cell->given;
  const bool snaps = run->of.cell->algorithm->reads && !rg_space_is_finite(design);
  const size_t at = ((size_t)submission - 1) * design->dim;

  if (snaps) rg_space_snap(design, run->query.x, NULL);
  else rg_space_normalise(design, run->query.x, NULL);
  rg_space_to_native(design, run->query.x, run->rows.native_x);
  for (int j = 0; j < design->dim; j++) {
    double *native = &run->rows.native_x[j];
    const double rounded = rint(*native);

    if (submission <= given->n && run->query.x[j] == given->x[at + j])
      *native = given->native[at + j];
    else if (snaps && design->inputs && design->inputs[j].kind == RG_INPUT_INTEGER &&
             fabs(*native - rounded) <= ROUNDING * fmax(1, fabs(rounded)))
      *native = rounded;
  }
}

PetscErrorCode rg_trial_place(RgTrialRun *run, int submission)
{
  const RgDomain *domain = &run->of.problem->domain;
  RgTrialRows *rows = &run->rows;
  RgHistory *history = &rows->history;
  const bool context = domain->context.dim > 0;
  const int told = history->n, row = rows->n_asked;

  if (domain->control == RG_CONTEXT_NATURE && context) PetscCall(draw_context(run, submission));
  if (domain->control == RG_CONTEXT_SIMULATOR && context)
    rg_space_to_native(&domain->context, run->query.c, rows->native_c);
  history->n = rows->n_asked; /* a row in flight comes after those in flight */
  PetscCall(rg_history_append(history, run->query.x, run->query.index,
                              context ? run->query.c : NULL,
                              context ? run->query.context_index : -1, NAN));
  history->n = told;
  history->timings[row].submission = submission;
  rows->n_asked++;
  PetscCall(
    PetscArraycpy(rg_trial_cell(run, RG_COLUMN_X, row), rows->native_x, domain->design.dim));
  if (context)
    PetscCall(
      PetscArraycpy(rg_trial_cell(run, RG_COLUMN_C, row), rows->native_c, domain->context.dim));
  rg_trial_record_extra(run, RG_EXTRA_REPORTED, 0, row, 0); /* known values take no time */
  return 0;
}
