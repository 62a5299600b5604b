/* Instances of problems and their optima, kept from trial to trial of one process: an optimum is
   searched once per problem, options and instance, and problems that are dear to create are made
   once. Optima can be kept in files as well, for other processes and later runs. Nothing here
   changes results: an instance is a pure function of what it is looked up by. */
#ifndef RG_STUDY_TRIAL_INSTANCES_H
#define RG_STUDY_TRIAL_INSTANCES_H

#include "study/spec/registry.h"

typedef struct RgInstances RgInstances;

typedef struct {
  RgProblem problem;
  char *key;         /* study seed, instance, class, options; owned */
  bool alive, taken; /* `problem` exists; a trial has it */
  bool broken;       /* it could not be created */
  bool has_optimum;
  double optimum, accuracy;
  char *file_key; /* of the optimum in a file; owned, NULL: it is not kept there */
  const RgInstances *among;
  uint64_t used; /* when it was last taken */
} RgInstance;

/* Room for instances, empty. */
PetscErrorCode rg_instances_create(RgInstances **instances);
/* NULL is fine. Nothing may be taken. */
PetscErrorCode rg_instances_destroy(RgInstances **instances);

/* From now on an optimum is looked for in `folder` before it is searched, and one whose search took
   `least` seconds is left there (optimum_cache.h), for programs like this one and machines of the
   same numeric fingerprint. Not those of a team's problems. registry: borrowed. */
PetscErrorCode rg_instances_keep_optima(RgInstances *instances, const char *folder, double least,
                                        const RgRegistry *registry, uint64_t fingerprint);

/* The problem of `cell`, to be given back before it is taken again. Class and options of the cell
   must outlive `instances`. At most 32 are kept, the longest unused goes first. team: as of
   rg_problem_create_on. failure: of that, or the data are not those of the cell any more; *instance
   is to be given back all the same. */
PetscErrorCode rg_instances_take(RgInstances *instances, RgTeam *team, const RgStudy *study,
                                 const RgCell *cell, uint64_t number, RgInstance **instance,
                                 RgFailure *failure);
/* *instance becomes NULL; problems that are not `shared` are destroyed, optima stay. */
PetscErrorCode rg_instances_give_back(RgInstance **instance);

/* rg_regret_optimum, searched (or read) at the first call only. With a failure that is there
   already: the problem's own, NaN where it doesn't know. */
PetscErrorCode rg_instance_optimum(RgInstance *instance, double *optimum, double *accuracy,
                                   RgFailure *failure);

#endif
