/* The loops for the instruction set that every machine of this kind has (128-bit vectors: SSE2,
   NEON), and the choice among those compiled in. */
#define TILE_OPS rg_tiles_base
#define LANES 2
#include "gp/kernel/tiles_body.h"

extern const RgTileOps rg_tiles_v3, rg_tiles_v4;
static const RgTileOps *const levels[] = RG_LEVELS(rg_tiles);

const RgTileOps *rg_tile_ops_at(int level)
{
  return level <= rg_vector_level() ? levels[level] : NULL;
}

const RgTileOps *rg_tile_ops(void)
{
  return levels[rg_vector_level()];
}
