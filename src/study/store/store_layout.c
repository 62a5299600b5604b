/* Layouts: the place of each record in a results file, its writing and verification. */
#include "study/store/store_internal.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/hash.h"
#include "study/file/cell_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Give a trial the row of its cell. */
static PetscErrorCode number_cell(RgLayout *layout, bool earlier, RgRecord *record)
{
  const int row = earlier ? -1 : rg_cell_table_find(&layout->table, record->cell->id, NULL);

  if (row < 0) {
    const int before = layout->table.n;
    RgCellData *cell = record->cell;
    PetscCall(rg_cell_table_add(&layout->table, cell, &record->cell_number));
    if (layout->planned && layout->table.n > before) { /* the study does not plan it any more */
      cell->order = -1;
      cell->seeds = cell->instances = cell->problem_number = cell->algorithm_number = 0;
    }
    return 0;
  }
  PetscCall(rg_cell_data_release(&record->cell));
  record->cell = rg_cell_data_share(layout->table.cells[row]);
  record->cell_number = row;
  return 0;
}

/* Replace a text by an equal one that was seen lately. */
static PetscErrorCode share_text(RgTexts *texts, char **text)
{
  enum { LATELY = 16 };

  if (!*text) return 0;
  for (int i = texts->n - 1; i >= 0 && i >= texts->n - LATELY; i--) {
    if (strcmp(texts->values[i], *text)) continue;
    PetscCall(PetscFree(*text));
    *text = texts->values[i];
    return 0;
  }
  PetscCall(RG_GROW(texts->n, texts->values));
  texts->values[texts->n++] = *text;
  return 0;
}

static size_t bytes_of_fields(const RgRecord *record)
{
  return offsetof(RgRecord, message) + strlen(record->message) + 1;
}

/* A record with the fields of a slot, which keeps their texts. */
static RgRecord record_of(const RgSlot *slot)
{
  RgRecord record = {0};

  if (slot->fields) memcpy(&record, slot->fields, bytes_of_fields(slot->fields));
  return record;
}

/* Check a trial, extend its group to it, and move its fields into its slot. */
static PetscErrorCode read_trial(RgLayout *layout, RgSlot *slot, RgCursor *cursor, RgFault *fault)
{
  RgRecord *record = cursor->record;
  uint64_t id[2];

  if (!rg_hash_parse(record->id, id) || !rg_same_hash(id, layout->index->entries[slot->entry].id))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "trials are not where they were");
  if (!fault->code) PetscCall(rg_cursor_read(cursor, fault));
  if (fault->code) return 0;
  if (layout->archive) {
    uint64_t left[2];
    PetscCall(rg_record_archive(record));
    PetscCall(rg_record_checksum(record, left));
    rg_hash_hex(left, record->checksum);
  }
  PetscCall(number_cell(layout, layout->groups[slot->group].earlier, record));
  PetscCall(rg_group_shape_add(&layout->groups[slot->group], record));
  PetscCall(rg_record_drop_data(record));
  PetscCall(share_text(&layout->texts, &record->provenance.machine));
  PetscCall(share_text(&layout->texts, &record->provenance.software));
  const size_t bytes = bytes_of_fields(record);
  PetscCall(PetscMalloc(bytes, &slot->fields));
  memcpy(slot->fields, record, bytes);
  return PetscMemzero(record, sizeof(*record));
}

/* Read the trials of a source that have a slot, or, with groups, write their columns. */
static PetscErrorCode run_source(RgLayout *layout, int source, RgGroup *groups, RgFault *fault)
{
  const RgIndexSource *from = &layout->index->sources[source];
  RgCursor cursor = {.reader = groups ? RG_READ_NOTHING : RG_READ_ALL}; /* the fields were kept */

  PetscCall(rg_index_open(layout->index, source, &cursor.container, fault));
  if (fault->code) /* missing or damaged files: gather again */
    fault->code = fault->code == RG_FAULT_VANISHED || fault->code == RG_FAULT_DAMAGED
                    ? RG_FAULT_INCOMPLETE
                    : RG_FAULT_ERROR;
  while (rg_cursor_next(&cursor, fault)) {
    const int at = cursor.ordinal < from->n ? layout->slot_of[from->first + cursor.ordinal] : -1;
    RgSlot *slot = at < 0 ? NULL : &layout->slots[at];
    if (slot && !groups) PetscCall(read_trial(layout, slot, &cursor, fault));
    if (!slot || !groups) continue;
    RgRecord record = record_of(slot);
    PetscCall(rg_group_read_columns(&cursor.group, cursor.position, &record, fault));
    if (!fault->code && layout->archive) PetscCall(rg_record_archive(&record));
    if (!fault->code)
      PetscCall(rg_group_write_columns(&groups[slot->group], at - layout->first[slot->group],
                                       &record, fault));
    PetscCall(rg_record_drop_data(&record));
  }
  if (cursor.n_groups) rg_fault_restate(fault, fault->code, from->path);
  if (cursor.n_groups && groups && fault->code) fault->code = RG_FAULT_ERROR;
  if (fault->code == RG_FAULT_DAMAGED) {
    /* A record has a wrong checksum, and its file has the right one. A shard is moved away, so that
       its trials can run again; a results file is left to the user. */
    fault->code = rg_is_results(from) ? RG_FAULT_FOREIGN : RG_FAULT_INCOMPLETE;
    if (!rg_is_results(from) && layout->directory)
      PetscCall(rg_shard_move(from->path, from->inside, layout->directory, RG_FOLDER_BAD));
  }
  return rg_cursor_close(&cursor);
}

