/* Shared parts of the expression parsers: white space, expected characters, the first mistake. */
#include "maths/expression.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/number.h"

bool rg_expression_failed(const RgExpression *expression)
{
  return expression->mistake->data != NULL;
}

PetscErrorCode rg_expression_mistake(RgExpression *expression, const char *where,
                                     const char *format, ...)
{
  char what[512];
  va_list arguments;

  PetscFunctionBeginUser;
  if (rg_expression_failed(expression)) PetscFunctionReturn(0);
  va_start(arguments, format);
  rg_format_list(what, sizeof(what), format, arguments);
  va_end(arguments);
  PetscCall(
    rg_text_add(expression->mistake, "column %d: %s", (int)(where - expression->text) + 1, what));
  PetscFunctionReturn(0);
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
  PetscFunctionBeginUser;
  if (rg_expression_accept(expression, c)) PetscFunctionReturn(0);
  if (rg_expression_next(expression))
    PetscCall(rg_expression_mistake(expression, expression->at, "'%c' expected before '%.20s'", c,
                                    expression->at));
  else PetscCall(rg_expression_mistake(expression, expression->at, "'%c' expected at the end", c));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_expression_expect_end(RgExpression *expression, const char *what)
{
  PetscFunctionBeginUser;
  if (!rg_expression_failed(expression) && rg_expression_next(expression))
    PetscCall(rg_expression_mistake(expression, expression->at,
                                    "nothing expected after the %s, found '%.20s'", what,
                                    expression->at));
  PetscFunctionReturn(0);
}
