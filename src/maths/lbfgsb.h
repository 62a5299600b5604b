/* L-BFGS-B (Nocedal's Fortran library) with reverse communication: minimise a smooth function over
   a box. The caller evaluates, the object advances, so any number of starts can go in lockstep.

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
  RG_LBFGSB_EVALUATE,  /* value and gradient at `x`, please */
  RG_LBFGSB_CONVERGED, /* a tolerance was met; `reason` says which */
  RG_LBFGSB_LIMIT,     /* max_iterations or max_evaluations reached */
  RG_LBFGSB_FAILED     /* no progress possible, or nothing finite at the start */
} RgLbfgsbStatus;

typedef struct {
  double factr;        /* stop when (f - f_next) <= factr * eps * max(|f|, |f_next|, 1); 0: never */
  double pgtol;        /* stop when the largest projected gradient entry is <= pgtol; 0: never */
  int max_iterations;  /* <= 0: unlimited */
  int max_evaluations; /* <= 0: unlimited */
} RgLbfgsbLimits;

/* One search. Read the fields, change none but `limits` (between searches). */
typedef struct {
  int n;
  RgLbfgsbLimits limits;
  double *x;                   /* n: where to evaluate */
  double *best_x;              /* n: best point evaluated */
  double best_value;           /* INFINITY before the first finite value */
  double projected_gradient;   /* largest entry, at the last accepted iterate */
  int iterations, evaluations; /* since rg_lbfgsb_begin */
  const char *reason;          /* why it stopped; "" while running */
  struct RgLbfgsbState *state; /* private */
} RgLbfgsb;

/* Room for searches over n >= 1 variables with `memory` >= 1 correction pairs (5 to 20 are usual).
   lower, upper: n each, copied; NULL or infinite entries: unbounded; lower <= upper. Not to be
   copied or moved by assignment while in use. Errors: PETSC_ERR_ARG_OUTOFRANGE. */
PetscErrorCode rg_lbfgsb_create(int n, int memory, const double *lower, const double *upper,
                                const RgLbfgsbLimits *limits, RgLbfgsb *search);
PetscErrorCode rg_lbfgsb_destroy(RgLbfgsb *search);

/* Start at `start` (n, moved into the box), forgetting any earlier search. *status becomes
   EVALUATE. No allocation. */
PetscErrorCode rg_lbfgsb_begin(RgLbfgsb *search, const double *start, RgLbfgsbStatus *status);

/* Hand in value and gradient (n) at search->x; EVALUATE asks for the next point. A value or
   gradient that is not finite makes the line search step back (at the start: FAILED).
   O(n memory + memory^3). */
PetscErrorCode rg_lbfgsb_step(RgLbfgsb *search, double value, const double *gradient,
                              RgLbfgsbStatus *status);

/* "", or what does its work in a build without the library: then the bits are others. */
const char *rg_lbfgsb_substitute(void);

#endif
