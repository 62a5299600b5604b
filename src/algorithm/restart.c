/* Restarts of a method whose search has stalled: what the method sees, when it begins again, and
   its new initial design. */
#include "algorithm/restart.h"

#include "gp/model/model.h"
#include "maths/design.h"

#include <math.h>

#define GAIN 1e-4 /* least improvement that counts, a share of the height of the best output */

struct RgRestart {
  int after;      /* idle queries in a row that cause a restart */
  int n_design;   /* points of an initial design */
  int first;      /* submission of the first query since the last restart; 1: no restart yet */
  int taken;      /* evaluations of the whole history that were looked at */
  int idle;       /* queries in a row that promised little */
  RgHistory seen; /* evaluations since the last restart */
  double *design; /* n_design x dim */
};

PetscErrorCode rg_restart_create(const RgAlgorithm *algorithm, RgRestart **restart)
{
  const RgSetup *setup = &algorithm->setup;
  const int room = setup->n_initial + setup->n_iterations, dim = setup->domain->design.dim;
  RgRestart *r;

  *restart = NULL;
  if (!algorithm->class->model || setup->surrogate->restart_after < 1) return 0;
  PetscCall(PetscNew(&r));
  r->after = setup->surrogate->restart_after;
  r->n_design = setup->n_initial;
  r->first = 1;
  PetscCall(rg_history_create(setup->domain, room, &r->seen));
  PetscCall(PetscMalloc1((size_t)r->n_design * dim, &r->design));
  *restart = r;
  return 0;
}

PetscErrorCode rg_restart_destroy(RgRestart **restart)
{
  RgRestart *r = *restart;

  if (!r) return 0;
  PetscCall(rg_history_destroy(&r->seen));
  PetscCall(PetscFree(r->design));
  PetscCall(PetscFree(*restart));
  return 0;
}

/* The least improvement that counts, model units: GAIN times the height of the best output above
   the mean of all. */
static double least_gain(const RgRestart *r, const RgModel *model, double best)
{
  double sum = 0;

  for (int i = 0; i < r->seen.n; i++) sum += rg_model_units(model, r->seen.y[i]);
  return GAIN * (best - sum / r->seen.n);
}

/* Append evaluation i of the history, unless it was submitted before the last restart. */
static PetscErrorCode take(RgRestart *r, const RgHistory *history, int i, RgModel *model)
{
  const size_t dim = (size_t)history->dim, dim_c = (size_t)history->context_dim;
  const int best = rg_history_best(&r->seen), n_constraints = history->n_constraints;
  const double y = history->y[i];

  if (history->moments[i].submission < r->first) return 0;
  if (best >= 0 && y > r->seen.y[best]) {
    const double before = rg_model_units(model, r->seen.y[best]);
    if (rg_model_units(model, y) - before > least_gain(r, model, before)) r->idle = 0;
  }
  PetscCall(rg_history_append(&r->seen, history->x + i * dim, history->index[i],
                              dim_c ? history->c + i * dim_c : NULL, history->context_index[i], y));
  PetscCall(rg_history_judge(&r->seen, history->observed[i],
                             n_constraints ? history->constraints + i * n_constraints : NULL));
  r->seen.moments[r->seen.n - 1] = history->moments[i];
  return 0;
}

static PetscErrorCode begin_again(RgRestart *r, const RgAlgorithm *algorithm, int t)
{
  RgRandom random = rg_algorithm_stream_at(algorithm, "restart", t);

  r->first = algorithm->setup.n_initial + t;
  r->seen.n = r->idle = 0;
  PetscCall(rg_design_sobol(&random, r->n_design, r->seen.dim, r->design));
  return 0;
}

/* The points in flight that were submitted since the last restart. They are the last ones. */
static RgPending still_seen(const RgRestart *r, const RgHistory *history)
{
  RgPending pending = history->pending;
  int old = 0;

  while (pending.submission && old < pending.n && pending.submission[old] < r->first) old++;
  pending.n -= old;
  if (pending.n) pending.x += (size_t)old * history->dim;
  if (pending.index) pending.index += old;
  if (pending.c) pending.c += (size_t)old * history->context_dim;
  if (pending.context_index) pending.context_index += old;
  if (pending.submission) pending.submission += old;
  return pending;
}

PetscErrorCode rg_restart_look(RgRestart *r, const RgAlgorithm *algorithm, int t,
                               const RgHistory *history, bool *due, const RgHistory **seen,
                               const double **design)
{
  for (; r->taken < history->n; r->taken++)
    PetscCall(take(r, history, r->taken, algorithm->class->model((RgAlgorithm *)algorithm)));
  *due = r->idle >= r->after;
  if (*due) PetscCall(begin_again(r, algorithm, t));
  const int queries = algorithm->setup.n_initial + t - r->first;
  *design = NULL;
  if (r->first == 1) r->seen.n_initial = history->n_initial;
  else if (queries < r->n_design) *design = r->design + (size_t)queries * history->dim;
  else if (queries == r->n_design) r->seen.n_initial = r->seen.n;
  r->seen.pending = still_seen(r, history);
  *seen = &r->seen;
  return 0;
}

int rg_restart_first(const RgRestart *r)
{
  return r ? r->first : 1;
}

PetscErrorCode rg_restart_judge(RgRestart *r, const RgAlgorithm *algorithm, const double *x)
{
  RgModel *model = algorithm->class->model((RgAlgorithm *)algorithm);
  const int best = rg_history_best(&r->seen);
  double mean, sd;

  if (best < 0) return 0;
  const double incumbent = rg_model_units(model, r->seen.y[best]);
  PetscCall(rg_model_predict(model, 1, x, &mean, &sd));
  if (rg_expected_improvement(mean, sd, incumbent) < least_gain(r, model, incumbent)) r->idle++;
  else r->idle = 0;
  return 0;
}
