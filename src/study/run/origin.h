/* The origin of finished trials: whether this program, on this machine, with these plug-ins and
   external methods, would make the same records. */
#ifndef RG_STUDY_RUN_ORIGIN_H
#define RG_STUDY_RUN_ORIGIN_H

#include "study/record/record.h"
#include "study/run/fingerprint.h"

/* The first difference that applies. A build is identified by the sources that affect results,
   or, in records without these, by version and commit; plug-ins and programs by the hash of
   their file; compiler, flags, BLAS and CPU by the numeric fingerprint. */
typedef enum {
  RG_ORIGIN_SAME,
  RG_ORIGIN_BUILD,
  RG_ORIGIN_PLUGIN,
  RG_ORIGIN_PROGRAM,
  RG_ORIGIN_FINGERPRINT,
  RG_ORIGIN_COUNT
} RgOrigin;

typedef struct {
  int n[RG_ORIGIN_COUNT]; /* number of trials */
  char build[128];        /* another build that made some of them, or "" */
} RgOriginCounts;

/* Number of trials that are not RG_ORIGIN_SAME. */
int rg_origin_others(const RgOriginCounts *counts);
/* Append how many finished trials have which other origin, and what to do: `3 of 12 finished
   trials were made by another build (...): ...`; nothing if all origins agree. */
PetscErrorCode rg_origin_describe(const RgOriginCounts *counts, RgText *text);

/* A comparison of a study's records with what this process would make. */
typedef struct {
  const RgStudy *study; /* borrowed */
  char *software;       /* of this process (rg_software_describe); owned by the caller */
  uint64_t machine;     /* numeric fingerprint of this process */
} RgOriginReference;

/* Find the origin of a record, and count it. team: ranks of the team that would run it now, 0:
   unknown, every size is accepted. */
PetscErrorCode rg_origin_compare(const RgOriginReference *reference, const RgRecord *record,
                                 int cell, int team, RgOriginCounts *counts, RgOrigin *origin);

/* A comparison for a results file without its study, plug-ins and machine: other builds than
   this one; other plug-ins or fingerprints than the latest trials have. Zero-initialise. */
typedef struct {
  int n;
  struct RgOriginEntry *entries; /* owned */
  char *software;                /* software of this process; owned */
  RgOriginCounts counts;
} RgOrigins;
PetscErrorCode rg_origins_add(RgOrigins *origins, const RgRecord *record);
/* Compute the counts, after the last record. O(n log n). */
PetscErrorCode rg_origins_compute(RgOrigins *origins);
PetscErrorCode rg_origins_clear(RgOrigins *origins);

#endif
