/* rg_run: runs a study, from its plan to its results file, with the communication between its ranks
   and with the observer. */
#include "study/run/session.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/number.h"
#include "gp/posterior/posterior_ops.h"
#include "maths/blas.h"
#include "study/plan/cost.h"
#include "study/record/software.h"
#include "study/store/evaluation_log.h"
#include "study/trial/trial.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Shorter searches are not worth a file. */
static const double search_worth_keeping = 0.1; /* seconds */

/* ---- messages and agreement ------------------------------------------------------------------ */

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

  if (session->rank != 0 || !observer || !observer->progress) return 0;
  if (now < session->next_progress && !last) return 0;
  session->next_progress = now + observer->period;
  PetscCall(rg_schedule_progress(session->schedule, &progress));
  progress.seconds = now - session->begun;
  PetscCall(rg_schedule_left(session->schedule, progress.seconds, &progress.seconds_left));
  observer->progress(observer->closure, &progress, last);
  return 0;
}

/* Report another run on the same output, once; parts of a study expect each other. Rank 0. */
static void check_for_others(RgSession *session)
{
  if (session->shared || session->options->parts || !rg_store_is_shared(session->store)) return;
  session->shared = true;
  rg_session_tell(session, -1,
                  "another run works on %s at the same time: both run the trials that neither had "
                  "saved when they began; -part I/N shares them",
                  session->options->output);
}

/* Set the outcome and its message. mistake: NULL leaves the message empty. */
static void refuse(RgSession *session, RgRunOutcome outcome, const char *mistake)
{
  if (!mistake) return;
  session->outcome = outcome;
  if (mistake != session->message)
    snprintf(session->message, sizeof(session->message), "%s", mistake);
}

/* The same after a fault of the store: a foreign file is an error of the user, other faults come
   from the disk. */
static void refuse_fault(RgSession *session, const RgFault *fault)
{
  refuse(session, fault->code == RG_FAULT_FOREIGN ? RG_RUN_REFUSED : RG_RUN_STORAGE,
         fault->code ? fault->message : NULL);
}

/* A barrier that leaves the core to other processes. polls: it shows progress and polls for a stop
   meanwhile. Collective. */
static PetscErrorCode wait_for_all(RgSession *session, bool polls)
{
  MPI_Request request;
  int arrived = 0;

  PetscCallMPI(MPI_Ibarrier(session->comm, &request));
  for (double pause = 1e-4; !arrived; pause = PetscMin(1.5 * pause, 0.005)) {
    PetscCallMPI(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
    if (arrived) break;
    if (polls) PetscCall(rg_session_progress(session, false));
    if (polls) PetscCall(rg_stop_relay_poll(session->relay, &session->stop));
    if (polls) rg_guard_begin_pause(session->guard, session->stop);
    PetscCall(PetscSleep(pause));
  }
  return 0;
}

/* Agree on the worst outcome of all ranks and the message of the first rank with it. Collective. */
static PetscErrorCode agree(RgSession *session)
{
  int worst = (int)session->outcome;

  PetscCall(wait_for_all(session, false)); /* rank 0 may still process files */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, session->comm));
  session->speaker = worst == (int)session->outcome ? session->rank : INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &session->speaker, 1, MPI_INT, MPI_MIN, session->comm));
  PetscCallMPI(MPI_Bcast(session->message, (int)sizeof(session->message), MPI_CHAR,
                         session->speaker, session->comm));
  session->outcome = (RgRunOutcome)worst;
  return 0;
}

/* ---- teams ----------------------------------------------------------------------------------- */

/* Bytes for the store: shards in memory, and what an allocator reserves. */
static const double store_bytes = 64e6;

/* Check that the limit of address space leaves what the trials will map. */
static void check_address_space(RgSession *session)
{
  const RgPlan *plan = session->plan;

  for (int c = 0; c < plan->study->n_cells && !session->message[0]; c++) {
    const RgCell *cell = &plan->study->cells[c];
    for (int level = 0; level < session->teams.n; level++) {
      if (!rg_teams_trials(&session->teams, plan, c, level)) continue;
      const double bytes = rg_cost_bytes(cell, session->teams.size[level]);
      if (!rg_blas_mappable(bytes - rg_cost_process_bytes + store_bytes))
        rg_format(session->message, sizeof(session->message),
                  "'%.80s' on '%.80s' needs %.1f GB per rank, more than the limit of address space "
                  "(ulimit -v, ulimit -d, h_vmem) leaves",
                  cell->algorithm_label, cell->problem_label, bytes / 1e9);
    }
  }
}

