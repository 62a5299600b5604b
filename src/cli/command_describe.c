/* regatta describe NAME: describe a problem, an algorithm, a kernel, or a block of a study file
   from its table. */
#include "cli/command.h"

#include <string.h>

#include "regatta/algorithm.h"
#include "gp/model/model.h"
#include "gp/kernel/family.h"
#include "maths/law.h"
#include "base/left_out.h"
#include "cli/needs.h"
#include "base/table.h"
#include "problem/problem_describe.h"
#include "regatta/measure.h"
#include "study/store/format_doc.h"
#include "study/file/presets.h"
#include "study/file/registry.h"
#include "study/file/study.h"
#include "theory/family.h"
#include "theory/formula.h"

static const struct {
  const char *name, *text;
} heads[] = {
#include "regatta_heads.h" /* the build makes this file from algorithm/, problem/ and extra/ */
};

/* ---- blocks of a study file ----------------------------------------------------------------- */

static PetscErrorCode describe_keys(RgText *text, const char *heading, const RgStudyKey *keys)
{
  RgTable table = {.n_columns = 2, .headings = {"key", "meaning"}};

  PetscCall(rg_text_add(text, "%s\n", heading));
  for (; keys->name; keys++)
    PetscCall(rg_table_add(&table, (const char *const[]){keys->name, keys->doc}));
  PetscCall(rg_table_print(&table, text));
  return 0;
}

static const struct {
  const char *name, *summary;
  const RgParam *params;
} blocks[] = {
  {"run", "settings of a run: in 'common', or in an entry of 'problems'", rg_run_params},
  {"workers", "workers and the simulated clock: in 'common', or in an entry of 'problems'",
   rg_workers_params},
  {"crew",
   "deaths of workers, and limits of evaluations: the block 'crew' in 'common', or in an entry of "
   "'problems'",
   rg_crew_params},
  {"thinking",
   "the time that a method takes on the simulated clock: the block 'thinking' in 'common', or in "
   "an entry of 'problems'; a number in place of the block is its 'a'",
   rg_thinking_params},
  {"pending",
   "the rule for points in flight, with several workers: the block 'pending' in 'common', in an "
   "entry of 'problems', or of 'algorithms' that use a model; a word in place of the block is its "
   "'rule'",
   rg_pending_params},
  {"surrogate",
   "the Gaussian process of algorithms that use a model: the block 'surrogate' in 'common', in "
   "an entry of 'problems', or of 'algorithms'",
   rg_surrogate_params},
  {"maximiser",
   "the search for the next query on a box: the block 'maximiser' in 'common', in an entry of "
   "'problems', or of 'algorithms'",
   rg_maximiser_params}};

enum { N_BLOCKS = sizeof(blocks) / sizeof(*blocks) };

static PetscErrorCode describe_study(RgText *text)
{
  PetscCall(describe_keys(text, "study: the keys of a study file\n", rg_study_keys));
  PetscCall(describe_keys(text,
                          "\nKeys of every entry of 'problems' and 'algorithms', beside their own "
                          "parameters",
                          rg_entry_keys));
  PetscCall(rg_text_add(
    text,
    "\nEntries also take the blocks 'surrogate' and 'maximiser'; problems take the "
    "settings of 'run' and 'workers', and the blocks 'crew' and 'thinking'; algorithms with a "
    "model take 'pending'.\nSweep paths: "
    "common.KEY, problems.LABEL.KEY, "
    "algorithms.LABEL.KEY, and BLOCK.KEY in place of KEY.\n"));
  return 0;
}

static PetscErrorCode describe_block(RgText *text, int block)
{
  PetscCall(rg_text_add(text, "%s: %s\n\n", blocks[block].name, blocks[block].summary));
  PetscCall(rg_params_describe(blocks[block].params, text));
  if (blocks[block].params != rg_surrogate_params) return 0;
  PetscCall(rg_text_add(text, "\nPresets ('preset: NAME'; settings beside it win)\n"));
  for (const RgPreset *preset = rg_presets; preset->name; preset++) {
    PetscCall(rg_text_add(text, "%s: %s\n ", preset->name, preset->doc));
    for (const RgPresetSetting *set = preset->settings; set->key; set++)
      PetscCall(rg_text_add(text, " %s: %s%s", set->key, set->value.text, set[1].key ? "," : ""));
    PetscCall(rg_text_add(text, "%s\n", preset->settings->key ? "" : " the defaults above"));
  }
  return 0;
}

