/* Expansion of a draft: problems x algorithms x the sweep axes that affect the pair. */
#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"
#include "study/file/draft.h"
#include "study/file/cell_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set `param` in `options` from a node whose kind was checked. Without a path of the study file,
   paths stay as typed. */
static PetscErrorCode set_value(const RgParam *param, void *options, const RgYamlNode *value,
                                const char *path, RgDiagnostics *diagnostics)
{
  const RgParam table[2] = {*param, {0}};
  const RgPlace place = {path, value->line, value->column};
  const char **words;
  RgText *named;
  int n = value->kind == RG_YAML_SCALAR ? 1 : value->n;

  PetscCall(PetscMalloc1(n, &words));
  PetscCall(PetscCalloc1(n, &named));
  for (int i = 0; i < n; i++) {
    if (value->kind == RG_YAML_MAP) {
      PetscCall(
        rg_text_add(&named[i], "%s=%s", value->entries[i].key, value->entries[i].value->text));
      words[i] = named[i].data;
    } else {
      words[i] = value->kind == RG_YAML_LIST ? value->items[i]->text : value->text;
    }
  }
  PetscCall(rg_params_set(table, options, param->name, n, words, place, diagnostics, NULL));
  for (int i = 0; i < n; i++) PetscCall(rg_text_clear(&named[i]));
  PetscCall(PetscFree(named));
  return PetscFree(words);
}

PetscErrorCode rg_params_resolve(const RgParam *table, void *options, RgPlace place)
{
  RgDiagnostics none = {0};

  for (; table->name; table++) {
    char *typed;
    if (table->type != RG_PARAM_PATH) continue;
    PetscCall(PetscStrallocpy(*(char **)((char *)options + table->offset), &typed));
    if (typed)
      PetscCall(rg_params_set(table, options, table->name, 1, (const char *const *)&typed, place,
                              &none, NULL));
    PetscCall(PetscFree(typed));
  }
  return 0;
}

static bool check_map(const RgDraft *draft, const RgParam *param, const RgYamlNode *value)
{
  char got[64];

  if (value->kind != RG_YAML_MAP || !value->n) {
    RG_MISTAKE(draft, value, "'%s' takes a map of names to texts, got %s", param->name,
               value->kind == RG_YAML_MAP ? "an empty one" : rg_yaml_describe(value, got));
    return false;
  }
  for (int i = 0; i < value->n; i++) {
    const RgYamlEntry *entry = &value->entries[i];
    if (!entry->key[0] || strlen(entry->key) > 30 || strpbrk(entry->key, "=;/,")) {
      RG_MISTAKE(draft, entry,
                 "a name in '%s' has 1 to 30 bytes and none of '=', ';', '/', ',', got "
                 "'%.60s'",
                 param->name, entry->key);
      return false;
    }
    if (entry->value->kind == RG_YAML_SCALAR && !rg_yaml_is_null(entry->value)) continue;
    RG_MISTAKE(draft, entry->value, "'%s' of '%s' must be a text, got %s", entry->key, param->name,
               rg_yaml_describe(entry->value, got));
    return false;
  }
  return true;
}

/* Check that a node is a scalar that is not empty, or a list of such scalars where the parameter
   accepts one. */
static bool check_kind(const RgDraft *draft, const RgParam *param, const RgYamlNode *value)
{
  char got[64];

  if (param->type == RG_PARAM_NAMED) return check_map(draft, param, value);
  if (value->kind == RG_YAML_LIST && param->type != RG_PARAM_REALS &&
      param->type != RG_PARAM_TEXTS) {
    RG_MISTAKE(draft, value,
               "'%s' takes one value, got a list; to run several values, name it in 'sweep'",
               param->name);
    return false;
  }
  const bool nowhere = param->type == RG_PARAM_PATH && value->text && !value->text[0];
  if (value->kind == RG_YAML_MAP || rg_yaml_is_null(value) || nowhere) {
    RG_MISTAKE(draft, value, "'%s' needs a value, got %s", param->name,
               rg_yaml_describe(value, got));
    return false;
  }
  if (value->kind == RG_YAML_SCALAR) return true;
  if (!value->n) RG_MISTAKE(draft, value, "'%s' needs values, got an empty list", param->name);
  for (int i = 0; i < value->n; i++) {
    const RgYamlNode *item = value->items[i];
    if (item->kind == RG_YAML_SCALAR && !rg_yaml_is_null(item)) continue;
    RG_MISTAKE(draft, item, "'%s' takes a list of %s, got %s in it", param->name,
               param->type == RG_PARAM_TEXTS ? "texts" : "numbers", rg_yaml_describe(item, got));
    return false;
  }
  return value->n > 0;
}

