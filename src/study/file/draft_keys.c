/* Keys of a study file outside the parameters tables, and messages about unknown keys. */
#include "base/grow.h"
#include "base/left_out.h"
#include "base/number.h"
#include "base/text.h"
#include "study/file/draft.h"
#include "study/file/presets.h"
#include "study/file/registry.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rg_layer_keys[] = {"common", "problems", "algorithms", NULL};

/* The word for an entry of a layer, and the block that only its entries have. */
static const char *const layer_words[] = {"common", "problem", "algorithm"};
static const RgBlock layer_blocks[] = {RG_BLOCK_RUN, RG_BLOCK_PROBLEM, RG_BLOCK_ALGORITHM};

/* ---- a number for a rule --------------------------------------------------------------------- */

/* Whether `symbol` is the word of `length` bytes, maybe with "_t", between `before` and `after`. */
static bool is_symbol(const char *symbol, const char *before, const char *word, size_t length,
                      const char *after)
{
  char text[2][64];

  for (int k = 0; k < 2; k++)
    snprintf(text[k], sizeof(text[k]), "%s%.*s%s%s", before, (int)length, word, k ? "_t" : "",
             after);
  return !strcmp(symbol, text[0]) || !strcmp(symbol, text[1]);
}

/* The parameter that holds the number of the rule `fixed`: its symbol is that of the rule without
   "_t", or the rule's name, or the root of either (*root); or its name is `RULE_constant`. NULL: no
   such parameter. */
static const RgParam *number_of(const RgParam *table, const RgParam *rule, bool *root)
{
  const char *const words[] = {rule->symbol, rule->name};
  const size_t length[] = {strcspn(rule->symbol, "_"), strlen(rule->name)};
  char constant[64];

  *root = false;
  if (rule->type != RG_PARAM_CHOICE || !rg_draft_is_among("fixed", rule->choices)) return NULL;
  for (int k = 0; k < 2; k++) {
    for (const RgParam *p = table; length[k] && p->name; p++) {
      if (p->type != RG_PARAM_REAL) continue;
      *root = is_symbol(p->symbol, "sqrt(", words[k], length[k], ")");
      if (*root || is_symbol(p->symbol, "", words[k], length[k], "")) return p;
    }
  }
  snprintf(constant, sizeof(constant), "%.40s_constant", rule->name);
  return rg_params_find(table, constant);
}

/* Write "use `beta: fixed` with `value: 4`" if the node is a number and the parameter is a rule. */
static bool describe_number(const RgParam *table, const RgParam *rule, const RgYamlNode *value,
                            char text[160])
{
  bool root;
  const RgParam *number = number_of(table, rule, &root);
  const char *typed = value && value->kind == RG_YAML_SCALAR ? value->text : "";
  char square_root[32];
  double x;

  if (!number || !rg_number_only(typed, &x) || (root && !(x >= 0))) return false;
  rg_format(square_root, sizeof(square_root), "%.6g", sqrt(x));
  snprintf(text, 160, "for the number %.30s use `%s: fixed` with `%s: %.30s`%s", typed, rule->name,
           number->name, root ? square_root : typed, root ? ", its square root" : "");
  return true;
}

bool rg_draft_number_for_rule(const RgDraft *draft, const RgParam *table, const RgParam *param,
                              const RgYamlNode *value)
{
  char text[160];

  if (!describe_number(table, param, value, text)) return false;
  RG_MISTAKE(draft, value, "'%s' is the name of a rule: %s", param->name, text);
  return true;
}

/* ---- a key elsewhere ------------------------------------------------------------------------- */

/* A place where a key is known. */
typedef struct {
  const RgEntry *entry; /* NULL: at the top of the file */
  RgBlock block;        /* RG_BLOCK_COUNT: the block itself, or at the top */
  const RgParam *table, *param;
} Home;

/* Find a key in the named blocks of an entry, or in the blocks that stand directly in the entry. */
static bool find_in(const RgEntry *entry, bool named, const char *key, Home *home)
{
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++) {
    const RgParam *table = rg_entry_table(entry, b);
    if (!table || named != (rg_blocks[b].name != NULL)) continue;
    *home = (Home){entry, b, table, rg_params_find(table, key)};
    if (home->param) return true;
  }
  return false;
}

