/* Pools: from a table of measurements to sorted candidates and their values. */
#include "problem/pool.h"
#include "base/files.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

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

  *column = rg_csv_column(csv, name);
  if (*column >= 0) return 0;
  PetscCall(PetscCalloc1((size_t)csv->n_columns + 1, &names));
  for (int i = 0; i < csv->n_columns; i++) names[i] = csv->names[i];
  const char *nearest = rg_text_nearest(name, names);
  PetscCall(rg_text_add(table->mistake, "%s has no column '%.60s' (%s)", table->path, name, what));
  if (nearest) PetscCall(rg_text_add(table->mistake, ", did you mean '%.60s'?", nearest));
  for (int i = 0; i < csv->n_columns && !nearest; i++)
    PetscCall(rg_text_add(table->mistake, "%s'%.40s'", i ? ", " : "; its columns are ", names[i]));
  return PetscFree(names);
}

static PetscErrorCode choose_columns(Table *table)
{
  const RgPoolSource *source = table->source;
  const RgTexts *inputs = &source->inputs;
  const RgCsv *csv = &table->csv;
  const bool all = !inputs->n;

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
  return 0;
}

static PetscErrorCode read_number(Table *table, int row, int column, double *value)
{
  const RgCsv *csv = &table->csv;

  const char *wrong = failed(table) ? NULL : rg_csv_number(csv, row, column, value);
  if (!wrong) return 0;
  const char *cell = csv->cells[(size_t)row * csv->n_columns + column];
  PetscCall(rg_text_add(table->mistake, "%s:%d: column '%.60s' %s, ", table->path, csv->line[row],
                        csv->names[column], wrong));
  return rg_text_add(table->mistake, *cell ? "got '%.60s'" : "is empty%s", cell);
}

