/* Fields and settings: datasets with one value for each trial of a group, or for each cell. */
#ifndef RG_STUDY_HDF5_FIELD_H
#define RG_STUDY_HDF5_FIELD_H

#include "study/hdf5/h5.h"
#include "study/record/fields.h"

/* A column of an algorithm. */
typedef struct {
  char name[RG_NAME_MAX], doc[RG_DOC_MAX];
} RgGroupExtra;

/* The rows of datasets in one HDF5 group. */
typedef struct {
  hid_t handle; /* the HDF5 group; borrowed */
  hid_t scale;  /* axis of the rows, for writing; borrowed */
  int n;
} RgRows;

/* Attribute of the variable of a sweep axis: the name of the setting. */
#define RG_SETTING_ATTRIBUTE "setting"
/* Values of a row without the setting. For numbers NaN, for words "". */
#define RG_NO_INTEGER INT32_MIN
#define RG_NO_LOGICAL 255

/* Write a field of all rows. structs: the n records or cells. */
PetscErrorCode rg_field_write(const RgRows *rows, const RgFieldInfo *info,
                              const void *const *structs, RgFault *fault);
/* Read a field of rows [first, first + n) into n structs. */
PetscErrorCode rg_field_read(const RgRows *rows, const RgFieldInfo *info, int first, int n,
                             void *const *structs, RgFault *fault);
/* Read it into `values`: 8 bytes each for char * (freed with H5free_memory), double, uint64_t; 4
   for int. */
PetscErrorCode rg_field_values(const RgRows *rows, const RgFieldInfo *info, int first, int n,
                               void *values, RgFault *fault);

/* A column of settings. `name` is that of the setting; its dataset may have another name. */
typedef struct {
  char name[RG_NAME_MAX];
  RgSweptKind kind;
  bool swept;               /* the study sweeps it */
  char *part, *units, *doc; /* owned; may be NULL */
} RgSettingColumn;

/* Columns by name. Zero-initialise. */
typedef struct {
  int n;
  RgSettingColumn *list; /* owned */
} RgSettingColumns;

/* The values that a cell has: those of its sweep axes, or all its settings. */
typedef enum { RG_AXES_OF_SWEEP, RG_EVERY_SETTING } RgSettingSet;

/* Add the columns of a cell that the list lacks. */
PetscErrorCode rg_settings_add(RgSettingColumns *columns, const RgCellData *cell, RgSettingSet set);
PetscErrorCode rg_settings_clear(RgSettingColumns *columns);
/* Name of the dataset of a sweep axis: that of its setting, with its part in front if it is that of
   another variable. extra: the algorithms' columns in the group. */
void rg_settings_dataset(const RgSettingColumn *column, int n_extra, const RgGroupExtra *extra,
                         char name[2 * RG_NAME_MAX]);
/* Write the columns. cells: the cell of each row. A cell without a setting has the missing value:
   NaN, _FillValue, or "" for words. */
PetscErrorCode rg_settings_write(const RgRows *rows, const RgSettingColumns *columns,
                                 RgSettingSet set, const RgCellData *const *cells, int n_extra,
                                 const RgGroupExtra *extra, RgFault *fault);
/* Read the values of rows [first, first + n), and add them to cells, NULL: skip the row. */
PetscErrorCode rg_settings_read(const RgRows *rows, RgSettingSet set, int first, int n,
                                RgCellData *const *cells, RgFault *fault);

/* Whether a dataset has the stored type of a field. */
bool rg_field_fits(hid_t dataset, RgFieldType type);
/* Whether a dataset has exactly these extents. */
bool rg_field_has_shape(hid_t dataset, int rank, const hsize_t *size);
/* Open a dataset of exactly these extents, or fail: data must fit into the buffers. */
hid_t rg_field_open(hid_t handle, const char *name, int rank, const hsize_t *size, RgFault *fault);
/* Read entries [first, first + n) along the first dimension of a dataset. */
bool rg_field_range(hid_t dataset, hid_t type, int first, int n, void *values);
/* Attach a scale to a dimension of a dataset. */
void rg_field_attach(hid_t dataset, hid_t scale, unsigned dimension, RgFault *fault);
/* Create an axis of `extent` entries, and make it a scale. Negative: fault is set. */
hid_t rg_field_axis(hid_t handle, RgAxis axis, hsize_t extent, RgFault *fault);

#endif
