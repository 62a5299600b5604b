/* The block `sweep` of a study file: axes with values that are crossed. */
#include "base/grow.h"
#include "base/text.h"
#include "study/file/draft.h"

#include <stdio.h>
#include <string.h>

enum { MAX_AXES = 32, MAX_AXIS_VALUES = 256 };

static void complain(const RgDraft *draft, const RgSweepKey *key, const char *path,
                     const char *problem)
{
  rg_diagnostics_add(draft->diagnostics, key->place, "sweep path '%.80s': %s", path, problem);
}

/* Length of the longest known label at the start of `rest` that is followed by a dot. */
static size_t match_label(const RgEntry *entries, int n, const char *rest, int *entry)
{
  size_t best = 0;

  for (int i = 0; i < n; i++) {
    size_t length = entries[i].label ? strlen(entries[i].label) : 0;
    if (length <= best || strncmp(rest, entries[i].label, length) || rest[length] != '.') continue;
    best = length;
    *entry = i;
  }
  return best;
}

/* Report an unknown label: probably all before the last dot, or before `.surrogate.` and the
   like. */
static PetscErrorCode unknown_label(const RgDraft *draft, const RgSweepKey *key, const char *rest)
{
  const RgEntry *entries = draft->layer[key->layer].entries;
  const int n = draft->layer[key->layer].n;
  const char **names, *end = strrchr(rest, '.');
  char word[80];

  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++) {
    char inner[32];
    if (!rg_blocks[b].name) continue;
    snprintf(inner, sizeof(inner), ".%s.", rg_blocks[b].name);
    const char *found = strstr(rest, inner);
    if (found && found < end) end = found;
  }
  for (int i = 0; i < n; i++) {
    if (!entries[i].label || strcmp(entries[i].label, rest)) continue;
    complain(draft, key, rest, "it names no setting: a '.KEY' is missing at its end");
    return 0;
  }
  snprintf(word, sizeof(word), "%.*s", end ? (int)(end - rest) : (int)strlen(rest), rest);
  PetscCall(PetscCalloc1(n + 1, &names));
  for (int i = 0, m = 0; i < n; i++)
    if (entries[i].label) names[m++] = entries[i].label;
  PetscCall(rg_draft_unknown(draft, key->place, "label", word,
                             key->layer == RG_LAYER_PROBLEM ? " in the sweep over problems"
                                                            : " in the sweep over algorithms",
                             names));
  return PetscFree(names);
}

/* Report a path that names no setting of an entry. */
static PetscErrorCode unknown_setting(const RgDraft *draft, const RgSweepKey *key,
                                      const RgEntry *entry, const char *path)
{
  char **names, elsewhere[160], hint[260];
  int n = 0, room = 1;

  if (rg_draft_path_elsewhere(draft, entry, key->name, elsewhere)) {
    snprintf(hint, sizeof(hint), "it names no setting, did you mean '%s'?", elsewhere);
    complain(draft, key, path, hint);
    return 0;
  }
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    for (const RgParam *p = rg_entry_table(entry, b); p && p->name; p++) room++;
  PetscCall(PetscCalloc1(room, &names));
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    for (const RgParam *p = rg_entry_table(entry, b); p && p->name; p++) {
      const char *block = rg_blocks[b].name;
      RgText name = {0};
      if (!rg_is_param(p)) continue;
      PetscCall(rg_text_add(&name, "%s%s%s", block ? block : "", block ? "." : "", p->name));
      names[n++] = name.data;
    }
  PetscCall(rg_draft_unknown(draft, key->place, "setting", key->name, " in a sweep path",
                             (const char *const *)names));
  return rg_names_free(n, &names);
}

/* Find the parameter `name` or `block.name` of an entry, or a whole block. */
static PetscErrorCode resolve_param(const RgDraft *draft, RgSweepKey *key, const char *path)
{
  const RgEntry *entry = rg_draft_entry(draft, key);
  const char *name = key->name;

  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++) {
    const RgParam *table = rg_entry_table(entry, b);
    const char *block = rg_blocks[b].name, *rest = name;
    if (block) {
      const size_t length = strlen(block);
      if (strncmp(name, block, length) || (name[length] && name[length] != '.')) continue;
      rest = name[length] ? name + length + 1 : NULL; /* NULL: the whole block */
    }
    if (table && rest) key->param = rg_params_find(table, rest);
    key->whole = table && !rest;
    key->block = b;
    if (key->param || key->whole) return 0;
    if (table || !rest || !entry->algorithm || !block) continue;
    const bool own = b == RG_BLOCK_PENDING && entry->algorithm->traits & RG_OWN_PENDING;
    complain(draft, key, path,
             !rg_blocks[b].methods
               ? "it is set in 'common' or in a problem, alike for all algorithms"
             : own ? "the algorithm has a rule of its own for points in flight"
                   : "the algorithm uses no model and has no such block");
    return 0;
  }
  return unknown_setting(draft, key, entry, path);
}

