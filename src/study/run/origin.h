/* Who made a finished trial: this program, on this machine, with these plug-ins and programs that
   are methods, or others. */
#ifndef RG_STUDY_RUN_ORIGIN_H
#define RG_STUDY_RUN_ORIGIN_H

#include "study/record/record.h"
#include "study/run/fingerprint.h"

/* What is other about it; the first that applies. A build is known by the sources that results
   depend on, or where a record does not tell them by version and commit; a plug-in and
   a program by the hash of its file; compiler, flags, BLAS and CPU by the numeric fingerprint. */
typedef enum {
  RG_ORIGIN_SAME,
  RG_ORIGIN_BUILD,
  RG_ORIGIN_PLUGIN,
  RG_ORIGIN_PROGRAM,
  RG_ORIGIN_FINGERPRINT,
  RG_ORIGIN_COUNT
} RgOrigin;

typedef struct {
  int n[RG_ORIGIN_COUNT]; /* trials */
  char build[128];        /* another build that made some; "": none */
} RgOriginCounts;

/* All that are not RG_ORIGIN_SAME. */
int rg_origin_others(const RgOriginCounts *counts);
/* Append who made how many of the finished trials, and what to do: `3 of 12 finished trials were
   made by another build (...): ...`; nothing where all are the same. */
PetscErrorCode rg_origin_describe(const RgOriginCounts *counts, RgText *text);

/* Of records of a study against what would be made of them now. */
typedef struct {
  const RgStudy *study; /* borrowed */
  char *software;       /* of this process; owned */
  uint64_t machine;     /* its numeric fingerprint */
} RgOriginJudge;
PetscErrorCode rg_origin_judge_create(const RgStudy *study, uint64_t machine, RgOriginJudge *judge);
PetscErrorCode rg_origin_judge_destroy(RgOriginJudge *judge);
/* team: ranks of the team that would run it now, 0: unknown, any will do. Counts it. */
PetscErrorCode rg_origin_judge(const RgOriginJudge *judge, const RgRecord *record, int cell,
                               int team, RgOriginCounts *counts, RgOrigin *origin);

/* Of the records of a file whose study, plug-ins and machine are elsewhere: another build than this
   one, other plug-ins or fingerprints than those of the trials that began last. Zero-initialise. */
typedef struct {
  int n;
  struct RgOriginEntry *entries; /* owned */
  char *software;                /* of this process; owned */
  RgOriginCounts counts;
} RgOriginSurvey;
PetscErrorCode rg_origin_survey_add(RgOriginSurvey *survey, const RgRecord *record);
/* After the last: fills in the counts. O(n log n). */
PetscErrorCode rg_origin_survey_count(RgOriginSurvey *survey);
PetscErrorCode rg_origin_survey_clear(RgOriginSurvey *survey);

#endif
