/* rrgp_ucb section 8, O10: sixteen steps of every method on the Himmelblau composite, noise-free
   observations, first index of ties, the first observation at design 69, context 92. */
#include "algorithm_bench.h"

#include "algorithm/robust.h"

enum { STEPS = 16, FIRST_X = 69, FIRST_W = 92 };

typedef struct {
  int x, w, recommended; /* x_t, w_t | x-hat_t */
} Step;

/* The surrogate of the paper: exp(-|theta - theta'|^2/10) on [-2.5, 2.5]^4, noise variance 1e-6. */
static void make_surrogate(RgSurrogateOptions *surrogate)
{
  static const char *const settings[][2] = {{"kernel", "gaussian"},
                                            {"ard", "false"},
                                            {"length_scale", "0.447213595499958"},
                                            {"noise_variance", "1e-6"},
                                            {"fit", "fixed"},
                                            {"standardise", "false"},
                                            {"mean", "zero"}};

  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
    set_in(rg_surrogate_params, surrogate, settings[k][0], settings[k][1]);
  }
}

static void append(Bench *race, int x, int w)
{
  const RgDomain *domain = &race->instance.problem.domain;
  const double *design = domain->design.points + 2 * x, *context = domain->context.points + 2 * w;
  double native[2], f;
  RgPoint point = {x, native, w, context};
  RgFailure failure = {0};

  rg_space_to_native(&domain->design, design, native);
  RG_OK(rg_problem_evaluate(&race->instance.problem, 1, &point, &f, &failure));
  RG_OK(rg_history_append(&race->history, design, x, context, w, f));
}

static void race_make(const char *measure, const char *name, const Setting *settings, Bench *race)
{
  const Setting problem[] = {{"measure", measure}, {NULL, NULL}};
  RgDiagnostics diagnostics = {0};

  memset(race, 0, sizeof *race);
  race->instance = instance_make("himmelblau_composite", problem, 1, 0);
  bench_class(race, name);
  make_surrogate(&race->surrogate);
  for (int i = 0; settings && settings[i][0]; i++) {
    bench_set(race, settings[i][0], settings[i][1]);
  }
  RG_OK(rg_algorithm_check(race->class, race->options, &race->instance.problem.domain, (RgPlace){0},
                           &diagnostics));
  if (diagnostics.n) fail_msg("%s", diagnostics.list[0].message);
  bench_create(race,
               (RgSetup){.noise_variance = NAN,
                         .n_initial = 1,
                         .n_iterations = STEPS,
                         .stream = rg_stream(1, "himmelblau_composite", 0, "algorithm", 0)},
               STEPS + 1);
  race->history.n_initial = 1;
  append(race, FIRST_X, FIRST_W);
}

