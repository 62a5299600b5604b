/* Ranks of one host commit one another's records and merge one another's small shards, so that a
   host commits as often and leaves as many files as if it were one rank. */
#include "study/run/session.h"

#include <sys/statvfs.h>

/* Whether MPI will find shared memory for so many bytes: it ends or hangs without. In containers
   /dev/shm may be small; where there is none MPI takes files elsewhere. */
static bool has_room(size_t bytes)
{
  struct statvfs disk;

  return statvfs("/dev/shm", &disk) ||
         (double)disk.f_bavail * (double)disk.f_frsize >= 2.0 * (double)bytes;
}

/* Shared memory of all ranks of a host, zeroed; NULL where it has no room. */
static PetscErrorCode allocate(MPI_Comm host, PetscMPIInt rank, size_t size, MPI_Win *window,
                               void **memory)
{
  int room = has_room(size), unit;
  MPI_Aint bytes = rank == 0 ? (MPI_Aint)size : 0;

  PetscFunctionBeginUser;
  *memory = NULL;
  PetscCallMPI(MPI_Bcast(&room, 1, MPI_INT, 0, host));
  if (!room) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host, memory, window));
  PetscCallMPI(MPI_Win_shared_query(*window, 0, &bytes, &unit, memory));
  if (rank == 0) PetscCall(PetscMemzero(*memory, size));
  PetscCallMPI(MPI_Barrier(host));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_share_shards(RgSession *session)
{
  const int ranks = session->ranks_here;
  PetscMPIInt rank;
  void *memory = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(session->here, &rank));
  if (ranks > 1)
    PetscCall(
      allocate(session->here, rank, rg_store_shared_bytes(ranks), &session->shelf, &memory));
  if (memory) rg_store_share(session->store, memory, ranks, rank);
  PetscFunctionReturn(0);
}
