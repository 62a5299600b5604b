/* Formulas of named numbers. */
#include "test_main.h"

#include "maths/expression.h"

static const char *const names[] = {"x1", "x2", "log_rate"};

static double value_of(const char *text, RgText *mistake)
{
  static const double values[] = {2, -3, 0.5};
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};
  RgArithmetic formula;

  RG_OK(rg_arithmetic_parse(&parser, 3, names, &formula));
  const double value = rg_arithmetic_value(&formula, values);
  RG_OK(rg_arithmetic_clear(&formula));
  return value;
}

RG_TEST(values)
{
  static const struct {
    const char *text;
    double value;
  } cases[] = {{"1 + 2 * 3", 7},
               {"(1 + 2) * 3", 9},
               {"2 - 3 - 4", -5},
               {"24 / 4 / 2", 3},
               {"2 ^ 3 ^ 2", 512},
               {"-x1^2", -4},
               {"2^-1", 0.5},
               {"0.2 + x1^2", 4.2},
               {"x1 * x2 / log_rate", -12},
               {"max(x2, min(x1, 1)) + abs(x2)", 4},
               {"exp(log(x1)) + sqrt(4) + sin(0) + cos(0)", 5},
               {"1e3", 1000}};

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    RgText mistake = {0};
    RG_CLOSE(value_of(cases[c].text, &mistake), cases[c].value, 1e-15);
    if (mistake.data) fail_msg("%s: %s", cases[c].text, mistake.data);
  }
}

RG_TEST(mistakes)
{
  static const char *const cases[][2] = {
    {"1 + y", "column 5: unknown name 'y'; the inputs are x1, x2, log_rate"},
    {"(1 + 2", "column 7: ')' expected at the end"},
    {"1 +", "column 4: a number, a name or '(' expected at the end"},
    {"1 * )", "column 5: a number, a name or '(' expected, found ')'"},
    {"max(1)", "column 6: ',' expected before ')'"},
    {"1e999", "column 1: '1e999' is no number"}};

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    RgText mistake = {0};
    assert_true(isnan(value_of(cases[c][0], &mistake)));
    assert_string_equal(mistake.data, cases[c][1]);
    RG_OK(rg_text_clear(&mistake));
  }
  RgText deep = {0}, mistake = {0};
  for (int i = 0; i < 100; i++) RG_OK(rg_text_add(&deep, "("));
  (void)value_of(deep.data, &mistake);
  assert_non_null(strstr(mistake.data, "nested more than"));
  RG_OK(rg_text_clear(&deep));
  RG_OK(rg_text_clear(&mistake));
}
