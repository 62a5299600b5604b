/* regatta info RESULTS.h5: summarise a results file, or a study that is still running. */
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/inputs.h"
#include "base/hash.h"
#include "base/number.h"
#include "cli/planned.h"
#include "cli/shield.h"
#include "base/table.h"
#include "cli/arguments.h"
#include "study/run/origin.h"
#include "study/file/swept.h"
#include "study/store/store.h"

enum { OPT_STUDY, OPT_FAILED, OPT_WHERE };

static const RgOption options[] = {
  {"-study", NULL, "print the study file the results come from, nothing else"},
  {"-failed", NULL, "list all failed trials, not only the first of them"},
  {"-where", "NAME=VALUE,...",
   "only cells of these values of swept settings, and those that don't read them"},
  {NULL, NULL, NULL},
};

enum { FAILED_SHOWN = 5 };

/* ---- findings -------------------------------------------------------------------------------- */

/* A line of the table: one cell. */
typedef struct {
  char cell[RG_ID_LENGTH + 1];
  char *problem, *algorithm, *swept; /* owned */
  int n_swept;
  RgSwept *settings;    /* owned */
  bool earlier, hidden; /* hidden: -where excludes the cell */
  int n, n_failed;
  /* failures: evaluations that failed; infeasible: other evaluations that violate a constraint */
  long evaluations, failures, infeasible;
  double cpu;
  double *regret; /* final simple regret of the n trials, NaN: unknown; owned */
} Line;

/* The best evaluation of a problem whose inputs have names. */
typedef struct {
  char *problem; /* owned */
  double f;
  RgText point;
} Best;

typedef struct {
  char host[RG_NAME_MAX];
  double first, last; /* Unix time of the first start and the last end, by the host's clock */
} Span;

typedef struct {
  Line *lines; /* owned */
  int n_lines;
  Best *best; /* owned */
  int n_best;
  int n_slots, *slots; /* hash table of the lines: a power of two, -1: empty; owned */
  int n_where;
  RgSwept *where; /* owned */
  int n, n_earlier, n_failed;
  bool all_failed; /* list all failed trials */
  int n_spans;
  Span *spans; /* one per host, because their clocks differ; owned */
  RgText failed;
  RgOriginSurvey origins;
  RgText plugins;
} Contents;

static bool is_line_of(const Line *line, const RgRecord *record)
{
  return line->earlier == record->earlier && !strcmp(line->cell, record->cell) &&
         !strcmp(line->problem, record->problem_label) &&
         !strcmp(line->algorithm, record->algorithm_label);
}

/* The slot of a cell's line in the hash table, or the free slot for it. */
static int *slot_of(const Contents *contents, const char *cell)
{
  uint64_t hash[2];

  rg_hash128(cell, strlen(cell), hash);
  return &contents->slots[hash[0] & (uint64_t)(contents->n_slots - 1)];
}

static int *next_slot(const Contents *contents, int *slot)
{
  return slot + 1 < contents->slots + contents->n_slots ? slot + 1 : contents->slots;
}

/* Double the number of slots before half of them are full. */
static PetscErrorCode grow_slots(Contents *contents)
{
  if (2 * contents->n_lines < contents->n_slots) return 0;
  contents->n_slots = PetscMax(64, 2 * contents->n_slots);
  PetscCall(PetscFree(contents->slots));
  PetscCall(PetscMalloc1(contents->n_slots, &contents->slots));
  for (int i = 0; i < contents->n_slots; i++) contents->slots[i] = -1;
  for (int i = 0; i < contents->n_lines; i++) {
    int *slot = slot_of(contents, contents->lines[i].cell);
    while (*slot >= 0) slot = next_slot(contents, slot);
    *slot = i;
  }
  return 0;
}

/* Whether -where excludes a line because its value of a setting differs. */
static bool is_hidden(const Contents *contents, const Line *line)
{
  for (int i = 0; i < contents->n_where; i++) {
    const RgSwept *wanted = &contents->where[i];
    const RgSwept *own = rg_swept_find(line->n_swept, line->settings, wanted->name);
    if (own && !rg_swept_same(own->text, wanted->text)) return true;
  }
  return false;
}

