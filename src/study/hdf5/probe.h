/* A first look at a file. HDF5 trusts what it reads: bytes that were altered can make it crash or
   never return, and a checksum tells only what was altered without meaning to. A child process
   reads everything first. */
#ifndef RG_STUDY_HDF5_PROBE_H
#define RG_STUDY_HDF5_PROBE_H

#include "study/hdf5/container.h"

/* Whether a process that reads the container on the medium survives: root attributes, every field
   and every column of every trial. What is wrong with them is not asked here. The child is a copy
   of this process that neither communicates nor prints nor writes; it may use 4 s of CPU time and
   a second per 4 MiB of the file, and 4 GiB of memory more than its parent. True also where no
   child can be made, and at once in a process of rg_probe_shield; one of rg_probe_vouch reads it
   itself. */
PetscErrorCode rg_probe_survives(const RgMedium *medium, bool *survives);

/* Bytes of this hash (XXH3-128) have been read by a child that survived, or by this process: they
   need no probe again. Of the latest 4096 files or so this is known. */
void rg_probe_remember(const uint64_t hash[2]);
bool rg_probe_remembers(const uint64_t hash[2]);

/* From now on this process, a child that only reads files, may die of them: its parent does the
   same work itself then. Files are opened without a probe; time and memory are limited as above. */
void rg_probe_shield(void);
/* The same in a child whose survival is to show that what it opens is harmless: what nobody knows
   that of it reads to the end. It prints nothing. */
void rg_probe_vouch(void);
/* In such a process, before each file: it may use the time that a file of this length takes. */
void rg_probe_renew(uint64_t length);

#endif
