/* The plan: every trial of a study, with its identity and its expected cost. Trials are numbered
   and computed on demand, not stored. A plan takes memory per cell, and a few bytes per trial
   once trials are looked up by id. */
#ifndef RG_STUDY_PLAN_PLAN_H
#define RG_STUDY_PLAN_PLAN_H

#include <petscbt.h>

#include "study/file/study.h"

typedef struct {
  int index; /* number in the plan */
  int cell;  /* index into study->cells */
  uint64_t instance, seed;
  int turn;                     /* position of its seed in the study's list */
  char id[RG_ID_LENGTH + 1];    /* XXH3-128 of its key (rg_trial_key) */
  int n_initial, n_evaluations; /* rows of the record: initial design + iterations */
  int dim_x, dim_c;
  double cost; /* seconds of a nominal core */
} RgTrial;

/* The trials of a cell, [first, first + n): instance by instance, and seed by seed in each. */
typedef struct {
  int first, n, n_seeds;
  double cost;   /* per trial, seconds of a nominal core (rg_cost_nominal) */
  double memory; /* per trial, estimated peak bytes */
} RgPlanCell;

/* A group of the results file: adjacent trials of one problem label. */
typedef struct {
  const char *problem_label; /* borrowed from the study */
  int first, n;              /* trials [first, first + n) of the plan */
  int dim_x, dim_c, n_rows;  /* maxima over the group */
} RgPlanGroup;

/* A table of trials by id, extended on demand. Private to plan.c. */
typedef struct {
  int n_turns;       /* number of seeds whose trials it contains */
  uint32_t capacity; /* slots */
  int *slots;        /* index of a trial plus 1; 0: empty; owned */
} RgPlanIds;

typedef struct RgPlan {
  const RgStudy *study; /* borrowed */
  int n;
  int n_turns;       /* largest number of seeds of a cell */
  RgPlanCell *cells; /* by cell of the study, which orders them by problem label; owned */
  int n_groups;
  RgPlanGroup *groups; /* owned */
  /* Cells by nominal cost at planning, most expensive first: the order within a seed; owned. */
  int *by_cost;
  double cost;    /* total cost of the trials */
  RgPlanIds *ids; /* made by rg_plan_find; owned */
} RgPlan;

/* Like rg_plan_create, but fills the caller's struct, which the caller clears. */
PetscErrorCode rg_plan_fill(const RgStudy *study, RgPlan *plan);
PetscErrorCode rg_plan_clear(RgPlan *plan);
/* Cell of a trial. O(log cells). */
int rg_plan_cell(const RgPlan *plan, int index);
/* Trial number `index`, which must be in the plan. */
PetscErrorCode rg_plan_trial(const RgPlan *plan, int index, RgTrial *trial);
/* Append the canonical text with everything that a trial's results depend on:
   schema=1;<cell's text>;study_seed=..;instance=..;seed=..
   and before study_seed, if the study does not record some columns, without=NAME,..;
   The cell's text is
   problem=<name>@<revision>{parameters};run={..};
   algorithm=<name>@<revision>{parameters}
   and for algorithms with a model ;surrogate={..};maximiser={..} */
PetscErrorCode rg_trial_key(const RgStudy *study, const RgTrial *trial, RgText *key);
/* Index of the trial with that id; -1: no such trial. O(1), except when the table must be
   extended to later seeds: then O(trials of the seeds up to it), or of all seeds if there is no
   such trial. */
PetscErrorCode rg_plan_find(const RgPlan *plan, const char *id, int *index);
/* A walk through the trials, seed by seed and most expensive first within a seed. The schedule
   has this order, except at its end. Zero-initialise. */
typedef struct {
  int turn, at, instance; /* position of the next trial; at: index into by_cost */
} RgPlanWalk;
/* Index of the next trial, and its cell; -1 after the last. */
int rg_plan_next(const RgPlan *plan, RgPlanWalk *walk, int *cell);
/* Set share `part` (from 1) of `parts` shares of the trials in `share` (plan->n, all zero). In
   the order of a walk, each trial goes to the share with the least cost so far. So all shares
   progress by seed, and their costs differ by at most the most expensive trial. O(n log parts). */
PetscErrorCode rg_plan_share(const RgPlan *plan, int part, int parts, PetscBT share);

#endif
