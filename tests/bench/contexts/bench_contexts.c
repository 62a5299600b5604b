/* bench_contexts STUDY.yaml [EVERY [nodes | lbfgsb]]: what a search loses.

   Runs each trial of the study, and asks its method again at every EVERY-th query, once as it is
   and once with `context_nodes: 0`, or with `local_search: lbfgsb`, about the same data and the
   same model. EVERY = 0 runs the trials alone. A line per problem and method says how often the
   first search ended lower, and what both cost. Losses are in posterior deviations of f where the
   better search ended, at the context that came next, and in units of the acquisition function. */
#include <stdio.h>
#include <string.h>

#include "acquisition/local_search.h"
#include "base/clock.h"
#include "gp/model/model.h"
#include "maths/blas.h"
#include "study/trial/trial.h"
#include "trial_at.h"

enum { EXTRAS = RG_EXTRA_MAX, DIMS = 1024 };
#define LOSS 1e-3

/* A method that is asked again. */
typedef struct {
  void *options; /* copy of those of the cell, which owns what they point to */
  RgMaximiserOptions maximiser;
  RgAlgorithm algorithm;
  double x[DIMS], c[DIMS], extra[EXTRAS], cpu;
  RgQuery query;
} Asked;

typedef struct {
  int compared, lost, lost_units, gained;
  double most, most_units;
  double sum_units, cpu[2], trial;
} Row;

typedef struct {
  int every;
  const char *other; /* what the second search has: "nodes": none of them; or "lbfgsb" */
} Comparison;

static PetscErrorCode asked_create(const RgStudy *study, const RgTrial *trial,
                                   const RgProblem *problem, const char *other, Asked *asked)
{
  const RgCell *cell = &study->cells[trial->cell];
  const RgAlgorithmClass *class = cell->algorithm;
  const char *name = class->stream ? class->stream : class->name;
  char stream[2 * RG_NAME_MAX];
  RgDiagnostics diagnostics = {0};
  const RgParam *entry;

  snprintf(stream, sizeof(stream), "algorithm:%s", name);
  PetscCall(PetscMalloc1(class->options_size, (char **)&asked->options));
  memcpy(asked->options, cell->algorithm_options, class->options_size);
  asked->maximiser = cell->maximiser;
  if (other && !strcmp(other, "lbfgsb")) asked->maximiser.local_search = RG_LOCAL_SEARCH_LBFGSB;
  else if (other)
    PetscCall(rg_params_set(class->params, asked->options, "context_nodes", 1,
                            (const char *[]){"0"}, (RgPlace){0}, &diagnostics, &entry));
  PetscCheck(!diagnostics.n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s: %s", class->name,
             diagnostics.list[0].message);
  const RgSetup setup = {
    .domain = &problem->domain,
    .surrogate = &cell->surrogate,
    .maximiser = &asked->maximiser,
    .noise_variance = cell->run.noise_known ? cell->run.noise_variance : NAN,
    .n_initial = trial->n_initial,
    .n_iterations = cell->run.iterations,
    .n_workers = 1,
    .stream = rg_stream(study->seed, cell->problem->name, trial->instance, stream, trial->seed)};
  asked->query = (RgQuery){.x = asked->x, .c = asked->c, .extra = asked->extra};
  PetscCall(rg_algorithm_create(class, asked->options, &setup, &asked->algorithm));
  return 0;
}

static PetscErrorCode asked_destroy(Asked *asked)
{
  PetscCall(rg_algorithm_destroy(&asked->algorithm));
  PetscCall(PetscFree(asked->options));
  return 0;
}

/* Fit first, so that the CPU time is that of the search. */
static PetscErrorCode ask(Asked *asked, int t, const RgHistory *history, bool wanted)
{
  RgFailure failure = {0};

  PetscCall(rg_model_update(asked->algorithm.class->model(&asked->algorithm), history, &failure));
  const double begin = rg_cpu_seconds();
  if (wanted) PetscCall(rg_algorithm_ask(&asked->algorithm, t, history, &asked->query, &failure));
  asked->cpu += rg_cpu_seconds() - begin;
  PetscCheck(!failure.failed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "query %d: %s", t, failure.message);
  return 0;
}

/* Posterior deviation at the query and the context c, model units. */
static PetscErrorCode deviation(Asked *asked, const double *c, double *sd)
{
  RgModel *model = asked->algorithm.class->model(&asked->algorithm);
  const int dim = model->domain->design.dim;
  RgPrediction work = {0};
  double z[2 * DIMS], mean, variance;

  for (int j = 0; j < model->kernel.dim; j++) z[j] = j < dim ? asked->x[j] : c[j - dim];
  PetscCall(rg_posterior_predict(&model->posterior, 1, z, &mean, &variance, &work));
  PetscCall(rg_prediction_destroy(&work));
  *sd = sqrt(variance);
  return 0;
}

static int acquisition_column(const RgAlgorithm *algorithm)
{
  int k = 0;

  while (strcmp(algorithm->columns[k].name, "acquisition")) k++;
  return k;
}

