/* The store: it opens, accepts records, commits them as shards and merges small shards. */
#include "study/store/store.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"
#include "study/file/study.h"
#include "study/store/evaluation_log.h"
#include "study/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Merge the study of input i into `first`, or report the key that makes them different studies. */
static PetscErrorCode join_info(const char *const *inputs, int i, RgStoreInfo *first,
                                const RgStoreInfo *info, RgFault *fault)
{
  RgStudyDifference d = {.key = "study"};
  bool same = false;
  char *joined = NULL;

  if (strcmp(first->name, info->name)) {
    snprintf(d.first, sizeof(d.first), "'%.60s'", first->name);
    snprintf(d.second, sizeof(d.second), "'%.60s'", info->name);
  } else if (first->seed != info->seed) {
    snprintf(d.key, sizeof(d.key), "seed");
    snprintf(d.first, sizeof(d.first), "%llu", (unsigned long long)first->seed);
    snprintf(d.second, sizeof(d.second), "%llu", (unsigned long long)info->seed);
  } else {
    PetscCall(rg_study_join(first->study, info->study, &joined, &same, &d));
  }
  if (!same)
    rg_fault_set(fault, RG_FAULT_FOREIGN,
                 "%.130s is of another study than %.130s: '%.100s' is %s, not %s", inputs[i],
                 inputs[0], d.key, d.second, d.first);
  if (joined) {
    PetscCall(PetscFree(first->study));
    first->study = joined;
  }
  return 0;
}

/* The same file twice is a mistake: another part was meant. O(n^2) comparisons. */
static PetscErrorCode find_repetition(int n, const char *const *inputs, RgFault *fault)
{
  struct stat *found; /* st_ino 0: not known */
  char *results, *directory;

  PetscCall(PetscCalloc1(n, &found));
  for (int i = 0; i < n && !fault->code; i++) {
    PetscCall(rg_store_resolve(inputs[i], &results, &directory, fault));
    if (fault->code || stat(results ? results : directory, &found[i])) found[i].st_ino = 0;
    PetscCall(RG_FREE(&results, &directory));
    for (int k = 0; k < i && found[i].st_ino; k++)
      if (found[k].st_ino == found[i].st_ino && found[k].st_dev == found[i].st_dev)
        rg_fault_set(fault, RG_FAULT_FOREIGN, "%.250s is an input twice", inputs[i]);
  }
  return PetscFree(found);
}

/* Gather all inputs into one index. The first results file or shard describes the study. left_out:
   the study directories beside results files, of runs that extend them, which are no inputs. */
static PetscErrorCode gather_inputs(int n, const char *const *inputs, RgIndex *index,
                                    RgStoreInfo *first, RgText *left_out, RgFault *fault)
{
  for (int i = 0; i < n && !fault->code; i++) {
    RgStoreInfo info = {0};
    char *results = NULL, *directory = NULL;
    int bad = 0;
    PetscCall(rg_store_info(inputs[i], &info, fault));
    if (!fault->code && info.archive_of[0])
      rg_fault_set(fault, RG_FAULT_FOREIGN,
                   "%.400s is an archive: join the results that it was made from", inputs[i]);
    if (!fault->code) PetscCall(rg_store_resolve(inputs[i], &results, &directory, fault));
    if (!fault->code) PetscCall(rg_index_add_files(directory, results, false, index, &bad, fault));
    if (results && info.n_shards) {
      bool given = false;
      PetscCall(rg_store_directory(results, &directory));
      for (int k = 0; k < n; k++) given = given || !strcmp(inputs[k], directory);
      if (!given) PetscCall(rg_text_add(left_out, "%s%s", left_out->length ? ", " : "", directory));
    }
    PetscCall(RG_FREE(&results, &directory));
    if (!fault->code && bad) fault->code = RG_FAULT_FOREIGN; /* the message names the shard */
    if (first->name && info.name && !fault->code)
      PetscCall(join_info(inputs, i, first, &info, fault));
    if (!first->name) *first = info;
    else PetscCall(rg_store_info_clear(&info));
  }
  if (!fault->code) PetscCall(rg_index_sort(index));
  return 0;
}