/* ---- algorithms ----------------------------------------------------------------------------- */

static PetscErrorCode describe_needs(RgText *text, const RgAlgorithmClass *class)
{
  static const char *const reads[] = {"its own keys only", "the block surrogate",
                                      "the block maximiser", "the blocks surrogate, maximiser"};

  PetscCall(rg_text_add(text, "  Needs: "));
  PetscCall(rg_needs_of_method(class, false, text));
  if (class->terms && class->terms->instead)
    PetscCall(rg_text_add(text, " or %s", class->terms->instead));
  PetscCall(rg_text_add(text, "%s\n", class->needs ? "" : "nothing, any domain will do"));
  PetscCall(rg_text_add(text, "  Reads: %s\n", reads[class->reads & 3]));
  return 0;
}

/* Append every line of `words`, indented. */
static PetscErrorCode add_indented(RgText *text, const char *words)
{
  for (const char *line = words; *line;) {
    int length = (int)strcspn(line, "\n");
    PetscCall(rg_text_add(text, "  %.*s\n", length, line));
    line += length + (line[length] == '\n');
  }
  return 0;
}

/* Append the remarks on deviations from the paper and on cost in the head comment of a method's
   file. */
static PetscErrorCode add_remarks(RgText *text, const char *name)
{
  const char *line = "";
  bool wanted = false;

  for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
    if (!strcmp(name, heads[i].name)) line = heads[i].text;
  while (*line) {
    const int length = (int)strcspn(line, "\n");
    if (!strncmp(line, "Deviations", 10) || !strncmp(line, "Cost", 4)) wanted = true;
    if (!strncmp(line, "Needs", 5) || !strncmp(line, "Revision", 8)) wanted = false;
    if (wanted) PetscCall(rg_text_add(text, "  %.*s\n", length, line));
    line += length + (line[length] == '\n');
  }
  return 0;
}

static PetscErrorCode describe_algorithm(RgText *text, const RgAlgorithmClass *class)
{
  PetscCall(rg_text_add(text, "%s: %s (algorithm, revision %d)\n", class->name, class->title,
                        class->revision));
  PetscCall(add_indented(text, class->summary));
  PetscCall(rg_text_add(text, "  Source: %s\n", class->reference));
  PetscCall(add_remarks(text, class->name));
  PetscCall(describe_needs(text, class));
  PetscCall(rg_text_add(text, "\nParameters%s\n", class->params->name ? "" : ": none"));
  if (class->params->name) PetscCall(rg_params_describe(class->params, text));
  if (class->columns && class->columns->name) {
    RgTable table = {.n_columns = 2, .headings = {"name", "meaning"}};
    PetscCall(rg_text_add(text, "\nRecorded at every iteration\n"));
    for (const RgRecordColumn *c = class->columns; c->name; c++)
      PetscCall(rg_table_add(&table, (const char *const[]){c->name, c->doc}));
    PetscCall(rg_table_print(&table, text));
  }
  return 0;
}

static PetscErrorCode describe_measure(RgText *text, const RgMeasureInfo *measure)
{
  return rg_text_add(text, "%s: %s (measure)\n  as typed: %s\n", measure->name, measure->meaning,
                     measure->usage);
}

/* Describe the notation of measures. */
static PetscErrorCode describe_measures(RgText *text)
{
  static const char *const rules[] = {
    "F(x) = rho(f(x, .)) over contexts with known probabilities; everything is maximised.",
    "Sums with coefficients and constants: expectation - 4*mad, 0.5*(worst + best) + 1.",
    "robust, clip, tanh and exp take another measure in brackets.",
    "A problem's `measure` is the objective; `score: {NAME: measure, ...}` scores its trials by",
    "several; a method's own `measure` is what it maximises instead of the problem's."};
  RgTable table = {.n_columns = 2, .headings = {"as typed", "meaning"}};

  PetscCall(rg_text_add(text, "Robustness measures\n"));
  for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
    PetscCall(rg_text_add(text, "  %s\n", rules[i]));
  PetscCall(rg_text_add(text, "\n"));
  for (const RgMeasureInfo *info = rg_measure_infos; info->name; info++)
    PetscCall(rg_table_add(&table, (const char *const[]){info->usage, info->meaning}));
  PetscCall(rg_table_print(&table, text));
  return 0;
}

