/* Checks of cells against their domains: impossible combinations are mistakes of the study file. */
#include "acquisition/levels.h"
#include "acquisition/path_sampler.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/inputs.h"
#include "base/number.h"
#include "base/text.h"
#include "gp/kernel/family.h"
#include "gp/model/surrogate.h"
#include "gp/model/transform.h"
#include "maths/design.h"
#include "maths/law.h"
#include "maths/lbfgsb.h"
#include "study/file/draft.h"
#include "study/file/crew_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Report a mistake at the entry of the cell's problem, or of its algorithm. */
#define AT_PROBLEM(...) rg_diagnostics_add(found, cell->problem_place, __VA_ARGS__)
#define AT_ALGORITHM(...) rg_diagnostics_add(found, cell->algorithm_place, __VA_ARGS__)

/* Check when the trials of a cell may end, and what a cell whose objective differs between
   evaluations can't have. The seconds of a trial are those of a program: they are saved with its
   answers, so that a resumed trial ends where it would have ended. */
static void check_end(const RgCell *cell, RgDiagnostics *found)
{
  if (!isnan(cell->run.stop_seconds) && !(cell->problem->traits & RG_PROBLEM_COSTLY))
    AT_PROBLEM("'stop_seconds' is for problems that a program evaluates; '%s' is not "
               "one: use `iterations`, or `stop_regret`",
               cell->problem_label);
  if (!cell->dynamic) return;
  if (!isnan(cell->run.stop_regret))
    AT_PROBLEM("'stop_regret' needs one objective for all evaluations; that of '%s' "
               "changes: use `iterations`",
               cell->problem_label);
  if (rg_crew_counts(&cell->crew))
    AT_PROBLEM("the objective of '%s' changes from one evaluation to the next: it takes 'workers: "
               "1' and no 'duration'",
               cell->problem_label);
}

/* Write the names of the methods with a trait (RgTraits), for messages; returns `names`. */
static const char *methods_with(unsigned trait, char names[400])
{
  int n, used = 0;
  const RgAlgorithmClass *const *classes = rg_algorithm_classes(&n);

  names[0] = '\0';
  for (int i = 0; i < n && used < 400; i++)
    if (classes[i]->traits & trait)
      used += snprintf(names + used, 400 - used, "%s%s", used ? ", " : "", classes[i]->name);
  return names;
}

/* Check the rule for points in flight. */
static PetscErrorCode check_pending(RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  const RgAlgorithmClass *class = cell->algorithm;
  const bool uses_context = domain->context.dim && !(class->needs & RG_NEEDS_NO_CONTEXT);
  char names[400];

  if (!rg_algorithm_reads(class, RG_BLOCK_PENDING)) return 0;
  PetscCall(rg_pending_check(&cell->pending, cell->algorithm_place, found));
  if (cell->pending.rule == RG_PENDING_PENALISE && !(class->traits & RG_PENALISABLE))
    AT_ALGORITHM("'%s' maximises no acquisition function that 'pending: {penalise: ...}' "
                 "could multiply; with it: %s",
                 cell->algorithm_label, methods_with(RG_PENALISABLE, names));
  if (cell->pending.rule && uses_context && domain->control == RG_CONTEXT_NATURE)
    AT_ALGORITHM("'%s' models the contexts, and those of points in flight are not known yet: it "
                 "takes 'pending: ignore' alone",
                 cell->algorithm_label);
  return 0;
}

/* Report a method that needs answers before its next queries, if these workers can't give them. */
static void check_alternation(const RgCell *cell, RgDiagnostics *found)
{
  const RgAlgorithmClass *class = cell->algorithm;
  const int workers = cell->crew.workers;
  const RgTerms *terms = class->terms;
  const int points =
    terms && terms->generation ? terms->generation(cell->algorithm_options, cell->dim_x) : 1;
  const bool batches = cell->crew.release; /* not async */

  if (!(class->needs & RG_NEEDS_ALTERNATION)) return;
  if (points == 1)
    AT_ALGORITHM(
      "'%s' chooses each query from the answer to the last one: it takes no 'workers: %d'",
      cell->algorithm_label, workers);
  else if (!batches || points % workers)
    AT_ALGORITHM("'%s' chooses generations of %d points in %d inputs: it takes 'release: sync' and "
                 "a number of workers that divides %d, not %d with 'release: %s'",
                 cell->algorithm_label, points, cell->dim_x, points, workers,
                 batches ? "sync" : "async");
}

