/* Functions of the studies of BOKE (arXiv:2502.06178), of IRGP-UCB (arXiv:2409.00979) and of parallel
   optimisation. Values were computed independently in Python and negated here, or are published. */
#include "test_problem.h"

#define AT(...) ((const double[]){__VA_ARGS__})

static const struct {
  const char *name;
  Setting settings[3];
  double x[8], value, tolerance;
} values[] = {
  {"forrester", {{0}}, {0}, -3.02720998123, 1e-11},
  {"forrester", {{0}}, {0.5}, -0.909297426826, 1e-11},
  {"forrester", {{0}}, {1}, -15.829731946, 1e-11},
  {"goldstein_price", {{0}}, {0, -1}, -3, 1e-15},
  {"goldstein_price", {{0}}, {0, 0}, -600, 1e-15},
  {"goldstein_price", {{0}}, {1, 1}, -1876, 1e-15},
  {"goldstein_price", {{"variant", "standardised"}}, {0.5, 0.25}, 3.12917207604, 1e-11},
  {"goldstein_price", {{"variant", "standardised"}}, {0.5, 0.5}, 0.946009454359, 1e-11},
  {"goldstein_price", {{"variant", "standardised"}}, {0, 0}, -0.580392402104, 1e-11},
  {"six_hump_camel", {{0}}, {1, 0.5}, -1.98333333333, 1e-11},
  {"six_hump_camel", {{0}}, {-2, 1}, -1.73333333333, 1e-11},
  {"six_hump_camel", {{"variant", "wide"}}, {3, 2}, -162.9, 1e-12},
  {"hartmann3", {{0}}, {0.5, 0.5, 0.5}, 0.628022096175, 1e-11},
  {"hartmann3", {{0}}, {0, 0, 0}, 0.0679741165901, 1e-11},
  {"hartmann6", {{0}}, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 0.50531499170223, 1e-13},
  {"hartmann6", {{0}}, {0.2, 0.15, 0.477, 0.275, 0.311, 0.657}, 3.322305690787, 1e-12},
  {"hartmann6", {{0}}, {0.2, 0.15, 0.48, 0.27, 0.31, 0.66}, 3.3210939149313, 1e-13},
  {"rosenbrock", {{0}}, {0, 0, 0, 0}, -3, 1e-15},
  {"rosenbrock", {{0}}, {2, 2, 2, 2}, -1203, 1e-15},
  {"rosenbrock", {{0}}, {-1, 1, 1, 1}, -4, 1e-15},
  {"rosenbrock", {{"variant", "standardised"}}, {0.5, 0.5, 0.5, 0.5}, 1.00844123502, 1e-11},
  {"rosenbrock", {{"variant", "standardised"}}, {0, 0, 0, 0}, 0.299921654585, 1e-11},
  {"rosenbrock", {{"variant", "standardised"}}, {4.0 / 15, 0.4, 0.4, 0.4}, 1.01969062304, 1e-11},
  {"sphere", {{0}}, {1, -2, 3, 0.5, 0, 5}, -39.25, 1e-15},
  {"sphere", {{"variant", "standardised"}}, {.5, .5, .5, .5, .5, .5}, 1.17023238832, 1e-11},
  {"sphere", {{"variant", "standardised"}}, {0, 0, 0, 0, 0, 0}, 0.591451726711, 1e-11},
  {"sphere", {{"variant", "standardised"}}, {1, 1, 1, 1, 1, 1}, 0.905439965895, 1e-11},
  {"sphere", {{"variant", "standardised"}}, {.1, .2, .3, .4, .5, .6}, 0.0976789816264, 1e-11},
  {"sphere", {{"variant", "weighted"}}, {0, 0, 0, 0, 0, 0}, 1.94104560623, 1e-11},
  {"sphere", {{"variant", "weighted"}}, {.1, .2, .3, .4, .5, .6}, 1.90266963293, 1e-11},
  {"damped_cosine", {{0}}, {0}, -1, 0},
  {"damped_cosine", {{0}}, {0.5}, -0.351138835748, 1e-12},
  {"damped_cosine", {{0}}, {0.274196693793}, 0.67576083138, 1e-11},
  {"damped_cosine", {{0}}, {0.845625265221}, 0.303638914355, 1e-12},
  {"branin", {{0}}, {1, 2}, -21.627635392062, 1e-13},
  {"branin", {{0}}, {0, 0}, -(36 + 20 - 10 / (8 * M_PI)), 1e-15},
  {"holder_table", {{0}}, {0, 0}, 0, 1e-15},
  {"holder_table", {{0}}, {1, 2}, 0.467160032399, 1e-12},
  {"holder_table", {{0}}, {-3, 4}, 0.166661878779, 1e-12},
  {"holder_table", {{0}}, {8.05502, 9.66459}, 19.2085025678, 5e-12},
  {"holder_table", {{0}}, {10, 9.64222733}, 16.26783290, 1e-9},
  {"holder_table", {{0}}, {-4.85385585, 9.70211388}, 11.06955117, 1e-9},
  {"holder_table", {{0}}, {8.09758273, -6.47949736}, 9.50467703, 1e-9},
  {"cross_in_tray", {{0}}, {0, 0}, 0.0001, 1e-15},
  {"cross_in_tray", {{0}}, {1, 2}, 1.99713708081, 1e-11},
  {"cross_in_tray", {{0}}, {-3, 4}, 1.50204111364, 1e-11},
  {"cross_in_tray", {{0}}, {4.41907587, -1.47062216}, 1.88993805, 1e-8},
  {"cross_in_tray", {{0}}, {4.49099927, 4.49099927}, 1.79060172, 1e-8},
  {"ackley", {{0}}, {1, 2, -3, 4}, -8.43469444444, 1e-12},
  {"ackley", {{0}}, {0.5, 0.5, 0.5, 0.5}, -4.25365402657, 1e-12},
  {"ackley", {{0}}, {32.768, 32.768, 32.768, 32.768}, -21.5703111513, 1e-12},
  {"eggholder", {{0}}, {0, 0}, 25.460337185286, 1e-13},
  {"eggholder", {{0}}, {100, -200}, 81.686267483653, 1e-13},
  {"eggholder", {{0}}, {-512, 512}, -1049.1316235045, 1e-13},
  {"michalewicz", {{"dim", "2"}}, {2.2, 1.57}, 1.8011407184738, 1e-13},
  {"michalewicz", {{0}}, {1, 1, 1, 1, 1}, 1.1949258645683, 1e-13},
  {"michalewicz", {{0}}, {2, 2.5, 1.3, 0.7, 3}, 1.4169500692695, 1e-13},
  {"michalewicz", {{"dim", "3"}, {"steepness", "1"}}, {1, 2, 0.5}, 0.39499666405282, 1e-13},
  {"levy", {{0}}, {0, 0, 0, 0}, -0.89753366235092, 1e-13},
  {"levy", {{"dim", "2"}}, {-10, 5}, -81.257808951846, 1e-13},
  {"levy", {{"dim", "1"}}, {3.5}, -1.4394908905933, 1e-13},
  {"griewank", {{"dim", "2"}}, {100, -50}, -4.7271305211516, 1e-13},
  {"griewank", {{0}}, {1, 2, 3, 4}, -1.0018703780032, 1e-13},
  {"styblinski_tang", {{"dim", "3"}}, {1, -2, 3}, 58, 1e-14},
  {"styblinski_tang", {{"dim", "2"}}, {0.5, 0.5}, 1.4375, 1e-14},
  {"cosine8", {{0}}, {.1, .1, .1, .1, .1, .1, .1, .1}, -0.08, 1e-13},
  {"cosine8", {{0}}, {1, -1, .5, -.5, .3, .2, 0, -.7}, -3.32, 1e-13},
  {"currin_exp", {{0}}, {.5, .5}, 7.4051239132988, 1e-13},
  {"currin_exp", {{0}}, {.1, .9}, 4.8558678931677, 1e-13},
  {"currin_exp", {{0}}, {1, 1}, 4.0053161049765, 1e-13},
  {"park1", {{0}}, {.5, .5, .5, .5}, 8.9261303633639, 1e-13},
  {"park1", {{0}}, {.1, .9, .3, .2}, 2.735062103482, 1e-13},
  {"park1", {{0}}, {0, .75, 0, 1}, 8.587858187269355, 1e-14},
  {"park2", {{0}}, {.5, .5, .5, .5}, 2.0724751163373, 1e-13},
  {"park2", {{0}}, {.1, .9, .3, .2}, 2.0530838443071, 1e-13},
  {"currin_exp", {{"copies", "3"}}, {.5, .5, .1, .9, 1, 1}, 16.266307911443015, 1e-14},
};

