/* regatta verify RESULTS.h5: check checksums and completeness, and run a sample of trials again. */
#include "cli/verification.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "study/hdf5/shard.h"

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
  RgVerification *s = closure;
  uint64_t checksum[2];
  int trial;

  PetscFunctionBeginUser;
  s->n_records++;
  PetscCall(rg_record_checksum(record, checksum));
  if (!record->earlier) rg_checksum_add(&s->own, checksum);
  PetscCall(rg_plan_find(&s->plan, record->id, &trial));
  if (trial < 0) {
    s->n_other++;
    PetscFunctionReturn(0);
  }
  s->n_found++;
  s->found[trial] = (RgFound){.status = (unsigned char)record->status,
                              .checksum = {checksum[0], checksum[1]},
                              .fingerprint = record->provenance.fingerprint};
  PetscFunctionReturn(0);
}

/* Read every byte of a results file. Shards are always read whole. */
static PetscErrorCode check_bytes(RgVerification *s, bool *trailed)
{
  RgContainer container;
  RgFault fault = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_shard_open_results(s->path, true, &container, trailed, &fault));
  PetscCall(rg_container_close(&container));
  if (!fault.code) PetscFunctionReturn(0);
  rg_complain("%s", fault.message);
  s->exit_code = fault.code == RG_FAULT_NEWER || fault.code == RG_FAULT_VANISHED ? RG_EXIT_BAD_INPUT
                                                                                 : RG_EXIT_STORAGE;
  PetscFunctionReturn(0);
}

static PetscErrorCode note_program(void *closure, const RgRecord *record)
{
  RgText *program = closure;
  RgPart list = rg_software_parts(record->provenance.software).program, item;

  PetscFunctionBeginUser;
  if (!program->length && rg_plugins_item(&list, &item))
    PetscCall(rg_text_add(program, "%.*s", item.length, item.at));
  PetscFunctionReturn(0);
}

/* Explain that the study in the file can't be planned because of a library that was not named or
   a program that does not exist here. */
static PetscErrorCode complain_of_outside(const RgVerification *s)
{
  RgText program = {0};
  RgFault fault = {0};
  bool told = false;

  PetscFunctionBeginUser;
  PetscCall(rg_plugins_complain(s->path, &told));
  if (told) PetscFunctionReturn(0);
  PetscCall(rg_store_visit(s->path, note_program, &program, NULL, &fault));
  if (program.length)
    rg_complain("%s: its trials were made by the program %s: -study says where the study file "
                "stood, and it is looked for from there",
                s->path, program.data);
  else rg_complain("%s: the study in it can't be planned here", s->path);
  PetscCall(rg_text_clear(&program));
  PetscFunctionReturn(0);
}

/* Plan the study text of the file with this program. */
static PetscErrorCode plan_study(RgVerification *s, const char *near, const char *text)
{
  RgDiagnostics diagnostics = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_study_parse(s->registry, near, text, strlen(text), &s->study, &diagnostics));
  if (diagnostics.n) {
    if (s->rank == 0) rg_print_diagnostics(&diagnostics);
    if (s->rank == 0) PetscCall(complain_of_outside(s));
    s->exit_code = RG_EXIT_BAD_INPUT;
    PetscFunctionReturn(0);
  }
  PetscCall(rg_plan_fill(&s->study, &s->plan));
  PetscCall(PetscCalloc1(PetscMax(s->plan.n, 1), &s->found));
  PetscFunctionReturn(0);
}

static PetscErrorCode check_records(RgVerification *s, const RgStoreInfo *info)
{
  RgFault fault = {0};
  char hex[33];

  PetscFunctionBeginUser;
  PetscCall(rg_store_visit(s->path, note_record, s, &s->damaged, &fault));
  if (fault.code) {
    rg_complain("%s", fault.message);
    s->exit_code = RG_EXIT_STORAGE;
    PetscFunctionReturn(0);
  }
  rg_checksum_hex(&s->own, hex);
  snprintf(s->salt, sizeof(s->salt), "%s", hex);
  if (s->damaged) {
    rg_complain("%s: %d damaged records or shards", s->path, s->damaged);
    s->exit_code = RG_EXIT_STORAGE;
  } else if (info->checksum[0] && strcmp(info->checksum, hex)) {
    rg_complain("%s: its records have checksum %s, it says %s", s->path, hex, info->checksum);
    s->exit_code = RG_EXIT_STORAGE;
  }
  PetscFunctionReturn(0);
}

