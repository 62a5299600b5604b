/* matern32: (1 + s) exp(-s), s = sqrt(3) r. See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
INLINE void matern32_formula(double shape, double r2, double *value, double *slope)
{
  const double s = sqrt(3.0 * r2), e = rg_exp_nonpositive(-s);

  *value = e * (1.0 + s);
  *slope = -1.5 * e;
}
#endif

#ifdef RG_KERNEL_CLASSES
static double matern32_value(double shape, int n, const double *d, const double *length_scale)
{
  const double s = sqrt(3.0) * scaled_distance(n, d, length_scale);

  return (1.0 + s) * exp(-s);
}

static const RgKernelClass matern32_class = {
  .name = "matern32",
  .formula = "(1 + s) exp(-s), s = sqrt(3) r",
  .summary = "paths with one derivative",
  .value = matern32_value,
  .columns = 1,
  .slope = 1.7320508075688772, /* sqrt(3) */
  .spectrum = student_spectrum,
  .degrees = 3,
};
#endif