static PetscErrorCode read_numbers(Table *table)
{
  const size_t dim = (size_t)table->dim, n = (size_t)table->csv.n_rows;

  PetscCall(PetscMalloc2(n * dim, &table->x, n, &table->y));
  for (size_t i = 0; i < n && !failed(table); i++) {
    for (size_t j = 0; j < dim; j++)
      PetscCall(read_number(table, (int)i, table->input[j], &table->x[i * dim + j]));
    PetscCall(read_number(table, (int)i, table->objective, &table->y[i]));
  }
  return 0;
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

/* One candidate of all rows of equal inputs. */
static PetscErrorCode merge_rows(Table *table, RgPool *pool)
{
  const RgPoolSource *source = table->source;
  const int n = table->csv.n_rows, dim = table->dim;
  Row *rows;

  pool->dim = dim;
  PetscCall(PetscMalloc4((size_t)n * dim, &pool->points, n, &pool->value, dim, &pool->lower, dim,
                         &pool->upper));
  PetscCall(PetscMalloc1(n, &rows));
  for (int i = 0; i < n; i++)
    rows[i] = (Row){.x = table->x + (size_t)i * dim, .dim = dim, .row = i};
  qsort(rows, (size_t)n, sizeof *rows, compare_rows);
  for (int i = 0, count; i < n; i += count) {
    double sum = 0;
    for (count = 1; i + count < n && !compare_inputs(&rows[i], &rows[i + count]);) count++;
    if (count > 1 && source->duplicates == RG_DUPLICATES_ERROR && !failed(table))
      PetscCall(rg_text_add(table->mistake, "%s:%d: the same inputs as in line %d", table->path,
                            table->csv.line[rows[i + 1].row], table->csv.line[rows[i].row]));
    const int used = source->duplicates == RG_DUPLICATES_FIRST ? 1 : count;
    for (int k = i; k < i + used; k++) sum += table->y[rows[k].row];
    PetscCall(PetscArraycpy(pool->points + (size_t)pool->size * dim, rows[i].x, dim));
    pool->value[pool->size++] = source->goal == RG_GOAL_MINIMISE ? 0 - sum / used : sum / used;
  }
  return PetscFree(rows);
}

/* The bound of input j: the given one, or the extreme of the column. */
static double bound(const RgReals *given, int j, double extreme)
{
  return given->n ? given->values[given->n == 1 ? 0 : j] : extreme;
}

static PetscErrorCode scale(Table *table, RgPool *pool)
{
  const RgReals *given[] = {&table->source->lower, &table->source->upper};
  const int dim = pool->dim;

  for (int k = 0; k < 2; k++)
    if (given[k]->n > 1 && given[k]->n != dim && !failed(table))
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
  return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static PetscErrorCode say_missing(const RgPoolSource *source, RgText *mistake)
{
  const char *folder = rg_data_folder();

  if (!*source->path) return rg_text_add(mistake, "'path' is empty");
  PetscCall(rg_text_add(mistake, "there is no file '%s'", source->path));
  if (*source->path != '/')
    PetscCall(rg_text_add(mistake, "%s%s", folder ? ", nor in REGATTA_DATA = " : "",
                          folder ? folder : " (REGATTA_DATA, the folder of data sets, is unset)"));
  if (source->origin) PetscCall(rg_text_add(mistake, "; the data are at %s", source->origin));
  return 0;
}

static PetscErrorCode read_table(Table *table, RgPool *pool)
{
  PetscCall(
    rg_csv_read(table->path, (RgCsvHeader)table->source->header, &table->csv, table->mistake));
  if (!failed(table)) PetscCall(choose_columns(table));
  if (!failed(table)) PetscCall(read_numbers(table));
  if (!failed(table)) PetscCall(merge_rows(table, pool));
  if (!failed(table)) PetscCall(scale(table, pool));
  PetscCall(PetscFree2(table->x, table->y));
  PetscCall(PetscFree(table->input));
  PetscCall(rg_csv_destroy(&table->csv));
  if (failed(table)) PetscCall(rg_pool_destroy(pool));
  return 0;
}

PetscErrorCode rg_pool_read(const RgPoolSource *source, RgPool *pool, RgText *mistake)
{
  RgText found = {0}, wrong = {0};
  Table table = {.source = source, .mistake = &wrong};

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
  return rg_text_clear(&wrong);
}

PetscErrorCode rg_pool_destroy(RgPool *pool)
{
  PetscCall(PetscFree4(pool->points, pool->value, pool->lower, pool->upper));
  *pool = (RgPool){0};
  return 0;
}

PetscErrorCode rg_pool_source_check(const char *name, const RgPoolSource *source, RgPlace place,
                                    RgDiagnostics *diagnostics)
{
  RgPool pool;
  RgText mistake = {0};

  PetscCall(rg_pool_read(source, &pool, &mistake));
  if (mistake.length) rg_diagnostics_add(diagnostics, place, "%s: %s", name, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  return rg_pool_destroy(&pool);
}

/* A pool that was checked before. */
static PetscErrorCode read_again(const RgPoolSource *source, RgPool *pool)
{
  RgText mistake = {0};

  PetscCall(rg_pool_read(source, pool, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", mistake.data);
  return 0;
}

static PetscErrorCode domain_of(const RgPoolSource *source, const RgPool *pool, RgDomain *domain)
{
  PetscCall(
    rg_space_set(&domain->design, pool->dim, pool->size, pool->points, pool->lower, pool->upper));
  domain->without_replacement = !source->repeats;
  return 0;
}

/* The hash of the numbers, independent of the place of the file and of its notation. */
static PetscErrorCode add_identity(const RgPoolSource *source, const RgPool *pool, RgText *text)
{
  const size_t dim = (size_t)pool->dim, size = (size_t)pool->size;
  RgText bytes = {0};
  uint64_t hash[2];
  char hex[33];

  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->points, dim * size * sizeof(double)));
  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->value, size * sizeof(double)));
  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->lower, dim * sizeof(double)));
  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->upper, dim * sizeof(double)));
  rg_hash128(bytes.data, bytes.length, hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_text_add(text, "dim=%d,size=%d,repeats=%s,data=%s", pool->dim, pool->size,
                        source->repeats ? "true" : "false", hex));
  return rg_text_clear(&bytes);
}

PetscErrorCode rg_pool_source_identity(const RgPoolSource *source, RgText *text)
{
  RgPool pool;

  PetscCall(read_again(source, &pool));
  PetscCall(add_identity(source, &pool, text));
  return rg_pool_destroy(&pool);
}

/* ---- problems that are a pool ---------------------------------------------------------------- */

static RgPoolSource source_of(const RgProblemClass *class, const void *options)
{
  const RgPoolFamily *family = class->family;
  RgPoolSource source = *(const RgPoolSource *)options;

  if (!family) return source;
  source.origin = family->origin;
  source.goal = family->goal;
  return source;
}

PetscErrorCode rg_pool_check(const RgProblemClass *class, const void *options, RgPlace place,
                             RgDiagnostics *diagnostics)
{
  const RgPoolSource source = source_of(class, options);

  return rg_pool_source_check(class->name, &source, place, diagnostics);
}

PetscErrorCode rg_pool_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const RgPoolSource source = source_of(class, options);
  RgPool pool;

  PetscCall(read_again(&source, &pool));
  PetscCall(domain_of(&source, &pool, domain));
  return rg_pool_destroy(&pool);
}

