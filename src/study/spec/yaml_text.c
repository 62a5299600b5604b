/* What bytes a study file may consist of. */
#include "study/spec/yaml_tree.h"

/* The code point at `s` (`left` bytes to the end of the text) and its length in bytes; -1 if this
   is not UTF-8 (truncated, overlong, a surrogate, beyond U+10FFFF). */
static int32_t decode(const unsigned char *s, size_t left, size_t *width)
{
  static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char lead = s[0];

  *width = lead < 0x80                   ? 1
           : lead >= 0xC2 && lead < 0xE0 ? 2
           : lead >= 0xE0 && lead < 0xF0 ? 3
           : lead >= 0xF0 && lead < 0xF5 ? 4
                                         : 0;
  if (!*width || *width > left) return -1;
  if (*width == 1) return lead;
  int32_t code = lead & (0xFF >> (*width + 1));
  for (size_t i = 1; i < *width; i++) {
    if ((s[i] & 0xC0) != 0x80) return -1;
    code = code << 6 | (s[i] & 0x3F);
  }
  if (code < least[*width] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return -1;
  return code;
}

/* Printable or white space; a byte-order mark only where the text begins. */
static bool is_accepted(int32_t code, bool first)
{
  if (code == 0xFEFF) return first;
  if (code == '\t' || code == '\n' || code == '\r' || code == 0x85) return true;
  return (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && code != 0xFFFE && code != 0xFFFF);
}

bool rg_yaml_check_text(const char *path, const char *text, size_t length,
                        RgDiagnostics *diagnostics)
{
  const unsigned char *s = (const unsigned char *)text;
  RgPlace place = {path, 1, 1};

  if (length > RG_YAML_MAX_BYTES) {
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0},
                       "the file has %zu bytes; a study file has at most %d", length,
                       RG_YAML_MAX_BYTES);
    return false;
  }
  if (length >= 2 && ((s[0] == 0xFF && s[1] == 0xFE) || (s[0] == 0xFE && s[1] == 0xFF))) {
    rg_diagnostics_add(diagnostics, place, "the file is UTF-16; save it as UTF-8");
    return false;
  }
  for (size_t i = 0, width = 1; i < length; i += width) {
    int32_t code = decode(s + i, length - i, &width);
    if (code < 0) {
      rg_diagnostics_add(diagnostics, place, "byte 0x%02X is not UTF-8; save the file as UTF-8",
                         s[i]);
      return false;
    }
    if (!is_accepted(code, i == 0)) {
      rg_diagnostics_add(diagnostics, place, "control character U+%04X is not accepted",
                         (unsigned)code);
      return false;
    }
    place.column++;
    if (code == 0xFEFF) place.column = 1;
    if (code == '\n') {
      place.line++;
      place.column = 1;
    }
  }
  return true;
}
