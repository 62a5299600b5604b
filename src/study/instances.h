/* Instances of problems and their optima, kept from trial to trial of one process: an optimum is
   searched once per problem, options and instance, and problems that are dear to create are made
   once. Nothing here changes results: an instance is a pure function of what it is looked up by. */
#ifndef RG_STUDY_INSTANCES_H
#define RG_STUDY_INSTANCES_H

#include "study/study.h"

typedef struct RgInstances RgInstances;

typedef struct {
  RgProblem problem;
  char     *key;          /* study seed, instance, class, options; owned */
  bool      alive, taken; /* `problem` exists; a trial has it */
  bool      broken;       /* it could not be created */
  bool      has_optimum;
  double    optimum, accuracy;
  uint64_t  used;         /* when it was last taken */
} RgInstance;

PetscErrorCode rg_instances_create(RgInstances **instances);
/* NULL is fine. Nothing may be taken. */
PetscErrorCode rg_instances_destroy(RgInstances **instances);

/* The problem of `cell`, to be given back before it is taken again. Class and options of the cell
   must outlive `instances`. At most 32 are kept, the longest unused goes first. team: as of
   rg_problem_create_on. failure: of that, or the data are not those of the cell any more; *instance
   is to be given back all the same. */
PetscErrorCode rg_instances_take(RgInstances *instances, RgTeam *team, const RgStudy *study,
                                 const RgCell *cell, uint64_t number, RgInstance **instance,
                                 RgFailure *failure);
/* *instance becomes NULL; problems that are not `shared` are destroyed, optima stay. */
PetscErrorCode rg_instances_give_back(RgInstance **instance);

/* rg_regret_optimum, searched at the first call only. */
PetscErrorCode rg_instance_optimum(RgInstance *instance, double *optimum, double *accuracy,
                                   RgFailure *failure);

#endif
