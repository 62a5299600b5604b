/* Formulas of the papers over columns of numbers, for figures that need no study, or that need
   recorded columns: `regatta bounds -formula NAME`. The table in formula.c has one line per
   formula. */
#ifndef RG_THEORY_FORMULA_H
#define RG_THEORY_FORMULA_H

#include "regatta/params.h"

/* The most columns that come in or go out. */
#define RG_FORMULA_COLUMNS 8

typedef struct {
  const char *name, *summary, *reference;
  const char *inputs[RG_FORMULA_COLUMNS];  /* ends with NULL */
  const char *outputs[RG_FORMULA_COLUMNS]; /* likewise */
  const RgParam *params;
  size_t options_size;
  /* Row i of the outputs for row i of the n rows of inputs; columns of n each. */
  PetscErrorCode (*rows)(const void *options, int n, const double *const *in, double *const *out);
} RgTheoryFormula;

/* Ends with a NULL name. */
extern const RgTheoryFormula rg_theory_formulas[];
const RgTheoryFormula *rg_theory_formula_find(const char *name);

#endif
