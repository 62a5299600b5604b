/* A group is written: its fields at once, its columns trial by trial. */
#include "base/grow.h"
#include "base/inputs.h"
#include "base/text.h"
#include "study/hdf5/group.h"

#include <ctype.h>
#include <hdf5_hl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of the group: the label, with '/', '%' and control characters as %XX, and with a
   leading '_' unless it begins with a letter or digit. Different labels have different names.
   The caller frees it with PetscFree. */
static PetscErrorCode group_name(const char *label, char **name)
{
  RgText text = {0};

  if (!isalnum((unsigned char)label[0]) || !strcmp(label, RG_GROUP_EARLIER) ||
      !strcmp(label, RG_GROUP_CELLS) || !strcmp(label, RG_GROUP_PROVENANCE))
    PetscCall(rg_text_add(&text, "_"));
  for (const unsigned char *p = (const unsigned char *)label; *p; p++) {
    if (*p < 0x20 || *p == 0x7f || *p == '/' || *p == '%')
      PetscCall(rg_text_add(&text, "%%%02X", *p));
    else PetscCall(rg_text_add_bytes(&text, (const char *)p, 1));
  }
  PetscCall(PetscStrallocpy(text.data ? text.data : "_", name));
  return rg_text_clear(&text);
}

/* Create the dataset of a column. used: some trial has a value in it. Small columns are not
   compressed: the index of their chunks takes more than it saves. */
static hid_t create_column(RgGroup *group, hid_t handle, int column, const char *name, bool used,
                           RgFault *fault)
{
  enum { SMALL = 8 << 10 };
  RgGroupColumn *own = &group->columns[column];
  RgMedium *medium = group->medium;
  const RgColumnAxes axes = rg_group_axes(group->shape, column);
  const uint64_t bytes = axes.size[0] * axes.size[1] * axes.size[2] * sizeof(double);

  if (!axes.n || (group->shape->bare && !used)) return -1;
  own->waiting = used && medium->raw && bytes > SMALL;
  const RgStorage storage = !used                ? RG_STORED_NOWHERE
                            : !own->waiting      ? RG_STORED_WHOLE
                            : group->shape->bare ? RG_STORED_STEPS
                                                 : RG_STORED_CHUNKS;
  own->dataset =
    rg_h5_create_dataset(handle, name, H5T_IEEE_F64LE, axes.n, axes.size, storage, fault);
  for (int i = 0; i < axes.n; i++)
    rg_field_attach(own->dataset, group->axis[axes.axis[i]], (unsigned)i, fault);
  if (fault->code) return own->dataset;
  if (own->waiting) {
    own->place = medium->raw;
    medium->raw += bytes;
  } else if (used) {
    own->place = H5Dget_offset(own->dataset);
  }
  return own->dataset;
}

static void create_columns(RgGroup *group, const char *coordinates, RgFault *fault)
{
  const RgGroupShape *shape = group->shape;

  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    const RgColumnInfo *info = &rg_columns[c];
    const hid_t dataset = create_column(group, info->result ? group->handle : group->timing, c,
                                        info->name, shape->used[c], fault);
    if (dataset < 0) continue;
    rg_h5_describe(dataset, info->units, info->long_name, info->description, fault);
    if (info->result) rg_h5_write_text(dataset, "coordinates", coordinates, fault);
  }
  for (int i = 0; i < shape->n_extra; i++) {
    const RgGroupExtra *extra = &shape->extra[i];
    const hid_t dataset =
      create_column(group, group->handle, RG_COLUMN_EXTRA + i, extra->name, true, fault);
    rg_h5_describe(dataset, "1", extra->name, extra->doc, fault);
    rg_h5_write_text(dataset, "coordinates", coordinates, fault);
  }
}

/* ---- inputs that have names ------------------------------------------------------------------ */

static const struct {
  const char *name, *seen, *name_of, *seen_of;
  RgAxis axis;
  int column;
  size_t offset; /* of the descriptions in a cell */
} parts[RG_PARTS] = {[RG_PART_X] = {"x_name", "x_seen", "name of the design coordinate",
                                    "design as it was evaluated", RG_AXIS_X, RG_COLUMN_X,
                                    offsetof(RgCellData, inputs)},
                     [RG_PART_C] = {"c_name", "c_seen", "name of the context coordinate",
                                    "context as it was evaluated", RG_AXIS_C, RG_COLUMN_C,
                                    offsetof(RgCellData, contexts)}};

