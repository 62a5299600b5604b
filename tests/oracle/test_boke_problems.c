/* Benchmarks of the BOKE study (arXiv:2502.06178) and the other classical ones: values computed
   independently in Python, negated here. */
#include "test_problem.h"

#define AT(...) ((const double[]){__VA_ARGS__})

static const Setting standardised[] = {{"variant", "standardised"}, {0}};
static const Setting weighted[] = {{"variant", "weighted"}, {0}};
static const Setting wide[] = {{"variant", "wide"}, {0}};
static const Setting rounded[] = {{"constant", "rounded"}, {0}};

RG_TEST(test_forrester)
{
  RG_CLOSE(value_of("forrester", NULL, AT(0)), -3.02720998123, 1e-11);
  RG_CLOSE(value_of("forrester", NULL, AT(0.5)), -0.909297426826, 1e-11);
  RG_CLOSE(value_of("forrester", NULL, AT(1)), -15.829731946, 1e-11);
}

RG_TEST(test_goldstein_price)
{
  RG_CLOSE(value_of("goldstein_price", NULL, AT(0, -1)), -3, 1e-15);
  RG_CLOSE(value_of("goldstein_price", NULL, AT(0, 0)), -600, 1e-15);
  RG_CLOSE(value_of("goldstein_price", NULL, AT(1, 1)), -1876, 1e-15);
  RG_CLOSE(value_of("goldstein_price", standardised, AT(0.5, 0.25)), 3.12917207604, 1e-11);
  RG_CLOSE(value_of("goldstein_price", standardised, AT(0.5, 0.5)), 0.946009454359, 1e-11);
  RG_CLOSE(value_of("goldstein_price", standardised, AT(0, 0)), -0.580392402104, 1e-11);
}

RG_TEST(test_six_hump_camel)
{
  RG_CLOSE(value_of("six_hump_camel", NULL, AT(1, 0.5)), -1.98333333333, 1e-11);
  RG_CLOSE(value_of("six_hump_camel", NULL, AT(-2, 1)), -1.73333333333, 1e-11);
  RG_CLOSE(value_of("six_hump_camel", wide, AT(3, 2)), -162.9, 1e-12);
}

RG_TEST(test_hartmann)
{
  RG_CLOSE(value_of("hartmann3", NULL, AT(0.5, 0.5, 0.5)), 0.628022096175, 1e-11);
  RG_CLOSE(value_of("hartmann3", NULL, AT(0, 0, 0)), 0.0679741165901, 1e-11);
  RG_CLOSE(value_of("hartmann6", NULL, AT(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)), 0.50531499170223, 1e-13);
  RG_CLOSE(value_of("hartmann6", NULL, AT(0.2, 0.15, 0.477, 0.275, 0.311, 0.657)), 3.322305690787,
           1e-12);
  RG_CLOSE(value_of("hartmann6", NULL, AT(0.2, 0.15, 0.48, 0.27, 0.31, 0.66)), 3.3210939149313,
           1e-13);
}

RG_TEST(test_rosenbrock)
{
  RG_CLOSE(value_of("rosenbrock", NULL, AT(0, 0, 0, 0)), -3, 1e-15);
  RG_CLOSE(value_of("rosenbrock", NULL, AT(2, 2, 2, 2)), -1203, 1e-15);
  RG_CLOSE(value_of("rosenbrock", NULL, AT(-1, 1, 1, 1)), -4, 1e-15);
  RG_CLOSE(value_of("rosenbrock", standardised, AT(0.5, 0.5, 0.5, 0.5)), 1.00844123502, 1e-11);
  RG_CLOSE(value_of("rosenbrock", standardised, AT(0, 0, 0, 0)), 0.299921654585, 1e-11);
  RG_CLOSE(value_of("rosenbrock", standardised, AT(4.0 / 15, 0.4, 0.4, 0.4)), 1.01969062304, 1e-11);
}

RG_TEST(test_sphere)
{
  RG_CLOSE(value_of("sphere", NULL, AT(1, -2, 3, 0.5, 0, 5)), -39.25, 1e-15);
  RG_CLOSE(value_of("sphere", standardised, AT(.5, .5, .5, .5, .5, .5)), 1.17023238832, 1e-11);
  RG_CLOSE(value_of("sphere", standardised, AT(0, 0, 0, 0, 0, 0)), 0.591451726711, 1e-11);
  RG_CLOSE(value_of("sphere", standardised, AT(1, 1, 1, 1, 1, 1)), 0.905439965895, 1e-11);
  RG_CLOSE(value_of("sphere", standardised, AT(.1, .2, .3, .4, .5, .6)), 0.0976789816264, 1e-11);
  RG_CLOSE(value_of("sphere", weighted, AT(0, 0, 0, 0, 0, 0)), 1.94104560623, 1e-11);
  RG_CLOSE(value_of("sphere", weighted, AT(.1, .2, .3, .4, .5, .6)), 1.90266963293, 1e-11);
}

RG_TEST(test_damped_cosine)
{
  RG_CLOSE(value_of("damped_cosine", NULL, AT(0)), -1, 0);
  RG_CLOSE(value_of("damped_cosine", NULL, AT(0.5)), -0.351138835748, 1e-12);
  RG_CLOSE(value_of("damped_cosine", NULL, AT(0.274196693793)), 0.67576083138, 1e-11);
  RG_CLOSE(value_of("damped_cosine", NULL, AT(0.845625265221)), 0.303638914355, 1e-12);
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

/* h(1, 2), and the value at the origin that every collection prints: 55.6021. */
RG_TEST(test_branin)
{
  RG_CLOSE(value_of("branin", NULL, AT(1, 2)), -21.627635392062, 1e-13);
  RG_CLOSE(value_of("branin", NULL, AT(0, 0)), -(36 + 20 - 10 / (8 * M_PI)), 1e-15);
}

RG_TEST(test_optima)
{
  static const struct {
    const char *name;
    const Setting *settings;
    double optimum;
    double x[6]; /* one optimiser, up to the sign of all coordinates */
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
    {"branin", NULL, -0.39788735772974, {-3.14159265359, 12.275}},
  };

  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    Instance it = instance_make(known[k].name, known[k].settings, 1, 0);
    RG_CLOSE(it.problem.optimum, known[k].optimum, 5e-12);
    for (int j = 0; j < it.problem.domain.design.dim; j++)
      /* The reference polished Hartmann's optimisers to 3e-8 only. */
      RG_CLOSE(it.problem.optimisers[j], known[k].x[j],
               strncmp(known[k].name, "hart", 4) ? 1e-12 : 2e-6);
    instance_free(&it);
  }
}
