/* The table of cells: a group with one dataset for each field and, in its subgroups, for each sweep
   axis and for each setting. */
#include "study/hdf5/container.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

enum { WINDOW = 2048 };

/* ---- writing --------------------------------------------------------------------------------- */

static int slot_of(const RgCellTable *table, const char *id)
{
  uint64_t hash[2];

  rg_hash128(id, strlen(id), hash);
  return (int)(hash[0] & (uint64_t)(table->n_slots - 1));
}

static void enter(RgCellTable *table, int row)
{
  int s = slot_of(table, table->cells[row]->id);

  while (table->slots[s] >= 0) s = (s + 1) & (table->n_slots - 1);
  table->slots[s] = row;
}

static bool same_cell(const RgCellData *a, const RgCellData *b)
{
  return a == b || (!strcmp(a->id, b->id) && !strcmp(a->problem_label, b->problem_label) &&
                    !strcmp(a->algorithm_label, b->algorithm_label) && !strcmp(a->swept, b->swept));
}

int rg_cell_table_find(const RgCellTable *table, const char *id, const RgCellData *cell)
{
  for (int s = table->n ? slot_of(table, id) : 0; table->n; s = (s + 1) & (table->n_slots - 1)) {
    const int row = table->slots[s];
    if (row < 0 || (cell ? same_cell(table->cells[row], cell) : !strcmp(table->cells[row]->id, id)))
      return row;
  }
  return -1;
}

PetscErrorCode rg_cell_table_add(RgCellTable *table, RgCellData *cell, int *number)
{
  *number = rg_cell_table_find(table, cell->id, cell);
  if (*number >= 0) return 0;
  PetscCall(RG_GROW(table->n, table->cells));
  *number = table->n;
  table->cells[table->n++] = rg_cell_data_share(cell);
  if (2 * table->n <= table->n_slots) {
    enter(table, *number);
    return 0;
  }
  table->n_slots = PetscMax(16, 2 * table->n_slots); /* at most half of them are taken */
  PetscCall(PetscFree(table->slots));
  PetscCall(PetscMalloc1(table->n_slots, &table->slots));
  for (int s = 0; s < table->n_slots; s++) table->slots[s] = -1;
  for (int row = 0; row < table->n; row++) enter(table, row);
  return 0;
}

PetscErrorCode rg_cell_table_clear(RgCellTable *table)
{
  for (int i = 0; i < table->n; i++) PetscCall(rg_cell_data_release(&table->cells[i]));
  PetscCall(RG_FREE(&table->cells, &table->slots));
  table->n = table->n_slots = 0;
  return 0;
}

/* Mark the settings that are sweep axes. */
static void mark_swept(const RgSettingColumns *axes, RgSettingColumns *settings)
{
  char name[2 * RG_NAME_MAX];

  for (int a = 0; a < axes->n; a++) {
    const char *dot = strrchr(axes->list[a].name, '.');
    snprintf(name, sizeof(name), "%s.%s", axes->list[a].part ? axes->list[a].part : "",
             dot ? dot + 1 : axes->list[a].name);
    for (int s = 0; s < settings->n; s++)
      if (!strcmp(settings->list[s].name, name)) settings->list[s].swept = true;
  }
}

PetscErrorCode rg_cell_table_write(hid_t file, const RgCellTable *table, RgFault *fault)
{
  RgSettingColumns axes = {0}, settings = {0};
  const RgCellData *const *cells = (const RgCellData *const *)table->cells;
  RgRows rows = {.handle = rg_h5_create_group(file, RG_GROUP_CELLS, fault), .n = table->n};

  rows.scale = rg_field_axis(rows.handle, RG_AXIS_CELL, (hsize_t)table->n, fault);
  for (int f = 0; f < rg_cell_field_count; f++)
    PetscCall(rg_field_write(&rows, &rg_cell_fields[f], (const void *const *)cells, fault));
  for (int i = 0; i < table->n; i++) {
    PetscCall(rg_settings_add(&axes, cells[i], RG_AXES_OF_SWEEP));
    PetscCall(rg_settings_add(&settings, cells[i], RG_EVERY_SETTING));
  }
  mark_swept(&axes, &settings);
  RgRows swept = {rg_h5_create_group(rows.handle, RG_GROUP_SWEPT, fault), rows.scale, table->n};
  RgRows inner = {rg_h5_create_group(rows.handle, RG_GROUP_SETTINGS, fault), rows.scale, table->n};
  PetscCall(rg_settings_write(&swept, &axes, RG_AXES_OF_SWEEP, cells, 0, NULL, fault));
  PetscCall(rg_settings_write(&inner, &settings, RG_EVERY_SETTING, cells, 0, NULL, fault));
  RG_H5_CLOSE(inner.handle, swept.handle, rows.scale, rows.handle);
  PetscCall(rg_settings_clear(&axes));
  return rg_settings_clear(&settings);
}