static PetscErrorCode compare(Asked *nodes, Asked *all, const double *c, Row *row)
{
  const int column = acquisition_column(&nodes->algorithm);
  const double loss = all->extra[column] - nodes->extra[column];
  double sd = 0;

  PetscCall(deviation(all, c, &sd));
  sd = PetscMax(sd, 1e-5);
  row->compared++;
  row->lost += loss > LOSS * sd;
  row->lost_units += loss > LOSS;
  row->gained += loss < -LOSS;
  row->sum_units += PetscMax(loss, 0);
  row->most = PetscMax(row->most, loss / sd);
  row->most_units = PetscMax(row->most_units, loss);
  return 0;
}

/* The recorded trial, query by query. */
static PetscErrorCode replay(const RgStudy *study, const RgTrial *trial, const RgProblem *problem,
                             const RgRecord *record, const Comparison *with, Row *row)
{
  const RgDomain *domain = &problem->domain;
  const int dim_x = domain->design.dim, dim_c = domain->context.dim;
  RgHistory history;
  Asked nodes = {0}, all = {0};
  double x[DIMS], c[DIMS];

  PetscCall(asked_create(study, trial, problem, NULL, &nodes));
  PetscCall(asked_create(study, trial, problem, with->other, &all));
  PetscCall(rg_history_create(domain, record->n_rows, &history));
  history.n_initial = trial->n_initial;
  for (int i = 0; i < record->n_rows; i++) {
    const int t = i - trial->n_initial + 1;
    const bool wanted = t >= 1 && t % with->every == 0;
    rg_space_to_unit(&domain->design, record->column[RG_COLUMN_X] + (size_t)i * dim_x, x);
    rg_space_to_unit(&domain->context, record->column[RG_COLUMN_C] + (size_t)i * dim_c, c);
    if (t >= 1) PetscCall(ask(&nodes, t, &history, wanted));
    if (t >= 1) PetscCall(ask(&all, t, &history, wanted));
    if (wanted) PetscCall(compare(&nodes, &all, c, row));
    PetscCall(rg_history_append(&history, x, -1, c, -1, record->column[RG_COLUMN_Y][i]));
  }
  row->cpu[0] += nodes.cpu;
  row->cpu[1] += all.cpu;
  PetscCall(rg_history_destroy(&history));
  PetscCall(asked_destroy(&nodes));
  PetscCall(asked_destroy(&all));
  return 0;
}

static PetscErrorCode run(const RgStudy *study, const RgTrial *trial, const Comparison *with,
                          Row *row)
{
  const RgCell *cell = &study->cells[trial->cell];
  RgRecord record = {0};
  RgInstances *instances;
  RgInstance *instance;
  RgFailure failure = {0};
  bool stopped;

  PetscCall(rg_trial_run(study, trial, NULL, &record, &stopped));
  PetscCheck(record.status == RG_STATUS_COMPLETE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "trial failed: %s", record.message);
  row->trial += record.provenance.cpu;
  PetscCall(rg_instances_create(&instances));
  PetscCall(
    rg_instances_acquire(instances, NULL, study, cell, trial->instance, &instance, &failure));
  if (with->every > 0) PetscCall(replay(study, trial, &instance->problem, &record, with, row));
  PetscCall(rg_instances_release(&instance));
  PetscCall(rg_instances_destroy(&instances));
  PetscCall(rg_record_destroy(&record));
  return 0;
}

/* All seeds of a cell make one line. */
static PetscErrorCode run_study(const char *path, const Comparison *with)
{
  RgStudy study = {0};
  RgPlan plan = {0};
  RgDiagnostics diagnostics = {0};
  char *text;
  size_t length;

  PetscCall(rg_study_read_file(path, &text, &length, &diagnostics));
  if (text) PetscCall(rg_study_parse(NULL, path, text, length, &study, &diagnostics));
  PetscCheck(!diagnostics.n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s: %s", path,
             diagnostics.list[0].message);
  PetscCall(rg_plan_fill(&study, &plan));
  printf(
    "| problem | method | queries | lower by 1e-3 sd | by 1e-3 units | most, sd | most, units |"
    " higher by 1e-3 units | CPU s | the other search | trial |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int k = 0; k < study.n_cells; k++) {
    Row row = {0};
    for (int i = 0; i < plan.n; i++) {
      const RgTrial trial = trial_at(&plan, i);
      if (trial.cell == k) PetscCall(run(&study, &trial, with, &row));
    }
    printf("| %s | %s | %d | %d | %d | %.1e | %.1e | %d | %.2f | %.2f | %.2f |\n",
           study.cells[k].problem_label, study.cells[k].algorithm_label, row.compared, row.lost,
           row.lost_units, row.most, row.most_units, row.gained, row.cpu[0], row.cpu[1], row.trial);
    fflush(stdout);
  }
  PetscCall(PetscFree(text));
  PetscCall(rg_plan_clear(&plan));
  PetscCall(rg_study_destroy(&study));
  return 0;
}

int main(int argc, char **argv)
{
  PetscErrorCode error;

  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 70;
  rg_numerics_set(NULL);
  if (argc < 2) {
    fprintf(stderr, "usage: bench_contexts STUDY.yaml [EVERY [nodes | lbfgsb]]\n");
    (void)PetscFinalize();
    return 2;
  }
  error = rg_clock_initialize();
  const Comparison with = {.every = argc > 2 ? atoi(argv[2]) : 1,
                           .other = argc > 3 ? argv[3] : "nodes"};
  if (!error) error = run_study(argv[1], &with);
  return PetscFinalize() || error ? 70 : 0;
}