PetscErrorCode rg_draft_check_value(const RgDraft *draft, const RgParam *table,
                                    const RgParam *param, const RgYamlNode *value, char **canonical)
{
  RgParam alone[2] = {*param, {0}};
  RgText text = {0};
  union {
    bool boolean;
    int integer;
    double real;
    char *text;
    RgReals reals;
    RgTexts texts;
  } scratch;

  if (rg_draft_number_for_rule(draft, table, param, value) || !check_kind(draft, param, value))
    return 0;
  PetscCall(PetscMemzero(&scratch, sizeof(scratch)));
  alone[0].offset = 0;
  PetscCall(set_value(alone, &scratch, value, draft->path, draft->diagnostics));
  if (canonical) {
    PetscCall(rg_text_add(&text, "%s", "")); /* some texts are empty: params.h, rg_param_later */
    PetscCall(rg_params_canonical(alone, &scratch, &text));
    *canonical = text.data;
  }
  return rg_params_clear(alone, &scratch);
}

bool rg_draft_is_among(const char *key, const char *const *names)
{
  while (*names && strcmp(*names, key)) names++;
  return *names != NULL;
}

bool rg_draft_whole(const RgDraft *draft, const char *what, const RgYamlNode *node, uint64_t least,
                    uint64_t most, uint64_t *number)
{
  const char *text = node->kind == RG_YAML_SCALAR ? node->text : "";
  char *end = NULL, got[64];
  size_t digits = strspn(text, "0123456789");

  errno = 0;
  uint64_t value = digits && !text[digits] ? strtoull(text, &end, 10) : 0;
  if (end && !errno && value >= least && value <= most) {
    *number = value;
    return true;
  }
  RG_MISTAKE(draft, node, "%s must be a whole number in [%llu, %llu], got %s", what,
             (unsigned long long)least, (unsigned long long)most, rg_yaml_describe(node, got));
  return false;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Append a value as typed, with lists in brackets and ambiguous texts in quotes. */
static PetscErrorCode add_typed(const RgYamlNode *value, RgText *text)
{
  if (value->kind == RG_YAML_SCALAR) {
    const char *quote = strpbrk(value->text, ",=\"") ? "\"" : "";
    return rg_text_add(text, "%s%s%s", quote, value->text, quote);
  }
  PetscCall(rg_text_add(text, "["));
  for (int i = 0; i < value->n; i++)
    PetscCall(
      rg_text_add(text, "%s%s", i ? ", " : "",
                  value->kind == RG_YAML_MAP ? value->entries[i].key : value->items[i]->text));
  return rg_text_add(text, "]");
}

/* Append a value as results store it: a word unchanged, else canonical. The canonical text is
   `name=value`. It is empty for values that keys omit: layouts, and later additions at their
   default. */
static PetscErrorCode add_stored(const RgSweepKey *key, int value, RgText *text)
{
  const RgParam *param = key->param;
  const char *canonical = key->texts[value];
  const size_t length = strlen(canonical), skip = length ? strlen(param->name) + 1 : 0;

  if (param->type == RG_PARAM_TEXT || param->type == RG_PARAM_PATH || !length)
    PetscCall(rg_text_add(text, "%s", key->values[value]->text));
  else if (param->type == RG_PARAM_REALS && canonical[skip] == '[' && !strchr(canonical, ','))
    PetscCall(rg_text_add_bytes(text, canonical + skip + 1, length - skip - 2));
  else PetscCall(rg_text_add(text, "%s", canonical + skip));
  return 0;
}

/* Append the value of a sweep path, as typed or stored. For a key of a whole block, the value of
   the block. */
static PetscErrorCode axis_text(const RgSweepAxis *axis, const RgSweepKey *key, int value,
                                bool typed, RgText *text)
{
  int n = 0;

  if (!key->whole)
    return typed ? add_typed(key->values[value], text) : add_stored(key, value, text);
  PetscCall(rg_text_add(text, "{"));
  for (int k = 0; k < axis->n_keys; k++) {
    const RgSweepKey *part = &axis->keys[k];
    if (part->whole != key->whole || !part->values[value]) continue;
    PetscCall(rg_text_add(text, "%s%s=", !n++ ? "" : typed ? ", " : ",", part->param->name));
    PetscCall(typed ? add_typed(part->values[value], text) : add_stored(part, value, text));
  }
  return rg_text_add(text, "}");
}

/* ---- kinds and names ------------------------------------------------------------------------- */

static PetscErrorCode kind_of(const RgSweepAxis *axis, RgSweepKey *key)
{
  static const RgSweptKind kinds[] = {
    [RG_PARAM_BOOL] = RG_SWEPT_LOGICAL, [RG_PARAM_INT] = RG_SWEPT_INTEGER,
    [RG_PARAM_REAL] = RG_SWEPT_NUMBER,  [RG_PARAM_CHOICE] = RG_SWEPT_WORD,
    [RG_PARAM_TEXT] = RG_SWEPT_WORD,    [RG_PARAM_REALS] = RG_SWEPT_NUMBER,
    [RG_PARAM_TEXTS] = RG_SWEPT_WORD,   [RG_PARAM_NAMED] = RG_SWEPT_WORD,
    [RG_PARAM_PATH] = RG_SWEPT_WORD};
  double value;

  key->kind = key->whole ? RG_SWEPT_WORD : kinds[key->param->type];
  for (int i = 0; i < key->n && key->kind <= RG_SWEPT_INTEGER; i++) {
    RgText text = {0};
    PetscCall(axis_text(axis, key, i, false, &text));
    if (!rg_number_only(text.data, &value)) key->kind = RG_SWEPT_WORD; /* auto or a list */
    PetscCall(rg_text_clear(&text));
  }
  return 0;
}

static RgSweepKey *next_key(const RgDraft *draft, int *axis, int *k)
{
  for (; *axis < draft->n_axes; (*axis)++, *k = 0)
    if (*k < draft->axes[*axis].n_keys) return &draft->axes[*axis].keys[(*k)++];
  return NULL;
}

#define FOR_KEYS(draft, key)                                                                       \
  for (int a_##key = 0, k_##key = 0; (key = next_key(draft, &a_##key, &k_##key));)

/* Give every path of the sweep its column: name and kind. Settings with equal names in different
   tables become different columns. Call after rg_draft_sweep, if there are no mistakes. */
static PetscErrorCode draft_columns(RgDraft *draft)
{
  RgSweepKey *key, *other;
  RgText name = {0};

  for (int a = 0; a < draft->n_axes; a++)
    for (int k = 0; k < draft->axes[a].n_keys; k++) {
      key = &draft->axes[a].keys[k];
      bool ambiguous = false;
      PetscCall(kind_of(&draft->axes[a], key));
      FOR_KEYS(draft, other)
      ambiguous = ambiguous || (other->block != key->block && !strcmp(other->name, key->name));
      if (ambiguous) PetscCall(rg_text_add(&name, "%s.", rg_blocks[key->block].part));
      PetscCall(rg_text_add(&name, "%s", key->name));
      key->column = name.data;
      name = (RgText){0};
    }
  FOR_KEYS(draft, key)
  FOR_KEYS(draft, other)
  if (!strcmp(key->column, other->column)) key->kind = rg_swept_join(key->kind, other->kind);
  return 0;
}

/* Add the value of a path to the settings of a cell that reads it. */
static PetscErrorCode draft_add_swept(const RgSweepAxis *axis, const RgSweepKey *key, int value,
                                      RgCell *cell)
{
  static const struct {
    const char *words, *units;
  } known[] = {{"native units of f squared", "y^2"},
               {"native units of f", "y"},
               {"native units", "native"},
               {"seconds", "s"},
               {"", "1"}};
  const char *doc = key->whole ? "settings of the block" : key->param->doc;
  int unit = 0; /* the one in the description */
  RgText text = {0};

  for (int i = 0; i < cell->n_swept; i++) /* another key of the same block */
    if (!strcmp(cell->settings[i].name, key->column)) return 0;
  while (!strstr(doc, known[unit].words)) unit++;
  PetscCall(axis_text(axis, key, value, false, &text));
  PetscCall(rg_swept_add(key->column, text.data, key->kind, rg_blocks[key->block].part,
                         known[unit].units, doc, &cell->n_swept, &cell->settings));
  return rg_text_clear(&text);
}

/* ---- cells for several values ---------------------------------------------------------------- */

enum { MAX_CELLS = 100000 };

/* A pair of problem and algorithm, with the axes that affect it. */
typedef struct {
  RgDraft *draft;
  int entry[RG_LAYER_COUNT]; /* by layer: number of its entry */
  int **choices;             /* by axis: values that differ for this pair; owned */
  int *n_choices;            /* by axis: 0 if the axis does not affect the pair; owned */
  int *at;                   /* by axis: index into choices for the current cell; owned */
  bool alone;                /* the current cell has one worker: settings of several are not read */
} Pair;

/* Whether a setting only counts with several workers. */
static bool needs_several(const RgSweepKey *key)
{
  return key->block == RG_BLOCK_PENDING ||
         (key->block == RG_BLOCK_WORKERS && rg_crew_needs_several(key->param));
}

/* The entry of the pair in a layer. */
static const RgEntry *entry_of(const Pair *pair, RgLayer layer)
{
  return &pair->draft->layer[layer].entries[pair->entry[layer]];
}

/* Whether a path sets a value of the pair's problem. Then only the algorithm can prevent its
   use. */
static bool is_problems(const Pair *pair, const RgSweepKey *key)
{
  if (key->layer == RG_LAYER_ALGORITHM || key->entry != pair->entry[key->layer]) return false;
  return key->layer == RG_LAYER_PROBLEM ||
         !rg_draft_sets(pair->draft, entry_of(pair, RG_LAYER_PROBLEM), key->block, key->param);
}

/* Whether the pair takes its value from this sweep path: it reads the setting, and no later
   layer sets it. */
static bool touches(const Pair *pair, const RgSweepKey *key)
{
  const RgEntry *algorithm = entry_of(pair, RG_LAYER_ALGORITHM);

  if (pair->alone && needs_several(key)) return false;
  if (key->layer == RG_LAYER_ALGORITHM) return key->entry == pair->entry[key->layer];
  return is_problems(pair, key) &&
         rg_algorithm_reads_param(algorithm->algorithm, key->block, key->param) &&
         !rg_draft_sets(pair->draft, algorithm, key->block, key->param);
}

/* Whether values i and j of an axis are equal for the pair. alone: as far as one worker reads
   them. */
static bool same_for(const Pair *pair, const RgSweepAxis *axis, int i, int j, bool alone)
{
  for (int k = 0; k < axis->n_keys; k++) {
    const RgSweepKey *key = &axis->keys[k];
    if (!touches(pair, key) || (alone && needs_several(key)) || rg_axis_same(key, i, j)) continue;
    const RgYamlNode *a = key->values[i], *b = key->values[j];
    if (!alone || !a || !b || !rg_crew_same_alone(key->param, a->text, b->text)) return false;
  }
  return true;
}

/* Collect the values of an axis that differ for the pair. */
static void choose_values(Pair *pair, int a)
{
  RgSweepAxis *axis = &pair->draft->axes[a];
  int *n = &pair->n_choices[a], *choices = pair->choices[a], touched = 0;

  for (int k = 0; k < axis->n_keys; k++)
    if (touches(pair, &axis->keys[k])) axis->keys[k].used = ++touched;
  *n = 0;
  for (int i = 0, c; touched && i < axis->n_values; i++) {
    for (c = 0; c < *n && touched < axis->n_keys; c++)
      if (same_for(pair, axis, choices[c], i, false)) break;
    if (c == *n || touched == axis->n_keys) choices[(*n)++] = i;
  }
}

const RgParam *rg_cell_table(const RgCell *cell, RgBlock block)
{
  if (block == RG_BLOCK_PROBLEM) return cell->problem ? cell->problem->params : NULL;
  if (block == RG_BLOCK_ALGORITHM) return cell->algorithm ? cell->algorithm->params : NULL;
  return rg_blocks[block].params;
}

void *rg_cell_options(const RgCell *cell, RgBlock block)
{
  char *member = (char *)cell + rg_blocks[block].offset;

  return rg_blocks[block].params ? member : *(void **)(void *)member;
}

/* Append "name=value, ..." for the swept settings of the current cell: all, or only those of the
   algorithm's entry. */
static PetscErrorCode add_swept(const Pair *pair, bool algorithm_only, RgText *text)
{
  const RgDraft *draft = pair->draft;

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
      PetscCall(axis_text(&draft->axes[a], key, value, true, text));
    }
  }
  return 0;
}

