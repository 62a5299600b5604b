/* A study file for all ranks. */
#ifndef RG_STUDY_RUN_STUDY_SHARE_H
#define RG_STUDY_RUN_STUDY_SHARE_H

#include "study/file/study.h"

/* Parse a study file on every rank of `comm` (rg_study_load) from the bytes that rank 0 reads.
   Every rank reads the data files that the study names; a mistake, or different bytes, on any
   rank counts for all. Collective. *speaker: the first rank with mistakes, which are in its
   `diagnostics`; -1: the study is valid. The caller destroys the study in any case. */
PetscErrorCode rg_study_share(MPI_Comm comm, const RgRegistry *registry, const char *path,
                              RgStudy *study, RgDiagnostics *diagnostics, int *speaker);

#endif
