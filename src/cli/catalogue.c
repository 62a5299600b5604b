/* regatta list [SUBJECT] and regatta describe NAME: the catalogue of everything that a study file
   can name. A subject is one row of `subjects`. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/left_out.h"
#include "base/table.h"
#include "gp/kernel/family.h"
#include "gp/model/model.h"
#include "maths/law.h"
#include "problem/problem_describe.h"
#include "regatta/algorithm.h"
#include "regatta/measure.h"
#include "study/file/presets.h"
#include "study/file/registry.h"
#include "study/file/study.h"
#include "study/store/store.h"
#include "theory/family.h"
#include "theory/formula.h"

static const struct {
  const char *name, *text;
} heads[] = {
#include "regatta_heads.h" /* the build makes this file from algorithm/, problem/ and extra/ */
};

/* A line of `list`. */
typedef struct {
  const char *name, *title, *summary;
} Entry;

/* ---- blocks of a study file ------------------------------------------------------------------ */

static PetscErrorCode describe_keys(RgText *text, const char *heading, const RgStudyKey *keys)
{
  RgTable table = {.n_columns = 2, .headings = {"key", "meaning"}};

  PetscCall(rg_text_add(text, "%s\n", heading));
  for (; keys->name; keys++) PetscCall(rg_table_add(&table, "%s\v%s", keys->name, keys->doc));
  return rg_table_print(&table, text);
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
  {"noise",
   "noise of the observations other than normal noise of one variance: the block 'noise' in "
   "'common', or in an entry of 'problems'; a number or a formula in place of the block is its "
   "'variance'",
   rg_noise_params},
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
  return rg_text_add(
    text, "\nEntries also take the blocks 'surrogate' and 'maximiser'; problems take the "
          "settings of 'run' and 'workers', and the blocks 'crew', 'thinking' and 'noise'; "
          "algorithms with a "
          "model take 'pending'.\nSweep paths: "
          "common.KEY, problems.LABEL.KEY, "
          "algorithms.LABEL.KEY, and BLOCK.KEY in place of KEY.\n");
}

static bool block_at(const RgRegistry *registry, int i, Entry *entry)
{
  if (i < N_BLOCKS) *entry = (Entry){.name = blocks[i].name};
  return i < N_BLOCKS;
}

static PetscErrorCode describe_block(const RgRegistry *registry, int block, RgText *text)
{
  PetscCall(rg_text_add(text, "%s: %s\n\n", blocks[block].name, blocks[block].summary));
  PetscCall(rg_params_describe(blocks[block].params, text));
  if (blocks[block].params != rg_surrogate_params) return 0;
  PetscCall(rg_text_add(text, "\nPresets ('preset: NAME'; settings beside it win)\n"));
  for (const RgPreset *preset = rg_presets; preset->name; preset++)
    PetscCall(rg_text_add(text, "%s: %s\n  %s\n", preset->name, preset->doc,
                          *preset->settings ? preset->settings : "the defaults above"));
  return 0;
}

/* ---- problems -------------------------------------------------------------------------------- */

static PetscErrorCode add_space(const RgSpace *space, const char *what, RgText *text)
{
  PetscCall(rg_text_add(text, "%s%d", what, space->dim));
  if (rg_space_is_finite(space)) PetscCall(rg_text_add(text, " (%d points)", space->size));
  return 0;
}

static PetscErrorCode problem_needs(const RgRegistry *registry, int i, RgText *text)
{
  const RgProblemClass *class = rg_registry_problem(registry, i);
  RgDomain domain = {0};

  /* The defaults of a problem, if it has them all, give its domain. */
  RgDiagnostics found = {0};
  char *options;
  bool sound = class->domain != NULL && !(class->source && class->source->load);
  for (const RgParam *entry = class->params; entry->name && sound; entry++)
    sound = entry->fallback != NULL;
  if (sound) {
    PetscCall(PetscCalloc1(class->options_size + 1, &options));
    PetscCall(rg_params_defaults(class->params, options));
    if (class->check) PetscCall(class->check(class, options, (RgPlace){0}, &found));
    sound = found.n == 0;
    if (sound) PetscCall(rg_problem_domain(class, options, &domain));
    PetscCall(rg_params_clear(class->params, options));
    PetscCall(PetscFree(options));
  }
  if (!sound) {
    PetscCall(rg_text_add(text, "as set"));
  } else {
    PetscCall(add_space(&domain.design, "dim ", text));
    if (domain.context.dim) PetscCall(add_space(&domain.context, ", context ", text));
    if (domain.n_constraints)
      PetscCall(rg_text_add(text, ", %d constraint%s", domain.n_constraints,
                            domain.n_constraints == 1 ? "" : "s"));
  }
  return rg_domain_destroy(&domain);
}

