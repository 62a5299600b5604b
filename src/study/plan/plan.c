/* The trials of a study: their list, their identity, and their order. */
#include "study/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/text.h"
#include "study/plan/cost.h"

/* ---- cells and groups ------------------------------------------------------------------------ */

static int compare_costs(const void *left, const void *right, void *closure)
{
  const RgPlanCell *cells = closure;
  const int a = *(const int *)left, b = *(const int *)right;

  if (cells[a].cost != cells[b].cost) return cells[a].cost > cells[b].cost ? -1 : 1;
  return a - b;
}

PetscErrorCode rg_plan_fill(const RgStudy *study, RgPlan *plan)
{
  const int n = study->n_cells;

  *plan = (RgPlan){.study = study};
  PetscCall(PetscCalloc1(n, &plan->cells));
  PetscCall(PetscCalloc1(n, &plan->groups));
  PetscCall(PetscMalloc1(n, &plan->by_cost));
  PetscCall(PetscNew(&plan->ids));
  for (int c = 0; c < n; c++) {
    RgPlanCell *cell = &plan->cells[c];
    *cell = (RgPlanCell){.first = plan->n,
                         .n = rg_study_instances(study, &study->cells[c]) * study->cells[c].n_seeds,
                         .n_seeds = study->cells[c].n_seeds};
    cell->cost = rg_cost_nominal(&study->cells[c]);
    cell->memory =
      rg_cost_bytes(&study->cells[c], PetscMax(1, study->cells[c].run.ranks_per_trial));
    plan->n += cell->n;
    plan->n_turns = PetscMax(plan->n_turns, cell->n_seeds);
    plan->cost += cell->n * cell->cost;
  }
  /* Open a group whenever the problem label changes; cells of one label are adjacent. */
  for (int c = 0; c < n; c++) {
    const RgCell *cell = &study->cells[c];
    RgPlanGroup *group = plan->n_groups ? &plan->groups[plan->n_groups - 1] : NULL;
    if (!group || strcmp(group->problem_label, cell->problem_label)) {
      group = &plan->groups[plan->n_groups++];
      *group = (RgPlanGroup){.problem_label = cell->problem_label, .first = plan->cells[c].first};
    }
    group->n += plan->cells[c].n;
    group->dim_x = PetscMax(group->dim_x, cell->dim_x);
    group->dim_c = PetscMax(group->dim_c, cell->dim_c);
    group->n_rows = PetscMax(group->n_rows, cell->run.initial_points + cell->run.iterations);
  }
  for (int c = 0; c < n; c++) plan->by_cost[c] = c;
  if (n) PetscCall(PetscTimSort(n, plan->by_cost, sizeof(int), compare_costs, plan->cells));
  return 0;
}

PetscErrorCode rg_plan_clear(RgPlan *plan)
{
  PetscCall(RG_FREE(&plan->cells, &plan->groups, &plan->by_cost));
  if (plan->ids) PetscCall(PetscFree(plan->ids->slots));
  PetscCall(PetscFree(plan->ids));
  *plan = (RgPlan){0};
  return 0;
}

PetscErrorCode rg_plan_create(const RgStudy *study, RgPlan **plan)
{
  PetscCall(PetscNew(plan));
  return rg_plan_fill(study, *plan);
}

PetscErrorCode rg_plan_destroy(RgPlan **plan)
{
  if (*plan) PetscCall(rg_plan_clear(*plan));
  return PetscFree(*plan);
}

int rg_plan_size(const RgPlan *plan)
{
  return plan->n;
}

double rg_plan_cost(const RgPlan *plan)
{
  return plan->cost;
}

/* ---- trials ---------------------------------------------------------------------------------- */

