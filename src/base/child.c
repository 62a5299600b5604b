/* Child processes that answer line by line: start, end and conversation. */
#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/text.h"
#include "regatta/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH_MAX = 16 };

/* CPU time of children that have ended and were waited for. */
static double ended_seconds(pid_t pid)
{
  char path[64], line[1024];
  unsigned long user = 0, system = 0;
  int found = 0;

  snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fgets(line, sizeof(line), file)) {
    const char *rest = strrchr(line, ')'); /* the program name before it may contain anything */
    if (rest)
      found = sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu",
                     &user, &system);
  }
  fclose(file);
  return found == 2 ? (double)(user + system) / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* CPU seconds so far of a process and its descendants; without /proc only of the process. */
static double tree_seconds(pid_t pid, int depth)
{
  double sum = ended_seconds(pid);
  char path[320];
  long child;

#ifdef RG_HAVE_CLOCK_GETCPUCLOCKID
  clockid_t id;
  struct timespec used;
  if (!clock_getcpuclockid(pid, &id) && !clock_gettime(id, &used))
    sum += (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
#endif
  snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
  DIR *threads = depth < DEPTH_MAX ? opendir(path) : NULL;
  if (!threads) return sum;
  for (const struct dirent *entry; (entry = readdir(threads));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "/proc/%ld/task/%s/children", (long)pid, entry->d_name);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%ld", &child) == 1) sum += tree_seconds((pid_t)child, depth + 1);
    if (file) fclose(file);
  }
  closedir(threads);
  return sum;
}

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

/* The environment without the variables of MPI launchers: with them, a program that uses MPI
   would consider itself a rank. OMP_NUM_THREADS is 1 if it is not set. */
static PetscErrorCode copy_environment(char ***copy)
{
  static const char *const launchers[] = {
    "OMPI_", "PMIX_",     "PMI_",       "PRTE_",        "HYDI_",
    "PALS_", "MPI_LOCAL", "SLURM_STEP", "SLURM_PROCID", "SLURM_NODELIST"};
  size_t n = 0;
  bool threads = false;

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
  return 0;
}

/* ---- in the child: system calls only --------------------------------------------------------- */

static void close_from(int first)
{
#if defined(__linux__) && defined(SYS_close_range)
  if (!syscall(SYS_close_range, (unsigned)first, ~0u, 0u)) return;
#endif
  for (int fd = first; fd < 4096; fd++) close(fd);
}