static bool problem_at(const RgRegistry *registry, int i, Entry *entry)
{
  const RgProblemClass *class = rg_registry_problem(registry, i);

  if (class) *entry = (Entry){class->name, class->title, class->summary};
  return class != NULL;
}

static PetscErrorCode describe_problem(const RgRegistry *registry, int i, RgText *text)
{
  return rg_problem_describe(rg_registry_problem(registry, i), text);
}

/* ---- algorithms ------------------------------------------------------------------------------ */

static const struct {
  unsigned need;
  const char *words, *brief;
} needs_in_words[] = {
  {RG_NEEDS_FINITE, "a finite design", "finite"},
  {RG_NEEDS_BOX, "a design that is a box", "box"},
  {RG_NEEDS_CONTEXT, "a context", "context"},
  {RG_NEEDS_CONTEXT_PROB, "finite contexts with known probabilities", "finite context"},
  {RG_NEEDS_NO_CONTEXT, "no context for the learner to choose", "no context"},
  {RG_NEEDS_NATURE, "a context that nature draws", "nature's context"},
  {RG_NEEDS_INITIAL, "an initial design", "initial design"},
  {RG_NEEDS_ALTERNATION, "one worker", "one worker"},
  {RG_NEEDS_CLOCK, "a clock ('duration')", "clock"},
  {RG_NEEDS_ANNOUNCED, "a context that is announced before the decision", "announced context"}};

static PetscErrorCode add_needs(const RgAlgorithmClass *class, bool brief, RgText *text)
{
  const char *before = "";

  for (size_t i = 0; i < sizeof(needs_in_words) / sizeof(*needs_in_words); i++) {
    if (!(class->needs & needs_in_words[i].need)) continue;
    PetscCall(
      rg_text_add(text, "%s%s", before, brief ? needs_in_words[i].brief : needs_in_words[i].words));
    before = ", ";
  }
  if (brief && class->traits & RG_CONSTRAINED)
    PetscCall(rg_text_add(text, "%sknows constraints", before));
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

static bool algorithm_at(const RgRegistry *registry, int i, Entry *entry)
{
  const RgAlgorithmClass *class = rg_registry_algorithm(registry, i);

  if (class) *entry = (Entry){class->name, class->title, class->summary};
  return class != NULL;
}

static PetscErrorCode method_needs(const RgRegistry *registry, int i, RgText *text)
{
  PetscCall(add_needs(rg_registry_algorithm(registry, i), true, text));
  if (!text->data) PetscCall(rg_text_add(text, "any"));
  return 0;
}

static PetscErrorCode describe_algorithm(const RgRegistry *registry, int i, RgText *text)
{
  static const char *const reads[] = {"its own keys only", "the block surrogate",
                                      "the block maximiser", "the blocks surrogate, maximiser"};
  const RgAlgorithmClass *class = rg_registry_algorithm(registry, i);

  PetscCall(rg_text_add(text, "%s: %s (algorithm, revision %d)\n", class->name, class->title,
                        class->revision));
  for (const char *line = class->summary; *line;) {
    int length = (int)strcspn(line, "\n");
    PetscCall(rg_text_add(text, "  %.*s\n", length, line));
    line += length + (line[length] == '\n');
  }
  PetscCall(rg_text_add(text, "  Source: %s\n", class->reference));
  PetscCall(add_remarks(text, class->name));
  PetscCall(rg_text_add(text, "  Needs: "));
  PetscCall(add_needs(class, false, text));
  if (class->terms && class->terms->instead)
    PetscCall(rg_text_add(text, " or %s", class->terms->instead));
  PetscCall(rg_text_add(text, "%s\n", class->needs ? "" : "nothing, any domain will do"));
  PetscCall(rg_text_add(text, "  Reads: %s\n", reads[class->reads & 3]));
  PetscCall(rg_text_add(text, "\nParameters%s\n", class->params->name ? "" : ": none"));
  if (class->params->name) PetscCall(rg_params_describe(class->params, text));
  if (class->columns && class->columns->name) {
    RgTable table = {.n_columns = 2, .headings = {"name", "meaning"}};
    PetscCall(rg_text_add(text, "\nRecorded at every iteration\n"));
    for (const RgRecordColumn *c = class->columns; c->name; c++)
      PetscCall(rg_table_add(&table, "%s\v%s", c->name, c->doc));
    PetscCall(rg_table_print(&table, text));
  }
  return 0;
}

/* ---- measures, kernels, theory, laws --------------------------------------------------------- */

static bool measure_at(const RgRegistry *registry, int i, Entry *entry)
{
  const RgMeasureInfo *measure = rg_measure_info(i);

  if (measure) *entry = (Entry){measure->name, measure->usage, measure->meaning};
  return measure != NULL;
}

static PetscErrorCode describe_measure(const RgRegistry *registry, int i, RgText *text)
{
  const RgMeasureInfo *measure = rg_measure_info(i);

  return rg_text_add(text, "%s: %s (measure)\n  as typed: %s\n", measure->name, measure->meaning,
                     measure->usage);
}

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
  for (int k = 0; rg_measure_info(k); k++)
    PetscCall(
      rg_table_add(&table, "%s\v%s", rg_measure_info(k)->usage, rg_measure_info(k)->meaning));
  return rg_table_print(&table, text);
}

