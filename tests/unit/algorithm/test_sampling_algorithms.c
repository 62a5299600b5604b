/* TS, PIMS, MES, JES: maxima of paths against independent searches, frequencies of Thompson
   sampling against the posterior, what is maximised and recorded, designs without replacement,
   mistakes. */
#include "algorithm_bench.h"

#include "algorithm/sampling.h"
#include "gp/posterior/exact/exact.h"
#include "gp/posterior/set/set_posterior.h"

#define PAIRS 20000 /* number of posterior draws that frequencies are compared with */

static const char *const methods[] = {"ts", "pims", "eims", "mes", "jes"};
enum { METHODS = sizeof methods / sizeof *methods };

/* ---- a method with everything it needs ------------------------------------------------------ */

typedef enum { BOX, GRID, LINE } Design;

/* A square, a grid, or a line of `size` points. */
static void bench_design(Bench *bench, Design design, int size)
{
  const double lower[2] = {0}, upper[2] = {2, 2};
  const int levels[] = {6, 5};
  const double axes[] = {0, 0.2, 0.4, 0.6, 0.8, 1, 0, 0.25, 0.5, 0.75, 1}, zero[2] = {0};
  const double one[] = {1, 1};
  double points[16];

  for (int i = 0; i < size; i++) points[i] = i;
  if (design == BOX) RG_OK(rg_space_box(&bench->domain.design, 2, lower, upper));
  if (design == GRID) RG_OK(rg_space_grid(&bench->domain.design, 2, levels, axes, zero, one));
  if (design == LINE) RG_OK(rg_space_set(&bench->domain.design, 1, size, points, NULL, NULL));
}

/* The settings that tests may change before bench_start. */
static void bench_options(Bench *bench, const char *name, Design design, int size)
{
  memset(bench, 0, sizeof *bench);
  bench_class(bench, name);
  bench->surrogate.kernel = RG_KERNEL_GAUSSIAN;
  bench->surrogate.fit = RG_FIT_FIXED;
  bench->maximiser.raw_samples = 256;
  bench->maximiser.restarts = 10;
  bench_design(bench, design, size);
}

static void bench_start_empty(Bench *bench, uint64_t seed)
{
  bench_create(bench,
               (RgSetup){.noise_variance = 1e-2,
                         .n_initial = 3,
                         .n_iterations = 20,
                         .stream = rg_stream(1, "test", 0, bench->class->name, seed)},
               64);
}

static double objective(const double *x, int dim)
{
  double sum = 0.0;

  for (int j = 0; j < dim; j++) sum += sin((5.0 + j) * x[j]);
  return sum;
}

static void answer(Bench *bench, const double *x, int index)
{
  RG_OK(
    rg_history_append(&bench->history, x, index, NULL, -1, objective(x, bench->domain.design.dim)));
}

/* With three evaluations that count as the initial design. */
static void bench_start(Bench *bench, uint64_t seed)
{
  const RgSpace *design = &bench->domain.design;

  bench_start_empty(bench, seed);
  for (int i = 0; i < 3; i++) {
    double x[4] = {0.15 + 0.3 * i, 0.9 - 0.35 * i, 0.5, 0.1 * i};
    int index = rg_space_is_finite(design) ? (i * 3 + 1) % design->size : -1;
    answer(bench, index >= 0 ? design->points + (size_t)index * design->dim : x, index);
  }
  bench->history.n_initial = 3;
}

/* The query after everything that was told fails, with `part` in the message. */
static void ask_in_vain(Bench *bench, int t, const char *part)
{
  RG_OK(rg_algorithm_ask(&bench->algorithm, t, &bench->history, &bench->query, &bench->failure));
  assert_true(bench->failure.failed);
  assert_non_null(strstr(bench->failure.message, part));
}

