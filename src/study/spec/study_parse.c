/* From the text of a study file to the study: the top level of the file, and the order of the
 * steps. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "study/spec/draft.h"

/* Limits of a study: numbers beyond them are slips of the pen. */
#define MAX_TRIALS 10000000
#define MAX_SEED INT64_MAX /* seeds are stored as signed 64-bit integers */

static RgPlace place_of(const RgDraft *draft, const RgYamlNode *node)
{
  return (RgPlace){draft->path, node->line, node->column};
}

static const RgYamlNode *find(const RgYamlNode *root, const char *key)
{
  const RgYamlEntry *entry = rg_yaml_find(root, key);
  return entry ? entry->value : NULL;
}

static bool is_among(const char *key, const char *const *names)
{
  while (*names && strcmp(*names, key)) names++;
  return *names != NULL;
}

/* A whole number in [least, most]; a mistake leaves *number as it was. */
static bool parse_whole(const RgDraft *draft, const char *what, const RgYamlNode *node,
                        uint64_t least, uint64_t most, uint64_t *number)
{
  const char *text = node->kind == RG_YAML_SCALAR ? node->text : "";
  char *end = NULL, got[64];
  size_t digits = strspn(text, "0123456789");

  errno = 0;
  uint64_t value = digits && !text[digits] ? strtoull(text, &end, 10) : 0;
  if (end && !errno && value >= least && value <= most) {
    *number = value;
    return true;
  }
  rg_diagnostics_add(
    draft->diagnostics, place_of(draft, node), "%s must be a whole number in [%llu, %llu], got %s",
    what, (unsigned long long)least, (unsigned long long)most, rg_yaml_describe(node, got));
  return false;
}

/* A text without white space at its end; NULL node: empty. */
static PetscErrorCode parse_text(const RgDraft *draft, const char *key, const RgYamlNode *node,
                                 char **text)
{
  char got[64];

  PetscFunctionBeginUser;
  bool fine = node && node->kind == RG_YAML_SCALAR && !rg_yaml_is_null(node);
  if (node && !fine)
    rg_diagnostics_add(draft->diagnostics, place_of(draft, node), "'%s' must be a text, got %s",
                       key, rg_yaml_describe(node, got));
  PetscCall(PetscStrallocpy(fine ? node->text : "", text));
  for (size_t n = strlen(*text); n && isspace((unsigned char)(*text)[n - 1]); n--)
    (*text)[n - 1] = '\0';
  PetscFunctionReturn(0);
}

/* A text, or a list of them. */
static PetscErrorCode parse_texts(const RgDraft *draft, const char *key, const RgYamlNode *node,
                                  char **text)
{
  RgText joined = {0};
  char *entry;

  PetscFunctionBeginUser;
  if (!node || node->kind != RG_YAML_LIST) {
    PetscCall(parse_text(draft, key, node, text));
    PetscFunctionReturn(0);
  }
  for (int i = 0; i < node->n; i++) {
    PetscCall(parse_text(draft, key, node->items[i], &entry));
    PetscCall(rg_text_add(&joined, "%s%s", i ? ", " : "", entry));
    PetscCall(PetscFree(entry));
  }
  PetscCall(PetscStrallocpy(joined.data ? joined.data : "", text));
  PetscCall(rg_text_clear(&joined));
  PetscFunctionReturn(0);
}

static PetscErrorCode parse_name(const RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  const RgYamlNode *node = find(root, "study");
  int before = draft->diagnostics->n;

  PetscFunctionBeginUser;
  PetscCall(parse_text(draft, "study", node, &study->name));
  if (draft->diagnostics->n > before) PetscFunctionReturn(0);
  size_t length = strlen(study->name);
  if (!node)
    rg_diagnostics_add(draft->diagnostics, place_of(draft, root),
                       "'study' is missing: a study needs a name, 'study: NAME'");
  else if (!length || length > 64 || study->name[0] == '-' ||
           strspn(study->name, "abcdefghijklmnopqrstuvwxyz0123456789_-") < length)
    rg_diagnostics_add(
      draft->diagnostics, place_of(draft, node),
      "the study's name must be 1 to 64 lower-case letters, digits, '_' and '-', no '-' "
      "first, got '%.80s'",
      study->name);
  PetscFunctionReturn(0);
}

