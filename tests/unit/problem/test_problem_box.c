/* Families on a box: stated optima, gradients against differences, no point above the optimum. */
#include "problem/embedding.h"
#include "regret/optimum.h"
#include "test_problem.h"

#define MAX_DIM 10

typedef struct {
  const char *name;
  Setting settings[MAX_SETTINGS];
  int dim, n_optimisers;
  bool smooth_at_optimum;
} Case;

static const Case cases[] = {
  {"forrester", {{0}}, 1, 1, true},
  {"branin", {{0}}, 2, 3, true},
  {"goldstein_price", {{0}}, 2, 1, true},
  {"goldstein_price", {{"variant", "standardised"}}, 2, 1, true},
  {"six_hump_camel", {{0}}, 2, 2, true},
  {"six_hump_camel", {{"variant", "wide"}}, 2, 2, true},
  {"holder_table", {{0}}, 2, 4, true},
  {"cross_in_tray", {{0}}, 2, 4, true},
  {"hartmann3", {{0}}, 3, 1, true},
  {"hartmann3", {{"constant", "rounded"}}, 3, 1, true},
  {"hartmann6", {{0}}, 6, 1, true},
  {"ackley", {{0}}, 4, 1, false},
  {"ackley", {{"dim", "1"}, {"lower", "-3"}, {"upper", "5"}}, 1, 1, false},
  {"ackley", {{"dim", "10"}}, 10, 1, false},
  {"rosenbrock", {{0}}, 4, 1, true},
  {"rosenbrock", {{"dim", "2"}, {"lower", "-2.048"}, {"upper", "2.048"}}, 2, 1, true},
  {"rosenbrock", {{"variant", "standardised"}}, 4, 1, true},
  {"sphere", {{0}}, 6, 1, true},
  {"sphere", {{"dim", "3"}}, 3, 1, true},
  {"sphere", {{"variant", "weighted"}}, 6, 1, true},
  {"sphere", {{"variant", "standardised"}}, 6, 1, true},
  {"gardner", {{0}}, 2, 1, false},
  {"eggholder", {{0}}, 2, 1, false},
  {"michalewicz", {{0}}, 5, 1, true},
  {"michalewicz", {{"dim", "10"}, {"steepness", "3"}}, 10, 1, true},
  {"levy", {{0}}, 4, 1, true},
  {"levy", {{"dim", "1"}, {"lower", "-3"}, {"upper", "5"}}, 1, 1, true},
  {"griewank", {{0}}, 4, 1, true},
  {"styblinski_tang", {{"dim", "3"}}, 3, 1, true},
  {"cosine8", {{0}}, 8, 1, true},
  {"currin_exp", {{0}}, 2, 1, true},
  {"park1", {{0}}, 4, 1, false},
  {"park2", {{0}}, 4, 1, false},
  {"branin", {{"copies", "2"}}, 4, 9, true},
  {"park1", {{"copies", "2"}}, 8, 1, false},
  {"levy", {{"embed", "10"}}, 10, 1, true},
  {"branin", {{"embed", "5"}}, 5, 3, true},
  {"branin", {{"copies", "2"}, {"embed", "7"}, {"embed_rotation", "random"}}, 7, 9, true},
  {"hartmann6", {{"embed", "10"}, {"embed_rotation", "random"}}, 10, 1, true},
};

enum { N_CASES = sizeof cases / sizeof *cases };

static Instance open_case(int k)
{
  return instance_make(cases[k].name, cases[k].settings, 7, 0);
}

static RgRandom random_of(int k)
{
  const RgStream stream = rg_stream(1, cases[k].name, (uint64_t)k, "test", 0);

  return rg_stream_at(&stream, 0);
}

static void random_point(const RgSpace *box, RgRandom *random, double *x)
{
  double unit[MAX_DIM];

  rg_random_uniforms(random, (size_t)box->dim, unit);
  rg_space_to_native(box, unit, x);
}

static void gradient_at(RgProblem *problem, const double *x, double *gradient)
{
  const RgPoint point = {.index = -1, .x = x, .context_index = -1};

  RG_OK(problem->class->gradient(problem, &point, gradient));
}

