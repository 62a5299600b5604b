/* A layout: the place of each record in a results file, and the writing of that file. */
#ifndef RG_STUDY_STORE_LAYOUT_H
#define RG_STUDY_STORE_LAYOUT_H

#include "study/store/store_internal.h"

/* A trial of the results file. */
typedef struct {
  int entry; /* entry of the index */
  int group;
  RgRecord header; /* fields without columns; set by rg_layout_read */
} RgSlot;

typedef struct {
  const RgIndex *index;  /* borrowed */
  const char *directory; /* study directory or NULL; borrowed */
  int n;
  RgSlot *slots; /* in the order of the file, group by group; owned */
  int n_groups;
  RgGroupShape *groups; /* owned */
  int *first;           /* n_groups: first slot of each group; owned */
  int *slot_of;         /* slot of each index entry, or -1; owned */
  /* The rows of the table of cells. Those of the study come first; the cells of its trials are
     replaced by them, since labels may have changed since a trial ran. */
  RgCellTable table;
  bool planned; /* the study is known */
  bool archive; /* set before rg_layout_read: write archived records */
} RgLayout;

/* study: NULL if it can't be read here. directory: the study directory, where damaged shards are
   moved away; NULL: they stay (borrowed). */
PetscErrorCode rg_layout_create(const RgIndex *index, const RgStudy *study, const char *directory,
                                RgLayout *layout);
PetscErrorCode rg_layout_destroy(RgLayout *layout);
/* Begin the next group; then add its trials. */
PetscErrorCode rg_layout_add_group(RgLayout *layout, const char *label, bool earlier);
PetscErrorCode rg_layout_add(RgLayout *layout, int entry);

/* Read every record once: verify its checksum, keep its fields, extend the groups. A missing or
   damaged shard gives RG_FAULT_INCOMPLETE (gather its trials again); a damaged results file
   gives RG_FAULT_FOREIGN. */
PetscErrorCode rg_layout_read(RgLayout *layout, RgFault *fault);
/* Write the results file: to a temporary file or memory, verify every record, commit, and read
   the result back. `expected`: state of the output when the records were gathered; if another
   run has changed it since, its file stays and fault is RG_FAULT_INCOMPLETE. */
PetscErrorCode rg_layout_write(RgLayout *layout, RgContainerInfo *info, const char *output,
                               size_t image_bytes, const RgFileState *expected, RgFault *fault);

/* The attribute `history` of a file written now; `earlier` is the previous history (may be NULL
   or ""). The time is SOURCE_DATE_EPOCH if the environment has it. */
PetscErrorCode rg_history_line(const char *earlier, const char *what, char **history);

#endif
