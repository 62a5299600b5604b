/* Descriptions of parameters: types, defaults, accepted values. */
#include "base/params_internal.h"
#include "base/table.h"

#include <string.h>

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
  case RG_PARAM_GROUP:
  case RG_PARAM_GONE: break;
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

/* Append the table of all parameters, or of those in the group called `title`. */
static PetscErrorCode add_rows(const RgParam *table, const char *title, RgText *text)
{
  RgTable rows = {.n_columns = 6,
                  .headings = {"name", "type", "default", "range", "symbol", "meaning"}};
  bool inside = !title;

  PetscFunctionBeginUser;
  for (; table->name; table++) {
    if (title && table->type == RG_PARAM_GROUP) inside = !strcmp(table->name, title);
    if (inside && rg_is_param(table)) PetscCall(add_row(table, &rows));
  }
  PetscCall(rg_table_print(&rows, text));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_params_describe(const RgParam *table, RgText *text)
{
  int n_groups = 0;

  PetscFunctionBeginUser;
  for (const RgParam *group = table; group->name; group++) {
    bool seen = group->type != RG_PARAM_GROUP;
    for (const RgParam *other = table; other < group && !seen; other++)
      seen = other->type == RG_PARAM_GROUP && !strcmp(other->name, group->name);
    if (seen) continue;
    PetscCall(rg_text_add(text, "%s%s\n", n_groups++ ? "\n" : "", group->name));
    PetscCall(add_rows(table, group->name, text));
  }
  if (!n_groups) PetscCall(add_rows(table, NULL, text));
  PetscFunctionReturn(0);
}
