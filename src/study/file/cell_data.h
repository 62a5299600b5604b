/* Results keep this of a cell: its row in the table `cells`, and its swept settings. */
#ifndef RG_STUDY_FILE_CELL_DATA_H
#define RG_STUDY_FILE_CELL_DATA_H

#include "regatta/results.h"
#include "regatta/study.h"

/* The row of the table `cells` for cell c of the study, made on first use; borrowed. */
PetscErrorCode rg_cell_data(const RgStudy *study, int c, RgCellData **data);

/* ---- swept settings ---- */

/* The setting that names the measure that queries aim at, if a problem has several. */
#define RG_SWEPT_AIMED "aimed_score"

/* Append a setting with copies of all texts. part NULL: not known. */
PetscErrorCode rg_swept_add(const char *name, const char *text, RgSweptKind kind, const char *part,
                            const char *units, const char *doc, int *n, RgSwept **list);
/* Free the list; *list becomes NULL and *n 0. */
PetscErrorCode rg_swept_clear(int *n, RgSwept **list);

/* Append the settings in a text "name=value, ...", as users write them: numbers become numbers,
   other values words. Commas in brackets and quotes don't separate. */
PetscErrorCode rg_swept_parse(const char *text, int *n, RgSwept **list);
/* The setting called `name`, or whose name ends in `.name`; NULL if there is no such setting. */
const RgSwept *rg_swept_find(int n, const RgSwept *list, const char *name);
/* Whether two texts are equal as numbers or as texts. */
bool rg_swept_same(const char *a, const char *b);
/* The kind that can hold values of both kinds. */
RgSweptKind rg_swept_join(RgSweptKind a, RgSweptKind b);

#endif
