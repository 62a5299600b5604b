/* The messages of extra/external/optimiser.c. Exchange 2t - 1 is ask t, exchange 2t is tell t. */
#ifndef RG_EXTRA_EXTERNAL_OPTIMISER_H
#define RG_EXTRA_EXTERNAL_OPTIMISER_H

#include "extra/external/protocol.h"
#include "regatta/algorithm.h"

/* The parts of an answer, in native units, NaN where missing: the design (to `tell`: the
   recommended design), the context if the learner chooses it, and the named numbers. */
typedef struct {
  const RgDomain *domain;
  int n_record;
  char *const *record; /* names of the numbers; borrowed */
} RgExternalAnswer;

/* Number of values in an answer: design, context, named numbers. */
int rg_external_width(const RgExternalAnswer *answer);

/* Append a request as one line of JSON without the line end. history: NULL before a trial. */
PetscErrorCode rg_external_start(const RgSetup *setup, uint64_t seed, const RgHistory *history,
                                 int64_t id, RgText *line);
PetscErrorCode rg_external_request(const RgDomain *domain, int exchange, const RgHistory *history,
                                   int64_t id, RgText *line);

/* Read an answer. The answer to `start`: append the reported versions to `versions` (`; reported
   NAME VERSION, ...`). The answer of an exchange: read its numbers (rg_external_width). A
   mistake in the answer is appended to `mistake`. */
PetscErrorCode rg_external_greeting(const json_t *object, RgText *versions, RgText *mistake);
PetscErrorCode rg_external_read(const RgExternalAnswer *answer, int exchange,
                                const RgHistory *history, const json_t *object, double *numbers,
                                RgText *mistake);
/* Seconds that the answer reports for fitting a model; 0 if it reports none. */
PetscErrorCode rg_external_fit(const json_t *object, double *wall, double *cpu, RgText *mistake);

#endif
