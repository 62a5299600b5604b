/* Values of parameters: defaults, texts to values, canonical texts, and tables for people. */
#include "base/number.h"
#include "base/params_internal.h"
#include "base/table.h"
#include "base/text.h"
#include "regatta/params.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *const rg_param_layout[] = {"auto", NULL};
const char *const rg_param_later[] = {"auto", NULL};
const char *const rg_param_or_auto[] = {"auto", NULL};

/* Whether the word `auto` is accepted and stored as a value of its own. */
static bool param_allows_auto(const RgParam *entry)
{
  return (entry->choices == rg_param_layout || entry->choices == rg_param_or_auto ||
          (entry->fallback && strcmp(entry->fallback, "auto") == 0)) &&
         entry->type != RG_PARAM_CHOICE && entry->type != RG_PARAM_BOOL;
}

static bool param_is_texts(const RgParam *entry)
{
  return entry->type == RG_PARAM_TEXTS || entry->type == RG_PARAM_NAMED;
}

/* Free what the field owns and set it to false, 0, NULL or empty. */
static PetscErrorCode param_reset(const RgParam *entry, void *options)
{
  RgParamField field = rg_param_field(entry, options);

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
    PetscCall(rg_names_free(field.texts->n, &field.texts->values));
    field.texts->n = 0;
    break;
  case RG_PARAM_GROUP:
  case RG_PARAM_GONE: break;
  }
  return 0;
}

static void param_show(const char *word, char shown[RG_SHOWN_SIZE])
{
  size_t length = strlen(word), keep = RG_SHOWN_SIZE - 4;

  if (length < RG_SHOWN_SIZE) {
    strcpy(shown, word);
    return;
  }
  keep = rg_utf8_cut(word, keep);
  memcpy(shown, word, keep);
  strcpy(shown + keep, "...");
}

/* Infinite and huge limits count as absent, and so does a maximum below the minimum. Both zero:
   unbounded. */
static bool has_minimum(const RgParam *entry)
{
  if (entry->minimum == 0.0 && entry->maximum == 0.0) return false;
  return entry->minimum > (entry->type == RG_PARAM_INT ? (double)INT_MIN : -1e300);
}

static bool has_maximum(const RgParam *entry)
{
  if (entry->minimum == 0.0 && entry->maximum == 0.0) return false;
  if (entry->maximum < entry->minimum) return false;
  return entry->maximum < (entry->type == RG_PARAM_INT ? (double)INT_MAX : 1e300);
}

/* Append the range of a number: `in [0, 1]`, `> 0`, `>= 2`; nothing if unbounded. */
static PetscErrorCode param_range(const RgParam *entry, RgText *text)
{
  bool low = has_minimum(entry), high = has_maximum(entry);
  bool open = entry->minimum == RG_POSITIVE;

  if (low && high) {
    PetscCall(rg_text_add(text, "in %s", open ? "(" : "["));
    PetscCall(rg_text_add_real(text, open ? 0.0 : entry->minimum));
    PetscCall(rg_text_add(text, ", "));
    PetscCall(rg_text_add_real(text, entry->maximum));
    PetscCall(rg_text_add(text, "]"));
  } else if (low) {
    PetscCall(rg_text_add(text, open ? "> " : ">= "));
    PetscCall(rg_text_add_real(text, open ? 0.0 : entry->minimum));
  } else if (high) {
    PetscCall(rg_text_add(text, "<= "));
    PetscCall(rg_text_add_real(text, entry->maximum));
  }
  return 0;
}

