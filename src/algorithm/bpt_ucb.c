/* bpt_ucb: Bayesian optimisation of the probability that f exceeds a threshold h.

   With z = (mu - h)/sd, p(x) = E_w Phi(z), g2(x) = E_w Phi(z)(1 - Phi(z)):
   x_t = argmax p(x) + (B_t g2(x))^(1/10), B_t = |X x Omega| pi^2 t^2 / (3 delta), t from 1 at
   the first query; w_t = argmax Phi(z)(1 - Phi(z)) at x_t, or nature draws it. confidence: fixed:
   x_t = argmax p(x) + factor sqrt(g2(x)). The recommendation is argmax rho(mu).
   Source: Iwazaki, Inatsu, Takeuchi (2021); as in Inatsu (2025), arXiv:2504.03172, appendix D.
   Deviations: the authors move h by about 1e-22 where mu = h, less than its last digit: left out.
   Cost per iteration: the model's update plus |X x Omega| error functions.
   Needs a finite design and finite contexts with known probabilities; made for ptr. Revision 2. */
#include "algorithm/robust.h"
#include "gp/model/model.h"

#include <math.h>

enum { THEORY, FIXED };

typedef struct {
  RgRobustKindOptions kind;
  int confidence;
  double delta, factor, threshold;
} Options;

static const char *const rules[] = {"theory", "fixed", NULL};

static const RgParam params[] = {
  RG_ROBUST_PARAMS,
  RG_CHOICE("confidence", Options, confidence, "theory", rules, "",
            "theory: (|X x Omega| pi^2 t^2/(3 delta) g2)^(1/10); fixed: factor sqrt(g2)"),
  RG_REAL("delta", Options, delta, "0.05", RG_POSITIVE, 1, "delta",
          "probability that the bounds of the theory may fail"),
  RG_REAL("factor", Options, factor, "3", 0, 1e6, "", "width of the fixed rule"),
  RG_REAL("threshold", Options, threshold, "auto", -INFINITY, INFINITY, "h",
          "level to exceed, native units; auto: theta of the measure ptr(theta)"),
  RG_ROBUST_ANY("run with measures other than ptr too; needs a threshold"),
  {0},
};

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;

  PetscCall(
    rg_robust_check_kind(options, domain, "bpt_ucb", RG_MEASURE_PTR, true, place, diagnostics));
  if (o->kind.any_measure && isnan(o->threshold))
    rg_diagnostics_add(diagnostics, place, "'bpt_ucb' with 'any_measure' needs a 'threshold'");
  return 0;
}

/* Phi(z) and Phi(z)(1 - Phi(z)) to full relative precision; a certain value decides alone. */
static void exceedance(double gap, double variance, double *above, double *spread)
{
  double z, tail;

  if (variance <= 0.0) {
    *above = gap >= 0.0;
    *spread = 0.0;
    return;
  }
  z = gap / sqrt(variance);
  tail = 0.5 * erfc(fabs(z) * M_SQRT1_2);
  *above = z > 0.0 ? 1.0 - tail : tail;
  *spread = tail * (1.0 - tail);
}

/* The context whose side of the threshold is least certain: smallest |z|, the lowest of equals. */
static int least_certain(int n, const double *mean, const double *variance, double threshold)
{
  int best = 0;
  double least = INFINITY;

  for (int j = 0; j < n; j++) {
    double z = variance[j] > 0.0 ? fabs(mean[j] - threshold) / sqrt(variance[j]) : INFINITY;
    if (z >= least) continue;
    least = z;
    best = j;
  }
  return best;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgRobust *state = algorithm->state;
  const RgModel *model = &state->model;
  const double *mean = rg_posterior_means(&model->posterior);
  const double *variance = rg_posterior_variances(&model->posterior);
  const double n = (double)state->n_designs * state->n_contexts;
  double threshold = options->threshold;

  if (isnan(threshold)) threshold = state->measure.parameter;
  threshold = (threshold - model->shift) / model->scale;
  for (int i = 0; i < state->n_designs; i++) {
    double above = 0.0, spread = 0.0, a, s;
    for (int j = 0; j < state->n_contexts; j++) {
      size_t k = (size_t)i * state->n_contexts + j;
      exceedance(mean[k] - threshold, variance[k], &a, &s);
      above += state->p[j] * a;
      spread += state->p[j] * s;
    }
    state->upper[i] =
      above + (options->confidence == FIXED
                 ? options->factor * sqrt(spread)
                 : pow(n * M_PI * M_PI * t * t / (3.0 * options->delta) * spread, 0.1));
  }
  const size_t first = (size_t)rg_robust_set_top(algorithm, t, query) * state->n_contexts;
  rg_robust_set_context(
    algorithm, least_certain(state->n_contexts, mean + first, variance + first, threshold), query);
  return 0;
}

const RgAlgorithmClass rg_algorithm_bpt_ucb = {
  RG_ABOUT("bpt_ucb", "BPT-UCB", 2,
           "x_t = argmax E_w Phi(z) + (B_t E_w Phi(z)(1 - Phi(z)))^(1/10), z = (mu - h)/sd;\n"
           "w_t where f is least surely on one side of h",
           "Iwazaki, Inatsu, Takeuchi 2021; Inatsu 2025, arXiv:2504.03172, D"),
  RG_OPTIONS(Options, params),
  .check = check,
  .ask = ask,
  .scores = &rg_robust_scores,
  RG_ROBUST_METHODS,
};
