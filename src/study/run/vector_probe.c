/* Hashes of all vector kernels on fixed numbers, one after another. */
#include "study/run/vector_probe.h"

#include <math.h>

#include "base/hash.h"
#include "density/regression_loops.h"
#include "gp/kernel/tiles.h"
#include "maths/vector.h"

enum {
  SIZE = 4091, /* length of plain arrays: a prime */
  BLOCKS = 192,
  ORDER = 40, /* order of matrices */
  DIM = 6,
  RESULTS = 64
};

typedef struct {
  double *uniform, *signs, *out; /* uniform: in (0, 1); signs: in (-1/2, 1/2); 4 SIZE each */
  float *single;                 /* 4 SIZE */
  uint64_t result[RESULTS][2];
  int n;
} Probe;

static PetscErrorCode create(Probe *p)
{
  const size_t n = 4 * (size_t)SIZE;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc4(n, &p->uniform, n, &p->signs, n, &p->out, n, &p->single));
  for (size_t i = 0; i < n; i++) {
    p->uniform[i] = fmod(0.754877666 * (double)(i + 1), 1.0);
    p->signs[i] = fmod(0.569840291 * (double)(i + 1), 1.0) - 0.5;
    p->single[i] = (float)p->signs[i];
  }
  PetscFunctionReturn(0);
}

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

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(2 * SIZE, &word));
  for (uint64_t i = 0; i < 2 * SIZE; i++) word[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  v->box_muller(SIZE, word, p->out);
  keep_out(p, 2 * SIZE);
  PetscCall(PetscFree(word));
  PetscFunctionReturn(0);
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
    v->gram(ORDER - 1, 64, p->signs, p->out, ORDER);
    for (int j = 1; j < ORDER; j++) memset(p->out + j * ORDER, 0, (size_t)j * sizeof(double));
    keep_out(p, ORDER * (ORDER - 1));
  }
  v->multiply_tile(ORDER - 1, p->signs, true, p->uniform, p->out, RG_VECTOR_TILE);
  keep_out(p, (size_t)(ORDER - 1) * RG_VECTOR_TILE);
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
  double *A = p->out, *inverse = A + ORDER * ORDER, *V = inverse + ORDER * ORDER;

  for (int i = 0; i < ORDER * ORDER; i++) A[i] = 0.01 * p->signs[i];
  for (int i = 0; i < ORDER; i++) A[i * (ORDER + 1)] = 2;
  (void)t->cholesky(ORDER, A, ORDER);
  t->invert(ORDER, A, ORDER, inverse);
  for (int j = 1; j < ORDER; j++) memset(A + j * ORDER, 0, (size_t)j * sizeof(double));
  memcpy(V, p->signs, ORDER * RG_TILE * sizeof(double));
  t->lower(ORDER, inverse, ORDER, RG_TILE, V);
  t->upper(ORDER, inverse, ORDER, RG_TILE, V);
  t->summarise(ORDER, RG_TILE, p->uniform, V, V + ORDER * RG_TILE, V + (ORDER + 1) * RG_TILE);
  keep_out(p, 2 * ORDER * ORDER + (ORDER + 2) * RG_TILE);
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

PetscErrorCode rg_vector_probe(uint64_t *hash)
{
  Probe p = {0};
  uint64_t both[2];

  PetscFunctionBeginUser;
  PetscCall(create(&p));
  elementwise(&p, rg_vector_ops());
  PetscCall(normals(&p, rg_vector_ops()));
  products(&p, rg_vector_ops());
  tiles(&p, rg_tile_ops());
  factors(&p, rg_tile_ops());
  regression(&p, rg_regression_loops());
  rg_hash128(p.result, sizeof(p.result), both);
  *hash = both[0];
  PetscCall(PetscFree4(p.uniform, p.signs, p.out, p.single));
  PetscFunctionReturn(0);
}
