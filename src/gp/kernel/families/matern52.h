/* matern52: (1 + s + s^2/3) exp(-s), s = sqrt(5) r. See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
INLINE void matern52_formula(double shape, double r2, double *value, double *slope)
{
  const double q = 5.0 * r2, s = sqrt(q), e = rg_exp_nonpositive(-s);

  *value = e * (1.0 + s + q * (1.0 / 3.0));
  *slope = (-5.0 / 6.0) * e * (1.0 + s);
}
#endif

#ifdef RG_KERNEL_CLASSES
static double matern52_value(double shape, int n, const double *d, const double *length_scale)
{
  const double s = sqrt(5.0) * scaled_distance(n, d, length_scale);

  return (1.0 + s + s * s / 3.0) * exp(-s);
}

static const RgKernelClass matern52_class = {
  .name = "matern52",
  .formula = "(1 + s + s^2/3) exp(-s), s = sqrt(5) r",
  .summary = "paths with two derivatives",
  .value = matern52_value,
  .columns = 1,
  .slope = 1.2909944487358056, /* sqrt(5/3) */
  .spectrum = student_spectrum,
  .degrees = 5,
};
#endif
