/* The posterior at a list of contexts: the choice of a back end, and the code that both share. */
#include "gp/context/context_posterior.h"
#include "base/grow.h"
#include "gp/context/bilinear_forms.h"
#include "gp/posterior/exact/exact.h"
#include "gp/posterior/exact/nearby.h"
#include "maths/blas.h"
#include "maths/column_basis.h"

#include <math.h>

#define STEP 1e-5 /* step of the central differences in x, unit cube */
#define NEAR 1e-4 /* covariances below this share of k(x,x) count as zero (RG_CONTEXT_NEAR) */

/* Pairs (x, s_m) of as many designs as fit. */
struct RgContextPairs {
  RgPrediction work;
  RgNearby nearby;                                   /* with RG_CONTEXT_NEAR */
  int room;                                          /* pairs, at least M */
  double *Z;                                         /* room x dim */
  int *pair;                                         /* room: the pairs that have a derivative */
  double *one, *zero;                                /* room */
  double *gradient;                                  /* room x dim */
  double *mean, *variance, *mean_bar, *variance_bar; /* room */
  /* Number of designs whose pairs (all contexts) the last prediction kept for a gradient. */
  int current;
};

/* Methods of RgContextPosterior for kernels that are not a product: every pair (x, c) is a
   point. */
static PetscErrorCode context_pairs_create(RgContextPosterior *cp)
{
  struct RgContextPairs *p;
  const size_t M = (size_t)PetscMax(cp->size, RG_CONTEXT_TOGETHER);
  const size_t dim = (size_t)(cp->dim_x + cp->dim_c);

  PetscCall(PetscNew(&p));
  cp->pairs = p;
  p->room = (int)M;
  PetscCall(PetscMalloc6(M * dim, &p->Z, M, &p->one, M, &p->zero, M * dim, &p->gradient, M,
                         &p->mean, M, &p->variance));
  PetscCall(PetscMalloc3(M, &p->mean_bar, M, &p->variance_bar, M, &p->pair));
  for (size_t m = 0; m < M; m++) {
    p->one[m] = 1.0;
    p->zero[m] = 0.0;
  }
  if (cp->form == RG_CONTEXT_NEAR) PetscCall(rg_nearby_create(cp->posterior, NEAR, &p->nearby));
  return 0;
}

/* Pairs of J designs with `count` contexts, design after design. */
static void fill_pairs(const RgContextPosterior *cp, int J, const double *X, int count,
                       const double *contexts)
{
  double *z = cp->pairs->Z;

  for (int j = 0; j < J; j++) {
    const double *x = X + (size_t)j * cp->dim_x;
    for (int m = 0; m < count; m++) {
      for (int k = 0; k < cp->dim_x; k++) *z++ = x[k];
      for (int k = 0; k < cp->dim_c; k++) *z++ = contexts[(size_t)m * cp->dim_c + k];
    }
  }
}

/* Predictions of the pairs in Z, which a gradient may follow; with RG_CONTEXT_NEAR they should have
   one design. */
static PetscErrorCode predict_pairs(RgContextPosterior *cp, int count, double *mean,
                                    double *variance)
{
  struct RgContextPairs *p = cp->pairs;

  if (cp->form == RG_CONTEXT_NEAR)
    return rg_nearby_predict(&p->nearby, count, p->Z, p->work.values_only, mean, variance);
  return rg_posterior_predict(cp->posterior, count, p->Z, mean, variance, &p->work);
}

/* Gradients of the moments of the pairs, into p->gradient. */
static PetscErrorCode pull_pairs(RgContextPosterior *cp, int count, const double *mean_bar,
                                 const double *variance_bar)
{
  struct RgContextPairs *p = cp->pairs;

  if (cp->form == RG_CONTEXT_NEAR)
    return rg_nearby_gradient(&p->nearby, count, mean_bar, variance_bar ? variance_bar : p->zero,
                              p->gradient);
  return rg_posterior_gradient(cp->posterior, count, p->Z, mean_bar, variance_bar, &p->work,
                               p->gradient);
}