/* Process all sources with a trial in some slot. */
static PetscErrorCode run_pass(RgLayout *layout, RgGroup *groups, RgFault *fault)
{
  for (int s = 0; s < layout->index->n_sources && !fault->code; s++) {
    const RgIndexSource *from = &layout->index->sources[s];
    bool used = false;
    for (int i = 0; i < from->n && !used; i++) used = layout->slot_of[from->first + i] >= 0;
    if (used) PetscCall(run_source(layout, s, groups, fault));
  }
  return 0;
}

PetscErrorCode rg_layout_read(RgLayout *layout, RgFault *fault)
{
  return run_pass(layout, NULL, fault);
}

PetscErrorCode rg_layout_create(const RgIndex *index, const RgStudy *study, const char *directory,
                                RgLayout *layout)
{
  int row;

  PetscCall(PetscMemzero(layout, sizeof(*layout)));
  for (int c = 0; study && c < study->n_cells; c++) {
    RgCellData *cell;
    PetscCall(rg_cell_data(study, c, &cell));
    PetscCall(rg_cell_table_add(&layout->table, cell, &row));
  }
  layout->planned = study != NULL;
  layout->directory = directory;
  layout->index = index;
  PetscCall(PetscMalloc1(index->n, &layout->slot_of));
  for (int i = 0; i < index->n; i++) layout->slot_of[i] = -1;
  return 0;
}

PetscErrorCode rg_layout_destroy(RgLayout *layout)
{
  for (int i = 0; i < layout->n; i++) {
    RgRecord record = record_of(&layout->slots[i]);
    record.provenance.machine = record.provenance.software = NULL;
    PetscCall(rg_record_destroy(&record));
    PetscCall(PetscFree(layout->slots[i].fields));
  }
  for (int i = 0; i < layout->texts.n; i++) PetscCall(PetscFree(layout->texts.values[i]));
  for (int s = 0; s < layout->n_groups; s++) PetscCall(rg_group_shape_destroy(&layout->groups[s]));
  PetscCall(rg_cell_table_clear(&layout->table));
  return RG_FREE(&layout->slots, &layout->groups, &layout->first, &layout->slot_of,
                 &layout->texts.values);
}

PetscErrorCode rg_layout_add_group(RgLayout *layout, const char *label, bool earlier)
{
  PetscCall(RG_GROW(layout->n_groups, layout->groups));
  PetscCall(RG_GROW(layout->n_groups, layout->first));
  PetscCall(rg_group_shape_create(label, earlier, &layout->groups[layout->n_groups]));
  layout->groups[layout->n_groups].bare = layout->archive;
  layout->first[layout->n_groups++] = layout->n;
  return 0;
}

