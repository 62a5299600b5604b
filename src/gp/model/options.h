/* Options of the surrogate: what a study file says of the model. */
#ifndef RG_GP_MODEL_OPTIONS_H
#define RG_GP_MODEL_OPTIONS_H

#include "regatta/params.h"

typedef enum { RG_FIT_FIXED, RG_FIT_ML, RG_FIT_MAP } RgFitPolicy;
typedef enum {
  RG_STRUCTURE_WHOLE,
  RG_STRUCTURE_PRODUCT,
  RG_STRUCTURE_ADDITIVE,
  RG_STRUCTURE_SHIFT /* of x + c */
} RgKernelStructure;
typedef enum { RG_MEAN_AUTO, RG_MEAN_ZERO, RG_MEAN_CONSTANT, RG_MEAN_QUADRATIC } RgMeanKind;
typedef enum { RG_UNITS_NATIVE, RG_UNITS_MODEL } RgNoiseUnits;
typedef enum { RG_DEVIATION_POPULATION, RG_DEVIATION_SAMPLE } RgDeviation;
typedef enum { RG_WARPING_NONE, RG_WARPING_KUMARASWAMY } RgWarping;
typedef enum { RG_WARM_NEVER, RG_WARM_ALWAYS, RG_WARM_AUTO } RgWarm; /* false, true, auto */
typedef enum { RG_MULTISTART_ADAPTIVE, RG_MULTISTART_ALWAYS } RgMultistart;
typedef enum {
  RG_PRIORS_NONE,
  RG_PRIORS_DEFAULT,
  RG_PRIORS_BOTORCH2023, /* sbo_kde 2.1.1 */
  RG_PRIORS_BOTORCH2024, /* wdrbo 2.1 */
  RG_PRIORS_HVARFNER2024 /* for many inputs: length scales grow with the number of inputs */
} RgPriorSet;

/* The `surrogate:` block of a study file; described by rg_surrogate_params. */
typedef struct RgSurrogateOptions {
  int kernel;      /* RgKernelFamily */
  double shape;    /* parameter of the family; auto: the family's default */
  RgTexts kernels; /* families by group; empty: `kernel` for all */
  bool ard;
  int structure;         /* RgKernelStructure: whole | product | additive over `groups` */
  RgReals groups;        /* group of each input, any numbers; empty: one group per input */
  RgTexts terms;         /* additive: inputs of each term, from 1, may overlap; empty: groups */
  RgReals term_variance; /* variance of each term; empty: equal shares of `variance` */
  RgReals length_scale;  /* fixed value, or start of the fit; auto: 0.3; unit-cube units. One value,
                            one per input (ard), or one per group (not ard) */
  double variance;       /* signal variance k(x,x): fixed value, or start of the fit */
  double noise_variance; /* auto: the study's noise variance where known, else learned (fixed
                             policy: 1e-6 of the signal variance) */
  int noise_units;       /* RgNoiseUnits of a given or known noise variance */
  double noise_floor;    /* smallest noise variance in model units, where it is not learned */
  bool fit_noise;        /* learn the noise even where it is known */
  double noise_lower;    /* lower bound of a learned noise, model units */
  bool standardise;      /* scale outputs to zero mean and unit variance at every refit */
  int deviation;         /* RgDeviation: divisor n | n - 1 */
  int mean;              /* RgMeanKind: zero | constant (generalised least squares) | quadratic
                            (that, and a trend of the kernel); auto: constant unless the policy
                            is fixed */
  int fit;               /* RgFitPolicy */
  int refit_every;       /* queries between refits; -1: auto */
  int fit_starts;        /* starts of the fit in addition to the first one */
  int fit_multistart;    /* RgMultistart: when fit_starts are used */
  int fit_warm; /* RgWarm: first start of a fit, the last optimum or the configured values */
  int fit_iterations;
  bool fit_variance; /* false keeps `variance` */
  double length_scale_lower, length_scale_upper, variance_lower, variance_upper;
  double length_scale_factor; /* c: length scales start at c sqrt(d), d inputs; auto: NaN */
  int prior;                  /* RgPriorSet; used by the map policy */
  int solver;                 /* RgSolver */
  double solver_tolerance;    /* NaN: auto; the integers below: -1 */
  int solver_rank, solver_iterations;
  int fit_data;      /* largest number of data that the fit of an iterative posterior uses */
  int transform;     /* RgTransformKind of outputs */
  int input_warping; /* RgWarping of the inputs of a box */
  int restart_after; /* queries in a row that promise little before a restart; -1: never */
} RgSurrogateOptions;

extern const RgParam rg_surrogate_params[];

#endif
