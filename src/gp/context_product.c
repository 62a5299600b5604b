#include "gp/context_posterior_internal.h"
#include "gp/bilinear_forms.h"
#include "gp/posterior_internal.h"
#include "base/blas.h"
#include "base/column_basis.h"

#include <math.h>

#define RANK_TOLERANCE 1e-12 /* relative to the longest column of F: shorter rests drop */
#define FORMS_RANK 60        /* most r of reduced second moments: r^2/2 numbers a context */

/* All matrices column-major. n: data, r: rank, M: contexts, S: slope columns (n_slopes x dim_c). */
struct RgContextProduct {
  RgKernel left, right;
  int      n, rank, n_columns; /* n_columns = M + S */
  double  *x;     /* n x dim_x, row-major: inputs of the data */
  double  *Q;     /* n x r, orthonormal */
  double  *R;     /* r x n_columns: contexts, then slopes */
  double  *kx;    /* n x J, row-major: left kernel, data by designs */
  double  *T, *H; /* n x (r J) */
  double  *P;     /* r x r per design */
  double  *a;     /* r x J */
  double  *A;     /* n x J */
  double  *Y;     /* r x M; also the gathered columns of a gradient */
  double  *Z;     /* r x M */
  bool     reduced;
  RgBilinearForms forms; /* where reduced: R_m' P R_m, then R_m' P D_mk */
};

/* ---- F = Q R -------------------------------------------------------------------------------- */

/* F (n x (M + S)): right kernel between data and contexts, and its derivatives by the context. */
static PetscErrorCode right_matrix(const RgContextPosterior *cp, const RgKernel *right, int n,
                                   double *F)
{
  const RgPosterior *posterior = cp->posterior;
  int                M = cp->size, S = cp->n_slopes, dim = cp->dim_c;
  double            *row, *ones, *slope;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(M, &row, M, &ones, (size_t)M * dim, &slope));
  for (int m = 0; m < M; ++m) ones[m] = 1.0;
  for (int i = 0; i < n; ++i) {
    const double *c = posterior->X + (size_t)i * posterior->kernel.dim + cp->dim_x;
    PetscCall(rg_kernel_cross(right, 1, c, M, cp->contexts, row));
    for (int m = 0; m < M; ++m) F[(size_t)m * n + i] = row[m];
    if (S == 0) continue;
    PetscCall(rg_kernel_cross_gradient(right, 1, c, S, cp->contexts + (size_t)(M - S) * dim, ones,
                                       slope));
    for (int l = 0; l < S * dim; ++l) F[(size_t)(M + l) * n + i] = slope[l];
  }
  PetscCall(PetscFree3(row, ones, slope));
  PetscFunctionReturn(0);
}

static PetscErrorCode product_scratch(struct RgContextProduct *p, int dim_x, int M)
{
  size_t n = (size_t)p->n, r = (size_t)p->rank, J = RG_CONTEXT_BATCH;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(n * J, &p->kx, n * r * J, &p->T, n * r * J, &p->H, r * r * J, &p->P));
  PetscCall(PetscMalloc5(r * J, &p->a, n * J, &p->A, r * M, &p->Y, r * M, &p->Z, n * dim_x, &p->x));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_forms(RgContextPosterior *cp)
{
  struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes, dim = cp->dim_c, r = p->rank;
  double   *left;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)r * p->n_columns, &left));
  PetscCall(PetscArraycpy(left, p->R, (size_t)r * M));
  for (int l = 0; l < S * dim; ++l)
    PetscCall(PetscArraycpy(left + (size_t)(M + l) * r, p->R + (size_t)(M - S + l / dim) * r, r));
  PetscCall(rg_bilinear_forms_create(r, p->n_columns, left, p->R, RANK_TOLERANCE, RG_CONTEXT_BATCH,
                                     &p->forms));
  PetscCall(PetscFree(left));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_product_create(RgContextPosterior *cp)
{
  RgPosterior             *posterior = cp->posterior;
  struct RgContextProduct *p;
  double                  *F;
  size_t                   n = (size_t)posterior->n, columns;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&p));
  PetscCall(rg_kernel_split(&posterior->kernel, cp->dim_x, &p->left, &p->right, &cp->is_product));
  cp->is_product = cp->is_product && n > 0;
  cp->product = p;
  if (!cp->is_product) PetscFunctionReturn(0);
  rg_posterior_solve(posterior);
  PetscCall(rg_posterior_invert(posterior));
  p->n = posterior->n;
  p->n_columns = cp->size + cp->n_slopes * cp->dim_c;
  columns = (size_t)p->n_columns;
  PetscCall(PetscMalloc1(n * columns, &F));
  PetscCall(PetscMalloc1(n * n, &p->Q));
  PetscCall(right_matrix(cp, &p->right, p->n, F));
  PetscCall(rg_column_basis(p->n, p->n_columns, F, RANK_TOLERANCE, p->Q, &p->rank));
  PetscCall(PetscMalloc1((size_t)p->rank * columns, &p->R));
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, p->rank, p->n_columns, p->n, 1.0, p->Q, p->n,
              F, p->n, 0.0, p->R, p->rank);
  PetscCall(product_scratch(p, cp->dim_x, cp->size));
  for (size_t i = 0; i < n; ++i)
    PetscCall(PetscArraycpy(p->x + i * cp->dim_x, posterior->X + i * posterior->kernel.dim,
                            cp->dim_x));
  PetscCall(PetscFree(F));
  p->reduced = p->rank <= FORMS_RANK;
  if (p->reduced) PetscCall(create_forms(cp));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_product_destroy(RgContextPosterior *cp)
{
  struct RgContextProduct *p = cp->product;

  PetscFunctionBeginUser;
  if (!p) PetscFunctionReturn(0);
  PetscCall(rg_kernel_destroy(&p->left));
  PetscCall(rg_kernel_destroy(&p->right));
  if (p->Q) {
    PetscCall(PetscFree4(p->kx, p->T, p->H, p->P));
    PetscCall(PetscFree5(p->a, p->A, p->Y, p->Z, p->x));
    PetscCall(rg_bilinear_forms_destroy(&p->forms));
    PetscCall(PetscFree(p->R));
    PetscCall(PetscFree(p->Q));
  }
  PetscCall(PetscFree(cp->product));
  PetscFunctionReturn(0);
}

