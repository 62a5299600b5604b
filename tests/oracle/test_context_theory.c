/* Theory of the SBO-KDE and WDRBO studies: oracles O9, O16 and O17 of sbo_kde, O13 to
   O20 of wdrbo, and the theorems on runs. */
#include "test_main.h"

#include "gp/model/fit.h"
#include "gp/model/information_gain.h"
#include "gp/posterior/posterior.h"
#include "gp/kernel/family.h"
#include "theory/context_bounds.h"
#include "theory/kde_bounds.h"
#include "theory/wasserstein_bounds.h"

static const RgKdeTheory unit = {{1, 1, 1}, 2, 1, 0.01, 1.8};

RG_TEST(density_parameters)
{
  static const double beta[] = {0.45158270528945, 28.082603821218, 55.713624937147};
  static const int t[] = {1, 10, 100};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  for (int k = 0; k < 3; k++) RG_CLOSE(rg_kde_beta(&unit, t[k]), beta[k], 1e-12);
  RG_CLOSE(rg_kde_error_constant(1, 0.10), 1.8245621732181, 1e-12);
  RG_CLOSE(rg_kde_error_constant(1, 0.15), 1.4897487761226, 1e-12);
  RG_CLOSE(rg_kde_error_constant(2, 0.10), 3.4549414947134, 1e-12);
  RG_CLOSE(rg_kde_error_constant(4, 0.15), 5.5353543839015, 1e-12);
  RG_CLOSE(rg_kde_radius(1, 10), 0.3981071705535, 1e-13);
  RG_CLOSE(rg_kde_radius(1, 100), 0.15848931924611, 1e-13);
  RG_CLOSE(rg_kde_radius(2, 100), 0.21544346900319, 1e-13);
  RG_CLOSE(rg_kde_radius(1, 5), 0.52530556088075, 1e-13);
  RG_CLOSE(rg_kde_radius(2, 5), 0.58480354764257, 1e-13);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, 3, true, (const double[]){.5, .25, 1}, 7, &kernel));
  RG_CLOSE(rg_kde_steepness(&kernel), sqrt(2 * 5.0 / 3) / .25, 1e-12);
}

RG_TEST(theorems_1_and_2)
{
  static const double constant[] = {1.7334325226843, 10.369696011483, 28.081606867485,
                                    0.061728395061728, 3.4565653371611};
  double C[5];

  rg_kde_constants(&unit, C);
  for (int k = 0; k < 5; k++) RG_CLOSE(C[k], constant[k], 1e-11);
  RG_CLOSE(rg_kde_bound(&unit, 100, 20, false), 2381.254887782, 1e-8);
  RG_CLOSE(rg_kde_bound(&unit, 100, 20, true), 2594.2575998058, 1e-8);
}

static RgDomain points_of(int n, const double *points)
{
  RgDomain domain = {0};
  const double lower[2] = {0, 0}, upper[2] = {1, 1};

  RG_OK(rg_space_set(&domain.design, 2, n, points, lower, upper));
  return domain;
}

RG_TEST(greedy_gain_of_a_grid)
{
  static const int index[] = {0, 24, 4, 20, 12};
  double points[50];
  RG_OWNED(rg_information_gain_destroy) RgInformationGain gain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  for (int i = 0; i < 25; i++) points[2 * i] = i / 5 / 4.0, points[2 * i + 1] = i % 5 / 4.0;
  RG_OWNED(rg_domain_destroy) RgDomain domain = points_of(25, points);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, 2, true, (const double[]){.3, .4}, 1, &kernel));
  RG_OK(rg_information_gain_create(&domain, &kernel, 0.01, 5, &gain));
  for (int k = 0; k < 5; k++) assert_int_equal(gain.index[k], index[k]);
  RG_CLOSE(gain.gain[4], 11.50576203136, 1e-10);
}

/* With lambda for the noise, log det(I + K/lambda) is twice the gain. */
RG_TEST(greedy_gain_with_repeats)
{
  static const int index[] = {0, 8, 6, 7, 6, 8};
  static const double log_det[] = {0.69314718055995, 1.3827179902227, 2.001963203692,
                                   2.5275830958387,  2.9018865119974, 3.268640488257};
  double points[40];
  RG_OWNED(rg_information_gain_destroy) RgInformationGain gain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  for (int k = 0; k < 20; k++) {
    points[2 * k] = fmod(0.37 * k, 1);
    points[2 * k + 1] = fmod(0.23 * k * k + 0.11 * k, 1);
  }
  RG_OWNED(rg_domain_destroy) RgDomain domain = points_of(20, points);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, (const double[]){.5, .8}, 1, &kernel));
  RG_OK(rg_information_gain_create(&domain, &kernel, 1, 6, &gain));
  for (int k = 0; k < 6; k++) {
    assert_int_equal(gain.index[k], index[k]);
    RG_CLOSE(2 * gain.gain[k], log_det[k], 1e-12);
  }
  assert_true(2 * gain.upper[5] <= 5.1709131155526 + 1e-12 && gain.upper[5] >= gain.gain[5]);
}