/* Find a key among the parameters of the problems or the algorithms. */
static bool find_among(const RgDraft *draft, RgLayer layer, const char *key, Home *home)
{
  for (int i = 0; i < draft->layer[layer].n; i++) {
    const RgEntry *entry = &draft->layer[layer].entries[i];
    const RgParam *table = entry->label ? rg_entry_table(entry, layer_blocks[layer]) : NULL;
    if (!table) continue;
    *home = (Home){entry, layer_blocks[layer], table, rg_params_find(table, key)};
    if (home->param) return true;
  }
  return false;
}

/* Find where a key belongs that is unknown in an entry (NULL: at the top). */
static bool find_home(const RgDraft *draft, const RgEntry *entry, const char *key, Home *home)
{
  const RgEntry *common = draft->layer[RG_LAYER_COMMON].entries;

  *home = (Home){.entry = common, .block = RG_BLOCK_COUNT};
  if (entry && (find_in(entry, false, key, home) || find_in(entry, true, key, home))) return true;
  if (entry != common && (find_in(common, false, key, home) || find_in(common, true, key, home)))
    return true;
  if (find_among(draft, RG_LAYER_ALGORITHM, key, home) ||
      find_among(draft, RG_LAYER_PROBLEM, key, home))
    return true;
  *home = (Home){.entry = NULL, .block = RG_BLOCK_COUNT};
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    if (rg_blocks[b].name && !strcmp(rg_blocks[b].name, key)) home->entry = common;
  if (home->entry) return entry != common;
  const RgStudyKey *top = rg_study_keys;
  while (top->name && strcmp(top->name, key)) top++;
  return entry && top->name;
}

/* Describe the home of a key that stands in `entry`, or in its block `inside`. */
static void describe_home(const RgEntry *entry, const char *inside, const Home *home,
                          char text[160])
{
  const char *block = home->param ? rg_blocks[home->block].name : NULL;

  if (!home->entry) snprintf(text, 160, "it stands at the top of the file");
  else if (home->entry == entry && inside && !block)
    snprintf(text, 160, "it stands beside the '%s' block, not in it", inside);
  else if (block && entry && !rg_entry_table(entry, home->block))
    snprintf(text, 160, "it belongs to the '%s' block, which this algorithm does not take", block);
  else if (block)
    snprintf(text, 160, "it belongs to the '%s' block%s", block, entry ? "" : " of 'common'");
  else if (home->entry->label)
    snprintf(text, 160, "it is a parameter of %s '%.60s'", layer_words[home->entry->layer],
             home->entry->label);
  else if (entry && entry->layer == RG_LAYER_ALGORITHM)
    snprintf(text, 160, "it is set in 'common' or in a problem, alike for all algorithms");
  else snprintf(text, 160, "it belongs to the 'common' block");
}

/* Find the home of a key, or of what a word of the field stands for (*key then becomes it). */
static bool find_meaning(const RgDraft *draft, const RgEntry *entry, const char **key, Home *home)
{
  const char *name = rg_text_synonym(*key);

  if (find_home(draft, entry, *key, home)) return true;
  if (!name || !find_home(draft, entry, name, home)) return false;
  *key = name;
  return true;
}

bool rg_draft_elsewhere(const RgDraft *draft, const RgEntry *entry, const char *inside,
                        const char *where, const RgYamlEntry *e, const char *const *names)
{
  const char *key = e->key;
  char text[160], number[160] = "";
  Home home;

  if (!find_meaning(draft, entry, &key, &home)) return false;
  if (key != e->key && rg_text_nearest(e->key, names)) return false;
  describe_home(entry, inside, &home, text);
  const bool rule = home.param && describe_number(home.table, home.param, e->value, number);
  const RgPlace place = RG_PLACE_OF(draft, e);
  if (key == e->key)
    rg_diagnostics_add(draft->diagnostics, place, "unknown key '%s'%s; %s%s%s", key, where, text,
                       rule ? "; there " : "", number);
  else
    rg_diagnostics_add(draft->diagnostics, place, "unknown key '%s'%s, did you mean '%s'? (%s)",
                       e->key, where, key, text);
  return true;
}