RG_TEST(known_values)
{
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    RG_CLOSE(value_of(values[i].name, values[i].settings, values[i].x), values[i].value,
             values[i].tolerance);
}

RG_TEST(test_sprinkler)
{
  static const Setting outputs[][2] = {
    {{"output", "consumption"}, {0}}, {{"output", "range"}, {0}}, {{"output", "speed"}, {0}}};
  static const struct {
    double x[8], out[3];
  } known[] = {
    {{33, 18, 2e-6, 0.18, 0.015, 0.0199, 1.54, 7.5}, {4.21839666169, 5.32114226791, 3.12404576741}},
    {{45, 45, 3e-6, 0.15, 0.015, 0.015, 1.5, 7.5}, {6.19985616493, 6.07441321247, 2.75967581385}},
    {{0, 0, 2e-6, 0.1, 0.01, 0.01, 1, 5}, {3.31355946191, 0.253443834496, 2.57241334862}},
    {{90, 90, 4e-6, 0.2, 0.02, 0.02, 2, 10}, {9.5617403133, 0, 0}},
    {{9, 18, 2.6e-6, 0.14, 0.015, 0.016, 1.7, 9}, {5.78748359983, 4.08291946307, 5.38788046025}},
    {{72, 63, 3.2e-6, 0.15, 0.014, 0.013, 1.2, 5.5},
     {5.70162767303, 2.99820064158, 0.0160110949773}},
    {{32, 80, 4e-6, 0.15, 0.015, 0.015, 2, 10}, {9.5617403133, 8.01433757236, 0.131244397117}},
  };

  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    for (int k = 0; k < 3; k++)
      RG_CLOSE(value_of("sprinkler", outputs[k], known[i].x), (k ? 1 : -1) * known[i].out[k],
               2e-12);
}

