/* Short trials before a study begins. */
#include "study/run/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "gp/posterior/posterior.h"
#include "gp/team/team.h"
#include "study/plan/cost.h"
#include "study/run/rehearsal.h"
#include "study/trial/trial.h"

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
  RgDomain domain = {0};

  PetscFunctionBeginUser;
  PetscCall(cell->problem->domain(cell->problem, cell->problem_options, &domain));
  const bool conditional = n && rg_space_is_conditional(&domain.design);
  PetscCall(rg_domain_destroy(&domain));
  PetscCall(rg_rehearse_query(study, cell, conditional ? PetscMax(n, 8) : n, message));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_probe_programs(const RgStudy *study, bool start, RgDiagnostics *diagnostics)
{
  char message[256];

  PetscFunctionBeginUser;
  PetscCall(rg_recorded_check(study, diagnostics));
  for (int i = 0; i < study->n_cells && start; i++) {
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

#define ALL 60.0       /* seconds of all probes */
#define FURTHER 30.0   /* CPU seconds of all probes, after which no further seed is rehearsed */
#define DEAR 5.0       /* seconds of a trial that is rehearsed with further seeds */
#define SEEDS 3        /* seeds of such a trial */
#define LINES 0.2      /* seconds in which lines of a log are timed */
#define PER_QUERY 20.0 /* nominal seconds per query of the most expensive cells that are timed */

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
  const RgProblemCost problem = rg_problem_cost(cell->problem, cell->problem_options);
  int evaluated;
  const double n = PetscMax(1, rg_cost_evaluations(cell, problem.evaluation, &evaluated));

  return cell->run.ranks_per_trial <= 1 && rg_cost_order(cell) < rg_team_measured_crossover(2) &&
         rg_cost_nominal(cell) / n - problem.evaluation < PER_QUERY && cell->run.iterations > 0;
}

/* Lines that a trial adds to its logs in the study directory, each with an fsync: answers of a
   program as method, evaluations of a costly problem. */
static int count_lines(const RgCell *cell)
{
  int n = 0;

  if (cell->algorithm->outside) n += cell->run.iterations;
  if (cell->problem->traits & RG_PROBLEM_COSTLY)
    n += cell->run.initial_points + cell->run.iterations;
  return n;
}

/* Measure the seconds of such a line in a file without a name; 0: `folder` takes no files. */
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

/* Whether a cell is timed: it has no finished trials, nor have those with the same entries. */
static bool is_timed(const RgCalibration *calibration, const RgStudy *study, int cell)
{
  return !is_known(calibration, study, cell) && is_small(&study->cells[cell]) &&
         can_run(&study->cells[cell]);
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

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

/* The seconds of an evaluation beside the method's; an entry of `study` is timed once. */
static PetscErrorCode evaluation_of(const RgStudy *study, int c, double *timed, double *seconds)
{
  const RgCell *cell = &study->cells[c];
  double *own = &timed[first_of_problem(study, c)];

  PetscFunctionBeginUser;
  *seconds = rg_problem_cost(cell->problem, cell->problem_options).evaluation;
  if (!is_called(cell)) PetscFunctionReturn(0);
  if (*own < 0) PetscCall(rg_time_evaluation(study, cell, own));
  *seconds = *own;
  PetscFunctionReturn(0);
}

/* Rehearse dear trials with further seeds: the cost of a query depends on where the data lie, and
   trials of some methods differ by a factor of two. probed: seconds by cell, 0 without a probe. */
static PetscErrorCode probe_further_seeds(const RgStudy *study, double cpu_start,
                                          const double *probed, RgCalibration *calibration)
{
  RgStudy rest = *study; /* without the seeds before */
  double seconds;

  PetscFunctionBeginUser;
  for (int i = 1; i < PetscMin(SEEDS, study->n_seeds); i++) {
    rest.seeds = study->seeds + i;
    rest.n_seeds = study->n_seeds - i;
    for (int c = 0; c < study->n_cells && rg_cpu_seconds() - cpu_start < FURTHER; c++) {
      const RgCell *cell = &study->cells[c];
      const bool built_in =
        !cell->algorithm->outside && !(cell->problem->traits & RG_PROBLEM_COSTLY);
      if (!built_in || !(probed[c] > DEAR)) continue;
      PetscCall(rg_rehearse(&rest, cell, 0, &seconds));
      rg_calibration_probe(calibration, c, seconds);
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_probe_costs(const RgPlan *plan, const char *folder, RgCalibration *calibration)
{
  const RgStudy *study = plan->study;
  const double start = rg_wall_seconds(), cpu_start = rg_cpu_seconds();
  double line = NAN, evaluation, *timed, *seconds;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(study->n_cells, &timed));
  PetscCall(PetscCalloc1(study->n_cells, &seconds));
  for (int c = 0; c < study->n_cells; c++) timed[c] = -1;
  for (int c = 0; c < study->n_cells && rg_wall_seconds() - start < ALL; c++) {
    const int lines = folder ? count_lines(&study->cells[c]) : 0;
    if (!is_timed(calibration, study, c)) continue;
    PetscCall(evaluation_of(study, c, timed, &evaluation));
    PetscCall(rg_rehearse(study, &study->cells[c], evaluation, &seconds[c]));
    if (lines && isnan(line)) line = time_line(folder);
    rg_calibration_probe(calibration, c, seconds[c] + (lines ? lines * line : 0));
  }
  PetscCall(probe_further_seeds(study, cpu_start, seconds, calibration));
  PetscCall(PetscFree(seconds));
  PetscCall(PetscFree(timed));
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
