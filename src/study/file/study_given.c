/* Given designs: the designs from a file at the start of an initial design, evaluated or with
   known values. */
#include "study/file/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/inputs.h"
#include "problem/csv.h"

/* A file while it is read. */
typedef struct {
  const char *path;
  const RgSpace *space;
  RgCsv csv;
  int *column; /* column of each coordinate; owned */
  int values;  /* column of the known values; -1: no such column */
  int sign;    /* sign of known values relative to the maximised function; 0: not accepted */
  RgText *mistake;
} Reading;

static void name_of(const RgSpace *space, int j, char name[64])
{
  if (space->inputs) snprintf(name, 64, "%s", space->inputs[j].name);
  else snprintf(name, 64, "x%d", j + 1);
}

/* Match the columns with the coordinates, each exactly once. */
static PetscErrorCode match_columns(Reading *r)
{
  char name[64];
  RgText names = {0};

  for (int j = 0; j < r->space->dim; j++) {
    name_of(r->space, j, name);
    PetscCall(rg_text_add(&names, "%s%s", j ? ", " : "", name));
    r->column[j] = -1;
  }
  for (int k = 0; k < r->csv.n_columns && !r->mistake->length; k++) {
    int j = 0;
    for (; j < r->space->dim; j++) {
      name_of(r->space, j, name);
      if (!strcmp(name, r->csv.names[k])) break;
    }
    const bool is_value = j == r->space->dim && !strcmp(r->csv.names[k], "y");
    if (j < r->space->dim) r->column[j] = k;
    else if (is_value && r->sign) r->values = k;
    else
      PetscCall(rg_text_add(r->mistake, "%s has a column '%.40s'; its columns are %.200s%s",
                            r->path, r->csv.names[k], names.data,
                            r->sign ? ", and y for known values"
                                    : "; a problem with contexts or constraints takes no known "
                                      "values"));
  }
  for (int j = 0; j < r->space->dim && !r->mistake->length; j++) {
    name_of(r->space, j, name);
    if (r->column[j] < 0)
      PetscCall(rg_text_add(r->mistake, "%s has no column '%.40s'; its columns are %.200s", r->path,
                            name, names.data));
  }
  return rg_text_clear(&names);
}

/* Read the native value of a cell; report a mistake in it. */
static PetscErrorCode read_cell(Reading *r, int row, int j, double *value)
{
  const RgSpace *space = r->space;
  const RgInput *input = space->inputs ? &space->inputs[j] : NULL;
  const char *cell = r->csv.cells[(size_t)row * r->csv.n_columns + r->column[j]];
  const char *wrong = NULL;
  char name[64];

  *value = NAN;
  if (!cell[0] && input && input->parent >= 0) *value = rg_space_middle(space, j);
  else if (!input || input->kind != RG_INPUT_CHOICE)
    wrong = rg_csv_number(&r->csv, row, r->column[j], value);
  else
    for (int k = 0; k < input->n_words; k++) /* the middle of the word's interval */
      if (!strcmp(input->words[k], cell)) *value = k + 0.5;
  if (isnan(*value) && input && input->n_words) wrong = "must be one of its words";
  else if (input && input->kind == RG_INPUT_INTEGER && *value != floor(*value) && cell[0])
    wrong = "must be an integer";
  name_of(space, j, name);
  if (wrong)
    PetscCall(rg_text_add(r->mistake, "%s:%d: '%.40s' %s, got '%.40s'", r->path, r->csv.line[row],
                          name, wrong, cell));
  else if (!rg_space_is_finite(space) && !(*value >= space->lower[j] && *value <= space->upper[j]))
    PetscCall(rg_text_add(r->mistake, "%s:%d: '%.40s' is %s, outside [%g, %g]", r->path,
                          r->csv.line[row], name, cell, space->lower[j], space->upper[j]));
  return 0;
}

/* Convert a row of a box in `native` to unit coordinates. */
static PetscErrorCode convert_design(const RgSpace *space, int row, RgGiven *given)
{
  double *x = given->x + (size_t)row * space->dim;
  const double *native = given->native + (size_t)row * space->dim;
  double *back;

  rg_space_to_unit(space, native, x);
  for (int j = 0; j < space->dim; j++) x[j] = fmin(fmax(x[j], 0), 1);
  PetscCall(PetscMalloc1(space->dim, &back));
  rg_space_to_native(space, x, back);
  for (int j = 0; j < space->dim; j++) given->exact = given->exact && back[j] == native[j];
  return PetscFree(back);
}

