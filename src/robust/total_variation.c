/* Worst case of an expectation in total variation. */
#include "robust/total_variation.h"

#include <math.h>

static void swap(double *a, double *b)
{
  const double t = *a;

  *a = *b;
  *b = t;
}

static double middle(double a, double b, double c)
{
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* The largest v with weight{u >= v} > limit: weighted selection by partition, of u and w, which are
   permuted. -INFINITY when even the smallest does not reach it. */
static double upper_quantile(int n, double *u, double *w, double limit)
{
  int begin = 0, end = n;
  double above = 0; /* weight of everything before `begin`, all larger than what follows */

  while (begin < end) {
    const double pivot = middle(u[begin], u[(begin + end) / 2], u[end - 1]);
    int larger = begin, equal = begin;
    double weight_larger = 0, weight_equal = 0;
    for (int i = begin; i < end; i++) { /* larger, then equal, then smaller */
      if (u[i] < pivot) continue;
      swap(&u[i], &u[equal]);
      swap(&w[i], &w[equal]);
      if (u[equal] > pivot) {
        weight_larger += w[equal];
        swap(&u[equal], &u[larger]);
        swap(&w[equal], &w[larger++]);
      } else {
        weight_equal += w[equal];
      }
      equal++;
    }
    if (above + weight_larger > limit) {
      end = larger;
    } else if (above + weight_larger + weight_equal > limit) {
      return pivot;
    } else {
      above += weight_larger + weight_equal;
      begin = equal;
    }
  }
  return -INFINITY;
}

double rg_total_variation_worst(int n, const double *u, const double *w, double floor,
                                double radius, double *q, double *q_floor, double *work)
{
  double eta, below = 0, tied = 0, kept, scale, value;

  for (int i = 0; i < n; i++) {
    work[i] = u[i];
    work[n + i] = w ? w[i] : 1; /* equal weights are counted in whole numbers: no rounding */
  }
  scale = w ? 1 : n;
  eta = fmax(floor, upper_quantile(n, work, work + n, 0.5 * radius * scale));
  value = -0.5 * radius * fmax(0, eta - floor);
  for (int i = 0; i < n; i++) {
    const double weight = w ? w[i] : 1.0 / n;
    value += weight * fmin(u[i], eta);
    if (u[i] < eta) below += weight;
    else if (u[i] == eta) tied += weight;
  }
  if (!q) return value;
  kept = eta > floor ? fmax(1 - 0.5 * radius - below, 0) : 0;
  *q_floor = 1 - below - kept;
  for (int i = 0; i < n; i++) {
    const double weight = w ? w[i] : 1.0 / n;
    q[i] = u[i] < eta ? weight : u[i] == eta && tied > 0 ? kept * weight / tied : 0;
  }
  return value;
}
