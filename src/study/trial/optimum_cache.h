/* Optima found by search, stored in small files of the study directory for other ranks and for a
   resumed run.
   A file holds one optimum: the full key, the bits of the numbers, and a checksum over both. Its
   name is the hash of the key. The store's commit (temporary file, rename) writes it, and it
   never changes. No failure here stops a run: a file or folder that is missing, unreadable,
   unwritable or damaged, or a file with another key, counts as no answer. */
#ifndef RG_STUDY_TRIAL_OPTIMUM_CACHE_H
#define RG_STUDY_TRIAL_OPTIMUM_CACHE_H

#include "base/text.h"

/* Append what affects the last bits of an optimum besides problem and machine: versions of the
   libraries, the compiler, and a hash of this program's file. */
PetscErrorCode rg_optimum_cache_program(RgText *text);

/* *found: the file under this key in `folder` has the numbers, exact to the last bit. */
PetscErrorCode rg_optimum_cache_read(const char *folder, const char *key, double *optimum,
                                     double *accuracy, bool *found);
/* Write a file; creates `folder`, but not its parents. A valid file is left alone. */
PetscErrorCode rg_optimum_cache_write(const char *folder, const char *key, double optimum,
                                      double accuracy);

#endif
