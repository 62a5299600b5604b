/* Steps shared by the methods that see contexts drawn by nature and look at a design through the
   upper confidence bounds U(x, c) = mu(x, c) + width sd(x, c) of a list of contexts. */
#ifndef RG_ALGORITHM_CONTEXTUAL_H
#define RG_ALGORITHM_CONTEXTUAL_H

#include "acquisition/context_ucb.h"
#include "algorithm/surrogate.h"
#include "maths/law.h"
#include "regatta/measure.h"

/* RgContextualOptions are the first member of the options of these methods. */
#define RG_CONTEXTUAL_PARAMS(Options, member)                                                      \
  RG_REAL("width", Options, member.width, "1.5", 0.0, 1e6, "beta",                                 \
          "multiple of the posterior deviation in U; not squared, no root is taken of it"),        \
    RG_CONTEXTUAL_NODES(Options, member)
#define RG_CONTEXTUAL_NODES(Options, member)                                                       \
  RG_INT(                                                                                          \
    "context_nodes", Options, member.nodes, "auto", 0, 1e4, "",                                    \
    "contexts between which U is interpolated while the search climbs, at most, where the kernel " \
    "does not factor into x and c; the end is on all; auto: as many as it takes; 0: all"),         \
    RG_ENTRY("any_measure", BOOL, Options, member.any_measure, bool, "false", RG_LATER, 0, NULL,   \
             "", "run also where the problem's measure is not the one that the method maximises")

/* For methods that can maximise other measures than the expectation. */
#define RG_CONTEXTUAL_MEASURE(Options, member)                                                     \
  RG_ENTRY("measure", TEXT, Options, member.measure, char *, "auto", 0, 0, rg_param_later, "rho",  \
           "measure of U over the contexts that is maximised, an expression: regatta list "        \
           "measures; auto: the expectation")

#define RG_CONTEXT_GRID_PARAM(Options, member, size)                                               \
  RG_INT("contexts", Options, member, size, 2, 1e5, "N",                                           \
         "points of the context grid; ceil(N^(1/dim)) levels per coordinate, ends included")
/* A line after that of `samples`; exception: text on the cases without screening. */
#define RG_SCREENING_PARAM(Options, exception)                                                     \
  RG_INT("screening", Options, screening, "64", 1, 1e6, "",                                        \
         "of them, the first, that the search begins with, where the kernel does not factor into " \
         "x and c; it ends with all" exception)

/* The weights of the observed contexts in the estimate of a law that may change. */
typedef struct {
  int window;   /* the latest ones; -1: all */
  double decay; /* the weight of a context is this, to the power of its age; NaN: 1 */
} RgForgetting;

#define RG_FORGETTING_PARAMS(Options, member)                                                      \
  RG_ENTRY("window", INT, Options, member.window, int, "auto", 1, 1e6, rg_param_later, "W",        \
           "for laws that change: the latest contexts that count; auto: all"),                     \
    RG_ENTRY("decay", REAL, Options, member.decay, double, "auto", RG_POSITIVE, 1, rg_param_later, \
             "", "for laws that change: weight of a context, to the power of its age; auto: 1")

/* Whether some contexts count less than others. */
bool rg_forgets(const RgForgetting *forgetting);

/* Contexts and their probabilities. */
typedef struct {
  int n;
  bool equal;       /* whether all have the same */
  double *contexts; /* n x dim_c, unit coordinates; observed ones oldest first; owned */
  double *weight;   /* n, sum 1, owned */
  double effective; /* 1/sum weight^2: observed contexts of equal weight; given laws: evaluations */
  double age;       /* weighted mean age of observed contexts, 1 for the newest; given laws: 0 */
} RgContextCentre;
/* The observed contexts that count. */
PetscErrorCode rg_centre_of_observed(const RgForgetting *forgetting, const RgHistory *history,
                                     RgContextCentre *centre);
PetscErrorCode rg_centre_destroy(RgContextCentre *centre);

/* Record columns of methods with an ambiguity set: rg_ucb_columns, and its radius. */
enum { RG_BALL_RADIUS = RG_UCB_ACQUISITION + 1 };
extern const RgRecordColumn rg_ball_columns[];

/* The standard check: the measure is the expectation. */
PetscErrorCode rg_contextual_check(const void *options, const RgDomain *domain, RgPlace place,
                                   RgDiagnostics *diagnostics);
/* The part about the measure, for a method that maximises the expectation, the measure `other`, or
   the one of the options. options: RgContextualOptions. */
PetscErrorCode rg_contextual_check_measure(const void *options, const RgDomain *domain,
                                           RgMeasureKind other, RgPlace place,
                                           RgDiagnostics *diagnostics);

/* The measure of the options, which the caller destroys; *used points to it, or is NULL for the
   expectation. options: RgContextualOptions. */
PetscErrorCode rg_contextual_measure(const void *options, RgMeasure *measure,
                                     const RgMeasure **used);

