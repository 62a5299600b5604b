/* Short trials before a study begins. */
#include "study/run/probe.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"
#include "gp/posterior/posterior.h"
#include "gp/team/team.h"
#include "study/file/cell_data.h"
#include "study/plan/cost.h"
#include "study/trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PART 0.5     /* seconds of a part of a trial */
#define COARSE 1.5   /* of a part with coarse searches */
#define OWN_PART 3.0 /* of methods that select data: nothing but a trial has their data */
#define LEAST 3      /* queries of a part, even if they take longer */
#define AGAIN 0.1    /* a shorter trial is repeated, with warm caches */
#define TIMES 4
#define STARTS 10.0   /* seconds of an evaluation that may include the start of a program */
#define PATIENCE 30.0 /* seconds that an evaluation of unknown duration may take */

/* ---- a problem that costs nothing ------------------------------------------------------------ */

/* A smooth function of the design, in place of the problem. It is largest where inputs don't count:
   a program that starts from the best design then meets such inputs. */
static PetscErrorCode made_up_value(RgProblem *problem, int m, const RgPoint *points, double *f,
                                    RgFailure *failure)
{
  const RgSpace *design = &problem->domain.design;
  double *unit;
  bool *counts;

  PetscCall(PetscMalloc2(design->dim, &unit, design->dim, &counts));
  for (int i = 0; i < m; i++) {
    rg_space_to_unit(design, points[i].x, unit);
    rg_space_normalise(design, unit, counts);
    f[i] = 0;
    for (int j = 0; j < design->dim; j++) f[i] += counts[j] ? -pow(unit[j] - 0.4, 2) : 1;
  }
  return PetscFree2(unit, counts);
}

static PetscErrorCode no_violation(RgProblem *problem, int m, const RgPoint *points,
                                   double *constraints, RgFailure *failure)
{
  for (int i = 0; i < m * problem->domain.n_constraints; i++) constraints[i] = -1;
  return 0;
}

static PetscErrorCode any_context(RgProblem *problem, RgRandom *random, double *c, int *index)
{
  const RgSpace *context = &problem->domain.context;

  *index = context->size ? (int)rg_random_below(random, (uint64_t)context->size) : -1;
  for (int j = 0; j < context->dim; j++)
    c[j] = context->lower[j] + rg_random_uniform(random) * (context->upper[j] - context->lower[j]);
  if (*index >= 0) rg_space_to_native(context, context->points + (size_t)*index * context->dim, c);
  return 0;
}

/* A study of one cell. A made-up problem has the domain of the cell's problem. */
typedef struct {
  RgStudy study;
  RgCell cell;
  RgProblemClass problem;
  char duration[16]; /* of evaluations of the made-up problem */
} Rehearsal;

static PetscErrorCode rehearse(const RgStudy *study, const RgCell *cell, bool made_up, Rehearsal *r)
{
  RgCellData *data; /* of the study, which owns it; copies of the cell share it */

  PetscCall(rg_cell_data(study, (int)(cell - study->cells), &data));
  *r = (Rehearsal){.study = *study, .cell = *cell, .duration = "point(1)"};
  r->study.cells = &r->cell;
  r->study.n_cells = 1;
  if (!made_up) return 0;
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
  return 0;
}

static PetscErrorCode acquire_instance(const Rehearsal *r, RgInstances *instances,
                                       RgInstance **instance, RgFailure *failure)
{
  return rg_instances_acquire(instances, NULL, &r->study, &r->cell,
                              r->study.paired && r->study.n_seeds ? r->study.seeds[0] : 0, instance,
                              failure);
}

/* ---- a trial in part ------------------------------------------------------------------------- */

/* The clock of a trial with an initial design of `first` points. */
typedef struct {
  bool by_wall;
  double limit;      /* seconds after the first query at which the part ends */
  int least;         /* queries of a part, even if they take longer */
  int last;          /* evaluations of a whole trial, at which the part ends in any case */
  int first, n;      /* evaluations before the first query; at the newest reading of the clock */
  double *at;        /* readings of the clock after first + 1, first + 2, ..., n; owned */
  double whole;      /* seconds of the whole trial */
  bool complete;     /* the trial ran to its end */
  char message[256]; /* reason of a failure */
} Timing;

