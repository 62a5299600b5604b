/* Initial designs: scrambled Sobol points, Latin hypercubes, uniform draws. */
#include "maths/design.h"

#include <gsl/gsl_qrng.h>
#include <math.h>

enum { GSL_DIM = 40, BITS = 30 };

/* One row per dimension, from the second: the primitive polynomial, then odd numbers m_1, m_2
   ..., as many as its degree. */
static const uint16_t numbers[] = {
#include "maths/sobol_numbers.inc"
};

/* v[k] = m_(k+1) 2^(BITS-k-1) of one dimension, by the recurrence of its polynomial. entry: its
   row in the table; NULL for the first dimension, whose m are all 1. Returns the next row. */
static const uint16_t *directions(const uint16_t *entry, uint32_t v[BITS])
{
  int degree = 0;

  while (entry && entry[0] >> (degree + 1)) degree++;
  for (int k = 0; k < BITS; k++) {
    if (k < degree || !entry) {
      v[k] = (uint32_t)(entry ? entry[1 + k] : 1) << (BITS - 1 - k);
      continue;
    }
    v[k] = v[k - degree] ^ (v[k - degree] >> degree);
    for (int l = 1; l < degree; l++)
      if (entry[0] >> (degree - l) & 1) v[k] ^= v[k - l];
  }
  return entry ? entry + 1 + degree : numbers;
}

PetscErrorCode rg_sobol_points(int m, int dim, double *points)
{
  PetscCheck(dim >= 1 && dim <= RG_SOBOL_MAX_DIM, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Sobol points have 1 to %d dimensions, not %d", RG_SOBOL_MAX_DIM, dim);
  PetscCheck(m >= 0 && m <= RG_SOBOL_MAX_POINTS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d Sobol points", m);
  if (dim <= GSL_DIM) {
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned int)dim);
    PetscCheck(sequence, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a Sobol sequence");
    for (int i = 0; i < m; i++) gsl_qrng_get(sequence, points + (size_t)i * dim);
    gsl_qrng_free(sequence);
    return 0;
  }
  const uint16_t *entry = NULL;
  for (int j = 0; j < dim; j++) {
    uint32_t v[BITS], x = 0;
    entry = directions(entry, v);
    for (int i = 0; i < m; i++) { /* Gray-code order: one direction from point to point */
      int lowest_zero = 0;
      while (i >> lowest_zero & 1) lowest_zero++;
      x ^= v[lowest_zero];
      points[(size_t)i * dim + j] = x * (1.0 / (1 << BITS));
    }
  }
  return 0;
}

/* Points scrambled at a time: columns of a block are gathered so that the hash runs over a
   contiguous array and the compiler can vectorise it. */
#define RG_BLOCK 256

static uint32_t reverse_bits(uint32_t x)
{
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0F0F0F0Fu) | ((x & 0x0F0F0F0Fu) << 4);
  x = ((x >> 8) & 0x00FF00FFu) | ((x & 0x00FF00FFu) << 8);
  return (x >> 16) | (x << 16);
}

/* Key of the scrambling of one coordinate: three rounds of a shift and an odd factor. */
typedef struct {
  uint32_t shift[3], factor[3];
} ScrambleKey;

/* Nested uniform scrambling of one 32-bit coordinate by hashing, after Laine and Karras (2011).
   On reversed bits every step makes bit i depend only on itself and on lower bits. So a hash of
   the preceding digits decides whether each digit is flipped, and elementary intervals map to
   elementary intervals. One keyed round leaves visible dependence between the flips of
   neighbouring intervals; three rounds pass a chi-square test over 400,000 keys. */
static uint32_t scramble(uint32_t x, const ScrambleKey *key)
{
  x = reverse_bits(x);
  x ^= x * 0x3D20ADEAu;
  x = (x + key->shift[0]) * key->factor[0];
  x ^= x * 0x05526C56u;
  x = (x + key->shift[1]) * key->factor[1];
  x ^= x * 0x53A22864u;
  x = (x + key->shift[2]) * key->factor[2];
  x ^= x * 0xB82F1E52u;
  return reverse_bits(x);
}

/* Scramble n values (multiples of 2^-32, `stride` apart) to midpoints of 2^32 intervals. */
static void scramble_column(int n, int stride, const ScrambleKey *key, double *values)
{
  uint32_t bits[RG_BLOCK];

  for (int start = 0; start < n; start += RG_BLOCK) {
    int count = n - start < RG_BLOCK ? n - start : RG_BLOCK;
    double *block = values + (size_t)start * stride;
    for (int i = 0; i < count; i++) bits[i] = (uint32_t)(block[(size_t)i * stride] * 0x1p32);
    for (int i = 0; i < count; i++) bits[i] = scramble(bits[i], key);
    for (int i = 0; i < count; i++) block[(size_t)i * stride] = ((double)bits[i] + 0.5) * 0x1p-32;
  }
}

PetscErrorCode rg_design_sobol(RgRandom *random, int m, int dim, double *points)
{
  /* The first 2^k points form a net only with the origin among them. */
  for (int j = 0; j < dim && m > 0; j++) points[j] = 0.0;
  PetscCall(rg_sobol_points(m - (m > 0), dim, points + (m > 0 ? dim : 0)));
  for (int j = 0; j < dim; j++) {
    ScrambleKey key;
    for (int i = 0; i < 3; i++) {
      uint64_t word = rg_random_word(random);
      key.shift[i] = (uint32_t)word;
      key.factor[i] = (uint32_t)(word >> 32) | 1u;
    }
    scramble_column(m, dim, &key, points + j);
  }
  return 0;
}

PetscErrorCode rg_design_latin_hypercube(RgRandom *random, int m, int dim, double *points)
{
  int *strata;

  PetscCheck(m >= 0 && dim >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "a Latin hypercube of %d points in %d dimensions", m, dim);
  PetscCall(PetscMalloc1((size_t)m, &strata));
  for (int j = 0; j < dim; j++) {
    PetscCall(rg_random_subset(random, m, m, strata));
    for (int i = 0; i < m; i++) {
      double value = (strata[i] + rg_random_uniform(random)) / m;
      points[(size_t)i * dim + j] = fmin(value, 1.0 - 0x1p-53);
    }
  }
  return PetscFree(strata);
}

PetscErrorCode rg_design_uniform(RgRandom *random, int m, int dim, double *points)
{
  PetscCheck(m >= 0 && dim >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d points in %d dimensions", m, dim);
  rg_random_uniforms(random, (size_t)m * dim, points);
  return 0;
}