/* Check workers, clock and the rule for points in flight against the problem and the method. */
static PetscErrorCode draft_check_crew(RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  const int drawn =
    cell->run.initial_points + (cell->crew.start == RG_START_DESIGN ? cell->crew.workers : 0);

  PetscCall(rg_crew_check(cell->problem, cell->problem_options, &domain->design,
                          cell->problem_place, cell->run.ranks_per_trial, &cell->crew, found));
  if (cell->algorithm->needs & RG_NEEDS_CLOCK && !rg_crew_has_clock(&cell->crew))
    AT_ALGORITHM("'%s' weighs the durations of evaluations, and '%s' has no 'duration'",
                 cell->algorithm_label, cell->problem_label);
  if (cell->crew.workers == 1) {
    if (cell->pending.rule == RG_PENDING_RANDOM_BELIEVER && !strstr(cell->swept, "workers"))
      AT_ALGORITHM("'%s' has 'pending: random_believer' and one worker, so that no point is ever "
                   "in flight: accepted with 'workers' of 2 or more",
                   cell->algorithm_label);
    return 0;
  }
  PetscCall(check_pending(cell, domain, found));
  check_alternation(cell, found);
  if (cell->crew.initial_time == RG_INITIAL_OVERLAPPED && cell->algorithm->outside)
    AT_ALGORITHM(
      "'%s' is told its initial design at the start: it takes no 'initial_time: overlapped'",
      cell->algorithm_label);
  if (cell->crew.initial_time == RG_INITIAL_OVERLAPPED &&
      cell->crew.workers > cell->run.initial_points)
    AT_PROBLEM("'initial_time: overlapped' needs an initial point for each worker, so that one is "
               "told before the first query: %d workers, %d initial points",
               cell->crew.workers, cell->run.initial_points);
  if (!isnan(cell->run.stop_regret))
    AT_PROBLEM("'stop_regret' needs 'workers: 1': with several, evaluations in "
               "flight would be cut off; use 'time'");
  if (cell->run.stop_rule)
    AT_PROBLEM(
      "'stop_rule' needs 'workers: 1': with several, evaluations in flight would be cut off");
  if (cell->size_x && drawn > cell->size_x)
    AT_PROBLEM(
      "'start: design' draws %d designs for %d initial points and %d workers, but '%s' has only %d",
      drawn, cell->run.initial_points, cell->crew.workers, cell->problem_label, cell->size_x);
  return 0;
}

/* A problem with given options, and its domain, which is built once for all algorithms. */
typedef struct {
  char *text;      /* canonical text of the problem's options, paths as typed; owned */
  char *identity;  /* its text in the identity of a cell; owned, NULL unless sound */
  RgDomain domain; /* owned */
  bool sound;      /* the problem passed its check */
  char *absent;    /* why its data are missing; owned; NULL if they are here or have to be */
} Variant;

typedef struct {
  RgStudy *study;
  RgDiagnostics *diagnostics;
  int n_variants;
  Variant *variants;       /* owned */
  RgText unopened;         /* names of data that the text of a results file may not open */
  int n_unopened;          /* how often cells name them */
  const char *last_absent; /* label of the problem that was left out last; borrowed */
} Checker;

/* Add mistakes to another list, each message once per place: many cells share an entry of the
   file. */
static void merge_diagnostics(RgDiagnostics *all, const RgDiagnostics *some)
{
  for (int i = 0; i < some->n && i < RG_DIAGNOSTICS_MAX; i++) {
    const RgDiagnostic *d = &some->list[i];
    bool known = false;
    for (int j = 0; j < all->n && j < RG_DIAGNOSTICS_MAX && !known; j++)
      known =
        rg_same_place(all->list[j].place, d->place) && !strcmp(all->list[j].message, d->message);
    if (!known) rg_diagnostics_add(all, d->place, "%s", d->message);
  }
}

/* The value in the options of a parameter that is the path of a data file, not of a program; NULL
   for other parameters and without a value. */
static char **data_path(const RgParam *param, void *options)
{
  char **path = (char **)((char *)options + param->offset);

  if (param->type != RG_PARAM_PATH || !strcmp(param->name, "program")) return NULL;
  return *path ? path : NULL;
}

/* Whether the problem of a cell names a data file that is not here. */
static PetscErrorCode lacks_data(const RgCell *cell, bool *lacks)
{
  for (const RgParam *p = cell->problem->params; p && p->name; p++) {
    char **path = data_path(p, cell->problem_options);
    RgText found = {0};
    if (!path || !**path) continue;
    PetscCall(rg_data_find(*path, &found));
    *lacks = *lacks || !found.length;
    PetscCall(rg_text_clear(&found));
  }
  return 0;
}

/* Note why a problem is left out: one diagnostic for each reason, with the labels of its problems
   at the end. The cells of a problem are neighbours. */
static void note_absent(Checker *checker, const RgCell *cell, const char *reason)
{
  RgDiagnostics *absent = checker->study->absent;
  const char *label = cell->problem_label, *last = checker->last_absent;
  int i = 0;

  if (last && !strcmp(last, label)) return;
  checker->last_absent = label;
  while (i < PetscMin(absent->n, RG_DIAGNOSTICS_MAX) &&
         strncmp(absent->list[i].message, reason, strlen(reason)))
    i++;
  if (i == absent->n)
    rg_diagnostics_add(absent, cell->problem_place, "%s; left out: %s", reason, label);
  else if (i < RG_DIAGNOSTICS_MAX) {
    const size_t end = strlen(absent->list[i].message);
    snprintf(absent->list[i].message + end, sizeof(absent->list[i].message) - end, ", %s", label);
  }
}