static double clock_of(const Timing *timing)
{
  return timing->by_wall ? rg_wall_seconds() : rg_cpu_seconds();
}

/* Read the clock after n evaluations, and decide whether the part has enough queries. Several
   workers make several queries from the same data, and tell several values at once. */
static bool is_enough(void *closure, int n)
{
  Timing *timing = closure;
  const double now = clock_of(timing);

  for (int i = PetscMax(timing->n, timing->first); i < n; i++) timing->at[i - timing->first] = now;
  timing->n = n;
  return n - timing->first >= timing->least &&
         (n >= timing->last || timing->at[n - timing->first - 1] - timing->at[0] >= timing->limit);
}

/* Run a part of a trial; its caller frees timing->at and the record. */
static PetscErrorCode run_part(const Rehearsal *r, RgInstances *instances, Timing *timing,
                               RgRecord *record)
{
  const int n = timing->first + r->cell.run.iterations;
  RgTrial trial = {.seed = r->study.n_seeds ? r->study.seeds[0] : 1,
                   .n_initial = timing->first,
                   .n_evaluations = n,
                   .dim_x = r->cell.dim_x,
                   .dim_c = r->cell.dim_c};
  RgTrialServices host = {.instances = instances, .enough = is_enough, .enough_closure = timing};
  bool stopped;

  if (r->study.paired) trial.instance = trial.seed;
  timing->n = 0;
  PetscCall(PetscMalloc1(n + 1, &timing->at));
  const double start = clock_of(timing);
  PetscCall(rg_trial_run(&r->study, &trial, &host, record, &stopped));
  timing->whole = clock_of(timing) - start;
  timing->complete = !stopped && record->status == RG_STATUS_COMPLETE && record->n_rows == n;
  if (stopped) snprintf(timing->message, sizeof(timing->message), "it was stopped");
  else if (record->status == RG_STATUS_FAILED)
    snprintf(timing->message, sizeof(timing->message), "%s", record->message);
  return 0;
}

/* ---- designs that continue a trial ----------------------------------------------------------- */

/* Fill row i of a design: a point between two of the latest queries, mostly near one of them. An
   input that is no number in a box comes from one or the other. */
static void continue_row(const RgSpace *design, RgRandom *random, int n, const double *unit,
                         double *row)
{
  const size_t dim = (size_t)design->dim;
  const int from = n / 2;
  const double *a = unit + (from + rg_random_below(random, (uint64_t)(n - from))) * dim;
  const double *b = unit + (from + rg_random_below(random, (uint64_t)(n - from))) * dim;
  const double share = pow(rg_random_uniform(random), 6);

  for (size_t j = 0; j < dim; j++)
    row[j] = design->inputs ? (share < 0.5 ? a : b)[j] : a[j] + share * (b[j] - a[j]);
}

/* Make `first` designs in a box: those of the record, then designs that continue them. In a finite
   domain, where the place of designs hardly matters, the initial design stays as it is. */
static PetscErrorCode continue_designs(Rehearsal *r, RgInstances *instances, const RgRecord *record,
                                       int first)
{
  RgGiven *given = &r->cell.given;
  RgInstance *instance;
  RgFailure failure = {0};
  RgStream stream = rg_stream(r->study.seed, "rehearsal", 0, "design", 1);
  RgRandom random = rg_stream_at(&stream, (uint64_t)first);
  const size_t dim = (size_t)r->cell.dim_x;

  if (r->cell.size_x || !record->n_rows) return 0;
  PetscCall(acquire_instance(r, instances, &instance, &failure));
  const RgSpace *design = &instance->problem.domain.design;
  *given = (RgGiven){.n = first};
  PetscCall(
    PetscMalloc3(first * dim, &given->x, first * dim, &given->native, first, &given->index));
  for (int i = 0; i < first; i++) {
    double *unit = given->x + i * dim;
    given->index[i] = -1;
    if (i < record->n_rows) rg_space_to_unit(design, record->column[RG_COLUMN_X] + i * dim, unit);
    else continue_row(design, &random, record->n_rows, given->x, unit);
    rg_space_to_native(design, unit, given->native + i * dim);
  }
  return rg_instances_release(&instance);
}

