/* q_ei: joint expected improvement of the points in flight and one more.

   x_t = argmax_x E max(0, max(f(x), f(x_1), .., f(x_q)) - tau) over one more point x, where
   x_1 .. x_q are in flight: q-EI, greedy in its points.
   Source: D. Ginsbourger, R. Le Riche, L. Carraro, Kriging is well-suited to parallelize
   optimization, 2010; points in flight: J. Snoek, H. Larochelle, R. P. Adams, Practical Bayesian
   optimization of machine learning algorithms, 2012.
   `form: ucb` is q-UCB, greedy likewise: x_t = argmax_x E max(g(x), g(x_1), .., g(x_q)) with
   g(x) = mu(x) + sqrt(beta pi/2) |f(x) - mu(x)|; with nothing in flight it is GP-UCB. Source:
   J. T. Wilson, R. Moriconi, F. Hutter, M. P. Deisenroth, The reparameterization trick for
   acquisition functions, 2017.
   Deviations: the part that depends on x is maximised, by its logarithm. The expectation over f(x)
   is in closed form; the one over the values in flight is a sum over `samples` scrambled Sobol
   normals that are the same for all x, or a quadrature for one point in flight.
   Cost per iteration: as EI, and O(q n + q^2 + q S) per value for S samples.
   Needs no context. With nothing in flight it is EI. Revision 1. */
#include "acquisition/joint_improvement.h"
#include "algorithm/surrogate.h"

#include <math.h>

typedef struct {
  int incumbent, samples, form;
  double beta;
} Options;

enum { EI, UCB };
static const char *const forms[] = {"ei", "ucb", NULL};
#define BETA 2 /* as Riegler et al. (2026) take it */

static const RgParam params[] = {
  RG_INCUMBENT_PARAM(Options),
  RG_INT("samples", Options, samples, "512", 1, 1e6, "S",
         "samples of the values in flight, for two or more of them"),
  RG_ENTRY("form", CHOICE, Options, form, int, "ei", RG_LATER, 0, forms, "",
           "ei: joint expected improvement; ucb: joint upper confidence bound"),
  RG_ENTRY("beta", REAL, Options, beta, double, "auto", RG_POSITIVE, 1e6, rg_param_later, "beta",
           "squared width of form: ucb; auto: 2"),
  {0},
};

static PetscErrorCode check(const void *closure, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *options = closure;

  if (options->form == EI && !isnan(options->beta))
    rg_diagnostics_add(diagnostics, place, "'beta' goes with form: 'ucb', and form is 'ei'");
  return 0;
}

enum { INCUMBENT, ACQUISITION, IMPROVEMENT };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [ACQUISITION] = {"acquisition", "log of what the query adds to the joint improvement or bound"},
  [IMPROVEMENT] = {"improvement",
                   "expected joint improvement with the query (form: ucb, the joint upper bound), "
                   "model units"},
  {0}};

/* form: ucb */
static PetscErrorCode ask_bound(RgAlgorithm *algorithm, RgJointImprovement *joint,
                                const RgSearch *search, RgQuery *query, RgFailure *failure)
{
  const Options *options = algorithm->options;
  const double beta = isnan(options->beta) ? BETA : options->beta;
  const RgUcb ucb = {sqrt(beta)};
  const RgAcquisition acquisition = {rg_acquisition_ucb, &ucb};
  double *value = &query->extra[ACQUISITION], *bound = &query->extra[IMPROVEMENT];

  joint->width = sqrt(0.5 * acos(-1.0) * beta);
  if (search->history->pending.n) {
    PetscCall(rg_joint_improvement_acquire(algorithm->state, joint, search, query, value, failure));
    *bound = joint->already + exp(*value);
  } else {
    PetscCall(rg_acquire(algorithm->state, &acquisition, search, query, bound, failure));
  }
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "maximiser", t);
  RgRandom draws = rg_algorithm_stream_at(algorithm, "qei", t);
  const RgSearch *search = RG_SEARCH(algorithm, history, &random);
  RgJointImprovement joint = {.samples = options->samples, .draws = &draws};
  double *value = &query->extra[ACQUISITION];
  RgEi ei = {0.0};
  const RgAcquisition acquisition = {rg_acquisition_log_ei, &ei};

  if (options->form == UCB) return ask_bound(algorithm, &joint, search, query, failure);
  /* 1. Incumbent. */
  PetscCall(rg_surrogate_incumbent(options->incumbent, model, history, &ei.incumbent));
  query->extra[INCUMBENT] = ei.incumbent;
  /* 2. x_t = argmax q-EI of the points in flight and x. */
  joint.tau = ei.incumbent;
  if (history->pending.n)
    PetscCall(rg_joint_improvement_acquire(model, &joint, search, query, value, failure));
  else PetscCall(rg_acquire(model, &acquisition, search, query, value, failure));
  query->extra[IMPROVEMENT] = joint.already + exp(*value);
  return 0;
}

const RgAlgorithmClass rg_algorithm_q_ei = {
  RG_ABOUT("q_ei", "q-EI", 1, "x_t = argmax E[max(0, max f - tau)] over the points in flight and x",
           "Ginsbourger, Le Riche, Carraro (2010), Kriging is well-suited to parallelize "
           "optimization; Snoek, Larochelle, Adams (2012), NeurIPS"),
  .traits = RG_OWN_PENDING,
  .check = check,
  RG_OPTIONS(Options, params),
  RG_ASK(ask, columns),
  RG_SURROGATE_METHODS,
};