/* Note in the description whether the output has every trial of its study, and how many the study
   plans; a message says what is missing. A study that this program can't plan (missing data files,
   unknown names) counts as incomplete, with a message. *study: for the caller to destroy. *planned:
   whether it can be planned. */
static PetscErrorCode find_complete(const char *path, const RgIndex *index, RgStoreInfo *info,
                                    RgStudy *study, bool *planned, RgFault *fault)
{
  RgDiagnostics diagnostics = {0};
  RgPlan *plan;
  RgTrial trial, first = {0};
  uint64_t id[2];
  int missing = 0;

  info->complete = info->n_planned = 0;
  PetscCall(rg_study_parse_stored(NULL, path, info->study, false, study, &diagnostics));
  *planned = diagnostics.n == 0;
  if (!*planned) {
    snprintf(fault->message, sizeof(fault->message),
             "the study in %.150s can't be read here (%.290s): the output is not called complete",
             path, diagnostics.list[0].message);
    return 0;
  }
  PetscCall(rg_plan_create(study, &plan));
  for (int i = 0; i < plan->n; i++) {
    PetscCall(rg_plan_trial(plan, i, &trial));
    if (rg_hash_parse(trial.id, id) && rg_index_find(index, id) >= 0) continue;
    if (!missing++) first = trial;
  }
  info->n_planned = plan->n;
  info->complete = plan->n > 0 && !missing;
  if (missing) {
    const RgCell *cell = &study->cells[first.cell];
    snprintf(
      fault->message, sizeof(fault->message),
      "%d of %d trials are missing; the first: %.80s on %.80s%s%.80s, seed %llu, instance %llu",
      missing, plan->n, cell->algorithm_label, cell->problem_label, cell->swept[0] ? " with " : "",
      cell->swept, (unsigned long long)first.seed, (unsigned long long)first.instance);
  }
  return rg_plan_destroy(&plan);
}

/* Two complete records of one trial must agree; a complete record replaces a failed one. */
static void find_conflict(const RgIndex *index, RgFault *fault)
{
  for (int i = 1; i < index->n; i++) {
    const RgIndexEntry *a = &index->entries[index->order[i - 1]];
    const RgIndexEntry *b = &index->entries[index->order[i]];
    if (!rg_same_hash(a->id, b->id) || rg_same_hash(a->checksum, b->checksum)) continue;
    if (b->status != RG_STATUS_COMPLETE) continue; /* complete records come first */
    rg_fault_set(fault, RG_FAULT_FOREIGN, "trial %016llx%016llx differs between %.180s and %.180s",
                 (unsigned long long)a->id[1], (unsigned long long)a->id[0],
                 index->sources[a->source].path, index->sources[b->source].path);
    return;
  }
}

/* Order groups by first appearance of their label, and trials by the order of the inputs. Each
   group has a list of its entries. A group of trials that left the plan has the number of its label
   plus n_labels. */
static PetscErrorCode arrange(RgLayout *layout)
{
  const RgIndex *index = layout->index;
  const int most = 2 * index->n_labels;
  int *first, *last, *next, *order, n = 0;

  PetscCall(PetscMalloc4(most, &first, most, &last, index->n, &next, most, &order));
  for (int k = 0; k < most; k++) first[k] = -1;
  for (int i = 0; i < index->n; i++) {
    const RgIndexEntry *entry = &index->entries[i];
    const int group = entry->label + entry->earlier * index->n_labels;
    if (index->preferred[i] != i) continue;
    if (first[group] < 0) order[n++] = group;
    *(first[group] < 0 ? &first[group] : &next[last[group]]) = i;
    last[group] = i;
    next[i] = -1;
  }
  for (int k = 0; k < n; k++) {
    const int group = order[k];
    PetscCall(rg_layout_add_group(layout, index->labels[group % index->n_labels],
                                  group >= index->n_labels));
    for (int i = first[group]; i >= 0; i = next[i]) PetscCall(rg_layout_add(layout, i));
  }
  return PetscFree4(first, last, next, order);
}

/* info: the description of the study, which becomes that of the output. study: NULL if it can't be
   planned. */
