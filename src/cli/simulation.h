/* regatta plan -simulate: jobs before they run. */
#ifndef RG_CLI_SIMULATION_H
#define RG_CLI_SIMULATION_H

#include "study/plan/plan.h"

/* Print what jobs of the numbers of ranks in `text`, separated by ',', with `per_host` of them on a
   host, would do with the plan, by its costs and n words KEY=VALUE for rg_job_rates. A mistake is
   said, and *exit_code set. */
PetscErrorCode rg_simulation_show(const RgPlan *plan, const char *text, int per_host, int n,
                                  const char *const *words, int *exit_code);

#endif