/* Draw the maxima of `count` paths by a sampler of its own. */
static RgPathSampler *draw_optima(Bench *bench, int count, RgRandom *draws, RgRandom *search,
                                  RgOptima *optima)
{
  RgModel *model = bench->class->model(&bench->algorithm);
  RgPathSampler *sampler;

  RG_OK(rg_path_sampler_create(&bench->domain, bench->options, 10, &sampler));
  RG_OK(rg_path_sampler_draw(
    sampler, model, count, NULL, draws,
    &(RgSearch){.options = &bench->maximiser, .history = &bench->history, .random = search}, optima,
    &bench->failure));
  assert_false(bench->failure.failed);
  return sampler;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* On a line without replacement. Returns the sum of all recorded values. */
static double run(const char *name, Design design, const char *paths, uint64_t seed)
{
  Bench bench;
  double sum = 0.0;

  bench_options(&bench, name, design, 12);
  bench_set(&bench, "paths", paths);
  bench_set(&bench, "features", "200");
  bench.domain.without_replacement = design == LINE;
  bench_start(&bench, seed);
  for (int t = 1; t <= 8; t++) {
    bench_ask(&bench, t);
    for (int i = 0; design == LINE && i < bench.history.n; i++)
      assert_int_not_equal(bench.history.index[i], bench.query.index);
    for (int j = 0; bench.class->columns && bench.class->columns[j].name; j++) {
      assert_true(isfinite(bench.extra[j]));
      sum += (j + 1) * bench.extra[j];
    }
    sum += bench.x[0];
    answer(&bench, bench.x, bench.query.index);
  }
  bench_end(&bench);
  return sum;
}

RG_TEST(every_design_and_kind_of_path)
{
  for (int m = 0; m < METHODS; m++) {
    for (Design design = BOX; design <= LINE; design++) {
      const char *const kinds[] = {"auto", "rff", "pathwise", "exact"};
      for (int k = 0; k < (design ? 4 : 3); k++) {
        double sum = run(methods[m], design, kinds[k], 5);
        assert_true(sum == run(methods[m], design, kinds[k], 5));
        assert_true(design || sum != run(methods[m], design, kinds[k], 6));
      }
      /* auto chooses one of the other settings */
      assert_true(run(methods[m], design, "auto", 5) ==
                  run(methods[m], design, design ? "exact" : "pathwise", 5));
    }
  }
}

RG_TEST(an_exhausted_design_is_a_failure)
{
  for (int m = 0; m < METHODS; m++) {
    Bench bench;
    bench_options(&bench, methods[m], LINE, 8);
    bench.domain.without_replacement = true;
    bench_start(&bench, 1);
    for (int t = 1; t <= 5; t++) {
      bench_ask(&bench, t);
      answer(&bench, bench.x, bench.query.index);
    }
    ask_in_vain(&bench, 6, "8");
    bench_end(&bench);
  }
}

RG_TEST(without_data_queries_are_random)
{
  for (int m = 0; m < METHODS; m++) {
    for (Design design = BOX; design <= GRID; design++) {
      Bench bench;
      bench_options(&bench, methods[m], design, 0);
      bench_set(&bench, "features", "100");
      bench_start_empty(&bench, 1);
      bench_ask(&bench, 1);
      bench_end(&bench);
    }
  }
}

/* ---- Thompson sampling ----------------------------------------------------------------------- */

/* Probabilities that each of 5 points of a line is the best, by plain sampling from the
   posterior. */
static void best_probabilities(Bench *bench, double *probability)
{
  enum { N = 5 };
  double mean[N], C[N * N], L[N * N] = {0};
  RgModel *model = bench->class->model(&bench->algorithm);
  RgPosterior posterior;
  RgPrediction work = {0};
  RgStream stream = rg_stream(9, "test", 0, "reference", 1);
  RgRandom random = rg_stream_at(&stream, 0);

  RG_OK(rg_posterior_create(&model->kernel, model->noise_variance, model->mean, 3, &posterior));
  for (int i = 0; i < 3; i++)
    RG_OK(rg_posterior_append(&posterior, bench->history.x + i,
                              (bench->history.y[i] - model->shift) / model->scale,
                              &bench->failure));
  RG_OK(rg_posterior_predict(&posterior, N, bench->domain.design.points, mean, NULL, &work));
  RG_OK(rg_posterior_covariance(&posterior, N, bench->domain.design.points, N,
                                bench->domain.design.points, C));
  for (int j = 0; j < N; j++) {
    for (int i = j; i < N; i++) {
      double sum = C[i * N + j] + (i == j ? 1e-10 : 0.0);
      for (int k = 0; k < j; k++) sum -= L[i * N + k] * L[j * N + k];
      L[i * N + j] = i == j ? sqrt(sum) : sum / L[j * N + j];
    }
    probability[j] = 0.0;
  }
  for (int s = 0; s < PAIRS; s++) {
    double z[N], top = -INFINITY;
    int best = 0;
    rg_random_normals(&random, N, z);
    for (int i = 0; i < N; i++) {
      double f = mean[i];
      for (int k = 0; k <= i; k++) f += L[i * N + k] * z[k];
      if (f > top) top = f, best = i;
    }
    probability[best] += 1.0 / PAIRS;
  }
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_posterior_destroy(&posterior));
}