/* The variant of a cell's problem, created on first use. */
static PetscErrorCode find_variant(Checker *checker, const RgCell *cell, const char *text,
                                   const Variant **variant)
{
  for (int i = checker->n_variants - 1; i >= 0; i--) {
    if (strcmp(checker->variants[i].text, text)) continue;
    *variant = &checker->variants[i];
    return 0;
  }
  PetscCall(RG_GROW(checker->n_variants, checker->variants));
  Variant *made = &checker->variants[checker->n_variants++];
  PetscCall(PetscMemzero(made, sizeof(*made)));
  PetscCall(PetscStrallocpy(text, &made->text));
  /* Check the problem of a cell and build its domain and its identity: its options, or the text
     that replaces them. */
  const RgProblemClass *class = cell->problem;
  RgDiagnostics found = {0};
  RgText identity = {0};
  bool absent = false;
  PetscCall(rg_problem_check(class, cell->problem_options, cell->problem_place, &found));
  made->sound = found.n == 0;
  if (found.n == 1 && checker->study->absent) PetscCall(lacks_data(cell, &absent));
  if (absent) PetscCall(PetscStrallocpy(found.list[0].message, &made->absent));
  else merge_diagnostics(checker->diagnostics, &found);
  if (made->sound) {
    PetscCall(rg_problem_domain(class, cell->problem_options, &made->domain));
    if (class->source) {
      PetscCall(rg_text_add(&identity, "problem=%s@%d{", class->name, class->revision));
      PetscCall(class->source->identity(class, cell->problem_options, &identity));
      PetscCall(rg_text_add(&identity, "}"));
    } else {
      PetscCall(rg_text_add(&identity, "%s", made->text));
    }
    made->identity = identity.data;
  }
  *variant = made;
  return 0;
}

static void check_initial(const RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  const RgTrialSettings *run = &cell->run;

  if (cell->size_x && run->initial_points > cell->size_x)
    AT_PROBLEM("'initial_points' is %d, but '%s' has only %d designs", run->initial_points,
               cell->problem_label, cell->size_x);
  else if (domain->without_replacement && run->iterations > cell->size_x - run->initial_points)
    AT_PROBLEM("'%s' has %d designs, each of which may be queried once: %d initial points leave at "
               "most %d iterations, not %d",
               cell->problem_label, cell->size_x, run->initial_points,
               cell->size_x - run->initial_points, run->iterations);
  const RgAlgorithmClass *class = cell->algorithm;
  const char *instead = class->terms ? class->terms->instead : NULL;
  if (!run->initial_points && class->needs & RG_NEEDS_INITIAL &&
      !(instead && class->terms->has_instead(cell->algorithm_options)))
    AT_ALGORITHM(
      "'%s' begins with an initial design%s%s: 'initial_points' of '%s' must be 1 or more, not 0",
      cell->algorithm_label, instead ? " or " : "", instead ? instead : "", cell->problem_label);
  if (run->initial_design == RG_INITIAL_SOBOL && cell->dim_x > RG_SOBOL_MAX_DIM)
    AT_PROBLEM("'initial_design: sobol' ends at %d dimensions, '%s' has %d; 'uniform' and "
               "'latin_hypercube' have no limit",
               RG_SOBOL_MAX_DIM, cell->problem_label, cell->dim_x);
}

/* The cost of the method on this kind of design: whether it draws paths. */
static RgMethodCost cost_of(const RgCell *cell)
{
  const RgTrialSize size = {.finite = cell->size_x > 0};
  RgMethodCost cost = {0};

  if (cell->algorithm->cost) cell->algorithm->cost(cell->algorithm_options, &size, &cost);
  return cost;
}

/* Why the method can't start again here; NULL: it can. */
static const char *no_restarts(const RgCell *cell)
{
  const RgAlgorithmClass *class = cell->algorithm;

  if (cell->dim_c && !(class->needs & RG_NEEDS_NO_CONTEXT))
    return "is for methods that model the design alone; this one models a context too";
  if (class->recommend || class->traits & RG_OWN_HISTORY)
    return "is for methods that choose each query by one model of all data; this one does not";
  if (cell->size_x) return "is for boxes, not for sets";
  if (cell->dim_x > RG_SOBOL_MAX_DIM) return "draws Sobol designs, which this one is too wide for";
  return NULL;
}

/* Why the model can't have a quadratic mean here; NULL: it can. */
static const char *no_quadratic(const RgCell *cell, const RgSpace *design)
{
  if (cell->dim_c && !(cell->algorithm->needs & RG_NEEDS_NO_CONTEXT))
    return "is for methods that model the design alone; this one models a context too";
  if (cell->size_x) return "is for boxes, not for sets";
  for (int j = 0; design->inputs && j < design->dim; j++)
    if (design->inputs[j].n_words) return "is a function of numbers, and an input is a choice";
  return cost_of(cell).paths > 0 ? "is for methods that draw no paths of the model; this one does"
                                 : NULL;
}

