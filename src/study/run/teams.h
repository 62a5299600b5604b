/* How the ranks of a job are grouped into teams for the trials of a plan.

   Trials that ask for the same number of ranks form a level; levels are run from the largest teams
   to single ranks. Team sizes divide one another and the job, so that a team that finds its level
   empty splits into teams of the next one without waiting for the others: no rank is idle before
   the last level runs dry. */
#ifndef RG_STUDY_RUN_TEAMS_H
#define RG_STUDY_RUN_TEAMS_H

#include "study/plan/plan.h"

enum { RG_TEAM_LEVELS = 24, RG_TEAMS_MESSAGE = 512 };

typedef struct {
  int ranks;                /* of the job */
  int n;                    /* levels, at least one */
  int size[RG_TEAM_LEVELS]; /* ranks of a team, descending; each divides the one before */
  int *level;               /* of the trials of each cell of the study, but for `early`; owned */
  int n_early, early_level;
  PetscInt *early; /* indices of trials that have teams of ranks left over, ascending; owned */
} RgTeams;

/* Sizes for a job of `ranks`. crossover: order of the matrices that teams take off one rank, 0: as
   measured. What can't be (a team larger than the job, sizes that don't divide one another or the
   job) is said in `message` in one line, else it is empty. `auto` is one rank, or where the matrix
   of the model or problem has an order that one rank does not take, the least divisor of the job
   that gives every rank its part of it. Trials whose model has up to 8,000 data have one rank all
   the same, but for those that would be left when all ranks have had as many as each other: these
   have teams of the ranks that would wait, unless small trials keep them busy. All this rests on
   study and ranks alone, never on what is finished already. */
PetscErrorCode rg_teams_create(const RgPlan *plan, int ranks, int crossover, RgTeams *teams,
                               char message[RG_TEAMS_MESSAGE]);
PetscErrorCode rg_teams_destroy(RgTeams *teams);
/* Level of a trial. O(log ranks + log cells). */
int rg_teams_level(const RgTeams *teams, const RgPlan *plan, int trial);
/* How many trials of a cell have teams of a level. O(log ranks). */
int rg_teams_trials(const RgTeams *teams, const RgPlan *plan, int cell, int level);

/* Whether the trials fit a host with `memory` bytes of which this job has `ranks_here` ranks: the
   first that does not is named in `message` in one line, with the team size that would do, or where
   no team helps with the number of ranks that a host can take. Empty: all fit. */
void rg_teams_check_memory(const RgPlan *plan, const RgTeams *teams, double memory, int ranks_here,
                           char message[RG_TEAMS_MESSAGE]);

#endif
