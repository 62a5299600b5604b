/* Worst case of an expectation in maximum mean discrepancy. */
#include "robust/mmd.h"

#include "base/grow.h"
#include "maths/blas.h"

#include <math.h>

#define SENSITIVITY_JITTER 1e-3 /* the constant of Tay et al. */

PetscErrorCode rg_mmd_create(int n, double *K, const double *p, double jitter, RgMmd *mmd)
{
  size_t size = (size_t)n;
  double trace = 0.0;

  *mmd = (RgMmd){.n = n, .K = K};
  PetscCall(PetscMalloc3(size, &mmd->p, size, &mmd->Kp, size, &mmd->distance));
  PetscCall(PetscMalloc4(8 * size, &mmd->w, size * size, &mmd->gathered, size, &mmd->free_set, size,
                         &mmd->state));
  PetscCall(PetscArraycpy(mmd->p, p, size));
  for (size_t i = 0; i < size; i++) trace += K[i * size + i];
  for (size_t i = 0; i < size; i++) mmd->K[i * size + i] += jitter * trace / n;
  cblas_dsymv(CblasColMajor, CblasLower, n, 1.0, mmd->K, n, p, 1, 0.0, mmd->Kp, 1);
  mmd->pKp = cblas_ddot(n, p, 1, mmd->Kp, 1);
  for (size_t j = 0; j < size; j++)
    mmd->distance[j] = sqrt(fmax(mmd->K[j * size + j] - 2.0 * mmd->Kp[j] + mmd->pKp, 0.0));
  return 0;
}

PetscErrorCode rg_mmd_destroy(RgMmd *mmd)
{
  PetscCall(RG_FREE(&mmd->root, &mmd->K));
  PetscCall(PetscFree3(mmd->p, mmd->Kp, mmd->distance));
  return PetscFree4(mmd->w, mmd->gathered, mmd->free_set, mmd->state);
}

double rg_mmd_radius(double gamma, int n)
{
  return (2.0 + sqrt(2.0 * log(1.0 / gamma))) / sqrt((double)n);
}

static int argmin(int n, const double *u)
{
  int best = 0;

  for (int i = 1; i < n; i++)
    if (u[i] < u[best]) best = i;
  return best;
}

/* ---- the path -------------------------------------------------------------------------------- */

/* One piece of the path: the points with mass, q_F(tau) = a - tau b. */
typedef struct {
  int n_free;
  double *a, *b;           /* n_free */
  double *slack0, *slack1; /* n: s_i(tau) = slack0 + tau slack1 of the points without mass */
  double e0, e1;
} Piece;

