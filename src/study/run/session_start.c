/* The start of a run. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "maths/blas.h"
#include "study/run/session.h"
#include "study/store/evaluation_log.h"

/* Shorter searches are not worth a file. */
static const double search_worth_keeping = 0.1; /* seconds */

/* Mark failed trials of earlier runs as missing if they are to run again. */
static void look_at_failed(RgSession *session)
{
  for (int i = 0; i < session->plan->n && session->options->retry_failed; i++)
    if (session->done[i] == RG_STATUS_FAILED && rg_session_has(session, i)) {
      session->done[i] = RG_STATUS_MISSING;
      session->scan.n_done--;
      session->scan.n_failed--;
    }
}

/* Find the finished trials; rank 0. With a STOP file from an earlier stop, the run does not
   start: obeying it again would make a batch script that requeues loop, and its author may still
   need it. */
static PetscErrorCode scan_store(RgSession *session, const char *stop_file, RgFault *fault)
{
  PetscFunctionBeginUser;
  if (access(stop_file, F_OK) == 0) {
    rg_fault_set(fault, RG_FAULT_FOREIGN, "%.400s asks for a stop; remove it to run", stop_file);
  } else {
    PetscCall(rg_store_scan(session->store, session->plan, session->done, &session->scan, fault));
    if (fault->code) PetscFunctionReturn(0);
    if (fault->message[0]) rg_session_tell(session, -1, "%s", fault->message);
    look_at_failed(session);
    PetscCall(rg_session_look_at_origins(session, fault));
  }
  PetscFunctionReturn(0);
}

/* Open the store on rank 0, then on the others, and share the finished trials. */
static PetscErrorCode open_store(RgSession *session, const char *stop_file, int *speaker)
{
  const RgRunOptions *options = session->options;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(PetscMax(session->plan->n, 1), &session->done));
  if (options->parts) {
    PetscCall(PetscBTCreate(session->plan->n, &session->share));
    PetscCall(rg_plan_share(session->plan, options->part, options->parts, session->share));
  }
  PetscCall(PetscCalloc1(session->plan->study->n_cells, &session->cell_failed));
  PetscCall(PetscBTCreate(session->plan->study->n_cells, &session->exceeded));
  PetscCall(PetscBTCreate(session->plan->n, &session->again));
  for (int turn = 0; turn < 2 && session->outcome == RG_RUN_COMPLETE; turn++) {
    if (turn == (session->rank == 0 ? 0 : 1)) {
      RgFault fault = {0};
      rg_session_check_label(session, &fault);
      if (!fault.code)
        PetscCall(rg_store_open(options->output, session->plan->study, session->rank,
                                &session->store, &fault));
      if (!fault.code) rg_store_space(session->store, session->ranks);
      if (!fault.code && session->rank == 0) PetscCall(scan_store(session, stop_file, &fault));
      rg_session_note(session, &fault);
    }
    PetscCall(rg_session_agree(session, speaker));
  }
  PetscCallMPI(MPI_Bcast(session->done, session->plan->n, MPI_UNSIGNED_CHAR, 0, session->comm));
  PetscCallMPI(
    MPI_Bcast(session->again, (int)PetscBTLength(session->plan->n), MPI_CHAR, 0, session->comm));
  PetscCallMPI(MPI_Bcast(&session->scan, (int)sizeof(session->scan), MPI_BYTE, 0, session->comm));
  PetscCallMPI(
    MPI_Bcast(&session->origins, (int)sizeof(session->origins), MPI_BYTE, 0, session->comm));
  PetscFunctionReturn(0);
}

/* Report if the ranks have different fingerprints: then equal bits are not promised. */
static PetscErrorCode compare_fingerprints(RgSession *session)
{
  RgFingerprint *own = &session->fingerprint;
  uint64_t least, most;

  PetscFunctionBeginUser;
  snprintf(session->machine, sizeof(session->machine), "%s, OpenBLAS core %s, %d thread%s%s",
           own->cpu, own->blas_core, own->blas_threads, own->blas_threads == 1 ? "" : "s",
           own->native ? ", tuned for this CPU" : "");
  PetscCallMPI(MPI_Allreduce(&own->hash, &least, 1, MPI_UINT64_T, MPI_MIN, session->comm));
  PetscCallMPI(MPI_Allreduce(&own->hash, &most, 1, MPI_UINT64_T, MPI_MAX, session->comm));
  if (least != most && session->rank == 0)
    rg_session_tell(session, -1,
                    "the ranks' numeric fingerprints differ: results are not bit-identical across "
                    "them; pin the BLAS kernels with OPENBLAS_CORETYPE (rank 0 uses %s)",
                    own->blas_core);
  PetscFunctionReturn(0);
}

