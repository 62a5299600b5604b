/* BLAS and LAPACK in C, and the number of threads they may use. */
#ifndef RG_BASE_BLAS_H
#define RG_BASE_BLAS_H

#include "base/core.h"

#include <cblas.h>
#include <lapacke.h>

#undef I /* lapacke.h brings <complex.h>, whose one-letter macro is in the way of matrices */

/* Threads that BLAS may use in this process, n >= 1 (OpenBLAS). Results depend on it in the last
   bits, so it is set once, before the first trial. */
void rg_blas_set_threads(int n);

#endif
