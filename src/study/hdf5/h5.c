/* Helper functions to write and read HDF5. */
#include "study/hdf5/h5.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>

void rg_h5_close(int n, const hid_t *handles)
{
  for (int i = 0; i < n; i++)
    if (handles[i] > 0) H5Idec_ref(handles[i]);
}

hid_t rg_h5_text_type(void)
{
  hid_t type = H5Tcopy(H5T_C_S1);

  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

void rg_h5_write_attribute(hid_t object, const char *name, hid_t stored, hid_t memory, int n,
                           const void *values, RgFault *fault)
{
  const hsize_t size = (hsize_t)n;

  if (fault->code) return;
  const hid_t space = n ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0 || H5Awrite(attribute, memory, values) < 0)
    rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't write attribute '%s'", name);
  RG_H5_CLOSE(attribute, space);
}

void rg_h5_write_text(hid_t object, const char *name, const char *text, RgFault *fault)
{
  const hid_t type = rg_h5_text_type();

  rg_h5_write_attribute(object, name, type, type, 0, &text, fault);
  RG_H5_CLOSE(type);
}

void rg_h5_write_integer(hid_t object, const char *name, int64_t value, RgFault *fault)
{
  rg_h5_write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 0, &value, fault);
}

/* Open a scalar attribute of a class of types; -1 if it does not exist. */
static hid_t open_attribute(hid_t object, const char *name, H5T_class_t wanted)
{
  if (H5Aexists(object, name) <= 0) return -1;
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return -1;
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const bool fits = H5Tget_class(type) == wanted && H5Sget_simple_extent_npoints(space) == 1 &&
                    (wanted != H5T_STRING || H5Tis_variable_str(type) > 0);
  RG_H5_CLOSE(space, type, fits ? -1 : attribute);
  return fits ? attribute : -1;
}

PetscErrorCode rg_h5_read_text(hid_t object, const char *name, char **text, bool *found)
{
  const hid_t attribute = open_attribute(object, name, H5T_STRING), type = rg_h5_text_type();
  char *value = NULL;
  const bool read = attribute >= 0 && H5Aread(attribute, type, &value) >= 0;

  if (!read) value = NULL;
  if (found) *found = read;
  RG_H5_CLOSE(attribute, type);
  PetscCall(PetscStrallocpy(value ? value : "", text));
  H5free_memory(value);
  return 0;
}

bool rg_h5_read_integer(hid_t object, const char *name, int64_t *value)
{
  hid_t attribute = open_attribute(object, name, H5T_INTEGER);
  bool found = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT64, value) >= 0;

  RG_H5_CLOSE(attribute);
  return found;
}

/* Whether a name stands in a group; a link to another place is a fault. */
static bool stands_in(hid_t parent, const char *name, RgFault *fault)
{
  H5L_info_t link;

  if (parent < 0 || H5Lexists(parent, name, H5P_DEFAULT) <= 0) return false;
  if (H5Lget_info(parent, name, &link, H5P_DEFAULT) < 0) return false;
  if (link.type != H5L_TYPE_HARD)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "'%.100s' is a link to another place", name);
  return link.type == H5L_TYPE_HARD;
}

uint64_t rg_h5_file_bytes(hid_t object)
{
  const hid_t file = H5Iget_file_id(object);
  hsize_t length = 0;

  (void)H5Fget_filesize(file, &length);
  H5Fclose(file);
  return length;
}

bool rg_h5_is_huge(hid_t object, double bytes)
{
  return bytes > 64e6 && bytes > 64 * (double)rg_h5_file_bytes(object);
}

/* Why the data of a dataset must not be read; NULL: they may be. */
static const char *find_objection(hid_t dataset)
{
  const hid_t creation = H5Dget_create_plist(dataset);
  const char *objection = NULL;
  hsize_t side[H5S_MAX_RANK];

  if (creation < 0) return "has unknown properties";
  if (H5Pget_external_count(creation) != 0) objection = "takes its data from other files";
  if (H5Pget_layout(creation) == H5D_VIRTUAL) objection = "takes its data from other datasets";
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    const hid_t type = H5Dget_type(dataset);
    double bytes = (double)H5Tget_size(type);
    for (int i = H5Pget_chunk(creation, H5S_MAX_RANK, side); i > 0; i--)
      bytes *= (double)side[i - 1];
    RG_H5_CLOSE(type);
    if (rg_h5_is_huge(dataset, bytes)) objection = "has chunks that are far larger than the file";
  }
  for (int i = 0; i < H5Pget_nfilters(creation) && !objection; i++) {
    size_t n_values = 0;
    unsigned flags, config;
    const H5Z_filter_t filter =
      H5Pget_filter2(creation, (unsigned)i, &flags, &n_values, NULL, 0, NULL, &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
        filter != H5Z_FILTER_FLETCHER32)
      objection = "needs a filter other than deflate, shuffle and fletcher32";
  }
  RG_H5_CLOSE(creation);
  return objection;
}

hid_t rg_h5_open_dataset(hid_t parent, const char *name, RgFault *fault)
{
  const hid_t dataset =
    stands_in(parent, name, fault) ? H5Dopen2(parent, name, H5P_DEFAULT) : H5I_INVALID_HID;
  const char *objection = dataset < 0 ? NULL : find_objection(dataset);

  if (!objection) return dataset;
  rg_fault_set(fault, RG_FAULT_DAMAGED, "dataset '%.100s' %s", name, objection);
  RG_H5_CLOSE(dataset);
  return H5I_INVALID_HID;
}

hid_t rg_h5_open_group(hid_t parent, const char *name, RgFault *fault)
{
  return stands_in(parent, name, fault) ? H5Gopen2(parent, name, H5P_DEFAULT) : H5I_INVALID_HID;
}

