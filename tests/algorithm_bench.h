/* An algorithm with everything it needs, for tests that ask it query by query. */
#ifndef RG_TESTS_ALGORITHM_BENCH_H
#define RG_TESTS_ALGORITHM_BENCH_H

#include "base/clock.h"
#include "gp/model/model.h"
#include "regatta/algorithm.h"
#include "test_problem.h"

/* Zeroed at first. Then it gets a domain, then a class, and is created. */
typedef struct {
  Instance instance; /* a problem, which has the domain; or, without a problem: */
  RgDomain domain;
  const RgAlgorithmClass *class;
  void *options;
  RgSurrogateOptions surrogate;
  RgMaximiserOptions maximiser;
  RgAlgorithm algorithm;
  RgHistory history;
  RgClock clock;
  double x[8], c[2], extra[16];
  RgQuery query;
  RgFailure failure;
} Bench;

static inline void bench_set(Bench *bench, const char *name, const char *value)
{
  set_in(bench->class->params, bench->options, name, value);
}

/* The class called `name` with the defaults of its options, of the surrogate and of the
   maximiser. */
static inline void bench_class(Bench *bench, const char *name)
{
  bench->class = rg_registry_find_algorithm(NULL, name);
  assert_non_null(bench->class);
  RG_OK(PetscCalloc(bench->class->options_size + 1, &bench->options));
  RG_OK(rg_params_defaults(bench->class->params, bench->options));
  RG_OK(rg_params_defaults(rg_surrogate_params, &bench->surrogate));
  RG_OK(rg_params_defaults(rg_maximiser_params, &bench->maximiser));
}

/* Start it with room for `room` evaluations; The bench fills the missing fields of `setup`. */
static inline void bench_create(Bench *bench, RgSetup setup, int room)
{
  if (!setup.domain)
    setup.domain = bench->instance.problem.class ? &bench->instance.problem.domain : &bench->domain;
  setup.surrogate = &bench->surrogate;
  setup.maximiser = &bench->maximiser;
  setup.clock = &bench->clock;
  RG_OK(rg_history_create(setup.domain, room, &bench->history));
  RG_OK(rg_algorithm_create(bench->class, bench->options, &setup, &bench->algorithm));
  bench->query = (RgQuery){.x = bench->x, .c = bench->c, .extra = bench->extra};
}

static inline void bench_ask(Bench *bench, int t)
{
  RG_OK(rg_algorithm_ask(&bench->algorithm, t, &bench->history, &bench->query, &bench->failure));
  if (bench->failure.failed) fail_msg("%s", bench->failure.message);
}

/* The query's value; for domains without a context. */
static inline void bench_tell(Bench *bench, double y)
{
  RG_OK(rg_history_append(&bench->history, bench->x, bench->query.index, NULL, -1, y));
}

static inline void bench_end(Bench *bench)
{
  if (bench->algorithm.class) RG_OK(rg_algorithm_destroy(&bench->algorithm));
  if (bench->history.capacity) RG_OK(rg_history_destroy(&bench->history));
  RG_OK(rg_params_clear(bench->class->params, bench->options));
  RG_OK(rg_params_clear(rg_surrogate_params, &bench->surrogate));
  RG_OK(PetscFree(bench->options));
  RG_OK(rg_domain_destroy(&bench->domain));
  if (bench->instance.problem.class) instance_free(&bench->instance);
}

#endif
