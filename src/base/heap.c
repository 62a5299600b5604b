/* Binary heaps. */
#include "base/heap.h"

static bool is_before(const RgHeapEntry *a, const RgHeapEntry *b)
{
  return a->key < b->key || (a->key == b->key && a->owner < b->owner);
}

static void swap(RgHeapEntry *a, RgHeapEntry *b)
{
  const RgHeapEntry entry = *a;

  *a = *b;
  *b = entry;
}

void rg_heap_push(RgHeapEntry *heap, int *n, double key, int owner)
{
  int at = (*n)++;

  heap[at] = (RgHeapEntry){key, owner};
  for (; at && is_before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
    swap(&heap[at], &heap[(at - 1) / 2]);
}

void rg_heap_sink(RgHeapEntry *heap, int n)
{
  for (int at = 0, child = 1; child < n; at = child, child = 2 * at + 1) {
    if (child + 1 < n && is_before(&heap[child + 1], &heap[child])) child++;
    if (!is_before(&heap[child], &heap[at])) return;
    swap(&heap[child], &heap[at]);
  }
}

RgHeapEntry rg_heap_pop(RgHeapEntry *heap, int *n)
{
  const RgHeapEntry top = heap[0];

  heap[0] = heap[--*n];
  rg_heap_sink(heap, *n);
  return top;
}
