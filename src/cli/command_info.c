/* regatta info RESULTS.h5: summarise a results file, or a study that is still running. */
#include "cli/command.h"
#include "cli/shield.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/inputs.h"
#include "base/number.h"
#include "base/table.h"
#include "study/hdf5/container.h"
#include "study/file/cell_data.h"
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
  const RgCellData *cell; /* borrowed from the table */
  bool hidden;            /* -where excludes the cell */
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
  RgSummary all;
  /* The cells of the study, and of an earlier version of it, with their lines in the same order. */
  RgCellTable cells[2];
  Line *lines[2]; /* owned */
  Best *best;     /* owned */
  int n_best;
  int n_where;
  RgSwept *where;  /* owned */
  bool all_failed; /* list all failed trials */
  int n_spans;
  Span *spans; /* one per host, because their clocks differ; owned */
  RgText failed;
} Contents;

/* Whether -where excludes a line because its value of a setting differs. */
static bool is_hidden(const Contents *contents, const RgCellData *cell)
{
  for (int i = 0; i < contents->n_where; i++) {
    const RgSwept *wanted = &contents->where[i];
    const RgSwept *own = rg_swept_find(cell->n_swept, cell->axes, wanted->name);
    if (own && !rg_swept_same(own->text, wanted->text)) return true;
  }
  return false;
}

static PetscErrorCode line_of(Contents *contents, const RgRecord *record, Line **line)
{
  RgCellTable *cells = &contents->cells[record->earlier];
  Line **lines = &contents->lines[record->earlier];
  const int before = cells->n;
  int row;

  PetscCall(RG_GROW(before, *lines));
  PetscCall(rg_cell_table_add(cells, record->cell, &row));
  *line = &(*lines)[row];
  if (cells->n > before)
    **line = (Line){.cell = record->cell, .hidden = is_hidden(contents, record->cell)};
  return 0;
}

static double final_regret(const RgRecord *record)
{
  const double *regret = record->column[RG_COLUMN_SIMPLE_REGRET];

  return regret && record->n_rows && record->status == RG_STATUS_COMPLETE
           ? regret[record->n_rows - 1]
           : NAN;
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
  return PetscStrallocpy(problem, &(*best)->problem);
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
  return rg_text_clear(&mistake);
}

static const double *extra_of(const RgRecord *record, const char *name)
{
  for (int i = 0; i < record->n_extra; i++)
    if (!strcmp(record->extra_name[i], name)) return record->extra[i];
  return NULL;
}

static PetscErrorCode add_best(Contents *contents, const RgRecord *record)
{
  const double *f = record->column[RG_COLUMN_F], *x = record->column[RG_COLUMN_X];
  const double *c = record->column[RG_COLUMN_C], *feasible = extra_of(record, "feasible");
  Best *best = NULL;
  int row = -1;

  if (!record->cell->inputs[0] || record->earlier || !f || !x) return 0;
  PetscCall(best_of(contents, record->cell->problem_label, &best));
  for (int i = 0; i < record->n_rows; i++)
    if (f[i] > best->f && !(feasible && feasible[i] == 0)) best->f = f[row = i];
  if (row < 0) return 0;
  best->point.length = 0;
  PetscCall(print_point(record->cell->inputs, x + (size_t)row * record->dim_x, &best->point));
  if (c && record->cell->contexts[0])
    PetscCall(print_point(record->cell->contexts, c + (size_t)row * record->dim_c, &best->point));
  /* The value is the one that the user's program answered; never -0. */
  const double own = strcmp(record->cell->goal, "minimise") ? best->f + 0.0 : 0 - best->f;
  return rg_text_add(&best->point, " -> %.6g (%s, seed %llu)", own, record->cell->algorithm_label,
                     (unsigned long long)record->seed);
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
  const double *failed = extra_of(record, "failed"), *feasible = extra_of(record, "feasible");
  for (int i = 0; i < record->n_rows; i++) {
    const bool lost = failed && failed[i] == 1;
    line->failures += lost;
    line->infeasible += !lost && feasible && feasible[i] == 0;
  }
  line->cpu += provenance->cpu;
  PetscCall(add_best(contents, record));
  PetscCall(rg_summary_add(&contents->all, record));
  if (record->status == RG_STATUS_FAILED) {
    line->n_failed++;
    if (!line->hidden && (contents->all.n_failed <= FAILED_SHOWN || contents->all_failed))
      PetscCall(rg_text_add(&contents->failed,
                            "  %s, %s, instance %llu, seed %llu, after %d evaluations: %s\n",
                            record->cell->problem_label, record->cell->algorithm_label,
                            (unsigned long long)record->instance, (unsigned long long)record->seed,
                            record->n_rows, record->message));
  }
  if (provenance->started > 0) {
    int s = 0;
    while (s < contents->n_spans && strcmp(contents->spans[s].host, provenance->host)) s++;
    if (s == contents->n_spans) {
      PetscCall(RG_GROW(contents->n_spans, contents->spans));
      contents->spans[contents->n_spans++] = (Span){.first = INFINITY, .last = -INFINITY};
      PetscCall(PetscStrncpy(contents->spans[s].host, provenance->host, RG_NAME_MAX));
    }
    contents->spans[s].first = fmin(contents->spans[s].first, provenance->started);
    contents->spans[s].last = fmax(contents->spans[s].last, provenance->started + provenance->wall);
  }
  return 0;
}

