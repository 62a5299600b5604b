/* Tables for the terminal: columns as wide as their widest entry, numbers aligned right. */
#ifndef RG_BASE_TABLE_H
#define RG_BASE_TABLE_H

#include "base/text.h"

#define RG_TABLE_COLUMNS 16

/* Zero-initialise, then set `n_columns` and the headings. A heading that begins with '>' aligns
   its column right. A column without entries is not printed. */
typedef struct {
  int n_columns, n_rows;
  const char *headings[RG_TABLE_COLUMNS]; /* borrowed */
  char **entries;                         /* n_rows x n_columns, owned */
} RgTable;

/* Append a row. In `format` '\v' separates the entries; those that are left out are empty. */
PetscErrorCode rg_table_add(RgTable *table, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
/* Append the table to `text`, one line per row, and clear the rows. */
PetscErrorCode rg_table_print(RgTable *table, RgText *text);

#endif
