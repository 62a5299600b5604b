/* regatta run STUDY.yaml -o OUT.h5: load, plan, run, report. */
#include "cli/command.h"
#include "cli/notices.h"
#include "cli/world.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"
#include "regatta/run.h"
#include "study/plan/plan.h"
#include "study/run/probe.h"
#include "study/file/registry.h"
#include "study/record/record.h"
#include "study/record/software.h"

enum {
  OPT_OUTPUT,
  OPT_WALLTIME,
  OPT_GRACE,
  OPT_STRICT,
  OPT_QUIET,
  OPT_RETRY_FAILED,
  OPT_RECOMPUTE,
  OPT_PART,
  OPT_CROSSOVER,
  OPT_PROGRESS
};

static const RgOption options[] = {
  {"-o", "OUT.h5", "results file (default: the study's name, .h5, in the working directory)"},
  {"-walltime", "SECONDS", "stop cleanly after this many seconds (also H:M:S)"},
  {"-grace", "SECONDS",
   "time after a stop at which a busy or blocked process ends (default: 90; exit code 75)"},
  {"-strict", NULL, "exit code 1 when a trial failed"},
  {"-quiet", NULL, "no progress"},
  {"-retry-failed", NULL, "repeat the trials that are recorded as failed"},
  {"-recompute", "[LABEL]",
   "repeat the trials of another build, plug-in or numeric fingerprint: all, or those of LABEL"},
  {"-part", "I/N",
   "run the I-th of N shares of the trials; the part that ends last writes the results file"},
  {"-crossover", "N",
   "number of data from which a team of ranks shares a matrix (default: measured)"},
  {"-progress", "SECONDS",
   "time between two lines of progress (default: 0.5 on a terminal, else 10)"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

/* Parse seconds from "90", "1:30:00" or "30:00"; negative for any other text. */
static double parse_duration(const char *text)
{
  double total = 0;

  for (int parts = 0; parts < 3; parts++) { /* hours, minutes, seconds */
    const char *end;
    double part;
    if (rg_number_read(text, &end, &part) != RG_NUMBER_READ || !(part >= 0)) return -1;
    total = 60 * total + part;
    if (!*end) return total;
    if (*end != ':') return -1;
    text = end + 1;
  }
  return -1;
}

/* Read a duration; an option that is not given leaves *seconds as it is. */
static bool read_seconds(const RgArguments *arguments, int option, const char *unit,
                         double *seconds)
{
  const char *word = arguments->option[option];

  if (word) *seconds = parse_duration(word);
  if (!word || *seconds > 0) return true;
  rg_complain("run: %s must be %s, more than 0, got '%s'", options[option].name, unit, word);
  return false;
}

/* Parse the options of a run; prints a message and returns false on a mistake. */
static bool read_options(const RgArguments *arguments, RgRunOptions *run, double *period)
{
  uint64_t crossover = 0;

  *run = (RgRunOptions){.output = arguments->option[OPT_OUTPUT],
                        .retry_failed = arguments->option[OPT_RETRY_FAILED] != NULL,
                        .recompute = arguments->option[OPT_RECOMPUTE]};
  const bool good = read_seconds(arguments, OPT_PROGRESS, "seconds", period) &&
                    read_seconds(arguments, OPT_GRACE, "seconds", &run->grace) &&
                    rg_argument_count(arguments, OPT_CROSSOVER, 1, INT_MAX,
                                      "a whole number from 1 on", &crossover) &&
                    rg_argument_part(arguments, OPT_PART, &run->part, &run->parts) &&
                    read_seconds(arguments, OPT_WALLTIME, "seconds or H:M:S", &run->walltime);
  run->crossover = (int)crossover;
  return good;
}

/* ---- the study ------------------------------------------------------------------------------- */

/* Whether all ranks have the same cells as rank 0; the texts of cells include hashes of data and
   programs. */
static PetscErrorCode have_same_cells(const RgStudy *study, bool *same)
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
  PetscCallMPI(MPI_Bcast(&first, (int)sizeof(first), MPI_BYTE, 0, MPI_COMM_WORLD));
  *same = !memcmp(&first, &own, sizeof(own));
  return 0;
}

/* Parse a study file on every rank from the bytes that rank 0 reads. Every rank reads the data
   files that the study names; a mistake, or different bytes, on any rank counts for all.
   Collective. *speaker: the first rank with mistakes, which are in its `diagnostics`; -1: the study
   is valid. The caller destroys the study in any case. */
static PetscErrorCode load_study(const RgRegistry *registry, const char *path, RgStudy *study,
                                 RgDiagnostics *diagnostics, int *speaker)
{
  char *text = NULL;
  size_t length;
  int64_t bytes = -1; /* -1: rank 0 can't read the file */
  bool same = true;
  int rank;

  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  /* Compare the sources with those that rank 0 runs. */
  char *software, source[64], first[64];
  PetscCall(rg_software_describe(&software));
  const RgSoftware parts = rg_software_parts(software);
  snprintf(source, sizeof(source), "%.*s", parts.source.length, parts.source.at);
  memcpy(first, source, sizeof(first));
  PetscCallMPI(MPI_Bcast(first, sizeof(first), MPI_CHAR, 0, MPI_COMM_WORLD));
  if (strcmp(first, source))
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0},
                       "rank %d runs another build than rank 0: %.*s; put the same installation "
                       "first in PATH on all hosts",
                       rank, parts.build.length, parts.build.at);
  PetscCall(PetscFree(software));
  PetscCall(rg_world_find_speaker(diagnostics->n > 0, speaker));
  if (*speaker >= 0) return 0;
  if (rank == 0) PetscCall(rg_study_read_file(path, &text, &length, diagnostics));
  if (text) bytes = (int64_t)length;
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
  if (bytes >= 0) {
    length = (size_t)bytes;
    if (rank != 0) PetscCall(PetscMalloc1(length + 1, &text));
    PetscCallMPI(MPI_Bcast(text, (int)bytes + 1, MPI_CHAR, 0, MPI_COMM_WORLD));
    PetscCall(rg_study_parse(registry, path, text, length, study, diagnostics));
  }
  PetscCall(PetscFree(text));
  PetscCall(rg_world_find_speaker(diagnostics->n > 0, speaker));
  if (*speaker >= 0) return 0;
  PetscCall(have_same_cells(study, &same));
  if (!same)
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0},
                       "rank %d finds other data or programs than rank 0 under the names in it",
                       rank);
  return rg_world_find_speaker(!same, speaker);
}

