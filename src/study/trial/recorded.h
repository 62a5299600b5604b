/* Durations in a results file, by submission: the law `duration: recorded FILE`. A file with one
   trial serves all trials. Otherwise a trial is served by those of the same problem label,
   instance and seed, which must agree. */
#ifndef RG_STUDY_TRIAL_RECORDED_H
#define RG_STUDY_TRIAL_RECORDED_H

#include "study/file/study.h"

typedef struct RgRecorded RgRecorded;

/* Read the trials of a results file that have durations. label: the algorithm's label; NULL: any. A
   mistake is appended to `mistake`; then *recorded is NULL. */
PetscErrorCode rg_recorded_read(const char *path, const char *label, RgRecorded **recorded,
                                RgText *mistake);
PetscErrorCode rg_recorded_destroy(RgRecorded **recorded);

/* The durations of submissions 1 to *n, NaN where they are not known; borrowed. If no trial serves,
   or those that do differ, *times is NULL and `mistake` says so. */
PetscErrorCode rg_recorded_find(const RgRecorded *recorded, const char *problem_label,
                                uint64_t instance, uint64_t seed, int *n, const double **times,
                                RgText *mistake);

/* Check that the recorded durations of a study suffice, unless its trials end by time. */
PetscErrorCode rg_recorded_check(const RgStudy *study, RgDiagnostics *diagnostics);

#endif
