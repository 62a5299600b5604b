/* The communication of a run between its ranks and with the observer. */
#include "study/run/session.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/number.h"

void rg_session_tell(const RgSession *session, int rank, const char *format, ...)
{
  char text[1024];
  va_list arguments;

  if (!session->observer || !session->observer->message) return;
  va_start(arguments, format);
  rg_format_list(text, sizeof(text), format, arguments);
  va_end(arguments);
  session->observer->message(session->observer->closure, rank, text);
}

PetscErrorCode rg_session_progress(RgSession *session, bool last)
{
  const RgObserver *observer = session->observer;
  const double now = rg_wall_seconds();
  RgProgress progress;

  PetscFunctionBeginUser;
  if (session->rank != 0 || !observer || !observer->progress) PetscFunctionReturn(0);
  if (now < session->next_progress && !last) PetscFunctionReturn(0);
  session->next_progress = now + observer->period;
  PetscCall(rg_schedule_progress(session->schedule, &progress));
  progress.seconds = now - session->begun;
  PetscCall(rg_schedule_left(session->schedule, progress.seconds, &progress.seconds_left));
  observer->progress(observer->closure, &progress, last);
  PetscFunctionReturn(0);
}

void rg_session_look_for_others(RgSession *session)
{
  if (session->shared || session->options->parts || !rg_store_is_shared(session->store)) return;
  session->shared = true;
  rg_session_tell(session, -1,
                  "another run works on %s at the same time: both run the trials that neither had "
                  "saved when they began; -part I/N shares them",
                  session->options->output);
}

void rg_session_note(RgSession *session, const RgFault *fault)
{
  if (!fault->code) return;
  session->outcome = fault->code == RG_FAULT_FOREIGN ? RG_RUN_REFUSED : RG_RUN_STORAGE;
  snprintf(session->message, sizeof(session->message), "%s", fault->message);
}

PetscErrorCode rg_session_wait(RgSession *session, bool look)
{
  MPI_Request request;
  int arrived = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Ibarrier(session->comm, &request));
  for (double pause = 1e-4; !arrived; pause = PetscMin(1.5 * pause, 0.005)) {
    PetscCallMPI(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
    if (arrived) break;
    if (look) PetscCall(rg_session_progress(session, false));
    if (look) PetscCall(rg_stop_relay_look(session->relay, &session->stop));
    if (look) rg_guard_look_away(session->guard, session->stop);
    PetscCall(PetscSleep(pause));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_agree(RgSession *session, int *speaker)
{
  int worst = (int)session->outcome, first;

  PetscFunctionBeginUser;
  PetscCall(rg_session_wait(session, false)); /* rank 0 may still process files */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, session->comm));
  first = worst == (int)session->outcome ? session->rank : INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, session->comm));
  PetscCallMPI(
    MPI_Bcast(session->message, (int)sizeof(session->message), MPI_CHAR, first, session->comm));
  session->outcome = (RgRunOutcome)worst;
  *speaker = first;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_destroy(RgSession *session)
{
  PetscFunctionBeginUser;
  PetscCall(rg_guard_destroy(&session->guard));
  for (int level = 0; level < session->teams.n; level++)
    PetscCall(rg_team_destroy(&session->team[level]));
  PetscCall(rg_teams_destroy(&session->teams));
  PetscCall(rg_schedule_destroy(&session->schedule));
  PetscCall(rg_stop_relay_destroy(&session->relay));
  PetscCall(rg_instances_destroy(&session->instances));
  PetscCall(rg_store_close(&session->store));
  PetscCall(PetscFree(session->pause));
  PetscCall(PetscBTDestroy(&session->share));
  PetscCall(RG_FREE(&session->done, &session->cell_failed));
  PetscCall(PetscBTDestroy(&session->exceeded));
  PetscCall(PetscBTDestroy(&session->again));
  if (session->holding != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&session->holding));
  PetscCallMPI(MPI_Comm_free(&session->comm));
  PetscFunctionReturn(0);
}
