/* BLAS and LAPACK in C. */
#ifndef RG_MATHS_BLAS_H
#define RG_MATHS_BLAS_H

#include "regatta/error.h"

#ifdef RG_MKL
#include <mkl_cblas.h>
#include <mkl_lapacke.h>
#else
#include <cblas.h>
#include <lapacke.h>
#endif

#undef I /* lapacke.h brings <complex.h>, whose one-letter macro is in the way of matrices */

/* Threads of BLAS; 1 when it can't be asked. */
int rg_blas_threads(void);
/* Set them; nothing happens when it can't be told. */
void rg_blas_set_threads(int n);
/* What BLAS says of its build, and the CPU type it computes for; "BLAS" and "unknown" when it says
   nothing. */
const char *rg_blas_config(void);
const char *rg_blas_core(void);

#endif
