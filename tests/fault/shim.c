/* A preloaded library that makes the k-th file call below a directory go wrong.

   Counted are calls whose path, or whose file descriptor's path, begins with the prefix. The action
   at call k:
     die      SIGKILL before the call
     torn     a write writes half, then SIGKILL; other calls as die
     lost     power loss: SIGKILL, and everything that was not made durable is undone: data without
              fsync, names (create, rename, unlink, mkdir, rmdir) without fsync of their directory
     zeroed   power loss: SIGKILL, names survive, data without fsync does not
     ENOSPC, EDQUOT, EIO   the call fails with this error; a close closes nevertheless
     short    a write writes half
   and, with `for ever`, at every later call too (reads fail only with EIO, and only writing calls with
   the others). fsync is counted, but not passed on: nobody pulls the plug of the machine. Besides, fsync
   or renameat2 can wait for an event (REGATTA_FAULT_HOLD names one of them; it waits until the file
   REGATTA_FAULT_UNTIL exists, or the test has ended).

   Settings: REGATTA_FAULT_PREFIX, REGATTA_FAULT_CALL (from 1; 0: count only), REGATTA_FAULT_ACTION,
   REGATTA_FAULT_FOREVER (1), REGATTA_FAULT_COUNT (a file that gets the number of calls at exit); or
   rg_fault_arm from a program that finds it by dlsym. One thread. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 1024, JOURNAL = 65536 };

typedef enum { READS, WRITES, NAMES, OPENS } Kind;
typedef enum { NONE, DIE, TORN, LOST, ZEROED, FAIL, SHORT } Action;
typedef enum { CREATED, RENAMED, EXCHANGED, UNLINKED, MADE, REMOVED } Change;

/* A change of a name that a power loss would undo. `grave`: where the old file is kept. */
typedef struct {
  Change change;
  char *from, *to, *grave;
  bool durable;
} Entry;

static struct {
  char prefix[PATH_MAX];
  long call, count;
  pid_t process; /* pid that was armed; children that only look at files are left alone */
  Action action;
  int error;
  bool forever, fired;
  char *path[FILES]; /* path of a descriptor; NULL: outside the prefix */
  bool writing[FILES];
  char *dirty[FILES];   /* paths with data that are not durable */
  off_t durable[FILES]; /* length of such a file when all of it was durable */
  Entry journal[JOURNAL];
  int n_journal, n_graves;
} fault;

int rg_fault_arm(const char *prefix, long call, const char *action, int forever);
long rg_fault_count(void);

#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))
#define REAL_OPENAT REAL("openat", int (*)(int, const char *, int, ...))
#define REAL_WRITE REAL("write", ssize_t (*)(int, const void *, size_t))
#define REAL_PWRITE REAL("pwrite", ssize_t (*)(int, const void *, size_t, off_t))
#define REAL_CLOSE REAL("close", int (*)(int))
#define REAL_RENAME REAL("rename", int (*)(const char *, const char *))
#define REAL_RENAMEAT REAL("renameat", int (*)(int, const char *, int, const char *))
#define REAL_RENAMEAT2 REAL("renameat2", int (*)(int, const char *, int, const char *, unsigned))
#define REAL_UNLINK REAL("unlink", int (*)(const char *))
#define REAL_UNLINKAT REAL("unlinkat", int (*)(int, const char *, int))
#define REAL_MKDIR REAL("mkdir", int (*)(const char *, mode_t))
#define REAL_MKDIRAT REAL("mkdirat", int (*)(int, const char *, mode_t))
#define REAL_RMDIR REAL("rmdir", int (*)(const char *))

int rg_fault_arm(const char *prefix, long call, const char *action, int forever)
{
  static const struct {
    const char *name;
    Action action;
    int error;
  } actions[] = {{"none", NONE, 0},        {"die", DIE, 0},          {"torn", TORN, 0},
                 {"lost", LOST, 0},        {"zeroed", ZEROED, 0},    {"short", SHORT, 0},
                 {"ENOSPC", FAIL, ENOSPC}, {"EDQUOT", FAIL, EDQUOT}, {"EIO", FAIL, EIO}};

  snprintf(fault.prefix, sizeof(fault.prefix), "%s", prefix);
  fault.call = call;
  fault.process = getpid();
  fault.count = 0;
  fault.forever = forever;
  fault.fired = false;
  for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
    if (strcmp(action, actions[i].name)) continue;
    fault.action = actions[i].action;
    fault.error = actions[i].error;
    return 0;
  }
  return -1;
}

long rg_fault_count(void)
{
  return fault.count;
}

