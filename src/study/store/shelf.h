/* The shelf: the small shards that the processes of one host have committed and not merged yet, in
   memory that they share. Each process puts its own shards into places of its own; whoever holds
   the shelf may merge those of all. Nobody ever waits: a shelf that another one holds is left
   alone, and a shard for which there is no place is not merged. */
#ifndef RG_STUDY_STORE_SHELF_H
#define RG_STUDY_STORE_SHELF_H

#include <stdatomic.h>

#include "study/hdf5/shard.h"

/* Of one process: 63 shards of each of four levels. */
enum { RG_SHELF_PLACES = 256 };

typedef struct {
  atomic_bool taken; /* by a shard: the rest is written before and not changed until it is free */
  int level;
  char name[RG_SHARD_NAME_MAX];
} RgShelfPlace;

typedef struct {
  atomic_bool held;
  int n; /* processes; their places stand behind one another */
  RgShelfPlace places[];
} RgShelf;

/* Bytes of a shelf for n processes. */
size_t rg_shelf_bytes(int n);
/* A shard in a place of process `who`. False: there is none. */
bool rg_shelf_put(RgShelf *shelf, int who, const char *name, int level);
/* False: another process holds it. To be released by whom it was held by. */
bool rg_shelf_hold(RgShelf *shelf);
void rg_shelf_release(RgShelf *shelf);
/* Of a shelf that is held: `wanted` shards of the lowest level that has so many. False: none. */
bool rg_shelf_choose(RgShelf *shelf, int wanted, RgShelfPlace **chosen);

#endif
