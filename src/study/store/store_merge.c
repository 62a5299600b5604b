#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "study/store/layout.h"

/* Gather all inputs into one index. The first results file or shard describes the study. */
static PetscErrorCode gather_inputs(int n, const char *const *inputs, RgIndex *index,
                                    RgStoreInfo *first, RgStoreStatus *status, char message[512])
{
  PetscFunctionBeginUser;
  for (int i = 0; i < n && *status == RG_STORE_OK; i++) {
    RgStoreInfo info = {0};
    int bad = 0;
    PetscCall(rg_store_info(inputs[i], &info, status, message));
    if (*status == RG_STORE_OK) {
      struct stat found;
      bool exists = !stat(inputs[i], &found);
      char *beside = NULL, *parent = NULL;
      const char *name;
      PetscCall(rg_store_paths(inputs[i], &beside, &parent, &name));
      PetscCall(rg_index_gather(!info.directory ? NULL
                                : exists        ? inputs[i]
                                                : beside,
                                info.directory ? NULL : inputs[i], false, index, &bad, status,
                                message));
      PetscCall(PetscFree(beside));
      PetscCall(PetscFree(parent));
    }
    if (*status == RG_STORE_OK && bad) *status = RG_STORE_FOREIGN; /* message names the shard */
    if (i == 0) *first = info;
    if (i > 0) PetscCall(rg_store_info_clear(&info));
  }
  PetscFunctionReturn(0);
}

/* Whether every trial of the first input's study is there. A study that this program can't read
   (data files that are not at hand, names it does not know) counts as incomplete. */
static PetscErrorCode find_complete(const char *path, const RgStoreInfo *first,
                                    const RgIndex *index, bool *complete)
{
  RgDiagnostics diagnostics = {0};
  RgStudy study;
  RgPlan plan;
  uint64_t id[2];

  PetscFunctionBeginUser;
  *complete = first->complete;
  if (*complete || !first->study) PetscFunctionReturn(0);
  PetscCall(rg_study_parse(path, first->study, strlen(first->study), &study, &diagnostics));
  if (diagnostics.n == 0) {
    PetscCall(rg_plan_create(&study, &plan));
    *complete = true;
    for (int i = 0; i < plan.n && *complete; i++)
      *complete = rg_hash_parse(plan.trials[i].id, id) && rg_index_find(index, id) >= 0;
    PetscCall(rg_plan_destroy(&plan));
  }
  PetscCall(rg_study_destroy(&study));
  PetscFunctionReturn(0);
}

/* The output must not exist: asked at the start and again right before the rename. */
static bool is_absent(const void *output)
{
  struct stat found;

  return lstat(output, &found) != 0;
}

/* Two complete records of one trial must agree; a failed one gives way. */
static void find_conflict(const RgIndex *index, RgStoreStatus *status, char message[512])
{
  for (int i = 1; i < index->n; i++) {
    const RgIndexEntry *a = &index->entries[index->order[i - 1]];
    const RgIndexEntry *b = &index->entries[index->order[i]];
    if (!rg_same_hash(a->id, b->id) || rg_same_hash(a->checksum, b->checksum)) continue;
    if (b->status != RG_STATUS_COMPLETE) continue; /* complete ones come first */
    *status = RG_STORE_FOREIGN;
    snprintf(message, 512, "trial %016llx%016llx differs between %.180s and %.180s",
             (unsigned long long)a->id[1], (unsigned long long)a->id[0],
             index->sources[a->source].path, index->sources[b->source].path);
    return;
  }
}

typedef struct {
  const RgIndex *index;
  int source;
  char **label; /* per entry, owned: problem label; NULL: not wanted */
} Labels;

