/* Reading what is stored: every record once, and what a file says about itself. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "study/store/store_internal.h"

/* What `path` means: a results file, or a directory of shards (owned by the caller, else NULL). A
   path that does not exist stands for the study directory of that name. */
static PetscErrorCode resolve(const char *path, char **results, char **directory, RgFault *fault)
{
  struct stat found;
  char *beside, *parent;
  const char *name;

  PetscFunctionBeginUser;
  *results = *directory = NULL;
  *fault = (RgFault){0};
  PetscCall(rg_store_paths(path, &beside, &parent, &name));
  PetscCall(PetscFree(parent));
  if (!stat(path, &found)) {
    PetscCall(PetscStrallocpy(path, S_ISDIR(found.st_mode) ? directory : results));
  } else if (!stat(beside, &found) && S_ISDIR(found.st_mode)) {
    PetscCall(PetscStrallocpy(beside, directory));
  } else {
    rg_fault_set(fault, RG_FAULT_ERROR, "%.400s: no such results file or study directory", path);
  }
  PetscCall(PetscFree(beside));
  PetscFunctionReturn(0);
}

/* ---- visit ----------------------------------------------------------------------------------- */

typedef struct {
  RgRecordVisitor visit;
  void *closure;
  int damaged;
  uint64_t *seen; /* ids visited in an earlier round, two words each, sorted */
  int n_seen;
} Visit;

static bool was_seen(const Visit *visit, const uint64_t id[2])
{
  int low = 0, high = visit->n_seen;

  while (low < high) {
    int middle = low + (high - low) / 2;
    const uint64_t *at = visit->seen + 2 * middle;
    if (at[1] < id[1] || (at[1] == id[1] && at[0] < id[0])) low = middle + 1;
    else high = middle;
  }
  return low < visit->n_seen && rg_same_hash(visit->seen + 2 * low, id);
}

/* Visit the trials of one source that are the ones to take. *gone: it went away (merged by its
   owner, or packed). */
static PetscErrorCode visit_source(Visit *visit, const RgIndex *index, int source, bool *gone)
{
  RgCursor cursor = {0};
  RgFault fault = {0};
  bool opened;

  PetscFunctionBeginUser;
  PetscCall(rg_index_open(index, source, &cursor.container, &fault));
  opened = !fault.code;
  *gone = fault.code == RG_FAULT_VANISHED;
  if (!opened && !*gone) visit->damaged += index->sources[source].n;
  while (rg_cursor_next(&cursor, &fault)) {
    RgFault damage = {0};
    int entry = rg_index_taken(index, source, cursor.ordinal);
    if (entry != index->sources[source].first + cursor.ordinal) continue;
    if (was_seen(visit, index->entries[entry].id)) continue;
    PetscCall(rg_cursor_read(&cursor, &damage));
    if (damage.code) visit->damaged++;
    else PetscCall(visit->visit(visit->closure, cursor.record));
  }
  if (opened && fault.code) visit->damaged++;
  PetscCall(rg_cursor_close(&cursor));
  PetscFunctionReturn(0);
}

/* Remember what was visited, in the order of the index. */
static PetscErrorCode remember(Visit *visit, const RgIndex *index, const bool *gone)
{
  uint64_t *seen;
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(2 * (size_t)index->n, &seen));
  for (int i = 0; i < index->n; i++) {
    const RgIndexEntry *entry = &index->entries[index->order[i]];
    if (gone[entry->source] && !was_seen(visit, entry->id)) continue;
    if (n && rg_same_hash(seen + 2 * (n - 1), entry->id)) continue;
    memcpy(seen + 2 * n++, entry->id, sizeof(entry->id));
  }
  PetscCall(PetscFree(visit->seen));
  visit->seen = seen;
  visit->n_seen = n;
  PetscFunctionReturn(0);
}

