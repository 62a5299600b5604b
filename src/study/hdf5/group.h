/* A group: all trials of one problem label in a shard or results file, with arrays trials x
   evaluations. Shards and results files have the same kind of groups. */
#ifndef RG_STUDY_HDF5_GROUP_H
#define RG_STUDY_HDF5_GROUP_H

#include "study/hdf5/medium.h"
#include "study/record/fields.h"

/* ---- fields and settings: datasets with one value for each trial, or for each cell ----------- */

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

/* ---- groups ---------------------------------------------------------------------------------- */

/* Design and context, the parts with named inputs. */
enum { RG_PART_X, RG_PART_C, RG_PARTS };
/* The data that determines the datasets of a group and their sizes. */
typedef struct {
  char *label;                /* problem label; owned */
  bool earlier;               /* inside the group `earlier` */
  bool bare;                  /* of an archive: without columns in which no trial has a value */
  int extent[RG_AXIS_COUNT];  /* number of trials, and maxima over them; evaluations at least 1 */
  bool used[RG_COLUMN_COUNT]; /* some trial has a value in the column */
  /* Some trial has names for the design, or the context; for writing. */
  bool named[RG_PARTS];
  bool has[RG_OF_COUNT];  /* some trial requires such fields */
  char *inputs[RG_PARTS]; /* descriptions of the inputs; NULL if trials differ; owned */
  int n_extra;
  RgGroupExtra *extra;   /* extra columns with a value in some trial, by name; owned */
  RgSettingColumns axes; /* settings that some trial was swept over; for writing */
  size_t text;           /* bytes of all texts of the trials, for the size estimate */
} RgGroupShape;

/* Create an empty shape. */
PetscErrorCode rg_group_shape_create(const char *label, bool earlier, RgGroupShape *shape);
PetscErrorCode rg_group_shape_destroy(RgGroupShape *shape);
/* Count one more trial and extend the shape to fit it. */
PetscErrorCode rg_group_shape_add(RgGroupShape *shape, const RgRecord *record);
/* Upper bounds on the bytes of the group in a file: of everything but columns that can be
   compressed, and of their values. */
uint64_t rg_group_shape_bytes(const RgGroupShape *shape, uint64_t *values);

/* Columns of a group by number: the standard ones, x_seen and c_seen, those of algorithms. */
enum { RG_COLUMN_SEEN = RG_COLUMN_COUNT, RG_COLUMN_EXTRA = RG_COLUMN_SEEN + RG_PARTS };
typedef struct {
  hid_t dataset; /* negative: no such dataset */
  /* Writer: place of the values of the first trial; HADDR_UNDEF: no trial has any. They stand in
     the dataset, or wait for compression. */
  haddr_t place;
  bool waiting;
  /* Reader: values of trials from `first` on, read ahead; NULL: nothing read yet; owned. */
  double *values;
  int first;
} RgGroupColumn;

/* An open group. */
typedef struct {
  RgGroupShape *shape;              /* a writer borrows it, a reader owns it */
  hid_t handle, timing, provenance; /* not positive: does not exist */
  hid_t axis[RG_AXIS_COUNT];        /* likewise */
  RgGroupColumn *columns;           /* RG_COLUMN_EXTRA + shape->n_extra; owned */
  RgMedium *medium;                 /* NULL: a reader; borrowed */
  unsigned char *scratch; /* writer only: buffer for one trial of the widest column; owned */
  int n_ahead;            /* reader only: number of trials that are read ahead */
} RgGroup;

/* Create a group for writing, with all fields of all trials. `parent` is the root or the group
   `earlier` of the file on the medium. records: shape->n; their columns are not used. Refusals of
   HDF5 set `fault`; the caller closes the group in any case. The space is allocated without being
   cleared, so the columns of every trial must be written. */
PetscErrorCode rg_group_create(RgMedium *medium, hid_t parent, RgGroupShape *shape,
                               const RgRecord *const *records, RgGroup *group, RgFault *fault);
/* Write the columns of the trial at `position`, padded with NaN. Trials may come in any order: on a
   medium with `raw`, the values of large columns wait there. */
PetscErrorCode rg_group_write_columns(RgGroup *group, int position, const RgRecord *record,
                                      RgFault *fault);
/* Compress the values that wait. All trials must have been written. */
PetscErrorCode rg_group_compress(RgGroup *group, RgFault *fault);

/* Open the group `name` of `parent` for reading. Damage of the file sets `fault`. */
PetscErrorCode rg_group_open(hid_t parent, const char *name, bool earlier, RgGroup *group,
                             RgFault *fault);
/* Read the fields of trials [first, first + n) that a reader needs into records, which must be
   zeroed; the caller destroys them in any case. Cells are not attached; before schema 3 (`old`)
   trials have no numbers of cells. */
PetscErrorCode rg_group_read_fields(RgGroup *group, int first, int n, RgReader reader, bool old,
                                    RgRecord *records, RgFault *fault);
/* Read the columns of the trial at `position` into a record that has its fields. Following
   trials, up to 1 MiB, are read ahead. */
PetscErrorCode rg_group_read_columns(RgGroup *group, int position, RgRecord *record,
                                     RgFault *fault);
/* Close the open parts of a group and free its memory. */
PetscErrorCode rg_group_close(RgGroup *group);

/* ---- shared by the writer and the reader ---- */

/* Make room for the columns of a group whose shape is known. */
PetscErrorCode rg_group_add_columns(RgGroup *group);
/* The axes of a column and the extents along them. */
typedef struct {
  int n; /* 2 or 3; 0: the column has no width here */
  RgAxis axis[3];
  hsize_t size[3]; /* 1 behind the last axis */
} RgColumnAxes;
RgColumnAxes rg_group_axes(const RgGroupShape *shape, int column);
/* Doubles of one evaluation in all columns. */
uint64_t rg_group_doubles(const RgGroupShape *shape);

/* Give trials [first, first + n) of a group their cells, made of what schema 2 says of each trial.
   Fields that it lacks stay 0 or empty. Trials that follow each other share a cell. */
PetscErrorCode rg_schema2_cells(const RgGroup *group, int first, int n, RgRecord *records,
                                RgFault *fault);

#endif
