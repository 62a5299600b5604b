/* Records: their columns, checksum and size. */
#include "study/record/record.h"
#include "base/grow.h"
#include "base/hash.h"
#include "study/file/cell_data.h"
#include "base/text.h"
#include "study/record/fields.h"

#include <math.h>
#include <string.h>

#define RG_COLUMN_INFO(symbol, name, width, result, units, long_name, description)                 \
  {name, width, result, units, long_name, description},
const RgColumnInfo rg_columns[RG_COLUMN_COUNT] = {RG_COLUMN_LIST(RG_COLUMN_INFO)};
#undef RG_COLUMN_INFO

/* A blank and the name, for every column with result 1. */
#define NAME_0(name) ""
#define NAME_1(name) " " name
#define RG_COLUMN_NAME(symbol, name, width, result, units, long_name, description)                 \
  NAME_##result(name)
static const char names[] = RG_COLUMN_LIST(RG_COLUMN_NAME);
#undef RG_COLUMN_NAME
#undef NAME_1
#undef NAME_0

const char *const rg_checksum_columns = names + 1;

int rg_record_width(const RgRecord *record, int column)
{
  switch (rg_columns[column].width) {
  case RG_WIDTH_X: return record->dim_x;
  case RG_WIDTH_C: return record->dim_c;
  case RG_WIDTH_Z: return record->dim_z;
  case RG_WIDTH_S: return record->n_scores;
  case RG_WIDTH_T: return record->n_terms;
  default: return rg_columns[column].width;
  }
}

static PetscErrorCode nan_array(size_t n, double **values)
{
  PetscCall(PetscMalloc1(n, values));
  for (size_t i = 0; i < n; i++) (*values)[i] = NAN;
  return 0;
}

static PetscErrorCode check_extra_name(const char *name)
{
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    PetscCheck(strcmp(name, rg_columns[c].name), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "column '%s' of an algorithm has the name of a standard column", name);
  PetscCheck(!rg_field_is_reserved(name), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "column '%s' of an algorithm has a name that the results file uses itself", name);
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
    PetscCall(check_extra_name(extra[i].name));
    PetscCall(PetscStrncpy(record->extra_name[i], extra[i].name, RG_NAME_MAX));
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
  PetscCall(create_extra(extra, (size_t)rows, record));
  return 0;
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
  for (int c = 0; c < RG_COLUMN_COUNT; c++) PetscCall(PetscFree(record->column[c]));
  for (int i = 0; i < record->n_extra; i++) PetscCall(PetscFree(record->extra[i]));
  PetscCall(PetscFree(record->extra_name));
  PetscCall(PetscFree(record->extra_doc));
  record->n_extra = 0;
  return 0;
}

PetscErrorCode rg_record_destroy(RgRecord *record)
{
  PetscCall(rg_record_drop_data(record));
  PetscCall(rg_cell_data_release(&record->cell));
  PetscCall(RG_FREE(&record->key, &record->failures, &record->failure_texts, &record->timeline,
                    &record->provenance.machine, &record->provenance.software));
  PetscCall(PetscMemzero(record, sizeof(*record)));
  return 0;
}

size_t rg_record_bytes(const RgRecord *record)
{
  size_t doubles = 0, text = record->key ? strlen(record->key) : 0;

  text += record->failures ? strlen(record->failures) : 0;
  text += record->failure_texts ? strlen(record->failure_texts) : 0;
  text += record->timeline ? strlen(record->timeline) : 0;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (record->column[c]) doubles += (size_t)record->n_rows * (size_t)rg_record_width(record, c);
  for (int i = 0; i < record->n_extra; i++)
    if (record->extra[i]) doubles += (size_t)record->n_rows;
  return sizeof(*record) + doubles * sizeof(double) + text +
         (size_t)record->n_extra * (RG_NAME_MAX + RG_DOC_MAX);
}

bool rg_values_any(const double *values, size_t n)
{
  for (size_t i = 0; values && i < n; i++)
    if (!isnan(values[i])) return true;
  return false;
}

/* Encode eight bytes, least significant first, on every machine. */
static PetscErrorCode add_word(RgText *bytes, uint64_t word)
{
  char encoded[8];

  for (int i = 0; i < 8; i++) encoded[i] = (char)(word >> (8 * i) & 255u);
  PetscCall(rg_text_add_bytes(bytes, encoded, 8));
  return 0;
}

static PetscErrorCode add_string(RgText *bytes, const char *string)
{
  PetscCall(rg_text_add_bytes(bytes, string, strlen(string) + 1));
  return 0;
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
  PetscCall(rg_text_clear(&bytes));
  return 0;
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

  for (int i = 0; i < 24; i++) bytes[i] = (unsigned char)(words[i / 8] >> (8 * (i % 8)) & 255u);
  rg_hash128(bytes, sizeof(bytes), hash);
  rg_hash_hex(hash, hex);
}
