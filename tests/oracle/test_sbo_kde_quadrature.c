/* SBO-KDE with a deterministic rule for the average over contexts, against the paper's average
   of M = 1024 draws. Along 100 queries on Ackley 2+1 both choose the same points, up to the
   error of the draws. */
#include "acquisition/context_ucb.h"
#include "algorithm/kde_contexts.h"
#include "oracle/context_race.h"

enum { QUERIES = 100 };
enum { ACQUISITION, ERROR };

static void ask(Method *method, int t, const RgHistory *history)
{
  method_update(method, history);
  method_ask(method, t, history);
}

/* The average by the rule, at x. */
static double average_at(Method *rule, int t, const RgHistory *history, const double *x)
{
  const RgKdeOptions *options = rule->options;
  RG_OWNED(rg_kde_contexts_destroy) RgKdeContexts contexts;
  RgFailure failure = {0};
  RG_OWNED(rg_context_ucb_destroy) RgContextUcb ucb;
  double value;

  RG_OK(rg_kde_contexts_create(&rule->algorithm, options, t, history, 0, &contexts, &failure));
  RgContextWeights weights = {contexts.n, contexts.weight, NULL};
  const RgContextual average = {contexts.n, 0, contexts.c, rg_ucb_expectation, &weights, NULL};
  RG_OK(rg_context_ucb_create(rule->class->model(&rule->algorithm), options->common.width, &average,
                              RG_CONTEXT_EXACT, 500, &ucb));
  RG_OK(rg_context_ucb_function(&ucb, 1, x, &value, NULL));
  return value;
}

RG_TEST(the_same_points)
{
  RG_OWNED(race_destroy) Race race;
  const RgHistory *history = &race.history;
  RG_OWNED(method_end) Method rule = {0}, draws = {0};
  double lost = 0, allowed = 0;

  race_create(&race, "sbo_kde", QUERIES);
  race.surrogate.kernel = RG_KERNEL_GAUSSIAN;
  race.maximiser.raw_samples = 256;
  race.maximiser.restarts = 8;
  method_begin(&rule, "sbo_kde", "expectation", "quadrature", &race.setup);
  method_begin(&draws, "sbo_kde", "expectation", "sample", &race.setup);
  race_begin(&race);
  for (int t = 1; t <= QUERIES; t++) {
    ask(&rule, t, history);
    ask(&draws, t, history);
    const double best = average_at(&rule, t, history, rule.x);
    const double loss = best - average_at(&rule, t, history, draws.x);
    RG_CLOSE(best, rule.extra[ACQUISITION], 1e-9);
    /* The rule's own error is smaller. So the rule is right where they differ. */
    assert_true(rule.extra[ERROR] < 0.5 * draws.extra[ERROR]);
    assert_true(loss < draws.extra[ERROR]);
    lost += loss;
    allowed += draws.extra[ERROR];
    race_evaluate(&race, rule.x);
  }
  assert_true(lost < 0.1 * allowed);
  print_message("mean loss of the point chosen by draws: %g of their standard error\n",
                lost / allowed);
}
