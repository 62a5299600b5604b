/* Files and directories: every step checked, and the crash-safe commit of a whole file. */
#include "base/files.h"
#include "base/grow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

#define TEMPORARY_PREFIX ".tmp."

static void host_name(char host[256])
{
  if (gethostname(host, 256)) strcpy(host, "unknown");
  host[255] = '\0';
  for (char *p = host; *p; p++)
    if (*p == '/') *p = '_';
}

/* A process id is only valid in one PID namespace of one running system, and two containers may
   share the host's name and the folder. So a place names all three. */
void rg_file_place(char place[RG_FILE_PLACE_MAX])
{
  char host[256], what[128] = "", hex[33];
  uint64_t hash[2];
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  size_t n = file ? fread(what, 1, 64, file) : 0;

  if (file) fclose(file);
  const ssize_t more = readlink("/proc/self/ns/pid", what + n, sizeof(what) - n);
  if (more > 0) n += (size_t)more;
  rg_hash128(what, n, hash);
  rg_hash_hex(hash, hex);
  host_name(host);
  snprintf(place, RG_FILE_PLACE_MAX, "%.64s.%.16s", host, hex);
}

int rg_file_create_temporary(const char *directory, char *path, size_t size, int *error)
{
  char place[RG_FILE_PLACE_MAX];

  rg_file_place(place);
  for (int n = 0; n < 1000000; n++) {
    int length =
      snprintf(path, size, "%s/" TEMPORARY_PREFIX "%s.%ld.%d", directory, place, (long)getpid(), n);
    if (length < 0 || (size_t)length >= size) {
      *error = ENAMETOOLONG;
      return -1;
    }
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
    if (errno != EEXIST && errno != EINTR) break;
  }
  *error = errno;
  return -1;
}

/* Cut the final number and its dot off a name; -1: the name does not end in a number. */
static long cut_number(char *name)
{
  char *dot = strrchr(name, '.'), *end;

  if (!dot || dot[1] < '0' || dot[1] > '9') return -1;
  const long number = strtol(dot + 1, &end, 10);
  if (*end) return -1;
  *dot = '\0';
  return number;
}

/* Read place and process from the name of a temporary file; false if the name is not ours. */
static bool read_temporary(const char *name, char place[RG_FILE_PLACE_MAX], long *pid)
{
  char rest[RG_FILE_PLACE_MAX + 64];
  const size_t prefix = strlen(TEMPORARY_PREFIX);

  if (strncmp(name, TEMPORARY_PREFIX, prefix) || strlen(name + prefix) >= sizeof(rest))
    return false;
  strcpy(rest, name + prefix);
  if (cut_number(rest) < 0) return false;
  *pid = cut_number(rest);
  const char *hash = strrchr(rest, '.');
  if (*pid <= 0 || !hash || strlen(rest) >= RG_FILE_PLACE_MAX) return false;
  if (strlen(hash + 1) != 16 || strspn(hash + 1, "0123456789abcdef") != 16) return false;
  strcpy(place, rest);
  return true;
}

