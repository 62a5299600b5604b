/* The interface of lbfgsb.h without L-BFGS-B, compiled in its place where the library is missing: a
   projected BFGS method with a dense matrix (`memory` is not needed: our boxes have tens of
   variables), Newton steps on the face of the box that the iterate is on, and a line search that
   steps back along the projected path.

   Bertsekas, SIAM J. Control Optim. 20 (1982); Nocedal, Wright, Numerical Optimization (2006),
   (6.19) and chapter 16.7. O(n^3) per step. */
#include "maths/lbfgsb.h"

#include <math.h>
#include <string.h>

#include "maths/blas.h"

/* A step must reach this share of the decrease that the slope predicts. Where values are equal
   up to rounding, the slope must have shrunk by this factor. */
static const double sufficient = 1e-4, flatter = 0.9;
enum { MOST_STEPS_BACK = 40 };

struct RgLbfgsbState {
  double *lower, *upper;       /* n; infinite: none */
  double *at, *gradient;       /* n: the iterate */
  double *direction;           /* n: the next step from there, negated */
  double *moved, *turned, *Bs; /* n: vectors of the update */
  double *B, *face;            /* n x n: approximate Hessian; its part for the free variables */
  int *free;                   /* n: indices of the free variables */
  double value, step;          /* at the iterate; times the direction */
  int steps_back;
  bool running, restarted;
};

PetscErrorCode rg_lbfgsb_create(int n, int memory, const double *lower, const double *upper,
                                const RgLbfgsbLimits *limits, RgLbfgsb *search)
{
  PetscCheck(n >= 1 && memory >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "L-BFGS-B needs at least one variable and one correction pair (%d, %d given)", n,
             memory);
  *search = (RgLbfgsb){.n = n, .limits = *limits, .best_value = INFINITY, .reason = ""};
  struct RgLbfgsbState *s;
  PetscCall(PetscNew(&s));
  search->state = s;
  PetscCall(PetscCalloc2((size_t)n, &search->x, (size_t)n, &search->best_x));
  const size_t size = n;
  PetscCall(PetscCalloc5(size, &s->lower, size, &s->upper, size, &s->at, size, &s->gradient, size,
                         &s->direction));
  PetscCall(PetscCalloc6(size, &s->moved, size, &s->turned, size, &s->Bs, size * size, &s->B,
                         size * size, &s->face, size, &s->free));
  for (int i = 0; i < n; i++) {
    s->lower[i] = lower ? lower[i] : -INFINITY;
    s->upper[i] = upper ? upper[i] : INFINITY;
    PetscCheck(s->lower[i] <= s->upper[i], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "bounds of variable %d are not ordered: %g, %g", i, s->lower[i], s->upper[i]);
  }
  return 0;
}

PetscErrorCode rg_lbfgsb_destroy(RgLbfgsb *search)
{
  struct RgLbfgsbState *s = search->state;

  if (s) {
    PetscCall(PetscFree5(s->lower, s->upper, s->at, s->gradient, s->direction));
    PetscCall(PetscFree6(s->moved, s->turned, s->Bs, s->B, s->face, s->free));
    PetscCall(PetscFree2(search->x, search->best_x));
    PetscCall(PetscFree(search->state));
  }
  *search = (RgLbfgsb){.reason = ""};
  return 0;
}

static double into_box(const struct RgLbfgsbState *s, int i, double x)
{
  return fmin(fmax(x, s->lower[i]), s->upper[i]);
}

static void stop(RgLbfgsb *search, RgLbfgsbStatus why, const char *reason, RgLbfgsbStatus *status)
{
  search->state->running = false;
  search->reason = reason;
  *status = why;
}

PetscErrorCode rg_lbfgsb_begin(RgLbfgsb *search, const double *start, RgLbfgsbStatus *status)
{
  struct RgLbfgsbState *s = search->state;

  PetscCheck(search->limits.factr >= 0.0 && search->limits.pgtol >= 0.0, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "tolerances of L-BFGS-B must not be negative (%g, %g)",
             search->limits.factr, search->limits.pgtol);
  for (int i = 0; i < search->n; i++) search->best_x[i] = search->x[i] = into_box(s, i, start[i]);
  search->best_value = INFINITY;
  search->iterations = search->evaluations = 0;
  search->projected_gradient = INFINITY;
  search->reason = "";
  s->running = s->restarted = true;
  *status = RG_LBFGSB_EVALUATE;
  return 0;
}

