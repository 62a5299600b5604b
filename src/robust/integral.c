/* The average of f(x, .) over contexts under the posterior on a finite set. */
#include "robust/integral.h"
#include "maths/blas.h"

#include <math.h>

double rg_robust_levels(const RgRobustDerivatives *derivatives, int d, double m, int t)
{
  const double level = fmax(log(derivatives->a * d * m), 0);

  return ceil(derivatives->b * d * derivatives->r * t * t * (sqrt(level) + sqrt(M_PI) / 2));
}

double rg_robust_kappa(const RgRobustDerivatives *derivatives, int d1, int d2, double n_designs,
                       double n_contexts, int t)
{
  const double finite = d1 ? (d2 ? 1 : n_contexts) : n_designs;
  const double levels = d1 + d2 ? rg_robust_levels(derivatives, d1 + d2, finite, t) : 0;

  return (d1 ? 1 + pow(levels, d1) : n_designs) * (d2 ? pow(levels, d2) : n_contexts);
}

void rg_robust_node(int dim, int levels, int i, double *node)
{
  for (int j = dim - 1; j >= 0; j--, i /= levels) node[j] = (i % levels + 0.5) / levels;
}

int rg_robust_cell(int levels, double w)
{
  const int cell = (int)floor(w * levels);

  return cell < levels ? cell : levels - 1;
}

/* Prior variance of the average at one design. A stationary kernel gives the same value at all
   designs. */
static PetscErrorCode prior_variance(const RgIntegral *integral, const RgSetPosterior *posterior,
                                     double *variance)
{
  int n = integral->n_contexts;
  double *K;

  PetscCall(PetscMalloc1((size_t)n * n, &K));
  PetscCall(rg_kernel_matrix(&posterior->prior.kernel, n, posterior->prior.points, K));
  *variance = 0.0;
  for (int i = 0; i < n; i++)
    *variance += integral->p[i] * cblas_ddot(n, K + (size_t)i * n, 1, integral->p, 1);
  return PetscFree(K);
}

static double average(const RgIntegral *integral, int design, const double *values)
{
  return cblas_ddot(integral->n_contexts, values + (size_t)design * integral->n_contexts, 1,
                    integral->p, 1);
}

static PetscErrorCode reset(void *closure, const RgSetPosterior *posterior)
{
  RgIntegral *integral = closure;
  double variance = 0.0;

  PetscCall(prior_variance(integral, posterior, &variance));
  for (int i = 0; i < integral->n_designs; i++) {
    integral->mean[i] = average(integral, i, posterior->mean);
    integral->variance[i] = variance;
  }
  return 0;
}

static PetscErrorCode update(void *closure, const RgSetPosterior *posterior,
                             const RgSetUpdate *change)
{
  RgIntegral *integral = closure;

  for (int i = 0; i < integral->n_designs; i++) {
    const double m = average(integral, i, change->row);
    integral->mean[i] += change->step * m;
    integral->variance[i] = PetscMax(integral->variance[i] - m * m, 0.0);
  }
  return 0;
}

static PetscErrorCode keep(void *closure)
{
  RgIntegral *integral = closure;
  const size_t n = (size_t)integral->n_designs;

  PetscCall(PetscArraycpy(integral->kept, integral->mean, n));
  return PetscArraycpy(integral->kept + n, integral->variance, n);
}

static PetscErrorCode restore(void *closure)
{
  RgIntegral *integral = closure;
  const size_t n = (size_t)integral->n_designs;

  PetscCall(PetscArraycpy(integral->mean, integral->kept, n));
  return PetscArraycpy(integral->variance, integral->kept + n, n);
}

PetscErrorCode rg_integral_create(RgSetPosterior *posterior, int n_contexts, const double *p,
                                  RgIntegral *integral)
{
  RgSetListener listener = {integral, reset, update, keep, restore};

  *integral =
    (RgIntegral){.n_designs = posterior->prior.size / n_contexts, .n_contexts = n_contexts, .p = p};
  PetscCall(PetscMalloc3(integral->n_designs, &integral->mean, integral->n_designs,
                         &integral->variance, 2 * (size_t)integral->n_designs, &integral->kept));
  return rg_set_posterior_follow(posterior, &listener);
}

PetscErrorCode rg_integral_destroy(RgIntegral *integral)
{
  return PetscFree3(integral->mean, integral->variance, integral->kept);
}