/* Choose team sizes, and check that teams and memory are available; otherwise set outcome and
   message. Collective. */
static PetscErrorCode plan_teams(RgSession *session)
{
  bool possible;

  PetscCall(rg_schedule_possible(session->comm, &possible));
  if (!possible) {
    refuse(session, RG_RUN_REFUSED,
           "the ranks can't share a counter of trials: MPI has no one-sided communication between "
           "their hosts; with Open MPI, set OMPI_MCA_osc=^ucx");
    return 0;
  }
  PetscCall(rg_teams_create(session->plan, session->ranks, session->options->crossover,
                            &session->teams, session->message));
  if (!session->message[0])
    rg_teams_check_memory(session->plan, &session->teams,
                          (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
                          session->ranks_here, session->message);
  if (!session->message[0]) check_address_space(session);
  if (session->message[0]) refuse(session, RG_RUN_REFUSED, session->message);
  return 0;
}

/* Form teams of consecutive ranks, so that the teams of a level split into those of the next
   level. Collective. */
static PetscErrorCode form_teams(RgSession *session)
{
  for (int level = 0; level < session->teams.n; level++) {
    const int size = session->teams.size[level], asked = session->options->crossover;
    MPI_Comm comm;
    PetscCallMPI(MPI_Comm_split(session->comm, session->rank / size, session->rank, &comm));
    PetscCall(rg_team_create(comm, asked ? asked : rg_team_measured_crossover(size),
                             &session->team[level]));
    rg_team_set_worker(session->team[level], rg_posterior_worker);
    PetscCallMPI(MPI_Comm_free(&comm));
  }
  return 0;
}

/* ---- origins of finished trials -------------------------------------------------------------- */

typedef struct {
  RgSession *session;
  RgOriginReference reference;
  unsigned char *origin; /* RgOrigin by trial */
} Comparison;

static PetscErrorCode compare_record(void *closure, const RgRecord *record)
{
  const Comparison *comparison = closure;
  RgSession *session = comparison->session;
  RgOrigin origin;
  int trial;

  PetscCall(rg_plan_find(session->plan, record->id, &trial));
  if (trial < 0 || !session->done[trial]) return 0;
  PetscCall(
    rg_origin_compare(&comparison->reference, record, rg_plan_cell(session->plan, trial),
                      session->teams.size[rg_teams_level(&session->teams, session->plan, trial)],
                      &session->origins, &origin));
  comparison->origin[trial] = (unsigned char)origin;
  return 0;
}

/* Whether `label` selects a cell; "" selects all. */
static bool is_meant(const RgCell *cell, const char *label)
{
  return !label[0] || !strcmp(label, cell->algorithm_label) || !strcmp(label, cell->problem_label);
}

/* Check that the study has the label of -recompute. */
static void check_label(const RgSession *session, RgFault *fault)
{
  const RgStudy *study = session->plan->study;
  const char *label = session->options->recompute;

  if (!label) return;
  for (int c = 0; c < study->n_cells; c++)
    if (is_meant(&study->cells[c], label)) return;
  rg_fault_set(fault, RG_FAULT_FOREIGN,
               "-recompute: no problem or algorithm of this study has the label '%.100s'", label);
}

/* Whether a trial belongs to this run's part. */
static bool is_ours(const RgSession *session, int trial)
{
  return !session->share || PetscBTLookup(session->share, trial);
}

/* Mark trials of other origin as missing if they are to run again. */
static PetscErrorCode remove_others(RgSession *session, const unsigned char *origin)
{
  const RgPlan *plan = session->plan;
  const char *label = session->options->recompute;

  for (int i = 0; label && i < plan->n; i++) {
    if (!session->done[i] || !is_ours(session, i) || origin[i] == RG_ORIGIN_SAME) continue;
    if (!is_meant(&plan->study->cells[rg_plan_cell(plan, i)], label)) continue;
    session->scan.n_done--;
    session->scan.n_failed -= session->done[i] == RG_STATUS_FAILED;
    session->origins.n[origin[i]]--;
    if (session->done[i] == RG_STATUS_COMPLETE) PetscCall(PetscBTSet(session->again, i));
    session->done[i] = RG_STATUS_MISSING;
  }
  return 0;
}

/* ---- another optimum ------------------------------------------------------------------------- */

/* Recompute the regrets of a finished trial, and count it, if its optimum has changed. The new
   record is of the next generation, so that it replaces the old one. */
static PetscErrorCode rescore(RgSession *session, const double *optima, RgRecord *record,
                              int *count, RgFault *fault)
{
  const RgStudy *study = session->plan->study;
  int trial;

  PetscCall(rg_plan_find(session->plan, record->id, &trial));
  if (trial < 0 || !session->done[trial]) return 0;
  const int c = rg_plan_cell(session->plan, trial);
  const double before = record->optimum;
  if (!rg_problem_is_observed(study->cells[c].problem)) return 0;
  if (before == optima[c] || (isnan(before) && isnan(optima[c]))) return 0;
  PetscCall(rg_trial_rescore(&study->cells[c], optima[c], record));
  record->provenance.generation++;
  PetscCall(rg_store_add(session->store, record, fault));
  (*count)++;
  return 0;
}

/* Rescore the finished trials whose optimum has changed in the study file, from the observed
   values. Rank 0. */
static PetscErrorCode rescore_all(RgSession *session)
{
  RgFault fault = {0};
  RgResults *results = NULL;
  RgRecord record = {0};
  double *optima;
  bool some = false; /* some cell's F is only observed */
  int count = 0;

  if (!session->scan.n_done) return 0;
  PetscCall(PetscMalloc1(session->plan->study->n_cells, &optima));
  for (int c = 0; c < session->plan->study->n_cells; c++) {
    const RgCell *cell = &session->plan->study->cells[c];
    RgProblem problem = {0};
    RgFailure failure = {0};
    if (!rg_problem_is_observed(cell->problem)) continue;
    PetscCall(rg_problem_create(cell->problem, cell->problem_options, session->plan->study->seed, 0,
                                &problem, &failure));
    optima[c] = problem.optimum;
    some = true;
    PetscCall(rg_problem_destroy(&problem));
  }
  if (some) PetscCall(rg_results_open(session->options->output, &results, &fault));
  while (results && rg_results_next(results, &record)) { /* NULL: they vanished after the scan */
    PetscCall(rescore(session, optima, &record, &count, &fault));
    PetscCall(rg_record_destroy(&record));
  }
  PetscCall(rg_results_close(&results));
  PetscCall(PetscFree(optima));
  if (!count) return 0;
  PetscCall(rg_store_flush(session->store, true, &fault)); /* failed commits are repeated later */
  rg_session_tell(
    session, -1, "the study file has another optimum: regret of %d finished trial%s counts from it",
    count, count == 1 ? "" : "s");
  return 0;
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Find the finished trials; rank 0. Failed ones may count as missing, to run again. With a STOP
   file from an earlier stop, the run does not start: obeying it again would make a batch script
   that requeues loop, and its author may still need it. */
static PetscErrorCode scan_store(RgSession *session, const char *stop_file, RgFault *fault)
{
  if (access(stop_file, F_OK) == 0) {
    rg_fault_set(fault, RG_FAULT_FOREIGN, "%.400s asks for a stop; remove it to run", stop_file);
    return 0;
  }
  PetscCall(rg_store_scan(session->store, session->plan, session->done, &session->scan, fault));
  if (fault->code) return 0;
  if (fault->message[0]) rg_session_tell(session, -1, "%s", fault->message);
  for (int i = 0; i < session->plan->n && session->options->retry_failed; i++)
    if (session->done[i] == RG_STATUS_FAILED && is_ours(session, i)) {
      session->done[i] = RG_STATUS_MISSING;
      session->scan.n_done--;
      session->scan.n_failed--;
    }
  /* Compare the origins of finished trials: trials of other origin are reported, or run again if
     requested. Rank 0. */
  Comparison comparison = {.session = session,
                           .reference = {session->plan->study, NULL, session->fingerprint.hash}};
  RgStoreInfo info;
  RgText text = {0};
  if (!session->scan.n_done) return 0;
  PetscCall(PetscCalloc1(session->plan->n, &comparison.origin));
  PetscCall(rg_software_describe(&comparison.reference.software));
  PetscCall(
    rg_store_visit_heads(session->options->output, compare_record, &comparison, &info, fault));
  PetscCall(rg_store_info_clear(&info));
  if (!fault->code) {
    PetscCall(remove_others(session, comparison.origin));
    PetscCall(rg_origin_describe(&session->origins, &text));
    if (text.length) rg_session_tell(session, -1, "%s", text.data);
    PetscCall(rg_text_clear(&text));
  }
  return RG_FREE(&comparison.reference.software, &comparison.origin);
}

/* Open the store on rank 0, then on the others, and share the finished trials. */
static PetscErrorCode open_store(RgSession *session, const char *stop_file)
{
  const RgRunOptions *options = session->options;

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
      check_label(session, &fault);
      if (!fault.code)
        PetscCall(rg_store_open(options->output, session->plan->study, session->rank,
                                &session->store, &fault));
      if (!fault.code) rg_store_space(session->store, session->ranks);
      if (!fault.code && session->rank == 0) PetscCall(scan_store(session, stop_file, &fault));
      refuse_fault(session, &fault);
    }
    PetscCall(agree(session));
  }
  PetscCallMPI(MPI_Bcast(session->done, session->plan->n, MPI_UNSIGNED_CHAR, 0, session->comm));
  PetscCallMPI(
    MPI_Bcast(session->again, (int)PetscBTLength(session->plan->n), MPI_CHAR, 0, session->comm));
  PetscCallMPI(MPI_Bcast(&session->scan, (int)sizeof(session->scan), MPI_BYTE, 0, session->comm));
  PetscCallMPI(
    MPI_Bcast(&session->origins, (int)sizeof(session->origins), MPI_BYTE, 0, session->comm));
  return 0;
}

