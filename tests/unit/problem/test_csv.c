/* CSV files as programs write them, and the mistakes that are reported with file and line. */
#include "temporary_file.h"

#include "problem/csv.h"

/* The table of a file with this text. */
static RgCsv csv_of(const char *text, RgCsvHeader header)
{
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", text);
  RgText mistake = {0};
  RgCsv csv;

  RG_OK(rg_csv_read(file.path, header, &csv, &mistake));
  if (mistake.length) fail_msg("%s", mistake.data);
  return csv;
}

/* header a,b; rows (1, x) and (2, y): the same table in every notation */
RG_TEST(test_spellings)
{
  static const char *const spellings[] = {
    "a,b\n1,x\n2,y\n",
    "a,b\n1,x\n2,y",
    "a,b\r\n1,x\r\n2,y",
    "a,b\r1,x\r2,y\r",
    ("\xEF\xBB\xBF"
     "a,b\n1,x\n2,y\n"),
    "\xEF\xBB\xBF\"a\",\"b\"\r\n\"1\",\"x\"\r\n2,y\r\n",
    "# made by hand\n\na , b\n 1,\tx\n# half time\n   \n2 ,y  \n\n#end",
    "a;b\n1;x\n2;y\n",
    "a\tb\n1\tx\n2\ty\n",
    "\"a\" , \"b\" \n1,\"x\"\n2,y",
  };

  for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
    RG_OWNED(rg_csv_destroy) RgCsv csv = csv_of(spellings[k], RG_CSV_HEADER_AUTO);
    double number;
    assert_int_equal(csv.n_columns, 2);
    assert_int_equal(csv.n_rows, 2);
    assert_string_equal(csv.names[0], "a");
    assert_string_equal(csv.names[1], "b");
    assert_string_equal(csv.cells[1], "x");
    assert_string_equal(csv.cells[3], "y");
    assert_true(!rg_csv_number(&csv, 1, 0, &number) && number == 2);
    assert_string_equal(rg_csv_number(&csv, 1, 1, &number), "must be a number");
  }
}

RG_TEST(test_quotes_and_lines)
{
  RG_OWNED(rg_csv_destroy)
  RgCsv csv = csv_of("name,\"say \"\"hi\"\", you\"\n"
                     "\"two\nlines\",1;2\n"
                     "\n# comment\n"
                     "5\" pipe,\"\"\n",
                     RG_CSV_HEADER_AUTO);

  assert_string_equal(csv.names[1], "say \"hi\", you");
  assert_string_equal(csv.cells[0], "two\nlines");
  assert_string_equal(csv.cells[1], "1;2");
  assert_string_equal(csv.cells[2], "5\" pipe");
  assert_string_equal(csv.cells[3], "");
  assert_int_equal(csv.line[0], 2);
  assert_int_equal(csv.line[1], 6);
}

RG_TEST(test_columns)
{
  RG_OWNED(rg_csv_destroy) RgCsv csv = csv_of("y,2,x y\n1,2,3\n", RG_CSV_HEADER_AUTO);

  assert_int_equal(rg_csv_column(&csv, "x y"), 2);
  assert_int_equal(rg_csv_column(&csv, "2"), 1);
  assert_int_equal(rg_csv_column(&csv, "3"), 2);
  assert_int_equal(rg_csv_column(&csv, "1"), 0);
  assert_int_equal(rg_csv_column(&csv, "4"), -1);
  assert_int_equal(rg_csv_column(&csv, "0"), -1);
  assert_int_equal(rg_csv_column(&csv, "X Y"), -1);
  assert_int_equal(rg_csv_column(&csv, ""), -1);
}

RG_TEST(test_numbers)
{
  static const struct {
    const char *cell;
    double value; /* NaN: not a number */
  } cases[] = {
    {"1", 1},     {"-2.5e-3", -2.5e-3}, {"+.5", 0.5}, {"1E3", 1000}, {"-0", 0},      {"1.", 1},
    {"", NAN},    {"nan", NAN},         {"inf", NAN}, {"0x10", NAN}, {"1e999", NAN}, {"1 2", NAN},
    {"1-2", NAN}, {".", NAN},           {"e5", NAN},  {"1,5", NAN},  {"12%", NAN}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[64];
    snprintf(text, sizeof text, "a;b\n\"%s\";0\n", cases[k].cell);
    RG_OWNED(rg_csv_destroy) RgCsv csv = csv_of(text, RG_CSV_HEADER_AUTO);
    double value = NAN;
    const bool found = !rg_csv_number(&csv, 0, 0, &value);
    if (found == isnan(cases[k].value) || (found && value != cases[k].value))
      fail_msg("'%s': %g", cases[k].cell, value);
    if (found) assert_false(signbit(value) && value == 0);
  }
}

