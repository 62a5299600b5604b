/* The nominal cost of a trial: a count of operations, and bytes. */
#include "study/plan/cost.h"

#include <limits.h>
#include <math.h>

#include "acquisition/local_search.h"
#include "acquisition/path_sampler.h"
#include "acquisition/regression_search.h"
#include "gp/kernel/family.h"
#include "gp/team/distributed.h"
#include "gp/model/surrogate.h"
#include "gp/posterior/set/set_posterior.h"

/* Operations per second of a nominal core. */
#define SPEED 2e9
/* Numbers of operations: a kernel value, per input; an evaluation with its record; a kernel
   regression, per datum and input. */
#define KERNEL 10.0
#define LOOP 1e4
#define REGRESSION 4.0
/* Evaluation points of a local search per start; evaluations of the likelihood per fit; number
   of data up to which every query has a fit. */
#define ASCENT 50.0
#define FIT 8.0
#define FIT_ALL 100.0

/* Resident set of the process before its first trial. */
const double rg_cost_process_bytes = 50e6;

/* Sum of t^p over t = a .. b-1, approximated by the integral. */
static double power_sum(double a, double b, int p)
{
  return (pow(b, p + 1) - pow(a, p + 1)) / (p + 1);
}

/* Number of points of a finite domain for the model; 0 on a box. */
static double finite_points(const RgCell *cell)
{
  if (!cell->size_x || (cell->dim_c && !cell->size_c)) return 0;
  return (double)cell->size_x * (cell->size_c ? cell->size_c : 1);
}

/* The representation of a posterior on a finite set. */
static RgSetMethod method_of(const RgCell *cell)
{
  const RgSurrogateOptions *model = &cell->surrogate;
  const double n = cell->run.initial_points + (double)cell->run.iterations;
  const bool product =
    model->structure == RG_STRUCTURE_PRODUCT ||
    (model->structure == RG_STRUCTURE_WHOLE && rg_kernel_classes[model->kernel]->separable);

  return rg_set_method_auto(n, finite_points(cell),
                            cell->grid && model->structure == RG_STRUCTURE_ADDITIVE,
                            cell->grid && product);
}

static RgMethodCost method_cost(const RgCell *cell)
{
  const RgTrialSize size = {.n = cell->run.initial_points + cell->run.iterations,
                            .dim_x = cell->dim_x,
                            .dim_c = cell->dim_c,
                            .size_c = cell->size_c,
                            .finite = finite_points(cell) > 0};
  RgMethodCost cost = {0};

  if (cell->algorithm->cost) cell->algorithm->cost(cell->algorithm_options, &size, &cost);
  return cost;
}

/* Whether `solver: auto` means a posterior without a matrix, for a team of `ranks` on a box. */
static bool auto_is_iterative(const RgCell *cell, int ranks)
{
  const double n = cell->run.initial_points + (double)cell->run.iterations;

  return (cell->algorithm->reads & RG_READS_SURROGATE) != 0 && finite_points(cell) == 0 &&
         cell->surrogate.solver == RG_SOLVER_AUTO &&
         rg_surrogate_is_iterative(&cell->surrogate, n, ranks);
}

/* Whether the model's posterior is without a matrix. For methods that need a matrix, `auto`
   always has one: see rg_cost_countable. */
static bool is_iterative(const RgCell *cell, int ranks)
{
  if (auto_is_iterative(cell, ranks)) return (cell->algorithm->traits & RG_MATRIX_FREE);
  return (cell->algorithm->reads & RG_READS_SURROGATE) != 0 &&
         cell->surrogate.solver == RG_SOLVER_ITERATIVE;
}

static double iterative_bytes(const RgCell *cell, int ranks)
{
  const RgSurrogateOptions *model = &cell->surrogate;
  const double n = cell->run.initial_points + (double)cell->run.iterations;
  const double rank = rg_surrogate_solver(model).rank, inputs = cell->dim_x;
  const double fit = model->fit == RG_FIT_FIXED ? 0 : fmin(n, rg_surrogate_fit_data(model));

  return 8 * (2 * rank * n / ranks + n * (4 * inputs + 160 + 512.0 / ranks) + 4 * fit * fit);
}

/* Number of points at which a query evaluates the acquisition function. */
static double points_of(const RgCell *cell)
{
  const double finite = cell->dim_c && cell->size_x ? cell->size_x : finite_points(cell);
  const double starts = cell->maximiser.max_iterations ? cell->maximiser.restarts : 0;

  return finite > 0 ? finite : cell->maximiser.raw_samples + ASCENT * starts;
}

