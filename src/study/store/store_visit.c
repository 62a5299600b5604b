/* Reading of stored results: every record once, and the description of a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/grow.h"
#include "study/store/store_internal.h"

/* Whether a path is a study directory: by its name (it may still be empty), or by its shards. */
static PetscErrorCode is_study_directory(const char *path, bool *is)
{
  size_t length = strlen(path);
  char **names;
  int n, error;

  while (length > 1 && path[length - 1] == '/') length--;
  *is = length > 2 && !strncmp(path + length - 2, ".d", 2);
  PetscCall(rg_directory_list(path, RG_ANYWHERE, &n, &names, &error));
  for (int i = 0; i < n; i++) *is = *is || rg_shard_level(names[i]) >= 0;
  return rg_names_free(n, &names);
}

PetscErrorCode rg_store_resolve(const char *path, char **results, char **directory, RgFault *fault)
{
  struct stat found, named;
  char *beside;
  bool studies = true;

  *results = *directory = NULL;
  *fault = (RgFault){0};
  PetscCall(rg_store_directory(path, &beside));
  if (!stat(path, &found)) {
    /* The user may name a link; links beside a file and inside a directory are not followed. */
    const bool folder = S_ISDIR(found.st_mode);
    const bool link = !lstat(path, &named) && S_ISLNK(named.st_mode);
    char *place = folder && link ? realpath(path, NULL) : NULL;
    if (folder) PetscCall(is_study_directory(path, &studies));
    if (studies) PetscCall(PetscStrallocpy(place ? place : path, folder ? directory : results));
    free(place);
    if (!studies)
      rg_fault_set(fault, RG_FAULT_ERROR, "%.400s: no study directory (OUT.h5.d) of a run", path);
  } else if (!lstat(beside, &found) && S_ISDIR(found.st_mode)) {
    PetscCall(PetscStrallocpy(beside, directory));
  } else {
    rg_fault_set(fault, RG_FAULT_ERROR, "%.400s: no such results file or study directory", path);
  }
  return PetscFree(beside);
}

/* ---- one record after another ------------------------------------------------------------- */

enum { ROUNDS = 5 }; /* attempts to find files that vanished */

struct RgResults {
  char *results, *directory; /* owned; NULL: does not exist */
  RgReader reader;
  int n_rounds;
  RgIndex rounds[ROUNDS]; /* the scans; the last one is read */
  int source;             /* source being read */
  bool reading;           /* whether the cursor is open on the source */
  RgCursor cursor;
  RgFault trouble; /* fault of the cursor */
  int damaged, n_bad;
  RgFault fault; /* fault of a repeated scan */
  PetscErrorCode broken;
};

/* Whether a trial was read in an earlier round. */
static bool was_seen(const RgResults *results, const uint64_t id[2])
{
  for (int k = 0; k < results->n_rounds - 1; k++) {
    const RgIndex *index = &results->rounds[k];
    const int at = rg_index_find(index, id);
    if (at >= 0 && !index->sources[index->entries[index->order[at]].source].gone) return true;
  }
  return false;
}

/* Index the files to read. */
static PetscErrorCode gather(RgResults *results, RgFault *fault)
{
  RgIndex *index = &results->rounds[results->n_rounds++];

  PetscCall(
    rg_index_gather(results->directory, results->results, false, index, &results->n_bad, fault));
  if (fault->code) PetscCall(rg_index_clear(index));
  results->source = -1;
  return 0;
}

static PetscErrorCode close_source(RgResults *results)
{
  if (results->trouble.code) results->damaged++;
  results->reading = false;
  return rg_cursor_close(&results->cursor);
}

/* Hand over the cursor's record if it is the preferred record of its trial. */
static PetscErrorCode read_preferred(RgResults *results, const RgIndex *index, RgRecord *record,
                                     bool *found)
{
  const int entry = index->sources[results->source].first + results->cursor.ordinal;
  RgFault damage = {0};

  if (index->preferred[entry] != entry || was_seen(results, index->entries[entry].id)) return 0;
  if (results->reader == RG_READ_ALL) PetscCall(rg_cursor_read(&results->cursor, &damage));
  if (damage.code) {
    results->damaged++;
    return 0;
  }
  *record = *results->cursor.record;
  *results->cursor.record = (RgRecord){0};
  *found = true;
  return 0;
}