/* Check the surrogate block against the inputs of the model: the design and, if the method
   models it, the context. */
static PetscErrorCode check_surrogate(const RgCell *cell, const RgDomain *domain,
                                      RgDiagnostics *found)
{
  const bool use_context = !(cell->algorithm->needs & RG_NEEDS_NO_CONTEXT);
  RgDiagnostics own = {0};

  PetscCall(rg_surrogate_check(&cell->surrogate, cell->dim_x, cell->dim_c, use_context,
                               cell->algorithm_place, &own));
  if (cell->surrogate.input_warping && cell->size_x)
    rg_diagnostics_add(&own, cell->algorithm_place, "'input_warping' is for boxes, not for sets");
  const char *against = cell->surrogate.restart_after > 0 ? no_restarts(cell) : NULL;
  if (against) rg_diagnostics_add(&own, cell->algorithm_place, "'restart_after' %s", against);
  const bool quadratic = cell->surrogate.mean == RG_MEAN_QUADRATIC;
  against = quadratic ? no_quadratic(cell, &domain->design) : NULL;
  if (against) rg_diagnostics_add(&own, cell->algorithm_place, "'mean: quadratic' %s", against);
  const RgKernelClass *refused = own.n ? NULL : rg_surrogate_without_spectrum(&cell->surrogate);
  const RgMethodCost cost = cost_of(cell);
  /* Paths on sets that are not small have random features, too. */
  if (refused && cost.paths > 0 && (cost.features > 0 || cell->size_x > RG_PATHS_EXACT_MAX))
    rg_diagnostics_add(&own, cell->algorithm_place,
                       "the kernel '%s' has no spectrum to draw the features of paths from",
                       refused->name);
  for (int i = 0; i < own.n && i < RG_DIAGNOSTICS_MAX; i++)
    rg_diagnostics_add(found, own.list[i].place, "surrogate of '%s' on '%s': %s",
                       cell->algorithm_label, cell->problem_label, own.list[i].message);
  return 0;
}

/* Check `solver: iterative` against the needs of the method. */
static void check_solver(const RgCell *cell, RgDiagnostics *found)
{
  const RgAlgorithmClass *class = cell->algorithm;
  char names[400];

  if (cell->surrogate.solver != RG_SOLVER_ITERATIVE) return;
  if (!(class->traits & RG_MATRIX_FREE))
    AT_ALGORITHM("'%s' needs the kernel matrix, and 'solver: iterative' has none; with it: %s",
                 cell->algorithm_label, methods_with(RG_MATRIX_FREE, names));
  for (const RgParam *p = class->params; p && p->name; p++) {
    const bool weights = p->choices == rg_path_weights;
    if (p->choices != rg_path_kind_names && !weights) continue;
    const int kind = *(const int *)((const char *)cell->algorithm_options + p->offset);
    if (weights ? kind > 0 : kind == RG_PATHS_EXACT || kind == RG_PATHS_RFF)
      AT_ALGORITHM("'%s': '%s: %s' needs a matrix, and 'solver: iterative' has none; "
                   "with it: %s",
                   cell->algorithm_label, p->name, p->choices[kind],
                   weights ? "normal" : "auto, pathwise");
  }
}

static void check_search(const RgCell *cell, RgDiagnostics *found)
{
  const int dim = cell->dim_x + (cell->control == RG_CONTEXT_SIMULATOR ? cell->dim_c : 0);

  if (cell->size_x || dim <= RG_SOBOL_MAX_DIM) return;
  AT_PROBLEM("'%s' searches '%s' from Sobol points, which end at %d dimensions; it has %d",
             cell->algorithm_label, cell->problem_label, RG_SOBOL_MAX_DIM, dim);
}

/* Read the given designs of the initial design. Their known values have the sign of the problem;
   one with contexts or constraints takes no known values. */
static PetscErrorCode check_given(RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  RgText mistake = {0};

  if (!cell->run.given) return 0;
  const int sign = rg_problem_is_minimised(cell->problem, cell->problem_options) ? -1 : 1;
  const bool known = !domain->context.dim && !domain->n_constraints;
  PetscCall(rg_given_read(cell->run.given, &domain->design, domain->without_replacement,
                          known ? sign : 0, &cell->given, &mistake));
  if (mistake.length) AT_PROBLEM("'given' of '%s': %s", cell->problem_label, mistake.data);
  else if (cell->run.initial_points < 0) cell->run.initial_points = cell->given.n;
  else if (cell->run.initial_points < cell->given.n)
    AT_PROBLEM("'given' of '%s' has %d designs, but 'initial_points' is %d: leave it out, or let "
               "it be larger (the others are drawn)",
               cell->problem_label, cell->given.n, cell->run.initial_points);
  return rg_text_clear(&mistake);
}

