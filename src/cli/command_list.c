/* regatta list [problems|algorithms|kernels|measures|theory]: list the names for study files. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"
#include "cli/needs.h"
#include "gp/kernel/family.h"
#include "regatta/measure.h"
#include "study/file/registry.h"
#include "theory/family.h"
#include "theory/formula.h"

enum { SUMMARY_BYTES = 78 };

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
  PetscCall(rg_table_add(table, (const char *const[]){name, title, needs, line.data}));
  PetscCall(rg_text_clear(&line));
  return 0;
}

static PetscErrorCode list_problems(const RgRegistry *registry, RgTable *table)
{
  const RgProblemClass *class;

  for (int i = 0; (class = rg_registry_problem(registry, i)); i++) {
    RgText needs = {0};
    PetscCall(rg_needs_of_problem(class, &needs));
    PetscCall(add_row(table, class->name, class->title, needs.data, class->summary));
    PetscCall(rg_text_clear(&needs));
  }
  return 0;
}

static PetscErrorCode list_algorithms(const RgRegistry *registry, RgTable *table)
{
  const RgAlgorithmClass *class;

  for (int i = 0; (class = rg_registry_algorithm(registry, i)); i++) {
    RgText needs = {0};
    PetscCall(rg_needs_of_method(class, true, &needs));
    PetscCall(
      add_row(table, class->name, class->title, needs.data ? needs.data : "any", class->summary));
    PetscCall(rg_text_clear(&needs));
  }
  return 0;
}

static PetscErrorCode list_kernels(const RgRegistry *registry, RgTable *table)
{
  (void)registry;
  for (int i = 0; i < RG_KERNEL_FAMILIES; i++)
    PetscCall(add_row(table, rg_kernel_classes[i]->name, rg_kernel_classes[i]->formula, "",
                      rg_kernel_classes[i]->summary));
  return 0;
}

static PetscErrorCode list_measures(const RgRegistry *registry, RgTable *table)
{
  (void)registry;
  for (const RgMeasureInfo *info = rg_measure_infos; info->name; info++)
    PetscCall(add_row(table, info->name, info->usage, "", info->meaning));
  return 0;
}

static PetscErrorCode list_theory(const RgRegistry *registry, RgTable *table)
{
  int n;
  const RgBoundFamily *const *families = rg_bound_families(&n);

  (void)registry;
  for (int i = 0; i < n; i++)
    PetscCall(add_row(table, families[i]->name, families[i]->reference, "", families[i]->title));
  for (const RgTheoryFormula *formula = rg_theory_formulas; formula->name; formula++)
    PetscCall(add_row(table, formula->name, formula->reference, "", formula->summary));
  return 0;
}

static const struct {
  const char *name;
  PetscErrorCode (*list)(const RgRegistry *registry, RgTable *table);
  const char *doc, *needs; /* heading of its column of needs */
} subjects[] = {{"problems", list_problems, "objectives, in 'problems'", "by default"},
                {"algorithms", list_algorithms, "methods, in 'algorithms'", "needs"},
                {"kernels", list_kernels, "families of kernels, in the block 'surrogate'", ""},
                {"measures", list_measures, "robustness measures over contexts", ""},
                {"theory", list_theory, "families of bounds, and formulas", ""}};

enum { N_SUBJECTS = sizeof(subjects) / sizeof(*subjects) };

/* Print one line per subject with its number of names. */
static PetscErrorCode list_subjects(const RgRegistry *registry, RgTable *table)
{
  char title[32];

  for (int i = 0; i < N_SUBJECTS; i++) {
    RgTable names = {.n_columns = 4, .headings = {"name", "title", "needs", "summary"}};
    RgText text = {0};
    PetscCall(subjects[i].list(registry, &names));
    snprintf(title, sizeof(title), "%d names", names.n_rows);
    PetscCall(rg_table_print(&names, &text));
    PetscCall(rg_text_clear(&text));
    PetscCall(add_row(table, subjects[i].name, title, "", subjects[i].doc));
  }
  return 0;
}

/* The index of a subject; for an unknown one, -1 and a message. */
static int find_subject(const char *name)
{
  const char *names[N_SUBJECTS + 1] = {0};

  for (int i = 0; i < N_SUBJECTS; i++) {
    names[i] = subjects[i].name;
    if (!strcmp(names[i], name)) return i;
  }
  const char *nearest = rg_text_nearest(name, names);
  rg_complain(
    "list: nothing is called '%s'%s%s%s (problems, algorithms, kernels, measures or theory)", name,
    nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return -1;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgTable table = {.n_columns = 4, .headings = {"name", "title", "needs", "summary"}};
  RgText text = {0};

  const int subject = arguments->n ? find_subject(arguments->positional[0]) : N_SUBJECTS;
  if (subject < N_SUBJECTS && subject >= 0) table.headings[2] = subjects[subject].needs;
  if (subject < 0) {
    *exit_code = RG_EXIT_BAD_INPUT;
  } else {
    PetscCall(subject == N_SUBJECTS ? list_subjects(registry, &table)
                                    : subjects[subject].list(registry, &table));
    PetscCall(rg_table_print(&table, &text));
    rg_say("%s", text.data);
    PetscCall(rg_text_clear(&text));
  }
  return 0;
}

const RgCommand rg_command_list = {
  RG_USAGE("list problems|algorithms|kernels|measures|theory", rg_only_plugins, 0, 1),
  .place = RG_ON_RANK_0, .run = run};