/* Derivatives by the context of mean and variance at S contexts, of the design x. */
static PetscErrorCode slopes_at(RgContextPosterior *cp, const double *x, int S,
                                const double *contexts, double *mean_slope, double *variance_slope)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  fill_pairs(cp, 1, x, S, contexts);
  p->work.values_only = false;
  PetscCall(predict_pairs(cp, S, p->mean, p->variance));
  for (int part = 0; part < 2; part++) {
    double *slope = part == 0 ? mean_slope : variance_slope;
    PetscCall(pull_pairs(cp, S, part == 0 ? p->one : p->zero, part == 0 ? NULL : p->one));
    for (int l = 0; l < S; l++) {
      for (int k = 0; k < cp->dim_c; k++)
        slope[l * cp->dim_c + k] = p->gradient[(size_t)l * dim + cp->dim_x + k];
    }
  }
  return 0;
}

/* The contexts that have slopes. */
static const double *slope_contexts(const RgContextPosterior *cp)
{
  return cp->contexts + (size_t)(cp->size - cp->n_slopes) * cp->dim_c;
}

static PetscErrorCode context_pairs_predict(RgContextPosterior *cp, int J, const double *X,
                                            RgContextMoments *moments)
{
  struct RgContextPairs *p = cp->pairs;
  const size_t M = (size_t)cp->size, S = (size_t)cp->n_slopes * cp->dim_c;
  const int together = rg_context_posterior_kept(cp);

  p->work.values_only = cp->values_only;
  for (int j = 0; j < J; j += together) {
    const int count = PetscMin(together, J - j);
    fill_pairs(cp, count, X + (size_t)j * cp->dim_x, cp->size, cp->contexts);
    PetscCall(
      predict_pairs(cp, count * cp->size, moments->mean + j * M, moments->variance + j * M));
  }
  p->current = J <= together && S == 0 && !cp->values_only ? J : 0;
  for (int j = 0; S > 0 && j < J; j++)
    PetscCall(slopes_at(cp, X + (size_t)j * cp->dim_x, cp->n_slopes, slope_contexts(cp),
                        moments->mean_slope + j * S, moments->variance_slope + j * S));
  return 0;
}

/* The slopes that a function depends on, context by context. */
typedef struct {
  int n;                                    /* number of contexts */
  double *contexts;                         /* n x dim_c */
  double *mean_bar, *variance_bar, *slopes; /* n x dim_c; 2 n x dim_c: scratch */
} Weighted;

/* The slopes with a nonzero derivative. O(S). */
static PetscErrorCode weighted_create(const RgContextPosterior *cp, const double *mean_bar,
                                      const double *variance_bar, Weighted *weighted)
{
  const int dim = cp->dim_c;
  const size_t S = (size_t)cp->n_slopes * dim;

  weighted->n = 0;
  PetscCall(PetscMalloc4(S, &weighted->contexts, S, &weighted->mean_bar, S, &weighted->variance_bar,
                         2 * S, &weighted->slopes));
  for (int l = 0; l < cp->n_slopes; l++) {
    const int from = l * dim, to = weighted->n * dim;
    bool any = false;
    for (int k = 0; k < dim; k++) {
      any = any || mean_bar[from + k] != 0.0 || variance_bar[from + k] != 0.0;
      weighted->contexts[to + k] = slope_contexts(cp)[from + k];
      weighted->mean_bar[to + k] = mean_bar[from + k];
      weighted->variance_bar[to + k] = variance_bar[from + k];
    }
    weighted->n += any;
  }
  return 0;
}

/* sum of bar times the slopes at design x. */
static PetscErrorCode weighted_sum(RgContextPosterior *cp, const double *x,
                                   const Weighted *weighted, double *sum)
{
  const int S = weighted->n * cp->dim_c;
  double *mean = weighted->slopes, *variance = mean + S;

  PetscCall(slopes_at(cp, x, weighted->n, weighted->contexts, mean, variance));
  *sum = 0.0;
  for (int l = 0; l < S; l++)
    *sum += weighted->mean_bar[l] * mean[l] + weighted->variance_bar[l] * variance[l];
  return 0;
}

