/* A group is read, which may be damaged. */
#include "study/hdf5/group.h"

#include <math.h>
#include <string.h>

#include "base/files.h"
#include "base/grow.h"

/* A column is read ahead up to this size. A trial has at least two texts of 32 digits, which
   nothing compresses. */
enum { WINDOW_BYTES = 1 << 20, TRIAL_BYTES = 64 };

/* ---- open ------------------------------------------------------------------------------------ */

static PetscErrorCode read_shape(RgGroup *group, RgFault *fault)
{
  RgGroupShape *shape = group->shape;
  bool found;

  PetscCall(PetscFree(shape->label));
  PetscCall(rg_h5_read_text(group->handle, "problem_label", &shape->label, &found));
  for (int a = 0; a < RG_AXIS_COUNT; a++)
    shape->extent[a] = rg_h5_axis_length(group->handle, rg_axes[a].name, fault);
  if (!found || shape->extent[RG_AXIS_TRIAL] < 1 || shape->extent[RG_AXIS_ITERATION] < 1)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "a group without a problem label or axes");
  group->timing = rg_h5_open_group(group->handle, RG_GROUP_TIMING, fault);
  group->provenance = rg_h5_open_group(group->handle, RG_GROUP_PROVENANCE, fault);
  for (int f = 0; f < rg_field_count; f++) { /* a kind of trials is there if one of its fields is */
    const hid_t parent = rg_fields[f].provenance ? group->provenance : group->handle;
    bool *has = &shape->has[rg_fields[f].of];
    *has = *has || (parent >= 0 && H5Lexists(parent, rg_fields[f].name, H5P_DEFAULT) > 0);
  }
  return 0;
}

/* Columns of an earlier version of the schema may be absent; those that exist must fit. */
static void open_columns(RgGroup *group, RgFault *fault)
{
  const RgGroupShape *shape = group->shape;

  for (int c = 0; c < RG_COLUMN_EXTRA + shape->n_extra && !fault->code; c++) {
    const bool standard = c < RG_COLUMN_COUNT, extra = c >= RG_COLUMN_EXTRA;
    if (!standard && !extra) continue; /* x_seen and c_seen are made of others */
    const char *name = standard ? rg_columns[c].name : shape->extra[c - RG_COLUMN_EXTRA].name;
    const hid_t parent = extra || rg_columns[c].result ? group->handle : group->timing;
    const RgColumnAxes axes = rg_group_axes(shape, c);
    if (!axes.n || parent < 0 || H5Lexists(parent, name, H5P_DEFAULT) <= 0) continue;
    group->columns[c].dataset = rg_field_open(parent, name, axes.n, axes.size, fault);
    H5D_space_status_t space; /* where none was allocated, there are no data */
    if (standard && !fault->code)
      group->shape->used[c] = H5Dget_space_status(group->columns[c].dataset, &space) >= 0 &&
                              space != H5D_SPACE_STATUS_NOT_ALLOCATED;
  }
}

/* Find the columns of algorithms. Users may add datasets to a results file: one that does not look
   like a column is ignored, but any dataset may be refused. */
static PetscErrorCode find_extras(RgGroup *group, RgFault *fault)
{
  RgGroupShape *shape = group->shape;
  const RgColumnAxes axes = rg_group_axes(shape, RG_COLUMN_EXTRA);
  char **names, *doc;
  int n;

  PetscCall(rg_h5_list(group->handle, H5O_TYPE_DATASET, &n, &names, fault));
  for (int i = 0; i < n && !fault->code; i++) {
    const hid_t dataset = rg_h5_open_dataset(group->handle, names[i], fault);
    const bool found =
      dataset >= 0 && !rg_field_is_reserved(names[i]) && strlen(names[i]) < RG_NAME_MAX &&
      rg_field_has_shape(dataset, 2, axes.size) && rg_field_fits(dataset, RG_FIELD_REAL);
    if (found) {
      PetscCall(RG_GROW(shape->n_extra, shape->extra));
      RgGroupExtra *extra = &shape->extra[shape->n_extra++];
      PetscCall(PetscStrncpy(extra->name, names[i], RG_NAME_MAX));
      PetscCall(rg_h5_read_text(dataset, "description", &doc, NULL));
      PetscCall(PetscStrncpy(extra->doc, doc, RG_DOC_MAX));
      PetscCall(PetscFree(doc));
    }
    RG_H5_CLOSE(dataset);
  }
  return rg_names_free(n, &names);
}