/* Become the program that the words name. */
static void become(char *const *words, char **environment, int pipes[N_PIPES][2], pid_t parent)
{
  sigset_t none;
  int error;

  (void)setpgid(0, 0);
#ifdef __linux__
  if (prctl(PR_SET_PDEATHSIG, SIGKILL)) _exit(127); /* it dies with the parent */
#endif
  if (getppid() != parent) _exit(127); /* which is dead already */
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
static int read_report(int fd)
{
  int error = 0;
  ssize_t n;

  do n = read(fd, &error, sizeof(error));
  while (n < 0 && errno == EINTR);
  return n == (ssize_t)sizeof(error) ? error : 0;
}

static void move_end(int pipes[N_PIPES][2], int pipe, int end, int *fd)
{
  *fd = pipes[pipe][end];
  pipes[pipe][end] = -1;
  (void)fcntl(*fd, F_SETFL, O_NONBLOCK);
}

/* Start a program in its own process group. in, out, err: our non-blocking ends of its standard
   streams. *error: errno of the step that failed, or 0. */
static PetscErrorCode child_spawn(const char *const *words, pid_t *pid, int *in, int *out, int *err,
                                  int *error)
{
  int pipes[N_PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  char **environment;
  pid_t parent = getpid();

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
    *error = read_report(pipes[REPORT][0]);
    if (*error) (void)waitpid(*pid, NULL, 0);
  }
  if (!*error) {
    move_end(pipes, IN, 1, in);
    move_end(pipes, OUT, 0, out);
    move_end(pipes, ERR, 0, err);
  }
  for (int i = 0; i < 2 * N_PIPES; i++)
    if (pipes[i / 2][i % 2] >= 0) close(pipes[i / 2][i % 2]);
  return PetscFree(environment);
}

struct RgChild {
  int64_t asked;
  double cpu; /* CPU seconds accounted so far */
  int n_words;
  char **words; /* of its command line; owned */
  pid_t pid;
  int in, out, err;    /* our ends of its standard streams; -1: closed */
  char *log;           /* file for its standard error; NULL: ours; owned */
  RgText request;      /* the line that it was sent; owned */
  size_t sent;         /* bytes of the request that the pipe took */
  double limit, until; /* time limit of the current question, seconds; rg_wall_seconds at its end */
  bool over;           /* its output has ended */
  size_t n;            /* bytes read and not used yet */
  size_t seen;         /* how many of the n bytes are known to have no newline */
  size_t used;         /* length of the last answer in `buffer`, with its newline */
  char buffer[RG_CHILD_LINE_MAX + 1];
  char last[160], tail[160]; /* last complete line of standard error; the incomplete line */
  size_t n_tail;
  RgText errors; /* standard error since the last question, or its end; owned */
};

static const double check_every = 0.05; /* seconds between two calls of `stop` */

/* ---- start and end --------------------------------------------------------------------------- */

bool rg_child_is(const RgChild *child, const char *const *words)
{
  int i = 0;

  while (i < child->n_words && words[i] && !strcmp(child->words[i], words[i])) i++;
  return i == child->n_words && !words[i];
}

PetscErrorCode rg_child_log(RgChild *child, const char *path)
{
  if (path && child->log && !strcmp(path, child->log)) return 0;
  PetscCall(PetscFree(child->log));
  if (path) PetscCall(PetscStrallocpy(path, &child->log));
  return 0;
}

int64_t rg_child_count(const RgChild *child)
{
  return child->asked;
}

PetscErrorCode rg_child_start(const char *const *words, RgChild **child, RgText *mistake)
{
  RgChild *new;
  int error;

  *child = NULL;
  PetscCall(PetscNew(&new));
  while (words[new->n_words]) new->n_words++;
  PetscCall(rg_names_copy(new->n_words, words, &new->words));
  PetscCall(child_spawn(words, &new->pid, &new->in, &new->out, &new->err, &error));
  if (error) {
    PetscCall(rg_text_add(mistake, "can't be started: %s", strerror(error)));
    PetscCall(rg_names_free(new->n_words, &new->words));
    return PetscFree(new);
  }
  *child = new;
  return 0;
}

static void close_end(int *fd)
{
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Wait up to `seconds` for the program to end, without reaping it. */
static bool has_ended(pid_t pid, double seconds)
{
  const double until = rg_wall_seconds() + seconds;

  for (;;) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && errno != EINTR) return true;
    if (info.si_pid == pid) return true;
    if (rg_wall_seconds() >= until) return false;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
}

/* A grandchild that nobody waited for takes its CPU time along when it ends, so the total can
   fall. The difference is never less than 0. */
double rg_child_cpu_seconds(RgChild *child)
{
  const double now = tree_seconds(child->pid, 0), used = PetscMax(now - child->cpu, 0.0);

  child->cpu = PetscMax(child->cpu, now);
  return used;
}

double rg_child_peak_memory(const RgChild *child)
{
  char path[64], line[256];
  long kibibytes = 0;

  snprintf(path, sizeof(path), "/proc/%ld/status", (long)child->pid);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  while (fgets(line, sizeof(line), file))
    if (sscanf(line, "VmHWM: %ld kB", &kibibytes) == 1) break;
  fclose(file);
  return 1024.0 * (double)kibibytes;
}

PetscErrorCode rg_child_close(RgChild **child, bool gently)
{
  RgChild *c = *child;
  int status;

  if (!c) return 0;
  close_end(&c->in);
  if (gently) (void)has_ended(c->pid, 1.0);
  close_end(&c->out);
  close_end(&c->err);
  (void)kill(-c->pid, SIGKILL); /* until the process is reaped, its group cannot belong to others */
  (void)kill(c->pid, SIGKILL);
  while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
  PetscCall(rg_text_clear(&c->request));
  PetscCall(rg_text_clear(&c->errors));
  PetscCall(rg_names_free(c->n_words, &c->words));
  return RG_FREE(&c->log, child);
}

/* ---- output of the child --------------------------------------------------------------------- */

/* Append its standard error to its log, or copy it to ours. Keep the end of it, and the last line
   that is not blank. */
static PetscErrorCode read_error(RgChild *child)
{
  RgText *errors = &child->errors;
  char bytes[4096];
  ssize_t n = read(child->err, bytes, sizeof(bytes));

  if (n == 0) close_end(&child->err);
  if (n <= 0) return 0;
  const bool logged = child->log && !rg_file_append(child->log, bytes, (size_t)n);
  if (!logged && write(STDERR_FILENO, bytes, (size_t)n) < 0) errno = 0; /* ours is closed */
  if (errors->length + (size_t)n > RG_CHILD_LINE_MAX) {
    const size_t too_many = errors->length + (size_t)n - RG_CHILD_LINE_MAX;
    errors->length -= too_many;
    memmove(errors->data, errors->data + too_many, errors->length);
  }
  PetscCall(rg_text_add_bytes(errors, bytes, (size_t)n));
  for (ssize_t i = 0; i < n; i++) {
    if (bytes[i] == '\n') {
      child->tail[child->n_tail] = '\0';
      if (strspn(child->tail, " \t\r") < child->n_tail) strcpy(child->last, child->tail);
      child->n_tail = 0;
    } else if (child->n_tail < sizeof(child->tail) - 1) {
      child->tail[child->n_tail++] = bytes[i];
    }
  }
  return 0;
}

/* Read the available part of the child's standard error. */
static PetscErrorCode drain_error(RgChild *child)
{
  while (child->err >= 0 && poll(&(struct pollfd){.fd = child->err, .events = POLLIN}, 1, 0) > 0)
    PetscCall(read_error(child));
  return 0;
}

PetscErrorCode rg_child_errors(RgChild *child, const char **errors, size_t *length)
{
  PetscCall(drain_error(child));
  *errors = child->errors.data;
  *length = child->errors.length;
  return 0;
}

/* Read available output; false at the end of the output. */
static bool read_output(RgChild *child)
{
  ssize_t n = read(child->out, child->buffer + child->n, sizeof(child->buffer) - child->n);

  if (n > 0) child->n += (size_t)n;
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Explain why the program stopped answering. */
static PetscErrorCode describe_end(RgChild *child, RgText *mistake)
{
  siginfo_t info = {0};

  if (!has_ended(child->pid, 0.5) ||
      waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT))
    PetscCall(rg_text_add(mistake, "closed its standard output"));
  else if (info.si_code == CLD_EXITED)
    PetscCall(rg_text_add(mistake, "ended with exit code %d", info.si_status));
  else
    PetscCall(rg_text_add(mistake, "was ended by signal %d (%s)", info.si_status,
                          strsignal(info.si_status)));
  PetscCall(drain_error(child));
  child->tail[child->n_tail] = '\0';
  if (!child->last[0]) strcpy(child->last, child->tail);
  if (child->last[0]) PetscCall(rg_text_add(mistake, ": %s", child->last));
  return 0;
}

/* ---- ask ------------------------------------------------------------------------------------- */

/* Send as much as the pipe takes, without SIGPIPE. If the program has ended, the end of its output
   shows it. */
static void send_request(RgChild *child)
{
  const size_t left = child->request.length - child->sent;
  sigset_t only, before, pending, raised;
  int number;

  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &only, &before);
  const ssize_t n = write(child->in, child->request.data + child->sent, left);
  const bool wait = n < 0 && (errno == EAGAIN || errno == EINTR);
  sigpending(&raised);
  if (sigismember(&raised, SIGPIPE) && !sigismember(&pending, SIGPIPE))
    (void)sigwait(&only, &number);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (n > 0) child->sent += (size_t)n;
  else if (n < 0 && !wait) child->sent = child->request.length;
}

