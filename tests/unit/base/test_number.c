/* Numbers in texts: what is read, what is left over, and what no double can hold. tests/integration/test_locale.py runs
   the program under a locale with a comma. */
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "test_main.h"

static void assert_read(const char *text, RgNumber expected, double value, const char *rest)
{
  const char *end;
  double read = NAN;

  errno = EINTR;
  assert_int_equal(rg_number_read(text, &end, &read), expected);
  assert_int_equal(errno, EINTR);
  assert_true(isnan(value) ? isnan(read) : read == value);
  assert_string_equal(end, rest);
  assert_int_equal(rg_number_only(text, &read),
                   expected == RG_NUMBER_READ && !*rest && isfinite(value));
}

RG_TEST(read)
{
  assert_read("0.5", RG_NUMBER_READ, 0.5, "");
  assert_read(" -1.5e-3 rest", RG_NUMBER_READ, -1.5e-3, " rest");
  assert_read("0,5", RG_NUMBER_READ, 0, ",5");
  assert_read("0x1.8p+1", RG_NUMBER_READ, 3, "");
  assert_read("inf", RG_NUMBER_READ, INFINITY, "");
  assert_read("nan", RG_NUMBER_READ, NAN, "");
  assert_read("", RG_NUMBER_NONE, 0, "");
  assert_read("point", RG_NUMBER_NONE, 0, "point");
}

RG_TEST(beyond)
{
  assert_read("1e400", RG_NUMBER_TOO_LARGE, INFINITY, "");
  assert_read("-1e400", RG_NUMBER_TOO_LARGE, -INFINITY, "");
  assert_read("1e-400", RG_NUMBER_TOO_SMALL, 0, "");
  assert_read("0e-400", RG_NUMBER_READ, 0, "");
  assert_read("5e-324", RG_NUMBER_READ, 5e-324, ""); /* less exact, but no other number */
  assert_read("1.3e-310", RG_NUMBER_READ, 1.3e-310, "");
  assert_read("1.7976931348623157e308", RG_NUMBER_READ, 1.7976931348623157e308, "");
}

RG_TEST(format)
{
  char text[8];

  assert_int_equal(rg_format(text, sizeof(text), "%g %s", 0.5, "abcdef"), 10);
  assert_string_equal(text, "0.5 abc");
}
