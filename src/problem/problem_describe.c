/* The description of a problem for `regatta describe`. */
#include "problem/problem_describe.h"

#include <math.h>
#include <string.h>

#define MAX_OPTIMISERS 8 /* largest number of optimisers that are shown */

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
  bool cube = space->dim > 1; /* [0, 1]^6, or else [-5, 10] x [0, 15] */
  for (int j = 1; j < space->dim; j++)
    cube = cube && space->lower[j] == space->lower[0] && space->upper[j] == space->upper[0];
  for (int j = 0; j < (cube ? 1 : space->dim); j++)
    PetscCall(
      rg_text_add(text, "%s[%.10g, %.10g]", j ? " x " : "", space->lower[j], space->upper[j]));
  return cube ? rg_text_add(text, "^%d", space->dim) : 0;
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

  if (problem->class->traits & RG_PROBLEM_RANDOM)
    return rg_text_add(text, "  optimum: differs between instances\n");
  if (isnan(problem->optimum))
    return rg_text_add(
      text, "  optimum: not known%s\n",
      problem->class->traits & RG_PROBLEM_UNKNOWN ? "" : " in closed form; found numerically");
  PetscCall(rg_text_add(text, "  optimum: "));
  PetscCall(rg_text_add_real(text, problem->optimum));
  for (int i = 0; i < PetscMin(problem->n_optimisers, MAX_OPTIMISERS); i++)
    for (int j = 0; j < dim; j++)
      PetscCall(rg_text_add(text, "%s%.10g%s", j ? ", " : "\n    at (",
                            problem->optimisers[(size_t)i * dim + j], j == dim - 1 ? ")" : ""));
  if (problem->n_optimisers > MAX_OPTIMISERS)
    PetscCall(rg_text_add(text, "\n    and %d more", problem->n_optimisers - MAX_OPTIMISERS));
  return rg_text_add(text, "\n");
}

static PetscErrorCode add_instance(RgText *text, const RgProblemClass *class)
{
  const RgParam *entry = class->params;
  RgDiagnostics mistakes = {0};
  void *options;
  RgProblem problem;
  RgFailure failure = {0};

  while (entry->name && entry->fallback) entry++;
  if (entry->name)
    return rg_text_add(text, "  depends on the required parameter %s\n", entry->name);
  PetscCall(PetscCalloc(class->options_size, &options));
  PetscCall(rg_params_defaults(class->params, options));
  if (class->check) PetscCall(class->check(class, options, (RgPlace){0}, &mistakes));
  for (int i = 0; i < PetscMin(mistakes.n, RG_DIAGNOSTICS_MAX); i++)
    PetscCall(rg_text_add(text, "  %s\n", mistakes.list[i].message));
  if (!mistakes.n) {
    PetscCall(rg_problem_create(class, options, 0, 0, &problem, &failure));
    PetscCall(rg_problem_describe_domain(&problem.domain, text));
    if (failure.failed) PetscCall(rg_text_add(text, "  optimum: %s\n", failure.message));
    else PetscCall(add_optimum(text, &problem));
    PetscCall(rg_problem_destroy(&problem));
  }
  PetscCall(rg_params_clear(class->params, options));
  return PetscFree(options);
}

PetscErrorCode rg_problem_describe(const RgProblemClass *class, RgText *text)
{
  PetscCall(rg_text_add(text, "%s: %s (problem, revision %d)\n", class->name, class->title,
                        class->revision));
  for (const char *line = class->summary; *line;) {
    const size_t length = strcspn(line, "\n");
    PetscCall(rg_text_add(text, "  %.*s\n", (int)length, line));
    line += length + (line[length] == '\n');
  }
  PetscCall(rg_text_add(text, "  Source: %s\n", class->reference));
  PetscCall(rg_text_add(text, "  Instances: %s\n",
                        class->traits & RG_PROBLEM_RANDOM ? "each is another draw"
                                                          : "all are the same function"));
  PetscCall(rg_text_add(text, "\nParameters%s\n", class->params->name ? "" : ": none"));
  if (class->params->name) PetscCall(rg_params_describe(class->params, text));
  PetscCall(rg_text_add(text, "\nWith the default parameters\n"));
  return add_instance(text, class);
}