static PetscErrorCode add_line(Contents *contents, const RgRecord *record, Line **line)
{
  PetscCall(RG_GROW(contents->n_lines, contents->lines));
  *line = &contents->lines[contents->n_lines++];
  PetscCall(PetscMemzero(*line, sizeof(**line)));
  memcpy((*line)->cell, record->cell, sizeof(record->cell));
  (*line)->earlier = record->earlier;
  (*line)->n_swept = record->n_swept;
  PetscCall(PetscStrallocpy(record->problem_label, &(*line)->problem));
  PetscCall(PetscStrallocpy(record->algorithm_label, &(*line)->algorithm));
  PetscCall(PetscStrallocpy(record->swept, &(*line)->swept));
  PetscCall(rg_swept_copy(record->n_swept, record->settings, &(*line)->settings));
  (*line)->hidden = is_hidden(contents, *line);
  return 0;
}

static PetscErrorCode line_of(Contents *contents, const RgRecord *record, Line **line)
{
  int *slot;

  PetscCall(grow_slots(contents));
  for (slot = slot_of(contents, record->cell); *slot >= 0; slot = next_slot(contents, slot)) {
    *line = &contents->lines[*slot];
    if (is_line_of(*line, record)) return 0;
  }
  *slot = contents->n_lines;
  PetscCall(add_line(contents, record, line));
  return 0;
}

static double final_regret(const RgRecord *record)
{
  const double *regret = record->column[RG_COLUMN_SIMPLE_REGRET];

  return regret && record->n_rows && record->status == RG_STATUS_COMPLETE
           ? regret[record->n_rows - 1]
           : NAN;
}

static PetscErrorCode add_failed(Contents *contents, const RgRecord *record)
{
  contents->n_failed++;
  if (contents->n_failed > FAILED_SHOWN && !contents->all_failed) return 0;
  PetscCall(rg_text_add(
    &contents->failed, "  %s, %s, instance %llu, seed %llu, after %d evaluations: %s\n",
    record->problem_label, record->algorithm_label, (unsigned long long)record->instance,
    (unsigned long long)record->seed, record->n_rows, record->message));
  return 0;
}

static PetscErrorCode best_of(Contents *contents, const char *problem, Best **best)
{
  for (int i = 0; i < contents->n_best; i++) {
    *best = &contents->best[i];
    if (!strcmp((*best)->problem, problem)) return 0;
  }
  PetscCall(RG_GROW(contents->n_best, contents->best));
  *best = &contents->best[contents->n_best++];
  **best = (Best){.f = -INFINITY};
  PetscCall(PetscStrallocpy(problem, &(*best)->problem));
  return 0;
}

/* Append coordinates with their names, as the problem evaluated them. */
static PetscErrorCode print_point(const char *descriptions, const double *native, RgText *text)
{
  RgInput *inputs;
  RgText mistake = {0};
  double *seen;
  int n;

  PetscCall(rg_inputs_read(descriptions, &n, &inputs, &mistake));
  PetscCall(PetscMalloc1(n, &seen));
  if (!mistake.length) rg_inputs_seen(n, inputs, native, seen);
  for (int j = 0; j < n && !mistake.length; j++) {
    if (isnan(seen[j])) continue;
    PetscCall(rg_text_add(text, "%s%s ", text->length ? ", " : "", inputs[j].name));
    PetscCall(rg_input_print(&inputs[j], seen[j], text));
  }
  PetscCall(PetscFree(seen));
  PetscCall(rg_inputs_clear(n, inputs));
  PetscCall(PetscFree(inputs));
  PetscCall(rg_text_clear(&mistake));
  return 0;
}

static const double *extra_of(const RgRecord *record, const char *name)
{
  for (int i = 0; i < record->n_extra; i++)
    if (!strcmp(record->extra_name[i], name)) return record->extra[i];
  return NULL;
}

