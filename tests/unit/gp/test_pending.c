/* Pending points: while they are there, they count as data; after they are removed, the posterior
   has the bits that it would have without them. */
#include "gp_support.h"

#include "gp/path/set_path.h"

enum { DIM = SUPPORT_DIM, DATA = 60, QUERIES = 11, STEPS = 12, POINTS = 240 };

static double X[(DATA + 8) * DIM], y[DATA + 8], Z[QUERIES * DIM];

/* The predictions of a posterior at QUERIES points, or on its set. */
typedef struct {
  double mean[POINTS], variance[POINTS], gradient[QUERIES * DIM], log_likelihood;
} Answers;

static void ask(RgPosterior *posterior, Answers *answers)
{
  const double *means = rg_posterior_means(posterior);
  RgPrediction work = {0};
  double bars[2 * QUERIES];

  memset(answers, 0, sizeof *answers);
  if (means) {
    memcpy(answers->mean, means, POINTS * sizeof(double));
    memcpy(answers->variance, rg_posterior_variances(posterior), POINTS * sizeof(double));
    return;
  }
  for (int j = 0; j < 2 * QUERIES; j++) bars[j] = sin(2.0 + j);
  RG_OK(rg_posterior_predict(posterior, QUERIES, Z, answers->mean, answers->variance, &work));
  RG_OK(
    rg_posterior_gradient(posterior, QUERIES, Z, bars, bars + QUERIES, &work, answers->gradient));
  answers->log_likelihood = support_log_likelihood(posterior);
  RG_OK(rg_prediction_destroy(&work));
}

/* Point i of the data, by its number on a set. */
static RgObservations observations(int first, int n)
{
  static int index[DATA + 8];

  for (int i = 0; i < DATA + 8; i++) index[i] = i * 7 % POINTS;
  return (RgObservations){n, X + first * DIM, index + first, y + first};
}

/* The points in flight: the last ones of the arrays, some of which repeat data. */
static void pend(RgPosterior *posterior, int step, Answers *during)
{
  const RgObservations more = observations(DATA, 3 + step % 3), again = observations(step, 2);
  RG_NO_FAILURE(failure);

  RG_OK(rg_posterior_append_pending(posterior, &more, &failure));
  ask(posterior, during);
  RG_OK(rg_posterior_append_pending(posterior, &again, &failure));
  if (step % 2) ask(posterior, during);
}

/* Grow by 1 to 5 data per step; pending points come and go in between. New outputs once. */
static void grow(RgPosterior *posterior, bool pending, Answers *answers)
{
  Answers during;
  RG_NO_FAILURE(failure);

  for (int step = 0, n = 0; step < STEPS; step++) {
    const RgObservations data = observations(n, 1 + step % 5);
    RG_OK(rg_posterior_extend(posterior, &data, &failure));
    n += data.n;
    if (step == 7 && rg_posterior_takes_outputs(posterior))
      RG_OK(rg_posterior_set_outputs(posterior, 0.1, y));
    if (pending && step % 4 != 2) pend(posterior, step, &during);
    if (pending && step % 4 == 1) RG_OK(rg_posterior_remove_pending(posterior));
    if (step % 3 == 0) {
      RG_OK(rg_posterior_remove_pending(posterior));
      ask(posterior, &answers[step]);
    }
  }
  RG_OK(rg_posterior_remove_pending(posterior));
  ask(posterior, &answers[STEPS - 1]);
}

/* *make creates the posterior; it is destroyed here. */
static void check_trace(void (*make)(const RgKernel *kernel, RgPosterior *posterior),
                        const RgKernel *kernel)
{
  static Answers answers[2][STEPS];

  memset(answers, 0, sizeof answers);
  for (int k = 0; k < 2; k++) {
    RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
    make(kernel, &posterior);
    grow(&posterior, k == 1, answers[k]);
  }
  assert_memory_equal(answers[0], answers[1], sizeof answers[0]);
}

/* While they are there, they act as data. loose: tolerance of the variance, an estimate from above
   in the iterative posterior. */
