/* A layout: which record goes where in a results file, and the writing of it. */
#ifndef RG_STUDY_STORE_LAYOUT_H
#define RG_STUDY_STORE_LAYOUT_H

#include "study/store/install.h"
#include "study/store/store_internal.h"

/* One trial of the results file. */
typedef struct {
  int entry; /* of the index */
  int group;
  RgRecord header; /* its fields, without columns; after rg_layout_survey */
} RgSlot;

typedef struct {
  const RgIndex *index;  /* borrowed */
  const char *directory; /* study directory or NULL; borrowed */
  int n;
  RgSlot *slots; /* group by group, in their order there; owned */
  int n_groups;
  RgGroupShape *groups; /* owned */
  int *first;           /* n_groups: slot of the first trial; owned */
  int *slot_of;         /* per entry of the index: its slot or -1; owned */
} RgLayout;

/* directory: the study directory, where damaged shards are put away; NULL: they stay (borrowed). */
PetscErrorCode rg_layout_create(const RgIndex *index, const char *directory, RgLayout *layout);
PetscErrorCode rg_layout_destroy(RgLayout *layout);
/* Begin the next group, then add its trials. */
PetscErrorCode rg_layout_add_group(RgLayout *layout, const char *label, bool earlier);
PetscErrorCode rg_layout_add(RgLayout *layout, int entry);

/* Read every record once: verify its checksum, keep its fields, widen the groups. A shard that is
   gone or damaged: RG_FAULT_INCOMPLETE (its trials must be looked for again); a damaged results
   file: RG_FAULT_FOREIGN. */
PetscErrorCode rg_layout_survey(RgLayout *layout, RgFault *fault);
/* The columns of every record into the groups that rg_layout_write has created. */
PetscErrorCode rg_layout_write_columns(RgLayout *layout, RgGroup *groups, RgFault *fault);
/* Write the results file: temporary file or memory, verification of every record, commit, and what
   stands there is read back. `expected`: the state of the output when the records were gathered;
   RG_FAULT_INCOMPLETE when another run changed it meanwhile, its file stays. */
PetscErrorCode rg_layout_write(RgLayout *layout, RgContainerInfo *info, const char *output,
                               size_t image_bytes, const RgFileState *expected, RgFault *fault);

/* `history` for a file written now, after an earlier one (may be NULL or ""). The time is that of
   SOURCE_DATE_EPOCH if the environment has one. */
PetscErrorCode rg_history_line(const char *earlier, const char *what, char **history);

#endif
