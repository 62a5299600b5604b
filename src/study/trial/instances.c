/* Instances of problems, shared by the trials of a process. */
#include "study/trial/instances.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "gp/team/team.h"
#include "regret/optimum.h"
#include "study/trial/optimum_cache.h"

enum { MOST = 32, DEAR = 1000 };

struct RgInstances {
  RgInstance entries[MOST];
  int n;
  uint64_t time;
  char *folder;         /* folder for stored optima; owned, NULL: not stored */
  double least;         /* shortest search, in seconds, whose optimum is stored */
  char *program;        /* from rg_optimum_cache_program; owned, NULL: not computed yet */
  uint64_t fingerprint; /* fingerprint of the machine */
  const RgRegistry *registry;
  RgRecorded *recorded; /* durations from the file read last; owned */
  char *recorded_key;   /* path and label of that file; owned */
};

PetscErrorCode rg_instances_create(RgInstances **instances)
{
  PetscFunctionBeginUser;
  PetscCall(PetscNew(instances));
  PetscFunctionReturn(0);
}

static PetscErrorCode clear(RgInstance *entry)
{
  PetscFunctionBeginUser;
  if (entry->alive) PetscCall(rg_problem_destroy(&entry->problem));
  PetscCall(RG_FREE(&entry->key, &entry->file_key, &entry->epochs, &entry->column, &entry->times));
  *entry = (RgInstance){0};
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instances_destroy(RgInstances **instances)
{
  PetscFunctionBeginUser;
  if (!*instances) PetscFunctionReturn(0);
  for (int i = 0; i < (*instances)->n; i++) PetscCall(clear(&(*instances)->entries[i]));
  PetscCall(rg_recorded_destroy(&(*instances)->recorded));
  PetscCall(
    RG_FREE(&(*instances)->folder, &(*instances)->program, &(*instances)->recorded_key, instances));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instances_keep_optima(RgInstances *instances, const char *folder, double least,
                                        const RgRegistry *registry, uint64_t fingerprint)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(instances->folder));
  PetscCall(PetscStrallocpy(folder, &instances->folder));
  instances->least = least;
  instances->registry = registry;
  instances->fingerprint = fingerprint;
  PetscFunctionReturn(0);
}

/* Order of the dense matrix that an instance factors. */
static int order_of(const RgProblemClass *class, const void *options)
{
  return (int)rg_problem_cost(class, options).order;
}

static PetscErrorCode key_of(RgTeam *team, const RgStudy *study, const RgCell *cell,
                             uint64_t number, char **key)
{
  RgText text = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&text, "%llu;%llu;%s;", (unsigned long long)study->seed,
                        (unsigned long long)number, cell->problem->name));
  PetscCall(rg_params_canonical(cell->problem->params, cell->problem_options, &text));
  /* The bits depend on the size of the team. */
  if (rg_team_takes(team, order_of(cell->problem, cell->problem_options)))
    PetscCall(rg_text_add(&text, ";team=%d", rg_team_size(team)));
  PetscCall(PetscStrallocpy(text.data, key));
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

/* Find the free entry of `key`, else an empty entry. */
static PetscErrorCode find(RgInstances *instances, const char *key, RgInstance **found)
{
  RgInstance *oldest = NULL;

  PetscFunctionBeginUser;
  *found = NULL;
  for (int i = 0; i < instances->n && !*found; i++) {
    RgInstance *entry = &instances->entries[i];
    if (entry->taken) continue;
    if (!strcmp(entry->key, key)) *found = entry;
    if (!oldest || entry->used < oldest->used) oldest = entry;
  }
  if (*found) PetscFunctionReturn(0);
  if (instances->n < MOST) {
    *found = &instances->entries[instances->n++];
    PetscFunctionReturn(0);
  }
  PetscCheck(oldest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "more than %d instances in use", MOST);
  PetscCall(clear(oldest));
  *found = oldest;
  PetscFunctionReturn(0);
}

