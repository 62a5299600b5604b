/* bench_large dense N ... | cholesky N ... | blocks [N] | crossover | iterative [N [RANK [PART]]] |
   constants: large Gaussian processes on the ranks of mpirun. Wall seconds, least of several runs;
   one core per rank. PART of iterative: mean, variance or determinant; without it all three.
   constants: those of the model in docs/scaling.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maths/blas.h"
#include "base/clock.h"
#include "regatta/stream.h"
#include "gp/team/distributed_matrix.h"
#include "gp/model/fit.h"
#include "gp/posterior/iterative/iterative.h"
#include "gp/posterior/posterior.h"

enum { DIM = 3, APPENDED = 100, POINTS = 1000, ORDER = 2048 };

static const double noise = 1e-2, scales[DIM] = {0.2, 0.3, 0.4};

typedef struct {
  int rank, ranks, n;
  double peak; /* flop/s of dgemm, all ranks at once */
  double *X, *y, *mean, *variance;
  RgKernel kernel;
} Bench;

static double now(void)
{
  MPI_Barrier(PETSC_COMM_WORLD);
  return rg_wall_seconds();
}

static PetscErrorCode measure_peak(Bench *b)
{
  const size_t size = (size_t)ORDER * ORDER;
  double *A, seconds = 1e300;

  PetscCall(PetscMalloc1(3 * size, &A));
  for (size_t i = 0; i < 3 * size; i++) A[i] = 1.0 / (double)(1 + i % 1000);
  for (int k = 0; k < 3; k++) {
    double start = now();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1.0, A, ORDER,
                A + size, ORDER, 0.0, A + 2 * size, ORDER);
    seconds = fmin(seconds, now() - start);
  }
  b->peak = b->ranks * 2.0 * ORDER * (double)size / seconds;
  PetscCall(PetscFree(A));
  return 0;
}

static PetscErrorCode bench_create(Bench *b, int n)
{
  const RgStream stream = rg_stream(1, "bench", 0, "large", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  const int all = n + APPENDED + POINTS;

  b->n = n;
  PetscCall(
    PetscMalloc4((size_t)all * DIM, &b->X, all, &b->y, POINTS, &b->mean, POINTS, &b->variance));
  rg_random_uniforms(&random, (size_t)all * DIM, b->X);
  rg_random_normals(&random, (size_t)all, b->y);
  for (int i = 0; i < all; i++) b->y[i] = 4 * b->X[3 * i] * b->X[3 * i + 1] + 0.1 * b->y[i];
  PetscCall(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, scales, 1.0, &b->kernel));
  return 0;
}

static PetscErrorCode bench_destroy(Bench *b)
{
  PetscCall(PetscFree4(b->X, b->y, b->mean, b->variance));
  PetscCall(rg_kernel_destroy(&b->kernel));
  return 0;
}

static void line(const Bench *b, const char *what, double seconds, double flops)
{
  if (b->rank) return;
  printf("  %-44s %10.4f s", what, seconds);
  if (flops > 0)
    printf("  %7.1f GFLOP/s, %3.0f%% of dgemm", flops / seconds * 1e-9,
           100 * flops / seconds / b->peak);
  printf("\n");
  fflush(stdout);
}

/* ---- dense --------------------------------------------------------------------------------- */

/* Assembly and factorisation by themselves; on one rank LAPACK's beside it. */
static PetscErrorCode split(Bench *b, int n, int block)
{
  const double cube = (double)n * n * n;
  double assembly = 1e300, cholesky = 1e300, lapack = 1e300, log_det;
  RgGrid grid;
  RgBlockMatrix matrix;
  bool good;

  PetscCall(rg_grid_create(PETSC_COMM_WORLD, block, &grid));
  PetscCall(rg_block_matrix_create(&grid, n, n, grid.block, grid.block, &matrix));
  for (int k = 0; k < 2; k++) {
    double start = now();
    PetscCall(rg_block_matrix_kernel(&b->kernel, 0, n, b->X, noise, &matrix));
    assembly = fmin(assembly, now() - start);
    start = now();
    PetscCall(rg_block_matrix_cholesky(0, n, 0.0, &matrix, &good, &log_det));
    cholesky = fmin(cholesky, now() - start);
    if (b->ranks > 1) continue;
    PetscCall(rg_block_matrix_kernel(&b->kernel, 0, n, b->X, noise, &matrix));
    start = now();
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, matrix.a, matrix.ld);
    lapack = fmin(lapack, now() - start);
  }
  line(b, "assembly of the kernel matrix", assembly, 0);
  line(b, "Cholesky factorisation", cholesky, cube / 3);
  if (b->ranks == 1) line(b, "Cholesky factorisation by LAPACK", lapack, cube / 3);
  if (!b->rank) printf("    assembly/factorisation %.3f\n", assembly / cholesky);
  PetscCall(rg_block_matrix_destroy(&matrix));
  PetscCall(rg_grid_destroy(&grid));
  return 0;
}

