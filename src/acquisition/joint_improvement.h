/* The expected improvement of one more point beside q points in flight, q-EI (Ginsbourger et al.
   2010; Snoek et al. 2012): with b = max(0, max_l f(x_l) - tau) over the points in flight,
     E max(b, f(x) - tau) = E b + E max(0, f(x) - tau - b).
   The second term depends on x. Given the values in flight f(x) is normal, so the expectation over
   it is EI, in closed form; the one over the values in flight is a weighted sum of fixed samples,
   the same for all x. For one point in flight the sum is a quadrature, exact to rounding while the
   deviations are not tiny.

   The joint upper bound of the same points, q-UCB (Wilson, Moriconi, Hutter, Deisenroth 2017), is
   E max_i (mu(x_i) + w |f(x_i) - mu(x_i)|), w = sqrt(beta pi/2), by the same samples. Given the
   values in flight, the gain of x over their maximum has a closed form. */
#ifndef RG_ACQUISITION_JOINT_IMPROVEMENT_H
#define RG_ACQUISITION_JOINT_IMPROVEMENT_H

#include "regatta/acquire.h"

typedef struct {
  double tau;      /* target of the improvement, model units */
  double width;    /* w of the upper bound; 0: the improvement */
  int samples;     /* number of samples of the values of two or more points in flight */
  RgRandom *draws; /* random numbers of the samples; borrowed */
  double already;  /* result: E b, or the upper bound of the points in flight */
} RgJointImprovement;

/* Maximise it; history->pending has at least one point, and the model has told data only. value:
   the logarithm of the second term. failure: no finite value. O(q^2 + q samples) per value beside
   those of the posterior. */
PetscErrorCode rg_joint_improvement_acquire(RgModel *model, RgJointImprovement *improvement,
                                            const RgSearch *search, RgQuery *query, double *value,
                                            RgFailure *failure);

#endif
