/* The state of the floating-point unit. */
#ifndef RG_BASE_FPU_H
#define RG_BASE_FPU_H

#include "base/core.h"

/* Flush subnormal results and operands to zero in the calling thread (x86: FTZ and DAZ; elsewhere
   nothing happens). Tiny length scales make subnormal kernel values that double run times. */
void rg_fpu_flush_subnormals(void);

#endif
