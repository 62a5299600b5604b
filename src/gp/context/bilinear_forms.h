/* Many bilinear forms u_k' P w_k of a symmetric matrix P (r x r), at several P at once. As vectors
   of length r(r+1)/2 the forms of a smooth family span few dimensions, say s: P is reduced to s
   numbers first, from which every form is a combination. Internal to gp/. */
#ifndef RG_GP_CONTEXT_BILINEAR_FORMS_H
#define RG_GP_CONTEXT_BILINEAR_FORMS_H

#include "regatta/error.h"

typedef struct {
  int r, size, rank; /* size forms, of rank dimensions */
  double *basis;     /* r(r+1)/2 x rank, orthonormal columns */
  double *combine;   /* rank x size: forms in terms of the basis */
  double *packed;    /* r(r+1)/2 x batch: lower triangles, column by column */
  double *reduced;   /* rank x batch */
} RgBilinearForms;

/* u_k, w_k: columns of U and W (r x size); what is left out is below `tolerance`, relative to the
   longest form. batch: most matrices at once. O(r^2 size) and a factorisation. */
PetscErrorCode rg_bilinear_forms_create(int r, int size, const double *U, const double *W,
                                        double tolerance, int batch, RgBilinearForms *forms);
PetscErrorCode rg_bilinear_forms_destroy(RgBilinearForms *forms);

/* Reduce J matrices P (r x r x J, lower triangles), then: values (count x J) = beta values + alpha
   u_k' P_j w_k of the forms k = first .. first + count - 1. */
void rg_bilinear_forms_reduce(RgBilinearForms *forms, int J, const double *P);
void rg_bilinear_forms_values(const RgBilinearForms *forms, int first, int count, int J,
                              double alpha, double beta, double *values);

/* The way back: with `bar` (count x J) the derivatives of a function by values alpha u_k' P_j w_k,
   the reduced derivatives are set (beta = 0) or added to (beta = 1); then G (r x r x J, lower
   triangles): the function changes by tr(G_j dP_j). */
void rg_bilinear_forms_pull(RgBilinearForms *forms, int first, int count, int J, double alpha,
                            double beta, const double *bar);
void rg_bilinear_forms_gradient(RgBilinearForms *forms, int J, double *G);

#endif
