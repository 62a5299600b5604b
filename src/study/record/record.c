/* Records: their columns, size, checksum, comparison and archived form. */
#include "study/record/record.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "study/file/cell_data.h"
#include "study/record/fields.h"

#include <math.h>
#include <string.h>

#define RG_COLUMN_INFO(symbol, name, width, result, units, long_name, description)                 \
  {name, width, result, units, long_name, description},
const RgColumnInfo rg_columns[RG_COLUMN_COUNT] = {RG_COLUMN_LIST(RG_COLUMN_INFO)};
#undef RG_COLUMN_INFO

int rg_record_width(const RgRecord *record, int column)
{
  const int width = rg_columns[column].width;

  if (width > 0) return width;
  return *(const int *)((const char *)record + rg_axes[rg_axis_of_width(width)].offset);
}

static PetscErrorCode nan_array(size_t n, double **values)
{
  PetscCall(PetscMalloc1(n, values));
  for (size_t i = 0; i < n; i++) (*values)[i] = NAN;
  return 0;
}

static PetscErrorCode create_extra(const RgRecordColumn *extra, size_t rows, RgRecord *record)
{
  int n = 0;

  while (extra && extra[n].name) n++;
  PetscCheck(n <= RG_EXTRA_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d columns of an algorithm, at most %d are recorded", n, RG_EXTRA_MAX);
  record->n_extra = n;
  PetscCall(PetscCalloc1(n, &record->extra_name));
  PetscCall(PetscCalloc1(n, &record->extra_doc));
  for (int i = 0; i < n; i++) {
    const char *name = extra[i].name;
    PetscCheck(!rg_field_is_reserved(name), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "column '%s' of an algorithm has a name that the results file uses itself", name);
    PetscCall(PetscStrncpy(record->extra_name[i], name, RG_NAME_MAX));
    PetscCall(PetscStrncpy(record->extra_doc[i], extra[i].doc ? extra[i].doc : "", RG_DOC_MAX));
    PetscCall(nan_array(rows, &record->extra[i]));
  }
  return 0;
}

PetscErrorCode rg_record_create(const RgStudy *study, const RgTrial *trial, int rows, int dim_z,
                                const RgRecordColumn *extra, RgRecord *record)
{
  const RgCell *cell = &study->cells[trial->cell];
  RgText key = {0};

  PetscCall(PetscMemzero(record, sizeof(*record)));
  memcpy(record->id, trial->id, sizeof(record->id));
  PetscCall(rg_trial_key(study, trial, &key));
  record->key = key.data;
  PetscCall(rg_cell_data(study, trial->cell, &record->cell));
  (void)rg_cell_data_share(record->cell);
  record->n_scores = cell->n_scores;
  record->instance = trial->instance;
  record->seed = trial->seed;
  record->n_rows = rows;
  record->n_initial = trial->n_initial;
  record->dim_x = trial->dim_x;
  record->dim_c = trial->dim_c;
  record->dim_z = dim_z;
  record->optimum = record->makespan = record->idle_share = NAN;
  record->workers = cell->crew.workers;
  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    size_t n = (size_t)rows * (size_t)rg_record_width(record, c);
    if (n) PetscCall(nan_array(n, &record->column[c]));
  }
  return create_extra(extra, (size_t)rows, record);
}

PetscErrorCode rg_record_set_terms(RgRecord *record, int n_terms)
{
  record->n_terms = n_terms;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (n_terms && rg_columns[c].width == RG_WIDTH_T && !record->column[c])
      PetscCall(nan_array((size_t)record->n_rows * n_terms, &record->column[c]));
  return 0;
}

PetscErrorCode rg_record_leave_out(const RgTexts *without, RgRecord *record)
{
  for (int i = 0; i < without->n; i++) {
    const char *name = without->values[i];
    const bool timing = !strcmp(name, RG_WITHOUT_TIMING);
    for (int c = 0; c < RG_COLUMN_COUNT; c++)
      if (!strcmp(rg_columns[c].name, name) ||
          (timing && c >= RG_COLUMN_WALL_FIT && c <= RG_COLUMN_CPU_EVALUATE))
        PetscCall(PetscFree(record->column[c]));
    for (int e = 0; e < record->n_extra; e++)
      if (!strcmp(record->extra_name[e], name)) PetscCall(PetscFree(record->extra[e]));
  }
  return 0;
}

PetscErrorCode rg_record_drop_data(RgRecord *record)
{
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (record->column[c]) PetscCall(PetscFree(record->column[c]));
  for (int i = 0; i < record->n_extra; i++) PetscCall(PetscFree(record->extra[i]));
  record->n_extra = 0;
  return RG_FREE(&record->extra_name, &record->extra_doc);
}

