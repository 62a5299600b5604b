/* Groups: shape, name, axes, and closing. */
#include "study/hdf5/group.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "study/file/swept.h"

PetscErrorCode rg_group_shape_create(const char *label, bool earlier, RgGroupShape *shape)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(shape, sizeof(*shape)));
  PetscCall(PetscStrallocpy(label, &shape->label));
  shape->earlier = earlier;
  shape->n_rows = 1;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_group_shape_destroy(RgGroupShape *shape)
{
  PetscFunctionBeginUser;
  PetscCall(RG_FREE(&shape->label, &shape->extra));
  for (int p = 0; p < RG_PARTS; p++) PetscCall(PetscFree(shape->inputs[p]));
  PetscCall(rg_group_shape_drop_settings(shape));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_group_shape_drop_settings(RgGroupShape *shape)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < shape->n_settings; i++) {
    PetscCall(
      RG_FREE(&shape->settings[i].part, &shape->settings[i].units, &shape->settings[i].doc));
  }
  PetscCall(PetscFree(shape->settings));
  shape->n_settings = 0;
  PetscFunctionReturn(0);
}

static int max_int(int a, int b)
{
  return a > b ? a : b;
}

/* Keep the extra columns sorted by name, so that the file does not depend on the order of
   trials. */
static PetscErrorCode add_extra(RgGroupShape *shape, const char *name, const char *doc)
{
  int at = 0;

  PetscFunctionBeginUser;
  while (at < shape->n_extra && strcmp(shape->extra[at].name, name) < 0) at++;
  if (at < shape->n_extra && !strcmp(shape->extra[at].name, name)) {
    if (strcmp(doc, shape->extra[at].doc) < 0)
      PetscCall(PetscStrncpy(shape->extra[at].doc, doc, RG_DOC_MAX));
    PetscFunctionReturn(0);
  }
  PetscCall(RG_GROW(shape->n_extra, shape->extra));
  memmove(shape->extra + at + 1, shape->extra + at,
          (size_t)(shape->n_extra - at) * sizeof(*shape->extra));
  PetscCall(PetscMemzero(&shape->extra[at], sizeof(*shape->extra)));
  PetscCall(PetscStrncpy(shape->extra[at].name, name, RG_NAME_MAX));
  PetscCall(PetscStrncpy(shape->extra[at].doc, doc, RG_DOC_MAX));
  shape->n_extra++;
  PetscFunctionReturn(0);
}

/* Keep the first text about a setting that is not empty. */
static PetscErrorCode keep_text(const char *text, char **kept)
{
  PetscFunctionBeginUser;
  if (*kept && !**kept) PetscCall(PetscFree(*kept));
  if (!*kept && text) PetscCall(PetscStrallocpy(text, kept));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_setting(RgGroupShape *shape, const RgSwept *setting)
{
  int at = 0;

  PetscFunctionBeginUser;
  while (at < shape->n_settings && strcmp(shape->settings[at].name, setting->name) < 0) at++;
  if (at == shape->n_settings || strcmp(shape->settings[at].name, setting->name)) {
    PetscCall(RG_GROW(shape->n_settings, shape->settings));
    memmove(shape->settings + at + 1, shape->settings + at,
            (size_t)(shape->n_settings - at) * sizeof(*shape->settings));
    shape->settings[at] = (RgGroupSetting){.kind = setting->kind};
    PetscCall(PetscStrncpy(shape->settings[at].name, setting->name, RG_NAME_MAX));
    shape->n_settings++;
  }
  RgGroupSetting *own = &shape->settings[at];
  own->kind = rg_swept_join(own->kind, setting->kind);
  PetscCall(keep_text(setting->part, &own->part));
  PetscCall(keep_text(setting->units, &own->units));
  PetscCall(keep_text(setting->doc, &own->doc));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_group_shape_add_settings(RgGroupShape *shape, const RgRecord *record)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < record->n_swept; i++) PetscCall(add_setting(shape, &record->settings[i]));
  PetscFunctionReturn(0);
}

void rg_group_setting_dataset(const RgGroupShape *shape, int i, char name[2 * RG_NAME_MAX])
{
  const char *prefix = "";

  for (int e = 0; e < shape->n_extra; e++)
    if (!strcmp(shape->extra[e].name, shape->settings[i].name)) prefix = "setting.";
  snprintf(name, 2 * RG_NAME_MAX, "%s%s", prefix, shape->settings[i].name);
}

static const void *field_of(const RgRecord *record, int field)
{
  return (const char *)record + rg_fields[field].offset;
}

static size_t text_bytes(const RgRecord *record)
{
  size_t bytes = 0;

  for (int f = 0; f < rg_field_count; f++) {
    const char *text = NULL;
    if (rg_fields[f].type == RG_FIELD_CHARS) text = field_of(record, f);
    if (rg_fields[f].type == RG_FIELD_TEXT) text = *(char *const *)field_of(record, f);
    if (text) bytes += strlen(text);
  }
  for (int i = 0; i < record->n_swept; i++) bytes += 48 + strlen(record->settings[i].text);
  return bytes;
}

