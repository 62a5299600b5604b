/* Sobol sequences without scrambling: GSL's in up to 40 dimensions, with the direction numbers of
   Joe and Kuo (2008) beyond. */
#include "maths/sobol.h"

#include <gsl/gsl_qrng.h>

enum { GSL_DIM = 40, BITS = 30 };

/* One row per dimension, from the second: the primitive polynomial, then odd numbers m_1, m_2
   ..., as many as its degree. */
static const uint16_t numbers[] = {
#include "maths/sobol_numbers.inc"
};

static PetscErrorCode gsl_points(int m, int dim, double *points)
{
  gsl_qrng *sequence;

  PetscFunctionBeginUser;
  sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned int)dim);
  PetscCheck(sequence, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a Sobol sequence");
  for (int i = 0; i < m; i++) gsl_qrng_get(sequence, points + (size_t)i * dim);
  gsl_qrng_free(sequence);
  PetscFunctionReturn(0);
}

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

static int lowest_zero_bit(int i)
{
  int k = 0;

  while (i >> k & 1) k++;
  return k;
}

/* Gray-code order: each point differs from the previous one in one direction. */
static void table_points(int m, int dim, double *points)
{
  const uint16_t *entry = NULL;

  for (int j = 0; j < dim; j++) {
    uint32_t v[BITS], x = 0;
    entry = directions(entry, v);
    for (int i = 0; i < m; i++) {
      x ^= v[lowest_zero_bit(i)];
      points[(size_t)i * dim + j] = x * (1.0 / (1 << BITS));
    }
  }
}

PetscErrorCode rg_sobol_points(int m, int dim, double *points)
{
  PetscFunctionBeginUser;
  PetscCheck(dim >= 1 && dim <= RG_SOBOL_MAX_DIM, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Sobol points have 1 to %d dimensions, not %d", RG_SOBOL_MAX_DIM, dim);
  PetscCheck(m >= 0 && m <= RG_SOBOL_MAX_POINTS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d Sobol points", m);
  if (dim <= GSL_DIM) PetscCall(gsl_points(m, dim, points));
  else table_points(m, dim, points);
  PetscFunctionReturn(0);
}
