#include "study/store/store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "study/store/evaluation_log.h"
#include "base/files.h"
#include "study/store/store_internal.h"

/* ---- open and close -------------------------------------------------------------------------- */

PetscErrorCode rg_store_paths(const char *output, char **directory, char **parent,
                              const char **name)
{
  const char *slash = strrchr(output, '/');
  size_t size = strlen(output) + 3;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(size, directory));
  snprintf(*directory, size, "%s.d", output);
  PetscCall(PetscStrallocpy(slash ? output : ".", parent));
  if (slash) (*parent)[slash == output ? 1 : slash - output] = '\0';
  *name = slash ? slash + 1 : output;
  PetscFunctionReturn(0);
}

RgStoreStatus rg_store_status_of(int error)
{
  if (!error) return RG_STORE_OK;
  return error == ENOSPC || error == EDQUOT ? RG_STORE_FULL : RG_STORE_ERROR;
}

/* What stands at the output path must be a results file of this study, or nothing. */
static PetscErrorCode check_output(const RgStore *store, RgStoreStatus *status, char message[512])
{
  RgContainer container;
  RgSourceState state;
  RgFailure failure = {0};
  bool trailed;
  char *name = NULL;

  PetscFunctionBeginUser;
  PetscCall(rg_results_open(store->output, true, &container, &trailed, &state, message));
  if (state == RG_SOURCE_OK) {
    PetscCall(
      rg_h5_read_text(container.file, rg_attributes[RG_ATTRIBUTE_STUDY_NAME].name, &name, NULL));
    rg_container_check(&container, &failure);
    if (failure.failed) {
      *status = RG_STORE_ERROR;
      snprintf(message, 512, "cannot read %.200s: %s", store->output, failure.message);
    } else if (strcmp(name, store->study->name ? store->study->name : "")) {
      *status = RG_STORE_FOREIGN;
      snprintf(message, 512, "%.200s holds study '%.100s', not '%.100s': choose another output",
               store->output, name, store->study->name ? store->study->name : "");
    }
    PetscCall(PetscFree(name));
  } else if (state == RG_SOURCE_VANISHED) {
    message[0] = '\0';
  } else {
    *status = state == RG_SOURCE_ERROR ? RG_STORE_ERROR : RG_STORE_FOREIGN;
  }
  PetscCall(rg_container_close(&container));
  PetscFunctionReturn(0);
}

static void check_directory(const RgStore *store, RgStoreStatus *status, char message[512])
{
  struct stat parent;
  int error = stat(store->parent, &parent) ? errno : S_ISDIR(parent.st_mode) ? 0 : ENOTDIR;

  if (error == ENOENT || error == ENOTDIR || !store->name[0]) {
    *status = RG_STORE_FOREIGN;
    snprintf(message, 512, "%.250s: there is no directory %.200s", store->output, store->parent);
    return;
  }
  if (!error) error = rg_directory_create(store->directory);
  if (!error && access(store->directory, R_OK | W_OK | X_OK)) error = errno;
  if (!error && access(store->parent, W_OK | X_OK)) error = errno;
  if (!error) return;
  *status = error == EACCES || error == EPERM || error == EROFS || error == ENOTDIR
              ? RG_STORE_FOREIGN
              : rg_store_status_of(error);
  rg_file_complain(message, store->directory, "use directory", error, store->parent, 0);
}

