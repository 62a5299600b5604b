/* Shared parts of the expression parsers: white space, expected characters, the first mistake. */
#include "maths/expression.h"
#include "base/grow.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rg_expression_failed(const RgExpression *expression)
{
  return expression->mistake->data != NULL;
}

PetscErrorCode rg_expression_mistake(RgExpression *expression, const char *where,
                                     const char *format, ...)
{
  char what[512];
  va_list arguments;

  if (rg_expression_failed(expression)) return 0;
  va_start(arguments, format);
  rg_format_list(what, sizeof(what), format, arguments);
  va_end(arguments);
  return rg_text_add(expression->mistake, "column %d: %s", (int)(where - expression->text) + 1,
                     what);
}

char rg_expression_next(RgExpression *expression)
{
  while (isspace((unsigned char)*expression->at)) expression->at++;
  return *expression->at;
}

bool rg_expression_accept(RgExpression *expression, char c)
{
  if (rg_expression_failed(expression) || rg_expression_next(expression) != c) return false;
  expression->at++;
  return true;
}

PetscErrorCode rg_expression_expect(RgExpression *expression, char c)
{
  if (rg_expression_accept(expression, c)) return 0;
  if (rg_expression_next(expression))
    return rg_expression_mistake(expression, expression->at, "'%c' expected before '%.20s'", c,
                                 expression->at);
  return rg_expression_mistake(expression, expression->at, "'%c' expected at the end", c);
}

PetscErrorCode rg_expression_expect_end(RgExpression *expression, const char *what)
{
  if (!rg_expression_failed(expression) && rg_expression_next(expression))
    PetscCall(rg_expression_mistake(expression, expression->at,
                                    "nothing expected after the %s, found '%.20s'", what,
                                    expression->at));
  return 0;
}

enum { MAX_STEPS = 200, MAX_DEPTH = 30, MAX_NAME = 64 };

typedef enum { NUMBER, NAME, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, NEGATE, FUNCTION } Kind;

static const struct {
  const char *name;
  double (*one)(double);         /* function of one argument; NULL: two arguments */
  double (*two)(double, double); /* function of two arguments */
} functions[] = {{"abs", fabs, NULL}, {"exp", exp, NULL}, {"log", log, NULL},  {"sqrt", sqrt, NULL},
                 {"sin", sin, NULL},  {"cos", cos, NULL}, {"min", NULL, fmin}, {"max", NULL, fmax}};
enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

typedef struct {
  RgExpression *text;
  int n_names;
  const char *const *names;
  RgArithmetic *out;
} Parser;

static PetscErrorCode sum(Parser *parser);

static PetscErrorCode add_step(Parser *parser, int kind, double value, int name)
{
  RgArithmetic *out = parser->out;

  if (out->n == MAX_STEPS)
    PetscCall(rg_expression_mistake(parser->text, parser->text->at,
                                    "the formula has more than %d numbers, names and operations",
                                    MAX_STEPS));
  if (rg_expression_failed(parser->text)) return 0;
  PetscCall(RG_GROW(out->n, out->steps));
  out->steps[out->n++] = (RgArithmeticStep){kind, value, name};
  return 0;
}

/* A name of an input or a function. */
static PetscErrorCode word(Parser *parser)
{
  const char *start = parser->text->at;
  char name[MAX_NAME] = "";
  int length = 0;

  while (isalnum((unsigned char)start[length]) || start[length] == '_') length++;
  memcpy(name, start, (size_t)PetscMin(length, MAX_NAME - 1));
  parser->text->at += length;
  for (int i = 0; i < parser->n_names; i++) {
    if (strcmp(parser->names[i], name)) continue;
    return add_step(parser, NAME, 0, i);
  }
  for (int i = 0; i < N_FUNCTIONS; i++) {
    if (strcmp(functions[i].name, name)) continue;
    PetscCall(rg_expression_expect(parser->text, '('));
    PetscCall(sum(parser));
    if (functions[i].two) {
      PetscCall(rg_expression_expect(parser->text, ','));
      PetscCall(sum(parser));
    }
    PetscCall(rg_expression_expect(parser->text, ')'));
    return add_step(parser, FUNCTION, 0, i);
  }
  RgText known = {0};
  for (int i = 0; i < parser->n_names && known.length < 200; i++)
    PetscCall(rg_text_add(&known, "%s%s", i ? ", " : "", parser->names[i]));
  PetscCall(rg_expression_mistake(parser->text, start, "unknown name '%s'; the inputs are %s", name,
                                  known.length ? known.data : "none"));
  return rg_text_clear(&known);
}

