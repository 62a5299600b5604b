#include "theory/robust_bounds.h"

#include <math.h>

#include "maths/normal.h"

#define PI 3.14159265358979323846

double rg_robust_c1(double noise, double largest_variance, double least_probability)
{
  return 2 * largest_variance / log1p(largest_variance / noise) / least_probability;
}

/* By parts: with L = log kappa, 2^s e^L Gamma(1 + s, L). */
double rg_robust_mean_power(double kappa, double s)
{
  const double level = log(kappa);

  return pow(2, s) * exp(level) * rg_gamma_upper(1 + s, level);
}

/* 2^nu (t C_{2,nu})^(1 - nu'/2) (C1 gamma)^(nu'/2), nu' = min(nu, 1). */
static double power_sum(double nu, int t, double kappa, double c1, double gamma)
{
  const double least = fmin(nu, 1), mean = rg_robust_mean_power(kappa, nu / (2 - least));

  return pow(2, nu) * pow(t * mean, 1 - least / 2) * pow(c1 * gamma, least / 2);
}

double rg_robust_bound(int n_terms, const RgRobustTerm *terms, int t, double kappa, double c1,
                       double gamma)
{
  double sum = 0;

  for (int i = 0; i < n_terms; i++) {
    double inner = 0;
    for (int j = 0; j < terms[i].n; j++)
      inner += terms[i].lambda[j] * power_sum(terms[i].nu[j], t, kappa, c1, gamma);
    sum += terms[i].weight * pow(inner / t, terms[i].concave);
  }
  return 2 * t * sum;
}

/* sqrt(C1 (2 log kappa + 2) gamma t) */
static double root(int t, double kappa, double c1, double gamma)
{
  return sqrt(c1 * (2 * log(kappa) + 2) * gamma * t);
}

double rg_robust_bound_linear(double slope, int t, double kappa, double c1, double gamma)
{
  return 4 * slope * root(t, kappa, c1, gamma);
}

double rg_robust_bound_continuous(double slope, bool continuous_context, int t, double kappa,
                                  double c1, double gamma)
{
  return slope * ((continuous_context ? 2 : 1) * PI * PI / 6 + 4 * root(t, kappa, c1, gamma));
}

double rg_robust_bound_last_continuous(int t, double kappa, double c1, double gamma)
{
  return 2.0 / t / t + PI * PI / (3 * t) + 4 * root(t, kappa, c1, gamma) / t;
}

double rg_robust_bound_markov(double bound, double delta)
{
  return bound / delta;
}

double rg_robust_oscillation(int t)
{
  double sum = 0;

  for (int i = 1; i <= t; i++) sum += 2 * sqrt(2) / ceil(sqrt(i));
  return sum;
}

double rg_robust_bound_example(int t, double kappa, double c1, double gamma)
{
  const double spread = 6 * sqrt(t) + ceil(sqrt(t)) * c1 * gamma;

  return PI * PI / 3 + 4 * sqrt(t * (2 * log(kappa) + 2) * spread);
}
