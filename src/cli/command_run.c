/* regatta run STUDY.yaml -o OUT.h5: load, plan, run, report. */
#include "cli/command.h"
#include "cli/notices.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "regatta/run.h"
#include "study/plan/plan.h"
#include "study/run/probe.h"
#include "study/run/study_share.h"
#include "study/file/registry.h"

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

/* Parse the options of a run; prints a message and returns false on a mistake. */
static bool read_options(const RgArguments *arguments, RgRunOptions *run)
{
  const char *walltime = arguments->option[OPT_WALLTIME];
  const char *grace = arguments->option[OPT_GRACE];
  const char *crossover = arguments->option[OPT_CROSSOVER];
  char *end = "";
  const long number = crossover ? strtol(crossover, &end, 10) : 0;

  for (int i = 0; i < 2; i++) {
    const int option = i ? OPT_GRACE : OPT_PROGRESS;
    const char *word = arguments->option[option];
    if (!word || rg_duration_parse(word) > 0) continue;
    rg_complain("run: %s must be seconds, more than 0, got '%s'", options[option].name, word);
    return false;
  }
  *run = (RgRunOptions){.output = arguments->option[OPT_OUTPUT],
                        .walltime = walltime ? rg_duration_parse(walltime) : 0,
                        .grace = grace ? rg_duration_parse(grace) : 0,
                        .retry_failed = arguments->option[OPT_RETRY_FAILED] != NULL,
                        .recompute = arguments->option[OPT_RECOMPUTE],
                        .crossover = (int)number};
  if (crossover && (*end || number < 1 || number > INT_MAX)) {
    rg_complain("run: -crossover must be a whole number from 1 on, got '%s'", crossover);
    return false;
  }
  if (arguments->option[OPT_PART] &&
      !rg_part_parse("run", arguments->option[OPT_PART], &run->part, &run->parts))
    return false;
  if (!walltime || run->walltime > 0) return true;
  rg_complain("run: -walltime must be seconds or H:M:S, more than 0, got '%s'", walltime);
  return false;
}

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

static PetscErrorCode run(const RgStudy *study, RgRunOptions *run_options,
                          const RgArguments *arguments, int *exit_code)
{
  const bool quiet = arguments->option[OPT_QUIET] != NULL; /* messages only */
  const char *progress = arguments->option[OPT_PROGRESS];
  Meter meter = {.terminal = isatty(STDERR_FILENO) == 1};
  RgObserver observer = {.closure = &meter,
                         .period = meter.terminal ? 0.5 : 10.0,
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
  if (progress) observer.period = rg_duration_parse(progress);
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
  int rank, speaker;
  bool told;

  if (!read_options(arguments, &run_options)) {
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  PetscCall(rg_stop_on_signals());
  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  PetscCall(rg_study_share(MPI_COMM_WORLD, registry, arguments->positional[0], &study, &diagnostics,
                           &speaker));
  if (rank == speaker) rg_print_diagnostics(&diagnostics);
  if (rank == speaker && !registry) PetscCall(rg_plugins_complain(run_options.output, &told));
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
  if (*exit_code == RG_EXIT_OK) PetscCall(run(&study, &run_options, arguments, exit_code));
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
