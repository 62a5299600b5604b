/* The trials that `regatta verify` runs again. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "cli/evaluations.h"
#include "cli/starts.h"
#include "cli/verification.h"
#include "study/record/software.h"
#include "study/store/compare.h"
#include "study/trial/trial.h"

/* Tolerance for the initial design when numeric fingerprints differ. */
static const double tolerance = 1e-6;

typedef struct {
  uint64_t lot;
  int trial;
} Lot;

static int compare_lots(const void *left, const void *right)
{
  const Lot *a = left, *b = right;
  return a->lot != b->lot ? (a->lot > b->lot) - (a->lot < b->lot)
                          : (a->trial > b->trial) - (a->trial < b->trial);
}

/* Whether trial i ran with our arithmetic: same numeric fingerprint and plug-ins. */
static bool has_our_bits(const RgVerification *s, int i)
{
  const RgCell *cell = &s->study.cells[rg_plan_cell(&s->plan, i)];

  return s->found[i].fingerprint == rg_registry_fingerprint(s->registry, cell, s->fingerprint.hash);
}

/* Whether a rerun of trial i would start a program that the file names. Problems that are programs
   are not asked again (below). */
static bool starts_program(const RgVerification *s, int i)
{
  return s->study.cells[rg_plan_cell(&s->plan, i)].algorithm->outside != NULL;
}

/* Costly evaluations are not repeated; only the algorithm runs again, on the recorded answers.
   This check needs a complete record and equal bits. */
static bool can_run_again(const RgVerification *s, int i)
{
  if (!(s->study.cells[rg_plan_cell(&s->plan, i)].problem->traits & RG_PROBLEM_COSTLY)) return true;
  return s->found[i].status == RG_STATUS_COMPLETE && has_our_bits(s, i);
}

/* Draw the `wanted` trials with the smallest lots. A lot is the hash of the file's checksum and
   the trial's id. */
PetscErrorCode rg_verify_draw(RgVerification *s, int wanted)
{
  Lot *lots;
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(PetscMax(s->plan.n, 1), &lots));
  PetscCall(PetscMalloc1(PetscMax(s->plan.n, 1), &s->sample));
  for (int i = 0; i < s->plan.n; i++) {
    char text[80];
    uint64_t hash[2];
    RgTrial trial;
    if (s->found[i].status == RG_STATUS_MISSING || !can_run_again(s, i)) continue;
    if (!s->programs && starts_program(s, i)) {
      s->n_refused += wanted > 0;
      continue;
    }
    PetscCall(rg_plan_trial(&s->plan, i, &trial));
    snprintf(text, sizeof(text), "%s %s", s->salt, trial.id);
    rg_hash128(text, strlen(text), hash);
    lots[n++] = (Lot){hash[0], i};
  }
  qsort(lots, (size_t)n, sizeof(*lots), compare_lots);
  s->n_sample = PetscMin(n, wanted);
  for (int k = 0; k < s->n_sample; k++) s->sample[k] = lots[k].trial;
  PetscCall(PetscFree(lots));
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
  if (strcmp(then->id, comparison->now->id)) PetscFunctionReturn(0);
  if (comparison->bits)
    PetscCall(rg_record_compare(then, comparison->now, &comparison->difference));
  else
    PetscCall(rg_record_compare_initial(then, comparison->now, tolerance, &comparison->difference));
  if (comparison->difference.length && comparison->program && comparison->bits)
    PetscCall(rg_text_add(&comparison->difference, "; the program is not reproducible"));
  const RgPart build = rg_software_parts(then->provenance.software).build;
  if (comparison->difference.length)
    PetscCall(rg_text_add(&comparison->difference, " (by %.*s)", build.length, build.at));
  PetscFunctionReturn(0);
}

static PetscErrorCode run_again(RgVerification *s, int index)
{
  RgTrial trial;
  const RgFound *found = &s->found[index];
  RgEvaluationLog *known = NULL;
  char *timeline = NULL;
  RgRecord record = {0};
  RgFault fault = {0};
  uint64_t checksum[2];
  bool stopped;

  PetscFunctionBeginUser;
  PetscCall(rg_plan_trial(&s->plan, index, &trial));
  const RgCell *cell = &s->study.cells[trial.cell];
  if (cell->problem->traits & RG_PROBLEM_COSTLY)
    PetscCall(rg_evaluations_of(s->path, &trial, cell, &known, &timeline));
  RgTrialHost host = {.known = known, .timeline = timeline, .instances = s->instances};
  PetscCall(rg_trial_run(&s->study, &trial, &host, &record, &stopped));
  PetscCall(rg_evaluation_log_close(&known));
  PetscCall(PetscFree(timeline));
  PetscCall(rg_record_checksum(&record, checksum));
  if (checksum[0] == found->checksum[0] && checksum[1] == found->checksum[1]) {
    s->n_equal++;
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
      s->n_different++;
    } else {
      s->n_close++;
    }
    PetscCall(rg_text_clear(&comparison.difference));
  }
  PetscCall(rg_record_destroy(&record));
  PetscFunctionReturn(0);
}

/* Anyone's file is checked, so a file starts nothing by itself. */
static PetscErrorCode say_refused(RgVerification *s)
{
  RgText programs = {0};

  PetscFunctionBeginUser;
  if (!s->n_refused) PetscFunctionReturn(0);
  PetscCall(rg_starts_describe(&s->study, false, &programs));
  rg_complain("%s: %d trial%s not run again, which would start programs: %s; -allow-programs "
              "starts them",
              s->path, s->n_refused, s->n_refused == 1 ? " was" : "s were", programs.data);
  if (s->insists) s->exit_code = RG_EXIT_BAD_INPUT;
  PetscCall(rg_text_clear(&programs));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_verify_check(RgVerification *s)
{
  int counts[3];

  PetscFunctionBeginUser;
  PetscCall(rg_instances_create(&s->instances));
  for (int k = s->rank; k < s->n_sample; k += s->ranks) PetscCall(run_again(s, s->sample[k]));
  counts[0] = s->n_equal, counts[1] = s->n_close, counts[2] = s->n_different;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  rg_say("run again: %d trial%s, %d equal in every bit", s->n_sample, s->n_sample == 1 ? "" : "s",
         counts[0]);
  if (counts[1])
    rg_say(", %d of another numeric fingerprint with the same initial design (to %g)", counts[1],
           tolerance);
  rg_say(counts[2] ? ", %d different\n" : "\n", counts[2]);
  PetscCall(say_refused(s));
  if (counts[2]) s->exit_code = RG_EXIT_STORAGE;
  else if (!s->exit_code && s->n_found < s->plan.n && s->rank == 0)
    s->exit_code = RG_EXIT_INCOMPLETE;
  PetscCallMPI(MPI_Bcast(&s->exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  PetscFunctionReturn(0);
}
