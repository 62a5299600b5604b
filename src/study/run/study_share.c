/* One rank reads a study file, and all ranks parse it. */
#include "study/run/study_share.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "study/record/record.h"
#include "study/record/software.h"

/* Whether all ranks have the same cells as rank 0; the texts of cells include hashes of data and
   programs. */
static PetscErrorCode have_same_cells(MPI_Comm comm, const RgStudy *study, bool *same)
{
  RgChecksum own = {0}, first;

  for (int c = 0; c < study->n_cells; c++) {
    const char *texts[] = {study->cells[c].text, study->cells[c].outside};
    for (int i = 0; i < 2 && texts[i]; i++) {
      uint64_t hash[2];
      rg_hash128(texts[i], strlen(texts[i]), hash);
      rg_checksum_add(&own, hash);
    }
  }
  first = own;
  PetscCallMPI(MPI_Bcast(&first, (int)sizeof(first), MPI_BYTE, 0, comm));
  *same = !memcmp(&first, &own, sizeof(own));
  return 0;
}

/* The first rank that found a mistake; -1: no rank did. */
static PetscErrorCode find_speaker(MPI_Comm comm, bool mistaken, int *speaker)
{
  PetscCallMPI(MPI_Comm_rank(comm, speaker));
  if (!mistaken) *speaker = INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, speaker, 1, MPI_INT, MPI_MIN, comm));
  if (*speaker == INT_MAX) *speaker = -1;
  return 0;
}

PetscErrorCode rg_study_share(MPI_Comm comm, const RgRegistry *registry, const char *path,
                              RgStudy *study, RgDiagnostics *diagnostics, int *speaker)
{
  const int before = diagnostics->n;
  char *text = NULL;
  size_t length;
  int64_t bytes = -1; /* -1: rank 0 can't read the file */
  bool same = true;
  int rank;

  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMemzero(study, sizeof(*study)));
  /* Compare the sources with those that rank 0 runs. */
  char *software, source[64], first[64];
  PetscCall(rg_software_describe(&software));
  const RgSoftware parts = rg_software_parts(software);
  snprintf(source, sizeof(source), "%.*s", parts.source.length, parts.source.at);
  memcpy(first, source, sizeof(first));
  PetscCallMPI(MPI_Bcast(first, sizeof(first), MPI_CHAR, 0, comm));
  if (strcmp(first, source))
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0},
                       "rank %d runs another build than rank 0: %.*s; put the same installation "
                       "first in PATH on all hosts",
                       rank, parts.build.length, parts.build.at);
  PetscCall(PetscFree(software));
  PetscCall(find_speaker(comm, diagnostics->n > before, speaker));
  if (*speaker >= 0) return 0;
  if (rank == 0) PetscCall(rg_study_read_file(path, &text, &length, diagnostics));
  if (text) bytes = (int64_t)length;
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, comm));
  if (bytes >= 0) {
    length = (size_t)bytes;
    if (rank != 0) PetscCall(PetscMalloc1(length + 1, &text));
    PetscCallMPI(MPI_Bcast(text, (int)bytes + 1, MPI_CHAR, 0, comm));
    PetscCall(rg_study_parse(registry, path, text, length, study, diagnostics));
  }
  PetscCall(PetscFree(text));
  PetscCall(find_speaker(comm, diagnostics->n > before, speaker));
  if (*speaker >= 0) return 0;
  PetscCall(have_same_cells(comm, study, &same));
  if (!same)
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0},
                       "rank %d finds other data or programs than rank 0 under the names in it",
                       rank);
  return find_speaker(comm, !same, speaker);
}