/* Resolve `common.key`, `problems.label.key`, `algorithms.label.block.key` ...: then key->param or
   key->whole is set. */
static PetscErrorCode resolve_path(const RgDraft *draft, RgSweepKey *key, const char *path)
{
  const char *rest = strchr(path, '.');
  char elsewhere[160], hint[260];
  int layer = 0;

  while (rg_layer_keys[layer] && (!rest || strlen(rg_layer_keys[layer]) != (size_t)(rest - path) ||
                                  strncmp(path, rg_layer_keys[layer], (size_t)(rest - path))))
    layer++;
  if (!rg_layer_keys[layer]) {
    const bool known = rg_draft_path_elsewhere(draft, NULL, path, elsewhere);
    snprintf(hint, sizeof(hint),
             "it must begin with 'common.', 'problems.LABEL.' or 'algorithms.LABEL.'%s%s%s",
             known ? ", did you mean '" : "", known ? elsewhere : "", known ? "'?" : "");
    complain(draft, key, path, hint);
    return 0;
  }
  rest++;
  key->layer = (RgLayer)layer;
  if (layer != RG_LAYER_COMMON) {
    const size_t length =
      match_label(draft->layer[layer].entries, draft->layer[layer].n, rest, &key->entry);
    if (!length) return unknown_label(draft, key, rest);
    rest += length + 1;
  }
  const RgEntry *entry = rg_draft_entry(draft, key);
  if (layer != RG_LAYER_COMMON && !entry->problem && !entry->algorithm) return 0;
  key->name = rest;
  return resolve_param(draft, key, path);
}

/* Report a setting that is swept twice. */
static void check_repeated(const RgDraft *draft, const RgSweepKey *key, const char *path)
{
  for (int a = 0; a < draft->n_axes; a++)
    for (int k = 0; k < draft->axes[a].n_keys; k++) {
      const RgSweepKey *other = &draft->axes[a].keys[k];
      if (other == key || !other->param) continue;
      if (other->param != key->param || other->block != key->block || other->layer != key->layer ||
          other->entry != key->entry)
        continue;
      char problem[96];
      snprintf(problem, sizeof(problem), "it is swept in line %d already", other->place.line);
      complain(draft, key, path, problem);
      return;
    }
}

/* Copy the listed values and expand ranges of whole numbers. Values beyond the limit of an axis
   are dropped; *ok is false after a mistake. */
static PetscErrorCode list_values(RgDraft *draft, RgSweepKey *key, const RgYamlNode *list, bool *ok)
{
  int first, last, used, n = 0;

  *ok = true;
  PetscCall(PetscCalloc1(MAX_AXIS_VALUES + 1, &key->values));
  for (int i = 0; i < list->n && n <= MAX_AXIS_VALUES; i++) {
    const RgYamlNode *item = list->items[i];
    const bool whole = !key->whole && (!key->param || key->param->type == RG_PARAM_INT);
    if (!whole || item->kind != RG_YAML_SCALAR ||
        sscanf(item->text, "%9d..%9d%n", &first, &last, &used) != 2 || item->text[used]) {
      key->values[n++] = item;
      continue;
    }
    if (first > last) {
      RG_MISTAKE(draft, item, "a range counts upwards, as in '1..5'; got '%.40s'", item->text);
      *ok = false;
    }
    for (int64_t v = first; v <= last && n <= MAX_AXIS_VALUES; v++, n++) {
      char text[16];
      RgYamlNode *number;
      snprintf(text, sizeof(text), "%d", (int)v);
      PetscCall(rg_yaml_add(&draft->tree, item, text, &number));
      key->values[n] = number;
    }
  }
  key->n = n;
  return 0;
}

/* Check the values of a key, and write their canonical texts. */
static PetscErrorCode check_key(const RgDraft *draft, RgSweepKey *key)
{
  const RgParam *table = rg_entry_table(rg_draft_entry(draft, key), key->block);

  PetscCall(PetscCalloc1(key->n, &key->texts));
  for (int i = 0; i < key->n; i++)
    if (key->values[i])
      PetscCall(rg_draft_check_value(draft, table, key->param, key->values[i], &key->texts[i]));
  return 0;
}

