/* What a trial costs: seconds and bytes, from a model of its linear algebra. */
#include "study/plan/cost.h"

#include <limits.h>
#include <math.h>

#include "acquisition/local_search.h"
#include "acquisition/regression_search.h"
#include "gp/kernel/family.h"

/* Seconds per unit of the terms in cost.h, from trials of 50 to 200 iterations in 2 to 6 dimensions
   on one AVX-512 core with OpenBLAS. */
static const struct {
  double trial;                       /* start and record of a trial */
  double evaluation;                  /* the loop itself */
  double iteration;                   /* of a search over a box */
  double update, rebuild;             /* posterior on a finite set */
  double structured, column;          /* on a grid whose structure the kernel shares: per point, and
                                         per point and datum of a product */
  double raw_kernel, raw_solve;       /* prediction at a raw sample */
  double start_kernel, start_solve;   /* all the local search from one start */
  double fit, fit_matrix, fit_factor; /* one evaluation of the likelihood */
  double draw, feature, coarse, gram; /* paths of random features: per number drawn, cosine, cosine
                                         in single precision, product of the Gram matrix */
  double exact, exact_update;         /* exact paths, per point */
  double factor;                      /* Cholesky of a problem's matrix */
  double context;                     /* multiply-add of a posterior at a list of contexts */
  double term;                        /* of a criterion's own, however often it is summed */
  double node;                        /* measure and bounds, per node */
  double entry, multiply;             /* without a matrix: a kernel value, a multiply-add */
  double regression;                  /* kernel regression: per datum and input, at a point */
  double step;                        /* of its batched search: per start and input cubed */
} unit = {.trial = 5e-4,
          .evaluation = 5e-6,
          .iteration = 3e-5,
          .update = 1.2e-10,
          .rebuild = 1e-10,
          .structured = 4e-9,
          .column = 3.3e-11,
          .raw_kernel = 3e-10,
          .raw_solve = 1.1e-11,
          .start_kernel = 1.5e-8,
          .start_solve = 1.2e-10,
          .fit = 3e-6,
          .fit_matrix = 3.5e-10,
          .fit_factor = 3e-11,
          .draw = 3e-9,
          .feature = 1e-9,
          .coarse = 1e-10,
          .gram = 1.1e-11,
          .exact = 5e-9,
          .exact_update = 1e-10,
          .factor = 8e-12,
          .context = 6e-11,
          .term = 1.1e-8,
          .node = 2e-8,
          .entry = 1e-9,
          .multiply = 4e-11,
          .regression = 2.2e-9,
          .step = 1.2e-9};

#define EVALUATIONS_COLD 20.0 /* of the likelihood, per start */
#define EVALUATIONS_WARM 3.0  /* per fit from the last optimum, rare other starts included */
#define REFIT_ALL 100.0       /* refit_every: auto: data up to which every query has one, */
#define REFIT_GROWTH 40.0     /* and refits while data grow by e, drift included */
#define PATH_ASCENT 75.0      /* evaluations of a path that its local search amounts to */
#define CONTEXT_ASCENT 8.0    /* likewise through a list of contexts, with gradients */
#define CONTEXT_END 80.0      /* values a search ends with on all of them, begun with few */
#define CONTEXT_RANK 30.0     /* of the kernel in one context coordinate */
#define CONTEXT_DIM 3.0       /* what another context coordinate multiplies the rank by */
#define CONTEXT_NODES 20.0    /* contexts, of one coordinate, between which U is interpolated */
#define CONTEXT_PIVOTS 30.0   /* data of a projection, times n^(1/4) */
#define CONTEXT_VALUE 60.0    /* multiply-adds that the criterion takes per context */
#define SOLVER_STEPS 40.0     /* products with the matrix per solve */
#define SOLVER_ASCENT 60.0    /* likewise without a matrix */
#define REGRESSION_ASCENT 2.0 /* likewise of a kernel regression, whose starts soon fall behind */
#define NODE_ASCENT 12.0      /* likewise through nodes for the contexts, with gradients */
#define PRODUCT_OF_SETS 0.35  /* of a cosine in single precision, at a point of a product */
#define ON_SET 0.3            /* of a cosine: a feature at a point of a finite set, on average */

/* Resident set of the process before it holds any trial. */
static const double process_bytes = 50e6;

/* sum of t^p over t = a .. b-1, by the integral. */
static double power_sum(double a, double b, int p)
{
  return (pow(b, p + 1) - pow(a, p + 1)) / (p + 1);
}

