/* A robustness measure F(x) = rho(f(x, .)) of a posterior with a box of designs or contexts. A
   box of contexts is replaced by the midpoints of cells (rrgp_ucb 2.6, Algorithms 3 to 7). */
#ifndef RG_ALGORITHM_ROBUST_BOX_H
#define RG_ALGORITHM_ROBUST_BOX_H

#include "algorithm/surrogate.h"
#include "maths/law.h"
#include "gp/path/feature_path.h"
#include "regatta/measure.h"

typedef struct {
  RgModel model;     /* over (x, c) on boxes; owned */
  RgMeasure measure; /* owned */
  RgLaw *law;        /* dim_c of a box of contexts, in unit coordinates; owned */
  int dim, dim_c;
  int n_nodes, capacity; /* the number of contexts in use; the capacity */
  double *nodes, *p;     /* n_nodes x dim_c, unit coordinates; their weights; owned */
  double width;          /* root of the squared confidence width */
  RgPrediction prediction;
} RgRobustBox;

/* Mistakes in a list of laws, one for all coordinates of a box of contexts or one each; an empty
   list means the problem's laws. */
PetscErrorCode rg_robust_box_check(const RgTexts *law, const RgDomain *domain, RgPlace place,
                                   RgDiagnostics *diagnostics);
/* The model over (x, c) of the algorithm's setup, and room for levels_max nodes per coordinate of a
   box of contexts. */
PetscErrorCode rg_robust_box_create(const RgAlgorithm *algorithm, const char *measure,
                                    const RgTexts *law, int levels_max, RgRobustBox *box);
PetscErrorCode rg_robust_box_destroy(RgRobustBox *box);

/* Nodes and weights: the midpoints of levels^dim_c cells, and the probabilities of the cells
   under the law of an evaluation (from 1). The outer cells get the mass beyond the unit cube.
   Finite contexts are their own nodes. */
PetscErrorCode rg_robust_box_place(const RgDomain *domain, int levels, int evaluation,
                                   RgRobustBox *box);

/* At m designs X (m x dim): rho(posterior mean), and bounds of rho from the credible intervals, in
   native units. Any of value, lower, upper (m) may be NULL. O(m n_nodes n^2). */
PetscErrorCode rg_robust_box_values(RgRobustBox *box, int m, const double *X, double *value,
                                    double *lower, double *upper);

/* rho(mean), or the upper bound, as RgBatchFunction. The gradient is the gradient of the
   posterior times differences of the measure. These are exact where the measure is linear. */
typedef struct {
  RgRobustBox *box;
  bool upper;
} RgRobustSurface;
PetscErrorCode rg_robust_surface(void *closure, int m, const double *X, double *value,
                                 double *gradient);

/* expected (m): mean of rho(g(x, .)) over `count` paths g from the posterior (random features
   with the exact update), in native units. Every call with the same stream uses the same prior
   paths. O(count (features + n) m n_nodes). */
PetscErrorCode rg_robust_box_expected(RgRobustBox *box, const RgStream *stream, int count,
                                      int features, int m, const double *X, double *expected);

/* An RgBatchFunction of the context: the posterior variance at one design x, in model units. */
typedef struct {
  RgRobustBox *box;
  const double *x;
} RgRobustLine;
PetscErrorCode rg_robust_variance(void *closure, int m, const double *C, double *value,
                                  double *gradient);

#endif