/* Add a key to the axis: the values of `param` in the values of a block. */
static PetscErrorCode add_from_block(const RgDraft *draft, RgSweepAxis *axis, const RgParam *param,
                                     const RgSweepKey *block)
{
  PetscCall(RG_GROW(axis->n_keys, axis->keys));
  RgSweepKey *key = &axis->keys[axis->n_keys++];
  *key = *block;
  key->param = param;
  PetscCall(PetscCalloc1(key->n, &key->values));
  for (int i = 0; i < key->n; i++) key->values[i] = rg_yaml_value(block->values[i], param->name);
  return check_key(draft, key);
}

/* Replace the last key of the axis, a whole block, by one key for every setting in some value,
   in the order of the table. */
static PetscErrorCode split_block(RgDraft *draft, RgSweepAxis *axis, bool *ok)
{
  RgSweepKey block = axis->keys[axis->n_keys - 1];
  const RgParam *table = rg_entry_table(rg_draft_entry(draft, &block), block.block);

  /* Check that all values of a block are maps of its settings. */
  const char *names[128] = {0}, *word = rg_blocks[block.block].name;
  char got[64];
  *ok = true;
  for (int i = 0; table[i].name && i < 127; i++) names[i] = table[i].name;
  for (int i = 0; i < block.n && *ok; i++) {
    const RgYamlNode *map = block.values[i];
    *ok = map->kind == RG_YAML_MAP;
    if (!*ok)
      RG_MISTAKE(draft, map, "a value of '%s' is a map of its settings, got %s", word,
                 rg_yaml_describe(map, got));
    for (int e = 0; *ok && e < map->n; e++) {
      const RgYamlEntry *entry = &map->entries[e];
      *ok = rg_params_find(table, entry->key) != NULL;
      if (!*ok)
        PetscCall(rg_draft_unknown(draft, RG_PLACE_OF(draft, entry), "setting", entry->key,
                                   " in a sweep over a block", names));
    }
  }
  block.whole = axis->n_keys--;
  for (const RgParam *p = table; *ok && p->name; p++) {
    bool somewhere = false;
    for (int i = 0; i < block.n && !somewhere; i++)
      somewhere = rg_yaml_find(block.values[i], p->name) != NULL;
    if (somewhere) PetscCall(add_from_block(draft, axis, p, &block));
  }
  if (*ok && axis->n_keys < block.whole) {
    rg_diagnostics_add(draft->diagnostics, block.place,
                       "the sweep over '%s' changes nothing: its values are empty", block.name);
    *ok = false;
  }
  return PetscFree(block.values);
}

/* Values in place of the maps of a block: if all are, the key is that of the block's first
   setting; else each becomes a map of it. */
static PetscErrorCode expand_short(RgDraft *draft, RgSweepKey *key)
{
  const RgParam *first = rg_entry_table(rg_draft_entry(draft, key), key->block);
  int n = 0;

  for (int i = 0; i < key->n; i++) n += key->values[i]->kind == RG_YAML_SCALAR;
  if (n == key->n) {
    key->param = first;
    key->whole = 0;
    return 0;
  }
  for (int i = 0; i < key->n; i++) {
    const RgYamlNode *value = key->values[i];
    RgYamlNode *map;
    if (value->kind != RG_YAML_SCALAR) continue;
    PetscCall(rg_yaml_add(&draft->tree, value, NULL, &map));
    PetscCall(RG_GROW(0, map->entries));
    map->entries[map->n++] =
      (RgYamlEntry){NULL, value->line, value->column, (RgYamlNode *)(uintptr_t)value};
    PetscCall(PetscStrallocpy(first->name, &map->entries[0].key));
    key->values[i] = map;
  }
  return 0;
}

/* Parse a `path: [values]` of an axis. *complete: its values were read (each may still be
   wrong). */
static PetscErrorCode parse_key(RgDraft *draft, RgSweepAxis *axis, const RgYamlEntry *e,
                                bool *complete)
{
  RgSweepKey *key;
  char got[64];
  bool listed;

  *complete = false;
  PetscCall(RG_GROW(axis->n_keys, axis->keys));
  key = &axis->keys[axis->n_keys++];
  *key = (RgSweepKey){.place = RG_PLACE_OF(draft, e)};
  PetscCall(resolve_path(draft, key, e->key));
  if (e->value->kind != RG_YAML_LIST || !e->value->n)
    return RG_MISTAKE(draft, e->value, "a sweep needs a list of values, got %s",
                      e->value->kind == RG_YAML_LIST ? "an empty one"
                                                     : rg_yaml_describe(e->value, got));
  PetscCall(list_values(draft, key, e->value, &listed));
  if (key->n > MAX_AXIS_VALUES)
    return RG_MISTAKE(draft, e->value, "an axis has at most %d values, got more", MAX_AXIS_VALUES);
  if (axis->n_values && axis->n_values != key->n)
    return RG_MISTAKE(draft, e->value,
                      "paths of one axis go together, but this one has %d values and another %d "
                      "(to cross them, make two list entries)",
                      key->n, axis->n_values);
  if (!listed || !(key->param || key->whole)) return 0;
  axis->n_values = key->n;
  if (key->whole && rg_blocks[key->block].brief) PetscCall(expand_short(draft, key));
  if (key->whole) return split_block(draft, axis, complete);
  *complete = true;
  return check_key(draft, key);
}

