/* Lines of `regatta eval`: a name, then numbers to full precision. */
#ifndef RG_CLI_VALUES_H
#define RG_CLI_VALUES_H

#include "base/text.h"

PetscErrorCode rg_add_value(RgText *text, const char *name, double value, const char *remark);
PetscErrorCode rg_add_point(RgText *text, const char *name, int dim, const double *x,
                            const char *remark);

#endif
