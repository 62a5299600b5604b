/* Measures as expressions: a recursive-descent parser. */
#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"
#include "maths/expression.h"
#include "regatta/measure.h"
#include "robust/measure_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static PetscErrorCode print_sum(const RgMeasure *measure, RgText *text)
{
  for (int i = 0; i < measure->n_parts; i++) {
    const double coefficient = measure->coefficients[i];
    if (coefficient < 0.0) PetscCall(rg_text_add(text, i ? " - " : "-"));
    else if (i) PetscCall(rg_text_add(text, " + "));
    if (fabs(coefficient) != 1.0) {
      PetscCall(rg_text_add_real(text, fabs(coefficient)));
      PetscCall(rg_text_add(text, "*"));
    }
    PetscCall(rg_measure_print(&measure->parts[i], text));
  }
  if (measure->constant != 0.0) {
    PetscCall(rg_text_add(text, measure->constant < 0.0 ? " - " : " + "));
    PetscCall(rg_text_add_real(text, fabs(measure->constant)));
  }
  return 0;
}

static PetscErrorCode print_ambiguity(const RgMeasure *measure, RgText *text)
{
  if (measure->parameter > 0.0) {
    PetscCall(rg_text_add(text, ", l1 = "));
    PetscCall(rg_text_add_real(text, measure->parameter));
  }
  if (measure->nominal) PetscCall(rg_text_add(text, ", nominal"));
  for (int k = 0; k < measure->n_pmfs; k++) {
    for (int i = 0; i < measure->pmf_size; i++) {
      PetscCall(rg_text_add(text, i ? ", " : ", pmf("));
      PetscCall(rg_text_add_real(text, measure->pmfs[(size_t)k * measure->pmf_size + i]));
    }
    PetscCall(rg_text_add(text, ")"));
  }
  return 0;
}

PetscErrorCode rg_measure_print(const RgMeasure *measure, RgText *text)
{
  if (measure->kind == RG_MEASURE_SUM) return print_sum(measure, text);
  const RgMeasureClass *class = rg_measure_class(measure->kind);
  const RgMeasureArguments form = class->arguments;
  PetscCall(rg_text_add(text, "%s", class->about.name));
  if (form == RG_MEASURE_ALONE) return 0;
  PetscCall(rg_text_add(text, "("));
  if (measure->n_parts) PetscCall(rg_measure_print(measure->parts, text));
  else PetscCall(rg_text_add_real(text, measure->parameter));
  if (form == RG_MEASURE_OF_AMBIGUITY) PetscCall(print_ambiguity(measure, text));
  if (form == RG_MEASURE_OF_LIMITS) {
    PetscCall(rg_text_add(text, ", "));
    PetscCall(rg_text_add_real(text, measure->parameter));
    PetscCall(rg_text_add(text, ", "));
    PetscCall(rg_text_add_real(text, measure->most));
  }
  PetscCall(rg_text_add(text, ")"));
  return 0;
}

enum { N_NAMES = RG_MEASURE_SUM, MAX_NAME = 32, MAX_DEPTH = 32 };

static PetscErrorCode parse_sum(RgExpression *parser, RgMeasure *measure);

static bool starts_number(RgExpression *parser)
{
  char c = rg_expression_next(parser);

  return isdigit((unsigned char)c) || c == '.';
}

/* Parse a number without sign, in decimal notation. */
static PetscErrorCode parse_number(RgExpression *parser, double *value)
{
  const char *end;

  *value = 0.0;
  if (rg_expression_failed(parser)) return 0;
  if (!starts_number(parser)) {
    return rg_expression_mistake(parser, parser->at, "a number expected%s%.20s%s",
                                 *parser->at ? " instead of '" : "", parser->at,
                                 *parser->at ? "'" : "");
  }
  if (rg_number_read(parser->at, &end, value) != RG_NUMBER_READ || isalpha((unsigned char)*end))
    PetscCall(rg_expression_mistake(parser, parser->at, "'%.20s' is not a number", parser->at));
  parser->at = end;
  return 0;
}