static PetscErrorCode label_cell(const Pair *pair, RgCell *cell)
{
  RgText label = {0}, own = {0}, swept = {0};

  PetscCall(PetscStrallocpy(entry_of(pair, RG_LAYER_PROBLEM)->label, &cell->problem_label));
  PetscCall(PetscStrallocpy(entry_of(pair, RG_LAYER_ALGORITHM)->label, &cell->method));
  PetscCall(add_swept(pair, true, &own));
  PetscCall(add_swept(pair, false, &swept));
  PetscCall(rg_text_add(&label, own.length ? "%s (%s)" : "%s", cell->method, own.data));
  cell->algorithm_label = label.data;
  cell->swept = swept.data;
  return rg_text_clear(&own);
}

static PetscErrorCode apply(const RgDraft *draft, RgBlock block, const RgParam *param,
                            const RgYamlNode *value, RgCell *cell)
{
  if (block == RG_BLOCK_NOISE)
    cell->noise.place[param - rg_noise_params] = RG_PLACE_OF(draft, value);
  return set_value(param, rg_cell_options(cell, block), value, NULL, draft->diagnostics);
}

/* Fill a cell: defaults, then the layers in order, each followed by its swept settings. */
static PetscErrorCode fill_cell(const Pair *pair, RgCell *cell)
{
  const RgDraft *draft = pair->draft;
  const RgEntry *problem = entry_of(pair, RG_LAYER_PROBLEM);
  const RgEntry *algorithm = entry_of(pair, RG_LAYER_ALGORITHM);

  *cell = (RgCell){.problem = problem->problem,
                   .algorithm = algorithm->algorithm,
                   .problem_number = 1 + pair->entry[RG_LAYER_PROBLEM],
                   .algorithm_number = 1 + pair->entry[RG_LAYER_ALGORITHM],
                   .problem_place = problem->place,
                   .algorithm_place = algorithm->place};
  PetscCall(PetscCalloc(cell->problem->options_size, &cell->problem_options));
  PetscCall(PetscCalloc(cell->algorithm->options_size, &cell->algorithm_options));
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    PetscCall(rg_params_defaults(rg_cell_table(cell, b), rg_cell_options(cell, b)));
  for (RgLayer layer = 0; layer < RG_LAYER_COUNT; layer++)
    for (int k = 0; k < entry_of(pair, layer)->n_settings; k++) {
      const RgSetting *set = &entry_of(pair, layer)->settings[k];
      PetscCall(apply(draft, set->block, set->param, set->value, cell));
    }
  for (int a = 0; a < draft->n_axes; a++) {
    for (int k = 0; pair->n_choices[a] && k < draft->axes[a].n_keys; k++) {
      const RgSweepKey *key = &draft->axes[a].keys[k];
      const int value = pair->choices[a][pair->at[a]];
      if (!touches(pair, key)) continue;
      if (key->values[value])
        PetscCall(apply(draft, key->block, key->param, key->values[value], cell));
      PetscCall(draft_add_swept(&draft->axes[a], key, value, cell));
    }
  }
  return label_cell(pair, cell);
}

