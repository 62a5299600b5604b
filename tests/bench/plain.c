#include "plain.h"

#include <math.h>

double plain_kernel(int dim, const double *a, const double *b, const double *length_scale)
{
  double r2 = 0;
  for (int j = 0; j < dim; j++) {
    double s = (a[j] - b[j]) / length_scale[j];
    r2 += s * s;
  }
  return exp(-0.5 * r2);
}

void plain_factor(int n, int dim, const double *X, const double *length_scale, double noise,
                  double *L)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = plain_kernel(dim, X + i * dim, X + j * dim, length_scale) + (i == j ? noise : 0);
      for (int k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? sqrt(s) : s / L[j * n + j];
    }
}

void plain_forward(int n, const double *L, double *x)
{
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
}

void plain_backward(int n, const double *L, double *x)
{
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
    x[i] /= L[i * n + i];
  }
}

void plain_predict(int n, int dim, const double *X, const double *length_scale, const double *L,
                   const double *alpha, const double *z, double *work, double *mean,
                   double *variance)
{
  *mean = 0;
  for (int i = 0; i < n; i++) {
    work[i] = plain_kernel(dim, X + i * dim, z, length_scale);
    *mean += work[i] * alpha[i];
  }
  plain_forward(n, L, work);
  *variance = 1;
  for (int i = 0; i < n; i++) *variance -= work[i] * work[i];
}

double plain_likelihood(int n, int dim, const double *X, const double *y,
                        const double *length_scale, double noise, double *gradient, double *work)
{
  double *L = work, *inverse = work + n * n, *alpha = inverse + n * n, value = 0;

  plain_factor(n, dim, X, length_scale, noise, L);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) inverse[j * n + i] = i == j;
    plain_forward(n, L, inverse + j * n);
    plain_backward(n, L, inverse + j * n);
  }
  for (int i = 0; i < n; i++) {
    alpha[i] = 0;
    for (int j = 0; j < n; j++) alpha[i] += inverse[i * n + j] * y[j];
    value -= 0.5 * y[i] * alpha[i] + log(L[i * n + i]) + 0.5 * log(2 * M_PI);
  }
  for (int p = 0; p < dim; p++) {
    gradient[p] = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double s = (X[i * dim + p] - X[j * dim + p]) / length_scale[p];
        double k = plain_kernel(dim, X + i * dim, X + j * dim, length_scale);
        gradient[p] += 0.5 * (alpha[i] * alpha[j] - inverse[i * n + j]) * k * s * s;
      }
  }
  return value;
}
