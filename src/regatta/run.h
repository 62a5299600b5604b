/* Running a study from a program of one's own: rg_run() over any communicator, watched by an
   observer (experiments/examples/embed). `regatta run` is this and nothing else. */
#ifndef RG_REGATTA_RUN_H
#define RG_REGATTA_RUN_H

#include "regatta/study.h"

/* Zeroed: the defaults, but `output`. */
typedef struct {
  const char *output; /* results file; until it is complete the finished trials stand in the folder
                         OUTPUT.d beside it, from which a later run goes on */
  double walltime;    /* stop cleanly after so many seconds; 0: no limit */
  bool retry_failed;  /* run trials again that are recorded as failed */
  const char *recompute; /* run trials again that another build, plug-in or numeric fingerprint
                            made: "" all, else those of a label; NULL: none */
  int crossover;         /* data from which a team of ranks shares a matrix; 0: as measured */
  int part,
    parts; /* run the part'th of so many shares of the trials, from 1; 0, 0: all of them. The
                      shares are the same for every run of a study file, and cost about the same */
} RgRunOptions;

typedef struct {
  int n_total, n_finished, n_failed; /* trials of this run, all ranks */
  double cost_total, cost_finished;  /* of them, in estimated CPU seconds */
  double seconds;                    /* since the first could begin */
} RgProgress;

/* Why a run ended before its last trial. */
typedef enum {
  RG_STOP_NONE,
  RG_STOP_SIGNAL,   /* rg_stop_on_signals */
  RG_STOP_FILE,     /* a file STOP in the folder of the finished trials */
  RG_STOP_WALLTIME, /* RgRunOptions.walltime */
  RG_STOP_OBSERVER  /* RgObserver.stop */
} RgStopReason;

typedef enum {
  RG_RUN_COMPLETE, /* every trial is in the results file */
  RG_RUN_PART,     /* every trial of RgRunOptions.part is finished; those of other parts are not */
  RG_RUN_STOPPED,  /* cleanly; the same call goes on where it stopped */
  RG_RUN_REFUSED,  /* not begun: what was asked for can't be; the output is another study's, ... */
  RG_RUN_STORAGE   /* the disk said no for too long; what is finished is safe where it could be */
} RgRunOutcome;

/* What a run came to; the same on all ranks. */
typedef struct {
  RgRunOutcome outcome;
  RgStopReason stop;
  int n_trials;         /* of the plan */
  int n_earlier;        /* of these, finished by earlier runs and not run again; at the end of
                                  a part with those that the others finished meanwhile */
  int n_earlier_failed; /* of these, recorded as failed */
  int n_others;         /* of these, made by another build or plug-in, or under another
                                  numeric fingerprint */
  int n_finished;       /* by this run */
  int n_failed;         /* of these, recorded as failed; the results file says why */
  int n_kept;           /* of these, failed when run again: their earlier record stays */
  int n_cells, n_cells_failed; /* of the plan; of these, with no trial but failed ones */
  int first_cell_failed;       /* number of the first of them in the study, from 0; -1: none */
  double seconds;
  char message[512]; /* why it was refused or what the disk said, one line; else "" */
} RgRunReport;

/* Who watches a run. Every function may be NULL. They are called between iterations, by the thread
   that called rg_run, and must not communicate on its communicator. */
typedef struct {
  void *closure; /* passed to all of them; borrowed */
  double period; /* seconds between two calls of `progress` */
  /* On rank 0, when it is known what earlier runs finished and before the first trial: n_trials,
     n_earlier and n_earlier_failed of the report are set. */
  void (*begin)(void *closure, const RgRunReport *report);
  /* On rank 0, now and then; `last`: once more at the end. */
  void (*progress)(void *closure, const RgProgress *progress, bool last);
  /* Something the user should read, one line without its end. rank: which it is about, -1: all. */
  void (*message)(void *closure, int rank, const char *text);
  /* On any rank, often: true stops the run on all ranks at the end of the iteration. */
  bool (*stop)(void *closure);
} RgObserver;

/* Run what is not finished of a plan, commit every finished trial crash-safely, and when all are
   there write the results file. Bits do not depend on the size of `comm`, nor on how often a run
   was stopped. Collective on `comm`; the plan (and its study) must be the same on all ranks and
   outlive the call. PETSc must be initialised; threads of BLAS, the floating-point unit and GSL's
   error handler are set to what results are computed with, and set back at the end. observer: NULL:
   nobody. PETSc errors are for what should not happen; everything else is in `report`. */
RG_API PetscErrorCode rg_run(MPI_Comm comm, const RgPlan *plan, const RgRunOptions *options,
                             const RgObserver *observer, RgRunReport *report);

/* From now on USR1, USR2, TERM and INT ask every run of this process for a clean stop. rg_run does
   not touch signals by itself. Not collective. */
RG_API PetscErrorCode rg_stop_on_signals(void);

/* Two or three words on it, for messages: `the wall-time limit`. */
RG_API const char *rg_stop_describe(RgStopReason reason);

#endif
