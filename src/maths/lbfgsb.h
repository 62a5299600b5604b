/* L-BFGS-B (Nocedal's Fortran library) with reverse communication: minimise a smooth function
   over a box. The caller evaluates and the object advances, so any number of starts can run in
   lockstep.
   
   rg_lbfgsb_begin(&search, start, &status);
   while (status == RG_LBFGSB_EVALUATE) {
   value = f(search.x), gradient = f'(search.x);
   rg_lbfgsb_step(&search, value, gradient, &status);
   }
   answer: search.best_x, search.best_value
   
   Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. 16 (1995); version 3.0, Morales, Nocedal (2011). */
#ifndef RG_MATHS_LBFGSB_H
#define RG_MATHS_LBFGSB_H

#include "regatta/error.h"

typedef enum {
  RG_LBFGSB_EVALUATE,  /* the caller evaluates value and gradient at `x` */
  RG_LBFGSB_CONVERGED, /* a tolerance was met; `reason` says which */
  RG_LBFGSB_LIMIT,     /* max_iterations or max_evaluations reached */
  RG_LBFGSB_FAILED     /* no progress is possible, or the start has no finite value */
} RgLbfgsbStatus;

typedef struct {
  double factr;        /* stop when (f - f_next) <= factr * eps * max(|f|, |f_next|, 1); 0: never */
  double pgtol;        /* stop when the largest projected gradient entry is <= pgtol; 0: never */
  int max_iterations;  /* <= 0: unlimited */
  int max_evaluations; /* <= 0: unlimited */
} RgLbfgsbLimits;

/* One search. Callers read the fields and change only `limits` (between searches). */
typedef struct {
  int n;
  RgLbfgsbLimits limits;
  double *x;                   /* n: the point to evaluate */
  double *best_x;              /* n: best point evaluated */
  double best_value;           /* INFINITY before the first finite value */
  double projected_gradient;   /* largest entry, at the last accepted iterate */
  int iterations, evaluations; /* since rg_lbfgsb_begin */
  const char *reason;          /* why the search stopped; "" while it runs */
  struct RgLbfgsbState *state; /* private */
} RgLbfgsb;

/* Make room for searches over n >= 1 variables with `memory` >= 1 correction pairs (5 to 20 are
   usual). lower, upper: n each, copied; NULL or infinite entries: unbounded; lower <= upper. Do
   not copy or move the object by assignment while it is in use. Errors:
   PETSC_ERR_ARG_OUTOFRANGE. */
PetscErrorCode rg_lbfgsb_create(int n, int memory, const double *lower, const double *upper,
                                const RgLbfgsbLimits *limits, RgLbfgsb *search);
PetscErrorCode rg_lbfgsb_destroy(RgLbfgsb *search);

/* Start at `start` (n, moved into the box) and forget any earlier search. *status becomes
   EVALUATE. Allocates nothing. */
PetscErrorCode rg_lbfgsb_begin(RgLbfgsb *search, const double *start, RgLbfgsbStatus *status);

/* Hand in value and gradient (n) at search->x; EVALUATE asks for the next point. A value or
   gradient that is not finite makes the line search step back (at the start: FAILED).
   O(n memory + memory^3). */
PetscErrorCode rg_lbfgsb_step(RgLbfgsb *search, double value, const double *gradient,
                              RgLbfgsbStatus *status);

#endif