static PetscErrorCode describe_kernel(RgText *text, const RgKernelClass *kernel)
{
  PetscCall(rg_text_add(text, "%s: %s (kernel)\n  k(x, x') = variance %s\n", kernel->name,
                        kernel->summary, kernel->formula));
  PetscCall(rg_text_add(
    text, "  r = sqrt(sum_k ((x_k - x'_k)/length_scale_k)^2) over the inputs of a factor\n"));
  if (kernel->symbol)
    PetscCall(
      rg_text_add(text, "  'shape': %s; default %g\n", kernel->symbol, kernel->default_shape));
  PetscCall(rg_text_add(text, "  Over several inputs: %s\n",
                        kernel->separable ? "the product of kernels of each of them"
                                          : "no product of kernels of each of them"));
  PetscCall(rg_text_add(text, "  Random features of paths: %s\n",
                        kernel->spectrum ? "yes" : "refused, its spectrum is not known"));
  PetscCall(rg_text_add(text, "  Bounds that need derivatives of paths: %s\n",
                        kernel->slope > 0 ? "yes" : "refused, its paths have none"));
  return 0;
}

static PetscErrorCode describe_theory(RgText *text, const RgBoundFamily *family)
{
  RgTable table = {.n_columns = 2, .headings = {"curve", "what it bounds, or is"}};

  PetscCall(rg_text_add(text, "%s: %s (theory)\n  Source: %s\n  Assumes: %s\n%s\n", family->name,
                        family->title, family->reference, family->assumptions,
                        family->nominal ? "  Nominal: some constants can't be known\n" : ""));
  for (const RgBoundCurve *curve = family->curves; curve->name; curve++)
    PetscCall(rg_table_add(&table, (const char *const[]){curve->name, curve->title}));
  PetscCall(rg_table_print(&table, text));
  return 0;
}

static PetscErrorCode describe_formula(RgText *text, const RgTheoryFormula *formula)
{
  PetscCall(rg_text_add(text, "%s: %s (formula of theory)\n  Source: %s\n  Takes columns:",
                        formula->name, formula->summary, formula->reference));
  for (int k = 0; formula->inputs[k]; k++) PetscCall(rg_text_add(text, " %s", formula->inputs[k]));
  PetscCall(rg_text_add(text, "\n  Gives columns:"));
  for (int k = 0; formula->outputs[k]; k++)
    PetscCall(rg_text_add(text, " %s", formula->outputs[k]));
  PetscCall(rg_text_add(text, "\n\nParameters\n"));
  PetscCall(rg_params_describe(formula->params, text));
  return 0;
}

static PetscErrorCode describe_laws(RgText *text)
{
  RgTable table = {.n_columns = 2, .headings = {"as typed", "meaning"}};

  PetscCall(rg_text_add(
    text, "Laws of random contexts, independent in every coordinate, and of durations\n\n"));
  for (const RgDistributionInfo *info = rg_distribution_infos; info->usage; info++)
    PetscCall(rg_table_add(&table, (const char *const[]){info->usage, info->meaning}));
  PetscCall(rg_table_print(&table, text));
  table = (RgTable){.n_columns = 2, .headings = {"as typed", "meaning"}};
  PetscCall(rg_text_add(
    text, "\nLaws of contexts that change with the number t = 1, 2, .. of the evaluation, the\n"
          "initial design included\n\n"));
  for (const RgDistributionInfo *info = rg_law_infos; info->usage; info++)
    PetscCall(rg_table_add(&table, (const char *const[]){info->usage, info->meaning}));
  PetscCall(rg_table_print(&table, text));
  return 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  PetscErrorCode (*describe)(RgText *text);
} topics[] = {{"study", describe_study},
              {"results-format", rg_format_document},
              {"measures", describe_measures},
              {"laws", describe_laws}};
enum { N_TOPICS = sizeof(topics) / sizeof(topics[0]) };