static PetscErrorCode write_merged(const RgIndex *index, RgStoreInfo *info, const RgStudy *study,
                                   int n, const char *output, bool archive, RgFault *fault)
{
  const RgFileState nothing = {0};
  RgLayout layout;
  char *earlier = info->history, what[64];

  info->schema_version = RG_SCHEMA_VERSION;
  PetscCall(rg_layout_create(index, study, NULL, &layout));
  layout.archive = archive;
  PetscCall(arrange(&layout));
  PetscCall(rg_layout_read(&layout, fault));
  if (!fault->code) {
    snprintf(what, sizeof(what), "%s %d trials of %d file%s", archive ? "archived" : "joined",
             layout.n, n, n == 1 ? "" : "s");
    PetscCall(rg_history_line(earlier, what, &info->history));
    PetscCall(PetscFree(earlier));
    PetscCall(rg_layout_write(&layout, info, output, 256 << 20, &nothing, fault));
  }
  return rg_layout_destroy(&layout);
}

/* Check that the output can be written, and remove remains of a killed merge. */
static PetscErrorCode prepare_output(const char *output, RgFault *fault)
{
  RgText mistake = {0};
  struct stat found;
  char *parent;

  PetscCall(rg_file_check_output(output, &mistake));
  if (!lstat(output, &found))
    rg_fault_set(fault, RG_FAULT_FOREIGN, "%.400s exists already", output);
  else if (mistake.length) rg_fault_set(fault, RG_FAULT_FOREIGN, "%s", mistake.data);
  PetscCall(rg_text_clear(&mistake));
  if (fault->code) return 0;
  PetscCall(rg_store_parent(output, &parent));
  if (access(parent, W_OK | X_OK)) rg_fault_file(fault, output, "write", errno, parent, 0);
  else PetscCall(rg_remove_stale(parent, RG_ANYWHERE));
  return PetscFree(parent);
}

PetscErrorCode rg_store_merge(int n, const char *const *inputs, const char *output, bool archive,
                              RgFault *fault)
{
  RgIndex index = {0};
  RgStoreInfo first = {0};
  RgText left_out = {0};
  RgStudy study = {0};
  bool planned = false;

  *fault = (RgFault){0};
  PetscCall(prepare_output(output, fault));
  PetscCall(find_repetition(n, inputs, fault));
  if (fault->code) return 0;
  PetscCall(gather_inputs(n, inputs, &index, &first, &left_out, fault));
  if (!fault->code) find_conflict(&index, fault);
  if (!fault->code && !index.n)
    rg_fault_set(fault, RG_FAULT_FOREIGN, "there are no trials to join in %.300s%s", inputs[0],
                 n > 1 ? " and the others" : "");
  if (!fault->code) PetscCall(find_complete(inputs[0], &index, &first, &study, &planned, fault));
  if (!fault->code)
    PetscCall(write_merged(&index, &first, planned ? &study : NULL, n, output, archive, fault));
  const size_t used = strlen(fault->message);
  if (!fault->code && left_out.length)
    snprintf(fault->message + used, sizeof(fault->message) - used,
             "%sthe finished trials in %.150s were not joined: they are an input of their own",
             used ? "; " : "", left_out.data);
  PetscCall(rg_study_destroy(&study));
  PetscCall(rg_text_clear(&left_out));
  PetscCall(rg_store_info_clear(&first));
  return rg_index_clear(&index);
}

const RgStoreLimits rg_store_default_limits = {.group_bytes = 8 << 20,
                                               .group_seconds = 30,
                                               .long_seconds = 10,
                                               .compaction = 4,
                                               .compaction_bytes = 4 << 20,
                                               .image_bytes = 256 << 20};

/* ---- open and close -------------------------------------------------------------------------- */

PetscErrorCode rg_store_directory(const char *output, char **directory)
{
  const size_t size = strlen(output) + 3;

  PetscCall(PetscMalloc1(size, directory));
  snprintf(*directory, size, "%s.d", output);
  return 0;
}

PetscErrorCode rg_store_parent(const char *output, char **parent)
{
  const char *slash = strrchr(output, '/');

  PetscCall(PetscStrallocpy(slash ? output : ".", parent));
  if (slash) (*parent)[slash == output ? 1 : slash - output] = '\0';
  return 0;
}