/* *vanished: something went away meanwhile. */
static PetscErrorCode visit_index(Visit *visit, const RgIndex *index, bool *vanished)
{
  bool *gone;

  PetscFunctionBeginUser;
  *vanished = false;
  PetscCall(PetscMalloc1(index->n_sources, &gone));
  for (int s = 0; s < index->n_sources; s++) {
    PetscCall(visit_source(visit, index, s, &gone[s]));
    *vanished = *vanished || gone[s];
  }
  if (*vanished) PetscCall(remember(visit, index, gone));
  PetscCall(PetscFree(gone));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_visit(const char *path, RgRecordVisitor visitor, void *closure,
                              int *damaged, RgFault *fault)
{
  Visit visit = {.visit = visitor, .closure = closure};
  char *results, *directory;
  bool vanished = true;
  int n_bad = 0;

  PetscFunctionBeginUser;
  PetscCall(resolve(path, &results, &directory, fault));
  for (int round = 0; round < 5 && vanished && !fault->code; round++) {
    RgIndex index = {0};
    PetscCall(rg_index_gather(directory, results, false, &index, &n_bad, fault));
    if (!fault->code) PetscCall(visit_index(&visit, &index, &vanished));
    PetscCall(rg_index_clear(&index));
  }
  if (damaged) *damaged = visit.damaged + n_bad;
  PetscCall(PetscFree(visit.seen));
  PetscCall(PetscFree(results));
  PetscCall(PetscFree(directory));
  PetscFunctionReturn(0);
}

/* ---- info ------------------------------------------------------------------------------------ */

static PetscErrorCode read_text(const RgContainer *container, int attribute, char **text)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(*text));
  PetscCall(rg_h5_read_text(container->file, rg_attributes[attribute].name, text, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_info(const RgContainer *container, RgStoreInfo *info)
{
  int64_t value = 0;
  char *checksum = NULL;

  PetscFunctionBeginUser;
  info->schema_version = (int)container->schema_version;
  PetscCall(read_text(container, RG_ATTRIBUTE_STUDY_NAME, &info->name));
  PetscCall(read_text(container, RG_ATTRIBUTE_TITLE, &info->title));
  PetscCall(read_text(container, RG_ATTRIBUTE_HISTORY, &info->history));
  PetscCall(read_text(container, RG_ATTRIBUTE_REFERENCES, &info->references));
  PetscCall(read_text(container, RG_ATTRIBUTE_STUDY, &info->study));
  rg_h5_read_integer(container->file, rg_attributes[RG_ATTRIBUTE_STUDY_SEED].name, &value);
  info->seed = (uint64_t)value;
  if (info->directory) PetscFunctionReturn(0);
  PetscCall(read_text(container, RG_ATTRIBUTE_CHECKSUM, &checksum));
  PetscCall(PetscStrncpy(info->checksum, checksum, sizeof(info->checksum)));
  PetscCall(PetscFree(checksum));
  info->complete =
    rg_h5_read_integer(container->file, rg_attributes[RG_ATTRIBUTE_COMPLETE].name, &value) && value;
  PetscFunctionReturn(0);
}

/* Count the shards of a directory; with `describe` the newest of them tells of the study. */
static PetscErrorCode read_directory(const char *directory, bool describe, RgStoreInfo *info)
{
  char **names, *path;
  int n, error;
  struct stat found;
  time_t newest = 0;
  RgContainer container;

  PetscFunctionBeginUser;
  PetscCall(rg_directory_list(directory, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (rg_shard_level(names[i]) < 0) continue;
    info->n_shards++;
    PetscCall(rg_path_join(directory, names[i], &path));
    RgFault fault = {0};
    if (describe && !stat(path, &found) && (!info->study || found.st_mtime > newest)) {
      PetscCall(rg_shard_open(path, &container, &fault));
      if (!fault.code) {
        PetscCall(read_info(&container, info));
        newest = found.st_mtime;
      }
      PetscCall(rg_container_close(&container));
    }
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_names_free(n, &names));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_info(const char *path, RgStoreInfo *info, RgFault *fault)
{
  char *results, *directory, *beside, *parent;
  const char *name;
  RgContainer container;
  bool trailed;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCall(resolve(path, &results, &directory, fault));
  info->directory = directory != NULL;
  if (directory) PetscCall(read_directory(directory, true, info));
  if (results) {
    PetscCall(rg_results_open(results, true, &container, &trailed, fault));
    if (!fault->code) {
      PetscCall(read_info(&container, info));
      rg_container_check(&container, fault);
      rg_fault_judge(fault, RG_FAULT_ERROR, results);
    }
    rg_store_judge(fault);
    PetscCall(rg_container_close(&container));
    PetscCall(rg_store_paths(path, &beside, &parent, &name));
    PetscCall(read_directory(beside, false, info));
    PetscCall(PetscFree(beside));
    PetscCall(PetscFree(parent));
  }
  PetscCall(PetscFree(results));
  PetscCall(PetscFree(directory));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_info_clear(RgStoreInfo *info)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(info->name));
  PetscCall(PetscFree(info->title));
  PetscCall(PetscFree(info->history));
  PetscCall(PetscFree(info->references));
  PetscCall(PetscFree(info->study));
  PetscFunctionReturn(0);
}