static PetscErrorCode next(RgResults *results, RgRecord *record, bool *found)
{
  while (!*found && !results->fault.code) {
    RgIndex *index = &results->rounds[results->n_rounds - 1];
    if (results->reading) {
      if (rg_cursor_next(&results->cursor, &results->trouble))
        PetscCall(read_preferred(results, index, record, found));
      else PetscCall(close_source(results));
    } else if (results->source + 1 < index->n_sources) {
      RgIndexSource *source = &index->sources[++results->source];
      results->cursor = (RgCursor){.reader = results->reader};
      results->trouble = (RgFault){0};
      PetscCall(
        rg_index_open(index, results->source, &results->cursor.container, &results->trouble));
      results->reading = !results->trouble.code;
      source->gone = results->trouble.code == RG_FAULT_VANISHED;
      if (!results->reading && !source->gone) results->damaged += source->n;
      if (!results->reading) PetscCall(rg_cursor_close(&results->cursor));
    } else {
      bool vanished = false;
      for (int s = 0; s < index->n_sources; s++) vanished = vanished || index->sources[s].gone;
      if (results->n_rounds == ROUNDS || !vanished) break;
      PetscCall(gather(results, &results->fault));
    }
  }
  return 0;
}

bool rg_results_next(RgResults *results, RgRecord *record)
{
  bool found = false;

  if (!results->broken) results->broken = next(results, record, &found);
  return found && !results->broken;
}

PetscErrorCode rg_results_open(const char *path, RgResults **results, RgFault *fault)
{
  RgResults *r;

  PetscCall(PetscNew(&r));
  *results = r;
  PetscCall(rg_store_resolve(path, &r->results, &r->directory, fault));
  if (!fault->code) PetscCall(gather(r, fault));
  if (fault->code) PetscCall(rg_results_close(results));
  return 0;
}

int rg_results_damaged(const RgResults *results)
{
  return results->damaged + results->n_bad;
}

PetscErrorCode rg_results_close(RgResults **results)
{
  RgResults *r = *results;

  if (!r) return 0;
  if (r->reading) PetscCall(close_source(r));
  for (int k = 0; k < r->n_rounds; k++) PetscCall(rg_index_clear(&r->rounds[k]));
  const PetscErrorCode broken = r->broken;
  PetscCall(RG_FREE(&r->results, &r->directory, results));
  return broken;
}

/* Visit all records. */
static PetscErrorCode visit_all(RgResults *results, RgRecordVisitor visit, void *closure,
                                RgFault *fault)
{
  RgRecord record = {0};

  while (rg_results_next(results, &record)) {
    PetscCall(visit(closure, &record));
    PetscCall(rg_record_destroy(&record));
  }
  if (results->fault.code) *fault = results->fault;
  return 0;
}

PetscErrorCode rg_store_visit(const char *path, RgRecordVisitor visit, void *closure, int *damaged,
                              RgFault *fault)
{
  RgResults *results;

  PetscCall(rg_results_open(path, &results, fault));
  if (results) PetscCall(visit_all(results, visit, closure, fault));
  if (damaged) *damaged = results ? rg_results_damaged(results) : 0;
  return rg_results_close(&results);
}

/* ---- info ------------------------------------------------------------------------------------ */

