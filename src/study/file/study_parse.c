/* The top level of a study file, and the steps from its text to the study. */
#include "base/files.h"
#include "base/grow.h"
#include "base/text.h"
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

/* ---- readers of keys (RgStudyKey) ------------------------------------------------------------ */

static PetscErrorCode add_text(const RgDraft *draft, const RgStudyKey *key, const RgYamlNode *node,
                               RgText *text)
{
  char got[64];

  if (node->kind != RG_YAML_SCALAR || rg_yaml_is_null(node))
    return RG_MISTAKE(draft, node, "'%s' must be a text, got %s", key->name,
                      rg_yaml_describe(node, got));
  size_t n = strlen(node->text);
  while (n && isspace((unsigned char)node->text[n - 1])) n--;
  return rg_text_add_bytes(text, node->text, n);
}

static PetscErrorCode read_text(const RgDraft *draft, const RgStudyKey *key, const RgYamlNode *node,
                                RgStudy *study)
{
  RgText text = {0};

  PetscCall(rg_text_add(&text, "%s", ""));
  if (node) PetscCall(add_text(draft, key, node, &text));
  *(char **)((char *)study + key->offset) = text.data;
  return 0;
}

/* Read a text, or a list of texts, which become one. */
static PetscErrorCode read_texts(const RgDraft *draft, const RgStudyKey *key,
                                 const RgYamlNode *node, RgStudy *study)
{
  RgText text = {0};

  if (!node || node->kind != RG_YAML_LIST) return read_text(draft, key, node, study);
  for (int i = 0; i < node->n; i++) {
    PetscCall(rg_text_add(&text, "%s", i ? ", " : ""));
    PetscCall(add_text(draft, key, node->items[i], &text));
  }
  *(char **)((char *)study + key->offset) = text.data;
  return 0;
}

static PetscErrorCode read_name(const RgDraft *draft, const RgStudyKey *key, const RgYamlNode *node,
                                RgStudy *study)
{
  const int before = draft->diagnostics->n;

  PetscCall(read_text(draft, key, node, study));
  const size_t length = strlen(study->name);
  if (!node)
    RG_MISTAKE(draft, draft->tree.root, "'study' is missing: a study needs a name, 'study: NAME'");
  else if (draft->diagnostics->n == before &&
           (!length || length > 64 || study->name[0] == '-' ||
            strspn(study->name, "abcdefghijklmnopqrstuvwxyz0123456789_-") < length))
    RG_MISTAKE(draft, node,
               "the study's name must be 1 to 64 lower-case letters, digits, '_' and '-', no '-' "
               "first, got '%.80s'",
               study->name);
  return 0;
}

static PetscErrorCode read_seed(const RgDraft *draft, const RgStudyKey *key, const RgYamlNode *node,
                                RgStudy *study)
{
  study->seed = RG_STUDY_SEED;
  if (node) rg_draft_whole(draft, "'seed'", node, 0, RG_MAX_SEED, &study->seed);
  return 0;
}

static PetscErrorCode read_instances(const RgDraft *draft, const RgStudyKey *key,
                                     const RgYamlNode *node, RgStudy *study)
{
  uint64_t n = 1;

  study->paired = node && node->kind == RG_YAML_SCALAR && !strcmp(node->text, "paired");
  if (node && !study->paired)
    rg_draft_whole(draft, "'instances', if not 'paired',", node, 1, RG_MAX_TRIALS, &n);
  study->n_instances = (int)n;
  return 0;
}

/* Compare pointers to seeds; equal seeds stay in order. */
static int compare_seeds(const void *left, const void *right)
{
  const uint64_t *a = *(uint64_t *const *)left, *b = *(uint64_t *const *)right;

  return *a != *b ? (*a < *b ? -1 : 1) : (a > b) - (a < b);
}

/* Read `[3, 5, 8]`, without repeated seeds. */
static PetscErrorCode read_seed_list(const RgDraft *draft, const RgYamlNode *list, RgStudy *study)
{
  uint64_t **sorted;
  bool fine = true;

  if (!list->n)
    return RG_MISTAKE(draft, list, "'seeds' is an empty list: a study needs at least one seed");
  PetscCall(PetscCalloc1(list->n, &study->seeds));
  PetscCall(PetscMalloc1(list->n, &sorted));
  study->n_seeds = list->n;
  for (int i = 0; i < list->n; i++) {
    sorted[i] = &study->seeds[i];
    fine = rg_draft_whole(draft, "a seed", list->items[i], 0, RG_MAX_SEED, sorted[i]) && fine;
  }
  qsort(sorted, (size_t)list->n, sizeof(*sorted), compare_seeds);
  for (int i = 1; i < list->n && fine; i++)
    if (*sorted[i] == *sorted[i - 1])
      RG_MISTAKE(draft, list->items[sorted[i] - study->seeds], "seed %llu is in the list twice",
                 (unsigned long long)*sorted[i]);
  return PetscFree(sorted);
}

