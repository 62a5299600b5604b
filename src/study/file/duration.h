/* How long the evaluations of a trial take on the simulated clock, as the key `duration` says:

     LAW                    a law of one number (maths/distribution.h)
     LAW * FORMULA          times a formula of the design's inputs, native units; without names
                            they are x1, x2, ...
     column NAME            a column of the problem's table of measurements
     reported               what the problem's program reports with its answer
     recorded FILE          the durations in a results file, by submission
     recorded FILE of LABEL those of the algorithm LABEL alone

   The law's number of submission s, attempt a is its quantile at one uniform random number of
   (s, a): the same for all methods, and coupled between laws. */
#ifndef RG_STUDY_FILE_DURATION_H
#define RG_STUDY_FILE_DURATION_H

#include "maths/arithmetic.h"
#include "maths/distribution.h"
#include "regatta/domain.h"
#include "regatta/params.h"

typedef enum {
  RG_DURATION_NONE, /* no clock */
  RG_DURATION_LAW,
  RG_DURATION_COLUMN,
  RG_DURATION_REPORTED,
  RG_DURATION_RECORDED
} RgDurationKind;

typedef struct {
  RgDurationKind kind;
  RgDistribution law;
  RgArithmetic formula; /* empty: the factor is 1 */
  char *name;           /* name of the column, or path of the recorded file; owned */
  char *label;          /* recorded: label of the algorithm; NULL: any; owned */
} RgDuration;

/* The kind of a text by its first word; NULL: no duration. */
RgDurationKind rg_duration_kind(const char *text);
/* Parse a text; NULL: no duration. A relative path counts from the folder of place.file, if the
   file is there. The first mistake is appended to `mistake`; then the duration is cleared. */
PetscErrorCode rg_duration_read(const char *text, const RgSpace *design, RgPlace place,
                                RgDuration *duration, RgText *mistake);
PetscErrorCode rg_duration_clear(RgDuration *duration);
/* The duration of a law at the uniform number u in (0, 1) and a design as the problem sees it
   (rg_space_seen). */
double rg_duration_at(const RgDuration *duration, double u, const double *seen);

#define RG_TIME_MAX 1e12 /* the longest duration */

/* Parse a law of times, which gives no negative number. */
PetscErrorCode rg_times_read(const char *text, RgDistribution *law, RgText *mistake);

#endif
