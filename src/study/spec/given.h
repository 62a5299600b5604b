/* `given`: designs that an initial design begins with, from a file. */
#ifndef RG_STUDY_SPEC_GIVEN_H
#define RG_STUDY_SPEC_GIVEN_H

#include "regatta/domain.h"

typedef struct {
  int n;
  double *x;      /* n x dim, unit coordinates; owned */
  double *native; /* n x dim, as given, what is evaluated; in a finite design those of the point */
  int *index;     /* n, in a finite design; -1 in a box; owned */
  bool exact;     /* `native` is what `x` gives, to the last bit */
} RgGiven;

/* Read a file of comma-separated values: its header has the names of the coordinates of `space`
   (x1, x2, ... where they have none), in any order, every row a design in native units, a choice as
   its word, an empty cell for an input that doesn't count. The first thing wrong is appended to
   `mistake`, and nothing is given. once: no design may stand there twice. */
PetscErrorCode rg_given_read(const char *path, const RgSpace *space, bool once, RgGiven *given,
                             RgText *mistake);
PetscErrorCode rg_given_clear(RgGiven *given);
/* Append what identifies the designs: a hash of x, or of `native` where x does not give it. */
PetscErrorCode rg_given_identity(const RgGiven *given, int dim, RgText *text);

#endif
