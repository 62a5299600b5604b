/* Numbers as printed and as typed. */
#ifndef RG_CLI_VALUES_H
#define RG_CLI_VALUES_H

#include "base/text.h"
#include "regatta/params.h"

/* Append a line of `regatta eval`: a name, then numbers to full precision. */
PetscErrorCode rg_add_value(RgText *text, const char *name, double value, const char *remark);
PetscErrorCode rg_add_point(RgText *text, const char *name, int dim, const double *x,
                            const char *remark);

/* Part and number of parts of "2/8"; false, and a complaint of `command`, when it is none. */
bool rg_part_parse(const char *command, const char *text, int *part, int *parts);

/* Cut KEY=VALUE at its '='. Returns the value, NULL and a diagnostic when there is none. */
char *rg_pair_split(char *word, RgPlace place, RgDiagnostics *found);
/* Set a parameter from VALUE or [VALUE, ...], which is cut. Mistakes go into `found`. */
PetscErrorCode rg_pair_set(const RgParam *params, void *options, const char *key, char *value,
                           RgPlace place, RgDiagnostics *found);

/* Median of those of n values that are numbers, NaN when none is; moves them to the front. */
double rg_median(int n, double *values);

/* Seconds from "90", "1:30:00" or "30:00"; negative when it is none of these. */
double rg_duration_parse(const char *text);
/* Seconds in the unit that suits them: `12 s`, `3 min`, `2.5 h`. */
void rg_duration_print(double seconds, char text[32]);

#endif