/* Parse the rule for failures, and replace its text by a canonical one, because it is part of
   keys. */
static PetscErrorCode check_on_failure(RgCell *cell, RgDiagnostics *found)
{
  static const char *const names[] = {"fail", "penalty", "worst", "infeasible"};
  char *typed = cell->run.on_failure, word[16] = "";
  RgOnFailure *on_failure = &cell->on_failure;
  RgText text = {0};
  int rule = 0, used = 0;

  if (!typed) return 0;
  (void)sscanf(typed, " %15s %n", word, &used);
  while (rule < 4 && strcmp(word, names[rule])) rule++;
  if (rule == 4 ||
      (rule == RG_FAILURE_PENALTY ? !rg_number_only(typed + used, &on_failure->penalty)
                                  : typed[used] != '\0') ||
      !(fabs(on_failure->penalty) <= 1e100)) {
    return AT_PROBLEM("'on_failure' is '%.60s'; accepted are fail, penalty VALUE, worst and "
                      "infeasible",
                      typed);
  }
  on_failure->rule = (RgFailureRule)rule;
  if (rule) PetscCall(rg_text_add(&text, "%s", names[rule]));
  if (rule == RG_FAILURE_PENALTY) {
    PetscCall(rg_text_add(&text, " "));
    PetscCall(rg_text_add_real(&text, on_failure->penalty));
  }
  PetscCall(PetscFree(cell->run.on_failure));
  cell->run.on_failure = text.data;
  return 0;
}

/* Count what a model stores between the levels of a grid. */
static PetscErrorCode count_tables(RgCell *cell, const RgDomain *domain)
{
  const RgSpace *x = &domain->design, *c = &domain->context;
  const int dim_c = cell->algorithm->needs & RG_NEEDS_NO_CONTEXT ? 0 : c->dim;
  int *levels;

  if (!cell->grid) return 0;
  PetscCall(PetscMalloc1(x->dim + dim_c, &levels));
  PetscCall(PetscArraycpy(levels, x->levels, x->dim));
  if (dim_c) PetscCall(PetscArraycpy(levels + x->dim, c->levels, dim_c));
  PetscCall(rg_surrogate_tables(&cell->surrogate, x->dim + dim_c, levels, &cell->tables));
  return PetscFree(levels);
}

/* Copy properties of the domain into the cell. */
static PetscErrorCode copy_domain(const RgDomain *domain, RgCell *cell)
{
  const RgSpace *design = &domain->design, *context = &domain->context;
  RgText law = {0}, inputs = {0}, contexts = {0};

  cell->dim_x = design->dim;
  cell->dim_c = context->dim;
  cell->size_x = design->size;
  cell->size_c = context->size;
  cell->control = domain->control;
  cell->dynamic =
    domain->control == RG_CONTEXT_ANNOUNCED || rg_law_drifts(domain->n_laws, domain->laws);
  PetscCall(PetscStrallocpy(domain->measure, &cell->measure));
  for (int j = 0; j < domain->n_laws; j++)
    PetscCall(rg_text_add(&law, "%s%s", j ? "; " : "", domain->laws[j]));
  if (design->inputs) PetscCall(rg_inputs_text(design->dim, design->inputs, &inputs));
  if (context->inputs) PetscCall(rg_inputs_text(context->dim, context->inputs, &contexts));
  cell->law = law.data;
  cell->inputs = inputs.data;
  cell->contexts = contexts.data;
  cell->grid = design->kind == RG_SPACE_GRID && (!context->dim || context->kind == RG_SPACE_GRID);
  cell->constraints.n = domain->n_constraints;
  return rg_names_copy(domain->n_constraints, (const char *const *)domain->constraints,
                       &cell->constraints.values);
}

/* Check that the cell and its domain are compatible. */
static PetscErrorCode check_domain(Checker *checker, RgCell *cell, const RgDomain *domain)
{
  RgDiagnostics found = {0};

  PetscCall(copy_domain(domain, cell));
  PetscCall(check_on_failure(cell, &found));
  PetscCall(check_given(cell, domain, &found));
  check_end(cell, &found);
  if (cell->run.initial_points < 0) { /* min(2^dim, 4 dim, points of a finite design) */
    const int n = cell->dim_x < 4 ? 1 << cell->dim_x : 4 * cell->dim_x;
    cell->run.initial_points = cell->size_x ? PetscMin(cell->size_x, n) : n;
  }
  /* Run the algorithm's own check; its messages also name the problem. */
  RgDiagnostics own = {0};
  PetscCall(rg_algorithm_check(cell->algorithm, cell->algorithm_options, domain,
                               cell->algorithm_place, &own));
  for (int i = 0; i < own.n && i < RG_DIAGNOSTICS_MAX; i++)
    rg_diagnostics_add(&found, own.list[i].place, "%s (on '%s')", own.list[i].message,
                       cell->problem_label);
  check_initial(cell, domain, &found);
  PetscCall(draft_check_crew(cell, domain, &found));
  PetscCall(rg_noise_check(&domain->design, cell->problem_label, cell->run.noise_variance,
                           cell->run.noise_known, &cell->noise, &found));
  if (rg_algorithm_reads(cell->algorithm, RG_BLOCK_SURROGATE)) {
    PetscCall(check_surrogate(cell, domain, &found));
    check_solver(cell, &found);
    if (!found.n) PetscCall(count_tables(cell, domain));
  }
  if (rg_algorithm_reads(cell->algorithm, RG_BLOCK_MAXIMISER)) check_search(cell, &found);
  merge_diagnostics(checker->diagnostics, &found);
  return 0;
}

