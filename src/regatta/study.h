/* Studies and their plans: from a study file to what rg_run takes. */
#ifndef RG_REGATTA_STUDY_H
#define RG_REGATTA_STUDY_H

#include "regatta/error.h"

#define RG_ID_LENGTH 32 /* hexadecimal digits of a trial id */

typedef struct RgRegistry RgRegistry; /* the problems and algorithms there are; NULL: no plug-ins */
typedef struct RgStudy RgStudy;       /* a study file, validated, with defaults filled in */
typedef struct RgPlan RgPlan;         /* its trials, with identity and likely cost */

/* What the values of a swept setting are, over all of the study. */
typedef enum { RG_SWEPT_NUMBER, RG_SWEPT_INTEGER, RG_SWEPT_LOGICAL, RG_SWEPT_WORD } RgSweptKind;

/* A setting that a study sweeps, and its value in one cell that reads it. */
typedef struct {
  char
    *name; /* of its variable in the results: `noise_variance`, `surrogate.kernel`; owned, as all */
  char *text; /* the value: a word as it is, else canonical text */
  RgSweptKind kind;
  char *part;        /* whose it is: run, problem, algorithm, surrogate, maximiser; "": not known */
  char *units, *doc; /* of the parameter; may be NULL */
} RgSwept;

/* All problems and algorithms of the program, and room for those of plug-ins. */
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

/* All trials of a study, which must outlive the plan. To be destroyed. O(cells log cells). */
RG_API PetscErrorCode rg_plan_create(const RgStudy *study, RgPlan **plan);
/* *plan becomes NULL; NULL is fine. */
RG_API PetscErrorCode rg_plan_destroy(RgPlan **plan);
/* Trials, and their estimated CPU seconds together. */
RG_API int rg_plan_size(const RgPlan *plan);
RG_API double rg_plan_cost(const RgPlan *plan);

#endif