/* Check that data from outside are still those in the cell's identity. */
static PetscErrorCode compare_data(const RgCell *cell, const RgProblem *problem, RgFailure *failure)
{
  const RgProblemClass *class = cell->problem;
  RgText text = {0};

  PetscFunctionBeginUser;
  if (failure->failed || !class->source || !class->source->identify || !cell->text)
    PetscFunctionReturn(0);
  PetscCall(rg_text_add(&text, "problem=%s@%d{", class->name, class->revision));
  PetscCall(class->source->identify(problem, &text));
  PetscCall(rg_text_add(&text, "}"));
  if (strncmp(cell->text, text.data, text.length))
    rg_failure_set(failure, "%s: its data have changed since the study was started", class->name);
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

/* The key of an optimum in a file: everything its bits depend on. These are program, machine,
   the problem's identity in a trial's key (revision, data), its options, and the sources of its
   draw. All options are written again, because a text among them may contain the mark at which
   the key is cut. */
static PetscErrorCode make_file_key(RgInstances *instances, const RgStudy *study,
                                    const RgCell *cell, uint64_t number, RgInstance *entry)
{
  const RgProblemClass *class = cell->problem;
  const size_t n = rg_cell_problem_length(cell);
  RgText text = {0};

  PetscFunctionBeginUser;
  if (!n) PetscFunctionReturn(0);
  if (!instances->program) {
    PetscCall(rg_optimum_cache_program(&text));
    instances->program = text.data;
    text = (RgText){0};
  }
  PetscCall(rg_text_add(&text, "%s\nfingerprint %016llx\n%.*s\n", instances->program,
                        (unsigned long long)rg_registry_code_fingerprint(instances->registry, cell,
                                                                         instances->fingerprint),
                        (int)n, cell->text));
  PetscCall(rg_params_canonical(class->params, cell->problem_options, &text));
  if (class->traits & RG_PROBLEM_RANDOM ||
      rg_registry_find_problem(NULL, class->name) != class) /* a plug-in's claim may be wrong */
    PetscCall(rg_text_add(&text, "\nseed %llu, instance %llu", (unsigned long long)study->seed,
                          (unsigned long long)number));
  entry->file_key = text.data;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instances_take(RgInstances *instances, RgTeam *team, const RgStudy *study,
                                 const RgCell *cell, uint64_t number, RgInstance **out,
                                 RgFailure *failure)
{
  RgInstance *entry;
  char *key;

  PetscFunctionBeginUser;
  PetscCall(key_of(team, study, cell, number, &key));
  PetscCall(find(instances, key, &entry));
  PetscCall(PetscFree(entry->key));
  entry->key = key;
  entry->taken = true;
  entry->used = ++instances->time;
  *out = entry;
  if (entry->alive) PetscFunctionReturn(0);
  PetscCall(rg_problem_create_on(team, cell->problem, cell->problem_options, study->seed, number,
                                 &entry->problem, failure));
  PetscCall(compare_data(cell, &entry->problem, failure));
  entry->alive = true;
  entry->broken = failure->failed;
  entry->among = instances;
  const bool unknown = isnan(entry->problem.optimum) || entry->problem.epoch;
  const bool searched = !entry->broken && !entry->has_optimum && unknown &&
                        !(cell->problem->traits & RG_PROBLEM_COSTLY);
  if (instances->folder && searched && !entry->file_key && !entry->problem.by_team)
    PetscCall(make_file_key(instances, study, cell, number, entry));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instances_give_back(RgInstance **out)
{
  RgInstance *entry = *out;

  PetscFunctionBeginUser;
  if (!entry) PetscFunctionReturn(0);
  entry->taken = false;
  *out = NULL;
  const RgProblemClass *class = entry->problem.class;
  const bool dear =
    class->traits & RG_PROBLEM_SHARED || order_of(class, entry->problem.options) >= DEAR;
  if (dear && !entry->broken) PetscFunctionReturn(0);
  PetscCall(rg_problem_destroy(&entry->problem));
  entry->alive = false;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instances_recorded(RgInstances *instances, const char *path, const char *label,
                                     const RgRecorded **recorded, RgText *mistake)
{
  RgText key = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&key, "%s\n%s", path, label ? label : ""));
  if (!instances->recorded || strcmp(instances->recorded_key, key.data)) {
    PetscCall(rg_recorded_destroy(&instances->recorded));
    PetscCall(PetscFree(instances->recorded_key));
    PetscCall(rg_recorded_read(path, label, &instances->recorded, mistake));
    PetscCall(PetscStrallocpy(key.data, &instances->recorded_key));
  }
  *recorded = instances->recorded;
  PetscCall(rg_text_clear(&key));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instance_column(RgInstance *instance, const RgCell *cell, const char *name,
                                  const double **times, RgText *mistake)
{
  PetscFunctionBeginUser;
  if (!instance->times || strcmp(instance->column, name)) {
    PetscCall(RG_FREE(&instance->column, &instance->times));
    PetscCall(PetscStrallocpy(name, &instance->column));
    PetscCall(rg_crew_column(cell->problem, cell->problem_options, cell->size_x, name,
                             &instance->times, mistake));
  }
  *times = instance->times;
  PetscFunctionReturn(0);
}

/* The optimum under the present law from the files, else by a search. */
static PetscErrorCode search(RgInstance *entry, double *optimum, double *accuracy,
                             RgFailure *failure)
{
  const RgInstances *instances = entry->among;
  const double start = rg_wall_seconds();
  bool found = false;
  RgText key = {0};

  PetscFunctionBeginUser;
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
  PetscCall(rg_text_clear(&key));
  PetscFunctionReturn(0);
}

/* The optimum of the present epoch, from the list or added to it. */
static PetscErrorCode epoch_optimum(RgInstance *entry, double *optimum, double *accuracy,
                                    RgFailure *failure)
{
  RgOptimum *known = NULL;

  PetscFunctionBeginUser;
  for (int i = 0; i < entry->n_epochs && !known; i++)
    if (entry->epochs[i].epoch == entry->problem.epoch) known = &entry->epochs[i];
  if (!known) {
    PetscCall(search(entry, optimum, accuracy, failure));
    if (failure->failed) PetscFunctionReturn(0);
    PetscCall(PetscRealloc((size_t)(entry->n_epochs + 1) * sizeof(*known), &entry->epochs));
    known = &entry->epochs[entry->n_epochs++];
    *known = (RgOptimum){entry->problem.epoch, *optimum, *accuracy};
  }
  *optimum = known->value;
  *accuracy = known->accuracy;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instance_optimum(RgInstance *instance, double *optimum, double *accuracy,
                                   RgFailure *failure)
{
  PetscFunctionBeginUser;
  if (failure->failed) { /* the message must not depend on earlier trials */
    *optimum = instance->problem.optimum;
    *accuracy = 0;
    PetscFunctionReturn(0);
  }
  if (instance->problem.epoch) {
    PetscCall(epoch_optimum(instance, optimum, accuracy, failure));
    PetscFunctionReturn(0);
  }
  if (!instance->has_optimum) {
    PetscCall(search(instance, &instance->optimum, &instance->accuracy, failure));
    instance->has_optimum = !failure->failed && !isnan(instance->optimum);
  }
  *optimum = instance->optimum;
  *accuracy = instance->accuracy;
  PetscFunctionReturn(0);
}
