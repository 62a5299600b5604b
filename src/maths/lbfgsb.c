/* The only file that knows the library's generic symbol. Debian ships no header, so this file
   declares the interface (gfortran: 32-bit integers and logicals, hidden string lengths last). */
#include "maths/lbfgsb.h"

#include <math.h>
#include <string.h>

enum { TASK_LENGTH = 60 };

/* Search for the local minimum of n variables; all state lives in the arguments. */
void setulb_(const int *n, const int *m, double *x, const double *l, const double *u,
             const int *nbd, double *f, double *g, const double *factr, const double *pgtol,
             double *wa, int *iwa, char *task, const int *iprint, char *csave, int *lsave,
             int *isave, double *dsave, size_t task_length, size_t csave_length);

struct RgLbfgsbState {
  int memory;
  int *bound_kind;                        /* n; 0 none, 1 lower, 2 both, 3 upper */
  double *lower, *upper;                  /* n */
  double *gradient;                       /* n; the library's copy */
  double *accepted_x, *accepted_gradient; /* n; last iterate the line search started from */
  double value, accepted_value;
  double *wa;
  int *iwa;
  char task[TASK_LENGTH], csave[TASK_LENGTH];
  int lsave[4], isave[44];
  double dsave[29];
};

static void task_set(char task[TASK_LENGTH], const char *text)
{
  memset(task, ' ', TASK_LENGTH);
  memcpy(task, text, strlen(text));
}

static bool task_is(const char task[TASK_LENGTH], const char *prefix)
{
  return memcmp(task, prefix, strlen(prefix)) == 0;
}

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
  s->memory = memory;
  size_t size = n, pairs = memory;
  PetscCall(PetscCalloc2(size, &search->x, size, &search->best_x));
  PetscCall(PetscCalloc6(size, &s->bound_kind, size, &s->lower, size, &s->upper, size, &s->gradient,
                         size, &s->accepted_x, size, &s->accepted_gradient));
  PetscCall(PetscCalloc2(2 * pairs * size + 5 * size + 11 * pairs * pairs + 8 * pairs, &s->wa,
                         3 * size, &s->iwa));
  for (int i = 0; i < n; i++) {
    double low = lower ? lower[i] : -INFINITY, high = upper ? upper[i] : INFINITY;
    PetscCheck(low <= high, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "bounds of variable %d are not ordered: %g, %g", i, low, high);
    const bool below = isfinite(low), above = isfinite(high);
    s->bound_kind[i] = below ? (above ? 2 : 1) : (above ? 3 : 0);
    s->lower[i] = isfinite(low) ? low : 0.0;
    s->upper[i] = isfinite(high) ? high : 0.0;
  }
  return 0;
}

PetscErrorCode rg_lbfgsb_destroy(RgLbfgsb *search)
{
  struct RgLbfgsbState *s = search->state;
  if (s) {
    PetscCall(PetscFree6(s->bound_kind, s->lower, s->upper, s->gradient, s->accepted_x,
                         s->accepted_gradient));
    PetscCall(PetscFree2(s->wa, s->iwa));
    PetscCall(PetscFree2(search->x, search->best_x));
    PetscCall(PetscFree(search->state));
  }
  *search = (RgLbfgsb){.reason = ""};
  return 0;
}

/* Rounding in the line search may leave the box by an ulp. Callers may rely on points inside it. */
static void move_into_box(RgLbfgsb *search)
{
  const struct RgLbfgsbState *s = search->state;
  for (int i = 0; i < search->n; i++) {
    const int kind = s->bound_kind[i];
    if ((kind == 1 || kind == 2) && search->x[i] < s->lower[i]) search->x[i] = s->lower[i];
    if (kind >= 2 && search->x[i] > s->upper[i]) search->x[i] = s->upper[i];
  }
}

/* Save the iterate to which the line search returns when a trial point has no finite value. */
static void accept_iterate(RgLbfgsb *search)
{
  struct RgLbfgsbState *s = search->state;
  memcpy(s->accepted_x, search->x, (size_t)search->n * sizeof(double));
  memcpy(s->accepted_gradient, s->gradient, (size_t)search->n * sizeof(double));
  s->accepted_value = s->value;
}