__attribute__((constructor)) static void begin(void)
{
  const char *prefix = getenv("REGATTA_FAULT_PREFIX"), *call = getenv("REGATTA_FAULT_CALL");
  const char *action = getenv("REGATTA_FAULT_ACTION"), *forever = getenv("REGATTA_FAULT_FOREVER");

  if (!prefix) return;
  if (rg_fault_arm(prefix, call ? atol(call) : 0, action ? action : "none",
                   forever && atoi(forever))) {
    fprintf(stderr, "fault shim: unknown action %s\n", action);
    _exit(99);
  }
}

__attribute__((destructor)) static void end(void)
{
  const char *path = getenv("REGATTA_FAULT_COUNT");
  FILE *file = path && fault.count ? fopen(path, "w") : NULL; /* helper processes write no count */

  if (!file) return;
  fprintf(file, "%ld\n", fault.count);
  fclose(file);
}

/* ---- power loss ------------------------------------------------------------------------------ */

/* Notes a file before it is written. */
static void mark_dirty(const char *path)
{
  for (int i = 0; i < FILES; i++)
    if (fault.dirty[i] && !strcmp(fault.dirty[i], path)) return;
  for (int i = 0; i < FILES; i++)
    if (!fault.dirty[i]) {
      struct stat status;
      fault.dirty[i] = strdup(path);
      fault.durable[i] = lstat(path, &status) ? 0 : status.st_size;
      return;
    }
}

static void mark_clean(const char *path)
{
  for (int i = 0; i < FILES; i++)
    if (fault.dirty[i] && !strcmp(fault.dirty[i], path)) {
      free(fault.dirty[i]);
      fault.dirty[i] = NULL;
    }
}

static void follow_rename(const char *from, const char *to)
{
  mark_clean(to);
  for (int i = 0; i < FILES; i++) {
    if (fault.dirty[i] && !strcmp(fault.dirty[i], from)) {
      free(fault.dirty[i]);
      fault.dirty[i] = strdup(to);
    }
    if (fault.path[i] && !strcmp(fault.path[i], from)) {
      free(fault.path[i]);
      fault.path[i] = strdup(to);
    }
  }
}

static bool stands_in(const char *path, const char *directory)
{
  const char *slash = strrchr(path, '/');
  size_t length = strlen(directory);

  return slash && (size_t)(slash - path) == length && !strncmp(path, directory, length);
}

static void make_durable(const char *directory)
{
  for (int i = 0; i < fault.n_journal; i++) {
    Entry *entry = &fault.journal[i];
    if (stands_in(entry->to, directory)) entry->durable = true;
  }
}

static void note(Change change, const char *from, const char *to, char *grave)
{
  if (fault.n_journal < JOURNAL)
    fault.journal[fault.n_journal++] =
      (Entry){change, from ? strdup(from) : NULL, strdup(to), grave, false};
}

/* Makes a second name for a file that is about to lose its only one; NULL if it does not exist. */
static char *bury(const char *path)
{
  char grave[PATH_MAX];
  struct stat status;

  if (fault.action != LOST || lstat(path, &status) || !S_ISREG(status.st_mode)) return NULL;
  snprintf(grave, sizeof(grave), "%.4000s.grave.%ld.%d", fault.prefix, (long)getpid(),
           fault.n_graves++);
  return link(path, grave) ? NULL : strdup(grave);
}

static void undo(const Entry *entry)
{
  switch (entry->change) {
  case CREATED: REAL_UNLINK(entry->to); break;
  case RENAMED: REAL_RENAME(entry->to, entry->from); break;
  case MADE: REAL_RMDIR(entry->to); break;
  case REMOVED: REAL_MKDIR(entry->to, 0777); break;
  case EXCHANGED:
    REAL_RENAMEAT2(AT_FDCWD, entry->from, AT_FDCWD, entry->to, RENAME_EXCHANGE);
    break;
  case UNLINKED: break;
  }
  if (entry->grave) REAL_RENAME(entry->grave, entry->to);
}

static void lose_power(void)
{
  for (int i = 0; i < FILES; i++)
    if (fault.dirty[i]) (void)!truncate(fault.dirty[i], fault.durable[i]);
  for (int i = fault.n_journal - 1; i >= 0; i--) {
    if (!fault.journal[i].durable && fault.action == LOST) undo(&fault.journal[i]);
    if (fault.journal[i].durable && fault.journal[i].grave) REAL_UNLINK(fault.journal[i].grave);
  }
}

__attribute__((destructor)) static void empty_graves(void)
{
  for (int i = 0; i < fault.n_journal; i++)
    if (fault.journal[i].grave) REAL_UNLINK(fault.journal[i].grave);
}

/* ---- the decision ---------------------------------------------------------------------------- */

