/* Named inputs: what the coordinates of a box stand for, and the texts they are written in. */
#ifndef RG_BASE_INPUTS_H
#define RG_BASE_INPUTS_H

#include "regatta/domain.h"

extern const char *const rg_input_kinds[]; /* as typed, by RgInputKind */

PetscErrorCode rg_inputs_clear(int n, RgInput *inputs);
/* Read inputs from one text, as rg_inputs_text writes it; *inputs is to be cleared and freed, also
   after mistakes. The first thing wrong is appended to `mistake`. */
PetscErrorCode rg_inputs_read(const char *text, int *n, RgInput **inputs, RgText *mistake);

/* Append the descriptions of n inputs, separated by "; ". */
PetscErrorCode rg_inputs_text(int n, const RgInput *inputs, RgText *text);

/* rg_space_seen of inputs. */
void rg_inputs_seen(int n, const RgInput *inputs, const double *native, double *seen);
/* Append a value that rg_inputs_seen gives as people read it: a number, a word, "-" where the input
   doesn't count. */
PetscErrorCode rg_input_print(const RgInput *input, double seen, RgText *text);

#endif
