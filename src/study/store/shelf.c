/* Shelves: shards of several processes that one of them may merge. */
#include "study/store/shelf.h"

size_t rg_shelf_bytes(int n)
{
  return sizeof(RgShelf) + (size_t)n * RG_SHELF_PLACES * sizeof(RgShelfPlace);
}

bool rg_shelf_put(RgShelf *shelf, int who, const char *name, int level)
{
  RgShelfPlace *place = shelf->places + (size_t)who * RG_SHELF_PLACES;

  for (int i = 0; i < RG_SHELF_PLACES; i++, place++) {
    if (atomic_load(&place->taken)) continue;
    if (PetscStrncpy(place->name, name, sizeof(place->name))) return false;
    place->level = level;
    atomic_store(&place->taken, true);
    return true;
  }
  return false;
}

bool rg_shelf_hold(RgShelf *shelf)
{
  return !atomic_exchange(&shelf->held, true);
}

void rg_shelf_release(RgShelf *shelf)
{
  atomic_store(&shelf->held, false);
}

/* The first `wanted` shards of a level, and how many there are, but not more. */
static int find(RgShelf *shelf, int level, int wanted, RgShelfPlace **found, int *highest)
{
  int n = 0;

  for (int i = 0; i < shelf->n * RG_SHELF_PLACES && n < wanted; i++) {
    RgShelfPlace *place = &shelf->places[i];
    if (!atomic_load(&place->taken)) continue;
    *highest = PetscMax(*highest, place->level);
    if (place->level == level) found[n++] = place;
  }
  return n;
}

bool rg_shelf_choose(RgShelf *shelf, int wanted, RgShelfPlace **chosen)
{
  for (int level = 0, highest = 0; level <= highest; level++)
    if (find(shelf, level, wanted, chosen, &highest) == wanted) return true;
  return false;
}
