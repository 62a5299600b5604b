#include "acquisition/acquire_internal.h"
#include "gp/model/model.h"

#include <math.h>
#include <string.h>

#define TIE 1e-12 /* relative to max(1, |a|) (irgp_ucb 2.1) */
#define BLOCK 512 /* points evaluated at a time: the scratch stays in the first cache */

static double tie_floor(double best)
{
  return best - TIE * fmax(1.0, fabs(best));
}

int rg_argmax(int n, const double *value, const unsigned char *excluded)
{
  double best = -INFINITY;

  for (int i = 0; i < n; i++) {
    if (!(excluded && excluded[i]) && isfinite(value[i]) && value[i] > best) best = value[i];
  }
  if (best == -INFINITY) return -1;
  for (int i = 0; i < n; i++) {
    if (!(excluded && excluded[i]) && isfinite(value[i]) && value[i] >= tie_floor(best)) return i;
  }
  return -1;
}

PetscErrorCode rg_excluded_points(const RgDomain *domain, const RgHistory *history,
                                  unsigned char **excluded)
{
  PetscFunctionBeginUser;
  *excluded = NULL;
  if (!domain->without_replacement) PetscFunctionReturn(0);
  PetscCall(PetscCalloc1((size_t)domain->design.size, excluded));
  for (int i = 0; i < history->n; i++) (*excluded)[history->index[i]] = 1;
  PetscFunctionReturn(0);
}

typedef struct {
  const double *mean, *variance; /* n */
  const unsigned char *excluded; /* n, or NULL */
  const RgAcquisition *acquisition;
  int n;
} Scan;

/* Values of the block from `begin`, excluded points at -infinity; returns its size. */
static int scan_block(const Scan *scan, int begin, double *value)
{
  double sd[BLOCK] = {0.0};
  int m = PetscMin(BLOCK, scan->n - begin);

  for (int j = 0; j < m; j++) sd[j] = sqrt(scan->variance[begin + j]);
  scan->acquisition->function(scan->acquisition->closure, m, scan->mean + begin, sd, value, NULL,
                              NULL);
  for (int j = 0; j < m; j++) {
    if (!isfinite(value[j]) || (scan->excluded && scan->excluded[begin + j])) value[j] = -INFINITY;
  }
  return m;
}

/* Lowest index that ties with the best. One pass finds the best of every block, a second evaluates
   again the first block that reaches it. -1: no allowed point has a finite value. */
static PetscErrorCode scan_argmax(const Scan *scan, int *index, double *best)
{
  int n_blocks = (scan->n + BLOCK - 1) / BLOCK;
  double *top, value[BLOCK];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)n_blocks, &top));
  *best = -INFINITY;
  *index = -1;
  for (int b = 0; b < n_blocks; b++) {
    int m = scan_block(scan, b * BLOCK, value);
    top[b] = -INFINITY;
    for (int j = 0; j < m; j++) top[b] = value[j] > top[b] ? value[j] : top[b];
    *best = fmax(*best, top[b]);
  }
  for (int b = 0; b < n_blocks && *index < 0 && isfinite(*best); b++) {
    if (top[b] < tie_floor(*best)) continue;
    int m = scan_block(scan, b * BLOCK, value);
    for (int j = 0; j < m && *index < 0; j++) {
      if (value[j] >= tie_floor(*best)) *index = b * BLOCK + j;
    }
    if (*index >= 0) *best = value[*index - b * BLOCK];
  }
  PetscCall(PetscFree(top));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_acquire_finite(RgModel *model, const RgHistory *history,
                                 const RgAcquisition *acquisition, RgQuery *query, double *value,
                                 RgFailure *failure)
{
  const RgSpace *space = &model->domain->design;
  unsigned char *excluded;
  int first = 0;

  PetscFunctionBeginUser;
  PetscCall(rg_excluded_points(model->domain, history, &excluded));
  Scan scan = {rg_posterior_means(&model->posterior), rg_posterior_variances(&model->posterior),
               excluded, acquisition, space->size};
  PetscCall(scan_argmax(&scan, &query->index, value));
  if (query->index < 0) { /* all equal, at -infinity: EI of a posterior that knows everything */
    while (excluded && first < space->size && excluded[first]) first++;
    query->index = first;
  }
  if (query->index < space->size)
    memcpy(query->x, space->points + (size_t)query->index * space->dim,
           space->dim * sizeof(double));
  else rg_failure_set(failure, "all %d points of the domain have been queried", space->size);
  PetscCall(PetscFree(excluded));
  PetscFunctionReturn(0);
}