/* g += gradient by x of the weighted slopes, by central differences. */
static PetscErrorCode add_slope_gradient(RgContextPosterior *cp, const double *x,
                                         const double *mean_bar, const double *variance_bar,
                                         double *g)
{
  Weighted weighted;
  double *moved, up, down;

  PetscCall(weighted_create(cp, mean_bar, variance_bar, &weighted));
  PetscCall(PetscMalloc1(cp->dim_x, &moved));
  PetscCall(PetscArraycpy(moved, x, cp->dim_x));
  for (int k = 0; k < cp->dim_x && weighted.n > 0; k++) {
    moved[k] = x[k] + STEP;
    PetscCall(weighted_sum(cp, moved, &weighted, &up));
    moved[k] = x[k] - STEP;
    PetscCall(weighted_sum(cp, moved, &weighted, &down));
    moved[k] = x[k];
    g[k] += (up - down) / (2.0 * STEP);
  }
  PetscCall(PetscFree(moved));
  return PetscFree4(weighted.contexts, weighted.mean_bar, weighted.variance_bar, weighted.slopes);
}

/* G: gradients by x, through means and variances, of the J designs that fit. The pairs whose
   derivatives are not zero move to the front. */
static PetscErrorCode moment_gradient(RgContextPosterior *cp, int J, const double *X,
                                      const double *mean_bar, const double *variance_bar, double *G)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  fill_pairs(cp, J, X, cp->size, cp->contexts);
  int used = 0;
  for (int i = 0; i < J * cp->size; i++) {
    if (mean_bar[i] == 0.0 && variance_bar[i] == 0.0) continue;
    for (int k = 0; k < dim; k++) p->Z[(size_t)used * dim + k] = p->Z[(size_t)i * dim + k];
    p->pair[used] = i;
    p->mean_bar[used] = mean_bar[i];
    p->variance_bar[used++] = variance_bar[i];
  }
  for (int k = 0; k < J * cp->dim_x; k++) G[k] = 0.0;
  if (!used) return 0;
  if (p->current != J ||
      (used < J * cp->size && !rg_posterior_select(cp->posterior, used, p->pair, &p->work))) {
    p->work.values_only = false;
    PetscCall(rg_posterior_predict(cp->posterior, used, p->Z, p->mean, p->variance, &p->work));
  }
  p->current = 0;
  PetscCall(rg_posterior_gradient(cp->posterior, used, p->Z, p->mean_bar, p->variance_bar, &p->work,
                                  p->gradient));
  for (int i = 0; i < used; i++) {
    for (int k = 0; k < cp->dim_x; k++)
      G[p->pair[i] / cp->size * cp->dim_x + k] += p->gradient[(size_t)i * dim + k];
  }
  return 0;
}

/* Like moment_gradient, for one design, from the data near it. */
static PetscErrorCode near_gradient(RgContextPosterior *cp, const double *x, const double *mean_bar,
                                    const double *variance_bar, double *g)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  if (p->current != 1) {
    fill_pairs(cp, 1, x, cp->size, cp->contexts);
    p->work.values_only = false;
    PetscCall(predict_pairs(cp, cp->size, p->mean, p->variance));
  }
  p->current = 0;
  PetscCall(pull_pairs(cp, cp->size, mean_bar, variance_bar));
  for (int k = 0; k < cp->dim_x; k++) {
    g[k] = 0.0;
    for (int m = 0; m < cp->size; m++) g[k] += p->gradient[(size_t)m * dim + k];
  }
  return 0;
}

static PetscErrorCode context_pairs_gradient(RgContextPosterior *cp, int J, const double *X,
                                             const RgContextMoments *bar, double *G)
{
  const size_t M = (size_t)cp->size, S = (size_t)cp->n_slopes * cp->dim_c;
  const int together = rg_context_posterior_kept(cp);

  for (int j = 0; j < J; j += together) {
    const double *x = X + (size_t)j * cp->dim_x, *mean = bar->mean + j * M;
    const double *variance = bar->variance + j * M;
    double *g = G + (size_t)j * cp->dim_x;
    if (cp->form == RG_CONTEXT_NEAR) PetscCall(near_gradient(cp, x, mean, variance, g));
    else PetscCall(moment_gradient(cp, PetscMin(together, J - j), x, mean, variance, g));
  }
  for (int j = 0; S > 0 && j < J; j++)
    PetscCall(add_slope_gradient(cp, X + (size_t)j * cp->dim_x, bar->mean_slope + j * S,
                                 bar->variance_slope + j * S, G + (size_t)j * cp->dim_x));
  return 0;
}

