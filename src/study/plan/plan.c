/* The list of trials of a study, with their keys, in the order of groups. */
#include "study/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "study/plan/cost.h"

/* Everything that can change a result, and nothing else: labels, files and order never enter. */
static PetscErrorCode write_identity(const RgStudy *study, const RgCell *cell, RgTrial *trial)
{
  RgText key = {0};
  uint64_t hash[2];

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&key, "schema=%d;%s;study_seed=%llu;instance=%llu;seed=%llu",
                        RG_KEY_VERSION, cell->text, (unsigned long long)study->seed,
                        (unsigned long long)trial->instance, (unsigned long long)trial->seed));
  rg_hash128(key.data, key.length, hash);
  rg_hash_hex(hash, trial->id);
  trial->key = key.data;
  PetscFunctionReturn(0);
}

/* All trials of a cell. */
static PetscErrorCode add_cell(RgPlan *plan, int c)
{
  const RgStudy *study = plan->study;
  const RgCell *cell = &study->cells[c];
  const bool paired = study->paired && cell->problem->random;
  double cost, memory;

  PetscFunctionBeginUser;
  rg_cost_estimate(cell, &cost, &memory);
  for (int i = 0; i < rg_study_instances(study, cell); i++) {
    for (int s = 0; s < cell->n_seeds; s++) {
      RgTrial *trial = &plan->trials[plan->n++];
      *trial = (RgTrial){.cell = c,
                         .instance = paired ? study->seeds[s] : (uint64_t)i,
                         .seed = study->seeds[s],
                         .turn = s,
                         .n_initial = cell->run.initial_points,
                         .n_evaluations = cell->run.initial_points + cell->run.iterations,
                         .dim_x = cell->dim_x,
                         .dim_c = cell->dim_c,
                         .cost = cost,
                         .memory = memory};
      PetscCall(write_identity(study, cell, trial));
      plan->cost += cost;
    }
  }
  PetscFunctionReturn(0);
}

/* Open a group where the problem label changes; cells of one label stand together. */
static void add_groups(RgPlan *plan)
{
  for (int i = 0; i < plan->n; i++) {
    const RgTrial *trial = &plan->trials[i];
    const char *label = plan->study->cells[trial->cell].problem_label;
    RgPlanGroup *group = plan->n_groups ? &plan->groups[plan->n_groups - 1] : NULL;
    if (!group || strcmp(group->problem_label, label)) {
      group = &plan->groups[plan->n_groups++];
      *group = (RgPlanGroup){.problem_label = label, .first = i};
    }
    group->n++;
    group->dim_x = PetscMax(group->dim_x, trial->dim_x);
    group->dim_c = PetscMax(group->dim_c, trial->dim_c);
    group->n_rows = PetscMax(group->n_rows, trial->n_evaluations);
  }
}

/* Half a study is a comparison then, and no list of the dearest method's trials. */
static int compare_turns(const void *left, const void *right, void *closure)
{
  const RgTrial *trials = closure;
  const int i = *(const int *)left, j = *(const int *)right;

  if (trials[i].turn != trials[j].turn) return trials[i].turn - trials[j].turn;
  return rg_plan_compare_costs(left, right, closure);
}

int rg_plan_compare_costs(const void *left, const void *right, void *closure)
{
  const RgTrial *trials = closure;
  const int i = *(const int *)left, j = *(const int *)right;

  if (trials[i].cost != trials[j].cost) return trials[i].cost > trials[j].cost ? -1 : 1;
  return i - j;
}

static int compare_ids(const void *left, const void *right, void *closure)
{
  const RgTrial *trials = closure;
  return strcmp(trials[*(const int *)left].id, trials[*(const int *)right].id);
}

