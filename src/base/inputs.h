/* Named inputs: the meaning of a box's coordinates, and their descriptions as text. */
#ifndef RG_BASE_INPUTS_H
#define RG_BASE_INPUTS_H

#include "regatta/domain.h"

extern const char *const rg_input_kinds[]; /* of RgInputKind; NULL-terminated */

PetscErrorCode rg_inputs_clear(int n, RgInput *inputs);
/* Parse a text of rg_inputs_text. The caller clears and frees *inputs, even after mistakes. The
   first mistake is appended to `mistake`. */
PetscErrorCode rg_inputs_read(const char *text, int *n, RgInput **inputs, RgText *mistake);

/* Append the descriptions of n inputs, separated by "; ". */
PetscErrorCode rg_inputs_text(int n, const RgInput *inputs, RgText *text);

/* rg_space_seen for inputs. */
void rg_inputs_seen(int n, const RgInput *inputs, const double *native, double *seen);

/* The number of values of coordinate j, an integer or a choice; 0: a real number. */
double rg_space_levels(const RgSpace *space, int j);
/* Whether some coordinate is an integer or a choice. */
bool rg_space_has_levels(const RgSpace *space);
/* The number, from 0, of the value that the problem sees at a unit coordinate of such an input,
   and the unit coordinate in the middle of a value. */
double rg_space_level_at(const RgSpace *space, int j, double unit);
double rg_space_unit_of_level(const RgSpace *space, int j, double level);
/* The design that is evaluated: rg_space_normalise, then every integer and every choice goes to the
   unit coordinate of its value. moves: dim, whether a small step of the coordinate changes the
   design; NULL: not wanted. */
void rg_space_snap(const RgSpace *space, double *unit, bool *moves);

/* Append a value of rg_inputs_seen for people: a number, a word, or "-" if the input doesn't
   count. */
PetscErrorCode rg_input_print(const RgInput *input, double seen, RgText *text);

/* Append a design as the problem sees it, " NAME = VALUE" for each coordinate. */
PetscErrorCode rg_space_print_seen(const RgSpace *space, const double *seen, RgText *text);

/* The point of a finite space with these native coordinates, to 1e-9 of the larger of them and 1;
   -1 if it has no such point, or is a box. */
int rg_space_find(const RgSpace *space, const double *native);

#endif
