/* Reading of a group that may be damaged. */
#include "study/hdf5/group.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "study/file/swept.h"

/* Size of a read-ahead window. */
enum { WINDOW_BYTES = 1 << 20 };

/* ---- open ------------------------------------------------------------------------------------ */

/* Open a dataset of exactly these extents, or fail: data must fit into the buffers. */
static hid_t open_sized(hid_t handle, const char *name, int rank, const hsize_t *size,
                        RgFault *fault)
{
  hsize_t found[3] = {0};
  hid_t dataset = rg_h5_open_dataset(handle, name, fault), space;
  bool fits = false;

  if (dataset >= 0) {
    space = H5Dget_space(dataset);
    fits = H5Sget_simple_extent_ndims(space) == rank &&
           H5Sget_simple_extent_dims(space, found, NULL) == rank;
    for (int i = 0; i < rank; i++) fits = fits && found[i] == size[i];
    H5Sclose(space);
  }
  if (!fits)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "dataset '%s' is missing or has the wrong shape", name);
  return dataset;
}

static bool type_fits(hid_t dataset, RgFieldType type)
{
  hid_t stored = H5Dget_type(dataset);
  H5T_class_t class = H5Tget_class(stored);
  bool fits;

  if (type == RG_FIELD_TEXT || type == RG_FIELD_CHARS)
    fits = class == H5T_STRING && H5Tis_variable_str(stored) > 0;
  else fits = class == (type == RG_FIELD_REAL ? H5T_FLOAT : H5T_INTEGER);
  H5Tclose(stored);
  return fits;
}

static int axis_length(hid_t handle, RgAxis axis, RgFault *fault)
{
  hid_t dataset = rg_h5_open_dataset(handle, rg_axes[axis].name, fault);
  long length = dataset < 0 ? 0 : rg_h5_length(dataset);

  if (dataset >= 0) H5Dclose(dataset);
  return length < 0 || length > INT32_MAX ? 0 : (int)length;
}

static PetscErrorCode read_shape(RgGroup *group, RgFault *fault)
{
  RgGroupShape *shape = group->shape;
  bool found;

  PetscCall(PetscFree(shape->label));
  PetscCall(rg_h5_read_text(group->handle, "problem_label", &shape->label, &found));
  shape->n = axis_length(group->handle, RG_AXIS_TRIAL, fault);
  shape->n_rows = axis_length(group->handle, RG_AXIS_ITERATION, fault);
  shape->dim_x = axis_length(group->handle, RG_AXIS_X, fault);
  shape->dim_c = axis_length(group->handle, RG_AXIS_C, fault);
  shape->dim_z = axis_length(group->handle, RG_AXIS_Z, fault);
  shape->n_scores = axis_length(group->handle, RG_AXIS_S, fault);
  shape->n_terms = axis_length(group->handle, RG_AXIS_T, fault);
  shape->named[RG_PART_X] = H5Lexists(group->handle, "inputs", H5P_DEFAULT) > 0;
  shape->named[RG_PART_C] = H5Lexists(group->handle, "contexts", H5P_DEFAULT) > 0;
  shape->crew = H5Lexists(group->handle, "makespan", H5P_DEFAULT) > 0;
  if (!found || shape->n < 1 || shape->n_rows < 1)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "a group without a problem label or axes");
  return 0;
}

/* Columns of an earlier version of the schema may be absent; those that exist must fit. */
static void open_columns(RgGroup *group, RgFault *fault)
{
  RgAxis axis[3];
  hsize_t size[3];

  for (int c = 0; c < RG_COLUMN_COUNT && !fault->code; c++) {
    hid_t handle = rg_columns[c].result ? group->handle : group->timing;
    int n = rg_group_column_axes(group->shape, c, axis, size);
    if (!n || handle < 0 || H5Lexists(handle, rg_columns[c].name, H5P_DEFAULT) <= 0) continue;
    group->column[c] = open_sized(handle, rg_columns[c].name, n, size, fault);
    group->shape->used[c] = !fault->code && rg_h5_has_data(group->column[c]);
  }
}

static bool is_standard(const char *name)
{
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (!strcmp(name, rg_columns[c].name)) return true;
  return rg_field_is_reserved(name);
}

