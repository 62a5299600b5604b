/* How long the evaluations of a trial take on the simulated clock, as the key `duration` says:

     LAW                    a law of one number (maths/distribution.h)
     LAW * FORMULA          times a formula of the design's inputs, native units; without names
                            they are x1, x2, ...

   The law's number of submission s, attempt a is its quantile at one uniform random number of
   (s, a): the same for all methods, and coupled between laws. */
#ifndef RG_STUDY_FILE_DURATION_H
#define RG_STUDY_FILE_DURATION_H

#include "maths/arithmetic.h"
#include "maths/distribution.h"
#include "regatta/domain.h"

typedef struct {
  RgDistribution law;   /* empty: no clock */
  RgArithmetic formula; /* empty: the factor is 1 */
} RgDuration;

/* Parse a text; NULL: no duration. The first mistake is appended to `mistake`; then the duration
   is cleared. */
PetscErrorCode rg_duration_read(const char *text, const RgSpace *design, RgDuration *duration,
                                RgText *mistake);
PetscErrorCode rg_duration_clear(RgDuration *duration);
/* The duration of a law at the uniform number u in (0, 1) and a design as the problem sees it
   (rg_space_seen). */
double rg_duration_at(const RgDuration *duration, double u, const double *seen);

/* Parse a law of times, which gives no negative number. */
PetscErrorCode rg_times_read(const char *text, RgDistribution *law, RgText *mistake);

#endif
