#include "maths/blas.h"

void rg_blas_set_threads(int n)
{
  openblas_set_num_threads(n);
}