static bool is_ours(const char *path)
{
  return fault.prefix[0] && getpid() == fault.process && path &&
         !strncmp(path, fault.prefix, strlen(fault.prefix)) && !strstr(path, ".grave.");
}

static const char *path_of(int fd)
{
  return fd >= 0 && fd < FILES && getpid() == fault.process ? fault.path[fd] : NULL;
}

/* Counts a call. Returns true if the call must fail; errno is set. *half: a write writes half of
   its bytes. */
static bool strike(Kind kind, bool *half)
{
  *half = false;
  const bool now = ++fault.count == fault.call;
  if (!fault.call || fault.action == NONE) return false;
  if (!now && !(fault.forever && fault.fired)) return false;
  fault.fired = true;
  switch (fault.action) {
  case TORN:
    if (kind == WRITES) {
      *half = true;
      return false;
    }
    raise(SIGKILL);
    break;
  case LOST:
  case ZEROED: lose_power(); /* fall through */
  case DIE: raise(SIGKILL); break;
  case SHORT: *half = kind == WRITES; return false;
  case FAIL:
    if (fault.error != EIO && (kind == READS)) return false;
    errno = fault.error;
    return true;
  default: break;
  }
  return false;
}

static bool strikes(Kind kind)
{
  bool half;

  return strike(kind, &half);
}

