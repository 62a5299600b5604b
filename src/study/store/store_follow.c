/* Following a study while it runs: what came since the last look. */
#include "study/store/store_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/grow.h"
#include "study/store/store_internal.h"

PetscErrorCode rg_follow_open(const char *path, RgFollow *follow, RgFault *fault)
{
  char *parent;
  const char *name;

  PetscFunctionBeginUser;
  *follow = (RgFollow){0};
  PetscCall(rg_store_resolve(path, &follow->results, &follow->directory, fault));
  if (follow->results) {
    PetscCall(rg_store_paths(follow->results, &follow->directory, &parent, &name));
    PetscCall(PetscFree(parent));
  } else if (follow->directory) {
    size_t length = strlen(follow->directory);
    while (length > 1 && follow->directory[length - 1] == '/') follow->directory[--length] = '\0';
    PetscCall(PetscStrallocpy(follow->directory, &follow->results));
    if (length > 2 && !strcmp(follow->results + length - 2, ".d"))
      follow->results[length - 2] = '\0';
  }
  PetscFunctionReturn(0);
}

/* ---- a look ---------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool contains(const RgFollowNames *names, const char *name)
{
  return names->n && bsearch(&name, names->names, (size_t)names->n, sizeof(char *), compare_names);
}

static PetscErrorCode add_name(RgFollowNames *names, const char *name)
{
  PetscFunctionBeginUser;
  PetscCall(RG_GROW(names->n, names->names));
  PetscCall(PetscStrallocpy(name, &names->names[names->n++]));
  PetscFunctionReturn(0);
}

static PetscErrorCode clear_names(RgFollowNames *names)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < names->n; i++) PetscCall(PetscFree(names->names[i]));
  PetscCall(PetscFree(names->names));
  *names = (RgFollowNames){0};
  PetscFunctionReturn(0);
}

static double changed(const RgFileState *state)
{
  return (double)state->status.st_mtim.tv_sec + 1e-9 * (double)state->status.st_mtim.tv_nsec;
}

/* Shards that were not read; *newest: path of the newest of them, if it is the newest of all; owned
   by the caller, NULL: none is. */
static PetscErrorCode list_shards(RgFollow *follow, char **newest, RgFault *fault)
{
  char **names, *path;
  int n, error;

  PetscFunctionBeginUser;
  PetscCall(clear_names(&follow->fresh));
  PetscCall(rg_directory_list(follow->directory, &n, &names, &error));
  if (error != ENOENT) rg_fault_file(fault, follow->directory, "list", error, NULL, 0);
  follow->n_shards = 0;
  for (int i = 0; i < n; i++) {
    if (rg_shard_level(names[i]) < 0) continue;
    follow->n_shards++;
    if (contains(&follow->read, names[i])) continue;
    PetscCall(add_name(&follow->fresh, names[i]));
    PetscCall(rg_path_join(follow->directory, names[i], &path));
    const RgFileState state = rg_install_state(path);
    if (state.exists && changed(&state) >= follow->newest) {
      follow->newest = changed(&state);
      PetscCall(PetscFree(*newest));
      *newest = path;
    } else {
      PetscCall(PetscFree(path));
    }
  }
  PetscCall(rg_names_free(n, &names));
  PetscFunctionReturn(0);
}

