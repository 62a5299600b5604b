/* The surrogate: data in pieces or at once, refit schedule, standardisation, noise, kernels from
   options, policies of the fit, failures. */
#include "gp_support.h"

#include "gp/model/model.h"
#include "gp/posterior/set/set_posterior.h"
#include "gp/model/surrogate.h"
#include "gp/model/fit.h"
#include "base/clock.h"

enum { BUDGET = 16 };

/* ---- frame --------------------------------------------------------------------------------- */

typedef struct {
  RgDomain domain;
  RgSurrogateOptions options;
  RgHistory history; /* all data; tests show the model a part of it */
  RgStream stream;
} Frame;

static void set_list(Frame *frame, const char *name, int n, const char *const *values)
{
  RgDiagnostics diagnostics = {0};
  const RgParam *entry;
  RG_OK(rg_params_set(rg_surrogate_params, &frame->options, name, n, values, (RgPlace){0},
                      &diagnostics, &entry));
  if (diagnostics.n) fail_msg("%s: %s", name, diagnostics.list[0].message);
}

/* Pairs of an option and its value; NULL ends them. */
static void set(Frame *frame, ...)
{
  va_list pairs;
  const char *name;
  va_start(pairs, frame);
  while ((name = va_arg(pairs, const char *))) {
    const char *value = va_arg(pairs, const char *);
    set_list(frame, name, 1, &value);
  }
  va_end(pairs);
}

/* The number of mistakes in the options of a model with this many inputs. */
static int mistakes(const Frame *frame, int dim, RgDiagnostics *diagnostics)
{
  diagnostics->n = 0;
  RG_OK(rg_surrogate_check(&frame->options, dim, 0, true, (RgPlace){0}, diagnostics));
  return diagnostics->n;
}

static double objective(const double *x, double c)
{
  return 40.0 + 7.0 * (sin(5.0 * x[0]) + x[1] * x[1] - x[0] * c);
}

/* Two design inputs and one context input, n data; a box, or grids of 6 x 5 and 3 points. */
static Frame frame_of(bool finite, int n)
{
  Frame frame = {0};
  const double zero[2] = {0.0, 0.0}, one[2] = {1.0, 1.0};
  const double axes[11] = {0, .2, .4, .6, .8, 1, 0, .25, .5, .75, 1}, contexts[3] = {0.0, 0.5, 1.0};
  const int levels[2] = {6, 5}, context_levels = 3;
  if (finite) {
    RG_OK(rg_space_grid(&frame.domain.design, 2, levels, axes, zero, one));
    RG_OK(rg_space_grid(&frame.domain.context, 1, &context_levels, contexts, zero, one));
  } else {
    RG_OK(rg_space_box(&frame.domain.design, 2, zero, one));
    RG_OK(rg_space_box(&frame.domain.context, 1, zero, one));
  }
  frame.domain.control = RG_CONTEXT_NATURE;
  RG_OK(rg_params_defaults(rg_surrogate_params, &frame.options));
  RG_OK(rg_history_create(&frame.domain, n, &frame.history));
  frame.history.n_initial = 4;
  frame.stream = rg_stream(1, "test", 0, "model", 5);
  for (int i = 0; i < n; i++) {
    double x[2] = {fmod(0.7548 * (i + 1), 1.0), fmod(0.5698 * (i + 1), 1.0)};
    double c = fmod(0.3141 * (i + 1), 1.0);
    int index = -1, context_index = -1;
    if (finite) {
      index = (7 * i + 3) % 30;
      context_index = (2 * i) % 3;
      memcpy(x, frame.domain.design.points + (size_t)2 * index, sizeof x);
      c = frame.domain.context.points[context_index];
    }
    RG_OK(rg_history_append(&frame.history, x, index, &c, context_index, objective(x, c)));
  }
  return frame;
}

static void frame_destroy(Frame *frame)
{
  RG_OK(rg_history_destroy(&frame->history));
  RG_OK(rg_params_clear(rg_surrogate_params, &frame->options));
  RG_OK(rg_domain_destroy(&frame->domain));
}

static RgModel model_create(const Frame *frame, bool use_context, double noise)
{
  RgModel model;
  RG_OK(rg_model_create(&frame->domain, &frame->options, use_context, noise, 5, &frame->stream,
                        NULL, &model));
  return model;
}