/* Write the names along an axis. */
static PetscErrorCode write_names(RgGroup *group, int part, const RgInput *inputs, RgFault *fault)
{
  const RgRows rows = {group->handle, group->axis[parts[part].axis],
                       group->shape->extent[parts[part].axis]};
  const RgFieldInfo info = {.name = parts[part].name,
                            .type = RG_FIELD_TEXT,
                            .offset = offsetof(RgInput, name),
                            .units = "1",
                            .long_name = parts[part].name_of,
                            .description = "as the study file has it"};
  const void **structs;

  PetscCall(PetscMalloc1(rows.n, &structs));
  for (int j = 0; j < rows.n; j++) structs[j] = &inputs[j];
  PetscCall(rg_field_write(&rows, &info, structs, fault));
  return PetscFree(structs);
}

/* Write the words of each choice, in the order of their numbers from 0. */
static PetscErrorCode write_choices(hid_t dataset, int n, const RgInput *inputs, RgFault *fault)
{
  RgText name = {0}, words = {0};

  for (int j = 0; j < n && !fault->code; j++) {
    if (inputs[j].kind != RG_INPUT_CHOICE) continue;
    name.length = words.length = 0;
    PetscCall(rg_text_add(&name, "choices_%s", inputs[j].name));
    for (int k = 0; k < inputs[j].n_words; k++)
      PetscCall(rg_text_add(&words, "%s%s", k ? " " : "", inputs[j].words[k]));
    rg_h5_write_text(dataset, name.data, words.data, fault);
  }
  PetscCall(rg_text_clear(&name));
  return rg_text_clear(&words);
}

/* Create x_name and x_seen, or c_name and c_seen. If the trials' inputs differ, only x_seen
   exists, and `inputs` of their cells give the meaning of its coordinates. */
static PetscErrorCode create_part(RgGroup *group, int part, const char *coordinates, RgFault *fault)
{
  RgInput *inputs = NULL;
  RgText mistake = {0}, with = {0};
  const int width = group->shape->extent[parts[part].axis];
  int n = 0;

  if (group->shape->inputs[part])
    PetscCall(rg_inputs_read(group->shape->inputs[part], &n, &inputs, &mistake));
  const bool same = inputs && !mistake.length && n == width;
  const hid_t dataset =
    create_column(group, group->handle, RG_COLUMN_SEEN + part, parts[part].seen, true, fault);
  rg_h5_describe(dataset, "native", parts[part].seen_of,
                 "integers rounded, a choice as the number of its word from 0, NaN where an input "
                 "does not count",
                 fault);
  PetscCall(
    rg_text_add(&with, "%s%s%s", coordinates, same ? " " : "", same ? parts[part].name : ""));
  rg_h5_write_text(dataset, "coordinates", with.data, fault);
  if (same) PetscCall(write_names(group, part, inputs, fault));
  if (same) PetscCall(write_choices(dataset, n, inputs, fault));
  if (inputs) PetscCall(rg_inputs_clear(n, inputs));
  PetscCall(PetscFree(inputs));
  PetscCall(rg_text_clear(&mistake));
  return rg_text_clear(&with);
}

static PetscErrorCode coordinate_names(const RgGroupShape *shape, RgText *text)
{
  for (int f = 0; f < rg_cell_field_count; f++)
    if (rg_cell_fields[f].coordinate)
      PetscCall(rg_text_add(text, "%s%s", text->length ? " " : "", rg_cell_fields[f].name));
  for (int f = 0; f < rg_field_count; f++)
    if (rg_fields[f].coordinate && shape->has[rg_fields[f].of])
      PetscCall(rg_text_add(text, " %s", rg_fields[f].name));
  for (int i = 0; i < shape->axes.n; i++) {
    char name[2 * RG_NAME_MAX];
    rg_settings_dataset(&shape->axes.list[i], shape->n_extra, shape->extra, name);
    PetscCall(rg_text_add(text, " %s", name));
  }
  return 0;
}