PetscErrorCode rg_params_identity(const char *name, const RgParam *table, const void *options,
                                  RgText *text)
{
  PetscCall(rg_text_add(text, ";%s={", name));
  PetscCall(rg_params_canonical(table, options, text));
  return rg_text_add(text, "}");
}

/* Append the identity of a block, if the cell reads it. */
static PetscErrorCode add_block(const RgCell *cell, RgBlock block, RgText *text)
{
  if (!rg_cell_reads(cell, block)) return 0;
  return rg_params_identity(rg_blocks[block].name, rg_cell_table(cell, block),
                            rg_cell_options(cell, block), text);
}

static PetscErrorCode add_algorithm_text(const RgCell *cell, RgText *text)
{
  const RgAlgorithmClass *class = cell->algorithm;

  PetscCall(rg_text_add(text, ";algorithm=%s@%d{", class->name, class->revision));
  if (class->outside) PetscCall(class->outside->identity(cell->algorithm_options, text));
  else PetscCall(rg_params_canonical(class->params, cell->algorithm_options, text));
  PetscCall(rg_text_add(text, "}"));
  PetscCall(add_block(cell, RG_BLOCK_SURROGATE, text));
  /* A search whose results have changed adds its revision, like a method. */
  if (cell->maximiser.local_search != RG_LOCAL_SEARCH_ADAM)
    return add_block(cell, RG_BLOCK_MAXIMISER, text);
  if (!rg_cell_reads(cell, RG_BLOCK_MAXIMISER)) return 0;
  PetscCall(rg_text_add(text, ";maximiser=adam@%d{", RG_ADAM_REVISION));
  PetscCall(rg_params_canonical(rg_maximiser_params, &cell->maximiser, text));
  return rg_text_add(text, "}");
}

/* Whether the last queries have enough data for a search through contexts or a fit to save work. */
static bool is_long(const RgCell *cell)
{
  const RgAlgorithmClass *class = cell->algorithm;
  const bool searches =
    cell->dim_c && !cell->size_c && class->needs & (RG_NEEDS_NATURE | RG_NEEDS_ANNOUNCED);
  const bool fits = cell->surrogate.fit != RG_FIT_FIXED && cell->surrogate.fit_warm == RG_WARM_AUTO;

  return class->reads & RG_READS_SURROGATE && (searches || fits) &&
         cell->run.initial_points + (int64_t)cell->run.iterations > RG_LONG_DATA + 1;
}

/* The revision of the search of a box with many inputs; 0: it is that with few inputs. */
static int revision_of_search(const RgCell *cell)
{
  const RgAlgorithmClass *class = cell->algorithm;
  const RgTrialSize size = {.n = cell->run.iterations, .dim_x = cell->dim_x};
  const bool many = (cell->dim_x > RG_SEARCH_DENSE_MAX && !cell->size_x) ||
                    (cell->dim_c > RG_SEARCH_DENSE_MAX && !cell->size_c);
  const bool batched =
    cell->maximiser.local_search == RG_LOCAL_SEARCH_BATCHED && cell->maximiser.max_iterations > 0;
  RgMethodCost cost = {0};

  if (!many || !rg_algorithm_reads(class, RG_BLOCK_MAXIMISER)) return 0;
  if (class->cost) class->cost(cell->algorithm_options, &size, &cost);
  if (cost.paths > 1 || (batched && !(class->reads & RG_READS_SURROGATE)))
    return RG_WIDENED_REVISION;
  return batched ? RG_BATCHED_REVISION : 0;
}

/* Whether known values are such that their revision counts: f is computed for them, or the clock
   begins before all of the initial design is known. */
static bool has_known(const RgCell *cell)
{
  const bool all = cell->given.n == cell->run.initial_points;
  const bool counted = cell->crew.clock == RG_CLOCK_REAL ? !all : cell->crew.initial_time > 0;

  return cell->given.y && (counted || !(cell->problem->traits & RG_PROBLEM_COSTLY));
}

/* ---- data that the text of a results file names ---------------------------------------------- */

static PetscErrorCode note_unopened(Checker *checker, const char *name)
{
  RgText quoted = {0};

  checker->n_unopened++;
  PetscCall(rg_text_add(&quoted, "'%.100s'", name));
  if (!checker->unopened.length || !strstr(checker->unopened.data, quoted.data))
    PetscCall(
      rg_text_add(&checker->unopened, "%s%s", checker->unopened.length ? ", " : "", quoted.data));
  PetscCall(rg_text_clear(&quoted));
  checker->study->unopened = true;
  return 0;
}

