/* The registry, the generic functions with their error paths, and the descriptions. */
#include "problem/problem_describe.h"
#include "test_problem.h"

#include <ctype.h>

RG_TEST(test_registry)
{
  int n;
  const RgProblemClass *const *classes = rg_problem_classes(&n);

  assert_true(n > 0);
  for (int i = 0; i < n; i++) {
    const RgProblemClass *class = classes[i];
    for (const char *c = class->name; *c; c++)
      assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
    assert_true(class->title && class->summary && class->reference && class->params);
    assert_true(class->revision >= 1);
    assert_true(class->domain && class->evaluate);
  }
}

/* --- a family made for the test: f = 1/x on {-1, 0, 1}, contexts {0, 1} if asked for */

typedef struct {
  bool with_context, with_objective;
} FakeOptions;

static PetscErrorCode fake_domain(const RgProblemClass *class, const void *options,
                                  RgDomain *domain)
{
  const FakeOptions *o = options;

  (void)class;
  PetscCall(rg_space_set(&domain->design, 1, 3, (const double[]){-1, 0, 1}, NULL, NULL));
  if (o->with_context)
    PetscCall(rg_space_set(&domain->context, 1, 2, (const double[]){0, 1}, NULL, NULL));
  return 0;
}

static PetscErrorCode fake_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                    RgFailure *failure)
{
  (void)problem, (void)failure;
  for (int i = 0; i < m; i++) f[i] = 1 / points[i].x[0] + (points[i].c ? *points[i].c : 0);
  return 0;
}

static PetscErrorCode fake_objective(RgProblem *problem, int m, const RgPoint *points, double *F,
                                     RgFailure *failure)
{
  (void)problem, (void)failure;
  for (int i = 0; i < m; i++) F[i] = points[i].index == 1 ? NAN : 10 + points[i].x[0];
  return 0;
}

static const RgParam no_params[] = {{0}};

static const RgProblemClass plain_class = {
  .name = "fake", .params = no_params, .domain = fake_domain, .evaluate = fake_evaluate};
static const RgProblemClass objective_class = {.name = "fake",
                                               .params = no_params,
                                               .domain = fake_domain,
                                               .evaluate = fake_evaluate,
                                               .objective = fake_objective};

static RgProblem fake(const RgProblemClass *class, const FakeOptions *options)
{
  RgProblem problem;
  RG_NO_FAILURE(failure);

  RG_OK(rg_problem_create(class, options, 3, 5, &problem, &failure));
  return problem;
}

RG_TEST(test_life_cycle)
{
  const FakeOptions options = {0};
  RG_OWNED(rg_problem_destroy) RgProblem problem = fake(&plain_class, &options);
  const RgStream stream = rg_stream(3, "fake", 5, "problem", 0);

  assert_ptr_equal(problem.class, &plain_class);
  assert_ptr_equal(problem.options, &options);
  assert_memory_equal(&problem.stream, &stream, sizeof stream);
  assert_true(isnan(problem.optimum));
  assert_int_equal(problem.n_optimisers, 0);
  RG_OK(rg_problem_destroy(&problem));
}

RG_TEST(test_not_finite_is_a_failure)
{
  const FakeOptions options = {.with_context = true};
  const double x[] = {1, 0, -1}, c[] = {1};
  const RgPoint points[] = {{2, &x[0], 1, c}, {1, &x[1], 1, c}, {0, &x[2], 1, c}};
  RG_OWNED(rg_problem_destroy) RgProblem problem = fake(&objective_class, &options);
  RgFailure failure = {0};
  double f[3];

  RG_OK(rg_problem_evaluate(&problem, 1, points, f, &failure));
  assert_false(failure.failed);
  RG_OK(rg_problem_evaluate(&problem, 3, points, f, &failure));
  assert_true(failure.failed);
  assert_string_equal(failure.message, "fake: f is infinite at (0; 1)");
  assert_true(f[0] == 2 && f[2] == 0);

  failure.failed = false;
  RG_OK(rg_problem_objective(&problem, 3, points, f, &failure));
  assert_string_equal(failure.message, "fake: F is not a number at (0)");
  assert_true(f[0] == 11 && f[2] == 9);
}

