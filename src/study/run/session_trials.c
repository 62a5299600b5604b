/* The trials of a run on one rank: take a trial, run it, commit it, call the observer in
   between. */
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "study/record/software.h"
#include "study/run/programs.h"
#include "study/run/session.h"
#include "study/file/registry.h"
#include "study/trial/trial.h"

/* A trial whose team took part has bits that depend on the team size, as if from another
   machine. */
static PetscErrorCode fill_provenance(const RgSession *session, const RgCell *cell,
                                      RgRecord *record)
{
  const RgRegistry *registry = session->plan->study->registry;
  RgText plugins = {0}, software = {0};
  char *own;
  RgProvenance *p = &record->provenance;
  char *versions = p->software; /* reported by the trial's program */

  snprintf(p->host, sizeof(p->host), "%s", session->host);
  p->rank = session->rank;
  p->ranks = session->ranks;
  if (session->options->retry_failed || session->options->recompute)
    p->generation = session->scan.generation + 1;
  p->fingerprint =
    rg_registry_fingerprint(registry, cell, session->fingerprint.hash) + (uint64_t)(p->team - 1);
  PetscCall(PetscStrallocpy(session->machine, &p->machine));
  PetscCall(rg_registry_describe(registry, cell, &plugins));
  p->software = NULL; /* the store fills it in */
  if (plugins.length) {
    PetscCall(rg_software_describe(&own));
    PetscCall(rg_text_add(&software, "%s%s%s", own, versions ? versions : "", plugins.data));
    p->software = software.data;
    PetscCall(PetscFree(own));
  }
  PetscCall(PetscFree(versions));
  return rg_text_clear(&plugins);
}

/* ---- the disk -------------------------------------------------------------------------------- */

/* A disk that refuses commits for longer than this ends the run. */
static const double patience = 600.0;

/* Report trouble with the disk once per period; *give_up if it lasts too long. */
static PetscErrorCode check_disk(RgSession *session, const RgFault *fault, bool *give_up)
{
  int n;
  size_t bytes;
  double troubled;

  rg_guard_lock(session->guard);
  PetscCall(rg_store_pending(session->store, &n, &bytes, &troubled));
  rg_guard_unlock(session->guard);
  if (fault->code && !session->told)
    rg_session_tell(session, session->rank, "%s; %d finished trials wait in memory", fault->message,
                    n);
  session->told = troubled > 0;
  *give_up = troubled > patience || rg_fault_lasts(fault);
  return 0;
}

static void trouble_with_storage(RgSession *session, const char *message, const char *consequence)
{
  snprintf(session->message, sizeof(session->message), "%.400s; %s", message, consequence);
  session->outcome = RG_RUN_STORAGE;
  rg_session_tell(session, session->rank, "%s; %s", message, consequence);
}

/* Commit the remaining records. If the disk refuses, retry until the patience ends or a stop is
   requested. */
static PetscErrorCode drain(RgSession *session)
{
  RgFault fault;
  bool give_up;

  for (double pause = 0.1;; pause = PetscMin(2 * pause, 5.0)) {
    rg_guard_lock(session->guard);
    PetscCall(rg_store_flush(session->store, true, &fault));
    rg_guard_unlock(session->guard);
    PetscCall(check_disk(session, &fault, &give_up));
    PetscCall(rg_stop_relay_poll(session->relay, &session->stop));
    if (!fault.code || give_up || session->stop != RG_STOP_NONE) break;
    PetscCall(PetscSleep(pause));
  }
  if (fault.code)
    trouble_with_storage(session, fault.message, "trials that were not committed will run again");
  return 0;
}

/* ---- one level of teams ---------------------------------------------------------------------- */

/* mpirun leaves one second between TERM and KILL. So before an iteration of such length nothing
   may stay uncommitted in memory. */
static const double long_pause = 0.3;
/* In a cell without earlier trials, or with growing iterations, an iteration may take any time.
   Records that have waited for about a second are committed before. Where the forecast is wrong,
   the guard commits. */
static const double short_pause = 0.03;
static const double ahead = 29;

