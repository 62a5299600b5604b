/* Given designs: the designs from a file at the start of an initial design. */
#ifndef RG_STUDY_FILE_GIVEN_H
#define RG_STUDY_FILE_GIVEN_H

#include "regatta/domain.h"

/* Part of the identity of trials with known values on a clock, or of problems that Regatta
   computes. 2: known values take no time and are never lost, and `f` has no noise. */
#define RG_KNOWN_REVISION 2

typedef struct {
  int n;
  double *x; /* n x dim, unit coordinates; owned */
  /* n x dim, as in the file; evaluations use these. In a finite design, the coordinates of the
     point */
  double *native;
  int *index; /* n: index in a finite design; -1 in a box; owned */
  double *y; /* n: known values of the maximised function; NULL: the designs are evaluated; owned */
  bool exact; /* `native` equals the conversion of `x`, to the last bit */
} RgGiven;

/* Read a file of comma-separated values. The header names the coordinates of `space` (x1, x2,
   ... without names), in any order. Every row is a design in native units, with words for
   choices and empty cells for inputs that don't count. The first mistake is appended to
   `mistake`, and `given` stays empty. once: the designs must be distinct. A further column y has
   known values; sign: 1, or -1 if they are the negative of what is maximised, or 0 if the problem
   takes no known values. */
PetscErrorCode rg_given_read(const char *path, const RgSpace *space, bool once, int sign,
                             RgGiven *given, RgText *mistake);
PetscErrorCode rg_given_clear(RgGiven *given);
/* Append the identity of the designs: a hash of x, or of `native` if that is not exact, and a hash
   of their known values. */
PetscErrorCode rg_given_identity(const RgGiven *given, int dim, RgText *text);

#endif
