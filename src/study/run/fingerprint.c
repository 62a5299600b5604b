/* The numeric fingerprint: a hash of libm, BLAS and our vector kernels on fixed numbers. */
#include "study/run/fingerprint.h"
#include "base/hash.h"
#include "density/regression_loops.h"
#include "gp/kernel/kernel.h"
#include "gp/kernel/tiles.h"
#include "maths/blas.h"
#include "maths/lbfgsb.h"
#include "maths/vector.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  SIZE = 4091, /* length of plain arrays: a prime */
  BLOCKS = 192,
  CHOLESKY_ORDER = 40, /* order of matrices */
  DIM = 6,
  RESULTS = 64
};

typedef struct {
  double *uniform, *signs, *out; /* uniform: in (0, 1); signs: in (-1/2, 1/2); 4 SIZE each */
  float *single;                 /* 4 SIZE */
  uint64_t result[RESULTS][2];
  int n;
} Probe;

static void keep(Probe *p, const void *values, size_t bytes)
{
  rg_hash128(values, bytes, p->result[p->n++]);
}

static void keep_out(Probe *p, size_t n)
{
  keep(p, p->out, n * sizeof(double));
  memset(p->out, 0, 4 * SIZE * sizeof(double));
}

static void elementwise(Probe *p, const RgVectorOps *v)
{
  for (int i = 0; i < SIZE; i++) p->out[2 * SIZE + i] = 20 * p->signs[i];
  v->normal_tails(SIZE, p->out + 2 * SIZE, p->out, p->out + SIZE);
  keep_out(p, 2 * SIZE);
  for (int i = 0; i < SIZE; i++) p->out[2 * SIZE + i] = 20 * p->signs[i];
  v->truncation(SIZE, p->out + 2 * SIZE, p->out, p->out + SIZE);
  keep_out(p, 2 * SIZE);
  v->logarithm(SIZE, p->uniform, p->out);
  keep_out(p, SIZE);
  v->truncated_entropy(SIZE, 0.3, p->signs, p->uniform, p->out);
  keep_out(p, SIZE);
  v->truncated_variance(SIZE, 0.3, p->signs, p->uniform, 1e-9, p->out);
  keep_out(p, SIZE);
  v->circle(SIZE, p->signs, p->out, p->out + SIZE);
  keep_out(p, 2 * SIZE);
}

