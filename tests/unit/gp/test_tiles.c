/* The inner loops at every instruction set this CPU has, against plain loops. The bits do not
   depend on the width of the vectors. */
#include "gp_support.h"

#include "maths/blas.h"
#include "gp/posterior/exact/exact.h"

#define N 24 /* rows, a multiple of 8 */
#define MOST (N * 40)

typedef struct {
  double x[N * 12], Z[12 * 40], w[MOST], slope[MOST], b[N], p[40], q[40], M[N * N], S[N * N];
} Data;

static const Data *data(void)
{
  static Data all, *d = &all;

  support_points(1, N * 12, 1, d->x);
  support_points(2, 12 * 40, 1, d->Z);
  support_normals(3, MOST, d->w);
  support_normals(4, MOST, d->slope);
  support_normals(5, N, d->b);
  support_normals(6, 40, d->p);
  support_normals(7, 40, d->q);
  support_normals(8, N * N, d->M);
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < j; i++) d->M[j * N + i] = 0.0;
    for (int i = 0; i <= j; i++) d->S[j * N + i] = d->S[i * N + j] = d->M[i * N + j] + 1.0;
  }
  return d;
}

/* All results of one level for `dim` coordinates and tiles of `width`, one after the other. */
enum {
  DISTANCE,
  VALUE,
  SLOPE,
  PRODUCT,
  SUM,
  LOWER,
  UPPER,
  SYMMETRIC,
  COMBINED,
  REDUCED,
  MEAN,
  VARIANCE,
  SMALL,
  RESULTS
};
typedef double Results[RESULTS][MOST];

static void run(const RgTileOps *ops, const Data *d, RgKernelFamily family, int dim, int width,
                Results out)
{
  size_t count = (size_t)(N * width);

  memset(out, 0, sizeof(Results));
  ops->distances(dim, N, d->x, 12, d->Z, width, out[DISTANCE]);
  double shape = rg_kernel_classes[family]->default_shape;
  ops->correlations(family, shape, 1.3, count, out[DISTANCE], out[VALUE], NULL);
  ops->correlations(family, shape, 1.3, count, out[DISTANCE], out[VALUE], out[SLOPE]);
  memcpy(out[PRODUCT], d->w, count * sizeof(double));
  ops->multiply(count, d->slope, out[PRODUCT]);
  memcpy(out[SUM], d->w, count * sizeof(double));
  ops->add(count, d->slope, out[SUM]);
  memcpy(out[LOWER], d->w, count * sizeof(double));
  memcpy(out[UPPER], d->w, count * sizeof(double));
  out[SMALL][0] = ops->dot(count, d->w, d->slope);
  memcpy(out[REDUCED], d->slope, sizeof d->slope); /* rows and counts that do not fill a vector */
  ops->subtract_rows(dim + 8, 37, d->b, d->w, 43, out[REDUCED]);
  memcpy(out[MEAN], d->w, sizeof d->w);
  memcpy(out[VARIANCE], d->x, sizeof d->x);
  memcpy(out[SMALL] + 300, d->slope, 41 * sizeof(double));
  ops->scale(41, 0.7, out[SMALL] + 300);
  ops->absorb(41, -1.3, out[SMALL] + 300, out[MEAN], out[VARIANCE]);
  if (width > RG_TILE) return;
  ops->lower(N, d->M, N, width, out[LOWER]);
  ops->upper(N, d->M, N, width, out[UPPER]);
  ops->symmetric(N, d->S, N, width, d->w, out[SYMMETRIC]);
  ops->combine(N, width, d->b, d->p, d->w, d->q, out[COMBINED]);
  ops->summarise(N, width, d->b, d->w, out[SMALL] + 16, out[SMALL] + 32);
  ops->moments(dim, N, d->x, 12, d->Z, width, d->w, d->slope, out[SMALL] + 48);
  ops->gradient(dim, N, d->x, 12, d->Z, width, d->w, d->slope, out[SMALL] + 64);
}

/* The correlation at distance r in one input. For inputs wound onto circles (test_kernel has
   their values) it is one of the others. */
static double kappa(RgKernelFamily family, double r)
{
  const RgKernelClass *class = rg_kernel_classes[family];

  return class->value(class->default_shape, 1, &r, &(double){1.0});
}