#define RANK_TOLERANCE 1e-12 /* residuals below this share of the longest column are dropped */
#define ROUGH_TOLERANCE 1e-4
#define SLOW 10.0                        /* cost of a matrix-vector flop in matrix-product flops */
#define FORMS_BYTES (64.0 * 1024 * 1024) /* memory limit, in units of r^2/2 numbers per context */

/* All matrices are column-major. n: data, M: contexts, S: slope columns (n_slopes x dim_c), F (n
   x (M + S)): right kernel between data and contexts, and its derivatives by the context. Either
   F = Q R, where Q has few columns r and everything at a design is a function of P = T'T (r x
   r); or F itself has few columns, which are then handled one by one (is_plain: Q = F). */
struct RgContextProduct {
  RgKernel left, right;
  bool is_plain;
  int n, rank, n_columns; /* rank: columns of Q; n_columns = M + S */
  double *x;              /* n x dim_x, row-major: inputs of the data */
  double *Q;              /* n x rank, orthonormal; or F */
  double *R;              /* rank x n_columns; NULL: the identity */
  double *kx;             /* n x J, row-major: left kernel, data by designs */
  double *T, *H;          /* n x (rank J) */
  double *P;              /* rank x rank per design */
  double *a;              /* rank x J */
  double *A;              /* n x J */
  int *used, *n_used;     /* is_plain: rank x J, where J counts the columns that a gradient needs */
  RgBilinearForms forms;  /* R_m' P R_m, then R_m' P D_mk */
};

/* ---- F = Q R -------------------------------------------------------------------------------- */

/* F (n x (M + S)): right kernel between data and contexts, and its derivatives by the context. */
static PetscErrorCode right_matrix(const RgContextPosterior *cp, const RgKernel *right, int n,
                                   double *F)
{
  const RgPosterior *posterior = cp->posterior;
  int M = cp->size, S = cp->n_slopes, dim = cp->dim_c;
  double *row, *ones, *slope;

  PetscCall(PetscMalloc3(M, &row, M, &ones, (size_t)M * dim, &slope));
  for (int m = 0; m < M; m++) ones[m] = 1.0;
  for (int i = 0; i < n; i++) {
    const double *c = posterior->X + (size_t)i * posterior->kernel.dim + cp->dim_x;
    PetscCall(rg_kernel_cross(right, 1, c, M, cp->contexts, row));
    for (int m = 0; m < M; m++) F[(size_t)m * n + i] = row[m];
    if (S == 0) continue;
    PetscCall(
      rg_kernel_cross_gradient(right, 1, c, S, cp->contexts + (size_t)(M - S) * dim, ones, slope));
    for (int l = 0; l < S * dim; l++) F[(size_t)(M + l) * n + i] = slope[l];
  }
  return PetscFree3(row, ones, slope);
}

static double tolerance(const RgContextPosterior *cp)
{
  return cp->form == RG_CONTEXT_ROUGH ? ROUGH_TOLERANCE : RANK_TOLERANCE;
}

static PetscErrorCode create_forms(RgContextPosterior *cp)
{
  struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes, dim = cp->dim_c, r = p->rank;
  double *left;

  PetscCall(PetscMalloc1((size_t)r * p->n_columns, &left));
  PetscCall(PetscArraycpy(left, p->R, (size_t)r * M));
  for (int l = 0; l < S * dim; l++)
    PetscCall(PetscArraycpy(left + (size_t)(M + l) * r, p->R + (size_t)(M - S + l / dim) * r, r));
  PetscCall(rg_bilinear_forms_create(r, p->n_columns, left, p->R, tolerance(cp), RG_CONTEXT_BATCH,
                                     &p->forms));
  return PetscFree(left);
}

/* Whether single columns cost less than Q R: n^2 K against n^2 r + n r^2 + r^2 s operations per
   design, with s = 2 r dimensions of forms, after 2 r^2 s^2 slow operations to find them. */
static bool plain_is_cheaper(int n, double r, int n_columns, int designs)
{
  const double forms = PetscMin(2.0 * r, n_columns), before = 2.0 * r * r * forms * forms;

  return r * r / 2.0 * n_columns * sizeof(double) > FORMS_BYTES ||
         (double)n * n * n_columns <
           (double)n * n * r + n * r * r + r * r * forms + SLOW * before / designs;
}

