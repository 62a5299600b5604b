/* Values of parameters: defaults, copies, canonical text. params_parse.c converts texts to
   values; params_describe.c describes a table to people. */
#include "regatta/params.h"

#include "base/params_internal.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

const char *const rg_param_layout[] = {"auto", NULL};
const char *const rg_param_later[] = {"auto", NULL};
const char *const rg_param_or_auto[] = {"auto", NULL};

bool rg_param_allows_auto(const RgParam *entry)
{
  return (entry->choices == rg_param_layout || entry->choices == rg_param_or_auto ||
          (entry->fallback && strcmp(entry->fallback, "auto") == 0)) &&
         entry->type != RG_PARAM_CHOICE && entry->type != RG_PARAM_BOOL;
}

bool rg_param_is_texts(const RgParam *entry)
{
  return entry->type == RG_PARAM_TEXTS || entry->type == RG_PARAM_NAMED;
}

static bool owns_storage(const RgParam *entry)
{
  return entry->type == RG_PARAM_TEXT || entry->type == RG_PARAM_PATH ||
         entry->type == RG_PARAM_REALS || rg_param_is_texts(entry);
}

PetscErrorCode rg_param_copy_texts(int n, const char *const *from, char ***to)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)n, to));
  for (int i = 0; i < n; i++) PetscCall(PetscStrallocpy(from[i], &(*to)[i]));
  PetscFunctionReturn(0);
}

const RgParam *rg_params_find(const RgParam *table, const char *name)
{
  for (; table->name; table++) {
    if (rg_is_param(table) && strcmp(table->name, name) == 0) return table;
  }
  return NULL;
}