bool rg_draft_path_elsewhere(const RgDraft *draft, const RgEntry *entry, const char *name,
                             char path[160])
{
  const char *last = strrchr(name, '.');
  const char *key = last ? last + 1 : name;
  Home home;

  if (!find_meaning(draft, entry, &key, &home) || !home.entry) return false;
  const char *block = home.param ? rg_blocks[home.block].name : NULL;
  snprintf(path, 160, "%s%s%.60s.%s%s%.40s", rg_layer_keys[home.entry->layer],
           home.entry->label ? "." : "", home.entry->label ? home.entry->label : "",
           block ? block : "", block ? "." : "", key);
  return true;
}

#define OF(member) offsetof(RgCell, member)

const RgBlockInfo rg_blocks[RG_BLOCK_COUNT] = {
  [RG_BLOCK_RUN] = {NULL, "run", rg_run_params, OF(run), false, false},
  [RG_BLOCK_WORKERS] = {NULL, "run", rg_workers_params, OF(crew), false, false},
  [RG_BLOCK_PROBLEM] = {NULL, "problem", NULL, OF(problem_options), false, false},
  [RG_BLOCK_ALGORITHM] = {NULL, "algorithm", NULL, OF(algorithm_options), false, false},
  [RG_BLOCK_SURROGATE] = {"surrogate", "surrogate", rg_surrogate_params, OF(surrogate), false,
                          true},
  [RG_BLOCK_MAXIMISER] = {"maximiser", "maximiser", rg_maximiser_params, OF(maximiser), false,
                          true},
  [RG_BLOCK_CREW] = {"crew", "crew", rg_crew_params, OF(crew), false, false},
  [RG_BLOCK_THINKING] = {"thinking", "thinking", rg_thinking_params, OF(crew), true, false},
  [RG_BLOCK_PENDING] = {"pending", "pending", rg_pending_params, OF(pending), true, true},
  [RG_BLOCK_NOISE] = {"noise", "noise", rg_noise_params, OF(noise), true, false}};

bool rg_algorithm_reads(const RgAlgorithmClass *algorithm, RgBlock block)
{
  if (block == RG_BLOCK_SURROGATE) return algorithm->reads & RG_READS_SURROGATE;
  if (block == RG_BLOCK_MAXIMISER) return algorithm->reads & RG_READS_MAXIMISER;
  if (block == RG_BLOCK_PENDING) return algorithm->model && !(algorithm->traits & RG_OWN_PENDING);
  return true;
}

bool rg_algorithm_reads_param(const RgAlgorithmClass *algorithm, RgBlock block,
                              const RgParam *param)
{
  if ((block == RG_BLOCK_RUN && !strcmp(param->name, "noise_known")) ||
      (block == RG_BLOCK_NOISE && !strcmp(param->name, "told")))
    return !(algorithm->traits & RG_BLIND);
  return rg_algorithm_reads(algorithm, block);
}

bool rg_cell_reads(const RgCell *cell, RgBlock block)
{
  const RgCrewSettings *crew = &cell->crew;

  if (block == RG_BLOCK_WORKERS) return rg_crew_counts(crew);
  if (block == RG_BLOCK_CREW)
    return rg_crew_counts(crew) && (crew->death || !isnan(crew->time_limit));
  if (block == RG_BLOCK_THINKING) return rg_crew_thinks(crew);
  if (block == RG_BLOCK_NOISE) return rg_noise_counts(&cell->noise);
  if (block == RG_BLOCK_PENDING && crew->workers == 1) return false;
  return rg_algorithm_reads(cell->algorithm, block);
}

const RgParam *rg_entry_table(const RgEntry *entry, RgBlock block)
{
  const RgBlockInfo *info = &rg_blocks[block];

  if (block == RG_BLOCK_PROBLEM) return entry->problem ? entry->problem->params : NULL;
  if (block == RG_BLOCK_ALGORITHM) return entry->algorithm ? entry->algorithm->params : NULL;
  if (!info->methods) return entry->layer != RG_LAYER_ALGORITHM ? info->params : NULL;
  return !entry->algorithm || rg_algorithm_reads(entry->algorithm, block) ? info->params : NULL;
}