/* Report if the ranks have different fingerprints: then equal bits are not promised. */
static PetscErrorCode compare_fingerprints(RgSession *session)
{
  RgFingerprint *own = &session->fingerprint;
  uint64_t least, most;

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
  return 0;
}

static PetscErrorCode prepare(RgSession *session, const RgStop *stop)
{
  const RgObserver *observer = session->observer;
  const int n_foreign = session->scan.n_foreign;
  const bool one = n_foreign == 1;
  RgText folder = {0};

  PetscCall(compare_fingerprints(session));
  PetscCall(rg_instances_create(&session->instances));
  PetscCall(rg_text_add(&folder, "%s/%s", session->directory, RG_FOLDER_OPTIMA));
  PetscCall(rg_instances_keep_optima(session->instances, folder.data, search_worth_keeping,
                                     session->plan->study->registry, session->fingerprint.hash));
  PetscCall(rg_text_clear(&folder));
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
  if (session->rank == 0) check_for_others(session);
  if (session->rank == 0 && n_foreign)
    rg_session_tell(session, -1,
                    "%d finished trial%s of %s %s not of this study any more, because the study "
                    "file has changed; %s kept, and count in nothing",
                    n_foreign, one ? "" : "s", session->options->output, one ? "is" : "are",
                    one ? "it is" : "they are");
  session->begun = rg_wall_seconds();
  session->next_progress = session->begun + (observer ? observer->period : 0);
  PetscCall(rg_stop_relay_create(session->comm, stop, &session->relay));
  if (session->rank == 0) PetscCall(rescore_all(session));
  PetscCall(rg_schedule_create(session->comm, session->plan, &session->teams, session->done,
                               session->share, &session->schedule));
  return form_teams(session);
}

