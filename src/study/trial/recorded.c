/* Durations in a results file, on a simulated or a real clock. */
#include "study/trial/recorded.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "study/file/duration.h"
#include "study/store/store.h"

typedef struct {
  char *problem; /* label; owned */
  uint64_t instance, seed;
  int n;
  double *times; /* n; owned */
} Entry;

struct RgRecorded {
  const char *label; /* borrowed while the file is read */
  char *path;        /* owned */
  int n;
  Entry *entries;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* The number of the submission in a row, from 1; 0: none that a trial of this size can have. */
static int submission_at(const RgRecord *record, const double *submission, int row)
{
  const double most = record->n_rows + PetscMin(record->workers, 1e6); /* some were in flight */

  return submission[row] >= 1 && submission[row] <= most ? (int)submission[row] : 0;
}

static PetscErrorCode take(void *closure, const RgRecord *record)
{
  RgRecorded *recorded = closure;
  const double *submission = record->column[RG_COLUMN_SUBMISSION];
  const double *duration = record->column[RG_COLUMN_DURATION];
  const double *from = record->column[RG_COLUMN_WALL_DISPATCHED];
  const double *to = record->column[RG_COLUMN_WALL_FINISHED];
  Entry entry = {.instance = record->instance, .seed = record->seed};

  PetscFunctionBeginUser;
  if (recorded->label && strcmp(recorded->label, record->algorithm_label)) PetscFunctionReturn(0);
  const bool real = from && to && rg_values_any(to, (size_t)record->n_rows);
  const bool simulated = duration && rg_values_any(duration, (size_t)record->n_rows);
  if (!submission || (!simulated && !real)) PetscFunctionReturn(0);
  for (int row = 0; row < record->n_rows; row++)
    entry.n = PetscMax(entry.n, submission_at(record, submission, row));
  PetscCall(PetscStrallocpy(record->problem_label, &entry.problem));
  PetscCall(PetscMalloc1(entry.n, &entry.times));
  for (int i = 0; i < entry.n; i++) entry.times[i] = NAN;
  for (int row = 0; row < record->n_rows; row++) {
    const int at = submission_at(record, submission, row) - 1;
    if (at >= 0) entry.times[at] = real ? to[row] - from[row] : duration[row];
  }
  PetscCall(RG_GROW(recorded->n, recorded->entries));
  recorded->entries[recorded->n++] = entry;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_recorded_read(const char *path, const char *label, RgRecorded **out,
                                RgText *mistake)
{
  RgRecorded *recorded;
  RgFault fault = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&recorded));
  recorded->label = label;
  PetscCall(PetscStrallocpy(path, &recorded->path));
  PetscCall(rg_store_visit(path, take, recorded, NULL, &fault));
  recorded->label = NULL;
  if (fault.code) PetscCall(rg_text_add(mistake, "%s", fault.message));
  else if (!recorded->n)
    PetscCall(rg_text_add(mistake, "%s has no trial with durations%s%s", path,
                          label ? " of the algorithm " : "", label ? label : ""));
  if (mistake->length) PetscCall(rg_recorded_destroy(&recorded));
  *out = recorded;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_recorded_destroy(RgRecorded **out)
{
  RgRecorded *recorded = *out;

  PetscFunctionBeginUser;
  if (!recorded) PetscFunctionReturn(0);
  for (int i = 0; i < recorded->n; i++)
    PetscCall(RG_FREE(&recorded->entries[i].problem, &recorded->entries[i].times));
  PetscCall(RG_FREE(&recorded->entries, &recorded->path, out));
  PetscFunctionReturn(0);
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool same_times(const Entry *a, const Entry *b)
{
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (a->times[i] != b->times[i] && !(isnan(a->times[i]) && isnan(b->times[i]))) return false;
  return true;
}

PetscErrorCode rg_recorded_find(const RgRecorded *recorded, const char *problem_label,
                                uint64_t instance, uint64_t seed, int *n, const double **times,
                                RgText *mistake)
{
  const Entry *found = NULL;

  PetscFunctionBeginUser;
  *times = NULL;
  for (int i = 0; i < recorded->n; i++) {
    const Entry *entry = &recorded->entries[i];
    const bool serves = recorded->n == 1 || (entry->instance == instance && entry->seed == seed &&
                                             !strcmp(entry->problem, problem_label));
    if (!serves) continue;
    if (found && !same_times(found, entry)) {
      PetscCall(rg_text_add(mistake,
                            "%s has trials of '%s', seed %llu, with different durations; choose an "
                            "algorithm with 'recorded FILE of LABEL'",
                            recorded->path, problem_label, (unsigned long long)seed));
      PetscFunctionReturn(0);
    }
    found = entry;
  }
  if (found) {
    *n = found->n;
    *times = found->times;
  } else {
    PetscCall(rg_text_add(mistake, "%s has %d trials with durations, but none of '%s', seed %llu",
                          recorded->path, recorded->n, problem_label, (unsigned long long)seed));
  }
  PetscFunctionReturn(0);
}

/* ---- the check of a study -------------------------------------------------------------------- */

/* Check one trial; the first mistake is appended. */
static PetscErrorCode check_trial(const RgRecorded *recorded, const RgCell *cell, uint64_t instance,
                                  uint64_t seed, RgText *mistake)
{
  const int last = cell->run.initial_points + cell->run.iterations;
  const int first = rg_cell_free(cell, cell->run.initial_points) + 1;
  const double *times;
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(rg_recorded_find(recorded, cell->problem_label, instance, seed, &n, &times, mistake));
  if (!times || !isnan(cell->crew.time)) PetscFunctionReturn(0);
  for (int s = first; s <= last; s++) {
    if (s <= n && !isnan(times[s - 1])) continue;
    PetscCall(rg_text_add(mistake,
                          "%s has no duration of submission %d of '%s', seed %llu; submissions %d "
                          "to %d need one",
                          recorded->path, s, cell->problem_label, (unsigned long long)seed, first,
                          last));
    break;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode check_cell(const RgStudy *study, const RgCell *cell,
                                 const RgRecorded *recorded, RgText *mistake)
{
  const bool paired = study->paired && cell->problem->traits & RG_PROBLEM_RANDOM;
  const int n = rg_study_instances(study, cell);

  PetscFunctionBeginUser;
  for (int i = 0; i < cell->n_seeds * n && !mistake->length; i++) {
    const uint64_t seed = study->seeds[i / n];
    PetscCall(check_trial(recorded, cell, paired ? seed : (uint64_t)(i % n), seed, mistake));
  }
  PetscFunctionReturn(0);
}

/* Check a cell with recorded durations. *recorded: those of the cell `before` (may be NULL). */
static PetscErrorCode check_duration(const RgStudy *study, const RgCell *cell, const RgCell *before,
                                     RgRecorded **recorded, RgDiagnostics *diagnostics)
{
  RgDuration duration;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_duration_read(cell->crew.duration, NULL, cell->problem_place, &duration, &mistake));
  if (!before || strcmp(before->crew.duration, cell->crew.duration)) {
    PetscCall(rg_recorded_destroy(recorded));
    PetscCall(rg_recorded_read(duration.name, duration.label, recorded, &mistake));
  }
  if (*recorded) PetscCall(check_cell(study, cell, *recorded, &mistake));
  if (mistake.length)
    rg_diagnostics_add(diagnostics, cell->problem_place, "'duration' is \"%s\": %s",
                       cell->crew.duration, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_duration_clear(&duration));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_recorded_check(const RgStudy *study, RgDiagnostics *diagnostics)
{
  RgRecorded *recorded = NULL;
  const RgCell *before = NULL;

  PetscFunctionBeginUser;
  for (int c = 0; c < study->n_cells && !diagnostics->n; c++) {
    const RgCell *cell = &study->cells[c];
    if (rg_duration_kind(cell->crew.duration) != RG_DURATION_RECORDED) continue;
    PetscCall(check_duration(study, cell, before, &recorded, diagnostics));
    before = cell;
  }
  PetscCall(rg_recorded_destroy(&recorded));
  PetscFunctionReturn(0);
}
