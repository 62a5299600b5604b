/* The noise of the observations in a study file: the block `noise`. An observation at a design x is
   y = f + sqrt(v(x)) e, where e has the law of the block and v is its formula, or the constant
   `noise_variance` of the run. */
#ifndef RG_STUDY_FILE_NOISE_OPTIONS_H
#define RG_STUDY_FILE_NOISE_OPTIONS_H

#include "maths/distribution.h"
#include "maths/expression.h"
#include "regatta/domain.h"
#include "regatta/params.h"

typedef struct {
  char *variance;   /* formula of the inputs; NULL: `noise_variance` of the run; owned */
  char *law;        /* law of e; NULL: normal(0, 1); owned */
  double told;      /* factor of the variance that methods are told */
  double mean;      /* set by the check: mean of the formula over the designs; NaN without one */
  RgPlace place[3]; /* of the settings in the study file, in the order of the table */
} RgNoiseSettings;

extern const RgParam rg_noise_params[];

/* Whether the noise is other than normal noise of one variance that methods are told as it is. */
bool rg_noise_counts(const RgNoiseSettings *noise);
/* The variance that methods are told, where the run has the constant variance `constant`. */
double rg_noise_told(const RgNoiseSettings *noise, double constant);
/* Check the settings for the design of the problem `label`, and set noise->mean. known: methods are
   told the variance. */
PetscErrorCode rg_noise_check(const RgSpace *design, const char *label, double constant, bool known,
                              RgNoiseSettings *noise, RgDiagnostics *found);

/* The noise of a trial. */
typedef struct {
  const RgSpace *design; /* borrowed */
  double constant;       /* the variance without a formula */
  RgArithmetic variance; /* empty: no formula */
  RgDistribution law;    /* empty: normal(0, 1) */
  double *seen;          /* room for a design as the problem sees it; owned */
} RgNoise;

/* Create the noise from settings that passed the check. The caller destroys it. */
PetscErrorCode rg_noise_create(const RgNoiseSettings *settings, double constant,
                               const RgSpace *design, RgNoise *noise);
PetscErrorCode rg_noise_destroy(RgNoise *noise);
/* v(x) at a native design. Where it is no variance (negative or not finite), `mistake` says so. */
PetscErrorCode rg_noise_variance(const RgNoise *noise, const double *x, double *variance,
                                 RgText *mistake);
/* One draw of sqrt(v) e. The numbers that it takes from the stream do not depend on v > 0. */
double rg_noise_draw(const RgNoise *noise, double variance, RgRandom *random);

#endif
