/* The noiseless BBOB functions of transformed coordinates z, with gradients.
   Source: Hansen, Finck, Ros, Auger (2009), RR-6829. */
#include "extra/bbob/bbob.h"

#include <math.h>
#include <string.h>

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

double rg_bbob_sphere(const RgBbob *bbob, const double *z, double *dz)
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

double rg_bbob_ellipsoid(const RgBbob *bbob, const double *z, double *dz)
{
  return ellipsoid(bbob, 1e6, z, dz);
}

double rg_bbob_discus(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = 1e6 * z[0] * z[0];

  for (int i = 1; i < bbob->dim; i++) sum += z[i] * z[i];
  for (int i = 0; dz && i < bbob->dim; i++) dz[i] = (i ? 2 : 2e6) * z[i];
  return sum;
}

double rg_bbob_bent_cigar(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = z[0] * z[0];

  for (int i = 1; i < bbob->dim; i++) sum += 1e6 * z[i] * z[i];
  for (int i = 0; dz && i < bbob->dim; i++) dz[i] = (i ? 2e6 : 2) * z[i];
  return sum;
}

double rg_bbob_sharp_ridge(const RgBbob *bbob, const double *z, double *dz)
{
  double sum = 0;

  for (int i = 1; i < bbob->dim; i++) sum += z[i] * z[i];
  const double distance = sqrt(sum);
  for (int i = 1; dz && i < bbob->dim; i++) dz[i] = distance > 0 ? 100 * z[i] / distance : 0;
  if (dz) dz[0] = 2 * z[0];
  return 100 * distance + z[0] * z[0];
}

double rg_bbob_different_powers(const RgBbob *bbob, const double *z, double *dz)
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

double rg_bbob_rastrigin(const RgBbob *bbob, const double *z, double *dz)
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
double rg_bbob_bueche_rastrigin(const RgBbob *bbob, const double *v, double *dv)
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

double rg_bbob_linear_slope(const RgBbob *bbob, const double *x, double *dx)
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

double rg_bbob_attractive_sector(const RgBbob *bbob, const double *z, double *dz)
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
double rg_bbob_step_ellipsoid(const RgBbob *bbob, const double *zh, double *dzh)
{
  const int dim = bbob->dim;
  double sum = 0;

  for (int i = 0; i < dim; i++) {
    const double *row = bbob->inner + (size_t)i * dim;
    double z = 0;
    for (int j = 0; j < dim; j++)
      z += row[j] * (fabs(zh[j]) > 0.5 ? rg_bbob_round(zh[j]) : rg_bbob_round(10 * zh[j]) / 10);
    sum += pow(100, rg_bbob_t(bbob, i)) * z * z;
  }
  const double slope = fabs(zh[0]) * 1e-4;
  for (int i = 0; dzh && i < dim; i++) dzh[i] = i == 0 && slope > sum ? 1e-5 * sign_of(zh[0]) : 0;
  return 0.1 * fmax(slope, sum);
}

double rg_bbob_rosenbrock(const RgBbob *bbob, const double *z, double *dz)
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

double rg_bbob_weierstrass(const RgBbob *bbob, const double *z, double *dz)
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

double rg_bbob_schaffers(const RgBbob *bbob, const double *z, double *dz)
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

double rg_bbob_griewank_rosenbrock(const RgBbob *bbob, const double *z, double *dz)
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
double rg_bbob_schwefel(const RgBbob *bbob, const double *x, double *dx)
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

/* The highest of the peaks w_p exp(-1/(2D) sum_j C_pj (z_j - (Q Y_p)_j)^2). */
static int best_peak(const RgBbob *bbob, const double *z, double *height)
{
  const int dim = bbob->dim;
  int best = 0;

  *height = 0;
  for (int p = 0; p < bbob->n_peaks; p++) {
    const double *C = bbob->scale + (size_t)p * dim, *y = bbob->peaks + (size_t)p * dim;
    double sum = 0;
    for (int j = 0; j < dim; j++) sum += C[j] * (z[j] - y[j]) * (z[j] - y[j]);
    const double value = bbob->height[p] * exp(-0.5 / dim * sum);
    if (value <= *height) continue;
    *height = value;
    best = p;
  }
  return best;
}

double rg_bbob_gallagher(const RgBbob *bbob, const double *z, double *dz)
{
  const int dim = bbob->dim;
  double height, slope;
  const int best = best_peak(bbob, z, &height);
  const double v = rg_bbob_osz(10 - height, &slope);

  for (int j = 0; dz && j < dim; j++) {
    const size_t k = (size_t)best * dim + j;
    dz[j] = 2 * v * slope * height * bbob->scale[k] * (z[j] - bbob->peaks[k]) / dim;
  }
  return v * v;
}

double rg_bbob_katsuura(const RgBbob *bbob, const double *z, double *dz)
{
  const int dim = bbob->dim;
  const double power = 10 / pow(dim, 1.2), factor = 10.0 / dim / dim;
  double product = 1;

  for (int i = 0; i < dim; i++) {
    double a = 0, slope = 0;
    for (int j = 1; j <= BITS; j++) {
      const double size = ldexp(1, j), rest = size * z[i] - rg_bbob_round(size * z[i]);
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
double rg_bbob_lunacek(const RgBbob *bbob, const double *x, double *dx)
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
