/* The programs that a study starts: the parameter `program` of problems and algorithms. */
#include "cli/starts.h"

#include <string.h>

#include "base/params_internal.h"
#include "cli/command.h"

/* The program and its arguments, as a shell would show them; empty if an entry has none. */
static PetscErrorCode add_words(const RgParam *params, void *options, RgText *text)
{
  const RgParam *program = rg_params_find(params, "program");
  const RgParam *arguments = rg_params_find(params, "arguments");

  if (!program || program->type != RG_PARAM_PATH) return 0;
  PetscCall(rg_text_add(text, "%.400s", *rg_param_field(program, options).text));
  if (!arguments || arguments->type != RG_PARAM_TEXTS) return 0;
  const RgTexts *words = rg_param_field(arguments, options).texts;
  for (int i = 0; i < words->n; i++)
    PetscCall(rg_text_add(text, strpbrk(words->values[i], " \t\n'\"") ? " '%.400s'" : " %.400s",
                          words->values[i]));
  return 0;
}

/* Append one entry's program, unless it is there. */
static PetscErrorCode add_entry(const RgParam *params, void *options, const char *what,
                                const char *label, RgText *text)
{
  RgText one = {0};

  PetscCall(add_words(params, options, &one));
  if (one.length) PetscCall(rg_text_add(&one, " (%s %.80s)", what, label));
  if (one.length && !(text->length && strstr(text->data, one.data)))
    PetscCall(rg_text_add(text, "%s%s", text->length ? ", " : "", one.data));
  PetscCall(rg_text_clear(&one));
  return 0;
}

PetscErrorCode rg_starts_describe(const RgStudy *study, bool problems, RgText *text)
{
  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    if (problems)
      PetscCall(add_entry(cell->problem->params, cell->problem_options, "problem",
                          cell->problem_label, text));
    PetscCall(add_entry(cell->algorithm->params, cell->algorithm_options, "algorithm",
                        cell->algorithm_label, text));
  }
  return 0;
}

PetscErrorCode rg_starts_announce(const RgStudy *study, const char *verb)
{
  RgText text = {0};

  PetscCall(rg_starts_describe(study, true, &text));
  if (text.length) rg_complain("%s: this study starts programs: %s", verb, text.data);
  PetscCall(rg_text_clear(&text));
  return 0;
}
