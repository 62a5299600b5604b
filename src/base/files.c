/* Files and directories: every step checked, and the crash-safe commit of a whole file. */
#include "base/files.h"
#include "base/grow.h"
#include "base/hash.h"

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

static const char *name_of(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

/* Size of the regular file `file`; -1 and a mistake for other files. */
static PetscErrorCode file_size(int file, size_t limit, ssize_t *size, RgText *mistake)
{
  struct stat info;

  *size = -1;
  if (file < 0 || fstat(file, &info))
    PetscCall(rg_text_add(mistake, "can't be opened: %s", strerror(errno)));
  else if (!S_ISREG(info.st_mode))
    PetscCall(rg_text_add(mistake, "is %s, not a file of text",
                          S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe"));
  else if ((size_t)info.st_size > limit)
    PetscCall(rg_text_add(mistake, "has %lld bytes, at most %zu are accepted",
                          (long long)info.st_size, limit));
  else *size = (ssize_t)info.st_size;
  return 0;
}

PetscErrorCode rg_file_read(const char *path, size_t limit, char **text, size_t *length,
                            RgText *mistake)
{
  return rg_file_read_open(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), limit, text, length,
                           mistake);
}

PetscErrorCode rg_file_read_open(int file, size_t limit, char **text, size_t *length,
                                 RgText *mistake)
{
  ssize_t size, got = 1;

  *text = NULL;
  *length = 0;
  PetscCall(file_size(file, limit, &size, mistake));
  if (size >= 0) PetscCall(PetscCalloc1((size_t)size + 1, text));
  while (got > 0 && (ssize_t)*length < size) {
    do got = read(file, *text + *length, (size_t)size - *length);
    while (got < 0 && errno == EINTR);
    if (got > 0) *length += (size_t)got;
  }
  if (got < 0) {
    PetscCall(rg_text_add(mistake, "can't be read: %s", strerror(errno)));
    PetscCall(PetscFree(*text));
    *length = 0;
  }
  if (file >= 0) close(file);
  return 0;
}

PetscErrorCode rg_file_hash(const char *path, char hex[33], RgText *mistake)
{
  char *bytes;
  size_t length;
  uint64_t hash[2];

  PetscCall(rg_file_read(path, 1u << 30, &bytes, &length, mistake));
  if (bytes) {
    rg_hash128(bytes, length, hash);
    rg_hash_hex(hash, hex);
  }
  return PetscFree(bytes);
}

const char *rg_data_folder(void)
{
  const char *folder = getenv("REGATTA_DATA");

  return folder && *folder ? folder : NULL;
}

PetscErrorCode rg_data_find(const char *path, RgText *found)
{
  const char *folder = rg_data_folder(), *places[] = {path, name_of(path)};

  if (access(path, F_OK) == 0) return rg_text_add(found, "%s", path);
  if (!folder || !*path || *path == '/') return 0;
  for (int i = 0; i < 2; i++) {
    PetscCall(rg_text_add(found, "%s/%s", folder, places[i]));
    if (access(found->data, F_OK) == 0) return 0;
    PetscCall(rg_text_clear(found));
  }
  return 0;
}

/* Whether a path stays below the folder that it begins in. */
static bool stays_below(const char *path)
{
  if (!*path || *path == '/') return false;
  for (const char *part = path; part; part = strchr(part, '/'), part += part ? 1 : 0)
    if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || !part[2])) return false;
  return true;
}

/* Whether path[from..] leads through folders to a regular file, and never through a link. */
static bool is_plain(char *path, size_t from)
{
  struct stat info;

  for (char *end = path + from; (end = strchr(end, '/')); end++) {
    *end = '\0';
    const bool folder = !lstat(path, &info) && S_ISDIR(info.st_mode);
    *end = '/';
    if (!folder) return false;
  }
  return !lstat(path, &info) && S_ISREG(info.st_mode);
}

PetscErrorCode rg_data_find_beside(const char *file, const char *path, RgText *found, bool *beside)
{
  const char *folder = rg_data_folder(), *places[] = {path, name_of(path)};
  const size_t from = (size_t)(name_of(file) - file);
  struct stat info;

  *beside = false;
  if (stays_below(path)) {
    PetscCall(rg_text_add(found, "%.*s%s", (int)from, file, path));
    *beside = is_plain(found->data, from);
    if (*beside) return 0;
    PetscCall(rg_text_clear(found));
  }
  for (int i = 0; folder && i < 2; i++) {
    if (!stays_below(places[i])) continue;
    PetscCall(rg_text_add(found, "%s/%s", folder, places[i]));
    if (!stat(found->data, &info) && S_ISREG(info.st_mode)) return 0;
    PetscCall(rg_text_clear(found));
  }
  return 0;
}

#define TEMPORARY_PREFIX ".tmp."

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
  if (gethostname(host, sizeof(host))) strcpy(host, "unknown");
  host[sizeof(host) - 1] = '\0';
  for (char *p = host; *p; p++)
    if (*p == '/') *p = '_';
  snprintf(place, RG_FILE_PLACE_MAX, "%.64s.%.16s", host, hex);
}