/* Write the fields of trials, and what a user would look up of their cells: labels and axes. */
static PetscErrorCode write_fields(RgGroup *group, const RgRecord *const *records, RgFault *fault)
{
  const RgGroupShape *shape = group->shape;
  const int n = shape->extent[RG_AXIS_TRIAL];
  const RgRows rows = {group->handle, group->axis[RG_AXIS_TRIAL], n};
  const RgRows provenance = {group->provenance, group->axis[RG_AXIS_TRIAL], n};
  const RgCellData **cells;

  if (fault->code) return 0;
  PetscCall(PetscMalloc1(n, &cells));
  for (int i = 0; i < n; i++) cells[i] = records[i]->cell;
  for (int f = 0; f < rg_field_count; f++)
    if (shape->has[rg_fields[f].of])
      PetscCall(rg_field_write(rg_fields[f].provenance ? &provenance : &rows, &rg_fields[f],
                               (const void *const *)records, fault));
  for (int f = 0; f < rg_cell_field_count; f++)
    if (rg_cell_fields[f].coordinate)
      PetscCall(rg_field_write(&rows, &rg_cell_fields[f], (const void *const *)cells, fault));
  if (!fault->code)
    PetscCall(rg_settings_write(&rows, &shape->axes, RG_AXES_OF_SWEEP, cells, shape->n_extra,
                                shape->extra, fault));
  return PetscFree(cells);
}

PetscErrorCode rg_group_create(RgMedium *medium, hid_t parent, RgGroupShape *shape,
                               const RgRecord *const *records, RgGroup *group, RgFault *fault)
{
  char *name;
  RgText coordinates = {0};
  int widest = 1;

  *group = (RgGroup){.shape = shape, .medium = medium};
  PetscCall(group_name(shape->label, &name));
  group->handle = rg_h5_create_group(parent, name, fault);
  PetscCall(PetscFree(name));
  rg_h5_write_text(group->handle, "problem_label", shape->label, fault);
  group->timing = rg_h5_create_group(group->handle, RG_GROUP_TIMING, fault);
  group->provenance = rg_h5_create_group(group->handle, RG_GROUP_PROVENANCE, fault);
  for (int a = 0; a < RG_AXIS_COUNT; a++)
    if (shape->extent[a])
      group->axis[a] = rg_field_axis(group->handle, (RgAxis)a, (hsize_t)shape->extent[a], fault);
  PetscCall(rg_group_add_columns(group));
  PetscCall(coordinate_names(shape, &coordinates));
  create_columns(group, coordinates.data, fault);
  for (int p = 0; p < RG_PARTS; p++)
    if (shape->named[p]) PetscCall(create_part(group, p, coordinates.data, fault));
  PetscCall(rg_text_clear(&coordinates));
  for (int a = RG_AXIS_X; a < RG_AXIS_COUNT; a++) widest = PetscMax(widest, shape->extent[a]);
  PetscCall(PetscMalloc1((size_t)shape->extent[RG_AXIS_ITERATION] * widest * sizeof(double),
                         &group->scratch));
  return write_fields(group, records, fault);
}

/* Store a number in the order of bytes that the datasets have. */
static void put_real(double value, unsigned char *to)
{
  uint64_t bits;

  memcpy(&bits, &value, sizeof(bits));
  rg_put_word(bits, to);
}

/* Write one trial of one column, extended to the shape of the group. The code writes at the
   known place in the file; selection and writing through HDF5 took a third of the packing time. */
static void write_column(RgGroup *group, int column, int position, int rows, int width,
                         const double *values, RgFault *fault)
{
  const RgGroupColumn *own = &group->columns[column];
  unsigned char *to = group->scratch;

  if (own->dataset < 0 || own->place == HADDR_UNDEF) return;
  const RgColumnAxes axes = rg_group_axes(group->shape, column);
  for (int r = 0; r < (int)axes.size[1]; r++)
    for (int i = 0; i < (int)axes.size[2]; i++, to += sizeof(double))
      put_real(values && r < rows && i < width ? values[(size_t)r * (size_t)width + i] : NAN, to);
  const size_t bytes = (size_t)(to - group->scratch);
  if (!rg_medium_write(group->medium, own->place + (uint64_t)position * bytes, bytes,
                       group->scratch))
    rg_fault_set(fault, RG_FAULT_ERROR, "can't write the columns of trial %d", position);
}

