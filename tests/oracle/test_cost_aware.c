/* Expected improvement per cost, against an independent program in NumPy. */
#include "parallel_bench.h"

enum { ACQUISITION = 1, COST, WEIGHT };

typedef struct {
  const char *cost, *alpha; /* a formula, or "auto" */
  int index;                /* index of the query on the grid */
  double acquisition, expected;
} Case;

/* The data of the bench took these times. */
static void open_timed(Parallel *p, bool grid, const ParallelSetting *settings, const double *times)
{
  parallel_open(p, "ei_per_cost", grid, 1, settings, NULL);
  for (int i = 0; times && i < 3; i++)
    p->bench.history.timings[i] = (RgTiming){i + 1, 10 * i, 10 * i + times[i]};
}

static void compare(const Case *c, const double *times)
{
  const ParallelSetting settings[] = {{"cost", c->cost}, {"alpha", c->alpha}, {0}};
  Parallel p;

  open_timed(&p, true, settings, times);
  parallel_ask(&p, 1);
  if (p.bench.query.index != c->index)
    fail_msg("%s^%s: point %d, expected %d", c->cost, c->alpha, p.bench.query.index, c->index);
  RG_CLOSE(p.bench.query.extra[ACQUISITION], c->acquisition, 1e-9);
  RG_CLOSE(p.bench.query.extra[COST], c->expected, 1e-9);
  RG_CLOSE(p.bench.query.extra[WEIGHT], atof(c->alpha), 1e-15);
  parallel_close(&p);
}

RG_TEST(known_cost)
{
  static const Case cases[] = {{"0.2 + x1^2", "1", 6, -0.8708365859, 0.29},
                               {"0.2 + x1^2", "0.5", 7, -1.4593676320, 0.3225},
                               {"exp(3 * x1)", "1", 6, -3.0087109419, 2.4596031112},
                               {"exp(-3 * x1)", "2", 20, 1.7085310926, 0.0497870684}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) compare(&cases[k], NULL);
}

RG_TEST(learned_cost)
{
  static const double times[] = {0.2, 8, 2}, other[] = {0.5, 8, 0.25};
  static const Case cases[] = {{"auto", "1", 5, -2.4658668449, 0.9082006620},
                               {"auto", "0.5", 6, -2.4036904434, 1.8039144589}};
  static const Case last = {"auto", "1", 20, -3.1660724293, 0.3245237753};

  for (int k = 0; k < 2; k++) compare(&cases[k], times);
  compare(&last, other);
}

/* On the interval: the maxima of a fine grid, which moves by its own step. */
RG_TEST(cost_on_a_box)
{
  static const double times[] = {0.2, 8, 2};
  static const struct {
    const char *cost;
    double x, acquisition;
  } cases[] = {{"auto", 0.25151, -2.465570230}, {"0.2 + x1^2", 0.32167, -0.839175241}};

  for (int k = 0; k < 2; k++) {
    const ParallelSetting settings[] = {{"cost", cases[k].cost}, {0}};
    Parallel p;
    open_timed(&p, false, settings, times);
    p.bench.maximiser.raw_samples = 8; /* the search needs the gradient */
    p.bench.maximiser.restarts = 2;
    p.bench.maximiser.perturbations = 0;
    parallel_ask(&p, 1);
    RG_CLOSE(p.bench.query.x[0], cases[k].x, 1e-4);
    RG_CLOSE(p.bench.query.extra[ACQUISITION], cases[k].acquisition, 1e-8);
    parallel_close(&p);
  }
}

/* Without a duration it is EI; evaluations that took no time say nothing. */
RG_TEST(no_cost_yet)
{
  static const double none[] = {0, 0, 0};
  Parallel p;

  for (int k = 0; k < 2; k++) {
    open_timed(&p, true, NULL, k ? none : NULL);
    parallel_ask(&p, 1);
    assert_int_equal(p.bench.query.index, 7);
    RG_CLOSE(p.bench.query.extra[ACQUISITION], -2.025193703387772, 1e-10);
    assert_true(isnan(p.bench.query.extra[COST]));
    parallel_close(&p);
  }
}

/* The weight falls with the queries, or with the time that is left where the study has a limit. */
RG_TEST(cooled_weight)
{
  static const ParallelSetting settings[] = {{"cooled", "true"}, {"alpha", "2"}, {0}};
  Parallel p;

  open_timed(&p, true, settings, NULL);
  parallel_ask(&p, 11); /* query 11 of 50 */
  RG_CLOSE(p.bench.query.extra[WEIGHT], 2 * 0.8, 1e-15);
  p.bench.algorithm.setup.time = 40;
  p.bench.history.pending = (RgPending){.now = 30};
  parallel_ask(&p, 12);
  RG_CLOSE(p.bench.query.extra[WEIGHT], 2 * 0.25, 1e-15);
  p.bench.history.pending = (RgPending){.now = 41};
  parallel_ask(&p, 13);
  RG_CLOSE(p.bench.query.extra[WEIGHT], 0, 1e-15);
  parallel_close(&p);
}

/* A formula that is not positive at a design has no logarithm: the trial fails and says where. */
RG_TEST(cost_without_logarithm)
{
  static const struct {
    const char *cost, *message;
  } cases[] = {{"0.3 - x1", "the formula of the cost is "}, {"x1", "is 0 at x1 = 0;"}};
  Parallel p;

  for (int grid = 0; grid < 2; grid++)
    for (int k = 0; k <= grid; k++) {
      const ParallelSetting settings[] = {{"cost", cases[k].cost}, {0}};
      Bench *bench = &p.bench;
      parallel_open(&p, "ei_per_cost", grid, 1, settings, NULL);
      RG_OK(
        rg_algorithm_ask(&bench->algorithm, 1, &bench->history, &bench->query, &bench->failure));
      assert_true(bench->failure.failed);
      assert_non_null(strstr(bench->failure.message, cases[k].message));
      assert_non_null(strstr(bench->failure.message, "; a cost is positive and finite"));
      parallel_close(&p);
    }
}
