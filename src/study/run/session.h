/* What a run holds, and its parts in the order in which rg_run calls them. Private to study/run. */
#ifndef RG_STUDY_RUN_SESSION_H
#define RG_STUDY_RUN_SESSION_H

#include "gp/team/team.h"
#include "regatta/run.h"
#include "study/run/fingerprint.h"
#include "study/run/origin.h"
#include "study/run/schedule.h"
#include "study/run/stop_relay.h"
#include "study/store/store.h"
#include "study/trial/instances.h"

/* All on one rank. */
typedef struct {
  MPI_Comm comm;               /* a duplicate; owned */
  int rank, ranks, ranks_here; /* here: on this host */
  const RgPlan *plan;          /* borrowed */
  const RgRunOptions *options; /* borrowed */
  const RgObserver *observer;  /* borrowed; NULL: nobody */
  double begun, next_progress; /* rg_wall_seconds: of the first trial, of the next report */
  char directory[4200];        /* of finished trials */
  PetscBT share;               /* by trial: whether this run's part has it; NULL: all; owned */
  unsigned char *done;         /* RgStatus per trial, known before the run */
  RgStoreScan scan;
  int *cell_failed; /* failed trials by cell, of this rank */
  PetscBT exceeded; /* by cell, the first of its problem: the user knows of a trial that does better
                       than the optimum; owned */
  PetscBT again;    /* by trial: runs again, and has a complete record of an earlier run; owned */
  int n_kept;       /* of these, those that failed now, of this rank: that record stays */
  RgOriginCounts origins; /* of those that are not run again */
  RgInstances *instances; /* of problems, for all trials of this rank */
  RgStore *store;
  bool told;            /* the user knows that the disk says no */
  const RgTrial *trial; /* at hand, NULL: none; borrowed */
  double looked;        /* when rg_run looked around last, rg_wall_seconds */
  double longest;       /* seconds between two looks, in the trial at hand */
  double *pause; /* per cell: the same in the last trial of it, negative: there was none; owned */
  RgSchedule *schedule;
  RgTeams teams;
  RgTeam *team[RG_TEAM_LEVELS]; /* of this rank, by level */
  RgStopRelay *relay;
  RgStopReason stop;     /* NONE: go on */
  PetscErrorCode broken; /* of rg_session_should_stop, which can't return it */
  RgFingerprint fingerprint;
  char host[RG_NAME_MAX];
  char machine[256];    /* BLAS core, threads, CPU, tuning: for the provenance of records */
  RgRunOutcome outcome; /* COMPLETE, until something is in the way */
  char message[512];    /* what that is */
} RgSession;

/* Tell the observer; rank: which it is about, -1: all. */
void rg_session_tell(const RgSession *session, int rank, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
/* Tell the observer of progress if it is time, or for the last time. */
PetscErrorCode rg_session_progress(RgSession *session, bool last);
/* Outcome and message of a store that said no: a foreign file is the user's to mend, the rest the
   disk's. */
void rg_session_note(RgSession *session, const RgFault *fault);
/* A barrier that leaves the core to others. look: show progress and hear of a stop meanwhile.
   Collective. */
PetscErrorCode rg_session_wait(RgSession *session, bool look);
/* Worst outcome of all ranks, with the message of the first rank that has it. Collective. *speaker:
   that rank. */
PetscErrorCode rg_session_agree(RgSession *session, int *speaker);

/* Whether a trial is of this run's part. */
static inline bool rg_session_has(const RgSession *session, int trial)
{
  return !session->share || PetscBTLookup(session->share, trial);
}

/* Open the store, learn what is finished already, and prepare the schedule of the rest. Collective.
   What is in the way was told to the observer; session->outcome is the same on all ranks. */
PetscErrorCode rg_session_start(RgSession *session);
/* Whether the label of -recompute is one of the study. */
void rg_session_check_label(const RgSession *session, RgFault *fault);
/* Who made the finished trials: those of others are told, or run again where so asked for. Rank 0.
 */
PetscErrorCode rg_session_look_at_origins(RgSession *session, RgFault *fault);
/* Finished trials whose optimum is another one in the study file now: their regrets are counted
   anew, from the values that were observed. Rank 0. */
PetscErrorCode rg_session_rescore(RgSession *session);
/* Sizes of the teams, and whether they and their memory are to be had: else outcome and message of
   the session. Collective. */
PetscErrorCode rg_session_plan_teams(RgSession *session);
/* Consecutive ranks make a team, so that the teams of a level split into those of the next.
   Collective. */
PetscErrorCode rg_session_form_teams(RgSession *session);
/* The trials, until none is left or a stop is asked for. */
PetscErrorCode rg_session_trials(RgSession *session);
/* Wait for the other ranks, write the results file, fill in the report. Collective. */
PetscErrorCode rg_session_finish(RgSession *session, RgRunReport *report);
/* Collective. */
PetscErrorCode rg_session_destroy(RgSession *session);

#endif
