/* The formulas of theory over columns of numbers, for `regatta bounds -formula`. */
#ifndef RG_CLI_FORMULA_H
#define RG_CLI_FORMULA_H

#include "study/spec/registry.h"

/* Evaluate formula or method `name` with n settings KEY=VALUE over the CSV table on standard input;
   the table of results goes to standard output. A mistake is one line, and *exit_code says so. */
PetscErrorCode rg_formula_run(const RgRegistry *registry, const char *name, int n,
                              const char *const *words, int *exit_code);

#endif
