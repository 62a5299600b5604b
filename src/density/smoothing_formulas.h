/* Formulas of the smoothing kernels, for loops that a compiler turns into vector instructions.
   Private to density/. */
#ifndef RG_DENSITY_SMOOTHING_FORMULAS_H
#define RG_DENSITY_SMOOTHING_FORMULAS_H

#include <math.h>

#include "density/smoothing.h"
#include "maths/vector_math.h"

/* Psi at |z|^2 = z2. Kernels that are nowhere 0: divided by the value at |z|^2 = nearest2. */
static inline double rg_smoothing_psi(RgSmoothing kernel, double z2, double nearest2)
{
  const double s = 0.5 * (nearest2 - z2), u = z2 < 1.0 ? 1.0 - z2 : 0.0;
  const double z = sqrt(z2 < 1.0 ? z2 : 1.0), v = 1.0 - z * z * z;
  const double r = sqrt(nearest2) - sqrt(z2);

  switch (kernel) {
  case RG_SMOOTHING_GAUSSIAN: return rg_exp_nonpositive(s < -700.0 ? -700.0 : s);
  case RG_SMOOTHING_EPANECHNIKOV: return u;
  case RG_SMOOTHING_UNIFORM: return z2 <= 1.0 ? 1.0 : 0.0;
  case RG_SMOOTHING_TRIANGULAR: return 1.0 - z;
  case RG_SMOOTHING_BIWEIGHT: return u * u;
  case RG_SMOOTHING_TRIWEIGHT: return u * u * u;
  case RG_SMOOTHING_TRICUBE: return v * v * v;
  case RG_SMOOTHING_COSINE: return z < 1.0 ? rg_cos_turn(0.25 * z) : 0.0;
  case RG_SMOOTHING_EXPONENTIAL:
  case RG_SMOOTHING_LAPLACIAN: return rg_exp_nonpositive(r < -700.0 ? -700.0 : r);
  }
  return 0.0;
}

/* -Psi'(|z|)/|z| as a function of z2 = |z|^2 and psi = Psi(z), in the units of psi for kernels that
   are nowhere 0. 0 at z = 0 where Psi has a kink (triangular, exponential). */
static inline double rg_smoothing_slope(RgSmoothing kernel, double z2, double psi)
{
  const double u = 1.0 - z2, z = sqrt(z2), v = 1.0 - z * z2;

  if (kernel == RG_SMOOTHING_GAUSSIAN) return psi;
  if (kernel == RG_SMOOTHING_EXPONENTIAL) return z > 0.0 ? psi / z : 0.0;
  if (!(z2 < 1.0)) return 0.0;
  switch (kernel) {
  case RG_SMOOTHING_EPANECHNIKOV: return 2.0;
  case RG_SMOOTHING_TRIANGULAR: return z > 0.0 ? 1.0 / z : 0.0;
  case RG_SMOOTHING_BIWEIGHT: return 4.0 * u;
  case RG_SMOOTHING_TRIWEIGHT: return 6.0 * u * u;
  case RG_SMOOTHING_TRICUBE: return 9.0 * z * v * v;
  case RG_SMOOTHING_COSINE: return z > 0.0 ? M_PI_2 * rg_sin_turn(0.25 * z) / z : M_PI_2 * M_PI_2;
  case RG_SMOOTHING_GAUSSIAN:
  case RG_SMOOTHING_EXPONENTIAL:
  case RG_SMOOTHING_LAPLACIAN:
  case RG_SMOOTHING_UNIFORM: break;
  }
  return 0.0;
}

#endif
