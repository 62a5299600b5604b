/* Plain reference implementations: the textbook formulas in straightforward loops, one point at a time,
   as most one-off programs have them. Gaussian ARD kernel. */
#ifndef RG_TESTS_BENCH_PLAIN_H
#define RG_TESTS_BENCH_PLAIN_H

double plain_kernel(int dim, const double *a, const double *b, const double *length_scale);
/* Lower Cholesky factor of K + noise I, row-major n x n, from scratch. */
void plain_factor(int n, int dim, const double *X, const double *length_scale, double noise,
                  double *L);
/* x := L^-1 x, and x := L^-T x. */
void plain_forward(int n, const double *L, double *x);
void plain_backward(int n, const double *L, double *x);
/* Posterior mean and variance at one point; alpha = K^-1 y; work: n. */
void plain_predict(int n, int dim, const double *X, const double *length_scale, const double *L,
                   const double *alpha, const double *z, double *work, double *mean,
                   double *variance);
/* Log marginal likelihood and its gradient in the log length scales, by the explicit inverse.
   work: 3 n^2. */
double plain_likelihood(int n, int dim, const double *X, const double *y,
                        const double *length_scale, double noise, double *gradient, double *work);

#endif
