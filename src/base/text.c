/* Growing texts, and the search for the name nearest to a wrong one. */
#include "base/text.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
  return rg_text_add_bytes(text, "\"", 1);
}

/* Make room for `extra` more bytes and the NUL. The capacity doubles, so that appending is O(1)
   amortised. */
static PetscErrorCode text_reserve(RgText *text, size_t extra)
{
  char *data;
  size_t need = text->length + extra + 1, capacity = text->capacity ? text->capacity : 64;

  if (need <= text->capacity) return 0;
  while (capacity < need) capacity *= 2;
  PetscCall(PetscMalloc1(capacity, &data));
  if (text->data) memcpy(data, text->data, text->length + 1);
  PetscCall(PetscFree(text->data));
  text->data = data;
  text->capacity = capacity;
  return 0;
}

PetscErrorCode rg_text_add(RgText *text, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  int length = rg_format_list(NULL, 0, format, arguments);
  va_end(arguments);
  PetscCheck(length >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "invalid format '%s'", format);
  PetscCall(text_reserve(text, (size_t)length));
  va_start(arguments, format);
  rg_format_list(text->data + text->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)length;
  return 0;
}

PetscErrorCode rg_text_add_bytes(RgText *text, const char *bytes, size_t length)
{
  PetscCall(text_reserve(text, length));
  if (length) memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
  return 0;
}

PetscErrorCode rg_text_add_real(RgText *text, double value)
{
  char buffer[32];
  const char *end;
  double read;

  if (isnan(value)) {
    strcpy(buffer, "nan");
  } else if (isinf(value)) {
    strcpy(buffer, value > 0 ? "inf" : "-inf");
  } else {
    for (int digits = 15; digits <= 17; digits++) {
      rg_format(buffer, sizeof buffer, "%.*g", digits, value);
      if (rg_number_read(buffer, &end, &read) && read == value) break;
    }
  }
  return rg_text_add_bytes(text, buffer, strlen(buffer));
}

PetscErrorCode rg_names_copy(int n, const char *const *from, char ***to)
{
  PetscCall(PetscCalloc1((size_t)n, to));
  for (int i = 0; i < n; i++) PetscCall(PetscStrallocpy(from[i], &(*to)[i]));
  return 0;
}

PetscErrorCode rg_names_free(int n, char ***names)
{
  for (int i = 0; i < n; i++) PetscCall(PetscFree((*names)[i]));
  return PetscFree(*names);
}

PetscErrorCode rg_text_clear(RgText *text)
{
  PetscCall(PetscFree(text->data));
  text->length = 0;
  text->capacity = 0;
  return 0;
}

/* The longest name to compare; a longer name is rarely one or two edits away. */
enum { LONGEST = 64 };

static bool same_letter(char a, char b)
{
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Damerau-Levenshtein distance with transpositions of neighbours (optimal string alignment),
   from three rows of the dynamic programme. */
static int edit_distance(const char *a, int na, const char *b, int nb)
{
  int rows[3][LONGEST + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];

  for (int j = 0; j <= nb; j++) {
    before[j] = j;
    last[j] = j;
  }
  for (int i = 1; i <= na; i++) {
    now[0] = i;
    for (int j = 1; j <= nb; j++) {
      int change = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      now[j] = PetscMin(change, 1 + PetscMin(last[j], now[j - 1]));
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
        now[j] = PetscMin(now[j], before[j - 2] + 1);
    }
    int *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[nb];
}

/* Words of the field, and the name of the same thing in study files. */
static const struct {
  const char *word, *name;
} synonyms[] = {{"rbf", "gaussian"},
                {"se", "gaussian"},
                {"squared_exponential", "gaussian"},
                {"exponentiated_quadratic", "gaussian"},
                {"matern", "matern52"},
                {"int", "integer"},
                {"float", "real"},
                {"double", "real"},
                {"categorical", "choice"},
                {"min", "minimise"},
                {"max", "maximise"},
                {"mle", "ml"},
                {"lhs", "latin_hypercube"},
                {"expected_improvement", "ei"},
                {"ucb", "gp_ucb"},
                {"thompson", "ts"},
                {"thompson_sampling", "ts"},
                {"random_search", "random"},
                {"budget", "iterations"},
                {"n_iter", "iterations"},
                {"n_init", "initial_points"},
                {"repeats", "seeds"},
                {"noise", "noise_variance"},
                {"direction", "goal"},
                {"model", "surrogate"},
                {"file", "path"},
                {"filename", "path"},
                {"output", "objective"},
                {"target", "objective"}};

const char *rg_text_synonym(const char *word)
{
  for (size_t i = 0; i < sizeof(synonyms) / sizeof(*synonyms); i++)
    if (!strcasecmp(word, synonyms[i].word)) return synonyms[i].name;
  return NULL;
}

const char *rg_text_nearest(const char *wrong, const char *const *names)
{
  const char *best = NULL, *synonym = rg_text_synonym(wrong);
  const size_t length = strlen(wrong);

  for (int i = 0; synonym && names[i]; i++)
    if (!strcmp(names[i], synonym)) return names[i];
  if (length > LONGEST) return NULL;
  int limit = length >= 6 ? (int)length / 3 : 1;
  for (; *names; names++) {
    size_t other = strlen(*names);
    if (other > LONGEST) continue;
    int distance = edit_distance(wrong, (int)length, *names, (int)other);
    if (distance > limit) continue;
    best = *names;
    limit = distance - 1; /* a later name must be strictly nearer */
  }
  return best;
}

void rg_text_disarm(char *text, bool lines)
{
  size_t left = strlen(text), width;

  for (char *at = text; left; at += width, left -= width) {
    const int32_t c = rg_utf8_decode(at, left, &width);
    const bool end = c == '\n' || (c == '\r' && at[1] == '\n');
    if (c < 0) width = 1;
    if ((end && lines) || c == '\t') continue;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) memset(at, '?', width);
  }
}