/* Describe accepted values, e.g. `an integer in [1, 100]`; for REALS, one of the numbers. */
static PetscErrorCode add_accepted(const RgParam *entry, RgText *text)
{
  size_t before;

  switch (entry->type) {
  case RG_PARAM_BOOL: PetscCall(rg_text_add(text, "true or false")); break;
  case RG_PARAM_CHOICE:
    PetscCall(rg_text_add(text, "one of "));
    for (int i = 0; entry->choices[i]; i++)
      PetscCall(rg_text_add(text, "%s'%s'", i ? ", " : "", entry->choices[i]));
    break;
  case RG_PARAM_TEXT: PetscCall(rg_text_add(text, "a text")); break;
  case RG_PARAM_TEXTS: PetscCall(rg_text_add(text, "a text or a list of them")); break;
  case RG_PARAM_NAMED: PetscCall(rg_text_add(text, "a map of names to texts")); break;
  case RG_PARAM_PATH: PetscCall(rg_text_add(text, "a path")); break;
  case RG_PARAM_INT:
  case RG_PARAM_REAL:
  case RG_PARAM_REALS:
    PetscCall(rg_text_add(text, entry->type == RG_PARAM_INT ? "an integer " : "a number "));
    before = text->length;
    PetscCall(param_range(entry, text));
    if (text->length == before) text->data[--text->length] = '\0';
    if (entry->type == RG_PARAM_REALS) PetscCall(rg_text_add(text, " or a list of them"));
    break;
  case RG_PARAM_GROUP:
  case RG_PARAM_GONE: break;
  }
  if (param_allows_auto(entry)) PetscCall(rg_text_add(text, " or 'auto'"));
  return 0;
}

/* Write the message `'restarts' must be an integer in [1, 10000], got 'abc'`. */
static PetscErrorCode complain(const RgParam *entry, const char *word, RgText *problem)
{
  char shown[RG_SHOWN_SIZE];
  const char *nearest = NULL, *end;
  double value;

  param_show(word, shown);
  PetscCall(rg_text_add(problem, "'%s' must be ", entry->name));
  PetscCall(add_accepted(entry, problem));
  PetscCall(rg_text_add(problem, ", got '%s'", shown));
  const RgNumber number = rg_number_read(word, &end, &value);
  if (!*end && number == RG_NUMBER_TOO_SMALL)
    PetscCall(rg_text_add(problem, ", which is too small to be told from 0"));
  if (!*end && number == RG_NUMBER_TOO_LARGE)
    PetscCall(rg_text_add(problem, ", which is larger than any number here"));
  if (entry->type == RG_PARAM_CHOICE) nearest = rg_text_nearest(word, entry->choices);
  if (nearest) PetscCall(rg_text_add(problem, ", did you mean '%s'?", nearest));
  return 0;
}

static const char *skip_digits(const char *c)
{
  while (isdigit((unsigned char)*c)) c++;
  return c;
}

/* Whether a text is a decimal number as in YAML and C. strtod would also accept hexadecimal,
   nan, inf and leading blanks. Integers have neither a point nor a negative exponent. */
static bool is_decimal(const char *word, bool integer)
{
  const char *c = word + (*word == '+' || *word == '-');
  const char *whole = c;
  bool digits;

  c = skip_digits(c);
  digits = c > whole;
  if (*c == '.' && !integer) {
    const char *fraction = c + 1;
    c = skip_digits(fraction);
    digits = digits || c > fraction;
  }
  if (!digits) return false;
  if (*c == 'e' || *c == 'E') {
    const char *exponent;
    c++;
    if (*c == '+' || (*c == '-' && !integer)) c++;
    exponent = c;
    c = skip_digits(c);
    if (c == exponent) return false;
  }
  return *c == '\0';
}

static bool parse_number(const RgParam *entry, const char *word, double *value)
{
  bool integer = entry->type == RG_PARAM_INT;

  if (!is_decimal(word, integer)) return false;
  /* -0 becomes 0, so that equal values have equal canonical texts. */
  double number;
  if (!rg_number_only(word, &number) || (integer && (number < INT_MIN || number > INT_MAX)))
    return false;
  *value = number + 0.0;
  return !(has_minimum(entry) && number < entry->minimum) &&
         !(has_maximum(entry) && number > entry->maximum);
}

static bool parse_bool(const char *word, bool *value)
{
  static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};

  for (int i = 0; i < 6; i++) {
    if (strcasecmp(word, words[i]) == 0) {
      *value = i % 2 == 1;
      return true;
    }
  }
  return false;
}

static PetscErrorCode parse_reals(const RgParam *entry, RgReals *reals, int n,
                                  const char *const *values, RgText *problem)
{
  double *numbers;

  PetscCall(PetscMalloc1((size_t)n, &numbers));
  for (int i = 0; i < n && problem->length == 0; i++)
    if (!parse_number(entry, values[i], &numbers[i]))
      PetscCall(complain(entry, values[i], problem));
  if (problem->length) {
    PetscCall(PetscFree(numbers));
  } else {
    PetscCall(PetscFree(reals->values));
    reals->values = numbers;
    reals->n = n;
  }
  return 0;
}

