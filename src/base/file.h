/* Whole files of text, and where a user's data files are looked for. */
#ifndef RG_BASE_FILE_H
#define RG_BASE_FILE_H

#include "base/text.h"

/* The bytes of a regular file, NUL-terminated, *length without the NUL; owned by the caller
   (PetscFree). A file that can't be had, or has more than `limit` bytes: *text NULL, and what is
   wrong is appended to `mistake`, to follow the file's name: `can't be opened: No such file ...` */
PetscErrorCode rg_file_read(const char *path, size_t limit, char **text, size_t *length,
                            RgText *mistake);

/* XXH3-128 of a file of at most 1 GiB, in hexadecimal; unchanged, and a mistake as above, where it
   can't be had. */
PetscErrorCode rg_file_hash(const char *path, char hex[33], RgText *mistake);

/* The folder of data sets: value of the environment variable REGATTA_DATA, NULL when unset or
   empty. */
const char *rg_data_folder(void);

/* Where the data file `path` is: the path itself when something is there; a relative one else in
   the folder of data sets, with its folders or by its last name alone. The answer is appended to
   `found`, which stays empty when it is nowhere. */
PetscErrorCode rg_data_find(const char *path, RgText *found);

#endif