static void check_effect(void (*make)(const RgKernel *kernel, RgPosterior *posterior),
                         const RgKernel *kernel, double tolerance, double loose)
{
  const RgObservations data = observations(0, 20), more = observations(20, 4);
  Answers told, during, data_instead;
  RG_OWNED(rg_posterior_destroy) RgPosterior one, other;
  RG_NO_FAILURE(failure);

  make(kernel, &one);
  make(kernel, &other);
  RG_OK(rg_posterior_extend(&one, &data, &failure));
  RG_OK(rg_posterior_extend(&other, &data, &failure));
  ask(&one, &told);
  RG_OK(rg_posterior_append_pending(&one, &more, &failure));
  RG_OK(rg_posterior_extend(&other, &more, &failure));
  ask(&one, &during);
  ask(&other, &data_instead);
  double change = 0;
  for (int i = 0; i < QUERIES; i++) {
    RG_CLOSE(during.mean[i], data_instead.mean[i], tolerance);
    RG_CLOSE(during.variance[i], data_instead.variance[i], loose);
    change = fmax(change, fabs(during.variance[i] - told.variance[i]));
  }
  assert_true(change > 1e-4);
}

static void fill(void)
{
  support_points(1, DATA + 8, DIM, X);
  support_points(2, QUERIES, DIM, Z);
  support_normals(3, DATA + 8, y);
}

/* ---- exact --------------------------------------------------------------------------------- */

static void make_exact(const RgKernel *kernel, RgPosterior *posterior)
{
  RG_OK(rg_posterior_create(kernel, 0.01, 0.2, DATA + 8, posterior));
}

/* Without noise repeated points add nothing. */
static void make_noiseless(const RgKernel *kernel, RgPosterior *posterior)
{
  RG_OK(rg_posterior_create(kernel, 0, 0.2, DATA + 8, posterior));
}

RG_TEST(exact_posterior_forgets_pending_points)
{
  fill();
  for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;
    support_kernel(RG_KERNEL_MATERN52, variant, &kernel);
    check_trace(make_exact, &kernel);
    check_trace(make_noiseless, &kernel);
    check_effect(make_exact, &kernel, 1e-12, 1e-12);
  }
}

/* A repeated point without noise is left out, and the points after it are not. */
RG_TEST(known_points_are_left_out)
{
  const double value[] = {9, 0.3};
  double points[2 * DIM], mean[2];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_NO_FAILURE(failure);

  fill();
  support_kernel(RG_KERNEL_MATERN52, 0, &kernel);
  make_noiseless(&kernel, &posterior);
  const RgObservations data = observations(0, 10);
  RG_OK(rg_posterior_extend(&posterior, &data, &failure));
  memcpy(points, X + 3 * DIM, DIM * sizeof(double));
  memcpy(points + DIM, X + 30 * DIM, DIM * sizeof(double));
  RG_OK(
    rg_posterior_append_pending(&posterior, &(RgObservations){2, points, NULL, value}, &failure));
  assert_int_equal(posterior.n, 11);
  assert_true(posterior.jitter == 0);
  support_predict(&posterior, 2, points, mean, NULL);
  RG_CLOSE(mean[0], y[3], 1e-9);
  RG_CLOSE(mean[1], 0.3, 1e-9);
  RG_OK(rg_posterior_remove_pending(&posterior));
  assert_int_equal(posterior.n, 10);
}

/* ---- sets ---------------------------------------------------------------------------------- */

static RgDomain domain;

static void make_domain(bool grid)
{
  const double zero[DIM] = {0}, one[] = {1, 1, 1, 1};
  const int levels[] = {4, 5, 3, 4};
  double axes[16], points[POINTS * DIM];

  memset(&domain, 0, sizeof domain);
  for (int j = 0, k = 0; j < DIM; j++)
    for (int l = 0; l < levels[j]; l++) axes[k++] = (l + 0.5) / levels[j];
  support_points(9, POINTS, DIM, points);
  if (grid) RG_OK(rg_space_grid(&domain.design, DIM, levels, axes, zero, one));
  else RG_OK(rg_space_set(&domain.design, DIM, POINTS, points, zero, one));
  assert_int_equal(domain.design.size, POINTS);
}

static void make_set(const RgKernel *kernel, RgPosterior *posterior)
{
  RG_OK(rg_posterior_create_on_set(&domain, kernel, 0.01, 0.2, 4, posterior));
}

RG_TEST(set_posterior_forgets_pending_points)
{
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  fill();
  make_domain(false);
  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  check_trace(make_set, &kernel);
  check_effect(make_set, &kernel, 1e-15, 1e-15);
  RG_OK(rg_domain_destroy(&domain));
}