static PetscErrorCode identity(const RgProblemClass *class, const void *options, RgText *text)
{
  const RgPoolSource source = source_of(class, options);

  return rg_pool_source_identity(&source, text);
}

static PetscErrorCode identify(const RgProblem *problem, RgText *text)
{
  const RgPoolSource source = source_of(problem->class, problem->options);

  return add_identity(&source, problem->data, text);
}

static PetscErrorCode load(RgProblem *problem, RgFailure *failure)
{
  const RgPoolSource source = source_of(problem->class, problem->options);
  RgPool *pool;
  RgText mistake = {0};

  PetscCall(PetscNew(&pool));
  problem->data = pool;
  PetscCall(rg_pool_read(&source, pool, &mistake));
  if (mistake.length) rg_failure_set(failure, "%s: %s", problem->class->name, mistake.data);
  else PetscCall(domain_of(&source, pool, &problem->domain));
  return rg_text_clear(&mistake);
}

/* Read a column as the objective of a pool with the same candidates. */
static PetscErrorCode column(const RgProblemClass *class, const void *options, const char *name,
                             double **values, RgText *mistake)
{
  const RgPoolSource source = source_of(class, options);
  RgPoolSource other = source;
  RgPool pool = {0}, again = {0};

  *values = NULL;
  other.objective = (char *)name;
  other.goal = RG_GOAL_MAXIMISE;
  PetscCall(rg_pool_read(&source, &pool, mistake));
  if (!mistake->length) PetscCall(rg_pool_read(&other, &again, mistake));
  const size_t n = (size_t)pool.size * (size_t)pool.dim;
  if (!mistake->length &&
      (pool.size != again.size || memcmp(pool.points, again.points, n * sizeof(double))))
    PetscCall(rg_text_add(mistake,
                          "column '%.60s' of %s is an input of the design, because 'inputs' does "
                          "not name the inputs",
                          name, source.path));
  if (!mistake->length) {
    PetscCall(PetscMalloc1(again.size, values));
    PetscCall(PetscArraycpy(*values, again.value, again.size));
  }
  PetscCall(rg_pool_destroy(&pool));
  return rg_pool_destroy(&again);
}

const RgProblemSource rg_pool_files = {
  .identity = identity, .identify = identify, .load = load, .column = column};

/* All candidates with the largest value. */
PetscErrorCode rg_pool_create(RgProblem *problem, RgFailure *failure)
{
  const RgPool *pool = problem->data;
  const size_t dim = (size_t)pool->dim;

  problem->optimum = pool->value[0];
  for (int i = 1; i < pool->size; i++)
    problem->optimum = PetscMax(problem->optimum, pool->value[i]);
  PetscCall(PetscMalloc1((size_t)pool->size * dim, &problem->optimisers));
  for (int i = 0; i < pool->size; i++) {
    if (pool->value[i] != problem->optimum) continue;
    PetscCall(PetscArraycpy(problem->optimisers + (size_t)problem->n_optimisers * dim,
                            pool->points + (size_t)i * dim, dim));
    problem->n_optimisers++;
  }
  return 0;
}

PetscErrorCode rg_pool_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                RgFailure *failure)
{
  const RgPool *pool = problem->data;

  for (int i = 0; i < m; i++) f[i] = pool->value[points[i].index];
  return 0;
}

PetscErrorCode rg_pool_problem_destroy(RgProblem *problem)
{
  return rg_pool_destroy(problem->data);
}

static const char *const duplicates[] = {"mean", "first", "error", NULL};

static const RgParam params[] = {
  RG_PATH("path", RgPoolSource, path, NULL, "",
          "CSV file with a header line; a relative path counts from the study file's folder, the "
          "working directory, or the folder REGATTA_DATA"),
  RG_POOL_COLUMNS,
  RG_CHOICE("duplicates", RgPoolSource, duplicates, "mean", duplicates, "",
            "value of rows with equal inputs: their mean, the first of them, or refuse the file"),
  RG_REALS("lower", RgPoolSource, lower, "auto", -1e100, 1e100, "",
           "value scaled to 0, one or one per input; auto: the column's smallest"),
  RG_REALS("upper", RgPoolSource, upper, "auto", -1e100, 1e100, "",
           "value scaled to 1, one or one per input; auto: the column's largest"),
  RG_POOL_REPEATS,
  {0},
};

const RgProblemClass rg_problem_dataset = {
  RG_ABOUT("dataset", "Data set", 1,
           "the value measured at each distinct input row of a CSV file; a pool of candidates,\n"
           "each queried once unless repeats are allowed",
           "the user's own; pools of measurements as in Liang et al. 2021, npj Computational "
           "Materials 7, 188"),
  RG_POOL(params),
};
