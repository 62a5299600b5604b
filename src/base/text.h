/* A growing string, for canonical texts, messages and documentation. */
#ifndef RG_BASE_TEXT_H
#define RG_BASE_TEXT_H

#include "base/core.h"

/* Zero-initialise; `data` is always NUL-terminated once something was added (NULL before). */
typedef struct {
  char *data;      /* owned */
  size_t length;   /* without the NUL */
  size_t capacity; /* allocated bytes */
} RgText;

/* Append formatted text. Errors: PETSC_ERR_MEM. */
PetscErrorCode rg_text_add(RgText *text, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* Append `length` bytes as they are (NUL bytes included). */
PetscErrorCode rg_text_add_bytes(RgText *text, const char *bytes, size_t length);

/* Append a double so that it reads back to the same bits: shortest of %.15g, %.16g, %.17g;
   NaN is `nan`, infinities `inf` and `-inf`. */
PetscErrorCode rg_text_add_real(RgText *text, double value);

/* Free the storage; the text is empty and usable again. */
PetscErrorCode rg_text_clear(RgText *text);

/* The name of `names` (NULL-terminated) closest to `wrong` by edit distance (Damerau-Levenshtein,
   case-insensitive); NULL when none is within a third of its length (at least one edit). */
const char *rg_text_nearest(const char *wrong, const char *const *names);

#endif
