/* The three grids of the robustness-measure experiments (arXiv:2504.03172): the posterior on the
   whole grid by the structure that its kernel shares, beside the plain recursion that streams all
   rows of L^-1 K(data, grid) through memory at every update; whole trials of 300 queries. The
   additive update reads and writes 48 bytes per point; the few MB they are stay in cache, so that
   it can pass the bandwidth of memory. */
#include "bench.h"

#include <string.h>

#include "gp/posterior/set/set_posterior.h"
#include "bench_trial.h"
#include "gp/model/surrogate.h"

#define MODEL                                                                                      \
  "kernel: gaussian, ard: false, fit: fixed, standardise: false, mean: zero, noise_variance: 1e-6"

static const struct {
  const char *name, *model, *problem;
  RgSetMethod method;
  int count;           /* data: fewer where the plain version would take long */
  double flops, bytes; /* cost of an update with t data: flops * t N operations, bytes * N bytes */
} grids[] = {
  {"2,500 points", MODEL ", length_scale: 0.1", "gp_path_context", RG_SET_ROWS, 301, 2, 0},
  {"50,625 points, product", MODEL ", length_scale: 0.447213595499958", "himmelblau_composite",
   RG_SET_PRODUCT, 301, 2, 0},
  {"117,649 points, additive",
   MODEL ", structure: additive, terms: [\"1 2 3\", \"2 3 4\", \"3 4 5\", \"4 5 6\"], "
         "term_variance: [1.25, 0.75, 1, 1], length_scale: [0.233853586673371, 0.233853586673371, "
         "0.25, 0.21650635094611]",
   "gp_path_sum", RG_SET_ADDITIVE, 151, 0, 48}};

enum { GRIDS = sizeof(grids) / sizeof(grids[0]) };

typedef struct {
  RgStudy study;
  RgPlan plan;
  RgDomain domain;
  RgKernel kernel;
  RgSetPosterior *posterior;
  int count;
} Grid;

static PetscErrorCode grid_create(int k, const char *algorithms, Grid *grid)
{
  RgDiagnostics diagnostics = {0};
  char text[2048];

  *grid = (Grid){.count = grids[k].count};
  snprintf(text, sizeof(text),
           "study: bench\nseeds: 1\ncommon:\n  iterations: 300\n  initial_points: 1\n"
           "  noise_variance: 1e-6\n  surrogate: {%s}\nproblems: [%s]\nalgorithms: [%s]\n",
           grids[k].model, grids[k].problem, algorithms);
  PetscCall(rg_study_parse(NULL, grids[k].name, text, strlen(text), &grid->study, &diagnostics));
  PetscCheck(diagnostics.n == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", grids[k].name,
             diagnostics.list[0].message);
  PetscCall(rg_plan_fill(&grid->study, &grid->plan));
  const RgCell *cell = &grid->study.cells[0];
  PetscCall(cell->problem->domain(cell->problem, cell->problem_options, &grid->domain));
  PetscCall(rg_surrogate_kernel(&cell->surrogate, cell->dim_x + cell->dim_c, &grid->kernel));
  return 0;
}

static PetscErrorCode grid_destroy(Grid *grid)
{
  PetscCall(rg_kernel_destroy(&grid->kernel));
  PetscCall(rg_domain_destroy(&grid->domain));
  PetscCall(rg_plan_clear(&grid->plan));
  PetscCall(rg_study_destroy(&grid->study));
  return 0;
}

static PetscErrorCode fill(void *closure)
{
  Grid *grid = closure;
  RgFailure failure = {0};
  const int size = grid->posterior->prior.size;

  PetscCall(rg_set_posterior_reset(grid->posterior, NULL, 1e-6, 0.0));
  for (int i = 0; i < grid->count; i++)
    PetscCall(
      rg_set_posterior_append(grid->posterior, (int)((7919L * i) % size), 0.01 * i, &failure));
  PetscCheck(!failure.failed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", failure.message);
  return 0;
}

static PetscErrorCode time_method(Grid *grid, RgSetMethod method, double *seconds)
{
  PetscCall(rg_set_posterior_create_with(method, &grid->domain, &grid->kernel, 1e-6, 0.0,
                                         grid->count, &grid->posterior));
  PetscCall(rg_bench_time(fill, grid, seconds));
  PetscCall(rg_set_posterior_destroy(&grid->posterior));
  return 0;
}

static PetscErrorCode bench_posterior(RgBench *bench, int k)
{
  Grid grid;
  double seconds, rows = 0;
  char name[96];

  PetscCall(grid_create(k, "rrgp_ucb", &grid));
  const double N = (double)grid.domain.design.size * grid.domain.context.size, T = grid.count;
  PetscCall(time_method(&grid, grids[k].method, &seconds));
  if (grids[k].method != RG_SET_ROWS) PetscCall(time_method(&grid, RG_SET_ROWS, &rows));
  snprintf(name, sizeof(name), "%d data on %s", grid.count, grids[k].name);
  PetscCall(rg_bench_report(bench, name, seconds, rows, grids[k].flops * N * T * T / 2,
                            grids[k].bytes * N * T));
  if (rows > 0) {
    snprintf(name, sizeof(name), "the same, rows streamed");
    PetscCall(rg_bench_report(bench, name, rows, 0, 0, 4 * N * T * T));
  }
  PetscCall(grid_destroy(&grid));
  return 0;
}

static PetscErrorCode run_first(void *closure)
{
  Grid *grid = closure;

  return bench_first_trial(&grid->study, &grid->plan);
}

static PetscErrorCode bench_trial(RgBench *bench, int k, const char *algorithm)
{
  Grid grid;
  double seconds;
  char name[96];

  PetscCall(grid_create(k, algorithm, &grid));
  PetscCall(rg_bench_time(run_first, &grid, &seconds));
  snprintf(name, sizeof(name), "%s trial, 300 queries, %s", grid.study.cells[0].algorithm->title,
           grids[k].name);
  PetscCall(rg_bench_report(bench, name, seconds, 0, 0, 0));
  PetscCall(grid_destroy(&grid));
  return 0;
}

PetscErrorCode rg_bench_robust(RgBench *bench)
{
  for (int k = 0; k < GRIDS; k++) PetscCall(bench_posterior(bench, k));
  for (int k = 0; k < GRIDS; k++) PetscCall(bench_trial(bench, k, "rrgp_ucb"));
  for (int k = 0; k < GRIDS; k++)
    PetscCall(bench_trial(bench, k, "{name: bpt_ucb, any_measure: true, threshold: 0.5}"));
  return 0;
}
