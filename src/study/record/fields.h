/* The contents of a shard or results file besides the columns of evaluations: axes, one value
   per trial, root attributes. These tables serve writing, reading and documentation. */
#ifndef RG_STUDY_RECORD_FIELDS_H
#define RG_STUDY_RECORD_FIELDS_H

#include "study/record/record.h"

/* Axes: every dimension of a dataset is one of these (dimension scales of the dataset's group). */
typedef enum {
  RG_AXIS_TRIAL,
  RG_AXIS_ITERATION,
  RG_AXIS_X,
  RG_AXIS_C,
  RG_AXIS_Z,
  RG_AXIS_S,
  RG_AXIS_T,
  RG_AXIS_COUNT,                /* of a problem's group */
  RG_AXIS_CELL = RG_AXIS_COUNT, /* of the table of cells */
  RG_AXES
} RgAxis;

typedef struct {
  const char *name;
  int first; /* value of the first entry; each further entry is larger by one */
  const char *long_name, *description;
} RgAxisInfo;

extern const RgAxisInfo rg_axes[RG_AXES];

/* Types of fields; a field has one value per trial, or per cell. */
typedef enum {
  RG_FIELD_TEXT,    /* char * in RgRecord */
  RG_FIELD_CHARS,   /* char[size] in RgRecord */
  RG_FIELD_INT,     /* int */
  RG_FIELD_COUNT,   /* uint64_t */
  RG_FIELD_REAL,    /* double */
  RG_FIELD_LOGICAL, /* int, 0 or 1; stored as uint8 with flag_values and flag_meanings */
  RG_FIELD_STATUS   /* RgStatus, stored as uint8 with flag_values and flag_meanings */
} RgFieldType;

/* The trials that require a field; a group without such trials lacks it. */
typedef enum {
  RG_OF_ALL,
  RG_OF_SCORED,   /* trials scored by several measures */
  RG_OF_ADDITIVE, /* trials with an additive kernel */
  RG_OF_CREW,     /* trials with several workers or a clock */
  RG_OF_REPEATED, /* trials of a generation above 0 */
  RG_OF_FAILING,  /* trials with failed evaluations */
  RG_OF_TELLING,  /* trials with full texts about them */
  RG_OF_REAL      /* trials on the real clock */
} RgFieldOf;

typedef struct {
  const char *name; /* dataset name */
  RgFieldType type;
  size_t offset, size; /* in RgRecord or RgCellData */
  bool provenance;     /* stored in the subgroup `provenance`, otherwise beside the columns */
  RgFieldOf of;
  bool coordinate; /* listed in the attribute `coordinates` of the columns; a field of cells that is
                      one is a variable of the trials too */
  const char *units, *long_name, *description;
} RgFieldInfo;

extern const RgFieldInfo rg_fields[], rg_cell_fields[];
extern const int rg_field_count, rg_cell_field_count;

/* Index of a field; -1 if no field has that name. */
int rg_field_find(const char *name);
/* Whether the writers use `name` for a dataset or group beside the columns. */
bool rg_field_is_reserved(const char *name);

/* Groups with special names. */
#define RG_GROUP_TIMING "timing" /* in a problem's group: columns with result 0 */
/* In a problem's group: fields with provenance; in the root: attributes. */
#define RG_GROUP_PROVENANCE "provenance"
#define RG_GROUP_EARLIER "earlier"   /* in the root: problems whose trials left the plan */
#define RG_GROUP_CELLS "cells"       /* in the root: the table of cells */
#define RG_GROUP_SWEPT "sweep"       /* in the table of cells: the sweep axes */
#define RG_GROUP_SETTINGS "settings" /* in the table of cells: every setting */

/* Attributes of the root group. */
typedef struct {
  const char *name, *description;
  bool text;       /* UTF-8 text, else a 64-bit integer */
  bool provenance; /* may differ between runs of one study */
} RgAttributeInfo;

enum {
  RG_ATTRIBUTE_CONVENTIONS,
  RG_ATTRIBUTE_TITLE,
  RG_ATTRIBUTE_HISTORY,
  RG_ATTRIBUTE_SOURCE,
  RG_ATTRIBUTE_REFERENCES,
  RG_ATTRIBUTE_SCHEMA_VERSION,
  RG_ATTRIBUTE_STUDY_NAME,
  RG_ATTRIBUTE_STUDY_SEED,
  RG_ATTRIBUTE_STUDY,
  RG_ATTRIBUTE_COMPLETE,
  RG_ATTRIBUTE_N_TRIALS,
  RG_ATTRIBUTE_N_PLANNED,
  RG_ATTRIBUTE_N_FAILED,
  RG_ATTRIBUTE_CHECKSUM,
  RG_ATTRIBUTE_CHECKSUM_COLUMNS,
  RG_ATTRIBUTE_ARCHIVE_OF,
  RG_ATTRIBUTE_CREDIT, /* the first of RG_CREDITS attributes, in the order of the credits */
  RG_ATTRIBUTE_CREDIT_LAST = RG_ATTRIBUTE_CREDIT + RG_CREDITS - 1,
  RG_ATTRIBUTE_COUNT
};
extern const RgAttributeInfo rg_attributes[RG_ATTRIBUTE_COUNT];

/* Names of the columns in the checksum of a trial, in order, separated by blanks. */
extern const char *const rg_checksum_columns;

#endif
