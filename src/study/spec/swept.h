/* Swept settings as data: what a cell's trials carry into the results. */
#ifndef RG_STUDY_SPEC_SWEPT_H
#define RG_STUDY_SPEC_SWEPT_H

#include "regatta/study.h"

/* Name of the measure that the queries of a trial aim at, where a problem has several. */
#define RG_SWEPT_AIMED "aimed_score"

/* Append a setting; every text is copied. part NULL: not known. */
PetscErrorCode rg_swept_add(const char *name, const char *text, RgSweptKind kind, const char *part,
                            const char *units, const char *doc, int *n, RgSwept **list);
/* A copy of all of them; *to must be NULL. */
PetscErrorCode rg_swept_copy(int n, const RgSwept *from, RgSwept **to);
/* Free the list; *list becomes NULL, *n 0. */
PetscErrorCode rg_swept_clear(int *n, RgSwept **list);

/* Append what a text "name=value, ..." says, as files of schema 1 have it: numbers are numbers, all
   else words. Commas in brackets and quotes separate nothing. */
PetscErrorCode rg_swept_parse(const char *text, int *n, RgSwept **list);
/* The setting called `name`, or whose name ends in `.name`; NULL: none. */
const RgSwept *rg_swept_find(int n, const RgSwept *list, const char *name);
/* Whether two texts of a value are the same number or the same text. */
bool rg_swept_same(const char *a, const char *b);
/* The kind that has room for values of both. */
RgSweptKind rg_swept_join(RgSweptKind a, RgSweptKind b);

#endif