static PetscErrorCode normals(Probe *p, const RgVectorOps *v)
{
  uint64_t *word;

  PetscCall(PetscMalloc1(2 * SIZE, &word));
  for (uint64_t i = 0; i < 2 * SIZE; i++) word[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  v->box_muller(SIZE, word, p->out);
  keep_out(p, 2 * SIZE);
  return PetscFree(word);
}

static void products(Probe *p, const RgVectorOps *v)
{
  float coarse[2 * BLOCKS];

  for (int dim = 1; dim <= DIM; dim += DIM - 1) {
    v->turns(dim, p->uniform, BLOCKS - 1, p->signs, SIZE / DIM, p->signs + SIZE, p->out);
    keep_out(p, BLOCKS);
    p->out[0] = v->coarse_cosine_sum(dim, p->uniform, BLOCKS, p->single, SIZE / DIM,
                                     p->single + SIZE, p->single + 2 * SIZE);
    keep_out(p, 1);
    v->coarse_circle(dim, p->uniform, BLOCKS, p->single, SIZE / DIM, p->single + SIZE, coarse,
                     coarse + BLOCKS);
    keep(p, coarse, sizeof(coarse));
  }
  v->coarse_products(7, 5, 64, p->single, p->single + SIZE, p->out);
  keep_out(p, 35);
  for (int n = 1; n < 32; n++) p->out[n] = v->dot(n, p->uniform + n, p->signs + n);
  keep_out(p, 32);
  if (v->gram) {
    v->gram(CHOLESKY_ORDER - 1, 64, p->signs, p->out, CHOLESKY_ORDER);
    for (int j = 1; j < CHOLESKY_ORDER; j++)
      memset(p->out + j * CHOLESKY_ORDER, 0, (size_t)j * sizeof(double));
    keep_out(p, CHOLESKY_ORDER * (CHOLESKY_ORDER - 1));
  }
  v->multiply_tile(CHOLESKY_ORDER - 1, p->signs, true, p->uniform, p->out, RG_VECTOR_TILE);
  keep_out(p, (size_t)(CHOLESKY_ORDER - 1) * RG_VECTOR_TILE);
}

/* Only the four families of the first version: a new family must not change the fingerprint. */
static void tiles(Probe *p, const RgTileOps *t)
{
  static const RgKernelFamily family[] = {RG_KERNEL_GAUSSIAN, RG_KERNEL_MATERN12,
                                          RG_KERNEL_MATERN32, RG_KERNEL_MATERN52};
  const size_t entries = (size_t)BLOCKS * RG_TILE;
  double *r2 = p->out, *value = r2 + entries, *slope = value + entries, *g = slope + entries;

  for (int f = 0; f < 4; f++) {
    t->distances(3, BLOCKS, p->uniform, 3, p->signs, RG_TILE, r2);
    t->correlations(family[f], 0, 1.3, entries, r2, value, slope);
    t->gradient(3, BLOCKS, p->uniform, 3, p->signs, RG_TILE, p->signs, slope, g);
    t->moments(3, BLOCKS, p->uniform, 3, p->signs, RG_TILE, p->signs, slope, g + 3 * RG_TILE);
    keep_out(p, 3 * entries + 3 * RG_TILE + 3);
  }
}

static void factors(Probe *p, const RgTileOps *t)
{
  double *A = p->out, *inverse = A + CHOLESKY_ORDER * CHOLESKY_ORDER,
         *V = inverse + CHOLESKY_ORDER * CHOLESKY_ORDER;

  for (int i = 0; i < CHOLESKY_ORDER * CHOLESKY_ORDER; i++) A[i] = 0.01 * p->signs[i];
  for (int i = 0; i < CHOLESKY_ORDER; i++) A[i * (CHOLESKY_ORDER + 1)] = 2;
  (void)t->cholesky(CHOLESKY_ORDER, A, CHOLESKY_ORDER);
  t->invert(CHOLESKY_ORDER, A, CHOLESKY_ORDER, inverse);
  for (int j = 1; j < CHOLESKY_ORDER; j++)
    memset(A + j * CHOLESKY_ORDER, 0, (size_t)j * sizeof(double));
  memcpy(V, p->signs, CHOLESKY_ORDER * RG_TILE * sizeof(double));
  t->lower(CHOLESKY_ORDER, inverse, CHOLESKY_ORDER, RG_TILE, V);
  t->upper(CHOLESKY_ORDER, inverse, CHOLESKY_ORDER, RG_TILE, V);
  t->summarise(CHOLESKY_ORDER, RG_TILE, p->uniform, V, V + CHOLESKY_ORDER * RG_TILE,
               V + (CHOLESKY_ORDER + 1) * RG_TILE);
  keep_out(p, 2 * CHOLESKY_ORDER * CHOLESKY_ORDER + (CHOLESKY_ORDER + 2) * RG_TILE);
}

static void regression(Probe *p, const RgRegressionLoops *loops)
{
  static const RgSmoothing kernel[] = {RG_SMOOTHING_GAUSSIAN, RG_SMOOTHING_EPANECHNIKOV,
                                       RG_SMOOTHING_UNIFORM};
  double sums[2], *r2 = p->out, *weight = r2 + BLOCKS;

  for (int k = 0; k < 3; k++) {
    const double nearest = loops->distances(3, BLOCKS, p->uniform, BLOCKS, p->signs, r2);
    loops->weigh(kernel[k], BLOCKS, 2.0, nearest, r2, p->signs, weight, sums);
    keep(p, sums, sizeof(sums));
    keep_out(p, 2 * BLOCKS);
  }
}

/* A hash of the results of every kernel in maths/vector.h, gp/kernel/tiles.h and
   density/regression_loops.h on fixed numbers, with the instruction set of this process. The
   sizes leave remainders, because compilers differ there in fused operations. Takes about 2 ms. */
static PetscErrorCode vector_probe(uint64_t *hash)
{
  Probe p = {0};
  uint64_t both[2];

  const size_t n = 4 * (size_t)SIZE;
  PetscCall(PetscCalloc4(n, &p.uniform, n, &p.signs, n, &p.out, n, &p.single));
  for (size_t i = 0; i < n; i++) {
    p.uniform[i] = fmod(0.754877666 * (double)(i + 1), 1.0);
    p.signs[i] = fmod(0.569840291 * (double)(i + 1), 1.0) - 0.5;
    p.single[i] = (float)p.signs[i];
  }
  elementwise(&p, rg_vector_ops());
  PetscCall(normals(&p, rg_vector_ops()));
  products(&p, rg_vector_ops());
  tiles(&p, rg_tile_ops());
  factors(&p, rg_tile_ops());
  regression(&p, rg_regression_loops());
  rg_hash128(p.result, sizeof(p.result), both);
  *hash = both[0];
  return PetscFree4(p.uniform, p.signs, p.out, p.single);
}

enum { GRID = 512, ORDER = 48 };

/* Elementary functions on a grid that reaches into their tails. */
static void libm_values(double *out)
{
  for (int i = 0; i < GRID; i++) {
    double x = -30.0 + 60.0 * i / (GRID - 1);
    out[i] =
      exp(x) + log1p(x * x) + sin(3 * x) + erfc(x / 3) + pow(1.0 + x * x, 0.37) + lgamma(31 + x);
  }
}

/* Compute a kernel matrix, its Cholesky factor, a triangular solve and a product. `out`: 3 x
   ORDER^2. */
static PetscErrorCode algebra_values(double *out)
{
  double *K = out, *A = out + ORDER * ORDER, *B = A + ORDER * ORDER;
  double X[2 * ORDER], length_scale[2] = {0.3, 0.7};
  RgKernel kernel;

  for (int i = 0; i < 2 * ORDER; i++) X[i] = fmod(0.754877666 * (i + 1), 1.0);
  PetscCall(rg_kernel_create(RG_KERNEL_MATERN52, 2, true, length_scale, 1.3, &kernel));
  PetscCall(rg_kernel_matrix(&kernel, ORDER, X, K));
  PetscCall(rg_kernel_destroy(&kernel));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, ORDER, ORDER, ORDER, 1.0, K, ORDER, K, ORDER,
              0.0, A, ORDER);
  for (int i = 0; i < ORDER; i++) K[i * (ORDER + 1)] += 1e-3;
  lapack_int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', ORDER, K, ORDER);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "dpotrf returned %d", (int)info);
  PetscCall(PetscArraycpy(B, A, ORDER * ORDER));
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, ORDER, ORDER, 1.0,
              K, ORDER, B, ORDER);
  return 0;
}

