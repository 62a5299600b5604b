/* Instances of problems, shared by the trials of a process. */
#include "study/trial/instances.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/hash.h"
#include "gp/team/team.h"
#include "regret/optimum.h"
#include "study/file/crew_options.h"
#include "study/record/software.h"
#include "study/store/store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST = 1 << 20 }; /* largest file in bytes */

/* ---- the file of an optimum ------------------------------------------------------------------ */

static void name_of(const char *key, char name[48])
{
  uint64_t hash[2];
  char hex[33];

  rg_hash128(key, strlen(key), hash);
  rg_hash_hex(hash, hex);
  snprintf(name, 48, "%s.optimum", hex);
}

#define TITLE "regatta optimum 1\n"

/* The text of a file; its decimal numbers are for people. */
static PetscErrorCode compose(const char *key, double optimum, double accuracy, RgText *text)
{
  uint64_t bits[2], hash[2];
  char hex[33];

  memcpy(&bits[0], &optimum, sizeof(optimum));
  memcpy(&bits[1], &accuracy, sizeof(accuracy));
  PetscCall(rg_text_add(text, TITLE "%s\n", key));
  PetscCall(rg_text_add(text, "optimum %016" PRIx64 " %.17g\naccuracy %016" PRIx64 " %.17g\n",
                        bits[0], optimum, bits[1], accuracy));
  rg_hash128(text->data, text->length, hash);
  rg_hash_hex(hash, hex);
  return rg_text_add(text, "checksum %s\n", hex);
}

/* A file is valid if it equals the text composed from its numbers. */
PetscErrorCode rg_optimum_cache_read(const char *folder, const char *key, double *optimum,
                                     double *accuracy, bool *found)
{
  RgText path = {0}, mistake = {0}, whole = {0};
  char name[48], *bytes = NULL;
  size_t length = 0, head = strlen(TITLE) + strlen(key) + 1;
  uint64_t bits[2];
  double numbers[2] = {NAN, NAN};

  name_of(key, name);
  PetscCall(rg_text_add(&path, "%s/%s", folder, name));
  PetscCall(rg_file_read_open(rg_inside_open(path.data, RG_FOLDER, O_RDONLY | O_NONBLOCK), LARGEST,
                              &bytes, &length, &mistake));
  if (bytes && length > head &&
      sscanf(bytes + head, "optimum %" SCNx64 " %*s accuracy %" SCNx64, &bits[0], &bits[1]) == 2) {
    memcpy(numbers, bits, sizeof(numbers));
    PetscCall(compose(key, numbers[0], numbers[1], &whole));
  }
  *found = isfinite(numbers[0]) && isfinite(numbers[1]) && whole.length == length &&
           !memcmp(bytes, whole.data, length);
  if (*found) {
    *optimum = numbers[0];
    *accuracy = numbers[1];
  }
  PetscCall(PetscFree(bytes));
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_text_clear(&path));
  return rg_text_clear(&whole);
}

PetscErrorCode rg_optimum_cache_write(const char *folder, const char *key, double optimum,
                                      double accuracy)
{
  RgText text = {0};
  RgFault fault = {0}; /* a failure is harmless: another run will search */
  char name[48];
  double value, error_bound;
  bool found;

  if (!isfinite(optimum) || !isfinite(accuracy)) return 0;
  PetscCall(rg_optimum_cache_read(folder, key, &value, &error_bound, &found));
  if (found) return 0; /* another rank has stored it already */
  name_of(key, name);
  PetscCall(compose(key, optimum, accuracy, &text));
  (void)rg_inside_create(folder); /* the commit reports a failure */
  PetscCall(rg_file_commit(folder, RG_FOLDER, name, text.data, text.length, &fault));
  return rg_text_clear(&text);
}

/* ---- recorded durations ---------------------------------------------------------------------- */

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

/* The number of the submission in a row, from 1; 0: none that a trial of this size can have. */
static int submission_at(const RgRecord *record, const double *submission, int row)
{
  const double most = record->n_rows + PetscMin(record->workers, 1e6); /* some were in flight */

  return submission[row] >= 1 && submission[row] <= most ? (int)submission[row] : 0;
}