/* Set a parameter that is not a list from one word other than `auto`. */
static PetscErrorCode parse_word(const RgParam *entry, RgParamField field, const char *word,
                                 RgText *problem)
{
  double number;
  bool fine = true;
  int choice = 0;

  switch (entry->type) {
  case RG_PARAM_BOOL: fine = parse_bool(word, field.boolean); break;
  case RG_PARAM_CHOICE:
    while (entry->choices[choice] && strcmp(entry->choices[choice], word)) choice++;
    fine = entry->choices[choice] != NULL;
    if (fine) *field.integer = choice;
    break;
  case RG_PARAM_INT:
    fine = parse_number(entry, word, &number);
    if (fine) *field.integer = (int)number;
    break;
  case RG_PARAM_REAL:
    fine = parse_number(entry, word, &number);
    if (fine) *field.real = number;
    break;
  case RG_PARAM_TEXT:
  case RG_PARAM_PATH:
    PetscCall(PetscFree(*field.text));
    PetscCall(PetscStrallocpy(word, field.text));
    break;
  case RG_PARAM_REALS:
  case RG_PARAM_TEXTS:
  case RG_PARAM_NAMED:
  case RG_PARAM_GROUP:
  case RG_PARAM_GONE: break;
  }
  if (!fine) PetscCall(complain(entry, word, problem));
  return 0;
}

/* Set the field from `n` words. After a mistake, `problem` (else empty) describes it and the
   field is unchanged. */
static PetscErrorCode param_parse(const RgParam *entry, void *options, int n,
                                  const char *const *values, RgText *problem)
{
  RgParamField field = rg_param_field(entry, options);

  if (n == 1 && param_allows_auto(entry) && strcmp(values[0], "auto") == 0) {
    PetscCall(param_reset(entry, options));
    if (entry->type == RG_PARAM_REAL) *field.real = NAN;
    if (entry->type == RG_PARAM_INT) *field.integer = -1;
    return 0;
  }
  if (n >= 1 && entry->type == RG_PARAM_REALS)
    return parse_reals(entry, field.reals, n, values, problem);
  if (n >= 1 && param_is_texts(entry)) {
    PetscCall(param_reset(entry, options));
    field.texts->n = n;
    return rg_names_copy(n, values, &field.texts->values);
  }
  if (n == 1) return parse_word(entry, field, values[0], problem);
  PetscCall(rg_text_add(problem, "'%s' must be ", entry->name));
  PetscCall(add_accepted(entry, problem));
  if (n == 0) return rg_text_add(problem, ", got an empty list");
  return rg_text_add(problem, ", got a list of %d values", n);
}

static PetscErrorCode add_row(const RgParam *entry, RgTable *table)
{
  static const char *const types[] = {
    [RG_PARAM_BOOL] = "bool",     [RG_PARAM_INT] = "integer", [RG_PARAM_REAL] = "real",
    [RG_PARAM_CHOICE] = "choice", [RG_PARAM_TEXT] = "text",   [RG_PARAM_REALS] = "reals",
    [RG_PARAM_TEXTS] = "texts",   [RG_PARAM_PATH] = "path",   [RG_PARAM_NAMED] = "map of texts"};
  RgText accepted = {0};

  if (entry->type == RG_PARAM_CHOICE)
    for (int i = 0; entry->choices[i]; i++)
      PetscCall(rg_text_add(&accepted, "%s%s", i ? " | " : "", entry->choices[i]));
  else if (entry->type == RG_PARAM_INT || entry->type == RG_PARAM_REAL ||
           entry->type == RG_PARAM_REALS)
    PetscCall(param_range(entry, &accepted));
  PetscCall(rg_table_add(table, "%s\v%s\v%s\v%s\v%s\v%s", entry->name, types[entry->type],
                         !entry->fallback   ? "required"
                         : *entry->fallback ? entry->fallback
                                            : "\"\"",
                         accepted.length ? accepted.data : "-",
                         entry->symbol && *entry->symbol ? entry->symbol : "-",
                         entry->doc ? entry->doc : ""));
  return rg_text_clear(&accepted);
}

