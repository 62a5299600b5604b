/* The index of trials in files, and the scan of a study directory. */
#include "study/store/index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/files.h"

/* The number of a label in the list of the index, which gets it if it lacks it. */
static PetscErrorCode find_label(RgIndex *index, const char *label, int *number)
{
  int n = 0;

  while (n < index->n_labels && strcmp(index->labels[n], label)) n++;
  *number = n;
  if (n < index->n_labels) return 0;
  PetscCall(RG_GROW(n, index->labels));
  return PetscStrallocpy(label, &index->labels[index->n_labels++]);
}

static PetscErrorCode add_entry(RgIndex *index, const RgRecord *record, int label, RgFault *fault)
{
  PetscCall(RG_GROW(index->n, index->entries));
  RgIndexEntry *entry = &index->entries[index->n++];
  *entry = (RgIndexEntry){.source = index->n_sources,
                          .label = label,
                          .earlier = record->earlier,
                          .status = record->status,
                          .generation = record->provenance.generation,
                          .started = PetscMax(0, record->provenance.started)};
  if (!rg_hash_parse(record->id, entry->id) || !rg_hash_parse(record->checksum, entry->checksum) ||
      (entry->status != RG_STATUS_COMPLETE && entry->status != RG_STATUS_FAILED) ||
      entry->generation < 0 || entry->generation == INT32_MAX)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %d has no proper identity", index->n);
  return 0;
}

/* Check that a container has the n trials that it claims, without those that left the study, since
   damage can hide whole groups; and that all its reads succeeded. */
static void check_count(const RgContainer *container, int64_t n, RgFault *fault)
{
  int64_t said = -1;

  if (!fault->code && !rg_h5_read_integer(container->file, "n_trials", &said))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "damaged: it does not say how many trials it has");
  else if (said != n)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "damaged: it should have %lld trials, %lld are there",
                 (long long)said, (long long)n);
  rg_container_check(container, fault);
}

PetscErrorCode rg_index_check(const RgContainer *container, RgFault *fault)
{
  RgGroup group;
  int64_t n = 0;

  for (int s = 0; s < container->n && !fault->code; s++) {
    PetscCall(rg_container_open_group(container, s, &group, fault));
    if (!fault->code && !group.shape->earlier) n += group.shape->extent[RG_AXIS_TRIAL];
    PetscCall(rg_group_close(&group));
  }
  check_count(container, n, fault);
  return 0;
}

PetscErrorCode rg_index_add(RgIndex *index, const char *path, RgInside inside, RgCursor *cursor,
                            RgFault *fault)
{
  const int before = index->n;
  int64_t n = 0;
  int label = 0;

  PetscCall(rg_cursor_rewind(cursor, RG_READ_INDEX));
  while (rg_cursor_next(cursor, fault)) {
    if (!cursor->position) PetscCall(find_label(index, cursor->group.shape->label, &label));
    PetscCall(add_entry(index, cursor->record, label, fault));
    n += !cursor->record->earlier;
  }
  PetscCall(rg_cursor_rewind(cursor, RG_READ_ALL));
  check_count(&cursor->container, n, fault);
  if (fault->code) {
    index->n = before;
    return 0;
  }
  PetscCall(RG_GROW(index->n_sources, index->sources));
  RgIndexSource *source = &index->sources[index->n_sources++];
  *source = (RgIndexSource){.inside = inside, .first = before, .n = index->n - before};
  return PetscStrallocpy(path, &source->path);
}

static int compare_entries(const void *left, const void *right, void *closure)
{
  const RgIndex *index = closure;
  int i = *(const int *)left, j = *(const int *)right;
  const RgIndexEntry *a = &index->entries[i], *b = &index->entries[j];
  int order = rg_hash_compare(a->id, b->id);

  if (!order) order = (a->status != RG_STATUS_COMPLETE) - (b->status != RG_STATUS_COMPLETE);
  if (!order) order = rg_index_compare_ages(a, b);
  if (!order) {
    order = rg_is_results(&index->sources[b->source]) - rg_is_results(&index->sources[a->source]);
    /* Among failures the most recent attempt counts. */
    if (a->status != RG_STATUS_COMPLETE) order = -order;
  }
  if (!order) order = rg_hash_compare(a->checksum, b->checksum);
  return order ? order : i - j;
}