/* Call the library until it needs an evaluation or stops. */
static void advance(RgLbfgsb *search, RgLbfgsbStatus *status)
{
  struct RgLbfgsbState *s = search->state;
  const int silent = -1;
  for (;;) {
    setulb_(&search->n, &s->memory, search->x, s->lower, s->upper, s->bound_kind, &s->value,
            s->gradient, &search->limits.factr, &search->limits.pgtol, s->wa, s->iwa, s->task,
            &silent, s->csave, s->lsave, s->isave, s->dsave, TASK_LENGTH, TASK_LENGTH);
    search->iterations = s->isave[29];
    search->projected_gradient = s->dsave[12];
    if (!task_is(s->task, "NEW_X")) break;
    accept_iterate(search);
    if (search->limits.max_iterations > 0 && search->iterations >= search->limits.max_iterations) {
      *status = RG_LBFGSB_LIMIT;
      search->reason = "iteration limit";
      return;
    }
  }
  if (task_is(s->task, "FG")) {
    move_into_box(search);
    *status = RG_LBFGSB_EVALUATE;
  } else if (task_is(s->task, "CONV")) {
    *status = RG_LBFGSB_CONVERGED;
    search->reason = task_is(s->task, "CONVERGENCE: NORM") ? "projected gradient small enough"
                                                           : "decrease small enough";
  } else {
    *status = RG_LBFGSB_FAILED;
    search->reason = "line search found no decrease";
  }
}

PetscErrorCode rg_lbfgsb_begin(RgLbfgsb *search, const double *start, RgLbfgsbStatus *status)
{
  struct RgLbfgsbState *s = search->state;
  PetscCheck(search->limits.factr >= 0.0 && search->limits.pgtol >= 0.0, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "tolerances of L-BFGS-B must not be negative (%g, %g)",
             search->limits.factr, search->limits.pgtol);
  memcpy(search->x, start, (size_t)search->n * sizeof(double));
  move_into_box(search);
  search->best_value = INFINITY;
  search->iterations = search->evaluations = 0;
  search->projected_gradient = INFINITY;
  search->reason = "";
  memcpy(search->best_x, search->x, (size_t)search->n * sizeof(double));
  memset(s->isave, 0, sizeof s->isave);
  memset(s->dsave, 0, sizeof s->dsave);
  memset(s->lsave, 0, sizeof s->lsave);
  task_set(s->csave, "");
  task_set(s->task, "START");
  s->value = 0.0;
  advance(search, status);
  return 0;
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
  PetscCheck(task_is(s->task, "FG"), PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "rg_lbfgsb_step after the search has stopped");
  const bool first = search->evaluations == 0;
  search->evaluations++;
  if (all_finite(search->n, value, gradient)) {
    s->value = value;
    memcpy(s->gradient, gradient, (size_t)search->n * sizeof(double));
    if (value < search->best_value) {
      search->best_value = value;
      memcpy(search->best_x, search->x, (size_t)search->n * sizeof(double));
    }
    if (first) accept_iterate(search);
  } else if (first) {
    task_set(s->task, "STOP");
    *status = RG_LBFGSB_FAILED;
    search->reason = "not finite at the start";
    return 0;
  } else {
    /* A finite stand-in that fails the decrease test: with this height and a zero slope the line
       search's interpolation steps back to about a tenth. */
    double slope = 0.0;
    for (int i = 0; i < search->n; i++) {
      slope += s->accepted_gradient[i] * (search->x[i] - s->accepted_x[i]);
      s->gradient[i] = 0.0;
    }
    s->value = s->accepted_value + fabs(slope) + 1e-12 * fabs(s->accepted_value);
  }
  if (search->limits.max_evaluations > 0 && search->evaluations >= search->limits.max_evaluations) {
    task_set(s->task, "STOP");
    *status = RG_LBFGSB_LIMIT;
    search->reason = "evaluation limit";
    return 0;
  }
  advance(search, status);
  return 0;
}
