/* One rank reads a study file, all parse it. */
#include "study/run/study_share.h"

#include <limits.h>

/* *text is NULL when it can't be read. */
static PetscErrorCode read_on_rank_0(MPI_Comm comm, const char *path, char **text, size_t *length,
                                     RgDiagnostics *diagnostics)
{
  int64_t bytes = -1;
  int rank;

  PetscFunctionBeginUser;
  *text = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    PetscCall(rg_study_read_file(path, text, length, diagnostics));
    if (*text) bytes = (int64_t)*length;
  }
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, comm));
  if (bytes < 0) PetscFunctionReturn(0);
  *length = (size_t)bytes;
  if (rank != 0) PetscCall(PetscMalloc1(*length + 1, text));
  PetscCallMPI(MPI_Bcast(*text, (int)bytes + 1, MPI_CHAR, 0, comm));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_share(MPI_Comm comm, const RgRegistry *registry, const char *path,
                              RgStudy *study, RgDiagnostics *diagnostics, int *speaker)
{
  const int before = diagnostics->n;
  char *text;
  size_t length;
  int rank;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(study, sizeof(*study)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(read_on_rank_0(comm, path, &text, &length, diagnostics));
  if (text) PetscCall(rg_study_parse(registry, path, text, length, study, diagnostics));
  PetscCall(PetscFree(text));
  *speaker = diagnostics->n > before ? rank : INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, speaker, 1, MPI_INT, MPI_MIN, comm));
  if (*speaker == INT_MAX) *speaker = -1;
  PetscFunctionReturn(0);
}