/* BFGS update of the matrix from a step: (6.19). The first update sets its scale. */
static void update(RgLbfgsb *search, const double *gradient)
{
  struct RgLbfgsbState *s = search->state;
  const int n = search->n;

  for (int i = 0; i < n; i++) {
    s->moved[i] = search->x[i] - s->at[i];
    s->turned[i] = gradient[i] - s->gradient[i];
  }
  const double sy = cblas_ddot(n, s->moved, 1, s->turned, 1),
               yy = cblas_ddot(n, s->turned, 1, s->turned, 1);
  if (!(sy > 1e-10 * sqrt(yy * cblas_ddot(n, s->moved, 1, s->moved, 1))))
    return; /* the function is not convex there */
  if (s->restarted) {
    memset(s->B, 0, (size_t)n * n * sizeof(double));
    for (int i = 0; i < n; i++) s->B[i * (n + 1)] = yy / sy;
    s->restarted = false;
  }
  cblas_dsymv(CblasColMajor, CblasLower, n, 1.0, s->B, n, s->moved, 1, 0.0, s->Bs, 1);
  cblas_dsyr(CblasColMajor, CblasLower, n, -1.0 / cblas_ddot(n, s->moved, 1, s->Bs, 1), s->Bs, 1,
             s->B, n);
  cblas_dsyr(CblasColMajor, CblasLower, n, 1.0 / sy, s->turned, 1, s->B, n);
}

/* Collect the variables that no bound holds back, and their gradient. Returns their number. */
static int find_face(RgLbfgsb *search)
{
  struct RgLbfgsbState *s = search->state;
  int n = 0;

  for (int i = 0; i < search->n; i++) {
    const double x = s->at[i], g = s->gradient[i];
    if ((x <= s->lower[i] && g >= 0.0) || (x >= s->upper[i] && g <= 0.0)) continue;
    s->free[n] = i;
    s->Bs[n++] = g;
  }
  return n;
}

/* Solve with the matrix of the face; false: it is not positive definite. */
static bool take_newton_step(RgLbfgsb *search, int n)
{
  struct RgLbfgsbState *s = search->state;

  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) s->face[i + n * j] = s->B[s->free[i] + search->n * s->free[j]];
  return !LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', n, 1, s->face, n, s->Bs, n);
}

/* Turn the step on the face into a direction, without the parts that would leave the box at
   once. Returns the slope of the value along it, positive downhill. */
static double set_direction(RgLbfgsb *search, int n)
{
  struct RgLbfgsbState *s = search->state;
  double slope = 0.0;

  memset(s->direction, 0, (size_t)search->n * sizeof(double));
  for (int k = 0; k < n; k++) {
    const int i = s->free[k];
    const bool outward =
      (s->at[i] <= s->lower[i] && s->Bs[k] > 0.0) || (s->at[i] >= s->upper[i] && s->Bs[k] < 0.0);
    if (!outward) s->direction[i] = s->Bs[k];
    slope += s->direction[i] * s->gradient[i];
  }
  return slope;
}

/* The quasi-Newton step from the iterate, or the gradient before the first update. */
static void choose_direction(RgLbfgsb *search)
{
  struct RgLbfgsbState *s = search->state;
  int n = find_face(search);

  if (!s->restarted && (!take_newton_step(search, n) || !(set_direction(search, n) > 0.0))) {
    s->restarted = true;
    n = find_face(search);
  }
  s->step = 1.0;
  if (!s->restarted) return;
  (void)set_direction(search, n);
  s->step = fmin(1.0, 1.0 / cblas_dnrm2(search->n, s->direction, 1));
}

/* The next point to evaluate, on the projected path. */
static void try_step(RgLbfgsb *search, RgLbfgsbStatus *status)
{
  const struct RgLbfgsbState *s = search->state;

  for (int i = 0; i < search->n; i++)
    search->x[i] = into_box(s, i, s->at[i] - s->step * s->direction[i]);
  *status = RG_LBFGSB_EVALUATE;
}

