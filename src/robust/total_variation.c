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

enum { SAMPLE = 32 };

/* The largest v with above + weight{u >= v} > limit, by weighted selection with partitioning.
   Permutes u and w. -INFINITY if even the smallest u does not satisfy it. */
static double select_upper(int n, double *u, double *w, double above, double limit)
{
  /* above: weight of everything before `begin`, all of it larger than the rest */
  int begin = 0, end = n;

  while (begin < end) {
    const double pivot = middle(u[begin], u[(begin + end) / 2], u[end - 1]);
    int larger = begin, equal = begin;
    double weight_larger = 0, weight_equal = 0;
    /* The larger ones come first, then the equal ones, then the smaller ones. */
    for (int i = begin; i < end; i++) {
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

/* An estimate, from a sample, of a value that a little more than the given share of u exceeds. */
static double guess(int n, const double *u, double share)
{
  const int size = n < SAMPLE ? n : SAMPLE, rank = (int)(share * size) + 2;
  double sorted[SAMPLE];

  for (int k = 0; k < size; k++) {
    const double v = u[(size_t)k * n / size];
    int at = k;
    for (; at > 0 && sorted[at - 1] < v; at--) sorted[at] = sorted[at - 1];
    sorted[at] = v;
  }
  return rank < size ? sorted[rank] : -INFINITY;
}

/* The largest v with weight{u >= v} > limit. Only few values exceed the guess, and they usually
   suffice for the selection. w NULL: equal weights, counted as integers without rounding. work:
   2n. */
static double upper_quantile(int n, const double *u, const double *w, double limit, double *work)
{
  const double low = guess(n, u, limit / (w ? 1 : n));
  double above = 0;
  int count = 0, rest = 0;

  for (int i = 0; i < n; i++) {
    const bool in = u[i] >= low;
    work[count] = u[i];
    work[n + count] = w ? w[i] : 1;
    above += in ? work[n + count] : 0;
    count += in;
  }
  if (above > limit) return select_upper(count, work, work + n, 0, limit);
  for (int i = 0; i < n; i++) {
    if (u[i] >= low) continue;
    work[rest] = u[i];
    work[n + rest++] = w ? w[i] : 1;
  }
  return select_upper(rest, work, work + n, above, limit);
}

/* Return the sum of w min(u, eta), as four independent partial sums. */
static double capped_sum(int n, const double *u, const double *w, double eta)
{
  double sum[4] = {0};

  for (int i = 0; i < n; i++) {
    const double capped = u[i] < eta ? u[i] : eta;
    sum[i % 4] += w ? w[i] * capped : capped;
  }
  return (sum[0] + sum[1] + sum[2] + sum[3]) * (w ? 1 : 1.0 / n);
}

double rg_total_variation_worst(int n, const double *u, const double *w, double floor,
                                double radius, double *q, double *q_floor, double *work)
{
  const double scale = w ? 1 : n;
  const double eta = fmax(floor, upper_quantile(n, u, w, 0.5 * radius * scale, work));
  double below = 0, tied = 0, value = -0.5 * radius * fmax(0, eta - floor);

  value += capped_sum(n, u, w, eta);
  if (!q) return value;
  for (int i = 0; i < n; i++) {
    const double weight = w ? w[i] : 1.0 / n;
    if (u[i] < eta) below += weight;
    else if (u[i] == eta) tied += weight;
  }
  const double kept = eta > floor ? fmax(1 - 0.5 * radius - below, 0) : 0;
  *q_floor = 1 - below - kept;
  for (int i = 0; i < n; i++) {
    const double weight = w ? w[i] : 1.0 / n;
    q[i] = u[i] < eta ? weight : u[i] == eta && tied > 0 ? kept * weight / tied : 0;
  }
  return value;
}
