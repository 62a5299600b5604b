/* The one conversion from schema 2. */
#include "study/hdf5/group.h"

#include <string.h>

/* Whether the user's program answers what is to be minimised, which schema 2 only says in the key
   of a trial: this setting, outside of texts in quotes. */
static bool is_minimised(const char *key)
{
  static const char setting[] = ",goal=minimise,";
  bool quoted = false;

  for (const char *c = strstr(key, ";problem="); c && *c; c++) {
    if (quoted && *c == '\\' && c[1]) c++;
    else if (*c == '"') quoted = !quoted;
    else if (!quoted && !strncmp(c, setting, sizeof(setting) - 1)) return true;
  }
  return false;
}

static PetscErrorCode read_texts(const RgRows *rows, int first, int n, RgCellData *const *cells,
                                 RgFault *fault)
{
  static const char *const names[] = {"id",           "problem",        "algorithm",
                                      "problem_name", "algorithm_name", "swept",
                                      "scores",       "inputs",         "contexts"};

  for (int f = 0; f < rg_cell_field_count; f++) {
    RgFieldInfo info = rg_cell_fields[f];
    bool there = false;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
      there = there || !strcmp(info.name, names[k]);
    if (!strcmp(info.name, "id")) info.name = "cell";
    there = there && H5Lexists(rows->handle, info.name, H5P_DEFAULT) > 0;
    if (there) PetscCall(rg_field_read(rows, &info, first, n, (void *const *)cells, fault));
    for (int i = 0; i < n && !there && info.type == RG_FIELD_TEXT; i++)
      PetscCall(PetscStrallocpy("", (char **)((char *)cells[i] + info.offset)));
  }
  return 0;
}

PetscErrorCode rg_schema2_cells(const RgGroup *group, int first, int n, RgRecord *records,
                                RgFault *fault)
{
  const RgRows rows = {group->handle, -1, group->shape->extent[RG_AXIS_TRIAL]};
  RgCellData **cells;

  if (fault->code) return 0;
  PetscCall(PetscMalloc1(n, &cells));
  for (int i = 0; i < n; i++) {
    PetscCall(PetscNew(&cells[i]));
    *cells[i] = (RgCellData){.references = 1, .order = -1};
  }
  PetscCall(read_texts(&rows, first, n, cells, fault));
  PetscCall(rg_settings_read(&rows, RG_AXES_OF_SWEEP, first, n, cells, fault));
  for (int i = 0; i < n; i++) {
    RgCellData *cell = cells[i], *last = i ? records[i - 1].cell : NULL;
    const bool same = last && !strcmp(last->id, cell->id) &&
                      !strcmp(last->algorithm_label, cell->algorithm_label) &&
                      !strcmp(last->swept, cell->swept);
    records[i].cell = rg_cell_data_share(same ? last : cell);
    if (same) PetscCall(rg_cell_data_release(&cells[i]));
    else {
      const char *key = records[i].key ? records[i].key : "";
      PetscCall(PetscFree(cell->goal));
      PetscCall(PetscStrallocpy(is_minimised(key) ? "minimise" : "maximise", &cell->goal));
      PetscCall(PetscFree(cell->method));
      PetscCall(PetscStrallocpy(cell->algorithm_label, &cell->method));
      cell->initial_points = records[i].n_initial;
      PetscCall(rg_cell_data_release(&cells[i]));
    }
  }
  return PetscFree(cells);
}