/* ---- moments --------------------------------------------------------------------------------- */

/* T = L^-1 diag(kx_j) Q and P = T'T of every design. */
static void design_matrices(const RgPosterior *posterior, struct RgContextProduct *p, int J)
{
  size_t n = (size_t)p->n, r = (size_t)p->rank;

  for (size_t j = 0; j < (size_t)J; ++j) {
    for (size_t q = 0; q < r; ++q) {
      double *column = p->T + (j * r + q) * n;
      for (size_t i = 0; i < n; ++i) column[i] = p->kx[i * J + j] * p->Q[q * n + i];
    }
  }
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p->n, p->rank * J,
              1.0, posterior->inverse, posterior->capacity, p->T, p->n);
  for (size_t j = 0; j < (size_t)J; ++j)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, p->rank, p->n, 1.0, p->T + j * r * n, p->n,
                0.0, p->P + j * r * r, p->rank);
}

/* Variances, and their slopes, from P: k(x,x) - R_m' P R_m and -2 R_m' P D_m. */
static void second_moments(const RgContextPosterior *cp, int j, RgContextMoments *moments)
{
  struct RgContextProduct *p = cp->product;
  int     M = cp->size, S = cp->n_slopes, dim = cp->dim_c, r = p->rank;
  double  prior = rg_kernel_diagonal(&cp->posterior->kernel);
  double *variance = moments->variance + (size_t)j * M;
  double *slope = moments->variance_slope + (size_t)j * S * dim;

  cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, r, M, 1.0, p->P + (size_t)j * r * r, r, p->R, r,
              0.0, p->Y, r);
  for (int m = 0; m < M; ++m)
    variance[m] =
      fmax(prior - cblas_ddot(r, p->Y + (size_t)m * r, 1, p->R + (size_t)m * r, 1), 0.0);
  for (int l = 0; l < S * dim; ++l) {
    const double *y = p->Y + (size_t)(M - S + l / dim) * r;
    slope[l] = -2.0 * cblas_ddot(r, y, 1, p->R + (size_t)(M + l) * r, 1);
  }
}

/* The same for all designs, where reduced. */
static void reduced_moments(const RgContextPosterior *cp, int J, RgContextMoments *moments)
{
  struct RgContextProduct *p = cp->product;
  const int    M = cp->size, S = cp->n_slopes * cp->dim_c;
  const double prior = rg_kernel_diagonal(&cp->posterior->kernel);

  for (int k = 0; k < J * M; ++k) moments->variance[k] = prior;
  rg_bilinear_forms_reduce(&p->forms, J, p->P);
  rg_bilinear_forms_values(&p->forms, 0, M, J, -1.0, 1.0, moments->variance);
  for (int k = 0; k < J * M; ++k)
    moments->variance[k] = moments->variance[k] > 0.0 ? moments->variance[k] : 0.0;
  if (S > 0) rg_bilinear_forms_values(&p->forms, M, S, J, -2.0, 0.0, moments->variance_slope);
}

