/* Swept settings as data: lists of settings, and their form as a text. */
#include "study/file/swept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"

static PetscErrorCode copy_text(const char *text, char **copy)
{
  return PetscStrallocpy(text ? text : "", copy);
}

PetscErrorCode rg_swept_add(const char *name, const char *text, RgSweptKind kind, const char *part,
                            const char *units, const char *doc, int *n, RgSwept **list)
{
  RgSwept *one;

  PetscCall(RG_GROW(*n, *list));
  one = &(*list)[(*n)++];
  *one = (RgSwept){.kind = kind};
  PetscCall(copy_text(name, &one->name));
  PetscCall(copy_text(text, &one->text));
  PetscCall(copy_text(part, &one->part));
  if (units) PetscCall(PetscStrallocpy(units, &one->units));
  if (doc) PetscCall(PetscStrallocpy(doc, &one->doc));
  return 0;
}

PetscErrorCode rg_swept_copy(int n, const RgSwept *from, RgSwept **to)
{
  int made = 0;

  for (int i = 0; i < n; i++)
    PetscCall(rg_swept_add(from[i].name, from[i].text, from[i].kind, from[i].part, from[i].units,
                           from[i].doc, &made, to));
  return 0;
}

PetscErrorCode rg_swept_clear(int *n, RgSwept **list)
{
  for (int i = 0; i < *n; i++)
    PetscCall(RG_FREE(&(*list)[i].name, &(*list)[i].text, &(*list)[i].part, &(*list)[i].units,
                      &(*list)[i].doc));
  *n = 0;
  return PetscFree(*list);
}

/* Length of the first pair of a text, which ends at a comma outside brackets and quotes. */
static size_t pair_length(const char *text)
{
  int depth = 0;
  bool quoted = false;
  size_t n = 0;

  for (; text[n]; n++) {
    if (text[n] == '"') quoted = !quoted;
    else if (quoted) continue;
    else if (strchr("[{(", text[n])) depth++;
    else if (strchr("]})", text[n])) depth--;
    else if (text[n] == ',' && depth <= 0) break;
  }
  return n;
}

static PetscErrorCode parse_pair(char *pair, int *n, RgSwept **list)
{
  char *value = strchr(pair, '=');
  const char *part = "";
  double number;
  RgText text = {0};

  if (!value) return 0;
  *value++ = '\0';
  const bool is_number = rg_number_only(value, &number);
  const bool score = !strcmp(pair, "score");
  if (!strncmp(pair, "surrogate.", 10)) part = "surrogate";
  if (!strncmp(pair, "maximiser.", 10)) part = "maximiser";
  const size_t length = strlen(value);
  if (length > 1 && value[0] == '"' && value[length - 1] == '"') {
    value[length - 1] = '\0';
    value++;
  }
  if (is_number) PetscCall(rg_text_add_real(&text, number));
  else PetscCall(rg_text_add(&text, "%s", value));
  PetscCall(rg_swept_add(score ? RG_SWEPT_AIMED : pair, text.data,
                         is_number && !score ? RG_SWEPT_NUMBER : RG_SWEPT_WORD, part, NULL, NULL, n,
                         list));
  return rg_text_clear(&text);
}

PetscErrorCode rg_swept_parse(const char *text, int *n, RgSwept **list)
{
  char *pair;

  while (*text) {
    text += strspn(text, " ");
    const size_t length = pair_length(text);
    PetscCall(PetscCalloc1(length + 1, &pair));
    memcpy(pair, text, length);
    PetscCall(parse_pair(pair, n, list));
    PetscCall(PetscFree(pair));
    text += length + (text[length] == ',');
  }
  return 0;
}

const RgSwept *rg_swept_find(int n, const RgSwept *list, const char *name)
{
  const RgSwept *found = NULL;

  for (int i = 0; i < n; i++) {
    const char *end = strrchr(list[i].name, '.');
    if (!strcmp(list[i].name, name)) return &list[i];
    if (end && !strcmp(end + 1, name)) found = &list[i];
  }
  return found;
}

bool rg_swept_same(const char *a, const char *b)
{
  double x, y;

  return !strcmp(a, b) || (rg_number_only(a, &x) && rg_number_only(b, &y) && x == y);
}

RgSweptKind rg_swept_join(RgSweptKind a, RgSweptKind b)
{
  const bool numbers = a <= RG_SWEPT_INTEGER && b <= RG_SWEPT_INTEGER;

  return a == b ? a : numbers ? RG_SWEPT_NUMBER : RG_SWEPT_WORD;
}
