/* A race on Ackley 2+1 whose context nature draws, for tests that ask methods query by query. */
#ifndef RG_TESTS_ORACLE_CONTEXT_RACE_H
#define RG_TESTS_ORACLE_CONTEXT_RACE_H

#include "gp/model/model.h"
#include "regatta/algorithm.h"
#include "test_problem.h"

enum { INITIAL = 10, DIM = 2, EXTRAS = 8 };

typedef struct {
  RgDomain domain;
  RgSurrogateOptions surrogate;
  RgMaximiserOptions maximiser;
  RgHistory history;
  RgSetup setup;
  RgRandom random; /* random numbers of the first designs and the contexts */
} Race;

typedef struct {
  const RgAlgorithmClass *class;
  void *options; /* options of the class */
  RgAlgorithm algorithm;
  double x[DIM], extra[EXTRAS];
  RgQuery query;
} Method;

static inline void method_begin(Method *method, const char *name, const char *option,
                                const char *value, const RgSetup *setup)
{
  method->class = rg_registry_find_algorithm(NULL, name);
  RG_OK(PetscCalloc(method->class->options_size, &method->options));
  RG_OK(rg_params_defaults(method->class->params, method->options));
  set_in(method->class->params, method->options, option, value);
  method->query = (RgQuery){.x = method->x, .extra = method->extra};
  RG_OK(rg_algorithm_create(method->class, method->options, setup, &method->algorithm));
}

static inline void method_end(Method *method)
{
  if (!method->class) return;
  RG_OK(rg_algorithm_destroy(&method->algorithm));
  RG_OK(rg_params_clear(method->class->params, method->options));
  RG_OK(PetscFree(method->options));
}

static inline void method_update(Method *method, const RgHistory *history)
{
  RgFailure failure = {0};

  RG_OK(rg_model_update(method->class->model(&method->algorithm), history, &failure));
  assert_false(failure.failed);
}

static inline void method_ask(Method *method, int t, const RgHistory *history)
{
  RgFailure failure = {0};

  RG_OK(method->class->ask(&method->algorithm, t, history, &method->query, &failure));
  assert_false(failure.failed);
}

static inline double ackley(const double *x, double c)
{
  const double z[3] = {10 * x[0] - 5, 10 * x[1] - 5, 10 * c - 5};
  double squares = 0, cosines = 0;

  for (int k = 0; k < 3; k++) {
    squares += z[k] * z[k] / 3;
    cosines += cos(2 * PETSC_PI * z[k]) / 3;
  }
  return 20 * exp(-0.2 * sqrt(squares)) + exp(cosines) - 20 - exp(1.0);
}

/* Evaluates at x and a context drawn by nature. */
static inline void race_evaluate(Race *race, const double *x)
{
  const double c = PetscMin(PetscMax(0.5 + 0.2 * rg_random_normal(&race->random), 0), 1);

  RG_OK(rg_history_append(&race->history, x, -1, &c, -1, ackley(x, c)));
}

/* From an empty history to its first designs. */
static inline void race_begin(Race *race)
{
  const RgStream stream = rg_stream(1, "test", 0, "contexts", 1);

  race->random = rg_stream_at(&stream, 0);
  race->history.n = 0;
  for (int i = 0; i < INITIAL; i++) {
    double x[DIM] = {rg_random_uniform(&race->random), rg_random_uniform(&race->random)};
    race_evaluate(race, x);
  }
}

static inline void race_create(Race *race, const char *stream, int queries)
{
  const double lower[DIM] = {0}, upper[DIM] = {1, 1};

  *race = (Race){.domain = {.control = RG_CONTEXT_NATURE}};
  RG_OK(rg_space_box(&race->domain.design, DIM, lower, upper));
  RG_OK(rg_space_box(&race->domain.context, 1, lower, upper));
  RG_OK(rg_params_defaults(rg_surrogate_params, &race->surrogate));
  RG_OK(rg_params_defaults(rg_maximiser_params, &race->maximiser));
  race->setup = (RgSetup){.domain = &race->domain,
                          .surrogate = &race->surrogate,
                          .maximiser = &race->maximiser,
                          .noise_variance = NAN,
                          .n_initial = INITIAL,
                          .n_iterations = queries,
                          .stream = rg_stream(1, "test", 0, stream, 1)};
  RG_OK(rg_history_create(&race->domain, INITIAL + queries, &race->history));
}

static inline void race_destroy(Race *race)
{
  RG_OK(rg_history_destroy(&race->history));
  RG_OK(rg_domain_destroy(&race->domain));
  RG_OK(rg_params_clear(rg_surrogate_params, &race->surrogate));
}

#endif
