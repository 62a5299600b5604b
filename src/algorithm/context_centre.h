/* The distribution of contexts under which a method takes expectations: the contexts observed so
   far, or given laws. */
#ifndef RG_ALGORITHM_CONTEXT_CENTRE_H
#define RG_ALGORITHM_CONTEXT_CENTRE_H

#include "algorithm/contextual.h"
#include "maths/law.h"

typedef struct {
  RgContextualOptions common;
  RgTexts laws; /* forecasts of the law of the next context, which may change in time */
  int panels;
  RgForgetting forgetting; /* how observed contexts lose weight */
  double forecast_error;   /* deviation of the errors of the given locations; NaN: 0 */
} RgCentreOptions;

#define RG_CENTRE_PARAMS(Options, member)                                                          \
  RG_CONTEXTUAL_PARAMS(Options, member.common),                                                    \
    RG_TEXTS("centre", Options, member.laws, "auto", "P",                                          \
             "law of each context, independent, native units, the same or changing with t "        \
             "(regatta describe laws); auto: the contexts observed"),                              \
    RG_ENTRY("forecast_error", REAL, Options, member.forecast_error, double, "auto", 0, 1e6,       \
             rg_param_later, "",                                                                   \
             "deviation of a normal error by which each given law is moved, new at every query; "  \
             "native units; auto: 0"),                                                             \
    RG_FORGETTING_PARAMS(Options, member.forgetting),                                              \
    RG_INT("panels", Options, member.panels, "4", 1, 1e4, "",                                      \
           "Gauss-Legendre panels of 12 nodes per context for expectations under given laws")

/* Contexts and their probabilities. */
typedef struct {
  int n;
  double *contexts; /* n x dim_c, unit coordinates, owned */
  double *weight;   /* n, sum 1, owned */
  double effective; /* number of observed contexts, weighted; given laws: of evaluations */
  double age;       /* their mean age; given laws: 0 */
} RgContextCentre;

/* A Wasserstein ball around it; first member of the options of the methods that are robust over
   such a ball. */
enum { RG_RADIUS_ROOT_N, RG_RADIUS_CONSTANT, RG_RADIUS_THEORY };
typedef struct {
  RgCentreOptions centre;
  int schedule;
  double radius; /* in units of the context box */
  double drift;  /* Wasserstein distance by which the law moves per evaluation; NaN: 0 */
} RgWassersteinOptions;

extern const char *const rg_radius_schedules[];

#define RG_WASSERSTEIN_PARAMS(Options, member)                                                     \
  RG_CENTRE_PARAMS(Options, member.centre),                                                        \
    RG_REAL("radius", Options, member.radius, "0.3", 0.0, 1e6, "eps",                              \
            "Wasserstein radius, or its multiple of 1/sqrt(n); units of the context box"),         \
    RG_CHOICE(                                                                                     \
      "schedule", Options, member.schedule, "root_n", rg_radius_schedules, "",                     \
      "eps_t = radius / sqrt(n) after n evaluations, of which n count by window and decay, "       \
      "eps_t = radius, or that of Lemma 7 (wdrbo alone)"),                                         \
    RG_ENTRY("drift", REAL, Options, member.drift, double, "auto", 0, 1e6, rg_param_later, "",     \
             "distance by which the law is expected to move per evaluation: observed contexts of " \
             "mean age a add drift a to the radius; auto: 0")

/* eps_t around this centre (wdrbo 2.5). */
double rg_wasserstein_ball_radius(const RgWassersteinOptions *options,
                                  const RgContextCentre *centre);

/* rg_contextual_check; also checks that the laws fit the contexts. options: begin with
   RgCentreOptions. */
PetscErrorCode rg_centre_check(const void *options, const RgDomain *domain, RgPlace place,
                               RgDiagnostics *diagnostics);
/* A method can begin without an initial design if its laws are given and its radius is finite
   without observations. options: begin with RgCentreOptions, RgWassersteinOptions. */
extern const RgTerms rg_centre_terms, rg_wasserstein_ball_terms;
#define RG_CENTRE_NEEDS                                                                            \
  .needs = RG_NEEDS_NATURE | RG_NEEDS_INITIAL, .terms = &rg_centre_terms, .check = rg_centre_check
#define RG_WASSERSTEIN_NEEDS                                                                       \
  .needs = RG_NEEDS_NATURE | RG_NEEDS_INITIAL, .terms = &rg_wasserstein_ball_terms

/* Observed contexts with their weights, or the product quadrature of the laws of the evaluation
   that query t asks for, moved by the forecast error. Options of the algorithm: begin with
   RgCentreOptions. */
PetscErrorCode rg_centre_create(const RgAlgorithm *algorithm, int t, const RgHistory *history,
                                RgContextCentre *centre, RgFailure *failure);
/* The number of contexts that rg_centre_create returns after n evaluations (one given law). */
int rg_centre_size(const RgCentreOptions *options, int n);
/* Bytes of the contexts after n evaluations; options: begin with RgCentreOptions. */
double rg_centre_bytes(const void *options, int dim, int n);
PetscErrorCode rg_centre_destroy(RgContextCentre *centre);

#endif
