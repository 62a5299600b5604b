/* The plan: every trial of a study, with its stable identity and what it is likely to cost. */
#ifndef RG_STUDY_PLAN_H
#define RG_STUDY_PLAN_H

#include "study/spec/study.h"

typedef struct {
  int cell; /* index into study->cells */
  uint64_t instance, seed;
  int turn;                     /* position of its seed in the study */
  char *key;                    /* canonical text (conventions, 4), owned:
                        schema=1;<cell's text>;study_seed=..;instance=..;seed=..
                        the cell's text is problem=<name>@<revision>{parameters};run={..};
                        algorithm=<name>@<revision>{parameters}, and for algorithms with a model
                        ;surrogate={..};maximiser={..} */
  char id[RG_ID_LENGTH + 1];    /* XXH3-128 of the key */
  int n_initial, n_evaluations; /* rows of the record: initial design + iterations */
  int dim_x, dim_c;
  double cost;   /* estimated CPU seconds */
  double memory; /* estimated bytes at the peak */
} RgTrial;

/* Trials of one problem label stand together: a group of the results file. */
typedef struct {
  const char *problem_label; /* borrowed from the study */
  int first, n;              /* trials [first, first + n) of the plan */
  int dim_x, dim_c, n_rows;  /* maxima over the group */
} RgPlanGroup;

typedef struct RgPlan {
  const RgStudy *study; /* borrowed */
  int n;
  RgTrial *trials; /* plan order: problem label, cell, instance, seed; owned */
  int n_groups;
  RgPlanGroup *groups; /* owned */
  int *order;          /* trial indices, seed by seed, dearest first within one; owned */
  int *by_id;          /* trial indices in the order of their ids; owned */
  double cost;         /* sum, CPU seconds */
} RgPlan;

/* The same as rg_plan_create, in the caller's struct; to be cleared. Errors: two trials with
   the same id are a PETSC_ERR_PLIB (the study parser refuses duplicates). */
PetscErrorCode rg_plan_fill(const RgStudy *study, RgPlan *plan);
PetscErrorCode rg_plan_clear(RgPlan *plan);
/* For qsort_r over indices of the trials in `closure`: dearest first, ties by index. */
int rg_plan_compare_costs(const void *left, const void *right, void *closure);
/* The part'th of `parts` shares of the trials, from 1: share[i] (plan->n). In the schedule's order
   each goes to the share with the least to do so far: shares advance seed by seed, and the costs of
   two differ by no more than the dearest trial. O(n log parts). */
PetscErrorCode rg_plan_share(const RgPlan *plan, int part, int parts, bool *share);
/* Index of the trial of that id, -1: none. O(log n). */
int rg_plan_find(const RgPlan *plan, const char *id);

#endif
