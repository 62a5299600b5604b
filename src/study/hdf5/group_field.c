/* Fields and settings: datasets with one value for each trial or cell. */
#include "study/hdf5/group.h"

#include <hdf5_hl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"
#include "regatta/algorithm.h"
#include "study/file/cell_data.h"
#include "study/file/registry.h"

/* ---- datasets -------------------------------------------------------------------------------- */

static bool is_text(RgFieldType type)
{
  return type == RG_FIELD_TEXT || type == RG_FIELD_CHARS;
}

void rg_field_attach(hid_t dataset, hid_t scale, unsigned dimension, RgFault *fault)
{
  if (fault->code || H5DSattach_scale(dataset, scale, dimension) >= 0) return;
  rg_medium_note_failure();
  rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't attach an axis");
}

hid_t rg_field_axis(hid_t handle, RgAxis axis, hsize_t extent, RgFault *fault)
{
  const RgAxisInfo *info = &rg_axes[axis];
  const hid_t dataset =
    rg_h5_create_dataset(handle, info->name, H5T_STD_I64LE, 1, &extent, RG_STORED_WHOLE, fault);
  int64_t *values = NULL;

  if (fault->code) return dataset;
  if (PetscMalloc1(extent, &values)) values = NULL;
  for (hsize_t i = 0; values && i < extent; i++) values[i] = info->first + (int64_t)i;
  if (!values || !rg_h5_write(dataset, H5T_NATIVE_INT64, values) ||
      H5DSset_scale(dataset, info->name) < 0) {
    rg_medium_note_failure();
    rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't write axis '%s'", info->name);
  }
  (void)PetscFree(values);
  rg_h5_describe(dataset, "1", info->long_name, info->description, fault);
  return dataset;
}

bool rg_field_has_shape(hid_t dataset, int rank, const hsize_t *size)
{
  const hid_t space = H5Dget_space(dataset);
  hsize_t found[3] = {0};
  bool fits = H5Sget_simple_extent_ndims(space) == rank &&
              H5Sget_simple_extent_dims(space, found, NULL) == rank;

  for (int i = 0; i < rank; i++) fits = fits && found[i] == size[i];
  RG_H5_CLOSE(space);
  return fits;
}

hid_t rg_field_open(hid_t handle, const char *name, int rank, const hsize_t *size, RgFault *fault)
{
  const hid_t dataset = rg_h5_open_dataset(handle, name, fault);

  if (dataset < 0 || !rg_field_has_shape(dataset, rank, size))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "dataset '%s' is missing or has the wrong shape", name);
  return dataset;
}

bool rg_field_fits(hid_t dataset, RgFieldType type)
{
  const hid_t stored = H5Dget_type(dataset);
  const H5T_class_t class = H5Tget_class(stored);
  const bool fits = is_text(type) ? class == H5T_STRING && H5Tis_variable_str(stored) > 0
                                  : class == (type == RG_FIELD_REAL ? H5T_FLOAT : H5T_INTEGER);

  RG_H5_CLOSE(stored);
  return fits;
}

bool rg_field_range(hid_t dataset, hid_t type, int first, int n, void *values)
{
  hsize_t size[3], start[3] = {(hsize_t)first, 0, 0};
  const hid_t file = H5Dget_space(dataset), transfer = rg_h5_transfer();
  const int rank = H5Sget_simple_extent_dims(file, size, NULL);

  size[0] = (hsize_t)n;
  const hid_t memory = H5Screate_simple(rank, size, NULL);
  const bool ok = transfer >= 0 &&
                  H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                  H5Dread(dataset, type, memory, file, transfer, values) >= 0;
  RG_H5_CLOSE(transfer, memory, file);
  return ok;
}

