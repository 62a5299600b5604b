/* Joining of results files and study directories into one results file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/file/study_join.h"
#include "base/files.h"
#include "study/store/layout.h"

/* Merge the study of input i into `first`, or report the key that makes them different studies. */
static PetscErrorCode join_info(const char *const *inputs, int i, RgStoreInfo *first,
                                const RgStoreInfo *info, RgFault *fault)
{
  RgStudyDifference d = {.key = "study"};
  bool same = !strcmp(first->name, info->name);
  char *joined = NULL;

  PetscFunctionBeginUser;
  snprintf(d.first, sizeof(d.first), "'%.60s'", first->name);
  snprintf(d.second, sizeof(d.second), "'%.60s'", info->name);
  if (same && first->seed != info->seed) {
    same = false;
    snprintf(d.key, sizeof(d.key), "seed");
    snprintf(d.first, sizeof(d.first), "%llu", (unsigned long long)first->seed);
    snprintf(d.second, sizeof(d.second), "%llu", (unsigned long long)info->seed);
  }
  if (same) PetscCall(rg_study_join(first->study, info->study, &joined, &same, &d));
  if (!same)
    rg_fault_set(fault, RG_FAULT_FOREIGN,
                 "%.130s is of another study than %.130s: '%.100s' is %s, not %s", inputs[i],
                 inputs[0], d.key, d.second, d.first);
  if (joined) {
    PetscCall(PetscFree(first->study));
    first->study = joined;
  }
  PetscFunctionReturn(0);
}

/* Note shards beside a results file, from a run that extends it, unless they are an input too. */
static PetscErrorCode note_shards(int n, const char *const *inputs, const char *results,
                                  RgText *left_out)
{
  char *directory, *parent;
  const char *name;
  bool given = false;

  PetscFunctionBeginUser;
  PetscCall(rg_store_paths(results, &directory, &parent, &name));
  for (int i = 0; i < n; i++) given = given || !strcmp(inputs[i], directory);
  if (!given) PetscCall(rg_text_add(left_out, "%s%s", left_out->length ? ", " : "", directory));
  PetscCall(PetscFree(directory));
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(0);
}

/* The same file twice is a mistake: another part was meant. */
static PetscErrorCode find_repetition(int n, const char *const *inputs, RgFault *fault)
{
  struct stat *found;
  char *results, *directory;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(n, &found));
  for (int i = 0; i < n && !fault->code; i++) {
    PetscCall(rg_store_resolve(inputs[i], &results, &directory, fault));
    if (!fault->code && stat(results ? results : directory, &found[i])) found[i].st_ino = 0;
    PetscCall(PetscFree(results));
    PetscCall(PetscFree(directory));
    for (int j = 0; j < i && found[i].st_ino; j++)
      if (found[i].st_dev == found[j].st_dev && found[i].st_ino == found[j].st_ino)
        rg_fault_set(fault, RG_FAULT_FOREIGN, "%.250s is an input twice", inputs[i]);
  }
  PetscCall(PetscFree(found));
  PetscFunctionReturn(0);
}

/* Gather all inputs into one index. The first results file or shard describes the study. */
static PetscErrorCode gather_inputs(int n, const char *const *inputs, RgIndex *index,
                                    RgStoreInfo *first, RgText *left_out, RgFault *fault)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < n && !fault->code; i++) {
    RgStoreInfo info = {0};
    char *results = NULL, *directory = NULL;
    int bad = 0;
    PetscCall(rg_store_info(inputs[i], &info, fault));
    if (!fault->code) PetscCall(rg_store_resolve(inputs[i], &results, &directory, fault));
    if (!fault->code) PetscCall(rg_index_gather(directory, results, false, index, &bad, fault));
    if (results && info.n_shards) PetscCall(note_shards(n, inputs, results, left_out));
    PetscCall(PetscFree(results));
    PetscCall(PetscFree(directory));
    if (!fault->code && bad) fault->code = RG_FAULT_FOREIGN; /* the message names the shard */
    if (first->name && info.name && !fault->code)
      PetscCall(join_info(inputs, i, first, &info, fault));
    if (!first->name) *first = info;
    else PetscCall(rg_store_info_clear(&info));
  }
  PetscFunctionReturn(0);
}

/* Say how many trials are missing, and which is the first. */
static void say_missing(const RgPlan *plan, int missing, const RgTrial *first, RgFault *fault)
{
  const RgCell *cell = &plan->study->cells[first->cell];

  snprintf(
    fault->message, sizeof(fault->message),
    "%d of %d trials are missing; the first: %.80s on %.80s%s%.80s, seed %llu, instance %llu",
    missing, plan->n, cell->algorithm_label, cell->problem_label, cell->swept[0] ? " with " : "",
    cell->swept, (unsigned long long)first->seed, (unsigned long long)first->instance);
}

/* Whether the output has every trial of the study; a message says what is missing. A study that
   this program can't plan (missing data files, unknown names) counts as incomplete, with a
   message. */
