/* Queries and settings of OpenBLAS, with stand-ins for builds with another BLAS; subnormal numbers
   and GSL's error handler. */
#include "maths/blas.h"

#include <gsl/gsl_errno.h>
#include <sys/mman.h>

#ifndef RG_OPENBLAS
#define openblas_get_num_threads() 1
#define openblas_set_num_threads(n) ((void)(n))
#define openblas_get_config() "BLAS"
#define openblas_get_corename() "unknown"
#endif

#if defined(__SSE2__)
#include <xmmintrin.h>

enum { FLUSH = 0x8000 | 0x0040 }; /* bits of MXCSR: flush to zero, denormals are zero */
#define GET_FPU() _mm_getcsr()
#define SET_FPU(value) _mm_setcsr(value)
#else
enum { FLUSH = 0 };
#define GET_FPU() 0u
#define SET_FPU(value) ((void)(value))
#endif

/* Bytes of a thread's buffer in OpenBLAS 0.3, on most processors. */
static const double buffer_bytes = 134217728;

bool rg_blas_mappable(double bytes)
{
  void *const place = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return place != MAP_FAILED && !munmap(place, (size_t)bytes);
}

const char *rg_blas_start(double more)
{
  static bool mapped;
  double one[4] = {1}, out[4];

  if (mapped) return NULL;
  if (!rg_blas_mappable(buffer_bytes + more))
    return "the limit of address space (ulimit -v, ulimit -d, h_vmem) leaves too little for BLAS "
           "and MPI; 'regatta plan' says how much a rank needs";
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, one, 2, one, 2, 0, out, 2);
  mapped = true;
  return NULL;
}

int rg_blas_threads(void)
{
  return openblas_get_num_threads();
}

void rg_blas_set_threads(int n)
{
  openblas_set_num_threads(n);
}

const char *rg_blas_config(void)
{
  return openblas_get_config();
}

const char *rg_blas_core(void)
{
  return openblas_get_corename();
}

/* ---- process settings ------------------------------------------------------------------------ */

void rg_numerics_set(RgNumerics *before)
{
  RgNumerics found = {
    .blas_threads = rg_blas_threads(), .fpu = GET_FPU(), .handler = gsl_set_error_handler_off()};

  rg_blas_set_threads(1);
  SET_FPU(found.fpu | FLUSH);
  if (before) *before = found;
}

void rg_numerics_restore(const RgNumerics *before)
{
  rg_blas_set_threads(before->blas_threads);
  SET_FPU(before->fpu);
  (void)gsl_set_error_handler(before->handler);
}