/* Number of points a finite domain has for the model; 0 on a box. */
static double finite_points(const RgCell *cell)
{
  if (!cell->size_x || (cell->dim_c && !cell->size_c)) return 0;
  return (double)cell->size_x * (cell->size_c ? cell->size_c : 1);
}

/* Refits per query between n0 and n data. */
static double refits(const RgSurrogateOptions *model, double n0, double n)
{
  const double all = fmin(fmax(REFIT_ALL, n0), n);

  if (model->refit_every > 0) return 1.0 / model->refit_every;
  return (all - n0 + REFIT_GROWTH * log(n / all)) / (n - n0);
}

static double fit_seconds(const RgSurrogateOptions *model, double inputs, double n0, double n)
{
  const double t2 = power_sum(n0, n, 2), t3 = power_sum(n0, n, 3);
  const double evaluations = model->fit_multistart == RG_MULTISTART_ALWAYS
                               ? EVALUATIONS_COLD * (1 + model->fit_starts)
                               : EVALUATIONS_WARM;

  if (model->fit == RG_FIT_FIXED) return 0;
  return evaluations * refits(model, n0, n) *
         (unit.fit * (n - n0) + unit.fit_matrix * (inputs + 3) * t2 + unit.fit_factor * t3);
}

/* Of `count` paths per iteration. On boxes they share features and raw points unless `weights`. */
static double path_seconds(int count, double features, bool weights, double inputs, double points,
                           double n0, double n)
{
  const double T = n - n0, t1 = power_sum(n0, n, 1), t2 = power_sum(n0, n, 2);
  const double sets = weights || points > 0 ? count : 1;

  if (!(features > 0)) return count * points * (unit.exact * T + unit.exact_update * t1);
  const double raw = 640 + 128 * inputs, coarse = inputs > 1 ? PRODUCT_OF_SETS : 1;
  const double maximum = points > 0 ? ON_SET * unit.feature * points
                                    : coarse * unit.coarse * raw + unit.feature * PATH_ASCENT;
  const double update = weights || points > 0 ? 0 : raw + count * PATH_ASCENT;
  return sets * features * (unit.draw * (inputs + 1) * T + unit.feature * t1) +
         count * features * ((unit.draw + maximum) * T + (weights ? unit.gram * t2 : 0)) +
         unit.raw_kernel * inputs * update * t1;
}

/* How a posterior on a finite set is represented. */
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

/* Search for the best design through a list of contexts (gp/context/context_posterior.h). */
static double context_seconds(const RgCell *cell, double n0, double n)
{
  const double middle = (n0 + n) / 2, square = middle * middle;
  const double raw = cell->maximiser.raw_samples;
  const double ascent = CONTEXT_ASCENT * cell->maximiser.restarts;
  const double rank = fmin(middle, CONTEXT_RANK * pow(CONTEXT_DIM, cell->dim_c - 1));
  int screening;
  const double M = cell->algorithm->contexts(cell->algorithm_options, (int)middle, &screening);
  const double reduced = square * rank + middle * rank * rank + 2 * rank * (rank * rank + 2 * M);
  const double nodes = fmin(pow(CONTEXT_NODES, cell->dim_c), screening);
  const double pivots = fmin(middle, CONTEXT_PIVOTS * pow(middle, 0.25));
  const double terms =
    cell->algorithm->terms ? cell->algorithm->terms(cell->algorithm_options, (int)middle) : 0;
  const double criterion = unit.term * (n - n0) * (raw + ascent) * terms;

  if (rg_kernel_classes[cell->surrogate.kernel]->separable)
    return criterion + unit.context * (n - n0) *
                         ((raw + ascent) * fmin(square * screening, reduced) +
                          CONTEXT_END * fmin(square * M, reduced));
  return criterion + unit.context * (n - n0) *
                       ((raw + ascent) * (pivots * pivots * nodes / 2 + CONTEXT_VALUE * M) +
                        square * (M + CONTEXT_END * fmin(M, 3 * nodes)) / 2);
}

/* Search for the best design by kernel regression. */
static double regression_seconds(const RgCell *cell, double n0, double n)
{
  RgMaximiserOptions options = cell->maximiser;

  const bool lockstep = rg_regression_widen(cell->dim_x, &options) && !cell->size_x;
  const double starts = options.max_iterations ? options.restarts : 0, dim = cell->dim_x;
  const double points =
    cell->size_x ? cell->size_x : options.raw_samples + REGRESSION_ASCENT * starts;
  return unit.regression * dim * points * power_sum(n0, n, 1) +
         (lockstep ? unit.step * (n - n0) * starts * pow(dim, 3) : 0);
}

