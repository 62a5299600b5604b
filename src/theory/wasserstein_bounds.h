/* Bounds of WDRBO, regret with contexts drawn from an unknown law: arXiv:2503.20341; wdrbo 2.7 and
   7.

   Common arguments: T = queries (>= 1); gamma = maximum information gain of T points (x, c),
   log det(I + K/lambda), or an upper bound of it. k(z,z) <= 1. O(1) unless stated. */
#ifndef RG_THEORY_WASSERSTEIN_BOUNDS_H
#define RG_THEORY_WASSERSTEIN_BOUNDS_H

#include "robust/wasserstein.h"

/* rho_t of observed contexts. */
double rg_wasserstein_remainder(const RgWassersteinTheory *theory, int t, double norm);
/* 2 eps 2 Bbar_t L_k: penalty of one step with Lemma 3's bound of the Lipschitz constant. */
double rg_wasserstein_penalty(const RgWassersteinTheory *theory, double radius, double norm);
/* Theorems 5 and 9: 4 beta_T sqrt(T (gamma + 4 log(6/delta))) + penalties: the sum over steps of
   rg_wasserstein_penalty (and of 2 rho_t for observed contexts). norm: Bbar_T. The main text of the
   paper loses a parenthesis. */
double rg_bound_wdrbo(const RgWassersteinTheory *theory, int T, double gamma, double norm,
                      double penalties);
/* Theorems 4 and 8, the regret of one query: 2 beta_t E s_{t-1}(x_t, c) + price. deviation: the
   mean of s over the true law; norm: Bbar_t; price: the query's part of `penalties`. */
double rg_bound_wdrbo_query(const RgWassersteinTheory *theory, double deviation, double norm,
                            double price);

#endif
