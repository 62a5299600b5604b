/* Heaps of keys with owners: the smallest key is on top, among equal keys that of the smallest
   owner. */
#ifndef RG_BASE_HEAP_H
#define RG_BASE_HEAP_H

#include <stdbool.h>

typedef struct {
  double key;
  int owner;
} RgHeapEntry;

/* Add an entry to a heap of *n entries, which has room for it. O(log n). */
void rg_heap_push(RgHeapEntry *heap, int *n, double key, int owner);
/* Restore the order after the key on top of n >= 1 entries has grown. O(log n). */
void rg_heap_sink(RgHeapEntry *heap, int n);
/* Remove the entry on top of *n >= 1 entries. O(log n). */
RgHeapEntry rg_heap_pop(RgHeapEntry *heap, int *n);

#endif