/* q_F(tau) on the support, from K_FF w = (1, (Kp)_F, u_F). */
static bool solve_piece(RgMmd *mmd, const double *u, Piece *piece)
{
  int n = mmd->n, m = piece->n_free;
  double *ones = mmd->w, *wp = ones + m, *wu = wp + m, sums[3] = {0.0, 0.0, 0.0};

  for (int k = 0; k < m; k++) {
    const double *column = mmd->K + (size_t)mmd->free_set[k] * n;
    for (int l = 0; l < m; l++) mmd->gathered[(size_t)k * m + l] = column[mmd->free_set[l]];
    ones[k] = 1.0;
    wp[k] = mmd->Kp[mmd->free_set[k]];
    wu[k] = u[mmd->free_set[k]];
  }
  if (LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', m, 3, mmd->gathered, m, mmd->w, m)) return false;
  for (int k = 0; k < 3 * m; k++) sums[k / m] += mmd->w[k];
  piece->e0 = (1.0 - sums[1]) / sums[0];
  piece->e1 = -sums[2] / sums[0];
  for (int k = 0; k < m; k++) {
    piece->a[k] = wp[k] + piece->e0 * ones[k];
    piece->b[k] = wu[k] + piece->e1 * ones[k];
  }
  return true;
}

/* Slacks of all points. On the support they are zero up to rounding and unused. */
static void solve_slacks(RgMmd *mmd, const double *u, Piece *piece)
{
  int n = mmd->n;

  for (int i = 0; i < n; i++) {
    piece->slack0[i] = -mmd->Kp[i] - piece->e0;
    piece->slack1[i] = u[i] + piece->e1;
  }
  for (int k = 0; k < piece->n_free; k++) {
    const double *column = mmd->K + (size_t)mmd->free_set[k] * n;
    cblas_daxpy(n, piece->a[k], column, 1, piece->slack0, 1);
    cblas_daxpy(n, -piece->b[k], column, 1, piece->slack1, 1);
  }
}

/* Largest tau' in (0, tau] at which the support changes, and the change itself; false: no such
   tau'. */
static bool next_event(const RgMmd *mmd, const Piece *piece, double tau, int recent, double *at,
                       int *point, bool *enters)
{
  *at = 0.0;
  *point = -1;
  for (int k = 0; k < piece->n_free; k++) {
    const double when = piece->a[k] / piece->b[k];
    if (piece->b[k] >= 0.0 || mmd->free_set[k] == recent || !(when > *at)) continue;
    *at = fmin(when, tau), *point = mmd->free_set[k], *enters = false;
  }
  for (int i = 0; i < mmd->n; i++) {
    const double when = -piece->slack0[i] / piece->slack1[i];
    if (mmd->state[i] || piece->slack1[i] <= 0.0 || i == recent || !(when > *at)) continue;
    *at = fmin(when, tau), *point = i, *enters = true;
  }
  return *point >= 0;
}

/* On this piece (q(tau) - p)' K (q(tau) - p) = v0 + v1 tau + v2 tau^2. */
static void discrepancy(const RgMmd *mmd, const Piece *piece, double v[3])
{
  double aKa = 0.0, aKb = 0.0, bKb = 0.0, aKp = 0.0, bKp = 0.0;

  for (int k = 0; k < piece->n_free; k++) {
    const int i = mmd->free_set[k];
    const double Ka = piece->slack0[i] + mmd->Kp[i] + piece->e0;
    aKa += piece->a[k] * Ka;
    aKb += piece->b[k] * Ka;
    aKp += piece->a[k] * mmd->Kp[i];
    bKp += piece->b[k] * mmd->Kp[i];
  }
  for (int k = 0; k < piece->n_free; k++) {
    const double *column = mmd->K + (size_t)mmd->free_set[k] * mmd->n;
    for (int l = 0; l < piece->n_free; l++)
      bKb += piece->b[k] * piece->b[l] * column[mmd->free_set[l]];
  }
  v[0] = aKa - 2.0 * aKp + mmd->pKp;
  v[1] = -2.0 * (aKb - bKp);
  v[2] = bKb;
}

/* Root of v0 + v1 tau + v2 tau^2 = target in [low, high]. The larger root is the right one,
   because the discrepancy grows with tau. */
static double crossing(const double v[3], double target, double low, double high)
{
  const double c = v[0] - target, disc = fmax(v[1] * v[1] - 4.0 * v[2] * c, 0.0);
  const double root =
    v[2] > 0.0 ? (-v[1] + sqrt(disc)) / (2.0 * v[2]) : (v[1] != 0.0 ? -c / v[1] : low);

  return fmin(fmax(root, low), high);
}

static void change_support(RgMmd *mmd, Piece *piece, int point, bool enters)
{
  int kept = 0;

  mmd->state[point] = enters;
  if (enters) {
    mmd->free_set[piece->n_free++] = point;
    return;
  }
  for (int k = 0; k < piece->n_free; k++)
    if (mmd->free_set[k] != point) mmd->free_set[kept++] = mmd->free_set[k];
  piece->n_free = kept;
}

/* Find the support at tau: while there is a negative mass, or else a negative slack, change the
   most negative one. */
static void settle(RgMmd *mmd, const double *u, Piece *piece, double tau)
{
  for (int changes = 0; changes < 5 * mmd->n; changes++) {
    double least = -1e-12;
    int point = -1;
    if (!solve_piece(mmd, u, piece)) return;
    solve_slacks(mmd, u, piece);
    for (int k = 0; k < piece->n_free; k++) {
      const double mass = piece->a[k] - tau * piece->b[k];
      if (mass < least) least = mass, point = mmd->free_set[k];
    }
    for (int i = 0; i < mmd->n && (point < 0 || !mmd->state[point]); i++) {
      const double slack = piece->slack0[i] + tau * piece->slack1[i];
      if (!mmd->state[i] && slack < least) least = slack, point = i;
    }
    if (point < 0) return;
    change_support(mmd, piece, point, !mmd->state[point]);
  }
}

PetscErrorCode rg_mmd_worst_case(RgMmd *mmd, const double *u, double radius, double *value,
                                 double *q, RgFailure *failure)
{
  const int n = mmd->n, worst = argmin(n, u), limit = 20 * n + 100;
  Piece piece = {.n_free = 1,
                 .a = mmd->w + 3 * (size_t)n,
                 .b = mmd->w + 4 * (size_t)n,
                 .slack0 = mmd->w + 5 * (size_t)n,
                 .slack1 = mmd->w + 6 * (size_t)n};
  double tau = INFINITY, at = 0.0, v[3];
  int recent = -1, point;
  bool enters = false;

  for (int i = 0; i < n; i++) q[i] = i == worst;
  *value = u[worst];
  if (mmd->distance[worst] <= radius) return 0;
  for (int i = 0; i < n; i++) mmd->state[i] = i == worst;
  mmd->free_set[0] = worst;
  for (int events = 0; events < 5 * limit; events++) {
    if (events >= limit && events % n == 0) { /* at ties rounding can make the path cycle */
      tau *= 1.0 - 1e-6, recent = -1;
      settle(mmd, u, &piece, tau);
    }
    if (!solve_piece(mmd, u, &piece)) break;
    solve_slacks(mmd, u, &piece);
    discrepancy(mmd, &piece, v);
    const bool more = next_event(mmd, &piece, tau, recent, &at, &point, &enters);
    const double low = more ? at : 0.0;
    if (!more || v[0] + low * (v[1] + low * v[2]) <= radius * radius) {
      tau = crossing(v, radius * radius, low, tau);
      for (int i = 0; i < n; i++) q[i] = 0.0;
      for (int k = 0; k < piece.n_free; k++)
        q[mmd->free_set[k]] = fmax(piece.a[k] - tau * piece.b[k], 0.0);
      *value = cblas_ddot(n, u, 1, q, 1);
      return 0;
    }
    tau = at;
    change_support(mmd, &piece, point, enters);
    recent = point;
  }
  rg_failure_set(failure, "the worst distribution within MMD %g was not found", radius);
  return 0;
}

/* ---- minimax approximation ------------------------------------------------------------------- */

static PetscErrorCode sensitivity_root(RgMmd *mmd)
{
  size_t n = (size_t)mmd->n;

  if (mmd->root) return 0;
  PetscCall(PetscMalloc1(n * n, &mmd->root));
  PetscCall(PetscArraycpy(mmd->root, mmd->K, n * n));
  for (size_t i = 0; i < n; i++) mmd->root[i * n + i] += SENSITIVITY_JITTER;
  PetscCheck(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', mmd->n, mmd->root, mmd->n) == 0, PETSC_COMM_SELF,
             PETSC_ERR_LIB, "the MMD matrix is not positive definite");
  return 0;
}

/* S and, if `derivative`, dS/du in `slope`. identity: standard deviation times sqrt(finer); exact:
   sqrt of u'K^-1 u centred. */
static PetscErrorCode sensitivity_of(RgMmd *mmd, const double *u, const RgMmdMinimax *options,
                                     bool derivative, double *S, double *slope)
{
  int n = mmd->n;
  double *v = mmd->w, *ones = mmd->w + n, mean = 0.0, sums[3] = {0.0, 0.0, 0.0};

  if (options->sensitivity == RG_MMD_IDENTITY) {
    const double stretch = options->finer > n ? sqrt((double)options->finer / n) : 1.0;
    for (int i = 0; i < n; i++) mean += u[i] / n;
    for (int i = 0; i < n; i++) slope[i] = stretch * (u[i] - mean);
    *S = cblas_dnrm2(n, slope, 1);
    for (int i = 0; i < n && derivative; i++) slope[i] *= stretch;
  } else {
    PetscCall(sensitivity_root(mmd));
    for (int i = 0; i < n; i++) v[i] = u[i], ones[i] = 1.0;
    PetscCheck(LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', n, 2, mmd->root, n, v, n) == 0,
               PETSC_COMM_SELF, PETSC_ERR_LIB, "dpotrs refused its arguments");
    for (int i = 0; i < n; i++) sums[0] += u[i] * v[i], sums[1] += v[i], sums[2] += ones[i];
    for (int i = 0; i < n; i++) slope[i] = v[i] - sums[1] / sums[2] * ones[i];
    *S = sqrt(fmax(sums[0] - sums[1] * sums[1] / sums[2], 0.0));
  }
  const double norm = *S;
  for (int i = 0; i < n && derivative && norm > 0.0; i++) slope[i] /= norm;
  return 0;
}

bool rg_mmd_reaches_worst(const RgMmd *mmd, const double *u, double radius)
{
  return radius >= mmd->distance[argmin(mmd->n, u)];
}

PetscErrorCode rg_mmd_minimax(RgMmd *mmd, const double *u, double radius,
                              const RgMmdMinimax *options, double *value, double *weight)
{
  const bool uniform = options->uniform_centre;
  const int n = mmd->n, worst = argmin(n, u);
  const double reach = mmd->distance[worst];
  double *slope = mmd->w + 2 * (size_t)n, E = 0.0, S = 0.0, of_E, of_min, of_S = 0.0;

  for (int i = 0; i < n; i++) E += (uniform ? 1.0 / n : mmd->p[i]) * u[i];
  PetscCall(sensitivity_of(mmd, u, options, weight != NULL, &S, slope));
  if (radius >= reach) {
    of_E = 0.0, of_min = 1.0;
  } else if (S == 0.0 && !options->no_tangent) {
    of_E = 1.0, of_min = 0.0;
  } else if (!options->no_tangent && radius <= (E - u[worst]) / S) {
    /* the tangent is above the minimum */
    of_E = 1.0 - 0.5 * radius / reach, of_min = 0.5 * radius / reach, of_S = -0.5 * radius;
  } else {
    of_E = 0.5 - 0.5 * radius / reach, of_min = 0.5 + 0.5 * radius / reach;
  }
  *value = of_E * E + of_min * u[worst] + of_S * S;
  if (!weight) return 0;
  for (int i = 0; i < n; i++) weight[i] = of_E * (uniform ? 1.0 / n : mmd->p[i]) + of_S * slope[i];
  weight[worst] += of_min;
  return 0;
}