/* The group has names only if all its trials have them. */
static PetscErrorCode add_inputs(RgGroupShape *shape, int part, const char *inputs)
{
  PetscFunctionBeginUser;
  if (!inputs) inputs = "";
  if (inputs[0]) shape->named[part] = true;
  if (shape->n == 1) PetscCall(PetscStrallocpy(inputs, &shape->inputs[part]));
  else if (shape->inputs[part] && strcmp(shape->inputs[part], inputs))
    PetscCall(PetscFree(shape->inputs[part]));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_group_shape_add(RgGroupShape *shape, const RgRecord *record)
{
  PetscFunctionBeginUser;
  shape->n++;
  shape->n_rows = max_int(shape->n_rows, record->n_rows);
  shape->dim_x = max_int(shape->dim_x, record->dim_x);
  shape->dim_c = max_int(shape->dim_c, record->dim_c);
  shape->dim_z = max_int(shape->dim_z, record->dim_z);
  shape->n_scores = max_int(shape->n_scores, record->n_scores);
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (!shape->used[c])
      shape->used[c] = rg_values_any(record->column[c],
                                     (size_t)record->n_rows * (size_t)rg_record_width(record, c));
  shape->crew = shape->used[RG_COLUMN_SUBMISSION];
  shape->repeated = shape->repeated || record->provenance.generation > 0;
  shape->real = shape->real || (record->timeline && record->timeline[0]);
  shape->failing = shape->failing || (record->failures && record->failures[0]);
  shape->telling = shape->telling || (record->failure_texts && record->failure_texts[0]);
  for (int i = 0; i < record->n_extra; i++)
    if (rg_values_any(record->extra[i], (size_t)record->n_rows))
      PetscCall(add_extra(shape, record->extra_name[i], record->extra_doc[i]));
  PetscCall(add_inputs(shape, RG_PART_X, record->inputs));
  PetscCall(add_inputs(shape, RG_PART_C, record->contexts));
  PetscCall(rg_group_shape_add_settings(shape, record));
  shape->text += text_bytes(record);
  PetscFunctionReturn(0);
}

uint64_t rg_group_doubles(const RgGroupShape *shape)
{
  uint64_t doubles = (uint64_t)shape->n_extra;

  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    int width = rg_columns[c].width;
    if (width == RG_WIDTH_X) width = shape->dim_x;
    if (width == RG_WIDTH_C) width = shape->dim_c;
    if (width == RG_WIDTH_Z) width = shape->dim_z;
    if (width == RG_WIDTH_S) width = shape->n_scores;
    if (shape->used[c]) doubles += (uint64_t)width;
  }
  /* The datasets x_seen and c_seen. */
  doubles += (uint64_t)(shape->named[RG_PART_X] * shape->dim_x);
  return doubles + (uint64_t)(shape->named[RG_PART_C] * shape->dim_c);
}

/* For each text HDF5 stores a reference of 16 bytes in the dataset, a header of 16 bytes in its
   heap, and padding. Each dataset with its attributes takes about 1.5 KiB. */
uint64_t rg_group_shape_bytes(const RgGroupShape *shape)
{
  return (uint64_t)shape->n * (uint64_t)shape->n_rows * rg_group_doubles(shape) * sizeof(double) +
         (uint64_t)shape->n * (uint64_t)(48 * rg_field_count + 8) + 2 * (uint64_t)shape->text +
         (uint64_t)(RG_COLUMN_COUNT + rg_field_count + shape->n_extra + shape->n_settings +
                    RG_AXIS_COUNT + 4) *
           2048 +
         8 * (uint64_t)shape->n_rows + 16384;
}

