/* regatta bounds STUDY.yaml: regret bounds and confidence parameters from theory; regatta bounds
   -formula NAME: one formula over columns of numbers. */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/table.h"
#include "cli/formula.h"
#include "study/file/registry.h"
#include "study/theory/theory.h"

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
  const char *word = arguments->option[option];

  if (!word) return true;
  if (rg_number_only(word, value) && *value > 0 && *value < 1) return true;
  rg_complain("bounds: %s must be a number in (0, 1), got '%s'", options[option].name, word);
  return false;
}

static PetscErrorCode write_file(const char *path, const RgText *text, int *exit_code)
{
  FILE *file = fopen(path, "wb");
  bool good = file && fwrite(text->data, 1, text->length, file) == text->length;
  good = file && fclose(file) == 0 && good;
  if (!good) {
    rg_complain("bounds: %s can't be written: %s", path, strerror(errno));
    *exit_code = file ? RG_EXIT_STORAGE : RG_EXIT_BAD_INPUT;
  }
  return 0;
}

/* Add one line per curve, with its value at the last query, or the reason why it has no bound. */
static PetscErrorCode show(const RgStudy *study, const RgTheoryTable *theory)
{
  RgTable table = {.n_columns = 9,
                   .headings = {"problem", "algorithm", "swept", "curve", ">T", ">gamma_T",
                                ">value", "kind", "remark"}};
  RgText text = {0};

  for (int i = 0; i < theory->n_cells; i++) {
    const RgCellTheory *cell = &theory->cells[i];
    const RgCell *of = &study->cells[i];
    char queries[16], gamma[32], value[32];
    snprintf(queries, sizeof(queries), "%d", cell->n);
    if (!cell->bounded)
      PetscCall(rg_table_add(&table, (const char *const[]){of->problem_label, of->algorithm_label,
                                                           of->swept, "none", queries, "", "", "",
                                                           cell->why}));
    for (int k = 0; cell->bounded && k < cell->n_curves; k++) {
      if (!cell->value[k]) continue;
      rg_format(gamma, sizeof(gamma), "%.6g", cell->gain->upper[cell->n - 1]);
      rg_format(value, sizeof(value), "%.6g", cell->value[k][cell->n - 1]);
      PetscCall(rg_table_add(
        &table, (const char *const[]){of->problem_label, of->algorithm_label, of->swept,
                                      cell->family->curves[k].name, queries, gamma, value,
                                      rg_claim_names[cell->claim], cell->why}));
    }
  }
  PetscCall(rg_table_print(&table, &text));
  rg_say("%s", text.data);
  PetscCall(rg_text_clear(&text));
  return 0;
}

static PetscErrorCode compute(const RgStudy *study, const RgArguments *arguments,
                              const RgTheoryOptions *with, double level, int *exit_code)
{
  RgTheoryTable theory;
  RgText text = {0};

  PetscCall(rg_theory_create(study, with, &theory));
  if (arguments->option[OPT_OUTPUT]) {
    PetscCall(rg_theory_write_bounds(study, &theory, &text));
    PetscCall(write_file(arguments->option[OPT_OUTPUT], &text, exit_code));
    PetscCall(rg_text_clear(&text));
  }
  if (arguments->option[OPT_CONFIDENCE]) {
    PetscCall(rg_theory_write_confidence(study, &theory, level, &text));
    PetscCall(write_file(arguments->option[OPT_CONFIDENCE], &text, exit_code));
    PetscCall(rg_text_clear(&text));
  }
  if (*exit_code == RG_EXIT_OK) PetscCall(show(study, &theory));
  PetscCall(rg_theory_destroy(&theory));
  return 0;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgStudy study;
  RgDiagnostics diagnostics = {0};
  RgTheoryOptions with = {.tight = arguments->option[OPT_TIGHT] != NULL, .delta = 0.1};
  double level = 0.95;

  if (arguments->option[OPT_FORMULA]) {
    PetscCall(rg_formula_run(registry, arguments->option[OPT_FORMULA], arguments->n,
                             arguments->positional, exit_code));
    return 0;
  }
  if (arguments->n != 1) {
    rg_complain("bounds: takes one study file, or -formula NAME");
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  if (!parse_probability(arguments, OPT_DELTA, &with.delta) ||
      !parse_probability(arguments, OPT_LEVEL, &level)) {
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  PetscCall(rg_study_load(registry, arguments->positional[0], &study, &diagnostics));
  rg_print_diagnostics(&diagnostics);
  if (diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  else PetscCall(compute(&study, arguments, &with, level, exit_code));
  PetscCall(rg_study_destroy(&study));
  return 0;
}

const RgCommand rg_command_bounds = {
  RG_USAGE("bounds STUDY.yaml [-o BOUNDS.csv] ... | bounds -formula NAME [KEY=VALUE ...] < IN.csv",
           options, 0, INT_MAX),
  .place = RG_ON_RANK_0, .run = run};
