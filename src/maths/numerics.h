/* Process settings that results depend on, or whose defaults would end the process: BLAS
   threads, subnormal numbers, GSL's error handler. */
#ifndef RG_MATHS_NUMERICS_H
#define RG_MATHS_NUMERICS_H

#include <gsl/gsl_errno.h>

/* The previous settings, for restoring them. */
typedef struct {
  int blas_threads;
  unsigned fpu; /* x86: the control register; else 0 */
  gsl_error_handler_t *handler;
} RgNumerics;

/* Set the process up for computing results: one BLAS thread (the last bits depend on it);
   subnormal results and operands are zero in the calling thread (x86: tiny length scales make
   subnormal kernel values, which double run times); GSL errors become return values (its default
   aborts). before: receives the previous settings; NULL: not wanted. */
void rg_numerics_set(RgNumerics *before);
void rg_numerics_restore(const RgNumerics *before);

#endif
