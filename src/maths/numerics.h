/* The settings of a process that results depend on or that would end it: threads of BLAS, subnormal
   numbers, GSL's error handler. */
#ifndef RG_MATHS_NUMERICS_H
#define RG_MATHS_NUMERICS_H

#include <gsl/gsl_errno.h>

/* The settings before, to be set back. */
typedef struct {
  int blas_threads;
  unsigned fpu; /* x86: the control register; else 0 */
  gsl_error_handler_t *handler;
} RgNumerics;

/* What results are computed with: one thread of BLAS (their last bits depend on it); subnormal
   results and operands are zero in the calling thread (x86: tiny length scales make subnormal
   kernel values that double run times); GSL's errors are values (its default aborts).
   before: NULL: not wanted. */
void rg_numerics_set(RgNumerics *before);
void rg_numerics_restore(const RgNumerics *before);

#endif