RG_TEST(ts_has_the_probability_of_being_best)
{
  const char *const kinds[] = {"exact", "pathwise", "rff"};

  for (int k = 0; k < 3; k++) {
    const int draws = 4000;
    Bench bench;
    double probability[5], count[5] = {0};

    bench_options(&bench, "ts", LINE, 5);
    bench_set(&bench, "paths", kinds[k]);
    bench_set(&bench, "features", "300");
    bench_start(&bench, 3);
    for (int t = 1; t <= draws; t++) {
      bench_ask(&bench, t);
      count[bench.query.index] += 1.0 / draws;
    }
    best_probabilities(&bench, probability);
    for (int i = 0; i < 5; i++) {
      double p = probability[i], error = sqrt(p * (1 - p) * (1.0 / draws + 1.0 / PAIRS));
      if (fabs(count[i] - p) > 4.5 * error + (k ? 0.01 : 1e-3))
        fail_msg("%s: point %d is best with %g, chosen with %g (error %g)", kinds[k], i, p,
                 count[i], error);
    }
    bench_end(&bench);
  }
}

/* ---- maxima of paths ------------------------------------------------------------------------- */

/* The same numbers give the same path (pathwise: the noise of all, then features of all with the
   weights of the first, then the other weights); its maximum is at least that of many random
   points, and a stationary point or at the border. */