typedef struct {
  RgGroupShape *shape;
  RgFault *fault;
  PetscErrorCode error;
} ExtraSearch;

/* The kind of the values in a dataset. */
static RgSweptKind stored_kind(hid_t dataset)
{
  hid_t type = H5Dget_type(dataset);
  const H5T_class_t class = H5Tget_class(type);
  const size_t size = H5Tget_size(type);

  H5Tclose(type);
  if (class == H5T_FLOAT) return RG_SWEPT_NUMBER;
  if (class == H5T_INTEGER) return size == 1 ? RG_SWEPT_LOGICAL : RG_SWEPT_INTEGER;
  return RG_SWEPT_WORD;
}

/* Add a dataset to the shape if it is the variable of a swept setting. */
static PetscErrorCode find_setting(RgGroupShape *shape, hid_t handle, const char *name, bool *found,
                                   RgFault *fault)
{
  RgSwept setting = {0};
  RgRecord one = {.n_swept = 1, .settings = &setting};
  hid_t dataset = rg_h5_open_dataset(handle, name, fault);

  *found = dataset >= 0 && rg_h5_length(dataset) == shape->n;
  if (*found) PetscCall(rg_h5_read_text(dataset, RG_SETTING_ATTRIBUTE, &setting.name, found));
  if (*found) {
    setting.kind = stored_kind(dataset);
    *found = setting.kind != RG_SWEPT_WORD || type_fits(dataset, RG_FIELD_TEXT);
  }
  if (*found) {
    PetscCall(rg_h5_read_text(dataset, "part", &setting.part, NULL));
    PetscCall(rg_h5_read_text(dataset, "units", &setting.units, NULL));
    PetscCall(rg_h5_read_text(dataset, "description", &setting.doc, NULL));
    PetscCall(rg_group_shape_add_settings(shape, &one));
  }
  PetscCall(RG_FREE(&setting.name, &setting.part, &setting.units, &setting.doc));
  if (dataset >= 0) H5Dclose(dataset);
  return 0;
}

/* Examine a dataset that is not standard: it may be a swept setting or a column of an algorithm. */
static herr_t find_extra(hid_t handle, const char *name, const H5L_info_t *link, void *closure)
{
  ExtraSearch *search = closure;
  RgGroupShape *shape = search->shape;
  H5O_info_t object;
  bool setting = false;

  if (link->type != H5L_TYPE_HARD)
    rg_fault_set(search->fault, RG_FAULT_DAMAGED, "'%.100s' is a link to another place", name);
  if (search->fault->code) return -1;
  if (is_standard(name) || strlen(name) >= 2 * RG_NAME_MAX) return 0;
  if (H5Oget_info_by_name(handle, name, &object, H5P_DEFAULT) < 0) return -1;
  if (object.type != H5O_TYPE_DATASET) return 0;
  search->error = find_setting(shape, handle, name, &setting, search->fault);
  if (search->error || search->fault->code) return -1;
  if (setting || strlen(name) >= RG_NAME_MAX) return 0;
  search->error = RG_GROW(shape->n_extra, shape->extra);
  if (search->error) return -1;
  memset(&shape->extra[shape->n_extra], 0, sizeof(*shape->extra));
  strcpy(shape->extra[shape->n_extra++].name, name);
  return 0;
}

/* Users may add datasets to a results file: a dataset that does not look like a column is
   ignored. */
static PetscErrorCode open_one_extra(RgGroup *group, RgGroupExtra *extra, hid_t *dataset,
                                     bool *fits)
{
  RgFault none = {0};
  RgAxis axis[3];
  hsize_t size[3];
  char *doc;

  (void)rg_group_column_axes(group->shape, RG_COLUMN_COUNT, axis, size);
  *dataset = open_sized(group->handle, extra->name, 2, size, &none);
  *fits = !none.code && type_fits(*dataset, RG_FIELD_REAL);
  if (!*fits) {
    if (*dataset >= 0) H5Dclose(*dataset);
    *dataset = -1;
    return 0;
  }
  PetscCall(rg_h5_read_text(*dataset, "description", &doc, NULL));
  PetscCall(PetscStrncpy(extra->doc, doc, RG_DOC_MAX));
  PetscCall(PetscFree(doc));
  return 0;
}