bool rg_draft_sets(const RgDraft *draft, const RgEntry *entry, RgBlock block, const RgParam *param)
{
  for (int i = 0; i < entry->n_settings; i++)
    if (entry->settings[i].block == block && entry->settings[i].param == param) return true;
  for (int a = 0; a < draft->n_axes; a++)
    for (int k = 0; k < draft->axes[a].n_keys; k++) {
      const RgSweepKey *key = &draft->axes[a].keys[k];
      if (key->param == param && key->block == block && rg_draft_entry(draft, key) == entry)
        return true;
    }
  return false;
}

/* The first parameter of a block that has no default and is not set; NULL if all are set. */
static const RgParam *missing_param(const RgDraft *draft, const RgEntry *entry, RgBlock block)
{
  const RgParam *p = rg_entry_table(entry, block);
  for (; p && p->name; p++)
    if (!p->fallback && !rg_draft_sets(draft, entry, block, p) &&
        !rg_draft_sets(draft, draft->layer[RG_LAYER_COMMON].entries, block, p))
      return p;
  return NULL;
}

void rg_draft_required(const RgDraft *draft)
{
  bool reported = false; /* that the run lacks a setting */

  for (RgLayer layer = RG_LAYER_PROBLEM; layer < RG_LAYER_COUNT; layer++)
    for (int i = 0; i < draft->layer[layer].n; i++) {
      const RgEntry *entry = &draft->layer[layer].entries[i];
      const RgParam *p = missing_param(draft, entry, layer_blocks[layer]);
      if (p)
        rg_diagnostics_add(draft->diagnostics, entry->place, "%s '%s' needs '%s' (%s)",
                           layer_words[layer], entry->label, p->name, p->doc);
      p = reported || !entry->problem ? NULL : missing_param(draft, entry, RG_BLOCK_RUN);
      if (!p) continue;
      rg_diagnostics_add(draft->diagnostics, entry->place,
                         "'%s' (%s) is set neither for problem '%s' nor in 'common'", p->name,
                         p->doc, entry->label);
      reported = true;
    }
}

PetscErrorCode rg_draft_check_keys(const RgDraft *draft, const RgYamlNode *map, const char *where,
                                   const char *const *names)
{
  for (int i = 0; i < map->n; i++) {
    const RgYamlEntry *e = &map->entries[i];
    if (!rg_draft_is_among(e->key, names))
      PetscCall(rg_draft_unknown(draft, RG_PLACE_OF(draft, e), "key", e->key, where, names));
  }
  return 0;
}

PetscErrorCode rg_draft_unknown(const RgDraft *draft, RgPlace place, const char *what,
                                const char *word, const char *where, const char *const *names)
{
  RgText known = {0};
  const char *nearest = rg_text_nearest(word, names);

  if (strchr(word, ')') && !strchr(word, '(')) { /* the second half of `law: normal(0, 1)` */
    return rg_diagnostics_add(
      draft->diagnostics, place,
      "unknown %s '%.60s'%s: within { }, a text with a comma needs quotes, such as "
      "\"normal(0, 1)\"",
      what, word, where);
  }
  if (nearest)
    return rg_diagnostics_add(draft->diagnostics, place, "unknown %s '%.60s'%s, did you mean '%s'?",
                              what, word, where, nearest);
  for (int i = 0; names[i]; i++) PetscCall(rg_text_add(&known, "%s%s", i ? ", " : "", names[i]));
  rg_diagnostics_add(draft->diagnostics, place, "unknown %s '%.60s'%s; known: %s", what, word,
                     where, known.length ? known.data : "none");
  return rg_text_clear(&known);
}

enum { MAX_ENTRIES = 1000 };

