/* The trial loop: ask, evaluate, tell, record. */
#ifndef RG_STUDY_TRIAL_H
#define RG_STUDY_TRIAL_H

#include "study/record.h"

/* Asked every iteration: true stops the trial without a record (it will be run again). */
typedef bool (*RgStopFunction)(void *context);

/* Run one trial to its record. *stopped: it was interrupted and there is no record. A numerical
   failure gives a record of status failed with the rows finished before it. Same bits on any rank.
 */
PetscErrorCode rg_trial_run(const RgStudy *study, const RgTrial *trial, RgStopFunction stop,
                            void *stop_context, RgRecord *record, bool *stopped);

#endif