static void say_contents(const RgVerification *s, const RgStoreInfo *info, bool trailed)
{
  rg_say("%s: %d records, every checksum right%s\n", s->path, s->n_records,
         info->directory || trailed
           ? ""
           : " (no trailer: another program wrote to the file, attributes may have changed)");
  if (s->n_found == s->plan.n)
    rg_say("complete: all %d trials of study %s\n", s->plan.n, s->study.name);
  else rg_say("incomplete: %d of %d trials of study %s\n", s->n_found, s->plan.n, s->study.name);
  if (s->n_other)
    rg_say("%d more that this program's plan of the study does not have: of a longer study, or of "
           "other revisions of its methods\n",
           s->n_other);
}

/* Rank 0 reads the file; *text: its study text, owned by the caller. */
static PetscErrorCode read_file(RgVerification *s, const char *near, char **text)
{
  RgStoreInfo info;
  RgFault fault = {0};
  bool trailed = true;

  PetscFunctionBeginUser;
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
  if (!s->exit_code) PetscCall(plan_study(s, near, info.study));
  if (!s->exit_code) PetscCall(check_records(s, &info));
  if (!s->exit_code) {
    say_contents(s, &info, trailed);
    PetscCall(PetscStrallocpy(info.study, text));
  }
  PetscCall(rg_store_info_clear(&info));
  PetscFunctionReturn(0);
}

/* Send the results of rank 0 to all ranks. */
static PetscErrorCode share(RgVerification *s, const char *near, char **text)
{
  int64_t length = *text ? (int64_t)strlen(*text) : 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Bcast(&s->exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (s->exit_code) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
  if (s->rank != 0) PetscCall(PetscCalloc1((size_t)length + 1, text));
  PetscCallMPI(MPI_Bcast(*text, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD));
  if (s->rank != 0) PetscCall(plan_study(s, near, *text));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->exit_code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (s->exit_code) PetscFunctionReturn(0);
  PetscCallMPI(
    MPI_Bcast(s->found, (int)(s->plan.n * sizeof(RgFound)), MPI_BYTE, 0, MPI_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(s->salt, (int)sizeof(s->salt), MPI_CHAR, 0, MPI_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* ---- the command ---------------------------------------------------------------------------- */

static PetscErrorCode destroy(RgVerification *s)
{
  PetscFunctionBeginUser;
  PetscCall(RG_FREE(&s->sample, &s->found));
  if (s->plan.study) PetscCall(rg_plan_clear(&s->plan));
  PetscCall(rg_instances_destroy(&s->instances));
  PetscCall(rg_study_destroy(&s->study));
  PetscFunctionReturn(0);
}

/* Number of trials to run again; negative after a mistake, which was reported. */
static int parse_sample(const RgArguments *arguments)
{
  const char *text = arguments->option[OPT_SAMPLE];
  char *end;

  if (!text + !arguments->option[OPT_ALL] + !arguments->option[OPT_NONE] < 2) {
    rg_complain("verify: one of -sample, -all and -no-rerun, not several");
    return -1;
  }
  if (arguments->option[OPT_ALL]) return INT_MAX;
  if (arguments->option[OPT_NONE]) return 0;
  if (!text) return 3;
  long n = strtol(text, &end, 10);
  if (!*end && end != text && n >= 1 && n <= INT_MAX) return (int)n;
  rg_complain("verify: -sample must be an integer >= 1, got '%s' (-no-rerun runs none)", text);
  return -1;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *named = arguments->option[OPT_STUDY];
  const int wanted = parse_sample(arguments);
  RgVerification s = {.path = arguments->positional[0],
                      .registry = registry,
                      .programs = arguments->option[OPT_PROGRAMS] != NULL,
                      .insists = arguments->option[OPT_SAMPLE] || arguments->option[OPT_ALL]};
  char *text = NULL;

  PetscFunctionBeginUser;
  if (wanted < 0) *exit_code = RG_EXIT_BAD_INPUT;
  if (wanted < 0) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &s.rank));
  PetscCallMPI(MPI_Comm_size(MPI_COMM_WORLD, &s.ranks));
  PetscCall(rg_fingerprint(&s.fingerprint));
  if (s.rank == 0) PetscCall(read_file(&s, named ? named : s.path, &text));
  PetscCall(share(&s, named ? named : s.path, &text));
  if (s.exit_code == RG_EXIT_OK) {
    PetscCall(rg_verify_draw(&s, wanted));
    PetscCall(rg_verify_check(&s));
  }
  PetscCall(PetscFree(text));
  *exit_code = s.exit_code;
  PetscCall(destroy(&s));
  PetscFunctionReturn(0);
}

const RgCommand rg_command_verify = {
  RG_USAGE("verify RESULTS.h5 [-sample N | -all | -no-rerun] [-study FILE] [-allow-programs]",
           options, 1, 1),
  .place = RG_ON_ALL, .run = run};
