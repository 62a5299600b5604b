/* regatta verify RESULTS.h5: check checksums and completeness, and run a sample of trials again. */
#include "base/grow.h"
#include "base/hash.h"
#include "cli/command.h"
#include "cli/notices.h"
#include "study/file/registry.h"
#include "study/hdf5/container.h"
#include "study/plan/plan.h"
#include "study/record/software.h"
#include "study/run/fingerprint.h"
#include "study/record/record.h"
#include "study/store/evaluation_log.h"
#include "study/store/store.h"
#include "study/trial/instances.h"
#include "study/trial/trial.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a trial that ran again compares with its record: every bit is equal; the arithmetic is
   another, and the initial design is close; they differ. */
enum { EQUAL, CLOSE, DIFFERENT, N_AGREEMENTS };

/* The recorded state of a trial of the plan. */
typedef struct {
  unsigned char status; /* RgStatus */
  uint64_t checksum[2], fingerprint;
} Found;

/* A trial that may run again, and the number by which it is drawn. */
typedef struct {
  uint64_t lot;
  int trial;
} Lot;

typedef struct {
  int rank, ranks;
  const char *path;
  char salt[33];              /* checksum of the file; determines the sample */
  const RgRegistry *registry; /* borrowed; NULL: no plug-ins */
  RgFingerprint fingerprint;
  RgStudy study;
  RgPlan plan;
  RgInstances *instances;          /* shared by the repeated trials; owned */
  Found *found;                    /* per trial of the plan; owned */
  RgChecksum own;                  /* over the records that are part of the file's own checksum */
  int n_records, n_found, n_other; /* n_other: trials that the plan lacks */
  bool archive;                    /* the file has archived records */
  bool programs, requested;        /* programs may be started; a rerun was asked for in words */
  int damaged, wanted, n_sample;   /* wanted: trials to run again, if so many can */
  int n_refused;                   /* trials that would start a program */
  Lot *sample;                     /* trials to run again are the first; owned */
  int n[3];                        /* trials of the sample, by how they compare */
  int exit_code;
} Verification;

typedef struct {
  const RgTrial *trial;
  const RgCell *cell;
  RgEvaluationLog *log;
  char *timeline;
} Search;

/* The value of one evaluation in a column with this name. */
static double value_of(const RgRecord *record, const char *name, int row)
{
  for (int i = 0; i < record->n_extra; i++)
    if (!strcmp(record->extra_name[i], name) && record->extra[i]) return record->extra[i][row];
  return NAN;
}

/* The values of one evaluation in the columns of a prefix with names; returns their number. */
static int values_of(const RgRecord *record, const char *prefix, RgTexts names, int row,
                     double *values)
{
  char name[RG_NAME_MAX];

  for (int k = 0; k < names.n; k++) {
    snprintf(name, sizeof(name), "%s%s", prefix, names.values[k]);
    values[k] = value_of(record, name, row);
  }
  return names.n;
}

static PetscErrorCode read_query(void *closure, const RgRecord *record)
{
  Search *search = closure;
  const double *x = record->column[RG_COLUMN_X], *c = record->column[RG_COLUMN_C];
  const double *f = record->column[RG_COLUMN_F];
  const double *submission = record->column[RG_COLUMN_SUBMISSION];
  const RgCell *cell = search->cell;
  RgFault fault = {0};
  double *more;

  if (strcmp(record->id, search->trial->id) || !x || !f) return 0;
  if (record->dim_x != search->trial->dim_x || record->dim_c != search->trial->dim_c ||
      (record->dim_c && !c))
    return 0; /* forged: the trial has other points */
  PetscCall(PetscFree(search->timeline));
  if (record->timeline) PetscCall(PetscStrallocpy(record->timeline, &search->timeline));
  PetscCall(PetscMalloc1(rg_trial_more(cell), &more));
  for (int row = 0; row < record->n_rows; row++) {
    double *values = more; /* what the evaluation gave beside f (rg_trial_more) */
    values += values_of(record, RG_CONSTRAINT_PREFIX, cell->constraints, row, values);
    if (rg_duration_kind(cell->crew.duration) == RG_DURATION_REPORTED)
      *values++ = value_of(record, RG_REPORTED_COLUMN, row);
    (void)values_of(record, RG_ANSWER_PREFIX, rg_cell_numbers(cell), row, values);
    /* its number in the order of asking */
    const int number = submission && submission[row] >= 1 && submission[row] < INT_MAX
                         ? (int)submission[row]
                         : row + 1;
    PetscCall(rg_evaluation_log_add(search->log, number, x + (size_t)row * record->dim_x,
                                    c ? c + (size_t)row * record->dim_c : NULL, f[row], more, 0,
                                    &fault));
  }
  return PetscFree(more);
}