static PetscErrorCode keep_optima(RgSession *session)
{
  RgText folder = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_instances_create(&session->instances));
  PetscCall(rg_text_add(&folder, "%s/%s", session->directory, RG_FOLDER_OPTIMA));
  PetscCall(rg_instances_keep_optima(session->instances, folder.data, search_worth_keeping,
                                     session->plan->study->registry, session->fingerprint.hash));
  PetscCall(rg_text_clear(&folder));
  PetscFunctionReturn(0);
}

static PetscErrorCode prepare(RgSession *session, const RgStop *stop)
{
  const RgObserver *observer = session->observer;

  PetscFunctionBeginUser;
  PetscCall(compare_fingerprints(session));
  PetscCall(keep_optima(session));
  if (gethostname(session->host, sizeof(session->host) - 1))
    snprintf(session->host, sizeof(session->host), "unknown");
  snprintf(session->log, sizeof(session->log), "%s/" RG_FOLDER_LOG "/%s-%d.txt", session->directory,
           session->host, session->rank);
  if (session->rank == 0 && observer && observer->begin) {
    const RgRunReport report = {.n_trials = session->plan->n,
                                .n_earlier = session->scan.n_done,
                                .n_earlier_failed = session->scan.n_failed};
    observer->begin(observer->closure, &report);
  }
  if (session->rank == 0) rg_session_look_for_others(session);
  if (session->rank == 0 && session->scan.n_foreign)
    rg_session_tell(session, -1,
                    "%d finished trial%s of %s %s not of this study any more, because the study "
                    "file has changed; %s kept, and count in nothing",
                    session->scan.n_foreign, session->scan.n_foreign == 1 ? "" : "s",
                    session->options->output, session->scan.n_foreign == 1 ? "is" : "are",
                    session->scan.n_foreign == 1 ? "it is" : "they are");
  session->begun = rg_wall_seconds();
  session->next_progress = session->begun + (observer ? observer->period : 0);
  PetscCall(rg_stop_relay_create(session->comm, stop, &session->relay));
  if (session->rank == 0) PetscCall(rg_session_rescore(session));
  PetscCall(rg_schedule_create(session->comm, session->plan, &session->teams, session->done,
                               session->share, &session->schedule));
  PetscCall(rg_session_form_teams(session));
  PetscFunctionReturn(0);
}

static PetscErrorCode check_output(RgSession *session)
{
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_file_check_output(session->options->output, &mistake));
  if (mistake.length) {
    session->outcome = RG_RUN_REFUSED;
    snprintf(session->message, sizeof(session->message), "%s", mistake.data);
  }
  PetscCall(rg_text_clear(&mistake));
  PetscFunctionReturn(0);
}

static void check_blas(RgSession *session)
{
  const char *narrow = rg_blas_start(0);

  if (!narrow) return;
  session->outcome = RG_RUN_REFUSED;
  snprintf(session->message, sizeof(session->message), "%s", narrow);
}

PetscErrorCode rg_session_start(RgSession *session)
{
  const RgRunOptions *options = session->options;
  RgStop stop = {.observer = session->observer};
  int speaker;

  PetscFunctionBeginUser;
  if (options->walltime > 0) session->deadline = rg_wall_seconds() + options->walltime;
  stop.deadline = session->deadline;
  snprintf(session->directory, sizeof(session->directory), "%s.d", options->output);
  snprintf(stop.file, sizeof(stop.file), "%s.d/STOP", options->output);
  PetscCall(check_output(session));
  check_blas(session);
  PetscCall(rg_session_agree(session, &speaker));
  if (session->outcome == RG_RUN_COMPLETE) {
    PetscCall(rg_fingerprint(&session->fingerprint));
    PetscCall(rg_session_plan_teams(session));
  }
  PetscCall(rg_session_agree(session, &speaker));
  if (session->outcome == RG_RUN_COMPLETE) PetscCall(open_store(session, stop.file, &speaker));
  if (session->rank != 0) stop.file[0] = 0;
  if (session->outcome == RG_RUN_COMPLETE) PetscCall(prepare(session, &stop));
  else if (session->rank == speaker)
    rg_session_tell(session, speaker ? speaker : -1, "%s", session->message);
  PetscFunctionReturn(0);
}
