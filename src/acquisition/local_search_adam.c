/* Adam on the sum of all starts: a fixed step, no line search, and only the end points compete.
   The released programs of the context papers search this way. Use it only for comparisons with
   them: it falls short of the maxima that the other searches reach. Source: Kingma, Ba (2015),
   Adam; the stopping rule is that of wdrbo 2.6. */
#include "acquisition/local_search.h"
#include "base/poll.h"

#include <math.h>

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

static void remember(Adam *adam, int m, const double *value)
{
  double sum = 0.0;

  for (int i = 0; i < m; i++) sum += value[i];
  if (adam->n_sums > WINDOW) {
    for (int k = 0; k < WINDOW; k++) adam->sums[k] = adam->sums[k + 1];
    adam->n_sums = WINDOW;
  }
  adam->sums[adam->n_sums++] = sum;
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
    remember(&adam, m, value);
    if (has_converged(&adam)) break;
    step(&adam, round);
  }
  clamp(&adam);
  PetscCall(PetscArraycpy(x, adam.clamped, size));
  PetscCall(function(closure, m, x, value, NULL));
  PetscCall(PetscFree5(adam.at, adam.clamped, adam.gradient, adam.mean, adam.square));
  return 0;
}