uint64_t rg_cell_table_bytes(const RgCellTable *table)
{
  uint64_t text = 0;
  int most = 0;

  for (int i = 0; i < table->n; i++) {
    const RgCellData *cell = table->cells[i];
    text += cell->settings.length + strlen(cell->inputs) + strlen(cell->contexts) +
            3 * strlen(cell->swept) + strlen(cell->law) + strlen(cell->scores) + 512;
    most = PetscMax(most, (int)(cell->settings.length / 4));
  }
  /* Each text takes up to 48 bytes more, and each dataset with its attributes 2 KiB. */
  return 2 * text + (uint64_t)table->n * 48 * (uint64_t)(rg_cell_field_count + most) +
         (uint64_t)(rg_cell_field_count + 2 * most + 64) * 2048;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void open_table(RgCellReader *reader, hid_t file, RgFault *fault)
{
  reader->group = rg_h5_open_group(file, RG_GROUP_CELLS, fault);
  reader->n = rg_h5_axis_length(reader->group, rg_axes[RG_AXIS_CELL].name, fault);
  reader->swept = rg_h5_open_group(reader->group, RG_GROUP_SWEPT, fault);
  reader->settings = rg_h5_open_group(reader->group, RG_GROUP_SETTINGS, fault);
  if (reader->swept < 0 || reader->settings < 0 || !reader->n)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "it has no table of cells");
}

static PetscErrorCode drop_window(RgCellReader *reader)
{
  for (int i = 0; i < reader->n_window; i++) PetscCall(rg_cell_data_release(&reader->window[i]));
  reader->n_window = 0;
  return PetscFree(reader->window);
}

static PetscErrorCode read_window(RgCellReader *reader, int first, bool all, RgFault *fault)
{
  const int n = PetscMin(WINDOW, reader->n - first);
  const RgRows rows = {.handle = reader->group, .n = reader->n};
  const RgRows swept = {.handle = reader->swept, .n = reader->n};
  const RgRows inner = {.handle = reader->settings, .n = reader->n};

  PetscCall(drop_window(reader));
  PetscCall(PetscCalloc1(n, &reader->window));
  reader->first = first;
  reader->n_window = n;
  reader->all = all;
  for (int i = 0; i < n; i++) {
    PetscCall(PetscNew(&reader->window[i]));
    reader->window[i]->references = 1;
  }
  for (int f = 0; f < rg_cell_field_count && !fault->code; f++)
    PetscCall(
      rg_field_read(&rows, &rg_cell_fields[f], first, n, (void *const *)reader->window, fault));
  PetscCall(rg_settings_read(&swept, RG_AXES_OF_SWEEP, first, n, reader->window, fault));
  if (all) PetscCall(rg_settings_read(&inner, RG_EVERY_SETTING, first, n, reader->window, fault));
  if (fault->code) PetscCall(drop_window(reader));
  return 0;
}

PetscErrorCode rg_cell_reader_read(RgCellReader *reader, hid_t file, int number, bool all,
                                   RgCellData **cell, RgFault *fault)
{
  if (fault->code) return 0;
  if (!reader->group) open_table(reader, file, fault);
  if (!fault->code && (number < 0 || number >= reader->n))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "a trial is of cell %d, which it does not have", number);
  if (fault->code) return 0;
  if (number < reader->first || number >= reader->first + reader->n_window || (all && !reader->all))
    PetscCall(read_window(reader, number, all, fault));
  if (!fault->code) *cell = rg_cell_data_share(reader->window[number - reader->first]);
  return 0;
}

PetscErrorCode rg_cell_reader_close(RgCellReader *reader)
{
  PetscCall(drop_window(reader));
  RG_H5_CLOSE(reader->swept, reader->settings, reader->group);
  *reader = (RgCellReader){0};
  return 0;
}
