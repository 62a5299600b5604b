#include "maths/fpu.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

/* Bits of the control register MXCSR: flush to zero, denormals are zero. */
#define RG_MXCSR_FTZ 0x8000u
#define RG_MXCSR_DAZ 0x0040u

void rg_fpu_flush_subnormals(void)
{
  _mm_setcsr(_mm_getcsr() | RG_MXCSR_FTZ | RG_MXCSR_DAZ);
}
#else
void rg_fpu_flush_subnormals(void)
{
}
#endif