static PetscErrorCode open_extra(RgGroup *group, RgFault *fault)
{
  RgGroupShape *shape = group->shape;
  ExtraSearch search = {shape, fault, 0};
  bool fits;
  int n = 0;

  if (fault->code) return 0;
  if (H5Literate(group->handle, H5_INDEX_NAME, H5_ITER_INC, NULL, find_extra, &search) < 0)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't list a group");
  PetscCall(search.error);
  PetscCall(PetscMalloc1(shape->n_extra, &group->extra));
  for (int i = 0; i < shape->n_extra; i++) {
    PetscCall(open_one_extra(group, &shape->extra[i], &group->extra[n], &fits));
    if (fits) shape->extra[n++] = shape->extra[i];
  }
  shape->n_extra = n;
  return 0;
}

static PetscErrorCode prepare_windows(RgGroup *group)
{
  const RgGroupShape *shape = group->shape;
  const uint64_t trial = (uint64_t)shape->n_rows * rg_group_doubles(shape) * sizeof(double);

  group->n_ahead = (int)PetscMin((uint64_t)shape->n, PetscMax(1, WINDOW_BYTES / (trial + 1)));
  PetscCall(PetscCalloc1(RG_COLUMN_COUNT + shape->n_extra, &group->ahead));
  return 0;
}

static bool has_provenance(const RgGroup *group, const char *name)
{
  return group->provenance >= 0 && H5Lexists(group->provenance, name, H5P_DEFAULT) > 0;
}

PetscErrorCode rg_group_open(hid_t parent, const char *name, bool earlier, RgGroup *group,
                             RgFault *fault)
{
  RgGroupShape *shape;
  hid_t handle;

  *group = rg_group_none();
  PetscCall(PetscMalloc1(1, &group->shape));
  group->reading = true;
  shape = group->shape;
  PetscCall(rg_group_shape_create("", earlier, shape));
  handle = group->handle = rg_h5_open_group(parent, name, fault);
  if (handle < 0) {
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't open group '%s'", name);
    return 0;
  }
  PetscCall(read_shape(group, fault));
  if (fault->code) return 0;
  group->timing = rg_h5_open_group(handle, RG_GROUP_TIMING, fault);
  group->provenance = rg_h5_open_group(handle, RG_GROUP_PROVENANCE, fault);
  shape->repeated = has_provenance(group, "generation");
  shape->failing = has_provenance(group, "failures");
  shape->telling = has_provenance(group, "failure_texts");
  shape->real = has_provenance(group, "timeline");
  open_columns(group, fault);
  PetscCall(open_extra(group, fault));
  PetscCall(prepare_windows(group));
  return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Read entries [first, first + n) along the first dimension of a dataset; the caller frees texts
   with H5free_memory. */
static bool read_range(hid_t dataset, hid_t type, int first, int n, void *values)
{
  hsize_t size[3], start[3] = {(hsize_t)first, 0, 0};
  hid_t file = H5Dget_space(dataset), memory, transfer = rg_h5_transfer();
  const int rank = H5Sget_simple_extent_dims(file, size, NULL);
  bool ok;

  size[0] = (hsize_t)n;
  memory = H5Screate_simple(rank, size, NULL);
  ok = transfer >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
       H5Dread(dataset, type, memory, file, transfer, values) >= 0;
  if (transfer >= 0) H5Pclose(transfer);
  H5Sclose(memory);
  H5Sclose(file);
  return ok;
}

/* Read a field into `values` (8 bytes each: char *, double, uint64_t; 4 for int). */
static PetscErrorCode read_field(RgGroup *group, const RgFieldInfo *info, int first, int n,
                                 void *values, RgFault *fault)
{
  hsize_t size = (hsize_t)group->shape->n;
  hid_t dataset, type;

  PetscCall(PetscMemzero(values, (size_t)n * sizeof(uint64_t)));
  dataset =
    open_sized(info->provenance ? group->provenance : group->handle, info->name, 1, &size, fault);
  if (!fault->code && !type_fits(dataset, info->type))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "dataset '%s' has the wrong type", info->name);
  if (!fault->code) {
    type = rg_field_memory_type(info->type);
    if (!read_range(dataset, type, first, n, values))
      rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't read '%s'", info->name);
    H5Tclose(type);
  }
  if (dataset >= 0) H5Dclose(dataset);
  return 0;
}

