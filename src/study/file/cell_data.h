/* The row of the table `cells` for a cell of a study: what its trials have in common, as data. */
#ifndef RG_STUDY_FILE_CELL_DATA_H
#define RG_STUDY_FILE_CELL_DATA_H

#include "study/file/study.h"

/* The row of the table `cells` for cell c of the study, made on first use; borrowed. */
PetscErrorCode rg_cell_data(const RgStudy *study, int c, RgCellData **data);

#endif
