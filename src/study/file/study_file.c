/* Reading of a study file, and destruction of a study. */
#include "base/file.h"
#include "base/grow.h"
#include "study/file/draft.h"

PetscErrorCode rg_study_read_file(const char *path, char **text, size_t *length,
                                  RgDiagnostics *diagnostics)
{
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_file_read(path, RG_YAML_MAX_BYTES, text, length, &mistake));
  if (!*text)
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0}, "the study file %s", mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_load(const RgRegistry *registry, const char *path, RgStudy *study,
                             RgDiagnostics *diagnostics)
{
  char *text;
  size_t length;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(study, sizeof(*study)));
  PetscCall(rg_study_read_file(path, &text, &length, diagnostics));
  if (!text) PetscFunctionReturn(0);
  PetscCall(rg_study_parse(registry, path, text, length, study, diagnostics));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(0);
}

size_t rg_cell_problem_length(const RgCell *cell)
{
  const char *rest = cell->text ? strstr(cell->text, RG_CELL_RUN) : NULL;

  return rest ? (size_t)(rest - cell->text) : 0;
}

bool rg_cell_same_problem(const RgCell *a, const RgCell *b)
{
  const size_t n = rg_cell_problem_length(a);

  return n && n == rg_cell_problem_length(b) && !strncmp(a->text, b->text, n);
}

PetscErrorCode rg_study_destroy(RgStudy *study)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < study->n_cells; i++) PetscCall(rg_cell_destroy(&study->cells[i]));
  PetscCall(RG_FREE(&study->cells, &study->shared, &study->seeds, &study->path, &study->text,
                    &study->name, &study->title, &study->reference, &study->description));
  for (int i = 0; i < RG_CREDITS; i++) PetscCall(PetscFree(study->credit[i]));
  PetscCall(PetscMemzero(study, sizeof(*study)));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_open(const RgRegistry *registry, const char *path, RgStudy **study,
                             RgDiagnostics *diagnostics)
{
  const int before = diagnostics->n;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(study));
  PetscCall(rg_study_load(registry, path, *study, diagnostics));
  if (diagnostics->n > before) PetscCall(rg_study_close(study));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_close(RgStudy **study)
{
  PetscFunctionBeginUser;
  if (*study) PetscCall(rg_study_destroy(*study));
  PetscCall(PetscFree(*study));
  PetscFunctionReturn(0);
}

const char *rg_study_name(const RgStudy *study)
{
  return study->name;
}