/* Write the inputs that the trial's problem saw, computed from coordinates and descriptions. */
static PetscErrorCode write_seen(RgGroup *group, int part, int position, const RgRecord *record,
                                 RgFault *fault)
{
  const char *text = *(char *const *)((const char *)record->cell + parts[part].offset);
  const double *native = record->column[parts[part].column];
  const int width = rg_record_width(record, parts[part].column);
  RgInput *inputs = NULL;
  RgText mistake = {0};
  double *seen = NULL;
  int n = 0;

  if (text && text[0]) PetscCall(rg_inputs_read(text, &n, &inputs, &mistake));
  if (n == width && !mistake.length && native) {
    PetscCall(PetscMalloc1((size_t)record->n_rows * (size_t)n, &seen));
    for (int row = 0; row < record->n_rows; row++)
      rg_inputs_seen(n, inputs, native + (size_t)row * n, seen + (size_t)row * n);
  }
  write_column(group, RG_COLUMN_SEEN + part, position, record->n_rows, width, seen, fault);
  if (inputs) PetscCall(rg_inputs_clear(n, inputs));
  PetscCall(PetscFree(inputs));
  PetscCall(PetscFree(seen));
  return rg_text_clear(&mistake);
}

PetscErrorCode rg_group_write_columns(RgGroup *group, int position, const RgRecord *record,
                                      RgFault *fault)
{
  for (int c = 0; c < RG_COLUMN_COUNT && !fault->code; c++)
    write_column(group, c, position, record->n_rows, rg_record_width(record, c), record->column[c],
                 fault);
  for (int p = 0; p < RG_PARTS && !fault->code; p++)
    if (group->shape->named[p]) PetscCall(write_seen(group, p, position, record, fault));
  for (int i = 0; i < group->shape->n_extra && !fault->code; i++) {
    const double *values = NULL;
    for (int e = 0; e < record->n_extra && !values; e++)
      if (!strcmp(record->extra_name[e], group->shape->extra[i].name)) values = record->extra[e];
    write_column(group, RG_COLUMN_EXTRA + i, position, record->n_rows, 1, values, fault);
  }
  return 0;
}

/* ---- compression ----------------------------------------------------------------------------- */

/* Compress a chunk: `count` elements from `start` on, whose values stand together. */
static void compress_chunk(const RgGroup *group, const RgGroupColumn *own, int rank,
                           const hsize_t start[3], const hsize_t count[3], const hsize_t size[3],
                           unsigned char *buffer, RgFault *fault)
{
  const hsize_t n = count[0] * count[1] * count[2], before = start[0] * size[1] + start[1];
  const uint64_t place = own->place + before * size[2] * sizeof(double);
  unsigned char padding[sizeof(double)];
  bool any = false; /* a value that unwritten elements don't have too */

  if (!rg_medium_read(group->medium, place, n * sizeof(double), buffer)) return;
  put_real(NAN, padding);
  for (hsize_t i = 0; i < n && !any; i++)
    any = memcmp(buffer + i * sizeof(double), padding, sizeof(double)) != 0;
  if (!any) return;
  const hid_t file = H5Dget_space(own->dataset), memory = H5Screate_simple(rank, count, NULL);
  if (H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
      H5Dwrite(own->dataset, H5T_IEEE_F64LE, memory, file, H5P_DEFAULT, buffer) < 0)
    rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't compress a column");
  RG_H5_CLOSE(memory, file);
  /* What HDF5 writes takes the place of values that were read before. */
  if (group->medium->end > place + n * sizeof(double))
    rg_fault_set(fault, RG_FAULT_ERROR, "a file is larger than was computed");
}

