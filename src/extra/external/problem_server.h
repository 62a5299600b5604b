/* A problem that answers requests in lines of JSON (docs/protocol.md): `regatta serve`. */
#ifndef RG_EXTRA_EXTERNAL_PROBLEM_SERVER_H
#define RG_EXTRA_EXTERNAL_PROBLEM_SERVER_H

#include "base/text.h"
#include "regatta/problem.h"

typedef struct {
  RgProblem *problem; /* borrowed */
  uint64_t seed;      /* study seed, which determines noise and contexts */
  bool searched;      /* the optimum, its accuracy and an optimiser have been computed */
  double optimum;
  double *optimiser; /* owned */
} RgProblemServer;

/* Answer a request with one line of JSON without the line end. For a mistake in the request this
   is {"id":..,"error":".."}, and the server goes on. */
PetscErrorCode rg_problem_server_answer(RgProblemServer *server, const char *line, size_t length,
                                        RgText *answer);
PetscErrorCode rg_problem_server_clear(RgProblemServer *server);

#endif
