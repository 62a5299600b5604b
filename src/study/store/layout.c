#include "study/store/layout.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

PetscErrorCode rg_layout_create(const RgIndex *index, const char *directory, RgLayout *layout)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(layout, sizeof(*layout)));
  layout->directory = directory;
  layout->index = index;
  PetscCall(PetscMalloc1(index->n, &layout->slot_of));
  for (int i = 0; i < index->n; i++) layout->slot_of[i] = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_destroy(RgLayout *layout)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < layout->n; i++) PetscCall(rg_record_destroy(&layout->slots[i].header));
  for (int s = 0; s < layout->n_groups; s++) PetscCall(rg_group_shape_destroy(&layout->groups[s]));
  PetscCall(PetscFree(layout->slots));
  PetscCall(PetscFree(layout->groups));
  PetscCall(PetscFree(layout->first));
  PetscCall(PetscFree(layout->slot_of));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_add_group(RgLayout *layout, const char *label, bool earlier)
{
  PetscFunctionBeginUser;
  if (layout->n_groups == layout->group_capacity) {
    layout->group_capacity = 2 * layout->group_capacity + 8;
    PetscCall(
      PetscRealloc((size_t)layout->group_capacity * sizeof(*layout->groups), &layout->groups));
    PetscCall(
      PetscRealloc((size_t)layout->group_capacity * sizeof(*layout->first), &layout->first));
  }
  PetscCall(rg_group_shape_create(label, earlier, &layout->groups[layout->n_groups]));
  layout->first[layout->n_groups++] = layout->n;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_add(RgLayout *layout, int entry)
{
  PetscFunctionBeginUser;
  if (layout->n == layout->capacity) {
    layout->capacity = 2 * layout->capacity + 64;
    PetscCall(PetscRealloc((size_t)layout->capacity * sizeof(*layout->slots), &layout->slots));
  }
  layout->slot_of[entry] = layout->n;
  RgSlot *slot = &layout->slots[layout->n++];
  PetscCall(PetscMemzero(slot, sizeof(*slot)));
  slot->entry = entry;
  slot->group = layout->n_groups - 1;
  PetscFunctionReturn(0);
}

/* ---- survey ---------------------------------------------------------------------------------- */

typedef struct {
  RgLayout *layout;
  int source;
  RgGroup *groups; /* written to; NULL in the survey */
} Pass;

static RgSlot *slot_of_trial(const Pass *pass, int ordinal)
{
  const RgIndexSource *source = &pass->layout->index->sources[pass->source];
  int slot = ordinal < source->n ? pass->layout->slot_of[source->first + ordinal] : -1;

  return slot < 0 ? NULL : &pass->layout->slots[slot];
}

static PetscErrorCode survey_trial(void *closure, RgGroup *group, int ordinal, int position,
                                   RgRecord *record, RgFailure *failure)
{
  const Pass *pass = closure;
  RgSlot *slot = slot_of_trial(pass, ordinal);
  uint64_t id[2];

  PetscFunctionBeginUser;
  if (!slot) PetscFunctionReturn(0);
  if (!rg_hash_parse(record->id, id) ||
      !rg_same_hash(id, pass->layout->index->entries[slot->entry].id)) {
    rg_failure_set(failure, "trials are not where they were");
    PetscFunctionReturn(0);
  }
  PetscCall(rg_group_read_verified(group, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_group_shape_add(&pass->layout->groups[slot->group], record));
  PetscCall(rg_record_drop_data(record));
  slot->header = *record;
  PetscCall(PetscMemzero(record, sizeof(*record)));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_trial(void *closure, RgGroup *group, int ordinal, int position,
                                  RgRecord *record, RgFailure *failure)
{
  const Pass *pass = closure;
  RgSlot *slot = slot_of_trial(pass, ordinal);

  PetscFunctionBeginUser;
  if (!slot) PetscFunctionReturn(0);
  PetscCall(rg_group_read_columns(group, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_group_write_columns(
    &pass->groups[slot->group],
    (int)(slot - pass->layout->slots) - pass->layout->first[slot->group], record, failure));
  PetscFunctionReturn(0);
}

static bool source_is_used(const RgLayout *layout, int source)
{
  const RgIndexSource *from = &layout->index->sources[source];

  for (int i = 0; i < from->n; i++)
    if (layout->slot_of[from->first + i] >= 0) return true;
  return false;
}

/* A record in a file whose own checksum is right does not have the checksum it should have. Such a
   shard is put away, so that its trials can run again; a results file is left to the user. */
static PetscErrorCode condemn(const RgLayout *layout, int source, RgStoreStatus *status)
{
  const RgIndexSource *from = &layout->index->sources[source];

  PetscFunctionBeginUser;
  *status = from->results ? RG_STORE_FOREIGN : RG_STORE_INCOMPLETE;
  if (!from->results && layout->directory)
    PetscCall(rg_shard_move(from->path, layout->directory, RG_FOLDER_BAD));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_source(Pass *pass, RgTrialVisitor visit, RgStoreStatus *status,
                                 char message[512])
{
  const RgIndexSource *source = &pass->layout->index->sources[pass->source];
  RgContainer container;
  RgSourceState state;
  RgFailure failure = {0};
  bool unreadable;

  PetscFunctionBeginUser;
  PetscCall(rg_index_open(pass->layout->index, pass->source, &container, &state, message));
  if (state == RG_SOURCE_OK) {
    PetscCall(rg_container_walk(&container, visit, pass, &failure));
    if (failure.failed) snprintf(message, 512, "%.200s: %s", source->path, failure.message);
  }
  unreadable = container.medium.error != 0;
  PetscCall(rg_container_close(&container));
  if (state == RG_SOURCE_VANISHED || state == RG_SOURCE_DAMAGED)
    *status = RG_STORE_INCOMPLETE; /* gathering again will tell */
  else if (state != RG_SOURCE_OK || (failure.failed && (unreadable || pass->groups)))
    *status = RG_STORE_ERROR;
  else if (failure.failed) PetscCall(condemn(pass->layout, pass->source, status));
  PetscFunctionReturn(0);
}

/* Visit every trial that has a slot, source by source. */
static PetscErrorCode run_pass(RgLayout *layout, RgGroup *groups, RgTrialVisitor visit,
                               RgStoreStatus *status, char message[512])
{
  PetscFunctionBeginUser;
  for (int s = 0; s < layout->index->n_sources && *status == RG_STORE_OK; s++) {
    Pass pass = {layout, s, groups};
    if (source_is_used(layout, s)) PetscCall(run_source(&pass, visit, status, message));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_survey(RgLayout *layout, RgStoreStatus *status, char message[512])
{
  PetscFunctionBeginUser;
  PetscCall(run_pass(layout, NULL, survey_trial, status, message));
  PetscFunctionReturn(0);
}

/* ---- write ----------------------------------------------------------------------------------- */

uint64_t rg_layout_bytes(const RgLayout *layout, const RgContainerInfo *info)
{
  uint64_t bytes = 64 * 1024 + RG_TRAILER_LENGTH;

  bytes += strlen(info->study ? info->study : "") + strlen(info->history ? info->history : "");
  for (int s = 0; s < layout->n_groups; s++) bytes += rg_group_shape_bytes(&layout->groups[s]);
  return bytes;
}

static PetscErrorCode fill_info(const RgLayout *layout, RgContainerInfo *info)
{
  RgChecksum all = {0};

  PetscFunctionBeginUser;
  info->n_trials = info->n_failed = 0;
  for (int i = 0; i < layout->n; i++) {
    const RgIndexEntry *entry = &layout->index->entries[layout->slots[i].entry];
    if (layout->groups[layout->slots[i].group].earlier) continue;
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

static PetscErrorCode create_groups(RgLayout *layout, hid_t file, RgGroup *groups,
                                    RgFailure *failure)
{
  const RgRecord **records;
  hid_t earlier = -1;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(layout->n, &records));
  for (int i = 0; i < layout->n; i++) records[i] = &layout->slots[i].header;
  for (int s = 0; s < layout->n_groups; s++) {
    RgGroupShape *shape = &layout->groups[s];
    if (shape->earlier && earlier < 0)
      earlier = rg_h5_create_group(file, RG_GROUP_EARLIER, failure);
    PetscCall(rg_group_create(shape->earlier ? earlier : file, shape, &groups[s], failure));
    PetscCall(rg_group_write_fields(&groups[s], records + layout->first[s], failure));
  }
  if (earlier >= 0) H5Gclose(earlier);
  PetscCall(PetscFree(records));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_fill(RgLayout *layout, RgContainerInfo *info, RgMedium *medium,
                              RgStoreStatus *status, char message[512])
{
  RgFailure failure = {0};
  RgGroup *groups;
  hid_t file;

  PetscFunctionBeginUser;
  file = rg_medium_open(medium, true);
  if (file < 0) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "HDF5 can't begin a results file");
    PetscFunctionReturn(0);
  }
  PetscCall(fill_info(layout, info));
  rg_container_write_info(file, info, &failure);
  PetscCall(write_provenance(file, &failure));
  PetscCall(PetscMalloc1(layout->n_groups, &groups));
  PetscCall(create_groups(layout, file, groups, &failure));
  if (!failure.failed) PetscCall(run_pass(layout, groups, write_trial, status, message));
  for (int s = 0; s < layout->n_groups; s++) PetscCall(rg_group_close(&groups[s]));
  PetscCall(PetscFree(groups));
  if (!rg_medium_close(medium, file)) rg_failure_set(&failure, "HDF5 can't finish a results file");
  if (failure.failed && *status == RG_STORE_OK) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "%s", failure.message);
  }
  PetscFunctionReturn(0);
}

/* ---- verify ---------------------------------------------------------------------------------- */

typedef struct {
  const RgLayout *layout;
  int seen;
} Verification;

static int find_group(const RgLayout *layout, const RgGroupShape *shape)
{
  for (int s = 0; s < layout->n_groups; s++)
    if (layout->groups[s].earlier == shape->earlier &&
        !strcmp(layout->groups[s].label, shape->label))
      return s;
  return -1;
}

static PetscErrorCode verify_trial(void *closure, RgGroup *group, int ordinal, int position,
                                   RgRecord *record, RgFailure *failure)
{
  Verification *verification = closure;
  const RgLayout *layout = verification->layout;
  int s = find_group(layout, group->shape);
  const RgRecord *header;

  PetscFunctionBeginUser;
  (void)ordinal;
  PetscCall(rg_group_read_verified(group, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  header = s >= 0 && position < layout->groups[s].n
             ? &layout->slots[layout->first[s] + position].header
             : NULL;
  if (!header || strcmp(header->id, record->id) || strcmp(header->checksum, record->checksum))
    rg_failure_set(failure, "trial %s is not what was written", record->id);
  verification->seen++;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_verify(const RgLayout *layout, const RgMedium *medium,
                                RgStoreStatus *status, char message[512])
{
  Verification verification = {layout, 0};
  RgContainer container;
  RgFailure failure = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_container_open(medium, &container, &failure));
  if (!failure.failed)
    PetscCall(rg_container_walk(&container, verify_trial, &verification, &failure));
  PetscCall(rg_container_close(&container));
  if (!failure.failed && verification.seen != layout->n)
    rg_failure_set(&failure, "%d of %d trials arrived", verification.seen, layout->n);
  if (failure.failed) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "the results file did not verify: %s", failure.message);
  }
  PetscFunctionReturn(0);
}
