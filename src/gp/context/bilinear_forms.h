/* Many bilinear forms u_k' P w_k of a symmetric matrix P (r x r), for several P at once. Written
   as vectors of length r(r+1)/2, the forms of a smooth family span few dimensions, say s. So P
   is first reduced to s numbers, and every form is a combination of them. Internal to gp/. */
#ifndef RG_GP_CONTEXT_BILINEAR_FORMS_H
#define RG_GP_CONTEXT_BILINEAR_FORMS_H

#include "regatta/error.h"

typedef struct {
  int r, size, rank; /* number of forms, and dimensions they span */
  double *basis;     /* r(r+1)/2 x rank, orthonormal columns */
  double *combine;   /* rank x size: forms in terms of the basis */
  double *packed;    /* r(r+1)/2 x batch: lower triangles, column by column */
  double *reduced;   /* rank x batch */
} RgBilinearForms;

/* u_k, w_k: columns of U and W (r x size). The basis drops contributions below `tolerance`,
   relative to the longest form. batch: largest number of matrices at once. O(r^2 size) and one
   factorisation. */
PetscErrorCode rg_bilinear_forms_create(int r, int size, const double *U, const double *W,
                                        double tolerance, int batch, RgBilinearForms *forms);
PetscErrorCode rg_bilinear_forms_destroy(RgBilinearForms *forms);

/* Reduce J matrices P (r x r x J, lower triangles), then: values (count x J) = beta values + alpha
   u_k' P_j w_k of the forms k = first .. first + count - 1. */
void rg_bilinear_forms_reduce(RgBilinearForms *forms, int J, const double *P);
void rg_bilinear_forms_values(const RgBilinearForms *forms, int first, int count, int J,
                              double alpha, double beta, double *values);

/* The reverse pass. `bar` (count x J) holds the derivatives of a function by the values alpha
   u_k' P_j w_k. Set (beta = 0) or increase (beta = 1) the reduced derivatives; then compute G (r
   x r x J, lower triangles) such that the function changes by tr(G_j dP_j). */
void rg_bilinear_forms_pull(RgBilinearForms *forms, int first, int count, int J, double alpha,
                            double beta, const double *bar);
void rg_bilinear_forms_gradient(RgBilinearForms *forms, int J, double *G);

#endif
