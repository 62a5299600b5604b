/* The messages of extra/external/optimiser.c. */
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

/* Append a request as one line of JSON without the line end. answer: the numbers that are recorded.
   history: NULL before a trial. */
PetscErrorCode rg_external_start(const RgSetup *setup, const RgExternalAnswer *answer,
                                 uint64_t seed, const RgHistory *history, int64_t id, RgText *line);
/* `ask` query t, with the points in flight and the announced context, if `query` has one; or `tell`
   the newest evaluation of the history. */
PetscErrorCode rg_external_ask(const RgSetup *setup, int t, const RgHistory *history,
                               const RgQuery *query, int64_t id, RgText *line);
PetscErrorCode rg_external_tell(const RgSetup *setup, const RgHistory *history, int64_t id,
                                RgText *line);

/* Read an answer. The answer to `start`: append the reported versions to `versions` (`; reported
   NAME VERSION, ...`); it is a mistake not to take the announced contexts that the domain has. The
   answer to `ask` or `tell`: read its numbers (rg_external_width). A mistake in the answer is
   appended to `mistake`. */
PetscErrorCode rg_external_greeting(const RgSetup *setup, const json_t *object, RgText *versions,
                                    RgText *mistake);
PetscErrorCode rg_external_read(const RgExternalAnswer *answer, bool asked, const json_t *object,
                                double *numbers, RgText *mistake);
/* Check that a new query repeats none of the history, and none in flight, where each point may be
   queried once. */
PetscErrorCode rg_external_check_once(const RgDomain *domain, const RgHistory *history,
                                      const double *numbers, RgText *mistake);
/* Seconds that the answer reports for fitting a model; 0 if it reports none. */
PetscErrorCode rg_external_fit(const json_t *object, double *wall, double *cpu, RgText *mistake);

#endif
