/* The search for the optimum of F. The problems know their optimum, but the search does not see
   it. */
#include "regret/optimum.h"
#include "test_problem.h"

static double hidden_optimum(RgProblem *problem)
{
  RgFailure failure = {0};
  double optimum = 0;

  problem->optimum = NAN;
  RG_OK(rg_regret_optimum(problem, &optimum, NULL, &failure));
  if (failure.failed) fail_msg("%s: %s", problem->class->name, failure.message);
  return optimum;
}

RG_TEST(test_known_optimum_is_returned)
{
  Instance it = instance_make("branin", NULL, 1, 0);
  RgFailure failure = {0};
  double optimum;

  it.problem.optimum = 17;
  RG_OK(rg_regret_optimum(&it.problem, &optimum, NULL, &failure));
  assert_true(optimum == 17);
  instance_free(&it);
}

static const struct {
  const char *name;
  Setting settings[MAX_SETTINGS];
} cases[] = {
  {"forrester", {{0}}},
  {"branin", {{0}}},
  {"goldstein_price", {{0}}},
  {"goldstein_price", {{"variant", "standardised"}}},
  {"six_hump_camel", {{"variant", "wide"}}},
  {"holder_table", {{0}}},
  {"cross_in_tray", {{0}}},
  {"hartmann3", {{0}}},
  {"hartmann6", {{0}}},
  {"ackley", {{"dim", "2"}, {"lower", "-21"}, {"upper", "44.5"}}},
  {"ackley", {{"lower", "-21"}, {"upper", "44.5"}}},
  {"rosenbrock", {{0}}},
  {"rosenbrock", {{"variant", "standardised"}}},
  {"sphere", {{"lower", "-3"}}},
  {"sphere", {{"variant", "weighted"}}},
  {"sphere", {{"variant", "standardised"}}},
};

/* By the gradients of the problems, and by differences. */
RG_TEST(test_searches)
{
  for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
    const char *name = cases[k / 2].name;
    Instance it = instance_make(name, cases[k / 2].settings, 1, 0);
    RgProblemClass class = *it.problem.class;
    const double known = it.problem.optimum;
    if (k % 2) class.gradient = NULL;
    it.problem.class = &class;
    const double found = hidden_optimum(&it.problem);
    if (!(fabs(found - known) <= 1e-8 * fmax(1, fabs(known))))
      fail_msg("%s (case %zu): %.12g, not %.12g", name, k, found, known);
    instance_free(&it);
  }
}

/* The optimiser of this box is a corner that no benchmark knows. */
RG_TEST(test_box_without_known_optimum)
{
  static const Setting settings[] = {{"dim", "2"}, {"lower", "0.5"}, {"upper", "2"}, {0}};
  Instance it = instance_make("sphere", settings, 1, 0);

  assert_true(isnan(it.problem.optimum));
  assert_true(hidden_optimum(&it.problem) == -0.5);
  instance_free(&it);
}

/* The known optimiser, the searched one, and the lowest index of a set. */
RG_TEST(test_where_it_is_attained)
{
  static const Setting corner[] = {{"dim", "2"}, {"lower", "0.5"}, {"upper", "2"}, {0}};
  Instance known = instance_make("ackley", NULL, 1, 0);
  Instance searched = instance_make("sphere", corner, 1, 0);
  Instance path = instance_make("gp_path", NULL, 1, 3);
  RgFailure failure = {0};
  double optimum, x[4];

  RG_OK(rg_regret_optimum_at(&known.problem, &optimum, x, &failure));
  assert_true(optimum == 0 && x[0] == 0 && x[3] == 0);
  RG_OK(rg_regret_optimum_at(&searched.problem, &optimum, x, &failure));
  assert_true(optimum == -0.5 && x[0] == 0.5 && x[1] == 0.5);
  path.problem.optimum = NAN;
  RG_OK(rg_regret_optimum_at(&path.problem, &optimum, x, &failure));
  assert_memory_equal(x, path.problem.optimisers, 3 * sizeof(double));
  assert_false(failure.failed);
  instance_free(&known);
  instance_free(&searched);
  instance_free(&path);
}

RG_TEST(test_same_answer_for_every_seed)
{
  Instance a = instance_make("hartmann3", NULL, 1, 0), b = instance_make("hartmann3", NULL, 99, 3);

  assert_true(hidden_optimum(&a.problem) == hidden_optimum(&b.problem));
  instance_free(&a);
  instance_free(&b);
}

static PetscErrorCode bad_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure)
{
  for (int i = 0; i < m; i++) f[i] = points[i].x[0] > 0 ? 1 : NAN;
  return 0;
}

RG_TEST(test_failure)
{
  Instance it = instance_make("branin", NULL, 1, 0);
  RgProblemClass class = *it.problem.class;
  RgFailure failure = {0};
  double optimum = 0;

  class.evaluate = bad_evaluate;
  it.problem.class = &class;
  it.problem.optimum = NAN;
  RG_OK(rg_regret_optimum(&it.problem, &optimum, NULL, &failure));
  assert_true(failure.failed);
  assert_non_null(strstr(failure.message, "not a number"));
  assert_true(isnan(optimum));
  instance_free(&it);
}

RG_TEST(test_costly_stays_unknown)
{
  Instance it = instance_make("branin", NULL, 1, 0);
  RgProblemClass class = *it.problem.class;

  class.traits |= RG_PROBLEM_COSTLY;
  it.problem.class = &class;
  assert_true(isnan(hidden_optimum(&it.problem)));
  instance_free(&it);
}

/* F = 10 - (x - 3)^2 at the points -7, 1, 2, 5. */
static PetscErrorCode set_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  PetscCall(rg_space_set(&domain->design, 1, 4, (const double[]){-7, 1, 2, 5}, NULL, NULL));
  return 0;
}

static PetscErrorCode set_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure)
{
  for (int i = 0; i < m; i++) f[i] = 10 - pow(points[i].x[0] - 3, 2) + 0.0 * points[i].index;
  return 0;
}

RG_TEST(test_scan)
{
  static const RgParam params[] = {{0}};
  static const RgProblemClass class = {
    .name = "set", .params = params, .domain = set_domain, .evaluate = set_evaluate};
  RgProblem problem;
  RgFailure failure = {0};

  RG_OK(rg_problem_create(&class, NULL, 1, 0, &problem, &failure));
  RG_CLOSE(hidden_optimum(&problem), 9, 1e-14);
  RG_OK(rg_problem_destroy(&problem));
}