/* Show the model the first n data. */
static RgModelReport show(RgModel *model, const Frame *frame, int n)
{
  RgHistory part = frame->history;
  RG_NO_FAILURE(failure);
  part.n = n;
  RG_OK(rg_model_update(model, &part, &failure));
  return model->report;
}

/* Posterior mean and variance at a few points, or on the whole set. */
static int posterior_of(RgModel *model, double *mean, double *variance)
{
  if (model->posterior.set) {
    int size = model->posterior.set->prior.size;
    memcpy(mean, model->posterior.set->mean, (size_t)size * sizeof(double));
    memcpy(variance, model->posterior.set->variance, (size_t)size * sizeof(double));
    return size;
  }
  enum { M = 7 };
  double Z[3 * M];
  const int dim = model->kernel.dim;
  for (int i = 0; i < M * dim; i++) Z[i] = fmod(0.6180339 * (i + 1), 1.0);
  RG_OK(rg_model_predict(model, M, Z, mean, variance));
  for (int j = 0; j < M; j++) variance[j] *= variance[j];
  return M;
}

static void assert_same_posterior(RgModel *a, RgModel *b, double tolerance)
{
  double mean[2][90], variance[2][90];
  int size = posterior_of(a, mean[0], variance[0]);
  assert_int_equal(posterior_of(b, mean[1], variance[1]), size);
  support_same(size, mean[0], mean[1], tolerance);
  support_same(size, variance[0], variance[1], tolerance);
  RG_CLOSE(a->shift, b->shift, 0.0);
  RG_CLOSE(a->scale, b->scale, 0.0);
  RG_CLOSE(a->noise_variance, b->noise_variance, tolerance);
}

/* ---- data in pieces ------------------------------------------------------------------------ */

/* Data one by one and all data at once give the same model. */
static void check_pieces(Frame *frame, bool use_context, double noise, double tolerance)
{
  RG_OWNED(rg_model_destroy) RgModel pieces = model_create(frame, use_context, noise);
  RG_OWNED(rg_model_destroy) RgModel once = model_create(frame, use_context, noise);
  for (int n = 0; n <= BUDGET; n++) show(&pieces, frame, n);
  show(&once, frame, BUDGET);
  assert_true((pieces.posterior.set != NULL) == rg_space_is_finite(&frame->domain.design));
  assert_same_posterior(&pieces, &once, tolerance);
  assert_int_equal(pieces.kernel.dim, use_context ? 3 : 2);
}

RG_TEST(test_pieces)
{
  for (int finite = 0; finite < 2; finite++)
    for (int use_context = 0; use_context < 2; use_context++) {
      RG_OWNED(frame_destroy) Frame frame = frame_of(finite, BUDGET);
      set(&frame, "fit", "fixed", "standardise", "false", "variance", "50", NULL);
      check_pieces(&frame, use_context, 0.3, 1e-9); /* appended only */
      set(&frame, "variance", "1", "standardise", "true", NULL);
      check_pieces(&frame, use_context, 0.3, 1e-9); /* the noise changes with the scale */
      set(&frame, "noise_units", "model", "mean", "constant", NULL);
      check_pieces(&frame, use_context, 0.01, 1e-9); /* only the outputs change */
      set(&frame, "mean", "zero", "fit", "map", NULL);
      set(&frame, "fit_warm", "false", NULL); /* each fit forgets the ones before */
      set(&frame, "fit_multistart", "always", NULL);
      check_pieces(&frame, use_context, NAN, 1e-9);
    }
}

/* A model with a transformation is the model of the transformed outputs: the same posterior in
   model units, incumbents there, deviations mapped back. */