/* List the known names, for the message about an unknown one. */
static PetscErrorCode report_unknown(const RgParam *table, const char *name, RgPlace place,
                                     RgDiagnostics *diagnostics)
{
  const char **names, *nearest;
  int n = 0;
  RgText known = {0};
  char shown[RG_SHOWN_SIZE];

  PetscFunctionBeginUser;
  while (table[n].name) n++;
  PetscCall(PetscCalloc1((size_t)n + 1, &names));
  n = 0;
  for (; table->name; table++)
    if (rg_is_param(table)) names[n++] = table->name;
  nearest = rg_text_nearest(name, names);
  rg_param_show(name, shown);
  if (nearest) {
    rg_diagnostics_add(diagnostics, place, "unknown key '%s', did you mean '%s'?", shown, nearest);
  } else if (n == 0) {
    rg_diagnostics_add(diagnostics, place, "unknown key '%s', no keys are accepted here", shown);
  } else {
    for (int i = 0; i < n; i++) {
      PetscCall(rg_text_add(&known, "%s'%s'", i ? ", " : "", names[i]));
    }
    rg_diagnostics_add(diagnostics, place, "unknown key '%s', known keys are %s", shown,
                       known.data);
  }
  PetscCall(rg_text_clear(&known));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

/* Resolve a path as RG_PARAM_PATH says. */
static PetscErrorCode resolve_path(const char *file, char **path)
{
  const char *end = file ? strrchr(file, '/') : NULL;
  RgText joined = {0};

  PetscFunctionBeginUser;
  if (!end || !**path || **path == '/') PetscFunctionReturn(0);
  PetscCall(rg_text_add(&joined, "%.*s%s", (int)(end + 1 - file), file, *path));
  if (access(joined.data, F_OK) == 0) {
    PetscCall(PetscFree(*path));
    PetscCall(PetscStrallocpy(joined.data, path));
  }
  PetscCall(rg_text_clear(&joined));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_params_set(const RgParam *table, void *options, const char *name, int n,
                             const char *const *values, RgPlace place, RgDiagnostics *diagnostics,
                             const RgParam **entry)
{
  RgText problem = {0};
  const RgParam *found = rg_params_find(table, name);

  PetscFunctionBeginUser;
  if (entry) *entry = found;
  if (!found) {
    PetscCall(report_unknown(table, name, place, diagnostics));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_param_parse(found, options, n, values, &problem));
  if (problem.length) rg_diagnostics_add(diagnostics, place, "%s", problem.data);
  else if (found->type == RG_PARAM_PATH)
    PetscCall(resolve_path(place.file, rg_param_field(found, options).text));
  PetscCall(rg_text_clear(&problem));
  PetscFunctionReturn(0);
}

/* Split the default of a list parameter, written "[a, b]" or "a, b", in place; commas in
   parentheses don't split. Returns the number of words, at most `limit`. */
static int split_list(char *text, int limit, const char **words)
{
  int n = 0, depth = 0;
  bool inside = false;

  for (char *c = text; *c; c++) {
    depth += (*c == '(') - (*c == ')');
    if (depth) {
      if (!inside && n < limit) words[n++] = c;
      inside = true;
    } else if (*c == '[' || *c == ']' || *c == ',' || isspace((unsigned char)*c)) {
      *c = '\0';
      inside = false;
    } else if (!inside) {
      if (n < limit) words[n++] = c;
      inside = true;
    }
  }
  return n;
}

static PetscErrorCode set_default(const RgParam *entry, void *options, RgText *problem)
{
  PetscFunctionBeginUser;
  if ((entry->type == RG_PARAM_REALS || rg_param_is_texts(entry)) && !rg_param_allows_auto(entry)) {
    size_t length = strlen(entry->fallback);
    char *text;
    const char **words;

    PetscCall(PetscStrallocpy(entry->fallback, &text));
    PetscCall(PetscMalloc1(length + 1, &words));
    int n = split_list(text, (int)length, words);
    /* An empty list is a valid default, although not a valid input. */
    if (n) PetscCall(rg_param_parse(entry, options, n, words, problem));
    PetscCall(PetscFree(words));
    PetscCall(PetscFree(text));
  } else {
    PetscCall(rg_param_parse(entry, options, 1, &entry->fallback, problem));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_params_defaults(const RgParam *table, void *options)
{
  RgText problem = {0};

  PetscFunctionBeginUser;
  for (; table->name; table++) {
    PetscCall(rg_param_reset(table, options));
    if (!table->fallback || !rg_is_param(table)) continue;
    PetscCall(set_default(table, options, &problem));
    bool valid = problem.length == 0;
    PetscCall(rg_text_clear(&problem));
    PetscCheck(valid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the default '%s' of '%s' is invalid",
               table->fallback, table->name);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_param_reset(const RgParam *entry, void *options)
{
  RgParamField field = rg_param_field(entry, options);

  PetscFunctionBeginUser;
  switch (entry->type) {
  case RG_PARAM_BOOL: *field.boolean = false; break;
  case RG_PARAM_INT:
  case RG_PARAM_CHOICE: *field.integer = 0; break;
  case RG_PARAM_REAL: *field.real = 0.0; break;
  case RG_PARAM_TEXT:
  case RG_PARAM_PATH: PetscCall(PetscFree(*field.text)); break;
  case RG_PARAM_REALS:
    PetscCall(PetscFree(field.reals->values));
    field.reals->n = 0;
    break;
  case RG_PARAM_TEXTS:
  case RG_PARAM_NAMED:
    for (int i = 0; i < field.texts->n; i++) PetscCall(PetscFree(field.texts->values[i]));
    PetscCall(PetscFree(field.texts->values));
    field.texts->n = 0;
    break;
  case RG_PARAM_GROUP:
  case RG_PARAM_GONE: break;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_params_clear(const RgParam *table, void *options)
{
  PetscFunctionBeginUser;
  for (; table->name; table++) {
    if (owns_storage(table)) PetscCall(rg_param_reset(table, options));
  }
  PetscFunctionReturn(0);
}

/* Append a text in double quotes, with quotes, backslashes and control characters escaped. */
static PetscErrorCode add_quoted(RgText *text, const char *value)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "\""));
  for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
    if (*c == '"' || *c == '\\') {
      PetscCall(rg_text_add(text, "\\%c", *c));
    } else if (*c < 0x20 || *c == 0x7F) {
      PetscCall(rg_text_add(text, "\\x%02x", *c));
    } else {
      PetscCall(rg_text_add_bytes(text, (const char *)c, 1));
    }
  }
  PetscCall(rg_text_add(text, "\""));
  PetscFunctionReturn(0);
}

/* Append a list of texts or of reals. */
static PetscErrorCode add_list(RgText *text, int n, char *const *texts, const double *reals)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "["));
  for (int i = 0; i < n; i++) {
    if (i) PetscCall(rg_text_add(text, ","));
    if (texts) PetscCall(add_quoted(text, texts[i]));
    else PetscCall(rg_text_add_real(text, reals[i]));
  }
  PetscCall(rg_text_add(text, "]"));
  PetscFunctionReturn(0);
}

static bool is_auto(const RgParam *entry, RgParamField field)
{
  if (!rg_param_allows_auto(entry)) return false;
  switch (entry->type) {
  case RG_PARAM_INT: return *field.integer == -1;
  case RG_PARAM_REAL: return isnan(*field.real);
  case RG_PARAM_TEXT:
  case RG_PARAM_PATH: return *field.text == NULL;
  case RG_PARAM_REALS: return field.reals->n == 0;
  case RG_PARAM_TEXTS:
  case RG_PARAM_NAMED: return field.texts->n == 0;
  default: return false;
  }
}

static PetscErrorCode add_value(const RgParam *entry, RgParamField field, RgText *text)
{
  PetscFunctionBeginUser;
  if (is_auto(entry, field)) {
    PetscCall(rg_text_add(text, "auto"));
    PetscFunctionReturn(0);
  }
  switch (entry->type) {
  case RG_PARAM_BOOL: PetscCall(rg_text_add(text, "%s", *field.boolean ? "true" : "false")); break;
  case RG_PARAM_INT: PetscCall(rg_text_add(text, "%d", *field.integer)); break;
  case RG_PARAM_REAL: PetscCall(rg_text_add_real(text, *field.real)); break;
  case RG_PARAM_CHOICE: PetscCall(rg_text_add(text, "%s", entry->choices[*field.integer])); break;
  case RG_PARAM_TEXT:
  case RG_PARAM_PATH:
    if (*field.text) {
      PetscCall(add_quoted(text, *field.text));
    } else {
      PetscCall(rg_text_add(text, "none"));
    }
    break;
  case RG_PARAM_REALS: PetscCall(add_list(text, field.reals->n, NULL, field.reals->values)); break;
  case RG_PARAM_TEXTS:
  case RG_PARAM_NAMED: PetscCall(add_list(text, field.texts->n, field.texts->values, NULL)); break;
  case RG_PARAM_GROUP: break;
  case RG_PARAM_GONE: PetscCall(rg_text_add(text, "%s", entry->fallback)); break;
  }
  PetscFunctionReturn(0);
}

/* Whether the canonical text omits an entry: the layout over ranks, and later additions at
   `auto`. */
static bool is_silent(const RgParam *entry, const RgParamField *field)
{
  if (entry->type == RG_PARAM_GROUP) return true;
  if (entry->type == RG_PARAM_CHOICE)
    return entry->minimum == RG_LATER && !strcmp(entry->choices[*field->integer], entry->fallback);
  if (entry->type == RG_PARAM_BOOL) return entry->minimum == RG_LATER && !*field->boolean;
  if (entry->choices == rg_param_layout) return true;
  return entry->choices == rg_param_later && is_auto(entry, *field);
}

PetscErrorCode rg_params_canonical(const RgParam *table, const void *options, RgText *text)
{
  const size_t before = text->length;

  PetscFunctionBeginUser;
  for (const RgParam *entry = table; entry->name; entry++) {
    /* The cast serves a union that writers share; this view only reads. */
    const RgParamField field = rg_param_field(entry, (void *)(uintptr_t)options);

    if (is_silent(entry, &field)) continue;
    PetscCall(rg_text_add(text, "%s%s=", text->length > before ? "," : "", entry->name));
    PetscCall(add_value(entry, field, text));
  }
  PetscFunctionReturn(0);
}