PetscErrorCode rg_context_product_predict(RgContextPosterior *cp, int J, const double *X,
                                          RgContextMoments *moments)
{
  struct RgContextProduct *p = cp->product;
  const RgPosterior       *posterior = cp->posterior;
  int                      n = p->n, r = p->rank, M = cp->size, S = cp->n_slopes * cp->dim_c;

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_cross(&p->left, n, p->x, J, X, p->kx));
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < n; ++i)
      p->A[(size_t)j * n + i] = posterior->alpha[i] * p->kx[(size_t)i * J + j];
  }
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r, J, n, 1.0, p->Q, n, p->A, n, 0.0, p->a,
              r);
  for (int k = 0; k < J * M; ++k) moments->mean[k] = posterior->mean;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, M, J, r, 1.0, p->R, r, p->a, r, 1.0,
              moments->mean, M);
  if (S > 0)
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, S, J, r, 1.0, p->R + (size_t)M * r, r,
                p->a, r, 0.0, moments->mean_slope, S);
  design_matrices(posterior, p, J);
  if (p->reduced)
    reduced_moments(cp, J, moments);
  else
    for (int j = 0; j < J; ++j) second_moments(cp, j, moments);
  PetscFunctionReturn(0);
}

/* ---- gradient -------------------------------------------------------------------------------- */

/* weight = sym(W R'), such that tr(weight dP) is what a change dP of P does to the function;
   columns of W: -variance_bar_m R_m - 2 sum_k variance_slope_bar_mk D_mk, where they are not zero.
 */
static void gather_second(const RgContextPosterior *cp, int j, const RgContextMoments *bar,
                          double *weight)
{
  struct RgContextProduct *p = cp->product;
  int M = cp->size, S = cp->n_slopes, dim = cp->dim_c, r = p->rank, used = 0;

  for (int m = 0; m < M; ++m) {
    const double *slope = bar->variance_slope + ((size_t)j * S + (m - (M - S))) * dim;
    const double  plain = bar->variance[(size_t)j * M + m];
    double       *w = p->Y + (size_t)used * r;
    bool          any = plain != 0.0;
    for (int k = 0; m >= M - S && k < dim; ++k) any = any || slope[k] != 0.0;
    if (!any) continue;
    cblas_dcopy(r, p->R + (size_t)m * r, 1, p->Z + (size_t)used * r, 1);
    for (int q = 0; q < r; ++q) w[q] = -plain * p->R[(size_t)m * r + q];
    for (int k = 0; m >= M - S && k < dim; ++k)
      cblas_daxpy(r, -2.0 * slope[k], p->R + (size_t)(M + (m - (M - S)) * dim + k) * r, 1, w, 1);
    ++used;
  }
  cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, r, used, 0.5, p->Y, r, p->Z, r, 0.0, weight,
               r);
}

static void gather(const RgContextPosterior *cp, int J, const RgContextMoments *bar,
                   double *weight)
{
  struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes * cp->dim_c, r = p->rank;

  if (!p->reduced) {
    for (int j = 0; j < J; ++j) gather_second(cp, j, bar, weight + (size_t)j * r * r);
    return;
  }
  rg_bilinear_forms_pull(&p->forms, 0, M, J, -1.0, 0.0, bar->variance);
  if (S > 0) rg_bilinear_forms_pull(&p->forms, M, S, J, -2.0, 1.0, bar->variance_slope);
  rg_bilinear_forms_gradient(&p->forms, J, weight);
}

PetscErrorCode rg_context_product_gradient(RgContextPosterior *cp, int J, const double *X,
                                           const RgContextMoments *bar, double *G)
{
  struct RgContextProduct *p = cp->product;
  const RgPosterior       *posterior = cp->posterior;
  int                      n = p->n, r = p->rank, M = cp->size, S = cp->n_slopes * cp->dim_c;

  PetscFunctionBeginUser;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, J, M, 1.0, p->R, r, bar->mean, M, 0.0,
              p->a, r);
  if (S > 0)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, J, S, 1.0, p->R + (size_t)M * r, r,
                bar->mean_slope, S, 1.0, p->a, r);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, J, r, 1.0, p->Q, n, p->a, r, 0.0, p->A,
              n);
  gather(cp, J, bar, p->P); /* P itself is not needed any more */
  for (int j = 0; j < J; ++j) {
    const double *weight = p->P + (size_t)j * r * r;
    cblas_dsymm(CblasColMajor, CblasRight, CblasLower, n, r, 1.0, weight, r,
                p->T + (size_t)j * r * n, n, 0.0, p->H + (size_t)j * r * n, n);
  }
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, r * J, 1.0,
              posterior->inverse, posterior->capacity, p->H, n);
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int q = 0; q < r; ++q)
        sum += p->H[((size_t)j * r + q) * n + i] * p->Q[(size_t)q * n + i];
      p->kx[(size_t)i * J + j] = posterior->alpha[i] * p->A[(size_t)j * n + i] + 2.0 * sum;
    }
  }
  PetscCall(rg_kernel_cross_gradient(&p->left, n, p->x, J, X, p->kx, G));
  PetscFunctionReturn(0);
}
