/* Files and directories for the store: every step is checked, errno is a value. */
#ifndef RG_BASE_FILES_H
#define RG_BASE_FILES_H

#include "base/fault.h"
#include "base/text.h"

/* The place where a process id is valid: host name, and a hash of the running system and its PID
   namespace. */
#define RG_FILE_PLACE_MAX 96
void rg_file_place(char place[RG_FILE_PLACE_MAX]);
/* Create `<directory>/.tmp.<place>.<pid>.<n>` exclusively for writing and reading; n is the
   first free number. `path` has room for `size` bytes. Returns the descriptor, or -1 and *error. */
int rg_file_create_temporary(const char *directory, char *path, size_t size, int *error);
/* Whether `name` is a temporary file of a process of this place that no longer exists. */
bool rg_file_is_stale(const char *name);
/* The functions below return 0 or an errno. */
int rg_file_write(int fd, const void *bytes, size_t length);
int rg_file_sync(int fd);
/* After an error of close, the state of the data is unknown. */
int rg_file_close(int fd);
/* fsync of a directory; succeeds on file systems that don't support it. */
int rg_directory_sync(const char *path);
/* Create a directory durably; success if it exists. A link is none. */
int rg_directory_create(const char *path);

/* A study directory may come from anywhere, and change while a run writes to it: no link inside is
   followed, nor one in its place. `inside`: how many of the last directories of a path these are.
   RG_TOP: OUT.h5.d/NAME, or the directory OUT.h5.d; RG_FOLDER: OUT.h5.d/FOLDER/NAME, or the folder.
   RG_ANYWHERE: every link is followed. */
typedef enum { RG_ANYWHERE, RG_TOP, RG_FOLDER } RgInside;

/* Open a file with flags of open(); it is no link either. -1 and errno after a failure. */
int rg_inside_open(const char *path, RgInside inside, int flags);
/* The attributes of a file, or of a link that stands in its place. 0 or an errno. */
struct stat;
int rg_inside_stat(const char *path, RgInside inside, struct stat *status);
/* Remove a file, or a link that stands in its place; with `folder`, an empty folder. */
int rg_inside_remove(const char *path, RgInside inside, bool folder);
/* Give a file another name, durably; the directories of the names need not be the same. */
int rg_inside_move(const char *path, RgInside inside, const char *to, RgInside inside_to);
/* fsync of such a directory. */
int rg_inside_sync(const char *path, RgInside inside);
/* Create a folder of a study directory durably, and the study directory; success if they exist. */
int rg_inside_create(const char *folder);
/* Append to a file of a folder; both are made if they are missing. For logs, not for results. */
int rg_file_append(const char *path, const void *bytes, size_t length);

/* Whether `name` in a directory is a temporary file of another place (another host, or this one
   before a restart) and unchanged for `seconds`, by the clock of the file system. Its process may
   still run: then its commit fails, nothing is lost, and it tries again. */
bool rg_file_is_abandoned(const char *directory, RgInside inside, const char *name, double seconds);

/* List the entries of a directory (without . and ..), sorted. The caller frees the names with
   rg_names_free (base/text.h). */
PetscErrorCode rg_directory_list(const char *path, RgInside inside, int *n, char ***names,
                                 int *error);

/* Join two parts to `<a>/<b>`, a new string. */
PetscErrorCode rg_path_join(const char *a, const char *b, char **path);

/* Whether a results file can be written as `path`: the names of its companion files must fit, a
   symbolic link would be replaced, another format's ending would mislead. If not, the reason is
   appended to `mistake`. */
#define RG_PATH_MOST 3800
#define RG_NAME_MOST 253 /* leaves room for `.d` */
PetscErrorCode rg_file_check_output(const char *path, RgText *mistake);

/* Write `bytes` as the file `<directory>/<name>`: temporary file, fsync, close, rename, fsync of
   the directory. All results are written by this function. After a fault nothing remains, or the
   complete file. */
PetscErrorCode rg_file_commit(const char *directory, RgInside inside, const char *name,
                              const void *bytes, size_t length, RgFault *fault);

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

/* Find a data file that a stranger's text names, without opening anything: a path below the folder
   of `file` on which no link and no `..` stands (*beside is true), else the whole path without `..`
   or its last name in the folder of data sets. Only regular files are found. The result is
   appended to `found`, which stays empty if nothing is found. */
PetscErrorCode rg_data_find_beside(const char *file, const char *path, RgText *found, bool *beside);

#endif
