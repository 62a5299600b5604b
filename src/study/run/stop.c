/* Reasons to stop on this rank. */
#include "study/run/stop.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* A signal handler can only access file-scope state. */
static volatile sig_atomic_t signal_seen, hurried, guarded;
static volatile sig_atomic_t first_end; /* CLOCK_MONOTONIC of the first TERM or INT, seconds */

/* A launcher and a batch system may both pass on one TERM, so a second one counts after a second.
   A guard commits and ends the process; if it can't within ten seconds, SIGALRM does. */
static void handle_signal(int number)
{
  struct timespec now;

  signal_seen = 1;
  if ((number != SIGTERM && number != SIGINT) || clock_gettime(CLOCK_MONOTONIC, &now)) return;
  if (!first_end) first_end = (sig_atomic_t)now.tv_sec;
  if (now.tv_sec - first_end < 2) return;
  if (guarded) {
    hurried = 1;
    (void)alarm(10);
  } else {
    (void)signal(number, SIG_DFL);
    (void)raise(number);
  }
}

bool rg_stop_signalled(void)
{
  return signal_seen;
}

bool rg_stop_hurried(void)
{
  return hurried;
}

void rg_stop_guarded(bool now)
{
  guarded = now;
}

PetscErrorCode rg_stop_on_signals(void)
{
  static const int signals[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGXCPU, SIGHUP};
  struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, before;

  PetscFunctionBeginUser;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
    const bool ignored = !sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_IGN;
    if (signals[i] == SIGHUP && ignored) continue; /* nohup */
    PetscCheck(sigaction(signals[i], &action, NULL) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
               "cannot install the handler of signal %d", signals[i]);
  }
  PetscFunctionReturn(0);
}

RgStopReason rg_stop_requested(RgStop *stop)
{
  const RgObserver *observer = stop->observer;

  if (stop->reason != RG_STOP_NONE) return stop->reason;
  if (signal_seen) return stop->reason = RG_STOP_SIGNAL;
  if (observer && observer->stop && observer->stop(observer->closure))
    return stop->reason = RG_STOP_OBSERVER;

  double now = rg_wall_seconds();
  if (stop->deadline > 0 && now >= stop->deadline) return stop->reason = RG_STOP_WALLTIME;
  if (stop->file[0] && now >= stop->next_look) {
    stop->next_look = now + 1.0;
    if (access(stop->file, F_OK) == 0) stop->reason = RG_STOP_FILE;
  }
  return stop->reason;
}

const char *rg_stop_describe(RgStopReason reason)
{
  static const char *const words[] = {
    [RG_STOP_NONE] = "not stopped",
    [RG_STOP_SIGNAL] = "a signal",
    [RG_STOP_FILE] = "the STOP file",
    [RG_STOP_WALLTIME] = "the wall-time limit",
    [RG_STOP_OBSERVER] = "the program that runs it",
  };
  return words[reason];
}
