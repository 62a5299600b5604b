/* Expected improvement per cost, against an independent program in NumPy. */
#include "parallel_bench.h"

enum { ACQUISITION = 1, COST, WEIGHT };

typedef struct {
  const char *cost, *alpha; /* a formula, or "auto" */
  int index;                /* index of the query on the grid */
  double acquisition, expected;
} Case;

/* The data of the bench took these times. */
static void open_timed(Parallel *p, const char *name, bool grid, const ParallelSetting *settings,
                       const double *times)
{
  parallel_open(p, name, grid, 1, settings, NULL);
  for (int i = 0; times && i < 3; i++)
    p->bench.history.timings[i] = (RgTiming){i + 1, 10 * i, 10 * i + times[i]};
}

static void compare(const Case *c, const double *times)
{
  const ParallelSetting settings[] = {{"cost", c->cost}, {"alpha", c->alpha}, {0}};
  RG_OWNED(parallel_close) Parallel p;

  open_timed(&p, "ei_per_cost", true, settings, times);
  parallel_ask(&p, 1);
  if (p.bench.query.index != c->index)
    fail_msg("%s^%s: point %d, expected %d", c->cost, c->alpha, p.bench.query.index, c->index);
  RG_CLOSE(p.bench.query.extra[ACQUISITION], c->acquisition, 1e-9);
  RG_CLOSE(p.bench.query.extra[COST], c->expected, 1e-9);
  RG_CLOSE(p.bench.query.extra[WEIGHT], atof(c->alpha), 1e-15);
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

/* On the interval: the maxima of a fine grid, which moves by its own step. Few raw points: the search needs the
   gradient, to which the costs contribute. `column` has the value at the query. */
static void check_box(const char *name, const ParallelSetting *settings, const double *times,
                      double x, int column, double value)
{
  RG_OWNED(parallel_close) Parallel p;

  open_timed(&p, name, false, settings, times);
  p.bench.maximiser.raw_samples = 8;
  p.bench.maximiser.restarts = 2;
  p.bench.maximiser.perturbations = 0;
  parallel_ask(&p, 1);
  RG_CLOSE(p.bench.query.x[0], x, 1e-4);
  RG_CLOSE(p.bench.query.extra[column], value, 1e-8);
}

RG_TEST(costs_on_a_box)
{
  static const double times[] = {0.2, 8, 2};
  static const ParallelSetting learned[] = {{"cost", "auto"}, {0}},
                               known[] = {{"cost", "0.2 + x1^2"}, {0}},
                               price[] = {{"cost", "auto"}, {"lambda", "0.1"}, {0}},
                               both[] = {{"cost", "0.2 + x1^2"}, {"lambda", "0.1"}, {0}};

  check_box("ei_per_cost", learned, times, 0.25151, ACQUISITION, -2.465570230);
  check_box("ei_per_cost", known, times, 0.32167, ACQUISITION, -0.839175241);
  check_box("gittins", price, times, 0.24843, ACQUISITION, 0.9519730999958);
  check_box("gittins", both, times, 0.307705, ACQUISITION, 1.3923093524960737);
}

/* Without a duration it is EI; evaluations that took no time say nothing. */
RG_TEST(no_cost_yet)
{
  static const double none[] = {0, 0, 0};
  Parallel p;

  for (int k = 0; k < 2; k++) {
    open_timed(&p, "ei_per_cost", true, NULL, k ? none : NULL);
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
  RG_OWNED(parallel_close) Parallel p;

  open_timed(&p, "ei_per_cost", true, settings, NULL);
  parallel_ask(&p, 11); /* query 11 of 50 */
  RG_CLOSE(p.bench.query.extra[WEIGHT], 2 * 0.8, 1e-15);
  p.bench.algorithm.setup.time = 40;
  p.bench.history.pending = (RgPending){.now = 30};
  parallel_ask(&p, 12);
  RG_CLOSE(p.bench.query.extra[WEIGHT], 2 * 0.25, 1e-15);
  p.bench.history.pending = (RgPending){.now = 41};
  parallel_ask(&p, 13);
  RG_CLOSE(p.bench.query.extra[WEIGHT], 0, 1e-15);
}

/* A formula that is not positive at a design has no logarithm: the trial fails and says where. */
RG_TEST(cost_without_logarithm)
{
  static const struct {
    const char *name;
    bool grid;
    const char *cost, *message;
  } cases[] = {{"ei_per_cost", false, "0.3 - x1", "the formula of the cost is "},
               {"ei_per_cost", true, "0.3 - x1", "the formula of the cost is "},
               {"ei_per_cost", true, "x1", "is 0 at x1 = 0;"},
               {"gittins", true, "x1", "is 0 at x1 = 0;"}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const ParallelSetting settings[] = {{"cost", cases[k].cost}, {0}};
    RG_OWNED(parallel_close) Parallel p;
    Bench *bench = &p.bench;
    parallel_open(&p, cases[k].name, cases[k].grid, 1, settings, NULL);
    RG_OK(rg_algorithm_ask(&bench->algorithm, 1, &bench->history, &bench->query, &bench->failure));
    assert_true(bench->failure.failed);
    assert_non_null(strstr(bench->failure.message, cases[k].message));
    assert_non_null(strstr(bench->failure.message, "; a cost is positive and finite"));
  }
}

/* ---- the Gittins index ----------------------------------------------------------------------- */

typedef struct {
  const char *cost, *lambda;
  int index;
  double value, expected; /* the index, and the cost there */
  int stop;               /* the best observation is 1 */
} GittinsCase;

static void compare_gittins(const GittinsCase *c, const double *times)
{
  enum { INCUMBENT, INDEX, EXPECTED, LAMBDA, STOP };
  const ParallelSetting settings[] = {{"cost", c->cost}, {"lambda", c->lambda}, {0}};
  RG_OWNED(parallel_close) Parallel p;

  open_timed(&p, "gittins", true, settings, times);
  parallel_ask(&p, 1);
  const double *extra = p.bench.query.extra;
  if (p.bench.query.index != c->index)
    fail_msg("%s, %s: point %d, expected %d", c->cost, c->lambda, p.bench.query.index, c->index);
  RG_CLOSE(extra[INCUMBENT], 1, 1e-15);
  RG_CLOSE(extra[INDEX], c->value, 1e-12);
  RG_CLOSE(extra[EXPECTED], c->expected, 1e-10);
  RG_CLOSE(extra[LAMBDA], atof(c->lambda), 1e-15);
  RG_CLOSE(extra[STOP], c->stop, 0);
}

/* By a program in NumPy, which finds the index by bisection on the expected improvement. */
RG_TEST(gittins_index)
{
  static const double times[] = {0.2, 8, 2}, other[] = {0.5, 8, 0.25};
  static const GittinsCase given[] = {
    {"0.2 + x1^2", "0.1", 6, 1.3902762469786332, 0.29, 0},
    {"0.2 + x1^2", "1", 7, 0.6902558172107558, 0.3225, 1},
    {"exp(3 * x1)", "0.01", 6, 1.4280887770742234, 2.4596031111569494, 0},
    {"exp(-3 * x1)", "0.5", 7, 0.9143822626672424, 0.3499377491111554, 1},
    {"0.2 + x1^2", "0.0001", 6, 2.4862841319064435, 0.29, 0},
    {"0.2 + x1^2", "30", 0, -5.858650363346786, 0.2, 1},
    {"auto", "0.1", 7, 1.0765204423302195, 1, 0},
    {"auto", "0.0001", 6, 2.3340926213951105, 1, 0}};
  static const GittinsCase learned[] = {
    {"auto", "0.1", 5, 0.951880699093169, 0.9082006619522235, 1},
    {"auto", "0.01", 5, 1.5013526144531912, 0.9082006619522235, 0}};
  static const GittinsCase last = {"auto", "0.01", 20, 1.4250519477890093, 0.324523775290445, 0};

  for (size_t k = 0; k < sizeof given / sizeof *given; k++) compare_gittins(&given[k], NULL);
  for (int k = 0; k < 2; k++) compare_gittins(&learned[k], times);
  compare_gittins(&last, other);
}

/* lambda falls by the factor at the query after one at which no improvement paid its cost. */
RG_TEST(gittins_price_falls)
{
  enum { LAMBDA = 3, STOP };
  static const ParallelSetting settings[] = {{"lambda", "4"}, {"decay", "2"}, {0}};
  RG_OWNED(parallel_close) Parallel p;
  double lambda = 4;
  int falls = 0;

  open_timed(&p, "gittins", true, settings, NULL);
  for (int t = 1; t <= 12; t++) {
    p.bench.history.pending = (RgPending){0};
    parallel_ask(&p, t);
    RG_CLOSE(p.bench.query.extra[LAMBDA], lambda, 1e-15);
    if (p.bench.query.extra[STOP] > 0) lambda /= 2, falls++;
  }
  assert_in_range(falls, 2, 10);
}
