#include "study/instances.h"

#include <math.h>
#include <string.h>

#include "regret/optimum.h"

enum { MOST = 32, DEAR = 1000 };

struct RgInstances {
  RgInstance entries[MOST];
  int        n;
  uint64_t   time;
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
  PetscCall(PetscFree(entry->key));
  *entry = (RgInstance){0};
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instances_destroy(RgInstances **instances)
{
  PetscFunctionBeginUser;
  if (!*instances) PetscFunctionReturn(0);
  for (int i = 0; i < (*instances)->n; i++) PetscCall(clear(&(*instances)->entries[i]));
  PetscCall(PetscFree(*instances));
  PetscFunctionReturn(0);
}

/* Of the dense matrix that an instance costs. */
static int order_of(const RgProblemClass *class, const void *options)
{
  return class->dense_order ? (int)class->dense_order(options) : 0;
}

static PetscErrorCode key_of(RgTeam *team, const RgStudy *study, const RgCell *cell,
                             uint64_t number, char **key)
{
  RgText text = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&text, "%llu;%llu;%s;", (unsigned long long)study->seed,
                        (unsigned long long)number, cell->problem->name));
  PetscCall(rg_params_canonical(cell->problem->params, cell->problem_options, &text));
  if (rg_team_takes(team, order_of(cell->problem, cell->problem_options)))
    PetscCall(rg_text_add(&text, ";team=%d", rg_team_size(team))); /* other bits */
  PetscCall(PetscStrallocpy(text.data, key));
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

/* The entry of `key` that no trial has, else an empty one. */
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

/* Data from outside must be those that the cell is identified by. */
static PetscErrorCode compare_data(const RgCell *cell, const RgProblem *problem, RgFailure *failure)
{
  const RgProblemClass *class = cell->problem;
  RgText                text = {0};

  PetscFunctionBeginUser;
  if (failure->failed || !class->identify || !cell->text) PetscFunctionReturn(0);
  PetscCall(rg_text_add(&text, "problem=%s@%d{", class->name, class->revision));
  PetscCall(class->identify(problem, &text));
  PetscCall(rg_text_add(&text, "}"));
  if (strncmp(cell->text, text.data, text.length))
    rg_failure_set(failure, "%s: its data have changed since the study was started", class->name);
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instances_take(RgInstances *instances, RgTeam *team, const RgStudy *study,
                                 const RgCell *cell, uint64_t number, RgInstance **out,
                                 RgFailure *failure)
{
  RgInstance *entry;
  char       *key;

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
  const bool dear = class->shared || order_of(class, entry->problem.options) >= DEAR;
  if (dear && !entry->broken) PetscFunctionReturn(0);
  PetscCall(rg_problem_destroy(&entry->problem));
  entry->alive = false;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_instance_optimum(RgInstance *instance, double *optimum, double *accuracy,
                                   RgFailure *failure)
{
  PetscFunctionBeginUser;
  if (!instance->has_optimum) {
    PetscCall(rg_regret_optimum(&instance->problem, &instance->optimum, &instance->accuracy,
                                failure));
    instance->has_optimum = !failure->failed && !isnan(instance->optimum);
  }
  *optimum = instance->optimum;
  *accuracy = instance->accuracy;
  PetscFunctionReturn(0);
}
