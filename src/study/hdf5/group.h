/* A group: the group of one problem label in a shard or results file, trials x evaluations. Shards
   and results files are made of the same groups. */
#ifndef RG_STUDY_HDF5_GROUP_H
#define RG_STUDY_HDF5_GROUP_H

#include "study/record/fields.h"
#include "study/hdf5/medium.h"

/* A column of an algorithm. */
typedef struct {
  char name[RG_NAME_MAX], doc[RG_DOC_MAX];
} RgGroupExtra;

/* Design and context, whose inputs may have names. */
enum { RG_PART_X, RG_PART_C, RG_PARTS };
/* A variable of a swept setting. `name` of the setting; another dataset may have that name. */
typedef struct {
  char name[RG_NAME_MAX];
  RgSweptKind kind;
  char *part, *units, *doc; /* owned */
} RgGroupSetting;

/* What decides the datasets of a group and their sizes. */
typedef struct {
  char *label;                               /* problem label; owned */
  bool earlier;                              /* stands in the group `earlier` */
  int n;                                     /* trials */
  int n_rows, dim_x, dim_c, dim_z, n_scores; /* maxima over the trials; n_rows at least 1 */
  bool used[RG_COLUMN_COUNT];                /* some trial has a value there */
  bool named[RG_PARTS];                      /* some trial has names for design, context */
  char *inputs[RG_PARTS]; /* their descriptions, NULL where those of the trials differ; owned */
  int n_extra;
  RgGroupExtra *extra; /* those in which some trial has a value, by name; owned */
  int n_settings;
  RgGroupSetting *settings; /* those that some trial was swept over, by name; owned */
  size_t text;              /* bytes of all texts of the trials, for the estimate */
} RgGroupShape;

/* An empty shape. */
PetscErrorCode rg_group_shape_create(const char *label, bool earlier, RgGroupShape *shape);
PetscErrorCode rg_group_shape_destroy(RgGroupShape *shape);
/* One more trial: counts it and widens the shape to hold it. */
PetscErrorCode rg_group_shape_add(RgGroupShape *shape, const RgRecord *record);
/* The settings of a record, which may be in the shape already. */
PetscErrorCode rg_group_shape_add_settings(RgGroupShape *shape, const RgRecord *record);
PetscErrorCode rg_group_shape_drop_settings(RgGroupShape *shape);
/* Bytes the group will take in a file, not less. */
uint64_t rg_group_shape_bytes(const RgGroupShape *shape);

/* Name of the group: the label itself, but for '/', '%' and control characters, which become %XX,
   and with '_' in front unless it begins with a letter or digit. Different labels have different
   names. To be freed with PetscFree. */
PetscErrorCode rg_group_name(const char *label, char **name);

/* The values of a dataset for some trials from `first` on, read ahead; NULL: nothing was read. */
typedef struct {
  double *values;
  int first;
} RgGroupWindow;

/* An open group. */
typedef struct {
  RgGroupShape *shape; /* borrowed by a writer; a reader's own */
  bool reading;
  hid_t handle, timing, provenance;
  hid_t axis[RG_AXIS_COUNT];     /* negative: the axis does not exist */
  hid_t column[RG_COLUMN_COUNT]; /* negative: no such dataset */
  hid_t *extra;                  /* shape->n_extra; owned */
  hid_t seen[RG_PARTS];          /* of a writer: x_seen, c_seen; negative: none */
  RgMedium *medium;              /* of a writer; borrowed */
  unsigned char *scratch;        /* of a writer: one trial of the widest column; owned */
  RgGroupWindow *ahead;          /* of a reader: of every column, then every extra; owned */
  int n_ahead;                   /* trials in them */
} RgGroup;

/* Writing. `parent` is the root or the group `earlier` of the file on the medium. What HDF5 refuses
   is in `fault`; the group must be closed in any case. Every trial must be written, fields and
   columns: the space is taken without being cleared. */
PetscErrorCode rg_group_create(RgMedium *medium, hid_t parent, RgGroupShape *shape, RgGroup *group,
                               RgFault *fault);
/* All fields of all trials; records: shape->n, columns are not looked at. */
PetscErrorCode rg_group_write_fields(RgGroup *group, const RgRecord *const *records,
                                     RgFault *fault);
/* The columns of one trial at `position`, padded with NaN. */
PetscErrorCode rg_group_write_columns(RgGroup *group, int position, const RgRecord *record,
                                      RgFault *fault);

/* Reading. `name` is a group of `parent`. The failure of a file that is damaged is in `failure`. */
PetscErrorCode rg_group_open(hid_t parent, const char *name, bool earlier, RgGroup *group,
                             RgFault *fault);
/* All fields of trials [first, first + n) into records, which must be zeroed; the caller destroys
   them in any case. heads: only id, cell, status and who made it when in what time. */
PetscErrorCode rg_group_read_fields(RgGroup *group, int first, int n, bool heads, RgRecord *records,
                                    RgFault *fault);
/* The columns of the trial at `position` into a record whose fields were read. Those of the trials
   behind it, up to a MiB, are read with it. */
PetscErrorCode rg_group_read_columns(RgGroup *group, int position, RgRecord *record,
                                     RgFault *fault);
/* Only what an index needs: ids, checksums (33 bytes each), status and start of all shape->n
   trials. */
PetscErrorCode rg_group_read_identities(RgGroup *group, char (*ids)[RG_ID_LENGTH + 1],
                                        char (*checksums)[RG_ID_LENGTH + 1], int *status,
                                        double *started, RgFault *fault);

/* Close what is open of a group and free what it owns. */
PetscErrorCode rg_group_close(RgGroup *group);

/* ---- shared by the writer and the reader ---- */

/* Attribute of the variable of a swept setting, by which it is known as one: its name in the study
   file. Attribute `part`: whose setting it is. */
#define RG_SETTING_ATTRIBUTE "setting"
/* Name of the dataset of setting `i`. */
void rg_group_setting_dataset(const RgGroupShape *shape, int i, char name[2 * RG_NAME_MAX]);
/* Values that say: the trial was not swept over this setting. Numbers: NaN, words: "". */
#define RG_NO_INTEGER INT32_MIN
#define RG_NO_LOGICAL 255

/* Type of a field in memory: to be closed with H5Tclose. */
hid_t rg_field_memory_type(RgFieldType type);

/* A group with nothing open. */
RgGroup rg_group_none(void);
/* Whether the group has a field. */
bool rg_group_has_field(const RgGroupShape *shape, const RgFieldInfo *info);
/* Extents of the axes, 0 for one that does not exist. */
void rg_group_extents(const RgGroupShape *shape, hsize_t extent[RG_AXIS_COUNT]);
/* Axes of a standard column (2 or 3 of them) and the extents along them; returns how many, 0 when
   the column has no width here. `column` RG_COLUMN_COUNT: a column of an algorithm. */
int rg_group_column_axes(const RgGroupShape *shape, int column, RgAxis axis[3], hsize_t size[3]);
/* Doubles per evaluation of the widest column, and of all of them together. */
int rg_group_width(const RgGroupShape *shape);
uint64_t rg_group_doubles(const RgGroupShape *shape);

#endif
