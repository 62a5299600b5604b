/* Tables of text: comma, semicolon or tab separated values with a header line. */
#include "problem/csv.h"

#include "base/grow.h"
#include "base/files.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rg_csv_headers[] = {"auto", "yes", "no", NULL};

/* The place of the reader. */
typedef struct {
  const char *path;
  char *at;
  int line;
  char separator;
  RgText *mistake;
  int n_cells, n_rows; /* numbers read so far, including the header */
  char **cells;        /* owned until they are handed over, like `lines` */
  int *lines;
} Reader;

static bool failed(const Reader *reader)
{
  return reader->mistake->length > 0;
}

/* Separator or blank. The tab is a blank unless it is the separator. */
static bool is_blank(const Reader *reader, char c)
{
  return c == ' ' || (c == '\t' && reader->separator != '\t');
}

static bool ends_cell(const Reader *reader, char c)
{
  return c == reader->separator || c == '\n' || c == '\r' || c == '\0';
}

/* Skips one line end: LF, CR LF or CR. Does nothing at the end of the file. */
static void pass_line_end(Reader *reader)
{
  if (*reader->at == '\0') return;
  reader->at += reader->at[0] == '\r' && reader->at[1] == '\n' ? 2 : 1;
  reader->line++;
}

/* The separator of the current line: the first of comma, semicolon and tab that occurs outside
   quotes. */
static char find_separator(const char *line)
{
  static const char candidates[] = {',', ';', '\t'};
  bool seen[3] = {false}, quoted = false;

  for (const char *c = line; *c && (quoted || (*c != '\n' && *c != '\r')); c++) {
    if (*c == '"') quoted = !quoted;
    for (int i = 0; i < 3 && !quoted; i++) seen[i] = seen[i] || *c == candidates[i];
  }
  return seen[0] ? ',' : seen[1] ? ';' : seen[2] ? '\t' : ',';
}

static void skip_lines_without_cells(Reader *reader)
{
  while (*reader->at) {
    char *c = reader->at;
    while (*c == ' ' || *c == '\t') c++;
    if (*reader->at == '#')
      while (*c && *c != '\n' && *c != '\r') c++;
    if (*c && *c != '\n' && *c != '\r') break;
    reader->at = c;
    pass_line_end(reader);
  }
}

/* A quoted cell, unquoted in place; *end is the place at which it ends. */
static PetscErrorCode read_quoted(Reader *reader, char **end)
{
  char *out = reader->at, *in = reader->at + 1;
  const int first = reader->line;

  for (; *in && !(*in == '"' && in[1] != '"'); in++) {
    if (*in == '"') in++;
    if (*in == '\n') reader->line++;
    *out++ = *in;
  }
  if (!*in)
    return rg_text_add(reader->mistake, "%s:%d: a quote is never closed", reader->path, first);
  for (in++; is_blank(reader, *in);) in++;
  if (!ends_cell(reader, *in))
    PetscCall(rg_text_add(reader->mistake, "%s:%d: text after a closing quote", reader->path,
                          reader->line));
  *end = out;
  reader->at = in;
  return 0;
}

/* One cell, cut out in place. The reader stands at the character that ended it, which is
   *ending. */
static PetscErrorCode read_cell(Reader *reader, char **cell, char *ending)
{
  char *end;

  while (is_blank(reader, *reader->at)) reader->at++;
  *cell = end = reader->at;
  if (*reader->at == '"') {
    PetscCall(read_quoted(reader, &end));
  } else {
    while (!ends_cell(reader, *reader->at)) reader->at++;
    for (end = reader->at; end > *cell && is_blank(reader, end[-1]);) end--;
  }
  *ending = *reader->at;
  if (*ending == reader->separator) reader->at++;
  else pass_line_end(reader);
  *end = '\0';
  return 0;
}

/* One row; every row must be as long as the first. */
static PetscErrorCode read_row(Reader *reader, int n_columns)
{
  const int before = reader->n_cells, line = reader->line;
  char ending = '\0';

  PetscCall(RG_GROW(reader->n_rows, reader->lines));
  reader->lines[reader->n_rows++] = line;
  do {
    PetscCall(RG_GROW(reader->n_cells, reader->cells));
    PetscCall(read_cell(reader, &reader->cells[reader->n_cells++], &ending));
  } while (ending == reader->separator && !failed(reader));
  const int n = reader->n_cells - before;
  if (n_columns && n != n_columns && !failed(reader))
    PetscCall(rg_text_add(reader->mistake, "%s:%d: %d cell%s, the header has %d", reader->path,
                          line, n, n == 1 ? "" : "s", n_columns));
  return 0;
}

static bool is_number(const char *cell, double *value)
{
  if (!*cell || cell[strspn(cell, "+-.0123456789eE")]) return false;
  const bool good = rg_number_only(cell, value);
  *value += 0.0; /* -0 becomes 0 */
  return good;
}

