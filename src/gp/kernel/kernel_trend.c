/* The trend of a kernel: a random quadratic function that is added to the stationary process. Its
   covariance is v_1 s + v_2 s^2, s = u'w / dim of the points u = 2 x - 1 and w = 2 z - 1, and its
   coefficients never appear: the posterior with them integrated out is that of the sum of both
   covariances (Rasmussen, Williams 2006, section 2.7). */
#include "gp/kernel/kernel_internal.h"

static double trend_value(const RgKernel *kernel, double s)
{
  return (kernel->trend[0] + kernel->trend[1] * s) * s;
}

static double trend_slope(const RgKernel *kernel, double s)
{
  return kernel->trend[0] + 2 * kernel->trend[1] * s;
}

static double centred(double x)
{
  return 2 * x - 1;
}

/* s of x and of each point of a tile B (dim x RG_TILE, centred). */
static void products(int dim, const double *x, const double *B, double *s)
{
  for (int j = 0; j < RG_TILE; j++) s[j] = 0;
  for (int k = 0; k < dim; k++, B += RG_TILE) {
    const double u = centred(x[k]) / dim;

    for (int j = 0; j < RG_TILE; j++) s[j] += u * B[j];
  }
}

/* B from the first `count` points of Z. */
static void fill(int dim, int count, const double *Z, double *B)
{
  for (int k = 0; k < dim; k++)
    for (int j = 0; j < RG_TILE; j++)
      B[k * RG_TILE + j] = j < count ? centred(Z[(size_t)j * dim + k]) : 0;
}

/* s of a point and itself. */
static double square(const RgKernel *kernel, const double *z)
{
  double s = 0;

  for (int k = 0; k < kernel->dim; k++) s += centred(z[k]) * centred(z[k]) / kernel->dim;
  return s;
}

PetscErrorCode rg_kernel_set_trend(RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCheck(!kernel->warp, PETSC_COMM_SELF, PETSC_ERR_SUP, "a warped kernel has no trend");
  if (!kernel->trend) PetscCall(PetscMalloc1(2, &kernel->trend));
  kernel->trend[0] = kernel->trend[1] = 1;
  PetscFunctionReturn(0);
}

double rg_kernel_variance_at(const RgKernel *kernel, const double *z)
{
  const double diagonal = rg_kernel_diagonal(kernel);

  return kernel->trend ? diagonal + trend_value(kernel, square(kernel, z)) : diagonal;
}

double rg_kernel_largest_variance(const RgKernel *kernel)
{
  const double diagonal = rg_kernel_diagonal(kernel);

  return kernel->trend ? diagonal + trend_value(kernel, 1) : diagonal;
}

void rg_kernel_add_variance_gradient(const RgKernel *kernel, double weight, const double *z,
                                     double *g)
{
  if (!kernel->trend) return;
  const double slope = weight * trend_slope(kernel, square(kernel, z)) * 4 / kernel->dim;
  for (int k = 0; k < kernel->dim; k++) g[k] += slope * centred(z[k]);
}

PetscErrorCode rg_kernel_add_trend(const RgKernel *kernel, int n, const double *X, int m,
                                   const double *Z, size_t ld, double *K)
{
  const int dim = kernel->dim;
  double *B, s[RG_TILE];

  PetscFunctionBeginUser;
  if (!kernel->trend) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1((size_t)dim * RG_TILE, &B));
  for (int j = 0; j < m; j += RG_TILE) {
    const int count = PetscMin(RG_TILE, m - j);

    fill(dim, count, Z + (size_t)j * dim, B);
    for (int i = 0; i < n; i++) {
      products(dim, X + (size_t)i * dim, B, s);
      for (int k = 0; k < count; k++) K[i * ld + j + k] += trend_value(kernel, s[k]);
    }
  }
  PetscCall(PetscFree(B));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_add_trend_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                            const double *Z, size_t ld, const double *W, double *G)
{
  const int dim = kernel->dim;
  double *B, s[RG_TILE];

  PetscFunctionBeginUser;
  if (!kernel->trend) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1((size_t)dim * RG_TILE, &B));
  for (int j = 0; j < m; j += RG_TILE) {
    const int count = PetscMin(RG_TILE, m - j);

    fill(dim, count, Z + (size_t)j * dim, B);
    for (int i = 0; i < n; i++) {
      const double *x = X + (size_t)i * dim;

      products(dim, x, B, s);
      for (int l = 0; l < count; l++) {
        const double slope = W[i * ld + j + l] * trend_slope(kernel, s[l]) * 2 / dim;

        for (int k = 0; k < dim; k++) G[(size_t)(j + l) * dim + k] += slope * centred(x[k]);
      }
    }
  }
  PetscCall(PetscFree(B));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_trend_theta(const RgKernel *kernel, int n, const double *X,
                                     const double *A, double *g)
{
  const int dim = kernel->dim;
  double *B, s[RG_TILE], sums[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)dim * RG_TILE, &B));
  for (int j = 0; j < n; j += RG_TILE) {
    const int count = PetscMin(RG_TILE, n - j);

    fill(dim, count, X + (size_t)j * dim, B);
    for (int i = j; i < n; i++) {
      products(dim, X + (size_t)i * dim, B, s);
      for (int k = 0; k < PetscMin(count, i - j + 1); k++) {
        const double weight = (j + k == i ? 1 : 2) * A[(size_t)i * n + j + k];

        sums[0] += weight * s[k];
        sums[1] += weight * s[k] * s[k];
      }
    }
  }
  for (int p = 0; p < 2; p++) g[p] = kernel->trend[p] * sums[p];
  PetscCall(PetscFree(B));
  PetscFunctionReturn(0);
}