RG_TEST(test_transform)
{
  const char *const names[] = {"none", "yeo_johnson", "copula"};

  for (int kind = 1; kind < 3; kind++) {
    RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
    RG_OWNED(rg_transform_destroy) RgTransform transform = {0};
    for (int i = 0; i < BUDGET; i++) frame.history.y[i] = -exp(0.4 * frame.history.y[i] - 16);
    set(&frame, "transform", names[kind], NULL);
    RG_OWNED(rg_model_destroy) RgModel with = model_create(&frame, false, 0);
    show(&with, &frame, BUDGET);
    RG_OK(rg_transform_fit(&transform, (RgTransformKind)kind, BUDGET, frame.history.y));
    assert_int_equal(with.transform.kind, kind);
    const double largest = frame.history.y[rg_history_best(&frame.history)];
    for (int i = 0; i < BUDGET; i++)
      frame.history.y[i] = rg_transform_value(&transform, frame.history.y[i]);
    set(&frame, "transform", "none", NULL);
    RG_OWNED(rg_model_destroy) RgModel without = model_create(&frame, false, 0);
    show(&without, &frame, BUDGET);
    assert_same_posterior(&with, &without, 1e-9);
    const double best = frame.history.y[rg_history_best(&frame.history)];
    RG_CLOSE(rg_model_units(&with, largest), (best - without.shift) / without.scale, 1e-12);
    const double low = without.shift + without.scale * (0.3 - 0.2);
    const double high = without.shift + without.scale * (0.3 + 0.2);
    RG_CLOSE(rg_model_native_sd(&with, 0.3, 0.2) / (0.5 * (rg_transform_inverse(&transform, high) -
                                                           rg_transform_inverse(&transform, low))),
             1, 1e-12);
    RG_CLOSE(rg_model_native_sd(&without, 0.3, 0.2), 0.2 * without.scale, 1e-15);
  }
}

/* The posterior on a set equals the posterior on the box at the same points. */
RG_TEST(test_set_is_box)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(true, BUDGET);
  set(&frame, "refit_every", "3", NULL);
  RG_OWNED(rg_model_destroy) RgModel finite = model_create(&frame, true, 0.1), box;
  Frame open = frame;
  open.domain.design.kind = RG_SPACE_BOX; /* same history, other posterior */
  box = model_create(&open, true, 0.1);
  for (int n = 4; n <= BUDGET; n++) {
    show(&finite, &frame, n);
    show(&box, &open, n);
  }
  assert_non_null(finite.posterior.set);
  assert_null(box.posterior.set);
  const double *set_mean = finite.posterior.set->mean;
  const double *set_variance = finite.posterior.set->variance;
  for (int i = 0; i < 30; i++)
    for (int c = 0; c < 3; c++) {
      double z[3], mean, sd;
      memcpy(z, frame.domain.design.points + (size_t)2 * i, 2 * sizeof *z);
      z[2] = frame.domain.context.points[c];
      RG_OK(rg_model_predict(&box, 1, z, &mean, &sd));
      RG_CLOSE(set_mean[3 * i + c], mean, 1e-8);
      RG_CLOSE(set_variance[3 * i + c], sd * sd, 1e-8);
    }
  double z[3] = {0}, mean, sd;
  RG_FAILS(rg_model_predict(&finite, 1, z, &mean, &sd), PETSC_ERR_SUP);
}

/* ---- schedule ------------------------------------------------------------------------------ */

RG_TEST(test_schedule)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  set(&frame, "refit_every", "3", NULL);
  RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, true, 0.01);
  double before = model.kernel.terms[0].variance;
  for (int n = 1; n <= 12; n++) {
    const bool due = n == 4 || n == 7 || n == 10; /* t = 1, 4, 7; the initial design has 4 */
    RgModelReport report = show(&model, &frame, n);
    assert_int_equal(report.refitted, due);
    assert_int_equal(report.fit_evaluations > 0, due);
    assert_int_equal(isnan(report.log_likelihood), !due);
    assert_int_equal(model.kernel.terms[0].variance != before, due);
    if (due) RG_CLOSE(report.log_likelihood, support_log_likelihood(&model.posterior), 1e-10);
    before = model.kernel.terms[0].variance;
    assert_int_equal(model.posterior.n, n);
    assert_int_equal(show(&model, &frame, n).refitted, due); /* asked again: the same report */
  }
  assert_true(show(&model, &frame, 15).refitted); /* the refit due at 13, made up for */
  assert_true(show(&model, &frame, 16).refitted);
}

/* ---- standardisation and noise ------------------------------------------------------------- */

