/* The plan: every trial of a study, with its stable identity and what it is likely to cost. Trials
   are numbered and enumerated, not stored: a plan takes memory by cell, and a few bytes per trial
   once trials are looked for by id. */
#ifndef RG_STUDY_PLAN_PLAN_H
#define RG_STUDY_PLAN_PLAN_H

#include <petscbt.h>

#include "study/spec/study.h"

typedef struct {
  int index; /* in the plan */
  int cell;  /* index into study->cells */
  uint64_t instance, seed;
  int turn;                     /* position of its seed in the study */
  char id[RG_ID_LENGTH + 1];    /* XXH3-128 of its key (rg_trial_key) */
  int n_initial, n_evaluations; /* rows of the record: initial design + iterations */
  int dim_x, dim_c;
  double cost; /* seconds of a nominal core */
} RgTrial;

/* Trials [first, first + n) of the plan: instance by instance, each of them seed by seed. */
typedef struct {
  int first, n, n_seeds;
  double cost;   /* of a trial, seconds of a nominal core (rg_cost_nominal) */
  double memory; /* of a trial, estimated bytes at the peak */
} RgPlanCell;

/* Trials of one problem label stand together: a group of the results file. */
typedef struct {
  const char *problem_label; /* borrowed from the study */
  int first, n;              /* trials [first, first + n) of the plan */
  int dim_x, dim_c, n_rows;  /* maxima over the group */
} RgPlanGroup;

/* Trials by id, as far as they were looked for. Private to plan.c. */
typedef struct {
  int n_turns;       /* trials of so many seeds are in it */
  uint32_t capacity; /* slots */
  int *slots;        /* index of a trial and 1, 0: none; owned */
} RgPlanIds;

typedef struct RgPlan {
  const RgStudy *study; /* borrowed */
  int n;
  int n_turns;       /* seeds of the cells that have most */
  RgPlanCell *cells; /* of the study, which are in plan order: problem label, cell; owned */
  int n_groups;
  RgPlanGroup *groups; /* owned */
  int *by_cost;        /* cells, dearest first when planned: the order within a seed; owned */
  double cost;         /* sum of the trials */
  RgPlanIds *ids;      /* made by rg_plan_find; owned */
} RgPlan;

/* The same as rg_plan_create, in the caller's struct; to be cleared. */
PetscErrorCode rg_plan_fill(const RgStudy *study, RgPlan *plan);
PetscErrorCode rg_plan_clear(RgPlan *plan);
/* Cell of a trial. O(log cells). */
int rg_plan_cell(const RgPlan *plan, int index);
/* The trial of that index, which must be in the plan. */
PetscErrorCode rg_plan_trial(const RgPlan *plan, int index, RgTrial *trial);
/* Append the canonical text that names everything a trial's results rest on (conventions, 4):
   schema=1;<cell's text>;study_seed=..;instance=..;seed=..
   the cell's text is problem=<name>@<revision>{parameters};run={..};
   algorithm=<name>@<revision>{parameters}, and for algorithms with a model
   ;surrogate={..};maximiser={..} */
PetscErrorCode rg_trial_key(const RgStudy *study, const RgTrial *trial, RgText *key);
/* Index of the trial of that id, -1: none. O(1), but the first time that a trial of so late a seed
   is looked for: O(trials of the seeds up to it), of all where there is none. */
PetscErrorCode rg_plan_find(const RgPlan *plan, const char *id, int *index);
/* A walk through the trials seed by seed, dearest first within one: the schedule's order, but for
   its end. Begins zeroed. */
typedef struct {
  int turn, at, instance; /* of the next trial; at: of by_cost */
} RgPlanWalk;
/* Index of the next trial, and its cell; -1: that was the last. */
int rg_plan_next(const RgPlan *plan, RgPlanWalk *walk, int *cell);
/* The part'th of `parts` shares of the trials, from 1: set in `share` (plan->n, all zero). In the
   order of a walk each trial goes to the share with the least to do so far: shares advance seed by
   seed, and the costs of two differ by no more than the dearest trial. O(n log parts). */
PetscErrorCode rg_plan_share(const RgPlan *plan, int part, int parts, PetscBT share);

#endif
