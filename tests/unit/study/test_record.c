#include "test_main.h"

#include "fake_study.h"
#include "study/record/fields.h"
#include "study/record/software.h"
#include "study/file/cell_data.h"

/* A test with a fake study of two seeds, and the record of its trial i. */
#define RECORD_TEST(name, i)                                                                       \
  static void name##_of(Fake *fake, RgRecord *record);                                             \
  RG_TEST(name)                                                                                    \
  {                                                                                                \
    Fake fake;                                                                                     \
    RgRecord record;                                                                               \
    fake_create(2, &fake);                                                                         \
    RG_OK(fake_record(&fake, i, &record));                                                         \
    name##_of(&fake, &record);                                                                     \
    RG_OK(rg_record_destroy(&record));                                                             \
    fake_destroy(&fake);                                                                           \
  }                                                                                                \
  static void name##_of(Fake *fake, RgRecord *record)

RECORD_TEST(widths_follow_the_record, 4) /* second problem, first algorithm */
{
  assert_int_equal(rg_record_width(record, RG_COLUMN_X), 2);
  assert_int_equal(rg_record_width(record, RG_COLUMN_C), 1);
  assert_int_equal(rg_record_width(record, RG_COLUMN_LENGTH_SCALE), 3);
  assert_int_equal(rg_record_width(record, RG_COLUMN_Y), 1);
  assert_string_equal(record->cell->problem_label, "gp path, l = 0.1");
  assert_string_equal(record->cell->problem, "gp_path");
  assert_string_equal(record->cell->algorithm_label, "GP-UCB");
  assert_string_equal(record->cell->swept, "l=0.1");
  assert_true(isnan(record->column[RG_COLUMN_RECOMMENDATION][FAKE_ROWS * 2 - 1]));
  assert_true(rg_record_bytes(record) > FAKE_ROWS * 20 * sizeof(double));
  RG_OK(rg_record_destroy(record));
  assert_null(record->key);
  RG_OK(rg_record_destroy(record)); /* the text of a zeroed record */

  RG_OK(fake_record(fake, 2, record)); /* no context, no model */
  assert_null(record->column[RG_COLUMN_C]);
  assert_null(record->column[RG_COLUMN_LENGTH_SCALE]);
  assert_int_equal(record->n_extra, 0);
}

RECORD_TEST(cell_is_shared_by_its_seeds, 0)
{
  RgRecord b, c;

  RG_OK(fake_record(fake, 1, &b));
  RG_OK(fake_record(fake, 2, &c));
  assert_ptr_equal(record->cell, b.cell);
  assert_ptr_not_equal(record->cell, c.cell);
  assert_string_not_equal(record->id, b.id);
  RG_OK(rg_record_destroy(&b));
  RG_OK(rg_record_destroy(&c));
}

static void check_checksum(const RgRecord *record, const uint64_t first[2], bool equal)
{
  uint64_t now[2];

  RG_OK(rg_record_checksum(record, now));
  assert_int_equal(first[0] == now[0] && first[1] == now[1], equal);
}

/* The parts of a record that its checksum covers, and the parts that it does not. */
RECORD_TEST(checksum_covers_results_only, 0)
{
  uint64_t first[2];

  RG_OK(rg_record_checksum(record, first));
  record->column[RG_COLUMN_WALL_FIT][0] += 1;
  record->provenance.rank = 77;
  record->provenance.wall = 123;
  record->cell->problem_label[0] = 'B';
  check_checksum(record, first, true);

  record->column[RG_COLUMN_Y][3] = nextafter(record->column[RG_COLUMN_Y][3], INFINITY);
  check_checksum(record, first, false);
  record->column[RG_COLUMN_Y][3] = fake_value(&fake->trials[0], RG_COLUMN_Y, 3);
  check_checksum(record, first, true);

  record->extra[0][2] += 1;
  check_checksum(record, first, false);
  record->extra[0][2] = fake_value(&fake->trials[0], 100, 2);
  record->status = RG_STATUS_FAILED;
  check_checksum(record, first, false);
  record->status = RG_STATUS_COMPLETE;
  record->message[0] = 'x';
  check_checksum(record, first, false);
  record->message[0] = '\0';
  record->n_rows--;
  check_checksum(record, first, false);
}

/* -0 as 0, every NaN the same, an empty column as none, extra columns in any order. */
RECORD_TEST(checksum_is_canonical, 0)
{
  uint64_t first[2], odd = UINT64_C(0xfff8dead00000001);
  double *column;

  record->column[RG_COLUMN_F][1] = 0.0;
  record->column[RG_COLUMN_F][2] = NAN;
  RG_OK(rg_record_checksum(record, first));
  record->column[RG_COLUMN_F][1] = -0.0;
  memcpy(&record->column[RG_COLUMN_F][2], &odd, sizeof(odd));
  check_checksum(record, first, true);

  column = record->column[RG_COLUMN_RECOMMENDATION]; /* all NaN */
  record->column[RG_COLUMN_RECOMMENDATION] = NULL;
  check_checksum(record, first, true);
  record->column[RG_COLUMN_RECOMMENDATION] = column;

  column = record->extra[0];
  record->extra[0] = record->extra[2];
  record->extra[2] = column;
  RG_OK(PetscStrncpy(record->extra_name[0], "alpha", RG_NAME_MAX));
  RG_OK(PetscStrncpy(record->extra_name[2], "beta", RG_NAME_MAX));
  check_checksum(record, first, true);
}

