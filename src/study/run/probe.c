/* Short trials before a study begins. */
#include "study/run/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "gp/team/team.h"
#include "study/plan/cost.h"
#include "study/trial/trial.h"

/* ---- a problem that costs nothing ------------------------------------------------------------ */

/* A smooth function of the design, in place of the problem. */
static PetscErrorCode made_up_value(RgProblem *problem, int m, const RgPoint *points, double *f,
                                    RgFailure *failure)
{
  const RgSpace *design = &problem->domain.design;
  double *unit;

  PetscFunctionBeginUser;
  (void)failure;
  PetscCall(PetscMalloc1(design->dim, &unit));
  for (int i = 0; i < m; i++) {
    rg_space_to_unit(design, points[i].x, unit);
    f[i] = 0;
    for (int j = 0; j < design->dim; j++) f[i] -= pow(unit[j] - 0.4, 2);
  }
  PetscCall(PetscFree(unit));
  PetscFunctionReturn(0);
}

static PetscErrorCode no_violation(RgProblem *problem, int m, const RgPoint *points,
                                   double *constraints, RgFailure *failure)
{
  PetscFunctionBeginUser;
  (void)points, (void)failure;
  for (int i = 0; i < m * problem->domain.n_constraints; i++) constraints[i] = -1;
  PetscFunctionReturn(0);
}

static PetscErrorCode any_context(RgProblem *problem, RgRandom *random, double *c, int *index)
{
  const RgSpace *context = &problem->domain.context;

  PetscFunctionBeginUser;
  *index = context->size ? (int)rg_random_below(random, (uint64_t)context->size) : -1;
  for (int j = 0; j < context->dim; j++)
    c[j] = context->lower[j] + rg_random_uniform(random) * (context->upper[j] - context->lower[j]);
  if (*index >= 0) rg_space_to_native(context, context->points + (size_t)*index * context->dim, c);
  PetscFunctionReturn(0);
}

/* A study of one cell. A made-up problem has the domain of the cell's problem. */
typedef struct {
  RgStudy study;
  RgCell cell;
  RgProblemClass problem;
  char duration[16]; /* of evaluations of the made-up problem */
} Rehearsal;

static void rehearse(const RgStudy *study, const RgCell *cell, bool made_up, Rehearsal *r)
{
  *r = (Rehearsal){.study = *study, .cell = *cell, .duration = "point(1)"};
  r->study.cells = &r->cell;
  r->study.n_cells = 1;
  if (!made_up) return;
  const RgProblemClass *class = cell->problem;
  r->problem = (RgProblemClass){.name = class->name,
                                .title = class->title,
                                .params = class->params,
                                .options_size = class->options_size,
                                .family = class->family,
                                .traits = RG_PROBLEM_COSTLY,
                                .domain = class->domain,
                                .evaluate = made_up_value,
                                .constrain = no_violation,
                                .draw_context = any_context};
  r->cell.problem = &r->problem;
  if (rg_crew_has_clock(&r->cell.crew)) r->cell.crew.duration = r->duration;
  r->cell.crew.clock = RG_CLOCK_SIMULATED;
  r->cell.n_scores = 0;
  r->cell.score = -1;
}

/* ---- a trial in part ------------------------------------------------------------------------- */

/* The times of the queries in a trial with an initial design of `first` points. */
typedef struct {
  bool by_wall;
  double limit; /* the trial ends after this many seconds from the first query */
  int least;    /* and at least this many queries */
  int first;
  int n[2];          /* number of evaluations after the first and after the last query */
  double seconds[2]; /* clock at these moments */
  double whole;      /* seconds of the whole trial */
  char message[256]; /* reason of a failure */
  bool complete;     /* the trial ran to its end */
} Timing;

static double clock_of(const Timing *timing)
{
  return timing->by_wall ? rg_wall_seconds() : rg_cpu_seconds();
}

static bool is_enough(void *closure, int n)
{
  Timing *timing = closure;
  const int which = n > timing->first + 1;

  timing->n[which] = n;
  timing->seconds[which] = clock_of(timing);
  return n - timing->first >= timing->least &&
         timing->seconds[which] - timing->seconds[0] >= timing->limit;
}

