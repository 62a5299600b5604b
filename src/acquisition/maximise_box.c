#include "acquisition/maximise.h"

#include "acquisition/local_search.h"
#include "acquisition/ranking.h"
#include "base/design.h"

#include <math.h>
#include <string.h>

enum { SELECT_BEST, SELECT_BOLTZMANN }; /* RgMaximiserOptions.selection */

/* Raw points and starts of one maximisation. */
typedef struct {
  int     dim, n, m; /* raw points, starts */
  double *points;    /* n x dim */
  double *value;     /* n, -INFINITY where not finite */
  double *key;       /* n: what starts are selected by */
  int    *chosen;    /* m, best first */
  double *starts;    /* m x dim */
  double *ends;      /* m: their values */
} Screening;

static PetscErrorCode screening_create(const RgMaximiserOptions *options, int dim, int n_extra,
                                       Screening *screening)
{
  size_t n = (size_t)options->raw_samples + n_extra, d = (size_t)dim, m;

  PetscFunctionBeginUser;
  screening->dim = dim;
  screening->n = (int)n;
  screening->m = PetscMin(options->restarts, screening->n);
  m = (size_t)screening->m;
  PetscCall(PetscMalloc5(n * d, &screening->points, n, &screening->value, n, &screening->key,
                         m * d, &screening->starts, m, &screening->ends));
  PetscCall(PetscMalloc1(m, &screening->chosen));
  PetscFunctionReturn(0);
}

static PetscErrorCode screening_destroy(Screening *screening)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree5(screening->points, screening->value, screening->key, screening->starts,
                       screening->ends));
  PetscCall(PetscFree(screening->chosen));
  PetscFunctionReturn(0);
}

/* Draw the raw points and evaluate them in one batch. */
static PetscErrorCode screen(const RgMaximiserOptions *options, RgBatchFunction function,
                             void *context, int n_extra, const double *extra, RgRandom *random,
                             Screening *screening)
{
  int    dim = screening->dim, n_raw = options->raw_samples;
  size_t raw_size = (size_t)n_raw * dim;

  PetscFunctionBeginUser;
  if (dim <= RG_SOBOL_MAX_DIM)
    PetscCall(rg_design_sobol(random, n_raw, dim, screening->points));
  else
    PetscCall(rg_design_uniform(random, n_raw, dim, screening->points));
  if (n_extra)
    memcpy(screening->points + raw_size, extra, (size_t)n_extra * dim * sizeof(double));
  PetscCall(function(context, screening->n, screening->points, screening->value, NULL));
  for (int i = 0; i < screening->n; i++) {
    if (!isfinite(screening->value[i])) screening->value[i] = -INFINITY;
  }
  PetscFunctionReturn(0);
}

/* Keys whose m largest are a draw without replacement with weights exp(temperature * Z),
   Z = (a - mean a)/sd a (Gumbel-max). Points at -infinity are never drawn. */
static void boltzmann_keys(double temperature, RgRandom *random, Screening *screening)
{
  double mean = 0.0, square = 0.0;
  int    finite = 0;

  for (int i = 0; i < screening->n; i++) {
    if (!isfinite(screening->value[i])) continue;
    finite++;
    mean += screening->value[i];
  }
  mean /= finite ? finite : 1;
  for (int i = 0; i < screening->n; i++) {
    if (isfinite(screening->value[i]))
      square += (screening->value[i] - mean) * (screening->value[i] - mean);
  }
  double sd = finite > 1 ? sqrt(square / (finite - 1)) : 0.0;
  for (int i = 0; i < screening->n; i++) {
    double gumbel = -log(rg_random_exponential(random));
    double z = sd > 0.0 ? (screening->value[i] - mean) / sd : 0.0;
    screening->key[i] = isfinite(screening->value[i]) ? temperature * z + gumbel : -INFINITY;
  }
}

/* The starts: m raw points with the largest keys, in order of value, the best raw point among them.
   */
static void select_starts(const RgMaximiserOptions *options, RgRandom *random,
                          Screening *screening)
{
  const double *key = screening->value;
  int           best = 0, count = 0, *chosen = screening->chosen;
  bool          has_best = false;

  if (options->selection == SELECT_BOLTZMANN) {
    boltzmann_keys(options->temperature, random, screening);
    key = screening->key;
  }
  for (int i = 0; i < screening->n; i++) {
    count = rg_ranking_insert(key, i, count, screening->m, chosen);
    if (screening->value[i] > screening->value[best]) best = i;
  }
  for (int k = 0; k < count; k++) has_best = has_best || chosen[k] == best;
  if (!has_best) chosen[count - 1] = best;
  if (options->selection == SELECT_BOLTZMANN) {
    int sorted = 0;
    for (int k = 0; k < count; k++) {
      int i = chosen[k];
      sorted = rg_ranking_insert(screening->value, i, sorted, count, chosen);
    }
  }
  for (int k = 0; k < count; k++) {
    screening->ends[k] = screening->value[chosen[k]];
    memcpy(screening->starts + (size_t)k * screening->dim,
           screening->points + (size_t)chosen[k] * screening->dim,
           screening->dim * sizeof(double));
  }
}

PetscErrorCode rg_maximise_box(const RgMaximiserOptions *options, int dim, RgBatchFunction function,
                               void *context, int n_extra, const double *extra, RgRandom *random,
                               double *best_x, double *best_value, RgFailure *failure)
{
  Screening screening;
  int       best = 0;

  PetscFunctionBeginUser;
  PetscCall(screening_create(options, dim, n_extra, &screening));
  PetscCall(screen(options, function, context, n_extra, extra, random, &screening));
  select_starts(options, random, &screening);
  if (options->max_iterations > 0) {
    if (options->local_search == RG_LOCAL_SEARCH_LBFGSB)
      PetscCall(rg_local_search_lbfgsb(options, dim, screening.m, screening.starts, screening.ends,
                                       function, context));
    else
      PetscCall(rg_local_search_batched(options, dim, screening.m, screening.starts,
                                        screening.ends, function, context));
  }
  for (int k = 1; k < screening.m; k++) {
    if (screening.ends[k] > screening.ends[best]) best = k;
  }
  *best_value = screening.ends[best];
  memcpy(best_x, screening.starts + (size_t)best * dim, dim * sizeof(double));
  if (!isfinite(*best_value))
    rg_failure_set(failure, "the acquisition function is finite at none of %d points", screening.n);
  PetscCall(screening_destroy(&screening));
  PetscFunctionReturn(0);
}
