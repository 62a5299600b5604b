/* Worst case of an expectation in Wasserstein distance. */
#include "robust/wasserstein.h"

#include <math.h>

double rg_wasserstein_norm(const RgWassersteinTheory *theory, double log_det)
{
  const double width = sqrt(log_det + 2 * log(1 / theory->delta));

  return theory->R / sqrt(theory->lambda) * width + theory->B;
}

double rg_wasserstein_covering(const RgWassersteinTheory *theory, int t, double norm)
{
  const double dim = theory->dim_x + theory->dim_c;

  return theory->kappa * (pow(1 + log(t * norm), 1 + dim) + pow(1 + log(t), 1 + 2 * dim));
}

double rg_wasserstein_radius(const RgWassersteinTheory *theory, int t, double norm)
{
  const double level = log(1 / theory->delta) + theory->dim_x * log1p(2 * t * theory->width_x) +
                       rg_wasserstein_covering(theory, t, norm);

  return theory->width_c * sqrt(2 * level / t);
}

enum { DOUBLINGS = 200, PIECES = 10000 };

typedef struct {
  int n, m;
  const double *w, *u, *distance;
  double radius;
} Dual;

/* The point to which the mass of sample point i moves at price g. The nearest point wins ties. */
static int cheapest(const Dual *dual, int i, double g)
{
  const double *d = dual->distance + (size_t)i * dual->m;
  double best = INFINITY;
  int at = 0;

  for (int s = 0; s < dual->m; s++) {
    const double price = dual->u[s] + g * d[s];
    if (price < best || (price == best && d[s] < d[at])) {
      best = price;
      at = s;
    }
  }
  return at;
}

static double weight_of(const Dual *dual, int i)
{
  return dual->w ? dual->w[i] : 1.0 / dual->n;
}

/* Return the dual at price g, and its right derivative. */
static double dual_at(const Dual *dual, double g, double *slope)
{
  double value = -g * dual->radius;

  *slope = -dual->radius;
  for (int i = 0; i < dual->n; i++) {
    const int at = cheapest(dual, i, g);
    const double d = dual->distance[(size_t)i * dual->m + at], weight = weight_of(dual, i);
    value += weight * (dual->u[at] + g * d);
    *slope += weight * d;
  }
  return value;
}

/* Add `share` of the distribution to which the mass moves at price g. */
static void move(const Dual *dual, double g, double share, double *q)
{
  for (int i = 0; i < dual->n && q; i++) q[cheapest(dual, i, g)] += share * weight_of(dual, i);
}

/* Intersect tangents from both sides of the maximum until they meet on the dual. The worst
   distribution is the mixture of their distributions at distance `radius`. */
double rg_wasserstein_worst(int n, const double *w, int m, const double *u, const double *distance,
                            double radius, double *q)
{
  const Dual dual = {n, m, w, u, distance, radius};
  double left = 0, right = 1, rise, fall, from, to, value, flat = 0;

  /* `flat` allows for rounding. */
  for (size_t k = 0; k < (size_t)n * m; k++) flat = fmax(flat, 1e-12 * distance[k]);
  value = from = dual_at(&dual, left, &rise);
  to = dual_at(&dual, right, &fall);
  for (int k = 0; rise > flat && fall > flat && k < DOUBLINGS; k++) {
    left = right;
    from = to;
    rise = fall;
    right *= 2;
    to = dual_at(&dual, right, &fall);
  }
  if (rise > flat && fall > flat) return INFINITY;
  for (int k = 0; rise > flat && k < PIECES; k++) {
    const double g = (to - from + rise * left - fall * right) / (rise - fall);
    const double tangents = from + rise * (g - left);
    double slope;
    value = dual_at(&dual, g, &slope);
    if (tangents - value <= 1e-14 * (1 + fabs(value)) || g <= left || g >= right) break;
    if (slope > flat) {
      left = g;
      from = value;
      rise = slope;
    } else {
      right = g;
      to = value;
      fall = slope;
    }
  }
  for (int s = 0; s < m && q; s++) q[s] = 0;
  const double share = rise > flat ? fmax(-fall, 0) / (rise - fall) : 1;
  move(&dual, left, share, q);
  if (share < 1) move(&dual, right, 1 - share, q);
  return value;
}
