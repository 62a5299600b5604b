/* The k best of a sequence, by insertion. */
#ifndef RG_ACQUISITION_RANKING_H
#define RG_ACQUISITION_RANKING_H

/* Insert i into `list`, which holds the `count` indices with the largest keys so far, largest
   first. Among equal keys the earlier index comes first. The list keeps at most `capacity`
   indices. Returns the new count. O(capacity). */
static inline int rg_ranking_insert(const double *key, int i, int count, int capacity, int *list)
{
  if (count == capacity && !(count && key[i] > key[list[count - 1]])) return count;
  int k = count < capacity ? count++ : count - 1;
  for (; k > 0 && key[i] > key[list[k - 1]]; k--) list[k] = list[k - 1];
  list[k] = i;
  return count;
}

#endif
