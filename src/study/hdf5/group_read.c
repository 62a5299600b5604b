/* Reading of a group that may be damaged. */
#include "study/hdf5/group.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"

/* Size of a read-ahead window. */
enum { WINDOW_BYTES = 1 << 20 };

/* ---- open ------------------------------------------------------------------------------------ */

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
  shape->crew = H5Lexists(group->handle, "makespan", H5P_DEFAULT) > 0;
  if (!found || shape->n < 1 || shape->n_rows < 1)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "a group without a problem label or axes");
  return 0;
}

/* Values that compression or fill values make out of nothing must not fill the memory. */
static void check_size(const RgGroup *group, double trial, RgFault *fault)
{
  enum { TRIAL_BYTES = 64 }; /* a trial has two texts of 32 digits, which nothing compresses */
  const RgGroupShape *shape = group->shape;

  if ((uint64_t)shape->n > rg_h5_file_bytes(group->handle) / TRIAL_BYTES)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "%d trials don't fit into a file of this size", shape->n);
  else if (rg_h5_is_huge(group->handle, trial))
    rg_fault_set(fault, RG_FAULT_DAMAGED,
                 "a trial takes %.3g MB, which is far more than the file has", trial / 1e6);
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
    group->columns[c].dataset = rg_field_open(handle, rg_columns[c].name, n, size, fault);
    group->shape->used[c] = !fault->code && rg_h5_has_data(group->columns[c].dataset);
  }
}

typedef struct {
  RgGroupShape *shape;
  RgFault *fault;
  PetscErrorCode error;
} ExtraSearch;

