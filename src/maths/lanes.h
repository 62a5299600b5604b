/* Vector types of GCC and clang for inner loops that must sum in the same order on every
   machine. A vector always has RG_VECTOR_BLOCK lanes, however many registers of LANES doubles
   that takes. A file that is compiled once per instruction set defines LANES before it includes
   this one. */
#ifndef RG_MATHS_LANES_H
#define RG_MATHS_LANES_H

#include "maths/vector.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define VECTORS (RG_VECTOR_BLOCK / LANES) /* vectors per block */

typedef double Vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* The sum over a block. */
INLINE double sum_block(const Vector *v)
{
  double s[RG_VECTOR_BLOCK];

  memcpy(s, v, sizeof s);
  for (int half = RG_VECTOR_BLOCK / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) s[l] += s[l + half];
  return s[0];
}

#endif