RG_TEST(test_standardisation)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  const double y[4] = {1.0, 2.0, 3.0, 6.0};
  memcpy(frame.history.y, y, sizeof y);
  frame.history.n_initial = 0;
  set(&frame, "refit_every", "2", "fit", "fixed", NULL);
  RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, false, 0.5);
  for (int n = 0; n < 2; n++) { /* at 1 no refit is due, so the transform does not change */
    show(&model, &frame, n);
    assert_true(model.shift == 0.0 && model.scale == 1.0);
  }
  show(&model, &frame, 4);
  RG_CLOSE(model.shift, 3.0, 1e-15);
  RG_CLOSE(model.scale, sqrt(3.5), 1e-15);
  RG_CLOSE(model.noise_variance, 0.5 / 3.5, 1e-15);
  RG_CLOSE(model.posterior.y[3], 3.0 / sqrt(3.5), 1e-15);
  show(&model, &frame, 5);
  RG_CLOSE(model.shift, 3.0, 1e-15);

  set(&frame, "deviation", "sample", NULL);
  RG_OWNED(rg_model_destroy) RgModel sample = model_create(&frame, false, 0.5);
  show(&sample, &frame, 4);
  RG_CLOSE(sample.scale, sqrt(14.0 / 3.0), 1e-15);

  RG_OWNED(rg_model_destroy) RgModel constant = model_create(&frame, false, 0.5);
  for (int i = 0; i < 4; i++) frame.history.y[i] = 2.5;
  for (int n = 1; n <= 4; n += 3) { /* one datum, and no deviation */
    show(&constant, &frame, n);
    assert_true(constant.scale == 1.0 && constant.shift == 2.5);
  }
}

/* Noise in native units is that of T(f): times the mean square of the slopes of T. */
RG_TEST(test_noise_under_a_transformation)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  double steepness = 0;

  for (int i = 0; i < BUDGET; i++) frame.history.y[i] = -exp(0.4 * frame.history.y[i] - 16);
  set(&frame, "transform", "yeo_johnson", "fit", "fixed", NULL);
  RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, false, 0.1);
  show(&model, &frame, BUDGET);
  for (int i = 0; i < BUDGET; i++)
    steepness += pow(rg_transform_slope(&model.transform, frame.history.y[i]), 2) / BUDGET;
  assert_true(fabs(log(steepness)) > 0.1);
  RG_CLOSE(model.noise_variance / (0.1 * steepness / (model.scale * model.scale)), 1, 1e-12);
}

/* Outputs are constant relative to their size: rounding errors of large ones are no deviation, and
   tiny ones have one. */
RG_TEST(test_small_deviations)
{
  static const struct {
    double size, deviation;
    bool constant;
  } cases[] = {{1, 2e-12, false},     {1, 0.9e-12, false},    {0, 1e-14, false},  {0, 1e-99, false},
               {1e-6, 1e-17, false},  {1, 2e-15, true},       {0, 1e-200, false}, {0, 0, true},
               {1e-14, 1e-20, false}, {-1e-100, 2e-115, true}};
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);

  frame.history.n_initial = 0;
  set(&frame, "fit", "fixed", NULL);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, false, NAN);
    for (int i = 0; i < 4; i++)
      frame.history.y[i] = cases[k].size + (i % 2 ? 1 : -1) * cases[k].deviation;
    show(&model, &frame, 4);
    if (cases[k].constant) assert_true(model.scale == 1.0);
    else RG_CLOSE(model.scale, cases[k].deviation, 1e-3);
  }
}

/* Equal outputs say nothing about hyperparameters. */
RG_TEST(test_equal_outputs)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, true, NAN);
  for (int i = 0; i < 5; i++) frame.history.y[i] = 2.5;
  RgModelReport report = show(&model, &frame, 5);
  assert_false(report.refitted);
  assert_int_equal(report.fit_evaluations, 0);
  assert_true(model.kernel.terms[0].factors[0].length_scale[0] == 0.3);
}

static double noise_after(Frame *frame, double known)
{
  RG_OWNED(rg_model_destroy) RgModel model = model_create(frame, true, known);
  show(&model, frame, 10);
  double noise = model.noise_variance;
  RG_CLOSE(noise, model.posterior.noise_variance, 0.0);
  return noise;
}

RG_TEST(test_noise)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  RgModel model = model_create(&frame, true, 0.1);
  show(&model, &frame, 10);
  const double square = model.scale * model.scale;
  RG_OK(rg_model_destroy(&model));
  assert_true(square > 10.0);
  RG_CLOSE(noise_after(&frame, 0.1), 0.1 / square, 1e-14);
  RG_CLOSE(noise_after(&frame, 0.0), 1e-8, 1e-20);
  set(&frame, "noise_floor", "1e-3", NULL);
  RG_CLOSE(noise_after(&frame, 0.0), 1e-3, 0.0);
  set(&frame, "noise_variance", "0.2", NULL);
  RG_CLOSE(noise_after(&frame, 0.1), 0.2 / square, 1e-14);
  RG_CLOSE(noise_after(&frame, NAN), 0.2 / square, 1e-14);
  set(&frame, "noise_units", "model", NULL);
  RG_CLOSE(noise_after(&frame, NAN), 0.2, 0.0);
  set(&frame, "noise_variance", "auto", NULL);
  double learned = noise_after(&frame, NAN);
  assert_true(learned >= 1e-6 * (1 - 1e-12) && learned < 0.1);
  RG_CLOSE(noise_after(&frame, 0.05), 0.05, 0.0);
  set(&frame, "fit_noise", "true", NULL);
  RG_CLOSE(noise_after(&frame, 0.05), learned, 0.0);
  set(&frame, "fit", "fixed", "variance", "3", NULL);
  RG_CLOSE(noise_after(&frame, NAN), 3e-6, 1e-20);
}

