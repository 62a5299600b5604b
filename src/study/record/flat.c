/* Records as bytes: a hash of what follows, the struct, and what its pointers lead to, each part
   with its length in front. A pointer of the struct that is NULL has no part. */
#include "study/record/flat.h"

#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "study/record/fields.h"

/* Does something with an owned part of a record. at: address of the pointer; n: its bytes, 0 for a
   text. */
typedef PetscErrorCode (*Part)(void *closure, void *at, size_t n);

static PetscErrorCode each_setting(RgSwept *setting, Part part, void *closure)
{
  PetscFunctionBeginUser;
  PetscCall(part(closure, &setting->name, 0));
  PetscCall(part(closure, &setting->text, 0));
  PetscCall(part(closure, &setting->part, 0));
  PetscCall(part(closure, &setting->units, 0));
  PetscCall(part(closure, &setting->doc, 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode each_part(RgRecord *record, Part part, void *closure)
{
  const size_t rows = (size_t)record->n_rows * sizeof(double), n_extra = (size_t)record->n_extra;

  PetscFunctionBeginUser;
  for (int f = 0; f < rg_field_count; f++)
    if (rg_fields[f].type == RG_FIELD_TEXT)
      PetscCall(part(closure, (char *)record + rg_fields[f].offset, 0));
  PetscCall(part(closure, &record->settings, (size_t)record->n_swept * sizeof(*record->settings)));
  for (int s = 0; s < record->n_swept; s++)
    PetscCall(each_setting(&record->settings[s], part, closure));
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    PetscCall(part(closure, &record->column[c], rows * (size_t)rg_record_width(record, c)));
  PetscCall(part(closure, &record->extra_name, n_extra * sizeof(*record->extra_name)));
  PetscCall(part(closure, &record->extra_doc, n_extra * sizeof(*record->extra_doc)));
  for (int i = 0; i < record->n_extra; i++) PetscCall(part(closure, &record->extra[i], rows));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_part(void *closure, void *at, size_t n)
{
  RgText *bytes = closure;
  const char *const data = *(char **)at;

  PetscFunctionBeginUser;
  if (!data) PetscFunctionReturn(0);
  if (!n) n = strlen(data) + 1;
  PetscCall(rg_text_add_bytes(bytes, (const char *)&n, sizeof(n)));
  PetscCall(rg_text_add_bytes(bytes, data, n));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_flat_write(const RgRecord *record, RgText *bytes)
{
  const size_t begin = bytes->length;
  RgRecord filled = *record;
  uint64_t hash[2] = {0};

  PetscFunctionBeginUser;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (!rg_values_any(record->column[c],
                       (size_t)record->n_rows * (size_t)rg_record_width(record, c)))
      filled.column[c] = NULL;
  PetscCall(rg_text_add_bytes(bytes, (const char *)hash, sizeof(hash)));
  PetscCall(rg_text_add_bytes(bytes, (const char *)&filled, sizeof(filled)));
  PetscCall(each_part(&filled, write_part, bytes));
  rg_hash128(bytes->data + begin + sizeof(hash), bytes->length - begin - sizeof(hash), hash);
  memcpy(bytes->data + begin, hash, sizeof(hash));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_part(void *closure, void *at, size_t n)
{
  const char **from = closure;
  char **data = at;

  PetscFunctionBeginUser;
  if (!*data) PetscFunctionReturn(0);
  memcpy(&n, *from, sizeof(n));
  PetscCall(PetscMalloc1(n, data));
  memcpy(*data, *from + sizeof(n), n);
  *from += sizeof(n) + n;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_flat_read(const char *bytes, size_t length, RgRecord *record, bool *intact)
{
  uint64_t hash[2], stored[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(record, sizeof(*record)));
  *intact = length >= sizeof(stored) + sizeof(*record);
  if (!*intact) PetscFunctionReturn(0);
  memcpy(stored, bytes, sizeof(stored));
  rg_hash128(bytes + sizeof(stored), length - sizeof(stored), hash);
  *intact = !memcmp(stored, hash, sizeof(hash));
  if (!*intact) PetscFunctionReturn(0);
  bytes += sizeof(stored);
  memcpy(record, bytes, sizeof(*record));
  bytes += sizeof(*record);
  PetscCall(each_part(record, read_part, (void *)&bytes));
  PetscFunctionReturn(0);
}
