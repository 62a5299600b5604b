/* regatta run STUDY.yaml -o OUT.h5: load, plan, schedule, finish, report. */
#include "cli/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/progress.h"
#include "study/fingerprint.h"
#include "study/schedule.h"
#include "study/stop_relay.h"
#include "study/store.h"
#include "study/trial.h"

enum { OPT_OUTPUT, OPT_WALLTIME, OPT_STRICT, OPT_QUIET };

static const RgOption options[] = {
    {"-o", "OUT.h5", "results file (default: the study's name, .h5, in the working directory)"},
    {"-walltime", "SECONDS", "stop cleanly after so many seconds (also H:M:S)"},
    {"-strict", NULL, "exit code 1 when a trial failed"},
    {"-quiet", NULL, "no progress"},
    {NULL, NULL, NULL},
};

/* Everything a run holds. */
typedef struct {
  int rank, ranks;
  bool strict;
  bool told; /* the user knows that the disk says no */
  char output[4096];
  RgStudy study;
  RgPlan plan;
  unsigned char *done; /* RgStatus per trial, known before the run */
  RgStoreScan scan;
  RgStore *store;
  RgSchedule *schedule;
  RgStopRelay *relay;
  RgStopReason stop;     /* NONE: go on */
  PetscErrorCode broken; /* of should_stop, which can't return it */
  RgProgressMeter meter;
  RgFingerprint fingerprint;
  char host[RG_NAME_MAX];
  char machine[256]; /* BLAS core, threads, CPU, tuning: for the provenance of records */
  int exit_code;
} Session;

/* ---- start ----------------------------------------------------------------------------------- */

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

static PetscErrorCode load_study(Session *s, const char *path)
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
  PetscCall(rg_study_parse(path, text, (size_t)length, &s->study, &diagnostics));
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

/* Open the store on every rank and learn what is finished already. A STOP file of an earlier stop
   is not obeyed again (a batch script that requeues would go round in circles) and not removed (who
   put it there may still mean it): the run does not start. */
static PetscErrorCode open_store(Session *s, const char *stop_file)
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
    } else if (message[0]) {
      rg_complain("%s", message);
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
static PetscErrorCode compare_fingerprints(Session *s)
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

/* ---- run ------------------------------------------------------------------------------------- */

static PetscErrorCode fill_provenance(const Session *s, RgRecord *record)
{
  RgProvenance *p = &record->provenance;

  PetscFunctionBeginUser;
  snprintf(p->host, sizeof(p->host), "%s", s->host);
  p->rank = s->rank;
  p->ranks = s->ranks;
  p->fingerprint = s->fingerprint.hash;
  PetscCall(PetscStrallocpy(s->machine, &p->machine));
  PetscFunctionReturn(0);
}

/* A disk that has been saying no for longer than this ends the run. */
static const double patience = 600.0;

/* Tell the user once per spell of trouble; *give_up when it has lasted too long. */
static PetscErrorCode look_at_disk(Session *s, RgStoreStatus status, const char *message,
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
static PetscErrorCode look_around(Session *s)
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

static bool should_stop(void *context)
{
  Session *s = context;

  if (!s->broken) s->broken = look_around(s);
  return s->broken || s->stop != RG_STOP_NONE;
}

static PetscErrorCode commit(Session *s, RgRecord *record, bool *give_up)
{
  RgStoreStatus status;
  char message[512] = "";

  PetscFunctionBeginUser;
  PetscCall(rg_store_add(s->store, record, &status, message));
  PetscCall(look_at_disk(s, status, message, give_up));
  PetscFunctionReturn(0);
}

/* Commit what is left; while the disk says no, until the patience ends or a stop is asked for. */
static PetscErrorCode drain(Session *s)
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
static PetscErrorCode flush_before(Session *s, const RgTrial *trial)
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

static PetscErrorCode run_trials(Session *s)
{
  bool give_up = false;

  PetscFunctionBeginUser;
  while (!give_up && !should_stop(s)) {
    RgRecord record = {0};
    int index;
    bool stopped;
    PetscCall(rg_schedule_next(s->schedule, &index));
    if (index < 0) break;
    const RgTrial *trial = &s->plan.trials[index];
    PetscCall(flush_before(s, trial));
    PetscCall(rg_trial_run(&s->study, trial, should_stop, s, &record, &stopped));
    PetscCall(s->broken);
    if (stopped) break;
    PetscCall(fill_provenance(s, &record));
    bool failed = record.status == RG_STATUS_FAILED;
    PetscCall(commit(s, &record, &give_up));
    PetscCall(rg_schedule_finished(s->schedule, trial, failed));
    rg_progress_show(&s->meter, s->schedule, false);
  }
  PetscCall(s->broken);
  PetscCall(drain(s));
  PetscFunctionReturn(0);
}

/* A barrier that leaves the core to ranks still at work, and keeps the progress line alive. */
static PetscErrorCode wait_for_all(Session *s)
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

static PetscErrorCode pack(Session *s)
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

static void report(const Session *s, const RgProgress *progress, bool complete, double wall)
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

static PetscErrorCode finish(Session *s, double start)
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

static PetscErrorCode destroy(Session *s)
{
  PetscFunctionBeginUser;
  PetscCall(rg_schedule_destroy(&s->schedule));
  PetscCall(rg_stop_relay_destroy(&s->relay));
  PetscCall(rg_store_close(&s->store));
  PetscCall(PetscFree(s->done));
  PetscCall(rg_plan_destroy(&s->plan));
  PetscCall(rg_study_destroy(&s->study));
  PetscFunctionReturn(0);
}

static PetscErrorCode start(Session *s, const RgArguments *arguments)
{
  double walltime = 0;
  char stop_file[4200];

  PetscFunctionBeginUser;
  if (arguments->option[OPT_WALLTIME]) walltime = parse_duration(arguments->option[OPT_WALLTIME]);
  if (walltime < 0) {
    rg_complain("run: -walltime must be seconds or H:M:S, got '%s'",
                arguments->option[OPT_WALLTIME]);
    s->exit_code = RG_EXIT_BAD_INPUT;
    PetscFunctionReturn(0);
  }
  PetscCall(load_study(s, arguments->positional[0]));
  if (s->exit_code) PetscFunctionReturn(0);
  if (arguments->option[OPT_OUTPUT])
    snprintf(s->output, sizeof(s->output), "%s", arguments->option[OPT_OUTPUT]);
  else
    snprintf(s->output, sizeof(s->output), "%s.h5", s->study.name);
  snprintf(stop_file, sizeof(stop_file), "%s.d/STOP", s->output);
  PetscCall(rg_stop_initialize(walltime, stop_file));
  PetscCall(open_store(s, stop_file));
  if (s->exit_code) PetscFunctionReturn(0);
  PetscCall(compare_fingerprints(s));
  if (gethostname(s->host, sizeof(s->host) - 1)) snprintf(s->host, sizeof(s->host), "unknown");
  rg_progress_begin(&s->meter, s->rank == 0 && !arguments->option[OPT_QUIET]);
  PetscCall(rg_stop_relay_create(MPI_COMM_WORLD, &s->relay));
  PetscCall(rg_schedule_create(MPI_COMM_WORLD, &s->plan, s->done, &s->schedule));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_command_run(int argc, char **argv, int *exit_code)
{
  Session s = {0};
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

  PetscCall(start(&s, &arguments));
  if (s.exit_code == RG_EXIT_OK) {
    PetscCall(run_trials(&s));
    PetscCall(finish(&s, begin));
  }
  *exit_code = s.exit_code;
  PetscCall(destroy(&s));
  PetscFunctionReturn(0);
}
