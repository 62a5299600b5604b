/* The finished trials of a plan. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/store/evaluation_log.h"
#include "base/files.h"
#include "study/store/store_internal.h"

/* planned: whether the entry at each position of the index's order belongs to the plan. */
static PetscErrorCode mark_done(const RgIndex *index, const RgPlan *plan, unsigned char *done,
                                RgStoreScan *scan, bool *planned)
{
  char id[RG_ID_LENGTH + 1];
  int trial;

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

/* Move shards without a trial of the plan aside, so that other programs see only this study. */
static PetscErrorCode put_foreign_aside(const RgStore *store, const RgIndex *index,
                                        const bool *planned)
{
  PetscFunctionBeginUser;
  for (int s = 0; s < index->n_sources; s++) {
    const RgIndexSource *source = &index->sources[s];
    bool ours = source->results || source->inside == RG_FOLDER;
    for (int i = source->first; i < source->first + source->n && !ours; i++)
      ours = planned[rg_index_find(index, index->entries[i].id)];
    if (!ours)
      PetscCall(rg_shard_move(source->path, source->inside, store->directory, RG_FOLDER_FOREIGN));
  }
  PetscFunctionReturn(0);
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

/* Remove the evaluation logs of complete trials of a plan. */
static PetscErrorCode remove_logs(const RgStore *store, const RgIndex *index, const bool *planned)
{
  Finished finished = {index, planned};

  PetscFunctionBeginUser;
  PetscCall(rg_evaluation_logs_remove(store->directory, is_complete, &finished));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_store_scan(RgStore *store, const RgPlan *plan, unsigned char *done,
                             RgStoreScan *scan, RgFault *fault)
{
  RgIndex index = {0};
  bool *planned;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(scan, sizeof(*scan)));
  PetscCall(PetscMemzero(done, (size_t)plan->n));
  PetscCall(rg_remove_stale_in(store->parent));
  store->looked = true;
  store->found = rg_install_state(store->output);
  PetscCall(rg_index_gather(store->directory, store->output, true, &index, &scan->n_bad, fault));
  if (!fault->code) {
    for (int s = 0; s < index.n_sources; s++) scan->n_shards += !index.sources[s].results;
    PetscCall(PetscCalloc1(index.n, &planned));
    PetscCall(mark_done(&index, plan, done, scan, planned));
    PetscCall(put_foreign_aside(store, &index, planned));
    PetscCall(remove_logs(store, &index, planned));
    PetscCall(PetscFree(planned));
  }
  if (!fault->code && scan->n_bad) {
    char last[512];
    memcpy(last, fault->message, sizeof(last));
    snprintf(fault->message, sizeof(fault->message),
             "%d damaged shard%s moved to %.150s/bad, their trials run again (%.200s)", scan->n_bad,
             scan->n_bad == 1 ? "" : "s", store->directory, last);
  }
  PetscCall(rg_index_clear(&index));
  PetscFunctionReturn(0);
}
