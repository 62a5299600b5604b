/* The passes of a layout over the files of its records: the survey, and the writing of columns. */
#include "study/store/layout.h"

#include <string.h>

#include "base/hash.h"
#include "base/helpers.h"
#include "study/record/flat.h"

/* Where the trial of a cursor goes; NULL: nowhere. */
static RgSlot *slot_of_trial(const RgLayout *layout, int source, const RgCursor *cursor)
{
  const RgIndexSource *from = &layout->index->sources[source];
  int slot = cursor->ordinal < from->n ? layout->slot_of[from->first + cursor->ordinal] : -1;

  return slot < 0 ? NULL : &layout->slots[slot];
}

/* A helper tells what a survey keeps of a record: its flat form without columns behind the length
   of that. */
static PetscErrorCode tell_header(const RgRecord *record, RgText *answer)
{
  const size_t begin = answer->length;
  RgRecord header = *record;
  size_t length = 0;

  PetscFunctionBeginUser;
  memset(header.column, 0, sizeof(header.column));
  header.n_extra = 0;
  header.extra_name = NULL;
  header.extra_doc = NULL;
  PetscCall(rg_text_add_bytes(answer, (const char *)&length, sizeof(length)));
  PetscCall(rg_flat_write(&header, answer));
  length = answer->length - begin - sizeof(length);
  memcpy(answer->data + begin, &length, sizeof(length));
  PetscFunctionReturn(0);
}

/* Columns that a helper has met in the trials of a group. */
typedef struct {
  int group; /* negative: no more groups */
  bool used[RG_COLUMN_COUNT];
  int n_extra; /* they stand behind it */
} Columns;

static PetscErrorCode tell_columns(const RgLayout *layout, RgText *answer)
{
  Columns columns = {.group = 0};

  PetscFunctionBeginUser;
  for (int s = 0; s < layout->n_groups; s++) {
    const RgGroupShape *shape = &layout->groups[s];
    if (!shape->n) continue;
    columns.group = s;
    columns.n_extra = shape->n_extra;
    memcpy(columns.used, shape->used, sizeof(shape->used));
    PetscCall(rg_text_add_bytes(answer, (const char *)&columns, sizeof(columns)));
    PetscCall(rg_text_add_bytes(answer, (const char *)shape->extra,
                                (size_t)shape->n_extra * sizeof(*shape->extra)));
  }
  columns.group = -1;
  PetscCall(rg_text_add_bytes(answer, (const char *)&columns, sizeof(columns)));
  PetscFunctionReturn(0);
}

