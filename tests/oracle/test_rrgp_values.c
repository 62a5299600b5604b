/* rrgp_ucb 8: numbers of O0 and O3 to O5 that the other tests of the paper don't ask for. */
#include "test_problem.h"

#include "algorithm/robust.h"
#include "gp/path/sample_path.h"
#include "robust/integral.h"
#include "gp/model/surrogate.h"

/* ---- O0: SplitMix64 -------------------------------------------------------------------------- */

static uint64_t splitmix(uint64_t *state)
{
  uint64_t z = *state += 0x9E3779B97F4A7C15u;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
  return ((double)(splitmix(state) >> 11) + 0.5) * 0x1p-53;
}

/* n normals by Box-Muller, a pair at a time; the last one of an odd n has its other half discarded. */
static void normals(uint64_t *state, int n, double *out)
{
  for (int i = 0; i < n; i += 2) {
    const double radius = sqrt(-2 * log(uniform(state))), angle = 2 * M_PI * uniform(state);
    out[i] = radius * cos(angle);
    if (i + 1 < n) out[i + 1] = radius * sin(angle);
  }
}

/* ---- O4: the Himmelblau composite ------------------------------------------------------------ */

/* On 21 levels, 0.25 apart: fH(3, 2), fH(0, 0), fH(-3.75, 3.75) by x + (w1, w2/2). */
RG_TEST(himmelblau)
{
  const Setting fine[] = {{"levels", "21"}, {NULL, NULL}};
  const double scale = 3281.531;
  Instance instance = instance_make("himmelblau_composite", fine, 1, 0);
  double mean = 0, square = 0;

  RG_CLOSE(f_of_indices(&instance.problem, 20 * 21 + 18, 12 * 21 + 10), 1.83104028754, 1e-11);
  RG_CLOSE(f_of_indices(&instance.problem, 10 * 21 + 10, 10 * 21 + 10), -1.13659595103, 1e-11);
  RG_CLOSE(f_of_indices(&instance.problem, 0 * 21 + 20, 5 * 21 + 20), 0.829326676681, 1e-11);
  instance_free(&instance);
  instance = instance_make("himmelblau_composite", NULL, 1, 0);
  for (int i = 0; i < 225; i++)
    for (int j = 0; j < 225; j++) {
      const double raw = 104.8905 - sqrt(scale) * f_of_indices(&instance.problem, i, j);
      mean += raw / 50625;
      square += raw * raw / 50624;
    }
  RG_CLOSE(mean, 104.890518707, 1e-10);
  RG_CLOSE(square - mean * mean * 50625 / 50624, 3281.53124208, 1e-10);
  instance_free(&instance);
}

/* The second best design of every measure, and the local maxima in which runs are trapped. */
RG_TEST(himmelblau_optima)
{
  static const struct {
    const char *measure;
    int second;
    double value;
  } rows[] = {{"expectation", 177, 1.30099050595},
              {"ptr(0.18)", 178, 0.987062581214},
              {"expectation - 4*mad", 178, -0.139724096624}};
  static const struct {
    double x1, x2, regret;
  } traps[] = {{-2.5, 2.5, 0.327615140195},
               {2.142857143, -1.785714286, 0.262462066061},
               {-2.5, -2.5, 1.73011768384}};

  for (int k = 0; k < 3; k++) {
    const Setting settings[] = {{"measure", rows[k].measure}, {NULL, NULL}};
    RG_OWNED(instance_free)
    Instance instance = instance_make("himmelblau_composite", settings, 1, 0);
    int better = 0;
    RG_CLOSE(objective_of_index(&instance.problem, rows[k].second), rows[k].value, 1e-10);
    for (int i = 0; i < 225; i++)
      better += objective_of_index(&instance.problem, i) > rows[k].value + 1e-9;
    assert_int_equal(better, 1);
    for (int trap = 0; trap < 3 && !k; trap++) {
      const int i = (int)lround((traps[trap].x1 + 2.5) * 14 / 5);
      const int j = (int)lround((traps[trap].x2 + 2.5) * 14 / 5);
      const double here = objective_of_index(&instance.problem, 15 * i + j);
      RG_CLOSE(instance.problem.optimum - here, traps[trap].regret, 1e-10);
      for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
          if (i + di >= 0 && i + di < 15 && j + dj >= 0 && j + dj < 15)
            assert_true(objective_of_index(&instance.problem, 15 * (i + di) + j + dj) <=
                        here + 1e-12);
    }
  }
}