/* Report a key that an entry (RG_BLOCK_COUNT), or one of its blocks, does not accept. */
static PetscErrorCode unknown_key(const RgDraft *draft, const RgEntry *entry, RgBlock block,
                                  const RgYamlEntry *e)
{
  const char **names, *inside = block == RG_BLOCK_COUNT ? NULL : rg_blocks[block].name;
  char where[160] = ""; /* such as " in 'surrogate' of algorithm 'gp_ucb'" */
  int n = 0, room = 8;

  const int used = inside ? snprintf(where, sizeof(where), " in '%s'", inside) : 0;
  if (entry->layer == RG_LAYER_COMMON)
    snprintf(where + used, sizeof(where) - used, inside ? " of 'common'" : " in 'common'");
  else
    snprintf(where + used, sizeof(where) - used, " of %s '%.60s'", layer_words[entry->layer],
             entry->label);
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    for (const RgParam *p = rg_entry_table(entry, b); p && p->name; p++) room++;
  PetscCall(PetscCalloc1(room, &names));
  for (int i = 0; !inside && entry->layer && rg_entry_keys[i].name; i++)
    names[n++] = rg_entry_keys[i].name;
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++) {
    const RgParam *table = rg_entry_table(entry, b);
    if (!table || (inside && block != b)) continue;
    if (!inside && rg_blocks[b].name) names[n++] = rg_blocks[b].name;
    else
      for (int i = 0; table[i].name; i++)
        if (rg_is_param(&table[i])) names[n++] = table[i].name;
  }
  if (!rg_draft_elsewhere(draft, entry, inside, where, e, names))
    PetscCall(rg_draft_unknown(draft, RG_PLACE_OF(draft, e), "key", e->key, where, names));
  return PetscFree(names);
}

static PetscErrorCode add_setting(RgDraft *draft, RgEntry *entry, RgBlock block,
                                  const RgParam *param, const RgYamlNode *value)
{
  PetscCall(rg_draft_check_value(draft, rg_entry_table(entry, block), param, value, NULL));
  PetscCall(RG_GROW(entry->n_settings, entry->settings));
  entry->settings[entry->n_settings++] = (RgSetting){block, param, value};
  return 0;
}

/* Parse `preset: NAME` of a surrogate block. */
static PetscErrorCode parse_preset(RgDraft *draft, RgEntry *entry, const RgYamlNode *value)
{
  const char *names[RG_PRESETS_MAX], *typed, *rest;
  char got[64], key[64], text[64];
  int n = 0, at = -1, used;

  typed = value->kind == RG_YAML_SCALAR ? value->text : rg_yaml_describe(value, got);
  for (; rg_presets[n].name; n++) {
    names[n] = rg_presets[n].name;
    if (!strcmp(names[n], typed)) at = n;
  }
  names[n] = NULL;
  if (at < 0) return rg_draft_unknown(draft, RG_PLACE_OF(draft, value), "preset", typed, "", names);
  for (rest = rg_presets[at].settings; sscanf(rest, " %63[^:]: %63[^,]%n", key, text, &used) == 2;
       rest += used + strspn(rest + used, ",")) {
    static const char search[] = "maximiser.";
    const bool searches = !strncmp(key, search, sizeof search - 1);
    const RgBlock block = searches ? RG_BLOCK_MAXIMISER : RG_BLOCK_SURROGATE;
    const RgParam *table = rg_entry_table(entry, block);
    RgYamlNode *node;
    if (!table) continue; /* the algorithm does not read the block */
    PetscCall(rg_yaml_add(&draft->tree, value, text, &node));
    PetscCall(add_setting(draft, entry, block,
                          rg_params_find(table, key + (searches ? sizeof search - 1 : 0)), node));
    /* It stands before all that the entry has: those win. */
    const RgSetting last = entry->settings[entry->n_settings - 1];
    for (int i = entry->n_settings - 1; i > 0; i--) entry->settings[i] = entry->settings[i - 1];
    entry->settings[0] = last;
  }
  return 0;
}