static void wait_at(const char *call)
{
  const char *hold = getenv("REGATTA_FAULT_HOLD"), *until = getenv("REGATTA_FAULT_UNTIL");
  const struct timespec pause = {.tv_nsec = 10000000};

  if (!hold || !until || strcmp(hold, call)) return;
  const pid_t test = getppid();
  while (access(until, F_OK) && getppid() == test) nanosleep(&pause, NULL);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The path of a name in an open directory, which may itself be outside the prefix. */
static const char *path_at(int directory, const char *name, char path[PATH_MAX])
{
  char link[64], folder[3000] = "";

  if (directory == AT_FDCWD || name[0] == '/') return name;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
  if (readlink(link, folder, sizeof(folder) - 1) < 0) return name;
  snprintf(path, PATH_MAX, "%s/%.1000s", folder, name);
  return path;
}

static int open_file(int directory, const char *name, int flags, mode_t mode)
{
  char room[PATH_MAX];
  const char *path = path_at(directory, name, room);
  bool creates = flags & O_CREAT;
  struct stat status;
  int fd;

  if (!is_ours(path)) return REAL_OPENAT(directory, name, flags, mode);
  if (strikes(creates ? OPENS : READS)) return -1;
  if (creates && !lstat(path, &status)) creates = false;
  fd = REAL_OPENAT(directory, name, flags, mode);
  if (fd >= 0 && fd < FILES) {
    fault.path[fd] = strdup(path);
    fault.writing[fd] = (flags & O_ACCMODE) != O_RDONLY;
    if (creates) note(CREATED, NULL, path, NULL);
  }
  return fd;
}

#define WITH_MODE(flags, mode)                                                                     \
  mode_t mode = 0;                                                                                 \
  va_list arguments;                                                                               \
  va_start(arguments, flags);                                                                      \
  if (flags & O_CREAT) mode = (mode_t)va_arg(arguments, int);                                      \
  va_end(arguments)

int open(const char *path, int flags, ...)
{
  WITH_MODE(flags, mode);
  return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
  WITH_MODE(flags, mode);
  return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
  WITH_MODE(flags, mode);
  return open_file(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
  WITH_MODE(flags, mode);
  return open_file(directory, path, flags, mode);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
  return open_file(AT_FDCWD, path, flags, 0);
}

int __openat_2(int directory, const char *path, int flags);
int __openat_2(int directory, const char *path, int flags)
{
  return open_file(directory, path, flags, 0);
}

ssize_t read(int fd, void *to, size_t size)
{
  if (path_of(fd) && strikes(READS)) return -1;
  return REAL("read", ssize_t(*)(int, void *, size_t))(fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
  if (path_of(fd) && strikes(READS)) return -1;
  return REAL("pread", ssize_t(*)(int, void *, size_t, off_t))(fd, to, size, offset);
}

static void die_if_torn(void)
{
  if (fault.action == TORN && fault.fired) raise(SIGKILL);
}

ssize_t write(int fd, const void *from, size_t size)
{
  bool half = false;
  ssize_t n;

  if (!path_of(fd)) return REAL_WRITE(fd, from, size);
  if (strike(WRITES, &half)) return -1;
  mark_dirty(path_of(fd));
  n = REAL_WRITE(fd, from, half && size > 1 ? size / 2 : size);
  die_if_torn();
  return n;
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
  bool half = false;
  ssize_t n;

  if (!path_of(fd)) return REAL_PWRITE(fd, from, size, offset);
  if (strike(WRITES, &half)) return -1;
  mark_dirty(path_of(fd));
  n = REAL_PWRITE(fd, from, half && size > 1 ? size / 2 : size, offset);
  die_if_torn();
  return n;
}

int fsync(int fd)
{
  struct stat status;

  if (!path_of(fd)) return REAL("fsync", int (*)(int))(fd);
  if (strikes(WRITES)) return -1;
  wait_at("fsync");
  if (!fstat(fd, &status) && S_ISDIR(status.st_mode)) make_durable(path_of(fd));
  else mark_clean(path_of(fd));
  return 0;
}

int ftruncate(int fd, off_t length)
{
  if (path_of(fd)) {
    if (strikes(WRITES)) return -1;
    mark_dirty(path_of(fd));
  }
  return REAL("ftruncate", int (*)(int, off_t))(fd, length);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
  if (path_of(fd)) {
    if (strikes(WRITES)) return errno;
    mark_dirty(path_of(fd));
  }
  return REAL("posix_fallocate", int (*)(int, off_t, off_t))(fd, offset, length);
}

int close(int fd)
{
  bool fails = false;
  int error = 0;

  if (path_of(fd)) {
    fails = strikes(fault.writing[fd] ? WRITES : READS);
    error = errno;
    free(fault.path[fd]);
    fault.path[fd] = NULL;
  }
  int result = REAL_CLOSE(fd);
  if (!fails) return result;
  errno = error;
  return -1;
}

int rename(const char *from, const char *to)
{
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_directory, const char *from_name, int to_directory, const char *to_name)
{
  char rooms[2][PATH_MAX];
  const char *from = path_at(from_directory, from_name, rooms[0]);
  const char *to = path_at(to_directory, to_name, rooms[1]);
  char *grave;
  int result;

  if (!is_ours(from)) return REAL_RENAMEAT(from_directory, from_name, to_directory, to_name);
  if (strikes(NAMES)) return -1;
  grave = bury(to);
  result = REAL_RENAMEAT(from_directory, from_name, to_directory, to_name);
  if (result) return result;
  note(RENAMED, from, to, grave);
  follow_rename(from, to);
  return 0;
}

/* Paths are absolute here, or relative to the working directory. */
int renameat2(int from_directory, const char *from, int to_directory, const char *to,
              unsigned flags)
{
  int result;

  if (!is_ours(from)) return REAL_RENAMEAT2(from_directory, from, to_directory, to, flags);
  if (strikes(NAMES)) return -1;
  wait_at("renameat2");
  result = REAL_RENAMEAT2(from_directory, from, to_directory, to, flags);
  if (result) return result;
  note(flags & RENAME_EXCHANGE ? EXCHANGED : RENAMED, from, to, NULL);
  if (!(flags & RENAME_EXCHANGE)) follow_rename(from, to);
  return 0;
}

int unlinkat(int directory, const char *name, int flags)
{
  char room[PATH_MAX];
  const char *path = path_at(directory, name, room);
  char *grave;
  int result;

  if (!is_ours(path)) return REAL_UNLINKAT(directory, name, flags);
  if (strikes(NAMES)) return -1;
  grave = flags & AT_REMOVEDIR ? NULL : bury(path);
  result = REAL_UNLINKAT(directory, name, flags);
  if (result) return result;
  note(flags & AT_REMOVEDIR ? REMOVED : UNLINKED, NULL, path, grave);
  if (!(flags & AT_REMOVEDIR)) mark_clean(path);
  return 0;
}

int unlink(const char *path)
{
  return unlinkat(AT_FDCWD, path, 0);
}

int mkdirat(int directory, const char *name, mode_t mode)
{
  char room[PATH_MAX];
  const char *path = path_at(directory, name, room);

  if (is_ours(path) && strikes(NAMES)) return -1;
  int result = REAL_MKDIRAT(directory, name, mode);
  if (is_ours(path) && !result) note(MADE, NULL, path, NULL);
  return result;
}

int mkdir(const char *path, mode_t mode)
{
  return mkdirat(AT_FDCWD, path, mode);
}

int rmdir(const char *path)
{
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

DIR *opendir(const char *path)
{
  if (is_ours(path) && strikes(READS)) return NULL;
  return REAL("opendir", DIR * (*)(const char *))(path);
}

int stat(const char *path, struct stat *status)
{
  if (is_ours(path) && strikes(READS)) return -1;
  return REAL("stat", int (*)(const char *, struct stat *))(path, status);
}

int access(const char *path, int mode)
{
  if (is_ours(path) && strikes(READS)) return -1;
  return REAL("access", int (*)(const char *, int))(path, mode);
}