/* first, first + 1, ... */
static PetscErrorCode count_seeds(uint64_t first, uint64_t n, RgStudy *study)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &study->seeds));
  study->n_seeds = (int)n;
  for (uint64_t i = 0; i < n; i++) study->seeds[i] = first + i;
  PetscFunctionReturn(0);
}

/* `{first: a, count: n}`. */
static PetscErrorCode parse_seed_range(RgDraft *draft, const RgYamlNode *map, RgStudy *study)
{
  static const char *const names[] = {"first", "count", NULL};
  uint64_t first = 0, count = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < map->n; i++) {
    const RgYamlEntry *e = &map->entries[i];
    if (!strcmp(e->key, "first"))
      parse_whole(draft, "'first'", e->value, 0, MAX_SEED - MAX_TRIALS, &first);
    else if (!strcmp(e->key, "count"))
      parse_whole(draft, "'count'", e->value, 1, MAX_TRIALS, &count);
    else
      PetscCall(rg_draft_unknown(draft, (RgPlace){draft->path, e->line, e->column}, "key", e->key,
                                 " in 'seeds'", names));
  }
  if (!rg_yaml_find(map, "count"))
    rg_diagnostics_add(draft->diagnostics, place_of(draft, map), "'seeds' needs a 'count'");
  PetscCall(count_seeds(first, count, study));
  PetscFunctionReturn(0);
}

typedef struct {
  uint64_t seed;
  int position;
} Seed;

static int compare_seeds(const void *left, const void *right)
{
  const Seed *a = left, *b = right;
  if (a->seed != b->seed) return a->seed < b->seed ? -1 : 1;
  return a->position - b->position;
}

/* `[3, 5, 8]`: no seed twice. */
static PetscErrorCode parse_seed_list(RgDraft *draft, const RgYamlNode *list, RgStudy *study)
{
  Seed *sorted;
  bool fine = true;

  PetscFunctionBeginUser;
  if (!list->n) {
    rg_diagnostics_add(draft->diagnostics, place_of(draft, list),
                       "'seeds' is an empty list: a study needs at least one seed");
    PetscFunctionReturn(0);
  }
  PetscCall(PetscCalloc1(list->n, &study->seeds));
  PetscCall(PetscCalloc1(list->n, &sorted));
  study->n_seeds = list->n;
  for (int i = 0; i < list->n; i++) {
    if (!parse_whole(draft, "a seed", list->items[i], 0, MAX_SEED, &study->seeds[i])) fine = false;
    sorted[i] = (Seed){study->seeds[i], i};
  }
  qsort(sorted, (size_t)list->n, sizeof(Seed), compare_seeds);
  for (int i = 1; i < list->n && fine; i++)
    if (sorted[i].seed == sorted[i - 1].seed)
      rg_diagnostics_add(draft->diagnostics, place_of(draft, list->items[sorted[i].position]),
                         "seed %llu stands in the list twice", (unsigned long long)sorted[i].seed);
  PetscCall(PetscFree(sorted));
  PetscFunctionReturn(0);
}

static PetscErrorCode parse_seeds(RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  const RgYamlNode *node = find(root, "seeds");
  uint64_t count = 1;

  PetscFunctionBeginUser;
  if (node && node->kind == RG_YAML_LIST) {
    PetscCall(parse_seed_list(draft, node, study));
  } else if (node && node->kind == RG_YAML_MAP) {
    PetscCall(parse_seed_range(draft, node, study));
  } else {
    if (node) parse_whole(draft, "'seeds'", node, 1, MAX_TRIALS, &count);
    PetscCall(count_seeds(0, count, study));
  }
  PetscFunctionReturn(0);
}

/* ---- cells with more trials ------------------------------------------------------------------ */

enum { CELL_PROBLEM, CELL_ALGORITHM, CELL_SWEPT, CELL_WORDS };
static const char *const replicate_names[] = {"problem", "algorithm", "swept",
                                              "seeds",   "instances", NULL};

static const char *word_of(const RgCell *cell, int which)
{
  return which == CELL_PROBLEM     ? cell->problem_label
         : which == CELL_ALGORITHM ? cell->algorithm_label
                                   : cell->swept;
}

