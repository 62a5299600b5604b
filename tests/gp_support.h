/* Parts shared by the tests of gp/: kernels of every structure, random points, and a kernel
   written again without vectors. */
#ifndef RG_TESTS_GP_SUPPORT_H
#define RG_TESTS_GP_SUPPORT_H

#include "test_main.h"

#include "regatta/domain.h"
#include "regatta/stream.h"
#include "gp/kernel/family.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/posterior.h"

/* `variant` of a kernel over 4 inputs: 0 isotropic, 1 ARD, 2 product of two groups, 3 additive, 4 a
   sum of products with an input used twice, 5 ARD with two choices, 6 a
   product of two groups of warped inputs. */
#define SUPPORT_VARIANTS 7
#define SUPPORT_DIM 4

static inline void support_kernel(RgKernelFamily family, int variant, RgKernel *kernel)
{
  const double scales[] = {0.31, 0.52, 0.27, 0.74}, variances[] = {1.7, 0.6};
  const int group[] = {0, 1, 0, 1};

  switch (variant) {
  case 0: RG_OK(rg_kernel_create(family, 4, false, scales, 1.7, kernel)); break;
  case 1: RG_OK(rg_kernel_create(family, 4, true, scales, 1.7, kernel)); break;
  case 2: RG_OK(rg_kernel_create_product(family, 4, 2, group, true, scales, 1.7, kernel)); break;
  case 3:
    RG_OK(rg_kernel_create_additive(family, 4, 2, group, false, scales, variances, kernel));
    break;
  case 6: {
    const double warp[] = {2, 1, 3, 2, 1, 2, 2, 3};

    RG_OK(rg_kernel_create_product(family, 4, 2, group, true, scales, 1.7, kernel));
    RG_OK(rg_kernel_set_warp(kernel));
    memcpy(kernel->warp, warp, sizeof warp);
    break;
  }
  case 5: {
    const int words[] = {0, 3, 0, 2};

    RG_OK(rg_kernel_create(family, 4, true, scales, 1.7, kernel));
    RG_OK(rg_kernel_set_words(kernel, words));
    break;
  }
  default: {
    const int four[] = {0, 1, 2, 3};
    RgKernel product;

    RG_OK(rg_kernel_create_additive(family, 4, 2, group, true, scales, variances, kernel));
    RG_OK(rg_kernel_create_product(family, 4, 4, four, true, scales, 0.9, &product));
    RG_OK(PetscFree(kernel->terms[1].factors[0].inputs));
    RG_OK(PetscFree(kernel->terms[1].factors[0].length_scale));
    RG_OK(PetscFree(kernel->terms[1].factors));
    kernel->terms[1] = product.terms[0];
    RG_OK(PetscFree(product.terms));
  }
  }
  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      RgKernelFactor *factor = &kernel->terms[t].factors[f];
      if (rg_kernel_classes[factor->family]->columns) continue;
      factor->odds[0] = 0.7;
      factor->odds[1] = 2.5;
    }
}

static inline void support_points(uint64_t seed, int n, int dim, double *X)
{
  RgStream stream = rg_stream(1, "gp", 0, "points", seed);
  RgRandom random = rg_stream_at(&stream, 0);

  rg_random_uniforms(&random, (size_t)n * (size_t)dim, X);
}

static inline void support_normals(uint64_t seed, int n, double *z)
{
  RgStream stream = rg_stream(1, "gp", 0, "normals", seed);
  RgRandom random = rg_stream_at(&stream, 0);

  rg_random_normals(&random, (size_t)n, z);
}

/* A derivative from a function's values f at the four support_steps (in units of h) around a point:
   Richardson's (4 D(h/2) - D(h))/3 of central differences D. */
static const double support_steps[] = {1, -1, 0.5, -0.5};

static inline double support_richardson(const double *f, double h)
{
  return (4.0 * (f[2] - f[3]) / h - (f[0] - f[1]) / (2.0 * h)) / 3.0;
}

/* n points of the unit cube in three inputs (an additive recurrence) and a smooth function on them. */
static inline void support_smooth_data(int n, double *X, double *y)
{
  const double step[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  for (int i = 0; i < n; i++) {
    double *x = X + 3 * i, whole;
    for (int j = 0; j < 3; j++) x[j] = modf((i + 1) * step[j], &whole);
    y[i] = sin(5.0 * x[0]) + x[1] * x[1] - 0.3 * cos(7.0 * x[2]);
  }
}

/* Hyperparameters from their logarithms, in the order of rg_kernel_get_theta. */
static inline void support_set_theta(RgKernel *kernel, const double *theta)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    RgKernelTerm *term = &kernel->terms[t];
    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++)
        term->factors[f].length_scale[s] = exp(*theta++);
      for (int o = 0; o < rg_kernel_n_odds(&term->factors[f]); o++)
        term->factors[f].odds[o] = exp(*theta++);
    }
    term->variance = exp(*theta++);
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++) kernel->warp[j] = exp(*theta++);
  for (int j = 0; kernel->trend && j < 2; j++) kernel->trend[j] = exp(*theta++);
}

/* Log marginal likelihood of the data: -1/2 beta'beta - log det L - n/2 log(2 pi); 0 without a
   factor. */
