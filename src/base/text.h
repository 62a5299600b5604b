/* More to do with growing strings (RgText) and words. */
#ifndef RG_BASE_TEXT_H
#define RG_BASE_TEXT_H

#include "regatta/error.h"

/* Append `length` bytes as they are (NUL bytes included). */
PetscErrorCode rg_text_add_bytes(RgText *text, const char *bytes, size_t length);

/* Make a text harmless to a terminal, in place: control characters (C0, DEL, C1 in UTF-8) become
   '?', but tabs and, with `lines`, ends of lines. */
void rg_text_disarm(char *text, bool lines);

/* The name of `names` (NULL-terminated) closest to `wrong` by edit distance (Damerau-Levenshtein,
   case-insensitive); NULL when none is within a third of its length (at least one edit). */
const char *rg_text_nearest(const char *wrong, const char *const *names);

#endif