static PetscErrorCode sort_by_id(RgPlan *plan)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(plan->n, &plan->by_id));
  for (int i = 0; i < plan->n; i++) plan->by_id[i] = i;
  if (plan->n) qsort_r(plan->by_id, (size_t)plan->n, sizeof(int), compare_ids, plan->trials);
  for (int i = 1; i < plan->n; i++)
    PetscCheck(strcmp(plan->trials[plan->by_id[i - 1]].id, plan->trials[plan->by_id[i]].id),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "two trials have the id %s",
               plan->trials[plan->by_id[i]].id);
  PetscFunctionReturn(0);
}

typedef struct {
  double cost;
  int part;
} Load;

static bool is_less(const Load *a, const Load *b)
{
  return a->cost < b->cost || (a->cost == b->cost && a->part < b->part);
}

/* The first of a heap has grown: it sinks to its place. */
static void sink(Load *heap, int n)
{
  for (int at = 0, child = 1; child < n; at = child, child = 2 * at + 1) {
    if (child + 1 < n && is_less(&heap[child + 1], &heap[child])) child++;
    if (!is_less(&heap[child], &heap[at])) return;
    const Load small = heap[child];
    heap[child] = heap[at];
    heap[at] = small;
  }
}

PetscErrorCode rg_plan_share(const RgPlan *plan, int part, int parts, bool *share)
{
  Load *heap; /* the share with the least to do comes first */

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(parts, &heap));
  for (int i = 0; i < parts; i++) heap[i] = (Load){0, i + 1};
  for (int i = 0; i < plan->n; i++) {
    share[plan->order[i]] = heap[0].part == part;
    heap[0].cost += plan->trials[plan->order[i]].cost;
    sink(heap, parts);
  }
  PetscCall(PetscFree(heap));
  PetscFunctionReturn(0);
}

int rg_plan_find(const RgPlan *plan, const char *id)
{
  int low = 0, high = plan->n;

  while (low < high) {
    const int middle = low + (high - low) / 2;
    const int order = strcmp(plan->trials[plan->by_id[middle]].id, id);
    if (!order) return plan->by_id[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}

PetscErrorCode rg_plan_fill(const RgStudy *study, RgPlan *plan)
{
  int n = 0;

  PetscFunctionBeginUser;
  for (int c = 0; c < study->n_cells; c++)
    n += rg_study_instances(study, &study->cells[c]) * study->cells[c].n_seeds;
  *plan = (RgPlan){.study = study};
  PetscCall(PetscCalloc1(n, &plan->trials));
  PetscCall(PetscCalloc1(study->n_cells, &plan->groups));
  PetscCall(PetscMalloc1(n, &plan->order));
  for (int c = 0; c < study->n_cells; c++) PetscCall(add_cell(plan, c));
  add_groups(plan);
  for (int i = 0; i < plan->n; i++) plan->order[i] = i;
  if (plan->n) qsort_r(plan->order, (size_t)plan->n, sizeof(int), compare_turns, plan->trials);
  PetscCall(sort_by_id(plan));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_plan_clear(RgPlan *plan)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < plan->n; i++) PetscCall(PetscFree(plan->trials[i].key));
  PetscCall(PetscFree(plan->trials));
  PetscCall(PetscFree(plan->groups));
  PetscCall(PetscFree(plan->order));
  PetscCall(PetscFree(plan->by_id));
  *plan = (RgPlan){0};
  PetscFunctionReturn(0);
}

PetscErrorCode rg_plan_create(const RgStudy *study, RgPlan **plan)
{
  PetscFunctionBeginUser;
  PetscCall(PetscNew(plan));
  PetscCall(rg_plan_fill(study, *plan));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_plan_destroy(RgPlan **plan)
{
  PetscFunctionBeginUser;
  if (*plan) PetscCall(rg_plan_clear(*plan));
  PetscCall(PetscFree(*plan));
  PetscFunctionReturn(0);
}

int rg_plan_size(const RgPlan *plan)
{
  return plan->n;
}

double rg_plan_cost(const RgPlan *plan)
{
  return plan->cost;
}
