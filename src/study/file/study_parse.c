/* The top level of a study file, and the steps from its text to the study. */
#include "base/files.h"
#include "base/grow.h"
#include "regatta/algorithm.h"
#include "regatta/results.h"
#include "study/file/draft.h"
#include "study/file/registry.h"
#include "study/file/study.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const initial_designs[] = {"uniform", "sobol", "latin_hypercube", NULL};

const RgParam rg_run_params[] = {
  RG_INT("iterations", RgTrialSettings, iterations, NULL, 1, 1000000, "T",
         "queries after the initial design"),
  RG_INT("initial_points", RgTrialSettings, initial_points, "auto", 0, 1000000, "n0",
         "size of the initial design; auto: 2^dim of the design, but no more than 4 dim and no "
         "more than a finite design has points"),
  RG_CHOICE("initial_design", RgTrialSettings, initial_design, "uniform", initial_designs, "",
            "how the initial design is drawn; the same for all algorithms of a seed"),
  RG_ENTRY("given", PATH, RgTrialSettings, given, char *, "auto", 0, 0, rg_param_later, "",
           "file of comma-separated designs that the initial design begins with, a column per "
           "coordinate by its name (x1, x2, ... without names), native units; initial_points: auto "
           "is their number then. With a further column y the designs are not evaluated: these "
           "are their values, of the program's own sign where a problem has a goal. auto: none"),
  RG_ENTRY("on_failure", TEXT, RgTrialSettings, on_failure, char *, "auto", 0, 0, rg_param_later,
           "",
           "what becomes of an evaluation that crashes, is silent too long or gives no number: the "
           "trial 'fail's, or goes on and it is told as 'penalty VALUE', as the 'worst' value so "
           "far, or as 'infeasible' (the worst to methods that don't know of such); auto: fail"),
  RG_REAL("noise_variance", RgTrialSettings, noise_variance, "0", 0, 1e300, "sigma^2",
          "variance of the Gaussian noise of the observations, native units of f squared"),
  RG_BOOL("noise_known", RgTrialSettings, noise_known, "true",
          "whether the algorithms are told the noise variance"),
  RG_BOOL("count_initial", RgTrialSettings, count_initial, "false",
          "whether the initial design enters the cumulative regret"),
  RG_ENTRY(
    "stop_regret", REAL, RgTrialSettings, stop_regret, double, "auto", 0, 1e300, rg_param_later, "",
    "a trial ends after the initial design or a query when its simple regret is at most this; "
    "auto: it takes its whole budget"),
  RG_ENTRY("stop_seconds", REAL, RgTrialSettings, stop_seconds, double, "auto", 0, 1e9,
           rg_param_later, "s",
           "a trial ends when its evaluations by a program have taken this number of seconds; "
           "auto: it takes its whole budget"),
  RG_ENTRY(
    "stop_rule", BOOL, RgTrialSettings, stop_rule, bool, "false", RG_LATER, 0, NULL, "",
    "a trial ends before the first query that the stopping rule of its method would not make; "
    "methods without such a rule take their whole budget"),
  RG_ENTRY("ranks_per_trial", INT, RgTrialSettings, ranks_per_trial, int, "1", 1, 1000000,
           rg_param_layout, "",
           "ranks that work together on one trial, for large Gaussian processes; auto: one, or a "
           "divisor of the job's ranks where the model outgrows one rank"),
  {0},
};

/* Parse a text and trim white space at its end; a NULL node gives an empty text. */
static PetscErrorCode parse_text(const RgDraft *draft, const char *key, const RgYamlNode *node,
                                 char **text)
{
  char got[64];

  bool fine = node && node->kind == RG_YAML_SCALAR && !rg_yaml_is_null(node);
  if (node && !fine)
    RG_MISTAKE(draft, node, "'%s' must be a text, got %s", key, rg_yaml_describe(node, got));
  PetscCall(PetscStrallocpy(fine ? node->text : "", text));
  for (size_t n = strlen(*text); n && isspace((unsigned char)(*text)[n - 1]); n--)
    (*text)[n - 1] = '\0';
  return 0;
}