PetscErrorCode rg_record_destroy(RgRecord *record)
{
  PetscCall(rg_record_drop_data(record));
  PetscCall(rg_cell_data_release(&record->cell));
  for (int f = 0; f < rg_field_count; f++) {
    char **text = (char **)((char *)record + rg_fields[f].offset);
    if (rg_fields[f].type == RG_FIELD_TEXT && *text) PetscCall(PetscFree(*text));
  }
  return PetscMemzero(record, sizeof(*record));
}

size_t rg_record_text(const RgRecord *record, int type)
{
  size_t bytes = 0;

  for (int f = 0; f < rg_field_count; f++) {
    const char *at = (const char *)record + rg_fields[f].offset;
    if ((int)rg_fields[f].type != type) continue;
    if (type == RG_FIELD_TEXT) at = *(char *const *)at;
    bytes += at ? strlen(at) : 0;
  }
  return bytes;
}

size_t rg_record_bytes(const RgRecord *record)
{
  size_t doubles = 0;

  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (record->column[c]) doubles += (size_t)record->n_rows * (size_t)rg_record_width(record, c);
  for (int i = 0; i < record->n_extra; i++)
    if (record->extra[i]) doubles += (size_t)record->n_rows;
  return sizeof(*record) + doubles * sizeof(double) + rg_record_text(record, RG_FIELD_TEXT) +
         (size_t)record->n_extra * (RG_NAME_MAX + RG_DOC_MAX);
}

bool rg_values_any(const double *values, size_t n)
{
  for (size_t i = 0; values && i < n; i++)
    if (!isnan(values[i])) return true;
  return false;
}

static PetscErrorCode add_word(RgText *bytes, uint64_t word)
{
  unsigned char encoded[8];

  rg_put_word(word, encoded);
  return rg_text_add_bytes(bytes, (const char *)encoded, 8);
}

static PetscErrorCode add_string(RgText *bytes, const char *string)
{
  return rg_text_add_bytes(bytes, string, strlen(string) + 1);
}

/* The decision uses bits, because comparisons of numbers depend on floating-point modes. */
static uint64_t canonical_bits(double value)
{
  uint64_t bits, sign = UINT64_C(1) << 63, infinity = UINT64_C(0x7ff) << 52;

  memcpy(&bits, &value, sizeof(bits));
  if (bits == sign) return 0;
  if ((bits & ~sign) > infinity) return UINT64_C(0x7ff8) << 48;
  return bits;
}

static PetscErrorCode add_values(RgText *bytes, const char *name, size_t n, const double *values)
{
  if (!rg_values_any(values, n)) return 0;
  PetscCall(add_string(bytes, name));
  PetscCall(add_word(bytes, n));
  for (size_t i = 0; i < n; i++) PetscCall(add_word(bytes, canonical_bits(values[i])));
  return 0;
}

/* Process extra columns by name, because their order of declaration is not stored. */
static PetscErrorCode add_extra(RgText *bytes, const RgRecord *record)
{
  bool done[RG_EXTRA_MAX] = {false};

  for (int k = 0; k < record->n_extra; k++) {
    int next = -1;
    for (int i = 0; i < record->n_extra; i++)
      if (!done[i] && (next < 0 || strcmp(record->extra_name[i], record->extra_name[next]) < 0))
        next = i;
    done[next] = true;
    PetscCall(
      add_values(bytes, record->extra_name[next], (size_t)record->n_rows, record->extra[next]));
  }
  return 0;
}

PetscErrorCode rg_record_checksum(const RgRecord *record, uint64_t checksum[2])
{
  const int shape[] = {record->status, record->n_rows, record->n_initial,
                       record->dim_x,  record->dim_c,  record->dim_z};
  RgText bytes = {0};

  PetscCall(add_string(&bytes, record->id));
  PetscCall(add_string(&bytes, record->key ? record->key : ""));
  PetscCall(add_string(&bytes, record->message));
  for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++)
    PetscCall(add_word(&bytes, (uint64_t)shape[i]));
  PetscCall(add_word(&bytes, canonical_bits(record->optimum)));
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (rg_columns[c].result)
      PetscCall(add_values(&bytes, rg_columns[c].name,
                           (size_t)record->n_rows * (size_t)rg_record_width(record, c),
                           record->column[c]));
  PetscCall(add_extra(&bytes, record));
  rg_hash128(bytes.data, bytes.length, checksum);
  return rg_text_clear(&bytes);
}

void rg_checksum_add(RgChecksum *checksum, const uint64_t record[2])
{
  uint64_t low = checksum->sum[0] + record[0];

  checksum->sum[1] += record[1] + (low < record[0]);
  checksum->sum[0] = low;
  checksum->n++;
}