/* Replace the paths in the options of a block by those of the files that may be opened. Programs
   stay as they are: nothing here opens them. */
static PetscErrorCode confine_paths(Checker *checker, const RgCell *cell, RgBlock block)
{
  for (const RgParam *param = rg_cell_table(cell, block); param && param->name; param++) {
    char **path = data_path(param, rg_cell_options(cell, block));
    RgText found = {0};
    bool beside;
    if (!path) continue;
    PetscCall(rg_data_find_beside(checker->study->path, *path, &found, &beside));
    if (found.length) {
      PetscCall(PetscFree(*path));
      PetscCall(PetscStrallocpy(found.data, path));
    } else {
      PetscCall(note_unopened(checker, *path));
    }
    PetscCall(rg_text_clear(&found));
  }
  return 0;
}

/* The same for `duration: recorded FILE of LABEL`, whose file is found from the study's folder. */
static PetscErrorCode confine_duration(Checker *checker, char **duration)
{
  RgText found = {0}, made = {0};
  bool beside;

  if (rg_duration_kind(*duration) != RG_DURATION_RECORDED) return 0;
  const char *begin = *duration + strcspn(*duration, " "), *of;
  begin += strspn(begin, " ");
  of = strstr(begin, " of ");
  PetscCall(rg_text_add(&made, "%.*s", (int)(of ? (size_t)(of - begin) : strlen(begin)), begin));
  while (made.length && made.data[made.length - 1] == ' ') made.data[--made.length] = '\0';
  PetscCall(rg_data_find_beside(checker->study->path, made.data, &found, &beside));
  if (!found.length || strstr(found.data, " of ")) {
    if (!beside) PetscCall(note_unopened(checker, made.data));
  } else if (!beside) {
    PetscCall(rg_text_clear(&made));
    PetscCall(rg_text_add(&made, "recorded %s%s", found.data, of ? of : ""));
    PetscCall(PetscFree(*duration));
    PetscCall(PetscStrallocpy(made.data, duration));
  }
  PetscCall(rg_text_clear(&made));
  return rg_text_clear(&found);
}

/* Find the data and programs of a cell. *may: the data may be opened. */
static PetscErrorCode find_files(Checker *checker, RgCell *cell, bool *may)
{
  const int before = checker->n_unopened;

  for (RgBlock b = 0; b < RG_BLOCK_COUNT && checker->study->stored; b++)
    PetscCall(confine_paths(checker, cell, b));
  if (checker->study->stored) PetscCall(confine_duration(checker, &cell->crew.duration));
  *may = checker->n_unopened == before;
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    PetscCall(
      rg_params_resolve(rg_cell_table(cell, b), rg_cell_options(cell, b),
                        b == RG_BLOCK_ALGORITHM ? cell->algorithm_place : cell->problem_place));
  return 0;
}

/* Check a cell and write its identity: everything that can change a result, and nothing else.
   Paths stay as typed, so that the text does not depend on the working directory. */
static PetscErrorCode check_cell(Checker *checker, RgCell *cell)
{
  RgText problem = {0}, algorithm = {0}, text = {0}, outside = {0};
  const Variant *variant = NULL;
  bool may = false;

  PetscCall(rg_text_add(&problem, "problem=%s@%d{", cell->problem->name, cell->problem->revision));
  PetscCall(rg_params_canonical(cell->problem->params, cell->problem_options, &problem));
  PetscCall(rg_text_add(&problem, "}"));
  if (!cell->algorithm->outside) PetscCall(add_algorithm_text(cell, &algorithm));
  PetscCall(find_files(checker, cell, &may));
  if (cell->algorithm->outside) PetscCall(add_algorithm_text(cell, &algorithm));
  if (may) PetscCall(find_variant(checker, cell, problem.data, &variant));
  if (may && variant->absent) note_absent(checker, cell, variant->absent);
  if (may && variant->sound) {
    PetscCall(check_domain(checker, cell, &variant->domain));
    PetscCall(rg_text_add(&text, "%s", variant->identity));
    cell->problem_length = text.length;
    PetscCall(rg_text_add(&text, ";run={"));
    /* Append the run settings; a hash of its contents replaces the file `given`. */
    RgTrialSettings run = cell->run;
    run.given = NULL;
    PetscCall(rg_params_canonical(rg_run_params, &run, &text));
    PetscCall(rg_given_identity(&cell->given, cell->dim_x, &text));
    PetscCall(rg_text_add(&text, "}"));
    PetscCall(add_block(cell, RG_BLOCK_NOISE, &text));
    PetscCall(rg_crew_identity(&cell->crew, &text));
    if (cell->pending.rule) PetscCall(add_block(cell, RG_BLOCK_PENDING, &text));
    if (cell->algorithm->reads && rg_space_has_levels(&variant->domain.design))
      PetscCall(rg_text_add(&text, ";levels=%d", RG_LEVELS_REVISION));
    if (rg_algorithm_reads(cell->algorithm, RG_BLOCK_SURROGATE) && cell->surrogate.transform)
      PetscCall(rg_text_add(&text, ";transform=%d", RG_TRANSFORM_REVISION));
    if (is_long(cell)) PetscCall(rg_text_add(&text, ";long=%d", RG_LONG_REVISION));
    if (revision_of_search(cell))
      PetscCall(rg_text_add(&text, ";batched=%d", revision_of_search(cell)));
    if (has_known(cell)) PetscCall(rg_text_add(&text, ";known=%d", RG_KNOWN_REVISION));
    PetscCall(rg_text_add(&text, "%s", algorithm.data));
    cell->text = text.data;
    if (checker->study->programs && cell->algorithm->outside) { /* hash its programs, once */
      PetscCall(cell->algorithm->outside->version(cell->algorithm_options, &outside));
      cell->outside = outside.data;
    }
  }
  PetscCall(rg_text_clear(&problem));
  return rg_text_clear(&algorithm);
}

