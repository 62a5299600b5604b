/* regatta bounds STUDY.yaml: regret bounds and confidence parameters from theory; regatta bounds
   -formula NAME: one formula over columns of numbers. */
#include "cli/command.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/table.h"
#include "regatta/algorithm.h"
#include "study/file/registry.h"
#include "theory/cells.h"
#include "theory/formula.h"

enum { OPT_OUTPUT, OPT_CONFIDENCE, OPT_DELTA, OPT_LEVEL, OPT_TIGHT, OPT_FORMULA };

static const RgOption options[] = {
  {"-o", "BOUNDS.csv", "write the curves over t: regret bounds and information gain"},
  {"-confidence", "FILE.csv", "write mean and interval of every confidence parameter over t"},
  {"-delta", "P", "probability that a high-probability bound may fail (default 0.1)"},
  {"-level", "P", "probability of the intervals of -confidence (default 0.95)"},
  {"-tight", NULL, "T s_T for the 2 T s_T of Theorems 4.3 to 4.5, whose proofs need no more"},
  {"-formula", "NAME",
   "instead of a study: a formula, or the law of a method's confidence parameter, with settings "
   "KEY=VALUE, over the CSV table on standard input (regatta list theory, regatta describe NAME)"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

/* Read a probability strictly between 0 and 1. */
static bool parse_probability(const RgArguments *arguments, int option, double *value)
{
  return rg_argument_real(arguments, option, DBL_MIN, 1 - DBL_EPSILON / 2, "a number in (0, 1)",
                          value);
}

/* Write a text to a file, and clear it. */
static PetscErrorCode write_file(const char *path, RgText *text, int *exit_code)
{
  FILE *file = fopen(path, "wb");
  bool good = file && fwrite(text->data, 1, text->length, file) == text->length;
  good = file && fclose(file) == 0 && good;
  if (!good) {
    PetscCall(rg_refuse(exit_code, "bounds: %s can't be written: %s", path, strerror(errno)));
    if (file) *exit_code = RG_EXIT_STORAGE;
  }
  return rg_text_clear(text);
}

/* Add one line per curve, with its value at the last query, or the reason why it has no bound. */
static PetscErrorCode show(const RgStudy *study, const RgTheoryTable *theory)
{
  RgTable table = {.n_columns = 9,
                   .headings = {"problem", "algorithm", "swept", "curve", ">T", ">gamma_T",
                                ">value", "kind", "remark"}};

  for (int i = 0; i < theory->n_cells; i++) {
    const RgCellTheory *cell = &theory->cells[i];
    const RgCell *of = &study->cells[i];
    if (!cell->bounded)
      PetscCall(rg_table_add(&table, "%s\v%s\v%s\vnone\v%d\v\v\v\v%s", of->problem_label,
                             of->algorithm_label, of->swept, cell->n, cell->why));
    for (int k = 0; cell->bounded && k < cell->n_curves; k++) {
      if (!cell->value[k]) continue;
      PetscCall(rg_table_add(&table, "%s\v%s\v%s\v%s\v%d\v%.6g\v%.6g\v%s\v%s", of->problem_label,
                             of->algorithm_label, of->swept, cell->family->curves[k].name, cell->n,
                             cell->gain->upper[cell->n - 1], cell->value[k][cell->n - 1],
                             rg_claim_names[cell->claim], cell->why));
    }
  }
  return rg_say_table(&table);
}

/* ---- the law of a method --------------------------------------------------------------------- */

typedef struct {
  int points, dim;
  double level;
} LawOptions;

static const RgParam law_params[] = {
  RG_INT("points", LawOptions, points, "0", 0, 1e6, "|X|", "designs of a finite domain; 0: a box"),
  RG_INT("dim", LawOptions, dim, "1", 1, 1e6, "d", "coordinates"),
  RG_REAL("level", LawOptions, level, "0.95", RG_POSITIVE, 1, "", "probability of the interval"),
  {0},
};

static const RgTheoryFormula law_formula = {.inputs = {"t"},
                                            .outputs = {"mean", "low", "high"},
                                            .params = law_params,
                                            .options_size = sizeof(LawOptions)};

/* Mean and equal-tailed interval of a law; a constant has no interval. */
static PetscErrorCode law_rows(const RgAlgorithmClass *method, const void *settings,
                               const LawOptions *o, int n, const double *const *in,
                               double *const *out)
{
  const double tail = (1 - o->level) / 2;
  RgDomain domain = {0};

  /* A domain with `points` designs, or the unit cube. */
  double *points, *bounds;
  PetscCall(PetscCalloc2((size_t)PetscMax(o->points, 1) * o->dim, &points, 2 * o->dim, &bounds));
  for (int j = 0; j < o->dim; j++) bounds[o->dim + j] = 1;
  if (o->points)
    PetscCall(rg_space_set(&domain.design, o->dim, o->points, points, bounds, bounds + o->dim));
  else PetscCall(rg_space_box(&domain.design, o->dim, bounds, bounds + o->dim));
  PetscCall(PetscFree2(points, bounds));
  for (int i = 0; i < n; i++) {
    RgConfidenceLaw law;
    out[0][i] = out[1][i] = out[2][i] = NAN;
    if (!(in[0][i] >= 1 && in[0][i] <= INT_MAX)) continue; /* the value is not a query number */
    method->confidence(settings, &domain, (int)in[0][i], &law);
    const bool constant = law.kind == RG_LAW_CONSTANT;
    out[0][i] = rg_confidence_mean(&law);
    out[1][i] = constant ? NAN : rg_confidence_quantile(&law, tail);
    out[2][i] = constant ? NAN : rg_confidence_quantile(&law, 1 - tail);
  }
  return rg_domain_destroy(&domain);
}

typedef struct {
  const RgTheoryFormula *formula;
  const RgAlgorithmClass *method; /* NULL: the command evaluates a formula, not a law */
  void *options, *settings;       /* options of the formula; options of the method */
} Job;

/* Set KEY=VALUE or KEY=[VALUE, ...] in the table that contains the key. */
static PetscErrorCode set_one(Job *job, char *word, RgDiagnostics *found)
{
  const RgPlace place = {"bounds", 0, 0};
  char *value = rg_pair_split(word, place, found);

  if (!value) return 0;
  const bool own = !job->method || rg_params_find(law_params, word);
  return rg_pair_set(own ? job->formula->params : job->method->params,
                     own ? job->options : job->settings, word, value, place, found);
}

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct {
  int n, columns;
  double *cell; /* n x columns; owned */
} Rows;

static bool same_header(const char *line, const char *const *names)
{
  for (int k = 0; names[k]; k++) {
    const size_t length = strlen(names[k]);
    if (strncmp(line, names[k], length)) return false;
    line += length;
    if (names[k + 1] && *line++ != ',') return false;
  }
  return !line[strspn(line, "\r\n")];
}

/* Read the table. False if the header or a row doesn't match the formula's inputs. */
static PetscErrorCode read_rows(const RgTheoryFormula *formula, Rows *rows, bool *good)
{
  char line[4096];

  while (formula->inputs[rows->columns]) rows->columns++;
  *good = fgets(line, sizeof(line), stdin) && same_header(line, formula->inputs);
  while (*good && fgets(line, sizeof(line), stdin)) {
    const char *at = line, *end;
    PetscCall(rg_grow((size_t)rows->n, (size_t)rows->columns * sizeof(double), &rows->cell));
    for (int k = 0; k < rows->columns && *good; k++, at = end + (*end == ',')) {
      double *cell = &rows->cell[(size_t)rows->n * rows->columns + k];
      *good = rg_number_read(at, &end, cell) == RG_NUMBER_READ;
    }
    rows->n++;
  }
  return 0;
}

static PetscErrorCode evaluate(const Job *job, int *exit_code)
{
  Rows rows = {0};
  double *table, *in[RG_FORMULA_COLUMNS], *out[RG_FORMULA_COLUMNS];
  bool good;

  PetscCall(read_rows(job->formula, &rows, &good));
  if (!good) {
    PetscCall(rg_refuse(
      exit_code, "bounds: standard input is no CSV table of numbers, with a header, of what the "
                 "formula takes (regatta describe NAME)"));
  } else {
    const size_t n = (size_t)PetscMax(rows.n, 1);
    PetscCall(PetscMalloc1(2 * RG_FORMULA_COLUMNS * n, &table));
    for (size_t k = 0; k < RG_FORMULA_COLUMNS; k++) {
      in[k] = table + k * n;
      out[k] = table + (RG_FORMULA_COLUMNS + k) * n;
    }
    for (int i = 0; i < rows.n; i++)
      for (int k = 0; k < rows.columns; k++) in[k][i] = rows.cell[(size_t)i * rows.columns + k];
    const double *const *given = (const double *const *)in;
    if (job->method)
      PetscCall(law_rows(job->method, job->settings, job->options, rows.n, given, out));
    else PetscCall(job->formula->rows(job->options, rows.n, given, out));
    RgText text = {0};
    for (int k = 0; job->formula->outputs[k]; k++)
      PetscCall(rg_text_add(&text, "%s%s", k ? "," : "", job->formula->outputs[k]));
    for (int i = 0; i < rows.n; i++)
      for (int k = 0; job->formula->outputs[k]; k++) {
        PetscCall(rg_text_add(&text, k ? "," : "\n"));
        PetscCall(rg_text_add_real(&text, out[k][i]));
      }
    rg_say("%s\n", text.data);
    PetscCall(rg_text_clear(&text));
    PetscCall(PetscFree(table));
  }
  return PetscFree(rows.cell);
}

/* Evaluate formula or method `name` with n settings KEY=VALUE on the CSV table from standard input,
   and print a table of results. A mistake is reported in one line and sets *exit_code. */
static PetscErrorCode run_formula(const RgRegistry *registry, const char *name, int n,
                                  const char *const *words, int *exit_code)
{
  const RgAlgorithmClass *method = rg_registry_find_algorithm(registry, name);
  Job job = {.formula = rg_theory_formula_find(name)};
  RgText known = {0};

  if (!job.formula && method && method->confidence && !(method->traits & RG_NO_WIDTH)) {
    job.formula = &law_formula;
    job.method = method;
  }
  if (job.formula) {
    char **own = (char **)(uintptr_t)words; /* which are cut at their '=' */
    RgDiagnostics found = {0};
    PetscCall(PetscCalloc1(job.formula->options_size, (char **)&job.options));
    PetscCall(rg_params_defaults(job.formula->params, job.options));
    if (job.method) {
      PetscCall(PetscCalloc1(job.method->options_size + 1, (char **)&job.settings));
      PetscCall(rg_params_defaults(job.method->params, job.settings));
    }
    for (int i = 0; i < n; i++) PetscCall(set_one(&job, own[i], &found));
    for (const RgParam *entry = job.formula->params; entry->name; entry++) {
      bool given = entry->fallback || !rg_is_param(entry);
      for (int i = 0; i < n; i++) given = given || !strcmp(words[i], entry->name);
      if (!given)
        rg_diagnostics_add(&found, (RgPlace){"bounds", 0, 0}, "'%s' is missing", entry->name);
    }
    if (found.n) PetscCall(rg_refuse(exit_code, "bounds: %s", found.list[0].message));
    else PetscCall(evaluate(&job, exit_code));
    PetscCall(rg_params_clear(job.formula->params, job.options));
    if (job.method) PetscCall(rg_params_clear(job.method->params, job.settings));
    return RG_FREE(&job.options, &job.settings);
  }
  for (const RgTheoryFormula *formula = rg_theory_formulas; formula->name; formula++)
    PetscCall(rg_text_add(&known, "%s, ", formula->name));
  PetscCall(
    rg_refuse(exit_code,
              "bounds: nothing is called '%s' (%sor a method with a confidence parameter of "
              "known law)",
              name, known.data));
  return rg_text_clear(&known);
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgStudy study;
  RgDiagnostics diagnostics = {0};
  const char *bounds = arguments->option[OPT_OUTPUT];
  const char *confidence = arguments->option[OPT_CONFIDENCE];
  RgTheoryOptions with = {.tight = arguments->option[OPT_TIGHT] != NULL, .delta = 0.1};
  RgTheoryTable theory;
  RgText text = {0};
  double level = 0.95;

  if (arguments->option[OPT_FORMULA])
    return run_formula(registry, arguments->option[OPT_FORMULA], arguments->n,
                       arguments->positional, exit_code);
  if (arguments->n != 1)
    return rg_refuse(exit_code, "bounds: takes one study file, or -formula NAME");
  if (!parse_probability(arguments, OPT_DELTA, &with.delta) ||
      !parse_probability(arguments, OPT_LEVEL, &level)) {
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  PetscCall(rg_study_load(registry, arguments->positional[0], &study, &diagnostics));
  rg_print_diagnostics(&diagnostics);
  if (diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  if (*exit_code) return rg_study_destroy(&study);
  PetscCall(rg_theory_create(&study, &with, &theory));
  if (bounds) {
    PetscCall(rg_theory_write_bounds(&study, &theory, &text));
    PetscCall(write_file(bounds, &text, exit_code));
  }
  if (confidence) {
    PetscCall(rg_theory_write_confidence(&study, &theory, level, &text));
    PetscCall(write_file(confidence, &text, exit_code));
  }
  if (*exit_code == RG_EXIT_OK) PetscCall(show(&study, &theory));
  PetscCall(rg_theory_destroy(&theory));
  return rg_study_destroy(&study);
}

const RgCommand rg_command_bounds = {
  RG_USAGE("bounds STUDY.yaml [-o BOUNDS.csv] ... | bounds -formula NAME [KEY=VALUE ...] < IN.csv",
           options, 0, INT_MAX),
  .place = RG_ON_RANK_0, .run = run};