/* Report a block that an algorithm does not read. `pending: ignore` is what it does anyway. */
static void refuse_block(const RgDraft *draft, const RgEntry *entry, RgBlock block, RgPlace place,
                         const RgYamlNode *value)
{
  const char *name = entry->algorithm->name, *word = rg_blocks[block].name;

  if (block == RG_BLOCK_PENDING && value->kind == RG_YAML_SCALAR && !strcmp(value->text, "ignore"))
    return;
  if (!rg_blocks[block].methods)
    rg_diagnostics_add(draft->diagnostics, place,
                       "algorithm '%s' takes no '%s' block: it is set in 'common' or in a problem, "
                       "alike for all algorithms",
                       name, word);
  else if (entry->algorithm->traits & RG_OWN_PENDING && block == RG_BLOCK_PENDING)
    rg_diagnostics_add(
      draft->diagnostics, place,
      "algorithm '%s' has a rule of its own for points in flight: it takes no '%s' "
      "block",
      name, word);
  else
    rg_diagnostics_add(draft->diagnostics, place,
                       "algorithm '%s' uses no model: it takes no '%s' block", name, word);
}

/* Parse `surrogate: {...}` and the like, or a value in place of the map. */
static PetscErrorCode parse_block(RgDraft *draft, RgEntry *entry, RgBlock block, RgPlace place,
                                  const RgYamlNode *map)
{
  const RgParam *table = rg_entry_table(entry, block);
  char got[64];

  if (!table) {
    refuse_block(draft, entry, block, place, map);
    return 0;
  }
  if (map->kind == RG_YAML_SCALAR && rg_blocks[block].brief)
    return add_setting(draft, entry, block, table, map);
  if (map->kind != RG_YAML_MAP)
    return RG_MISTAKE(draft, map,
                      "'%s' must be a map of settings, got %s (regatta describe %s lists them)",
                      rg_blocks[block].name, rg_yaml_describe(map, got), rg_blocks[block].name);
  const RgYamlEntry *preset = block == RG_BLOCK_SURROGATE ? rg_yaml_find(map, "preset") : NULL;
  if (preset) PetscCall(parse_preset(draft, entry, preset->value));
  for (int i = 0; i < map->n; i++) {
    const RgYamlEntry *e = &map->entries[i];
    const RgParam *param = rg_params_find(table, e->key);
    if (e == preset) continue;
    if (param) PetscCall(add_setting(draft, entry, block, param, e->value));
    else PetscCall(unknown_key(draft, entry, block, e));
  }
  return 0;
}

/* Parse `embed: {dim: D, rotation: random}`: the parameter itself, and the one named after it. */
static PetscErrorCode parse_embed(RgDraft *draft, RgEntry *entry, RgBlock block,
                                  const RgParam *embed, const RgYamlNode *map)
{
  static const char *const names[] = {"dim", "rotation", NULL};
  const RgYamlNode *dim = rg_yaml_value(map, "dim"), *rotation = rg_yaml_value(map, "rotation");

  if (!dim) return RG_MISTAKE(draft, map, "'%s' needs the number of inputs: {dim: D}", embed->name);
  PetscCall(rg_draft_check_keys(draft, map, " in 'embed'", names));
  PetscCall(add_setting(draft, entry, block, embed, dim));
  if (!rotation) return 0;
  return add_setting(draft, entry, block,
                     rg_params_find(rg_entry_table(entry, block), RG_EMBED "_rotation"), rotation);
}

/* Parse a key of an entry other than `name` and `label`. */
static PetscErrorCode parse_key(RgDraft *draft, RgEntry *entry, const RgYamlEntry *e)
{
  const RgPlace place = RG_PLACE_OF(draft, e);

  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++) {
    if (rg_blocks[b].name) {
      if (strcmp(rg_blocks[b].name, e->key)) continue;
      return parse_block(draft, entry, b, place, e->value);
    }
    const RgParam *table = rg_entry_table(entry, b);
    const RgParam *param = table ? rg_params_find(table, e->key) : NULL;
    if (!param) continue;
    if (e->value->kind == RG_YAML_MAP && param->choices == rg_param_later &&
        !strcmp(e->key, RG_EMBED))
      return parse_embed(draft, entry, b, param, e->value);
    return add_setting(draft, entry, b, param, e->value);
  }
  return unknown_key(draft, entry, RG_BLOCK_COUNT, e);
}

