/* Threads of BLAS, subnormal numbers, GSL's error handler. */
#include "maths/numerics.h"

#include "maths/blas.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

/* Bits of the control register MXCSR: flush to zero, denormals are zero. */
enum { FLUSH = 0x8000 | 0x0040 };

static unsigned get_fpu(void)
{
  return _mm_getcsr();
}

static void set_fpu(unsigned value)
{
  _mm_setcsr(value);
}
#else
enum { FLUSH = 0 };

static unsigned get_fpu(void)
{
  return 0;
}

static void set_fpu(unsigned value)
{
  (void)value;
}
#endif

void rg_numerics_set(RgNumerics *before)
{
  RgNumerics found = {
    .blas_threads = rg_blas_threads(), .fpu = get_fpu(), .handler = gsl_set_error_handler_off()};

  rg_blas_set_threads(1);
  set_fpu(found.fpu | FLUSH);
  if (before) *before = found;
}

void rg_numerics_restore(const RgNumerics *before)
{
  rg_blas_set_threads(before->blas_threads);
  set_fpu(before->fpu);
  (void)gsl_set_error_handler(before->handler);
}