/* All three representations, with the paths that follow them. */
static void trace_of_method(RgSetMethod method, const RgKernel *kernel, bool pending, double *out)
{
  const RgStream stream = rg_stream(1, "gp", 0, "paths", 0);
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *set;
  RG_OWNED(rg_set_samples_destroy) RgSetSamples samples;
  RG_NO_FAILURE(failure);

  RG_OK(rg_set_posterior_create_with(method, &domain, kernel, 0.01, 0.2, 3, &set));
  RG_OK(rg_set_samples_create(set, 2, &stream, &samples));
  for (int n = 0; n < 40; n++) {
    RG_OK(rg_set_posterior_append(set, n * 7 % POINTS, y[n], &failure));
    if (!pending || n % 3 == 0) continue;
    RG_OK(rg_set_posterior_keep(set));
    for (int i = 0; i < 5; i++)
      RG_OK(rg_set_posterior_append(set, (n + 11 * i) % POINTS, -3, &failure));
    RG_OK(rg_set_posterior_restore(set));
  }
  assert_int_equal(set->n, 40);
  memcpy(out, set->mean, POINTS * sizeof *out);
  memcpy(out + POINTS, set->variance, POINTS * sizeof *out);
  memcpy(out + 2 * POINTS, samples.path, 2 * POINTS * sizeof *out);
}

RG_TEST(every_representation_of_a_set_forgets)
{
  const struct {
    RgSetMethod method;
    int variant;
  } cases[] = {{RG_SET_ROWS, 1}, {RG_SET_PRODUCT, 1}, {RG_SET_ADDITIVE, 3}};
  static double out[2][4 * POINTS];

  fill();
  make_domain(true);
  for (int c = 0; c < 3; c++) {
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;
    support_kernel(RG_KERNEL_GAUSSIAN, cases[c].variant, &kernel);
    for (int k = 0; k < 2; k++) trace_of_method(cases[c].method, &kernel, k == 1, out[k]);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
  }
  RG_OK(rg_domain_destroy(&domain));
}

/* ---- iterative ----------------------------------------------------------------------------- */

static const RgSolverOptions solver = {1e-8, 12, 200};

static void make_iterative(const RgKernel *kernel, RgPosterior *posterior)
{
  RG_OK(rg_posterior_create_iterative(NULL, NULL, &solver, kernel, 0.05, 0.2, DATA + 8, posterior));
}

static void make_iterative_set(const RgKernel *kernel, RgPosterior *posterior)
{
  RG_OK(rg_posterior_create_iterative(NULL, &domain.design, &solver, kernel, 0.05, 0.2, DATA + 8,
                                      posterior));
}

RG_TEST(iterative_posterior_forgets_pending_points)
{
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  fill();
  make_domain(false);
  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  check_trace(make_iterative, &kernel);
  check_trace(make_iterative_set, &kernel);
  check_effect(make_iterative, &kernel, 1e-6, 0.05);
  RG_OK(rg_domain_destroy(&domain));
}

/* More data than the projection has room for, one at a time. */
static void long_trace(const RgKernel *kernel, bool pending, Answers *answers)
{
  enum { LONG = 240 };
  static double points[LONG * DIM], outputs[LONG];
  const RgObservations more = observations(0, 5);
  Answers during;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_NO_FAILURE(failure);

  support_points(4, LONG, DIM, points);
  support_normals(5, LONG, outputs);
  make_iterative(kernel, &posterior);
  for (int n = 0; n < LONG; n += n < 100 ? 100 : 1) {
    const RgObservations data = {n < 100 ? 100 : 1, points + n * DIM, NULL, outputs + n};
    RG_OK(rg_posterior_extend(&posterior, &data, &failure));
    if (n % 9 != 1 && n < 220) continue;
    if (pending) {
      RG_OK(rg_posterior_append_pending(&posterior, &more, &failure));
      ask(&posterior, &during);
      RG_OK(rg_posterior_remove_pending(&posterior));
    }
    if (n % 5 == 0) ask(&posterior, answers);
  }
  ask(&posterior, answers);
}

RG_TEST(iterative_posterior_forgets_when_it_rebuilds)
{
  static Answers answers[2];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;

  fill();
  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  for (int k = 0; k < 2; k++) long_trace(&kernel, k == 1, &answers[k]);
  assert_memory_equal(&answers[0], &answers[1], sizeof answers[0]);
}
