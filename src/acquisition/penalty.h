/* Penalties on points in flight: a positive acquisition function is multiplied, for each of them,
   by a factor between 0 and 1 that rises with the distance d from it. M is the best observation,
   mu and sd are the posterior there, L bounds the slope of f:
     soft   Phi((L d - (M - mu))/sd)                                  (Gonzalez et al. 2016)
     hard   ((d/r)^p + 1)^(1/p), r = (|M - mu| + sd)/L, p = -5        (Alvi et al. 2019)
   L is the largest slope of the posterior mean, over the domain or over a box around the point.
   Logarithms are added. All in model units and unit coordinates. */
#ifndef RG_ACQUISITION_PENALTY_H
#define RG_ACQUISITION_PENALTY_H

#include "regatta/acquire.h"

/* The factor that stands for an acquisition value a in the product of penalties: log(1 + e^a), e^a,
   a itself, or Phi(a). */
typedef enum { RG_FORM_ANY, RG_FORM_LOGARITHM, RG_FORM_POSITIVE, RG_FORM_NORMAL } RgForm;

typedef struct {
  int n, dim;
  const double *x;           /* n x dim: the points; borrowed */
  double *mean, *sd, *slope; /* n: mu, sd, L; owned */
  double best;               /* M */
  RgPendingOptions options;
} RgPenalty;

/* Whether the study penalises and points are in flight. */
bool rg_penalty_is_due(const RgModel *model, const RgHistory *history);

/* The penalty of history->pending under a model that is up to date and without a context. Slopes
   are searched for as the study's maximiser does, with at most 256 raw points and 4 starts, and
   random numbers of the sub-stream "lipschitz" at the number of the submission. O(n^2) per value
   once, and 3 O(n) per value after it. */
PetscErrorCode rg_penalty_create(RgModel *model, const RgSearch *search, RgPenalty *penalty,
                                 RgFailure *failure);
PetscErrorCode rg_penalty_destroy(RgPenalty *penalty);

/* Value (m) and gradient (m x dim; NULL: not wanted) at X: in, an acquisition function; out, the
   logarithm of the product. form: the factor that stands for a value. */
void rg_penalty_apply(const RgPenalty *penalty, RgForm form, int m, const double *X, double *value,
                      double *gradient);

#endif
