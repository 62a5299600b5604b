/* The programs of a trial on the real clock, one for each worker, which answer at the same time. */
#ifndef RG_STUDY_TRIAL_PROGRAMS_H
#define RG_STUDY_TRIAL_PROGRAMS_H

#include "regatta/problem.h"

/* An answer. The texts are borrowed until the next call. */
typedef struct {
  int worker;         /* 0: no program has answered */
  const char *answer; /* a line of `length` bytes; NULL: the program will not answer */
  size_t length;
  const char *mistake; /* why the program will not answer */
  const char *errors;  /* standard error since the question, `n_errors` bytes or NULL */
  size_t n_errors;
  bool unreachable; /* the program can't be started */
  double cpu;       /* CPU seconds of the program since its last answer */
} RgHeard;

typedef struct {
  void *closure;
  /* Send a question to the program of a worker, started if needed. Failures arrive as answers. */
  PetscErrorCode (*ask)(void *closure, int worker, const RgExchange *question);
  /* Wait at most `seconds` for an answer. */
  PetscErrorCode (*hear)(void *closure, double seconds, RgHeard *heard);
  /* End the program of a worker. A question without an answer is forgotten. */
  PetscErrorCode (*drop)(void *closure, int worker);
} RgPrograms;

#endif
