/* Shared parts of the expression parsers: laws (distribution.h) and measures
   (regatta/measure.h). */
#ifndef RG_MATHS_EXPRESSION_H
#define RG_MATHS_EXPRESSION_H

#include "base/text.h"
#include "regatta/domain.h"

/* A text being read. Initialise with text, at = text and mistake. */
typedef struct {
  const char *text, *at; /* the whole text; the part not read yet */
  int depth;             /* free for the parser's use */
  RgText *mistake;       /* owned by the caller; non-empty after the first mistake */
} RgExpression;

bool rg_expression_failed(const RgExpression *expression);
/* Record a mistake at `where`: "column 3: ...". Later mistakes are ignored. */
PetscErrorCode rg_expression_mistake(RgExpression *expression, const char *where,
                                     const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Skip white space and return the next character; 0 at the end. */
char rg_expression_next(RgExpression *expression);
/* Whether the next character is `c`; if so, read it. Always false after a mistake. */
bool rg_expression_accept(RgExpression *expression, char c);
/* Read `c`; anything else is a mistake. */
PetscErrorCode rg_expression_expect(RgExpression *expression, char c);
/* Anything but white space is a mistake: "nothing expected after the `what`". */
PetscErrorCode rg_expression_expect_end(RgExpression *expression, const char *what);

/* A step of the calculation, in postfix order. */
typedef struct {
  int kind;     /* private */
  double value; /* value of a number */
  int name;     /* number of a name or a function */
} RgArithmeticStep;

typedef struct {
  int n;                   /* 0: no formula */
  RgArithmeticStep *steps; /* owned */
} RgArithmetic;

/* Parse a formula of n_names names. It ends where it can't go on: the caller checks what follows.
   After a mistake the formula is empty. The caller clears it in either case. */
PetscErrorCode rg_arithmetic_parse(RgExpression *parser, int n_names, const char *const *names,
                                   RgArithmetic *arithmetic);
/* Parse a formula of a design's coordinates as the problem sees them (rg_space_seen). Their names
   are those of its inputs, or x1, x2, .. */
PetscErrorCode rg_arithmetic_parse_inputs(RgExpression *parser, const RgSpace *design,
                                          RgArithmetic *arithmetic);
PetscErrorCode rg_arithmetic_clear(RgArithmetic *arithmetic);
/* Its value at the values of the names. O(n). */
double rg_arithmetic_value(const RgArithmetic *arithmetic, const double *values);

#endif
