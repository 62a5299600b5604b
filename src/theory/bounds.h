/* Bounds of the cumulative regret of the randomised and deterministic GP-UCB family.

   Setting: f is a path of a zero-mean Gaussian process with k(x,x) <= 1, known to the learner;
   observations carry Gaussian noise of known variance; hyperparameters are not fitted. R_T is the
   regret summed over T queries, BCR_T its mean over f, noise and the method's own randomness.

   Common arguments: n_points = |X|, points of a finite design (>= 2); noise = noise variance (> 0);
   T = queries after the initial design (>= 1); gamma = maximum information gain of T points or an
   upper bound of it (gp/model/information_gain.h; a lower one gives no bound of the regret);
   shift = s_T of the rule (acquisition/confidence.h); delta in (0,1) = probability that the bound
   may fail.
   tight: T s_T where Theorems 4.3 to 4.5 print 2 T s_T; their proofs need no more.
   Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979; irgp_ucb 7.1. O(1) unless stated. */
#ifndef RG_THEORY_BOUNDS_H
#define RG_THEORY_BOUNDS_H

#include <stdbool.h>

/* C1 = 2/log(1 + 1/noise): the posterior variances at the queries sum to at most C1 gamma. */
double rg_bound_c1(double noise);
/* C2 = 2 + 2 log(|X|/2): mean of the confidence parameter of the finite rule. */
double rg_bound_c2(double n_points);

/* Theorem 4.1: BCR_T <= sqrt(C1 C2 T gamma), finite rule. */
double rg_bound_theorem_4_1(double n_points, double noise, int T, double gamma);
/* Theorem 4.2: BCR_T <= pi^2/6 + sqrt(C1 T gamma (2 + s_T)), continuous rule. */
double rg_bound_theorem_4_2(double shift, double noise, int T, double gamma);
/* Theorem 4.2 with sum_{t<=T} (2 + s_t) in place of T (2 + s_T). The proof has this sum first. */
double rg_bound_theorem_4_2_sum(double mean_sum, double noise, double gamma);
/* Theorem 4.3: bound of E[R_T | zeta_1, zeta_2, ...] that holds with probability 1 - delta over the
   confidence parameters, finite rule. */
double rg_bound_theorem_4_3(double shift, double noise, int T, double gamma, double delta,
                            bool tight);
/* Theorem 4.4: the same for the continuous rule. */
double rg_bound_theorem_4_4(double shift, double noise, int T, double gamma, double delta,
                            bool tight);
/* Proposition 4.1: R_T <= (bound of Theorem 4.1)/delta with probability 1 - delta (Markov). */
double rg_bound_proposition_4_1(double n_points, double noise, int T, double gamma, double delta);
/* Theorem 4.5: bound of R_T that holds with probability 1 - delta over everything, highprob
   rule. The value is as printed. Its two events add up to 1.392 delta, so a careful reader
   passes delta/1.392. */
double rg_bound_theorem_4_5(double n_points, double noise, int T, double gamma, double delta,
                            bool tight);

/* GP-UCB with the bcr rule: BCR_T <= sum_{t<=T} 1/t^2 + sqrt(C1 gamma sum_{t<=T} beta_t). O(T). */
double rg_bound_gp_ucb(double n_points, double noise, int T, double gamma);
/* RGP-UCB with the finite rule: BCR_T <= sum_{t<=T} 1/(sqrt(2 pi) t^2)
   + sqrt(C1 gamma sum_{t<=T} theta kappa_t). O(T). */
double rg_bound_rgp_ucb(double n_points, double theta, double noise, int T, double gamma);

/* Upper tail of the chi-square law with D degrees of freedom: exceeded with probability at most
   exp(-q). D + 2 sqrt(D q) + 2 q (Laurent and Massart 2000). */
double rg_chi_square_tail(double D, double q);

/* E sqrt(zeta) of the shifted exponential with rate 1/2: the right side of Lemma 4.2 before any
   data, sqrt(s) + sqrt(pi/2) exp(s/2) erfc(sqrt(s/2)). s >= 0. */
double rg_irgp_mean_width(double shift);

#endif
