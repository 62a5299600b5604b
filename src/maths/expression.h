/* What parsers of expressions share: laws (distribution.h) and measures (regatta/measure.h). */
#ifndef RG_MATHS_EXPRESSION_H
#define RG_MATHS_EXPRESSION_H

#include "base/text.h"

/* A text being read. Initialise with text, at = text and mistake. */
typedef struct {
  const char *text, *at; /* all of it; what is not read yet */
  int depth;             /* for the parser's use */
  RgText *mistake;       /* of the caller; non-empty after the first mistake */
} RgExpression;

bool rg_expression_failed(const RgExpression *expression);
/* Note a mistake at `where`: "column 3: ...". The first one counts. */
PetscErrorCode rg_expression_mistake(RgExpression *expression, const char *where,
                                     const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The next character that is no white space, which is skipped; 0 at the end. */
char rg_expression_next(RgExpression *expression);
/* Whether that is `c`, which is read then; never after a mistake. */
bool rg_expression_accept(RgExpression *expression, char c);
/* Anything but `c` is a mistake. */
PetscErrorCode rg_expression_expect(RgExpression *expression, char c);

#endif
