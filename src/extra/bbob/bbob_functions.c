/* The noiseless BBOB functions of transformed coordinates z, with gradients, named as in the
   report; their table and their instances.
   Source: Hansen, Finck, Ros, Auger (2009), RR-6829. */
#include "base/grow.h"
#include "extra/bbob/bbob.h"

#include <math.h>
#include <string.h>

enum { TABLE = 32, WARM_UP = 40, MODULUS = 2147483647, SECOND_SEED = 1000000 };

/* floor(v + 0.5), the rounding of the suite. */
static double bbob_round(double v)
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

  PetscCall(PetscMalloc1(2 * (size_t)n, &u));
  rg_bbob_uniform(2 * n, seed, u);
  for (int i = 0; i < n; i++) {
    out[i] = sqrt(-2 * log(u[i])) * cos(2 * M_PI * u[n + i]);
    if (out[i] == 0) out[i] = 1e-99;
  }
  return PetscFree(u);
}

PetscErrorCode rg_bbob_rotation(int dim, int64_t seed, double *matrix)
{
  double *columns; /* one after another, the order of COCO */

  PetscCall(PetscMalloc1((size_t)dim * dim, &columns));
  PetscCall(rg_bbob_normal(dim * dim, seed, columns));
  /* Modified Gram-Schmidt orthogonalisation of the rows of B (dim x dim). */
  for (int i = 0; i < dim; i++) {
    double *row = columns + (size_t)i * dim, square = 0;
    for (int j = 0; j < i; j++) {
      const double *other = columns + (size_t)j * dim;
      double p = 0;
      for (int k = 0; k < dim; k++) p += row[k] * other[k];
      for (int k = 0; k < dim; k++) row[k] -= p * other[k];
    }
    for (int k = 0; k < dim; k++) square += row[k] * row[k];
    for (int k = 0; k < dim; k++) row[k] /= sqrt(square);
  }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) matrix[(size_t)i * dim + j] = columns[(size_t)j * dim + i];
  return PetscFree(columns);
}

/* ---- functions ------------------------------------------------------------------------------ */

enum { WAVES = 12, BITS = 32 };

#define SCHWEFEL_PEAK 4.2096874637 /* 2 |x_opt| */

static double sign_of(double v)
{
  return (v > 0) - (v < 0);
}

double rg_bbob_osz(double v, double *slope)
{
  if (v == 0) {
    if (slope) *slope = 0;
    return 0;
  }
  const double a = v > 0 ? 1 : 0.55, b = v > 0 ? 0.79 : 0.31, h = log(fabs(v)) / 0.1;
  const double size = pow(exp(h + 0.49 * (sin(a * h) + sin(b * h))), 0.1);
  if (slope) *slope = size / fabs(v) * (1 + 0.49 * (a * cos(a * h) + b * cos(b * h)));
  return v > 0 ? size : -size;
}

/* ---- separable shapes ----------------------------------------------------------------------- */

static double sphere(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = 0;

  for (int i = 0; i < bbob->dim; i++) sum += z[i] * z[i];
  for (int i = 0; dz && i < bbob->dim; i++) dz[i] = 2 * z[i];
  return sum;
}

/* sum condition^t_i z_i^2. */
static double ellipsoid(const RgBbob *bbob, double condition, const double *z, double *dz)
{
  double sum = 0;

  for (int i = 0; i < bbob->dim; i++) {
    const double w = pow(condition, rg_bbob_t(bbob, i));
    sum += w * z[i] * z[i];
    if (dz) dz[i] = 2 * w * z[i];
  }
  return sum;
}

static double ellipsoid_6(const RgBbob *bbob, const double *z, double *dz)
{
  return ellipsoid(bbob, 1e6, z, dz);
}

static double discus(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = 1e6 * z[0] * z[0];

  for (int i = 1; i < bbob->dim; i++) sum += z[i] * z[i];
  for (int i = 0; dz && i < bbob->dim; i++) dz[i] = (i ? 2 : 2e6) * z[i];
  return sum;
}

