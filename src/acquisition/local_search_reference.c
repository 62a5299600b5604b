/* The searches of comparisons: L-BFGS-B, the reference, and Adam, as released programs search. */
#include "acquisition/local_search.h"

#include "base/poll.h"
#include "maths/lbfgsb.h"

#include <math.h>
#include <string.h>

#define MEMORY 10 /* correction pairs */

/* One L-BFGS-B object per start (maths/lbfgsb.h). In every round each running search takes its
   step from the value at the point that it has asked for. */
PetscErrorCode rg_local_search_lbfgsb(const RgMaximiserOptions *options, int dim, int m, double *x,
                                      double *value, RgBatchFunction function, void *closure)
{
  const RgLbfgsbLimits limits = {.factr = options->tolerance / PETSC_MACHINE_EPSILON,
                                 .max_iterations = options->max_iterations};
  const size_t size = (size_t)m * dim, bytes = (size_t)dim * sizeof(double);
  double *lower, *upper, *X, *F, *G;
  RgLbfgsbStatus status;
  RgLbfgsb *searches;
  int *id, n = 0; /* the searches that run */

  PetscCall(PetscCalloc2(m, &searches, dim, &lower));
  PetscCall(PetscMalloc5(dim, &upper, size, &X, m, &F, size, &G, m, &id));
  for (int j = 0; j < dim; j++) upper[j] = 1.0;
  for (int i = 0; i < m; i++) {
    PetscCall(rg_lbfgsb_create(dim, MEMORY, lower, upper, &limits, &searches[i]));
    PetscCall(rg_lbfgsb_begin(&searches[i], x + (size_t)i * dim, &status));
    if (isfinite(value[i])) id[n++] = i;
  }
  for (int running; n; n = running) {
    for (int k = 0; k < n; k++) memcpy(X + (size_t)k * dim, searches[id[k]].x, bytes);
    PetscCall(rg_poll());
    PetscCall(function(closure, n, X, F, G));
    running = 0;
    for (int k = 0; k < n; k++) {
      double *gradient = G + (size_t)k * dim;
      for (int j = 0; j < dim; j++) gradient[j] = -gradient[j];
      PetscCall(rg_lbfgsb_step(&searches[id[k]], -F[k], gradient, &status));
      if (status == RG_LBFGSB_EVALUATE) id[running++] = id[k];
    }
  }
  for (int i = 0; i < m; i++) {
    if (-searches[i].best_value >= value[i]) {
      value[i] = -searches[i].best_value;
      memcpy(x + (size_t)i * dim, searches[i].best_x, bytes);
    }
    PetscCall(rg_lbfgsb_destroy(&searches[i]));
  }
  PetscCall(PetscFree2(searches, lower));
  return PetscFree5(upper, X, F, G, id);
}

/* ---- Adam -----------------------------------------------------------------------------------

   Adam on the sum of all starts: a fixed step, no line search, and only the end points compete. The
   released programs of the context papers search this way. Use it only for comparisons with them:
   it falls short of the maxima that the other searches reach. Source: Kingma, Ba (2015), Adam; the
   stopping rule is that of wdrbo 2.6. */

#define STEP 0.025
#define DECAY 0.9
#define SQUARE_DECAY 0.999
#define SMALL 1e-8
#define WINDOW 10 /* sums in a moving average, with weights e^-1 .. 1 */
#define GAIN 1e-5 /* the search stops when the moving average gains less than this, relatively */

typedef struct {
  int size; /* m * dim */
  double *at, *clamped, *gradient, *mean, *square;
  double sums[WINDOW + 1]; /* the last sums, oldest first */
  int n_sums;
} Adam;

/* Whether the moving average, shifted by one, has stopped growing. */
static bool has_converged(const Adam *adam)
{
  double before = 0.0, after = 0.0;

  if (adam->n_sums <= WINDOW) return false;
  for (int k = 0; k < WINDOW; k++) {
    const double weight = exp(-1.0 + (double)k / (WINDOW - 1));
    before += weight * adam->sums[k];
    after += weight * adam->sums[k + 1];
  }
  return after - before < GAIN * fabs(before) || !isfinite(after);
}

static void clamp(Adam *adam)
{
  for (int j = 0; j < adam->size; j++) adam->clamped[j] = fmin(fmax(adam->at[j], 0.0), 1.0);
}

/* Step number `round` (from 1). The function is constant in a coordinate that lies outside of
   the box. */
static void step(Adam *adam, int round)
{
  const double bias = 1.0 - pow(DECAY, round), square_bias = 1.0 - pow(SQUARE_DECAY, round);

  for (int j = 0; j < adam->size; j++) {
    const double g = adam->at[j] == adam->clamped[j] ? adam->gradient[j] : 0.0;
    adam->mean[j] = DECAY * adam->mean[j] + (1.0 - DECAY) * g;
    adam->square[j] = SQUARE_DECAY * adam->square[j] + (1.0 - SQUARE_DECAY) * g * g;
    adam->at[j] += STEP * (adam->mean[j] / bias) / (sqrt(adam->square[j] / square_bias) + SMALL);
  }
}

PetscErrorCode rg_local_search_adam(const RgMaximiserOptions *options, int dim, int m, double *x,
                                    double *value, RgBatchFunction function, void *closure)
{
  const size_t size = (size_t)m * dim;
  Adam adam = {.size = m * dim};

  if (m == 0) return 0;
  PetscCall(PetscMalloc5(size, &adam.at, size, &adam.clamped, size, &adam.gradient, size,
                         &adam.mean, size, &adam.square));
  PetscCall(PetscArraycpy(adam.at, x, size));
  PetscCall(PetscArrayzero(adam.mean, size));
  PetscCall(PetscArrayzero(adam.square, size));
  for (int round = 1; round <= options->max_iterations; round++) {
    clamp(&adam);
    PetscCall(rg_poll());
    PetscCall(function(closure, m, adam.clamped, value, adam.gradient));
    if (adam.n_sums > WINDOW) memmove(adam.sums, adam.sums + 1, WINDOW * sizeof *adam.sums);
    adam.n_sums = PetscMin(adam.n_sums, WINDOW);
    double *sum = &adam.sums[adam.n_sums++];
    *sum = 0.0;
    for (int i = 0; i < m; i++) *sum += value[i];
    if (has_converged(&adam)) break;
    step(&adam, round);
  }
  clamp(&adam);
  PetscCall(PetscArraycpy(x, adam.clamped, size));
  PetscCall(function(closure, m, x, value, NULL));
  return PetscFree5(adam.at, adam.clamped, adam.gradient, adam.mean, adam.square);
}