RG_TEST(maxima_on_a_box)
{
  const char *const kinds[] = {"rff", "pathwise"};

  for (int k = 0; k < 2; k++) {
    enum { COUNT = 4, RANDOM = 4000 };
    static double X[RANDOM * 2], value[RANDOM];
    double E[3 * COUNT];
    Bench bench;
    RgStream stream = rg_stream(7, "test", 0, "draws", 1);
    RgRandom draws = rg_stream_at(&stream, 1), search = rg_stream_at(&stream, 2);
    RgRandom again = draws;
    RgFeaturePath path;
    RgOptima optima;

    bench_options(&bench, "mes", BOX, 0);
    bench_set(&bench, "paths", kinds[k]);
    bench_start(&bench, 3);
    bench_ask(&bench, 1);
    RgModel *model = bench.class->model(&bench.algorithm);
    RgPathSampler *sampler = draw_optima(&bench, COUNT, &draws, &search, &optima);
    RG_OK(rg_feature_path_create(2, 1000, &path));
    if (k) rg_random_normals(&again, 3 * COUNT, E);
    for (int s = 0; s < COUNT; s++) {
      double e[3], G[2], at;
      if (!k || s == 0) RG_OK(rg_feature_path_draw(&path, &model->kernel, &again));
      if (!k) rg_random_normals(&again, 4, E); /* the number of words that the sampler takes */
      for (int i = 0; i < 3; i++)
        e[i] = (k ? E[i * COUNT + s] : E[i]) * sqrt(model->noise_variance);
      if (k && s > 0) { /* the features of the first path, new weights */
        rg_random_normals(&again, 1000, path.weight);
        for (int m = 0; m < 1000; m++) path.weight[m] *= path.amplitude[m];
        path.posterior = NULL;
        path.mean = 0.0;
      }
      if (k) RG_OK(rg_feature_path_condition_pathwise(&path, &model->posterior, e));
      else RG_OK(rg_feature_path_condition_weights(&path, &model->posterior, e, &bench.failure));
      RG_OK(rg_feature_path_evaluate(&path, 1, optima.x + 2 * s, &at, G));
      RG_CLOSE(optima.value[s], at, 1e-10);
      assert_int_equal(optima.index[s], -1);
      for (int j = 0; j < 2; j++) {
        double x = optima.x[2 * s + j];
        assert_true(fabs(G[j]) < 1e-3 || (x == 0.0 && G[j] < 0.0) || (x == 1.0 && G[j] > 0.0));
      }
      rg_random_uniforms(&search, RANDOM * 2, X);
      RG_OK(rg_feature_path_evaluate(&path, RANDOM, X, value, NULL));
      for (int j = 0; j < RANDOM; j++) assert_true(value[j] <= optima.value[s] + 1e-9);
    }
    RG_OK(rg_feature_path_destroy(&path));
    RG_OK(rg_path_sampler_destroy(&sampler));
    bench_end(&bench);
  }
}

RG_TEST(maxima_on_a_set)
{
  enum { COUNT = 5, N = 30 };
  Bench bench;
  RgStream stream = rg_stream(7, "test", 0, "draws", 1);
  RgRandom draws = rg_stream_at(&stream, 1), again = draws;
  RgPathSampler *sampler;
  RgSetPaths *paths;
  RgOptima optima;
  double F[N * COUNT], y[3];
  unsigned char excluded[N] = {0};

  bench_options(&bench, "jes", GRID, 0);
  bench_start(&bench, 3);
  bench_ask(&bench, 1);
  RgModel *model = bench.class->model(&bench.algorithm);
  for (int i = 0; i < 3; i++) y[i] = (bench.history.y[i] - model->shift) / model->scale;
  RG_OK(rg_path_sampler_create(&bench.domain, bench.options, 10, &sampler));
  RG_OK(rg_set_paths_create(&bench.domain.design, &model->kernel, 3, &paths));
  RG_OK(rg_set_paths_update(paths, &model->kernel, model->noise_variance, model->mean, 3,
                            bench.history.index, y, &bench.failure));
  for (int round = 0; round < 3; round++) {
    RG_OK(rg_path_sampler_draw(sampler, model, COUNT, round ? excluded : NULL, &draws,
                               &(RgSearch){.options = &bench.maximiser, .history = &bench.history},
                               &optima, &bench.failure));
    RG_OK(rg_set_paths_draw(paths, COUNT, &again, F, &bench.failure));
    assert_false(bench.failure.failed);
    for (int s = 0; s < COUNT; s++) {
      int best = -1;
      for (int i = 0; i < N; i++) {
        if (!(round && excluded[i]) && (best < 0 || F[i * COUNT + s] > F[best * COUNT + s]))
          best = i;
      }
      assert_int_equal(optima.index[s], best);
      assert_true(optima.value[s] == F[best * COUNT + s]);
      RG_CLOSE(optima.x[2 * s], bench.domain.design.points[2 * best], 0.0);
    }
    for (int i = 0; i < 20; i++) excluded[i] = 1;
  }
  RG_OK(rg_set_paths_destroy(&paths));
  RG_OK(rg_path_sampler_destroy(&sampler));
  bench_end(&bench);
}

