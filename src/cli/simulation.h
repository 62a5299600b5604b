/* regatta plan -simulate: jobs before they run. */
#ifndef RG_CLI_SIMULATION_H
#define RG_CLI_SIMULATION_H

#include "study/run/simulate.h"

typedef struct {
  int n;
  int *ranks; /* of each of n jobs; PetscFree */
  RgJobRates rates;
} RgSimulation;

/* Numbers of ranks from `text`, separated by ',', and rates from n words KEY=VALUE for
   rg_job_rates. Mistakes are said, and *exit_code set. */
PetscErrorCode rg_simulation_parse(const char *text, int n, const char *const *words,
                                   RgSimulation *simulation, int *exit_code);
/* Print what these jobs would do with the plan, by its costs. A job that can't be is reported, and
   *exit_code set. */
PetscErrorCode rg_simulation_show(const RgSimulation *simulation, const RgPlan *plan,
                                  int *exit_code);

#endif
