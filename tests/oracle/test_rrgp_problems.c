/* rrgp_ucb sections 4 and 8 (O4, O5): the contextual problems, their contexts and optima. */
#include "test_problem.h"

#include "regret/optimum.h"

static Instance make(const char *name, const char *measure, const char *setting, uint64_t number)
{
  const Setting settings[] = {{"measure", measure}, {"setting", setting}, {NULL, NULL}};

  return instance_make(name, settings, 1, number);
}

/* max F where, and the mean of F over the designs. */
static void himmelblau_optimum(const char *measure, double optimum, int index, double mean)
{
  RG_OWNED(instance_free) Instance instance = make("himmelblau_composite", measure, "simulator", 0);
  double sum = 0.0;

  RG_CLOSE(instance.problem.optimum, optimum, 1e-11);
  assert_int_equal(instance.problem.n_optimisers, 1);
  RG_CLOSE(objective_of_index(&instance.problem, index), optimum, 1e-11);
  for (int i = 0; i < 225; i++) sum += objective_of_index(&instance.problem, i);
  RG_CLOSE(sum / 225.0, mean, 1e-9);
}

RG_TEST(himmelblau_composite)
{
  RG_OWNED(instance_free)
  Instance instance = make("himmelblau_composite", "expectation", "uncontrollable", 0);
  const RgDomain *domain = &instance.problem.domain;
  double mean = 0.0, square = 0.0, w1 = 0.0;

  assert_int_equal(domain->design.size, 225);
  assert_int_equal(domain->control, RG_CONTEXT_NATURE);
  assert_string_equal(domain->measure, "expectation");
  RG_CLOSE(domain->context_prob[0], 0.0194112943563 * 0.0194112943563, 1e-12);
  RG_CLOSE(domain->context_prob[17], 0.00837347520937 * 0.00547201528358, 1e-12);
  RG_CLOSE(domain->context_prob[32], 2.99429512638e-05, 1e-14);
  for (int i = 0; i < 225; i++) {
    w1 += domain->context_prob[i] * (domain->context.points[2 * i] * 5.0 - 2.5);
    for (int j = 0; j < 225; j++) {
      double f = f_of_indices(&instance.problem, i, j);
      mean += f;
      square += f * f;
    }
  }
  RG_CLOSE(w1, 0.803178556943, 1e-11);
  RG_CLOSE(mean / 50625.0, 0.0, 1e-6);
  RG_CLOSE(square / 50624.0, 1.0, 1e-6);
  RG_CLOSE(instance.problem.optimisers[0], 1.785714286, 1e-9);
  RG_CLOSE(instance.problem.optimisers[1], 1.428571429, 1e-9);
  himmelblau_optimum("expectation", 1.30570430736, 191, 0.212630511177);
  himmelblau_optimum("ptr(0.18)", 0.989050634866, 163, 0.525803241763);
  himmelblau_optimum("expectation - 4*mad", -0.137353390651, 177, -1.810117189);
}

RG_TEST(sum_of_paths)
{
  static const double q1[] = {0.00323767011452, 0.0191563020152, 0.0726726479361, 0.17677079867,
                              0.275695891297,   0.275695891297,  0.17677079867};
  static const double q2[] = {0.0366328453692, 0.111280758479, 0.216745321404, 0.270682149496,
                              0.216745321404,  0.111280758479, 0.0366328453692};
  RG_OWNED(instance_free) Instance instance = make("gp_path_sum", "expectation", "simulator", 3);
  RG_OWNED(instance_free) Instance same = make("gp_path_sum", "worst", "uncontrollable", 3);
  const double *p = instance.problem.domain.context_prob;
  double least = 1.0, f[2][2][2][2];

  for (int j = 0; j < 343; j++) {
    RG_CLOSE(p[j], q1[j / 49] * q2[j / 7 % 7] * q1[6 - j % 7], 1e-11);
    least = fmin(least, p[j]);
  }
  RG_CLOSE(least, 3.84004086236e-07, 1e-16);
  /* No term sees x1 together with w1, or x2 with w2: those mixed differences vanish. */
  for (int k = 0; k < 16; k++) {
    int a = k & 1, b = k >> 1 & 1, c = k >> 2 & 1, d = k >> 3 & 1;
    f[a][b][c][d] = f_of_indices(&instance.problem, (1 + 3 * a) * 49 + (2 + 2 * b) * 7 + 5,
                                 (1 + 4 * c) * 49 + (3 + d) * 7 + 2);
  }
  RG_CLOSE(f[0][0][0][0] - f[1][0][0][0] - f[0][0][1][0] + f[1][0][1][0], 0.0, 1e-12);
  RG_CLOSE(f[0][0][0][0] - f[0][1][0][0] - f[0][0][0][1] + f[0][1][0][1], 0.0, 1e-12);
  assert_true(fabs(f[0][0][0][0] - f[0][1][0][0] - f[0][0][1][0] + f[0][1][1][0]) > 1e-6);
  /* The function belongs to the instance, whatever the measure and the setting. */
  assert_true(f_of_indices(&instance.problem, 11, 22) == f_of_indices(&same.problem, 11, 22));
}