static hid_t type_of(RgFieldType type, bool stored)
{
  switch (type) {
  case RG_FIELD_INT: return H5Tcopy(stored ? H5T_STD_I32LE : H5T_NATIVE_INT);
  case RG_FIELD_COUNT: return H5Tcopy(stored ? H5T_STD_U64LE : H5T_NATIVE_UINT64);
  case RG_FIELD_REAL: return H5Tcopy(stored ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE);
  case RG_FIELD_STATUS:
  case RG_FIELD_LOGICAL: return H5Tcopy(stored ? H5T_STD_U8LE : H5T_NATIVE_INT);
  case RG_FIELD_TEXT:
  case RG_FIELD_CHARS: break;
  }
  return rg_h5_text_type();
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Whether all values of a buffer are equal. */
static bool are_equal(int n, const RgFieldInfo *info, size_t size, const void *values)
{
  for (int i = 1; i < n; i++)
    if (is_text(info->type) ? strcmp(((char *const *)values)[i], ((char *const *)values)[0]) != 0
                            : memcmp((const char *)values + (size_t)i * size, values, size) != 0)
      return false;
  return true;
}

/* Create, describe and write a dataset; returns it for further attributes, negative after a
   fault. A value that all rows have is stored once. */
static hid_t write_rows(const RgRows *rows, const RgFieldInfo *info, const void *values,
                        RgFault *fault)
{
  static const unsigned char flags[] = {RG_STATUS_MISSING, RG_STATUS_COMPLETE, RG_STATUS_FAILED};
  const hsize_t n = (hsize_t)rows->n;
  const hid_t stored = type_of(info->type, true), memory = type_of(info->type, false);
  const bool logical = info->type == RG_FIELD_LOGICAL, status = info->type == RG_FIELD_STATUS;
  const bool constant = rows->n > 1 && are_equal(rows->n, info, H5Tget_size(memory), values);
  const hid_t dataset =
    constant
      ? rg_h5_create_constant(rows->handle, info->name, stored, n, memory, values, fault)
      : rg_h5_create_dataset(rows->handle, info->name, stored, 1, &n, RG_STORED_WHOLE, fault);

  rg_field_attach(dataset, rows->scale, 0, fault);
  if (info->description)
    rg_h5_describe(dataset, info->units, info->long_name, info->description, fault);
  if (logical || status) {
    rg_h5_write_attribute(dataset, "flag_values", H5T_STD_U8LE, H5T_NATIVE_UCHAR, logical ? 2 : 3,
                          flags, fault);
    rg_h5_write_text(dataset, "flag_meanings", logical ? "false true" : "missing complete failed",
                     fault);
  }
  if (!fault->code && !constant && !rg_h5_write(dataset, memory, values))
    rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't write '%s'", info->name);
  RG_H5_CLOSE(memory, stored);
  return dataset;
}

PetscErrorCode rg_field_write(const RgRows *rows, const RgFieldInfo *info,
                              const void *const *structs, RgFault *fault)
{
  uint64_t *values; /* 8 bytes per entry, enough for any field */

  if (fault->code) return 0;
  PetscCall(PetscMalloc1(rows->n, &values));
  for (int i = 0; i < rows->n; i++) {
    const char *at = (const char *)structs[i] + info->offset;
    const char *text = info->type == RG_FIELD_TEXT ? *(char *const *)at : at;
    if (is_text(info->type)) ((const char **)values)[i] = text ? text : "";
    else memcpy((char *)values + (size_t)i * info->size, at, info->size);
  }
  RG_H5_CLOSE(write_rows(rows, info, values, fault));
  return PetscFree(values);
}

/* Read a field of rows [first, first + n) into `values`: 8 bytes each for char * (freed with
   H5free_memory), double, uint64_t; 4 for int. */
static PetscErrorCode read_values(const RgRows *rows, const RgFieldInfo *info, int first, int n,
                                  void *values, RgFault *fault)
{
  hsize_t size = (hsize_t)rows->n;

  PetscCall(PetscMemzero(values, (size_t)n * sizeof(uint64_t)));
  const hid_t dataset = rg_field_open(rows->handle, info->name, 1, &size, fault);
  if (!fault->code && !rg_field_fits(dataset, info->type))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "dataset '%s' has the wrong type", info->name);
  if (!fault->code) {
    const hid_t type = type_of(info->type, false);
    if (!rg_field_range(dataset, type, first, n, values))
      rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't read '%s'", info->name);
    RG_H5_CLOSE(type);
  }
  RG_H5_CLOSE(dataset);
  return 0;
}

