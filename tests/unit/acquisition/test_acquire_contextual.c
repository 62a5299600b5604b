/* Searches that begin with a cheaper version of an acquisition function end where the plain search
   ends. */
#include "acquisition/context_ucb.h"
#include "gp/model/model.h"
#include "test_main.h"

#include <math.h>

enum { N = 40, M = 300, FEW = 64, DX = 2 };

static double f(const double *z)
{
  return sin(6.0 * z[0]) + cos(5.0 * z[1] + 3.0 * z[2]) - (z[0] - z[2]) * (z[0] - z[2]);
}

typedef struct {
  RgDomain domain;
  RgKernel kernel;
  RgModel model;
  RgHistory history;
  double contexts[M];
} Case;

static RgRandom random_at(uint64_t t)
{
  const RgStream stream = rg_stream(1, "test", 0, "acquire_contextual", 0);

  return rg_stream_at(&stream, t);
}

static void begin(RgKernelFamily family, double (*y_of)(const double *), Case *it)
{
  const double scales[DX + 1] = {0.3, 0.3, 0.4};
  double Z[N * (DX + 1)], y[N];
  RgRandom random = random_at(0);
  RgFailure failure = {0};

  *it = (Case){.domain.design.dim = DX, .domain.context.dim = 1, .history.dim = DX};
  for (int i = 0; i < N * (DX + 1); i++) Z[i] = rg_random_uniform(&random);
  for (int i = 0; i < N; i++) y[i] = y_of(Z + i * (DX + 1));
  for (int m = 0; m < M; m++) it->contexts[m] = 0.5 + 0.2 * rg_random_normal(&random);
  RG_OK(rg_kernel_create(family, DX + 1, true, scales, 1.0, &it->kernel));
  it->model.domain = &it->domain;
  RG_OK(rg_posterior_create(&it->kernel, 1e-4, 0.0, N, &it->model.posterior));
  RG_OK(rg_posterior_set(&it->model.posterior, NULL, 1e-4, 0.0, N, Z, y, &failure));
  assert_false(failure.failed);
}

static void end(Case *it)
{
  RG_OK(rg_posterior_destroy(&it->model.posterior));
  RG_OK(rg_kernel_destroy(&it->kernel));
}

static const RgContextualOptions ucb_options = {.width = 1.5, .nodes = -1};

static const RgMaximiserOptions thorough = {
  .raw_samples = 256, .restarts = 20, .max_iterations = 100, .tolerance = 1e-9};

/* Best value of a search with random numbers at t, and the design (NULL: not wanted). */
static double search_at(Case *it, const RgMaximiserOptions *options, const RgContextualOptions *how,
                        const RgContextual *exact, const RgContextual *few, RgRandom random,
                        double *best_x)
{
  const RgSearch search = {.options = options, .history = &it->history, .random = &random};
  RgFailure failure = {0};
  double x[DX], value;
  RgQuery query = {.x = best_x ? best_x : x};

  RG_OK(rg_acquire_contextual(&it->model, how, exact, few, &search, &query, &value, &failure));
  assert_false(failure.failed);
  for (int j = 0; j < DX; j++) assert_true(query.x[j] >= 0.0 && query.x[j] <= 1.0);
  return value;
}

static double search(Case *it, const RgContextualOptions *how, const RgContextual *exact,
                     const RgContextual *few)
{
  return search_at(it, &thorough, how, exact, few, random_at(1), NULL);
}

/* Uses `few`; with M of them it is the plain search. */
static double best(Case *it, RgContextCriterion criterion, void *all, void *some, int few)
{
  const RgContextual exact = {M, 0, it->contexts, criterion, all, NULL};
  const RgContextual cheap = {few, 0, it->contexts, criterion, some, NULL};

  return search(it, &ucb_options, &exact, &cheap);
}

RG_TEST(ends_where_the_plain_search_ends)
{
  const RgKernelFamily families[] = {RG_KERNEL_GAUSSIAN, RG_KERNEL_MATERN52};
  RgContextWeights all = {M, NULL, NULL}, some = {FEW, NULL, NULL};
  int n_all = M, n_some = FEW;

  for (int k = 0; k < 2; k++) {
    Case it;
    begin(families[k], f, &it);
    RG_CLOSE(best(&it, rg_ucb_expectation, &all, &some, FEW),
             best(&it, rg_ucb_expectation, &all, &all, M), 1e-7);
    RG_CLOSE(best(&it, rg_ucb_minimum, &n_all, &n_some, FEW),
             best(&it, rg_ucb_minimum, &n_all, &n_all, M), 1e-3);
    end(&it);
  }
}

/* The value uses all contexts, whatever the search began with. */
RG_TEST(value_is_exact)
{
  RgContextWeights all = {M, NULL, NULL}, some = {1, NULL, NULL};
  Case it;
  RgContextUcb ucb;
  const RgMaximiserOptions options = {.raw_samples = 64, .restarts = 5, .max_iterations = 0};
  double x[DX], again;

  begin(RG_KERNEL_MATERN52, f, &it);
  const RgContextual exact = {M, 0, it.contexts, rg_ucb_expectation, &all, NULL};
  const RgContextual cheap = {1, 0, it.contexts, rg_ucb_expectation, &some, NULL};
  const double value = search_at(&it, &options, &ucb_options, &exact, &cheap, random_at(1), x);
  RG_OK(rg_context_ucb_create(&it.model, 1.5, &exact, RG_CONTEXT_PAIRS, 1, &ucb));
  RG_OK(rg_context_ucb_function(&ucb, 1, x, &again, NULL));
  RG_CLOSE(value, again, 1e-12);
  RG_OK(rg_context_ucb_destroy(&ucb));
  end(&it);
}

