/* Laws that change with the number of the evaluation. */
#include "test_main.h"

#include <math.h>

#include "maths/law.h"

static RgLaw law_of(const char *text)
{
  RgText mistake = {0};
  RgLaw law;

  RG_OK(rg_law_parse(text, &law, &mistake));
  if (mistake.data) fail_msg("%s: %s", text, mistake.data);
  return law;
}

/* Parameter a (which 0) or b of the first part at t. */
static double at(const char *text, int t, int which)
{
  RG_OWNED(rg_law_destroy) RgLaw law = law_of(text);
  RG_OWNED(rg_distribution_destroy) RgDistribution now;

  RG_OK(rg_law_at(&law, t, &now));
  const double value = which ? now.parts[0].b : now.parts[0].a;
  return value;
}

static int epoch(const char *text, int t)
{
  RG_OWNED(rg_law_destroy) RgLaw law = law_of(text);
  const int found = rg_law_epoch(1, &law, t);

  return found;
}

RG_TEST(parameters_at_t)
{
  const char *line = "linear(normal(0.2, 0.1), 11, normal(0.4, 0.3), 31, normal(0.4, 0.1))";
  const char *jump = "jump(uniform(0, 1), 5, normal(0.5, 0.1), 9, point(3))";
  const char *table = "table(normal(0.5, 0.1), normal(0.7, 0.2), point(3))";
  const char *swing = "periodic(normal(0.2, 0.1), 20, normal(0.6, 0.1))";

  RG_CLOSE(at(line, 1, 0), 0.2, 0);
  RG_CLOSE(at(line, 6, 0), 0.3, 1e-15);
  RG_CLOSE(at(line, 6, 1), 0.2, 1e-15);
  RG_CLOSE(at(line, 21, 0), 0.4, 0);
  RG_CLOSE(at(line, 21, 1), 0.2, 1e-15);
  RG_CLOSE(at(line, 1000, 1), 0.1, 0);
  RG_CLOSE(at(jump, 4, 1), 1, 0);
  RG_CLOSE(at(jump, 5, 1), 0.1, 0);
  RG_CLOSE(at(jump, 8, 0), 0.5, 0);
  RG_CLOSE(at(jump, 9, 0), 3, 0);
  RG_CLOSE(at(table, 1, 0), 0.5, 0);
  RG_CLOSE(at(table, 2, 1), 0.2, 0);
  RG_CLOSE(at(table, 3, 0), 3, 0);
  RG_CLOSE(at(table, 99, 0), 3, 0);
  RG_CLOSE(at(swing, 1, 0), 0.2, 0);
  RG_CLOSE(at(swing, 6, 0), 0.4, 1e-15); /* a quarter of the period */
  RG_CLOSE(at(swing, 11, 0), 0.6, 1e-15);
  RG_CLOSE(at(swing, 21, 0), 0.2, 0);
}

RG_TEST(parts_move_together)
{
  RgLaw law = law_of("linear(mixture(1 * normal(0, 1), 3 * clip(normal(2, 1), -1, 5)), 3, "
                     "mixture(3 * normal(1, 1), 1 * clip(normal(2, 3), 0, 5)))");
  RG_OWNED(rg_distribution_destroy) RgDistribution now;

  RG_OK(rg_law_at(&law, 2, &now));
  assert_int_equal(now.n, 2);
  RG_CLOSE(now.parts[0].weight, 0.5, 1e-15);
  RG_CLOSE(now.parts[1].weight, 0.5, 1e-15);
  RG_CLOSE(now.parts[0].a, 0.5, 1e-15);
  assert_true(isinf(now.parts[0].lower) && isinf(now.parts[0].upper));
  RG_CLOSE(now.parts[1].b, 2, 1e-15);
  RG_CLOSE(now.parts[1].lower, -0.5, 1e-15);
  RG_CLOSE(now.parts[1].upper, 5, 0);
  RG_OK(rg_law_destroy(&law));
}

/* The steps of a walk that never meets its reach are normal; another path is another walk. */
RG_TEST(a_walk_has_normal_steps)
{
  enum { T = 400 };
  const char *free = "walk(normal(0.5, 0.1), 0.02, 1000, 0)";
  double squares = 0, cross = 0, other = 0, before = 0.5, there = 0.5;

  RG_CLOSE(at(free, 1, 0), 0.5, 0);
  for (int t = 2; t <= T; t++) {
    const double a = at(free, t, 0), b = at("walk(normal(0.5, 0.1), 0.02, 1000, 1)", t, 0);
    squares += (a - before) * (a - before);
    other += (b - there) * (b - there);
    cross += (a - before) * (b - there);
    before = a;
    there = b;
  }
  RG_CLOSE(sqrt(squares / (T - 1)), 0.02, 0.003); /* four standard errors */
  RG_CLOSE(sqrt(other / (T - 1)), 0.02, 0.003);
  assert_true(fabs(cross) < 4 * sqrt(T) * 0.02 * 0.02);
}

