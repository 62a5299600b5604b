/* Regret bounds of kernel regression (BOKE): functions of plain numbers.

   Common arguments: varsigma, sub-Gaussian parameter of the noise; bound = sup Psi of the smoothing
   kernel; T, number of queries it covers.
   Source: Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178; boke 7. */
#ifndef RG_REGRET_REGRESSION_BOUNDS_H
#define RG_REGRET_REGRESSION_BOUNDS_H

#include "regatta/error.h"

/* Theorem 4.10, a design of n_points, width of the rule `finite`; largest_gap = max f(x*) - f(x):
   expected cumulative regret, 2 sqrt(C1' n T log T) + C2' n largest_gap with
   C1' = 64 varsigma^2 bound, C2' = 1 + 2 pi^2/3. */
double rg_regression_bound_finite_expected(double n_points, double T, double varsigma, double bound,
                                           double largest_gap);
/* The sharper expectation from the gaps (n of them, 0 at optimal points):
   sum over gaps > 0 of C1' log T / gap + C2' gap. */
double rg_regression_bound_gaps(int n, const double *gaps, double T, double varsigma, double bound);

/* Modulus of continuity sup{|f(x) - f(x')|: |x - x'| <= reach} of n values on a grid of `spacing`
   along a line; the reach is cut to whole steps. omega_f(h) has reach R h with R the radius of the
   kernel's support. O(n). Returns through *omega. */
PetscErrorCode rg_modulus_of_continuity(int n, const double *f, double spacing, double reach,
                                        double *omega);

/* Effective support radius of the Gaussian kernel, where it has fallen to `level`: heuristic, its
   support is not compact. */
double rg_gaussian_support(double level);

#endif