PetscErrorCode rg_group_compress(RgGroup *group, RgFault *fault)
{
  unsigned char *buffer;

  for (int c = 0; c < RG_COLUMN_EXTRA + group->shape->n_extra; c++) {
    const RgGroupColumn *own = &group->columns[c];
    const RgColumnAxes axes = rg_group_axes(group->shape, c);
    const hsize_t *size = axes.size;
    hsize_t chunk[3], start[3] = {0}, count[3];
    if (!own->waiting || own->dataset < 0) continue;
    rg_h5_chunk(axes.n, size, chunk);
    count[2] = size[2];
    PetscCall(PetscMalloc1(chunk[0] * chunk[1] * chunk[2] * sizeof(double), &buffer));
    for (start[0] = 0; start[0] < size[0] && !fault->code; start[0] += chunk[0])
      for (start[1] = 0; start[1] < size[1] && !fault->code; start[1] += chunk[1]) {
        count[0] = PetscMin(chunk[0], size[0] - start[0]);
        count[1] = PetscMin(chunk[1], size[1] - start[1]);
        compress_chunk(group, own, axes.n, start, count, size, buffer, fault);
      }
    PetscCall(PetscFree(buffer));
  }
  return 0;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

PetscErrorCode rg_group_shape_create(const char *label, bool earlier, RgGroupShape *shape)
{
  PetscCall(PetscMemzero(shape, sizeof(*shape)));
  PetscCall(PetscStrallocpy(label, &shape->label));
  shape->earlier = earlier;
  shape->extent[RG_AXIS_ITERATION] = 1;
  shape->has[RG_OF_ALL] = true;
  return 0;
}

PetscErrorCode rg_group_shape_destroy(RgGroupShape *shape)
{
  PetscCall(RG_FREE(&shape->label, &shape->extra));
  for (int p = 0; p < RG_PARTS; p++) PetscCall(PetscFree(shape->inputs[p]));
  return rg_settings_clear(&shape->axes);
}

/* Keep the extra columns sorted by name, so that the file does not depend on the order of
   trials. */
static PetscErrorCode add_extra(RgGroupShape *shape, const char *name, const char *doc)
{
  int at = 0;

  while (at < shape->n_extra && strcmp(shape->extra[at].name, name) < 0) at++;
  if (at == shape->n_extra || strcmp(shape->extra[at].name, name)) {
    PetscCall(RG_GROW(shape->n_extra, shape->extra));
    memmove(shape->extra + at + 1, shape->extra + at,
            (size_t)(shape->n_extra++ - at) * sizeof(*shape->extra));
    shape->extra[at] = (RgGroupExtra){0};
    PetscCall(PetscStrncpy(shape->extra[at].name, name, RG_NAME_MAX));
  } else if (strcmp(doc, shape->extra[at].doc) >= 0) {
    return 0;
  }
  return PetscStrncpy(shape->extra[at].doc, doc, RG_DOC_MAX);
}

/* The group has names only if all its trials have them. */
static PetscErrorCode add_inputs(RgGroupShape *shape, int part, const char *inputs)
{
  if (!inputs) inputs = "";
  if (inputs[0]) shape->named[part] = true;
  if (shape->extent[RG_AXIS_TRIAL] == 1) PetscCall(PetscStrallocpy(inputs, &shape->inputs[part]));
  else if (shape->inputs[part] && strcmp(shape->inputs[part], inputs))
    PetscCall(PetscFree(shape->inputs[part]));
  return 0;
}

/* Whether a field of a record has another value than 0 or "": then its group has fields of that
   kind. */
static bool has_value(const RgRecord *record, int field)
{
  static const char zeros[sizeof(uint64_t)];
  const RgFieldInfo *info = &rg_fields[field];
  const char *at = (const char *)record + info->offset;

  if (info->type == RG_FIELD_TEXT) at = *(char *const *)at;
  const bool text = info->type == RG_FIELD_TEXT || info->type == RG_FIELD_CHARS;
  return at && memcmp(at, zeros, text ? 1 : info->size) != 0;
}

PetscErrorCode rg_group_shape_add(RgGroupShape *shape, const RgRecord *record)
{
  const RgCellData *cell = record->cell;

  shape->extent[RG_AXIS_TRIAL]++;
  for (int a = RG_AXIS_ITERATION; a < RG_AXIS_COUNT; a++) {
    const int extent = *(const int *)((const char *)record + rg_axes[a].offset);
    shape->extent[a] = PetscMax(shape->extent[a], extent);
  }
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (!shape->used[c])
      shape->used[c] = rg_values_any(record->column[c],
                                     (size_t)record->n_rows * (size_t)rg_record_width(record, c));
  for (int f = 0; f < rg_field_count; f++)
    shape->has[rg_fields[f].of] |= rg_fields[f].of != RG_OF_CREW && has_value(record, f);
  shape->has[RG_OF_CREW] = shape->used[RG_COLUMN_SUBMISSION];
  for (int i = 0; i < record->n_extra; i++)
    if (rg_values_any(record->extra[i], (size_t)record->n_rows))
      PetscCall(add_extra(shape, record->extra_name[i], record->extra_doc[i]));
  PetscCall(add_inputs(shape, RG_PART_X, cell->inputs));
  PetscCall(add_inputs(shape, RG_PART_C, cell->contexts));
  PetscCall(rg_settings_add(&shape->axes, cell, RG_AXES_OF_SWEEP));
  shape->text += rg_record_text(record, RG_FIELD_TEXT) + rg_record_text(record, RG_FIELD_CHARS) +
                 strlen(cell->problem_label) + strlen(cell->algorithm_label) + 64;
  for (int i = 0; i < cell->n_swept; i++) shape->text += 48 + strlen(cell->axes[i].text);
  return 0;
}

uint64_t rg_group_doubles(const RgGroupShape *shape)
{
  uint64_t doubles = (uint64_t)shape->n_extra;

  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    const int width = rg_columns[c].width;
    if (shape->used[c])
      doubles += (uint64_t)(width < 0 ? shape->extent[rg_axis_of_width(width)] : width);
  }
  for (int p = 0; p < RG_PARTS; p++) /* the datasets x_seen and c_seen */
    if (shape->named[p]) doubles += (uint64_t)shape->extent[parts[p].axis];
  return doubles;
}

