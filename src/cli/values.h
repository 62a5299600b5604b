/* Output and input of numbers. */
#ifndef RG_CLI_VALUES_H
#define RG_CLI_VALUES_H

#include "base/text.h"
#include "regatta/params.h"

/* Append a line of `regatta eval`: a name, then numbers with full precision. */
PetscErrorCode rg_add_value(RgText *text, const char *name, double value, const char *remark);
PetscErrorCode rg_add_point(RgText *text, const char *name, int dim, const double *x,
                            const char *remark);

/* Parse part and number of parts from "2/8"; on a mistake print a message of `command` and
   return false. */
bool rg_part_parse(const char *command, const char *text, int *part, int *parts);

/* Cut KEY=VALUE at its '='. Returns the value; without '=', NULL and a diagnostic. */
char *rg_pair_split(char *word, RgPlace place, RgDiagnostics *found);
/* Set a parameter from VALUE or [VALUE, ...]; cuts `value`. Mistakes are added to `found`. */
PetscErrorCode rg_pair_set(const RgParam *params, void *options, const char *key, char *value,
                           RgPlace place, RgDiagnostics *found);

/* Median of the values that are not NaN; NaN if all are. Moves these values to the front. */
double rg_median(int n, double *values);

/* Parse seconds from "90", "1:30:00" or "30:00"; negative for any other text. */
double rg_duration_parse(const char *text);
/* Print seconds in a suitable unit: `12 s`, `3 min`, `2.5 h`. */
void rg_duration_print(double seconds, char text[32]);

#endif
