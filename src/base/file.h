/* Whole files of text, and the search for a user's data files. */
#ifndef RG_BASE_FILE_H
#define RG_BASE_FILE_H

#include "base/text.h"

/* Read a regular file: *text is NUL-terminated, *length excludes the NUL; owned by the caller
   (PetscFree). If the file can't be read, or has more than `limit` bytes, *text is NULL and
   `mistake` receives a text to follow the file's name: `can't be opened: No such file ...` */
PetscErrorCode rg_file_read(const char *path, size_t limit, char **text, size_t *length,
                            RgText *mistake);

/* The same of an open file, which is closed; negative: opening failed, and errno says why. */
PetscErrorCode rg_file_read_open(int file, size_t limit, char **text, size_t *length,
                                 RgText *mistake);

/* XXH3-128 of a file of at most 1 GiB, in hexadecimal. If the file can't be read, the hash stays
   unchanged and `mistake` receives a text as above. */
PetscErrorCode rg_file_hash(const char *path, char hex[33], RgText *mistake);

/* The folder of data sets: the environment variable REGATTA_DATA, NULL when unset or empty. */
const char *rg_data_folder(void);

/* Find the data file `path`: the path itself if it exists; otherwise, for a relative path, the
   whole path or its last name in the folder of data sets. The result is appended to `found`,
   which stays empty if nothing is found. */
PetscErrorCode rg_data_find(const char *path, RgText *found);

#endif
