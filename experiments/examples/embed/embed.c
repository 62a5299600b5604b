/* A program that runs a study of its own: half of its ranks race the algorithms on a communicator
   split from the world, the others are free for other work; then it reads the results back.

     mpirun -n 4 embed STUDY.yaml OUT.h5

   Exit code 0: complete; 1: anything else. */
#include <regatta/regatta.h>

#include <math.h>
#include <stdio.h>

static void show_progress(void *closure, const RgProgress *progress, bool last)
{
  (void)closure;
  if (last) printf("%d of %d trials run\n", progress->n_finished, progress->n_total);
}

static void show_message(void *closure, int rank, const char *text)
{
  (void)closure;
  fprintf(stderr, "embed: rank %d: %s\n", rank, text);
}

/* Study file -> plan -> run, on the ranks of `comm`. */
static PetscErrorCode run_study(MPI_Comm comm, const char *path, const char *output, bool *complete)
{
  const RgRunOptions options = {.output = output};
  const RgObserver observer = {.period = 1.0, .progress = show_progress, .message = show_message};
  RgDiagnostics diagnostics = {0};
  RgStudy *study;
  RgPlan *plan;
  RgRunReport report;

  *complete = false;
  PetscCall(rg_study_open(NULL, path, &study, &diagnostics));
  for (int i = 0; i < diagnostics.n && i < RG_DIAGNOSTICS_MAX; i++)
    fprintf(stderr, "embed: %s\n", diagnostics.list[i].message);
  if (!study) return 0;
  PetscCall(rg_plan_create(study, &plan));
  PetscCall(rg_run(comm, plan, &options, &observer, &report));
  *complete = report.outcome == RG_RUN_COMPLETE;
  PetscCall(rg_plan_destroy(&plan));
  PetscCall(rg_study_close(&study));
  return 0;
}

/* One line per trial: its last simple regret. */
static PetscErrorCode show_results(const char *output)
{
  RgFault fault = {0};
  RgResults *results;
  RgRecord record = {0};

  PetscCall(rg_results_open(output, &results, &fault));
  if (!results) {
    fprintf(stderr, "embed: %s\n", fault.message);
    return 0;
  }
  while (rg_results_next(results, &record)) {
    const double *regret = record.column[RG_COLUMN_SIMPLE_REGRET];
    const int n = record.n_rows; /* 0 where it failed at once; no regret: no known optimum */
    printf("%s seed %llu: %d evaluations, simple regret %.6g\n", record.cell->algorithm,
           (unsigned long long)record.seed, n, regret && n ? regret[n - 1] : NAN);
    PetscCall(rg_record_destroy(&record));
  }
  PetscCall(rg_results_close(&results));
  return 0;
}

static PetscErrorCode work(const char *path, const char *output, bool *complete)
{
  MPI_Comm half;
  int rank, ranks;

  *complete = true;
  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  const bool racing = rank < (ranks + 1) / 2;
  PetscCallMPI(MPI_Comm_split(MPI_COMM_WORLD, racing ? 0 : 1, rank, &half));
  if (racing) PetscCall(run_study(half, path, output, complete));
  if (rank == 0 && *complete) PetscCall(show_results(output));
  PetscCallMPI(MPI_Comm_free(&half));
  return 0;
}

int main(int argc, char **argv)
{
  bool complete = false;

  if (argc != 3) {
    fprintf(stderr, "usage: embed STUDY.yaml OUT.h5\n");
    return 1;
  }
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  PetscErrorCode error = work(argv[1], argv[2], &complete);
  return PetscFinalize() || error || !complete ? 1 : 0;
}
