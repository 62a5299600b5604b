/* Criteria that are sums: marginal acquisition functions of several models, and functions of the
   design, such as log EI + sum_k log Pr(c_k <= 0). */
#ifndef RG_ACQUISITION_SUM_H
#define RG_ACQUISITION_SUM_H

#include "gp/model/model.h"
#include "regatta/acquire.h"

/* All pointers are borrowed. */
typedef struct {
  RgModel *model;            /* over the design and up to date; NULL: `function` is the summand */
  RgAcquisition acquisition; /* function of the model's posterior */
  bool mean_only;            /* `acquisition` does not read deviations, which are not computed */
  RgBatchFunction function;
  void *closure;
} RgSummand;

/* rg_acquire_with for the sum of n summands. O(sum of the costs of the summands). */
PetscErrorCode rg_acquire_sum(const RgDomain *domain, int n, const RgSummand *summands,
                              const RgSearch *search, RgQuery *query, double *value,
                              RgFailure *failure);
/* The sum at a query; 0 for n = 0. */
PetscErrorCode rg_acquisition_sum_at(const RgDomain *domain, int n, const RgSummand *summands,
                                     const RgQuery *query, double *value);

#endif
