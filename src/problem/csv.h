/* Tables of texts from comma-separated files, forgiving about what programs write: a UTF-8
   byte-order mark, CR LF or LF, no line end after the last row, quoted cells ("" is one quote, line
   breaks allowed), blanks around cells, empty lines, lines that begin with #. The first row is the
   header; every row has as many cells. The separator is a comma if the header has one outside
   quotes, else a semicolon, else a tab. */
#ifndef RG_PROBLEM_CSV_H
#define RG_PROBLEM_CSV_H

#include "base/text.h"

#define RG_CSV_MAX_BYTES ((size_t)1 << 28)

typedef struct {
  int n_columns, n_rows; /* rows of data: without the header */
  char **names;          /* n_columns header cells; NULL: nothing read */
  char **cells;          /* n_rows x n_columns */
  int *line;             /* n_rows: where each row begins in the file, from 1 */
  char *text;            /* private: what the cells point into */
  char **storage;        /* private: header and cells */
} RgCsv;

/* Read `path`. A mistake in the file is appended to `mistake` as `path what` or `path:line: what`;
   then *csv is empty. Errors: memory. O(bytes). */
PetscErrorCode rg_csv_read(const char *path, RgCsv *csv, RgText *mistake);
PetscErrorCode rg_csv_destroy(RgCsv *csv);

/* Column by its header, else by its number from 1 (`3`); -1 when there is none. */
int rg_csv_column(const RgCsv *csv, const char *name);

/* The number in a cell: decimal notation, up to 1e100 (see problem.h). False when it is none. */
bool rg_csv_number(const RgCsv *csv, int row, int column, double *value);

#endif
