/* The software that made a result, as a text, and the parts of such a text. */
#ifndef RG_STUDY_RECORD_SOFTWARE_H
#define RG_STUDY_RECORD_SOFTWARE_H

#include "regatta/error.h"

/* Versions of regatta, its libraries and compiler, in one line separated by "; ". Owned by the
   caller (PetscFree). */
PetscErrorCode rg_software_describe(char **text);

/* A part of a text, which does not end with NUL. Borrowed. */
typedef struct {
  const char *at;
  int length;
} RgPart;

/* The text of a record: versions as above, then `; plugin FILE HASH` for every plug-in that the
   trial needed, then `; program NAME HASH` for an external program. */
typedef struct {
  RgPart build;   /* regatta with its version and commit */
  RgPart source;  /* name of the sources that affect results; empty for an old build */
  RgPart plugins; /* all of them, empty without a plug-in */
  RgPart program; /* empty without a program */
} RgSoftware;

/* The parts of a text; NULL has none. */
RgSoftware rg_software_parts(const char *text);

#endif
