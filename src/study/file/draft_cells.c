/* Expansion of a draft: problems x algorithms x the sweep axes that affect the pair. */
#include <stdio.h>
#include <string.h>

#include "study/file/draft.h"
#include "study/file/swept.h"
#include "base/grow.h"

enum { MAX_CELLS = 100000 };

/* A pair of problem and algorithm, with the axes that affect it. */
typedef struct {
  RgDraft *draft;
  int problem, algorithm;
  int **choices;  /* by axis: values that differ for this pair; owned */
  int *n_choices; /* by axis: 0 if the axis does not affect the pair; owned */
  int *at;        /* by axis: index into choices for the current cell; owned */
  bool alone;     /* the current cell has one worker: settings of several are not read */
} Pair;

/* Whether a setting only counts with several workers. */
static bool needs_several(const RgSweepKey *key)
{
  return key->block == RG_BLOCK_PENDING ||
         (key->block == RG_BLOCK_WORKERS && rg_crew_needs_several(key->param));
}

/* Whether the pair takes its value from this sweep path: it reads the setting, and no later
   layer sets it. */
static bool touches(const Pair *pair, const RgSweepKey *key)
{
  const RgDraft *draft = pair->draft;
  const RgEntry *problem = &draft->problems[pair->problem];
  const RgEntry *algorithm = &draft->algorithms[pair->algorithm];

  if (pair->alone && needs_several(key)) return false;
  if (key->layer == RG_LAYER_ALGORITHM) return key->entry == pair->algorithm;
  if (key->layer == RG_LAYER_PROBLEM && key->entry != pair->problem) return false;
  if (key->layer == RG_LAYER_COMMON && rg_draft_sets(draft, problem, key->block, key->param))
    return false;
  return rg_algorithm_reads_param(algorithm->algorithm, key->block, key->param) &&
         !rg_draft_sets(draft, algorithm, key->block, key->param);
}

/* Whether values i and j of an axis are equal for the pair. */
static bool same_for(const Pair *pair, const RgSweepAxis *axis, int i, int j)
{
  for (int k = 0; k < axis->n_keys; k++)
    if (touches(pair, &axis->keys[k]) && !rg_axis_same(&axis->keys[k], i, j)) return false;
  return true;
}

/* Collect the values of an axis that differ for the pair. */
static void choose_values(Pair *pair, int a)
{
  RgSweepAxis *axis = &pair->draft->axes[a];
  int touched = 0;

  for (int k = 0; k < axis->n_keys; k++)
    if (touches(pair, &axis->keys[k])) axis->keys[k].used = ++touched;
  pair->n_choices[a] = 0;
  for (int i = 0; touched && i < axis->n_values; i++) {
    bool seen = false;
    for (int c = 0; c < pair->n_choices[a] && touched < axis->n_keys && !seen; c++)
      seen = same_for(pair, axis, pair->choices[a][c], i);
    if (!seen) pair->choices[a][pair->n_choices[a]++] = i;
  }
}

static PetscErrorCode create_pair(RgDraft *draft, Pair *pair)
{
  PetscFunctionBeginUser;
  *pair = (Pair){.draft = draft};
  PetscCall(PetscCalloc3(draft->n_axes, &pair->choices, draft->n_axes, &pair->n_choices,
                         draft->n_axes, &pair->at));
  for (int a = 0; a < draft->n_axes; a++)
    PetscCall(PetscMalloc1(draft->axes[a].n_values, &pair->choices[a]));
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy_pair(Pair *pair)
{
  PetscFunctionBeginUser;
  for (int a = 0; a < pair->draft->n_axes; a++) PetscCall(PetscFree(pair->choices[a]));
  PetscCall(PetscFree3(pair->choices, pair->n_choices, pair->at));
  PetscFunctionReturn(0);
}

/* The options struct of a block in a cell. */
static void *options_of(RgCell *cell, RgBlock block)
{
  switch (block) {
  case RG_BLOCK_RUN: return &cell->run;
  case RG_BLOCK_WORKERS:
  case RG_BLOCK_CREW:
  case RG_BLOCK_THINKING: return &cell->crew;
  case RG_BLOCK_PENDING: return &cell->pending;
  case RG_BLOCK_PROBLEM: return cell->problem_options;
  case RG_BLOCK_ALGORITHM: return cell->algorithm_options;
  case RG_BLOCK_SURROGATE: return &cell->surrogate;
  case RG_BLOCK_MAXIMISER: return &cell->maximiser;
  case RG_BLOCK_COUNT: break;
  }
  return NULL;
}

static PetscErrorCode apply_entry(const RgDraft *draft, const RgEntry *entry, RgCell *cell)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < entry->n_settings; i++) {
    const RgSetting *setting = &entry->settings[i];
    PetscCall(
      rg_draft_apply(draft, setting->param, options_of(cell, setting->block), setting->value));
  }
  PetscFunctionReturn(0);
}