PetscErrorCode rg_group_open(hid_t parent, const char *name, bool earlier, RgGroup *group,
                             RgFault *fault)
{
  RgGroupShape *shape;

  *group = (RgGroup){0};
  PetscCall(PetscNew(&shape));
  group->shape = shape;
  PetscCall(rg_group_shape_create("", earlier, shape));
  group->handle = rg_h5_open_group(parent, name, fault);
  if (group->handle < 0) {
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't open group '%s'", name);
    return 0;
  }
  PetscCall(read_shape(group, fault));
  if (fault->code) return 0;
  PetscCall(find_extras(group, fault));
  PetscCall(rg_group_add_columns(group));
  open_columns(group, fault);
  const int n = shape->extent[RG_AXIS_TRIAL];
  const uint64_t row = rg_group_doubles(shape) * sizeof(double);
  const uint64_t trial = (uint64_t)shape->extent[RG_AXIS_ITERATION] * row;
  /* Values that compression or fill values make out of nothing must not fill the memory. */
  if ((uint64_t)n > rg_h5_file_bytes(group->handle) / TRIAL_BYTES)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "%d trials don't fit into a file of this size", n);
  else if (rg_h5_is_huge(group->handle, (double)trial))
    rg_fault_set(fault, RG_FAULT_DAMAGED,
                 "a trial takes %.3g MB, which is far more than the file has", (double)trial / 1e6);
  group->n_ahead = PetscMin(n, PetscMax(1, (int)(WINDOW_BYTES / (trial + 1))));
  return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool fields_plausible(const RgGroupShape *shape, const RgRecord *record)
{
  for (int a = RG_AXIS_ITERATION; a < RG_AXIS_COUNT; a++) {
    const int extent = *(const int *)((const char *)record + rg_axes[a].offset);
    if (extent < 0 || extent > shape->extent[a]) return false;
  }
  return strlen(record->id) == RG_ID_LENGTH;
}

PetscErrorCode rg_group_read_fields(RgGroup *group, int first, int n, RgReader reader, bool old,
                                    RgRecord *records, RgFault *fault)
{
  RgRows rows = {.n = group->shape->extent[RG_AXIS_TRIAL]};
  void **structs;

  PetscCall(PetscMalloc1(n, &structs));
  for (int i = 0; i < n; i++) { /* what a group without workers and clock leaves out */
    structs[i] = &records[i];
    records[i].workers = 1;
    records[i].makespan = records[i].idle_share = NAN;
    records[i].earlier = group->shape->earlier;
  }
  for (int f = 0; f < rg_field_count && !fault->code; f++) {
    const RgFieldInfo *info = &rg_fields[f];
    rows.handle = info->provenance ? group->provenance : group->handle;
    if (reader > RG_READ_TRIALS && !(info->readers & 1 << reader)) continue;
    if (!group->shape->has[info->of]) continue;
    if (old && info->offset == offsetof(RgRecord, cell_number)) continue;
    PetscCall(rg_field_read(&rows, info, first, n, structs, fault));
  }
  PetscCall(PetscFree(structs));
  for (int i = 0; i < n && !fault->code; i++)
    if (!fields_plausible(group->shape, &records[i]))
      rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %d has impossible dimensions", first + i);
  return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Read one trial of a column, reduced to `rows` x `width` of the record. The trials behind it that
   fit into a window are read too. */
static PetscErrorCode read_column(RgGroup *group, int column, int position, int rows, int width,
                                  double **values, RgFault *fault)
{
  RgGroupColumn *own = &group->columns[column];
  const RgColumnAxes axes = rg_group_axes(group->shape, column);
  const hsize_t *size = axes.size;

  if (fault->code || !rows || !width) return 0;
  const size_t trial = (size_t)(size[1] * size[2]);
  if (!own->values || position < own->first || position >= own->first + group->n_ahead) {
    const int n = PetscMin(group->n_ahead, (int)size[0] - position);
    if (!own->values) PetscCall(PetscMalloc1((size_t)group->n_ahead * trial, &own->values));
    own->first = position;
    if (!rg_field_range(own->dataset, H5T_NATIVE_DOUBLE, position, n, own->values)) {
      rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't read the columns of trial %d", position);
      return PetscFree(own->values);
    }
  }
  const double *from = own->values + (size_t)(position - own->first) * trial;
  PetscCall(PetscMalloc1((size_t)rows * (size_t)width, values));
  for (int r = 0; r < rows; r++)
    memcpy(*values + (size_t)r * (size_t)width, from + (size_t)r * size[2],
           (size_t)width * sizeof(double));
  return 0;
}

static PetscErrorCode read_extra(RgGroup *group, int position, RgRecord *record, RgFault *fault)
{
  const int most = PetscMin(group->shape->n_extra, RG_EXTRA_MAX);

  PetscCall(PetscCalloc1(most, &record->extra_name));
  PetscCall(PetscCalloc1(most, &record->extra_doc));
  for (int i = 0; i < group->shape->n_extra && !fault->code; i++) {
    double *values = NULL;
    PetscCall(read_column(group, RG_COLUMN_EXTRA + i, position, record->n_rows, 1, &values, fault));
    /* A column without values belongs to another algorithm. */
    const bool own = rg_values_any(values, (size_t)record->n_rows);
    if (own && record->n_extra < RG_EXTRA_MAX) {
      memcpy(record->extra_name[record->n_extra], group->shape->extra[i].name, RG_NAME_MAX);
      memcpy(record->extra_doc[record->n_extra], group->shape->extra[i].doc, RG_DOC_MAX);
      record->extra[record->n_extra++] = values;
      continue;
    }
    if (own) rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %d has too many columns", position);
    PetscCall(PetscFree(values));
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