PetscErrorCode rg_group_name(const char *label, char **name)
{
  RgText text = {0};

  PetscFunctionBeginUser;
  if (!isalnum((unsigned char)label[0]) || !strcmp(label, RG_GROUP_EARLIER) ||
      !strcmp(label, RG_GROUP_PROVENANCE))
    PetscCall(rg_text_add(&text, "_"));
  for (const unsigned char *p = (const unsigned char *)label; *p; p++) {
    if (*p < 0x20 || *p == 0x7f || *p == '/' || *p == '%')
      PetscCall(rg_text_add(&text, "%%%02X", *p));
    else PetscCall(rg_text_add_bytes(&text, (const char *)p, 1));
  }
  PetscCall(PetscStrallocpy(text.data ? text.data : "_", name));
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

RgGroup rg_group_none(void)
{
  RgGroup group = {.handle = -1, .timing = -1, .provenance = -1};

  for (int a = 0; a < RG_AXIS_COUNT; a++) group.axis[a] = -1;
  for (int p = 0; p < RG_PARTS; p++) group.seen[p] = -1;
  for (int c = 0; c < RG_COLUMN_COUNT; c++) group.column[c] = -1;
  return group;
}

bool rg_group_has_field(const RgGroupShape *shape, const RgFieldInfo *info)
{
  switch (info->of) {
  case RG_OF_SCORED: return shape->n_scores > 0;
  case RG_OF_NAMED: return shape->named[RG_PART_X];
  case RG_OF_CONTEXT: return shape->named[RG_PART_C];
  case RG_OF_CREW: return shape->crew;
  case RG_OF_REPEATED: return shape->repeated;
  case RG_OF_FAILING: return shape->failing;
  case RG_OF_TELLING: return shape->telling;
  case RG_OF_REAL: return shape->real;
  case RG_OF_ALL: break;
  }
  return true;
}

void rg_group_extents(const RgGroupShape *shape, hsize_t extent[RG_AXIS_COUNT])
{
  extent[RG_AXIS_TRIAL] = (hsize_t)shape->n;
  extent[RG_AXIS_ITERATION] = (hsize_t)shape->n_rows;
  extent[RG_AXIS_X] = (hsize_t)shape->dim_x;
  extent[RG_AXIS_C] = (hsize_t)shape->dim_c;
  extent[RG_AXIS_Z] = (hsize_t)shape->dim_z;
  extent[RG_AXIS_S] = (hsize_t)shape->n_scores;
}

/* Whether a group without workers and clock, or without a real clock, lacks a column. */
static bool is_left_out(const RgGroupShape *shape, int column)
{
  switch (column) {
  case RG_COLUMN_WALL_DISPATCHED:
  case RG_COLUMN_WALL_FINISHED:
  case RG_COLUMN_WALL_TOLD: return !shape->real;
  case RG_COLUMN_SUBMISSION:
  case RG_COLUMN_WORKER:
  case RG_COLUMN_ATTEMPTS:
  case RG_COLUMN_N_PENDING:
  case RG_COLUMN_DISPATCHED:
  case RG_COLUMN_FINISHED:
  case RG_COLUMN_TOLD:
  case RG_COLUMN_DURATION:
  case RG_COLUMN_IDLE: return !shape->crew;
  default: return false;
  }
}

int rg_group_column_axes(const RgGroupShape *shape, int column, RgAxis axis[3], hsize_t size[3])
{
  hsize_t extent[RG_AXIS_COUNT];
  static const RgAxis axis_of[] = {[-RG_WIDTH_X] = RG_AXIS_X,
                                   [-RG_WIDTH_C] = RG_AXIS_C,
                                   [-RG_WIDTH_Z] = RG_AXIS_Z,
                                   [-RG_WIDTH_S] = RG_AXIS_S};
  int width = column < RG_COLUMN_COUNT ? rg_columns[column].width : 1, n = 2;

  if (is_left_out(shape, column)) return 0;
  rg_group_extents(shape, extent);
  axis[0] = RG_AXIS_TRIAL;
  axis[1] = RG_AXIS_ITERATION;
  if (width < 0) axis[n++] = axis_of[-width];
  for (int i = 0; i < n; i++) size[i] = extent[axis[i]];
  return size[n - 1] ? n : 0;
}

int rg_group_width(const RgGroupShape *shape)
{
  return max_int(max_int(1, shape->n_scores),
                 max_int(shape->dim_x, max_int(shape->dim_c, shape->dim_z)));
}

hid_t rg_field_memory_type(RgFieldType type)
{
  switch (type) {
  case RG_FIELD_INT:
  case RG_FIELD_STATUS: return H5Tcopy(H5T_NATIVE_INT);
  case RG_FIELD_COUNT: return H5Tcopy(H5T_NATIVE_UINT64);
  case RG_FIELD_REAL: return H5Tcopy(H5T_NATIVE_DOUBLE);
  default: return rg_h5_text_type();
  }
}

static void close_datasets(int n, hid_t *datasets)
{
  for (int i = 0; i < n; i++) {
    if (datasets[i] >= 0) H5Dclose(datasets[i]);
    datasets[i] = -1;
  }
}

PetscErrorCode rg_group_close(RgGroup *group)
{
  PetscFunctionBeginUser;
  close_datasets(RG_AXIS_COUNT, group->axis);
  close_datasets(RG_COLUMN_COUNT, group->column);
  close_datasets(RG_PARTS, group->seen);
  if (group->extra) close_datasets(group->shape->n_extra, group->extra);
  if (group->timing >= 0) H5Gclose(group->timing);
  if (group->provenance >= 0) H5Gclose(group->provenance);
  if (group->handle >= 0) H5Gclose(group->handle);
  group->handle = group->timing = group->provenance = -1;
  for (int i = 0; group->ahead && i < RG_COLUMN_COUNT + group->shape->n_extra; i++)
    PetscCall(PetscFree(group->ahead[i].values));
  PetscCall(RG_FREE(&group->ahead, &group->extra, &group->scratch));
  if (group->reading && group->shape) {
    PetscCall(rg_group_shape_destroy(group->shape));
    PetscCall(PetscFree(group->shape));
  }
  group->shape = NULL;
  PetscFunctionReturn(0);
}
