/* ei: expected improvement.

   x_t = argmax_x EI_t(x), EI = (mu - tau) Phi(z) + sd phi(z), z = (mu - tau)/sd, of the posterior
   mean mu and deviation sd of f; tau is the incumbent.
   Source: Mockus, Tiesis, Zilinskas (1978); incumbents: irgp_ucb 3.3.
   Deviations: log EI is maximised, which has the same maximiser and no flat zero (Ament et al.
   2023).
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "algorithm/surrogate.h"

enum { BEST_Y, BEST_MEAN };

typedef struct {
  int incumbent;
} Options;

static const char *const incumbents[] = {"best_y", "best_mean", NULL};

static const RgParam params[] = {
  {"incumbent", RG_PARAM_CHOICE, offsetof(Options, incumbent), "best_y", 0, 0, incumbents, "tau",
   "improvement counts from the best observation, or the best posterior mean at queried inputs"},
  {0}};

enum { INCUMBENT, ACQUISITION };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = {"incumbent", "value improvement is counted from, model units"},
  [ACQUISITION] = RG_COLUMN_ACQUISITION,
  {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = algorithm->state;
  RgEi ei = {0.0};
  RgAcquisition acquisition = {rg_acquisition_log_ei, &ei};

  PetscFunctionBeginUser;
  /* 1. Incumbent; without data improvement counts from the prior mean. */
  if (history->n > 0) {
    if (options->incumbent == BEST_Y) ei.incumbent = rg_surrogate_best_y(model, history);
    else PetscCall(rg_surrogate_best_mean(model, history, &ei.incumbent));
  }
  /* 2. x_t = argmax log EI. */
  PetscCall(rg_surrogate_acquire(algorithm, model, t, history, &acquisition, query,
                                 &query->extra[ACQUISITION], failure));
  query->extra[INCUMBENT] = ei.incumbent;
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_ei = {
  .name = "ei",
  .title = "EI",
  .summary = "x_t = argmax E[max(f(x) - tau, 0)], the expected improvement over the incumbent tau",
  .reference = "Mockus, Tiesis, Zilinskas (1978), The application of Bayesian methods for seeking "
               "the extremum",
  .revision = 1,
  .params = params,
  .options_size = sizeof(Options),
  .columns = columns,
  .ask = ask,
  RG_SURROGATE_METHODS,
};