bool rg_file_is_stale(const char *name)
{
  char here[RG_FILE_PLACE_MAX], place[RG_FILE_PLACE_MAX];
  long pid;

  if (!read_temporary(name, place, &pid)) return false;
  rg_file_place(here);
  return !strcmp(here, place) && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* The age of a file in seconds by the clock of its file system, which differs from this host's on
   shared ones: the time of a new file beside it counts. Negative if it is not known. */
static double file_age(const char *directory, const struct stat *file)
{
  char path[RG_PATH_MOST + 300];
  struct stat new;
  int error;
  const int fd = rg_file_create_temporary(directory, path, sizeof(path), &error);

  if (fd < 0) return -1;
  error = fstat(fd, &new);
  (void)close(fd);
  (void)unlink(path);
  return error ? -1 : difftime(new.st_mtime, file->st_mtime);
}

bool rg_file_is_forgotten(const char *directory, const char *name, double seconds)
{
  char here[RG_FILE_PLACE_MAX], place[RG_FILE_PLACE_MAX], *path;
  struct stat about;
  bool known;
  long pid;

  if (!read_temporary(name, place, &pid)) return false;
  rg_file_place(here);
  if (!strcmp(here, place) || rg_path_join(directory, name, &path)) return false;
  known = !lstat(path, &about) && S_ISREG(about.st_mode);
  return !PetscFree(path) && known && file_age(directory, &about) > seconds;
}

int rg_file_write(int fd, const void *bytes, size_t length)
{
  const char *from = bytes;

  while (length) {
    ssize_t n = write(fd, from, length < 1u << 30 ? length : 1u << 30);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ENOSPC; /* for a regular file, POSIX leaves no other reason */
    from += n;
    length -= (size_t)n;
  }
  return 0;
}

int rg_file_sync(int fd)
{
  int failed;

  do failed = fsync(fd);
  while (failed && errno == EINTR);
  return failed ? errno : 0;
}

int rg_file_close(int fd)
{
  /* Linux closes the descriptor in spite of EINTR. */
  return close(fd) && errno != EINTR ? errno : 0;
}

int rg_file_append(const char *path, const void *bytes, size_t length)
{
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  const char *end = strrchr(path, '/');
  int fd = open(path, flags, 0666);

  if (fd < 0 && errno == ENOENT && end) {
    char folder[4096];
    snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
    if (!mkdir(folder, 0777) || errno == EEXIST) fd = open(path, flags, 0666);
  }
  if (fd < 0) return errno;
  const int error = rg_file_write(fd, bytes, length);
  const int closed = rg_file_close(fd);
  return error ? error : closed;
}

int rg_directory_sync(const char *path)
{
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

  if (fd < 0) return errno;
  error = rg_file_sync(fd);
  if (error == EINVAL || error == ENOTSUP || error == ENOSYS) error = 0;
  if (close(fd) && !error && errno != EINTR) error = errno;
  return error;
}

/* The parent directory of a path. */
static void parent_of(const char *path, char *parent, size_t size)
{
  const char *slash = strrchr(path, '/');

  if (!slash) snprintf(parent, size, ".");
  else snprintf(parent, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int rg_directory_create(const char *path)
{
  struct stat status;
  char parent[4096];

  if (mkdir(path, 0777)) {
    if (errno != EEXIST) return errno;
    if (stat(path, &status)) return errno;
    return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  }
  parent_of(path, parent, sizeof(parent));
  return rg_directory_sync(parent);
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static PetscErrorCode read_names(DIR *stream, int *n, char ***names, int *error)
{
  struct dirent *entry;

  PetscFunctionBeginUser;
  while (errno = 0, (entry = readdir(stream))) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    PetscCall(RG_GROW(*n, *names));
    PetscCall(PetscStrallocpy(entry->d_name, &(*names)[*n]));
    (*n)++;
  }
  *error = errno;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_directory_list(const char *path, int *n, char ***names, int *error)
{
  DIR *stream = opendir(path);

  PetscFunctionBeginUser;
  *n = 0;
  *names = NULL;
  *error = stream ? 0 : errno;
  if (!stream) PetscFunctionReturn(0);
  PetscCall(read_names(stream, n, names, error));
  closedir(stream);
  if (*n) qsort(*names, (size_t)*n, sizeof(**names), compare_names);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_names_free(int n, char ***names)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) PetscCall(PetscFree((*names)[i]));
  PetscCall(PetscFree(*names));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_join(const char *a, const char *b, char **path)
{
  size_t size = strlen(a) + strlen(b) + 2;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(size, path));
  snprintf(*path, size, "%s/%s", a, b);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_file_check_output(const char *path, RgText *mistake)
{
  static const char *const endings[] = {".h5", ".hdf5", ".he5", ".nc"};
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *ending = strrchr(name, '.');
  struct stat found;
  bool known = !ending;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof(endings) / sizeof(*endings) && !known; i++)
    known = !strcmp(ending, endings[i]);
  if (!*name) PetscCall(rg_text_add(mistake, "'%.200s' names no file", path));
  else if (strlen(path) > RG_PATH_MOST)
    PetscCall(rg_text_add(mistake, "a path of %zu characters, at most %d are accepted",
                          strlen(path), RG_PATH_MOST));
  else if (strlen(name) > RG_NAME_MOST)
    PetscCall(rg_text_add(mistake, "a file name of %zu bytes, at most %d are accepted",
                          strlen(name), RG_NAME_MOST));
  else if (!lstat(path, &found) && S_ISLNK(found.st_mode))
    PetscCall(rg_text_add(mistake, "%.400s is a symbolic link: name the file it leads to", path));
  else if (!known)
    PetscCall(rg_text_add(mistake, "%.400s is written as HDF5: its name must end in .h5", path));
  PetscFunctionReturn(0);
}

/* Write, fsync and close; *step names the step that failed. */
static int fill(int fd, const void *bytes, size_t length, const char **step)
{
  int error, closing;

  *step = "write";
  error = rg_file_write(fd, bytes, length);
  if (!error) {
    *step = "sync";
    error = rg_file_sync(fd);
  }
  closing = rg_file_close(fd);
  if (error || !closing) return error;
  *step = "close";
  return closing;
}

PetscErrorCode rg_file_commit(const char *directory, const char *name, const void *bytes,
                              size_t length, RgFault *fault)
{
  char temporary[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN];
  const char *step = "create";
  int fd, error = 0;

  PetscFunctionBeginUser;
  snprintf(path, sizeof(path), "%s/%s", directory, name);
  fd = rg_file_create_temporary(directory, temporary, sizeof(temporary), &error);
  if (fd >= 0) error = fill(fd, bytes, length, &step);
  if (fd >= 0 && !error && rename(temporary, path)) {
    error = errno;
    step = "rename";
  }
  if (error && fd >= 0) (void)unlink(temporary);
  if (!error) { /* the name exists, but a power loss could still remove it */
    error = rg_directory_sync(directory);
    step = "sync the directory of";
  }
  rg_fault_file(fault, path, step, error, directory, length);
  PetscFunctionReturn(0);
}