/* The text of the study that a file is of, if it can be read. */
static PetscErrorCode read_study(RgFollow *follow, const RgContainer *container, bool *other)
{
  char *study = NULL;

  PetscFunctionBeginUser;
  PetscCall(rg_h5_read_text(container->file, rg_attributes[RG_ATTRIBUTE_STUDY].name, &study, NULL));
  *other = study && (!follow->study || strcmp(study, follow->study));
  if (*other) {
    PetscCall(PetscFree(follow->study));
    follow->study = study;
  } else {
    PetscCall(PetscFree(study));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode look_at_shard(RgFollow *follow, const char *path, bool *other)
{
  RgContainer container;
  RgFault damage = {0}; /* the reading will tell */

  PetscFunctionBeginUser;
  PetscCall(rg_shard_open(path, true, &container, &damage));
  if (!damage.code) PetscCall(read_study(follow, &container, other));
  PetscCall(rg_container_close(&container));
  PetscFunctionReturn(0);
}

/* A results file that was not there at the last look. study: it is what tells of the study. */
static PetscErrorCode look_at_results(RgFollow *follow, bool study, bool *other, RgFault *fault)
{
  RgContainer container;
  int64_t complete = 0;
  bool trailed;

  PetscFunctionBeginUser;
  PetscCall(rg_shard_open_results(follow->results, true, &container, &trailed, fault));
  if (!fault->code) {
    rg_h5_read_integer(container.file, rg_attributes[RG_ATTRIBUTE_COMPLETE].name, &complete);
    if (study) PetscCall(read_study(follow, &container, other));
  }
  if (fault->code == RG_FAULT_VANISHED) *fault = (RgFault){0};
  rg_store_judge(fault);
  PetscCall(rg_container_close(&container));
  follow->packed_is_fresh = true;
  follow->packed_is_complete = complete != 0;
  PetscFunctionReturn(0);
}

/* It is another study by now: all that was read is to be read with it. */
static PetscErrorCode start_again(RgFollow *follow, char **newest, RgFault *fault)
{
  PetscFunctionBeginUser;
  PetscCall(clear_names(&follow->read));
  PetscCall(list_shards(follow, newest, fault));
  follow->packed_is_fresh = follow->packed.exists;
  follow->n_damaged = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_follow_look(RgFollow *follow, bool *other, RgFault *fault)
{
  char *newest = NULL;

  PetscFunctionBeginUser;
  *fault = (RgFault){0};
  *other = false;
  const RgFileState packed = rg_install_state(follow->results);
  const bool replaced =
    packed.exists && !S_ISDIR(packed.status.st_mode) && !rg_install_same(&packed, &follow->packed);
  PetscCall(list_shards(follow, &newest, fault));
  if (newest) PetscCall(look_at_shard(follow, newest, other));
  if (replaced) {
    const bool last = changed(&packed) >= follow->newest;
    bool another = false;
    follow->newest = last ? changed(&packed) : follow->newest;
    follow->packed = packed;
    PetscCall(look_at_results(follow, last || !follow->study, &another, fault));
    *other = *other || another;
  }
  follow->complete = follow->packed_is_complete && !follow->n_shards;
  if (*other) PetscCall(start_again(follow, &newest, fault));
  PetscCall(PetscFree(newest));
  PetscFunctionReturn(0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static PetscErrorCode read_records(RgFollow *follow, RgCursor *cursor, const RgFollower *follower,
                                   RgFault *fault)
{
  PetscFunctionBeginUser;
  while (rg_cursor_next(cursor, fault)) {
    RgFault damage = {0};
    bool wanted;
    PetscCall(follower->wanted(follower->closure, cursor->record, &wanted));
    if (!wanted) continue;
    PetscCall(rg_cursor_read(cursor, &damage));
    if (damage.code) follow->n_damaged++;
    else PetscCall(follower->visit(follower->closure, cursor->record));
  }
  PetscFunctionReturn(0);
}

/* shard: else the results file. */
static PetscErrorCode read_file(RgFollow *follow, const char *path, bool shard,
                                const RgFollower *follower)
{
  RgCursor cursor = {0};
  RgFault fault = {0};
  bool trailed;

  PetscFunctionBeginUser;
  if (shard) PetscCall(rg_shard_open(path, true, &cursor.container, &fault));
  else PetscCall(rg_shard_open_results(path, false, &cursor.container, &trailed, &fault));
  PetscCall(read_records(follow, &cursor, follower, &fault));
  if (fault.code && fault.code != RG_FAULT_VANISHED) follow->n_damaged++;
  PetscCall(rg_cursor_close(&cursor));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_follow_read(RgFollow *follow, const RgFollower *follower)
{
  char *path;

  PetscFunctionBeginUser;
  if (follow->packed_is_fresh) PetscCall(read_file(follow, follow->results, false, follower));
  follow->packed_is_fresh = false;
  for (int i = 0; i < follow->fresh.n; i++) {
    PetscCall(rg_path_join(follow->directory, follow->fresh.names[i], &path));
    PetscCall(read_file(follow, path, true, follower));
    PetscCall(PetscFree(path));
    PetscCall(add_name(&follow->read, follow->fresh.names[i]));
  }
  PetscCall(clear_names(&follow->fresh));
  if (follow->read.n)
    qsort(follow->read.names, (size_t)follow->read.n, sizeof(char *), compare_names);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_follow_close(RgFollow *follow)
{
  PetscFunctionBeginUser;
  PetscCall(clear_names(&follow->read));
  PetscCall(clear_names(&follow->fresh));
  PetscCall(RG_FREE(&follow->study, &follow->results, &follow->directory));
  *follow = (RgFollow){0};
  PetscFunctionReturn(0);
}
