/* Swept settings as columns of the results: names, kinds and values, and notes on methods that
   don't read them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "study/file/draft.h"
#include "study/file/swept.h"

static const char *const parts[RG_BLOCK_COUNT] = {[RG_BLOCK_RUN] = "run",
                                                  [RG_BLOCK_WORKERS] = "run",
                                                  [RG_BLOCK_PROBLEM] = "problem",
                                                  [RG_BLOCK_ALGORITHM] = "algorithm",
                                                  [RG_BLOCK_SURROGATE] = "surrogate",
                                                  [RG_BLOCK_MAXIMISER] = "maximiser",
                                                  [RG_BLOCK_CREW] = "crew",
                                                  [RG_BLOCK_THINKING] = "thinking",
                                                  [RG_BLOCK_PENDING] = "pending"};

/* The unit in a parameter's description. */
static const char *units_of(const RgParam *param)
{
  static const struct {
    const char *words, *units;
  } known[] = {{"native units of f squared", "y^2"},
               {"native units of f", "y"},
               {"native units", "native"},
               {"seconds", "s"}};

  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
    if (strstr(param->doc, known[i].words)) return known[i].units;
  return "1";
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Append an existing value. The canonical text is `name=value`. It is empty for values that keys
   omit: layouts, and later additions at their default. */
static PetscErrorCode add_one(const RgSweepKey *key, int value, RgText *text)
{
  const RgParam *param = key->param;
  const char *canonical = key->texts[value];
  const size_t length = strlen(canonical), skip = length ? strlen(param->name) + 1 : 0;

  PetscFunctionBeginUser;
  if (param->type == RG_PARAM_TEXT || param->type == RG_PARAM_PATH || !length)
    PetscCall(rg_text_add(text, "%s", key->values[value]->text));
  else if (param->type == RG_PARAM_REALS && canonical[skip] == '[' && !strchr(canonical, ','))
    PetscCall(rg_text_add_bytes(text, canonical + skip + 1, length - skip - 2));
  else PetscCall(rg_text_add(text, "%s", canonical + skip));
  PetscFunctionReturn(0);
}

/* Append the value of a sweep path as stored in results: a word unchanged, else canonical text.
   For a key of a whole block, the value of the block. */
static PetscErrorCode axis_text(const RgSweepAxis *axis, const RgSweepKey *key, int value,
                                RgText *text)
{
  int n = 0;

  PetscFunctionBeginUser;
  if (!key->whole) {
    PetscCall(add_one(key, value, text));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_text_add(text, "{"));
  for (int k = 0; k < axis->n_keys; k++) {
    const RgSweepKey *part = &axis->keys[k];
    if (part->whole != key->whole || !part->values[value]) continue;
    PetscCall(rg_text_add(text, "%s%s=", n++ ? "," : "", part->param->name));
    PetscCall(add_one(part, value, text));
  }
  PetscCall(rg_text_add(text, "}"));
  PetscFunctionReturn(0);
}

/* ---- kinds and names ------------------------------------------------------------------------- */

static PetscErrorCode kind_of(const RgSweepAxis *axis, RgSweepKey *key)
{
  static const RgSweptKind kinds[] = {
    [RG_PARAM_BOOL] = RG_SWEPT_LOGICAL, [RG_PARAM_INT] = RG_SWEPT_INTEGER,
    [RG_PARAM_REAL] = RG_SWEPT_NUMBER,  [RG_PARAM_CHOICE] = RG_SWEPT_WORD,
    [RG_PARAM_TEXT] = RG_SWEPT_WORD,    [RG_PARAM_REALS] = RG_SWEPT_NUMBER,
    [RG_PARAM_TEXTS] = RG_SWEPT_WORD,   [RG_PARAM_NAMED] = RG_SWEPT_WORD,
    [RG_PARAM_PATH] = RG_SWEPT_WORD};
  double value;

  PetscFunctionBeginUser;
  key->kind = key->whole ? RG_SWEPT_WORD : kinds[key->param->type];
  for (int i = 0; i < key->n && key->kind <= RG_SWEPT_INTEGER; i++) {
    RgText text = {0};
    PetscCall(axis_text(axis, key, i, &text));
    if (!rg_number_only(text.data, &value)) key->kind = RG_SWEPT_WORD; /* auto or a list */
    PetscCall(rg_text_clear(&text));
  }
  PetscFunctionReturn(0);
}

static RgSweepKey *next_key(const RgDraft *draft, int *axis, int *k)
{
  for (; *axis < draft->n_axes; (*axis)++, *k = 0)
    if (*k < draft->axes[*axis].n_keys) return &draft->axes[*axis].keys[(*k)++];
  return NULL;
}

#define FOR_KEYS(draft, key)                                                                       \
  for (int a_##key = 0, k_##key = 0; (key = next_key(draft, &a_##key, &k_##key));)

/* Settings with equal names in different tables become different columns. */
static bool is_ambiguous(const RgDraft *draft, const RgSweepKey *key)
{
  RgSweepKey *other;

  FOR_KEYS(draft, other)
  if (other->block != key->block && !strcmp(other->name, key->name)) return true;
  return false;
}

PetscErrorCode rg_draft_columns(RgDraft *draft)
{
  RgSweepKey *key, *other;
  RgText name = {0};

  PetscFunctionBeginUser;
  for (int a = 0; a < draft->n_axes; a++)
    for (int k = 0; k < draft->axes[a].n_keys; k++) {
      key = &draft->axes[a].keys[k];
      PetscCall(kind_of(&draft->axes[a], key));
      if (is_ambiguous(draft, key)) PetscCall(rg_text_add(&name, "%s.", parts[key->block]));
      PetscCall(rg_text_add(&name, "%s", key->name));
      key->column = name.data;
      name = (RgText){0};
    }
  FOR_KEYS(draft, key)
  FOR_KEYS(draft, other)
  if (!strcmp(key->column, other->column)) key->kind = rg_swept_join(key->kind, other->kind);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_draft_add_swept(const RgSweepAxis *axis, const RgSweepKey *key, int value,
                                  RgCell *cell)
{
  RgText text = {0};

  PetscFunctionBeginUser;
  for (int i = 0; i < cell->n_swept; i++) /* another key of the same block */
    if (!strcmp(cell->settings[i].name, key->column)) PetscFunctionReturn(0);
  PetscCall(axis_text(axis, key, value, &text));
  PetscCall(rg_swept_add(
    key->column, text.data, key->kind, parts[key->block], key->whole ? "1" : units_of(key->param),
    key->whole ? "settings of the block" : key->param->doc, &cell->n_swept, &cell->settings));
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

/* ---- cells for several values ---------------------------------------------------------------- */

PetscErrorCode rg_draft_add_shared(const RgDraft *draft, int algorithm, const RgSweepKey *key,
                                   int n_cells, RgText *text)
{
  const RgEntry *entry = &draft->algorithms[algorithm];
  const bool reads = rg_algorithm_reads_param(entry->algorithm, key->block, key->param);
  RgText line = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&line, "%s %s %s: %d cell%s for %d values\n", entry->label,
                        reads ? "sets its own" : "doesn't read", key->name, n_cells,
                        n_cells == 1 ? "" : "s", key->n));
  if (!text->data || !strstr(text->data, line.data)) /* each line is added once for all problems */
    PetscCall(rg_text_add(text, "%s", line.data));
  PetscCall(rg_text_clear(&line));
  PetscFunctionReturn(0);
}