static PetscErrorCode cholesky(Bench *b, int n)
{
  PetscCall(bench_create(b, n));
  if (!b->rank) printf("n = %d, %d ranks\n", n, b->ranks);
  PetscCall(split(b, n, RG_DISTRIBUTED_BLOCK));
  PetscCall(bench_destroy(b));
  return 0;
}

static PetscErrorCode dense(Bench *b, int n, int block)
{
  const double cube = (double)n * n * n;
  double best = 1e300, start, value, gradient[8], mean = 0, append = 1e300;
  RgDistributed *p;
  RgFailure failure = {0};

  PetscCall(bench_create(b, n));
  if (!b->rank) printf("n = %d, %d ranks, blocks of %d\n", n, b->ranks, block);
  for (int k = 0; k < 2; k++) {
    PetscCall(
      rg_distributed_create(PETSC_COMM_WORLD, &b->kernel, noise, 0.0, n + APPENDED, block, &p));
    start = now();
    PetscCall(rg_distributed_set(p, NULL, noise, 0.0, n, b->X, b->y, &failure));
    best = fmin(best, now() - start);
    start = now();
    PetscCall(rg_distributed_append(p, APPENDED, b->X + (size_t)n * DIM, b->y + n, &failure));
    append = fmin(append, now() - start);
    if (k == 0) PetscCall(rg_distributed_destroy(&p));
  }
  PetscCall(split(b, n, block));
  line(b, "all of it, and the weights", best, cube / 3);
  line(b, "100 data appended", append, 0);
  start = now();
  PetscCall(
    rg_distributed_predict(p, POINTS, b->X + (size_t)(n + APPENDED) * DIM, b->mean, b->variance));
  line(b, "mean and variance at 1000 points", now() - start, (double)n * n * POINTS);
  start = now();
  PetscCall(rg_distributed_objective(&(RgSpread){PETSC_COMM_WORLD, block}, &b->kernel, noise, false,
                                     &mean, &(RgData){n, b->X, b->y}, &value, gradient));
  start = now() - start;
  line(b, "likelihood with gradient", start, cube);
  if (!b->rank)
    printf("  gradient/factorisation %.2f, append/factorisation %.3f, %.0f MB per rank\n",
           start / best, append / best, rg_distributed_bytes(p) / 1e6);
  PetscCall(rg_distributed_destroy(&p));
  PetscCall(bench_destroy(b));
  return 0;
}

/* ---- crossover ----------------------------------------------------------------------------- */

/* The time of one iteration of a model with a fit, here and on the ranks: likelihood with
   gradient. */
static PetscErrorCode crossover(Bench *b, int n)
{
  const RgFitOptions options = {.learn_noise = true};
  double local = 1e300, shared = 1e300, value, gradient[8], mean = 0;
  RgFitWork work = {0};

  PetscCall(bench_create(b, n));
  for (int k = 0; k < 3; k++) {
    double start = now();
    if (!b->rank)
      PetscCall(rg_fit_objective_with(&work, &b->kernel, noise, &mean, &(RgData){n, b->X, b->y},
                                      &options, &value, gradient));
    local = fmin(local, now() - start);
    start = now();
    PetscCall(rg_distributed_objective(&(RgSpread){PETSC_COMM_WORLD, 0}, &b->kernel, noise, false,
                                       &mean, &(RgData){n, b->X, b->y}, &value, gradient));
    shared = fmin(shared, now() - start);
  }
  if (!b->rank)
    printf("  n = %5d: one rank %8.4f s, %d ranks %8.4f s, ratio %.2f\n", n, local, b->ranks,
           shared, shared / local);
  PetscCall(rg_fit_work_destroy(&work));
  PetscCall(bench_destroy(b));
  return 0;
}

