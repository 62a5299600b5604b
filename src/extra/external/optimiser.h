/* The messages of extra/external/optimiser.c. Exchange 2t - 1 is ask t, exchange 2t is tell t. */
#ifndef RG_EXTRA_EXTERNAL_OPTIMISER_H
#define RG_EXTRA_EXTERNAL_OPTIMISER_H

#include "extra/external/protocol.h"
#include "regatta/algorithm.h"

/* What an answer is made of, all native units, NaN where it has none: the design (of a tell: the
   recommended one), the context if the learner chooses it, and the named numbers. */
typedef struct {
  const RgDomain *domain;
  int n_record;
  char *const *record; /* their names; borrowed */
} RgExternalAnswer;

/* Numbers of an answer: design, context, what is recorded. */
int rg_external_width(const RgExternalAnswer *answer);

/* Append a request as one line of JSON, without its end. history: NULL before a trial. */
PetscErrorCode rg_external_start(const RgSetup *setup, uint64_t seed, const RgHistory *history,
                                 int64_t id, RgText *line);
PetscErrorCode rg_external_request(const RgDomain *domain, int exchange, const RgHistory *history,
                                   int64_t id, RgText *line);

/* What an answer says, or what is wrong with it appended to `mistake`: to `start`, with the
   versions reported (`; reported NAME VERSION, ...`) appended to `versions`; of an exchange, its
   numbers (rg_external_width). */
PetscErrorCode rg_external_greeting(const json_t *object, RgText *versions, RgText *mistake);
PetscErrorCode rg_external_read(const RgExternalAnswer *answer, int exchange,
                                const RgHistory *history, const json_t *object, double *numbers,
                                RgText *mistake);
/* Seconds of the answer that it says went into fitting a model; 0 where it doesn't. */
PetscErrorCode rg_external_fit(const json_t *object, double *wall, double *cpu, RgText *mistake);

#endif