PetscErrorCode rg_cell_destroy(RgCell *cell)
{
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    if (rg_cell_table(cell, b))
      PetscCall(rg_params_clear(rg_cell_table(cell, b), rg_cell_options(cell, b)));
  PetscCall(rg_given_clear(&cell->given));
  PetscCall(rg_names_free(cell->constraints.n, &cell->constraints.values));
  PetscCall(RG_FREE(&cell->problem_options, &cell->algorithm_options, &cell->problem_label,
                    &cell->algorithm_label, &cell->text, &cell->outside, &cell->swept,
                    &cell->scores, &cell->inputs, &cell->contexts, &cell->method, &cell->law,
                    &cell->measure));
  PetscCall(rg_cell_data_release(&cell->data));
  return rg_swept_clear(&cell->n_swept, &cell->settings);
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

  cell->score = -1;
  cell->n_scores = scores ? scores->n : 0;
  if (!cell->n_scores) return 0;
  for (int s = 0; s < scores->n; s++)
    PetscCall(rg_text_add(&text, "%s%s", s ? "; " : "", scores->values[s]));
  cell->scores = text.data;
  if (!scoring || !scoring->aims || !scoring->aims(cell->algorithm_options)) return 0;
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
  return cell->problem->scores->aim(cell->problem_options, score);
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
      *repeats = *repeats || same_for(pair, axis, choices[c], choices[pair->at[a]], true);
  }
  return any || *repeats;
}