/* Count the shards of a directory; with `describe`, the newest shard describes the study. */
static PetscErrorCode read_directory(const char *directory, bool describe, RgStoreInfo *info)
{
  char **names, *path;
  int n, error;
  struct stat found;
  time_t newest = 0;
  RgContainer container;

  PetscCall(rg_directory_list(directory, RG_TOP, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (rg_shard_level(names[i]) < 0) continue;
    info->n_shards++;
    PetscCall(rg_path_join(directory, names[i], &path));
    RgFault fault = {0};
    if (describe && !rg_inside_stat(path, RG_TOP, &found) &&
        (!info->study || found.st_mtime > newest)) {
      PetscCall(rg_shard_open(path, RG_TOP, &container, &fault));
      if (!fault.code) {
        PetscCall(rg_container_read_info(&container, info));
        newest = found.st_mtime;
      }
      PetscCall(rg_container_close(&container));
    }
    PetscCall(PetscFree(path));
  }
  return rg_names_free(n, &names);
}

/* Count the shards beside a results file that have more than the file: shards that could not be
   removed after packing don't count. */
static PetscErrorCode count_extending(const char *directory, const char *results, RgStoreInfo *info)
{
  RgIndex index = {0};
  RgFault fault = {0};
  int n_bad, n = 0;

  if (!info->n_shards) return 0;
  PetscCall(rg_index_gather(directory, results, false, &index, &n_bad, &fault));
  const int file = rg_index_results(&index);
  for (int s = 0; s < index.n_sources; s++) {
    const RgIndexSource *shard = &index.sources[s];
    bool more = false;
    for (int i = shard->first; i < shard->first + shard->n && !more; i++)
      more = !rg_index_stands_in(&index, i, file, -1);
    n += more && !rg_is_results(shard);
  }
  if (!fault.code) info->n_shards = n + n_bad;
  return rg_index_clear(&index);
}

bool rg_store_exists(const char *output)
{
  char directory[4096];
  snprintf(directory, sizeof(directory), "%s.d", output);
  return !access(output, F_OK) || !access(directory, F_OK);
}

/* Read the description of an open results file, if it is complete. */
static PetscErrorCode read_results(const char *results, const RgContainer *container,
                                   RgStoreInfo *info, RgFault *fault)
{
  if (!fault->code) {
    PetscCall(rg_container_read_info(container, info));
    PetscCall(rg_index_check(container, fault));
    rg_fault_restate(fault, fault->code, results);
  }
  rg_fault_adapt(fault);
  return 0;
}

PetscErrorCode rg_store_info(const char *path, RgStoreInfo *info, RgFault *fault)
{
  char *results, *directory;
  RgContainer container;
  bool trailed;

  *info = (RgStoreInfo){0};
  PetscCall(rg_store_resolve(path, &results, &directory, fault));
  info->directory = directory != NULL;
  if (directory) PetscCall(read_directory(directory, true, info));
  if (results) {
    PetscCall(rg_shard_open_results(results, true, &container, &trailed, fault));
    PetscCall(read_results(results, &container, info, fault));
    PetscCall(rg_container_close(&container));
    PetscCall(rg_store_directory(path, &directory));
    PetscCall(read_directory(directory, false, info));
    if (!fault->code) PetscCall(count_extending(directory, results, info));
  }
  return RG_FREE(&results, &directory);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Visit a single results file. It has no trial twice, so no index is needed. If another program
   removed its trailer, every record is checked. */
static PetscErrorCode visit_file(const char *path, RgRecordVisitor visit, void *closure,
                                 RgStoreInfo *info, RgFault *fault)
{
  RgCursor cursor = {0};
  bool trailed;

  PetscCall(rg_shard_open_results(path, true, &cursor.container, &trailed, fault));
  PetscCall(read_results(path, &cursor.container, info, fault));
  if (!fault->code) {
    cursor.reader = trailed ? RG_READ_HEADS : RG_READ_ALL;
    while (rg_cursor_next(&cursor, fault)) {
      if (!trailed) PetscCall(rg_cursor_read(&cursor, fault));
      if (!fault->code) PetscCall(visit(closure, cursor.record));
    }
    rg_fault_restate(fault, RG_FAULT_FOREIGN, path);
  }
  return rg_cursor_close(&cursor);
}

PetscErrorCode rg_store_visit_heads(const char *path, RgRecordVisitor visit, void *closure,
                                    RgStoreInfo *info, RgFault *fault)
{
  RgResults *r;

  *info = (RgStoreInfo){0};
  PetscCall(PetscNew(&r));
  r->reader = RG_READ_HEADS;
  PetscCall(rg_store_resolve(path, &r->results, &r->directory, fault));
  if (r->results) {
    PetscCall(rg_store_directory(path, &r->directory));
    PetscCall(read_directory(r->directory, false, info));
  }
  if (r->results && !info->n_shards) {
    PetscCall(visit_file(r->results, visit, closure, info, fault));
  } else if (!fault->code) {
    PetscCall(rg_store_info(path, info, fault));
    if (!fault->code) PetscCall(gather(r, fault));
    if (!fault->code) PetscCall(visit_all(r, visit, closure, fault));
  }
  return rg_results_close(&r);
}
