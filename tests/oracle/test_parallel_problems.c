/* Benchmarks of the studies of parallel optimisation: values computed independently in Python, and
   published optima. */
#include "test_problem.h"

#define AT(...) ((const double[]){__VA_ARGS__})

static const Setting dim1[] = {{"dim", "1"}, {0}};
static const Setting dim2[] = {{"dim", "2"}, {0}};
static const Setting dim3[] = {{"dim", "3"}, {0}};
static const Setting dim5[] = {{"dim", "5"}, {0}};
static const Setting dim10[] = {{"dim", "10"}, {0}};
static const Setting flat[] = {{"dim", "3"}, {"steepness", "1"}, {0}};
static const Setting two[] = {{"copies", "2"}, {0}};
static const Setting three[] = {{"copies", "3"}, {0}};

RG_TEST(test_eggholder)
{
  RG_CLOSE(value_of("eggholder", NULL, AT(0, 0)), 25.460337185286, 1e-13);
  RG_CLOSE(value_of("eggholder", NULL, AT(100, -200)), 81.686267483653, 1e-13);
  RG_CLOSE(value_of("eggholder", NULL, AT(-512, 512)), -1049.1316235045, 1e-13);
}

RG_TEST(test_michalewicz)
{
  RG_CLOSE(value_of("michalewicz", dim2, AT(2.2, 1.57)), 1.8011407184738, 1e-13);
  RG_CLOSE(value_of("michalewicz", NULL, AT(1, 1, 1, 1, 1)), 1.1949258645683, 1e-13);
  RG_CLOSE(value_of("michalewicz", NULL, AT(2, 2.5, 1.3, 0.7, 3)), 1.4169500692695, 1e-13);
  RG_CLOSE(value_of("michalewicz", flat, AT(1, 2, 0.5)), 0.39499666405282, 1e-13);
}

RG_TEST(test_levy)
{
  RG_CLOSE(value_of("levy", NULL, AT(0, 0, 0, 0)), -0.89753366235092, 1e-13);
  RG_CLOSE(value_of("levy", dim2, AT(-10, 5)), -81.257808951846, 1e-13);
  RG_CLOSE(value_of("levy", dim1, AT(3.5)), -1.4394908905933, 1e-13);
}

RG_TEST(test_griewank)
{
  RG_CLOSE(value_of("griewank", dim2, AT(100, -50)), -4.7271305211516, 1e-13);
  RG_CLOSE(value_of("griewank", NULL, AT(1, 2, 3, 4)), -1.0018703780032, 1e-13);
}

RG_TEST(test_styblinski_tang)
{
  RG_CLOSE(value_of("styblinski_tang", dim3, AT(1, -2, 3)), 58, 1e-14);
  RG_CLOSE(value_of("styblinski_tang", dim2, AT(0.5, 0.5)), 1.4375, 1e-14);
}

RG_TEST(test_cosine8)
{
  RG_CLOSE(value_of("cosine8", NULL, AT(.1, .1, .1, .1, .1, .1, .1, .1)), -0.08, 1e-13);
  RG_CLOSE(value_of("cosine8", NULL, AT(1, -1, .5, -.5, .3, .2, 0, -.7)), -3.32, 1e-13);
}

RG_TEST(test_currin_exp)
{
  RG_CLOSE(value_of("currin_exp", NULL, AT(.5, .5)), 7.4051239132988, 1e-13);
  RG_CLOSE(value_of("currin_exp", NULL, AT(.1, .9)), 4.8558678931677, 1e-13);
  RG_CLOSE(value_of("currin_exp", NULL, AT(1, 1)), 4.0053161049765, 1e-13);
}

RG_TEST(test_park)
{
  RG_CLOSE(value_of("park1", NULL, AT(.5, .5, .5, .5)), 8.9261303633639, 1e-13);
  RG_CLOSE(value_of("park1", NULL, AT(.1, .9, .3, .2)), 2.735062103482, 1e-13);
  /* The limit at x1 = 0, half of the root of 0.75. */
  RG_CLOSE(value_of("park1", NULL, AT(0, .75, 0, 1)), sqrt(0.75) / 2 + 3 * M_E, 1e-14);
  RG_CLOSE(value_of("park2", NULL, AT(.5, .5, .5, .5)), 2.0724751163373, 1e-13);
  RG_CLOSE(value_of("park2", NULL, AT(.1, .9, .3, .2)), 2.0530838443071, 1e-13);
}

/* A sum over blocks of coordinates: of values, of bounds, of optima. */
RG_TEST(test_copies)
{
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
  Instance it = instance_make("branin", ten, 1, 0);
  const RgProblem *p = &it.problem;

  assert_int_equal(p->n_optimisers, 4096);
  for (int i = 0; i < p->n_optimisers; i += 455) {
    RG_CLOSE(value_at(&it.problem, p->optimisers + (size_t)i * 20), p->optimum, 1e-12);
    if (i) assert_memory_not_equal(p->optimisers, p->optimisers + (size_t)i * 20, 20 * 8);
  }
  instance_free(&it);
}

RG_TEST(test_published_optima)
{
  static const struct {
    const char *name;
    const Setting *settings;
    double optimum, tolerance;
  } known[] = {
    {"eggholder", NULL, 959.6407, 1e-7},
    {"michalewicz", dim2, 1.801303410099, 1e-12},
    {"michalewicz", dim5, 4.687658179088, 1e-12},
    {"michalewicz", dim10, 9.660151715641, 1e-12},
    {"styblinski_tang", dim2, 78.33233140754283, 1e-14},
    {"cosine8", NULL, 0.8, 1e-15},
    {"currin_exp", NULL, 13.7987220447284, 1e-13},
    {"park1", NULL, 25.5892541586065, 1e-13},
    {"park2", NULL, 5.926037399287, 1e-12},
  };

  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    Instance it = instance_make(known[k].name, known[k].settings, 1, 0);
    RG_CLOSE(it.problem.optimum, known[k].optimum, known[k].tolerance);
    instance_free(&it);
  }
}
