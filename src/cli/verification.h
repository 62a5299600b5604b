/* What `regatta verify` holds, and the sample it runs again. */
#ifndef RG_CLI_VERIFICATION_H
#define RG_CLI_VERIFICATION_H

#include "cli/command.h"
#include "study/run/fingerprint.h"
#include "study/spec/registry.h"
#include "study/store/store.h"
#include "study/trial/instances.h"

/* What the file says of a trial of the plan. */
typedef struct {
  unsigned char status; /* RgStatus */
  uint64_t checksum[2], fingerprint;
} RgFound;

typedef struct {
  int rank, ranks;
  const char *path;
  char salt[33];              /* checksum of the file: what the sample is drawn from */
  const RgRegistry *registry; /* borrowed; NULL: no plug-ins */
  RgFingerprint fingerprint;
  RgStudy study;
  RgPlan plan;
  RgInstances *instances;          /* shared by the trials that are run again; owned */
  RgFound *found;                  /* per trial of the plan; owned */
  RgChecksum own;                  /* over the records that the file counts in its own checksum */
  int n_records, n_found, n_other; /* other: not in the plan */
  int damaged, n_sample;
  int *sample; /* trials to run again; owned */
  int n_equal, n_close, n_different;
  int exit_code;
} RgVerification;

/* Draw the trials to run again, at most `wanted`, by the file's checksum. */
PetscErrorCode rg_verify_draw(RgVerification *s, int wanted);
/* Run them again and say what came out. Collective. */
PetscErrorCode rg_verify_check(RgVerification *s);

#endif
