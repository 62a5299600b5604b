/* The inverse of the factor, row by row or all at once. */
#include "gp/posterior/exact/exact.h"
#include "gp/posterior/exact/factor.h"
#include "maths/blas.h"

/* Zero the part that joins the padded inverse when row and column n begin a group of lanes. */
static void clear_border(RgPosterior *posterior, int n)
{
  size_t ld = (size_t)posterior->capacity, size = (size_t)(n + RG_LANES);
  double *X = posterior->inverse;

  for (size_t j = 0; j < size; j++) {
    size_t first = j < (size_t)n ? (size_t)n : 0;

    for (size_t i = first; i < size; i++) X[j * ld + i] = 0.0;
  }
}

/* Row n of the inverse from row n of the factor, (l', d): r' L = -l'/d. Solving with L, rather
   than multiplying by the inverse so far, keeps the error at that of a solve (see invert in
   tiles_body.h). */
static void append_row(RgPosterior *posterior, int n)
{
  size_t ld = (size_t)posterior->capacity;
  const double *L = posterior->L;
  double *X = posterior->inverse, *row = posterior->row;
  double inverse = 1.0 / L[n * ld + n];

  if (n % RG_LANES == 0) clear_border(posterior, n);
  for (int j = 0; j < n; j++) row[j] = -inverse * L[j * ld + n];
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, L, (int)ld, row, 1);
  for (int j = 0; j < n; j++) X[j * ld + n] = row[j];
  X[n * ld + n] = inverse;
}

PetscErrorCode rg_exact_invert(RgPosterior *posterior)
{
  size_t ld = (size_t)posterior->capacity;

  PetscFunctionBeginUser;
  PetscCheck(rg_posterior_has_factor(posterior), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The %s posterior has no factor to invert here", posterior->ops->name);
  if (!posterior->inverse) {
    PetscCall(PetscMalloc1(ld * ld, &posterior->inverse));
    posterior->n_inverse = 0;
  }
  /* One row costs n^2; all rows together cost n^3/3 and run several times faster. */
  if (posterior->n - posterior->n_inverse > PetscMax(4, posterior->n / 16)) {
    rg_factor_invert(posterior->n, posterior->L, posterior->capacity, posterior->inverse);
    posterior->n_inverse = posterior->n;
  }
  for (; posterior->n_inverse < posterior->n; posterior->n_inverse++) {
    append_row(posterior, posterior->n_inverse);
  }
  PetscFunctionReturn(0);
}
