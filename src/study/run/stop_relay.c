/* The relay that passes a stop on to all ranks. */
#include "study/run/stop_relay.h"

#include "base/grow.h"

struct RgStopRelay {
  MPI_Comm comm; /* a duplicate that only this object uses */
  int rank, ranks;
  RgStop own;
  RgStopReason reason;
  int n_sent;
  MPI_Request *sent; /* requests of sends, one per rank; owned */
};

PetscErrorCode rg_stop_relay_create(MPI_Comm comm, const RgStop *stop, RgStopRelay **relay)
{
  RgStopRelay *r;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&r));
  r->own = *stop;
  PetscCallMPI(MPI_Comm_dup(comm, &r->comm));
  PetscCallMPI(MPI_Comm_rank(comm, &r->rank));
  PetscCallMPI(MPI_Comm_size(comm, &r->ranks));
  PetscCall(PetscMalloc1(r->ranks, &r->sent));
  *relay = r;
  PetscFunctionReturn(0);
}

/* Send an empty message whose tag is the reason. */
static PetscErrorCode tell(RgStopRelay *relay, int rank)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Isend(NULL, 0, MPI_BYTE, rank, (int)relay->reason, relay->comm,
                         &relay->sent[relay->n_sent++]));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_stop_relay_look(RgStopRelay *relay, RgStopReason *reason)
{
  MPI_Status status;
  int told = 0;

  PetscFunctionBeginUser;
  if (relay->reason == RG_STOP_NONE) {
    relay->reason = rg_stop_requested(&relay->own);
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
  PetscFunctionReturn(0);
}

PetscErrorCode rg_stop_relay_finish(RgStopRelay *relay, RgStopReason *reason)
{
  int from_0 = relay->rank == 0 && relay->n_sent > 0, to_0 = relay->rank != 0 && relay->n_sent > 0;
  int most = (int)relay->reason, expected;

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

PetscErrorCode rg_stop_relay_destroy(RgStopRelay **relay)
{
  PetscFunctionBeginUser;
  if (!*relay) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_free(&(*relay)->comm));
  PetscCall(RG_FREE(&(*relay)->sent, relay));
  PetscFunctionReturn(0);
}
