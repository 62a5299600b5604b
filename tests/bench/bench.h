/* Frame of the benchmarks: every entry is timed in CPU seconds (least of several repetitions), beside a
   plain reference implementation where there is one, in the same run on the same machine. */
#ifndef RG_TESTS_BENCH_BENCH_H
#define RG_TESTS_BENCH_BENCH_H

#include <stdio.h>

#include "regatta/error.h"

typedef PetscErrorCode (*RgBenchFunction)(void *closure);

typedef struct {
  FILE *json;
  int n;                /* entries so far */
  double dgemm, stream; /* measured peaks: flop/s, byte/s */
} RgBench;

/* Seconds of CPU per call: least over repetitions that together take about 0.2 s. */
PetscErrorCode rg_bench_time(RgBenchFunction function, void *closure, double *seconds);

/* One line of the table. reference: seconds of the plain version, 0 without one; flops, bytes: work per
   call for the fraction of peak, 0 where it makes no sense. */
PetscErrorCode rg_bench_report(RgBench *bench, const char *name, double seconds, double reference,
                               double flops, double bytes);

PetscErrorCode rg_bench_machine(RgBench *bench);  /* measures the peaks */
PetscErrorCode rg_bench_gp(RgBench *bench);       /* update, prediction, finite sets */
PetscErrorCode rg_bench_fit(RgBench *bench);      /* likelihood with gradient, fit */
PetscErrorCode rg_bench_maximise(RgBench *bench); /* acquisition maximisation */
PetscErrorCode rg_bench_density(RgBench *bench);  /* kernel regression, BOKE up to 10,000 queries */
PetscErrorCode rg_bench_robust(RgBench *bench);   /* robustness measures on grids up to 10^5 */
PetscErrorCode rg_bench_trials(RgBench *bench);   /* whole trials of small studies */
PetscErrorCode rg_bench_pending(RgBench *bench);  /* points in flight, beside a sequential run */

#endif
