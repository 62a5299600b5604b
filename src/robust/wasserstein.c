#include "robust/wasserstein.h"

#include <math.h>

enum { DOUBLINGS = 200, PIECES = 10000 };

typedef struct {
  int           n, m;
  const double *w, *u, *distance;
  double        radius;
} Dual;

/* The dual at price g, and its slope there: to the right where it has a kink and `right`, else to
   the left. */
static double dual_at(const Dual *dual, double g, bool right, double *slope)
{
  double value = -g * dual->radius;

  *slope = -dual->radius;
  for (int i = 0; i < dual->n; i++) {
    const double *d = dual->distance + (size_t)i * dual->m;
    const double  weight = dual->w ? dual->w[i] : 1.0 / dual->n;
    double        best = INFINITY;
    int           at = 0;
    for (int s = 0; s < dual->m; s++) {
      const double price = dual->u[s] + g * d[s];
      if (price < best || (price == best && (right ? d[s] < d[at] : d[s] > d[at]))) {
        best = price;
        at = s;
      }
    }
    value += weight * best;
    *slope += weight * d[at];
  }
  return value;
}

/* Tangents of both sides of the maximum are cut with each other until they meet on the dual. */
double rg_wasserstein_worst(int n, const double *w, int m, const double *u, const double *distance,
                            double radius)
{
  const Dual dual = {n, m, w, u, distance, radius};
  double     left = 0, right = 1, rise, fall, from, to, flat = 0;

  for (size_t k = 0; k < (size_t)n * m; k++) flat = fmax(flat, 1e-12 * distance[k]); /* rounding */
  from = dual_at(&dual, left, true, &rise);
  if (rise <= flat) return from;
  to = dual_at(&dual, right, true, &fall);
  for (int k = 0; fall > flat && k < DOUBLINGS; k++) {
    left = right;
    from = to;
    rise = fall;
    right *= 2;
    to = dual_at(&dual, right, true, &fall);
  }
  if (fall > flat) return INFINITY;
  for (int k = 0; k < PIECES; k++) {
    const double g = (to - from + rise * left - fall * right) / (rise - fall);
    const double tangents = from + rise * (g - left);
    double       slope;
    const double value = dual_at(&dual, g, true, &slope);
    if (tangents - value <= 1e-14 * (1 + fabs(value)) || g <= left || g >= right) return value;
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
  return fmax(from, to);
}