/* Create a temporary file in the open directory `at`. `path` gets `prefix` and its name. */
static int create_temporary(int at, const char *prefix, char *path, size_t size, int *error)
{
  char place[RG_FILE_PLACE_MAX];

  rg_file_place(place);
  for (int n = 0; n < 1000000; n++) {
    int length =
      snprintf(path, size, "%s" TEMPORARY_PREFIX "%s.%ld.%d", prefix, place, (long)getpid(), n);
    if (length < 0 || (size_t)length >= size) {
      *error = ENAMETOOLONG;
      return -1;
    }
    int fd = openat(at, path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
    if (errno != EEXIST && errno != EINTR) break;
  }
  *error = errno;
  return -1;
}

int rg_file_create_temporary(const char *directory, char *path, size_t size, int *error)
{
  char prefix[RG_PATH_MOST + 300];

  if (snprintf(prefix, sizeof(prefix), "%s/", directory) < (int)sizeof(prefix))
    return create_temporary(AT_FDCWD, prefix, path, size, error);
  *error = ENAMETOOLONG;
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

/* fsync of an open directory. */
static int sync_open(int fd)
{
  const int error = rg_file_sync(fd);

  return error == EINVAL || error == ENOTSUP || error == ENOSYS ? 0 : error;
}

int rg_directory_sync(const char *path)
{
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

  if (fd < 0) return errno;
  error = sync_open(fd);
  if (close(fd) && !error && errno != EINTR) error = errno;
  return error;
}

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
    if (lstat(path, &status)) return errno;
    return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  }
  parent_of(path, parent, sizeof(parent));
  return rg_directory_sync(parent);
}

/* ---- inside a study directory ---------------------------------------------------------------- */

/* Open a directory; -1 and errno. */
static int open_directory(const char *path, RgInside inside)
{
  enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
  char above[4096];
  int top, fd, error;

  if (inside != RG_FOLDER) return open(path, DIRECTORY | (inside == RG_TOP ? O_NOFOLLOW : 0));
  parent_of(path, above, sizeof(above));
  top = open(above, DIRECTORY | O_NOFOLLOW);
  if (top < 0) return -1;
  fd = openat(top, name_of(path), DIRECTORY | O_NOFOLLOW);
  error = errno;
  (void)close(top);
  errno = error;
  return fd;
}

/* Open the directory of a file; -1 and errno. */
static int open_parent(const char *path, RgInside inside)
{
  char parent[4096];

  parent_of(path, parent, sizeof(parent));
  return open_directory(parent, inside);
}

/* Close a directory after a call in it, which returned `result`. Returns 0 or the call's errno. */
static int leave(int directory, int result)
{
  const int error = result < 0 ? errno : 0;

  (void)close(directory); /* it was only read */
  errno = error;
  return error;
}

