/* regatta bounds -formula NAME [KEY=VALUE ...]: evaluate a formula of theory/, or the law of a
   method's confidence parameter, on the rows of a CSV table from standard input. For figures. */
#include "cli/formula.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/arguments.h"
#include "regatta/algorithm.h"
#include "study/file/registry.h"
#include "theory/formula.h"

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

/* A domain with `points` designs, or the unit cube. */
static PetscErrorCode make_domain(const LawOptions *o, RgDomain *domain)
{
  double *points, *bounds;

  PetscCall(PetscCalloc2((size_t)PetscMax(o->points, 1) * o->dim, &points, 2 * o->dim, &bounds));
  for (int j = 0; j < o->dim; j++) bounds[o->dim + j] = 1;
  if (o->points)
    PetscCall(rg_space_set(&domain->design, o->dim, o->points, points, bounds, bounds + o->dim));
  else PetscCall(rg_space_box(&domain->design, o->dim, bounds, bounds + o->dim));
  PetscCall(PetscFree2(points, bounds));
  return 0;
}

/* Mean and equal-tailed interval of a law; a constant has no interval. */
static PetscErrorCode law_rows(const RgAlgorithmClass *method, const void *settings,
                               const LawOptions *o, int n, const double *const *in,
                               double *const *out)
{
  const double tail = (1 - o->level) / 2;
  RgDomain domain = {0};

  PetscCall(make_domain(o, &domain));
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
  PetscCall(rg_domain_destroy(&domain));
  return 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

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
  PetscCall(rg_pair_set(own ? job->formula->params : job->method->params,
                        own ? job->options : job->settings, word, value, place, found));
  return 0;
}

static PetscErrorCode check_required(const Job *job, int n, char **words, RgDiagnostics *found)
{
  for (const RgParam *entry = job->formula->params; entry->name; entry++) {
    bool given = entry->fallback || !rg_is_param(entry);
    for (int i = 0; i < n; i++) given = given || !strcmp(words[i], entry->name);
    if (!given)
      rg_diagnostics_add(found, (RgPlace){"bounds", 0, 0}, "'%s' is missing", entry->name);
  }
  return 0;
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

static PetscErrorCode write_rows(const RgTheoryFormula *formula, int n, double *const *out)
{
  RgText text = {0};

  for (int k = 0; formula->outputs[k]; k++)
    PetscCall(rg_text_add(&text, "%s%s", k ? "," : "", formula->outputs[k]));
  for (int i = 0; i < n; i++)
    for (int k = 0; formula->outputs[k]; k++) {
      PetscCall(rg_text_add(&text, k ? "," : "\n"));
      PetscCall(rg_text_add_real(&text, out[k][i]));
    }
  rg_say("%s\n", text.data);
  PetscCall(rg_text_clear(&text));
  return 0;
}

static PetscErrorCode evaluate(const Job *job, int *exit_code)
{
  Rows rows = {0};
  double *table, *in[RG_FORMULA_COLUMNS], *out[RG_FORMULA_COLUMNS];
  bool good;

  PetscCall(read_rows(job->formula, &rows, &good));
  if (!good) {
    rg_complain("bounds: standard input is no CSV table of numbers, with a header, of what the "
                "formula takes (regatta describe NAME)");
    *exit_code = RG_EXIT_BAD_INPUT;
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
    PetscCall(write_rows(job->formula, rows.n, out));
    PetscCall(PetscFree(table));
  }
  PetscCall(PetscFree(rows.cell));
  return 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

static PetscErrorCode complain_unknown(const char *name)
{
  RgText known = {0};

  for (const RgTheoryFormula *formula = rg_theory_formulas; formula->name; formula++)
    PetscCall(rg_text_add(&known, "%s, ", formula->name));
  rg_complain("bounds: nothing is called '%s' (%sor a method with a confidence parameter of known "
              "law)",
              name, known.data);
  PetscCall(rg_text_clear(&known));
  return 0;
}

static PetscErrorCode run_job(Job *job, int n, char **words, int *exit_code)
{
  RgDiagnostics found = {0};

  PetscCall(PetscCalloc1(job->formula->options_size, (char **)&job->options));
  PetscCall(rg_params_defaults(job->formula->params, job->options));
  if (job->method) {
    PetscCall(PetscCalloc1(job->method->options_size + 1, (char **)&job->settings));
    PetscCall(rg_params_defaults(job->method->params, job->settings));
  }
  for (int i = 0; i < n; i++) PetscCall(set_one(job, words[i], &found));
  PetscCall(check_required(job, n, words, &found));
  if (found.n) rg_complain("bounds: %s", found.list[0].message);
  if (found.n) *exit_code = RG_EXIT_BAD_INPUT;
  else PetscCall(evaluate(job, exit_code));
  PetscCall(rg_params_clear(job->formula->params, job->options));
  if (job->method) PetscCall(rg_params_clear(job->method->params, job->settings));
  PetscCall(PetscFree(job->options));
  PetscCall(PetscFree(job->settings));
  return 0;
}

PetscErrorCode rg_formula_run(const RgRegistry *registry, const char *name, int n,
                              const char *const *words, int *exit_code)
{
  const RgAlgorithmClass *method = rg_registry_find_algorithm(registry, name);
  Job job = {.formula = rg_theory_formula_find(name)};

  if (!job.formula && method && method->confidence) {
    job.formula = &law_formula;
    job.method = method;
  }
  if (job.formula) {
    PetscCall(run_job(&job, n, (char **)(uintptr_t)words, exit_code));
  } else {
    PetscCall(complain_unknown(name));
    *exit_code = RG_EXIT_BAD_INPUT;
  }
  return 0;
}