/* ---- Wasserstein ----------------------------------------------------------------------------- */

static RgWassersteinTheory ball(double lambda)
{
  return (RgWassersteinTheory){.lambda = lambda,
                               .R = 0.1,
                               .B = 2,
                               .delta = 0.1,
                               .slope = 1,
                               .dim_x = 1,
                               .dim_c = 1,
                               .width_x = 1,
                               .width_c = 1,
                               .kappa = 1};
}

/* log det(I + K_n/lambda), n = 0 .. 4, of the tiny data set; variance[t] = s_{t-1}(z_t)^2. */
static void log_determinants(double lambda, double log_det[5], double variance[4])
{
  static const double Z[] = {.1, .3, .4, .7, .8, .2, .6, .9}, zero[4] = {0};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RgFailure failure = {0};

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, (const double[]){1, 1}, 1, &kernel));
  RG_OK(rg_posterior_create(&kernel, lambda, 0, 4, &posterior));
  log_det[0] = 0;
  for (int n = 0; n < 4; n++) {
    double mean, square = 1;
    if (n > 0) {
      RG_OK(rg_posterior_set(&posterior, NULL, lambda, 0, n, Z, zero, &failure));
      RG_OK(rg_posterior_predict(&posterior, 1, Z + 2 * n, &mean, &square, &work));
    }
    variance[n] = square / lambda;
    log_det[n + 1] = log_det[n] + log1p(variance[n]);
  }
}

RG_TEST(confidence_of_ridge_regression)
{
  static const double expected[] = {0, 0.69314718055995, 1.1697537178399, 1.6137950756547,
                                    1.9658477876884};
  static const double square[] = {1, 0.6105996084643, 0.55899496091347, 0.42198347738409};
  static const double beta[] = {2.2145966026289, 2.2301807413001, 2.240310713532, 2.2493785327899,
                                2.2563399690582};
  RgWassersteinTheory theory = ball(1);
  double log_det[5], variance[4];

  log_determinants(1, log_det, variance);
  for (int n = 0; n < 5; n++) {
    RG_CLOSE(log_det[n], expected[n], 1e-12);
    RG_CLOSE(rg_wasserstein_norm(&theory, log_det[n]), beta[n], 1e-12);
  }
  for (int n = 0; n < 4; n++) RG_CLOSE(variance[n], square[n], 1e-12);
  RG_CLOSE(rg_wasserstein_penalty(&theory, 0.5, beta[4]), 4.5126799381164, 1e-11);
  theory = ball(0.25);
  log_determinants(0.25, log_det, variance);
  RG_CLOSE(log_det[4], 4.1478618583429, 1e-12);
  RG_CLOSE(rg_wasserstein_norm(&theory, log_det[4]), 2.5917104712385, 1e-12);
  RG_CLOSE(sqrt(0.25) * rg_wasserstein_norm(&theory, log_det[4]), 1.2958552356192, 1e-12);
}

RG_TEST(radii)
{
  static const struct {
    int t;
    double covering, radius, remainder;
  } rows[] = {{1, 5.8538252354234, 4.3023302098015, 5},
              {10, 456.68455909503, 9.6128212989294, 0.5},
              {100, 5782.6345360134, 10.761264262171, 0.05}};
  const RgWassersteinTheory theory = ball(1);

  for (int k = 0; k < 3; k++) {
    RG_CLOSE(rg_wasserstein_covering(&theory, rows[k].t, 2), rows[k].covering, 1e-9);
    RG_CLOSE(rg_wasserstein_radius(&theory, rows[k].t, 2), rows[k].radius, 1e-11);
    RG_CLOSE(rg_wasserstein_remainder(&theory, rows[k].t, 2), rows[k].remainder, 1e-13);
  }
}