/* Commit what becomes due before the next poll: the time until then is `likely` what was
   declared or measured before, and pending records must be safe for a time that is `possible`. */
static PetscErrorCode flush_ahead(RgSession *session)
{
  const RgTrial *trial = session->trial;
  double likely = 0, possible = 0;
  RgFault fault;
  bool give_up;

  if (trial) {
    const double last = session->pause[trial->cell];
    const double each = trial->cost / PetscMax(trial->n_evaluations, 1);
    likely = PetscMax(PetscMax(last, session->longest), each);
    if (session->alone && last < 0) likely = PETSC_MAX_REAL;
    if (session->alone || last < 0 || likely >= short_pause) possible = ahead;
    if (likely >= long_pause) possible = PETSC_MAX_REAL;
  }
  rg_guard_lock(session->guard);
  PetscCall(rg_store_flush_ahead(session->store, likely, possible, &fault));
  rg_guard_unlock(session->guard);
  return check_disk(session, &fault, &give_up);
}

static void measure_pause(RgSession *session)
{
  const double now = rg_wall_seconds();

  session->longest = PetscMax(session->longest, now - session->polled);
  session->polled = now;
}

/* Called between iterations: commit what is due, show progress, check for a stop. */
static PetscErrorCode poll(void *closure)
{
  RgSession *session = closure;

  measure_pause(session);
  if (session->trial)
    PetscCall(rg_schedule_update(session->schedule, session->trial, *session->n_known,
                                 session->polled - session->trial_begun));
  PetscCall(flush_ahead(session));
  PetscCall(rg_session_progress(session, false));
  PetscCall(rg_stop_relay_poll(session->relay, &session->stop));
  PetscCall(rg_holder_poll(session->holder));
  rg_guard_begin_pause(session->guard, session->stop);
  session->polled = rg_wall_seconds();
  return 0;
}

static bool should_stop(void *closure)
{
  RgSession *session = closure;

  if (!session->broken) session->broken = poll(session);
  return session->broken || session->stop != RG_STOP_NONE;
}

static PetscErrorCode commit(RgSession *session, const RgTrial *trial, RgRecord *record,
                             bool *give_up)
{
  const bool failed = record->status == RG_STATUS_FAILED;
  const bool kept = failed && PetscBTLookup(session->again, trial->index);
  const double wall = record->provenance.wall;
  RgFault fault;

  if (kept) {
    /* Report a repeated trial that failed now and was complete before: its earlier record stays. */
    session->n_kept++;
    rg_session_tell(
      session, session->rank,
      "%.100s on %.100s, seed %llu, failed when it was run again (%.200s); its earlier "
      "record stays",
      record->cell->algorithm_label, record->cell->problem_label, (unsigned long long)record->seed,
      record->message);
  }
  if (!failed && record->message[0]) {
    /* Report an excess over the optimum once per problem; every record has its own message. */
    const RgCell *cells = session->plan->study->cells;
    int first = trial->cell; /* of its problem */
    while (first > 0 && !strcmp(cells[first - 1].problem_label, cells[first].problem_label))
      first--;
    if (!PetscBTLookupSet(session->exceeded, first))
      rg_session_tell(session, session->rank, "%.100s on %.100s, seed %llu: %.200s",
                      record->cell->algorithm_label, record->cell->problem_label,
                      (unsigned long long)record->seed, record->message);
  }
  PetscCall(fill_provenance(session, &session->plan->study->cells[trial->cell], record));
  rg_guard_lock(session->guard);
  PetscCall(rg_store_add(session->store, record, &fault));
  rg_guard_unlock(session->guard);
  PetscCall(check_disk(session, &fault, give_up));
  session->cell_failed[trial->cell] += failed && !kept;
  return rg_schedule_finished(session->schedule, trial, failed, wall);
}

