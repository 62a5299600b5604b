/* The parts common to all problems: life cycle, and evaluation with its checks. */
#include "regatta/problem.h"

#include "base/grow.h"
#include "gp/team/team.h"
#include "problem/embedding.h"

#include <math.h>

const char *const rg_problem_goals[] = {
  [RG_GOAL_MAXIMISE] = "maximise", [RG_GOAL_MINIMISE] = "minimise", NULL};

bool rg_problem_is_minimised(const RgProblemClass *class, const void *options)
{
  for (const RgParam *entry = class->params; entry->name; entry++)
    if (entry->choices == rg_problem_goals)
      return *(const int *)((const char *)options + entry->offset) == RG_GOAL_MINIMISE;
  return false;
}

PetscErrorCode rg_problem_create(const RgProblemClass *class, const void *options,
                                 uint64_t study_seed, uint64_t instance, RgProblem *problem,
                                 RgFailure *failure)
{
  return rg_problem_create_on(NULL, class, options, study_seed, instance, problem, failure);
}

PetscErrorCode rg_problem_create_on(RgTeam *team, const RgProblemClass *class, const void *options,
                                    uint64_t study_seed, uint64_t instance, RgProblem *problem,
                                    RgFailure *failure)
{
  const int64_t jobs = rg_team_jobs(team);

  *problem = (RgProblem){
    .team = team,
    .class = class,
    .options = options,
    .instance = instance,
    .stream = rg_stream(study_seed, class->name, instance, "problem", 0),
    .optimum = NAN,
  };
  if (class->source && class->source->load) PetscCall(class->source->load(problem, failure));
  else PetscCall(class->domain(class, options, &problem->domain));
  if (class->create && !failure->failed) PetscCall(class->create(problem, failure));
  problem->by_team = rg_team_jobs(team) > jobs;
  problem->team = NULL;
  if (rg_embedding_of(class, options)) PetscCall(rg_embedding_wrap(study_seed, problem));
  return 0;
}

PetscErrorCode rg_problem_destroy(RgProblem *problem)
{
  if (problem->data && problem->class->destroy) PetscCall(problem->class->destroy(problem));
  PetscCall(RG_FREE(&problem->data, &problem->optimisers));
  PetscCall(rg_domain_destroy(&problem->domain));
  *problem = (RgProblem){.optimum = NAN};
  return 0;
}

PetscErrorCode rg_problem_at(RgProblem *problem, int t)
{
  if (problem->class->at) PetscCall(problem->class->at(problem, t));
  return 0;
}

PetscErrorCode rg_problem_scan(RgProblem *problem, const double *F, int most)
{
  const RgSpace *design = &problem->domain.design;
  const size_t dim = (size_t)design->dim;
  int n = 0;

  problem->optimum = F[0];
  for (int i = 1; i < design->size; i++) problem->optimum = PetscMax(problem->optimum, F[i]);
  for (int i = 0; i < design->size; i++) n += F[i] == problem->optimum;
  n = PetscMin(n, most);
  PetscCall(PetscMalloc1(n * dim, &problem->optimisers));
  for (int i = 0; i < design->size && problem->n_optimisers < n; i++)
    if (F[i] == problem->optimum)
      rg_space_to_native(design, design->points + (size_t)i * dim,
                         problem->optimisers + problem->n_optimisers++ * dim);
  return 0;
}

/* A point of a finite space must have an index. */
static PetscErrorCode check_part(const RgProblem *problem, const char *part, const RgSpace *space,
                                 int index, const double *coordinates)
{
  PetscCheck(coordinates, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s: evaluated without a %s",
             problem->class->name, part);
  PetscCheck(!rg_space_is_finite(space) || (index >= 0 && index < space->size), PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%s: %s index %d of a finite set of %d points",
             problem->class->name, part, index, space->size);
  return 0;
}

static PetscErrorCode check_points(const RgProblem *problem, int m, const RgPoint *points,
                                   bool with_context)
{
  const RgDomain *domain = &problem->domain;

  for (int i = 0; i < m; i++) {
    PetscCall(check_part(problem, "design", &domain->design, points[i].index, points[i].x));
    if (with_context && domain->context.dim)
      PetscCall(
        check_part(problem, "context", &domain->context, points[i].context_index, points[i].c));
  }
  return 0;
}

static PetscErrorCode add_coordinates(RgText *text, int dim, const double *x)
{
  for (int j = 0; j < dim; j++) PetscCall(rg_text_add(text, "%s%.9g", j ? ", " : "", x[j]));
  return 0;
}

/* Larger values would overflow in squares, in their sums over all data, and in quadratic forms
   of an ill-conditioned matrix. */
static const double largest = 1e100;

static const char *flaw_of(double value)
{
  if (isnan(value)) return "not a number";
  if (isinf(value)) return "infinite";
  return fabs(value) > largest ? "beyond 1e100, too large to compute with" : NULL;
}

/* Names the first value that can't be used, and its input. */
static PetscErrorCode check_values(const RgProblem *problem, const char *symbol, int m,
                                   const RgPoint *points, bool with_context, const double *value,
                                   RgFailure *failure)
{
  const int context_dim = with_context ? problem->domain.context.dim : 0;
  RgText input = {0};
  int i = 0;

  while (i < m && !flaw_of(value[i])) i++;
  if (i == m) return 0;
  PetscCall(add_coordinates(&input, problem->domain.design.dim, points[i].x));
  if (context_dim) {
    PetscCall(rg_text_add(&input, "; "));
    PetscCall(add_coordinates(&input, context_dim, points[i].c));
  }
  rg_failure_set(failure, "%s: %s is %s at (%s)", problem->class->name, symbol, flaw_of(value[i]),
                 input.data);
  return rg_text_clear(&input);
}

PetscErrorCode rg_problem_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure)
{
  PetscCall(check_points(problem, m, points, true));
  PetscCall(problem->class->evaluate(problem, m, points, f, failure));
  return check_values(problem, "f", m, points, true, f, failure);
}

PetscErrorCode rg_problem_constrain(RgProblem *problem, const RgPoint *point, double *constraints,
                                    RgFailure *failure)
{
  const int n = problem->domain.n_constraints;

  if (!n) return 0;
  PetscCheck(problem->class->constrain, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: has outcome constraints but no values of them", problem->class->name);
  PetscCall(problem->class->constrain(problem, 1, point, constraints, failure));
  for (int k = 0; k < n; k++)
    if (flaw_of(constraints[k]))
      rg_failure_set(failure, "%s: constraint '%s' is %s", problem->class->name,
                     problem->domain.constraints[k], flaw_of(constraints[k]));
  return 0;
}

PetscErrorCode rg_problem_objective(RgProblem *problem, int m, const RgPoint *points, double *F,
                                    RgFailure *failure)
{
  if (problem->announced) { /* f under this context */
    RgPoint *at;
    PetscCall(PetscMalloc1(m, &at));
    for (int i = 0; i < m; i++) {
      at[i] = points[i];
      at[i].c = problem->announced->c;
      at[i].context_index = problem->announced->context_index;
    }
    PetscCall(rg_problem_evaluate(problem, m, at, F, failure));
    return PetscFree(at);
  }
  if (!problem->class->objective) {
    PetscCheck(!problem->domain.context.dim, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: has contexts but no objective F", problem->class->name);
    return rg_problem_evaluate(problem, m, points, F, failure);
  }
  PetscCall(check_points(problem, m, points, false));
  PetscCall(problem->class->objective(problem, m, points, F, failure));
  return check_values(problem, "F", m, points, false, F, failure);
}
