/* Child processes that answer line by line: start, end and conversation. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child_internal.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"

struct RgChild {
  int64_t asked;
  double cpu;  /* CPU seconds accounted so far */
  char *words; /* command-line words, each with its NUL, then an empty one; owned */
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

static const double look_every = 0.05; /* seconds between two calls of `stop` */

/* ---- start and end --------------------------------------------------------------------------- */

bool rg_child_is(const RgChild *child, const char *const *words)
{
  const char *own = child->words;

  for (; *words; words++, own += strlen(own) + 1)
    if (!*own || strcmp(own, *words)) return false;
  return !*own;
}

PetscErrorCode rg_child_log(RgChild *child, const char *path)
{
  PetscFunctionBeginUser;
  if (path && child->log && !strcmp(path, child->log)) PetscFunctionReturn(0);
  PetscCall(PetscFree(child->log));
  if (path) PetscCall(PetscStrallocpy(path, &child->log));
  PetscFunctionReturn(0);
}

int64_t rg_child_count(const RgChild *child)
{
  return child->asked;
}

static PetscErrorCode keep_words(RgChild *child, const char *const *words)
{
  size_t length = 1;
  char *to;

  PetscFunctionBeginUser;
  for (int i = 0; words[i]; i++) length += strlen(words[i]) + 1;
  PetscCall(PetscCalloc1(length, &child->words));
  to = child->words;
  for (int i = 0; words[i]; i++) {
    strcpy(to, words[i]);
    to += strlen(to) + 1;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_child_start(const char *const *words, RgChild **child, RgText *mistake)
{
  RgChild *new;
  int error;

  PetscFunctionBeginUser;
  *child = NULL;
  PetscCall(PetscNew(&new));
  PetscCall(keep_words(new, words));
  PetscCall(rg_child_spawn(words, &new->pid, &new->in, &new->out, &new->err, &error));
  if (error) {
    PetscCall(rg_text_add(mistake, "can't be started: %s", strerror(error)));
    PetscCall(PetscFree(new->words));
    PetscCall(PetscFree(new));
    PetscFunctionReturn(0);
  }
  *child = new;
  PetscFunctionReturn(0);
}

static void close_end(int *fd)
{
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void pause_briefly(void)
{
  nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
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
    pause_briefly();
  }
}

/* A grandchild that nobody waited for takes its CPU time along when it ends, so the total can
   fall. The difference is never less than 0. */
double rg_child_cpu_seconds(RgChild *child)
{
  const double now = rg_child_tree_seconds(child->pid), used = PetscMax(now - child->cpu, 0.0);

  child->cpu = PetscMax(child->cpu, now);
  return used;
}

double rg_child_peak_memory(const RgChild *child)
{
  return rg_child_peak_bytes(child->pid);
}

PetscErrorCode rg_child_close(RgChild **child, bool gently)
{
  RgChild *c = *child;
  int status;

  PetscFunctionBeginUser;
  if (!c) PetscFunctionReturn(0);
  close_end(&c->in);
  if (gently) (void)has_ended(c->pid, 1.0);
  close_end(&c->out);
  close_end(&c->err);
  (void)kill(-c->pid, SIGKILL); /* until the process is reaped, its group cannot belong to others */
  (void)kill(c->pid, SIGKILL);
  while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
  PetscCall(rg_text_clear(&c->request));
  PetscCall(rg_text_clear(&c->errors));
  PetscCall(RG_FREE(&c->words, &c->log, child));
  PetscFunctionReturn(0);
}

/* ---- output of the child --------------------------------------------------------------------- */

/* Append its standard error to its log, or copy it to ours. */
static void keep_error(const RgChild *child, const char *bytes, size_t n)
{
  const bool logged = child->log && !rg_file_append(child->log, bytes, n);

  if (!logged && write(STDERR_FILENO, bytes, n) < 0) errno = 0; /* our standard error is closed */
}

/* Remember the end of its standard error. */
static PetscErrorCode remember(RgText *errors, const char *bytes, size_t n)
{
  const size_t too_many =
    errors->length + n > RG_CHILD_LINE_MAX ? errors->length + n - RG_CHILD_LINE_MAX : 0;

  PetscFunctionBeginUser;
  if (too_many) {
    errors->length -= too_many;
    memmove(errors->data, errors->data + too_many, errors->length);
  }
  PetscCall(rg_text_add_bytes(errors, bytes, n));
  PetscFunctionReturn(0);
}

/* Keep its standard error, and remember the last line that is not blank. */
static PetscErrorCode read_error(RgChild *child)
{
  char bytes[4096];
  ssize_t n = read(child->err, bytes, sizeof(bytes));

  PetscFunctionBeginUser;
  if (n == 0) close_end(&child->err);
  if (n <= 0) PetscFunctionReturn(0);
  keep_error(child, bytes, (size_t)n);
  PetscCall(remember(&child->errors, bytes, (size_t)n));
  for (ssize_t i = 0; i < n; i++) {
    if (bytes[i] == '\n') {
      child->tail[child->n_tail] = '\0';
      if (strspn(child->tail, " \t\r") < child->n_tail) strcpy(child->last, child->tail);
      child->n_tail = 0;
    } else if (child->n_tail < sizeof(child->tail) - 1) {
      child->tail[child->n_tail++] = bytes[i];
    }
  }
  PetscFunctionReturn(0);
}

/* Read the available part of the child's standard error. */
static PetscErrorCode drain_error(RgChild *child)
{
  PetscFunctionBeginUser;
  while (child->err >= 0 && poll(&(struct pollfd){.fd = child->err, .events = POLLIN}, 1, 0) > 0)
    PetscCall(read_error(child));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_child_errors(RgChild *child, const char **errors, size_t *length)
{
  PetscFunctionBeginUser;
  PetscCall(drain_error(child));
  *errors = child->errors.data;
  *length = child->errors.length;
  PetscFunctionReturn(0);
}

/* Read available output; false at the end of the output. */
static bool read_output(RgChild *child)
{
  ssize_t n = read(child->out, child->buffer + child->n, sizeof(child->buffer) - child->n);

  if (n > 0) child->n += (size_t)n;
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Explain why the program stopped answering. */
static PetscErrorCode explain_end(RgChild *child, RgText *mistake)
{
  siginfo_t info = {0};

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

/* ---- ask ------------------------------------------------------------------------------------- */

/* Send as much as the pipe takes. If the program has ended, the end of its output shows it. */
static void send_request(RgChild *child)
{
  const size_t left = child->request.length - child->sent;
  ssize_t n = rg_child_write(child->in, child->request.data + child->sent, left);

  if (n > 0) child->sent += (size_t)n;
  else if (n < 0 && errno != EAGAIN && errno != EINTR) child->sent = child->request.length;
}

/* Find output before the request: the program must write one answer per request. */
static PetscErrorCode check_silence(RgChild *child, RgText *mistake)
{
  struct pollfd out = {.fd = child->out, .events = POLLIN};

  PetscFunctionBeginUser;
  child->n -= child->used;
  memmove(child->buffer, child->buffer + child->used, child->n);
  child->used = child->seen = 0;
  if (!child->n && poll(&out, 1, 0) > 0 && !read_output(child)) {
    PetscCall(explain_end(child, mistake));
    PetscFunctionReturn(0);
  }
  if (child->n)
    PetscCall(rg_text_add(mistake,
                          "wrote without being asked (is something printed on standard "
                          "output? that is for answers): %.*s",
                          (int)PetscMin(child->n, 60), child->buffer));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_child_send(RgChild *child, const char *line, double limit, RgText *mistake)
{
  PetscFunctionBeginUser;
  PetscCall(check_silence(child, mistake));
  if (mistake->length) PetscFunctionReturn(0);
  PetscCall(rg_text_clear(&child->request));
  PetscCall(rg_text_add(&child->request, "%s\n", line));
  PetscCall(rg_text_clear(&child->errors));
  child->last[0] = '\0';
  child->asked++;
  child->sent = 0;
  child->limit = limit;
  child->until = rg_wall_seconds() + limit;
  send_request(child);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_child_poll(int n, RgChild *const *children, double seconds)
{
  struct pollfd *fds;

  PetscFunctionBeginUser;
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
  PetscCall(PetscFree(fds));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_child_heard(RgChild *child, RgChildOutcome *outcome, const char **answer,
                              size_t *length, RgText *mistake)
{
  const char *end = memchr(child->buffer + child->seen, '\n', child->n - child->seen);

  PetscFunctionBeginUser;
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
    PetscCall(explain_end(child, mistake));
  } else if (rg_wall_seconds() >= child->until) {
    PetscCall(rg_text_add(mistake, "gave no answer within %g seconds", child->limit));
  } else {
    *outcome = RG_CHILD_SILENT;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_child_ask(RgChild *child, const char *line, const RgPatience *patience,
                            RgChildOutcome *outcome, const char **answer, size_t *length,
                            RgText *mistake)
{
  double next_look = rg_wall_seconds();
  bool stopped = false;

  PetscFunctionBeginUser;
  *outcome = RG_CHILD_FAILED;
  *answer = NULL;
  *length = 0;
  PetscCall(rg_child_send(child, line, patience->limit, mistake));
  if (mistake->length) PetscFunctionReturn(0);
  do {
    PetscCall(rg_child_poll(1, &child, PetscMin(child->until, next_look) - rg_wall_seconds()));
    if (rg_wall_seconds() >= next_look) {
      next_look = rg_wall_seconds() + look_every;
      if (patience->stop && patience->stop(patience->closure) && !stopped) {
        stopped = true;
        child->limit = patience->grace;
        child->until = PetscMin(child->until, rg_wall_seconds() + patience->grace);
      }
    }
    PetscCall(rg_child_heard(child, outcome, answer, length, mistake));
  } while (*outcome == RG_CHILD_SILENT);
  if (*outcome == RG_CHILD_FAILED && stopped && !child->over && child->n < sizeof(child->buffer))
    *outcome = RG_CHILD_ABANDONED;
  PetscFunctionReturn(0);
}