/* ---- what is maximised ----------------------------------------------------------------------- */

/* The acquisition value recorded belongs to the query and beats that of other points. */
RG_TEST(pims_records_its_confidence)
{
  for (int clamp = 0; clamp < 2; clamp++) {
    Bench bench;
    bench_options(&bench, "pims", GRID, 0);
    bench_set(&bench, "pims_clamp", clamp ? "yes" : "no");
    bench_start(&bench, 4);
    for (int t = 1; t <= 30; t++) {
      bench_ask(&bench, t);
      RgModel *model = bench.class->model(&bench.algorithm);
      const double *mean = model->posterior.set->mean;
      const double *variance = model->posterior.set->variance;
      double least = INFINITY, confidence = bench.extra[0], maximum = bench.extra[1];
      for (int i = 0; i < 30; i++) {
        double z = (maximum - mean[i]) / sqrt(variance[i]);
        least = fmin(least, z);
        if (i == bench.query.index) RG_CLOSE(confidence, z * fabs(z), 1e-10);
      }
      RG_CLOSE(confidence, least * fabs(least), 1e-10);
      for (int i = 0; clamp && i < 3; i++)
        assert_true(maximum >= mean[bench.history.index[i]] - 1e-12);
    }
    bench_end(&bench);
  }
}

/* The query has the largest expected improvement over the recorded maximum. */
RG_TEST(eims_maximises_the_improvement_over_the_path)
{
  Bench bench;

  bench_options(&bench, "eims", GRID, 0);
  bench_start(&bench, 4);
  for (int t = 1; t <= 30; t++) {
    bench_ask(&bench, t);
    RgModel *model = bench.class->model(&bench.algorithm);
    const double *mean = model->posterior.set->mean;
    const double *variance = model->posterior.set->variance;
    double most = 0;
    for (int i = 0; i < 30; i++) {
      const double sd = sqrt(variance[i]), z = (mean[i] - bench.extra[1]) / sd;
      const double improvement =
        sd * (exp(-0.5 * z * z) / sqrt(2 * PETSC_PI) + 0.5 * z * erfc(-z / sqrt(2)));
      most = fmax(most, improvement);
      if (i == bench.query.index) RG_CLOSE(exp(bench.extra[0]), improvement, 1e-9);
    }
    RG_CLOSE(exp(bench.extra[0]), most, 1e-9);
  }
  bench_end(&bench);
}

