/* Values of settings: from nodes of the YAML tree through the parameters tables. */
#include "study/draft.h"

/* Set `param` in `options` from a node of which only the kind was checked. */
static PetscErrorCode set_value(const RgParam *param, void *options, const RgYamlNode *value,
                                const char *path, RgDiagnostics *diagnostics)
{
  const RgParam table[2] = {*param, {0}};
  const RgPlace place = {path, value->line, value->column};
  const char **words;
  int n = value->kind == RG_YAML_LIST ? value->n : 1;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &words));
  for (int i = 0; i < n; i++)
    words[i] = value->kind == RG_YAML_LIST ? value->items[i]->text : value->text;
  PetscCall(rg_params_set(table, options, param->name, n, words, place, diagnostics, NULL));
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

/* A scalar with something in it, or a list of such where the parameter takes one. */
static bool check_kind(RgDraft *draft, const RgParam *param, const RgYamlNode *value)
{
  const RgPlace place = {draft->path, value->line, value->column};
  char got[64];

  if (value->kind == RG_YAML_LIST && param->type != RG_PARAM_REALS &&
      param->type != RG_PARAM_TEXTS) {
    rg_diagnostics_add(
        draft->diagnostics, place,
        "'%s' takes one value, got a list; to run several values, name it in 'sweep'", param->name);
    return false;
  }
  if (value->kind == RG_YAML_MAP || rg_yaml_is_null(value)) {
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

PetscErrorCode rg_draft_check_value(RgDraft *draft, const RgParam *param, const RgYamlNode *value,
                                    char **canonical)
{
  RgParam table[2] = {*param, {0}};
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
  if (!check_kind(draft, param, value)) PetscFunctionReturn(0);
  PetscCall(PetscMemzero(&scratch, sizeof(scratch)));
  table[0].offset = 0;
  PetscCall(set_value(table, &scratch, value, draft->path, draft->diagnostics));
  if (canonical) {
    PetscCall(rg_params_canonical(table, &scratch, &text));
    *canonical = text.data;
  }
  PetscCall(rg_params_clear(table, &scratch));
  PetscFunctionReturn(0);
}