PetscErrorCode rg_store_open(const char *output, const RgStudy *study, int rank, RgStore **store,
                             RgStoreStatus *status, char message[512])
{
  RgStore *new;

  PetscFunctionBeginUser;
  *store = NULL;
  *status = RG_STORE_OK;
  message[0] = '\0';
  PetscCall(PetscCalloc1(1, &new));
  PetscCall(PetscStrallocpy(output, &new->output));
  PetscCall(rg_store_paths(new->output, &new->directory, &new->parent, &new->name));
  PetscCall(rg_software_describe(&new->software));
  new->study = study;
  new->rank = rank;
  new->limits = (RgStoreLimits){.group_bytes = 8 << 20,
                                .group_seconds = 30,
                                .long_seconds = 10,
                                .compaction = 64,
                                .compaction_bytes = 64 << 20,
                                .image_bytes = 256 << 20};
  if (rank == 0) {
    PetscCall(check_output(new, status, message));
    if (*status == RG_STORE_OK) check_directory(new, status, message);
  }
  if (*status != RG_STORE_OK) PetscCall(rg_store_close(&new));
  *store = new;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_close(RgStore **store)
{
  PetscFunctionBeginUser;
  if (!*store) PetscFunctionReturn(0);
  for (int i = 0; i < (*store)->n; i++) PetscCall(rg_record_destroy(&(*store)->pending[i]));
  PetscCall(PetscFree((*store)->pending));
  PetscCall(PetscFree((*store)->own));
  PetscCall(PetscFree((*store)->software));
  PetscCall(PetscFree((*store)->parent));
  PetscCall(PetscFree((*store)->directory));
  PetscCall(PetscFree((*store)->output));
  PetscCall(PetscFree(*store));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_set_limits(RgStore *store, const RgStoreLimits *limits)
{
  PetscFunctionBeginUser;
  store->limits = *limits;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_get_limits(const RgStore *store, RgStoreLimits *limits)
{
  PetscFunctionBeginUser;
  *limits = store->limits;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_pending(const RgStore *store, int *n, size_t *bytes, double *troubled)
{
  PetscFunctionBeginUser;
  *n = store->n;
  *bytes = store->bytes;
  *troubled = store->troubled_since > 0 ? rg_wall_seconds() - store->troubled_since : 0;
  PetscFunctionReturn(0);
}

/* ---- commit ---------------------------------------------------------------------------------- */

PetscErrorCode rg_store_own(RgStore *store, const char *name, int level, size_t bytes)
{
  PetscFunctionBeginUser;
  if (store->n_own == store->own_capacity) {
    store->own_capacity = 2 * store->own_capacity + 64;
    PetscCall(PetscRealloc((size_t)store->own_capacity * sizeof(*store->own), &store->own));
  }
  RgOwnShard *own = &store->own[store->n_own++];
  PetscCall(PetscStrncpy(own->name, name, sizeof(own->name)));
  own->level = level;
  own->bytes = bytes;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_file_commit_shard(RgStore *store, int level, int n, RgRecord *const *records,
                                    char name[RG_SHARD_NAME_MAX], size_t *length,
                                    RgStoreStatus *status, char message[512])
{
  RgFailure failure = {0};
  unsigned char *bytes;
  int error = 0;

  PetscFunctionBeginUser;
  PetscCall(rg_shard_build(store->study, level, n, records, &bytes, length, name, &failure));
  if (failure.failed) {
    *status = RG_STORE_ERROR;
    snprintf(message, 512, "cannot build a shard for %.150s: %s", store->directory,
             failure.message);
    PetscFunctionReturn(0);
  }
  PetscCall(rg_file_commit(store->directory, name, bytes, *length, &error, message));
  if (error == ENOENT && !rg_directory_create(store->directory))
    PetscCall(rg_file_commit(store->directory, name, bytes, *length, &error, message));
  PetscCall(PetscFree(bytes));
  *status = rg_store_status_of(error);
  PetscFunctionReturn(0);
}

typedef struct {
  int n;
  const RgRecord *records;
} Group;

/* What failed may be tried again: its log is kept. */
static bool is_complete_in(void *closure, const char *id)
{
  const Group *group = closure;

  for (int i = 0; i < group->n; i++)
    if (!strcmp(group->records[i].id, id)) return group->records[i].status == RG_STATUS_COMPLETE;
  return false;
}

/* The first n pending records are committed: the logs of their evaluations have served. */
static PetscErrorCode remove_logs(RgStore *store, int n)
{
  Group group = {n, store->pending};
  bool logged = false;

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) logged = logged || store->pending[i].logged;
  if (logged) PetscCall(rg_evaluation_logs_remove(store->directory, is_complete_in, &group));
  PetscFunctionReturn(0);
}

/* The oldest records that make up one group, at least one; they leave the list once committed. */
static PetscErrorCode commit_group(RgStore *store, RgStoreStatus *status, char message[512])
{
  RgRecord **records;
  char name[RG_SHARD_NAME_MAX];
  size_t length, bytes = 0;
  int n = 0;

  PetscFunctionBeginUser;
  while (n < store->n && (n == 0 || bytes < store->limits.group_bytes))
    bytes += rg_record_bytes(&store->pending[n++]);
  PetscCall(PetscMalloc1(n, &records));
  for (int i = 0; i < n; i++) records[i] = &store->pending[i];
  PetscCall(rg_file_commit_shard(store, 0, n, records, name, &length, status, message));
  PetscCall(PetscFree(records));
  if (*status != RG_STORE_OK) PetscFunctionReturn(0);
  PetscCall(rg_store_own(store, name, 0, length));
  PetscCall(remove_logs(store, n));
  for (int i = 0; i < n; i++) PetscCall(rg_record_destroy(&store->pending[i]));
  store->n -= n;
  store->bytes -= bytes;
  memmove(store->pending, store->pending + n, (size_t)store->n * sizeof(*store->pending));
  PetscFunctionReturn(0);
}

static void note_outcome(RgStore *store, RgStoreStatus status)
{
  double now = rg_wall_seconds();

  if (status == RG_STORE_OK) {
    store->pause = store->troubled_since = store->retry_at = 0;
    return;
  }
  if (store->troubled_since <= 0) store->troubled_since = now;
  store->pause = fmin(60, fmax(1, 2 * store->pause));
  store->retry_at = now + store->pause;
}

PetscErrorCode rg_store_flush(RgStore *store, bool now, RgStoreStatus *status, char message[512])
{
  double time = rg_wall_seconds();

  PetscFunctionBeginUser;
  *status = RG_STORE_OK;
  message[0] = '\0';
  if (store->n == 0) PetscFunctionReturn(0);
  if (!now) {
    bool due = store->urgent || store->bytes >= store->limits.group_bytes ||
               time - store->oldest >= store->limits.group_seconds;
    if (!due || time < store->retry_at) PetscFunctionReturn(0);
  }
  while (store->n > 0 && *status == RG_STORE_OK) PetscCall(commit_group(store, status, message));
  note_outcome(store, *status);
  if (*status != RG_STORE_OK) PetscFunctionReturn(0);
  store->urgent = false;
  PetscCall(rg_store_compact(store));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_add(RgStore *store, RgRecord *record, RgStoreStatus *status,
                            char message[512])
{
  PetscFunctionBeginUser;
  if (store->n == store->capacity) {
    store->capacity = 2 * store->capacity + 16;
    PetscCall(PetscRealloc((size_t)store->capacity * sizeof(*store->pending), &store->pending));
  }
  if (!record->provenance.software)
    PetscCall(PetscStrallocpy(store->software, &record->provenance.software));
  if (store->n == 0) store->oldest = rg_wall_seconds();
  if (fmax(record->provenance.wall, record->provenance.cpu) >= store->limits.long_seconds)
    store->urgent = true;
  store->bytes += rg_record_bytes(record);
  store->pending[store->n++] = *record;
  PetscCall(PetscMemzero(record, sizeof(*record)));
  PetscCall(rg_store_flush(store, false, status, message));
  PetscFunctionReturn(0);
}
