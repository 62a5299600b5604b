/* A packing: which record goes where in a results file, and the writing of it. */
#ifndef RG_STUDY_PACKING_H
#define RG_STUDY_PACKING_H

#include "study/store/store_internal.h"

/* One trial of the results file. */
typedef struct {
  int entry; /* of the index */
  int sheet;
  RgRecord header; /* its fields, without columns; after rg_packing_survey */
} RgSlot;

typedef struct {
  const RgIndex *index;  /* borrowed */
  const char *directory; /* study directory or NULL; borrowed */
  int n, capacity;
  RgSlot *slots; /* sheet by sheet, in their order there; owned */
  int n_sheets, sheet_capacity;
  RgSheetShape *sheets; /* owned */
  int *first;           /* n_sheets: slot of the first trial; owned */
  int *slot_of;         /* per entry of the index: its slot or -1; owned */
} RgPacking;

/* directory: the study directory, where damaged shards are put away; NULL: they stay (borrowed). */
PetscErrorCode rg_packing_create(const RgIndex *index, const char *directory, RgPacking *packing);
PetscErrorCode rg_packing_destroy(RgPacking *packing);
/* Begin the next sheet, then add its trials. */
PetscErrorCode rg_packing_add_sheet(RgPacking *packing, const char *label, bool earlier);
PetscErrorCode rg_packing_add(RgPacking *packing, int entry);

/* Read every record once: verify its checksum, keep its fields, widen the sheets. A shard that is
   gone or damaged: RG_STORE_INCOMPLETE (its trials must be looked for again); a damaged results
   file: RG_STORE_FOREIGN. */
PetscErrorCode rg_packing_survey(RgPacking *packing, RgStoreStatus *status, char message[512]);
/* Write the results file: temporary file or memory, verification of every record, commit. `before`
   is asked right before the rename whether it may happen (NULL: yes). */
typedef bool (*RgCommitGuard)(const void *context);
PetscErrorCode rg_packing_write(RgPacking *packing, RgContainerInfo *info, const char *output,
                                size_t image_bytes, RgCommitGuard before, const void *context,
                                RgStoreStatus *status, char message[512]);
/* Bytes the results file will take, not less. */
uint64_t rg_packing_bytes(const RgPacking *packing, const RgContainerInfo *info);

/* Steps of rg_packing_write. Fill an empty medium; read it back and compare with what was surveyed.
 */
PetscErrorCode rg_packing_fill(RgPacking *packing, RgContainerInfo *info, RgMedium *medium,
                               RgStoreStatus *status, char message[512]);
PetscErrorCode rg_packing_verify(const RgPacking *packing, const RgMedium *medium,
                                 RgStoreStatus *status, char message[512]);

/* `history` for a file written now, after an earlier one (may be NULL or ""). The time is that of
   SOURCE_DATE_EPOCH if the environment has one. */
PetscErrorCode rg_history_line(const char *earlier, const char *what, char **history);

#endif
