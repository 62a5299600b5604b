/* Theory for the cells of a study: laws of the confidence parameters, information gain, and
   regret bounds by the families of theory/list.h. */
#ifndef RG_THEORY_CELLS_H
#define RG_THEORY_CELLS_H

#include "gp/model/information_gain.h"
#include "study/file/study.h"
#include "theory/family.h"

/* How a computed number relates to the measured regret. */
typedef enum {
  RG_CLAIM_BOUND,    /* the theorem's assumptions hold, and gamma_t is an upper bound */
  RG_CLAIM_ESTIMATE, /* the assumptions hold, but gamma_t is for a subset of a continuous design */
  RG_CLAIM_NOMINAL   /* only the formula's value: an assumption does not hold */
} RgClaim;

extern const char *const rg_claim_names[]; /* NULL-terminated */

/* Parameters of the high-probability bounds. */
typedef struct {
  double delta; /* for Theorems 4.3, 4.4 and Proposition 4.1; Theorem 4.5 uses that of its rule */
  bool tight;   /* T s_T instead of the printed 2 T s_T */
} RgTheoryOptions;

/* The theory of one cell. Strings and arrays are owned. */
typedef struct {
  int n;                       /* number of queries: curves have t = 1 .. n */
  RgConfidenceLaw *law;        /* n laws; NULL: the method has no confidence parameter */
  const RgBoundFamily *family; /* family of the rule; NULL: no family */
  bool bounded; /* a theorem's formula can be evaluated: gain, value and claim are set */
  RgClaim claim;
  char *why;                     /* why no bound exists, or which assumption fails; "" otherwise */
  double slope;                  /* K of the measure's bounds; NaN: unknown */
  const RgInformationGain *gain; /* n entries; borrowed from the study's theory */
  int n_curves;                  /* number of curves of the family */
  double **value;                /* n_curves arrays of n; NULL: not a bound of this rule */
} RgCellTheory;

typedef struct {
  int n_cells;
  RgCellTheory *cells;       /* in the order of study->cells; owned */
  struct RgGainShelf *shelf; /* private: information gains, shared by cells with the same model */
} RgTheoryTable;

/* Compute the theory of a validated study. On a box, the gain is computed on min(2000 d, 20000)
   scrambled Sobol points (of designs and contexts, if both are boxes). O(N n^2) per problem and
   model. */
PetscErrorCode rg_theory_create(const RgStudy *study, const RgTheoryOptions *options,
                                RgTheoryTable *table);
PetscErrorCode rg_theory_destroy(RgTheoryTable *table);

/* Append the curves as a tidy CSV table with a header: problem, algorithm, swept (labels of the
   cell), quantity, t, value, kind, remark. Quantities: the names of the curves, `gamma_upper`
   (remark: its own bound), `gamma_greedy` (a lower bound), and at the last t `measure_slope` for
   rules about robustness measures. kind: bound, estimate, nominal (remark: the assumption that
   fails). */
PetscErrorCode rg_theory_write_bounds(const RgStudy *study, const RgTheoryTable *table,
                                      RgText *text);
/* Append mean and equal-tailed interval of the confidence parameters: problem, algorithm, swept,
   t, mean, low, high. level: probability of the interval, e.g. 0.95. */
PetscErrorCode rg_theory_write_confidence(const RgStudy *study, const RgTheoryTable *table,
                                          double level, RgText *text);

#endif
