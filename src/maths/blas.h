/* BLAS and LAPACK in C. */
#ifndef RG_BASE_BLAS_H
#define RG_BASE_BLAS_H

#include "regatta/error.h"

#include <cblas.h>
#include <lapacke.h>

#undef I /* lapacke.h brings <complex.h>, whose one-letter macro is in the way of matrices */

#endif