PetscErrorCode rg_study_read_seeds(const RgDraft *draft, const RgStudyKey *key,
                                   const RgYamlNode *node, RgStudy *study)
{
  static const char *const names[] = {"first", "count", NULL};
  uint64_t first = 0, count = 1;

  if (node && node->kind == RG_YAML_LIST) return read_seed_list(draft, node, study);
  if (node && node->kind == RG_YAML_MAP) {
    const RgYamlNode *start = rg_yaml_value(node, "first"), *n = rg_yaml_value(node, "count");
    PetscCall(rg_draft_check_keys(draft, node, " in 'seeds'", names));
    if (start) rg_draft_whole(draft, "'first'", start, 0, RG_MAX_SEED - RG_MAX_TRIALS, &first);
    if (n) rg_draft_whole(draft, "'count'", n, 1, RG_MAX_TRIALS, &count);
    else RG_MISTAKE(draft, node, "'seeds' needs a 'count'");
  } else if (node) {
    rg_draft_whole(draft, "'seeds'", node, 1, RG_MAX_TRIALS, &count);
  }
  PetscCall(PetscMalloc1(count, &study->seeds));
  study->n_seeds = (int)count;
  for (uint64_t i = 0; i < count; i++) study->seeds[i] = first + i;
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

static PetscErrorCode read_record(const RgDraft *draft, const RgStudyKey *key,
                                  const RgYamlNode *node, RgStudy *study)
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
    const char *name = item->text ? item->text : rg_yaml_describe(item, (char[64]){0});
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

/* Read a path, or a list of paths. */
static PetscErrorCode read_against(const RgDraft *draft, const RgStudyKey *key,
                                   const RgYamlNode *node, RgStudy *study)
{
  const bool list = node && node->kind == RG_YAML_LIST;
  RgTexts *against = &study->against;
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

#define TEXT(member) read_text, offsetof(RgStudy, member)
#define TEXTS(which) read_texts, offsetof(RgStudy, credit) + (which) * sizeof(char *)

const RgStudyKey rg_study_keys[] = {
  {"study", "name of the study: lower-case letters, digits, '_' and '-'; required", RG_JOIN_EQUAL,
   read_name, offsetof(RgStudy, name)},
  {"title", "one line for people", RG_JOIN_FIRST, TEXT(title)},
  {"reference", "the paper or report the study belongs to", RG_JOIN_FIRST, TEXT(reference)},
  {"description", "free text", RG_JOIN_FIRST, TEXT(description)},
  {"authors", "who made the study: a text or a list", RG_JOIN_FIRST, TEXTS(RG_CREDIT_AUTHORS)},
  {"licence", "of the results, as its name or address", RG_JOIN_FIRST, TEXTS(RG_CREDIT_LICENCE)},
  {"doi", "by which the results are cited", RG_JOIN_FIRST, TEXTS(RG_CREDIT_DOI)},
  {"keywords", "a text or a list", RG_JOIN_FIRST, TEXTS(RG_CREDIT_KEYWORDS)},
  {"seed", "seed of the whole study, a whole number; default " RG_STUDY_SEED_TEXT, RG_JOIN_EQUAL,
   read_seed, 0},
  {"seeds",
   "trial seeds: their number n (seeds 0 to n-1), a list, or {first: a, count: n}; default 1",
   RG_JOIN_SEEDS, rg_study_read_seeds, 0},
  {"instances",
   "draws of each random problem, crossed with the seeds, or `paired`: every seed has its own "
   "draw, of the same number; default 1",
   RG_JOIN_EQUAL, read_instances, 0},
  {"replicate",
   "cells with more trials than the others: a list of maps with 'seeds' or 'instances', how many "
   "they have, and which they are: 'problem', 'algorithm' (labels), 'swept' (as `regatta plan` "
   "shows them); the seeds continue after the largest one",
   RG_JOIN_EQUAL, NULL, 0},
  {"record",
   "`all`, or {without: [...]}: columns of evaluations that the results file leaves out: `timing` "
   "(seconds of fit, acquisition and evaluation), columns of the model such as `posterior_sd`, and "
   "columns of algorithms; the trials have other keys then, unless only `timing` is left out; "
   "default all",
   RG_JOIN_EQUAL, read_record, 0},
  {"against",
   "results files and archives, a path or a list: their trials of other methods pair with those of "
   "this study (equal problem, instance, seed and budget), so they need no run; `regatta plan` "
   "counts them, pages and claims compare with them; default none",
   RG_JOIN_FIRST, read_against, 0},
  {"common",
   "settings of every problem and algorithm: run settings, workers and clock, 'crew', "
   "'thinking', 'surrogate', 'maximiser', 'pending'",
   RG_JOIN_EQUAL, NULL, 0},
  {"problems", "list of problems: a name, or a map with 'name'; required", RG_JOIN_LIST, NULL, 0},
  {"algorithms", "list of algorithms: a name, or a map with 'name'; required", RG_JOIN_LIST, NULL,
   0},
  {"sweep",
   "list of axes: maps from the path of a setting, or of a block, to a list of values "
   "(whole numbers also as ranges, `1..5`; of a block maps of its settings); axes are "
   "crossed, paths within one axis go together",
   RG_JOIN_AXES, NULL, 0},
  {0}};

const char *const rg_credit_keys[RG_CREDITS + 1] = {[RG_CREDIT_AUTHORS] = "authors",
                                                    [RG_CREDIT_LICENCE] = "licence",
                                                    [RG_CREDIT_DOI] = "doi",
                                                    [RG_CREDIT_KEYWORDS] = "keywords"};

const RgStudyKey rg_entry_keys[] = {
  {.name = "name",
   .doc = "which problem or algorithm; required (regatta list problems|algorithms)"},
  {.name = "label",
   .doc = "how figures and results call it, unique in its list; default: the name"},
  {0}};

/* ---- the whole file -------------------------------------------------------------------------- */

/* Report unknown keys at the top of the file; the entries were parsed before. */
static PetscErrorCode check_keys(RgDraft *draft, const RgYamlNode *root)
{
  const char *names[sizeof rg_study_keys / sizeof *rg_study_keys] = {0};

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

/* Run the steps; each requires that the previous one found no mistakes. */
static PetscErrorCode parse_root(RgDraft *draft, RgStudy *study)
{
  const RgYamlNode *root = draft->tree.root;
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
  for (const RgStudyKey *key = rg_study_keys; key->name; key++)
    if (key->read) PetscCall(key->read(draft, key, rg_yaml_value(root, key->name), study));
  PetscCall(rg_draft_entries(draft));
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
  const int before = diagnostics->n;

  study->registry = registry;
  PetscCall(rg_yaml_parse(path, text, length, &draft.tree, diagnostics));
  if (diagnostics->n == before) {
    PetscCall(PetscStrallocpy(path, &study->path));
    PetscCall(PetscCalloc1(length + 1, &study->text));
    PetscCall(PetscMemcpy(study->text, text, length));
    PetscCall(parse_root(&draft, study));
  }
  for (RgLayer layer = 0; layer < RG_LAYER_COUNT; layer++) {
    for (int i = 0; i < draft.layer[layer].n; i++)
      PetscCall(PetscFree(draft.layer[layer].entries[i].settings));
    PetscCall(PetscFree(draft.layer[layer].entries));
  }
  for (int i = 0; i < draft.n_axes; i++) {
    RgSweepAxis *axis = &draft.axes[i];
    for (int k = 0; k < axis->n_keys; k++) {
      RgSweepKey *key = &axis->keys[k];
      if (key->texts) PetscCall(rg_names_free(key->n, &key->texts));
      PetscCall(RG_FREE(&key->values, &key->column));
    }
    PetscCall(PetscFree(axis->keys));
  }
  PetscCall(PetscFree(draft.axes));
  PetscCall(rg_yaml_destroy(&draft.tree));
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
  return rg_study_load_partly(registry, path, study, NULL, diagnostics);
}

PetscErrorCode rg_study_load_partly(const RgRegistry *registry, const char *path, RgStudy *study,
                                    RgDiagnostics *absent, RgDiagnostics *diagnostics)
{
  char *text;
  size_t length;

  *study = (RgStudy){.programs = true, .absent = absent};
  PetscCall(rg_study_read_file(path, &text, &length, diagnostics));
  if (!text) return 0;
  PetscCall(parse(registry, path, text, length, study, diagnostics));
  return PetscFree(text);
}

bool rg_cell_same_problem(const RgCell *a, const RgCell *b)
{
  const size_t n = a->problem_length;

  return n && n == b->problem_length && !strncmp(a->text, b->text, n);
}

PetscErrorCode rg_study_destroy(RgStudy *study)
{
  for (int i = 0; i < study->n_cells; i++) PetscCall(rg_cell_destroy(&study->cells[i]));
  PetscCall(RG_FREE(&study->cells, &study->shared, &study->seeds, &study->path, &study->text,
                    &study->name, &study->title, &study->reference, &study->description));
  for (int i = 0; i < RG_CREDITS; i++) PetscCall(PetscFree(study->credit[i]));
  PetscCall(rg_names_free(study->without.n, &study->without.values));
  PetscCall(rg_names_free(study->against.n, &study->against.values));
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
