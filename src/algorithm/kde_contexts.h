/* The parts that SBO-KDE and DRBO-KDE share: a density estimate of the contexts seen so far, and
   a list of contexts with weights that stands for it while x_t is chosen (sample average or
   quadrature). */
#ifndef RG_ALGORITHM_KDE_CONTEXTS_H
#define RG_ALGORITHM_KDE_CONTEXTS_H

#include "regatta/algorithm.h"
#include "algorithm/contextual.h"
#include "density/kde.h"

enum { RG_KDE_SAMPLE, RG_KDE_QUADRATURE };

typedef struct {
  RgContextualOptions common;
  int expectation; /* RG_KDE_SAMPLE | RG_KDE_QUADRATURE */
  int samples;     /* M */
  int nodes;       /* number of nodes of the quadrature */
  int screening;   /* number of contexts that a search begins with */
  RgForgetting forgetting;
} RgKdeOptions;

extern const char *const rg_kde_expectations[];

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
    RG_CONTEXTUAL_NODES(RgKdeOptions, common), RG_FORGETTING_PARAMS(RgKdeOptions, forgetting)

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

/* For `confidence` of the class. */
void rg_kde_confidence(const RgKdeOptions *options, const char *rule, RgConfidenceLaw *law);
/* The number of contexts that a search begins with; contexts->n means all. */
int rg_kde_screening(const RgKdeOptions *options, const RgKdeContexts *contexts);

#endif
