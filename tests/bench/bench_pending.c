/* The cost of points in flight: asks and tells of a method on Hartmann's function in six inputs, with
   the points of seven other workers in flight, beside the same number of asks without any. */
#include "bench.h"

#include "gp/model/model.h"
#include "regatta/algorithm.h"
#include "regatta/problem.h"
#include "study/file/registry.h"
#include "study/schedule/crew.h"

enum { DIM = 6, INITIAL = 12, ASKS = 188, WORKERS = 8 };

typedef struct {
  RgPendingOptions pending;
  int workers;
} Race;

/* Evaluate at x, unit coordinates, and tell the outcome. */
static PetscErrorCode tell(RgProblem *problem, const double *x, RgHistory *history)
{
  double native[DIM], y;
  RgFailure failure = {0};

  rg_space_to_native(&problem->domain.design, x, native);
  const RgPoint point = {.index = -1, .x = native, .context_index = -1};
  PetscCall(rg_problem_evaluate(problem, 1, &point, &y, &failure));
  PetscCall(rg_history_append(history, x, -1, NULL, -1, y));
  return 0;
}

static PetscErrorCode ask_and_tell(RgAlgorithm *algorithm, RgProblem *problem, int workers,
                                   RgHistory *history)
{
  double X[ASKS * DIM], extra[16];
  RgFailure failure = {0};

  for (int t = 1; t <= ASKS; t++) {
    const int flying = PetscMin(t, workers) - 1, told = t - 1 - flying;
    RgQuery query = {.x = X + (t - 1) * DIM, .extra = extra};
    history->pending = (RgPending){.n = flying, .x = X + told * DIM};
    PetscCall(rg_algorithm_ask(algorithm, t, history, &query, &failure));
    history->pending = (RgPending){0};
    PetscCheck(!failure.failed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", failure.message);
    if (t >= workers) PetscCall(tell(problem, X + (t - workers) * DIM, history));
  }
  return 0;
}

/* The points in flight are the last ones that were asked for, and are told in that order. */
static PetscErrorCode race_on(const Race *race, RgProblem *problem)
{
  const RgAlgorithmClass *method = rg_registry_find_algorithm(NULL, "ei");
  RgSurrogateOptions surrogate = {0};
  RgMaximiserOptions maximiser = {0};
  RgAlgorithm algorithm;
  RgHistory history;
  void *options;

  PetscCall(PetscCalloc(method->options_size, &options));
  PetscCall(rg_params_defaults(rg_surrogate_params, &surrogate));
  PetscCall(rg_params_defaults(rg_maximiser_params, &maximiser));
  PetscCall(rg_params_defaults(method->params, options));
  PetscCall(rg_history_create(&problem->domain, INITIAL + ASKS, &history));
  history.n_initial = INITIAL;
  const RgSetup setup = {.domain = &problem->domain,
                         .surrogate = &surrogate,
                         .maximiser = &maximiser,
                         .noise_variance = 1e-4,
                         .n_initial = INITIAL,
                         .n_iterations = ASKS,
                         .n_workers = race->workers,
                         .pending = &race->pending,
                         .stream = rg_stream(1, "hartmann6", 0, "ei", 0)};
  PetscCall(rg_algorithm_create(method, options, &setup, &algorithm));
  RgRandom random = rg_stream_at(&setup.stream, 0);
  for (int i = 0; i < INITIAL; i++) {
    double x[DIM];
    rg_random_uniforms(&random, DIM, x);
    PetscCall(tell(problem, x, &history));
  }
  PetscCall(ask_and_tell(&algorithm, problem, race->workers, &history));
  PetscCall(rg_algorithm_destroy(&algorithm));
  PetscCall(rg_history_destroy(&history));
  PetscCall(rg_params_clear(rg_surrogate_params, &surrogate));
  PetscCall(PetscFree(options));
  return 0;
}

static PetscErrorCode run(void *closure)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, "hartmann6");
  RgProblem problem;
  RgFailure failure = {0};
  void *options;

  PetscCall(PetscCalloc(class->options_size, &options));
  PetscCall(rg_params_defaults(class->params, options));
  PetscCall(rg_problem_create(class, options, 1, 0, &problem, &failure));
  PetscCall(race_on(closure, &problem));
  PetscCall(rg_problem_destroy(&problem));
  PetscCall(PetscFree(options));
  return 0;
}

/* ---- the event loop -------------------------------------------------------------------------- */

enum { EVENTS = 100000 };

static PetscErrorCode no_ask(void *closure, const RgCrewAsk *request, bool *stop)
{
  (void)closure, (void)request;
  *stop = false;
  return 0;
}

static PetscErrorCode some_ticks(void *closure, int submission, int attempt, int64_t *ticks,
                                 bool *stop)
{
  (void)closure, (void)attempt;
  *stop = false;
  *ticks = 1 + submission * INT64_C(7919) % 1000003;
  return 0;
}

static PetscErrorCode no_tell(void *closure, const RgCrewRow *row, bool *stop)
{
  (void)closure, (void)row;
  *stop = false;
  return 0;
}

/* closure: the number of workers. */
static PetscErrorCode run_events(void *closure)
{
  const RgCrewOptions options = {
    .workers = *(const int *)closure, .first = 1, .last = EVENTS, .time = -1, .longest = -1};
  const RgCrewCallbacks host = {.ask = no_ask, .duration = some_ticks, .tell = no_tell};
  RgCrewOutcome outcome;

  return rg_crew_run(&options, &host, &outcome);
}

static PetscErrorCode bench_events(RgBench *bench)
{
  int workers[] = {8, 1000};

  for (int i = 0; i < 2; i++) {
    char name[80];
    double seconds;
    snprintf(name, sizeof name, "one event of %d workers", workers[i]);
    PetscCall(rg_bench_time(run_events, &workers[i], &seconds));
    PetscCall(rg_bench_report(bench, name, seconds / EVENTS, 0, 0, 0));
  }
  return 0;
}

PetscErrorCode rg_bench_pending(RgBench *bench)
{
  static const RgPendingOptions global = {
    .rule = RG_PENDING_PENALISE, .penaliser = RG_PENALISER_HARD, .box = 0.5};
  static const RgPendingOptions local = {.rule = RG_PENDING_PENALISE,
                                         .penaliser = RG_PENALISER_HARD,
                                         .lipschitz = RG_LIPSCHITZ_LOCAL,
                                         .box = 0.5};
  const struct {
    const char *name;
    RgPendingOptions pending;
  } rows[] = {
    {"EI, Hartmann 6, 200 evaluations, 7 in flight: ignore", {.rule = RG_PENDING_IGNORE}},
    {"EI, the same: believer", {.rule = RG_PENDING_BELIEVER}},
    {"EI, the same: liar_max", {.rule = RG_PENDING_LIAR_MAX}},
    {"EI, the same: penalise, hard, global", global},
    {"EI, the same: penalise, hard, local", local},
  };
  Race alone = {{0}, 1};
  double seconds, reference;

  PetscCall(rg_bench_time(run, &alone, &reference));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Race race = {rows[i].pending, WORKERS};
    PetscCall(rg_bench_time(run, &race, &seconds));
    PetscCall(rg_bench_report(bench, rows[i].name, seconds, reference, 0, 0));
  }
  PetscCall(bench_events(bench));
  return 0;
}
