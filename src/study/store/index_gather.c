#include "study/store/index.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"

PetscErrorCode rg_shard_move(const char *path, const char *directory, const char *folder)
{
  const char *slash = strrchr(path, '/');
  char *target, *to;

  PetscFunctionBeginUser;
  PetscCall(rg_path_join(directory, folder, &target));
  PetscCall(rg_path_join(target, slash ? slash + 1 : path, &to));
  if (!rg_directory_create(target) && !rename(path, to)) {
    (void)rg_directory_sync(target); /* if one of the names is lost, the other one is not */
    (void)rg_directory_sync(directory);
  }
  PetscCall(PetscFree(to));
  PetscCall(PetscFree(target));
  PetscFunctionReturn(0);
}

static PetscErrorCode remove_stale(const char *directory, int n, char *const *names)
{
  char *path;

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) {
    if (!rg_file_is_stale(names[i])) continue;
    PetscCall(rg_path_join(directory, names[i], &path));
    (void)unlink(path);
    PetscCall(PetscFree(path));
  }
  PetscFunctionReturn(0);
}

static RgStoreStatus status_of(RgSourceState state)
{
  return state == RG_SOURCE_NEWER || state == RG_SOURCE_DAMAGED ? RG_STORE_FOREIGN : RG_STORE_ERROR;
}

static PetscErrorCode add_shard(const char *path, RgIndex *index, RgSourceState *state,
                                char message[512])
{
  RgContainer container;
  RgFailure failure = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_shard_open(path, &container, state, message));
  if (*state == RG_SOURCE_OK) {
    PetscCall(rg_index_add(index, path, false, &container, &failure));
    if (failure.failed) {
      *state = RG_SOURCE_DAMAGED;
      snprintf(message, 512, "%.200s: %s", path, failure.message);
    }
  }
  PetscCall(rg_container_close(&container));
  PetscFunctionReturn(0);
}

static bool is_known(const RgIndex *index, const char *path)
{
  for (int s = 0; s < index->n_sources; s++)
    if (!strcmp(index->sources[s].path, path)) return true;
  return false;
}

/* One pass over a directory of shards, `home` itself or a folder in it. *vanished: something went
   away meanwhile. */
static PetscErrorCode gather_pass(const char *home, const char *directory, bool first, bool repair,
                                  RgIndex *index, int *n_bad, bool *vanished, RgStoreStatus *status,
                                  char message[512])
{
  char **names, *path;
  int n, error;
  char problem[512];
  RgSourceState state;

  PetscFunctionBeginUser;
  *vanished = false;
  PetscCall(rg_directory_list(directory, &n, &names, &error));
  if (error && error != ENOENT) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "cannot list %.300s: %s", directory, strerror(error));
  }
  if (repair && first) PetscCall(remove_stale(directory, n, names));
  for (int i = 0; i < n && *status == RG_STORE_OK; i++) {
    if (rg_shard_level(names[i]) < 0) continue;
    PetscCall(rg_path_join(directory, names[i], &path));
    state = RG_SOURCE_OK;
    if (first || !is_known(index, path)) {
      PetscCall(add_shard(path, index, &state, problem));
      if (state == RG_SOURCE_OK) index->sources[index->n_sources - 1].foreign = directory != home;
    }
    if (state == RG_SOURCE_VANISHED) {
      *vanished = true;
    } else if (state != RG_SOURCE_OK) {
      memcpy(message, problem, sizeof(problem));
      if (state != RG_SOURCE_DAMAGED) *status = status_of(state);
    }
    if (state == RG_SOURCE_DAMAGED && repair) PetscCall(rg_shard_move(path, home, RG_FOLDER_BAD));
    if (state == RG_SOURCE_DAMAGED && (first || repair)) ++*n_bad;
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_names_free(n, &names));
  PetscFunctionReturn(0);
}

static PetscErrorCode verify_trial(void *closure, RgGroup *group, int ordinal, int position,
                                   RgRecord *record, RgFailure *failure)
{
  PetscFunctionBeginUser;
  (void)closure, (void)ordinal;
  PetscCall(rg_group_read_verified(group, position, record, failure));
  PetscFunctionReturn(0);
}

/* A results file that lost its trailer to another program is checked record by record. */
static PetscErrorCode add_results(const char *path, RgIndex *index, RgStoreStatus *status,
                                  char message[512])
{
  RgContainer container;
  RgSourceState state;
  RgFailure failure = {0};
  bool trailed;

  PetscFunctionBeginUser;
  PetscCall(rg_results_open(path, true, &container, &trailed, &state, message));
  if (state == RG_SOURCE_OK) {
    PetscCall(rg_index_add(index, path, true, &container, &failure));
    if (!trailed && !failure.failed)
      PetscCall(rg_container_walk(&container, verify_trial, NULL, &failure));
    if (failure.failed) {
      state = container.medium.error ? RG_SOURCE_ERROR : RG_SOURCE_DAMAGED;
      snprintf(message, 512, "%.200s: %s", path,
               container.medium.error ? strerror(container.medium.error) : failure.message);
    }
  }
  PetscCall(rg_container_close(&container));
  if (state == RG_SOURCE_VANISHED) message[0] = '\0'; /* a study that starts afresh */
  else if (state != RG_SOURCE_OK) *status = status_of(state);
  PetscFunctionReturn(0);
}

/* Until nothing vanishes any more: another process may be merging. */
static PetscErrorCode gather_folder(const char *home, const char *directory, bool repair,
                                    RgIndex *index, int *n_bad, RgStoreStatus *status,
                                    char message[512])
{
  bool vanished = true;

  PetscFunctionBeginUser;
  for (int pass = 0; pass < 5 && vanished && *status == RG_STORE_OK; pass++)
    PetscCall(
      gather_pass(home, directory, pass == 0, repair, index, n_bad, &vanished, status, message));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_index_gather(const char *directory, const char *results, bool repair,
                               RgIndex *index, int *n_bad, RgStoreStatus *status, char message[512])
{
  char *foreign;

  PetscFunctionBeginUser;
  *status = RG_STORE_OK;
  *n_bad = 0;
  message[0] = '\0';
  if (results) PetscCall(add_results(results, index, status, message));
  if (directory)
    PetscCall(gather_folder(directory, directory, repair, index, n_bad, status, message));
  if (directory && repair) {
    PetscCall(rg_path_join(directory, RG_FOLDER_FOREIGN, &foreign));
    PetscCall(gather_folder(directory, foreign, repair, index, n_bad, status, message));
    PetscCall(PetscFree(foreign));
  }
  if (*status == RG_STORE_OK) PetscCall(rg_index_sort(index));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_index_open(const RgIndex *index, int source, RgContainer *container,
                             RgSourceState *state, char message[512])
{
  bool trailed;

  PetscFunctionBeginUser;
  if (index->sources[source].results)
    PetscCall(
      rg_results_open(index->sources[source].path, false, container, &trailed, state, message));
  else PetscCall(rg_shard_open(index->sources[source].path, container, state, message));
  PetscFunctionReturn(0);
}