PetscErrorCode rg_field_read(const RgRows *rows, const RgFieldInfo *info, int first, int n,
                             void *const *structs, RgFault *fault)
{
  uint64_t *values;

  PetscCall(PetscMalloc1(n, &values));
  PetscCall(read_values(rows, info, first, n, values, fault));
  for (int i = 0; i < n; i++) {
    char *at = (char *)structs[i] + info->offset, *text = ((char **)values)[i];
    if (info->type == RG_FIELD_CHARS) {
      PetscCall(PetscStrncpy(at, text ? text : "", info->size));
    } else if (info->type == RG_FIELD_TEXT) {
      PetscCall(PetscFree(*(char **)at));
      PetscCall(PetscStrallocpy(text ? text : "", (char **)at));
    } else {
      memcpy(at, (char *)values + (size_t)i * info->size, info->size);
    }
    if (is_text(info->type)) H5free_memory(text);
  }
  return PetscFree(values);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* How values of a kind are stored, and what stands for a missing whole number. */
static const struct {
  RgFieldType type;
  int missing;
} kinds[] = {[RG_SWEPT_NUMBER] = {RG_FIELD_REAL, 0},
             [RG_SWEPT_INTEGER] = {RG_FIELD_INT, RG_NO_INTEGER},
             [RG_SWEPT_LOGICAL] = {RG_FIELD_LOGICAL, RG_NO_LOGICAL},
             [RG_SWEPT_WORD] = {RG_FIELD_TEXT, 0}};

/* A walk through the values of a cell. */
typedef struct {
  const RgCellData *cell;
  RgSettingSet set;
  int axis;
  const char *at;
  RgSwept now; /* borrowed texts */
} Walk;

static bool walk_next(Walk *walk)
{
  const RgCellData *cell = walk->cell;

  if (walk->set == RG_AXES_OF_SWEEP) {
    if (walk->axis >= cell->n_swept) return false;
    walk->now = cell->axes[walk->axis++];
    return true;
  }
  if (!walk->at) walk->at = cell->settings.data;
  if (!walk->at || !*walk->at) return false;
  char *name = (char *)(uintptr_t)walk->at + 1, *text = name + strlen(name) + 1;
  walk->now = (RgSwept){.name = name, .text = text, .kind = (RgSweptKind)(*walk->at - '0')};
  walk->at = text + strlen(text) + 1;
  return true;
}

/* Place of a name in the columns, or where it would be. */
static int place_of(const RgSettingColumns *columns, const char *name, bool *found)
{
  int low = 0, high = columns->n;

  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (strcmp(columns->list[middle].name, name) < 0) low = middle + 1;
    else high = middle;
  }
  *found = low < columns->n && !strcmp(columns->list[low].name, name);
  return low;
}

/* Keep the first text about a setting that is not empty. */
static PetscErrorCode keep_text(const char *text, char **kept)
{
  if (!text || (*kept && (**kept || !*text))) return 0;
  PetscCall(PetscFree(*kept));
  return PetscStrallocpy(text, kept);
}

PetscErrorCode rg_settings_add(RgSettingColumns *columns, const RgCellData *cell, RgSettingSet set)
{
  Walk walk = {.cell = cell, .set = set};

  while (walk_next(&walk)) {
    bool found;
    const int at = place_of(columns, walk.now.name, &found);
    if (!found) {
      PetscCall(RG_GROW(columns->n, columns->list));
      memmove(columns->list + at + 1, columns->list + at,
              (size_t)(columns->n++ - at) * sizeof(*columns->list));
      columns->list[at] = (RgSettingColumn){.kind = walk.now.kind};
      PetscCall(PetscStrncpy(columns->list[at].name, walk.now.name, RG_NAME_MAX));
    }
    RgSettingColumn *own = &columns->list[at];
    own->kind = rg_swept_join(own->kind, walk.now.kind);
    PetscCall(keep_text(walk.now.part, &own->part));
    PetscCall(keep_text(walk.now.units, &own->units));
    PetscCall(keep_text(walk.now.doc, &own->doc));
  }
  return 0;
}

PetscErrorCode rg_settings_clear(RgSettingColumns *columns)
{
  for (int i = 0; i < columns->n; i++)
    PetscCall(RG_FREE(&columns->list[i].part, &columns->list[i].units, &columns->list[i].doc));
  columns->n = 0;
  return PetscFree(columns->list);
}

