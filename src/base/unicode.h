/* UTF-8: reading, cutting, and JSON strings. */
#ifndef RG_BASE_UNICODE_H
#define RG_BASE_UNICODE_H

#include "regatta/error.h"

/* Decode the code point at `s` (`left` bytes to the end of the text); *width is its length in
   bytes. -1 if this is not UTF-8 (truncated, overlong, a surrogate, beyond U+10FFFF). */
int32_t rg_utf8_decode(const char *s, size_t left, size_t *width);

/* The length of a text that is cut to at most `most` bytes, between two characters. */
size_t rg_utf8_cut(const char *text, size_t most);

/* Remove a character at the end of a text that was cut in two. */
void rg_utf8_trim(char *text);

/* Append `length` bytes as a JSON string in one line. Bytes that are not UTF-8 become U+FFFD. */
PetscErrorCode rg_text_add_json(RgText *text, const char *bytes, size_t length);

#endif
