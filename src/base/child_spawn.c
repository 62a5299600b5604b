/* Start of a child process: its pipes, its process group, its environment. */
#include "base/child_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef __APPLE__
extern char **environ;
#endif

enum { IN, OUT, ERR, REPORT, N_PIPES }; /* REPORT: pipe for the errno of a failed start */
enum { FIRST_FREE = 10 };               /* the program's own descriptors are below this number */

/* ---- before the fork ------------------------------------------------------------------------- */

/* A pipe that closes when a program is started; its descriptors avoid the standard streams. */
static int open_pipe(int ends[2])
{
  int low[2], error = 0;

  if (pipe(low)) return errno;
  for (int i = 0; i < 2; i++) {
    ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FIRST_FREE);
    if (ends[i] < 0 && !error) error = errno;
    close(low[i]);
  }
  return error;
}

static void close_pipes(int pipes[N_PIPES][2])
{
  for (int i = 0; i < 2 * N_PIPES; i++)
    if (pipes[i / 2][i % 2] >= 0) close(pipes[i / 2][i % 2]);
}

/* The environment without the variables of MPI launchers: with them, a program that uses MPI
   would consider itself a rank. *threads: OMP_NUM_THREADS is not set. */
static PetscErrorCode copy_environment(char ***copy)
{
  static const char *const launchers[] = {
    "OMPI_", "PMIX_",     "PMI_",       "PRTE_",        "HYDI_",
    "PALS_", "MPI_LOCAL", "SLURM_STEP", "SLURM_PROCID", "SLURM_NODELIST"};
  size_t n = 0;
  bool threads = false;

  PetscFunctionBeginUser;
  while (environ[n]) n++;
  PetscCall(PetscMalloc1(n + 2, copy));
  n = 0;
  for (char **variable = environ; *variable; variable++) {
    bool launcher = false;
    for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers) && !launcher; i++)
      launcher = !strncmp(*variable, launchers[i], strlen(launchers[i]));
    if (launcher) continue;
    threads = threads || !strncmp(*variable, "OMP_NUM_THREADS=", 16);
    (*copy)[n++] = *variable;
  }
  if (!threads) (*copy)[n++] = (char *)(uintptr_t) "OMP_NUM_THREADS=1";
  (*copy)[n] = NULL;
  PetscFunctionReturn(0);
}

/* ---- in the child: system calls only --------------------------------------------------------- */

static void close_from(int first)
{
#if defined(__linux__) && defined(SYS_close_range)
  if (!syscall(SYS_close_range, (unsigned)first, ~0u, 0u)) return;
#endif
  for (int fd = first; fd < 4096; fd++) close(fd);
}

/* Arrange to die with the parent. False if the parent is dead already. */
static bool follow(pid_t parent)
{
#ifdef __linux__
  if (prctl(PR_SET_PDEATHSIG, SIGKILL)) return false;
#endif
  return getppid() == parent;
}

static void become(char *const *words, char **environment, int pipes[N_PIPES][2], pid_t parent)
{
  sigset_t none;
  int error;

  (void)setpgid(0, 0);
  if (!follow(parent)) _exit(127);
  if (dup2(pipes[IN][0], 0) < 0 || dup2(pipes[OUT][1], 1) < 0 || dup2(pipes[ERR][1], 2) < 0 ||
      dup2(pipes[REPORT][1], 3) < 0 || fcntl(3, F_SETFD, FD_CLOEXEC) < 0)
    _exit(127);
  close_from(4);
  for (int number = 1; number < 32; number++)
    if (number != SIGKILL && number != SIGSTOP) (void)signal(number, SIG_DFL);
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  environ = environment;
  execvp(words[0], words);
  error = errno;
  if (write(3, &error, sizeof(error)) < 0) _exit(126);
  _exit(127);
}

/* ---- in the rank ----------------------------------------------------------------------------- */

/* Wait for the start: 0 if the program has started, else the errno. */
static int hear_report(int fd)
{
  int error = 0;
  ssize_t n;

  do n = read(fd, &error, sizeof(error));
  while (n < 0 && errno == EINTR);
  return n == (ssize_t)sizeof(error) ? error : 0;
}

static void take_end(int pipes[N_PIPES][2], int pipe, int end, int *fd)
{
  *fd = pipes[pipe][end];
  pipes[pipe][end] = -1;
  (void)fcntl(*fd, F_SETFL, O_NONBLOCK);
}

PetscErrorCode rg_child_spawn(const char *const *words, pid_t *pid, int *in, int *out, int *err,
                              int *error)
{
  int pipes[N_PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  char **environment;
  pid_t parent = getpid();

  PetscFunctionBeginUser;
  *error = 0;
  PetscCall(copy_environment(&environment));
  for (int i = 0; i < N_PIPES && !*error; i++) *error = open_pipe(pipes[i]);
  *pid = *error ? -1 : fork();
  if (*pid == 0) become((char *const *)(uintptr_t)words, environment, pipes, parent);
  if (*pid < 0 && !*error) *error = errno;
  if (*pid > 0) {
    (void)setpgid(*pid, *pid);
    close(pipes[REPORT][1]);
    pipes[REPORT][1] = -1;
    *error = hear_report(pipes[REPORT][0]);
    if (*error) (void)waitpid(*pid, NULL, 0);
  }
  if (!*error) {
    take_end(pipes, IN, 1, in);
    take_end(pipes, OUT, 0, out);
    take_end(pipes, ERR, 0, err);
  }
  close_pipes(pipes);
  PetscCall(PetscFree(environment));
  PetscFunctionReturn(0);
}

ssize_t rg_child_write(int fd, const char *bytes, size_t length)
{
  sigset_t only, before, pending, raised;
  ssize_t n;
  int error, number;

  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &only, &before);
  n = write(fd, bytes, length);
  error = errno;
  sigpending(&raised);
  if (sigismember(&raised, SIGPIPE) && !sigismember(&pending, SIGPIPE))
    (void)sigwait(&only, &number);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return n;
}