/* Find the class called `name`; an unknown one is a mistake. */
static PetscErrorCode find_class(const RgDraft *draft, RgEntry *entry, RgPlace place,
                                 const char *name)
{
  const char **names;

  if (entry->layer == RG_LAYER_PROBLEM)
    entry->problem = rg_registry_find_problem(draft->registry, name);
  else entry->algorithm = rg_registry_find_algorithm(draft->registry, name);
  if (entry->problem || entry->algorithm) return 0;
  if (rg_left_out(name))
    return rg_diagnostics_add(draft->diagnostics, place, RG_LEFT_OUT, name, rg_left_out(name));
  PetscCall(rg_registry_names(draft->registry, entry->layer == RG_LAYER_PROBLEM, &names));
  PetscCall(rg_draft_unknown(draft, place, layer_words[entry->layer], name, "", names));
  return PetscFree(names);
}

/* The text of `name` or `label`; NULL and a mistake if it is not a text. */
static const char *entry_text(const RgDraft *draft, const RgYamlEntry *e)
{
  char got[64];

  if (e->value->kind == RG_YAML_SCALAR && !rg_yaml_is_null(e->value)) return e->value->text;
  RG_MISTAKE(draft, e->value, "'%s' must be a text, got %s", e->key,
             rg_yaml_describe(e->value, got));
  return NULL;
}

/* Whether a UTF-8 text contains characters that a terminal or an editor interprets: control
   characters (C0 or C1), line separators, changes of direction. */
static bool is_obeyed(const char *text)
{
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)) return true;
    if (*c != 0xe2) continue;
    if (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae)))
      return true;
    if (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9) return true;
  }
  return false;
}

/* Words that readers of CSV files (pandas, R) treat as a missing value. */
static const char *const missing_words[] = {
  "#N/A", "#N/A N/A", "#NA",     "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "<NA>", "N/A",
  "NA",   "NULL",     "1.#QNAN", "NaN",     "None",     "n/a",  "nan",  "null",   NULL};

/* Check a label: it names groups of the results file, appears in legends and tables, and joins
   CSV files. */
static void check_label(const RgDraft *draft, RgPlace place, const char *label)
{
  const size_t length = strlen(label);
  const char *wrong = NULL;

  if (!strpbrk(label, "\n\r\t") && is_obeyed(label)) { /* the message must not repeat it */
    rg_diagnostics_add(draft->diagnostics, place,
                       "the label can't be used: it has a control character");
    return;
  }
  if (!length) wrong = "it is empty";
  else if (length > 60) wrong = "it is longer than 60 bytes";
  else if (strchr(label, '/')) wrong = "'/' is not accepted in it";
  else if (strpbrk(label, "\n\r\t")) wrong = "it must be one line without tabs";
  else if (rg_draft_is_among(label, missing_words))
    wrong = "readers of CSV files take it for a missing value";
  else if (label[0] == ' ' || label[length - 1] == ' ') wrong = "it begins or ends with a space";
  else if (label[0] == '.') wrong = "it begins with '.'";
  if (wrong)
    rg_diagnostics_add(draft->diagnostics, place, "the label '%.60s' can't be used: %s", label,
                       wrong);
}

static PetscErrorCode parse_map_entry(const RgDraft *draft, RgEntry *entry, const RgYamlNode *map)
{
  const RgYamlEntry *name = rg_yaml_find(map, "name"), *label = rg_yaml_find(map, "label");

  if (!name) { /* maybe `- ackley: {dim: 4}` instead of `- {name: ackley, dim: 4}` */
    const char *first = map->n ? map->entries[0].key : "";
    const bool known = entry->layer == RG_LAYER_PROBLEM
                         ? rg_registry_find_problem(draft->registry, first) != NULL
                         : rg_registry_find_algorithm(draft->registry, first) != NULL;
    return RG_MISTAKE(draft, map, "this %s has no 'name'%s%s%s", layer_words[entry->layer],
                      known ? ": write '- {name: " : "", known ? first : "",
                      known ? ", ...}'" : "");
  }
  const char *text = entry_text(draft, name);
  entry->label = label ? entry_text(draft, label) : NULL;
  if (entry->label) check_label(draft, RG_PLACE_OF(draft, label->value), entry->label);
  else entry->label = text;
  if (text) PetscCall(find_class(draft, entry, RG_PLACE_OF(draft, name->value), text));
  return 0;
}

