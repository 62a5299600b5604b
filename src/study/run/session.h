/* The state of a run on one rank, and what its steps share. Private to study/run. */
#ifndef RG_STUDY_RUN_SESSION_H
#define RG_STUDY_RUN_SESSION_H

#include "gp/team/team.h"
#include "regatta/run.h"
#include "study/run/fingerprint.h"
#include "study/run/guard.h"
#include "study/run/programs.h"
#include "study/run/origin.h"
#include "study/schedule/schedule.h"
#include "study/run/stop.h"
#include "study/store/store.h"
#include "study/trial/trial.h"
#include "study/trial/instances.h"

typedef struct {
  MPI_Comm comm;               /* a duplicate; owned */
  int rank, ranks, ranks_here; /* ranks_here: ranks on this host */
  const RgPlan *plan;          /* borrowed */
  const RgRunOptions *options; /* borrowed */
  const RgObserver *observer;  /* borrowed; NULL: no observer */
  double begun, next_progress; /* rg_wall_seconds of the first trial and of the next report */
  char directory[4200];        /* folder of finished trials */
  /* By trial: whether it belongs to this run's part; NULL: all do; owned. */
  PetscBT share;
  unsigned char *done; /* RgStatus per trial before the run */
  RgStoreScan scan;
  char log[4500];   /* this rank's file for the standard error of programs */
  RgReasons failed; /* failures of this rank in this run */
  int *cell_failed; /* failed trials of this rank, by cell */
  /* By cell (the first cell of a problem): an excess over the optimum was reported; owned. */
  PetscBT exceeded;
  PetscBT again; /* by trial: it runs again although an earlier run completed it; owned */
  /* Trials of this rank that ran again and failed; their earlier record stays. */
  int n_kept;
  RgOriginCounts origins; /* origins of trials that don't run again */
  RgInstances *instances; /* instances of problems, for all trials of this rank */
  RgStore *store;
  bool told;            /* the trouble with the disk was reported */
  bool shared;          /* another run on the same output was reported */
  const RgTrial *trial; /* current trial, NULL: no trial; borrowed */
  const int *n_known;   /* its evaluations so far; borrowed from its host */
  double trial_begun;   /* rg_wall_seconds */
  double polled;        /* rg_wall_seconds of the last call of poll */
  double longest;       /* longest time between two such calls in the current trial, seconds */
  double *pause;        /* per cell: the same in its last trial, negative: no trial yet; owned */
  RgSchedule *schedule;
  RgTeams teams;
  RgTeam *team[RG_TEAM_LEVELS]; /* teams of this rank, by level */
  MPI_Comm holding; /* of teams whose ranks hold programs; MPI_COMM_NULL: there are none; owned */
  RgHolder *holder; /* while this rank serves such a team; else NULL */
  RgStopRelay *relay;
  double deadline;       /* rg_wall_seconds of the wall-time limit, 0: no limit */
  RgGuard *guard;        /* from the first trial to the last; else NULL */
  bool alone;            /* the rank commits by itself, the guard does not (commits_alone) */
  RgStopReason stop;     /* NONE: continue */
  PetscErrorCode broken; /* error inside should_stop (session_trials.c), which can't return it */
  RgFingerprint fingerprint;
  char host[RG_NAME_MAX];
  char machine[256];    /* BLAS core, threads, CPU, tuning; part of the provenance of records */
  RgRunOutcome outcome; /* COMPLETE, until a problem occurs */
  char message[512];    /* description of the problem */
  int speaker;          /* the first rank with the worst outcome, which reports it */
} RgSession;

/* Send a message to the observer. rank: the rank concerned, -1: all. */
void rg_session_tell(const RgSession *session, int rank, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
/* Report progress to the observer if it is time, or for the last time. */
PetscErrorCode rg_session_progress(RgSession *session, bool last);

/* Run trials until all are done or a stop is requested. */
PetscErrorCode rg_session_trials(RgSession *session);

#endif