static bool kernel_at(const RgRegistry *registry, int i, Entry *entry)
{
  if (i >= RG_KERNEL_FAMILIES) return false;
  *entry = (Entry){rg_kernel_classes[i]->name, rg_kernel_classes[i]->formula,
                   rg_kernel_classes[i]->summary};
  return true;
}

static PetscErrorCode describe_kernel(const RgRegistry *registry, int i, RgText *text)
{
  const RgKernelClass *kernel = rg_kernel_classes[i];

  PetscCall(rg_text_add(text, "%s: %s (kernel)\n  k(x, x') = variance %s\n", kernel->name,
                        kernel->summary, kernel->formula));
  PetscCall(rg_text_add(
    text,
    kernel->columns
      ? "  r = sqrt(sum_k ((x_k - x'_k)/length_scale_k)^2) over the inputs of a factor\n"
      : "  P(u) = (2 u, |u|^2 - 1)/(1 + |u|^2), u_k = (x_k - 1/2)/(length_scale_k sqrt(a M)),\n"
        "  M = sum_k 1/(2 length_scale_k)^2, over the inputs of a factor; a and b in (0, 1) are\n"
        "  fitted from 1/2, and the noise is learned also where it is known (arXiv:2512.00170)\n"));
  if (kernel->symbol)
    PetscCall(
      rg_text_add(text, "  'shape': %s; default %g\n", kernel->symbol, kernel->default_shape));
  PetscCall(rg_text_add(text, "  Over several inputs: %s\n",
                        kernel->separable ? "the product of kernels of each of them"
                                          : "no product of kernels of each of them"));
  PetscCall(rg_text_add(text, "  Random features of paths: %s\n",
                        kernel->spectrum ? "yes" : "refused, its spectrum is not known"));
  return rg_text_add(text, "  Bounds that need derivatives of paths: %s\n",
                     kernel->slope > 0 ? "yes"
                     : kernel->columns ? "refused, its paths have none"
                                       : "refused, their deviation depends on the point");
}

/* The subject has the families of bounds, and behind them the formulas. */
static bool theory_at(const RgRegistry *registry, int i, Entry *entry)
{
  int n;
  const RgBoundFamily *const *families = rg_bound_families(&n);
  const RgTheoryFormula *formula = &rg_theory_formulas[i < n ? 0 : i - n];

  *entry = i < n ? (Entry){families[i]->name, families[i]->reference, families[i]->title}
                 : (Entry){formula->name, formula->reference, formula->summary};
  return entry->name != NULL;
}

