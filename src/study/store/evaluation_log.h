/* The costly evaluations of a trial so far, so that a resumed trial repeats none: a sealed log
   (sealed_log.h). Each line has one evaluation: its number, the seconds it took, its value, the
   design and the context (native units, hexadecimal floating point), and the outcome constraints.
   The value of a failed evaluation is NaN, if the study continues then, and ` #REASON` follows the
   numbers, behind a carriage return perhaps with its full text as JSON. */
#ifndef RG_STUDY_STORE_EVALUATION_LOG_H
#define RG_STUDY_STORE_EVALUATION_LOG_H

#include "base/fault.h"
#include "regatta/study.h"

#define RG_FOLDER_EVALUATIONS "evaluations"
#define RG_FOLDER_LOG "log" /* standard error of programs, full texts of failures; never read */
#define RG_FOLDER_ANSWERS "answers"   /* logged answers of external optimisers */
#define RG_FOLDER_TIMELINE "timeline" /* events of trials on the real clock (timeline.h) */

/* ---- logs of sealed lines -------------------------------------------------------------------- */

typedef struct {
  char *directory, *folder; /* study directory and folder of the logs; NULL in memory; owned */
  char id[RG_ID_LENGTH + 1];
  const char *author; /* borrowed, never NULL */
  int fd;             /* this process's file, -1: not created yet */
  char path[PETSC_MAX_PATH_LEN];
} RgSealedLog;

/* Called for each sealed line, without its seal. first: whether it is the first line of a file. */
typedef PetscErrorCode (*RgSealedLine)(void *closure, bool first, char *line);

/* Open a log, and read the lines of all its files. directory: the study directory, which need not
   exist; NULL: a log in memory, which is never written. author: see the evaluation log. */
PetscErrorCode rg_sealed_open(const char *directory, const char *folder, const char *id,
                              const char *author, RgSealedLine read, void *closure,
                              RgSealedLog *log);
/* Whether a process that runs now, on any host that shares the file system, has written to a log;
   true where the file system does not say. */
PetscErrorCode rg_sealed_is_open(const char *directory, const char *folder, const char *id,
                                 bool *open);
/* The ids of the trials that have logs in a folder of the study directory, which need not exist.
   The caller frees them with rg_names_free (base/files.h). */
PetscErrorCode rg_sealed_list(const char *directory, const char *folder, int *n, char ***ids);
PetscErrorCode rg_sealed_close(RgSealedLog *log);

/* Append a line to a text, and its seal and end. */
PetscErrorCode rg_sealed_line(const RgSealedLog *log, const char *line, RgText *text);
/* Append sealed lines to this process's file, durably. After a fault the next attempt uses a new
   file: complete lines of the old one are valid, and the damaged last line is ignored. */
PetscErrorCode rg_sealed_write(RgSealedLog *log, const RgText *lines, RgFault *fault);

/* ---- the evaluations of a trial -------------------------------------------------------------- */

/* Places in the numbers of an evaluation; the point is x, then c. */
enum { RG_LOG_SECONDS, RG_LOG_VALUE, RG_LOG_POINT };

typedef struct {
  int evaluation;
  double *numbers; /* seconds, value, point, outcome constraints; owned by the log */
  double *more;    /* the constraints among them */
  char *reason;    /* why it failed; NULL: it did not; owned by the log */
} RgLoggedEvaluation;

typedef struct RgEvaluationLog {
  RgSealedLog file;
  int dim_x, dim_c, n_more;
  int n;
  RgLoggedEvaluation *entries; /* owned */
  const char *reason; /* of the evaluation that is added next; borrowed until then; NULL: none */
} RgEvaluationLog;

/* Open the log of trial `id` and read its entries. directory: the study directory, which need
   not exist; NULL: an empty log in memory. folder: one of the above, inside it. author:
   identifies who answered; entries of another author are ignored; borrowed for the life of the
   log, NULL: any author. dim_c: 0 without context. n_more: number of outcome constraints. */
PetscErrorCode rg_evaluation_log_open(const char *directory, const char *folder, const char *id,
                                      const char *author, int dim_x, int dim_c, int n_more,
                                      RgEvaluationLog **log);
PetscErrorCode rg_evaluation_log_close(RgEvaluationLog **log);

/* The first entry of evaluation number `evaluation` at exactly x (and c), or, with x NULL, at any
   point; NULL if it is unknown. Borrowed until the next entry is added. */
const RgLoggedEvaluation *rg_evaluation_log_find(const RgEvaluationLog *log, int evaluation,
                                                 const double *x, const double *c);

/* Append an evaluation durably. After a fault the next attempt uses a new file. */
PetscErrorCode rg_evaluation_log_add(RgEvaluationLog *log, int evaluation, const double *x,
                                     const double *c, double value, const double *more,
                                     double seconds, RgFault *fault);

/* Remove the logs of finished trials: `is_finished` is called with the id of every log. An empty
   folder is removed too. Failures are harmless. */
PetscErrorCode rg_evaluation_logs_remove(const char *directory,
                                         bool (*is_finished)(void *closure, const char *id),
                                         void *closure);

#endif
