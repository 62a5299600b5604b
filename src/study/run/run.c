/* rg_run: runs a study, from its plan to its results file. */
#include "regatta/run.h"

#include <stdio.h>

#include "base/clock.h"
#include "maths/blas.h"
#include "study/run/session.h"

static PetscErrorCode run(RgSession *session, RgRunReport *report)
{
  const double begin = rg_wall_seconds();
  MPI_Comm here;

  PetscCall(rg_clock_initialize());
  PetscCallMPI(MPI_Comm_rank(session->comm, &session->rank));
  PetscCallMPI(MPI_Comm_size(session->comm, &session->ranks));
  PetscCallMPI(MPI_Comm_split_type(session->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
  PetscCallMPI(MPI_Comm_size(here, &session->ranks_here));
  PetscCallMPI(MPI_Comm_free(&here));
  PetscCall(rg_session_start(session));
  if (session->outcome == RG_RUN_COMPLETE) {
    PetscCall(rg_session_trials(session));
    PetscCall(rg_session_finish(session, report));
  }
  report->outcome = session->outcome;
  report->n_trials = session->plan->n;
  report->n_earlier = session->scan.n_done;
  report->n_earlier_failed = session->scan.n_failed;
  report->n_others = rg_origin_others(&session->origins);
  report->seconds = rg_wall_seconds() - begin;
  snprintf(report->message, sizeof(report->message), "%s", session->message);
  PetscCall(rg_session_destroy(session));
  return 0;
}

PetscErrorCode rg_run(MPI_Comm comm, const RgPlan *plan, const RgRunOptions *options,
                      const RgObserver *observer, RgRunReport *report)
{
  RgSession session = {
    .plan = plan, .options = options, .observer = observer, .holding = MPI_COMM_NULL};
  RgNumerics before;

  PetscCheck(options->output, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "a run needs the path of its results file");
  PetscCheck(options->parts == 0 || (options->part >= 1 && options->part <= options->parts),
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "there is no part %d of %d", options->part,
             options->parts);
  *report = (RgRunReport){0};
  PetscCallMPI(MPI_Comm_dup(comm, &session.comm));
  rg_numerics_set(&before);
  PetscErrorCode error = run(&session, report);
  rg_numerics_restore(&before);
  PetscCall(error);
  return 0;
}
