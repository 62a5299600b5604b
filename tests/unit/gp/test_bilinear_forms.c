/* Column bases and reduced bilinear forms, against direct computation. */
#include "gp_support.h"

#include "maths/blas.h"
#include "maths/column_basis.h"
#include "gp/context/bilinear_forms.h"

enum { ROWS = 60, COLUMNS = 400, R = 12, SIZE = 300, J = 3 };

/* F (ROWS x COLUMNS): a smooth kernel between points of [0, 1]; its rank is about 9. */
static void smooth_matrix(double *F)
{
  for (int m = 0; m < COLUMNS; m++)
    for (int i = 0; i < ROWS; i++) {
      const double r = (i / (ROWS - 1.0) - m / (COLUMNS - 1.0)) / 0.6;
      F[m * ROWS + i] = exp(-0.5 * r * r);
    }
}

/* Largest entry of F - Q Q'F, and of Q'Q - 1. */
static void check_basis(int n, int k, const double *F, const double *Q, int rank, double tolerance)
{
  double *rest, *parts;

  RG_OK(PetscMalloc2(n * k, &rest, rank * k, &parts));
  memcpy(rest, F, sizeof(double) * n * k);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, rank, k, n, 1.0, Q, n, F, n, 0.0, parts,
              rank);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, k, rank, -1.0, Q, n, parts, rank, 1.0,
              rest, n);
  for (int l = 0; l < n * k; l++) RG_CLOSE(1.0 + rest[l], 1.0, tolerance);
  for (int a = 0; a < rank; a++)
    for (int b = 0; b < rank; b++)
      RG_CLOSE(1.0 + cblas_ddot(n, Q + a * n, 1, Q + b * n, 1), 1.0 + (a == b), 1e-13);
  RG_OK(PetscFree2(rest, parts));
}

RG_TEST(basis_of_a_smooth_matrix)
{
  static double F[ROWS * COLUMNS], Q[ROWS * ROWS];
  int rank, coarse;

  smooth_matrix(F);
  RG_OK(rg_column_basis(ROWS, COLUMNS, F, 1e-12, 0, Q, &rank));
  assert_in_range(rank, 7, 12);
  check_basis(ROWS, COLUMNS, F, Q, rank, 1e-11);
  RG_OK(rg_column_basis(ROWS, COLUMNS, F, 1e-4, 0, Q, &coarse));
  assert_in_range(coarse, 2, rank - 3);
  check_basis(ROWS, COLUMNS, F, Q, coarse, 1e-2);
}

/* A rank beyond the first sketch, full rank, and zero columns. */
RG_TEST(basis_of_other_matrices)
{
  enum { N = 90, K = 300 };
  static double F[N * K], Q[N * N], few[N * 5];
  int rank;

  support_normals(1, N * K, F);
  RG_OK(rg_column_basis(N, K, F, 1e-12, 0, Q, &rank));
  assert_int_equal(rank, N);
  check_basis(N, K, F, Q, rank, 1e-11);
  support_normals(2, N * 5, few);
  RG_OK(rg_column_basis(N, 5, few, 1e-12, 0, Q, &rank));
  assert_int_equal(rank, 5);
  memset(F, 0, sizeof F);
  RG_OK(rg_column_basis(N, K, F, 1e-12, 0, Q, &rank));
  assert_int_equal(rank, 0);
}

typedef struct {
  double U[R * SIZE], W[R * SIZE], P[R * R * J];
} Forms;

/* Columns of smooth curves, so that the forms span less than r(r+1)/2 dimensions. */
static void smooth_forms(Forms *forms)
{
  support_normals(3, R * R * J, forms->P);
  for (int k = 0; k < SIZE; k++)
    for (int i = 0; i < R; i++) {
      const double r = k / (SIZE - 1.0) - i / (R - 1.0);
      forms->U[k * R + i] = exp(-r * r);
      forms->W[k * R + i] = k < SIZE / 2 ? exp(-r * r) : -2.0 * r * exp(-r * r);
    }
}

/* u' P w for a symmetric P; the lower triangle is given. */
static double direct_form(const double *P, const double *u, const double *w)
{
  double sum = 0.0;

  for (int a = 0; a < R; a++)
    for (int b = 0; b < R; b++) sum += u[a] * P[PetscMin(a, b) * R + PetscMax(a, b)] * w[b];
  return sum;
}

RG_TEST(forms_and_their_gradient)
{
  static Forms all;
  static double values[SIZE * J], bar[SIZE * J], G[R * R * J];
  RG_OWNED(rg_bilinear_forms_destroy) RgBilinearForms forms;
  const int half = SIZE / 2;

  smooth_forms(&all);
  RG_OK(rg_bilinear_forms_create(R, SIZE, all.U, all.W, 1e-12, J, &forms));
  assert_in_range(forms.rank, 10, R * (R + 1) / 2 - 20);
  rg_bilinear_forms_reduce(&forms, J, all.P);
  for (int k = 0; k < half * J; k++) values[k] = 2.0;
  rg_bilinear_forms_values(&forms, 0, half, J, -1.0, 1.0, values);
  rg_bilinear_forms_values(&forms, half, half, J, 3.0, 0.0, values + half * J);
  for (int j = 0; j < J; j++)
    for (int k = 0; k < half; k++) {
      const double *P = all.P + j * R * R;
      const int l = half + k;
      RG_CLOSE(values[j * half + k], 2.0 - direct_form(P, all.U + k * R, all.W + k * R), 1e-10);
      RG_CLOSE(values[half * J + j * half + k], 3.0 * direct_form(P, all.U + l * R, all.W + l * R),
               1e-10);
    }
  support_normals(4, SIZE * J, bar);
  rg_bilinear_forms_pull(&forms, 0, half, J, -1.0, 0.0, bar);
  rg_bilinear_forms_pull(&forms, half, half, J, 3.0, 1.0, bar + half * J);
  rg_bilinear_forms_gradient(&forms, J, G);
  for (int j = 0; j < J; j++) {
    double changed = 0.0, expected = 0.0, dP[R * R];
    support_normals(5 + j, R * R, dP);
    for (int b = 0; b < R; b++)
      for (int a = b; a < R; a++)
        changed += (a == b ? 1.0 : 2.0) * G[j * R * R + b * R + a] * dP[b * R + a];
    for (int k = 0; k < half; k++) {
      const int l = half + k;
      expected -= bar[j * half + k] * direct_form(dP, all.U + k * R, all.W + k * R);
      expected +=
        3.0 * bar[half * J + j * half + k] * direct_form(dP, all.U + l * R, all.W + l * R);
    }
    RG_CLOSE(changed, expected, 1e-9);
  }
}
