/* Results of others that pair with the trials of a study. */
#include "study/run/against.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/file/cell_data.h"
#include "study/store/store.h"

enum { WHY = 300 };

typedef struct {
  const RgPlan *plan;
  RgCellData *cell; /* the last one that was compared; shared */
  int match;        /* a cell of the plan with the same problem; -1: none */
  char why[WHY];    /* a difference from a cell of the plan with this problem, in words */
  bool why_of_run;  /* the difference is in a setting of the run, not in the problem */
  int n_trials;     /* trials that pair */
  int n_own;        /* trials that the plan has itself */
  int n_other;      /* trials of other instances or seeds */
  RgText methods;   /* labels, each in a line */
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

/* Find a setting of a that is set, does not belong to the method, and has another value in b or
   none. Returns its name, or NULL without such a setting. */
static const char *find_lacking(const RgCellData *a, const RgCellData *b)
{
  const char *end = a->settings.data + a->settings.length;

  for (const char *at = a->settings.data; at && at < end;) {
    const char *name = at + 1, *value = at + strlen(at) + 1; /* a digit stands before the name */
    const char *other = rg_cell_data_setting(b, name);
    if (!is_of_method(name) && !is_unset(value) && (!other || strcmp(value, other))) return name;
    at = value + strlen(value) + 1;
  }
  return NULL;
}

/* Find a difference between two problems and their settings of the run. Returns its name, or NULL
   if both are equal. */
static const char *find_difference(const RgCellData *a, const RgCellData *b)
{
  const char *name = find_lacking(a, b);

  if (strcmp(a->problem, b->problem)) return "problem";
  if (a->problem_revision != b->problem_revision) return "problem.revision";
  if (strcmp(a->law, b->law) || strcmp(a->contexts, b->contexts)) return "problem.law";
  if (strcmp(a->measure, b->measure) || strcmp(a->scores, b->scores)) return "problem.measure";
  if (strcmp(a->inputs, b->inputs) || a->dynamic != b->dynamic) return "problem.inputs";
  return strcmp(a->goal, b->goal) ? "problem.goal" : name ? name : find_lacking(b, a);
}

/* Write what keeps a cell of the plan and one of an archive from pairing. */
static void say_difference(const RgCellData *own, const RgCellData *other, const char *name,
                           char why[WHY])
{
  const char *there = rg_cell_data_setting(other, name), *here = rg_cell_data_setting(own, name);

  if (!strncmp(name, "run.", 4)) name += 4;
  if (there || here)
    snprintf(why, WHY, "%s is %.80s there, %.80s here", name, there ? there : "not set",
             here ? here : "not set");
  else snprintf(why, WHY, "%s is another one there", name);
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
    const char *name = find_difference(own, cell);
    if (!name) count->match = c;
    if (!name || !strcmp(name, "problem") || count->why_of_run) continue;
    say_difference(own, cell, name, count->why);
    count->why_of_run = strncmp(name, "problem.", 8) != 0;
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
  count->n_own += own >= 0;
  if (own >= 0) return 0;
  PetscCall(find_match(count, record->cell));
  if (count->match < 0) return 0;
  PetscCall(has_trial(count->plan, count->match, record, &has));
  count->n_other += !has;
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
  if (!fault->code && damaged)
    rg_fault_set(fault, RG_FAULT_FOREIGN,
                 "'against': %s is damaged: %d of its trials don't have "
                 "the checksum stored beside them",
                 path, damaged);
  if (!fault->code && !count.n_trials)
    rg_fault_set(fault, RG_FAULT_FOREIGN, "'against': no trial of %s pairs with this study: %s",
                 path,
                 count.n_own     ? "they are the same trials"
                 : count.n_other ? "it has none of these seeds and instances"
                 : count.why[0]  ? count.why
                                 : "the study does not have its problems");
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
    for (int k = 0; k < i && !fault->code; k++)
      if (!strcmp(typed, study->against.values[k]))
        rg_fault_set(fault, RG_FAULT_FOREIGN, "'against' names %s twice", typed);
    if (fault->code) return 0;
    if (slash && typed[0] != '/')
      PetscCall(rg_text_add(&path, "%.*s%s", (int)(slash + 1 - study->path), study->path, typed));
    const bool beside = path.length && !access(path.data, F_OK);
    PetscCall(describe(plan, beside ? path.data : typed, text, fault));
    PetscCall(rg_text_clear(&path));
  }
  return 0;
}
