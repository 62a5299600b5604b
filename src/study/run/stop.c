/* Reasons to stop on this rank. */
#include "study/run/stop.h"
#include "base/clock.h"
#include "base/grow.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

struct RgStopRelay {
  MPI_Comm comm; /* a duplicate that only this object uses */
  int rank, ranks;
  RgStop own;
  RgStopReason reason;
  int n_sent;
  MPI_Request *sent; /* requests of sends, one per rank; owned */
};

/* A signal handler can only access file-scope state. */
static volatile sig_atomic_t signal_seen, signal_again, guarded;
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
    signal_again = 1;
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

bool rg_stop_signalled_again(void)
{
  return signal_again;
}

void rg_stop_guarded(bool now)
{
  guarded = now;
}

PetscErrorCode rg_stop_on_signals(void)
{
  static const int signals[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGXCPU, SIGHUP};
  struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, before;

  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
    const bool ignored = !sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_IGN;
    if (signals[i] == SIGHUP && ignored) continue; /* nohup */
    PetscCheck(sigaction(signals[i], &action, NULL) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
               "cannot install the handler of signal %d", signals[i]);
  }
  return 0;
}

/* Check all sources; cheap enough for every iteration. */
static RgStopReason find_reason(RgStop *stop)
{
  const RgObserver *observer = stop->observer;
  const double now = rg_wall_seconds();

  if (signal_seen) return RG_STOP_SIGNAL;
  if (observer && observer->stop && observer->stop(observer->closure)) return RG_STOP_OBSERVER;
  if (stop->deadline > 0 && now >= stop->deadline) return RG_STOP_WALLTIME;
  if (!stop->file[0] || now < stop->next_check) return RG_STOP_NONE;
  stop->next_check = now + 1.0;
  return access(stop->file, F_OK) == 0 ? RG_STOP_FILE : RG_STOP_NONE;
}

/* ---- the relay ------------------------------------------------------------------------------- */

PetscErrorCode rg_stop_relay_create(MPI_Comm comm, const RgStop *stop, RgStopRelay **relay)
{
  RgStopRelay *r;

  PetscCall(PetscNew(&r));
  r->own = *stop;
  PetscCallMPI(MPI_Comm_dup(comm, &r->comm));
  PetscCallMPI(MPI_Comm_rank(comm, &r->rank));
  PetscCallMPI(MPI_Comm_size(comm, &r->ranks));
  PetscCall(PetscMalloc1(r->ranks, &r->sent));
  *relay = r;
  return 0;
}

/* Send an empty message whose tag is the reason. */
static PetscErrorCode tell(RgStopRelay *relay, int rank)
{
  PetscCallMPI(MPI_Isend(NULL, 0, MPI_BYTE, rank, (int)relay->reason, relay->comm,
                         &relay->sent[relay->n_sent++]));
  return 0;
}

PetscErrorCode rg_stop_relay_poll(RgStopRelay *relay, RgStopReason *reason)
{
  MPI_Status status;
  int told = 0;

  if (relay->reason == RG_STOP_NONE) {
    relay->reason = find_reason(&relay->own);
    /* this call also advances one-sided operations that target this rank */
    PetscCallMPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, relay->comm, &told, &status));
    if (relay->reason == RG_STOP_NONE && told) relay->reason = (RgStopReason)status.MPI_TAG;
    if (relay->reason != RG_STOP_NONE) {
      if (relay->rank == 0)
        for (int rank = 1; rank < relay->ranks; rank++) PetscCall(tell(relay, rank));
      else if (!told) PetscCall(tell(relay, 0));
    }
  }
  *reason = relay->reason;
  return 0;
}

PetscErrorCode rg_stop_relay_finish(RgStopRelay *relay, RgStopReason *reason)
{
  int from_0 = relay->rank == 0 && relay->n_sent > 0, to_0 = relay->rank != 0 && relay->n_sent > 0;
  int most = (int)relay->reason, expected;

  PetscCallMPI(MPI_Bcast(&from_0, 1, MPI_INT, 0, relay->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &to_0, 1, MPI_INT, MPI_SUM, relay->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, relay->comm));
  expected = relay->rank == 0 ? to_0 : from_0;
  for (int i = 0; i < expected; i++)
    PetscCallMPI(
      MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, relay->comm, MPI_STATUS_IGNORE));
  PetscCallMPI(MPI_Waitall(relay->n_sent, relay->sent, MPI_STATUSES_IGNORE));
  relay->n_sent = 0;
  *reason = relay->reason = (RgStopReason)most;
  return 0;
}

PetscErrorCode rg_stop_relay_destroy(RgStopRelay **relay)
{
  if (!*relay) return 0;
  PetscCallMPI(MPI_Comm_free(&(*relay)->comm));
  return RG_FREE(&(*relay)->sent, relay);
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