static PetscErrorCode add_recorded(void *closure, const RgRecord *record)
{
  RgRecorded *recorded = closure;
  const double *submission = record->column[RG_COLUMN_SUBMISSION];
  const double *duration = record->column[RG_COLUMN_DURATION];
  const double *from = record->column[RG_COLUMN_WALL_DISPATCHED];
  const double *to = record->column[RG_COLUMN_WALL_FINISHED];
  Entry entry = {.instance = record->instance, .seed = record->seed};

  if (recorded->label && strcmp(recorded->label, record->cell->algorithm_label)) return 0;
  const bool real = from && to && rg_values_any(to, (size_t)record->n_rows);
  const bool simulated = duration && rg_values_any(duration, (size_t)record->n_rows);
  if (!submission || (!simulated && !real)) return 0;
  for (int row = 0; row < record->n_rows; row++)
    entry.n = PetscMax(entry.n, submission_at(record, submission, row));
  PetscCall(PetscStrallocpy(record->cell->problem_label, &entry.problem));
  PetscCall(PetscMalloc1(entry.n, &entry.times));
  for (int i = 0; i < entry.n; i++) entry.times[i] = NAN;
  for (int row = 0; row < record->n_rows; row++) {
    const int at = submission_at(record, submission, row) - 1;
    if (at >= 0) entry.times[at] = real ? to[row] - from[row] : duration[row];
  }
  PetscCall(RG_GROW(recorded->n, recorded->entries));
  recorded->entries[recorded->n++] = entry;
  return 0;
}

static PetscErrorCode recorded_destroy(RgRecorded **out)
{
  RgRecorded *recorded = *out;

  if (!recorded) return 0;
  for (int i = 0; i < recorded->n; i++)
    PetscCall(RG_FREE(&recorded->entries[i].problem, &recorded->entries[i].times));
  return RG_FREE(&recorded->entries, &recorded->path, out);
}

/* Read the trials of a results file that have durations. label: the algorithm's label; NULL: any. A
   mistake is appended to `mistake`; then *recorded is NULL. */
static PetscErrorCode recorded_read(const char *path, const char *label, RgRecorded **out,
                                    RgText *mistake)
{
  RgRecorded *recorded;
  RgFault fault = {0};

  PetscCall(PetscNew(&recorded));
  recorded->label = label;
  PetscCall(PetscStrallocpy(path, &recorded->path));
  PetscCall(rg_store_visit(path, add_recorded, recorded, NULL, &fault));
  recorded->label = NULL;
  if (fault.code) PetscCall(rg_text_add(mistake, "%s", fault.message));
  else if (!recorded->n)
    PetscCall(rg_text_add(mistake, "%s has no trial with durations%s%s", path,
                          label ? " of the algorithm " : "", label ? label : ""));
  if (mistake->length) PetscCall(recorded_destroy(&recorded));
  *out = recorded;
  return 0;
}

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
      return 0;
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
  return 0;
}

/* Check the trials of a cell; the first mistake is appended. */
static PetscErrorCode check_cell(const RgStudy *study, const RgCell *cell,
                                 const RgRecorded *recorded, RgText *mistake)
{
  const int last = cell->run.initial_points + cell->run.iterations;
  const int first = rg_cell_free(cell, cell->run.initial_points) + 1;
  const bool paired = study->paired && rg_problem_is_random(cell->problem, cell->problem_options);
  const int instances = rg_study_instances(study, cell);
  const double *times;

  for (int i = 0; i < cell->n_seeds * instances && !mistake->length; i++) {
    const uint64_t seed = study->seeds[i / instances];
    int n = 0, s = first;
    PetscCall(rg_recorded_find(recorded, cell->problem_label,
                               paired ? seed : (uint64_t)(i % instances), seed, &n, &times,
                               mistake));
    if (!times || !isnan(cell->crew.time)) continue;
    while (s <= last && s <= n && !isnan(times[s - 1])) s++;
    if (s <= last)
      PetscCall(rg_text_add(mistake,
                            "%s has no duration of submission %d of '%s', seed %llu; submissions "
                            "%d to %d need one",
                            recorded->path, s, cell->problem_label, (unsigned long long)seed, first,
                            last));
  }
  return 0;
}

