/* Preloaded: every look at the CPU clock takes PAUSE_US microseconds. Trials look at it a few times
   per iteration, so that a study lasts long enough to be stopped on a machine of any speed. With
   SLOW_AFTER=N the first N looks of a process take no time; then it makes a file named after its
   process id in the folder SLOW_MARKS, and is slow. With SLOW_RANKS only the ranks of mpirun are
   slow, not the commands of a script before it. The cosine of a number above COS_FAILS_ABOVE
   is NaN, so that objectives that need it fail. The clock is CLOCK_AHEAD seconds ahead.
   The first STAT_LIES calls of statx say that a file is 40 bytes shorter than it is, as a host does
   whose cache is old. With NO_REST the pauses of nanosleep take no time. */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void mark(void)
{
  const char *folder = getenv("SLOW_MARKS");
  char path[4096];
  int fd;

  if (!folder) return;
  snprintf(path, sizeof(path), "%s/%d", folder, (int)getpid());
  fd = open(path, O_WRONLY | O_CREAT, 0644);
  if (fd >= 0) close(fd);
}

static void look(void)
{
  static long looks;
  const char *pause = getenv("PAUSE_US"), *after = getenv("SLOW_AFTER");
  const long wait = pause ? atol(pause) : 0, fast = after ? atol(after) : 0;
  const struct timespec time = {.tv_sec = wait / 1000000, .tv_nsec = wait % 1000000 * 1000};

  if (getenv("SLOW_RANKS") && !getenv("OMPI_COMM_WORLD_RANK")) return;
  if (++looks == fast) mark();
  if (looks > fast && wait > 0) nanosleep(&time, NULL);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
  static int (*next)(clockid_t, struct timespec *);

  if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (id == CLOCK_PROCESS_CPUTIME_ID) look();
  const int failed = next(id, now);
  const char *ahead = getenv("CLOCK_AHEAD");
  if (id == CLOCK_REALTIME && ahead && !failed) now->tv_sec += atol(ahead);
  return failed;
}

int statx(int directory, const char *path, int flags, unsigned mask, struct statx *about)
{
  static int (*next)(int, const char *, int, unsigned, struct statx *);
  static long calls;
  const char *lies = getenv("STAT_LIES");

  if (!next)
    next = (int (*)(int, const char *, int, unsigned, struct statx *))dlsym(RTLD_NEXT, "statx");
  const int failed = next(directory, path, flags, mask, about);
  if (!failed && lies && ++calls <= atol(lies) && about->stx_size > 40) about->stx_size -= 40;
  return failed;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
  static int (*next)(const struct timespec *, struct timespec *);

  if (!next)
    next = (int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep");
  return getenv("NO_REST") ? 0 : next(time, left);
}

double cos(double x)
{
  static double (*next)(double);
  const char *limit = getenv("COS_FAILS_ABOVE");

  if (!next) next = (double (*)(double))dlsym(RTLD_NEXT, "cos");
  return limit && x > atof(limit) ? NAN : next(x);
}
