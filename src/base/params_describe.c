/* Descriptions of parameters: types, defaults, accepted values. */
#include "base/params_internal.h"
#include "base/table.h"

static const char *type_name(RgParamType type)
{
  switch (type) {
  case RG_PARAM_BOOL: return "bool";
  case RG_PARAM_INT: return "integer";
  case RG_PARAM_REAL: return "real";
  case RG_PARAM_CHOICE: return "choice";
  case RG_PARAM_TEXT: return "text";
  case RG_PARAM_REALS: return "reals";
  case RG_PARAM_TEXTS: return "texts";
  case RG_PARAM_NAMED: return "map of texts";
  case RG_PARAM_PATH: return "path";
  }
  return "";
}

static PetscErrorCode fill_accepted(const RgParam *entry, RgText *text)
{
  PetscFunctionBeginUser;
  if (entry->type == RG_PARAM_CHOICE) {
    for (int i = 0; entry->choices[i]; i++) {
      PetscCall(rg_text_add(text, "%s%s", i ? " | " : "", entry->choices[i]));
    }
  } else if (entry->type == RG_PARAM_INT || entry->type == RG_PARAM_REAL ||
             entry->type == RG_PARAM_REALS) {
    PetscCall(rg_param_range(entry, text));
  }
  if (text->length == 0) PetscCall(rg_text_add(text, "-"));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_row(const RgParam *entry, RgTable *table)
{
  RgText accepted = {0};

  PetscFunctionBeginUser;
  PetscCall(fill_accepted(entry, &accepted));
  PetscCall(
    rg_table_add(table, (const char *const[]){entry->name, type_name(entry->type),
                                              !entry->fallback   ? "required"
                                              : *entry->fallback ? entry->fallback
                                                                 : "\"\"",
                                              accepted.data,
                                              entry->symbol && *entry->symbol ? entry->symbol : "-",
                                              entry->doc ? entry->doc : ""}));
  PetscCall(rg_text_clear(&accepted));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_params_describe(const RgParam *table, RgText *text)
{
  RgTable rows = {.n_columns = 6,
                  .headings = {"name", "type", "default", "range", "symbol", "meaning"}};

  PetscFunctionBeginUser;
  for (; table->name; table++) PetscCall(add_row(table, &rows));
  PetscCall(rg_table_print(&rows, text));
  PetscFunctionReturn(0);
}
