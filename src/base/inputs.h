/* Named inputs: the meaning of a box's coordinates, and their descriptions as text. */
#ifndef RG_BASE_INPUTS_H
#define RG_BASE_INPUTS_H

#include "regatta/domain.h"

extern const char *const rg_input_kinds[]; /* names of RgInputKind in descriptions */

PetscErrorCode rg_inputs_clear(int n, RgInput *inputs);
/* Parse a text of rg_inputs_text. The caller clears and frees *inputs, even after mistakes. The
   first mistake is appended to `mistake`. */
PetscErrorCode rg_inputs_read(const char *text, int *n, RgInput **inputs, RgText *mistake);

/* Append the descriptions of n inputs, separated by "; ". */
PetscErrorCode rg_inputs_text(int n, const RgInput *inputs, RgText *text);

/* rg_space_seen for inputs. */
void rg_inputs_seen(int n, const RgInput *inputs, const double *native, double *seen);
/* Append a value of rg_inputs_seen for people: a number, a word, or "-" if the input doesn't
   count. */
PetscErrorCode rg_input_print(const RgInput *input, double seen, RgText *text);

#endif