/* Fill the cells of the current combination: one, or one per measure that queries aim at. */
static PetscErrorCode add_combination(Pair *pair, RgStudy *study)
{
  int score = 0, n_scores = 1;

  do {
    PetscCall(RG_GROW(study->n_cells, study->cells));
    RgCell *cell = &study->cells[study->n_cells++];
    bool repeats;
    PetscCall(fill_cell(pair, cell));
    pair->alone = is_alone(pair, cell, &repeats);
    if (pair->alone) {
      PetscCall(rg_cell_destroy(cell));
      if (!repeats) PetscCall(fill_cell(pair, cell));
      else study->n_cells--;
      pair->alone = false;
    }
    if (repeats) break;
    PetscCall(score_cell(cell, score));
    if (cell->score >= 0) n_scores = cell->n_scores;
  } while (++score < n_scores);
  return 0;
}

/* If an axis has fewer cells than values for an algorithm, add a line with the reason, once per
   algorithm. */
static PetscErrorCode note_shared(const Pair *pair, RgText *text)
{
  const RgDraft *draft = pair->draft;

  for (int a = 0; a < draft->n_axes; a++) {
    const RgSweepAxis *axis = &draft->axes[a];
    const int n = PetscMax(1, pair->n_choices[a]);
    for (int k = 0; k < axis->n_keys && n < axis->n_values; k++) {
      const RgSweepKey *key = &axis->keys[k];
      if (key->whole && key->whole != k + 1) continue; /* the first key represents its block */
      if (!is_problems(pair, key) || touches(pair, key)) continue;
      const RgEntry *entry = entry_of(pair, RG_LAYER_ALGORITHM);
      const bool reads = rg_algorithm_reads_param(entry->algorithm, key->block, key->param);
      RgText line = {0};
      PetscCall(rg_text_add(&line, "%s %s %s: %d cell%s for %d values\n", entry->label,
                            reads ? "sets its own" : "doesn't read", key->name, n,
                            n == 1 ? "" : "s", key->n));
      if (!text->data || !strstr(text->data, line.data)) /* once for all problems */
        PetscCall(rg_text_add(text, "%s", line.data));
      PetscCall(rg_text_clear(&line));
    }
  }
  return 0;
}