/* Open a directory for locks of this open file description, which other descriptors of the process
   do not release; -1: no such directory. */
static int open_presence(const char *directory)
{
  return open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Lock a directory until the descriptor is closed; -1: no lock. */
static int begin_presence(const char *directory)
{
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  const int fd = open_presence(directory);

  if (fd < 0 || !fcntl(fd, F_OFD_SETLK, &lock)) return fd;
  (void)close(fd);
  return -1;
}

/* Whether another run holds a lock on the directory of a descriptor; false for -1. */
static bool are_others_present(int fd)
{
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

  return fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

bool rg_presence_any(const char *directory)
{
  const int fd = open_presence(directory);
  const bool any = are_others_present(fd);

  if (fd >= 0) (void)close(fd);
  return any;
}

/* The output path must hold a results file of this study, or nothing. */
static PetscErrorCode check_output(const RgStore *store, RgFault *fault)
{
  const char *ours = store->study->name ? store->study->name : "";
  RgContainer container;
  RgStoreInfo info = {0};
  bool trailed;

  PetscCall(rg_shard_open_results(store->output, true, &container, &trailed, fault));
  if (!fault->code) {
    PetscCall(rg_container_read_info(&container, &info));
    rg_fault_file(fault, store->output, "read", container.medium.error, NULL, 0);
    if (strcmp(info.name, ours))
      rg_fault_set(fault, RG_FAULT_FOREIGN,
                   "%.200s holds study '%.100s', not '%.100s': choose another output",
                   store->output, info.name, ours);
    if (info.archive_of[0])
      rg_fault_set(fault, RG_FAULT_FOREIGN,
                   "%.400s is an archive, which no run extends: choose another output",
                   store->output);
    PetscCall(rg_store_info_clear(&info));
  } else if (fault->code == RG_FAULT_VANISHED) {
    *fault = (RgFault){0};
  } else {
    rg_fault_adapt(fault);
  }
  return rg_container_close(&container);
}

/* A link in the study directory came with a copy of it, or was put there: nobody's run makes one.
   */
static PetscErrorCode check_links(const RgStore *store, RgFault *fault)
{
  struct stat found;
  char **names, *path;
  int n, error;

  PetscCall(rg_directory_list(store->directory, RG_TOP, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    PetscCall(rg_path_join(store->directory, names[i], &path));
    if (!rg_inside_stat(path, RG_TOP, &found) && S_ISLNK(found.st_mode))
      rg_fault_set(fault, RG_FAULT_FOREIGN, "%.400s is a symbolic link, and a run follows none",
                   path);
    PetscCall(PetscFree(path));
  }
  return rg_names_free(n, &names);
}

static void check_directory(const RgStore *store, RgFault *fault)
{
  struct stat parent;
  int error = stat(store->parent, &parent) ? errno : S_ISDIR(parent.st_mode) ? 0 : ENOTDIR;

  if (error == ENOENT || error == ENOTDIR || store->output[strlen(store->output) - 1] == '/') {
    rg_fault_set(fault, RG_FAULT_FOREIGN, "%.250s: there is no directory %.200s", store->output,
                 store->parent);
    return;
  }
  if (!error) error = rg_directory_create(store->directory);
  if (!error && access(store->directory, R_OK | W_OK | X_OK)) error = errno;
  if (!error && access(store->parent, W_OK | X_OK)) error = errno;
  if (error == ENOTDIR && !lstat(store->directory, &parent) && S_ISLNK(parent.st_mode))
    rg_fault_set(fault, RG_FAULT_FOREIGN, "%.400s is a symbolic link, and a run follows none",
                 store->directory);
  rg_fault_file(fault, store->directory, "use directory", error, store->parent, 0);
  if (error == EACCES || error == EPERM || error == EROFS || error == ENOTDIR)
    fault->code = RG_FAULT_FOREIGN;
}

PetscErrorCode rg_store_open(const char *output, const RgStudy *study, int rank, RgStore **store,
                             RgFault *fault)
{
  RgStore *new;

  *store = NULL;
  *fault = (RgFault){0};
  PetscCall(PetscCalloc1(1, &new));
  PetscCall(PetscStrallocpy(output, &new->output));
  PetscCall(rg_store_directory(output, &new->directory));
  PetscCall(rg_store_parent(output, &new->parent));
  PetscCall(rg_software_describe(&new->software));
  new->study = study;
  new->rank = rank;
  new->presence = -1;
  new->limits = rg_store_default_limits;
  /* A build for MPI calls MPI when it starts, which the guard of a run must not. */
  PetscCheck(H5open() >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "HDF5 does not start");
  if (rank == 0) {
    PetscCall(check_output(new, fault));
    if (!fault->code) check_directory(new, fault);
    if (!fault->code) PetscCall(check_links(new, fault));
    if (!fault->code) new->presence = begin_presence(new->directory);
  }
  if (fault->code) PetscCall(rg_store_close(&new));
  *store = new;
  return 0;
}

PetscErrorCode rg_store_close(RgStore **store)
{
  RgStore *s = *store;

  if (!s) return 0;
  if (s->presence >= 0) (void)close(s->presence);
  for (int i = 0; i < s->n; i++) PetscCall(rg_record_destroy(&s->pending[i].record));
  return RG_FREE(&s->pending, &s->small, &s->software, &s->parent, &s->directory, &s->output,
                 store);
}

bool rg_store_is_shared(const RgStore *store)
{
  return store->raced || are_others_present(store->presence);
}

double rg_store_spacing(int ranks)
{
  const double most = 400; /* commits per second of all ranks together */

  return ranks / most;
}

void rg_store_space(RgStore *store, int ranks)
{
  store->limits.spacing = rg_store_spacing(ranks);
  store->committed = rg_wall_seconds() - store->limits.spacing * store->rank / ranks;
}

bool rg_store_is_threadsafe(void)
{
  hbool_t safe = false;

  return H5is_library_threadsafe(&safe) >= 0 && safe;
}

PetscErrorCode rg_store_pending(const RgStore *store, int *n, size_t *bytes, double *troubled)
{
  *n = store->n;
  *bytes = store->bytes;
  *troubled = store->troubled_since > 0 ? rg_wall_seconds() - store->troubled_since : 0;
  return 0;
}

/* ---- commit ---------------------------------------------------------------------------------- */

/* Add a new shard, if it is small, to those that a later merge joins. */
static PetscErrorCode add_small(RgStore *store, const char *name, int level, size_t bytes)
{
  const RgStoreLimits *limits = &store->limits;

  if (limits->compaction < 2 || bytes > limits->compaction_bytes / (size_t)limits->compaction)
    return 0;
  PetscCall(RG_GROW(store->n_small, store->small));
  RgSmallShard *small = &store->small[store->n_small++];
  small->level = level;
  return PetscStrncpy(small->name, name, RG_SHARD_NAME_MAX);
}

/* Commit n records as one shard. */
static PetscErrorCode commit_shard(RgStore *store, int level, int n, RgRecord *const *records,
                                   char name[RG_SHARD_NAME_MAX], size_t *length, RgFault *fault)
{
  unsigned char *bytes;

  PetscCall(rg_shard_build(store->study, level, n, records, &bytes, length, name, fault));
  if (fault->code) {
    char where[200];
    snprintf(where, sizeof(where), "cannot build a shard for %.150s", store->directory);
    rg_fault_restate(fault, RG_FAULT_ERROR, where);
    return 0;
  }
  PetscCall(rg_file_commit(store->directory, RG_TOP, name, bytes, *length, fault));
  if (fault->error == ENOENT && !rg_directory_create(store->directory)) {
    *fault = (RgFault){0};
    PetscCall(rg_file_commit(store->directory, RG_TOP, name, bytes, *length, fault));
  }
  return PetscFree(bytes);
}

typedef struct {
  int n;
  const RgUnsaved *pending;
} Group;

/* Whether a trial is complete. A failed trial may run again, so its log stays. */
static bool is_complete_in(void *closure, const char *id)
{
  const Group *group = closure;

  for (int i = 0; i < group->n; i++)
    if (!strcmp(group->pending[i].record.id, id))
      return group->pending[i].record.status == RG_STATUS_COMPLETE;
  return false;
}

/* Remove the first n pending records, which are on the disk, and their evaluation logs. */
static PetscErrorCode remove_pending(RgStore *store, int n)
{
  Group group = {n, store->pending};
  bool logged = false;

  for (int i = 0; i < n; i++) logged = logged || store->pending[i].record.logged;
  if (logged) PetscCall(rg_evaluation_logs_remove(store->directory, is_complete_in, &group));
  for (int i = 0; i < n; i++) {
    store->bytes -= rg_record_bytes(&store->pending[i].record);
    PetscCall(rg_record_destroy(&store->pending[i].record));
  }
  store->n -= n;
  store->urgent = store->urgent && store->n;
  memmove(store->pending, store->pending + n, (size_t)store->n * sizeof(*store->pending));
  return 0;
}

/* Commit one group: the oldest records that fit, at least one and at most *most. After the commit
   they leave the list. Where the disk is nearly full, *most becomes smaller until they fit. */
static PetscErrorCode commit_group(RgStore *store, int *most, RgFault *fault)
{
  RgRecord **records;
  char name[RG_SHARD_NAME_MAX];
  size_t length, bytes = 0;
  int n = 0;

  while (n < PetscMin(store->n, *most) && (n == 0 || bytes < store->limits.group_bytes))
    bytes += rg_record_bytes(&store->pending[n++].record);
  PetscCall(PetscMalloc1(n, &records));
  for (int i = 0; i < n; i++) records[i] = &store->pending[i].record;
  for (;; n = *most = n / 2) { /* a smaller one may fit */
    *fault = (RgFault){0};
    PetscCall(commit_shard(store, 0, n, records, name, &length, fault));
    if (n == 1 || (fault->code != RG_FAULT_FULL && fault->error != EFBIG)) break;
  }
  PetscCall(PetscFree(records));
  if (fault->code) return 0;
  PetscCall(add_small(store, name, 0, length));
  return remove_pending(store, n);
}

/* ---- compaction ------------------------------------------------------------------------------ */

/* Records gathered from several shards. */
typedef struct {
  int n;
  RgRecord **records; /* owned, and so is each record */
} Gathered;

/* Remove the last records until `n` are left. */
static PetscErrorCode reduce(Gathered *gathered, int n)
{
  while (gathered->n > n) {
    PetscCall(rg_record_destroy(gathered->records[--gathered->n]));
    PetscCall(PetscFree(gathered->records[gathered->n]));
  }
  return 0;
}

/* Gather all records of a shard, or none if it can't be read. */
static PetscErrorCode gather_shard(const RgStore *store, const char *name, Gathered *gathered)
{
  const int before = gathered->n;
  RgCursor cursor = {0};
  RgFault fault = {0};
  char *path;

  PetscCall(rg_path_join(store->directory, name, &path));
  PetscCall(rg_shard_open(path, RG_TOP, &cursor.container, &fault));
  PetscCall(PetscFree(path));
  while (rg_cursor_next(&cursor, &fault)) {
    PetscCall(rg_cursor_read(&cursor, &fault));
    if (fault.code) break;
    PetscCall(RG_GROW(gathered->n, gathered->records));
    PetscCall(PetscMalloc1(1, &gathered->records[gathered->n]));
    *gathered->records[gathered->n++] = *cursor.record;
    PetscCall(PetscMemzero(cursor.record, sizeof(*cursor.record)));
  }
  PetscCall(rg_cursor_close(&cursor));
  return fault.code ? reduce(gathered, before) : 0;
}

/* Merge the readable shards among *n shards of one level. `inputs` and *n are reduced to them. */
static PetscErrorCode merge_shards(RgStore *store, int *n, RgSmallShard *inputs, RgFault *fault)
{
  const int level = inputs[0].level + 1;
  Gathered gathered = {0};
  char name[RG_SHARD_NAME_MAX], *path;
  size_t length;
  int good = 0;

  for (int i = 0; i < *n; i++) { /* the next scan reports missing and damaged shards */
    const int before = gathered.n;
    PetscCall(gather_shard(store, inputs[i].name, &gathered));
    if (gathered.n > before) inputs[good++] = inputs[i];
  }
  *n = good;
  if (!gathered.n) return 0;
  PetscCall(commit_shard(store, level, gathered.n, gathered.records, name, &length, fault));
  if (!fault->code) PetscCall(add_small(store, name, level, length));
  for (int i = 0; i < *n && !fault->code; i++) {
    PetscCall(rg_path_join(store->directory, inputs[i].name, &path));
    (void)rg_inside_remove(path, RG_TOP, false); /* what remains is a harmless duplicate */
    PetscCall(PetscFree(path));
  }
  PetscCall(reduce(&gathered, 0));
  return PetscFree(gathered.records);
}

/* Move the first `wanted` small shards of a level into `chosen`, if there are enough. */
static bool find_small(RgStore *store, int level, int wanted, RgSmallShard *chosen)
{
  int n = 0, left = 0;

  for (int i = 0; i < store->n_small; i++) n += store->small[i].level == level;
  if (n < wanted) return false;
  n = 0;
  for (int i = 0; i < store->n_small; i++)
    if (store->small[i].level == level && n < wanted) chosen[n++] = store->small[i];
    else store->small[left++] = store->small[i];
  store->n_small = left;
  return true;
}

/* Merge this process's shards of a level when there are enough; failure is harmless. */
static PetscErrorCode compact(RgStore *store)
{
  const int wanted = store->limits.compaction;
  RgSmallShard *inputs;
  RgFault fault = {0};
  int n = wanted;

  if (n < 2 || store->n_small < n || rg_wall_seconds() < store->merge_at) return 0;
  PetscCall(PetscMalloc1(wanted, &inputs));
  for (int level = 0; !fault.code && find_small(store, level, wanted, inputs); level++) {
    n = wanted;
    PetscCall(merge_shards(store, &n, inputs, &fault));
  }
  if (fault.code) store->merge_at = rg_wall_seconds() + 60;
  for (int i = 0; fault.code && i < n; i++)
    PetscCall(add_small(store, inputs[i].name, inputs[i].level, 0));
  return PetscFree(inputs);
}

/* ---- add and flush --------------------------------------------------------------------------- */

/* Commit all pending records, then merge shards. After a failure the next attempt waits. */
static PetscErrorCode flush_all(RgStore *store, RgFault *fault)
{
  int most = store->n;

  while (store->n > 0 && !fault->code) PetscCall(commit_group(store, &most, fault));
  const double now = rg_wall_seconds();
  if (!fault->code) {
    store->pause = store->troubled_since = store->retry_at = 0;
    store->committed = now;
    return compact(store);
  }
  if (store->troubled_since <= 0) store->troubled_since = now;
  store->pause = fmin(60, fmax(1, 2 * store->pause));
  store->retry_at = now + store->pause;
  return 0;
}

PetscErrorCode rg_store_flush_ahead(RgStore *store, double likely, double possible, RgFault *fault)
{
  const RgStoreLimits *limits = &store->limits;
  const double now = rg_wall_seconds();

  *fault = (RgFault){0};
  if (!store->n || now < store->retry_at) return 0;
  const bool full = store->bytes >= limits->group_bytes;
  const bool due =
    full || store->urgent || now - store->pending[0].since + possible >= limits->group_seconds;
  const bool early = now + likely < store->committed + limits->spacing;
  if (due && (full || !early)) PetscCall(flush_all(store, fault));
  return 0;
}

PetscErrorCode rg_store_flush(RgStore *store, bool now, RgFault *fault)
{
  *fault = (RgFault){0};
  if (!now) PetscCall(rg_store_flush_ahead(store, 0, 0, fault));
  else if (store->n) PetscCall(flush_all(store, fault));
  return 0;
}

PetscErrorCode rg_store_add(RgStore *store, RgRecord *record, RgFault *fault)
{
  PetscCall(RG_GROW(store->n, store->pending));
  if (!record->provenance.software)
    PetscCall(PetscStrallocpy(store->software, &record->provenance.software));
  if (fmax(record->provenance.wall, record->provenance.cpu) >= store->limits.long_seconds)
    store->urgent = true;
  store->bytes += rg_record_bytes(record);
  store->pending[store->n++] = (RgUnsaved){rg_wall_seconds(), *record};
  PetscCall(PetscMemzero(record, sizeof(*record)));
  return rg_store_flush(store, false, fault);
}
