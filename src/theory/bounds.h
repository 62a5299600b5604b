/* Terms of the bounds of the cumulative regret of GP-UCB, RGP-UCB and IRGP-UCB (bounds.c) that
   other families and figures use too.
   Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979; irgp_ucb 7.1. All are O(1). */
#ifndef RG_THEORY_BOUNDS_H
#define RG_THEORY_BOUNDS_H

#include "theory/family.h"

/* C1 = 2/log(1 + 1/noise): the posterior variances at the queries sum to at most C1 gamma. */
double rg_bound_c1(double noise);
/* C2 = 2 + 2 log(|X|/2): mean of the confidence parameter of the finite rule. */
double rg_bound_c2(double n_points);
/* Theorem 4.1: BCR_T <= sqrt(C1 C2 T gamma) on a finite design. */
double rg_bound_width(const RgBoundCase *s, int T);
/* E sqrt(zeta) of the shifted exponential with rate 1/2: the right side of Lemma 4.2 before any
   data, sqrt(s) + sqrt(pi/2) exp(s/2) erfc(sqrt(s/2)). s >= 0. */
double rg_irgp_mean_width(double shift);

#endif
