/* rational_quadratic: (1 + r^2/(2 alpha))^-alpha, the mixture of Gaussian kernels whose squared
   inverse length scales have the Gamma law of shape and rate alpha (Rasmussen and Williams 2006,
   section 4.2); alpha is the parameter `shape`. See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
/* exp(-alpha log(1 + t)), corrected for the rounding of 1 + t. */
INLINE void rational_quadratic_formula(double shape, double r2, double *value, double *slope)
{
  const double t = r2 * (0.5 / shape), u = 1.0 + t;
  const double logarithm = rg_log_positive(u) + (t - (u - 1.0)) / u;

  *value = rg_exp_nonpositive(-shape * logarithm);
  *slope = -0.5 * *value / u;
}
#endif

#ifdef RG_KERNEL_CLASSES
static double rational_quadratic_value(double shape, int n, const double *d,
                                       const double *length_scale)
{
  const double r = scaled_distance(n, d, length_scale);

  return pow(1.0 + r * r / (2.0 * shape), -shape);
}

static void rational_quadratic_spectrum(const RgKernelFactor *factor, int n, RgRandom *random,
                                        double *turns, double *work)
{
  for (int m = 0; m < n; m++)
    work[m] = sqrt(rg_random_gamma(random, factor->shape, 1.0 / factor->shape)) / TWO_PI;
  mixture_spectrum(factor, n, random, work, turns);
}

static const RgKernelClass rational_quadratic_class = {
  .name = "rational_quadratic",
  .formula = "(1 + r^2/(2 alpha))^-alpha",
  .summary = "analytic paths on many length scales at once",
  .symbol = "alpha; large ones give the Gaussian kernel",
  .default_shape = 1,
  .value = rational_quadratic_value,
  .columns = 1,
  .slope = 1,
  .spectrum = rational_quadratic_spectrum,
};
#endif