/* Whether the user's program answers what is to be minimised, so that f is minus its answer: the
   trial's key has this setting, outside of texts in quotes. */
static bool is_minimised(const char *key)
{
  static const char setting[] = ",goal=minimise,";
  bool quoted = false;

  for (const char *c = strstr(key, ";problem="); c && *c; c++) {
    if (quoted && *c == '\\' && c[1]) c++;
    else if (*c == '"') quoted = !quoted;
    else if (!quoted && !strncmp(c, setting, sizeof(setting) - 1)) return true;
  }
  return false;
}

/* The value as the user's program answered it; never -0. */
static double own_value(const RgRecord *record, double f)
{
  return is_minimised(record->key) ? 0 - f : f + 0.0;
}

static PetscErrorCode add_best(Contents *contents, const RgRecord *record)
{
  const double *f = record->column[RG_COLUMN_F], *x = record->column[RG_COLUMN_X];
  const double *c = record->column[RG_COLUMN_C], *feasible = extra_of(record, "feasible");
  Best *best = NULL;
  int row = -1;

  if (!record->inputs || !record->inputs[0] || record->earlier || !f || !x) return 0;
  PetscCall(best_of(contents, record->problem_label, &best));
  for (int i = 0; i < record->n_rows; i++)
    if (f[i] > best->f && !(feasible && feasible[i] == 0)) best->f = f[row = i];
  if (row < 0) return 0;
  best->point.length = 0;
  PetscCall(print_point(record->inputs, x + (size_t)row * record->dim_x, &best->point));
  if (c && record->contexts && record->contexts[0])
    PetscCall(print_point(record->contexts, c + (size_t)row * record->dim_c, &best->point));
  PetscCall(rg_text_add(&best->point, " -> %.6g (%s, seed %llu)", own_value(record, best->f),
                        record->algorithm_label, (unsigned long long)record->seed));
  return 0;
}

static void count_outcomes(Line *line, const RgRecord *record)
{
  const double *failed = extra_of(record, "failed"), *feasible = extra_of(record, "feasible");

  for (int i = 0; i < record->n_rows; i++) {
    const bool lost = failed && failed[i] == 1;
    line->failures += lost;
    line->infeasible += !lost && feasible && feasible[i] == 0;
  }
}

static PetscErrorCode add_span(Contents *contents, const RgProvenance *provenance)
{
  int s = 0;

  while (s < contents->n_spans && strcmp(contents->spans[s].host, provenance->host)) s++;
  if (s == contents->n_spans) {
    PetscCall(RG_GROW(contents->n_spans, contents->spans));
    contents->spans[contents->n_spans++] = (Span){.first = INFINITY, .last = -INFINITY};
    PetscCall(PetscStrncpy(contents->spans[s].host, provenance->host, RG_NAME_MAX));
  }
  contents->spans[s].first = fmin(contents->spans[s].first, provenance->started);
  contents->spans[s].last = fmax(contents->spans[s].last, provenance->started + provenance->wall);
  return 0;
}

static PetscErrorCode add_record(void *closure, const RgRecord *record)
{
  Contents *contents = closure;
  const RgProvenance *provenance = &record->provenance;
  Line *line = NULL;

  PetscCall(line_of(contents, record, &line));
  PetscCall(RG_GROW(line->n, line->regret));
  line->regret[line->n++] = final_regret(record);
  line->evaluations += record->n_rows;
  count_outcomes(line, record);
  line->cpu += provenance->cpu;
  PetscCall(add_best(contents, record));
  contents->n += !record->earlier;
  contents->n_earlier += record->earlier;
  if (!record->earlier) {
    PetscCall(rg_origin_survey_add(&contents->origins, record));
    PetscCall(rg_plugins_note(&contents->plugins, record));
  }
  if (record->status == RG_STATUS_FAILED) {
    line->n_failed++;
    if (!line->hidden) PetscCall(add_failed(contents, record));
  }
  if (provenance->started > 0) PetscCall(add_span(contents, provenance));
  return 0;
}

