/* pi: probability of improvement.

   x_t = argmax_x Pr(f(x) >= tau + xi) = argmax_x Phi((mu(x) - tau - xi)/sd(x)); tau is the
   incumbent, xi the least improvement that counts: with xi = 0 the rule stays beside the incumbent.
   Source: Kushner (1964), A new method of locating the maximum point of an arbitrary multipeak
   curve in the presence of noise; xi: Lizotte (2008).
   Deviations: the argument of Phi is maximised, which has the same maximiser and no flat zero.
   Cost per iteration: as EI.
   Needs no context. Revision 1. */
#include "acquisition/sampled.h"
#include "algorithm/surrogate.h"
#include "maths/normal.h"

typedef struct {
  int incumbent;
  double xi;
} Options;

static const RgParam params[] = {
  RG_INCUMBENT_PARAM(Options),
  RG_REAL(
    "xi", Options, xi, "0.01", 0, 1e6, "xi",
    "least improvement that counts, model units (deviations of the outputs where standardised)"),
  {0},
};

enum { INCUMBENT, PROBABILITY };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [PROBABILITY] = {"probability", "probability of improvement at the query"},
  {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = algorithm->state;
  double incumbent, z;

  /* 1. Incumbent; without data improvement counts from the prior mean. */
  PetscCall(rg_surrogate_incumbent(options->incumbent, model, history, &incumbent));
  /* 2. x_t = argmax z. */
  const RgAcquisition acquisition = {rg_acquisition_pims, &(const RgPims){incumbent + options->xi}};
  PetscCall(rg_surrogate_acquire(algorithm, model, t, history, &acquisition, query, &z, failure));
  PetscCall(rg_surrogate_without_penalty(model, history, &acquisition, query, &z));
  query->extra[INCUMBENT] = incumbent;
  query->extra[PROBABILITY] = rg_normal_cdf(z);
  return 0;
}

const RgAlgorithmClass rg_algorithm_pi = {
  RG_ABOUT("pi", "PI", 1,
           "x_t = argmax Pr(f(x) >= tau + xi), the probability of improving on the incumbent tau",
           "Kushner (1964), A new method of locating the maximum point of an arbitrary multipeak "
           "curve in the presence of noise"),
  .traits = RG_PENALISABLE,
  RG_OPTIONS(Options, params),
  RG_ASK(ask, columns),
  RG_SURROGATE_METHODS,
};
