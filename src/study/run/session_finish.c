/* The end of a run. */
#include <stdio.h>
#include <unistd.h>

#include "study/run/session.h"
#include "study/store/evaluation_log.h"

/* After our trials are committed, look at what other parts have finished meanwhile. The part
   that looks last sees all trials. *all: no trial is missing. */
static PetscErrorCode look_at_parts(RgSession *session, const RgProgress *own, bool *all)
{
  const RgPlan *plan = session->plan;
  RgStoreScan now = {0};
  RgFault fault;
  int speaker;

  PetscFunctionBeginUser;
  if (session->rank == 0) {
    PetscCall(rg_store_scan(session->store, plan, session->done, &now, &fault));
    if (fault.message[0]) rg_session_tell(session, -1, "%s", fault.message);
    rg_session_note(session, &fault);
  }
  PetscCall(rg_session_agree(session, &speaker));
  PetscCallMPI(MPI_Bcast(session->done, plan->n, MPI_UNSIGNED_CHAR, 0, session->comm));
  PetscCallMPI(MPI_Bcast(&now, (int)sizeof(now), MPI_BYTE, 0, session->comm));
  /* `done` includes our own trials. */
  PetscCall(PetscArrayzero(session->cell_failed, plan->study->n_cells));
  session->scan.n_done = now.n_done - own->n_finished;
  session->scan.n_failed = now.n_failed - own->n_failed;
  *all = now.n_done == plan->n;
  PetscFunctionReturn(0);
}

static PetscErrorCode pack(RgSession *session)
{
  RgFault fault;
  int speaker;

  PetscFunctionBeginUser;
  if (session->rank == 0) {
    rg_session_look_for_others(session);
    PetscCall(rg_store_pack(session->store, session->plan, &fault));
    rg_session_look_for_others(session);
    rg_session_note(session, &fault);
    if (fault.code) {
      rg_session_tell(session, -1, "%s; the finished trials are safe in %s", fault.message,
                      session->directory);
    }
  }
  PetscCall(rg_session_agree(session, &speaker));
  PetscFunctionReturn(0);
}

/* Count cells whose trials all failed. */
static PetscErrorCode count_failed_cells(RgSession *session, RgRunReport *report)
{
  const RgPlan *plan = session->plan;
  const int n = plan->study->n_cells;
  int *left; /* by cell: number of trials that did not fail */

  PetscFunctionBeginUser;
  PetscCallMPI(
    MPI_Allreduce(&session->n_kept, &report->n_kept, 1, MPI_INT, MPI_SUM, session->comm));
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, session->cell_failed, n, MPI_INT, MPI_SUM, session->comm));
  PetscCall(PetscCalloc1(n, &left));
  for (int c = 0; c < n; c++)
    for (int i = plan->cells[c].first; i < plan->cells[c].first + plan->cells[c].n; i++)
      left[c] += session->done[i] != RG_STATUS_FAILED;
  report->n_cells = n;
  report->first_cell_failed = -1;
  for (int i = n - 1; i >= 0; i--) {
    if (left[i] > session->cell_failed[i]) continue;
    report->n_cells_failed++;
    report->first_cell_failed = i;
  }
  PetscCall(PetscFree(left));
  PetscFunctionReturn(0);
}

/* An MPI_User_function: join the reasons of two groups of ranks, the lower ranks first. */
static void join_reasons(void *in, void *inout, int *n, MPI_Datatype *type)
{
  const RgReasons *const lower = in;
  RgReasons *const higher = inout;

  (void)type;
  for (int i = 0; i < *n; i++) {
    RgReasons joined = lower[i];
    rg_reasons_join(&joined, &higher[i]);
    higher[i] = joined;
  }
}

/* Report each distinct reason of a failure once, with its count. Collective. */
static PetscErrorCode tell_of_failures(RgSession *session)
{
  RgReasons all = {0};
  RgText folder = {0};
  MPI_Datatype type;
  MPI_Op join;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Type_contiguous((int)sizeof(RgReasons), MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCallMPI(MPI_Op_create(join_reasons, 0, &join));
  PetscCallMPI(MPI_Reduce(&session->failed, &all, 1, type, join, 0, session->comm));
  PetscCallMPI(MPI_Op_free(&join));
  PetscCallMPI(MPI_Type_free(&type));
  for (int k = 0; k < all.n; k++)
    rg_session_tell(session, -1, "failed %d time%s: %s", all.list[k].count,
                    all.list[k].count == 1 ? "" : "s", all.list[k].text);
  if (all.others) rg_session_tell(session, -1, "failed %d times for other reasons", all.others);
  PetscCall(rg_text_add(&folder, "%s/" RG_FOLDER_LOG, session->directory));
  if (all.n && !access(folder.data, F_OK))
    rg_session_tell(session, -1, "%s has the full texts", folder.data);
  PetscCall(rg_text_clear(&folder));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_finish(RgSession *session, RgRunReport *report)
{
  RgProgress progress;
  int speaker;

  PetscFunctionBeginUser;
  PetscCall(rg_session_wait(session, true));
  PetscCall(rg_stop_relay_finish(session->relay, &session->stop));
  PetscCall(rg_session_progress(session, true));
  PetscCall(rg_schedule_progress(session->schedule, &progress));
  PetscCallMPI(MPI_Bcast(&progress, (int)sizeof(progress), MPI_BYTE, 0, session->comm));
  PetscCall(rg_session_agree(session, &speaker));
  if (session->outcome == RG_RUN_COMPLETE) PetscCall(rg_guard_destroy(&session->guard));
  bool all = progress.n_finished == progress.n_total;
  if (!all && session->outcome == RG_RUN_COMPLETE) session->outcome = RG_RUN_STOPPED;
  if (session->options->parts && session->outcome == RG_RUN_COMPLETE) {
    PetscCall(look_at_parts(session, &progress, &all));
    if (!all && session->outcome == RG_RUN_COMPLETE) session->outcome = RG_RUN_PART;
  }
  if (session->outcome == RG_RUN_COMPLETE) PetscCall(pack(session));
  PetscCall(tell_of_failures(session));
  report->stop = session->stop;
  report->n_finished = progress.n_finished;
  PetscCall(count_failed_cells(session, report));
  report->n_failed = progress.n_failed - report->n_kept;
  PetscFunctionReturn(0);
}