/* Two searches for the best design, each through predictions at nodes for the contexts. */
static double node_seconds(const RgCell *cell, double n0, double n)
{
  const double inputs = cell->dim_x + cell->dim_c, t1 = power_sum(n0, n, 1);
  const double designs = cell->size_x
                           ? cell->size_x
                           : cell->maximiser.raw_samples + NODE_ASCENT * cell->maximiser.restarts;
  const double nodes = cell->algorithm->nodes(cell->algorithm_options, cell->size_c, cell->dim_c);

  return 2 * designs * nodes *
         (unit.node * (n - n0) + unit.raw_kernel * inputs * t1 +
          unit.raw_solve * power_sum(n0, n, 2));
}

/* Does `solver: auto` of a team of `ranks` mean, on a box, a posterior without a matrix? */
static bool auto_is_iterative(const RgCell *cell, int ranks)
{
  const double n = cell->run.initial_points + (double)cell->run.iterations;

  return (cell->algorithm->reads & RG_READS_SURROGATE) != 0 && finite_points(cell) == 0 &&
         cell->surrogate.solver == RG_SOLVER_AUTO &&
         rg_surrogate_is_iterative(&cell->surrogate, n, ranks);
}

/* Is the model's posterior without a matrix? Methods that need one get none from `auto`: see
   rg_cost_countable. */
static bool is_iterative(const RgCell *cell, int ranks)
{
  if (auto_is_iterative(cell, ranks)) return cell->algorithm->matrix_free;
  return (cell->algorithm->reads & RG_READS_SURROGATE) != 0 &&
         cell->surrogate.solver == RG_SOLVER_ITERATIVE;
}

/* Conjugate gradients for the mean and a path, the matrix times the columns of the projection, and
   the acquisition search through the latter. */
static double iterative_seconds(const RgCell *cell, double n0, double n)
{
  const double rank = rg_surrogate_solver(&cell->surrogate).rank;
  const double points = finite_points(cell) > 0
                          ? finite_points(cell)
                          : cell->maximiser.raw_samples + SOLVER_ASCENT * cell->maximiser.restarts;
  const double products = SOLVER_STEPS * (1 + (n - n0)) + rank / 128;

  return n * n * (unit.entry * products + unit.multiply * rank) +
         points * (n - n0) * n * (unit.entry + unit.multiply * rank);
}

static double iterative_bytes(const RgCell *cell, int ranks)
{
  const RgSurrogateOptions *model = &cell->surrogate;
  const double n = cell->run.initial_points + (double)cell->run.iterations;
  const double rank = rg_surrogate_solver(model).rank, inputs = cell->dim_x;
  const double fit = model->fit == RG_FIT_FIXED ? 0 : fmin(n, rg_surrogate_fit_data(model));

  return 8 * (2 * rank * n / ranks + n * (4 * inputs + 160 + 512.0 / ranks) + 4 * fit * fit);
}

static double model_seconds(const RgCell *cell, double n0, double n)
{
  const RgSurrogateOptions *model = &cell->surrogate;
  const double inputs = cell->dim_x + cell->dim_c, points = finite_points(cell), T = n - n0;
  const double t1 = power_sum(n0, n, 1), t2 = power_sum(n0, n, 2);
  const double most = rg_surrogate_fit_data(model);
  const bool iterative = is_iterative(cell, PetscMax(1, cell->run.ranks_per_trial));
  double seconds = iterative && most < n ? fit_seconds(model, inputs, most, most + 1) * T
                                         : fit_seconds(model, inputs, n0, n);
  int features;
  bool weights;

  if (cell->algorithm->paths) {
    int count = cell->algorithm->paths(cell->algorithm_options, points > 0, &features, &weights);
    seconds += path_seconds(count, features, weights, inputs, points, n0, n);
  }
  if (iterative) return seconds + iterative_seconds(cell, n0, n);
  if (points > 0) {
    const bool changes = model->fit != RG_FIT_FIXED || model->standardise;
    const double rebuilds = changes ? refits(model, n0, n) : 0;
    const RgSetMethod method = method_of(cell);
    if (method != RG_SET_ROWS && !changes)
      return seconds +
             points * (unit.structured * T + (method == RG_SET_PRODUCT ? unit.column * t1 : 0));
    return seconds + points * (unit.update * t1 + unit.rebuild * rebuilds * t2 / 2);
  }
  if (cell->dim_c && cell->algorithm->nodes) return seconds + node_seconds(cell, n0, n);
  if (cell->dim_c && cell->algorithm->contexts) return seconds + context_seconds(cell, n0, n);
  const double starts = cell->maximiser.max_iterations ? cell->maximiser.restarts : 0;
  seconds += unit.iteration * T;
  seconds += cell->maximiser.raw_samples * (unit.raw_kernel * inputs * t1 + unit.raw_solve * t2);
  return seconds + starts * inputs * (unit.start_kernel * t1 + unit.start_solve * t2);
}