/* Append a value as typed, with lists in brackets and ambiguous texts in quotes. */
static PetscErrorCode add_value(const RgYamlNode *value, RgText *text)
{
  PetscFunctionBeginUser;
  if (value->kind == RG_YAML_SCALAR) {
    const char *quote = strpbrk(value->text, ",=\"") ? "\"" : "";
    PetscCall(rg_text_add(text, "%s%s%s", quote, value->text, quote));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_text_add(text, "["));
  for (int i = 0; i < value->n; i++)
    PetscCall(
      rg_text_add(text, "%s%s", i ? ", " : "",
                  value->kind == RG_YAML_MAP ? value->entries[i].key : value->items[i]->text));
  PetscCall(rg_text_add(text, "]"));
  PetscFunctionReturn(0);
}

/* Append "{name=value, ...}" for a whole block, as typed. */
static PetscErrorCode add_block(const RgSweepAxis *axis, const RgSweepKey *key, int value,
                                RgText *text)
{
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "{"));
  for (int k = 0; k < axis->n_keys; k++) {
    const RgSweepKey *part = &axis->keys[k];
    if (part->whole != key->whole || !part->values[value]) continue;
    PetscCall(rg_text_add(text, "%s%s=", n++ ? ", " : "", part->param->name));
    PetscCall(add_value(part->values[value], text));
  }
  PetscCall(rg_text_add(text, "}"));
  PetscFunctionReturn(0);
}

/* Append "name=value, ..." for the swept settings of the current cell: all, or only those of the
   algorithm's entry. */