typedef struct {
  H5O_type_t type;
  int n;
  char **names;
  RgFault *fault;
  PetscErrorCode error;
} List;

static herr_t add_to_list(hid_t parent, const char *name, const H5L_info_t *link, void *closure)
{
  List *list = closure;
  H5O_info_t object;

  if (link->type != H5L_TYPE_HARD)
    rg_fault_set(list->fault, RG_FAULT_DAMAGED, "'%.100s' is a link to another place", name);
  else if (H5Oget_info_by_name(parent, name, &object, H5P_DEFAULT) < 0)
    rg_fault_set(list->fault, RG_FAULT_DAMAGED, "damaged: HDF5 can't open '%.100s'", name);
  if (list->fault->code) return -1;
  if (object.type != list->type) return 0;
  list->error = RG_GROW(list->n, list->names);
  if (!list->error) list->error = PetscStrallocpy(name, &list->names[list->n++]);
  return list->error ? -1 : 0;
}

PetscErrorCode rg_h5_list(hid_t group, H5O_type_t type, int *n, char ***names, RgFault *fault)
{
  List list = {.type = type, .fault = fault};

  if (!fault->code && H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, add_to_list, &list) < 0 &&
      !list.error)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't list a group");
  *n = list.n;
  *names = list.names;
  return list.error;
}

hid_t rg_h5_create_group(hid_t parent, const char *name, RgFault *fault)
{
  if (fault->code) return -1;
  const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(creation, false);
  const hid_t handle = H5Gcreate2(parent, name, H5P_DEFAULT, creation, H5P_DEFAULT);
  RG_H5_CLOSE(creation);
  if (handle < 0) rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't create group '%s'", name);
  return handle;
}

void rg_h5_chunk(int rank, const hsize_t *size, hsize_t chunk[3])
{
  const hsize_t most = (128 << 10) / sizeof(double), width = rank > 2 ? size[2] : 1;
  const hsize_t rows = PetscMax(1, most / width), trials = PetscMax(1, most / (width * size[1]));

  chunk[0] = PetscMin(size[0], trials);
  chunk[1] = PetscMin(size[1], rows);
  chunk[2] = width;
}

/* Create a dataset, and close the properties. */
static hid_t create_with(hid_t creation, hid_t parent, const char *name, hid_t type, int rank,
                         const hsize_t *size, RgFault *fault)
{
  const hid_t space = H5Screate_simple(rank, size, NULL);

  H5Pset_obj_track_times(creation, false);
  const hid_t dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  RG_H5_CLOSE(space, creation);
  if (dataset < 0) rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't create dataset '%s'", name);
  return dataset;
}

hid_t rg_h5_create_dataset(hid_t parent, const char *name, hid_t type, int rank,
                           const hsize_t *size, RgStorage storage, RgFault *fault)
{
  /* Level 3 takes as long as level 1, and makes the files of most studies 5% smaller. */
  enum { LEVEL = 3 };
  const double fill = NAN;
  hsize_t chunk[3];

  if (fault->code) return -1;
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (storage == RG_STORED_WHOLE) {
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    /* HDF5 requires fill values for text. */
    if (H5Tget_class(type) != H5T_STRING) H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  } else {
    rg_h5_chunk(rank, size, chunk);
    H5Pset_chunk(creation, rank, chunk);
    H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
  }
  if (storage == RG_STORED_CHUNKS) H5Pset_shuffle(creation);
  if (storage == RG_STORED_CHUNKS || storage == RG_STORED_STEPS)
    H5Pset_deflate(creation, storage == RG_STORED_STEPS ? 9 : LEVEL);
  return create_with(creation, parent, name, type, rank, size, fault);
}

hid_t rg_h5_create_constant(hid_t parent, const char *name, hid_t type, hsize_t n, hid_t memory,
                            const void *value, RgFault *fault)
{
  const hsize_t chunk = PetscMin(n, 1 << 16);

  if (fault->code) return -1;
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &chunk);
  if (H5Pset_fill_value(creation, memory, value) < 0)
    rg_fault_set(fault, RG_FAULT_ERROR, "HDF5 can't fill dataset '%s'", name);
  return create_with(creation, parent, name, type, 1, &n, fault);
}

hid_t rg_h5_transfer(void)
{
  hid_t transfer = H5Pcreate(H5P_DATASET_XFER);

  if (transfer >= 0) H5Pset_buffer(transfer, 64 << 10, NULL, NULL);
  return transfer;
}

bool rg_h5_write(hid_t dataset, hid_t type, const void *values)
{
  hid_t transfer = rg_h5_transfer();
  const bool ok = dataset >= 0 && transfer >= 0 &&
                  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, transfer, values) >= 0;

  RG_H5_CLOSE(transfer);
  return ok;
}

void rg_h5_describe(hid_t dataset, const char *units, const char *long_name,
                    const char *description, RgFault *fault)
{
  rg_h5_write_text(dataset, "long_name", long_name, fault);
  rg_h5_write_text(dataset, "units", units, fault);
  rg_h5_write_text(dataset, "description", description, fault);
}

int rg_h5_axis_length(hid_t parent, const char *name, RgFault *fault)
{
  const hid_t axis = rg_h5_open_dataset(parent, name, fault);
  const hid_t space = axis < 0 ? -1 : H5Dget_space(axis);
  hsize_t size = 0;
  const bool one = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                   H5Sget_simple_extent_dims(space, &size, NULL) == 1;

  RG_H5_CLOSE(space, axis);
  return one && size <= INT32_MAX ? (int)size : 0;
}
