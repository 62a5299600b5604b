/* Optima that took a search, kept in small files of the study directory for other ranks and
   for a run that resumes.

   A file holds one optimum: the key in full, the bits of the numbers, and a checksum of all that;
   its name is the hash of the key. It is written by the commit of the store (temporary file,
   rename) and never changed. Nothing here can break a run: a file or folder that is not there,
   can't be read or written, is damaged, or has another key stands for no answer. */
#ifndef RG_STUDY_TRIAL_OPTIMUM_CACHE_H
#define RG_STUDY_TRIAL_OPTIMUM_CACHE_H

#include "base/text.h"

/* Append what the last bits of an optimum depend on beside the problem and the machine: versions of
   the libraries, the compiler, and the bytes of this program. Reads the program's file. */
PetscErrorCode rg_optimum_cache_program(RgText *text);

/* *found: the numbers are those that were written under this key in `folder`, to the last bit. */
PetscErrorCode rg_optimum_cache_read(const char *folder, const char *key, double *optimum,
                                     double *accuracy, bool *found);
/* Creates the folder too, not those above it. A file that can be read already is left alone. */
PetscErrorCode rg_optimum_cache_write(const char *folder, const char *key, double optimum,
                                      double accuracy);

#endif
