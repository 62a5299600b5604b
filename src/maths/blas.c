/* Queries and settings of OpenBLAS, with stand-ins for builds with another BLAS. */
#include "maths/blas.h"

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