/* ---- the report ------------------------------------------------------------------------------ */

static int report(const RgStudy *study, const char *output, const RgRunReport *r, bool strict)
{
  static const int exit_codes[] = {[RG_RUN_COMPLETE] = RG_EXIT_OK,
                                   [RG_RUN_PART] = RG_EXIT_OK,
                                   [RG_RUN_STOPPED] = RG_EXIT_OK,
                                   [RG_RUN_REFUSED] = RG_EXIT_BAD_INPUT,
                                   [RG_RUN_STORAGE] = RG_EXIT_STORAGE};
  const int failed = r->n_earlier_failed + r->n_failed;

  /* The observer has printed the reason. */
  if (exit_codes[r->outcome]) return exit_codes[r->outcome];
  if (r->outcome == RG_RUN_COMPLETE)
    rg_say("%s: %d trials in %s (%d run now, %.1f s)\n", study->name, r->n_trials, output,
           r->n_finished, r->seconds);
  else if (r->outcome == RG_RUN_PART)
    rg_say(
      "%s: this part is finished (%d run now, %.1f s), %d of %d trials are in %s.d; the others "
      "are of other parts\n",
      study->name, r->n_finished, r->seconds, r->n_earlier + r->n_finished, r->n_trials, output);
  else
    rg_say("%s: stopped by %s with %d of %d trials finished; %sthe same command resumes\n",
           study->name, rg_stop_describe(r->stop), r->n_earlier + r->n_finished, r->n_trials,
           r->stop == RG_STOP_FILE ? "once it is removed " : "");
  if (r->n_others)
    rg_say("%d trials were made by another build, plug-in or program, or under another numeric "
           "fingerprint; "
           "-recompute runs them again\n",
           r->n_others);
  if (r->n_kept)
    rg_say("%d trials failed when they were run again; their earlier records stay\n", r->n_kept);
  if (failed) rg_say("%d trials failed; regatta info %s says why\n", failed, output);
  if (r->n_cells_failed) {
    const RgCell *cell = &study->cells[r->first_cell_failed];
    rg_complain("run: every trial of %d of %d cells failed (the first: %s on %s)",
                r->n_cells_failed, r->n_cells, cell->algorithm_label, cell->problem_label);
    return r->n_cells_failed < r->n_cells ? RG_EXIT_FAILED_CELLS : RG_EXIT_FAILED_STUDY;
  }
  return (failed || r->n_kept) && strict ? RG_EXIT_FAILED_TRIALS : RG_EXIT_OK;
}

/* ---- progress -------------------------------------------------------------------------------- */

/* One line that refreshes on a terminal, plain lines otherwise. */
typedef struct {
  bool terminal, shown;
} Meter;

