/* spherical_linear: a random linear function on a sphere, onto which the box is projected. Source:
   arXiv:2512.00170 as the authors released it; kernel_sphere.c has the projection.
   See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
/* r is the distance of two points of the sphere of radius sqrt(b): 1 - b + P'P = 1 - r^2/2. */
INLINE void spherical_linear_formula(double shape, double r2, double *value, double *slope)
{
  *value = 1.0 - 0.5 * r2;
  *slope = -0.5;
}
#endif

#ifdef RG_KERNEL_CLASSES
static double spherical_linear_value(double shape, int n, const double *d,
                                     const double *length_scale)
{
  const double r = scaled_distance(n, d, length_scale);

  return 1.0 - 0.5 * r * r;
}

static const RgKernelClass spherical_linear_class = {
  .name = "spherical_linear",
  .formula = "(1 - b + b P(u)'P(u'))",
  .summary = "linear functions on a sphere, for many inputs; the rest is noise, always learned",
  .value = spherical_linear_value,
};
#endif
