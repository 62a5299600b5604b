/* The benchmark program: bench [OUT.json]. */
#include "bench.h"

#include "maths/blas.h"
#include "base/clock.h"

PetscErrorCode rg_bench_time(RgBenchFunction function, void *closure, double *seconds)
{
  double spent = 0;

  *seconds = PETSC_MAX_REAL;
  double start = rg_cpu_seconds();
  PetscCall(function(closure)); /* warm */
  const double once = rg_cpu_seconds() - start;
  const int fewest = once > 2 ? 1 : 3; /* what takes seconds varies little */
  for (int repetition = 0; repetition < fewest || (spent < 0.2 && repetition < 100000);
       repetition++) {
    start = rg_cpu_seconds();
    PetscCall(function(closure));
    double took = rg_cpu_seconds() - start;
    *seconds = PetscMin(*seconds, took);
    spent += took;
  }
  return 0;
}

static void format_time(double seconds, char *out, size_t size)
{
  if (seconds < 1e-3) snprintf(out, size, "%.2f us", 1e6 * seconds);
  else if (seconds < 1) snprintf(out, size, "%.2f ms", 1e3 * seconds);
  else snprintf(out, size, "%.2f s", seconds);
}

PetscErrorCode rg_bench_report(RgBench *bench, const char *name, double seconds, double reference,
                               double flops, double bytes)
{
  char time[32], plain[32] = "", ratio[32] = "", peak[48] = "";
  double of_flops = bench->dgemm > 0 ? flops / seconds / bench->dgemm : 0;
  double of_bytes = bench->stream > 0 ? bytes / seconds / bench->stream : 0;

  format_time(seconds, time, sizeof(time));
  if (reference > 0) {
    format_time(reference, plain, sizeof(plain));
    snprintf(ratio, sizeof(ratio), "%.1fx", reference / seconds);
  }
  if (of_flops > 0) snprintf(peak, sizeof(peak), "%.0f%% of dgemm", 100 * of_flops);
  else if (of_bytes > 0) snprintf(peak, sizeof(peak), "%.0f%% of bandwidth", 100 * of_bytes);
  printf("%-58s %11s %11s %8s  %s\n", name, time, plain, ratio, peak);
  fflush(stdout);
  if (bench->json) {
    int written = fprintf(bench->json,
                          "%s  {\"name\": \"%s\", \"seconds\": %.6g, \"reference_seconds\": %.6g, "
                          "\"fraction_of_dgemm\": %.4g, \"fraction_of_bandwidth\": %.4g}",
                          bench->n ? ",\n" : "", name, seconds, reference, of_flops, of_bytes);
    PetscCheck(written > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot write the JSON file");
  }
  bench->n++;
  return 0;
}

static PetscErrorCode run_all(RgBench *bench)
{
  printf("%-58s %11s %11s %8s  %s\n", "", "time", "plain", "faster", "of peak");
  PetscCall(rg_bench_machine(bench));
  PetscCall(rg_bench_gp(bench));
  PetscCall(rg_bench_fit(bench));
  PetscCall(rg_bench_maximise(bench));
  PetscCall(rg_bench_density(bench));
  PetscCall(rg_bench_robust(bench));
  PetscCall(rg_bench_trials(bench));
  PetscCall(rg_bench_pending(bench));
  return 0;
}

int main(int argc, char **argv)
{
  RgBench bench = {0};
  PetscErrorCode error;

  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 70;
  rg_numerics_set(NULL);
  if (argc > 1) {
    bench.json = fopen(argv[1], "w");
    if (!bench.json) {
      fprintf(stderr, "bench: cannot write %s\n", argv[1]);
      (void)PetscFinalize();
      return 2;
    }
    fputs("[\n", bench.json);
  }
  error = rg_clock_initialize();
  if (!error) error = run_all(&bench);
  if (bench.json) {
    fputs("\n]\n", bench.json);
    if (fclose(bench.json)) error = PETSC_ERR_FILE_WRITE;
  }
  return PetscFinalize() || error ? 70 : 0;
}