static double bent_cigar(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = z[0] * z[0];

  for (int i = 1; i < bbob->dim; i++) sum += 1e6 * z[i] * z[i];
  for (int i = 0; dz && i < bbob->dim; i++) dz[i] = (i ? 2e6 : 2) * z[i];
  return sum;
}

static double sharp_ridge(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = 0;

  for (int i = 1; i < bbob->dim; i++) sum += z[i] * z[i];
  const double distance = sqrt(sum);
  for (int i = 1; dz && i < bbob->dim; i++) dz[i] = distance > 0 ? 100 * z[i] / distance : 0;
  if (dz) dz[0] = 2 * z[0];
  return 100 * distance + z[0] * z[0];
}

static double different_powers(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = 0;

  for (int i = 0; i < bbob->dim; i++) sum += pow(fabs(z[i]), 2 + 4 * rg_bbob_t(bbob, i));
  const double root = sqrt(sum);
  for (int i = 0; dz && i < bbob->dim; i++) {
    const double e = 2 + 4 * rg_bbob_t(bbob, i);
    dz[i] = root > 0 ? 0.5 * e * pow(fabs(z[i]), e - 1) * sign_of(z[i]) / root : 0;
  }
  return root;
}

static double rastrigin(const RgBbob *bbob, const double *z, double *dz)
{
  double cosines = 0, squares = 0;

  for (int i = 0; i < bbob->dim; i++) {
    cosines += cos(2 * M_PI * z[i]);
    squares += z[i] * z[i];
    if (dz) dz[i] = 20 * M_PI * sin(2 * M_PI * z[i]) + 2 * z[i];
  }
  return 10 * (bbob->dim - cosines) + squares;
}

/* Rastrigin of z_i = w_i v_i, ten times as steep where v_i > 0 and i is even. */
static double bueche_rastrigin(const RgBbob *bbob, const double *v, double *dv)
{
  double cosines = 0, squares = 0;

  for (int i = 0; i < bbob->dim; i++) {
    double w = pow(sqrt(10), rg_bbob_t(bbob, i));
    if (v[i] > 0 && i % 2 == 0) w *= 10;
    const double z = w * v[i];
    cosines += cos(2 * M_PI * z);
    squares += z * z;
    if (dv) dv[i] = w * (20 * M_PI * sin(2 * M_PI * z) + 2 * z);
  }
  return 10 * (bbob->dim - cosines) + squares;
}

static double linear_slope(const RgBbob *bbob, const double *x, double *dx)
{
  double sum = 0;

  for (int i = 0; i < bbob->dim; i++) {
    const double corner = bbob->x_opt[i];
    const double g = pow(10, rg_bbob_t(bbob, i)) * sign_of(corner);
    const bool inside = x[i] * corner < 25;
    sum += 5 * fabs(g) - g * (inside ? x[i] : corner);
    if (dx) dx[i] = inside ? -g : 0;
  }
  return sum;
}

/* ---- moderate conditioning ------------------------------------------------------------------ */

static double attractive_sector(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = 0, slope;

  for (int i = 0; i < bbob->dim; i++) {
    const double q = z[i] * bbob->x_opt[i] > 0 ? 1e4 : 1;
    sum += q * z[i] * z[i];
    if (dz) dz[i] = 2 * q * z[i];
  }
  const double v = rg_bbob_osz(sum, &slope);
  for (int i = 0; dz && i < bbob->dim; i++) dz[i] *= v > 0 ? 0.9 * pow(v, -0.1) * slope : 0;
  return pow(v, 0.9);
}

/* z = R round(zh): constant between steps, except for the slope along zh_0 where that dominates. */
static double step_ellipsoid(const RgBbob *bbob, const double *zh, double *dzh)
{
  const int dim = bbob->dim;
  double sum = 0;

  for (int i = 0; i < dim; i++) {
    const double *row = bbob->inner + (size_t)i * dim;
    double z = 0;
    for (int j = 0; j < dim; j++)
      z += row[j] * (fabs(zh[j]) > 0.5 ? bbob_round(zh[j]) : bbob_round(10 * zh[j]) / 10);
    sum += pow(100, rg_bbob_t(bbob, i)) * z * z;
  }
  const double slope = fabs(zh[0]) * 1e-4;
  for (int i = 0; dzh && i < dim; i++) dzh[i] = i == 0 && slope > sum ? 1e-5 * sign_of(zh[0]) : 0;
  return 0.1 * fmax(slope, sum);
}

