/* Maximisation of an acquisition function over a box: the batched local search against L-BFGS-B. */
#include "bench.h"

#include <math.h>

#include "regatta/acquire.h"
#include "regatta/stream.h"
#include "gp/posterior/posterior.h"

enum { DIM = 3, N = 100 };

typedef struct {
  RgPosterior posterior;
  RgPrediction work;
  RgMaximiserOptions options;
  double *mean, *variance, *mean_bar, *variance_bar; /* room for a batch */
  int capacity;
} Surface;

/* mean + 2 sd, with its gradient. */
static PetscErrorCode ucb(void *closure, int m, const double *X, double *value, double *gradient)
{
  Surface *s = closure;

  PetscCheck(m <= s->capacity, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "batch of %d points", m);
  PetscCall(rg_posterior_predict(&s->posterior, m, X, s->mean, s->variance, &s->work));
  for (int j = 0; j < m; j++) {
    double sd = sqrt(PetscMax(s->variance[j], 1e-18));
    value[j] = s->mean[j] + 2 * sd;
    s->mean_bar[j] = 1;
    s->variance_bar[j] = 1 / sd;
  }
  if (gradient)
    PetscCall(
      rg_posterior_gradient(&s->posterior, m, X, s->mean_bar, s->variance_bar, &s->work, gradient));
  return 0;
}

static PetscErrorCode maximise(void *closure)
{
  Surface *s = closure;
  RgStream stream = rg_stream(1, "bench", 0, "maximise", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  RgFailure failure = {0};
  double x[DIM], value;

  PetscCall(rg_maximise_box(&(RgSearch){.options = &s->options, .random = &random}, DIM, ucb, s, x,
                            &value, &failure));
  return 0;
}

static PetscErrorCode surface_create(Surface *s)
{
  RgStream stream = rg_stream(1, "bench", 0, "surface", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  RgKernel kernel;
  RgFailure failure = {0};
  double X[N * DIM], y[N], length_scale[DIM] = {0.3, 0.4, 0.5};

  *s = (Surface){.capacity = 65536};
  rg_random_uniforms(&random, N * DIM, X);
  for (int i = 0; i < N; i++) y[i] = sin(6 * X[i * DIM]) + X[i * DIM + 1] * cos(4 * X[i * DIM + 2]);
  PetscCall(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, length_scale, 1.0, &kernel));
  PetscCall(rg_posterior_create(&kernel, 1e-4, 0.0, N, &s->posterior));
  PetscCall(rg_posterior_set(&s->posterior, NULL, 1e-4, 0.0, N, X, y, &failure));
  PetscCall(rg_kernel_destroy(&kernel));
  PetscCall(PetscMalloc4(s->capacity, &s->mean, s->capacity, &s->variance, s->capacity,
                         &s->mean_bar, s->capacity, &s->variance_bar));
  PetscCall(rg_params_defaults(rg_maximiser_params, &s->options));
  return 0;
}

/* Set one option of the maximiser by its name. */
static PetscErrorCode set(Surface *s, const char *name, const char *value)
{
  RgDiagnostics diagnostics = {0};

  PetscCall(rg_params_set(rg_maximiser_params, &s->options, name, 1, &value, (RgPlace){0},
                          &diagnostics, NULL));
  PetscCheck(diagnostics.n == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s",
             diagnostics.list[0].message);
  return 0;
}

PetscErrorCode rg_bench_maximise(RgBench *bench)
{
  Surface s;
  double seconds, reference;

  PetscCall(surface_create(&s));
  PetscCall(set(&s, "raw_samples", "1024"));
  PetscCall(set(&s, "restarts", "50"));
  PetscCall(set(&s, "local_search", "lbfgsb"));
  PetscCall(rg_bench_time(maximise, &s, &reference));
  PetscCall(set(&s, "local_search", "batched"));
  PetscCall(rg_bench_time(maximise, &s, &seconds));
  PetscCall(rg_bench_report(bench, "maximise UCB, d = 3, n = 100, 1024 raw + 50 starts (L-BFGS-B)",
                            seconds, reference, 0, 0));
  PetscCall(rg_params_clear(rg_maximiser_params, &s.options));
  PetscCall(PetscFree4(s.mean, s.variance, s.mean_bar, s.variance_bar));
  PetscCall(rg_prediction_destroy(&s.work));
  PetscCall(rg_posterior_destroy(&s.posterior));
  return 0;
}
