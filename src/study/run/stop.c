#include "study/run/stop.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"

/* A signal handler can reach nothing but file-scope state; everything else here hangs on it. */
static volatile sig_atomic_t signal_seen;
static struct {
  double deadline; /* monotonic seconds; 0: none */
  double next_look;
  char file[4096];
  RgStopReason reason;
} stop_state;

static void handle_signal(int number)
{
  (void)number;
  signal_seen = 1;
}

PetscErrorCode rg_stop_initialize(double walltime, const char *stop_file)
{
  static const int signals[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT};
  struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART};

  PetscFunctionBeginUser;
  memset(&stop_state, 0, sizeof(stop_state));
  signal_seen = 0;
  if (walltime > 0) stop_state.deadline = rg_wall_seconds() + walltime;
  if (stop_file) {
    PetscCheck(strlen(stop_file) < sizeof(stop_state.file), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "path of the stop file is too long: %s", stop_file);
    strcpy(stop_state.file, stop_file);
  }
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
    PetscCheck(sigaction(signals[i], &action, NULL) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
               "cannot install the handler of signal %d", signals[i]);
  PetscFunctionReturn(0);
}

RgStopReason rg_stop_requested(void)
{
  if (stop_state.reason != RG_STOP_NONE) return stop_state.reason;
  if (signal_seen) return stop_state.reason = RG_STOP_SIGNAL;

  double now = rg_wall_seconds();
  if (stop_state.deadline > 0 && now >= stop_state.deadline)
    return stop_state.reason = RG_STOP_WALLTIME;
  if (stop_state.file[0] && now >= stop_state.next_look) {
    stop_state.next_look = now + 1.0;
    if (access(stop_state.file, F_OK) == 0) stop_state.reason = RG_STOP_FILE;
  }
  return stop_state.reason;
}

const char *rg_stop_describe(RgStopReason reason)
{
  static const char *const words[] = {
    [RG_STOP_NONE] = "not stopped",
    [RG_STOP_SIGNAL] = "a signal",
    [RG_STOP_FILE] = "the STOP file",
    [RG_STOP_WALLTIME] = "the wall-time limit",
  };
  return words[reason];
}
