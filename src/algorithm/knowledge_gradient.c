/* knowledge_gradient: knowledge gradient for correlated beliefs, discretised.

   x_t = argmax_x E[max_i mu_{t+1}(x_i) | observe at x] - max_i mu_t(x_i) over the alternatives x_i:
   x itself and the `points` points of largest posterior mean (of the finite design, or of the
   queried inputs on a box). The expectation is exact: mu_{t+1}(x_i) = mu_t(x_i) + Z cov(x_i, x)/s
   with Z standard normal, s^2 = var(x) + noise, whose maximum over i is an envelope of lines.
   Source: Frazier, Powell, Dayanik (2009), The knowledge-gradient policy for correlated normal
   beliefs, INFORMS J. Comput. 21, algorithms 1 and 2; queried inputs as alternatives: Scott,
   Frazier, Powell (2011), SIAM J. Optim. 21.
   Deviations: the logarithm is maximised. The recommendation is the query.
   Cost per iteration: p alternatives cost p times EI at most; finite set O(p (n N + N log p)).
   Needs no context. Revision 2. */
#include "acquisition/knowledge_gradient.h"
#include "algorithm/surrogate.h"

typedef struct {
  int points;
} Options;

static const RgParam params[] = {
  RG_INT("points", Options, points, "50", 1, RG_KNOWLEDGE_GRADIENT_LINES - 1, "",
         "alternatives beside the query: those of largest posterior mean"),
  {0},
};

enum { ACQUISITION };

static const RgRecordColumn columns[] = {
  [ACQUISITION] = {"acquisition", "log knowledge gradient at the query, model units"}, {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = algorithm->state;

  /* x_t = argmax log KG. */
  return rg_knowledge_gradient_acquire(model, options->points, RG_SEARCH_AT(algorithm, t, history),
                                       query, &query->extra[ACQUISITION], failure);
}

const RgAlgorithmClass rg_algorithm_knowledge_gradient = {
  RG_ABOUT("knowledge_gradient", "KG", 2,
           "x_t = argmax E[max_i mu_{t+1}(x_i)] - max_i mu_t(x_i) over x itself and the points of\n"
           "largest posterior mean",
           "Frazier, Powell, Dayanik (2009), The knowledge-gradient policy for correlated normal "
           "beliefs, INFORMS J. Comput. 21"),
  RG_OPTIONS(Options, params),
  RG_ASK(ask, columns),
  RG_SURROGATE_METHODS,
};