static PetscErrorCode run_part(const Rehearsal *r, RgInstances *instances, Timing *timing)
{
  const int n = timing->first + r->cell.run.iterations;
  RgTrial trial = {.seed = r->study.n_seeds ? r->study.seeds[0] : 1,
                   .n_initial = timing->first,
                   .n_evaluations = n,
                   .dim_x = r->cell.dim_x,
                   .dim_c = r->cell.dim_c};
  RgTrialHost host = {.instances = instances, .enough = is_enough, .enough_closure = timing};
  RgRecord record;
  bool stopped;

  PetscFunctionBeginUser;
  if (r->study.paired) trial.instance = trial.seed;
  const double start = clock_of(timing);
  PetscCall(rg_trial_run(&r->study, &trial, &host, &record, &stopped));
  timing->whole = clock_of(timing) - start;
  timing->complete = !stopped && record.status == RG_STATUS_COMPLETE && record.n_rows == n;
  if (stopped) PetscFunctionReturn(0);
  if (record.status == RG_STATUS_FAILED)
    snprintf(timing->message, sizeof(timing->message), "%s", record.message);
  PetscCall(rg_record_destroy(&record));
  PetscFunctionReturn(0);
}

static bool same_entries(const RgCell *a, const RgCell *b)
{
  return rg_same_place(a->algorithm_place, b->algorithm_place) &&
         rg_same_place(a->problem_place, b->problem_place);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Whether an earlier cell has the same entries and speaks the same protocol: then program and
   problem are the same, and only swept settings differ. */
static bool is_tried(const RgStudy *study, int cell)
{
  for (int i = 0; i < cell; i++)
    if (same_entries(&study->cells[i], &study->cells[cell]) &&
        (study->cells[i].crew.workers > 1) == (study->cells[cell].crew.workers > 1))
      return true;
  return false;
}

/* Whether the method failed already on another problem; it is reported once. */
static bool has_failed(RgPlace place, const RgDiagnostics *diagnostics)
{
  for (int i = 0; i < diagnostics->n && i < RG_DIAGNOSTICS_MAX; i++)
    if (rg_same_place(diagnostics->list[i].place, place)) return true;
  return false;
}

/* Try a program with an initial design of eight points, so that some inputs don't count if the
   domain has such inputs. */
static PetscErrorCode try_program(const RgStudy *study, const RgCell *cell, char message[256])
{
  const int n = cell->run.initial_points;
  Timing timing = {.by_wall = true, .limit = 0, .least = 1, .first = n};
  RgDomain domain = {0};
  Rehearsal r;

  PetscFunctionBeginUser;
  PetscCall(cell->problem->domain(cell->problem, cell->problem_options, &domain));
  if (n && rg_space_is_conditional(&domain.design)) timing.first = PetscMax(n, 8);
  PetscCall(rg_domain_destroy(&domain));
  rehearse(study, cell, true, &r);
  PetscCall(run_part(&r, NULL, &timing));
  snprintf(message, 256, "%s", timing.message);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_probe_programs(const RgStudy *study, RgDiagnostics *diagnostics)
{
  char message[256];

  PetscFunctionBeginUser;
  PetscCall(rg_recorded_check(study, diagnostics));
  for (int i = 0; i < study->n_cells; i++) {
    const RgCell *cell = &study->cells[i];
    if (!cell->algorithm->outside || is_tried(study, i)) continue;
    if (has_failed(cell->algorithm_place, diagnostics)) continue;
    PetscCall(try_program(study, cell, message));
    if (message[0])
      rg_diagnostics_add(diagnostics, cell->algorithm_place, "'%s' fails on '%s' at %s",
                         cell->algorithm_label, cell->problem_label, message);
  }
  PetscFunctionReturn(0);
}

/* ---- costs ----------------------------------------------------------------------------------- */

#define AGAIN 0.03 /* a shorter trial is repeated, with warm caches */
#define TIMES 4
#define PART 0.3       /* seconds of a part of a trial */
#define ALL 60.0       /* seconds of all probes */
#define PER_QUERY 20.0 /* nominal seconds per query of the most expensive cells that are timed */
#define OBJECTIVES 16  /* number of designs at which F is timed */

/* Measure seconds per query at about `first` data; *at: middle of the timed queries. */
static PetscErrorCode time_part(const Rehearsal *r, RgInstances *instances, int first,
                                Timing *timing, double *at, double *each)
{
  PetscFunctionBeginUser;
  *timing = (Timing){
    .by_wall = r->cell.algorithm->outside != NULL, .limit = PART, .least = 3, .first = first};
  PetscCall(run_part(r, instances, timing));
  const int n = timing->n[1] - timing->n[0];
  *at = 0.5 * (timing->n[0] + timing->n[1]);
  *each = n > 0 ? (timing->seconds[1] - timing->seconds[0]) / n : NAN;
  PetscFunctionReturn(0);
}

/* Integral over [a, b] of the piecewise linear function through k points, constant outside. */
static double integral(int k, const double *x, const double *y, double a, double b)
{
  enum { STEPS = 200 };
  double sum = 0;

  for (int s = 0; s < STEPS; s++) {
    const double at = a + (s + 0.5) * (b - a) / STEPS;
    int i = 0;
    while (i < k - 1 && x[i + 1] < at) i++;
    const double share = i < k - 1 ? fmin(fmax((at - x[i]) / (x[i + 1] - x[i]), 0), 1) : 0;
    sum += y[i] + (i < k - 1 ? share * (y[i + 1] - y[i]) : 0);
  }
  return sum * (b - a) / STEPS;
}

/* Time F at all designs of a trial, for problems whose F needs more than f. */
static PetscErrorCode time_objectives(const Rehearsal *r, RgInstances *instances, double *seconds)
{
  const int n = r->cell.run.initial_points + r->cell.run.iterations;
  const int times = r->cell.algorithm->recommend ? 2 : 1;
  RgFailure failure = {0};
  RgInstance *instance;
  double *x, F;

  PetscFunctionBeginUser;
  *seconds = 0;
  if (!r->cell.problem->objective || r->cell.size_x) PetscFunctionReturn(0);
  PetscCall(rg_instances_take(instances, NULL, &r->study, &r->cell,
                              r->study.paired && r->study.n_seeds ? r->study.seeds[0] : 0,
                              &instance, &failure));
  const RgSpace *design = &instance->problem.domain.design;
  PetscCall(PetscMalloc1(r->cell.dim_x, &x));
  const double start = rg_cpu_seconds();
  for (int i = 0; i < OBJECTIVES && !failure.failed; i++) {
    const RgPoint point = {.index = -1, .x = x, .context_index = -1};
    for (int j = 0; j < design->dim; j++)
      x[j] = design->lower[j] + (i + 0.5) / OBJECTIVES * (design->upper[j] - design->lower[j]);
    PetscCall(rg_problem_objective(&instance->problem, 1, &point, &F, &failure));
  }
  *seconds = (rg_cpu_seconds() - start) / OBJECTIVES * n * times;
  PetscCall(PetscFree(x));
  PetscCall(rg_instances_give_back(&instance));
  PetscFunctionReturn(0);
}

/* Estimate the seconds of the remaining queries after the first part of a trial, from timings in
   its middle and at its end. */
static PetscErrorCode time_rest(const Rehearsal *r, RgInstances *instances, const Timing *begun,
                                double at, double each, double *rest)
{
  const int n = r->cell.run.initial_points + r->cell.run.iterations, reached = begun->n[1];
  const int most = (r->cell.size_x ? PetscMin(n, r->cell.size_x) : n) - 4;
  const int first[] = {(reached + n) / 2 - 2, n - 4};
  double x[3] = {at}, y[3] = {each};
  int k = 1;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    Timing timing;
    if (first[i] <= x[k - 1] || first[i] > most) continue;
    PetscCall(time_part(r, instances, first[i], &timing, &x[k], &y[k]));
    k += isfinite(y[k]);
  }
  *rest = integral(k, x, y, reached, n);
  PetscFunctionReturn(0);
}

static PetscErrorCode time_cell(const RgStudy *study, const RgCell *cell, double *seconds)
{
  const int n = cell->run.initial_points + cell->run.iterations;
  const bool costly = cell->problem->traits & RG_PROBLEM_COSTLY;
  double at = 0, each = NAN, rest = 0, objectives = 0;
  RgInstances *instances;
  Rehearsal r;
  Timing timing;

  PetscFunctionBeginUser;
  rehearse(study, cell, costly, &r);
  PetscCall(rg_instances_create(&instances));
  PetscCall(time_part(&r, instances, cell->run.initial_points, &timing, &at, &each));
  for (int i = 1; i < TIMES && timing.complete && timing.whole < AGAIN; i++) {
    const double before = timing.whole;
    PetscCall(time_part(&r, instances, cell->run.initial_points, &timing, &at, &each));
    timing.whole = fmin(timing.whole, before);
  }
  if (!timing.complete && isfinite(each) && !timing.message[0])
    PetscCall(time_rest(&r, instances, &timing, at, each, &rest));
  if (!costly && !timing.message[0]) PetscCall(time_objectives(&r, instances, &objectives));
  *seconds = timing.message[0] ? NAN : timing.whole + rest + objectives;
  *seconds += n * rg_problem_cost(cell->problem, cell->problem_options).evaluation;
  PetscCall(rg_instances_destroy(&instances));
  PetscFunctionReturn(0);
}

static bool is_known(const RgCalibration *calibration, const RgStudy *study, int cell)
{
  for (int i = 0; i < study->n_cells; i++)
    if (calibration->n[i] && same_entries(&study->cells[i], &study->cells[cell])) return true;
  return false;
}

/* Whether this process can run the trials of a cell: solves without a matrix need PETSc, which
   `plan` does not start. */
static bool can_run(const RgCell *cell)
{
  PetscBool started = PETSC_FALSE;

  return cell->surrogate.solver != RG_SOLVER_ITERATIVE || (!PetscInitialized(&started) && started);
}

/* Whether a cell needs no team, and a few of its queries fit the time of a probe. */
static bool is_small(const RgCell *cell)
{
  const double n = PetscMax(1, cell->run.initial_points + cell->run.iterations);
  const RgProblemCost problem = rg_problem_cost(cell->problem, cell->problem_options);

  return cell->run.ranks_per_trial <= 1 && rg_cost_order(cell) < rg_team_measured_crossover(2) &&
         rg_cost_nominal(cell) / n - problem.evaluation < PER_QUERY && cell->run.iterations > 0;
}

PetscErrorCode rg_probe_costs(const RgPlan *plan, RgCalibration *calibration)
{
  const RgStudy *study = plan->study;
  const double start = rg_wall_seconds();

  PetscFunctionBeginUser;
  for (int c = 0; c < study->n_cells && rg_wall_seconds() - start < ALL; c++) {
    double seconds;
    if (is_known(calibration, study, c) || !is_small(&study->cells[c]) ||
        !can_run(&study->cells[c]))
      continue;
    PetscCall(time_cell(study, &study->cells[c], &seconds));
    rg_calibration_probe(calibration, c, seconds);
  }
  PetscFunctionReturn(0);
}

/* ---- searches for optima --------------------------------------------------------------------- */

#define SEARCH                                                                                     \
  13000.0            /* evaluations of F per coordinate of a box, of the rough F if there is one */
#define REFINE 100.0 /* evaluations of F per coordinate after those of the rough F */
enum { BATCH = 1024 };

/* Measure the seconds of an F at points all over the design: more points until they take 10 ms. */
static PetscErrorCode time_values(RgProblem *problem, bool draft, double *each)
{
  const RgSpace *design = &problem->domain.design;
  const size_t dim = (size_t)design->dim;
  RgFailure failure = {0};
  double *x, *F, took = 0;
  RgPoint *points;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(BATCH * dim, &x, BATCH, &F, BATCH, &points));
  for (size_t i = 0; i < BATCH; i++) {
    const double *unit = x + i * dim;
    const int index = design->size ? (int)(i * (size_t)design->size / BATCH) : -1;
    for (size_t j = 0; j < dim; j++)
      x[i * dim + j] = index >= 0 ? design->points[(size_t)index * dim + j]
                                  : fmod(0.754877666 * (double)(i * dim + j + 1), 1);
    rg_space_to_native(design, unit, x + i * dim);
    points[i] = (RgPoint){.index = index, .x = unit, .context_index = -1};
  }
  problem->draft = draft;
  for (int m = 2; m <= BATCH && took < 0.01; m *= 8) {
    const double start = rg_cpu_seconds();
    PetscCall(rg_problem_objective(problem, m, points, F, &failure));
    took = rg_cpu_seconds() - start;
    *each = took / m;
  }
  problem->draft = false;
  PetscCall(PetscFree3(x, F, points));
  PetscFunctionReturn(0);
}