/* Append the cells of the current pair; *fits is false if there are too many. */
static PetscErrorCode expand_pair(Pair *pair, RgStudy *study, RgText *shared, bool *fits)
{
  int n = 1;

  for (int a = 0; a < pair->draft->n_axes; a++) {
    choose_values(pair, a);
    pair->at[a] = 0;
    if (pair->n_choices[a] > 1 && n <= MAX_CELLS) n *= pair->n_choices[a];
  }
  *fits = n <= MAX_CELLS - study->n_cells;
  if (!*fits) return 0;
  PetscCall(note_shared(pair, shared));
  do PetscCall(add_combination(pair, study));
  while (advance(pair));
  return 0;
}

/* Report paths that no cell uses: neither the setting nor, of a whole block, another one of it. */
static void check_used(const RgDraft *draft)
{
  for (int a = 0; a < draft->n_axes; a++)
    for (int k = 0; k < draft->axes[a].n_keys; k++) {
      const RgSweepKey *keys = draft->axes[a].keys, *key = &keys[k];
      bool used = key->used;
      for (int j = 0; key->whole && j < draft->axes[a].n_keys; j++)
        used = used || (keys[j].whole == key->whole && keys[j].used);
      if (used || (key->whole && key->whole != k + 1)) continue;
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
    for (int a = 0; a < draft->layer[RG_LAYER_ALGORITHM].n; a++) {
      const RgEntry *entry = &draft->layer[RG_LAYER_ALGORITHM].entries[a];
      if (strcmp(cell->algorithm_label, entry->label) ||
          rg_same_place(cell->algorithm_place, entry->place))
        continue;
      rg_diagnostics_add(draft->diagnostics, entry->place,
                         "the label '%s' is also that of a swept algorithm (line %d)",
                         cell->algorithm_label, cell->algorithm_place.line);
      return;
    }
  }
}

