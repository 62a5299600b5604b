#include "test_main.h"

#include "base/text.h"

#include <float.h>
#include <stdlib.h>

RG_TEST(text_grows)
{
  RgText text = {0};

  assert_null(text.data);
  for (int i = 0; i < 1000; i++) RG_OK(rg_text_add(&text, "%03d,", i));
  assert_int_equal(text.length, 4000);
  assert_int_equal(strlen(text.data), 4000);
  assert_memory_equal(text.data, "000,001,002,", 12);
  assert_string_equal(text.data + 3996, "999,");
  RG_OK(rg_text_clear(&text));
  assert_null(text.data);
  assert_int_equal(text.length, 0);
  RG_OK(rg_text_add(&text, "again"));
  assert_string_equal(text.data, "again");
  RG_OK(rg_text_clear(&text));
}

RG_TEST(one_addition_longer_than_the_storage)
{
  RgText text = {0};
  char word[5000];

  memset(word, 'w', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  RG_OK(rg_text_add(&text, "<"));
  RG_OK(rg_text_add(&text, "%s>", word));
  assert_int_equal(text.length, 5001);
  assert_int_equal(text.data[5000], '>');
  RG_OK(rg_text_clear(&text));
}

RG_TEST(bytes_are_kept_as_they_are)
{
  RgText text = {0};

  RG_OK(rg_text_add_bytes(&text, "a\0b", 3));
  RG_OK(rg_text_add_bytes(&text, NULL, 0));
  assert_int_equal(text.length, 3);
  assert_memory_equal(text.data, "a\0b", 4);
  RG_OK(rg_text_clear(&text));
}

static void assert_json(const char *bytes, size_t length, const char *expected)
{
  RgText text = {0};

  RG_OK(rg_text_add_json(&text, bytes, length));
  assert_string_equal(text.data, expected);
  RG_OK(rg_text_clear(&text));
}

RG_TEST(json_strings)
{
  assert_json("", 0, "\"\"");
  assert_json("a\"b\\\n\t\0\x7f", 8, "\"a\\\"b\\\\\\n\\u0009\\u0000\\u007f\"");
  assert_json("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9,
              "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  /* a character cut in two, a byte of Latin-1, an overlong NUL, a surrogate */
  assert_json("\xE2\x82", 2, "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  assert_json("\xFFx", 2, "\"\xEF\xBF\xBDx\"");
  assert_json("\xC0\x80", 2, "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  assert_json("\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

RG_TEST(cuts_between_characters)
{
  const char *text = "a\xC3\xA4\xE2\x82\xAC"; /* 1, 2 and 3 bytes */
  static const size_t lengths[] = {0, 1, 1, 3, 3, 3, 6, 6};

  for (size_t most = 0; most < sizeof(lengths) / sizeof(*lengths); most++) {
    char cut[8] = "";
    assert_int_equal(rg_utf8_cut(text, most), lengths[most]);
    memcpy(cut, text, most < 6 ? most : 6);
    rg_utf8_trim(cut);
    assert_int_equal(strlen(cut), lengths[most]);
  }
}

RG_TEST(failures_end_with_a_whole_character)
{
  RgFailure failure = {0};

  rg_failure_set(&failure, "%0254d\xC3\xA4", 0); /* 256 bytes, of which 255 have room */
  assert_int_equal(strlen(failure.message), 254);
}

static void assert_real(double value, const char *expected)
{
  RgText text = {0};

  RG_OK(rg_text_add_real(&text, value));
  if (expected) assert_string_equal(text.data, expected);
  if (!isnan(value)) assert_true(strtod(text.data, NULL) == value);
  RG_OK(rg_text_clear(&text));
}

RG_TEST(reals_are_short_and_read_back)
{
  assert_real(0.1, "0.1");
  assert_real(1.0, "1");
  assert_real(-2.5e-7, "-2.5e-07");
  assert_real(1.0 / 3.0, "0.3333333333333333");
  assert_real(0.1 + 0.2, "0.30000000000000004");
  assert_real(NAN, "nan");
  assert_real(-NAN, "nan");
  assert_real(INFINITY, "inf");
  assert_real(-INFINITY, "-inf");
  assert_real(DBL_MAX, NULL);
  assert_real(DBL_MIN, NULL);
  assert_real(5e-324, NULL);
  assert_real(-3.141592653589793e200, NULL);
}

RG_TEST(nearest_name)
{
  static const char *const names[] = {"iterations", "seed", "restarts", "restart_width", NULL};
  static const char *const none[] = {NULL};

  assert_string_equal(rg_text_nearest("iteratoins", names), "iterations");
  assert_string_equal(rg_text_nearest("ITERATION", names), "iterations");
  assert_string_equal(rg_text_nearest("sead", names), "seed");
  assert_string_equal(rg_text_nearest("sede", names), "seed"); /* one transposition */
  assert_string_equal(rg_text_nearest("restart", names), "restarts");
  assert_string_equal(rg_text_nearest("restarts", names), "restarts");
  assert_null(rg_text_nearest("edes", names)); /* two edits of four letters */
  assert_null(rg_text_nearest("kernel", names));
  assert_string_equal(rg_text_nearest("n_iter", names),
                      "iterations"); /* other words of the field */
  assert_null(rg_text_nearest("rbf", names));
  assert_string_equal(rg_text_nearest("RBF", (const char *const[]){"ei", "gaussian", NULL}),
                      "gaussian");
  assert_null(rg_text_nearest("", names));
  assert_null(rg_text_nearest("seed", none));
}

RG_TEST(nearest_of_a_very_long_name)
{
  static const char *const names[] = {"seed", NULL};
  char word[300];

  memset(word, 's', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  assert_null(rg_text_nearest(word, names));
}