static bool is_text(const RgFieldInfo *info)
{
  return info->type == RG_FIELD_TEXT || info->type == RG_FIELD_CHARS;
}

static PetscErrorCode store_text(const RgFieldInfo *info, const char *text, RgRecord *record)
{
  char *at = (char *)record + info->offset;

  if (!text) text = "";
  if (info->type == RG_FIELD_CHARS) {
    PetscCall(PetscStrncpy(at, text, info->size));
  } else {
    PetscCall(PetscFree(*(char **)at));
    PetscCall(PetscStrallocpy(text, (char **)at));
  }
  return 0;
}

static bool fields_plausible(const RgGroupShape *shape, const RgRecord *record)
{
  return record->n_rows >= 0 && record->n_rows <= shape->n_rows && record->dim_x >= 0 &&
         record->dim_x <= shape->dim_x && record->dim_c >= 0 && record->dim_c <= shape->dim_c &&
         record->dim_z >= 0 && record->dim_z <= shape->dim_z && record->n_scores >= 0 &&
         record->n_scores <= shape->n_scores && record->n_terms >= 0 &&
         record->n_terms <= shape->n_terms && strlen(record->id) == RG_ID_LENGTH;
}

/* One value of a setting as text; empty if the trial has no value. */
static PetscErrorCode show_setting(RgSweptKind kind, const void *values, int i, RgText *text)
{
  switch (kind) {
  case RG_SWEPT_NUMBER: {
    const double value = ((const double *)values)[i];
    if (!isnan(value)) PetscCall(rg_text_add_real(text, value));
    break;
  }
  case RG_SWEPT_INTEGER: {
    const int value = ((const int *)values)[i];
    if (value != RG_NO_INTEGER) PetscCall(rg_text_add(text, "%d", value));
    break;
  }
  case RG_SWEPT_LOGICAL: {
    const int value = ((const int *)values)[i];
    if (value != RG_NO_LOGICAL) PetscCall(rg_text_add(text, "%s", value ? "true" : "false"));
    break;
  }
  case RG_SWEPT_WORD:
    if (((char *const *)values)[i]) PetscCall(rg_text_add(text, "%s", ((char *const *)values)[i]));
  }
  return 0;
}

/* Read setting s of the shape into the records; `values` has 8 bytes for each. */
static PetscErrorCode read_setting(RgGroup *group, int s, int first, int n, RgRecord *records,
                                   void *values, RgFault *fault)
{
  static const RgFieldType types[] = {[RG_SWEPT_NUMBER] = RG_FIELD_REAL,
                                      [RG_SWEPT_INTEGER] = RG_FIELD_INT,
                                      [RG_SWEPT_LOGICAL] = RG_FIELD_INT,
                                      [RG_SWEPT_WORD] = RG_FIELD_TEXT};
  const RgGroupSetting *setting = &group->shape->settings[s];
  char name[2 * RG_NAME_MAX];
  RgFieldInfo info = {.name = name, .type = types[setting->kind]};

  rg_group_setting_dataset(group->shape, s, name);
  PetscCall(read_field(group, &info, first, n, values, fault));
  for (int i = 0; i < n; i++) {
    RgText text = {0};
    if (!fault->code) PetscCall(show_setting(setting->kind, values, i, &text));
    if (setting->kind == RG_SWEPT_WORD) H5free_memory(((char **)values)[i]);
    if (text.length)
      PetscCall(rg_swept_add(setting->name, text.data, setting->kind, setting->part, setting->units,
                             setting->doc, &records[i].n_swept, &records[i].settings));
    PetscCall(rg_text_clear(&text));
  }
  return 0;
}