static PetscErrorCode find_complete(const char *path, const char *text, const RgIndex *index,
                                    bool *complete, RgFault *fault)
{
  RgDiagnostics diagnostics = {0};
  RgStudy study;
  RgPlan *plan;
  RgTrial trial, first = {0};
  uint64_t id[2];
  int missing = 0;

  PetscFunctionBeginUser;
  *complete = false;
  PetscCall(rg_study_parse(NULL, path, text, strlen(text), &study, &diagnostics));
  if (diagnostics.n == 0) {
    PetscCall(rg_plan_create(&study, &plan));
    for (int i = 0; i < plan->n; i++) {
      PetscCall(rg_plan_trial(plan, i, &trial));
      if (rg_hash_parse(trial.id, id) && rg_index_find(index, id) >= 0) continue;
      if (!missing++) first = trial;
    }
    *complete = plan->n > 0 && !missing;
    if (missing) say_missing(plan, missing, &first, fault);
    PetscCall(rg_plan_destroy(&plan));
  } else {
    snprintf(fault->message, sizeof(fault->message),
             "the study in %.150s can't be read here (%.250s): the output is not called complete",
             path, diagnostics.list[0].message);
  }
  PetscCall(rg_study_destroy(&study));
  PetscFunctionReturn(0);
}

/* The output must not exist; checked at the start, and again before the final rename. */
static bool is_absent(const char *output)
{
  struct stat found;

  return lstat(output, &found) != 0;
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

/* label: problem label of each entry, owned; NULL: not needed. */
static PetscErrorCode read_labels(const RgIndex *index, char **label, RgFault *fault)
{
  PetscFunctionBeginUser;
  for (int s = 0; s < index->n_sources && !fault->code; s++) {
    RgCursor cursor = {0};
    PetscCall(rg_index_open(index, s, &cursor.container, fault));
    while (rg_cursor_next(&cursor, fault)) {
      int entry = rg_index_taken(index, s, cursor.ordinal);
      if (entry == index->sources[s].first + cursor.ordinal)
        PetscCall(PetscStrallocpy(cursor.record->problem_label, &label[entry]));
    }
    if (cursor.block) rg_fault_judge(fault, RG_FAULT_ERROR, index->sources[s].path);
    else if (fault->code) fault->code = RG_FAULT_ERROR;
    PetscCall(rg_cursor_close(&cursor));
  }
  PetscFunctionReturn(0);
}

/* Order groups by first appearance of their label, and trials by the order of the inputs. */
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
                                   int n, const char *output, RgFault *fault)
{
  RgContainerInfo info = {.title = first->title,
                          .study_name = first->name,
                          .study = first->study,
                          .study_seed = first->seed,
                          .references = first->references,
                          .complete = complete};
  const RgFileState nothing = {0};
  RgLayout layout;
  char **label, *history = NULL, what[64];

  PetscFunctionBeginUser;
  for (int i = 0; i < RG_CREDITS; i++) info.credit[i] = first->credit[i];
  PetscCall(PetscCalloc1(index->n, &label));
  PetscCall(read_labels(index, label, fault));
  PetscCall(rg_layout_create(index, NULL, &layout));
  PetscCall(arrange(&layout, label));
  if (!fault->code) PetscCall(rg_layout_survey(&layout, fault));
  if (!fault->code) {
    snprintf(what, sizeof(what), "joined %d trials of %d files", layout.n, n);
    PetscCall(rg_history_line(first->history, what, &history));
    info.history = history;
    PetscCall(rg_layout_write(&layout, &info, output, 256 << 20, &nothing, fault));
  }
  PetscCall(rg_layout_destroy(&layout));
  PetscCall(PetscFree(history));
  for (int i = 0; i < index->n; i++) PetscCall(PetscFree(label[i]));
  PetscCall(PetscFree(label));
  PetscFunctionReturn(0);
}

/* Check that the output can be written, and remove remains of a killed merge. */
static PetscErrorCode prepare_output(const char *output, RgFault *fault)
{
  RgText mistake = {0};
  char *directory, *parent;
  const char *name;

  PetscFunctionBeginUser;
  PetscCall(rg_file_check_output(output, &mistake));
  if (!is_absent(output)) rg_fault_set(fault, RG_FAULT_FOREIGN, "%.400s exists already", output);
  else if (mistake.length) rg_fault_set(fault, RG_FAULT_FOREIGN, "%s", mistake.data);
  PetscCall(rg_text_clear(&mistake));
  if (fault->code) PetscFunctionReturn(0);
  PetscCall(rg_store_paths(output, &directory, &parent, &name));
  if (access(parent, W_OK | X_OK)) rg_fault_file(fault, output, "write", errno, parent, 0);
  else PetscCall(rg_remove_stale_in(parent));
  PetscCall(PetscFree(directory));
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_merge(int n, const char *const *inputs, const char *output, RgFault *fault)
{
  RgIndex index = {0};
  RgStoreInfo first = {0};
  RgText left_out = {0};
  bool complete = false;

  PetscFunctionBeginUser;
  *fault = (RgFault){0};
  PetscCall(prepare_output(output, fault));
  PetscCall(find_repetition(n, inputs, fault));
  if (fault->code) PetscFunctionReturn(0);
  PetscCall(gather_inputs(n, inputs, &index, &first, &left_out, fault));
  if (!fault->code) find_conflict(&index, fault);
  if (!fault->code && !index.n)
    rg_fault_set(fault, RG_FAULT_FOREIGN, "there are no trials to join in %.300s%s", inputs[0],
                 n > 1 ? " and the others" : "");
  if (!fault->code) PetscCall(find_complete(inputs[0], first.study, &index, &complete, fault));
  if (!fault->code) PetscCall(write_merged(&index, &first, complete, n, output, fault));
  const size_t used = strlen(fault->message);
  if (!fault->code && left_out.length)
    snprintf(fault->message + used, sizeof(fault->message) - used,
             "%sthe finished trials in %.150s were not joined: they are an input of their own",
             used ? "; " : "", left_out.data);
  PetscCall(rg_text_clear(&left_out));
  PetscCall(rg_store_info_clear(&first));
  PetscCall(rg_index_clear(&index));
  PetscFunctionReturn(0);
}
