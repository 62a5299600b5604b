/* gaussian: exp(-r^2/2), the limit of Matern kernels of ever smoother paths. It alone is both
   isotropic and a product over inputs. See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
INLINE void gaussian_formula(double shape, double r2, double *value, double *slope)
{
  *value = rg_exp_nonpositive(-0.5 * r2);
  *slope = -0.5 * *value;
}
#endif

#ifdef RG_KERNEL_CLASSES
static double gaussian_value(double shape, int n, const double *d, const double *length_scale)
{
  const double r = scaled_distance(n, d, length_scale);

  return exp(-r * r / 2.0);
}

static void gaussian_spectrum(const RgKernelFactor *factor, int n, RgRandom *random, double *turns,
                              double *work)
{
  for (int m = 0; m < n; m++) work[m] = 1.0 / TWO_PI;
  mixture_spectrum(factor, n, random, work, turns);
}

static const RgKernelClass gaussian_class = {
  .name = "gaussian",
  .formula = "exp(-r^2/2)",
  .summary = "analytic paths",
  .separable = true,
  .value = gaussian_value,
  .columns = 1,
  .slope = 1,
  .spectrum = gaussian_spectrum,
};
#endif
