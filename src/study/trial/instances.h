/* Instances of problems and their optima, shared by the trials of one process. An optimum is
   searched once per problem, options and instance, and expensive problems are created once.
   Optima can also be stored in files, for other processes and later runs. None of this changes
   results: an instance is a pure function of its key. */
#ifndef RG_STUDY_TRIAL_INSTANCES_H
#define RG_STUDY_TRIAL_INSTANCES_H

#include "base/text.h"
#include "study/file/registry.h"
#include "study/file/study.h"

/* *found: the file under this key in `folder` has the numbers, exact to the last bit. */
PetscErrorCode rg_optimum_cache_read(const char *folder, const char *key, double *optimum,
                                     double *accuracy, bool *found);
/* Write a file; creates `folder`, but not its parents. A valid file is left alone. */
PetscErrorCode rg_optimum_cache_write(const char *folder, const char *key, double optimum,
                                      double accuracy);

typedef struct RgRecorded RgRecorded;

/* The durations of submissions 1 to *n, NaN where they are not known; borrowed. If no trial serves,
   or those that do differ, *times is NULL and `mistake` says so. */
PetscErrorCode rg_recorded_find(const RgRecorded *recorded, const char *problem_label,
                                uint64_t instance, uint64_t seed, int *n, const double **times,
                                RgText *mistake);

/* Check that the recorded durations of a study suffice, unless its trials end by time. */
PetscErrorCode rg_recorded_check(const RgStudy *study, RgDiagnostics *diagnostics);

typedef struct RgInstances RgInstances;

/* An optimum under the law of an epoch (RgProblem.epoch; 0: the law does not change). */
typedef struct {
  int epoch;
  double value, accuracy;
} RgOptimum;

typedef struct {
  RgProblem problem;
  char *key;         /* study seed, instance, class, options; owned */
  bool alive, taken; /* `problem` exists; a trial uses it */
  bool broken;       /* its creation failed */
  int n_optima;      /* known so far */
  RgOptimum *optima; /* owned */
  char *column;      /* name of the column read last; owned, NULL: none was read */
  double *times;     /* its durations; owned */
  char *file_key;    /* key of the stored optimum; owned, NULL: not stored */
  const RgInstances *among;
  uint64_t used; /* time of last use */
} RgInstance;

/* Create an empty collection. */
PetscErrorCode rg_instances_create(RgInstances **instances);
/* Destroy a collection; all instances must have been released. NULL is fine. */
PetscErrorCode rg_instances_destroy(RgInstances **instances);

/* From now on, look for optima in `folder` before a search, and store those whose search took at
   least `least` seconds (optimum_cache.h), for equal programs on machines of the same numeric
   fingerprint. Optima of a team's problems are not stored. registry: borrowed. */
PetscErrorCode rg_instances_keep_optima(RgInstances *instances, const char *folder, double least,
                                        const RgRegistry *registry, uint64_t fingerprint);

/* Acquire the problem of `cell`; it must be released before it is acquired again. Class and options
   of the cell must outlive `instances`. At most 32 instances are kept; the least recently used
   is dropped first. team: as for rg_problem_create_on. failure: the problem could not be
   created, or its data have changed since the cell was checked. Even then *instance must be
   released. */
PetscErrorCode rg_instances_acquire(RgInstances *instances, RgTeam *team, const RgStudy *study,
                                    const RgCell *cell, uint64_t number, RgInstance **instance,
                                    RgFailure *failure);
/* Release an instance; *instance becomes NULL. Problems that are not `shared` are destroyed;
   optima are kept. */
PetscErrorCode rg_instances_release(RgInstance **instance);

/* The trials of a recorded file (recorded_read), read once and kept; borrowed. */
PetscErrorCode rg_instances_recorded(RgInstances *instances, const char *path, const char *label,
                                     const RgRecorded **recorded, RgText *mistake);

/* The durations by design in a column of the problem's table (rg_crew_column), read once and kept;
   borrowed. */
PetscErrorCode rg_instance_column(RgInstance *instance, const RgCell *cell, const char *name,
                                  const double **times, RgText *mistake);

/* rg_regret_optimum under the present law, searched or read on the first call only. If failure is
   set already, only the problem's own value, NaN if unknown. */
PetscErrorCode rg_instance_optimum(RgInstance *instance, double *optimum, double *accuracy,
                                   RgFailure *failure);

#endif