static double rosenbrock(const RgBbob *bbob, const double *z, double *dz)
{
  double valley = 0, slope = 0;

  for (int i = 0; dz && i < bbob->dim; i++) dz[i] = 0;
  for (int i = 0; i < bbob->dim - 1; i++) {
    const double a = z[i] + bbob->offset, b = z[i + 1] + bbob->offset, e = a * a - b, g = a - 1;
    valley += e * e;
    slope += g * g;
    if (!dz) continue;
    dz[i] += 400 * e * a + 2 * g;
    dz[i + 1] -= 200 * e;
  }
  return 100 * valley + slope;
}

/* ---- multi-modal ---------------------------------------------------------------------------- */

static double weierstrass(const RgBbob *bbob, const double *z, double *dz)
{
  const int dim = bbob->dim;
  double base = 0, sum = 0;

  for (int k = 0; k < WAVES; k++) base += pow(0.5, k) * cos(2 * M_PI * pow(3, k) * 0.5);
  for (int i = 0; i < dim; i++) {
    double slope = 0;
    for (int k = 0; k < WAVES; k++) {
      const double wave = pow(3, k), weight = pow(0.5, k), angle = 2 * M_PI * (z[i] + 0.5) * wave;
      sum += weight * cos(angle);
      if (dz) slope -= 2 * M_PI * wave * weight * sin(angle);
    }
    if (dz) dz[i] = slope / dim;
  }
  const double depth = sum / dim - base;
  for (int i = 0; dz && i < dim; i++) dz[i] *= 30 * depth * depth;
  return 10 * pow(depth, 3);
}

static double schaffers(const RgBbob *bbob, const double *z, double *dz)
{
  const int n = bbob->dim - 1;
  double sum = 0;

  for (int i = 0; dz && i <= n; i++) dz[i] = 0;
  for (int i = 0; i < n; i++) {
    const double a = z[i] * z[i] + z[i + 1] * z[i + 1], s = sin(50 * pow(a, 0.1));
    sum += pow(a, 0.25) * (1 + s * s);
    if (!dz || a == 0) continue;
    const double by_a =
      0.25 * pow(a, -0.75) * (1 + s * s) + 10 * pow(a, -0.65) * s * cos(50 * pow(a, 0.1));
    dz[i] += 2 * z[i] * by_a;
    dz[i + 1] += 2 * z[i + 1] * by_a;
  }
  const double mean = sum / n;
  for (int i = 0; dz && i <= n; i++) dz[i] *= 2 * mean / n;
  return mean * mean;
}

static double griewank_rosenbrock(const RgBbob *bbob, const double *z, double *dz)
{
  const int n = bbob->dim - 1;
  double sum = 0;

  for (int i = 0; dz && i <= n; i++) dz[i] = 0;
  for (int i = 0; i < n; i++) {
    const double v = z[i] + bbob->offset, w = z[i + 1] + bbob->offset, e = v * v - w, g = 1 - v;
    const double a = 100 * e * e + g * g, by_a = 10 * (1.0 / 4000 + sin(a)) / n;
    sum += a / 4000 - cos(a);
    if (!dz) continue;
    dz[i] += by_a * (400 * e * v - 2 * g);
    dz[i + 1] -= by_a * 200 * e;
  }
  return 10 + 10 * sum / n;
}

/* z_i = 100 (10^(t_i/2) (zh_i - m) + m), zh_i = xh_i + 0.25 (xh_{i-1} - m), xh = +-2 x. The loop
   starts at the last coordinate, so that dx[i] can include its effect on zh_{i+1}. */