/* Run the trials of one level, on the leader of a team. */
static PetscErrorCode run_level(RgSession *session, int level, bool *give_up)
{
  RgChild *child = NULL;
  RgPrograms here, on_team = {0};
  RgTrialServices host = {.stop = should_stop,
                          .stop_closure = session,
                          .directory = session->directory,
                          .child = &child,
                          .log = session->log,
                          .reasons = &session->failed,
                          .instances = session->instances,
                          .team = session->team[level]};

  session->n_known = &host.n;
  PetscCall(rg_programs_here(session->log, &here));
  if (session->holding != MPI_COMM_NULL) PetscCall(rg_programs_on_team(session->holding, &on_team));
  while (!*give_up && !should_stop(session)) {
    RgRecord record = {0};
    RgTrial trial;
    int index;
    bool stopped;
    PetscCall(rg_schedule_next(session->schedule, level, &index));
    if (index < 0) break;
    PetscCall(rg_plan_trial(session->plan, index, &trial));
    const RgCell *cell = &session->plan->study->cells[trial.cell];
    host.programs = cell->run.ranks_per_trial > 1 ? &on_team : &here;
    host.n = 0;
    session->trial = &trial;
    session->longest = 0;
    PetscCall(flush_ahead(session));
    session->polled = session->trial_begun = rg_wall_seconds();
    PetscCall(rg_trial_run(session->plan->study, &trial, &host, &record, &stopped));
    measure_pause(session);
    session->pause[trial.cell] = session->longest;
    session->trial = NULL;
    PetscCall(session->broken);
    if (host.trouble.code)
      trouble_with_storage(session, host.trouble.message,
                           "an evaluation that could not be logged will run again");
    if (stopped) break;
    PetscCall(commit(session, &trial, &record, give_up));
    PetscCall(rg_session_progress(session, false));
  }
  PetscCall(rg_child_close(&child, true));
  PetscCall(rg_programs_destroy(&here));
  PetscCall(rg_programs_destroy(&on_team));
  PetscCall(session->broken);
  return 0;
}

/* Longer than the minute that an external program has to answer after a stop. */
static const double grace = 90.0;

/* Whether no other thread may commit: a plug-in may be inside HDF5, or PETSc keeps a list of its
   memory, or a stack of its calls, without locks. */
static PetscErrorCode commits_alone(const RgSession *session, bool *alone)
{
  PetscBool traced = PETSC_FALSE;

#if defined(PETSC_USE_DEBUG)
  traced = PETSC_TRUE;
#else
  PetscCall(PetscMallocGetDebug(&traced, NULL, NULL));
#endif
  *alone = traced ||
           (!rg_store_is_threadsafe() && rg_registry_shares_hdf5(session->plan->study->registry));
  return 0;
}

/* Run level by level. Ranks that don't lead serve their leader until it has no more work. */
PetscErrorCode rg_session_trials(RgSession *session)
{
  const RgStudy *study = session->plan->study;
  const double asked = session->options->grace;
  bool give_up = false, on_team = false;

  PetscCall(commits_alone(session, &session->alone));
  PetscCall(rg_guard_create(&(RgGuardOptions){.store = session->store,
                                              .observer = session->observer,
                                              .rank = session->rank,
                                              .commits = !session->alone,
                                              .deadline = session->deadline,
                                              .grace = asked > 0 ? asked : grace},
                            &session->guard));
  PetscCall(PetscMalloc1(study->n_cells, &session->pause));
  for (int c = 0; c < study->n_cells; c++) {
    session->pause[c] = -1;
    on_team = on_team || (study->cells[c].crew.clock && study->cells[c].run.ranks_per_trial > 1);
  }
  if (on_team) PetscCallMPI(MPI_Comm_dup(session->comm, &session->holding));
  for (int level = 0; level < session->teams.n; level++) {
    if (rg_team_is_leader(session->team[level])) {
      PetscCall(run_level(session, level, &give_up));
      PetscCall(rg_team_release(session->team[level]));
    } else {
      if (on_team) PetscCall(rg_holder_create(session->holding, session->log, &session->holder));
      PetscCall(rg_team_serve(session->team[level], poll, session));
      PetscCall(rg_holder_destroy(&session->holder));
    }
  }
  PetscCall(rg_schedule_complete(session->schedule));
  return drain(session);
}