static PetscErrorCode contents_clear(Contents *contents)
{
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < contents->cells[k].n; i++)
      PetscCall(PetscFree(contents->lines[k][i].regret));
    PetscCall(PetscFree(contents->lines[k]));
    PetscCall(rg_cell_table_clear(&contents->cells[k]));
  }
  for (int i = 0; i < contents->n_best; i++) {
    PetscCall(PetscFree(contents->best[i].problem));
    PetscCall(rg_text_clear(&contents->best[i].point));
  }
  PetscCall(RG_FREE(&contents->best, &contents->spans));
  PetscCall(rg_swept_clear(&contents->n_where, &contents->where));
  PetscCall(rg_text_clear(&contents->failed));
  return rg_summary_clear(&contents->all);
}

/* ---- print ----------------------------------------------------------------------------------- */

/* Order by setting, with numbers by value. */
static int compare_swept(const RgCellData *x, const RgCellData *y)
{
  for (int i = 0; i < x->n_swept && i < y->n_swept; i++) {
    const RgSwept *a = &x->axes[i], *b = &y->axes[i];
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
  const RgCellData *x = ((const Line *)a)->cell, *y = ((const Line *)b)->cell;

  int order = strcmp(x->problem_label, y->problem_label);
  if (!order) order = strcmp(x->algorithm_label, y->algorithm_label);
  if (!order) order = compare_swept(x, y);
  return order ? order : strcmp(x->id, y->id);
}

/* Median of the values that are not NaN, which move to the front; NaN if all are. */
static double median_of(int n, double *values)
{
  int known = 0;

  for (int i = 0; i < n; i++)
    if (!isnan(values[i])) values[known++] = values[i];
  if (!known || PetscSortReal(known, values)) return NAN;
  return 0.5 * (values[(known - 1) / 2] + values[known / 2]);
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

  for (int i = 0; i < contents->cells[earlier].n; i++) {
    Line *line = &contents->lines[earlier][i];
    char failed[24] = "", feasible[32], regret[32] = "";
    const double median = median_of(line->n, line->regret);
    if (line->hidden) continue;
    if (line->n_failed) snprintf(failed, sizeof(failed), "%d", line->n_failed);
    if (!isnan(median)) rg_format(regret, sizeof(regret), "%.4g", median);
    feasible_text(line, sizeof(feasible), feasible);
    PetscCall(rg_table_add(&table, "%s\v%s\v%s\v%d\v%s\v%ld\v%.1f\v%s\v%s",
                           line->cell->problem_label, line->cell->algorithm_label,
                           line->cell->swept, line->n, failed, line->evaluations, line->cpu,
                           feasible, regret));
  }
  return rg_say_table(&table);
}

static void print_state(const char *path, const RgStoreInfo *info, const Contents *contents,
                        int damaged)
{
  const RgSummary *all = &contents->all;
  const bool complete = info->complete && all->n >= info->n_planned;
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
  rg_say("trials    %d", all->n);
  if (!complete && info->n_planned) rg_say(" of %d finished", info->n_planned);
  rg_say(all->n_failed ? ", %d failed\n" : "\n", all->n_failed);
  if (all->n_earlier)
    rg_say("earlier   %d trials that are not in the study any more\n", all->n_earlier);
  if (!info->directory && info->n_shards)
    rg_say("beside    %d shards of a run that extends it\n", info->n_shards);
  if (info->checksum[0]) rg_say("checksum  %s\n", info->checksum);
  if (info->archive_of[0]) rg_say("archive   of the results with checksum %s\n", info->archive_of);
  double longest = 0;
  for (int s = 0; s < contents->n_spans; s++)
    longest = fmax(longest, contents->spans[s].last - contents->spans[s].first);
  if (longest > 0)
    rg_say("ran       within %.1f s of wall time%s\n", longest,
           contents->n_spans > 1 ? " on each host" : "");
  for (const char *line = info->history; line && *line; line += strcspn(line, "\n")) {
    line += *line == '\n';
    rg_say("history   %.*s\n", (int)strcspn(line, "\n"), line);
  }
}

static PetscErrorCode print_contents(const char *path, const RgStoreInfo *info, Contents *contents,
                                     int damaged)
{
  RgText stale = {0}, plugins = {0};

  for (int k = 0; k < 2; k++)
    if (contents->cells[k].n)
      qsort(contents->lines[k], (size_t)contents->cells[k].n, sizeof(Line), compare_lines);
  print_state(path, info, contents, damaged);
  if (!info->archive_of[0]) /* nothing can run again there */
    PetscCall(rg_summary_describe(&contents->all, path, &stale, &plugins));
  if (stale.length) rg_say("stale     %s\n", stale.data);
  if (plugins.length) rg_say("%s\n", plugins.data);
  rg_say("\n");
  PetscCall(print_lines(contents, false));
  /* Print how many evaluations of each cell have no value. */
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < contents->cells[k].n; i++) {
      const Line *line = &contents->lines[k][i];
      const char *problem = line->cell->problem_label, *algorithm = line->cell->algorithm_label;
      if (line->failures)
        rg_say("%s, %s: %ld evaluations failed\n", problem, algorithm, line->failures);
      if (line->infeasible)
        rg_say("%s, %s: %ld evaluations violate a constraint\n", problem, algorithm,
               line->infeasible);
    }
  for (int i = 0; i < contents->n_best; i++)
    if (contents->best[i].point.length)
      rg_say("%sbest on %s: %s\n", i ? "" : "\n", contents->best[i].problem,
             contents->best[i].point.data);
  if (contents->all.n_earlier) {
    rg_say("\nOf an earlier version of the study\n");
    PetscCall(print_lines(contents, true));
  }
  if (contents->all.n_failed) rg_say("\nFailed trials\n%s", contents->failed.data);
  if (contents->all.n_failed > FAILED_SHOWN && !contents->all_failed)
    rg_say("  and %d more (-failed lists them)\n", contents->all.n_failed - FAILED_SHOWN);
  if (damaged) rg_say("\n%d damaged records or shards: not counted above\n", damaged);
  PetscCall(rg_text_clear(&stale));
  return rg_text_clear(&plugins);
}

