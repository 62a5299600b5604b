/* The description of a problem for `regatta describe`. */
#include "problem/problem_describe.h"

#include <math.h>
#include <string.h>

#define MAX_OPTIMISERS 8 /* largest number of optimisers that are shown */

static PetscErrorCode add_point(RgText *text, int dim, const double *x)
{
  for (int j = 0; j < dim; j++) PetscCall(rg_text_add(text, "%s%.10g", j ? ", " : "(", x[j]));
  PetscCall(rg_text_add(text, ")"));
  return 0;
}

/* [-5, 10] x [0, 15], or [0, 1]^6. */
static PetscErrorCode add_bounds(RgText *text, const RgSpace *space)
{
  bool cube = space->dim > 1;

  for (int j = 1; j < space->dim; j++)
    cube = cube && space->lower[j] == space->lower[0] && space->upper[j] == space->upper[0];
  for (int j = 0; j < (cube ? 1 : space->dim); j++)
    PetscCall(
      rg_text_add(text, "%s[%.10g, %.10g]", j ? " x " : "", space->lower[j], space->upper[j]));
  if (cube) PetscCall(rg_text_add(text, "^%d", space->dim));
  return 0;
}

static PetscErrorCode add_space(RgText *text, const RgSpace *space)
{
  switch (space->kind) {
  case RG_SPACE_BOX: PetscCall(rg_text_add(text, "the box ")); break;
  case RG_SPACE_SET: PetscCall(rg_text_add(text, "%d points in ", space->size)); break;
  case RG_SPACE_GRID:
    PetscCall(rg_text_add(text, "a grid of %d", space->levels[0]));
    for (int j = 1; j < space->dim; j++) PetscCall(rg_text_add(text, "x%d", space->levels[j]));
    PetscCall(rg_text_add(text, " = %d points in ", space->size));
    break;
  }
  PetscCall(add_bounds(text, space));
  return 0;
}

PetscErrorCode rg_problem_describe_domain(const RgDomain *domain, RgText *text)
{
  static const char *const control[] = {
    [RG_CONTEXT_NONE] = "",
    [RG_CONTEXT_NATURE] = "drawn by nature after the design was chosen",
    [RG_CONTEXT_SIMULATOR] = "chosen by the learner during optimisation",
    [RG_CONTEXT_ANNOUNCED] = "drawn by nature and announced before the design is chosen",
  };

  PetscCall(rg_text_add(text, "  design: "));
  PetscCall(add_space(text, &domain->design));
  PetscCall(rg_text_add(text, "%s\n", domain->without_replacement ? ", each queried once" : ""));
  if (domain->context.dim) {
    PetscCall(rg_text_add(text, "  context: "));
    PetscCall(add_space(text, &domain->context));
    PetscCall(rg_text_add(text, ", %s%s\n", control[domain->control],
                          domain->context_prob ? ", of known probabilities" : ""));
  }
  for (int k = 0; k < domain->n_constraints; k++)
    PetscCall(rg_text_add(text, "%s%s%s", k ? ", " : "  feasible: where ", domain->constraints[k],
                          k == domain->n_constraints - 1 ? " <= 0\n" : ""));
  return 0;
}

static PetscErrorCode add_optimum(RgText *text, const RgProblem *problem)
{
  const int dim = problem->domain.design.dim;

  if (problem->class->traits & RG_PROBLEM_RANDOM) {
    PetscCall(rg_text_add(text, "  optimum: differs between instances\n"));
    return 0;
  }
  if (isnan(problem->optimum)) {
    PetscCall(rg_text_add(text, "  optimum: not known in closed form; found numerically\n"));
    return 0;
  }
  PetscCall(rg_text_add(text, "  optimum: "));
  PetscCall(rg_text_add_real(text, problem->optimum));
  for (int i = 0; i < PetscMin(problem->n_optimisers, MAX_OPTIMISERS); i++) {
    PetscCall(rg_text_add(text, "\n    at "));
    PetscCall(add_point(text, dim, problem->optimisers + (size_t)i * dim));
  }
  if (problem->n_optimisers > MAX_OPTIMISERS)
    PetscCall(rg_text_add(text, "\n    and %d more", problem->n_optimisers - MAX_OPTIMISERS));
  PetscCall(rg_text_add(text, "\n"));
  return 0;
}

/* The objections of `check`, if there are any. */
static PetscErrorCode add_mistakes(RgText *text, const RgProblemClass *class, const void *options,
                                   bool *sound)
{
  RgDiagnostics found = {0};

  if (class->check) PetscCall(class->check(class, options, (RgPlace){0}, &found));
  for (int i = 0; i < PetscMin(found.n, RG_DIAGNOSTICS_MAX); i++)
    PetscCall(rg_text_add(text, "  %s\n", found.list[i].message));
  *sound = found.n == 0;
  return 0;
}

/* Name of the first parameter without a default, or NULL. */
static const char *first_required(const RgParam *table)
{
  for (; table->name; table++)
    if (!table->fallback) return table->name;
  return NULL;
}

static PetscErrorCode add_instance(RgText *text, const RgProblemClass *class)
{
  const char *required = first_required(class->params);
  void *options;
  RgProblem problem;
  RgFailure failure = {0};
  bool sound;

  if (required) {
    PetscCall(rg_text_add(text, "  depends on the required parameter %s\n", required));
    return 0;
  }
  PetscCall(PetscCalloc(class->options_size, &options));
  PetscCall(rg_params_defaults(class->params, options));
  PetscCall(add_mistakes(text, class, options, &sound));
  if (sound) {
    PetscCall(rg_problem_create(class, options, 0, 0, &problem, &failure));
    PetscCall(rg_problem_describe_domain(&problem.domain, text));
    if (failure.failed) PetscCall(rg_text_add(text, "  optimum: %s\n", failure.message));
    else PetscCall(add_optimum(text, &problem));
    PetscCall(rg_problem_destroy(&problem));
  }
  PetscCall(rg_params_clear(class->params, options));
  PetscCall(PetscFree(options));
  return 0;
}

/* Lines of `text` indented by two blanks. */
static PetscErrorCode add_indented(RgText *out, const char *lines)
{
  while (*lines) {
    const size_t length = strcspn(lines, "\n");
    PetscCall(rg_text_add(out, "  %.*s\n", (int)length, lines));
    lines += length + (lines[length] == '\n');
  }
  return 0;
}

PetscErrorCode rg_problem_describe(const RgProblemClass *class, RgText *text)
{
  PetscCall(rg_text_add(text, "%s: %s (problem, revision %d)\n", class->name, class->title,
                        class->revision));
  PetscCall(add_indented(text, class->summary));
  PetscCall(rg_text_add(text, "  Source: %s\n", class->reference));
  PetscCall(rg_text_add(text, "  Instances: %s\n",
                        class->traits & RG_PROBLEM_RANDOM ? "each is another draw"
                                                          : "all are the same function"));
  PetscCall(rg_text_add(text, "\nParameters%s\n", class->params->name ? "" : ": none"));
  if (class->params->name) PetscCall(rg_params_describe(class->params, text));
  PetscCall(rg_text_add(text, "\nWith the default parameters\n"));
  PetscCall(add_instance(text, class));
  return 0;
}