PetscErrorCode rg_child_send(RgChild *child, const char *line, double limit, RgText *mistake)
{
  struct pollfd out = {.fd = child->out, .events = POLLIN};

  /* Output before the request is a mistake: the program must write one answer per request. */
  child->n -= child->used;
  memmove(child->buffer, child->buffer + child->used, child->n);
  child->used = child->seen = 0;
  if (!child->n && poll(&out, 1, 0) > 0 && !read_output(child)) return describe_end(child, mistake);
  if (child->n)
    return rg_text_add(mistake,
                       "wrote without being asked (is something printed on standard output? that "
                       "is for answers): %.*s",
                       (int)PetscMin(child->n, 60), child->buffer);
  PetscCall(rg_text_clear(&child->request));
  PetscCall(rg_text_add(&child->request, "%s\n", line));
  PetscCall(rg_text_clear(&child->errors));
  child->last[0] = '\0';
  child->asked++;
  child->sent = 0;
  child->limit = limit;
  child->until = rg_wall_seconds() + limit;
  send_request(child);
  return 0;
}

PetscErrorCode rg_child_poll(int n, RgChild *const *children, double seconds)
{
  struct pollfd *fds;

  PetscCall(PetscMalloc1(3 * (size_t)n, &fds));
  for (int i = 0; i < n; i++) {
    const RgChild *child = children[i];
    fds[3 * i] = (struct pollfd){.fd = child && !child->over ? child->out : -1, .events = POLLIN};
    fds[3 * i + 1] = (struct pollfd){.fd = child ? child->err : -1, .events = POLLIN};
    fds[3 * i + 2] = (struct pollfd){
      .fd = child && child->sent < child->request.length ? child->in : -1, .events = POLLOUT};
  }
  const bool some = poll(fds, 3 * (nfds_t)n, seconds > 0 ? 1 + (int)(1e3 * seconds) : 0) > 0;
  for (int i = 0; i < n && some; i++) {
    if (fds[3 * i + 1].revents) PetscCall(read_error(children[i]));
    if (fds[3 * i + 2].revents) send_request(children[i]);
    if (fds[3 * i].revents) children[i]->over = !read_output(children[i]);
  }
  return PetscFree(fds);
}

