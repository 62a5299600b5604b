/* Further functions for growing strings (RgText) and words. */
#ifndef RG_BASE_TEXT_H
#define RG_BASE_TEXT_H

#include "regatta/error.h"

/* Append `length` bytes unchanged (also NUL bytes). */
PetscErrorCode rg_text_add_bytes(RgText *text, const char *bytes, size_t length);

/* Make a text safe for a terminal, in place: control characters (C0, DEL, C1) and bytes that are
   not UTF-8 become '?'. Tabs stay, and with `lines` also line ends. */
void rg_text_disarm(char *text, bool lines);

/* The name in `names` (NULL-terminated) for which `wrong` is another word of the field, or the one
   nearest by edit distance (Damerau-Levenshtein, any case). NULL if no name is within a third of
   its length (at least one edit). */
const char *rg_text_nearest(const char *wrong, const char *const *names);

/* The name in study files of what a word of the field means, such as `iterations` for `budget`;
   NULL if the word is not known. The name is static. */
const char *rg_text_synonym(const char *word);

/* Decode the code point at `s` (`left` bytes to the end of the text); *width is its length in
   bytes. -1 if this is not UTF-8 (truncated, overlong, a surrogate, beyond U+10FFFF). */
int32_t rg_utf8_decode(const char *s, size_t left, size_t *width);

/* The length of a text that is cut to at most `most` bytes, between two characters. */
size_t rg_utf8_cut(const char *text, size_t most);

/* Remove a character at the end of a text that was cut in two. */
void rg_utf8_trim(char *text);

/* Append `length` bytes as a JSON string in one line. Bytes that are not UTF-8 become U+FFFD. */
PetscErrorCode rg_text_add_json(RgText *text, const char *bytes, size_t length);

/* Copy n texts and the array of them, which the caller frees with rg_names_free. */
PetscErrorCode rg_names_copy(int n, const char *const *from, char ***to);
/* Free n texts and the array of them. */
PetscErrorCode rg_names_free(int n, char ***names);

#endif
