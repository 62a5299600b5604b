/* Families whose inputs enter together, as a point of a sphere (arXiv:2512.00170, as the authors
   released it). With length scales l and M = sum_k 1/(2 l_k)^2, the inputs u_k = (x_k - 1/2)/(l_k
   sqrt(a M)) of a corner of the box have the square |u|^2 = 1/a. The inverse stereographic
   projection

     P(u) = (2 u, |u|^2 - 1)/(1 + |u|^2)

   takes them to the unit sphere. Columns are sqrt(b) P, one more than inputs. The odds a/(1-a) and
   b/(1-b) are hyperparameters. */
#include "gp/kernel/kernel_internal.h"

#include <math.h>

static double share(double odds)
{
  return odds / (1 + odds);
}

/* M */
static double squares(const RgKernelFactor *factor)
{
  double sum = 0;

  for (int k = 0; k < factor->n_inputs; k++)
    sum += pow(0.5 * rg_kernel_inverse_scale(factor, k), 2);
  return sum;
}

/* The factor's part of the point x (inputs of the kernel): u_k. */
static double scaled(const RgKernel *kernel, const RgKernelFactor *factor, int k, double stretch,
                     const double *x)
{
  const int input = factor->inputs[k];

  return (rg_kernel_input(kernel, input, x[input]) - 0.5) * rg_kernel_inverse_scale(factor, k) *
         stretch;
}

double rg_kernel_sphere_stretch(const RgKernelFactor *factor)
{
  return 1 / sqrt(share(factor->odds[0]) * squares(factor));
}

void rg_kernel_sphere_project(const RgKernel *kernel, const RgKernelFactor *factor, double stretch,
                              const double *x, size_t stride, double *out)
{
  const double root = sqrt(share(factor->odds[1]));
  const size_t n = (size_t)factor->n_inputs;
  double square = 0;

  for (size_t k = 0; k < n; k++) {
    const double u = scaled(kernel, factor, (int)k, stretch, x);
    out[k * stride] = u;
    square += u * u;
  }
  for (size_t k = 0; k < n; k++) out[k * stride] *= 2 * root / (1 + square);
  out[n * stride] = root * (square - 1) / (1 + square);
}

/* d F/du_k from g[c * stride], half of d F by column c. */
static void by_inputs(const RgKernel *kernel, const RgKernelFactor *factor, double stretch,
                      const double *x, const double *g, size_t stride, double *out)
{
  const double root = sqrt(share(factor->odds[1]));
  const int n = factor->n_inputs;
  double square = 0, rest = g[n * stride];

  for (int k = 0; k < n; k++) {
    const double u = scaled(kernel, factor, k, stretch, x);
    square += u * u;
    rest -= g[k * stride] * u;
  }
  const double fall = 1 / (1 + square);
  for (int k = 0; k < n; k++) {
    const double u = scaled(kernel, factor, k, stretch, x);
    out[k] = 4 * root * fall * (g[k * stride] + 2 * fall * u * rest);
  }
}

PetscErrorCode rg_kernel_sphere_unproject(const RgKernel *kernel, const RgKernelFactor *factor,
                                          int m, const double *Z, const double *g, size_t stride,
                                          double *G)
{
  const double stretch = rg_kernel_sphere_stretch(factor);
  const size_t dim = (size_t)kernel->dim;
  double *slope;

  PetscCall(PetscMalloc1(factor->n_inputs, &slope));
  for (int j = 0; j < m; j++, Z += dim, G += dim) {
    by_inputs(kernel, factor, stretch, Z, g + j, stride, slope);
    for (int k = 0; k < factor->n_inputs; k++)
      G[factor->inputs[k]] += slope[k] * rg_kernel_inverse_scale(factor, k) * stretch;
  }
  return PetscFree(slope);
}

/* d log u_k/d log l_m = w_m - [k = m], w_m the share of input m in M; d log u_k/d log a = -1/2. */
PetscErrorCode rg_kernel_sphere_theta(const RgKernel *kernel, int m, const double *Z,
                                      const double *g, int width, double *theta)
{
  for (int t = 0; t < kernel->n_terms; t++, theta++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      const int n = factor->n_inputs;
      if (rg_kernel_on_sphere(factor)) {
        const double stretch = rg_kernel_sphere_stretch(factor), all = squares(factor);
        double *slope, *own, sum = 0;
        PetscCall(PetscMalloc2(n, &slope, n, &own));
        for (int k = 0; k < n; k++) own[k] = 0;
        for (int j = 0; j < m; j++) {
          const double *z = Z + (size_t)j * (size_t)kernel->dim;
          by_inputs(kernel, factor, stretch, z, g + j, (size_t)width, slope);
          for (int k = 0; k < n; k++) own[k] += slope[k] * scaled(kernel, factor, k, stretch, z);
        }
        for (int k = 0; k < n; k++) sum += own[k];
        for (int k = 0; k < n && factor->n_scales > 1; k++)
          theta[k] += pow(0.5 * rg_kernel_inverse_scale(factor, k), 2) / all * sum - own[k];
        theta[factor->n_scales] -= 0.5 * (1 - share(factor->odds[0])) * sum;
        PetscCall(PetscFree2(slope, own));
      }
      g += rg_kernel_factor_columns(factor) * width;
      theta += factor->n_scales + rg_kernel_n_odds(factor);
    }
  return 0;
}

double rg_kernel_sphere_fall(const RgKernelFactor *factor)
{
  return 1 - share(factor->odds[1]);
}