/* ---- O5: the sum of paths -------------------------------------------------------------------- */

enum { SIDE = 7, CUBE = SIDE * SIDE * SIDE };

static int at(int i, int j, int k)
{
  return (i * SIDE + j) * SIDE + k;
}

/* f1 to f4 from seed 12345. */
static void draw_paths(const RgSpace *space, double f[4][CUBE])
{
  const double length_scale = sqrt(1.75 / 2) / 4; /* exp(-r^2/1.75) on [-2, 2] */
  uint64_t seed = 12345;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 3, false, &length_scale, 1.0, &kernel));
  for (int term = 0; term < 4; term++) {
    RgFailure failure = {0};
    double z[CUBE], jitter;
    normals(&seed, CUBE, z);
    RG_OK(rg_sample_path(NULL, space, &kernel, z, f[term], &jitter, &failure));
    assert_false(failure.failed);
  }
}

RG_TEST(sum_of_paths)
{
  static const struct {
    const char *measure;
    int best;
    double value;
  } rows[] = {{"expectation", 8, 4.56786404431},
              {"ptr(2)", 8, 0.968159761523},
              {"expectation - 8*mad", 77, -3.0408760512}};
  RG_OWNED(instance_free) Instance instance = instance_make("gp_path_sum", NULL, 1, 0);
  double f[4][CUBE], least = INFINITY, most = -INFINITY, mean = 0, F[CUBE], *sum;

  draw_paths(&instance.problem.domain.design, f);
  RG_CLOSE(f[0][at(0, 0, 0)], 0.562543518588, 1e-9);
  RG_CLOSE(f[1][at(1, 2, 3)], -0.188115022578, 1e-9);
  RG_CLOSE(f[2][at(6, 6, 6)], -1.58585797486, 1e-9);
  RG_CLOSE(f[3][at(3, 3, 3)], -0.469346857567, 1e-9);
  RG_OK(PetscMalloc1((size_t)CUBE * CUBE, &sum));
  for (int x = 0; x < CUBE; x++)
    for (int w = 0; w < CUBE; w++) {
      const int x1 = x / 49, x2 = x / 7 % 7, x3 = x % 7, w1 = w / 49, w2 = w / 7 % 7, w3 = w % 7;
      const double value =
        f[0][at(x1, x2, x3)] + f[1][at(x2, x3, w1)] + f[2][at(x3, w1, w2)] + f[3][at(w1, w2, w3)];
      sum[(size_t)x * CUBE + w] = value;
      least = fmin(least, value);
      most = fmax(most, value);
      mean += value / CUBE / CUBE;
    }
  RG_CLOSE(sum[(size_t)at(1, 2, 3) * CUBE + at(4, 5, 6)], -1.40913008775, 1e-9);
  RG_CLOSE(least, -6.01231270667, 1e-9);
  RG_CLOSE(mean, 0.757420899149, 1e-9);
  RG_CLOSE(most, 8.84735194316, 1e-9);
  for (int k = 0; k < 3; k++) {
    RG_OWNED(rg_measure_destroy) RgMeasure measure;
    RgText mistake = {0};
    RG_OK(rg_measure_parse(rows[k].measure, &measure, &mistake));
    RG_OK(rg_measure_value(&measure, CUBE, CUBE, sum, instance.problem.domain.context_prob, F));
    RG_CLOSE(F[rows[k].best], rows[k].value, 1e-9);
    for (int x = 0; x < CUBE; x++) assert_true(F[x] <= F[rows[k].best]);
  }
  RG_OK(PetscFree(sum));
}

/* ---- O3, O4, O5: the variance of the average over contexts, and BPT-UCB's terms ----------------- */

/* One instance's prior on the whole grid. */
static void prior_variance(const char *problem, const RgKernel *kernel, double expected)
{
  RG_OWNED(instance_free) Instance instance = instance_make(problem, NULL, 1, 0);
  const RgDomain *domain = &instance.problem.domain;
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *set;
  RG_OWNED(rg_integral_destroy) RgIntegral integral;

  RG_OK(rg_set_posterior_create(domain, kernel, 1e-6, 0, 4, &set));
  RG_OK(rg_integral_create(set, domain->context.size, domain->context_prob, &integral));
  RG_CLOSE(integral.variance[0], expected, 1e-10);
  RG_CLOSE(integral.variance[domain->design.size / 2], expected, 1e-10);
}

