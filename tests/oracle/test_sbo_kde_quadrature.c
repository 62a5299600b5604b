/* SBO-KDE with the average over contexts by a deterministic rule, against the paper's average of
   M = 1024 draws: along 100 queries on Ackley 2+1 both choose the same points, up to what the
   draws leave open. */
#include "acquisition/context_ucb.h"
#include "algorithm/kde_contexts.h"
#include "gp/model/model.h"
#include "test_main.h"

enum { INITIAL = 10, QUERIES = 100, DIM = 2 };
enum { ACQUISITION, ERROR, EXTRAS = 8 };

typedef struct {
  RgKdeOptions *options; /* of the class */
  RgAlgorithm algorithm;
  double x[DIM], extra[EXTRAS];
  RgQuery query;
} Method;

static const RgAlgorithmClass *sbo_kde(void)
{
  return rg_algorithm_class_find("sbo_kde");
}

static double ackley(const double *x, double c)
{
  const double z[3] = {10 * x[0] - 5, 10 * x[1] - 5, 10 * c - 5};
  double squares = 0, cosines = 0;

  for (int k = 0; k < 3; ++k) {
    squares += z[k] * z[k] / 3;
    cosines += cos(2 * PETSC_PI * z[k]) / 3;
  }
  return 20 * exp(-0.2 * sqrt(squares)) + exp(cosines) - 20 - exp(1.0);
}

static void method_begin(Method *method, const RgSetup *setup, int expectation)
{
  RG_OK(PetscCalloc(sbo_kde()->options_size, (void **)&method->options));
  RG_OK(rg_params_defaults(sbo_kde()->params, method->options));
  method->options->expectation = expectation;
  method->query = (RgQuery){.x = method->x, .extra = method->extra};
  RG_OK(rg_algorithm_create(sbo_kde(), method->options, setup, &method->algorithm));
}

static void method_end(Method *method)
{
  RG_OK(rg_algorithm_destroy(&method->algorithm));
  RG_OK(rg_params_clear(sbo_kde()->params, method->options));
  RG_OK(PetscFree(method->options));
}

static void ask(Method *method, int t, const RgHistory *history)
{
  RgFailure failure = {0};

  RG_OK(rg_model_update(sbo_kde()->model(&method->algorithm), history, &failure));
  RG_OK(sbo_kde()->ask(&method->algorithm, t, history, &method->query, &failure));
  assert_false(failure.failed);
}

/* The average by the rule, at x. */
static double average_at(Method *rule, int t, const RgHistory *history, const double *x)
{
  RgKdeContexts contexts;
  RgFailure failure = {0};
  RgContextUcb ucb;
  double value;

  RG_OK(
    rg_kde_contexts_create(&rule->algorithm, rule->options, t, history, 0, &contexts, &failure));
  RgContextWeights weights = {contexts.n, contexts.weight};
  const RgContextual average = {contexts.n, 0, contexts.c, rg_ucb_expectation, &weights, NULL};
  RG_OK(rg_context_ucb_create(sbo_kde()->model(&rule->algorithm), rule->options->common.width,
                              &average, RG_CONTEXT_EXACT, 500, &ucb));
  RG_OK(rg_context_ucb_function(&ucb, 1, x, &value, NULL));
  RG_OK(rg_context_ucb_destroy(&ucb));
  RG_OK(rg_kde_contexts_destroy(&contexts));
  return value;
}

static void append(RgHistory *history, RgRandom *random, const double *x)
{
  const double c = PetscMin(PetscMax(0.5 + 0.2 * rg_random_normal(random), 0), 1);

  RG_OK(rg_history_append(history, x, -1, &c, -1, ackley(x, c)));
}

RG_TEST(the_same_points)
{
  const double lower[DIM] = {0}, upper[DIM] = {1, 1};
  RgDomain domain = {.control = RG_CONTEXT_NATURE};
  RgSurrogateOptions surrogate = {0};
  RgMaximiserOptions maximiser = {0};
  RgHistory history = {0};
  Method rule = {0}, draws = {0};
  const RgStream stream = rg_stream(1, "test", 0, "contexts", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  double lost = 0, allowed = 0;

  RG_OK(rg_space_box(&domain.design, DIM, lower, upper));
  RG_OK(rg_space_box(&domain.context, 1, lower, upper));
  RG_OK(rg_params_defaults(rg_surrogate_params, &surrogate));
  RG_OK(rg_params_defaults(rg_maximiser_params, &maximiser));
  surrogate.kernel = RG_KERNEL_GAUSSIAN;
  maximiser.raw_samples = 256;
  maximiser.restarts = 8;
  RgSetup setup = {.domain = &domain,
                   .surrogate = &surrogate,
                   .maximiser = &maximiser,
                   .noise_variance = NAN,
                   .n_initial = INITIAL,
                   .n_iterations = QUERIES,
                   .stream = rg_stream(1, "test", 0, "sbo_kde", 1)};
  RG_OK(rg_history_create(&domain, INITIAL + QUERIES, &history));
  method_begin(&rule, &setup, RG_KDE_QUADRATURE);
  method_begin(&draws, &setup, RG_KDE_SAMPLE);
  for (int i = 0; i < INITIAL; ++i) {
    double x[DIM] = {rg_random_uniform(&random), rg_random_uniform(&random)};
    append(&history, &random, x);
  }
  for (int t = 1; t <= QUERIES; ++t) {
    ask(&rule, t, &history);
    ask(&draws, t, &history);
    const double best = average_at(&rule, t, &history, rule.x);
    const double loss = best - average_at(&rule, t, &history, draws.x);
    RG_CLOSE(best, rule.extra[ACQUISITION], 1e-9);
    /* The rule's own error is smaller, so that where they differ the rule is right. */
    assert_true(rule.extra[ERROR] < 0.5 * draws.extra[ERROR]);
    assert_true(loss < draws.extra[ERROR]);
    lost += loss;
    allowed += draws.extra[ERROR];
    append(&history, &random, rule.x);
  }
  assert_true(lost < 0.1 * allowed);
  print_message("mean loss of the point chosen by draws: %g of their standard error\n",
                lost / allowed);
  method_end(&rule);
  method_end(&draws);
  RG_OK(rg_history_destroy(&history));
  RG_OK(rg_domain_destroy(&domain));
  RG_OK(rg_params_clear(rg_surrogate_params, &surrogate));
}