static double schwefel(const RgBbob *bbob, const double *x, double *dx)
{
  const int dim = bbob->dim;
  const double m = SCHWEFEL_PEAK;
  double sum = 0, penalty = 0;

  for (int i = dim - 1; i >= 0; i--) {
    const double sign = sign_of(bbob->x_opt[i]), before = i ? sign_of(bbob->x_opt[i - 1]) : 0;
    const double w = pow(10, 0.5 * rg_bbob_t(bbob, i));
    const double zh = 2 * sign * x[i] + (i ? 0.25 * (2 * before * x[i - 1] - m) : 0);
    const double z = 100 * (w * (zh - m) + m), root = sqrt(fabs(z)), over = fabs(z) - 500;
    sum += z * sin(root);
    if (over > 0) penalty += over * over;
    if (!dx) continue;
    const double by_z =
      (over > 0 ? 2 * over * sign_of(z) : 0) - (sin(root) + 0.5 * root * cos(root)) / dim;
    dx[i] = (i == dim - 1 ? 0 : dx[i]) + by_z * w * 2 * sign;
    if (i) dx[i - 1] = by_z * w * 0.5 * before;
  }
  return 0.01 * (penalty + 418.9828872724339 - sum / dim);
}

/* The highest peak w_p exp(-1/(2D) sum_j C_pj (z_j - (Q Y_p)_j)^2) gives the value. */
static double gallagher(const RgBbob *bbob, const double *z, double *dz)
{
  const int dim = bbob->dim;
  double height = 0, slope;
  int best = 0;

  for (int p = 0; p < bbob->n_peaks; p++) {
    const double *C = bbob->scale + (size_t)p * dim, *y = bbob->peaks + (size_t)p * dim;
    double sum = 0;
    for (int j = 0; j < dim; j++) sum += C[j] * (z[j] - y[j]) * (z[j] - y[j]);
    const double value = bbob->height[p] * exp(-0.5 / dim * sum);
    if (value <= height) continue;
    height = value;
    best = p;
  }
  const double v = rg_bbob_osz(10 - height, &slope);

  for (int j = 0; dz && j < dim; j++) {
    const size_t k = (size_t)best * dim + j;
    dz[j] = 2 * v * slope * height * bbob->scale[k] * (z[j] - bbob->peaks[k]) / dim;
  }
  return v * v;
}

static double katsuura(const RgBbob *bbob, const double *z, double *dz)
{
  const int dim = bbob->dim;
  const double power = 10 / pow(dim, 1.2), factor = 10.0 / dim / dim;
  double product = 1;

  for (int i = 0; i < dim; i++) {
    double a = 0, slope = 0;
    for (int j = 1; j <= BITS; j++) {
      const double size = ldexp(1, j), rest = size * z[i] - bbob_round(size * z[i]);
      a += fabs(rest) / size;
      slope += sign_of(rest);
    }
    product *= pow(1 + (i + 1) * a, power);
    if (dz) dz[i] = power * (i + 1) * slope / (1 + (i + 1) * a);
  }
  for (int i = 0; dz && i < dim; i++) dz[i] *= factor * product;
  return factor * (product - 1);
}

/* Rastrigin's waves in z = M (xh - m0), added to the lower of two bowls; xh = +-2 x. */
static double lunacek(const RgBbob *bbob, const double *x, double *dx)
{
  const int dim = bbob->dim;
  const double m0 = 2.5, S = 1 - 0.5 / (sqrt(dim + 20.0) - 4.1), m1 = -sqrt((m0 * m0 - 1) / S);
  double near = 0, far = 0, cosines = 0;

  for (int j = 0; j < dim; j++) {
    const double xh = 2 * sign_of(bbob->x_opt[j]) * x[j];
    near += (xh - m0) * (xh - m0);
    far += (xh - m1) * (xh - m1);
  }
  const bool nearer = near < dim + S * far;
  for (int j = 0; dx && j < dim; j++) {
    const double sign = sign_of(bbob->x_opt[j]), xh = 2 * sign * x[j];
    dx[j] = 4 * sign * (nearer ? xh - m0 : S * (xh - m1));
  }
  for (int i = 0; i < dim; i++) {
    const double *row = bbob->inner + (size_t)i * dim;
    double z = 0;
    for (int j = 0; j < dim; j++) z += row[j] * (2 * sign_of(bbob->x_opt[j]) * x[j] - m0);
    cosines += cos(2 * M_PI * z);
    for (int j = 0; dx && j < dim; j++)
      dx[j] += 40 * M_PI * sin(2 * M_PI * z) * row[j] * sign_of(bbob->x_opt[j]);
  }
  return fmin(near, dim + S * far) + 10 * (dim - cosines);
}