PetscErrorCode rg_index_sort(RgIndex *index)
{
  PetscCall(PetscFree(index->order));
  PetscCall(PetscMalloc1(index->n, &index->order));
  for (int i = 0; i < index->n; i++) index->order[i] = i;
  if (index->n)
    PetscCall(PetscTimSort(index->n, index->order, sizeof(int), compare_entries, index));
  PetscCall(PetscFree(index->preferred));
  PetscCall(PetscMalloc1(index->n, &index->preferred));
  for (int i = 0, best = 0; i < index->n; i++) {
    const int at = index->order[i];
    if (!i || !rg_same_hash(index->entries[at].id, index->entries[best].id)) best = at;
    index->preferred[at] = best;
  }
  return 0;
}

int rg_index_results(const RgIndex *index)
{
  int s = index->n_sources - 1;

  while (s >= 0 && !rg_is_results(&index->sources[s])) s--;
  return s;
}

int rg_index_find(const RgIndex *index, const uint64_t id[2])
{
  int low = 0, high = index->n;

  while (low < high) {
    int middle = low + (high - low) / 2;
    if (rg_hash_compare(index->entries[index->order[middle]].id, id) < 0) low = middle + 1;
    else high = middle;
  }
  if (low == index->n || !rg_same_hash(index->entries[index->order[low]].id, id)) return -1;
  return low;
}

bool rg_index_stands_in(const RgIndex *index, int entry, int source, int earlier)
{
  const RgIndexEntry *preferred = &index->entries[index->preferred[entry]];

  for (int at = rg_index_find(index, preferred->id); at >= 0 && at < index->n; at++) {
    const RgIndexEntry *other = &index->entries[index->order[at]];
    if (!rg_same_hash(other->id, preferred->id)) return false;
    if (other->source == source && (earlier < 0 || other->earlier == earlier) &&
        !rg_index_compare_ages(other, preferred) &&
        rg_same_hash(other->checksum, preferred->checksum))
      return true;
  }
  return false;
}

PetscErrorCode rg_index_clear(RgIndex *index)
{
  for (int s = 0; s < index->n_sources; s++) PetscCall(PetscFree(index->sources[s].path));
  for (int l = 0; l < index->n_labels; l++) PetscCall(PetscFree(index->labels[l]));
  PetscCall(
    RG_FREE(&index->sources, &index->labels, &index->entries, &index->order, &index->preferred));
  return PetscMemzero(index, sizeof(*index));
}

/* ---- gather ---------------------------------------------------------------------------------- */

PetscErrorCode rg_shard_move(const char *path, RgInside inside, const char *directory,
                             const char *folder)
{
  const char *slash = strrchr(path, '/');
  char *target, *to;

  PetscCall(rg_path_join(directory, folder, &target));
  PetscCall(rg_path_join(target, slash ? slash + 1 : path, &to));
  if (!rg_inside_create(target)) (void)rg_inside_move(path, inside, to, RG_FOLDER);
  PetscCall(PetscFree(to));
  return PetscFree(target);
}

