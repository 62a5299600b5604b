/* Comparison of two records of one trial. */
#include "study/record/record.h"

#include <math.h>

static bool same_number(double a, double b, double slack)
{
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= slack;
}

static double largest(const double *values, size_t n)
{
  double most = 0;

  for (size_t i = 0; values && i < n; i++)
    if (isfinite(values[i])) most = fmax(most, fabs(values[i]));
  return most;
}

static double value_at(const double *values, size_t i)
{
  return values ? values[i] : NAN;
}

/* Compare `rows` rows of a column; NULL stands for NaN. */
static PetscErrorCode compare_values(const char *name, int rows, int width, const double *then,
                                     const double *now, double tolerance, RgText *difference)
{
  size_t n = (size_t)rows * (size_t)width;
  double slack = tolerance > 0 ? tolerance * largest(then, n) : 0;

  for (size_t i = 0; i < n && !difference->length; i++) {
    double a = value_at(then, i), b = value_at(now, i);
    if (same_number(a, b, slack)) continue;
    PetscCall(rg_text_add(difference, "%s of evaluation %d is %.17g, was %.17g", name,
                          1 + (int)(i / (size_t)width), b, a));
  }
  return 0;
}

/* Compare the properties that must agree before columns can be compared. */
static PetscErrorCode compare_shape(const RgRecord *then, const RgRecord *now, RgText *difference)
{
  static const char *const words[] = {
    [RG_STATUS_MISSING] = "missing",
    [RG_STATUS_COMPLETE] = "complete",
    [RG_STATUS_FAILED] = "failed",
  };

  if (strcmp(then->id, now->id) || strcmp(then->key, now->key))
    PetscCall(rg_text_add(difference, "it is another trial"));
  else if (then->status != now->status)
    PetscCall(rg_text_add(difference, "it is %s, was %s%s%s", words[now->status],
                          words[then->status], now->message[0] ? ": " : "", now->message));
  else if (then->n_rows != now->n_rows)
    PetscCall(rg_text_add(difference, "it has %d evaluations, had %d", now->n_rows, then->n_rows));
  else if (then->n_initial != now->n_initial || then->dim_x != now->dim_x ||
           then->dim_c != now->dim_c || then->dim_z != now->dim_z ||
           then->n_scores != now->n_scores)
    PetscCall(rg_text_add(difference, "its dimensions differ"));
  return 0;
}

static PetscErrorCode compare_extra(const RgRecord *then, const RgRecord *now, RgText *difference)
{
  for (int k = 0; k < now->n_extra && !difference->length; k++) {
    const double *stored = NULL;
    for (int j = 0; j < then->n_extra; j++)
      if (!strcmp(then->extra_name[j], now->extra_name[k])) stored = then->extra[j];
    PetscCall(
      compare_values(now->extra_name[k], now->n_rows, 1, stored, now->extra[k], 0, difference));
  }
  return 0;
}

/* Files of earlier programs lack these columns. Such a file is right without them. */
static bool is_unknown_to(const RgRecord *then, int column)
{
  return column >= RG_COLUMN_TERM_VARIANCE && column <= RG_COLUMN_FIT_FROM &&
         !rg_values_any(then->column[column],
                        (size_t)then->n_rows * (size_t)rg_record_width(then, column));
}

PetscErrorCode rg_record_compare(const RgRecord *then, const RgRecord *now, RgText *difference)
{
  RgRecord same = *now; /* borrows the data of `now` */
  uint64_t before[2], after[2];

  PetscCall(compare_shape(then, now, difference));
  if (difference->length) return 0;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (is_unknown_to(then, c)) same.column[c] = NULL;
    else if (rg_columns[c].result)
      PetscCall(compare_values(rg_columns[c].name, now->n_rows, rg_record_width(now, c),
                               then->column[c], now->column[c], 0, difference));
  PetscCall(compare_extra(then, now, difference));
  if (!difference->length && !same_number(then->optimum, now->optimum, 0))
    PetscCall(
      rg_text_add(difference, "its optimum is %.17g, was %.17g", now->optimum, then->optimum));
  if (difference->length) return 0;
  PetscCall(rg_record_checksum(then, before));
  PetscCall(rg_record_checksum(&same, after));
  if (before[0] != after[0] || before[1] != after[1])
    PetscCall(rg_text_add(difference, "its checksum differs (%s)", now->message));
  return 0;
}

PetscErrorCode rg_record_compare_initial(const RgRecord *then, const RgRecord *now,
                                         double tolerance, RgText *difference)
{
  static const int columns[] = {RG_COLUMN_X, RG_COLUMN_C, RG_COLUMN_Y, RG_COLUMN_F};
  int rows = PetscMin(now->n_initial, PetscMin(then->n_rows, now->n_rows));

  if (strcmp(then->id, now->id) || then->dim_x != now->dim_x || then->dim_c != now->dim_c) {
    PetscCall(compare_shape(then, now, difference));
    return 0;
  }
  for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
    PetscCall(compare_values(rg_columns[columns[k]].name, rows, rg_record_width(now, columns[k]),
                             then->column[columns[k]], now->column[columns[k]], tolerance,
                             difference));
  return 0;
}