void rg_checksum_hex(const RgChecksum *checksum, char hex[33])
{
  const uint64_t words[3] = {checksum->n, checksum->sum[0], checksum->sum[1]};
  unsigned char bytes[24];
  uint64_t hash[2];

  for (int i = 0; i < 3; i++) rg_put_word(words[i], bytes + 8 * i);
  rg_hash128(bytes, sizeof(bytes), hash);
  rg_hash_hex(hash, hex);
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool same_number(double a, double b, double slack)
{
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= slack;
}

/* Compare `rows` rows of a column; NULL stands for NaN. */
static PetscErrorCode compare_values(const char *name, int rows, int width, const double *then,
                                     const double *now, double tolerance, RgText *difference)
{
  const size_t n = (size_t)rows * (size_t)width;
  double largest = 0;

  for (size_t i = 0; tolerance > 0 && then && i < n; i++)
    if (isfinite(then[i])) largest = fmax(largest, fabs(then[i]));
  for (size_t i = 0; i < n && !difference->length; i++) {
    const double a = then ? then[i] : NAN, b = now ? now[i] : NAN;
    if (same_number(a, b, tolerance * largest)) continue;
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
  for (int k = 0; k < now->n_extra && !difference->length; k++) {
    const double *stored = NULL;
    for (int j = 0; j < then->n_extra; j++)
      if (!strcmp(then->extra_name[j], now->extra_name[k])) stored = then->extra[j];
    PetscCall(
      compare_values(now->extra_name[k], now->n_rows, 1, stored, now->extra[k], 0, difference));
  }
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
    return compare_shape(then, now, difference);
  }
  for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
    PetscCall(compare_values(rg_columns[columns[k]].name, rows, rg_record_width(now, columns[k]),
                             then->column[columns[k]], now->column[columns[k]], tolerance,
                             difference));
  return 0;
}

/* ---- archived form --------------------------------------------------------------------------- */

/* Whether cumulative regret stays after this many queries: 1, 2, 5, 10, 20, 50, ... */
static bool is_budget(int queries)
{
  while (queries > 0 && queries % 10 == 0) queries /= 10;
  return queries == 1 || queries == 2 || queries == 5;
}

/* The row of the best design; -1: no evaluation has a value of the objective. */
static int best_row(const RgRecord *record)
{
  const double *objective = record->column[RG_COLUMN_OBJECTIVE];
  int best = -1;

  for (int r = 0; objective && r < record->n_rows; r++)
    if (!isnan(objective[r]) && (best < 0 || objective[r] > objective[best])) best = r;
  return best;
}

/* Whether a value of a column stays. */
static bool stays(const RgRecord *record, int column, int row, int best)
{
  const bool last = row == record->n_rows - 1;

  switch (column) {
  case RG_COLUMN_SIMPLE_REGRET:
  case RG_COLUMN_SCORE_SIMPLE_REGRET:
  case RG_COLUMN_SUBMISSION:
  case RG_COLUMN_FINISHED: return true;
  case RG_COLUMN_CUMULATIVE_REGRET:
  case RG_COLUMN_SCORE_CUMULATIVE_REGRET: return last || is_budget(row + 1 - record->n_initial);
  case RG_COLUMN_X: return row == best;
  case RG_COLUMN_RECOMMENDATION: return last;
  default: return false;
  }
}

/* Without an optimum there is no regret: the objective stays where it improves. */
static void keep_improvements(double *objective, int n)
{
  double best = -INFINITY;

  for (int r = 0; r < n; r++) {
    if (objective[r] > best) best = objective[r];
    else objective[r] = NAN;
  }
}

PetscErrorCode rg_record_archive(RgRecord *record)
{
  const bool regret = !isnan(record->optimum);
  const int best = best_row(record);

  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    const int width = rg_record_width(record, c);
    double *values = record->column[c];
    bool any = false;
    if (c == RG_COLUMN_OBJECTIVE && values && !regret) keep_improvements(values, record->n_rows);
    if (!values || (c == RG_COLUMN_OBJECTIVE && !regret)) continue;
    for (int r = 0; r < record->n_rows; r++) {
      const bool kept = stays(record, c, r, best);
      for (int k = 0; k < width && !kept; k++) values[r * width + k] = NAN;
      any = any || kept;
    }
    if (!any) PetscCall(PetscFree(record->column[c]));
  }
  for (int i = 0; i < record->n_extra; i++) PetscCall(PetscFree(record->extra[i]));
  record->n_extra = 0;
  record->gap = 0; /* it belongs to the timeline */
  return RG_FREE(&record->key, &record->extra_name, &record->extra_doc, &record->failure_texts,
                 &record->timeline);
}
