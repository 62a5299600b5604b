/* BLAS and LAPACK in C, and the process settings that results depend on, or whose defaults would
   end the process: BLAS threads, subnormal numbers, GSL's error handler. */
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

#undef I /* <complex.h>, included by lapacke.h, defines it */

/* Number of BLAS threads; 1 when the library does not report it. */
int rg_blas_threads(void);
/* Set the number of BLAS threads. No effect when the library has no such call. */
void rg_blas_set_threads(int n);
/* BLAS's description of its build, and the CPU type it computes for; "BLAS" and "unknown" when
   the library does not report them. */
const char *rg_blas_config(void);
const char *rg_blas_core(void);

/* Whether this process could map `bytes` more: the limits of address space (`ulimit -v`, `ulimit
   -d`, h_vmem of batch systems) count all that a process maps. */
bool rg_blas_mappable(double bytes);
/* Make OpenBLAS map its buffer, before which it would wait without end where a limit leaves no
   room for it (OpenBLAS issue 5289). The text NULL: done. Otherwise what is wrong, in one line; no
   other function of BLAS may be called. more: bytes that are needed for other purposes. */
const char *rg_blas_start(double more);

/* The previous settings, for restoring them. */
typedef struct {
  int blas_threads;
  unsigned fpu; /* x86: the control register; else 0 */
  void (*handler)(const char *reason, const char *file, int line, int number); /* of GSL */
} RgNumerics;

/* Set the process up for computing results: one BLAS thread (the last bits depend on it);
   subnormal results and operands are zero in the calling thread (x86: tiny length scales make
   subnormal kernel values, which double run times); GSL errors become return values (its default
   aborts). before: receives the previous settings; NULL: not wanted. */
void rg_numerics_set(RgNumerics *before);
void rg_numerics_restore(const RgNumerics *before);

/* |a - b|^2 of points in `dim` coordinates. */
static inline double rg_squared_distance(int dim, const double *a, const double *b)
{
  double sum = 0.0;

  for (int k = 0; k < dim; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

#endif
