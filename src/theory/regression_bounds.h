/* Regret bounds of kernel regression (BOKE) as functions of plain numbers, and of columns
   that a run records.
   Common arguments: varsigma, sub-Gaussian parameter of the noise; delta, probability that the
   bound may fail; T, number of queries it covers. The smoothing kernels have sup Psi = 1.
   Source: Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178; boke 7. */
#ifndef RG_THEORY_REGRESSION_BOUNDS_H
#define RG_THEORY_REGRESSION_BOUNDS_H

#include "regatta/error.h"

/* Theorem 4.1 without omega_f(h): half-width of the confidence interval at a point of weight W. */
double rg_regression_radius(double weight, double varsigma, double delta);

/* Theorem 4.10, a design of n_points, width of the rule `finite`; largest_gap = max f(x*) - f(x):
   cumulative regret with probability 1 - delta, sqrt(C1 n T log T) + C2 n with
   C1 = 256 varsigma^2 / delta^2, C2 = 8 largest_gap / delta; and its expectation,
   2 sqrt(C1' n T log T) + C2' n largest_gap with C1' = 64 varsigma^2, C2' = 1 + 2 pi^2/3. */
double rg_regression_bound_finite(double n_points, double T, double varsigma, double delta,
                                  double largest_gap);
double rg_regression_bound_finite_expected(double n_points, double T, double varsigma,
                                           double largest_gap);
/* The sharper expectation from the gaps (n of them, 0 at optimal points):
   sum over gaps > 0 of C1' log T / gap + C2' gap. */
double rg_regression_bound_gaps(int n, const double *gaps, double T, double varsigma);

/* Theorem 4.13, width of the rule `general`: cumulative regret of T queries. eta is the sum of
   1/W_t(x_{t+1}), and omega the sum of omega_f(h_t). The bound is sqrt(C3 eta T log T) + sqrt(C4
   T eta) + 2 omega with C3 = 16 varsigma^2 and C4 = 8 varsigma^2 log(2 pi^2/(3
   delta)). The tighter form with one root is 2 sqrt(T beta_T eta) + 2 omega. */
double rg_regression_bound_general(double T, double eta, double omega, double varsigma,
                                   double delta);
double rg_regression_bound_root(double T, double beta, double eta, double omega);

/* Modulus of continuity sup{|f(x) - f(x')|: |x - x'| <= reach} of n values on a grid of `spacing`
   along a line; the reach is cut to whole steps. omega_f(h) has reach R h with R the radius of the
   kernel's support. O(n). Returns through *omega. */
PetscErrorCode rg_modulus_of_continuity(int n, const double *f, double spacing, double reach,
                                        double *omega);

/* The radius at which the Gaussian kernel has fallen to `level`. It is a heuristic: the support
   of this kernel is not compact. */
double rg_gaussian_support(double level);

#endif