static PetscErrorCode contents_clear(Contents *contents)
{
  for (int i = 0; i < contents->n_lines; i++) {
    PetscCall(RG_FREE(&contents->lines[i].problem, &contents->lines[i].algorithm,
                      &contents->lines[i].swept, &contents->lines[i].regret));
    PetscCall(rg_swept_clear(&contents->lines[i].n_swept, &contents->lines[i].settings));
  }
  PetscCall(PetscFree(contents->lines));
  for (int i = 0; i < contents->n_best; i++) {
    PetscCall(PetscFree(contents->best[i].problem));
    PetscCall(rg_text_clear(&contents->best[i].point));
  }
  PetscCall(RG_FREE(&contents->best, &contents->slots, &contents->spans));
  PetscCall(rg_swept_clear(&contents->n_where, &contents->where));
  PetscCall(rg_text_clear(&contents->failed));
  PetscCall(rg_text_clear(&contents->plugins));
  PetscCall(rg_origin_survey_clear(&contents->origins));
  return 0;
}

/* ---- print ----------------------------------------------------------------------------------- */

/* Order by setting, with numbers by value. */
static int compare_swept(const Line *x, const Line *y)
{
  for (int i = 0; i < x->n_swept && i < y->n_swept; i++) {
    const RgSwept *a = &x->settings[i], *b = &y->settings[i];
    int order = strcmp(a->name, b->name);
    double u, v;
    if (!order && rg_number_only(a->text, &u) && rg_number_only(b->text, &v))
      order = (u > v) - (u < v);
    if (!order) order = strcmp(a->text, b->text);
    if (order) return order;
  }
  return x->n_swept - y->n_swept;
}

static int compare_lines(const void *a, const void *b)
{
  const Line *x = a, *y = b;

  if (x->earlier != y->earlier) return x->earlier - y->earlier;
  int order = strcmp(x->problem, y->problem);
  if (!order) order = strcmp(x->algorithm, y->algorithm);
  if (!order) order = compare_swept(x, y);
  return order ? order : strcmp(x->cell, y->cell);
}

/* "5 of 12": how many of the trials with a regret found a feasible design; empty when all did. */
static void feasible_text(const Line *line, size_t size, char *text)
{
  int known = 0, infeasible = 0;

  for (int i = 0; i < line->n; i++) {
    known += !isnan(line->regret[i]);
    infeasible += isinf(line->regret[i]) != 0;
  }
  text[0] = 0;
  if (infeasible) snprintf(text, size, "%d of %d", known - infeasible, known);
}

static PetscErrorCode print_lines(Contents *contents, bool earlier)
{
  RgTable table = {.n_columns = 9,
                   .headings = {"problem", "algorithm", "swept", ">trials", ">failed",
                                ">evaluations", ">CPU s", ">feasible in",
                                ">median final simple regret"}};
  RgText text = {0};

  for (int i = 0; i < contents->n_lines; i++) {
    Line *line = &contents->lines[i];
    char trials[24], failed[24] = "", evaluations[32], cpu[32], feasible[32], regret[32] = "";
    const double median = rg_median(line->n, line->regret);
    if (line->earlier != earlier || line->hidden) continue;
    snprintf(trials, sizeof(trials), "%d", line->n);
    if (line->n_failed) snprintf(failed, sizeof(failed), "%d", line->n_failed);
    snprintf(evaluations, sizeof(evaluations), "%ld", line->evaluations);
    rg_format(cpu, sizeof(cpu), "%.1f", line->cpu);
    if (!isnan(median)) rg_format(regret, sizeof(regret), "%.4g", median);
    feasible_text(line, sizeof(feasible), feasible);
    PetscCall(rg_table_add(&table, (const char *const[]){line->problem, line->algorithm,
                                                         line->swept, trials, failed, evaluations,
                                                         cpu, feasible, regret}));
  }
  PetscCall(rg_table_print(&table, &text));
  rg_say("%s", text.data ? text.data : "");
  PetscCall(rg_text_clear(&text));
  return 0;
}