/* ---- kernels from options ------------------------------------------------------------------ */

/* The kernel over `dim` inputs that the options describe; the one before is destroyed. */
static const RgKernelTerm *terms_of(const Frame *frame, int dim, RgKernel *kernel)
{
  RG_OK(rg_kernel_destroy(kernel));
  RG_OK(rg_surrogate_kernel(&frame->options, dim, kernel));
  return kernel->terms;
}

RG_TEST(test_kernels)
{
  const char *const groups[3] = {"5", "2", "5"}, *const scales[3] = {"0.1", "0.2", "0.3"};
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = {0};
  set(&frame, "kernel", "gaussian", "structure", "additive", "variance", "6", NULL);
  set_list(&frame, "groups", 3, groups);
  set_list(&frame, "length_scale", 3, scales);
  const RgKernelTerm *terms = terms_of(&frame, 3, &kernel);
  const RgKernelFactor *first = terms[0].factors;
  assert_int_equal(kernel.n_terms, 2);
  RG_CLOSE(rg_kernel_diagonal(&kernel), 6.0, 1e-15);
  assert_int_equal(first->n_inputs, 2);
  assert_int_equal(first->inputs[1], 2);
  assert_true(first->length_scale[0] == 0.1 && first->length_scale[1] == 0.3);
  assert_true(terms[1].factors[0].length_scale[0] == 0.2);

  set(&frame, "structure", "product", NULL); /* the kernel is for x alone, so lists are cut */
  terms = terms_of(&frame, 2, &kernel);
  assert_int_equal(kernel.n_terms, 1);
  assert_int_equal(terms[0].n_factors, 2);
  assert_true(terms[0].factors[1].length_scale[0] == 0.2);

  set(&frame, "ard", "false", NULL);
  set_list(&frame, "length_scale", 2, scales); /* one per group */
  first = terms_of(&frame, 3, &kernel)[0].factors;
  assert_int_equal(first[0].n_scales, 1);
  assert_true(first[0].length_scale[0] == 0.1 && first[1].length_scale[0] == 0.2);

  set(&frame, "structure", "whole", "groups", "auto", "length_scale", "auto", NULL);
  first = terms_of(&frame, 3, &kernel)[0].factors;
  assert_int_equal(rg_kernel_theta_size(&kernel), 2);
  assert_true(first->length_scale[0] == 0.3);
}

/* The 6D surrogate of rrgp_ucb 4.3 on [-2, 2]^6, with the values of its oracle O5. */
RG_TEST(test_terms)
{
  const char *const terms[] = {"1 2 3", "2, 3, 4", "3 4 5", "4 5 6"};
  const char *const variances[] = {"1.25", "0.75", "1", "1"};
  const char *const scales[] = {"0.23385358667337133", "0.23385358667337133", "0.25",
                                "0.21650635094610965"};
  const double points[2][6] = {{0, .5, 1, 0, .5, 1}, {2 / 3., 2 / 3., .5, .5, 1 / 3., 5 / 6.}};
  const double centre[6] = {.5, .5, .5, .5, .5, .5}, near[6] = {.625, .625, .625, .625, .625, .625};
  const char *const wrong[] = {"1 2", "1 7", "2 2", "x1"};
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  RgDiagnostics diagnostics = {0};
  RgKernel kernel;
  double value;
  set_list(&frame, "terms", 4, terms);
  set_list(&frame, "term_variance", 4, variances);
  set_list(&frame, "length_scale", 4, scales);
  set(&frame, "kernel", "gaussian", NULL);
  assert_int_equal(mistakes(&frame, 6, &diagnostics), 1); /* structure, ard */
  set(&frame, "structure", "additive", "ard", "false", NULL);
  assert_int_equal(mistakes(&frame, 6, &diagnostics), 0);
  RG_OK(rg_surrogate_kernel(&frame.options, 6, &kernel));
  RG_CLOSE(rg_kernel_diagonal(&kernel), 4.0, 1e-15);
  RG_OK(rg_kernel_cross(&kernel, 1, centre, 1, near, &value));
  RG_CLOSE(value, 2.59669805357, 1e-11);
  RG_OK(rg_kernel_cross(&kernel, 1, points[0], 1, points[1], &value));
  RG_CLOSE(value, 0.060795458861, 1e-11);
  RG_OK(rg_kernel_destroy(&kernel));
  set_list(&frame, "terms", 4, wrong);
  assert_int_equal(mistakes(&frame, 6, &diagnostics), 3);
  assert_string_equal(diagnostics.list[0].message, "'terms': \"1 7\": an input is not one of the "
                                                   "model's (1 to 6, x then c)");
  set_list(&frame, "terms", 2, terms);
  assert_int_equal(mistakes(&frame, 6, &diagnostics),
                   2); /* numbers of length scales and variances */
}