/* ---- the table ------------------------------------------------------------------------------ */

// clang-format off
#define STEPS(...) {__VA_ARGS__}

/* Entries 1 ... 24. */
static const RgBbobFormula formulas[RG_BBOB_FUNCTIONS + 1] = {
  [1] = {.title = "Sphere", .raw = sphere},
  [2] = {.title = "Ellipsoid, separable", .raw = ellipsoid_6, .steps = STEPS(RG_BBOB_OSZ)},
  [3] = {.title = "Rastrigin, separable", .raw = rastrigin, .alpha = 10, .beta = 0.2,
         .steps = STEPS(RG_BBOB_OSZ, RG_BBOB_ASY, RG_BBOB_LAMBDA)},
  [4] = {.title = "Bueche-Rastrigin", .raw = bueche_rastrigin, .penalty = 100,
         .steps = STEPS(RG_BBOB_OSZ)},
  [5] = {.title = "Linear slope", .raw = linear_slope, .fixed_origin = true},
  [6] = {.title = "Attractive sector", .raw = attractive_sector, .alpha = 10,
         .steps = STEPS(RG_BBOB_MIX)},
  [7] = {.title = "Step ellipsoid", .raw = step_ellipsoid, .alpha = 10, .penalty = 1,
         .steps = STEPS(RG_BBOB_SCALED_Q), .inner = RG_BBOB_R},
  [8] = {.title = "Rosenbrock", .raw = rosenbrock, .stretched = true},
  [9] = {.title = "Rosenbrock, rotated", .raw = rosenbrock, .stretched = true,
         .steps = STEPS(RG_BBOB_Q), .fixed_origin = true},
  [10] = {.title = "Ellipsoid", .raw = ellipsoid_6, .steps = STEPS(RG_BBOB_R, RG_BBOB_OSZ)},
  [11] = {.title = "Discus", .raw = discus, .steps = STEPS(RG_BBOB_R, RG_BBOB_OSZ)},
  [12] = {.title = "Bent cigar", .raw = bent_cigar, .beta = 0.5,
          .steps = STEPS(RG_BBOB_R, RG_BBOB_ASY, RG_BBOB_R)},
  [13] = {.title = "Sharp ridge", .raw = sharp_ridge, .alpha = 10,
          .steps = STEPS(RG_BBOB_MIX)},
  [14] = {.title = "Different powers", .raw = different_powers, .steps = STEPS(RG_BBOB_R)},
  [15] = {.title = "Rastrigin", .raw = rastrigin, .alpha = 10, .beta = 0.2,
          .steps = STEPS(RG_BBOB_R, RG_BBOB_OSZ, RG_BBOB_ASY, RG_BBOB_MIX)},
  [16] = {.title = "Weierstrass", .raw = weierstrass, .alpha = 0.01, .penalty = 10,
          .per_dim = true, .steps = STEPS(RG_BBOB_R, RG_BBOB_OSZ, RG_BBOB_MIX)},
  [17] = {.title = "Schaffers F7", .raw = schaffers, .alpha = 10, .beta = 0.5,
          .penalty = 10, .steps = STEPS(RG_BBOB_R, RG_BBOB_ASY, RG_BBOB_SCALED_Q)},
  [18] = {.title = "Schaffers F7, ill-conditioned", .raw = schaffers, .alpha = 1000,
          .beta = 0.5, .penalty = 10, .steps = STEPS(RG_BBOB_R, RG_BBOB_ASY, RG_BBOB_SCALED_Q)},
  [19] = {.title = "Griewank-Rosenbrock", .raw = griewank_rosenbrock, .stretched = true,
          .steps = STEPS(RG_BBOB_Q), .fixed_origin = true},
  [20] = {.title = "Schwefel", .raw = schwefel, .fixed_origin = true},
  [21] = {.title = "Gallagher, 101 peaks", .raw = gallagher, .penalty = 1,
          .steps = STEPS(RG_BBOB_Q), .fixed_origin = true},
  [22] = {.title = "Gallagher, 21 peaks", .raw = gallagher, .penalty = 1,
          .steps = STEPS(RG_BBOB_Q), .fixed_origin = true},
  [23] = {.title = "Katsuura", .raw = katsuura, .alpha = 100, .penalty = 1,
          .steps = STEPS(RG_BBOB_MIX)},
  [24] = {.title = "Lunacek bi-Rastrigin", .raw = lunacek, .alpha = 100, .penalty = 1e4,
          .inner = RG_BBOB_MIX, .fixed_origin = true},
};
// clang-format on