static const Setting standardised[] = {{"variant", "standardised"}, {0}};
static const Setting weighted[] = {{"variant", "weighted"}, {0}};
static const Setting wide[] = {{"variant", "wide"}, {0}};
static const Setting rounded[] = {{"constant", "rounded"}, {0}};

/* The reference polished Hartmann's optimisers to 3e-8, and those of two functions that have one in each quadrant. */
RG_TEST(known_optimisers)
{
  static const struct {
    const char *name;
    const Setting *settings;
    double optimum, x[6]; /* x: the first optimiser, or all of them up to signs */
  } known[] = {
    {"forrester", NULL, 6.02074005577, {0.757248757842}},
    {"goldstein_price", NULL, -3, {0, -1}},
    {"goldstein_price", standardised, 3.12917207604, {0.5, 0.25}},
    {"six_hump_camel", NULL, 1.03162845349, {0.0898420131003, -0.712656403021}},
    {"six_hump_camel", wide, 1.03162845349, {0.0898420131003, -0.712656403021}},
    {"hartmann3", NULL, 3.86278214782, {0.114614354653, 0.555648847441, 0.852546952654}},
    {"hartmann3", rounded, 3.86277978733, {0.114588884671, 0.555648894862, 0.852546985212}},
    {"hartmann6", NULL, 3.32236801141551, {.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573}},
    {"rosenbrock", NULL, 0, {1, 1, 1, 1}},
    {"rosenbrock", standardised, 1.01970128218, {0.4, 0.4, 0.4, 0.4}},
    {"sphere", NULL, 0, {0}},
    {"sphere", standardised, 1.9413885996, {1, 0.8, 0.6, 0.4, 0.2, 0}},
    {"sphere", weighted, 1.94104560623, {0}},
    {"damped_cosine", NULL, 0.67576083137978782, {0.27419669379263343}},
    {"holder_table", NULL, 19.208502567887, {8.055023476, 9.664590019}},
    {"cross_in_tray", NULL, 2.062611870823, {1.349406617, 1.349406617}},
    {"branin", NULL, -0.39788735772974, {-3.14159265359, 12.275}},
  };

  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    RG_OWNED(instance_free) Instance it = instance_make(known[k].name, known[k].settings, 1, 0);
    const bool signs = strstr("holder_table cross_in_tray", known[k].name);
    const double accuracy = signs ? 1e-9 : strncmp(known[k].name, "hart", 4) ? 1e-12 : 2e-6;
    const int dim = it.problem.domain.design.dim;
    RG_CLOSE(it.problem.optimum, known[k].optimum, 5e-12);
    if (signs) assert_int_equal(it.problem.n_optimisers, 4);
    for (int i = 0; i < (signs ? 4 : 1) * dim; i++) {
      const double found = it.problem.optimisers[i];
      RG_CLOSE(signs ? fabs(found) : found, known[k].x[i % dim], accuracy);
    }
  }
}