PetscErrorCode rg_remove_stale(const char *directory, RgInside inside)
{
  static const double day = 86400;
  char **names, *path;
  int n, error;

  PetscCall(rg_directory_list(directory, inside, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (!rg_file_is_stale(names[i]) && !rg_file_is_abandoned(directory, inside, names[i], day))
      continue;
    PetscCall(rg_path_join(directory, names[i], &path));
    (void)rg_inside_remove(path, inside, false);
    PetscCall(PetscFree(path));
  }
  return rg_names_free(n, &names);
}

void rg_fault_adapt(RgFault *fault)
{
  if (!fault->code || fault->code == RG_FAULT_FOREIGN) return;
  fault->code = fault->code == RG_FAULT_NEWER || fault->code == RG_FAULT_DAMAGED ? RG_FAULT_FOREIGN
                                                                                 : RG_FAULT_ERROR;
}

/* The scan of a directory of shards: `home` itself or a folder in it. */
typedef struct {
  const char *home, *directory;
  RgInside inside;
  bool first, repair;
  RgIndex *index;
  int *n_bad;
  bool vanished; /* a file disappeared during the scan */
} Scan;

/* Add a shard to the index, unless it is known. One that can't be read is only a warning if it is
   damaged. */
static PetscErrorCode add_shard(Scan *scan, const char *name, RgFault *fault)
{
  RgIndex *index = scan->index;
  RgCursor cursor = {0};
  RgFault found = {0};
  char *path;
  bool known = false;

  PetscCall(rg_path_join(scan->directory, name, &path));
  for (int s = 0; s < index->n_sources && !scan->first && !known; s++)
    known = !strcmp(index->sources[s].path, path);
  if (!known) {
    PetscCall(rg_shard_open(path, scan->inside, &cursor.container, &found));
    if (!found.code) {
      PetscCall(rg_index_add(index, path, scan->inside, &cursor, &found));
      rg_fault_restate(&found, RG_FAULT_DAMAGED, path);
    }
    PetscCall(rg_cursor_close(&cursor));
  }
  if (found.code == RG_FAULT_DAMAGED) {
    if (scan->repair) PetscCall(rg_shard_move(path, scan->inside, scan->home, RG_FOLDER_BAD));
    if (scan->first || scan->repair) (*scan->n_bad)++;
    found.code = RG_FAULT_NONE;
  }
  scan->vanished = scan->vanished || found.code == RG_FAULT_VANISHED;
  if (found.message[0] && found.code != RG_FAULT_VANISHED) {
    rg_fault_adapt(&found);
    *fault = found;
  }
  return PetscFree(path);
}

/* Scan until no file vanishes: another process may be merging. */
static PetscErrorCode gather_folder(Scan *scan, RgFault *fault)
{
  scan->vanished = true;
  for (int pass = 0; pass < 5 && scan->vanished && !fault->code; pass++) {
    char **names;
    int n, error;
    scan->first = pass == 0;
    scan->vanished = false;
    PetscCall(rg_directory_list(scan->directory, scan->inside, &n, &names, &error));
    if (error && error != ENOENT)
      rg_fault_set(fault, RG_FAULT_ERROR, "cannot list %.300s: %s", scan->directory,
                   strerror(error));
    if (scan->repair && scan->first) PetscCall(rg_remove_stale(scan->directory, scan->inside));
    for (int i = 0; i < n && !fault->code; i++)
      if (rg_shard_level(names[i]) >= 0) PetscCall(add_shard(scan, names[i], fault));
    PetscCall(rg_names_free(n, &names));
  }
  return 0;
}

/* If another program removed the trailer of a results file, every record is checked. */
static PetscErrorCode add_results(const char *path, RgIndex *index, RgFault *fault)
{
  RgCursor cursor = {0};
  bool trailed;

  PetscCall(rg_shard_open_results(path, true, &cursor.container, &trailed, fault));
  if (!fault->code) {
    PetscCall(rg_index_add(index, path, RG_ANYWHERE, &cursor, fault));
    cursor.reader = RG_READ_TRIALS;
    while (!trailed && rg_cursor_next(&cursor, fault)) PetscCall(rg_cursor_read(&cursor, fault));
    rg_fault_restate(fault, fault->code, path);
  }
  PetscCall(rg_cursor_close(&cursor));
  if (fault->code == RG_FAULT_VANISHED) *fault = (RgFault){0}; /* a new study has no results file */
  rg_fault_adapt(fault);
  return 0;
}

PetscErrorCode rg_index_add_files(const char *directory, const char *results, bool repair,
                                  RgIndex *index, int *n_bad, RgFault *fault)
{
  Scan scan = {.home = directory,
               .directory = directory,
               .inside = RG_TOP,
               .repair = repair,
               .index = index,
               .n_bad = n_bad};
  char *foreign;

  *fault = (RgFault){0};
  *n_bad = 0;
  if (results) PetscCall(add_results(results, index, fault));
  if (directory) PetscCall(gather_folder(&scan, fault));
  if (directory && repair) {
    PetscCall(rg_path_join(directory, RG_FOLDER_FOREIGN, &foreign));
    scan.directory = foreign;
    scan.inside = RG_FOLDER;
    PetscCall(gather_folder(&scan, fault));
    PetscCall(PetscFree(foreign));
  }
  return 0;
}

PetscErrorCode rg_index_gather(const char *directory, const char *results, bool repair,
                               RgIndex *index, int *n_bad, RgFault *fault)
{
  PetscCall(rg_index_add_files(directory, results, repair, index, n_bad, fault));
  if (!fault->code) PetscCall(rg_index_sort(index));
  return 0;
}

PetscErrorCode rg_index_open(const RgIndex *index, int source, RgContainer *container,
                             RgFault *fault)
{
  const RgIndexSource *from = &index->sources[source];
  bool trailed;

  if (rg_is_results(from))
    return rg_shard_open_results(from->path, false, container, &trailed, fault);
  return rg_shard_open(from->path, from->inside, container, fault);
}