static double fit_operations(const RgCell *cell, double n0, double n)
{
  const RgSurrogateOptions *model = &cell->surrogate;
  const double fits = model->refit_every > 0 ? 1.0 / model->refit_every : fmin(1, FIT_ALL / n);
  const double starts = model->fit_multistart == RG_MULTISTART_ALWAYS ? 1 + model->fit_starts : 1;

  if (model->fit == RG_FIT_FIXED) return 0;
  return FIT * starts * fits *
         (power_sum(n0, n, 3) + KERNEL * (cell->dim_x + cell->dim_c) * power_sum(n0, n, 2));
}

/* Operations of fits, of the acquisition search (through contexts if the method uses them), and
   of paths. */
static double model_operations(const RgCell *cell, double n0, double n)
{
  const double inputs = cell->dim_x + cell->dim_c, points = points_of(cell);
  const double t1 = power_sum(n0, n, 1), t2 = power_sum(n0, n, 2);
  const RgMethodCost cost = method_cost(cell);
  double operations = 0;

  if (is_iterative(cell, PetscMax(1, cell->run.ranks_per_trial)))
    return rg_surrogate_solver(&cell->surrogate).rank * n * (n + points * (n - n0));
  operations += fit_operations(cell, n0, n);
  operations += cost.paths * cost.features * points * (n - n0);
  if (finite_points(cell) > 0)
    return operations +
           2 * points * (t1 + (cost.paths > 0 && cost.features <= 0) * cost.paths * t1);
  operations += points * (KERNEL * inputs * t1 + t2);
  return operations + 2 * points * cost.contexts * t1;
}

/* Operations of the search by kernel regression. */
static double regression_operations(const RgCell *cell, double n0, double n)
{
  RgCell widened = *cell;

  rg_regression_widen(cell->dim_x, &widened.maximiser);
  return REGRESSION * cell->dim_x * points_of(&widened) * power_sum(n0, n, 1);
}

static double model_order(const RgCell *cell, int ranks)
{
  const bool model = (cell->algorithm->reads & RG_READS_SURROGATE) != 0;

  if (!model || finite_points(cell) > 0 || is_iterative(cell, ranks)) return 0;
  return cell->run.initial_points + (double)cell->run.iterations;
}

double rg_cost_problem_order(const RgCell *cell)
{
  return rg_problem_cost(cell->problem, cell->problem_options).order;
}

double rg_cost_order(const RgCell *cell)
{
  return fmax(model_order(cell, INT_MAX), rg_cost_problem_order(cell)); /* for a team of any size */
}

double rg_cost_team_share(const RgCell *cell, int ranks)
{
  const double order = rg_cost_order(cell), crossover = rg_team_measured_crossover(ranks);

  return order < crossover ? 1 : 1.0 / ranks + crossover / (2 * order);
}

double rg_cost_dense_bytes(const RgCell *cell, int ranks)
{
  const double order[] = {model_order(cell, ranks), rg_cost_problem_order(cell)};
  const bool fit = cell->surrogate.fit != RG_FIT_FIXED;
  double bytes = is_iterative(cell, ranks) ? iterative_bytes(cell, ranks) : 0;

  for (int k = 0; k < 2; k++) {
    const bool shared = order[k] >= rg_team_measured_crossover(ranks);
    const double alone = 8 * order[k] * order[k] * (k == 1 ? 1 : fit ? 4 : 2);
    bytes +=
      shared ? rg_distributed_memory((int)order[k], cell->dim_x + cell->dim_c, ranks, fit && k == 0)
             : alone;
  }
  return bytes;
}

/* Bytes of the tables on grids. A method that draws exact paths also stores the factors, and
   scratch for them. */
static double table_bytes(const RgCell *cell)
{
  const RgMethodCost cost = method_cost(cell);

  return 8 * cell->tables * (cost.paths > 0 && cost.features <= 0 ? 3 : 1);
}

/* Bytes of the random features of paths, with the tables that compare raw points: feature values at
   the rows and columns of a product of points, twice those of rows. */
static double path_bytes(const RgCell *cell)
{
  const RgMethodCost cost = method_cost(cell);
  const double finite = finite_points(cell);
  const double box =
    cost.paths > 1 ? rg_path_raw_samples(cell->dim_x) : cell->maximiser.raw_samples;
  const double tables = 3 * sqrt(finite > 0 ? finite : box);

  return 8 * cost.features * (1.5 * cell->dim_x + 6.5 + cost.paths + tables);
}