/* First-order change of the value from the iterate to x, by a gradient. */
static double change_by(const RgLbfgsb *search, const double *gradient)
{
  const struct RgLbfgsbState *s = search->state;
  double change = 0.0;

  for (int i = 0; i < search->n; i++) change += gradient[i] * (search->x[i] - s->at[i]);
  return change;
}

/* Whether x is a better iterate. change: the decrease that the slope predicts. */
static bool is_enough(const RgLbfgsb *search, double value, const double *gradient, double change)
{
  const double before = search->state->value;

  if (!(change < 0.0)) return false;
  if (value <= before + sufficient * change) return true;
  return value <= before + 4 * PETSC_MACHINE_EPSILON * fabs(before) &&
         fabs(change_by(search, gradient)) <= flatter * fabs(change);
}

/* A shorter step: the minimum of the parabola through the known values, within safe limits. */
static void step_back(RgLbfgsb *search, double value, double change, RgLbfgsbStatus *status)
{
  struct RgLbfgsbState *s = search->state;
  const double parabola = -change / (2.0 * (value - s->value - change));

  if (++s->steps_back > MOST_STEPS_BACK) {
    stop(search, RG_LBFGSB_FAILED, "line search found no decrease", status);
    return;
  }
  s->step *= isfinite(value) ? fmin(fmax(parabola, 0.1), 0.5) : 0.1;
  try_step(search, status);
}

/* Accept a new iterate; decide whether the search ends there or where it continues. before: the
   previous value, infinite at the first iterate. */
static void move_on(RgLbfgsb *search, double before, RgLbfgsbStatus *status)
{
  const RgLbfgsbLimits *limits = &search->limits;
  const double value = search->state->value;
  const double scale = fmax(fmax(fabs(before), fabs(value)), 1.0);

  if (search->projected_gradient <= limits->pgtol) {
    stop(search, RG_LBFGSB_CONVERGED, "projected gradient small enough", status);
  } else if (limits->factr > 0.0 && isfinite(before) &&
             before - value <= limits->factr * PETSC_MACHINE_EPSILON * scale) {
    stop(search, RG_LBFGSB_CONVERGED, "decrease small enough", status);
  } else if (limits->max_iterations > 0 && search->iterations >= limits->max_iterations) {
    stop(search, RG_LBFGSB_LIMIT, "iteration limit", status);
  } else {
    choose_direction(search);
    try_step(search, status);
  }
}

static bool all_finite(int n, double value, const double *gradient)
{
  bool finite = isfinite(value);
  for (int i = 0; i < n; i++) finite = finite && isfinite(gradient[i]);
  return finite;
}

PetscErrorCode rg_lbfgsb_step(RgLbfgsb *search, double value, const double *gradient,
                              RgLbfgsbStatus *status)
{
  struct RgLbfgsbState *s = search->state;
  const bool first = search->evaluations == 0, finite = all_finite(search->n, value, gradient);

  PetscCheck(s->running, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "rg_lbfgsb_step after the search has stopped");
  search->evaluations++;
  if (finite && value < search->best_value) {
    search->best_value = value;
    memcpy(search->best_x, search->x, (size_t)search->n * sizeof(double));
  }
  const double change = first ? 0.0 : change_by(search, s->gradient), before = s->value;
  if (first && !finite) {
    stop(search, RG_LBFGSB_FAILED, "not finite at the start", status);
  } else if (search->limits.max_evaluations > 0 &&
             search->evaluations >= search->limits.max_evaluations) {
    stop(search, RG_LBFGSB_LIMIT, "evaluation limit", status);
  } else if (first || (finite && is_enough(search, value, gradient, change))) {
    if (!first) update(search, gradient);
    /* Make x, with its value and gradient, the iterate. */
    s->value = value;
    s->steps_back = 0;
    search->projected_gradient = 0.0;
    for (int i = 0; i < search->n; i++) {
      s->at[i] = search->x[i];
      s->gradient[i] = gradient[i];
      search->projected_gradient =
        fmax(search->projected_gradient, fabs(s->at[i] - into_box(s, i, s->at[i] - gradient[i])));
    }
    search->iterations += !first;
    move_on(search, first ? INFINITY : before, status);
  } else {
    step_back(search, finite ? value : INFINITY, change, status);
  }
  return 0;
}

const char *rg_lbfgsb_substitute(void)
{
  return "dense BFGS in place of L-BFGS-B";
}
