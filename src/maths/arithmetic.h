/* Formulas of named numbers, as study files write them: numbers, names, + - * / ^ with the usual
   precedence (^ binds to the right and before a sign), parentheses, and the functions abs, exp,
   log, sqrt, sin, cos, min(a, b), max(a, b). */
#ifndef RG_MATHS_ARITHMETIC_H
#define RG_MATHS_ARITHMETIC_H

#include "maths/expression.h"
#include "regatta/domain.h"

/* A step of the calculation, in postfix order. */
typedef struct {
  int kind;     /* private */
  double value; /* value of a number */
  int name;     /* number of a name */
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