static PetscErrorCode check_header(Reader *reader, RgCsvHeader header, int n_columns)
{
  int n_words = 0;
  double value;

  if (header == RG_CSV_HEADER_NO) return 0;
  for (int i = 0; i < n_columns; i++) n_words += !is_number(reader->cells[i], &value);
  if (header == RG_CSV_HEADER_AUTO && !n_words)
    PetscCall(rg_text_add(reader->mistake,
                          "%s:%d: the first row has only numbers, but should name the columns; set "
                          "'header: no' if it is data, or 'header: yes'",
                          reader->path, reader->lines[0]));
  for (int i = 0; i < n_columns && !failed(reader); i++)
    for (int j = 0; j < i && !failed(reader); j++)
      if (*reader->cells[i] && !strcmp(reader->cells[i], reader->cells[j]))
        PetscCall(rg_text_add(reader->mistake, "%s:%d: columns %d and %d are both called '%.60s'",
                              reader->path, reader->lines[0], j + 1, i + 1, reader->cells[i]));
  return 0;
}

static PetscErrorCode read_rows(Reader *reader, RgCsvHeader header, int *n_columns)
{
  const bool named = header != RG_CSV_HEADER_NO;

  *n_columns = 0;
  if (!strncmp(reader->at, "\xEF\xBB\xBF", 3)) reader->at += 3;
  for (;;) {
    skip_lines_without_cells(reader);
    if (!*reader->at || failed(reader)) break;
    if (!reader->n_rows) reader->separator = find_separator(reader->at);
    PetscCall(read_row(reader, *n_columns));
    if (reader->n_rows == 1) *n_columns = reader->n_cells;
  }
  if (failed(reader)) return 0;
  if (reader->n_rows < 1 + named)
    return rg_text_add(reader->mistake, "%s has %s", reader->path,
                       reader->n_rows ? "a header but no rows" : "no rows");
  return check_header(reader, header, *n_columns);
}

/* Hand the cells over: the header, or numbers in its place, and the rows. */
static PetscErrorCode hand_over(const Reader *reader, RgCsvHeader header, RgCsv *csv)
{
  enum { DIGITS = 24 };
  const bool named = header != RG_CSV_HEADER_NO;
  const size_t n = (size_t)csv->n_columns;

  csv->n_rows = reader->n_rows - named;
  if (named) {
    csv->names = csv->storage;
    csv->cells = csv->storage + n;
    return PetscMemmove(csv->line, csv->line + 1, (size_t)csv->n_rows * sizeof(int));
  }
  csv->cells = csv->storage;
  PetscCall(PetscMalloc1(n * (sizeof(char *) + DIGITS), &csv->names));
  csv->numbers = (char *)(csv->names + n);
  for (size_t i = 0; i < n; i++) {
    csv->names[i] = csv->numbers + i * DIGITS;
    snprintf(csv->names[i], DIGITS, "%zu", i + 1);
  }
  return 0;
}

PetscErrorCode rg_csv_read(const char *path, RgCsvHeader header, RgCsv *csv, RgText *mistake)
{
  RgText what = {0};
  Reader reader = {.path = path, .line = 1, .mistake = &what};
  size_t length;

  *csv = (RgCsv){0};
  PetscCall(rg_file_read(path, RG_CSV_MAX_BYTES, &csv->text, &length, &what));
  if (csv->text) {
    reader.at = csv->text;
    if (length >= 2 && (!memcmp(csv->text, "\xFF\xFE", 2) || !memcmp(csv->text, "\xFE\xFF", 2)))
      PetscCall(rg_text_add(&what, "%s is UTF-16; save it as UTF-8", path));
    else if (memchr(csv->text, '\0', length))
      PetscCall(rg_text_add(&what, "%s is no text (NUL bytes)", path));
    if (!failed(&reader)) PetscCall(read_rows(&reader, header, &csv->n_columns));
  }
  csv->storage = reader.cells;
  csv->line = reader.lines;
  if (failed(&reader)) {
    if (!csv->text) PetscCall(rg_text_add(mistake, "%s ", path));
    PetscCall(rg_text_add(mistake, "%s", what.data));
    PetscCall(rg_csv_destroy(csv));
  } else {
    PetscCall(hand_over(&reader, header, csv));
  }
  return rg_text_clear(&what);
}

PetscErrorCode rg_csv_destroy(RgCsv *csv)
{
  if (csv->numbers) PetscCall(PetscFree(csv->names)); /* otherwise the names are in `storage` */
  PetscCall(RG_FREE(&csv->storage, &csv->line, &csv->text));
  *csv = (RgCsv){0};
  return 0;
}

int rg_csv_column(const RgCsv *csv, const char *name)
{
  char *end;

  for (int i = 0; i < csv->n_columns; i++)
    if (!strcmp(csv->names[i], name)) return i;
  const long number = strtol(name, &end, 10);
  return *name && !*end && number >= 1 && number <= csv->n_columns ? (int)number - 1 : -1;
}

const char *rg_csv_number(const RgCsv *csv, int row, int column, double *value)
{
  const char *cell = csv->cells[(size_t)row * csv->n_columns + column];

  if (!is_number(cell, value)) return "must be a number";
  return fabs(*value) <= 1e100 ? NULL /* larger numbers would make sums and ranges overflow */
                               : "must be a number between -1e100 and 1e100";
}
