/* The parts of EI that its two names share: ei and log_ei. */
#ifndef RG_ALGORITHM_EI_H
#define RG_ALGORITHM_EI_H

#include "algorithm/surrogate.h"

typedef struct {
  int incumbent;
} RgEiOptions;

extern const RgParam rg_ei_params[];
extern const RgRecordColumn rg_ei_columns[];

/* `ask` of methods that maximise the logarithm of the expected improvement. */
PetscErrorCode rg_ei_ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                         RgFailure *failure);

#endif