PetscErrorCode rg_child_read(RgChild *child, RgChildOutcome *outcome, const char **answer,
                             size_t *length, RgText *mistake)
{
  const char *end = memchr(child->buffer + child->seen, '\n', child->n - child->seen);

  *outcome = RG_CHILD_FAILED;
  *answer = NULL;
  *length = 0;
  child->seen = child->n;
  if (end) {
    *outcome = RG_CHILD_ANSWERED;
    *answer = child->buffer;
    *length = (size_t)(end - child->buffer);
    child->used = *length + 1;
  } else if (child->n == sizeof(child->buffer)) {
    PetscCall(
      rg_text_add(mistake, "answered with a line of more than %d bytes", RG_CHILD_LINE_MAX));
  } else if (child->over) {
    PetscCall(describe_end(child, mistake));
  } else if (rg_wall_seconds() >= child->until) {
    PetscCall(rg_text_add(mistake, "gave no answer within %g seconds", child->limit));
  } else {
    *outcome = RG_CHILD_SILENT;
  }
  return 0;
}

PetscErrorCode rg_child_ask(RgChild *child, const char *line, const RgPatience *patience,
                            RgChildOutcome *outcome, const char **answer, size_t *length,
                            RgText *mistake)
{
  double next_check = rg_wall_seconds();
  bool stopped = false;

  *outcome = RG_CHILD_FAILED;
  *answer = NULL;
  *length = 0;
  PetscCall(rg_child_send(child, line, patience->limit, mistake));
  if (mistake->length) return 0;
  do {
    PetscCall(rg_child_poll(1, &child, PetscMin(child->until, next_check) - rg_wall_seconds()));
    if (rg_wall_seconds() >= next_check) {
      next_check = rg_wall_seconds() + check_every;
      if (patience->stop && patience->stop(patience->closure) && !stopped) {
        stopped = true;
        child->limit = patience->grace;
        child->until = PetscMin(child->until, rg_wall_seconds() + patience->grace);
      }
    }
    PetscCall(rg_child_read(child, outcome, answer, length, mistake));
  } while (*outcome == RG_CHILD_SILENT);
  if (*outcome == RG_CHILD_FAILED && stopped && !child->over && child->n < sizeof(child->buffer))
    *outcome = RG_CHILD_ABANDONED;
  return 0;
}
