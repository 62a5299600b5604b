/* A first look at a file. HDF5 trusts what it reads: bytes that were altered can make it crash or
   never return, and a checksum tells only what was altered without meaning to. A child process reads everything first. */
#ifndef RG_STUDY_PROBE_H
#define RG_STUDY_PROBE_H

#include "study/hdf5/container.h"

/* Whether a process that reads the container on the medium survives: root attributes, every field
   and every column of every trial. What is wrong with them is not asked here. The child is a copy
   of this process that neither communicates nor prints nor writes; it may use 4 s of CPU time and
   a second per 4 MiB of the file, and 4 GiB of memory more than its parent. True also where no
   child can be made. */
PetscErrorCode rg_probe_survives(const RgMedium *medium, bool *survives);

#endif
