/* A study file for many ranks. */
#ifndef RG_STUDY_RUN_STUDY_SHARE_H
#define RG_STUDY_RUN_STUDY_SHARE_H

#include "study/spec/study.h"

/* rg_study_load on every rank of `comm` from the bytes that rank 0 reads. Data files that a
   study names are read by every rank; one that finds a mistake, or other bytes than rank 0, speaks
   for all. Collective.
   *speaker: the first rank with mistakes, which it has in `diagnostics`; -1: none, the study may be
   used. To be destroyed in any case. */
PetscErrorCode rg_study_share(MPI_Comm comm, const RgRegistry *registry, const char *path,
                              RgStudy *study, RgDiagnostics *diagnostics, int *speaker);

#endif