/* Whether the initial design has seen a context; if not, the failure says so. */
bool rg_context_seen(const RgAlgorithm *algorithm, const RgHistory *history, RgFailure *failure);

/* The create function of a class whose state begins with an RgModel over (x, c). */
PetscErrorCode rg_contextual_create(RgAlgorithm *algorithm);
/* For a class whose whole state is that model, and for one with the standard needs too. */
#define RG_CONTEXTUAL_STATE                                                                        \
  RG_STATE(RgModel, rg_contextual_create, rg_surrogate_destroy), RG_MODEL_AND_SEARCH
#define RG_CONTEXTUAL_METHODS                                                                      \
  .needs = RG_NEEDS_NATURE | RG_NEEDS_INITIAL, .check = rg_contextual_check, RG_CONTEXTUAL_STATE

/* Call rg_acquire_contextual, and record the squared width and the value as rg_ucb_columns say. The
   state begins with the model. */
PetscErrorCode rg_contextual_acquire(const RgAlgorithm *algorithm, int t, const RgHistory *history,
                                     const RgContextualOptions *how, const RgContextual *exact,
                                     const RgContextual *few, RgQuery *query, RgFailure *failure);

/* Grid of the context box: ceil(size^(1/dim)) equispaced levels per coordinate, ends included, all
   combinations (the last coordinate fastest), or the diagonal only. Returns the points in *points
   (n x dim), freed by the caller. */
PetscErrorCode rg_context_grid(int dim, int size, bool diagonal, int *n, double **points);
/* The grid of rg_context_grid on a box of contexts, or the points of a finite set: n x dim unit
   coordinates in *points, freed by the caller. */
PetscErrorCode rg_context_points(const RgSpace *context, int size, bool diagonal, int *n,
                                 double **points);

/* Return the number of points, also where it exceeds any memory. */
double rg_context_grid_size(int dim, int size, bool diagonal);
/* Estimate the bytes of the tables of a posterior at `contexts` contexts after n evaluations. */
double rg_context_table_bytes(double contexts, int n);

/* The share of the observed contexts that is nearest to each of n points; a tie goes to the
   lowest index. p: n. */
void rg_context_histogram(const RgHistory *history, int n, const double *points, double *p);

/* ---- the law of an expectation ----------------------------------------------------------------

   The distribution of contexts under which a method takes expectations: the contexts observed so
   far, or given laws. */

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

/* A Wasserstein ball around it; first member of the options of the methods that are robust over
   such a ball. */
enum { RG_RADIUS_ROOT_N, RG_RADIUS_CONSTANT, RG_RADIUS_THEORY, RG_RADIUS_SEQUENCE };
typedef struct {
  RgCentreOptions centre;
  int schedule;
  double radius; /* in units of the context box */
  double drift;  /* Wasserstein distance by which the law moves per evaluation; NaN: 0 */
  char *sequence;
} RgWassersteinOptions;

extern const char *const rg_radius_schedules[];

#define RG_WASSERSTEIN_PARAMS(Options, member)                                                     \
  RG_CENTRE_PARAMS(Options, member.centre),                                                        \
    RG_REAL("radius", Options, member.radius, "0.3", 0.0, 1e6, "eps",                              \
            "Wasserstein radius, or its multiple of 1/sqrt(n); units of the context box"),         \
    RG_CHOICE(                                                                                     \
      "schedule", Options, member.schedule, "root_n", rg_radius_schedules, "",                     \
      "eps_t = radius / sqrt(n) after n evaluations, of which n count by window and decay, "       \
      "eps_t = radius, that of Lemma 7 (wdrbo alone), or the formula `sequence`"),                 \
    RG_ENTRY("sequence", TEXT, Options, member.sequence, char *, "auto", 0, 0, rg_param_later, "", \
             "the radius of query t (1, 2, ..), a formula of t that is nowhere negative, such as " \
             "0.5*log(1+t)/sqrt(t); units of the context box; with schedule: sequence"),           \
    RG_ENTRY("drift", REAL, Options, member.drift, double, "auto", 0, 1e6, rg_param_later, "",     \
             "distance by which the law is expected to move per evaluation: observed contexts of " \
             "mean age a add drift a to the radius; auto: 0")

/* Return eps_t of query t around this centre in *radius (wdrbo 2.5). A value of the formula that is
   no radius is a failure. */
PetscErrorCode rg_wasserstein_ball_radius(const RgWassersteinOptions *options,
                                          const RgContextCentre *centre, int t, double *radius,
                                          RgFailure *failure);

/* rg_contextual_check; also checks that the laws fit the contexts. options: begin with
   RgCentreOptions. */
PetscErrorCode rg_centre_check(const void *options, const RgDomain *domain, RgPlace place,
                               RgDiagnostics *diagnostics);
/* rg_centre_check; also checks the formula of the radii, at the first 10000 queries. options: begin
   with RgWassersteinOptions. */
PetscErrorCode rg_wasserstein_check(const void *options, const RgDomain *domain, RgPlace place,
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

#endif