/* Constrained families: the optimum is feasible, no feasible point of a fine grid is above it,
   and the feasible share of the square is as stated. */
RG_TEST(test_constrained_optimum)
{
  enum { N = 601 };
  static const Setting settings[][2] = {{{"simulation", "1"}}, {{"simulation", "2"}}};
  static const double share[] = {0.6652, 0.01766};

  for (int k = 0; k < 2; k++) {
    RG_OWNED(instance_free) Instance it = instance_make("gardner", settings[k], 7, 0);
    RgProblem *p = &it.problem;
    RG_NO_FAILURE(failure);
    int feasible = 0;
    double c;
    RgPoint best = {.index = -1, .x = p->optimisers, .context_index = -1};
    RG_OK(rg_problem_constrain(p, &best, &c, &failure));
    assert_true(c <= 1e-15);
    RG_CLOSE(value_at(p, p->optimisers), p->optimum, 1e-15);
    assert_string_equal(p->domain.constraints[0], "c");
    for (int i = 0; i < N * N; i++) {
      const double x[] = {6.0 * (i % N) / (N - 1), 6.0 * (i / N) / (N - 1)};
      const RgPoint point = {.index = -1, .x = x, .context_index = -1};
      RG_OK(rg_problem_constrain(p, &point, &c, &failure));
      feasible += c <= 0;
      if (c <= 0) assert_true(value_at(p, x) <= p->optimum + 1e-14);
    }
    assert_true(fabs(feasible / (double)(N * N) / share[k] - 1) < 0.02);
  }
}

RG_TEST(test_domain)
{
  for (int k = 0; k < N_CASES; k++) {
    RG_OWNED(instance_free) Instance it = open_case(k);
    const RgDomain *domain = &it.problem.domain;
    assert_int_equal(domain->design.kind, RG_SPACE_BOX);
    assert_int_equal(domain->design.dim, cases[k].dim);
    assert_int_equal(domain->context.dim, 0);
    assert_int_equal(domain->control, RG_CONTEXT_NONE);
  }
}

RG_TEST(test_optimum)
{
  double gradient[MAX_DIM];

  for (int k = 0; k < N_CASES; k++) {
    RG_OWNED(instance_free) Instance it = open_case(k);
    RgProblem *p = &it.problem;
    assert_int_equal(p->n_optimisers, cases[k].n_optimisers);
    for (int i = 0; i < p->n_optimisers; i++) {
      const double *x = p->optimisers + i * cases[k].dim;
      if (fabs(value_at(p, x) - p->optimum) > 1e-10 * fabs(p->optimum))
        fail_msg("%s (case %d): %.17g at optimiser %d", cases[k].name, k, value_at(p, x), i);
      for (int j = 0; j < cases[k].dim; j++) {
        assert_true(x[j] >= p->domain.design.lower[j] && x[j] <= p->domain.design.upper[j]);
        for (int other = 0; other < i; other++)
          if (!memcmp(x, p->optimisers + other * cases[k].dim, sizeof(double) * cases[k].dim))
            fail_msg("%s: optimiser %d repeats %d", cases[k].name, i, other);
      }
      gradient_at(p, x, gradient);
      for (int j = 0; cases[k].smooth_at_optimum && j < cases[k].dim; j++)
        RG_CLOSE(gradient[j], 0, 1e-11 * fmax(1, fabs(p->optimum)));
    }
  }
}

