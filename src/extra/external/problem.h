/* Parts of extra/external/problem.c: the messages. */
#ifndef RG_EXTRA_EXTERNAL_PROBLEM_H
#define RG_EXTRA_EXTERNAL_PROBLEM_H

#include "base/child.h"
#include "regatta/domain.h"
#include "regatta/params.h"
#include "regatta/stream.h"

/* A request. x, c: native coordinates; contexts of dim 0: none; trial NULL outside a trial. */
typedef struct {
  int64_t id;
  const char *trial;
  uint64_t instance, seed;
  int evaluation;
  const RgSpace *inputs, *contexts;
  const double *x, *c;
} RgRequest;

/* Append the request as one line of JSON, without its end. */
PetscErrorCode rg_request_write(const RgRequest *request, RgText *line);

/* Read the answer to request `id`: *value and the constraints of the domain (n_constraints), or
   what is wrong with it, or the error it reports, appended to `mistake`. */
PetscErrorCode rg_answer_read(const char *line, size_t length, int64_t id, const RgDomain *domain,
                              double *value, double *constraints, RgText *mistake);

#endif