static void show(void *closure, const RgProgress *p, bool last)
{
  Meter *meter = closure;
  char left[32] = "?", elapsed[32], failed[48] = "";

  if (last && !meter->shown) return; /* too short to show */
  if (!isnan(p->seconds_left)) rg_duration_print(p->seconds_left, left);
  rg_duration_print(p->seconds, elapsed);
  if (p->n_failed) snprintf(failed, sizeof(failed), ", %d failed", p->n_failed);
  fprintf(stderr, "%s%d of %d trials%s, %s elapsed, %s left%s%s", meter->terminal ? "\r" : "",
          p->n_finished, p->n_total, failed, elapsed, left, meter->terminal ? "\033[K" : "\n",
          meter->terminal && last ? "\n" : "");
  fflush(stderr);
  meter->shown = true;
}

static void tell(void *closure, int rank, const char *text)
{
  if (rank < 0) rg_warn("regatta: %s\n", text);
  else rg_warn("regatta: rank %d: %s\n", rank, text);
}

/* The exit code is that of an incomplete study: the same command goes on. */
static void leave(void *closure, int rank, const char *text)
{
  tell(closure, rank, text);
  _exit(RG_EXIT_INCOMPLETE);
}

static void tell_of_failed(void *closure, const RgRunReport *report)
{
  const int n = report->n_earlier_failed;

  if (n)
    fprintf(stderr,
            "regatta: %d trial%s failed in an earlier run and %s kept so; -retry-failed runs %s "
            "again\n",
            n, n == 1 ? "" : "s", n == 1 ? "is" : "are", n == 1 ? "it" : "them");
}

static PetscErrorCode run(const RgStudy *study, RgRunOptions *run_options, double period,
                          const RgArguments *arguments, int *exit_code)
{
  const bool quiet = arguments->option[OPT_QUIET] != NULL; /* messages only */
  Meter meter = {.terminal = isatty(STDERR_FILENO) == 1};
  RgObserver observer = {.closure = &meter,
                         .period = period > 0       ? period
                                   : meter.terminal ? 0.5
                                                    : 10.0,
                         .begin = quiet ? NULL : tell_of_failed,
                         .progress = quiet ? NULL : show,
                         .message = tell,
                         .leave = leave};
  RgRunReport outcome;
  RgPlan plan;
  char output[4096];

  snprintf(output, sizeof(output), "%s%s", run_options->output ? run_options->output : study->name,
           run_options->output ? "" : ".h5");
  run_options->output = output;
  PetscCall(rg_plan_fill(study, &plan));
  PetscCall(rg_run(MPI_COMM_WORLD, &plan, run_options, &observer, &outcome));
  *exit_code = report(study, output, &outcome, arguments->option[OPT_STRICT] != NULL);
  return rg_plan_clear(&plan);
}

static PetscErrorCode begin(const RgArguments *arguments, const RgRegistry *registry,
                            int *exit_code)
{
  RgDiagnostics diagnostics = {0};
  RgRunOptions run_options;
  RgStudy study = {0};
  double period = 0; /* 0: not given */
  int rank, speaker;

  if (!read_options(arguments, &run_options, &period)) {
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  PetscCall(rg_stop_on_signals());
  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  PetscCall(load_study(registry, arguments->positional[0], &study, &diagnostics, &speaker));
  if (rank == speaker) rg_print_diagnostics(&diagnostics);
  if (rank == speaker && !registry) PetscCall(rg_plugins_complain(run_options.output, NULL));
  if (speaker >= 0) *exit_code = RG_EXIT_BAD_INPUT;
  else {
    /* Check that external methods start and answer before the run begins. One rank tries. */
    if (rank == 0 && !arguments->option[OPT_QUIET]) PetscCall(rg_starts_announce(&study, "run"));
    if (rank == 0) PetscCall(rg_probe_programs(&study, true, &diagnostics));
    if (rank == 0) rg_print_diagnostics(&diagnostics);
    int n = diagnostics.n;
    PetscCallMPI(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (n) *exit_code = RG_EXIT_BAD_INPUT;
  }
  if (*exit_code == RG_EXIT_OK && rank == 0) PetscCall(rg_print_warnings(&study));
  if (*exit_code == RG_EXIT_OK) PetscCall(run(&study, &run_options, period, arguments, exit_code));
  return rg_study_destroy(&study);
}

static const char notes[] =
  "During a run, `regatta status OUT.h5 -watch 10` shows the progress, and\n"
  "`regatta info OUT.h5.d` shows the finished trials.\n\n"
  "INT (Ctrl-C), TERM, USR1, USR2, HUP, XCPU, a file OUT.h5.d/STOP and -walltime stop a run\n"
  "cleanly: finished trials are saved, and the same command resumes the run. A second INT or\n"
  "TERM after two seconds ends the run at once. Send USR1 to mpirun: it kills the ranks one\n"
  "second after TERM or INT.\n";

const RgCommand rg_command_run = {RG_USAGE("run STUDY.yaml [-o OUT.h5] [options]", options, 1, 1),
                                  .place = RG_ON_ALL, .notes = notes, .run = begin};
