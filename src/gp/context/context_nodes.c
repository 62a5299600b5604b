/* Interpolation between contexts. */
#include "gp/context/context_nodes.h"

#include "gp/kernel/family.h"
#include "gp/kernel/kernel.h"
#include "maths/blas.h"

#include <math.h>

#define LEAST 1e-12  /* smallest residual of an interpolation, because of rounding */
#define SMOOTHER 2.0 /* length scales of the interpolant, in those of the model */

/* Shortest length scale of each context coordinate (dim_c); false if a coordinate is warped.
   *gaussian: all kernels of contexts are Gaussian. */
static bool context_scales(const RgKernel *kernel, int dim_x, double *scale, bool *gaussian)
{
  *gaussian = true;
  for (int k = dim_x; k < kernel->dim; k++) scale[k - dim_x] = INFINITY;
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      for (int k = 0; k < factor->n_inputs; k++) {
        const int input = factor->inputs[k] + factor->shift - dim_x;
        if (input < 0) continue;
        if (rg_kernel_classes[factor->family]->columns != 1) return false;
        *gaussian = *gaussian && factor->family == RG_KERNEL_GAUSSIAN;
        scale[input] = fmin(scale[input], 1.0 / rg_kernel_inverse_scale(factor, k));
      }
    }
  }
  return true;
}

/* The interpolating kernel, and its *tolerance; *found: false if none fits. A Gaussian kernel
   interpolates functions as smooth as itself, so its residual falls as the square of the error. */
static PetscErrorCode interpolant(const RgKernel *kernel, int dim_x, RgKernel *smooth,
                                  double *tolerance, bool *found)
{
  const int dim = kernel->dim - dim_x;
  double *scale;
  bool gaussian;

  PetscCall(PetscMalloc1(dim, &scale));
  *found = context_scales(kernel, dim_x, scale, &gaussian);
  if (gaussian) *tolerance = fmax(*tolerance * *tolerance, LEAST);
  for (int k = 0; k < dim; k++)
    scale[k] = isfinite(scale[k]) ? scale[k] * (gaussian ? 1.0 : SMOOTHER) : 1e6;
  if (*found)
    PetscCall(rg_kernel_create(gaussian ? RG_KERNEL_GAUSSIAN : RG_KERNEL_MATERN52, dim, true, scale,
                               1.0, smooth));
  return PetscFree(scale);
}

/* Derivatives of the interpolation at the last contexts, K' K_PP^-1. */
static PetscErrorCode slope_matrix(const RgKernel *smooth, const RgKernelPivots *pivots,
                                   int n_slopes, const double *contexts, RgContextNodes *nodes)
{
  const int r = nodes->n, rows = nodes->slopes;
  double *ones;

  if (rows == 0) return 0;
  PetscCall(PetscMalloc1(n_slopes, &ones));
  for (int l = 0; l < n_slopes; l++) ones[l] = 1.0;
  for (int k = 0; k < r; k++)
    PetscCall(rg_kernel_cross_gradient(smooth, 1, nodes->contexts + (size_t)k * smooth->dim,
                                       n_slopes, contexts, ones, nodes->slope + (size_t)k * rows));
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, r, 1.0,
              pivots->lower, r, nodes->slope, rows);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, rows, r, 1.0,
              pivots->lower, r, nodes->slope, rows);
  return PetscFree(ones);
}

PetscErrorCode rg_context_nodes_create(const RgKernel *kernel, int dim_x, int size,
                                       const double *contexts, int n_slopes, double tolerance,
                                       int most, RgContextNodes *nodes)
{
  const int dim = kernel->dim - dim_x;
  RgKernelPivots pivots;
  RgKernel smooth;
  bool found = false;

  *nodes = (RgContextNodes){.size = size};
  if (most < 1) return 0;
  PetscCall(interpolant(kernel, dim_x, &smooth, &tolerance, &found));
  if (!found) return 0;
  PetscCall(rg_kernel_pivots_create(&smooth, size, contexts, tolerance, most, &pivots));
  if (pivots.rest <= tolerance) {
    const size_t r = (size_t)pivots.rank;
    nodes->n = pivots.rank;
    nodes->slopes = n_slopes * dim;
    PetscCall(PetscMalloc3(r * dim, &nodes->contexts, size * r, &nodes->values, nodes->slopes * r,
                           &nodes->slope));
    for (size_t k = 0; k < r; k++)
      PetscCall(
        PetscArraycpy(nodes->contexts + k * dim, contexts + (size_t)pivots.pivot[k] * dim, dim));
    PetscCall(PetscArraycpy(nodes->values, pivots.F, size * r)); /* F L^-1 */
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, size, nodes->n,
                1.0, pivots.lower, nodes->n, nodes->values, size);
    PetscCall(
      slope_matrix(&smooth, &pivots, n_slopes, contexts + (size_t)(size - n_slopes) * dim, nodes));
  }
  PetscCall(rg_kernel_pivots_destroy(&pivots));
  return rg_kernel_destroy(&smooth);
}

PetscErrorCode rg_context_nodes_destroy(RgContextNodes *nodes)
{
  PetscCall(PetscFree3(nodes->contexts, nodes->values, nodes->slope));
  *nodes = (RgContextNodes){0};
  return 0;
}

void rg_context_nodes_values(const RgContextNodes *nodes, int J, const double *u_node, double *u,
                             double *slope)
{
  const int n = nodes->n, size = nodes->size, slopes = nodes->slopes;

  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, size, J, n, 1.0, nodes->values, size,
              u_node, n, 0.0, u, size);
  if (slopes > 0)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, slopes, J, n, 1.0, nodes->slope, slopes,
                u_node, n, 0.0, slope, slopes);
}

void rg_context_nodes_pull(const RgContextNodes *nodes, int J, const double *u_bar,
                           const double *slope_bar, double *node_bar)
{
  const int n = nodes->n, size = nodes->size, slopes = nodes->slopes;

  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, J, size, 1.0, nodes->values, size, u_bar,
              size, 0.0, node_bar, n);
  if (slopes > 0)
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, J, slopes, 1.0, nodes->slope, slopes,
                slope_bar, slopes, 1.0, node_bar, n);
}