static PetscErrorCode describe_theory(const RgRegistry *registry, int i, RgText *text)
{
  int n;
  const RgBoundFamily *const *families = rg_bound_families(&n);

  if (i < n) {
    RgTable table = {.n_columns = 2, .headings = {"curve", "what it bounds, or is"}};
    PetscCall(
      rg_text_add(text, "%s: %s (theory)\n  Source: %s\n  Assumes: %s\n%s\n", families[i]->name,
                  families[i]->title, families[i]->reference, families[i]->assumptions,
                  families[i]->nominal ? "  Nominal: some constants can't be known\n" : ""));
    for (const RgBoundCurve *curve = families[i]->curves; curve->name; curve++)
      PetscCall(rg_table_add(&table, "%s\v%s", curve->name, curve->title));
    return rg_table_print(&table, text);
  }
  const RgTheoryFormula *formula = &rg_theory_formulas[i - n];
  PetscCall(rg_text_add(text, "%s: %s (formula of theory)\n  Source: %s\n  Takes columns:",
                        formula->name, formula->summary, formula->reference));
  for (int k = 0; formula->inputs[k]; k++) PetscCall(rg_text_add(text, " %s", formula->inputs[k]));
  PetscCall(rg_text_add(text, "\n  Gives columns:"));
  for (int k = 0; formula->outputs[k]; k++)
    PetscCall(rg_text_add(text, " %s", formula->outputs[k]));
  PetscCall(rg_text_add(text, "\n\nParameters\n"));
  return rg_params_describe(formula->params, text);
}

static PetscErrorCode describe_laws(RgText *text)
{
  RgTable table = {.n_columns = 2, .headings = {"as typed", "meaning"}};

  PetscCall(rg_text_add(
    text, "Laws of random contexts, independent in every coordinate, and of durations\n\n"));
  for (const RgDistributionInfo *info = rg_distribution_infos; info->usage; info++)
    PetscCall(rg_table_add(&table, "%s\v%s", info->usage, info->meaning));
  PetscCall(rg_table_print(&table, text));
  table = (RgTable){.n_columns = 2, .headings = {"as typed", "meaning"}};
  PetscCall(rg_text_add(
    text, "\nLaws of contexts that change with the number t = 1, 2, .. of the evaluation, the\n"
          "initial design included\n\n"));
  for (const RgDistributionInfo *info = rg_law_infos; info->usage; info++)
    PetscCall(rg_table_add(&table, "%s\v%s", info->usage, info->meaning));
  return rg_table_print(&table, text);
}

static const struct {
  const char *name;
  PetscErrorCode (*describe)(RgText *text);
} topics[] = {{"study", describe_study},
              {"results-format", rg_format_document},
              {"measures", describe_measures},
              {"laws", describe_laws}};
enum { N_TOPICS = sizeof(topics) / sizeof(topics[0]) };

static bool topic_at(const RgRegistry *registry, int i, Entry *entry)
{
  if (i < N_TOPICS) *entry = (Entry){.name = topics[i].name};
  return i < N_TOPICS;
}

static PetscErrorCode describe_topic(const RgRegistry *registry, int i, RgText *text)
{
  return topics[i].describe(text);
}

/* ---- subjects -------------------------------------------------------------------------------- */

static const struct {
  const char *name; /* as `list` calls it; NULL: not listed */
  const char *doc;
  /* The entry with a number; false behind the last. */
  bool (*at)(const RgRegistry *registry, int i, Entry *entry);
  PetscErrorCode (*describe)(const RgRegistry *registry, int i, RgText *text);
  const char *heading; /* of the column that `needs` fills; NULL: "" */
  PetscErrorCode (*needs)(const RgRegistry *registry, int i, RgText *text);
} subjects[] = {
  {"problems", "objectives, in 'problems'", problem_at, describe_problem, "by default",
   problem_needs},
  {"algorithms", "methods, in 'algorithms'", algorithm_at, describe_algorithm, "needs",
   method_needs},
  {"kernels", "families of kernels, in the block 'surrogate'", kernel_at, describe_kernel, NULL,
   NULL},
  {"measures", "robustness measures over contexts", measure_at, describe_measure, NULL, NULL},
  {"theory", "families of bounds, and formulas", theory_at, describe_theory, NULL, NULL},
  {NULL, NULL, block_at, describe_block, NULL, NULL},
  {NULL, NULL, topic_at, describe_topic, NULL, NULL}};

enum { N_SUBJECTS = sizeof(subjects) / sizeof(*subjects), SUMMARY_BYTES = 78 };

/* The summary as one line; on a terminal a long one is shortened. needs: what a method needs, or a
   problem offers; "" for other subjects. */