static PetscErrorCode parse_texts(const RgDraft *draft, const char *key, const RgYamlNode *node,
                                  char **text)
{
  RgText joined = {0};
  char *entry;

  if (!node || node->kind != RG_YAML_LIST) return parse_text(draft, key, node, text);
  for (int i = 0; i < node->n; i++) {
    PetscCall(parse_text(draft, key, node->items[i], &entry));
    PetscCall(rg_text_add(&joined, "%s%s", i ? ", " : "", entry));
    PetscCall(PetscFree(entry));
  }
  PetscCall(PetscStrallocpy(joined.data ? joined.data : "", text));
  return rg_text_clear(&joined);
}

static PetscErrorCode parse_name(const RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  const RgYamlNode *node = rg_yaml_value(root, "study");
  int before = draft->diagnostics->n;

  PetscCall(parse_text(draft, "study", node, &study->name));
  if (draft->diagnostics->n > before) return 0;
  size_t length = strlen(study->name);
  if (!node) RG_MISTAKE(draft, root, "'study' is missing: a study needs a name, 'study: NAME'");
  else if (!length || length > 64 || study->name[0] == '-' ||
           strspn(study->name, "abcdefghijklmnopqrstuvwxyz0123456789_-") < length)
    RG_MISTAKE(draft, node,
               "the study's name must be 1 to 64 lower-case letters, digits, '_' and '-', no '-' "
               "first, got '%.80s'",
               study->name);
  return 0;
}

