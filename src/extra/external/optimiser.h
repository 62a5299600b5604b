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

#endif
