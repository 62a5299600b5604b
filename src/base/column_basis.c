#include "base/column_basis.h"

#include "base/blas.h"
#include "base/stream.h"

#define SKETCH 64 /* combinations at first; twice as many where they do not suffice */
#define MARGIN 8  /* combinations beyond the rank, for certainty */

/* Column of largest norm; ties: the first. */
static int longest_column(int n, int k, const double *F, double *norm)
{
  int best = 0;

  *norm = -1.0;
  for (int m = 0; m < k; ++m) {
    const double length = cblas_dnrm2(n, F + (size_t)m * n, 1);
    if (length > *norm) *norm = length, best = m;
  }
  return best;
}

/* Gram-Schmidt with column pivoting; F ends as what is left over. Each new direction is made
   orthogonal to the earlier ones once more. */
static int pivoted_gram_schmidt(int n, int k, double *F, double tolerance, double *Q)
{
  double first = 0.0, norm;
  int    rank;

  for (rank = 0; rank < PetscMin(n, k); ++rank) {
    const int pivot = longest_column(n, k, F, &norm);
    double   *q = Q + (size_t)rank * n;
    if (rank == 0) first = norm;
    if (norm <= tolerance * first) break;
    cblas_dcopy(n, F + (size_t)pivot * n, 1, q, 1);
    for (int j = 0; j < rank; ++j) {
      const double *earlier = Q + (size_t)j * n;
      cblas_daxpy(n, -cblas_ddot(n, earlier, 1, q, 1), earlier, 1, q, 1);
    }
    cblas_dscal(n, 1.0 / cblas_dnrm2(n, q, 1), q, 1);
    for (int m = 0; m < k; ++m) {
      double *f = F + (size_t)m * n;
      cblas_daxpy(n, -cblas_ddot(n, q, 1, f, 1), q, 1, f, 1);
    }
  }
  return rank;
}

/* signs (k x size): +-1. */
static void random_signs(int k, int size, double *signs)
{
  const RgStream stream = rg_stream(0, "column_basis", 0, "signs", 0);
  const size_t   total = (size_t)k * size;
  RgRandom       random = rg_stream_at(&stream, 0);

  for (size_t begin = 0; begin < total; begin += 64) {
    const uint64_t word = rg_random_word(&random);
    for (size_t i = begin; i < PetscMin(begin + 64, total); ++i)
      signs[i] = (word >> (i - begin)) & 1 ? 1.0 : -1.0;
  }
}

PetscErrorCode rg_column_basis(int n, int k, const double *F, double tolerance, double *Q,
                               int *rank)
{
  double *work, *signs;
  bool    sufficient = false;

  PetscFunctionBeginUser;
  for (int size = SKETCH; !sufficient && 2 * size <= k && size < n + MARGIN; size *= 2) {
    PetscCall(PetscMalloc2((size_t)n * size, &work, (size_t)k * size, &signs));
    random_signs(k, size, signs);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, size, k, 1.0, F, n, signs, k, 0.0,
                work, n);
    *rank = pivoted_gram_schmidt(n, size, work, tolerance, Q);
    sufficient = *rank + MARGIN <= size;
    PetscCall(PetscFree2(work, signs));
  }
  if (sufficient) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1((size_t)n * k, &work));
  PetscCall(PetscArraycpy(work, F, (size_t)n * k));
  *rank = pivoted_gram_schmidt(n, k, work, tolerance, Q);
  PetscCall(PetscFree(work));
  PetscFunctionReturn(0);
}
