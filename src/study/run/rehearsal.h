/* The cost of a trial from parts of it, which are run here and now. No result depends on them. */
#ifndef RG_STUDY_RUN_REHEARSAL_H
#define RG_STUDY_RUN_REHEARSAL_H

#include "study/file/study.h"

/* Estimate the seconds of a trial of a cell: CPU seconds, or wall time where the method is a
   program or the problem costly. NaN: the trial fails. A trial of up to half a second runs to its
   end. Of a longer one, the beginning runs, and then a few queries in the middle and at the end.
   Their data continue the beginning, by queries with coarse searches, and by designs near the
   latest ones where these take too long: a model of data that crowd around an optimum costs another
   time than one of scattered data. Between these points, seconds per query follow a power law.
   Costly problems are not evaluated: a smooth function with the same domain takes their place, and
   `evaluation` is added for each. */
PetscErrorCode rg_rehearse(const RgStudy *study, const RgCell *cell, double evaluation,
                           double *seconds);

/* Time an evaluation of a costly problem: the second one, because the first one starts a program.
   After 30 seconds it is given up, and its time so far counts. NaN: it fails. */
PetscErrorCode rg_time_evaluation(const RgStudy *study, const RgCell *cell, double *seconds);

/* Run a trial with an initial design of `first` points and made-up evaluations for one query.
   message: why it fails, or "". */
PetscErrorCode rg_rehearse_query(const RgStudy *study, const RgCell *cell, int first,
                                 char message[256]);

#endif
