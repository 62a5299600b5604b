/* Bounds of the regret of RRGP-UCB (arXiv:2504.03172; rrgp_ucb 7).

   Setting: f is a path of a zero-mean Gaussian process over (x, w), known to the learner;
   observations carry Gaussian noise of known variance. r_t = F(x*) - F(recommendation t), and
   R_t is their sum; expectations are over f, noise and the widths. kappa_t is the constant in
   beta_t = 2 log(kappa_t) + chi^2_2: |X x Omega| if both are finite. gamma: maximum information
   gain of t points or an upper bound of it. All functions are O(1) unless stated. */
#ifndef RG_THEORY_ROBUST_BOUNDS_H
#define RG_THEORY_ROBUST_BOUNDS_H

#include <stdbool.h>

#include "maths/distribution.h"
#include "robust/integral.h"

/* C1 = 2 k/log(1 + k/noise), k = largest prior variance: 2/log(1 + 1/noise) for k = 1. If nature
   draws w, it is divided by the least probability of w (1: the learner chooses). */
double rg_robust_c1(double noise, double largest_variance, double least_probability);
/* E[beta^s] = integral over v >= 0 of (2 log kappa + 2 v)^s exp(-v). kappa >= 1, s > 0. */
double rg_robust_mean_power(double kappa, double s);

/* One summand of q(a) = sum_i weight_i h_i(sum_j lambda_ij a^nu_ij), h_i(z) = z^concave. */
typedef struct {
  double weight, concave; /* >= 0; in (0, 1] */
  int n;
  const double *lambda, *nu; /* n each, >= 0, > 0 */
} RgRobustTerm;

/* G_t of Theorems 4.1 (and 4.5, 4.6 with their C1): E[R_t] <= G_t for measures whose bounds are at
   most q(2 sqrt(beta) sd) apart. E[r at the best index] <= G_t/t (Theorem 4.2). */
double rg_robust_bound(int n_terms, const RgRobustTerm *terms, double t, double kappa, double c1,
                       double gamma);
/* Corollary 4.1: the same for q(a) = slope a: 4 slope sqrt(t C1 (2 log kappa + 2) gamma). */
double rg_robust_bound_linear(double slope, int t, double kappa, double c1, double gamma);
/* Corollaries A.1 (continuous_context: false; X continuous), A.2 and A.3 (Omega continuous):
   slope (c pi^2/6 + 4 sqrt(t C1 (2 log kappa + 2) gamma)), c = 1 or 2. */
double rg_robust_bound_continuous(double slope, bool continuous_context, int t, double kappa,
                                  double c1, double gamma);
/* Theorems A.5 and A.8: E[r'_t] of the last recommendation, expectation, Omega continuous: 2/t^2 +
   pi^2/(3 t) + 4 sqrt(C1 (2 log kappa + 2) gamma/t). */
double rg_robust_bound_last_continuous(int t, double kappa, double c1, double gamma);
/* Theorems B.5 to B.8, nature draws from a box of contexts: the bounds above with varphi_t + C1
   gamma_t / p_min,t in place of C1 gamma_t, for partitions S_1, .., S_t of the box. These are the
   ones of the paper's example, in `dim` coordinates: ceil(t^(1/(2 dim))) equal cells in each. */
int rg_robust_cells(int dim, int t);
/* varphi_t = sum over i <= t of iota_i, which bounds |sigma^2(x, a) - sigma^2(x, b)| in a cell: 2
   sqrt(2) slope times the diagonal of a cell. slope: the slope of the kernel with k(z,z) = 1.
   O(t). */
double rg_robust_variation(int dim, double slope, int t);
/* p_min,t: the least probability of a cell of S_1, .., S_t under independent laws, what is beyond
   the box counted to its outer cells. O(dim t) or less. */
double rg_robust_least_cell(int dim, const RgDistribution *laws, int t);

#endif