/* Whether the cell has the word; NULL: nothing is asked for. */
static bool has_word(const RgCell *cell, int which, const RgYamlNode *word)
{
  return !word || (word->text && !strcmp(word->text, word_of(cell, which)));
}

/* The words of cells that no cell has. */
static PetscErrorCode check_words(RgDraft *draft, const RgYamlNode *const words[CELL_WORDS],
                                  const RgStudy *study)
{
  const char **known;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(study->n_cells + 1, &known));
  for (int k = 0; k < CELL_WORDS; k++) {
    bool found = false;
    int n = 0;
    for (int c = 0; c < study->n_cells; c++) {
      found = found || has_word(&study->cells[c], k, words[k]);
      if (!n || strcmp(known[n - 1], word_of(&study->cells[c], k)))
        known[n++] = word_of(&study->cells[c], k);
    }
    known[n] = NULL;
    if (!found)
      PetscCall(rg_draft_unknown(draft, place_of(draft, words[k]), replicate_names[k],
                                 words[k]->text ? words[k]->text : "", " in 'replicate'", known));
  }
  PetscCall(PetscFree(known));
  PetscFunctionReturn(0);
}

/* The cells of these words have so many trials. */
static void raise_cells(RgDraft *draft, const RgYamlNode *map,
                        const RgYamlNode *const words[CELL_WORDS], int n_seeds, int n_instances,
                        RgStudy *study)
{
  int found = 0;

  for (int c = 0; c < study->n_cells; c++) {
    RgCell *cell = &study->cells[c];
    bool mine = true;
    for (int k = 0; k < CELL_WORDS; k++) mine = mine && has_word(cell, k, words[k]);
    if (!mine) continue;
    cell->n_seeds = PetscMax(cell->n_seeds, n_seeds);
    cell->n_instances = PetscMax(cell->n_instances, n_instances);
    found++;
  }
  if (!found)
    rg_diagnostics_add(draft->diagnostics, place_of(draft, map),
                       "'replicate' names a cell that the study has not: this problem, algorithm "
                       "and swept settings don't meet");
}

/* One entry of `replicate`. */
static PetscErrorCode replicate_cells(RgDraft *draft, const RgYamlNode *map, RgStudy *study)
{
  const RgYamlNode *words[CELL_WORDS], *seeds = find(map, "seeds"),
                                       *instances = find(map, "instances");
  uint64_t n_seeds = 0, n_instances = 0;
  const int before = draft->diagnostics->n;

  PetscFunctionBeginUser;
  for (int i = 0; i < map->n; i++)
    if (!is_among(map->entries[i].key, replicate_names))
      PetscCall(rg_draft_unknown(
        draft, (RgPlace){draft->path, map->entries[i].line, map->entries[i].column}, "key",
        map->entries[i].key, " in 'replicate'", replicate_names));
  for (int k = 0; k < CELL_WORDS; k++) words[k] = find(map, replicate_names[k]);
  if (!seeds && (!instances || study->paired))
    rg_diagnostics_add(draft->diagnostics, place_of(draft, map), "'replicate' needs 'seeds'%s",
                       study->paired ? " where instances are paired" : " or 'instances'");
  if (seeds) parse_whole(draft, "'seeds'", seeds, (uint64_t)study->n_seeds, MAX_TRIALS, &n_seeds);
  if (instances)
    parse_whole(draft, "'instances'", instances, (uint64_t)study->n_instances, MAX_TRIALS,
                &n_instances);
  PetscCall(check_words(draft, words, study));
  if (draft->diagnostics->n == before)
    raise_cells(draft, map, words, (int)n_seeds, (int)n_instances, study);
  PetscFunctionReturn(0);
}

