/* Pools: from a table of measurements to sorted candidates and their values. */
#include "problem/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* ---- from the file to rows of numbers -------------------------------------------------------- */

/* The rows of the file in use, with the chosen columns. */
typedef struct {
  const RgPoolSource *source;
  RgCsv csv;
  RgText *mistake;
  const char *path; /* place of the file; borrowed */
  int dim, objective;
  int *input;    /* dim: columns; owned */
  double *x, *y; /* n_rows x dim, n_rows; owned */
} Table;

static bool failed(const Table *table)
{
  return table->mistake->length > 0;
}

/* The column called `name`. If there is no such column, the mistake names the nearest one. */
static PetscErrorCode find_column(Table *table, const char *what, const char *name, int *column)
{
  const RgCsv *csv = &table->csv;
  const char **names;

  PetscFunctionBeginUser;
  *column = rg_csv_column(csv, name);
  if (*column >= 0) PetscFunctionReturn(0);
  PetscCall(PetscCalloc1((size_t)csv->n_columns + 1, &names));
  for (int i = 0; i < csv->n_columns; i++) names[i] = csv->names[i];
  const char *nearest = rg_text_nearest(name, names);
  PetscCall(rg_text_add(table->mistake, "%s has no column '%.60s' (%s)", table->path, name, what));
  if (nearest) PetscCall(rg_text_add(table->mistake, ", did you mean '%.60s'?", nearest));
  for (int i = 0; i < csv->n_columns && !nearest; i++)
    PetscCall(rg_text_add(table->mistake, "%s'%.40s'", i ? ", " : "; its columns are ", names[i]));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

static PetscErrorCode choose_columns(Table *table)
{
  const RgPoolSource *source = table->source;
  const RgTexts *inputs = source->inputs;
  const RgCsv *csv = &table->csv;
  const bool all = !inputs || !inputs->n;

  PetscFunctionBeginUser;
  table->objective = csv->n_columns - 1;
  if (source->objective)
    PetscCall(find_column(table, "objective", source->objective, &table->objective));
  table->dim = all ? csv->n_columns - 1 : inputs->n;
  PetscCall(PetscMalloc1((size_t)table->dim + 1, &table->input));
  for (int j = 0; j < table->dim && !failed(table); j++) {
    if (all) table->input[j] = j + (j >= table->objective);
    else PetscCall(find_column(table, "inputs", inputs->values[j], &table->input[j]));
    for (int i = 0; i < j && !failed(table); i++)
      if (table->input[i] == table->input[j])
        PetscCall(rg_text_add(table->mistake, "'inputs' names column '%.60s' twice",
                              csv->names[table->input[j]]));
    if (!failed(table) && table->input[j] == table->objective)
      PetscCall(rg_text_add(table->mistake, "column '%.60s' is both input and objective",
                            csv->names[table->objective]));
  }
  if (!failed(table) && !table->dim)
    PetscCall(rg_text_add(table->mistake, "%s has one column only", table->path));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_number(Table *table, int row, int column, double *value)
{
  const RgCsv *csv = &table->csv;

  PetscFunctionBeginUser;
  const char *wrong = failed(table) ? NULL : rg_csv_number(csv, row, column, value);
  if (!wrong) PetscFunctionReturn(0);
  const char *cell = csv->cells[(size_t)row * csv->n_columns + column];
  PetscCall(rg_text_add(table->mistake, "%s:%d: column '%.60s' %s, ", table->path, csv->line[row],
                        csv->names[column], wrong));
  PetscCall(rg_text_add(table->mistake, *cell ? "got '%.60s'" : "is empty%s", cell));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_numbers(Table *table)
{
  const size_t dim = (size_t)table->dim, n = (size_t)table->csv.n_rows;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n * dim, &table->x, n, &table->y));
  for (size_t i = 0; i < n && !failed(table); i++) {
    for (size_t j = 0; j < dim; j++)
      PetscCall(read_number(table, (int)i, table->input[j], &table->x[i * dim + j]));
    PetscCall(read_number(table, (int)i, table->objective, &table->y[i]));
  }
  PetscFunctionReturn(0);
}

/* ---- from rows to candidates ----------------------------------------------------------------- */

typedef struct {
  const double *x;
  int dim, row;
} Row;

static int compare_inputs(const Row *a, const Row *b)
{
  for (int j = 0; j < a->dim; j++)
    if (a->x[j] != b->x[j]) return a->x[j] < b->x[j] ? -1 : 1;
  return 0;
}

/* Lexicographic by inputs, rows of equal inputs in the order of the file. */
static int compare_rows(const void *left, const void *right)
{
  const Row *a = left, *b = right;
  const int order = compare_inputs(a, b);
  return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* The value of rows[0..n), which have equal inputs. */
static PetscErrorCode merge(Table *table, int n, const Row *rows, double *value)
{
  const RgPoolSource *source = table->source;
  double sum = 0;

  PetscFunctionBeginUser;
  if (n > 1 && source->duplicates == RG_DUPLICATES_ERROR && !failed(table))
    PetscCall(rg_text_add(table->mistake, "%s:%d: the same inputs as in line %d", table->path,
                          table->csv.line[rows[1].row], table->csv.line[rows[0].row]));
  const int used = source->duplicates == RG_DUPLICATES_FIRST ? 1 : n;
  for (int i = 0; i < used; i++) sum += table->y[rows[i].row];
  *value = source->minimised ? 0 - sum / used : sum / used;
  PetscFunctionReturn(0);
}

static PetscErrorCode merge_rows(Table *table, RgPool *pool)
{
  const int n = table->csv.n_rows, dim = table->dim;
  Row *rows;

  PetscFunctionBeginUser;
  pool->dim = dim;
  PetscCall(PetscMalloc4((size_t)n * dim, &pool->points, n, &pool->value, dim, &pool->lower, dim,
                         &pool->upper));
  PetscCall(PetscMalloc1(n, &rows));
  for (int i = 0; i < n; i++)
    rows[i] = (Row){.x = table->x + (size_t)i * dim, .dim = dim, .row = i};
  qsort(rows, (size_t)n, sizeof *rows, compare_rows);
  for (int i = 0; i < n;) {
    int count = 1;
    while (i + count < n && !compare_inputs(&rows[i], &rows[i + count])) count++;
    PetscCall(PetscArraycpy(pool->points + (size_t)pool->size * dim, rows[i].x, dim));
    PetscCall(merge(table, count, rows + i, &pool->value[pool->size++]));
    i += count;
  }
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(0);
}

/* The bound of input j: the given one, or the extreme of the column. */
static double bound(const RgReals *given, int j, double extreme)
{
  if (!given || !given->n) return extreme;
  return given->values[given->n == 1 ? 0 : j];
}

static PetscErrorCode scale(Table *table, RgPool *pool)
{
  const RgReals *given[] = {table->source->lower, table->source->upper};
  const int dim = pool->dim;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++)
    if (given[k] && given[k]->n > 1 && given[k]->n != dim && !failed(table))
      PetscCall(rg_text_add(table->mistake,
                            "'%s' has %d values; 1 or %d, one per input, are "
                            "accepted",
                            k ? "upper" : "lower", given[k]->n, dim));
  for (int j = 0; j < dim && !failed(table); j++) {
    double low = pool->points[j], high = low;
    for (int i = 1; i < pool->size; i++) {
      low = PetscMin(low, pool->points[(size_t)i * dim + j]);
      high = PetscMax(high, pool->points[(size_t)i * dim + j]);
    }
    pool->lower[j] = bound(given[0], j, low);
    pool->upper[j] = bound(given[1], j, high);
    if (pool->lower[j] > low || pool->upper[j] < high)
      PetscCall(rg_text_add(table->mistake,
                            "%s: column '%.60s' ranges over [%.15g, %.15g], which "
                            "the bounds [%.15g, %.15g] don't contain",
                            table->path, table->csv.names[table->input[j]], low, high,
                            pool->lower[j], pool->upper[j]));
  }
  PetscFunctionReturn(0);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static PetscErrorCode say_missing(const RgPoolSource *source, RgText *mistake)
{
  const char *folder = rg_data_folder();

  PetscFunctionBeginUser;
  if (!*source->path) {
    PetscCall(rg_text_add(mistake, "'path' is empty"));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_text_add(mistake, "there is no file '%s'", source->path));
  if (*source->path != '/')
    PetscCall(rg_text_add(mistake, "%s%s", folder ? ", nor in REGATTA_DATA = " : "",
                          folder ? folder : " (REGATTA_DATA, the folder of data sets, is unset)"));
  if (source->origin) PetscCall(rg_text_add(mistake, "; the data are at %s", source->origin));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_table(Table *table, RgPool *pool)
{
  PetscFunctionBeginUser;
  PetscCall(rg_csv_read(table->path, table->source->header, &table->csv, table->mistake));
  if (!failed(table)) PetscCall(choose_columns(table));
  if (!failed(table)) PetscCall(read_numbers(table));
  if (!failed(table)) PetscCall(merge_rows(table, pool));
  if (!failed(table)) PetscCall(scale(table, pool));
  PetscCall(PetscFree2(table->x, table->y));
  PetscCall(PetscFree(table->input));
  PetscCall(rg_csv_destroy(&table->csv));
  if (failed(table)) PetscCall(rg_pool_destroy(pool));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_pool_read(const RgPoolSource *source, RgPool *pool, RgText *mistake)
{
  RgText found = {0}, wrong = {0};
  Table table = {.source = source, .mistake = &wrong};

  PetscFunctionBeginUser;
  *pool = (RgPool){0};
  PetscCall(rg_data_find(source->path, &found));
  if (found.length) {
    table.path = found.data;
    PetscCall(read_table(&table, pool));
  } else {
    PetscCall(say_missing(source, &wrong));
  }
  if (wrong.length) PetscCall(rg_text_add(mistake, "%s", wrong.data));
  PetscCall(rg_text_clear(&found));
  PetscCall(rg_text_clear(&wrong));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_pool_destroy(RgPool *pool)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(pool->points, pool->value, pool->lower, pool->upper));
  *pool = (RgPool){0};
  PetscFunctionReturn(0);
}