static void reference(const Data *d, RgKernelFamily family, int dim, int width, Results out)
{
  memset(out, 0, sizeof(Results));
  memcpy(out[REDUCED], d->slope, sizeof d->slope);
  for (int j = 0; j < 37; j++)
    for (int r = 0; r < dim + 8; r++) out[REDUCED][j] -= d->b[r] * d->w[r * 43 + j];
  memcpy(out[MEAN], d->w, sizeof d->w);
  memcpy(out[VARIANCE], d->x, sizeof d->x);
  for (int j = 0; j < 41; j++) {
    double c = 0.7 * d->slope[j];
    out[SMALL][300 + j] = c;
    out[MEAN][j] -= 1.3 * c;
    out[VARIANCE][j] = fmax(out[VARIANCE][j] - c * c, 0.0);
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < width; j++) {
      int at = i * width + j;
      double w = d->w[at], s = d->slope[at], r2 = 0.0, h = 1e-4;
      for (int k = 0; k < dim; k++) r2 += pow(d->x[i * 12 + k] - d->Z[k * width + j], 2);
      out[DISTANCE][at] = r2;
      out[VALUE][at] = 1.3 * kappa(family, sqrt(r2));
      out[SLOPE][at] =
        1.3 * (kappa(family, sqrt(r2 + h)) - kappa(family, sqrt(r2 - h))) / (2.0 * h);
      out[PRODUCT][at] = w * s;
      out[SUM][at] = w + s;
      out[SMALL][0] += w * s;
      if (width > RG_TILE) continue;
      out[COMBINED][at] = d->b[i] * d->p[j] + w * d->q[j];
      out[SMALL][16 + j] += d->b[i] * w;
      out[SMALL][32 + j] += w * w;
      for (int k = 0; k < dim; k++) {
        double u = d->Z[k * width + j] - d->x[i * 12 + k];
        out[SMALL][48 + k] += w * s * u * u;
        out[SMALL][64 + k * width + j] += w * s * u;
      }
      for (int l = 0; l < N; l++) {
        out[LOWER][at] += d->M[l * N + i] * d->w[l * width + j];
        out[UPPER][at] += d->M[i * N + l] * d->w[l * width + j];
        out[SYMMETRIC][at] += d->S[i * N + l] * d->w[l * width + j];
      }
    }
  if (width > RG_TILE) {
    memcpy(out[LOWER], d->w, sizeof(double) * N * (size_t)width);
    memcpy(out[UPPER], d->w, sizeof(double) * N * (size_t)width);
  }
}

RG_TEST(every_level_agrees_with_plain_loops)
{
  const int widths[] = {8, 16, 24, 40}, dims[] = {1, 2, 3, 4, 5, 8, 11};
  const Data *d = data();
  static Results got, expected;

  for (int level = 0; level < RG_VECTOR_LEVELS; level++) {
    const RgTileOps *ops = rg_tile_ops_at(level);
    for (int t = 0; ops && t < RG_KERNEL_FAMILIES * 7 * 4; t++) {
      RgKernelFamily family = (RgKernelFamily)(t % RG_KERNEL_FAMILIES);
      int rest = t / RG_KERNEL_FAMILIES, width = widths[rest % 4], dim = dims[rest / 4];
      if (rg_kernel_classes[family]->warp) continue;
      run(ops, d, family, dim, width, got);
      reference(d, family, dim, width, expected);
      for (int r = 0; r < RESULTS; r++)
        for (int i = 0; i < MOST; i++) {
          /* Matern-1/2 and 3/2 are rough at short distances, so differences are less accurate
             there. */
          if (r == SLOPE && expected[DISTANCE][i] < 0.05) continue;
          RG_CLOSE(got[r][i], expected[r][i], r == SLOPE ? 1e-5 : 1e-13);
        }
    }
  }
}

