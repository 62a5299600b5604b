/* The formulas of theory/ over columns of numbers, for `regatta bounds -formula`. */
#ifndef RG_CLI_FORMULA_H
#define RG_CLI_FORMULA_H

#include "study/file/registry.h"

/* Evaluate formula or method `name` with n settings KEY=VALUE on the CSV table from standard
   input, and print a table of results. A mistake is reported in one line and sets *exit_code. */
PetscErrorCode rg_formula_run(const RgRegistry *registry, const char *name, int n,
                              const char *const *words, int *exit_code);

#endif
