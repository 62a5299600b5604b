/* regatta plan -simulate: predictions for jobs. */
#ifndef RG_CLI_SIMULATION_H
#define RG_CLI_SIMULATION_H

#include "study/run/simulate.h"

typedef struct {
  int n;
  int *ranks; /* one per job; PetscFree */
  RgJobRates rates;
} RgSimulation;

/* Parse numbers of ranks from `text`, separated by ',', and rates for rg_job_rates from n words
   KEY=VALUE. Mistakes are reported and set *exit_code. */
PetscErrorCode rg_simulation_parse(const char *text, int n, const char *const *words,
                                   RgSimulation *simulation, int *exit_code);
/* Print how these jobs would run the plan, by its estimated costs. An impossible job is reported
   and sets *exit_code. */
PetscErrorCode rg_simulation_show(const RgSimulation *simulation, const RgPlan *plan,
                                  int *exit_code);

#endif