/* ---- matrix-free --------------------------------------------------------------------------- */

static void tell(const Bench *b, const char *what, double seconds, const RgIterativeReport *report)
{
  line(b, what, seconds, 0);
  if (!b->rank)
    printf("    %s after %d iterations, residual %.1e\n",
           report->converged ? "converged" : "not converged", report->iterations, report->residual);
}

static PetscErrorCode iterative(Bench *b, int n, int rank, const char *part)
{
  RgIterativeOptions options = rg_iterative_defaults;
  RgIterativeReport report = {0};
  RgIterative *gp;
  double start, value, error;

  PetscCall(bench_create(b, n));
  options.rank = rank;
  if (!b->rank)
    printf("n = %d in %d inputs, %d ranks, preconditioner of rank %d, tolerance %g, %d probes\n", n,
           DIM, b->ranks, options.rank, options.tolerance, options.probes);
  const double *Z = b->X + (size_t)(n + APPENDED) * DIM, *truth = b->y + n + APPENDED;
  start = now();
  PetscCall(rg_iterative_create(PETSC_COMM_WORLD, &b->kernel, noise, 0.0, &(RgData){n, b->X, b->y},
                                &options, &gp));
  line(b, "preconditioner", now() - start, 0);
  if (!part || !strcmp(part, "mean")) {
    start = now();
    PetscCall(rg_iterative_solve(gp, &report));
    tell(b, "weights of the mean", now() - start, &report);
    start = now();
    PetscCall(rg_iterative_mean(gp, POINTS, Z, b->mean));
    line(b, "mean at 1000 points", now() - start, 0);
    double squares = 0;
    for (int j = 0; j < POINTS; j++) squares += (b->mean[j] - truth[j]) * (b->mean[j] - truth[j]);
    if (!b->rank) printf("    root mean square error %.4f (noise 0.1)\n", sqrt(squares / POINTS));
  }
  if (!part || !strcmp(part, "variance")) {
    start = now();
    PetscCall(rg_iterative_predict(gp, 16, Z, b->mean, b->variance));
    line(b, "mean and variance at 16 points", now() - start, 0);
  }
  if (!part || !strcmp(part, "determinant")) {
    start = now();
    PetscCall(rg_iterative_log_determinant(gp, &value, &error, &report));
    tell(b, "log determinant", now() - start, &report);
    if (!b->rank) printf("    log det = %.1f, standard error %.1f\n", value, error);
  }
  PetscCall(rg_iterative_destroy(&gp));
  PetscCall(bench_destroy(b));
  return 0;
}

/* ---- constants of the model ---------------------------------------------------------------- */

