/* Results of others that pair with the trials of a study. */
#include "study/run/against.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/file/cell_data.h"
#include "study/store/store.h"

typedef struct {
  const RgPlan *plan;
  RgCellData *cell; /* the last one that was compared; shared */
  int match;        /* a cell of the plan with the same problem; -1: none */
  int n_trials;
  RgText methods; /* labels, each in a line */
  int n_methods;
} Count;

/* Whether a setting belongs to a method alone. */
static bool is_of_method(const char *name)
{
  static const char *const parts[] = {"algorithm.", "pending.", "surrogate.", "maximiser."};

  for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
    if (!strncmp(name, parts[p], strlen(parts[p]))) return true;
  return false;
}

/* Whether a setting says nothing: a program that lacks it does the same. */
static bool is_unset(const char *value)
{
  return !value || !strcmp(value, "auto") || !strcmp(value, "none") || !strcmp(value, "false");
}

/* Whether b has every setting of a that says something and does not belong to the method, with the
   same value. */
static bool has_settings_of(const RgCellData *b, const RgCellData *a)
{
  const char *end = a->settings.data + a->settings.length;

  for (const char *at = a->settings.data; at && at < end;) {
    const char *name = at + 1, *value = at + strlen(at) + 1; /* a digit stands before the name */
    const char *other = rg_cell_data_setting(b, name);
    if (!is_of_method(name) && !is_unset(value) && (!other || strcmp(value, other))) return false;
    at = value + strlen(value) + 1;
  }
  return true;
}

/* Whether the problem and the settings of the run are equal. */
static bool same_problem(const RgCellData *a, const RgCellData *b)
{
  return a->problem_revision == b->problem_revision && a->dynamic == b->dynamic &&
         !strcmp(a->problem, b->problem) && !strcmp(a->goal, b->goal) && !strcmp(a->law, b->law) &&
         !strcmp(a->measure, b->measure) && !strcmp(a->scores, b->scores) &&
         !strcmp(a->inputs, b->inputs) && !strcmp(a->contexts, b->contexts) &&
         has_settings_of(a, b) && has_settings_of(b, a);
}

static PetscErrorCode find_match(Count *count, RgCellData *cell)
{
  RgCellData *own;

  if (count->cell && !strcmp(count->cell->id, cell->id)) return 0;
  PetscCall(rg_cell_data_release(&count->cell));
  count->cell = rg_cell_data_share(cell);
  count->match = -1;
  for (int c = 0; c < count->plan->study->n_cells && count->match < 0; c++) {
    PetscCall(rg_cell_data(count->plan->study, c, &own));
    if (same_problem(own, cell)) count->match = c;
  }
  return 0;
}

/* Whether cell c of the plan has a trial of this instance and seed. */
static PetscErrorCode has_trial(const RgPlan *plan, int c, const RgRecord *record, bool *has)
{
  const RgPlanCell *cell = &plan->cells[c];
  RgTrial trial;

  *has = false;
  for (int turn = 0; turn < cell->n_seeds && !*has; turn++) {
    if (plan->study->seeds[turn] != record->seed) continue;
    for (int at = turn; at < cell->n && !*has; at += cell->n_seeds) {
      PetscCall(rg_plan_trial(plan, cell->first + at, &trial));
      *has = trial.instance == record->instance;
    }
  }
  return 0;
}

static PetscErrorCode visit(void *closure, const RgRecord *record)
{
  Count *count = closure;
  char line[256];
  bool has;
  int own;

  if (record->status != RG_STATUS_COMPLETE || !record->cell) return 0;
  PetscCall(rg_plan_find(count->plan, record->id, &own));
  if (own >= 0) return 0;
  PetscCall(find_match(count, record->cell));
  if (count->match < 0) return 0;
  PetscCall(has_trial(count->plan, count->match, record, &has));
  if (!has) return 0;
  count->n_trials++;
  snprintf(line, sizeof(line), "\n%.250s\n", record->cell->algorithm_label);
  if (count->methods.data && strstr(count->methods.data, line)) return 0;
  count->n_methods++;
  return rg_text_add(&count->methods, "%s", line);
}

static PetscErrorCode describe(const RgPlan *plan, const char *path, RgText *text, RgFault *fault)
{
  Count count = {.plan = plan};
  RgStoreInfo info = {0};
  int damaged;

  PetscCall(rg_store_info(path, &info, fault));
  if (!fault->code && info.seed != plan->study->seed)
    rg_fault_set(fault, RG_FAULT_FOREIGN,
                 "'against': no trial of %s pairs with this study: the seed of its study is %llu, "
                 "not %llu",
                 path, (unsigned long long)info.seed, (unsigned long long)plan->study->seed);
  if (!fault->code) PetscCall(rg_store_visit(path, visit, &count, &damaged, fault));
  if (!fault->code && !count.n_trials)
    rg_fault_set(fault, RG_FAULT_FOREIGN,
                 "'against': no trial of %s pairs with this study: none has its problem, settings "
                 "of the run, instance and seed",
                 path);
  if (!fault->code)
    PetscCall(rg_text_add(text,
                          "against %s: %d trials of %d other method%s pair with these and need no "
                          "run\n",
                          path, count.n_trials, count.n_methods, count.n_methods > 1 ? "s" : ""));
  PetscCall(rg_cell_data_release(&count.cell));
  PetscCall(rg_text_clear(&count.methods));
  return rg_store_info_clear(&info);
}

PetscErrorCode rg_against_describe(const RgPlan *plan, RgText *text, RgFault *fault)
{
  const RgStudy *study = plan->study;
  const char *slash = study->path ? strrchr(study->path, '/') : NULL;

  for (int i = 0; i < study->against.n && !fault->code; i++) {
    const char *typed = study->against.values[i];
    RgText path = {0};
    if (slash && typed[0] != '/')
      PetscCall(rg_text_add(&path, "%.*s%s", (int)(slash + 1 - study->path), study->path, typed));
    const bool beside = path.length && !access(path.data, F_OK);
    PetscCall(describe(plan, beside ? path.data : typed, text, fault));
    PetscCall(rg_text_clear(&path));
  }
  return 0;
}