void rg_settings_dataset(const RgSettingColumn *column, int n_extra, const RgGroupExtra *extra,
                         char name[2 * RG_NAME_MAX])
{
  int n;
  const RgAlgorithmClass *const *classes = rg_algorithm_classes(&n);
  bool known = rg_field_is_reserved(column->name), taken = false;

  for (int i = 0; i < n; i++) /* a method of this program records a column of that name */
    for (const RgRecordColumn *c = classes[i]->columns; c && c->name; c++)
      known = known || !strcmp(c->name, column->name);
  for (int e = 0; e < n_extra; e++) taken = taken || !strcmp(extra[e].name, column->name);
  const char *part = known && column->part && column->part[0] ? column->part : "setting";
  snprintf(name, 2 * RG_NAME_MAX, "%s%s%s", known || taken ? part : "", known || taken ? "." : "",
           column->name);
}

/* Put a value into entry i of a buffer; text NULL: no value. */
static void put_value(RgSweptKind kind, const char *text, int i, void *buffer)
{
  double value;

  if (kind == RG_SWEPT_WORD) ((const char **)buffer)[i] = text ? text : "";
  else if (kind == RG_SWEPT_NUMBER)
    ((double *)buffer)[i] = text && rg_number_only(text, &value) ? value : NAN;
  else if (!text) ((int *)buffer)[i] = kinds[kind].missing;
  else ((int *)buffer)[i] = kind == RG_SWEPT_LOGICAL ? !strcmp(text, "true") : atoi(text);
}

/* Append a value of a buffer as text; nothing if it is missing. */
static PetscErrorCode show_value(RgSweptKind kind, const void *buffer, int i, RgText *text)
{
  if (kind == RG_SWEPT_WORD) {
    const char *word = ((char *const *)buffer)[i];
    return word ? rg_text_add_bytes(text, word, strlen(word)) : 0;
  }
  if (kind == RG_SWEPT_NUMBER) {
    const double value = ((const double *)buffer)[i];
    return isnan(value) ? 0 : rg_text_add_real(text, value);
  }
  const int whole = ((const int *)buffer)[i];
  if (whole == kinds[kind].missing) return 0;
  if (kind == RG_SWEPT_LOGICAL) return rg_text_add(text, "%s", whole ? "true" : "false");
  return rg_text_add(text, "%d", whole);
}

static void write_column(const RgRows *rows, const RgSettingColumn *column, RgSettingSet set,
                         const char *name, const void *values, RgFault *fault)
{
  const bool axis = set == RG_AXES_OF_SWEEP;
  const RgFieldInfo info = {.name = name,
                            .type = kinds[column->kind].type,
                            .units = column->units ? column->units : "1",
                            .long_name = column->name,
                            .description = !axis         ? NULL
                                           : column->doc ? column->doc
                                                         : "swept setting"};
  const hid_t dataset = write_rows(rows, &info, values, fault);

  if (axis) rg_h5_write_text(dataset, RG_SETTING_ATTRIBUTE, column->name, fault);
  if (axis) rg_h5_write_text(dataset, "part", column->part ? column->part : "", fault);
  else if (column->swept) rg_h5_write_integer(dataset, "swept", 1, fault);
  if (column->kind == RG_SWEPT_INTEGER || column->kind == RG_SWEPT_LOGICAL) {
    const hid_t type = type_of(info.type, true); /* tells netCDF readers which value is missing */
    rg_h5_write_attribute(dataset, "_FillValue", type, H5T_NATIVE_INT, 0,
                          &kinds[column->kind].missing, fault);
    RG_H5_CLOSE(type);
  }
  RG_H5_CLOSE(dataset);
}

PetscErrorCode rg_settings_write(const RgRows *rows, const RgSettingColumns *columns,
                                 RgSettingSet set, const RgCellData *const *cells, int n_extra,
                                 const RgGroupExtra *extra, RgFault *fault)
{
  uint64_t *values; /* columns x rows */
  const size_t n = (size_t)rows->n;

  PetscCall(PetscMalloc1((size_t)columns->n * n, &values));
  for (int c = 0; c < columns->n; c++)
    for (int i = 0; i < rows->n; i++) put_value(columns->list[c].kind, NULL, i, values + c * n);
  for (int i = 0; i < rows->n; i++) {
    Walk walk = {.cell = cells[i], .set = set};
    bool found;
    while (walk_next(&walk)) {
      const int c = place_of(columns, walk.now.name, &found);
      if (found) put_value(columns->list[c].kind, walk.now.text, i, values + (size_t)c * n);
    }
  }
  for (int c = 0; c < columns->n && !fault->code; c++) {
    char name[2 * RG_NAME_MAX];
    if (set == RG_AXES_OF_SWEEP) rg_settings_dataset(&columns->list[c], n_extra, extra, name);
    else snprintf(name, sizeof(name), "%s", columns->list[c].name);
    write_column(rows, &columns->list[c], set, name, values + (size_t)c * n, fault);
  }
  return PetscFree(values);
}

