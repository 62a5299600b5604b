/* Running a study from any program: rg_run() over any communicator, watched by an observer
   (experiments/examples/embed). `regatta run` uses only this interface. */
#ifndef RG_REGATTA_RUN_H
#define RG_REGATTA_RUN_H

#include "regatta/study.h"

/* Zeroed options are the defaults; only `output` is required. */
typedef struct {
  /* Results file. Until it is complete, the folder OUTPUT.d beside it holds the finished trials. */
  const char *output;
  double walltime; /* stop cleanly after this many seconds; 0: no limit */
  /* Seconds from a stop until RgObserver.leave is called on a rank that does not end; 0: 90. */
  double grace;
  bool retry_failed; /* repeat trials that are recorded as failed */
  /* Label whose trials of another build or fingerprint are repeated; "": every label; NULL: none */
  const char *recompute;
  /* Number of data from which the ranks of a team share a matrix; 0: as measured. */
  int crossover;
  int part,
    /* Run share `part` (from 1) of `parts` shares of the trials; 0, 0: all trials. The shares are
       the same for every run of a study file, and have about equal costs. */
    parts;
} RgRunOptions;

typedef struct {
  int n_total, n_finished, n_failed; /* trials of this run, all ranks */
  double seconds;                    /* since the first trial could begin */
  double seconds_left; /* until the last ends, by the clock of the finished ones; NaN: unknown */
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
  /* Every trial of RgRunOptions.part is finished, but some of other parts are not. */
  RG_RUN_PART,
  RG_RUN_STOPPED, /* stopped cleanly; the same call continues */
  RG_RUN_REFUSED, /* did not begin: impossible options, an output of another study, ... */
  RG_RUN_STORAGE  /* the disk refused for too long; finished trials are saved where possible */
} RgRunOutcome;

/* The result of a run; the same on all ranks. */
typedef struct {
  RgRunOutcome outcome;
  RgStopReason stop;
  int n_trials; /* trials of the plan */
  /* Trials that earlier runs, or meanwhile other parts, finished and this run kept. */
  int n_earlier;
  int n_earlier_failed;        /* kept trials that are recorded as failed */
  int n_others;                /* kept trials of another build, plug-in, or numeric fingerprint */
  int n_finished;              /* trials that this run finished */
  int n_failed;                /* finished trials that failed; the results file says why */
  int n_kept;                  /* trials that failed again and keep their earlier record */
  int n_cells, n_cells_failed; /* cells of the plan; cells whose trials all failed */
  /* Number in the study of the first such cell, from 0; -1: no such cell. */
  int first_cell_failed;
  double seconds;
  char message[512]; /* one line: why the run was refused or what the disk reported; else "" */
} RgRunReport;

/* The observer of a run. Every function may be NULL. The thread that called rg_run calls them
   between iterations, but for `leave`; they must not communicate on its communicator. */
typedef struct {
  void *closure; /* passed to all functions; borrowed */
  double period; /* seconds between two calls of `progress` */
  /* Called on rank 0 before the first trial. The report's n_trials, n_earlier and
     n_earlier_failed are set. */
  void (*begin)(void *closure, const RgRunReport *report);
  /* Called on rank 0 now and then, and once more at the end with `last`. */
  void (*progress)(void *closure, const RgProgress *progress, bool last);
  /* A message for the user, one line without its end. rank: the rank concerned, -1: all. */
  void (*message)(void *closure, int rank, const char *text);
  /* Called often, on any rank: true stops the run on all ranks at the end of the iteration. */
  bool (*stop)(void *closure);
  /* Called from another thread, on a rank that has not ended RgRunOptions.grace seconds after a
     stop (a long iteration, or MPI waits for a host that has gone silent), or after a second TERM
     or INT. It should end the process (`_exit`), which may be inside any library, and else is
     called again. The finished trials are committed, unless `text` says otherwise. */
  void (*leave)(void *closure, int rank, const char *text);
} RgObserver;

/* Run the unfinished trials of a plan, commit every finished trial crash-safely, and write the
   results file when all are there. The bits depend neither on the size of `comm` nor on how
   often a run was stopped. Collective on `comm`; the plan (and its study) must be the same on
   all ranks and outlive the call. PETSc must be initialised. The run sets BLAS threads,
   floating-point modes and GSL's error handler as results require, and restores them at the end.
   observer: may be NULL. PETSc errors mean bugs or lack of memory; everything else is in
   `report`. */
RG_API PetscErrorCode rg_run(MPI_Comm comm, const RgPlan *plan, const RgRunOptions *options,
                             const RgObserver *observer, RgRunReport *report);

/* From now on the signals USR1, USR2, TERM, INT, XCPU and HUP (unless it was ignored) stop every
   run of this process cleanly. A second TERM or INT after two seconds ends the process. rg_run
   itself does not touch signals. Not collective. */
RG_API PetscErrorCode rg_stop_on_signals(void);

/* A description of two or three words, for messages: `the wall-time limit`. */
RG_API const char *rg_stop_describe(RgStopReason reason);

#endif
