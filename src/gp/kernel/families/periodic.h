/* periodic: exp(-2 sum_k sin^2(pi d_k/p)/length_scale_k^2), d = x - x' (MacKay 1998); the period
   p is the parameter `shape`. It is the Gaussian kernel of inputs wound onto circles: each input
   becomes a cosine and a sine. See gp/kernel/family.h. */
#ifdef RG_KERNEL_FORMULAS
INLINE void periodic_formula(double shape, double r2, double *value, double *slope)
{
  *value = rg_exp_nonpositive(-0.5 * r2);
  *slope = -0.5 * *value;
}
#endif

#ifdef RG_KERNEL_CLASSES
static double periodic_value(double shape, int n, const double *d, const double *length_scale)
{
  double sum = 0;

  for (int k = 0; k < n; k++) sum += pow(sin(TWO_PI / 2 * d[k] / shape) / length_scale[k], 2);
  return exp(-2 * sum);
}

static void periodic_warp(double shape, double x, double *u, double *du)
{
  const double turn = TWO_PI / shape;

  u[0] = cos(turn * x);
  u[1] = sin(turn * x);
  if (!du) return;
  du[0] = -turn * u[1];
  du[1] = turn * u[0];
}

/* Draws by inversion, at most 500 at a time, so that the exponential is not subnormal. */
static double poisson(RgRandom *random, double mean)
{
  double count = 0;

  for (; mean > 0; mean -= 500) {
    const double part = fmin(mean, 500);
    double p = exp(-part), u = rg_random_uniform(random);
    for (double k = 1; u > p && p > 1e-300; k++, count++) {
      u -= p;
      p *= part / k;
    }
  }
  return count;
}

/* k = sum_j exp(-q) I_j(q) cos(2 pi j d/p), q = 1/length_scale^2. So the frequencies are the
   differences of two Poisson numbers of mean q/2. Beyond q = 1e4 rounded normals take their
   place; this changes k by at most 2e-5. */
static void periodic_spectrum(const RgKernelFactor *factor, int n, RgRandom *random, double *turns,
                              double *work)
{
  for (int k = 0; k < factor->n_inputs; k++, turns += n) {
    const double inverse = rg_kernel_inverse_scale(factor, k), half = inverse * inverse / 2;
    for (int m = 0; m < n; m++) {
      turns[m] = half > 5e3 ? rint(inverse * rg_random_normal(random))
                            : poisson(random, half) - poisson(random, half);
      turns[m] /= factor->shape;
    }
  }
}

static const RgKernelClass periodic_class = {
  .name = "periodic",
  .formula = "exp(-2 sum_k sin^2(pi d_k/p)/l_k^2), d = x - x'",
  .summary = "analytic paths of period p in every input",
  .symbol = "period p, in the unit cube",
  .default_shape = 1,
  .separable = true,
  .value = periodic_value,
  .columns = 2,
  .warp = periodic_warp,
  .slope = 1,
  .spectrum = periodic_spectrum,
};
#endif
