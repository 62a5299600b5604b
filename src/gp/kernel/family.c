/* The families of gp/kernel/list.h as a table, and what their files share: distances, and draws
   from the spectra of scale mixtures of Gaussian kernels. */
#include "gp/kernel/family.h"

#include <math.h>

#include "maths/vector.h"

#define TWO_PI 6.283185307179586476925287

/* |d / length_scale| */
static double scaled_distance(int n, const double *d, const double *length_scale)
{
  double sum = 0;

  for (int k = 0; k < n; k++) sum += pow(d[k] / length_scale[k], 2);
  return sqrt(sum);
}

/* turns_km = z_km stretch_m / length_scale_k, z standard normal: the spectrum of a mixture of
   Gaussian kernels whose inverse length scales have the factor 2 pi stretch_m. */
static void mixture_spectrum(const RgKernelFactor *factor, int n, RgRandom *random,
                             const double *stretch, double *turns)
{
  for (int k = 0; k < factor->n_inputs; k++, turns += n) {
    const double inverse = rg_kernel_inverse_scale(factor, k);

    rg_vector_normals(random, (size_t)n, turns);
    for (int m = 0; m < n; m++) turns[m] = turns[m] * stretch[m] * inverse;
  }
}

/* Student t with the degrees of freedom of the factor's family. */
static void student_spectrum(const RgKernelFactor *factor, int n, RgRandom *random, double *turns,
                             double *work)
{
  const int freedom = rg_kernel_classes[factor->family]->degrees;
  double *stretch = work, *z = work + n;

  for (int m = 0; m < n; m++) stretch[m] = 0.0;
  for (int f = 0; f < freedom; f++) {
    rg_vector_normals(random, (size_t)n, z);
    for (int m = 0; m < n; m++) stretch[m] += z[m] * z[m];
  }
  for (int m = 0; m < n; m++) stretch[m] = sqrt(freedom / stretch[m]) / TWO_PI;
  mixture_spectrum(factor, n, random, stretch, turns);
}

#define RG_KERNEL_CLASSES
#include "regatta_kernels.h" /* made by the build: the file of every family on the list */
#undef RG_KERNEL_CLASSES

const RgKernelClass *const rg_kernel_classes[RG_KERNEL_FAMILIES] = {
#define RG_KERNEL(name, NAME) [RG_KERNEL_##NAME] = &name##_class,
#include "gp/kernel/list.h"
#undef RG_KERNEL
};

const char *const rg_kernel_family_names[] = {
#define RG_KERNEL(name, NAME) #name,
#include "gp/kernel/list.h"
#undef RG_KERNEL
  NULL};

double rg_kernel_family_slope(const RgKernelClass *class, double shape)
{
  double u[RG_KERNEL_COLUMNS_MAX], du[RG_KERNEL_COLUMNS_MAX], square = 0;

  if (!class->warp) return class->slope;
  class->warp(shape, 0, u, du);
  for (int i = 0; i < class->columns; i++) square += du[i] * du[i];
  return class->slope * sqrt(square);
}

const RgKernelClass *rg_kernel_without_slope(const RgKernel *kernel)
{
  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelClass *class = rg_kernel_classes[kernel->terms[t].factors[f].family];
      if (!(class->slope > 0)) return class;
    }
  return NULL;
}

const RgKernelClass *rg_kernel_without_spectrum(const RgKernel *kernel)
{
  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelClass *class = rg_kernel_classes[kernel->terms[t].factors[f].family];
      if (!class->spectrum) return class;
    }
  return NULL;
}