static void print_times(const Contents *contents)
{
  double longest = 0;

  for (int s = 0; s < contents->n_spans; s++)
    longest = fmax(longest, contents->spans[s].last - contents->spans[s].first);
  if (longest > 0)
    rg_say("ran       within %.1f s of wall time%s\n", longest,
           contents->n_spans > 1 ? " on each host" : "");
}

static void print_state(const char *path, const RgStoreInfo *info, const Contents *contents,
                        int planned, int damaged)
{
  const bool complete = info->complete && (planned < 0 || contents->n >= planned);
  const char *state = damaged           ? "damaged"
                      : info->directory ? "a study that is not packed yet"
                      : complete        ? "results, complete"
                                        : "results joined from parts";

  rg_say("%s: %s (schema %d)\n", path, state, info->schema_version);
  rg_say("study     %s: %s\n", info->name, info->title);
  if (info->references && info->references[0]) rg_say("source    %s\n", info->references);
  for (int i = 0; i < RG_CREDITS; i++)
    if (info->credit[i] && info->credit[i][0])
      rg_say("%-9s %s\n", rg_credit_keys[i], info->credit[i]);
  if (!complete && planned >= 0) rg_say("trials    %d of %d finished", contents->n, planned);
  else rg_say("trials    %d", contents->n);
  rg_say(contents->n_failed ? ", %d failed\n" : "\n", contents->n_failed);
  if (contents->n_earlier)
    rg_say("earlier   %d trials that are not in the study any more\n", contents->n_earlier);
  if (!info->directory && info->n_shards)
    rg_say("beside    %d shards of a run that extends it\n", info->n_shards);
  if (info->checksum[0]) rg_say("checksum  %s\n", info->checksum);
  print_times(contents);
  for (const char *line = info->history; line && *line; line += strcspn(line, "\n")) {
    line += *line == '\n';
    rg_say("history   %.*s\n", (int)strcspn(line, "\n"), line);
  }
}

/* Report whether all trials come from one version of the program, and from this one; list their
   plug-ins. */
static PetscErrorCode print_origins(const char *path, Contents *contents)
{
  RgText others = {0}, plugins = {0};

  PetscCall(rg_origin_survey_count(&contents->origins));
  PetscCall(rg_origin_describe(&contents->origins.counts, &others));
  if (others.length) rg_say("stale     %s\n", others.data);
  PetscCall(rg_plugins_describe(path, &contents->plugins, &plugins));
  if (plugins.length) rg_say("%s\n", plugins.data);
  PetscCall(rg_text_clear(&plugins));
  PetscCall(rg_text_clear(&others));
  return 0;
}

