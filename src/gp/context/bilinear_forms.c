/* Bilinear forms, through a basis of the space that their vectors span. */
#include "gp/context/bilinear_forms.h"

#include "maths/blas.h"
#include "maths/column_basis.h"

static int packed_length(int r)
{
  return r * (r + 1) / 2;
}

/* Coefficients of u' P w in the lower triangle of P. */
static void pack_form(int r, const double *u, const double *w, double *form)
{
  for (int j = 0; j < r; j++) {
    *form++ = u[j] * w[j];
    for (int i = j + 1; i < r; i++) *form++ = u[i] * w[j] + u[j] * w[i];
  }
}

PetscErrorCode rg_bilinear_forms_create(int r, int size, const double *U, const double *W,
                                        double tolerance, int batch, RgBilinearForms *forms)
{
  const int h = packed_length(r);
  double *all;

  *forms = (RgBilinearForms){.r = r, .size = size};
  PetscCall(PetscMalloc1((size_t)h * size, &all));
  for (int k = 0; k < size; k++)
    pack_form(r, U + (size_t)k * r, W + (size_t)k * r, all + (size_t)k * h);
  PetscCall(PetscMalloc1((size_t)h * PetscMin(h, size), &forms->basis));
  PetscCall(rg_column_basis(h, size, all, tolerance, 2 * r, forms->basis, &forms->rank));
  PetscCall(PetscMalloc3((size_t)forms->rank * size, &forms->combine, (size_t)h * batch,
                         &forms->packed, (size_t)forms->rank * batch, &forms->reduced));
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, forms->rank, size, h, 1.0, forms->basis, h,
              all, h, 0.0, forms->combine, forms->rank);
  return PetscFree(all);
}

PetscErrorCode rg_bilinear_forms_destroy(RgBilinearForms *forms)
{
  PetscCall(PetscFree(forms->basis));
  return PetscFree3(forms->combine, forms->packed, forms->reduced);
}

void rg_bilinear_forms_reduce(RgBilinearForms *forms, int J, const double *P)
{
  const int r = forms->r, h = packed_length(r);

  for (int j = 0; j < J; j++) {
    double *packed = forms->packed + (size_t)j * h;
    for (int q = 0; q < r; q++) {
      for (int i = q; i < r; i++) *packed++ = P[((size_t)j * r + q) * r + i];
    }
  }
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, forms->rank, J, h, 1.0, forms->basis, h,
              forms->packed, h, 0.0, forms->reduced, forms->rank);
}

void rg_bilinear_forms_values(const RgBilinearForms *forms, int first, int count, int J,
                              double alpha, double beta, double *values)
{
  const int s = forms->rank;

  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, count, J, s, alpha,
              forms->combine + (size_t)first * s, s, forms->reduced, s, beta, values, count);
}

void rg_bilinear_forms_pull(RgBilinearForms *forms, int first, int count, int J, double alpha,
                            double beta, const double *bar)
{
  const int s = forms->rank;

  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, s, J, count, alpha,
              forms->combine + (size_t)first * s, s, bar, count, beta, forms->reduced, s);
}

void rg_bilinear_forms_gradient(RgBilinearForms *forms, int J, double *G)
{
  const int r = forms->r, h = packed_length(r);

  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, h, J, forms->rank, 1.0, forms->basis, h,
              forms->reduced, forms->rank, 0.0, forms->packed, h);
  for (int j = 0; j < J; j++) {
    const double *packed = forms->packed + (size_t)j * h;
    for (int q = 0; q < r; q++) {
      double *column = G + ((size_t)j * r + q) * r;
      column[q] = *packed++;
      /* An off-diagonal entry counts twice in the trace. */
      for (int i = q + 1; i < r; i++) column[i] = 0.5 * *packed++;
    }
  }
}
