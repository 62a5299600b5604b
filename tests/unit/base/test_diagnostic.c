#include "test_main.h"

#include "regatta/error.h"

RG_TEST(place_and_message_are_kept)
{
  RgDiagnostics diagnostics = {0};
  RgPlace place = {"study.yaml", 3, 7};

  rg_diagnostics_add(&diagnostics, place, "'%s' must be > %d", "sigma", 0);
  assert_int_equal(diagnostics.n, 1);
  assert_string_equal(diagnostics.list[0].message, "'sigma' must be > 0");
  assert_string_equal(diagnostics.list[0].place.file, "study.yaml");
  assert_int_equal(diagnostics.list[0].place.line, 3);
  assert_int_equal(diagnostics.list[0].place.column, 7);
}

RG_TEST(counting_goes_on_when_full)
{
  RgDiagnostics diagnostics = {0};
  RgPlace place = {"study.yaml", 1, 1};

  for (int i = 0; i < RG_DIAGNOSTICS_MAX + 5; i++)
    rg_diagnostics_add(&diagnostics, place, "mistake %d", i);
  assert_int_equal(diagnostics.n, RG_DIAGNOSTICS_MAX + 5);
  assert_string_equal(diagnostics.list[RG_DIAGNOSTICS_MAX - 1].message, "mistake 19");
}

RG_TEST(control_characters_are_replaced)
{
  RgDiagnostics diagnostics = {0};
  RgPlace place = {0};

  rg_diagnostics_add(&diagnostics, place, "a\nb\x1b[31mc\x7f\td \xc3\xa9 %s", "\xc2\x9b.");
  assert_string_equal(diagnostics.list[0].message, "a?b?[31mc??d \xc3\xa9 ??.");
}

RG_TEST(long_message_is_cut_between_characters)
{
  RgDiagnostics diagnostics = {0};
  RgPlace place = {0};
  char word[600];

  for (int i = 0; i < 598; i += 2) memcpy(word + i, "\xc3\xa9", 3);
  rg_diagnostics_add(&diagnostics, place, "%s", word);
  rg_diagnostics_add(&diagnostics, place, "x%s", word);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(strlen(diagnostics.list[i].message), 511 - i);
    assert_string_equal(diagnostics.list[i].message + 506 - i, "\xc3\xa9...");
  }
}