static PetscErrorCode parse_signed(RgExpression *parser, double *value)
{
  const bool negative = rg_expression_accept(parser, '-');

  PetscCall(parse_number(parser, value));
  if (negative) *value = -*value;
  return 0;
}

/* A word of letters, digits and '_'; empty if the next character starts none. */
static void parse_word(RgExpression *parser, char word[MAX_NAME])
{
  int n = 0;

  rg_expression_next(parser);
  while (isalnum((unsigned char)*parser->at) || *parser->at == '_') {
    if (n < MAX_NAME - 1) word[n++] = *parser->at;
    parser->at++;
  }
  word[n] = 0;
}

static PetscErrorCode add_part(RgMeasure *measure, double coefficient, const RgMeasure *part)
{
  size_t n = (size_t)measure->n_parts;

  PetscCall(PetscRealloc((n + 1) * sizeof *measure->parts, &measure->parts));
  PetscCall(PetscRealloc((n + 1) * sizeof *measure->coefficients, &measure->coefficients));
  measure->parts[n] = *part;
  measure->coefficients[n] = coefficient;
  measure->n_parts++;
  return 0;
}

/* The measure in parentheses or after a comma. It becomes the only part of `measure`. */
static PetscErrorCode parse_base(RgExpression *parser, RgMeasure *measure)
{
  RgMeasure base;

  PetscCall(parse_sum(parser, &base));
  return add_part(measure, 1.0, &base);
}

static PetscErrorCode parse_pmf(RgExpression *parser, const char *begin, RgMeasure *measure)
{
  double *list = NULL, total = 0.0;
  int n = 0;

  PetscCall(rg_expression_expect(parser, '('));
  do {
    PetscCall(PetscRealloc((n + 1) * sizeof *list, &list));
    PetscCall(parse_number(parser, &list[n]));
    total += list[n++];
  } while (rg_expression_accept(parser, ','));
  PetscCall(rg_expression_expect(parser, ')'));
  if (!rg_expression_failed(parser) && fabs(total - 1.0) > 1e-9)
    PetscCall(rg_expression_mistake(parser, begin,
                                    "the probabilities of pmf add up to %.12g, not 1", total));
  if (!rg_expression_failed(parser) && measure->n_pmfs && measure->pmf_size != n)
    PetscCall(rg_expression_mistake(parser, begin, "pmf has %d probabilities, the one before %d", n,
                                    measure->pmf_size));
  if (!rg_expression_failed(parser)) {
    const size_t held = (size_t)measure->n_pmfs * n;
    PetscCall(PetscRealloc((held + n) * sizeof *measure->pmfs, &measure->pmfs));
    PetscCall(PetscArraycpy(measure->pmfs + held, list, n));
    measure->pmf_size = n;
    measure->n_pmfs++;
  }
  return PetscFree(list);
}

/* Parse the arguments of `robust` after the first. */
static PetscErrorCode parse_ambiguity(RgExpression *parser, RgMeasure *measure)
{
  char word[MAX_NAME];

  do {
    PetscCall(rg_expression_expect(parser, ','));
    rg_expression_next(parser);
    const char *begin = parser->at;
    parse_word(parser, word);
    if (!strcmp(word, "nominal")) {
      measure->nominal = true;
    } else if (!strcmp(word, "pmf")) {
      PetscCall(parse_pmf(parser, begin, measure));
    } else if (!strcmp(word, "l1")) {
      PetscCall(rg_expression_expect(parser, '='));
      PetscCall(parse_number(parser, &measure->parameter));
      if (!(measure->parameter > 0.0 && measure->parameter <= 2.0))
        PetscCall(rg_expression_mistake(parser, begin, "l1 is %g; accepted: above 0, at most 2",
                                        measure->parameter));
      if (measure->parts->kind != RG_MEASURE_EXPECTATION)
        PetscCall(rg_expression_mistake(parser, begin, "an L1 ball goes with 'expectation' only"));
    } else
      PetscCall(rg_expression_mistake(parser, begin, "'nominal', 'pmf(..)' or 'l1 = ..' expected"));
  } while (!rg_expression_failed(parser) && rg_expression_next(parser) == ',');
  if (measure->parameter > 0.0 && (measure->nominal || measure->n_pmfs))
    PetscCall(rg_expression_mistake(parser, parser->at,
                                    "either an L1 ball or a list of probabilities, not both"));
  return 0;
}