/* Estimate the seconds of a search; 0 if the optimum is known, or is not searched for. */
static PetscErrorCode time_search(const RgStudy *study, const RgCell *cell, uint64_t instance,
                                  double *seconds)
{
  RgFailure failure = {0};
  RgProblem problem;
  double rough = 0, exact = 0;

  PetscFunctionBeginUser;
  *seconds = 0;
  if (cell->problem->traits & RG_PROBLEM_COSTLY || !is_small(cell)) PetscFunctionReturn(0);
  PetscCall(rg_problem_create(cell->problem, cell->problem_options, study->seed, instance, &problem,
                              &failure));
  if (!failure.failed && isnan(problem.optimum) && !problem.domain.n_constraints) {
    if (problem.has_draft) PetscCall(time_values(&problem, true, &rough));
    PetscCall(time_values(&problem, false, &exact));
    if (cell->size_x) *seconds = exact * cell->size_x;
    else if (problem.has_draft) *seconds = cell->dim_x * (SEARCH * rough + REFINE * exact);
    else *seconds = cell->dim_x * SEARCH * exact;
  }
  PetscCall(rg_problem_destroy(&problem));
  PetscFunctionReturn(0);
}

/* The cell with the most trials to run among those with the problem of cell c; -1: an earlier cell
   has that problem, or there is nothing to run. */
