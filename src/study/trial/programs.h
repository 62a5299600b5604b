/* The programs of a trial on the real clock, one for each worker, which answer at the same time. */
#ifndef RG_STUDY_TRIAL_PROGRAMS_H
#define RG_STUDY_TRIAL_PROGRAMS_H

#include "regatta/problem.h"

/* An answer. The texts are borrowed until the next call. */
typedef struct {
  int worker;         /* 0: no program has answered */
  const char *answer; /* a line of `length` bytes; NULL: the program will not answer */
  size_t length;
  const char *mistake; /* why not */
  const char *errors;  /* what it wrote on standard error meanwhile, NULL or `n_errors` bytes */
  size_t n_errors;
  bool unreachable; /* the program can't be started */
  double cpu;       /* seconds that it has used since its last answer */
} RgHeard;

typedef struct {
  void *closure;
  /* Send the question of a worker to its program, which is started if it does not run. What goes
     wrong is heard as an answer. */
  PetscErrorCode (*ask)(void *closure, int worker, const RgExchange *question);
  /* Wait at most `seconds` for an answer. */
  PetscErrorCode (*hear)(void *closure, double seconds, RgHeard *heard);
  /* End the program of a worker. A question without an answer is forgotten. */
  PetscErrorCode (*drop)(void *closure, int worker);
} RgPrograms;

#endif