/* What each cell has, and the seeds that some have beyond the others'. */
static PetscErrorCode parse_replicate(RgDraft *draft, const RgYamlNode *list, RgStudy *study)
{
  uint64_t last = 0, *seeds;
  int most = study->n_seeds;
  char got[64];

  PetscFunctionBeginUser;
  for (int c = 0; c < study->n_cells; c++) {
    study->cells[c].n_seeds = study->n_seeds;
    study->cells[c].n_instances = study->n_instances;
  }
  if (!list) PetscFunctionReturn(0);
  if (list->kind != RG_YAML_LIST)
    rg_diagnostics_add(draft->diagnostics, place_of(draft, list),
                       "'replicate' must be a list of maps, got %s", rg_yaml_describe(list, got));
  for (int i = 0; i < (list->kind == RG_YAML_LIST ? list->n : 0); i++) {
    if (list->items[i]->kind == RG_YAML_MAP)
      PetscCall(replicate_cells(draft, list->items[i], study));
    else
      rg_diagnostics_add(draft->diagnostics, place_of(draft, list->items[i]),
                         "an entry of 'replicate' must be a map, got %s",
                         rg_yaml_describe(list->items[i], got));
  }
  for (int c = 0; c < study->n_cells; c++) most = PetscMax(most, study->cells[c].n_seeds);
  for (int i = 0; i < study->n_seeds; i++) last = PetscMax(last, study->seeds[i]);
  if (last > MAX_SEED - (uint64_t)most)
    rg_diagnostics_add(draft->diagnostics, place_of(draft, list),
                       "'replicate' has no seeds left after %llu", (unsigned long long)last);
  PetscCall(PetscMalloc1(most, &seeds));
  for (int i = 0; i < most; i++)
    seeds[i] = i < study->n_seeds ? study->seeds[i] : last + 1 + (uint64_t)(i - study->n_seeds);
  PetscCall(PetscFree(study->seeds));
  study->seeds = seeds;
  PetscFunctionReturn(0);
}

static bool belongs_to_common(const char *key)
{
  for (RgBlock b = 0; b < RG_BLOCK_COUNT; b++)
    if (rg_block_names[b] && !strcmp(rg_block_names[b], key)) return true;
  return rg_params_find(rg_run_params, key) != NULL;
}

/* Everything of the file but entries and sweep. */
static PetscErrorCode parse_header(RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  const RgYamlNode *seed = find(root, "seed"), *instances = find(root, "instances");
  uint64_t n_instances = 1;
  const char *names[32] = {0};

  PetscFunctionBeginUser;
  for (int i = 0; rg_study_keys[i].name; i++) names[i] = rg_study_keys[i].name;
  for (int i = 0; i < root->n; i++) {
    const RgYamlEntry *e = &root->entries[i];
    const RgPlace place = {draft->path, e->line, e->column};
    if (is_among(e->key, names)) continue;
    if (belongs_to_common(e->key))
      rg_diagnostics_add(draft->diagnostics, place,
                         "unknown key '%s' in the study; it belongs to the 'common' block", e->key);
    else PetscCall(rg_draft_unknown(draft, place, "key", e->key, " in the study", names));
  }
  PetscCall(parse_name(draft, root, study));
  PetscCall(parse_text(draft, "title", find(root, "title"), &study->title));
  PetscCall(parse_text(draft, "reference", find(root, "reference"), &study->reference));
  PetscCall(parse_text(draft, "description", find(root, "description"), &study->description));
  for (int i = 0; i < RG_CREDITS; i++)
    PetscCall(
      parse_texts(draft, rg_credit_keys[i], find(root, rg_credit_keys[i]), &study->credit[i]));
  study->seed = 1;
  if (seed) parse_whole(draft, "'seed'", seed, 0, MAX_SEED, &study->seed);
  if (instances && instances->kind == RG_YAML_SCALAR && !strcmp(instances->text, "paired"))
    study->paired = true;
  else if (instances)
    parse_whole(draft, "'instances', if not 'paired',", instances, 1, MAX_TRIALS, &n_instances);
  study->n_instances = (int)n_instances;
  PetscCall(parse_seeds(draft, root, study));
  PetscFunctionReturn(0);
}

/* The number of trials, before anybody makes them. */
static void check_size(const RgDraft *draft, const RgYamlNode *root, const RgStudy *study)
{
  double n = 0;

  for (int i = 0; i < study->n_cells; i++)
    n += (double)study->cells[i].n_seeds * rg_study_instances(study, &study->cells[i]);
  if (n > MAX_TRIALS)
    rg_diagnostics_add(
      draft->diagnostics, place_of(draft, root),
      "the study has %.0f trials (cells x instances x seeds); at most %d are accepted", n,
      MAX_TRIALS);
}

