/* What BOKE and BOKE+ share: BOKE is BOKE+ with p = 1. */
#ifndef RG_ALGORITHM_BOKE_H
#define RG_ALGORITHM_BOKE_H

#include "algorithm/smoother.h"

typedef struct {
  RgSmootherOptions smoother;
  RgWidthOptions width;
  double p; /* BOKE+ only */
} RgBokeOptions;

extern const RgRecordColumn rg_boke_columns[];

/* Query t: the upper confidence bound with probability p, else exploitation. */
PetscErrorCode rg_boke_ask(RgAlgorithm *algorithm, double p, int t, const RgHistory *history,
                           RgQuery *query, RgFailure *failure);

#endif