/* ---- the matrices of an instance ------------------------------------------------------------ */

static PetscErrorCode new_rotation(int dim, int64_t seed, double **matrix)
{
  PetscCall(PetscMalloc1((size_t)dim * dim, matrix));
  return rg_bbob_rotation(dim, seed, *matrix);
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

  PetscCall(PetscCalloc1((size_t)dim * dim, &product));
  for (int i = 0; i < dim; i++)
    for (int k = 0; k < dim; k++) {
      const double r = R[(size_t)i * dim + k], *row = *Q + (size_t)k * dim;
      for (int j = 0; j < dim; j++) product[(size_t)i * dim + j] += r * row[j];
    }
  PetscCall(PetscFree(*Q));
  *Q = product;
  return 0;
}

static PetscErrorCode create_matrix(const RgBbob *bbob, RgBbobStep step, int64_t seed,
                                    double **matrix)
{
  const size_t size = (size_t)bbob->dim * bbob->dim;

  switch (step) {
  case RG_BBOB_R: PetscCall(new_rotation(bbob->dim, seed + SECOND_SEED, matrix)); break;
  case RG_BBOB_Q:
  case RG_BBOB_SCALED_Q: PetscCall(new_rotation(bbob->dim, seed, matrix)); break;
  case RG_BBOB_MIX: {
    /* The matrix R Lambda^alpha Q. */
    double *R;
    PetscCall(new_rotation(bbob->dim, seed + SECOND_SEED, &R));
    PetscCall(new_rotation(bbob->dim, seed, matrix));
    scale_rows(bbob, *matrix);
    PetscCall(multiply(bbob->dim, R, matrix));
    PetscCall(PetscFree(R));
  } break;
  case RG_BBOB_END:
  case RG_BBOB_OSZ:
  case RG_BBOB_ASY:
  case RG_BBOB_LAMBDA: return 0;
  }
  if (step == RG_BBOB_SCALED_Q) scale_rows(bbob, *matrix);
  for (size_t i = 0; bbob->c != 1 && i < size; i++) (*matrix)[i] *= bbob->c;
  return 0;
}

/* ---- f21, f22: peaks ------------------------------------------------------------------------ */

/* order[k]: index of the k-th smallest of n uniform numbers. */
static PetscErrorCode draw_order(int n, int64_t seed, PetscInt *order)
{
  double *u;

  PetscCall(PetscMalloc1(n, &u));
  rg_bbob_uniform(n, seed, u);
  for (int i = 0; i < n; i++) order[i] = i;
  PetscCall(PetscSortRealWithPermutation(n, u, order));
  return PetscFree(u);
}

/* Compute the heights w_p and scales C_p of the peaks. */
static PetscErrorCode shape_peaks(RgBbob *bbob, int64_t seed)
{
  const int n = bbob->n_peaks, dim = bbob->dim;
  PetscInt *conditions, *order;

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
  return PetscFree2(conditions, order);
}

/* Compute the rotated positions Y_p; the first one is the optimum. */
static PetscErrorCode place_peaks(RgBbob *bbob, int64_t seed)
{
  const int n = bbob->n_peaks, dim = bbob->dim;
  const double width = bbob->function == 21 ? 10 : 9.8, centre = bbob->function == 21 ? 5 : 4.9;
  const double *Q = bbob->matrix[0];
  double *Y;

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
  return PetscFree(Y);
}