RG_TEST(averages)
{
  static const char *const settings[][2] = {
    {"kernel", "gaussian"}, {"ard", "false"}, {"structure", "additive"}};
  const char *const terms[] = {"1 2 3", "2 3 4", "3 4 5", "4 5 6"};
  const char *const variances[] = {"1.25", "0.75", "1", "1"};
  const char *const scales[] = {"0.233853586673371", "0.233853586673371", "0.25",
                                "0.21650635094611"};
  const double two = 0.1, four = 0.447213595499958;
  RgSurrogateOptions options = {0};
  RgDiagnostics diagnostics = {0};
  const RgParam *entry;
  RgKernel kernel;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &two, 1.0, &kernel));
  prior_variance("gp_path_context", &kernel, 0.226508377105);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 4, false, &four, 1.0, &kernel));
  prior_variance("himmelblau_composite", &kernel, 0.704378911017);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_params_defaults(rg_surrogate_params, &options));
  for (int k = 0; k < 3; k++)
    RG_OK(rg_params_set(rg_surrogate_params, &options, settings[k][0], 1, &settings[k][1],
                        (RgPlace){0}, &diagnostics, &entry));
  RG_OK(rg_params_set(rg_surrogate_params, &options, "terms", 4, terms, (RgPlace){0}, &diagnostics,
                      &entry));
  RG_OK(rg_params_set(rg_surrogate_params, &options, "term_variance", 4, variances, (RgPlace){0},
                      &diagnostics, &entry));
  RG_OK(rg_params_set(rg_surrogate_params, &options, "length_scale", 4, scales, (RgPlace){0},
                      &diagnostics, &entry));
  assert_int_equal(diagnostics.n, 0);
  RG_OK(rg_surrogate_kernel(&options, 6, &kernel));
  prior_variance("gp_path_sum", &kernel, 2.26936083797);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_params_clear(rg_surrogate_params, &options));
}

/* Bayesian quadrature and BPT-UCB after the six observations of O3. */
RG_TEST(after_six_observations)
{
  static const int xs[] = {5, 20, 33, 44, 12, 27}, ws[] = {7, 30, 12, 44, 40, 25};
  static const struct {
    int x;
    double above, spread;
  } threshold[] = {{40, 0.419401663097, 0.21439473145}, {39, 0.400027997594, 0.222123034569}};
  const double scale = 0.1;
  RG_OWNED(instance_free) Instance instance = instance_make("gp_path_context", NULL, 1, 0);
  const RgDomain *domain = &instance.problem.domain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *set;
  RG_OWNED(rg_integral_destroy) RgIntegral integral;
  RgFailure failure = {0};
  double best = -INFINITY;

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &scale, 1.0, &kernel));
  RG_OK(rg_set_posterior_create(domain, &kernel, 1e-6, 0, 10, &set));
  RG_OK(rg_integral_create(set, 50, domain->context_prob, &integral));
  for (int i = 0; i < 6; i++) {
    const double x = -5 + 10 * xs[i] / 49.0, w = -5 + 10 * ws[i] / 49.0;
    RG_OK(rg_set_posterior_append(set, xs[i] * 50 + ws[i], sin(1.3 * x) * cos(0.7 * w) + 0.2 * x,
                                  &failure));
  }
  for (int i = 0; i < 50; i++) best = fmax(best, integral.mean[i]);
  RG_CLOSE(best, 0.353207425958, 1e-10);
  RG_CLOSE(integral.mean[44], best, 0);
  RG_CLOSE(sqrt(integral.variance[44]), 0.424843111081, 1e-9);
  for (int k = 0; k < 2; k++) {
    double above = 0, spread = 0;
    for (int j = 0; j < 50; j++) {
      const size_t i = (size_t)threshold[k].x * 50 + j;
      const double z = (set->mean[i] - 0.5) / sqrt(set->variance[i]);
      const double p = 0.5 * erfc(-z * M_SQRT1_2);
      above += p / 50;
      spread += p * (1 - p) / 50;
    }
    RG_CLOSE(above, threshold[k].above, 1e-10);
    RG_CLOSE(spread, threshold[k].spread, 1e-10);
  }
}