PetscErrorCode rg_layout_add(RgLayout *layout, int entry)
{
  PetscCall(RG_GROW(layout->n, layout->slots));
  layout->slot_of[entry] = layout->n;
  RgSlot *slot = &layout->slots[layout->n++];
  PetscCall(PetscMemzero(slot, sizeof(*slot)));
  slot->entry = entry;
  slot->group = layout->n_groups - 1;
  return 0;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* An upper bound on the bytes of the file. *values: of the columns among them, which wait behind
   the rest until they are compressed. */
static uint64_t estimate_bytes(const RgLayout *layout, const RgStoreInfo *info, uint64_t *values)
{
  uint64_t bytes = 64 * 1024 + RG_TRAILER_LENGTH + rg_cell_table_bytes(&layout->table), more;

  *values = 0;
  bytes += strlen(info->study ? info->study : "") + strlen(info->history ? info->history : "");
  for (int s = 0; s < layout->n_groups; s++, *values += more)
    bytes += rg_group_shape_bytes(&layout->groups[s], &more);
  return bytes + *values;
}

static PetscErrorCode fill_info(const RgLayout *layout, RgStoreInfo *info)
{
  RgChecksum all = {0}, full = {0};
  uint64_t checksum[2];

  info->n_trials = info->n_failed = 0;
  for (int i = 0; i < layout->n; i++) {
    const RgIndexEntry *entry = &layout->index->entries[layout->slots[i].entry];
    if (layout->groups[layout->slots[i].group].earlier) continue;
    info->n_trials++;
    info->n_failed += entry->status == RG_STATUS_FAILED;
    rg_checksum_add(&full, entry->checksum);
    if (rg_hash_parse(layout->slots[i].fields->checksum, checksum)) rg_checksum_add(&all, checksum);
  }
  rg_checksum_hex(&all, info->checksum);
  if (layout->archive) rg_checksum_hex(&full, info->archive_of);
  return 0;
}

/* Write attributes about the packing itself; each trial has its own provenance. */
static PetscErrorCode write_provenance(hid_t file, RgFault *fault)
{
  char *software;
  hid_t group = rg_h5_create_group(file, RG_GROUP_PROVENANCE, fault);

  PetscCall(rg_software_describe(&software));
  rg_h5_write_text(group, "description",
                   "provenance of this file; that of the trials is in the groups of the problems",
                   fault);
  rg_h5_write_text(group, "software", software, fault);
  RG_H5_CLOSE(group);
  return PetscFree(software);
}

static PetscErrorCode create_groups(RgLayout *layout, RgMedium *medium, hid_t file, RgGroup *groups,
                                    RgFault *fault)
{
  const RgRecord **records;
  hid_t earlier = -1;

  PetscCall(PetscMalloc1(layout->n, &records));
  for (int i = 0; i < layout->n; i++) records[i] = layout->slots[i].fields;
  for (int s = 0; s < layout->n_groups; s++) {
    RgGroupShape *shape = &layout->groups[s];
    if (shape->earlier && earlier < 0) earlier = rg_h5_create_group(file, RG_GROUP_EARLIER, fault);
    PetscCall(rg_group_create(medium, shape->earlier ? earlier : file, shape,
                              records + layout->first[s], &groups[s], fault));
  }
  RG_H5_CLOSE(earlier);
  return PetscFree(records);
}

static PetscErrorCode fill_medium(RgLayout *layout, RgStoreInfo *info, RgMedium *medium,
                                  RgFault *fault)
{
  const hid_t file = rg_medium_open(medium, true);
  RgGroup *groups;

  if (file < 0) {
    rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't begin a results file");
    return 0;
  }
  PetscCall(fill_info(layout, info));
  rg_container_write_info(file, info, fault);
  PetscCall(write_provenance(file, fault));
  PetscCall(rg_cell_table_write(file, &layout->table, fault));
  PetscCall(PetscMalloc1(layout->n_groups, &groups));
  PetscCall(create_groups(layout, medium, file, groups, fault));
  PetscCall(run_pass(layout, groups, fault));
  for (int s = 0; s < layout->n_groups && !fault->code; s++)
    PetscCall(rg_group_compress(&groups[s], fault));
  for (int s = 0; s < layout->n_groups; s++) PetscCall(rg_group_close(&groups[s]));
  PetscCall(PetscFree(groups));
  if (!rg_medium_close(medium, file))
    rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't finish a results file");
  return 0;
}

/* ---- verify ---------------------------------------------------------------------------------- */

/* Read a medium and compare it with what rg_layout_read found. */
static PetscErrorCode verify_medium(const RgLayout *layout, const RgMedium *medium, RgFault *fault)
{
  const RgGroupShape *groups = layout->groups;
  RgCursor cursor = {.reader = RG_READ_TRIALS};
  int seen = 0, group = 0;

  PetscCall(rg_container_open(medium, &cursor.container, fault));
  for (; rg_cursor_next(&cursor, fault); seen++) {
    const RgGroupShape *shape = cursor.group.shape;
    const RgRecord *record = cursor.record, *fields = NULL;
    PetscCall(rg_cursor_read(&cursor, fault));
    if (!cursor.position)
      for (group = 0; group < layout->n_groups; group++)
        if (groups[group].earlier == shape->earlier && !strcmp(groups[group].label, shape->label))
          break;
    if (group < layout->n_groups && cursor.position < groups[group].extent[RG_AXIS_TRIAL])
      fields = layout->slots[layout->first[group] + cursor.position].fields;
    if (!fields || strcmp(fields->id, record->id) || strcmp(fields->checksum, record->checksum))
      rg_fault_set(fault, RG_FAULT_ERROR, "trial %s is not what was written", record->id);
  }
  PetscCall(rg_cursor_close(&cursor));
  if (seen != layout->n)
    rg_fault_set(fault, RG_FAULT_ERROR, "%d of %d trials arrived", seen, layout->n);
  rg_fault_restate(fault, RG_FAULT_ERROR, "the results file did not verify");
  return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

PetscErrorCode rg_history_line(const char *earlier, const char *what, char **history)
{
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
  struct tm date;
  char stamp[64] = "unknown time";
  RgText text = {0};

  if (gmtime_r(&now, &date)) strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &date);
  if (earlier && earlier[0]) PetscCall(rg_text_add(&text, "%s\n", earlier));
  PetscCall(rg_text_add(&text, "%s regatta %s: %s", stamp, RG_VERSION, what));
  PetscCall(PetscStrallocpy(text.data, history));
  return rg_text_clear(&text);
}

/* Turn a finished temporary file into the results file, and check that the output path holds it and
   that it can be read. */
static PetscErrorCode commit_file(const char *temporary, const char *output, const char *parent,
                                  const RgFileState *expected, RgFault *fault)
{
  const RgFileState written = rg_install_state(temporary);
  RgContainer container;
  bool trailed;

  rg_install(temporary, output, parent, expected, fault);
  if (fault->code) return 0;
  PetscCall(rg_shard_open_results(output, true, &container, &trailed, fault));
  rg_container_check(&container, fault);
  PetscCall(rg_container_close(&container));
  if (!fault->code && !trailed)
    rg_fault_set(fault, RG_FAULT_ERROR, "%.400s was written, but its end is not there", output);
  if (fault->code) fault->code = RG_FAULT_ERROR;
  rg_install_check(output, &written, fault);
  return 0;
}

/* Reserve the space before HDF5 writes. If the system does not support it, go on. */
static int reserve(int fd, uint64_t bytes)
{
  int error = ENOSYS;

#ifdef RG_HAVE_POSIX_FALLOCATE
  do error = posix_fallocate(fd, 0, (off_t)bytes);
  while (error == EINTR);
#else
#endif
  return error == EOPNOTSUPP || error == EINVAL || error == ENOSYS ? 0 : error;
}

/* Cut off excess space, make the data durable, and drop cached pages so that verification reads
   from the disk if possible. */
static int finish_file(int fd, uint64_t length)
{
  int error;

  if (ftruncate(fd, (off_t)length)) return errno;
  error = rg_file_sync(fd);
#ifdef POSIX_FADV_DONTNEED
  if (!error) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#endif
  return error;
}

PetscErrorCode rg_layout_write(RgLayout *layout, RgStoreInfo *info, const char *output,
                               size_t image_bytes, const RgFileState *expected, RgFault *fault)
{
  char *parent, temporary[PETSC_MAX_PATH_LEN], hex[33];
  uint64_t values, needed = estimate_bytes(layout, info, &values);
  const bool on_disk = needed > image_bytes;
  int fd = -1, error = 0;

  PetscCall(rg_store_parent(output, &parent));
  if (on_disk) fd = rg_file_create_temporary(parent, temporary, sizeof(temporary), &error);
  RgMedium medium = on_disk ? rg_medium_descriptor(fd, 0) : rg_medium_memory(NULL, 0);
  medium.raw = needed - values;
  if (fd >= 0) error = reserve(fd, needed);
  if (!error) PetscCall(fill_medium(layout, info, &medium, fault));
  if (on_disk && !error) error = medium.error; /* HDF5 does not know of this error */
  if (on_disk && !error && !fault->code) error = finish_file(fd, medium.length);
  if (!error && !fault->code) {
    const RgMedium written = on_disk ? rg_medium_descriptor(fd, medium.length)
                                     : rg_medium_memory(medium.bytes, medium.length);
    PetscCall(verify_medium(layout, &written, fault));
  }
  if (!error && !fault->code) {
    PetscCall(rg_medium_seal(&medium, hex));
    error = medium.error;
  }
  if (!error && !fault->code && !on_disk) {
    fd = rg_file_create_temporary(parent, temporary, sizeof(temporary), &error);
    if (!error) error = rg_file_write(fd, medium.bytes, medium.length);
  }
  if (fd >= 0) {
    if (!error && !fault->code) error = rg_file_sync(fd);
    const int closing = rg_file_close(fd);
    if (!error) error = closing;
    if (error || fault->code) (void)unlink(temporary);
    else PetscCall(commit_file(temporary, output, parent, expected, fault));
  }
  if (error) fault->code = RG_FAULT_NONE; /* the system's error is more precise than HDF5's */
  rg_fault_file(fault, output, "write", error, parent, on_disk ? needed : medium.length);
  PetscCall(rg_medium_clear(&medium));
  return PetscFree(parent);
}