/* ---- instances ------------------------------------------------------------------------------- */

enum { MOST = 32, DEAR = 1000 };

struct RgInstances {
  RgInstance entries[MOST];
  int n;
  uint64_t time;
  char *folder;         /* folder for stored optima; owned, NULL: not stored */
  double least;         /* shortest search, in seconds, whose optimum is stored */
  char *program;        /* as in make_file_key; owned, NULL: not computed yet */
  uint64_t fingerprint; /* fingerprint of the machine */
  const RgRegistry *registry;
  RgRecorded *recorded; /* durations from the file read last; owned */
  char *recorded_key;   /* path and label of that file; owned */
};

PetscErrorCode rg_instances_create(RgInstances **instances)
{
  PetscCall(PetscNew(instances));
  return 0;
}

static PetscErrorCode clear(RgInstance *entry)
{
  if (entry->alive) PetscCall(rg_problem_destroy(&entry->problem));
  PetscCall(RG_FREE(&entry->key, &entry->file_key, &entry->optima, &entry->column, &entry->times));
  *entry = (RgInstance){0};
  return 0;
}

PetscErrorCode rg_instances_destroy(RgInstances **instances)
{
  if (!*instances) return 0;
  for (int i = 0; i < (*instances)->n; i++) PetscCall(clear(&(*instances)->entries[i]));
  PetscCall(recorded_destroy(&(*instances)->recorded));
  return RG_FREE(&(*instances)->folder, &(*instances)->program, &(*instances)->recorded_key,
                 instances);
}

PetscErrorCode rg_instances_keep_optima(RgInstances *instances, const char *folder, double least,
                                        const RgRegistry *registry, uint64_t fingerprint)
{
  PetscCall(PetscFree(instances->folder));
  PetscCall(PetscStrallocpy(folder, &instances->folder));
  instances->least = least;
  instances->registry = registry;
  instances->fingerprint = fingerprint;
  return 0;
}

/* Order of the dense matrix that an instance factors. */
static int order_of(const RgProblemClass *class, const void *options)
{
  return (int)rg_problem_cost(class, options).order;
}

/* Find the free entry of `key`, else an empty entry. */
static PetscErrorCode find(RgInstances *instances, const char *key, RgInstance **found)
{
  RgInstance *oldest = NULL;

  *found = NULL;
  for (int i = 0; i < instances->n && !*found; i++) {
    RgInstance *entry = &instances->entries[i];
    if (entry->taken) continue;
    if (!strcmp(entry->key, key)) *found = entry;
    if (!oldest || entry->used < oldest->used) oldest = entry;
  }
  if (*found) return 0;
  if (instances->n < MOST) {
    *found = &instances->entries[instances->n++];
    return 0;
  }
  PetscCheck(oldest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "more than %d instances in use", MOST);
  PetscCall(clear(oldest));
  *found = oldest;
  return 0;
}

/* The key of an optimum in a file: everything its bits depend on. These are the program (versions
   of the libraries, the compiler, a hash of its file), the machine, the problem's identity in a
   trial's key (revision, data), its options, and the sources of its draw. All options are written
   again, because a text among them may contain the mark at which the key is cut. */
