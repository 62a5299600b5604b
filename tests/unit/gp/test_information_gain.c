/* Information gain against brute force over all subsets, and its bounds against each other. */
#include "test_main.h"

#include "gp/model/information_gain.h"

enum { N = 9 };

static const double coordinates[N] = {0, 0.04, 0.1, 0.3, 0.33, 0.5, 0.8, 0.86, 1};

static RgDomain line(bool once)
{
  RgDomain domain = {0};

  RG_OK(rg_space_set(&domain.design, 1, N, coordinates, NULL, NULL));
  domain.without_replacement = once;
  return domain;
}

static RgKernel matern(double variance)
{
  RgKernel kernel;

  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, 1, false, &(double){0.4}, variance, &kernel));
  return kernel;
}

/* 1/2 log det(I + K_A/noise) by elimination; A given as counts per point. */
static double gain_of(const RgKernel *kernel, double noise, const int *count)
{
  double x[16], M[256], sum = 0;
  int n = 0;

  for (int i = 0; i < N; i++)
    for (int c = 0; c < count[i]; c++) x[n++] = coordinates[i];
  RG_OK(rg_kernel_cross(kernel, n, x, n, x, M));
  for (int i = 0; i < n * n; i++) M[i] = M[i] / noise + (i % (n + 1) == 0);
  for (int k = 0; k < n; k++) {
    sum += 0.5 * log(M[k * n + k]);
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) M[i * n + j] -= M[i * n + k] * M[k * n + j] / M[k * n + k];
  }
  return sum;
}

/* Largest gain over all ways to choose `left` more points from `first` on. */
static double best_gain(const RgKernel *kernel, double noise, bool once, int first, int left,
                        int *count)
{
  double best = 0;

  if (left == 0) return gain_of(kernel, noise, count);
  for (int i = first; i < N; i++) {
    count[i]++;
    best = fmax(best, best_gain(kernel, noise, once, once ? i + 1 : i, left - 1, count));
    count[i]--;
  }
  return best;
}

RG_TEST(test_between_greedy_and_bounds)
{
  const double noises[] = {1e-4, 0.1, 3};

  for (int once = 0; once < 2; once++)
    for (int k = 0; k < 3; k++) {
      RG_OWNED(rg_domain_destroy) RgDomain domain = line(once);
      RG_OWNED(rg_kernel_destroy) RgKernel kernel = matern(1.7);
      RG_OWNED(rg_information_gain_destroy) RgInformationGain gain;
      int count[N] = {0};
      RG_OK(rg_information_gain_create(&domain, &kernel, noises[k], 5, &gain));
      for (int t = 1; t <= 5; t++) {
        const double truth = best_gain(&kernel, noises[k], once, 0, t, count);
        assert_true(gain.gain[t - 1] <= truth + 1e-10);
        assert_true(gain.gain[t - 1] >= (1 - exp(-1)) * truth);
        if (!(gain.upper[t - 1] >= truth - 1e-10))
          fail_msg("%s bound %.12g of %.12g", rg_gain_bound_names[gain.bound[t - 1]],
                   gain.upper[t - 1], truth);
      }
      for (int t = 0; t < 5; t++) count[gain.index[t]]++;
      RG_CLOSE(gain.gain[4], gain_of(&kernel, noises[k], count), 1e-10);
      for (int i = 0; once && i < N; i++) assert_true(count[i] <= 1);
    }
}

/* All points once: greedy selection and interlacing both give log det of the whole matrix. */
RG_TEST(test_exhausted)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain = line(true);
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = matern(1);
  RG_OWNED(rg_information_gain_destroy) RgInformationGain gain;
  const int count[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

  RG_OK(rg_information_gain_create(&domain, &kernel, 0.01, N, &gain));
  const double all = gain_of(&kernel, 0.01, count);
  RG_CLOSE(gain.gain[N - 1], all, 1e-12);
  RG_CLOSE(gain.upper[N - 1], all, 1e-12);
  assert_int_equal(gain.bound[N - 1], RG_GAIN_INTERLACING);
}

/* Hadamard at the start, then the certificate, and the eigenvalues once points are taken. The
   guarantee of greedy selection is weaker than the certificate from which it is proved. */
RG_TEST(test_which_bound_is_the_least)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain = line(false);
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = matern(1);
  RgInformationGain gain;
  bool seen[4] = {false};

  for (int k = 0; k < 3; k++) {
    const double noise[] = {1e-4, 0.3, 1e-6};
    const int n[] = {N, 60, 60};
    domain.without_replacement = k == 0;
    RG_OK(rg_information_gain_create(&domain, &kernel, noise[k], n[k], &gain));
    for (int t = 0; t < gain.n; t++) seen[gain.bound[t]] = true;
    RG_OK(rg_information_gain_destroy(&gain));
  }
  for (int k = 0; k < 4; k++)
    if (seen[k] == (k == RG_GAIN_SUBMODULAR)) fail_msg("%s: %d", rg_gain_bound_names[k], seen[k]);
}

/* Eigenvalues from the factors of a product grid against those of the dense matrix, with the
   same points as a set. */
RG_TEST(test_product_grid)
{
  static const int levels[] = {3, 4};
  static const double axes[] = {0, 0.4, 1, 0, 0.2, 0.5, 1}, scales[] = {0.3, 0.6};
  RG_OWNED(rg_domain_destroy)
  RgDomain grid = {.without_replacement = true}, set = {.without_replacement = true};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_information_gain_destroy) RgInformationGain a, b;

  RG_OK(rg_space_grid(&grid.design, 2, levels, axes, NULL, NULL));
  RG_OK(rg_space_set(&set.design, 2, 12, grid.design.points, NULL, NULL));
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, scales, 2.5, &kernel));
  RG_OK(rg_information_gain_create(&grid, &kernel, 0.02, 12, &a));
  RG_OK(rg_information_gain_create(&set, &kernel, 0.02, 12, &b));
  for (int t = 0; t < 12; t++) {
    RG_CLOSE(a.gain[t], b.gain[t], 1e-12);
    RG_CLOSE(a.upper[t], b.upper[t], 1e-12);
    assert_int_equal(a.bound[t], b.bound[t]);
  }
  assert_int_equal(a.bound[11], RG_GAIN_INTERLACING);
}

RG_TEST(test_wrong_arguments)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain = line(true);
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = matern(1);
  RgInformationGain gain;

  RG_FAILS(rg_information_gain_create(&domain, &kernel, 0, 1, &gain), PETSC_ERR_ARG_OUTOFRANGE);
  RG_FAILS(rg_information_gain_create(&domain, &kernel, 1, N + 1, &gain), PETSC_ERR_ARG_OUTOFRANGE);
}
