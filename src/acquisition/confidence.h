/* Confidence widths of the UCB family: shifts, betas and shapes as functions of plain numbers, for
   the algorithms and for the regret bounds.

   Common arguments: n_points = |X|, number of points of a finite domain (>= 1); dim = d; t = query
   after the initial design, from 1; delta in (0,1), probability that a bound may fail; a, b:
   constants with Pr(sup_x |df/dx_j| > L) <= a exp(-(L/b)^2) for every j; r: edge of the box
   [0,r]^d.
   All results are squared widths in units of the posterior variance, clamped at 0.
   Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979, and the papers named below. */
#ifndef RG_ACQUISITION_CONFIDENCE_H
#define RG_ACQUISITION_CONFIDENCE_H

/* Levels per axis of the grid X_t behind the continuous rules (not rounded):
   tau_t = b d r t^2 (sqrt(log(a d)) + sqrt(pi)/2); needs a d >= 1. */
double rg_confidence_grid_levels(int dim, double t, double a, double b, double r);

/* IRGP-UCB: shift s_t of zeta_t = s_t + Exp(rate), rate 1/2 in the theory.
   finite:     2 log(|X|/2)                       (Theorems 4.1, 4.3)
   continuous: 2 d log tau_t - 2 log 2            (Theorems 4.2, 4.4)
   heuristic:  d/2                                (Section 5.2, no theory)
   highprob:   2 log(|X| t^2 pi^2 / (12 delta))   (Theorem 4.5) */
double rg_irgp_shift_finite(double n_points);
double rg_irgp_shift_continuous(int dim, double t, double a, double b, double r);
double rg_irgp_shift_heuristic(int dim);
double rg_irgp_shift_highprob(double n_points, double t, double delta);

/* Quantile s - log(1 - p)/rate of the shifted exponential, p in [0,1). With p uniform: a draw. */
double rg_irgp_quantile(double shift, double rate, double p);

/* GP-UCB: beta_t.
   bcr:       2 log(|X| t^2 / sqrt(2 pi))         (expected regret; Takeno et al. 2023, Theorem 2.1)
   srinivas:  2 log(|X| t^2 pi^2 / (6 delta))     (Srinivas et al. 2010, Theorem 1)
   heuristic: 0.2 d log(2 t)                      (Kandasamy et al. 2015; Section 5.2)
   kandasamy: 5 d log(2 d t + 1)                  (released program of Kandasamy et al. 2018)
   bcr_cont:  2 log(tau_t^d t^2 / sqrt(2 pi))     (bcr on the grid X_t) */
double rg_gp_ucb_beta_bcr(double n_points, double t);
double rg_gp_ucb_beta_srinivas(double n_points, double t, double delta);
double rg_gp_ucb_beta_heuristic(int dim, double t);
double rg_gp_ucb_beta_kandasamy(int dim, double t);
double rg_gp_ucb_beta_bcr_cont(int dim, double t, double a, double b, double r);

/* IKR-UCB: beta_t for t points of kernel regression, varsigma the sub-Gaussian parameter of the
   noise, bound = sup Psi (1 for the usual kernels).
   general: 2 varsigma^2 bound log(2 pi^2 t^2 / (3 delta))   (arXiv:2502.06178, theorem 4.13)
   finite:  4 varsigma^2 bound log t                         (theorem 4.10) */
double rg_ikr_ucb_beta_general(double t, double varsigma, double bound, double delta);
double rg_ikr_ucb_beta_finite(double t, double varsigma, double bound);

/* RGP-UCB: shape kappa_t of zeta_t ~ Gamma(shape, scale theta), mean theta kappa_t.
   finite:    log(|X| t^2) / log(1 + theta/2)     (Berk et al. 2020)
   heuristic: 0.2 d log(2 t) */
double rg_rgp_shape_finite(double n_points, double t, double theta);
double rg_rgp_shape_heuristic(int dim, double t);

#endif
