/* What inner loops are written with that must sum in the same order on every machine: vector types
   of GCC and clang, always RG_VECTOR_BLOCK lanes, however many registers of LANES doubles they
   take. For files that are compiled once per instruction set; they define LANES before. */
#ifndef RG_MATHS_LANES_H
#define RG_MATHS_LANES_H

#include "maths/vector.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define VECTORS (RG_VECTOR_BLOCK / LANES) /* of a block */

typedef double Vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* The sum over a block. */
INLINE double sum_block(const Vector *v)
{
  double s[RG_VECTOR_BLOCK];

  memcpy(s, v, sizeof s);
  for (int half = RG_VECTOR_BLOCK / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; l++) s[l] += s[l + half];
  }
  return s[0];
}

#endif
