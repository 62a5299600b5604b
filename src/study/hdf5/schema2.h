/* Files of schema 2, in which every trial has what belongs to its cell. */
#ifndef RG_STUDY_HDF5_SCHEMA2_H
#define RG_STUDY_HDF5_SCHEMA2_H

#include "study/hdf5/group.h"

/* Give trials [first, first + n) of a group their cells, made of what schema 2 says of each trial.
   What it does not say stays 0 or empty. Trials that follow each other share a cell. */
PetscErrorCode rg_schema2_cells(const RgGroup *group, int first, int n, RgRecord *records,
                                RgFault *fault);

#endif