RG_TEST(theorems_5_and_9)
{
  const RgWassersteinTheory theory = ball(1);
  double log_det[5], variance[4], given = 0, observed = 0;

  log_determinants(1, log_det, variance);
  for (int t = 1; t <= 4; t++) {
    const double norm = rg_wasserstein_norm(&theory, log_det[t - 1]);
    given += rg_wasserstein_penalty(&theory, 0.1, norm);
    observed += rg_wasserstein_penalty(&theory, rg_wasserstein_radius(&theory, t, norm), norm) +
                2 * rg_wasserstein_remainder(&theory, t, norm);
  }
  const double norm = rg_wasserstein_norm(&theory, log_det[3]);
  RG_CLOSE(rg_bound_wdrbo(&theory, 4, log_det[4], norm, 0), 77.070893155401, 1e-10);
  RG_CLOSE(given, 3.5737866361004, 1e-11);
  RG_CLOSE(rg_bound_wdrbo(&theory, 4, log_det[4], norm, given), 80.644679791501, 1e-10);
  RG_CLOSE(observed, 243.31116822394, 1e-9);
  RG_CLOSE(rg_bound_wdrbo(&theory, 4, log_det[4], norm, observed), 320.38206137934, 1e-9);
}

/* The third query of the data of O15 to O17, whose s is that of one context: 2 beta_3 s_2, and the
   parts of Theorems 5 and 9 for this query. */
RG_TEST(theorems_4_and_8)
{
  const RgWassersteinTheory theory = ball(1);
  const double norm = 2.240310713532, deviation = sqrt(0.55899496091347), given = 4 * 0.1 * norm;

  RG_CLOSE(
    rg_bound_wdrbo_query(&theory, deviation, norm, rg_wasserstein_penalty(&theory, 0.1, norm)),
    3.34997987394 + given, 1e-9);
  RG_CLOSE(
    rg_bound_wdrbo_query(&theory, deviation, norm, 2 * rg_wasserstein_remainder(&theory, 3, norm)),
    3.34997987394 + 2 * (1 + 2 * norm) / 3, 1e-9);
  RG_CLOSE(rg_bound_wdrbo_query(&(RgWassersteinTheory){.lambda = 0.25}, 0.5, 3, 0.125), 1.625,
           1e-14);
}

RG_TEST(slopes_of_kernels)
{
  static const struct {
    RgKernelFamily family;
    double slope;
  } rows[] = {{RG_KERNEL_GAUSSIAN, 1},
              {RG_KERNEL_MATERN32, 1.7320508075689},
              {RG_KERNEL_MATERN52, 1.2909944487358}};

  for (int k = 0; k < 3; k++) {
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;
    RG_OK(rg_kernel_create(rows[k].family, 2, true, (const double[]){2, 1}, 4, &kernel));
    RG_CLOSE(rg_kernel_slope(&kernel, 0), 2 * rows[k].slope, 1e-12);
  }
}

/* ---- runs (wdrbo 7.9) ------------------------------------------------------------------------ */

enum { DESIGNS = 31, CONTEXTS = 21, CENTRES = 6, STEPS = 25, RUNS = 20 };

/* f = sum_j a_j k(., z_j) on a grid, as designs x contexts, and its norm. */
static void draw_function(RgRandom *random, const RgKernel *kernel, const double *Z, double *f,
                          double *norm)
{
  double a[CENTRES], z[2 * CENTRES], K[CENTRES * CENTRES], row[CENTRES], square = 0;

  for (int j = 0; j < CENTRES; j++) {
    a[j] = rg_random_normal(random);
    z[2 * j] = rg_random_uniform(random);
    z[2 * j + 1] = rg_random_uniform(random);
  }
  RG_OK(rg_kernel_matrix(kernel, CENTRES, z, K));
  for (int i = 0; i < CENTRES * CENTRES; i++) square += a[i / CENTRES] * a[i % CENTRES] * K[i];
  *norm = sqrt(square);
  for (int i = 0; i < DESIGNS * CONTEXTS; i++) {
    RG_OK(rg_kernel_cross(kernel, 1, Z + 2 * i, CENTRES, z, row));
    f[i] = 0;
    for (int j = 0; j < CENTRES; j++) f[i] += a[j] * row[j];
  }
}

static double average(const double *p, const double *row)
{
  double sum = 0;

  for (int c = 0; c < CONTEXTS; c++) sum += p[c] * row[c];
  return sum;
}

/* Lipschitz constant on the grid of contexts. */
static double steepest(const double *row)
{
  double most = 0;

  for (int c = 1; c < CONTEXTS; c++) most = fmax(most, fabs(row[c] - row[c - 1]));
  return most * (CONTEXTS - 1);
}

typedef struct {
  RgKernel kernel;
  RgPosterior posterior;
  RgPrediction work;
  RgWassersteinTheory theory;
  double Z[2 * DESIGNS * CONTEXTS], f[DESIGNS * CONTEXTS]; /* the grid; values */
  double truth[CONTEXTS], centre[CONTEXTS];                /* P* and the centre, one cell apart */
  double X[2 * STEPS], y[STEPS];
} Run;

static int best_design(const double *value)
{
  int best = 0;

  for (int x = 1; x < DESIGNS; x++)
    if (value[x] > value[best]) best = x;
  return best;
}

