/* Sinkhorn's iterations, and entropic barycentres. */
#include "robust/sinkhorn.h"
#include "maths/blas.h"

#include <math.h>

#define LEAST 1e-100 /* of the kernel */

/* K[i * m + j] = exp(-|a_i - b_j|^2/entropy). */
static void fill_kernel(int dim, int n, const double *a, int m, const double *b, double entropy,
                        double *K)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      K[(size_t)i * m + j] =
        fmax(exp(-rg_squared_distance(dim, a + i * dim, b + j * dim) / entropy), LEAST);
}

static void normalise(int m, double *weight)
{
  double sum = 0;

  for (int j = 0; j < m; j++) sum += weight[j];
  for (int j = 0; j < m; j++) weight[j] /= sum;
}

PetscErrorCode rg_sinkhorn_weights(int dim, int n, const double *points, int m,
                                   const double *support, double entropy, int rounds,
                                   double *weight)
{
  double *K, *u, *v, *product;

  PetscCall(PetscMalloc4((size_t)n * m, &K, n, &u, m, &v, m, &product));
  fill_kernel(dim, n, points, m, support, entropy, K);
  for (int i = 0; i < n; i++) u[i] = 1.0 / n;
  for (int round = 0; round <= rounds; round++) {
    cblas_dgemv(CblasRowMajor, CblasTrans, n, m, 1, K, m, u, 1, 0, product, 1);
    if (round == rounds) break;
    for (int j = 0; j < m; j++) v[j] = 1 / (m * product[j]);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, m, 1, K, m, v, 1, 0, u, 1);
    for (int i = 0; i < n; i++) u[i] = 1 / (n * u[i]);
  }
  for (int j = 0; j < m; j++) weight[j] = v[j] * product[j];
  normalise(m, weight);
  return PetscFree4(K, u, v, product);
}

PetscErrorCode rg_sinkhorn_barycentre(int dim, int m, const double *support, int k,
                                      const double *histograms, double entropy, int rounds,
                                      double *weight)
{
  const size_t km = (size_t)k * m;
  double *K, *u, *v, *shares;

  PetscCall(PetscMalloc4((size_t)m * m, &K, km, &u, km, &v, km, &shares));
  fill_kernel(dim, m, support, m, support, entropy, K);
  for (size_t i = 0; i < km; i++) u[i] = 1;
  for (int round = 0; round < rounds; round++) {
    /* v_l = h_l/(K u_l); the geometric mean of the shares u_l * (K v_l) is the barycentre. */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, m, m, 1, u, m, K, m, 0, v, m);
    for (size_t i = 0; i < km; i++) v[i] = histograms[i] / v[i];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, m, m, 1, v, m, K, m, 0, shares, m);
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += log(u[l * m + j] * shares[l * m + j]);
      weight[j] = exp(sum / k);
      for (int l = 0; l < k; l++) u[l * m + j] = weight[j] / shares[l * m + j];
    }
  }
  normalise(m, weight);
  return PetscFree4(K, u, v, shares);
}