static void read_cpu_model(char *model, size_t size)
{
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");

  snprintf(model, size, "unknown");
  if (!file) return;
  while (fgets(line, sizeof(line), file)) {
    char *colon = strchr(line, ':');
    if (!colon || strncmp(line, "model name", 10)) continue;
    colon++;
    while (isspace((unsigned char)*colon)) colon++;
    colon[strcspn(colon, "\n")] = 0;
    snprintf(model, size, "%s", colon);
    break;
  }
  (void)fclose(file); /* opened for reading, so an error loses nothing */
}

PetscErrorCode rg_fingerprint(RgFingerprint *fingerprint)
{
  enum { LENGTH = GRID + 3 * ORDER * ORDER + 1 };
  double *values;
  uint64_t hash[2], probe;

  memset(fingerprint, 0, sizeof(*fingerprint));
  PetscCall(PetscCalloc1(LENGTH, &values));
  libm_values(values);
  PetscCall(algebra_values(values + GRID));
  PetscCall(vector_probe(&probe));
  memcpy(values + LENGTH - 1, &probe, sizeof(probe));
  rg_hash128(values, LENGTH * sizeof(double), hash);
  PetscCall(PetscFree(values));
  fingerprint->hash = hash[0];
  snprintf(fingerprint->blas_core, sizeof(fingerprint->blas_core), "%s", rg_blas_core());
  fingerprint->blas_threads = rg_blas_threads();
  read_cpu_model(fingerprint->cpu, sizeof(fingerprint->cpu));
#ifdef RG_NATIVE
  fingerprint->native = true;
#endif
  return 0;
}