static PetscErrorCode make_file_key(RgInstances *instances, const RgStudy *study,
                                    const RgCell *cell, uint64_t number, RgInstance *entry)
{
  const RgProblemClass *class = cell->problem;
  const size_t n = cell->problem_length;
  RgText text = {0}, mistake = {0};
  char *software, hex[33] = "";

  if (!n) return 0;
  if (!instances->program) { /* without /proc, versions alone must suffice */
    PetscCall(rg_software_describe(&software));
    PetscCall(rg_file_hash("/proc/self/exe", hex, &mistake));
    PetscCall(rg_text_add(&text, "%s; program %s", software, hex));
    PetscCall(rg_text_clear(&mistake));
    PetscCall(PetscFree(software));
    instances->program = text.data;
    text = (RgText){0};
  }
  PetscCall(rg_text_add(&text, "%s\nfingerprint %016llx\n%.*s\n", instances->program,
                        (unsigned long long)rg_registry_code_fingerprint(instances->registry, cell,
                                                                         instances->fingerprint),
                        (int)n, cell->text));
  PetscCall(rg_params_canonical(class->params, cell->problem_options, &text));
  if (rg_problem_is_random(class, cell->problem_options) ||
      rg_registry_find_problem(NULL, class->name) != class) /* a plug-in's claim may be wrong */
    PetscCall(rg_text_add(&text, "\nseed %llu, instance %llu", (unsigned long long)study->seed,
                          (unsigned long long)number));
  entry->file_key = text.data;
  return 0;
}

PetscErrorCode rg_instances_acquire(RgInstances *instances, RgTeam *team, const RgStudy *study,
                                    const RgCell *cell, uint64_t number, RgInstance **out,
                                    RgFailure *failure)
{
  const RgProblemClass *class = cell->problem;
  RgInstance *entry;
  RgText key = {0}, now = {0};

  PetscCall(rg_text_add(&key, "%llu;%llu;%s;", (unsigned long long)study->seed,
                        (unsigned long long)number, class->name));
  PetscCall(rg_params_canonical(class->params, cell->problem_options, &key));
  if (rg_team_takes(team, order_of(class, cell->problem_options))) /* so do the bits */
    PetscCall(rg_text_add(&key, ";team=%d", rg_team_size(team)));
  PetscCall(find(instances, key.data, &entry));
  PetscCall(PetscFree(entry->key));
  entry->key = key.data;
  entry->taken = true;
  entry->used = ++instances->time;
  *out = entry;
  if (entry->alive) return 0;
  PetscCall(rg_problem_create_on(team, class, cell->problem_options, study->seed, number,
                                 &entry->problem, failure));
  if (!failure->failed && class->source && class->source->identify && cell->text) {
    /* Data from outside must still be those in the cell's identity. */
    PetscCall(rg_text_add(&now, "problem=%s@%d{", class->name, class->revision));
    PetscCall(class->source->identify(&entry->problem, &now));
    PetscCall(rg_text_add(&now, "}"));
    if (strncmp(cell->text, now.data, now.length))
      rg_failure_set(failure, "%s: its data have changed since the study was started", class->name);
    PetscCall(rg_text_clear(&now));
  }
  entry->alive = true;
  entry->broken = failure->failed;
  entry->among = instances;
  const bool unknown = isnan(entry->problem.optimum) || entry->problem.epoch;
  const bool searched = !entry->broken && !entry->n_optima && unknown &&
                        !(class->traits & (RG_PROBLEM_COSTLY | RG_PROBLEM_UNKNOWN));
  if (instances->folder && searched && !entry->file_key && !entry->problem.by_team)
    PetscCall(make_file_key(instances, study, cell, number, entry));
  return 0;
}

PetscErrorCode rg_instances_release(RgInstance **out)
{
  RgInstance *entry = *out;

  if (!entry) return 0;
  entry->taken = false;
  *out = NULL;
  const RgProblemClass *class = entry->problem.class;
  const bool dear =
    class->traits & RG_PROBLEM_SHARED || order_of(class, entry->problem.options) >= DEAR;
  if (dear && !entry->broken) return 0;
  PetscCall(rg_problem_destroy(&entry->problem));
  entry->alive = false;
  return 0;
}

PetscErrorCode rg_instances_recorded(RgInstances *instances, const char *path, const char *label,
                                     const RgRecorded **recorded, RgText *mistake)
{
  RgText key = {0};

  PetscCall(rg_text_add(&key, "%s\n%s", path, label ? label : ""));
  if (!instances->recorded || strcmp(instances->recorded_key, key.data)) {
    PetscCall(recorded_destroy(&instances->recorded));
    PetscCall(PetscFree(instances->recorded_key));
    PetscCall(recorded_read(path, label, &instances->recorded, mistake));
    PetscCall(PetscStrallocpy(key.data, &instances->recorded_key));
  }
  *recorded = instances->recorded;
  return rg_text_clear(&key);
}

