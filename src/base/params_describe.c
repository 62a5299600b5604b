/* Parameters in words: types, defaults, what is accepted. */
#include "base/params_internal.h"

#include <string.h>

enum { NAME, TYPE, DEFAULT, RANGE, SYMBOL, MEANING, COLUMNS };

/* One row of the table for people. */
typedef struct {
  RgText cells[COLUMNS];
} Row;

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
    for (int i = 0; entry->choices[i]; ++i) {
      PetscCall(rg_text_add(text, "%s%s", i ? " | " : "", entry->choices[i]));
    }
  } else if (entry->type == RG_PARAM_INT || entry->type == RG_PARAM_REAL ||
             entry->type == RG_PARAM_REALS) {
    PetscCall(rg_param_range(entry, text));
  }
  if (text->length == 0) PetscCall(rg_text_add(text, "-"));
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_row(const RgParam *entry, Row *row)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&row->cells[NAME], "%s", entry->name));
  PetscCall(rg_text_add(&row->cells[TYPE], "%s", type_name(entry->type)));
  PetscCall(rg_text_add(&row->cells[DEFAULT], "%s",
                        !entry->fallback   ? "required"
                        : *entry->fallback ? entry->fallback
                                           : "\"\""));
  PetscCall(fill_accepted(entry, &row->cells[RANGE]));
  PetscCall(
    rg_text_add(&row->cells[SYMBOL], "%s", entry->symbol && *entry->symbol ? entry->symbol : "-"));
  PetscCall(rg_text_add(&row->cells[MEANING], "%s", entry->doc ? entry->doc : ""));
  PetscFunctionReturn(0);
}

/* Characters, not bytes, of UTF-8. */
static int text_width(const char *text)
{
  int width = 0;

  for (; *text; ++text) width += ((unsigned char)*text & 0xC0u) != 0x80u;
  return width;
}

/* Columns as wide as their widest cell, two blanks between, none at the end of a line. */
static PetscErrorCode add_rows(const Row *rows, int n, RgText *text)
{
  int widths[COLUMNS] = {0};

  PetscFunctionBeginUser;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < COLUMNS; ++j) {
      int width = text_width(rows[i].cells[j].data);
      if (width > widths[j]) widths[j] = width;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < COLUMNS; ++j) {
      const char *cell = rows[i].cells[j].data;
      int pad = j + 1 < COLUMNS ? widths[j] - text_width(cell) + 2 : 0;
      PetscCall(rg_text_add(text, "%s%*s", cell, pad, ""));
    }
    PetscCall(rg_text_add(text, "\n"));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_params_describe(const RgParam *table, RgText *text)
{
  static const char *const titles[COLUMNS] = {"name",  "type",   "default",
                                              "range", "symbol", "meaning"};
  Row *rows;
  int n = 0;

  PetscFunctionBeginUser;
  while (table[n].name) ++n;
  PetscCall(PetscCalloc1((size_t)n + 1, &rows));
  for (int j = 0; j < COLUMNS; ++j) PetscCall(rg_text_add(&rows[0].cells[j], "%s", titles[j]));
  for (int i = 0; i < n; ++i) PetscCall(fill_row(&table[i], &rows[i + 1]));
  PetscCall(add_rows(rows, n + 1, text));
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j < COLUMNS; ++j) PetscCall(rg_text_clear(&rows[i].cells[j]));
  }
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(0);
}
