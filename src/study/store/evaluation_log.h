/* What costly evaluations of a trial have answered so far: a resumed trial asks for nothing again.

   A log stands in the study directory as `evaluations/<trial id>.<n>.log`; every run that works on
   the trial writes one of its own (the first n that is free) and reads all of them, so that no file
   is ever written to by two processes. A line per evaluation: its number, the seconds it took, its
   value, the design and the context (native units, hexadecimal floating point), the outcome
   constraints, and XXH3-128 over author, trial id and line. One that failed, where the study goes
   on then, has the value NaN. A line that is damaged, such as the last one of a process that was
   killed, is not read. */
#ifndef RG_STUDY_STORE_EVALUATION_LOG_H
#define RG_STUDY_STORE_EVALUATION_LOG_H

#include "base/fault.h"

#define RG_FOLDER_EVALUATIONS "evaluations"
#define RG_FOLDER_ANSWERS "answers" /* the same of what programs that are optimisers answer */

typedef struct RgEvaluationLog RgEvaluationLog;

/* Read what is known of trial `id`. directory: the study directory, which need not exist; NULL: an
   empty log in memory. folder: one of the above, in it. author: what answers, and with another one
   nothing is known; borrowed for the life of the log, NULL: it doesn't matter. dim_c: 0 without
   context. n_more: outcome constraints, 0 without. */
PetscErrorCode rg_evaluation_log_open(const char *directory, const char *folder, const char *id,
                                      const char *author, int dim_x, int dim_c, int n_more,
                                      RgEvaluationLog **log);
PetscErrorCode rg_evaluation_log_close(RgEvaluationLog **log);

/* The value of evaluation number `evaluation` at exactly x (and c), and n_more constraints; false:
   not known. */
bool rg_evaluation_log_find(const RgEvaluationLog *log, int evaluation, const double *x,
                            const double *c, double *value, double *more, double *seconds);
/* The design of evaluation number `evaluation`, whatever it was; NULL: not known. Borrowed until
   something is added. */
const double *rg_evaluation_log_design(const RgEvaluationLog *log, int evaluation);
/* Any evaluation known, at whatever point. */
int rg_evaluation_log_size(const RgEvaluationLog *log);

/* Remember an evaluation. It is on the disk when this returns without a fault; the next try takes a
   new file. */
PetscErrorCode rg_evaluation_log_add(RgEvaluationLog *log, int evaluation, const double *x,
                                     const double *c, double value, const double *more,
                                     double seconds, RgFault *fault);

/* Remove what is known of finished trials: `is_finished` is asked for the id of every log. The
   folder goes when it is empty. Failing is no harm. */
PetscErrorCode rg_evaluation_logs_remove(const char *directory,
                                         bool (*is_finished)(void *closure, const char *id),
                                         void *closure);

#endif
