/* A dense posterior over one design and one context coordinate, for comparison: zero mean, Gaussian
   kernel, fixed hyperparameters. */
#ifndef RG_TESTS_ORACLE_DENSE_H
#define RG_TESTS_ORACLE_DENSE_H

#include <math.h>

#include <lapacke.h>

#include "regatta/domain.h"
#include "test_main.h"

enum { DENSE_ROOM = 12 };

static const double length = 0.25, noise = 1e-4;

typedef struct {
  int n;
  double x[DENSE_ROOM], w[DENSE_ROOM], factor[DENSE_ROOM * DENSE_ROOM], weight[DENSE_ROOM];
} Dense;

static double covariance(double x, double w, double x2, double w2)
{
  return exp(-((x - x2) * (x - x2) + (w - w2) * (w - w2)) / (2 * length * length));
}

static void dense_make(const RgHistory *history, Dense *dense)
{
  const int n = dense->n = history->n;

  for (int i = 0; i < n; i++) {
    dense->x[i] = history->x[i];
    dense->w[i] = history->c[i];
    dense->weight[i] = history->y[i];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      dense->factor[i * n + j] =
        covariance(dense->x[i], dense->w[i], dense->x[j], dense->w[j]) + (i == j) * noise;
  assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, dense->factor, n), 0);
  assert_int_equal(LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', n, 1, dense->factor, n, dense->weight, 1),
                   0);
}

static void dense_predict(const Dense *dense, double x, double w, double *mean, double *variance)
{
  const int n = dense->n;
  double k[DENSE_ROOM], v[DENSE_ROOM];

  *mean = 0;
  *variance = 1;
  for (int i = 0; i < n; i++) {
    k[i] = v[i] = covariance(x, w, dense->x[i], dense->w[i]);
    *mean += k[i] * dense->weight[i];
  }
  assert_int_equal(LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', n, 1, dense->factor, n, v, 1), 0);
  for (int i = 0; i < n; i++) *variance -= k[i] * v[i];
}

#endif
