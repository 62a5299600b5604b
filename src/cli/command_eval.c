/* regatta eval NAME -x 1,2: one value of a problem, with gradient, objective and optimum. */
#include "cli/command.h"
#include "cli/named_problem.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "problem/problem_describe.h"
#include "regret/optimum.h"

enum { OPT_X, OPT_C };
enum { MAX_WORDS = 4096, MAX_OPTIMISERS = 8 };

static const RgOption options[] = {
  {"-x", "X1,X2,...", "design in native units; of a finite design the nearest point is taken"},
  {"-c", "C1,C2,...", "context in native units; without it the objective F alone is evaluated"},
  RG_OPTIONS_NAMED_PROBLEM,
  {NULL, NULL, NULL},
};

typedef struct {
  RgNamedProblem named;
  RgProblem problem;
  double *x, *c; /* native units, NULL: not given; owned */
  RgPoint point; /* what to evaluate */
  RgText text;   /* the answer */
  bool turned;   /* the problem is the negative of what the user's program or file says */
} Evaluation;

/* Parse the numbers of -x or -c through a table of one parameter, so that the notation is the
   same as in study files. */
static PetscErrorCode parse_point(Evaluation *e, const RgOption *option, const char *value,
                                  const RgSpace *space, double **x)
{
  const RgParam table[] = {{.name = option->name, .type = RG_PARAM_REALS}, {0}};
  RgReals numbers = {0};
  RgDiagnostics found = {0};
  const char **words;
  char *copy;
  int n;

  PetscCall(PetscMalloc1(MAX_WORDS, &words));
  PetscCall(PetscStrallocpy(value, &copy));
  n = rg_split_words(copy, ", ()[]", words);
  PetscCall(rg_params_set(table, &numbers, option->name, n, words, (RgPlace){0}, &found, NULL));
  if (!found.n && numbers.n != space->dim)
    rg_diagnostics_add(&found, (RgPlace){0}, "%s has %d coordinate%s, %s has %d", option->name,
                       numbers.n, numbers.n == 1 ? "" : "s", e->named.class->name, space->dim);
  for (int j = 0; !found.n && j < space->dim; j++)
    if (space->kind == RG_SPACE_BOX &&
        !(numbers.values[j] >= space->lower[j] && numbers.values[j] <= space->upper[j]))
      rg_diagnostics_add(&found, (RgPlace){0}, "%s: coordinate %d is %.15g, outside [%.15g, %.15g]",
                         option->name, j + 1, numbers.values[j], space->lower[j], space->upper[j]);
  rg_named_problem_complain(&e->named, &found);
  *x = numbers.values;
  PetscCall(PetscFree(copy));
  return PetscFree(words);
}

/* Append a line: a name, then numbers with full precision. */
static PetscErrorCode add_value(RgText *text, const char *name, double value, const char *remark)
{
  PetscCall(rg_text_add(text, "%-10s ", name));
  PetscCall(rg_text_add_real(text, value + 0.0)); /* 0, not -0 */
  return rg_text_add(text, "%s\n", remark);
}

