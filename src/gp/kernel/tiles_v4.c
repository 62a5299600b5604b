/* The loops for x86-64-v4 (AVX-512), chosen at run time; nothing elsewhere. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define TILE_OPS rg_tiles_v4
#define LANES 8
#include "gp/kernel/tiles_body.h"
#else
typedef int RgNothing; /* a translation unit must not be empty */
#endif
