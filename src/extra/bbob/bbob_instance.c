/* Instances of the noiseless BBOB functions: the suite's own random numbers, rotations, optima
   and matrices. Seeds and orders of operations follow the COCO platform, so that instance k is
   the same here and there. Source: Hansen, Finck, Ros, Auger (2009), RR-6829; COCO, suite bbob. */
#include "base/grow.h"
#include "extra/bbob/bbob.h"

#include <math.h>

enum { TABLE = 32, WARM_UP = 40, MODULUS = 2147483647, SECOND_SEED = 1000000 };

double rg_bbob_round(double v)
{
  return floor(v + 0.5);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The minimal-standard generator, 16807 s mod 2^31 - 1 by Schrage's decomposition. */
static int64_t next(int64_t s)
{
  const int64_t q = s / 127773;

  s = 16807 * (s - 127773 * q) - 2836 * q;
  return s < 0 ? s + MODULUS : s;
}

void rg_bbob_uniform(int n, int64_t seed, double *out)
{
  int64_t table[TABLE], s = llabs(seed) ? llabs(seed) : 1, r;

  for (int c = WARM_UP - 1; c >= 0; c--) {
    s = next(s);
    if (c < TABLE) table[c] = s;
  }
  r = table[0];
  for (int i = 0; i < n; i++) {
    s = next(s);
    const int j = (int)(r / 67108865);
    r = table[j];
    table[j] = s;
    out[i] = (double)r / MODULUS;
    if (out[i] == 0) out[i] = 1e-99;
  }
}

PetscErrorCode rg_bbob_normal(int n, int64_t seed, double *out)
{
  double *u;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(2 * (size_t)n, &u));
  rg_bbob_uniform(2 * n, seed, u);
  for (int i = 0; i < n; i++) {
    out[i] = sqrt(-2 * log(u[i])) * cos(2 * M_PI * u[n + i]);
    if (out[i] == 0) out[i] = 1e-99;
  }
  PetscCall(PetscFree(u));
  PetscFunctionReturn(0);
}

/* Modified Gram-Schmidt orthogonalisation of the rows of B (dim x dim). */
static void orthonormalise(int dim, double *B)
{
  for (int i = 0; i < dim; i++) {
    double *row = B + (size_t)i * dim, square = 0;
    for (int j = 0; j < i; j++) {
      const double *other = B + (size_t)j * dim;
      double p = 0;
      for (int k = 0; k < dim; k++) p += row[k] * other[k];
      for (int k = 0; k < dim; k++) row[k] -= p * other[k];
    }
    for (int k = 0; k < dim; k++) square += row[k] * row[k];
    for (int k = 0; k < dim; k++) row[k] /= sqrt(square);
  }
}

PetscErrorCode rg_bbob_rotation(int dim, int64_t seed, double *matrix)
{
  double *columns; /* one after another, the order of COCO */

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)dim * dim, &columns));
  PetscCall(rg_bbob_normal(dim * dim, seed, columns));
  orthonormalise(dim, columns);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) matrix[(size_t)i * dim + j] = columns[(size_t)j * dim + i];
  PetscCall(PetscFree(columns));
  PetscFunctionReturn(0);
}

/* Draw multiples of 0.0008 in [-4, 4]. */
static void draw_location(int dim, int64_t seed, double *x)
{
  rg_bbob_uniform(dim, seed, x);
  for (int i = 0; i < dim; i++) {
    x[i] = 8 * floor(1e4 * x[i]) / 1e4 - 4;
    if (x[i] == 0) x[i] = -1e-5;
  }
}

static PetscErrorCode draw_value(int64_t seed, double *f_opt)
{
  double a, b;

  PetscFunctionBeginUser;
  PetscCall(rg_bbob_normal(1, seed, &a));
  PetscCall(rg_bbob_normal(1, seed + 1, &b));
  *f_opt = fmin(1000, fmax(-1000, rg_bbob_round(100.0 * 100 * a / b) / 100));
  PetscFunctionReturn(0);
}

/* ---- matrices ------------------------------------------------------------------------------- */

static PetscErrorCode new_rotation(int dim, int64_t seed, double **matrix)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)dim * dim, matrix));
  PetscCall(rg_bbob_rotation(dim, seed, *matrix));
  PetscFunctionReturn(0);
}

/* Multiply row i by alpha^(t_i/2). */
static void scale_rows(const RgBbob *bbob, double *matrix)
{
  const int dim = bbob->dim;

  for (int i = 0; i < dim; i++) {
    const double w = pow(sqrt(bbob->formula->alpha), rg_bbob_t(bbob, i));
    for (int j = 0; j < dim; j++) matrix[(size_t)i * dim + j] *= w;
  }
}