static PetscErrorCode add_point(RgText *text, const char *name, int dim, const double *x,
                                const char *remark)
{
  PetscCall(rg_text_add(text, "%-10s ", name));
  for (int j = 0; j < dim; j++) {
    PetscCall(rg_text_add(text, j ? ", " : "("));
    PetscCall(rg_text_add_real(text, x[j] + 0.0));
  }
  return rg_text_add(text, ")%s\n", remark);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* A value with the sign that the user's program or file has; never -0. */
static double own_value(const Evaluation *e, double value)
{
  return e->turned ? 0 - value : value + 0.0;
}

/* Index of the point of a finite space nearest to x (native units, distance in the unit cube),
   the lowest among ties. x becomes that point. -1 on a box. */
static PetscErrorCode snap(const RgSpace *space, double *x, int *index, bool *moved)
{
  const int dim = space->dim;
  double *unit, nearest = INFINITY;

  *index = -1;
  *moved = false;
  if (!rg_space_is_finite(space)) return 0;
  PetscCall(PetscMalloc1(dim, &unit));
  rg_space_to_unit(space, x, unit);
  for (int i = 0; i < space->size; i++) {
    double squares = 0;
    for (int j = 0; j < dim; j++) squares += pow(unit[j] - space->points[(size_t)i * dim + j], 2);
    if (!(squares < nearest)) continue;
    nearest = squares;
    *index = i;
  }
  PetscCall(PetscFree(unit));
  *moved = nearest > 1e-20;
  rg_space_to_native(space, space->points + (size_t)*index * dim, x);
  return 0;
}

static PetscErrorCode add_part(Evaluation *e, const char *name, const RgSpace *space, double *x,
                               int *index)
{
  char remark[64] = "";
  bool moved;

  PetscCall(snap(space, x, index, &moved));
  if (*index >= 0)
    PetscCall(PetscSNPrintf(remark, sizeof(remark), "  index %d of %d%s", *index, space->size,
                            moved ? ", the nearest point" : ""));
  return add_point(&e->text, name, space->dim, x, remark);
}

static PetscErrorCode add_constraints(Evaluation *e, RgFailure *failure)
{
  const RgDomain *domain = &e->problem.domain;
  double *values;

  PetscCall(PetscMalloc1(domain->n_constraints, &values));
  PetscCall(rg_problem_constrain(&e->problem, &e->point, values, failure));
  for (int k = 0; k < domain->n_constraints && !failure->failed; k++)
    PetscCall(add_value(&e->text, domain->constraints[k], values[k],
                        values[k] <= 0 ? "  feasible" : "  infeasible"));
  return PetscFree(values);
}

/* Evaluate the point: f and its gradient, F. Without -c, f of a problem with contexts is
   omitted. */
static PetscErrorCode add_values(Evaluation *e, double *F, RgFailure *failure)
{
  const RgDomain *domain = &e->problem.domain;
  double f = NAN;

  PetscCall(add_part(e, "x", &domain->design, e->x, &e->point.index));
  e->point.x = e->x;
  e->point.context_index = -1;
  if (e->c) {
    PetscCall(add_part(e, "c", &domain->context, e->c, &e->point.context_index));
    e->point.c = e->c;
  }
  if (e->c || !domain->context.dim) {
    PetscCall(rg_problem_evaluate(&e->problem, 1, &e->point, &f, failure));
    if (failure->failed) return 0;
    PetscCall(add_value(&e->text, "f", own_value(e, f), ""));
    const int dim = e->problem.domain.design.dim;
    double *gradient;
    if (e->named.class->gradient) {
      PetscCall(PetscMalloc1(dim, &gradient));
      PetscCall(e->named.class->gradient(&e->problem, &e->point, gradient));
      for (int j = 0; j < dim; j++) gradient[j] = own_value(e, gradient[j]);
      PetscCall(add_point(&e->text, "gradient", dim, gradient, ""));
      PetscCall(PetscFree(gradient));
    }
    PetscCall(add_constraints(e, failure));
    if (failure->failed) return 0;
  }
  if (e->named.class->traits & RG_PROBLEM_COSTLY &&
      !e->named.class->objective) { /* F defaults to f, if f exists */
    if (domain->context.dim) return 0;
    *F = f;
  } else {
    PetscCall(rg_problem_objective(&e->problem, 1, &e->point, F, failure));
  }
  if (!failure->failed) PetscCall(add_value(&e->text, "F", own_value(e, *F), ""));
  return 0;
}

static PetscErrorCode add_optimum(Evaluation *e, double F, RgFailure *failure)
{
  RgProblem *problem = &e->problem;
  const int dim = problem->domain.design.dim, n = problem->n_optimisers;
  const bool known = !isnan(problem->optimum), finite = rg_space_is_finite(&problem->domain.design);
  double optimum, *x;

  PetscCall(PetscMalloc1(dim, &x));
  PetscCall(rg_regret_optimum_at(problem, &optimum, x, failure));
  if (isnan(optimum)) {
    PetscCall(rg_text_add(&e->text, "%-10s not known\n", "optimum"));
  } else {
    PetscCall(add_value(&e->text, "optimum", own_value(e, optimum),
                        known    ? ""
                        : finite ? "  by scan"
                                 : "  by search"));
    for (int i = 0; i < PetscMin(n, MAX_OPTIMISERS); i++)
      PetscCall(add_point(&e->text, "optimiser", dim, problem->optimisers + (size_t)i * dim, ""));
    if (n > MAX_OPTIMISERS)
      PetscCall(rg_text_add(&e->text, "%-10s %d more\n", "", n - MAX_OPTIMISERS));
    if (!known && !isnan(x[0])) PetscCall(add_point(&e->text, "optimiser", dim, x, ""));
    if (!isnan(F)) PetscCall(add_value(&e->text, "regret", optimum - F, ""));
  }
  return PetscFree(x);
}

/* Write the answer to the command line into e->text. */
static PetscErrorCode answer(Evaluation *e, const RgArguments *arguments, RgFailure *failure)
{
  const RgDomain *domain = &e->problem.domain;
  const char *x = arguments->option[OPT_X], *c = arguments->option[OPT_C];
  double F = NAN;

  e->named.mistaken = c && (!x || !domain->context.dim);
  if (e->named.mistaken && x)
    rg_complain("eval: %s has no context, -c is not accepted", e->named.class->name);
  else if (e->named.mistaken) rg_complain("eval: -c without -x");
  if (e->named.mistaken) return 0;
  if (x) PetscCall(parse_point(e, &options[OPT_X], x, &domain->design, &e->x));
  if (c) PetscCall(parse_point(e, &options[OPT_C], c, &domain->context, &e->c));
  if (e->named.mistaken) return 0;
  PetscCall(rg_text_add(&e->text, "%s: %s", e->named.class->name, e->named.class->title));
  if (rg_problem_is_random(e->named.class, e->named.options))
    PetscCall(rg_text_add(&e->text, ", instance %llu of study seed %llu",
                          (unsigned long long)e->named.instance,
                          (unsigned long long)e->named.seed));
  PetscCall(rg_text_add(&e->text, "\n"));
  PetscCall(rg_problem_describe_domain(domain, &e->text));
  if (x) PetscCall(add_values(e, &F, failure));
  return failure->failed ? 0 : add_optimum(e, F, failure);
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  Evaluation e = {0};
  RgFailure failure = {0};

  PetscCall(rg_named_problem_read(arguments, registry, &e.named));
  if (!e.named.mistaken) {
    e.turned = rg_problem_is_minimised(e.named.class, e.named.options);
    PetscCall(rg_problem_create(e.named.class, e.named.options, e.named.seed, e.named.instance,
                                &e.problem, &failure));
    if (!failure.failed) PetscCall(answer(&e, arguments, &failure));
    if (failure.failed) rg_complain("eval: %s", failure.message);
    else if (!e.named.mistaken) rg_say("%s", e.text.data);
    PetscCall(rg_problem_destroy(&e.problem));
  }
  if (e.named.mistaken || failure.failed) *exit_code = RG_EXIT_BAD_INPUT;
  PetscCall(RG_FREE(&e.x, &e.c));
  PetscCall(rg_text_clear(&e.text));
  return rg_named_problem_clear(&e.named);
}

const RgCommand rg_command_eval = {
  RG_USAGE("eval NAME -x X1,X2,... [-c ...] [-set KEY=VALUE] ...", options, 1, 1),
  .place = RG_ON_RANK_0, .run = run};