/* Load the evaluations of one trial as a log in memory, and its timeline on the real clock (NULL:
   another clock); owned by the caller. They are empty if the file has no such trial. */
static PetscErrorCode evaluations_of(const char *path, const RgTrial *trial, const RgCell *cell,
                                     RgEvaluationLog **log, char **timeline)
{
  Search search = {.trial = trial, .cell = cell};
  RgFault fault = {0};

  PetscCall(rg_evaluation_log_open(NULL, RG_FOLDER_EVALUATIONS, trial->id, NULL, trial->dim_x,
                                   trial->dim_c, rg_trial_more(cell), &search.log));
  *log = search.log;
  PetscCall(rg_store_visit(path, read_query, &search, NULL, &fault));
  *timeline = search.timeline;
  return 0;
}

/* Tolerance for the initial design when numeric fingerprints differ. */
static const double tolerance = 1e-6;

static int compare_lots(const void *left, const void *right)
{
  const Lot *a = left, *b = right;
  return a->lot != b->lot ? (a->lot > b->lot) - (a->lot < b->lot)
                          : (a->trial > b->trial) - (a->trial < b->trial);
}

/* Whether trial i ran with our arithmetic: same numeric fingerprint and plug-ins. */
static bool has_our_bits(const Verification *s, int i)
{
  const RgCell *cell = &s->study.cells[rg_plan_cell(&s->plan, i)];

  return s->found[i].fingerprint == rg_registry_fingerprint(s->registry, cell, s->fingerprint.hash);
}

/* Costly evaluations are not repeated; only the algorithm runs again, on the recorded answers.
   This check needs a complete record and equal bits. Archives lack the answers and the initial
   designs, which are all that other bits could be compared by. */
static bool can_run_again(const Verification *s, int i)
{
  const bool costly = s->study.cells[rg_plan_cell(&s->plan, i)].problem->traits & RG_PROBLEM_COSTLY;

  if (s->archive) return !costly && has_our_bits(s, i);
  if (!costly) return true;
  return s->found[i].status == RG_STATUS_COMPLETE && has_our_bits(s, i);
}

/* Draw the wanted trials with the smallest lots. A lot is the hash of the file's checksum and
   the trial's id. */
static PetscErrorCode verify_draw(Verification *s)
{
  int n = 0;

  PetscCall(PetscMalloc1(PetscMax(s->plan.n, 1), &s->sample));
  for (int i = 0; i < s->plan.n; i++) {
    char text[80];
    uint64_t hash[2];
    RgTrial trial;
    if (s->found[i].status == RG_STATUS_MISSING || !can_run_again(s, i)) continue;
    PetscCall(rg_plan_trial(&s->plan, i, &trial));
    /* A rerun would start a program that the file names as a method. */
    if (!s->programs && s->study.cells[trial.cell].algorithm->outside) {
      s->n_refused += s->wanted > 0;
      continue;
    }
    snprintf(text, sizeof(text), "%s %s", s->salt, trial.id);
    rg_hash128(text, strlen(text), hash);
    s->sample[n++] = (Lot){hash[0], i};
  }
  qsort(s->sample, (size_t)n, sizeof(Lot), compare_lots);
  s->n_sample = PetscMin(n, s->wanted);
  return 0;
}

/* A comparison of the new record with the one in the file. */
typedef struct {
  const RgRecord *now;
  bool bits;    /* equal bits are promised */
  bool program; /* the method is an external program, which was run again */
  RgText difference;
} Comparison;

static PetscErrorCode compare_record(void *closure, const RgRecord *then)
{
  Comparison *comparison = closure;

  if (strcmp(then->id, comparison->now->id)) return 0;
  if (comparison->bits)
    PetscCall(rg_record_compare(then, comparison->now, &comparison->difference));
  else
    PetscCall(rg_record_compare_initial(then, comparison->now, tolerance, &comparison->difference));
  if (comparison->difference.length && comparison->program && comparison->bits)
    PetscCall(rg_text_add(&comparison->difference, "; the program is not reproducible"));
  const RgPart build = rg_software_parts(then->provenance.software).build;
  if (comparison->difference.length)
    PetscCall(rg_text_add(&comparison->difference, " (by %.*s)", build.length, build.at));
  return 0;
}

