/* matern52: (1 + s + s^2/3) exp(-s), s = sqrt(5) r. See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
INLINE void matern52_formula(double shape, double r2, double *value, double *slope)
{
  const double q = 5.0 * r2, s = sqrt(q), e = rg_exp_nonpositive(-s);

  (void)shape;
  *value = e * (1.0 + s + q * (1.0 / 3.0));
  *slope = (-5.0 / 6.0) * e * (1.0 + s);
}
#endif

#ifdef RG_KERNEL_CLASSES
static double matern52_value(double shape, int n, const double *d, const double *length_scale)
{
  const double s = sqrt(5.0) * scaled_distance(n, d, length_scale);

  (void)shape;
  return (1.0 + s + s * s / 3.0) * exp(-s);
}

static double matern52_slope(double shape)
{
  (void)shape;
  return sqrt(5.0 / 3);
}

static void matern52_spectrum(const RgKernelFactor *factor, int n, RgRandom *random, double *turns,
                              double *work)
{
  student_spectrum(5, factor, n, random, turns, work);
}

static const RgKernelClass matern52_class = {
  .name = "matern52",
  .formula = "(1 + s + s^2/3) exp(-s), s = sqrt(5) r",
  .summary = "paths with two derivatives",
  .value = matern52_value,
  .columns = 1,
  .slope = matern52_slope,
  .spectrum = matern52_spectrum,
};
#endif

RG_KERNEL(matern52, MATERN52)