/* Replace Q by R Q. */
static PetscErrorCode multiply(int dim, const double *R, double **Q)
{
  double *product;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1((size_t)dim * dim, &product));
  for (int i = 0; i < dim; i++)
    for (int k = 0; k < dim; k++) {
      const double r = R[(size_t)i * dim + k], *row = *Q + (size_t)k * dim;
      for (int j = 0; j < dim; j++) product[(size_t)i * dim + j] += r * row[j];
    }
  PetscCall(PetscFree(*Q));
  *Q = product;
  PetscFunctionReturn(0);
}

/* The matrix R Lambda^alpha Q. */
static PetscErrorCode new_mix(const RgBbob *bbob, int64_t seed, double **matrix)
{
  double *R;

  PetscFunctionBeginUser;
  PetscCall(new_rotation(bbob->dim, seed + SECOND_SEED, &R));
  PetscCall(new_rotation(bbob->dim, seed, matrix));
  scale_rows(bbob, *matrix);
  PetscCall(multiply(bbob->dim, R, matrix));
  PetscCall(PetscFree(R));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_matrix(const RgBbob *bbob, RgBbobStep step, int64_t seed,
                                    double **matrix)
{
  const size_t size = (size_t)bbob->dim * bbob->dim;

  PetscFunctionBeginUser;
  switch (step) {
  case RG_BBOB_R: PetscCall(new_rotation(bbob->dim, seed + SECOND_SEED, matrix)); break;
  case RG_BBOB_Q:
  case RG_BBOB_SCALED_Q: PetscCall(new_rotation(bbob->dim, seed, matrix)); break;
  case RG_BBOB_MIX: PetscCall(new_mix(bbob, seed, matrix)); break;
  case RG_BBOB_END:
  case RG_BBOB_OSZ:
  case RG_BBOB_ASY:
  case RG_BBOB_LAMBDA: PetscFunctionReturn(0);
  }
  if (step == RG_BBOB_SCALED_Q) scale_rows(bbob, *matrix);
  for (size_t i = 0; bbob->c != 1 && i < size; i++) (*matrix)[i] *= bbob->c;
  PetscFunctionReturn(0);
}

static PetscErrorCode create_matrices(RgBbob *bbob, int64_t seed)
{
  const RgBbobFormula *formula = bbob->formula;

  PetscFunctionBeginUser;
  for (int k = 0; formula->steps[k] != RG_BBOB_END; k++)
    PetscCall(create_matrix(bbob, formula->steps[k], seed, &bbob->matrix[k]));
  PetscCall(create_matrix(bbob, formula->inner, seed, &bbob->inner));
  PetscFunctionReturn(0);
}

/* ---- f21, f22: peaks ------------------------------------------------------------------------ */

/* order[k]: index of the k-th smallest of n uniform numbers. */
static PetscErrorCode draw_order(int n, int64_t seed, PetscInt *order)
{
  double *u;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &u));
  rg_bbob_uniform(n, seed, u);
  for (int i = 0; i < n; i++) order[i] = i;
  PetscCall(PetscSortRealWithPermutation(n, u, order));
  PetscCall(PetscFree(u));
  PetscFunctionReturn(0);
}

/* Compute the heights w_p and scales C_p of the peaks. */
static PetscErrorCode shape_peaks(RgBbob *bbob, int64_t seed)
{
  const int n = bbob->n_peaks, dim = bbob->dim;
  PetscInt *conditions, *order;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &conditions, dim, &order));
  PetscCall(draw_order(n - 1, seed, conditions));
  for (int p = 0; p < n; p++) {
    const double best = bbob->function == 21 ? sqrt(1000.0) : 1000;
    const double condition = p ? pow(1000, conditions[p - 1] / (n - 2.0)) : best;
    bbob->height[p] = p ? (p - 1) / (n - 2.0) * (9.1 - 1.1) + 1.1 : 10;
    PetscCall(draw_order(dim, seed + 1000 * (int64_t)p, order));
    for (int j = 0; j < dim; j++)
      bbob->scale[(size_t)p * dim + j] = pow(condition, order[j] / (dim - 1.0) - 0.5);
  }
  PetscCall(PetscFree2(conditions, order));
  PetscFunctionReturn(0);
}