/* Designs of one batch: the odd ones count as 0. */
static void odd_ones_are_nothing(void *closure, int m, int dim, double *value, double *gradient)
{
  for (int i = 1; i < m; i += 2) {
    value[i] = 0.0;
    for (int k = 0; gradient && k < dim; k++) gradient[i * dim + k] = 0.0;
  }
}

RG_TEST(a_batch_is_settled_as_one)
{
  enum { BATCH = RG_CONTEXT_BATCH + 3 };
  RgContextWeights all = {M, NULL, NULL};
  RgContextUcb ucb;
  Case it;
  double X[BATCH * DX], value[BATCH], gradient[BATCH * DX];

  begin(RG_KERNEL_GAUSSIAN, f, &it);
  for (int i = 0; i < BATCH * DX; i++) X[i] = (i % 7) / 7.0;
  const RgContextual what = {M, 0, it.contexts, rg_ucb_expectation, &all, odd_ones_are_nothing};
  RG_OK(rg_context_ucb_create(&it.model, 1.5, &what, RG_CONTEXT_EXACT, BATCH, &ucb));
  RG_OK(rg_context_ucb_function(&ucb, BATCH, X, value, gradient));
  for (int i = 0; i < BATCH; i++) {
    assert_true((value[i] == 0.0) == (i % 2 == 1));
    assert_true((gradient[i * DX] == 0.0) == (i % 2 == 1));
  }
  RG_OK(rg_context_ucb_destroy(&ucb));
  end(&it);
}

static void one_more(void *closure, int m, int dim, double *value, double *gradient)
{
  for (int i = 0; i < m; i++) value[i] += 1.0;
}

/* All contexts, unless a number of nodes is given; then the same to 1e-4. */
RG_TEST(a_settled_search_takes_the_nodes_it_is_given)
{
  const RgKernelFamily families[] = {RG_KERNEL_GAUSSIAN, RG_KERNEL_MATERN52};
  RgContextWeights all = {M, NULL, NULL}, some = {FEW, NULL, NULL};

  for (int k = 0; k < 2; k++) {
    Case it;
    begin(families[k], f, &it);
    const RgContextual what = {M, 0, it.contexts, rg_ucb_expectation, &all, one_more};
    const RgContextual few = {FEW, 0, it.contexts, rg_ucb_expectation, &some, NULL};
    const double whole = search(&it, &(RgContextualOptions){.width = 1.5}, &what, &few);
    assert_true(search(&it, &ucb_options, &what, &few) == whole);
    assert_true(search(&it, &ucb_options, &what, NULL) == whole);
    const double by_nodes =
      search(&it, &(RgContextualOptions){.width = 1.5, .nodes = 128}, &what, &few);
    assert_true(by_nodes != whole);
    RG_CLOSE(by_nodes, whole, 1e-4);
    RG_CLOSE(whole, 1.0 + best(&it, rg_ucb_expectation, &all, &some, FEW), 1e-7);
    end(&it);
  }
}

/* How much higher the function is around x: grids that shrink about their best points. */
static double gain_around(RgContextUcb *ucb, const double *from, double value)
{
  enum { HALF = 10 };
  double x[DX] = {from[0], from[1]}, best = value;

  for (double step = 1e-3; step > 1e-8; step /= 3) {
    const double centre[DX] = {x[0], x[1]};
    for (int i = -HALF; i <= HALF; i++)
      for (int j = -HALF; j <= HALF; j++) {
        const double to[DX] = {centre[0] + i * step, centre[1] + j * step};
        double found;
        RG_OK(rg_context_ucb_function(ucb, 1, to, &found, NULL));
        if (!(found > best)) continue;
        best = found;
        memcpy(x, to, sizeof x);
      }
  }
  return best - value;
}

/* The best design lies between contexts that ask for others. */
static double torn(const double *z)
{
  return -6 * pow(z[0] - 0.3 - 0.4 * z[2], 2) - 9 * pow(z[1] - 0.8 + 0.6 * z[2], 2);
}

/* The least U has kinks, along which quasi-Newton climbs stop too early. */
RG_TEST(climbs_on_all_contexts_follow_kinks)
{
  const RgContextualOptions how = {.width = 0.1, .nodes = 0};
  int n = M;

  for (int k = 0; k < 3; k++) {
    RgRandom random = random_at(6 + k);
    RgContextUcb ucb;
    Case it;
    double x[DX];
    begin(k == 1 ? RG_KERNEL_GAUSSIAN : RG_KERNEL_MATERN52, torn, &it);
    for (int m = 0; m < M; m++) it.contexts[m] = rg_random_uniform(&random);
    const RgContextual least = {M, 0, it.contexts, rg_ucb_minimum, &n, NULL};
    const double value = search_at(&it, &thorough, &how, &least, &least, random, x);
    RG_OK(rg_context_ucb_create(&it.model, 0.1, &least, RG_CONTEXT_PAIRS, 1, &ucb));
    assert_true(gain_around(&ucb, x, value) < 1e-6);
    RG_OK(rg_context_ucb_destroy(&ucb));
    end(&it);
  }
}
