/* The peak speed of one core of this machine: dgemm and memory bandwidth. */
#include "bench.h"

#include "maths/blas.h"

enum { ORDER = 1024, STREAM = 1 << 24 };

static PetscErrorCode multiply(void *closure)
{
  double *A = closure, *B = A + ORDER * ORDER, *C = B + ORDER * ORDER;

  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1.0, A, ORDER, B,
              ORDER, 0.0, C, ORDER);
  return 0;
}

static PetscErrorCode triad(void *closure)
{
  double *restrict a = closure, *restrict b = a + STREAM, *restrict c = b + STREAM;

  for (int i = 0; i < STREAM; i++) a[i] = b[i] + 0.5 * c[i];
  return 0;
}

PetscErrorCode rg_bench_machine(RgBench *bench)
{
  double *data, seconds;
  size_t n = 3 * (size_t)STREAM;

  PetscCall(PetscMalloc1(n, &data));
  for (size_t i = 0; i < n; i++) data[i] = 1.0 / (double)(1 + i % 1000);
  PetscCall(rg_bench_time(multiply, data, &seconds));
  bench->dgemm = 2.0 * ORDER * ORDER * (double)ORDER / seconds;
  PetscCall(rg_bench_report(bench, "dgemm, 1024 x 1024", seconds, 0, 0, 0));
  PetscCall(rg_bench_time(triad, data, &seconds));
  bench->stream = 3.0 * STREAM * sizeof(double) / seconds;
  PetscCall(rg_bench_report(bench, "memory triad, 3 x 128 MiB", seconds, 0, 0, 0));
  PetscCall(PetscFree(data));
  printf("%-58s %.1f GFLOP/s, %.1f GB/s\n", "one core", bench->dgemm * 1e-9, bench->stream * 1e-9);
  return 0;
}