/* Over many instances f has mean 0, variance 1 and the correlation of its kernel. */
RG_TEST(path_with_context)
{
  double square = 0.0, product = 0.0;
  int count = 0;

  for (uint64_t k = 0; k < 40; k++) {
    RG_OWNED(instance_free)
    Instance instance = make("gp_path_context", "cvar(0.3)", "simulator", k);

    assert_int_equal(instance.problem.domain.context.size, 50);
    RG_CLOSE(instance.problem.domain.context_prob[7], 0.02, 1e-15);
    for (int i = 0; i < 50; i += 7) {
      for (int j = 0; j < 43; j += 7, count++) {
        double a = f_of_indices(&instance.problem, i, j),
               b = f_of_indices(&instance.problem, i, j + 5);
        square += a * a;
        product += a * b;
      }
    }
  }
  RG_CLOSE(square / count, 1.0, 0.15);
  RG_CLOSE(product / count, exp(-0.5 * pow(50.0 / 49.0, 2)), 0.15);
}

/* Nature draws contexts by their probabilities. */
RG_TEST(contexts_follow_their_probabilities)
{
  enum { DRAWS = 20000 };
  RG_OWNED(instance_free)
  Instance instance = make("gp_path_sum", "expectation", "uncontrollable", 0);
  const double *p = instance.problem.domain.context_prob;
  RgStream stream = rg_stream(1, "gp_path_sum", 0, "context", 0);
  int counts[343] = {0};
  double chi = 0.0;

  for (int k = 0; k < DRAWS; k++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)k);
    double c[3];
    int index = -1;

    RG_OK(instance.problem.class->draw_context(&instance.problem, &random, c, &index));
    assert_in_range(index, 0, 342);
    RG_CLOSE(c[2], -2.0 + index % 7 * 2.0 / 3.0, 1e-14);
    counts[index]++;
  }
  for (int j = 0; j < 343; j++) {
    if (p[j] * DRAWS > 1.0) chi += pow(counts[j] - p[j] * DRAWS, 2) / (p[j] * DRAWS);
  }
  assert_true(chi < 343.0 + 5.0 * sqrt(2.0 * 343.0));
}

/* Measures of problems whose contexts follow a law: F by hand from quantiles of a uniform one. */
RG_TEST(measures_of_laws)
{
  enum { N = 1024 };
  static const char *const measures[] = {"worst", "ptr(-0.1)", "sd", "cvar(0.25)",
                                         "0.5*expectation"};
  static const double x = 0.3;
  RgPoint points[N];
  RgFailure failure = {0};
  double c[N], f[N], expected[5] = {INFINITY, 0, 0, 0, 0}, optimum;

  for (int k = 0; k < 5; k++) {
    const Setting settings[] = {{"law", "uniform(0, 1)"}, {"measure", measures[k]}, {NULL, NULL}};
    RG_OWNED(instance_free) Instance instance = instance_make("three_humps_camel", settings, 1, 0);
    assert_string_equal(instance.problem.domain.measure, measures[k]);
    for (int i = 0; i < N; i++) {
      c[i] = (i + 0.5) / N;
      points[i] = (RgPoint){-1, &x, -1, &c[i]};
    }
    RG_OK(rg_problem_evaluate(&instance.problem, N, points, f, &failure));
    if (!k) {
      double mean = 0, squares = 0, below = 0;
      for (int i = 0; i < N; i++) {
        int rank = 0;
        for (int j = 0; j < N; j++) rank += f[j] < f[i] || (f[j] == f[i] && j < i);
        expected[0] = fmin(expected[0], f[i]);
        expected[1] += (f[i] >= -0.1) / (double)N;
        mean += f[i] / N;
        squares += f[i] * f[i] / N;
        if (rank < N / 4) below += f[i] / (N / 4);
      }
      expected[2] = sqrt(squares - mean * mean);
      expected[3] = below;
      expected[4] = 0.5 * mean;
    }
    RG_CLOSE(value_at(&instance.problem, &x), expected[k], 1e-9);
    RG_OK(rg_regret_optimum(&instance.problem, &optimum, NULL, &failure));
    assert_true(optimum >= expected[k] - 1e-9);
    for (double other = 0; other <= 1; other += 0.01)
      assert_true(optimum >= value_at(&instance.problem, &other) - 1e-9);
  }
  const Setting half[] = {
    {"measure", "0.5*expectation"}, {"measure_points", "16384"}, {NULL, NULL}};
  RG_OWNED(instance_free) Instance two = instance_make("modified_branin", half, 1, 0);
  RG_OWNED(instance_free) Instance whole = instance_make("modified_branin", NULL, 1, 0);
  const double at[] = {0.4, 0.7};
  assert_string_equal(whole.problem.domain.measure, "expectation");
  RG_CLOSE(2 * value_at(&two.problem, at), value_at(&whole.problem, at), 1e-3);
}

RG_TEST(mistakes)
{
  const Setting settings[] = {{"measure", "expectation - mda"}, {NULL, NULL}};
  const RgProblemClass *class = rg_registry_find_problem(NULL, "himmelblau_composite");
  void *options = options_make(class, settings);
  RgDiagnostics diagnostics = {0};

  RG_OK(class->check(class, options, (RgPlace){0}, &diagnostics));
  assert_int_equal(diagnostics.n, 1);
  assert_non_null(strstr(diagnostics.list[0].message, "column 15"));
  assert_non_null(strstr(diagnostics.list[0].message, "did you mean 'mad'"));
  options_free(class, options);
}