static uint64_t splitmix(uint64_t *state)
{
  uint64_t z = *state += 0x9E3779B97F4A7C15u;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* `numbers`: 2 log N - 2 log U_t from SplitMix64, in place of the method's own draw of beta_t. */
static void run(const char *measure, const char *name, const Setting *settings, bool numbers,
                const Step *steps, double regret)
{
  RG_OWNED(bench_end) Bench race;
  double x[2], c[2], extra[8], F;
  RgQuery query = {.x = x, .c = c, .extra = extra};
  RgFailure failure = {0};
  uint64_t seed = 9;

  race_make(measure, name, settings, &race);
  for (int t = 1; t <= STEPS; t++) {
    const Step *step = &steps[t - 1];
    int recommended;

    RG_OK(race.algorithm.class->recommend(&race.algorithm, t - 1, &race.history, &query, &failure));
    recommended = query.index;
    if (numbers) {
      double u = ((double)(splitmix(&seed) >> 11) + 0.5) * 0x1p-53;
      RG_OK(rg_robust_ucb_step(&race.algorithm, t, &race.history, 2.0 * log(50625.0 / u), true,
                               &query));
    } else {
      RG_OK(rg_algorithm_ask(&race.algorithm, t, &race.history, &query, &failure));
    }
    assert_false(failure.failed);
    if (query.index != step->x || query.context_index != step->w ||
        recommended != step->recommended)
      fail_msg("%s/%s, step %d: %d,%d|%d instead of %d,%d|%d", name, measure, t, query.index,
               query.context_index, recommended, step->x, step->w, step->recommended);
    if (t == STEPS) {
      RgPoint point = {recommended, x, -1, NULL};
      RG_OK(rg_problem_objective(&race.instance.problem, 1, &point, &F, &failure));
      RG_CLOSE(race.instance.problem.optimum - F, regret, 1e-9);
    }
    append(&race, query.index, query.context_index);
  }
}

static const char exp_mad[] = "expectation - 4*mad", ptr[] = "ptr(0.18)";
static const Setting fixed[] = {{"confidence", "fixed"}, {NULL, NULL}};

#define FIXED_FIRST_11                                                                             \
  {210, 224, 210}, {224, 14, 224}, {0, 14, 224}, {224, 210, 224}, {14, 224, 14}, {119, 0, 14},     \
    {119, 119, 14}, {218, 4, 14}, {14, 210, 14}, {90, 210, 14},                                    \
  {                                                                                                \
    14, 11, 14                                                                                     \
  }

/* Both are the same method for the expectation (claim R13). */
RG_TEST(fixed_widths_and_the_expectation)
{
  static const Step steps[] = {FIXED_FIRST_11, {224, 224, 149}, {0, 224, 59},
                               {210, 14, 59},  {59, 217, 59},   {74, 81, 74}};

  run("expectation", "rrgp_ucb", fixed, false, steps, 0.5976766799);
  run("expectation", "bbbmobo", fixed, false, steps, 0.5976766799);
}

RG_TEST(fixed_widths_and_deviations)
{
  static const Step proposed[] = {FIXED_FIRST_11, {224, 224, 210}, {0, 224, 210},
                                  {210, 14, 210}, {210, 90, 210},  {59, 217, 74}};
  static const Step upper[] = {FIXED_FIRST_11, {224, 224, 210}, {0, 224, 210},
                               {210, 14, 210}, {59, 217, 210},  {74, 81, 89}};

  run(exp_mad, "rrgp_ucb", fixed, false, proposed, 0.1424444541);
  run(exp_mad, "bbbmobo", fixed, false, upper, 0.1359507970);
}

RG_TEST(random_widths)
{
  static const Step deviations[] = {
    {210, 224, 210}, {224, 14, 224}, {0, 14, 224},  {224, 210, 224}, {14, 224, 14},   {134, 0, 14},
    {134, 146, 14},  {218, 5, 14},   {75, 210, 14}, {14, 14, 14},    {224, 224, 134}, {59, 210, 74},
    {59, 6, 89},     {59, 217, 74},  {6, 164, 74},  {120, 0, 74}};
  static const Step threshold[] = {{0, 224, 0},    {2, 14, 0},     {7, 210, 0},     {9, 149, 0},
                                   {14, 10, 14},   {52, 0, 11},    {65, 218, 11},   {66, 9, 10},
                                   {53, 224, 142}, {60, 105, 127}, {71, 215, 129},  {160, 104, 160},
                                   {192, 0, 192},  {71, 14, 160},  {115, 210, 115}, {40, 113, 129}};

  run(exp_mad, "rrgp_ucb", NULL, true, deviations, 0.1424444541);
  run(ptr, "rrgp_ucb", NULL, true, threshold, 0.3743337825);
}

RG_TEST(bbbmobo)
{
  static const Step steps[] = {{210, 224, 210}, {224, 14, 224},  {0, 14, 224},   {224, 210, 224},
                               {14, 224, 14},   {218, 0, 14},    {134, 146, 14}, {90, 210, 104},
                               {218, 218, 104}, {7, 216, 89},    {14, 14, 104},  {105, 0, 134},
                               {105, 115, 134}, {224, 224, 134}, {59, 210, 89},  {59, 0, 89}};

  run("expectation", "bbbmobo", NULL, false, steps, 0.6051564785);
}

RG_TEST(quadrature)
{
  static const Step steps[] = {{210, 224, 210}, {224, 14, 224},  {224, 210, 224}, {0, 14, 0},
                               {14, 224, 14},   {14, 14, 14},    {224, 0, 224},   {218, 128, 224},
                               {218, 224, 218}, {212, 0, 215},   {213, 210, 216}, {214, 14, 217},
                               {224, 149, 218}, {222, 217, 219}, {214, 7, 216},   {214, 105, 216}};

  run("expectation", "bq", NULL, false, steps, 0.4055111558);
}

RG_TEST(probability_threshold)
{
  static const Step theory[] = {{210, 224, 0}, {224, 14, 0},   {224, 134, 0}, {224, 224, 0},
                                {0, 14, 224},  {14, 104, 224}, {14, 188, 14}, {10, 156, 14},
                                {59, 171, 14}, {42, 206, 29},  {72, 141, 44}, {89, 169, 44},
                                {73, 203, 59}, {104, 25, 74},  {86, 128, 74}, {104, 32, 74}};
  static const Step width3[] = {{210, 224, 0}, {224, 14, 0},   {224, 134, 0}, {224, 224, 0},
                                {0, 14, 224},  {14, 104, 224}, {12, 189, 14}, {10, 98, 14},
                                {8, 206, 14},  {59, 35, 14},   {59, 187, 14}, {41, 171, 14},
                                {89, 189, 14}, {85, 142, 74},  {104, 45, 44}, {104, 124, 44}};

  run(ptr, "bpt_ucb", NULL, false, theory, 0.0485777456);
  run(ptr, "bpt_ucb", fixed, false, width3, 0.0551329515);
}

RG_TEST(uncertainty)
{
  static const Step steps[] = {{210, 224, 210}, {224, 14, 224},  {0, 14, 224},    {14, 224, 224},
                               {210, 0, 224},   {224, 210, 224}, {0, 217, 14},    {210, 210, 14},
                               {14, 14, 14},    {210, 14, 224},  {224, 224, 224}, {224, 0, 14},
                               {0, 0, 14},      {14, 210, 14},   {14, 0, 14},     {96, 134, 9}};

  run("expectation", "uncertainty_sampling", NULL, false, steps, 1.4173928836);
}

/* Random draws beta_t = 2 log N + chi^2_2; designs and contexts of random sampling. */
RG_TEST(random_numbers)
{
  const Setting uniform[] = {{"contexts", "uniform"}, {NULL, NULL}};
  Bench race;
  double x[2], c[2], extra[8], sum = 0.0, least = INFINITY, w1 = 0.0;
  RgQuery query = {.x = x, .c = c, .extra = extra};
  RgFailure failure = {0};

  race_make("expectation", "rrgp_ucb", NULL, &race);
  for (int t = 1; t <= 400; t++) {
    RG_OK(rg_algorithm_ask(&race.algorithm, t, &race.history, &query, &failure));
    sum += extra[RG_ROBUST_CONFIDENCE];
    least = fmin(least, extra[RG_ROBUST_CONFIDENCE]);
  }
  assert_true(least >= 21.6644016088 - 1e-9 && least < 21.6644016088 + 0.1);
  RG_CLOSE(sum / 400.0, 23.6644016088, 0.02); /* deviation of the mean: 0.1 */
  bench_end(&race);
  race_make("expectation", "random_sampling", NULL, &race);
  for (int t = 1; t <= 2000; t++) {
    RG_OK(rg_algorithm_ask(&race.algorithm, t, &race.history, &query, &failure));
    w1 += c[0] * 5.0 - 2.5;
  }
  RG_CLOSE(w1 / 2000.0, 0.803178556943, 0.1);
  bench_end(&race);
  w1 = 0.0;
  race_make("expectation", "random_sampling", uniform, &race);
  for (int t = 1; t <= 2000; t++) {
    RG_OK(rg_algorithm_ask(&race.algorithm, t, &race.history, &query, &failure));
    w1 += c[0] * 5.0 - 2.5;
  }
  RG_CLOSE(w1 / 2000.0, 0.0, 0.1);
  bench_end(&race);
}

/* Random among equal upper bounds: more than one design, all of them tied. */
RG_TEST(random_ties)
{
  const Setting settings[] = {{"ties", "random"}, {NULL, NULL}};
  RG_OWNED(bench_end) Bench race;
  double x[2], c[2], extra[8];
  RgQuery query = {.x = x, .c = c, .extra = extra};
  RgFailure failure = {0};
  int first = -1, different = 0;

  race_make(ptr, "bbbmobo", settings, &race);
  for (int t = 1; t <= 20; t++) {
    RG_OK(rg_algorithm_ask(&race.algorithm, t, &race.history, &query, &failure));
    RG_CLOSE(extra[RG_ROBUST_ACQUISITION], 1.0, 1e-12);
    if (first < 0) first = query.index;
    different += query.index != first;
  }
  assert_true(different > 5);
}

/* Methods made for one measure refuse other measures, unless the study allows them. */
RG_TEST(measures_are_checked)
{
  static const struct {
    const char *name, *measure, *expected;
  } cases[] = {{"bq", exp_mad, "made for the measure 'expectation'"},
               {"bpt_ucb", "expectation", "made for the measure 'ptr(theta)'"}};

  for (int k = 0; k < 2; k++) {
    const Setting problem[] = {{"measure", cases[k].measure}, {NULL, NULL}};
    const RgAlgorithmClass *class = rg_registry_find_algorithm(NULL, cases[k].name);
    RG_OWNED(instance_free)
    Instance instance = instance_make("himmelblau_composite", problem, 1, 0);
    RgDiagnostics diagnostics = {0};
    void *options;

    RG_OK(PetscCalloc(class->options_size, &options));
    RG_OK(rg_params_defaults(class->params, options));
    RG_OK(rg_algorithm_check(class, options, &instance.problem.domain, (RgPlace){0}, &diagnostics));
    assert_int_equal(diagnostics.n, 1);
    assert_non_null(strstr(diagnostics.list[0].message, cases[k].expected));
    set_in(class->params, options, "any_measure", "true");
    diagnostics.n = 0;
    RG_OK(rg_algorithm_check(class, options, &instance.problem.domain, (RgPlace){0}, &diagnostics));
    assert_int_equal(diagnostics.n, k); /* bpt_ucb needs a threshold then */
    set_in(class->params, options, "measure", "wurst");
    RG_OK(rg_algorithm_check(class, options, &instance.problem.domain, (RgPlace){0}, &diagnostics));
    assert_non_null(strstr(diagnostics.list[k].message, "did you mean 'worst'"));
    RG_OK(rg_params_clear(class->params, options));
    RG_OK(PetscFree(options));
  }
}