/* Open the store, find the finished trials, and prepare the schedule of the rest. Collective.
   Problems are reported to the observer; session->outcome is the same on all ranks. */
static PetscErrorCode start(RgSession *session)
{
  const RgRunOptions *options = session->options;
  RgStop stop = {.observer = session->observer};
  RgText mistake = {0};

  if (options->walltime > 0) session->deadline = rg_wall_seconds() + options->walltime;
  stop.deadline = session->deadline;
  snprintf(session->directory, sizeof(session->directory), "%s.d", options->output);
  snprintf(stop.file, sizeof(stop.file), "%s.d/STOP", options->output);
  PetscCall(rg_file_check_output(options->output, &mistake));
  refuse(session, RG_RUN_REFUSED, mistake.length ? mistake.data : NULL);
  refuse(session, RG_RUN_REFUSED, rg_blas_start(0));
  PetscCall(rg_text_clear(&mistake));
  PetscCall(agree(session));
  if (session->outcome == RG_RUN_COMPLETE) {
    PetscCall(rg_fingerprint(&session->fingerprint));
    PetscCall(plan_teams(session));
  }
  PetscCall(agree(session));
  if (session->outcome == RG_RUN_COMPLETE) PetscCall(open_store(session, stop.file));
  if (session->rank != 0) stop.file[0] = 0;
  if (session->outcome == RG_RUN_COMPLETE) PetscCall(prepare(session, &stop));
  else if (session->rank == session->speaker)
    rg_session_tell(session, session->rank ? session->rank : -1, "%s", session->message);
  return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* After our trials are committed, find what other parts have finished meanwhile. The part
   that does so last finds all trials. *all: no trial is missing. */
static PetscErrorCode scan_parts(RgSession *session, const RgProgress *own, bool *all)
{
  const RgPlan *plan = session->plan;
  RgStoreScan now = {0};
  RgFault fault;

  if (session->rank == 0) {
    PetscCall(rg_store_scan(session->store, plan, session->done, &now, &fault));
    if (fault.message[0]) rg_session_tell(session, -1, "%s", fault.message);
    refuse_fault(session, &fault);
  }
  PetscCall(agree(session));
  PetscCallMPI(MPI_Bcast(session->done, plan->n, MPI_UNSIGNED_CHAR, 0, session->comm));
  PetscCallMPI(MPI_Bcast(&now, (int)sizeof(now), MPI_BYTE, 0, session->comm));
  /* `done` includes our own trials. */
  PetscCall(PetscArrayzero(session->cell_failed, plan->study->n_cells));
  session->scan.n_done = now.n_done - own->n_finished;
  session->scan.n_failed = now.n_failed - own->n_failed;
  *all = now.n_done == plan->n;
  return 0;
}

static PetscErrorCode count_failed_cells(RgSession *session, RgRunReport *report)
{
  const RgPlan *plan = session->plan;
  const int n = plan->study->n_cells;
  int *left; /* by cell: number of trials that did not fail */

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
  return PetscFree(left);
}

/* An MPI_User_function: join the reasons of two groups of ranks, the lower ranks first. */
static void join_reasons(void *in, void *inout, int *n, MPI_Datatype *type)
{
  const RgReasons *const lower = in;
  RgReasons *const higher = inout;

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
  return rg_text_clear(&folder);
}

/* Wait for the other ranks, write the results file, fill in the report. Collective. */
static PetscErrorCode finish(RgSession *session, RgRunReport *report)
{
  RgProgress progress;
  RgFault fault = {0};

  PetscCall(wait_for_all(session, true));
  PetscCall(rg_stop_relay_finish(session->relay, &session->stop));
  PetscCall(rg_session_progress(session, true));
  PetscCall(rg_schedule_progress(session->schedule, &progress));
  PetscCallMPI(MPI_Bcast(&progress, (int)sizeof(progress), MPI_BYTE, 0, session->comm));
  PetscCall(agree(session));
  if (session->outcome == RG_RUN_COMPLETE) PetscCall(rg_guard_destroy(&session->guard));
  bool all = progress.n_finished == progress.n_total;
  if (!all && session->outcome == RG_RUN_COMPLETE) session->outcome = RG_RUN_STOPPED;
  if (session->options->parts && session->outcome == RG_RUN_COMPLETE) {
    PetscCall(scan_parts(session, &progress, &all));
    if (!all && session->outcome == RG_RUN_COMPLETE) session->outcome = RG_RUN_PART;
  }
  const bool packs = session->outcome == RG_RUN_COMPLETE;
  if (packs && session->rank == 0) {
    check_for_others(session);
    PetscCall(rg_store_pack(session->store, session->plan, &fault));
    check_for_others(session);
    refuse_fault(session, &fault);
    if (fault.code)
      rg_session_tell(session, -1, "%s; the finished trials are safe in %s", fault.message,
                      session->directory);
  }
  if (packs) PetscCall(agree(session));
  PetscCall(tell_of_failures(session));
  report->stop = session->stop;
  report->n_finished = progress.n_finished;
  PetscCall(count_failed_cells(session, report));
  report->n_failed = progress.n_failed - report->n_kept;
  return 0;
}

static PetscErrorCode destroy(RgSession *session)
{
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
  return 0;
}

/* ---- the run --------------------------------------------------------------------------------- */

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
  PetscCall(start(session));
  if (session->outcome == RG_RUN_COMPLETE) {
    PetscCall(rg_session_trials(session));
    PetscCall(finish(session, report));
  }
  report->outcome = session->outcome;
  report->n_trials = session->plan->n;
  report->n_earlier = session->scan.n_done;
  report->n_earlier_failed = session->scan.n_failed;
  report->n_others = rg_origin_others(&session->origins);
  report->seconds = rg_wall_seconds() - begin;
  snprintf(report->message, sizeof(report->message), "%s", session->message);
  return destroy(session);
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