static PetscErrorCode parse_where(const char *text, Contents *contents, int *exit_code)
{
  int n_pairs = 1;

  if (!text) return 0;
  PetscCall(rg_swept_parse(text, &contents->n_where, &contents->where));
  for (const char *comma = text; (comma = strchr(comma, ',')); comma++) n_pairs++;
  if (contents->n_where == n_pairs || (contents->n_where && strpbrk(text, "[{(\""))) return 0;
  return rg_refuse(exit_code, "info: -where takes NAME=VALUE,NAME=VALUE,..., got '%s'", text);
}

/* Append a word to a list unless it contains the word. */
static PetscErrorCode add_word(const char *word, RgText *list)
{
  const size_t length = strlen(word);

  for (const char *at = list->data; at && (at = strstr(at, word)); at++)
    if ((at == list->data || at[-1] == ' ') && strchr(",", at[length])) return 0;
  return rg_text_add(list, "%s%s", list->length ? ", " : "", word);
}

/* Check that some cell has the requested value of a swept setting. */
static PetscErrorCode check_where(const Contents *contents, const RgSwept *wanted, int *exit_code)
{
  RgText names = {0}, values = {0};
  bool found = false;

  for (int i = 0; i < contents->cells[0].n + contents->cells[1].n && !found; i++) {
    const int n = contents->cells[0].n;
    const RgCellData *cell = i < n ? contents->cells[0].cells[i] : contents->cells[1].cells[i - n];
    const RgSwept *own = rg_swept_find(cell->n_swept, cell->axes, wanted->name);
    found = own && rg_swept_same(own->text, wanted->text);
    if (own) PetscCall(add_word(own->text, &values));
    for (int k = 0; k < cell->n_swept; k++) PetscCall(add_word(cell->axes[k].name, &names));
  }
  if (!found && values.length)
    PetscCall(rg_refuse(exit_code, "info: no %s=%s in it (it has: %s)", wanted->name, wanted->text,
                        values.data));
  else if (!found)
    PetscCall(rg_refuse(exit_code, "info: '%s' was not swept (swept: %s)", wanted->name,
                        names.length ? names.data : "nothing"));
  PetscCall(rg_text_clear(&names));
  return rg_text_clear(&values);
}

static PetscErrorCode info(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgStoreInfo info;
  RgFault fault = {0};
  Contents contents = {0};
  int damaged = 0;

  contents.all_failed = arguments->option[OPT_FAILED] != NULL;
  PetscCall(parse_where(arguments->option[OPT_WHERE], &contents, exit_code));
  if (*exit_code) return contents_clear(&contents);
  PetscCall(rg_store_info(arguments->positional[0], &info, &fault));
  if (!fault.code && arguments->option[OPT_STUDY]) rg_say("%s", info.study ? info.study : "");
  else if (!fault.code)
    PetscCall(rg_store_visit(arguments->positional[0], add_record, &contents, &damaged, &fault));
  if (!fault.code && info.directory && !info.study)
    rg_fault_set(&fault, RG_FAULT_FOREIGN, "%s: no finished trials in it",
                 arguments->positional[0]);
  if (fault.code) {
    PetscCall(rg_refuse(exit_code, "%s", fault.message));
  } else if (!arguments->option[OPT_STUDY]) {
    for (int i = 0; i < contents.n_where && !*exit_code; i++)
      PetscCall(check_where(&contents, &contents.where[i], exit_code));
    if (!*exit_code) PetscCall(print_contents(arguments->positional[0], &info, &contents, damaged));
  }
  PetscCall(contents_clear(&contents));
  return rg_store_info_clear(&info);
}

const RgCommand rg_command_info = {
  RG_USAGE("info RESULTS.h5|DIRECTORY [-where NAME=VALUE,...]", options, 1, 1),
  .place = RG_SHIELDED, .run = info};