static int most_to_run(const RgPlan *plan, const unsigned char *done, int c)
{
  const RgCell *cells = plan->study->cells;
  int best = -1, most = 0;

  for (int i = c - 1; i >= 0; i--) /* backwards, because equal problems are neighbours */
    if (rg_cell_same_problem(&cells[c], &cells[i])) return -1;
  for (int i = c; i < plan->study->n_cells; i++) {
    int left = 0;
    if (!rg_cell_same_problem(&cells[c], &cells[i])) continue;
    for (int k = 0; k < plan->cells[i].n; k++) left += !done[plan->cells[i].first + k];
    if (left > most) best = i;
    most = PetscMax(most, left);
  }
  return best;
}

PetscErrorCode rg_probe_optima(const RgPlan *plan, const unsigned char *done, int *n,
                               double *seconds)
{
  const double start = rg_wall_seconds();

  PetscFunctionBeginUser;
  *seconds = *n = 0;
  for (int c = 0; c < plan->study->n_cells && rg_wall_seconds() - start < ALL; c++) {
    const int cell = most_to_run(plan, done, c);
    uint64_t last = UINT64_MAX;
    double each = -1;
    for (int i = 0; cell >= 0 && i < plan->cells[cell].n && each != 0; i++) {
      RgTrial trial;
      if (done[plan->cells[cell].first + i]) continue;
      PetscCall(rg_plan_trial(plan, plan->cells[cell].first + i, &trial));
      if (trial.instance == last) continue;
      last = trial.instance;
      if (each < 0) PetscCall(time_search(plan->study, &plan->study->cells[cell], last, &each));
      *n += each > 0;
      *seconds += each;
    }
  }
  PetscFunctionReturn(0);
}
