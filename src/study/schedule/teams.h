/* Teams: groups of a job's ranks for the trials of a plan.
   Trials that need the same number of ranks form a level; levels run from the largest teams to
   single ranks. Team sizes divide one another and the size of the job. So a team that finds its
   level empty can split into teams of the next level without waiting for other teams, and no
   rank is idle before the last level is empty. */
#ifndef RG_STUDY_SCHEDULE_TEAMS_H
#define RG_STUDY_SCHEDULE_TEAMS_H

#include "study/plan/plan.h"

enum { RG_TEAM_LEVELS = 24, RG_TEAMS_MESSAGE = 512 };

typedef struct {
  int ranks;                /* ranks of the job */
  int n;                    /* number of levels, at least one */
  int size[RG_TEAM_LEVELS]; /* ranks per team, descending; each divides the one before */
  int *level;               /* level of each cell's trials, except `early`; owned */
  int n_early, early_level;
  PetscInt *early; /* trials that run in teams of spare ranks, ascending; owned */
} RgTeams;

/* Choose team sizes for a job of `ranks`. crossover: order of matrices from which a team is
   worth it, 0: as measured. An impossible request (a team larger than the job, sizes that don't
   divide one another or the job) gives one line in `message`, otherwise empty.
   `auto` means one rank if the matrix of the model or problem is small enough for one rank;
   otherwise the smallest divisor of the job that gives every rank its share of the matrix.
   Models of up to 8,000 data get one rank, except in the trials that remain when all ranks have
   had equally many: these use teams of the ranks that would wait, unless small trials keep those
   busy. All this depends on study and ranks only, never on finished trials. */
PetscErrorCode rg_teams_create(const RgPlan *plan, int ranks, int crossover, RgTeams *teams,
                               char message[RG_TEAMS_MESSAGE]);
PetscErrorCode rg_teams_destroy(RgTeams *teams);
/* Level of a trial. O(log ranks + log cells). */
int rg_teams_level(const RgTeams *teams, const RgPlan *plan, int trial);
/* Number of trials of a cell with teams of a level. O(log ranks). */
int rg_teams_trials(const RgTeams *teams, const RgPlan *plan, int cell, int level);

/* Check that the trials fit a host with `memory` bytes and `ranks_here` ranks of this job.
   `message` names the first trial that does not fit, in one line, with the team size that would
   suffice, or, if no team helps, the number of ranks that a host can run. Empty: all fit. */
void rg_teams_check_memory(const RgPlan *plan, const RgTeams *teams, double memory, int ranks_here,
                           char message[RG_TEAMS_MESSAGE]);

#endif
