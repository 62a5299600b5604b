/* Ranks of one host commit one another's records and merge one another's small shards, so that a
   host commits as often and leaves as many files as if it were one rank. */
#include "study/run/session.h"

PetscErrorCode rg_session_share_shards(RgSession *session)
{
  MPI_Comm host;
  MPI_Aint bytes;
  PetscMPIInt rank, ranks;
  void *memory;
  int unit;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_split_type(session->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_rank(host, &rank));
  PetscCallMPI(MPI_Comm_size(host, &ranks));
  if (ranks > 1) {
    bytes = rank == 0 ? (MPI_Aint)rg_store_shared_bytes(ranks) : 0;
    PetscCallMPI(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host, &memory, &session->shelf));
    PetscCallMPI(MPI_Win_shared_query(session->shelf, 0, &bytes, &unit, &memory));
    if (rank == 0) PetscCall(PetscMemzero(memory, (size_t)bytes));
    PetscCallMPI(MPI_Barrier(host));
    rg_store_share(session->store, memory, ranks, rank);
  }
  PetscCallMPI(MPI_Comm_free(&host));
  PetscFunctionReturn(0);
}
