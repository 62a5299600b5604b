#include "cli/run_session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "study/trial/instances.h"
#include "study/trial/optimum_cache.h"

/* Shorter searches are not worth a file. */
static const double search_worth_keeping = 0.1; /* seconds */

/* Seconds from "90", "1:30:00" or "30:00"; negative when it is none of these. */
static double parse_duration(const char *text)
{
  double total = 0;

  for (const char *p = text;; p++) {
    char *end;
    double part = strtod(p, &end);
    if (end == p || !(part >= 0)) return -1;
    total = 60 * total + part;
    if (!*end) return total;
    if (*end != ':') return -1;
    p = end;
  }
}

/* Rank 0 reads the file; everybody gets the bytes. *text is NULL when it can't be read. */
static PetscErrorCode read_on_rank_0(const char *path, int rank, char **text, int64_t *length)
{
  PetscFunctionBeginUser;
  *text = NULL;
  *length = -1;
  if (rank == 0) {
    RgDiagnostics diagnostics = {0};
    size_t size;
    PetscCall(rg_study_read_file(path, text, &size, &diagnostics));
    rg_print_diagnostics(&diagnostics);
    if (*text) *length = (int64_t)size;
  }
  PetscCallMPI(MPI_Bcast(length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
  if (*length < 0) PetscFunctionReturn(0);
  if (rank != 0) PetscCall(PetscMalloc1((size_t)*length + 1, text));
  PetscCallMPI(MPI_Bcast(*text, (int)*length + 1, MPI_CHAR, 0, MPI_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode load_study(RgSession *s, const char *path)
{
  char *text;
  int64_t length;
  RgDiagnostics diagnostics = {0};

  PetscFunctionBeginUser;
  PetscCall(read_on_rank_0(path, s->rank, &text, &length));
  if (!text) {
    s->exit_code = RG_EXIT_BAD_INPUT;
    PetscFunctionReturn(0);
  }
  PetscCall(rg_study_parse_with(s->registry, path, text, (size_t)length, &s->study, &diagnostics));
  PetscCall(PetscFree(text));
  /* Data files are read by every rank; one that lacks them speaks for all. */
  int first = diagnostics.n ? s->rank : INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  if (first != INT_MAX) {
    if (s->rank == first) rg_print_diagnostics(&diagnostics);
    s->exit_code = RG_EXIT_BAD_INPUT;
    PetscFunctionReturn(0);
  }
  PetscCall(rg_plan_create(&s->study, &s->plan));
  PetscFunctionReturn(0);
}

/* Exit code for a store that said no: a foreign file is the user's to mend, the rest the disk's. */
static int open_exit_code(RgStoreStatus status)
{
  return status == RG_STORE_FOREIGN ? RG_EXIT_BAD_INPUT : RG_EXIT_STORAGE;
}

/* Trials that failed in an earlier run: run them again if so asked for, else say that they stay. */
static void look_at_failed(RgSession *s)
{
  for (int i = 0; i < s->plan.n && s->retry_failed; i++)
    if (s->done[i] == RG_STATUS_FAILED) {
      s->done[i] = RG_STATUS_MISSING;
      s->scan.n_done--;
      s->scan.n_failed--;
    }
  if (s->scan.n_failed && !s->quiet)
    rg_complain("%d trial%s failed in an earlier run and %s kept so; -retry-failed runs %s again",
                s->scan.n_failed, s->scan.n_failed == 1 ? "" : "s",
                s->scan.n_failed == 1 ? "is" : "are", s->scan.n_failed == 1 ? "it" : "them");
}

/* Open the store on every rank and learn what is finished already. A STOP file of an earlier stop
   is not obeyed again (a batch script that requeues would go round in circles) and not removed (who
   put it there may still mean it): the run does not start. */
static PetscErrorCode open_store(RgSession *s, const char *stop_file)
{
  RgStoreStatus status = RG_STORE_OK;
  char message[512] = "";
  int code = RG_EXIT_OK;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(PetscMax(s->plan.n, 1), &s->done));
  if (s->rank == 0) {
    PetscCall(rg_store_open(s->output, &s->study, s->rank, &s->store, &status, message));
    if (status == RG_STORE_OK) message[0] = 0;
    if (status == RG_STORE_OK && access(stop_file, F_OK) == 0) {
      status = RG_STORE_FOREIGN;
      snprintf(message, sizeof(message), "%.400s asks for a stop; remove it to run", stop_file);
    }
    if (status == RG_STORE_OK)
      PetscCall(rg_store_scan(s->store, &s->plan, s->done, &s->scan, &status, message));
    if (status != RG_STORE_OK) {
      rg_complain("%s", message);
      code = open_exit_code(status);
    } else {
      if (message[0]) rg_complain("%s", message);
      look_at_failed(s);
    }
  }
  PetscCallMPI(MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  s->exit_code = code;
  if (code) PetscFunctionReturn(0);
  if (s->rank != 0) {
    PetscCall(rg_store_open(s->output, &s->study, s->rank, &s->store, &status, message));
    if (status != RG_STORE_OK) code = open_exit_code(status);
  }
  PetscCallMPI(MPI_Allreduce(&code, &s->exit_code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(s->done, s->plan.n, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD));
  if (code) fprintf(stderr, "regatta: rank %d: %s\n", s->rank, message);
  PetscFunctionReturn(0);
}

/* Different fingerprints among the ranks: the promise of equal bits does not hold. */
static PetscErrorCode compare_fingerprints(RgSession *s)
{
  uint64_t least, most;

  PetscFunctionBeginUser;
  PetscCall(rg_fingerprint(&s->fingerprint));
  snprintf(s->machine, sizeof(s->machine), "%s, OpenBLAS core %s, %d thread%s%s",
           s->fingerprint.cpu, s->fingerprint.blas_core, s->fingerprint.blas_threads,
           s->fingerprint.blas_threads == 1 ? "" : "s",
           s->fingerprint.native ? ", tuned for this CPU" : "");
  PetscCallMPI(
    MPI_Allreduce(&s->fingerprint.hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
  PetscCallMPI(
    MPI_Allreduce(&s->fingerprint.hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD));
  if (least != most)
    rg_complain(
      "the ranks' numeric fingerprints differ: results are not bit-identical across them; "
      "pin the BLAS kernels with OPENBLAS_CORETYPE (rank 0 uses %s)",
      s->fingerprint.blas_core);
  PetscFunctionReturn(0);
}

static PetscErrorCode keep_optima(RgSession *s)
{
  RgText folder = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_optimum_cache_folder(&folder));
  if (folder.length)
    PetscCall(rg_instances_keep_optima(s->instances, folder.data, search_worth_keeping, s->registry,
                                       s->fingerprint.hash));
  PetscCall(rg_text_clear(&folder));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_start(RgSession *s, const char *path, const char *output,
                                const char *walltime)
{
  double limit = walltime ? parse_duration(walltime) : 0;
  char stop_file[4200];

  PetscFunctionBeginUser;
  if (limit < 0) {
    rg_complain("run: -walltime must be seconds or H:M:S, got '%s'", walltime);
    s->exit_code = RG_EXIT_BAD_INPUT;
    PetscFunctionReturn(0);
  }
  PetscCall(load_study(s, path));
  if (s->exit_code) PetscFunctionReturn(0);
  PetscCall(rg_session_plan_teams(s));
  if (s->exit_code) PetscFunctionReturn(0);
  if (output) snprintf(s->output, sizeof(s->output), "%s", output);
  else snprintf(s->output, sizeof(s->output), "%s.h5", s->study.name);
  snprintf(stop_file, sizeof(stop_file), "%s.d/STOP", s->output);
  PetscCall(rg_stop_initialize(limit, s->rank == 0 ? stop_file : NULL));
  PetscCall(open_store(s, stop_file));
  if (s->exit_code) PetscFunctionReturn(0);
  PetscCall(compare_fingerprints(s));
  PetscCall(rg_instances_create(&s->instances));
  PetscCall(keep_optima(s));
  if (gethostname(s->host, sizeof(s->host) - 1)) snprintf(s->host, sizeof(s->host), "unknown");
  rg_progress_begin(&s->meter, s->rank == 0 && !s->quiet);
  PetscCall(rg_stop_relay_create(MPI_COMM_WORLD, &s->relay));
  PetscCall(rg_schedule_create(MPI_COMM_WORLD, &s->plan, &s->teams, s->done, &s->schedule));
  PetscCall(rg_session_form_teams(s));
  PetscFunctionReturn(0);
}