/* Q and R, or Q = F. Takes ownership of *F or frees it. */
static PetscErrorCode factorise(struct RgContextProduct *p, double drop, int designs, double *F)
{
  const int n = p->n, K = p->n_columns;

  PetscCall(PetscMalloc1((size_t)n * n, &p->Q));
  PetscCall(rg_column_basis(n, K, F, drop, 0, p->Q, &p->rank));
  if (!p->rank) { /* all contexts are out of reach; BLAS rejects a matrix without rows */
    PetscCall(PetscArrayzero(p->Q, n));
    p->rank = 1;
  }
  p->is_plain = plain_is_cheaper(n, p->rank, K, designs);
  if (p->is_plain) {
    PetscCall(PetscFree(p->Q));
    p->Q = F;
    p->rank = K;
    return 0;
  }
  PetscCall(PetscMalloc1((size_t)p->rank * K, &p->R));
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, p->rank, K, n, 1.0, p->Q, n, F, n, 0.0, p->R,
              p->rank);
  return PetscFree(F);
}

/* is_product becomes false if the kernel is not a product or the rank is too high to gain. */
static PetscErrorCode context_product_create(RgContextPosterior *cp)
{
  RgPosterior *posterior = cp->posterior;
  struct RgContextProduct *p;
  double *F;
  size_t n = (size_t)posterior->n;

  PetscCall(PetscNew(&p));
  PetscCall(rg_kernel_split(&posterior->kernel, cp->dim_x, &p->left, &p->right, &cp->is_product));
  cp->is_product = cp->is_product && n > 0;
  cp->product = p;
  if (!cp->is_product) return 0;
  rg_exact_solve(posterior);
  PetscCall(rg_exact_invert(posterior));
  p->n = posterior->n;
  p->n_columns = cp->size + cp->n_slopes * cp->dim_c;
  PetscCall(PetscMalloc1(n * p->n_columns, &F));
  PetscCall(right_matrix(cp, &p->right, p->n, F));
  PetscCall(factorise(p, tolerance(cp), cp->designs, F));
  if (!p->is_plain) PetscCall(create_forms(cp));
  const size_t r = (size_t)p->rank, J = RG_CONTEXT_BATCH;
  PetscCall(PetscMalloc4(n * J, &p->kx, n * r * J, &p->T, n * r * J, &p->H,
                         p->is_plain ? 1 : r * r * J, &p->P));
  PetscCall(
    PetscMalloc5(r * J, &p->a, n * J, &p->A, n * cp->dim_x, &p->x, r * J, &p->used, J, &p->n_used));
  for (size_t i = 0; i < n; i++)
    PetscCall(
      PetscArraycpy(p->x + i * cp->dim_x, posterior->X + i * posterior->kernel.dim, cp->dim_x));
  return 0;
}

/* ---- moments --------------------------------------------------------------------------------- */

/* T = L^-1 diag(kx_j) Q of every design, and P = T'T. */
static void design_matrices(const RgPosterior *posterior, struct RgContextProduct *p, int J)
{
  size_t n = (size_t)p->n, r = (size_t)p->rank;

  for (size_t j = 0; j < (size_t)J; j++) {
    for (size_t q = 0; q < r; q++) {
      double *column = p->T + (j * r + q) * n;
      for (size_t i = 0; i < n; i++) column[i] = p->kx[i * J + j] * p->Q[q * n + i];
    }
  }
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p->n, p->rank * J,
              1.0, posterior->inverse, posterior->capacity, p->T, p->n);
  for (size_t j = 0; j < (size_t)J && !p->is_plain; j++)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, p->rank, p->n, 1.0, p->T + j * r * n, p->n,
                0.0, p->P + j * r * r, p->rank);
}