/* The steps; each needs the one before without mistakes. */
static PetscErrorCode parse_root(RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  RgDiagnostics *diagnostics = draft->diagnostics;
  const RgYamlNode *sweep;
  char got[64];
  const int before = diagnostics->n;

  PetscFunctionBeginUser;
  if (!root || root->kind != RG_YAML_MAP) {
    rg_diagnostics_add(diagnostics,
                       (RgPlace){draft->path, root ? root->line : 1, root ? root->column : 1},
                       "a study file is a map of 'study', 'problems', 'algorithms' ..., got %s",
                       root ? rg_yaml_describe(root, got) : "an empty file");
    PetscFunctionReturn(0);
  }
  PetscCall(parse_header(draft, root, study));
  PetscCall(rg_draft_entries(draft, root));
  sweep = find(root, "sweep");
  if (sweep) PetscCall(rg_draft_sweep(draft, sweep));
  if (diagnostics->n == before) rg_draft_required(draft); /* a mistyped key is not also missing */
  if (diagnostics->n > before) PetscFunctionReturn(0);
  PetscCall(rg_draft_expand(draft, study));
  if (diagnostics->n > before) PetscFunctionReturn(0);
  PetscCall(parse_replicate(draft, find(root, "replicate"), study));
  check_size(draft, root, study);
  PetscCall(rg_study_check(study, diagnostics));
  PetscFunctionReturn(0);
}

/* Put the mistakes from number `first` on in the order of the file, found first first. */
static void sort_diagnostics(RgDiagnostics *diagnostics, int first)
{
  for (int i = first + 1; i < diagnostics->n && i < RG_DIAGNOSTICS_MAX; i++) {
    const RgDiagnostic d = diagnostics->list[i];
    int j = i;
    for (; j > first; j--) {
      const RgPlace before = diagnostics->list[j - 1].place;
      if (before.line < d.place.line ||
          (before.line == d.place.line && before.column <= d.place.column))
        break;
      diagnostics->list[j] = diagnostics->list[j - 1];
    }
    diagnostics->list[j] = d;
  }
}

static PetscErrorCode destroy_axis(RgSweepAxis *axis)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < axis->n_keys; k++) {
    RgSweepKey *key = &axis->keys[k];
    for (int i = 0; i < key->n; i++) {
      if (key->texts) PetscCall(PetscFree(key->texts[i]));
      PetscCall(PetscFree(key->made[i].text));
    }
    PetscCall(PetscFree(key->texts));
    PetscCall(PetscFree(key->column));
    PetscCall(PetscFree2(key->values, key->made));
  }
  PetscCall(PetscFree(axis->keys));
  PetscFunctionReturn(0);
}

static PetscErrorCode draft_destroy(RgDraft *draft)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(draft->common.settings));
  for (int i = 0; i < draft->n_problems; i++) PetscCall(PetscFree(draft->problems[i].settings));
  for (int i = 0; i < draft->n_algorithms; i++) PetscCall(PetscFree(draft->algorithms[i].settings));
  for (int i = 0; i < draft->n_axes; i++) PetscCall(destroy_axis(&draft->axes[i]));
  PetscCall(PetscFree(draft->problems));
  PetscCall(PetscFree(draft->algorithms));
  PetscCall(PetscFree(draft->axes));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_parse(const RgRegistry *registry, const char *path, const char *text,
                              size_t length, RgStudy *study, RgDiagnostics *diagnostics)
{
  RgDraft draft = {.registry = registry, .path = path, .diagnostics = diagnostics};
  RgYamlTree tree;
  const int before = diagnostics->n;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(study, sizeof(*study)));
  study->registry = registry;
  PetscCall(rg_yaml_parse(path, text, length, &tree, diagnostics));
  if (diagnostics->n == before) {
    PetscCall(PetscStrallocpy(path, &study->path));
    PetscCall(PetscCalloc1(length + 1, &study->text));
    PetscCall(PetscMemcpy(study->text, text, length));
    PetscCall(parse_root(&draft, tree.root, study));
  }
  PetscCall(draft_destroy(&draft));
  PetscCall(rg_yaml_destroy(&tree));
  for (int i = 0; i < study->n_cells; i++)
    study->cells[i].problem_place.file = study->cells[i].algorithm_place.file = study->path;
  sort_diagnostics(diagnostics, before);
  PetscFunctionReturn(0);
}
