/* Memory of one owner that is freed at once, in place of one PetscFree for each array. */
#ifndef RG_BASE_ARENA_H
#define RG_BASE_ARENA_H

#include "regatta/error.h"

#include <string.h>

/* Zeroed: empty. */
typedef struct {
  void *newest; /* each block begins with the address of the one before */
} RgArena;

/* Add an array of n zeroed entries, which lives as long as the arena; array: the address of the
   pointer. */
#define RG_ADD_ARRAY(arena, n, array)                                                              \
  rg_arena_add(arena, (size_t)(n) * sizeof(**(array)), (void *)(array))

static inline PetscErrorCode rg_arena_add(RgArena *arena, size_t bytes, void *array)
{
  enum { HEAD = 64 }; /* arrays begin where a cache line does, as far as the block does */
  char *block;

  PetscCall(PetscCalloc(HEAD + bytes, &block));
  memcpy(block, &arena->newest, sizeof(arena->newest));
  arena->newest = block;
  block += HEAD;
  memcpy(array, &block, sizeof(block));
  return 0;
}

/* Free all arrays. The arena is empty then. */
static inline PetscErrorCode rg_arena_destroy(RgArena *arena)
{
  while (arena->newest) {
    void *block = arena->newest;
    memcpy(&arena->newest, block, sizeof(block));
    PetscCall(PetscFree(block));
  }
  return 0;
}

#endif
