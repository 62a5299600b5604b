/* Robustness measures F(x) = rho(f(x, .)) over finitely many contexts with known probabilities, and
   bounds of rho over all functions between two given ones (rrgp_ucb 2.3, arXiv:2504.03172 table 4).

   A measure is written as an expression:

     expectation   worst   best   mad   sd   variance      names without parameters
     var(0.1)      cvar(0.1)      ptr(0.5)                 with one
     robust(MEASURE, nominal, pmf(0.3, 0.7), ...)          least value over a list of probabilities
     robust(expectation, l1 = 0.2)                         over an L1 ball around the known ones
     clip(MEASURE, 0, 1)   tanh(MEASURE)   exp(MEASURE)    increasing maps
     expectation - 4*mad   0.5*(worst + best) + 1          weighted sums; minus swaps the bounds

   Everything is maximised: var and cvar look at the lower tail. */
#ifndef RG_REGATTA_MEASURE_H
#define RG_REGATTA_MEASURE_H

#include "regatta/params.h"

/* The entry of a problem's parameters table for an objective that is a measure. */
#define RG_MEASURE_PARAM(Options)                                                                  \
  RG_TEXT("measure", Options, measure, "expectation", "rho",                                       \
          "objective F(x) = rho(f(x, .)), an expression: regatta list measures")

typedef enum {
  RG_MEASURE_EXPECTATION, /* E f */
  RG_MEASURE_WORST,       /* min f */
  RG_MEASURE_BEST,        /* max f */
  RG_MEASURE_VAR,         /* value at risk: inf{b : P(f <= b) >= alpha} */
  RG_MEASURE_CVAR,        /* conditional value at risk: mean of the value at risk below alpha */
  RG_MEASURE_MAD,         /* mean absolute deviation, E|f - E f| */
  RG_MEASURE_SD,          /* standard deviation */
  RG_MEASURE_VARIANCE,    /* E(f - E f)^2 */
  RG_MEASURE_PTR,         /* probability threshold, P(f >= theta) */
  RG_MEASURE_ROBUST,      /* distributionally robust: least value over probabilities */
  RG_MEASURE_CLIP,        /* increasing maps of another measure */
  RG_MEASURE_TANH,
  RG_MEASURE_EXP,
  RG_MEASURE_SUM /* constant + sum of coefficient * part */
} RgMeasureKind;

typedef struct RgMeasure RgMeasure;

/* A node of the expression. All arrays owned. */
struct RgMeasure {
  RgMeasureKind kind;
  double parameter; /* alpha, theta, radius of the L1 ball (0: a list); clip: smallest value */
  double most;      /* clip: largest value */
  double constant;  /* sum */
  int n_parts;      /* sum: its terms; robust and maps: 1 */
  RgMeasure *parts;
  double *coefficients; /* sum: n_parts */
  bool nominal;         /* robust: the known probabilities are an element of the list */
  int n_pmfs, pmf_size;
  double *pmfs; /* robust: n_pmfs x pmf_size */
};

/* Parse an expression. After a mistake, *measure is zeroed and `mistake` gives the column, what
   is wrong and what is accepted. The caller destroys the measure. */
RG_API PetscErrorCode rg_measure_parse(const char *text, RgMeasure *measure, RgText *mistake);
RG_API PetscErrorCode rg_measure_destroy(RgMeasure *measure);
/* Parse an expression that rg_measure_check has accepted; a mistake is a PETSc error. */
PetscErrorCode rg_measure_create(const char *text, RgMeasure *measure);
/* The canonical form of an expression; freed by the caller. */
PetscErrorCode rg_measure_canonical(const char *text, char **canonical);
/* Append the canonical form of a measure; parsing it gives the same measure. */
RG_API PetscErrorCode rg_measure_print(const RgMeasure *measure, RgText *text);
/* Report mistakes in an expression, and lists of probabilities that don't match n_contexts (0:
   not known), at the place in a study file. */
RG_API PetscErrorCode rg_measure_check(const char *text, int n_contexts, RgPlace place,
                                       RgDiagnostics *diagnostics);

/* F: n designs from f (n x contexts, row = design). p: probabilities of the contexts, NULL:
   equal. O(n contexts), as an expected value for var and cvar; L1 balls also sort. */
RG_API PetscErrorCode rg_measure_value(const RgMeasure *measure, int n, int contexts,
                                       const double *f, const double *p, double *F);
/* lower <= rho(g(x, .)) <= upper for every g with l <= g <= u; l, u: n x contexts. Either of lower,
   upper may be NULL. */
RG_API PetscErrorCode rg_measure_bounds(const RgMeasure *measure, int n, int contexts,
                                        const double *l, const double *u, const double *p,
                                        double *lower, double *upper);
/* Like rg_measure_bounds with l, u = mean -/+ width * sqrt(variance), which are never stored. */
typedef struct {
  int n, contexts;
  const double *mean, *variance; /* n x contexts */
  double width;
} RgCredible;
RG_API PetscErrorCode rg_measure_credible_bounds(const RgMeasure *measure,
                                                 const RgCredible *credible, const double *p,
                                                 double *lower, double *upper);

/* rho(f) at one design, and its derivatives by the n values of f (one of them where rho has a
   kink); p: their probabilities. Not for a measure that rg_measure_lists. O(n), or O(n log n). */
RG_API PetscErrorCode rg_measure_gradient(const RgMeasure *measure, int n, const double *f,
                                          const double *p, double *value, double *slope);
/* Whether a part of the measure is the least value over a list of probabilities. */
RG_API bool rg_measure_lists(const RgMeasure *measure);
/* K with |rho_P(f) - rho_Q(f)| <= K L W1(P, Q) for every f with Lipschitz constant L; NaN: no K
   exists. */
RG_API double rg_measure_transport(const RgMeasure *measure);

/* K with upper - lower <= K max over contexts of u - l (rrgp_ucb 7); NaN if no such K exists. */
RG_API double rg_measure_slope(const RgMeasure *measure);

/* For `regatta list measures`: how to type a measure, and what it means. */
typedef struct {
  const char *name, *usage, *meaning;
} RgMeasureInfo;
/* Find the description of a measure by its RgMeasureKind. Returns NULL from RG_MEASURE_SUM on,
   whose kinds have no names. The library owns it. */
RG_API const RgMeasureInfo *rg_measure_info(int kind);

#endif
