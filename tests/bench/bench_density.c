/* Kernel regression: one acquisition value against the number of points, and whole runs of BOKE,
   whose cost is O(m T^2) for m values per query. */
#include "bench.h"
#include "acquisition/local_search.h"

#include <math.h>

#include "study/file/registry.h"
#include "base/clock.h"
#include "density/regression.h"

enum { DIM = 4, BATCH = 256 };

typedef struct {
  RgRegression regression;
  double X[BATCH * DIM], mean[BATCH], log_weight[BATCH];
  double d_mean[BATCH * DIM], d_log[BATCH * DIM];
  bool gradients, plain;
} Values;

/* The formulas as they stand, one point at a time. */
static void plain(Values *values)
{
  const RgRegression *r = &values->regression;

  for (int c = 0; c < BATCH; c++) {
    double mass = 0, moment = 0;
    for (int i = 0; i < r->n; i++) {
      double r2 = 0;
      for (int k = 0; k < DIM; k++) {
        double u = values->X[c * DIM + k] - r->x[k * r->ld + i];
        r2 += u * u;
      }
      double weight = exp(-r2 / (2 * 0.1 * 0.1));
      mass += weight;
      moment += weight * r->y[i];
    }
    values->mean[c] = moment / mass;
    values->log_weight[c] = log(mass);
  }
}

static PetscErrorCode evaluate(void *closure)
{
  Values *v = closure;

  if (v->plain) plain(v);
  else
    PetscCall(rg_regression_predict(&v->regression, 0.1, BATCH, v->X, v->mean, v->log_weight,
                                    v->gradients ? v->d_mean : NULL,
                                    v->gradients ? v->d_log : NULL));
  return 0;
}

static PetscErrorCode bench_values(RgBench *bench, int n)
{
  RgStream stream = rg_stream(1, "bench", 0, "density", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  Values values = {0};
  double x[DIM], seconds, reference;
  char name[80];

  PetscCall(rg_regression_create(RG_SMOOTHING_GAUSSIAN, DIM, n, &values.regression));
  for (int i = 0; i < n; i++) {
    rg_random_uniforms(&random, DIM, x);
    PetscCall(rg_regression_append(&values.regression, x, rg_random_normal(&random)));
  }
  rg_random_uniforms(&random, BATCH * DIM, values.X);
  for (int gradients = 0; gradients < 2; gradients++) {
    values.gradients = gradients;
    PetscCall(rg_bench_time(evaluate, &values, &seconds));
    reference = 0;
    values.plain = true;
    if (!gradients) PetscCall(rg_bench_time(evaluate, &values, &reference));
    values.plain = false;
    snprintf(name, sizeof name, "kernel regression%s, t = %d, d = 4, 256 points",
             gradients ? " with gradients" : "", n);
    PetscCall(rg_bench_report(bench, name, seconds, reference, 0, 0));
  }
  PetscCall(rg_regression_destroy(&values.regression));
  return 0;
}

static double bowl(const double *x)
{
  double sum = 0;

  for (int k = 0; k < DIM; k++) sum -= (x[k] - 0.3) * (x[k] - 0.3);
  return sum + 0.1 * sin(20 * x[0]);
}

/* CPU seconds of a run of T queries; *values: acquisition values of the last one. */
static PetscErrorCode run_boke(int T, double *seconds, double *values)
{
  const RgAlgorithmClass *class = rg_registry_find_algorithm(NULL, "boke");
  const double lower[DIM] = {0}, upper[DIM] = {1, 1, 1, 1};
  RgMaximiserOptions maximiser = {0};
  RgAlgorithm algorithm;
  RgDomain domain = {0};
  RgHistory history;
  RgFailure failure = {0};
  void *options;
  double x[DIM] = {0.5, 0.1, 0.9, 0.4}, extra[8], start;

  PetscCall(PetscCalloc(class->options_size, &options));
  PetscCall(rg_params_defaults(class->params, options));
  PetscCall(rg_params_defaults(rg_maximiser_params, &maximiser));
  maximiser.raw_samples = 128;
  maximiser.restarts = 4;
  maximiser.max_iterations = 10;
  maximiser.local_search = RG_LOCAL_SEARCH_LBFGSB; /* begins with the starts asked for */
  PetscCall(rg_space_box(&domain.design, DIM, lower, upper));
  PetscCall(rg_history_create(&domain, T + 1, &history));
  RgSetup setup = {.domain = &domain,
                   .maximiser = &maximiser,
                   .noise_variance = NAN,
                   .n_initial = 1,
                   .n_iterations = T,
                   .stream = rg_stream(1, "bench", 0, "boke", 0)};
  RgQuery query = {.x = x, .extra = extra};
  PetscCall(rg_history_append(&history, x, -1, NULL, -1, bowl(x)));
  PetscCall(rg_algorithm_create(class, options, &setup, &algorithm));
  start = rg_cpu_seconds();
  for (int t = 1; t <= T && !failure.failed; t++) {
    PetscCall(rg_algorithm_ask(&algorithm, t, &history, &query, &failure));
    PetscCall(rg_history_append(&history, x, -1, NULL, -1, bowl(x)));
  }
  *seconds = rg_cpu_seconds() - start;
  PetscCheck(!failure.failed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", failure.message);
  *values = extra[2];
  PetscCall(rg_algorithm_destroy(&algorithm));
  PetscCall(rg_history_destroy(&history));
  PetscCall(rg_domain_destroy(&domain));
  PetscCall(PetscFree(options));
  return 0;
}

PetscErrorCode rg_bench_density(RgBench *bench)
{
  double seconds = 0, before = 0, values = 0;
  char name[80];

  for (int n = 100; n <= 10000; n *= 10) PetscCall(bench_values(bench, n));
  for (int T = 1250; T <= 10000; T *= 2) {
    PetscCall(run_boke(T, &seconds, &values));
    if (before > 0)
      snprintf(name, sizeof name, "BOKE, d = 4, T = %d, m = %.0f: exponent %.2f", T, values,
               log2(seconds / before));
    else snprintf(name, sizeof name, "BOKE, d = 4, T = %d, m = %.0f", T, values);
    PetscCall(rg_bench_report(bench, name, seconds, 0, 0, 0));
    before = seconds;
  }
  return 0;
}