/* Append the table of all parameters, or of those in the group called `title`. */
static PetscErrorCode add_rows(const RgParam *table, const char *title, RgText *text)
{
  RgTable rows = {.n_columns = 6,
                  .headings = {"name", "type", "default", "range", "symbol", "meaning"}};
  bool inside = !title;

  for (; table->name; table++) {
    if (title && table->type == RG_PARAM_GROUP) inside = !strcmp(table->name, title);
    if (inside && rg_is_param(table)) PetscCall(add_row(table, &rows));
  }
  return rg_table_print(&rows, text);
}

PetscErrorCode rg_params_describe(const RgParam *table, RgText *text)
{
  int n_groups = 0;

  for (const RgParam *group = table; group->name; group++) {
    bool seen = group->type != RG_PARAM_GROUP;
    for (const RgParam *other = table; other < group && !seen; other++)
      seen = other->type == RG_PARAM_GROUP && !strcmp(other->name, group->name);
    if (seen) continue;
    PetscCall(rg_text_add(text, "%s%s\n", n_groups++ ? "\n" : "", group->name));
    PetscCall(add_rows(table, group->name, text));
  }
  if (!n_groups) PetscCall(add_rows(table, NULL, text));
  return 0;
}

const RgParam *rg_params_find(const RgParam *table, const char *name)
{
  for (; table->name; table++)
    if (rg_is_param(table) && strcmp(table->name, name) == 0) return table;
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

  while (table[n].name) n++;
  PetscCall(PetscCalloc1((size_t)n + 1, &names));
  n = 0;
  for (; table->name; table++)
    if (rg_is_param(table)) names[n++] = table->name;
  nearest = rg_text_nearest(name, names);
  param_show(name, shown);
  if (nearest) {
    rg_diagnostics_add(diagnostics, place, "unknown key '%s', did you mean '%s'?", shown, nearest);
  } else if (n == 0) {
    rg_diagnostics_add(diagnostics, place, "unknown key '%s', no keys are accepted here", shown);
  } else {
    for (int i = 0; i < n; i++) PetscCall(rg_text_add(&known, "%s'%s'", i ? ", " : "", names[i]));
    rg_diagnostics_add(diagnostics, place, "unknown key '%s', known keys are %s", shown,
                       known.data);
  }
  PetscCall(rg_text_clear(&known));
  return PetscFree(names);
}

/* Resolve a path as RG_PARAM_PATH says. */
static PetscErrorCode resolve_path(const char *file, char **path)
{
  const char *end = file ? strrchr(file, '/') : NULL;
  RgText joined = {0};

  if (!end || !**path || **path == '/') return 0;
  PetscCall(rg_text_add(&joined, "%.*s%s", (int)(end + 1 - file), file, *path));
  if (access(joined.data, F_OK) == 0) {
    PetscCall(PetscFree(*path));
    PetscCall(PetscStrallocpy(joined.data, path));
  }
  return rg_text_clear(&joined);
}

PetscErrorCode rg_params_set(const RgParam *table, void *options, const char *name, int n,
                             const char *const *values, RgPlace place, RgDiagnostics *diagnostics,
                             const RgParam **entry)
{
  RgText problem = {0};
  const RgParam *found = rg_params_find(table, name);

  if (entry) *entry = found;
  if (!found) return report_unknown(table, name, place, diagnostics);
  PetscCall(param_parse(found, options, n, values, &problem));
  if (problem.length) rg_diagnostics_add(diagnostics, place, "%s", problem.data);
  else if (found->type == RG_PARAM_PATH)
    PetscCall(resolve_path(place.file, rg_param_field(found, options).text));
  return rg_text_clear(&problem);
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
  if ((entry->type == RG_PARAM_REALS || param_is_texts(entry)) && !param_allows_auto(entry)) {
    size_t length = strlen(entry->fallback);
    char *text;
    const char **words;
    PetscCall(PetscStrallocpy(entry->fallback, &text));
    PetscCall(PetscMalloc1(length + 1, &words));
    int n = split_list(text, (int)length, words);
    /* An empty list is a valid default, although not a valid input. */
    if (n) PetscCall(param_parse(entry, options, n, words, problem));
    PetscCall(PetscFree(words));
    PetscCall(PetscFree(text));
  } else {
    PetscCall(param_parse(entry, options, 1, &entry->fallback, problem));
  }
  return 0;
}

