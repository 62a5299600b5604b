/* The parts that BOKE and BOKE+ share. BOKE is BOKE+ with p = 1. */
#ifndef RG_ALGORITHM_BOKE_H
#define RG_ALGORITHM_BOKE_H

#include "algorithm/smoother.h"

typedef struct {
  RgSmootherOptions smoother;
  RgWidthOptions width;
  double p; /* for BOKE+ only */
} RgBokeOptions;

extern const RgRecordColumn rg_boke_columns[];

/* The check of both methods. */
PetscErrorCode rg_boke_check(const void *options, const RgDomain *domain, RgPlace place,
                             RgDiagnostics *diagnostics);

/* Query t: the upper confidence bound with probability p, else exploitation. */
PetscErrorCode rg_boke_ask(RgAlgorithm *algorithm, double p, int t, const RgHistory *history,
                           RgQuery *query, RgFailure *failure);

#define RG_BOKE_METHODS                                                                            \
  .needs = RG_NEEDS_NO_CONTEXT | RG_NEEDS_INITIAL, .reads = RG_READS_MAXIMISER, .params = params,  \
  .options_size = sizeof(RgBokeOptions), .columns = rg_boke_columns,                               \
  .state_size = sizeof(RgSmoother), .check = rg_boke_check, .create = rg_smoother_create,          \
  .ask = ask, .destroy = rg_smoother_destroy

#endif