/* Examine a dataset that is not standard: it may be a column of an algorithm. */
static herr_t find_extra(hid_t handle, const char *name, const H5L_info_t *link, void *closure)
{
  ExtraSearch *search = closure;
  RgGroupShape *shape = search->shape;
  H5O_info_t object;

  if (link->type != H5L_TYPE_HARD)
    rg_fault_set(search->fault, RG_FAULT_DAMAGED, "'%.100s' is a link to another place", name);
  if (search->fault->code) return -1;
  if (H5Oget_info_by_name(handle, name, &object, H5P_DEFAULT) < 0) return -1;
  if (object.type != H5O_TYPE_DATASET) return 0;
  const hid_t dataset = rg_h5_open_dataset(handle, name, search->fault); /* or it is refused */
  if (dataset >= 0) H5Dclose(dataset);
  if (search->fault->code) return -1;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (!strcmp(name, rg_columns[c].name)) return 0;
  if (rg_field_is_reserved(name) || strlen(name) >= RG_NAME_MAX) return 0;
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

  (void)rg_group_column_axes(group->shape, RG_COLUMN_EXTRA, axis, size);
  *dataset = rg_field_open(group->handle, extra->name, 2, size, &none);
  *fits = !none.code && rg_field_fits(*dataset, RG_FIELD_REAL);
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

static PetscErrorCode find_extras(RgGroup *group, RgFault *fault)
{
  ExtraSearch search = {group->shape, fault, 0};

  if (fault->code) return 0;
  if (H5Literate(group->handle, H5_INDEX_NAME, H5_ITER_INC, NULL, find_extra, &search) < 0)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't list a group");
  return search.error;
}

static PetscErrorCode open_extras(RgGroup *group)
{
  RgGroupShape *shape = group->shape;
  bool fits;
  int n = 0;

  for (int i = 0; i < shape->n_extra; i++) {
    PetscCall(
      open_one_extra(group, &shape->extra[i], &group->columns[RG_COLUMN_EXTRA + n].dataset, &fits));
    if (fits) shape->extra[n++] = shape->extra[i];
  }
  shape->n_extra = n;
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
  PetscCall(find_extras(group, fault));
  PetscCall(rg_group_add_columns(group));
  open_columns(group, fault);
  if (!fault->code) PetscCall(open_extras(group));
  const uint64_t trial = (uint64_t)shape->n_rows * rg_group_doubles(shape) * sizeof(double);
  check_size(group, (double)trial, fault);
  group->n_ahead = (int)PetscMin((uint64_t)shape->n, PetscMax(1, WINDOW_BYTES / (trial + 1)));
  return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool fields_plausible(const RgGroupShape *shape, const RgRecord *record)
{
  return record->n_rows >= 0 && record->n_rows <= shape->n_rows && record->dim_x >= 0 &&
         record->dim_x <= shape->dim_x && record->dim_c >= 0 && record->dim_c <= shape->dim_c &&
         record->dim_z >= 0 && record->dim_z <= shape->dim_z && record->n_scores >= 0 &&
         record->n_scores <= shape->n_scores && record->n_terms >= 0 &&
         record->n_terms <= shape->n_terms && strlen(record->id) == RG_ID_LENGTH;
}

/* Whether a field belongs to the head: trial, cell, status, times and program versions. */
static bool is_head(const RgFieldInfo *info)
{
  static const size_t heads[] = {
    offsetof(RgRecord, id),
    offsetof(RgRecord, cell_number),
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

static RgRows rows_of(const RgGroup *group, const RgFieldInfo *info)
{
  return (RgRows){info->provenance ? group->provenance : group->handle, -1, group->shape->n};
}

PetscErrorCode rg_group_read_fields(RgGroup *group, int first, int n, bool heads, bool old,
                                    RgRecord *records, RgFault *fault)
{
  void **structs;

  PetscCall(PetscMalloc1(n, &structs));
  for (int i = 0; i < n; i++) { /* what a group without workers and clock leaves out */
    structs[i] = &records[i];
    records[i].workers = 1;
    records[i].makespan = records[i].idle_share = NAN;
  }
  for (int f = 0; f < rg_field_count && !fault->code; f++) {
    const RgFieldInfo *info = &rg_fields[f];
    const RgRows rows = rows_of(group, info);
    if ((heads && !is_head(info)) || !rg_group_has_field(group->shape, info)) continue;
    if (old && info->offset == offsetof(RgRecord, cell_number)) continue;
    PetscCall(rg_field_read(&rows, info, first, n, structs, fault));
  }
  PetscCall(PetscFree(structs));
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
  const RgFieldInfo *info = &rg_fields[rg_field_find(name)];
  const RgRows rows = rows_of(group, info);

  if (fault->code) return 0;
  PetscCall(rg_field_values(&rows, info, 0, rows.n, values, fault));
  for (int i = 0; i < rows.n; i++) {
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
  const RgRows rows = rows_of(group, info);

  PetscCall(PetscArrayzero(integers, rows.n));
  if (fault->code || !rg_group_has_field(group->shape, info)) return 0;
  PetscCall(rg_field_values(&rows, info, 0, rows.n, buffer, fault));
  PetscCall(PetscArraycpy(integers, (const int *)buffer, rows.n));
  return 0;
}

PetscErrorCode rg_group_read_identities(RgGroup *group, char (*ids)[RG_ID_LENGTH + 1],
                                        char (*checksums)[RG_ID_LENGTH + 1], int *status,
                                        int *generation, double *started, RgFault *fault)
{
  const RgFieldInfo *info = &rg_fields[rg_field_find("started")];
  const RgRows rows = rows_of(group, info);
  char **values;

  PetscCall(PetscMalloc1(rows.n, &values));
  PetscCall(read_hex(group, "id", ids, values, fault));
  PetscCall(read_hex(group, "checksum", checksums, values, fault));
  PetscCall(read_integers(group, "status", values, status, fault));
  PetscCall(read_integers(group, "generation", values, generation, fault));
  if (!fault->code) PetscCall(rg_field_values(&rows, info, 0, rows.n, started, fault));
  PetscCall(PetscFree(values));
  return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Read the trials from `position` on that fit into a window; size: of one trial. */
static PetscErrorCode read_ahead(const RgGroup *group, RgGroupColumn *own, int position,
                                 const hsize_t *size, RgFault *fault)
{
  const int n = PetscMin(group->n_ahead, group->shape->n - position);

  if (!own->values)
    PetscCall(PetscMalloc1((size_t)group->n_ahead * size[1] * size[2], &own->values));
  own->first = position;
  if (!rg_field_range(own->dataset, H5T_NATIVE_DOUBLE, position, n, own->values))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't read the columns of trial %d", position);
  if (fault->code) PetscCall(PetscFree(own->values));
  return 0;
}

/* Read one trial of a column, reduced to `rows` x `width` of the record. */
static PetscErrorCode read_column(RgGroup *group, int column, int position, int rows, int width,
                                  double **values, RgFault *fault)
{
  RgGroupColumn *own = &group->columns[column];
  RgAxis axis[3];
  hsize_t size[3] = {1, 1, 1};

  if (fault->code || !rows || !width) return 0;
  (void)rg_group_column_axes(group->shape, column, axis, size);
  if (!own->values || position < own->first || position >= own->first + group->n_ahead)
    PetscCall(read_ahead(group, own, position, size, fault));
  if (fault->code) return 0;
  const double *trial = own->values + (size_t)(position - own->first) * size[1] * size[2];
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
    PetscCall(read_column(group, RG_COLUMN_EXTRA + i, position, record->n_rows, 1, &values, fault));
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
