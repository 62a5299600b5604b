/* The loops for x86-64-v3 (AVX2, FMA), chosen at run time; nothing elsewhere. */
#if defined(__AVX2__) && defined(__FMA__)
#define VECTOR_OPS rg_vectors_v3
#define LANES 4
#include "maths/vector_body.h"
#else
typedef int RgNothing; /* a translation unit must not be empty */
#endif
