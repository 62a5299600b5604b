/* The average of f(x, .) over contexts under the posterior on a finite set: a Gaussian process over
   the designs, kept up to date by the same rank-one updates (rrgp_ucb 3.3, Bayesian quadrature). */
#ifndef RG_ROBUST_INTEGRAL_H
#define RG_ROBUST_INTEGRAL_H

#include "gp/posterior/set/set_posterior.h"

typedef struct {
  int n_designs, n_contexts;
  const double *p;         /* n_contexts; borrowed */
  double *mean, *variance; /* n_designs values of sum_w p(w) f(x, w); owned */
  double *kept;            /* 2 n_designs: mean and variance to return to; owned */
} RgIntegral;

/* Follow `posterior` (no data yet) with probabilities p (borrowed, n_contexts). The integral
   must not move in memory and must outlive the posterior's last change. O(N) per observation; a
   reset costs O(n_contexts^2) kernel values. */
PetscErrorCode rg_integral_create(RgSetPosterior *posterior, int n_contexts, const double *p,
                                  RgIntegral *integral);
PetscErrorCode rg_integral_destroy(RgIntegral *integral);

/* Discretisation schedules of Algorithms 3 to 7. Derivatives of f by every coordinate exceed L with
   probability at most a exp(-(L/b)^2); coordinates lie in [0, r]. */
typedef struct {
  double a, b, r;
} RgRobustDerivatives;

/* Points per coordinate at step t: ceil(b d r t^2 (sqrt(log(a d m)) + sqrt(pi)/2)), with the
   logarithm clamped at 0. d: continuous coordinates; m: points of the finite part, 1 where the
   space has no finite part. */
double rg_robust_levels(const RgRobustDerivatives *derivatives, int d, double m, int t);
/* kappa_t where X is continuous (d1 coordinates; 0: n_designs points) and Omega (d2; 0: n_contexts
   points): n_designs n_contexts; (1 + tau^d1) n_contexts; tau^d2 n_designs; (1 + tau^d1) tau^d2. */
double rg_robust_kappa(const RgRobustDerivatives *derivatives, int d1, int d2, double n_designs,
                       double n_contexts, int t);

/* Node number i (dim coordinates): the midpoint of one of levels^dim cells of [0, 1]^dim, with
   the first coordinate slowest. */
void rg_robust_node(int dim, int levels, int i, double *node);
/* The index of the cell that holds a coordinate of [0, 1]: min(floor(w levels), levels - 1). */
int rg_robust_cell(int levels, double w);

#endif