/* Means and their slopes, from a = Q' (alpha kx_j). */
static void first_moments(const RgContextPosterior *cp, int J, RgContextMoments *moments)
{
  const struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes * cp->dim_c, r = p->rank;
  const double prior = cp->posterior->mean;

  if (p->is_plain) {
    for (int j = 0; j < J; j++) {
      const double *a = p->a + (size_t)j * r;
      for (int m = 0; m < M; m++) moments->mean[(size_t)j * M + m] = prior + a[m];
      for (int l = 0; l < S; l++) moments->mean_slope[(size_t)j * S + l] = a[M + l];
    }
    return;
  }
  for (int k = 0; k < J * M; k++) moments->mean[k] = prior;
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, M, J, r, 1.0, p->R, r, p->a, r, 1.0,
              moments->mean, M);
  if (S > 0)
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, S, J, r, 1.0, p->R + (size_t)M * r, r,
                p->a, r, 0.0, moments->mean_slope, S);
}

/* Variances k(x,x) - |T_m|^2 and slopes -2 T_m' T_l, column by column. */
static void plain_moments(const RgContextPosterior *cp, int J, RgContextMoments *moments)
{
  const struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes, dim = cp->dim_c;
  const size_t n = (size_t)p->n;
  const double prior = rg_kernel_diagonal(&cp->posterior->kernel);

  for (int j = 0; j < J; j++) {
    const double *T = p->T + (size_t)j * p->rank * n;
    for (int m = 0; m < M; m++)
      moments->variance[(size_t)j * M + m] = prior - cblas_ddot(p->n, T + m * n, 1, T + m * n, 1);
    for (int l = 0; l < S * dim; l++)
      moments->variance_slope[(size_t)j * S * dim + l] =
        -2.0 * cblas_ddot(p->n, T + (M - S + l / dim) * n, 1, T + (M + l) * n, 1);
  }
}

/* Like plain_moments, but from P: k(x,x) - R_m' P R_m and -2 R_m' P D_m. */
static void reduced_moments(const RgContextPosterior *cp, int J, RgContextMoments *moments)
{
  struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes * cp->dim_c;
  const double prior = rg_kernel_diagonal(&cp->posterior->kernel);

  for (int k = 0; k < J * M; k++) moments->variance[k] = prior;
  rg_bilinear_forms_reduce(&p->forms, J, p->P);
  rg_bilinear_forms_values(&p->forms, 0, M, J, -1.0, 1.0, moments->variance);
  if (S > 0) rg_bilinear_forms_values(&p->forms, M, S, J, -2.0, 0.0, moments->variance_slope);
}

static PetscErrorCode context_product_predict(RgContextPosterior *cp, int J, const double *X,
                                              RgContextMoments *moments)
{
  struct RgContextProduct *p = cp->product;
  const RgPosterior *posterior = cp->posterior;
  int n = p->n, r = p->rank;

  PetscCall(rg_kernel_cross(&p->left, n, p->x, J, X, p->kx));
  for (int j = 0; j < J; j++) {
    for (int i = 0; i < n; i++)
      p->A[(size_t)j * n + i] = posterior->alpha[i] * p->kx[(size_t)i * J + j];
  }
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r, J, n, 1.0, p->Q, n, p->A, n, 0.0, p->a,
              r);
  first_moments(cp, J, moments);
  design_matrices(posterior, p, J);
  if (p->is_plain) plain_moments(cp, J, moments);
  else reduced_moments(cp, J, moments);
  for (int k = 0; k < J * cp->size; k++)
    moments->variance[k] = moments->variance[k] > 0.0 ? moments->variance[k] : 0.0;
  return 0;
}

/* ---- gradient -------------------------------------------------------------------------------- */

/* A = Q (derivatives by a), for the part that goes through the means. */
static void pull_first(RgContextPosterior *cp, int J, const RgContextMoments *bar)
{
  struct RgContextProduct *p = cp->product;
  const int n = p->n, r = p->rank, M = cp->size, S = cp->n_slopes * cp->dim_c;

  if (p->is_plain) {
    for (int j = 0; j < J; j++) {
      double *a = p->a + (size_t)j * r;
      for (int m = 0; m < M; m++) a[m] = bar->mean[(size_t)j * M + m];
      for (int l = 0; l < S; l++) a[M + l] = bar->mean_slope[(size_t)j * S + l];
    }
  } else {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, J, M, 1.0, p->R, r, bar->mean, M, 0.0,
                p->a, r);
    if (S > 0)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, J, S, 1.0, p->R + (size_t)M * r, r,
                  bar->mean_slope, S, 1.0, p->a, r);
  }
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, J, r, 1.0, p->Q, n, p->a, r, 0.0, p->A,
              n);
}

