#include "study/store/index.h"

#include <stdlib.h>
#include <string.h>

bool rg_hash_parse(const char *hex, uint64_t hash[2])
{
  hash[0] = hash[1] = 0;
  if (strspn(hex, "0123456789abcdef") != 32 || hex[32]) return false;
  for (int i = 0; i < 32; i++) {
    int digit = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;
    hash[i < 16] = hash[i < 16] << 4 | (uint64_t)digit;
  }
  return true;
}

static PetscErrorCode add_source(RgIndex *index, const char *path, bool results)
{
  PetscFunctionBeginUser;
  if (index->n_sources == index->source_capacity) {
    index->source_capacity = 2 * index->source_capacity + 64;
    PetscCall(
      PetscRealloc((size_t)index->source_capacity * sizeof(*index->sources), &index->sources));
  }
  RgIndexSource *source = &index->sources[index->n_sources++];
  PetscCall(PetscStrallocpy(path, &source->path));
  source->results = results;
  source->foreign = false;
  source->first = index->n;
  source->n = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode reserve(RgIndex *index, int more)
{
  PetscFunctionBeginUser;
  if (index->n + more <= index->capacity) PetscFunctionReturn(0);
  index->capacity = 2 * index->capacity + more;
  PetscCall(PetscRealloc((size_t)index->capacity * sizeof(*index->entries), &index->entries));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_group(RgIndex *index, RgGroup *group, RgFailure *failure)
{
  int n = group->shape->n, *status;
  char(*ids)[RG_ID_LENGTH + 1], (*checksums)[RG_ID_LENGTH + 1];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n, &ids, n, &checksums, n, &status));
  PetscCall(rg_group_read_identities(group, ids, checksums, status, failure));
  PetscCall(reserve(index, n));
  for (int i = 0; i < n && !failure->failed; i++) {
    RgIndexEntry *entry = &index->entries[index->n];
    entry->source = index->n_sources - 1;
    entry->earlier = group->shape->earlier;
    entry->status = (RgStatus)status[i];
    if (!rg_hash_parse(ids[i], entry->id) || !rg_hash_parse(checksums[i], entry->checksum) ||
        (status[i] != RG_STATUS_COMPLETE && status[i] != RG_STATUS_FAILED))
      rg_failure_set(failure, "trial %d of a group has no proper identity", i);
    index->n++;
  }
  PetscCall(PetscFree3(ids, checksums, status));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_index_add(RgIndex *index, const char *path, bool results,
                            const RgContainer *container, RgFailure *failure)
{
  RgGroup group;
  int before = index->n;

  PetscFunctionBeginUser;
  PetscCall(add_source(index, path, results));
  for (int s = 0; s < container->n && !failure->failed; s++) {
    PetscCall(rg_container_open_group(container, s, &group, failure));
    if (!failure->failed) PetscCall(add_group(index, &group, failure));
    PetscCall(rg_group_close(&group));
  }
  rg_container_check(container, failure);
  if (failure->failed) {
    index->n = before;
    index->n_sources--; /* PetscFree evaluates its argument twice */
    PetscCall(PetscFree(index->sources[index->n_sources].path));
  } else {
    index->sources[index->n_sources - 1].n = index->n - before;
  }
  PetscFunctionReturn(0);
}

static int compare_hashes(const uint64_t a[2], const uint64_t b[2])
{
  if (a[1] != b[1]) return a[1] < b[1] ? -1 : 1;
  return (a[0] > b[0]) - (a[0] < b[0]);
}

static int compare_entries(const void *left, const void *right, void *closure)
{
  const RgIndex *index = closure;
  int i = *(const int *)left, j = *(const int *)right;
  const RgIndexEntry *a = &index->entries[i], *b = &index->entries[j];
  int order = compare_hashes(a->id, b->id);

  if (!order) order = (a->status != RG_STATUS_COMPLETE) - (b->status != RG_STATUS_COMPLETE);
  if (!order) {
    order = index->sources[b->source].results - index->sources[a->source].results;
    if (a->status != RG_STATUS_COMPLETE) order = -order; /* a failure of a second try is news */
  }
  if (!order) order = compare_hashes(a->checksum, b->checksum);
  return order ? order : i - j;
}

PetscErrorCode rg_index_sort(RgIndex *index)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(index->order));
  PetscCall(PetscMalloc1(index->n, &index->order));
  for (int i = 0; i < index->n; i++) index->order[i] = i;
  if (index->n) qsort_r(index->order, (size_t)index->n, sizeof(int), compare_entries, index);
  PetscFunctionReturn(0);
}

int rg_index_find(const RgIndex *index, const uint64_t id[2])
{
  int low = 0, high = index->n;

  while (low < high) {
    int middle = low + (high - low) / 2;
    if (compare_hashes(index->entries[index->order[middle]].id, id) < 0) low = middle + 1;
    else high = middle;
  }
  if (low == index->n || !rg_same_hash(index->entries[index->order[low]].id, id)) return -1;
  return low;
}

PetscErrorCode rg_index_clear(RgIndex *index)
{
  PetscFunctionBeginUser;
  for (int s = 0; s < index->n_sources; s++) PetscCall(PetscFree(index->sources[s].path));
  PetscCall(PetscFree(index->sources));
  PetscCall(PetscFree(index->entries));
  PetscCall(PetscFree(index->order));
  PetscCall(PetscMemzero(index, sizeof(*index)));
  PetscFunctionReturn(0);
}