/* Parse `problems` or `algorithms`, a list that is not empty, with unique labels: only what each
   entry is, because a mistake in a setting may name another entry. */
static PetscErrorCode parse_list(RgDraft *draft, RgLayer layer)
{
  const char *key = rg_layer_keys[layer];
  const RgYamlNode *list = rg_yaml_value(draft->tree.root, key);
  char got[64];

  if (!list)
    return RG_MISTAKE(draft, draft->tree.root, "'%s' is missing: a study needs at least one", key);
  if (list->kind != RG_YAML_LIST || !list->n)
    return RG_MISTAKE(draft, list, "'%s' must be a list of names or maps, got %s", key,
                      list->kind == RG_YAML_LIST ? "an empty one" : rg_yaml_describe(list, got));
  if (list->n > MAX_ENTRIES)
    return RG_MISTAKE(draft, list, "'%s' has %d entries, at most %d are accepted", key, list->n,
                      MAX_ENTRIES);
  PetscCall(PetscCalloc1(list->n, &draft->layer[layer].entries));
  draft->layer[layer].n = list->n;
  for (int i = 0; i < list->n; i++) {
    const RgYamlNode *node = list->items[i];
    const RgEntry *other = draft->layer[layer].entries;
    RgEntry *entry = &draft->layer[layer].entries[i];
    *entry = (RgEntry){.layer = layer, .place = RG_PLACE_OF(draft, node)};
    if (node->kind == RG_YAML_MAP) {
      PetscCall(parse_map_entry(draft, entry, node));
    } else if (node->kind == RG_YAML_SCALAR && !rg_yaml_is_null(node)) {
      entry->label = node->text;
      PetscCall(find_class(draft, entry, entry->place, node->text));
    } else {
      RG_MISTAKE(draft, node, "a name or a map with 'name' is expected, got %s",
                 rg_yaml_describe(node, got));
    }
    if (!entry->label) continue;
    while (other < entry && (!other->label || strcmp(other->label, entry->label))) other++;
    if (other < entry)
      RG_MISTAKE(draft, node,
                 "'%s' names two entries of '%s' (first in line %d): give one another 'label'",
                 entry->label, key, other->place.line);
  }
  return 0;
}

PetscErrorCode rg_draft_entries(RgDraft *draft)
{
  const RgYamlNode *common = rg_yaml_value(draft->tree.root, "common");
  RgEntry *settings;
  char got[64];

  PetscCall(PetscCalloc1(1, &settings));
  settings->place = RG_PLACE_OF(draft, common ? common : draft->tree.root);
  draft->layer[RG_LAYER_COMMON].entries = settings;
  draft->layer[RG_LAYER_COMMON].n = 1;
  PetscCall(parse_list(draft, RG_LAYER_PROBLEM));
  PetscCall(parse_list(draft, RG_LAYER_ALGORITHM));
  if (common && common->kind != RG_YAML_MAP)
    RG_MISTAKE(draft, common, "'common' must be a map of settings, got %s",
               rg_yaml_describe(common, got));
  else
    for (int i = 0; common && i < common->n; i++)
      PetscCall(parse_key(draft, settings, &common->entries[i]));
  for (RgLayer layer = RG_LAYER_PROBLEM; layer < RG_LAYER_COUNT; layer++)
    for (int i = 0; i < draft->layer[layer].n; i++) {
      RgEntry *entry = &draft->layer[layer].entries[i];
      const RgYamlNode *map = rg_yaml_value(draft->tree.root, rg_layer_keys[layer])->items[i];
      if (map->kind != RG_YAML_MAP || (!entry->problem && !entry->algorithm)) continue;
      for (int k = 0; k < map->n; k++) {
        const RgYamlEntry *e = &map->entries[k];
        if (strcmp(e->key, "name") && strcmp(e->key, "label"))
          PetscCall(parse_key(draft, entry, e));
      }
    }
  return 0;
}