RG_TEST(test_check)
{
  const char *const two[2] = {"1", "2"};
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  RgDiagnostics diagnostics = {0};
  assert_int_equal(mistakes(&frame, 3, &diagnostics), 0);
  set_list(&frame, "groups", 2, two);
  assert_int_equal(mistakes(&frame, 3, &diagnostics), 1);
  assert_string_equal(diagnostics.list[0].message, "'groups' has 2 values for 3 inputs");
  set_list(&frame, "length_scale", 2, two);
  set(&frame, "length_scale_lower", "20", NULL);
  assert_int_equal(mistakes(&frame, 2, &diagnostics), 2); /* groups without structure; bounds */
  set(&frame, "groups", "auto", "ard", "false", NULL);
  assert_int_equal(mistakes(&frame, 2, &diagnostics),
                   2); /* two length scales for one factor; bounds */
  RgKernel kernel;
  set(&frame, "ard", "true", NULL);
  RG_FAILS(rg_surrogate_kernel(&frame.options, 3, &kernel), PETSC_ERR_ARG_SIZ);
}

/* The policies of the papers are keys (irgp_ucb 2.4, sbo_kde 2.1.1, wdrbo 2.1). */
RG_TEST(test_policies)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  set(&frame, "fit", "ml", "fit_starts", "9", "fit_multistart", "always", "fit_iterations", "200",
      "mean", "zero", NULL);
  RgFitOptions fit = rg_surrogate_fit_options(&frame.options, 2, false);
  assert_int_equal(fit.length_scale.family, RG_PRIOR_NONE);
  assert_int_equal(fit.starts, 9);
  assert_int_equal(fit.max_iterations, 200);
  assert_true(fit.length_scale_lower == 1e-2 && fit.length_scale_upper == 10.0);
  assert_true(fit.variance_lower == 1e-2 && fit.variance_upper == 1e2);
  assert_false(fit.learn_noise || fit.learn_mean || fit.fix_variance);

  set(&frame, "fit", "map", "prior", "botorch2023", NULL);
  set(&frame, "mean", "auto", NULL); /* constant where something is fitted */
  set(&frame, "noise_lower", "1e-4", NULL);
  fit = rg_surrogate_fit_options(&frame.options, 3, true);
  assert_true(fit.length_scale.family == RG_PRIOR_GAMMA && fit.length_scale.b == 6.0);
  assert_true(fit.variance.a == 2.0 && fit.noise.b == 0.05);
  assert_true(fit.learn_mean && fit.learn_noise && fit.noise_lower == 1e-4);
  RgModel model = model_create(&frame, true, NAN);
  RG_CLOSE(model.noise_variance, 2.0, 1e-12); /* starts at the mode of its prior */
  show(&model, &frame, 12);
  assert_true(model.mean != 0.0 && model.posterior.mean == model.mean);
  RG_OK(rg_model_destroy(&model));
  set(&frame, "fit", "fixed", NULL);
  assert_false(rg_surrogate_fit_options(&frame.options, 3, false).learn_mean);
  set(&frame, "fit", "map", NULL);

  set(&frame, "prior", "botorch2024", "fit_variance", "false", NULL);
  fit = rg_surrogate_fit_options(&frame.options, 2, true);
  RG_CLOSE(rg_prior_mode(&fit.length_scale, 0.0), 0.28961209717006, 1e-13);
  assert_int_equal(fit.variance.family, RG_PRIOR_NONE);
  assert_true(fit.fix_variance);
}

