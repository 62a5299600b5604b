/* The Gaussian process of the oracles of parallel optimisation: Gaussian kernel of length scale 0.2
   and variance 1, noise variance 0.01, three data in [0, 1]. The design is the grid 0, 0.05, ..., 1
   or the interval. */
#ifndef RG_TESTS_PARALLEL_BENCH_H
#define RG_TESTS_PARALLEL_BENCH_H

#include "algorithm_bench.h"
#include "gp/model/pending.h"

enum { PARALLEL_GRID = 21, PARALLEL_BATCH = 8 };

typedef struct {
  Bench bench;
  RgDomain domain;
  RgPendingOptions pending;
  double x[PARALLEL_BATCH]; /* points in flight */
  int index[PARALLEL_BATCH];
} Parallel;

/* name, value; ends with NULL */
typedef const char *ParallelSetting[2];

static inline void parallel_set(const RgParam *table, void *options, const ParallelSetting *list)
{
  const RgParam *entry;
  RgDiagnostics diagnostics = {0};

  for (int i = 0; list && list[i][0]; i++)
    RG_OK(rg_params_set(table, options, list[i][0], 1, &list[i][1], (RgPlace){0}, &diagnostics,
                        &entry));
  if (diagnostics.n) fail_msg("%s", diagnostics.list[0].message);
}

static inline void parallel_domain(bool grid, RgDomain *domain)
{
  const double zero = 0, one = 1;
  double points[PARALLEL_GRID];

  memset(domain, 0, sizeof *domain);
  for (int i = 0; i < PARALLEL_GRID; i++) points[i] = i / 20.0;
  if (grid) RG_OK(rg_space_set(&domain->design, 1, PARALLEL_GRID, points, &zero, &one));
  else RG_OK(rg_space_box(&domain->design, 1, &zero, &one));
}

/* settings: parameters of the method; rules: parameters of `pending`; more: parameters of the
   surrogate. */
static inline void parallel_open_with(Parallel *p, const char *name, bool grid, int workers,
                                      const ParallelSetting *settings, const ParallelSetting *rules,
                                      const ParallelSetting *more)
{
  static const ParallelSetting model[] = {
    {"kernel", "gaussian"}, {"length_scale", "0.2"}, {"variance", "1"}, {"noise_variance", "0.01"},
    {"fit", "fixed"},       {"standardise", "no"},   {"mean", "zero"},  {0}};
  const double x[] = {0.1, 0.45, 0.8}, y[] = {0.3, 1, -0.4};
  const int index[] = {2, 9, 16};
  RgDiagnostics diagnostics = {0};

  memset(p, 0, sizeof *p);
  parallel_domain(grid, &p->domain);
  bench_class(&p->bench, name);
  parallel_set(rg_surrogate_params, &p->bench.surrogate, model);
  parallel_set(rg_surrogate_params, &p->bench.surrogate, more);
  parallel_set(p->bench.class->params, p->bench.options, settings);
  RG_OK(rg_params_defaults(rg_pending_params, &p->pending));
  parallel_set(rg_pending_params, &p->pending, rules);
  RG_OK(rg_pending_check(&p->pending, (RgPlace){0}, &diagnostics));
  if (diagnostics.n) fail_msg("%s", diagnostics.list[0].message);
  const RgSetup setup = {.domain = &p->domain,
                         .noise_variance = 0.01,
                         .n_initial = 3,
                         .n_iterations = 50,
                         .n_workers = workers,
                         .pending = &p->pending,
                         .stream = rg_stream(1, "test", 0, name, 1)};
  bench_create(&p->bench, setup, 64);
  p->bench.history.n_initial = 3;
  for (int i = 0; i < 3; i++)
    RG_OK(rg_history_append(&p->bench.history, &x[i], grid ? index[i] : -1, NULL, -1, y[i]));
}

static inline void parallel_open(Parallel *p, const char *name, bool grid, int workers,
                                 const ParallelSetting *settings, const ParallelSetting *rules)
{
  parallel_open_with(p, name, grid, workers, settings, rules, NULL);
}

/* Ask query t with the points in flight, and let its point join them. */
static inline void parallel_ask(Parallel *p, int t)
{
  RgPending *pending = &p->bench.history.pending;
  Bench *bench = &p->bench;

  RG_OK(rg_algorithm_ask(&bench->algorithm, t, &bench->history, &bench->query, &bench->failure));
  if (bench->failure.failed) fail_msg("%s", bench->failure.message);
  p->x[pending->n] = bench->query.x[0];
  p->index[pending->n] = bench->query.index;
  *pending = (RgPending){.n = pending->n + 1, .x = p->x, .index = p->index};
}

static inline void parallel_close(Parallel *p)
{
  bench_end(&p->bench);
  RG_OK(rg_domain_destroy(&p->domain));
}

/* A batch of n queries on the grid, against indices that are known. */
static inline void parallel_batch(const char *name, const ParallelSetting *settings,
                                  const ParallelSetting *rules, int n, const int *expected)
{
  Parallel p;

  parallel_open(&p, name, true, n, settings, rules);
  for (int t = 1; t <= n; t++) {
    parallel_ask(&p, t);
    if (p.bench.query.index != expected[t - 1])
      fail_msg("%s: query %d is point %d, expected %d", name, t, p.bench.query.index,
               expected[t - 1]);
  }
  parallel_close(&p);
}

#endif
