/* The state of `regatta verify`, and the sample that it runs again. */
#ifndef RG_CLI_VERIFICATION_H
#define RG_CLI_VERIFICATION_H

#include "cli/command.h"
#include "study/run/fingerprint.h"
#include "study/file/registry.h"
#include "study/store/store.h"
#include "study/trial/instances.h"

/* The recorded state of a trial of the plan. */
typedef struct {
  unsigned char status; /* RgStatus */
  uint64_t checksum[2], fingerprint;
} RgFound;

typedef struct {
  int rank, ranks;
  const char *path;
  char salt[33];              /* checksum of the file; determines the sample */
  const RgRegistry *registry; /* borrowed; NULL: no plug-ins */
  RgFingerprint fingerprint;
  RgStudy study;
  RgPlan plan;
  RgInstances *instances;          /* shared by the repeated trials; owned */
  RgFound *found;                  /* per trial of the plan; owned */
  RgChecksum own;                  /* over the records that are part of the file's own checksum */
  int n_records, n_found, n_other; /* n_other: trials that the plan lacks */
  bool programs, insists;          /* programs may be started; a rerun was asked for in words */
  int damaged, n_sample;
  int n_refused; /* trials that would start a program */
  int *sample;   /* trials to run again; owned */
  int n_equal, n_close, n_different;
  int exit_code;
} RgVerification;

/* Choose at most `wanted` trials to run again, by the file's checksum. */
PetscErrorCode rg_verify_draw(RgVerification *s, int wanted);
/* Run the sample again and report the result. Collective. */
PetscErrorCode rg_verify_check(RgVerification *s);

#endif