/* The bits are part of the format: another number here is another schema. */
RECORD_TEST(checksum_is_known, 2)
{
  uint64_t checksum[2];
  RgChecksum all = {0}, reversed = {0}, half = {0};
  char a[33], b[33];

  strcpy(record->key, "schema=1;cell=1;seed=0");
  rg_hash128(record->key, strlen(record->key), checksum);
  rg_hash_hex(checksum, record->id);
  /* the columns of the first format; nothing that depends on libm */
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    for (int k = 0; record->column[c] && k < record->n_rows * rg_record_width(record, c); k++)
      record->column[c][k] = c <= RG_COLUMN_CPU_EVALUATE ? c + 0.125 * k : NAN;
  RG_OK(rg_record_checksum(record, checksum));
  rg_hash_hex(checksum, a);
  assert_string_equal(a, "3541bc1de9db2e1fa04f38b1308b116b");
  RG_OK(rg_record_destroy(record));

  for (uint64_t i = 1; i < 50; i++) rg_checksum_add(&all, (uint64_t[2]){i << 60, ~i});
  for (uint64_t i = 49; i > 0; i--) rg_checksum_add(&reversed, (uint64_t[2]){i << 60, ~i});
  for (uint64_t i = 1; i < 49; i++) rg_checksum_add(&half, (uint64_t[2]){i << 60, ~i});
  rg_checksum_hex(&all, a);
  rg_checksum_hex(&reversed, b);
  assert_string_equal(a, b);
  rg_checksum_hex(&half, b);
  assert_string_not_equal(a, b);
}

RECORD_TEST(names_of_the_format_are_taken, 0)
{
  static const char *const names[] = {"y", "seed"}; /* a column and a field */

  RG_OK(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
  for (int i = 0; i < 2; i++) {
    const RgRecordColumn mine[] = {{names[i], "mine"}, {NULL, NULL}};
    RG_OK(rg_record_destroy(record));
    assert_int_equal(rg_record_create(&fake->study, &fake->trials[0], 4, 0, mine, record),
                     PETSC_ERR_PLIB);
  }
  RG_OK(PetscPopErrorHandler());
}

/* Settings have the names of their variables, which no other variable of the file has. */
RG_TEST(settings_take_no_name_that_is_taken)
{
  static const char *const expected[][2] = {{"noise_variance", "noise_variance"},
                                            {"surrogate.kernel", "surrogate.kernel"},
                                            {"objective", "problem.objective"},
                                            {"exploration", "algorithm.exploration"},
                                            {"dim_x", "problem.dim_x"}};
  static const char *const parts[] = {"run", "surrogate", "problem", "algorithm", "problem"};
  static const RgGroupExtra extra[] = {{"noise_variance", ""}};

  for (int i = 0; i < 5; i++) {
    RgSettingColumn column = {.part = (char *)(uintptr_t)parts[i]};
    char name[2 * RG_NAME_MAX];
    strcpy(column.name, expected[i][0]);
    rg_settings_dataset(&column, 0, NULL, name);
    assert_string_equal(name, expected[i][1]);
    rg_settings_dataset(&column, 1, extra, name);
    assert_string_equal(name, i ? expected[i][1] : "setting.noise_variance");
  }
}

/* The form in which users name settings, as for `info -where`. */
RG_TEST(settings_are_read_from_a_text)
{
  static const char *const expected[][3] = {{"noise_variance", "0.0001", ""},
                                            {"surrogate.kernel", "matern52", "surrogate"},
                                            {"dims", "[2, 3]", ""},
                                            {"file", "a, b=c", ""},
                                            {RG_SWEPT_AIMED, "3", ""}};
  RgSwept *list = NULL;
  int n = 0;

  RG_OK(rg_swept_parse("noise_variance=1.0e-4, surrogate.kernel=matern52, dims=[2, 3], "
                       "file=\"a, b=c\", score=3",
                       &n, &list));
  assert_int_equal(n, 5);
  for (int i = 0; i < n; i++) {
    assert_string_equal(list[i].name, expected[i][0]);
    assert_string_equal(list[i].text, expected[i][1]);
    assert_string_equal(list[i].part, expected[i][2]);
    assert_int_equal(list[i].kind, i ? RG_SWEPT_WORD : RG_SWEPT_NUMBER);
  }
  assert_ptr_equal(rg_swept_find(n, list, "kernel"), &list[1]);
  assert_null(rg_swept_find(n, list, "variance"));
  assert_true(rg_swept_same("1e-4", list[0].text) && !rg_swept_same("gaussian", list[1].text));
  RG_OK(rg_swept_clear(&n, &list));
  RG_OK(rg_swept_parse("", &n, &list));
  assert_null(list);
}

static void expect_part(RgPart part, const char *expected)
{
  assert_int_equal(part.length, (int)strlen(expected));
  assert_memory_equal(part.at, expected, strlen(expected));
}

RG_TEST(software_of_a_trial_has_parts)
{
  const RgSoftware all = rg_software_parts(
    "regatta 1.2 (commit ab, source 12f); PETSc 3, source (x); reported numpy 2; plugin a.so 01; "
    "plugin b.so 02; program p.py 03");
  const RgSoftware old = rg_software_parts("regatta 0.9 (commit ab); PETSc 3; program p.py 03");

  expect_part(all.build, "regatta 1.2 (commit ab, source 12f)");
  expect_part(all.source, "12f");
  expect_part(all.plugins, "; plugin a.so 01; plugin b.so 02");
  expect_part(all.program, "; program p.py 03");
  assert_true(all.plugins.at + all.plugins.length == all.program.at);
  expect_part(old.source, "");
  expect_part(old.plugins, "");
  expect_part(old.program, "; program p.py 03");
  expect_part(rg_software_parts(NULL).build, "");
}
