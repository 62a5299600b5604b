/* An orthonormal basis of the column space of a matrix, to a tolerance. */
#include "maths/column_basis.h"

#include "maths/blas.h"
#include "regatta/stream.h"

#define SKETCH 64    /* smallest number of combinations; doubled while it is too small */
#define MARGIN 8     /* combinations beyond the rank, as a safety margin */
#define REFRESH 1e-4 /* share of a squared norm below which updates are too inaccurate */

/* Squared norms of the residual columns. Every step updates them, and recomputes a norm once
   most of its column is gone. */
typedef struct {
  double *now, *fresh; /* k: the estimate, and the value when last recomputed */
  double *part;        /* k: coefficients of the newest direction */
} Norms;

static void compute_norm(int n, const double *F, int m, Norms *norms)
{
  const double *column = F + (size_t)m * n;

  norms->now[m] = norms->fresh[m] = cblas_ddot(n, column, 1, column, 1);
}

/* Gram-Schmidt with column pivoting; F becomes the residual. Each new direction is
   orthogonalised twice against the earlier ones. */
static PetscErrorCode basis_of(int n, int k, double *F, double tolerance, double *Q, int *found)
{
  double first = 0.0;
  Norms norms;
  int rank;

  PetscCall(PetscMalloc3(k, &norms.now, k, &norms.fresh, PetscMax(n, k), &norms.part));
  for (int m = 0; m < k; m++) compute_norm(n, F, m, &norms);
  for (rank = 0; rank < PetscMin(n, k); rank++) {
    int pivot = 0; /* the column of largest norm; ties: the first */
    for (int m = 0; m < k; m++) {
      if (norms.now[m] < REFRESH * norms.fresh[m]) compute_norm(n, F, m, &norms);
      if (norms.now[m] > norms.now[pivot]) pivot = m;
    }
    double *q = Q + (size_t)rank * n;
    compute_norm(n, F, pivot, &norms);
    if (rank == 0) first = norms.now[pivot];
    if (norms.now[pivot] <= tolerance * tolerance * first) break;
    cblas_dcopy(n, F + (size_t)pivot * n, 1, q, 1);
    if (rank > 0) {
      cblas_dgemv(CblasColMajor, CblasTrans, n, rank, 1.0, Q, n, q, 1, 0.0, norms.part, 1);
      cblas_dgemv(CblasColMajor, CblasNoTrans, n, rank, -1.0, Q, n, norms.part, 1, 1.0, q, 1);
    }
    cblas_dscal(n, 1.0 / cblas_dnrm2(n, q, 1), q, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, n, k, 1.0, F, n, q, 1, 0.0, norms.part, 1);
    cblas_dger(CblasColMajor, n, k, -1.0, q, 1, norms.part, 1, F, n);
    for (int m = 0; m < k; m++) norms.now[m] -= norms.part[m] * norms.part[m];
  }
  *found = rank;
  return PetscFree3(norms.now, norms.fresh, norms.part);
}

PetscErrorCode rg_column_basis(int n, int k, const double *F, double tolerance, int guess,
                               double *Q, int *rank)
{
  double *work, *signs;
  bool sufficient = false;

  for (int size = PetscMax(SKETCH, guess + MARGIN);
       !sufficient && 2 * size <= k && size < n + MARGIN; size *= 2) {
    PetscCall(PetscMalloc2((size_t)n * size, &work, (size_t)k * size, &signs));
    /* signs (k x size): +-1 */
    static const double sign[] = {-1.0, 1.0};
    const RgStream stream = rg_stream(0, "column_basis", 0, "signs", 0);
    const size_t total = (size_t)k * size;
    RgRandom random = rg_stream_at(&stream, 0);
    for (size_t begin = 0; begin < total; begin += 64) {
      uint64_t word = rg_random_word(&random);
      for (size_t i = begin; i < PetscMin(begin + 64, total); i++, word >>= 1)
        signs[i] = sign[word & 1];
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, size, k, 1.0, F, n, signs, k, 0.0,
                work, n);
    PetscCall(basis_of(n, size, work, tolerance, Q, rank));
    sufficient = *rank + MARGIN <= size;
    PetscCall(PetscFree2(work, signs));
  }
  if (sufficient) return 0;
  PetscCall(PetscMalloc1((size_t)n * k, &work));
  PetscCall(PetscArraycpy(work, F, (size_t)n * k));
  PetscCall(basis_of(n, k, work, tolerance, Q, rank));
  return PetscFree(work);
}