static double model_order(const RgCell *cell, int ranks)
{
  const bool model = (cell->algorithm->reads & RG_READS_SURROGATE) != 0;

  if (!model || finite_points(cell) > 0 || is_iterative(cell, ranks)) return 0;
  return cell->run.initial_points + (double)cell->run.iterations;
}

double rg_cost_problem_order(const RgCell *cell)
{
  return cell->problem->dense_order ? cell->problem->dense_order(cell->problem_options) : 0;
}

double rg_cost_order(const RgCell *cell)
{
  return fmax(model_order(cell, INT_MAX), rg_cost_problem_order(cell)); /* of any team */
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

/* A method that draws paths of a set exactly has the factors too, and scratch for them. */
static double table_bytes(const RgCell *cell)
{
  int features = 1;
  bool weights;

  if (cell->algorithm->paths)
    cell->algorithm->paths(cell->algorithm_options, true, &features, &weights);
  return 8 * cell->tables * (features ? 1 : 3);
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

/* The quadratic models of a batched search: one of each start. */
static double search_bytes(const RgCell *cell)
{
  const unsigned reads = cell->algorithm->reads;
  RgMaximiserOptions options = cell->maximiser;

  if (!(reads & RG_READS_SURROGATE)) rg_regression_widen(cell->dim_x, &options);
  return !cell->size_x && reads & RG_READS_MAXIMISER && options.max_iterations > 0 &&
             options.local_search == RG_LOCAL_SEARCH_BATCHED
           ? 8.0 * options.restarts * cell->dim_x * cell->dim_x
           : 0;
}

double rg_cost_context_bytes(const RgCell *cell)
{
  const RgAlgorithmClass *class = cell->algorithm;
  const int n = cell->run.initial_points + cell->run.iterations;
  int screening;

  if (!cell->dim_c || cell->size_c || !class->contexts) return 0;
  if (class->context_bytes) return class->context_bytes(cell->algorithm_options, cell->dim_c, n);
  return 16.0 * n * class->contexts(cell->algorithm_options, n, &screening);
}

bool rg_cost_countable(const RgCell *cell, int ranks)
{
  const double order =
    fmax(model_order(cell, ranks), rg_cost_problem_order(cell)) + RG_DISTRIBUTED_BLOCK;

  if (auto_is_iterative(cell, ranks) && !cell->algorithm->matrix_free) return false;
  return order < rg_team_measured_crossover(ranks) || order * order / ranks < INT32_MAX;
}

double rg_cost_bytes(const RgCell *cell, int ranks)
{
  const double n = cell->run.initial_points + (double)cell->run.iterations;
  const double bytes = process_bytes + 8 * n * (32 + 2 * cell->dim_x + cell->dim_c) +
                       8.0 * cell->size_x * cell->dim_x + search_bytes(cell) +
                       rg_cost_dense_bytes(cell, ranks);

  return cell->algorithm->reads & RG_READS_SURROGATE
           ? bytes + model_bytes(cell, n, ranks) + rg_cost_context_bytes(cell)
           : bytes;
}

void rg_cost_estimate(const RgCell *cell, double *seconds, double *bytes)
{
  const double n0 = cell->run.initial_points, n = n0 + cell->run.iterations;

  *seconds = unit.trial + unit.evaluation * n + unit.factor * pow(rg_cost_problem_order(cell), 3);
  if (cell->problem->setup_seconds) *seconds += cell->problem->setup_seconds(cell->problem_options);
  if (cell->problem->seconds) *seconds += n * cell->problem->seconds(cell->problem_options);
  *bytes = rg_cost_bytes(cell, PetscMax(1, cell->run.ranks_per_trial));
  if (cell->algorithm->seconds)
    *seconds +=
      cell->algorithm->seconds(cell->algorithm_options, cell->dim_x + cell->dim_c, (int)n);
  else if (cell->algorithm->reads & RG_READS_SURROGATE) *seconds += model_seconds(cell, n0, n);
  else if (cell->algorithm->reads & RG_READS_MAXIMISER) *seconds += regression_seconds(cell, n0, n);
}