/* 10^5 points of the whole box, and as many close to each optimiser. */
RG_TEST(test_nothing_above_optimum)
{
  enum { BATCH = 1000, ROUNDS = 100 };
  static double x[BATCH * MAX_DIM], f[BATCH];
  static RgPoint points[BATCH];

  for (int k = 0; k < N_CASES; k++) {
    RG_OWNED(instance_free) Instance it = open_case(k);
    RgProblem *p = &it.problem;
    const RgSpace *box = &p->domain.design;
    RgRandom random = random_of(k);
    RG_NO_FAILURE(failure);
    double best = -INFINITY;
    for (int round = 0; round < 2 * ROUNDS; round++) {
      const double *centre = p->optimisers + round % p->n_optimisers * box->dim;
      const double radius = pow(10, -1 - 5 * (round / (2.0 * ROUNDS)));
      for (int i = 0; i < BATCH; i++) {
        double *xi = x + i * box->dim;
        random_point(box, &random, xi);
        for (int j = 0; round >= ROUNDS && j < box->dim; j++) {
          xi[j] = centre[j] + radius * (xi[j] - centre[j]);
          xi[j] = fmin(fmax(xi[j], box->lower[j]), box->upper[j]);
        }
        points[i] = (RgPoint){.index = -1, .x = xi, .context_index = -1};
      }
      RG_OK(rg_problem_evaluate(p, BATCH, points, f, &failure));
      for (int i = 0; i < BATCH; i++) best = fmax(best, f[i]);
    }
    if (!(best <= p->optimum + 1e-13 * fmax(1, fabs(p->optimum))))
      fail_msg("%s (case %d): %.17g found, above the optimum %.17g", cases[k].name, k, best,
               p->optimum);
  }
}

/* Fourth-order differences. A point does not count if they differ from those of half the step:
   it is next to a kink. */
RG_TEST(test_gradient)
{
  enum { POINTS = 300 };
  double x[MAX_DIM], gradient[MAX_DIM], estimate[2];

  for (int k = 0; k < N_CASES; k++) {
    RG_OWNED(instance_free) Instance it = open_case(k);
    const RgSpace *box = &it.problem.domain.design;
    RgRandom random = random_of(k);
    int counted = 0;
    for (int i = 0; i < POINTS; i++) {
      random_point(box, &random, x);
      gradient_at(&it.problem, x, gradient);
      for (int j = 0; j < box->dim; j++) {
        const double at = x[j];
        double largest = 0;
        for (int half = 0; half < 2; half++) {
          const double h = 1e-3 * fmin(1, box->upper[j] - box->lower[j]) / (1 + half);
          double f[4];
          for (int s = 0; s < 4; s++) {
            x[j] = at + h * (s < 2 ? s - 2 : s - 1);
            f[s] = value_at(&it.problem, x);
            largest = fmax(largest, fabs(f[s]));
          }
          estimate[half] = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
        }
        x[j] = at;
        const double scale = fmax(largest, fabs(gradient[j]));
        if (fabs(estimate[1] - estimate[0]) > 1e-6 * scale) continue;
        counted++;
        if (fabs(gradient[j] - estimate[1]) > 1e-6 * scale)
          fail_msg("%s (case %d): gradient[%d] = %.12g, differences give %.12g", cases[k].name, k,
                   j, gradient[j], estimate[1]);
      }
    }
    assert_true(counted > POINTS * box->dim * 9 / 10);
  }
}

RG_TEST(test_optimum_depends_on_box)
{
  static const Setting moved[] = {{"dim", "2"}, {"lower", "0.5"}, {"upper", "2"}, {0}};
  static const Setting shifted[] = {{"lower", "-10"}, {"upper", "40"}, {0}};
  RG_OWNED(instance_free) Instance it = instance_make("sphere", moved, 1, 0);

  assert_int_equal(it.problem.n_optimisers, 0);
  assert_true(isnan(it.problem.optimum));
  instance_free(&it);
  it = instance_make("ackley", shifted, 1, 0);
  assert_int_equal(it.problem.n_optimisers, 1);
  assert_true(it.problem.optimum == 0);
  assert_true(value_at(&it.problem, it.problem.optimisers) == 0);
}

/* The first inputs act, and no other. */
RG_TEST(test_embedded_first)
{
  static const Setting embedded[] = {{"dim", "3"}, {"embed", "9"}, {0}},
                       own[] = {{"dim", "3"}, {0}};
  RG_OWNED(instance_free)
  Instance large = instance_make("levy", embedded, 7, 0), small = instance_make("levy", own, 7, 0);
  RgRandom random = random_of(0);
  double x[9];

  for (int i = 0; i < 100; i++) {
    random_point(&large.problem.domain.design, &random, x);
    assert_true(value_at(&large.problem, x) == value_at(&small.problem, x));
  }
}