RG_TEST(published_optima)
{
  static const struct {
    const char *name;
    Setting settings[2];
    double optimum, tolerance;
  } known[] = {
    {"eggholder", {{0}}, 959.6407, 1e-7},
    {"michalewicz", {{"dim", "2"}}, 1.801303410099, 1e-12},
    {"michalewicz", {{"dim", "5"}}, 4.687658179088, 1e-12},
    {"michalewicz", {{"dim", "10"}}, 9.660151715641, 1e-12},
    {"styblinski_tang", {{"dim", "2"}}, 78.33233140754283, 1e-14},
    {"cosine8", {{0}}, 0.8, 1e-15},
    {"currin_exp", {{0}}, 13.7987220447284, 1e-13},
    {"park1", {{0}}, 25.5892541586065, 1e-13},
    {"park2", {{0}}, 5.926037399287, 1e-12},
  };

  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    RG_OWNED(instance_free) Instance it = instance_make(known[k].name, known[k].settings, 1, 0);
    RG_CLOSE(it.problem.optimum, known[k].optimum, known[k].tolerance);
  }
}

/* A sum over blocks of coordinates: of values, of bounds, of optima. */
RG_TEST(test_copies)
{
  static const Setting two[] = {{"copies", "2"}, {0}}, three[] = {{"copies", "3"}, {0}};
  Instance it = instance_make("branin", two, 1, 0);
  const RgSpace *box = &it.problem.domain.design;

  RG_CLOSE(value_at(&it.problem, AT(1, 2, 3, 4)), -24.720120303379954, 1e-14);
  assert_true(box->lower[2] == -5 && box->upper[2] == 10 && box->upper[3] == 15);
  RG_CLOSE(it.problem.optimum, -2 * 0.39788735772974, 1e-13);
  instance_free(&it);
  RG_CLOSE(value_of("currin_exp", three, AT(.5, .5, .1, .9, 1, 1)), 16.266307911443015, 1e-14);
  it = instance_make("hartmann6", two, 1, 0);
  assert_int_equal(it.problem.domain.design.dim, 12);
  RG_CLOSE(it.problem.optimum, 2 * 3.32236801141551, 1e-13);
  instance_free(&it);
}

/* More combinations of optimisers than are kept: all kept ones are optimal and distinct. */
RG_TEST(test_many_copies)
{
  static const Setting ten[] = {{"copies", "10"}, {0}};
  RG_OWNED(instance_free) Instance it = instance_make("branin", ten, 1, 0);
  const RgProblem *p = &it.problem;

  assert_int_equal(p->n_optimisers, 4096);
  for (int i = 0; i < p->n_optimisers; i += 455) {
    RG_CLOSE(value_at(&it.problem, p->optimisers + (size_t)i * 20), p->optimum, 1e-12);
    if (i) assert_memory_not_equal(p->optimisers, p->optimisers + (size_t)i * 20, 20 * 8);
  }
}

/* E max f = 3.137 +- 0.004 with 5/50/95 percent quantiles 2.58/3.10/3.83: the whole chain from the
   instance's stream to the scanned optimum. */
RG_TEST(test_mean_of_maxima)
{
  enum { N = 1000 };
  double sum = 0;
  int below = 0;

  for (int i = 0; i < N; i++) {
    RG_OWNED(instance_free) Instance it = instance_make("gp_path", NULL, 2024, (uint64_t)i);
    sum += it.problem.optimum;
    below += it.problem.optimum < 3.10;
  }
  RG_CLOSE(sum / N, 3.137, 4 * (0.38 / sqrt(N) + 0.004) / 3.137);
  RG_CLOSE((double)below / N, 0.5, 4 * 0.5 / sqrt(N));
}