int rg_plan_cell(const RgPlan *plan, int index)
{
  int low = 0, high = plan->study->n_cells - 1;

  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (plan->cells[middle].first <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The key has everything that can change a result, and nothing else: no labels, files or order. */
static PetscErrorCode add_cell_key(const RgStudy *study, int cell, RgText *key)
{
  int n = 0;

  PetscCall(rg_text_add(key, "schema=%d;%s;", RG_KEY_VERSION, study->cells[cell].text));
  for (int i = 0; i < study->without.n; i++)
    if (strcmp(study->without.values[i], RG_WITHOUT_TIMING) != 0)
      PetscCall(rg_text_add(key, "%s%s", n++ ? "," : "without=", study->without.values[i]));
  return rg_text_add(key, "%sstudy_seed=%llu", n ? ";" : "", (unsigned long long)study->seed);
}

static PetscErrorCode add_trial_key(uint64_t instance, uint64_t seed, RgText *key)
{
  char text[64];
  const int length = snprintf(text, sizeof(text), ";instance=%llu;seed=%llu",
                              (unsigned long long)instance, (unsigned long long)seed);

  return rg_text_add_bytes(key, text, (size_t)length);
}

PetscErrorCode rg_trial_key(const RgStudy *study, const RgTrial *trial, RgText *key)
{
  PetscCall(add_cell_key(study, trial->cell, key));
  return add_trial_key(trial->instance, trial->seed, key);
}

/* The instance of a cell for a seed: draw number `number`, or the seed's own. */
static uint64_t instance_of(const RgStudy *study, int c, int number, int turn)
{
  const RgCell *cell = &study->cells[c];
  const bool paired = study->paired && rg_problem_is_random(cell->problem, cell->problem_options);

  return paired ? study->seeds[turn] : (uint64_t)number;
}

PetscErrorCode rg_plan_trial(const RgPlan *plan, int index, RgTrial *trial)
{
  const RgStudy *study = plan->study;
  const int c = rg_plan_cell(plan, index), at = index - plan->cells[c].first;
  const int n_seeds = plan->cells[c].n_seeds, turn = at % n_seeds;
  const RgCell *cell = &study->cells[c];
  RgText key = {0};
  uint64_t hash[2];

  *trial = (RgTrial){.index = index,
                     .cell = c,
                     .instance = instance_of(study, c, at / n_seeds, turn),
                     .seed = study->seeds[turn],
                     .turn = turn,
                     .n_initial = cell->run.initial_points,
                     .n_evaluations = cell->run.initial_points + cell->run.iterations,
                     .dim_x = cell->dim_x,
                     .dim_c = cell->dim_c,
                     .cost = plan->cells[c].cost};
  PetscCall(rg_trial_key(study, trial, &key));
  rg_hash128(key.data, key.length, hash);
  rg_hash_hex(hash, trial->id);
  return rg_text_clear(&key);
}

/* ---- trials by id ---------------------------------------------------------------------------- */

static uint32_t slot_of(const RgPlanIds *ids, const uint64_t hash[2])
{
  return (uint32_t)((hash[1] >> 32) * ids->capacity >> 32);
}

static uint32_t slot_after(const RgPlanIds *ids, uint32_t slot)
{
  return slot + 1 < ids->capacity ? slot + 1 : 0;
}

/* Add the trials of the first seeds of a cell. */
static PetscErrorCode add_ids(const RgPlan *plan, int c, RgPlanIds *ids)
{
  const RgStudy *study = plan->study;
  const RgPlanCell *cell = &plan->cells[c];
  RgText key = {0};

  PetscCall(add_cell_key(study, c, &key));
  const size_t length = key.length;
  for (int number = 0; number < cell->n / cell->n_seeds; number++) {
    for (int turn = 0; turn < PetscMin(ids->n_turns, cell->n_seeds); turn++) {
      uint64_t hash[2];
      key.length = length;
      PetscCall(add_trial_key(instance_of(study, c, number, turn), study->seeds[turn], &key));
      rg_hash128(key.data, key.length, hash);
      uint32_t slot = slot_of(ids, hash);
      while (ids->slots[slot]) slot = slot_after(ids, slot);
      ids->slots[slot] = cell->first + number * cell->n_seeds + turn + 1;
    }
  }
  return rg_text_clear(&key);
}

/* Look a trial up in the table. */
static PetscErrorCode find_trial(const RgPlan *plan, const char *id, const uint64_t hash[2],
                                 int *index)
{
  const RgPlanIds *ids = plan->ids;
  RgTrial trial;

  if (!ids->capacity) return 0;
  for (uint32_t s = slot_of(ids, hash); ids->slots[s] && *index < 0; s = slot_after(ids, s)) {
    PetscCall(rg_plan_trial(plan, ids->slots[s] - 1, &trial));
    if (!strcmp(trial.id, id)) *index = trial.index;
  }
  return 0;
}

PetscErrorCode rg_plan_find(const RgPlan *plan, const char *id, int *index)
{
  uint64_t hash[2];

  *index = -1;
  if (!rg_hash_parse(id, hash)) return 0;
  PetscCall(find_trial(plan, id, hash, index));
  while (*index < 0 && plan->ids->n_turns < plan->n_turns) {
    /* Extend the table to eight times as many seeds; a study that has just begun needs only the
       first ones. */
    RgPlanIds *ids = plan->ids;
    int64_t n = 0;
    ids->n_turns = (int)PetscMin(PetscMax(1, 8 * (int64_t)ids->n_turns), plan->n_turns);
    for (int c = 0; c < plan->study->n_cells; c++) {
      const RgPlanCell *cell = &plan->cells[c];
      n += (int64_t)cell->n / cell->n_seeds * PetscMin(ids->n_turns, cell->n_seeds);
    }
    ids->capacity = (uint32_t)(3 * n / 2 + 1);
    PetscCall(PetscFree(ids->slots));
    PetscCall(PetscCalloc1(ids->capacity, &ids->slots));
    for (int c = 0; c < plan->study->n_cells; c++) PetscCall(add_ids(plan, c, ids));
    PetscCall(find_trial(plan, id, hash, index));
  }
  return 0;
}

/* ---- in turn --------------------------------------------------------------------------------- */

int rg_plan_next(const RgPlan *plan, RgPlanWalk *walk, int *cell)
{
  while (walk->turn < plan->n_turns) {
    *cell = plan->by_cost[walk->at];
    const RgPlanCell *trials = &plan->cells[*cell];
    const int index = walk->instance++ * trials->n_seeds + walk->turn;
    if (walk->turn < trials->n_seeds && index < trials->n) return trials->first + index;
    walk->instance = 0;
    if (++walk->at < plan->study->n_cells) continue;
    walk->at = 0;
    walk->turn++;
  }
  return -1;
}

PetscErrorCode rg_plan_share(const RgPlan *plan, int part, int parts, PetscBT share)
{
  RgPlanWalk walk = {0};
  RgHeapEntry *heap; /* the share with the least cost is on top */
  int cell, n = 0;

  PetscCall(PetscMalloc1(parts, &heap));
  for (int i = 1; i <= parts; i++) rg_heap_push(heap, &n, 0, i);
  for (int i = rg_plan_next(plan, &walk, &cell); i >= 0; i = rg_plan_next(plan, &walk, &cell)) {
    if (heap[0].owner == part) PetscCall(PetscBTSet(share, i));
    heap[0].key += plan->cells[cell].cost;
    rg_heap_sink(heap, n);
  }
  return PetscFree(heap);
}