/* Reflection: inside the reach the folded walk moves as the free one or against it. */
RG_TEST(a_walk_is_reflected)
{
  double last = 0;
  int turned = 0;

  for (int t = 2; t <= 300; t++) {
    const double a = at("walk(point(0), 0.03, 0.1, 2)", t, 0);
    const double step =
      at("walk(point(0), 0.03, 1000, 2)", t, 0) - at("walk(point(0), 0.03, 1000, 2)", t - 1, 0);
    assert_true(fabs(a) <= 0.1);
    const bool same = fabs(a - last - step) < 1e-12, against = fabs(a - last + step) < 1e-12;
    turned += !same;
    if (fabs(last) < 0.1 - fabs(step) && !same) assert_true(against);
    last = a;
  }
  assert_true(turned > 20);
}

RG_TEST(epochs)
{
  const char *two[] = {"jump(point(0), 7, point(1))", "periodic(normal(0, 1), 5, normal(1, 1))"};
  RgLaw laws[2] = {0};

  assert_int_equal(epoch("normal(0, 1)", 50), 0);
  assert_int_equal(epoch("linear(point(0), 10, point(1))", 9), 9);
  assert_int_equal(epoch("linear(point(0), 10, point(1))", 50), 10);
  assert_int_equal(epoch("table(point(0), point(1), point(2))", 2), 2);
  assert_int_equal(epoch("table(point(0), point(1), point(2))", 9), 3);
  assert_int_equal(epoch(two[0], 6), 1);
  assert_int_equal(epoch(two[0], 90), 7);
  assert_int_equal(epoch(two[1], 12), 2);
  assert_int_equal(epoch("walk(point(0), 1, 9, 0)", 12), 12);
  RG_OK(rg_law_create_all(2, (char *const *)two, 2, laws));
  assert_int_equal(rg_law_epoch(2, laws, 3), 3);
  assert_int_equal(rg_law_epoch(2, laws, 12), 7);  /* at 2 the first law is another one */
  assert_int_equal(rg_law_epoch(2, laws, 13), 13); /* at 7 the second one is */
  for (int j = 0; j < 2; j++) RG_OK(rg_law_destroy(&laws[j]));
  assert_true(rg_law_drifts(2, (char *const *)two));
  assert_false(rg_law_drifts(1, (char *const[]){"mixture(normal(0, 1), point(2))"}));
}

RG_TEST(mistakes)
{
  static const struct {
    const char *text, *mistake;
  } cases[] = {
    {"linear(normal(0, 1))", "column 20: ',' expected before ')'"},
    {"table(normal(0, 1))", "column 19: ',' expected before ')'"},
    {"table(normal(0, 1), 2, point(0))", "column 21: a law expected, such as normal(0.5, 0.1)"},
    {"linear(normal(0, 1), 1, normal(1, 1))",
     "column 22: the number of a later evaluation expected, at least 2 and at most 1e9, found "
     "'1, normal(1, 1))'"},
    {"jump(point(0), 5, point(1), 5, point(2))",
     "column 29: the number of a later evaluation expected, at least 6 and at most 1e9, found "
     "'5, point(2))'"},
    {"linear(normal(0, 1), 9, uniform(0, 1))",
     "column 1: the laws between which parameters move need the same form"},
    {"periodic(clip(normal(0, 1), 0, 1), 9, normal(0, 1))",
     "column 1: the laws between which parameters move need the same form"},
    {"periodic(normal(0, 1), 2.5, normal(1, 1))",
     "column 22: the period is a whole number, not 2.5"},
    {"walk(burr(2, 20), 0.1, 1, 0)",
     "column 1: a walk moves normal, uniform, cauchy and point laws alone"},
    {"walk(normal(0, 1), 0.1, 0, 0)",
     "column 25: the reach of the walk expected, at least 1e-300 and at most 1e9, found '0, 0)'"},
    {"jump(point(0), 5, point(1)) x", "column 29: nothing expected after the law, found 'x'"},
  };

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    RG_OWNED(rg_law_destroy) RgLaw law;
    RgText mistake = {0};
    RG_OK(rg_law_parse(cases[c].text, &law, &mistake));
    assert_non_null(mistake.data);
    assert_string_equal(mistake.data, cases[c].mistake);
    RG_OK(rg_text_clear(&mistake));
  }
}