/* ---- names, factors, sums ---------------------------------------------------------------- */

static PetscErrorCode parse_parameters(RgExpression *parser, const char *begin, RgMeasure *measure)
{
  const RgMeasureClass *class = rg_measure_class(measure->kind);
  const RgMeasureInfo *info = &class->about;

  if (class->arguments == RG_MEASURE_ALONE) return 0;
  if (!rg_expression_accept(parser, '(')) {
    return rg_expression_mistake(parser, begin, "'%s' is written %s%s", info->name, info->usage,
                                 measure->kind == RG_MEASURE_VAR ? "; 'variance' is the variance"
                                                                 : "");
  }
  switch (class->arguments) {
  case RG_MEASURE_OF_LEVEL:
    PetscCall(parse_number(parser, &measure->parameter));
    if (!(measure->parameter > 0.0 && measure->parameter < 1.0))
      PetscCall(rg_expression_mistake(parser, begin,
                                      "alpha of '%s' is %g; accepted: between 0 and 1", info->name,
                                      measure->parameter));
    break;
  case RG_MEASURE_OF_NUMBER: PetscCall(parse_signed(parser, &measure->parameter)); break;
  case RG_MEASURE_OF_LIMITS:
    PetscCall(parse_base(parser, measure));
    PetscCall(rg_expression_expect(parser, ','));
    PetscCall(parse_signed(parser, &measure->parameter));
    PetscCall(rg_expression_expect(parser, ','));
    PetscCall(parse_signed(parser, &measure->most));
    if (!(measure->parameter < measure->most))
      PetscCall(rg_expression_mistake(parser, begin,
                                      "the limits of '%s' are %g and %g; the first must be smaller",
                                      info->name, measure->parameter, measure->most));
    break;
  case RG_MEASURE_OF_AMBIGUITY:
    PetscCall(parse_base(parser, measure));
    PetscCall(parse_ambiguity(parser, measure));
    break;
  case RG_MEASURE_OF_MEASURE: PetscCall(parse_base(parser, measure)); break;
  case RG_MEASURE_ALONE: break;
  }
  PetscCall(rg_expression_expect(parser, ')'));
  return 0;
}

static PetscErrorCode unknown_name(RgExpression *parser, const char *begin, const char *word)
{
  const char *names[N_NAMES + 1] = {0}, *nearest;
  RgText known = {0};

  for (int k = 0; k < N_NAMES; k++) {
    names[k] = rg_measure_info(k)->name;
    PetscCall(rg_text_add(&known, "%s%s", k ? ", " : "", names[k]));
  }
  nearest = *word ? rg_text_nearest(word, names) : NULL;
  if (!*word)
    PetscCall(rg_expression_mistake(parser, begin, "a measure expected%s%.20s%s",
                                    *begin ? " instead of '" : " at the end", begin,
                                    *begin ? "'" : ""));
  else if (nearest)
    PetscCall(rg_expression_mistake(parser, begin, "no measure is called '%s', did you mean '%s'?",
                                    word, nearest));
  else
    PetscCall(
      rg_expression_mistake(parser, begin, "no measure is called '%s' (%s)", word, known.data));
  return rg_text_clear(&known);
}