static int compare_cells(const void *left, const void *right)
{
  const RgCell *a = *(const RgCell *const *)left, *b = *(const RgCell *const *)right;
  int order = strcmp(a->text, b->text);
  return order ? order : (a > b) - (a < b);
}

static PetscErrorCode check_duplicates(Checker *checker)
{
  const RgStudy *study = checker->study;
  const RgCell **sorted;

  PetscCall(PetscMalloc1(study->n_cells, &sorted));
  for (int i = 0; i < study->n_cells; i++) sorted[i] = &study->cells[i];
  qsort(sorted, (size_t)study->n_cells, sizeof(*sorted), compare_cells);
  for (int i = 1; i < study->n_cells; i++) {
    const RgCell *a = sorted[i - 1], *b = sorted[i];
    if (strcmp(a->text, b->text)) continue;
    const bool same_problem = rg_same_place(a->problem_place, b->problem_place);
    rg_diagnostics_add(
      checker->diagnostics, same_problem ? b->algorithm_place : b->problem_place,
      "'%s' on '%s'%s%s repeats '%s' on '%s'%s%s: same problem, algorithm and settings%s",
      b->algorithm_label, b->problem_label, b->swept[0] ? " with " : "", b->swept,
      a->algorithm_label, a->problem_label, a->swept[0] ? " with " : "", a->swept,
      a->crew.workers == 1 &&
          (a->pending.rule != b->pending.rule || a->pending.penaliser != b->pending.penaliser)
        ? " ('pending' says nothing with 'workers: 1')"
        : "");
  }
  return PetscFree(sorted);
}

/* A study with `stop_rule` needs a method that has a rule. */
static void check_rules(const RgStudy *study, RgDiagnostics *found)
{
  const RgCell *cell = NULL;
  char names[400];

  for (int i = 0; i < study->n_cells; i++) {
    if (study->cells[i].algorithm->traits & RG_STOPS) return;
    if (study->cells[i].run.stop_rule) cell = &study->cells[i];
  }
  if (!cell) return;
  AT_PROBLEM("'stop_rule' ends no trial, because no method here has a rule to stop; with one: %s",
             methods_with(RG_STOPS, names));
}

/* Remove the cells without an identity. */
static PetscErrorCode remove_absent(RgStudy *study)
{
  int n = 0;

  for (int i = 0; i < study->n_cells; i++) {
    if (study->cells[i].text) study->cells[n++] = study->cells[i];
    else PetscCall(rg_cell_destroy(&study->cells[i]));
  }
  study->n_cells = n;
  return 0;
}

PetscErrorCode rg_study_check(RgStudy *study, RgDiagnostics *diagnostics)
{
  Checker checker = {.study = study, .diagnostics = diagnostics};
  const int before = diagnostics->n;

  for (int i = 0; i < study->n_cells; i++) PetscCall(check_cell(&checker, &study->cells[i]));
  for (int i = 0; i < checker.n_variants; i++) {
    PetscCall(rg_domain_destroy(&checker.variants[i].domain));
    PetscCall(PetscFree(checker.variants[i].text));
    PetscCall(RG_FREE(&checker.variants[i].identity, &checker.variants[i].absent));
  }
  PetscCall(PetscFree(checker.variants));
  if (study->unopened)
    rg_diagnostics_add(diagnostics, (RgPlace){study->path, 0, 0},
                       "data not opened, because no such file is beside this one or in "
                       "REGATTA_DATA: %.360s; copy it there",
                       checker.unopened.data);
  PetscCall(rg_text_clear(&checker.unopened));
  if (study->absent && diagnostics->n == before) PetscCall(remove_absent(study));
  check_rules(study, diagnostics);
  if (diagnostics->n > before) return 0;
  return check_duplicates(&checker);
}
