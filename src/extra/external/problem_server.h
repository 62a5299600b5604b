/* A problem that answers requests in lines of JSON (docs/protocol.md): `regatta serve`. */
#ifndef RG_EXTRA_EXTERNAL_PROBLEM_SERVER_H
#define RG_EXTRA_EXTERNAL_PROBLEM_SERVER_H

#include "base/text.h"
#include "regatta/problem.h"

typedef struct {
  RgProblem *problem; /* borrowed */
  uint64_t seed;      /* study seed: the noise and the contexts are those of its trials */
  bool searched;      /* the optimum, with its accuracy and an optimiser, is known */
  double optimum;
  double *optimiser; /* owned */
} RgProblemServer;

/* The answer to a request, one line of JSON without its end: {"id":..,"error":".."} when something
   is wrong with it, and the next one is welcome all the same. */
PetscErrorCode rg_problem_server_answer(RgProblemServer *server, const char *line, size_t length,
                                        RgText *answer);
PetscErrorCode rg_problem_server_clear(RgProblemServer *server);

#endif
