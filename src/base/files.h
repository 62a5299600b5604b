/* Files and directories as the store needs them: every step checked, errno as a value. */
#ifndef RG_BASE_FILES_H
#define RG_BASE_FILES_H

#include "base/fault.h"
#include "base/text.h"

/* Where a process id means something: host name, and a hash of the running system and its PID
   namespace. */
#define RG_FILE_PLACE_MAX 96
void rg_file_place(char place[RG_FILE_PLACE_MAX]);
/* Create `<directory>/.tmp.<place>.<pid>.<n>` exclusively for writing and reading, n the first that
   is free; path: 1 + its length at most `size`. Returns the descriptor, or -1 and *error. */
int rg_file_create_temporary(const char *directory, char *path, size_t size, int *error);
/* Whether `name` is a temporary file of a process of this place that does not exist any more. */
bool rg_file_is_stale(const char *name);
/* Whether `name` in a directory is a temporary file of another place (another host, or this one
   before it was started again) that nobody has written to for so many seconds. Its process may
   still live: then its commit fails, nothing is lost, and it is tried again. */
bool rg_file_is_forgotten(const char *directory, const char *name, double seconds);

/* 0 or an errno. */
int rg_file_write(int fd, const void *bytes, size_t length);
int rg_file_sync(int fd);
/* After an error of close nothing may be assumed about the data. */
int rg_file_close(int fd);
/* fsync of a directory; file systems that can't are forgiven. */
int rg_directory_sync(const char *path);
/* Create a directory, durably; no error when it exists. */
int rg_directory_create(const char *path);

/* Names of the entries of a directory (without . and ..), sorted; owned by the caller, see below.
 */
PetscErrorCode rg_directory_list(const char *path, int *n, char ***names, int *error);
PetscErrorCode rg_names_free(int n, char ***names);

/* `<a>/<b>` as a new string. */
PetscErrorCode rg_path_join(const char *a, const char *b, char **path);

/* Whether a results file can be written as `path`: the names of what stands beside it must fit, a
   symbolic link would be replaced, another format's ending would mislead. Else why not is appended
   to `mistake`. */
#define RG_PATH_MOST 3800
#define RG_NAME_MOST 253 /* and `.d` behind it */
PetscErrorCode rg_file_check_output(const char *path, RgText *mistake);

/* The one function that writes results: `bytes` as file `<directory>/<name>` by temporary file,
   fsync, close, rename, fsync of the directory (conventions, 4). After a fault nothing is left
   behind but possibly the complete file. */
PetscErrorCode rg_file_commit(const char *directory, const char *name, const void *bytes,
                              size_t length, RgFault *fault);

#endif