static PetscErrorCode note_label(void *closure, RgGroup *group, int ordinal, int position,
                                 RgRecord *record, RgFailure *failure)
{
  Labels *labels = closure;
  int entry = labels->index->sources[labels->source].first + ordinal;
  int at = rg_index_find(labels->index, labels->index->entries[entry].id);

  PetscFunctionBeginUser;
  (void)group, (void)position, (void)failure;
  if (at >= 0 && labels->index->order[at] == entry)
    PetscCall(PetscStrallocpy(record->problem_label, &labels->label[entry]));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_labels(const RgIndex *index, char **label, RgStoreStatus *status,
                                  char message[512])
{
  Labels labels = {index, 0, label};

  PetscFunctionBeginUser;
  for (int s = 0; s < index->n_sources && *status == RG_STORE_OK; s++) {
    RgContainer container;
    RgSourceState state;
    RgFailure failure = {0};
    labels.source = s;
    PetscCall(rg_index_open(index, s, &container, &state, message));
    if (state == RG_SOURCE_OK)
      PetscCall(rg_container_walk(&container, note_label, &labels, &failure));
    PetscCall(rg_container_close(&container));
    if (failure.failed)
      snprintf(message, 512, "%.200s: %s", index->sources[s].path, failure.message);
    if (state != RG_SOURCE_OK || failure.failed) *status = RG_STORE_ERROR;
  }
  PetscFunctionReturn(0);
}

/* Groups by first appearance of their label; in each, trials in the order of the inputs. */
static PetscErrorCode arrange(RgLayout *layout, char **label)
{
  const RgIndex *index = layout->index;

  PetscFunctionBeginUser;
  for (int i = 0; i < index->n; i++) {
    if (!label[i] || layout->slot_of[i] >= 0) continue;
    PetscCall(rg_layout_add_group(layout, label[i], index->entries[i].earlier));
    for (int j = i; j < index->n; j++)
      if (label[j] && layout->slot_of[j] < 0 && !strcmp(label[j], label[i]) &&
          index->entries[j].earlier == index->entries[i].earlier)
        PetscCall(rg_layout_add(layout, j));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode write_merged(const RgIndex *index, const RgStoreInfo *first, bool complete,
                                   int n, const char *output, RgStoreStatus *status,
                                   char message[512])
{
  RgContainerInfo info = {.title = first->title,
                          .study_name = first->name,
                          .study = first->study,
                          .study_seed = first->seed,
                          .references = first->references,
                          .complete = complete};
  RgLayout layout;
  char **label, *history = NULL, what[64];

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(index->n, &label));
  PetscCall(read_labels(index, label, status, message));
  PetscCall(rg_layout_create(index, NULL, &layout));
  PetscCall(arrange(&layout, label));
  if (*status == RG_STORE_OK) PetscCall(rg_layout_survey(&layout, status, message));
  if (*status == RG_STORE_OK) {
    snprintf(what, sizeof(what), "joined %d trials of %d files", layout.n, n);
    PetscCall(rg_history_line(first->history, what, &history));
    info.history = history;
    PetscCall(
      rg_layout_write(&layout, &info, output, 256 << 20, is_absent, output, status, message));
  }
  PetscCall(rg_layout_destroy(&layout));
  PetscCall(PetscFree(history));
  for (int i = 0; i < index->n; i++) PetscCall(PetscFree(label[i]));
  PetscCall(PetscFree(label));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_merge(int n, const char *const *inputs, const char *output,
                              RgStoreStatus *status, char message[512])
{
  RgIndex index = {0};
  RgStoreInfo first = {0};
  bool complete = false;

  PetscFunctionBeginUser;
  *status = RG_STORE_OK;
  message[0] = '\0';
  if (!is_absent(output)) {
    *status = RG_STORE_FOREIGN;
    snprintf(message, 512, "%.400s exists already", output);
    PetscFunctionReturn(0);
  }
  PetscCall(gather_inputs(n, inputs, &index, &first, status, message));
  if (*status == RG_STORE_OK) find_conflict(&index, status, message);
  if (*status == RG_STORE_OK) PetscCall(find_complete(inputs[0], &first, &index, &complete));
  if (*status == RG_STORE_OK)
    PetscCall(write_merged(&index, &first, complete, n, output, status, message));
  PetscCall(rg_store_info_clear(&first));
  PetscCall(rg_index_clear(&index));
  PetscFunctionReturn(0);
}