/* Read the settings of a block of trials; files of schema 1 store them as text. */
static PetscErrorCode read_settings(RgGroup *group, int first, int n, RgRecord *records,
                                    void *values, RgFault *fault)
{
  for (int s = 0; s < group->shape->n_settings && !fault->code; s++)
    PetscCall(read_setting(group, s, first, n, records, values, fault));
  for (int i = 0; i < n; i++)
    if (!records[i].n_swept && records[i].swept)
      PetscCall(rg_swept_parse(records[i].swept, &records[i].n_swept, &records[i].settings));
  return 0;
}

/* Whether a field belongs to the head: trial, cell, status, times and program versions. */
static bool is_head(const RgFieldInfo *info)
{
  static const size_t heads[] = {
    offsetof(RgRecord, id),
    offsetof(RgRecord, cell),
    offsetof(RgRecord, status),
    offsetof(RgRecord, provenance.generation),
    offsetof(RgRecord, provenance.started),
    offsetof(RgRecord, provenance.wall),
    offsetof(RgRecord, provenance.cpu),
    offsetof(RgRecord, provenance.fingerprint),
    offsetof(RgRecord, provenance.software),
  };

  for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
    if (heads[i] == info->offset) return true;
  return false;
}

PetscErrorCode rg_group_read_fields(RgGroup *group, int first, int n, bool heads, RgRecord *records,
                                    RgFault *fault)
{
  uint64_t *values;

  PetscCall(PetscMalloc1(n, &values));
  for (int i = 0; i < n; i++) { /* what a group without workers and clock leaves out */
    records[i].workers = 1;
    records[i].makespan = records[i].idle_share = NAN;
  }
  for (int f = 0; f < rg_field_count && !fault->code; f++) {
    const RgFieldInfo *info = &rg_fields[f];
    if ((heads && !is_head(info)) || !rg_group_has_field(group->shape, info)) continue;
    PetscCall(read_field(group, info, first, n, values, fault));
    for (int i = 0; i < n; i++) {
      if (is_text(info)) {
        char *text = ((char **)values)[i];
        PetscCall(store_text(info, text, &records[i]));
        H5free_memory(text);
      } else {
        memcpy((char *)&records[i] + info->offset, (char *)values + (size_t)i * info->size,
               info->size);
      }
    }
  }
  if (!fault->code && !heads) PetscCall(read_settings(group, first, n, records, values, fault));
  PetscCall(PetscFree(values));
  for (int i = 0; i < n && !fault->code; i++) {
    records[i].earlier = group->shape->earlier;
    if (!fields_plausible(group->shape, &records[i]))
      rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %d has impossible dimensions", first + i);
  }
  return 0;
}

static PetscErrorCode read_hex(RgGroup *group, const char *name, char (*hex)[RG_ID_LENGTH + 1],
                               char **values, RgFault *fault)
{
  if (fault->code) return 0;
  PetscCall(read_field(group, &rg_fields[rg_field_find(name)], 0, group->shape->n, values, fault));
  for (int i = 0; i < group->shape->n; i++) {
    PetscCall(PetscStrncpy(hex[i], values[i] ? values[i] : "", RG_ID_LENGTH + 1));
    H5free_memory(values[i]);
  }
  return 0;
}

/* Read integers of all trials; zeros if groups of this shape lack the field. buffer: 8 bytes per
   trial. */
static PetscErrorCode read_integers(RgGroup *group, const char *name, void *buffer, int *integers,
                                    RgFault *fault)
{
  const RgFieldInfo *info = &rg_fields[rg_field_find(name)];

  PetscCall(PetscArrayzero(integers, group->shape->n));
  if (fault->code || !rg_group_has_field(group->shape, info)) return 0;
  PetscCall(read_field(group, info, 0, group->shape->n, buffer, fault));
  PetscCall(PetscArraycpy(integers, (const int *)buffer, group->shape->n));
  return 0;
}

