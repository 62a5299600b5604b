/* Heaps of a number and whose it is: the least number on top, of equals that of the least owner. */
#ifndef RG_BASE_HEAP_H
#define RG_BASE_HEAP_H

#include <stdbool.h>

typedef struct {
  double key;
  int owner;
} RgHeapEntry;

/* Add an entry to a heap of *n, which has room for it. O(log n). */
void rg_heap_push(RgHeapEntry *heap, int *n, double key, int owner);
/* The key of the entry on top of n >= 1 has grown: it sinks to its place. O(log n). */
void rg_heap_sink(RgHeapEntry *heap, int n);
/* Take the entry on top of *n >= 1 away. O(log n). */
RgHeapEntry rg_heap_pop(RgHeapEntry *heap, int *n);

#endif
