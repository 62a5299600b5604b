/* Tables of texts from comma-separated files. The reader accepts what programs commonly write: a
   UTF-8 byte-order mark, CR LF or LF, a last row without line end, quoted cells ("" is one
   quote, line breaks allowed), blanks around cells, empty lines, and lines that begin with #.
   The first row is the header, unless the user says that there is none; every row has the same
   number of cells. The separator is a comma if the first row has one outside quotes, else a
   semicolon, else a tab. */
#ifndef RG_PROBLEM_CSV_H
#define RG_PROBLEM_CSV_H

#include "base/text.h"

#define RG_CSV_MAX_BYTES ((size_t)1 << 28)

/* The user's word about a header, and the words. At `auto` a first row of numbers is a mistake:
   most likely the file has no header, and its first row of data would be lost. */
typedef enum { RG_CSV_HEADER_AUTO, RG_CSV_HEADER_YES, RG_CSV_HEADER_NO } RgCsvHeader;
extern const char *const rg_csv_headers[];

typedef struct {
  int n_columns, n_rows; /* rows of data, without the header */
  char **names;   /* n_columns header cells, or numbers from 1; NULL: the file was not read */
  char **cells;   /* n_rows x n_columns */
  int *line;      /* n_rows: the line of the file at which each row begins, from 1 */
  char *text;     /* private: the bytes that the cells point into */
  char **storage; /* private: header and cells */
  char *numbers;  /* private: names of the columns of a file without a header */
} RgCsv;

/* Read `path`. A mistake in the file is appended to `mistake` as `path what` or `path:line: what`;
   then *csv is empty. Errors: memory. O(bytes). */
PetscErrorCode rg_csv_read(const char *path, RgCsvHeader header, RgCsv *csv, RgText *mistake);
PetscErrorCode rg_csv_destroy(RgCsv *csv);

/* The column with this header, or else with this number from 1 (`3`); -1 if there is no such
   column. */
int rg_csv_column(const RgCsv *csv, const char *name);

/* The number in a cell: decimal notation, up to 1e100 (see problem.h). NULL, or what is wrong with
   the cell, such as "must be a number". */
const char *rg_csv_number(const RgCsv *csv, int row, int column, double *value);

#endif