/* One step of WDRBO with the theory's beta_t; returns the regret and its bound by Theorem 4. */
static int step(Run *run, int t, double radius, double norm, double *regret, double *bound,
                double *penalty)
{
  static double mean[DESIGNS * CONTEXTS], square[DESIGNS * CONTEXTS], U[DESIGNS * CONTEXTS];
  const double beta = sqrt(run->theory.lambda) * norm;
  double value[DESIGNS], expected[DESIGNS], spread = 0;

  if (t > 1)
    RG_OK(
      rg_posterior_predict(&run->posterior, DESIGNS * CONTEXTS, run->Z, mean, square, &run->work));
  for (int i = 0; i < DESIGNS * CONTEXTS; i++) {
    if (t == 1) mean[i] = 0, square[i] = 1;
    U[i] = mean[i] + beta * sqrt(square[i] / run->theory.lambda);
  }
  for (int x = 0; x < DESIGNS; x++) {
    const double *row = U + x * CONTEXTS;
    value[x] = average(run->centre, row) - radius * steepest(row);
    expected[x] = average(run->truth, run->f + x * CONTEXTS);
  }
  const int chosen = best_design(value), best = best_design(expected);
  for (int c = 0; c < CONTEXTS; c++)
    spread += run->truth[c] * sqrt(square[chosen * CONTEXTS + c] / run->theory.lambda);
  *regret = expected[best] - expected[chosen];
  *penalty = 2 * radius * steepest(U + best * CONTEXTS);
  *bound = 2 * beta * spread + *penalty;
  return chosen;
}

static void start(Run *run, RgRandom *random)
{
  double total = 0;

  for (int i = 0; i < DESIGNS * CONTEXTS; i++) {
    run->Z[2 * i] = i / CONTEXTS / (DESIGNS - 1.0);
    run->Z[2 * i + 1] = i % CONTEXTS / (CONTEXTS - 1.0);
  }
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, (const double[]){.2, .3}, 1, &run->kernel));
  run->theory = ball(1);
  draw_function(random, &run->kernel, run->Z, run->f, &run->theory.B);
  RG_OK(rg_posterior_create(&run->kernel, 1, 0, STEPS, &run->posterior));
  for (int c = 1; c + 1 < CONTEXTS; c++) total += run->truth[c] = exp(-0.5 * pow((c - 9) / 4.0, 2));
  for (int c = 1; c + 1 < CONTEXTS; c++) run->truth[c] /= total;
  for (int c = 0; c + 1 < CONTEXTS; c++) run->centre[c + 1] = run->truth[c];
}

/* Theorem 4 at every step and Theorem 5 with the realised gain at every horizon: they may fail with
   probability 0.1 and 0.2. */
RG_TEST(bounds_hold_on_runs)
{
  const RgStream stream = rg_stream(1, "wdrbo theory", 0, "run", 0);
  const double radius = 1.0 / (CONTEXTS - 1);
  double closest = 0;

  for (int k = 0; k < RUNS; k++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)k);
    RgFailure failure = {0};
    Run run = {0};
    double log_det = 0, sum = 0, penalties = 0;
    start(&run, &random);
    for (int t = 1; t <= STEPS; t++) {
      const double norm = rg_wasserstein_norm(&run.theory, log_det);
      double regret, bound, penalty, square = 1, mean, u = rg_random_uniform(&random);
      int c = 0;
      const int x = step(&run, t, radius, norm, &regret, &bound, &penalty);
      while (c + 1 < CONTEXTS && u > run.truth[c]) u -= run.truth[c++];
      assert_true(regret <= bound);
      closest = fmax(closest, regret / bound);
      sum += regret;
      penalties += penalty;
      const double *z = run.Z + 2 * (x * CONTEXTS + c);
      if (t > 1) RG_OK(rg_posterior_predict(&run.posterior, 1, z, &mean, &square, &run.work));
      log_det += log1p(square);
      assert_true(sum <= rg_bound_wdrbo(&run.theory, t, log_det, norm, penalties));
      run.X[2 * t - 2] = z[0];
      run.X[2 * t - 1] = z[1];
      run.y[t - 1] = run.f[x * CONTEXTS + c] + run.theory.R * rg_random_normal(&random);
      RG_OK(rg_posterior_set(&run.posterior, NULL, 1, 0, t, run.X, run.y, &failure));
    }
    RG_OK(rg_prediction_destroy(&run.work));
    RG_OK(rg_posterior_destroy(&run.posterior));
    RG_OK(rg_kernel_destroy(&run.kernel));
  }
  assert_true(closest > 0.3); /* the bound says something */
}
