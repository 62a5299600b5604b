/* Hints for a key or a number that stands in the wrong place of a study file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "study/file/draft.h"

/* ---- a number for a rule --------------------------------------------------------------------- */

/* Whether `symbol` is the word of `length` bytes, maybe with "_t", between `before` and `after`. */
static bool is_symbol(const char *symbol, const char *before, const char *word, size_t length,
                      const char *after)
{
  char text[64];

  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof(text), "%s%.*s%s%s", before, (int)length, word, k ? "_t" : "", after);
    if (!strcmp(symbol, text)) return true;
  }
  return false;
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
static bool explain_number(const RgParam *table, const RgParam *rule, const RgYamlNode *value,
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

bool rg_draft_number_for_rule(RgDraft *draft, const RgParam *table, const RgParam *param,
                              const RgYamlNode *value)
{
  char text[160];

  if (!explain_number(table, param, value, text)) return false;
  rg_diagnostics_add(draft->diagnostics, rg_draft_place(draft, value),
                     "'%s' is the name of a rule: %s", param->name, text);
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
    if (!table || named != (rg_block_names[b] != NULL)) continue;
    *home = (Home){entry, b, table, rg_params_find(table, key)};
    if (home->param) return true;
  }
  return false;
}

/* Find a key in what only an entry of the list has. */
static bool find_among(int n, const RgEntry *entries, const char *key, Home *home)
{
  for (int i = 0; i < n; i++) {
    const RgBlock b = entries[i].layer == RG_LAYER_PROBLEM ? RG_BLOCK_PROBLEM : RG_BLOCK_ALGORITHM;
    const RgParam *table = entries[i].label ? rg_entry_table(&entries[i], b) : NULL;
    if (!table) continue;
    *home = (Home){&entries[i], b, table, rg_params_find(table, key)};
    if (home->param) return true;
  }
  return false;
}

static bool is_block(const char *key)
{
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    if (rg_block_names[b] && !strcmp(rg_block_names[b], key)) return true;
  return false;
}

static bool is_of_study(const char *key)
{
  for (int i = 0; rg_study_keys[i].name; i++)
    if (!strcmp(rg_study_keys[i].name, key)) return true;
  return false;
}

/* Find where a key belongs that is unknown in an entry (NULL: at the top). */
static bool find_home(const RgDraft *draft, const RgEntry *entry, const char *key, Home *home)
{
  const RgEntry *common = &draft->common;

  *home = (Home){.entry = common, .block = RG_BLOCK_COUNT};
  if (entry && (find_in(entry, false, key, home) || find_in(entry, true, key, home))) return true;
  if (entry != common && (find_in(common, false, key, home) || find_in(common, true, key, home)))
    return true;
  if (find_among(draft->n_algorithms, draft->algorithms, key, home) ||
      find_among(draft->n_problems, draft->problems, key, home))
    return true;
  *home = (Home){.entry = is_block(key) ? common : NULL, .block = RG_BLOCK_COUNT};
  return home->entry ? entry != common : entry && is_of_study(key);
}

/* Describe the home of a key that stands in `entry`, or in its block `inside`. */
static void describe_home(const RgEntry *entry, const char *inside, const Home *home,
                          char text[160])
{
  const char *block = home->param ? rg_block_names[home->block] : NULL;
  const char *kind = home->block == RG_BLOCK_PROBLEM ? "problem" : "algorithm";

  if (!home->entry) snprintf(text, 160, "it stands at the top of the file");
  else if (home->entry == entry && inside && !block)
    snprintf(text, 160, "it stands beside the '%s' block, not in it", inside);
  else if (block && entry && !rg_entry_table(entry, home->block))
    snprintf(text, 160, "it belongs to the '%s' block, which this algorithm does not take", block);
  else if (block)
    snprintf(text, 160, "it belongs to the '%s' block%s", block, entry ? "" : " of 'common'");
  else if (home->entry->label)
    snprintf(text, 160, "it is a parameter of %s '%.60s'", kind, home->entry->label);
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

bool rg_draft_elsewhere(RgDraft *draft, const RgEntry *entry, const char *inside, const char *where,
                        const RgYamlEntry *e, const char *const *names)
{
  const char *key = e->key;
  char text[160], number[160] = "";
  Home home;

  if (!find_meaning(draft, entry, &key, &home)) return false;
  if (key != e->key && rg_text_nearest(e->key, names)) return false;
  describe_home(entry, inside, &home, text);
  const bool rule = home.param && explain_number(home.table, home.param, e->value, number);
  const RgPlace place = {draft->path, e->line, e->column};
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
  static const char *const layers[] = {"common", "problems.", "algorithms."};
  const char *last = strrchr(name, '.');
  const char *key = last ? last + 1 : name;
  Home home;

  if (!find_meaning(draft, entry, &key, &home) || !home.entry) return false;
  const char *block = home.param ? rg_block_names[home.block] : NULL;
  snprintf(path, 160, "%s%.60s.%s%s%.40s", layers[home.entry->layer],
           home.entry->label ? home.entry->label : "", block ? block : "", block ? "." : "", key);
  return true;
}