static PetscErrorCode run_again(Verification *s, int index)
{
  RgTrial trial;
  const Found *found = &s->found[index];
  RgEvaluationLog *known = NULL;
  char *timeline = NULL;
  RgRecord record = {0};
  RgFault fault = {0};
  uint64_t checksum[2];
  bool stopped;

  PetscCall(rg_plan_trial(&s->plan, index, &trial));
  const RgCell *cell = &s->study.cells[trial.cell];
  if (cell->problem->traits & RG_PROBLEM_COSTLY)
    PetscCall(evaluations_of(s->path, &trial, cell, &known, &timeline));
  RgTrialServices host = {.known = known, .timeline = timeline, .instances = s->instances};
  PetscCall(rg_trial_run(&s->study, &trial, &host, &record, &stopped));
  PetscCall(rg_evaluation_log_close(&known));
  PetscCall(PetscFree(timeline));
  if (s->archive) PetscCall(rg_record_archive(&record));
  PetscCall(rg_record_checksum(&record, checksum));
  if (checksum[0] == found->checksum[0] && checksum[1] == found->checksum[1]) {
    s->n[EQUAL]++;
  } else {
    Comparison comparison = {
      .now = &record, .bits = has_our_bits(s, index), .program = cell->algorithm->outside != NULL};
    PetscCall(rg_store_visit(s->path, compare_record, &comparison, NULL, &fault));
    if (fault.code) PetscCall(rg_text_add(&comparison.difference, "%s", fault.message));
    if (comparison.difference.length) {
      rg_warn("regatta: %s: trial %s (%s, %s, instance %llu, seed %llu) differs: %s\n", s->path,
              trial.id, cell->problem_label, cell->algorithm_label,
              (unsigned long long)trial.instance, (unsigned long long)trial.seed,
              comparison.difference.data);
      s->n[DIFFERENT]++;
    } else {
      s->n[comparison.bits ? EQUAL : CLOSE]++;
    }
    PetscCall(rg_text_clear(&comparison.difference));
  }
  return rg_record_destroy(&record);
}

