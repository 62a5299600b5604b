/* A child process that reads a file first, and may die of it. */
#include "study/hdf5/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBE_SECONDS = 4, PROBE_BYTES_PER_SECOND = 4 << 20 };
#define PROBE_MEMORY ((rlim_t)4 << 30)

/* This process is a child that reads files for another, which outlives it, or vouches for them by
   surviving: a fact of the process, as its id is. */
static enum { UNSHIELDED, SHIELDED, VOUCHING } shielded;

/* What this process knows to be harmless, by the low bits of the hash; likewise. */
enum { REMEMBERED = 4096 };
static uint64_t harmless[REMEMBERED][2];

void rg_probe_remember(const uint64_t hash[2])
{
  uint64_t *place = harmless[hash[0] % REMEMBERED];

  place[0] = hash[0];
  place[1] = hash[1];
}

bool rg_probe_remembers(const uint64_t hash[2])
{
  const uint64_t *place = harmless[hash[0] % REMEMBERED];

  return place[0] == hash[0] && place[1] == hash[1] && (hash[0] || hash[1]);
}

/* Bytes of private memory this process has; 0 where the system does not say. */
static rlim_t data_size(void)
{
  FILE *file = fopen("/proc/self/statm", "re");
  unsigned long long pages = 0;
  int n = file ? fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) : 0;

  if (file) fclose(file);
  return n == 1 ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : 0;
}

static void lower_limit(int resource, rlim_t value)
{
  struct rlimit limit;

  if (getrlimit(resource, &limit)) return;
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > value) limit.rlim_max = value;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(resource, &limit);
}

/* That many bytes may be read from now on. */
static void allow(uint64_t length)
{
  const rlim_t seconds = (rlim_t)PROBE_SECONDS + (rlim_t)(length / PROBE_BYTES_PER_SECOND);
  struct rlimit limit;
  struct rusage used;

  if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit)) return;
  limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
    limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

/* No core files, no handlers of ours, bounded time and memory. */
static void confine(uint64_t length)
{
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
  rlim_t data = data_size();

  for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) (void)signal(fatal[i], SIG_DFL);
  lower_limit(RLIMIT_CORE, 0);
  allow(length);
  if (data) lower_limit(RLIMIT_DATA, data + PROBE_MEMORY);
}

/* No messages of other libraries. */
static void be_quiet(void)
{
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

  if (null >= 0) (void)dup2(null, STDERR_FILENO);
}

static PetscErrorCode read_all(const RgMedium *medium)
{
  RgCursor cursor = {0};
  RgFault fault = {0};
  char *text;

  PetscFunctionBeginUser;
  PetscCall(rg_container_open(medium, &cursor.container, &fault));
  for (int a = 0; !fault.code && a < RG_ATTRIBUTE_COUNT; a++) {
    PetscCall(rg_h5_read_text(cursor.container.file, rg_attributes[a].name, &text, NULL));
    PetscCall(PetscFree(text));
  }
  while (rg_cursor_next(&cursor, &fault)) {
    RgFault damage = {0}; /* of one trial: does not keep the next one from being read */
    PetscCall(rg_cursor_read(&cursor, &damage));
  }
  PetscCall(rg_cursor_close(&cursor));
  PetscFunctionReturn(0);
}

/* The status of a child that has ended; false: it can't be known. */
static bool wait_for(pid_t child, int *status)
{
  pid_t ended;

  do ended = waitpid(child, status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child;
}

void rg_probe_renew(uint64_t length)
{
  if (shielded) allow(length);
}

PetscErrorCode rg_probe_survives(const RgMedium *medium, bool *survives)
{
  int status;
  pid_t child;

  PetscFunctionBeginUser;
  *survives = true;
  if (shielded == VOUCHING) PetscCall(read_all(medium));
  if (shielded) PetscFunctionReturn(0);
  child = fork();
  if (child < 0) PetscFunctionReturn(0);
  if (child == 0) {
    be_quiet();
    confine(medium->length);
    _exit(read_all(medium) ? 1 : 0); /* nothing of the parent's may be flushed or finalised */
  }
  *survives = !wait_for(child, &status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
  PetscFunctionReturn(0);
}

void rg_probe_shield(void)
{
  shielded = SHIELDED;
  confine(0);
}

void rg_probe_vouch(void)
{
  if (shielded == VOUCHING) return;
  be_quiet();
  rg_probe_shield();
  shielded = VOUCHING;
}
