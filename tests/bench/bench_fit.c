/* The marginal likelihood with its gradient, and the fit of the hyperparameters. */
#include "bench.h"

#include <math.h>

#include "regatta/stream.h"
#include "fit_support.h"
#include "gp/model/model.h"
#include "plain.h"

enum { DIM = 3 };

typedef struct {
  int n;
  RgKernel kernel;
  RgFitOptions options;
  double *X, *y, *work;
  double length_scale[DIM], gradient[DIM + 2];
} Data;

static const double noise = 1e-3;

static PetscErrorCode likelihood(void *closure)
{
  Data *d = closure;
  double value;

  PetscCall(rg_fit_objective(&d->kernel, noise, 0.0, &(RgData){d->n, d->X, d->y}, &d->options,
                             &value, d->gradient));
  return 0;
}

static PetscErrorCode plain(void *closure)
{
  Data *d = closure;

  (void)plain_likelihood(d->n, DIM, d->X, d->y, d->length_scale, noise, d->gradient, d->work);
  return 0;
}

static PetscErrorCode bench_likelihood(RgBench *bench, int n)
{
  Data d = {.n = n, .length_scale = {0.3, 0.4, 0.5}};
  RgStream stream = rg_stream(1, "bench", 0, "fit", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  char name[96];
  double seconds, reference;

  PetscCall(PetscMalloc3((size_t)n * DIM, &d.X, n, &d.y, 3 * (size_t)n * n, &d.work));
  rg_random_uniforms(&random, (size_t)n * DIM, d.X);
  for (int i = 0; i < n; i++)
    d.y[i] = sin(6 * d.X[i * DIM]) + d.X[i * DIM + 1] * cos(4 * d.X[i * DIM + 2]);
  PetscCall(rg_kernel_create(RG_KERNEL_GAUSSIAN, DIM, true, d.length_scale, 1.0, &d.kernel));
  PetscCall(rg_bench_time(likelihood, &d, &seconds));
  PetscCall(rg_bench_time(plain, &d, &reference));
  snprintf(name, sizeof(name), "log likelihood with gradient, n = %d, d = %d", n, DIM);
  PetscCall(rg_bench_report(bench, name, seconds, reference, (double)n * n * n, 0));
  PetscCall(rg_kernel_destroy(&d.kernel));
  PetscCall(PetscFree3(d.X, d.y, d.work));
  return 0;
}

PetscErrorCode rg_bench_fit(RgBench *bench)
{
  PetscCall(bench_likelihood(bench, 50));
  PetscCall(bench_likelihood(bench, 100));
  PetscCall(bench_likelihood(bench, 400));
  return 0;
}
