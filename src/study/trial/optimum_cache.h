/* Optima that took a search, kept in small files for other ranks, later runs and other studies.

   A file holds one optimum: the key in full, the bits of the numbers, and a checksum of all that;
   its name is the hash of the key. It is written by the commit of the store (temporary file,
   rename) and never changed. Nothing here can break a run: a file or folder that is not there,
   can't be read or written, is damaged, or has another key stands for no answer. */
#ifndef RG_STUDY_TRIAL_OPTIMUM_CACHE_H
#define RG_STUDY_TRIAL_OPTIMUM_CACHE_H

#include "base/text.h"

/* Append the folder of the user: the environment variable REGATTA_CACHE, else
   $XDG_CACHE_HOME/regatta, else $HOME/.cache/regatta. Nothing is appended, and nothing to be kept,
   with REGATTA_CACHE=off or without any of them. */
PetscErrorCode rg_optimum_cache_folder(RgText *folder);

/* Append why optima in the folder are not to be believed: others than this user and root may write
   to it. Nothing is appended when it is fine or not there yet. Such folders and files are
   never read nor written. */
PetscErrorCode rg_optimum_cache_doubt(const char *folder, RgText *why);

/* Append what the last bits of an optimum depend on beside the problem and the machine: versions of
   the libraries, the compiler, and the bytes of this program. Reads the program's file. */
PetscErrorCode rg_optimum_cache_program(RgText *text);

/* *found: the numbers are those that were written under this key in `folder`, to the last bit. */
PetscErrorCode rg_optimum_cache_read(const char *folder, const char *key, double *optimum,
                                     double *accuracy, bool *found);
/* Makes the folder as well. A file that can be read already is left alone. */
PetscErrorCode rg_optimum_cache_write(const char *folder, const char *key, double optimum,
                                      double accuracy);

#endif
