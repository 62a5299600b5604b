/* Instances of problems for tests: options from texts, as a study file would give them. */
#ifndef RG_TESTS_TEST_PROBLEM_H
#define RG_TESTS_TEST_PROBLEM_H

#include "regatta/problem.h"
#include "study/file/registry.h"
#include "test_main.h"

#define MAX_SETTINGS 6

/* pairs of name and value; ends with a NULL name unless full */
typedef const char *Setting[2];

typedef struct {
  void *options;
  RgProblem problem;
} Instance;

/* Options of a table from a text, as a study file gives it. */
static inline void set_in(const RgParam *table, void *options, const char *name, const char *value)
{
  RgDiagnostics diagnostics = {0};
  const RgParam *entry;

  RG_OK(rg_params_set(table, options, name, 1, &value, (RgPlace){0}, &diagnostics, &entry));
  if (diagnostics.n) fail_msg("%s", diagnostics.list[0].message);
}

static inline void *options_make(const RgProblemClass *class, const Setting *settings)
{
  void *options;

  RG_OK(PetscCalloc(class->options_size + 1, &options));
  RG_OK(rg_params_defaults(class->params, options));
  for (int i = 0; settings && i < MAX_SETTINGS && settings[i][0]; i++)
    set_in(class->params, options, settings[i][0], settings[i][1]);
  return options;
}

static inline void options_free(const RgProblemClass *class, void *options)
{
  RG_OK(rg_params_clear(class->params, options));
  RG_OK(PetscFree(options));
}

/* A check of these settings finds n mistakes; the first one names the part and its place. */
static inline void settings_refused(const char *name, const Setting *settings, int n,
                                    const char *part)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, name);
  void *options = options_make(class, settings);
  RgDiagnostics found = {0};

  RG_OK(rg_problem_check(class, options, (RgPlace){"study.yaml", 7, 5}, &found));
  assert_int_equal(found.n, n);
  assert_string_equal(found.list[0].place.file, "study.yaml");
  assert_int_equal(found.list[0].place.line, 7);
  if (!strstr(found.list[0].message, part))
    fail_msg("'%s' does not say '%s'", found.list[0].message, part);
  options_free(class, options);
}

static inline Instance instance_make(const char *name, const Setting *settings, uint64_t study_seed,
                                     uint64_t number)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, name);
  RgDiagnostics diagnostics = {0};
  RG_NO_FAILURE(failure);
  Instance instance = {0};

  if (!class) fail_msg("unknown problem %s", name);
  instance.options = options_make(class, settings);
  RG_OK(rg_problem_check(class, instance.options, (RgPlace){0}, &diagnostics));
  if (diagnostics.n) fail_msg("%s", diagnostics.list[0].message);
  RG_OK(
    rg_problem_create(class, instance.options, study_seed, number, &instance.problem, &failure));
  return instance;
}

static inline void instance_free(Instance *instance)
{
  const RgProblemClass class = *instance->problem.class; /* an embedded problem owns its own */

  RG_OK(rg_problem_destroy(&instance->problem));
  options_free(&class, instance->options);
}

/* F at one point of a box. */
static inline double value_at(RgProblem *problem, const double *x)
{
  const RgPoint point = {.index = -1, .x = x, .context_index = -1};
  RG_NO_FAILURE(failure);
  double f;

  RG_OK(rg_problem_objective(problem, 1, &point, &f, &failure));
  return f;
}

/* f at a design and a context of finite spaces, by their indices. */
static inline double f_of_indices(RgProblem *problem, int design, int context)
{
  const RgDomain *domain = &problem->domain;
  double x[8], c[8], f;
  RgPoint point = {design, x, context, c};
  RG_NO_FAILURE(failure);

  rg_space_to_native(&domain->design, domain->design.points + design * domain->design.dim, x);
  rg_space_to_native(&domain->context, domain->context.points + context * domain->context.dim, c);
  RG_OK(rg_problem_evaluate(problem, 1, &point, &f, &failure));
  return f;
}

/* F at a design of a finite space, by its index. */
static inline double objective_of_index(RgProblem *problem, int design)
{
  const RgSpace *space = &problem->domain.design;
  double x[8], F;
  RgPoint point = {design, x, -1, NULL};
  RG_NO_FAILURE(failure);

  rg_space_to_native(space, space->points + design * space->dim, x);
  RG_OK(rg_problem_objective(problem, 1, &point, &F, &failure));
  return F;
}

/* The only value of a problem at default or given settings. */
static inline double value_of(const char *name, const Setting *settings, const double *x)
{
  Instance instance = instance_make(name, settings, 1, 0);
  const double f = value_at(&instance.problem, x);

  instance_free(&instance);
  return f;
}

/* Lower Cholesky factor of n x n K, in place, from the textbook. */
static inline void cholesky(int n, double *K)
{
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      double sum = K[i * n + j];
      for (int k = 0; k < j; k++) sum -= K[i * n + k] * K[j * n + k];
      K[i * n + j] = i == j ? sqrt(sum) : sum / K[j * n + j];
    }
}

#endif