bool rg_axis_same(const RgSweepKey *key, int i, int j)
{
  if (!key->texts || !key->values[i] || !key->values[j])
    return key->texts && key->values[i] == key->values[j];
  return key->texts[i] && key->texts[j] && !strcmp(key->texts[i], key->texts[j]);
}

/* Report two values of an axis that are equal in all its paths. */
static void check_values(const RgDraft *draft, const RgSweepAxis *axis)
{
  for (int i = 1; i < axis->n_values; i++)
    for (int j = 0; j < i; j++) {
      bool same = true;
      RgPlace place = axis->place;
      for (int k = axis->n_keys - 1; k >= 0 && same; k--) {
        const RgSweepKey *key = &axis->keys[k];
        same = rg_axis_same(key, i, j);
        if (key->values[i]) place = RG_PLACE_OF(draft, key->values[i]);
      }
      if (!same) continue;
      rg_diagnostics_add(draft->diagnostics, place, "value %d of this axis repeats value %d", i + 1,
                         j + 1);
      return;
    }
}

static PetscErrorCode parse_axis(RgDraft *draft, const RgYamlNode *map, RgSweepAxis *axis)
{
  char got[64];

  axis->place = RG_PLACE_OF(draft, map);
  if (map->kind != RG_YAML_MAP || !map->n)
    return RG_MISTAKE(draft, map, "an axis of 'sweep' is a map '{path: [values]}', got %s",
                      map->kind == RG_YAML_MAP ? "an empty one" : rg_yaml_describe(map, got));
  bool complete = true;
  for (int i = 0; i < map->n; i++) {
    const int first = axis->n_keys;
    bool ok;
    PetscCall(parse_key(draft, axis, &map->entries[i], &ok));
    complete = complete && ok;
    for (int k = first; k < axis->n_keys; k++)
      if (axis->keys[k].param) check_repeated(draft, &axis->keys[k], map->entries[i].key);
  }
  if (complete) check_values(draft, axis);
  return 0;
}

PetscErrorCode rg_draft_sweep(RgDraft *draft, const RgYamlNode *sweep)
{
  char got[64];

  if (sweep->kind != RG_YAML_LIST || !sweep->n || sweep->n > MAX_AXES)
    return RG_MISTAKE(
      draft, sweep, "'sweep' must be a list of 1 to %d axes '- {path: [values]}', got %s", MAX_AXES,
      sweep->kind != RG_YAML_LIST ? rg_yaml_describe(sweep, got)
      : sweep->n                  ? "more"
                                  : "an empty one");
  PetscCall(PetscCalloc1(sweep->n, &draft->axes));
  draft->n_axes = sweep->n;
  for (int i = 0; i < sweep->n; i++) PetscCall(parse_axis(draft, sweep->items[i], &draft->axes[i]));
  return 0;
}

/* ---- replicate ------------------------------------------------------------------------------- */

enum { CELL_PROBLEM, CELL_ALGORITHM, CELL_SWEPT, CELL_WORDS };
static const char *const replicate_names[] = {"problem", "algorithm", "swept",
                                              "seeds",   "instances", NULL};

static const char *word_of(const RgCell *cell, int which)
{
  return (const char *const[]){cell->problem_label, cell->algorithm_label, cell->swept}[which];
}

/* Whether the cell has the word; true for NULL. The label of an entry means all of its cells. */
static bool has_word(const RgCell *cell, int which, const RgYamlNode *word)
{
  if (!word || !word->text) return !word;
  return !strcmp(word->text, word_of(cell, which)) ||
         (which == CELL_ALGORITHM && !strcmp(word->text, cell->method));
}