/* ---- optima --------------------------------------------------------------------------------- */

/* Corners: +-`size`, with the signs of `u` - `centre`. */
static void signs(int dim, const double *u, double centre, double size, double *x)
{
  for (int i = 0; i < dim; i++) x[i] = u[i] < centre ? -size : size;
}

static PetscErrorCode find_optimum(RgBbob *bbob, int64_t seed)
{
  const int dim = bbob->dim;
  double *x = bbob->x_opt;

  /* Draw multiples of 0.0008 in [-4, 4]. */
  rg_bbob_uniform(dim, bbob->function == 12 ? seed + SECOND_SEED : seed, x);
  for (int i = 0; i < dim; i++) {
    x[i] = 8 * floor(1e4 * x[i]) / 1e4 - 4;
    if (x[i] == 0) x[i] = -1e-5;
  }
  switch (bbob->function) {
  case 4:
    for (int i = 0; i < dim; i += 2) x[i] = fabs(x[i]);
    break;
  case 5: signs(dim, x, 0, 5, x); break;
  case 8:
    for (int i = 0; i < dim; i++) x[i] *= 0.75;
    break;
  case 9:
  case 19: /* x_opt solves c Q x + 1/2 = 1; the matrix is c Q */
    for (int j = 0; j < dim; j++) {
      double sum = 0;
      for (int i = 0; i < dim; i++) sum += bbob->matrix[0][(size_t)i * dim + j] * 0.5;
      x[j] = sum / (bbob->c * bbob->c);
    }
    break;
  case 20:
    rg_bbob_uniform(dim, seed, x);
    signs(dim, x, 0.5, 0.5 * 4.2096874637, x);
    break;
  case 21:
  case 22:
    bbob->n_peaks = bbob->function == 21 ? 101 : 21;
    PetscCall(PetscMalloc3(bbob->n_peaks, &bbob->height, (size_t)bbob->n_peaks * dim, &bbob->scale,
                           (size_t)bbob->n_peaks * dim, &bbob->peaks));
    PetscCall(shape_peaks(bbob, seed));
    PetscCall(place_peaks(bbob, seed));
    break;
  case 24:
    PetscCall(rg_bbob_normal(dim, seed, x));
    signs(dim, x, 0, 1.25, x);
    break;
  }
  return 0;
}

PetscErrorCode rg_bbob_create(int function, int dim, uint64_t instance, RgBbob *bbob)
{
  const int base = function == 4 ? 3 : function == 18 ? 17 : function;
  const int64_t seed = base + 10000 * (int64_t)instance;

  PetscCheck(function >= 1 && function <= RG_BBOB_FUNCTIONS && dim >= 2, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "BBOB function %d in %d dimensions", function, dim);
  *bbob = (RgBbob){.formula = &formulas[function], .function = function, .dim = dim, .c = 1};
  if (bbob->formula->stretched) bbob->c = fmax(1, sqrt(dim) / 8);
  bbob->offset = function == 8 ? 1 : 0.5;
  PetscCall(PetscMalloc1(dim, &bbob->x_opt));
  double a, b;
  PetscCall(rg_bbob_normal(1, seed, &a));
  PetscCall(rg_bbob_normal(1, seed + 1, &b));
  bbob->f_opt = fmin(1000, fmax(-1000, bbob_round(100.0 * 100 * a / b) / 100));
  const RgBbobFormula *formula = bbob->formula;
  for (int k = 0; formula->steps[k] != RG_BBOB_END; k++)
    PetscCall(create_matrix(bbob, formula->steps[k], seed, &bbob->matrix[k]));
  PetscCall(create_matrix(bbob, formula->inner, seed, &bbob->inner));
  return find_optimum(bbob, seed);
}

PetscErrorCode rg_bbob_destroy(RgBbob *bbob)
{
  for (int k = 0; k < RG_BBOB_STEPS; k++) PetscCall(PetscFree(bbob->matrix[k]));
  PetscCall(RG_FREE(&bbob->x_opt, &bbob->inner));
  if (bbob->n_peaks) PetscCall(PetscFree3(bbob->height, bbob->scale, bbob->peaks));
  return 0;
}
