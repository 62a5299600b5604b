/* What a shard or results file says besides the columns of evaluations: axes, one value per trial,
   root attributes. The tables that write the file, read it and document it. */
#ifndef RG_STUDY_RECORD_FIELDS_H
#define RG_STUDY_RECORD_FIELDS_H

#include "study/record/record.h"

/* Axes: every dimension of a dataset is one of these (dimension scales of its group). */
typedef enum {
  RG_AXIS_TRIAL,
  RG_AXIS_ITERATION,
  RG_AXIS_X,
  RG_AXIS_C,
  RG_AXIS_Z,
  RG_AXIS_S,
  RG_AXIS_COUNT
} RgAxis;

typedef struct {
  const char *name;
  int first; /* value of the first entry; the others follow by one */
  const char *long_name, *description;
} RgAxisInfo;

extern const RgAxisInfo rg_axes[RG_AXIS_COUNT];

/* One value per trial. */
typedef enum {
  RG_FIELD_TEXT,  /* char * in RgRecord */
  RG_FIELD_CHARS, /* char[size] in RgRecord */
  RG_FIELD_INT,   /* int */
  RG_FIELD_COUNT, /* uint64_t */
  RG_FIELD_REAL,  /* double */
  RG_FIELD_STATUS /* RgStatus, stored as uint8 with flag_values and flag_meanings */
} RgFieldType;

/* Trials without which a group has no such field. */
typedef enum {
  RG_OF_ALL,
  RG_OF_SCORED, /* scored by several measures */
  RG_OF_NAMED,  /* on a design whose inputs have names */
  RG_OF_CONTEXT /* with a context whose inputs have names */
} RgFieldOf;

typedef struct {
  const char *name; /* dataset name */
  RgFieldType type;
  size_t offset, size; /* in RgRecord */
  bool provenance;     /* in the subgroup `provenance`, else beside the columns */
  RgFieldOf of;
  bool coordinate; /* named in the attribute `coordinates` of the columns */
  const char *units, *long_name, *description;
} RgFieldInfo;

extern const RgFieldInfo rg_fields[];
extern const int rg_field_count;

/* Index of a field, -1 if there is none of that name. */
int rg_field_find(const char *name);
/* Whether the writers use `name` for a dataset or group beside the columns. */
bool rg_field_is_reserved(const char *name);

/* Groups with a meaning of their own. */
#define RG_GROUP_TIMING "timing" /* in the group of a problem: columns with result 0 */
#define RG_GROUP_PROVENANCE                                                                        \
  "provenance"                     /* there: fields with provenance; at the root: attributes */
#define RG_GROUP_EARLIER "earlier" /* at the root: problems whose trials left the plan */

/* Attributes of the root. */
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
  RG_ATTRIBUTE_N_FAILED,
  RG_ATTRIBUTE_CHECKSUM,
  RG_ATTRIBUTE_CHECKSUM_COLUMNS,
  RG_ATTRIBUTE_CREDIT, /* the first of as many as a study has credits, in their order */
  RG_ATTRIBUTE_CREDIT_LAST = RG_ATTRIBUTE_CREDIT + RG_CREDITS - 1,
  RG_ATTRIBUTE_COUNT
};
extern const RgAttributeInfo rg_attributes[RG_ATTRIBUTE_COUNT];

/* Names of the columns that the checksum of a trial covers, in its order, a blank between two. */
extern const char *const rg_checksum_columns;

#endif