RG_TEST(test_objective_is_f_by_default)
{
  const FakeOptions options = {0};
  const double x = -1;
  const RgPoint point = {.index = 0, .x = &x, .context_index = -1};
  RG_OWNED(rg_problem_destroy) RgProblem problem = fake(&plain_class, &options);
  RG_NO_FAILURE(failure);
  double F = 0;

  RG_OK(rg_problem_objective(&problem, 1, &point, &F, &failure));
  assert_true(F == -1);
}

/* Mistakes that only a fault in the program can cause are PETSc errors. */
RG_TEST(test_misuse)
{
  const FakeOptions with = {.with_context = true}, without = {0};
  const double x = 1, c = 0;
  RG_OWNED(rg_problem_destroy)
  RgProblem plain = fake(&plain_class, &without), context = fake(&plain_class, &with);
  RG_NO_FAILURE(failure);
  double f;
  const struct {
    RgProblem *problem;
    RgPoint point;
    bool objective;
    int code;
  } misuse[] = {
    {&plain, {-1, &x, -1, NULL}, false, PETSC_ERR_ARG_OUTOFRANGE},
    {&plain, {3, &x, -1, NULL}, false, PETSC_ERR_ARG_OUTOFRANGE},
    {&plain, {-1, &x, -1, NULL}, true, PETSC_ERR_ARG_OUTOFRANGE},
    {&plain, {0, NULL, -1, NULL}, false, PETSC_ERR_ARG_NULL},
    {&context, {2, &x, 0, NULL}, false, PETSC_ERR_ARG_NULL},
    {&context, {2, &x, -1, &c}, false, PETSC_ERR_ARG_OUTOFRANGE},
    {&context, {2, &x, 0, &c}, true, PETSC_ERR_PLIB},
  };

  for (size_t i = 0; i < sizeof misuse / sizeof *misuse; i++) {
    PetscErrorCode (*call)(RgProblem *, int, const RgPoint *, double *, RgFailure *) =
      misuse[i].objective ? rg_problem_objective : rg_problem_evaluate;
    RG_FAILS(call(misuse[i].problem, 1, &misuse[i].point, &f, &failure), misuse[i].code);
  }
}

RG_TEST(test_descriptions)
{
  int n;
  const RgProblemClass *const *classes = rg_problem_classes(&n);

  for (int i = 0; i < n; i++) {
    RgText text = {0};
    RG_OK(rg_problem_describe(classes[i], &text));
    assert_int_equal(strncmp(text.data, classes[i]->name, strlen(classes[i]->name)), 0);
    for (const RgParam *p = classes[i]->params; p->name; p++)
      if (!strstr(text.data, p->name)) fail_msg("%s: %s is missing", classes[i]->name, p->name);
    const bool missing = strstr(text.data, "there is no file") || strstr(text.data, "required");
    if (!missing && !strstr(text.data, "design: ")) fail_msg("%s: no design", classes[i]->name);
    RG_OK(rg_text_clear(&text));
  }
}

RG_TEST(test_description_of_branin)
{
  RgText text = {0};

  RG_OK(rg_problem_describe(rg_registry_find_problem(NULL, "branin"), &text));
  assert_non_null(strstr(text.data, "branin: Branin (problem, revision 1)\n"));
  assert_non_null(strstr(text.data, "copies"));
  assert_non_null(strstr(text.data, "design: the box [-5, 10] x [0, 15]\n"));
  assert_non_null(strstr(text.data, "optimum: -0.3978873577297383\n"
                                    "    at (-3.141592654, 12.275)\n"));
  RG_OK(rg_text_clear(&text));
}

/* A family whose defaults do not make an instance says so. */
RG_TEST(test_description_without_instance)
{
  static const RgParam needs[] = {{.name = "file", .type = RG_PARAM_TEXT, .doc = "data"}, {0}};
  RgProblemClass class = *rg_registry_find_problem(NULL, "branin");
  RgText text = {0};

  class.params = needs;
  class.options_size = sizeof(char *);
  RG_OK(rg_problem_describe(&class, &text));
  assert_non_null(strstr(text.data, "depends on the required parameter file\n"));
  RG_OK(rg_text_clear(&text));
}