/* JES on a box: the value at the query is the one from its parts, and no random point is better. */
RG_TEST(jes_on_a_box)
{
  enum { RANDOM = 3000, K = 10 };
  static double X[RANDOM * 2], mean[RANDOM], variance[RANDOM], C[K * RANDOM], value[RANDOM];
  Bench bench;
  RgJesOptimum optimum[K];
  double at[K], own[K * K], best;
  RgCrossCovariance cross;
  RgPrediction work = {0};
  RgOptima optima;
  RgStream stream = rg_stream(8, "test", 0, "jes", 1);
  RgRandom draws = rg_stream_at(&stream, 1), search = rg_stream_at(&stream, 2);

  bench_options(&bench, "jes", BOX, 0);
  bench_start(&bench, 4);
  bench_ask(&bench, 1);
  RgModel *model = bench.class->model(&bench.algorithm);
  RgPathSampler *sampler = draw_optima(&bench, K, &draws, &search, &optima);
  RG_OK(rg_acquire_jes(
    model, sampler, &optima,
    &(RgSearch){.options = &bench.maximiser, .history = &bench.history, .random = &search},
    &bench.query, &best, &bench.failure));
  assert_false(bench.failure.failed);
  RG_OK(rg_posterior_predict(&model->posterior, K, optima.x, at, NULL, &work));
  RG_OK(rg_cross_covariance_create(&model->posterior, K, optima.x, &cross));
  RG_OK(rg_cross_covariance_evaluate(&cross, K, optima.x, own));
  for (int l = 0; l < K; l++) {
    double v = own[l * K + l] + 1e-10;
    optimum[l] = (RgJesOptimum){optima.value[l], (optima.value[l] - at[l]) / v, 1.0 / v};
  }
  RgJes jes = {K, optimum, model->noise_variance, 1e-14};
  rg_random_uniforms(&search, RANDOM * 2, X);
  memcpy(X, bench.x, 2 * sizeof *X);
  for (int j = 1; j < 100; j++) { /* near the query */
    for (int i = 0; i < 2; i++) X[2 * j + i] = fmin(fmax(X[i] + 0.01 * (X[2 * j + i] - 0.5), 0), 1);
  }
  RG_OK(rg_posterior_predict(&model->posterior, RANDOM, X, mean, variance, &work));
  RG_OK(rg_cross_covariance_evaluate(&cross, RANDOM, X, C));
  RG_OK(rg_acquisition_jes(&jes, RANDOM, &(RgJesMoments){mean, variance, C}, value, NULL));
  RG_CLOSE(best, value[0], 1e-10);
  for (int j = 0; j < RANDOM; j++) assert_true(value[j] <= best + 1e-9);
  RG_OK(rg_cross_covariance_destroy(&cross));
  RG_OK(rg_prediction_destroy(&work));
  RG_OK(rg_path_sampler_destroy(&sampler));
  bench_end(&bench);
}

/* Maxima of MES are at least the best observation plus five noise deviations. */
RG_TEST(mes_floors_its_maxima)
{
  double recorded[2];

  for (int floor = 0; floor < 2; floor++) {
    Bench bench;
    bench_options(&bench, "mes", LINE, 3); /* all observed: maxima are close to the best */
    bench_set(&bench, "floor", floor ? "yes" : "no");
    bench_set(&bench, "samples", "1");
    bench_start(&bench, 4);
    bench_ask(&bench, 1);
    recorded[floor] = bench.extra[0];
    RgModel *model = bench.class->model(&bench.algorithm);
    if (floor)
      RG_CLOSE(recorded[1],
               rg_surrogate_best_y(model, &bench.history) + 5.0 * sqrt(model->noise_variance),
               1e-12);
    bench_end(&bench);
  }
  assert_true(recorded[0] < recorded[1]);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

RG_TEST(exact_paths_need_a_finite_design)
{
  for (int m = 0; m < METHODS; m++) {
    Bench bench;
    RgDiagnostics diagnostics = {0};
    bench_options(&bench, methods[m], BOX, 0);
    bench_set(&bench, "paths", "exact");
    RG_OK(rg_algorithm_check(bench.class, bench.options, &bench.domain, (RgPlace){"t", 1, 1},
                             &diagnostics));
    assert_int_equal(diagnostics.n, 1);
    assert_non_null(strstr(diagnostics.list[0].message, "on a box: auto, rff, pathwise"));
    bench.domain.design.kind = RG_SPACE_SET;
    bench.domain.design.size = 20001;
    RG_OK(rg_algorithm_check(bench.class, bench.options, &bench.domain, (RgPlace){"t", 1, 1},
                             &diagnostics));
    assert_int_equal(diagnostics.n, 2);
    assert_non_null(strstr(diagnostics.list[1].message, "20001 points"));
    bench.domain.design.kind = RG_SPACE_BOX;
    bench_start_empty(&bench, 1);
    bench_end(&bench);
  }
}

RG_TEST(too_few_features_are_a_failure)
{
  Bench bench;

  bench_options(&bench, "ts", BOX, 0);
  bench_set(&bench, "features", "1");
  bench.surrogate.structure = RG_STRUCTURE_ADDITIVE;
  bench_start(&bench, 1);
  ask_in_vain(&bench, 1, "1 features");
  bench_end(&bench);
}