static PetscErrorCode read_row(Reading *r, int row, bool once, RgGiven *given)
{
  const RgSpace *space = r->space;
  double *x = given->x + (size_t)row * space->dim;
  double *native = given->native + (size_t)row * space->dim;

  for (int j = 0; j < space->dim && !r->mistake->length; j++)
    PetscCall(read_cell(r, row, j, &native[j]));
  /* Check that only inputs that don't count have empty cells. */
  double *seen;
  if (!r->mistake->length && rg_space_is_conditional(space)) {
    PetscCall(PetscMalloc1(space->dim, &seen));
    rg_space_seen(space, native, seen);
    for (int j = 0; j < space->dim && !r->mistake->length; j++) {
      const char *cell = r->csv.cells[(size_t)row * r->csv.n_columns + r->column[j]];
      if (cell[0] || isnan(seen[j])) continue;
      PetscCall(rg_text_add(r->mistake, "%s:%d: '%.40s' is empty, but counts there", r->path,
                            r->csv.line[row], space->inputs[j].name));
    }
    PetscCall(PetscFree(seen));
  }
  if (r->values >= 0 && !r->mistake->length) {
    double value;
    const char *wrong = rg_csv_number(&r->csv, row, r->values, &value);
    if (!wrong) given->y[row] = r->sign < 0 ? 0 - value : value;
    else
      PetscCall(rg_text_add(r->mistake, "%s:%d: 'y' %s, got '%.40s'", r->path, r->csv.line[row],
                            wrong, r->csv.cells[(size_t)row * r->csv.n_columns + r->values]));
  }
  given->index[row] = -1;
  if (r->mistake->length) return 0;
  if (!rg_space_is_finite(space)) return convert_design(space, row, given);
  given->index[row] = rg_space_find(space, native);
  if (given->index[row] < 0)
    return rg_text_add(r->mistake, "%s:%d: none of the %d designs there are", r->path,
                       r->csv.line[row], space->size);
  for (int i = 0; i < row && once && !r->mistake->length; i++)
    if (given->index[i] == given->index[row])
      PetscCall(rg_text_add(r->mistake,
                            "%s:%d: the design of line %d, and each may be queried once", r->path,
                            r->csv.line[row], r->csv.line[i]));
  PetscCall(PetscArraycpy(x, space->points + (size_t)given->index[row] * space->dim, space->dim));
  rg_space_to_native(space, x, native);
  return 0;
}

PetscErrorCode rg_given_read(const char *path, const RgSpace *space, bool once, int sign,
                             RgGiven *given, RgText *mistake)
{
  RgText own = {0};
  Reading r = {.path = path, .space = space, .values = -1, .sign = sign, .mistake = &own};

  *given = (RgGiven){0};
  PetscCall(rg_csv_read(path, RG_CSV_HEADER_YES, &r.csv, &own));
  PetscCall(PetscMalloc1(space->dim, &r.column));
  if (!own.length) PetscCall(match_columns(&r));
  if (!own.length) {
    *given = (RgGiven){.n = r.csv.n_rows, .exact = true};
    PetscCall(PetscMalloc1((size_t)given->n * space->dim, &given->x));
    PetscCall(PetscMalloc1((size_t)given->n * space->dim, &given->native));
    PetscCall(PetscMalloc1(given->n, &given->index));
    if (r.values >= 0) PetscCall(PetscMalloc1(given->n, &given->y));
  }
  for (int row = 0; row < given->n && !own.length; row++) PetscCall(read_row(&r, row, once, given));
  if (own.length) PetscCall(rg_given_clear(given));
  if (own.length) PetscCall(rg_text_add(mistake, "%s", own.data));
  PetscCall(PetscFree(r.column));
  PetscCall(rg_csv_destroy(&r.csv));
  return rg_text_clear(&own);
}

PetscErrorCode rg_given_clear(RgGiven *given)
{
  PetscCall(RG_FREE(&given->x, &given->native, &given->index, &given->y));
  given->n = 0;
  return 0;
}

PetscErrorCode rg_given_identity(const RgGiven *given, int dim, RgText *text)
{
  uint64_t hash[2];
  char hex[33];

  if (!given->n) return 0;
  rg_hash128(given->exact ? given->x : given->native,
             (size_t)given->n * (size_t)dim * sizeof(double), hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_text_add(text, ",given=%d:%s", given->n, hex));
  if (!given->y) return 0;
  rg_hash128(given->y, (size_t)given->n * sizeof(double), hash);
  rg_hash_hex(hash, hex);
  return rg_text_add(text, ",known=%s", hex);
}
