/* Bounds of kernel regression and the constants of its kernels. */
#include "theory/regression_bounds.h"

#include <math.h>

double rg_regression_radius(double weight, double varsigma, double delta)
{
  return sqrt(2 * varsigma * varsigma * log(2 / delta) / weight);
}

double rg_regression_bound_finite(double n_points, double T, double varsigma, double delta,
                                  double largest_gap)
{
  const double c1 = 256 * varsigma * varsigma / (delta * delta);
  const double c2 = 8 / delta * largest_gap;

  return sqrt(c1 * n_points * T * log(T)) + c2 * n_points;
}

static const double count_rest = 1 + 2 * M_PI * M_PI / 3;

double rg_regression_bound_finite_expected(double n_points, double T, double varsigma,
                                           double largest_gap)
{
  return 2 * sqrt(64 * varsigma * varsigma * n_points * T * log(T)) +
         count_rest * n_points * largest_gap;
}

double rg_regression_bound_gaps(int n, const double *gaps, double T, double varsigma)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    if (gaps[i] > 0) sum += 64 * varsigma * varsigma * log(T) / gaps[i] + count_rest * gaps[i];
  return sum;
}

double rg_regression_bound_general(double T, double eta, double omega, double varsigma,
                                   double delta)
{
  const double c3 = 16 * varsigma * varsigma;
  const double c4 = 8 * varsigma * varsigma * log(2 * M_PI * M_PI / (3 * delta));

  return sqrt(c3 * eta * T * log(T)) + sqrt(c4 * T * eta) + 2 * omega;
}

double rg_regression_bound_root(double T, double beta, double eta, double omega)
{
  return 2 * sqrt(T * beta * eta) + 2 * omega;
}

/* Largest sign * (f_i - f_j) over j in [i - window, i]: the extreme of a sliding window is the head
   of a queue of candidates. */
static double largest_rise(int n, const double *f, int window, double sign, int *queue)
{
  double largest = 0;
  int head = 0, tail = 0;

  for (int i = 0; i < n; i++) {
    while (tail > head && sign * f[queue[tail - 1]] >= sign * f[i]) tail--;
    queue[tail++] = i;
    while (queue[head] < i - window) head++;
    largest = fmax(largest, sign * (f[i] - f[queue[head]]));
  }
  return largest;
}

PetscErrorCode rg_modulus_of_continuity(int n, const double *f, double spacing, double reach,
                                        double *omega)
{
  const double steps = floor(reach / spacing);
  const int window = steps < n ? (int)steps : n;
  int *queue;

  PetscCall(PetscMalloc1(n, &queue));
  *omega = fmax(largest_rise(n, f, window, 1, queue), largest_rise(n, f, window, -1, queue));
  return PetscFree(queue);
}

double rg_gaussian_support(double level)
{
  return sqrt(-2 * log(level));
}
