/* Subcommands that only read files run in child processes, because a damaged file may make HDF5
   crash, or read without end. */
#include "cli/shield.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

/* Shared memory for the child's output; NULL if the system has none. */
static FILE *create_output(void)
{
#ifdef MFD_CLOEXEC
  int fd = memfd_create("regatta", MFD_CLOEXEC);
  FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

  if (fd >= 0 && !file) close(fd);
  return file;
#else
  return NULL;
#endif
}

/* Copy the output of a child to a stream. */
static void copy_output(FILE *from, FILE *to)
{
  char block[4096];
  size_t n;

  rewind(from);
  while ((n = fread(block, 1, sizeof(block), from))) (void)fwrite(block, 1, n, to);
}

/* CPU seconds that a command may take, and bytes of its files per second more. It may take WAITS
   times as long by the clock, for a file system that is slow. */
enum { SECONDS = 120, BYTES_PER_SECOND = 1000000, WAITS = 5 };

/* Bytes of a file, or of the files in a directory; 0 if there is neither. */
static double bytes_of(const char *path)
{
  struct stat entry;
  struct dirent *found;
  double sum = 0;
  DIR *directory = opendir(path);

  if (!directory) return stat(path, &entry) ? 0 : (double)entry.st_size;
  while ((found = readdir(directory)))
    if (!fstatat(dirfd(directory), found->d_name, &entry, 0)) sum += (double)entry.st_size;
  closedir(directory);
  return sum;
}

/* Limit the time of this process: generous for any file that is read once from end to end. */
static void limit_time(const char *path)
{
  char shards[PATH_MAX];
  struct rlimit time;

  if (snprintf(shards, sizeof(shards), "%s.d", path) >= (int)sizeof(shards)) shards[0] = '\0';
  const double seconds = SECONDS + ceil((bytes_of(path) + bytes_of(shards)) / BYTES_PER_SECOND);
  (void)alarm((unsigned)fmin(WAITS * seconds, INT_MAX));
  if (getrlimit(RLIMIT_CPU, &time) || time.rlim_cur <= seconds) return;
  time.rlim_cur = (rlim_t)seconds;
  (void)setrlimit(RLIMIT_CPU, &time);
}

/* ---- lack of memory -------------------------------------------------------------------------- */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT};
enum { CRASHES = sizeof(crashes) / sizeof(crashes[0]) };
static struct sigaction others[CRASHES]; /* what other crashes do */

void rg_leave_without_memory(void)
{
  static const char line[] = "regatta: " RG_NO_MEMORY "\n";

  if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0) _exit(RG_EXIT_STORAGE);
  _exit(RG_EXIT_BAD_INPUT);
}

static void on_crash(int signal)
{
  if (errno == ENOMEM) rg_leave_without_memory();
  for (int i = 0; i < CRASHES; i++)
    if (crashes[i] == signal) (void)sigaction(signal, &others[i], NULL); /* it comes again */
}

#ifdef __GLIBC__
/* HDF5 1.10 calls exit(-1) where it can't register an object. */
static void on_exit_of_hdf5(int code, void *closure)
{
  if ((code & 0xff) == 0xff) rg_leave_without_memory();
}
#endif

void rg_watch_memory(void)
{
  static char room[1 << 16]; /* HDF5 may fill the stack, calling itself */
  const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
  struct sigaction own = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};

#ifdef __GLIBC__
  static bool watched;
  if (!watched) watched = !on_exit(on_exit_of_hdf5, NULL);
#endif
  (void)sigaltstack(&stack, NULL);
  for (int i = 0; i < CRASHES; i++) (void)sigaction(crashes[i], &own, &others[i]);
}

/* ---- the child ------------------------------------------------------------------------------- */

/* The child's main function; it must not finalise libraries of its parent. */
static void run_in_child(const RgCommand *command, const RgArguments *arguments,
                         const RgRegistry *registry, FILE *const printed[2], pid_t parent)
{
  int exit_code = RG_EXIT_OK;

  /* Without this, a child that reads without end would go on after its parent. */
#ifdef __linux__
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(RG_EXIT_INTERNAL);
  (void)dup2(fileno(printed[0]), STDOUT_FILENO);
  (void)dup2(fileno(printed[1]), STDERR_FILENO);
  /* Exit without a core file and without messages of other libraries' signal handlers. */
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGALRM};
  const struct rlimit none = {0};
  for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) (void)signal(fatal[i], SIG_DFL);
  (void)setrlimit(RLIMIT_CORE, &none);
  rg_watch_memory();
  limit_time(arguments->positional[0]);
  const PetscErrorCode error = command->run(arguments, registry, &exit_code);
  const bool memory = rg_is_short_of_memory(error);
  if (memory) rg_complain("%s: " RG_NO_MEMORY, arguments->positional[0]);
  else if (error) rg_complain("%s: internal error %d", arguments->positional[0], (int)error);
  if (error) exit_code = memory ? RG_EXIT_BAD_INPUT : RG_EXIT_INTERNAL;
  if (fflush(stdout) && !exit_code) exit_code = RG_EXIT_INTERNAL;
  _exit(exit_code);
}

/* Wait for a child, print what it has printed, and find its exit code. A child that was killed has
   read a file that makes HDF5 crash or hang. */
static void wait_for(pid_t child, const char *path, FILE *const printed[2], int *exit_code)
{
  int status;
  pid_t ended;

  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended == child && WIFEXITED(status)) {
    copy_output(printed[0], stdout);
    copy_output(printed[1], stderr);
    *exit_code = WEXITSTATUS(status);
    return;
  }
  const int end = ended == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (end == SIGALRM) rg_complain("%s can't be read: its file system does not answer", path);
  else if (end == SIGKILL) /* no file does that, but the system, where its memory is short */
    rg_complain("%s can't be read: its reader was killed, as where memory is short", path);
  else
    rg_complain("%s is damaged: HDF5 %s", path,
                end == SIGXCPU ? "reads it without end" : "can't read it");
  *exit_code = RG_EXIT_BAD_INPUT;
}

PetscErrorCode rg_shield_command(const RgCommand *command, const RgArguments *arguments,
                                 const RgRegistry *registry, int *exit_code)
{
  FILE *printed[2] = {create_output(), create_output()};
  const pid_t parent = getpid();
  pid_t child = -1;

  fflush(stdout);
  fflush(stderr);
  if (printed[0] && printed[1]) child = fork();
  if (child == 0) run_in_child(command, arguments, registry, printed, parent);
  if (child > 0) wait_for(child, arguments->positional[0], printed, exit_code);
  else PetscCall(command->run(arguments, registry, exit_code));
  for (int i = 0; i < 2; i++)
    if (printed[i]) fclose(printed[i]);
  return 0;
}