/* Read one dataset whose texts (name, part, units, doc) and kind are in `about`. */
static PetscErrorCode read_column(const RgRows *rows, RgSettingSet set, int first, int n,
                                  const RgSwept *about, RgCellData *const *cells, RgFault *fault)
{
  const RgFieldInfo info = {.name = about->text, .type = kinds[about->kind].type};
  uint64_t *values;
  RgText text = {0}; /* of one row after the other */

  PetscCall(PetscMalloc1(n, &values));
  PetscCall(read_values(rows, &info, first, n, values, fault));
  for (int i = 0; i < n; i++) {
    RgCellData *cell = cells[i];
    text.length = 0;
    if (!fault->code && cell) PetscCall(show_value(about->kind, values, i, &text));
    if (about->kind == RG_SWEPT_WORD) H5free_memory(((char **)values)[i]);
    if (!text.length) continue;
    if (set == RG_AXES_OF_SWEEP) {
      PetscCall(rg_swept_add(about->name, text.data, about->kind, about->part, about->units,
                             about->doc, &cell->n_swept, &cell->axes));
      continue;
    }
    PetscCall(rg_text_add(&cell->settings, "%c%s", '0' + (int)about->kind, about->text));
    PetscCall(rg_text_add_bytes(&cell->settings, "", 1)); /* the form of RgCellData */
    PetscCall(rg_text_add_bytes(&cell->settings, text.data, text.length + 1));
  }
  PetscCall(rg_text_clear(&text));
  return PetscFree(values);
}

/* Read a dataset of settings; other datasets are ignored. */
static PetscErrorCode read_dataset(const RgRows *rows, RgSettingSet set, int first, int n,
                                   char *name, RgCellData *const *cells, RgFault *fault)
{
  const hid_t dataset = rg_h5_open_dataset(rows->handle, name, fault);
  RgSwept about = {.kind = RG_SWEPT_WORD, .text = name};
  bool found = dataset >= 0 && rg_field_has_shape(dataset, 1, &(hsize_t){(hsize_t)rows->n});

  if (found && set == RG_AXES_OF_SWEEP) {
    PetscCall(rg_h5_read_text(dataset, RG_SETTING_ATTRIBUTE, &about.name, &found));
    PetscCall(rg_h5_read_text(dataset, "part", &about.part, NULL));
    PetscCall(rg_h5_read_text(dataset, "units", &about.units, NULL));
    PetscCall(rg_h5_read_text(dataset, "description", &about.doc, NULL));
  }
  if (found) {
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_FLOAT) about.kind = RG_SWEPT_NUMBER;
    if (class == H5T_INTEGER)
      about.kind = H5Tget_size(type) == 1 ? RG_SWEPT_LOGICAL : RG_SWEPT_INTEGER;
    RG_H5_CLOSE(type);
    PetscCall(read_column(rows, set, first, n, &about, cells, fault));
  }
  RG_H5_CLOSE(dataset);
  return RG_FREE(&about.name, &about.part, &about.units, &about.doc);
}

PetscErrorCode rg_settings_read(const RgRows *rows, RgSettingSet set, int first, int n,
                                RgCellData *const *cells, RgFault *fault)
{
  char **names;
  int n_names;

  PetscCall(rg_h5_list(rows->handle, H5O_TYPE_DATASET, &n_names, &names, fault));
  for (int k = 0; k < n_names && !fault->code; k++)
    if (strlen(names[k]) < 2 * RG_NAME_MAX)
      PetscCall(read_dataset(rows, set, first, n, names[k], cells, fault));
  return rg_names_free(n_names, &names);
}