/* Run a later part of a trial, whose data continue a record; nothing happens where a finite domain
   has too few designs for its initial design. coarse: with coarse searches and few fits, which take
   a small part of the time and lead to much the same places. */
static PetscErrorCode run_later_part(const Rehearsal *begun, bool coarse, RgInstances *instances,
                                     const RgRecord *record, Timing *timing, RgRecord *later)
{
  Rehearsal r = *begun;
  const int more = r.cell.crew.start == RG_START_DESIGN ? r.cell.crew.workers : 0;

  *later = (RgRecord){0};
  if (r.cell.size_x && timing->first + more >= r.cell.size_x) return 0;
  r.study.cells = &r.cell;
  if (coarse) {
    r.cell.maximiser.raw_samples = PetscMin(r.cell.maximiser.raw_samples, 64);
    r.cell.maximiser.restarts = PetscMin(r.cell.maximiser.restarts, 1);
    r.cell.maximiser.max_iterations = PetscMin(r.cell.maximiser.max_iterations, 10);
    r.cell.surrogate.refit_every = 20;
  }
  PetscCall(continue_designs(&r, instances, record, timing->first));
  PetscCall(run_part(&r, instances, timing, later));
  RgGiven *given = &r.cell.given;
  if (given->x != begun->cell.given.x) PetscCall(PetscFree3(given->x, given->native, given->index));
  return 0;
}

/* ---- evaluations ----------------------------------------------------------------------------- */

enum { BATCH = 1024 };

/* Measure the seconds of an F at points all over the design: more points until they take 10 ms. */
static PetscErrorCode time_values(RgProblem *problem, bool draft, double *each)
{
  const RgSpace *design = &problem->domain.design;
  const size_t dim = (size_t)design->dim;
  RgFailure failure = {0};
  double *x, *F, took = 0;
  RgPoint *points;

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
  return PetscFree3(x, F, points);
}

/* Stop an evaluation that takes too long. closure: the wall time of its end. */
static bool is_too_long(void *closure)
{
  return rg_wall_seconds() > *(const double *)closure;
}

/* Time an evaluation of a costly problem: the second one, because the first one starts a program.
   After 30 seconds it is given up, and its time so far counts. NaN: it fails. */
static PetscErrorCode time_evaluation(const RgStudy *study, const RgCell *cell, double *seconds)
{
  Rehearsal r;
  RgInstances *instances;
  RgInstance *instance;
  RgFailure failure = {0};
  double *x, *c, f, until = rg_wall_seconds() + PATIENCE;
  RgStream stream = rg_stream(study->seed, "rehearsal", 0, "evaluation", 1);
  RgRandom random = rg_stream_at(&stream, 0);

  PetscCall(rehearse(study, cell, false, &r));
  PetscCall(rg_instances_create(&instances));
  PetscCall(acquire_instance(&r, instances, &instance, &failure));
  RgProblem *problem = &instance->problem;
  PetscCall(PetscMalloc2(cell->dim_x, &x, PetscMax(cell->dim_c, 1), &c));
  problem->task = (RgTask){.stop = is_too_long, .stop_closure = &until};
  *seconds = 0;
  for (int i = 0; i < 2 && !failure.failed && *seconds < STARTS; i++) {
    RgPoint point = {.index = -1, .x = x, .context_index = -1, .c = cell->dim_c ? c : NULL};
    rg_random_uniforms(&random, (size_t)cell->dim_x, x);
    rg_space_normalise(&problem->domain.design, x, NULL);
    rg_space_to_native(&problem->domain.design, x, x);
    if (cell->dim_c)
      PetscCall(problem->class->draw_context(problem, &random, c, &point.context_index));
    const double start = rg_wall_seconds();
    PetscCall(rg_problem_evaluate(problem, 1, &point, &f, &failure));
    *seconds = rg_wall_seconds() - start;
  }
  if (failure.failed && *seconds < PATIENCE) *seconds = NAN;
  problem->task = (RgTask){0};
  PetscCall(PetscFree2(x, c));
  PetscCall(rg_instances_release(&instance));
  return rg_instances_destroy(&instances);
}