PetscErrorCode rg_recorded_check(const RgStudy *study, RgDiagnostics *diagnostics)
{
  RgInstances *instances; /* keeps the file that was read last */
  const RgRecorded *recorded = NULL;

  PetscCall(rg_instances_create(&instances));
  for (int c = 0; c < study->n_cells && !diagnostics->n; c++) {
    const RgCell *cell = &study->cells[c];
    const char *text = cell->crew.duration;
    RgDuration duration;
    RgText mistake = {0};
    if (rg_duration_kind(text) != RG_DURATION_RECORDED) continue;
    PetscCall(rg_duration_read(text, NULL, cell->problem_place, &duration, &mistake));
    PetscCall(rg_instances_recorded(instances, duration.name, duration.label, &recorded, &mistake));
    if (recorded) PetscCall(check_cell(study, cell, recorded, &mistake));
    if (mistake.length)
      rg_diagnostics_add(diagnostics, cell->problem_place, "'duration' is \"%s\": %s", text,
                         mistake.data);
    PetscCall(rg_text_clear(&mistake));
    PetscCall(rg_duration_clear(&duration));
  }
  return rg_instances_destroy(&instances);
}

PetscErrorCode rg_instance_column(RgInstance *instance, const RgCell *cell, const char *name,
                                  const double **times, RgText *mistake)
{
  if (!instance->times || strcmp(instance->column, name)) {
    PetscCall(RG_FREE(&instance->column, &instance->times));
    PetscCall(PetscStrallocpy(name, &instance->column));
    PetscCall(rg_crew_column(cell->problem, cell->problem_options, cell->size_x, name,
                             &instance->times, mistake));
  }
  *times = instance->times;
  return 0;
}

/* The optimum under the present law from the files, else by a search. */
static PetscErrorCode search(RgInstance *entry, double *optimum, double *accuracy,
                             RgFailure *failure)
{
  const RgInstances *instances = entry->among;
  const double start = rg_wall_seconds();
  bool found = false;
  RgText key = {0};

  if (entry->file_key) {
    PetscCall(rg_text_add(&key, "%s", entry->file_key));
    if (entry->problem.epoch)
      PetscCall(rg_text_add(&key, "\nlaw of evaluation %d", entry->problem.epoch));
    PetscCall(rg_optimum_cache_read(instances->folder, key.data, optimum, accuracy, &found));
  }
  if (!found) PetscCall(rg_regret_optimum(&entry->problem, optimum, accuracy, failure));
  if (!found && entry->file_key && !failure->failed && !isnan(*optimum) &&
      rg_wall_seconds() - start >= instances->least)
    PetscCall(rg_optimum_cache_write(instances->folder, key.data, *optimum, *accuracy));
  return rg_text_clear(&key);
}

PetscErrorCode rg_instance_optimum(RgInstance *instance, double *optimum, double *accuracy,
                                   RgFailure *failure)
{
  const int epoch = instance->problem.epoch; /* 0: the law does not change */
  int at = 0;

  if (failure->failed) { /* the message must not depend on earlier trials */
    *optimum = instance->problem.optimum;
    *accuracy = 0;
    return 0;
  }
  while (at < instance->n_optima && instance->optima[at].epoch != epoch) at++;
  if (at == instance->n_optima) {
    PetscCall(search(instance, optimum, accuracy, failure));
    if (failure->failed || (!epoch && isnan(*optimum))) return 0;
    PetscCall(RG_GROW(at, instance->optima));
    instance->optima[instance->n_optima++] = (RgOptimum){epoch, *optimum, *accuracy};
  }
  *optimum = instance->optima[at].value;
  *accuracy = instance->optima[at].accuracy;
  return 0;
}
