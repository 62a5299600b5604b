/* Studies and their plans: from a study file to the input of rg_run. */
#ifndef RG_REGATTA_STUDY_H
#define RG_REGATTA_STUDY_H

#include "regatta/error.h"

#define RG_ID_LENGTH 32 /* hexadecimal digits of a trial id */
#define RG_STUDY_SEED 1 /* the study seed, where nothing else is said */
#define RG_STUDY_SEED_TEXT "1"

typedef struct RgRegistry RgRegistry; /* the known problems and algorithms; NULL: no plug-ins */
typedef struct RgStudy RgStudy;       /* a study file, validated, with defaults filled in */
typedef struct RgPlan RgPlan;         /* its trials, with identity and expected cost */

/* The type of all values of a swept setting in a study. */
typedef enum { RG_SWEPT_NUMBER, RG_SWEPT_INTEGER, RG_SWEPT_LOGICAL, RG_SWEPT_WORD } RgSweptKind;

/* A setting that a study sweeps, and its value in one cell that reads it. */
typedef struct {
  /* Name of its variable in the results: `noise_variance`, `surrogate.kernel`; owned, like all. */
  char *name;
  char *text; /* the value: a word unchanged, else canonical text */
  RgSweptKind kind;
  char *part;        /* its block: run, problem, algorithm, surrogate, maximiser; "": not known */
  char *units, *doc; /* symbol or description of the parameter; may be NULL */
} RgSwept;

/* Create a registry of all problems and algorithms of the program; plug-ins can be added. */
RG_API PetscErrorCode rg_registry_create(RgRegistry **registry);
/* Destroy the registry and unload its plug-ins: no object of their classes may be in use. NULL
   is fine. */
RG_API PetscErrorCode rg_registry_destroy(RgRegistry **registry);
/* Load a plug-in. If it can't be loaded, is not a plug-in, was built for another version, or has
   a class that is incomplete or whose name is taken, a mistake is appended to `mistake` and
   nothing is added. */
RG_API PetscErrorCode rg_registry_load(RgRegistry *registry, const char *path, RgText *mistake);

/* Read and validate a study file. Mistakes are added to `diagnostics`, and *study is NULL.
   registry: borrowed, must outlive the study. Not collective: every rank that calls reads the
   file. The caller closes the study. */
RG_API PetscErrorCode rg_study_open(const RgRegistry *registry, const char *path, RgStudy **study,
                                    RgDiagnostics *diagnostics);
/* Close the study and set *study to NULL; NULL is fine. */
RG_API PetscErrorCode rg_study_close(RgStudy **study);
/* The name in the study file; borrowed. */
RG_API const char *rg_study_name(const RgStudy *study);

/* Plan all trials of a study, which must outlive the plan. The caller destroys the plan. O(cells
   log cells). */
RG_API PetscErrorCode rg_plan_create(const RgStudy *study, RgPlan **plan);
/* Destroy the plan and set *plan to NULL; NULL is fine. */
RG_API PetscErrorCode rg_plan_destroy(RgPlan **plan);
/* Number of trials, and their total estimated CPU seconds. */
RG_API int rg_plan_size(const RgPlan *plan);
RG_API double rg_plan_cost(const RgPlan *plan);

#endif
