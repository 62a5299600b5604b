/* The loops for the instruction set that every machine of this kind has (128-bit vectors: SSE2,
   NEON), and the choice among those compiled in. */
#define TILE_OPS rg_tiles_base
#define LANES 2
#include "gp/kernel/tiles_body.h"

#if defined(REGATTA_X86_LEVELS)
extern const RgTileOps rg_tiles_v3, rg_tiles_v4;

static bool has_v3(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_v4(void)
{
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

const RgTileOps *rg_tile_ops_at(int level)
{
#if defined(REGATTA_X86_LEVELS)
  if (level == 1) return has_v3() ? &rg_tiles_v3 : NULL;
  if (level == 2) return has_v4() ? &rg_tiles_v4 : NULL;
#endif
  return level == 0 ? &rg_tiles_base : NULL;
}

const RgTileOps *rg_tile_ops(void)
{
#if defined(REGATTA_X86_LEVELS)
  if (has_v4()) return &rg_tiles_v4;
  if (has_v3()) return &rg_tiles_v3;
#endif
  return &rg_tiles_base;
}