/* hvarfner2024: the mode of the prior where fits start, bounds that grow beyond 20 inputs. */
RG_TEST(test_many_inputs)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  set(&frame, "fit", "map", "prior", "hvarfner2024", "length_scale", "auto", NULL);
  const RgFitOptions few = rg_surrogate_fit_options(&frame.options, 20, false);
  const RgFitOptions many = rg_surrogate_fit_options(&frame.options, 80, false);
  assert_int_equal(many.length_scale.family, RG_PRIOR_LOGNORMAL);
  RG_CLOSE(many.length_scale.a, sqrt(2) + 0.5 * log(80), 1e-15);
  RG_CLOSE(many.length_scale.b, sqrt(3), 1e-15);
  RG_CLOSE(few.length_scale_upper, frame.options.length_scale_upper, 0);
  RG_CLOSE(many.length_scale_upper, 2 * few.length_scale_upper, 1e-15);
  RG_CLOSE(many.length_scale_lower, 2 * few.length_scale_lower, 1e-15);
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OK(rg_surrogate_kernel(&frame.options, 80, &kernel));
  RG_CLOSE(kernel.terms[0].factors[0].length_scale[0], sqrt(80) * exp(sqrt(2) - 3), 1e-14);
}

/* ---- fit policy ---------------------------------------------------------------------------- */

/* Other starts are used at the first fit and after surprising data, not in between. */
RG_TEST(test_multistart)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  frame.history.n_initial = 12;
  set(&frame, "fit_starts", "6", NULL);
  RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, true, 0.01);
  int first = show(&model, &frame, 12).fit_evaluations;
  int warm = show(&model, &frame, 13).fit_evaluations;
  frame.history.y[13] += 500.0;
  int surprised = show(&model, &frame, 14).fit_evaluations;
  assert_true(first >= 14);
  assert_true(warm <= 12);
  assert_true(surprised >= 8);
  RG_OK(rg_model_destroy(&model));
  set(&frame, "fit_starts", "0", NULL);
  model = model_create(&frame, true, 0.01);
  assert_true(show(&model, &frame, 12).fit_evaluations < first);
}

/* fit_warm: auto. Up to 100 data, and again at 110 (a tenth more), the fit equals the cold one,
   bit by bit. In between it finds as good an optimum with fewer evaluations. */
RG_TEST(test_warm_auto)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, 112);
  set(&frame, "fit_starts", "0", "fit_noise", "true", "fit_warm", "auto", NULL);
  RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, true, 0.01);
  set(&frame, "fit_warm", "false", NULL);
  for (int n = 97; n <= 112; n++) {
    RG_OWNED(rg_model_destroy) RgModel cold = model_create(&frame, true, 0.01);
    Frame with = frame;
    with.options.fit_warm = RG_WARM_AUTO;
    model.options = &with.options;
    const RgModelReport report = show(&model, &frame, n), other = show(&cold, &frame, n);
    if (n <= 100 || n == 110) {
      assert_int_equal(report.fit_evaluations, other.fit_evaluations);
      assert_true(report.log_likelihood == other.log_likelihood);
    } else {
      assert_true(2 * report.fit_evaluations < other.fit_evaluations);
      RG_CLOSE(report.log_likelihood, other.log_likelihood, 0.02);
    }
  }
}

/* fit_warm: auto with many data. The last optimum is poor, because its fit had one iteration. A fit
   takes few evaluations, and its starts take turns; after some fits the optimum is as good as
   that of one fit with all starts. */
RG_TEST(test_fit_in_parts)
{
  enum { FIRST = RG_LONG_DATA, NEXT = FIRST + FIRST / 10 + 1, FITS = 12 };
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, NEXT + FITS);
  RgModelReport report;
  for (int i = 0; i < NEXT + FITS; i++)
    frame.history.y[i] = sin(40 * frame.history.x[2 * i]) + frame.history.x[2 * i + 1];
  set(&frame, "fit_noise", "true", "fit_warm", "auto", "length_scale", "3", NULL);
  RG_OWNED(rg_model_destroy)
  RgModel parts = model_create(&frame, false, 0.01), once = model_create(&frame, false, 0.01);
  set(&frame, "fit_iterations", "1", "fit_starts", "0", NULL);
  const double poor = show(&parts, &frame, FIRST).log_likelihood;
  set(&frame, "fit_iterations", "100", "fit_starts", "2", NULL);
  for (int n = NEXT; n <= NEXT + FITS; n++) {
    report = show(&parts, &frame, n);
    assert_in_range(report.fit_evaluations, 1, 8);
    if (n == NEXT + 9)
      assert_true(report.fit_evaluations == 8); /* a climb of three starts goes on */
  }
  const double best = show(&once, &frame, NEXT + FITS).log_likelihood;
  assert_true(poor < best - 100);
  assert_true(report.log_likelihood > best - 0.1);
}

