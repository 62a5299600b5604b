/* Text tables with aligned columns. */
#include "base/table.h"
#include "base/grow.h"
#include "base/number.h"

#include <stdarg.h>
#include <string.h>

/* Number of characters in a UTF-8 text. */
static int width_of(const char *text)
{
  int n = 0;
  for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
  return n;
}

PetscErrorCode rg_table_add(RgTable *table, const char *format, ...)
{
  va_list arguments;
  char *whole;

  va_start(arguments, format);
  const int length = rg_format_list(NULL, 0, format, arguments);
  va_end(arguments);
  PetscCall(PetscMalloc1(length + 1, &whole));
  va_start(arguments, format);
  rg_format_list(whole, (size_t)length + 1, format, arguments);
  va_end(arguments);
  PetscCall(rg_grow(table->n_rows, table->n_columns * sizeof(char *), &table->entries));
  char **row = table->entries + (size_t)table->n_rows++ * table->n_columns, *entry = whole;
  for (int j = 0; j < table->n_columns; j++) {
    char *end = entry + strcspn(entry, "\v"), *next = *end ? end + 1 : end;
    *end = '\0';
    PetscCall(PetscStrallocpy(entry, &row[j]));
    rg_text_disarm(row[j], false);
    entry = next;
  }
  return PetscFree(whole);
}

/* Width of a column including its heading; 0 if it has no entries. */
static int column_width(const RgTable *table, int j)
{
  const char *heading = table->headings[j] + (table->headings[j][0] == '>');
  int width = 0;

  for (int i = 0; i < table->n_rows; i++)
    width = PetscMax(width, width_of(table->entries[(size_t)i * table->n_columns + j]));
  return width ? PetscMax(width, width_of(heading)) : 0;
}

static PetscErrorCode add_row(const RgTable *table, const int *widths, const char *const *row,
                              RgText *text)
{
  int pending = 0; /* blanks before the next entry; the end of a line has no blanks */

  for (int j = 0; j < table->n_columns; j++) {
    const bool right = table->headings[j][0] == '>';
    const char *entry = row[j] + (row == (const char *const *)table->headings && right);
    const int blanks = widths[j] - width_of(entry);
    if (!widths[j]) continue;
    PetscCall(rg_text_add(text, "%*s%s", pending + (right ? blanks : 0), "", entry));
    pending = 2 + (right ? 0 : blanks);
  }
  while (text->length && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
  return rg_text_add(text, "\n");
}

PetscErrorCode rg_table_print(RgTable *table, RgText *text)
{
  int widths[RG_TABLE_COLUMNS];

  for (int j = 0; j < table->n_columns; j++) widths[j] = column_width(table, j);
  PetscCall(add_row(table, widths, table->headings, text));
  for (int i = 0; i < table->n_rows; i++) {
    char **row = table->entries + (size_t)i * table->n_columns;
    PetscCall(add_row(table, widths, (const char *const *)row, text));
    for (int j = 0; j < table->n_columns; j++) PetscCall(PetscFree(row[j]));
  }
  PetscCall(PetscFree(table->entries));
  table->n_rows = 0;
  return 0;
}