static PetscErrorCode parse_factor(RgExpression *parser, RgMeasure *measure)
{
  char word[MAX_NAME];
  int kind = 0;

  *measure = (RgMeasure){0};
  if (rg_expression_accept(parser, '(')) {
    PetscCall(parse_sum(parser, measure));
    PetscCall(rg_expression_expect(parser, ')'));
    return 0;
  }
  rg_expression_next(parser);
  const char *begin = parser->at;
  parse_word(parser, word);
  while (kind < N_NAMES && strcmp(word, rg_measure_info(kind)->name)) kind++;
  if (kind == N_NAMES) return unknown_name(parser, begin, word);
  measure->kind = (RgMeasureKind)kind;
  return parse_parameters(parser, begin, measure);
}

/* Add coefficient * term to a sum; a term that is a sum itself is taken apart. */
static PetscErrorCode add_term(RgMeasure *total, double coefficient, RgMeasure *term)
{
  if (term->kind != RG_MEASURE_SUM) return add_part(total, coefficient, term);
  total->constant += coefficient * term->constant;
  for (int i = 0; i < term->n_parts; i++)
    PetscCall(add_part(total, coefficient * term->coefficients[i], &term->parts[i]));
  return RG_FREE(&term->parts, &term->coefficients); /* the contents have moved */
}

/* One term of a sum: number, number * factor, or factor. */
static PetscErrorCode parse_term(RgExpression *parser, double sign, RgMeasure *total)
{
  double number = 1.0;
  RgMeasure term;

  if (starts_number(parser)) {
    PetscCall(parse_number(parser, &number));
    if (!rg_expression_accept(parser, '*')) {
      total->constant += sign * number;
      return 0;
    }
  }
  PetscCall(parse_factor(parser, &term));
  return add_term(total, sign * number, &term);
}

static PetscErrorCode parse_sum(RgExpression *parser, RgMeasure *measure)
{
  RgMeasure total = {.kind = RG_MEASURE_SUM};

  rg_expression_next(parser);
  const char *begin = parser->at;
  if (++parser->depth > MAX_DEPTH)
    PetscCall(rg_expression_mistake(parser, begin, "nested deeper than %d", MAX_DEPTH));
  double sign = rg_expression_accept(parser, '-') ? -1.0 : 1.0;
  while (!rg_expression_failed(parser)) {
    PetscCall(parse_term(parser, sign, &total));
    if (rg_expression_accept(parser, '+')) sign = 1.0;
    else if (rg_expression_accept(parser, '-')) sign = -1.0;
    else break;
  }
  parser->depth--;
  if (total.n_parts == 0)
    PetscCall(rg_expression_mistake(parser, begin, "a number alone is no measure"));
  if (total.n_parts == 1 && total.coefficients[0] == 1.0 && total.constant == 0.0) {
    *measure = total.parts[0];
    return RG_FREE(&total.parts, &total.coefficients);
  }
  *measure = total;
  return 0;
}

PetscErrorCode rg_measure_parse(const char *text, RgMeasure *measure, RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscCall(rg_text_clear(mistake));
  PetscCall(parse_sum(&parser, measure));
  if (!rg_expression_failed(&parser) && rg_expression_next(&parser))
    PetscCall(rg_expression_mistake(&parser, parser.at,
                                    "'+', '-' or the end expected before '%.20s'", parser.at));
  if (rg_expression_failed(&parser)) PetscCall(rg_measure_destroy(measure));
  return 0;
}

PetscErrorCode rg_measure_create(const char *text, RgMeasure *measure)
{
  RgText mistake = {0};

  PetscCall(rg_measure_parse(text, measure, &mistake));
  PetscCheck(!mistake.data, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "measure \"%s\": %s", text,
             mistake.data);
  return 0;
}

PetscErrorCode rg_measure_canonical(const char *text, char **canonical)
{
  RgMeasure measure;
  RgText printed = {0};

  PetscCall(rg_measure_create(text, &measure));
  PetscCall(rg_measure_print(&measure, &printed));
  *canonical = printed.data; /* ownership moved to the caller */
  return rg_measure_destroy(&measure);
}
