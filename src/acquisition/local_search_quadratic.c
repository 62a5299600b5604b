/* Minimisation of a quadratic model over a box: the step of the local search. */
#include "acquisition/local_search.h"

#include <math.h>
#include <string.h>

enum { FREE = 0, AT_LOWER = -1, AT_UPPER = 1 };

/* Solve A u = b in place by A = L D L' (A n x n symmetric positive definite, row-major, destroyed;
   u in b). False when A is not positive definite. */
static bool factor_solve(int n, double *A, double *b)
{
  for (int i = 0; i < n; i++) {
    double *row = A + (size_t)i * n, pivot = row[i];
    for (int j = 0; j < i; j++) {
      double sum = row[j]; /* L_ij D_j, then L_ij */
      for (int k = 0; k < j; k++) sum -= row[k] * A[j * n + k];
      row[j] = sum;
    }
    for (int j = 0; j < i; j++) {
      double scaled = row[j] * A[j * n + j];
      pivot -= row[j] * scaled;
      b[i] -= scaled * b[j];
      row[j] = scaled;
    }
    if (!(pivot > 0.0)) return false;
    row[i] = 1.0 / pivot;
  }
  for (int i = 0; i < n; i++) b[i] *= A[i * n + i];
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
  }
  return true;
}

/* Step of the free coordinates, given the fixed ones, from B_FF p_F = g_F - B_FA p_A; written to
   `target`. */
static bool free_step(int dim, const double *g, const double *B, const int *state,
                      const double *step, double *target, double *work)
{
  int n = 0, row = 0;
  double *A = work, *b = work + (size_t)dim * dim;

  for (int i = 0; i < dim; i++) n += state[i] == FREE;
  for (int i = 0; i < dim; i++) {
    if (state[i] != FREE) continue;
    int column = 0;
    b[row] = g[i];
    for (int j = 0; j < dim; j++) {
      if (state[j] == FREE) A[row * n + column++] = B[i * dim + j];
      else b[row] -= B[i * dim + j] * step[j];
    }
    row++;
  }
  if (!factor_solve(n, A, b)) return false;
  for (int i = dim - 1; i >= 0; i--) target[i] = state[i] == FREE ? b[--row] : step[i];
  return true;
}

/* Move towards `target` up to the first bound, and fix the coordinate that hits it. True if no
   coordinate does. */
static bool move(int dim, const double *lower, const double *upper, const double *target,
                 int *state, double *step)
{
  int hit = -1;
  double t = 1.0;

  for (int i = 0; i < dim; i++) {
    double bound = target[i] < step[i] ? lower[i] : upper[i];
    if (state[i] != FREE || (target[i] >= lower[i] && target[i] <= upper[i])) continue;
    double reach = (bound - step[i]) / (target[i] - step[i]);
    if (reach < t) {
      t = reach;
      hit = i;
    }
  }
  for (int i = 0; i < dim; i++) {
    if (state[i] == FREE) step[i] += t * (target[i] - step[i]);
  }
  if (hit < 0) return true;
  state[hit] = target[hit] < lower[hit] ? AT_LOWER : AT_UPPER;
  step[hit] = state[hit] == AT_LOWER ? lower[hit] : upper[hit];
  return false;
}

/* Free the fixed coordinate whose multiplier violates its sign most. False if all signs are
   right. */
static bool release(int dim, const double *g, const double *B, const double *step, int *state)
{
  int worst = -1;
  double most = 0.0;

  for (int i = 0; i < dim; i++) {
    if (state[i] == FREE) continue;
    double slope = g[i], scale = fabs(g[i]);
    for (int j = 0; j < dim; j++) slope -= B[i * dim + j] * step[j];
    double inward = state[i] == AT_LOWER ? slope : -slope;
    if (inward > most && inward > 1e-12 * scale) {
      most = inward;
      worst = i;
    }
  }
  if (worst >= 0) state[worst] = FREE;
  return worst >= 0;
}

double rg_box_quadratic(int dim, const double *g, const double *B, const double *lower,
                        const double *upper, double *step, double *work)
{
  double *target = work + (size_t)dim * (dim + 1), gain = 0.0;
  int *state = (int *)(target + dim);

  for (int i = 0; i < dim; i++) {
    step[i] = 0.0;
    state[i] = lower[i] >= 0.0 && g[i] <= 0.0 ? AT_LOWER : FREE;
    if (upper[i] <= 0.0 && g[i] >= 0.0) state[i] = AT_UPPER;
  }
  for (int change = 0; change < 4 * dim + 4; change++) {
    if (!free_step(dim, g, B, state, step, target, work)) break;
    if (move(dim, lower, upper, target, state, step) && !release(dim, g, B, step, state)) break;
  }
  for (int i = 0; i < dim; i++) {
    double curved = 0.0;
    for (int j = 0; j < dim; j++) curved += B[i * dim + j] * step[j];
    gain += step[i] * (g[i] - 0.5 * curved);
  }
  return gain;
}