static PetscErrorCode print_contents(const char *path, const RgStoreInfo *info, Contents *contents,
                                     int damaged)
{
  int planned = -1;

  PetscCall(rg_planned_trials(NULL, path, info, &planned));
  if (contents->n_lines)
    qsort(contents->lines, (size_t)contents->n_lines, sizeof(Line), compare_lines);
  print_state(path, info, contents, planned, damaged);
  PetscCall(print_origins(path, contents));
  rg_say("\n");
  PetscCall(print_lines(contents, false));
  for (int i = 0; i < contents->n_lines; i++) {
    const Line *line = &contents->lines[i];
    if (line->failures)
      rg_say("%s, %s: %ld evaluations failed\n", line->problem, line->algorithm, line->failures);
    if (line->infeasible)
      rg_say("%s, %s: %ld evaluations violate a constraint\n", line->problem, line->algorithm,
             line->infeasible);
  }
  for (int i = 0; i < contents->n_best; i++)
    if (contents->best[i].point.length)
      rg_say("%sbest on %s: %s\n", i ? "" : "\n", contents->best[i].problem,
             contents->best[i].point.data);
  if (contents->n_earlier) {
    rg_say("\nOf an earlier version of the study\n");
    PetscCall(print_lines(contents, true));
  }
  if (contents->n_failed) rg_say("\nFailed trials\n%s", contents->failed.data);
  if (contents->n_failed > FAILED_SHOWN && !contents->all_failed)
    rg_say("  and %d more (-failed lists them)\n", contents->n_failed - FAILED_SHOWN);
  if (damaged) rg_say("\n%d damaged records or shards: not counted above\n", damaged);
  return 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Parse -where into settings; prints a message on a mistake. */
static PetscErrorCode parse_where(const char *text, Contents *contents, int *exit_code)
{
  int n_pairs = 1;

  if (!text) return 0;
  PetscCall(rg_swept_parse(text, &contents->n_where, &contents->where));
  for (const char *comma = text; (comma = strchr(comma, ',')); comma++) n_pairs++;
  if (contents->n_where == n_pairs || (contents->n_where && strpbrk(text, "[{(\""))) return 0;
  rg_complain("info: -where takes NAME=VALUE,NAME=VALUE,..., got '%s'", text);
  *exit_code = RG_EXIT_BAD_INPUT;
  return 0;
}

/* Append a word to a list unless it contains the word. */
static PetscErrorCode add_word(const char *word, RgText *list)
{
  const size_t length = strlen(word);

  for (const char *at = list->data; at && (at = strstr(at, word)); at++)
    if ((at == list->data || at[-1] == ' ') && strchr(",", at[length])) return 0;
  PetscCall(rg_text_add(list, "%s%s", list->length ? ", " : "", word));
  return 0;
}

/* Whether some cell has the requested value of a swept setting; prints a message if not. */
static PetscErrorCode check_where(const Contents *contents, const RgSwept *wanted, bool *found)
{
  RgText names = {0}, values = {0};

  *found = false;
  for (int i = 0; i < contents->n_lines && !*found; i++) {
    const Line *line = &contents->lines[i];
    const RgSwept *own = rg_swept_find(line->n_swept, line->settings, wanted->name);
    *found = own && rg_swept_same(own->text, wanted->text);
    if (own) PetscCall(add_word(own->text, &values));
    for (int k = 0; k < line->n_swept; k++) PetscCall(add_word(line->settings[k].name, &names));
  }
  if (!*found && values.length)
    rg_complain("info: no %s=%s in it (it has: %s)", wanted->name, wanted->text, values.data);
  else if (!*found)
    rg_complain("info: '%s' was not swept (swept: %s)", wanted->name,
                names.length ? names.data : "nothing");
  PetscCall(rg_text_clear(&names));
  PetscCall(rg_text_clear(&values));
  return 0;
}

static PetscErrorCode info(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgStoreInfo info;
  RgFault fault = {0};
  Contents contents = {0};
  int damaged = 0;
  bool found = true;

  (void)registry;
  contents.all_failed = arguments->option[OPT_FAILED] != NULL;
  PetscCall(parse_where(arguments->option[OPT_WHERE], &contents, exit_code));
  if (*exit_code) {
    PetscCall(contents_clear(&contents));
    return 0;
  }
  PetscCall(rg_store_info(arguments->positional[0], &info, &fault));
  if (!fault.code && arguments->option[OPT_STUDY]) rg_say("%s", info.study ? info.study : "");
  else if (!fault.code)
    PetscCall(rg_store_visit(arguments->positional[0], add_record, &contents, &damaged, &fault));
  if (!fault.code && info.directory && !info.study)
    rg_fault_set(&fault, RG_FAULT_FOREIGN, "%s: no finished trials in it",
                 arguments->positional[0]);
  if (fault.code) {
    rg_complain("%s", fault.message);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else if (!arguments->option[OPT_STUDY]) {
    for (int i = 0; i < contents.n_where && found; i++)
      PetscCall(check_where(&contents, &contents.where[i], &found));
    if (found) PetscCall(print_contents(arguments->positional[0], &info, &contents, damaged));
    else *exit_code = RG_EXIT_BAD_INPUT;
  }
  PetscCall(contents_clear(&contents));
  PetscCall(rg_store_info_clear(&info));
  return 0;
}

const RgCommand rg_command_info = {
  RG_USAGE("info RESULTS.h5|DIRECTORY [-where NAME=VALUE,...]", options, 1, 1),
  .place = RG_SHIELDED, .run = info};