PetscErrorCode rg_draft_expand(RgDraft *draft, RgStudy *study)
{
  Pair pair = {.draft = draft};
  RgText shared = {0};
  bool fits = true;

  PetscCall(draft_columns(draft));
  PetscCall(PetscCalloc3(draft->n_axes, &pair.choices, draft->n_axes, &pair.n_choices,
                         draft->n_axes, &pair.at));
  for (int a = 0; a < draft->n_axes; a++)
    PetscCall(PetscMalloc1(draft->axes[a].n_values, &pair.choices[a]));
  for (int p = 0; p < draft->layer[RG_LAYER_PROBLEM].n; p++)
    for (int a = 0; a < draft->layer[RG_LAYER_ALGORITHM].n && fits; a++) {
      pair.entry[RG_LAYER_PROBLEM] = p;
      pair.entry[RG_LAYER_ALGORITHM] = a;
      PetscCall(expand_pair(&pair, study, &shared, &fits));
    }
  for (int a = 0; a < draft->n_axes; a++) PetscCall(PetscFree(pair.choices[a]));
  PetscCall(PetscFree3(pair.choices, pair.n_choices, pair.at));
  study->shared = shared.data;
  if (!fits)
    return rg_diagnostics_add(
      draft->diagnostics,
      draft->n_axes ? draft->axes[0].place : entry_of(&pair, RG_LAYER_COMMON)->place,
      "the study has more than %d combinations of problem, algorithm and swept "
      "settings",
      MAX_CELLS);
  check_used(draft);
  check_labels(draft, study);
  return 0;
}