/* refit_every: auto. Refits every time up to 100 data, then at 105 (a twentieth more), and in
   between if new data are not as predicted. */
RG_TEST(test_refit_auto)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, 112);
  set(&frame, "fit_starts", "0", "refit_every", "auto", NULL);
  for (int jump = 0; jump < 2; jump++) {
    RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, true, 0.01);
    for (int n = 98; n <= 112; n++) {
      if (jump && n == 107) frame.history.y[106] += 20.0;
      const bool refitted = show(&model, &frame, n).refitted;
      assert_int_equal(refitted, n <= 100 || n == 105 || n == (jump ? 107 : 111));
      if (jump && n == 107) break;
    }
  }
}

/* A repeated point without noise: the fit finds nothing and keeps everything; the posterior
   continues with jitter, which is reported. */
RG_TEST(test_fit_failure)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  memcpy(frame.history.x + 2, frame.history.x, 2 * sizeof(double));
  set(&frame, "kernel", "gaussian", "noise_floor", "0", "fit_variance", "false", "fit_starts", "4",
      NULL);
  for (int warm = 0; warm < 2; warm++) {
    set(&frame, "fit_warm", warm ? "true" : "false", NULL);
    RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, false, 0.0);
    RgModelReport report = show(&model, &frame, 5);
    assert_false(report.refitted);
    assert_true(isnan(report.log_likelihood));
    assert_int_equal(report.fit_evaluations, 5); /* first start and four others */
    assert_true(report.jitter > 0.0);
    assert_true(model.kernel.terms[0].factors[0].length_scale[1] == 0.3);
  }
}

/* An update from `first` to 8 data fails, and says why. */
static void check_failure(Frame *frame, int first, const char *part)
{
  RG_OWNED(rg_model_destroy) RgModel model = model_create(frame, true, 0.1);
  RgFailure failure = {0};
  if (first) show(&model, frame, first);
  frame->history.n = 8;
  RG_OK(rg_model_update(&model, &frame->history, &failure));
  assert_true(failure.failed);
  assert_non_null(strstr(failure.message, part));
}

RG_TEST(test_failure)
{
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  RG_NO_FAILURE(failure);
  frame.history.y[6] = NAN;
  check_failure(&frame, 5, "the output of evaluation 7 is not finite");
  frame.history.y[6] = 1.0;
  frame.history.x[9] = NAN;
  check_failure(&frame, 0, "jitter"); /* a factorisation that no jitter can save */
  frame.history.x[9] = 0.5;
  RG_OWNED(rg_model_destroy) RgModel model = model_create(&frame, true, 0.1);
  show(&model, &frame, 8);
  frame.history.n = 7; /* a history only grows */
  RG_FAILS(rg_model_update(&model, &frame.history, &failure), PETSC_ERR_ARG_INCOMP);
}

/* Equal histories give equal bits, whatever the capacity and the clock. */
RG_TEST(test_bits)
{
  RgClock clock = {0};
  RG_OWNED(frame_destroy) Frame frame = frame_of(false, BUDGET);
  RgModel model[2] = {model_create(&frame, true, NAN)};
  double mean[2][90], variance[2][90];
  RG_OK(rg_model_create(&frame.domain, &frame.options, true, NAN, 100, &frame.stream, &clock,
                        &model[1]));
  for (int n = 0; n <= BUDGET; n++)
    for (int i = 0; i < 2; i++) show(&model[i], &frame, n);
  for (int i = 0; i < 2; i++) posterior_of(&model[i], mean[i], variance[i]);
  for (int j = 0; j < 7; j++)
    assert_true(mean[0][j] == mean[1][j] && variance[0][j] == variance[1][j]);
  assert_true(clock.wall[RG_STAGE_FIT] > 0.0);
  for (int i = 0; i < 2; i++) RG_OK(rg_model_destroy(&model[i]));
}
