/* What theory says about the cells of a study: laws of the confidence parameters, information gain,
   and the regret bounds that go with them: the families of theory/list.h applied to cells. */
#ifndef RG_STUDY_THEORY_THEORY_H
#define RG_STUDY_THEORY_THEORY_H

#include "gp/model/information_gain.h"
#include "study/spec/study.h"
#include "theory/family.h"

/* How far a number may be trusted as a bound of the regret measured. */
typedef enum {
  RG_CLAIM_BOUND,    /* the theorem's assumptions hold, and gamma_t is an upper bound */
  RG_CLAIM_ESTIMATE, /* they hold, but gamma_t is that of a subset of a continuous design */
  RG_CLAIM_NOMINAL   /* the formula's value; an assumption does not hold */
} RgClaim;

extern const char *const rg_claim_names[]; /* NULL-terminated */

/* What is computed with: parameters of the high-probability bounds. */
typedef struct {
  double delta; /* of Theorems 4.3, 4.4 and Proposition 4.1; Theorem 4.5 has that of its rule */
  bool tight;   /* T s_T for the 2 T s_T that is printed */
} RgTheoryOptions;

/* One cell. Strings and arrays owned. */
typedef struct {
  int n;                       /* queries: curves are over t = 1 .. n */
  RgConfidenceLaw *law;        /* n laws; NULL: the method has no confidence parameter */
  const RgBoundFamily *family; /* of the rule; NULL: none */
  bool bounded; /* a theorem's formula can be evaluated: gain, value, claim are set */
  RgClaim claim;
  char *why;                     /* why there is no bound, or which assumption fails; "" if none */
  double slope;                  /* K of the measure's bounds; NaN: none */
  double largest;                /* largest prior variance of the model */
  double noise;                  /* noise variance of the model */
  const RgInformationGain *gain; /* n entries; borrowed from the study's theory */
  int n_curves;                  /* of the family */
  double **value;                /* n_curves, of n each; NULL: not a bound of this rule */
} RgCellTheory;

typedef struct {
  int n_cells;
  RgCellTheory *cells;       /* in the order of study->cells; owned */
  struct RgGainShelf *shelf; /* private: information gains, shared by cells of the same model */
} RgTheoryTable;

/* Everything for a study that passed its checks. On a box the gain is that of min(2000 d, 20000)
   scrambled Sobol points (of designs and contexts, where both are boxes). O(N n^2) per problem and
   model. */
PetscErrorCode rg_theory_create(const RgStudy *study, const RgTheoryOptions *options,
                                RgTheoryTable *table);
PetscErrorCode rg_theory_destroy(RgTheoryTable *table);

/* The values of a curve by its name in files, such as theorem_4_1; NULL: the cell has it not. */
const double *rg_cell_curve(const RgCellTheory *theory, const char *name);

/* Append the curves as a tidy CSV table with a header: problem, algorithm, swept (labels of the
   cell), quantity, t, value, kind, remark. Quantities: the curves' names, `gamma_upper` (remark:
   the bound of it), `gamma_greedy` (a lower bound), and at the last t `measure_slope` where the
   rule is about a robustness measure. kind: bound, estimate, nominal (remark: the assumption that
   fails). */
PetscErrorCode rg_theory_write_bounds(const RgStudy *study, const RgTheoryTable *table,
                                      RgText *text);
/* Append mean and equal-tailed interval of the confidence parameters: problem, algorithm, swept, t,
   mean, low, high. level: probability of the interval, e.g. 0.95. */
PetscErrorCode rg_theory_write_confidence(const RgStudy *study, const RgTheoryTable *table,
                                          double level, RgText *text);

#endif
