/* bench_contexts STUDY.yaml [EVERY [SEARCH..]]: what searches lose.

   Runs each trial of the study, and asks its method again at every EVERY-th query: as it is, and by
   each further SEARCH (by default `all`), about the same data and the same model. EVERY = 0 runs
   the trials alone. A line per problem and method says for each search how often it ended lower
   than the best of them by more than 1e-3, by how much at most, and what a query cost. Differences
   are in posterior deviations of f where the best search ended, at the context that came next. */
#include <stdio.h>
#include <string.h>

#include "acquisition/local_search.h"
#include "base/clock.h"
#include "gp/model/model.h"
#include "maths/blas.h"
#include "study/trial/trial.h"
#include "trial_at.h"

enum { EXTRAS = RG_EXTRA_MAX, DIMS = 1024, SEARCHES = 4 };
#define LOSS 1e-3
#define LEAST_DEVIATION 1e-5

/* How a method is asked again. */
static const struct {
  const char *name;
  bool all; /* `context_nodes: 0` */
  int more; /* factor of raw points and starts */
  bool lbfgsb;
} searches[] = {{"default", false, 1, false},
                {"all", true, 1, false},
                {"more", true, 2, false},
                {"lbfgsb", false, 1, true}};

/* A method that is asked again. */
typedef struct {
  void *options; /* copy of those of the cell, which owns what they point to */
  RgMaximiserOptions maximiser;
  RgAlgorithm algorithm;
  double x[DIMS], c[DIMS], extra[EXTRAS], cpu;
  RgQuery query;
} Asked;

typedef struct {
  int compared, lost[SEARCHES];
  double most[SEARCHES], cpu[SEARCHES], trial;
} Row;

typedef struct {
  int every, n;
  int search[SEARCHES]; /* n, the first is 0 */
} Comparison;

static PetscErrorCode asked_create(const RgStudy *study, const RgTrial *trial,
                                   const RgProblem *problem, int search, Asked *asked)
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
  asked->maximiser.raw_samples *= searches[search].more;
  asked->maximiser.restarts *= searches[search].more;
  if (searches[search].lbfgsb) asked->maximiser.local_search = RG_LOCAL_SEARCH_LBFGSB;
  if (searches[search].all)
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
static PetscErrorCode ask(Asked *asked, int t, const RgHistory *history)
{
  RgFailure failure = {0};

  PetscCall(rg_model_update(asked->algorithm.class->model(&asked->algorithm), history, &failure));
  const double begin = rg_cpu_seconds();
  PetscCall(rg_algorithm_ask(&asked->algorithm, t, history, &asked->query, &failure));
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

static PetscErrorCode compare(const Comparison *with, Asked *asked, const double *c, Row *row)
{
  const int column = acquisition_column(&asked[0].algorithm);
  int best = 0;
  double sd = 0;

  for (int i = 1; i < with->n; i++)
    if (asked[i].extra[column] > asked[best].extra[column]) best = i;
  PetscCall(deviation(&asked[best], c, &sd));
  row->compared++;
  for (int i = 0; i < with->n; i++) {
    const double loss =
      (asked[best].extra[column] - asked[i].extra[column]) / PetscMax(sd, LEAST_DEVIATION);
    row->lost[i] += loss > LOSS;
    row->most[i] = PetscMax(row->most[i], loss);
  }
  return 0;
}

/* The recorded trial, query by query. */
static PetscErrorCode replay(const RgStudy *study, const RgTrial *trial, const RgProblem *problem,
                             const RgRecord *record, const Comparison *with, Row *row)
{
  const RgDomain *domain = &problem->domain;
  const int dim_x = domain->design.dim, dim_c = domain->context.dim;
  RgHistory history;
  Asked *asked;
  double x[DIMS], c[DIMS];

  PetscCall(PetscCalloc1(with->n, &asked));
  for (int k = 0; k < with->n; k++)
    PetscCall(asked_create(study, trial, problem, with->search[k], &asked[k]));
  PetscCall(rg_history_create(domain, record->n_rows, &history));
  history.n_initial = trial->n_initial;
  for (int i = 0; i < record->n_rows; i++) {
    const int t = i - trial->n_initial + 1;
    const bool wanted = t >= 1 && t % with->every == 0;
    rg_space_to_unit(&domain->design, record->column[RG_COLUMN_X] + (size_t)i * dim_x, x);
    rg_space_to_unit(&domain->context, record->column[RG_COLUMN_C] + (size_t)i * dim_c, c);
    for (int k = 0; k < with->n && wanted; k++) PetscCall(ask(&asked[k], t, &history));
    if (wanted) PetscCall(compare(with, asked, c, row));
    PetscCall(rg_history_append(&history, x, -1, c, -1, record->column[RG_COLUMN_Y][i]));
  }
  PetscCall(rg_history_destroy(&history));
  for (int k = 0; k < with->n; k++) {
    row->cpu[k] += asked[k].cpu;
    PetscCall(asked_destroy(&asked[k]));
  }
  PetscCall(PetscFree(asked));
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
  printf("| problem | method | queries |");
  for (int k = 0; k < with->n; k++)
    printf(" %s: lower | most | ms |", searches[with->search[k]].name);
  printf(" trial, s |\n|---|---|---|");
  for (int k = 0; k < with->n; k++) printf("---|---|---|");
  printf("---|\n");
  for (int k = 0; k < study.n_cells; k++) {
    Row row = {0};
    for (int i = 0; i < plan.n; i++) {
      const RgTrial trial = trial_at(&plan, i);
      if (trial.cell == k) PetscCall(run(&study, &trial, with, &row));
    }
    printf("| %s | %s | %d |", study.cells[k].problem_label, study.cells[k].algorithm_label,
           row.compared);
    for (int l = 0; l < with->n; l++)
      printf(" %d | %.1e | %.1f |", row.lost[l], row.most[l], 1e3 * row.cpu[l] / row.compared);
    printf(" %.2f |\n", row.trial);
    fflush(stdout);
  }
  PetscCall(PetscFree(text));
  PetscCall(rg_plan_clear(&plan));
  PetscCall(rg_study_destroy(&study));
  return 0;
}

static int find_search(const char *name)
{
  for (int k = 1; k < SEARCHES; k++)
    if (!strcmp(searches[k].name, name)) return k;
  return 0;
}

int main(int argc, char **argv)
{
  Comparison with = {.every = argc > 2 ? atoi(argv[2]) : 1, .n = 1};
  bool known = argc > 1 && argc < 3 + SEARCHES;
  PetscErrorCode error;

  for (int i = 3; known && i < argc; i++) {
    known = find_search(argv[i]) > 0;
    with.search[with.n++] = find_search(argv[i]);
  }
  if (argc <= 3) with.search[with.n++] = find_search("all");
  if (!known) {
    fprintf(stderr, "usage: bench_contexts STUDY.yaml [EVERY [all | more | lbfgsb]..]\n");
    return 2;
  }
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 70;
  rg_numerics_set(NULL);
  error = rg_clock_initialize();
  if (!error) error = run_study(argv[1], &with);
  return PetscFinalize() || error ? 70 : 0;
}
