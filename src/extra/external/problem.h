/* The messages of extra/external/problem.c. */
#ifndef RG_EXTRA_EXTERNAL_PROBLEM_H
#define RG_EXTRA_EXTERNAL_PROBLEM_H

#include "base/child.h"
#include "regatta/domain.h"
#include "regatta/params.h"
#include "regatta/stream.h"

/* A request. x, c: native coordinates. Without contexts their dim is 0; outside a trial `trial`
   is NULL. */
typedef struct {
  int64_t id;
  const char *trial;
  uint64_t instance, seed;
  int evaluation;
  int worker, attempt; /* on the real clock; else 0 */
  const RgSpace *inputs, *contexts;
  const double *x, *c;
} RgRequest;

/* Append the request as one line of JSON without the line end. */
PetscErrorCode rg_request_write(const RgRequest *request, RgText *line);

/* The numbers of an answer. The pointers are borrowed. */
typedef struct {
  double *value, *constraints; /* one value; domain.n_constraints values */
  double *duration;            /* NaN: the answer does not say it */
  int n_record;                /* further numbers with these names */
  char *const *record;
  double *numbers; /* n_record; NaN where one is missing; NULL: they are not wanted */
} RgAnswer;

/* Read the answer to request `id`. A mistake in the answer, or the error that it reports, is
   appended to `mistake`. *final: a repetition would end in the same way (rg_protocol_read). */
PetscErrorCode rg_answer_read(const char *line, size_t length, int64_t id, const RgDomain *domain,
                              const RgAnswer *answer, bool *final, RgText *mistake);

#endif
