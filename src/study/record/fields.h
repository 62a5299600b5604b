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
  int first;     /* value of the first entry; each further entry is larger by one */
  size_t offset; /* in RgRecord: the extent of a trial along the axis, an int; not for trials */
  const char *long_name, *description;
} RgAxisInfo;

extern const RgAxisInfo rg_axes[RG_AXES];

/* The axis of a column with one value per coordinate: -1 is RG_WIDTH_X, and so on. */
static inline RgAxis rg_axis_of_width(int width)
{
  return (RgAxis)(RG_AXIS_X - 1 - width);
}

/* Types of fields. A field has one value per trial, per cell, or in the root of a file. */
typedef enum {
  RG_FIELD_TEXT,    /* char * in memory */
  RG_FIELD_CHARS,   /* char[size] in memory */
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
  RG_OF_REAL,     /* trials on the real clock */
  RG_OF_COUNT
} RgFieldOf;

/* How much a reader needs of each trial. */
typedef enum {
  RG_READ_ALL,    /* all fields, and the cell with all its settings */
  RG_READ_TRIALS, /* all fields */
  RG_READ_INDEX,  /* identity, status and age */
  RG_READ_HEADS,  /* id, status, times, program versions, and the cell with its sweep axes */
  RG_READ_NOTHING /* no fields */
} RgReader;

typedef struct {
  const char *name; /* dataset name */
  RgFieldType type;
  size_t offset, size; /* in RgRecord or RgCellData */
  const char *units, *long_name, *description;
  bool provenance; /* stored in the subgroup `provenance`, otherwise beside the columns */
  RgFieldOf of;
  bool coordinate; /* listed in the attribute `coordinates` of the columns; a field of cells that is
                      one is a variable of the trials too */
  int readers;     /* those that need it besides the first two: a sum of 1 << RgReader */
} RgFieldInfo;

extern const RgFieldInfo rg_fields[], rg_cell_fields[];
extern const int rg_field_count, rg_cell_field_count;

/* Whether the writers use `name` for a column, another dataset or a group. */
bool rg_field_is_reserved(const char *name);

/* These groups have special names. */
#define RG_GROUP_TIMING "timing" /* in a problem's group: columns with result 0 */
/* In a problem's group it has the fields with provenance, in the root attributes. */
#define RG_GROUP_PROVENANCE "provenance"
#define RG_GROUP_EARLIER "earlier"   /* in the root: problems whose trials left the plan */
#define RG_GROUP_CELLS "cells"       /* in the root: the table of cells */
#define RG_GROUP_SWEPT "sweep"       /* in the table of cells: the sweep axes */
#define RG_GROUP_SETTINGS "settings" /* in the table of cells: every setting */

/* The attributes of the root group: the description of a results file, a shard or a study
   directory. Texts are owned; NULL and "" are the same. Zero-initialise. */
typedef struct {
  int schema_version;
  int n_trials, n_planned, n_failed;                 /* n_planned 0: not known */
  int complete;                                      /* every trial of the study is there */
  uint64_t seed;                                     /* study seed */
  char *name, *title, *history, *references, *study; /* study: full text of the study file */
  char *credit[RG_CREDITS];
  char checksum[RG_ID_LENGTH + 1];
  char archive_of[RG_ID_LENGTH + 1]; /* checksum of the full results; "": no archive */
  bool directory;                    /* a study directory: trials finished so far */
  /* Shards in the directory; beside a results file, those with a trial that the file lacks. */
  int n_shards;
} RgStoreInfo;

PetscErrorCode rg_store_info_clear(RgStoreInfo *info);

typedef struct {
  const char *name, *description;
  RgFieldType type;     /* RG_FIELD_TEXT or RG_FIELD_CHARS; else a 64-bit integer */
  size_t offset, size;  /* in RgStoreInfo */
  bool optional;        /* an empty text is not written */
  const char *constant; /* the text of every file; not read */
} RgAttributeInfo;

extern const RgAttributeInfo rg_attributes[];
extern const int rg_attribute_count;

#endif