/* What a helper has told of the trials of a source that have a slot. */
static PetscErrorCode take_survey(RgLayout *layout, int source, const char *answer)
{
  const RgIndexSource *from = &layout->index->sources[source];
  Columns columns;
  size_t length;
  bool intact;

  PetscFunctionBeginUser;
  for (int i = from->first; i < from->first + from->n; i++) {
    if (layout->slot_of[i] < 0) continue;
    RgSlot *slot = &layout->slots[layout->slot_of[i]];
    memcpy(&length, answer, sizeof(length));
    PetscCall(rg_flat_read(answer + sizeof(length), length, &slot->header, &intact));
    PetscCheck(intact, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a helper's answer changed on its way");
    PetscCall(rg_group_shape_add(&layout->groups[slot->group], &slot->header));
    PetscCall(rg_record_drop_data(&slot->header));
    answer += sizeof(length) + length;
  }
  for (;; answer += (size_t)columns.n_extra * sizeof(RgGroupExtra)) {
    memcpy(&columns, answer, sizeof(columns));
    if (columns.group < 0) break;
    answer += sizeof(columns);
    PetscCall(rg_group_shape_widen(&layout->groups[columns.group], columns.used, columns.n_extra,
                                   (const RgGroupExtra *)(const void *)answer));
  }
  PetscFunctionReturn(0);
}

/* answer: of a helper, NULL: the header stays here. */
static PetscErrorCode survey_trial(RgLayout *layout, RgSlot *slot, RgCursor *cursor, RgText *answer,
                                   RgFault *fault)
{
  RgRecord *record = cursor->record;
  uint64_t id[2];

  PetscFunctionBeginUser;
  if (!rg_hash_parse(record->id, id) || !rg_same_hash(id, layout->index->entries[slot->entry].id))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "trials are not where they were");
  if (!fault->code) PetscCall(rg_cursor_read(cursor, fault));
  if (fault->code) PetscFunctionReturn(0);
  PetscCall(rg_group_shape_add(&layout->groups[slot->group], record));
  if (answer) PetscCall(tell_header(record, answer));
  if (answer) PetscFunctionReturn(0);
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

/* A record in a file whose own checksum is right does not have the checksum it should have. Such a
   shard is put away, so that its trials can run again; a results file is left to the user. */
static PetscErrorCode condemn(const RgLayout *layout, int source, RgFault *fault)
{
  const RgIndexSource *from = &layout->index->sources[source];

  PetscFunctionBeginUser;
  fault->code = from->results ? RG_FAULT_FOREIGN : RG_FAULT_INCOMPLETE;
  if (!from->results && layout->directory)
    PetscCall(rg_shard_move(from->path, layout->directory, RG_FOLDER_BAD));
  PetscFunctionReturn(0);
}

/* Survey the trials of a source that have a slot, or, with groups, write them there. */
static PetscErrorCode run_source(RgLayout *layout, int source, RgGroup *groups, RgText *answer,
                                 RgFault *fault)
{
  RgCursor cursor = {.bare = groups != NULL}; /* the survey has kept the fields */
  RgSlot *slot;

  PetscFunctionBeginUser;
  PetscCall(rg_index_open(layout->index, source, &cursor.container, fault));
  if (fault->code) /* what went away or is damaged: gathering again will tell */
    fault->code = fault->code == RG_FAULT_VANISHED || fault->code == RG_FAULT_DAMAGED
                    ? RG_FAULT_INCOMPLETE
                    : RG_FAULT_ERROR;
  while (rg_cursor_next(&cursor, fault)) {
    slot = slot_of_trial(layout, source, &cursor);
    if (slot && groups) PetscCall(write_trial(layout, slot, &cursor, groups, fault));
    else if (slot) PetscCall(survey_trial(layout, slot, &cursor, answer, fault));
  }
  if (cursor.block) rg_fault_judge(fault, fault->code, layout->index->sources[source].path);
  if (cursor.block && groups && fault->code) fault->code = RG_FAULT_ERROR;
  if (fault->code == RG_FAULT_DAMAGED) PetscCall(condemn(layout, source, fault));
  PetscCall(rg_cursor_close(&cursor));
  PetscFunctionReturn(0);
}

/* A pass over the sources in which some trial has a slot: the survey, or the writing of columns. */
typedef struct {
  RgLayout *layout;
  int n, *sources;  /* owned */
  RgGroup *groups;  /* to be written; NULL: it is the survey */
  RgMedium *medium; /* they stand on */
} Pass;

static PetscErrorCode work_on_source(void *closure, int item, RgText *answer, RgFault *fault)
{
  Pass *pass = closure;

  PetscFunctionBeginUser;
  PetscCall(run_source(pass->layout, pass->sources[item], pass->groups, answer, fault));
  if (answer && pass->groups)
    PetscCall(rg_text_add_bytes(answer, (const char *)&pass->medium->error, sizeof(int)));
  if (answer && !pass->groups) PetscCall(tell_columns(pass->layout, answer));
  PetscFunctionReturn(0);
}

static PetscErrorCode take_source(void *closure, int item, const char *answer, RgFault *fault)
{
  Pass *pass = closure;
  int error;

  PetscFunctionBeginUser;
  (void)fault;
  if (!pass->groups) PetscCall(take_survey(pass->layout, pass->sources[item], answer));
  if (!pass->groups) PetscFunctionReturn(0);
  memcpy(&error, answer, sizeof(error));
  if (!pass->medium->error) pass->medium->error = error;
  PetscFunctionReturn(0);
}

int rg_layout_helpers(const RgLayout *layout)
{
  if (layout->helpers < 2) return 1;
  return PetscMax(1, PetscMin(layout->helpers, layout->n / layout->helper_trials));
}

/* Of what is written to memory helpers would write a copy. */
static PetscErrorCode run_pass(RgLayout *layout, RgGroup *groups, RgMedium *medium, RgFault *fault)
{
  const int helpers = medium && medium->fd < 0 ? 1 : rg_layout_helpers(layout);
  Pass pass = {.layout = layout, .groups = groups, .medium = medium};
  const RgWork work = {work_on_source, take_source, &pass};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(layout->index->n_sources, &pass.sources));
  for (int s = 0; s < layout->index->n_sources; s++)
    if (source_is_used(layout, s)) pass.sources[pass.n++] = s;
  PetscCall(rg_helpers_do(helpers, pass.n, &work, fault));
  PetscCall(PetscFree(pass.sources));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_survey(RgLayout *layout, RgFault *fault)
{
  PetscFunctionBeginUser;
  PetscCall(run_pass(layout, NULL, NULL, fault));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_write_columns(RgLayout *layout, RgGroup *groups, RgMedium *medium,
                                       RgFault *fault)
{
  PetscFunctionBeginUser;
  PetscCall(run_pass(layout, groups, medium, fault));
  PetscFunctionReturn(0);
}