int rg_inside_open(const char *path, RgInside inside, int flags)
{
  const int directory = open_parent(path, inside);
  int fd = -1;

  if (directory < 0) return -1;
  do fd = openat(directory, name_of(path), flags | O_NOFOLLOW | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  (void)leave(directory, fd);
  return fd;
}

int rg_inside_stat(const char *path, RgInside inside, struct stat *status)
{
  const int directory = open_parent(path, inside);

  if (directory < 0) return errno;
  return leave(directory, fstatat(directory, name_of(path), status, AT_SYMLINK_NOFOLLOW));
}

int rg_inside_remove(const char *path, RgInside inside, bool folder)
{
  const int directory = open_parent(path, inside);

  if (directory < 0) return errno;
  return leave(directory, unlinkat(directory, name_of(path), folder ? AT_REMOVEDIR : 0));
}

int rg_inside_move(const char *path, RgInside inside, const char *to, RgInside inside_to)
{
  const int source = open_parent(path, inside);
  const int target = source < 0 ? -1 : open_parent(to, inside_to);
  int error = target < 0 ? errno : 0;

  if (!error && renameat(source, name_of(path), target, name_of(to))) error = errno;
  if (!error) error = sync_open(target); /* the new name first: one name survives a power loss */
  if (!error) error = sync_open(source);
  if (source >= 0) (void)close(source);
  if (target >= 0) (void)close(target);
  return error;
}

int rg_inside_sync(const char *path, RgInside inside)
{
  const int fd = open_directory(path, inside), error = fd < 0 ? errno : sync_open(fd);

  if (fd >= 0) (void)close(fd);
  return error;
}

int rg_inside_create(const char *folder)
{
  char directory[4096];
  int error, top;

  parent_of(folder, directory, sizeof(directory));
  error = rg_directory_create(directory);
  if (error) return error;
  top = open_directory(directory, RG_TOP);
  if (top < 0) return errno;
  error = leave(top, mkdirat(top, name_of(folder), 0777));
  if (!error) return rg_inside_sync(directory, RG_TOP);
  if (error != EEXIST) return error;
  top = open_directory(folder, RG_FOLDER); /* it may be a link */
  return top < 0 ? errno : leave(top, 0);
}

/* O_NONBLOCK: a pipe in place of a log must not block. */
int rg_file_append(const char *path, const void *bytes, size_t length)
{
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK;
  char folder[4096];
  int fd = rg_inside_open(path, RG_FOLDER, flags);

  if (fd < 0 && errno == ENOENT) {
    parent_of(path, folder, sizeof(folder));
    if (!rg_inside_create(folder)) fd = rg_inside_open(path, RG_FOLDER, flags);
  }
  if (fd < 0) return errno;
  const int error = rg_file_write(fd, bytes, length);
  const int closed = rg_file_close(fd);
  return error ? error : closed;
}

/* The age of a file in seconds by the clock of its file system, which differs from this host's on
   shared ones: the time of a new file beside it counts. Negative if it is not known. */
static double file_age(int directory, const struct stat *file)
{
  char path[RG_FILE_PLACE_MAX + 64];
  struct stat new;
  int error;
  const int fd = create_temporary(directory, "", path, sizeof(path), &error);

  if (fd < 0) return -1;
  error = fstat(fd, &new);
  (void)close(fd);
  (void)unlinkat(directory, path, 0);
  return error ? -1 : difftime(new.st_mtime, file->st_mtime);
}

bool rg_file_is_abandoned(const char *directory, RgInside inside, const char *name, double seconds)
{
  char here[RG_FILE_PLACE_MAX], place[RG_FILE_PLACE_MAX];
  struct stat about;
  long pid;

  if (!read_temporary(name, place, &pid)) return false;
  rg_file_place(here);
  const int fd = strcmp(here, place) ? open_directory(directory, inside) : -1;
  if (fd < 0) return false;
  const bool known = !fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW) && S_ISREG(about.st_mode);
  const bool old = known && file_age(fd, &about) > seconds;
  (void)close(fd);
  return old;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

PetscErrorCode rg_directory_list(const char *path, RgInside inside, int *n, char ***names,
                                 int *error)
{
  const int fd = open_directory(path, inside);
  DIR *stream = fd < 0 ? NULL : fdopendir(fd);
  struct dirent *entry;

  *n = 0;
  *names = NULL;
  *error = stream ? 0 : errno;
  if (fd >= 0 && !stream) (void)close(fd);
  if (!stream) return 0;
  while (errno = 0, (entry = readdir(stream))) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    PetscCall(RG_GROW(*n, *names));
    PetscCall(PetscStrallocpy(entry->d_name, &(*names)[(*n)++]));
  }
  *error = errno;
  closedir(stream);
  if (*n) qsort(*names, (size_t)*n, sizeof(**names), compare_names);
  return 0;
}

PetscErrorCode rg_path_join(const char *a, const char *b, char **path)
{
  size_t size = strlen(a) + strlen(b) + 2;

  PetscCall(PetscMalloc1(size, path));
  snprintf(*path, size, "%s/%s", a, b);
  return 0;
}

PetscErrorCode rg_file_check_output(const char *path, RgText *mistake)
{
  static const char *const endings[] = {".h5", ".hdf5", ".he5", ".nc"};
  const char *name = name_of(path), *ending = strrchr(name, '.');
  struct stat found;
  bool known = !ending;

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
  return 0;
}

/* Write a temporary file in an open directory, and give it its name. *step: the step that failed.
   */
static int commit_in(int directory, const char *name, const void *bytes, size_t length,
                     const char **step)
{
  char temporary[RG_FILE_PLACE_MAX + 64];
  int error = 0;
  const int fd = create_temporary(directory, "", temporary, sizeof(temporary), &error);

  *step = "create";
  if (fd < 0) return error;
  *step = "write";
  error = rg_file_write(fd, bytes, length);
  if (!error) {
    *step = "sync";
    error = rg_file_sync(fd);
  }
  const int closing = rg_file_close(fd);
  if (!error && closing) {
    *step = "close";
    error = closing;
  }
  if (!error && renameat(directory, temporary, directory, name)) {
    error = errno;
    *step = "rename";
  }
  if (error) (void)unlinkat(directory, temporary, 0);
  if (error) return error;
  *step = "sync the directory of"; /* the name exists, but a power loss could still remove it */
  return sync_open(directory);
}

PetscErrorCode rg_file_commit(const char *directory, RgInside inside, const char *name,
                              const void *bytes, size_t length, RgFault *fault)
{
  char path[PETSC_MAX_PATH_LEN];
  const char *step = "create";
  const int fd = open_directory(directory, inside);
  int error = fd < 0 ? errno : 0;

  snprintf(path, sizeof(path), "%s/%s", directory, name);
  if (fd >= 0) {
    error = commit_in(fd, name, bytes, length, &step);
    (void)close(fd); /* it was only read */
  }
  rg_fault_file(fault, path, step, error, directory, length);
  return 0;
}