/* For each text HDF5 stores a reference of 16 bytes in the dataset, a header of 16 bytes in its
   heap, and padding. Each dataset with its attributes takes about 1.5 KiB, and a column up to 8 KiB
   of small values, or 4 KiB and 128 bytes a chunk for the index of its chunks. */
uint64_t rg_group_shape_bytes(const RgGroupShape *shape, uint64_t *values)
{
  const uint64_t n_columns = (uint64_t)(RG_COLUMN_COUNT + shape->n_extra + RG_PARTS);
  const uint64_t n = (uint64_t)shape->extent[RG_AXIS_TRIAL];
  const uint64_t n_rows = (uint64_t)shape->extent[RG_AXIS_ITERATION];

  *values = n * n_rows * rg_group_doubles(shape) * sizeof(double);
  return n * (uint64_t)(48 * rg_field_count + 8) + 2 * (uint64_t)shape->text +
         (uint64_t)(RG_COLUMN_COUNT + rg_field_count + shape->n_extra + shape->axes.n +
                    RG_AXIS_COUNT + 4) *
           2048 +
         n_columns * 8192 + *values / 512 + 8 * n_rows + 16384;
}

PetscErrorCode rg_group_add_columns(RgGroup *group)
{
  const int n = RG_COLUMN_EXTRA + group->shape->n_extra;

  PetscCall(PetscMalloc1(n, &group->columns));
  for (int c = 0; c < n; c++)
    group->columns[c] = (RgGroupColumn){.dataset = -1, .place = HADDR_UNDEF};
  return 0;
}

RgColumnAxes rg_group_axes(const RgGroupShape *shape, int column)
{
  RgColumnAxes axes = {2, {RG_AXIS_TRIAL, RG_AXIS_ITERATION}, {1, 1, 1}};

  if (column >= RG_COLUMN_SEEN && column < RG_COLUMN_EXTRA)
    column = parts[column - RG_COLUMN_SEEN].column;
  const bool crew = column >= RG_COLUMN_SUBMISSION && column <= RG_COLUMN_IDLE;
  const bool real = column >= RG_COLUMN_WALL_DISPATCHED && column <= RG_COLUMN_WALL_TOLD;
  if (column < RG_COLUMN_COUNT && rg_columns[column].width < 0)
    axes.axis[axes.n++] = rg_axis_of_width(rg_columns[column].width);
  for (int i = 0; i < axes.n; i++) axes.size[i] = (hsize_t)shape->extent[axes.axis[i]];
  if ((crew && !shape->has[RG_OF_CREW]) || (real && !shape->has[RG_OF_REAL]) ||
      !axes.size[axes.n - 1])
    axes.n = 0;
  return axes;
}

PetscErrorCode rg_group_close(RgGroup *group)
{
  rg_h5_close(RG_AXIS_COUNT, group->axis);
  for (int c = 0; group->columns && c < RG_COLUMN_EXTRA + group->shape->n_extra; c++) {
    RG_H5_CLOSE(group->columns[c].dataset);
    PetscCall(PetscFree(group->columns[c].values));
  }
  RG_H5_CLOSE(group->timing, group->provenance, group->handle);
  PetscCall(RG_FREE(&group->columns, &group->scratch));
  if (!group->medium && group->shape) {
    PetscCall(rg_group_shape_destroy(group->shape));
    PetscCall(PetscFree(group->shape));
  }
  *group = (RgGroup){0};
  return 0;
}