/* `bytes` of `length` (0: up to the NUL) are refused; expects the part of the message after the
   path. */
static void refuse(const char *bytes, size_t length, const char *expected)
{
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", "");
  RgText mistake = {0};
  RgCsv csv;

  file_write(&file, bytes, length ? length : strlen(bytes));
  RG_OK(rg_csv_read(file.path, RG_CSV_HEADER_AUTO, &csv, &mistake));
  if (!mistake.length) fail_msg("accepted, not refused with '%s'", expected);
  assert_memory_equal(mistake.data, file.path, strlen(file.path));
  assert_string_equal(mistake.data + strlen(file.path), expected);
  assert_null(csv.names);
  assert_null(csv.storage);
  RG_OK(rg_text_clear(&mistake));
}

RG_TEST(test_mistakes)
{
  refuse("", 0, " has no rows");
  refuse("# only this\n", 0, " has no rows");
  refuse("a,b\n", 0, " has a header but no rows");
  refuse("a,b\n1,2\n\n3\n", 0, ":4: 1 cell, the header has 2");
  refuse("a,b\n1,2,3\n", 0, ":2: 3 cells, the header has 2");
  refuse("a,b\n1,2,\n", 0, ":2: 3 cells, the header has 2");
  refuse("a,b\n\"1,2\n3,4\n", 0, ":2: a quote is never closed");
  refuse("a,b\n1,\"2\"x\n", 0, ":2: text after a closing quote");
  refuse("a,b,a\n1,2,3\n", 0, ":1: columns 1 and 3 are both called 'a'");
  refuse("1;-2e3\n3;4\n", 0,
         ":1: the first row has only numbers, but should name the columns; set 'header: no' if it "
         "is data, or 'header: yes'");
  refuse("a,b\n1,\0\n", 8, " is no text (NUL bytes)");
  refuse("\xFF\xFE"
         "a\0,\0b\0",
         8, " is UTF-16; save it as UTF-8");
}

/* Without a header every row is data; with one, it may consist of numbers. A column without a
   number as its name is enough. */
RG_TEST(test_headers)
{
  static const struct {
    const char *text;
    RgCsvHeader header;
    int n_rows;
    const char *name, *cell;
  } cases[] = {{"5,6\n3,4\n", RG_CSV_HEADER_NO, 2, "2", "6"},
               {"a,6\n", RG_CSV_HEADER_NO, 1, "2", "6"},
               {"5,6\n3,4\n", RG_CSV_HEADER_YES, 1, "6", "4"},
               {"5,y\n3,4\n", RG_CSV_HEADER_AUTO, 1, "y", "4"}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RG_OWNED(rg_csv_destroy) RgCsv csv = csv_of(cases[k].text, cases[k].header);
    assert_int_equal(csv.n_rows, cases[k].n_rows);
    assert_int_equal(csv.line[0], cases[k].header == RG_CSV_HEADER_NO ? 1 : 2);
    assert_string_equal(csv.names[1], cases[k].name);
    assert_string_equal(csv.cells[1], cases[k].cell);
  }
}

RG_TEST(test_no_file)
{
  RgText mistake = {0};
  RgCsv csv;

  RG_OK(rg_csv_read("/nowhere/t.csv", RG_CSV_HEADER_AUTO, &csv, &mistake));
  assert_string_equal(mistake.data, "/nowhere/t.csv can't be opened: No such file or directory");
  RG_OK(rg_text_clear(&mistake));
  RG_OK(rg_csv_read("/tmp", RG_CSV_HEADER_AUTO, &csv, &mistake));
  assert_string_equal(mistake.data, "/tmp is a directory, not a file of text");
  RG_OK(rg_text_clear(&mistake));
}

/* More cells and rows than the first allocation. */
RG_TEST(test_long_and_wide)
{
  enum { ROWS = 300, COLUMNS = 70 };
  RG_OWNED(rg_text_clear) RgText text = {0};
  double value;

  for (int j = 0; j < COLUMNS; j++) RG_OK(rg_text_add(&text, "%sc%d", j ? "," : "", j));
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      RG_OK(rg_text_add(&text, "%s%d", j ? "," : "\n", i * COLUMNS + j));
  RG_OWNED(rg_csv_destroy) RgCsv csv = csv_of(text.data, RG_CSV_HEADER_AUTO);
  for (int i = 0; i < ROWS; i++) {
    assert_int_equal(csv.line[i], i + 2);
    for (int j = 0; j < COLUMNS; j++)
      assert_true(!rg_csv_number(&csv, i, j, &value) && value == i * COLUMNS + j);
  }
}
