/* regatta run STUDY.yaml -o OUT.h5: load, plan, schedule, finish, report. */
#include "cli/run_session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "study/record/software.h"
#include "study/trial/trial.h"

enum { OPT_OUTPUT, OPT_WALLTIME, OPT_STRICT, OPT_QUIET, OPT_RETRY_FAILED, OPT_CROSSOVER };

static const RgOption options[] = {
  {"-o", "OUT.h5", "results file (default: the study's name, .h5, in the working directory)"},
  {"-walltime", "SECONDS", "stop cleanly after so many seconds (also H:M:S)"},
  {"-strict", NULL, "exit code 1 when a trial failed"},
  {"-quiet", NULL, "no progress"},
  {"-retry-failed", NULL, "run trials again that are recorded as failed"},
  {"-crossover", "N", "data from which a team of ranks shares a matrix (default: as measured)"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

/* ---- run ------------------------------------------------------------------------------------- */

/* A trial whose team took part has the bits of that team size only, which is as good as another
   machine. */
static PetscErrorCode fill_provenance(const RgSession *s, const RgCell *cell, RgRecord *record)
{
  RgText plugins = {0}, software = {0};
  char *own;
  RgProvenance *p = &record->provenance;

  PetscFunctionBeginUser;
  snprintf(p->host, sizeof(p->host), "%s", s->host);
  p->rank = s->rank;
  p->ranks = s->ranks;
  p->fingerprint =
    rg_registry_fingerprint(s->registry, cell, s->fingerprint.hash) + (uint64_t)(p->team - 1);
  PetscCall(PetscStrallocpy(s->machine, &p->machine));
  PetscCall(rg_registry_describe(s->registry, cell, &plugins));
  if (plugins.length) { /* else the store knows */
    PetscCall(rg_software_describe(&own));
    PetscCall(rg_text_add(&software, "%s%s", own, plugins.data));
    p->software = software.data;
    PetscCall(PetscFree(own));
  }
  PetscCall(rg_text_clear(&plugins));
  PetscFunctionReturn(0);
}

/* A disk that has been saying no for longer than this ends the run. */
static const double patience = 600.0;

/* Tell the user once per spell of trouble; *give_up when it has lasted too long. */
static PetscErrorCode look_at_disk(RgSession *s, RgStoreStatus status, const char *message,
                                   bool *give_up)
{
  int n;
  size_t bytes;
  double troubled;

  PetscFunctionBeginUser;
  PetscCall(rg_store_pending(s->store, &n, &bytes, &troubled));
  if (status != RG_STORE_OK && !s->told)
    fprintf(stderr, "regatta: rank %d: %s; %d finished trials wait in memory\n", s->rank, message,
            n);
  s->told = troubled > 0;
  *give_up = troubled > patience;
  PetscFunctionReturn(0);
}

/* Between iterations: commit what is due, show progress, hear whether to stop. */
static PetscErrorCode look_around(RgSession *s)
{
  RgStoreStatus status;
  char message[512] = "";
  bool give_up;

  PetscFunctionBeginUser;
  PetscCall(rg_store_flush(s->store, false, &status, message));
  PetscCall(look_at_disk(s, status, message, &give_up));
  rg_progress_show(&s->meter, s->schedule, false);
  PetscCall(rg_stop_relay_look(s->relay, &s->stop));
  PetscFunctionReturn(0);
}

static bool should_stop(void *closure)
{
  RgSession *s = closure;

  if (!s->broken) s->broken = look_around(s);
  return s->broken || s->stop != RG_STOP_NONE;
}

static PetscErrorCode commit(RgSession *s, RgRecord *record, bool *give_up)
{
  RgStoreStatus status;
  char message[512] = "";

  PetscFunctionBeginUser;
  PetscCall(rg_store_add(s->store, record, &status, message));
  PetscCall(look_at_disk(s, status, message, give_up));
  PetscFunctionReturn(0);
}

/* Commit what is left; while the disk says no, until the patience ends or a stop is asked for. */
static PetscErrorCode drain(RgSession *s)
{
  RgStoreStatus status;
  char message[512] = "";
  bool give_up = false;

  PetscFunctionBeginUser;
  for (double pause = 0.1;; pause = PetscMin(2 * pause, 5.0)) {
    PetscCall(rg_store_flush(s->store, true, &status, message));
    PetscCall(look_at_disk(s, status, message, &give_up));
    PetscCall(rg_stop_relay_look(s->relay, &s->stop));
    if (status == RG_STORE_OK || give_up || s->stop != RG_STOP_NONE) break;
    PetscCall(PetscSleep(pause));
  }
  if (status != RG_STORE_OK) {
    fprintf(stderr, "regatta: rank %d: %s; trials that were not committed will run again\n",
            s->rank, message);
    s->exit_code = RG_EXIT_STORAGE;
  }
  PetscFunctionReturn(0);
}

/* mpirun leaves one second between TERM and KILL. Where an iteration takes that long nothing may
   wait in memory for its end. */
static PetscErrorCode flush_before(RgSession *s, const RgTrial *trial)
{
  RgStoreStatus status;
  char message[512] = "";
  bool give_up;

  PetscFunctionBeginUser;
  if (trial->cost < 0.3 * trial->n_evaluations) PetscFunctionReturn(0);
  PetscCall(rg_store_flush(s->store, true, &status, message));
  PetscCall(look_at_disk(s, status, message, &give_up));
  PetscFunctionReturn(0);
}

static void complain_of_log(RgSession *s, const char *message)
{
  fprintf(stderr, "regatta: rank %d: %s; an evaluation that could not be logged will run again\n",
          s->rank, message);
  s->exit_code = RG_EXIT_STORAGE;
}

/* The trials of one level, on the leader of a team. */
static PetscErrorCode run_level(RgSession *s, int level, bool *give_up)
{
  char directory[sizeof(s->output) + 2];
  RgChild *child = NULL;
  RgTrialHost host = {.stop = should_stop,
                      .stop_closure = s,
                      .directory = directory,
                      .child = &child,
                      .instances = s->instances,
                      .team = s->team[level]};

  PetscFunctionBeginUser;
  snprintf(directory, sizeof(directory), "%s.d", s->output);
  while (!*give_up && !should_stop(s)) {
    RgRecord record = {0};
    int index;
    bool stopped;
    PetscCall(rg_schedule_next(s->schedule, level, &index));
    if (index < 0) break;
    const RgTrial *trial = &s->plan.trials[index];
    PetscCall(flush_before(s, trial));
    PetscCall(rg_trial_run(&s->study, trial, &host, &record, &stopped));
    PetscCall(s->broken);
    if (host.trouble[0]) complain_of_log(s, host.trouble);
    if (stopped) break;
    PetscCall(fill_provenance(s, &s->study.cells[trial->cell], &record));
    bool failed = record.status == RG_STATUS_FAILED;
    PetscCall(commit(s, &record, give_up));
    PetscCall(rg_schedule_finished(s->schedule, trial, failed));
    rg_progress_show(&s->meter, s->schedule, false);
  }
  PetscCall(rg_child_close(&child, true));
  PetscCall(s->broken);
  PetscFunctionReturn(0);
}

static PetscErrorCode look_while_serving(void *closure)
{
  PetscFunctionBeginUser;
  PetscCall(look_around(closure));
  PetscFunctionReturn(0);
}

/* Level by level; ranks that don't lead serve their leader until it has no more work for them. */
static PetscErrorCode run_trials(RgSession *s)
{
  bool give_up = false;

  PetscFunctionBeginUser;
  for (int level = 0; level < s->teams.n; level++) {
    if (rg_team_is_leader(s->team[level])) {
      PetscCall(run_level(s, level, &give_up));
      PetscCall(rg_team_dismiss(s->team[level]));
    } else {
      PetscCall(rg_team_serve(s->team[level], look_while_serving, s));
    }
  }
  PetscCall(drain(s));
  PetscFunctionReturn(0);
}

/* A barrier that leaves the core to ranks still at work, and keeps the progress line alive. */
static PetscErrorCode wait_for_all(RgSession *s)
{
  MPI_Request request;
  int arrived = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
  for (double pause = 1e-4; !arrived; pause = PetscMin(1.5 * pause, 0.02)) {
    PetscCallMPI(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
    if (arrived) break;
    rg_progress_show(&s->meter, s->schedule, false);
    PetscCall(rg_stop_relay_look(s->relay, &s->stop));
    PetscCall(PetscSleep(pause));
  }
  PetscCall(rg_stop_relay_finish(s->relay, &s->stop));
  PetscFunctionReturn(0);
}

/* ---- end ------------------------------------------------------------------------------------- */

static PetscErrorCode pack(RgSession *s)
{
  RgStoreStatus status;
  char message[512] = "";

  PetscFunctionBeginUser;
  if (s->rank == 0) {
    PetscCall(rg_store_pack(s->store, &s->plan, &status, message));
    if (status != RG_STORE_OK) {
      rg_complain("%s; the finished trials are safe in %s.d", message, s->output);
      s->exit_code = status == RG_STORE_FOREIGN ? RG_EXIT_BAD_INPUT : RG_EXIT_STORAGE;
    }
  }
  PetscCallMPI(MPI_Bcast(&s->exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  PetscFunctionReturn(0);
}

static void report(const RgSession *s, const RgProgress *progress, bool complete, double wall)
{
  int failed = s->scan.n_failed + progress->n_failed;

  if (complete) {
    rg_say("%s: %d trials in %s (%d run now, %.1f s)\n", s->study.name, s->plan.n, s->output,
           progress->n_finished, wall);
  } else {
    rg_say("%s: stopped by %s with %d of %d trials finished; %sthe same command resumes\n",
           s->study.name, rg_stop_describe(s->stop), s->scan.n_done + progress->n_finished,
           s->plan.n, s->stop == RG_STOP_FILE ? "once it is removed " : "");
  }
  if (failed) rg_say("%d trials failed; regatta info %s says why\n", failed, s->output);
}

static PetscErrorCode finish(RgSession *s, double start)
{
  RgProgress progress;

  PetscFunctionBeginUser;
  PetscCall(wait_for_all(s));
  rg_progress_show(&s->meter, s->schedule, true);
  PetscCall(rg_schedule_progress(s->schedule, &progress));
  PetscCallMPI(MPI_Bcast(&progress, (int)sizeof(progress), MPI_BYTE, 0, MPI_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->exit_code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  bool complete = progress.n_finished == progress.n_total;
  if (complete && s->exit_code == RG_EXIT_OK) PetscCall(pack(s));
  if (s->exit_code == RG_EXIT_OK) report(s, &progress, complete, rg_wall_seconds() - start);
  if (s->exit_code == RG_EXIT_OK && s->strict && s->scan.n_failed + progress.n_failed)
    s->exit_code = RG_EXIT_FAILED_TRIALS;
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy(RgSession *s)
{
  PetscFunctionBeginUser;
  PetscCall(rg_session_disband_teams(s));
  PetscCall(rg_schedule_destroy(&s->schedule));
  PetscCall(rg_stop_relay_destroy(&s->relay));
  PetscCall(rg_store_close(&s->store));
  PetscCall(PetscFree(s->done));
  PetscCall(rg_plan_destroy(&s->plan));
  PetscCall(rg_instances_destroy(&s->instances));
  PetscCall(rg_study_destroy(&s->study));
  PetscCall(rg_registry_destroy(&s->registry));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_command_run(int argc, char **argv, int *exit_code)
{
  RgSession s = {0};
  RgArguments arguments;
  bool ok;
  double begin = rg_wall_seconds();

  PetscFunctionBeginUser;
  PetscCall(rg_arguments_parse(argc, argv, "run STUDY.yaml [-o OUT.h5] [options]", options, 1, 1,
                               &arguments, &ok, exit_code));
  if (!ok) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &s.rank));
  PetscCallMPI(MPI_Comm_size(MPI_COMM_WORLD, &s.ranks));
  s.strict = arguments.option[OPT_STRICT] != NULL;
  s.quiet = arguments.option[OPT_QUIET] != NULL;
  if (arguments.option[OPT_CROSSOVER]) {
    char *end;
    const long number = strtol(arguments.option[OPT_CROSSOVER], &end, 10);
    if (*end || number < 1 || number > INT_MAX) {
      rg_complain("run: -crossover must be a whole number from 1 on, got '%s'",
                  arguments.option[OPT_CROSSOVER]);
      *exit_code = RG_EXIT_BAD_INPUT;
      PetscFunctionReturn(0);
    }
    s.crossover = (int)number;
  }
  s.retry_failed = arguments.option[OPT_RETRY_FAILED] != NULL;

  PetscCall(rg_plugins_load(argc, argv, &s.registry, &s.exit_code));
  if (s.exit_code == RG_EXIT_OK)
    PetscCall(rg_session_start(&s, arguments.positional[0], arguments.option[OPT_OUTPUT],
                               arguments.option[OPT_WALLTIME]));
  if (s.exit_code == RG_EXIT_OK) {
    PetscCall(run_trials(&s));
    PetscCall(finish(&s, begin));
  }
  *exit_code = s.exit_code;
  PetscCall(destroy(&s));
  PetscFunctionReturn(0);
}
