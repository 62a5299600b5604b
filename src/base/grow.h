/* Arrays that grow by one entry at a time, and a macro that frees several arrays. */
#ifndef RG_BASE_GROW_H
#define RG_BASE_GROW_H

#include "regatta/error.h"

#include <string.h>

/* Make room for one more entry after the n entries of `array` (NULL at first, PetscFree at the
   end). An array of n entries has room for 8 or the next power of two, whichever is larger; no
   capacity is stored, and n may decrease in between. Appending is O(1) amortised. */
#define RG_GROW(n, array) rg_grow((size_t)(n), sizeof(*(array)), &(array))

/* Make room for an entry of `size` bytes; array: address of the pointer. */
static inline PetscErrorCode rg_grow(size_t n, size_t size, void *array)
{
  if (n && (n < 8 || n & (n - 1))) return 0;
  return PetscRealloc((n ? 2 * n : 8) * size, array);
}

/* PetscFree several arrays, in this order: RG_FREE(&s->x, &s->y, &s). Each argument is the
   address of a pointer, which becomes NULL. */
#define RG_FREE(...)                                                                               \
  rg_free_all((int)(sizeof((void *[]){__VA_ARGS__}) / sizeof(void *)), (void *[]){__VA_ARGS__})

static inline PetscErrorCode rg_free_all(int n, void *const *addresses)
{
  for (int i = 0; i < n; i++) {
    void *block;
    memcpy(&block, addresses[i], sizeof block);
    PetscCall(PetscFree(block));
    memset(addresses[i], 0, sizeof block);
  }
  return 0;
}

/* Make sure that *array, owned by the caller (NULL at first, PetscFree at the end), has room for
   `size` numbers. If *room is less, a new array of `wanted` >= size numbers replaces it. */
PetscErrorCode rg_room(size_t size, size_t wanted, size_t *room, double **array);

#endif