/* Every point of the small box is reached, its corners included; the subspace is one per instance,
   and not the first inputs. */
RG_TEST(test_embedded_subspace)
{
  enum { DIM = 25 };
  static const Setting settings[] = {{"embed", "25"}, {"embed_rotation", "random"}, {0}};
  Instance large[2];
  RG_OWNED(instance_free) Instance small = instance_make("hartmann6", NULL, 7, 0);
  RgRandom random = random_of(1);
  double z[6], x[DIM], first = 0;

  for (uint64_t k = 0; k < 2; k++) large[k] = instance_make("hartmann6", settings, 7, k);
  for (int i = 0; i < 200; i++) {
    random_point(&small.problem.domain.design, &random, z);
    for (int j = 0; i % 2 && j < 6; j++) z[j] = z[j] > 0.5;
    for (int k = 0; k < 2; k++) {
      rg_embedding_lift(&large[k].problem, z, x);
      for (int j = 0; j < DIM; j++) assert_true(x[j] >= 0 && x[j] <= 1);
      RG_CLOSE(value_at(&large[k].problem, x), value_at(&small.problem, z), 1e-13);
      if (i == 0 && k == 0) first = x[0];
      if (i == 0 && k == 1) assert_true(fabs(x[0] - first) > 1e-3);
    }
  }
  assert_true(rg_problem_is_random(small.problem.class, large[0].options));
  assert_false(rg_problem_is_random(small.problem.class, small.options));
  for (int k = 0; k < 2; k++) instance_free(&large[k]);
}

/* An optimum that the family does not know is that of the problem in its own inputs. */
RG_TEST(test_embedded_search)
{
  static const Setting embedded[] = {
    {"dim", "2"}, {"lower", "0.5"}, {"upper", "2"}, {"embed", "9"}, {"embed_rotation", "random"},
    {0}};
  RG_OWNED(instance_free) Instance large = instance_make("levy", embedded, 1, 0);
  RG_NO_FAILURE(failure);
  double optimum, x[9];

  large.problem.core->optimum = large.problem.optimum = NAN;
  RG_OK(rg_regret_optimum_at(&large.problem, &optimum, x, &failure));
  assert_true(fabs(optimum) < 1e-12);
  RG_CLOSE(value_at(&large.problem, x), optimum, 1e-12);
}

/* Mistakes that a parameters table can't catch. */
RG_TEST(test_mistakes)
{
  static const struct {
    const char *name;
    Setting settings[MAX_SETTINGS];
    int n;
    const char *part;
  } wrong[] = {
    {"ackley", {{"lower", "2"}, {"upper", "1"}}, 1, "lower = 2 must be less than upper = 1"},
    {"sphere", {{"lower", "7"}}, 1, "lower = 7 must be less than upper = 5.12"},
    {"rosenbrock", {{"lower", "11"}}, 1, "must be less than upper = 10"},
    {"rosenbrock", {{"variant", "standardised"}, {"dim", "5"}}, 1, "has dim = 4, not 5"},
    {"rosenbrock", {{"variant", "standardised"}, {"upper", "5"}}, 1, "belong to variant plain"},
    {"sphere", {{"variant", "weighted"}, {"dim", "2"}, {"lower", "-1"}}, 2, "has dim = 6, not 2"},
    {"hartmann6",
     {{"embed", "5"}},
     1,
     "must be at least the 6 inputs of the problem itself, got 5"},
    {"branin", {{"copies", "2"}, {"embed", "3"}}, 1, "at least the 4 inputs"},
    {"damped_cosine", {{"levels", "9"}, {"embed", "3"}}, 1, "is for boxes"},
    {"branin", {{"embed_rotation", "random"}}, 1, "needs a number of inputs"},
  };

  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    settings_refused(wrong[k].name, wrong[k].settings, wrong[k].n, wrong[k].part);
}
