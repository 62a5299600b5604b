/* What `regatta run` holds, and how it begins. */
#ifndef RG_CLI_RUN_SESSION_H
#define RG_CLI_RUN_SESSION_H

#include "cli/command.h"
#include "cli/progress.h"
#include "study/run/fingerprint.h"
#include "study/spec/registry.h"
#include "study/run/schedule.h"
#include "study/run/stop_relay.h"
#include "study/trial/instances.h"
#include "study/store/store.h"

/* Everything a run holds. */
typedef struct {
  int rank, ranks;
  bool strict, quiet, retry_failed;
  bool told; /* the user knows that the disk says no */
  char output[4096];
  RgRegistry *registry; /* plugins; NULL: none */
  RgStudy study;
  RgInstances *instances; /* of problems, for all trials of this rank */
  RgPlan plan;
  unsigned char *done; /* RgStatus per trial, known before the run */
  RgStoreScan scan;
  RgStore *store;
  RgSchedule *schedule;
  RgTeams teams;
  RgTeam *team[RG_TEAM_LEVELS]; /* of this rank, by level */
  int crossover;                /* data from which a team shares a matrix; 0: as measured */
  RgStopRelay *relay;
  RgStopReason stop;     /* NONE: go on */
  PetscErrorCode broken; /* of should_stop, which can't return it */
  RgProgressMeter meter;
  RgFingerprint fingerprint;
  char host[RG_NAME_MAX];
  char machine[256]; /* BLAS core, threads, CPU, tuning: for the provenance of records */
  int exit_code;
} RgSession;

/* Load the study, open the store, learn what is finished already, and prepare the schedule of the
   rest. Collective. path: of the study file; output, walltime: as typed, NULL when not given. A
   mistake or a store that says no was told to the user; s->exit_code is set on all ranks. */
PetscErrorCode rg_session_start(RgSession *s, const char *path, const char *output,
                                const char *walltime);

/* Sizes of the teams, and whether they and their memory are to be had; if not, one rank says why
   and s->exit_code is set. Collective. */
PetscErrorCode rg_session_plan_teams(RgSession *s);
/* Consecutive ranks make a team, so that the teams of a level split into those of the next.
   Collective. */
PetscErrorCode rg_session_form_teams(RgSession *s);
PetscErrorCode rg_session_disband_teams(RgSession *s);

#endif
