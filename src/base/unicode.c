/* UTF-8: reading, cutting, and JSON strings. */
#include "base/unicode.h"

#include <string.h>

#include "base/text.h"

int32_t rg_utf8_decode(const char *s, size_t left, size_t *width)
{
  static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char lead = (unsigned char)s[0];

  *width = lead < 0x80                   ? 1
           : lead >= 0xC2 && lead < 0xE0 ? 2
           : lead >= 0xE0 && lead < 0xF0 ? 3
           : lead >= 0xF0 && lead < 0xF5 ? 4
                                         : 0;
  if (!*width || *width > left) return -1;
  if (*width == 1) return lead;
  int32_t code = lead & (0xFF >> (*width + 1));
  for (size_t i = 1; i < *width; i++) {
    if (((unsigned char)s[i] & 0xC0) != 0x80) return -1;
    code = code << 6 | ((unsigned char)s[i] & 0x3F);
  }
  if (code < least[*width] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return -1;
  return code;
}

static bool continues(char byte)
{
  return ((unsigned char)byte & 0xC0u) == 0x80u;
}

size_t rg_utf8_cut(const char *text, size_t most)
{
  size_t length = strnlen(text, most + 1);

  if (length <= most) return length;
  length = most;
  while (length > 0 && continues(text[length])) length--;
  return length;
}

void rg_utf8_trim(char *text)
{
  const size_t length = strlen(text);
  size_t at = length, width;

  if (!length) return;
  do at--;
  while (at > 0 && continues(text[at]));
  if (rg_utf8_decode(text + at, length - at, &width) < 0) text[at] = '\0';
}

PetscErrorCode rg_text_add_json(RgText *text, const char *bytes, size_t length)
{
  size_t width;

  PetscFunctionBeginUser;
  PetscCall(rg_text_add_bytes(text, "\"", 1));
  for (size_t i = 0; i < length; i += width) {
    const int32_t c = rg_utf8_decode(bytes + i, length - i, &width);
    if (c == '"' || c == '\\') PetscCall(rg_text_add(text, "\\%c", (int)c));
    else if (c == '\n') PetscCall(rg_text_add(text, "\\n"));
    else if (c >= 0 && (c < 0x20 || c == 0x7F)) PetscCall(rg_text_add(text, "\\u%04x", (int)c));
    else if (c >= 0) PetscCall(rg_text_add_bytes(text, bytes + i, width));
    else PetscCall(rg_text_add(text, "\xEF\xBF\xBD"));
    if (c < 0) width = 1;
  }
  PetscCall(rg_text_add_bytes(text, "\"", 1));
  PetscFunctionReturn(0);
}
