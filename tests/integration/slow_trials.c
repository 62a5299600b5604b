/* Preloaded: every look at the CPU clock takes PAUSE_US microseconds. Trials look at it a few times
   per iteration, so that a study lasts long enough to be stopped on a machine of any speed. And the
   cosine of what is larger than COS_FAILS_ABOVE is no number: objectives that need it fail. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *now)
{
  static int (*next)(clockid_t, struct timespec *);

  if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (id == CLOCK_PROCESS_CPUTIME_ID) {
    const char *pause = getenv("PAUSE_US");
    struct timespec time = {.tv_nsec = pause ? 1000 * atol(pause) : 0};

    if (time.tv_nsec > 0) nanosleep(&time, NULL);
  }
  return next(id, now);
}

double cos(double x)
{
  static double (*next)(double);
  const char *limit = getenv("COS_FAILS_ABOVE");

  if (!next) next = (double (*)(double))dlsym(RTLD_NEXT, "cos");
  return limit && x > atof(limit) ? NAN : next(x);
}
