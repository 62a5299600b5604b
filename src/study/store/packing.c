#include "study/store/packing.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

PetscErrorCode rg_packing_create(const RgIndex *index, const char *directory, RgPacking *packing)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(packing, sizeof(*packing)));
  packing->directory = directory;
  packing->index = index;
  PetscCall(PetscMalloc1(index->n, &packing->slot_of));
  for (int i = 0; i < index->n; i++) packing->slot_of[i] = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_packing_destroy(RgPacking *packing)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < packing->n; i++) PetscCall(rg_record_destroy(&packing->slots[i].header));
  for (int s = 0; s < packing->n_sheets; s++)
    PetscCall(rg_sheet_shape_destroy(&packing->sheets[s]));
  PetscCall(PetscFree(packing->slots));
  PetscCall(PetscFree(packing->sheets));
  PetscCall(PetscFree(packing->first));
  PetscCall(PetscFree(packing->slot_of));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_packing_add_sheet(RgPacking *packing, const char *label, bool earlier)
{
  PetscFunctionBeginUser;
  if (packing->n_sheets == packing->sheet_capacity) {
    packing->sheet_capacity = 2 * packing->sheet_capacity + 8;
    PetscCall(
      PetscRealloc((size_t)packing->sheet_capacity * sizeof(*packing->sheets), &packing->sheets));
    PetscCall(
      PetscRealloc((size_t)packing->sheet_capacity * sizeof(*packing->first), &packing->first));
  }
  PetscCall(rg_sheet_shape_create(label, earlier, &packing->sheets[packing->n_sheets]));
  packing->first[packing->n_sheets++] = packing->n;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_packing_add(RgPacking *packing, int entry)
{
  PetscFunctionBeginUser;
  if (packing->n == packing->capacity) {
    packing->capacity = 2 * packing->capacity + 64;
    PetscCall(PetscRealloc((size_t)packing->capacity * sizeof(*packing->slots), &packing->slots));
  }
  packing->slot_of[entry] = packing->n;
  RgSlot *slot = &packing->slots[packing->n++];
  PetscCall(PetscMemzero(slot, sizeof(*slot)));
  slot->entry = entry;
  slot->sheet = packing->n_sheets - 1;
  PetscFunctionReturn(0);
}

/* ---- survey ---------------------------------------------------------------------------------- */

typedef struct {
  RgPacking *packing;
  int source;
  RgSheet *sheets; /* written to; NULL in the survey */
} Pass;

static RgSlot *slot_of_trial(const Pass *pass, int ordinal)
{
  const RgIndexSource *source = &pass->packing->index->sources[pass->source];
  int slot = ordinal < source->n ? pass->packing->slot_of[source->first + ordinal] : -1;

  return slot < 0 ? NULL : &pass->packing->slots[slot];
}

static PetscErrorCode survey_trial(void *context, RgSheet *sheet, int ordinal, int position,
                                   RgRecord *record, RgFailure *failure)
{
  const Pass *pass = context;
  RgSlot *slot = slot_of_trial(pass, ordinal);
  uint64_t id[2];

  PetscFunctionBeginUser;
  if (!slot) PetscFunctionReturn(0);
  if (!rg_hash_parse(record->id, id) ||
      !rg_same_hash(id, pass->packing->index->entries[slot->entry].id)) {
    rg_failure_set(failure, "trials are not where they were");
    PetscFunctionReturn(0);
  }
  PetscCall(rg_sheet_read_verified(sheet, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_sheet_shape_add(&pass->packing->sheets[slot->sheet], record));
  PetscCall(rg_record_drop_data(record));
  slot->header = *record;
  PetscCall(PetscMemzero(record, sizeof(*record)));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_trial(void *context, RgSheet *sheet, int ordinal, int position,
                                  RgRecord *record, RgFailure *failure)
{
  const Pass *pass = context;
  RgSlot *slot = slot_of_trial(pass, ordinal);

  PetscFunctionBeginUser;
  if (!slot) PetscFunctionReturn(0);
  PetscCall(rg_sheet_read_columns(sheet, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_sheet_write_columns(
    &pass->sheets[slot->sheet],
    (int)(slot - pass->packing->slots) - pass->packing->first[slot->sheet], record, failure));
  PetscFunctionReturn(0);
}

static bool source_is_used(const RgPacking *packing, int source)
{
  const RgIndexSource *from = &packing->index->sources[source];

  for (int i = 0; i < from->n; i++)
    if (packing->slot_of[from->first + i] >= 0) return true;
  return false;
}

/* A record in a file whose own checksum is right does not have the checksum it should have. Such a
   shard is put away, so that its trials can run again; a results file is left to the user. */
static PetscErrorCode condemn(const RgPacking *packing, int source, RgStoreStatus *status)
{
  const RgIndexSource *from = &packing->index->sources[source];

  PetscFunctionBeginUser;
  *status = from->results ? RG_STORE_FOREIGN : RG_STORE_INCOMPLETE;
  if (!from->results && packing->directory)
    PetscCall(rg_shard_move(from->path, packing->directory, RG_FOLDER_BAD));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_source(Pass *pass, RgTrialVisitor visit, RgStoreStatus *status,
                                 char message[512])
{
  const RgIndexSource *source = &pass->packing->index->sources[pass->source];
  RgContainer container;
  RgSourceState state;
  RgFailure failure = {0};
  bool unreadable;

  PetscFunctionBeginUser;
  PetscCall(rg_index_open(pass->packing->index, pass->source, &container, &state, message));
  if (state == RG_SOURCE_OK) {
    PetscCall(rg_container_walk(&container, visit, pass, &failure));
    if (failure.failed) snprintf(message, 512, "%.200s: %s", source->path, failure.message);
  }
  unreadable = container.medium.error != 0;
  PetscCall(rg_container_close(&container));
  if (state == RG_SOURCE_VANISHED || state == RG_SOURCE_DAMAGED)
    *status = RG_STORE_INCOMPLETE; /* gathering again will tell */
  else if (state != RG_SOURCE_OK || (failure.failed && (unreadable || pass->sheets)))
    *status = RG_STORE_ERROR;
  else if (failure.failed) PetscCall(condemn(pass->packing, pass->source, status));
  PetscFunctionReturn(0);
}

/* Visit every trial that has a slot, source by source. */
static PetscErrorCode run_pass(RgPacking *packing, RgSheet *sheets, RgTrialVisitor visit,
                               RgStoreStatus *status, char message[512])
{
  PetscFunctionBeginUser;
  for (int s = 0; s < packing->index->n_sources && *status == RG_STORE_OK; s++) {
    Pass pass = {packing, s, sheets};
    if (source_is_used(packing, s)) PetscCall(run_source(&pass, visit, status, message));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_packing_survey(RgPacking *packing, RgStoreStatus *status, char message[512])
{
  PetscFunctionBeginUser;
  PetscCall(run_pass(packing, NULL, survey_trial, status, message));
  PetscFunctionReturn(0);
}

/* ---- write ----------------------------------------------------------------------------------- */

uint64_t rg_packing_bytes(const RgPacking *packing, const RgContainerInfo *info)
{
  uint64_t bytes = 64 * 1024 + RG_TRAILER_LENGTH;

  bytes += strlen(info->study ? info->study : "") + strlen(info->history ? info->history : "");
  for (int s = 0; s < packing->n_sheets; s++) bytes += rg_sheet_shape_bytes(&packing->sheets[s]);
  return bytes;
}

static PetscErrorCode fill_info(const RgPacking *packing, RgContainerInfo *info)
{
  RgChecksum all = {0};

  PetscFunctionBeginUser;
  info->n_trials = info->n_failed = 0;
  for (int i = 0; i < packing->n; i++) {
    const RgIndexEntry *entry = &packing->index->entries[packing->slots[i].entry];
    if (packing->sheets[packing->slots[i].sheet].earlier) continue;
    info->n_trials++;
    info->n_failed += entry->status == RG_STATUS_FAILED;
    rg_checksum_add(&all, entry->checksum);
  }
  rg_checksum_hex(&all, info->checksum);
  PetscFunctionReturn(0);
}

/* Attributes about the packing itself; of the trials, each tells for itself. */
static PetscErrorCode write_provenance(hid_t file, RgFailure *failure)
{
  char *software;
  hid_t group = rg_h5_create_group(file, RG_GROUP_PROVENANCE, failure);

  PetscFunctionBeginUser;
  PetscCall(rg_software_describe(&software));
  rg_h5_write_text(group, "description",
                   "provenance of this file; that of the trials is in the groups of the problems",
                   failure);
  rg_h5_write_text(group, "software", software, failure);
  if (group >= 0) H5Gclose(group);
  PetscCall(PetscFree(software));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_sheets(RgPacking *packing, hid_t file, RgSheet *sheets,
                                    RgFailure *failure)
{
  const RgRecord **records;
  hid_t earlier = -1;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(packing->n, &records));
  for (int i = 0; i < packing->n; i++) records[i] = &packing->slots[i].header;
  for (int s = 0; s < packing->n_sheets; s++) {
    RgSheetShape *shape = &packing->sheets[s];
    if (shape->earlier && earlier < 0)
      earlier = rg_h5_create_group(file, RG_GROUP_EARLIER, failure);
    PetscCall(rg_sheet_create(shape->earlier ? earlier : file, shape, &sheets[s], failure));
    PetscCall(rg_sheet_write_fields(&sheets[s], records + packing->first[s], failure));
  }
  if (earlier >= 0) H5Gclose(earlier);
  PetscCall(PetscFree(records));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_packing_fill(RgPacking *packing, RgContainerInfo *info, RgMedium *medium,
                               RgStoreStatus *status, char message[512])
{
  RgFailure failure = {0};
  RgSheet *sheets;
  hid_t file;

  PetscFunctionBeginUser;
  file = rg_medium_open(medium, true);
  if (file < 0) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "HDF5 can't begin a results file");
    PetscFunctionReturn(0);
  }
  PetscCall(fill_info(packing, info));
  rg_container_write_info(file, info, &failure);
  PetscCall(write_provenance(file, &failure));
  PetscCall(PetscMalloc1(packing->n_sheets, &sheets));
  PetscCall(create_sheets(packing, file, sheets, &failure));
  if (!failure.failed) PetscCall(run_pass(packing, sheets, write_trial, status, message));
  for (int s = 0; s < packing->n_sheets; s++) PetscCall(rg_sheet_close(&sheets[s]));
  PetscCall(PetscFree(sheets));
  if (!rg_medium_close(medium, file)) rg_failure_set(&failure, "HDF5 can't finish a results file");
  if (failure.failed && *status == RG_STORE_OK) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "%s", failure.message);
  }
  PetscFunctionReturn(0);
}

/* ---- verify ---------------------------------------------------------------------------------- */

typedef struct {
  const RgPacking *packing;
  int seen;
} Verification;

static int find_sheet(const RgPacking *packing, const RgSheetShape *shape)
{
  for (int s = 0; s < packing->n_sheets; s++)
    if (packing->sheets[s].earlier == shape->earlier &&
        !strcmp(packing->sheets[s].label, shape->label))
      return s;
  return -1;
}

static PetscErrorCode verify_trial(void *context, RgSheet *sheet, int ordinal, int position,
                                   RgRecord *record, RgFailure *failure)
{
  Verification *verification = context;
  const RgPacking *packing = verification->packing;
  int s = find_sheet(packing, sheet->shape);
  const RgRecord *header;

  PetscFunctionBeginUser;
  (void)ordinal;
  PetscCall(rg_sheet_read_verified(sheet, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  header = s >= 0 && position < packing->sheets[s].n
             ? &packing->slots[packing->first[s] + position].header
             : NULL;
  if (!header || strcmp(header->id, record->id) || strcmp(header->checksum, record->checksum))
    rg_failure_set(failure, "trial %s is not what was written", record->id);
  verification->seen++;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_packing_verify(const RgPacking *packing, const RgMedium *medium,
                                 RgStoreStatus *status, char message[512])
{
  Verification verification = {packing, 0};
  RgContainer container;
  RgFailure failure = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_container_open(medium, &container, &failure));
  if (!failure.failed)
    PetscCall(rg_container_walk(&container, verify_trial, &verification, &failure));
  PetscCall(rg_container_close(&container));
  if (!failure.failed && verification.seen != packing->n)
    rg_failure_set(&failure, "%d of %d trials arrived", verification.seen, packing->n);
  if (failure.failed) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "the results file did not verify: %s", failure.message);
  }
  PetscFunctionReturn(0);
}