static inline double support_log_likelihood(const RgPosterior *posterior)
{
  double value = 0;

  if (!rg_posterior_has_factor(posterior)) return 0;
  for (int i = 0; i < posterior->n; i++)
    value -= 0.5 * posterior->beta[i] * posterior->beta[i] +
             log(posterior->L[(size_t)i * posterior->capacity + i]) + 0.5 * log(2 * M_PI);
  return value;
}

/* The posterior of these data, with room for more. */
static inline void support_fill(const RgKernel *kernel, double noise, double mean, int n,
                                const double *X, const double *y, RgPosterior *posterior)
{
  RG_NO_FAILURE(failure);

  RG_OK(rg_posterior_create(kernel, noise, mean, n + 3, posterior));
  RG_OK(rg_posterior_set(posterior, NULL, noise, mean, n, X, y, &failure));
}

/* The posterior of n <= 64 data. */
static inline void support_posterior(const RgKernel *kernel, int n, RgPosterior *posterior)
{
  double X[64 * SUPPORT_DIM], y[64];

  support_points(5, n, SUPPORT_DIM, X);
  support_normals(6, n, y);
  support_fill(kernel, 0.05, 0.4, n, X, y, posterior);
}

static inline void support_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                   double *variance)
{
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};

  RG_OK(rg_posterior_predict(posterior, m, Z, mean, variance, &work));
}

/* a and b agree up to the tolerance in each of n numbers. */
static inline void support_same(int n, const double *a, const double *b, double tolerance)
{
  for (int i = 0; i < n; i++) RG_CLOSE(a[i], b[i], tolerance);
}

/* 30 points, or a grid of 4 x 3 x 5 x 2 levels, cut after `dim` inputs. */
static inline void support_space(bool grid, int dim, uint64_t seed, RgSpace *space)
{
  const int levels[] = {4, 3, 5, 2};
  const double zero[4] = {0}, one[] = {1.0, 1.0, 1.0, 1.0};
  double axes[14], points[30 * 4];

  for (int i = 0, k = 0; k < 4; i += levels[k], k++)
    for (int l = 0; l < levels[k]; l++) axes[i + l] = (l + 0.1 * (double)seed) / levels[k];
  support_points(seed, 30, dim, points);
  if (grid) RG_OK(rg_space_grid(space, dim, levels, axes, zero, one));
  else RG_OK(rg_space_set(space, dim, 30, points, zero, one));
}

/* The correlation on a sphere of points whose inputs in length scales, centred, are u and v: 1 - b +
   b P(u)'P(v), a the first share of the odds and b the second. M: the kernel's head comment. */
static inline double support_sphere(const RgKernelFactor *factor, const double *u, const double *v,
                                    double M)
{
  const double a = factor->odds[0] / (1 + factor->odds[0]);
  const double b = factor->odds[1] / (1 + factor->odds[1]);
  double uu = 0, vv = 0, uv = 0;

  for (int k = 0; k < factor->n_inputs; k++) {
    uu += u[k] * u[k] / (a * M);
    vv += v[k] * v[k] / (a * M);
    uv += u[k] * v[k] / (a * M);
  }
  return 1 - b + b * (4 * uv + (uu - 1) * (vv - 1)) / ((1 + uu) * (1 + vv));
}

static inline double support_value(const RgKernel *kernel, const double *x, const double *z)
{
  double sum = 0.0, warped[2][SUPPORT_DIM];

  for (int j = 0; kernel->warp && j < kernel->dim; j++) {
    const double a = kernel->warp[j], b = kernel->warp[kernel->dim + j];
    warped[0][j] = 1 - pow(1 - pow(x[j], a), b);
    warped[1][j] = 1 - pow(1 - pow(z[j], a), b);
  }
  if (kernel->warp) x = warped[0];
  if (kernel->warp) z = warped[1];

  for (int t = 0; t < kernel->n_terms; t++) {
    double product = kernel->terms[t].variance;

    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      double d[SUPPORT_DIM], scale[SUPPORT_DIM], u[SUPPORT_DIM], v[SUPPORT_DIM], M = 0;

      for (int k = 0; k < factor->n_inputs; k++) {
        int j = factor->inputs[k], s = j + factor->shift;
        const int words = factor->words ? factor->words[k] : 0;
        d[k] = s > j ? x[j] + x[s] - (z[j] + z[s]) : x[j] - z[j];
        if (words) d[k] = (int)(x[j] * words) == (int)(z[j] * words) ? 0 : 1;
        scale[k] = factor->length_scale[factor->n_scales == 1 ? 0 : k];
        u[k] = (x[j] - 0.5) / scale[k];
        v[k] = (z[j] - 0.5) / scale[k];
        M += 0.25 / (scale[k] * scale[k]);
      }
      product *=
        rg_kernel_classes[factor->family]->columns
          ? rg_kernel_classes[factor->family]->value(factor->shape, factor->n_inputs, d, scale)
          : support_sphere(factor, u, v, M);
    }
    sum += product;
  }
  return sum;
}

/* The first `size` ranks; MPI_COMM_NULL on all other ranks. */
static inline MPI_Comm team_of(int size)
{
  MPI_Comm comm;
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_split(PETSC_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comm);
  return comm;
}

#endif