static PetscErrorCode add_swept(const Pair *pair, bool algorithm_only, RgText *text)
{
  const RgDraft *draft = pair->draft;

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "%s", ""));
  for (int a = 0; a < draft->n_axes; a++) {
    int whole = 0; /* the block that is already written */
    for (int k = 0; k < draft->axes[a].n_keys && pair->n_choices[a]; k++) {
      const RgSweepKey *key = &draft->axes[a].keys[k];
      const int value = pair->choices[a][pair->at[a]];
      if (!touches(pair, key) || (algorithm_only && key->layer != RG_LAYER_ALGORITHM)) continue;
      if (key->whole && key->whole == whole) continue;
      whole = key->whole;
      PetscCall(rg_text_add(text, "%s%s=", text->length ? ", " : "", key->name));
      if (whole) PetscCall(add_block(&draft->axes[a], key, value, text));
      else PetscCall(add_value(key->values[value], text));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode label_cell(const Pair *pair, RgCell *cell)
{
  const RgEntry *problem = &pair->draft->problems[pair->problem];
  const RgEntry *algorithm = &pair->draft->algorithms[pair->algorithm];
  RgText label = {0}, own = {0}, swept = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscStrallocpy(problem->label, &cell->problem_label));
  PetscCall(add_swept(pair, true, &own));
  PetscCall(add_swept(pair, false, &swept));
  PetscCall(rg_text_add(&label, own.length ? "%s (%s)" : "%s", algorithm->label, own.data));
  cell->algorithm_label = label.data;
  cell->swept = swept.data;
  PetscCall(rg_text_clear(&own));
  PetscFunctionReturn(0);
}

/* Fill a cell: defaults, then the layers in order, each followed by its swept settings. */
static PetscErrorCode fill_cell(const Pair *pair, RgCell *cell)
{
  const RgDraft *draft = pair->draft;
  const RgEntry *layers[] = {&draft->common, &draft->problems[pair->problem],
                             &draft->algorithms[pair->algorithm]};

  PetscFunctionBeginUser;
  cell->problem = layers[RG_LAYER_PROBLEM]->problem;
  cell->algorithm = layers[RG_LAYER_ALGORITHM]->algorithm;
  cell->problem_place = layers[RG_LAYER_PROBLEM]->place;
  cell->algorithm_place = layers[RG_LAYER_ALGORITHM]->place;
  PetscCall(PetscCalloc(cell->problem->options_size, &cell->problem_options));
  PetscCall(PetscCalloc(cell->algorithm->options_size, &cell->algorithm_options));
  PetscCall(rg_params_defaults(rg_run_params, &cell->run));
  PetscCall(rg_params_defaults(rg_workers_params, &cell->crew));
  PetscCall(rg_params_defaults(rg_crew_params, &cell->crew));
  PetscCall(rg_params_defaults(rg_thinking_params, &cell->crew));
  PetscCall(rg_params_defaults(rg_pending_params, &cell->pending));
  PetscCall(rg_params_defaults(rg_surrogate_params, &cell->surrogate));
  PetscCall(rg_params_defaults(rg_maximiser_params, &cell->maximiser));
  PetscCall(rg_params_defaults(cell->problem->params, cell->problem_options));
  PetscCall(rg_params_defaults(cell->algorithm->params, cell->algorithm_options));
  for (int i = 0; i < 3; i++) PetscCall(apply_entry(draft, layers[i], cell));
  for (int a = 0; a < draft->n_axes; a++) {
    for (int k = 0; pair->n_choices[a] && k < draft->axes[a].n_keys; k++) {
      const RgSweepKey *key = &draft->axes[a].keys[k];
      const int value = pair->choices[a][pair->at[a]];
      if (!touches(pair, key)) continue;
      if (key->values[value])
        PetscCall(
          rg_draft_apply(draft, key->param, options_of(cell, key->block), key->values[value]));
      PetscCall(rg_draft_add_swept(&draft->axes[a], key, value, cell));
    }
  }
  PetscCall(label_cell(pair, cell));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_cell_destroy(RgCell *cell)
{
  PetscFunctionBeginUser;
  if (cell->problem) PetscCall(rg_params_clear(cell->problem->params, cell->problem_options));
  if (cell->algorithm) PetscCall(rg_params_clear(cell->algorithm->params, cell->algorithm_options));
  PetscCall(rg_params_clear(rg_surrogate_params, &cell->surrogate));
  PetscCall(rg_params_clear(rg_maximiser_params, &cell->maximiser));
  PetscCall(rg_params_clear(rg_run_params, &cell->run));
  PetscCall(rg_params_clear(rg_workers_params, &cell->crew));
  PetscCall(rg_params_clear(rg_crew_params, &cell->crew));
  PetscCall(rg_given_clear(&cell->given));
  for (int k = 0; k < cell->constraints.n; k++) PetscCall(PetscFree(cell->constraints.values[k]));
  PetscCall(RG_FREE(&cell->constraints.values, &cell->problem_options, &cell->algorithm_options,
                    &cell->problem_label, &cell->algorithm_label, &cell->text, &cell->outside,
                    &cell->swept, &cell->scores, &cell->inputs, &cell->contexts));
  PetscCall(rg_swept_clear(&cell->n_swept, &cell->settings));
  PetscFunctionReturn(0);
}

/* Step to the next combination, last axis fastest; false after the last one. */
static bool advance(Pair *pair)
{
  for (int a = pair->draft->n_axes - 1; a >= 0; a--) {
    if (++pair->at[a] < pair->n_choices[a]) return true;
    pair->at[a] = 0;
  }
  return false;
}

/* Set the scores of the cell: all scores of the problem, or one. */
static PetscErrorCode score_cell(RgCell *cell, int score)
{
  const RgTexts *scores =
    cell->problem->scores ? cell->problem->scores->list(cell->problem_options) : NULL;
  const RgScoring *scoring = cell->algorithm->scores;
  RgText text = {0}, swept = {0}, name = {0};

  PetscFunctionBeginUser;
  cell->score = -1;
  cell->n_scores = scores ? scores->n : 0;
  if (!cell->n_scores) PetscFunctionReturn(0);
  for (int s = 0; s < scores->n; s++)
    PetscCall(rg_text_add(&text, "%s%s", s ? "; " : "", scores->values[s]));
  cell->scores = text.data;
  if (!scoring || !scoring->aims || !scoring->aims(cell->algorithm_options)) PetscFunctionReturn(0);
  cell->score = score;
  PetscCall(
    rg_text_add(&name, "%.*s", (int)strcspn(scores->values[score], "="), scores->values[score]));
  PetscCall(
    rg_text_add(&swept, "%s%sscore=%s", cell->swept, cell->swept[0] ? ", " : "", name.data));
  PetscCall(rg_swept_add(RG_SWEPT_AIMED, name.data, RG_SWEPT_WORD, "algorithm", NULL,
                         "measure that the queries aim at, of those in `scores`", &cell->n_swept,
                         &cell->settings));
  PetscCall(rg_text_clear(&name));
  PetscCall(PetscFree(cell->swept));
  cell->swept = swept.data;
  PetscCall(cell->problem->scores->aim(cell->problem_options, score));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_cell(RgStudy *study, RgCell **cell)
{
  PetscFunctionBeginUser;
  PetscCall(RG_GROW(study->n_cells, study->cells));
  *cell = &study->cells[study->n_cells++];
  PetscCall(PetscMemzero(*cell, sizeof(**cell)));
  PetscFunctionReturn(0);
}

/* Whether values i and j of an axis are equal for the pair with one worker. */
static bool same_alone(const Pair *pair, const RgSweepAxis *axis, int i, int j)
{
  for (int k = 0; k < axis->n_keys; k++) {
    const RgSweepKey *key = &axis->keys[k];
    if (!touches(pair, key) || needs_several(key) || rg_axis_same(key, i, j)) continue;
    const RgYamlNode *a = key->values[i], *b = key->values[j];
    if (!a || !b || !rg_crew_same_alone(key->param, a->text, b->text)) return false;
  }
  return true;
}

/* Whether the pair has one worker, and axes that only count with several. *repeats: the current
   combination is that of another cell, because it differs in such axes alone. */
static bool is_alone(const Pair *pair, const RgCell *cell, bool *repeats)
{
  bool any = false;

  *repeats = false;
  for (int a = 0; a < pair->draft->n_axes && cell->crew.workers == 1; a++) {
    const RgSweepAxis *axis = &pair->draft->axes[a];
    const int *choices = pair->choices[a];
    for (int k = 0; k < axis->n_keys; k++)
      any = any || (touches(pair, &axis->keys[k]) && needs_several(&axis->keys[k]));
    for (int c = 0; c < pair->at[a]; c++)
      *repeats = *repeats || same_alone(pair, axis, choices[c], choices[pair->at[a]]);
  }
  return any || *repeats;
}

/* Fill the cells of the current combination: one, or one per measure that queries aim at. */
static PetscErrorCode add_combination(Pair *pair, RgStudy *study)
{
  int score = 0, n_scores = 1;

  PetscFunctionBeginUser;
  do {
    RgCell *cell = NULL;
    bool repeats;
    PetscCall(add_cell(study, &cell));
    PetscCall(fill_cell(pair, cell));
    pair->alone = is_alone(pair, cell, &repeats);
    if (pair->alone) {
      PetscCall(rg_cell_destroy(cell));
      PetscCall(PetscMemzero(cell, sizeof(*cell)));
      if (!repeats) PetscCall(fill_cell(pair, cell));
      else study->n_cells--;
      pair->alone = false;
    }
    if (repeats) break;
    PetscCall(score_cell(cell, score));
    if (cell->score >= 0) n_scores = cell->n_scores;
  } while (++score < n_scores);
  PetscFunctionReturn(0);
}

/* Whether a path sets a value of the pair's problem. Then only the algorithm can prevent its
   use. */
static bool is_problems(const Pair *pair, const RgSweepKey *key)
{
  const RgEntry *problem = &pair->draft->problems[pair->problem];

  if (key->layer == RG_LAYER_PROBLEM) return key->entry == pair->problem;
  return key->layer == RG_LAYER_COMMON &&
         !rg_draft_sets(pair->draft, problem, key->block, key->param);
}

/* If an axis has fewer cells than values for an algorithm, add a line with the reason, once per
   algorithm. */
static PetscErrorCode note_shared(const Pair *pair, RgText *text)
{
  const RgDraft *draft = pair->draft;

  PetscFunctionBeginUser;
  for (int a = 0; a < draft->n_axes; a++) {
    const RgSweepAxis *axis = &draft->axes[a];
    const int n = PetscMax(1, pair->n_choices[a]);
    for (int k = 0; k < axis->n_keys && n < axis->n_values; k++) {
      const RgSweepKey *key = &axis->keys[k];
      if (key->whole && key->whole != k + 1) continue; /* the first key represents its block */
      if (is_problems(pair, key) && !touches(pair, key))
        PetscCall(rg_draft_add_shared(draft, pair->algorithm, key, n, text));
    }
  }
  PetscFunctionReturn(0);
}

/* Append the cells of the current pair; *fits is false if there are too many. */
static PetscErrorCode expand_pair(Pair *pair, RgStudy *study, RgText *shared, bool *fits)
{
  int n = 1;

  PetscFunctionBeginUser;
  for (int a = 0; a < pair->draft->n_axes; a++) {
    choose_values(pair, a);
    pair->at[a] = 0;
    if (pair->n_choices[a] > 1 && n <= MAX_CELLS) n *= pair->n_choices[a];
  }
  *fits = n <= MAX_CELLS - study->n_cells;
  if (!*fits) PetscFunctionReturn(0);
  PetscCall(note_shared(pair, shared));
  do PetscCall(add_combination(pair, study));
  while (advance(pair));
  PetscFunctionReturn(0);
}

/* Whether some cell uses a path, or another setting of its block. */
static bool is_used(const RgSweepAxis *axis, const RgSweepKey *key)
{
  bool used = key->used;

  for (int k = 0; key->whole && k < axis->n_keys && !used; k++)
    used = axis->keys[k].whole == key->whole && axis->keys[k].used;
  return used;
}

/* Report paths that no cell uses. */
static void check_used(const RgDraft *draft)
{
  for (int a = 0; a < draft->n_axes; a++)
    for (int k = 0; k < draft->axes[a].n_keys; k++) {
      const RgSweepKey *key = &draft->axes[a].keys[k];
      if (is_used(&draft->axes[a], key) || (key->whole && key->whole != k + 1)) continue;
      rg_diagnostics_add(
        draft->diagnostics, key->place,
        "the sweep over '%s' changes nothing: every entry it concerns sets its own "
        "or does not read it",
        key->name);
    }
}

/* The label of a swept algorithm must differ from other entries' labels. */
static void check_labels(const RgDraft *draft, const RgStudy *study)
{
  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    for (int a = 0; a < draft->n_algorithms; a++) {
      if (strcmp(cell->algorithm_label, draft->algorithms[a].label)) continue;
      if (cell->algorithm_place.line == draft->algorithms[a].place.line &&
          cell->algorithm_place.column == draft->algorithms[a].place.column)
        continue;
      rg_diagnostics_add(draft->diagnostics, draft->algorithms[a].place,
                         "the label '%s' is also that of a swept algorithm (line %d)",
                         cell->algorithm_label, cell->algorithm_place.line);
      return;
    }
  }
}

PetscErrorCode rg_draft_expand(RgDraft *draft, RgStudy *study)
{
  Pair pair;
  RgText shared = {0};
  bool fits = true;

  PetscFunctionBeginUser;
  PetscCall(rg_draft_columns(draft));
  PetscCall(create_pair(draft, &pair));
  for (int p = 0; p < draft->n_problems && fits; p++) {
    for (int a = 0; a < draft->n_algorithms && fits; a++) {
      pair.problem = p;
      pair.algorithm = a;
      PetscCall(expand_pair(&pair, study, &shared, &fits));
    }
  }
  PetscCall(destroy_pair(&pair));
  study->shared = shared.data;
  if (!fits)
    rg_diagnostics_add(draft->diagnostics,
                       draft->n_axes ? draft->axes[0].place : draft->common.place,
                       "the study has more than %d combinations of problem, algorithm and swept "
                       "settings",
                       MAX_CELLS);
  if (!fits) PetscFunctionReturn(0);
  check_used(draft);
  check_labels(draft, study);
  PetscFunctionReturn(0);
}