/* Run the sample again and report the result. Collective. */
static PetscErrorCode verify_check(Verification *s)
{
  PetscCall(rg_instances_create(&s->instances));
  for (int k = s->rank; k < s->n_sample; k += s->ranks) PetscCall(run_again(s, s->sample[k].trial));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->n, N_AGREEMENTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  rg_say("run again: %d trial%s, %d equal in every bit", s->n_sample, s->n_sample == 1 ? "" : "s",
         s->n[EQUAL]);
  if (s->n[CLOSE])
    rg_say(", %d of another numeric fingerprint with the same initial design (to %g)", s->n[CLOSE],
           tolerance);
  rg_say(s->n[DIFFERENT] ? ", %d different\n" : "\n", s->n[DIFFERENT]);
  if (s->archive && !s->n_sample && s->wanted)
    rg_complain("%s: no trial of this archive can run again here: that takes a machine of its "
                "numeric fingerprint, and a problem that is no program",
                s->path);
  /* Anyone's file is checked, so a file starts nothing by itself. */
  RgText programs = {0};
  if (s->n_refused) {
    PetscCall(rg_starts_describe(&s->study, false, &programs));
    rg_complain("%s: %d trial%s not run again, which would start programs: %s; -allow-programs "
                "starts them",
                s->path, s->n_refused, s->n_refused == 1 ? " was" : "s were", programs.data);
    if (s->requested) s->exit_code = RG_EXIT_BAD_INPUT;
    PetscCall(rg_text_clear(&programs));
  }
  if (s->n[DIFFERENT]) s->exit_code = RG_EXIT_STORAGE;
  else if (!s->exit_code && s->n_found < s->plan.n && s->rank == 0)
    s->exit_code = RG_EXIT_INCOMPLETE;
  PetscCallMPI(MPI_Bcast(&s->exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  return 0;
}

enum { OPT_SAMPLE, OPT_ALL, OPT_NONE, OPT_STUDY, OPT_PROGRAMS };

static const RgOption options[] = {
  {"-sample", "N", "run this many trials again (default 3; the file's checksum chooses them)"},
  {"-all", NULL, "run every trial again"},
  {"-no-rerun", NULL, "run none: checksums and completeness only, which says so"},
  {"-study", "FILE", "where the study file stood: its data files are looked for beside it"},
  {"-allow-programs", NULL, "start the programs that the file names as methods; none otherwise"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

/* ---- the file ------------------------------------------------------------------------------- */

static PetscErrorCode note_record(void *closure, const RgRecord *record)
{
  Verification *s = closure;
  uint64_t checksum[2];
  int trial;

  s->n_records++;
  PetscCall(rg_record_checksum(record, checksum));
  if (!record->earlier) rg_checksum_add(&s->own, checksum);
  PetscCall(rg_plan_find(&s->plan, record->id, &trial));
  if (trial < 0) {
    s->n_other++;
    return 0;
  }
  s->n_found++;
  s->found[trial] = (Found){.status = (unsigned char)record->status,
                            .checksum = {checksum[0], checksum[1]},
                            .fingerprint = record->provenance.fingerprint};
  return 0;
}

/* Read every byte of a results file. Shards are always read whole. */
static PetscErrorCode check_bytes(Verification *s, bool *trailed)
{
  RgContainer container;
  RgFault fault = {0};

  PetscCall(rg_shard_open_results(s->path, true, &container, trailed, &fault));
  PetscCall(rg_container_close(&container));
  if (!fault.code) return 0;
  rg_complain("%s", fault.message);
  s->exit_code = fault.code == RG_FAULT_NEWER || fault.code == RG_FAULT_VANISHED ? RG_EXIT_BAD_INPUT
                                                                                 : RG_EXIT_STORAGE;
  return 0;
}

static PetscErrorCode note_program(void *closure, const RgRecord *record)
{
  RgText *program = closure;
  RgPart list = rg_software_parts(record->provenance.software).program, item;

  if (!program->length && rg_plugins_item(&list, &item))
    PetscCall(rg_text_add(program, "%.*s", item.length, item.at));
  return 0;
}

/* Explain that the study in the file can't be planned because of a library that was not named or
   a program that does not exist here. */
static PetscErrorCode complain_of_outside(const Verification *s, const char *mistake)
{
  RgText program = {0};
  RgFault fault = {0};
  bool told = false;

  PetscCall(rg_plugins_complain(s->path, &told));
  if (told) return 0;
  PetscCall(rg_store_visit(s->path, note_program, &program, NULL, &fault));
  if (program.length)
    rg_complain("%s: its trials were made by the program %s: -study says where the study file "
                "stood, and it is looked for from there",
                s->path, program.data);
  else rg_complain("%s: the study in it can't be planned here (%s)", s->path, mistake);
  return rg_text_clear(&program);
}

/* Plan the study text of the file with this program. */
static PetscErrorCode plan_study(Verification *s, const char *near, const char *text)
{
  RgDiagnostics diagnostics = {0};

  PetscCall(rg_study_parse_stored(s->registry, near, text, s->programs, &s->study, &diagnostics));
  if (diagnostics.n) {
    if (s->rank == 0 && s->study.unopened) rg_print_diagnostics(&diagnostics);
    else if (s->rank == 0) PetscCall(complain_of_outside(s, diagnostics.list[0].message));
    s->exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  PetscCall(rg_plan_fill(&s->study, &s->plan));
  PetscCall(PetscCalloc1(PetscMax(s->plan.n, 1), &s->found));
  return 0;
}

static PetscErrorCode check_records(Verification *s, const RgStoreInfo *info)
{
  RgFault fault = {0};

  PetscCall(rg_store_visit(s->path, note_record, s, &s->damaged, &fault));
  rg_checksum_hex(&s->own, s->salt);
  const bool other = info->checksum[0] && strcmp(info->checksum, s->salt);
  if (fault.code) rg_complain("%s", fault.message);
  else if (s->damaged) rg_complain("%s: %d damaged records or shards", s->path, s->damaged);
  else if (other)
    rg_complain("%s: its records have checksum %s, it says %s", s->path, s->salt, info->checksum);
  if (fault.code || s->damaged || other) s->exit_code = RG_EXIT_STORAGE;
  return 0;
}

/* Rank 0 reads the file; *text: its study text, owned by the caller. */
static PetscErrorCode read_file(Verification *s, const char *near, char **text)
{
  RgStoreInfo info;
  RgFault fault = {0};
  bool trailed = true;

  *text = NULL;
  PetscCall(rg_store_info(s->path, &info, &fault));
  if (fault.code == RG_FAULT_FOREIGN || (!fault.code && !info.directory)) {
    PetscCall(check_bytes(s, &trailed));
  } else if (fault.code) {
    rg_complain("%s", fault.message);
    s->exit_code = RG_EXIT_BAD_INPUT;
  }
  if (!s->exit_code && !info.study) {
    rg_complain("%s: no finished trials yet", s->path);
    s->exit_code = RG_EXIT_INCOMPLETE;
  }
  s->archive = info.archive_of[0] != '\0';
  if (!s->exit_code) PetscCall(plan_study(s, near, info.study));
  if (!s->exit_code) PetscCall(check_records(s, &info));
  if (!s->exit_code) {
    rg_say("%s: %d records, every checksum right%s\n", s->path, s->n_records,
           info.directory || trailed
             ? ""
             : " (no trailer: another program wrote to the file, attributes may have changed)");
    if (s->n_found == s->plan.n)
      rg_say("complete: all %d trials of study %s\n", s->plan.n, s->study.name);
    else rg_say("incomplete: %d of %d trials of study %s\n", s->n_found, s->plan.n, s->study.name);
    if (s->n_other)
      rg_say(
        "%d more that this program's plan of the study does not have: of a longer study, or of "
        "other revisions of its methods\n",
        s->n_other);
    PetscCall(PetscStrallocpy(info.study, text));
  }
  return rg_store_info_clear(&info);
}

/* Send the results of rank 0 to all ranks. */
static PetscErrorCode share(Verification *s, const char *near, char **text)
{
  int64_t length = *text ? (int64_t)strlen(*text) : 0;

  PetscCallMPI(MPI_Bcast(&s->exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (s->exit_code) return 0;
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
  if (s->rank != 0) PetscCall(PetscCalloc1((size_t)length + 1, text));
  PetscCallMPI(MPI_Bcast(*text, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD));
  if (s->rank != 0) PetscCall(plan_study(s, near, *text));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->exit_code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (s->exit_code) return 0;
  PetscCallMPI(MPI_Bcast(s->found, (int)(s->plan.n * sizeof(Found)), MPI_BYTE, 0, MPI_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(&s->archive, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(s->salt, (int)sizeof(s->salt), MPI_CHAR, 0, MPI_COMM_WORLD));
  return 0;
}

/* Number of trials to run again; negative after a mistake, which was reported. */
static int parse_sample(const RgArguments *arguments)
{
  const bool all = arguments->option[OPT_ALL], none = arguments->option[OPT_NONE];
  uint64_t n = all ? INT_MAX : none ? 0 : 3;

  if (all + none + (arguments->option[OPT_SAMPLE] != NULL) > 1) {
    rg_complain("verify: one of -sample, -all and -no-rerun, not several");
    return -1;
  }
  return rg_argument_count(arguments, OPT_SAMPLE, 1, INT_MAX,
                           "an integer >= 1 (-no-rerun runs none)", &n)
           ? (int)n
           : -1;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *named = arguments->option[OPT_STUDY];
  Verification s = {.path = arguments->positional[0],
                    .wanted = parse_sample(arguments),
                    .registry = registry,
                    .programs = arguments->option[OPT_PROGRAMS] != NULL,
                    .requested = arguments->option[OPT_SAMPLE] || arguments->option[OPT_ALL]};
  char *text = NULL;

  if (s.wanted < 0) *exit_code = RG_EXIT_BAD_INPUT;
  if (s.wanted < 0) return 0;
  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &s.rank));
  PetscCallMPI(MPI_Comm_size(MPI_COMM_WORLD, &s.ranks));
  PetscCall(rg_fingerprint(&s.fingerprint));
  if (s.rank == 0) PetscCall(read_file(&s, named ? named : s.path, &text));
  PetscCall(share(&s, named ? named : s.path, &text));
  if (s.exit_code == RG_EXIT_OK) {
    PetscCall(verify_draw(&s));
    PetscCall(verify_check(&s));
  }
  *exit_code = s.exit_code;
  PetscCall(RG_FREE(&text, &s.sample, &s.found));
  if (s.plan.study) PetscCall(rg_plan_clear(&s.plan));
  PetscCall(rg_instances_destroy(&s.instances));
  return rg_study_destroy(&s.study);
}

const RgCommand rg_command_verify = {
  RG_USAGE("verify RESULTS.h5 [-sample N | -all | -no-rerun] [-study FILE] [-allow-programs]",
           options, 1, 1),
  .place = RG_ON_ALL, .run = run};
