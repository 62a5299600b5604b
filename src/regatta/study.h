/* Studies and their plans: from a study file to what rg_run takes. */
#ifndef RG_REGATTA_STUDY_H
#define RG_REGATTA_STUDY_H

#include "regatta/error.h"

#define RG_ID_LENGTH 32 /* hexadecimal digits of a trial id */

typedef struct RgRegistry RgRegistry; /* the problems and algorithms there are; NULL: no plug-ins */
typedef struct RgStudy RgStudy;       /* a study file, validated, with defaults filled in */
typedef struct RgPlan RgPlan;         /* its trials, with identity and likely cost */

RG_API PetscErrorCode rg_registry_create(RgRegistry **registry);
/* Unloads the plug-ins: nothing made of their classes may be in use. NULL is fine. */
RG_API PetscErrorCode rg_registry_destroy(RgRegistry **registry);
/* Load a plug-in. What is wrong with it is appended to `mistake`, and nothing is added: it can't be
   loaded, is none, was built for another version, or has a class that is incomplete or whose name
   is taken. */
RG_API PetscErrorCode rg_registry_load(RgRegistry *registry, const char *path, RgText *mistake);

/* Read and validate a study file. With any mistake (each is added to `diagnostics`) *study is NULL.
   registry: borrowed, must outlive the study. Not collective: every rank that calls reads the file.
   To be closed. */
RG_API PetscErrorCode rg_study_open(const RgRegistry *registry, const char *path, RgStudy **study,
                                    RgDiagnostics *diagnostics);
/* *study becomes NULL; NULL is fine. */
RG_API PetscErrorCode rg_study_close(RgStudy **study);
/* As the file names it; borrowed. */
RG_API const char *rg_study_name(const RgStudy *study);

/* All trials of a study, which must outlive the plan. To be destroyed. O(n log n) for n trials. */
RG_API PetscErrorCode rg_plan_create(const RgStudy *study, RgPlan **plan);
/* *plan becomes NULL; NULL is fine. */
RG_API PetscErrorCode rg_plan_destroy(RgPlan **plan);
/* Trials, and their estimated CPU seconds together. */
RG_API int rg_plan_size(const RgPlan *plan);
RG_API double rg_plan_cost(const RgPlan *plan);

#endif