PetscErrorCode rg_params_defaults(const RgParam *table, void *options)
{
  RgText problem = {0};

  for (; table->name; table++) {
    PetscCall(param_reset(table, options));
    if (!table->fallback || !rg_is_param(table)) continue;
    PetscCall(set_default(table, options, &problem));
    bool valid = problem.length == 0;
    PetscCall(rg_text_clear(&problem));
    PetscCheck(valid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the default '%s' of '%s' is invalid",
               table->fallback, table->name);
  }
  return 0;
}

PetscErrorCode rg_params_clear(const RgParam *table, void *options)
{
  for (; table->name; table++) {
    const bool owns = table->type == RG_PARAM_TEXT || table->type == RG_PARAM_PATH ||
                      table->type == RG_PARAM_REALS || param_is_texts(table);
    if (owns) PetscCall(param_reset(table, options));
  }
  return 0;
}

/* Append a text in double quotes, with quotes, backslashes and control characters escaped. */
static PetscErrorCode add_quoted(RgText *text, const char *value)
{
  PetscCall(rg_text_add(text, "\""));
  for (const unsigned char *c = (const unsigned char *)value; *c; c++)
    if (*c == '"' || *c == '\\') PetscCall(rg_text_add(text, "\\%c", *c));
    else if (*c < 0x20 || *c == 0x7F) PetscCall(rg_text_add(text, "\\x%02x", *c));
    else PetscCall(rg_text_add_bytes(text, (const char *)c, 1));
  return rg_text_add(text, "\"");
}

/* Append a list of texts or of reals. */
static PetscErrorCode add_list(RgText *text, int n, char *const *texts, const double *reals)
{
  PetscCall(rg_text_add(text, "["));
  for (int i = 0; i < n; i++) {
    if (i) PetscCall(rg_text_add(text, ","));
    if (texts) PetscCall(add_quoted(text, texts[i]));
    else PetscCall(rg_text_add_real(text, reals[i]));
  }
  return rg_text_add(text, "]");
}

static bool is_auto(const RgParam *entry, RgParamField field)
{
  if (!param_allows_auto(entry)) return false;
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
  if (is_auto(entry, field)) return rg_text_add(text, "auto");
  switch (entry->type) {
  case RG_PARAM_BOOL: PetscCall(rg_text_add(text, "%s", *field.boolean ? "true" : "false")); break;
  case RG_PARAM_INT: PetscCall(rg_text_add(text, "%d", *field.integer)); break;
  case RG_PARAM_REAL: PetscCall(rg_text_add_real(text, *field.real)); break;
  case RG_PARAM_CHOICE: PetscCall(rg_text_add(text, "%s", entry->choices[*field.integer])); break;
  case RG_PARAM_TEXT:
  case RG_PARAM_PATH:
    if (*field.text) PetscCall(add_quoted(text, *field.text));
    else PetscCall(rg_text_add(text, "none"));
    break;
  case RG_PARAM_REALS: PetscCall(add_list(text, field.reals->n, NULL, field.reals->values)); break;
  case RG_PARAM_TEXTS:
  case RG_PARAM_NAMED: PetscCall(add_list(text, field.texts->n, field.texts->values, NULL)); break;
  case RG_PARAM_GROUP: break;
  case RG_PARAM_GONE: PetscCall(rg_text_add(text, "%s", entry->fallback)); break;
  }
  return 0;
}

/* The text omits the layout over ranks, and what was added later while it is at its default. */
PetscErrorCode rg_params_canonical(const RgParam *table, const void *options, RgText *text)
{
  const size_t before = text->length;

  for (const RgParam *entry = table; entry->name; entry++) {
    /* The cast serves a union that writers share; this view only reads. */
    const RgParamField field = rg_param_field(entry, (void *)(uintptr_t)options);

    const bool later = entry->minimum == RG_LATER;
    bool silent = entry->type == RG_PARAM_GROUP;

    if (entry->type == RG_PARAM_CHOICE)
      silent = later && !strcmp(entry->choices[*field.integer], entry->fallback);
    else if (entry->type == RG_PARAM_BOOL) silent = later && !*field.boolean;
    else if (!silent)
      silent = entry->choices == rg_param_layout ||
               (entry->choices == rg_param_later && is_auto(entry, field));
    if (silent) continue;
    PetscCall(rg_text_add(text, "%s%s=", text->length > before ? "," : "", entry->name));
    PetscCall(add_value(entry, field, text));
  }
  return 0;
}
