/* The parts that SBO-KDE and DRBO-KDE share: a density estimate of the contexts seen so far, and
   a list of contexts with weights that stands for it while x_t is chosen (sample average or
   quadrature). */
#ifndef RG_ALGORITHM_KDE_CONTEXTS_H
#define RG_ALGORITHM_KDE_CONTEXTS_H

#include "regatta/algorithm.h"
#include "algorithm/contextual.h"
#include "density/kde.h"

enum { RG_KDE_SAMPLE, RG_KDE_QUADRATURE };
enum { RG_KDE_FIXED, RG_KDE_THEORY };

typedef struct {
  RgContextualOptions common;
  int expectation; /* RG_KDE_SAMPLE | RG_KDE_QUADRATURE */
  int samples;     /* M */
  int nodes;       /* number of nodes of the quadrature */
  int screening;   /* number of contexts that a search begins with */
  RgForgetting forgetting;
  int beta;    /* RG_KDE_FIXED | RG_KDE_THEORY */
  double a, b; /* constants of the theory; NaN: 1 */
} RgKdeOptions;

extern const char *const rg_kde_expectations[];
extern const char *const rg_kde_betas[];

#define RG_KDE_PARAMS                                                                              \
  RG_REAL("width", RgKdeOptions, common.width, "1.5", 0, 1e6, "sqrt(beta_t)",                      \
          "the confidence bound is mean + width * deviation"),                                     \
    RG_CHOICE("expectation", RgKdeOptions, expectation, "sample", rg_kde_expectations, "",         \
              "average over the estimated density: draws from it, or a deterministic rule (Gauss " \
              "in one context coordinate, else a scrambled Sobol set)"),                           \
    RG_INT("samples", RgKdeOptions, samples, "1024", 1, 1e6, "M",                                  \
           "draws from the estimated density, new in every iteration (expectation: sample)"),      \
    RG_INT("nodes", RgKdeOptions, nodes, "auto", 2, 1e5, "",                                       \
           "points of the deterministic rule; auto: 16 in one context coordinate, else 256"),      \
    RG_INT("screening", RgKdeOptions, screening, "64", 1, 1e6, "",                                 \
           "draws that the search begins with, the first of the M, where the kernel does not "     \
           "factor into x and c and nodes would be many; it ends with all"),                       \
    RG_CONTEXTUAL_NODES(RgKdeOptions, common), RG_FORGETTING_PARAMS(RgKdeOptions, forgetting),     \
    RG_ENTRY("beta", CHOICE, RgKdeOptions, beta, int, "fixed", RG_LATER, 0, rg_kde_betas,          \
             "beta_t",                                                                             \
             "squared width: width^2, or that of Theorems 1 and 2, 2 log(t^2/sqrt(2 pi)) + 2 D_x " \
             "log(t^2 D_x a b sqrt(pi)/2)"),                                                       \
    RG_ENTRY("a", REAL, RgKdeOptions, a, double, "auto", RG_POSITIVE, 1e9, rg_param_later, "a",    \
             "for the theory: P(|df/dz_j| > L) <= a exp(-(L/b)^2); auto: 1"),                      \
    RG_ENTRY("b", REAL, RgKdeOptions, b, double, "auto", RG_POSITIVE, 1e9, rg_param_later, "b",    \
             "the same; sqrt(2)/ell for a path of a Gaussian kernel; auto: 1")

#define RG_COLUMN_KDE_BANDWIDTH                                                                    \
  {                                                                                                \
    "bandwidth", "bandwidth of the density estimate, first context coordinate"                     \
  }

/* Contexts c (n x dim) with weights. Arrays owned. */
typedef struct {
  RgKde kde;
  int n, dim;
  double *c, *weight;
} RgKdeContexts;

/* The estimate from the contexts of the history that count, and the list for query t. Draws come
   from the sub-stream "contexts" of the algorithm. `room` places are kept free behind the list in
   c. If no context has been seen, the failure is set, and there is nothing to free. */
PetscErrorCode rg_kde_contexts_create(const RgAlgorithm *algorithm, const RgKdeOptions *options,
                                      int t, const RgHistory *history, int room,
                                      RgKdeContexts *contexts, RgFailure *failure);
PetscErrorCode rg_kde_contexts_destroy(RgKdeContexts *contexts);

/* `check` of the class: the measure is the expectation. */
PetscErrorCode rg_kde_check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics);
/* The `cost` of the class, for options that begin with RgKdeOptions. */
void rg_kde_cost(const void *options, const RgTrialSize *size, RgMethodCost *cost);
#define RG_KDE_METHODS                                                                             \
  .needs = RG_NEEDS_NATURE | RG_NEEDS_INITIAL, .check = rg_kde_check, .confidence = confidence,    \
  RG_CONTEXTUAL_STATE

/* Fill in the law for `confidence` of the class. */
void rg_kde_confidence(const RgKdeOptions *options, const char *rule, int dim_x, int t,
                       RgConfidenceLaw *law);
/* Return the multiple of the posterior deviation at query t. */
double rg_kde_width(const RgKdeOptions *options, int dim_x, int t);
/* The number of contexts that a search begins with; contexts->n means all. */
int rg_kde_screening(const RgKdeOptions *options, const RgKdeContexts *contexts);

#endif