/* All names that can be described, for the nearest name. NULL-terminated; the caller frees. */
static PetscErrorCode known_names(const RgRegistry *registry, const char ***names)
{
  int n_problems = 0, n_algorithms = 0, n_measures = 0, n_theory, n = 0;
  int n_formulas = 0;
  const RgBoundFamily *const *theory = rg_bound_families(&n_theory);

  while (rg_registry_problem(registry, n_problems)) n_problems++;
  while (rg_registry_algorithm(registry, n_algorithms)) n_algorithms++;
  while (rg_measure_infos[n_measures].name) n_measures++;
  while (rg_theory_formulas[n_formulas].name) n_formulas++;
  PetscCall(PetscCalloc1(n_problems + n_algorithms + n_measures + n_theory + n_formulas +
                           RG_KERNEL_FAMILIES + N_BLOCKS + N_TOPICS + 1,
                         names));
  for (int i = 0; i < n_problems; i++) (*names)[n++] = rg_registry_problem(registry, i)->name;
  for (int i = 0; i < n_algorithms; i++) (*names)[n++] = rg_registry_algorithm(registry, i)->name;
  for (int i = 0; i < N_BLOCKS; i++) (*names)[n++] = blocks[i].name;
  for (int i = 0; i < n_theory; i++) (*names)[n++] = theory[i]->name;
  for (int i = 0; i < n_formulas; i++) (*names)[n++] = rg_theory_formulas[i].name;
  for (int i = 0; i < RG_KERNEL_FAMILIES; i++) (*names)[n++] = rg_kernel_family_names[i];
  for (int i = 0; i < N_TOPICS; i++) (*names)[n++] = topics[i].name;
  for (int i = 0; i < n_measures; i++) (*names)[n++] = rg_measure_infos[i].name;
  return 0;
}

/* Append all descriptions of a name; nothing if it is unknown. A problem and an algorithm may
   share a name; then both are described. */
static PetscErrorCode describe(const RgRegistry *registry, RgText *text, const char *name)
{
  const RgProblemClass *problem = rg_registry_find_problem(registry, name);
  const RgAlgorithmClass *algorithm = rg_registry_find_algorithm(registry, name);

  for (int i = 0; i < N_TOPICS; i++)
    if (!strcmp(name, topics[i].name)) PetscCall(topics[i].describe(text));
  for (int i = 0; i < N_BLOCKS; i++)
    if (!strcmp(name, blocks[i].name)) PetscCall(describe_block(text, i));
  if (problem) PetscCall(rg_problem_describe(problem, text));
  if (algorithm) PetscCall(describe_algorithm(text, algorithm));
  for (const RgMeasureInfo *info = rg_measure_infos; info->name; info++)
    if (!strcmp(name, info->name)) PetscCall(describe_measure(text, info));
  const RgTheoryFormula *formula = rg_theory_formula_find(name);
  if (formula) PetscCall(describe_formula(text, formula));
  if (rg_bound_family_find(name)) PetscCall(describe_theory(text, rg_bound_family_find(name)));
  for (int i = 0; i < RG_KERNEL_FAMILIES; i++)
    if (!strcmp(name, rg_kernel_family_names[i]))
      PetscCall(describe_kernel(text, rg_kernel_classes[i]));
  return 0;
}

static PetscErrorCode complain_unknown(const RgRegistry *registry, const char *name)
{
  const char **names;

  if (rg_left_out(name)) {
    rg_complain("describe: " RG_LEFT_OUT, name, rg_left_out(name));
    return 0;
  }
  PetscCall(known_names(registry, &names));
  const char *nearest = rg_text_nearest(name, names);
  rg_complain("describe: nothing is called '%s'%s%s%s (regatta list shows all names; also "
              "run, surrogate, maximiser, study, measures, laws, results-format)",
              name, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  PetscCall(PetscFree(names));
  return 0;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *name = arguments->positional[0];
  RgText text = {0};

  PetscCall(describe(registry, &text, name));
  if (text.length) {
    rg_say("%s", text.data);
  } else {
    PetscCall(complain_unknown(registry, name));
    *exit_code = RG_EXIT_BAD_INPUT;
  }
  PetscCall(rg_text_clear(&text));
  return 0;
}

const RgCommand rg_command_describe = {
  RG_USAGE(
    "describe PROBLEM|ALGORITHM|KERNEL|THEORY|MEASURE|run|surrogate|maximiser|study|measures|laws|"
    "results-format",
    rg_only_plugins, 1, 1),
  .place = RG_ON_RANK_0, .run = run};