/* H_j = T_j weight_j with weight symmetric, so that a change of P_j changes the function by
   tr(weight_j dP_j). */
static void reduced_pull(const RgContextPosterior *cp, int J, const RgContextMoments *bar)
{
  struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes * cp->dim_c, n = p->n, r = p->rank;

  rg_bilinear_forms_pull(&p->forms, 0, M, J, -1.0, 0.0, bar->variance);
  if (S > 0) rg_bilinear_forms_pull(&p->forms, M, S, J, -2.0, 1.0, bar->variance_slope);
  rg_bilinear_forms_gradient(&p->forms, J, p->P); /* P itself is no longer needed */
  for (int j = 0; j < J; j++)
    cblas_dsymm(CblasColMajor, CblasRight, CblasLower, n, r, 1.0, p->P + (size_t)j * r * r, r,
                p->T + (size_t)j * r * n, n, 0.0, p->H + (size_t)j * r * n, n);
}

/* Without P, by single columns: h_m = -variance_bar_m T_m - sum_k variance_slope_bar_mk T_mk and
   h_mk = -variance_slope_bar_mk T_m. Skips zero columns; returns the number of others. */
static int plain_pull(const RgContextPosterior *cp, int J, const RgContextMoments *bar)
{
  struct RgContextProduct *p = cp->product;
  const int M = cp->size, S = cp->n_slopes, dim = cp->dim_c;
  const size_t n = (size_t)p->n;
  int total = 0;

  for (int j = 0; j < J; j++) {
    const double *T = p->T + (size_t)j * p->rank * n;
    const double *slope_bar = bar->variance_slope + (size_t)j * S * dim;
    const int before = total;
    for (int m = 0; m < M; m++) {
      const double plain = bar->variance[(size_t)j * M + m];
      const int first = (m - (M - S)) * dim, end = first + dim; /* slopes of m */
      const int own = total;
      bool any = plain != 0.0;
      for (int l = PetscMax(first, 0); l < end; l++) any = any || slope_bar[l] != 0.0;
      if (!any) continue;
      p->used[total++] = m;
      for (size_t i = 0; i < n; i++) p->H[own * n + i] = -plain * T[m * n + i];
      for (int l = PetscMax(first, 0); l < end; l++) {
        if (slope_bar[l] == 0.0) continue;
        cblas_daxpy(p->n, -slope_bar[l], T + (M + l) * n, 1, p->H + own * n, 1);
        for (size_t i = 0; i < n; i++) p->H[total * n + i] = -slope_bar[l] * T[m * n + i];
        p->used[total++] = M + l;
      }
    }
    p->n_used[j] = total - before;
  }
  return total;
}

/* Derivatives by kx into kx: alpha A + 2 sum_q (L^-T H)_q Q_q. */
static void pull_kernel(const RgContextPosterior *cp, int J)
{
  struct RgContextProduct *p = cp->product;
  const double *alpha = cp->posterior->alpha, *H = p->H;
  const size_t n = (size_t)p->n;
  const int *used = p->used;

  for (int j = 0; j < J; j++) {
    double *sum = p->A + (size_t)j * n;
    const int count = p->is_plain ? p->n_used[j] : p->rank;
    for (size_t i = 0; i < n; i++) sum[i] *= alpha[i];
    for (int k = 0; k < count; k++, H += n) {
      const double *column = p->Q + (size_t)(p->is_plain ? *used++ : k) * n;
      for (size_t i = 0; i < n; i++) sum[i] += 2.0 * H[i] * column[i];
    }
    for (size_t i = 0; i < n; i++) p->kx[i * J + j] = sum[i];
  }
}

static PetscErrorCode context_product_gradient(RgContextPosterior *cp, int J, const double *X,
                                               const RgContextMoments *bar, double *G)
{
  struct RgContextProduct *p = cp->product;
  const RgPosterior *posterior = cp->posterior;
  int columns = p->rank * J;

  pull_first(cp, J, bar);
  if (p->is_plain) columns = plain_pull(cp, J, bar);
  else reduced_pull(cp, J, bar);
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, p->n, columns, 1.0,
              posterior->inverse, posterior->capacity, p->H, p->n);
  pull_kernel(cp, J);
  return rg_kernel_cross_gradient(&p->left, p->n, p->x, J, X, p->kx, G);
}