/* Report words that no cell has. */
static PetscErrorCode check_words(RgDraft *draft, const RgYamlNode *const words[CELL_WORDS],
                                  const RgStudy *study)
{
  const char **known;

  PetscCall(PetscMalloc1(study->n_cells + 1, &known));
  for (int k = 0; k < CELL_WORDS; k++) {
    bool found = false;
    int n = 0;
    for (int c = 0; c < study->n_cells; c++) {
      found = found || has_word(&study->cells[c], k, words[k]);
      if (!n || strcmp(known[n - 1], word_of(&study->cells[c], k)))
        known[n++] = word_of(&study->cells[c], k);
    }
    known[n] = NULL;
    if (!found && !words[k]->text)
      RG_MISTAKE(draft, words[k], "'%s' in 'replicate' must be a text, got %s", replicate_names[k],
                 rg_yaml_describe(words[k], (char[64]){0}));
    else if (!found)
      PetscCall(rg_draft_unknown(draft, RG_PLACE_OF(draft, words[k]), replicate_names[k],
                                 words[k]->text, " in 'replicate'", known));
  }
  return PetscFree(known);
}

/* Raise the number of trials of the cells with the words of a map. */
static PetscErrorCode replicate_cells(RgDraft *draft, const RgYamlNode *map, RgStudy *study)
{
  const RgYamlNode *words[CELL_WORDS], *seeds = rg_yaml_value(map, "seeds"),
                                       *instances = rg_yaml_value(map, "instances");
  uint64_t n_seeds = 0, n_instances = 0;
  const int before = draft->diagnostics->n;

  PetscCall(rg_draft_check_keys(draft, map, " in 'replicate'", replicate_names));
  for (int k = 0; k < CELL_WORDS; k++) words[k] = rg_yaml_value(map, replicate_names[k]);
  if (!seeds && (!instances || study->paired))
    RG_MISTAKE(draft, map, "'replicate' needs 'seeds'%s",
               study->paired ? " where instances are paired" : " or 'instances'");
  if (seeds)
    rg_draft_whole(draft, "'seeds'", seeds, (uint64_t)study->n_seeds, RG_MAX_TRIALS, &n_seeds);
  if (instances)
    rg_draft_whole(draft, "'instances'", instances, (uint64_t)study->n_instances, RG_MAX_TRIALS,
                   &n_instances);
  PetscCall(check_words(draft, words, study));
  if (draft->diagnostics->n > before) return 0;
  int found = 0;
  for (int c = 0; c < study->n_cells; c++) {
    RgCell *cell = &study->cells[c];
    bool mine = true;
    for (int k = 0; k < CELL_WORDS; k++) mine = mine && has_word(cell, k, words[k]);
    if (!mine) continue;
    cell->n_seeds = PetscMax(cell->n_seeds, (int)n_seeds);
    cell->n_instances = PetscMax(cell->n_instances, (int)n_instances);
    found++;
  }
  if (found) return 0;
  return RG_MISTAKE(draft, map,
                    "'replicate' names a cell that the study has not: this problem, algorithm "
                    "and swept settings don't meet");
}

PetscErrorCode rg_draft_replicate(RgDraft *draft, const RgYamlNode *list, RgStudy *study)
{
  uint64_t last = 0, *seeds;
  int most = study->n_seeds;
  char got[64];

  for (int c = 0; c < study->n_cells; c++) {
    study->cells[c].n_seeds = study->n_seeds;
    study->cells[c].n_instances = study->n_instances;
  }
  if (!list) return 0;
  if (list->kind != RG_YAML_LIST)
    return RG_MISTAKE(draft, list, "'replicate' must be a list of maps, got %s",
                      rg_yaml_describe(list, got));
  for (int i = 0; i < list->n; i++) {
    if (list->items[i]->kind == RG_YAML_MAP)
      PetscCall(replicate_cells(draft, list->items[i], study));
    else
      RG_MISTAKE(draft, list->items[i], "an entry of 'replicate' must be a map, got %s",
                 rg_yaml_describe(list->items[i], got));
  }
  for (int c = 0; c < study->n_cells; c++) most = PetscMax(most, study->cells[c].n_seeds);
  for (int i = 0; i < study->n_seeds; i++) last = PetscMax(last, study->seeds[i]);
  if (last > RG_MAX_SEED - (uint64_t)most)
    RG_MISTAKE(draft, list, "'replicate' has no seeds left after %llu", (unsigned long long)last);
  PetscCall(PetscMalloc1(most, &seeds));
  for (int i = 0; i < most; i++)
    seeds[i] = i < study->n_seeds ? study->seeds[i] : last + 1 + (uint64_t)(i - study->n_seeds);
  PetscCall(PetscFree(study->seeds));
  study->seeds = seeds;
  return 0;
}
