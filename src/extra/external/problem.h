/* The messages of extra/external/problem.c. */
#ifndef RG_EXTRA_EXTERNAL_PROBLEM_H
#define RG_EXTRA_EXTERNAL_PROBLEM_H

#include "extra/external/protocol.h"
#include "regatta/problem.h"

/* Append request `id` for a point as one line of JSON without the line end. problem: its domain and
   its task. */
PetscErrorCode rg_request_write(const RgProblem *problem, int64_t id, const RgPoint *point,
                                RgText *line);

/* The numbers of an answer. The pointers are borrowed. */
typedef struct {
  double *value, *constraints; /* one value; domain.n_constraints values */
  double *duration;            /* NaN: the answer does not say it */
  int n_record;                /* further numbers with these names */
  char *const *record;
  double *numbers; /* n_record; NaN where one is missing; NULL: they are not wanted */
} RgAnswer;

/* Read the numbers of an answer. A mistake is appended to `mistake`. */
PetscErrorCode rg_answer_read(const json_t *object, const RgDomain *domain, const RgAnswer *answer,
                              RgText *mistake);

#endif
