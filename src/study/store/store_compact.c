#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "study/store/store_internal.h"

/* Records gathered from several shards. */
typedef struct {
  int n, capacity;
  RgRecord **records; /* owned, each of them too */
} Gathered;

static PetscErrorCode keep_trial(void *closure, RgGroup *group, int ordinal, int position,
                                 RgRecord *record, RgFailure *failure)
{
  Gathered *gathered = closure;

  PetscFunctionBeginUser;
  (void)ordinal;
  PetscCall(rg_group_read_verified(group, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  if (gathered->n == gathered->capacity) {
    gathered->capacity = 2 * gathered->capacity + 64;
    PetscCall(
      PetscRealloc((size_t)gathered->capacity * sizeof(*gathered->records), &gathered->records));
  }
  PetscCall(PetscMalloc1(1, &gathered->records[gathered->n]));
  *gathered->records[gathered->n++] = *record;
  PetscCall(PetscMemzero(record, sizeof(*record)));
  PetscFunctionReturn(0);
}

/* *ok: everything in the shard was gathered; else nothing of it. */
static PetscErrorCode gather_shard(const RgStore *store, const char *name, Gathered *gathered,
                                   bool *ok)
{
  RgContainer container;
  RgSourceState state;
  RgFailure failure = {0};
  char message[512], *path;
  int before = gathered->n;

  PetscFunctionBeginUser;
  PetscCall(rg_path_join(store->directory, name, &path));
  PetscCall(rg_shard_open(path, &container, &state, message));
  if (state == RG_SOURCE_OK)
    PetscCall(rg_container_walk(&container, keep_trial, gathered, &failure));
  PetscCall(rg_container_close(&container));
  PetscCall(PetscFree(path));
  *ok = state == RG_SOURCE_OK && !failure.failed;
  while (!*ok && gathered->n > before) {
    PetscCall(rg_record_destroy(gathered->records[--gathered->n]));
    PetscCall(PetscFree(gathered->records[gathered->n]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode forget(RgStore *store, const char *name)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < store->n_own; i++) {
    if (strcmp(store->own[i].name, name)) continue;
    store->own[i] = store->own[--store->n_own];
    break;
  }
  PetscFunctionReturn(0);
}

/* Unlink the inputs, which stand in the merged shard now. */
static PetscErrorCode replace(RgStore *store, int n, const RgOwnShard *inputs, const char *merged,
                              size_t length)
{
  char *path;

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) {
    PetscCall(forget(store, inputs[i].name));
    if (!strcmp(inputs[i].name, merged)) continue;
    PetscCall(rg_path_join(store->directory, inputs[i].name, &path));
    (void)unlink(path); /* a shard that stays is a harmless duplicate */
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_store_own(store, merged, inputs[0].level + 1, length));
  PetscFunctionReturn(0);
}

static PetscErrorCode merge_shards(RgStore *store, int n, RgOwnShard *inputs)
{
  Gathered gathered = {0};
  RgStoreStatus status = RG_STORE_OK;
  char name[RG_SHARD_NAME_MAX], message[512];
  size_t length;
  int good = 0;
  bool ok = false;

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) {
    PetscCall(gather_shard(store, inputs[i].name, &gathered, &ok));
    if (ok) inputs[good++] = inputs[i];
    if (!ok)
      PetscCall(forget(store, inputs[i].name)); /* gone or damaged: the next scan will tell */
  }
  if (gathered.n)
    PetscCall(rg_file_commit_shard(store, inputs[0].level + 1, gathered.n, gathered.records, name,
                                   &length, &status, message));
  if (gathered.n && status == RG_STORE_OK) PetscCall(replace(store, good, inputs, name, length));
  if (status != RG_STORE_OK) store->merge_at = rg_wall_seconds() + 60;
  for (int i = 0; i < gathered.n; i++) {
    PetscCall(rg_record_destroy(gathered.records[i]));
    PetscCall(PetscFree(gathered.records[i]));
  }
  PetscCall(PetscFree(gathered.records));
  PetscFunctionReturn(0);
}

/* The first `compaction` small shards of a level, if there are so many; n = 0 else. */
static void choose_inputs(const RgStore *store, int level, int *n, RgOwnShard *inputs)
{
  size_t small = store->limits.compaction_bytes / (size_t)store->limits.compaction;

  *n = 0;
  for (int i = 0; i < store->n_own && *n < store->limits.compaction; i++)
    if (store->own[i].level == level && store->own[i].bytes <= small)
      inputs[(*n)++] = store->own[i];
  if (*n < store->limits.compaction) *n = 0;
}

PetscErrorCode rg_store_compact(RgStore *store)
{
  RgOwnShard *inputs;
  int n, highest = 0;

  PetscFunctionBeginUser;
  if (store->limits.compaction < 2 || store->n_own < store->limits.compaction ||
      rg_wall_seconds() < store->merge_at)
    PetscFunctionReturn(0);
  for (int i = 0; i < store->n_own; i++) highest = PetscMax(highest, store->own[i].level);
  PetscCall(PetscMalloc1(store->limits.compaction, &inputs));
  for (int level = 0; level <= highest; level++) {
    choose_inputs(store, level, &n, inputs);
    if (n) PetscCall(merge_shards(store, n, inputs));
  }
  PetscCall(PetscFree(inputs));
  PetscFunctionReturn(0);
}