/* Set the seeds first, first + 1, ... */
static PetscErrorCode count_seeds(uint64_t first, uint64_t n, RgStudy *study)
{
  PetscCall(PetscMalloc1(n, &study->seeds));
  study->n_seeds = (int)n;
  for (uint64_t i = 0; i < n; i++) study->seeds[i] = first + i;
  return 0;
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

/* Parse `[3, 5, 8]`, without repeated seeds. */
static PetscErrorCode parse_seed_list(RgDraft *draft, const RgYamlNode *list, RgStudy *study)
{
  Seed *sorted;
  bool fine = true;

  if (!list->n)
    return RG_MISTAKE(draft, list, "'seeds' is an empty list: a study needs at least one seed");
  PetscCall(PetscCalloc1(list->n, &study->seeds));
  PetscCall(PetscCalloc1(list->n, &sorted));
  study->n_seeds = list->n;
  for (int i = 0; i < list->n; i++) {
    if (!rg_draft_whole(draft, "a seed", list->items[i], 0, RG_MAX_SEED, &study->seeds[i]))
      fine = false;
    sorted[i] = (Seed){study->seeds[i], i};
  }
  qsort(sorted, (size_t)list->n, sizeof(Seed), compare_seeds);
  for (int i = 1; i < list->n && fine; i++)
    if (sorted[i].seed == sorted[i - 1].seed)
      RG_MISTAKE(draft, list->items[sorted[i].position], "seed %llu is in the list twice",
                 (unsigned long long)sorted[i].seed);
  return PetscFree(sorted);
}

static PetscErrorCode parse_seeds(RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  const RgYamlNode *node = rg_yaml_value(root, "seeds");
  uint64_t count = 1;

  if (node && node->kind == RG_YAML_LIST) {
    PetscCall(parse_seed_list(draft, node, study));
  } else if (node && node->kind == RG_YAML_MAP) {
    /* Parse `{first: a, count: n}`. */
    static const char *const names[] = {"first", "count", NULL};
    uint64_t first = 0;
    count = 0;
    for (int i = 0; i < node->n; i++) {
      const RgYamlEntry *e = &node->entries[i];
      if (!strcmp(e->key, "first"))
        rg_draft_whole(draft, "'first'", e->value, 0, RG_MAX_SEED - RG_MAX_TRIALS, &first);
      else if (!strcmp(e->key, "count"))
        rg_draft_whole(draft, "'count'", e->value, 1, RG_MAX_TRIALS, &count);
      else
        PetscCall(
          rg_draft_unknown(draft, RG_PLACE_OF(draft, e), "key", e->key, " in 'seeds'", names));
    }
    if (!rg_yaml_find(node, "count")) RG_MISTAKE(draft, node, "'seeds' needs a 'count'");
    PetscCall(count_seeds(first, count, study));
  } else {
    if (node) rg_draft_whole(draft, "'seeds'", node, 1, RG_MAX_TRIALS, &count);
    PetscCall(count_seeds(0, count, study));
  }
  return 0;
}

/* Report unknown keys at the top of the file; the entries were parsed before. */
static PetscErrorCode check_keys(RgDraft *draft, const RgYamlNode *root)
{
  const char *names[32] = {0};

  for (int i = 0; rg_study_keys[i].name; i++) names[i] = rg_study_keys[i].name;
  for (int i = 0; i < root->n; i++) {
    const RgYamlEntry *e = &root->entries[i];
    const RgPlace place = RG_PLACE_OF(draft, e);
    if (rg_draft_is_among(e->key, names) ||
        rg_draft_elsewhere(draft, NULL, NULL, " in the study", e, names))
      continue;
    PetscCall(rg_draft_unknown(draft, place, "key", e->key, " in the study", names));
  }
  return 0;
}

/* Names that `record: {without: ...}` accepts; ends with NULL. The caller frees the list. */
static PetscErrorCode list_optional(const RgRegistry *registry, const char ***names)
{
  int n_classes = 0, n = 0;

  while (rg_registry_algorithm(registry, n_classes)) n_classes++;
  PetscCall(PetscCalloc1(RG_COLUMN_COUNT + 2 + n_classes * RG_EXTRA_MAX, names));
  (*names)[n++] = RG_WITHOUT_TIMING;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if ((c >= RG_COLUMN_POSTERIOR_SD && c <= RG_COLUMN_JITTER) ||
        (c >= RG_COLUMN_SOLVER_ITERATIONS && c <= RG_COLUMN_FIT_FROM))
      (*names)[n++] = rg_columns[c].name;
  for (int i = 0; i < n_classes; i++)
    for (const RgRecordColumn *c = rg_registry_algorithm(registry, i)->columns; c && c->name; c++)
      if (!rg_draft_is_among(c->name, *names)) (*names)[n++] = c->name;
  return 0;
}

static int compare_texts(const void *left, const void *right)
{
  return strcmp(*(char *const *)left, *(char *const *)right);
}

static PetscErrorCode parse_record(RgDraft *draft, const RgYamlNode *node, RgStudy *study)
{
  RgTexts *without = &study->without;
  const RgYamlNode *list =
    node && node->kind == RG_YAML_MAP ? rg_yaml_value(node, "without") : NULL;
  const char **names;

  if (!node || (node->kind == RG_YAML_SCALAR && !strcmp(node->text, "all"))) return 0;
  if (!list || list->kind != RG_YAML_LIST || node->n > 1)
    return RG_MISTAKE(draft, node, "'record' must be 'all' or '{without: [COLUMN, ...]}'");
  PetscCall(list_optional(study->registry, &names));
  PetscCall(PetscCalloc1(list->n, &without->values));
  for (int i = 0; i < list->n; i++) {
    const RgYamlNode *item = list->items[i];
    const char *name = item->kind == RG_YAML_SCALAR ? item->text : "";
    if (!rg_draft_is_among(name, names))
      PetscCall(rg_draft_unknown(draft, RG_PLACE_OF(draft, item), "column", name,
                                 " that 'record' can leave out", names));
    PetscCall(PetscStrallocpy(name, &without->values[without->n++]));
  }
  if (without->n) qsort(without->values, (size_t)without->n, sizeof(char *), compare_texts);
  for (int i = 1; i < without->n; i++)
    if (!strcmp(without->values[i], without->values[i - 1]))
      RG_MISTAKE(draft, list, "'record' leaves out '%s' twice", without->values[i]);
  return PetscFree(names);
}

/* Parse `against`. */
static PetscErrorCode parse_against(const RgDraft *draft, const RgYamlNode *node, RgTexts *against)
{
  const bool list = node && node->kind == RG_YAML_LIST;
  char got[64];

  if (!node) return 0;
  against->n = list ? node->n : 1;
  PetscCall(PetscCalloc1(against->n, &against->values));
  for (int i = 0; i < against->n; i++) {
    const RgYamlNode *item = list ? node->items[i] : node;
    if (item->kind != RG_YAML_SCALAR || rg_yaml_is_null(item) || !item->text[0])
      RG_MISTAKE(draft, item, "'against' must be a path or a list of paths, got %s",
                 rg_yaml_describe(item, got));
    else PetscCall(PetscStrallocpy(item->text, &against->values[i]));
  }
  return 0;
}

/* Parse the file except entries and sweep. */
static PetscErrorCode parse_header(RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  const RgYamlNode *seed = rg_yaml_value(root, "seed"),
                   *instances = rg_yaml_value(root, "instances");
  uint64_t n_instances = 1;

  PetscCall(parse_name(draft, root, study));
  PetscCall(parse_text(draft, "title", rg_yaml_value(root, "title"), &study->title));
  PetscCall(parse_text(draft, "reference", rg_yaml_value(root, "reference"), &study->reference));
  PetscCall(
    parse_text(draft, "description", rg_yaml_value(root, "description"), &study->description));
  for (int i = 0; i < RG_CREDITS; i++)
    PetscCall(parse_texts(draft, rg_credit_keys[i], rg_yaml_value(root, rg_credit_keys[i]),
                          &study->credit[i]));
  PetscCall(parse_record(draft, rg_yaml_value(root, "record"), study));
  PetscCall(parse_against(draft, rg_yaml_value(root, "against"), &study->against));
  study->seed = RG_STUDY_SEED;
  if (seed) rg_draft_whole(draft, "'seed'", seed, 0, RG_MAX_SEED, &study->seed);
  if (instances && instances->kind == RG_YAML_SCALAR && !strcmp(instances->text, "paired"))
    study->paired = true;
  else if (instances)
    rg_draft_whole(draft, "'instances', if not 'paired',", instances, 1, RG_MAX_TRIALS,
                   &n_instances);
  study->n_instances = (int)n_instances;
  return parse_seeds(draft, root, study);
}

/* Run the steps; each requires that the previous one found no mistakes. */
static PetscErrorCode parse_root(RgDraft *draft, const RgYamlNode *root, RgStudy *study)
{
  RgDiagnostics *diagnostics = draft->diagnostics;
  const RgYamlNode *sweep;
  char got[64];
  const int before = diagnostics->n;

  if (!root || root->kind != RG_YAML_MAP) {
    return rg_diagnostics_add(
      diagnostics, (RgPlace){draft->path, root ? root->line : 1, root ? root->column : 1},
      "a study file is a map of 'study', 'problems', 'algorithms' ..., got %s",
      root ? rg_yaml_describe(root, got) : "an empty file");
  }
  PetscCall(parse_header(draft, root, study));
  PetscCall(rg_draft_entries(draft, root));
  PetscCall(check_keys(draft, root));
  sweep = rg_yaml_value(root, "sweep");
  if (sweep) PetscCall(rg_draft_sweep(draft, sweep));
  /* A mistyped key should not also be reported as missing. */
  if (diagnostics->n == before) rg_draft_required(draft);
  if (diagnostics->n > before) return 0;
  PetscCall(rg_draft_expand(draft, study));
  if (diagnostics->n > before) return 0;
  PetscCall(rg_draft_replicate(draft, rg_yaml_value(root, "replicate"), study));
  /* Check the number of trials before they are created. */
  double n = 0;
  for (int i = 0; i < study->n_cells; i++)
    n += (double)study->cells[i].n_seeds * rg_study_instances(study, &study->cells[i]);
  if (n > RG_MAX_TRIALS)
    RG_MISTAKE(draft, root,
               "the study has %.0f trials (cells x instances x seeds); at most %d are accepted", n,
               RG_MAX_TRIALS);
  return rg_study_check(study, diagnostics);
}

/* Sort the mistakes from number `first` on by their place in the file; equal places stay in
   order. */
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

/* study: zeroed but for what its text may open. */
static PetscErrorCode parse(const RgRegistry *registry, const char *path, const char *text,
                            size_t length, RgStudy *study, RgDiagnostics *diagnostics)
{
  RgDraft draft = {.registry = registry, .path = path, .diagnostics = diagnostics};
  RgYamlTree tree;
  const int before = diagnostics->n;

  study->registry = registry;
  PetscCall(rg_yaml_parse(path, text, length, &tree, diagnostics));
  if (diagnostics->n == before) {
    PetscCall(PetscStrallocpy(path, &study->path));
    PetscCall(PetscCalloc1(length + 1, &study->text));
    PetscCall(PetscMemcpy(study->text, text, length));
    PetscCall(parse_root(&draft, tree.root, study));
  }
  PetscCall(PetscFree(draft.common.settings));
  for (int i = 0; i < draft.n_problems; i++) PetscCall(PetscFree(draft.problems[i].settings));
  for (int i = 0; i < draft.n_algorithms; i++) PetscCall(PetscFree(draft.algorithms[i].settings));
  for (int i = 0; i < draft.n_axes; i++) {
    RgSweepAxis *axis = &draft.axes[i];
    for (int k = 0; k < axis->n_keys; k++) {
      RgSweepKey *key = &axis->keys[k];
      for (int v = 0; v < key->n; v++) {
        if (key->texts) PetscCall(PetscFree(key->texts[v]));
        PetscCall(PetscFree(key->made[v].text));
      }
      PetscCall(RG_FREE(&key->texts, &key->column));
      PetscCall(PetscFree2(key->values, key->made));
    }
    PetscCall(PetscFree(axis->keys));
  }
  PetscCall(RG_FREE(&draft.problems, &draft.algorithms, &draft.axes));
  PetscCall(rg_yaml_destroy(&tree));
  for (int i = 0; i < study->n_cells; i++)
    study->cells[i].problem_place.file = study->cells[i].algorithm_place.file = study->path;
  sort_diagnostics(diagnostics, before);
  return 0;
}

PetscErrorCode rg_study_parse(const RgRegistry *registry, const char *path, const char *text,
                              size_t length, RgStudy *study, RgDiagnostics *diagnostics)
{
  *study = (RgStudy){.programs = true};
  return parse(registry, path, text, length, study, diagnostics);
}

PetscErrorCode rg_study_parse_stored(const RgRegistry *registry, const char *path, const char *text,
                                     bool programs, RgStudy *study, RgDiagnostics *diagnostics)
{
  *study = (RgStudy){.stored = true, .programs = programs};
  return parse(registry, path, text, strlen(text), study, diagnostics);
}

PetscErrorCode rg_study_read_file(const char *path, char **text, size_t *length,
                                  RgDiagnostics *diagnostics)
{
  RgText mistake = {0};

  PetscCall(rg_file_read(path, RG_YAML_MAX_BYTES, text, length, &mistake));
  if (!*text)
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0}, "the study file %s", mistake.data);
  return rg_text_clear(&mistake);
}

