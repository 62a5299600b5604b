/* The loops for x86-64-v3 (AVX2 and FMA), chosen at run time; nothing elsewhere. */
#if defined(__AVX2__) && defined(__FMA__)
#define TILE_OPS rg_tiles_v3
#define LANES 4
#include "gp/kernel/tiles_body.h"
#else
typedef int RgNothing; /* a translation unit must not be empty */
#endif