static PetscErrorCode atom(Parser *parser)
{
  const char first = rg_expression_next(parser->text), *start = parser->text->at;
  const char *end;
  double value;

  if (rg_expression_failed(parser->text)) return 0;
  if (isalpha((unsigned char)first)) {
    PetscCall(word(parser));
  } else if (rg_expression_accept(parser->text, '(')) {
    PetscCall(sum(parser));
    PetscCall(rg_expression_expect(parser->text, ')'));
  } else if (isdigit((unsigned char)first) || first == '.') {
    if (rg_number_read(start, &end, &value) != RG_NUMBER_READ)
      PetscCall(rg_expression_mistake(parser->text, start, "'%.20s' is no number", start));
    parser->text->at = end;
    PetscCall(add_step(parser, NUMBER, value, 0));
  } else {
    PetscCall(rg_expression_mistake(parser->text, start,
                                    first ? "a number, a name or '(' expected, found '%.20s'"
                                          : "a number, a name or '(' expected at the end%s",
                                    start));
  }
  return 0;
}

/* A sign, then an atom, perhaps with an exponent. */
static PetscErrorCode factor(Parser *parser)
{
  if (++parser->text->depth > MAX_DEPTH)
    PetscCall(
      rg_expression_mistake(parser->text, parser->text->at, "nested more than %d deep", MAX_DEPTH));
  if (rg_expression_failed(parser->text)) return 0;
  if (rg_expression_accept(parser->text, '-')) {
    PetscCall(factor(parser));
    PetscCall(add_step(parser, NEGATE, 0, 0));
  } else {
    PetscCall(atom(parser));
    if (rg_expression_accept(parser->text, '^')) {
      PetscCall(factor(parser));
      PetscCall(add_step(parser, POWER, 0, 0));
    }
  }
  parser->text->depth--;
  return 0;
}

static PetscErrorCode product(Parser *parser)
{
  PetscCall(factor(parser));
  for (;;) {
    const bool times = rg_expression_accept(parser->text, '*');
    if (!times && !rg_expression_accept(parser->text, '/')) break;
    PetscCall(factor(parser));
    PetscCall(add_step(parser, times ? MULTIPLY : DIVIDE, 0, 0));
  }
  return 0;
}

static PetscErrorCode sum(Parser *parser)
{
  PetscCall(product(parser));
  for (;;) {
    const bool plus = rg_expression_accept(parser->text, '+');
    if (!plus && !rg_expression_accept(parser->text, '-')) break;
    PetscCall(product(parser));
    PetscCall(add_step(parser, plus ? ADD : SUBTRACT, 0, 0));
  }
  return 0;
}

PetscErrorCode rg_arithmetic_parse(RgExpression *text, int n_names, const char *const *names,
                                   RgArithmetic *arithmetic)
{
  Parser parser = {text, n_names, names, arithmetic};

  *arithmetic = (RgArithmetic){0};
  PetscCall(sum(&parser));
  if (rg_expression_failed(text)) arithmetic->n = 0;
  return 0;
}

PetscErrorCode rg_arithmetic_parse_inputs(RgExpression *parser, const RgSpace *design,
                                          RgArithmetic *arithmetic)
{
  const char **names;
  char(*numbered)[16];

  PetscCall(PetscMalloc2(design->dim, &names, design->dim, &numbered));
  for (int j = 0; j < design->dim; j++) {
    snprintf(numbered[j], sizeof(numbered[j]), "x%d", j + 1);
    names[j] = design->inputs ? design->inputs[j].name : numbered[j];
  }
  PetscCall(rg_arithmetic_parse(parser, design->dim, names, arithmetic));
  return PetscFree2(names, numbered);
}

PetscErrorCode rg_arithmetic_clear(RgArithmetic *arithmetic)
{
  PetscCall(PetscFree(arithmetic->steps));
  *arithmetic = (RgArithmetic){0};
  return 0;
}

double rg_arithmetic_value(const RgArithmetic *arithmetic, const double *values)
{
  double stack[MAX_STEPS];
  int top = -1;

  for (int i = 0; i < arithmetic->n; i++) {
    const RgArithmeticStep *step = &arithmetic->steps[i];
    const Kind kind = (Kind)step->kind;
    if (kind == NUMBER || kind == NAME) top++;
    else if (kind != NEGATE && !(kind == FUNCTION && functions[step->name].one)) top--;
    double *at = &stack[top];
    switch (kind) {
    case NUMBER: *at = step->value; break;
    case NAME: *at = values[step->name]; break;
    case ADD: *at = at[0] + at[1]; break;
    case SUBTRACT: *at = at[0] - at[1]; break;
    case MULTIPLY: *at = at[0] * at[1]; break;
    case DIVIDE: *at = at[0] / at[1]; break;
    case POWER: *at = pow(at[0], at[1]); break;
    case NEGATE: *at = -*at; break;
    case FUNCTION:
      *at = functions[step->name].one ? functions[step->name].one(*at)
                                      : functions[step->name].two(at[0], at[1]);
      break;
    }
  }
  return top < 0 ? NAN : stack[0];
}