PetscErrorCode rg_context_posterior_create(RgPosterior *posterior, int dim_x, int size,
                                           const double *contexts, int n_slopes, RgContextForm form,
                                           int designs, RgContextPosterior *cp)
{
  int dim_c = posterior->kernel.dim - dim_x;

  PetscCheck(dim_x >= 1 && dim_c >= 1 && size >= 1 && n_slopes >= 0 && n_slopes <= size,
             PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d contexts, %d with slopes, of %d inputs", size,
             n_slopes, dim_c);
  *cp = (RgContextPosterior){.posterior = posterior,
                             .dim_x = dim_x,
                             .dim_c = dim_c,
                             .size = size,
                             .n_slopes = n_slopes,
                             .form = form,
                             .designs = designs,
                             .is_product =
                               form < RG_CONTEXT_PAIRS && rg_posterior_has_factor(posterior)};
  PetscCall(PetscMalloc1((size_t)size * dim_c, &cp->contexts));
  PetscCall(PetscArraycpy(cp->contexts, contexts, (size_t)size * dim_c));
  if (cp->is_product) PetscCall(context_product_create(cp));
  if (!cp->is_product) PetscCall(context_pairs_create(cp));
  return 0;
}

PetscErrorCode rg_context_posterior_destroy(RgContextPosterior *cp)
{
  struct RgContextProduct *product = cp->product;
  struct RgContextPairs *pairs = cp->pairs;

  if (product) {
    PetscCall(rg_kernel_destroy(&product->left));
    PetscCall(rg_kernel_destroy(&product->right));
    PetscCall(PetscFree4(product->kx, product->T, product->H, product->P));
    PetscCall(PetscFree5(product->a, product->A, product->x, product->used, product->n_used));
    PetscCall(rg_bilinear_forms_destroy(&product->forms));
    PetscCall(RG_FREE(&product->R, &product->Q));
  }
  if (pairs) {
    PetscCall(rg_prediction_destroy(&pairs->work));
    PetscCall(rg_nearby_destroy(&pairs->nearby));
    PetscCall(
      PetscFree6(pairs->Z, pairs->one, pairs->zero, pairs->gradient, pairs->mean, pairs->variance));
    PetscCall(PetscFree3(pairs->mean_bar, pairs->variance_bar, pairs->pair));
  }
  return RG_FREE(&cp->product, &cp->pairs, &cp->contexts);
}

bool rg_context_posterior_is_reduced(const RgContextPosterior *cp)
{
  return cp->is_product && !cp->product->is_plain;
}

int rg_context_posterior_kept(const RgContextPosterior *cp)
{
  return cp->form == RG_CONTEXT_NEAR ? 1 : PetscMax(RG_CONTEXT_TOGETHER / cp->size, 1);
}

PetscErrorCode rg_context_moments_create(const RgContextPosterior *cp, RgContextMoments *moments)
{
  size_t size = (size_t)RG_CONTEXT_BATCH * cp->size;
  size_t slopes = (size_t)RG_CONTEXT_BATCH * cp->n_slopes * cp->dim_c;

  return PetscCalloc4(size, &moments->mean, size, &moments->variance, slopes, &moments->mean_slope,
                      slopes, &moments->variance_slope);
}

PetscErrorCode rg_context_moments_destroy(RgContextMoments *moments)
{
  return PetscFree4(moments->mean, moments->variance, moments->mean_slope, moments->variance_slope);
}

PetscErrorCode rg_context_posterior_predict(RgContextPosterior *cp, int J, const double *X,
                                            RgContextMoments *moments)
{
  PetscCheck(J >= 1 && J <= RG_CONTEXT_BATCH, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d designs", J);
  return cp->is_product ? context_product_predict(cp, J, X, moments)
                        : context_pairs_predict(cp, J, X, moments);
}

PetscErrorCode rg_context_posterior_gradient(RgContextPosterior *cp, int J, const double *X,
                                             const RgContextMoments *bar, double *G)
{
  return cp->is_product ? context_product_gradient(cp, J, X, bar, G)
                        : context_pairs_gradient(cp, J, X, bar, G);
}
