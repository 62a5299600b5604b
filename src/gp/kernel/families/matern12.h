/* matern12: exp(-r), the Ornstein-Uhlenbeck kernel. Its paths have no derivatives, so it has no
   slope. See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
INLINE void matern12_formula(double shape, double r2, double *value, double *slope)
{
  const double s = sqrt(r2);

  *value = rg_exp_nonpositive(-s);
  *slope = s > 0.0 ? -0.5 * *value / s : 0.0;
}
#endif

#ifdef RG_KERNEL_CLASSES
static double matern12_value(double shape, int n, const double *d, const double *length_scale)
{
  return exp(-scaled_distance(n, d, length_scale));
}

static const RgKernelClass matern12_class = {
  .name = "matern12",
  .formula = "exp(-r)",
  .summary = "continuous paths without derivatives",
  .value = matern12_value,
  .columns = 1,
  .spectrum = student_spectrum,
  .degrees = 1,
};
#endif
