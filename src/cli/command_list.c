/* regatta list problems|algorithms|kernels|measures|theory: the names a study file may use. */
#include "cli/command.h"

#include <string.h>

#include "cli/table.h"
#include "gp/kernel/family.h"
#include "regatta/measure.h"
#include "study/spec/registry.h"
#include "theory/family.h"
#include "theory/formula.h"

enum { SUMMARY_BYTES = 78 };

/* The summary as one line, shortened when long. */
static PetscErrorCode add_row(RgTable *table, const char *name, const char *title,
                              const char *summary)
{
  char line[SUMMARY_BYTES + 4];
  int n = 0;

  PetscFunctionBeginUser;
  for (; summary[n] && n < SUMMARY_BYTES; n++) line[n] = summary[n] == '\n' ? ' ' : summary[n];
  if (summary[n]) /* back to the end of a word */
    while (n > SUMMARY_BYTES / 2 && summary[n] != ' ' && summary[n] != '\n') n--;
  strcpy(line + n, summary[n] ? " ..." : "");
  PetscCall(rg_table_add(table, (const char *const[]){name, title, line}));
  PetscFunctionReturn(0);
}

static PetscErrorCode list_problems(const RgRegistry *registry, RgTable *table)
{
  const RgProblemClass *class;

  PetscFunctionBeginUser;
  for (int i = 0; (class = rg_registry_problem(registry, i)); i++)
    PetscCall(add_row(table, class->name, class->title, class->summary));
  PetscFunctionReturn(0);
}

static PetscErrorCode list_algorithms(const RgRegistry *registry, RgTable *table)
{
  const RgAlgorithmClass *class;

  PetscFunctionBeginUser;
  for (int i = 0; (class = rg_registry_algorithm(registry, i)); i++)
    PetscCall(add_row(table, class->name, class->title, class->summary));
  PetscFunctionReturn(0);
}

static PetscErrorCode list_kernels(const RgRegistry *registry, RgTable *table)
{
  PetscFunctionBeginUser;
  (void)registry;
  for (int i = 0; i < RG_KERNEL_FAMILIES; i++)
    PetscCall(add_row(table, rg_kernel_classes[i]->name, rg_kernel_classes[i]->formula,
                      rg_kernel_classes[i]->summary));
  PetscFunctionReturn(0);
}

static PetscErrorCode list_measures(const RgRegistry *registry, RgTable *table)
{
  PetscFunctionBeginUser;
  (void)registry;
  for (const RgMeasureInfo *info = rg_measure_infos; info->name; info++)
    PetscCall(add_row(table, info->name, info->usage, info->meaning));
  PetscFunctionReturn(0);
}

static PetscErrorCode list_theory(const RgRegistry *registry, RgTable *table)
{
  int n;
  const RgBoundFamily *const *families = rg_bound_families(&n);

  PetscFunctionBeginUser;
  (void)registry;
  for (int i = 0; i < n; i++)
    PetscCall(add_row(table, families[i]->name, families[i]->reference, families[i]->title));
  for (const RgTheoryFormula *formula = rg_theory_formulas; formula->name; formula++)
    PetscCall(add_row(table, formula->name, formula->reference, formula->summary));
  PetscFunctionReturn(0);
}

static const struct {
  const char *name;
  PetscErrorCode (*list)(const RgRegistry *registry, RgTable *table);
} subjects[] = {{"problems", list_problems},
                {"algorithms", list_algorithms},
                {"kernels", list_kernels},
                {"measures", list_measures},
                {"theory", list_theory}};

enum { N_SUBJECTS = sizeof(subjects) / sizeof(*subjects) };

PetscErrorCode rg_command_list(int argc, char **argv, int *exit_code)
{
  static const RgOption options[] = {RG_OPTION_PLUGIN, {NULL, NULL, NULL}};
  const char *names[N_SUBJECTS + 1] = {0};
  RgArguments arguments;
  RgTable table = {.n_columns = 3, .headings = {"name", "title", "summary"}};
  RgRegistry *registry;
  RgText text = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_arguments_parse(argc, argv, "list problems|algorithms|kernels|measures|theory",
                               options, 1, 1, &arguments, exit_code));
  if (!arguments.ok) PetscFunctionReturn(0);
  PetscCall(rg_plugins_load(argc, argv, &registry, exit_code));
  int subject = 0;
  for (; subject < N_SUBJECTS; subject++) {
    names[subject] = subjects[subject].name;
    if (!strcmp(names[subject], arguments.positional[0])) break;
  }
  if (subject == N_SUBJECTS) {
    const char *nearest = rg_text_nearest(arguments.positional[0], names);
    rg_complain(
      "list: nothing is called '%s'%s%s%s (problems, algorithms, kernels, measures or theory)",
      arguments.positional[0], nearest ? ", did you mean '" : "", nearest ? nearest : "",
      nearest ? "'?" : "");
    *exit_code = RG_EXIT_BAD_INPUT;
  } else if (*exit_code == RG_EXIT_OK) {
    PetscCall(subjects[subject].list(registry, &table));
    PetscCall(rg_table_print(&table, &text));
    rg_say("%s", text.data);
    PetscCall(rg_text_clear(&text));
  }
  PetscCall(rg_registry_destroy(&registry));
  PetscFunctionReturn(0);
}