/* ---- the estimate ---------------------------------------------------------------------------- */

/* Seconds per query at a number of data. */
typedef struct {
  double n, seconds;
} Rate;

/* Measure the rate over the later half of the timed queries; NaN without two readings. */
static Rate rate_of(const Timing *timing)
{
  const int last = timing->n - timing->first - 1, from = last / 2;

  if (timing->n <= timing->first + 1) return (Rate){timing->first + 1, NAN};
  return (Rate){timing->first + 1 + 0.5 * (from + last),
                (timing->at[last] - timing->at[from]) / (last - from)};
}

/* Sum of the rates at a, a+1, .., b-1 data by power laws between k points in rising order, the
   last of which goes on. */
static double sum_of(int k, const Rate *rate, int a, int b)
{
  double sum = 0;

  for (int n = a, i = 0; n < b; n++) {
    while (i < k - 2 && rate[i + 1].n < n) i++;
    const double power =
      k > 1 ? log(rate[i + 1].seconds / rate[i].seconds) / log(rate[i + 1].n / rate[i].n) : 0;
    sum += rate[i].seconds * pow(n / rate[i].n, power);
  }
  return sum;
}

/* Estimate the seconds of the queries after the beginning of a trial. */
static PetscErrorCode time_rest(const Rehearsal *begun, RgInstances *instances,
                                const Timing *beginning, const RgRecord *record, double *rest)
{
  const int reached = beginning->n, n = beginning->last;
  Rate rate[3] = {rate_of(beginning)};
  const double fit = fmin(PART / rate[0].seconds, 0.25 * (n - reached)); /* queries in a part */
  const int queries = fit > LEAST ? (int)fit : LEAST;
  const int first[] = {(reached + n - queries) / 2 - 1, n - queries - 1};
  int k = rate[0].seconds > 0;
  Timing part = {.by_wall = beginning->by_wall, .limit = COARSE, .least = LEAST};
  RgRecord further, later;

  part.first = record->n_rows;
  part.last = first[1];
  PetscCall(run_later_part(begun, true, instances, record, &part, &further));
  PetscCall(PetscFree(part.at));
  if (further.n_rows > record->n_rows) record = &further;
  part.limit = PART;
  part.last = n;
  for (int i = 0; i < 2; i++) {
    part.first = first[i];
    if (first[i] <= reached) continue;
    PetscCall(run_later_part(begun, false, instances, record, &part, &later));
    if (part.at) rate[k] = rate_of(&part);
    k += part.at && rate[k].seconds > 0;
    PetscCall(rg_record_destroy(&later));
    PetscCall(PetscFree(part.at));
  }
  PetscCall(rg_record_destroy(&further));
  *rest = k ? sum_of(k, rate, reached, n) : NAN;
  return 0;
}

/* Run the beginning of a trial; a short trial several times, of which the shortest counts. */
static PetscErrorCode time_beginning(const Rehearsal *r, RgInstances *instances, Timing *timing,
                                     RgRecord *record)
{
  double least = INFINITY;

  for (int i = 0; i < TIMES; i++) {
    PetscCall(run_part(r, instances, timing, record));
    least = fmin(least, timing->whole);
    if (i == TIMES - 1 || !timing->complete || timing->whole >= AGAIN) break;
    PetscCall(rg_record_destroy(record));
    PetscCall(PetscFree(timing->at));
  }
  timing->whole = least;
  return 0;
}

/* Estimate the seconds of a trial of a cell: CPU seconds, or wall time where the method is a
   program or the problem costly. NaN: the trial fails. A trial of up to half a second runs to its
   end. Of a longer one, the beginning runs, and then a few queries in the middle and at the end.
   Their data continue the beginning, by queries with coarse searches, and by designs near the
   latest ones where these take too long: a model of data that crowd around an optimum costs another
   time than one of scattered data. Between these points, seconds per query follow a power law.
   Costly problems are not evaluated: a smooth function with the same domain takes their place, and
   `evaluation` is added for each. */
