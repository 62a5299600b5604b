/* bq: expected improvement of the average over contexts (Bayesian quadrature).

   The average of f(x, .) by the contexts' probabilities has posterior mean m(x) and deviation s(x);
   x_t = argmax log EI, EI = s (z Phi(z) + phi(z)), z = (m - max m)/s: the logarithm still tells
   points apart where EI underflows; w_t maximises the variance at x_t, or nature draws it. The
   recommendation is argmax rho(mu).
   Source: Beland and Nair (2017), with EI as in Inatsu (2025), arXiv:2504.03172, section 5.
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities; made for the expectation.
   Revision 2. */
#include "regatta/acquire.h"
#include "algorithm/robust.h"
#include "robust/integral.h"

#include <math.h>

typedef struct {
  RgRobust robust;
  RgIntegral integral;
} State;

static const RgParam params[] = {
  RG_ROBUST_PARAMS, RG_ROBUST_ANY("run with measures other than the expectation too"), {0}};

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  return rg_robust_check_kind(options, domain, "bq", RG_MEASURE_EXPECTATION, true, place,
                              diagnostics);
}

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;
  RgSetPosterior *set;

  PetscCall(rg_robust_create(algorithm));
  PetscCall(rg_posterior_get_set(&state->robust.model.posterior, &set));
  return rg_integral_create(set, state->robust.n_contexts, state->robust.p, &state->integral);
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscCall(rg_integral_destroy(&state->integral));
  return rg_robust_destroy(algorithm);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  State *state = algorithm->state;
  RgRobust *robust = &state->robust;
  const RgIntegral *integral = &state->integral;
  double best = -INFINITY;

  for (int i = 0; i < robust->n_designs; i++) best = fmax(best, integral->mean[i]);
  RgEi ei = {best};
  for (int i = 0; i < robust->n_designs; i++) {
    double s = sqrt(fmax(integral->variance[i], 0.0));
    rg_acquisition_log_ei(&ei, 1, &integral->mean[i], &s, &robust->upper[i], NULL, NULL);
  }
  rg_robust_set_top(algorithm, t, query);
  rg_robust_most_uncertain_context(algorithm, t, query);
  return 0;
}

const RgAlgorithmClass rg_algorithm_bq = {
  RG_ABOUT("bq", "BQ", 2,
           "x_t = argmax of the expected improvement of the average of f(x, .) over contexts;\n"
           "w_t = argmax sd(x_t, w)",
           "Beland and Nair 2017; Inatsu 2025, arXiv:2504.03172, 5"),
  RG_OPTIONS(RgRobustKindOptions, params),
  RG_STATE(State, create, destroy),
  .check = check,
  RG_ASK(ask, rg_robust_columns),
  .scores = &rg_robust_scores,
  RG_ROBUST_STEPS,
};