static PetscErrorCode add_row(RgTable *table, const char *name, const char *title,
                              const char *needs, const char *summary)
{
  const size_t most = isatty(STDOUT_FILENO) ? SUMMARY_BYTES : strlen(summary);
  RgText line = {0};
  size_t n = PetscMin(most, strlen(summary));

  if (summary[n]) /* go back to the end of a word */
    while (n > SUMMARY_BYTES / 2 && summary[n] != ' ' && summary[n] != '\n') n--;
  PetscCall(rg_text_add(&line, "%.*s%s", (int)n, summary, summary[n] ? " ..." : ""));
  for (char *c = line.data; *c; c++)
    if (*c == '\n') *c = ' ';
  PetscCall(rg_table_add(table, "%s\v%s\v%s\v%s", name, title ? title : "", needs, line.data));
  return rg_text_clear(&line);
}

static PetscErrorCode list(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgTable table = {.n_columns = 4, .headings = {"name", "title", "needs", "summary"}};
  const char *names[N_SUBJECTS + 1] = {0}, *name = arguments->n ? arguments->positional[0] : NULL;
  char hint[RG_HINT_BYTES];
  int subject = 0;

  for (int k = 0; k < N_SUBJECTS && subjects[k].name; k++) names[k] = subjects[k].name;
  while (name && names[subject] && strcmp(names[subject], name)) subject++;
  if (name && !names[subject])
    return rg_refuse(
      exit_code,
      "list: nothing is called '%s'%s (problems, algorithms, kernels, measures or theory)", name,
      rg_suggest(name, names, hint));
  if (name) { /* a line for every entry of the subject */
    Entry entry;
    table.headings[2] = subjects[subject].heading ? subjects[subject].heading : "";
    for (int i = 0; subjects[subject].at(registry, i, &entry); i++) {
      RgText needs = {0};
      if (subjects[subject].needs) PetscCall(subjects[subject].needs(registry, i, &needs));
      PetscCall(
        add_row(&table, entry.name, entry.title, needs.data ? needs.data : "", entry.summary));
      PetscCall(rg_text_clear(&needs));
    }
  } else { /* a line for every subject, with its number of names */
    Entry entry;
    char title[32];
    for (int k = 0; k < N_SUBJECTS && subjects[k].name; k++) {
      int n = 0;
      while (subjects[k].at(registry, n, &entry)) n++;
      snprintf(title, sizeof(title), "%d names", n);
      PetscCall(add_row(&table, subjects[k].name, title, "", subjects[k].doc));
    }
  }
  return rg_say_table(&table);
}

const RgCommand rg_command_list = {
  RG_USAGE("list problems|algorithms|kernels|measures|theory", rg_only_plugins, 0, 1),
  .place = RG_ON_RANK_0, .run = list};

/* Print all descriptions of a name: a problem and an algorithm may share it. */
static PetscErrorCode describe(const RgArguments *arguments, const RgRegistry *registry,
                               int *exit_code)
{
  const char *name = arguments->positional[0], **names = NULL;
  char hint[RG_HINT_BYTES];
  RgText text = {0};
  Entry entry;
  int n = 0;

  for (int k = 0; k < N_SUBJECTS; k++)
    for (int i = 0; subjects[k].at(registry, i, &entry); i++) {
      if (!strcmp(name, entry.name)) PetscCall(subjects[k].describe(registry, i, &text));
      PetscCall(RG_GROW(n, names));
      names[n++] = entry.name;
    }
  PetscCall(RG_GROW(n, names));
  names[n] = NULL;
  if (text.length) rg_say("%s", text.data);
  else if (rg_left_out(name))
    PetscCall(rg_refuse(exit_code, "describe: " RG_LEFT_OUT, name, rg_left_out(name)));
  else
    PetscCall(rg_refuse(exit_code,
                        "describe: nothing is called '%s'%s (regatta list shows all names; also "
                        "run, surrogate, maximiser, study, measures, laws, results-format)",
                        name, rg_suggest(name, names, hint)));
  PetscCall(PetscFree(names));
  return rg_text_clear(&text);
}

const RgCommand rg_command_describe = {
  RG_USAGE(
    "describe PROBLEM|ALGORITHM|KERNEL|THEORY|MEASURE|run|surrogate|maximiser|study|measures|laws|"
    "results-format",
    rg_only_plugins, 1, 1),
  .place = RG_ON_RANK_0, .run = describe};
