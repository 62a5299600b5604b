/* The row of the table `cells` for a cell of a study, and lists of its swept settings. */
#include "study/file/cell_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/text.h"
#include "study/file/draft.h"

/* ---- swept settings -------------------------------------------------------------------------- */

static PetscErrorCode copy(const char *from, char **to)
{
  return PetscStrallocpy(from ? from : "", to);
}

PetscErrorCode rg_swept_add(const char *name, const char *text, RgSweptKind kind, const char *part,
                            const char *units, const char *doc, int *n, RgSwept **list)
{
  RgSwept *one;

  PetscCall(RG_GROW(*n, *list));
  one = &(*list)[(*n)++];
  *one = (RgSwept){.kind = kind};
  PetscCall(copy(name, &one->name));
  PetscCall(copy(text, &one->text));
  PetscCall(copy(part, &one->part));
  if (units) PetscCall(PetscStrallocpy(units, &one->units));
  if (doc) PetscCall(PetscStrallocpy(doc, &one->doc));
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

PetscErrorCode rg_swept_parse(const char *text, int *n, RgSwept **list)
{
  char *pair;

  while (*text) {
    text += strspn(text, " ");
    const size_t length = pair_length(text);
    PetscCall(PetscCalloc1(length + 1, &pair));
    memcpy(pair, text, length);
    char *value = strchr(pair, '=');
    const char *part = "";
    double number;
    RgText typed = {0};
    if (value) {
      *value++ = '\0';
      const bool is_number = rg_number_only(value, &number);
      const bool score = !strcmp(pair, "score");
      if (!strncmp(pair, "surrogate.", 10)) part = "surrogate";
      if (!strncmp(pair, "maximiser.", 10)) part = "maximiser";
      const size_t last = strlen(value) - 1;
      if (value[0] == '"' && value[1] && value[last] == '"') {
        value[last] = '\0';
        value++;
      }
      if (is_number) PetscCall(rg_text_add_real(&typed, number));
      else PetscCall(rg_text_add(&typed, "%s", value));
      PetscCall(rg_swept_add(score ? RG_SWEPT_AIMED : pair, typed.data,
                             is_number && !score ? RG_SWEPT_NUMBER : RG_SWEPT_WORD, part, NULL,
                             NULL, n, list));
      PetscCall(rg_text_clear(&typed));
    }
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

/* ---- the row --------------------------------------------------------------------------------- */

RgCellData *rg_cell_data_share(RgCellData *cell)
{
  if (cell) cell->references++;
  return cell;
}

PetscErrorCode rg_cell_data_release(RgCellData **cell)
{
  RgCellData *c = *cell;

  *cell = NULL;
  if (!c || --c->references > 0) return 0;
  PetscCall(rg_swept_clear(&c->n_swept, &c->axes));
  PetscCall(rg_text_clear(&c->settings));
  PetscCall(RG_FREE(&c->problem_label, &c->algorithm_label, &c->method, &c->problem, &c->algorithm,
                    &c->goal, &c->regret_units, &c->stops, &c->law, &c->measure, &c->scores,
                    &c->inputs, &c->contexts, &c->swept, &c));
  return 0;
}

const char *rg_cell_data_setting(const RgCellData *cell, const char *name)
{
  for (const char *at = cell->settings.data; at && *at;) {
    const char *value = at + strlen(at) + 1;
    if (!strcmp(at + 1, name)) return value;
    at = value + strlen(value) + 1;
  }
  return NULL;
}

/* A path as the study file has it: from the folder of the file, if it is in there. */
static const char *typed_path(const RgStudy *study, const char *path)
{
  const char *slash = study->path ? strrchr(study->path, '/') : NULL;
  const size_t n = slash ? (size_t)(slash - study->path) + 1 : 0;

  return n && !strncmp(path, study->path, n) ? path + n : path;
}

/* Append the value of a parameter without quotes; *kind: its kind, a word if it is `auto`. */
static PetscErrorCode add_value(const RgStudy *study, const RgParam *param, const void *options,
                                RgText *text, RgSweptKind *kind)
{
  const RgParam alone[2] = {*param, {0}};
  const char *at = (const char *)options + param->offset;
  const size_t before = text->length;
  double number;

  *kind = RG_SWEPT_WORD;
  if (param->type == RG_PARAM_TEXT || param->type == RG_PARAM_PATH) {
    const char *own = *(char *const *)at;
    if (own) own = param->type == RG_PARAM_PATH ? typed_path(study, own) : own;
    PetscCall(rg_text_add(text, "%s", own ? own : param->fallback ? param->fallback : ""));
    return 0;
  }
  RgText canonical = {0};
  PetscCall(rg_params_canonical(alone, options, &canonical));
  const char *value = canonical.length ? canonical.data + strlen(param->name) + 1 : param->fallback;
  size_t length = strlen(value);
  if (param->type == RG_PARAM_REALS && value[0] == '[' && !strchr(value, ',')) {
    value++; /* a list of one number is that number */
    length -= 2;
  }
  PetscCall(rg_text_add(text, "%.*s", (int)length, value));
  if (param->type == RG_PARAM_BOOL) *kind = RG_SWEPT_LOGICAL;
  else if (param->type != RG_PARAM_CHOICE && rg_number_only(text->data + before, &number))
    *kind = param->type == RG_PARAM_INT ? RG_SWEPT_INTEGER : RG_SWEPT_NUMBER;
  PetscCall(rg_text_clear(&canonical));
  return 0;
}

/* Append all settings of a block, but for those that only lay out work over ranks. */
static PetscErrorCode add_settings(const RgStudy *study, const RgCell *cell, RgBlock block,
                                   RgText *text)
{
  for (const RgParam *param = rg_cell_table(cell, block); param && param->name; param++) {
    const size_t before = text->length;
    RgSweptKind kind;
    if (!rg_is_param(param) || param->choices == rg_param_layout) continue;
    PetscCall(rg_text_add(text, " %s.%s", rg_blocks[block].part, param->name));
    PetscCall(rg_text_add_bytes(text, "", 1));
    PetscCall(add_value(study, param, rg_cell_options(cell, block), text, &kind));
    PetscCall(rg_text_add_bytes(text, "", 1));
    text->data[before] = (char)('0' + kind);
  }
  return 0;
}

static PetscErrorCode copy_texts(const RgCell *cell, RgCellData *data)
{
  const struct {
    const char *from;
    char **to;
  } texts[] = {{cell->problem_label, &data->problem_label},
               {cell->algorithm_label, &data->algorithm_label},
               {cell->method ? cell->method : cell->algorithm_label, &data->method},
               {cell->problem->name, &data->problem},
               {cell->algorithm->name, &data->algorithm},
               {cell->law, &data->law},
               {cell->measure, &data->measure},
               {cell->scores, &data->scores},
               {cell->inputs, &data->inputs},
               {cell->contexts, &data->contexts},
               {cell->swept, &data->swept},
               {"y", &data->regret_units}};
  RgText stops = {0};

  for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
    PetscCall(copy(texts[i].from, texts[i].to));
  if (!isnan(cell->run.stop_regret)) PetscCall(rg_text_add(&stops, " regret"));
  if (!isnan(cell->run.stop_seconds)) PetscCall(rg_text_add(&stops, " seconds"));
  if (cell->run.stop_rule) PetscCall(rg_text_add(&stops, " rule"));
  if (rg_crew_has_clock(&cell->crew) && !isnan(cell->crew.time))
    PetscCall(rg_text_add(&stops, " time"));
  PetscCall(copy(stops.length ? stops.data + 1 : "", &data->stops));
  PetscCall(rg_text_clear(&stops));
  return 0;
}

PetscErrorCode rg_cell_data(const RgStudy *study, int c, RgCellData **found)
{
  static const RgBlock order[RG_BLOCK_COUNT] = {
    RG_BLOCK_PROBLEM,   RG_BLOCK_RUN,      RG_BLOCK_WORKERS,   RG_BLOCK_CREW,
    RG_BLOCK_NOISE,     RG_BLOCK_THINKING, RG_BLOCK_ALGORITHM, RG_BLOCK_PENDING,
    RG_BLOCK_SURROGATE, RG_BLOCK_MAXIMISER};
  RgCell *cell = &study->cells[c];
  RgCellData *data;
  uint64_t hash[2];

  *found = cell->data;
  if (cell->data) return 0;
  PetscCall(PetscNew(&data));
  *data = (RgCellData){.references = 1,
                       .problem_revision = cell->problem->revision,
                       .algorithm_revision = cell->algorithm->revision,
                       .order = c,
                       .problem_number = cell->problem_number,
                       .algorithm_number = cell->algorithm_number,
                       .seeds = cell->n_seeds,
                       .instances = rg_study_instances(study, cell),
                       .initial_points = cell->run.initial_points,
                       .iterations = cell->run.iterations,
                       .dynamic = cell->dynamic};
  rg_hash128(cell->text, strlen(cell->text), hash);
  rg_hash_hex(hash, data->id);
  PetscCall(copy_texts(cell, data));
  for (const RgSwept *s = cell->settings; s < cell->settings + cell->n_swept; s++)
    PetscCall(rg_swept_add(s->name, s->text, s->kind, s->part, s->units, s->doc, &data->n_swept,
                           &data->axes));
  for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
    if (rg_cell_reads(cell, order[i]))
      PetscCall(add_settings(study, cell, order[i], &data->settings));
  const char *goal = rg_cell_data_setting(data, "problem.goal");
  PetscCall(copy(goal ? goal : "maximise", &data->goal));
  cell->data = *found = data;
  return 0;
}
