/* Packing: writes all finished trials of a plan into one results file, in the order of the plan. */
#include "base/files.h"
#include "base/grow.h"
#include "study/store/evaluation_log.h"
#include "study/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RgFileState rg_install_state(const char *path)
{
  RgFileState state;

  return stat(path, &state) ? (RgFileState){0} : state;
}

/* Whether two states belong to the same unchanged file, or both to no file. */
static bool install_same(const RgFileState *a, const RgFileState *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Report that a path does not have the expected state any more. */
static void refuse_changed(const char *path, RgFault *fault)
{
  rg_fault_set(fault, RG_FAULT_INCOMPLETE, "another run changed %.400s meanwhile", path);
}

void rg_install_check(const char *path, const RgFileState *expected, RgFault *fault)
{
  const RgFileState now = rg_install_state(path);

  if (!install_same(&now, expected)) refuse_changed(path, fault);
}

/* rename() with a flag: exchange two files, or don't replace. */
#ifdef RG_HAVE_RENAMEAT2
#define RENAME(from, to, flag) renameat2(AT_FDCWD, from, AT_FDCWD, to, flag)
#else
#define RENAME(from, to, flag) (errno = ENOSYS, -1)
#endif

/* Exchange the two names, then check the file that came out. So another run's file is never
   overwritten unnoticed. */
static int exchange(const char *temporary, const char *path, const RgFileState *expected,
                    bool *changed)
{
  if (RENAME(temporary, path, RENAME_EXCHANGE)) return errno;
  const RgFileState displaced = rg_install_state(temporary);
  *changed = !install_same(&displaced, expected);
  if (*changed && RENAME(temporary, path, RENAME_EXCHANGE) && rename(temporary, path)) return errno;
  return 0;
}

/* Returns 0 or an errno. File systems without exchange and no-replace get a last check and a
   plain rename. */
static int place(const char *temporary, const char *path, const RgFileState *expected,
                 bool *changed)
{
  const RgFileState now = rg_install_state(path);
  const bool replaces = expected->st_ino != 0;
  int error = 0;

  *changed = !install_same(&now, expected);
  if (*changed) return 0;
  if (replaces) error = exchange(temporary, path, expected, changed);
  else if (RENAME(temporary, path, RENAME_NOREPLACE)) error = errno;
  if (error == (replaces ? ENOENT : EEXIST)) {
    *changed = true;
    return 0;
  }
  if (error != EINVAL && error != ENOSYS && error != EOPNOTSUPP) return error;
  return rename(temporary, path) ? errno : 0;
}

void rg_install(const char *temporary, const char *path, const char *directory,
                const RgFileState *expected, RgFault *fault)
{
  bool changed = false;
  const char *step = "rename";
  int error = place(temporary, path, expected, &changed);

  /* Remove the replaced file, or the file that could not be placed. */
  if (!changed || !error) (void)unlink(temporary);
  if (changed && !error) refuse_changed(path, fault);
  if (!error) { /* the name exists, but a power loss could still remove it */
    error = rg_directory_sync(directory);
    step = "sync the directory of";
  }
  rg_fault_file(fault, path, step, error, directory, 0);
}

/* planned: whether the entry at each position of the index's order belongs to the plan. */
static PetscErrorCode mark_done(const RgIndex *index, const RgPlan *plan, unsigned char *done,
                                RgStoreScan *scan, bool *planned)
{
  char id[RG_ID_LENGTH + 1];
  int trial;

  for (int at = 0; at < index->n; at++) {
    const RgIndexEntry *entry = &index->entries[index->order[at]];
    scan->generation = PetscMax(scan->generation, entry->generation);
    if (at && rg_same_hash(entry->id, index->entries[index->order[at - 1]].id)) continue;
    rg_hash_hex(entry->id, id);
    PetscCall(rg_plan_find(plan, id, &trial));
    planned[at] = trial >= 0;
    const bool aside = index->sources[entry->source].inside == RG_FOLDER;
    scan->n_foreign += trial < 0 && !entry->earlier && !aside;
    if (trial < 0) continue;
    done[trial] = (unsigned char)entry->status;
    scan->n_done++;
    scan->n_failed += entry->status == RG_STATUS_FAILED;
  }
  return 0;
}

/* Count the shards, and move those without a trial of the plan aside, so that other programs see
   only this study. */
static PetscErrorCode sort_shards(const RgStore *store, const RgIndex *index, const bool *planned,
                                  int *n_shards)
{
  for (int s = 0; s < index->n_sources; s++) {
    const RgIndexSource *source = &index->sources[s];
    bool ours = source->inside != RG_TOP;
    *n_shards += !rg_is_results(source);
    for (int i = source->first; i < source->first + source->n && !ours; i++)
      ours = planned[rg_index_find(index, index->entries[i].id)];
    if (!ours)
      PetscCall(rg_shard_move(source->path, source->inside, store->directory, RG_FOLDER_FOREIGN));
  }
  return 0;
}

typedef struct {
  const RgIndex *index;
  const bool *planned;
} Finished;

static bool is_complete(void *closure, const char *id)
{
  const Finished *finished = closure;
  uint64_t hash[2];
  const int at = rg_hash_parse(id, hash) ? rg_index_find(finished->index, hash) : -1;

  return at >= 0 && finished->planned[at] &&
         finished->index->entries[finished->index->order[at]].status == RG_STATUS_COMPLETE;
}

PetscErrorCode rg_store_scan(RgStore *store, const RgPlan *plan, unsigned char *done,
                             RgStoreScan *scan, RgFault *fault)
{
  RgIndex index = {0};
  bool *planned;

  PetscCall(PetscMemzero(scan, sizeof(*scan)));
  PetscCall(PetscMemzero(done, (size_t)plan->n));
  PetscCall(rg_remove_stale(store->parent, RG_ANYWHERE));
  store->scanned = true;
  store->found = rg_install_state(store->output);
  PetscCall(rg_index_gather(store->directory, store->output, true, &index, &scan->n_bad, fault));
  if (!fault->code) {
    PetscCall(PetscCalloc1(index.n, &planned));
    PetscCall(mark_done(&index, plan, done, scan, planned));
    PetscCall(sort_shards(store, &index, planned, &scan->n_shards));
    PetscCall(
      rg_evaluation_logs_remove(store->directory, is_complete, &(Finished){&index, planned}));
    PetscCall(PetscFree(planned));
  }
  if (!fault->code && scan->n_bad) {
    const RgFault last = *fault;
    snprintf(fault->message, sizeof(fault->message),
             "%d damaged shard%s moved to %.150s/bad, their trials run again (%.200s)", scan->n_bad,
             scan->n_bad == 1 ? "" : "s", store->directory, last.message);
  }
  return rg_index_clear(&index);
}

/* ---- who goes where -------------------------------------------------------------------------- */

/* Add the trials of the plan in order, group by group. *missing: number of missing trials. */
static PetscErrorCode add_planned(RgLayout *layout, const RgPlan *plan, int *missing)
{
  const RgIndex *index = layout->index;
  RgTrial trial;
  uint64_t id[2];

  *missing = 0;
  for (int g = 0; g < plan->n_groups; g++) {
    const RgPlanGroup *group = &plan->groups[g];
    PetscCall(rg_layout_add_group(layout, group->problem_label, false));
    for (int i = group->first; i < group->first + group->n; i++) {
      PetscCall(rg_plan_trial(plan, i, &trial));
      int at = rg_hash_parse(trial.id, id) ? rg_index_find(index, id) : -1;
      if (at < 0) (*missing)++;
      else PetscCall(rg_layout_add(layout, index->order[at]));
    }
  }
  return 0;
}

/* A trial of a results file outside the plan. */
typedef struct {
  int entry;         /* a failed trial may be complete elsewhere by now */
  const char *label; /* in the results file; borrowed */
} Leftover;

static int compare_leftovers(const void *a, const void *b, void *closure)
{
  const RgIndex *index = closure;
  const Leftover *left = a, *right = b;
  const int order = strcmp(left->label, right->label);

  return order ? order
               : rg_hash_compare(index->entries[left->entry].id, index->entries[right->entry].id);
}

/* Add the trials of an existing results file that left the plan, by label and id. */
static PetscErrorCode add_earlier(RgLayout *layout)
{
  const RgIndex *index = layout->index;
  const int source = rg_index_results(index);
  Leftover *left;
  int n = 0;

  if (source < 0) return 0;
  const RgIndexSource *from = &index->sources[source];
  PetscCall(PetscMalloc1(from->n, &left));
  for (int i = from->first; i < from->first + from->n; i++)
    if (layout->slot_of[index->preferred[i]] < 0)
      left[n++] = (Leftover){index->preferred[i], index->labels[index->entries[i].label]};
  if (n)
    PetscCall(PetscTimSort(n, left, sizeof(*left), compare_leftovers, (void *)(uintptr_t)index));
  for (int i = 0; i < n; i++) {
    if (i == 0 || strcmp(left[i].label, left[i - 1].label))
      PetscCall(rg_layout_add_group(layout, left[i].label, true));
    PetscCall(rg_layout_add(layout, left[i].entry));
  }
  return PetscFree(left);
}

/* ---- existing files -------------------------------------------------------------------------- */

/* Whether the results file equals what packing would write: same study, same trials. A file that
   another run wrote meanwhile (`raced`) also counts if it is complete and has our trials: it may
   belong to a longer study, which must not shrink. info: the description of the file. */
static PetscErrorCode is_up_to_date(const RgStore *store, const RgLayout *layout,
                                    const RgPlan *plan, bool raced, bool *same, RgStoreInfo *info,
                                    RgFault *fault)
{
  const char *text = store->study->text ? store->study->text : "";
  const int source = rg_index_results(layout->index);
  RgContainer container;
  int n_planned = 0;

  *same = false;
  if (source < 0) return 0;
  PetscCall(rg_index_open(layout->index, source, &container, fault));
  if (!fault->code) {
    PetscCall(rg_container_read_info(&container, info));
    rg_container_check(&container, fault);
    rg_fault_restate(fault, RG_FAULT_ERROR, store->output);
  }
  if (fault->code) fault->code = RG_FAULT_ERROR;
  PetscCall(rg_container_close(&container));
  *same = info->complete;
  for (int i = 0; i < layout->n; i++) { /* whether it is there, in a group of the right kind */
    const bool earlier = layout->groups[layout->slots[i].group].earlier;
    n_planned += !earlier;
    if (!earlier || !raced)
      *same = *same && rg_index_stands_in(layout->index, layout->slots[i].entry, source, earlier);
  }
  *same = *same && n_planned == plan->n;
  if (!raced) *same = *same && info->n_trials == plan->n && !strcmp(info->study, text);
  return 0;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* Whether a shard may be removed: each of its records is in the results file with the same
   checksum, or was replaced by a later one. */
static bool is_packed(const RgLayout *layout, int source)
{
  const RgIndex *index = layout->index;
  const RgIndexSource *shard = &index->sources[source];

  for (int i = shard->first; i < shard->first + shard->n; i++) {
    const RgIndexEntry *entry = &index->entries[i];
    int at = rg_index_find(index, entry->id);
    if (at < 0 || layout->slot_of[index->order[at]] < 0) return false;
    const RgIndexEntry *preferred = &index->entries[index->order[at]];
    if (entry->status == RG_STATUS_COMPLETE && rg_index_compare_ages(entry, preferred) <= 0 &&
        !rg_same_hash(preferred->checksum, entry->checksum))
      return false;
  }
  return true;
}

/* An existing results file may come from a process that died after the rename, before the
   directory was on the disk. */
static int make_durable(const RgStore *store)
{
  int fd = open(store->output, O_RDONLY | O_CLOEXEC), error;

  if (fd < 0) return errno;
  error = rg_file_sync(fd);
  (void)rg_file_close(fd); /* an error of close does not matter after a read */
  return error ? error : rg_directory_sync(store->parent);
}

/* Remove the optima. A later study searches again for those that it needs. Files of other names are
   not ours. */
static PetscErrorCode remove_optima(const RgStore *store)
{
  char *folder, *path, **names;
  int n, error;

  PetscCall(rg_path_join(store->directory, RG_FOLDER_OPTIMA, &folder));
  PetscCall(rg_directory_list(folder, RG_FOLDER, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    const bool optimum =
      strspn(names[i], "0123456789abcdef") == 32 && !strcmp(names[i] + 32, ".optimum");
    if (!optimum && !rg_file_is_stale(names[i])) continue;
    PetscCall(rg_path_join(folder, names[i], &path));
    (void)rg_inside_remove(path, RG_FOLDER, false);
    PetscCall(PetscFree(path));
  }
  (void)rg_inside_remove(folder, RG_TOP, true);
  PetscCall(rg_names_free(n, &names));
  return PetscFree(folder);
}

static PetscErrorCode remove_packed(const RgStore *store, const RgLayout *layout)
{
  char *foreign;

  for (int s = 0; s < layout->index->n_sources; s++) {
    const RgIndexSource *source = &layout->index->sources[s];
    if (rg_is_results(source)) continue;
    /* If the shard remains, it is a harmless duplicate. */
    if (is_packed(layout, s)) (void)rg_inside_remove(source->path, source->inside, false);
    else if (source->inside == RG_TOP)
      PetscCall(rg_shard_move(source->path, source->inside, store->directory, RG_FOLDER_FOREIGN));
  }
  PetscCall(remove_optima(store));
  PetscCall(rg_path_join(store->directory, RG_FOLDER_FOREIGN, &foreign));
  (void)rg_inside_remove(foreign, RG_TOP, true); /* succeeds only if they are empty */
  (void)rmdir(store->directory);
  return PetscFree(foreign);
}

/* ---- pack ------------------------------------------------------------------------------------ */

/* `before`: state of the results file when its trials were gathered. */
static PetscErrorCode pack_index(RgStore *store, const RgPlan *plan, const RgIndex *index,
                                 const RgFileState *before, RgFault *fault)
{
  const bool raced = store->scanned && !install_same(&store->found, before);
  RgLayout layout;
  RgStoreInfo found = {0}, info;
  char what[64];
  int missing;
  bool same = false;

  store->raced = store->raced || raced;
  PetscCall(rg_layout_create(index, plan->study, store->directory, &layout));
  PetscCall(add_planned(&layout, plan, &missing));
  if (missing)
    rg_fault_set(fault, RG_FAULT_INCOMPLETE, "%d of %d trials are missing", missing, plan->n);
  if (!fault->code) PetscCall(add_earlier(&layout));
  if (!fault->code) PetscCall(is_up_to_date(store, &layout, plan, raced, &same, &found, fault));
  if (!fault->code && !same) PetscCall(rg_layout_read(&layout, fault));
  if (!fault->code && !same) {
    snprintf(what, sizeof(what), "packed %d trials", plan->n);
    PetscCall(rg_store_info_create(store->study, &info));
    PetscCall(rg_history_line(found.history, what, &info.history));
    info.complete = true;
    PetscCall(
      rg_layout_write(&layout, &info, store->output, store->limits.image_bytes, before, fault));
    PetscCall(rg_store_info_clear(&info));
  } else if (!fault->code) {
    rg_fault_file(fault, store->output, "sync", make_durable(store), store->parent, 0);
    rg_install_check(store->output, before, fault);
  }
  if (!fault->code) PetscCall(remove_packed(store, &layout));
  PetscCall(rg_store_info_clear(&found));
  return rg_layout_destroy(&layout);
}

PetscErrorCode rg_store_pack(RgStore *store, const RgPlan *plan, RgFault *fault)
{
  for (int attempt = 0; attempt < 5; attempt++) { /* another run may pack at the same time */
    const RgFileState before = rg_install_state(store->output);
    RgIndex index = {0};
    int bad;
    PetscCall(rg_index_gather(store->directory, store->output, true, &index, &bad, fault));
    if (!fault->code) PetscCall(pack_index(store, plan, &index, &before, fault));
    PetscCall(rg_index_clear(&index));
    const RgFileState after = rg_install_state(store->output);
    const bool replaced = !install_same(&before, &after); /* while we read it */
    if (!fault->code || (fault->code != RG_FAULT_INCOMPLETE && !replaced)) break;
  }
  if (!fault->code) store->found = rg_install_state(store->output);
  return 0;
}
