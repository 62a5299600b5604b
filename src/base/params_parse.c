/* Conversion of texts in a study file to values of parameters. */
#include "base/params_internal.h"
#include "base/number.h"
#include "base/text.h"
#include "base/unicode.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void rg_param_show(const char *word, char shown[RG_SHOWN_SIZE])
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

static bool in_range(const RgParam *entry, double value)
{
  if (has_minimum(entry) && value < entry->minimum) return false;
  return !(has_maximum(entry) && value > entry->maximum);
}

PetscErrorCode rg_param_range(const RgParam *entry, RgText *text)
{
  bool low = has_minimum(entry), high = has_maximum(entry);
  bool open = entry->minimum == RG_POSITIVE;

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

/* Describe accepted values, e.g. `an integer in [1, 100]`; for REALS, one of the numbers. */
static PetscErrorCode add_accepted(const RgParam *entry, RgText *text)
{
  size_t before;

  PetscFunctionBeginUser;
  switch (entry->type) {
  case RG_PARAM_BOOL: PetscCall(rg_text_add(text, "true or false")); break;
  case RG_PARAM_CHOICE:
    PetscCall(rg_text_add(text, "one of "));
    for (int i = 0; entry->choices[i]; i++) {
      PetscCall(rg_text_add(text, "%s'%s'", i ? ", " : "", entry->choices[i]));
    }
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
    PetscCall(rg_param_range(entry, text));
    if (text->length == before) text->data[--text->length] = '\0';
    if (entry->type == RG_PARAM_REALS) PetscCall(rg_text_add(text, " or a list of them"));
    break;
  case RG_PARAM_GROUP:
  case RG_PARAM_GONE: break;
  }
  if (rg_param_allows_auto(entry)) PetscCall(rg_text_add(text, " or 'auto'"));
  PetscFunctionReturn(0);
}

/* Write the message `'restarts' must be an integer in [1, 10000], got 'abc'`. */
static PetscErrorCode complain(const RgParam *entry, const char *word, RgText *problem)
{
  char shown[RG_SHOWN_SIZE];
  const char *nearest = NULL, *end;
  double value;

  PetscFunctionBeginUser;
  rg_param_show(word, shown);
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
  PetscFunctionReturn(0);
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
  return in_range(entry, number);
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

static bool parse_choice(const RgParam *entry, const char *word, int *value)
{
  for (int i = 0; entry->choices[i]; i++) {
    if (strcmp(entry->choices[i], word) == 0) {
      *value = i;
      return true;
    }
  }
  return false;
}

static PetscErrorCode parse_reals(const RgParam *entry, RgReals *reals, int n,
                                  const char *const *values, RgText *problem)
{
  double *numbers;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)n, &numbers));
  for (int i = 0; i < n && problem->length == 0; i++) {
    if (!parse_number(entry, values[i], &numbers[i])) {
      PetscCall(complain(entry, values[i], problem));
    }
  }
  if (problem->length) {
    PetscCall(PetscFree(numbers));
  } else {
    PetscCall(PetscFree(reals->values));
    reals->values = numbers;
    reals->n = n;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode parse_texts(const RgParam *entry, void *options, int n,
                                  const char *const *values)
{
  RgTexts *texts = rg_param_field(entry, options).texts;

  PetscFunctionBeginUser;
  PetscCall(rg_param_reset(entry, options));
  PetscCall(rg_param_copy_texts(n, values, &texts->values));
  texts->n = n;
  PetscFunctionReturn(0);
}

static PetscErrorCode set_auto(const RgParam *entry, void *options)
{
  RgParamField field = rg_param_field(entry, options);

  PetscFunctionBeginUser;
  PetscCall(rg_param_reset(entry, options));
  if (entry->type == RG_PARAM_REAL) *field.real = NAN;
  if (entry->type == RG_PARAM_INT) *field.integer = -1;
  PetscFunctionReturn(0);
}

/* Set a parameter that is not a list from one word other than `auto`. */
static PetscErrorCode parse_word(const RgParam *entry, RgParamField field, const char *word,
                                 RgText *problem)
{
  double number;
  bool fine = true;

  PetscFunctionBeginUser;
  switch (entry->type) {
  case RG_PARAM_BOOL: fine = parse_bool(word, field.boolean); break;
  case RG_PARAM_CHOICE: fine = parse_choice(entry, word, field.integer); break;
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
  PetscFunctionReturn(0);
}

PetscErrorCode rg_param_parse(const RgParam *entry, void *options, int n, const char *const *values,
                              RgText *problem)
{
  RgParamField field = rg_param_field(entry, options);

  PetscFunctionBeginUser;
  if (n == 1 && rg_param_allows_auto(entry) && strcmp(values[0], "auto") == 0) {
    PetscCall(set_auto(entry, options));
  } else if (n >= 1 && entry->type == RG_PARAM_REALS) {
    PetscCall(parse_reals(entry, field.reals, n, values, problem));
  } else if (n >= 1 && rg_param_is_texts(entry)) {
    PetscCall(parse_texts(entry, options, n, values));
  } else if (n == 1) {
    PetscCall(parse_word(entry, field, values[0], problem));
  } else {
    PetscCall(rg_text_add(problem, "'%s' must be ", entry->name));
    PetscCall(add_accepted(entry, problem));
    if (n == 0) {
      PetscCall(rg_text_add(problem, ", got an empty list"));
    } else {
      PetscCall(rg_text_add(problem, ", got a list of %d values", n));
    }
  }
  PetscFunctionReturn(0);
}
