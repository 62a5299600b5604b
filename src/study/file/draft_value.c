/* Values of settings: checks of YAML nodes by the parameters tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "study/file/draft.h"

/* Set `param` in `options` from a node whose kind was checked. */
static PetscErrorCode set_value(const RgParam *param, void *options, const RgYamlNode *value,
                                const char *path, RgDiagnostics *diagnostics)
{
  const RgParam table[2] = {*param, {0}};
  const RgPlace place = {path, value->line, value->column};
  const char **words;
  RgText *named;
  int n = value->kind == RG_YAML_SCALAR ? 1 : value->n;

  PetscFunctionBeginUser;
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
  PetscCall(PetscFree(words));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_draft_apply(const RgDraft *draft, const RgParam *param, void *options,
                              const RgYamlNode *value)
{
  PetscFunctionBeginUser;
  PetscCall(set_value(param, options, value, NULL, draft->diagnostics));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_params_resolve(const RgParam *table, void *options, RgPlace place)
{
  RgDiagnostics none = {0};

  PetscFunctionBeginUser;
  for (; table->name; table++) {
    char *typed;
    if (table->type != RG_PARAM_PATH) continue;
    PetscCall(PetscStrallocpy(*(char **)((char *)options + table->offset), &typed));
    if (typed)
      PetscCall(rg_params_set(table, options, table->name, 1, (const char *const *)&typed, place,
                              &none, NULL));
    PetscCall(PetscFree(typed));
  }
  PetscFunctionReturn(0);
}

/* Check a map of names to texts. */
static bool check_map(RgDraft *draft, const RgParam *param, const RgYamlNode *value)
{
  char got[64];

  if (value->kind != RG_YAML_MAP || !value->n) {
    rg_diagnostics_add(draft->diagnostics, (RgPlace){draft->path, value->line, value->column},
                       "'%s' takes a map of names to texts, got %s", param->name,
                       value->kind == RG_YAML_MAP ? "an empty one" : rg_yaml_describe(value, got));
    return false;
  }
  for (int i = 0; i < value->n; i++) {
    const RgYamlEntry *entry = &value->entries[i];
    if (!entry->key[0] || strlen(entry->key) > 30 || strpbrk(entry->key, "=;/,")) {
      rg_diagnostics_add(draft->diagnostics, (RgPlace){draft->path, entry->line, entry->column},
                         "a name in '%s' has 1 to 30 bytes and none of '=', ';', '/', ',', got "
                         "'%.60s'",
                         param->name, entry->key);
      return false;
    }
    if (entry->value->kind == RG_YAML_SCALAR && !rg_yaml_is_null(entry->value)) continue;
    rg_diagnostics_add(draft->diagnostics,
                       (RgPlace){draft->path, entry->value->line, entry->value->column},
                       "'%s' of '%s' must be a text, got %s", entry->key, param->name,
                       rg_yaml_describe(entry->value, got));
    return false;
  }
  return true;
}

/* Check that a node is a scalar that is not empty, or a list of such scalars where the parameter
   accepts one. */
static bool check_kind(RgDraft *draft, const RgParam *param, const RgYamlNode *value)
{
  const RgPlace place = {draft->path, value->line, value->column};
  char got[64];

  if (param->type == RG_PARAM_NAMED) return check_map(draft, param, value);
  if (value->kind == RG_YAML_LIST && param->type != RG_PARAM_REALS &&
      param->type != RG_PARAM_TEXTS) {
    rg_diagnostics_add(
      draft->diagnostics, place,
      "'%s' takes one value, got a list; to run several values, name it in 'sweep'", param->name);
    return false;
  }
  const bool nowhere = param->type == RG_PARAM_PATH && value->text && !value->text[0];
  if (value->kind == RG_YAML_MAP || rg_yaml_is_null(value) || nowhere) {
    rg_diagnostics_add(draft->diagnostics, place, "'%s' needs a value, got %s", param->name,
                       rg_yaml_describe(value, got));
    return false;
  }
  if (value->kind == RG_YAML_SCALAR) return true;
  if (!value->n)
    rg_diagnostics_add(draft->diagnostics, place, "'%s' needs values, got an empty list",
                       param->name);
  for (int i = 0; i < value->n; i++) {
    const RgYamlNode *item = value->items[i];
    if (item->kind == RG_YAML_SCALAR && !rg_yaml_is_null(item)) continue;
    rg_diagnostics_add(draft->diagnostics, (RgPlace){draft->path, item->line, item->column},
                       "'%s' takes a list of %s, got %s in it", param->name,
                       param->type == RG_PARAM_TEXTS ? "texts" : "numbers",
                       rg_yaml_describe(item, got));
    return false;
  }
  return value->n > 0;
}

PetscErrorCode rg_draft_check_value(RgDraft *draft, const RgParam *table, const RgParam *param,
                                    const RgYamlNode *value, char **canonical)
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

  PetscFunctionBeginUser;
  if (rg_draft_number_for_rule(draft, table, param, value) || !check_kind(draft, param, value))
    PetscFunctionReturn(0);
  PetscCall(PetscMemzero(&scratch, sizeof(scratch)));
  alone[0].offset = 0;
  PetscCall(set_value(alone, &scratch, value, draft->path, draft->diagnostics));
  if (canonical) {
    PetscCall(rg_text_add(&text, "%s", "")); /* some texts are empty: params.h, rg_param_later */
    PetscCall(rg_params_canonical(alone, &scratch, &text));
    /* A later addition at its default has an empty canonical text. */
    if (!text.data) PetscCall(rg_text_add(&text, "%s", param->fallback));
    *canonical = text.data;
  }
  PetscCall(rg_params_clear(alone, &scratch));
  PetscFunctionReturn(0);
}

RgPlace rg_draft_place(const RgDraft *draft, const RgYamlNode *node)
{
  return (RgPlace){draft->path, node->line, node->column};
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
  rg_diagnostics_add(draft->diagnostics, rg_draft_place(draft, node),
                     "%s must be a whole number in [%llu, %llu], got %s", what,
                     (unsigned long long)least, (unsigned long long)most,
                     rg_yaml_describe(node, got));
  return false;
}