/* Compute the rotated positions Y_p; the first one is the optimum. */
static PetscErrorCode place_peaks(RgBbob *bbob, int64_t seed)
{
  const int n = bbob->n_peaks, dim = bbob->dim;
  const double width = bbob->function == 21 ? 10 : 9.8, centre = bbob->function == 21 ? 5 : 4.9;
  const double *Q = bbob->matrix[0];
  double *Y;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)n * dim, &Y));
  rg_bbob_uniform(n * dim, seed, Y);
  for (size_t k = 0; k < (size_t)n * dim; k++) Y[k] = width * Y[k] - centre;
  for (int j = 0; j < dim; j++) bbob->x_opt[j] = Y[j] *= 0.8;
  for (int p = 0; p < n; p++)
    for (int i = 0; i < dim; i++) {
      double sum = 0;
      for (int j = 0; j < dim; j++) sum += Q[(size_t)i * dim + j] * Y[(size_t)p * dim + j];
      bbob->peaks[(size_t)p * dim + i] = sum;
    }
  PetscCall(PetscFree(Y));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_peaks(RgBbob *bbob, int64_t seed)
{
  PetscFunctionBeginUser;
  bbob->n_peaks = bbob->function == 21 ? 101 : 21;
  const size_t n = (size_t)bbob->n_peaks, dim = (size_t)bbob->dim;
  PetscCall(PetscMalloc3(n, &bbob->height, n * dim, &bbob->scale, n * dim, &bbob->peaks));
  PetscCall(shape_peaks(bbob, seed));
  PetscCall(place_peaks(bbob, seed));
  PetscFunctionReturn(0);
}

/* ---- optima --------------------------------------------------------------------------------- */

/* f9, f19: x_opt solves c Q x + 1/2 = 1. */
static void solve_location(RgBbob *bbob)
{
  const int dim = bbob->dim;

  for (int j = 0; j < dim; j++) {
    double sum = 0;
    for (int i = 0; i < dim; i++) sum += bbob->matrix[0][(size_t)i * dim + j] * 0.5;
    bbob->x_opt[j] = sum / (bbob->c * bbob->c); /* the matrix is c Q */
  }
}

/* Corners: +-`size`, with the signs of `u` - `centre`. */
static void signs(int dim, const double *u, double centre, double size, double *x)
{
  for (int i = 0; i < dim; i++) x[i] = u[i] < centre ? -size : size;
}

static PetscErrorCode find_optimum(RgBbob *bbob, int64_t seed)
{
  const int dim = bbob->dim;
  double *x = bbob->x_opt;

  PetscFunctionBeginUser;
  draw_location(dim, bbob->function == 12 ? seed + SECOND_SEED : seed, x);
  switch (bbob->function) {
  case 4:
    for (int i = 0; i < dim; i += 2) x[i] = fabs(x[i]);
    break;
  case 5: signs(dim, x, 0, 5, x); break;
  case 8:
    for (int i = 0; i < dim; i++) x[i] *= 0.75;
    break;
  case 9:
  case 19: solve_location(bbob); break;
  case 20:
    rg_bbob_uniform(dim, seed, x);
    signs(dim, x, 0.5, 0.5 * 4.2096874637, x);
    break;
  case 21:
  case 22: PetscCall(create_peaks(bbob, seed)); break;
  case 24:
    PetscCall(rg_bbob_normal(dim, seed, x));
    signs(dim, x, 0, 1.25, x);
    break;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_bbob_create(int function, int dim, uint64_t instance, RgBbob *bbob)
{
  const int base = function == 4 ? 3 : function == 18 ? 17 : function;
  const int64_t seed = base + 10000 * (int64_t)instance;

  PetscFunctionBeginUser;
  PetscCheck(function >= 1 && function <= RG_BBOB_FUNCTIONS && dim >= 2, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "BBOB function %d in %d dimensions", function, dim);
  *bbob =
    (RgBbob){.formula = &rg_bbob_formulas[function], .function = function, .dim = dim, .c = 1};
  if (bbob->formula->stretched) bbob->c = fmax(1, sqrt(dim) / 8);
  bbob->offset = function == 8 ? 1 : 0.5;
  PetscCall(PetscMalloc1(dim, &bbob->x_opt));
  PetscCall(draw_value(seed, &bbob->f_opt));
  PetscCall(create_matrices(bbob, seed));
  PetscCall(find_optimum(bbob, seed));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_bbob_destroy(RgBbob *bbob)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < RG_BBOB_STEPS; k++) PetscCall(PetscFree(bbob->matrix[k]));
  PetscCall(RG_FREE(&bbob->x_opt, &bbob->inner));
  if (bbob->n_peaks) PetscCall(PetscFree3(bbob->height, bbob->scale, bbob->peaks));
  PetscFunctionReturn(0);
}
