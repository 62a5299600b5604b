/* GP update, batch prediction, posterior on finite sets. */
#include "bench.h"

#include "regatta/stream.h"
#include "gp/posterior/posterior.h"
#include "gp/posterior/set/set_posterior.h"
#include "plain.h"

enum { DIM = 3 };
static const double noise = 1e-4, length_scale[DIM] = {0.3, 0.4, 0.5};

/* A posterior with n data, and m candidates. */
typedef struct {
  int n, m;
  RgPosterior posterior;
  RgPrediction work;
  double *X, *y, *Z, *mean, *variance, *bar, *G, *L, *alpha, *scratch;
} Box;

static PetscErrorCode box_create(Box *b, int n, int m)
{
  RgStream stream = rg_stream(1, "bench", 0, "data", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  RgKernel kernel;
  RgFailure failure = {0};

  *b = (Box){.n = n, .m = m};
  PetscCall(PetscMalloc5((size_t)(n + 1) * DIM, &b->X, n + 1, &b->y, (size_t)m * DIM, &b->Z, m,
                         &b->mean, m, &b->variance));
  PetscCall(PetscMalloc5(m, &b->bar, (size_t)m * DIM, &b->G, (size_t)(n + 1) * (n + 1), &b->L, n,
                         &b->alpha, n + 1, &b->scratch));
  rg_random_uniforms(&random, (size_t)(n + 1) * DIM, b->X);
  rg_random_uniforms(&random, (size_t)m * DIM, b->Z);
  rg_random_normals(&random, (size_t)n + 1, b->y);
  for (int j = 0; j < m; j++) b->bar[j] = 1.0;
  PetscCall(rg_kernel_create(RG_KERNEL_GAUSSIAN, DIM, true, length_scale, 1.0, &kernel));
  PetscCall(rg_posterior_create(&kernel, noise, 0.0, n + 1, &b->posterior));
  PetscCall(rg_posterior_set(&b->posterior, NULL, noise, 0.0, n, b->X, b->y, &failure));
  PetscCall(rg_kernel_destroy(&kernel));
  plain_factor(n, DIM, b->X, length_scale, noise, b->L);
  for (int i = 0; i < n; i++) b->alpha[i] = b->y[i];
  plain_forward(n, b->L, b->alpha);
  plain_backward(n, b->L, b->alpha);
  return 0;
}

static PetscErrorCode box_destroy(Box *b)
{
  PetscCall(rg_prediction_destroy(&b->work));
  PetscCall(rg_posterior_destroy(&b->posterior));
  PetscCall(PetscFree5(b->X, b->y, b->Z, b->mean, b->variance));
  PetscCall(PetscFree5(b->bar, b->G, b->L, b->alpha, b->scratch));
  return 0;
}

static PetscErrorCode append(void *closure)
{
  Box *b = closure;
  RgFailure failure = {0};

  PetscCall(rg_posterior_append(&b->posterior, b->X + (size_t)b->n * DIM, b->y[b->n], &failure));
  b->posterior.n = b->n; /* forget it again */
  return 0;
}

static PetscErrorCode plain_append(void *closure)
{
  Box *b = closure;

  plain_factor(b->n + 1, DIM, b->X, length_scale, noise, b->L);
  return 0;
}

static PetscErrorCode predict(void *closure)
{
  Box *b = closure;

  PetscCall(rg_posterior_predict(&b->posterior, b->m, b->Z, b->mean, b->variance, &b->work));
  return 0;
}

static PetscErrorCode plain_predict_all(void *closure)
{
  Box *b = closure;

  for (int j = 0; j < b->m; j++)
    plain_predict(b->n, DIM, b->X, length_scale, b->L, b->alpha, b->Z + j * DIM, b->scratch,
                  &b->mean[j], &b->variance[j]);
  return 0;
}

static PetscErrorCode predict_with_gradient(void *closure)
{
  Box *b = closure;

  PetscCall(predict(b));
  PetscCall(rg_posterior_gradient(&b->posterior, b->m, b->Z, b->bar, b->bar, &b->work, b->G));
  return 0;
}

static PetscErrorCode bench_box(RgBench *bench, int n, int m)
{
  Box b;
  char name[96];
  double seconds, reference, flops = (double)m * n * n;

  PetscCall(box_create(&b, n, m));
  PetscCall(rg_bench_time(predict, &b, &seconds));
  PetscCall(rg_bench_time(plain_predict_all, &b, &reference));
  snprintf(name, sizeof(name), "predict mean and variance, n = %d, %d candidates", n, m);
  PetscCall(rg_bench_report(bench, name, seconds, reference, flops, 0));
  PetscCall(rg_bench_time(predict_with_gradient, &b, &seconds));
  snprintf(name, sizeof(name), "predict with gradient, n = %d, %d candidates", n, m);
  PetscCall(rg_bench_report(bench, name, seconds, 0, 2 * flops, 0));
  PetscCall(rg_bench_time(append, &b, &seconds));
  PetscCall(rg_bench_time(plain_append, &b, &reference));
  snprintf(name, sizeof(name), "one more datum, n = %d (plain: factor again)", n);
  PetscCall(rg_bench_report(bench, name, seconds, reference, 0, 0));
  PetscCall(box_destroy(&b));
  return 0;
}

/* ---- finite sets
   ------------------------------------------------------------------------------- */

typedef struct {
  int count; /* data appended per call */
  RgDomain domain;
  RgSetPosterior *posterior;
  double *rows, *mean, *variance; /* results of the plain version */
} Set;

static PetscErrorCode fill_set(void *closure)
{
  Set *s = closure;
  RgFailure failure = {0};
  int size = s->domain.design.size;

  PetscCall(rg_set_posterior_reset(s->posterior, NULL, noise, 0.0));
  for (int i = 0; i < s->count; i++)
    PetscCall(rg_set_posterior_append(s->posterior, (int)((7919L * i) % size), 0.1 * i, &failure));
  return 0;
}

static PetscErrorCode plain_fill_set(void *closure)
{
  Set *s = closure;
  int N = s->domain.design.size;
  const double *P = s->domain.design.points;

  for (int i = 0; i < N; i++) {
    s->mean[i] = 0;
    s->variance[i] = 1;
  }
  for (int t = 0; t < s->count; t++) {
    int j = (int)((7919L * t) % N);
    double q = PetscSqrtReal(s->variance[j] + noise), e = (0.1 * t - s->mean[j]) / q;
    double *row = s->rows + (size_t)t * N;
    for (int i = 0; i < N; i++) {
      double c = plain_kernel(DIM, P + (size_t)i * DIM, P + (size_t)j * DIM, length_scale);
      for (int l = 0; l < t; l++) c -= s->rows[(size_t)l * N + i] * s->rows[(size_t)l * N + j];
      row[i] = c / q;
    }
    for (int i = 0; i < N; i++) {
      s->mean[i] += row[i] * e;
      s->variance[i] = PetscMax(s->variance[i] - row[i] * row[i], 0);
    }
  }
  return 0;
}

static PetscErrorCode bench_set(RgBench *bench, int levels, int count)
{
  Set s = {.count = count};
  RgKernel kernel;
  char name[96];
  int all[DIM] = {levels, levels, levels}, N = levels * levels * levels;
  double *axes, lower[DIM] = {0}, upper[DIM] = {1, 1, 1}, seconds, reference;

  PetscCall(PetscMalloc1(DIM * levels, &axes));
  for (int i = 0; i < DIM * levels; i++) axes[i] = (double)(i % levels) / levels;
  PetscCall(rg_space_grid(&s.domain.design, DIM, all, axes, lower, upper));
  PetscCall(PetscFree(axes));
  PetscCall(rg_kernel_create(RG_KERNEL_GAUSSIAN, DIM, true, length_scale, 1.0, &kernel));
  PetscCall(rg_set_posterior_create(&s.domain, &kernel, noise, 0.0, count, &s.posterior));
  PetscCall(rg_kernel_destroy(&kernel));
  PetscCall(PetscMalloc3((size_t)count * N, &s.rows, N, &s.mean, N, &s.variance));
  PetscCall(rg_bench_time(fill_set, &s, &seconds));
  PetscCall(rg_bench_time(plain_fill_set, &s, &reference));
  snprintf(name, sizeof(name), "%d data on a finite set of %d points", count, N);
  double bytes = 0.5 * count * (double)count * N * sizeof(double);
  PetscCall(rg_bench_report(bench, name, seconds, reference, 0, N > 10000 ? bytes : 0));
  PetscCall(PetscFree3(s.rows, s.mean, s.variance));
  PetscCall(rg_set_posterior_destroy(&s.posterior));
  PetscCall(rg_domain_destroy(&s.domain));
  return 0;
}

PetscErrorCode rg_bench_gp(RgBench *bench)
{
  PetscCall(bench_box(bench, 100, 1024));
  PetscCall(bench_box(bench, 100, 50));
  PetscCall(bench_box(bench, 500, 1024));
  PetscCall(bench_set(bench, 10, 200));
  PetscCall(bench_set(bench, 37, 100));
  return 0;
}