static double model_bytes(const RgCell *cell, double n, int ranks)
{
  const double inputs = cell->dim_x + cell->dim_c, points = finite_points(cell);
  const double batch = fmax(cell->maximiser.raw_samples, cell->maximiser.restarts);
  const double factors = cell->surrogate.fit != RG_FIT_FIXED ? 4 : 2;

  if (is_iterative(cell, ranks)) return 8 * points * (2 + inputs);
  if (points > 0 && method_of(cell) != RG_SET_ROWS)
    return 8 * (points * (7 + inputs) + 3 * n * sqrt(points) + n * n) + table_bytes(cell);
  if (points > 0) return 8 * (points * (n + 4 + inputs) + factors * n * n) + table_bytes(cell);
  return 8 * (2 * n * batch + batch * inputs * 2 + n * inputs);
}

/* Bytes of the quadratic models in a batched search, one per start. */
static double search_bytes(const RgCell *cell)
{
  const unsigned reads = cell->algorithm->reads;
  const double pairs = 2 * RG_SEARCH_MEMORY, inputs = cell->dim_x;
  RgMaximiserOptions options = cell->maximiser;

  if (!(reads & RG_READS_SURROGATE)) rg_regression_widen(cell->dim_x, &options);
  return !cell->size_x && reads & RG_READS_MAXIMISER && options.max_iterations > 0 &&
             options.local_search == RG_LOCAL_SEARCH_BATCHED
           ? 8.0 * options.restarts * inputs * (inputs > RG_SEARCH_DENSE_MAX ? pairs : inputs)
           : 0;
}

double rg_cost_context_bytes(const RgCell *cell)
{
  return cell->dim_c && !cell->size_c ? method_cost(cell).bytes : 0;
}

bool rg_cost_countable(const RgCell *cell, int ranks)
{
  const double order =
    fmax(model_order(cell, ranks), rg_cost_problem_order(cell)) + RG_DISTRIBUTED_BLOCK;

  if (auto_is_iterative(cell, ranks) && !(cell->algorithm->traits & RG_MATRIX_FREE)) return false;
  return order < rg_team_measured_crossover(ranks) || order * order / ranks < INT32_MAX;
}

double rg_cost_bytes(const RgCell *cell, int ranks)
{
  const double n = cell->run.initial_points + (double)cell->run.iterations;
  const double bytes = rg_cost_process_bytes + 8 * n * (32 + 2 * cell->dim_x + cell->dim_c) +
                       8.0 * cell->size_x * cell->dim_x + search_bytes(cell) +
                       rg_cost_dense_bytes(cell, ranks) +
                       rg_problem_cost(cell->problem, cell->problem_options).bytes;

  return cell->algorithm->reads & RG_READS_SURROGATE
           ? bytes + model_bytes(cell, n, ranks) + path_bytes(cell) + rg_cost_context_bytes(cell)
           : bytes + method_cost(cell).bytes;
}

int rg_cost_evaluations(const RgCell *cell, double seconds, int *evaluated)
{
  const int n0 = cell->run.initial_points, known = cell->given.y ? cell->given.n : 0;
  const double most = ceil(cell->run.stop_seconds / seconds); /* NaN: no limit */
  int n = n0 + cell->run.iterations;

  if (known + most < n) n = PetscMax(known + (int)most, PetscMax(n0, 1));
  *evaluated = n - known;
  return n;
}

/* Seconds of the first n evaluations of a trial, `evaluated` of which are made. */
static double cost_until(const RgCell *cell, double n, double evaluated)
{
  const RgProblemCost problem = rg_problem_cost(cell->problem, cell->problem_options);
  const double n0 = cell->run.initial_points;
  double operations = LOOP * n + problem.setup + pow(problem.order, 3) / 3;

  if (cell->algorithm->reads & RG_READS_SURROGATE)
    operations += model_operations(cell, n0, fmax(n, n0));
  else if (cell->algorithm->reads & RG_READS_MAXIMISER)
    operations += regression_operations(cell, n0, fmax(n, n0));
  return operations / SPEED + problem.evaluation * evaluated;
}

double rg_cost_nominal(const RgCell *cell)
{
  const RgProblemCost problem = rg_problem_cost(cell->problem, cell->problem_options);
  int evaluated;
  const int n = rg_cost_evaluations(cell, problem.evaluation, &evaluated);

  return cost_until(cell, n, evaluated);
}

double rg_cost_share(const RgCell *cell, int n)
{
  const int known = cell->given.y ? cell->given.n : 0;

  return fmin(cost_until(cell, n, PetscMax(n - known, 0)) / rg_cost_nominal(cell), 1);
}