PetscErrorCode rg_group_read_identities(RgGroup *group, char (*ids)[RG_ID_LENGTH + 1],
                                        char (*checksums)[RG_ID_LENGTH + 1], int *status,
                                        int *generation, double *started, RgFault *fault)
{
  char **values;

  PetscCall(PetscMalloc1(group->shape->n, &values));
  PetscCall(read_hex(group, "id", ids, values, fault));
  PetscCall(read_hex(group, "checksum", checksums, values, fault));
  PetscCall(read_integers(group, "status", values, status, fault));
  PetscCall(read_integers(group, "generation", values, generation, fault));
  if (!fault->code)
    PetscCall(
      read_field(group, &rg_fields[rg_field_find("started")], 0, group->shape->n, started, fault));
  PetscCall(PetscFree(values));
  return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Read the trials from `position` on that fit into a window; size: of one trial. */
static PetscErrorCode read_ahead(RgGroup *group, hid_t dataset, int position, const hsize_t *size,
                                 RgGroupWindow *window, RgFault *fault)
{
  const int n = PetscMin(group->n_ahead, group->shape->n - position);

  if (!window->values)
    PetscCall(PetscMalloc1((size_t)group->n_ahead * size[1] * size[2], &window->values));
  window->first = position;
  if (!read_range(dataset, H5T_NATIVE_DOUBLE, position, n, window->values))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't read the columns of trial %d", position);
  if (fault->code) PetscCall(PetscFree(window->values));
  return 0;
}

/* Read one trial of a standard column, or of an extra column with a higher number, reduced to
   `rows` x `width` of the record. */
static PetscErrorCode read_column(RgGroup *group, int column, int position, int rows, int width,
                                  double **values, RgFault *fault)
{
  const bool standard = column < RG_COLUMN_COUNT;
  const hid_t dataset = standard ? group->column[column] : group->extra[column - RG_COLUMN_COUNT];
  RgGroupWindow *window = &group->ahead[column];
  RgAxis axis[3];
  hsize_t size[3] = {1, 1, 1};
  const double *trial;

  if (fault->code || !rows || !width) return 0;
  (void)rg_group_column_axes(group->shape, standard ? column : RG_COLUMN_COUNT, axis, size);
  if (!window->values || position < window->first || position >= window->first + group->n_ahead)
    PetscCall(read_ahead(group, dataset, position, size, window, fault));
  if (fault->code) return 0;
  trial = window->values + (size_t)(position - window->first) * size[1] * size[2];
  PetscCall(PetscMalloc1((size_t)rows * (size_t)width, values));
  for (int r = 0; r < rows; r++)
    memcpy(*values + (size_t)r * (size_t)width, trial + (size_t)r * size[2],
           (size_t)width * sizeof(double));
  return 0;
}

static PetscErrorCode read_extra(RgGroup *group, int position, RgRecord *record, RgFault *fault)
{
  const int most = PetscMin(group->shape->n_extra, RG_EXTRA_MAX);
  double *values;

  PetscCall(PetscCalloc1(most, &record->extra_name));
  PetscCall(PetscCalloc1(most, &record->extra_doc));
  for (int i = 0; i < group->shape->n_extra && !fault->code; i++) {
    values = NULL;
    PetscCall(read_column(group, RG_COLUMN_COUNT + i, position, record->n_rows, 1, &values, fault));
    /* A column without values belongs to another algorithm. */
    if (!rg_values_any(values, (size_t)record->n_rows)) {
      PetscCall(PetscFree(values));
      continue;
    }
    if (record->n_extra == RG_EXTRA_MAX) {
      PetscCall(PetscFree(values));
      rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %d has too many columns", position);
      break;
    }
    memcpy(record->extra_name[record->n_extra], group->shape->extra[i].name, RG_NAME_MAX);
    memcpy(record->extra_doc[record->n_extra], group->shape->extra[i].doc, RG_DOC_MAX);
    record->extra[record->n_extra++] = values;
  }
  return 0;
}

PetscErrorCode rg_group_read_columns(RgGroup *group, int position, RgRecord *record, RgFault *fault)
{
  if (!fields_plausible(group->shape, record))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %d has impossible dimensions", position);
  for (int c = 0; c < RG_COLUMN_COUNT && !fault->code; c++)
    if (group->shape->used[c])
      PetscCall(read_column(group, c, position, record->n_rows, rg_record_width(record, c),
                            &record->column[c], fault));
  if (!fault->code) PetscCall(read_extra(group, position, record, fault));
  return 0;
}
