/* Maximum information gain: greedy selection on a set, and upper bounds. */
#include "gp/model/information_gain.h"

#include <math.h>
#include <stdlib.h>

#include "maths/blas.h"
#include "gp/posterior/set/set_posterior.h"
#include "gp/posterior/set/set_factor.h"

enum { MAX_DENSE = 3000 }; /* largest dense eigenvalue problem, in points */

const char *const rg_gain_bound_names[] = {"hadamard", "submodular", "certificate", "interlacing",
                                           NULL};

/* ---- greedy selection ------------------------------------------------------------------------ */

/* Lowest index whose variance is within `slack` of the largest, among the unused points. */
static int widest(int size, const double *variance, const bool *used, double slack)
{
  double best = -1;
  int index = 0;

  for (int i = 0; i < size; i++)
    if (!used[i] && variance[i] > best) best = variance[i];
  while (used[index] || variance[index] < best - slack) index++;
  return index;
}

/* Fills index and gain; certificate (n): largest variance left after each point. */
static PetscErrorCode select_greedily(const RgDomain *domain, const RgKernel *kernel,
                                      double noise_variance, RgInformationGain *gain,
                                      double *certificate)
{
  const double v = rg_kernel_diagonal(kernel);
  RgSetPosterior *posterior;
  RgFailure failure = {0};
  double sum = 0;
  bool *used;

  PetscCall(rg_set_posterior_create(domain, kernel, noise_variance, 0.0, gain->n, &posterior));
  const int size = posterior->prior.size;
  const double *variance = posterior->variance;
  PetscCall(PetscCalloc1(size, &used));
  for (int t = 0; t < gain->n; t++) {
    const int best = widest(size, variance, used, 1e-10 * v);
    used[best] = domain->without_replacement;
    sum += 0.5 * log1p(variance[best] / noise_variance);
    gain->index[t] = best;
    gain->gain[t] = sum;
    PetscCall(rg_set_posterior_append(posterior, best, 0.0, &failure));
    PetscCheck(!failure.failed, PETSC_COMM_SELF, PETSC_ERR_FP, "%s", failure.message);
    certificate[t] = 0;
    for (int i = 0; i < size; i++) certificate[t] = fmax(certificate[t], variance[i]);
  }
  PetscCall(PetscFree(used));
  return rg_set_posterior_destroy(&posterior);
}

/* ---- eigenvalues ----------------------------------------------------------------------------- */

static int descending(const void *left, const void *right)
{
  const double a = *(const double *)left, b = *(const double *)right;
  return (a < b) - (a > b);
}

/* The `count` largest eigenvalues of a symmetric n x n matrix, in any order; A is destroyed. */
static PetscErrorCode largest_eigenvalues(int n, double *A, int count, double *values)
{
  double *all, unused;
  int found, info, no_support;

  PetscCall(PetscMalloc1(n, &all));
  info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'N', 'I', 'L', n, A, n, 0, 0, n - count + 1, n, 0, &found,
                        all, &unused, 1, &no_support);
  PetscCheck(!info && found == count, PETSC_COMM_SELF, PETSC_ERR_LIB, "dsyevr returned %d", info);
  PetscCall(PetscArraycpy(values, all, count));
  return PetscFree(all);
}

/* Eigenvalues of a Kronecker product: all products of those of the factors. */
static PetscErrorCode product_eigenvalues(const RgSetPrior *prior, double *values)
{
  double *axis, *table, *tables = prior->tables;
  int done = 1;

  values[0] = 1;
  for (int a = 0; a < prior->n_axes; a++) {
    const int n = prior->levels[a];
    PetscCall(PetscMalloc2(n, &axis, (size_t)n * n, &table));
    PetscCall(PetscArraycpy(table, tables, (size_t)n * n));
    PetscCall(largest_eigenvalues(n, table, n, axis));
    for (int i = done - 1; i >= 0; i--)
      for (int j = n - 1; j >= 0; j--) values[(size_t)i * n + j] = values[i] * axis[j];
    PetscCall(PetscFree2(axis, table));
    tables += (size_t)n * n;
    done *= n;
  }
  return 0;
}

/* Interlacing bounds for 1 .. n points, owned by the caller; NULL if there are too many points. */
static PetscErrorCode interlace(const RgDomain *domain, const RgKernel *kernel,
                                double noise_variance, int n, double **bounds)
{
  RgSetPrior prior;
  double *values, *K, sum = 0;

  *bounds = NULL;
  PetscCall(rg_set_prior_create(domain, kernel, &prior));
  const bool factors = prior.factors && kernel->n_terms == 1;
  if (factors || prior.size <= MAX_DENSE) {
    PetscCall(PetscMalloc1(prior.size, &values));
    if (factors) PetscCall(product_eigenvalues(&prior, values));
    if (!factors) {
      PetscCall(PetscMalloc1((size_t)prior.size * prior.size, &K));
      PetscCall(rg_kernel_matrix(&prior.kernel, prior.size, prior.points, K));
      PetscCall(largest_eigenvalues(prior.size, K, n, values));
      PetscCall(PetscFree(K));
    }
    qsort(values, (size_t)(factors ? prior.size : n), sizeof *values, descending);
    for (int t = 0; t < n; t++) {
      sum += 0.5 * log1p(fmax(values[t], 0) / noise_variance);
      values[t] = sum;
    }
    *bounds = values;
  }
  return rg_set_prior_destroy(&prior);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Store a bound for t + 1 points if it is below the present one by more than rounding. */
static void offer(RgInformationGain *gain, int t, double value, RgGainBound bound)
{
  if (!(value < gain->upper[t] * (1 - 1e-14))) return;
  gain->upper[t] = value;
  gain->bound[t] = bound;
}

PetscErrorCode rg_information_gain_create(const RgDomain *domain, const RgKernel *kernel,
                                          double noise_variance, int n, RgInformationGain *gain)
{
  double *certificate, *interlacing = NULL;

  PetscCheck(noise_variance > 0 && n >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Information gain of %d points with noise variance %g", n, noise_variance);
  PetscCheck(!domain->without_replacement || n <= domain->design.size, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%d points, each once, of a set of %d", n,
             domain->design.size);
  *gain = (RgInformationGain){.n = n};
  PetscCall(PetscMalloc4(n, &gain->index, n, &gain->gain, n, &gain->upper, n, &gain->bound));
  PetscCall(PetscMalloc1(n, &certificate));
  PetscCall(select_greedily(domain, kernel, noise_variance, gain, certificate));
  if (domain->without_replacement)
    PetscCall(interlace(domain, kernel, noise_variance, n, &interlacing));
  for (int t = 0; t < n; t++) {
    const double half = 0.5 * (t + 1);
    gain->upper[t] = half * log1p(rg_kernel_diagonal(kernel) / noise_variance);
    gain->bound[t] = RG_GAIN_HADAMARD;
    offer(gain, t, gain->gain[t] / (1 - exp(-1)), RG_GAIN_SUBMODULAR);
    for (int k = 0; k < n; k++)
      offer(gain, t, gain->gain[k] + half * log1p(certificate[k] / noise_variance),
            RG_GAIN_CERTIFICATE);
    if (interlacing) offer(gain, t, interlacing[t], RG_GAIN_INTERLACING);
  }
  PetscCall(PetscFree(certificate));
  return PetscFree(interlacing);
}

PetscErrorCode rg_information_gain_destroy(RgInformationGain *gain)
{
  PetscCall(PetscFree4(gain->index, gain->gain, gain->upper, gain->bound));
  *gain = (RgInformationGain){0};
  return 0;
}