/* Seconds that a message of `count` numbers takes from rank 0 to the last one. */
static double message_seconds(const Bench *b, int count, double *buffer)
{
  const int last = b->ranks - 1, times = count > 1000 ? 20 : 2000;
  double best = 1e300;

  for (int k = 0; k < 5; k++) {
    const double start = now();
    for (int i = 0; i < times; i++) {
      if (b->rank == 0) {
        MPI_Send(buffer, count, MPI_DOUBLE, last, 0, PETSC_COMM_WORLD);
        MPI_Recv(buffer, count, MPI_DOUBLE, last, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (b->rank == last) {
        MPI_Recv(buffer, count, MPI_DOUBLE, 0, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, count, MPI_DOUBLE, 0, 0, PETSC_COMM_WORLD);
      }
    }
    best = fmin(best, (now() - start) / (2 * times));
  }
  return best;
}

/* Seconds of a ticket of the schedule (study/schedule/schedule.c) while all other ranks draw theirs. */
static double ticket_seconds(void)
{
  const int times = 2000;
  int64_t *counter, one = 1, before;
  double best = 1e300;
  MPI_Win window;

  MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, PETSC_COMM_WORLD, &counter,
                   &window);
  *counter = 0;
  MPI_Win_lock_all(0, window);
  for (int k = 0; k < 5; k++) {
    const double start = now();
    for (int i = 0; i < times; i++) {
      MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window);
      MPI_Win_flush(0, window);
    }
    best = fmin(best, (now() - start) / times);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  return best;
}

static PetscErrorCode constants(const Bench *b)
{
  const int large = 1 << 20;
  double *buffer;

  PetscCall(PetscCalloc1(large, &buffer));
  if (b->ranks > 1) {
    const double alpha = message_seconds(b, 1, buffer),
                 long_one = message_seconds(b, large, buffer);
    const double ticket = ticket_seconds();
    if (!b->rank)
      printf("alpha %.2e s, beta %.2e s per number (%.1f GB/s), ticket %.2e s\n", alpha,
             long_one / large, 8e-9 * large / long_one, ticket);
  }
  if (!b->rank) printf("gamma %.2e s per operation (dgemm, one rank)\n", b->ranks / b->peak);
  PetscCall(PetscFree(buffer));
  return 0;
}

/* Whether there is such a part with such numbers; otherwise say what there is. */
static bool is_sound(int argc, char **argv)
{
  static const struct {
    const char *what;
    int least, most; /* numbers behind it */
  } parts[] = {{"dense", 1, 99},    {"cholesky", 1, 99}, {"blocks", 0, 1},
               {"crossover", 0, 0}, {"constants", 0, 0}, {"iterative", 0, 3}};
  static const char *const of_iterative[] = {"mean", "variance", "determinant"};
  const int given = argc - 2;

  for (size_t k = 0; argc > 1 && k < sizeof(parts) / sizeof(*parts); k++) {
    if (strcmp(argv[1], parts[k].what)) continue;
    bool sound = given >= parts[k].least && given <= parts[k].most;
    for (int i = 0; i < given && sound; i++) {
      sound = i < 2 || parts[k].most > 3 ? atoi(argv[i + 2]) > 0 : false;
      for (int word = 0; i == 2 && word < 3; word++)
        sound = sound || !strcmp(argv[i + 2], of_iterative[word]);
    }
    if (sound) return true;
  }
  fprintf(stderr, "bench large: dense N ... | cholesky N ... | blocks [N] | crossover | iterative "
                  "[N [RANK [mean | variance | determinant]]] | constants\n");
  return false;
}

static PetscErrorCode run(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  Bench b = {0};

  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &b.rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &b.ranks));
  PetscCall(measure_peak(&b));
  if (!b.rank) printf("dgemm: %.1f GFLOP/s on %d ranks\n", b.peak * 1e-9, b.ranks);
  if (!strcmp(what, "dense")) {
    for (int i = 2; i < argc; i++) PetscCall(dense(&b, atoi(argv[i]), RG_DISTRIBUTED_BLOCK));
  } else if (!strcmp(what, "cholesky")) {
    for (int i = 2; i < argc; i++) PetscCall(cholesky(&b, atoi(argv[i])));
  } else if (!strcmp(what, "blocks")) {
    for (int block = 32; block <= 256; block *= 2)
      PetscCall(dense(&b, argc > 2 ? atoi(argv[2]) : 4000, block));
  } else if (!strcmp(what, "crossover")) {
    for (int n = 250; n <= 4000; n *= 2) PetscCall(crossover(&b, n));
  } else if (!strcmp(what, "constants")) {
    PetscCall(constants(&b));
  } else if (!strcmp(what, "iterative")) {
    PetscCall(iterative(&b, argc > 2 ? atoi(argv[2]) : 20000,
                        argc > 3 ? atoi(argv[3]) : rg_iterative_defaults.rank,
                        argc > 4 ? argv[4] : NULL));
  }
  return 0;
}

int main(int argc, char **argv)
{
  static const char check[] = "check"; /* before mpirun, which has much to say about a mistake */
  PetscErrorCode error;

  if (argc > 1 && !strcmp(argv[1], check)) return is_sound(argc - 1, argv + 1) ? 0 : 2;
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 70;
  rg_numerics_set(NULL);
  error = run(argc, argv);
  return PetscFinalize() || error ? 70 : 0;
}