PetscErrorCode rg_study_load(const RgRegistry *registry, const char *path, RgStudy *study,
                             RgDiagnostics *diagnostics)
{
  char *text;
  size_t length;

  PetscCall(PetscMemzero(study, sizeof(*study)));
  PetscCall(rg_study_read_file(path, &text, &length, diagnostics));
  if (!text) return 0;
  PetscCall(rg_study_parse(registry, path, text, length, study, diagnostics));
  return PetscFree(text);
}

bool rg_cell_same_problem(const RgCell *a, const RgCell *b)
{
  const size_t n = a->problem_length;

  return n && n == b->problem_length && !strncmp(a->text, b->text, n);
}

static PetscErrorCode free_texts(RgTexts *texts)
{
  for (int i = 0; i < texts->n; i++) PetscCall(PetscFree(texts->values[i]));
  return PetscFree(texts->values);
}

PetscErrorCode rg_study_destroy(RgStudy *study)
{
  for (int i = 0; i < study->n_cells; i++) PetscCall(rg_cell_destroy(&study->cells[i]));
  PetscCall(RG_FREE(&study->cells, &study->shared, &study->seeds, &study->path, &study->text,
                    &study->name, &study->title, &study->reference, &study->description));
  for (int i = 0; i < RG_CREDITS; i++) PetscCall(PetscFree(study->credit[i]));
  PetscCall(free_texts(&study->without));
  PetscCall(free_texts(&study->against));
  return PetscMemzero(study, sizeof(*study));
}

PetscErrorCode rg_study_open(const RgRegistry *registry, const char *path, RgStudy **study,
                             RgDiagnostics *diagnostics)
{
  const int before = diagnostics->n;

  PetscCall(PetscNew(study));
  PetscCall(rg_study_load(registry, path, *study, diagnostics));
  if (diagnostics->n > before) PetscCall(rg_study_close(study));
  return 0;
}

PetscErrorCode rg_study_close(RgStudy **study)
{
  if (*study) PetscCall(rg_study_destroy(*study));
  return PetscFree(*study);
}

const char *rg_study_name(const RgStudy *study)
{
  return study->name;
}
