/* The passes of a layout over its source files: the survey, and the writing of columns. */
#include "study/store/layout.h"

#include <string.h>

#include "base/hash.h"

/* The slot of the cursor's trial; NULL: not in the layout. */
static RgSlot *slot_of_trial(const RgLayout *layout, int source, const RgCursor *cursor)
{
  const RgIndexSource *from = &layout->index->sources[source];
  int slot = cursor->ordinal < from->n ? layout->slot_of[from->first + cursor->ordinal] : -1;

  return slot < 0 ? NULL : &layout->slots[slot];
}

static PetscErrorCode survey_trial(RgLayout *layout, RgSlot *slot, RgCursor *cursor, RgFault *fault)
{
  RgRecord *record = cursor->record;
  uint64_t id[2];

  PetscFunctionBeginUser;
  if (!rg_hash_parse(record->id, id) || !rg_same_hash(id, layout->index->entries[slot->entry].id))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "trials are not where they were");
  if (!fault->code) PetscCall(rg_cursor_read(cursor, fault));
  if (fault->code) PetscFunctionReturn(0);
  PetscCall(rg_group_shape_add(&layout->groups[slot->group], record));
  PetscCall(rg_record_drop_data(record));
  slot->header = *record;
  PetscCall(PetscMemzero(record, sizeof(*record)));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_trial(const RgLayout *layout, const RgSlot *slot, RgCursor *cursor,
                                  RgGroup *groups, RgFault *fault)
{
  int position = (int)(slot - layout->slots) - layout->first[slot->group];
  RgRecord record = slot->header; /* borrows its texts */

  PetscFunctionBeginUser;
  record.n_swept = 0;
  record.settings = NULL;
  PetscCall(rg_group_read_columns(&cursor->group, cursor->position, &record, fault));
  if (!fault->code)
    PetscCall(rg_group_write_columns(&groups[slot->group], position, &record, fault));
  PetscCall(rg_record_drop_data(&record));
  PetscFunctionReturn(0);
}

static bool source_is_used(const RgLayout *layout, int source)
{
  const RgIndexSource *from = &layout->index->sources[source];

  for (int i = 0; i < from->n; i++)
    if (layout->slot_of[from->first + i] >= 0) return true;
  return false;
}

/* Handle a record with a wrong checksum in a file whose own checksum is right. A shard is moved
   away, so that its trials can run again; a results file is left to the user. */
static PetscErrorCode condemn(const RgLayout *layout, int source, RgFault *fault)
{
  const RgIndexSource *from = &layout->index->sources[source];

  PetscFunctionBeginUser;
  fault->code = from->results ? RG_FAULT_FOREIGN : RG_FAULT_INCOMPLETE;
  if (!from->results && layout->directory)
    PetscCall(rg_shard_move(from->path, from->inside, layout->directory, RG_FOLDER_BAD));
  PetscFunctionReturn(0);
}

/* Survey the trials of a source that have a slot, or, with groups, write their columns. */
static PetscErrorCode run_source(RgLayout *layout, int source, RgGroup *groups, RgFault *fault)
{
  RgCursor cursor = {.bare = groups != NULL}; /* the survey kept the fields */
  RgSlot *slot;

  PetscFunctionBeginUser;
  PetscCall(rg_index_open(layout->index, source, &cursor.container, fault));
  if (fault->code) /* missing or damaged files: gather again */
    fault->code = fault->code == RG_FAULT_VANISHED || fault->code == RG_FAULT_DAMAGED
                    ? RG_FAULT_INCOMPLETE
                    : RG_FAULT_ERROR;
  while (rg_cursor_next(&cursor, fault)) {
    slot = slot_of_trial(layout, source, &cursor);
    if (slot && groups) PetscCall(write_trial(layout, slot, &cursor, groups, fault));
    else if (slot) PetscCall(survey_trial(layout, slot, &cursor, fault));
  }
  if (cursor.block) rg_fault_judge(fault, fault->code, layout->index->sources[source].path);
  if (cursor.block && groups && fault->code) fault->code = RG_FAULT_ERROR;
  if (fault->code == RG_FAULT_DAMAGED) PetscCall(condemn(layout, source, fault));
  PetscCall(rg_cursor_close(&cursor));
  PetscFunctionReturn(0);
}

/* Process all sources with a trial in some slot. */
static PetscErrorCode run_pass(RgLayout *layout, RgGroup *groups, RgFault *fault)
{
  PetscFunctionBeginUser;
  for (int s = 0; s < layout->index->n_sources && !fault->code; s++)
    if (source_is_used(layout, s)) PetscCall(run_source(layout, s, groups, fault));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_survey(RgLayout *layout, RgFault *fault)
{
  PetscFunctionBeginUser;
  PetscCall(run_pass(layout, NULL, fault));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_write_columns(RgLayout *layout, RgGroup *groups, RgFault *fault)
{
  PetscFunctionBeginUser;
  PetscCall(run_pass(layout, groups, fault));
  PetscFunctionReturn(0);
}