/* Both have fused multiply-add: the same bits with 256-bit and 512-bit vectors. */
RG_TEST(bits_do_not_depend_on_the_width_of_vectors)
{
  const int widths[] = {8, 16, 40};
  const Data *d = data();
  static Results a, b;

  if (!rg_tile_ops_at(1) || !rg_tile_ops_at(2)) skip();
  for (int t = 0; t < RG_KERNEL_FAMILIES * 9 * 3; t++) {
    RgKernelFamily family = (RgKernelFamily)(t % RG_KERNEL_FAMILIES);
    int rest = t / RG_KERNEL_FAMILIES, dim = 1 + rest % 9, width = widths[rest / 9];
    run(rg_tile_ops_at(1), d, family, dim, width, a);
    run(rg_tile_ops_at(2), d, family, dim, width, b);
    for (int r = 0; r < RESULTS; r++)
      for (int i = 0; i < MOST; i++) {
        if (a[r][i] != b[r][i]) {
          fail_msg("result %d[%d] of family %d, %d inputs, width %d: %.17g and %.17g", r, i,
                   (int)family, dim, width, a[r][i], b[r][i]);
        }
      }
  }
}

/* A random positive definite matrix with NaN in the padding and above the diagonal. */
static void make_matrix(int n, int ld, double *A)
{
  double *B;

  RG_OK(PetscMalloc1((size_t)n * n, &B));
  support_normals((uint64_t)n, n * n, B);
  for (int i = 0; i < ld * ld; i++) A[i] = NAN;
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++)
      A[j * ld + i] = (i == j ? 0.5 * n : 0.0) + cblas_ddot(n, B + i, n, B + j, n);
  RG_OK(PetscFree(B));
}

RG_TEST(factors_agree_with_lapack)
{
  const int sizes[] = {1, 3, 8, 9, 16, 17, 31, 64, 100, 130, 520};

  for (int s = 0; s < 11; s++) {
    int n = sizes[s], ld = rg_pad(n) + 8;
    double *A, *L, *M, *X, *P;
    RG_OK(PetscMalloc5(ld * ld, &A, ld * ld, &L, ld * ld, &M, ld * ld, &X, n * n, &P));
    make_matrix(n, ld, A);
    memcpy(M, A, sizeof(double) * (size_t)(ld * ld));
    assert_int_equal(LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, M, ld), 0);
    for (int level = 0; level <= RG_VECTOR_LEVELS; level++) {
      const RgTileOps *ops = level < RG_VECTOR_LEVELS ? rg_tile_ops_at(level) : rg_tile_ops();
      if (!ops) continue;
      memcpy(L, A, sizeof(double) * (size_t)(ld * ld));
      if (level < RG_VECTOR_LEVELS) {
        assert_int_equal(ops->cholesky(n, L, (size_t)ld), 0);
        ops->invert(n, L, (size_t)ld, X);
      } else {
        assert_int_equal(rg_factor_cholesky(n, L, ld), 0);
        rg_factor_invert(n, L, ld, X);
      }
      for (int j = 0; j < rg_pad(n); j++)
        for (int i = 0; i < rg_pad(n); i++)
          if (i < j || i >= n || j >= n) assert_true(X[j * ld + i] == 0.0);
          else RG_CLOSE(L[j * ld + i], M[j * ld + i], 1e-13 * n);
      for (int j = 0; j < n; j += 1 + n / 16) { /* X L = I */
        for (int i = j; i < n; i++) {
          RG_CLOSE(cblas_ddot(i - j + 1, X + j * ld + i, ld, L + j * ld + j, 1), i == j ? 1.0 : 0.0,
                   1e-13);
        }
      }
    }
    RG_OK(rg_factor_inverse_product(n, X, ld, P));
    LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, M, ld);
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) RG_CLOSE(P[i * n + j], M[j * ld + i], 1e-13);
    RG_OK(PetscFree5(A, L, M, X, P));
  }
}

RG_TEST(a_pivot_that_fails_is_named)
{
  for (int level = 0; level < RG_VECTOR_LEVELS; level++) {
    double A[32 * 32];
    if (!rg_tile_ops_at(level)) continue;
    for (int bad = 0; bad < 19; bad += 3) {
      make_matrix(19, 32, A);
      A[bad * 32 + bad] = bad % 2 ? NAN : -1.0;
      assert_int_equal(rg_tile_ops_at(level)->cholesky(19, A, 32), bad + 1);
    }
  }
}
