/* Queries and settings of OpenBLAS, with stand-ins for builds with another BLAS. */
#include "maths/blas.h"

#include <sys/mman.h>

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

#ifdef RG_OPENBLAS

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

#else

int rg_blas_threads(void)
{
  return 1;
}

void rg_blas_set_threads(int n)
{
  (void)n;
}

const char *rg_blas_config(void)
{
  return "BLAS";
}

const char *rg_blas_core(void)
{
  return "unknown";
}

#endif