static PetscErrorCode time_trial(const RgStudy *study, const RgCell *cell, double evaluation,
                                 double *seconds)
{
  const bool costly = cell->problem->traits & RG_PROBLEM_COSTLY;
  const bool own = cell->algorithm->traits & RG_OWN_HISTORY;
  Timing timing = {.by_wall = costly || cell->algorithm->outside,
                   .limit = own ? OWN_PART : PART,
                   .least = LEAST,
                   .first = cell->run.initial_points};
  double objectives = 0, rest = 0, each;
  int evaluated;
  RgInstances *instances;
  RgRecord record;
  Rehearsal r;

  PetscCall(rehearse(study, cell, costly, &r));
  timing.last = rg_cost_evaluations(cell, evaluation, &evaluated);
  r.cell.run.iterations = timing.last - timing.first;
  PetscCall(rg_instances_create(&instances));
  PetscCall(time_beginning(&r, instances, &timing, &record));
  if (!timing.complete && !timing.message[0])
    PetscCall(time_rest(&r, instances, &timing, &record, &rest));
  if (!costly && !timing.message[0] && r.cell.problem->objective && !r.cell.size_x) {
    /* Time F at all designs of a trial: it needs more than f. */
    RgFailure failure = {0};
    RgInstance *instance;
    PetscCall(acquire_instance(&r, instances, &instance, &failure));
    PetscCall(time_values(&instance->problem, false, &each));
    objectives = each * timing.last * (r.cell.algorithm->recommend ? 2 : 1);
    PetscCall(rg_instances_release(&instance));
  }
  *seconds = timing.message[0] ? NAN : timing.whole + rest + objectives;
  *seconds += evaluated * evaluation;
  PetscCall(rg_record_destroy(&record));
  PetscCall(PetscFree(timing.at));
  return rg_instances_destroy(&instances);
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool same_entries(const RgCell *a, const RgCell *b)
{
  return rg_same_place(a->algorithm_place, b->algorithm_place) &&
         rg_same_place(a->problem_place, b->problem_place);
}

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

PetscErrorCode rg_probe_programs(const RgStudy *study, bool start, RgDiagnostics *diagnostics)
{
  PetscCall(rg_recorded_check(study, diagnostics));
  for (int i = 0; i < study->n_cells && start; i++) {
    const RgCell *cell = &study->cells[i];
    bool reported = false; /* the method failed already on another problem */
    for (int k = 0; k < diagnostics->n && k < RG_DIAGNOSTICS_MAX; k++)
      reported = reported || rg_same_place(diagnostics->list[k].place, cell->algorithm_place);
    if (!cell->algorithm->outside || reported || is_tried(study, i)) continue;
    /* Try a program with an initial design of eight points, so that some inputs don't count if the
       domain has such inputs. */
    const int n = cell->run.initial_points;
    RgDomain domain = {0};
    PetscCall(rg_problem_domain(cell->problem, cell->problem_options, &domain));
    const bool conditional = n && rg_space_is_conditional(&domain.design);
    PetscCall(rg_domain_destroy(&domain));
    /* Run a trial with this initial design and made-up evaluations for one query. */
    const int first = conditional ? PetscMax(n, 8) : n;
    Timing timing = {.by_wall = true, .least = 1, .first = first, .last = first + 1};
    Rehearsal r;
    RgRecord record;
    PetscCall(rehearse(study, cell, true, &r));
    PetscCall(run_part(&r, NULL, &timing, &record));
    PetscCall(rg_record_destroy(&record));
    PetscCall(PetscFree(timing.at));
    if (timing.message[0])
      rg_diagnostics_add(diagnostics, cell->algorithm_place, "'%s' fails on '%s' at %s",
                         cell->algorithm_label, cell->problem_label, timing.message);
  }
  return 0;
}

/* ---- costs ----------------------------------------------------------------------------------- */

#define ALL 60.0       /* seconds of all probes */
#define FURTHER 30.0   /* CPU seconds of all probes, after which no further seed is rehearsed */
#define DEAR 5.0       /* seconds of a trial that is rehearsed with further seeds */
#define SEEDS 3        /* seeds of such a trial */
#define LINES 0.2      /* seconds in which lines of a log are timed */
#define PER_QUERY 20.0 /* nominal seconds per query of the most expensive cells that are timed */

/* Whether a cell needs no team, and a few of its queries fit this host and the time of a probe. */
static bool is_small(const RgCell *cell)
{
  const RgProblemCost problem = rg_problem_cost(cell->problem, cell->problem_options);
  int evaluated;
  const double n = PetscMax(1, rg_cost_evaluations(cell, problem.evaluation, &evaluated));

  return cell->run.ranks_per_trial <= 1 && rg_cost_order(cell) < rg_team_measured_crossover(2) &&
         rg_cost_nominal(cell) / n - problem.evaluation < PER_QUERY && cell->run.iterations > 0 &&
         rg_cost_bytes(cell, 1) < (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Measure the seconds of a line of a log, with its fsync, in a file without a name; 0: `folder`
   takes no files. */
static double time_line(const char *folder)
{
  static const char line[200] = "";
  char path[PETSC_MAX_PATH_LEN];
  int error = 0, n = 0;

  const int fd = rg_file_create_temporary(folder, path, sizeof(path), &error);
  if (fd < 0) return 0;
  (void)unlink(path);
  error = rg_file_sync(fd);
  const double start = rg_wall_seconds();
  for (; !error && (n < 5 || rg_wall_seconds() - start < LINES); n++) {
    error = rg_file_write(fd, line, sizeof(line));
    if (!error) error = rg_file_sync(fd);
  }
  const double seconds = rg_wall_seconds() - start;
  (void)rg_file_close(fd);
  return error ? 0 : seconds / n;
}

/* Whether a cell is timed: it has no finished trials, nor have those with the same entries, and
   this process can run it. Solves without a matrix need PETSc, which `plan` does not start. */
static bool is_timed(const RgCalibration *calibration, const RgStudy *study, int c)
{
  const RgCell *cell = &study->cells[c];
  PetscBool started = PETSC_FALSE;

  for (int i = 0; i < study->n_cells; i++)
    if (calibration->cells[i].n > 0 && same_entries(&study->cells[i], cell)) return false;
  return is_small(cell) && (cell->surrogate.solver != RG_SOLVER_ITERATIVE ||
                            (!PetscInitialized(&started) && started));
}

/* The first cell with the problem's entry of a cell. */
static int first_of_problem(const RgStudy *study, int cell)
{
  int first = 0;

  while (!rg_same_place(study->cells[first].problem_place, study->cells[cell].problem_place))
    first++;
  return first;
}

/* Whether evaluations of a problem are timed: they are costly, and nobody has declared them. */
static bool is_called(const RgCell *cell)
{
  const RgProblemCost cost = rg_problem_cost(cell->problem, cell->problem_options);

  return cell->problem->traits & RG_PROBLEM_COSTLY && cost.undeclared && !cost.may_be_long;
}

PetscErrorCode rg_probe_calls(const RgPlan *plan, const RgCalibration *calibration, RgText *text)
{
  const RgStudy *study = plan->study;

  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    bool timed = false;
    if (first_of_problem(study, c) != c || !(cell->problem->traits & RG_PROBLEM_COSTLY) ||
        !rg_problem_cost(cell->problem, cell->problem_options).undeclared)
      continue;
    for (int i = c; i < study->n_cells && !timed; i++)
      timed = first_of_problem(study, i) == c && is_timed(calibration, study, i);
    if (!timed) continue;
    if (is_called(cell))
      PetscCall(rg_text_add(text,
                            "'%s' is evaluated twice, to time it; with `seconds` in its entry, or "
                            "with -quick, it is not\n",
                            cell->problem_label));
    else
      PetscCall(rg_text_add(text,
                            "'%s' is not evaluated, because its time_limit lets answers take long; "
                            "without `seconds` in its entry, an evaluation counts as one second\n",
                            cell->problem_label));
  }
  return 0;
}

/* Rehearse dear trials with further seeds: the cost of a query depends on where the data lie, and
   trials of some methods differ by a factor of two. probed: seconds by cell, 0 without a probe. */
static PetscErrorCode probe_further_seeds(const RgStudy *study, double cpu_start,
                                          const double *probed, RgCalibration *calibration)
{
  RgStudy rest = *study; /* without the seeds before */
  double seconds;

  for (int i = 1; i < PetscMin(SEEDS, study->n_seeds); i++) {
    rest.seeds = study->seeds + i;
    rest.n_seeds = study->n_seeds - i;
    for (int c = 0; c < study->n_cells && rg_cpu_seconds() - cpu_start < FURTHER; c++) {
      const RgCell *cell = &study->cells[c];
      const bool built_in =
        !cell->algorithm->outside && !(cell->problem->traits & RG_PROBLEM_COSTLY);
      if (!built_in || !(probed[c] > DEAR)) continue;
      PetscCall(time_trial(&rest, cell, 0, &seconds));
      rg_calibration_probe(calibration, c, seconds);
    }
  }
  return 0;
}

PetscErrorCode rg_probe_costs(const RgPlan *plan, const char *folder, RgCalibration *calibration)
{
  const RgStudy *study = plan->study;
  const double start = rg_wall_seconds(), cpu_start = rg_cpu_seconds();
  double line = NAN, *evaluations, *seconds; /* by the first cell of a problem; by cell */

  PetscCall(PetscCalloc2(study->n_cells, &evaluations, study->n_cells, &seconds));
  for (int c = 0; c < study->n_cells && rg_wall_seconds() - start < ALL; c++) {
    const RgCell *cell = &study->cells[c];
    double evaluation = rg_problem_cost(cell->problem, cell->problem_options).evaluation;
    int lines = 0; /* of logs: answers of a program as method, evaluations of a costly problem */
    if (!is_timed(calibration, study, c)) continue;
    if (is_called(cell)) {
      double *own = &evaluations[first_of_problem(study, c)];
      if (*own == 0) PetscCall(time_evaluation(study, cell, own));
      evaluation = *own;
    }
    PetscCall(time_trial(study, cell, evaluation, &seconds[c]));
    if (folder && cell->algorithm->outside) lines += cell->run.iterations;
    if (folder && cell->problem->traits & RG_PROBLEM_COSTLY)
      lines += cell->run.initial_points + cell->run.iterations;
    if (lines && isnan(line)) line = time_line(folder);
    rg_calibration_probe(calibration, c, seconds[c] + (lines ? lines * line : 0));
  }
  PetscCall(probe_further_seeds(study, cpu_start, seconds, calibration));
  return PetscFree2(evaluations, seconds);
}

/* ---- searches for optima --------------------------------------------------------------------- */

/* Evaluations per coordinate of a box: of the rough F, if there is one; and of F after these. */
#define SEARCH 13000.0
#define REFINE 100.0

/* Estimate the seconds of a search; 0 if the optimum is known, or is not searched for. */
static PetscErrorCode time_search(const RgStudy *study, const RgCell *cell, uint64_t instance,
                                  double *seconds)
{
  RgFailure failure = {0};
  RgProblem problem;
  double rough = 0, exact = 0;

  *seconds = 0;
  if (cell->problem->traits & (RG_PROBLEM_COSTLY | RG_PROBLEM_UNKNOWN) || !is_small(cell)) return 0;
  PetscCall(rg_problem_create(cell->problem, cell->problem_options, study->seed, instance, &problem,
                              &failure));
  if (!failure.failed && isnan(problem.optimum) && !problem.domain.n_constraints) {
    if (problem.has_draft) PetscCall(time_values(&problem, true, &rough));
    PetscCall(time_values(&problem, false, &exact));
    if (cell->size_x) *seconds = exact * cell->size_x;
    else if (problem.has_draft) *seconds = cell->dim_x * (SEARCH * rough + REFINE * exact);
    else *seconds = cell->dim_x * SEARCH * exact;
  }
  return rg_problem_destroy(&problem);
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
  return 0;
}
