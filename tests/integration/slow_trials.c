/* Preloaded: every look at the CPU clock takes PAUSE_US microseconds. Trials look at it a few times
   per iteration, so that a study lasts long enough to be stopped on a machine of any speed. With
   SLOW_AFTER=N the first N looks of a process take no time; then it makes a file named after its
   process id in the folder SLOW_MARKS, and is slow. With SLOW_RANKS only the ranks of mpirun are
   slow, not the commands of a script before it. The cosine of a number above COS_FAILS_ABOVE
   is NaN, so that objectives that need it fail. The clock is CLOCK_AHEAD seconds ahead.
   The first STAT_LIES calls of statx say that a file is 40 bytes shorter than it is, as a host does
   whose cache is old. With NO_REST the pauses of nanosleep take no time.

   The environment is read once, when the library is loaded: a thread of Open MPI asks for the time
   while the program changes its environment, and getenv may then read freed memory. */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
  const char *marks;
  long pause, fast, ahead, lies; /* PAUSE_US, SLOW_AFTER, CLOCK_AHEAD, STAT_LIES */
  double cosine;                 /* COS_FAILS_ABOVE */
  bool quick;                    /* SLOW_RANKS, and mpirun did not start this process */
  bool restless;                 /* NO_REST */
} settings = {.cosine = HUGE_VAL};

static long number(const char *variable)
{
  const char *value = getenv(variable);

  return value ? atol(value) : 0;
}

__attribute__((constructor)) static void begin(void)
{
  const char *limit = getenv("COS_FAILS_ABOVE");

  settings.marks = getenv("SLOW_MARKS");
  settings.pause = number("PAUSE_US");
  settings.fast = number("SLOW_AFTER");
  settings.ahead = number("CLOCK_AHEAD");
  settings.lies = number("STAT_LIES");
  if (limit) settings.cosine = atof(limit);
  settings.quick = getenv("SLOW_RANKS") && !getenv("OMPI_COMM_WORLD_RANK");
  settings.restless = getenv("NO_REST");
}

static void mark(void)
{
  char path[4096];
  int fd;

  if (!settings.marks) return;
  snprintf(path, sizeof(path), "%s/%d", settings.marks, (int)getpid());
  fd = open(path, O_WRONLY | O_CREAT, 0644);
  if (fd >= 0) close(fd);
}

static void look(void)
{
  static long looks;
  const long wait = settings.pause;
  const struct timespec time = {.tv_sec = wait / 1000000, .tv_nsec = wait % 1000000 * 1000};

  if (settings.quick) return;
  if (++looks == settings.fast) mark();
  if (looks > settings.fast && wait > 0) nanosleep(&time, NULL);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
  static int (*next)(clockid_t, struct timespec *);

  if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (id == CLOCK_PROCESS_CPUTIME_ID) look();
  const int failed = next(id, now);
  if (id == CLOCK_REALTIME && !failed) now->tv_sec += settings.ahead;
  return failed;
}

int statx(int directory, const char *path, int flags, unsigned mask, struct statx *about)
{
  static int (*next)(int, const char *, int, unsigned, struct statx *);
  static long calls;

  if (!next)
    next = (int (*)(int, const char *, int, unsigned, struct statx *))dlsym(RTLD_NEXT, "statx");
  const int failed = next(directory, path, flags, mask, about);
  if (!failed && calls < settings.lies) {
    calls++;
    if (about->stx_size > 40) about->stx_size -= 40;
  }
  return failed;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
  static int (*next)(const struct timespec *, struct timespec *);

  if (!next)
    next = (int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep");
  return settings.restless ? 0 : next(time, left);
}

double cos(double x)
{
  static double (*next)(double);

  if (!next) next = (double (*)(double))dlsym(RTLD_NEXT, "cos");
  return x > settings.cosine ? NAN : next(x);
}
